"""Facts of the bits of integers that reach a limit: they are those of a loop over floats."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from skfairfr._core._reaching import WIDTH, write_reaching

KINDS = [np.int16, np.int32]


def floats_of(bits):
    """The floats of bits; those of 16 bits are the upper halves."""
    wide = bits.astype(np.int32) << 16 if bits.dtype == np.int16 else bits
    return wide.view(np.float32)


def found_in(bits, first, stop, limit):
    found = np.full(bits.size + 1, -1, dtype=np.int32)
    n = write_reaching(bits, first, stop, limit, found)
    return found[:n].tolist()


@pytest.mark.parametrize("kind", KINDS)
@given(
    st.integers(0, 1000),
    st.integers(0, 3 * WIDTH),
    st.integers(0, 3 * WIDTH),
    st.sampled_from([-0.7, -0.01, 0.0, 0.01, 0.7]),
)
@example(0, 1, 40, -0.7)  # too few for a vector
@example(0, 1, 40, 0.0)
@example(0, 1, 40, 0.7)
def test_places_are_those_of_a_loop(kind, seed, first, length, limit):
    shift = 16 if kind == np.int16 else 0
    scores = np.random.default_rng(seed).uniform(-1, 1, first + length)
    bits = (scores.astype(np.float32).view(np.int32) >> shift).astype(kind)
    bits[::7] = np.float32(limit).view(np.int32) >> shift  # exactly at the limit
    bits[3::11] = 0
    code = np.int64(np.float32(limit).view(np.int32) >> shift)
    limit = floats_of(np.array([code], dtype=kind))[0]
    expected = first + np.flatnonzero(floats_of(bits)[first:] >= limit)
    assert found_in(bits, first, first + length, code) == expected.tolist()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [0, 1, WIDTH - 1, WIDTH, WIDTH + 1, 5 * WIDTH])
def test_all_and_none_are_found(kind, n):
    ones = np.full(n, np.iinfo(kind).max, dtype=kind)
    assert found_in(ones, 0, n, 5) == list(range(n))
    assert found_in(-ones, 0, n, 5) == []
