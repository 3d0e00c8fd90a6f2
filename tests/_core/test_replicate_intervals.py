"""Facts of intervals and bands from replicates."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.testing import assert_allclose, assert_array_equal

from skfairfr._core._replicate_intervals import adjusted, percentile, simultaneous

LINE = (-np.inf, np.inf)
UNIT = (0.0, 1.0)


def normal(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


# ---- adjusted replicates -------------------------------------------------------------


@pytest.mark.parametrize("method", ["recentered", "jackknife"])
def test_recentred_replicates_move_by_the_distance_of_value_and_centre(method):
    replicates = normal(0, 2, 5)
    value, centre = np.array([1.0, 2.0]), np.array([0.5, 2.25])
    expected = replicates + np.array([[0.5], [-0.25]])
    assert_allclose(adjusted(replicates, value, centre, method), expected)


def test_multiplied_replicates_scale_by_the_quotient_of_value_and_centre():
    replicates = normal(0, 2, 5)
    value, centre = np.array([1.0, 2.0]), np.array([0.5, 4.0])
    expected = replicates * np.array([[2.0], [0.5]])
    assert_allclose(adjusted(replicates, value, centre, "multiplicative"), expected)


@pytest.mark.parametrize(
    ("value", "centre", "method"),
    [
        *product((np.inf, np.nan), (1,), ("recentered", "multiplicative")),
        *product((1,), (np.inf, np.nan), ("recentered", "multiplicative")),
        (1, 0, "multiplicative"),
    ],
)
def test_without_a_finite_value_and_centre_there_is_nothing_to_move(
    value, centre, method
):
    replicates = np.array([[0.5, np.inf, np.nan]])
    moved = adjusted(replicates, np.array([value]), np.array([centre]), method)
    assert_array_equal(moved, replicates)


# ---- percentiles ---------------------------------------------------------------------


@settings(deadline=None)
@given(
    arrays.arrays(np.float64, (2, 41), elements=st.floats(-9, 9)),
    st.sampled_from([0.5, 0.9, 0.95, 0.99]),
)
def test_percentiles_of_finite_replicates_are_numpy_s(replicates, level):
    low, high, n_undefined = percentile(replicates, level, LINE)
    tail = (1 - level) / 2
    expected = np.quantile(replicates, [tail, 1 - tail], axis=-1)
    assert_allclose([low, high], expected, rtol=1e-12, atol=1e-12)
    assert (n_undefined == 0).all()


@pytest.mark.parametrize(
    ("n_infinite", "expected_low", "expected_high"),
    [
        (0, 2.5, 97.5),
        (2, 2.5, 97.5),
        (3, 2.5, np.inf),
        (97, 2.5, np.inf),
        (98, 2, np.inf),  # between 2 and infinity the lower bound goes down
        (99, np.inf, np.inf),
        (101, np.inf, np.inf),
    ],
)
def test_infinite_replicates_are_the_largest(n_infinite, expected_low, expected_high):
    replicates = np.arange(101.0)  # the quantiles stand at places 2.5 and 97.5
    replicates[101 - n_infinite :] = np.inf
    replicates = np.random.default_rng(0).permutation(replicates)
    low, high, n_undefined = percentile(replicates, 0.95, LINE)
    assert low == pytest.approx(expected_low)
    assert high == pytest.approx(expected_high)
    assert n_undefined == 0


@pytest.mark.parametrize("n_undefined", range(4))
def test_undefined_replicates_could_have_been_anything(n_undefined):
    replicates = np.arange(121.0)  # the places are 3 and 117
    replicates[50 : 50 + n_undefined] = np.nan
    low, high, counted = percentile(replicates, 0.95, (-5.0, 500.0))
    smallest = np.where(np.isnan(replicates), -5.0, replicates)
    largest = np.where(np.isnan(replicates), 500.0, replicates)
    assert low == pytest.approx(np.quantile(smallest, 0.025))
    assert high == pytest.approx(np.quantile(largest, 0.975))
    assert counted == n_undefined


@pytest.mark.parametrize(
    ("n_undefined", "known"), [(5, True), (6, False), (200, False)]
)
def test_above_half_of_alpha_of_undefined_ones_there_is_no_bound(n_undefined, known):
    replicates = normal(0, 2, 200)
    replicates[0, :n_undefined] = np.nan
    low, high, counted = percentile(replicates, 0.95, (-9.0, 9.0))
    assert np.isfinite([low[0], high[0]]).tolist() == [known, known]
    assert np.isfinite([low[1], high[1]]).all()
    assert counted.tolist() == [n_undefined, 0]


def test_just_half_of_alpha_of_undefined_ones_leaves_both_bounds():
    replicates = np.append(np.arange(7.0), np.nan)  # an eighth, as is alpha / 2
    assert np.isfinite(percentile(replicates, 0.75, (-9.0, 9.0))[:2]).all()


# ---- bands ---------------------------------------------------------------------------


def band(replicates, value, level=0.9, bounds=LINE):
    pointwise = percentile(replicates, level, bounds)[:2]
    return pointwise, simultaneous(replicates, value, pointwise, level, bounds)


@settings(deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from([UNIT, LINE]),
    st.sampled_from([-0.5, 0.0, 0.5]),
)
def test_a_band_holds_the_pointwise_one_and_the_range_holds_it(seed, bounds, shift):
    replicates = 0.3 + 0.3 * normal(seed, 4, 30)
    value = replicates.mean(axis=-1) + shift
    pointwise, (low, high) = band(replicates, value, 0.9, bounds)
    assert (low <= pointwise[0]).all()
    assert (high >= pointwise[1]).all()
    assert (low >= bounds[0]).all()
    assert (high <= bounds[1]).all()


def test_a_band_is_the_value_and_the_quantile_of_the_largest_deviation():
    replicates, value = normal(0, 3, 200) * np.array([[1], [5], [0.1]]), np.arange(3.0)
    studentised = [np.abs(row - row.mean()) / row.std() for row in replicates]
    c = np.quantile(np.max(studentised, axis=0), 0.9)
    narrow = (value, value)  # pointwise intervals that never widen the band
    low, high = simultaneous(replicates, value, narrow, 0.9, LINE)
    assert_allclose(high - value, c * replicates.std(axis=-1))
    assert_allclose(value - low, c * replicates.std(axis=-1))


def test_a_band_of_rates_is_one_of_logits():
    replicates = 0.01 + 0.004 * normal(0, 4, 200)
    value = np.array([0.01, 0.02, 0.0, 1.0])
    studentised = [np.abs(row - row.mean()) / row.std() for row in replicates]
    c = np.quantile(np.max(studentised, axis=0), 0.9)
    low, high = simultaneous(replicates, value, (value, value), 0.9, UNIT)
    odds = value[:2] / (1 - value[:2])
    reach = np.exp(c * replicates.std(axis=-1)[:2] / (value[:2] * (1 - value[:2])))
    assert_allclose(low[:2], odds / reach / (1 + odds / reach))
    assert_allclose(high[:2], odds * reach / (1 + odds * reach))
    # No logit of 0 or 1: value +- c standard errors, cut there.
    assert_allclose([low[2], high[2]], [0, c * replicates.std(axis=-1)[2]])
    assert_allclose([low[3], high[3]], [1 - c * replicates.std(axis=-1)[3], 1])


@pytest.mark.parametrize("odd", [0.5, np.inf, np.nan])
def test_levels_that_do_not_vary_or_are_not_finite_keep_their_interval(odd):
    replicates = np.vstack([normal(0, 2, 40), np.full((1, 40), 0.5)])
    replicates[2, 0] = odd
    value = np.array([0.0, 0.0, 0.5])
    pointwise, (low, high) = band(replicates, value)
    assert_array_equal([low[2], high[2]], [pointwise[0][2], pointwise[1][2]])
    alone = band(replicates[:2], value[:2])[1]
    assert_array_equal([low[:2], high[:2]], alone)
    replicates, value[2] = normal(0, 3, 40) * [[1], [1], [9]], odd
    if not np.isfinite(odd):  # nor is one without a value
        both = band(replicates[:2], value[:2])[1]
        assert_array_equal(np.array(band(replicates, value)[1])[:, :2], both)


def test_nothing_that_varies_leaves_the_intervals():
    replicates = np.full((2, 10), 0.25)
    pointwise, found = band(replicates, np.full(2, 0.25))
    assert_array_equal(found, pointwise)
