"""The documents of audits and of comparisons: what is handed on, from the records alone."""

import math
import os
from dataclasses import replace
from importlib.resources import files
from itertools import product

import numpy as np

from skfairfr._core._planning import MAX_PEOPLE
from skfairfr._text._document import (
    Cell,
    Document,
    Facts,
    Figure,
    Row,
    Section,
    Table,
    Verdict,
)
from skfairfr._text._searches import in_search_terms
from skfairfr._text._words import (
    DECISIONS,
    LONG_RATES,
    NO_DIFFERENCE,
    NONE,
    RATES,
    TOO_FEW,
    accepted,
    as_typed,
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
    reworded,
    signed,
    who,
)
from skfairfr.report._figures import (
    MAX_CURVES,
    changes,
    det,
    det_of_systems,
    group_rates,
)
from skfairfr.report._notes import (
    at_place,
    heading_of,
    largest_rate,
    nothing_concluded,
    place_of,
    rates_in,
    reason_in_words,
    short_place,
    title_of,
)
from skfairfr.report._policy import LIMITS, POWER, RATE_LIMITS, limits_of, verdict_of
from skfairfr.report._searches import searched, who_alarms
from skfairfr.report._verdicts import beyond_all_scores

# What is compared, and what is an error, of either rate.
COUNTED = {
    "far": ("Non-mated comparisons", "False matches"),
    "frr": ("Mated comparisons", "False non-matches"),
}
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
DISPARITIES = {
    "gini": "FPD, FND (Gini) of ISO/IEC 19795-10, as cited by DeSCon",
    "max_min": "largest / smallest",
    "max_geomean": "largest / geometric mean",
    "log_geomean": "log10 distance from geometric mean",
    "difference": "largest \N{MINUS SIGN} smallest",
}
INDICES = {
    "inequity_rate": "Inequity rate (IR)",
    "werm": "WERM",
    "garbe": "GARBE",
    "fairness_discrepancy_rate": "Fairness discrepancy rate (FDR)",
}
# What became of failures, in words.
ONE_PERSON_OUT = (
    "They are made by leaving out one person at a time (jackknife): people who are in many "
    "errors widen them."
)
ONE_PAIR_OUT = "They are made by leaving out one pair at a time (jackknife)."
TESTS_AGREE = (
    "Groups are compared by two-sided tests that agree with the intervals of their ratios. "
    "The ends of a disparity follow from those of largest / smallest."
)
FAILURES_TOLD = {
    "reject": "What was not captured, or has no score, counts as rejected.",
    "report": "What was not captured, or has no score, is left out of the rates, and counted "
    "by group.",
}
# Terms of attempts, which comparisons have none of, and terms that decisions have.
OF_ATTEMPTS = ("FRR,", "FAR,", "BPCER", "APCER")
OF_DECISIONS = (*("Attempt", "FTA", "Differential", "Interval", "Too few errors"),)
# Parts of a document that a terminal shows, and a card.
IN_TEXT = ("verdict", "data", "by-*-[!d]*", "open", "method")
IN_CARD = ("verdict", "data", "by-*-level-*", "open", "limits")
IN_NOTEBOOK = ("verdict", "by-*-level-*")
CONCLUSIONS = [
    "Comparison",
    "Group",
    "Others",
    "Ratio, alone",
    "p, alone",
    "Adjusted p",
]
CONCLUSIONS += ["Conclusion"]
# Groups of more than these have no columns in a table of strata.
MOST_COLUMNS = 8
# More findings than these are counted and not told one by one.
MOST_TOLD = 6
# More of the others that a group is compared with are counted, not named.
MOST_NAMED = 3
DET = "Detection error tradeoff (DET) by group"
FEW = (
    "These numbers rest on fewer than 30 errors, on errors of fewer than 10 people, or on "
    "errors more than a third of which come from one person. Do not conclude from their size."
)
# The darkest cell of a matrix, as red, green and blue, the palest being white, and the shade
# from which white ink is clearer than black: both have a contrast of 4.5 there.
DARK, INK_CHANGES = np.array([8, 62, 112]), 0.69
# Smaller rates are not shown in digits.
NEARLY_NONE = 1e-8


def audit_document(report, source=None, date=None):
    """A report as a document.

    Parameters
    ----------
    report : Report
    source, date : str, default=None
        Where the data come from, and the day of the document.

    Returns
    -------
    document : Document
    """
    first = report.audits[0]
    names = [printable(audit.attribute) for audit in report.audits]
    single = [name for name in dict.fromkeys(names) if " & " not in name]
    about = listed(single or names)
    title = f"Audit of verification errors by {about}"
    if first.settings.get("independent_pairs"):
        title += ", pairs taken as independent"
    if "decisions" in first.settings:
        title = f"Audit of decisions by {about}"
    figure = reworded(_figure(first), first.settings)
    opening = [_verdict(report), _checks(report), figure, _conclusions(report)]
    by = []
    for n, (name, audit) in enumerate(zip(names, report.audits, strict=True)):
        rates = "FNMR" if "decisions" in audit.settings else "Error rates"
        section = Section(f"by-{n}", f"{rates} by {name}", _of_audit(report, n))
        by.append(reworded(section, audit.settings))
    sections = [
        Section("verdict", "Verdict", opening),
        Section("data", "What was tested", [Facts(_facts(report))]),
        *by,
        Section("open", "What the data cannot tell", _open(report)),
        Section(
            "method", "How it was computed", [reworded(_method(first), first.settings)]
        ),
        Section("limits", "Limits", [_limits(report)]),
        Section("glossary", "Glossary", [_glossary(report)]),
    ]
    data = "" if source is None else f"Data: {printable(source)}"
    subtitle = under_title(report, data, date)
    found = Document(called(report, title), subtitle, sections)
    if "gallery" in first.settings:
        alarms = [who_alarms(report)]
        found = searched(found, first.settings, lines_of("search_glossary"), alarms)
    return as_typed(found)


# ---- the first screen ----------------------------------------------------------------


def _verdict(report):
    """What was found: the checks counted, and each group that is treated worse."""
    if nothing := nothing_concluded(report.audits[0].settings):
        return Verdict("undetermined", *nothing)
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
    reasons = [check.reason for check in report.checks]
    reasons += [beyond_all_scores(level.rates[0]) for level in report.audits[0].levels]
    texts = [f"Undetermined: {reason}." for reason in dict.fromkeys(reasons) if reason]
    n_notes = len(_notes(report))
    where = "at the end of 'What the data cannot tell'"
    return Verdict(
        status, headline, read_first(n_notes, where) + texts + _found(report)
    )


