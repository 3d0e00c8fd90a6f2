"""Metrics of the user's: smooth functions of both rates of all groups."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skfairfr._core._jackknife import rate_ends
from skfairfr._text._document import Cell, Row
from skfairfr._text._words import NONE, number, numbers, printable
from skfairfr.metrics import Reason
from skfairfr.report._records import Figure
from skfairfr.report.sections._cells import few_of
from skfairfr.utils._errors import invalid, kind_of_value


@dataclass(frozen=True)
class OwnMetric:
    """A metric of the user's, of both rates of all groups, with its interval."""

    name: str
    figure: Figure


def measure(audited, found, functions, confidence_level):
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
        problem = f"must be functions to a number; one gave {kind_of_value(value)}."
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
