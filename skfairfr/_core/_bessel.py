"""log C of the von Mises-Fisher density by two expansions of the Bessel function I_v.

With w = hypot(v, kappa): the ascending series where w < SWITCH, Debye's uniform expansion
where w >= SWITCH. Debye's is an expansion in 1/w, so it holds at every order v >= 0,
Hankel's v = 0 included. Each is exact to rounding where it is used: the terms of every sum
have one sign, or a leading term dominates, so nothing cancels. ``_vmf`` chooses between
them. Logarithms and hypotenuses that need more digits than one float are computed in two
parts.
"""

import functools
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np

# At w = SWITCH the first omitted term of Debye's expansion of log I is below 3e-17.
SWITCH = 32.0
N_DEBYE_TERMS = 14
# Terms of the ascending series, for kappa <= SWITCH.
N_ASCENDING_TERMS = 64
TWO_PI = "6.28318530717958647692528676655900576839433879875021164194988918"
# A high part is a multiple of 2**-GRID_BITS: times a factor of few bits, it stays exact.
GRID_BITS = 26
# Mantissas in [1/2, 1] are compared with the multiples of 1/(2 * N_CENTRES).
N_CENTRES = 64
# Above it one leg of the triangle is the hypotenuse, and squares of parts overflow.
HUGE = 2.0**300
SPLITTER = 2.0**27 + 1


# ---- w < SWITCH ----------------------------------------------------------------------


def log_0f1(kappa, order):
    """log of Gamma(v + 1) (kappa / 2)**-v I_v(kappa), DLMF 10.25.2: 0 at kappa = 0."""
    x = kappa * kappa / 4
    total = np.ones_like(x)
    for k in range(N_ASCENDING_TERMS, 1, -1):
        total *= x / (k * (order + k))
        total += 1
    return np.log1p(total * (x / (order + 1)))


def log_normalizer_ascending(kappa, order):
    """log C by the ascending series, of shape (n,)."""
    uniform = math.lgamma(order + 1) - math.log(2) - (order + 1) * math.log(math.pi)
    return uniform - log_0f1(kappa, order)


# ---- w >= SWITCH ---------------------------------------------------------------------


def log_normalizer_debye(kappa, order):
    """log C by Debye's expansion DLMF 10.41.3, of shape (n,).

    v log((v + w) / 2 pi) - w + log(w / 2 pi) / 2 - log S: the first two cancel where
    log C is near 0, so they are computed in two parts.
    """
    w, w_low = hypot_parts(order, kappa)
    total = w + order
    lost = order - (total - w)
    log_high, log_low = log_parts(total, lost + w_low)
    pi_high, pi_low = log_of_number(TWO_PI)
    correction = log_debye_sum(w, order) - np.log(w / (2 * np.pi)) / 2
    high = order * (log_high - pi_high) - w
    return high + (order * (log_low - pi_low) - w_low - correction)


def log_debye_sum(w, order):
    """log S = sum_k p_k(v**2 / w**2) / w**k, of shape (n,)."""
    u = 1 / w
    share = (order * u) ** 2
    total = np.zeros_like(u)
    for coefficients in reversed(_debye_coefficients()):
        polynomial = np.full_like(u, coefficients[-1])
        for coefficient in coefficients[-2::-1]:
            polynomial *= share
            polynomial += coefficient
        total += polynomial
        total *= u
    return total


@functools.cache
def _debye_coefficients():
    """Coefficients of p_k, k = 1 ... N_DEBYE_TERMS, as floats."""
    return [[float(c) for c in p] for p in log_of_series(debye_polynomials())]


def debye_polynomials():
    """q_k with U_k(p) = p**k q_k(p**2), k = 0 ... N_DEBYE_TERMS, from DLMF 10.41.9."""
    polynomials = [[Fraction(1)]]
    for k in range(N_DEBYE_TERMS):
        following = [Fraction(0)] * (k + 2)
        for j, c in enumerate(polynomials[k]):
            power = k + 2 * j
            following[j] += c * (Fraction(power, 2) + Fraction(1, 8 * (power + 1)))
            following[j + 1] -= c * (Fraction(power, 2) + Fraction(5, 8 * (power + 3)))
        polynomials.append(following)
    return polynomials


def log_of_series(series):
    """Terms k >= 1 of the logarithm of a power series whose coefficients are polynomials."""
    logs = []
    for k in range(1, len(series)):
        term = list(series[k])
        for i, p in enumerate(logs, start=1):
            for a, x in enumerate(p):
                for b, y in enumerate(series[k - i]):
                    term[a + b] -= Fraction(i, k) * x * y
        logs.append(term)
    return logs


# ---- numbers in two parts ------------------------------------------------------------


def log_parts(x, low=0.0):
    """Natural logarithm of x + low as high + low.

    Parameters
    ----------
    x : ndarray or float
        Positive and finite.
    low : ndarray or float
        At most a rounding error of ``x``.

    Returns
    -------
    high : ndarray
        A multiple of 2**-26: its product with a number of up to 21 bits is exact.
    low : ndarray
        In (-0.01, 0.01). The error of high + low is below 1e-17.
    """
    mantissa, exponent = np.frexp(x)
    place = np.rint(mantissa * (2 * N_CENTRES)).astype(np.intp) - N_CENTRES
    centre = (place + N_CENTRES) / (2 * N_CENTRES)
    table_high, table_low = _logs_of_centres()
    log2_high, log2_low = log_of_number("2")
    # mantissa - centre is exact, and so small that one float is enough from here on.
    distance = ((mantissa - centre) + np.ldexp(low, -exponent)) / centre
    high = exponent * log2_high + table_high[place]
    return high, np.log1p(distance) + (exponent * log2_low + table_low[place])


def hypot_parts(x, y):
    """sqrt(x**2 + y**2) as high + low, for x, y >= 0 and x of at most 26 bits.

    The relative error is below 1e-30, where squares do not fall below 1e-290.
    """
    bounded = np.minimum(y, HUGE)
    high = np.hypot(x, bounded)
    y2, y2_low = _square(bounded)
    high2, high2_low = _square(high)
    x2 = x * x
    # The larger leg first: both subtractions are then exact, or their result negligible.
    rest = (high2 - np.maximum(x2, y2)) - np.minimum(x2, y2)
    low = ((y2_low - high2_low) - rest) / np.maximum(2 * high, np.finfo(float).tiny)
    return high + (y - bounded), low


def _square(x):
    """x * x as the rounded product and its error (Dekker's split)."""
    scaled = SPLITTER * x
    top = scaled - (scaled - x)
    bottom = x - top
    square = x * x
    return square, ((top * top - square) + 2 * top * bottom) + bottom * bottom


@functools.cache
def log_of_number(number):
    """(high, low) of the logarithm of a decimal number written as text."""
    with localcontext(prec=50):
        return _split(Decimal(number).ln())


@functools.cache
def _logs_of_centres():
    """(high, low), each of shape (N_CENTRES + 1,), for the mantissas 1/2 ... 1."""
    with localcontext(prec=50):
        places = range(N_CENTRES, 2 * N_CENTRES + 1)
        logs = [_split((Decimal(p) / (2 * N_CENTRES)).ln()) for p in places]
    return np.array(logs).T


def _split(value):
    """A Decimal as a multiple of the grid and the float of what is left."""
    high = int((value * 2**GRID_BITS).to_integral_value()) / 2**GRID_BITS
    return high, float(value - Decimal(high))
