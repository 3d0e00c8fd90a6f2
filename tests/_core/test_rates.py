"""Facts of the tie rule, the threshold at a level and the equal error rate."""

from decimal import Decimal
from math import inf

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from skfairfr._core._rates import (
    accepts,
    count_at_least,
    equal_error,
    exceeds,
    first_exceeding,
    next_above,
    on_its_side,
    p_in_digits,
    share_accepted,
    share_rejected,
    shortest_between,
    threshold_at,
)

grid = st.integers(-5, 5).map(lambda i: i / 4)


def descending(scores, dtype=np.float64):
    return np.sort(np.asarray(scores, dtype=dtype))[::-1]


@given(st.lists(grid, max_size=30), st.lists(grid, max_size=10))
def test_counts_are_those_of_a_double_loop(scores, thresholds):
    expected = [sum(s >= t for s in scores) for t in thresholds]
    assert count_at_least(descending(scores), thresholds).tolist() == expected


def test_a_score_equal_to_the_threshold_is_accepted():
    assert count_at_least(descending([0.25, 0.5, 0.5, 0.75]), 0.5) == 3


@pytest.mark.parametrize(("threshold", "count"), [(np.inf, 0), (-np.inf, 3)])
def test_infinite_thresholds(threshold, count):
    assert count_at_least(descending([1, 2, 3], np.float32), threshold) == count


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("digits", [2, 3])
def test_thresholds_on_a_grid_of_decimals_count_as_numpy_does(dtype, digits):
    step = 10**digits
    grid = [n / step for n in range(-step, step + 1)]
    scores = np.array(grid, dtype=dtype)
    for sign in (1, -1):  # a distance up to 0.3 is a similarity from -0.3 on
        ordered = np.sort(sign * scores)[::-1]
        for t in grid:
            accepted = scores >= t if sign == 1 else scores <= t
            assert count_at_least(ordered, sign * t) == accepted.sum()
            assert_array_equal(accepts(sign * scores, sign * t), accepted)
            assert accepted[grid.index(t)]


@given(st.floats(-1e300, 1e300), st.floats(width=32, allow_nan=False))
def test_thresholds_of_any_size_count_as_numpy_does(threshold, score):
    for value in (score, threshold):
        with np.errstate(over="ignore"):
            scores = np.array([value]).astype(np.float32)
            accepted = scores >= threshold
        assert accepts(scores, threshold).tolist() == accepted.tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_next_above_stays_in_the_type_and_leaves_no_gap(dtype):
    scores = np.array([-1, 0, 0.1, np.finfo(dtype).max], dtype=dtype)
    above = next_above(scores)
    assert above.dtype == dtype
    assert (above > scores).all()
    assert_array_equal(np.nextafter(above[:3], dtype(-np.inf)), scores[:3])


@given(st.lists(grid, min_size=1, max_size=30), st.integers(1, 60))
def test_threshold_is_the_infimum_of_those_that_meet_the_level(scores, sixtieths):
    level = sixtieths / 61
    impostor = descending(scores, np.float32)
    accumulated = np.arange(1, impostor.size + 1)
    position = first_exceeding(accumulated, level * impostor.size)
    threshold = threshold_at(impostor, position)
    assert np.mean(impostor >= np.float32(threshold)) <= level
    just_below = np.nextafter(np.float32(threshold), np.float32(-np.inf))
    assert np.mean(impostor >= just_below) > level


def test_threshold_is_minus_infinity_where_no_score_exceeds():
    assert first_exceeding(np.array([0.1, 0.2]), 0.5) == -1
    assert threshold_at(descending([1, 2]), -1) == -np.inf
    assert threshold_at(descending([]), np.array([-1, -1])).tolist() == [-np.inf] * 2


def test_a_sum_of_rounded_weights_that_equals_its_level_does_not_exceed_it():
    tenths = np.cumsum(np.full(10, 0.1))  # the third is 0.30000000000000004
    assert tenths[2] > 0.3
    assert not exceeds(tenths[2], 0.3)
    assert first_exceeding(tenths, 0.3) == 3


