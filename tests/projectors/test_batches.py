"""Batches are slices: each row once an epoch, as they are on disk, none copied whole."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from numpy.testing import assert_array_equal

from skfairfr.projectors._training import Batches, DeviceRows

CPU = torch.device("cpu")
N, D = 23, 4


def data(dtype=np.float32):
    return np.arange(N * D).reshape(N, D).astype(dtype)


def batches(size=5, seed=0, index=None, sampler=None):
    index = np.arange(N) if index is None else index
    generator = torch.Generator().manual_seed(seed)
    people = SimpleNamespace(rows=index, y=100 + index)
    return Batches(DeviceRows(data(), CPU), people, size, generator, sampler)


@pytest.mark.parametrize("size", [1, 5, 23, 1000])
def test_an_epoch_has_each_row_once_beside_its_identity(size):
    of_epoch = list(batches(size))
    assert len(of_epoch) == -(-N // size) and len(batches(size)) == N
    assert all(len(x) == len(y) <= size for x, y in of_epoch)
    x = torch.cat([x for x, _ in of_epoch]).numpy()
    y = torch.cat([y for _, y in of_epoch]).numpy()
    assert sorted(y) == list(range(100, 100 + N))
    assert_array_equal(x, data()[y - 100])


def test_epochs_differ_and_come_again_with_the_seed():
    def orders(seed):
        one = batches(seed=seed)
        return [torch.cat([y for _, y in one]).tolist() for _ in range(2)]

    first, second = orders(0)
    assert first != second
    assert orders(0) == [first, second] and orders(1)[0] != first


def test_a_sampler_chooses_the_rows_of_each_batch():
    given = []

    def sampler(generator):
        given.append(generator)
        return [7, 7, 3, 0, 1, 2]

    source = batches(2, sampler=sampler)
    assert [y.tolist() for _, y in source] == [[107, 107], [100, 103], [101, 102]]
    assert given == [source.generator]


@pytest.mark.parametrize(
    ("positions", "words"),
    [
        ([], r"shape \(0,\)"),
        ([0.0, 1.0], "type float64"),
        ([0, N], f"0..{N - 1}"),
        ([-1, 0], r"\[-1  0\]"),
    ],
)
def test_a_sampler_s_positions_are_checked(positions, words):
    with pytest.raises(ValueError, match=f"sampler must give positions.*{words}"):
        list(batches(sampler=lambda generator: positions))


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_rows_are_float32_of_any_array(dtype):
    x = data(dtype)
    x.flags.writeable = False
    rows = DeviceRows(x, CPU)
    taken = rows.take(torch.tensor([4, 1]))
    assert taken.dtype == torch.float32
    assert_array_equal(taken.numpy(), data()[[4, 1]])
    assert_array_equal(torch.cat(list(rows.in_order(6))).numpy(), data())
