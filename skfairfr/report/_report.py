"""A report of audits, and a comparison of systems: their documents, JSON, tables and files."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from skfairfr._core._kinds import DECISIONS
from skfairfr._text._document import figures_of, write_markdown, write_page
from skfairfr._text._words import (
    TOO_FEW,
    in_terms,
    plain_form,
    printable,
    terms_of,
    who,
)
from skfairfr.report._explained_errors import ExplainedErrors
from skfairfr.report._notes import short_place
from skfairfr.report._outputs import (
    Written,
    audit_form,
    disparities_of,
    in_given_scale,
    json_text,
    rates_of,
    rows_to_frame,
    save_texts,
    schema_of,
    standard_form,
    to_csv,
    to_json,
)
from skfairfr.report.sections import _audit_document as audits
from skfairfr.report.sections import _comparison_document as comparisons
from skfairfr.report.sections._answer import EXIT_CODES, most_serious
from skfairfr.report.sections._changes import change_sentence
from skfairfr.report.sections._limits import audit_of, sentence_of_check
from skfairfr.report.sections._open import needed_words
from skfairfr.utils._types import FilePath
from skfairfr.utils._validation import check_option

SCHEMA_VERSION, COMPARISON_VERSION = 10, 6


@dataclass(frozen=True, repr=False)
class Report(Written):
    """Audits of one set of data.

    Attributes
    ----------
    audits : tuple of Audit
        Audits by each attribute, then by their combinations.
    crossings : tuple of Crossing
        For each combination of attributes the number of people in its cells.
    about : dict of str -> str
        The caller's description of the test, by "title", "system", "dataset", "organisation",
        "tested" (a day), "labels_source" and "sampling", and the "command" that made it.
    sections : tuple
        Measurements of the user's sections: ``title``, ``record`` and ``parts`` of each.
    candidates : tuple of str
        Without an attribute, columns of the file that may name groups, not in the JSON.
    explained : ExplainedErrors or None
        Ratios of rates at equal covariates, if they were asked for.

    Examples
    --------
    >>> from skfairfr import audit, make_face_embeddings
    >>> data = make_face_embeddings(n_identities=100, random_state=0)
    >>> found = audit(data.X, data.y, data.sensitive_features, far=1e-2, limits={"max_fmr": 0.02})
    >>> found.exit_code, [check.verdict for check in found.checks]
    (3, ['undetermined'])
    """

    audits: tuple
    crossings: tuple = ()
    about: dict = field(default_factory=dict)
    sections: tuple = ()
    candidates: tuple = ()
    explained: ExplainedErrors | None = None

    _in_notebook = audits.IN_NOTEBOOK

    @property
    def checks(self) -> tuple:
        """Checks of all audits, a tuple."""
        return tuple(check for audit in self.audits for check in audit.checks)

    @property
    def policy(self) -> str | None:
        """Name of the policy that the checks are of, or None without one."""
        return self.audits[0].settings.get("policy")

    @property
    def exit_code(self) -> int:
        """0 if all checks passed, 1 if one failed, else 3."""
        return EXIT_CODES[most_serious([check.verdict for check in self.checks])]

    def to_json(self, **about: Any) -> str:
        """Strict JSON: nan as null, infinities as "Infinity" and "-Infinity".

        Parameters
        ----------
        **about : JSON-able values
            Keys written before the audits.

        Returns
        -------
        text : str

        Examples
        --------
        >>> from skfairfr import audit, make_face_embeddings
        >>> data = make_face_embeddings(n_identities=100, random_state=0)
        >>> found = audit(data.X, data.y, data.sensitive_features, far=1e-2)
        >>> import json
        >>> record = json.loads(found.to_json(source="faces.npz"))
        >>> record["source"], [own["attribute"] for own in record["audits"]]
        ('faces.npz', ['group'])
        """
        both = [(audit_form(audit), audit) for audit in self.audits]
        record = {
            "about": self.about,
            "audits": [form for form, _ in both],
            "crossings": plain_form(self.crossings),
            "checks": [
                audit_form(check, audit) for _, audit in both for check in audit.checks
            ],
        }
        if self.explained is not None:
            record["explained"] = plain_form(self.explained._record()["rates"])
        if self.sections:
            record["sections"] = {own.title: own.record for own in self.sections}
        return json_text({"schema_version": SCHEMA_VERSION, **about, **record})

    def _document(self, source=None, date=None):
        return audits.audit_document(self, source, date)

    def _short(self, source=None, date=None):
        return audits.summary_document(self, source, date)

    def to_frame(
        self, table: str = "rates", backend: str | None = None, *, full: bool = False
    ) -> Any:
        """A tidy table of what was measured, with Python's names.

        Parameters
        ----------
        table : {"rates", "disparities"}, default="rates"
            A row for each attribute, level and group, or for each disparity of each rate.
        backend : {"pandas", "polars", "pyarrow"}, default=None
            Library of the frame. If None: the first of these that is installed.
        full : bool, default=False
            Whether to include all columns, as in ``rates.csv`` and ``disparities.csv``, and
            not only the ten that most uses need.

        Returns
        -------
        frame : pandas.DataFrame, polars.DataFrame or pyarrow.Table
            Table with n_rows rows. A missing ``group`` is everyone.

        Raises
        ------
        ValueError
            If an argument is not one of those listed.
        ImportError
            If that library is not installed or, with None, none of them is.

        Examples
        --------
        >>> from skfairfr import audit, make_face_embeddings
        >>> data = make_face_embeddings(n_identities=100, random_state=0)
        >>> found = audit(data.X, data.y, data.sensitive_features, far=1e-2)
        >>> table = found.to_frame()
        >>> list(table)[:7]
        ['attribute', 'group', 'level', 'threshold', 'far', 'far_low', 'far_high']
        >>> table.shape, found.to_frame(full=True).shape
        ((3, 10), (3, 40))
        >>> latex = table[["group", "far", "frr"]].to_latex(index=False)
        """
        tables = {"rates": rates_of, "disparities": disparities_of}
        check_option(table, "table", tuple(tables))
        return rows_to_frame(tables[table](self.audits), table, full, backend)

    def to_junit(self) -> str:
        """Checks as JUnit XML: failed ones as failures, undetermined ones as errors.

        Returns
        -------
        xml : str
        """
        cases = []
        for check in self.checks:
            audit = audit_of(check, self)
            at = short_place(check, audit)
            limit = terms_of(audit.settings).limit(check.name)
            name = f"{limit} {check.limit:g} {at and f'at {at}'}".strip()
            texts = sentence_of_check(check, self), needed_words(check, self)
            place = f"skfairfr.audit.{check.attribute or 'everyone'}"
            cases.append((place, name, check.verdict, " ".join(filter(None, texts))))
        return _suite("skfairfr audit", cases)

    def to_card(self, source: str | None = None, *, date: str | None = None) -> str:
        """A section of a model card, in Markdown: the page cut to what was found.

        Parameters
        ----------
        source, date : str, default=None
            Where the data come from, and the day of the report, for the line under the title.

        Returns
        -------
        markdown : str
        """
        return write_markdown(self._document(source, date).only(*audits.IN_CARD))

    def save(
        self,
        folder: FilePath,
        source: str | None = None,
        *,
        replace: bool = False,
        version: str | None = None,
        date: str | None = None,
        csv_dialect: str = "comma",
    ) -> tuple[Path, ...]:
        """Write ``audit.json``, ``report.html``, both tables and the page's figures to a folder.

        The folder changes when all is written: an error or an interrupt leaves an earlier
        report whole.

        Parameters
        ----------
        folder : path-like
            Made if it does not exist.
        replace : bool, default=False
            Whether a report in the folder is replaced. Files of others stay.
        source, version, date : str, default=None
            Where the data come from, version of skfairfr (None is the installed one) and day
            of the report (None is today). The date is on the page alone: equal audits write the
            same bytes into the other files.
        csv_dialect : {"comma", "semicolon"}, default="comma"
            Cells of tables with commas between and decimal points, or, as spreadsheets of
            much of Europe expect, semicolons and decimal commas.

        Returns
        -------
        paths : tuple of pathlib.Path
            Files written, without the figures.

        Raises
        ------
        ArgumentError
            If the folder is no path, or contains a report that is not to be replaced.
        OSError
            If it cannot be written to.

        Examples
        --------
        >>> from skfairfr import audit, make_face_embeddings
        >>> data = make_face_embeddings(n_identities=100, random_state=0)
        >>> found = audit(data.X, data.y, data.sensitive_features, far=1e-2)
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     print([path.name for path in found.save(folder)])
        ['report.html', 'audit.json', 'rates.csv', 'disparities.csv']
        """
        about = {"version": version, "source": source}
        about = {name: value for name, value in about.items() if value is not None}
        page = self._document(source)
        written = {
            "report.html": write_page(page, version, date),
            "audit.json": self.to_json(**about),
            "rates.csv": self._csv(rates_of(self.audits), csv_dialect),
        }
        if disparities := disparities_of(self.audits):  # there are none without groups
            written["disparities.csv"] = self._csv(disparities, csv_dialect)
        return save_texts(folder, written, replace, figures_of(page))

    def _csv(self, rows, dialect):
        """A table with the names of the standard. Those of decisions have them."""
        settings = self.audits[0].settings
        if "decisions" not in settings:
            terms = terms_of(settings)
            rows = [in_terms(row, terms) for row in rows]
        return to_csv(rows, dialect)

    @staticmethod
    def schema(kind: str = "verification") -> dict:
        """JSON Schema of the output of :meth:`to_json`.

        Parameters
        ----------
        kind : {"verification", "identification"}, default="verification"
            Audited units: comparisons, or searches.

        Returns
        -------
        schema : dict

        Raises
        ------
        ArgumentError
            A ValueError: if ``kind`` is neither of the two.
        """
        return schema_of("audit.json", kind)

    def __repr__(self):
        document = self._short()
        found = document.sections[0].parts[0]
        return "\n".join([document.title, found.label, found.headline, *found.texts])


@dataclass(frozen=True, repr=False)
class SystemsComparison(Written):
    """Systems on the same people: which groups are better or worse off than with the first.

    Attributes
    ----------
    systems : tuple of str
        Names. All others are compared with the first.
    settings : dict
        Options of the measurement.
    n_people : int
        Number of people with an image, a pair or an attempt in all systems.
    n_rows : int
        Images, or scored pairs, in all systems. Attempts of all logs together.
    left_out : tuple of int
        Images, or scored pairs, of every system that another lacks.
    unit : {"images", "pairs", "attempts", "transactions"}
    changes : tuple of Change
        For everyone, then of the groups of every attribute and combination, with one family
        of tests.
    disparities : tuple of DisparityChange
    notes : tuple of str
        Values that were undefined or not resolved.
    fail_on_harm : bool
        Whether harm makes ``exit_code`` 1, and an inconclusive result 3.
    measured : tuple of Measured
        Every system by every attribute and combination, the systems of an attribute in
        their order.
    about : dict of str -> str
        Facts about the test: "title", "system", "dataset", "organisation", "tested" (a day),
        "labels_source" and "sampling", and the "command" that made the comparison.
    costs : tuple of CostChange
        Changes of detection costs, Cllr and their minima, if they were asked for.

    See Also
    --------
    skfairfr.report.compare_systems : Returns it.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairfr import compare_systems, make_face_embeddings
    >>> from skfairfr.report import EmbeddingData
    >>> data = make_face_embeddings(n_identities=100, random_state=0)
    >>> noisy = data.X + np.random.default_rng(0).normal(0, 0.1, data.X.shape)
    >>> groups = {"gender": data.sensitive_features}
    >>> before, after = (EmbeddingData(X, data.y, groups) for X in (data.X, noisy))
    >>> found = compare_systems(before, after, far=1e-2)
    >>> [(change.group, change.rate) for change in found.harm]
    [(None, 'frr'), ('female', 'frr'), ('male', 'frr')]
    """

    systems: tuple
    settings: dict
    n_people: int
    n_rows: int
    left_out: tuple
    unit: str
    changes: tuple
    disparities: tuple
    notes: tuple = ()
    fail_on_harm: bool = False
    measured: tuple = ()
    about: dict = field(default_factory=dict)
    costs: tuple = ()

    _in_notebook = comparisons.IN_NOTEBOOK

    @property
    def harm(self) -> tuple:
        """Changes for the worse, of everyone or of a group, a tuple of Change."""
        return tuple(change for change in self.changes if change.verdict == "higher")

    @property
    def improved(self) -> tuple:
        """Changes for the better, a tuple of Change."""
        return tuple(change for change in self.changes if change.verdict == "lower")

    @property
    def levelling_down(self) -> tuple:
        """Disparities that fell with nobody better off, a tuple of DisparityChange."""
        return tuple(d for d in self.disparities if d.levelling_down)

    @property
    def is_unknown(self) -> bool:
        """Whether no rate is higher, and the data do not show that none is."""
        verdicts = {change.verdict for change in self.changes}
        rates = [row for one in self.measured for of in one.levels for row in of.rates]
        supported = any(row.far.supported or row.frr.supported for row in rates)
        unknown = "undetermined" in verdicts or verdicts == {"too few errors"}
        return not self.harm and (unknown or (bool(rates) and not supported))

    @property
    def exit_code(self) -> int:
        """0 unless ``fail_on_harm`` is set, then 1 for harm, 3 if it is unknown.

        It is unknown if a change is undetermined, as of a group most pairs of which a system lacks, or
        all rates rest on too few errors.
        """
        if not self.fail_on_harm:
            return 0
        return 1 if self.harm else 3 * self.is_unknown

    def _document(self, source=None, date=None):
        return comparisons.comparison_document(self, source, date)

    def _short(self, source=None, date=None):
        return comparisons.summary_document(self, source, date)

    def to_json(self, **about: Any) -> str:
        """Strict JSON: nan as null, infinities as "Infinity" and "-Infinity".

        Parameters
        ----------
        **about : JSON-able values
            Keys written before the comparison.

        Returns
        -------
        text : str
        """
        names = ("harm", "improved", "levelling_down")
        record = vars(self) | {name: getattr(self, name) for name in names}
        if not self.costs:
            del record["costs"]
        return to_json(COMPARISON_VERSION, about, record, self.settings)

    def to_frame(self, backend: str | None = None, *, full: bool = False) -> Any:
        """A row for each change, with Python's names.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, default=None
            Library of the frame. If None: the first of these that is installed.
        full : bool, default=False
            Whether to include all columns, as in ``changes.csv``.

        Returns
        -------
        frame : pandas.DataFrame, polars.DataFrame or pyarrow.Table
            Table with n_rows rows. Without an ``attribute`` the change is an overall one.

        Examples
        --------
        >>> import numpy as np
        >>> from skfairfr import compare_systems, make_face_embeddings
        >>> from skfairfr.report import EmbeddingData
        >>> data = make_face_embeddings(n_identities=100, random_state=0)
        >>> noisy = data.X + np.random.default_rng(0).normal(0, 0.1, data.X.shape)
        >>> groups = {"gender": data.sensitive_features}
        >>> before, after = (EmbeddingData(X, data.y, groups) for X in (data.X, noisy))
        >>> found = compare_systems(before, after, far=1e-2)
        >>> print(found.to_frame()[["group", "rate", "verdict"]][2:])
            group rate                    verdict
        2  female  frr                     higher
        3    male  far  no significant difference
        4    male  frr                     higher
        """
        rows = [in_given_scale(vars(change), self.settings) for change in self.changes]
        return rows_to_frame(rows, "changes", full, backend)

    def to_junit(self) -> str:
        """Changes as JUnit XML, those for the worse as failures.

        Returns
        -------
        xml : str
        """
        cases = []
        for change in self.changes:
            of = who(change.group if change.attribute is not None else None)
            rate = terms_of(self.settings)[change.rate].name
            point = short_place(change, self)
            name = f"{rate} of {of}{point and f' at {point}'}"
            place = f"skfairfr.compare.{change.attribute or 'everyone'}"
            sentence = change_sentence(change, self)
            cases.append((place, f"{change.system}: {name}", change.verdict, sentence))
        return _suite("skfairfr compare", cases)

    def save(
        self,
        folder: FilePath,
        *,
        replace: bool = False,
        version: str | None = None,
        date: str | None = None,
        csv_dialect: str = "comma",
    ) -> tuple[Path, ...]:
        """Write the page, the JSON, the text and a table of changes to a folder.

        The folder changes when all is written, as that of :meth:`Report.save`.

        Parameters
        ----------
        folder : path-like
            Made if it does not exist.
        replace : bool, default=False
            Whether a report in the folder is replaced. Files of others stay.
        version, date : str, default=None
            Version of skfairfr and day of the report. The text has the date if it is given. Equal
            comparisons write the same bytes into the JSON and the table.
        csv_dialect : {"comma", "semicolon"}, default="comma"
            Cells of tables with commas between and decimal points, or, as spreadsheets of
            much of Europe expect, semicolons and decimal commas.

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
        about = {} if version is None else {"version": version}
        changes = [*map(vars, self.changes)]
        page = self._document()
        written = {
            "report.html": write_page(page, version, date),
            "comparison.json": self.to_json(**about),
            "comparison.txt": self.to_text(date=date),
            "changes.csv": to_csv(standard_form(changes, self.settings), csv_dialect),
        }
        return save_texts(folder, written, replace, figures_of(page))

    @staticmethod
    def schema(kind: str = "verification") -> dict:
        """JSON Schema of the output of :meth:`to_json`.

        Parameters
        ----------
        kind : {"verification", "identification", "frr", "far", "bpcer", "apcer"}, \
default="verification"
            What was compared: comparisons, searches, or decisions of which kind.

        Returns
        -------
        schema : dict

        Raises
        ------
        ArgumentError
            A ValueError: if ``kind`` is neither of the two.
        """
        return schema_of("comparison.json", kind, DECISIONS)

    def __repr__(self):
        document = self._document()
        found = document.sections[0].parts[0]
        return "\n".join([document.subtitle, found.headline, *found.texts])


# What JUnit makes of a verdict. For others nothing.
KINDS = {
    "failed": "failure",
    "higher": "failure",
    "undetermined": "error",
    TOO_FEW: "skipped",
}


def _suite(name, cases):
    """Cases as a suite: class name, name, verdict, and a sentence."""
    kinds = [KINDS.get(verdict) for _, _, verdict, _ in cases]
    names = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    counts = {name: str(kinds.count(kind)) for name, kind in names.items()}
    attributes = {"tests": str(len(cases)), **counts}
    root = ElementTree.Element("testsuites", attributes)
    suite = ElementTree.SubElement(root, "testsuite", {"name": name, **attributes})
    for (place, title, _, sentence), kind in zip(cases, kinds, strict=True):
        place, title, sentence = map(printable, (place, title, sentence))
        about = {"classname": place, "name": title}
        case = ElementTree.SubElement(suite, "testcase", about)
        if kind is not None:
            failed = ElementTree.SubElement(case, kind, {"message": sentence})
            failed.text = sentence
    ElementTree.indent(root)
    return ElementTree.tostring(root, "unicode", xml_declaration=True) + "\n"
