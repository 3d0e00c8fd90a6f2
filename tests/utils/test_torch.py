"""Devices by name, generators that leave torch alone, precision that is put back."""

import numpy as np
import pytest
import torch
from joblib import Parallel, delayed, parallel_config
from numpy.testing import assert_allclose

from skfairfr.utils import ArgumentError
from skfairfr.utils._torch import (
    PRECISIONS,
    choose_device,
    new_generator,
    precision_of_products,
    shared_threads,
)

CPU, CUDA = torch.device("cpu"), torch.device("cuda")


@pytest.fixture
def cuda(monkeypatch):
    """Sets how many accelerators torch says it finds."""

    def found(n_devices):
        monkeypatch.setattr(torch.cuda, "is_available", lambda: n_devices > 0)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: n_devices)

    return found


@pytest.mark.parametrize(("n_devices", "chosen"), [(0, "cpu"), (1, "cuda")])
def test_auto_is_the_accelerator_where_there_is_one(cuda, n_devices, chosen):
    cuda(n_devices)
    assert choose_device("auto") == torch.device(chosen)
    assert choose_device("cpu") == CPU


def test_a_device_of_many(cuda):
    cuda(2)
    assert choose_device("cuda:1") == torch.device("cuda", 1)
    with pytest.raises(
        ArgumentError, match=r"device must be .* finds .2 CUDA .*'cuda:2'"
    ):
        choose_device("cuda:2")


@pytest.mark.parametrize("value", ["tpu", "mps", "", None, ["auto", "cpu"]])
def test_unknown_devices_are_errors(value):
    """A damaged file may have anything."""
    with pytest.raises(ArgumentError, match="device must be 'auto', 'cpu' or 'cuda'"):
        choose_device(value)


def test_generators_follow_their_random_state_alone():
    before = torch.random.get_rng_state()
    seeds = [new_generator(np.random.RandomState(s)).initial_seed() for s in (0, 0, 1)]
    assert seeds[0] == seeds[1] != seeds[2]
    one = np.random.RandomState(0)
    assert new_generator(one).initial_seed() != new_generator(one).initial_seed()
    assert torch.equal(torch.random.get_rng_state(), before)


def products():
    """A product in whatever precision is set."""
    generator = torch.Generator().manual_seed(0)
    a, b = torch.randn((2, 32, 32), generator=generator)
    return a @ b


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize("before", ["highest", "high"])
def test_precision_inside_and_after(precision, before):
    original = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(before)
    try:
        with precision_of_products(precision, CPU):
            assert products().dtype == getattr(torch, precision)
            assert torch.get_float32_matmul_precision() == "highest"
        assert torch.get_float32_matmul_precision() == before
        with pytest.raises(KeyError), precision_of_products(precision, CPU):
            raise KeyError
        assert torch.get_float32_matmul_precision() == before
        assert products().dtype == torch.float32
    finally:
        torch.set_float32_matmul_precision(original)


def test_rounded_weights_follow_the_weights():
    # Autocast keeps the rounded weights of a whole block, steps in it or not.
    layer = torch.nn.Linear(4, 4, bias=False)
    with precision_of_products("bfloat16", CPU):
        layer(torch.eye(4))
        with torch.no_grad():
            layer.weight.fill_(2)
        assert_allclose(layer(torch.eye(4)).float().detach(), 2)


def test_tf32_is_for_accelerators():
    with precision_of_products("tf32", CUDA):
        assert torch.get_float32_matmul_precision() == "high"
    with pytest.raises(ArgumentError, match=r"precision is 'tf32'.*device='cuda'"):
        with precision_of_products("tf32", CPU):
            pass
    assert PRECISIONS == ("float32", "tf32", "bfloat16")


@pytest.fixture
def four_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(4)
    yield
    torch.set_num_threads(before)


def inside_and_after():
    with shared_threads():
        inside = torch.get_num_threads()
    return inside, torch.get_num_threads()


def test_a_thread_of_joblib_has_one(four_threads):
    with parallel_config("threading"):
        found = Parallel(n_jobs=2)(delayed(inside_and_after)() for _ in range(4))
        alone = Parallel(n_jobs=1)(delayed(inside_and_after)() for _ in range(2))
    assert found == 4 * [(1, 4)]
    assert alone == 2 * [(4, 4)]
