"""The document of a report: what an auditor hands on, from the records alone."""

import math
from dataclasses import replace
from itertools import cycle

import numpy as np

from skfairfr._core._planning import MAX_PEOPLE
from skfairfr.report._common_parts import (
    DISPARITIES,
    about_rows,
    facts_of_data,
    glossary,
    lines_of,
    place_of,
    reason_in_words,
    settings_of,
    short_place,
    title_of,
    withheld,
)
from skfairfr.report._page_figures import MAX_CURVES, det, group_rates
from skfairfr.report._policy import POWER, RATE_LIMITS, limits_of, rate_of, verdict_of
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
    NONE,
    RATES,
    TOO_FEW,
    accepted,
    capital,
    count,
    level_percent,
    listed,
    p_value,
    percent,
    percents,
    plural,
    points,
    points_between,
    printable,
    ratio,
    ratios,
    who,
)

LIMITED = {
    "max_fmr": "FMR of each group",
    "max_fnmr": "FNMR of each group",
    "max_bfar": "largest over smallest FMR, where no group's FMR exceeds the level (BFAR)",
    "max_bfrr": "largest over smallest FNMR, where no group's FMR exceeds the level (BFRR)",
    "max_fmr_ratio": "largest over smallest FMR",
    "max_fnmr_ratio": "largest over smallest FNMR",
    "max_fmr_geomean_ratio": "largest FMR over the geometric mean",
    "max_fnmr_geomean_ratio": "largest FNMR over the geometric mean",
}
INDICES = {
    "inequity_rate": "Inequity rate (IR)",
    "garbe": "GARBE",
    "fairness_discrepancy_rate": "Fairness discrepancy rate (FDR)",
}
# Parts of a document that a terminal shows, and a card.
IN_TEXT = ("verdict", "data", "by-*-[!d]*", "open", "method")
IN_CARD = ("verdict", "data", "by-*-level-*", "open", "limits")
IN_NOTEBOOK = ("verdict", "by-*-level-*")
# More findings than these are counted and not told one by one.
MOST_TOLD = 6
# More of the others that a group is compared with are counted, not named.
MOST_NAMED = 3
HOLLOW = "Hollow points and dotted bars rest on too few errors."
# Names of the markers of levels, in the order in which figures use them.
MARKS = (
    "circle",
    "square",
    "triangle",
    "diamond",
    "inverted triangle",
    "plus",
    "cross",
)
# The darkest cell of a matrix, as red, green and blue; the palest is white.
DARK = np.array([8, 62, 112])
# Luminance at which black and white are equally clear, at a contrast of 4.6.
BALANCE = (1.05 * 0.05) ** 0.5 - 0.05


def document_of(report, source=None):
    """A report as a document.

    Parameters
    ----------
    report : Report
    source : str, default=None
        Where the data come from.

    Returns
    -------
    document : Document
    """
    first = report.audits[0]
    names = [printable(audit.attribute) for audit in report.audits]
    title = "Audit of verification errors by " + listed(
        [name for name in names if " & " not in name] or names
    )
    if first.settings.get("independent_pairs"):
        title += ", pairs taken as independent"
    opening = [_verdict(report), *_checks(report), _figure(first), _conclusions(report)]
    sections = [
        Section("verdict", "Verdict", opening),
        Section("data", "What was tested", [Facts(_facts(report, source))]),
        *(
            Section(f"by-{n}", f"Error rates by {name}", parts, f"By {name}")
            for n, name in enumerate(names)
            for parts in [_of_audit(report, n)]
        ),
        Section("open", "What the data cannot tell", _open(report)),
        Section("method", "How it was computed", _method(first)),
        Section("limits", "Limits", [_limits(first)]),
        Section("glossary", "Glossary", [glossary(first.settings)]),
    ]
    subtitle = "" if source is None else f"Data: {printable(source)}"
    title = printable(report.about.get("title", title))
    return Document(title, subtitle, [s for s in sections if s.parts])


# ---- the first screen ----------------------------------------------------------------


