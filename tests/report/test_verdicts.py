"""Verdicts about groups: Holm by a loop over all tests, and the shares of the error rate."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skfairfr._core._jackknife import Contrasts, ErrorSums, genuine_sums, rate_ends
from skfairfr.metrics._roc._evidence import analyse
from skfairfr.report._verdicts import (
    SHARE_OF_COMBINATIONS,
    beyond_all_scores,
    judge,
)
from tests._core.test_jackknife import some_groups

RATES = ("far", "frr")


class Audited:
    """An attribute with groups of random people, at some levels of some rates."""

    def __init__(self, seed, n_groups, levels=(0,), rates=RATES, lone=False):
        self.rates, self.levels = rates, np.array(levels)
        self.found = {}
        for row, rate in enumerate(RATES):
            kind = "impostor" if rate == "far" else "genuine"
            sums = [
                some_groups([seed, row, k], n_groups, kind) for k in range(len(levels))
            ]
            if lone:
                one = genuine_sums(np.array([[5.0]]), np.array([9.0])).rows(0)
                sums = [beside(s, one) for s in sums]
            self.found[rate] = evidence_of(sums)

    def evidence(self, rate, operating_point):
        known = rate in self.rates
        return (self.found[rate], self.levels) if known else (None, None)

    def label_of(self, scope):
        return "abcdefgh"[scope[0]]


def beside(sums, other):
    return ErrorSums(*(np.append(*values) for values in zip(sums, other, strict=True)))


def evidence_of(sums):
    """Evidence of groups at given thresholds, one set of sums each."""
    stacked = ErrorSums(*(np.stack(values) for values in zip(*sums, strict=True)))
    shape = stacked.errors.shape
    return SimpleNamespace(
        scopes=tuple((g, g) for g in range(shape[1])),
        sums=stacked,
        added=np.zeros(shape),
        slope=np.zeros(shape),
        added_to=lambda level, weights: np.zeros(len(weights)),
        bounds=lambda tail: rate_ends(stacked, tail),
    )


def judged(sums, confidence_level=0.95, rate="far"):
    """Groups at one threshold, judged alone."""
    audited = SimpleNamespace(
        evidence=lambda of, _: (
            (evidence_of([sums]), np.array([0])) if of == rate else (None, None)
        ),
        label_of=lambda scope: "abcdefgh"[scope[0]],
    )
    (found,) = judge([audited], [1], confidence_level)
    return found[rate, "overall", 0]


def p_of_group(sums, group):
    """Of a group against those of the others that have four effective errors."""
    known = [h for h in range(sums.errors.size) if sums.people[h] > 1]
    if group not in known or len(known) < 2:
        return None
    others = [h for h in known if h != group]
    enough = [h for h in others if sums.effective_errors[h] >= 4 - 1e-9]
    others = enough or others
    weights = np.zeros((1, sums.errors.size))
    weights[0, others], weights[0, group] = -1 / len(others), 1
    return float(Contrasts(sums, weights).p_value[0])


def adjusted_by_loop(p, share):
    """Holm's method, and a share of the error rate."""
    order = sorted(range(len(p)), key=lambda k: p[k])
    largest, found = 0.0, [None] * len(p)
    for rank, place in enumerate(order):
        largest = max(largest, (len(p) - rank) * p[place])
        found[place] = min(largest / share, 1.0)
    return found


