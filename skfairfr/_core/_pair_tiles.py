"""One pass over all pairs in tiles: the tail of impostor scores, and histograms.

Rows are ordered by group and identity, so that a tile falls into a few blocks of constant
group and each block is compared with one collection floor. The products of a tile only
screen its pairs (``_screen``); what passes is scored exactly (``_inner_products``). Only a
tile, the collected tail and the genuine scores are ever held; nothing is n x n.
"""

import time
from dataclasses import dataclass
from functools import partial
from threading import local

import numpy as np

from skfairfr._core import _adjusted_screen, _adjustments, _inner_products, _screen
from skfairfr._core._adjustments import Adjustment
from skfairfr._core._compiled import njit
from skfairfr._core._pair_sequences import merge_pairs, sort_pairs
from skfairfr._core._parallel import one_blas_thread, over_blocks

TILE = 2048
# Multiply-adds of a task: about a second of a core.
TASK = 5e10
# Tasks of a pass, whatever its size, where there are as many tiles: the first keep many
# workers busy, the last bound what their results take before they are joined.
FEWEST, MOST = 64, 512
# Held pairs that a thread collects before it hands them over.
BUFFER = 2**17
# Pairs after the one that is scored whose row is asked for: the rows of a tile do not fit
# into the cache next to a core.
AHEAD = 2
# Rows and columns of the tile that is timed to choose a precision, and how often.
TRIAL, TRIALS = 1024, 3
# Listed pairs that a thread scores at a time.
BLOCK = 2**16

_KEPT = local()


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


def compare_all(
    probe,
    reference,
    floors=None,
    measures=None,
    n_jobs=None,
    tile=TILE,
    precision=None,
):
    """One pass over all impostor pairs: the tail of their scores, and histograms.

    Parameters
    ----------
    probe, reference : Rows
        The same object for all pairs within one side.
    floors : ndarray of float32, shape (n_groups + 1, n_groups + 1), default=None
        Lowest score of the tail in the row and column of a pair's groups; the last ones
        are those of unknown groups. None collects no tail.
    measures : Measures, default=None
        Histograms to count; None counts none.
    n_jobs : int, default=None
        Number of joblib workers.
    precision : {None, "float32", "bfloat16", "int8"}, default=None
        Precision of the screen, which changes the time alone; None chooses.

    Returns
    -------
    tail : tuple of ndarrays (scores, left, right), shape (n_tail,), or None
        By descending score, ties in the order of the tiles, whatever the number of tasks
        and workers; ``left`` and ``right`` are images.
    counts : ndarray, shape (n_rows, n_bins), or None
    """
    n_features = probe.vectors.shape[1]
    one_side = probe is reference
    if measures is not None:
        precision = "float32"  # others miss their bins
    if precision is None:
        n_products = probe.image.size * reference.image.size / (2 if one_side else 1)
        trial = None if floors is None else partial(_seconds, probe, reference, floors)
        precision = _screen.choose(n_products, n_features, n_jobs, trial)
    screened = _screen.ScreenedRows.of(probe.vectors, precision)
    screens = (screened, screened)
    if not one_side:
        screens = (screened, _screen.ScreenedRows.of(reference.vectors, precision))
    tasks = _runs_of_tiles(probe, reference, tile)
    tails, counts = over_blocks(
        _compare_tiles,
        [(tiles,) for tiles in tasks],
        n_jobs,
        "comparing all pairs",
        sizes=[len(tiles) for tiles in tasks],
        shared=(probe, reference, screens, floors, measures, tile),
        add=_together,
    )
    return None if floors is None else merge_pairs(tails), counts


def _seconds(probe, reference, floors, precision):
    """Time of a tile of rows and columns from everywhere, its exact scores included."""
    steps = np.arange(TRIAL)
    some = [
        side[((steps + first) * side.image.size / TRIAL).astype(int)]
        for side, first in ((probe, 0), (reference, 0.5))
    ]
    screens = [_screen.ScreenedRows.of(side.vectors, precision) for side in some]
    taken = []
    with one_blas_thread():
        for _ in range(TRIALS):
            start = time.perf_counter()
            _compare_tiles(*some, screens, floors, None, TRIAL, [(0, 0)])
            taken.append(time.perf_counter() - start)
    return min(taken)


