"""Sections that a user adds to a report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from skfairfr._text._document import Cell, Row, Section, Table
from skfairfr._text._words import printable
from skfairfr.utils._errors import invalid, kind_of_value


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
