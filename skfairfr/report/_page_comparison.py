"""A comparison of systems as one page of HTML, harm first."""

from skfairfr._core._rates import p_in_digits
from skfairfr.report._page_figures import changes
from skfairfr.report._page_method import glossary, settings_of
from skfairfr.report._page_parts import (
    bullets,
    cell,
    heading,
    render,
    row,
    section,
    table,
    today,
    version_or_own,
)
from skfairfr.report._page_systems import (
    sections_of_systems,
    short_names,
    thresholds,
    unsupported,
)
from skfairfr.report._page_words import (
    LONG_RATES,
    RATES,
    count,
    level_percent,
    percent,
    plural,
    ratio,
    ratios,
)
from skfairfr.report._text_layout import given_point, printable, withheld

WORDS = {
    "worse": "worse",
    "better": "better",
    "undecided": "no certain change",
    "untested": "not tested",
}


def to_html(found, version=None, date=None):
    """A SystemsComparison as HTML.

    Parameters
    ----------
    found : SystemsComparison
    version, date : str, default=None
        Of skfairfr, and the day of the page.

    Returns
    -------
    html : str
    """
    first, *others = short_names(found.systems)
    title = "Comparison of verification systems"
    sections = [
        section("verdict", "Verdict", [_verdict(found)]),
        section("data", "What was compared", _facts(found, version, date)),
    ]
    for place, name in enumerate(found.systems[1:]):
        head = f"{others[place]} against {first}"
        parts = _system(found, name, f"s{place}")
        sections.append(section(f"system-{place}", head, parts))
    sections += sections_of_systems(found)
    open_parts = unsupported(found)
    if open_parts:
        sections.append(section("open", "What the data cannot support", open_parts))
    if found.notes:
        notes = [bullets(map(printable, found.notes))]
        sections.append(section("notes", "Notes", notes))
    sections += [
        section("method", "How it was computed", _method(found)),
        section("limits", "Limits", [_limits()]),
        section("glossary", "Glossary", [_glossary(found)]),
    ]
    return render(
        title, f"{', '.join(others)} against {first}", sections, version, date
    )


def _verdict(found):
    status, headline = "none", "No rate was found to have changed."
    if found.harm:
        status = "harm"
        headline = f"Harm: {plural(len(found.harm), 'rate')} got worse."
    elif found.improved:
        status = "passed"
        headline = (
            f"No harm was found; {plural(len(found.improved), 'rate')} got better."
        )
    texts = [_changed(change, found) for change in found.harm]
    texts += [_changed(change, found) for change in found.improved]
    texts += [_levelled(change, found) for change in found.levelling_down]
    none, why = withheld(found.settings)
    if none:
        status, headline, texts = "undetermined", none, [why]
    undecided = sum(change.verdict == "undecided" for change in found.changes)
    if undecided:
        texts.append(
            f"For {plural(undecided, 'other rate')} the data show no certain change; that "
            "is not evidence that there is none."
        )
    return {"kind": "verdict", "status": status, "headline": headline, "texts": texts}


def _changed(change, found):
    system = f"{_name(change.system, found)}: " if len(found.systems) > 2 else ""
    word = "Worse" if change.verdict == "worse" else "Better"
    return (
        f"{word}: {system}{RATES[change.rate]} of {_who(change)} at {_place(change, found)}, "
        f"{percent(change.before)} before and {percent(change.after)} after "
        f"(difference {_points(change.difference)}, {_ends(change)})."
    )


def _levelled(change, found):
    return (
        f"Levelling down: the ratio of largest to smallest {RATES[change.rate]} by "
        f"{printable(change.attribute)} at {_place(change, found)} fell from "
        f"{ratio(change.before)} to {ratio(change.after)}, and groups are worse off; no "
        "rate was found to have got better."
    )


def _name(system, found):
    """The short name of a system."""
    return short_names(found.systems)[found.systems.index(system)]


def _who(change):
    if change.attribute is None:
        return "everyone"
    return f"{printable(change.group)} ({printable(change.attribute)})"


def _place(change, found):
    if change.far is None:
        return f"the {given_point(change.threshold, found.settings)}"
    return f"an FMR of {level_percent(change.far)}"


def _points(difference):
    """A difference of two rates, in percentage points."""
    if difference != difference:
        return "\N{EN DASH}"
    sign = "+" if difference > 0 else ""
    text = percent(abs(difference)).replace("%", "points")
    return f"{sign or ('' if difference == 0 else chr(0x2212))}{text}"


def _ends(change):
    if change.low != change.low or change.high != change.high:
        return "no interval"
    return f"{_points(change.low)} to {_points(change.high)}".replace(
        "\N{NO-BREAK SPACE}points to", " to"
    )


