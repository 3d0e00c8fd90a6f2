"""Facts of point values, centres and replicates of a query."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skfairfr._core import _pairs
from skfairfr._core._bootstrap import Query, point_rates, rate_table, v_statistic_frr
from skfairfr._core._resampling import Images, Resampling, draw
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


@pytest.mark.parametrize("average", ["pair", "identity"])
@pytest.mark.parametrize("mode", ["images", "both", "identities"])
def test_the_centre_is_the_mean_of_replicates_at_a_given_threshold(mode, average):
    images, vectors = hamming(0)
    pairs = compare(images, vectors, average)
    query = Query(None, np.array([8.0, 16.0]), "overall", (None,), (0, 1))
    table = rate_table(pairs, query, resampling(mode, n_resamples=400))
    for name in ("far", "frr"):
        values = getattr(table.replicates, name)[0]
        error = values.std(axis=-1) / np.sqrt(400)
        # Exact for images; totals that vary over people leave a bias of order 1/K.
        slack = 5 * error + (0 if mode == "images" else 0.03) * values.mean(axis=-1)
        distance = np.abs(values.mean(axis=-1) - getattr(table.centre, name)[0])
        assert (distance < slack).all()


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


def test_values_and_centre_of_a_sampled_scope_are_those_of_its_sample(monkeypatch):
    for name, size in [("WHOLE", 1), ("WHOLE_GROUP", 1), ("SAMPLE", 2**14)]:
        monkeypatch.setattr(_pairs, name, size)
    pairs = compare(*hamming(0), far_max=0.02)
    query = Query(None, np.array([-4.0]), "overall", (None,), (0, 1))
    table = rate_table(pairs, query, resampling("identities"))
    assert table.query.sampled == {None}
    drawn = pairs.impostors(None, sampled=True)
    accepted = drawn.scores >= -4
    for rates_of in (table.point, table.centre):
        assert rates_of.far[0, 0] == accepted.mean()
    times = draw(pairs.images, "identities", 3, 0, 20).identity.astype(float)
    ends = [times[pairs.images.identity[end]] for end in (drawn.left, drawn.right)]
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
