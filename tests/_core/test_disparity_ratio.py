"""The ratio of two systems' largest ratios of rates, against loops, chance and other orders."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skfairfr._core._few_errors import ErrorSums, contrasts, every_two
from skfairfr._core._paired import disparity_ratio
from skfairfr._core._planning import genuine_sums_of

TAIL = 0.025


def sums_of(errors, people):
    """ErrorSums of groups of so many people, one genuine pair each."""
    groups = [
        genuine_sums_of([np.array([float(e)])] * 4, n, 1)
        for e, n in zip(errors, people, strict=True)
    ]
    return ErrorSums.of_groups(groups).rows(0)


def own_variances(sums):
    """Covariance of the logarithms of the rates of different people."""
    variance = np.concatenate([one.worth().variance for one in sums])
    return np.zeros((variance.size, variance.size)), np.diag(variance)


def ratio_of(sums, covariance=None):
    blocks = list(every_two(sums[0]))
    return disparity_ratio(sums, *(covariance or own_variances(sums)), blocks, TAIL)


def test_two_samples_of_other_people_by_loops():
    """Every two groups of the first system against the surest two of the second."""
    rng = np.random.default_rng(0)
    for n_groups in (2, 3, 5):
        people = rng.integers(40, 300, n_groups)
        sums = [sums_of(rng.binomial(people, 0.2), people) for _ in range(2)]
        two = [(i, j) for i in range(n_groups) for j in range(n_groups) if i != j]
        tail = TAIL / len(two)
        joined = ErrorSums(*map(np.concatenate, zip(*sums, strict=True)))

        def upper(first, second, joined=joined, two=two, tail=tail, sums=sums):
            lowest = []
            for i, j in two:
                weights = np.zeros((1, sums[0].errors.size))
                weights[0, [i, j]] = 1, -1
                lowest.append(contrasts(sums[second], weights).bounds(tail)[0][0])
            k, m = two[int(np.argmax(lowest))]
            n, found = sums[0].errors.size, []
            for i, j in two:
                weights = np.zeros((1, 2 * n))
                weights[0, [first * n + i, first * n + j]] += 1, -1
                weights[0, [second * n + k, second * n + m]] += -1, 1
                found.append(contrasts(joined, weights).bounds(tail)[1][0])
            return max(found)

        _, low, high = ratio_of(sums)
        assert_allclose([low, high], [1 / upper(1, 0), upper(0, 1)])


@pytest.mark.parametrize("n_groups", [2, pytest.param(8, marks=pytest.mark.slow)])
@pytest.mark.parametrize("rates", [(0.25, 0.6), (0.6, 0.25), (0.1, 0.1)])
def test_groups_that_are_alike_in_both_systems_are_seldom_said_to_differ(
    n_groups, rates
):
    """The more pairs err, the smaller a largest rate over a smallest is by chance."""
    rng, people, n_sets = np.random.default_rng(1), np.full(n_groups, 150), 200
    wrong = 0
    for _ in range(n_sets):
        sums = [sums_of(rng.binomial(people, rate), people) for rate in rates]
        p_value, low, high = ratio_of(sums)
        assert (low > 1 or high < 1) == (p_value < 2 * TAIL)
        wrong += low > 1 or high < 1
    assert wrong <= 0.05 * n_sets


def test_a_disparity_that_falls_is_found_and_covered():
    rng, people, n_sets = np.random.default_rng(2), np.full(3, 400), 100
    found = covered = 0
    for _ in range(n_sets):
        after, before = (
            sums_of(rng.binomial(people, rates), people)
            for rates in ((0.3, 0.3, 0.3), (0.1, 0.1, 0.3))
        )
        _, low, high = ratio_of((after, before))
        found += high < 1
        covered += low <= 1 / 3 <= high
    assert found >= 0.9 * n_sets
    assert covered >= 0.95 * n_sets


def test_what_both_systems_share_cancels():
    """The same people err in both: nothing is left but the ratio itself."""
    people = np.array([200, 300])
    sums = (sums_of([20, 60], people),) * 2
    variance = sums[0].worth().variance
    shared = np.tile(np.diag(variance), (2, 2))
    zero = np.zeros((4, 4))
    p_value, low, high = ratio_of(sums, (zero, shared))
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


def test_without_an_error_a_group_bounds_nothing_from_its_side():
    people = np.array([200, 200])
    none, some = sums_of([0, 40], people), sums_of([30, 40], people)
    _, low, high = ratio_of((none, some))
    assert high == np.inf
    assert low > 0
