"""How many more people settle a check: against closed forms, a search, and simulation."""

from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
from scipy.special import ndtri

from skfairfr._core._jackknife import ErrorSums, genuine_sums, rate_ends
from skfairfr._core._planning import MAX_PEOPLE, Setting, enlarged, growth_of
from skfairfr.metrics._roc._evidence import ComparedGroups
from skfairfr.report import _checks, audit_data
from skfairfr.report._checks import people_needed
from skfairfr.report._policy import POWER
from skfairfr.report._verdicts import GroupTests
from tests.report.audits import scored_pairs, small_audit

LEVEL, TAIL = 0.95, 0.025


def judged_sums(sums):
    """Groups a, b, ... at a given threshold, each sum (n_groups,), judged alone."""
    n = sums.errors.size
    evidence = SimpleNamespace(
        sums=sums.rows(None),  # one level
        added=np.zeros((1, n)),
        added_to=lambda level, weights: np.zeros(len(weights)),
        bounds=lambda tail: rate_ends(sums.rows(None), tail),
    )
    return GroupTests("far", [*"abcdefgh"][:n], ComparedGroups(evidence, 0), 0, LEVEL)


def judged(errors, pairs):
    """Groups in which each person has one pair."""
    groups = []
    for n_errors, n in zip(errors, pairs, strict=True):
        rejected = (np.arange(n) < n_errors)[None].astype(float)
        groups.append(genuine_sums(rejected, np.ones(n)))
    return judged_sums(ErrorSums.of_groups(groups).rows(0))


def needed(found, of_each, limit, people, growth=1):
    sizes = {label: (n, growth) for label, n in zip(found.labels, people, strict=True)}
    how = None if of_each else "max_min"
    return people_needed(found, how, limit, sizes)


def searched(sums, people, settles, growth):
    """The first number of more people that settles, one by one."""
    for n in range(people + 1, people + 20_000):
        if settles(n / people, growth):
            return n - people
    return None


@pytest.mark.parametrize(
    ("errors", "limit", "side", "growth"),
    [
        (4, 0.016, 1, 1),
        (0, 0.002, 1, 2),
        (10, 0.01, -1, 2),
        pytest.param(9, 0.02, 1, 1, marks=pytest.mark.slow),
        pytest.param(10, 0.01, -1, 1, marks=pytest.mark.slow),
    ],
)
def test_a_rate_is_settled_when_its_bound_is_that_of_unlucky_errors(
    errors, limit, side, growth
):
    found = judged([errors], [600])

    def settles(times, growth):
        more = enlarged(found.sums, times, growth)
        spread = np.sqrt(more.log_variance * (1 - times**-growth))
        for luck in (-1, 1):
            moved = np.exp(luck * ndtri(POWER) * spread)
            low, high = rate_ends(enlarged(more, 1.0, growth, moved), TAIL)
            if not (low[0] > limit if side < 0 else high[0] <= limit):
                return False
        return True

    expected = searched(found.sums, 600, settles, growth)
    assert needed(found, True, limit, [600], growth) == (("a", expected),)


def test_every_group_that_may_exceed_a_limit_is_named():
    found = needed(judged([2, 8, 5], [300, 600, 9000]), True, 0.015, [300, 600, 9000])
    assert [label for label, _ in found] == ["a", "b"]


def test_several_groups_have_to_be_settled_at_once():
    one = needed(judged([4, 0], [600, 60_000]), True, 0.012, [600, 60_000])
    both = needed(judged([4, 4], [600, 600]), True, 0.012, [600, 600])
    assert both[0][1] == both[1][1] > one[0][1]


def test_of_groups_above_the_limit_the_nearest_to_a_verdict_is_named():
    found = needed(judged([13, 19, 1], [600] * 3), True, 0.02, [600] * 3)
    assert [label for label, _ in found] == ["b"]


def test_people_who_differ_are_worth_less():
    more = []
    for variation in (0.0, 2.0):
        sums = Setting("far", (0.01,), 2, 0.2, variation).draw(150, 1000)
        place = np.argsort(np.abs(sums.errors[:, 0] - 447))[0]
        found = judged_sums(sums.rows(place))
        ((_, n),) = needed(
            found, True, 1.02 * rate_ends(found.sums, 0.2)[1][0], [150], 2
        )
        more.append(n)
    assert more[0] < more[1]


def test_no_number_settles_what_lies_at_the_limit():
    assert needed(judged([6], [600]), True, 0.01, [600]) == ()
    near = judged([6001], [600_000])
    assert needed(near, True, 0.01, [600_000]) == ()
    assert needed(judged([6, 6], [600, 300]), False, 2.0, [600, 300]) == ()
    assert needed(judged([0, 0], [600, 300]), False, 2.0, [600, 300]) == ()


@pytest.mark.parametrize(
    ("errors", "limit"), [((20, 10), 3.5), ((20, 10), 1.4), ((60, 20, 20), 2.0)]
)
def test_more_people_settle_a_ratio(errors, limit):
    found = judged(errors, [500] * len(errors))
    low, high = found.compared.largest_ratio(TAIL)
    assert low <= limit < high
    more = dict(needed(found, False, limit, [500] * len(errors)))
    factors = np.array([1 + more.get(label, 0) / 500 for label in found.labels])
    then = judged_sums(enlarged(found.sums, factors, 1)).compared
    low, high = then.largest_ratio(TAIL)
    assert low > limit or high <= limit
    # With half as many, not even errors as expected would have.
    half = judged_sums(enlarged(found.sums, 1 + (factors - 1) / 4, 1)).compared
    low, high = half.largest_ratio(TAIL)
    assert low <= limit < high


def test_groups_that_are_known_well_stay_as_they_are():
    found = judged([400, 10], [20_000, 500])
    assert [g for g, _ in needed(found, False, 1.7, [20_000, 500])] == ["b"]


