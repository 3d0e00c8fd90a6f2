"""What a comparison of systems found: plain frozen records of numbers and labels."""

import json
from dataclasses import dataclass, field, replace
from pathlib import Path

from skfairfr.report import _documents
from skfairfr.report._records import Curves, read_schema
from skfairfr.report._tables import changes_of, in_given_scale, to_csv
from skfairfr.utils._document import write_fragment, write_page, write_text
from skfairfr.utils._errors import all_spelled
from skfairfr.utils._folder import REPORT, check_replaceable, replaced
from skfairfr.utils._validation import check_path
from skfairfr.utils._words import in_iso, plain_form

SCHEMA_VERSION = 4


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
    verdict : {"worse", "better", "no certain difference", "too few errors", "undetermined"}
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
        After over before, and its interval over the same resamples of people.
    p_value : float
        On its own, over the same resamples; it is no part of the family.
    frr_before, frr_after : float
        Of everyone: what the disparity costs.
    levelling_down : bool
        Whether it fell, the interval of the ratio ending below 1, while a group got worse
        in this rate and none better in either rate at this level.
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
    def harm(self):
        """Changes for the worse, of everyone or of a group, a tuple of Change."""
        return tuple(change for change in self.changes if change.verdict == "worse")

    @property
    def improved(self):
        """Changes for the better, a tuple of Change."""
        return tuple(change for change in self.changes if change.verdict == "better")

    @property
    def levelling_down(self):
        """Disparities that fell with nobody better off, a tuple of DisparityChange."""
        return tuple(d for d in self.disparities if d.levelling_down)

    @property
    def exit_code(self):
        """0 unless ``fail_on_harm`` is set; then 1 for harm, 3 where it cannot be told.

        That is where a change is undetermined, or all rest on too few errors.
        """
        if not self.fail_on_harm:
            return 0
        if self.harm:
            return 1
        verdicts = {change.verdict for change in self.changes}
        return 3 if "undetermined" in verdicts or verdicts == {"too few errors"} else 0

    def to_text(self):
        """Conclusions and tables for a terminal: ASCII of at most 100 columns.

        Returns
        -------
        text : str
        """
        document = _documents.comparison_document(self)
        return write_text(document.only(*_documents.CHANGES_IN_TEXT))

    def to_json(self, **about):
        """Strict JSON: nan as null, infinities as "Infinity" and "-Infinity".

        Parameters
        ----------
        **about : JSON-able values
            Keys written before the comparison.

        Returns
        -------
        text : str
        """
        record = {
            "schema_version": SCHEMA_VERSION,
            **plain_form(about),
            **plain_form(self),
            "harm": plain_form(self.harm),
            "improved": plain_form(self.improved),
            "levelling_down": plain_form(self.levelling_down),
        }
        record = in_iso(in_given_scale(record, self.settings))
        return json.dumps(record, indent=1, allow_nan=False, default=str) + "\n"

    def to_html(self, *, version=None, date=None):
        """One self-contained page: no script, no network, every label escaped.

        Parameters
        ----------
        version, date : str, default=None
            As of :meth:`Report.to_html`.

        Returns
        -------
        html : str
        """
        return write_page(_documents.comparison_document(self), version, date)

    def to_junit(self):
        """Changes as JUnit XML, those for the worse as failures.

        Returns
        -------
        xml : str
        """
        from skfairfr.report._junit import comparison_to_junit

        return comparison_to_junit(self)

    def save(self, folder, *, replace=False, version=None, date=None):
        """Write the page, the JSON, the text and a table of changes to a folder.

        The folder changes when all is written, as that of :meth:`Report.save`.

        Parameters
        ----------
        folder : path-like
            Made if it does not exist.
        replace : bool, default=False
            Whether a report that the folder holds is replaced; files of others stay.
        version, date : str, default=None
            As of :meth:`to_html`.

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
        check_replaceable(check_path(folder, "folder"), replace)
        about = {} if version is None else {"version": version}
        written = {
            "report.html": self.to_html(version=version, date=date),
            "comparison.json": self.to_json(**about),
            "comparison.txt": self.to_text(),
            "changes.csv": to_csv(map(in_iso, changes_of(self))),
        }
        with replaced(folder, REPORT) as staged:
            for name, text in written.items():
                (staged / name).write_text(text, encoding="utf-8", newline="")
        return tuple(Path(folder) / name for name in written)

    @staticmethod
    def schema():
        """JSON Schema of what :meth:`to_json` gives.

        Returns
        -------
        schema : dict
        """
        return read_schema("comparison.json")

    def _repr_html_(self):
        document = _documents.comparison_document(self)
        return write_fragment(document.only(*_documents.CHANGES_IN_NOTEBOOK))

    def __repr__(self):
        document = _documents.comparison_document(self)
        found = document.sections[0].parts[0]
        return "\n".join([document.subtitle, found.headline, *found.texts])

    def spelled(self, spell):
        """The same comparison, whose notes name arguments in other words.

        Parameters
        ----------
        spell : callable
            As of :meth:`Report.spelled`.

        Returns
        -------
        comparison : SystemsComparison
        """
        return replace(self, notes=all_spelled(self.notes, spell))
