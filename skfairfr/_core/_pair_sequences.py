"""Pairs sorted by descending score: sorting, splitting by group, and sums along them.

Rates, thresholds and their replicates are running sums over such a sequence.
"""

from dataclasses import dataclass, field, replace

import numpy as np
from numba import njit

from skfairfr._core import _rates, _running_sums

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
        Whether all pairs of the scope are held; a tail holds only the largest scores.
    """

    scores: np.ndarray
    left: np.ndarray
    right: np.ndarray
    base: np.ndarray | None = None
    complete: bool = True
    _identities: list = field(default_factory=list, repr=False, compare=False)
    _sums: dict = field(default_factory=dict, init=False, repr=False, compare=False)

    def __getstate__(self):
        return vars(self) | {"_sums": {}}

    def __len__(self):
        return self.scores.size

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

    def with_base(self, base):
        """The same pairs with other base weights."""
        return replace(self, base=base)

    def identities(self, images):
        """Identity of the left and right image of each pair; cached."""
        if not self._identities:
            ends = (images.identity[end] for end in (self.left, self.right))
            self._identities.append(tuple(ends))
        return self._identities[0]

    def row_sums(self, weights, units, block):
        """Running sums in a block of resamples, kept for the next question.

        Parameters
        ----------
        weights, units : tuples
            As :class:`~skfairfr._core._resampling.Weights` gives them for this sequence.
        block : hashable, or None
            Names the resamples that the weights are of; None keeps nothing.
        """
        if block in self._sums:
            return self._sums[block]
        rows = _running_sums.RowSums(weights, (*units, self.base))
        kept = sum(known.n_bytes for known in list(self._sums.values()))
        if block is not None and kept + rows.n_bytes <= KEPT_BYTES:
            self._sums[block] = rows
        return rows

    def first_exceeding(self, targets):
        """First position at which the base weights add up to more than each target."""
        if self.base is None:
            position = np.floor(targets).astype(np.int64)
        else:
            position = np.searchsorted(np.cumsum(self.base), targets, side="right")
        return np.where(position < len(self), position, -1)

    def weight_before(self, positions):
        """Sum of the base weights of the pairs before each position."""
        positions = np.asarray(positions)
        if self.base is None:
            return positions.astype(np.float64)
        sums = np.cumsum(self.base[: positions.max(initial=0)])
        return np.concatenate([[0.0], sums])[positions]


def split_by_groups(scores, left, right, group, n_groups, across, ordered):
    """Pairs split into cells by their groups, cell after cell; a cell keeps their order.

    Parameters
    ----------
    scores, left, right : ndarrays, shape (n_pairs,)
    group : ndarray of int, shape (n_images,)
        -1 is unknown; pairs with such an image are in no cell.
    n_groups : int
    across : bool
        False: one cell for each group, of the pairs within it. True: cell g * n_groups + h
        for every two groups.
    ordered : bool
        Whether (g, h) and (h, g) differ; else g <= h.

    Returns
    -------
    scores, left, right : ndarrays, shape (n_within,)
    bounds : ndarray of int, shape (n_cells + 1,)
        Where each cell starts.
    """
    first, second = group[left], group[right]
    low, high = first, second
    if not ordered:
        low, high = np.minimum(first, second), np.maximum(first, second)
    n_cells = n_groups * n_groups if across else n_groups
    inside = (low >= 0) & (high >= 0) & (across | (low == high))
    cell = np.where(inside, low * n_groups + high if across else low, n_cells)
    # A sort by few bits is a sort by counting.
    order = np.argsort(cell.astype(np.min_scalar_type(n_cells)), kind="stable")
    bounds = np.append(0, np.cumsum(np.bincount(cell, minlength=n_cells + 1)))
    order = order[: bounds[n_cells]]
    return scores[order], left[order], right[order], bounds[: n_cells + 1]


def crossings(sequence, weights, units, levels, totals, block=None):
    """Thresholds at FAR levels in every resample.

    Parameters
    ----------
    sequence : PairSequence
    weights, units : tuples
        As :class:`~skfairfr._core._resampling.Weights` gives them for this sequence.
    levels : ndarray, shape (n_levels,)
        Increasing.
    totals : ndarray, shape (n_resamples,)
        Weight of all pairs of the scope.
    block : hashable, default=None
        As of ``PairSequence.row_sums``.

    Returns
    -------
    thresholds : ndarray, shape (n_levels, n_resamples)
        NaN where there is no weight at all.
    short : bool
        Whether some threshold lies below the last score held.
    """
    targets = levels[:, None] * totals * (1 + _rates.ROUNDING)
    if _counts_once(weights):
        positions = sequence.first_exceeding(targets)
    else:
        rows = sequence.row_sums(weights, units, block)
        rows.reach(len(sequence), targets.max(axis=0, initial=0.0))
        pairs = (*units, sequence.base)
        positions = _running_sums.first_exceeding_positions(
            weights, pairs, targets, rows
        )
    defined = np.broadcast_to(totals > 0, positions.shape)
    thresholds = np.where(
        defined, _rates.threshold_at(sequence.scores, positions), np.nan
    )
    short = not sequence.complete and bool((positions < 0)[defined].any())
    return thresholds, short


def weight_before(sequence, weights, units, positions, block=None):
    """Weight of the pairs before each position, (n_levels, n_resamples), in any order."""
    if _counts_once(weights):
        return sequence.weight_before(positions)
    rows = sequence.row_sums(weights, units, block)
    rows.reach(positions.max(initial=0))
    return _running_sums.sums_before(weights, (*units, sequence.base), positions, rows)


def _counts_once(weights):
    """Whether the weights are those of the data: one resample of multiplicities 1."""
    return all(unit.shape[1] == 1 and (unit == 1).all() for unit in weights)


BITS = 11
BUCKETS = 1 << BITS
SIGN = np.uint32(0x80000000)


def sort_pairs(scores, left, right):
    """Pairs sorted by descending score; ties keep their order. Scores hold no NaN.

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
def _descending_key(bits):
    """A float's bits as an integer that decreases as the float increases; self-inverse.

    The bits of a negative float already increase as it decreases; those of a positive
    float are flipped.
    """
    return bits if bits & SIGN else np.uint32(~(bits | SIGN))


@njit(nogil=True, cache=True)
def _radix_sort(bits, left, right):
    n = bits.size
    keys, next_keys = np.empty_like(bits), np.empty_like(bits)
    ends, next_ends = np.empty((2, n), dtype=np.uint64)
    starts = np.zeros((3, BUCKETS), dtype=np.int64)
    for p in range(n):
        key = np.uint32(_descending_key(bits[p]))
        keys[p] = key
        ends[p] = np.uint64(left[p]) << np.uint64(32) | np.uint64(right[p])
        for digit in range(3):
            starts[digit, (key >> np.uint32(BITS * digit)) & (BUCKETS - 1)] += 1
    for digit in range(3):
        n_before = 0
        for bucket in range(BUCKETS):
            count = starts[digit, bucket]
            starts[digit, bucket] = n_before
            n_before += count
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
        keys[p] = _descending_key(keys[p])
        first[p] = np.int32(ends[p] >> np.uint64(32))
        second[p] = np.int32(ends[p] & np.uint64(0xFFFFFFFF))
    return keys, first, second
