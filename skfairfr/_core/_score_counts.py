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
        _add(
            counts,
            products,
            diagonal,
            (*rows[1:], probe[:, rows[0]]),
            (*columns[1:], reference[:, columns[0]]),
            blocks,
            self.row_of_cell,
            (low, n_bins / (high - low)),
        )


@njit(nogil=True, cache=True)
def _add(counts, products, diagonal, rows, columns, blocks, row_of_cell, scale):
    identity, cell, factor = rows
    column_identity, column_factor = columns
    starts, stops, cells = blocks
    low, per_unit = scale
    last = counts.shape[1] - 1
    measures = np.empty(row_of_cell.shape[0], dtype=np.int64)
    for r in range(products.shape[0]):
        for block in range(starts.size):
            n = 0
            for measure in range(measures.size):
                row = row_of_cell[measure, cell[r]]
                if row >= 0 and row == row_of_cell[measure, cells[block]]:
                    measures[n] = measure
                    n += 1
            first = max(starts[block], r + 1) if diagonal else starts[block]
            for c in range(first, stops[block]):
                if identity[r] == column_identity[c]:
                    continue
                b = min(max(int((products[r, c] - low) * per_unit), 0), last)
                for measure in measures[:n]:
                    row = row_of_cell[measure, cell[r]]
                    counts[row, b] += factor[measure, r] * column_factor[measure, c]
