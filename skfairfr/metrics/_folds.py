"""Errors of systems on folds of people, pooled; two systems compared by them.

A method that is fitted anew in every fold gives scores that can be compared within a fold
alone. So every fold has a threshold of its own, and a pooled rate is the sum of errors over
the sum of pairs of all folds; ``compare`` takes the same resamples of people for two systems.
Resampling counts what every two people add together three times, and for rare false
acceptances that is most of the variance: this surplus, known from the accepted pairs, is
taken out of the variance of the replicates.
"""

import warnings
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import stdtrit
from sklearn.exceptions import UndefinedMetricWarning

from skfairfr._core._bootstrap import Query, point_rates, rate_table
from skfairfr._core._error_counts import accepted_by_people
from skfairfr._core._paired import SymmetricContrasts, disparity_ratio, stacked
from skfairfr._core._pairs import Expected
from skfairfr._core._rates import DISPARITIES
from skfairfr._core._resampling import Resampling, Weights, draw
from skfairfr.metrics._roc._similarity_roc import SimilarityROC

POINTS = ("overall", "worst_group")
# Resamples at a time.
BLOCK = 128
# Levels at which a rate's dependence on the level is seen: this many times less and more.
STEP = 1.5
# Added to the errors of every rate before its logarithm is taken.
HALF_ERROR = 0.5


class Cell(NamedTuple):
    """One rate of a fold.

    Attributes
    ----------
    attribute : str
        Whose groups set the threshold of the point "worst_group".
    point : {"overall", "worst_group"}
    rate : {"far", "frr"}
    group : label or None
        None is everyone.
    """

    attribute: str
    point: str
    rate: str
    group: object


@dataclass(frozen=True)
class FoldErrors:
    """Errors of one system on the people of one fold.

    Attributes
    ----------
    errors, pairs : ndarrays, shape (n_cells, 1 + n_resamples)
        Weights of errors and of pairs; the first column is the data.
    near : ndarray, shape (n_cells, 2)
        Errors in the data at the level over STEP and at STEP times the level.
    setter : ndarray of int, shape (n_cells,)
        The cell whose FAR sets the threshold of each; any where a cell has no error.
    accepted : ndarray of int, shape (n_clusters, 4)
        Accepted impostor pairs of each cell of the FAR: the cell, codes of both people,
        which no other fold has, the smaller one first, and how many pairs are theirs.
    """

    errors: np.ndarray
    pairs: np.ndarray
    near: np.ndarray
    setter: np.ndarray
    accepted: np.ndarray


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


# ---- of one fold ---------------------------------------------------------------------


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
    near, setter = np.zeros((len(cells), 2)), np.zeros(len(cells), dtype=np.int64)
    accepted = [np.empty((0, 4), dtype=np.int64)]
    with warnings.catch_warnings():
        # What a fold cannot resolve, all of them together may.
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        if is_matrix:
            _fit_matrix(roc, similarity, y, codes)
        else:
            roc.fit(X, y, codes)
        for attribute, labels in groups.items():
            by = roc.by(attribute) if len(groups) > 1 else roc
            for point in POINTS:
                of_point = _of_point(
                    by, labels, attribute, point, far, n_resamples, entropy
                )
                for cell, set_by, clusters, *numbers in of_point:
                    row = row_of[cell]
                    errors[row], pairs[row], near[row] = numbers
                    setter[row] = row_of[set_by]
                    accepted.append(np.insert(clusters, 0, row, axis=1))
    return FoldErrors(errors, pairs, near, setter, np.concatenate(accepted))


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
    """Of every cell at an operating point: its setter, clusters, errors, pairs and near."""
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
            rates, near = getattr(points, rate)[row], 0.0
            clusters = np.empty((0, 3), dtype=np.int64)
            if n_resamples:
                rates = np.append(rates, getattr(resampled, rate)[row, 0])
                near = np.nan_to_num(getattr(moved, rate)[row]) * total[0]
                if rate == "far":
                    clusters = _clusters(roc, pairs, scope, thresholds[row])
            errors, known = np.nan_to_num(rates) * total, ~np.isnan(rates)
            cell = Cell(attribute, point, rate, label)
            yield cell, setter, clusters, errors, known * total, near