@pytest.mark.parametrize(
    ("people", "pairs", "growth"), [(100, 4950, 2), (100, 1250, 2), (100, 500, 1)]
)
def test_lists_of_few_pairs_grow_with_the_people(people, pairs, growth):
    assert growth_of(people, pairs) == growth


@pytest.mark.slow
@pytest.mark.parametrize(("errors", "limit"), [(8, 0.02), (14, 0.016)])
def test_the_number_settles_in_as_many_data_sets_as_it_says(errors, limit):
    """Errors of more independent pairs, drawn at the rate that was found."""
    start = judged([errors], [600])
    ((_, more),) = needed(start, True, limit, [600])
    drawn = np.random.default_rng(0).binomial(more, errors / 600, 300)
    ends = [judged([errors + e], [600 + more]).one_sided() for e in drawn]
    settled = np.mean([low[0] > limit or high[0] <= limit for low, high in ends])
    assert 0.72 < settled < 0.92  # four standard errors are .09


def test_numbers_have_an_end():
    almost = judged([599], [60_000])
    ((_, more),) = needed(almost, True, 0.0105, [60_000])
    assert 60_000 + more <= MAX_PEOPLE


@pytest.mark.slow
@pytest.mark.parametrize(
    ("limits", "frr", "far", "people"),
    [
        ({"max_fnmr": 0.03}, {"a": 0.02, "b": 0.01}, {"a": 0.01, "b": 0.01}, 200),
        ({"max_fmr": 0.02}, {"a": 0.1, "b": 0.1}, {"a": 0.012, "b": 0.01}, 300),
        ({"max_fnmr_ratio": 4}, {"a": 0.1, "b": 0.06}, {"a": 0.1, "b": 0.1}, 60),
    ],
)
def test_enlarged_data_settle_their_check(limits, frr, far, people):
    """Audits of data to which the number is added, who err at the rates that were found."""
    settled = []
    for seed in range(20):
        sizes = dict.fromkeys(frr, people)
        start = scored_pairs(np.random.default_rng(seed), sizes, frr, far)
        report = audit_data(start, threshold=0.5, limits=limits)
        more = dict(report.checks[0].people_needed)
        if not more or max(more.values()) > 20_000:
            continue
        rates = report.audits[0].levels[0].rates[1:]
        found = [
            {r.group: getattr(r, kind).value for r in rates} for kind in ("frr", "far")
        ]
        for again in range(3):
            rng = np.random.default_rng([seed, again])
            both = _joined(start, scored_pairs(rng, more, *found, prefix="new "))
            again = audit_data(both, threshold=0.5, limits=limits)
            settled.append(again.checks[0].verdict != "undetermined")
    assert len(settled) > 20
    assert np.mean(settled) > 0.7


def _joined(*made):
    """Pairs of several data, one after the other."""

    def sides(parts):
        return tuple(np.concatenate(side) for side in zip(*parts, strict=True))

    return type(made[0])(
        np.concatenate([m.y_score for m in made]),
        sides([m.identities for m in made]),
        {"group": sides([m.columns["group"] for m in made])},
    )


def test_an_undetermined_audit_names_people():
    people, rates = {"a": 200, "b": 200}, {"a": 0.03, "b": 0.01}
    made = scored_pairs(np.random.default_rng(0), people, rates)
    found = audit_data(made, threshold=0.5, limits={"max_fnmr": 0.04})
    ((label, more),) = found.checks[0].people_needed
    assert (label, type(more)) == ("a", int)
    assert (
        f"more people in {label} would show in 80 % of cases that the limit is met."
        in " ".join(found.to_text().split())
    )


@pytest.mark.parametrize(
    ("limit", "rate", "growth"), [("max_fmr", "far", 2), ("max_fnmr", "frr", 1)]
)
def test_only_impostor_pairs_grow_with_the_square_of_people(
    monkeypatch, limit, rate, growth
):
    asked = mock.Mock(return_value=())
    monkeypatch.setattr(_checks, "people_needed", asked)
    rows = small_audit().levels[0].rates[1:]
    most = 1.01 * max(getattr(row, rate).value for row in rows)
    (check,) = small_audit(limits={limit: most}).checks
    (*_, sizes), _ = asked.call_args
    assert check.verdict == "undetermined" and {*sizes} == {"female", "male"}
    assert {power for _, power in sizes.values()} == {growth}


@pytest.mark.parametrize(("n", "supported"), [(40, False), (200, True)])
def test_an_excess_with_too_few_errors_forecasts_no_number_of_people(n, supported):
    data = scored_pairs(
        np.random.default_rng(1), {"a": n, "b": 400}, {"a": 0.2, "b": 0.02}
    )
    value = audit_data(data, threshold=0.5).audits[0].levels[0].rates[1].frr.value
    report = audit_data(data, threshold=0.5, limits={"max_fnmr": 0.9 * value})
    (check,) = report.checks
    assert (check.verdict, check.figure.supported) == ("undetermined", supported)
    assert check.people_needed  # in the JSON
    seen = " ".join(report.to_text().split())
    assert ("more people in a would show" in seen) == supported
    few = "Too few errors to name the number of people that would settle it."
    assert (few in seen) != supported


def test_a_verdict_needs_nobody():
    people = {"a": 200, "b": 200}
    rates = dict.fromkeys(people, 0.02)
    made = scored_pairs(np.random.default_rng(0), people, rates, rates)
    limits = {"max_fnmr": 0.5, "max_fmr": 1e-3}
    found = audit_data(made, threshold=0.5, limits=limits)
    assert [c.verdict for c in found.checks] == ["passed", "failed"]
    assert [c.people_needed for c in found.checks] == [(), ()]
