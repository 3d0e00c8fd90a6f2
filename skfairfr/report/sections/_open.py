"""Limits of the data: too few errors, open limits, and notes."""

from skfairfr._text._document import Section
from skfairfr._text._words import (
    NO_DIFFERENCE,
    TOO_FEW,
    by_attribute,
    capital,
    printable,
    terms_of,
    who,
)
from skfairfr.report._notes import at_place, rates_in, reason_in_words
from skfairfr.report.sections._limits import name_of, needed_words

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
            needed.append(f"{name_of(check, report)}: {text}")
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
