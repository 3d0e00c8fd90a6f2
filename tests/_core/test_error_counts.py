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
from skfairfr._core._jackknife import never_falling, rate_ends
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

SCOPES = (None, (0, 0), (1, 1), (0, 1), (1, 0))
OWN = SCOPES[:3]
POWERS = (2, 3, 4)
designs = pytest.mark.parametrize(
    ("sides", "average", "impostors", "groups"),
    list(product((1, 2), ("pair", "identity"), ("all", "same_group"), GROUPS)),
)


def looped(weighted, errors, n_people):
    """Everything by loops: of persons, of two people, and of their errors."""
    of = {
        "pairs": np.zeros(n_people),
        "errors": np.zeros(n_people),
        "sizes": np.zeros((n_people, n_people)),
        "wrong": np.zeros((n_people, n_people)),
        "squared": 0.0,
    }
    for (pair, base), wrong in zip(weighted, errors, strict=True):
        k, h, weight = pair.k, pair.l, float(base)
        for person in {k, h}:
            of["pairs"][person] += weight
            of["errors"][person] += weight * wrong
        low, high = sorted((k, h))
        of["sizes"][low, high] += weight
        of["wrong"][low, high] += weight * wrong
        of["squared"] += weight**2
    return of


def without_each(loop, ends, strata=None):
    """What the errors lose without each person, (n_people,): the rate refitted without her.

    At equal covariates it is the sum of the rates of strata that is refitted.
    """
    seen = np.flatnonzero(loop["pairs"] > 0)
    found = sum(changes(of, ends) for of in strata or [loop])
    found[seen] -= found[seen].mean()
    return found * np.sqrt((seen.size - 1) / seen.size)


def changes(loop, ends):
    """The errors less those at the rate without each person, (n_people,)."""
    pairs, errors = loop["pairs"], loop["errors"]
    total, wrong = pairs.sum() / ends, errors.sum() / ends
    found, seen = np.zeros(pairs.size), np.flatnonzero(pairs > 0)
    for k in seen:
        if pairs[k] <= total / 2:
            rate = (wrong - errors[k]) / (total - pairs[k])
        else:  # a person with most of the pairs is left out as one with half
            rate = wrong / total - (errors[k] - wrong / total * pairs[k]) / (total / 2)
        found[k] = wrong - total * rate
    return found


def expected_sums(loop, ends, strata=None):
    """Fields of ErrorSums, those of impostor pairs from X of every two people."""
    sizes, wrong = loop["sizes"], loop["wrong"]
    total, errors = sizes.sum(), wrong.sum()
    x = independent = 0.0
    for of in strata or [loop]:
        rate = of["wrong"].sum() / of["sizes"].sum()
        independent += of["squared"] * rate * (1 - rate)
        x = x + of["wrong"] - rate * of["sizes"]
    lost, single = without_each(loop, ends, strata), loop["squared"] / total
    if 0 < errors < total:
        single = independent / (errors * (1 - errors / total))
    of_people = [(lost**p).sum() for p in POWERS]
    of_clusters = [(x**p).sum() if ends == 2 else 0.0 for p in POWERS]
    variance, cubes, fourths = np.subtract(of_people, of_clusters)
    own = of_clusters[0] if ends == 2 else variance
    return {
        "errors": errors,
        "pairs": total,
        "single": single,
        "clustered": (sizes**2).sum() / total,
        "own": own,
        "variance": max(variance, own),
        "cubes": cubes,
        "fourths": fourths,
        "people": (ends * total) ** 2 / (loop["pairs"] ** 2).sum(),
    }


def check_against(loop, counts, ends, strata=None):
    """ErrorCounts of one level against the loop's sums, or those of its strata."""
    sums = counts.sums
    errors, total = loop["wrong"].sum(), loop["sizes"].sum()
    assert_allclose(sums.errors[0], errors, atol=1e-12)
    assert_allclose(sums.pairs[0], total, atol=1e-12)
    if not errors:
        assert_allclose(counts.influence[0], np.zeros(loop["errors"].size))
    if total == 0:
        return
    for name, expected in expected_sums(loop, ends, strata).items():
        found = getattr(sums, name)[0]
        assert_allclose(found, expected, rtol=1e-9, atol=1e-9, err_msg=name)
    if errors:
        assert_allclose(
            counts.influence[0], without_each(loop, ends, strata) / errors, atol=1e-12
        )


@designs
def test_impostor_pairs_of_complete_designs(sides, average, impostors, groups):
    # With images in several groups, some people share none of them.
    pairs = embedded(8, average, impostors, sides=sides, groups=groups)
    twin = oracle_of_pairs(pairs)
    n_people = pairs.images.n_identities
    for scope in SCOPES:
        weighted = twin.scope(oracle_scope(scope)).impostor
        people = people_of(pairs.totals, scope)
        loop = looped(weighted, [False] * len(weighted), n_people)
        assert_allclose(people.pairs, loop["pairs"], atol=1e-12)
        powers = [(loop["sizes"] ** p).sum() for p in (2, 3, 4)]
        assert_allclose(people.sizes, powers, atol=1e-12)
        assert_allclose(people.squared_weights, loop["squared"], atol=1e-12)
        k, h = np.triu_indices(n_people, 1)
        kind, size = people.between
        assert_allclose(size[kind[k], kind[h]], loop["sizes"][k, h], atol=1e-12)
        assert_allclose(size, size.T)
        for threshold in (2.0, 4.0, 30.0):
            errors = [pair.score >= threshold for pair, _ in weighted]
            loop = looped(weighted, errors, n_people)
            counts = errors_of(pairs, scope, "far", np.array([threshold]))
            check_against(loop, counts, 2)


