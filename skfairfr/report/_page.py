"""A report as one page of HTML: what an auditor hands on.

The page is self-contained: inline SVG, no script, nothing from a network. Sections are
built here from records, as lists of parts; ``templates`` turns parts into HTML, and
escapes every label on the way.
"""

import math

from skfairfr._core._rates import p_in_digits
from skfairfr.report._page_audit import (
    figure_of,
    finding_words,
    other_conclusions,
    sections_of_audit,
    unsupported_of,
)
from skfairfr.report._page_method import glossary, limits_of_page, method
from skfairfr.report._page_parts import (
    bullets,
    cell,
    heading,
    place_of,
    render,
    row,
    section,
    table,
    text_of,
    today,
    version_or_own,
)
from skfairfr.report._page_words import (
    LIMITED,
    RATES,
    count,
    level_percent,
    percent,
    percents,
    plural,
    ratio,
    ratios,
)
from skfairfr.report._text import needed_words
from skfairfr.report._text_layout import (
    accepted,
    listed,
    others_of,
    printable,
    withheld,
)

# More findings than these are counted and not told one by one.
MOST_TOLD = 6


def to_html(report, source=None, version=None, date=None):
    """A report as HTML.

    Parameters
    ----------
    report : Report
    source : str, default=None
        Where the data come from.
    version, date : str, default=None
        Of skfairfr, and the day of the page; None takes the installed one, and today.

    Returns
    -------
    html : str
    """
    audits = report.audits
    names = [printable(audit.attribute) for audit in audits]
    title = "Audit of verification errors by " + listed(
        [name for name in names if " & " not in name] or names
    )
    first = audits[0]
    if first.settings.get("independent_pairs"):
        title += ", pairs taken as independent"
    sections = [
        section(
            "verdict",
            "Verdict",
            [verdict(report), figure_of(first, "a0"), *_conclusions(report)],
        ),
        section("data", "What was tested", _facts(report, source, date, version)),
    ]
    for place, audit in enumerate(audits):
        parts = sections_of_audit(audit, f"a{place}", figured=place == 0)
        head = f"Error rates by {printable(audit.attribute)}"
        sections.append(section(f"by-{place}", head, parts, f"By {names[place]}"))
    sections += [
        section("checks", "Checks", _checks(report)),
        section(
            "open",
            "What the data cannot support, and how many more people would settle it",
            _open(report),
            "What remains open",
        ),
        section("method", "How it was computed", method(first)),
        section("limits", "Limits", limits_of_page(first)),
        section("glossary", "Glossary", [glossary(first.settings)]),
    ]
    sections = [s for s in sections if s["parts"]]
    subtitle = "" if source is None else f"Data: {printable(source)}"
    return render(title, subtitle, sections, version, date)


# ---- verdict -------------------------------------------------------------------------


def verdict(report, on_page=True):
    """What was found, in one paragraph, with the places on the page where to read more."""
    verdicts = [check.verdict for check in report.checks]
    reasons = dict.fromkeys(check.reason for check in report.checks)
    policy = printable(report.policy) if report.policy else None
    asked = f"The policy {policy}" if policy else "The limits"
    if not verdicts:
        status = "none"
        headline = "No limit was given, so nothing passes or fails."
    elif "failed" in verdicts:
        status = "failed"
        headline = f"{asked}: failed."
    elif "undetermined" in verdicts:
        status = "undetermined"
        headline = f"{asked}: not determined."
        if not any(reasons):
            headline += " There are too few data to decide."
    else:
        status = "passed"
        headline = f"{asked}: passed."
    sentences = []
    none, why = withheld(report.audits[0].settings)
    if none:
        status, headline = "undetermined", none
        sentences.append(why)
    elif verdicts:
        words = ("passed", "failed", "undetermined")
        counted = [f"{verdicts.count(w)} {w}" for w in words if w in verdicts]
        sentences.append(f"Of {plural(len(verdicts), 'check')}: {listed(counted)}.")
        sentences += [f"{text[0].upper()}{text[1:]}." for text in filter(None, reasons)]
    if not none:
        sentences += _found(report, on_page)
    return {
        "kind": "verdict",
        "status": status,
        "headline": headline,
        "texts": [" ".join(sentences)],
    }


