"""Changes of rates and disparities between systems: sentences, tables and figures."""

import math
import os

import numpy as np

from skfairfr._text._document import Cell, Figure, Row, Section, Table
from skfairfr._text._words import (
    NO_DIFFERENCE,
    RATES,
    TOO_FEW,
    capital,
    listed,
    number,
    p_value,
    percent,
    points,
    points_between,
    printable,
    ratio,
    ratios,
    signed,
    terms_of,
    who,
)
from skfairfr.report._figures import changes
from skfairfr.report._notes import at_place, short_place
from skfairfr.report.sections._cells import concluded, level_in_percent, row_of_group
from skfairfr.report.sections._costs import name_of_cost

# Of a system in a legend and in a row.
LONGEST = 28


def short_names(systems):
    """Different names that fit a legend: of paths, the files if these differ.

    Parameters
    ----------
    systems : sequence of str

    Returns
    -------
    names : list of str
    """
    names = [os.path.basename(name) for name in systems]
    if not all(names) or len(set(names)) < len(names):
        names = list(systems)
    shown = [
        name
        if len(name) <= LONGEST
        else f"{name[:12]}\N{HORIZONTAL ELLIPSIS}{name[-15:]}"
        for name in map(printable, names)
    ]
    if len(set(shown)) < len(shown):
        shown = [f"{place}: {name}" for place, name in enumerate(shown, 1)]
    return shown


def is_gate(found):
    """Whether rates that are higher count as harm."""
    return found.fail_on_harm or "baseline" in found.settings


def largest_first(changes, found):
    """Changes by their factor up or down, harm first if it counts, few errors last."""

    def order(change):
        few = not is_supported(change, found)
        return is_gate(found) and change.verdict != "higher", few, -_size(change)

    return sorted(changes, key=order)


def largest_cost_change(found):
    """The cost of a group that rises by the largest factor, or falls least. A list."""
    known = [c for c in found.costs if not np.isnan(c.ratio)]
    if not known:
        return []
    most = max(known, key=lambda c: c.ratio)
    by = "" if most.attribute is None else f" ({printable(most.attribute)})"
    few = "" if most.supported else f", {TOO_FEW}"
    ends = ratios(most.ratio_low, most.ratio_high)
    ends = f"{level_in_percent(found.settings)} CI {ends}" if ends else "no interval"
    return [
        f"Most increased: {name_of_cost(most)}, of {who(most.group)}{by}, {number(most.after)} "
        f"with {printable(most.system)} instead of {number(most.before)} ({ratio(most.ratio)} "
        f"times, {ends}{few})."
    ]


def largest_change(found):
    """The change of the largest factor in a sentence, in a list, or empty of none.

    One with enough errors, if there is any.
    """
    known = [change for change in found.changes if _size(change) >= 0]
    largest = sorted(known, key=lambda c: (is_supported(c, found), _size(c)))[-1:]
    return [change_sentence(change, found, "largest change") for change in largest]


def _size(change):
    """Logarithm of the factor of a change up or down. Below all others if it is undefined.

    The factor from or to a rate of 0 is the end of its interval that is nearer to 1.
    """
    factor = change.ratio
    if factor in (0, math.inf):
        factor = max(change.ratio_low, 1.0) if factor else min(change.ratio_high, 1.0)
    return abs(math.log(factor)) if 0 < factor < math.inf else -1.0


def is_lost(change):
    """Whether a rate is not compared because a system lacks the pairs."""
    return change.verdict == "undetermined" and math.isnan(change.before)


def change_sentence(change, found, start=None):
    """A rate of both systems, their difference and its interval in a sentence.

    ``start`` takes the place of the conclusion, which follows if the interval excludes 0.
    """
    if is_lost(change):
        return change.reason
    of = "everyone"
    if change.attribute is not None:
        of = f"{printable(change.group)} ({printable(change.attribute)})"
    ends = signed(points_between(change.low, change.high))
    ends = f"{level_in_percent(found.settings)} CI {ends}" if ends else "no interval"
    times = f"{ratio(change.ratio)} times, " if 0 < change.ratio < math.inf else ""
    few = systems_with_few_errors(change, found)
    few = f", {TOO_FEW} with {listed(few)}" if few else ""
    few += f", {_conclusion(change, found)}" * bool(start and _excludes_0(change))
    system = short_names(found.systems)[found.systems.index(change.system)]
    return (
        f"{capital(start or _conclusion(change, found))} with {system}: {rate(change, found)} of "
        f"{of}{_at(change, found)}, {percent(change.after)} instead of {percent(change.before)} "
        f"({times}difference {signed(points(change.difference))}, {ends}){few}."
    )


