"""Outputs of a small report: a text, a page, JSON, and a folder of these."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from skfairfr._text._document import (
    Document,
    Facts,
    Section,
    write_fragment,
    write_page,
    write_text,
)
from skfairfr._text._words import printable
from skfairfr.report._outputs import save_texts, schema_of, to_json
from skfairfr.report.sections._audit import called, subtitle_of
from skfairfr.report.sections._cells import READ_NOTES, lines_of
from skfairfr.report.sections._method import reproduce
from skfairfr.utils._types import FilePath

SCHEMA_VERSION = 1
# What was found, and the status with which the command ends.
EXIT_CODES = {"passed": 0, "failed": 1, "undetermined": 3}
# Rows of each table, and sentences, that a terminal shows.
MOST_ROWS = 4


class Written:
    """Base of a record that is one document, as a text and as a page.

    ``_document(source, date)`` makes it, ``_short(source, date)`` what a terminal shows of it,
    and ``_in_notebook`` has the names of the sections that a notebook shows.
    """

    _in_notebook: tuple = ("verdict", "groups")

    def to_text(
        self,
        source: str | None = None,
        *,
        date: str | None = None,
        full: bool = True,
    ) -> str:
        """Give what was found for a terminal: ASCII of at most 100 columns.

        Parameters
        ----------
        source : str, default=None
            Source of the data, for the line under the title.
        date : str, default=None
            Day of the report, for the same line. None leaves it out, so equal results
            give equal texts. JSON never has it.
        full : bool, default=True
            Whether all sections are given, or the result and the largest differences, or
            the first rows of its tables, alone.

        Returns
        -------
        text : str

        Examples
        --------
        >>> from skfairfr import audit, make_face_embeddings
        >>> data = make_face_embeddings(n_identities=200, random_state=0)
        >>> found = audit(data.X, data.y, data.sensitive_features, far=1e-2)
        >>> found.to_text("faces.npz", full=False).splitlines()[0]
        'Audit of verification errors by group'
        """
        document = self._document if full else self._short
        return write_text(document(source, date))

    def to_html(
        self,
        source: str | None = None,
        *,
        version: str | None = None,
        date: str | None = None,
    ) -> str:
        """Give one self-contained page: no script, no network, every label escaped.

        Parameters
        ----------
        source : str, default=None
            Source of the data.
        version : str, default=None
            Of skfairfr. If None: the installed one.
        date : str, default=None
            Day of the report, under the title. If None: today in UTC, or that of the
            environment variable SOURCE_DATE_EPOCH. JSON never has it.

        Returns
        -------
        html : str
        """
        return write_page(self._document(source), version, date)

    def _repr_html_(self):
        return write_fragment(self._document().only(*self._in_notebook))


class Page(Written):
    """Base of a small report. ``_name`` is that of its files.

    ``_in_short`` has the names of the sections that a terminal shows.

    A record has ``settings``, ``notes``, ``about`` and a ``verdict``; it gives the keys of its
    JSON by ``_record()``, and the parts of its document: ``_heading``, what the page is
    called; ``_called``, what its data, its groups and its facts are; ``_opening()``, the
    verdict, the limits and a figure; ``_does_not_show``; ``_table()``, by group;
    ``_facts()``; and ``_method()``, how it was computed, from ``_lines``.
    """

    _in_short: tuple = ("verdict", "groups")

    @property
    def exit_code(self) -> int:
        """0 where the verdict is passed, 1 failed, 3 undetermined."""
        return EXIT_CODES[self.verdict]

    def _document(self, source=None, date=None, short=False):
        of_data, of_groups, of_facts = self._called
        data = "" if source is None else f"{of_data}: {printable(source)}"
        notes = self._first_notes() if short and self.notes else []
        opening = [*self._opening(), *notes, self._does_not_show]
        digests = self.settings.get("sha256", {})
        again = reproduce(self.settings, self.about, digests)
        sections = [
            Section("verdict", "Result", opening),
            Section("groups", of_groups, [self._table()]),
            Section("data", of_facts, [Facts(self._facts())]),
            Section("notes", "Notes", [[*map(printable, self.notes)]]),
            Section("method", "How it was computed", [self._method(), again]),
        ]
        title = called(self, self._heading)
        return Document(title, subtitle_of(self, data, date), sections)

    def _short(self, source=None, date=None):
        document = self._document(source, date, short=True)
        return document.in_short(*self._in_short, most=MOST_ROWS)

    def _first_notes(self):
        """Parts of the first screen, if there are notes."""
        return [READ_NOTES]

    def _lines(self, name, **values):
        """Lines of a text of the method."""
        wrong = f"{100 * (1 - self.settings['confidence_level']):g} %"
        return [line.format(wrong=wrong, **values) for line in lines_of(name)]

    def to_json(self, **about: Any) -> str:
        """Give strict JSON: nan as null, infinities as "Infinity" and "-Infinity".

        Parameters
        ----------
        **about : JSON-able values
            Keys written before the others.

        Returns
        -------
        text : str
        """
        return to_json(SCHEMA_VERSION, about, self._record(), self.settings)

    def save(
        self,
        folder: FilePath,
        source: str | None = None,
        *,
        replace: bool = False,
        version: str | None = None,
        date: str | None = None,
    ) -> tuple[Path, ...]:
        """Write the page, the JSON and the text to a folder, which changes when all is written.

        Parameters
        ----------
        folder : path-like
            Made if it does not exist.
        source, version, date : str, default=None
            Where the data come from, version of skfairfr (None is the installed one) and day
            of the page (None is today).
        replace : bool, default=False
            Whether a report that the folder contains is replaced. Files of others stay.

        Returns
        -------
        paths : tuple of pathlib.Path
            Files written.

        Raises
        ------
        ArgumentError
            If the folder is no path, or contains a report that is not to be replaced.
        OSError
            If it cannot be written to.
        """
        about = {"version": version, "source": source}
        about = {name: text for name, text in about.items() if text is not None}
        written = {
            "report.html": self.to_html(source, version=version, date=date),
            f"{self._name}.json": self.to_json(**about),
            f"{self._name}.txt": self.to_text(source, date=date),
        }
        return save_texts(Path(folder), written, replace)

    @classmethod
    def schema(cls) -> dict:
        """JSON Schema of what :meth:`to_json` gives.

        Returns
        -------
        schema : dict
        """
        return schema_of(f"{cls._name}.json")
