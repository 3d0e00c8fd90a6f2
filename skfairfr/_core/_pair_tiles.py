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
from skfairfr._core._pair_sequences import sort_pairs
from skfairfr._core._parallel import over_blocks

TILE = 2048
# Tasks of a pass at most: enough for many workers.
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


def unit_rows(X, similarity):
    """float32 rows whose inner product is the similarity; X is not changed.

    Parameters
    ----------
    X : ndarray, shape (n_images, n_features)
    similarity : {"cosine", "dot"}
    """
    if similarity == "dot":
        return np.array(X, dtype=np.float32, order="C")
    unit = np.empty(X.shape, dtype=np.float32)
    for start in range(0, len(X), TILE):
        block = X[start : start + TILE].astype(np.float64)
        # Rows are scaled first: squares of very long or short ones leave float64.
        block /= np.abs(block).max(axis=1, keepdims=True)
        norms = np.sqrt(np.einsum("ij,ij->i", block, block))
        unit[start : start + TILE] = block / norms[:, None]
    return unit


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
    tiles = tiles_of(probe, reference, tile)
    tasks = np.array_split(tiles, min(len(tiles), MOST))  # the data alone decide how
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
    return sort_pairs(*(np.concatenate(part) for part in zip(*tails, strict=True)))


def tiles_of(probe, reference, size):
    """First row and first column of every tile, strip by strip; a list."""
    rows, columns = (range(0, side.image.size, size) for side in (probe, reference))
    one_side = probe is reference
    return [(r, c) for r in rows for c in columns if r <= c or not one_side]


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
    """The tail of some tiles, in their order."""
    found, memory = [], np.empty(size * size, dtype=np.float32)
    for start, column in tiles:
        strip, place = slice(start, start + size), slice(column, column + size)
        rows, columns = probe[strip], reference[place]
        tile = memory[: rows.image.size * columns.image.size]
        tile = tile.reshape(rows.image.size, -1)
        with np.errstate(over="ignore", invalid="ignore"):  # see largest_error
            np.matmul(rows.vectors, columns.vectors.T, out=tile)
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
    return [np.concatenate(part) for part in zip(*found, strict=True)]


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
    one_side = images.side is None
    references = np.arange(images.identity.size)
    if not one_side:
        probes, references = (np.flatnonzero(images.side == s) for s in (0, 1))
    order = references[np.argsort(images.identity[references], kind="stable")]
    counts = np.bincount(images.identity[references], minlength=images.n_identities)
    probes = order if one_side else probes
    # The partners of each probe stand in ``order`` from ``first`` to ``end``.
    end = np.cumsum(counts)[images.identity[probes]]
    first = end - counts[images.identity[probes]]
    if one_side:  # those after it
        first = np.arange(1, order.size + 1)
    n_partners = end - first
    before = np.repeat(np.cumsum(n_partners) - n_partners - first, n_partners)
    left = np.repeat(probes, n_partners).astype(np.int32)
    right = order[np.arange(before.size) - before].astype(np.int32)
    if one_side:
        left, right = np.minimum(left, right), np.maximum(left, right)
    return left, right
