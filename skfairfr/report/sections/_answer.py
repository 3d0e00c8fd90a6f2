"""The first screen of an audit: what was found, in one sentence, and what stays open."""

import math
from dataclasses import replace

from skfairfr._text._document import Figure, Verdict
from skfairfr._text._words import (
    RATES,
    TOO_FEW,
    capital,
    listed,
    percent,
    percents,
    plural,
    printable,
    ratio,
    ratios,
    reworded,
)
from skfairfr.report._figures import group_rates
from skfairfr.report._notes import (
    at_place,
    largest_rate,
    nothing_concluded,
    rates_in,
    short_place,
)
from skfairfr.report._policy import LIMITS, RATE_LIMITS, limits_of
from skfairfr.report._verdicts import beyond_all_scores
from skfairfr.report.sections._averages import n_differing
from skfairfr.report.sections._cells import level_in_percent
from skfairfr.report.sections._limits import (
    RESULTS,
    allowed,
    audit_of,
    name_of,
    needed_words,
    place_of_check,
    table_of_limits,
)

NO_LIMITS = "No limits set"
DIFFERS = ("higher", "lower")
LABELS = {"failed": "Failed", "undetermined": "Undetermined", "passed": "Passed"}
DOES_NOT_SHOW = "Does not show: that the system is lawful or fit for a purpose; other cameras or populations."
# More groups with too few errors are counted, not named.
MOST_NAMED = 6
# Differences that a terminal shows.
MOST_TOLD = 5


def answer(report):
    """Parts of the first screen."""
    return [
        verdict(report),
        table_of_limits(report),
        rates_figure(report.audits[0]),
        *cannot_be_concluded(report),
        DOES_NOT_SHOW,
    ]


def verdict(report):
    """Status, and the sentence about the largest harm."""
    settings = report.audits[0].settings
    if nothing := nothing_concluded(settings):
        return Verdict("undetermined", *nothing)
    verdicts = [check.verdict for check in report.checks]
    status, label = "none", NO_LIMITS
    if verdicts:
        status = next(word for word in LABELS if word in verdicts)
        counted = [
            f"{verdicts.count(word)} {RESULTS[word]}"
            for word in LABELS
            if word in verdicts
        ]
        label = f"{LABELS[status]}. {plural(len(verdicts), 'limit')}: {listed(counted)}"
        if report.policy:
            label += f" (policy {printable(report.policy)})"
    reasons = [check.reason for check in report.checks]
    reasons += [beyond_all_scores(level.rates[0]) for level in report.audits[0].levels]
    told = [f"{capital(reason)}." for reason in dict.fromkeys(reasons) if reason]
    found = sorted_findings(report)
    if told and found and found[0][2].verdict == "undetermined":
        return Verdict(status, told[0], told[1:], label)
    return Verdict(status, headline(report), told, label)


def headline(report):
    """One sentence about the largest harm: of a limit that is exceeded, or of a difference."""
    failed = [check for check in report.checks if check.verdict == "failed"]
    if failed:
        worst = max(failed, key=lambda check: check.figure.value / check.limit)
        return _of_limit(worst, report)
    found = sorted_findings(report)
    largest = next((f for f in found if f[2].verdict in DIFFERS), None)
    if largest is not None:
        return sentence_of(*largest)
    if not found:
        return "Nothing can be compared: fewer than two groups have the pairs."
    return f"No rate differs significantly. {_largest_ratio(*found[0])}"