def _excludes_0(change):
    return change.low > 0 or change.high < 0


def _conclusion(change, found):
    """The verdict in words, and why it is none if the interval alone would be one."""
    if change.verdict != NO_DIFFERENCE or not _excludes_0(change):
        return change.verdict
    tested = sum(math.isfinite(one.p_adjusted) for one in found.changes)
    return f"{NO_DIFFERENCE} among all {tested} changes"


def _at(change, found):
    """The operating point after a space, or empty of decisions."""
    place = at_place(change, found)
    return place and f" {place}"


def rate(change, found):
    return terms_of(found.settings)[change.rate].name


def systems_with_few_errors(change, found):
    """Names of those of the two systems that have too few errors for a rate."""
    named = dict(zip(found.systems, short_names(found.systems), strict=True))
    few = {  # everyone is in the levels of every attribute
        named[system]: None
        for system, level in _levels_of(change, found)
        for row in level.rates
        if row.group == change.group and not getattr(row, change.rate).supported
    }
    return [*few]


def is_supported(change, found):
    return not systems_with_few_errors(change, found)


def _levels_of(change, found):
    """Pairs of a system and its Level at the operating point of a change, of both systems."""
    return [
        (one.system, level)
        for one in found.measured
        if one.system in (found.systems[0], change.system)
        and change.attribute in (None, one.attribute)
        for level in one.levels
        if level.far == change.far
        and (
            change.threshold in (None, level.threshold)
            or "threshold_of_each" in found.settings  # one level
        )
    ]


def which(change, found):
    """The system of a change if there are several that it may be of, else empty."""
    if len(found.systems) == 2:
        return ""
    return short_names(found.systems)[found.systems.index(change.system)]


def levelled(change, found):
    return (
        f"Levelling down: the ratio of largest to smallest {rate(change, found)} by "
        f"{printable(change.attribute)}{_at(change, found)} fell from "
        f"{ratio(change.before)} to {ratio(change.after)}, because rates of groups are "
        "higher. No rate is significantly lower."
    )


def disparity_changes(found, in_short=False):
    """The disparities of both systems in a table, the largest change first.

    Unless ``in_short``, with the error rate of everyone.
    """
    by_size = sorted(found.disparities, key=_size, reverse=True)
    rows = [_disparity_change(change, found, in_short) for change in by_size]
    caption = (
        "Largest over smallest rate of the groups, 1 if all are equal. Larger: rates differ more. "
        "Each interval, and the conclusion, is of one disparity alone."
    )
    head = ["Disparity", *pair_of_names(found), "Ratio", "Conclusion"]
    has_frr = any(
        change.rate == "frr" for change in found.changes
    )  # else of impostor pairs
    if has_frr and not in_short:
        rate = terms_of(found.settings).frr.name
        head += [f"{rate} of everyone, {name}" for name in pair_of_names(found)]
    return Table(caption, head, rows)


def pair_of_names(found):
    """Names of the two columns of a comparison."""
    first, *others = short_names(found.systems)
    return first, others[0] if len(others) == 1 else "other system"


def _disparity_change(change, found, in_short):
    point = change.system, change.far, change.threshold
    at_point = [
        c
        for c in found.changes
        if (c.system, c.far, c.threshold) == point
        and (c.rate == change.rate or not is_lost(c))
    ]
    figures = [
        getattr(measured, change.rate)
        for _, level in _levels_of(change, found)
        for measured in level.disparities
        if (measured.how, measured.operating_point) == ("max_min", "overall")
    ]
    verdict = NO_DIFFERENCE
    if any(c.verdict == "undetermined" for c in at_point):
        verdict = "undetermined"
    elif (
        np.isnan(change.ratio_low + change.ratio_high)
        or any(c.reason for c in at_point)
        or not all(figure.supported for figure in figures)
    ):  # with few errors an interval shows little
        verdict = TOO_FEW
    elif change.ratio_low > 1 or change.ratio_high < 1:
        verdict = "higher" if change.ratio_low > 1 else "lower"
    of_both = Cell(ratio(change.ratio), ratios(change.ratio_low, change.ratio_high))
    if math.isinf(change.before) or math.isinf(change.after):
        of_both = Cell("none: a group has no error")
    cells = [
        Cell(ratio(change.before)),
        Cell(ratio(change.after)),
        of_both,
        concluded(verdict, verdict + ", levelling down" * change.levelling_down),
    ]
    cost = () if in_short else (change.frr_before, change.frr_after)
    cells += [Cell(percent(frr)) for frr in cost if not np.isnan(frr)]
    name = f"{rate(change, found)} by {printable(change.attribute)}"
    place = at_place(change, found), which(change, found)
    return Row(name, cells, ", ".join(filter(None, place)))


