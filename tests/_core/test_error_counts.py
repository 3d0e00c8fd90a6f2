"""Errors and weights of people against loops over all pairs of the slow twin."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skfairfr._core import _pair_sets
from skfairfr._core._error_counts import (
    accepted_impostors,
    rejected_genuine,
    threshold_of,
)
from skfairfr._core._pair_people import ListedPeople, people_of_design
from tests._core.cases import (
    GROUPS,
    embedded,
    listed,
    oracle_of_listed,
    oracle_of_pairs,
    oracle_scope,
)
from tests.covering import daily_pairwise

SCOPES = (None, (0, 0), (1, 1), (0, 1), (1, 0))
OWN = SCOPES[:3]
designs = pytest.mark.parametrize(
    ("sides", "average", "impostors", "groups"),
    daily_pairwise(
        product((1, 2), ("pair", "identity"), ("all", "same_group"), GROUPS)
    ),
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


def check_against(loop, counts, total_of_one):
    """ErrorCounts of one level against the loop's sums."""
    sums = counts.sums
    errors, total = loop["wrong"].sum(), loop["sizes"].sum()
    assert_allclose(sums.errors[0], errors, atol=1e-12)
    assert_allclose(sums.pairs[0], total, atol=1e-12)
    if not errors:
        assert_allclose(counts.influence[0], np.zeros(loop["errors"].size))
    if total == 0:
        return
    assert_allclose(sums.clumped[0], (loop["sizes"] ** 2).sum() / total)
    assert_allclose(sums.single[0], loop["squared"] / total)
    if errors:
        ends = total_of_one
        expected = ends * (
            loop["errors"] / loop["errors"].sum() - loop["pairs"] / loop["pairs"].sum()
        )
        assert_allclose(counts.influence[0], expected, atol=1e-12)


@designs
def test_impostor_pairs_of_complete_designs(sides, average, impostors, groups):
    pairs = embedded(5, average, impostors, sides=sides, groups=groups)
    twin = oracle_of_pairs(pairs)
    n_people = pairs.images.n_identities
    for scope in SCOPES:
        weighted = twin.scope(oracle_scope(scope)).impostor
        people = people_of_design(pairs.design, scope)
        threshold = 2.0
        errors = [pair.score >= threshold for pair, _ in weighted]
        loop = looped(weighted, errors, n_people)
        assert_allclose(people.pairs, loop["pairs"], atol=1e-12)
        assert_allclose(people.sizes, (loop["sizes"] ** 2).sum(), atol=1e-12)
        if average == "identity":
            assert_allclose(people.squared_weights, loop["squared"], atol=1e-12)
        k, h = np.triu_indices(n_people, 1)
        assert_allclose(people.between(k, h), loop["sizes"][k, h], atol=1e-12)
        assert_allclose(people.between(h, k), loop["sizes"][k, h], atol=1e-12)
        counts = accepted_impostors(pairs, scope, np.array([threshold]))
        check_against(loop, counts, 2)
        if sum(errors):
            wrong = loop["wrong"]
            squared = (wrong**2).sum() / wrong.sum() ** 2
            assert_allclose(counts.squared[0], squared)
            rate = wrong.sum() / loop["sizes"].sum()
            own = ((wrong - rate * loop["sizes"]) ** 2).sum()
            assert_allclose(counts.sums.squares[0], own, atol=1e-9)


@designs
def test_genuine_pairs_of_complete_designs(sides, average, impostors, groups):
    pairs = embedded(6, average, impostors, sides=sides, groups=groups)
    twin = oracle_of_pairs(pairs)
    for scope in OWN:
        weighted = twin.scope(oracle_scope(scope)).genuine
        errors = [pair.score < 6.0 for pair, _ in weighted]
        loop = looped(weighted, errors, pairs.images.n_identities)
        counts = rejected_genuine(pairs, scope, np.array([6.0]))
        check_against(loop, counts, 1)


@pytest.mark.parametrize("average", ["pair", "identity"])
@pytest.mark.parametrize("impostors", ["all", "same_group"])
def test_listed_pairs(average, impostors):
    pairs, arguments = listed(3, n=80, average=average, impostors=impostors)
    twin = oracle_of_listed(arguments)
    for scope in SCOPES:
        found = twin.scope(oracle_scope(scope))
        for weighted, counts, ends in (
            (found.impostor, accepted_impostors(pairs, scope, np.array([0.5])), 2),
            (found.genuine, rejected_genuine(pairs, scope, np.array([0.5])), 1),
        ):
            if ends == 1 and scope not in OWN:
                continue
            errors = [(pair.score >= 0.5) == (ends == 2) for pair, _ in weighted]
            check_against(looped(weighted, errors, 7), counts, ends)


def test_listed_people_find_pairs_in_either_order():
    left, right = np.array([[0, 2, 1, 2], [1, 1, 0, 0]])
    people = ListedPeople(left, right, np.array([1.0, 2.0, 3.0, 4.0]), 3)
    assert_allclose(people.between(np.array([1, 0]), np.array([0, 2])), [4, 4])
    assert_allclose(people.pairs, [8, 6, 6])
    assert_allclose(people.sizes, 16 + 4 + 16)


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


def test_a_sample_stands_for_all_pairs(monkeypatch):
    monkeypatch.setattr(_pair_sets, "SAMPLE", 2_000_000)
    pairs = embedded(8, n_identities=30)
    every = accepted_impostors(pairs, (0, 0), np.array([2.0]))
    drawn = accepted_impostors(pairs, (0, 0), np.array([2.0]), sampled=True)
    for name in ("errors", "pairs", "squares", "shared", "clumped"):
        found, expected = (getattr(c.sums, name)[0] for c in (drawn, every))
        assert_allclose(found, expected, rtol=0.05, err_msg=name)


def test_fewer_drawn_pairs_leave_more_variance(monkeypatch):
    monkeypatch.setattr(_pair_sets, "SAMPLE", 500)
    pairs = embedded(8, n_identities=30)
    sums = accepted_impostors(pairs, None, np.array([2.0]), sampled=True).sums
    each = float(pairs.count(None)) / 500
    assert_allclose(sums.single[0], 1 + each)