def _of_limit(check, report):
    audit, ci = audit_of(check, report), level_in_percent(report.audits[0].settings)
    rate, at = RATES[LIMITS[check.name][0]], place_of_check(check, audit)
    at, first = f"{at[:1].upper()}{at[1:]}, " if at else "", printable(check.groups[0])
    figure, limit = check.figure, f"The limit is {allowed(check)}."
    if check.name in RATE_LIMITS:
        row = next(
            r
            for lev in _level(check, audit)
            for r in lev.rates
            if r.group == check.groups[0]
        )
        own = getattr(row, LIMITS[check.name][0])
        ends = percents(own.low, own.high)
        text = f"{at}the {rate} of {first} is {percent(own.value)} ({ci} CI {ends})."
    else:
        ends = ratios(figure.low, figure.high)
        other = "the geometric mean of all groups"
        if len(check.groups) > 1:
            other = f"that of {printable(check.groups[1])}"
        times = ratio(figure.value)
        if math.isinf(figure.value):
            times = f"at least {ratio(figure.low)}"
        text = f"{at}the {rate} of {first} is {times} times {other} ({ci} CI {ends})."
    few = "" if figure.supported else f" It rests on {TOO_FEW}."
    text = f"{text[:1].upper()}{text[1:]} {limit}{few}"
    return reworded(text, audit.settings)


def _level(check, audit):
    return [
        level
        for level in audit.levels
        if level.far == check.far
        and check.threshold in (level.threshold, level.worst_group_threshold)
    ]


def findings_of(report, other=None):
    """Every finding, after its audit and its level; of "standardised" rates, if asked."""
    measured = [(a, getattr(a, other) if other else a) for a in report.audits]
    return [
        (audit, level, finding)
        for audit, own in measured
        if own is not None
        for level in own.levels
        for finding in level.findings
    ]


def sorted_findings(report):
    """Findings at the first operating point: significant ones first, the largest ratio first.

    Of a rate by an attribute they are those that are significantly higher; or else one, the
    largest ratio, of those that are lower or of all.
    """
    found = []
    for audit in report.audits:
        level = audit.levels[0]
        for rate in RATES:
            own = [f for f in level.findings if f.rate == rate and f.group is not None]
            higher, lower = ([f for f in own if f.verdict == v] for v in DIFFERS)
            told = higher or sorted(lower or own, key=_harm)[-1:]
            found += [(audit, level, f) for f in told]
    return sorted(found, key=lambda f: (f[2].verdict not in DIFFERS, -_harm(f[2])))


def _harm(finding):
    """The larger rate over the smaller; 0 if both are."""
    value = finding.ratio.value
    return 0.0 if math.isnan(value) else max(value, 1 / value if value else math.inf)


def sentence_of(audit, level, finding):
    """What a finding says, with the group that has the higher rate first."""
    start, (one, other), (first, second), size, few = _told(audit, level, finding)
    text = (
        f"{start}{one} has a higher {RATES[finding.rate]} than {other}: {first} against "
        f"{second}, {size}{few}."
    )
    return reworded(text, audit.settings)


def _largest_ratio(audit, level, finding):
    """The same of a finding that is not significant."""
    start, (one, other), (first, second), size, few = _told(audit, level, finding)
    text = (
        f"{start}the largest ratio is that of the {RATES[finding.rate]} of {one} "
        f"({first}) to that of {other} ({second}): {size}{few}."
    )
    return reworded(f"{text[:1].upper()}{text[1:]}", audit.settings)


def _told(audit, level, finding):
    """Operating point, both groups and rates, the ratio, and whose errors are too few."""
    groups = finding.group, finding.reference
    values = finding.value, finding.reference_value
    size, low, high = finding.ratio.value, finding.ratio.low, finding.ratio.high
    if size < 1:
        groups, values = groups[::-1], values[::-1]
        size, low, high = (1 / v if v else math.inf for v in (size, high, low))
    at, ci = at_place(level, audit), level_in_percent(audit.settings)
    start = f"{at[:1].upper()}{at[1:]}, " if at else ""
    times = f"at least {ratio(low)}" if math.isinf(size) else ratio(size)
    told = f"{times} times as high ({ci} CI {ratios(low, high)})"
    few = dict.fromkeys(g for r in finding.ratio.reasons for g in r.groups or ())
    whose = f", {TOO_FEW} of {listed([*map(printable, few)])}" if few else ""
    return start, [*map(printable, groups)], [*map(percent, values)], told, whose