def of_system(found, name, number):
    """Change of every rate under one system, the largest change first."""
    own = _by_size(found, name)
    parts = [] if name == of_headline(found) else [figure_of_changes(found, name)]
    for n, key in enumerate(_places(found, own)):
        at_point = [c for c in own if (c.far, c.threshold) == key]
        title = capital(at_place(at_point[0], found)) or "Rates"
        rates = [rate for rate in RATES if any(c.rate == rate for c in own)]
        tables = [_table_of_changes(at_point, rate, found) for rate in rates]
        parts.append(Section(f"system-{number}-{n}", title, tables))
    return parts


def _by_size(found, name):
    """Changes of a system: those of everyone, then the largest."""
    own = [change for change in found.changes if change.system == name]
    return sorted(own, key=lambda c: (c.attribute is not None, -_size(c)))


def _places(found, changes):
    """(level, threshold) of each operating point in the order of the record, and its name."""
    first = [c for c in found.changes if c.system == changes[0].system]
    return {(c.far, c.threshold): short_place(c, found) for c in first}


def of_headline(found):
    """The system of the headline, whose figure is on the first screen."""
    named = (*found.harm, *found.improved) or found.changes
    return largest_first(named, found)[0].system


def figure_of_changes(found, name):
    """Ratios of every rate with a system to that with the first."""
    own, terms = _by_size(found, name), terms_of(found.settings)
    few = [change for change in own if not is_supported(change, found)]
    names_of = dict(zip(found.systems, short_names(found.systems), strict=True))
    first, second = names_of[found.systems[0]], names_of[name]
    caption = (
        f"Each rate with {second} over that with {first}, with "
        f"{level_in_percent(found.settings)} CI of each alone, paired by person. An arrow "
        "means that the interval continues beyond the frame. Red and green differ "
        "significantly among all rates together (Holm). A grey interval may exclude "
        f"1. Hollow: {TOO_FEW}."
    )

    def draw():
        places = _places(found, own)
        by_rate = {rate: [c for c in own if c.rate == rate] for rate in RATES}
        return [
            changes(of, terms[rate], places, few) for rate, of in by_rate.items() if of
        ]

    return Figure(caption, draw, f"changes-{found.systems.index(name) - 1}")


def _row_of_change(change, found):
    supported = is_supported(change, found)
    few = "" if supported or math.isnan(change.before + change.after) else TOO_FEW
    # The caption states that these are points.
    difference, ends = (
        signed(text).replace("\N{NO-BREAK SPACE}points", "")
        for text in (points(change.difference), points_between(change.low, change.high))
    )
    cells = [
        Cell(percent(change.before)),
        Cell(percent(change.after)),
        Cell(difference, ends),
        Cell(ratio(change.ratio), ratios(change.ratio_low, change.ratio_high), few=few),
        Cell(p_value(change.p_value)),
        Cell(p_value(change.p_adjusted)),
        concluded(change.verdict, _conclusion(change, found), supported),
    ]
    if change.attribute is None:
        return row_of_group(None, cells)
    return row_of_group(change.group, cells, f"by {printable(change.attribute)}")


def _table_of_changes(at_point, rate, found):
    rows = [_row_of_change(change, found) for change in at_point if change.rate == rate]
    ci = level_in_percent(found.settings)
    head = ["Group", *pair_of_names(found), f"Difference ({ci} CI)", f"Ratio ({ci} CI)"]
    head += ["p, unadjusted", "p, adjusted", "Conclusion"]
    kind = terms_of(found.settings)[rate]
    caption = (
        f"{capital(kind.rate)} ({kind.name}){_at(at_point[0], found)}. Lower is better. "
        "Differences are in percentage points."
    )
    return Table(caption, head, rows)
