"""Costs of decisions and of scores over all thresholds, in the data and in resamples, and moments.

The minimal detection cost, the minimal Cllr and the area under the ROC curve are functions
of FAR and FRR at the genuine scores alone: between two of them a lower threshold only adds
false acceptances. So each resample needs the weights of both kinds of pairs at these scores.
Cllr is a weighted mean of a function of the score. So are stated ratios in bins of scores, and
observed ones are shares of both kinds of pairs there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from scipy.special import expit

from skfairfr._core._rates import count_at_least, next_above
from skfairfr._core._resampling import Weights, in_resamples

COSTS = ("dcf", "min_dcf", "cllr", "min_cllr", "auc")


@dataclass(frozen=True)
class ScoreCost:
    """Requested quantities.

    Attributes
    ----------
    name : {"dcf", "cllr", "min_cllr", "auc"}
    p_target : float
        Share of genuine pairs among those to be decided. Costs are 1. Of "dcf".
    threshold : float or None
        Threshold of decisions. If None, the best threshold of each resample. Of "dcf".
    max_far : float in (0, 1], default=1.0
        End of the part of the ROC curve, of "auc".
    """

    name: str
    p_target: float
    threshold: float | None = None
    max_far: float = 1.0

    @classmethod
    def of(cls, rate, p_target=0.5, threshold=None, max_far=1.0):
        """The cost of a rate's name, at a threshold that may be "bayes"."""
        if isinstance(threshold, str):
            threshold = float(np.log((1 - p_target) / p_target))
        return cls(rate.replace("min_dcf", "dcf"), p_target, threshold, max_far)

    @property
    def bounds(self):
        """Natural range."""
        least = self.name == "dcf" and self.threshold is None
        return (0.0, 1.0 if least or self.name in ("min_cllr", "auc") else np.inf)


@dataclass(frozen=True)
class CostTable:
    """A cost of several scopes.

    Attributes
    ----------
    value, threshold : ndarrays, shape (n_scopes,)
        In the data. The threshold of a "dcf", else nan.
    replicates : ndarray, shape (n_scopes, n_resamples)
        Without resamples (n_scopes, 0).
    sampled : bool
        Whether impostor scores came from a sample.
    """

    value: np.ndarray
    threshold: np.ndarray
    replicates: np.ndarray
    sampled: bool

    @classmethod
    def joined(cls, tables):
        """One table of the scopes of several."""
        *arrays, sampled = zip(*(vars(t).values() for t in tables), strict=True)
        return cls(*map(np.concatenate, arrays), any(sampled))


def cost_table(pairs, scope, cost, resampling=None):
    """A cost of a scope in the data and in every resample of people, CostTable."""
    sampled = not pairs.impostors(scope).complete
    if cost.threshold is not None:
        sampled = sampled and not pairs.holds(scope, cost.threshold)
    asked = scope, sampled, cost
    value, threshold = _cost_in(pairs, *asked, Weights())
    replicates = np.empty(0)
    if resampling is not None:
        replicates, _ = in_resamples(_cost_in, pairs, *asked, resampling)
    return CostTable(value, threshold, replicates[None], sampled)


def _cost_in(pairs, scope, sampled, cost, weights):
    """A cost and its threshold, two (n_resamples,)."""
    found = _cllr if cost.name == "cllr" else _over_thresholds
    return found(pairs, scope, sampled, cost, weights)


def _over_thresholds(pairs, scope, sampled, cost, weights):
    """A cost that is a function of FAR and FRR at the genuine scores, and its threshold."""
    genuine = pairs.genuine.ascending(scope)
    candidates = _candidates(genuine)
    if cost.threshold is not None:
        candidates = np.array([cost.threshold])
    impostors = pairs.impostors(scope, sampled)
    far = _far_in(pairs, scope, impostors, candidates, weights)
    frr = _frr_in(pairs, scope, candidates, weights)
    undefined = np.isnan(far[0] + frr[0])
    threshold = np.full(weights.n_resamples, np.nan)
    if cost.name == "dcf":
        miss, false = cost.p_target, 1 - cost.p_target
        costs = (miss * frr + false * far) / min(miss, false)
        best = np.argmin(costs, axis=0)
        value = np.take_along_axis(costs, best[None], axis=0)[0]
        threshold = candidates[best]
    elif cost.name == "min_cllr":
        value = _least_cllr(far, frr)
    else:
        above = next_above(candidates.astype(genuine.scores.dtype)).astype(np.float64)
        beyond = _far_in(pairs, scope, impostors, above, weights)
        value = _area(far[:-1], beyond[:-1], np.diff(frr, axis=0), cost.max_far)
    return np.where(undefined, np.nan, value), np.where(undefined, np.nan, threshold)


