"""When a method lowers a disparity, at a cost that is allowed, and which one wins."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from scipy.special import ndtri

from skfairfr._core._jackknife import holm
from skfairfr.model_selection._bench_fits import COST, METRICS
from skfairfr.model_selection._trade_off import BestTradeOff

# Probability with which an effect of the detectable factor would be seen.
POWER = 0.8


def with_adjusted_p(results, metric):
    """Results with p-values of one family (Holm). An undefined one counts as 1."""
    p_values = [result.changes[metric].p_value for result in results]
    adjusted = holm(np.nan_to_num(p_values, nan=1.0)).tolist()
    return [replace(r, p_adjusted=p) for r, p in zip(results, adjusted, strict=True)]


def levelling_down(changes, own_threshold):
    """How a disparity fell without a gain for any group, in words, or empty if it did not.

    Not empty if the interval of BFAR's or BFRR's ratio ends below 1, the FRR of every group
    at its own threshold is higher as counted, and the interval of one begins above 1. Shared
    thresholds would not show this: at a fixed overall FAR that of some group falls whenever
    BFAR does.
    """
    fell = [METRICS[m].words for m in ("bfar", "bfrr") if changes[m].high < 1]
    rose = all(g.ratio > 1 for g in own_threshold) and any(
        g.low > 1 for g in own_threshold
    )
    if not fell or not rose:
        return ""
    return f"{' and '.join(fell)} fell, and no group's own-threshold FNMR did"


def find_winner(judged, metrics, confidence_level, max_cost):
    """The best compromise among the methods that surely lower the first metric."""
    helping = [
        method
        for method in judged
        if lowers(method, metrics[0], 1 - confidence_level)
        and not reservation(method, max_cost)
    ]
    values = {
        f"mean_test_{name}": [-m.changes[name].after for m in helping]
        for name in metrics
    }
    if not np.isfinite(list(values.values())).all(axis=0).any():
        return None
    return helping[BestTradeOff(metrics)(values)].name


def detectable_factor(judged, metric, confidence_level):
    """The factor that a method with the median error would need."""
    errors = [e for m in judged if (e := m.changes[metric].log_error) > 0]
    if not errors:
        return float("nan")
    tail = (1 - confidence_level) / (2 * len(judged))
    return float(np.exp((ndtri(1 - tail) + ndtri(POWER)) * np.median(errors)))


def reservation(method, max_cost):
    """Why a method that lowers a disparity cannot win, or empty if it can."""
    why = []
    if method.needs_groups:
        why.append("it needs the groups of both images to score a pair")
    if method.levelling_down:
        why.append(f"this is levelling down: {method.levelling_down}")
    if max_cost is not None and math.isnan(method.changes[COST].ratio):
        why.append("no error shows whether it keeps the FNMR that was allowed")
    elif costs_more(method, max_cost):
        why.append(f"at most {max_cost:g} times the FNMR was allowed")
    return "; ".join(why)


def is_detectable(change, limit):
    """Whether a disparity before is larger than with equal groups. True of a rate."""
    return math.isnan(change.p_before) or change.p_before <= limit


def lowers(method, metric, limit):
    """Whether a method surely lowers a metric: by its adjusted p-value and its interval.

    A disparity that is no larger than chance makes it cannot be shown to fall.
    """
    change = method.changes[metric]
    is_lower = method.p_adjusted <= limit and change.high < 1
    return is_lower and math.isfinite(change.after) and is_detectable(change, limit)


def costs_more(method, max_cost):
    """Whether the FNMR of everyone exceeds that of nothing by more than this factor."""
    frr = method.changes["frr_at_far"]
    return max_cost is not None and not frr.after <= max_cost * frr.before
