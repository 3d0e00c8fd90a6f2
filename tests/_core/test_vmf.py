"""The normaliser, the mean length and kappa's estimate: mpmath, closed forms, integrals."""

import functools

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import integrate, special

from skfairfr._core._bessel import SWITCH
from skfairfr._core._vmf import (
    bessel_ratio,
    bessel_ratio_derivative,
    estimate_kappa,
    log_bessel_i,
    log_vmf_normalizer,
    sample_vmf,
)

DIMENSIONS = [2, 3, 16, 128, 512, 2048, 4096]
# Orders on both sides of SWITCH, odd numbers of features among them.
OTHER_DIMENSIONS = [4, 5, 33, 50, 65, 66, 67, 255, 1001]
TOLERANCE = 1e-13
DERIVATIVE_TOLERANCE = 5e-14
DIGITS = 50
FUNCTIONS = [log_vmf_normalizer, log_bessel_i, bessel_ratio, bessel_ratio_derivative]
# d = 512: kappa, log I_255 and log C.
TABLE = [
    (1, -1338.463656, 867.967127),
    (5, -928.033552, 867.943690),
    (15, -647.692198, 867.748470),
    (20, -574.162574, 867.577774),
    (25, -517.041668, 867.358474),
    (30, -470.281890, 867.090693),
    (45, -365.795690, 865.998096),
    (100, -154.557397, 858.379265),
    (200, 49.171669, 831.402731),
]


@functools.cache
def exact(d, kappa):
    """log C, log I, A and A' as numbers of 50 digits."""
    with mpmath.workdps(DIGITS):
        order, x = mpmath.mpf(d) / 2 - 1, mpmath.mpf(float(kappa))
        lower = mpmath.besseli(order, x, maxterms=10**7)
        ratio = mpmath.besseli(order + 1, x, maxterms=10**7) / lower
        log_i = mpmath.log(lower)
        log_c = order * mpmath.log(x) - (order + 1) * mpmath.log(2 * mpmath.pi) - log_i
        return log_c, log_i, ratio, 1 - ratio**2 - (d - 1) * ratio / x


def errors(d, kappa):
    """Largest of each error, in units of the bound that its docstring states."""
    computed = np.array([f(kappa, d) for f in FUNCTIONS])
    worst = np.zeros(4)
    with mpmath.workdps(DIGITS):
        for values, x in zip(computed.T, kappa, strict=True):
            truth = exact(d, float(x))
            error = [abs(t - float(v)) for t, v in zip(truth, values, strict=True)]
            unit = [
                TOLERANCE * max(1, abs(truth[0])),
                TOLERANCE * max(1, abs(truth[1])),
                1e-15 * truth[2],
                DERIVATIVE_TOLERANCE * truth[3],
            ]
            found = [float(e / u) for e, u in zip(error, unit, strict=True)]
            worst = np.maximum(worst, found)
    return worst


def kappa_at_switch(d):
    """Where expansions change, or None if one serves every kappa."""
    order = d / 2 - 1
    return np.sqrt(SWITCH**2 - order**2) if order < SWITCH else None


def zero_of(function, d):
    """The kappa at which a function changes its sign, by bisection."""
    low, high = 1e-3, 1e6
    for _ in range(80):
        middle = np.sqrt(low * high)
        same = (function(middle, d) > 0) == (function(low, d) > 0)
        low, high = (middle, high) if same else (low, middle)
    return low


def grid(d, n):
    """The range, with the switch and the zeros from both sides."""
    around = 1 + np.array([-1e-2, -1e-5, -1e-12, 0, 1e-12, 1e-5, 1e-2])
    special_points = [zero_of(log_vmf_normalizer, d), zero_of(log_bessel_i, d)]
    if kappa_at_switch(d):
        special_points.append(kappa_at_switch(d))
    near_them = np.outer(special_points, around).ravel()
    kappa = np.concatenate([np.geomspace(1e-3, 1e6, n), near_them])
    return kappa[(kappa >= 1e-3) & (kappa <= 1e6)]


# ---- against mpmath ------------------------------------------------------------------


@pytest.mark.parametrize("d", DIMENSIONS + OTHER_DIMENSIONS)
def test_values_keep_to_their_bounds(d):
    assert errors(d, grid(d, 7)).max() < 1


