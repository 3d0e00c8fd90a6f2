"""The first screen of an audit: one sentence, the limits, one figure, and open questions."""

import math
from dataclasses import replace

import numpy as np

from skfairfr._text._document import Verdict
from skfairfr._text._words import (
    TOO_FEW,
    by_attribute,
    capital,
    listed,
    number,
    percent,
    plural,
    printable,
    ratio,
    ratios,
    terms_of,
    who,
)
from skfairfr.report._notes import (
    IN_FOLDED,
    at_place,
    nothing_concluded,
    of_unknown,
    unknown_exceed,
)
from skfairfr.report._policy import COST_LIMITS, LIMITS, RATE_LIMITS, limited
from skfairfr.report._verdicts import beyond_all_scores
from skfairfr.report.sections import _limits
from skfairfr.report.sections._cells import level_in_percent
from skfairfr.report.sections._costs import in_short as costs_in_short
from skfairfr.report.sections._curves import curves_of_groups
from skfairfr.report.sections._differences import (
    DIFFERS,
    differ_overall,
    differences_at_equal,
    few_groups,
    leading_findings,
    none_from,
    ratio_of_larger,
    sentence_of,
    sentence_of_largest_ratio,
)
from skfairfr.report.sections._failures import failures_in_short
from skfairfr.report.sections._gallery import searches_in_words
from skfairfr.report.sections._largest import (
    MOST_RESULTS,
    at_all_points,
    combination_that_exceeds,
    everyone_exceeds,
    lacks_limit,
    largest_rates,
    of_attacks,
    other_results,
    rates_of_everyone,
)
from skfairfr.report.sections._method import kinds_of
from skfairfr.report.sections._open import (
    few_everywhere,
    needed_words,
    notes_of,
    rests_on_few,
    too_few_errors,
)
from skfairfr.report.sections._rates import across_groups, n_differing, rates_figure

NO_LIMITS = "No limits set"
LABELS = {"failed": "Failed", "undetermined": "Undetermined", "passed": "Passed"}
# What was found, and the status with which the command ends.
EXIT_CODES = {"none": 0, "passed": 0, "failed": 1, "undetermined": 3}
NONE_DIFFERS = "No rate differs significantly between groups."
SYNTHETIC = "The data are synthetic: nothing here is about a real system."
DOES_NOT_SHOW = (
    "Does not show: whether the system is lawful or fit for a purpose, or how it works under "
    "other conditions and for other populations."
)
# Further limits that are exceeded on the first screen.
MOST_EXCEEDED = 2
# Notes on the first screen of a terminal.
MOST_NOTES = 2


def most_serious(verdicts):
    """The verdict of several limits, "none" without any."""
    return next((word for word in LABELS if word in verdicts), "none")


def answer(report):
    """Parts of the first screen."""
    found = verdict(report)
    if not nothing_concluded(report.audits[0].settings):
        more = *other_results(report), *more_differences(report)
        found = replace(found, texts=[*found.texts, *more])
    return [
        found,
        _limits.table_of_limits(report),
        _limits.how_limits_are_judged(report),
        *_figure(*point_of_answer(report)),
        *at_equal_in_short(report),
        *cannot_be_concluded(report),
        does_not_show(report),
    ]


def does_not_show(report):
    """The last sentence of the first screen, with false acceptances if there are genuine attempts alone."""
    if kinds_of(report) != {"frr"}:
        return DOES_NOT_SHOW
    return DOES_NOT_SHOW.replace("show: whether", "show: false acceptances, whether")


def at_equal_in_short(report):
    """Significant differences at equal covariates, or that there are none, in sentences."""
    controlled = (audit for audit in report.audits if audit.control is not None)
    return [text for audit in controlled for text in differences_at_equal(audit)]


def _figure(audit, place):
    """Rates of the groups, or without any the curve of everyone, if the data have one."""
    curves = None if audit.attribute else curves_of_groups(audit)
    if curves:
        return [curves]
    return [rates_figure(audit, place), *across_groups(audit.levels[place], audit)]


