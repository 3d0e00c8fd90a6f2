"""Errors and weights of people against loops over all pairs of the slow twin."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skfairfr._core import _pairs
from skfairfr._core._error_counts import (
    errors_of,
    people_of,
    people_with_pairs,
    rate_curve_of,
    threshold_of,
)
from skfairfr._core._jackknife import ErrorSums, never_falling, rate_ends
from tests._core.cases import (
    GROUPS,
    compare,
    embedded,
    hamming,
    listed,
    oracle_of_listed,
    oracle_of_pairs,
    oracle_scope,
)
from tests.covering import daily_pairwise
from tests.oracles import jackknife as twin

SCOPES = (None, (0, 0), (1, 1), (0, 1), (1, 0))
OWN = SCOPES[:3]
designs = pytest.mark.parametrize(
    ("sides", "average", "impostors", "groups"),
    daily_pairwise(
        product((1, 2), ("pair", "identity"), ("all", "same_group"), GROUPS)
    ),
)


def comparisons_of(weighted, errors):
    """Pairs of the oracle as the twin of the jackknife takes them."""
    return [
        (pair.k, pair.l, float(base), wrong)
        for (pair, base), wrong in zip(weighted, errors, strict=True)
    ]


def check_against(comparisons, counts, strata=None):
    """ErrorCounts of one level against the twin's sums, or those of its strata."""
    sums, expected = counts.sums, twin.moments(comparisons, strata)
    if not expected["errors"]:
        assert_allclose(counts.influence[0], 0)
    else:
        lost = twin.influence(comparisons, strata)
        of_people = [lost.get(k, 0.0) for k in range(counts.influence.shape[1])]
        assert_allclose(counts.influence[0], of_people, atol=1e-12)
    for name in ErrorSums._fields if expected["pairs"] else ("errors", "pairs"):
        found = getattr(sums, name)[0]
        assert_allclose(found, expected[name], rtol=1e-9, atol=1e-9, err_msg=name)


@designs
def test_impostor_pairs_of_complete_designs(sides, average, impostors, groups):
    # With images in several groups, some people share none of them.
    pairs = embedded(8, average, impostors, sides=sides, groups=groups)
    oracle = oracle_of_pairs(pairs)
    n_people = pairs.images.n_identities
    for scope in SCOPES:
        weighted = oracle.scope(oracle_scope(scope)).impostor
        people = people_of(pairs.totals, scope)
        sizes = np.zeros((n_people, n_people))
        for pair, base in weighted:
            sizes[pair.k, pair.l] += base
        sizes += sizes.T
        assert_allclose(people.pairs, sizes.sum(axis=0), atol=1e-12)
        powers = [(sizes**p).sum() / 2 for p in (2, 3, 4)]
        assert_allclose(people.sizes, powers, atol=1e-12)
        squared = sum(float(base) ** 2 for _, base in weighted)
        assert_allclose(people.squared_weights, squared, atol=1e-12)
        k, h = np.triu_indices(n_people, 1)
        kind, size = people.between
        assert_allclose(size[kind[k], kind[h]], sizes[k, h], atol=1e-12)
        assert_allclose(size, size.T)
        for threshold in (2.0, 4.0, 30.0):
            errors = [pair.score >= threshold for pair, _ in weighted]
            counts = errors_of(pairs, scope, "far", np.array([threshold]))
            check_against(comparisons_of(weighted, errors), counts)


@designs
def test_genuine_pairs_of_complete_designs(sides, average, impostors, groups):
    pairs = embedded(6, average, impostors, sides=sides, groups=groups)
    oracle = oracle_of_pairs(pairs)
    for scope in OWN:
        weighted = oracle.scope(oracle_scope(scope)).genuine
        errors = [pair.score < 6.0 for pair, _ in weighted]
        counts = errors_of(pairs, scope, "frr", np.array([6.0]))
        check_against(comparisons_of(weighted, errors), counts)


@pytest.mark.parametrize("average", ["pair", "identity"])
@pytest.mark.parametrize("impostors", ["all", "same_group"])
def test_listed_pairs(average, impostors):
    pairs, arguments = listed(3, n=80, average=average, impostors=impostors)
    oracle = oracle_of_listed(arguments)
    for scope in SCOPES:
        found, at = oracle.scope(oracle_scope(scope)), np.array([0.5])
        for weighted, counts, ends in (
            (found.impostor, errors_of(pairs, scope, "far", at), 2),
            (found.genuine, errors_of(pairs, scope, "frr", at), 1),
        ):
            if ends == 1 and scope not in OWN:
                continue
            errors = [(pair.score >= 0.5) == (ends == 2) for pair, _ in weighted]
            check_against(comparisons_of(weighted, errors), counts)


