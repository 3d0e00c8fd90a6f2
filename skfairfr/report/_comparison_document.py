"""The document of a comparison of systems, harm first, from the records alone."""

import os

import numpy as np

from skfairfr.report._audit_document import (
    FEW,
    HOLLOW,
    about_rows,
    concluded,
    counted,
    disparities_table,
    disparity_rows,
    facts_of_data,
    glossary,
    groups_row,
    groups_table,
    lines_of,
    matrix_tables,
    rates_row,
    rates_table,
    read_first,
    settings_of,
    unsupported_of,
)
from skfairfr.report._figures import changes, det_of_systems, group_rates
from skfairfr.report._notes import (
    heading_of,
    nothing_concluded,
    place_of,
    short_place,
    title_of,
)
from skfairfr.utils._document import (
    Cell,
    Document,
    Facts,
    Figure,
    Row,
    Section,
    Table,
    Verdict,
)
from skfairfr.utils._words import (
    LONG_RATES,
    NO_DIFFERENCE,
    RATES,
    TOO_FEW,
    accepted,
    capital,
    count,
    listed,
    p_value,
    percent,
    plural,
    points,
    points_between,
    printable,
    ratio,
    ratios,
    signed,
)

# Of a system in a legend and in a row.
LONGEST = 28
# Parts of the document that a terminal shows.
IN_TEXT = ("verdict", "data", "system-*", "open", "notes", "method")
IN_NOTEBOOK = ("verdict", "system-*")


def document_of(found):
    """A SystemsComparison as a document."""
    first, *others = short_names(found.systems)
    opening = [_verdict(found), *_disparities(found)]
    attributes = dict.fromkeys(m.attribute for m in found.measured)
    terms = glossary(found.settings, ("Template", "FTA", "GFAR"))
    about = (
        "A disparity that became smaller because groups got worse, with no rate found "
        "to have got better."
    )
    terms.rows.append(("Levelling down", about))
    sections = [
        Section("verdict", "Verdict", opening),
        Section("data", "What was compared", [Facts(_facts(found))]),
        *(
            Section(
                f"system-{n}", f"{short} against {first}", _of_system(found, name, n)
            )
            for n, (short, name) in enumerate(
                zip(others, found.systems[1:], strict=True)
            )
        ),
        *(
            Section(
                f"by-{n}",
                f"Error rates by {name}",
                _of_attribute(found, of),
                f"By {name}",
            )
            for n, of in enumerate(attributes)
            for name in [printable(of)]
        ),
        Section("open", "What the data cannot tell", _unsupported(found)),
        Section(
            "notes", "Notes", [list(map(printable, found.notes))] * bool(found.notes)
        ),
        Section("method", "How it was computed", _method(found)),
        Section("limits", "Limits", [lines_of("comparison_limits")]),
        Section("glossary", "Glossary", [terms]),
    ]
    title = printable(found.about.get("title", "Comparison of verification systems"))
    subtitle = f"{', '.join(others)} against {first}"
    return Document(title, subtitle, [section for section in sections if section.parts])


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


def _verdict(found):
    none, why = nothing_concluded(found.settings)
    if none:
        return Verdict("undetermined", none, why)
    harm, improved = found.harm, found.improved
    better = f"{plural(len(improved), 'rate')} got better." if improved else ""
    verdicts = [change.verdict for change in found.changes]
    status, headline = "none", "No rate was found to have changed."
    if harm:
        status = "failed"
        headline = f"Harm: {plural(len(harm), 'rate')} got worse. {better}".strip()
    elif improved:
        status, headline = "passed", f"No harm was found. {better}"
    elif set(verdicts) <= {TOO_FEW, "undetermined"}:
        status, headline = "undetermined", "It cannot be told whether a rate changed."
    texts = [
        *read_first(len(found.notes), "under 'Notes'"),
        *(change_sentence(change, found) for change in (*harm, *improved)),
        *(_levelled(change, found) for change in found.levelling_down),
        *counted(verdicts, "rates"),
    ]
    return Verdict(status, headline, texts)


def change_sentence(change, found):
    """What became of a rate."""
    of, system = "everyone", _which(change, found)
    if change.attribute is not None:
        of = f"{printable(change.group)} ({printable(change.attribute)})"
    ends = signed(points_between(change.low, change.high)) or "no interval"
    return (
        f"{capital(change.verdict)}{system and f' with {system}'}: {RATES[change.rate]} of "
        f"{of} at {place_of(change, found)}, {percent(change.before)} before and "
        f"{percent(change.after)} after (difference {signed(points(change.difference))}, {ends})."
    )


