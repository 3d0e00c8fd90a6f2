"""Records as tables, JSON and files, and the outputs of a small report."""

from __future__ import annotations

import csv
import json
import math
from functools import reduce
from importlib.resources import files
from io import StringIO
from itertools import repeat
from pathlib import Path
from typing import Any

from skfairfr._core._kinds import COMPARISONS, SEARCHES, terms_of_decisions
from skfairfr._text._document import (
    Facts,
    Section,
    write_fragment,
    write_page,
    write_text,
)
from skfairfr._text._words import RATES, in_terms, plain_form, printable, terms_of
from skfairfr.report._notes import largest_rate
from skfairfr.report._records import Disparity, Figure
from skfairfr.report.sections._answer import EXIT_CODES
from skfairfr.report.sections._audit_document import document_of
from skfairfr.report.sections._cells import READ_NOTES, lines_of
from skfairfr.report.sections._method import reproduce
from skfairfr.utils._folder import REPORT, check_replaceable, replaced
from skfairfr.utils._frames import build_frame
from skfairfr.utils._types import FilePath
from skfairfr.utils._validation import check_option, check_path

ENDS = ("value", "low", "high")
FIGURE = (*ENDS, "standard_error", "supported", "reason", "source")


def _figure(name, path, parts=FIGURE):
    """Columns of a Figure. That of its value has the name alone."""
    return {name if p == "value" else f"{name}_{p}": f"{path}.{p}" for p in parts}


def _rate(rate):
    """Columns of the errors of a rate, what they are worth, and the rate."""
    errors = {f"{rate}_errors": f"found.{rate}_errors"}
    for part in ("errors", "people"):
        errors[f"{rate}_effective_{part}"] = f"found.{rate}_effective.{part}"
    return errors | _figure(rate, f"found.{rate}")


def _paths(of, *names):
    return {name: f"{of}.{name}" for name in names}


POINT = {"attribute": "attribute", "level": "level"}
POINT |= _paths("at", "threshold", "set_on")
OF_KIND = {"attribute": "attribute", "rate": "rate"}
# Name of a table, and whether it is of decisions -> column -> the attributes of records
# that lead to its value, which is nan if one is lacking.
COLUMNS = {
    ("rates", False): POINT
    | _paths("size", "group", "n_identities", "n_images", "n_impostor")
    | _rate("far")
    | _paths("size", "n_genuine")
    | _rate("frr")
    | _figure("equal_error_rate", "size.equal_error_rate", ENDS)
    | _paths("generalised", "gfar", "gfrr")
    | _figure("far_standardised", "standardised.far", ENDS)
    | _figure("frr_standardised", "standardised.frr", ENDS),
    ("rates", True): OF_KIND
    | _paths("size", "group", "n_identities")
    | {"n_attempts": "size.n_genuine", "value": "found.frr.value"}
    | {
        name.removeprefix("frr_"): path
        for name, path in _rate("frr").items()
        if name not in ("frr", "frr_source")
    }
    | {"failures": "found.frr_failures"},
    ("disparities", False): POINT
    | _paths("found", "how", "operating_point", "neutral")
    | {"rate": "rate"}
    | _paths("figure", *FIGURE, "corrected", "p_value"),
    ("disparities", True): OF_KIND
    | _paths("found", "how", "neutral")
    | _paths("figure", *FIGURE[:-1], "corrected", "p_value"),
}
# Columns of a frame that is not full, those that its rows have.
USUAL = {
    "rates": (
        *("attribute", "group", "level", "threshold"),
        *("far", "far_low", "far_high", "frr", "frr_low", "frr_high"),
        *("rate", "n_attempts", "errors", "value", "low", "high"),
    ),
    "disparities": (
        *("attribute", "level", "rate", "how", "operating_point"),
        *("value", "low", "high", "p_value", "supported"),
    ),
    "changes": (
        *("system", "attribute", "group", "rate", "far"),
        *("before", "after", "difference", "low", "high", "verdict"),
    ),
}

# Separator of cells and mark of decimals.
DIALECTS = {"comma": (",", "."), "semicolon": (";", ",")}

# A text that begins with one of these is a formula to a spreadsheet.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


# ---- tables -------------------------------------------------------------------------


