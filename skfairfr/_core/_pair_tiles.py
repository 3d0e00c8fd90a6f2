"""One pass over all pairs in tiles: the impostor pairs whose score reaches a floor.

A tile of float32 products is fast and slightly wrong. It only proposes pairs: those whose
score may reach the floor of their two groups. These are scored once more by the loop of
:func:`inner_products`, and kept if they reach it. Only a tile and the pairs that are kept are
ever stored. Nothing is n x n.

The slack. A float32 sum of d products, added in any order, is off by at most
g X Y with g = d u / (1 - d u), u = 2**-24 and the lengths X, Y of the two rows. With d + 2 in
place of d it also covers the rounding to float32 of the score, and of the floor less the slack.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit

from skfairfr._core import _rates
from skfairfr._core._adjustments import Adjustment
from skfairfr._core._pair_sequences import sort_pairs
from skfairfr._core._parallel import over_blocks, progress_bar

TILE = 1280
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
        Function that makes scores of the rows' inner products. If None, they are the scores.
    """

    vectors: np.ndarray
    image: np.ndarray
    identity: np.ndarray
    group: np.ndarray
    adjustment: Adjustment | None = None

    @classmethod
    def of(cls, vectors, images, members, adjustment=None):
        """Order the rows ``vectors[members]`` by group, then identity.

        Rows already in this order are not copied. ``adjustment`` is that of all rows.
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
    """float32 rows whose inner product is the similarity. X is not changed.

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


def mean_rows(rows, first, similarity):
    """Mean of unit rows of each template, float64 (n_templates, n_features).

    Parameters
    ----------
    rows : ndarray, shape (n_rows, n_features)
    first : ndarray of int, shape (n_templates + 1,)
        Where the rows of each template begin, which are contiguous.
    similarity : {"cosine", "dot"} or comparator
        Of inner products rows are taken as they are.
    """
    unit = unit_rows(rows, similarity if isinstance(similarity, str) else "cosine")
    return np.add.reduceat(unit.astype(float), first[:-1]) / np.diff(first)[:, None]


class Samples(NamedTuple):
    """The rows behind each image, of which the best counts.

    Attributes
    ----------
    rows : ndarray, shape (n_rows, n_features)
        Those of one image together.
    first : ndarray of int, shape (n_images + 1,)
        Where those of each image begin.
    """

    rows: np.ndarray
    first: np.ndarray

    def take(self, images):
        """Samples of some images, in their order."""
        n, start = (of[images] for of in (np.diff(self.first), self.first[:-1]))
        first = np.append(0, np.cumsum(n))
        places = np.arange(first[-1]) + np.repeat(start - first[:-1], n)
        return Samples(self.rows[places], first)


# ---- the tail ------------------------------------------------------------------------


