"""Devices by name, generators that leave torch alone, precision that is put back."""

import re
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
import torch
from joblib import Parallel, delayed, parallel_config
from numpy.testing import assert_allclose

from skfairfr.utils import _torch
from skfairfr.utils._torch import (
    PRECISIONS,
    choose_device,
    memory_errors,
    new_generator,
    precision_of_products,
    threads_for,
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
    with pytest.raises(ValueError, match="'cuda:2' was asked for, but torch finds 2"):
        choose_device("cuda:2")


def test_an_accelerator_that_is_not_there_is_an_error(cuda):
    cuda(0)
    for name in ("cuda", "cuda:0"):
        with pytest.raises(ValueError, match=f"'{name}' was asked.*'auto' or 'cpu'"):
            choose_device(name)


@pytest.mark.parametrize("name", ["tpu", "gpu", "meta", "mps", "", "cpu:cpu"])
def test_unknown_devices_are_errors(name):
    with pytest.raises(ValueError, match=f"'auto', 'cpu' or 'cuda'; got '{name}'"):
        choose_device(name)


@pytest.mark.parametrize(
    "value", [None, b"auto", 10**30, 1.5, ["auto", "cpu"], np.array(["auto", "cpu"])]
)
def test_what_is_no_name_is_no_device(value):
    """As a damaged file may have it."""
    with pytest.raises(ValueError, match="device must be 'auto', 'cpu' or 'cuda'; got"):
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
    with pytest.raises(
        ValueError, match=r"precision='tf32' needs device='cuda'.*'cpu'"
    ):
        with precision_of_products("tf32", CPU):
            pass
    assert PRECISIONS == ("float32", "tf32", "bfloat16")


@pytest.fixture
def four_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(4)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize(
    ("n_operations", "n_threads"), [(1e6, 1), (1.1e9, 2), (1e12, 4)]
)
def test_threads_are_those_that_are_kept_busy(n_operations, n_threads, four_threads):
    with threads_for(n_operations):
        assert torch.get_num_threads() == n_threads
    assert torch.get_num_threads() == 4


def test_more_threads_come_back_inside_and_after_an_error(four_threads):
    with pytest.raises(KeyError), threads_for(1e6):
        with threads_for(1e12):
            assert torch.get_num_threads() == 4
        assert torch.get_num_threads() == 1
        raise KeyError
    assert torch.get_num_threads() == 4


@pytest.mark.parametrize("name", ["is_sharing_worker", "_set_threads"])
def test_an_interrupt_on_the_way_in_leaves_no_number(monkeypatch, four_threads, name):
    def interrupt(*_):
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr(_torch, name, interrupt)
    with pytest.raises(KeyboardInterrupt), threads_for(1e6):
        pass
    # A number that was left would be the most that later blocks may have.
    torch.set_num_threads(3)
    with threads_for(1e12):
        assert torch.get_num_threads() == 3


def in_new_thread():
    with ThreadPoolExecutor(1) as new:
        return new.submit(torch.get_num_threads).result()


def test_other_threads_keep_their_number(four_threads):
    with threads_for(1e6):
        assert (torch.get_num_threads(), in_new_thread()) == (1, 4)
        with threads_for(1.1e9):
            assert (torch.get_num_threads(), in_new_thread()) == (2, 4)
    assert (torch.get_num_threads(), in_new_thread()) == (4, 4)


def test_without_a_number_of_operations_nothing_changes(four_threads):
    with threads_for():
        assert torch.get_num_threads() == 4


def test_threads_that_overlap_get_their_own_number_back(four_threads):
    first, second = Barrier(2), Barrier(2)

    def enters_first():
        with threads_for(1e6):
            first.wait()  # the other one begins inside
            second.wait()
        return torch.get_num_threads()

    def enters_inside():
        first.wait()
        found = torch.get_num_threads()
        with threads_for(1e6):
            second.wait()  # the first one ends inside
            inside = torch.get_num_threads()
        return found, inside, torch.get_num_threads()

    with ThreadPoolExecutor(2) as threads:
        one, other = threads.submit(enters_first), threads.submit(enters_inside)
        assert one.result(timeout=60) == 4
        assert other.result(timeout=60) == (4, 1, 4)
    assert (torch.get_num_threads(), in_new_thread()) == (4, 4)


def inside_and_after():
    with threads_for():
        inside = torch.get_num_threads()
    return inside, torch.get_num_threads()


def test_a_thread_of_joblib_has_one(four_threads):
    with parallel_config("threading"):
        found = Parallel(n_jobs=2)(delayed(inside_and_after)() for _ in range(4))
        alone = Parallel(n_jobs=1)(delayed(inside_and_after)() for _ in range(2))
    assert found == 4 * [(1, 4)]
    assert alone == 2 * [(4, 4)]


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (
            "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't "
            "allocate memory: you tried to allocate 25600000 bytes. Error code 12",
            "Unable to allocate 0.026 GB for a tensor; a smaller batch_size",
        ),
        ("CUDA out of memory. Tried to", "what torch needs (CUDA out of memory. Tried"),
        ("std::bad_alloc", "what torch needs (std::bad_alloc); a smaller"),
        ("can't start new thread", "what torch needs (can't start new thread); a"),
    ],
)
def test_lack_of_memory_is_a_memory_error(told, words):
    with pytest.raises(MemoryError, match=re.escape(words)), memory_errors():
        raise RuntimeError(told)


def test_other_errors_of_torch_stay():
    with pytest.raises(RuntimeError, match="shapes") as found, memory_errors():
        torch.zeros(1, 2) @ torch.zeros(3, 1)
    assert type(found.value) is RuntimeError
    with memory_errors():
        assert torch.zeros(2).sum() == 0
