"""Errors of systems on folds of people, pooled. Two systems compared by them.

A method that is fitted again in every fold gives scores that can be compared within a fold
alone. So every fold has a threshold of its own, and a pooled rate is the sum of errors over
the sum of pairs of all folds. No person is in two folds: what a pooled rate loses without a
person is what the errors of one fold lose.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.exceptions import UndefinedMetricWarning

from skfairfr._core._jackknife import ErrorSums, even_reach
from skfairfr._core._paired import SymmetricContrasts, disparity_ratio, stacked
from skfairfr._core._rates import DISPARITIES
from skfairfr._core._score_costs import ScoreCost, cost_table
from skfairfr.metrics._roc._evidence import STEP
from skfairfr.metrics._roc._similarity_roc import SimilarityROC

# Rates that are counted, by the operating point. With "group" every group has its own
# threshold, at which its FAR is the level.
COUNTED = (
    ("overall", "far"),
    ("overall", "frr"),
    ("worst_group", "far"),
    ("worst_group", "frr"),
    ("group", "frr"),
)
# Added to the errors of every rate by which parameters are chosen: a group without an error
# does not determine the choice or prevent it. With 1/2 more, the mean of the logarithm of a
# Poisson number is that of the expected number to first order (Haldane 1956, Anscombe 1956).
HALF_ERROR = 0.5


class Cell(NamedTuple):
    """One rate of a fold.

    Attributes
    ----------
    attribute : str
        Whose groups set the threshold of the point "worst_group".
    point : {"overall", "worst_group", "group"}
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
    sums : tuple of ndarrays, each (n_cells,)
        Those of an ErrorSums.
    lost : ndarray, shape (n_cells, n_people)
        Change of the errors without each person, with the threshold that moves.
    of_two : tuple of three ndarrays, each (n_entries,)
        Contributions of each pair of people: the cell, the number of the two, below
        ``n_people**2``, and the weight.
    cllr : tuple of two floats
        Cllr and minimal Cllr of everyone. NaN of scores that are no likelihood ratios.
    """

    sums: tuple
    lost: np.ndarray
    of_two: tuple
    cllr: tuple = (np.nan, np.nan)


def cells_of(groups):
    """Rates that are counted, by attribute.

    Parameters
    ----------
    groups : dict of str -> sequence of labels
        Of every attribute.

    Returns
    -------
    cells : list of Cell
        For each attribute the FAR and the FRR, of everyone and of the groups, at both
        shared thresholds. Then the FRR of each group at its own.
    """
    return [
        Cell(attribute, point, rate, group)
        for attribute, labels in groups.items()
        for point, rate in COUNTED
        for group in ((None, *labels) if point != "group" else labels)
    ]


# ---- of one fold ---------------------------------------------------------------------


def count_errors(X, y, columns, groups, *, far, similarity="cosine", is_llr=False):
    """Compare all pairs of some people, and count the errors of each of them.

    Parameters
    ----------
    X : ndarray, shape (n_images, n_features)
        Embeddings of the people of one fold.
    y : ndarray of int, shape (n_images,)
        Codes of the identities.
    columns : dict of str -> array-like, shape (n_images,)
        Groups by each attribute.
    groups : dict of str -> list of labels
        See :func:`cells_of`: all groups, whether or not they are in this fold.
    far : float in (0, 1)
        Level.
    similarity : str, comparator, or ndarray of shape (n_images, n_images)
        See :class:`~skfairfr.metrics.SimilarityROC`, or the scores themselves, of which
        those above the diagonal count.
    is_llr : bool, default=False
        Whether scores are natural logarithms of likelihood ratios, which have a Cllr.

    Returns
    -------
    found : FoldErrors
    """
    is_matrix = isinstance(similarity, np.ndarray)
    roc = SimilarityROC(
        similarity="cosine" if is_matrix else similarity,
        method="jackknife",
        far_max=max(1e-2, STEP * far),
        random_state=0,
    )
    codes = {name: _codes(columns[name], labels) for name, labels in groups.items()}
    row_of = {cell: row for row, cell in enumerate(cells_of(groups))}
    # A group that is not in the fold keeps its zeros.
    sums = np.zeros((len(ErrorSums._fields), len(row_of)))
    lost, of_two = np.zeros((len(row_of), np.unique(y).size)), [np.empty((3, 0))]
    with warnings.catch_warnings():
        # What a fold cannot resolve, all of them together may.
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        if is_matrix:
            _fit_matrix(roc, similarity, y, codes)
        else:
            roc.fit(X, y, codes)
        cllr = FoldErrors.cllr
        if is_llr:
            costs = (ScoreCost(name, 0.5, None) for name in ("cllr", "min_cllr"))
            tables = (cost_table(roc._engine.pairs, None, cost) for cost in costs)
            cllr = tuple(table.value.item() for table in tables)
        for attribute, labels in groups.items():
            by = roc.by(attribute) if len(groups) > 1 else roc
            for cell, *found in _of_attribute(by, labels, attribute, far):
                row = row_of[cell]
                sums[:, row], lost[row], two = found
                of_two.append([np.full(two[0].size, row), *two])
    row, number, weight = np.concatenate(of_two, axis=1)
    of_two = row.astype(np.int64), number.astype(np.int64), weight
    return FoldErrors(tuple(sums), lost, of_two, cllr)


def _codes(column, labels):
    """Places of the groups of images among the labels, or nan of an unknown group."""
    known = {label: float(code) for code, label in enumerate(labels)}
    return np.array([known.get(label, np.nan) for label in column])


def _fit_matrix(roc, scores, y, codes):
    """List each pair of images with their score: many times the memory of a comparison."""
    first, second = np.triu_indices(len(y), 1)
    roc.fit_pairs(
        scores[first, second],
        *(y[first], y[second]),
        sensitive_features_1={name: code[first] for name, code in codes.items()},
        sensitive_features_2={name: code[second] for name, code in codes.items()},
        image_1=first,
        image_2=second,
    )


def _of_attribute(roc, groups, attribute, far):
    """Sums of every cell, and the change of its errors without each person and every two."""
    engine, labels = roc._engine, [groups[int(code)] for code in roc.groups_]
    own = tuple((g, g) for g in range(len(labels)))
    if not any(engine.pairs.count(scope) for scope in own):
        raise ValueError(
            f"No group of {attribute!r} has an impostor pair among the people of a split. "
            "Use fewer splits, or more people of each group."
        )
    for point, rate in COUNTED:
        everyone = () if point == "group" else (None,)
        how = "max_min" if point == "group" else None
        question = engine.question(far, None, rate, None, how, point)
        evidence = engine.evidence(question, (*everyone, *own))
        for place, scope in enumerate(evidence.scopes):
            label = None if scope is None else labels[scope[0]]
            of_scope = evidence.sums.rows(0).columns(place)
            of_two = evidence.with_threshold_of_two(place, 0).tocoo()
            people = of_scope.errors * evidence.with_threshold(place)[0]
            two = of_two.coords[1], of_scope.errors * of_two.data
            yield Cell(attribute, point, rate, label), of_scope, people, two


# ---- of all folds --------------------------------------------------------------------


class PooledErrors(NamedTuple):
    """Errors of one system on the people of all folds.

    Attributes
    ----------
    sums : ErrorSums
        Each (n_cells,).
    lost : ndarray, shape (n_cells, n_people)
        Change of the errors without each person, with the threshold that moves.
    of_two : sparse array, shape (n_cells, n_couples)
        Contributions of each pair of people of a fold.
    """

    sums: ErrorSums
    lost: np.ndarray
    of_two: sparse.csr_array

    def of_cells(self, cells):
        """Some of the cells."""
        lost, of_two = self.lost[cells], self.of_two[cells]
        return PooledErrors(self.sums.columns(cells), lost, of_two)

    def measured(self, how):
        """The rate of the one cell, or the disparity of all, with half an error more."""
        logs = np.log((self.sums.errors + HALF_ERROR) / self.sums.pairs)
        return float(np.exp((_weights(how, logs.size) @ logs).max()))


def pool(folds):
    """Sum errors and pairs over folds.

    Parameters
    ----------
    folds : sequence of FoldErrors
        Of the same cells.

    Returns
    -------
    pooled : PooledErrors
    """
    of_two = []
    for fold in folds:
        row, number, weight = fold.of_two
        shape = fold.lost.shape[0], fold.lost.shape[1] ** 2
        of_two.append(sparse.csr_array((weight, (row, number)), shape=shape))
    sums = ErrorSums.pooled([ErrorSums(*fold.sums) for fold in folds])
    lost = np.concatenate([fold.lost for fold in folds], axis=1)
    return PooledErrors(sums, lost, sparse.hstack(of_two, format="csr"))


@dataclass(frozen=True, kw_only=True)
class PooledRatio:
    """A rate or disparity of two systems on the same people, or nan where one has none.

    Attributes
    ----------
    before, after, ratio : float
        In the data. The ratio is after over before.
    low, high : float
        Interval of the ratio for new people.
    p_value : float
        Two-sided, of a test that the ratio is 1.
    log_error : float
        Of the logarithm of the ratio: half the width of its interval over the normal
        quantile.
    errors : float
        Fewest errors of a rate that it is made of, of either system.
    p_before : float
        Two-sided, that the groups' rates before are equal (Bonferroni over pairs of groups).
        NaN of a rate.
    """

    before: float = np.nan
    after: float = np.nan
    ratio: float = np.nan
    low: float = np.nan
    high: float = np.nan
    p_value: float = np.nan
    log_error: float = np.nan
    errors: float = np.nan
    p_before: float = np.nan


def compare(before, after, cells, how, confidence_level):
    """Compare two systems by one rate or by the disparity of several.

    Parameters
    ----------
    before, after : PooledErrors
    cells : sequence of int
        Rows of the rates. One alone where ``how`` is None.
    how : {None, "max_min", "max_geomean"}
    confidence_level : float in (0, 1)

    Returns
    -------
    found : PooledRatio

    Notes
    -----
    A largest rate may be large by chance: see
    :func:`~skfairfr._core._paired.disparity_ratio`.
    """
    cells = np.asarray(cells)
    # A rate that a system cannot have is none that the other has.
    cells = cells[np.all([s.sums.is_known[cells] for s in (before, after)], axis=0)]
    if cells.size < (1 if how is None else 2):
        return PooledRatio()
    systems = [system.of_cells(cells) for system in (after, before)]
    second, first = (
        float(rates[0] if how is None else DISPARITIES[how].function(rates))
        for rates in (system.sums.rate for system in systems)
    )
    sums = ErrorSums.joined([system.sums for system in systems])
    # What the logarithms of the rates lose. Without an error nobody takes any away.
    scale = 1 / sums.with_an_error().errors
    people = np.concatenate([system.lost for system in systems]) * scale[:, None]
    two = sparse.diags_array(scale) @ stacked([system.of_two for system in systems])
    tail = (1 - confidence_level) / 2
    of_all = {"sums": sums, "influence": people, "clustered": two}
    contrasts = partial(SymmetricContrasts.of, **of_all)
    blocks = [_weights(how, cells.size)]
    p_value, *ends = disparity_ratio(contrasts, blocks, tail)
    error = np.log(ends[1] / ends[0]) / 2 / even_reach(tail)
    p_before = np.nan
    if how is not None:
        of_before = contrasts(np.kron([0.0, 1.0], blocks[0])).p_value
        both_ways = 2 if how == "max_min" else 1
        p_before = min(np.nanmin(of_before) * of_before.size / both_ways, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.divide(second, first)
    numbers = first, second, ratio, *ends, p_value, error, sums.errors.min(), p_before
    names = PooledRatio.__dataclass_fields__
    return PooledRatio(**dict(zip(names, map(float, numbers), strict=True)))


def _weights(how, n_cells):
    """The logarithm of a disparity is the largest of these sums of those of the rates."""
    if how is None:
        return np.ones((1, 1))
    return np.concatenate(DISPARITIES[how].contrasts(n_cells))
