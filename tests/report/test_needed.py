"""How many more people settle a check: against closed forms, a search, and simulation."""

from math import exp, log, sqrt
from statistics import NormalDist

import numpy as np
import pytest
from scipy.stats import beta, gamma
from scipy.stats import f as f_distribution

from skfairfr._core._few_errors import Effective
from skfairfr.metrics._roc._analytic import PairsOfGroups, quantile_of
from skfairfr.report import PairData, audit_data
from skfairfr.report._needed import MOST_PEOPLE, POWER, growth_of, people_needed
from skfairfr.report._verdicts import Judged
from tests.report.audits import scored_pairs

UNLUCKY = NormalDist().inv_cdf(POWER)
ONE_SIDED = NormalDist().inv_cdf(0.95)


class One:
    """Evidence about one level."""

    def __init__(self, effective):
        self.scopes = range(effective.errors.size)
        self.effective = self
        self.at = lambda level: effective


def judged(errors, pairs, between=0.0, freedom=np.inf, quantile=None):
    """Independent errors of groups a, b, ..., judged alone."""
    errors, pairs = (np.asarray(x, dtype=float) for x in (errors, pairs))
    made = np.full(errors.shape, between), np.full(errors.shape, freedom)
    effective = Effective(errors, pairs, *made)
    labels = [*"abcdefgh"][: errors.size]
    compared = PairsOfGroups.of(One(effective), 0, 0.95)
    quantile = quantile_of(0.95) if quantile is None else quantile
    none = np.empty(0)
    return Judged(
        labels,
        effective.rate,
        compared,
        none,
        none,
        none,
        compared.first.size,
        effective,
        np.ones(errors.size),
        quantile,
    )


def needed(found, of_each, limit, people, growth=1):
    sizes = {label: (n, growth) for label, n in zip(found.labels, people, strict=True)}
    return people_needed(found, of_each, limit, 0.95, sizes)


def unlucky(errors, pairs, side, known):
    """Errors, those of new pairs moved to the unlucky side."""
    spread = sqrt((1 - (errors + 0.5) / (pairs + 1)) / (errors + 0.5))
    spread *= sqrt(1 - known / pairs)
    return errors * exp(side * UNLUCKY * spread)


def wilson(errors, pairs, quantile, side, known):
    """An end of Wilson's interval of unlucky errors."""
    rate = unlucky(errors, pairs, side, known) / pairs
    z2 = quantile**2 / pairs
    half = sqrt(z2 * (rate * (1 - rate) + z2 / 4))
    return (rate + z2 / 2 + side * half) / (1 + z2)


def searched(errors, pairs, people, settles, growth=1):
    """The first number of more people that settles, one by one."""
    for n in range(people + 1, 20_000):
        times = (n / people) ** growth
        if settles(errors * times, pairs * times):
            return n - people
    return None


@pytest.mark.parametrize("growth", [1, 2])
@pytest.mark.parametrize(("errors", "limit"), [(4, 0.012), (0, 0.002), (9, 0.02)])
def test_a_rate_below_its_limit(errors, limit, growth):
    found = needed(judged([errors], [600]), True, limit, [200], growth)

    def settles(e, n):
        errors = unlucky(e, n, 1, 600)
        exact = beta.ppf(0.95, errors + 1, n - errors)
        return max(wilson(e, n, ONE_SIDED, 1, 600), exact) <= limit

    assert found == (("a", searched(errors, 600, 200, settles, growth)),)


@pytest.mark.parametrize("growth", [1, 2])
def test_a_rate_above_its_limit(growth):
    quantile = NormalDist().inv_cdf(1 - 0.05 / 2)  # lower bounds of both hold at once

    def settles(e, n):
        # And the exact bound of a Poisson number of errors.
        exact = gamma.ppf(0.05 / 2, unlucky(e, n, -1, 600)) / n
        return min(wilson(e, n, quantile, -1, 600), exact) > 0.01

    found = needed(judged([2, 10], [600, 600]), True, 0.01, [200, 200], growth)
    assert found == (("b", searched(10, 600, 200, settles, growth)),)


def test_every_group_that_may_exceed_a_limit_is_named():
    found = needed(judged([2, 8, 5], [300, 600, 9000]), True, 0.015, [100, 200, 3000])
    assert [label for label, _ in found] == ["a", "b"]


