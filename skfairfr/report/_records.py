"""What an audit found: plain frozen records of numbers and labels, their JSON and tables.

Nothing is computed here. Rates are named ``far`` and ``frr`` as everywhere in Python, and
fmr and fnmr (ISO/IEC 19795) in JSON and CSV, lower being better; disparities are larger where groups
are treated less alike.
"""

import csv
import json
import math
from dataclasses import dataclass, field
from importlib.resources import files
from io import StringIO
from itertools import repeat
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from skfairfr._core._kinds import COMPARISONS
from skfairfr._text._document import (
    figures_of,
    write_fragment,
    write_markdown,
    write_page,
    write_text,
)
from skfairfr._text._words import (
    OF_OTHERS,
    TOO_FEW,
    in_terms,
    plain_form,
    printable,
    terms_of,
    who,
)
from skfairfr.report._notes import in_words, largest_rate, short_place
from skfairfr.report.sections import _audit as audits
from skfairfr.report.sections import _changes as comparisons
from skfairfr.report.sections._limits import audit_of, sentence_of_check
from skfairfr.utils._folder import REPORT, check_replaceable, replaced
from skfairfr.utils._frames import build_frame
from skfairfr.utils._types import FilePath
from skfairfr.utils._validation import check_option, check_path

SCHEMA_VERSION, COMPARISON_VERSION = 9, 6
FIGURE = ("value", "low", "high", "standard_error", "supported", "reason", "source")
# A text that begins with one of these is a formula to a spreadsheet.
FORMULA = ("=", "+", "-", "@", "\t", "\r")
# What JUnit makes of a verdict; of others nothing.
KINDS = {
    "failed": "failure",
    "higher": "failure",
    "undetermined": "error",
    TOO_FEW: "skipped",
}
# A field that stays out of the JSON.
HIDDEN = {"json": False}


@dataclass(frozen=True)
class Figure:
    """One number with its interval, nan where undefined.

    Attributes
    ----------
    value, low, high, standard_error : float
    supported : bool
        Whether the data carry it; see :class:`skfairfr.metrics.Estimate`.
    reason : str
        Why not, and where it comes from if not from all pairs.
    source : {"all pairs", "sample"}
        What the value was computed from.
    reasons : tuple of skfairfr.metrics.Reason
        The parts of ``reason``, as data.
    corrected, p_value : float or None
        Of a disparity, as in :class:`skfairfr.metrics.Estimate`.
    """

    value: float
    low: float
    high: float
    standard_error: float
    supported: bool
    reason: str
    source: str = "all pairs"
    reasons: tuple = field(default=(), metadata=HIDDEN)
    corrected: float | None = None
    p_value: float | None = None

    @classmethod
    def undefined(cls, *reasons, terms=COMPARISONS):
        """A number that the data have no pairs for, and the Reasons of that."""
        nan, told = math.nan, in_words(reasons, terms)
        return cls(nan, nan, nan, nan, False, told, reasons=reasons)


# What records of decisions have not.
OF_SCORES = (
    *("threshold", "worst_group_threshold", "set_on", "matrix", "curves", "indices"),
    "metrics",
    *(
        "standardised",
        "strata",
        "control",
        "generalised",
        "n_impostor",
        "n_images",
        "equal_error_rate",
        "source",
        "far_max",
    ),
    "operating_point",
)
NO_FIGURE = Figure.undefined()


@dataclass(frozen=True)
class GroupRow:
    """Size of a group and its equal error rate; ``group`` None is everyone.

    ``equal_error_rate`` is None where all pairs are genuine, or none is.

    ``n_images`` is None where scored pairs do not name their images, and ``n_identities``
    where they do not name their people.
    """

    group: object
    n_identities: int | None
    n_images: int | None
    n_genuine: int
    n_impostor: int
    equal_error_rate: Figure | None


@dataclass(frozen=True)
class Effective:
    """How many independent errors, of how many people, a rate is as well known from."""

    errors: float
    people: float


@dataclass(frozen=True)
class GroupRates:
    """Rates of a group at the threshold of a level; ``group`` None is over all pairs.

    ``far_errors`` impostor pairs were accepted and ``frr_errors`` genuine pairs rejected;
    the first is rounded where the rate was not counted over all pairs. ``far_effective``
    and ``frr_effective`` are what these errors are worth. ``frr_failures`` of the rejected
    genuine pairs are failures to enrol or to acquire, where these count as rejections.
    """

    group: object
    far: Figure
    frr: Figure
    far_errors: int | None = None
    frr_errors: int | None = None
    far_effective: Effective | None = None
    frr_effective: Effective | None = None
    frr_failures: int | None = None


@dataclass(frozen=True)
class Index:
    """An index that joins both rates of all groups; nan where undefined.

    ``neutral`` is its value when all groups have the same rates. The fairness discrepancy
    rate is smaller where groups are treated less alike, the others larger.
    """

    name: str
    value: float
    neutral: float


@dataclass(frozen=True)
class OwnMetric:
    """A metric of the user's, of both rates of all groups, with its interval."""

    name: str
    figure: Figure


