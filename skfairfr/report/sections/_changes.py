"""The document of a comparison of systems: what is higher and lower with each of them."""

import math
import os
from functools import partial

import numpy as np

from skfairfr._text._document import (
    Cell,
    Document,
    Facts,
    Figure,
    Row,
    Section,
    Table,
    Verdict,
    shortened,
)
from skfairfr._text._words import (
    NO_DIFFERENCE,
    RATES,
    TOO_FEW,
    accepted,
    by_attribute,
    capital,
    count,
    listed,
    number,
    p_value,
    percent,
    plural,
    points,
    points_between,
    printable,
    ratio,
    ratios,
    signed,
    terms_of,
    who,
)
from skfairfr.report._figures import changes, group_rates
from skfairfr.report._notes import (
    at_place,
    heading_of,
    lack_of_rows,
    nothing_concluded,
    place_of,
    rates_in,
    short_place,
    title_of,
)
from skfairfr.report.sections._answer import without_groups
from skfairfr.report.sections._audit import called, subtitle_of
from skfairfr.report.sections._cells import (
    READ_NOTES,
    concluded,
    level_in_percent,
    lines_of,
    row_of_group,
)
from skfairfr.report.sections._costs import name_of_cost, table_of_changes
from skfairfr.report.sections._curves import TITLE, curves_of_systems
from skfairfr.report.sections._gallery import (
    AS_GIVEN,
    facts_of_gallery,
    how_searched,
)
from skfairfr.report.sections._indices import disparities
from skfairfr.report.sections._matrix import matrices
from skfairfr.report.sections._method import (
    FAILURES_TOLD,
    IN_A_GAP,
    OF_ATTEMPTS,
    OF_DECISIONS,
    OF_GROUPS,
    glossary,
    reproduce,
)
from skfairfr.report.sections._open import FEW, unsupported
from skfairfr.report.sections._rates import counts
from skfairfr.report.sections._tested import NO_GROUPS, facts_of_data, sizes

# Of a system in a legend and in a row.
LONGEST = 28
# Parts of the document that a notebook shows, and changes that a terminal tells.
IN_NOTEBOOK = ("verdict", "system-*")
MOST_TOLD, MOST_ROWS = 4, 2
LOGS_COMPARED = (
    "All logs are compared with the first. People in both are paired; those in one alone add "
    "to the variance of its rates. Decisions are those that the system made."
)


def comparison_document(found, date=None):
    """A SystemsComparison as a document, of a day where one is given."""
    first, *others = short_names(found.systems)
    opening = [verdict_of_changes(found), _disparity_changes(found)]
    opening.append(_figure_of_changes(found, _of_headline(found)))
    without, only = ["Template", "FTA", "GFAR", *OF_ATTEMPTS], ""
    if "attempts" in found.settings:
        without, only = [], (f"{terms_of(found.settings).frr.name},", *OF_DECISIONS)
    if not found.disparities:
        without += [term for term in OF_GROUPS if term != "Holm"]
    terms = glossary(found.settings, tuple(without), only)
    systems = [
        Section(f"system-{n}", f"{short} against {first}", _of_system(found, name, n))
        for n, (short, name) in enumerate(zip(others, found.systems[1:], strict=True))
    ]
    attributes = dict.fromkeys(m.attribute for m in found.measured)
    by = [
        Section(f"by-{n}", f"Error rates{by_attribute(of)}", _of_attribute(found, of))
        for n, of in enumerate(attributes)
    ]
    as_given = [AS_GIVEN] if "gallery" in found.settings else []
    sections = [
        Section("verdict", "Result", opening),
        Section("data", "What was compared", [Facts(_facts_of_systems(found))]),
        *systems,
        *_costs(found),
        *by,
        Section("open", "What the data do not show", _few_errors(found)),
        Section("notes", "Notes", [[*map(printable, found.notes)]]),
        Section("method", "How it was computed", _method_of_comparison(found)),
        Section("limits", "Limits", [[*as_given, *lines_of("comparison_limits")]]),
        Section("glossary", "Glossary", [Section("words", "Words", [terms], True)]),
    ]
    return _finished(found, sections, date)


