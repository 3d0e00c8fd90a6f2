"""Detection error tradeoffs of the groups, of one system or of several."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from skfairfr._text._document import Figure
from skfairfr._text._words import TOO_FEW, terms_of
from skfairfr.metrics._plot._from_roc import cost_points, default_levels
from skfairfr.report._figures import MAX_CURVES, det, det_of_systems
from skfairfr.report._notes import collecting, rates_in, short_place
from skfairfr.report._records import HIDDEN

TITLE = "Detection error tradeoff (DET) by group"
POINTS = f"Hollow ones have {TOO_FEW}. Rates of zero have no place on these axes."
# Where a curve without impostor pairs has its thresholds.
SHARES_OF_GENUINE = np.linspace(0, 1, 65)


@dataclass(frozen=True)
class Curves:
    """The FRR of every group over levels of the overall FAR. The first is everyone's.

    Attributes
    ----------
    groups : tuple of labels
        None is everyone.
    threshold : ndarray, shape (n_levels,)
        Similarities (minus a distance) from which on a pair is accepted.
    far, frr : ndarrays, shape (n_groups, n_levels)
        Rates of a group at these thresholds, or nan without the pairs.
    marks : dict of str -> tuple of two ndarrays, shape (n_groups,)
        FAR and FRR of each group at the threshold of its least detection cost, by the name
        of the cost.
    """

    groups: tuple
    threshold: np.ndarray
    far: np.ndarray
    frr: np.ndarray
    marks: dict = field(default_factory=dict, metadata=HIDDEN)

    def take(self, places):
        """The curves with their groups in another order."""
        groups = tuple(self.groups[place] for place in places)
        rates = self.far[places], self.frr[places]
        marks = {n: (far[places], frr[places]) for n, (far, frr) in self.marks.items()}
        return Curves(groups, self.threshold, *rates, marks)


def measure(audited, whole, p_target=()):
    """Both rates of everyone and of every group over levels of the overall FAR.

    Curves that are not ``whole`` end at the audit's threshold that accepts most, and those of
    searches where candidates are not known. Marks are at the least detection costs at
    ``p_target``.
    """
    if "far" not in audited.rates:
        scores = audited.roc._engine.pairs.genuine.ascending(None).scores
        threshold = np.unique(np.quantile(scores, SHARES_OF_GENUINE))[::-1]
        columns = {rate: audited.by_group(rate, threshold) for rate in ("far", "frr")}
        return Curves(tuple(audited.labels), threshold, **columns)
    levels = default_levels(audited.roc)
    with collecting([]):
        own = np.min(audited.points.threshold, keepdims=True)
        if whole:
            own = np.ravel(getattr(audited.roc._engine.pairs, "floor", -np.inf))
        if np.isneginf(own).all():
            own = np.empty(0)
        else:
            levels = levels[levels < audited.at_thresholds("far", None, own)[0]]
        drawn = audited.roc.threshold_at(levels) if levels.size else levels
        threshold = np.append(drawn, own)
        columns = {rate: audited.by_group(rate, threshold) for rate in ("far", "frr")}
        if len(p_target):
            of_costs = cost_points(audited.roc, audited.labels, p_target, None)
            marks = zip(of_costs["cost_far"], of_costs["cost_frr"], strict=True)
            columns["marks"] = dict(zip(of_costs["cost_names"], marks, strict=True))
    return Curves(tuple(audited.labels), threshold, **columns)


def curves_of_groups(audit):
    """The figure of the curves of all groups, or None without curves."""
    if audit.curves is None or len(rates_in(audit.groups)) < 2:
        return None
    names = [short_place(level, audit) for level in audit.levels]
    caption = (
        "Both rates of each group as the one threshold for everybody moves. Nearer to the "
        "lower left is better. Points are at the operating points: if they are far apart, groups "
        f"have different rates at the same threshold. {POINTS}"
    )
    if not audit.attribute:
        caption = (
            "Detection error tradeoff (DET): both rates as the threshold moves. Nearer to the "
            f"lower left is better. Points are at the operating points. {POINTS}"
        )
    if len(audit.curves.groups) > MAX_CURVES:
        caption += " Each panel has one group in blue, and everyone in grey."
    if audit.curves.marks:
        caption += " Crosses are at the least detection cost of each group."
    name = f"det-{audit.attribute}"
    terms = terms_of(audit.settings)
    return Figure(caption, lambda: det(audit.curves, audit.levels, names, terms), name)


def curves_of_systems(systems, names, terms):
    """The figure of the curves of every group under each system."""
    if len(rates_in(systems[0].groups)) < 2:
        return None
    whose = " of each group" if systems[0].attribute else ""
    caption = (
        f"Both rates{whose} under each system, as its one threshold for everybody "
        "moves. Nearer to the lower left is better. Points are at the operating points. "
        f"{POINTS}"
    )
    curves, levels = [s.curves for s in systems], [s.levels for s in systems]
    name = f"det-{systems[0].attribute}"
    return Figure(caption, lambda: det_of_systems(curves, levels, names, terms), name)