def test_several_groups_have_to_be_settled_at_once():
    one = needed(judged([4, 0], [600, 60_000]), True, 0.012, [200, 200])
    both = needed(judged([4, 4], [600, 600]), True, 0.012, [200, 200])
    assert both[0][1] == both[1][1] > one[0][1]


def test_of_groups_above_the_limit_the_nearest_to_a_verdict_is_named():
    found = needed(judged([13, 19, 1], [600, 600, 600]), True, 0.02, [200, 200, 200])
    assert [label for label, _ in found] == ["b"]


@pytest.mark.parametrize("people", [30, 300])
def test_people_who_differ_are_worth_less(people):
    alike = needed(judged([20], [900]), True, 0.03, [people], 2)
    differ = needed(judged([20], [900], between=0.2), True, 0.03, [people], 2)
    uncertain = needed(judged([20], [900], freedom=3.0), True, 0.03, [people], 2)
    assert differ[0][1] > alike[0][1]
    assert uncertain[0][1] > alike[0][1]


def test_no_number_settles_what_lies_at_the_limit():
    assert needed(judged([6], [600]), True, 0.01, [200]) == ()
    near = judged([60_001], [6_000_000])
    assert needed(near, True, 0.01, [2_000_000]) == ()
    assert needed(judged([6, 6], [600, 300]), False, 2.0, [200, 100]) == ()
    assert needed(judged([0, 0], [600, 300]), False, 2.0, [200, 100]) == ()


def ratio_bound(errors, pairs, quantile, side):
    """An end of the F interval of the first rate over the second, at the unlucky side."""
    half = [e + 0.5 for e in errors]
    shape = [1 / ((1 - h / (n + 1)) / h) for h, n in zip(half, pairs, strict=True)]
    middle = log(half[0] / pairs[0]) - log(half[1] / pairs[1])
    new = [(1 - 500 / n) / one for n, one in zip(pairs, shape, strict=True)]
    middle = exp(middle + side * UNLUCKY * sqrt(sum(new)))
    tail = NormalDist().cdf(-quantile)
    if side < 0:
        return middle * f_distribution(2 * shape[0], 2 * shape[1]).ppf(tail)
    return middle / f_distribution(2 * shape[1], 2 * shape[0]).ppf(tail)


@pytest.mark.parametrize(
    ("errors", "limit", "quantile"),
    [((20, 10), 3.0, 1.96), ((20, 10), 1.5, 2.5), ((6, 0), 2.0, 2.5)],
)
def test_a_ratio(errors, limit, quantile):
    """Both groups are known equally well, or the one with errors better."""
    found = judged(errors, [500, 500], quantile=quantile)
    side = 1 if limit > 2.5 else -1
    quantile = quantile_of(0.95) if side > 0 else quantile
    more = dict(needed(found, False, limit, [100, 100]))

    def settles(counts):
        times = [(100 + n) / 100 for n in counts]
        end = ratio_bound(
            [e * t for e, t in zip(errors, times, strict=True)],
            [500 * t for t in times],
            quantile,
            side,
        )
        return end > limit if side < 0 else end <= limit

    counts = [more.get("a", 0), more.get("b", 0)]
    assert settles(counts)
    # Whoever is known least needs one person fewer in vain, the others with them.
    least = 1 if errors[1] < errors[0] else 0
    assert counts[least] == max(counts)
    share = (100 + counts[least] - 2) / (100 + counts[least])
    assert not settles([max(0, share * (100 + n) - 100) for n in counts])


def test_groups_that_are_known_well_stay_as_they_are():
    found = judged([400, 10], [20_000, 500])
    assert [g for g, _ in needed(found, False, 1.7, [4000, 100])] == ["b"]


@pytest.mark.parametrize(
    ("people", "pairs", "growth"), [(100, 4950, 2), (100, 1250, 2), (100, 500, 1)]
)
def test_lists_of_few_pairs_grow_with_the_people(people, pairs, growth):
    assert growth_of(people, pairs) == growth


