"""Facts of memory_budget: it holds inside, also in workers that start there."""

import os

import pytest
from joblib import Parallel, delayed
from joblib.externals.loky import get_reusable_executor

from skfairfr._core import _memory
from skfairfr.utils import ArgumentError, memory_budget

VARIABLE = "SKFAIRFR_MEMORY"


@pytest.mark.parametrize("before", [None, "3GB"])
def test_it_holds_inside_and_what_was_there_comes_back(before, monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    if before is not None:
        monkeypatch.setenv(VARIABLE, before)
    monkeypatch.setattr(_memory, "free_bytes", lambda: 1e12)
    with memory_budget("2GB"):
        assert _memory.limit().n_bytes == 2e9
        with memory_budget(" 10% "):
            assert _memory.limit().n_bytes == 1e11
        assert _memory.limit().n_bytes == 2e9
        with pytest.raises(ZeroDivisionError), memory_budget("1GB"):
            raise ZeroDivisionError
        assert _memory.limit().n_bytes == 2e9
    assert os.environ.get(VARIABLE) == before


def limit_here():
    return _memory.limit().n_bytes


@pytest.mark.slow
def test_workers_that_start_inside_inherit_it():
    get_reusable_executor().shutdown()
    with memory_budget("7MB"):
        found = Parallel(n_jobs=2)(delayed(limit_here)() for _ in range(2))
    get_reusable_executor().shutdown()
    assert found == [7e6, 7e6]


@pytest.mark.parametrize("memory", ["4", "much", 4e9, None, "200%"])
def test_what_is_no_amount_is_refused(memory, monkeypatch):
    monkeypatch.setenv(VARIABLE, "3GB")
    message = r"^memory=.* must be an amount of memory, such as 4GB, .* free\.$"
    with pytest.raises(ArgumentError, match=message) as caught, memory_budget(memory):
        raise AssertionError("entered")
    assert caught.value.argument == "memory"
    assert caught.value.value == memory
    assert os.environ[VARIABLE] == "3GB"
