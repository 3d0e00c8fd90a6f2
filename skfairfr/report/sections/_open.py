"""People needed for an undetermined limit, notes on the data, and numbers with too few errors."""

import math

from skfairfr._core._planning import MAX_PEOPLE
from skfairfr._text._document import Section
from skfairfr._text._words import (
    NO_DIFFERENCE,
    TOO_FEW,
    by_attribute,
    capital,
    listed,
    plural,
    printable,
    rounded_up,
    terms_of,
    who,
)
from skfairfr.report._notes import at_place, of_groups, rates_in, reason_in_words
from skfairfr.report._policy import LIMITS, POWER, limited
from skfairfr.report.sections import _limits
from skfairfr.report.sections._differences import named_or_counted
from skfairfr.report.sections._limits import combination_inside


def needed_words(check, report):
    """How many more people, or pairs, would settle an undetermined check, or why none is named."""
    settled = check.verdict != "undetermined" or check.reason or not check.groups
    if settled or check.name not in LIMITS:
        return ""
    if math.isnan(check.figure.value + check.figure.high):
        return "More people, or a threshold with more errors, are needed."
    group = check.groups[0]
    if inner := combination_inside(check, group, report):
        return f"{who(group)} contains {who(inner)}, which exceeds the limit."
    if rests_on_few(check):
        return "Too few errors to name the number of people that would settle it."
    one, several = "person", "people"
    if report.audits[0].settings.get("independent_pairs"):
        rate, *_ = limited(check.name, report.audits[0].settings)
        kind = terms_of(report.audits[0].settings)[rate]
        one, several = kind.trial, kind.trials
    if not check.people_needed:
        return f"If rates are as found, no number of {several} up to {MAX_PEOPLE:,} settles it."
    mixed = ""
    if "gallery" in report.audits[0].settings:
        mixed = ", enrolled or not in the same shares as here (a larger gallery raises the FPIR),"
    people = listed(
        [
            plural(rounded_up(more), f"more {one}", f"more {several}")
            + ("" if group is None else f" in {printable(group)}")
            for group, more in check.people_needed
        ]
    )
    result = "exceeded" if check.figure.value > check.limit else "met"
    return (
        f"If rates are as found, about {people}{mixed} would show in {100 * POWER:g} % of cases "
        f"that the limit is {result}."
    )


def rests_on_few(check):
    """Whether a value above its limit has too few errors, so its size forecasts nothing."""
    return check.figure.value > check.limit and not check.figure.supported


RULE = (
    "fewer than 30, or from fewer than 10 people, or more than a third from one person"
)
FEW = (
    "These numbers rest on fewer than 30 errors, on errors of fewer than 10 people, or on "
    "errors more than a third of which come from one person. Do not conclude from their size."
)


def open_questions(report):
    """Parts of the section."""
    needed = []
    for check in report.checks:
        if text := needed_words(check, report):
            needed.append(f"{_limits.name_of(check, report)}: {text}")
    few = [text for audit in report.audits for text in unsupported(audit, audit)]
    parts = [
        Section(
            "open-needed", "More people needed for a limit", [needed], len(needed) > 2
        ),
        Section("open-notes", "Notes", [notes_of(report)]),
        Section("open-few", capital(TOO_FEW), [FEW, few] if few else [], True),
    ]
    verdicts = [
        finding.verdict
        for audit in report.audits
        for level in audit.levels
        for finding in level.findings
    ]
    if not report.checks and NO_DIFFERENCE in verdicts:
        limit = f"max-{terms_of(report.audits[0].settings).frr.limit}"
        parts.append(
            "No significant difference is no evidence that there is none. How many more "
            "people would decide depends on the difference that matters. An audit with a "
            f"limit, such as --{limit}, names their number, and skfairfr plan names it "
            "before a test."
        )
    return parts


def notes_of(report):
    """Notes of all audits, each once."""
    notes = (note for audit in report.audits for note in audit.notes)
    return list(map(printable, dict.fromkeys(notes)))


def unsupported(measured, found):
    """Sentences about figures that rest on too few errors, with the reason.

    Parameters
    ----------
    measured : Audit or Measured
    found : Audit or SystemsComparison
        Whose settings these are.
    """
    of, rates = by_attribute(measured.attribute), rates_in(measured.groups)
    inside = f" ({of.strip()})" if of else ""
    terms = terms_of(found.settings)
    named = [
        (f"EER of {who(row.group)}{inside}", row.equal_error_rate, None)
        for row in measured.groups
        if row.equal_error_rate is not None and row.equal_error_rate.reasons
    ]
    texts = []
    for level in measured.levels:
        at = at_place(level, found)
        named += [
            (
                f"{terms[rate].name} of {who(row.group)}{inside} {at}".strip(),
                getattr(row, rate),
                rate,
            )
            for row in level.rates
            for rate in rates
        ]
        for finding in level.findings:
            about = f"{terms[finding.rate].name}{of} {at}".strip()
            if finding.group is None:
                texts.append(
                    f"{about}: not compared, {printable(finding.ratio.reason)}."
                )
            elif finding.not_compared:
                groups = ", ".join(map(printable, finding.not_compared))
                texts.append(
                    f"{about}: not compared for lack of {terms.trials}: {groups}."
                )
    few = [
        f"{name}: {reason_in_words(figure, terms, rate)}."
        for name, figure, rate in named
        if not figure.supported
    ]
    return list(dict.fromkeys(few + texts))


def too_few_errors(report, on_terminal):
    """Groups with too few errors at the first operating point, in a list, or empty of none."""
    first, found = report.audits[0], {}
    for audit in report.audits:
        for rate in rates_in(audit.groups):
            groups = found.setdefault(terms_of(audit.settings)[rate].name, {})
            groups |= {
                who(row.group): None
                for row in audit.levels[0].rates
                if not getattr(row, rate).supported
            }
    same = {}
    for name, groups in found.items():
        if groups:
            same.setdefault(tuple(groups), []).append(name)
    if not same:
        return []
    texts = [
        f"the {listed(names)} of {named_or_counted([*groups])}"
        for groups, names in same.items()
    ]
    at = at_place(first.levels[0], first)
    # A page has the rule where it is unfolded.
    rule = f" ({RULE})" if on_terminal else ""
    few = f"{TOO_FEW.capitalize()}{rule}{at and f' {at}'}"
    return [f"{few} for {listed(texts)}."]


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