@pytest.mark.slow
@pytest.mark.parametrize("d", DIMENSIONS + OTHER_DIMENSIONS)
def test_values_keep_to_their_bounds_on_a_dense_grid(d):
    assert errors(d, grid(d, 300)).max() < 1


@pytest.mark.parametrize(("kappa", "log_i", "log_c"), TABLE)
def test_values_that_were_known_beforehand(kappa, log_i, log_c):
    assert_allclose(log_bessel_i(kappa, 512), log_i, rtol=0, atol=6e-7)
    for method in ("series", "mpmath"):
        value = log_vmf_normalizer(kappa, 512, method=method)
        assert_allclose(value, log_c, rtol=0, atol=6e-7)


def test_log_bessel_crosses_zero_where_it_was_known_to():
    assert_allclose(zero_of(log_bessel_i, 512), 171.098153671, rtol=0, atol=6e-10)


@pytest.mark.parametrize("d", [2, 3, 67, 512])
def test_both_methods_agree(d):
    kappa = np.array([[0, 1e-3, 1, 20], [35, 300, 1e4, 1e6]])
    series, digits = (
        log_vmf_normalizer(kappa, d, method=method) for method in ("series", "mpmath")
    )
    assert_allclose(series, digits, rtol=TOLERANCE, atol=TOLERANCE)
    assert digits.shape == kappa.shape and digits.dtype == np.float64


@pytest.mark.parametrize("d", [2, 5, 128, 4096])
@pytest.mark.parametrize("kappa", [0.01, 3.0, 40.0, 3000.0])
def test_the_ratios_are_derivatives_of_the_normaliser(d, kappa):
    with mpmath.workdps(DIGITS):
        first = mpmath.diff(lambda x: exact_log_c(d, x), kappa, 1, h=1e-15)
        second = mpmath.diff(lambda x: exact_log_c(d, x), kappa, 2, h=1e-12)
    assert_allclose(bessel_ratio(kappa, d), float(-first), rtol=1e-12)
    assert_allclose(bessel_ratio_derivative(kappa, d), float(-second), rtol=1e-9)


def exact_log_c(d, x):
    order = mpmath.mpf(d) / 2 - 1
    constant = (order + 1) * mpmath.log(2 * mpmath.pi)
    return order * mpmath.log(x) - constant - mpmath.log(mpmath.besseli(order, x))


# ---- closed forms, integrals, scipy --------------------------------------------------


def test_three_features_have_a_closed_form():
    kappa = np.geomspace(0.1, 300, 50)
    log_c = np.log(kappa / (4 * np.pi * np.sinh(kappa)))
    assert_allclose(log_vmf_normalizer(kappa, 3), log_c, rtol=1e-13, atol=1e-13)
    assert_allclose(bessel_ratio(kappa, 3), 1 / np.tanh(kappa) - 1 / kappa, rtol=1e-12)
    derivative = 1 / kappa**2 - 1 / np.sinh(kappa) ** 2
    assert_allclose(bessel_ratio_derivative(kappa, 3), derivative, rtol=1e-10)


@pytest.mark.parametrize("d", [2, 3, 7, 16, 64])
def test_scipy_agrees_where_it_is_finite(d):
    kappa = np.geomspace(1, 1e5, 60)
    log_i = np.log(special.ive(d / 2 - 1, kappa)) + kappa
    finite = np.isfinite(log_i)
    assert finite.sum() > 50
    ours = log_bessel_i(kappa, d)[finite]
    assert_allclose(ours, log_i[finite], rtol=1e-13, atol=1e-13)
    ratio = special.ive(d / 2, kappa) / special.ive(d / 2 - 1, kappa)
    assert_allclose(bessel_ratio(kappa, d)[finite], ratio[finite], rtol=1e-13)


@pytest.mark.parametrize("d", [3, 16, 128, 512])
@pytest.mark.parametrize("kappa", [0.0, 2.0, 40.0, 500.0])
def test_the_density_integrates_to_one(d, kappa):
    """Over t = mu.z, where a sphere of d - 1 dimensions hangs on every point."""
    area = np.log(2) + (d - 1) / 2 * np.log(np.pi) - special.gammaln((d - 1) / 2)
    log_c = log_vmf_normalizer(kappa, d)

    def density(t):
        return np.exp(log_c + area + kappa * t + (d - 3) / 2 * np.log1p(-t * t))

    mode = bessel_ratio(kappa, d)
    mass, _ = integrate.quad(density, -1, 1, points=[mode], epsabs=1e-12, limit=200)
    assert_allclose(mass, 1, rtol=1e-10)