def check_against_loop(audited, found, share, operating_points):
    """p-values of all groups of some audits, which are one family."""
    tests = []
    for member, audit in enumerate(audited):
        for rate in audit.rates:
            for point in operating_points:
                for row, level in enumerate(audit.levels.tolist()):
                    sums = audit.found[rate].sums.rows(row)
                    p = [p_of_group(sums, g) for g in range(sums.errors.size)]
                    known = [g for g, value in enumerate(p) if value is not None]
                    if len(known) == 2:  # one test of two groups
                        known = [known]
                    tests += [
                        (member, (rate, point, level), g, p[np.ravel(g)[0]])
                        for g in known
                    ]
    adjusted = adjusted_by_loop([p for *_, p in tests], share)
    seen = {}
    for (member, key, groups, _), p in zip(tests, adjusted, strict=True):
        one = found[member][key]
        assert_allclose(one.p_adjusted[groups], p, rtol=1e-6)
        assert one.n_comparisons == len(tests)
        seen.setdefault((member, key), []).extend(np.ravel(groups))
    for (member, key), groups in seen.items():
        rest = np.delete(found[member][key].p_adjusted, groups)
        assert np.isnan(rest).all()
        assert found[member][key].rate == key[0]
    assert sum(map(len, found)) == len(seen)


@pytest.mark.parametrize("operating_points", [("overall",), ("overall", "worst_group")])
def test_all_tests_of_a_report_are_one_family(operating_points):
    audited = [
        Audited(1, 4, (2, 0, 1)),
        Audited(2, 2, (0,)),
        Audited(3, 3, (0, 1), rates=("frr",)),
        Audited(4, 2, (1,), lone=True),
    ]
    found = judge(audited, [1] * 4, 0.95, operating_points)
    check_against_loop(audited, found, 1.0, operating_points)
    assert found[0]["far", "overall", 2].labels == [*"abcd"]
    assert_array_equal(
        found[0]["far", "overall", 0].sums.errors,
        audited[0].found["far"].sums.errors[1],
    )


@pytest.mark.parametrize(
    ("sizes", "shares"),
    [
        ([1, 2, 1], {False: 0.8, True: 0.2}),
        ([3, 2, 1], {False: 0.8, True: 0.2}),
        ([1, 1, 1], {False: 1.0}),
        ([3, 2, 2], {True: 1.0}),
    ],
)
def test_combinations_have_a_fifth_of_the_error_rate(sizes, shares):
    """Where there is but one kind, it has all of it."""
    assert SHARE_OF_COMBINATIONS == 0.2
    audited = [Audited(seed, n) for seed, n in enumerate((4, 3, 2))]
    found = judge(audited, sizes, 0.95)
    for combined, share in shares.items():
        members = [m for m in range(3) if (sizes[m] > 1) == combined]
        check_against_loop(
            [audited[m] for m in members],
            [found[m] for m in members],
            share,
            ("overall",),
        )


def test_an_attribute_without_pairs_is_not_judged():
    audited = [Audited(0, 3, rates=()), Audited(1, 1)]
    nothing, alone = judge(audited, [1, 1], 0.95)
    assert nothing == {}
    for one in alone.values():
        assert np.isnan(one.p_adjusted).all()
        assert one.n_comparisons == 0
        assert one.found() == [] and one.compared_labels == ()


def groups_of(*errors, n=100):
    """Groups of n people with a pair each, of which so many are errors."""
    every = [(np.arange(n) < e)[None].astype(float) for e in errors]
    sums = [genuine_sums(rejected, np.ones(n)) for rejected in every]
    return ErrorSums.of_groups(sums).rows(0)


def test_of_two_groups_the_worse_one_is_found():
    assert judged(groups_of(40, 5)).found() == [(0, True)]
    assert judged(groups_of(5, 40)).found() == [(1, True)]
    assert judged(groups_of(11, 12)).found() == [(1, False)]
    assert len(judged(groups_of(7, 7)).found()) == 1
    assert judged(groups_of(0, 0)).found() in ([(0, False)], [(1, False)])
    assert judged(groups_of(0, 40)).found() == [(1, True)]


