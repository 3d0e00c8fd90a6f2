"""Weighted running sums over sorted pairs, for a block of resamples at once (jitted).

A resample gives every unit (image or identity) a multiplicity; a pair weighs the product
of its two units' multiplicities, times its base weight. Pairs are walked once in order of
score while all resamples of a block are summed side by side, so that the inner loop runs
over contiguous weights. The sums before some of the pairs are kept (``RowSums``): from
there each resample walks the few pairs to what is asked of it alone.
"""

import numpy as np
from numba import njit

# int32 partial sums of uint8 x uint8 weights stay below 2**31 for a chunk of this length,
# and int16 ones below 2**15 for multiplicities up to 11, as nearly all drawn ones are.
CHUNK = 256
# Pairs from one row of sums to the next at least, and rows at most, beside the first.
LEAST = CHUNK
ROWS = 2048


class RowSums:
    """Sums of the weights of the pairs before every ``step``-th pair, as far as asked.

    Parameters
    ----------
    weights : tuple of two ndarrays, shape (n_units, n_resamples)
        Multiplicities of the units of the left and the right member of a pair.
    pairs : tuple (left, right, base)
        Unit of each member, int32 (n_pairs,), in the order to walk; base weights float64
        (n_pairs,) or None where every pair weighs 1.

    Attributes
    ----------
    step : int
    known : ndarray, shape (n_rows, n_resamples)
        The rows so far; row k is at the pair k * step.
    n_bytes : int
        Memory that all rows take.
    """

    def __init__(self, weights, pairs):
        n_pairs, n_resamples = pairs[0].size, weights[0].shape[1]
        # One chunk, or more so that rows are few.
        self.step = LEAST * max(1, -(-n_pairs // (LEAST * ROWS)))
        self._walked = (*weights, *pairs)
        # Sums of a chunk are the smallest exact integers where weights are so.
        self._kind = np.float64
        if pairs[-1] is None and all(unit.dtype == np.uint8 for unit in weights):
            most = [int(unit.max(initial=0)) for unit in weights]
            fits = CHUNK * np.prod(most) <= np.iinfo(np.int16).max
            self._kind = np.int16 if fits else np.int32
        # Memory that no walk reaches is never touched.
        self._sums = np.empty((n_pairs // self.step + 1, n_resamples))
        self._sums[0] = 0.0
        self.known = self._sums[:1]
        self.n_bytes = self._sums.nbytes

    def reach(self, position, targets=np.inf):
        """Rows down to a position, or until one exceeds the target of every resample.

        Parameters
        ----------
        position : int
        targets : float, or ndarray of float64, shape (n_resamples,), default=inf
        """
        n_known = _extend(
            *self._walked,
            self._sums,
            self.step,
            len(self.known),
            1 + int(position) // self.step,
            np.broadcast_to(targets, self._sums.shape[1]).astype(np.float64),
            np.empty(self._sums.shape[1], self._kind),
        )
        self.known = self._sums[:n_known]
        return self


def first_exceeding_positions(weights, pairs, targets, rows=None):
    """First position at which the running weight exceeds each target.

    Parameters
    ----------
    weights, pairs : tuples
        As of ``RowSums``.
    targets : ndarray, shape (n_levels, n_resamples)
        Increasing along the first axis.
    rows : RowSums, default=None
        Of these weights and pairs; each walk starts from the nearest one known.

    Returns
    -------
    positions : ndarray of int64, shape (n_levels, n_resamples)
        -1 where the sum of all pairs does not exceed the target.
    """
    rows = RowSums(weights, pairs) if rows is None else rows
    targets = np.ascontiguousarray(targets)
    return _walk_crossings(*weights, *pairs, targets, rows.known, rows.step)


def sums_before(weights, pairs, positions, rows=None):
    """Sum of the weights of the pairs before each position.

    ``positions`` (n_levels, n_resamples) may have any order; the other arguments are those
    of :func:`first_exceeding_positions`.
    """
    rows = RowSums(weights, pairs) if rows is None else rows
    positions = np.ascontiguousarray(positions, dtype=np.int64)
    return _walk_sums(*weights, *pairs, positions, rows.known, rows.step)


@njit(nogil=True, cache=True, inline="always")
def weight_of(left_weight, right_weight, left, right, base, p, r):
    """Weight of the pair p in the resample r."""
    product = np.float64(left_weight[left[p], r]) * np.float64(
        right_weight[right[p], r]
    )
    return product if base is None else base[p] * product


@njit(nogil=True, cache=True, inline="always")
def _sum_of_chunk(left_weight, right_weight, left, right, base, start, stop, r):
    """Weight of some pairs in the resample r, added to zero in their order."""
    total = 0.0
    for p in range(start, stop):
        total += weight_of(left_weight, right_weight, left, right, base, p, r)
    return total


@njit(nogil=True, cache=True)
def sum_products(sums, left_weight, right_weight, left, right, base, start, stop):
    """Write the weight of the pairs [start, stop) in every resample.

    ``sums`` (n_resamples,) is int16, int32 or float64; every sum fits into its type.
    """
    kind = sums.dtype.type
    for r in range(sums.size):
        sums[r] = 0
    for p in range(start, stop):
        a, b = left_weight[left[p]], right_weight[right[p]]
        if base is None:
            for r in range(sums.size):
                sums[r] += kind(a[r]) * kind(b[r])
        else:
            for r in range(sums.size):
                sums[r] += base[p] * (kind(a[r]) * kind(b[r]))


@njit(nogil=True, cache=True)
def _copy(values, into):
    """Copy a row; numba compiles the errors of ``into[:] = values`` for seconds."""
    for r in range(values.size):
        into[r] = values[r]


@njit(nogil=True, cache=True)
def _extend(
    left_weight,
    right_weight,
    left,
    right,
    base,
    sums,
    step,
    n_known,
    n_rows,
    targets,
    partial,
):
    """Write rows until there are n_rows, or one exceeds all targets; return how many."""
    while n_known < n_rows:
        before, total = sums[n_known - 1], sums[n_known]
        n_beyond = 0
        for r in range(partial.size):
            n_beyond += before[r] > targets[r]
        if n_beyond == partial.size:
            break
        _copy(before, total)
        for start in range((n_known - 1) * step, n_known * step, CHUNK):
            stop = min(start + CHUNK, n_known * step)
            sum_products(
                partial, left_weight, right_weight, left, right, base, start, stop
            )
            for r in range(partial.size):
                total[r] += partial[r]
        n_known += 1
    return n_known


@njit(nogil=True, cache=True)
def _walk_crossings(left_weight, right_weight, left, right, base, targets, known, step):
    n_levels, n_resamples = targets.shape
    positions = np.full((n_levels, n_resamples), -1, dtype=np.int64)
    for r in range(n_resamples):
        row = 0
        for level in range(n_levels):
            target = targets[level, r]
            end = known.shape[0]  # the first row known to exceed the target
            while end - row > 1:
                middle = (row + end) // 2
                if known[middle, r] > target:
                    end = middle
                else:
                    row = middle
            total, start = known[row, r], row * step
            while start < left.size and positions[level, r] < 0:
                stop = min(start + CHUNK, left.size)
                reached = total + _sum_of_chunk(
                    left_weight, right_weight, left, right, base, start, stop, r
                )
                for p in range(start, stop if reached > target else start):
                    total += weight_of(
                        left_weight, right_weight, left, right, base, p, r
                    )
                    if total > target:
                        positions[level, r] = p
                        break
                total, start = reached, stop
            if positions[level, r] < 0:
                break  # the sum of all pairs exceeds no larger target either
    return positions


@njit(nogil=True, cache=True)
def _walk_sums(left_weight, right_weight, left, right, base, positions, known, step):
    n_levels, n_resamples = positions.shape
    sums = np.empty((n_levels, n_resamples))
    for level in range(n_levels):
        for r in range(n_resamples):
            position = positions[level, r]
            row = min(position // step, known.shape[0] - 1)
            total, start = known[row, r], row * step
            while start < position:
                # The last chunk counts as a whole one where all of its pairs are asked.
                whole = min(start + CHUNK, left.size) <= position
                stop = min(start + CHUNK, position)
                if whole:
                    total += _sum_of_chunk(
                        left_weight, right_weight, left, right, base, start, stop, r
                    )
                else:
                    for p in range(start, stop):
                        total += weight_of(
                            left_weight, right_weight, left, right, base, p, r
                        )
                start = stop
            sums[level, r] = total
    return sums