def _together(parts, part):
    """The tails of two lots of tasks in one list, and the sum of their counts."""
    tails, counts = parts
    tails += part[0]
    if counts is not None:
        counts += part[1]
    return parts


def collect_tail(probe, reference, floors, n_jobs=None, tile=TILE, precision=None):
    """The tail alone, of :func:`compare_all`."""
    found = compare_all(probe, reference, floors, None, n_jobs, tile, precision)
    return found[0]


def score_pairs(vectors, left, right, adjustment=None):
    """Exact scores of listed pairs of rows, float32: those of ``collect_tail``."""
    left, right = left.astype(np.int32), right.astype(np.int32)
    if left.size <= BLOCK:
        return _score_block(vectors, adjustment, left, right)
    starts = range(0, left.size, BLOCK)
    blocks = over_blocks(
        _score_block,
        [(left[s : s + BLOCK], right[s : s + BLOCK]) for s in starts],
        1,
        "scoring listed pairs",
        shared=(vectors, adjustment),
    )
    return np.concatenate(blocks)


def _score_block(vectors, adjustment, left, right):
    scores = _inner_products.score_pairs(vectors, left, right)
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


def _runs_of_tiles(probe, reference, size):
    """Tiles strip by strip, cut into runs of about equal work.

    The runs depend on the data alone, and not on the workers: so do sums over them.

    Returns
    -------
    runs : list of ndarrays of int, shape (n_tiles, 2)
        First row and first column of every tile.
    """
    n_rows, n_columns = probe.image.size, reference.image.size
    rows, columns = np.arange(0, n_rows, size), np.arange(0, n_columns, size)
    tiles = np.stack(np.meshgrid(rows, columns, indexing="ij"), axis=-1).reshape(-1, 2)
    if probe is reference:
        tiles = tiles[tiles[:, 0] <= tiles[:, 1]]
    work = np.minimum(n_rows - tiles[:, 0], size) * probe.vectors.shape[1]
    work = work * np.minimum(n_columns - tiles[:, 1], size)
    done = np.cumsum(work)
    n_runs = int(np.clip(done[-1] / TASK, FEWEST, MOST))
    run = (done - work / 2) * n_runs // done[-1]
    return np.split(tiles, np.flatnonzero(np.diff(run)) + 1)


def _compare_tiles(probe, reference, screens, floors, measures, size, tiles):
    """The tail of some tiles, sorted, in a list, and their counts; empty if not asked."""
    kinds = (np.float32, np.int32, np.int32)
    buffers = tuple(np.empty(BUFFER + size, dtype=kind) for kind in kinds)
    all_blocks, memory = reference.blocks(), _memory_of_tile(size)
    counts = None if measures is None else measures.counts()
    limits = None if floors is None else _limits_of(probe, reference, floors)
    found = []
    for start, column in tiles:
        strip, place = slice(start, start + size), slice(column, column + size)
        rows = (probe.vectors[strip], probe.identity[strip], probe.group[strip])
        columns = (reference.vectors[place], reference.identity[place])
        screened, across = screens[0][strip], screens[1][place]
        diagonal = probe is reference and column == start
        blocks = _clip(all_blocks, column, len(columns[1]))
        whole = False
        if floors is not None:
            whole = np.isneginf(floors[np.ix_(np.unique(rows[2]), blocks[2])]).all()
        if whole and measures is None:
            tile = np.empty((len(rows[0]), 0), dtype=np.int32)
        else:
            tile = _screen.multiply(screened.values, across.values, memory)
        if measures is not None:
            sides = ((strip, *rows[1:]), (place, columns[1]))
            scores = _scores_of(tile, probe, reference, strip, place)
            measures.add(counts, scores, diagonal, *sides, blocks)
        row = 0 if floors is not None else len(rows[0])
        while row < len(rows[0]):
            row, n = _collect(
                row,
                tile,
                diagonal,
                (*rows, screened.lengths, screened.distances, screened.scales),
                (*columns, across.lengths, across.distances, across.scales),
                blocks,
                floors,
                _adjustment_of(limits, probe, reference, strip, place),
                buffers,
            )
            scores, left, right = (buffer[:n] for buffer in buffers)
            images = (probe.image[start + left], reference.image[column + right])
            found.append((scores.copy(), *images))
    if floors is None:
        return [], counts
    columns = (np.concatenate(part) for part in zip(*found, strict=True))
    return [sort_pairs(*columns)], counts


