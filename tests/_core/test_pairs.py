"""Facts of the comparisons of a data set: whole, as a tail, as a sample, as a list."""

from functools import cache
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skfairfr._core import _pairs
from skfairfr._core._bootstrap import Query, point_rates, rate_table
from skfairfr._core._pair_tiles import unit_rows
from skfairfr._core._pairs import EmbeddingPairs, Expected, HeldPairs, TailTooShortError
from skfairfr._core._resampling import Resampling, Totals, draw
from tests._core.cases import (
    GROUPS,
    compare,
    embedded,
    hamming,
    make_images,
    make_vectors,
    oracle_of_pairs,
    oracle_scope,
    resample,
    scores_and_base,
)
from tests.covering import daily_pairwise

SCOPES = (None, (0, 0), (1, 1), (0, 1))
OWN = SCOPES[:3]
AVERAGES = ("pair", "identity")
IMPOSTORS = ("all", "same_group")
FAR_MAX = 0.02
designs = pytest.mark.parametrize(
    ("sides", "average", "impostors"),
    daily_pairwise(product((1, 2), AVERAGES, IMPOSTORS)),
)


@pytest.fixture
def only_tails(monkeypatch):
    """Hold no scope whole just because it is small."""
    monkeypatch.setattr(_pairs, "WHOLE", 1)
    monkeypatch.setattr(_pairs, "WHOLE_GROUP", 1)
    monkeypatch.setattr(_pairs, "SAMPLE", 2**15)


def continuous(
    average="pair", impostors="all", far_max=FAR_MAX, expected=None, **options
):
    """About 300 embeddings without ties, alike within a person and a group."""
    options = {"n_identities": 75, "most": 7, "groups": "constant"} | options
    images = make_images(5, **options)
    rng = np.random.default_rng(5)
    people = rng.normal(size=(75, 12))[images.identity]
    shift = 0.4 * images.group[:, None]
    X = people + shift + 0.8 * rng.normal(size=people.shape)
    design = Totals(images, average, impostors)
    compared = HeldPairs(unit_rows(X, "cosine"), images, [images.group])
    return EmbeddingPairs(compared, design, far_max, expected)


@cache
def whole_of(*args, **options):
    whole = continuous(*args, **options)
    assert all(whole.impostors(scope).complete for scope in SCOPES)
    return whole


twin_of = cache(oracle_of_pairs)


def whole_and_tail(monkeypatch, *args, **options):
    """The same data, everything held and as a tail."""
    whole = whole_of(*args, **options)
    monkeypatch.setattr(_pairs, "WHOLE", 1)
    monkeypatch.setattr(_pairs, "WHOLE_GROUP", 1)
    monkeypatch.setattr(_pairs, "SAMPLE", 2**12)
    tail = continuous(*args, **options)
    assert not any(tail.impostors(scope).complete for scope in SCOPES)
    return whole, tail


def query(levels=None, thresholds=None, operating_point="overall", scopes=OWN):
    levels, thresholds = (
        None if a is None else np.asarray(a) for a in (levels, thresholds)
    )
    return Query(levels, thresholds, operating_point, scopes, (0, 1))


def assert_same_table(one, other):
    for table in ("point", "centre", "replicates"):
        for name in ("thresholds", "far", "frr"):
            first, second = (getattr(getattr(t, table), name) for t in (one, other))
            assert_array_equal(first, second)


# ---- everything held -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("sides", "average", "impostors", "groups"),
    daily_pairwise(product((1, 2), AVERAGES, IMPOSTORS, GROUPS)),
)
def test_pairs_of_every_scope_are_those_of_a_double_loop(
    sides, average, impostors, groups
):
    pairs = embedded(1, average, impostors, sides=sides, groups=groups)
    twin = oracle_of_pairs(pairs)
    for scope in SCOPES:
        held = pairs.impostors(scope)
        assert held.complete
        assert (np.diff(held.scores) <= 0).all()
        expected = twin.scope(oracle_scope(scope)).impostor
        expected = sorted((p.score, float(base)) for p, base in expected)
        assert_allclose(scores_and_base(held), expected, rtol=1e-15)
        assert pairs.count(scope) == len(expected)


def test_own_scores_are_those_of_an_image_with_itself():
    pairs = embedded(0)
    assert_array_equal(pairs.own_scores, (pairs.compared.vectors**2).sum(axis=1))


# ---- the tail ------------------------------------------------------------------------


