"""Standardised rates and their sums against loops over strata and pairs of the slow twin."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skfairfr._core import _error_counts, _pairs
from skfairfr._core._error_counts import errors_of
from skfairfr._core._resampling import Weights
from skfairfr._core._strata import Standard, Strata, standards, weighed_by_strata
from tests._core.cases import (
    embedded,
    list_pairs,
    make_images,
    oracle_of_listed,
    oracle_of_pairs,
    sides_of,
)
from tests._core.test_error_counts import check_against, comparisons_of

N_STRATA = 3


def strata_of_images(n_images, seed=0):
    """The lower of two codes; images of code 3 are unknown."""
    lower = np.minimum.outer(np.arange(4), np.arange(4))
    lower[3], lower[:, 3] = -1, -1
    codes = np.random.default_rng(seed).choice(4, n_images, p=[0.3, 0.4, 0.2, 0.1])
    return Strata(["a", "b", "c"], lower, codes)


def weighed_by_loops(of_groups):
    """(pair, weight) of each group in common strata, from (pair, base, stratum) of each."""
    counts = [dict.fromkeys([-1, *range(N_STRATA)], 0) for _ in of_groups]
    for group, count in zip(of_groups, counts, strict=True):
        for _, base, stratum in group:
            count[stratum] += Fraction(base)
    some = [count for count in counts if sum(count.values())]
    common = [s for s in range(N_STRATA) if all(count[s] for count in some)]
    pooled = {s: sum(count[s] for count in some) for s in common}
    shares = {s: n / sum(pooled.values()) for s, n in pooled.items()}
    weighed = [
        [
            (pair, base * shares[s] * sum(count.values()) / count[s])
            for pair, base, s in group
            if s in common
        ]
        for group, count in zip(of_groups, counts, strict=True)
    ]
    return weighed, counts, shares


def check(pairs, strata, twin, stratum_of):
    """Counts, shares and sums of both rates; how many sums were of a group with errors."""
    found = standards(pairs, strata)
    weighed, n_checked = weighed_by_strata(pairs, strata, found), 0
    for rate, threshold in (("far", 2.0), ("frr", 6.0)):
        kind = "impostor" if rate == "far" else "genuine"
        of_groups = [
            [(p, b, stratum_of(p)) for p, b in getattr(twin.scope(g), kind)]
            for g in (0, 1)
        ]
        loops, counts, shares = weighed_by_loops(of_groups)
        expected = [[count[s] for s in range(N_STRATA)] for count in counts]
        assert_allclose(found[rate].counts, np.array(expected, dtype=float), atol=1e-12)
        assert np.flatnonzero(found[rate].common).tolist() == list(shares)
        assert_allclose(
            found[rate].shares[list(shares)], list(map(float, shares.values()))
        )
        if not shares:
            continue
        kept = sum(float(sum(count[s] for s in shares)) for count in counts)
        total = sum(float(sum(count.values())) for count in counts)
        assert_allclose(found[rate].lost, 1 - kept / total)
        for g, loop in enumerate(loops):
            wrong = [(p.score >= threshold) == (rate == "far") for p, _ in loop]
            counted = errors_of(weighed, (g, g), rate, np.array([threshold]))
            of_pairs = [stratum_of(pair) for pair, _ in loop]
            check_against(comparisons_of(loop, wrong), counted, of_pairs)
            n_checked += any(wrong)
    return n_checked


@pytest.mark.parametrize(
    ("sides", "average", "groups"),
    list(product((1, 2), ("pair", "identity"), ("constant", "changing", "partly"))),
)
def test_embeddings(sides, average, groups, monkeypatch):
    monkeypatch.setattr(_error_counts, "MOST_KINDS", 3)
    pairs = embedded(2, average, sides=sides, groups=groups, n_identities=16)
    strata = strata_of_images(pairs.images.identity.size)
    places = sides_of(pairs.images) if sides == 2 else (np.arange(1000),) * 2

    def stratum_of(pair):
        codes = [
            strata.codes[s[i]] for s, i in zip(places, (pair.i, pair.j), strict=True)
        ]
        return -1 if 3 in codes else min(codes)

    assert check(pairs, strata, oracle_of_pairs(pairs), stratum_of) >= 2


@pytest.mark.parametrize("average", ["pair", "identity"])
def test_listed_pairs(average):
    rng = np.random.default_rng(0)
    images = make_images(0, groups=None)
    left, right = rng.integers(0, images.identity.size, (2, 300)).astype(np.int32)
    left, right = left[left != right], right[left != right]
    groups = tuple(rng.integers(-1, 2, (2, left.size)))
    images = make_images(0, groups=None)
    images = type(images)(images.identity, images.group, None, 7, 2)
    # Scores tell the pairs of the twin from each other.
    scores = 8 * rng.permutation(left.size) / left.size
    arguments = (scores, left, right, groups, images, average, "all")
    codes = rng.integers(-1, N_STRATA, left.size)
    stratum = dict(zip(scores.tolist(), codes.tolist(), strict=True))
    pairs = list_pairs(*arguments)
    found = check(
        pairs,
        Strata(["a", "b", "c"], None, codes),
        oracle_of_listed(arguments),
        lambda pair: stratum[pair.score],
    )
    assert found == 4


def test_two_covariates_at_once():
    one, two = strata_of_images(50, 1), strata_of_images(50, 2)
    both = one.crossed(two)
    left, right = np.random.default_rng(0).integers(0, 50, (2, 400))
    strata = [s.of_codes[s.codes[left], s.codes[right]] for s in (one, two, both)]
    for a, b, c in zip(*strata, strict=True):
        assert (c == -1) if -1 in (a, b) else both.names[c] == f"{'abc'[a]}, {'abc'[b]}"
    listed = [
        Strata(s.names, None, of) for s, of in zip((one, two), strata, strict=False)
    ]
    assert listed[0].crossed(listed[1]).codes.tolist() == strata[2].tolist()


def test_a_sample_gives_about_the_same_rate(monkeypatch):
    pairs = embedded(2, "identity", n_identities=40)
    strata = strata_of_images(pairs.images.identity.size)
    weighed = weighed_by_strata(pairs, strata, standards(pairs, strata))
    at = np.array([2.0])
    exact = errors_of(weighed, (0, 0), "far", at).sums.rate[0]
    monkeypatch.setattr(_pairs, "SAMPLE", 40_000)
    sampled = errors_of(weighed, (0, 0), "far", at, sampled=True).sums.rate[0]
    assert 0 < abs(sampled - exact) < 0.02


def test_strata_that_a_group_lacks_are_common_to_none():
    found = Standard(
        np.array([[4.0, 0, 6], [5, 5, 0], [0, 0, 0]]), np.array([10.0, 20, 0])
    )
    # The third group has no pairs at all, and does not count.
    assert found.common.tolist() == [True, False, False]
    assert found.shares.tolist() == [1, 0, 0]
    assert found.lost == pytest.approx(1 - 9 / 30)
    assert found.weights.tolist() == [[2.5, 0, 0, 0], [4, 0, 0, 0], [0, 0, 0, 0]]


@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize("average", ["pair", "identity"])
def test_totals_are_sums_over_pairs(sides, average):
    pairs = embedded(2, average, sides=sides, groups="changing", n_identities=16)
    strata = strata_of_images(pairs.images.identity.size)
    weighed = weighed_by_strata(pairs, strata, standards(pairs, strata))
    for scope in ((0, 0), (1, 1)):
        for sequence, total in (
            (weighed.impostors(scope), weighed.impostor_total(scope, Weights())),
            (
                weighed.genuine.ascending(scope),
                weighed.genuine_total(scope, Weights(), copies=True),
            ),
        ):
            assert_allclose(total, [sequence.base.sum()])