def _facts(found, version, date):
    rows = [("First system", printable(found.systems[0]))]
    rows += [("Compared with it", printable(name)) for name in found.systems[1:]]
    rows += [
        ("People in all systems", count(found.n_people)),
        (f"{found.unit.capitalize()} in all systems", count(found.n_rows)),
    ]
    if found.measured:
        everyone = found.measured[0].groups[0]
        attributes = dict.fromkeys(printable(m.attribute) for m in found.measured)
        rows += [
            ("Mated comparisons (genuine pairs)", count(everyone.n_genuine)),
            ("Non-mated comparisons (impostor pairs)", count(everyone.n_impostor)),
            ("Attributes", "; ".join(attributes)),
            ("Operating points", thresholds(found)),
        ]
    for name, n in zip(found.systems, found.left_out, strict=True):
        if n:
            about = f"{count(n)} {found.unit} that another system lacks"
            rows.append((f"Left out of {printable(name)}", about))
    for name, digests in found.settings.get("sha256", {}).items():
        for file, digest in digests.items():
            rows.append((f"SHA-256 of {printable(file)} ({printable(name)})", digest))
    rows.append(("Intervals", f"{100 * found.settings['confidence_level']:g} %"))
    rows.append(("Date of this page", date or today()))
    rows.append(("Software", f"skfairfr {version_or_own(version)}"))
    return [{"kind": "facts", "rows": rows}]


def _system(found, name, prefix):
    own = [c for c in found.changes if c.system == name]
    names = {(c.far, c.threshold): _short(c, found) for c in own}
    figures = []
    for rate in RATES:
        of_rate = [c for c in own if c.rate == rate]
        if of_rate:
            figures.append(changes(of_rate, rate, names, f"{prefix}-{rate}"))
    caption = (
        "Each rate after, divided by the same rate before, with paired intervals: right of "
        "1 is worse. An arrow means that the interval continues beyond the frame. Thick "
        "lines are rates that got worse (red) or better (green) by tests that hold for all "
        "changes together. Each interval stands alone, so that a thin one may exclude 1."
    )
    parts = [{"kind": "figure", "figures": figures, "caption": caption}]
    for key in names:
        of_level = [c for c in own if (c.far, c.threshold) == key]
        parts.append(heading(f"At {_place(of_level[0], found)}"))
        for rate in RATES:
            rows = [_row(c) for c in of_level if c.rate == rate]
            if rows:
                parts.append(_table(rows, rate, _place(of_level[0], found)))
        rows = [
            _row_of_disparity(d)
            for d in found.disparities
            if (d.system, d.far, d.threshold) == (name, *key)
        ]
        if rows:
            parts.append(_disparities(rows, _place(of_level[0], found)))
    return parts


def _short(change, found):
    if change.far is None:
        return given_point(change.threshold, found.settings)
    return f"FMR {level_percent(change.far)}"


def _row(change):
    name = "Everyone" if change.attribute is None else printable(change.group)
    place = "" if change.attribute is None else f"by {printable(change.attribute)}"
    values = (change.p_value, change.p_adjusted)
    shown = ("\N{EN DASH}" if p != p else p_in_digits(p) for p in values)
    word = {"worse": "worse", "better": "better"}.get(change.verdict, "undetermined")
    cells = [
        cell(percent(change.before)),
        cell(percent(change.after)),
        cell(_points(change.difference), _ends(change)),
        cell(ratio(change.ratio), ratios(change.ratio_low, change.ratio_high)),
        *map(cell, shown),
        cell(WORDS[change.verdict], word=word),
    ]
    return row(name, cells, change.attribute is None, place)


def _table(rows, rate, place):
    head = [
        "Group",
        "Before",
        "After",
        "Difference",
        "After / before",
        "p",
        "Adjusted p",
    ]
    long = LONG_RATES[rate]
    caption = (
        f"{long[0].upper()}{long[1:]} ({RATES[rate]}) at {place}; lower is better. "
        "Differences are in percentage points."
    )
    return table(caption, [*head, "Conclusion"], rows)


def _row_of_disparity(change):
    name = f"{RATES[change.rate]} by {printable(change.attribute)}"
    ends = ratios(change.ratio_low, change.ratio_high)
    levelled = "levelling down" if change.levelling_down else ""
    cells = [
        cell(ratio(change.before)),
        cell(ratio(change.after)),
        cell(ratio(change.ratio), ends, levelled),
        cell(percent(change.frr_before)),
        cell(percent(change.frr_after)),
    ]
    return row(name, cells)


def _disparities(rows, place):
    caption = (
        f"Largest over smallest rate of the groups at {place}; 1 where all are alike, "
        "larger is less fair. The last two columns show whether the FNMR of everyone rose."
    )
    head = ["Disparity", "Before", "After", "After / before", "FNMR before"]
    return table(caption, [*head, "FNMR after"], rows)


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
        "Conclusions come from adjusted p-values: if nothing changed, nominally at most "
        f"{alpha:g} % of such comparisons would name a change. "
        "Disparities are not among these tests.",
    ]
    return [bullets(texts), heading("Settings"), settings_of(settings)]


def _limits():
    return bullets(
        [
            "A group that is not named may have changed too.",
            "Rates hold for these data, these groups and these operating points.",
            "An interval covers sampling alone: not how people were chosen or labelled.",
            "No number here says that a system is fit for a purpose or lawful.",
        ]
    )


def _glossary(found):
    unused = ("Template", "FTA", "GFAR")
    terms = glossary(found.settings)["rows"]
    rows = [entry for entry in terms if not entry[0].startswith(unused)]
    rows.append(
        (
            "Levelling down",
            "A disparity that became smaller because groups got worse, with no rate found "
            "to have got better.",
        )
    )
    return {"kind": "glossary", "rows": rows}
