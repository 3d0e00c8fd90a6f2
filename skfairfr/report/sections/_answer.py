"""The first screen of an audit: one sentence, the limits, one figure, and open questions."""

import math
from dataclasses import replace

import numpy as np

from skfairfr._text._document import Verdict
from skfairfr._text._words import (
    NO_DIFFERENCE,
    TOO_FEW,
    by_attribute,
    capital,
    listed,
    number,
    percent,
    percents,
    plural,
    printable,
    ratio,
    ratios,
    terms_of,
    who,
)
from skfairfr.report._notes import (
    at_place,
    nothing_concluded,
    of_groups,
    of_unknown,
    rates_in,
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
    named_or_counted,
    none_from,
    sentence_of,
    sentence_of_largest_ratio,
)
from skfairfr.report.sections._failures import failures_in_short
from skfairfr.report.sections._gallery import searches_in_words
from skfairfr.report.sections._method import kinds_of
from skfairfr.report.sections._rates import n_differing, rates_figure

NO_LIMITS = "No limits set"
LABELS = {"failed": "Failed", "undetermined": "Undetermined", "passed": "Passed"}
# What was found, and the status with which the command ends.
EXIT_CODES = {"none": 0, "passed": 0, "failed": 1, "undetermined": 3}
NONE_DIFFERS = "No rate differs significantly between groups."
DOES_NOT_SHOW = (
    "Does not show: whether the system is lawful or fit for a purpose, or how it works under "
    "other conditions and for other populations."
)
# Notes on the first screen of a terminal.
MOST_NOTES = 2


def most_serious(verdicts):
    """The verdict of several limits, "none" without any."""
    return next((word for word in LABELS if word in verdicts), "none")


def answer(report):
    """Parts of the first screen."""
    return [
        verdict(report),
        _limits.table_of_limits(report),
        _figure(*point_of_answer(report)),
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
    return curves or rates_figure(audit, place)


def verdict(report):
    """Status, the sentence about the largest harm, the largest rates, and costs."""
    if nothing := nothing_concluded(report.audits[0].settings):
        return Verdict("undetermined", *nothing)
    found = _verdict_of_rates(report)
    of_costs = [text for audit in report.audits for text in costs_in_short(audit)]
    largest = largest_rates(report, found.headline)
    return replace(found, texts=[*found.texts, *largest, *of_costs])


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
        for text in (sentence_of(*one), *_reference_of(*one))
    ]
    headline = _headline_of_limit(worst, report)
    if worst.verdict == "undetermined" and any(
        one[2].verdict in DIFFERS and _is_about(worst, *one) for one in found
    ):
        headline += " The difference between the two groups is significant."
    return Verdict(status, headline, texts, label)


def other_differences(report):
    """Significant differences that are not about the limit of the headline, as findings."""
    worst = _seems_exceeded(report)
    return [
        one
        for one in leading_findings(report)
        if one[2].verdict in DIFFERS and not (worst and _is_about(worst, *one))
    ]


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
    if sizes[finding.reference] == most:
        n_largest = [*sizes.values()].count(most)
        whom += (
            ", the largest group" if n_largest == 1 else ", one of the largest groups"
        )
    return [f"Groups are compared with {whom}."]


def rates_of_everyone(report):
    """Rates without groups at every operating point, and the sizes, in sentences, or none."""
    texts = []
    for audit in report.audits:
        if audit.attribute:
            continue
        terms, everyone = terms_of(audit.settings), audit.groups[0]
        ci, measured = level_in_percent(audit.settings), rates_in(audit.groups)
        for level in audit.levels:
            found = [(terms[r], getattr(level.rates[0], r)) for r in measured]
            rates = listed(
                [
                    f"the {kind.name} is {percent(of.value)} ({ci} CI "
                    f"{percents(of.low, of.high)}{'' if of.supported else f', {TOO_FEW}'})"
                    for kind, of in found
                ]
            )
            at = at_place(level, audit)
            texts.append(f"{capital(f'{at}, {rates}' if at else rates)}.")
        n_trials = {"far": everyone.n_impostor, "frr": everyone.n_genuine}
        sizes = [f"{n_trials[r]:,} {terms[r].standard_trials}" for r in measured]
        if everyone.n_identities is not None:
            people = plural(everyone.n_identities, "person", "people")
            sizes = [f"{people}: {listed(sizes)}"]
        if (
            equal := everyone.equal_error_rate
        ) is not None and equal.value == equal.value:
            ends = percents(equal.low, equal.high)
            texts.append(f"The EER is {percent(equal.value)} ({ci} CI {ends}).")
        texts.append(f"{listed(sizes)}.")
    return texts


