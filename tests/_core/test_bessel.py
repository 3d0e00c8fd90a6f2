"""The two expansions of I_v: their coefficients, their reach, and that they meet."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose

from skfairfr._core import _bessel

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
        _bessel._debye_polynomials()[1:], expected, strict=False
    ):
        assert computed == [Fraction(n, denominator) for n in numerators]


def test_at_zero_kappa_the_correction_is_that_of_stirling():
    """S = sqrt(2 pi v) v**v exp(-v) / Gamma(v + 1), whose terms are Bernoulli numbers."""
    logs = _bessel._log_of_series(_bessel._debye_polynomials())
    for k, polynomial in enumerate(logs, start=1):
        numerator, denominator = mpmath.bernfrac(k + 1)
        stirling = -Fraction(int(numerator), int(denominator)) / (k * (k + 1))
        assert sum(polynomial) == stirling


def test_at_order_zero_the_correction_is_that_of_hankel():
    """DLMF 10.40.1: the terms are ((2j - 1)!!)**2 / (j! (8 kappa)**j)."""
    for k, polynomial in enumerate(_bessel._debye_polynomials()):
        hankel = Fraction(1)
        for j in range(1, k + 1):
            hankel *= Fraction((2 * j - 1) ** 2, 8 * j)
        assert polynomial[0] == hankel


@pytest.mark.parametrize("derivative", [1, 2])
@pytest.mark.parametrize(("order", "kappa"), [(0, 40), (20, 30), (255, 100), (50, 1)])
def test_derived_coefficients_are_the_derivatives_of_the_first(
    derivative, order, kappa
):
    def log_s(x):
        w = mpmath.hypot(order, x)
        share = (order / w) ** 2
        tables = enumerate(_bessel._debye_tables()[0], start=1)
        return sum(mpmath.polyval(p[::-1], share) / w**k for k, p in tables)

    with mpmath.workdps(40):
        expected = mpmath.diff(log_s, kappa, derivative)
    w = np.atleast_1d(np.hypot(float(order), kappa))
    computed = _bessel._correction(derivative, w, float(order)) / w**2
    factor = -kappa if derivative == 1 else 1
    assert_allclose(computed * factor, float(expected), rtol=1e-11)


# ---- reach ---------------------------------------------------------------------------


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("factor", [1.0, 1.01])
def test_the_expansions_agree_on_both_sides_of_the_switch(order, factor):
    kappa = kappa_at_switch(order, factor)
    near, far = (
        np.array([normalizer(kappa, order), log_i(kappa, order)])
        for normalizer, log_i in [
            (_bessel.log_normalizer_ascending, _bessel.log_i_ascending),
            (_bessel.log_normalizer_debye, _bessel.log_i_debye),
        ]
    )
    assert_allclose(near, far, rtol=5e-15, atol=3e-14)
    near = _bessel.ratio_by_fraction(kappa, order)
    assert_allclose(near, _bessel.ratio_debye(kappa, order), rtol=5e-14)


@pytest.mark.parametrize("order", ORDERS)
def test_more_terms_change_nothing(order, monkeypatch):
    kappa = np.linspace(0, kappa_at_switch(order)[0], 30)
    before = _bessel.log_0f1(kappa, order), _bessel.ratio_by_fraction(kappa, order)
    monkeypatch.setattr(_bessel, "N_LEVELS", 2 * _bessel.N_LEVELS)
    assert_allclose(_bessel.log_0f1(kappa, order), before[0], rtol=5e-16)
    assert_allclose(_bessel.ratio_by_fraction(kappa, order), before[1], rtol=5e-16)


def test_the_ascending_series_starts_at_zero_without_cancelling():
    kappa = np.array([0, 1e-200, 1e-8, 1e-5])
    assert_allclose(_bessel.log_0f1(kappa, 3.0), kappa**2 / 16, rtol=1e-10)


@pytest.mark.parametrize("order", [0, 16, 255.5])
@pytest.mark.parametrize("ratio", [_bessel.ratio_by_fraction, _bessel.ratio_debye])
def test_the_complement_is_one_minus_the_ratio(ratio, order):
    computed = ratio(kappa_at_switch(min(order, 30)), order)
    assert_allclose(computed[0] + computed[1], 1, rtol=1e-15)


def test_the_complement_keeps_its_digits_where_the_ratio_is_one():
    kappa = 1e12
    with mpmath.workdps(40):
        exact = float(1 - mpmath.coth(kappa) + 1 / mpmath.mpf(kappa))
    complement = _bessel.ratio_debye(np.array([kappa]), 0.5)[1]
    assert_allclose(complement, exact, rtol=1e-15)
