"""Facts of the running sums: they are those of a plain loop, in every number format."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from skfairfr._core import _pair_sequences
from skfairfr._core._pair_sequences import (
    CHUNK,
    RowSums,
    first_exceeding_positions,
    sums_before,
)

FORMATS = [("uint8", False), ("uint8", True), ("float64", False), ("float64", True)]
# Whole chunks and the ones before and after, none and few.
SIZES = (0, 1, 5, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK)


def make_pairs(seed, n_pairs, dtype="uint8", with_base=False, n_resamples=3, most=3):
    """Weights and pairs; base weights are eighths, so that sums are exact."""
    rng = np.random.default_rng(seed)
    weights = tuple(
        rng.integers(0, most + 1, (n_units, n_resamples)).astype(dtype)
        for n_units in (9, 7)
    )
    units = [rng.integers(0, n, n_pairs).astype(np.int32) for n in (9, 7)]
    base = rng.integers(0, 9, n_pairs) / 8 if with_base else None
    return weights, (*units, base)


def accumulated(weights, pairs):
    """Running sums after every pair, (n_resamples, 1 + n_pairs), from all products."""
    left, right, base = pairs
    products = weights[0].astype(float)[left] * weights[1].astype(float)[right]
    if base is not None:
        products *= base[:, None]
    # Eighths: these sums are exact in any order.
    return np.insert(np.cumsum(products, axis=0), 0, 0.0, axis=0).T


def positions_by_loop(sums, targets):
    """First pair after which a sum exceeds the target."""
    found = [
        [np.flatnonzero(sums[r, 1:] > t) for r, t in enumerate(row)] for row in targets
    ]
    return [[int(f[0]) if f.size else -1 for f in row] for row in found]


@pytest.mark.parametrize(("dtype", "with_base"), FORMATS)
def test_crossings_are_those_of_a_loop(dtype, with_base):
    for n_pairs in SIZES:
        weights, pairs = make_pairs(n_pairs, n_pairs, dtype, with_base)
        sums = accumulated(weights, pairs)
        # Levels between and at the sums, several in one chunk, and none beyond the last.
        targets = np.array([0, 0.01, 0.02, 0.5, 0.99, 1, 1.5])[:, None] * sums[:, -1]
        positions = first_exceeding_positions(weights, pairs, targets)
        assert positions.tolist() == positions_by_loop(sums, targets)


@pytest.mark.parametrize(("dtype", "with_base"), FORMATS)
def test_sums_before_are_those_of_a_loop(dtype, with_base):
    for n_pairs in SIZES:
        weights, pairs = make_pairs(n_pairs, n_pairs, dtype, with_base)
        sums = accumulated(weights, pairs)
        rng = np.random.default_rng(n_pairs)
        positions = np.sort(rng.integers(0, n_pairs + 1, (8, 3)), axis=0)
        positions[-1] = n_pairs
        expected = np.take_along_axis(sums, positions.T, axis=1).T
        assert_array_equal(sums_before(weights, pairs, positions), expected)


@settings(deadline=None)
@given(
    st.integers(0, 1000),
    st.integers(0, 5 * CHUNK),
    st.sampled_from([1, 3, 100, CHUNK, 300]),
    st.integers(0, 6 * CHUNK),
    st.sampled_from(FORMATS),
)
def test_rows_that_are_known_change_no_sum(seed, n_pairs, step, reached, kind):
    weights, pairs = make_pairs(seed, n_pairs, *kind)
    rng = np.random.default_rng(seed)
    total = accumulated(weights, pairs)[:, -1]
    targets = np.sort(rng.uniform(0, 1.2, (3, 3)), axis=0) * total
    positions = rng.integers(0, n_pairs + 1, (3, 3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_pair_sequences, "LEAST", step)
        rows = RowSums(weights, pairs)
    assert rows.step == step
    for walk, asked in [
        (first_exceeding_positions, (targets,)),
        (sums_before, (positions,)),
    ]:
        expected = walk(weights, pairs, *asked)
        for known in (rows, rows.reach(min(reached, n_pairs)), rows.reach(n_pairs)):
            found = walk(weights, pairs, *asked, known)
            assert_array_equal(found, expected)


@pytest.mark.parametrize("share", [0, 0.3, 1, 2])
def test_rows_end_at_the_first_beyond_all_targets(share):
    weights, pairs = make_pairs(1, 9 * CHUNK)
    sums = accumulated(weights, pairs)
    targets = share * sums[:, -1]
    rows = RowSums(weights, pairs).reach(9 * CHUNK, targets).known
    assert_array_equal(rows, sums[:, ::CHUNK][:, : len(rows)].T)
    beyond = (rows > targets).all(axis=1)
    assert not beyond[:-1].any()
    assert beyond[-1] or len(rows) == 10


@pytest.mark.parametrize("position", [1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK])
def test_sums_and_crossings_agree_at_the_borders_of_chunks(position):
    weights, pairs = make_pairs(1, 3 * CHUNK, most=1)
    weights = tuple(np.ones_like(w) for w in weights)
    before = sums_before(weights, pairs, np.full((1, 3), position))
    assert before.tolist() == [[position] * 3]
    # Every pair weighs 1, so that exceeding the sum takes just the next one.
    found = first_exceeding_positions(weights, pairs, before)
    assert found.tolist() == [[position] * 3]


@settings(deadline=None)
@given(st.integers(0, 1000), st.integers(1, 40), st.sampled_from(FORMATS))
def test_the_target_is_exceeded_at_the_position_and_not_before(seed, n_pairs, kind):
    weights, pairs = make_pairs(seed, n_pairs, *kind)
    total = accumulated(weights, pairs)[:, -1]
    targets = np.sort(np.random.default_rng(seed).random((4, 3)), axis=0) * total
    positions = first_exceeding_positions(weights, pairs, targets)
    found = positions >= 0
    assert_array_equal(found, targets < total)
    before = sums_before(weights, pairs, np.where(found, positions, 0))
    after = sums_before(weights, pairs, np.where(found, positions + 1, n_pairs))
    assert (before <= targets)[found].all()
    assert (after > targets)[found].all()


def test_the_largest_multiplicities_do_not_overflow():
    n_pairs = 160 * CHUNK  # 255 * 255 * n_pairs is above 2 ** 31
    unit = np.full((1, 2), 255, dtype=np.uint8)
    zero = np.zeros(n_pairs, dtype=np.int32)
    ends = np.array([[n_pairs // 2] * 2, [n_pairs] * 2])
    sums = sums_before((unit, unit), (zero, zero, None), ends)
    assert sums.tolist() == (ends * 255 * 255).tolist()
    found = first_exceeding_positions((unit, unit), (zero, zero, None), sums[:1])
    assert found.tolist() == [[n_pairs // 2] * 2]


def test_formats_give_the_same_bits():
    weights, pairs = make_pairs(0, 5 * CHUNK, most=255)
    as_float = tuple(w.astype(np.float64) for w in weights)
    ones = (*pairs[:2], np.ones(5 * CHUNK))
    ends = np.sort(np.random.default_rng(0).integers(0, 5 * CHUNK, (6, 3)), axis=0)
    expected = sums_before(weights, pairs, ends)
    for other in [
        (as_float, pairs),
        (weights, ones),
        (weights[:1] + as_float[1:], pairs),
    ]:
        assert_array_equal(sums_before(*other, ends), expected)
        found = first_exceeding_positions(*other, expected)
        assert_array_equal(found, first_exceeding_positions(weights, pairs, expected))


def test_a_resample_does_not_see_its_neighbours():
    weights, pairs = make_pairs(3, 2 * CHUNK, n_resamples=5)
    targets = np.array([[10.0], [100.0]]) + np.arange(5)
    together = first_exceeding_positions(weights, pairs, targets)
    for r in range(5):
        alone = tuple(np.ascontiguousarray(w[:, r : r + 1]) for w in weights)
        one = first_exceeding_positions(alone, pairs, targets[:, r : r + 1])
        assert_array_equal(one, together[:, r : r + 1])


def test_without_weight_nothing_exceeds_zero():
    weights, pairs = make_pairs(0, 10)
    nothing = tuple(np.zeros_like(w) for w in weights)
    assert (first_exceeding_positions(nothing, pairs, np.zeros((2, 3))) == -1).all()
    assert first_exceeding_positions(weights, pairs, np.zeros((0, 3))).shape == (0, 3)
