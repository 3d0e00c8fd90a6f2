"""Scored pairs in descending order of score.

A tail holds millions of float32 scores with two images each. numpy has no fast argsort of
float32, and gathering three arrays in a random order costs as much again; three counting
passes over 11 bits each (a radix sort) carry the images along and are stable besides.
"""

import numpy as np
from numba import njit

BITS = 11
BUCKETS = 1 << BITS
SIGN = np.uint32(0x80000000)


def sort_pairs(scores, left, right):
    """Pairs by descending score, ties in their given order; scores without NaN.

    Parameters
    ----------
    scores : ndarray of float32 or float64, shape (n_pairs,)
    left, right : ndarrays of int32, shape (n_pairs,)

    Returns
    -------
    scores, left, right : ndarrays, shape (n_pairs,)
    """
    if scores.dtype != np.float32:
        order = np.argsort(-scores, kind="stable")
        return scores[order], left[order], right[order]
    bits = (scores + np.float32(0.0)).view(np.uint32)  # + 0: no negative zero
    keys, left, right = _radix_sort(bits, left, right)
    return keys.view(np.float32), left, right


@njit(nogil=True, cache=True, inline="always")
def _turned(bits):
    """A float's bits as an integer that falls as the float rises; its own inverse.

    A negative float's bits already rise as it falls; a positive one's are turned round.
    """
    return bits if bits & SIGN else np.uint32(~(bits | SIGN))


@njit(nogil=True, cache=True)
def _radix_sort(bits, left, right):
    n = bits.size
    keys, next_keys = np.empty_like(bits), np.empty_like(bits)
    ends, next_ends = np.empty((2, n), dtype=np.uint64)
    starts = np.zeros((3, BUCKETS), dtype=np.int64)
    for p in range(n):
        key = np.uint32(_turned(bits[p]))
        keys[p] = key
        ends[p] = np.uint64(left[p]) << np.uint64(32) | np.uint64(right[p])
        for digit in range(3):
            starts[digit, (key >> np.uint32(BITS * digit)) & (BUCKETS - 1)] += 1
    for digit in range(3):
        before = 0
        for bucket in range(BUCKETS):
            count = starts[digit, bucket]
            starts[digit, bucket] = before
            before += count
    for digit in range(3):
        for p in range(n):
            bucket = (keys[p] >> np.uint32(BITS * digit)) & (BUCKETS - 1)
            place = starts[digit, bucket]
            starts[digit, bucket] = place + 1
            next_keys[place] = keys[p]
            next_ends[place] = ends[p]
        keys, next_keys = next_keys, keys
        ends, next_ends = next_ends, ends
    first = np.empty(n, dtype=np.int32)
    second = np.empty(n, dtype=np.int32)
    for p in range(n):
        keys[p] = _turned(keys[p])
        first[p] = np.int32(ends[p] >> np.uint64(32))
        second[p] = np.int32(ends[p] & np.uint64(0xFFFFFFFF))
    return keys, first, second
