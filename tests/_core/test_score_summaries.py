"""Facts of the histogram of all scores, and of their moments, against all pairs."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from skfairfr._core import _score_summaries
from skfairfr._core._pair_design import CompleteDesign
from skfairfr._core._pair_sets import compare_images
from skfairfr._core._pair_tiles import unit_rows
from skfairfr._core._resampling import Images
from skfairfr._core._score_summaries import (
    N_BINS,
    ScoreHistogram,
    score_moments,
)
from tests._core.cases import (
    GROUPS,
    embedded,
    listed,
    make_images,
    oracle_of_listed,
    oracle_of_pairs,
    oracle_scope,
)
from tests.covering import daily_pairwise

LEVELS = np.array([0.01234, 0.1234, 0.4567, 0.8765])  # between all shares
designs = pytest.mark.parametrize(
    ("sides", "average", "impostors", "groups"),
    daily_pairwise(
        (s, a, i, g)
        for s, a, i, g in product((1, 2), ("pair", "identity"), ("all", "same_group"), GROUPS)
        if (a, i) != ("identity", "same_group") or g in ("constant", "partly")
    ),
)  # fmt: skip


def continuous(sides, average, impostors, groups):
    images = make_images(3, sides=sides, groups=groups, n_identities=25)
    X = np.random.default_rng(0).normal(size=(images.identity.size, 8))
    design = CompleteDesign(images, average, impostors)
    return compare_images(unit_rows(X, "cosine"), design, 0.1)


def histograms(pairs):
    """Histograms of all scopes that have one."""
    return pairs.compared.histograms(pairs.design)


def weights_of(pairs, scope):
    group = None if scope is None else scope[0]
    scored = oracle_of_pairs(pairs).weighted_impostors(group)
    return np.array([s for s, _ in scored]), np.array([float(w) for _, w in scored])


@designs
def test_far_is_exact_at_the_edges_and_between_its_neighbours_elsewhere(
    sides, average, impostors, groups
):
    pairs = continuous(sides, average, impostors, groups)
    for scope, found in histograms(pairs).items():
        scores, weights = weights_of(pairs, scope)
        width = found.edges[1] - found.edges[0]
        # Scores agree with those of a full product to some float32 ulps, far below a bin.
        for t in np.linspace(-1, 1, 41):
            far = [
                weights[scores >= t + d].sum() / weights.sum() for d in (width, -width)
            ]
            assert far[0] - 1e-9 <= found.far(t) <= far[1] + 1e-9


@designs
def test_threshold_is_within_a_bin_of_the_exact_one(sides, average, impostors, groups):
    pairs = continuous(sides, average, impostors, groups)
    for scope, found in histograms(pairs).items():
        scores, weights = weights_of(pairs, scope)
        order = np.argsort(-scores)
        share = np.cumsum(weights[order]) / weights.sum()
        width = found.edges[1] - found.edges[0]
        for level, t in zip(LEVELS, found.threshold(LEVELS), strict=True):
            exact = scores[order][np.searchsorted(share, level)]
            assert t == pytest.approx(exact, abs=1.02 * width)


def test_all_integer_scores_stand_exactly_on_their_side_of_half_integers():
    pairs = embedded(1)
    scores, _ = weights_of(pairs, None)
    found = pairs.histogram(None)
    halves = np.arange(-12.5, 20)
    expected = [(scores >= t).mean() for t in halves]
    assert_allclose(found.far(halves), expected, atol=1e-12)
    assert_array_equal(found.edges[[0, -1]] % 1, 0)
    assert found.edges[-1] == pairs.own_scores.max()
    assert found.edges.size == N_BINS + 1


def test_the_ends_of_the_range_count():
    codes = np.arange(3, dtype=np.int32)
    images = Images(codes, np.full(3, -1, dtype=np.int32), None, 3, 0)
    vectors = np.array([[1], [-1], [-1]], dtype=np.float32)  # scores -1, -1 and 1
    for similarity in ("cosine", "dot"):
        design = CompleteDesign(images, "pair", "all")
        found = compare_images(vectors, design, 0.1, similarity).histogram(None)
        assert found.edges[[0, -1]].tolist() == [-1, 1]
        assert found.far([-1, -0.5, 0, 0.5]) == pytest.approx([1, *[1 / 3] * 3])


def test_far_is_one_below_all_scores_and_zero_above():
    found = embedded(1).histogram(None)
    assert found.far([-np.inf, -99, 99, np.inf]).tolist() == [1, 1, 0, 0]


def test_same_group_rates_of_mixed_people_by_identity_have_no_histogram():
    pairs = embedded(1, "identity", "same_group")
    assert histograms(pairs) == {}
    assert pairs.histogram(None) is None


def test_scopes_are_everything_and_each_group_with_a_pair():
    assert set(histograms(embedded(1))) == {None, (0, 0), (1, 1)}
    lonely = embedded(1, groups="constant", n_identities=3)  # one person in group 1
    assert set(histograms(lonely)) == {None, (0, 0)}
    assert lonely.histogram((0, 1)) is None


def test_rates_interpolate_between_edges_and_thresholds_are_edges():
    found = ScoreHistogram(np.array([0.0, 1.0, 2.0]), np.array([1.0, 0.5, 0.0]))
    assert found.far([0.5, 1.5]).tolist() == [0.75, 0.25]
    assert found.threshold([0.75, 0.5, 0.25]).tolist() == [1, 1, 2]


@given(st.lists(st.integers(0, 5), min_size=1, max_size=8), st.floats(1e-6, 0.999))
def test_a_threshold_is_the_lowest_edge_that_meets_the_level(weights, level):
    weights[0] += 1
    above = np.append(np.cumsum(weights[::-1])[::-1], 0) / sum(weights)
    found = ScoreHistogram(np.arange(above.size) / 8, above)
    meets = [e for e, share in zip(found.edges, above, strict=True) if share <= level]
    assert found.threshold(level) == min(meets)
    assert found.far(found.threshold(level)) <= level


# ---- moments -------------------------------------------------------------------------


OWN = (None, (0, 0), (1, 1))


def moments_by_loop(twin, scope):
    moments = []
    for pairs in (twin.scope(scope).genuine, twin.scope(scope).impostor):
        scores = np.array([p.score for p, _ in pairs])
        some = scores.size > 0
        moments += (
            [scores.size, scores.mean(), scores.std()] if some else [0, np.nan, np.nan]
        )
    return moments


@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize("impostors", ["all", "same_group"])
@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("average", ["pair", "identity"])
def test_moments_are_those_of_all_pairs_whatever_the_average(
    average, groups, impostors, sides
):
    pairs = embedded(1, average, impostors, sides=sides, groups=groups)
    twin = oracle_of_pairs(pairs)
    for scope in OWN:
        expected = moments_by_loop(twin, oracle_scope(scope))
        assert_allclose(score_moments(pairs, scope), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("block", [1, 7, 8192])
def test_moments_of_unit_rows(block, monkeypatch):
    monkeypatch.setattr(_score_summaries, "BLOCK", block)
    images = make_images(2, n_identities=30)
    X = np.random.default_rng(0).normal(size=(images.identity.size, 16))
    design = CompleteDesign(images, "pair", "all")
    pairs = compare_images(unit_rows(X, "cosine"), design, 0.1)
    for scope in OWN:
        expected = moments_by_loop(oracle_of_pairs(pairs), oracle_scope(scope))
        assert_allclose(score_moments(pairs, scope), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("scope", OWN)
def test_moments_of_listed_pairs(scope):
    pairs, arguments = listed(1, 80)
    expected = moments_by_loop(oracle_of_listed(arguments), oracle_scope(scope))
    assert_allclose(score_moments(pairs, scope), expected, rtol=1e-12)


def test_outside_the_cells_nothing_counts():
    """By pair every image of a cell counts once, by identity with its share."""
    cells, rows = SimpleNamespace(shares=np.array([0.0, 0.5, 1.0])), SimpleNamespace()
    rows.image = np.array([2, 0, 1, 0])
    for average, wanted in (("pair", [1, 0, 1, 0]), ("identity", [1, 0, 0.5, 0])):
        design = SimpleNamespace(average=average)
        assert_array_equal(_score_summaries._factors(design, cells, rows), wanted)


def test_moments_without_pairs_are_undefined():
    pairs = embedded(0, most=1, groups="constant", n_identities=2)
    assert_allclose(score_moments(pairs, (0, 0)), [0, np.nan, np.nan] * 2)
    n_genuine, _, _, n_impostor, _, spread = score_moments(pairs, None)
    assert (n_genuine, n_impostor, spread) == (0, 1, 0)