@pytest.mark.parametrize("impostors", ["all", "same_group"])
def test_people_with_pairs_are_those_of_a_loop(impostors):
    of_list, arguments = listed(3, n=80, impostors=impostors)
    of_all = embedded(6, "pair", impostors, n_identities=9)
    for pairs, oracle in (
        (of_all, oracle_of_pairs(of_all)),
        (of_list, oracle_of_listed(arguments)),
    ):
        for scope, rate in (*product(SCOPES, ["far"]), *product(OWN, ["frr"])):
            found = oracle.scope(oracle_scope(scope))
            weighted = found.impostor if rate == "far" else found.genuine
            people = {person for pair, _ in weighted for person in (pair.k, pair.l)}
            assert people_with_pairs(pairs, scope, rate) == len(people)


@pytest.mark.parametrize("impostors", ["all", "same_group"])
def test_threshold_of_meets_the_level(impostors):
    pairs = embedded(7, impostors=impostors)
    oracle = oracle_of_pairs(pairs)
    for scope, level in product(OWN, (0.01, 0.2, 0.6)):
        scores = np.array(
            [p.score for p, _ in oracle.scope(oracle_scope(scope)).impostor]
        )
        found = threshold_of(pairs, scope, np.array([level]))[0]
        assert (scores >= found).mean() <= level
        lower = scores[scores < found]
        if lower.size:
            assert (scores >= lower.max()).mean() > level


def test_threshold_of_a_tail_is_that_of_all_pairs_or_nan(monkeypatch):
    """All pairs weigh the level, though those of small scores are not held."""
    levels = np.array([0.002, 0.01, 0.05, 0.9])
    images, vectors = hamming(3)
    scopes = (None, (0, 0), (1, 1))
    whole = compare(images, vectors, far_max=0.05)
    expected = [threshold_of(whole, scope, levels) for scope in scopes]
    for name in ("WHOLE", "WHOLE_GROUP"):
        monkeypatch.setattr(_pairs, name, 1)
    held = compare(images, vectors, far_max=0.05)
    for scope, known in zip(scopes, expected, strict=True):
        found = threshold_of(held, scope, levels)
        assert not held.impostors(scope).complete and np.isnan(found[3])
        assert_allclose(found[:3], known[:3])
        sampled = threshold_of(held, scope, levels, sampled=True)
        assert not np.isnan(sampled).any()


@pytest.mark.parametrize("average", ["pair", "identity"])
def test_sums_of_a_sample_are_loops_over_the_pairs_drawn(monkeypatch, average):
    """What all pairs weigh is known; errors are those of the drawn ones, each for many."""
    monkeypatch.setattr(_pairs, "SAMPLE", 500)
    pairs = embedded(8, average, n_identities=12)
    oracle = oracle_of_pairs(pairs)
    for scope in OWN:
        weighted = oracle.scope(oracle_scope(scope)).impostor
        sequence = pairs.impostors(scope, sampled=True)
        base = np.ones(sequence.scores.size) if sequence.base is None else sequence.base
        base = base * sum(float(b) for _, b in weighted) / base.sum()
        wrong = {}
        for *both, s, b in zip(
            *sequence.identities(pairs.images), sequence.scores, base, strict=True
        ):
            wrong[frozenset(both)] = wrong.get(frozenset(both), 0.0) + b * (s >= 2.0)
        # All errors of two people are counted at the first of their pairs.
        errors = [wrong.pop(frozenset((p.k, p.l)), 0.0) / float(b) for p, b in weighted]
        expected = twin.moments(comparisons_of(weighted, errors))
        found = errors_of(pairs, scope, "far", np.array([2.0]), sampled=True)
        drawn = (base**2).sum() / expected["pairs"]
        # A pair that was drawn stands for others, which are not known.
        x = expected["errors"] / expected["pairs"]
        more = x**2 * (base**2).sum()
        assert more > 0
        for name in ("single", "clustered"):
            assert_allclose(getattr(found.sums, name)[0], expected[name] + drawn)
        for name in ("errors", "pairs", "people", "cubes", "fourths"):
            assert_allclose(getattr(found.sums, name)[0], expected[name], rtol=1e-9)
        assert_allclose(found.sums.own[0], expected["own"] + more)