@dataclass(frozen=True)
class GeneralisedRates:
    """Rates of a group that count failures to enrol and to acquire as well.

    ``gfar`` is FMR (1 - FTA) (1 - FTE), and ``gfrr`` is FTE + (1 - FTE) FTA +
    (1 - FTE) (1 - FTA) FNMR, of ISO/IEC 19795-1; nan without the pairs, but 0 and 1
    where no attempt of the group gave a template.
    """

    group: object
    gfar: float
    gfrr: float


@dataclass(frozen=True)
class Failures:
    """Attempts of a group that gave no template; ``group`` None is everyone.

    ``fta`` is the share of all attempts that failed to acquire, ``fte`` the share of the
    others that failed to enrol.
    """

    group: object
    n_attempts: int
    n_failed_to_acquire: int
    n_failed_to_enrol: int
    fta: float
    fte: float

    @property
    def n_made(self):
        """Number of attempts that gave a template."""
        return self.n_attempts - self.n_failed_to_acquire - self.n_failed_to_enrol


@dataclass(frozen=True)
class Curves:
    """The FRR of every group over levels of the overall FAR; the first is everyone's.

    Attributes
    ----------
    groups : tuple of labels
        None is everyone.
    threshold : ndarray, shape (n_levels,)
        Similarities (minus a distance) from which on a pair is accepted.
    far, frr : ndarrays, shape (n_groups, n_levels)
        Rates of a group at these thresholds; nan without the pairs.
    """

    groups: tuple
    threshold: np.ndarray
    far: np.ndarray
    frr: np.ndarray


@dataclass(frozen=True)
class Matrix:
    """The FAR of the impostor pairs of every two groups at the threshold of a level.

    Attributes
    ----------
    groups : tuple of labels
    far : ndarray, shape (n_groups, n_groups)
        nan without a pair.
    n_errors, n_impostor : ndarrays of int, shape (n_groups, n_groups)
    """

    groups: tuple
    far: np.ndarray
    n_errors: np.ndarray
    n_impostor: np.ndarray


@dataclass(frozen=True)
class Disparity:
    """One disparity of the groups' FAR and of their FRR.

    ``neutral`` is its value when all groups have the same rate; larger is less fair.
    """

    how: str
    operating_point: str
    neutral: float
    far: Figure
    frr: Figure


@dataclass(frozen=True)
class Finding:
    """A group's rate against that of the reference.

    Attributes
    ----------
    rate : {"far", "frr"}
    group : label
        None where there are no two groups to compare.
    reference : label
        The group that it is compared with.
    value, reference_value : float
        Rates of the two.
    ratio : Figure
        Of the two, with the interval and the p-value of this comparison alone: the interval
        excludes 1 where the p-value is below one minus the confidence level.
    p_adjusted : float in (0, 1]
        The p-value, adjusted for all comparisons of the report; nan without two groups.
    n_comparisons : int
        That it is adjusted for: every group but the reference, of each rate, level and
        attribute (or of each combination of attributes).
    not_compared : tuple of labels
        Groups without the pairs of two people.
    verdict : {"higher", "lower", "no significant difference", "too few errors", \
            "undetermined"}
        What the test says of the group's rate; "too few errors" if there are no two groups
        with the pairs, "undetermined" if the scores, or a threshold beyond all of them, tell
        nothing.
    """

    rate: str
    group: object
    reference: object
    value: float
    reference_value: float
    ratio: Figure
    p_adjusted: float
    n_comparisons: int
    not_compared: tuple
    verdict: str

    @classmethod
    def untested(cls, rate, ratio, not_compared):
        """That fewer than two groups have the pairs."""
        none = (None, None, math.nan, math.nan, ratio, math.nan, 0)
        return cls(rate, *none, not_compared, TOO_FEW)


@dataclass(frozen=True)
class Deviation:
    """A group's rate against the geometric mean of all other groups with enough errors.

    Attributes
    ----------
    rate : {"far", "frr"}
    group : label
    ratio : Figure
        With the interval and the p-value of this comparison alone.
    p_adjusted : float in (0, 1]
        Adjusted for all comparisons of this kind of the report, which are a family of their
        own: no sentence rests on them.
    """

    rate: str
    group: object
    ratio: Figure
    p_adjusted: float


@dataclass(frozen=True)
class Stratum:
    """A stratum of the pairs, by covariates.

    Attributes
    ----------
    name : str
    far_share, frr_share : float in [0, 1]
        Share of the impostor, and of the genuine, pairs of all groups that are in common
        strata; 0 of a stratum that some group has no pairs in, which is left out.
    far_within, frr_within : tuple of float, shape (n_groups,)
        Share of the pairs of each group that are in the stratum; nan of a group without any.
    """

    name: str
    far_share: float
    far_within: tuple
    frr_share: float
    frr_within: tuple


@dataclass(frozen=True)
class Control:
    """The strata by which rates are standardised.

    Attributes
    ----------
    groups : tuple of labels
        Those of the tuples of a Stratum.
    strata : tuple of Stratum
    far_lost, frr_lost : float in [0, 1]
        Share of the groups' pairs outside common strata; nan where there is none.
    """

    groups: tuple
    strata: tuple
    far_lost: float
    frr_lost: float