def _area(far, beyond, genuine, max_far):
    """Area under the ROC curve up to a FAR, between 0.5 (chance) and 1 (McClish 1989).

    Genuine pairs of a score lie on a line between the FAR from this score on and that beyond
    it. Each adds what it leaves of the FAR up to the end.
    """
    left, later = (np.maximum(max_far - x, 0.0) for x in (beyond, far))
    # The line of a score crosses the end if something is left beyond it alone.
    width = np.where((left > 0) & (later == 0), far - beyond, 1.0)
    height = np.where(later > 0, (left + later) / 2, left**2 / (2 * width))
    least = max_far**2 / 2
    return (1 + ((genuine * height).sum(axis=0) - least) / (max_far - least)) / 2


def _candidates(genuine):
    """Thresholds that may be best, increasing: genuine scores, and one above all scores."""
    return np.append(np.unique(genuine.scores).astype(np.float64), np.inf)


def _frr_in(pairs, scope, thresholds, weights):
    """FRR at thresholds that all resamples share, (n_thresholds, n_resamples)."""
    sums = pairs.genuine.ascending(scope).weighed(weights, pairs.images, genuine=True)
    return _share(sums.up_to(pairs.genuine.rejected(scope, thresholds)), sums.total())


def _far_in(pairs, scope, impostors, thresholds, weights):
    """FAR at increasing thresholds that all resamples share, (n_thresholds, n_resamples)."""
    sums = impostors.weighed(weights, pairs.images)
    accepted = count_at_least(impostors.scores, thresholds)
    total = pairs.impostor_total(scope, weights)
    if impostors.complete:
        total = sums.total()
    return _share(sums.up_to(accepted[::-1])[::-1], total)


def _share(part, total):
    """Part of a total in every resample, or nan without any."""
    found = np.full(part.shape, np.nan)
    return np.divide(part, total, out=found, where=total > 0)


def _cllr(pairs, scope, sampled, cost, weights):
    """Cllr in every resample."""
    value = 0.0
    kinds = (pairs.genuine.ascending(scope), -1), (pairs.impostors(scope, sampled), 1)
    for sequence, sign in kinds:
        loss = np.logaddexp(0.0, sign * sequence.scores.astype(np.float64)) / np.log(4)
        part, total = (
            of.weighed(weights, pairs.images, genuine=sign < 0).total()
            for of in (sequence.times(loss), sequence)
        )
        value = value + _share(part, total)
    return value, np.full(weights.n_resamples, np.nan)


# ---- reliability ---------------------------------------------------------------------


def binned_ratios(pairs, scope, n_bins, resampling):
    """Log-likelihood ratios in bins of scores of a scope, as stated and as observed.

    The bins, an even number, end at the threshold of equal error. Below it each has the same
    share of the falsely rejected pairs, above it of the falsely accepted ones: the rarer kind
    decides how certain an observed ratio is.

    Returns
    -------
    stated, observed : ndarrays, shape (n_bins,)
        Natural logarithms, increasing bins, or infinite if one kind of pairs is absent.
    replicates : ndarray, shape (n_bins, n_resamples)
        Of those observed.
    """
    genuine = pairs.genuine.ascending(scope)
    sampled = not pairs.impostors(scope).complete
    impostors, thresholds = pairs.impostors(scope, sampled), _candidates(genuine)
    far = _far_in(pairs, scope, impostors, thresholds, Weights())[:, 0]
    frr = _frr_in(pairs, scope, thresholds, Weights())[:, 0]
    middle, shares = np.argmax(frr >= far), np.arange(2, n_bins, 2) / n_bins
    below = np.searchsorted(frr, shares * frr[middle])
    above = np.searchsorted(-far, -shares[::-1] * far[middle])
    edges = thresholds[[*below, middle, *above]]
    # Both kinds weigh the same. Each pair counts as the chances that its score states.
    chances = np.zeros((2, n_bins))
    for kind, step in ((genuine, -1), (impostors, 1)):
        scores = kind.scores[::step].astype(np.float64)
        base = np.ones(scores.size) if kind.base is None else kind.base[::step]
        ends = [0, *count_at_least(scores, edges)[::-1], scores.size]
        sums = np.cumsum(expit([scores, -scores]) * base / base.sum(), axis=1)
        chances += np.diff(np.insert(sums, 0, 0, axis=1)[:, ends])[:, ::-1]
    asked = pairs, scope, sampled, edges
    observed = _observed(*asked, Weights())[:, 0]
    return _log_ratio(*chances), observed, in_resamples(_observed, *asked, resampling)


def _log_ratio(part, other):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log(part) - np.log(other)


def _observed(pairs, scope, sampled, edges, weights):
    """Log-ratios of the shares of both kinds in bins, (n_bins, n_resamples)."""
    frr = _frr_in(pairs, scope, edges, weights)
    far = _far_in(pairs, scope, pairs.impostors(scope, sampled), edges, weights)
    ends = np.zeros((1, weights.n_resamples)), np.ones((1, weights.n_resamples))
    below = (np.vstack([ends[0], rate, ends[1]]) for rate in (frr, 1 - far))
    return _log_ratio(*(np.diff(of, axis=0) for of in below))


