"""Detection costs of everyone and of every group, and what calibration costs them."""

from dataclasses import dataclass, field

import numpy as np

from skfairfr._text._document import Cell, Table
from skfairfr._text._document import Figure as Drawing
from skfairfr._text._words import (
    NONE,
    number,
    numbers,
    printable,
    ratio,
    ratios,
    who,
)
from skfairfr.report._figures import MAX_CURVES
from skfairfr.report._figures import reliability as drawn_reliability
from skfairfr.report._measure import figures_of
from skfairfr.report._records import HIDDEN, Figure
from skfairfr.report.sections._cells import few_of, row_of_group

NAMES = {
    "min_dcf": "minDCF",
    "dcf": "DCF",
    "min_cllr": "minCllr",
    "cllr": "Cllr",
}
CAPTION = (
    "Likelihood ratios of each group as its scores state them and as they are observed, natural "
    "logarithms in bins of scores, with intervals that are valid for all bins together. On the "
    "dotted line both are equal."
)
MOST = f" The {MAX_CURVES} groups that deviate most are shown."


@dataclass(frozen=True)
class Cost:
    """One cost of everyone, whose ``group`` is None, or of a group.

    Attributes
    ----------
    cost : {"min_dcf", "dcf", "min_cllr", "cllr"}
        Lower is better; "dcf" is that of decisions at the threshold of Bayes.
    p_target : float or None
        Of a detection cost.
    group : label
    figure : Figure
    ratio : Figure or None
        That over the cost of the reference; None of everyone and of the reference.
    low_of_all : float
        Lower end that is valid for everyone and all groups at once, of limits.
    """

    cost: str
    p_target: float | None
    group: object
    figure: Figure
    ratio: Figure | None
    low_of_all: float = field(default=np.nan, metadata=HIDDEN)


def measure(roc, reference, p_target, llr):
    """Costs of everyone and of every group, a tuple of Cost.

    Parameters
    ----------
    roc : SimilarityROC
        Fitted.
    reference : label
        None without two groups.
    p_target : ndarray of float, shape (n_points,)
        Operating points.
    llr : bool
        Whether scores are log-likelihood ratios.
    """
    asked = []
    for p in p_target.tolist():
        asked.append(("min_dcf", p, {"rate": "dcf", "p_target": p}))
        if llr:
            at = {"threshold": np.log((1 - p) / p)}
            asked.append(("dcf", p, {"rate": "dcf", "p_target": p, **at}))
    if llr:
        asked += [(name, None, {"rate": name}) for name in ("min_cllr", "cllr")]
    found, groups, level = [], (None, *roc.groups_.tolist()), roc.confidence_level
    # As of rates: two lower ends, each alone, miss as often as two-sided intervals.
    at_once = roc.by(confidence_level=1 - (1 - level) * min(1, 2 / len(groups)))
    for cost, p, options in asked:
        for group in groups:
            (figure,) = figures_of(roc.estimate(group=group, **options))
            low = at_once.estimate(group=group, **options).low
            over = None
            if reference is not None and group not in (None, reference):
                how = ("ratio", reference, group)
                (over,) = figures_of(roc.estimate(how=how, **options))
            found.append(Cost(cost, p, group, figure, over, low))
    return tuple(found)


def costs(audit):
    """The table of costs, and what calibration adds to differences of groups."""
    if not audit.costs:
        return []
    rows = []
    for row in audit.costs:
        name = NAMES[row.cost]
        place = name if row.p_target is None else f"{name}, p_target {row.p_target:g}"
        value, over = row.figure, row.ratio
        cells = [
            Cell(number(value.value), numbers(value.low, value.high), few_of(value))
        ]
        if over is not None:
            ends = ratios(over.low, over.high)
            cells.append(Cell(ratio(over.value), ends, few_of(over)))
        elif audit.reference is not None:
            cells.append(Cell(NONE))
        rows.append(row_of_group(row.group, cells, place))
    caption = (
        "minDCF is the least detection cost, at the best threshold of each group, over that of "
        "the better of accepting all and rejecting all; errors of both kinds cost the same. "
        "Lower is better."
    )
    if any(row.cost == "cllr" for row in audit.costs):
        caption += (
            " DCF is the cost at the threshold of Bayes, which is the same for all. Cllr is the "
            "cost of the log-likelihood ratios, in bits, and minCllr what is left of it after the "
            "best calibration of each group."
        )
    head = ["Group", "Cost"]
    if audit.reference is not None:
        head.append(f"× {printable(audit.reference)}")
    return [Table(caption, head, rows), *_of_calibration(audit)]


