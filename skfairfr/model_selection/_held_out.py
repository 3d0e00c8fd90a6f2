"""Errors of a fitted system on people whom it never saw, with resamples of them."""

import warnings
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from skfairfr._core._bootstrap import Query, Resampling, point_rates, rate_table
from skfairfr._core._pooled_folds import STEP, Cell, FoldErrors
from skfairfr._core._resampling import Weights, draw
from skfairfr.metrics import SimilarityROC
from skfairfr.metrics._roc._paired import accepted_by_people

POINTS = ("overall", "worst_group")
BLOCK = 128


class Metric(NamedTuple):
    """What a method is judged by: a rate of everyone, or a disparity of groups."""

    rate: str
    how: str | None
    point: str
    words: str


METRICS = {
    "bfar": Metric("far", "max_min", "worst_group", "BFAR"),
    "bfrr": Metric("frr", "max_min", "worst_group", "BFRR"),
    "frr_at_far": Metric("frr", None, "overall", "FRR"),
    "far_max_geomean": Metric(
        "far", "max_geomean", "worst_group", "max/geomean of the FAR"
    ),
    "frr_max_geomean": Metric(
        "frr", "max_geomean", "worst_group", "max/geomean of the FRR"
    ),
}


def cells_of(groups):
    """Rates that are counted, by attribute.

    Parameters
    ----------
    groups : dict of str -> sequence of labels
        Of every attribute.

    Returns
    -------
    cells : list of Cell
        For each attribute and operating point the FAR, then the FRR, of everyone and of
        the groups.
    """
    return [
        Cell(attribute, point, rate, group)
        for attribute, labels in groups.items()
        for point in POINTS
        for rate in ("far", "frr")
        for group in (None, *labels)
    ]


def rows_of(cells, attribute, metric):
    """Rows of the rates that a metric is made of, by the groups of an attribute."""
    asked = METRICS[metric]
    return [
        row
        for row, cell in enumerate(cells)
        if (cell.attribute, cell.point, cell.rate)
        == (attribute, asked.point, asked.rate)
        and (cell.group is None) == (asked.how is None)
    ]


def count_errors(
    X, y, columns, groups, *, far, n_resamples, entropy, similarity="cosine"
):
    """Compare all pairs of some people, and count their errors in every resample.

    Parameters
    ----------
    X : ndarray, shape (n_images, n_features)
        Embeddings of the people of one fold.
    y : ndarray of int, shape (n_images,)
        Codes of the identities among all people.
    columns : dict of str -> array-like, shape (n_images,)
        Groups by each attribute.
    groups : dict of str -> list of labels
        As of :func:`cells_of`: all groups, whether or not they are in this fold.
    far : float in (0, 1)
        Level.
    n_resamples : int
        With 0, errors in the data alone.
    entropy : int
        Seed of the resamples of people: the same for all systems.
    similarity : str or comparator, default="cosine"
        As of :class:`~skfairfr.metrics.SimilarityROC`.

    Returns
    -------
    found : FoldErrors

    """
    roc = SimilarityROC(
        similarity=similarity,
        resample="identities",
        n_resamples=1,
        far_max=max(1e-2, STEP * far),
        random_state=0,
    )
    with warnings.catch_warnings():
        # What a fold cannot resolve, all of them together may.
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        roc.fit(X, y, columns)
        cells = cells_of(groups)
        parts = [
            _of_point(roc, columns, attribute, point, (far, n_resamples, entropy))
            for attribute in groups
            for point in POINTS
        ]
    return _joined(cells, parts, roc.identities_, n_resamples)


def _of_point(roc, columns, attribute, point, settings):
    """Rates of everyone and of the groups at one operating point, by Cell."""
    far, n_resamples, entropy = settings
    by = roc.by(attribute) if len(columns) > 1 else roc
    pairs, labels = by._engine.pairs, by.groups_.tolist()
    own = tuple((g, g) for g in range(len(labels)))
    operating = tuple(g for g in range(len(labels)) if pairs.count((g, g)))
    query = Query(np.array([far]), None, point, (None, *own), operating)
    query, points = point_rates(pairs, query)
    resampled = None
    if n_resamples:
        resampling = Resampling("identities", "recentered", n_resamples, entropy, None)
        resampled = rate_table(pairs, query, resampling).replicates
    levels = np.array([far / STEP, far * STEP])
    _, near = point_rates(pairs, Query(levels, None, point, query.scopes, operating))
    thresholds = points.thresholds[:, 0]
    setter = None
    if point == "worst_group":
        at = [by.threshold_at(far, operating_point="group", group=g) for g in labels]
        if np.isnan(at).all():
            raise ValueError(
                f"No group of {attribute!r} has an impostor pair among the people of a "
                "split. Use fewer splits, or more people of each group."
            )
        setter = labels[int(np.nanargmax(at))]
    found = {}
    for row, (scope, label) in enumerate(
        zip(query.scopes, (None, *labels), strict=True)
    ):
        totals = _totals(pairs, scope, n_resamples, entropy)
        for rate, pairs_of in zip(("far", "frr"), totals, strict=True):
            rates = getattr(points, rate)[row]
            if resampled is not None:
                rates = np.append(rates, getattr(resampled, rate)[row, 0])
            moved = getattr(near, rate)[row]
            defined = ~np.isnan(rates)
            people = None
            if rate == "far":
                people = accepted_by_people(pairs, scope, thresholds[row])
            found[Cell(attribute, point, rate, label)] = (
                np.where(defined, rates, 0.0) * pairs_of,
                np.where(defined, pairs_of, 0.0),
                np.nan_to_num(moved) * pairs_of[0],
                Cell(attribute, point, "far", setter),
                people,
            )
    return found


def _totals(pairs, scope, n_resamples, entropy):
    """Weights of the impostor and of the genuine pairs, in the data and in resamples."""
    blocks = [Weights()]
    for start in range(0, n_resamples, BLOCK):
        stop = min(start + BLOCK, n_resamples)
        blocks.append(draw(pairs.images, "identities", entropy, start, stop))
    impostor = [pairs.impostor_total(scope, weights) for weights in blocks]
    genuine = [pairs.genuine_total(scope, weights, True) for weights in blocks]
    return np.concatenate(impostor), np.concatenate(genuine)


def _joined(cells, parts, codes, n_resamples):
    """FoldErrors of all cells; a group that is not in the fold has no pairs."""
    by_cell = {cell: found for part in parts for cell, found in part.items()}
    row_of = {cell: row for row, cell in enumerate(cells)}
    shape = (len(cells), 1 + n_resamples)
    errors, pairs, near = np.zeros(shape), np.zeros(shape), np.zeros((len(cells), 2))
    setter = np.full(len(cells), -1)
    accepted = [(np.empty(0, dtype=np.int64),) * 4]
    for cell, found in by_cell.items():
        row = row_of[cell]
        errors[row], pairs[row], near[row], set_by, people = found
        setter[row] = row_of[set_by]
        if people is not None and people[0].size:
            left, right = (codes[side] for side in people[:2])
            ends = np.stack([np.minimum(left, right), np.maximum(left, right)])
            (left, right), count = np.unique(ends, axis=1, return_counts=True)
            accepted.append((np.full(left.size, row), left, right, count))
    return FoldErrors(
        errors, pairs, near, setter, *map(np.concatenate, zip(*accepted, strict=True))
    )
