"""Disparities of the groups' rates, indices of both rates, and metrics of the user's."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from skfairfr._core._jackknife import rate_ends
from skfairfr._text._document import Cell, Row, Table
from skfairfr._text._words import (
    NONE,
    accepted,
    number,
    numbers,
    points,
    points_between,
    printable,
    ratio,
    ratios,
    terms_of,
)
from skfairfr.metrics import (
    Reason,
    fairness_discrepancy_rate,
    garbe,
    inequity_rate,
    werm,
)
from skfairfr.report._notes import collecting, rates_in
from skfairfr.report._records import Figure
from skfairfr.report.sections._cells import beside, few_of
from skfairfr.utils._errors import invalid, kind_of_value

DISPARITIES = {
    "gini": "Gini coefficient",
    "max_min": "largest / smallest",
    "max_geomean": "largest / geometric mean",
    "log_geomean": "sum of log10 distances from geometric mean",
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
    caption = f"Disparities{at}. Larger: rates differ more"
    if hows is None and any(level.indices for level in levels):
        caption += (
            " (FDR: smaller). The last four combine both rates and have no interval"
        )
    caption += (
        ". Chance alone makes rates differ: 'without noise' is an estimate of the disparity "
        "without that part. It may be none, which does not show that rates are equal."
    )
    if hows is not None:
        caption += (
            " These are of the largest and the smallest rate, whichever groups have them. For "
            "two named groups, use the ratios above."
        )
    terms = terms_of(settings)
    head = ["Disparity", "If all are equal"]
    head += [f"Of the {terms[rate].name}" for rate in measured]
    rows = beside(rows)
    if hows is not None:  # a ratio of 1 and a difference of 0 need no column
        del head[1]
        rows = [replace(row, cells=row.cells[1:]) for row in rows]
    return Table(caption, head, rows)


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


@dataclass(frozen=True)
class OwnMetric:
    """A metric of the user's, of both rates of all groups, with its interval."""

    name: str
    figure: Figure


def measure_metrics(audited, found, functions, confidence_level):
    """Metrics of the user's at every level, a list of tuples of OwnMetric.

    Parameters
    ----------
    audited : AuditedROC
    found : sequence of Level
    functions : dict of str -> callable
        Smooth functions of the FAR and of the FRR of all groups that have both, two
        ndarrays (n_groups,), to a float.
    confidence_level : float in (0, 1)
    """
    both = [
        audited.evidence(rate, "overall")
        for rate in ("far", "frr")
        if rate in audited.rates
    ]
    if len(both) < 2 or None in [evidence for evidence, _ in both]:
        none = Figure.undefined(
            audited.few_groups("far") or Reason("few_groups", found=0, needed=2)
        )
        return [tuple(OwnMetric(name, none) for name in functions)] * len(found)
    (far, order), (frr, _) = both
    scopes = [scope for scope in far.scopes if scope in frr.scopes]
    at = [of.sums.columns([of.scopes.index(s) for s in scopes]) for of in (far, frr)]
    tail, levels = (1 - confidence_level) / 2, [None] * len(order)
    for row, level in enumerate(order.tolist()):
        sums = [of.rows(row) for of in at]
        ends = [rate_ends(of, tail) for of in sums]
        influence = (
            [of.influence[of.scopes.index(scope)][[row]] for of in (far, frr)]
            for scope in scopes
        )
        together = [float((one * other).sum()) for one, other in influence]
        spread = np.sqrt(sums[0].log_variance * sums[1].log_variance)
        correlation = np.divide(
            together, spread, out=np.zeros(len(scopes)), where=spread > 0
        )
        rates = found[level].rates[1:]
        enough = all(row.far.supported and row.frr.supported for row in rates)
        about = [of.rate for of in sums], ends, np.clip(correlation, -1, 1), enough
        levels[level] = tuple(
            OwnMetric(name, _own_figure(function, *about))
            for name, function in functions.items()
        )
    return levels


def _own_figure(function, rates, ends, correlation, enough):
    """A smooth function of both rates of groups with its interval (MOVER).

    Each rate moves to the ends of its own interval. The squares of what the function changes
    by are added, and products by the correlation of both rates of a group (Zou & Donner 2008,
    to first order).

    Parameters
    ----------
    function : callable
    rates : list of two ndarrays, (n_groups,)
    ends : list of two tuples of two ndarrays, (n_groups,)
    correlation : ndarray, shape (n_groups,)
    enough : bool
        Whether all rates rest on enough errors.
    """
    value = np.asarray(function(*rates))
    if value.ndim or value.dtype.kind not in "fiu":
        problem = (
            f"must be functions to a number, but one returned {kind_of_value(value)}."
        )
        raise invalid("metrics", function, problem)
    value = float(value)
    moved = np.zeros((2, 2, correlation.size))  # by the rate, the end and the group
    for rate, end, group in np.ndindex(moved.shape):
        both = [of.copy() for of in rates]
        both[rate][group] = ends[rate][end][group]
        moved[rate, end, group] = float(function(*both)) - value
    rising = np.sign(moved[:, 1] - moved[:, 0])
    reaches = []
    for far, frr in (moved.max(axis=1), -moved.min(axis=1)):
        shared = 2 * correlation * rising[0] * rising[1] * far * frr
        reaches.append(np.sqrt(max((far**2 + frr**2 + shared).sum(), 0.0)))
    up, down = reaches
    return Figure(value, value - down, value + up, np.nan, enough, "")


def row_of_metric(found, place):
    """A metric of the user's: one number of both rates."""
    figure = found.figure
    ends, few = numbers(figure.low, figure.high), few_of(figure)
    value = Cell(number(figure.value), ends, "both rates", few)
    return Row(printable(found.name), [Cell(NONE), value, Cell(NONE)], place)