def _which(change, found):
    """The system of a change where there are several that it may be of; else empty."""
    if len(found.systems) == 2:
        return ""
    return short_names(found.systems)[found.systems.index(change.system)]


def _levelled(change, found):
    return (
        f"Levelling down: the ratio of largest to smallest {RATES[change.rate]} by "
        f"{printable(change.attribute)} at {place_of(change, found)} fell from "
        f"{ratio(change.before)} to {ratio(change.after)}, and groups are worse off; no "
        "rate was found to have got better."
    )


def _disparities(found):
    """A table of what becomes of the disparities."""
    if not found.disparities:
        return []
    rows = [_of_disparity(change, found) for change in found.disparities]
    caption = (
        "Largest over smallest rate of the groups, 1 where all are alike; larger is less "
        "fair. Each interval, and the conclusion, is of one disparity alone. The last two "
        "columns show whether the FNMR of everyone rose."
    )
    head = ["Disparity", "Before", "After", "After / before", "Conclusion"]
    return [Table(caption, [*head, "FNMR before", "FNMR after"], rows)]


def _of_disparity(change, found):
    verdict = NO_DIFFERENCE
    if found.settings.get("withheld"):
        verdict = "undetermined"
    elif np.isnan(change.ratio_low + change.ratio_high):
        verdict = TOO_FEW
    elif change.ratio_low > 1 or change.ratio_high < 1:
        verdict = "worse" if change.ratio_low > 1 else "better"
    cells = [
        Cell(ratio(change.before)),
        Cell(ratio(change.after)),
        Cell(ratio(change.ratio), ratios(change.ratio_low, change.ratio_high)),
        concluded(verdict, verdict + ", levelling down" * change.levelling_down),
        Cell(percent(change.frr_before)),
        Cell(percent(change.frr_after)),
    ]
    name = f"{RATES[change.rate]} by {printable(change.attribute)}"
    place = f"at {place_of(change, found)}", _which(change, found)
    return Row(name, cells, ", ".join(filter(None, place)))


def _facts(found):
    rows = [*about_rows(found), ("First system", printable(found.systems[0]))]
    rows += [("Compared with it", printable(name)) for name in found.systems[1:]]
    rows += [
        ("People in all systems", count(found.n_people)),
        (f"{capital(found.unit)} in all systems", count(found.n_rows)),
    ]
    if found.measured:
        attributes = dict.fromkeys(printable(m.attribute) for m in found.measured)
        rows += facts_of_data(found.measured[0].groups[0], attributes)[-3:]
        rows.append(("Operating points", _thresholds(found)))
    for name, n in zip(found.systems, found.left_out, strict=True):
        if n:
            about = f"{count(n)} {found.unit} that another system lacks"
            rows.append((f"Left out of {printable(name)}", about))
    for name, digests in found.settings.get("sha256", {}).items():
        for file, digest in digests.items():
            rows.append((f"SHA-256 of {printable(file)} ({printable(name)})", digest))
    return rows


def _thresholds(found):
    """The operating point of every level, and the threshold of each system there."""
    names, texts = short_names(found.systems), []
    for levels in zip(*(m.levels for m in found.measured[: len(names)]), strict=True):
        text = title_of(levels[0], found)
        if found.settings["threshold"] is None:
            own = (
                f"{name}: {accepted(level.threshold, found.settings)}"
                for name, level in zip(names, levels, strict=True)
            )
            text = f"{heading_of(levels[0], found)} ({', '.join(own)})"
        texts.append(text)
    return "; ".join(texts)


# ---- a system ------------------------------------------------------------------------


def _of_system(found, name, number):
    """What became of every rate under one system."""
    own = [change for change in found.changes if change.system == name]
    names = {(c.far, c.threshold): short_place(c, found) for c in own}
    by_rate = {rate: [c for c in own if c.rate == rate] for rate in RATES}
    caption = (
        "Each rate after, divided by the same rate before, with paired intervals: right of "
        "1 is worse. An arrow means that the interval continues beyond the frame. Thick "
        "lines are rates that got worse (red) or better (green) by tests that hold for all "
        "changes together. Each interval stands alone, so that a thin one may exclude 1."
    )

    def draw():
        return [changes(of, rate, names) for rate, of in by_rate.items() if of]

    parts = [Figure(caption, draw)]
    for n, key in enumerate(names):
        place = place_of(next(c for c in own if (c.far, c.threshold) == key), found)
        rows = {
            rate: [_row(c) for c in of if (c.far, c.threshold) == key]
            for rate, of in by_rate.items()
        }
        tables = [_table(of, rate, place) for rate, of in rows.items() if of]
        parts.append(Section(f"system-{number}-{n}", f"At {place}", tables))
    return parts


