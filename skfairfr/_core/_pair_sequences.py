"""Pairs sorted by descending score: sorting, splitting by group, and sums along them.

Rates, thresholds and their replicates are running sums over such a sequence.
"""

from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numba import njit

from skfairfr._core import _rates, _running_sums
from skfairfr._core._parallel import in_threads

# Pairs that a thread splits by their groups at a time.
SPLIT = 2**19
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
            ends = (self.left, self.right)
            found = tuple(_take(images.identity, end) for end in ends)
            self._identities.append(found)
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

    def positions(self, thresholds):
        """Number of accepted pairs at each threshold."""
        return _rates.count_at_least(self.scores, thresholds)

    def accumulated(self):
        """Running sum of the base weights, float64 (n_pairs,)."""
        if self.base is None:
            return np.arange(1, len(self) + 1, dtype=np.float64)
        return np.cumsum(self.base)

    def first_exceeding(self, targets):
        """First position at which the base weights add up to more than each target."""
        if self.base is None:
            position = np.floor(targets).astype(np.int64)
        else:
            position = np.searchsorted(self.accumulated(), targets, side="right")
        return np.where(position < len(self), position, -1)

    def weight_before(self, positions):
        """Sum of the base weights of the pairs before each position."""
        positions = np.asarray(positions)
        if self.base is None:
            return positions.astype(np.float64)
        sums = np.cumsum(self.base[: positions.max(initial=0)])
        return np.concatenate([[0.0], sums])[positions]


@njit(nogil=True, cache=True)
def _take(values, indices):
    """``values[indices]``, which numpy takes twice as long for with 32-bit indices."""
    found = np.empty(indices.size, dtype=values.dtype)
    for p in range(indices.size):
        found[p] = values[indices[p]]
    return found


def sorted_descending(scores, left, right):
    """A complete sequence from unsorted pairs; ties keep their order."""
    return PairSequence(*sort_pairs(scores, left, right))


@njit(nogil=True, cache=True, inline="always")
def _cell_of(g, h, n_groups, across, ordered):
    """Cell of a pair of groups, -1 if it is in none; no branch, which would be a guess."""
    low, high = (g, h) if ordered else (min(g, h), max(g, h))
    cell = low * n_groups + high if across else g
    is_in_none = (g < 0) | (h < 0) | ((g != h) & (not across))
    return -1 if is_in_none else cell


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
    n_cells = n_groups * n_groups if across else n_groups
    cells = np.empty(scores.size, dtype=np.int32)
    parts = [
        slice(start, start + SPLIT) for start in range(0, max(scores.size, 1), SPLIT)
    ]
    counts = in_threads(
        partial(_write_cells, group, n_groups, across, ordered, n_cells),
        [(left[part], right[part], cells[part]) for part in parts],
    )
    # The pairs of each cell in each part; then, last, those in no cell.
    counts = np.array(counts)
    bounds = np.concatenate([[0], np.cumsum(counts.sum(axis=0))])
    places = bounds[:-1] + np.cumsum(counts, axis=0) - counts
    columns = (scores, left, right)
    found = tuple(np.empty(column.size, dtype=column.dtype) for column in columns)
    in_threads(
        partial(_write_in_place, *found),
        [
            (*(column[part] for column in columns), cells[part], place)
            for part, place in zip(parts, places, strict=True)
        ],
    )
    n_within = bounds[n_cells]
    return *(column[:n_within] for column in found), bounds[: n_cells + 1]


@njit(nogil=True, cache=True)
def _write_cells(group, n_groups, across, ordered, n_cells, left, right, cells):
    """Write the cell of each pair, n_cells if it is in none; return how many each has."""
    counts = np.zeros(n_cells + 1, dtype=np.int64)
    for p in range(cells.size):
        c = _cell_of(group[left[p]], group[right[p]], n_groups, across, ordered)
        c = c if c >= 0 else n_cells
        cells[p] = c
        counts[c] += 1
    return counts


@njit(nogil=True, cache=True)
def _write_in_place(found, first, second, scores, left, right, cells, place):
    """Write pairs from the place of their cell on, which is moved."""
    for p in range(cells.size):
        k = place[cells[p]]
        found[k] = scores[p]
        first[k] = left[p]
        second[k] = right[p]
        place[cells[p]] = k + 1


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