def _found(report, on_page):
    """Sentences about the groups that are treated worse."""
    findings = [
        (audit, level, finding)
        for audit in report.audits
        for level in audit.levels
        for finding in level.findings
    ]
    worse = [f for f in findings if f[2].verdict in ("worse", "better")]
    undecided = sum(f.verdict == "undecided" for *_, f in findings)
    untested = sum(f.verdict == "untested" for *_, f in findings)
    differing = sum(len(other_conclusions(audit)) for audit in report.audits)
    sentences = [_told(*found) for found in worse[:MOST_TOLD]]
    if len(worse) > MOST_TOLD:
        more = plural(len(worse) - MOST_TOLD, "further difference")
        sentences.append(f"The data show {more}{', listed below' if on_page else ''}.")
    if not worse and undecided:
        sentences.append(
            "The data do not show that any group is treated worse. That is not evidence "
            "that all are treated alike: see the intervals."
        )
    elif undecided:
        sentences.append(
            f"In {plural(undecided, 'further comparison')} of rates (by rate, operating "
            "point and attribute) the data show no certain difference; that is not "
            "evidence that there is none."
        )
    if untested:
        sentences.append(
            f"{plural(untested, 'comparison')} could not be made: too few pairs."
        )
    sentences += _lone_groups(findings)
    if differing:
        unit = {"pair": "person", "identity": "comparison"}
        own = report.audits[0].settings["average"]
        where = ": see 'Both averages'" if on_page else ""
        sentences.append(
            f"In {plural(differing, 'comparison')} of rates the conclusion differs if "
            f"every {unit[own]} weighs the same{where}."
        )
    return sentences


def _lone_groups(findings):
    """Where only one group has the pairs for a rate, so that nothing can be compared."""
    texts = {}
    for audit, _, finding in findings:
        lone = [r for r in finding.ratio.reasons if r.code == "few_groups"]
        if finding.verdict == "untested" and lone and lone[0].found == 1:
            of_rate = f"{RATES[finding.rate]} by {printable(audit.attribute)}"
            text = (
                f"Only one group has the pairs for the {of_rate}: nothing to compare."
            )
            texts[text] = None
    return list(texts)


def _told(audit, level, finding):
    higher = "higher" if finding.verdict == "worse" else "lower"
    return (
        f"At {place_of(level, audit)}, the {RATES[finding.rate]} of "
        f"{printable(finding.group)} is {higher} than that of {others_of(finding, printable)}: "
        f"{percent(finding.value)} against {percent(finding.other_value)}"
        f"{_factor(finding)}."
    )


def _factor(finding):
    found = finding.ratio
    if finding.verdict == "worse" and not (
        math.isfinite(found.value) and found.supported
    ):
        return f", at least {ratio(found.low)} times as high"
    ends = ratios(found.low, found.high)
    return f", {ratio(found.value)} times as high" + (f" ({ends})" if ends else "")


def _conclusions(report):
    """A table of all comparisons of groups."""
    rows = []
    for audit in report.audits:
        for level in audit.levels:
            for finding in level.findings:
                rows.append(_row_of_finding(audit, level, finding))
    head = [
        *("Comparison", "Group", "Others", "Ratio", "p", "Adjusted p", "Conclusion"),
    ]
    level = 100 * (1 - report.audits[0].settings["confidence_level"])
    caption = (
        "For each rate, operating point and attribute, every group whose rate differs from "
        "that of the others (the geometric mean of several), or else the group that differs "
        "most certainly. A ratio, its interval and p are those of one comparison alone. "
        "Conclusions go by the adjusted p, which allows for all comparisons: if no group "
        f"were treated worse, nominally at most {level:g} % of such audits would name one."
    )
    return [table(caption, head, rows)]


def _row_of_finding(audit, level, finding):
    name = f"{RATES[finding.rate]} by {printable(audit.attribute)}"
    place = f"at {place_of(level, audit)}"
    word, text = finding_words(finding)
    if finding.group is None:
        cells = [cell("\N{EN DASH}") for _ in range(5)]
        return row(name, [*cells, cell(text, word=word)], place=place)
    found = finding.ratio
    return row(
        name,
        [
            cell(f"{printable(finding.group)}: {percent(finding.value)}"),
            cell(f"{others_of(finding, printable)}: {percent(finding.other_value)}"),
            cell(
                ratio(found.value),
                ratios(found.low, found.high),
                "" if found.supported else "not supported",
            ),
            *(cell(_p(p)) for p in (found.p_value, finding.p_adjusted)),
            cell(text, word=word),
        ],
        place=place,
    )


def _p(p):
    return "\N{EN DASH}" if p != p else "< 0.001" if p < 0.001 else p_in_digits(p)


# ---- data ----------------------------------------------------------------------------


