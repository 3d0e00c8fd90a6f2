"""Facts of the equal error rate: the rates are closest there among all scores."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from skfairfr._core import _bootstrap, _pairs
from skfairfr._core._bootstrap import closest_rates, equal_error_in, equal_error_rates
from skfairfr._core._resampling import MODES, Resampling, Weights, draw
from tests._core.cases import (
    compare,
    embedded,
    hamming,
    list_pairs,
    listed,
    oracle_of_pairs,
    oracle_scope,
    resample,
)
from tests.covering import daily_pairwise

OWN = (None, (0, 0), (1, 1))


@pytest.fixture(params=[2**14, 3], ids=["all scores", "few scores first"])
def tried_first(request, monkeypatch):
    monkeypatch.setattr(_bootstrap, "SOME", request.param)


def polyline(seed, n, n_columns=1):
    """FAR and FRR (n, n_columns) along descending thresholds, with steps."""
    rng = np.random.default_rng(seed)
    far, frr = (
        np.sort(rng.integers(0, 20, (n, n_columns)) / 20, axis=0) for _ in range(2)
    )
    far[0], frr[0], far[-1], frr[-1] = 0, 0, 1, 1
    return far, 1 - frr


def crossings_of(far, frr, n_columns=1):
    candidates = np.concatenate([[np.inf], -np.arange(1.0, len(far))])

    def rates_at(thresholds):
        rows = np.searchsorted(-candidates, -thresholds)
        return tuple(np.take_along_axis(a, rows, axis=0) for a in (far, frr))

    return closest_rates(rates_at, candidates, n_columns)


def closest(far, frr):
    """Mean of the rates where they are closest, at the lowest such threshold."""
    gap = np.abs(far - frr)
    place = int(np.flatnonzero(gap <= gap.min() + 1e-12)[-1])
    return (far[place] + frr[place]) / 2, place


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 300))
def test_bisection_finds_where_the_rates_are_closest(seed, n):
    far, frr = polyline(seed, n)
    rate, threshold = crossings_of(far, frr)
    expected, _ = closest(far[:, 0], frr[:, 0])
    assert rate[0] == pytest.approx(expected, abs=1e-9)
    place = 0 if np.isinf(threshold[0]) else int(-threshold[0])
    assert (far[place, 0] + frr[place, 0]) / 2 == rate[0]


@pytest.mark.parametrize("threshold", [0.25, -1.0])
def test_where_all_scores_are_the_same_it_is_one_half(threshold):
    _, (scores, *others) = listed(3, 60)
    pairs = list_pairs(np.full(scores.shape, threshold), *others)
    found = equal_error_rates(pairs, None, Resampling("both", "naive", 3, 0, None))
    assert (found.value, found.threshold) == (0.5, threshold)
    assert (found.replicates == 0.5).all()


def brute_force(twin, group, frr_at, **times):
    """Rate and threshold from FAR and FRR at every distinct score, by the oracle."""
    scope = twin.scope(group)
    scores = {p.score for p, _ in [*scope.impostor, *scope.genuine]}
    candidates = [np.inf, *sorted(scores, reverse=True)]
    far = np.array([float(twin.far(t, group, **times)) for t in candidates])
    frr = np.array([float(frr_at(t, group, **times)) for t in candidates])
    if np.isnan(far).any() or np.isnan(frr).any():
        return np.nan, np.nan
    rate, place = closest(far, frr)
    return rate, candidates[place]


@pytest.mark.usefixtures("tried_first")
@pytest.mark.parametrize("average", ["pair", "identity"])
@pytest.mark.parametrize("scope", OWN)
def test_value_and_threshold_are_those_of_all_scores(scope, average):
    pairs = embedded(1, average)
    found = equal_error_rates(pairs, scope, Resampling("images", "naive", 2, 0, None))
    twin = oracle_of_pairs(pairs)
    rate, threshold = brute_force(twin, oracle_scope(scope), twin.frr)
    assert found.value == pytest.approx(rate, abs=1e-9)
    assert found.threshold == threshold
    assert not found.sampled


@pytest.mark.usefixtures("tried_first")
@pytest.mark.parametrize(
    ("scope", "mode", "average"),
    daily_pairwise(product(OWN, MODES, ("pair", "identity"))),
)
def test_replicates_are_those_of_each_resample_s_weights(scope, mode, average):
    # Copies of one image are accepted wherever the scores of other pairs cross.
    pairs = compare(*hamming(1, n_identities=8, most=4), average)
    found = equal_error_rates(pairs, scope, Resampling(mode, "naive", 4, 2, None))
    twin, weights = oracle_of_pairs(pairs), draw(pairs.images, mode, 2, 0, 4)
    for r, rate in enumerate(found.replicates):
        times = resample(pairs.images, weights, r)
        expected, _ = brute_force(twin, oracle_scope(scope), twin.frr, **times)
        assert_allclose(rate, expected, atol=1e-9)


@pytest.mark.parametrize("mode", ["images", "both"])
def test_the_centre_is_where_far_meets_the_v_statistic(mode):
    pairs = compare(*hamming(1, n_identities=8, most=4), "identity")
    found = equal_error_rates(pairs, None, Resampling(mode, "recentered", 2, 0, None))
    twin = oracle_of_pairs(pairs)
    expected, _ = brute_force(twin, None, twin.v_statistic_frr)
    assert found.centre == pytest.approx(expected, abs=1e-9)
    assert found.centre < found.value
    of_people = Resampling("identities", "recentered", 2, 0, None)
    found = equal_error_rates(pairs, None, of_people)
    assert found.centre == found.value


@pytest.mark.parametrize("mode", ["images", "both"])
@pytest.mark.parametrize("seed", [0, 1])
def test_copies_are_rejected_where_an_image_is_unlike_itself(seed, mode):
    """Inner products of rows of unlike lengths: a short one's with itself is small."""
    pairs = embedded(seed, "identity", far_max=0.9, n_identities=8, most=4)
    found = equal_error_rates(pairs, None, Resampling(mode, "recentered", 3, 0, None))
    twin, weights = oracle_of_pairs(pairs), draw(pairs.images, mode, 0, 0, 3)
    expected, threshold = brute_force(twin, None, twin.v_statistic_frr)
    assert (pairs.own_scores < threshold).any()
    assert found.centre == pytest.approx(expected, abs=1e-9)
    for r, rate in enumerate(found.replicates):
        times = resample(pairs.images, weights, r)
        expected, _ = brute_force(twin, None, twin.frr, **times)
        assert rate == pytest.approx(expected, abs=1e-9)


