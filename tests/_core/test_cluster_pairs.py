"""Facts of pairs with an image in a cluster, by double loops."""

import numpy as np
import pytest

from skfairfr._core import _pair_tiles
from skfairfr._core._pair_tiles import (
    count_genuine,
    count_pairs,
    draw_pairs,
    thresholds_touching,
)
from skfairfr._core._rates import share_accepted

N, K = 60, 5


def make(seed=0, d=4):
    """Small integers, so that scores tie and are exact in any order of adding."""
    rng = np.random.default_rng(seed)
    identity, cluster = rng.integers(0, 15, N), rng.integers(0, K - 1, N)
    return rng.integers(-2, 3, (N, d)).astype(np.float32), identity, cluster


def touching(cluster, c, keep=lambda i, j: True):
    return [
        (i, j)
        for i in range(len(cluster))
        for j in range(i)
        if c in (cluster[i], cluster[j]) and keep(i, j)
    ]


def test_counts_are_those_of_a_double_loop():
    _, identity, cluster = make()
    found = count_pairs(cluster, K)
    assert found.tolist() == [len(touching(cluster, c)) for c in range(K)]
    genuine = np.array(
        [(i, j) for i in range(N) for j in range(i) if identity[i] == identity[j]]
    ).T
    expected = [
        len(touching(cluster, c, lambda i, j: identity[i] == identity[j]))
        for c in range(K)
    ]
    assert count_genuine(cluster, K, *genuine).tolist() == expected


@pytest.mark.parametrize("tile", [1, 200, 2**20])
@pytest.mark.parametrize("far", [1e-3, 0.01, 0.1, 0.7])
@pytest.mark.parametrize("seed", range(3))
def test_thresholds_are_those_of_a_double_loop(seed, far, tile, monkeypatch):
    monkeypatch.setattr(_pair_tiles, "PRODUCTS", tile)
    rows, identity, cluster = make(seed)
    scores = [
        np.sort(
            [
                np.float32(rows[i] @ rows[j])
                for i, j in touching(
                    cluster, c, lambda i, j: identity[i] != identity[j]
                )
            ]
        )[::-1]
        for c in range(K - 1)
    ]
    n_impostor = np.array([*map(len, scores), 0])
    found = thresholds_touching(rows, identity, cluster, n_impostor, far)
    assert np.isnan(found[-1])
    for threshold, of_cluster in zip(found[:-1], scores, strict=True):
        below = np.nextafter(np.float32(threshold), np.float32(-np.inf))
        assert share_accepted(of_cluster, threshold) <= far
        assert share_accepted(of_cluster, below) > far


@pytest.mark.parametrize(("n_inside", "n_outside"), [(6, 9), (1, 5), (7, 0), (2, 1)])
def test_all_pairs_with_an_image_inside_are_drawn_once(n_inside, n_outside):
    images = np.random.default_rng(0).permutation(50)[: n_inside + n_outside]
    inside, outside = np.split(images, [n_inside])
    left, right = draw_pairs(inside, outside, 10**6, np.random.default_rng(0))
    found = [
        frozenset(pair) for pair in zip(left.tolist(), right.tolist(), strict=True)
    ]
    expected = {
        frozenset((i, j)) for i in inside.tolist() for j in images.tolist() if i != j
    }
    assert len(found) == len(set(found)) and set(found) == expected


def test_a_sample_is_uniform():
    inside, outside = np.arange(5), np.arange(5, 12)
    counts = np.zeros((12, 12))
    for seed in range(3000):
        left, right = draw_pairs(inside, outside, 9, np.random.default_rng(seed))
        assert left.size == 9
        np.add.at(counts, (np.minimum(left, right), np.maximum(left, right)), 1)
    met = counts[counts > 0]
    assert met.size == 5 * 7 + 10
    expected = 3000 * 9 / met.size
    assert np.abs(met - expected).max() < 5 * np.sqrt(expected)
