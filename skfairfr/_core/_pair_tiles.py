"""One pass over all pairs in tiles: the impostor pairs whose score reaches a floor.

A tile of float32 products is fast and slightly wrong. It only proposes pairs: those whose
score may reach the floor of their two groups. These are scored once more by the loop of
``_inner_products``, and kept if they reach it. Only a tile and the pairs that are kept are
ever held; nothing is n x n.

The slack. A float32 sum of d products, added in any order, is off by at most
g X Y with g = d u / (1 - d u), u = 2**-24 and the lengths X, Y of the two rows. With d + 2 in
place of d it also covers the rounding to float32 of the score, and of the floor less the slack.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit

from skfairfr._core import _inner_products
from skfairfr._core._adjustments import AFFINE, Adjustment
from skfairfr._core._pair_sequences import merge_pairs, sort_pairs
from skfairfr._core._parallel import over_blocks

TILE = 2048
# Tasks of a pass at most: enough for many workers, and each returns one sorted tail.
MOST = 256
# Listed pairs that a thread scores at a time.
BLOCK = 2**16
# Lengths whose product exceeds this may overflow float32 in a partial sum.
LARGEST = 2.0**126


@dataclass(frozen=True)
class Rows:
    """Embeddings of one side in the order of the pass.

    Attributes
    ----------
    vectors : ndarray of float32, shape (n_rows, n_features)
    image : ndarray of int32, shape (n_rows,)
        Index of each row among all images.
    identity, group : ndarrays of int32, shape (n_rows,)
    adjustment : Adjustment or None
        What makes scores of the rows' inner products; None: they are the scores.
    """

    vectors: np.ndarray
    image: np.ndarray
    identity: np.ndarray
    group: np.ndarray
    adjustment: Adjustment | None = None

    @classmethod
    def of(cls, vectors, images, members, adjustment=None):
        """Order the rows ``vectors[members]`` by group, then identity.

        Rows that stand in this order are not copied. ``adjustment`` is that of all rows.
        """
        order = members[np.lexsort((images.identity[members], images.group[members]))]
        ready = order.size > 0 and (np.diff(order) == 1).all()
        return cls(
            vectors[order[0] : order[-1] + 1] if ready else vectors[order],
            order.astype(np.int32),
            images.identity[order],
            images.group[order],
            None if adjustment is None else adjustment[order],
        )

    def __getitem__(self, rows):
        parts = vars(self).values()
        return Rows(*(None if part is None else part[rows] for part in parts))

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
    parts = [slice(start, start + TILE) for start in range(0, len(X), TILE)]
    tasks = [(X, order, part, unit) for part in parts]
    over_blocks(_write_unit, tasks, 1, "scaling rows")
    return unit


def _write_unit(X, order, part, unit):
    """Write the unit rows of a part."""
    block = X[part if order is None else order[part]].astype(np.float64)
    # Rows are scaled first: squares of very long or short ones leave float64.
    block /= np.abs(block).max(axis=1, keepdims=True)
    norms = np.sqrt(np.einsum("ij,ij->i", block, block))
    np.divide(block, norms[:, None], out=unit[part], casting="same_kind")


# ---- the tail ------------------------------------------------------------------------


def collect_tail(probe, reference, floors, n_jobs=None, tile=TILE):
    """Impostor pairs whose score reaches the floor of their two groups.

    Parameters
    ----------
    probe, reference : Rows
        The same object for all pairs within one side.
    floors : ndarray of float32, shape (n_groups + 1, n_groups + 1)
        Lowest score of the tail in the row and column of a pair's groups; the last ones
        are those of unknown groups.
    n_jobs : int, default=None
        Number of joblib workers.

    Returns
    -------
    scores, left, right : ndarrays, shape (n_tail,)
        By descending score, ties in the order of the tiles, whatever the number of tasks
        and workers; ``left`` and ``right`` are images.
    """
    tasks = _runs(tiles_of(probe, reference, tile))
    slack, limits = largest_error(probe, reference), None
    if probe.adjustment is not None:
        limits = [side.adjustment.limits(floors) for side in (probe, reference)]
    tails = over_blocks(
        _tail_of_tiles,
        [(tiles,) for tiles in tasks],
        n_jobs,
        "comparing all pairs",
        sizes=[len(tiles) for tiles in tasks],
        shared=(probe, reference, floors, slack, limits, tile),
    )
    return merge_pairs(tails)


def tiles_of(probe, reference, size):
    """First row and first column of every tile, strip by strip; a list."""
    rows, columns = (range(0, side.image.size, size) for side in (probe, reference))
    one_side = probe is reference
    return [(r, c) for r in rows for c in columns if r <= c or not one_side]


def _runs(tiles):
    """Tiles cut into tasks; the data alone decide how."""
    return np.array_split(tiles, min(len(tiles), MOST))


def largest_error(probe, reference):
    """More than a float32 product of any two rows lacks of their score."""
    longest, n_features = 1.0, probe.vectors.shape[1]
    for vectors in (probe.vectors, reference.vectors):
        own = np.arange(len(vectors))
        squares = _inner_products.score_pairs(vectors, own, vectors, own)
        longest *= np.sqrt(float(squares.max()))
    if not longest < LARGEST:
        return np.inf  # every pair is scored
    terms = (n_features + 2) * 2.0**-24
    # The last term is for products that underflow.
    return terms / (1 - terms) * longest + n_features * 2.0**-126


def _tail_of_tiles(probe, reference, floors, slack, limits, size, tiles):
    """The tail of some tiles, sorted."""
    found = []
    for tile, strip, place in _products(probe, reference, size, tiles):
        rows, columns = probe[strip], reference[place]
        adjustment = None
        if limits is not None:
            (lowest, curve), (other_lowest, other_curve) = limits
            numbers = rows.adjustment.numbers, columns.adjustment.numbers
            lowest = (lowest, curve[strip], other_lowest, other_curve[place])
            adjustment = (probe.adjustment.code, *numbers, *lowest)
        diagonal = probe is reference and strip == place
        groups = rows.group, columns.group
        pairs = _candidates(tile, slack, diagonal, *groups, floors, adjustment)
        found.append(keep(rows, columns, floors, *np.divmod(pairs, tile.shape[1])))
    return sort_pairs(*(np.concatenate(part) for part in zip(*found, strict=True)))


def _products(probe, reference, size, tiles):
    """float32 products of every tile, and its rows and columns."""
    memory = np.empty(size * size, dtype=np.float32)
    for start, column in tiles:
        strip, place = slice(start, start + size), slice(column, column + size)
        rows, columns = probe.vectors[strip], reference.vectors[place]
        tile = memory[: len(rows) * len(columns)].reshape(len(rows), -1)
        with np.errstate(over="ignore", invalid="ignore"):  # see largest_error
            np.matmul(rows, columns.T, out=tile)
        yield tile, strip, place


@njit(nogil=True, cache=True)
def _candidates(tile, slack, diagonal, group, column_group, floors, adjustment):
    """Places in a tile of the pairs whose score may reach their floor.

    Parameters
    ----------
    tile : ndarray of float32, shape (n_rows, n_columns)
        Products.
    slack : float
        What they may lack.
    diagonal : bool
        Whether only pairs above the diagonal are asked for.
    group, column_group : ndarrays of int32
    floors : ndarray of float32
    adjustment : None, or tuple
        Kind, numbers of the rows and of the columns, and the limits of both.

    Returns
    -------
    places : ndarray of int32, shape (n_pairs,)
        Row times n_columns, plus column; increasing.
    """
    n, n_columns = 0, tile.shape[1]
    places = np.empty(tile.size, dtype=np.int32)
    floor = np.empty(n_columns, dtype=np.float32)
    for i in range(tile.shape[0]):
        g = group[i]
        if i == 0 or g != group[i - 1]:
            for c in range(n_columns):
                floor[c] = floors[g, column_group[c]]
                if adjustment is None:
                    floor[c] -= slack
        for c in range(i + 1 if diagonal else 0, n_columns):
            highest, lowest = tile[i, c], floor[c]
            if adjustment is not None:
                highest += slack
                kind, numbers, others, limits, curve, other_limits, other = adjustment
                if kind == AFFINE:
                    highest *= numbers[0, i] + others[0, c]
                    highest -= numbers[1, i] + others[1, c]
                else:
                    h = column_group[c]
                    lowest = min(limits[g, h, curve[i]], other_limits[g, h, other[c]])
            if not np.float32(highest) < lowest:  # an overflow may have made it NaN
                places[n] = i * n_columns + c
                n += 1
    return places[:n]


def keep(rows, columns, floors, left, right):
    """Scores and images of the impostor pairs among candidates that reach their floor.

    Parameters
    ----------
    rows, columns : Rows
    floors : ndarray of float32
    left, right : ndarrays of int, shape (n_candidates,)
        A row and a column each.
    """
    apart = rows.identity[left] != columns.identity[right]
    left, right = left[apart], right[apart]
    scores = _inner_products.score_pairs(rows.vectors, left, columns.vectors, right)
    if rows.adjustment is not None:
        scores = rows.adjustment[left].of_pairs(scores, columns.adjustment[right])
    kept = scores >= floors[rows.group[left], columns.group[right]]
    return scores[kept], rows.image[left[kept]], columns.image[right[kept]]


# ---- listed pairs --------------------------------------------------------------------


def score_pairs(vectors, left, right, adjustment=None):
    """Scores of listed pairs of rows, float32: those of ``collect_tail``."""
    starts = range(0, left.size, BLOCK)
    blocks = over_blocks(
        _score_block,
        [(left[s : s + BLOCK], right[s : s + BLOCK]) for s in starts],
        1,
        "scoring listed pairs",
        shared=(vectors, adjustment),
    )
    return np.concatenate([np.empty(0, dtype=np.float32), *blocks])


def _score_block(vectors, adjustment, left, right):
    scores = _inner_products.score_pairs(vectors, left, vectors, right)
    if adjustment is None:
        return scores
    return adjustment[left].of_pairs(scores, adjustment[right])


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


# ---- histograms ----------------------------------------------------------------------


def count_scores(probe, reference, measures, n_jobs=None, tile=TILE):
    """Histograms of the scores of all impostor pairs, (n_rows, n_bins).

    Scores are float32 products: one on an edge may be counted in the next bin. The other
    arguments are those of :func:`collect_tail`.
    """
    tasks = _runs(tiles_of(probe, reference, tile))
    return over_blocks(
        _count_tiles,
        [(tiles,) for tiles in tasks],
        n_jobs,
        "counting all scores",
        sizes=[len(tiles) for tiles in tasks],
        shared=(probe, reference, measures, tile),
        add=np.add,
    )


def _count_tiles(probe, reference, measures, size, tiles):
    counts, blocks = measures.counts(), reference.blocks()
    for tile, strip, place in _products(probe, reference, size, tiles):
        rows, columns = probe[strip], reference[place]
        if rows.adjustment is not None:
            rows.adjustment.adjust_tile(tile, columns.adjustment)
        sides = (strip, rows.identity, rows.group), (place, columns.identity)
        within = _clip(blocks, place.start, len(columns.vectors))
        diagonal = probe is reference and strip == place
        measures.add(counts, tile, diagonal, *sides, within)
    return counts


def _clip(blocks, column, width):
    """The part of every block of columns that lies in a tile, relative to its start."""
    starts, stops, groups = blocks
    inside = (stops > column) & (starts < column + width)
    starts = np.maximum(starts[inside] - column, 0)
    return starts, np.minimum(stops[inside] - column, width), groups[inside]
