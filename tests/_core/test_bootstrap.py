"""Facts of point values, centres and replicates of a query."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skfairfr._core import _pairs
from skfairfr._core._bootstrap import (
    Query,
    far_in,
    point_rates,
    rate_table,
    v_statistic_frr,
)
from skfairfr._core._resampling import Images, Resampling, Weights, draw
from tests._core.cases import (
    compare,
    embedded,
    hamming,
    list_pairs,
    oracle_of_pairs,
    oracle_scope,
    resample,
)

OWN = (None, (0, 0), (1, 1))
LEVELS = np.array([0.05, 0.25])
NAMES = ("thresholds", "far", "frr")
AT_LEVELS = Query(LEVELS, None, "overall", OWN, (0, 1))
AT_THRESHOLDS = Query(None, np.array([1.0, 4.0]), "overall", OWN, (0, 1))


def resampling(mode, method="recentered", n_resamples=20, entropy=3):
    return Resampling(mode, method, n_resamples, entropy, None)


@pytest.mark.parametrize(
    ("mode", "method", "options"),
    [
        ("identities", "recentered", {}),
        ("images", "offdiagonal", {}),
        ("both", "offdiagonal", {}),
        ("images", "recentered", {"sides": 2}),
        ("both", "multiplicative", {"sides": 2}),
    ],
)
@pytest.mark.parametrize("query", [AT_LEVELS, AT_THRESHOLDS])
def test_without_copies_replicates_are_centred_on_the_data(
    query, mode, method, options
):
    pairs = embedded(1, "identity", **options)
    table = rate_table(pairs, query, resampling(mode, method))
    for name in NAMES:
        assert_array_equal(getattr(table.centre, name), getattr(table.point, name))


@pytest.mark.parametrize("method", ["naive", "recentered", "multiplicative"])
@pytest.mark.parametrize("mode", ["images", "both"])
def test_with_copies_frr_is_centred_on_its_v_statistic_and_far_on_the_data(
    mode, method
):
    pairs = embedded(1)
    table = rate_table(pairs, AT_LEVELS, resampling(mode, method))
    expected = v_statistic_frr(pairs, OWN, table.point.thresholds)
    assert_array_equal(table.centre.frr, expected)
    assert (table.centre.frr < table.point.frr).any()
    assert_array_equal(table.centre.far, table.point.far)


@pytest.mark.parametrize("mode", ["images", "both"])
def test_offdiagonal_leaves_the_copies_out_and_stays_between_zero_and_one(mode):
    pairs = embedded(1, "identity")
    table = rate_table(pairs, AT_THRESHOLDS, resampling(mode, "offdiagonal"))
    twin, weights = oracle_of_pairs(pairs), draw(pairs.images, mode, 3, 0, 20)
    for (s, x, r), frr in np.ndenumerate(table.replicates.frr):
        times = resample(pairs.images, weights, r)
        t, group = AT_THRESHOLDS.thresholds[x], oracle_scope(OWN[s])
        assert_allclose(frr, float(twin.frr(t, group, diagonal=False, **times)))
        assert not frr > 1


def test_without_a_genuine_pair_the_v_statistic_is_undefined():
    found = v_statistic_frr(embedded(0, most=1), OWN, np.full((3, 1), 9.0))
    assert np.isnan(found).all()


@pytest.fixture
def tail(monkeypatch):
    """Pairs of which those of large scores are held."""
    for name, size in [("WHOLE", 1), ("WHOLE_GROUP", 1), ("SAMPLE", 2**14)]:
        monkeypatch.setattr(_pairs, name, size)
    return compare(*hamming(0), far_max=0.02)


def test_a_threshold_that_is_undefined_needs_no_pairs(tail):
    found = far_in(tail, None, np.full((2, 1), np.nan), Weights())
    assert np.isnan(found).all()


def test_one_level_beyond_the_tail_is_answered_from_a_sample(tail):
    levels = np.array([0.01, 0.9])
    query = Query(levels, None, "overall", (None,), (0, 1), wanted=("frr",))
    assert point_rates(tail, query)[0].sampled == {None}
    assert point_rates(tail, replace(query, levels=levels[:1]))[0].sampled == set()


def test_the_data_stay_exact_where_resamples_alone_need_a_sample(tail):
    level = (len(tail.impostors(None).scores) - 1) / tail.count(None)
    query = Query(np.array([level]), None, "overall", (None,), (0, 1))
    table = rate_table(tail, query, resampling("identities"))
    exact, drawn = query.sampled, table.query.sampled
    assert (exact, drawn) == (set(), {None})
    for found, sampled in ((table.point, exact), (table.centre, drawn)):
        _, expected = point_rates(tail, replace(query, sampled=sampled))
        assert_array_equal(np.stack(found), np.stack(expected))
    assert table.point.far != table.centre.far


def test_values_and_centre_of_a_sampled_scope_are_those_of_its_sample(tail):
    query = Query(None, np.array([-4.0]), "overall", (None,), (0, 1))
    table = rate_table(tail, query, resampling("identities"))
    assert table.query.sampled == {None}
    drawn = tail.impostors(None, sampled=True)
    accepted = drawn.scores >= -4
    for rates_of in (table.point, table.centre):
        assert rates_of.far[0, 0] == accepted.mean()
    times = draw(tail.images, "identities", 3, 0, 20).identity.astype(float)
    ends = [times[tail.images.identity[end]] for end in (drawn.left, drawn.right)]
    weight = ends[0] * ends[1]
    expected = weight[accepted].sum(axis=0) / weight.sum(axis=0)
    assert_allclose(table.replicates.far[0, 0], expected, rtol=1e-12)


def test_a_sum_of_rounded_weights_that_equals_its_level_does_not_exceed_it():
    images = Images(np.arange(2, dtype=np.int32), np.full(2, -1), None, 2, 0)
    scores, zero = np.arange(10.0)[::-1], np.zeros(10, dtype=np.int32)
    groups = (np.full(10, -1),) * 2
    pairs = list_pairs(scores, zero, zero + 1, groups, images, "identity", "all")
    assert np.cumsum(pairs.impostors(None).base)[2] > 0.3  # 0.30000000000000004
    query = Query(np.array([0.3]), None, "overall", (None,), ())
    _, point = point_rates(pairs, query)
    assert point.thresholds.item() == np.nextafter(scores[3], np.inf)