def _scores_of(tile, probe, reference, strip, place):
    """Scores of a tile of float32 products, adjusted in a copy of it."""
    products = tile.view(np.float32)
    if probe.adjustment is None:
        return products
    scores = products.copy()
    probe.adjustment[strip].adjust_tile(scores, reference.adjustment[place])
    return scores


def _limits_of(probe, reference, floors):
    """Each image's own limits at the distinct floors; which floor each pair of groups has.

    Returns
    -------
    limits : tuple of two ndarrays of float64, shape (n_floors, n_rows)
    place : ndarray of int64, shape (n_groups + 1, n_groups + 1)
    """
    if probe.adjustment is None:
        return None
    distinct, place = np.unique(floors, return_inverse=True)
    limits = [side.adjustment.limits(distinct) for side in (probe, reference)]
    return limits, place.reshape(floors.shape).astype(np.int64)


def _adjustment_of(limits, probe, reference, strip, place):
    """What ``_collect`` needs to adjust the scores of a tile; None if nothing.

    numba leaves out the branches of an argument that is None: plain cosines wait for no
    compilation of adjusted scores.
    """
    if limits is None:
        return None
    sides = (
        (side.adjustment.numbers[:, part], of_side[:, part])
        for side, of_side, part in zip(
            (probe, reference), limits[0], (strip, place), strict=True
        )
    )
    rows, columns = (tuple(map(np.ascontiguousarray, side)) for side in sides)
    return probe.adjustment.code, rows, columns, limits[1]


def _memory_of_tile(size):
    """Memory for the products of a tile, kept by each thread.

    Fresh memory of this size can cost more than the products that are written to it.
    """
    memory = getattr(_KEPT, "memory", None)
    if memory is None or memory.size < 4 * size**2:
        memory = _KEPT.memory = np.empty(4 * size**2, dtype=np.uint8)
    return memory


def _clip(blocks, column, width):
    """The part of every block of columns that lies in a tile, relative to its start."""
    starts, stops, groups = blocks
    inside = (stops > column) & (starts < column + width)
    starts = np.maximum(starts[inside] - column, 0)
    return starts, np.minimum(stops[inside] - column, width), groups[inside]


