"""Logarithm and hypotenuse as a sum of two floats, which keeps what one float rounds off.

A product such as v log(x) with v = 2047 is known to 2e-12 in one float. Where two of them
cancel, the two parts keep 1e-15. Functions of arrays of float64 only.
"""

import functools
from decimal import Decimal, localcontext

import numpy as np

# A high part is a multiple of 2**-GRID_BITS: times a factor of few bits, it stays exact.
GRID_BITS = 26
# Mantissas in [1/2, 1] are compared with the multiples of 1/(2 * N_CENTRES).
N_CENTRES = 64
# Beyond it one leg of the triangle is the hypotenuse, and squares of parts overflow.
HUGE = 2.0**300
SPLITTER = 2.0**27 + 1


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
