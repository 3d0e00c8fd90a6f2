"""Verdicts about groups: one reference, Holm by a loop, and the shares of the error rate."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skfairfr._core._jackknife import Contrasts, ErrorSums, genuine_sums, rate_ends
from skfairfr.metrics._roc._evidence import ComparedGroups, analyse
from skfairfr.report._verdicts import (
    SHARE_OF_COMBINATIONS,
    beyond_all_scores,
    judge,
)
from tests._core.test_jackknife import some_groups

RATES = ("far", "frr")


SCOPES = [(g, g) for g in range(8)]


class Audited:
    """An attribute with groups of random people, at some levels of some rates."""

    def __init__(
        self,
        seed,
        n_groups,
        levels=(0,),
        rates=RATES,
        lone=False,
        references="abcdefgh",
    ):
        self.rates, self.levels = rates, np.array(levels)
        self.references = [*references]
        self.labels, self.scopes = "abcdefgh", SCOPES
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


def beside(sums, other):
    return ErrorSums(*(np.append(*values) for values in zip(sums, other, strict=True)))


def evidence_of(sums):
    """Evidence of groups at given thresholds, one set of sums each."""
    stacked = ErrorSums(*(np.stack(values) for values in zip(*sums, strict=True)))
    shape = stacked.errors.shape
    evidence = SimpleNamespace(
        scopes=tuple((g, g) for g in range(shape[1])),
        sums=stacked,
        added=np.zeros(shape),
        slope=np.zeros(shape),
        added_to=lambda level, weights: np.zeros(len(weights)),
        bounds=lambda tail: rate_ends(stacked, tail),
    )
    evidence.compared = [ComparedGroups(evidence, row) for row in range(shape[0])]
    return evidence


def judged(sums, confidence_level=0.95, rate="far", references="abcdefgh"):
    """Groups at one threshold, judged alone."""
    audited = SimpleNamespace(
        evidence=lambda of, _: (
            (evidence_of([sums]), np.array([0])) if of == rate else (None, None)
        ),
        labels="abcdefgh",
        scopes=SCOPES,
        references=[*references],
    )
    (found,) = judge([audited], [1], confidence_level)
    return found[rate, "overall", 0]


def known_of(sums):
    """Groups with pairs of two people or more."""
    return [g for g in range(sums.errors.size) if sums.people[g] > 1 + 1e-9]


def against_reference(sums, references):
    """p-value of each group against the first reference that is known, a dict."""
    known = known_of(sums)
    order = ["abcdefgh".index(label) for label in references]
    reference = next((g for g in order if g in known), None)
    found = {}
    for group in known:
        if group != reference:
            weights = np.zeros((1, sums.errors.size))
            weights[0, group], weights[0, reference] = 1, -1
            found[group] = float(Contrasts(sums, weights).p_value[0])
    return found


def against_the_others(sums, references):
    """p-value of each of three groups or more against the others with four effective errors."""
    known, found = known_of(sums), {}
    for group in known if len(known) > 2 else ():
        others = [h for h in known if h != group]
        enough = [h for h in others if sums.effective_errors[h] >= 4 - 1e-9]
        others = enough or others
        weights = np.zeros((1, sums.errors.size))
        weights[0, others], weights[0, group] = -1 / len(others), 1
        found[group] = float(Contrasts(sums, weights).p_value[0])
    return found


def adjusted_by_loop(p, share):
    """Holm's method, and a share of the error rate."""
    order = sorted(range(len(p)), key=lambda k: p[k])
    largest, found = 0.0, [None] * len(p)
    for rank, place in enumerate(order):
        largest = max(largest, (len(p) - rank) * p[place])
        found[place] = min(largest / share, 1.0)
    return found


def check_against_loop(audited, found, share, operating_points):
    """p-values of all groups of some audits, which are one family of either kind."""
    for p_of_groups, name, own in (
        (against_reference, "p_adjusted", share),
        (against_the_others, "p_others", share / 5),
    ):
        tests, seen = [], {}
        for member, audit in enumerate(audited):
            for rate in audit.rates:
                for point in operating_points:
                    for row, level in enumerate(audit.levels.tolist()):
                        key, sums = (
                            (rate, point, level),
                            audit.found[rate].sums.rows(row),
                        )
                        seen[member, key] = np.full(sums.errors.size, np.nan)
                        of_groups = p_of_groups(sums, audit.references)
                        tests += [(member, key, g, p) for g, p in of_groups.items()]
        adjusted = adjusted_by_loop([p for *_, p in tests], own)
        for (member, key, group, _), p in zip(tests, adjusted, strict=True):
            seen[member, key][group] = p
        for (member, key), expected in seen.items():
            one = found[member][key]
            assert_allclose(getattr(one, name), expected, rtol=1e-6)
            assert one.rate == key[0]
            if name == "p_adjusted":
                assert one.n_comparisons == len(tests)
        assert sum(map(len, found)) == len(seen)


