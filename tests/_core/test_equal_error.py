"""Facts of the equal error rate: the rates are closest there among all scores."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from skfairfr._core import _equal_error, _pair_sets, _running_sums
from skfairfr._core._bootstrap import Resampling, copies_rejected
from skfairfr._core._equal_error import (
    equal_error_in,
    equal_error_rates,
    where_equal,
)
from skfairfr._core._resampling import MODES, draw
from tests._core.cases import (
    blocks_of,
    compare,
    embedded,
    hamming,
    list_pairs,
    listed,
    oracle_of_listed,
    oracle_of_pairs,
    oracle_scope,
    resample,
)
from tests.covering import daily_pairwise

OWN = (None, (0, 0), (1, 1))


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

    return where_equal(rates_at, candidates, n_columns)


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


@pytest.mark.parametrize("n", [2, 3, 16, 17, 18, 257, 1000])
def test_columns_are_searched_apart(n):
    far, frr = polyline(0, n, 5)
    rate, threshold = crossings_of(far, frr, 5)
    for c in range(5):
        alone = crossings_of(far[:, c : c + 1], frr[:, c : c + 1])
        assert (rate[c], threshold[c]) == (alone[0][0], alone[1][0])


@pytest.mark.parametrize("threshold", [0.25, -1.0])
def test_where_all_scores_are_the_same_it_is_one_half(threshold):
    _, (scores, *others) = listed(3, 60)
    pairs = list_pairs(np.full(scores.shape, threshold), *others)
    found = equal_error_rates(pairs, None, Resampling("both", "naive", 3, 0, None))
    assert (found.value, found.threshold) == (0.5, threshold)
    assert (found.replicates == 0.5).all()


def test_undefined_rates_never_meet():
    far, frr = polyline(0, 40, 2)
    frr[:, 0] = np.nan
    rate, _ = crossings_of(far, frr, 2)
    assert np.isnan(rate).tolist() == [True, False]


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


def test_offdiagonal_replicates_leave_copies_out():
    pairs = compare(*hamming(1, n_identities=8, most=4))
    asked = Resampling("images", "offdiagonal", 4, 2, None)
    found = equal_error_rates(pairs, None, asked)
    twin, weights = oracle_of_pairs(pairs), draw(pairs.images, "images", 2, 0, 4)
    for r, rate in enumerate(found.replicates):
        times = {**resample(pairs.images, weights, r)}
        expected, _ = brute_force(
            twin,
            None,
            lambda t, group, v, w: twin.frr(t, group, v, w, diagonal=False),
            **times,
        )
        assert rate == pytest.approx(expected, abs=1e-9)
    assert found.centre == found.value


@pytest.mark.parametrize("mode", ["images", "both"])
def test_the_centre_is_where_far_meets_the_v_statistic(mode):
    pairs = compare(*hamming(1, n_identities=8, most=4), "identity")
    found = equal_error_rates(pairs, None, Resampling(mode, "recentered", 2, 0, None))
    twin = oracle_of_pairs(pairs)
    expected, _ = brute_force(twin, None, twin.v_statistic_frr)
    assert found.centre == pytest.approx(expected, abs=1e-9)
    assert found.centre < found.value


@pytest.mark.parametrize("mode", ["images", "both"])
@pytest.mark.parametrize("seed", [0, 1, 3])
def test_copies_are_rejected_where_an_image_is_unlike_itself(seed, mode):
    """Inner products of rows of unlike lengths: a short one's with itself is small."""
    pairs = embedded(seed, "identity", far_max=0.9, n_identities=8, most=4)
    found = equal_error_rates(pairs, None, Resampling(mode, "recentered", 3, 0, None))
    twin, weights = oracle_of_pairs(pairs), draw(pairs.images, mode, 0, 0, 3)
    expected, threshold = brute_force(twin, None, twin.v_statistic_frr)
    assert copies_rejected(pairs, threshold)
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


def test_of_few_people_the_guess_of_where_rates_meet_is_everywhere():
    images, _ = hamming(0, n_identities=4, most=60)
    X = np.random.default_rng(0).choice([-1, 1], (images.identity.size, 64))
    pairs = compare(images, X.astype(np.float32))
    found = equal_error_rates(
        pairs, None, Resampling("identities", "naive", 6, 0, None)
    )
    twin, weights = oracle_of_pairs(pairs), draw(pairs.images, "identities", 0, 0, 6)
    for r, rate in enumerate(found.replicates[:2]):
        times = resample(pairs.images, weights, r)
        expected, _ = brute_force(twin, None, twin.frr, **times)
        assert_allclose(rate, expected, atol=1e-9)