# ---- properties ----------------------------------------------------------------------


@pytest.mark.parametrize("d", [d for d in DIMENSIONS + OTHER_DIMENSIONS if d < 66])
def test_the_switch_is_not_seen(d):
    """Differences across it are the derivatives, and its two sides agree."""
    switch, h = kappa_at_switch(d), 1e-2
    kappa = switch + h * np.arange(-20, 21)
    log_c, ratio = log_vmf_normalizer(kappa, d), bessel_ratio(kappa, d)
    slope = bessel_ratio_derivative(kappa, d)
    centred = (log_c[2:] - log_c[:-2]) / (2 * h)
    assert_allclose(centred, -ratio[1:-1], rtol=1e-5)
    assert_allclose(np.diff(log_c, 2) / h**2, -slope[1:-1], rtol=1e-4, atol=3e-10)
    assert_allclose((ratio[2:] - ratio[:-2]) / (2 * h), slope[1:-1], rtol=1e-5)
    sides = np.array([np.nextafter(switch, 0), np.nextafter(switch, 100)])
    for function in FUNCTIONS:
        below, above = function(sides, d)
        assert abs(above - below) < TOLERANCE * max(1, abs(below))


@given(st.integers(2, 5000), st.floats(0, 1e6), st.floats(1e-6, 1e6))
def test_the_ratio_rises_and_the_normaliser_falls(d, kappa, more):
    pair = np.array([kappa, kappa + more])
    low, high = bessel_ratio(pair, d)
    assert 0 <= low <= high * (1 + 1e-15) and high < 1
    log_c = log_vmf_normalizer(pair, d)
    assert log_c[1] - log_c[0] <= TOLERANCE * abs(log_c[0])


@given(st.integers(2, 5000), st.floats(1e-6, 1e6))
def test_the_ratio_keeps_between_the_bounds_of_amos(d, kappa):
    order = d / 2 - 1
    lower = kappa / (order + 1 + np.hypot(kappa, order + 1))
    upper = kappa / (order + 0.5 + np.hypot(kappa, order + 0.5))
    rounding = 1 + 1e-15
    assert lower / rounding <= bessel_ratio(kappa, d) <= upper * rounding


@given(st.integers(2, 5000), st.floats(1.0, 1e3))
def test_the_ratio_and_its_derivative_obey_their_differential_equation(d, kappa):
    ratio, slope = bessel_ratio(kappa, d), bessel_ratio_derivative(kappa, d)
    assert 0 < slope < 1 / d + 1e-15
    equation = 1 - ratio**2 - (d - 1) * ratio / kappa
    assert abs(slope - equation) < 2e-15 * (1 + d / kappa)


@pytest.mark.parametrize("d", [2, 3, 50, 66, 4096])
def test_far_out_the_derivative_follows_its_asymptote(d):
    kappa = 1e12
    expected = (d - 1) / (2 * kappa**2)
    assert_allclose(bessel_ratio_derivative(kappa, d), expected, rtol=1e-7)


# ---- zero and other edges ------------------------------------------------------------


@pytest.mark.parametrize("d", DIMENSIONS + OTHER_DIMENSIONS)
def test_zero_concentration_is_the_uniform_density(d):
    area = np.log(2) + d / 2 * np.log(np.pi) - special.gammaln(d / 2)
    for kappa in (0.0, 1e-300, 1e-9):
        assert_allclose(log_vmf_normalizer(kappa, d), -area, rtol=1e-14)
    assert log_bessel_i(0.0, d) == (0 if d == 2 else -np.inf)
    assert bessel_ratio(0.0, d) == 0
    assert_allclose(bessel_ratio(1e-200, d), 1e-200 / d, rtol=1e-15)
    assert_allclose(bessel_ratio_derivative(0.0, d), 1 / d, rtol=1e-15)


def test_the_uniform_density_on_512_features():
    assert_allclose(log_vmf_normalizer(0, 512), 867.968103160394, rtol=1e-15)


@pytest.mark.parametrize("d", [2, 66, 512])
def test_the_largest_concentrations_do_not_overflow(d):
    kappa = np.array([1e100, 1e300])
    assert_allclose(log_vmf_normalizer(kappa, d), -kappa)
    assert_allclose(log_bessel_i(kappa, d), kappa)
    assert_array_equal(bessel_ratio(kappa, d), 1)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("shape", [(), (1,), (0,), (2, 3), (4, 0)])
