"""Facts of sorted pairs: their order, thresholds at levels and accepted weight."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal

from skfairfr._core._pair_sequences import (
    PairSequence,
    crossings,
    sort_pairs,
    split_by_groups,
    weight_before,
)
from skfairfr._core._rates import count_at_least
from tests._core.cases import make_images

FORMATS = [("uint8", False), ("uint8", True), ("float64", False), ("float64", True)]


def make_sequence(seed, n=40, dtype="uint8", with_base=False, complete=True):
    """A sequence with ties, weights of three resamples and the units of its pairs."""
    rng = np.random.default_rng(seed)
    scores = np.sort(rng.integers(-6, 7, n) / 4)[::-1].astype(np.float32)
    units = tuple(rng.integers(0, 5, (2, n)).astype(np.int32))
    base = rng.integers(1, 9, n) / 8 if with_base else None
    unit = rng.integers(0, 4, (5, 3)).astype(dtype)
    return PairSequence(scores, *units, base, complete), (unit, unit), units


def pair_weights(sequence, weights, units):
    """Weight of every pair in every resample, (n_pairs, n_resamples)."""
    product = weights[0][units[0]].astype(float) * weights[1][units[1]]
    return product if sequence.base is None else product * sequence.base[:, None]


def test_sorted_pairs_stay_together():
    scores = np.array([0.5, 2, -1, 2], dtype=np.float32)
    images = np.arange(4, dtype=np.int32)
    held = PairSequence(*sort_pairs(scores, images, 10 + images))
    assert held.scores.tolist() == [2, 2, 0.5, -1]
    assert held.left.tolist() == [1, 3, 0, 2]
    assert_array_equal(held.right, held.left + 10)
    assert held.left.dtype == held.right.dtype == np.int32
    assert held.complete


@pytest.mark.parametrize("with_base", [False, True])
def test_sums_of_base_weights(with_base):
    held, _, _ = make_sequence(0, with_base=with_base)
    base = held.base if with_base else np.ones(40)
    places = np.array([[0, 40], [7, 3]])
    expected = [[base[:p].sum() for p in row] for row in places]
    assert_array_equal(held.weight_before(places), expected)


def test_taking_pairs_keeps_what_belongs_together():
    held, _, _ = make_sequence(0, with_base=True, complete=False)
    few = held.take(np.arange(40) % 3 == 0)
    assert_array_equal(few.base, held.base[::3])
    assert_array_equal(few.left, held.left[::3])
    assert not few.complete
    assert held.with_base(None).take([1, 2]).base is None


def test_identities_are_those_of_the_images_also_after_taking_some():
    images = make_images(0)
    held, _, _ = make_sequence(0)
    for some in (held, held.take(np.arange(5, 20)), held.with_base(None)):
        for _ in range(2):  # remembered from the first time
            left, right = some.identities(images)
            assert_array_equal(left, images.identity[some.left])
            assert_array_equal(right, images.identity[some.right])


def test_positions_count_the_accepted():
    held, _, _ = make_sequence(0)
    thresholds = np.array([-9, -0.5, 0, 0.1, np.inf])
    assert count_at_least(held.scores, thresholds).tolist() == [
        sum(s >= t for s in held.scores) for t in thresholds
    ]


@pytest.mark.parametrize(("dtype", "with_base"), FORMATS)
@pytest.mark.parametrize("seed", range(3))
def test_threshold_is_the_infimum_of_those_that_meet_the_level(seed, dtype, with_base):
    held, weights, units = make_sequence(seed, 40, dtype, with_base)
    weight = pair_weights(held, weights, units)
    total = weight.sum(axis=0)
    levels = np.array([0.0, 0.1, 0.3, 0.9])
    thresholds, short = crossings(held, weights, units, levels, total)
    assert not short
    for level, row in zip(levels, thresholds, strict=True):
        for r, t in enumerate(row):
            assert weight[held.scores >= t, r].sum() <= level * total[r] * (1 + 1e-9)
            below = np.nextafter(np.float32(t), np.float32(-np.inf))
            assert weight[held.scores >= below, r].sum() > level * total[r]


def test_the_whole_weight_exceeds_no_level_of_one():
    held, weights, units = make_sequence(0)
    total = pair_weights(held, weights, units).sum(axis=0)
    thresholds, short = crossings(held, weights, units, np.ones(1), total)
    assert (thresholds == -np.inf).all()
    assert not short


def test_a_sum_of_rounded_weights_that_equals_its_level_does_not_exceed_it():
    scores, zero = np.arange(10.0)[::-1], np.zeros(10, dtype=np.int32)
    held = PairSequence(scores, zero, zero, np.full(10, 0.1))
    one = np.ones((1, 1), dtype=np.uint8)
    assert np.cumsum(held.base)[2] > 0.3  # 0.30000000000000004
    levels, total = np.array([0.3]), np.ones(1)
    thresholds, _ = crossings(held, (one, one), (zero, zero), levels, total)
    assert thresholds == np.nextafter(scores[3], np.inf)


def test_a_tail_that_does_not_reach_a_level_is_short():
    tail, weights, units = make_sequence(0, complete=False)
    total = pair_weights(tail, weights, units).sum(axis=0) * 10
    assert not crossings(tail, weights, units, np.array([0.05]), total)[1]
    assert crossings(tail, weights, units, np.array([0.05, 0.1]), total)[1]


def test_a_resample_without_weight_has_no_threshold_and_is_not_short():
    tail, weights, units = make_sequence(0, complete=False)
    weights = tuple(w * np.array([1, 0, 1], dtype=w.dtype) for w in weights)
    total = pair_weights(tail, weights, units).sum(axis=0) * 10
    thresholds, short = crossings(tail, weights, units, np.array([0.05]), total)
    assert_array_equal(np.isnan(thresholds), [[False, True, False]])
    assert not short


def test_no_pairs_but_weight_elsewhere_is_short_only_in_a_tail():
    held, weights, units = make_sequence(0, n=0)
    levels, total = np.array([0.5]), np.ones(3)
    assert (crossings(held, weights, units, levels, total)[0] == -np.inf).all()
    tail, _, _ = make_sequence(0, n=0, complete=False)
    assert crossings(tail, weights, units, levels, total)[1]


@pytest.mark.parametrize(("dtype", "with_base"), FORMATS)
def test_accepted_weight_is_that_of_a_loop_in_any_order_of_levels(dtype, with_base):
    held, weights, units = make_sequence(1, 40, dtype, with_base)
    weight = pair_weights(held, weights, units)
    thresholds = np.random.default_rng(0).permuted(
        np.array([[-9, 0.25, 0.3, 1, np.inf, -np.inf]] * 3).T, axis=0
    )
    found = weight_before(held, weights, units, count_at_least(held.scores, thresholds))
    for place, t in np.ndenumerate(thresholds):
        assert found[place] == weight[held.scores >= t, place[1]].sum()


def test_weight_before_any_positions():
    held, weights, units = make_sequence(2, with_base=True)
    weight = pair_weights(held, weights, units)
    positions = np.array([[40, 0, 7], [3, 40, 7], [20, 1, 0]])
    expected = [[weight[:p, r].sum() for r, p in enumerate(row)] for row in positions]
    assert_array_equal(weight_before(held, weights, units, positions), expected)


@pytest.mark.parametrize("n_groups", [1, 3])
@pytest.mark.parametrize(
    ("across", "ordered"), [(False, False), (True, False), (True, True)]
)
def test_pairs_split_by_their_groups_keep_their_order(n_groups, across, ordered):
    rng = np.random.default_rng(n_groups)
    group = rng.integers(-1, n_groups, 40)
    left, right = rng.integers(0, 40, (2, 200)).astype(np.int32)
    scores = np.sort(rng.random(200).astype(np.float32))[::-1].copy()
    *columns, bounds = split_by_groups(
        scores, left, right, group, n_groups, across, ordered
    )
    cells = [(g, h) for g in range(n_groups) for h in range(n_groups)]
    for c, (g, h) in enumerate(cells if across else [(g, g) for g in range(n_groups)]):
        wanted = [(g, h)] if ordered or g == h else [(g, h), (h, g)]
        rows = [p for p in range(200) if (group[left[p]], group[right[p]]) in wanted]
        rows = rows if ordered or g <= h else []
        run = slice(bounds[c], bounds[c + 1])
        for column, whole in zip(columns, (scores, left, right), strict=True):
            assert_array_equal(column[run], whole[rows])


# ---- the radix sort, against numpy's stable argsort ----------------------------------


SPECIAL = np.array([0.0, -0.0, 1e-45, -1e-45, 3e38, -3e38, np.inf, -np.inf, 1.0, -1.0])


def assert_sorted_as_by_numpy(scores):
    left = np.arange(scores.size, dtype=np.int32)
    right = np.arange(scores.size, dtype=np.int32)[::-1].copy()
    order = np.argsort(-scores, kind="stable")
    got = sort_pairs(scores, left, right)
    for found, expected in zip(got, (scores, left, right), strict=True):
        assert_array_equal(found, expected[order])
        assert found.dtype == expected.dtype


@given(
    hnp.arrays(
        st.sampled_from([np.float32, np.float64]),
        st.integers(0, 200),
        elements=st.floats(width=32, allow_nan=False) | st.sampled_from([-1.0, 0.5]),
    )
)
def test_any_scores(scores):
    assert_sorted_as_by_numpy(scores)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_special_values_and_ties(dtype):
    assert_sorted_as_by_numpy(np.tile(SPECIAL, 7).astype(dtype))


def test_many_scores_of_a_narrow_range():
    rng = np.random.default_rng(0)
    assert_sorted_as_by_numpy((0.3 + 0.01 * rng.random(50_000)).astype(np.float32))