@dataclass(frozen=True)
class Level:
    """Everything at one threshold, which was given or chosen by a FAR level.

    Attributes
    ----------
    far : float in (0, 1) or None
        The level that the threshold was set for; None of a given one.
    threshold, worst_group_threshold : float
        Similarity (minus a distance) from which on a pair is accepted, so that the FAR of
        all impostor pairs, or that of every group, meets the level: the shortest number that
        accepts the same pairs. The second is nan where the threshold was not set on these
        data.
    rates : tuple of GroupRates
        At ``threshold``; everyone first, then the groups.
    disparities : tuple of Disparity
    findings : tuple of Finding
        Of the FAR, then of the FRR: every group against the reference, the largest ratio
        first.
    set_on : {"these data", "other data", "given"}
        Where the threshold comes from.
    indices : tuple of Index
        Of both rates at ``threshold``, without intervals.
    generalised : tuple of GeneralisedRates
        Everyone first; empty where no failures were recorded.
    matrix : Matrix or None
        None of more groups than are shown. Of searches, by the group of the person returned.
    metrics : tuple of OwnMetric
    against_others : tuple of Deviation
        Empty of two groups.
    """

    far: float | None
    threshold: float
    worst_group_threshold: float
    rates: tuple
    disparities: tuple
    findings: tuple
    set_on: str = "these data"
    indices: tuple = ()
    generalised: tuple = ()
    matrix: Matrix | None = None
    against_others: tuple = ()
    metrics: tuple = ()


@dataclass(frozen=True)
class Other:
    """The same levels measured with one setting changed, to stand beside the audit's.

    Attributes
    ----------
    setting : {"average", "control"}
    value : str
        What the setting was changed to, or the covariates.
    levels : tuple of Level
        With max_min at the overall threshold alone.
    """

    setting: str
    value: str
    levels: tuple


@dataclass(frozen=True)
class Check:
    """Whether rates or a disparity stay within a limit, as far as the data tell.

    Attributes
    ----------
    name : str
        Of the limit.
    limit : float
        Above 1 of a ratio; in (0, 1) of a rate.
    attribute : str
    far : float in (0, 1) or None
    threshold : float
        Operating point, as of a Level.
    figure : Figure
        The disparity, or the rate of the group with the highest one. ``high`` is the
        largest upper bound, each of which holds by itself. ``low`` holds for all groups at
        once: it is the largest if groups exceed the limit, or else that of ``decided_by``.
    groups : tuple of labels
        First that of the highest rate, then others that the verdict is about: those that
        exceed the limit or, if none seems to, those that may; of largest / smallest the
        groups of these rates, in this order.
    not_covered : tuple of labels
        Groups without the pairs it needs, which it is not about.
    verdict : {"passed", "failed", "undetermined"}
        Failed where ``low`` is above the limit, passed where ``high`` is not; undetermined
        with a ``reason``, whatever the bounds.
    people_needed : tuple of (label, int)
        Of an undetermined check, how many more people of which groups would settle it in
        80 % of cases if rates are as they were found, or how many more pairs where nobody
        is known; empty where no number up to ten million does.
    reason : str
        Why an undetermined check tells nothing, whatever its bounds; else empty.
    decided_by : tuple of labels
        The group whose bound decides; empty of largest / smallest, whose bounds may be of
        any two groups.
    """

    name: str
    limit: float
    attribute: str
    far: float | None
    threshold: float
    figure: Figure
    groups: tuple
    not_covered: tuple
    verdict: str
    people_needed: tuple = ()
    reason: str = ""
    decided_by: tuple = ()


@dataclass(frozen=True, repr=False)
class Audit:
    """An audit of a verification system by one attribute.

    Attributes
    ----------
    attribute : str
        Name of the attribute.
    settings : dict
        Options of the measurement; ``independent_pairs`` is there, and True, where scored
        pairs do not name their people, so that pairs were taken as independent;
        ``similarity`` is there where embeddings were not compared by their cosine, and
        ``gallery`` of searches, which "far" and "frr" are then the FPIR and the FNIR of.
    n_unknown : int
        Images of unknown group, which count overall and in no group; people, or pairs,
        where images, or people, are not named.
    largest_genuine_share : float in [0, 1]
        Share of the genuine pairs that one person supplies; nan where people are not named.
    groups : tuple of GroupRow
        Everyone first.
    levels : tuple of Level
        Largest FAR first.
    reference : label
        The group that the others are compared with; None without two groups.
    averaged : Other or None
        With the average changed, where one person supplies over 5 % of the genuine pairs.
    notes : tuple of str
        What was undefined, left out or could not be resolved.
    checks : tuple of Check
        One for each limit and level; in the JSON they stand beside the audits.
    sizes : callable or None
        Of searches, what draws the rates over gallery sizes; not in the JSON.
    failures : tuple of Failures
        Everyone first; empty where no failures to enrol or to acquire were recorded.
    curves : Curves or None
        Both rates over levels.
    control : Control or None
        Strata of the covariates that are controlled for.
    standardised : Other or None
        With the pairs within each group weighed so that every stratum weighs the same in all
        (direct standardisation); the findings have a family of tests of their own. Rates of
        everyone are as they are.
    """

    attribute: str
    settings: dict
    n_unknown: int
    largest_genuine_share: float
    groups: tuple
    levels: tuple
    reference: object
    averaged: Other | None
    notes: tuple
    checks: tuple = field(default=(), metadata=HIDDEN)
    sizes: Any = field(default=None, compare=False, metadata=HIDDEN)
    failures: tuple = ()
    curves: Curves | None = None
    control: Control | None = None
    standardised: Other | None = None

    def __repr__(self):
        by, levels = printable(self.attribute), len(self.levels)
        return f"Audit by {by}: {len(self.groups) - 1} groups at {levels} thresholds"


