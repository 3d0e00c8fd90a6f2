"""Rates of everyone, the largest rates of groups, and combinations of groups, in sentences."""

import numpy as np

from skfairfr._text._words import (
    NO_DIFFERENCE,
    TOO_FEW,
    by_attribute,
    capital,
    level_percent,
    listed,
    percent,
    percents,
    plural,
    printable,
    ratios,
    terms_of,
    who,
)
from skfairfr.report._notes import at_place, of_groups, rates_in
from skfairfr.report._policy import LIMITS, RATE_LIMITS, limited
from skfairfr.report.sections import _limits
from skfairfr.report.sections._cells import level_in_percent
from skfairfr.report.sections._differences import DIFFERS, leading_findings

# Undetermined limits, and limits that are met, that are named. More are counted.
MOST_RESULTS = 4


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


def largest_rates(report, stated, place):
    """The groups with the largest rates, a sentence for each kind.

    At the operating point of a ``place``. Without a rate that the text ``stated`` has, and without
    those that limits are about: their checks name the groups. Of one attribute, rates without a
    limit if others have one.
    """
    by_kind, texts = {}, []
    for audit in report.audits:
        by_kind.setdefault(audit.settings.get("decisions"), []).append(audit)
    for kind, (first, *others) in by_kind.items():
        if kind == "apcer" or not first.attribute:
            continue
        audits, found = (first, *others), []
        n = min(place, len(first.levels) - 1)
        for rate in rates_in(first.groups):
            lacks = lacks_limit(audits, rate)
            if lacks or (others and not limits_of_rate(audits, rate)):
                found += _largest(audits, rate, stated, n)
        if found:
            at = at_place(first.levels[n], first)
            texts.append(
                f"{capital(f'{at}, {listed(found)}' if at else listed(found))}."
            )
    return texts


def _largest(audits, rate, stated, place):
    """The largest rate of the groups of some audits, in words in a list."""
    first = audits[0]
    name, ci = terms_of(first.settings)[rate].name, level_in_percent(first.settings)
    rows = [
        (getattr(row, rate), who(row.group))
        for audit in audits
        for row in of_groups(audit.levels[place].rates)
    ]
    largest, group = max(rows, key=lambda one: np.nan_to_num(one[0].value, nan=-1))
    shown = percent(largest.value)
    few = "" if largest.supported else f", {TOO_FEW}"
    if largest.value == 0:
        return [f"the {name} of every group is 0 %{few}"]
    if shown in stated and group in stated:
        return []
    ends = percents(largest.low, largest.high)
    none = "; no limit set" if lacks_limit(audits, rate) else ""
    return [f"the largest {name} is {shown} ({group}, {ci} CI {ends}{few}{none})"]


def of_attacks(report):
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


def limits_of_rate(audits, rate):
    """Checks that are about a rate."""
    return [
        check
        for audit in audits
        for check in audit.checks
        if check.name in LIMITS and limited(check.name, audit.settings)[0] == rate
    ]


def lacks_limit(audits, rate):
    """Whether other limits are set, and none for a rate."""
    of_rates = any(check.name in LIMITS for audit in audits for check in audit.checks)
    return of_rates and not limits_of_rate(audits, rate)


def everyone_exceeds(check, report):
    """That everyone's rate exceeds a limit as well, or no difference is significant.

    A sentence in a list, or empty: then the limit is exceeded by groups that differ.
    """
    audit = _limits.audit_of(check, report)
    if check.name not in RATE_LIMITS or not audit.attribute:
        return []
    level = audit.levels[_limits.place_in(check, audit)]
    rate, *_ = limited(check.name, audit.settings)
    everyone, texts = getattr(level.rates[0], rate), []
    name, ci = terms_of(audit.settings)[rate].name, level_in_percent(audit.settings)
    if everyone.low > check.limit:
        ends = percents(everyone.low, everyone.high)
        shown = f"{percent(everyone.value)} ({ci} CI {ends})"
        texts.append(f"the {name} of everyone, {shown}, exceeds it too")
    verdicts = {
        of.verdict for of in (*level.findings, *level.overall) if of.rate == rate
    }
    if NO_DIFFERENCE in verdicts and not verdicts & {*DIFFERS, "different"}:
        texts.append(f"no difference{by_attribute(check.attribute)} is significant")
    return [f"{capital(', and '.join(texts))}."] if texts else []