def collect_tail(probe, reference, floors, n_jobs=None, tile=TILE):
    """Impostor pairs whose score reaches the floor of their two groups.

    Parameters
    ----------
    probe, reference : Rows
        The same object for all pairs within one side.
    floors : ndarray of float32, shape (n_groups + 1, n_groups + 1)
        Lowest score of the tail in the row and column of a pair's groups. The last ones
        are those of unknown groups.
    n_jobs : int, default=None
        Number of joblib workers.

    Returns
    -------
    scores, left, right : ndarrays, shape (n_tail,)
        By descending score, ties in the order of the tiles, whatever the number of tasks
        and workers. ``left`` and ``right`` are images.
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
    scores, left, right = (np.concatenate(part) for part in zip(*tails, strict=True))
    del tails  # as many bytes as the three arrays, while they are sorted
    return sort_pairs(scores, left, right)


def tiles_of(probe, reference, size):
    """First row and first column of every tile, strip by strip. A list."""
    rows, columns = (range(0, side.image.size, size) for side in (probe, reference))
    one_side = probe is reference
    return [(r, c) for r in rows for c in columns if r <= c or not one_side]


def largest_error(probe, reference):
    """More than a float32 product of any two rows lacks of their score."""
    longest, n_features = 1.0, probe.vectors.shape[1]
    for vectors in (probe.vectors, reference.vectors):
        own = np.arange(len(vectors))
        squares = inner_products(vectors, own, vectors, own)
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
            adjustment = (*numbers, *lowest)
        diagonal = probe is reference and strip == place
        groups = rows.group, columns.group
        pairs = _candidates(tile, slack, diagonal, *groups, floors, adjustment)
        found.append(keep(rows, columns, floors, *np.divmod(pairs, tile.shape[1])))
    return [np.concatenate(part) for part in zip(*found, strict=True)]


@njit(nogil=True, cache=True)
def _candidates(tile, slack, diagonal, group, column_group, floors, adjustment):
    """Places, row * n_columns + column, of pairs that may reach their floor."""
    n, n_columns = 0, tile.shape[1]
    places = np.empty(tile.size, dtype=np.int32)
    floor = np.empty(n_columns, dtype=np.float32)
    for i in range(tile.shape[0]):
        g = group[i]
        if i == 0 or g != group[i - 1]:
            for c in range(n_columns):
                floor[c] = floors[g, column_group[c]]
                if adjustment is None:
                    # A product of a tile may lack the slack.
                    floor[c] -= slack
        # A tile on the diagonal contains each pair twice: those above it are read.
        for c in range(i + 1 if diagonal else 0, n_columns):
            highest, lowest = tile[i, c], floor[c]
            if adjustment is not None:
                highest += slack
                # Numbers of rows and of columns. Limits of both, at each one's curve.
                numbers, others, limits, curve, other_limits, other = adjustment
                highest *= numbers[0, i] + others[0, c]
                highest -= numbers[1, i] + others[1, c]
                if limits.shape[2]:
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
    sides = rows.vectors, columns.vectors, rows.adjustment, columns.adjustment
    scores = score_between(*sides, left, right)
    kept = scores >= floors[rows.group[left], columns.group[right]]
    return scores[kept], rows.image[left[kept]], columns.image[right[kept]]


# ---- listed pairs --------------------------------------------------------------------


def score_pairs(vectors, left, right, adjustment=None, first=None):
    """Scores of listed pairs of images, float32: those of ``collect_tail``.

    Parameters
    ----------
    vectors : ndarray of float32, shape (n_rows, n_features)
    left, right : ndarrays of int, shape (n_pairs,)
    adjustment : Adjustment, default=None
    first : ndarray of int, shape (n_images + 1,), default=None
        Where the rows of each image begin, of which the best counts. If None, one row each.
    """
    shared = (vectors, vectors, adjustment, adjustment)
    starts = range(0, left.size, BLOCK)
    blocks = over_blocks(
        score_between if first is None else _score_best,
        [(left[s : s + BLOCK], right[s : s + BLOCK]) for s in starts],
        1,
        "scoring listed pairs",
        shared=shared if first is None else (*shared, first),
    )
    return np.concatenate([np.empty(0, dtype=np.float32), *blocks])


def _score_best(rows, others, adjustment, other_adjustment, first, left, right):
    """The best score of any rows of listed pairs of images, float32 (n_pairs,)."""
    n_rows, n_others = (np.diff(first)[images] for images in (left, right))
    n = n_rows * n_others
    start = np.cumsum(n) - n
    place, width = np.arange(n.sum()) - np.repeat(start, n), np.repeat(n_others, n)
    sides = rows, others, adjustment, other_adjustment
    ends = (place // width, place % width)
    ends = (
        np.repeat(first[i], n) + e for i, e in zip((left, right), ends, strict=True)
    )
    return np.maximum.reduceat(score_between(*sides, *ends), start)


def score_between(rows, others, adjustment, other_adjustment, left, right):
    """Scores of listed pairs of a row and another one, float32 (n_pairs,)."""
    scores = inner_products(rows, left, others, right)
    if adjustment is None:
        return scores
    return adjustment[left].of_pairs(scores, other_adjustment[right])


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
    # The partners of each probe are ``order[first:end]``.
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


# ---- inner products ------------------------------------------------------------------
# One plain loop in float64 makes every score, so no BLAS, tile or thread changes a digit on
# one machine. The product of two float32 numbers is exact in float64: s(x, y) = s(y, x),
# and equal rows have equal scores. The compiler may add in any order, which is the same for
# all rows of one length.


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def inner_product(row, other):
    """Sum over features, in float64."""
    total = 0.0
    for k in range(row.size):
        total += np.float64(row[k]) * np.float64(other[k])
    return total


@njit(nogil=True, cache=True)
def inner_products(rows, left, others, right):
    """Inner products of listed pairs, rounded to float32.

    Parameters
    ----------
    rows, others : ndarrays of float32, shape (n_rows, n_features)
        C contiguous.
    left, right : ndarrays of int, shape (n_pairs,)
        A row of each.

    Returns
    -------
    scores : ndarray of float32, shape (n_pairs,)
    """
    scores = np.empty(left.size, dtype=np.float32)
    for p in range(left.size):
        scores[p] = inner_product(rows[left[p]], others[right[p]])
    return scores


@njit(nogil=True, cache=True)
def write_products(rows, others, scores):
    """Write the inner products of all rows with all others, float32 (n_rows, n_others)."""
    for i in range(scores.shape[0]):
        for j in range(scores.shape[1]):
            scores[i, j] = inner_product(rows[i], others[j])


# ---- the pass with products on an accelerator ----------------------------------------


def is_available(device):
    """Whether this process can run a pass on a device of this name. Never true of "cpu"."""
    if device == "cpu":
        return False
    try:
        import torch
    except ImportError:
        return False
    return (torch.device(device).index or 0) < torch.cuda.device_count()


def collect_tail_on_device(probe, reference, floors, device, tile=TILE):
    """As :func:`collect_tail`, on a device of torch."""
    import torch

    def to_device(array):
        return torch.from_numpy(array.copy()).to(device)  # which may be read-only

    lowest = (floors - largest_error(probe, reference)).astype(np.float32)
    lowest = to_device(np.nextafter(lowest, np.float32(-np.inf)))
    sides = [
        (to_device(side.vectors), to_device(side.group.astype(np.int64)))
        for side in (probe, reference)
    ]
    tiles = tiles_of(probe, reference, tile)
    found = []
    with full_float32(device), progress_bar(len(tiles), "comparing all pairs") as bar:
        for start, column in tiles:
            strip, place = slice(start, start + tile), slice(column, column + tile)
            rows, group = (part[strip] for part in sides[0])
            columns, other_group = (part[place] for part in sides[1])
            reaches = ~(rows @ columns.T < lowest[group[:, None], other_group])
            if probe is reference and start == column:
                reaches.triu_(1)
            pairs = (ends.cpu().numpy() for ends in reaches.nonzero(as_tuple=True))
            found.append(keep(probe[strip], reference[place], floors, *pairs))
            bar.update()
    return sort_pairs(*(np.concatenate(part) for part in zip(*found, strict=True)))


def multiply_on_device(rows, columns, device):
    """float32 products of each pair of rows, on a device of torch."""
    import torch

    one, other = (torch.from_numpy(s.copy()).to(device) for s in (rows, columns))
    return (one @ other.T).cpu().numpy()


@contextmanager
def full_float32(device):
    """Products of all 24 bits on a device of torch, whatever the process has set.

    TF32 would miss the slack.
    """
    if device == "cpu":
        yield
        return
    import torch

    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


# ---- images as a comparator prepares them --------------------------------------------

# Rows of a block that a thread scores with all columns.
ROWS_AT_ONCE = 64


class PreparedImages(NamedTuple):
    """Transformed embeddings of a comparator, from which all pairs can be scored.

    Attributes
    ----------
    vectors : ndarray of float32, shape (n_images, n_features)
        Rows to multiply.
    adjustment : Adjustment or None
        Function that makes scores of their inner products. If None, they are the scores.

    Examples
    --------
    >>> from skfairfr import CohortNormalizer, make_face_embeddings
    >>> data = make_face_embeddings(n_identities=50, random_state=0)
    >>> prepared = CohortNormalizer().fit(data.X, data.y).prepare(data.X[:3])
    >>> prepared.vectors.shape, prepared.adjustment.numbers.shape
    ((3, 128), (2, 3))
    """

    vectors: np.ndarray
    adjustment: Adjustment | None

    def take(self, rows: slice | np.ndarray) -> PreparedImages:
        """The same of some rows.

        Parameters
        ----------
        rows : slice or ndarray of int, shape (n_rows,)

        Returns
        -------
        images : PreparedImages
        """
        adjustment = None if self.adjustment is None else self.adjustment[rows]
        return PreparedImages(self.vectors[rows], adjustment)


def score_prepared_pairs(first, second):
    """Scores of row k of both, float32 (n_pairs,)."""
    rows = np.arange(len(first.vectors))
    sides = first.vectors, second.vectors, first.adjustment, second.adjustment
    return score_between(*sides, rows, rows)


def score_prepared_matrix(first, second):
    """Scores of every row of one with every row of the other, float32 (n_1, n_2)."""
    scores = np.empty((len(first.vectors), len(second.vectors)), dtype=np.float32)
    parts = [
        slice(s, s + ROWS_AT_ONCE) for s in range(0, len(first.vectors), ROWS_AT_ONCE)
    ]
    over_blocks(
        _write_scores,
        [(part,) for part in parts],
        1,
        "scoring all pairs",
        shared=(first, second, scores),
    )
    return scores


def _write_scores(first, second, scores, part):
    """Write the rows of a part."""
    write_products(first.vectors[part], second.vectors, scores[part])
    if first.adjustment is not None:
        first.adjustment[part].adjust_tile(scores[part], second.adjustment)


# ---- pairs with at least one image in a cluster --------------------------------------

# Products that are compared at a time.
PRODUCTS = 2**20


def count_pairs(cluster, n_clusters):
    """Pairs with an image in each cluster, genuine ones too, float64 (n_clusters,)."""
    inside = np.bincount(cluster, minlength=n_clusters).astype(np.float64)
    return inside * (cluster.size - inside) + inside * (inside - 1) / 2


def count_genuine(cluster, n_clusters, left, right):
    """How many of listed pairs have an image in each cluster, int (n_clusters,)."""
    first, second = cluster[left], cluster[right]
    counts = np.bincount(first, minlength=n_clusters)
    return counts + np.bincount(second[first != second], minlength=n_clusters)


def thresholds_touching(rows, identity, cluster, n_impostor, far):
    """Thresholds at a FAR over the impostor pairs with an image in each cluster.

    Parameters
    ----------
    rows : ndarray of float32, shape (n_images, n_features)
        Of unit length.
    identity, cluster : ndarrays of int, shape (n_images,)
    n_impostor : ndarray of int, shape (n_clusters,)
        Number of these pairs.
    far : float

    Returns
    -------
    thresholds : ndarray of float64, shape (n_clusters,)
        nan where there is no such pair.
    """
    order = np.argsort(cluster, kind="stable")
    stops = np.cumsum(np.bincount(cluster, minlength=n_impostor.size))
    starts = np.append(0, stops[:-1])
    tasks = list(zip(starts, stops, n_impostor, strict=True))
    found = over_blocks(
        _threshold_touching,
        tasks,
        1,
        "comparing clusters",
        sizes=(stops - starts).tolist(),
        shared=(rows[order], identity[order], far),
    )
    return np.array(found)


def _threshold_touching(rows, identity, far, start, stop, n_impostor):
    """The threshold of the cluster of rows start:stop."""
    if n_impostor == 0:
        return np.nan
    n_kept = int(far * n_impostor * (1 + _rates.ROUNDING)) + 1
    # Either of two products may be wrong by half of it, whatever the order of adding.
    slack = 4 * rows.shape[1] * 2.0**-24
    scores, left, right = np.empty(0, np.float32), np.empty(0, int), np.empty(0, int)
    floor = np.float32(-np.inf)
    size = max(1, PRODUCTS // len(rows))
    for first in range(start, stop, size):
        tile = rows[first : min(first + size, stop)] @ rows.T
        i, j = np.nonzero(tile >= floor)
        row = i + first
        # Pairs inside the cluster are met twice.
        new = (identity[row] != identity[j]) & ((j < start) | (j >= stop) | (j > row))
        scores = np.append(scores, tile[i[new], j[new]])
        left, right = np.append(left, row[new]), np.append(right, j[new])
        if scores.size > n_kept:
            last = np.partition(scores, scores.size - n_kept)[scores.size - n_kept]
            floor = np.float32(last - slack)
            kept = scores >= floor
            scores, left, right = scores[kept], left[kept], right[kept]
    exact = np.sort(inner_products(rows, left, rows, right))[::-1]
    counts = np.arange(1, exact.size + 1, dtype=np.float64)
    position = _rates.first_exceeding(counts, far * n_impostor)
    return float(_rates.threshold_at(exact, position))


def draw_pairs(inside, outside, size, rng):
    """Pairs with at least one image in a cluster: all, or a uniform sample of them.

    Parameters
    ----------
    inside, outside : ndarrays of int
        The images of the cluster, and all others.
    size : int
        Largest number of pairs.
    rng : numpy.random.Generator

    Returns
    -------
    left, right : ndarrays of int, shape (n_pairs,)
        Each pair once.
    """
    across = inside.size * outside.size
    total = across + inside.size * (inside.size - 1) // 2
    if total > size:
        place = np.sort(rng.choice(total, size, replace=False, shuffle=False))
    else:
        place = np.arange(total)
    first, second = place[place < across], place[place >= across] - across
    # Pair k of (1, 0), (2, 0), (2, 1), (3, 0), ...
    row = ((1 + np.sqrt(8.0 * second + 1)) // 2).astype(np.int64)
    row -= row * (row - 1) // 2 > second
    row += row * (row + 1) // 2 <= second
    column = second - row * (row - 1) // 2
    width = max(outside.size, 1)
    left = np.concatenate([inside[first // width], inside[row]])
    others = outside[first % width] if outside.size else first
    return left, np.concatenate([others, inside[column]])
