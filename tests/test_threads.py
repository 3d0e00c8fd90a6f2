"""The processes that run the tests have one thread each."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info


def test_numpy_has_one_thread():
    assert np.ones((2, 2)).dot(np.ones(2)).tolist() == [2, 2]
    found = [pool for pool in threadpool_info() if pool["num_threads"] > 1]
    assert threadpool_info() and found == []


def test_torch_has_one_thread():
    torch = pytest.importorskip("torch")
    assert torch.get_num_threads() == 1