@dataclass(frozen=True)
class Cell:
    """Number of people in one combination of the groups of several attributes.

    Attributes
    ----------
    groups : tuple of labels
        One of each attribute; None is unknown.
    n_identities : int
        Where scored pairs do not name their people, the number of pairs.
    n_images : int or None
        None where scored pairs do not name their images.
    """

    groups: tuple
    n_identities: int
    n_images: int | None


@dataclass(frozen=True)
class Crossing:
    """Every combination of the groups of several attributes, empty ones included."""

    attributes: tuple
    cells: tuple


@dataclass(frozen=True, repr=False)
class Report:
    """Audits of one set of data.

    Attributes
    ----------
    audits : tuple of Audit
        By each attribute, then by their combinations.
    crossings : tuple of Crossing
        For each combination of attributes the number of people in its cells.
    about : dict of str -> str
        What the caller said of the test, by "title", "system", "dataset", "organisation",
        "tested" (a day), "labels_source" and "sampling"; and the "command" that made it.
    sections : tuple
        What sections of the user's measured: ``title``, ``record`` and ``parts`` of each.
    """

    audits: tuple
    crossings: tuple = ()
    about: dict = field(default_factory=dict)
    sections: tuple = ()

    @property
    def checks(self) -> tuple:
        """Checks of all audits, a tuple."""
        return tuple(check for audit in self.audits for check in audit.checks)

    @property
    def policy(self) -> str | None:
        """Name of the policy that the checks are of; None without one."""
        return self.audits[0].settings.get("policy")

    @property
    def exit_code(self) -> int:
        """0 if all checks passed, 1 if one failed, else 3."""
        verdicts = {check.verdict for check in self.checks}
        return 1 if "failed" in verdicts else 3 if "undetermined" in verdicts else 0

    def to_json(self, **about: Any) -> str:
        """Strict JSON: nan as null, infinities as "Infinity" and "-Infinity".

        Parameters
        ----------
        **about : JSON-able values
            Keys written before the audits.

        Returns
        -------
        text : str
        """
        both = [(_formed(audit), audit) for audit in self.audits]
        record = {
            "about": self.about,
            "audits": [form for form, _ in both],
            "crossings": plain_form(self.crossings),
            "checks": [
                _formed(check, audit) for _, audit in both for check in audit.checks
            ],
        }
        if self.sections:
            record["sections"] = {own.title: own.record for own in self.sections}
        return _to_text({"schema_version": SCHEMA_VERSION, **about, **record})

    def to_text(
        self,
        source: str | None = None,
        *,
        date: str | None = None,
        full: bool = True,
    ) -> str:
        """The report for a terminal: ASCII of at most 100 columns.

        Parameters
        ----------
        source : str, default=None
            Where the data come from, for the line under the title.
        date : str, default=None
            Day of the report, for the same line; None leaves it out, so that equal audits
            give equal texts. JSON never has it.
        full : bool, default=True
            Whether all sections are given, or the result, the limits and the largest
            differences alone.

        Returns
        -------
        text : str
        """
        document = audits.audit_document if full else audits.summary_document
        return write_text(document(self, source, date))

    def to_html(
        self,
        source: str | None = None,
        *,
        version: str | None = None,
        date: str | None = None,
    ) -> str:
        """One self-contained page: no script, no network, every label escaped.

        Parameters
        ----------
        source : str, default=None
            Where the data come from.
        version : str, default=None
            Of skfairfr; None takes the installed one.
        date : str, default=None
            Day of the report, under the title; None takes today in UTC, or that of the
            environment variable SOURCE_DATE_EPOCH. JSON never has it.

        Returns
        -------
        html : str
        """
        return write_page(audits.audit_document(self, source), version, date)

    def to_frame(self, table: str = "rates", backend: str | None = None) -> Any:
        """A tidy table, as in ``rates.csv`` or ``disparities.csv``, with Python's names.

        Parameters
        ----------
        table : {"rates", "disparities"}, default="rates"
            A row for each attribute, level and group, or for each disparity of each rate.
        backend : {"pandas", "polars", "pyarrow"}, default=None
            Library of the frame; None takes the first of these that is installed.

        Returns
        -------
        frame : pandas.DataFrame, polars.DataFrame or pyarrow.Table
            With n_rows rows; a missing ``group`` is everyone.

        Raises
        ------
        ValueError
            If an argument is none of those listed.
        ImportError
            If that library is not installed or, with None, none of them is.
        """
        tables = {"rates": rates_of, "disparities": disparities_of}
        check_option(table, "table", tuple(tables))
        rows = tables[table](self.audits)
        columns = {name: [row[name] for row in rows] for name in rows[0]}
        if "group" in columns:
            kinds = {type(label) for label in columns["group"] if label is not None}
            if len(kinds) > 1:
                columns["group"] = [
                    None if g is None else str(g) for g in columns["group"]
                ]
        return build_frame(columns, backend)

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
            said = sentence_of_check(check, self)
            place = f"skfairfr.audit.{check.attribute}"
            cases.append((place, name, check.verdict, said))
        return _suite("skfairfr audit", cases)

    def to_card(self, source: str | None = None, *, date: str | None = None) -> str:
        """A section of a model card, in Markdown: the page cut to what was found.

        Parameters
        ----------
        source, date : str, default=None
            As of :meth:`to_text`.

        Returns
        -------
        markdown : str
        """
        document = audits.audit_document(self, source, date)
        return write_markdown(document.only(*audits.IN_CARD))

    def save(
        self,
        folder: FilePath,
        source: str | None = None,
        *,
        replace: bool = False,
        version: str | None = None,
        date: str | None = None,
    ) -> tuple[Path, ...]:
        """Write ``audit.json``, ``report.html``, both tables and the page's figures to a folder.

        The folder changes when all is written: an error or an interrupt leaves an earlier
        report whole.

        Parameters
        ----------
        folder : path-like
            Made if it does not exist.
        replace : bool, default=False
            Whether a report that the folder holds is replaced; files of others stay.
        source, version, date : str, default=None
            As of :meth:`to_html`. The date is on the page alone: equal audits write the
            same bytes into the other files.

        Returns
        -------
        paths : tuple of pathlib.Path
            Files written, without the figures.

        Raises
        ------
        ArgumentError
            If the folder is no path, or holds a report that is not to be replaced.
        OSError
            If it cannot be written to.
        """
        about = {"version": version, "source": source}
        about = {name: value for name, value in about.items() if value is not None}
        page = audits.audit_document(self, source)
        written = {
            "report.html": write_page(page, version, date),
            "audit.json": self.to_json(**about),
            "rates.csv": self._csv(rates_of(self.audits)),
            "disparities.csv": self._csv(disparities_of(self.audits)),
        }
        return save_texts(folder, written, replace, figures_of(page))

    def _csv(self, rows):
        """A table with the names of the standard; those of decisions have them."""
        settings = self.audits[0].settings
        if "decisions" not in settings:
            terms = terms_of(settings)
            rows = [in_terms(row, terms) for row in rows]
        return to_csv(rows)

    @staticmethod
    def schema(kind: str = "verification") -> dict:
        """JSON Schema of what :meth:`to_json` gives.

        Parameters
        ----------
        kind : {"verification", "identification"}, default="verification"
            What was audited: comparisons, or searches.

        Returns
        -------
        schema : dict

        Raises
        ------
        ArgumentError
            A ValueError: if ``kind`` is none of the two.
        """
        return schema_of("audit.json", kind)

    def _repr_html_(self):
        document = audits.audit_document(self)
        return write_fragment(document.only(*audits.IN_NOTEBOOK))

    def __repr__(self):
        document = audits.summary_document(self)
        found = document.sections[0].parts[0]
        return "\n".join([document.title, found.label, found.headline, *found.texts])


