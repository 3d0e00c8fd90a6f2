"""Detection costs of everyone and of every group, what calibration costs them, and changes."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product

import numpy as np

from skfairfr._core._kinds import SEARCHES
from skfairfr._core._score_costs import ScoreCost
from skfairfr._text._document import Cell, Table
from skfairfr._text._document import Figure as Drawing
from skfairfr._text._words import (
    NO_DIFFERENCE,
    NONE,
    TOO_FEW,
    number,
    numbers,
    p_value,
    printable,
    ratio,
    ratios,
    who,
)
from skfairfr.metrics._roc._paired import compare_costs
from skfairfr.report._figures import MAX_CURVES
from skfairfr.report._figures import reliability as drawn_reliability
from skfairfr.report._measure import figures_of
from skfairfr.report._records import HIDDEN, Figure
from skfairfr.report.sections._cells import (
    concluded,
    few_of,
    level_in_percent,
    row_of_group,
)
from skfairfr.utils._errors import invalid
from skfairfr.utils._validation import check_level

NAMES = {"min_dcf": "minDCF", "dcf": "DCF", "min_cllr": "minCllr", "cllr": "Cllr"}
CAPTION = (
    "Likelihood ratios of each group as its scores state them and as they are observed, natural "
    "logarithms in bins of scores, with intervals that are valid for all bins together. On the "
    "dotted line both are equal."
)
MOST = f" The {MAX_CURVES} groups that deviate most are shown."


# Of a Comparison, what a CostChange has.
COMPARED = (
    *("difference", "low", "high", "ratio", "ratio_low", "ratio_high", "p_value"),
    *("supported", "reason"),
)


@dataclass(frozen=True)
class Cost:
    """One cost of everyone, whose ``group`` is None, or of a group.

    Attributes
    ----------
    cost : {"min_dcf", "dcf", "min_cllr", "cllr"}
        Lower is better. "dcf" is that of decisions at the threshold of Bayes.
    p_target : float or None
        Prior of genuine pairs of a detection cost.
    group : label
    figure : Figure
    ratio : Figure or None
        That over the cost of the reference. None of everyone and of the reference.
    low_of_all : float
        Lower end that is valid for everyone and all groups at once, of limits.
    """

    cost: str
    p_target: float | None
    group: object
    figure: Figure
    ratio: Figure | None
    low_of_all: float = field(default=np.nan, metadata=HIDDEN)


@dataclass(frozen=True)
class CostChange:
    """One cost before and after, of everyone, whose ``attribute`` is None, or of a group.

    Attributes
    ----------
    system : str
        The one that is compared with the first.
    attribute : str or None
    group : label
    cost : {"min_dcf", "dcf", "min_cllr", "cllr"}
        Lower is better.
    p_target : float or None
        Prior of genuine pairs of a detection cost.
    before, after : float
    difference, low, high : float
        After minus before, and its interval for new people of the same population.
    ratio, ratio_low, ratio_high : float
        After over before.
    p_value : float
        p-value of no difference, unadjusted.
    supported : bool
    reason : str
        Why not.
    """

    system: str
    attribute: str | None
    group: object
    cost: str
    p_target: float | None
    before: float
    after: float
    difference: float
    low: float
    high: float
    ratio: float
    ratio_low: float
    ratio_high: float
    p_value: float
    supported: bool
    reason: str


def asked_of(p_target, llr, data):
    """Operating points of detection costs, (n_points,), and ``llr``. Raise without scores."""
    if data.decisions or data.terms is SEARCHES:
        name = "llr" if p_target is None else "p_target"
        raise invalid(name, None, "needs scores of comparisons;", "leave it out.")
    is_cosine = getattr(data, "similarity", None) == "cosine"
    if llr and (data.is_distance or is_cosine):
        what = "cosines" if is_cosine else "distances"
        problem = f"requires log-likelihood ratios, and the scores are {what};"
        raise invalid("llr", None, problem, "leave it out, or calibrate them first.")
    points = [] if p_target is None else check_level(p_target, "p_target").ravel()
    return np.array(points), llr


def _asked(p_target, llr):
    """Costs by name and operating point, and the options of SimilarityROC.estimate."""
    asked = []
    for p in p_target.tolist():
        options = {"p_target": p}
        asked.append(("min_dcf", p, {"rate": "min_dcf", **options}))
        if llr:
            asked.append(("dcf", p, {"rate": "dcf", "threshold": "bayes", **options}))
    if llr:
        asked += [(name, None, {"rate": name}) for name in ("min_cllr", "cllr")]
    return asked


def measure_changes(names, rocs, chosen, p_target, llr):
    """Changes of costs of every system against the first, a tuple of CostChange.

    Parameters
    ----------
    names : sequence of str
    rocs : sequence of SimilarityROC
        Fitted on the same images, or pairs, with the same seed.
    chosen : list of tuples of str
        Attributes, and combinations.
    p_target, llr
        See :func:`measure`.
    """
    found, later = [], zip(names[1:], rocs[1:], strict=True)
    for (name, roc), by in product(later, (None, *filter(None, chosen))):
        both = [one if by is None else one.by(by) for one in (roc, rocs[0])]
        groups = (None,) if by is None else both[0].groups_.tolist()
        attribute = None if by is None else " & ".join(by)
        for group, (cost, p, options) in product(groups, _asked(p_target, llr)):
            engines = [one._engine for one in both]
            question = engines[0].question(None, 0.0, "frr", group, None, "overall")
            asked = question, ScoreCost.of(**options)
            after, before = (e.score_cost(*asked).value.item() for e in engines)
            change = compare_costs(*engines, *asked)
            about = name, attribute, group, cost, p, before, after
            found.append(CostChange(*about, *(getattr(change, of) for of in COMPARED)))
    return tuple(found)


def table_of_changes(found, columns, which):
    """A table of CostChanges. ``which`` names the system of one of them if there are several."""
    head = ["Group", *columns, "Difference", "Ratio", "p", "Conclusion"]
    caption = (
        "minDCF, DCF, minCllr and Cllr as in an audit. Lower is better. Both systems are measured "
        "in the same resamples of people. Each interval, p-value and conclusion is of one cost alone."
    )
    return Table(
        caption, head, [_row_of_change(change, which(change)) for change in found]
    )


def _row_of_change(change, system):
    verdict = NO_DIFFERENCE
    if change.low > 0 or change.high < 0:
        verdict = "higher" if change.low > 0 else "lower"
    elif np.isnan(change.low):
        verdict = "undetermined"
    few = "" if change.supported else TOO_FEW
    cells = [
        Cell(number(change.before)),
        Cell(number(change.after)),
        Cell(number(change.difference), numbers(change.low, change.high)),
        Cell(ratio(change.ratio), ratios(change.ratio_low, change.ratio_high), few=few),
        Cell(p_value(change.p_value)),
        concluded(verdict, verdict, change.supported),
    ]
    by = "" if change.attribute is None else f"by {printable(change.attribute)}"
    place = ", ".join(filter(None, (name_of_cost(change), by, system)))
    return row_of_group(change.group, cells, place)


def name_of_cost(row):
    """A cost with its operating point."""
    name = NAMES[row.cost]
    return name if row.p_target is None else f"{name}, p_target {row.p_target:g}"


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
    found, groups, level = [], (None, *roc.groups_.tolist()), roc.confidence_level
    # As of rates: two lower ends, each alone, miss as often as two-sided intervals.
    at_once = roc.by(confidence_level=1 - (1 - level) * min(1, 2 / len(groups)))
    for cost, p, options in _asked(p_target, llr):
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
        value, over = row.figure, row.ratio
        cells = [
            Cell(number(value.value), numbers(value.low, value.high), few_of(value))
        ]
        if over is not None:
            ends = ratios(over.low, over.high)
            cells.append(Cell(ratio(over.value), ends, few_of(over)))
        elif audit.reference is not None:
            cells.append(Cell(NONE))
        rows.append(row_of_group(row.group, cells, name_of_cost(row)))
    caption = (
        "minDCF is the lowest detection cost, at the best threshold of each group, divided by "
        "the cost of accepting or of rejecting everything, whichever is lower. Errors of both "
        "kinds cost the same. Lower is better. Each interval is unadjusted."
    )
    if any(row.cost == "cllr" for row in audit.costs):
        caption += (
            " DCF is the cost at the Bayes threshold, which is the same for all groups. Above "
            "1, accepting or rejecting everything would cost less. Cllr is the cost of the "
            "log-likelihood ratios, in bits, and minCllr the part that remains after the best "
            "calibration of each group."
        )
    head = ["Group", "Cost"]
    if audit.reference is not None:
        head.append(f"× {printable(audit.reference)}")
    return [Table(caption, head, rows), *_of_calibration(audit)]


def _of_calibration(audit):
    """Cost of calibration for everyone and each group, a list of one list of sentences."""
    found = {
        (row.cost, row.p_target, row.group): row.figure.value for row in audit.costs
    }
    sentences = []
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
        sentences.append(f"Lost by calibration, {name}: {'; '.join(parts)}.")
    return [sentences] if sentences else []


def in_short(audit):
    """Costs of the two groups that differ most, or of everyone, in sentences."""
    found = {}
    for row in audit.costs:
        found.setdefault((row.cost, row.p_target), {})[row.group] = row
    texts = []
    for (cost, p), rows in found.items():
        if cost != "min_cllr":
            start = "" if p is None else f"At p_target {p:g} "
            of_least = found.get((f"min_{cost}", p))
            texts.append(f"{start}{NAMES[cost]} is {_in_words(rows, of_least, audit)}.")
            if of_least and rows[None].figure.value > 2 * of_least[None].figure.value:
                texts.append(
                    f"Most of this {NAMES[cost]} of everyone is lost by calibration: are the "
                    "scores natural logarithms of likelihood ratios?"
                )
    return texts


def _in_words(rows, least, audit):
    """One cost of the two groups that differ most. Significant differences come first."""
    gaps = {
        group: (
            row.ratio.low > 1 or row.ratio.high < 1,
            abs(row.figure.value - rows[audit.reference].figure.value),
        )
        for group, row in rows.items()
        if row.ratio is not None and np.isfinite(row.ratio.value)
    }
    if not gaps:
        of_all = rows[None].figure
        ends = (
            f"{level_in_percent(audit.settings)} CI {numbers(of_all.low, of_all.high)}"
        )
        return f"{number(of_all.value)} ({ends}){marked(of_all)}"
    furthest = max(gaps, key=gaps.get)
    value = {group: row.figure.value for group, row in rows.items()}
    high, low = sorted((furthest, audit.reference), key=value.get, reverse=True)
    text = " and ".join(
        f"{number(one.value)} ({numbers(one.low, one.high)}) for {who(group)}"
        for group, one in ((group, rows[group].figure) for group in (high, low))
    )
    over = rows[furthest].ratio
    if not gaps[furthest][0]:
        return f"{text}; {NO_DIFFERENCE}{marked(over)}"
    if least is None:
        ends = over.value, over.low, over.high
        with np.errstate(divide="ignore"):  # of a lower end of 0
            times, *ends = ends if furthest == high else 1 / np.array(ends)[[0, 2, 1]]
        ends = f"{level_in_percent(audit.settings)} CI {ratios(*ends)}"
        return f"{text}, {ratio(times)} times as high ({ends}){marked(over)}"
    least = {group: row.figure.value for group, row in least.items()}
    return f"{text}{marked(over)}; {of_calibration(value, least, high, low)}"


def marked(figure):
    """That a figure rests on too few errors, after a comma, or empty if it does not."""
    return f", {TOO_FEW}" if few_of(figure) else ""


def of_calibration(values, least, high, low):
    """How much of the difference of a cost between two groups is calibration.

    Parameters
    ----------
    values, least : dict of label -> float
        Costs of the groups, and those after the best calibration of each group.
    high, low : label
        The group with the higher and with the lower cost.
    """
    rest = round(least[high] - least[low], 4)
    part = round(values[high] - values[low] - rest, 4)
    of_least = (
        f"{number(least[high])} for {who(high)} and {number(least[low])} for {who(low)}"
    )
    if part < 0:
        return (
            "poor calibration hides part of the difference: after the best calibration of "
            f"each group it would be {of_least}"
        )
    if rest < 0:
        return (
            f"calibration is more than the difference, since the minima are {of_least}"
        )
    return f"{number(part)} of the difference is calibration"


def reliability(audit):
    """The figure of stated and observed ratios, and what follows, or empty without ratios."""
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
