"""Weighted running sums over sorted pairs, for a block of resamples at once (jitted).

A resample gives every unit (image or identity) a multiplicity; a pair weighs the product
of its two units' multiplicities, times its base weight. Pairs are walked once in order of
score while all resamples of a block are summed side by side, so that the inner loop runs
over contiguous weights. Only a chunk in which something is to be recorded is walked again,
for that resample alone.
"""

import numpy as np
from numba import njit

# int32 partial sums of uint8 x uint8 weights stay below 2**31 for a chunk of this length.
CHUNK = 256


def first_exceeding_positions(weights, pairs, targets):
    """First position at which the running weight exceeds each target.

    Parameters
    ----------
    weights : tuple of two ndarrays, shape (n_units, n_resamples)
        Multiplicities of the units of the left and the right member of a pair.
    pairs : tuple (left, right, base)
        Unit of each member, int32 (n_pairs,), in the order to walk; base weights float64
        (n_pairs,) or None where every pair weighs 1.
    targets : ndarray, shape (n_levels, n_resamples)
        Increasing along the first axis.

    Returns
    -------
    positions : ndarray of int64, shape (n_levels, n_resamples)
        -1 where the sum of all pairs does not exceed the target.
    """
    targets = np.ascontiguousarray(targets)
    # The type of a chunk's partial sums chooses exact integers where they suffice.
    integer = weights[0].dtype == weights[1].dtype == np.uint8 and pairs[2] is None
    partial = np.zeros(targets.shape[1], np.int32 if integer else np.float64)
    return _walk_crossings(*weights, *pairs, targets, partial)


def sums_before(weights, pairs, positions):
    """Sum of the weights of the pairs before each position.

    ``positions`` (n_levels, n_resamples) must not decrease along the first axis; the other
    arguments are those of :func:`first_exceeding_positions`.
    """
    positions = np.ascontiguousarray(positions, dtype=np.int64)
    integer = weights[0].dtype == weights[1].dtype == np.uint8 and pairs[2] is None
    partial = np.zeros(positions.shape[1], np.int32 if integer else np.float64)
    return _walk_sums(*weights, *pairs, positions, partial)


@njit(nogil=True, cache=True, inline="always")
def _add_pairs(partial, left_weight, right_weight, left, right, base, start, stop):
    kind = partial.dtype.type
    for p in range(start, stop):
        a = left_weight[left[p]]
        b = right_weight[right[p]]
        if base is None:
            for r in range(partial.size):
                partial[r] += kind(a[r]) * kind(b[r])
        else:
            for r in range(partial.size):
                partial[r] += base[p] * (kind(a[r]) * kind(b[r]))


@njit(nogil=True, cache=True, inline="always")
def _weight(left_weight, right_weight, left, right, base, p, r):
    product = np.float64(left_weight[left[p], r]) * np.float64(
        right_weight[right[p], r]
    )
    return product if base is None else base[p] * product


@njit(nogil=True, cache=True)
def _walk_crossings(left_weight, right_weight, left, right, base, targets, partial):
    n_levels, n_resamples = targets.shape
    positions = np.full((n_levels, n_resamples), -1, dtype=np.int64)
    total = np.zeros(n_resamples)
    level = np.zeros(n_resamples, dtype=np.int64)
    open_levels = n_levels * n_resamples
    for start in range(0, left.size, CHUNK):
        if open_levels == 0:
            break
        stop = min(start + CHUNK, left.size)
        partial[:] = 0
        _add_pairs(partial, left_weight, right_weight, left, right, base, start, stop)
        for r in range(n_resamples):
            reached = total[r] + partial[r]
            if level[r] < n_levels and reached > targets[level[r], r]:
                running = total[r]
                for p in range(start, stop):
                    running += _weight(
                        left_weight, right_weight, left, right, base, p, r
                    )
                    while level[r] < n_levels and running > targets[level[r], r]:
                        positions[level[r], r] = p
                        level[r] += 1
                        open_levels -= 1
            total[r] = reached
    return positions


@njit(nogil=True, cache=True)
def _walk_sums(left_weight, right_weight, left, right, base, positions, partial):
    n_levels, n_resamples = positions.shape
    sums = np.zeros((n_levels, n_resamples))
    total = np.zeros(n_resamples)
    level = np.zeros(n_resamples, dtype=np.int64)
    open_levels = n_levels * n_resamples
    for start in range(0, left.size, CHUNK):
        if open_levels == 0:
            break
        stop = min(start + CHUNK, left.size)
        for r in range(n_resamples):
            running = total[r]
            p = start
            while level[r] < n_levels and positions[level[r], r] < stop:
                while p < positions[level[r], r]:
                    running += _weight(
                        left_weight, right_weight, left, right, base, p, r
                    )
                    p += 1
                sums[level[r], r] = running
                level[r] += 1
                open_levels -= 1
        partial[:] = 0
        _add_pairs(partial, left_weight, right_weight, left, right, base, start, stop)
        for r in range(n_resamples):
            total[r] += partial[r]
    for r in range(n_resamples):
        for remaining in range(level[r], n_levels):
            sums[remaining, r] = total[r]
    return sums