# ---- comparisons of systems ----------------------------------------------------------


@dataclass(frozen=True)
class Change:
    """One rate of one group before and after.

    Attributes
    ----------
    system : str
        The one that is compared with the first.
    attribute : str or None
        None is everyone.
    group : label or None
    rate : {"far", "frr"}
    far : float in (0, 1) or None
        Level, which each system meets at a threshold of its own; None of a given one.
    threshold : float or None
        The given one: the similarity (minus a distance) from which on a pair is accepted.
    before, after : float
        Rates, lower being better; nan without the pairs they need.
    difference, low, high : float
        After minus before, and its interval for other people of the same population.
    ratio, ratio_low, ratio_high : float
        After over before, with the interval that goes with it.
    p_value : float
        Of no difference, on its own; nan where it cannot be told.
    p_adjusted : float
        The same for all changes of the comparison at once.
    verdict : {"higher", "lower", "no significant difference", "too few errors", \
            "undetermined"}
        By ``p_adjusted``; "too few errors" without a p-value or with such a ``reason``;
        "undetermined" for another reason, or if verdicts are withheld.
    reason : str
        Why the change is not tested: too few errors set the threshold of a system; or why
        it is no improvement: a system accepts all pairs, or none.
    """

    system: str
    attribute: str | None
    group: object
    rate: str
    far: float | None
    threshold: float | None
    before: float
    after: float
    difference: float
    low: float
    high: float
    ratio: float
    ratio_low: float
    ratio_high: float
    p_value: float
    p_adjusted: float
    verdict: str
    reason: str = ""