def rates_figure(audit):
    """Both rates of all groups at the first operating point, the highest first."""
    first = audit.levels[0]
    names = [short_place(first, audit)]
    limits, rates = limits_of(audit), rates_in(audit.groups)
    limits = {rate: of[:1] for rate, of in limits.items()}
    ci = level_in_percent(audit.settings)
    shown = "Both error rates" if len(rates) > 1 else RATES[rates[0]]
    at = at_place(first, audit)
    caption = (
        f"{shown} by {printable(audit.attribute)}{at and f' {at}'}, with {ci} CI. "
    )
    caption += "A higher FMR means that more people are taken for somebody else. " * (
        "far" in rates
    )
    caption += "A higher FNMR means that more people are not recognised." * (
        "frr" in rates
    )

    def draw():
        confidence = audit.settings["confidence_level"]
        found = []
        for rate in rates:
            order = sorted(first.rates[1:], key=lambda row: -_value(getattr(row, rate)))
            level = replace(first, rates=(first.rates[0], *order))
            found += group_rates([level], names, limits, confidence, (rate,))
        return found

    name = f"rates-{audit.attribute}"
    return reworded(Figure(caption, draw, name), audit.settings)


def _value(figure):
    return -1.0 if math.isnan(figure.value) else figure.value


def cannot_be_concluded(report, where="under 'What the data cannot tell'"):
    """Groups with too few errors, limits that are undetermined, and ``where`` notes stand."""
    few = {}
    for audit in report.audits:
        for rate in rates_in(audit.groups):
            of_rate = reworded(RATES[rate], audit.settings)
            for row in audit.levels[0].rates[1:]:
                if not getattr(row, rate).supported:
                    few.setdefault(of_rate, {})[printable(row.group)] = None
    texts = []
    for rate, groups in few.items():
        named = (
            listed(list(groups))
            if len(groups) <= MOST_NAMED
            else f"{len(groups)} groups"
        )
        texts.append(f"the size of the {rate} of {named} ({TOO_FEW})")
    lines = [f"Cannot be concluded: {'; '.join(texts)}."] if texts else []
    undetermined = [
        c for c in report.checks if c.verdict == "undetermined" and not c.reason
    ]
    if undetermined:
        first = undetermined[0]
        text = f"Undetermined: {name_of(first, report)}. {needed_words(first, report)}"
        more = len(undetermined) - 1
        text += (
            f" {plural(more, 'more limit is', 'more limits are')} undetermined."
            * bool(more)
        )
        lines.append(reworded(text, audit_of(first, report).settings))
    if differing := sum(map(n_differing, report.audits)):
        unit = {"pair": "person", "identity": "comparison"}
        own = unit[report.audits[0].settings["average"]]
        lines.append(
            f"{plural(differing, 'conclusion')} would be another if every {own} weighed the "
            "same: see 'Both averages'."
        )
    if worst := _largest_apcer(report):
        lines.insert(0, worst)
    n_notes = len(
        dict.fromkeys(note for audit in report.audits for note in audit.notes)
    )
    if n_notes:
        lines.append(f"Read first: {plural(n_notes, 'note')} {where}.")
    return lines


def _largest_apcer(report):
    for audit in report.audits:
        if audit.settings.get("decisions") == "apcer":
            row = largest_rate(audit)
            ends = percents(row.frr.low, row.frr.high)
            n = plural(len(audit.groups) - 1, "species", "species")
            return (
                f"Largest APCER of {n}: {percent(row.frr.value)} ({ends}), of "
                f"{printable(row.group)}."
            )
    return ""


def largest_differences(report):
    """The first differences in sentences, for a terminal, and how many more there are."""
    found = [f for f in sorted_findings(report) if f[2].verdict in DIFFERS]
    texts = [sentence_of(*f) for f in found[:MOST_TOLD]]
    if len(found) > MOST_TOLD:
        texts.append(f"{plural(len(found) - MOST_TOLD, 'further difference')}.")
    return texts