@designs
def test_genuine_pairs_of_complete_designs(sides, average, impostors, groups):
    pairs = embedded(6, average, impostors, sides=sides, groups=groups)
    twin = oracle_of_pairs(pairs)
    for scope in OWN:
        weighted = twin.scope(oracle_scope(scope)).genuine
        errors = [pair.score < 6.0 for pair, _ in weighted]
        loop = looped(weighted, errors, pairs.images.n_identities)
        counts = errors_of(pairs, scope, "frr", np.array([6.0]))
        check_against(loop, counts, 1)


@pytest.mark.parametrize("average", ["pair", "identity"])
@pytest.mark.parametrize("impostors", ["all", "same_group"])
def test_listed_pairs(average, impostors):
    pairs, arguments = listed(3, n=80, average=average, impostors=impostors)
    twin = oracle_of_listed(arguments)
    for scope in SCOPES:
        found, at = twin.scope(oracle_scope(scope)), np.array([0.5])
        for weighted, counts, ends in (
            (found.impostor, errors_of(pairs, scope, "far", at), 2),
            (found.genuine, errors_of(pairs, scope, "frr", at), 1),
        ):
            if ends == 1 and scope not in OWN:
                continue
            errors = [(pair.score >= 0.5) == (ends == 2) for pair, _ in weighted]
            check_against(looped(weighted, errors, 7), counts, ends)


@pytest.mark.parametrize("impostors", ["all", "same_group"])
def test_people_with_pairs_are_those_of_a_loop(impostors):
    of_list, arguments = listed(3, n=80, impostors=impostors)
    of_all = embedded(6, "pair", impostors, n_identities=9)
    for pairs, twin in (
        (of_all, oracle_of_pairs(of_all)),
        (of_list, oracle_of_listed(arguments)),
    ):
        for scope, rate in (*product(SCOPES, ["far"]), *product(OWN, ["frr"])):
            found = twin.scope(oracle_scope(scope))
            weighted = found.impostor if rate == "far" else found.genuine
            people = {person for pair, _ in weighted for person in (pair.k, pair.l)}
            assert people_with_pairs(pairs, scope, rate) == len(people)


@pytest.mark.parametrize("impostors", ["all", "same_group"])
def test_threshold_of_meets_the_level(impostors):
    pairs = embedded(7, impostors=impostors)
    twin = oracle_of_pairs(pairs)
    for scope, level in product(OWN, (0.01, 0.2, 0.6)):
        scores = np.array(
            [p.score for p, _ in twin.scope(oracle_scope(scope)).impostor]
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
    twin = oracle_of_pairs(pairs)
    for scope in OWN:
        weighted = twin.scope(oracle_scope(scope)).impostor
        loop = looped(weighted, [False] * len(weighted), 12)
        sequence = pairs.impostors(scope, sampled=True)
        left, right = sequence.identities(pairs.images)
        base = np.ones(sequence.scores.size) if sequence.base is None else sequence.base
        base = base * loop["sizes"].sum() / base.sum()
        loop["errors"], loop["wrong"] = np.zeros(12), np.zeros((12, 12))
        for k, h, s, b in zip(left, right, sequence.scores, base, strict=True):
            if s >= 2.0:
                loop["wrong"][min(k, h), max(k, h)] += b
                loop["errors"][[k, h]] += b
        found = errors_of(pairs, scope, "far", np.array([2.0]), sampled=True)
        expected = expected_sums(loop, 2)
        drawn = (base**2).sum() / expected["pairs"]
        # A pair that was drawn stands for others, which are not known.
        x = loop["wrong"].sum() / expected["pairs"]
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
    twin = oracle_of_pairs(pairs)
    for scope in OWN:
        found = twin.scope(oracle_scope(scope))
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


@pytest.mark.parametrize("scope", SCOPES[:4])
def test_how_much_is_held_changes_no_upper_end_of_a_usual_rate(monkeypatch, scope):
    images, vectors = hamming(3)
    for name in ("WHOLE", "WHOLE_GROUP"):
        monkeypatch.setattr(_pairs, name, 1)
    ends = []
    for far_max in (0.02, 0.1):
        pairs = compare(images, vectors, far_max=far_max)
        thresholds = np.unique(pairs.impostors(scope).scores)
        usual = threshold_of(
            pairs, None if scope == (0, 1) else scope, np.array([1e-2])
        )
        asked = thresholds[thresholds >= usual].astype(float)
        errors = errors_of(pairs, scope, "far", asked).sums.errors
        ends.append(upper_ends(rate_curve_of(pairs, scope, "far"), errors))
    assert ends[0].size >= 5
    assert_allclose(*ends)


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
