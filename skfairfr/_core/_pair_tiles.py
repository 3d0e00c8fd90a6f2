"""One pass over all pairs in tiles: the tail of impostor scores, and histograms.

Rows are ordered by group and identity, so that a tile falls into a few blocks of constant
group and each block is compared with one collection floor. The products of a tile only
screen its pairs (``_screen``); what passes is scored exactly (``_inner_products``). Only a
tile, the collected tail and the genuine scores are ever held; nothing is n x n.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit

from skfairfr._core import _inner_products, _screen
from skfairfr._core._parallel import over_blocks

TILE = 2048
# Held pairs that a thread collects before it hands them over.
BUFFER = 2**17
# Listed pairs that a thread scores at a time.
BLOCK = 2**16


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
        """Order the rows ``vectors[members]`` by group, then identity.

        Rows that stand in this order are not copied.
        """
        order = members[np.lexsort((images.identity[members], images.group[members]))]
        ready = order.size > 0 and (np.diff(order) == 1).all()
        return cls(
            vectors[order[0] : order[-1] + 1] if ready else vectors[order],
            order.astype(np.int32),
            images.identity[order],
            images.group[order],
        )

    def blocks(self):
        """First row, end and group of every run of one group."""
        starts = np.flatnonzero(np.diff(self.group, prepend=self.group[:1] - 1))
        return starts, np.append(starts[1:], self.group.size), self.group[starts]


def unit_rows(X, similarity, order=None):
    """float32 rows whose inner product is the similarity; X is not changed.

    Parameters
    ----------
    X : ndarray, shape (n_images, n_features)
    similarity : {"cosine", "dot"}
    order : ndarray of int, shape (n_images,), default=None
        Which row of X each is; None: all in their order.
    """
    if similarity == "dot":
        rows = X if order is None else X[order]
        return np.array(rows, dtype=np.float32, order="C")
    unit = np.empty(X.shape, dtype=np.float32)
    for start in range(0, len(X), TILE):
        part = slice(start, start + TILE)
        block = X[part if order is None else order[part]].astype(np.float64)
        # Rows are scaled first: squares of very long or short ones leave float64.
        block /= np.abs(block).max(axis=1, keepdims=True)
        norms = np.sqrt(np.einsum("ij,ij->i", block, block))
        np.divide(block, norms[:, None], out=unit[part], casting="same_kind")
    return unit


def collect_tail(probe, reference, floors, n_jobs=None, tile=TILE, precision=None):
    """Impostor pairs whose score reaches the floor of their two groups.

    Parameters
    ----------
    probe, reference : Rows
        The same object for all pairs within one side.
    floors : ndarray of float32, shape (n_groups + 1, n_groups + 1)
        Row and column of a pair's groups; the last ones are those of unknown groups.
    n_jobs : int, default=None
        Number of joblib workers, each with its own strip of tiles.
    precision : {None, "float32", "bfloat16"}, default=None
        Precision of the screen, which changes the time alone; None chooses.

    Returns
    -------
    scores, left, right : ndarrays, shape (n_tail,)
        Unsorted; ``left`` and ``right`` are images.
    """
    n_features = probe.vectors.shape[1]
    one_side = probe is reference
    if precision is None:
        n_products = probe.image.size * reference.image.size / (2 if one_side else 1)
        precision = _screen.choose(n_products, n_features, n_jobs)
    screened = _screen.ScreenedRows.of(probe.vectors, precision)
    screens = (screened, screened)
    if not one_side:
        screens = (screened, _screen.ScreenedRows.of(reference.vectors, precision))
    starts = range(0, probe.image.size, tile)
    strips = over_blocks(
        _tail_of_strip,
        [(probe, reference, screens, floors, start, tile) for start in starts],
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
    """Exact scores of listed pairs of rows, float32: those of ``collect_tail``."""
    left, right = left.astype(np.int32), right.astype(np.int32)
    if left.size <= BLOCK:
        return _inner_products.score_pairs(vectors, left, right)
    starts = range(0, left.size, BLOCK)
    blocks = over_blocks(
        _inner_products.score_pairs,
        [(vectors, left[s : s + BLOCK], right[s : s + BLOCK]) for s in starts],
        1,
        "scoring listed pairs",
    )
    return np.concatenate(blocks)


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


def _columns_of_strip(probe, reference, start, size):
    """The tiles of one strip: (their columns, whether on the diagonal)."""
    one_side = probe is reference
    for column in range(start if one_side else 0, reference.image.size, size):
        yield slice(column, column + size), one_side and column == start


def _tail_of_strip(probe, reference, screens, floors, start, width):
    strip = slice(start, start + width)
    rows = (probe.vectors[strip], probe.identity[strip], probe.group[strip])
    screened = screens[0][strip]
    kinds = (np.float32, np.int32, np.int32)
    buffers = tuple(np.empty(BUFFER + width, dtype=kind) for kind in kinds)
    found = []
    for place, diagonal in _columns_of_strip(probe, reference, start, width):
        columns = (reference.vectors[place], reference.identity[place])
        across = screens[1][place]
        blocks = _clip(reference.blocks(), place.start, len(columns[1]))
        apart = floors[np.ix_(np.unique(rows[2]), blocks[2])]
        if np.isneginf(apart).all():
            tile = np.empty((len(rows[0]), 0), dtype=np.int32)
        else:
            tile = _screen.multiply(screened.values, across.values)
        row = 0
        while row < len(rows[0]):
            row, n = _collect(
                row,
                tile,
                diagonal,
                (*rows, screened.lengths, screened.distances),
                (*columns, across.lengths, across.distances),
                blocks,
                floors,
                buffers,
            )
            scores, left, right = (buffer[:n] for buffer in buffers)
            images = (probe.image[start + left], reference.image[place.start + right])
            found.append((scores.copy(), *images))
    scores, left, right = (np.concatenate(part) for part in zip(*found, strict=True))
    return scores, left, right


def _histogram_of_strip(probe, reference, edges, factors, start, width):
    low, high, n_bins = edges
    strip = slice(start, start + width)
    n_groups = 1 + max(probe.group.max(), reference.group.max(), -1)
    counts = np.zeros((1 + n_groups, n_bins))
    for columns, diagonal in _columns_of_strip(probe, reference, start, width):
        rows, across = probe.vectors[strip], reference.vectors[columns]
        _count(
            np.matmul(rows, across.T),
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
def _collect(row, tile, diagonal, rows, columns, blocks, floors, buffers):
    """Write the impostor pairs at or above their floor, from one row on.

    Returns
    -------
    row, filled : int
        The next row, where the buffers are full, and the number of pairs written.
    """
    vectors, identity, group, lengths, distances = rows
    column_vectors, column_identity, column_lengths, column_distances = columns
    starts, stops, groups = blocks
    scores, left, right = buffers
    shift = 16 if tile.itemsize == 2 else 0
    wide = np.empty(vectors.shape[1])
    passed = np.empty(column_identity.size, dtype=np.int32)
    largest = np.empty((starts.size, 2))
    for block in range(starts.size):
        run = slice(starts[block], stops[block])
        largest[block] = column_lengths[run].max(), column_distances[run].max()
    filled = 0
    while row < vectors.shape[0] and filled + passed.size <= scores.size:
        _inner_products.widen(vectors[row], wide)
        for block in range(starts.size):
            floor = floors[group[row], groups[block]]
            code = _screen.lowest(
                floor,
                (lengths[row], distances[row]),
                (largest[block, 0], largest[block, 1]),
                wide.size,
                shift,
            )
            first = max(starts[block], row + 1) if diagonal else starts[block]
            n = _screen.passing(tile[row], first, stops[block], code, passed)
            for c in passed[:n]:
                if identity[row] == column_identity[c]:
                    continue
                score = np.float32(
                    _inner_products.inner_product(wide, column_vectors[c])
                )
                if score >= floor:
                    scores[filled] = score
                    left[filled] = row
                    right[filled] = c
                    filled += 1
        row += 1
    return row, filled


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