def _verdict(report):
    """What was found: the checks counted, and each group that is treated worse."""
    none, why = withheld(report.audits[0].settings)
    if none:
        return Verdict("undetermined", none, [why])
    verdicts = [check.verdict for check in report.checks]
    status, headline = "none", "No limit was given, so nothing passes or fails."
    if verdicts:
        words = ("failed", "undetermined", "passed")
        status = next(word for word in words if word in verdicts)
        counted = [f"{verdicts.count(w)} {w}" for w in words if w in verdicts]
        asked = (
            f"The policy {printable(report.policy)}" if report.policy else "The limits"
        )
        headline = (
            f"{asked}: {status}. {plural(len(verdicts), 'check')}: {listed(counted)}."
        )
    reasons = dict.fromkeys(check.reason for check in report.checks if check.reason)
    notes = sum(len(audit.notes) for audit in report.audits)
    texts = [
        f"Read first: {plural(notes, 'note')} at the end of 'What the data cannot tell'."
    ]
    told = [*(texts if notes else []), *(f"Undetermined: {text}." for text in reasons)]
    return Verdict(status, headline, told + _found(report))


def _found(report):
    """Sentences about the groups that are treated worse, and about what is not certain."""
    findings = [
        (audit, level, finding)
        for audit in report.audits
        for level in audit.levels
        for finding in level.findings
    ]
    worse = [f for f in findings if f[2].verdict in ("worse", "better")]
    undecided = sum(f.verdict == "no certain difference" for *_, f in findings)
    untested = sum(f.verdict == TOO_FEW for *_, f in findings)
    differing = sum(len(_differing(audit)) for audit in report.audits)
    texts = [_told(*found) for found in worse[:MOST_TOLD]]
    if len(worse) > MOST_TOLD:
        more = plural(len(worse) - MOST_TOLD, "further difference")
        texts.append(f"The data show {more}, listed below.")
    if undecided and not worse:
        texts.append(
            "The data do not show that any group is treated worse. That is not evidence "
            "that all are treated alike: see the intervals."
        )
    elif undecided:
        texts.append(
            f"{plural(undecided, 'further comparison')}: no certain difference, which is no "
            "evidence that there is none."
        )
    if untested:
        texts.append(f"{plural(untested, 'comparison')} not made: too few errors.")
    if differing:
        unit = {"pair": "person", "identity": "comparison"}
        own = report.audits[0].settings["average"]
        texts.append(
            f"{plural(differing, 'comparison')} of rates would be concluded otherwise if "
            f"every {unit[own]} weighed the same: see 'Both averages'."
        )
    return texts


def _told(audit, level, finding):
    found, higher = finding.ratio, finding.verdict == "worse"
    size = f"{ratio(found.value)} times as high ({ratios(found.low, found.high)})"
    if higher and not (math.isfinite(found.value) and found.supported):
        size = f"at least {ratio(found.low)} times as high; by how much more: {TOO_FEW}"
    return (
        f"{printable(finding.group)} is treated {finding.verdict}: at "
        f"{place_of(level, audit)}, its {RATES[finding.rate]} is {percent(finding.value)} "
        f"against {percent(finding.other_value)} of {_others(finding)}, {size}."
    )


def _others(finding):
    """Those that a group is compared with."""
    if len(finding.others) == 1:
        return printable(finding.others[0])
    named = f"the {len(finding.others)} others"
    if len(finding.others) <= MOST_NAMED:
        named = listed([printable(group) for group in finding.others])
    return f"{named} (geometric mean)"


def _checks(report):
    if not report.checks:
        return []
    worst_first = ("failed", "undetermined", "passed").index
    checks = sorted(report.checks, key=lambda check: worst_first(check.verdict))
    rows = [_of_check(check, report) for check in checks]
    caption = (
        "A check fails where a bound shows that the limit is exceeded, passes where one "
        "shows that it is kept, and is undetermined otherwise. Bounds that show an excess "
        "hold for all groups at once, the others for one rate or ratio alone."
    )
    head = ["Check", "Allowed", "Group", "Found", "Bound", "Result"]
    return [Table(caption, head, rows)]