def largest_rates(report, headline):
    """The groups with the largest rates among several attributes, a sentence for each kind.

    Without a rate that the ``headline`` has.
    """
    by_kind, (_, place), texts = {}, point_of_answer(report), []
    for audit in report.audits:
        by_kind.setdefault(audit.settings.get("decisions"), []).append(audit)
    for kind, (first, *others) in by_kind.items():
        if kind == "apcer" or not others:
            continue
        terms, found = terms_of(first.settings), []
        ci = level_in_percent(first.settings)
        place = min(place, len(first.levels) - 1)
        for rate in rates_in(first.groups):
            rows = [
                (getattr(row, rate), who(row.group))
                for audit in (first, *others)
                for row in of_groups(audit.levels[place].rates)
            ]
            largest, group = max(
                rows, key=lambda one: np.nan_to_num(one[0].value, nan=-1)
            )
            shown = percent(largest.value)
            few = "" if largest.supported else f", {TOO_FEW}"
            if largest.value == 0:
                found.append(f"the {terms[rate].name} of every group is 0 %{few}")
            elif shown not in headline or group not in headline:
                ends = percents(largest.low, largest.high)
                few = few and f", {ci} CI {ends}{few}"
                found.append(
                    f"the largest {terms[rate].name} is {shown} ({group}{few})"
                )
        if found:
            at = at_place(first.levels[place], first)
            texts.append(
                f"{capital(f'{at}, {listed(found)}' if at else listed(found))}."
            )
    return texts


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
    notes = _limits.notes_of(report)
    lines += [f"Note: {note}" for note in notes[:most_notes]]
    if notes and not most_notes:
        lines.append("Notes on the data are under 'What the data do not show'.")
    elif len(notes) > most_notes:
        lines.append(f"{plural(len(notes) - most_notes, 'further note')}: --full.")
    lines += [
        text for audit in report.audits for text in unknown_have_more_errors(audit)
    ]
    few, first = {}, report.audits[0]
    for audit in report.audits:
        for rate in rates_in(audit.groups):
            of_rate = terms_of(audit.settings)[rate].name
            for row in audit.levels[0].rates:
                if not getattr(row, rate).supported:
                    few.setdefault(of_rate, {})[who(row.group)] = None
    if few:
        at = at_place(first.levels[0], first)
        texts = [
            f"the {rate} of {named_or_counted([*groups])}"
            for rate, groups in few.items()
        ]
        # A page has the rule where it is unfolded.
        rule = f" ({_limits.RULE})" if most_notes else ""
        where_few = f"{TOO_FEW.capitalize()}{rule}{at and f' {at}'}"
        lines.append(f"{where_few} for {listed(texts)}.")
    lines += few_everywhere(report.audits)
    undetermined = [
        c
        for c in _limits.sorted_checks(report)
        if c.verdict == "undetermined" and not c.reason
    ]
    if undetermined:
        first = undetermined[0]
        text = f"Undetermined: {_limits.name_of(first, report)}. {_limits.needed_words(first, report)}"
        if more := len(undetermined) - 1:
            place = "--full" if most_notes else "'More people needed for a limit'"
            text += f" {more:,} more: {place}."  # short, for a terminal has few lines
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
    return [*_of_attacks(report), *lines]


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


def few_everywhere(audits):
    """Further operating points at which every group has too few errors, in sentences."""
    named = {}
    for audit in audits:
        terms, whose = terms_of(audit.settings), printable(audit.attribute or "")
        for level in audit.levels[1:]:
            rates = [
                terms[rate].name
                for rate in rates_in(audit.groups)
                if not any(getattr(r, rate).supported for r in of_groups(level.rates))
            ]
            if rates:
                about = at_place(level, audit), listed(rates)
                named.setdefault(about, []).append(whose)
    few = capital(TOO_FEW)
    return [
        f"{few} {at} for the {rates} of {whose[0] and 'every '}{listed(whose) or 'everyone'}."
        for (at, rates), whose in named.items()
    ]


def _of_attacks(report):
    """The largest APCER, and the range of the BPCER of groups, in sentences, or empty of others."""
    found, texts = leading_findings(report), []
    for audit in report.audits:
        kind, rows = audit.settings.get("decisions"), of_groups(audit.levels[0].rates)
        rows = sorted(rows, key=lambda row: -np.nan_to_num(row.frr.value))
        if kind != "apcer" and (kind != "bpcer" or len(rows) < 2):
            continue
        ends = [
            f"{percent(row.frr.value)} ({percents(row.frr.low, row.frr.high)}), of "
            f"{printable(row.group)}"
            for row in rows
        ]
        text = f"Largest APCER of {len(rows)} species, over everyone: {ends[0]}."
        if kind == "bpcer":
            differ = any(one[2].verdict in DIFFERS for one in found if one[0] is audit)
            text = f"Highest BPCER by {printable(audit.attribute)}: {ends[0]}, lowest: {ends[-1]}"
            text += "." if differ else f". This is {NO_DIFFERENCE}."
        texts.append(text)
    return texts