def at_all_points(check, report):
    """At how many operating points a limit of the same groups is exceeded, in a list.

    With the smallest and the largest ratio. Empty if there is one operating point.
    """
    about = check.name, check.limit, check.attribute
    same = [of for of in report.checks if (of.name, of.limit, of.attribute) == about]
    if check.name not in LIMITS or check.verdict != "failed" or len(same) < 2:
        return []
    exceeded = [of.figure for of in same if of.verdict == "failed"]
    n, where = len(same), f"{len(exceeded)} of {len(same)}"
    if len(exceeded) == n:
        where = "both" if n == 2 else f"all {n}"
    between, sizes = "", [of.value for of in exceeded]
    of_ratio = check.name not in RATE_LIMITS and all(of.supported for of in exceeded)
    if of_ratio and len(exceeded) > 1:
        between = f" ({ratios(min(sizes), max(sizes))} times)"
    by = by_attribute(check.attribute).strip()
    text = f"the limit is exceeded at {where} operating points{between}."
    return [capital(f"{by}, {text}" if by else text)]


def other_results(report):
    """Which limits are undetermined and which are met, in a list, if they are few.

    Empty if nothing is exceeded, or with several operating points.
    """
    if any(len(audit.levels) > 1 for audit in report.audits):
        return []
    texts, verdicts = [], {check.verdict for check in report.checks}
    for word in ("undetermined", "passed") if "failed" in verdicts else ():
        checks = [c for c in _limits.sorted_checks(report) if c.verdict == word]
        named = {}
        for check in checks:
            audit = _limits.audit_of(check, report)
            name = _limits.short_name(check, audit)
            by = by_attribute(check.attribute).strip()
            if word == "undetermined" and by and check.name in RATE_LIMITS:
                of_all = _limits.results_of_others(check, audit) == f"others {word}"
                by += f" ({'every group' if of_all else who(check.groups[0])})"
            named.setdefault(name, []).append(by)
        if 0 < len(checks) <= MOST_RESULTS:
            of_each = [f"{name} {listed(by)}".strip() for name, by in named.items()]
            texts.append(f"{capital(_limits.RESULTS[word])}: {'; '.join(of_each)}.")
    return [" ".join(texts)] if texts else []


def combination_that_exceeds(check, report):
    """The one combination that is above a limit, if all groups that exceed it contain it.

    Parameters
    ----------
    check : Check
        Of the headline.
    report : Report

    Returns
    -------
    texts : list of str
        A sentence, or empty.
    """
    if check.name not in RATE_LIMITS or check.verdict != "failed":
        return []
    about = check.name, check.limit, check.far, check.threshold
    same = [
        (audit, of)
        for audit in report.audits
        for of in audit.checks
        if of.name in RATE_LIMITS and (of.name, of.limit, of.far, of.threshold) == about
    ]
    audit, finest = max(same, key=lambda one: one[0].attribute.count(" & "))
    rate, *_ = limited(check.name, audit.settings)
    rows = audit.levels[_limits.place_in(finest, audit)].rates[1:]
    above = [row.group for row in rows if getattr(row, rate).value > check.limit]
    wider = [
        (of.attribute, group)
        for _, of in same
        if of is not finest and of.verdict == "failed"
        for group in of.groups
    ]
    if len(above) != 1 or not wider or audit.n_unknown:
        return []
    whole = audit.attribute, above[0]
    if not all(_limits.contains(of, whole) for of in wider):
        return []
    named = listed([who(group) for _, group in wider])
    one = len(wider) == 1
    text = f"{named} {'contains' if one else 'contain'} it"
    # Rejections are of one person each, so a group's are those of its combinations.
    if rate == "frr":
        verb, it = ("exceeds", "it contains") if one else ("exceed", "they contain")
        text = f"{named} {verb} the limit because {it} it"
    kind = terms_of(audit.settings)[rate].name
    return [
        f"Of the {len(rows)} groups{by_attribute(audit.attribute)}, only {who(above[0])} has "
        f"an {kind} above {level_percent(check.limit)}; {text}."
    ]


def part_of_groups(audit, first):
    """That the combination of the headline is part of a group of an audit, in a list.

    Parameters
    ----------
    audit : Audit
        Of fewer attributes.
    first : tuple of (Audit, str, label) or None
        Of the headline: the audit, the rate and the group.
    """
    if first is None or first[0] is audit or not audit.attribute:
        return []
    of, rate, group = first
    rows = audit.levels[0].rates[1:]
    whole = of.attribute, group
    known = (
        r.group for r in rows if _limits.contains((audit.attribute, r.group), whole)
    )
    of_group = next(r for r in of.levels[0].rates if r.group == group)
    value, name = getattr(of_group, rate).value, terms_of(of.settings)[rate].name
    return [
        f"{who(group)}, whose {name} is {percent(value)}, is part of {printable(own)}."
        for own in known
    ]