@njit(nogil=True, cache=True)
def _collect(row, tile, diagonal, rows, columns, blocks, floors, adjustment, buffers):
    """Write the impostor pairs at or above their floor, from one row on.

    Returns
    -------
    row, filled : int
        The next row, where the buffers are full, and the number of pairs written.
    """
    vectors, identity, group, lengths, distances, scales = rows
    column_vectors, column_identity, column_lengths, column_distances, across = columns
    starts, stops, groups = blocks
    if adjustment is not None:
        kind, of_rows, of_columns, place = adjustment
    scores, left, right = buffers
    integers = (across, column_distances.astype(np.float32))
    wide = np.empty(vectors.shape[1])
    passed = np.empty(column_identity.size, dtype=np.int32)
    values = np.empty(0 if adjustment is None else passed.size, dtype=np.float32)
    ratios = across.astype(np.float64) if across.size else np.ones(passed.size)
    largest = _largest_of(blocks, column_lengths, column_distances)
    filled = 0
    while row < vectors.shape[0] and filled + passed.size <= scores.size:
        _inner_products.widen(vectors[row], wide)
        for block in range(starts.size):
            floor = floors[group[row], groups[block]]
            first = max(starts[block], row + 1) if diagonal else starts[block]
            span = (first, stops[block])
            scale = scales[row] if scales.size else 1.0
            of_block = (largest[block, 0], largest[block, 1])
            if adjustment is None:
                n = _screen.select(
                    tile[row],
                    span,
                    floor,
                    (lengths[row], distances[row], scale),
                    integers,
                    of_block,
                    wide.size,
                    passed,
                )
            else:
                of_row = (lengths[row], distances[row])
                error = _screen.largest_error(of_row, of_block, wide.size)
                # The own distance of each column takes the place of the largest one.
                of_distance = lengths[row] + distances[row]
                fixed = error - of_distance * largest[block, 1]
                n = _passing_adjusted(
                    row,
                    tile,
                    span,
                    (fixed, of_distance, scale),
                    floor,
                    (group[row], groups[block]),
                    adjustment,
                    (ratios, column_distances),
                    across.size > 0,
                    values,
                    passed,
                )
            for k in range(n):
                c = passed[k]
                if k + AHEAD < n:
                    _inner_products.fetch(column_vectors, passed[k + AHEAD])
                if identity[row] == column_identity[c]:
                    continue
                score = np.float32(
                    _inner_products.inner_product(wide, column_vectors[c])
                )
                if adjustment is not None:
                    if kind == _adjustments.CALIBRATED:
                        # Logarithms and exponentials take longer than the inner product.
                        f = place[group[row], groups[block]]
                        if score < min(of_rows[1][f, row], of_columns[1][f, c]):
                            continue
                    score = np.float32(
                        _adjustments.adjusted(
                            kind, np.float64(score), of_rows[0], row, of_columns[0], c
                        )
                    )
                if score >= floor:
                    scores[filled] = score
                    left[filled] = row
                    right[filled] = c
                    filled += 1
        row += 1
    return row, filled


@njit(nogil=True, cache=True)
def _largest_of(blocks, lengths, distances):
    """Largest length and distance of the columns of every block, (n_blocks, 2)."""
    starts, stops, _ = blocks
    largest = np.empty((starts.size, 2))
    for block in range(starts.size):
        length, distance = 0.0, 0.0
        for c in range(starts[block], stops[block]):
            length, distance = max(length, lengths[c]), max(distance, distances[c])
        largest[block, 0], largest[block, 1] = length, distance
    return largest


@njit(nogil=True, cache=True)
def _passing_adjusted(
    row,
    tile,
    span,
    errors,
    floor,
    cells,
    adjustment,
    measured,
    are_integers,
    values,
    found,
):
    """Write the columns of a row whose adjusted score may reach the floor; how many."""
    fixed, of_distance, scale = errors
    first, stop = span
    if floor == -np.inf or not fixed < np.inf:
        return _screen.passing(tile[row], first, stop, _screen.EVERYTHING, found)
    kind, (numbers, limits), (others, other_limits), place = adjustment
    limit, of_limits = 0.0, measured[0]
    if kind == _adjustments.CALIBRATED:
        k = place[cells]
        limit, of_limits = limits[k, row], other_limits[k]
    columns = (*measured, others[0], others[1], of_limits)
    of_row = (scale, numbers[0, row], numbers[1, row], limit)
    error = (fixed * _screen.UP, of_distance * _screen.UP, 0.0)
    if are_integers:
        products = tile[row].view(np.int32)
        return _adjusted_screen.passing(
            kind, products, span, error, floor, of_row, columns, found
        )
    if tile.itemsize == 2:
        slack = _screen.widen(tile[row, first:stop], values[first:])
        error = (error[0], error[1], slack)
    else:
        values = tile[row].view(np.float32)
    return _adjusted_screen.passing(
        kind, values, span, error, floor, of_row, columns, found
    )
