"""The document of an audit: its sections in their order, and those that a user adds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from skfairfr._text._document import Cell, Document, Row, Section, Table, shortened
from skfairfr._text._words import by_attribute, listed, printable, terms_of
from skfairfr.report._notes import at_place, heading_of, rates_in
from skfairfr.report._verdicts import SHARES
from skfairfr.report.sections._answer import (
    MOST_NOTES,
    answer,
    at_equal_in_short,
    cannot_be_concluded,
    does_not_show,
    group_of_answer,
    other_differences,
    point_of_answer,
    verdict,
)
from skfairfr.report.sections._costs import costs, reliability
from skfairfr.report.sections._curves import TITLE, curves_of_groups
from skfairfr.report.sections._differences import (
    at_equal,
    in_sentences,
    overall_differences,
)
from skfairfr.report.sections._equal_covariates import explained, explained_in_short
from skfairfr.report.sections._failures import failures, lost
from skfairfr.report.sections._gallery import over_sizes, who_alarms
from skfairfr.report.sections._indices import SHOWN, disparities
from skfairfr.report.sections._label_errors import (
    corrected_matrices,
    in_short,
    wrong_labels,
)
from skfairfr.report.sections._largest import part_of_groups
from skfairfr.report.sections._limits import limits_in_short
from skfairfr.report.sections._matrix import MOST_GROUPS, matrices
from skfairfr.report.sections._method import (
    crossing,
    limits_of_page,
    method,
    sizes,
    tested,
    words_of,
)
from skfairfr.report.sections._open import open_questions
from skfairfr.report.sections._rates import (
    against_others,
    averages,
    counts,
    in_one_order,
    p_values,
    rates_and_ratios,
    rates_figure,
    ratios_figure,
)
from skfairfr.utils._errors import invalid, kind_of_value

# Parts of a document that a card shows, and a notebook.
IN_CARD = ("verdict", "data", "by-*-rates", "open", "limits")
IN_NOTEBOOK = ("verdict", "by-*-rates")
TITLE_OF_EXPLAINED = "At equal covariates, by regression"
# Limits that a terminal shows, and sentences after the first.
MOST_LIMITS, MOST_TOLD = 3, 5
TITLE_OF_LABELS = "If labels of groups are wrong"


def audit_document(report, source=None, date=None):
    """A report as a document.

    Parameters
    ----------
    report : Report
    source, date : str, default=None
        Source of the data, and the day of the document.

    Returns
    -------
    document : Document
    """
    report = _in_one_order(report)
    by = []
    for n, audit in enumerate(report.audits):
        rates = "Error rates"
        if "decisions" in audit.settings:
            rates = terms_of(audit.settings).frr.name
        parts = _of_attribute(report, n)
        by.append(Section(f"by-{n}", f"{rates}{by_attribute(audit.attribute)}", parts))
    of_gallery = []
    if "gallery" in report.audits[0].settings:
        of_gallery = [who_alarms(report), over_sizes(report)]
    sections = [
        Section("verdict", "Result", answer(report)),
        Section("data", "What was tested", tested(report)),
        *by,
        Section(
            "explained",
            TITLE_OF_EXPLAINED,
            explained(report) if report.explained else [],
        ),
        *own_sections(report),
        *of_gallery,
        Section("open", "What the data do not show", open_questions(report)),
        Section("method", "How it was computed", method(report)),
        Section("limits", "Limits of this report", [limits_of_page(report)]),
        Section(
            "glossary",
            "Glossary",
            [Section("words", "Words", [words_of(report)], True)],
        ),
    ]
    return _finished(report, sections, source, date)


def summary_document(report, source=None, date=None):
    """Terminal text of a report: the verdict, limits and the largest differences."""
    report = _in_one_order(report)
    limits, described = limits_in_short(report, MOST_LIMITS), verdict(report)
    if limits and any(audit.label_errors for audit in report.audits):
        limits.append("Limits are judged with the labels as given.")
    opening = [
        shortened(described, MOST_TOLD),
        limits,
        [*cannot_be_concluded(report, MOST_NOTES), does_not_show(report)],
    ]
    above = described.headline, *described.texts
    others = [
        text
        for text in in_sentences(other_differences(report))
        if not any(of.startswith(text) for of in above)
    ]
    differences = Section("differences", "Largest differences", [others])
    equal = at_equal_in_short(report)
    if report.explained is not None:
        equal += explained_in_short(report)
    at_equal_ = Section("equal", "At equal covariates", [equal])
    labels = Section("labels", TITLE_OF_LABELS, [in_short(report)])
    sections = [Section("verdict", "Result", opening), differences, at_equal_, labels]
    return _finished(report, sections, source, date)


def _in_one_order(report):
    """The report with the groups of each audit in one order."""
    return replace(report, audits=tuple(map(in_one_order, report.audits)))


def _finished(report, sections, source, date):
    kinds = [
        terms_of(audit.settings)[rate]
        for audit in report.audits
        for rate in rates_in(audit.groups)
    ]
    title = _title(report)
    return document_of(report, title, sections, "Data", source, date, kinds)


def _title(report):
    first = report.audits[0]
    names = [printable(audit.attribute) for audit in report.audits if audit.attribute]
    single = [name for name in dict.fromkeys(names) if " & " not in name]
    about = by_attribute(listed(single or names or [""]))
    terms = terms_of(first.settings)
    what = f"{terms.task} errors" if "decisions" not in first.settings else "decisions"
    independent = first.settings.get("independent_pairs")
    more = f", {terms.trial}s taken as independent" if independent else ""
    return f"Audit of {what}{about}{more}"


def document_of(found, title, sections, data, source, date, kinds, about=""):
    """A document with what is known of a test, and names of rates, under its title.

    ``title`` is that of a test without one, ``data`` what the source is called, and
    ``kinds`` the ErrorKind of each rate.
    """
    named = {
        "system": "System",
        "dataset": "Data set",
        "organisation": "Organisation",
        "tested": "Tested",
        "labels_source": "Labels of groups",
        "sampling": "Sampling",
    }
    known = [(t, found.about[name]) for name, t in named.items() if name in found.about]
    texts = [f"{name}: {printable(text)}" for name, text in known]
    texts += [about] if about else []
    texts += [] if source is None else [f"{data}: {printable(source)}"]
    texts += [f"Report written: {printable(date)}"] if date else []
    named = {kind.name: kind.rate for kind in kinds} | {"CI": "confidence interval"}
    named = "; ".join(f"{name}: {rate}" for name, rate in named.items())
    title = printable(found.about.get("title", title))
    return Document(title, "; ".join(texts), sections, f"{named}.")


def _of_attribute(report, place):
    """Parts of the section of one attribute: the first operating point open, others folded."""
    audit, name = report.audits[place], f"by-{place}"
    terms, about_it = terms_of(audit.settings), point_of_answer(report)[0]
    first, *others = audit.levels
    kinds = [one.settings.get("decisions") for one in report.audits]
    everyone = kinds.index(kinds[place]) == place  # once for each kind of error
    about = f"{by_attribute(audit.attribute).strip()} at"
    matrix = _matrices(audit, first, about)
    crossings = [
        crossing(one, audit)
        for one in report.crossings
        if " & ".join(one.attributes) == audit.attribute
        # With all labels and people known, these are the groups, whose sizes are above.
        and (
            audit.groups[0].n_identities is None
            or any(None in cell.groups for cell in one.cells)
        )
    ]
    equal = at_equal(audit, f"{name}-control")
    large = len(audit.groups) > MOST_GROUPS + 1
    combined = [" & " in one.attribute for one in report.audits]
    share = SHARES[combined[place]] if len({*combined}) > 1 else 1.0
    folded = [
        ("counts", "Counts", _all_levels(counts, audit)),
        ("indices", "All disparities and indices", _all_levels(disparities, audit)),
        (
            "p",
            "p-values",
            [*overall_differences(audit), p_values(audit.levels, audit, share)],
        ),
        (
            "others",
            "Against the other groups",
            [against_others(audit.levels, audit, share)],
        ),
        ("groups", "Size of the groups", [sizes([audit], terms), *crossings]),
    ]
    return [
        None if audit is about_it else rates_figure(audit),
        Section(
            f"{name}-rates",
            heading_of(first, audit),
            [
                rates_and_ratios(first, audit, everyone),
                *part_of_groups(audit, group_of_answer(report)),
            ],
            # A combination that nobody asked for, unless the headline is about it.
            " & " in audit.attribute and audit is not about_it,
        ),
        ratios_figure(audit),
        *([] if large else [disparities([first], [audit], audit.settings, SHOWN)]),
        *([] if large else matrix),
        *[
            Section(
                f"{name}-level-{n}",
                heading_of(level, audit),
                [rates_and_ratios(level, audit), *_matrices(audit, level, about)],
                True,
            )
            for n, level in enumerate(others, 1)
        ],
        equal,
        Section(
            f"{name}-det", TITLE, [curves_of_groups(audit) if audit.attribute else None]
        ),
        Section(
            f"{name}-costs",
            "Costs and calibration",
            [*costs(audit), *reliability(audit)],
        ),
        Section(f"{name}-labels", TITLE_OF_LABELS, wrong_labels(audit)),
        Section(f"{name}-lost", "Where each group is lost", [lost(audit)]),
        Section(f"{name}-averages", "Both averages", [averages(audit)]),
        Section(
            f"{name}-failures", "Failures to acquire and to enrol", [failures(audit)]
        ),
        Section(
            f"{name}-matrix",
            f"{terms.far.name} of each pair of groups",
            matrix if large else [],
            True,
        ),
        Section(
            f"{name}-labels-matrix",
            f"{terms.far.name} of each pair of groups, corrected for wrong labels",
            corrected_matrices(audit),
            True,
        ),
        *[Section(f"{name}-{n}", title, parts, True) for n, title, parts in folded],
    ]


def _all_levels(tables, audit):
    """A table for each operating point, with a heading where there are several."""
    if len(audit.levels) == 1:
        return [tables(audit.levels, [audit], audit.settings)]
    return [
        Section(
            "", heading_of(level, audit), [tables([level], [audit], audit.settings)]
        )
        for level in audit.levels
    ]


def _matrices(audit, level, about):
    about = f"{about} {at_place(level, audit).removeprefix('at ')}"
    return matrices([level], [about], terms_of(audit.settings))


@dataclass(frozen=True)
class Own:
    """Results and text of a section that the user added.

    Attributes
    ----------
    title : str
    record : object
        Of numbers, texts, lists and dicts, for the JSON.
    parts : tuple
        Paragraphs (str), lists of str, and tables: tuples of a caption, the names of the
        columns, and rows.
    """

    title: str
    record: Any
    parts: tuple


def measured(sections, report):
    """Measurements of the user's sections of a report, a tuple of Own.

    Raises
    ------
    ArgumentError
        If one lacks ``title``, ``measure`` or ``document``, or a part has another form.
    """
    found = []
    for section in sections:
        lacking = [
            n for n in ("title", "measure", "document") if not hasattr(section, n)
        ]
        if lacking:
            problem = f"has no {lacking[0]!r} ({kind_of_value(section)});"
            remedy = "give objects with title, measure(report) and document(record)."
            raise invalid("sections", section, problem, remedy)
        record = section.measure(report)
        parts = tuple(section.document(record))
        for part in parts:
            _part_of(part)
        found.append(Own(str(section.title), record, parts))
    return tuple(found)


def own_sections(report):
    """The sections of a document."""
    return [
        Section(f"own-{n}", printable(own.title), [*map(_part_of, own.parts)])
        for n, own in enumerate(report.sections)
    ]


def _part_of(part):
    """A paragraph, a list of points or a table of a document."""
    if isinstance(part, str):
        return printable(part)
    if isinstance(part, list) and all(isinstance(text, str) for text in part):
        return [*map(printable, part)]
    if isinstance(part, tuple) and len(part) == 3:
        caption, head, rows = part
        of_rows = [
            Row(printable(name), [Cell(printable(cell)) for cell in cells])
            for name, *cells in rows
        ]
        if all(len(row.cells) == len(head) - 1 for row in of_rows):
            return Table(printable(caption), [*map(printable, head)], of_rows)
    raise invalid(
        *("sections", part),
        f"made a part of another form ({kind_of_value(part)});",
        "a part is a text, a list of texts, or (caption, columns, rows) with a cell for each "
        "column.",
    )