def verdict(report):
    """Status, the sentence about the largest harm, the largest rates, and costs."""
    if nothing := nothing_concluded(report.audits[0].settings):
        return Verdict("undetermined", *nothing)
    found = _verdict_of_rates(report)
    of_costs = [text for audit in report.audits for text in costs_in_short(audit)]
    stated = " ".join([found.headline, *found.texts])
    largest = largest_rates(report, stated, point_of_answer(report)[1])
    demo = str(report.about.get("command", "")).startswith("skfairfr demo")
    texts = [*[SYNTHETIC] * demo, *found.texts, *largest, *of_costs]
    return replace(found, texts=texts)


def _verdict_of_rates(report):
    status, label = _status(report)
    texts = [*_why_nothing_is_told(report), *rates_of_everyone(report)]
    found = leading_findings(report)
    if texts and found and found[0][2].verdict == "undetermined":
        return Verdict(status, texts[0], texts[1:], label)
    worst, overall = _seems_exceeded(report), differ_overall(report)
    none_differs = found and found[0][2].verdict not in DIFFERS
    if worst is None:
        if not found and not report.audits[0].attribute:
            return Verdict(status, texts[0], texts[1:], label)
        texts[:0] = overall[1:] if none_differs else overall
        return Verdict(status, _headline(found, overall, report), texts, label)
    texts[:0] = overall or ([_none_differs(report)] if none_differs else [])
    texts[:0] = [
        text
        for one in other_differences(report)[:1]
        for text in (
            f"{_without_limit(*one)}{_judged_by(worst, *one)}",
            *_reference_of(*one),
        )
    ]
    texts[:0] = [
        *at_all_points(worst, report),
        *everyone_exceeds(worst, report),
        *combination_that_exceeds(worst, report),
        *_also_exceeded(worst, report),
    ]
    headline = _headline_of_limit(worst, report)
    if worst.verdict == "undetermined" and any(
        one[2].verdict in DIFFERS and _is_about(worst, *one) for one in found
    ):
        headline += " The difference between the two groups is significant."
    return Verdict(status, headline, texts, label)


def _also_exceeded(worst, report):
    """The worst checks of other limits that are exceeded, two at most, in sentences."""
    others = {}
    for check in _limits.sorted_checks(report):
        about = check.name, check.limit
        if check.verdict == "failed" and about != (worst.name, worst.limit):
            others.setdefault(about, check)
    texts = []

    def at(check):
        return _limits.place_of_check(check, _limits.audit_of(check, report))

    for check in [*others.values()][:MOST_EXCEEDED]:
        text, (here, there) = _headline_of_limit(check, report), map(at, (check, worst))
        text = text.removeprefix(f"{capital(here)}, " if here == there else "")
        sentences = [f"{text[:1].lower()}{text[1:]}", *everyone_exceeds(check, report)]
        texts.append(f"Also exceeded: {' '.join(sentences)}")
    return texts


def _without_limit(audit, level, finding):
    """A significant difference, and that no limit is about its rate, if others have one."""
    text = sentence_of(audit, level, finding)
    if not lacks_limit([audit], finding.rate):
        return text
    return (
        f"{text} No limit is set for the {terms_of(audit.settings)[finding.rate].name}."
    )


def _judged_by(check, audit, level, finding):
    """A sentence on how a ratio is judged, if that of a finding is infinite, or empty."""
    infinite = finding.ratio.value == 0 or math.isinf(finding.ratio.value)
    if not infinite or len(audit.groups) < 4 or check.name not in LIMITS:
        return ""
    rate, _, how = limited(check.name, audit.settings)
    if (rate, how) != (finding.rate, "max_min"):
        return ""
    return (
        " The limit is judged by the largest ratio of any two groups, whose bound rests on "
        "all groups together and may be higher."
    )


def group_of_answer(report):
    """The audit, rate and group that the headline is about, or None of none."""
    worst = _seems_exceeded(report)
    if worst is not None:
        if worst.name not in LIMITS or not worst.groups:
            return None
        audit = _limits.audit_of(worst, report)
        return audit, limited(worst.name, audit.settings)[0], worst.groups[0]
    for audit, _, finding in leading_findings(report):
        if finding.verdict in DIFFERS:
            higher = finding.value > finding.reference_value
            group = finding.group if higher else finding.reference
            return audit, finding.rate, group
    return None


