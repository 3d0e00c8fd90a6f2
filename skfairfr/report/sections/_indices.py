"""Disparities of the groups' rates, and indices of both rates."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from skfairfr._text._document import Cell, Row, Table
from skfairfr._text._words import (
    NONE,
    accepted,
    points,
    points_between,
    ratio,
    ratios,
    terms_of,
)
from skfairfr.metrics import fairness_discrepancy_rate, garbe, inequity_rate, werm
from skfairfr.report._notes import collecting, rates_in
from skfairfr.report.sections._cells import beside, few_of
from skfairfr.report.sections._metrics import row_of_metric

DISPARITIES = {
    "gini": "Gini coefficient",
    "max_min": "largest / smallest",
    "max_geomean": "largest / geometric mean",
    "log_geomean": "log10 distance from geometric mean",
    "difference": "largest \N{MINUS SIGN} smallest",
}
# What a reader sees without opening anything.
SHOWN = ("max_min", "difference")
# Name, function and value if all groups have the same rates.
INDICES = {
    "inequity_rate": ("Inequity rate (IR)", inequity_rate, 1.0),
    "werm": ("WERM", werm, 1.0),
    "garbe": ("GARBE", garbe, 0.0),
    "fairness_discrepancy_rate": (
        "Fairness discrepancy rate (FDR)",
        fairness_discrepancy_rate,
        1.0,
    ),
}


@dataclass(frozen=True)
class Index:
    """An index that joins both rates of all groups, or nan if undefined.

    ``neutral`` is its value when all groups have the same rates. The fairness discrepancy
    rate is smaller if rates of groups differ more, the others larger.
    """

    name: str
    value: float
    neutral: float


def measure(rates):
    """Indices that join both rates of the groups at one threshold."""
    values = [
        [getattr(row, rate).value for row in rates[1:]] for rate in ("far", "frr")
    ]
    # A note already reports an undefined rate.
    with collecting([]):
        return tuple(
            Index(name, float(function(*values)), neutral)
            for name, (_, function, neutral) in INDICES.items()
        )


def disparities(levels, systems, settings, hows=None, names=("",)):
    """Disparities at a level of each of some systems, whose rows are side by side.

    ``hows`` are those that are shown. None shows all, and the indices of both rates.
    """
    measured, rows = rates_in(systems[0].groups), []
    for level, name in zip(levels, names, strict=True):
        rows.append(_rows(level, measured, settings, hows, name))
    at = "" if "decisions" in settings else " at one threshold for everybody"
    caption = f"Disparities{at}. Larger is less fair"
    if hows is None and any(level.indices for level in levels):
        caption += "; for FDR, smaller is. The last four combine both rates and have no interval"
    caption += (
        ". Chance alone makes rates differ: 'without noise' is an estimate of the disparity "
        "without that part."
    )
    if hows is not None:
        caption += (
            " The largest rate is never below the smallest, so the interval of their ratio may "
            "differ from that of the ratio of the same two groups."
        )
    terms = terms_of(settings)
    head = ["Disparity", "If all are equal"]
    head += [f"Of the {terms[rate].name}" for rate in measured]
    return Table(caption, head, beside(rows))


def _rows(level, measured, settings, hows, place):
    found = {(d.how, d.operating_point): d for d in level.disparities}
    named = [(name, found.get((how, "overall"))) for how, name in DISPARITIES.items()]
    if level.indices:  # the standard's names are of comparisons
        named[0] = f"FPD, FND ({named[0][0]}) of ISO/IEC 19795-10", named[0][1]
    own = [row_of_metric(one, place) for one in level.metrics]
    if hows is not None:
        kept = [(name, d) for name, d in named if d is not None and d.how in hows]
        return [_row(name, d, measured, place) for name, d in kept] + own
    worst = f"largest / smallest if no group's {terms_of(settings).far.name} exceeds the level"
    if level.indices:
        worst = f"BFAR, BFRR: {worst}"
    named.append((worst, found.get(("max_min", "worst_group"))))
    rows = [_row(name, d, measured, place) for name, d in named if d is not None]
    if math.isfinite(level.worst_group_threshold):
        there = accepted(level.worst_group_threshold, settings)
        rows[-1] = replace(rows[-1], place=", ".join(filter(None, (place, there))))
    for index in level.indices:
        cells = [Cell(f"{index.neutral:g}"), Cell(f"{ratio(index.value)} (both rates)")]
        rows.append(Row(INDICES[index.name][0], [*cells, Cell(NONE)], place))
    return rows + own


def _row(name, found, measured, place):
    shown, ends = ratio, ratios
    if found.how == "difference":
        shown, ends = points, points_between
    cells = [Cell(f"{found.neutral:g}")]
    for figure in (getattr(found, rate) for rate in measured):
        more, corrected = "", figure.corrected
        if corrected is not None and math.isfinite(corrected + figure.value):
            more = f"{shown(corrected)} without noise"
        of_ends = ends(figure.low, figure.high)
        cells.append(Cell(shown(figure.value), of_ends, more, few_of(figure)))
    return Row(name, cells, place)