@pytest.mark.parametrize("operating_points", [("overall",), ("overall", "worst_group")])
def test_all_tests_of_a_report_are_one_family(operating_points):
    audited = [
        Audited(1, 4, (2, 0, 1), references="cabd"),
        Audited(2, 2, (0,), references="ba"),
        Audited(3, 3, (0, 1), rates=("frr",)),
        Audited(4, 2, (1,), lone=True, references="cba"),
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
        assert one.compared_groups == []


def groups_of(*errors, n=100):
    """Groups of n people with a pair each, of which so many are errors."""
    every = [(np.arange(n) < e)[None].astype(float) for e in errors]
    sums = [genuine_sums(rejected, np.ones(n)) for rejected in every]
    return ErrorSums.of_groups(sums).rows(0)


def test_a_level_has_one_test_less_than_groups():
    for n in range(2, 7):
        one = judged(groups_of(*range(5, 5 + n)))
        assert one.n_comparisons == len(one.compared_groups) == n - 1
        assert np.isnan(one.p_adjusted[one.reference])
        assert np.isfinite(np.delete(one.p_adjusted, one.reference)).all()
    # All others of two groups are the reference, so that it is told once.
    assert np.isnan(judged(groups_of(5, 6)).p_others).all()
    assert np.isfinite(judged(groups_of(5, 6, 7)).p_others).all()


def test_of_two_groups_the_order_is_of_no_account():
    for errors in ((40, 5), (11, 12), (7, 7), (0, 0), (0, 40)):
        one, other = (judged(groups_of(*errors), references=r) for r in ("ab", "ba"))
        assert one.p_adjusted[1] == other.p_adjusted[0]
        ends, turned = one.against(1)[:3], other.against(0)[:3]
        with np.errstate(divide="ignore"):
            expected = 1 / np.array(turned)[[0, 2, 1]]
        assert_allclose(ends, expected)


@pytest.mark.parametrize(
    ("references", "expected"),
    [("abcd", 0), ("cbad", 2), ("dcba", 2), ("zyb", 1), ("xda", 0)],
)
def test_the_reference_is_the_first_with_pairs_of_two_people(references, expected):
    """The last group is one person; labels may be of groups that have no pairs at all."""
    lone = genuine_sums(np.array([[5.0]]), np.array([9.0])).rows(0)
    one = judged(beside(groups_of(9, 30, 12), lone), references=references)
    assert one.reference == expected
    assert {*one.compared_groups} == {0, 1, 2} - {expected}
    for group in one.compared_groups:
        weights = one.tests.weights[group]
        assert (weights[group], weights[expected]) == (1, -1)
        assert np.count_nonzero(weights) == 2


@pytest.mark.parametrize("errors", [0.0, 5.0])
def test_a_group_of_one_person_bounds_no_ratio_to_the_geometric_mean(errors):
    lone = genuine_sums(np.array([[errors]]), np.array([9.0])).rows(0)
    one = judged(beside(groups_of(9, 30, 12), lone))
    assert one.over_geomean(2.0)[:2] == (1.0, np.inf)


def test_groups_are_in_the_order_of_their_ratios():
    """Whatever the p-values are; a ratio of no errors at all comes last."""
    one = judged(groups_of(12, 70, 40, 1, 39))
    assert one.compared_groups == [1, 2, 4, 3]
    few = groups_of(3, n=19)
    one = judged(beside(groups_of(14, 15, 60, n=400), few.rows(0)))
    assert one.compared_groups == [3, 2, 1]
    assert one.p_adjusted[3] > one.p_adjusted[2]
    assert judged(groups_of(0, 5, 0, 9)).compared_groups == [1, 3, 2]


def test_a_group_against_the_reference():
    one = judged(groups_of(40, 10, 12, 1), references="c")
    value, low, high, error, p = one.against(0)
    assert_allclose(value, 40 / 12)
    assert_allclose([low, high], [end[0] for end in one.tests.bounds(0.025)])
    # Each person has one pair: the variance of the logarithm is that of a binomial rate.
    assert_allclose(error, np.sqrt(0.6 / 40 + 0.88 / 12), rtol=0.02)
    assert p == one.tests.p_value[0]
    assert low < value < high
    # Against others than the reference, where they are asked for.
    value = one.against(0, one.compared.tests)[0]
    assert_allclose(value, 40 / np.sqrt(120))


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
            assert_allclose(high[group], found["high"][0])
            # All lower ends at once: each has its part of one error rate of .05.
            tail = min(0.025, 0.05 / n_groups)
            expected, _ = rate_ends(sums.columns([group]), tail)
            assert_allclose(low[group], expected[0], rtol=1e-6)
            assert low[group] <= found["low"][0] * (1 + 1e-9)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("n_groups", [2, 3, 5])
def test_no_group_is_said_to_differ_beside_an_interval_that_holds_one(rate, n_groups):
    seen = set()
    for seed in range(20):
        kind = "impostor" if rate == "far" else "genuine"
        one = judged(some_groups([seed, 12], n_groups, kind), rate=rate)
        for group in one.compared_groups:
            _, low, high, _, p = one.against(group)
            assert (p < 0.05) == (low > 1 or high < 1)
            differs = bool(one.p_adjusted[group] <= 0.05)
            if differs:
                assert low > 1 or high < 1
            if n_groups == 2:  # where largest / smallest is the same comparison
                assert (one.compared.largest_ratio(one.tail)[0] > 1) == differs
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
