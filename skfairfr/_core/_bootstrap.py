"""Queries and their answers: rates of every scope, in the data and in every resample.

``Query`` states which rates are computed and ``Rates`` contains them. ``point_rates`` computes
them in the data alone, ``rate_table`` in every resample as well. The data count as a
resample in which every image is drawn once, and the same code computes both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from skfairfr._core import _rates
from skfairfr._core._pairs import TailTooShortError
from skfairfr._core._parallel import over_blocks
from skfairfr._core._resampling import Weights, blocks_of_resamples, draw, in_resamples

OPERATING_POINTS = ("overall", "worst_group", "group")


@dataclass(frozen=True)
class Query:
    """Which rates are computed, and for which scopes.

    Attributes
    ----------
    levels : ndarray, shape (n_levels,), increasing, or None
        FAR levels whose thresholds are estimated in every resample.
    thresholds : ndarray, shape (n_levels,), or None
        Given thresholds, the same in every resample.
    operating_point : {"overall", "worst_group", "group"}
    scopes : tuple
        None (overall), (g, g) and (g, h), in the order of the results.
    operating_groups : tuple of int
        Groups with impostor pairs, and therefore with a threshold of their own.
    copies : bool
        Whether pairs of two copies of one image count as genuine pairs of a resample.
    sampled : frozenset
        Scopes whose impostor pairs come from a uniform sample.
    wanted : tuple
        "far", "frr" or both. A rate left out is nan.
    """

    levels: np.ndarray | None
    thresholds: np.ndarray | None
    operating_point: str
    scopes: tuple
    operating_groups: tuple
    copies: bool = True
    sampled: frozenset = frozenset()
    wanted: tuple = ("far", "frr")

    @property
    def key(self):
        """Key of this query, hashable."""
        by_level = self.thresholds is None
        given = self.levels if by_level else self.thresholds
        asked = (by_level, given.tobytes(), self.operating_point, self.scopes)
        return *asked, self.wanted, self.copies, self.sampled

    def setters(self, scopes=None):
        """Scopes whose FAR sets thresholds: all, or those of some scopes."""
        if self.operating_point == "overall":
            return [None]
        setters = [(g, g) for g in self.operating_groups]
        own = scopes is not None and self.operating_point == "group"
        return [s for s in setters if not own or s in scopes]


class Rates(NamedTuple):
    """Thresholds and rates, each of shape (n_scopes, n_levels, n_resamples)."""

    thresholds: np.ndarray
    far: np.ndarray
    frr: np.ndarray


@dataclass(frozen=True)
class RateTable:
    """Rates of every scope of a query.

    Attributes
    ----------
    query : Query
        The query, with the scopes that needed a sample added to ``sampled``.
    point : Rates
        In the data, (n_scopes, n_levels). Exact where only resamples need a sample.
    centre : Rates
        Values on which the replicates are centred, (n_scopes, n_levels): where resamples
        contain copies of images, the FRR is the V-statistic of ROC24 (eq. 10). Otherwise the
        rates in the data, or in their sample.
    replicates : Rates
        (n_scopes, n_levels, n_resamples).
    """

    query: Query
    point: Rates
    centre: Rates
    replicates: Rates


def point_rates(pairs, query):
    """Rates in the data, without any resample.

    Parameters
    ----------
    pairs : EmbeddingPairs or ListedPairs
    query : Query

    Returns
    -------
    query : Query
        The query. Scopes whose tail is too short are added to ``sampled``.
    point : Rates
        (n_scopes, n_levels).
    """
    while True:
        try:
            return query, Rates(*(found[..., 0] for found in rates(pairs, query)))
        except TailTooShortError as short:
            query = replace(query, sampled=query.sampled | {short.scope})


def rate_table(pairs, query, resampling):
    """Rates in the data and in every resample, and the centre of the replicates.

    Parameters
    ----------
    pairs : EmbeddingPairs or ListedPairs
    query : Query
    resampling : Resampling or None
        None draws no resample.

    Returns
    -------
    table : RateTable
    """
    if resampling is None:
        query, point = point_rates(pairs, query)
        none = (np.empty((*found.shape, 0)) for found in point)
        return RateTable(query, point, point, Rates(*none))
    query = replace(query, copies=resampling.method != "offdiagonal")
    tasks, sizes = blocks_of_resamples(pairs.images, resampling)
    point = blocks = None
    while blocks is None:
        try:
            if point is None:
                point, exact = rates(pairs, query), query.sampled
            needed = set(query.scopes if "far" in query.wanted else ())
            needed.update(() if query.levels is None else query.setters())
            shared = (pairs.for_workers(needed, query.sampled), query)
            n_jobs = resampling.n_jobs
            blocks = over_blocks(rates, tasks, n_jobs, "resampling", sizes, shared)
        except TailTooShortError as short:
            query = replace(query, sampled=query.sampled | {short.scope})
    centre = point = Rates(*(found[..., 0] for found in point))
    if query.sampled != exact:
        _, centre = point_rates(pairs, query)
    if query.copies and pairs.has_copies and resampling.mode != "identities":
        frr = v_statistic_frr(pairs, query.scopes, centre.thresholds)
        centre = centre._replace(frr=frr)
    # Blocks of resamples, side by side.
    replicates = (np.concatenate(found, axis=-1) for found in zip(*blocks, strict=True))
    return RateTable(query, point, centre, Rates(*replicates))


def rates(pairs, query, resamples=None):
    """Rates in the data, or in every resample of a block.

    Parameters
    ----------
    pairs : EmbeddingPairs or ListedPairs
    query : Query
    resamples : Resamples, default=None
        None is the data themselves, as one resample.

    Returns
    -------
    found : Rates

    Raises
    ------
    TailTooShortError
        If a threshold lies below the scores that are stored.
    """
    weights = Weights() if resamples is None else draw(pairs.images, *resamples)
    own, short = {}, []
    given = query.levels if query.thresholds is None else query.thresholds
    shared = np.full((given.size, weights.n_resamples), np.nan)
    if query.thresholds is not None:
        shared[:] = given[:, None]
    else:
        for scope in query.setters():
            sampled = scope in query.sampled
            own[scope] = threshold_in(pairs, scope, given, weights, sampled)
            complete = pairs.impostors(scope, sampled).complete
            if not complete and np.isneginf(own[scope]).any():
                short.append(scope)
    if query.operating_point == "group":
        if short:
            raise TailTooShortError(short[0])
        thresholds = np.stack([own.get(scope, shared) for scope in query.scopes])
    else:
        # fmax ignores a group without any weight in this resample.
        shared = np.fmax.reduce([shared, *own.values()])
        # A group whose threshold is below what is stored may still not be the strictest.
        for scope in short:
            if not np.all(pairs.holds(scope, shared[~np.isnan(shared)])):
                raise TailTooShortError(scope)
        thresholds = np.broadcast_to(shared, (len(query.scopes), *shared.shape))
    far, frr = np.full((2, *thresholds.shape), np.nan)
    for row, scope in enumerate(query.scopes):
        at, sampled = thresholds[row], scope in query.sampled
        if "far" in query.wanted:
            far[row] = far_in(pairs, scope, at, weights, sampled)
        # A cross-group scope has no FRR: that of a group covers pairs within it.
        within = scope is None or scope[0] == scope[1]
        if "frr" in query.wanted and within:
            frr[row] = frr_in(pairs, scope, at, weights, query.copies)
    return Rates(thresholds, far, frr)


def v_statistic_frr(pairs, scopes, thresholds):
    """V-statistic of the FRR (ROC24 eq. 10) at fixed thresholds, (n_scopes, n_levels).

    The expectation of the resampled rejected weight over that of the resampled total. For
    whole identities, sum_k c_k (1 - 1/n_k) FRR_k. One side, images resampled.
    """
    totals = pairs.totals
    images = np.arange(pairs.images.identity.size)
    centre = np.empty(thresholds.shape)
    for row, scope in enumerate(scopes):
        if scope is not None and scope[0] != scope[1]:
            centre[row] = np.nan
            continue
        genuine = pairs.genuine.ascending(scope)
        sums = genuine.times(totals.kept_share(genuine.left)).weighed()
        weight = sums.before(pairs.genuine.rejected(scope, thresholds[row]))
        copies = totals.copy_base(scope, images) * totals.kept_share(images) / 2
        at = thresholds[row][:, None]
        weight = weight + _rejected_copies(pairs, copies[:, None], at)[:, 0]
        total = totals.expected_genuine_total(scope)
        centre[row] = weight / total if total > 0 else np.nan
    return centre


def threshold_in(pairs, scope, levels, weights, sampled=False):
    """Thresholds (n_levels, n_resamples) at which the FAR of a scope meets levels.

    -inf where one lies below the scores that are stored, or nan where no pair is drawn.
    """
    sequence = pairs.impostors(scope, sampled)
    sums = sequence.weighed(weights, pairs.images)
    total = sums.total() if sampled else pairs.impostor_total(scope, weights)
    positions = sums.first_exceeding(levels[:, None] * total * (1 + _rates.ROUNDING))
    at = _rates.threshold_at(sequence.scores, positions)
    return np.where(total > 0, at, np.nan)


def far_in(pairs, scope, thresholds, weights, sampled=False):
    """FAR of a scope at per-resample thresholds (n_levels, n_resamples), or nan at nan."""
    sequence = pairs.impostors(scope, sampled)
    sums = sequence.weighed(weights, pairs.images)
    total = sums.total() if sampled else pairs.impostor_total(scope, weights)
    undefined = np.isnan(thresholds)
    finite = thresholds[~undefined]
    if not sequence.complete and finite.size and not pairs.holds(scope, finite.min()):
        raise TailTooShortError(scope)
    known = np.where(undefined, np.inf, thresholds)
    accepted = sums.before(_rates.count_at_least(sequence.scores, known))
    return _share(accepted, total, undefined)


def frr_in(pairs, scope, thresholds, weights, copies):
    """FRR of a scope at per-resample thresholds (n_levels, n_resamples), nan at nan.

    Rejected weight is summed, not computed as the complement: without rejections the FRR is
    exactly 0. ``copies`` shows whether pairs of two copies of one image count. If they do
    not, base weights make up for them.
    """
    undefined = np.isnan(thresholds)
    known = np.where(undefined, -np.inf, thresholds)
    genuine = pairs.genuine.ascending(scope)
    drawn_twice = weights.image is not None and pairs.has_copies
    if drawn_twice and not copies:
        genuine = genuine.times(pairs.totals.without_copies(genuine.left))
    sums = genuine.weighed(weights, pairs.images, genuine=True)
    total = pairs.genuine_total(scope, weights, copies or not drawn_twice)
    rejected = sums.before(pairs.genuine.rejected(scope, known))
    highest = known.max(initial=-np.inf)
    if drawn_twice and copies and not _rates.accepts(pairs.own_scores.min(), highest):
        rejected = rejected + _rejected_copies(
            pairs, _copy_weights(pairs, scope, weights), known
        )
    return _share(rejected, total, undefined)


def _share(part, total, undefined):
    """Part of a total in every resample, or nan without any, and where it is undefined."""
    found = np.full(part.shape, np.nan)
    np.divide(part, total, out=found, where=~undefined & (total > 0))
    return np.minimum(found, 1.0)  # sums of weights round


def _copy_weights(pairs, scope, weights):
    """Weight of each image's pairs of copies, v_k w (w - 1) / 2 times its base weight."""
    drawn = weights.image.astype(np.float64)
    images = np.arange(drawn.shape[0])
    weight = pairs.totals.copy_base(scope, images)[:, None] * drawn * (drawn - 1) / 2
    if weights.identity is not None:
        weight = weight * weights.identity[pairs.images.identity]
    return weight