@dataclass(frozen=True)
class DisparityChange:
    """The largest over the smallest rate of the groups, before and after.

    Attributes
    ----------
    system, attribute, rate
        As of :class:`Change`.
    far : float in (0, 1) or None
        As of :class:`Change`.
    threshold : float or None
        As of :class:`Change`; a pair is accepted from this similarity on.
    before, after : float
        max / min of the groups' rates, 1 where they are equal; larger is less fair.
    ratio, ratio_low, ratio_high : float
        After over before, and its interval for other people, as
        :meth:`~skfairfr.metrics.SimilarityROC.compare` has them.
    p_value : float
        On its own; it is no part of the family, and agrees with the interval.
    frr_before, frr_after : float
        Of everyone: what the disparity costs. nan without genuine pairs.
    levelling_down : bool
        Whether it fell, the interval of the ratio ending below 1, while a group got worse
        in this rate and none better in either rate at this level; not where it rests on too
        few errors, or a threshold lies beyond all scores of a system.
    """

    system: str
    attribute: str
    rate: str
    far: float | None
    threshold: float | None
    before: float
    after: float
    ratio: float
    ratio_low: float
    ratio_high: float
    p_value: float
    frr_before: float
    frr_after: float
    levelling_down: bool


@dataclass(frozen=True)
class Measured:
    """One system by one attribute, as an audit measures it.

    Attributes
    ----------
    system : str
    attribute : str
    groups : tuple of GroupRow
        Everyone first.
    levels : tuple of Level
        Largest FAR first, without findings: conclusions are those about changes.
    curves : Curves
        Both rates over levels.
    """

    system: str
    attribute: str
    groups: tuple
    levels: tuple
    curves: Curves


