"""Weighted histograms of all impostor scores, for many partitions in one pass.

A measure weighs a pair by the product of a factor of each image, and counts it in one row
of the histogram if the cells of both images belong to that row: all cells to one row for
the overall scope, those of a group to the row of the group.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit


@dataclass(frozen=True)
class Measures:
    """What a pass counts.

    Attributes
    ----------
    edges : tuple of float, float, int
        Lowest score, highest score and number of equal bins.
    row_of_cell : ndarray of int, shape (n_measures, n_cells)
        Row in which a measure counts pairs within a cell and with others of that row; -1
        counts none.
    factors : tuple of two ndarrays of float64, shape (n_measures, n_rows)
        Factor of every probe and of every reference.
    n_rows : int
    """

    edges: tuple
    row_of_cell: np.ndarray
    factors: tuple
    n_rows: int

    def counts(self):
        """Counts before any pair, (n_rows, n_bins)."""
        return np.zeros((self.n_rows, self.edges[2]))

    def add(self, counts, products, diagonal, rows, columns, blocks):
        """Add the pairs of a tile.

        Parameters
        ----------
        counts : ndarray, shape (n_rows, n_bins)
        products : ndarray of float32, shape (n_tile_rows, n_tile_columns)
        diagonal : bool
            Whether only pairs above the diagonal are impostor pairs to count.
        rows, columns : tuples
            Slice of the probes or references, and their identities (and cells of rows).
        blocks : tuple of ndarrays
            First column, end and cell of every run of one cell.
        """
        low, high, n_bins = self.edges
        probe, reference = self.factors
        # One type of each argument, so that the kernel is compiled once.
        _add(
            counts,
            np.ascontiguousarray(products),
            bool(diagonal),
            (*_integers(rows[1:]), np.ascontiguousarray(probe[:, rows[0]])),
            (*_integers(columns[1:]), np.ascontiguousarray(reference[:, columns[0]])),
            _integers(blocks),
            self.row_of_cell.astype(np.int64),
            (float(low), float(n_bins / (high - low))),
        )


def _integers(arrays):
    return tuple(np.ascontiguousarray(part, dtype=np.int64) for part in arrays)


# Pairs of two runs of cells from which on they are counted once, in a histogram of their
# own, instead of once for every measure: adding it costs a visit to each bin.
TOGETHER = 2**16


# Loops in place of operations on whole arrays, whose errors numba compiles for seconds.
@njit(nogil=True, cache=True)
def _add(counts, products, diagonal, rows, columns, blocks, row_of_cell, scale):
    identity, cell, factor = rows
    column_identity, column_factor = columns
    starts, stops, cells = blocks
    n_measures, n_bins = row_of_cell.shape[0], counts.shape[1]
    bins = np.empty(products.shape[1], dtype=np.int32)
    together = np.empty(n_bins)
    place = np.empty(n_measures, dtype=np.int64)
    first = 0
    while first < products.shape[0]:
        last = first + 1
        while last < products.shape[0] and cell[last] == cell[first]:
            last += 1
        for block in range(starts.size):
            for measure in range(n_measures):
                row = row_of_cell[measure, cell[first]]
                is_counted = row == row_of_cell[measure, cells[block]]
                place[measure] = row if is_counted else -1
            rectangle = (first, last, starts[block], stops[block])
            asked = (products, diagonal, rectangle, (identity, column_identity))
            if (last - first) * (stops[block] - starts[block]) < TOGETHER:
                for measure in range(n_measures):
                    if place[measure] >= 0:
                        weights = (factor[measure], column_factor[measure], False)
                        _count(counts[place[measure]], *asked, weights, scale, bins)
                continue
            kinds = _kinds(place, factor, column_factor, rectangle)
            for kind in range(n_measures):
                if kinds[kind] != kind:
                    continue
                weights = (factor[kind], column_factor[kind])
                is_unit = _is_unit(*weights, rectangle)
                for b in range(n_bins):
                    together[b] = 0
                _count(together, *asked, (*weights, is_unit), scale, bins)
                for measure in range(n_measures):
                    if kinds[measure] == kind:
                        for b in range(n_bins):
                            counts[place[measure], b] += together[b]
        first = last


@njit(nogil=True, cache=True)
def _kinds(place, factor, column_factor, rectangle):
    """For each measure that counts, the first one that weighs all pairs as it does."""
    first_row, last_row, start, stop = rectangle
    kinds = np.empty(place.size, dtype=np.int64)
    for measure in range(place.size):
        kinds[measure] = measure if place[measure] >= 0 else -1
        for known in range(measure if place[measure] >= 0 else 0):
            if (
                kinds[known] == known
                and _agree(factor[known], factor[measure], first_row, last_row)
                and _agree(column_factor[known], column_factor[measure], start, stop)
            ):
                kinds[measure] = known
                break
    return kinds


@njit(nogil=True, cache=True)
def _agree(one, other, start, stop):
    """Whether two arrays are equal in a range."""
    for i in range(start, stop):
        if one[i] != other[i]:
            return False
    return True


@njit(nogil=True, cache=True)
def _is_unit(factor, column_factor, rectangle):
    """Whether every pair weighs 1."""
    first_row, last_row, start, stop = rectangle
    for r in range(first_row, last_row):
        if factor[r] != 1:
            return False
    for c in range(start, stop):
        if column_factor[c] != 1:
            return False
    return True


@njit(nogil=True, cache=True)
def _count(counts, products, diagonal, rectangle, people, weights, scale, bins):
    """Add the impostor pairs of some rows and columns to one histogram."""
    identity, column_identity = people
    factor, column_factor, is_unit = weights
    low, per_unit = scale
    last = np.float64(counts.size - 1)
    first_row, last_row, start, stop = rectangle
    for r in range(first_row, last_row):
        first = max(start, r + 1) if diagonal else start
        # Slices, as an index from 0 on is known not to be negative, and the bins apart from
        # the counting: processors then compute several of them at a time.
        scores, place = products[r, first:stop], bins[: max(stop - first, 0)]
        for c in range(place.size):
            place[c] = np.int32(min(max((scores[c] - low) * per_unit, 0.0), last))
        person, other, weight = identity[r], column_identity[first:stop], factor[r]
        if is_unit:
            for c in range(place.size):
                if person != other[c]:
                    counts[place[c]] += 1
        else:
            of_other = column_factor[first:stop]
            for c in range(place.size):
                if person != other[c]:
                    counts[place[c]] += weight * of_other[c]