def _of_check(check, report):
    """A check by name, with its limit, groups, number, bound and verdict."""
    shown, of_rate = _form(check), check.name in RATE_LIMITS
    groups = [printable(group) for group in check.groups]
    named = (
        f"{groups[0]} over {listed(groups[1:])}" if len(groups) > 1 else "".join(groups)
    )
    named = listed(groups) if groups and of_rate else named
    left_out = ", ".join(map(printable, check.not_covered))
    cells = [
        Cell(f"at most {_limit_of(check)}"),
        Cell(
            named or "none", more=f"without the pairs: {left_out}" if left_out else ""
        ),
        Cell(shown(check.figure.value)),
        Cell(_bound(check, shown)),
        Cell(check.verdict, word=check.verdict),
    ]
    name = f"{LIMITED[check.name]}, by {printable(check.attribute)}"
    return Row(capital(name), cells, _place_of_check(check, report))


def check_sentence(check, report):
    """A check in one sentence."""
    row = _of_check(check, report)
    *told, result = [cell.line for cell in row.cells]
    text = f"{result}: {row.line}: {'; '.join(told)}."
    return f"{text} {needed_words(check, report)}".strip()


def _form(check):
    return percent if check.name in RATE_LIMITS else ratio


def _limit_of(check):
    of_rate = check.name in RATE_LIMITS
    return level_percent(check.limit) if of_rate else f"{check.limit:g}"


def _bound(check, shown):
    """The bound by which a check passed, failed or is open."""
    found, verdict = check.figure, verdict_of(check.figure, check.limit)
    if check.reason:
        return check.reason
    if not check.groups:
        return "nothing to judge by"
    if verdict == "failed":
        of_first = f" for {printable(check.groups[0])}"
        several = check.name in RATE_LIMITS and len(check.groups) > 1
        return f"at least {shown(found.low)}{of_first if several else ''}"
    if verdict == "passed":
        return f"at most {shown(found.high)}"
    if math.isnan(found.high):
        return "none: its pairs are of one person"
    if check.name in RATE_LIMITS and found.high >= 1:
        return f"none: {TOO_FEW}"
    if found.value > check.limit:
        return f"may be as small as {shown(found.low)}"
    return f"may be as large as {shown(found.high)}"


def _place_of_check(check, report):
    """Where a check was made, in words."""
    audit = next(a for a in report.audits if a.attribute == check.attribute)
    thresholds = ("threshold", "worst_group_threshold")
    level = next(
        lev
        for lev in audit.levels
        if lev.far == check.far
        and (
            check.far is not None
            or check.threshold in [getattr(lev, t) for t in thresholds]
        )
    )
    return f"at {place_of(level, audit)}"


def needed_words(check, report):
    """How many more people, or pairs, would settle an undetermined check."""
    if check.verdict != "undetermined" or check.reason or not check.groups:
        return ""
    what = "people"
    if report.audits[0].settings.get("independent_pairs"):
        of_far = rate_of(check.name) == "far"
        what = f"{'impostor' if of_far else 'genuine'} pairs"
    if math.isnan(check.figure.value + check.figure.high):
        return "More people, or a threshold with more errors, are needed."
    if not check.people_needed:
        return f"If rates are as found, no number of {what} up to {MAX_PEOPLE:,} settles it."
    one = {"people": "person"}.get(what, what[:-1])
    people = listed(
        [
            f"{_rounded_up(more):,} more {one if more == 1 else what} in {printable(group)}"
            for group, more in check.people_needed
        ]
    )
    return f"If rates are as found, {people} would settle it in {100 * POWER:g} % of cases."


