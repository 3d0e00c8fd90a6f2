"""Pairs sorted by descending score: sorting, splitting by group, and sums along them.

Rates, thresholds and their replicates are running sums over such a sequence. A resample
gives every unit (image or identity) a multiplicity. A pair weighs the product of its two
units' multiplicities, times its base weight. Jitted loops walk the pairs in order of score
and sum all resamples of a block side by side, over contiguous weights.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numba import njit

from skfairfr._core._resampling import smallest

# Bytes of running sums that a sequence keeps.
KEPT_BYTES = 2**24


@dataclass(frozen=True)
class PairSequence:
    """Pairs of one scope, sorted by descending score.

    Attributes
    ----------
    scores : ndarray, shape (n_pairs,)
    left, right : ndarray of int32, shape (n_pairs,)
        Images of a pair.
    base : ndarray of float64, shape (n_pairs,), or None where every pair weighs 1
    complete : bool
        Whether all pairs of the scope are stored. A tail contains only the largest scores.
    of_one : bool
        Whether each is a search by one person, whose image is both: it weighs v_k w_i.
    """

    scores: np.ndarray
    left: np.ndarray
    right: np.ndarray
    base: np.ndarray | None = None
    complete: bool = True
    of_one: bool = False
    _identities: list = field(default_factory=list, repr=False, compare=False)
    _sums: dict = field(default_factory=dict, init=False, repr=False, compare=False)

    def __getstate__(self):
        return vars(self) | {"_sums": {}}

    def take(self, rows):
        """The pairs at ``rows`` (increasing positions or a mask)."""
        base = None if self.base is None else self.base[rows]
        return replace(
            self,
            scores=self.scores[rows],
            left=self.left[rows],
            right=self.right[rows],
            base=base,
            _identities=[],
        )

    def times(self, factor):
        """The pairs, each of which weighs ``factor`` times as much."""
        return replace(self, base=factor if self.base is None else self.base * factor)

    def identities(self, images, n=None):
        """Identity of the left and right image of each of the first n pairs. That of all is kept."""
        if self._identities:
            return tuple(end[:n] for end in self._identities[0])
        ends = tuple(images.identity[end[:n]] for end in (self.left, self.right))
        if n is None:
            self._identities.append(ends)
        return ends

    def weighed(self, weights=None, images=None, genuine=False):
        """The pairs' weights in a block of resamples, RunningSums. Kept for the next question.

        Parameters
        ----------
        weights : Weights, default=None
            None is the data: every image once.
        images : Images, default=None
        genuine : bool, default=False
            Whether the two images of a pair are of one person, who is drawn once: it
            weighs v_k w_i w_j, and other pairs v_k w_i v_l w_j.
        """
        if weights is None or weights.identity is weights.image is None:
            return RunningSums(self.scores.size, self.base)
        if weights.block in self._sums:
            return self._sums[weights.block]
        ends, own = (self.left, self.right), weights.image
        if own is None:
            ends, own = self.identities(images), weights.identity
            other = own
        else:
            if weights.identity is not None:
                people = weights.identity[images.identity].astype(np.int64)
                own = smallest(people * own)
            other = weights.image if genuine else own
        if self.of_one or (genuine and weights.image is None):
            other = np.ones((1, weights.n_resamples), dtype=own.dtype)
            ends = (ends[0], np.zeros_like(ends[0]))
        sums = RunningSums(self.scores.size, self.base, (own, other), ends)
        kept = sum(known.n_bytes for known in list(self._sums.values()))
        if weights.block is not None and kept + sums.n_bytes <= KEPT_BYTES:
            self._sums[weights.block] = sums
        return sums


@njit(nogil=True, cache=True)
def split_by_groups(scores, left, right, group, n_groups, across, ordered):
    """Pairs split into cells by their groups, cell after cell. A cell keeps their order.

    Parameters
    ----------
    scores, left, right : ndarrays, shape (n_pairs,)
    group : ndarray of int, shape (n_images,)
        -1 is unknown. Pairs with such an image are in no cell.
    n_groups : int
    across : bool
        False: one cell for each group, of the pairs within it. True: cell g * n_groups + h
        for every two other groups.
    ordered : bool
        Whether (g, h) and (h, g) differ, else g < h.

    Returns
    -------
    scores, left, right : ndarrays, shape (n_inside,)
    bounds : ndarray of int, shape (n_cells + 1,)
        Start of each cell.
    """
    n_cells = n_groups * n_groups if across else n_groups
    # Counted, then written: an order of all pairs would take twice their memory.
    bounds = np.zeros(n_cells + 1, dtype=np.int64)
    for p in range(scores.size):
        cell = _cell_of(group[left[p]], group[right[p]], n_groups, across, ordered)
        if cell >= 0:
            bounds[cell + 1] += 1
    bounds = np.cumsum(bounds)
    place, n = bounds.copy(), bounds[n_cells]
    found = np.empty(n, scores.dtype)
    first, second = np.empty(n, left.dtype), np.empty(n, right.dtype)
    for p in range(scores.size):
        cell = _cell_of(group[left[p]], group[right[p]], n_groups, across, ordered)
        if cell >= 0:
            to = place[cell]
            place[cell] = to + 1
            found[to], first[to], second[to] = scores[p], left[p], right[p]
    return found, first, second, bounds


@njit(nogil=True, cache=True, inline="always")
def _cell_of(g, h, n_groups, across, ordered):
    """Cell of a pair of images of two groups, or -1 where it is in none."""
    if g < 0 or h < 0 or across == (g == h):
        return -1
    if not across:
        return g
    return g * n_groups + h if ordered or g < h else h * n_groups + g


BITS = 11
BUCKETS = 1 << BITS
# Up to so many pairs are sorted by insertion.
FEW = 64
SIGN = np.uint32(0x80000000)


def sort_pairs(scores, left, right):
    """Pairs sorted by descending score. Ties keep their order. Scores have no NaN.

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
    keys, left, right = _radix_sort(scores.view(np.uint32), left, right)
    return keys.view(np.float32), left, right