def test_shapes_are_kept(function, shape):
    for d in (3, 600):
        value = function(np.full(shape, 32, dtype=np.float32), d)
        assert value.shape == shape and value.dtype == np.float64


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("d", [2, 21, 512])
def test_values_do_not_depend_on_their_neighbours(function, d):
    kappa = np.geomspace(1e-3, 1e6, 40)
    kappa.flags.writeable = False
    alone = [function(value, d) for value in kappa]
    assert_allclose(function(kappa, d), alone, rtol=1e-15)


# ---- the estimate --------------------------------------------------------------------


@pytest.mark.parametrize("d", DIMENSIONS + OTHER_DIMENSIONS)
def test_the_estimate_undoes_the_ratio(d):
    kappa = np.geomspace(1e-6, d, 80)
    assert_allclose(estimate_kappa(bessel_ratio(kappa, d), d), kappa, rtol=1e-13)


@pytest.mark.parametrize("d", [2, 3, 16, 66, 512])
def test_the_estimate_solves_for_the_length_as_given(d):
    far_out = 1 - np.array([1e-4, 1e-8, 1e-12, 1e-15])
    length = np.concatenate([[1e-12, 0.01, 0.3, 0.5, 0.51, 0.9, 0.98], far_out])
    for r, kappa in zip(length, estimate_kappa(length, d), strict=True):
        _, _, ratio, slope = exact(d, kappa)
        assert abs(float((ratio - float(r)) / (slope * kappa))) < 1e-13


def test_the_estimate_at_the_ends():
    ends = estimate_kappa([[0, 1], [5e-324, np.nextafter(1, 0)]], 16)
    assert_array_equal(ends[0], [0, np.inf])
    assert np.isfinite(ends[1]).all() and (ends[1] > 0).all()
    assert estimate_kappa(0.0, 3) == 0 and estimate_kappa(1, 3) == np.inf


@given(st.integers(2, 5000), st.floats(0, 1), st.floats(0, 1))
def test_the_estimate_rises_with_the_length(d, a, b):
    low, high = estimate_kappa(sorted([a, b]), d)
    assert 0 <= low <= high * (1 + 1e-13)


@pytest.mark.parametrize(
    ("d", "kappa"),
    [(2, 5.0), (3, 0.7), (3, 80.0), (16, 40.0), (128, 800.0), (512, 2e3)],
)
def test_the_estimate_finds_the_kappa_of_samples(d, kappa):
    n, rng = 4000, np.random.default_rng(d)
    samples = sample_vmf(np.tile(np.eye(d)[0], (n, 1)), np.full(n, kappa), rng)
    estimate = estimate_kappa(np.linalg.norm(samples.mean(axis=0)), d)
    error = 1 / np.sqrt(n * bessel_ratio_derivative(kappa, d))
    assert abs(estimate - kappa) < 4.5 * error


# ---- refusals ------------------------------------------------------------------------


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("bad", [-1.0, -1e-300, np.nan, np.inf, -np.inf])
def test_what_is_no_concentration_is_refused(function, bad):
    for kappa in (bad, [1.0, bad]):
        with pytest.raises(
            ValueError, match=rf"kappa must lie in \[0, inf\); got {bad}"
        ):
            function(kappa, 8)


@pytest.mark.parametrize("bad", [-0.1, 1.0000001, np.nan, np.inf])
def test_what_is_no_mean_length_is_refused(bad):
    with pytest.raises(ValueError, match=rf"lie in \[0, 1\]; got {bad}.*unit norm"):
        estimate_kappa([0.5, bad], 8)


@pytest.mark.parametrize("function", [*FUNCTIONS, estimate_kappa])
@pytest.mark.parametrize("bad", [1, 0, -3, 2.5, 8.0, True, "8", None])
def test_what_is_no_number_of_features_is_refused(function, bad):
    with pytest.raises(ValueError, match="n_features must be an integer of at least 2"):
        function(0.5, bad)


def test_an_unknown_method_is_refused():
    with pytest.raises(ValueError, match=r"one of .*series.*mpmath.*; got 'debye'"):
        log_vmf_normalizer(1.0, 8, method="debye")