def test_identities_and_listed_pairs_are_centred_on_the_data():
    pairs = embedded(1)
    found = equal_error_rates(
        pairs, None, Resampling("identities", "naive", 2, 0, None)
    )
    assert found.centre == found.value
    pairs, arguments = listed(3, 150)
    found = equal_error_rates(pairs, None, Resampling("both", "naive", 2, 0, None))
    assert found.centre == found.value
    twin = oracle_of_listed(arguments)
    assert found.value == pytest.approx(brute_force(twin, None, twin.frr)[0], abs=1e-9)


@pytest.mark.parametrize("step", [1, 2, 7, 50])
@pytest.mark.parametrize("mode", MODES)
def test_rows_change_no_bit(mode, step, monkeypatch):
    data = hamming(2, n_identities=20, most=5)
    asked = Resampling(mode, "recentered", 12, 1, None)
    for scope in OWN:
        whole = equal_error_rates(compare(*data), scope, asked)
        monkeypatch.setattr(_running_sums, "LEAST", step)
        found = equal_error_rates(compare(*data), scope, asked)
        monkeypatch.undo()
        assert_array_equal(found.replicates, whole.replicates)
        assert (found.value, found.centre) == (whole.value, whole.centre)
        assert found.threshold == whole.threshold


@pytest.mark.parametrize("span", [(0, 1), (30, 31), (60, 200), (10**6, 10**6)])
@pytest.mark.parametrize("step", [1, 3])
def test_a_wrong_guess_of_where_rates_meet_changes_no_bit(span, step, monkeypatch):
    monkeypatch.setattr(_running_sums, "LEAST", step)
    data = hamming(2, n_identities=20, most=5)
    for scope in OWN:
        pairs = compare(*data)
        span = tuple(min(place, len(pairs.impostors(scope))) for place in span)
        weights = draw(pairs.images, "identities", 1, 0, 12)
        asked = (pairs, scope, False, True, weights)
        for found, whole in zip(
            equal_error_in(*asked, span), equal_error_in(*asked), strict=True
        ):
            assert_array_equal(found, whole)


@pytest.mark.parametrize("step", [1, 3])
@pytest.mark.parametrize("average", ["pair", "identity"])
def test_with_many_rows_it_is_that_of_the_oracle(average, step, monkeypatch):
    monkeypatch.setattr(_running_sums, "LEAST", step)
    pairs = compare(*hamming(1, n_identities=8, most=4), average)
    asked = Resampling("identities", "naive", 6, 2, None)
    twin, weights = oracle_of_pairs(pairs), draw(pairs.images, "identities", 2, 0, 6)
    for scope in OWN:
        found = equal_error_rates(pairs, scope, asked)
        for r, rate in enumerate(found.replicates):
            times = resample(pairs.images, weights, r)
            expected, _ = brute_force(twin, oracle_scope(scope), twin.frr, **times)
            assert_allclose(rate, expected, atol=1e-9)


def test_a_tail_that_ends_before_the_rates_meet_is_deepened(monkeypatch):
    images, vectors = hamming(1)
    asked = Resampling("identities", "naive", 20, 0, None)
    whole = equal_error_rates(compare(images, vectors / 8), None, asked)
    for name in ("WHOLE", "WHOLE_GROUP"):
        monkeypatch.setattr(_pair_sets, name, 1)
    tail = compare(images, vectors / 8, far_max=0.001)
    tail.depths.equal_error[:] = True
    found = equal_error_rates(tail, None, asked)
    assert not found.sampled
    assert not tail.is_whole(None)
    assert_array_equal(found.replicates, whole.replicates)
    assert (found.value, found.threshold) == (whole.value, whole.threshold)


def test_blocks_change_no_bit(monkeypatch):
    pairs, asked = embedded(1), Resampling("both", "naive", 11, 0, None)
    whole = equal_error_rates(pairs, None, asked).replicates
    for size in (4, 11):
        blocks = blocks_of(size)
        pairs.common.clear()
        monkeypatch.setattr(_equal_error, "blocks_of_resamples", blocks)
        assert_array_equal(equal_error_rates(pairs, None, asked).replicates, whole)


def test_from_a_histogram_and_a_sample_it_is_close_to_the_truth(monkeypatch):
    images, vectors = hamming(1)
    vectors = vectors / 8  # unit rows, but dot products stay exact
    asked = Resampling("identities", "naive", 20, 0, None)
    whole = equal_error_rates(compare(images, vectors), None, asked)
    for name, size in [("WHOLE", 1), ("WHOLE_GROUP", 1), ("SAMPLE", 2**15)]:
        monkeypatch.setattr(_pair_sets, name, size)
    found = equal_error_rates(compare(images, vectors, far_max=0.01), None, asked)
    assert found.sampled
    assert not whole.sampled
    assert found.value == pytest.approx(whole.value, abs=1e-3)
    assert found.centre == pytest.approx(whole.value, abs=0.01)
    assert_allclose(found.replicates, whole.replicates, atol=0.015)