@njit(nogil=True, cache=True, inline="always")
def _descending_key(bits):
    """A float's bits as an integer that falls as the float grows. Self-inverse but for -0."""
    # The bits of a negative float already fall as it grows. Those of a positive one, and
    # of minus zero, which is zero, are flipped.
    return bits if bits > SIGN else np.uint32(~(bits | SIGN))


@njit(nogil=True, cache=True)
def _radix_sort(bits, left, right):
    """By the first bits of what keys exceed the lowest by, then each bucket by itself."""
    n = bits.size
    lowest, highest = np.int64(2**32), np.int64(0)
    for p in range(n):
        key = np.int64(_descending_key(bits[p]))
        lowest, highest = min(lowest, key), max(highest, key)
    shift = 0
    while (highest - lowest) >> shift >= BUCKETS:
        shift += 1
    bounds = np.zeros(BUCKETS + 1, dtype=np.int64)
    for p in range(n):
        bounds[((np.int64(_descending_key(bits[p])) - lowest) >> shift) + 1] += 1
    bounds = np.cumsum(bounds)
    place = bounds[:-1].copy()
    keys = np.empty(n, dtype=np.uint32)
    first, second = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
    for p in range(n):
        key = _descending_key(bits[p])
        bucket = (np.int64(key) - lowest) >> shift
        to = place[bucket]
        place[bucket] = to + 1
        keys[to], first[to], second[to] = key, left[p], right[p]
    most = 0
    for bucket in range(BUCKETS):
        most = max(most, bounds[bucket + 1] - bounds[bucket])
    if shift:
        columns = (
            np.empty(most, dtype=np.uint32),
            np.empty(most, dtype=np.int32),
            np.empty(most, dtype=np.int32),
        )
        for bucket in range(BUCKETS):
            run = slice(bounds[bucket], bounds[bucket + 1])
            _sort_run(keys[run], first[run], second[run], *columns, lowest, shift)
    for p in range(n):
        keys[p] = _descending_key(keys[p])
    return keys, first, second


@njit(nogil=True, cache=True)
def _sort_run(keys, first, second, some_keys, some_first, some_second, lowest, n_bits):
    """Sort pairs in place by the last ``n_bits`` of what their keys exceed the lowest by."""
    n = keys.size
    if n <= FEW:
        for p in range(1, n):
            key, one, other, to = keys[p], first[p], second[p], p
            while to > 0 and keys[to - 1] > key:
                keys[to], first[to] = keys[to - 1], first[to - 1]
                second[to] = second[to - 1]
                to -= 1
            keys[to], first[to], second[to] = key, one, other
        return
    for digit in range(0, n_bits, BITS):
        starts = np.zeros(BUCKETS + 1, dtype=np.int64)
        for p in range(n):
            starts[((np.int64(keys[p]) - lowest) >> digit & (BUCKETS - 1)) + 1] += 1
        starts = np.cumsum(starts)
        for p in range(n):
            bucket = (np.int64(keys[p]) - lowest) >> digit & (BUCKETS - 1)
            to = starts[bucket]
            starts[bucket] = to + 1
            some_keys[to] = keys[p]
            some_first[to], some_second[to] = first[p], second[p]
        keys[:] = some_keys[:n]
        first[:], second[:] = some_first[:n], some_second[:n]


# ---- running sums --------------------------------------------------------------------

# int32 partial sums of uint8 x uint8 weights stay below 2**31 for a chunk of this length,
# and int16 ones below 2**15 for multiplicities up to 11, as nearly all drawn ones are.
CHUNK = 256
# Pairs from one row of sums to the next at least, and rows at most, next to the first.
LEAST = CHUNK
ROWS = 2048