@pytest.mark.parametrize(
    ("errors", "limit"), [(8, 0.02), pytest.param(9, 0.01, marks=pytest.mark.slow)]
)
def test_the_number_settles_in_as_many_data_sets_as_it_says(errors, limit):
    """Errors of more independent pairs, drawn at the rate that was found."""
    start = judged([errors], [600])
    ((_, more),) = needed(start, True, limit, [200])
    drawn = np.random.default_rng(0).binomial(3 * more, errors / 600, 2000)
    ends = [judged([errors + e], [600 + 3 * more]).one_sided(0.95) for e in drawn]
    settled = np.mean([low[0] > limit or high[0] <= limit for low, high in ends])
    assert 0.74 < settled < 0.88  # four standard errors are .036; errors are whole


def test_numbers_have_an_end():
    almost = judged([599], [60_000])
    ((_, more),) = needed(almost, True, 0.0105, [20_000])
    assert 20_000 + more <= MOST_PEOPLE


@pytest.mark.slow
@pytest.mark.parametrize(
    ("limits", "frr", "far", "people"),
    [
        ({"max_fnmr": 0.03}, {"a": 0.02, "b": 0.01}, {"a": 0.01, "b": 0.01}, 200),
        ({"max_fmr": 0.02}, {"a": 0.1, "b": 0.1}, {"a": 0.012, "b": 0.01}, 300),
        ({"max_frr_ratio": 4}, {"a": 0.1, "b": 0.06}, {"a": 0.1, "b": 0.1}, 60),
        (
            {"max_frr_ratio": 3},
            dict.fromkeys("abcd", 0.1),
            dict.fromkeys("abcd", 0.1),
            60,
        ),
    ],
)
def test_enlarged_data_settle_their_check(limits, frr, far, people):
    """Audits of data to which the number is added, who err at the rates that were found."""

    def audited(*made):
        both = PairData(
            np.concatenate([m.y_score for m in made]),
            _joined(m.identities for m in made),
            {"group": _joined(m.columns["group"] for m in made)},
        )
        return audit_data(both, threshold=0.5, limits=limits, n_resamples=10)

    settled = []
    for seed in range(25):
        sizes = dict.fromkeys(frr, people)
        start = scored_pairs(np.random.default_rng(seed), sizes, frr, far)
        report = audited(start)
        more = dict(report.checks[0].people_needed)
        if not more or max(more.values()) > 20_000:
            continue
        rates = report.audits[0].levels[0].rates[1:]
        found = [
            {r.group: getattr(r, kind).value for r in rates} for kind in ("frr", "far")
        ]
        for again in range(4):
            rng = np.random.default_rng([seed, again])
            added = scored_pairs(rng, more, *found, prefix="new ")
            settled.append(audited(start, added).checks[0].verdict != "undetermined")
    assert len(settled) > 20
    assert np.mean(settled) > 0.7


def _joined(sides):
    """First sides of several data one after the other, and second ones."""
    return tuple(np.concatenate(side) for side in zip(*sides, strict=True))


def test_an_undetermined_audit_names_people():
    people, rates = {"a": 200, "b": 200}, {"a": 0.03, "b": 0.01}
    made = scored_pairs(np.random.default_rng(0), people, rates)
    found = audit_data(made, threshold=0.5, limits={"max_fnmr": 0.04}, n_resamples=10)
    ((label, more),) = found.checks[0].people_needed
    assert (label, type(more)) == ("a", int)
    assert f"more people in {label} would settle it in 80 % of cases." in " ".join(
        found.to_text().split()
    )


def test_a_verdict_needs_nobody():
    people = {"a": 200, "b": 200}
    rates = dict.fromkeys(people, 0.02)
    made = scored_pairs(np.random.default_rng(0), people, rates, rates)
    limits = {"max_fnmr": 0.5, "max_fmr": 1e-3}
    found = audit_data(made, threshold=0.5, limits=limits, n_resamples=10)
    assert [c.verdict for c in found.checks] == ["passed", "failed"]
    assert [c.people_needed for c in found.checks] == [(), ()]


def test_lower_bounds_hold_for_all_groups_at_once():
    low, high = judged([4, 30], [10**6] * 2).one_sided(0.95)
    exact = gamma.ppf(0.05 / 2, [4, 30]) / 10**6
    assert low == pytest.approx(exact, rel=1e-6)
    # The upper ones hold one by one.
    assert (high < judged([4, 30], [10**6] * 2).one_sided(0.975)[1]).all()