def other_differences(report):
    """Significant differences that are not about the limit of the headline, as findings."""
    worst = _seems_exceeded(report)
    return [
        one
        for one in leading_findings(report)
        if one[2].verdict in DIFFERS and not (worst and _is_about(worst, *one))
    ]


def more_differences(report):
    """How many more differences are significant at the operating point, and the largest.

    A sentence in a list. Of single attributes, if some differ, as combinations have more groups.
    """
    _, place = point_of_answer(report)
    named = [worst] if (worst := _seems_exceeded(report)) else []
    named += [check for check in report.checks if check.verdict == "failed"]
    stated = [id(finding) for _, _, finding in other_differences(report)[:1]]
    more = []
    for audit in report.audits:
        level = audit.levels[min(place, len(audit.levels) - 1)]
        more += [
            (audit, level, of)
            for of in level.findings
            if of.group is not None and of.verdict in DIFFERS and id(of) not in stated
            if not any(_is_about(check, audit, level, of) for check in named)
        ]
    if not more:
        return []
    single = [one for one in more if " & " not in one[0].attribute]
    audit, level, largest = max(single or more, key=lambda one: ratio_of_larger(one[2]))
    by = dict.fromkeys(by_attribute(one[0].attribute).strip() for one in single or more)
    among = "among them some " if 0 < len(single) < len(more) else ""
    which = f", {among}{listed([*by])}" if len(by) <= MOST_RESULTS else ""
    if len(more) > 1:
        which += ". The largest by one attribute" if among else ", the largest"
    at, text = at_place(level, audit), sentence_of(audit, level, largest)
    text = text.removeprefix(f"{capital(at)}, ")
    if worst and worst.groups:
        whole, of = (worst.attribute, worst.groups[0]), audit.attribute
        for group in (largest.group, largest.reference):
            if _limits.contains((of, group), whole):
                text += f" {who(group)} contains {who(worst.groups[0])}."
    verb = "is" if len(more) == 1 else "are"
    counted = (
        f"{plural(len(more), 'more difference')} {verb} significant{which}: {text}"
    )
    return [f"{capital(at)}, {counted}" if at else counted]


def _none_differs(report):
    """That no difference is significant, or only none from one group, if a ratio is exceeded."""
    exceeded = [
        check
        for check in report.checks
        if check.verdict == "failed" and check.name in {*LIMITS} - {*RATE_LIMITS}
    ]
    if not exceeded:
        return NONE_DIFFERS
    check = exceeded[0]
    audit = _limits.audit_of(check, report)
    rate, *_ = limited(check.name, audit.settings)
    findings = audit.levels[_limits.place_in(check, audit)].findings
    first = next(f for f in findings if f.rate == rate and f.group is not None)
    return none_from(first, audit)


def _reference_of(audit, level, finding):
    """With whom groups are compared, in a list, if there are more than two groups."""
    sizes = {row.group: row.n_identities or 0 for row in audit.groups[1:]}
    if len(sizes) < 3:
        return []
    most, whom = max(sizes.values()), printable(finding.reference)
    # Rates of searches are of those who are enrolled, or of those who are not.
    searched = "gallery" in audit.settings
    largest = [group for group, size in sizes.items() if size == most]
    if largest == [finding.reference]:
        whom += ", the largest group"
    elif most and finding.reference == min(largest, key=str):
        of_these = "the most people" if searched else f"{most:,} people"
        whom += f", the first by name of the {len(largest)} groups with {of_these}"
        if len(largest) == len(sizes):
            each = "all have the same number of" if searched else f"each has {most:,}"
            whom = f"{printable(finding.reference)}: {each} people, and it is the first by name"
    return [f"Groups are compared with {whom}."]


def without_groups(records, candidates=()):
    """That no groups were given, and how they can be, in a list, or empty if they were."""
    if all(record.attribute for record in records):
        return []
    columns = ", ".join(map(printable, candidates))
    named = columns and f" Columns that may name groups: {columns}."
    return [
        "No groups were given, so rates are of everyone. To compare groups, give --attribute "
        f"NAME (in Python sensitive_features, or columns of the data).{named}"
    ]


