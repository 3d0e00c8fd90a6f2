"""What stands in for vectors of processors gives the same bits as they do."""

import numpy as np
import pytest
from numba import njit

from skfairfr._core import _adjusted_screen, _inner_products, _integer_screen, _reaching
from tests import plain_kernels

WIDTH = plain_kernels.WIDTH
pytestmark = pytest.mark.filterwarnings("ignore:.*NumbaPerformance")


@njit
def sum_of_lanes(wide, row, n):
    return _inner_products._sum_of_lanes(wide, row, n)


@njit
def reaching(values, start, limit):
    return _reaching._reaching(values, start, limit)


@njit
def lowest_bit(bits):
    return _reaching._lowest_bit(bits)


@njit
def screened(products, scales, distances, start, gain, limit):
    return _integer_screen._reaching(products, scales, distances, start, gain, limit)


@njit
def affine(a, b, c, d, e, start, f, g, h, i, j, k):
    return _adjusted_screen._affine(a, b, c, d, e, start, f, g, h, i, j, k)


@njit
def limited(a, b, c, d, e, start, f, g, h, i, j, k):
    return _adjusted_screen._limited(a, b, c, d, e, start, f, g, h, i, j, k)


def unsigned(bits):
    return int(bits) % 2**WIDTH


@pytest.mark.parametrize("n", [0, 8, 24, 32, 40, 96, 136])
def test_sums_have_the_same_bits(n):
    rng = np.random.default_rng(n)
    narrow, row = rng.normal(size=(2, n + 3)).astype(np.float32)
    wide = narrow.astype(np.float64)
    assert plain_kernels.sum_of_lanes(wide, row, n) == sum_of_lanes(wide, row, n)


@pytest.mark.parametrize("kind", [np.int16, np.int32])
@pytest.mark.parametrize("limit", [-900, -1, 0, 500])
def test_the_same_integers_reach_a_limit(kind, limit):
    values = np.random.default_rng(0).integers(-1000, 1000, 100).astype(kind)
    bits = plain_kernels.reaching(values, 20, limit)
    assert bits == unsigned(reaching(values, 20, limit))
    lowest = plain_kernels.STAND_INS["_reaching._lowest_bit"](bits)
    assert lowest == lowest_bit(np.int64(bits - 2**64 if bits >= 2**63 else bits))


def test_the_same_products_pass_the_integer_screen():
    rng = np.random.default_rng(0)
    products = rng.integers(-1000, 1000, 100).astype(np.int32)
    scales, distances = rng.random((2, 100)).astype(np.float32)
    numbers = (7, np.float32(20), np.float32(100))
    bits = plain_kernels.screened(products, scales, distances, *numbers)
    assert bits == unsigned(screened(products, scales, distances, *numbers))
    assert 0 < bits < 2**WIDTH - 1


@pytest.mark.parametrize("kind", [np.int32, np.float32])
@pytest.mark.parametrize("plain, compiled", [("affine", affine), ("limited", limited)])
def test_the_same_products_pass_the_adjusted_screen(plain, compiled, kind):
    rng = np.random.default_rng(0)
    products = rng.integers(-1000, 1000, 100).astype(kind)
    columns = rng.random((4, 100))
    numbers = (7, 0.5, 0.1, 0.2, 0.3, 0.4, 0.6)
    bits = getattr(plain_kernels, plain)(products, *columns, *numbers)
    assert bits == unsigned(compiled(products, *columns, *numbers))
    assert 0 < bits < 2**WIDTH - 1
