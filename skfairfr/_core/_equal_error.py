"""The equal error rate in the data and in every resample, by bisection.

Along descending thresholds FAR - FRR rises, and the equal error rate lies where it changes
its sign.
"""

from dataclasses import dataclass

import numpy as np

from skfairfr._core import _rates
from skfairfr._core._bootstrap import (
    far_in,
    frr_in,
    genuine_weights,
    has_copies,
    v_statistic_frr,
)
from skfairfr._core._pairs import TailTooShortError
from skfairfr._core._parallel import over_blocks
from skfairfr._core._resampling import (
    Resamples,
    Weights,
    blocks_of_resamples,
    draw,
)

# Thresholds tried per round of the bisection.
GRID = 15


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

    Without ``resampling`` there is one replicate, the value. Impostor pairs are those held
    or, where FAR meets FRR below them, a uniform sample.
    """
    try:
        return _of_scope(pairs, scope, resampling, False)
    except TailTooShortError:
        return _of_scope(pairs, scope, resampling, True)


def _of_scope(pairs, scope, resampling, sampled):
    copies = resampling is None or resampling.method != "offdiagonal"
    data = (pairs, scope, sampled, copies)
    rate, threshold = equal_error_in(*data, Weights())
    if resampling is None:
        return EqualErrorRates(rate[0], rate[0], threshold[0], rate, sampled)
    centre = rate[0]
    if has_copies(pairs, resampling):
        centre = _of_v_statistic(pairs, scope, sampled)
    small = pairs.for_workers((scope,), (scope,) if sampled else ())
    spans = blocks_of_resamples(pairs.images, resampling.n_resamples)
    seeds = (resampling.mode, resampling.entropy)
    blocks = over_blocks(
        _block,
        [(Resamples(*seeds, *span),) for span in spans],
        resampling.n_jobs,
        "resampling",
        [stop - start for start, stop in spans],
        (small, scope, sampled, copies),
    )
    replicates = np.concatenate(blocks)
    return EqualErrorRates(rate[0], centre, threshold[0], replicates, sampled)


def _block(pairs, scope, sampled, copies, resamples):
    weights = draw(pairs.images, *resamples)
    return equal_error_in(pairs, scope, sampled, copies, weights)[0]


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
        If FAR stays below FRR down to the last score held.
    """
    genuine = genuine_weights(pairs, scope, weights, copies)

    def rates_at(thresholds):
        far = far_in(pairs, scope, thresholds, weights, sampled)
        return far, frr_in(pairs, scope, thresholds, weights, genuine, copies)

    return _where_they_meet(pairs, scope, sampled, rates_at, weights.n_resamples)


def _of_v_statistic(pairs, scope, sampled):
    """Equal error rate of the FAR in the data and the V-statistic of the FRR."""

    def rates_at(thresholds):
        far = far_in(pairs, scope, thresholds, Weights(), sampled)
        return far, v_statistic_frr(pairs, (scope,), thresholds.T).T

    return _where_they_meet(pairs, scope, sampled, rates_at, 1)[0][0]


def _where_they_meet(pairs, scope, sampled, rates_at, n_columns):
    """Rates and thresholds where FAR meets FRR; nan where either is undefined."""
    candidates = _candidates(pairs, scope, sampled)
    far, frr = rates_at(np.full((1, n_columns), candidates[-1]))
    defined = ~np.isnan(far[0] + frr[0])
    if (far < frr).any():
        raise TailTooShortError(scope)
    rates, thresholds = where_equal(rates_at, candidates, n_columns)
    return np.where(defined, rates, np.nan), np.where(defined, thresholds, np.nan)


def where_equal(rates_at, candidates, n_columns):
    """Find where FAR is closest to FRR among the candidates, for every column.

    FAR - FRR rises along the candidates, so that bisection finds the two around zero.

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
    around = candidates[np.stack([low, high])]
    far, frr = rates_at(around)
    rates, closest = _rates.equal_error(far.T, frr.T)
    return rates, around[closest, column]


def _candidates(pairs, scope, sampled):
    """+inf, which accepts nothing, then the distinct scores held, in descending order."""
    impostors = pairs.impostors(scope, sampled)
    scores = [impostors.scores, pairs.genuine.ascending(scope).scores]
    if pairs.has_copies:
        scores.append(pairs.own_scores)
    distinct = np.unique(np.concatenate(scores))[::-1].astype(np.float64)
    if not sampled:
        distinct = distinct[pairs.holds(scope, distinct)]
    return np.concatenate([[np.inf], distinct])