@dataclass(frozen=True, repr=False)
class SystemsComparison:
    """Systems on the same people: which groups are better or worse off than with the first.

    Attributes
    ----------
    systems : tuple of str
        Names; all others are compared with the first.
    settings : dict
        Options of the measurement.
    n_people : int
        With an image, or a pair, in all systems.
    n_rows : int
        Images, or scored pairs, in all systems.
    left_out : tuple of int
        Images, or scored pairs, of every system that another lacks.
    unit : {"images", "pairs"}
    changes : tuple of Change
        Of everyone, then of the groups of every attribute and combination, with one family
        of tests.
    disparities : tuple of DisparityChange
    notes : tuple of str
        What was undefined or could not be resolved.
    fail_on_harm : bool
        Whether harm makes ``exit_code`` 1, and what cannot be told 3.
    measured : tuple of Measured
        Every system by every attribute and combination, the systems of an attribute in
        their order.
    about : dict of str -> str
        As of :class:`Report`.

    See Also
    --------
    skfairfr.report.compare_systems : Returns it.
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
    def exit_code(self) -> int:
        """0 unless ``fail_on_harm`` is set; then 1 for harm, 3 where it cannot be told.

        That is where a change is undetermined, or all rest on too few errors.
        """
        if not self.fail_on_harm:
            return 0
        if self.harm:
            return 1
        verdicts = {change.verdict for change in self.changes}
        return 3 if "undetermined" in verdicts or verdicts == {"too few errors"} else 0

    def to_text(self, *, date: str | None = None, full: bool = True) -> str:
        """Conclusions and tables for a terminal: ASCII of at most 100 columns.

        Parameters
        ----------
        date, full : options
            As of :meth:`Report.to_text`.

        Returns
        -------
        text : str
        """
        document = comparisons.comparison_document
        document = document if full else comparisons.summary_document
        return write_text(document(self, date))

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
        return to_json(COMPARISON_VERSION, about, record, self.settings)

    def to_html(self, *, version: str | None = None, date: str | None = None) -> str:
        """One self-contained page: no script, no network, every label escaped.

        Parameters
        ----------
        version, date : str, default=None
            As of :meth:`Report.to_html`.

        Returns
        -------
        html : str
        """
        return write_page(comparisons.comparison_document(self), version, date)

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
            name = f"{rate} of {of} at {short_place(change, self)}"
            place = f"skfairfr.compare.{change.attribute or 'everyone'}"
            said = comparisons.change_sentence(change, self)
            cases.append((place, f"{change.system}: {name}", change.verdict, said))
        return _suite("skfairfr compare", cases)

    def save(
        self,
        folder: FilePath,
        *,
        replace: bool = False,
        version: str | None = None,
        date: str | None = None,
    ) -> tuple[Path, ...]:
        """Write the page, the JSON, the text and a table of changes to a folder.

        The folder changes when all is written, as that of :meth:`Report.save`.

        Parameters
        ----------
        folder : path-like
            Made if it does not exist.
        replace : bool, default=False
            Whether a report that the folder holds is replaced; files of others stay.
        version, date : str, default=None
            As of :meth:`to_html`. The text has the date where it is given; equal
            comparisons write the same bytes into the JSON and the table.

        Returns
        -------
        paths : tuple of pathlib.Path
            Files written.

        Raises
        ------
        ArgumentError
            If the folder is no path, or holds a report that is not to be replaced.
        OSError
            If it cannot be written to.
        """
        about = {} if version is None else {"version": version}
        changes = [*map(vars, self.changes)]
        page = comparisons.comparison_document(self)
        written = {
            "report.html": write_page(page, version, date),
            "comparison.json": self.to_json(**about),
            "comparison.txt": self.to_text(date=date),
            "changes.csv": to_csv(_standard(changes, self.settings)),
        }
        return save_texts(folder, written, replace, figures_of(page))

    @staticmethod
    def schema(kind: str = "verification") -> dict:
        """JSON Schema of what :meth:`to_json` gives.

        Parameters
        ----------
        kind : {"verification", "identification"}, default="verification"
            As of :meth:`Report.schema`.

        Returns
        -------
        schema : dict

        Raises
        ------
        ArgumentError
            A ValueError: if ``kind`` is none of the two.
        """
        return schema_of("comparison.json", kind)

    def _repr_html_(self):
        document = comparisons.comparison_document(self)
        return write_fragment(document.only(*comparisons.IN_NOTEBOOK))

    def __repr__(self):
        document = comparisons.comparison_document(self)
        found = document.sections[0].parts[0]
        return "\n".join([document.subtitle, found.headline, *found.texts])


# ---- tables -------------------------------------------------------------------------


def rates_of(audits):
    """Rows of both rates of every group at every level.

    Parameters
    ----------
    audits : sequence of Audit

    Returns
    -------
    rows : list of dict
        With the same keys; ``group`` None is everyone.
    """
    rows = []
    for audit in audits:
        sizes = {row.group: row for row in audit.groups}
        if "decisions" in audit.settings:
            rows += _rows_of_decisions(audit)
            continue
        at_equal = repeat(None)
        if audit.standardised is not None:
            at_equal = audit.standardised.levels
        for level, equal in zip(audit.levels, at_equal, strict=False):
            generalised = {row.group: row for row in level.generalised}
            standard = {r.group: r for r in equal.rates[1:]} if equal else {}
            for found in level.rates:
                size, gen = sizes[found.group], generalised.get(found.group)
                eer = size.equal_error_rate or NO_FIGURE
                rows.append(
                    {
                        **_point(audit, level),
                        "group": found.group,
                        "n_identities": size.n_identities,
                        "n_images": size.n_images,
                        "n_impostor": size.n_impostor,
                        **_rate("far", found),
                        "n_genuine": size.n_genuine,
                        **_rate("frr", found),
                        "equal_error_rate": eer.value,
                        "equal_error_rate_low": eer.low,
                        "equal_error_rate_high": eer.high,
                        "gfar": getattr(gen, "gfar", math.nan),
                        "gfrr": getattr(gen, "gfrr", math.nan),
                        **_standardised("far", standard.get(found.group)),
                        **_standardised("frr", standard.get(found.group)),
                    }
                )
    return rows


def disparities_of(audits):
    """Rows of every disparity of either rate, and of indices of both, at every level.

    Parameters
    ----------
    audits : sequence of Audit

    Returns
    -------
    rows : list of dict
        With the same keys; ``rate`` is "far", "frr" or "both".
    """
    rows = []
    names = ("how", "operating_point", "neutral", "rate")
    for audit in audits:
        for level in audit.levels:
            found = [
                (d.how, d.operating_point, d.neutral, rate, getattr(d, rate))
                for d in level.disparities
                for rate in ("far", "frr")
            ]
            found += [
                (index.name, "overall", index.neutral, "both", _without_interval(index))
                for index in level.indices
            ]
            decisions = audit.settings.get("decisions")
            for *about, figure in found:
                fields = _point(audit, level) | dict(zip(names, about, strict=True))
                if decisions:
                    if fields["rate"] != "frr":
                        continue
                    fields = {"attribute": audit.attribute, "rate": decisions}
                    fields |= dict(
                        zip(("how", "neutral"), (about[0], about[2]), strict=True)
                    )
                for name in (
                    *FIGURE[: 6 if decisions else None],
                    "corrected",
                    "p_value",
                ):
                    value = getattr(figure, name)
                    fields[name] = math.nan if value is None else value
                rows.append(fields)
    return rows


def _rows_of_decisions(audit):
    """Rows of the rate of every group of an audit of decisions."""
    rows = []
    for size, found in zip(audit.groups, audit.levels[0].rates, strict=True):
        of_rate = {
            name.removeprefix("frr_"): v for name, v in _rate("frr", found).items()
        }
        value = of_rate.pop("frr")
        del of_rate["source"]
        rows.append(
            {
                "attribute": audit.attribute,
                "rate": audit.settings["decisions"],
                "group": found.group,
                "n_identities": size.n_identities,
                "n_attempts": size.n_genuine,
                "value": value,
                **of_rate,
                "failures": found.frr_failures,
            }
        )
    return rows


def in_given_scale(form, settings):
    """Dicts and lists whose thresholds are distances where scores were given as such.

    Records hold similarities, minus the distances.
    """
    return _with_distances(form) if settings.get("distance") else form


# Keys of what is a score.
THRESHOLDS = ("threshold", "worst_group_threshold", "threshold_high")


def _with_distances(form, of=""):
    """Dicts, lists and values with minus the thresholds; ``of`` is the key of a value."""
    if isinstance(form, dict):
        return {name: _with_distances(value, name) for name, value in form.items()}
    if isinstance(form, list):
        return [_with_distances(value, of) for value in form]
    negated = of in THRESHOLDS and form is not None
    return 0.0 - form if negated else form


def _point(audit, level):
    point = {
        "attribute": audit.attribute,
        "level": math.nan if level.far is None else level.far,
        "threshold": level.threshold,
        "set_on": level.set_on,
    }
    return in_given_scale(point, audit.settings)


def _rate(rate, found):
    """Errors of a rate of GroupRates, what they are worth, and its figure, as columns."""
    columns = {f"{rate}_errors": getattr(found, f"{rate}_errors")}
    figure, worth = getattr(found, rate), getattr(found, f"{rate}_effective")
    for name in ("errors", "people"):
        columns[f"{rate}_effective_{name}"] = getattr(worth, name, math.nan)
    for name in FIGURE:
        key = rate if name == "value" else f"{rate}_{name}"
        columns[key] = getattr(figure, name)
    return columns


def _standardised(rate, found):
    """A standardised rate and its interval as columns; nan without any."""
    figure = None if found is None else getattr(found, rate)
    return {
        f"{rate}_standardised{end and f'_{end}'}": getattr(
            figure, end or "value", math.nan
        )
        for end in ("", "low", "high")
    }


def _without_interval(index):
    """An index as a figure."""
    nan = math.nan
    return Figure(index.value, nan, nan, nan, False, "no interval is computed")


def to_csv(rows):
    """Rows as CSV in UTF-8 that spreadsheets recognise; empty where undefined or unknown.

    Parameters
    ----------
    rows : iterable of dict
        With the same keys.

    Returns
    -------
    text : str
        Begins with a byte order mark. Half characters, as in the path of a file whose
        name is not UTF-8, are "?", as in JSON. A text that a spreadsheet would take for a
        formula has an apostrophe before it.
    """
    written, rows = StringIO(newline=""), list(rows)
    writer = csv.writer(written)
    if rows:
        writer.writerow(rows[0])
    for row in rows:
        writer.writerow([_cell(value) for value in row.values()])
    return "\N{ZERO WIDTH NO-BREAK SPACE}" + written.getvalue()


def _cell(value):
    if isinstance(value, str):
        text = plain_form(value)
        return f"'{text}" if text.startswith(FORMULA) else text
    if isinstance(value, bool):
        return str(value).lower()
    return None if value != value else value  # which is empty


# ---- files ---------------------------------------------------------------------------


def save_texts(folder, written, replace, figures=()):
    """Write texts by name, and figures beside them, to a folder; the paths without these.

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
    return _to_text(_standard(form, settings))


