"""Weighted running sums over sorted pairs, for a block of resamples at once (jitted).

A resample gives every unit (image or identity) a multiplicity; a pair weighs the product
of its two units' multiplicities, times its base weight. Pairs are walked once in order of
score while all resamples of a block are summed side by side, so that the inner loop runs
over contiguous weights. Only a chunk in which something is to be recorded is walked again,
for that resample alone.
"""

import numpy as np
from numba import njit

# int32 partial sums of uint8 x uint8 weights stay below 2**31 for a chunk of this length,
# and int16 ones below 2**15 for multiplicities up to 11, as nearly all drawn ones are.
CHUNK = 256


def first_exceeding_positions(weights, pairs, targets, scores):
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
    scores : ndarray, shape (n_pairs,)
        In the order to walk, equal ones side by side.

    Returns
    -------
    positions : ndarray of int64, shape (n_levels, n_resamples)
        -1 where the sum of all pairs does not exceed the target.
    above : ndarray of float64, shape (n_levels, n_resamples)
        Sum of the pairs before the first one whose score is that at the position; nan
        where this walk does not tell.
    """
    targets = np.ascontiguousarray(targets)
    partial = _partial_sums(weights, pairs, targets.shape[1])
    return _walk_crossings(*weights, *pairs, targets, scores, partial)


def sums_before(weights, pairs, positions):
    """Sum of the weights of the pairs before each position.

    ``positions`` (n_levels, n_resamples) must not decrease along the first axis; the other
    arguments are those of :func:`first_exceeding_positions`.
    """
    positions = np.ascontiguousarray(positions, dtype=np.int64)
    partial = _partial_sums(weights, pairs, positions.shape[1])
    return _walk_sums(*weights, *pairs, positions, partial)


def sums_at(weights, pairs, positions):
    """Sum of the weights of the pairs before each position, the same for all resamples.

    Parameters
    ----------
    weights, pairs : tuples
        As of :func:`first_exceeding_positions`.
    positions : ndarray of int, shape (n_positions,)
        Increasing.

    Returns
    -------
    sums : ndarray of float64, shape (n_positions, n_resamples)
    """
    positions = np.ascontiguousarray(positions, dtype=np.int64)
    partial = _partial_sums(weights, pairs, weights[0].shape[1])
    return _walk_to(*weights, *pairs, positions, partial)


def _partial_sums(weights, pairs, n_resamples):
    """Room for the sums of a chunk: exact integers where the weights are, the smallest."""
    integer = weights[0].dtype == weights[1].dtype == np.uint8 and pairs[2] is None
    if not integer:
        return np.zeros(n_resamples)
    largest = CHUNK * np.prod([int(unit.max(initial=0)) for unit in weights])
    fits = largest <= np.iinfo(np.int16).max
    return np.zeros(n_resamples, np.int16 if fits else np.int32)


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
def weight_of(left_weight, right_weight, left, right, base, p, r):
    """Weight of the pair p in the resample r."""
    product = np.float64(left_weight[left[p], r]) * np.float64(
        right_weight[right[p], r]
    )
    return product if base is None else base[p] * product


@njit(nogil=True, cache=True)
def _walk_to(left_weight, right_weight, left, right, base, positions, partial):
    sums = np.zeros((positions.size, partial.size))
    total = np.zeros(partial.size)
    reached = 0
    for row in range(positions.size):
        for start in range(reached, positions[row], CHUNK):
            stop = min(start + CHUNK, positions[row])
            partial[:] = 0
            _add_pairs(
                partial, left_weight, right_weight, left, right, base, start, stop
            )
            for r in range(partial.size):
                total[r] += partial[r]
        reached = max(reached, positions[row])
        sums[row] = total
    return sums


@njit(nogil=True, cache=True)
def _walk_crossings(
    left_weight, right_weight, left, right, base, targets, scores, partial
):
    n_levels, n_resamples = targets.shape
    above = np.full((n_levels, n_resamples), np.nan)
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
                before = np.nan
                for p in range(start, stop):
                    if p == 0 or scores[p] != scores[p - 1]:
                        before = running
                    running += weight_of(
                        left_weight, right_weight, left, right, base, p, r
                    )
                    while level[r] < n_levels and running > targets[level[r], r]:
                        positions[level[r], r] = p
                        above[level[r], r] = before
                        level[r] += 1
                        open_levels -= 1
            total[r] = reached
    return positions, above


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
                    running += weight_of(
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
