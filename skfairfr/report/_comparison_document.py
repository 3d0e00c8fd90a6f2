"""The document of a comparison of systems, harm first, from the records alone."""

import os
from types import SimpleNamespace

import numpy as np

from skfairfr.report._audit_document import (
    FEW,
    HOLLOW,
    disparities_table,
    disparity_rows,
    groups_row,
    groups_table,
    matrix_table,
    rates_row,
    rates_table,
    shades_of,
    unsupported_of,
)
from skfairfr.report._common_parts import (
    about_rows,
    facts_of_data,
    glossary,
    lines_of,
    place_of,
    settings_of,
    short_place,
    title_of,
    withheld,
)
from skfairfr.report._page_figures import changes, det_of_systems, group_rates
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
    RATES,
    TOO_FEW,
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
    sections = [Section("verdict", "Verdict", [_verdict(found), *_disparities(found)])]
    sections.append(Section("data", "What was compared", [Facts(_facts(found))]))
    for place, name in enumerate(found.systems[1:]):
        parts = _of_system(found, name, f"system-{place}")
        head = f"{others[place]} against {first}"
        sections.append(Section(f"system-{place}", head, parts))
    attributes = dict.fromkeys(m.attribute for m in found.measured)
    for place, attribute in enumerate(attributes):
        name, parts = printable(attribute), _of_attribute(found, attribute)
        head = f"Error rates by {name}"
        sections.append(Section(f"by-{place}", head, parts, f"By {name}"))
    notes = [[printable(note) for note in found.notes]] if found.notes else []
    unused = ("Template", "FTA", "GFAR")
    terms = glossary(found.settings, unused)
    about = (
        "A disparity that became smaller because groups got worse, with no rate found "
        "to have got better."
    )
    terms.rows.append(("Levelling down", about))
    sections += [
        Section("open", "What the data cannot tell", _unsupported(found)),
        Section("notes", "Notes", notes),
        Section("method", "How it was computed", _method(found)),
        Section("limits", "Limits", [lines_of("comparison_limits")]),
        Section("glossary", "Glossary", [terms]),
    ]
    subtitle = f"{', '.join(others)} against {first}"
    shown = [section for section in sections if section.parts]
    title = found.about.get("title", "Comparison of verification systems")
    return Document(printable(title), subtitle, shown)


def short_names(systems):
    """Names that fit a legend, no two alike: of paths, the files if these differ.

    Parameters
    ----------
    systems : sequence of str

    Returns
    -------
    names : list of str
    """
    files = [os.path.basename(name) for name in systems]
    names = files if all(files) and len(set(files)) == len(files) else list(systems)
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
    none, why = withheld(found.settings)
    if none:
        return Verdict("undetermined", none, [why])
    harm, improved = found.harm, found.improved
    better = f"{plural(len(improved), 'rate')} got better." if improved else ""
    status, headline = "none", "No rate was found to have changed."
    if harm:
        status = "failed"
        headline = f"Harm: {plural(len(harm), 'rate')} got worse. {better}".strip()
    elif improved:
        status, headline = "passed", f"No harm was found. {better}"
    elif all(c.verdict in (TOO_FEW, "undetermined") for c in found.changes):
        status, headline = "undetermined", "It cannot be told whether a rate changed."
    texts = [change_sentence(change, found) for change in (*harm, *improved)]
    texts += [_levelled(change, found) for change in found.levelling_down]
    for verdict, told in (
        (
            "no certain difference",
            "no certain difference, which is no evidence that there is none",
        ),
        (TOO_FEW, TOO_FEW),
        ("undetermined", "undetermined"),
    ):
        n = sum(change.verdict == verdict for change in found.changes)
        if n:
            texts.append(f"{plural(n, 'other rate')}: {told}.")
    if found.notes:
        texts.append(f"Read {plural(len(found.notes), 'note')} below.")
    return Verdict(status, headline, texts)