def _standard(form, settings):
    """Dicts and lists with the keys of what was measured, and thresholds in its scale."""
    return in_terms(in_given_scale(form, settings), terms_of(settings))


def _to_text(form):
    """Plain forms as JSON."""
    return json.dumps(plain_form(form), indent=1, allow_nan=False, default=str) + "\n"


def _formed(record, audit=None):
    """An audit, or a check of one, as dicts with the keys of what was measured."""
    audit = audit or record
    form, decisions = plain_form(record), audit.settings.get("decisions")
    if decisions is None:
        return _standard(form, audit.settings)
    found = in_terms(_without_scores(form), terms_of(audit.settings))
    if decisions == "apcer" and record is audit:
        found["largest"] = largest_rate(audit).group
    return found


def _without_scores(form):
    """A form of decisions, without what they have not."""
    if isinstance(form, list):
        return [_without_scores(one) for one in form]
    if not isinstance(form, dict):
        return form
    return {
        "n_attempts" if name == "n_genuine" else name: value
        if name in OF_OTHERS
        else _without_scores(value)
        for name, value in form.items()
        if name not in OF_SCORES and not name.startswith("far")
    }


def read_schema(name):
    """A JSON Schema of the package, as a dict."""
    path = files("skfairfr.report") / "schemas" / name
    return json.loads(path.read_text(encoding="utf-8"))


def schema_of(name, kind):
    """A JSON Schema of comparisons, or of searches."""
    check_option(kind, "kind", ("verification", "identification"))
    schema = read_schema(name)
    if kind == "verification":
        return schema
    text = json.dumps(schema)
    for old, new in (("fnmr", "fnir"), ("fmr", "fpir")):
        text = text.replace(old, new).replace(old.upper(), new.upper())
    return json.loads(text)


def _suite(name, cases):
    """Cases as a suite: class name, name, verdict, and a sentence."""
    kinds = [KINDS.get(verdict) for _, _, verdict, _ in cases]
    names = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    counts = {name: str(kinds.count(kind)) for name, kind in names.items()}
    attributes = {"tests": str(len(cases)), **counts}
    root = ElementTree.Element("testsuites", attributes)
    suite = ElementTree.SubElement(root, "testsuite", {"name": name, **attributes})
    for (place, title, _, said), kind in zip(cases, kinds, strict=True):
        place, title, said = map(printable, (place, title, said))
        about = {"classname": place, "name": title}
        case = ElementTree.SubElement(suite, "testcase", about)
        if kind is not None:
            failed = ElementTree.SubElement(case, kind, {"message": said})
            failed.text = said
    ElementTree.indent(root)
    return ElementTree.tostring(root, "unicode", xml_declaration=True) + "\n"
