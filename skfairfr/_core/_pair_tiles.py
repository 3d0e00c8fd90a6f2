"""One pass over all pairs in float32 tiles: the tail of impostor scores, and histograms.

Rows are ordered by group and identity, so that a tile falls into a few blocks of constant
group and each block is compared with one collection floor. Only a tile, the collected tail
and the genuine scores are ever held; nothing is n x n.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit

from skfairfr._core._parallel import over_blocks

TILE = 2048


@dataclass(frozen=True)
class Rows:
    """Embeddings of one side in the order of the pass.

    Attributes
    ----------
    vectors : ndarray of float32, shape (n_rows, n_features)
    image : ndarray of int32, shape (n_rows,)
        Index of each row among all images.
    identity, group : ndarrays of int32, shape (n_rows,)
    """

    vectors: np.ndarray
    image: np.ndarray
    identity: np.ndarray
    group: np.ndarray

    @classmethod
    def of(cls, vectors, images, members):
        """Order the rows ``vectors[members]`` by group, then identity."""
        order = members[np.lexsort((images.identity[members], images.group[members]))]
        return cls(
            vectors[order],
            order.astype(np.int32),
            images.identity[order],
            images.group[order],
        )

    def blocks(self):
        """First row, end and group of every run of one group."""
        starts = np.flatnonzero(np.diff(self.group, prepend=self.group[:1] - 1))
        return starts, np.append(starts[1:], self.group.size), self.group[starts]


def unit_rows(X, similarity):
    """float32 rows whose inner product is the similarity; X is not changed."""
    if similarity == "dot":
        return np.array(X, dtype=np.float32, order="C")
    unit = np.empty(X.shape, dtype=np.float32)
    for start in range(0, len(X), TILE):
        block = X[start : start + TILE].astype(np.float64)
        # Rows are scaled first: squares of very long or short ones leave float64.
        block /= np.abs(block).max(axis=1, keepdims=True)
        norms = np.sqrt(np.einsum("ij,ij->i", block, block))
        np.divide(
            block, norms[:, None], out=unit[start : start + TILE], casting="same_kind"
        )
    return unit


def collect_tail(probe, reference, floors, n_jobs=None, tile=TILE):
    """Impostor pairs whose score reaches the floor of their two groups.

    Parameters
    ----------
    probe, reference : Rows
        The same object for all pairs within one side.
    floors : ndarray of float32, shape (n_groups + 1, n_groups + 1)
        Row and column of a pair's groups; the last ones are those of unknown groups.
    n_jobs : int, default=None
        Number of joblib workers, each with its own strip of tiles.

    Returns
    -------
    scores, left, right : ndarrays, shape (n_tail,)
        Unsorted; ``left`` and ``right`` are images.
    """
    starts = range(0, probe.image.size, tile)
    strips = over_blocks(
        _tail_of_strip,
        [(probe, reference, floors, start, tile) for start in starts],
        n_jobs,
        "comparing all pairs",
        sizes=_strip_sizes(probe, reference, starts, tile),
    )
    scores, left, right = (np.concatenate(parts) for parts in zip(*strips, strict=True))
    return scores, left, right


def histogram(probe, reference, edges, factors, n_jobs=None, tile=TILE):
    """Weighted histogram of impostor scores by group, over equal bins.

    Parameters
    ----------
    probe, reference : Rows
    edges : tuple of float, int
        Lowest score, highest score and number of bins.
    factors : tuple of two ndarrays of float64, shape (2, n_rows)
        Each row's factor in the overall scope and in its group's; a pair adds the product.
    n_jobs : int, default=None

    Returns
    -------
    counts : ndarray, shape (1 + n_groups, n_bins)
        All impostor pairs, then those within each group.
    """
    starts = range(0, probe.image.size, tile)
    strips = over_blocks(
        _histogram_of_strip,
        [(probe, reference, edges, factors, start, tile) for start in starts],
        n_jobs,
        "counting all scores",
        sizes=_strip_sizes(probe, reference, starts, tile),
    )
    return sum(strips[1:], start=strips[0])


def score_pairs(vectors, left, right):
    """Scores of listed pairs of rows, accumulated in float64 and rounded to float32."""
    return _dot_rows(vectors, left.astype(np.int32), right.astype(np.int32))


def genuine_pairs(images):
    """All pairs of two images of one identity: i < j, or probe and reference.

    Returns
    -------
    left, right : ndarrays of int32, shape (n_genuine,)
    """
    if images.side is None:
        order = np.argsort(images.identity, kind="stable")
        counts = np.bincount(images.identity, minlength=images.n_identities)
        ends = np.repeat(np.cumsum(counts), counts)
        later = ends - np.arange(order.size) - 1  # partners after each image
        first = np.repeat(np.arange(order.size), later)
        second = first + 1 + _ramp(later)
        left, right = order[first], order[second]
        return np.minimum(left, right).astype(np.int32), np.maximum(left, right).astype(
            np.int32
        )
    probes, references = (np.flatnonzero(images.side == s) for s in (0, 1))
    order = references[np.argsort(images.identity[references], kind="stable")]
    counts = np.bincount(images.identity[references], minlength=images.n_identities)
    partners = counts[images.identity[probes]]
    first = (np.cumsum(counts) - counts)[images.identity[probes]]
    right = order[np.repeat(first, partners) + _ramp(partners)]
    return np.repeat(probes, partners).astype(np.int32), right.astype(np.int32)


def _ramp(lengths):
    """0..lengths[0]-1, 0..lengths[1]-1, ... in one array."""
    return np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)


def _strip_sizes(probe, reference, starts, tile):
    """Number of tiles in each strip, for the progress bar."""
    n = reference.image.size
    first = [start if probe is reference else 0 for start in starts]
    return [-(-(n - f) // tile) for f in first]


def _tiles(probe, reference, start, size):
    """The tiles of one strip of probes: (first column, whether on the diagonal, scores)."""
    one_side = probe is reference
    rows = probe.vectors[start : start + size]
    out = np.empty((len(rows), size), dtype=np.float32)
    for column in range(start if one_side else 0, reference.image.size, size):
        columns = reference.vectors[column : column + size]
        tile = np.matmul(rows, columns.T, out=out[:, : len(columns)])
        yield column, one_side and column == start, tile


def _tail_of_strip(probe, reference, floors, start, width):
    strip = slice(start, start + width)
    rows = (probe.identity[strip], probe.group[strip])
    size = width * len(rows[0])
    buffers = tuple(
        np.empty(size, dtype=kind) for kind in (np.float32, *[np.int32] * 2)
    )
    found = []
    for column, diagonal, tile in _tiles(probe, reference, start, width):
        identity = reference.identity[column : column + width]
        blocks = _clip(reference.blocks(), column, tile.shape[1])
        n = _collect(tile, diagonal, rows, identity, blocks, floors, buffers)
        scores, left, right = (buffer[:n] for buffer in buffers)
        found.append((scores.copy(), left + np.int32(start), right + np.int32(column)))
    scores, left, right = (np.concatenate(part) for part in zip(*found, strict=True))
    return scores, probe.image[left], reference.image[right]


def _histogram_of_strip(probe, reference, edges, factors, start, width):
    low, high, n_bins = edges
    strip = slice(start, start + width)
    n_groups = 1 + max(probe.group.max(), reference.group.max(), -1)
    counts = np.zeros((1 + n_groups, n_bins))
    for column, diagonal, tile in _tiles(probe, reference, start, width):
        columns = slice(column, column + width)
        _count(
            tile,
            diagonal,
            (probe.identity[strip], probe.group[strip]),
            (reference.identity[columns], reference.group[columns]),
            (factors[0][:, strip], factors[1][:, columns]),
            (low, n_bins / (high - low)),
            counts,
        )
    return counts


def _clip(blocks, column, width):
    """The part of every block of columns that lies in a tile, relative to its start."""
    starts, stops, groups = blocks
    inside = (stops > column) & (starts < column + width)
    starts = np.maximum(starts[inside] - column, 0)
    return starts, np.minimum(stops[inside] - column, width), groups[inside]


@njit(nogil=True, cache=True)
def _collect(tile, diagonal, rows, column_identity, blocks, floors, buffers):
    """Write the impostor pairs at or above their floor; return how many."""
    identity, group = rows
    starts, stops, groups = blocks
    scores, left, right = buffers
    filled = 0
    for r in range(tile.shape[0]):
        for block in range(starts.size):
            floor = floors[group[r], groups[block]]
            first = max(starts[block], r + 1) if diagonal else starts[block]
            for c in range(first, stops[block]):
                score = tile[r, c]
                if score >= floor and identity[r] != column_identity[c]:
                    scores[filled] = score
                    left[filled] = r
                    right[filled] = c
                    filled += 1
    return filled


@njit(nogil=True, cache=True)
def _count(tile, diagonal, rows, columns, factors, scale, counts):
    low, per_unit = scale
    last = counts.shape[1] - 1
    for r in range(tile.shape[0]):
        for c in range(r + 1 if diagonal else 0, tile.shape[1]):
            if rows[0][r] == columns[0][c]:
                continue
            b = min(max(int((tile[r, c] - low) * per_unit), 0), last)
            counts[0, b] += factors[0][0, r] * factors[1][0, c]
            if rows[1][r] >= 0 and rows[1][r] == columns[1][c]:
                counts[1 + rows[1][r], b] += factors[0][1, r] * factors[1][1, c]


@njit(nogil=True, cache=True)
def _dot_rows(vectors, left, right):
    scores = np.empty(left.size, dtype=np.float32)
    for p in range(left.size):
        a = vectors[left[p]]
        b = vectors[right[p]]
        total = 0.0
        for d in range(a.size):
            total += np.float64(a[d]) * np.float64(b[d])
        scores[p] = total
    return scores