def summary_document(found, date=None):
    """The result and the largest changes of disparities, for a terminal."""
    table = shortened(_disparity_changes(found), MOST_ROWS)
    most = MOST_TOLD // 2 if found.costs else MOST_TOLD  # costs have sentences too
    opening = [verdict_of_changes(found, most), table]
    costs = Section("costs", "Costs and calibration", [_largest_cost_change(found)])
    sections = [Section("verdict", "Result", opening), costs]
    return _finished(found, sections, date)


def _costs(found):
    """The section of changes of costs, in a list; empty if they were not asked for."""
    if not found.costs:
        return []
    which = partial(_which, found=found)
    table = table_of_changes(found.costs, _pair_of_names(found), which)
    return [Section("costs", "Costs and calibration", [table])]


def _finished(found, sections, date):
    first, *others = short_names(found.systems)
    what = f"{terms_of(found.settings).task} systems"
    what = "logs of decisions" if "attempts" in found.settings else what
    title = called(found, f"Comparison of {what}")
    subtitle = subtitle_of(found, f"{', '.join(others)} against {first}", date)
    return Document(title, subtitle, sections)


def short_names(systems):
    """Names that fit a legend, no two alike: of paths, the files if these differ.

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


# ---- the first screen ----------------------------------------------------------------


def verdict_of_changes(found, most=None):
    """The largest change in a sentence, how many there are, and the ``most`` largest."""
    if nothing := nothing_concluded(found.settings):
        return Verdict("undetermined", *nothing)
    harm, improved = found.harm, found.improved
    verdicts = [change.verdict for change in found.changes]
    status, headline, texts = "none", "No rate differs significantly.", []
    is_gate = _is_gate(found)
    by_size = _largest_first((*harm, *improved), found)
    lost = (change.reason for change in found.changes if _is_lost(change))
    not_compared = [*dict.fromkeys(lost)]
    unknown = found.is_unknown or set(verdicts) <= {TOO_FEW, "undetermined"}
    if by_size:
        headline, *texts = (change_sentence(change, found) for change in by_size)
        texts = [_counted(found), *texts[:most]] if texts else []
        if (more := len(by_size) - max(len(texts), 1)) > 0:
            texts.append(f"{plural(more, 'further difference')}.")
        certain = {c.verdict for c in by_size if _is_supported(c, found)}
        if "higher" in certain:
            status = "failed"
        elif not harm and "lower" in certain:
            status = "passed"
    else:
        texts = _largest_change(found)
        if unknown:
            headline = "The data do not show whether a rate differs."
        if unknown and not_compared and NO_DIFFERENCE in verdicts:
            headline = f"{not_compared.pop(0)} No other rate differs significantly."
    label = ""
    if is_gate:
        label = "No harm found"
        if harm:
            status = "failed"
            label = f"Harm found: {plural(len(harm), 'rate is', 'rates are')} higher"
    if unknown:
        status, label = "undetermined", "Undetermined"
    lacking = lack_of_rows(found.systems, found.left_out, found.n_rows, found.unit)
    if (more := len(not_compared) - MOST_TOLD) > 0:
        further = f"{plural(more, 'further group')} not compared: see the notes."
        not_compared = [*not_compared[:MOST_TOLD], further]
    texts = [*not_compared, *lacking, *texts]
    texts += [_levelled(change, found) for change in found.levelling_down[:most]]
    if found.unit == "attempts" and not found.n_people:
        texts.append("Nobody is in all logs, so a change may be one of people.")
    texts += _costs_of_everyone(found) + without_groups(found.measured)
    if found.notes:
        texts.append(READ_NOTES)
    return Verdict(status, headline, texts, label)


def _is_gate(found):
    """Whether rates that are higher count as harm."""
    return found.fail_on_harm or "baseline" in found.settings


def _largest_first(changes, found):
    """Changes by their size, harm first if it counts."""

    def order(change):
        return _is_gate(found) and change.verdict != "higher", -_size(change)

    return sorted(changes, key=order)


def _costs_of_everyone(found):
    """Costs of everyone that differ, each alone, a list of a sentence: none counts as harm."""
    parts = [
        f"{name_of_cost(change)}: {number(change.after)} with {printable(change.system)} instead "
        f"of {number(change.before)}"
        for change in found.costs
        if change.attribute is None and not change.ratio_low <= 1 <= change.ratio_high
        if change.supported
    ]
    if not parts:
        return []
    return [
        f"Costs of everyone differ, and are in no count of rates. {'; '.join(parts)}."
    ]


def _largest_cost_change(found):
    """The cost of a group that rises by the largest factor, or falls least; a list."""
    known = [c for c in found.costs if not np.isnan(c.ratio)]
    if not known:
        return []
    most = max(known, key=lambda c: c.ratio)
    by = "" if most.attribute is None else f" ({printable(most.attribute)})"
    few = "" if most.supported else f", {TOO_FEW}"
    return [
        f"Most increased: {name_of_cost(most)}, of {who(most.group)}{by}, {number(most.after)} "
        f"with {printable(most.system)} instead of {number(most.before)} ({ratio(most.ratio)} "
        f"times, {level_in_percent(found.settings)} CI "
        f"{ratios(most.ratio_low, most.ratio_high)}{few})."
    ]


def _largest_change(found):
    """The change of the largest factor in a sentence, in a list; empty of none."""
    known = [change for change in found.changes if _size(change) >= 0]
    largest = sorted(known, key=_size)[-1:]
    return [change_sentence(change, found, "largest change") for change in largest]


def _size(change):
    """Logarithm of the factor of a change up or down. Below all others if it is undefined.

    The factor from or to a rate of 0 is the end of its interval that is nearer to 1.
    """
    factor = change.ratio
    if factor in (0, math.inf):
        factor = max(change.ratio_low, 1.0) if factor else min(change.ratio_high, 1.0)
    return abs(math.log(factor)) if 0 < factor < math.inf else -1.0


def _is_lost(change):
    """Whether a rate is not compared because a system lacks the pairs."""
    return change.verdict == "undetermined" and math.isnan(change.before)


def _counted(found):
    """How many rates are higher and lower than with the first system."""
    first, *others = short_names(found.systems)
    name = others[0] if len(others) == 1 else "other systems"
    counted = [
        f"{plural(len(of), 'rate')} {'is' if len(of) == 1 else 'are'} {word}"
        for of, word in ((found.harm, "higher"), (found.improved, "lower"))
        if of
    ]
    return f"With {name}, {listed(counted)} than with {first}."


def change_sentence(change, found, start=None):
    """A rate of both systems, their difference and its interval in a sentence.

    ``start`` takes the place of the conclusion, which follows if the interval excludes 0.
    """
    if _is_lost(change):
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
        f"{capital(start or _conclusion(change, found))} with {system}: {_rate(change, found)} of "
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
    """The operating point after a space; empty of decisions."""
    place = at_place(change, found)
    return place and f" {place}"


def _rate(change, found):
    return terms_of(found.settings)[change.rate].name


def systems_with_few_errors(change, found):
    """Names of those of the two systems that have too few errors for a rate."""
    return [
        short_names(found.systems)[found.systems.index(system)]
        for system, level in _levels_of(change, found)
        for row in level.rates
        if row.group == change.group and not getattr(row, change.rate).supported
    ]


def _is_supported(change, found):
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


def _which(change, found):
    """The system of a change where there are several that it may be of; else empty."""
    if len(found.systems) == 2:
        return ""
    return short_names(found.systems)[found.systems.index(change.system)]


def _levelled(change, found):
    return (
        f"Levelling down: the ratio of largest to smallest {_rate(change, found)} by "
        f"{printable(change.attribute)}{_at(change, found)} fell from "
        f"{ratio(change.before)} to {ratio(change.after)}, because rates of groups are "
        "higher; no rate is significantly lower."
    )


def _disparity_changes(found):
    """The disparities of both systems in a table, the largest change first."""
    by_size = sorted(found.disparities, key=_size, reverse=True)
    rows = [_disparity_change(change, found) for change in by_size]
    caption = (
        "Largest over smallest rate of the groups, 1 if all are equal; larger is less fair. "
        "Each interval, and the conclusion, is of one disparity alone."
    )
    head = ["Disparity", *_pair_of_names(found), "Ratio", "Conclusion"]
    if any(change.rate == "frr" for change in found.changes):  # else of impostor pairs
        rate = terms_of(found.settings).frr.name
        caption += f" The last two columns are the {rate} of everyone."
        head += [f"{rate}, {name}" for name in _pair_of_names(found)]
    return Table(caption, head, rows)


def _pair_of_names(found):
    """Names of the two columns of a comparison."""
    first, *others = short_names(found.systems)
    return first, others[0] if len(others) == 1 else "other system"


def _disparity_change(change, found):
    point = change.system, change.far, change.threshold
    at_point = [
        c
        for c in found.changes
        if (c.system, c.far, c.threshold) == point
        and (c.rate == change.rate or not _is_lost(c))
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
    ):  # with few errors an interval says little
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
    cost = change.frr_before, change.frr_after
    cells += [Cell(percent(frr)) for frr in cost if not np.isnan(frr)]
    name = f"{_rate(change, found)} by {printable(change.attribute)}"
    place = at_place(change, found), _which(change, found)
    return Row(name, cells, ", ".join(filter(None, place)))


def _facts_of_systems(found):
    rows = facts_of_gallery(found.settings)
    rows += [("First system", printable(found.systems[0]))]
    rows += [("Compared with it", printable(name)) for name in found.systems[1:]]
    attributes = dict.fromkeys(
        printable(m.attribute) or NO_GROUPS for m in found.measured
    )
    if "attempts" in found.settings:
        for name, own in found.settings["attempts"].items():
            told = f"{count(own['attempts'])}, of {count(own['people'])} people"
            rows.append((f"{capital(found.unit)} of {printable(name)}", told))
        rows.append(("People in all logs", count(found.n_people)))
        return [*rows, ("Attributes", "; ".join(attributes))]
    rows += [
        ("People in all systems", count(found.n_people)),
        (f"{capital(found.unit)} in all systems", count(found.n_rows)),
    ]
    if found.measured:
        everyone, terms = found.measured[0].groups[0], terms_of(found.settings)
        rows += facts_of_data(everyone, attributes, terms)[-3:]
        rows.append(("Operating points", _thresholds(found)))
    for name, n in zip(found.systems, found.left_out, strict=True):
        if n:
            others = " or ".join(printable(o) for o in found.systems if o != name)
            about = f"{count(n)} {found.unit} that {others} lacks"
            rows.append((f"Left out of {printable(name)}", about))
    return rows


def _thresholds(found):
    """The operating point of every level, and the threshold of each system there."""
    names, texts = short_names(found.systems), []
    for levels in zip(*(m.levels for m in found.measured[: len(names)]), strict=True):
        text = title_of(levels[0], found)
        if "threshold_of_each" in found.settings or levels[0].far is not None:
            own = (
                f"{name}: {accepted(level.threshold, found.settings)}"
                for name, level in zip(names, levels, strict=True)
            )
            text = f"{heading_of(levels[0], found)} ({', '.join(own)})"
        texts.append(text)
    return "; ".join(texts)


# ---- a system ------------------------------------------------------------------------


def _of_system(found, name, number):
    """What became of every rate under one system, the largest change first."""
    own = _by_size(found, name)
    parts = [] if name == _of_headline(found) else [_figure_of_changes(found, name)]
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


def _of_headline(found):
    """The system of the headline, whose figure is on the first screen."""
    named = (*found.harm, *found.improved) or found.changes
    return _largest_first(named, found)[0].system


def _figure_of_changes(found, name):
    """Ratios of every rate with a system to that with the first."""
    own, terms = _by_size(found, name), terms_of(found.settings)
    few = [change for change in own if not _is_supported(change, found)]
    names_of = dict(zip(found.systems, short_names(found.systems), strict=True))
    first, second = names_of[found.systems[0]], names_of[name]
    caption = (
        f"Each rate with {second} over that with {first}, with "
        f"{level_in_percent(found.settings)} CI of each alone, paired by person. An arrow "
        "means that the interval continues beyond the frame. Red and green differ "
        "significantly among all rates together (Holm); a grey interval may exclude "
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
    supported = _is_supported(change, found)
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
    head = [
        "Group",
        *_pair_of_names(found),
        f"Difference ({ci} CI)",
        f"Ratio ({ci} CI)",
    ]
    head += ["p, unadjusted", "p, adjusted", "Conclusion"]
    kind = terms_of(found.settings)[rate]
    caption = (
        f"{capital(kind.rate)} ({kind.name}){_at(at_point[0], found)}. Lower is better. "
        "Differences are in percentage points."
    )
    return Table(caption, head, rows)


# ---- every system by one attribute ---------------------------------------------------


def _of_attribute(found, attribute):
    """Figures and tables of all systems by one attribute, as of audits of each."""
    systems = [m for m in found.measured if m.attribute == attribute]
    names, terms = short_names(found.systems), terms_of(found.settings)
    parts = [
        "Each system as an audit of it shows it, with intervals that are not paired."
    ]
    by = f"{by_attribute(attribute)} at".strip()
    for n, levels in enumerate(zip(*(m.levels for m in systems), strict=True)):
        about = [f"{by} {place_of(levels[0], found)}, {name}" for name in names]
        everyone = levels[0].rates[0].far.value
        neutral = everyone if levels[0].far is None else levels[0].far
        tables = [
            counts(levels, systems, found.settings, names),
            disparities(levels, systems, found.settings, None, names),
            *matrices([level.matrix for level in levels], neutral, about, terms),
        ]
        shown = [_figure_of_systems(found, levels, names), *tables]
        parts.append(Section(f"rates-{n}", heading_of(levels[0], found), shown, True))
    title, det = ("Groups", TITLE) if attribute else ("Size", TITLE.split(" by ")[0])
    parts.append(Section("rates-det", det, [curves_of_systems(systems, names, terms)]))
    return [*parts, Section("rates-groups", title, [sizes(systems, terms, names)])]


def _figure_of_systems(found, levels, names):
    confidence, ci = (
        found.settings["confidence_level"],
        level_in_percent(found.settings),
    )
    rates, terms = rates_in(found.measured[0].groups), terms_of(found.settings)
    whose = "every group" if found.measured[0].attribute else "everyone"
    caption = (
        f"{'Both error rates' if len(rates) > 1 else terms[rates[0]].name} of {whose} under {listed(names)}; further right is worse. "
        f"Bars are {ci} CI of each rate on its own: whether two systems differ is for the "
        "paired intervals above."
    )
    rows = [level.rates for level in levels]
    return Figure(
        caption, lambda: group_rates(rows, names, None, confidence, terms, rates)
    )


# ---- what is open, how, and what not -------------------------------------------------


def _few_errors(found):
    """What rests on too few errors of any system, as parts of a section."""
    parts = []
    for place, name in enumerate(found.systems):
        own = [m for m in found.measured if m.system == name]
        texts = list(dict.fromkeys(t for m in own for t in unsupported(m, found)))
        parts.append(Section(f"open-{place}", printable(name), [texts]))
    return [FEW, *parts] if any(parts) else []


def _method_of_comparison(found):
    settings, of_logs = found.settings, "attempts" in found.settings
    alpha = 100 * (1 - settings["confidence_level"])
    name = terms_of(settings).far.name
    own = (
        f"Each system meets a level of the {name} at a threshold of its own. {IN_A_GAP}"
    )
    if settings["threshold"] is not None:
        own = "All systems have the threshold that was given."
        if "threshold_of_each" in settings:
            own = "Each system has the threshold that was given for it."
    compared = (
        "All systems are compared with the first, on the same people and the same "
        f"{found.unit}. {own}"
    )
    if of_logs:
        told = FAILURES_TOLD.get(settings.get("failures"), "")
        compared = f"{LOGS_COMPARED} {told}".rstrip()
    texts = [
        *how_searched(settings),
        compared,
        f"Intervals are paired, at {100 - alpha:g} %, and each is unadjusted: what "
        "varies for both systems cancels. They are about new people from the same "
        "population.",
        "Conclusions about rates come from adjusted p-values (Holm): if nothing changed, "
        f"about {alpha:g} % of such comparisons or fewer would name a change."
        + " Disparities are not among these tests."
        * bool(found.disparities),
    ]
    digests = {
        f"{file} ({name})": digest
        for name, of_files in settings.get("sha256", {}).items()
        for file, digest in of_files.items()
    }
    return [texts, reproduce(settings, found.about, digests)]