def _clusters(roc, pairs, scope, threshold):
    """Every two people with accepted impostor pairs, and how many, (n_clusters, 3)."""
    people = accepted_by_people(pairs, scope, threshold)[:2]
    ends = np.sort(roc.identities_[np.stack(people)], axis=0)
    return np.column_stack(np.unique(ends.T, axis=0, return_counts=True))


def _totals(pairs, scope, n_resamples, entropy):
    """Weights of the impostor and of the genuine pairs, in the data and in resamples."""
    blocks = [Weights()]
    for start in range(0, n_resamples, BLOCK):
        stop = min(start + BLOCK, n_resamples)
        blocks.append(draw(pairs.images, "identities", entropy, start, stop))
    impostor = [pairs.impostor_total(scope, weights) for weights in blocks]
    genuine = [pairs.genuine_total(scope, weights, True) for weights in blocks]
    return np.concatenate(impostor), np.concatenate(genuine)


# ---- of all folds --------------------------------------------------------------------


@dataclass(frozen=True)
class PooledErrors:
    """Errors of one system on the people of all folds.

    Attributes
    ----------
    errors, pairs : ndarrays, shape (n_cells, 1 + n_resamples)
    clusters : sparse array, shape (n_cells, n_people**2)
        What every two people add to the logarithm of each rate, by an accepted pair of
        their own or by the threshold that it moves.
    """

    errors: np.ndarray
    pairs: np.ndarray
    clusters: sparse.csr_array

    @property
    def rates(self):
        """Rates in the data, (n_cells,); nan without pairs."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.errors[:, 0] / self.pairs[:, 0]

    @property
    def logs(self):
        """Logarithms of the rates with half an error more, (n_cells, 1 + n_resamples)."""
        pairs = np.where(self.pairs > 0, self.pairs, np.nan)
        return np.log((self.errors + HALF_ERROR) / pairs)

    def measured(self, cells, how):
        """One rate, or the disparity of several, in the data with half an error more."""
        return float(np.exp((_weights(how, len(cells)) @ self.logs[cells, 0]).max()))


def pool(folds, n_people):
    """Sum errors and pairs over folds.

    Parameters
    ----------
    folds : sequence of FoldErrors
        Of the same cells and numbers of resamples.
    n_people : int
        Number of codes of people.

    Returns
    -------
    pooled : PooledErrors
    """
    errors, pairs, near = (
        sum(getattr(fold, name) for fold in folds)
        for name in ("errors", "pairs", "near")
    )
    few, many = (near + HALF_ERROR).T
    slope = np.log(many / few) / (2 * np.log(STEP))
    total = errors[:, 0] + HALF_ERROR
    found = sparse.csr_array((total.size, n_people**2))
    for fold in folds:
        cell, left, right, count = fold.accepted.T
        place = cell, left * n_people + right
        own = sparse.csr_array((count.astype(float), place), shape=found.shape)
        accepted = np.maximum(own.sum(axis=1)[fold.setter], 1)
        # A pair more at the setter of a threshold is as if the level were lower.
        moved = slope * fold.errors[:, 0] / total / accepted
        found = found + sparse.diags_array(1 / total) @ own
        found = found - sparse.diags_array(moved) @ own[fold.setter]
    return PooledErrors(errors, pairs, sparse.csr_array(found))


@dataclass(frozen=True, kw_only=True)
class PooledRatio:
    """A rate or disparity of two systems on the same people; nan where one has none.

    Attributes
    ----------
    before, after, ratio : float
        In the data; the ratio is after over before.
    low, high : float
        Interval of the ratio for other people.
    p_value : float
        Two-sided, that the ratio is 1.
    log_error : float
        Standard error of the logarithm of the ratio; of a disparity of more than two groups
        half the width of the interval on that scale, over Student's quantile.
    """

    before: float = np.nan
    after: float = np.nan
    ratio: float = np.nan
    low: float = np.nan
    high: float = np.nan
    p_value: float = np.nan
    log_error: float = np.nan


def compare(before, after, cells, how, freedom, confidence_level):
    """Compare two systems by one rate or by the disparity of several.

    Parameters
    ----------
    before, after : PooledErrors
    cells : sequence of int
        Rows of the rates; one alone where ``how`` is None.
    how : {None, "max_min", "max_geomean"}
    freedom : float
        Student's degrees of freedom: one less than the number of people of the smallest
        group.
    confidence_level : float in (0, 1)

    Returns
    -------
    found : PooledRatio

    Notes
    -----
    Of rates with half an error more. The variance of a sum of their logarithms is that of the
    replicates minus twice the sum of squares of what every two people add, and no less than
    the latter sum. Of a rate, and of two groups, the interval is symmetric about the logarithm
    of the ratio. Of more groups a largest rate may be large by chance: the interval is that of
    :func:`~skfairfr._core._paired.disparity_ratio`.
    """
    cells, systems = np.asarray(cells), (before, after)
    # A rate that a system cannot have is none that the other has.
    known = np.all([(s.pairs[cells, 0] > 0) for s in systems], axis=0)
    cells = cells[known]
    if cells.size < (1 if how is None else 2):
        return PooledRatio()
    first, second = (
        float(rates[0] if how is None else DISPARITIES[how].function(rates))
        for rates in (before.rates[cells], after.rates[cells])
    )
    weights, tail = _weights(how, cells.size), (1 - confidence_level) / 2
    if cells.size > 2:
        compared = _contrasts_of((after, before), cells, freedom)
        p_value, *ends = disparity_ratio(compared, [weights], tail)
        error = np.log(ends[1] / ends[0]) / -2 / stdtrit(freedom, tail)
    else:
        sums = [weights @ s.logs[cells] for s in systems]
        difference = sums[1].max(axis=0) - sums[0].max(axis=0)
        replicates = difference[1:][np.isfinite(difference[1:])]
        one, other = (
            weights[own[:, 0].argmax()] @ s.clusters[cells]
            for own, s in zip(sums, systems, strict=True)
        )
        together = float(((other - one) ** 2).sum())
        variance = max(replicates.var(ddof=1) - 2 * together, together)
        error = np.sqrt(variance)
        found = SymmetricContrasts(difference[0], error, freedom)
        ends = found.bounds(tail)
        p_value = found.p_value if difference[0] else 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.divide(second, first)
    numbers = first, second, ratio, *ends, p_value, error
    names = PooledRatio.__dataclass_fields__
    return PooledRatio(**dict(zip(names, map(float, numbers), strict=True)))


def _contrasts_of(systems, cells, freedom):
    """What makes SymmetricContrasts of the logarithms of two systems' rates, of weights."""
    logs = np.concatenate([s.logs[cells] for s in systems])
    clusters = stacked([s.clusters[cells] for s in systems])
    shared = (clusters @ clusters.T).toarray()
    covariance = np.cov(logs[:, 1:][:, np.isfinite(logs[:, 1:]).all(axis=0)])

    def contrasts(weights):
        together, varied = (
            ((weights @ of) * weights).sum(axis=1) for of in (shared, covariance)
        )
        error = np.sqrt(np.maximum(varied - 2 * together, together))
        return SymmetricContrasts(
            weights @ logs[:, 0], error, np.full(len(weights), freedom)
        )

    return contrasts


def _weights(how, n_cells):
    """The logarithm of a disparity is the largest of these sums of those of the rates."""
    if how is None:
        return np.ones((1, 1))
    return np.concatenate(DISPARITIES[how].contrasts(n_cells))