def _notes(report):
    """Notes of all audits, each once."""
    notes = (note for audit in report.audits for note in audit.notes)
    return list(map(printable, dict.fromkeys(notes)))


def read_first(n_notes, where):
    """A sentence about notes, in a list; empty without any."""
    return [f"Read first: {plural(n_notes, 'note')} {where}."] if n_notes else []


def _found(report):
    """Sentences about the groups that are treated worse, and about what is not certain."""
    findings = _findings(report)
    worse = [f for f in findings if f[2].verdict in ("worse", "better")]
    texts = [reworded(_told(*f), f[0].settings) for f in worse[:MOST_TOLD]]
    if len(worse) > MOST_TOLD:
        more = plural(len(worse) - MOST_TOLD, "further difference")
        texts.append(f"The data show {more}, listed below.")
    # One comparison of groups may have several findings, all of them differences.
    compared = {(id(level), f.rate): f.verdict for _, level, f in findings}
    for audit in report.audits:
        if audit.settings.get("decisions") == "apcer":
            row = largest_rate(audit)
            ends = percents(row.frr.low, row.frr.high)
            n = plural(len(audit.groups) - 1, "species", "species")
            texts.append(
                f"Largest APCER of {n}: {percent(row.frr.value)} ({ends}), of "
                f"{printable(row.group)}."
            )
    texts += counted([*compared.values()], "comparisons of groups")
    equal = _findings(report, "standardised")
    texts += [
        f"At equal {controlled(one[0])}: {_told(*one)}"
        for one in equal
        if one[2].verdict in ("worse", "better")
    ][:MOST_TOLD]
    if equal:
        what = f"comparisons at equal {controlled(equal[0][0])}"
        compared = {(id(level), f.rate): f.verdict for _, level, f in equal}
        texts += counted([*compared.values()], what)
    differing = sum(_n_differing(audit) for audit in report.audits)
    if differing:
        unit = {"pair": "person", "identity": "comparison"}
        own = report.audits[0].settings["average"]
        texts.append(
            f"{plural(differing, 'conclusion')} would be another if every {unit[own]} "
            "weighed the same: see 'Both averages'."
        )
    return texts


def _findings(report, other=None):
    """Every finding, after its audit and its level; of "standardised" rates, where asked."""
    measured = [(a, getattr(a, other) if other else a) for a in report.audits]
    return [
        (audit, level, finding)
        for audit, own in measured
        if own is not None
        for level in own.levels
        for finding in level.findings
    ]


def controlled(audit):
    """The covariates that rates of an audit are standardised by."""
    return listed(
        [
            "difference of " * text.endswith(":gap") + printable(text.partition(":")[0])
            for text in audit.settings["control"]
        ]
    )


def counted(verdicts, what):
    """Sentences about how many of all verdicts are of each state that is no finding."""
    about = {NO_DIFFERENCE: ", which is no evidence that there is none", TOO_FEW: ""}
    return [
        f"{capital(word)}: {verdicts.count(word)} of {len(verdicts):,} {what}{more}."
        for word, more in (about | {"undetermined": ""}).items()
        if word in verdicts
    ]


def _told(audit, level, finding):
    found, higher = finding.ratio, finding.verdict == "worse"
    at = at_place(level, audit)
    size = f"{ratio(found.value)} times as high ({ratios(found.low, found.high)})"
    if not (math.isfinite(found.value) and found.supported):
        bound = (
            f"at least {ratio(found.low)}" if higher else f"at most {ratio(found.high)}"
        )
        few = dict.fromkeys(g for r in found.reasons for g in r.groups or ())
        whose = f" of {listed([printable(group) for group in few])}" if few else ""
        by_how_much = f"by how much {'more' if higher else 'less'}: {TOO_FEW}{whose}"
        size = f"{bound} times as high; {by_how_much}"
    return (
        f"{printable(finding.group)} is treated {finding.verdict}: {at and f'{at}, '}its "
        f"{RATES[finding.rate]} is {percent(finding.value)} against "
        f"{_rate_of_others(finding, '{1} of {0}')}, {size}."
    )


def _rate_of_others(finding, form="{0}: {1}"):
    """Those that a group is compared with, and their rate, in a form."""
    if (
        finding.other_value == 0 and len(finding.others) > 1
    ):  # which one zero makes zero
        return f"{_others(finding).removesuffix(' (geometric mean)')}, some without an error"
    return form.format(_others(finding), percent(finding.other_value))


def _others(finding):
    """Those that a group is compared with."""
    if len(finding.others) == 1:
        return printable(finding.others[0])
    named = f"the {len(finding.others)} others"
    if len(finding.others) <= MOST_NAMED:
        named = listed([printable(group) for group in finding.others])
    return f"{named} (geometric mean)"


def _checks(report):
    """A table of all checks, the worst first."""
    worst_first = ("failed", "undetermined", "passed").index
    checks = sorted(report.checks, key=lambda check: worst_first(check.verdict))
    rows = [_of_check(check, report) for check in checks]
    caption = (
        "A check fails where a bound shows that the limit is exceeded, passes where one "
        "shows that it is kept, and is undetermined otherwise. Bounds that show an excess "
        "hold for all groups at once, the others for one rate or ratio alone."
    )
    head = ["Check", "Allowed", "Group", "Found", "Bound", "Result"]
    return Table(caption, head, rows)


def _of_check(check, report):
    """A check by name, with its limit, groups, number, bound and verdict."""
    of_rate = check.name in RATE_LIMITS
    shown = percent if of_rate else ratio
    groups = [printable(group) for group in check.groups] or ["none"]
    named = listed(groups)
    if len(groups) > 1 and not of_rate:
        named = f"{groups[0]} over {listed(groups[1:])}"
    left_out = ", ".join(map(printable, check.not_covered))
    more = f"not judged for lack of pairs: {left_out}" if left_out else ""
    cells = [
        Cell(f"at most {_limit_of(check)}"),
        Cell(named, more=more),
        Cell(shown(check.figure.value)),
        Cell(_bound(check, shown)),
        Cell(check.verdict, word=check.verdict),
    ]
    name = f"{LIMITED[check.name]}, by {printable(check.attribute)}"
    audit = audit_of(check, report)
    return reworded(Row(capital(name), cells, at_place(check, audit)), audit.settings)


def audit_of(check, report):
    """The audit that a check is of."""
    found = (a for a in report.audits if any(c is check for c in a.checks))
    return next(found, report.audits[0])


def sentence_of_check(check, report):
    """A check in one sentence."""
    row = _of_check(check, report)
    *told, result = [cell.line for cell in row.cells]
    text = f"{result}: {row.line}: {'; '.join(told)}."
    text = f"{text} {needed_words(check, report)}".strip()
    searched_ = "gallery" in report.audits[0].settings
    return as_typed(in_search_terms(text) if searched_ else text)