def test_all_groups_that_differ_are_found_the_worse_ones_first():
    one = judged(groups_of(12, 70, 40, 1, 39))
    places = one.found()
    differing = np.flatnonzero(one.p_adjusted <= 0.05).tolist()
    assert sorted(g for g, _ in places) == differing == [0, 1, 3]
    assert all(sure for _, sure in places)
    assert places[0] == (1, True)
    # Of the better ones the more certain one first.
    better = [g for g, _ in places[1:]]
    assert better == sorted(better, key=lambda g: one.p_adjusted[g])
    # A better group that is surer than the last of the worse ones is named after it.
    one = judged(groups_of(75, 10, 46, 30, 29, 31, n=150))
    worse = [g for g, _ in one.found() if one.compared.tests.value[g] > 0]
    assert [g for g, _ in one.found()][: len(worse)] == worse == [0, 2]
    assert one.p_adjusted[1] < one.p_adjusted[2]
    alike = judged(groups_of(12, 15, 11, 13))
    assert alike.found() == [(1, False)]
    assert alike.compared.tests.p_value.argmin() == 1


def test_the_highest_rate_is_found_first_also_with_few_errors():
    """Three of 19 are the highest rate, not certain; that of another group is."""
    few = groups_of(3, n=19)
    one = judged(beside(groups_of(60, 15, 14, n=400), few.rows(0)))
    assert one.sums.rate.argmax() == 3 and one.p_adjusted[3] > 0.05
    assert one.found()[:2] == [(3, False), (0, True)]


def test_of_equally_certain_groups_the_worse_one_is_found():
    """The third has too few errors to count: the first two are one test, seen twice."""
    for errors, worse in (((20, 30), 1), ((30, 20), 0)):
        few = groups_of(2, n=20)
        one = judged(beside(groups_of(*errors), few.rows(0)))
        assert one.compared.tests.p_value[0] == one.compared.tests.p_value[1]
        assert one.found() == [(worse, False)]


def test_a_group_against_the_others():
    one = judged(groups_of(40, 10, 12, 1))
    group, others, (value, low, high, error, p) = one.against(0)
    assert (group, others) == ("a", ("b", "c"))
    assert_allclose(value, 40 / np.sqrt(120))
    tests = one.compared.tests
    assert_allclose([low, high], [end[0] for end in tests.bounds(0.025)])
    assert (error, p) == (tests.error[0], tests.p_value[0])
    assert low < value < high


@pytest.mark.parametrize("n_groups", [1, 2, 3, 5])
@pytest.mark.parametrize("rate", RATES)
def test_one_sided_bounds_are_those_of_the_intervals_of_rates(n_groups, rate):
    for seed in range(5):
        sums = some_groups([seed, 11], n_groups)
        one = judged(sums, rate=rate)
        low, high = one.one_sided()
        for group in range(n_groups):
            question = SimpleNamespace(how=None, scope=(group, group))
            found = analyse(one.compared.evidence, question, 0.95)
            assert_allclose(high[group], found.high[0])
            # All lower ends at once: each has its part of one error rate of .05.
            tail = min(0.025, 0.05 / n_groups)
            expected, _ = rate_ends(sums.columns([group]), tail)
            assert_allclose(low[group], expected[0], rtol=1e-6)
            assert low[group] <= found.low[0] * (1 + 1e-9)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("n_groups", [2, 3, 5])
def test_no_group_is_said_to_differ_beside_an_interval_that_holds_one(rate, n_groups):
    seen = set()
    for seed in range(60):
        kind = "impostor" if rate == "far" else "genuine"
        one = judged(some_groups([seed, 12], n_groups, kind), rate=rate)
        for group, differs in one.found():
            *_, (_, low, high, _, p) = one.against(group)
            assert (p < 0.05) == (low > 1 or high < 1)
            if differs:
                assert low > 1 or high < 1
                assert one.compared.largest_ratio(one.tail)[0] > 1
            seen.add(differs)
    assert seen == {True, False}


@pytest.mark.parametrize("off", [-5e-12, 5e-12])
def test_sums_that_round_do_not_hide_that_all_pairs_are_accepted(off):
    """A million pairs whose weights sum to one, by average="identity"."""
    rates = {"far": 1 + off, "frr": 0.0}
    everyone = SimpleNamespace(
        **{r: SimpleNamespace(value=v) for r, v in rates.items()}
    )
    assert "every pair is accepted" in beyond_all_scores(everyone)
