"""The equal error rate in the data and in every resample, by bisection over scores."""

import numpy as np

from skfairfr._core import _rates

# Thresholds tried per round: a walk over the pairs costs the same for 1 as for 15.
GRID = 15


def candidate_thresholds(impostor, genuine):
    """All distinct scores in descending order, behind +inf (accepting nothing)."""
    scores = np.union1d(impostor, genuine)[::-1].astype(np.float64)
    return np.concatenate([[np.inf], scores])


def equal_error_rates(rates_at, candidates, n_columns):
    """Where FAR meets FRR on the polyline over the candidates, for every column.

    Parameters
    ----------
    rates_at : callable
        Thresholds (n_levels, n_columns) -> FAR and FRR of that shape.
    candidates : ndarray, shape (n_candidates,)
        Descending, from +inf on.
    n_columns : int

    Returns
    -------
    rates : ndarray, shape (n_columns,)
    thresholds : ndarray, shape (n_columns,)
        The first candidate with FAR >= FRR.
    """
    low = np.zeros(n_columns, dtype=np.int64)
    high = np.full(n_columns, candidates.size - 1)
    steps = np.arange(1, GRID + 1)[:, None]
    while (high - low > 1).any():
        tried = low + np.maximum((high - low) * steps // (GRID + 1), 0)
        far, frr = rates_at(candidates[tried])
        crossed = far >= frr
        first = np.where(crossed.any(axis=0), crossed.argmax(axis=0), GRID)
        bounds = np.vstack([low, tried, high])
        column = np.arange(n_columns)
        low, high = bounds[first, column], bounds[first + 1, column]
    far, frr = rates_at(candidates[np.stack([low, high])])
    return _rates.crossing(far.T, frr.T), candidates[high]
