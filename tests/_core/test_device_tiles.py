"""Facts of the pass on a device, by torch on the CPU: its tail is that of the CPU."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skfairfr._core import _pair_tiles
from skfairfr._core._pair_tiles import unit_rows
from tests._core.cases import make_images
from tests._core.test_pair_tiles import LAYERS, make_rows, same_floor, unrelated

torch = pytest.importorskip("torch")


def check(rows, floors, tile=16, device="cpu"):
    found = _pair_tiles.collect_tail_on_device(*rows, floors, device, tile)
    expected = _pair_tiles.collect_tail(*rows, floors, tile=tile)
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype
        assert_array_equal(one, other)
    return found[0].size


def random_rows(sides, n_features=64, seed=0):
    images = make_images(seed, sides=sides, groups="unknown", n_identities=25)
    vectors = np.random.default_rng(0).normal(size=(images.identity.size, n_features))
    return make_rows(images, unit_rows(vectors, "cosine"))


@pytest.mark.parametrize("tile", [5, 16, 2048])
@pytest.mark.parametrize("sides", [1, 2])
def test_the_tail_is_that_of_the_cpu_ties_included(sides, tile):
    assert 0 < check(random_rows(sides), LAYERS / 20, tile)
    few_values = make_images(3, sides=sides, groups="unknown", n_identities=12)
    signs = np.random.default_rng(0).choice([-1, 1], (few_values.identity.size, 8))
    assert 0 < check(make_rows(few_values, signs.astype(np.float32)), LAYERS, tile)


@pytest.mark.parametrize("precision", ["highest", "medium"])
def test_pairs_at_their_floor_are_held_whatever_precision_the_process_has_set(
    precision,
):
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(precision)
    rows = random_rows(1, n_features=512)
    scores, *_ = _pair_tiles.collect_tail(*rows, same_floor(-np.inf))
    try:
        for place in (0, 10, scores.size // 2):
            assert check(rows, same_floor(scores[place])) == place + 1
        assert torch.get_float32_matmul_precision() == precision
    finally:
        torch.set_float32_matmul_precision(before)


def test_products_beyond_float32_lose_no_pair():
    vectors = np.random.default_rng(0).normal(size=(30, 16)) * 1e19
    check(make_rows(unrelated(30), vectors.astype(np.float32)), same_floor(0.0))


def test_rows_that_may_not_be_written_are_taken():
    rows = random_rows(1)
    rows[0].vectors.setflags(write=False)
    check(rows, same_floor(0.1))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_the_tail_of_a_card_is_that_of_the_cpu():
    check(random_rows(1, n_features=512), same_floor(0.05), device="cuda")