def upper_ends(course, errors):
    high = never_falling(rate_ends(course.sums, 0.025)[1], course.pivot)
    return np.interp(errors, course.place, high)


def bounds_by_loop(pairs, scope, rate, scores, tail):
    """Errors -> the least bound of as many or more, at the fixed numbers of errors."""
    scores = sorted(scores, reverse=rate == "far")
    numbers = {0, len(scores)} | {round(2 ** (j / 8)) for j in range(200)}
    numbers |= {len(scores) - n for n in numbers if n < len(scores) / 2}
    known = {}
    for number in numbers:
        if number > len(scores):
            continue
        # So many err at the threshold that the last of them reaches.
        at = np.inf if rate == "far" else -np.inf
        if number:
            at = last = scores[number - 1]
            if rate == "frr":
                at = np.nextafter(np.float32(last), np.float32(99))
        sums = errors_of(pairs, scope, rate, np.array([at])).sums
        known[sums.errors[0]] = rate_ends(sums, tail)[1][0]
    return {e: min(high for x, high in known.items() if x >= e) for e in known}


def between(least, asked):
    """The bound of any number of errors, on the line between two of the fixed ones."""
    below = max(e for e in least if e <= asked)
    above = min(e for e in least if e >= asked)
    if below == above:
        return least[below]
    part = (asked - below) / (above - below)
    return least[below] + part * (least[above] - least[below])


@pytest.mark.parametrize("average", ["pair", "identity"])
@pytest.mark.parametrize("rate", ["far", "frr"])
@pytest.mark.parametrize("seed", [5, pytest.param(8, marks=pytest.mark.slow)])
def test_upper_ends_are_those_of_a_loop_over_numbers_of_errors(average, rate, seed):
    seen = 0
    pairs = embedded(seed, average, most=8, n_identities=9)
    oracle = oracle_of_pairs(pairs)
    for scope in OWN:
        found = oracle.scope(oracle_scope(scope))
        weighted = found.impostor if rate == "far" else found.genuine
        scores = [float(pair.score) for pair, _ in weighted]
        course = rate_curve_of(pairs, scope, rate)
        least = bounds_by_loop(pairs, scope, rate, scores, 0.025)
        thresholds = np.arange(-8.0, 20.0)
        for errors in errors_of(pairs, scope, rate, thresholds).sums.errors:
            if np.isclose(errors, course.sums.pairs[0] / 2):
                continue  # where rounding decides which end is the far one
            high = upper_ends(course, errors)
            assert_allclose(high, between(least, errors), rtol=1e-9)
            seen += errors not in course.sums.errors
    # Between fixed numbers; those of so few genuine pairs are all fixed ones.
    assert seen or rate == "frr"


@pytest.mark.parametrize(("name", "most"), [("WHOLE_GROUP", (0, 0)), ("WHOLE", None)])
def test_the_course_of_a_scope_held_whole_pivots_at_its_last_pair(
    monkeypatch, name, most
):
    for less in (0, 1):
        pairs = compare(*hamming(3), far_max=0.02)
        sizes = {"WHOLE": 1, "WHOLE_GROUP": 1, name: pairs.count(most) - less}
        for size in sizes.items():
            monkeypatch.setattr(_pairs, *size)
        course = rate_curve_of(pairs, (0, 0), "far")
        assert (course.place[course.pivot] == pairs.count((0, 0))) == (less == 0)


@pytest.mark.parametrize("scope", SCOPES[:4])
def test_a_course_of_usual_rates_is_the_first_part_of_the_whole(monkeypatch, scope):
    for name in ("WHOLE", "WHOLE_GROUP"):
        monkeypatch.setattr(_pairs, name, 1)
    pairs = compare(*hamming(3), far_max=0.1)
    part, whole = (rate_curve_of(pairs, scope, "far", whole=w) for w in (False, True))
    n = part.place.size
    assert 2 < n < whole.place.size and part.pivot == whole.pivot == n - 1
    assert_allclose(part.place, whole.place[:n])
    assert_allclose(part.upper_bounds(0.025), whole.upper_bounds(0.025)[:n])