@designs
def test_small_scopes_need_not_be_held_whole(sides, average, impostors, monkeypatch):
    """Points of levels up to far_max, and of thresholds held, are the same."""
    monkeypatch.setattr(_pairs, "WHOLE_GROUP", 1)
    pairs = [
        continuous(average, impostors, sides=sides, expected=Expected(whole=whole))
        for whole in (True, False)
    ]
    assert not any(pairs[1].impostors(scope).complete for scope in SCOPES)
    asked = [query([1e-3, FAR_MAX], None, point) for point in ("overall", "group")]
    asked += [query([FAR_MAX], None, "worst_group", SCOPES)]
    held = max(float(pairs[1].impostors(scope).scores[-1]) for scope in SCOPES)
    asked += [query(None, [t], scopes=SCOPES) for t in (0.99, held)]
    for question in asked:
        first, second = (point_rates(p, question) for p in pairs)
        assert first[0].sampled == second[0].sampled == frozenset()
        for name in ("thresholds", "far", "frr"):
            assert_array_equal(getattr(first[1], name), getattr(second[1], name))
        for scope in SCOPES:
            assert (
                pairs[1].impostors(scope).scores.size
                <= pairs[0].impostors(scope).scores.size
            )


@designs
def test_a_tail_holds_every_pair_down_to_its_floor(
    monkeypatch, sides, average, impostors
):
    whole, tail = whole_and_tail(monkeypatch, average, impostors, sides=sides)
    for scope in SCOPES:
        everything, held = whole.impostors(scope), tail.impostors(scope)
        assert not held.complete
        assert FAR_MAX < held.scores.size / everything.scores.size < 8 * FAR_MAX
        for name in ("scores", "left", "right", "base"):
            first, second = (getattr(s, name) for s in (everything, held))
            if second is not None:
                assert_array_equal(first[: held.scores.size], second)
        # Thresholds down to the floor are served, and nothing below it.
        assert tail.holds(scope, float(held.scores[-1]))
        assert not tail.holds(scope, float(everything.scores[held.scores.size]))


def test_a_group_is_held_as_deep_as_its_own_operating_point_needs(only_tails):
    pairs = continuous()
    for group in (0, 1):
        people = np.unique(pairs.images.identity[pairs.images.group == group]).size
        share = pairs.impostors((group, group)).scores.size / pairs.count(
            (group, group)
        )
        assert share >= (1 + _pairs.SPREAD / people**0.5) * FAR_MAX * 0.99
    multiple = 1 + _pairs.SPREAD / 75**0.5  # above DEPTH for so few people
    assert pairs.impostors(None).scores.size / pairs.count(None) == pytest.approx(
        multiple * FAR_MAX, rel=0.05
    )


def test_what_is_expected_is_held_from_the_first_pass(only_tails):
    lowest = float(np.quantile(continuous().impostors(None, sampled=True).scores, 0.96))
    plain, expecting = continuous(), continuous(expected=Expected(lowest=lowest))
    assert not plain.holds(None, lowest)
    for scope in OWN:
        assert expecting.holds(scope, lowest)
        assert expecting.impostors(scope).scores.size < 0.2 * expecting.count(scope)
    # A threshold that accepts too many pairs is left to a sample.
    far_below = continuous(expected=Expected(lowest=0.0))
    assert far_below.floors == plain.floors


@pytest.mark.parametrize("operating_point", ["overall", "worst_group", "group"])
@pytest.mark.parametrize(
    ("mode", "average", "impostors", "sides"),
    [
        ("images", "pair", "all", 1),
        ("identities", "identity", "all", 1),
        ("both", "pair", "same_group", 1),
        ("identities", "identity", "same_group", 2),
    ],
)
def test_a_tail_gives_the_bits_of_everything_held(
    monkeypatch, operating_point, mode, average, impostors, sides
):
    whole, tail = whole_and_tail(monkeypatch, average, impostors, sides=sides)
    scopes = OWN[1:] if operating_point == "group" else OWN
    asked = query([FAR_MAX / 3, FAR_MAX], None, operating_point, scopes)
    resampling = Resampling(mode, "recentered", 40, 9, None)
    tables = [rate_table(pairs, asked, resampling) for pairs in (whole, tail)]
    assert not tables[1].query.sampled
    assert_same_table(*tables)


def four_deviations(pairs, scope, share):
    """Of the share of weight in a sample, where this is the share in all pairs."""
    base = pairs.impostors(scope, sampled=True).base
    base = np.ones(_pairs.SAMPLE) if base is None else base
    n_equal = base.sum() ** 2 / (base**2).sum()  # draws of one weight that vary as much
    return 4 * np.sqrt(share * (1 - share) / n_equal)