class RunningSums:
    """Weights of sorted pairs, summed from the first on, in every resample of a block.

    Sums before every ``step``-th pair are kept as far as asked: from there each resample
    walks the few pairs to what is asked of it alone.

    Parameters
    ----------
    n_pairs : int
    base : ndarray of float64, shape (n_pairs,), or None where every pair weighs 1
    weights : tuple of two ndarrays, shape (n_units, n_resamples), default=None
        Multiplicities of the units of the left and the right member of a pair. If None, the
        data, where each is 1.
    units : tuple of two ndarrays of int32, shape (n_pairs,), default=None
        Unit of each member.

    Attributes
    ----------
    step : int
    known : ndarray, shape (n_rows, n_resamples)
        The rows so far. Row k is at the pair k * step.
    n_bytes : int
        Memory that all rows take.
    """

    def __init__(self, n_pairs, base, weights=None, units=None):
        self.n_pairs, self.base = n_pairs, base
        self.n_resamples, self._walked = 1, None
        if weights is None:
            return
        self.n_resamples, self._walked = weights[0].shape[1], (*weights, *units, base)
        # One chunk, or several to keep rows few.
        self.step = LEAST * max(1, -(-n_pairs // (LEAST * ROWS)))
        # Sums of a chunk are the smallest exact integers where weights are so.
        self._kind = np.float64
        if base is None and all(unit.dtype == np.uint8 for unit in weights):
            most = [int(unit.max(initial=0)) for unit in weights]
            fits = CHUNK * np.prod(most) <= np.iinfo(np.int16).max
            self._kind = np.int16 if fits else np.int32
        # Memory that no walk reaches is never touched.
        self._sums = np.empty((n_pairs // self.step + 1, self.n_resamples))
        self._sums[0] = 0.0
        self.known = self._sums[:1]
        self.n_bytes = self._sums.nbytes

    def first_exceeding(self, targets):
        """First position at which the running weight exceeds each target.

        Parameters
        ----------
        targets : ndarray, shape (n_levels, n_resamples)
            Increasing along the first axis.

        Returns
        -------
        positions : ndarray of int64, shape (n_levels, n_resamples)
            -1 where the sum of all pairs does not exceed the target.
        """
        if self._walked is not None:
            self._reach(self.n_pairs, targets.max(axis=0, initial=0.0))
            targets = np.ascontiguousarray(targets)
            return _walk_crossings(*self._walked, targets, self.known, self.step)
        if self.base is None:
            position = np.floor(targets).astype(np.int64)
        else:
            position = np.searchsorted(np.cumsum(self.base), targets, side="right")
        return np.where(position < self.n_pairs, position, -1)

    def before(self, positions):
        """Weight of the pairs before each position (n_levels, n_resamples), in any order."""
        if self._walked is not None:
            self._reach(positions.max(initial=0))
            positions = np.ascontiguousarray(positions, dtype=np.int64)
            return _walk_sums(*self._walked, positions, self.known, self.step)
        if self.base is None:
            return positions.astype(np.float64)
        sums = np.cumsum(self.base[: positions.max(initial=0)])
        return np.concatenate([[0.0], sums])[positions]

    def up_to(self, positions):
        """Weight of the pairs before increasing positions that all resamples share.

        Parameters
        ----------
        positions : ndarray of int, shape (n_positions,)

        Returns
        -------
        weight : ndarray, shape (n_positions, n_resamples)
            One walk over the pairs. :meth:`before` walks few of them to few positions.
        """
        if self._walked is None:
            return self.before(positions[:, None])
        found = np.zeros((positions.size, self.n_resamples))
        sums = np.empty(self.n_resamples, self._kind)
        _walk_up_to(*self._walked, positions.astype(np.int64), found, sums)
        return found

    def total(self):
        """Weight of all pairs, (n_resamples,)."""
        return self.before(np.full((1, self.n_resamples), self.n_pairs))[0]

    def _reach(self, position, targets=np.inf):
        """Know the rows down to a position, or until one exceeds every resample's target."""
        n_known = _extend(
            *self._walked,
            self._sums,
            self.step,
            len(self.known),
            1 + int(position) // self.step,
            np.broadcast_to(targets, self.n_resamples).astype(np.float64),
            np.empty(self.n_resamples, self._kind),
        )
        self.known = self._sums[:n_known]


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

    ``sums`` (n_resamples,) is int16, int32 or float64. Every sum fits into its type.
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
def _walk_up_to(left_weight, right_weight, left, right, base, positions, found, sums):
    """Write the weight before each of increasing positions, (n_positions, n_resamples)."""
    start = 0
    for k in range(positions.size):
        if k:
            found[k] = found[k - 1]
        while start < positions[k]:
            stop = min(start + CHUNK, positions[k])
            sum_products(
                sums, left_weight, right_weight, left, right, base, start, stop
            )
            for r in range(sums.size):
                found[k, r] += sums[r]
            start = stop


@njit(nogil=True, cache=True)
def _copy(values, into):
    """Copy a row, because numba compiles the errors of ``into[:] = values`` for seconds."""
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
    """Write rows until there are n_rows, or one exceeds all targets. Return how many."""
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
