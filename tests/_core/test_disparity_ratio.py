"""The ratio of two systems' largest ratios of rates, against loops, chance and other orders."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skfairfr._core._jackknife import ErrorSums
from skfairfr._core._paired import SymmetricContrasts, difference_ends, disparity_ratio
from skfairfr._core._planning import genuine_sums_of
from skfairfr._core._rates import DISPARITIES

TAIL = 0.025


def sums_of(errors, people):
    """ErrorSums of groups of so many people, one genuine pair each."""
    groups = [
        genuine_sums_of([np.array([float(e)])] * 4, n, 1)
        for e, n in zip(errors, people, strict=True)
    ]
    return ErrorSums.of_groups(groups).rows(0)


def contrasts_of(sums, covariance=None):
    """What makes the contrasts of two systems, which see other people if not told."""
    both = ErrorSums(*map(np.concatenate, zip(*sums, strict=True))).with_an_error()
    logs = np.log(both.rate)
    if covariance is None:
        covariance = np.diag(both.log_variance)

    def contrasts(weights):
        variance = ((weights @ covariance) * weights).sum(axis=1)
        error = np.sqrt(np.maximum(variance, 0.0))
        return SymmetricContrasts(weights @ logs, error, np.full(len(weights), 150.0))

    return contrasts


def ratio_of(sums, covariance=None, how="max_min"):
    blocks = DISPARITIES[how].contrasts(sums[0].errors.size)
    return disparity_ratio(contrasts_of(sums, covariance), blocks, TAIL)


@pytest.mark.parametrize("how", ["max_min", "max_geomean"])
def test_a_disparity_is_its_largest_contrast(how):
    measure, rng = DISPARITIES[how], np.random.default_rng(3)
    for n_groups in (2, 3, 6):
        rates = rng.uniform(size=n_groups)
        sums = np.concatenate(measure.contrasts(n_groups)) @ np.log(rates)
        assert_allclose(np.exp(sums.max()), measure.function(rates))


def all_contrasts(how, n_groups):
    """Of the logarithms of rates, by loops; the largest is that of the disparity."""
    found = []
    for i in range(n_groups):
        if how == "max_geomean":
            found.append([(i == k) - 1 / n_groups for k in range(n_groups)])
            continue
        for j in range(n_groups):
            if i != j:
                found.append([float((i == k) - (j == k)) for k in range(n_groups)])
    return found


@pytest.mark.parametrize("how", ["max_min", "max_geomean"])
def test_two_samples_of_other_people_by_loops(how):
    """Every contrast of the first system against the surest one of the second."""
    rng = np.random.default_rng(0)
    for n_groups in (3, 5):
        people = rng.integers(40, 300, n_groups)
        sums = [sums_of(rng.binomial(people, 0.2), people) for _ in range(2)]
        every, none = all_contrasts(how, n_groups), [0.0] * n_groups
        tail = TAIL / len(every)
        compared = contrasts_of(sums)

        def bounds(first, second, compared=compared, tail=tail):
            both = compared(np.array([first + second]))
            return [end[0] for end in both.bounds(tail)]

        def upper(first, bounds=bounds, every=every, none=none):
            def placed(own, other):
                return (own, other) if first == 0 else (other, own)

            lowest = [bounds(*placed(none, other))[0] for other in every]
            surest = [-weight for weight in every[int(np.argmax(lowest))]]
            return max(bounds(*placed(own, surest))[1] for own in every)

        _, low, high = ratio_of(sums, how=how)
        assert_allclose([low, high], [1 / upper(1), upper(0)])


@pytest.mark.parametrize("how", ["max_min", "max_geomean"])
def test_two_groups_are_one_contrast_of_each_system(how):
    """By loops: that of the larger rate over the smaller, or over their mean, of either."""
    rng, share = np.random.default_rng(5), 1 if how == "max_min" else 0.5
    for _ in range(5):
        people = rng.integers(40, 300, 2)
        sums = [sums_of(rng.binomial(people, 0.2), people) for _ in range(2)]
        weights, value = [], 0.0
        for of, sign in zip(sums, (1, -1), strict=True):
            larger = int(np.argmax(of.rate))
            value += sign * share * np.log(of.rate[larger] / of.rate[1 - larger])
            weights += [sign * share * (1 if g == larger else -1) for g in (0, 1)]
        found = contrasts_of(sums)(np.array([weights]))
        assert_allclose(found.value, value)
        expected = found.p_value[0], *np.ravel(found.bounds(TAIL))
        assert_allclose(ratio_of(sums, how=how), expected)


def test_ends_of_the_difference_by_a_grid():
    rng = np.random.default_rng(4)
    for _ in range(50):
        ratio = np.sort(rng.uniform(0.2, 3, 2))
        both = np.sort(rng.uniform(1, 5, (2, 2)))
        first, second, q = (np.linspace(*ends, 41) for ends in (*both, ratio))
        differences = (
            np.multiply.outer(second, q - 1),
            np.multiply.outer(first, 1 - 1 / q),
        )
        low, high = difference_ends(ratio, *both)
        assert_allclose(low, max(d.min() for d in differences))
        assert_allclose(high, min(d.max() for d in differences))
        assert (low > 0) == (ratio[0] > 1)
        assert (high < 0) == (ratio[1] < 1)


@pytest.mark.parametrize(
    ("ratio", "expected"),
    [
        ((0, np.inf), (-9, 4)),
        ((1, np.inf), (0, 4)),
        ((0, 1), (-9, 0)),
        ((1, 1), (0, 0)),
    ],
)
def test_ends_of_the_difference_without_bounds(ratio, expected):
    """A ratio without bounds leaves what either disparity alone does."""
    ends = np.array(ratio, dtype=float)
    assert_allclose(difference_ends(ends, np.array([1, 4]), np.array([1, 9])), expected)
    low, _ = difference_ends(ends, np.array([1, np.inf]), np.array([1, np.inf]))
    assert low == (0 if ratio[0] == 1 else -np.inf)


def test_what_both_systems_share_cancels():
    """The same people err in both: nothing is left but the ratio itself."""
    people = np.array([200, 300])
    sums = (sums_of([20, 60], people),) * 2
    variance = sums[0].log_variance
    p_value, low, high = ratio_of(sums, np.tile(np.diag(variance), (2, 2)))
    alone = ratio_of(sums)
    assert p_value == 1
    assert alone[1] < low <= 1 <= high < alone[2]


def test_the_order_of_systems_and_of_groups_tells_nothing():
    people = np.array([200, 300, 150])
    one, other = (sums_of(e, people) for e in ([20, 60, 10], [25, 30, 20]))
    p_value, low, high = ratio_of((one, other))
    turned = ratio_of((other, one))
    assert_allclose([p_value, low, high], [turned[0], 1 / turned[2], 1 / turned[1]])
    order = [2, 0, 1]
    moved = ratio_of((one.columns(order), other.columns(order)))
    assert_allclose([p_value, low, high], moved)
