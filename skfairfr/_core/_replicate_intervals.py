"""Intervals and bands from bootstrap replicates."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logit

METHODS = ("naive", "recentered", "multiplicative", "offdiagonal", "jackknife")


def adjusted(replicates, value, centre, method):
    """Replicates as an interval uses them, (..., n_resamples).

    ``"recentered"`` is value + replicate - centre, as are the bands of ``"jackknife"``.
    ``"multiplicative"`` is value * replicate / centre, with centre the V-statistic (ROC24
    §3.2). If value or centre is not finite (or, of the quotient, centre is 0), replicates
    are returned unchanged.
    """
    value, centre = np.asarray(value)[..., None], np.asarray(centre)[..., None]
    movable = np.isfinite(value) & np.isfinite(centre)
    if method in ("recentered", "jackknife"):
        with np.errstate(invalid="ignore"):
            return np.where(movable, value + (replicates - centre), replicates)
    if method == "multiplicative":
        movable = movable & (centre != 0)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(movable, replicates * (value / centre), replicates)
    return replicates


def percentile(replicates, confidence_level, bounds):
    """Equal-tailed interval of replicates, intersected with the natural range.

    Parameters
    ----------
    replicates : ndarray, shape (..., n_resamples)
        +inf counts as the largest. An undefined replicate (NaN) may have any value: it
        counts as the smallest for the lower bound and as the largest for the upper one.
    confidence_level : float in (0, 1)
    bounds : tuple of two floats
        Natural range of the quantity.

    Returns
    -------
    low, high : ndarrays, shape (...,)
        NaN where more than alpha/2 of the replicates are undefined.
    n_undefined : ndarray of int, shape (...,)
    """
    tail = (1 - confidence_level) / 2
    undefined, last = np.isnan(replicates), replicates.shape[-1] - 1
    n_undefined, ends = undefined.sum(axis=-1), []
    unknown = n_undefined > tail * (last + 1)
    for place, of_undefined in ((tail * last, -np.inf), ((1 - tail) * last, np.inf)):
        ordered = np.sort(np.where(undefined, of_undefined, replicates), axis=-1)
        below = int(np.floor(place))
        share = place - below
        left, right = ordered[..., below], ordered[..., min(below + 1, last)]
        with np.errstate(invalid="ignore"):
            between = left + (right - left) * share
        # Next to an infinite value the wider choice.
        is_lower_end = of_undefined < 0
        wider = left if share == 0 or is_lower_end else right
        end = np.where(np.isfinite(left) & np.isfinite(right), between, wider)
        ends.append(np.where(unknown, np.nan, np.clip(end, *bounds)))
    return *ends, n_undefined


def simultaneous(replicates, value, pointwise, confidence_level, bounds):
    """Band over all levels at once: value +- c standard errors. For rates in their logits.

    c is the quantile of the largest studentised deviation from the replicates' mean over
    the levels. Logits, to first order, make a band of few errors as skew as the replicates
    are. Levels whose replicates do not vary, or are not all finite, take no part
    and keep their interval. The band is never narrower than the interval.

    Parameters
    ----------
    replicates : ndarray, shape (n_levels, n_resamples)
    value : ndarray, shape (n_levels,)
    pointwise : tuple of two ndarrays, shape (n_levels,)
    confidence_level : float in (0, 1)
    bounds : tuple of two floats

    Returns
    -------
    low, high : ndarrays, shape (n_levels,)
    """
    low, high = pointwise
    usable = np.isfinite(replicates).all(axis=-1) & np.isfinite(value)
    spread = np.zeros(value.shape)
    spread[usable] = replicates[usable].std(axis=-1)
    varying = spread > 0
    if not varying.any():
        return low, high
    centred = replicates[varying] - replicates[varying].mean(axis=-1, keepdims=True)
    largest = np.abs(centred / spread[varying, None]).max(axis=0)
    reach = np.quantile(largest, confidence_level) * spread
    wide_low, wide_high = value - reach, value + reach
    inner = varying & (value > 0) & (value < 1)
    if bounds == (0.0, 1.0) and inner.any():
        rate = value[inner]
        moved = reach[inner] / (rate * (1 - rate))
        wide_low[inner] = expit(logit(rate) - moved)
        wide_high[inner] = expit(logit(rate) + moved)
    wide_low, wide_high = (np.clip(end, *bounds) for end in (wide_low, wide_high))
    return (
        np.where(varying, np.fmin(low, wide_low), low),
        np.where(varying, np.fmax(high, wide_high), high),
    )
