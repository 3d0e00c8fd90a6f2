"""Facts of the pass over all pairs: it is the full matrix, whatever the tiles."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joblib import parallel_config
from numpy.testing import assert_array_equal

from skfairfr._core._pair_tiles import (
    Rows,
    Samples,
    collect_tail,
    score_pairs,
    unit_rows,
)
from skfairfr._core._resampling import Images
from tests._core.cases import GROUPS, make_images, make_vectors, sides_of
from tests._core.test_inner_products import all_scores
from tests.covering import daily_pairwise

LAYERS = np.array([[-2, 3, 1], [3, 4, -np.inf], [1, -np.inf, np.inf]], dtype=np.float32)


def make_rows(images, vectors, adjustment=None):
    """Probe and reference rows; the same object within one side."""
    if images.side is None:
        members = [np.arange(images.identity.size)]
    else:
        members = sides_of(images)
    rows = [Rows.of(vectors, images, m, adjustment) for m in members]
    return rows[0], rows[-1]


def all_pairs(images):
    """Images of every comparison, i < j or probe and reference, by a double loop."""
    n = range(images.identity.size)
    if images.side is None:
        return [(i, j) for i in n for j in n if i < j]
    return [(i, j) for i in n for j in n if images.side[i] < images.side[j]]


def exact_tail(images, scores, floors):
    """(score, image, image) of all pairs that reach their floor, by a double loop."""
    identity, group = images.identity, images.group
    return sorted(
        (float(scores[i, j]), i, j)
        for i, j in all_pairs(images)
        if identity[i] != identity[j] and scores[i, j] >= floors[group[i], group[j]]
    )


def collected(images, vectors, floors, tile=16, adjustment=None):
    """The collected tail in the form of the oracle."""
    rows = make_rows(images, vectors, adjustment)
    scores, left, right = collect_tail(*rows, floors, tile=tile)
    if images.side is None:
        left, right = np.minimum(left, right), np.maximum(left, right)
    return sorted(zip(scores.tolist(), left.tolist(), right.tolist(), strict=True))


@pytest.mark.parametrize(
    ("groups", "sides", "tile"),
    daily_pairwise(product(GROUPS, (1, 2), (1, 3, 8, 2048))),
)
def test_tail_is_that_of_the_full_matrix(groups, sides, tile):
    images = make_images(1, sides=sides, groups=groups)
    vectors = make_vectors(images)
    expected = exact_tail(images, vectors @ vectors.T, LAYERS)
    assert collected(images, vectors, LAYERS, tile) == expected


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


# ---- the slack: no pair at its floor is missed ---------------------------------------


def unrelated(n, sides=1, n_groups=2):
    """Images of as many people, whose groups alternate."""
    numbers = np.arange(n, dtype=np.int32)
    side = (numbers % 2).astype(np.int8) if sides == 2 else None
    return Images(
        numbers, (numbers // 2 % n_groups).astype(np.int32), side, n, n_groups
    )


def same_floor(floor, n_groups=2):
    return np.full((n_groups + 1, n_groups + 1), floor, dtype=np.float32)


def check(images, vectors, tile=16):
    """Floors at scores that occur, and just above them: pairs stand exactly at a floor."""
    scores = all_scores(vectors, vectors)
    every = [s for s, *_ in exact_tail(images, scores, same_floor(-np.inf))]
    places = [0, len(every) // 2, -max(len(every) // 20, 1), -1]
    at = [np.float32(every[place]) for place in places]
    for floor in at + [np.nextafter(floor, np.float32(np.inf)) for floor in at]:
        expected = exact_tail(images, scores, same_floor(floor))
        assert collected(images, vectors, same_floor(floor), tile) == expected


def test_denormals_lose_no_pair():
    """Features below 2**-126, which a processor may replace by zero, beside large ones."""
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(40, 24)) * 1e-40
    vectors[::2] = rng.normal(size=(20, 24)) * 10.0 ** rng.integers(0, 19, (20, 1))
    check(unrelated(40), vectors.astype(np.float32))


def test_products_beyond_float32_lose_no_pair():
    rng = np.random.default_rng(0)
    vectors = (rng.normal(size=(30, 16)) * 1e19).astype(np.float32)
    vectors[:4] = 3.4e38
    check(unrelated(30), vectors)


def test_many_ties_at_the_floor_are_all_held():
    vectors = np.random.default_rng(0).choice([-1, 1], (90, 16)).astype(np.float32)
    unit = unit_rows(vectors, "cosine")
    scores = all_scores(unit, unit)
    for floor in np.arange(-6, 8, 2) / 16:
        expected = exact_tail(unrelated(90), scores, same_floor(floor))
        assert sum(score == floor for score, *_ in expected) > 100
        assert collected(unrelated(90), unit, same_floor(floor)) == expected


@given(
    st.integers(0, 10**6), st.integers(1, 80), st.sampled_from([1, 2]), st.booleans()
)
def test_the_tail_of_any_rows_is_that_of_the_loop(seed, n_features, sides, tied):
    rng = np.random.default_rng(seed)
    images = make_images(seed, sides=sides, groups="unknown", n_identities=8)
    vectors = rng.normal(size=(images.identity.size, n_features)) + rng.normal()
    vectors *= 10.0 ** rng.integers(-3, 4, (images.identity.size, 1))
    vectors = unit_rows(vectors, rng.choice(["cosine", "dot"]))
    if tied:
        vectors = make_vectors(images, seed)
    scores = all_scores(vectors, vectors)
    every = [s for s, *_ in exact_tail(images, scores, same_floor(-np.inf))]
    if not every:
        return
    floors = rng.choice(every, (3, 3)).astype(np.float32)
    floors = np.minimum(floors, floors.T)
    assert collected(images, vectors, floors, 11) == exact_tail(images, scores, floors)


def test_samples_of_some_images_by_a_loop():
    rows, first = np.arange(18.0).reshape(9, 2), np.array([0, 2, 3, 7, 9])
    samples = Samples(rows, first)
    for images in ([2, 0, 2], [3], [], np.array([True, False, True, False])):
        chosen = np.asarray(images, dtype=None if len(images) else int)
        taken = samples.take(chosen)
        parts = [rows[first[k] : first[k + 1]] for k in np.arange(4)[chosen]]
        assert len(taken.first) == len(parts) + 1
        for k, part in enumerate(parts):
            own = taken.rows[taken.first[k] : taken.first[k + 1]]
            assert own.tolist() == part.tolist()