@given(st.lists(grid, min_size=1, max_size=20), st.lists(grid, max_size=5))
def test_every_score_is_accepted_or_rejected(scores, thresholds):
    scores = descending(scores)
    both = share_accepted(scores, thresholds) + share_rejected(scores, thresholds)
    assert both == pytest.approx(np.ones(len(thresholds)))


@pytest.mark.parametrize("share", [share_accepted, share_rejected])
def test_shares_are_nan_without_scores_or_threshold(share):
    assert np.isnan(share(descending([]), [0.0, np.nan])).all()
    assert np.isnan(share(descending([1.0]), np.nan))


def test_equal_error_at_a_point_and_beside_it():
    assert equal_error([0, 0.25, 1], [1, 0.25, 0]) == (0.25, 1)
    assert equal_error([0, 0.1, 0.5, 1], [1, 0.3, 0.1, 0]) == (0.2, 1)
    assert equal_error([0, 0, 1], [1, 0, 0]) == (0, 1)


@pytest.mark.parametrize("n", [3, 5])
def test_equal_error_of_stacked_rates_is_that_of_each(n):
    # As many systems as thresholds: a minimum along the other axis would have this shape.
    rng = np.random.default_rng(n)
    far = np.sort(rng.random((3, n)))
    frr = np.sort(rng.random((3, n)))[:, ::-1]
    rates, positions = equal_error(far, frr)
    for k in range(3):
        gaps = [abs(a - b) for a, b in zip(far[k], frr[k], strict=True)]
        closest = gaps.index(min(gaps))
        assert positions[k] == closest
        assert rates[k] == (far[k, closest] + frr[k, closest]) / 2


def n_digits(number):
    return len(Decimal(repr(number)).normalize().as_tuple().digits)


# All decimals of up to three significant digits, by their number of digits.
SHORT = {
    n: [
        sign * Decimal(digits).scaleb(exponent)
        for digits in range(10 ** (n - 1) if n > 1 else 0, 10**n)
        for exponent in range(-4, 4)
        for sign in (1, -1)
    ]
    for n in (1, 2, 3)
}
hundredths = st.integers(-3000, 3000).map(lambda i: i / 128)


@given(hundredths, hundredths)
def test_the_shortest_decimal_is_that_of_trying_all(rejected, accepted):
    assume(rejected < accepted)
    low, high = Decimal(rejected), Decimal(accepted)
    found = shortest_between(rejected, accepted)
    for n, decimals in SHORT.items():
        inside = [d for d in decimals if low < d <= high]
        if inside:
            nearest = min(abs(2 * d - low - high) for d in inside)
            assert n_digits(found) == n
            assert abs(2 * Decimal(repr(found)) - low - high) == nearest
            return
    assert n_digits(found) > max(SHORT)


@pytest.mark.parametrize("rejected", [0.1, 0.3, 1 / 3, 0.7, np.pi, -np.pi])
def test_between_neighbours_there_is_one_number(rejected):
    accepted = np.nextafter(rejected, np.inf)
    assert shortest_between(rejected, accepted) == accepted


@pytest.mark.parametrize(("score", "other"), [(4.0, 8.0), (0.0, 1.0), (0.25, 0.5)])
def test_without_a_score_on_one_side_one_is_taken_as_far_as_zero_or_one(score, other):
    assert shortest_between(score, np.inf) == shortest_between(score, other)
    assert shortest_between(-np.inf, -score) == shortest_between(-other, -score)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0028, "1.003"),
        (1.00005, "1.0001"),
        (0.99996, "0.99996"),
        (1.0, "1.00"),
        (1.04, "1.04"),
        (2.5, "2.50"),
        (inf, "inf"),
    ],
)
def test_a_number_is_read_on_its_side_of_a_border(value, text):
    assert on_its_side(lambda v, digits: f"{v:.{digits - 1}f}", value, 1.0, 3) == text


@pytest.mark.parametrize("level", [0.05, 0.01])
def test_a_printed_p_value_is_on_its_side_of_the_level(level):
    for p in level + np.array([-1e-2, -1e-4, -1e-9, 0.0, 1e-12, 1e-5, 1e-2]) * level:
        assert (float(p_in_digits(p)) <= level) == (p <= level)
    assert p_in_digits(0.0333) == "0.033"
    assert p_in_digits(3e-7) == "< 0.0001"
