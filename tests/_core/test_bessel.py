"""The two expansions of log C: their coefficients, their reach, and that they meet."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from skfairfr._core import _bessel
from skfairfr._core._bessel import hypot_parts, log_of_number, log_parts

# Orders whose arcs hypot(v, kappa) = SWITCH are crossed as kappa grows.
ORDERS = [0, 0.5, 1, 7, 16, 24.5, 31.5]


def kappa_at_switch(order, factor=1.0):
    return np.atleast_1d(np.sqrt((_bessel.SWITCH * factor) ** 2 - order**2))


# ---- coefficients --------------------------------------------------------------------


def test_first_polynomials_are_those_of_dlmf_10_41_10():
    expected = [
        ([3, -5], 24),
        ([81, -462, 385], 1152),
        ([30375, -369603, 765765, -425425], 414720),
    ]
    for computed, (numerators, denominator) in zip(
        _bessel.debye_polynomials()[1:], expected, strict=False
    ):
        assert computed == [Fraction(n, denominator) for n in numerators]


def test_at_zero_kappa_the_correction_is_that_of_stirling():
    """S = sqrt(2 pi v) v**v exp(-v) / Gamma(v + 1), whose terms are Bernoulli numbers."""
    logs = _bessel.log_of_series(_bessel.debye_polynomials())
    for k, polynomial in enumerate(logs, start=1):
        numerator, denominator = mpmath.bernfrac(k + 1)
        stirling = -Fraction(int(numerator), int(denominator)) / (k * (k + 1))
        assert sum(polynomial) == stirling


def test_at_order_zero_the_correction_is_that_of_hankel():
    """DLMF 10.40.1: the terms are ((2j - 1)!!)**2 / (j! (8 kappa)**j)."""
    for k, polynomial in enumerate(_bessel.debye_polynomials()):
        hankel = Fraction(1)
        for j in range(1, k + 1):
            hankel *= Fraction((2 * j - 1) ** 2, 8 * j)
        assert polynomial[0] == hankel


@pytest.mark.parametrize(("order", "kappa"), [(0, 40), (20, 30), (255, 100), (50, 1)])
def test_the_sum_is_that_of_its_polynomials(order, kappa):
    with mpmath.workdps(40):
        w = mpmath.hypot(order, kappa)
        share = (order / w) ** 2
        logs = enumerate(_bessel.log_of_series(_bessel.debye_polynomials()), start=1)
        exact = [
            sum(
                mpmath.mpf(c.numerator) / c.denominator * share**j
                for j, c in enumerate(p)
            )
            / w**k
            for k, p in logs
        ]
        expected = float(sum(exact))
    w = np.atleast_1d(np.hypot(float(order), kappa))
    assert_allclose(_bessel.log_debye_sum(w, float(order)), expected, rtol=1e-13)


# ---- reach ---------------------------------------------------------------------------


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("factor", [1.0, 1.01])
def test_the_expansions_agree_on_both_sides_of_the_switch(order, factor):
    kappa = kappa_at_switch(order, factor)
    near = _bessel.log_normalizer_ascending(kappa, order)
    far = _bessel.log_normalizer_debye(kappa, order)
    assert_allclose(near, far, rtol=5e-15, atol=3e-14)


@pytest.mark.parametrize("order", ORDERS)
def test_more_terms_change_nothing(order, monkeypatch):
    kappa = np.linspace(0, kappa_at_switch(order)[0], 30)
    before = _bessel.log_0f1(kappa, order)
    monkeypatch.setattr(_bessel, "N_ASCENDING_TERMS", 2 * _bessel.N_ASCENDING_TERMS)
    assert_allclose(_bessel.log_0f1(kappa, order), before, rtol=5e-16)


def test_the_ascending_series_starts_at_zero_without_cancelling():
    kappa = np.array([0, 1e-200, 1e-8, 1e-5])
    assert_allclose(_bessel.log_0f1(kappa, 3.0), kappa**2 / 16, rtol=1e-10)


# ---- numbers in two parts, against mpmath with 60 digits -----------------------------


POSITIVE = st.floats(1e-300, 1e300)
DIGITS = 60


def exact_sum(high, low):
    return mpmath.mpf(float(high)) + mpmath.mpf(float(low))


@given(POSITIVE, st.floats(-0.5, 0.5))
def test_the_logarithm_is_right_far_below_the_rounding_of_one_float(x, ulps):
    low = ulps * np.spacing(x)
    with mpmath.workdps(DIGITS):
        error = exact_sum(*log_parts(x, low)) - mpmath.log(exact_sum(x, low))
        assert abs(error) < 1e-17


@given(POSITIVE)
def test_the_high_part_stays_exact_times_a_half_integer(x):
    high, low = log_parts(x)
    assert high * 2**26 == np.rint(high * 2**26)
    assert abs(low) < 0.01
    with mpmath.workdps(DIGITS):
        assert mpmath.mpf(2047.5) * float(high) == float(2047.5 * high)


@pytest.mark.parametrize("number", ["2", "0.5", "6.25", "1"])
def test_the_logarithm_of_a_number_is_that_of_the_array(number):
    with mpmath.workdps(DIGITS):
        error = exact_sum(*log_of_number(number)) - mpmath.log(mpmath.mpf(number))
        assert abs(error) < 1e-23


# Kappas of a hundred thousand are the largest that are promised.
@given(st.integers(0, 2**20).map(lambda n: n / 2), st.floats(1e-140, 1e12))
def test_the_hypotenuse_is_right_far_below_the_rounding_of_one_float(x, y):
    with mpmath.workdps(DIGITS):
        exact = mpmath.hypot(x, y)
        assert abs(exact_sum(*hypot_parts(x, y)) - exact) < 1e-30 * exact


@pytest.mark.parametrize(("x", "y"), [(0, 0), (7, 0), (0, 7), (3, 4), (0, 1e308)])
def test_whole_hypotenuses_have_no_low_part(x, y):
    assert hypot_parts(float(x), float(y)) == (np.hypot(x, y), 0)


def test_arrays_are_taken_entry_by_entry():
    x = np.array([[0.1, 2.0], [30.0, 1e5]])
    for parts in (log_parts, lambda v: hypot_parts(3.0, v)):
        rows = np.array([[parts(value) for value in row] for row in x])
        np.testing.assert_array_equal(np.stack(parts(x), axis=-1), rows)
