"""Errors of a fitted system on people whom it never saw, with resamples of them."""

import warnings
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from skfairfr._core._bootstrap import Query, point_rates, rate_table
from skfairfr._core._error_counts import accepted_by_people
from skfairfr._core._paired import STEP, Cell, FoldErrors
from skfairfr._core._pairs import Expected
from skfairfr._core._resampling import Resampling, Weights, draw
from skfairfr.metrics import SimilarityROC
from skfairfr.metrics._scorers import ENTRIES

POINTS = ("overall", "worst_group")
BLOCK = 128


class Metric(NamedTuple):
    """What a method is judged by: a rate of everyone, or a disparity of groups."""

    rate: str
    how: str | None
    point: str
    words: str


WORDS = {
    "bfar": "BFAR",
    "bfrr": "BFRR",
    "frr_at_far": "FNMR",
    "far_max_geomean": "largest / geometric mean of the FMR",
    "frr_max_geomean": "largest / geometric mean of the FNMR",
}
METRICS = {name: Metric(*ENTRIES[name], words) for name, words in WORDS.items()}


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
    similarity : str, comparator, or ndarray of shape (n_images, n_images)
        As of :class:`~skfairfr.metrics.SimilarityROC`; or the scores themselves, of which
        those above the diagonal count.

    Returns
    -------
    found : FoldErrors
        With 0 resamples ``near`` is 0, and there are no accepted pairs.
    """
    is_matrix = isinstance(similarity, np.ndarray)
    roc = SimilarityROC(
        similarity="cosine" if is_matrix else similarity,
        resample="identities",
        n_resamples=1,
        far_max=max(1e-2, STEP * far),
        random_state=0,
    )
    if not n_resamples:
        roc._expected = Expected(whole=False)
    codes = {name: _codes(columns[name], labels) for name, labels in groups.items()}
    cells = cells_of(groups)
    row_of = {cell: row for row, cell in enumerate(cells)}
    # A group that is not in the fold keeps its zeros.
    errors, pairs = np.zeros((2, len(cells), 1 + n_resamples))
    near, setter = np.zeros((len(cells), 2)), np.full(len(cells), -1)
    accepted = [(np.empty(0, dtype=np.int64),) * 4]
    with warnings.catch_warnings():
        # What a fold cannot resolve, all of them together may.
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        if is_matrix:
            _fit_matrix(roc, similarity, y, codes)
        else:
            roc.fit(X, y, codes)
        for attribute in groups:
            by = roc.by(attribute) if len(groups) > 1 else roc
            for point in POINTS:
                asked = (by, groups[attribute], attribute, point)
                for cell, *found in _of_point(*asked, far, n_resamples, entropy):
                    row = row_of[cell]
                    errors[row], pairs[row], near[row], set_by, clumps = found
                    setter[row] = row_of[set_by]
                    if clumps is not None:
                        own = np.full(clumps[0].size, row)
                        accepted.append((own, *clumps))
    joined = (np.concatenate(column) for column in zip(*accepted, strict=True))
    return FoldErrors(errors, pairs, near, setter, *joined)


def _codes(column, labels):
    """Places of the groups of images among the labels; nan of an unknown group."""
    known = {label: float(code) for code, label in enumerate(labels)}
    return np.array([known.get(label, np.nan) for label in column])


def _fit_matrix(roc, scores, y, codes):
    """List every two images with their score: many times the memory of a comparison."""
    first, second = np.triu_indices(len(y), 1)
    roc.fit_pairs(
        scores[first, second],
        *(y[first], y[second]),
        sensitive_features_1={name: code[first] for name, code in codes.items()},
        sensitive_features_2={name: code[second] for name, code in codes.items()},
        image_1=first,
        image_2=second,
    )


def _of_point(roc, groups, attribute, point, far, n_resamples, entropy):
    """Of every cell at an operating point: errors, pairs, near, its setter and clumps."""
    pairs, labels = roc._engine.pairs, [groups[int(code)] for code in roc.groups_]
    own = tuple((g, g) for g in range(len(labels)))
    operating = tuple(g for g in range(len(labels)) if pairs.count((g, g)))
    query = Query(np.array([far]), None, point, (None, *own), operating)
    query, points = point_rates(pairs, query)
    thresholds, setter = points.thresholds[:, 0], None
    if point == "worst_group":
        own = {"operating_point": "group"}
        at = [roc.threshold_at(far, group=code, **own) for code in roc.groups_]
        if np.isnan(at).all():
            raise ValueError(
                f"No group of {attribute!r} has an impostor pair among the people of a "
                "split. Use fewer splits, or more people of each group."
            )
        setter = labels[int(np.nanargmax(at))]
    setter = Cell(attribute, point, "far", setter)
    if n_resamples:
        resampling = Resampling("identities", "recentered", n_resamples, entropy, None)
        resampled = rate_table(pairs, query, resampling).replicates
        levels = np.array([far / STEP, far * STEP])
        moved = Query(levels, None, point, query.scopes, operating)
        moved = point_rates(pairs, moved)[1]
    for row, (scope, label) in enumerate(
        zip(query.scopes, (None, *labels), strict=True)
    ):
        totals = _totals(pairs, scope, n_resamples, entropy)
        for rate, total in zip(("far", "frr"), totals, strict=True):
            rates, near, clumps = getattr(points, rate)[row], 0.0, None
            if n_resamples:
                rates = np.append(rates, getattr(resampled, rate)[row, 0])
                near = np.nan_to_num(getattr(moved, rate)[row]) * total[0]
                if rate == "far":
                    clumps = _clumps(roc, pairs, scope, thresholds[row])
            found = np.nan_to_num(rates) * total, np.where(np.isnan(rates), 0.0, total)
            yield Cell(attribute, point, rate, label), *found, near, setter, clumps


def _clumps(roc, pairs, scope, threshold):
    """Every two people with accepted impostor pairs, and how many; three ndarrays."""
    people = accepted_by_people(pairs, scope, threshold)[:2]
    ends = np.sort(roc.identities_[np.stack(people)], axis=0)
    (left, right), count = np.unique(ends, axis=1, return_counts=True)
    return left, right, count


def _totals(pairs, scope, n_resamples, entropy):
    """Weights of the impostor and of the genuine pairs, in the data and in resamples."""
    blocks = [Weights()]
    for start in range(0, n_resamples, BLOCK):
        stop = min(start + BLOCK, n_resamples)
        blocks.append(draw(pairs.images, "identities", entropy, start, stop))
    impostor = [pairs.impostor_total(scope, weights) for weights in blocks]
    genuine = [pairs.genuine_total(scope, weights, True) for weights in blocks]
    return np.concatenate(impostor), np.concatenate(genuine)