def _is_about(check, audit, level, finding):
    """Whether a limit of the ratio of two groups is about a finding."""
    if check.name not in LIMITS:
        return False
    place = check.attribute, check.far, check.threshold
    return (
        limited(check.name, audit.settings) == (finding.rate, "overall", "max_min")
        and place == (audit.attribute, level.far, level.threshold)
        and {finding.group, finding.reference} == {*check.groups}
    )


def _why_nothing_is_told(report):
    """Reasons why nothing is concluded, each with its operating points, in a list."""
    first, reasons = report.audits[0], {}
    for check in report.checks:
        place = _limits.place_of_check(check, _limits.audit_of(check, report))
        reasons.setdefault(check.reason, {})[place] = None
    for level in first.levels:
        reason = beyond_all_scores(level.rates[0], terms_of(first.settings))
        reasons.setdefault(reason, {})[at_place(level, first)] = None
    texts = []
    for reason, places in reasons.items():
        at = listed([*filter(None, places)] or [""])
        if reason:
            texts.append(capital(f"{at and f'{at}, '}{reason}."))
    return texts


def point_of_answer(report):
    """The audit, and the position of the operating point, that the headline is about."""
    worst = _seems_exceeded(report)
    if worst is not None:
        audit = _limits.audit_of(worst, report)
        return audit, _limits.place_in(worst, audit)
    for audit, level, _ in leading_findings(report):
        return audit, audit.levels.index(level)
    return report.audits[0], 0


def _seems_exceeded(report):
    """The first check of a value above its limit, or None of none."""
    return next(
        (
            check
            for check in _limits.sorted_checks(report)
            if not check.reason and check.figure.value > check.limit
        ),
        None,
    )


def _status(report):
    """Status, and its words: how many limits there are, and how many checks of each result."""
    verdicts = [check.verdict for check in report.checks]
    if not verdicts:
        return "none", NO_LIMITS
    status = most_serious(verdicts)
    counted = [
        f"{verdicts.count(word)} {_limits.RESULTS[word]}"
        for word in LABELS
        if word in verdicts
    ]
    number = plural(len(verdicts), _limits.limit_or_check(report))
    policy = f" (policy {printable(report.policy)})" if report.policy else ""
    return status, f"{LABELS[status]}. {number}: {listed(counted)}{policy}"


def _headline(found, overall, report):
    """One sentence about the largest difference, significant or not."""
    if not found:
        trials = terms_of(report.audits[0].settings).trials
        return f"Nothing can be compared: fewer than two groups have the {trials}."
    if found[0][2].verdict in DIFFERS:
        return sentence_of(*found[0])
    first = overall[0] if overall else NONE_DIFFERS
    return f"{first} {sentence_of_largest_ratio(*found[0])}"


