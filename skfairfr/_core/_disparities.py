"""Disparities of group rates, and their registry.

Each function maps rates of shape (..., n_groups) to (...,); larger is less fair. Zero
denominators follow one rule: x/0 is +inf, 0/0 is nan. A nan rate makes the disparity nan:
the caller decides which groups take part. A new disparity needs one function, one line of
``DISPARITIES`` and one entry in its test. With a ``range_of`` as well, its intervals agree with
those of max / min.
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


# What rates between a smallest one and 1, both of which occur, can give: the least and the
# largest value of a disparity, from the smallest rate (...,) and the number of groups.


def _range_of_max_min(smallest, n_groups):
    found = _divide(1.0, smallest)
    return found, found


def _range_of_max_geomean(smallest, n_groups):
    found = _divide(1.0, smallest)
    return found ** (1 / n_groups), found ** (1 - 1 / n_groups)


def _range_of_log_geomean(smallest, n_groups):
    with np.errstate(divide="ignore"):
        apart = np.abs(np.log10(smallest))
    # The most where half of the groups are at either end.
    return apart, apart * (2 * (n_groups // 2) * ((n_groups + 1) // 2) / n_groups)


def _range_of_gini(smallest, n_groups):
    smallest = np.asarray(smallest)
    # The least where all other groups have the largest rate, the most where some number of
    # groups has it and the others the smallest one.
    largest = np.arange(1, n_groups)
    others = n_groups - largest
    total = largest + others * smallest[..., None]
    most = (largest * others / total).max(axis=-1)
    apart = 1 - smallest
    return apart / (n_groups - 1 + smallest), apart * most / (n_groups - 1)


def _range_of_difference(smallest, n_groups):
    return 1 - smallest, 1 - smallest


def _range_of_std(smallest, n_groups):
    halves = (n_groups // 2) * ((n_groups + 1) // 2)
    apart = 1 - smallest
    return apart / np.sqrt(2 * n_groups), apart * np.sqrt(halves) / n_groups


@dataclass(frozen=True)
class DisparityMeasure:
    """A disparity: its function, neutral value and natural range.

    Attributes
    ----------
    function : callable
    neutral : float
    bounds : tuple of two floats
    range_of : callable, default=None
        Least and largest value by the smallest rate and the number of groups, where the
        largest rate is 1; None where it is not known.
    in_rates : bool, default=False
        Whether the disparity is in units of a rate: of rates twice as large, twice as large.
    """

    function: Callable
    neutral: float
    bounds: tuple[float, float]
    range_of: Callable | None = None
    in_rates: bool = False


DISPARITIES = {
    "max_min": DisparityMeasure(max_min, 1.0, (1.0, np.inf), _range_of_max_min),
    "max_geomean": DisparityMeasure(
        max_geomean, 1.0, (1.0, np.inf), _range_of_max_geomean
    ),
    "log_geomean": DisparityMeasure(
        log_geomean, 0.0, (0.0, np.inf), _range_of_log_geomean
    ),
    "gini": DisparityMeasure(gini, 0.0, (0.0, 1.0), _range_of_gini),
    "difference": DisparityMeasure(
        difference, 0.0, (0.0, 1.0), _range_of_difference, in_rates=True
    ),
    "std": DisparityMeasure(std, 0.0, (0.0, 1.0), _range_of_std, in_rates=True),
    "ratio": DisparityMeasure(ratio, 1.0, (0.0, np.inf)),
}