def rates_of(audits):
    """Rows of both rates of every group at every level.

    Of decisions those of the rate that was measured.

    Returns
    -------
    rows : list of dict
        Python's names of columns and their values.
    """
    rows = []
    for audit in audits:
        size, at_equal = {row.group: row for row in audit.groups}, repeat(None)
        if audit.standardised is not None:
            at_equal = audit.standardised.levels
        for level, equal in zip(audit.levels, at_equal, strict=False):
            generalised = {row.group: row for row in level.generalised}
            standardised = {row.group: row for row in equal.rates[1:]} if equal else {}
            rows += [
                _row(
                    "rates",
                    *(audit, level, audit.settings.get("decisions")),
                    size=size[found.group],
                    found=found,
                    generalised=generalised.get(found.group),
                    standardised=standardised.get(found.group),
                )
                for found in level.rates
            ]
    return rows


def disparities_of(audits):
    """Rows of every disparity of either rate, and of indices of both, at every level.

    Returns
    -------
    rows : list of dict
        Python's names of columns and their values.
    """
    rows = []
    for audit in audits:
        decisions = audit.settings.get("decisions")
        for level in audit.levels:
            found = [
                (decisions or rate, d, getattr(d, rate))
                for d in level.disparities
                for rate in (("frr",) if decisions else RATES)
            ]
            found += [("both", d, d.far) for d in map(_as_disparity, level.indices)]
            for rate, of, figure in found:
                about = {"found": of, "figure": figure}
                row = _row("disparities", audit, level, rate, **about)
                absent = {
                    name: math.nan for name, value in row.items() if value is None
                }
                rows.append(row | absent)
    return rows


def _as_disparity(index):
    """An index of both rates as one disparity of either."""
    undefined = *[math.nan] * 3, False, "no interval is computed"
    both = [Figure(index.value, *undefined)] * 2
    return Disparity(index.name, "overall", index.neutral, *both)


def _row(table, audit, level, rate, **records):
    """A row of a table: the value of each of its columns."""
    far = math.nan if level.far is None else level.far
    records |= {"attribute": audit.attribute, "level": far, "at": level, "rate": rate}
    columns, row = COLUMNS[table, "decisions" in audit.settings], {}
    for name, path in columns.items():
        first, *others = path.split(".")
        row[name] = reduce(
            lambda of, own: getattr(of, own, math.nan), others, records[first]
        )
    return in_given_scale(row, audit.settings)


def in_given_scale(form, settings):
    """Dicts and lists whose thresholds are distances if scores were given as such.

    Records contain similarities, minus the distances.
    """
    return _with_distances(form) if settings.get("distance") else form


# Keys of what is a score.
THRESHOLDS = ("threshold", "worst_group_threshold", "threshold_high")


def _with_distances(form, of=""):
    """Dicts, lists and values with minus the thresholds. ``of`` is the key of a value."""
    if isinstance(form, dict):
        return {name: _with_distances(value, name) for name, value in form.items()}
    if isinstance(form, list):
        return [_with_distances(value, of) for value in form]
    negated = of in THRESHOLDS and form is not None
    return 0.0 - form if negated else form


def rows_to_frame(rows, table, full, backend):
    """Rows of a table, list of dict, as a frame with all columns or the usual ones."""
    names = list((rows or [{}])[0])
    if not full:
        names = [name for name in USUAL[table] if name in names]
    columns = {name: [row[name] for row in rows] for name in names}
    if "group" in columns:
        kinds = {type(label) for label in columns["group"] if label is not None}
        if len(kinds) > 1:
            columns["group"] = [g if g is None else str(g) for g in columns["group"]]
    return build_frame(columns, backend)


def to_csv(rows, dialect="comma"):
    """Rows as CSV in UTF-8 that spreadsheets recognise, empty if undefined or unknown.

    Parameters
    ----------
    rows : iterable of dict
        With the same keys.
    dialect : {"comma", "semicolon"}, default="comma"
        Cells with commas between and decimal points, or semicolons and decimal commas.

    Returns
    -------
    text : str
        Begins with a byte order mark. Half characters, as in the path of a file whose
        name is not UTF-8, are "?", as in JSON. A text that a spreadsheet would take for a
        formula has an apostrophe before it.
    """
    check_option(dialect, "csv_dialect", tuple(DIALECTS))
    separator, decimal = DIALECTS[dialect]
    written, rows = StringIO(newline=""), list(rows)
    writer = csv.writer(written, delimiter=separator)
    if rows:
        writer.writerow(rows[0])
    for row in rows:
        writer.writerow([_cell(value, decimal) for value in row.values()])
    return "\N{ZERO WIDTH NO-BREAK SPACE}" + written.getvalue()


def _cell(value, decimal):
    if isinstance(value, str):
        text = plain_form(value)
        return f"'{text}" if text.startswith(FORMULA) else text
    if isinstance(value, bool):
        return str(value).lower()
    if value != value:  # nan, which is empty
        return None
    return str(value).replace(".", decimal) if isinstance(value, float) else value


# ---- JSON and files ------------------------------------------------------------------


