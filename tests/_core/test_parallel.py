"""Facts of blocks of work: same results in the same order on every back end."""

import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from joblib import Parallel, cpu_count, delayed, parallel_config
from threadpoolctl import threadpool_info, threadpool_limits

from skfairfr._core._parallel import (
    _Lines,
    is_sharing_worker,
    n_threads,
    next_step,
    over_blocks,
    show_progress,
)

TASKS = [(i, 2) for i in range(7)]


def raised(base, exponent):
    time.sleep(0.002 * (7 - base))  # the last are done first
    return base**exponent


def blas_threads(*_):
    return [p["num_threads"] for p in threadpool_info() if p["user_api"] == "blas"]


@pytest.mark.parametrize("n_jobs", [None, 1, 2, -1])
def test_results_come_in_order_for_any_number_of_workers(n_jobs):
    with parallel_config("threading"):
        found = over_blocks(raised, TASKS, n_jobs, "raising")
    assert found == [base**2 for base in range(7)]


def start_blas_with(number):
    """As the environment would: threadpoolctl knows no thread that limited it."""
    with ThreadPoolExecutor(1) as ends:
        ends.submit(threadpool_limits, number, user_api="blas").result()


@pytest.fixture
def two_blas_threads():
    """The tests run with one, and one says nothing of a limit that comes and goes."""
    start_blas_with(2)
    assert set(blas_threads()) == {2}
    yield
    assert set(blas_threads()) == {2}
    start_blas_with(1)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_limit_of_the_caller_comes_back(n_jobs, two_blas_threads):
    """Since threadpoolctl 3.8 nobody but the caller may then change it."""
    with threadpool_limits(2, user_api="blas"), parallel_config("threading"):
        inside = over_blocks(blas_threads, TASKS, n_jobs, "asking")
        assert all(n == 1 for threads in inside for n in threads)
        assert set(blas_threads()) == {2}


def test_one_layer_is_parallel_at_a_time(two_blas_threads):
    with parallel_config("threading"):
        inside = over_blocks(lambda *_: n_threads(), TASKS, 2, "asking")
    assert inside == [1] * 7


class Holder:
    def __init__(self, values):
        self.values = values


def file_of(holder, *_):
    return getattr(holder.values, "filename", None)


@pytest.mark.slow
def test_processes_map_one_copy_of_a_large_array_inside_an_object():
    holder = Holder(np.zeros(2**18))
    files = over_blocks(file_of, TASKS, 2, "asking", shared=(holder,))
    assert len(set(files)) == 1 and files[0] is not None


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_workers_leave_blas_one_thread_and_give_it_back(n_jobs, two_blas_threads):
    with parallel_config("threading"):
        inside = over_blocks(blas_threads, TASKS, n_jobs, "asking")
    assert all(n == 1 for threads in inside for n in threads)
    assert set(blas_threads()) == {2}


@pytest.mark.parametrize("shown", [True, False])
def test_a_bar_says_what_is_done_and_how_much(shown, capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with show_progress(shown):
        over_blocks(raised, TASKS, None, "raising", sizes=range(7))
    drawn = capsys.readouterr().err
    assert ("raising" in drawn) == ("/21" in drawn) == shown


def test_one_bar_goes_over_all_steps(capsys, monkeypatch):
    """It never goes back, and names what runs."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with show_progress(n_steps=2):
        next_step("first")
        over_blocks(time.sleep, [(0.11,)] * 2, None, "comparing all pairs")
        next_step("second")
        over_blocks(time.sleep, [(0.11,)] * 2, None, "resampling")
    drawn = capsys.readouterr().err
    # A second bar would be drawn on a line of its own.
    assert "\n" not in drawn.strip("\n") and "\x1b[A" not in drawn
    shares = [int(share) for share in re.findall(r"(\d+)%\|", drawn)]
    assert shares == sorted(shares) and shares[0] == 0
    assert max(shares) == 50
    for text in ("first (step 1 of 2)", "second (step 2 of 2): resampling 100 %"):
        assert text in drawn


def of_worker():
    return is_sharing_worker(), n_threads()


@pytest.mark.parametrize(
    ("backend", "n_jobs", "sharing"),
    [
        *(("threading", 2, True), ("threading", 1, False)),
        pytest.param("loky", 2, False, marks=pytest.mark.slow),
    ],
)
def test_threads_of_joblib_have_one_thread(backend, n_jobs, sharing, two_blas_threads):
    with parallel_config(backend):
        found = Parallel(n_jobs=n_jobs)(delayed(of_worker)() for _ in range(3))
    # The environment of a process says how many it has: one in the tests.
    n = 1 if n_jobs == 2 else min(2, cpu_count())
    assert found == [(sharing, n)] * 3
    assert of_worker() == (False, min(2, cpu_count()))


@pytest.mark.slow
def test_processes_limit_blas_themselves():
    """The last one: its processes are others than those of the tests before."""
    with parallel_config("loky", inner_max_num_threads=2):
        inside = over_blocks(blas_threads, TASKS, 2, "asking")
    assert all(n == 1 for threads in inside for n in threads)


def test_text_of_several_states_of_a_bar_is_a_line_of_the_last(capsys, monkeypatch):
    monkeypatch.setattr("skfairfr._core._parallel.EVERY", 0)
    _Lines().write("\r 10% a\r 20% b\r")
    assert capsys.readouterr().err == "20% b\n"