@pytest.mark.parametrize("operating_point", ["overall", "group"])
def test_resamples_that_need_more_than_the_tail_are_answered_from_a_sample(
    monkeypatch, operating_point
):
    whole, tail = whole_and_tail(monkeypatch)
    scopes = operating = OWN[1:] if operating_point == "group" else (None,)
    # The data need just what is held, so that about half of all resamples need more.
    level = min((tail.impostors(s).scores.size - 1) / tail.count(s) for s in operating)
    asked = query([level], None, operating_point, scopes)
    resampling = Resampling("identities", "recentered", 40, 9, None)
    exact, found = (rate_table(pairs, asked, resampling) for pairs in (whole, tail))
    assert not exact.query.sampled
    assert found.query.sampled & set(operating)
    for name in ("thresholds", "far", "frr"):
        assert_array_equal(getattr(found.point, name), getattr(exact.point, name))
    twin = twin_of(whole)
    for row, scope in enumerate(scopes):
        near = four_deviations(tail, scope, level)
        assert found.centre.far[row, 0] == pytest.approx(level, abs=near)
        for r in range(4):
            times = resample(tail.images, draw(tail.images, "identities", 9, 0, 40), r)
            at = found.replicates.thresholds[row, 0, r]
            far = float(twin.far(at, oracle_scope(scope), **times))
            # Multiplicities of people vary as the Poisson distribution of mean 1.
            assert far == pytest.approx(level, abs=2 * near)
    assert tail.impostors(None).scores.size < whole.impostors(None).scores.size / 4


@pytest.mark.parametrize("level", [0.1, 0.3])
def test_a_tie_beyond_far_max_is_accepted_or_rejected_as_one(only_tails, level):
    pairs = compare(*hamming(0), far_max=FAR_MAX)
    found, point = point_rates(pairs, query([level], scopes=(None,)))
    assert found.sampled == {None}
    twin = oracle_of_pairs(pairs)
    threshold = point.thresholds[0, 0]
    # Scores are even: the next lower one is shared by more pairs than a sample misses.
    assert threshold == twin.threshold(level)
    far = float(twin.far(threshold))
    near = four_deviations(pairs, None, far)
    assert far + near < level < float(twin.far(threshold - 2)) - near
    assert point.far[0, 0] == pytest.approx(far, abs=near)
    assert point.frr[0, 0] == float(twin.frr(threshold))


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("place", ["just below", "far below"])
def test_a_given_threshold_below_the_tail_is_answered_from_a_sample(
    monkeypatch, place, scope
):
    whole, tail = whole_and_tail(monkeypatch)
    everything, n_held = whole.impostors(scope), tail.impostors(scope).scores.size
    rank = n_held + 20 if place == "just below" else everything.scores.size // 2
    below = float(everything.scores[rank])
    asked = query(None, [below], scopes=(scope,))
    found, point = point_rates(tail, asked)
    assert found.sampled == {scope}
    twin, group = twin_of(whole), oracle_scope(scope)
    far = float(twin.far(below, group))
    near = four_deviations(tail, scope, far)
    assert point.far[0, 0] == pytest.approx(far, abs=near)
    if scope in OWN:
        frr = float(twin.frr(below, group))
        assert point.frr[0, 0] == pytest.approx(frr, rel=1e-12)
    assert tail.impostors(scope).scores.size == n_held


def test_an_error_that_travels_between_processes_keeps_what_it_says():
    import pickle

    assert pickle.loads(pickle.dumps(TailTooShortError((0, 1)))).scope == (0, 1)


# ---- the sample ----------------------------------------------------------------------


@designs
def test_a_sample_draws_all_pairs_of_its_scope_alike_and_no_other(
    monkeypatch, sides, average, impostors
):
    monkeypatch.setattr(_pairs, "SAMPLE", 20000)
    options = {"sides": sides, "groups": "unknown", "n_identities": 12}
    pairs = embedded(3, average, impostors, **options)
    scores = pairs.compared.vectors @ pairs.compared.vectors.T
    for scope in SCOPES:
        drawn, whole = pairs.impostors(scope, sampled=True), pairs.impostors(scope)
        assert (drawn.scores.size, drawn.complete) == (20000, True)
        assert_array_equal(drawn.scores, scores[drawn.left, drawn.right])
        assert (np.diff(drawn.scores) <= 0).all()
        counts = [
            np.bincount(
                np.minimum(s.left, s.right) * 100 + np.maximum(s.left, s.right),
                minlength=10**4,
            )
            for s in (drawn, whole)
        ]
        assert counts[1].max() == 1
        # Each count is about Poisson: five standard deviations off is a wrong weight.
        mean = 20000 / whole.scores.size
        assert np.abs(counts[0] - mean * counts[1]).max() < 5 * np.sqrt(mean) + 1


def test_a_scope_without_pairs_has_an_empty_sample(only_tails):
    images = make_images(0, groups="constant", n_identities=2)
    pairs = compare(images, make_vectors(images))
    assert pairs.count((0, 0)) == 0
    assert pairs.impostors((0, 0), sampled=True).scores.size == 0