def _limit_of(check):
    of_rate = check.name in RATE_LIMITS
    return level_percent(check.limit) if of_rate else f"{check.limit:g}"


def _bound(check, shown):
    """The bound by which a check passed, failed or is open."""
    found, verdict = check.figure, verdict_of(check.figure, check.limit)
    if check.reason:
        return check.reason
    if not check.groups:
        return "none: too few groups have the pairs"
    # Whose bound it is, if the groups that are shown do not say it.
    whose = (
        "" if check.decided_by or check.name in RATE_LIMITS else " of some two groups"
    )
    if check.decided_by and check.decided_by != check.groups:
        whose = f" for {printable(check.decided_by[0])}"
    if verdict == "failed":
        return f"at least {shown(found.low)}{whose}"
    if verdict == "passed":
        return f"at most {shown(found.high)}{whose}"
    if math.isnan(found.high):
        return "none: one person alone has the pairs"
    if found.value > check.limit:
        low = shown(found.low) if found.low > NEARLY_NONE else "nearly 0 %"
        return f"may be as small as {low}{whose}"
    return f"may be as large as {shown(found.high)}{whose}"


def needed_words(check, report):
    """How many more people, or pairs, would settle an undetermined check."""
    if check.verdict != "undetermined" or check.reason or not check.groups:
        return ""
    one, several = "person", "people"
    if report.audits[0].settings.get("independent_pairs"):
        one = f"{'impostor' if LIMITS[check.name][0] == 'far' else 'genuine'} pair"
        several = f"{one}s"
    if math.isnan(check.figure.value + check.figure.high):
        return "More people, or a threshold with more errors, are needed."
    if not check.people_needed:
        return f"If rates are as found, no number of {several} up to {MAX_PEOPLE:,} settles it."
    people = listed(
        [
            f"{plural(_rounded_up(more), f'more {one}', f'more {several}')} in "
            f"{printable(group)}"
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
    rates = rates_in(audit.groups)
    shown = "Both error rates" if len(rates) > 1 else RATES[rates[0]]
    caption = (
        f"{shown} by {printable(audit.attribute)}; further right is worse. "
        f"Bars are {100 * confidence:g} % intervals, each alone."
    )
    asked = audit.levels, names, limits, confidence
    return Figure(caption, lambda: group_rates(*asked, rates))


def _conclusions(report):
    """A table of all comparisons of groups."""
    rows = [_row_of_finding(*found) for found in _findings(report)]
    alpha = 100 * (1 - report.audits[0].settings["confidence_level"])
    caption = (
        "A row for each group whose rate differs from that of the others (the geometric "
        "mean of several), or else for the group that differs most clearly. A conclusion "
        "goes by the adjusted p, which allows for the number of comparisons: were all "
        f"groups treated alike, about {alpha:g} % of such audits or fewer would name one. "
        "Adjusted, several p may be equal (Holm's method)."
    )
    return Table(caption, CONCLUSIONS, rows)


def _row_of_finding(audit, level, finding):
    found, cells = finding.ratio, [Cell(NONE)] * 5
    if finding.group is not None and finding.verdict != "undetermined":
        cells = [
            Cell(f"{printable(finding.group)}: {percent(finding.value)}"),
            Cell(_rate_of_others(finding)),
            Cell(ratio(found.value), ratios(found.low, found.high), few=_few(found)),
            Cell(p_value(found.p_value)),
            Cell(p_value(finding.p_adjusted)),
        ]
    name = f"{RATES[finding.rate]} by {printable(audit.attribute)}"
    shown = concluded(finding.verdict, _conclusion(finding), found.supported)
    row = Row(name, [*cells, shown], at_place(level, audit))
    return reworded(row, audit.settings)


def _conclusion(finding):
    """What a finding concludes, in words."""
    if finding.verdict not in ("worse", "better"):
        return finding.verdict
    others = " than the others" if len(finding.others) > 1 else ""
    return f"{printable(finding.group)} is treated {finding.verdict}{others}"


def concluded(verdict, text, supported=True):
    """A conclusion; findings that rest on enough, and what is undetermined, have a colour."""
    if verdict == TOO_FEW:
        return Cell("", few=TOO_FEW)
    coloured = (supported and verdict != NO_DIFFERENCE) or verdict == "undetermined"
    return Cell(text, word=verdict if coloured else "")


def _few(figure):
    return "" if figure.supported else TOO_FEW


# ---- data ----------------------------------------------------------------------------


def _facts(report):
    first = report.audits[0]
    attributes = [printable(audit.attribute) for audit in report.audits]
    rows = [
        (f"SHA-256 of {printable(name)}", digest)
        for name, digest in first.settings.get("sha256", {}).items()
    ]
    if "decisions" in first.settings:
        rows += _facts_of_decisions(report, attributes)
    else:
        rows += facts_of_data(first.groups[0], attributes)
    unit = "images" if first.groups[0].n_images is not None else "people or pairs"
    if "decisions" in first.settings:
        unit = "people"
    for audit in report.audits:
        if audit.n_unknown:
            about = f"{count(audit.n_unknown)} {unit}, counted for everyone only"
            rows.append((f"Unknown {printable(audit.attribute)}", about))
    if "decisions" in first.settings:
        return rows
    thresholds = [title_of(level, first) for level in first.levels]
    return [*rows, ("Operating points", "; ".join(thresholds))]


def called(found, usual):
    """The title that was given for a document, or else the usual one."""
    return printable(found.about["title"]) if "title" in found.about else usual


def under_title(found, data, date):
    """What was tested on what, by whom and when, as far as it is known, in one line."""
    named = {"system": "System", "dataset": "Data set", "organisation": "Laboratory"}
    told = [(t, found.about[name]) for name, t in named.items() if name in found.about]
    told = [f"{title}: {printable(text)}" for title, text in told]
    return "; ".join(filter(None, [*told, data, date and f"Date: {printable(date)}"]))


def _facts_of_decisions(report, attributes):
    """How many people made how many attempts of each kind, and by what they are grouped."""
    rows = {}
    for audit in report.audits:
        everyone = audit.groups[0]
        people = plural(everyone.n_identities, "person", "people")
        attempts = reworded("Mated comparisons", audit.settings)
        rows[attempts] = f"{count(everyone.n_genuine)}, of {people}"
    return [*rows.items(), ("Attributes", "; ".join(dict.fromkeys(attributes)))]


def facts_of_data(everyone, attributes):
    """How many people, images and comparisons there are, and by what they are grouped."""
    people = "not known; pairs taken as independent"
    if everyone.n_identities is not None:
        people = count(everyone.n_identities)
    images = [] if everyone.n_images is None else [("Images", count(everyone.n_images))]
    genuine, impostor = everyone.n_genuine, everyone.n_impostor
    of_kind = [
        (("Mated comparisons (genuine pairs)", count(genuine)), genuine),
        (("Non-mated comparisons (impostor pairs)", count(impostor)), impostor),
    ]
    return [
        ("People", people),
        *images,
        *(kind for kind, n in of_kind if n),
        ("Attributes", "; ".join(attributes)),
    ]


# ---- an attribute --------------------------------------------------------------------


def _of_audit(report, place):
    """Parts of the section of one attribute."""
    audit = report.audits[place]
    by = f"by {printable(audit.attribute)} at"
    crossings = [
        _cells(crossing, audit)
        for crossing in report.crossings
        if " & ".join(crossing.attributes) == audit.attribute
    ]
    parts = [
        (f"level-{n}", title_of(level, audit), _tables([level], [audit], audit, by))
        for n, level in enumerate(audit.levels)
    ]
    parts += [
        *_at_equal(audit, place),
        ("det", DET, [_det(audit)]),
        ("lost", "Where each group is lost", [_lost(audit)]),
        ("averages", "Both averages", [_averages(audit)]),
        ("groups", "Groups", [_groups([audit]), *crossings]),
        ("failures", "Failures to acquire and to enrol", [_failures(audit)]),
    ]
    return [_figure(audit)] * (place > 0) + [
        Section(f"by-{place}-{name}", title, found) for name, title, found in parts
    ]


def _at_equal(audit, place):
    """The section of standardised rates, in a list; empty without any."""
    if audit.control is None:
        return []
    title = f"At equal {controlled(audit)}"
    parts = [*lines_of("control"), _strata(audit, "far"), _strata(audit, "frr")]
    both = zip(audit.levels, audit.standardised.levels, strict=True)
    for n, (level, found) in enumerate(both):
        rows = []
        for raw, row in zip(level.rates[1:], found.rates[1:], strict=True):
            figures = (raw.far, row.far, raw.frr, row.frr)
            rows.append(_row_of_group(row.group, [_of_rate(f) for f in figures]))
        raw = next(d for d in level.disparities if d.how == "max_min")
        (equal,) = found.disparities
        figures = (raw.far, equal.far, raw.frr, equal.frr)
        cells = [
            Cell(ratio(f.value), ratios(f.low, f.high), few=_few(f)) for f in figures
        ]
        rows.append(Row(capital(DISPARITIES["max_min"]), cells))
        caption = f"Rates at {place_of(level, audit)}, as they are and {title.lower()}."
        head = ["Group"]
        for rate in RATES.values():
            head += [f"{rate}, as it is", f"{rate}, {title.lower()}"]
        compared = Table(
            "Conclusions at equal covariates, by a family of tests of their own.",
            CONCLUSIONS,
            [_row_of_finding(audit, level, finding) for finding in found.findings],
        )
        tables = [Table(caption, head, rows), compared]
        name = f"by-{place}-control-{n}"
        parts.append(Section(name, heading_of(level, audit), tables))
    return [("control", title, parts)]


def _strata(audit, rate):
    """A table of the strata of one rate: their weights, and the shares in each group."""
    strata, lost = audit.control.strata, getattr(audit.control, f"{rate}_lost")
    if math.isnan(lost):
        return []
    groups = audit.control.groups
    groups = groups if len(groups) <= MOST_COLUMNS else ()
    rows = []
    for stratum in strata:
        share = getattr(stratum, f"{rate}_share")
        within = getattr(stratum, f"{rate}_within")[: len(groups)]
        cells = [
            Cell(percent(share) if share else "left out"),
            *map(Cell, map(percent, within)),
        ]
        rows.append(Row(printable(stratum.name), cells))
    caption = (
        f"Strata of the {RATES[rate]}: the weight of each, and its share of the pairs of "
        f"each group. {percent(lost)} of the pairs are in no stratum that all groups have."
    )
    return Table(caption, ["Stratum", "Weight", *map(printable, groups)], rows)


def _tables(levels, systems, found, by, names=("",)):
    """Tables of a level of each of some systems, (n_systems,), whose rows stand side by side."""
    rates, disparities, measured = [], [], rates_in(systems[0].groups)
    for level, system, name in zip(levels, systems, names, strict=True):
        of_groups = zip(level.rates, system.groups, strict=True)
        rates.append([_rates_row(level, measured, *row, name) for row in of_groups])
        disparities.append(_disparity_rows(level, measured, found.settings, name))
    abouts = [
        ", ".join(filter(None, (f"{by} {place_of(level, found)}", name)))
        for level, name in zip(levels, names, strict=True)
    ]
    return [
        _rates(
            _beside(rates),
            measured,
            found.settings,
            any(lev.generalised for lev in levels),
        ),
        _disparities(_beside(disparities), measured, found.settings),
        *_matrices([level.matrix for level in levels], abouts),
    ]


def _beside(rows_of_each):
    """Rows of several systems, the first of each, then the second and so on."""
    return [row for of_all in zip(*rows_of_each, strict=True) for row in of_all]


def _rates_row(level, measured, found, size, place):
    """Comparisons, errors and rates of a group; ``size`` is its GroupRow."""
    cells, n_pairs = [], {"far": size.n_impostor, "frr": size.n_genuine}
    for rate in measured:
        figure, errors = getattr(found, rate), getattr(found, f"{rate}_errors")
        like = _like(rate, getattr(found, f"{rate}_effective"))
        cells += [
            Cell(count(n_pairs[rate])),
            Cell(count(errors, figure.source), more=like),
        ]
        cells.append(_of_rate(figure))
    if level.generalised:
        # A group that no attempt is of, as of pairs without a mated one, has none.
        own = next((g for g in level.generalised if g.group == found.group), None)
        cells += [Cell(percent(own and getattr(own, f"g{rate}"))) for rate in measured]
    return _row_of_group(found.group, cells, place)


def _like(rate, effective):
    """As how many independent errors, of how many people, errors count; "" of none."""
    if effective is None or not effective.errors:
        return ""
    errors, people = (max(1, round(n)) for n in (effective.errors, effective.people))
    of = "between" if rate == "far" else "of"
    return f"like {plural(errors, 'error')} {of} {plural(people, 'person', 'people')}"


def _row_of_group(group, cells, place=""):
    name = "Everyone" if group is None else printable(group)
    return Row(name, cells, place, group is None)


def _of_rate(figure):
    if math.isnan(figure.value):  # no pairs, as the column of counts says
        return Cell(NONE)
    ends = percents(figure.low, figure.high)
    return Cell(percent(figure.value), ends, few=_few(figure))


def _rates(rows, measured, settings, generalised):
    head = ["Group"]
    for rate in measured:
        head += [*COUNTED[rate], RATES[rate]]
    head += [f"G{rate.upper()}" for rate in measured if generalised]
    caption = (
        "Comparisons, errors and error rates of each group, with intervals, each alone."
    )
    if not settings.get("independent_pairs"):
        caption += (
            " Errors of one person come together: 'like 7 errors of 4 people' says how many "
            "independent errors would tell as much, and how many people share the errors. 'Too "
            "few errors' goes by those counted."
        )
    if settings["average"] == "identity":
        caption += " Every person weighs the same, so that a rate is not errors over comparisons."
    return Table(caption, head, rows)


def _disparity_rows(level, measured, settings, place):
    """Disparities and indices of a level."""
    found = {(d.how, d.operating_point): d for d in level.disparities}
    named = [(name, found.get((how, "overall"))) for how, name in DISPARITIES.items()]
    if "decisions" in settings:  # FND is of comparisons
        named[0] = "Gini coefficient", named[0][1]
    worst = "BFAR, BFRR: largest / smallest where no group's FMR exceeds the level"
    named.append((worst, found.get(("max_min", "worst_group"))))
    rows = [_disparity(name, d, measured, place) for name, d in named if d is not None]
    if math.isfinite(level.worst_group_threshold):
        there = accepted(level.worst_group_threshold, settings)
        rows[-1] = replace(rows[-1], place=", ".join(filter(None, (place, there))))
    joined = found.get(("max_min", "overall"))
    supported = joined is None or (joined.far.supported and joined.frr.supported)
    for index in level.indices:
        both = f"{ratio(index.value)} (both rates)"
        cells = [Cell(both, few="" if supported else TOO_FEW), Cell(NONE)]
        rows.append(
            Row(INDICES[index.name], [Cell(f"{index.neutral:g}"), *cells], place)
        )
    return rows


def _disparity(name, found, measured, place):
    shown, ends = ratio, ratios
    if found.how == "difference":
        shown, ends = points, points_between
    cells = [Cell(f"{found.neutral:g}")]
    for figure in (getattr(found, rate) for rate in measured):
        more, corrected = "", figure.corrected
        if corrected is not None and math.isfinite(corrected + figure.value):
            more = f"{shown(corrected)} without noise"
        of_ends = ends(figure.low, figure.high)
        cells.append(Cell(shown(figure.value), of_ends, more, _few(figure)))
    return Row(name, cells, place)


def _disparities(rows, measured, settings):
    at = "" if "decisions" in settings else " at one threshold for everybody"
    caption = f"Disparities{at}. Larger is less fair"
    if len(measured) > 1:
        caption += "; for FDR, smaller is. The last four combine both rates and have no interval"
    caption += (
        ". Lower ends of largest / smallest allow for the number of groups. Chance alone "
        "makes rates differ: "
        "'without noise' is an estimate of the disparity without that part."
    )
    head = ["Disparity", "If all are alike", *(f"Of the {RATES[r]}" for r in measured)]
    return Table(caption, head, rows)


def _matrices(matrices, abouts):
    """Tables of FMR matrices, in shades that can be compared; empty without two groups."""
    if any(matrix is None or len(matrix.groups) < 2 for matrix in matrices):
        return []
    shades = _shades(np.stack([matrix.far for matrix in matrices]))
    return [_matrix(*of_one) for of_one in zip(matrices, shades, abouts, strict=True)]


def _matrix(matrix, shades, about):
    rows = []
    for g, group in enumerate(matrix.groups):
        found = zip(
            *(of[g] for of in (matrix.n_impostor, matrix.n_errors, matrix.far, shades)),
            strict=True,
        )
        cells = [
            Cell(percent(far), f"{errors:,} of {n:,}", style=_style(shade))
            if n
            else Cell("no pairs")
            for n, errors, far, shade in found
        ]
        rows.append(Row(printable(group), cells))
    caption = (
        f"FMR of every two groups {about}: how often two people, one of each group, are "
        "taken for one. Darker is worse."
    )
    if not np.allclose(matrix.far, matrix.far.T, equal_nan=True):
        caption += " Rows are the groups of probes, columns those of references."
    return Table(caption, ["Group", *map(printable, matrix.groups)], rows, "matrix")


def _shades(far):
    """Depth of colour of each cell in [0, 1], by the logarithm of its rate."""
    shown = np.where(far > 0, far, np.nan)
    if np.isnan(shown).all():
        return np.zeros(far.shape)
    logs = np.log10(shown)
    low, high = np.nanmin(logs) - 0.3, np.nanmax(logs)
    return np.nan_to_num((logs - low) / max(high - low, 1.0))


def _style(shade):
    """Colours of a cell: the ground, and of black and white the ink that is clearer."""
    ink = "#fff" if shade > INK_CHANGES else "#000"
    ground = ",".join(f"{part:.0f}" for part in 255 + (DARK - 255) * shade)
    return f"background:rgb({ground});color:{ink};--soft:{ink}"


def _det(audit):
    """The figure of the curves of all groups; None without curves."""
    if audit.curves is None or len(rates_in(audit.groups)) < 2:
        return None
    names = [short_place(level, audit) for level in audit.levels]
    caption = (
        "Both rates of each group as the one threshold for everybody moves. Where the "
        "points of groups lie apart, the threshold treats them differently. Hollow points "
        f"rest on {TOO_FEW}; rates of zero have no place on these axes."
    )
    if len(audit.curves.groups) > MAX_CURVES:
        caption += " Each panel has one group in blue, and everyone in grey."
    return Figure(caption, lambda: det(audit.curves, audit.levels, names))


def _averages(audit):
    """Rates and conclusions, every comparison weighing the same and every person."""
    if audit.averaged is None:
        return None
    rows = []
    for both in zip(audit.levels, audit.averaged.levels, strict=True):
        place = at_place(both[0], audit)
        for rate in rates_in(audit.groups):
            for of_group in zip(*(level.rates for level in both), strict=True):
                name = f"{RATES[rate]} of {who(of_group[0].group)}"
                cells = [_of_rate(getattr(found, rate)) for found in of_group]
                rows.append(Row(name, cells, place))
            told = ["; ".join(_told_of(level, rate)) for level in both]
            rows.append(Row(f"{RATES[rate]}, conclusion", [*map(Cell, told)], place))
    weighs = {"pair": "Every comparison alike", "identity": "Every person alike"}
    caption = (
        f"One person is in {100 * audit.largest_genuine_share:.0f} % of the mated "
        "comparisons, so it matters whether every comparison weighs the same or every "
        "person. The conclusions, checks and tables above use the first of the two columns."
    )
    head = ["Rate", weighs[audit.settings["average"]], weighs[audit.averaged.value]]
    return Table(caption, head, rows)


def _told_of(level, rate):
    """What a level concludes about a rate, for each finding."""
    return [_conclusion(found) for found in level.findings if found.rate == rate]


def _n_differing(audit):
    """At how many levels, of either rate, the other average concludes something else."""
    if audit.averaged is None:
        return 0
    rates = rates_in(audit.groups)
    both = product(zip(audit.levels, audit.averaged.levels, strict=True), rates)
    return sum({*_told_of(a, rate)} != {*_told_of(b, rate)} for (a, b), rate in both)


def _groups(systems, names=("",)):
    """Sizes of the groups, and the equal error rates of each system."""
    rows, shown = [], {"n_identities": "People", "n_images": "Images"}
    if systems[0].groups[0].n_images is None:
        del shown["n_images"]
    for system, name in zip(systems, names, strict=True):
        rows.append([])
        for found in system.groups:
            sizes = [Cell(count(getattr(found, name))) for name in shown]
            equal = found.equal_error_rate
            cells = sizes if equal is None else [*sizes, _of_rate(equal)]
            rows[-1].append(_row_of_group(found.group, cells, name))
    caption, head = "Size of each group.", ["Group", *shown.values()]
    if len(rates_in(systems[0].groups)) > 1:
        head.append("EER")
        caption = (
            "Size of each group, and its equal error rate (EER), at the threshold where its "
            f"{LONG_RATES['far']} equals its {LONG_RATES['frr']}."
        )
    return Table(caption, head, _beside(rows))


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
    head = [capital(names), capital(counted)]
    return Table(f"Number of {counted} by {names}.", head, rows)


def _lost(audit):
    """A table of genuine pairs that fail before they are compared, and after."""
    rows = []
    for level in audit.levels:
        if level.rates[0].frr_failures is None:
            return None
        for size, found in zip(audit.groups, level.rates, strict=True):
            n, failed = size.n_genuine, found.frr_failures
            numbers = failed, (found.frr_errors or 0) - failed
            cells = [Cell(count(n))]
            for number in (*numbers, sum(numbers)):
                share = percent(number / n) if n else ""
                cells.append(Cell(count(number), share))
            rows.append(_row_of_group(found.group, cells, at_place(level, audit)))
    caption = (
        "Mated comparisons of each group that fail to be enrolled or acquired, and those that "
        "are compared and then not matched; both are rejected."
    )
    head = [
        "Group",
        "Mated comparisons",
        "Not enrolled or acquired",
        "Then not matched",
    ]
    return Table(caption, [*head, "Rejected"], rows)


def _failures(audit):
    """A table of attempts without a template, by group."""
    rows, enrolled = [], any(found.n_failed_to_enrol for found in audit.failures)
    for found in audit.failures:
        shown = count(found.n_failed_to_acquire), percent(found.fta)
        shown += count(found.n_failed_to_enrol), percent(found.fte)
        texts = (count(found.n_attempts), *shown)[: 5 if enrolled else 3]
        rows.append(_row_of_group(found.group, list(map(Cell, texts))))
    head = ["Group", "Attempts", "Failed to acquire", "FTA"]
    caption = (
        "Attempts that gave no template or no score, by group. FTA is the share of all "
    )
    caption += "attempts."
    if enrolled:
        head += ["Failed to enrol", "FTE"]
        caption = f"{caption[:-1]}, FTE the share of those acquired."
    return Table(caption, head, rows)


# ---- what is open --------------------------------------------------------------------


def _open(report):
    """What rests on too few errors, the people that checks need, and notes."""
    needed = []
    for audit, check in ((a, c) for a in report.audits for c in a.checks):
        if text := needed_words(check, report):
            name = f"{LIMITED[check.name]} by {printable(check.attribute)}"
            place = at_place(check, audit)
            about = ", ".join(
                filter(None, (name, f"at most {_limit_of(check)}", place))
            )
            needed.append(reworded(f"{about}: {text}", audit.settings))
    few = [text for audit in report.audits for text in unsupported_of(audit, audit)]
    parts = [
        Section("open-needed", "What would settle a check", [needed]),
        Section("open-few", capital(TOO_FEW), [FEW, few] if few else []),
        Section("open-notes", "Notes", [_notes(report)]),
    ]
    verdicts = [finding.verdict for *_, finding in _findings(report)]
    if not report.checks and NO_DIFFERENCE in verdicts:
        parts.append(
            "How many more people would decide depends on the difference that matters. "
            "Give a limit (such as --max-fnmr), and the audit says how many more people "
            "would settle it; skfairfr plan answers the same before a test."
        )
    return parts


def unsupported_of(measured, found):
    """Sentences about figures that rest on too few errors, with the reason.

    Parameters
    ----------
    measured : Audit or Measured
    found : Audit or SystemsComparison
        Whose settings these are.
    """
    by, rates = f"by {printable(measured.attribute)}", rates_in(measured.groups)
    named = [
        (f"EER of {who(row.group)} ({by})", row.equal_error_rate, None)
        for row in measured.groups
        if row.equal_error_rate is not None
    ]
    texts = []
    for level in measured.levels:
        at = at_place(level, found)
        named += [
            (
                f"{RATES[rate]} of {who(row.group)} ({by}) {at}".strip(),
                getattr(row, rate),
                rate,
            )
            for row in level.rates
            for rate in rates
        ]
        for finding in level.findings:
            told = _not_compared(finding, level)
            about = f"{RATES[finding.rate]} {by} {at}".strip()
            texts += [f"{about}: {text}." for text in told]
    few = [
        f"{name}: {reason_in_words(figure, rate)}."
        for name, figure, rate in named
        if not figure.supported
    ]
    return reworded(list(dict.fromkeys(few + texts)), found.settings)


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


def lines_of(name):
    """Lines of a text that is the same on every page."""
    file = files("skfairfr.report") / "texts" / f"{name}.txt"
    return file.read_text(encoding="utf-8").splitlines()


def glossary(settings, without, only=""):
    """Words of the page: none of those that begin so, and only those that begin so."""
    accepted_at = "similarity from which on"
    if settings.get("distance"):
        accepted_at = "distance up to which"
    lines = (line.replace("{accepted}", accepted_at) for line in lines_of("glossary"))
    terms = (line.split(": ", 1) for line in lines)
    return Facts(
        [(t, s) for t, s in terms if t.startswith(only) and not t.startswith(without)],
        long=True,
    )


def _kinds(report):
    """What the errors of decisions are called, a set; empty of comparisons."""
    return {a.settings["decisions"] for a in report.audits if "decisions" in a.settings}


def _glossary(report):
    """Words of an audit's page: those of comparisons, or of the decisions that it has."""
    settings, kinds = report.audits[0].settings, _kinds(report)
    if kinds:
        wanted = tuple(f"{DECISIONS[kind][0]}," for kind in kinds)
        return glossary(settings, (), (*wanted, *OF_DECISIONS))
    left_out = ("Levelling down", *OF_ATTEMPTS)
    if settings.get("failures") == "reject":
        left_out = ("Levelling down", "BPCER", "APCER", "GFAR")
    return glossary(settings, left_out)


def _method(audit):
    """How the numbers of an audit came about."""
    settings, set_on = audit.settings, audit.levels[0].set_on
    if "decisions" in settings:
        return _method_of_decisions(settings)
    independent = settings.get("independent_pairs")
    end = (
        "distance is at most" if settings.get("distance") else "similarity is at least"
    )
    texts = [
        "Every two samples that the data compare make one comparison. It is accepted if its "
        f"{end} the threshold, and belongs to a group if both samples do."
    ]
    if "similarity" in settings:
        texts.append(
            f"Two samples are compared by {printable(settings['similarity'])}."
        )
    if told := FAILURES_TOLD.get(settings.get("failures")):
        texts.append(told)
    if settings.get("domain"):
        across = f"the two values of {printable(settings['domain'])}"
        texts.append(f"Only samples across {across} are compared.")
    pairs = "all non-mated comparisons"
    if settings["impostors"] == "same_group":
        pairs = "the non-mated comparisons within a group"
    if "threshold_group" in settings:
        pairs = f"{printable(settings['threshold_group'])} alone"
    on = printable(settings.get("threshold_from") or set_on)
    setting = f"A threshold is set where the FMR of {pairs} meets the level, on {on}."
    if set_on == "given":
        setting = "The threshold was given."
    drawn, left_out = "other people of the same population", ONE_PERSON_OUT
    if independent:
        drawn = "other pairs, as if no two shared a person"
        left_out = ONE_PAIR_OUT
    weighs = "comparison" if settings["average"] == "pair" else "person"
    return [
        *texts,
        f"{setting} Every {weighs} weighs the same in a rate.",
        f"Intervals are about this threshold and {drawn}, at "
        f"{100 * settings['confidence_level']:g} %, each alone. {left_out}",
        TESTS_AGREE,
    ]


def _method_of_decisions(settings):
    """How the numbers of an audit of decisions came about."""
    best_of, texts = settings.get("best_of"), []
    if best_of:
        texts.append(
            f"A transaction is the first {best_of} attempts of one person in a session, in "
            "the order of the data. It is accepted if one of them is."
        )
    told = FAILURES_TOLD.get(settings.get("failures"))
    texts += [told] if told else []
    weighs = "comparison" if settings["average"] == "pair" else "person"
    return [
        *texts,
        f"Every {weighs} weighs the same in a rate.",
        "Intervals are about other people of the same population, at "
        f"{100 * settings['confidence_level']:g} %, each alone. {ONE_PERSON_OUT}",
        TESTS_AGREE,
    ]


def _limits(report):
    """What the page does not say."""
    audit, lines = report.audits[0], lines_of("limits")
    if _kinds(report) & {"far", "apcer"}:
        lines = [line for line in lines if not line.startswith("Nobody tried")]
    if audit.settings.get("independent_pairs"):
        about = "Nobody is known by name: pairs were taken as independent. Where people"
        lines.insert(1, f"{about} are in several pairs, intervals are too narrow.")
    return lines


# ---- a comparison of systems, harm first ---------------------------------------------

# Of a system in a legend and in a row.
LONGEST = 28
CHANGES_IN_TEXT = ("verdict", "data", "system-*", "open", "notes", "method")
CHANGES_IN_NOTEBOOK = ("verdict", "system-*")


def comparison_document(found, date=None):
    """A SystemsComparison as a document, of a day where one is given."""
    first, *others = short_names(found.systems)
    opening = [_verdict_of_changes(found), _disparity_changes(found)]
    terms = glossary(found.settings, ("Template", "FTA", "GFAR", *OF_ATTEMPTS))
    systems = [
        Section(f"system-{n}", f"{short} against {first}", _of_system(found, name, n))
        for n, (short, name) in enumerate(zip(others, found.systems[1:], strict=True))
    ]
    attributes = dict.fromkeys(m.attribute for m in found.measured)
    by = [
        Section(f"by-{n}", f"Error rates by {printable(of)}", _of_attribute(found, of))
        for n, of in enumerate(attributes)
    ]
    sections = [
        Section("verdict", "Verdict", opening),
        Section("data", "What was compared", [Facts(_facts_of_systems(found))]),
        *systems,
        *by,
        Section("open", "What the data cannot tell", _unsupported(found)),
        Section("notes", "Notes", [[*map(printable, found.notes)]]),
        Section("method", "How it was computed", [_method_of_comparison(found)]),
        Section("limits", "Limits", [lines_of("comparison_limits")]),
        Section("glossary", "Glossary", [terms]),
    ]
    title = called(found, "Comparison of verification systems")
    subtitle = under_title(found, f"{', '.join(others)} against {first}", date)
    document = Document(title, subtitle, sections)
    if "gallery" in found.settings:
        document = searched(document, found.settings, lines_of("search_glossary"))
    return as_typed(document)


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


def _verdict_of_changes(found):
    if nothing := nothing_concluded(found.settings):
        return Verdict("undetermined", *nothing)
    harm, improved = found.harm, found.improved
    better = f"{plural(len(improved), 'rate')} got better." if improved else ""
    verdicts = [change.verdict for change in found.changes]
    coloured = {_as_drawn(change, found).verdict for change in found.changes}
    status, headline = "none", "No certain difference in any rate."
    if harm:
        status = "failed" if "worse" in coloured else "none"
        headline = f"Harm: {plural(len(harm), 'rate')} got worse. {better}".strip()
    elif improved:
        status = "passed" if "better" in coloured else "none"
        headline = f"No harm was found. {better}"
    elif set(verdicts) <= {TOO_FEW, "undetermined"}:
        status, headline = "undetermined", "Undetermined: whether a rate changed."
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
    few = change.verdict in ("worse", "better") and not _is_supported(change, found)
    size = f"; by how much: {TOO_FEW}" if few else ""
    return (
        f"{capital(change.verdict)}{system and f' with {system}'}: {RATES[change.rate]} of "
        f"{of} at {place_of(change, found)}, {percent(change.before)} before and "
        f"{percent(change.after)} after (difference {signed(points(change.difference))}, {ends})"
        f"{size}."
    )


def _is_supported(change, found):
    """Whether a rate rests on enough errors with both systems."""
    return all(
        getattr(row, change.rate).supported
        for level in _levels_of(change, found)
        for row in level.rates
        if row.group == change.group
    )


def _as_drawn(change, found):
    """The change, whose verdict is ``TOO_FEW`` where it is not to be coloured."""
    supported = _is_supported(change, found)
    return change if supported else replace(change, verdict=TOO_FEW)


def _levels_of(change, found):
    """What was measured of both systems at the operating point of a change."""
    return [
        level
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
        f"Levelling down: the ratio of largest to smallest {RATES[change.rate]} by "
        f"{printable(change.attribute)} at {place_of(change, found)} fell from "
        f"{ratio(change.before)} to {ratio(change.after)}, and groups are worse off; no "
        "rate was found to have got better."
    )


def _disparity_changes(found):
    """A table of what becomes of the disparities."""
    rows = [_disparity_change(change, found) for change in found.disparities]
    caption = (
        "Largest over smallest rate of the groups, 1 where all are alike; larger is less "
        "fair. Each interval, and the conclusion, is of one disparity alone."
    )
    head = ["Disparity", "Before", "After", "After / before", "Conclusion"]
    if any(change.rate == "frr" for change in found.changes):  # else of impostor pairs
        caption += " The last two columns show whether the FNMR of everyone rose."
        head += ["FNMR before", "FNMR after"]
    return Table(caption, head, rows)


def _disparity_change(change, found):
    point = change.system, change.far, change.threshold
    at_point = [c for c in found.changes if (c.system, c.far, c.threshold) == point]
    figures = [
        getattr(measured, change.rate)
        for level in _levels_of(change, found)
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
        verdict = "worse" if change.ratio_low > 1 else "better"
    cells = [
        Cell(ratio(change.before)),
        Cell(ratio(change.after)),
        Cell(ratio(change.ratio), ratios(change.ratio_low, change.ratio_high)),
        concluded(verdict, verdict + ", levelling down" * change.levelling_down),
    ]
    cost = change.frr_before, change.frr_after
    cells += [Cell(percent(frr)) for frr in cost if not np.isnan(frr)]
    name = f"{RATES[change.rate]} by {printable(change.attribute)}"
    place = f"at {place_of(change, found)}", _which(change, found)
    return Row(name, cells, ", ".join(filter(None, place)))


def _facts_of_systems(found):
    rows = [("First system", printable(found.systems[0]))]
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
    """What became of every rate under one system."""
    own = [change for change in found.changes if change.system == name]
    names = {(c.far, c.threshold): short_place(c, found) for c in own}
    drawn = [_as_drawn(change, found) for change in own]
    by_rate = {rate: [c for c in drawn if c.rate == rate] for rate in RATES}
    caption = (
        "Each rate after, divided by the same rate before, with paired intervals: right of "
        "1 is worse. An arrow means that the interval continues beyond the frame. Thick "
        "lines are rates that got worse (red) or better (green) by tests that hold for all "
        f"changes together, unless they rest on {TOO_FEW}. Each interval stands alone, so "
        "that a thin one may exclude 1."
    )

    def draw():
        return [changes(of, rate, names) for rate, of in by_rate.items() if of]

    parts = [Figure(caption, draw)]
    for n, key in enumerate(names):
        at_point = [c for c in own if (c.far, c.threshold) == key]
        place = place_of(at_point[0], found)
        tables = [_table_of_changes(at_point, rate, place, found) for rate in RATES]
        parts.append(Section(f"system-{number}-{n}", f"At {place}", tables))
    return parts


def _row_of_change(change, found):
    supported = _is_supported(change, found)
    few = "" if supported or math.isnan(change.before + change.after) else TOO_FEW
    # The caption says that these are points.
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
        concluded(change.verdict, change.verdict, supported),
    ]
    if change.attribute is None:
        return _row_of_group(None, cells)
    return _row_of_group(change.group, cells, f"by {printable(change.attribute)}")


def _table_of_changes(at_point, rate, place, found):
    rows = [_row_of_change(change, found) for change in at_point if change.rate == rate]
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
    by = f"by {printable(attribute)} at"
    for n, levels in enumerate(zip(*(m.levels for m in systems), strict=True)):
        tables = _tables(levels, systems, found, by, names)
        shown = [_figure_of_systems(found, levels, names), *tables]
        parts.append(Section(f"rates-{n}", heading_of(levels[0], found), shown))
    parts.append(Section("rates-det", DET, [_det_of_systems(systems, names)]))
    return [*parts, Section("rates-groups", "Groups", [_groups(systems, names)])]


def _figure_of_systems(found, levels, names):
    confidence = found.settings["confidence_level"]
    rates = rates_in(found.measured[0].groups)
    caption = (
        f"{'Both error rates' if len(rates) > 1 else RATES[rates[0]]} of every group under {listed(names)}; further right is worse. "
        f"Bars are {100 * confidence:g} % intervals of each rate on its own: whether two "
        "systems differ is for the paired intervals above."
    )
    return Figure(caption, lambda: group_rates(levels, names, None, confidence, rates))


def _det_of_systems(systems, names):
    if len(rates_in(systems[0].groups)) < 2:
        return None
    caption = (
        "Both rates of each group under each system, as its one threshold for "
        "everybody moves; nearer to the lower left is better. Points mark the operating "
        f"points, hollow ones on {TOO_FEW}. Rates of zero have no place on these axes."
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
        parts.append(Section(f"open-{place}", printable(name), [texts]))
    return [FEW, *parts] if any(parts) else []


def _method_of_comparison(found):
    settings = found.settings
    alpha = 100 * (1 - settings["confidence_level"])
    own = "Each system meets a level of the FMR at a threshold of its own."
    if settings["threshold"] is not None:
        own = "All systems have the threshold that was given."
        if "threshold_of_each" in settings:
            own = "Each system has the threshold that was given for it."
    return [
        "All systems are compared with the first, on the same people and the same "
        f"{found.unit}. {own}",
        f"Intervals are paired, at {100 - alpha:g} %, and each stands on its own: what "
        "varies for both systems alike cancels. They are about other people of the same "
        "population.",
        "Conclusions about rates come from adjusted p-values (Holm): if nothing changed, "
        f"about {alpha:g} % of such comparisons or fewer would name a change. Disparities "
        "are not among these tests.",
    ]