def change_sentence(change, found):
    """What became of a rate."""
    system = ""
    if len(found.systems) > 2:
        names = short_names(found.systems)
        system = f" with {names[found.systems.index(change.system)]}"
    ends = signed(points_between(change.low, change.high)) or "no interval"
    return (
        f"{capital(change.verdict)}{system}: {RATES[change.rate]} of {_who(change)} at "
        f"{place_of(change, found)}, {percent(change.before)} before and "
        f"{percent(change.after)} after (difference {signed(points(change.difference))}, {ends})."
    )


def _levelled(change, found):
    return (
        f"Levelling down: the ratio of largest to smallest {RATES[change.rate]} by "
        f"{printable(change.attribute)} at {place_of(change, found)} fell from "
        f"{ratio(change.before)} to {ratio(change.after)}, and groups are worse off; no "
        "rate was found to have got better."
    )


def _who(change):
    if change.attribute is None:
        return "everyone"
    return f"{printable(change.group)} ({printable(change.attribute)})"


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
    name = f"{RATES[change.rate]} by {printable(change.attribute)}"
    verdict = "no certain difference"
    if np.isnan(change.ratio_low + change.ratio_high) or found.settings.get("withheld"):
        verdict = "undetermined" if found.settings.get("withheld") else TOO_FEW
    elif change.ratio_low > 1 or change.ratio_high < 1:
        verdict = "worse" if change.ratio_low > 1 else "better"
    cells = [
        Cell(ratio(change.before)),
        Cell(ratio(change.after)),
        Cell(ratio(change.ratio), ratios(change.ratio_low, change.ratio_high)),
        _concluded(verdict, "levelling down" if change.levelling_down else ""),
        Cell(percent(change.frr_before)),
        Cell(percent(change.frr_after)),
    ]
    place = f"at {place_of(change, found)}"
    if len(found.systems) > 2:
        place += f", {short_names(found.systems)[found.systems.index(change.system)]}"
    return Row(name, cells, place)


def _concluded(verdict, more=""):
    """A conclusion in its colour."""
    word = verdict if verdict in ("worse", "better") else "undetermined"
    return Cell(verdict, more=more, word=word)


def _facts(found):
    rows = about_rows(found)
    rows.append(("First system", printable(found.systems[0])))
    rows += [("Compared with it", printable(name)) for name in found.systems[1:]]
    rows += [
        ("People in all systems", count(found.n_people)),
        (f"{capital(found.unit)} in all systems", count(found.n_rows)),
    ]
    if found.measured:
        everyone = found.measured[0].groups[0]
        attributes = dict.fromkeys(printable(m.attribute) for m in found.measured)
        rows += facts_of_data(everyone, attributes)[-3:]
        rows.append(("Operating points", _thresholds(found)))
    for name, n in zip(found.systems, found.left_out, strict=True):
        if n:
            about = f"{count(n)} {found.unit} that another system lacks"
            rows.append((f"Left out of {printable(name)}", about))
    for name, digests in found.settings.get("sha256", {}).items():
        for file, digest in digests.items():
            rows.append((f"SHA-256 of {printable(file)} ({printable(name)})", digest))
    rows.append(("Intervals", f"{100 * found.settings['confidence_level']:g} %"))
    return rows


def _thresholds(found):
    """The operating point of every level, and the threshold of each system there."""
    names = short_names(found.systems)
    texts = []
    for levels in zip(*(m.levels for m in found.measured[: len(names)]), strict=True):
        told = [title_of(level, found) for level in levels]
        text = told[0]
        if found.settings["threshold"] is None:
            place = capital(place_of(levels[0], found).removeprefix("an "))
            own = (f"{n}: {t.split(': ')[1]}" for n, t in zip(names, told, strict=True))
            text = f"{place} ({', '.join(own)})"
        texts.append(text)
    return "; ".join(texts)


# ---- a system ------------------------------------------------------------------------