def _rounded_up(value):
    """A count with two significant digits, not below it."""
    unit = 10 ** max(len(str(value)) - 2, 0)
    return -(-value // unit) * unit


def _figure(audit):
    """The figure of the rates of all groups."""
    names = [short_place(level, audit) for level in audit.levels]
    limits, confidence = limits_of(audit), audit.settings["confidence_level"]
    caption = (
        f"Both error rates by {printable(audit.attribute)} at "
        f"{'each' if len(names) > 1 else 'the'} operating point; further right is worse. "
        f"Bars are {100 * confidence:g} % intervals, each alone. "
        f"{'Dashed vertical lines are the limits given. ' if limits else ''}{HOLLOW}"
    )
    asked = audit.levels, names, limits, confidence
    return Figure(caption, lambda: group_rates(*asked))


def _conclusions(report):
    """A table of all comparisons of groups."""
    rows = [
        _row_of_finding(audit, level, finding)
        for audit in report.audits
        for level in audit.levels
        for finding in level.findings
    ]
    head = ["Comparison", "Group", "Others", "Ratio, alone", "p, alone"]
    alpha = 100 * (1 - report.audits[0].settings["confidence_level"])
    caption = (
        "For each rate, operating point and attribute, every group whose rate differs from "
        "that of the others (the geometric mean of several), or else the group that differs "
        "most certainly. Conclusions go by the adjusted p, which allows for all comparisons "
        f"(Holm): if no group were treated worse, nominally at most {alpha:g} % of such "
        "audits would name one. It never falls from a smaller p to a larger one, so that "
        "several may be equal."
    )
    return Table(caption, [*head, "Adjusted p", "Conclusion"], rows)


def _row_of_finding(audit, level, finding):
    name = f"{RATES[finding.rate]} by {printable(audit.attribute)}"
    place = f"at {place_of(level, audit)}"
    word, text = _concluded(finding)
    if finding.group is None:
        cells = [*[Cell(NONE)] * 5, Cell(text, word=word)]
        return Row(name, cells, place)
    found = finding.ratio
    cells = [
        Cell(f"{printable(finding.group)}: {percent(finding.value)}"),
        Cell(f"{_others(finding)}: {percent(finding.other_value)}"),
        Cell(ratio(found.value), ratios(found.low, found.high), few=_few(found)),
        Cell(p_value(found.p_value)),
        Cell(p_value(finding.p_adjusted)),
        Cell(text, word=word),
    ]
    return Row(name, cells, place)


def _concluded(finding):
    """What a finding concludes: the class of its colour, and its words."""
    if finding.verdict not in ("worse", "better"):
        return "undetermined", finding.verdict
    others = " than the others" if len(finding.others) > 1 else ""
    text = f"{printable(finding.group)} is treated {finding.verdict}{others}"
    return finding.verdict if finding.ratio.supported else "", text


def _few(figure):
    return "" if figure.supported else TOO_FEW


# ---- data ----------------------------------------------------------------------------


def _facts(report, source):
    first = report.audits[0]
    attributes = [printable(audit.attribute) for audit in report.audits]
    rows = about_rows(report)
    rows.append(
        ("Data", printable(source) if source else "arrays, without a file name")
    )
    rows += [
        (f"SHA-256 of {printable(name)}", digest)
        for name, digest in first.settings.get("sha256", {}).items()
    ]
    rows += facts_of_data(first.groups[0], attributes)
    for audit in report.audits:
        if audit.n_unknown:
            unit = (
                "images" if first.groups[0].n_images is not None else "people or pairs"
            )
            about = f"{count(audit.n_unknown)} {unit}, counted for everyone only"
            rows.append((f"Unknown {printable(audit.attribute)}", about))
    thresholds = [title_of(level, first) for level in first.levels]
    rows.append(("Operating points", "; ".join(thresholds)))
    rows.append(("Intervals", f"{100 * first.settings['confidence_level']:g} %"))
    return rows


# ---- an attribute --------------------------------------------------------------------


def _of_audit(report, place):
    """Parts of the section of one attribute."""
    audit, name = report.audits[place], f"by-{place}"
    parts = [_figure(audit)] if place else []
    for n, level in enumerate(audit.levels):
        tables = [
            _rates(level, audit),
            disparities_table(disparity_rows(level, audit.settings)),
        ]
        if level.matrix is not None and len(level.matrix.groups) > 1:
            about = f"{printable(audit.attribute)} at {place_of(level, audit)}"
            shades = shades_of(level.matrix.far)
            tables.append(matrix_table(level.matrix, shades, about))
        parts.append(Section(f"{name}-level-{n}", title_of(level, audit), tables))
    if audit.curves is not None:
        title = "Detection error tradeoff (DET) by group"
        parts.append(Section(f"{name}-det", title, [_det(audit)]))
    if audit.averaged is not None:
        parts.append(Section(f"{name}-averages", "Both averages", [_averages(audit)]))
    groups = [groups_table([groups_row(found) for found in audit.groups])]
    groups += [
        _cells(crossing, audit)
        for crossing in report.crossings
        if " & ".join(crossing.attributes) == audit.attribute
    ]
    parts.append(Section(f"{name}-groups", "Groups", groups))
    if audit.failures:
        title = "Failures to acquire and to enrol"
        parts.append(Section(f"{name}-failures", title, _failures(audit)))
    return parts


def _rates(level, audit):
    rows = [
        rates_row(level, found, size)
        for found, size in zip(level.rates, audit.groups, strict=True)
    ]
    return rates_table(rows, audit.settings, bool(level.generalised))


def rates_row(level, found, size, place=""):
    """Comparisons, errors and rates of a group; ``size`` is its GroupRow."""
    cells = []
    for rate, n_pairs in (("far", size.n_impostor), ("frr", size.n_genuine)):
        figure = getattr(found, rate)
        errors, worth = (getattr(found, f"{rate}_{n}") for n in ("errors", "effective"))
        cells += [
            Cell(count(n_pairs)),
            Cell(count(errors, figure.source), more=_worth(worth)),
            _of_rate(figure),
        ]
    for gen in level.generalised:
        if gen.group == found.group:
            cells += [Cell(percent(gen.gfar)), Cell(percent(gen.gfrr))]
    return Row(_name(found.group), cells, place, found.group is None)


def _name(group):
    """A group as the heading of a row."""
    return "Everyone" if group is None else printable(group)


def _worth(effective):
    """What errors are worth; empty where that is not known."""
    if effective is None or not effective.errors:
        return ""
    errors = (
        f"{round(effective.errors):,}" if effective.errors >= 0.5 else "less than 1"
    )
    return f"worth {errors} of {round(effective.people):,} people"


def _of_rate(figure):
    return Cell(
        percent(figure.value), percents(figure.low, figure.high), few=_few(figure)
    )


def rates_table(rows, settings, generalised=False):
    """A table of such rows."""
    head = ["Group", "Non-mated comparisons", "False matches", "FMR (FAR)"]
    head += ["Mated comparisons", "False non-matches", "FNMR (FRR)"]
    head += ["GFAR", "GFRR"] if generalised else []
    caption = "Comparisons, errors and error rates of each group, with intervals, each alone. "
    if not settings.get("independent_pairs"):
        caption += (
            "Errors of one person come together: they are worth as many independent ones, "
            "of as many people who err alike, as stand beneath. "
        )
    if settings["average"] == "identity":
        caption += "Every person weighs the same, so that a rate is not errors over comparisons."
    return Table(caption.strip(), head, rows)


def disparity_rows(level, settings, place=""):
    """Disparities and indices of a level."""
    found = {(d.how, d.operating_point): d for d in level.disparities}
    named = [(name, found.get((how, "overall"))) for how, name in DISPARITIES.items()]
    worst = "BFAR, BFRR: largest / smallest where no group's FMR exceeds the level"
    named.append((worst, found.get(("max_min", "worst_group"))))
    rows = [_disparity(name, d, place) for name, d in named if d is not None]
    if math.isfinite(level.worst_group_threshold):
        there = accepted(level.worst_group_threshold, settings)
        rows[-1] = replace(rows[-1], place=", ".join(filter(None, (place, there))))
    joined = found.get(("max_min", "overall"))
    supported = joined is None or (joined.far.supported and joined.frr.supported)
    for index in level.indices:
        both = Cell(
            f"{ratio(index.value)} (both rates)", few="" if supported else TOO_FEW
        )
        cells = [Cell(f"{index.neutral:g}"), both, Cell(NONE)]
        rows.append(Row(INDICES[index.name], cells, place))
    return rows


def _disparity(name, measured, place):
    shown, ends = ratio, ratios
    if measured.how == "difference":
        shown, ends = points, points_between
    cells = [Cell(f"{measured.neutral:g}")]
    for figure in (measured.far, measured.frr):
        more = ""
        if figure.corrected is not None and math.isfinite(figure.corrected):
            more = f"{shown(figure.corrected)} without noise"
        ends_ = ends(figure.low, figure.high)
        cells.append(Cell(shown(figure.value), ends_, more, _few(figure)))
    return Row(name, cells, place)


def disparities_table(rows):
    """A table of such rows."""
    caption = (
        "Disparities at one global threshold. FPD and FND, the false positive and the "
        "false negative differential, are D/(D \N{MINUS SIGN} 1) times the Gini "
        "coefficient of the D groups' rates. Larger is less fair; for FDR, smaller "
        "is. The last three combine both rates and have no interval. Lower ends of largest "
        "/ smallest allow for the number of groups. Chance alone makes "
        "rates differ: 'without noise' is an estimate of the disparity without that part."
    )
    head = ["Disparity", "If all are alike", "Of the FMR", "Of the FNMR"]
    return Table(caption, head, rows)


def matrix_table(matrix, shades, about):
    """The FMR of every two groups.

    Parameters
    ----------
    matrix : Matrix
    shades : ndarray, shape (n_groups, n_groups)
        Depth of colour in [0, 1].
    about : str
        Attribute and operating point, in words.

    Returns
    -------
    table : Table
    """
    rows = []
    for g, group in enumerate(matrix.groups):
        cells = []
        for h in range(len(matrix.groups)):
            n = int(matrix.n_impostor[g, h])
            counted = f"{matrix.n_errors[g, h]:,} of {n:,}"
            rate = Cell(percent(matrix.far[g, h]), counted, style=_style(shades[g, h]))
            cells.append(rate if n else Cell("no pairs"))
        rows.append(Row(printable(group), cells))
    caption = (
        f"FMR of every two groups of {about}: how often two people, one of each group, are "
        "taken for one. Darker is worse."
    )
    if not np.allclose(matrix.far, matrix.far.T, equal_nan=True):
        caption += " Rows are the groups of probes, columns those of references."
    return Table(caption, ["Group", *map(printable, matrix.groups)], rows, "matrix")


def shades_of(far):
    """Depth of colour of each cell in [0, 1], by the logarithm of its rate.

    Those of several matrices at once can be compared.
    """
    shown = np.where(far > 0, far, np.nan)
    if np.isnan(shown).all():
        return np.zeros(far.shape)
    logs = np.log10(shown)
    low, high = np.nanmin(logs) - 0.3, np.nanmax(logs)
    return np.nan_to_num((logs - low) / max(high - low, 1.0))


def _style(shade):
    """Colours of a cell: the ground, and of black and white the ink that is clearer."""
    colour = np.rint(255 + (DARK - 255) * shade)
    ink = "#fff" if _luminance(colour / 255) < BALANCE else "#000"
    ground = ",".join(f"{part:.0f}" for part in colour)
    return f"background:rgb({ground});color:{ink};--soft:{ink}"


def _luminance(colour):
    """Relative luminance of sRGB in [0, 1], as WCAG defines it."""
    linear = np.where(
        colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4
    )
    return float(linear @ (0.2126, 0.7152, 0.0722))


def _det(audit):
    names = [short_place(level, audit) for level in audit.levels]
    marked = [f"{n}: {mark}" for n, mark in zip(names, cycle(MARKS), strict=False)]
    caption = (
        "Both rates of each group as the one threshold for everybody moves. Points mark "
        f"the operating points ({', '.join(marked)}); where the points of groups lie apart, "
        "the threshold treats them differently. Rates of zero have no place on these axes."
    )
    if len(audit.curves.groups) > MAX_CURVES:
        caption += " Each panel has one group in blue, and everyone in grey."
    return Figure(caption, lambda: det(audit.curves, audit.levels, names))


def _averages(audit):
    """Rates and conclusions, every comparison weighing the same and every person."""
    rows = []
    for level, beside in zip(audit.levels, audit.averaged.levels, strict=True):
        place = f"at {place_of(level, audit)}"
        for rate in RATES:
            for both in zip(level.rates, beside.rates, strict=True):
                name = f"{RATES[rate]} of {who(both[0].group)}"
                rows.append(
                    Row(name, [_of_rate(getattr(r, rate)) for r in both], place)
                )
            told = [
                [_concluded(f)[1] for f in found.findings if f.rate == rate]
                for found in (level, beside)
            ]
            cells = [Cell("; ".join(texts)) for texts in told]
            rows.append(Row(f"{RATES[rate]}, conclusion", cells, place))
    weighs = {"pair": "Every comparison alike", "identity": "Every person alike"}
    caption = (
        f"One person is in {100 * audit.largest_genuine_share:.0f} % of the mated "
        "comparisons, so it matters whether every comparison weighs the same or every "
        "person. The conclusions, checks and tables above use the first of the two columns."
    )
    head = ["Rate", weighs[audit.settings["average"]], weighs[audit.averaged.value]]
    return Table(caption, head, rows)


def _differing(audit):
    """Levels and rates of which the other average concludes something else, a list."""
    if audit.averaged is None:
        return []
    found = []
    for level, beside in zip(audit.levels, audit.averaged.levels, strict=True):
        for rate in RATES:
            own, other = (
                {(f.group, f.verdict) for f in at.findings if f.rate == rate}
                for at in (level, beside)
            )
            if own != other and {v for _, v in own | other} != {
                "no certain difference"
            }:
                found.append((level, rate))
    return found


def groups_row(found, place=""):
    """The size of a group, and its equal error rate."""
    sizes = found.n_identities, found.n_images, found.n_genuine, found.n_impostor
    cells = [*(Cell(count(size)) for size in sizes), _of_rate(found.equal_error_rate)]
    return Row(_name(found.group), cells, place, found.group is None)


def groups_table(rows):
    """A table of such rows."""
    head = ["Group", "People", "Images", "Mated comparisons"]
    caption = (
        "Size of each group, and its equal error rate (EER), at the threshold where its "
        f"{LONG_RATES['far']} equals its {LONG_RATES['frr']}. A comparison belongs to a "
        "group if both of its images do."
    )
    return Table(caption, [*head, "Non-mated comparisons", "EER"], rows)


def _cells(crossing, audit):
    """How many people there are of each combination of groups."""
    counted = "pairs" if audit.groups[0].n_identities is None else "people"
    rows = [
        Row(
            ", ".join("unknown" if g is None else printable(g) for g in cell.groups),
            [Cell(count(cell.n_identities))],
        )
        for cell in crossing.cells
    ]
    names = ", ".join(map(printable, crossing.attributes))
    return Table(
        f"Number of {counted} by {names}.", [capital(names), capital(counted)], rows
    )


def _failures(audit):
    rows = []
    for found in audit.failures:
        cells = [
            Cell(count(found.n_attempts)),
            *(Cell(count(found.n_failed_to_acquire)), Cell(percent(found.fta))),
            *(Cell(count(found.n_failed_to_enrol)), Cell(percent(found.fte))),
        ]
        rows.append(Row(_name(found.group), cells, everyone=found.group is None))
    head = ["Group", "Attempts", "Failed to acquire", "FTA", "Failed to enrol", "FTE"]
    caption = (
        "Attempts that gave no template, by group. FTA is the share of all attempts, FTE "
        "the share of those acquired."
    )
    about = (
        "Generalised rates count these failures: GFAR = FMR (1 \N{MINUS SIGN} FTA)(1 "
        "\N{MINUS SIGN} FTE), GFRR = FTE + (1 \N{MINUS SIGN} FTE) FTA + (1 \N{MINUS SIGN} "
        "FTE)(1 \N{MINUS SIGN} FTA) FNMR (ISO/IEC 19795-1). They stand in the tables of "
        "rates above, without intervals."
    )
    return [Table(caption, head, rows), about]


# ---- what is open --------------------------------------------------------------------


def _open(report):
    """What rests on too few errors, the people that checks need, and notes."""
    parts, checks = [], report.checks
    needed = [
        f"{LIMITED[c.name]} by {printable(c.attribute)}, at most {_limit_of(c)}, "
        f"{_place_of_check(c, report)}: {text}"
        for c in checks
        if (text := needed_words(c, report))
    ]
    if needed:
        title = "What would settle a check"
        parts.append(Section("open-needed", title, [needed]))
    texts = [text for audit in report.audits for text in unsupported_of(audit)]
    if texts:
        parts.append(Section("open-few", capital(TOO_FEW), [FEW, texts]))
    notes = dict.fromkeys(str(n) for audit in report.audits for n in audit.notes)
    if notes:
        parts.append(Section("open-notes", "Notes", [[printable(n) for n in notes]]))
    findings = (f for a in report.audits for lev in a.levels for f in lev.findings)
    if not checks and any(f.verdict == "no certain difference" for f in findings):
        parts.append(
            "How many more people would decide depends on the difference that matters. "
            "Give a limit (such as --max-fnmr), and the audit says how many more people "
            "would settle it; skfairfr plan answers the same before a test."
        )
    return parts


FEW = (
    "These numbers rest on fewer than 30 errors, on errors of fewer than 10 people, or on "
    "errors more than a third of which come from one person. Do not conclude from their size."
)


def unsupported_of(audit):
    """Sentences about figures that rest on too few errors, with the reason."""
    texts, by = {}, f"by {printable(audit.attribute)}"
    for found in audit.groups:
        figure = found.equal_error_rate
        if not figure.supported:
            why = reason_in_words(figure)
            texts[f"EER of {who(found.group)} ({by}): {why}."] = None
    for level in audit.levels:
        at = f"at {place_of(level, audit)}"
        for found in level.rates:
            for rate, name in RATES.items():
                if not (figure := getattr(found, rate)).supported:
                    why = reason_in_words(figure, rate)
                    texts[f"{name} of {who(found.group)} ({by}) {at}: {why}."] = None
        for finding in level.findings:
            for text in _not_compared(finding, level):
                texts[f"{RATES[finding.rate]} {by} {at}: {text}."] = None
    return list(texts)


def _not_compared(finding, level):
    """What a finding leaves out."""
    if finding.group is None:
        return [f"not compared, {printable(finding.ratio.reason)}"]
    named = None, finding.group, *finding.others, *finding.not_compared
    few = [row.group for row in level.rates if row.group not in named]
    told = (
        ("not compared for lack of pairs", finding.not_compared),
        ("too few errors to compare with", few),
    )
    return [f"{t}: {', '.join(map(printable, groups))}" for t, groups in told if groups]


# ---- how, and what not ---------------------------------------------------------------


def _method(audit):
    """How the numbers of an audit came about."""
    settings = audit.settings
    independent = settings.get("independent_pairs")
    is_accepted = "similarity is at least"
    if settings.get("distance"):
        is_accepted = "distance is at most"
    texts = [
        "Every two samples that the data compare make one comparison; it is accepted if "
        f"its {is_accepted} the threshold. A comparison belongs to a group if both "
        "samples do.",
        f"Two samples are compared by {settings.get('similarity')}.",
        *_across(settings),
        _threshold(audit),
        f"Every {'comparison' if settings['average'] == 'pair' else 'person'} weighs the "
        "same in a rate.",
        _intervals(settings),
        "Each group is compared with the geometric mean of the others by a two-sided test, "
        f"which allows for {'' if independent else 'people who are in many pairs and for '}"
        "the number of comparisons made (Holm).",
    ]
    if "similarity" not in settings:
        del texts[1]
    return [texts, Section("method-settings", "Settings", [settings_of(settings)])]


def _across(settings):
    if not settings.get("domain"):
        return []
    return [f"Only samples across the two values of {settings['domain']} are compared."]


def _threshold(audit):
    if audit.levels[0].set_on == "given":
        return "The threshold was given; intervals are about it."
    impostors = {
        "all": "all non-mated comparisons",
        "same_group": "the non-mated comparisons within a group",
    }[audit.settings["impostors"]]
    where = "other" if audit.levels[0].set_on == "other data" else "these"
    return (
        f"A threshold is set where the FMR of {impostors} meets the level, on {where} data: "
        "the shortest number that accepts the same comparisons. Intervals are about this "
        "threshold, not about one that other people would have set."
    )


def _intervals(settings):
    drawn, how = "other people of the same population", "people who are in many errors"
    if settings.get("independent_pairs"):
        drawn, how = (
            "other pairs of the same kind, as if no two shared a person",
            "few errors",
        )
    return (
        f"Intervals are about {drawn}, at {100 * settings['confidence_level']:g} %, each "
        "alone. Those of rates, the EER, ratios and largest / smallest come from the errors "
        f"of each person, on a scale that allows for {how}. Other disparities take "
        f"{settings['n_resamples']:,} resamples."
    )


def _limits(audit):
    """What the page does not say."""
    texts = lines_of("limits")
    if audit.settings.get("independent_pairs"):
        texts.insert(
            1,
            "Nobody is known by name: pairs were taken as independent. Where people are in "
            "several pairs, intervals are too narrow.",
        )
    return texts