def test_resamples_without_pairs_are_undefined_and_hold_up_no_others():
    """Of three people in a group, the same one is drawn time and again."""
    pairs = embedded(2, far_max=0.9, n_identities=8, most=4)
    asked = Resampling("identities", "naive", 20, 0, None)
    found = equal_error_rates(pairs, (0, 0), asked)
    twin, weights = oracle_of_pairs(pairs), draw(pairs.images, "identities", 0, 0, 20)
    expected = [
        brute_force(twin, 0, twin.frr, **resample(pairs.images, weights, r))[0]
        for r in range(20)
    ]
    assert 0 < np.isnan(expected).sum() < 10
    assert_allclose(found.replicates, expected, atol=1e-9)


@pytest.fixture
def sizes_held(monkeypatch):
    """A function that sets how much of a scope is held whole, and how much is drawn."""

    def hold(whole, sample):
        for name, size in [
            ("WHOLE", whole),
            ("WHOLE_GROUP", whole),
            ("SAMPLE", sample),
        ]:
            monkeypatch.setattr(_pairs, name, size)

    return hold


def without_ties(far_max, **options):
    """Pairs whose scores are all different, as of almost equal unit rows."""
    images, vectors = hamming(1, **options)
    noise = np.random.default_rng(0).normal(0, 1e-3, vectors.shape)
    vectors = (vectors / 8 + noise).astype(np.float32)
    return compare(images, vectors, far_max=far_max)


def test_a_tail_in_which_all_resamples_meet_gives_the_bits_of_all_pairs(sizes_held):
    asked = Resampling("identities", "naive", 20, 0, None)
    whole = without_ties(0.15)
    sizes_held(1, 2**15)
    tail = without_ties(0.15)
    assert not tail.impostors(None).complete
    found, expected = (equal_error_rates(p, None, asked) for p in (tail, whole))
    assert not found.sampled
    assert_array_equal(found.replicates, expected.replicates)
    assert (found.value, found.threshold) == (expected.value, expected.threshold)


@pytest.mark.parametrize("meets", ["neither", "the data alone"])
def test_beyond_the_tail_a_sample_answers_and_is_marked(meets, sizes_held):
    asked = Resampling("identities", "naive", 20, 0, None)
    expected = equal_error_rates(without_ties(0.02), None, asked)
    sizes_held(1, 2**15)
    tail = without_ties(0.001)
    if meets == "the data alone":
        tail.floors[None] = np.float32(expected.threshold - 1e-3)
        tail.compared.hold(tail.images.group, tail.floors[None], np.empty(0))
        in_data, _ = equal_error_in(tail, None, False, True, Weights())
        assert in_data == expected.value
    found = equal_error_rates(tail, None, asked)
    assert found.sampled
    # Four standard deviations of the FAR of independent draws, at either threshold.
    share = expected.value
    near = 4 * np.sqrt(share * (1 - share) / 2**15)
    assert found.value == pytest.approx(share, abs=near)
    assert_allclose(found.replicates, expected.replicates, atol=2 * near)