def _row(change):
    everyone = change.attribute is None
    difference = signed(points(change.difference))
    cells = [
        Cell(percent(change.before)),
        Cell(percent(change.after)),
        Cell(difference, signed(points_between(change.low, change.high))),
        Cell(ratio(change.ratio), ratios(change.ratio_low, change.ratio_high)),
        Cell(p_value(change.p_value)),
        Cell(p_value(change.p_adjusted)),
        concluded(change.verdict, change.verdict),
    ]
    if everyone:
        return Row("Everyone", cells, everyone=True)
    return Row(printable(change.group), cells, f"by {printable(change.attribute)}")


def _table(rows, rate, place):
    head = ["Group", "Before", "After", "Difference, alone", "After / before, alone"]
    head += ["p, alone", "Adjusted p", "Conclusion"]
    caption = (
        f"{capital(LONG_RATES[rate])} ({RATES[rate]}) at {place}; lower is better. "
        "Differences are in percentage points."
    )
    return Table(caption, head, rows)


# ---- every system by one attribute ---------------------------------------------------


def _of_attribute(found, attribute):
    """Figures and tables of all systems by one attribute, as of audits of each."""
    systems = [m for m in found.measured if m.attribute == attribute]
    names = short_names(found.systems)
    parts = [
        "Each system as an audit of it shows it, with intervals that are not paired."
    ]
    for n, levels in enumerate(zip(*(m.levels for m in systems), strict=True)):
        # Rows of all systems stand beside each other.
        rates = zip(
            *(
                [
                    rates_row(own, *of_group, name)
                    for of_group in zip(own.rates, system.groups, strict=True)
                ]
                for own, system, name in zip(levels, systems, names, strict=True)
            ),
            strict=True,
        )
        rows = zip(
            *(
                disparity_rows(own, found.settings, name)
                for own, name in zip(levels, names, strict=True)
            ),
            strict=True,
        )
        about = f"by {printable(attribute)} at {place_of(levels[0], found)}"
        abouts = [f"{about}, {name}" for name in names]
        tables = [
            _figure(found, levels, names),
            rates_table([row for of_all in rates for row in of_all], found.settings),
            disparities_table([row for of_all in rows for row in of_all]),
            *matrix_tables([level.matrix for level in levels], abouts),
        ]
        parts.append(Section(f"rates-{n}", heading_of(levels[0], found), tables))
    title = "Detection error tradeoff (DET) by group"
    parts.append(Section("rates-det", title, [_det(systems, names)]))
    rows = [
        groups_row(row, name)
        for of_group in zip(*(system.groups for system in systems), strict=True)
        for row, name in zip(of_group, names, strict=True)
    ]
    return [*parts, Section("rates-groups", "Groups", [groups_table(rows)])]


def _figure(found, levels, names):
    confidence = found.settings["confidence_level"]
    caption = (
        f"Both error rates of every group under {listed(names)}; further right is worse. "
        f"Bars are {100 * confidence:g} % intervals of each rate on its own: whether two "
        f"systems differ is for the paired intervals above. {HOLLOW}"
    )
    return Figure(caption, lambda: group_rates(levels, names, None, confidence))


def _det(systems, names):
    caption = (
        "Both rates of each group under each system, as its one threshold for "
        "everybody moves; nearer to the lower left is better. Points mark the operating "
        "points. Rates of zero have no place on these axes."
    )
    curves, levels = [s.curves for s in systems], [s.levels for s in systems]
    return Figure(caption, lambda: det_of_systems(curves, levels, names))


# ---- what is open, how, and what not -------------------------------------------------


def _unsupported(found):
    """What rests on too few errors of any system, as parts of a section."""
    parts = []
    for place, name in enumerate(found.systems):
        own = [m for m in found.measured if m.system == name]
        texts = list(dict.fromkeys(t for m in own for t in unsupported_of(m, found)))
        if texts:
            parts.append(Section(f"open-{place}", printable(name), [texts]))
    return [FEW, *parts] if parts else []


def _method(found):
    settings = found.settings
    alpha = 100 * (1 - settings["confidence_level"])
    own = "Each system meets a level of the FMR at a threshold of its own."
    if settings["threshold"] is not None:
        own = "All systems have the threshold that was given."
    texts = [
        "All systems are compared with the first, on the same people and the same "
        f"{found.unit}. {own}",
        f"Intervals are paired, at {100 - alpha:g} %, and each stands on its own: what "
        "varies for both systems alike cancels. They are about other people of the same "
        "population.",
        "Conclusions about rates come from adjusted p-values (Holm): if nothing changed, "
        f"about {alpha:g} % of such comparisons or fewer would name a change. Disparities "
        "are not among these tests.",
    ]
    return [texts, settings_of(settings)]