@njit(nogil=True, cache=True)
def _least_cllr(far, frr):
    """Cllr after the best increasing map: of the convex hull of each column's ROC curve.

    Along a segment of the hull all pairs have one posterior, the genuine share of its pairs,
    which is what pooling adjacent violators gives. Rows are descending FAR, the last 0.
    """
    n, n_columns = far.shape
    found, hull = np.zeros(n_columns), np.empty(n + 1, np.int64)
    for r in range(n_columns):
        x, y = np.empty(n + 1), np.empty(n + 1)
        x[0], y[0] = 1.0, 1.0
        x[1:], y[1:] = far[:, r], 1 - frr[:, r]
        size = 0
        for k in range(n + 1):
            while size > 1:
                a, b = hull[size - 2], hull[size - 1]
                turn = (x[b] - x[a]) * (y[k] - y[a]) - (y[b] - y[a]) * (x[k] - x[a])
                if turn > 0:  # b lies above the line from a to k
                    break
                size -= 1
            hull[size] = k
            size += 1
        for k in range(1, size):
            false, true = x[hull[k - 1]] - x[hull[k]], y[hull[k - 1]] - y[hull[k]]
            for part in (false, true):
                if part > 0 and part < false + true:
                    found[r] -= part * np.log2(part / (false + true)) / 2
    return found


# ---- means and deviations of all scores, without a list of all pairs -----------------


# Rows of a block of vectors, and rows and columns of a tile of adjusted scores.
BLOCK, SIDE = 8192, 2048


def score_moments(pairs, scope):
    """Number, mean and standard deviation of genuine, then of impostor scores.

    Parameters
    ----------
    pairs : EmbeddingPairs or ListedPairs
    scope : None or (g, g)

    Returns
    -------
    moments : tuple
        n_genuine, mean, sd, n_impostor, mean, sd, or nan without a pair.
    """
    genuine = pairs.genuine.ascending(scope).scores.astype(np.float64)
    first = _of_scores(genuine)
    if pairs.totals is None:
        second = _of_scores(pairs.impostors(scope).scores.astype(np.float64))
    else:
        second = _of_impostors(pairs, scope)
    return (*first, *second)


def _of_scores(scores):
    if scores.size == 0:
        return 0, np.nan, np.nan
    return scores.size, float(scores.mean()), float(scores.std())


def _of_impostors(pairs, scope):
    n_pairs = pairs.count(scope)
    if n_pairs == 0:
        return 0, np.nan, np.nan
    if scope is None and pairs.totals.impostors == "same_group":
        groups = range(pairs.images.n_groups)
        sums = sum(_impostor_sums(pairs, (g, g)) for g in groups)
    else:
        sums = _impostor_sums(pairs, scope)
    mean, square = sums / n_pairs
    return n_pairs, float(mean), float(np.sqrt(max(square - mean**2, 0.0)))


def _impostor_sums(pairs, scope):
    """Sums of scores and of squared scores over the impostor pairs of a scope."""
    sides = pairs.members(scope)
    if pairs.compared.adjustment is None and pairs.compared.first is None:
        total, gram = _row_and_gram(pairs.compared.vectors, sides[0])
        others = total, gram
        if pairs.totals.two_sides:
            others = _row_and_gram(pairs.compared.vectors, sides[1])
        everything = [total @ others[0], (gram * others[1]).sum()]
    else:
        everything = _sums_of_tiles(pairs.compared, *sides)
    # Subtract the pairs of one person. Within one side every pair is counted twice.
    genuine = pairs.genuine.ascending(scope).scores.astype(np.float64)
    same = np.array([genuine.sum(), (genuine**2).sum()])
    if pairs.totals.two_sides:
        return everything - same
    own = pairs.own_scores[sides[0]].astype(np.float64)
    return (everything - np.array([own.sum(), (own**2).sum()])) / 2 - same


def _sums_of_tiles(compared, probes, references):
    """Sum of the scores of all pairs, and that of their squares, tile by tile."""
    sums = np.zeros(2)
    for start in range(0, probes.size, SIDE):
        for column in range(0, references.size, SIDE):
            parts = probes[start : start + SIDE], references[column : column + SIDE]
            scores = compared.tile(*parts).astype(np.float64).ravel()
            sums += scores.sum(), scores @ scores
    return sums


def _row_and_gram(vectors, members):
    """Sum of rows (d,) and Gram matrix (d, d) in float64, block by block."""
    n_features = vectors.shape[1]
    total, gram = np.zeros(n_features), np.zeros((n_features, n_features))
    for start in range(0, members.size, BLOCK):
        block = vectors[members[start : start + BLOCK]].astype(np.float64)
        total += block.sum(axis=0)
        gram += block.T @ block
    return total, gram