def _rejected_copies(pairs, weight, thresholds):
    """Weight of the copies whose own score s(x, x) is rejected (n_levels, n_resamples)."""
    own = pairs.own_scores
    rejected = np.zeros((thresholds.shape[0], weight.shape[1]))
    # Only images whose own score is below the highest threshold matter. For cosine these
    # are rare.
    below = np.flatnonzero(~_rates.accepts(own, thresholds.max()))
    if below.size:
        for level, t in enumerate(thresholds):
            out = ~_rates.accepts(own[below, None], t[None, :])
            rejected[level] = (weight[below] * out).sum(axis=0)
    return rejected


# ---- the equal error rate, by bisection ----------------------------------------------
# Along descending thresholds FAR - FRR rises. The equal error rate lies where its sign changes.

# Thresholds tried per round of the bisection.
GRID = 15
# About how many impostor scores are tried first, if there are more.
SOME = 2**14


@dataclass(frozen=True)
class EqualErrorRates:
    """Equal error rates of one scope.

    Attributes
    ----------
    value, centre, threshold : float
        Rate in the data, centre of the replicates, and the threshold where FAR meets FRR.
    replicates : ndarray, shape (n_resamples,)
    sampled : bool
        Whether impostor scores came from a sample.
    """

    value: float
    centre: float
    threshold: float
    replicates: np.ndarray
    sampled: bool


