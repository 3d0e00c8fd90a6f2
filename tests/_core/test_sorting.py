"""The radix sort against numpy's stable argsort."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal

from skfairfr._core._pair_sequences import sort_pairs

SPECIAL = np.array([0.0, -0.0, 1e-45, -1e-45, 3e38, -3e38, np.inf, -np.inf, 1.0, -1.0])


def assert_sorted_as_by_numpy(scores):
    left = np.arange(scores.size, dtype=np.int32)
    right = np.arange(scores.size, dtype=np.int32)[::-1].copy()
    order = np.argsort(-scores, kind="stable")
    got = sort_pairs(scores, left, right)
    for found, expected in zip(got, (scores, left, right), strict=True):
        assert_array_equal(found, expected[order])
        assert found.dtype == expected.dtype


@given(
    hnp.arrays(
        st.sampled_from([np.float32, np.float64]),
        st.integers(0, 200),
        elements=st.floats(width=32, allow_nan=False) | st.sampled_from([-1.0, 0.5]),
    )
)
def test_any_scores(scores):
    assert_sorted_as_by_numpy(scores)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_special_values_and_ties(dtype):
    assert_sorted_as_by_numpy(np.tile(SPECIAL, 7).astype(dtype))


def test_many_scores_of_a_narrow_range():
    rng = np.random.default_rng(0)
    assert_sorted_as_by_numpy((0.3 + 0.01 * rng.random(50_000)).astype(np.float32))