def save_texts(folder, written, replace, figures=()):
    """Write texts by name, and figures next to them, to a folder. The paths without these.

    Parameters
    ----------
    folder : path-like
    written : dict of str -> str
    replace : bool
        Whether an earlier report is.
    figures : dict of str -> str
        SVG by name.
    """
    check_replaceable(check_path(folder, "folder"), replace)
    with replaced(folder, REPORT) as staged:
        for name, text in written.items():
            (staged / name).write_text(text, encoding="utf-8", newline="")
        for name, svg in dict(figures).items():
            (staged / "figures").mkdir(exist_ok=True)
            (staged / "figures" / f"{name}.svg").write_text(svg, "utf-8", newline="")
    return tuple(Path(folder) / name for name in written)


def to_json(version, about, record, settings):
    """A record as JSON, after its version and what the caller adds."""
    form = plain_form({"schema_version": version, **about, **record})
    return json_text(standard_form(form, settings))


def standard_form(form, settings):
    """Dicts and lists with the keys of what was measured, and thresholds in its scale."""
    return in_terms(in_given_scale(form, settings), terms_of(settings))


def json_text(form):
    """Plain forms as JSON."""
    return json.dumps(plain_form(form), indent=1, allow_nan=False, default=str) + "\n"


def audit_form(record, audit=None):
    """An audit, or a check of one, as dicts with the keys of what was measured."""
    audit = audit or record
    decisions = audit.settings.get("decisions")
    form = plain_form(record, of_decisions=decisions is not None)
    if record is audit:
        absent = ("control", "standardised", "label_errors")
        for name in absent if decisions else absent[-1:]:
            if not form[name]:
                del form[name]
        if decisions == "apcer":
            form["largest"] = largest_rate(audit).group
    return standard_form(form, audit.settings)


def schema_of(name, kind="verification", decisions=()):
    """A JSON Schema of comparisons, of searches, or of some kind of decisions."""
    check_option(kind, "kind", ("verification", "identification", *decisions))
    terms = {"verification": COMPARISONS, "identification": SEARCHES}.get(kind)
    terms = terms or terms_of_decisions(kind)
    text = (files("skfairfr.report") / "schemas" / name).read_text(encoding="utf-8")
    for rate in RATES:
        key = terms[rate].key
        text = text.replace(f"<{rate}>", key).replace(f"<{rate.upper()}>", key.upper())
    return json.loads(text)


SCHEMA_VERSION = 1
# Rows of each table, and sentences, that a terminal shows.
MOST_ROWS = 4


class Written:
    """Base of a record that is one document, as a text and as a page.

    ``_document(source, date)`` makes it, ``_short(source, date)`` what a terminal shows of it,
    and ``_in_notebook`` has the names of the sections that a notebook shows.
    """

    _in_notebook: tuple = ("verdict", "groups")

    def to_text(
        self, source: str | None = None, *, date: str | None = None, full: bool = True
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
        >>> data = make_face_embeddings(n_identities=100, random_state=0)
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

    ``_in_short`` has the names of the sections that a terminal shows, each with ``_most_rows``.

    A record has ``settings``, ``notes``, ``about`` and a ``verdict``. ``_record()`` returns the
    keys of its JSON. The parts of its document are ``_heading``, the title of the page,
    ``_called``, the names of its data, its groups and its facts, ``_opening()``, the verdict,
    the limits and a figure, ``_does_not_show``, ``_table()``, by group, ``_facts()``, and
    ``_method()``, the computation, from ``_lines``.
    """

    _most_rows = MOST_ROWS
    _in_short: tuple = ("verdict", "groups")

    @property
    def exit_code(self) -> int:
        """0 if the verdict is passed or there is no limit, 1 failed, 3 undetermined."""
        return EXIT_CODES[self.verdict]

    def _document(self, source=None, date=None, short=False):
        of_data, of_groups, of_facts = self._called
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
            Section(
                "glossary",
                "Glossary",
                [Section("words", "Words", [self._words()], True)],
            ),
        ]
        heading = self._heading
        kinds = self._kinds()
        return document_of(self, heading, sections, of_data, source, date, kinds)

    def _short(self, source=None, date=None):
        document = self._document(source, date, short=True)
        return document.in_short(*self._in_short, most=self._most_rows)

    def _words(self):
        """Words of the page as Facts, or None."""

    def _kinds(self):
        """The ErrorKind of each rate."""
        terms = terms_of(self.settings)
        return terms.far, terms.frr

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
        """JSON Schema of the output of :meth:`to_json`.

        Returns
        -------
        schema : dict
        """
        return schema_of(f"{cls._name}.json")