def equal_error_rates(pairs, scope, resampling):
    """Value, centre and replicates of the equal error rate of a scope.

    Without ``resampling`` there is one replicate, the value. Impostor pairs are those stored
    or, where FAR meets FRR below them, a uniform sample.
    """
    try:
        return _equal_error_rates(pairs, scope, resampling, False)
    except TailTooShortError:
        return _equal_error_rates(pairs, scope, resampling, True)


def _equal_error_rates(pairs, scope, resampling, sampled):
    copies = resampling is None or resampling.method != "offdiagonal"
    data = (pairs, scope, sampled, copies)
    rate, threshold = equal_error_in(*data, Weights())
    if resampling is None:
        return EqualErrorRates(rate[0], rate[0], threshold[0], rate, sampled)
    centre = rate[0]
    if copies and pairs.has_copies and resampling.mode != "identities":
        centre = _rate_of_v_statistic(pairs, scope, sampled)
    replicates, _ = in_resamples(equal_error_in, *data, resampling)
    return EqualErrorRates(rate[0], centre, threshold[0], replicates, sampled)


def equal_error_in(pairs, scope, sampled, copies, weights):
    """Equal error rate in every resample of a block, and its threshold.

    Parameters
    ----------
    pairs : EmbeddingPairs or ListedPairs
    scope : None or (g, g)
    sampled : bool
        Whether impostor pairs come from the sample.
    copies : bool
        Whether pairs of two copies of one image count.
    weights : Weights

    Returns
    -------
    rates, thresholds : ndarrays, shape (n_resamples,)
        nan where a rate is undefined.

    Raises
    ------
    TailTooShortError
        If FAR stays below FRR down to the last score stored.
    """

    def rates_at(thresholds):
        far = far_in(pairs, scope, thresholds, weights, sampled)
        return far, frr_in(pairs, scope, thresholds, weights, copies)

    return _rates_and_thresholds(pairs, scope, sampled, rates_at, weights.n_resamples)


