"""Disparities of group rates, and their registry.

Each function maps rates of shape (..., n_groups) to (...,); larger is less fair. Zero
denominators follow one rule: x/0 is +inf, 0/0 is nan. A nan rate makes the disparity nan:
the caller decides which groups take part. A new disparity needs one function, one line of
``DISPARITIES`` and one entry in its test.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


def _divide(numerator, denominator):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.divide(numerator, denominator)


def _geometric_mean(rates):
    with np.errstate(divide="ignore"):
        return np.exp(np.mean(np.log(rates), axis=-1))


def max_min(rates):
    """max x / min x."""
    return _divide(rates.max(axis=-1), rates.min(axis=-1))


def max_geomean(rates):
    """max x / geometric mean of x."""
    return _divide(rates.max(axis=-1), _geometric_mean(rates))


def log_geomean(rates, base=10.0, reduce="sum"):
    """Sum (or mean) over groups of abs(log(x / geometric mean of x)).

    One zero rate among positive ones puts every other infinitely far from the geometric
    mean, so the sum is +inf; all zero is undefined.
    """
    ratios = _divide(rates, _geometric_mean(rates)[..., None])
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.abs(np.log10(ratios) / np.log10(base))
        total = terms.sum(axis=-1) if reduce == "sum" else terms.mean(axis=-1)
    some_zero = (rates == 0).any(axis=-1) & (rates > 0).any(axis=-1)
    return np.where(some_zero & ~np.isnan(rates).any(axis=-1), np.inf, total)


def gini(rates):
    """M/(M-1) times the Gini coefficient of the M rates, so that 1 is its maximum."""
    n_groups = rates.shape[-1]
    # The sum of |x_a - x_b| over all pairs is a weighted sum of the sorted rates, which
    # needs no M x M array.
    rank = 2.0 * np.arange(n_groups) - (n_groups - 1)
    differences = 2 * (np.sort(rates, axis=-1) * rank).sum(axis=-1)
    spread = _divide(differences, 2 * n_groups**2 * rates.mean(axis=-1))
    return n_groups / (n_groups - 1) * spread


def difference(rates):
    """max x - min x."""
    return rates.max(axis=-1) - rates.min(axis=-1)


def std(rates, ddof=0):
    """Standard deviation of the rates."""
    return rates.std(axis=-1, ddof=ddof)


def ratio(rates):
    """Signed ratio x_2 / x_1 of exactly two groups, in their order."""
    return _divide(rates[..., 1], rates[..., 0])


@dataclass(frozen=True)
class DisparityMeasure:
    """A disparity: its function, neutral value and natural range."""

    function: Callable
    neutral: float
    bounds: tuple[float, float]


DISPARITIES = {
    "max_min": DisparityMeasure(max_min, 1.0, (1.0, np.inf)),
    "max_geomean": DisparityMeasure(max_geomean, 1.0, (1.0, np.inf)),
    "log_geomean": DisparityMeasure(log_geomean, 0.0, (0.0, np.inf)),
    "gini": DisparityMeasure(gini, 0.0, (0.0, 1.0)),
    "difference": DisparityMeasure(difference, 0.0, (0.0, 1.0)),
    "std": DisparityMeasure(std, 0.0, (0.0, 1.0)),
    "ratio": DisparityMeasure(ratio, 1.0, (0.0, np.inf)),
}
