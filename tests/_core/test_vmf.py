"""The normaliser of the von Mises-Fisher density: mpmath, closed forms, integrals."""

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import special

from skfairfr._core._vmf import SWITCH, log_vmf_normalizer
from tests.oracles.vmf import DIGITS, exact_log_normalizer, exact_ratio

DIMENSIONS = [2, 3, 16, 128, 512, 2048, 4096]
# Orders on both sides of SWITCH, odd numbers of features among them.
OTHER_DIMENSIONS = [4, 5, 33, 50, 65, 66, 67, 255, 1001]
TOLERANCE = 1e-13
# d = 512: kappa and log C.


def worst_error(d, kappa):
    """Largest error, in units of the bound that the docstring states."""
    worst = 0.0
    with mpmath.workdps(DIGITS):
        for value, x in zip(log_vmf_normalizer(kappa, d), kappa, strict=True):
            truth = exact_log_normalizer(float(x), d)
            bound = TOLERANCE * max(1, abs(truth))
            worst = max(worst, float(abs(truth - float(value)) / bound))
    return worst


def kappa_at_switch(d):
    """Where expansions change, or None if one serves every kappa."""
    order = d / 2 - 1
    return np.sqrt(SWITCH**2 - order**2) if order < SWITCH else None


def zero_of_log_normalizer(d):
    """The kappa at which log C changes its sign, by bisection."""
    low, high = 1e-3, 1e6
    for _ in range(80):
        middle = np.sqrt(low * high)
        positive = [log_vmf_normalizer(kappa, d) > 0 for kappa in (middle, low)]
        low, high = (middle, high) if positive[0] == positive[1] else (low, middle)
    return low


def grid(d, n):
    """The range, with the switch and the zero from both sides."""
    around = 1 + np.array([-1e-2, -1e-5, -1e-12, 0, 1e-12, 1e-5, 1e-2])
    special_points = [zero_of_log_normalizer(d)]
    if kappa_at_switch(d):
        special_points.append(kappa_at_switch(d))
    near_them = np.outer(special_points, around).ravel()
    kappa = np.concatenate([np.geomspace(1e-3, 1e6, n), near_them])
    return kappa[(kappa >= 1e-3) & (kappa <= 1e6)]


# ---- against mpmath ------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("d", DIMENSIONS + OTHER_DIMENSIONS)
def test_values_keep_to_their_bound_on_a_dense_grid(d):
    assert worst_error(d, grid(d, 300)) < 1


@pytest.mark.parametrize("d", [2, 3, 67, 512])
def test_arrays_of_any_shape_with_zero_among_them(d):
    kappa = np.array([[0, 1e-3, 1, 20], [35, 300, 1e4, 1e6]])
    exact = [[float(exact_log_normalizer(float(x), d)) for x in row] for row in kappa]
    found = log_vmf_normalizer(kappa, d)
    assert_allclose(found, exact, rtol=TOLERANCE, atol=TOLERANCE)
    assert found.shape == kappa.shape and found.dtype == np.float64


# ---- closed forms, integrals, scipy --------------------------------------------------


def test_three_features_have_a_closed_form():
    kappa = np.geomspace(0.1, 300, 50)
    log_c = np.log(kappa / (4 * np.pi * np.sinh(kappa)))
    assert_allclose(log_vmf_normalizer(kappa, 3), log_c, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("d", [2, 3, 7, 16, 64])
def test_scipy_agrees_where_it_is_finite(d):
    kappa, order = np.geomspace(1, 1e5, 60), d / 2 - 1
    log_i = np.log(special.ive(order, kappa)) + kappa
    finite = np.isfinite(log_i)
    assert finite.sum() > 50
    log_c = order * np.log(kappa) - (order + 1) * np.log(2 * np.pi) - log_i
    found = log_vmf_normalizer(kappa, d)[finite]
    assert_allclose(found, log_c[finite], rtol=1e-12, atol=1e-12)


# ---- properties ----------------------------------------------------------------------


@pytest.mark.parametrize("d", [d for d in DIMENSIONS + OTHER_DIMENSIONS if d < 66])
def test_the_switch_is_not_seen(d):
    """Differences across it are the derivative, and its two sides agree."""
    switch, h = kappa_at_switch(d), 1e-2
    kappa = switch + h * np.arange(-20, 21)
    log_c = log_vmf_normalizer(kappa, d)
    ratio = np.array([float(exact_ratio(float(x), d)) for x in kappa])
    centred = (log_c[2:] - log_c[:-2]) / (2 * h)
    assert_allclose(centred, -ratio[1:-1], rtol=1e-5)
    slope = (ratio[2:] - ratio[:-2]) / (2 * h)
    assert_allclose(np.diff(log_c, 2) / h**2, -slope, rtol=1e-4, atol=3e-10)
    below, above = log_vmf_normalizer(
        np.array([np.nextafter(switch, 0), np.nextafter(switch, 100)]), d
    )
    assert abs(above - below) < TOLERANCE * max(1, abs(below))


# ---- zero and other edges ------------------------------------------------------------


@pytest.mark.parametrize("d", DIMENSIONS + OTHER_DIMENSIONS)
def test_zero_concentration_is_the_uniform_density(d):
    area = np.log(2) + d / 2 * np.log(np.pi) - special.gammaln(d / 2)
    for kappa in (0.0, 1e-300, 1e-9):
        assert_allclose(log_vmf_normalizer(kappa, d), -area, rtol=1e-14)


@pytest.mark.parametrize("d", [2, 66, 512])
def test_the_largest_concentrations_do_not_overflow(d):
    kappa = np.array([1e100, 1e300])
    assert_allclose(log_vmf_normalizer(kappa, d), -kappa)


# ---- refusals ------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [-1.0, -1e-300, np.nan, np.inf, -np.inf])
def test_what_is_no_concentration_is_refused(bad):
    for kappa in (bad, [1.0, bad]):
        with pytest.raises(
            ValueError, match=rf"kappa must lie in \[0, inf\), got {bad}"
        ):
            log_vmf_normalizer(kappa, 8)


@pytest.mark.parametrize("bad", [1, 0, -3, 2.5, 8.0, True, "8", None])
def test_what_is_no_number_of_features_is_refused(bad):
    with pytest.raises(ValueError, match="n_features must be an integer of at least 2"):
        log_vmf_normalizer(0.5, bad)