def _facts(report, source, date, version):
    first = report.audits[0]
    everyone, settings = first.groups[0], first.settings
    attributes = [printable(audit.attribute) for audit in report.audits]
    rows = [("Data", printable(source) if source else "arrays, without a file name")]
    for name, digest in settings.get("sha256", {}).items():
        rows.append((f"SHA-256 of {printable(name)}", digest))
    if everyone.n_identities is None:
        rows.append(("People", "not known; pairs taken as independent"))
    else:
        rows.append(("People", count(everyone.n_identities)))
    if everyone.n_images is not None:
        rows.append(("Images", count(everyone.n_images)))
    rows += [
        ("Mated comparisons (genuine pairs)", count(everyone.n_genuine)),
        ("Non-mated comparisons (impostor pairs)", count(everyone.n_impostor)),
        ("Attributes", "; ".join(attributes)),
    ]
    for audit in report.audits:
        if audit.n_unknown:
            unit = "images" if everyone.n_images is not None else "people or pairs"
            about = f"{count(audit.n_unknown)} {unit}, counted for everyone only"
            rows.append((f"Unknown {printable(audit.attribute)}", about))
    thresholds = [
        f"{place_of(level, first).removeprefix('an ').removeprefix('the ')}: "
        f"{accepted(level.threshold, settings)}"
        for level in first.levels
    ]
    rows.append(("Operating points", "; ".join(thresholds)))
    rows.append(("Intervals", f"{100 * settings['confidence_level']:g} %"))
    rows.append(("Date of this page", date or today()))
    rows.append(("Software", f"skfairfr {version_or_own(version)}"))
    return [{"kind": "facts", "rows": rows}]


# ---- checks and open questions -------------------------------------------------------


def _checks(report):
    rows = [_row_of_check(check, report.audits) for check in report.checks]
    if not rows:
        return []
    caption = (
        "A check fails where a bound shows that the limit is exceeded, passes where one "
        "shows that it is kept, and is undetermined otherwise."
    )
    head = ["Limit", "Allowed", "Found", "Groups", "Result"]
    return [table(caption, head, rows)]


def _place_of(check, audits):
    """Where a check was made, in words."""
    audit = next(a for a in audits if a.attribute == check.attribute)
    level = next(
        lev
        for lev in audit.levels
        if lev.far == check.far
        and (
            check.far is not None
            or check.threshold in (lev.threshold, lev.worst_group_threshold)
        )
    )
    return f"at {place_of(level, audit)}"


def _row_of_check(check, audits):
    of_rate = check.name in ("max_fmr", "max_fnmr")
    shown, ends = (percent, percents) if of_rate else (ratio, ratios)
    limit = level_percent(check.limit) if of_rate else f"{check.limit:g}"
    name = f"{LIMITED[check.name]}, by {printable(check.attribute)}"
    groups = listed([printable(g) for g in check.groups]) if check.groups else "none"
    if check.not_covered:
        left_out = listed([printable(g) for g in check.not_covered])
        groups += f" (without the pairs: {left_out})"
    return row(
        name,
        [
            cell(f"at most {limit}"),
            cell(shown(check.figure.value), ends(check.figure.low, check.figure.high)),
            cell(groups),
            cell(check.verdict, word=check.verdict, more=check.reason),
        ],
        place=_place_of(check, audits),
    )


def _open(report):
    """What is not supported, notes, and the people that undetermined checks need."""
    parts = []
    needed = [
        f"{LIMITED[c.name]} by {printable(c.attribute)}, at most "
        f"{level_percent(c.limit) if c.name in ('max_fmr', 'max_fnmr') else ratio(c.limit)}, "
        f"{_place_of(c, report.audits)}: {text}"
        for c in report.checks
        if c.verdict == "undetermined"
        and (text := needed_words(c, report.audits[0].settings))
    ]
    if needed:
        parts += [heading("How many more people would settle a check"), bullets(needed)]
    texts = [text for audit in report.audits for text in unsupported_of(audit)]
    if texts:
        about = (
            "These numbers rest on few errors, few people, or one person in many errors. "
            "Do not conclude from their size."
        )
        parts += [heading("Not supported"), text_of(about)]
        parts.append(bullets(texts))
    notes = dict.fromkeys(str(n) for audit in report.audits for n in audit.notes)
    if notes:
        parts += [heading("Notes"), bullets(map(printable, notes))]
    undecided = any(
        finding.verdict == "undecided"
        for audit in report.audits
        for level in audit.levels
        for finding in level.findings
    )
    if undecided and not report.checks:
        text = (
            "How many more people would decide depends on the difference that matters. "
            "Give a limit (such as --max-fnmr), and the audit says how many more people "
            "would settle it; skfairfr plan answers the same before a test."
        )
        parts.append(text_of(text))
    return parts
