"""Facts of scores: one loop makes them, close to the exact sum, whatever was asked for."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from skfairfr._core import _pair_tiles
from skfairfr._core._pair_tiles import inner_products


def all_scores(rows, others):
    """Scores of all rows with all others, as the loop makes them."""
    scores = np.empty((len(rows), len(others)), dtype=np.float32)
    _pair_tiles.write_products(rows, others, scores)
    return scores


@pytest.mark.parametrize("n_features", [*range(1, 40), 64, 127, 512, 2048])
def test_listed_scores_and_those_of_all_pairs_are_equal(n_features):
    rng = np.random.default_rng(n_features)
    rows, others = rng.normal(size=(2, 9, n_features)).astype(np.float32)
    left, right = (ends.ravel() for ends in np.indices((9, 9)))
    found = inner_products(rows, left, others, right)
    assert_array_equal(found, all_scores(rows, others).ravel())
    for kind in (np.int32, np.int64):
        some = left[::5].astype(kind), right[::5].astype(kind)
        rows.setflags(write=False)
        assert_array_equal(inner_products(rows, some[0], others, some[1]), found[::5])


@given(st.integers(0, 10**6), st.integers(1, 70))
def test_scores_are_symmetric_and_equal_for_equal_rows(seed, n_features):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(4, n_features)).astype(np.float32)
    vectors = np.concatenate([vectors, vectors])
    scores = all_scores(vectors, vectors)
    assert_array_equal(scores, scores.T)
    assert_array_equal(scores[:4, :4], scores[4:, :4])
    assert_array_equal(np.diag(scores)[:4], scores[range(4), range(4, 8)])


def test_scores_are_the_exact_sum_rounded_once():
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(8, 300)).astype(np.float32)
    for x, row in zip(vectors, all_scores(vectors, vectors), strict=True):
        for y, score in zip(vectors, row, strict=True):
            exact = sum(
                Fraction(a) * Fraction(b)
                for a, b in zip(x.tolist(), y.tolist(), strict=True)
            )
            error = abs(Fraction(float(score)) - exact)
            bound = Fraction(float(np.spacing(abs(score)))) * Fraction(501, 1000)
            assert error <= bound


@pytest.mark.parametrize("size", [0, 1, 4, 5, 23])
def test_blocks_of_listed_pairs_change_no_score(size, monkeypatch):
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(20, 33)).astype(np.float32)
    left, right = rng.integers(0, 20, (2, size))
    monkeypatch.setattr(_pair_tiles, "BLOCK", 4)
    found = _pair_tiles.score_pairs(vectors, left, right)
    assert_array_equal(found, all_scores(vectors, vectors)[left, right])
    assert found.dtype == np.float32