def _headline_of_limit(check, report):
    """One sentence about a limit that is exceeded, or seems to be."""
    audit, ci = (
        _limits.audit_of(check, report),
        level_in_percent(report.audits[0].settings),
    )
    at = _limits.place_of_check(check, audit)
    start = f"{at}, " if at else ""
    if check.name not in LIMITS:
        name, of = _limits.name_of_metric(check), check.figure
        if check.name not in COST_LIMITS:
            name += by_attribute(check.attribute)
        ends = f"{ci} CI {_limits.interval_of_limit(check, audit)}"
        text = f"{start}{name} is {number(of.value)}"
        return f"{capital(text)} ({ends}). The limit is {_limits.allowed(check)}."
    rate, *_ = limited(check.name, audit.settings)
    rate = terms_of(audit.settings)[rate].name
    first = who(check.groups[0])
    own, figure = _limits.own_figures(check, audit), check.figure
    if check.name in RATE_LIMITS:
        one, few = own[0], TOO_FEW if not own[0].supported else ""
        highest = _limits.higher_than_shown(check, audit)
        ends = f"{ci} CI {_limits.interval_of_rate(check, one)}"
        text = f"the {rate} of {first} is {percent(one.value)} ({ends})"
        if len(check.groups) == len(audit.groups) - 1 > 1:
            text = (
                f"the {rate} of every group exceeds the limit, and that of {first} is "
                f"{'' if highest else 'the highest: '}{percent(one.value)} ({ends})"
            )
    else:
        other = "the geometric mean of all groups"
        if len(check.groups) > 1:
            other = f"that of {printable(check.groups[1])}"
        text = f"the {rate} of {first} is {ratio(figure.value)} times {other}"
        whose = " of the largest ratio" if len(audit.groups) > 3 else ""
        if math.isinf(figure.value):
            if own:
                return capital(f"{start}{_limits.ratio_over_none(check, audit)}")
            least = f"at least {ratio(figure.low)}"
            text = f"the largest ratio of the {rate} of any two groups is {least}"
            if len(check.groups) == 1:
                text = f"the largest {rate} is {least} times {other}"
        ends = f"{ci} CI{whose} {ratios(figure.low, figure.high)} times"
        values = " against ".join(percent(one.value) for one in own)
        values = f": {values}" if len(own) == 2 else ""
        text = f"{text} ({ends}){values}"
        few = few_groups(figure)
        few, highest = f"{TOO_FEW} among {few}" if few else "", ""
    times = "" if check.name in RATE_LIMITS else " times"
    limit = f"The limit is {_limits.allowed(check)}{times}."
    if few and check.verdict == "failed":
        limit += f" It is exceeded, but by how much is uncertain: {few}."
        few = ""
    more = f" {capital(highest)}." if highest else ""
    return capital(f"{start}{text}{few and f', {few}'}. {limit}{more}")


def cannot_be_concluded(report, most_notes=0):
    """Counts of searches, notes, groups with too few errors, and undetermined limits, in lines.

    A page, which has all notes further down, shows none of them here (``most_notes``).
    """
    lines = [
        *without_groups(report.audits, report.candidates),
        *searches_in_words(report.audits[0]),
        *failures_in_short(report.audits),
    ]
    notes = notes_of(report)
    shown = [note for note in notes if not note.endswith(IN_FOLDED)][:most_notes]
    lines += [f"Note: {note}" for note in shown]
    if notes and not most_notes:
        lines.append("Notes on the data are under 'What the data do not show'.")
    elif len(notes) > len(shown):
        more = "further note" if shown else "note"
        lines.append(f"{plural(len(notes) - len(shown), more)}: --full.")
    lines += [
        text for audit in report.audits for text in unknown_have_more_errors(audit)
    ]
    lines += too_few_errors(report, most_notes)
    lines += few_everywhere(report.audits)
    undetermined = [
        c
        for c in _limits.sorted_checks(report)
        if c.verdict == "undetermined" and not c.reason
    ]
    if undetermined:
        first = min(undetermined, key=rests_on_few)
        text = f"Undetermined: {_limits.name_of(first, report)}. {needed_words(first, report)}"
        if more := len(undetermined) - 1:
            place = "--full" if most_notes else "'More people needed for a limit'"
            text += f" {plural(more, 'more undetermined limit')}: {place}."
        lines.append(text)
    if differing := sum(map(n_differing, report.audits)):
        settings = report.audits[0].settings
        own = "person"
        if settings["average"] == "identity":
            own = terms_of(settings).comparison
        lines.append(
            f"{plural(differing, 'conclusion')} would be another if every {own} weighed the "
            "same: see 'Both averages'."
        )
    return [*of_attacks(report), *lines]


def unknown_have_more_errors(audit):
    """That people of unknown group have more errors than every group, in a list."""
    level = audit.levels[0]
    rates = [row.frr.value for row in level.rates[1:]]
    if not unknown_exceed(level, audit, np.nanmax([*rates, 0.0])):
        return []
    errors, trials = of_unknown(level, audit)
    name = terms_of(audit.settings).frr.name
    return [
        f"People of unknown {printable(audit.attribute)} have a higher {name} than every "
        f"group: {percent(errors / trials)} of {trials:,}. They are in no comparison."
    ]
