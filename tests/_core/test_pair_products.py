"""Facts of the sums of products: in every number format they are those of numpy."""

import numpy as np
import pytest
from numba import njit
from numpy.testing import assert_array_equal

from skfairfr._core._pair_products import FLOAT_LANES, LANES, sum_products


@njit
def summed(sums, left_weight, right_weight, left, right, base, start, stop):
    sum_products(sums, left_weight, right_weight, left, right, base, start, stop)


@pytest.mark.parametrize("n_resamples", [1, LANES - 1, LANES, LANES + 1, 2 * LANES + 7])
@pytest.mark.parametrize(
    ("kind", "with_base"),
    [(np.int16, False), (np.int32, False), (np.float64, False), (np.float64, True)],
)
def test_sums_of_products_are_those_of_numpy(n_resamples, kind, with_base):
    rng = np.random.default_rng(n_resamples)
    weights = [rng.integers(0, 9, (n, n_resamples)).astype(np.uint8) for n in (5, 8)]
    units = [rng.integers(0, n, 60).astype(np.int32) for n in (5, 8)]
    base = rng.integers(0, 9, 60) / 8 if with_base else None  # exact sums
    for start, stop in [(0, 60), (7, 43), (9, 9)]:
        run = slice(start, stop)
        products = weights[0][units[0][run]] * weights[1][units[1][run]].astype(float)
        if with_base:
            products *= base[run, None]
        sums = np.full(n_resamples, 99, dtype=kind)
        summed(sums, *weights, *units, base, start, stop)
        assert_array_equal(sums, products.sum(axis=0))


def test_without_the_compiler_a_loop_sums_the_same():
    rng = np.random.default_rng(0)
    weights = rng.integers(0, 9, (2, 6, 5)).astype(np.uint8)
    units = rng.integers(0, 6, (2, 40)).astype(np.int32)
    plain, compiled = np.full((2, 5), 99.0)
    for base in (None, rng.integers(0, 9, 40) / 8):
        sum_products(plain, *weights, *units, base, 3, 31)
        summed(compiled, *weights, *units, base, 3, 31)
        assert_array_equal(plain, compiled)


def test_pairs_that_are_not_contiguous_are_summed_too():
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 4, (6, LANES)).astype(np.uint8)
    units = rng.integers(0, 6, (2, 40)).astype(np.int32)
    expected = np.zeros(LANES, dtype=np.int16)
    summed(expected, weight, weight, *units[:, ::2].copy(), None, 0, 20)
    sums = np.zeros(LANES, dtype=np.int16)
    summed(sums, weight, weight, *units[:, ::2], None, 0, 20)
    assert_array_equal(sums, expected)


@pytest.mark.parametrize(
    "n_resamples", [FLOAT_LANES - 1, FLOAT_LANES, 3 * FLOAT_LANES + 5]
)
def test_weighted_sums_are_added_pair_after_pair(n_resamples):
    rng = np.random.default_rng(n_resamples)
    weights = rng.integers(0, 256, (2, 6, n_resamples)).astype(np.uint8)
    weights[:, 0] = 255  # their product takes all 16 bits
    units = rng.integers(0, 6, (2, 50)).astype(np.int32)
    base = rng.random(50)
    expected = np.zeros(n_resamples)
    for p in range(3, 47):
        left, right = (
            w[u[p]].astype(float) for w, u in zip(weights, units, strict=True)
        )
        expected += base[p] * (left * right)
    sums = np.full(n_resamples, 99.0)
    summed(sums, *weights, *units, base, 3, 47)
    assert_array_equal(sums, expected)
