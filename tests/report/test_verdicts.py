"""Verdicts about groups: loops over pairs of groups, and the shares of the error rate."""

from dataclasses import replace
from itertools import permutations
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from skfairfr._core._family import bounds
from skfairfr.metrics._roc._analytic import PairsOfGroups, influence_at, judge_together
from skfairfr.report._verdicts import SHARE_OF_COMBINATIONS, judge
from tests.report.test_needed import judged

ERRORS = [[40, 12, 25], [5, 60, 25], [25, 12, 40], [9, 9, 9]]
SEED = 5


# Bounds of the ratios of groups 0 and 1, 0 and 2, and 1 and 2 that hold all at once.
LOW, HIGH = np.array([0.3, 0.2, 1.4]), np.array([0.6, 1.5, 1.8])


@pytest.mark.parametrize("errors", ERRORS)
def test_the_largest_ratio_is_a_loop_over_every_two_groups(errors):
    pairs = np.array([1000, 900, 1100])
    found = replace(judged(errors, pairs), low=LOW, high=HIGH)
    low, high = {}, {}
    for worse, better in permutations(range(3), 2):
        key = found.labels[worse], found.labels[better]
        both = [worse, better]
        alone = judged(np.array(errors)[both], pairs[both]).pairs
        high[key] = alone.near[1][0]
        place = [(0, 1), (0, 2), (1, 2)].index(tuple(sorted(both)))
        low[key] = LOW[place] if worse < better else 1 / HIGH[place]
    worst, widest = max(low, key=low.get), max(high, key=high.get)
    *value, lowest, highest = found.largest_ratio()
    assert (lowest, highest) == (worst, widest)
    assert_allclose(value, [max(1.0, low[worst]), max(1.0, high[widest])])


@pytest.mark.parametrize("errors", ERRORS)
@pytest.mark.parametrize("p_adjusted", [[0.3, 0.2, 0.4], [0.2, 0.2, 0.2]])
def test_the_most_certain_pair_names_the_worse_group_first(errors, p_adjusted):
    """Of the smallest adjusted p-values that of the largest deviate."""
    found = replace(
        judged(errors, [1000, 900, 1100]),
        low=LOW,
        high=HIGH,
        p_adjusted=np.array(p_adjusted),
    )
    deviates, rates = found.pairs.deviates, found.rates
    place = min(range(3), key=lambda k: (p_adjusted[k], -abs(deviates[k])))
    first, second = [(0, 1), (0, 2), (1, 2)][place]
    ends = LOW[place], HIGH[place]
    if rates[first] < rates[second]:
        first, second, ends = second, first, (1 / ends[1], 1 / ends[0])
    worst, best, p, adjusted, *bounds = found.most_certain()
    assert (worst, best) == (found.labels[first], found.labels[second])
    assert (p, adjusted) == (found.pairs.p_value[place], p_adjusted[place])
    assert_allclose(bounds, ends)


class Audited:
    """One attribute of groups whose errors are independent, at one level."""

    def __init__(self, errors, rate):
        self.of = rate
        found = judged(errors, [1000] * len(errors))
        rng = np.random.default_rng(len(errors))
        self.found = SimpleNamespace(
            scopes=[*range(len(errors))],
            effective=SimpleNamespace(at=lambda level: found.effective),
            influence=[sparse.csr_array(rng.normal(size=(1, 30))) for _ in errors],
            rate=found.rates[None],
            share=np.ones((1, len(errors))),
        )

    def evidence(self, rate, operating_point):
        return (self.found, np.array([3])) if rate == self.of else (None, None)

    def label_of(self, scope):
        return "abcd"[scope]


def expected(audited, share, combined):
    """Comparisons of some attributes, judged together at their share of the error rate."""
    pairs = [PairsOfGroups.of(a.found, 0, 0.95) for a in audited]
    cells = [influence_at(a.found, 0) for a in audited]
    rng = np.random.default_rng([SEED, int(combined)])
    return pairs, judge_together(pairs, cells, 1 - share * 0.05, rng)


@pytest.mark.parametrize(
    ("sizes", "shares"),
    [
        ([1, 1, 2], [1 - SHARE_OF_COMBINATIONS, SHARE_OF_COMBINATIONS]),
        ([2, 1, 2], [1 - SHARE_OF_COMBINATIONS, SHARE_OF_COMBINATIONS]),
        ([1, 1, 1], [1.0, None]),
        ([3, 2, 2], [None, 1.0]),
    ],
)
def test_combinations_share_the_error_rate_with_attributes(sizes, shares):
    """Where there is but one kind, it has all of it."""
    audited = [Audited(errors, "far") for errors in ERRORS[:2]]
    # One attribute without any evidence in between, and one of the other rate.
    audited = [audited[0], Audited(ERRORS[2], "neither"), audited[1]]
    found = judge(audited, sizes, 0.95, SEED)
    assert found[1] == {}
    for combined in (False, True):
        members = [m for m in (0, 2) if (sizes[m] > 1) == combined]
        if not members:
            continue
        share = shares[combined]
        pairs, together = expected([audited[m] for m in members], share, combined)
        for m, own, p in zip(members, pairs, together.p_adjusted, strict=True):
            ((key, one),) = found[m].items()
            assert key == ("far", "overall", 3)
            assert one.labels == ["a", "b", "c"]
            assert_allclose(one.p_adjusted, [min(x / share, 1) for x in p])
            assert_allclose([one.low, one.high], bounds(own.ratios, together.quantile))
            assert (one.quantile, one.n_comparisons) == (
                together.quantile,
                3 * len(members),
            )
            assert_array_equal(one.rates, audited[m].found.rate[0])


def test_both_rates_and_both_operating_points_are_one_family():
    audited = [Audited(ERRORS[0], "far"), Audited(ERRORS[1], "frr")]
    (one, other) = judge(audited, [1, 1], 0.95, SEED, ("overall", "worst_group"))
    assert [*one] == [("far", "overall", 3), ("far", "worst_group", 3)]
    assert [*other] == [("frr", "overall", 3), ("frr", "worst_group", 3)]
    assert {v.n_comparisons for v in (*one.values(), *other.values())} == {12}
