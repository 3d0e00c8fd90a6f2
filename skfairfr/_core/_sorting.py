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
    ends = left.astype(np.uint64) << np.uint64(32)
    ends |= right.astype(np.uint64)
    keys, ends = _radix_sort(_descending_keys(scores), ends)
    left = (ends >> np.uint64(32)).astype(np.int32)
    return _scores_of(keys), left, ends.astype(np.uint32).view(np.int32)


def _descending_keys(scores):
    """Integers whose ascending order is the descending order of the scores."""
    bits = (scores + np.float32(0.0)).view(np.uint32)  # + 0: no negative zero
    # A negative float's bits already fall as it rises; a positive one's are turned round.
    return np.where(bits & SIGN, bits, ~(bits | SIGN))


def _scores_of(keys):
    """The scores that the keys were made of."""
    return np.where(keys & SIGN, keys, ~(keys | SIGN)).view(np.float32)


@njit(nogil=True, cache=True)
def _radix_sort(keys, payload):
    n = keys.size
    starts = np.zeros((3, BUCKETS), dtype=np.int64)
    for p in range(n):
        for digit in range(3):
            starts[digit, (keys[p] >> np.uint32(BITS * digit)) & (BUCKETS - 1)] += 1
    for digit in range(3):
        before = 0
        for bucket in range(BUCKETS):
            count = starts[digit, bucket]
            starts[digit, bucket] = before
            before += count
    next_keys, next_payload = np.empty_like(keys), np.empty_like(payload)
    for digit in range(3):
        for p in range(n):
            bucket = (keys[p] >> np.uint32(BITS * digit)) & (BUCKETS - 1)
            place = starts[digit, bucket]
            starts[digit, bucket] = place + 1
            next_keys[place] = keys[p]
            next_payload[place] = payload[p]
        keys, next_keys = next_keys, keys
        payload, next_payload = next_payload, payload
    return keys, payload
