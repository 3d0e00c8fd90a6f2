"""Facts of the pass over all pairs: it is the full matrix, whatever the tiles."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import parallel_config
from numpy.testing import assert_array_equal

from skfairfr._core import _pair_tiles, _parallel
from skfairfr._core._pair_tiles import (
    Rows,
    collect_tail,
    genuine_pairs,
    score_pairs,
    unit_rows,
)
from tests._core.cases import GROUPS, make_images, make_vectors, sides_of
from tests.covering import daily_pairwise

FLOORS = np.array([[-2, 3, 1], [3, 4, -np.inf], [1, -np.inf, 0]], dtype=np.float32)


def make_rows(images, vectors):
    """Probe and reference rows; the same object within one side."""
    if images.side is None:
        rows = Rows.of(vectors, images, np.arange(images.identity.size))
        return rows, rows
    return tuple(Rows.of(vectors, images, members) for members in sides_of(images))


def all_pairs(images):
    """Images of every comparison, i < j or probe and reference, by a double loop."""
    n = range(images.identity.size)
    if images.side is None:
        return [(i, j) for i in n for j in n if i < j]
    return [(i, j) for i in n for j in n if images.side[i] < images.side[j]]


def as_set(images, scores, left, right):
    """Pairs with their scores; without sides, the smaller image first."""
    pairs = zip(left.tolist(), right.tolist(), strict=True)
    if images.side is None:
        pairs = map(sorted, pairs)
    found = [(*pair, s) for pair, s in zip(pairs, scores.tolist(), strict=True)]
    assert len(found) == len(set(found))
    return set(found)


def tail_by_loop(images, vectors, floors):
    scores = vectors @ vectors.T
    identity, group = images.identity, images.group
    return {
        (i, j, float(scores[i, j]))
        for i, j in all_pairs(images)
        if identity[i] != identity[j] and scores[i, j] >= floors[group[i], group[j]]
    }


@pytest.mark.parametrize(
    ("groups", "sides", "tile"),
    daily_pairwise(product(GROUPS, (1, 2), (1, 3, 8, 2048))),
)
def test_tail_is_that_of_the_full_matrix(groups, sides, tile):
    images = make_images(1, sides=sides, groups=groups)
    vectors = make_vectors(images)
    found = collect_tail(*make_rows(images, vectors), FLOORS, tile=tile)
    assert as_set(images, *found) == tail_by_loop(images, vectors, FLOORS)


@settings(max_examples=settings.default.max_examples // 2)
@given(st.integers(0, 10**6), st.integers(1, 20), st.sampled_from([1, 2]))
def test_tail_of_any_data(seed, tile, sides):
    images = make_images(seed, sides=sides, groups="unknown", n_identities=5)
    vectors = make_vectors(images, seed)
    floors = np.random.default_rng(seed).integers(-3, 5, (3, 3)).astype(np.float32)
    floors = np.minimum(floors, floors.T)
    found = collect_tail(*make_rows(images, vectors), floors, tile=tile)
    assert as_set(images, *found) == tail_by_loop(images, vectors, floors)


def by_visit(images, vectors, floors, tile):
    """The tail by a stable sort of what a walk through the tiles meets."""
    probe, reference = make_rows(images, vectors)
    scores = probe.vectors @ reference.vectors.T
    met = []
    for start in range(0, probe.image.size, tile):
        first = start if probe is reference else 0
        for column in range(first, reference.image.size, tile):
            for i in range(start, min(start + tile, probe.image.size)):
                for j in range(column, min(column + tile, reference.image.size)):
                    apart = probe.identity[i] != reference.identity[j]
                    floor = floors[probe.group[i], reference.group[j]]
                    once = probe is not reference or i < j
                    if apart and once and scores[i, j] >= floor:
                        met.append((scores[i, j], probe.image[i], reference.image[j]))
    return sorted(met, key=lambda pair: -pair[0])


@pytest.mark.parametrize("fewest", [1, 2, 64])
@pytest.mark.parametrize("tile", [3, 5, 2048])
@pytest.mark.parametrize("sides", [1, 2])
def test_order_of_ties_depends_on_the_tiles_alone(sides, tile, fewest, monkeypatch):
    images = make_images(3, sides=sides, groups="unknown", n_identities=9)
    vectors = make_vectors(images)
    monkeypatch.setattr(_pair_tiles, "FEWEST", fewest)
    found = collect_tail(*make_rows(images, vectors), FLOORS, tile=tile)
    expected = by_visit(images, vectors, FLOORS, tile)
    assert list(zip(*(c.tolist() for c in found), strict=True)) == expected


@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize(("n_rows", "task", "most"), [(40, 1e9, 64), (900, 4e4, 81)])
def test_runs_of_tiles_are_all_tiles_in_equal_parts(
    n_rows, task, most, sides, monkeypatch
):
    monkeypatch.setattr(_pair_tiles, "TASK", task)
    nothing = np.zeros(n_rows, dtype=np.int32)
    vectors = np.zeros((n_rows, 4), dtype=np.float32)
    one, other = (Rows(vectors, nothing, nothing, nothing) for _ in range(2))
    runs = _pair_tiles._runs_of_tiles(one, one if sides == 1 else other, 7)
    starts = range(0, n_rows, 7)
    tiles = [[r, c] for r in starts for c in starts if sides == 2 or r <= c]
    assert np.concatenate(runs).tolist() == tiles
    assert len(runs) <= most * sides
    areas = [[min(7, n_rows - r) * min(7, n_rows - c) for r, c in run] for run in runs]
    # A tile is never divided.
    assert max(map(sum, areas)) - min(map(sum, areas)) <= 2 * 49


@pytest.mark.parametrize("threads", [1, 2, 3, 50])
@pytest.mark.parametrize("sides", [1, 2])
def test_threads_change_neither_pairs_nor_order(sides, threads, monkeypatch):
    images = make_images(3, sides=sides, groups="unknown", n_identities=12)
    rows = make_rows(images, make_vectors(images))
    monkeypatch.setattr(_parallel, "n_threads", lambda: 1)
    expected = collect_tail(*rows, FLOORS, tile=7)
    monkeypatch.setattr(_parallel, "n_threads", lambda: threads)
    found = collect_tail(*rows, FLOORS, tile=7)
    for one, other in zip(found, expected, strict=True):
        assert_array_equal(one, other)


def test_a_pair_at_its_floor_is_held_and_one_below_is_not():
    images = make_images(0, groups=None, most=1)
    vectors = make_vectors(images)
    top = max(s for *_, s in tail_by_loop(images, vectors, -np.inf * np.ones((1, 1))))
    rows = make_rows(images, vectors)
    floor = np.array([[top]], dtype=np.float32)
    assert set(collect_tail(*rows, floor)[0]) == {top}
    assert collect_tail(*rows, np.nextafter(floor, np.float32(np.inf)))[0].size == 0


def test_rows_are_ordered_by_group_and_fall_into_its_blocks():
    images = make_images(0, groups="unknown")
    rows, _ = make_rows(images, make_vectors(images))
    starts, stops, groups = rows.blocks()
    assert groups.tolist() == [-1, 0, 1]
    assert starts.tolist() == [0, *stops[:-1]]
    for start, stop, group in zip(starts, stops, groups, strict=True):
        assert (rows.group[start:stop] == group).all()
        assert (np.diff(rows.identity[start:stop]) >= 0).all()
    assert sorted(rows.image) == list(range(images.identity.size))
    assert_array_equal(rows.vectors, make_vectors(images)[rows.image])


@pytest.mark.parametrize(
    "backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("sides", [1, 2])
def test_workers_change_no_bit(sides, backend):
    images = make_images(2, sides=sides, n_identities=30)
    vectors = np.random.default_rng(0).normal(size=(images.identity.size, 40))
    rows = make_rows(images, unit_rows(vectors, "cosine"))
    floors = np.full((3, 3), 0.1, dtype=np.float32)
    tail = collect_tail(*rows, floors, tile=16)
    with parallel_config(backend):
        for one, two in zip(tail, collect_tail(*rows, floors, 2, 16), strict=True):
            assert_array_equal(one, two)


@pytest.mark.parametrize("most", [1, 4])
@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_genuine_pairs_are_those_of_a_double_loop(seed, sides, most):
    images = make_images(seed, sides=sides, most=most)
    left, right = genuine_pairs(images)
    found = list(zip(left.tolist(), right.tolist(), strict=True))
    same = [p for p in all_pairs(images) if len(set(images.identity[list(p)])) == 1]
    assert sorted(found) == sorted(same)
    assert left.dtype == right.dtype == np.int32


def test_listed_scores_are_inner_products_in_float64():
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(20, 512)).astype(np.float32)
    left, right = rng.integers(0, 20, (2, 50))
    exact = (vectors.astype(float)[left] * vectors.astype(float)[right]).sum(axis=1)
    found = score_pairs(vectors, left, right)
    assert found.dtype == np.float32
    assert found == pytest.approx(exact, rel=1e-7, abs=1e-6)
    assert_array_equal(found, score_pairs(vectors, right, left))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1, 1e30, 1e-30])
def test_rows_become_unit_rows_of_float32(scale, dtype):
    X = (np.random.default_rng(0).normal(size=(6, 30)) * scale).astype(dtype)
    rows = unit_rows(X, "cosine")
    assert rows.dtype == np.float32
    wide = X.astype(np.float64)
    expected = wide / np.linalg.norm(wide, axis=1)[:, None]
    assert rows == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize("similarity", ["cosine", "dot"])
def test_embeddings_are_left_untouched(similarity, dtype, tmp_path):
    values = np.random.default_rng(0).normal(size=(5, 3)).astype(dtype)
    np.save(tmp_path / "X.npy", values)
    X = np.load(tmp_path / "X.npy", mmap_mode="r")
    rows = unit_rows(X, similarity)
    rows[:] = 0
    assert_array_equal(X, values)


def test_inner_products_keep_the_rows_as_they_are():
    X = np.random.default_rng(0).normal(size=(3, 5)).T
    rows = unit_rows(X, "dot")
    assert_array_equal(rows, X.astype(np.float32))
    assert rows.flags.c_contiguous