def _of_calibration(audit):
    """What calibration costs everyone and each group, a list of one list of sentences."""
    found = {
        (row.cost, row.p_target, row.group): row.figure.value for row in audit.costs
    }
    told = []
    for cost, p in dict.fromkeys((row.cost, row.p_target) for row in audit.costs):
        if cost not in ("dcf", "cllr") or np.isnan(found[cost, p, None]):
            continue
        name = NAMES[cost] if p is None else f"{NAMES[cost]} at a p_target of {p:g}"
        parts = [
            f"{number(value - found[f'min_{cost}', p, group])} of {number(value)} for "
            f"{who(group)}"
            for (of, at, group), value in found.items()
            if (of, at) == (cost, p)
        ]
        told.append(f"Lost by calibration, {name}: {'; '.join(parts)}.")
        if found[cost, p, None] > 2 * found[f"min_{cost}", p, None]:
            told.append(
                f"Most of this {NAMES[cost]} of everyone is lost by calibration: are the scores "
                "natural logarithms of likelihood ratios?"
            )
        of_groups = [
            {g: v for (*of, g), v in found.items() if of == [name, p] and g is not None}
            for name in (cost, f"min_{cost}")
        ]
        told += _of_difference(*of_groups, audit.reference, p)
    return [told] if told else []


def _of_difference(values, least, reference, p):
    """How much of the largest difference to the reference is calibration, a list of a sentence."""
    gaps = {g: abs(v - values.get(reference, np.nan)) for g, v in values.items()}
    furthest = max((g for g in gaps if gaps[g] > 0), key=gaps.get, default=None)
    if furthest is None:
        return []
    high, low = sorted((furthest, reference), key=values.get, reverse=True)
    both, of_least = (
        f"{number(of[high])} for {who(high)} and {number(of[low])} for {who(low)}"
        for of in (values, least)
    )
    rest = round(least[high] - least[low], 4)
    part = round(values[high] - values[low] - rest, 4)
    end = f"{number(part)} of the difference is calibration"
    if part < 0 or rest < 0:
        than = "reduces" if part < 0 else "is more than"
        end = f"calibration {than} the difference, since the minima are {of_least}"
    return [
        f"{'Cllr' if p is None else f'At p_target {p:g} the cost'} is {both}; {end}."
    ]


def reliability(audit):
    """The figure of stated and observed ratios, and what follows; empty without ratios."""
    found = audit.reliability
    if found is None or not np.isfinite(found.observed).any():
        return []
    gap = found.observed - found.stated
    gap = np.where(np.isfinite(gap), gap, 0.0)
    outside = (found.stated < found.low) | (found.stated > found.high)
    certain = np.abs(gap) * outside
    rows = np.argsort(-certain.max(axis=1), kind="stable")[:MAX_CURVES]
    name = f"reliability-{audit.attribute}"
    caption = CAPTION + MOST * (len(rows) < len(found.groups))
    drawing = Drawing(caption, lambda: drawn_reliability(found, np.sort(rows)), name)
    text = (
        "No interval excludes the likelihood ratio that scores state. This does not show that "
        "the scores of every group are calibrated."
    )
    if certain.any():
        at, whom = (rows[0], np.argmax(certain[rows[0]])), who(found.groups[rows[0]])
        stated, observed, *ends = (
            np.exp(of[at])
            for of in (found.stated, found.observed, found.low, found.high)
        )
        kind = "reject more mated" if gap[at] > 0 else "accept more non-mated"
        text = (
            f"The largest certain deviation: scores that state a likelihood ratio of "
            f"{number(stated)} for {whom} have an observed one of {number(observed)} "
            f"({numbers(*ends)}). "
            f"Decisions by such scores {kind} comparisons of {whom} than the scores state."
        )
    return [drawing, text]