def _rate_of_v_statistic(pairs, scope, sampled):
    """Equal error rate of the FAR in the data and the V-statistic of the FRR."""

    def rates_at(thresholds):
        far = far_in(pairs, scope, thresholds, Weights(), sampled)
        return far, v_statistic_frr(pairs, (scope,), thresholds.T).T

    return _rates_and_thresholds(pairs, scope, sampled, rates_at, 1)[0][0]


def _rates_and_thresholds(pairs, scope, sampled, rates_at, n_columns):
    """Rates and thresholds where FAR meets FRR, or nan where either is undefined."""
    impostors = pairs.impostors(scope, sampled).scores
    always = [[np.inf], pairs.genuine.ascending(scope).scores]
    if pairs.has_copies:
        always.append(pairs.own_scores)

    def candidates_of(scores):
        """+inf, which accepts nothing, then distinct scores, of a tail those stored, descending."""
        scores = np.concatenate([*always, scores], dtype=np.float64)
        return np.unique(scores if sampled else scores[pairs.holds(scope, scores)])[
            ::-1
        ]

    # A few impostor scores show between which two the rates meet.
    step = 1 + impostors.size // SOME
    candidates = candidates_of(np.append(impostors[::step], impostors[-1:]))
    far, frr = rates_at(np.full((1, n_columns), candidates[-1]))
    defined = ~np.isnan(far[0] + frr[0])
    if (far < frr).any():
        raise TailTooShortError(scope)
    if step > 1:
        low, high = bracket(rates_at, candidates, n_columns)
        known = defined if defined.any() else slice(None)
        ends = candidates[[low[known].min(), high[known].max()]]
        between = slice(*_rates.count_at_least(impostors, ends))
        candidates = candidates_of(np.concatenate([ends, impostors[between]]))
    rates, thresholds = closest_rates(rates_at, candidates, n_columns)
    return np.where(defined, rates, np.nan), np.where(defined, thresholds, np.nan)


def bracket(rates_at, candidates, n_columns):
    """Places of the two candidates around FAR - FRR = 0, two (n_columns,), by bisection.

    Arguments are those of :func:`closest_rates`.
    """
    low = np.zeros(n_columns, dtype=np.int64)
    high = np.full(n_columns, candidates.size - 1)
    steps = np.arange(1, GRID + 1)[:, None]
    column = np.arange(n_columns)
    while (high - low > 1).any():
        tried = low + (high - low) * steps // (GRID + 1)
        far, frr = rates_at(candidates[tried])
        crossed = far >= frr
        first = np.where(crossed.any(axis=0), crossed.argmax(axis=0), GRID)
        bounds = np.vstack([low, tried, high])
        low, high = bounds[first, column], bounds[first + 1, column]
    return low, high


def closest_rates(rates_at, candidates, n_columns):
    """Find where FAR is closest to FRR among the candidates, for every column.

    FAR - FRR rises along the candidates, so bisection finds the two around zero.

    Parameters
    ----------
    rates_at : callable
        Thresholds (n_levels, n_columns) -> FAR and FRR of that shape.
    candidates : ndarray, shape (n_candidates,)
        Descending, starting with +inf.
    n_columns : int

    Returns
    -------
    rates, thresholds : ndarrays, shape (n_columns,)
        The rate is (FAR + FRR) / 2 at the threshold.
    """
    low, high = bracket(rates_at, candidates, n_columns)
    around = candidates[np.stack([low, high])]
    far, frr = rates_at(around)
    rates, closest = _rates.equal_error(far.T, frr.T)
    return rates, around[closest, np.arange(n_columns)]