def _of_system(found, name, prefix):
    """What became of every rate under one system."""
    own = [change for change in found.changes if change.system == name]
    names = {(c.far, c.threshold): short_place(c, found) for c in own}
    rates = [rate for rate in RATES if any(c.rate == rate for c in own)]
    caption = (
        "Each rate after, divided by the same rate before, with paired intervals: right of "
        "1 is worse. An arrow means that the interval continues beyond the frame. Thick "
        "lines are rates that got worse (red) or better (green) by tests that hold for all "
        "changes together. Each interval stands alone, so that a thin one may exclude 1."
    )

    def draw():
        return [changes([c for c in own if c.rate == r], r, names) for r in rates]

    parts = [Figure(caption, draw)]
    for n, key in enumerate(names):
        of_level = [c for c in own if (c.far, c.threshold) == key]
        place = place_of(of_level[0], found)
        tables = []
        for rate in rates:
            rows = [_row(change) for change in of_level if change.rate == rate]
            tables += [_table(rows, rate, place)] if rows else []
        parts.append(Section(f"{prefix}-{n}", f"At {place}", tables))
    return parts


def _row(change):
    name = "Everyone" if change.attribute is None else printable(change.group)
    place = "" if change.attribute is None else f"by {printable(change.attribute)}"
    cells = [
        Cell(percent(change.before)),
        Cell(percent(change.after)),
        Cell(
            signed(points(change.difference)),
            signed(points_between(change.low, change.high)),
        ),
        Cell(ratio(change.ratio), ratios(change.ratio_low, change.ratio_high)),
        Cell(p_value(change.p_value)),
        Cell(p_value(change.p_adjusted)),
        _concluded(change.verdict),
    ]
    return Row(name, cells, place, change.attribute is None)


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
    """Figures and tables of all systems by one attribute."""
    systems = [m for m in found.measured if m.attribute == attribute]
    names, parts = short_names(found.systems), []
    for n, levels in enumerate(zip(*(m.levels for m in systems), strict=True)):
        rates = [
            rates_row(own, own.rates[row], system.groups[row], name)
            for row in range(len(levels[0].rates))
            for own, system, name in zip(levels, systems, names, strict=True)
        ]
        both = zip(levels, names, strict=True)
        rows = zip(
            *(disparity_rows(own, found.settings, name) for own, name in both),
            strict=True,
        )
        tables = [
            _figure(found, levels, names),
            rates_table(rates, found.settings),
            disparities_table([row for of_all in rows for row in of_all]),
            *_matrices(found, systems, n, names),
        ]
        place = capital(place_of(levels[0], found).removeprefix("an "))
        parts.append(Section(f"rates-{n}", place, tables))
    title = "Detection error tradeoff (DET) by group"
    parts.append(Section("rates-det", title, [_det(systems, names)]))
    rows = [
        groups_row(system.groups[row], name)
        for row in range(len(systems[0].groups))
        for system, name in zip(systems, names, strict=True)
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


def _matrices(found, systems, level, names):
    """The matrix of groups of every system, in shades that can be compared."""
    matrices = [system.levels[level].matrix for system in systems]
    if any(matrix is None or len(matrix.groups) < 2 for matrix in matrices):
        return []
    shades = shades_of(np.stack([matrix.far for matrix in matrices]))
    place = place_of(systems[0].levels[level], found)
    about = f"{printable(systems[0].attribute)} at {place}"
    return [
        matrix_table(matrix, own, f"{about}, {name}")
        for matrix, own, name in zip(matrices, shades, names, strict=True)
    ]


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
        texts = {}
        for measured in found.measured:
            if measured.system == name:
                about = SimpleNamespace(**vars(measured), settings=found.settings)
                texts |= dict.fromkeys(unsupported_of(about))
        if texts:
            parts.append(Section(f"open-{place}", printable(name), [list(texts)]))
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
        "Intervals are paired, and each stands on its own: what varies for both systems "
        "alike cancels. They are about other people of the same population.",
        "Rates, disparities, matrices and curves of a single system are those that an audit "
        "of it gives; their intervals are not paired.",
        "Conclusions about rates come from adjusted p-values (Holm): if nothing changed, "
        f"nominally at most {alpha:g} % of such comparisons would name a change. "
        "Disparities are not among these tests.",
    ]
    return [texts, Section("method-settings", "Settings", [settings_of(settings)])]
