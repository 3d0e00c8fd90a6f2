"""The equal error rate in the data and in every resample, by bisection over scores."""

from dataclasses import dataclass

import numpy as np

from skfairfr._core import _rates
from skfairfr._core._bootstrap import far_in, frr_in, has_copies, v_statistic_frr
from skfairfr._core._parallel import over_blocks
from skfairfr._core._resampling import blocks_of_resamples, draw, unit_weights

# Thresholds tried per round: a walk over the pairs costs about as much for 1 as for 15.
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
        Whether impostor scores came from a sample, and the value from a histogram.
    """

    value: float
    centre: float
    threshold: float
    replicates: np.ndarray
    sampled: bool


def equal_error_rates(pairs, scope, resampling):
    """Value, centre and replicates of the equal error rate of a scope."""
    sampled = not pairs.is_whole(scope)
    copies = resampling.method != "offdiagonal"
    scores = [
        pairs.impostors(scope, sampled).scores,
        pairs.genuine.ascending(scope).scores,
    ]
    if has_copies(pairs, resampling):
        scores.append(pairs.own_scores)
    candidates = _candidates(scores)

    def of_data(thresholds):
        return _rates_of(pairs, scope, sampled, copies, unit_weights(), thresholds)

    def of_histogram(thresholds):
        return pairs.histogram(scope).far(thresholds), of_data(thresholds)[1]

    def of_v_statistic(thresholds):
        frr = v_statistic_frr(pairs, (scope,), thresholds.T)
        return of_data(thresholds)[0], frr.T

    from_histogram = sampled and pairs.histogram(scope) is not None
    source = of_histogram if from_histogram else of_data
    value, threshold = where_equal(source, candidates, 1)
    centre = of_v_statistic if has_copies(pairs, resampling) else of_data
    centre, _ = where_equal(centre, candidates, 1)
    spans = blocks_of_resamples(pairs.images, resampling.n_resamples)
    small = pairs.for_workers((scope,), (scope,) if sampled else ())
    shared = (small, scope, sampled, copies, candidates, resampling)
    sizes = [stop - start for start, stop in spans]
    arguments = (spans, resampling.n_jobs, "resampling", sizes, shared)
    blocks = over_blocks(_block, *arguments)
    return EqualErrorRates(
        value[0], centre[0], threshold[0], np.concatenate(blocks), sampled
    )


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


def _candidates(scores):
    """+inf, which accepts nothing, then all distinct scores in descending order."""
    distinct = np.unique(np.concatenate(scores))[::-1].astype(np.float64)
    return np.concatenate([[np.inf], distinct])


def _block(pairs, scope, sampled, copies, candidates, resampling, start, stop):
    weights = draw(pairs.images, resampling.mode, resampling.entropy, start, stop)

    def rates_at(thresholds):
        return _rates_of(pairs, scope, sampled, copies, weights, thresholds)

    return where_equal(rates_at, candidates, weights.n_resamples)[0]


def _rates_of(pairs, scope, sampled, copies, weights, thresholds):
    far = far_in(pairs, scope, thresholds, weights, sampled)
    return far, frr_in(pairs, scope, thresholds, weights, copies)
