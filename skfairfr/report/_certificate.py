"""A threshold certified for every group, as a report."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from skfairfr._core._parallel import next_step, show_progress
from skfairfr._core._rates import in_digits
from skfairfr._text._document import Cell, Figure, Row, Table, Verdict
from skfairfr._text._words import (
    NONE,
    accepted,
    by_attribute,
    capital,
    count,
    given_point,
    level_percent,
    listed,
    percent,
    percents,
    plural,
    printable,
    terms_of,
)
from skfairfr.metrics import CertifiedThreshold, SimilarityROC
from skfairfr.report._data import PairData, check_data
from skfairfr.report._figures import group_rates
from skfairfr.report._given import check_about
from skfairfr.report._identification import (
    as_of_pairs,
    in_arguments_of_searches,
    searches_of,
)
from skfairfr.report._measure import Points
from skfairfr.report._notes import (
    collecting,
    notes_of,
    nothing_concluded,
    reason_to_withhold,
)
from skfairfr.report._outputs import Page, schema_of
from skfairfr.report._policy import LIMITS, RATE_LIMITS, settle_limits
from skfairfr.report._prepared import prepare
from skfairfr.report._records import Figure as Estimate
from skfairfr.report._records import GroupRates
from skfairfr.report.sections._answer import LABELS
from skfairfr.report.sections._gallery import AS_GIVEN, facts_of_gallery
from skfairfr.report.sections._limits import RESULTS
from skfairfr.utils._errors import invalid

if TYPE_CHECKING:
    from skfairfr.report._data import EmbeddingData

CERTIFIABLE = ("max_fmr", "max_fnmr")


@dataclass(frozen=True)
class Certificate(Page):
    """A certified threshold and what it rests on, from :func:`certify_data`.

    Attributes
    ----------
    attribute : str
        Attribute of the groups, or empty if there is none, and everyone is the one group.
    settings : dict
        Settings that the numbers depend on.
    limits : dict of str -> float
        ``max_fmr`` in (0, 1), and ``max_fnmr`` if there is one. For searches, of the FPIR and
        the FNIR.
    found : CertifiedThreshold
        The threshold and the rates of each group there, lower being better.
    n_people : int or None
        Number of people in the data, or of those who search. None if people are unknown.
    notes : tuple of str
        Possible mistakes in the data, and limits that were not certified.
    about : dict of str -> str
        Description of the test, as given.

    Raises
    ------
    dataclasses.FrozenInstanceError
        If an attribute is assigned to.

    See Also
    --------
    certify_data : Returns it.

    Examples
    --------
    >>> from skfairfr import certify_data, make_face_embeddings
    >>> from skfairfr.report import EmbeddingData
    >>> made = make_face_embeddings(n_identities=100, random_state=0)
    >>> data = EmbeddingData(made.X, made.y, {"gender": made.sensitive_features})
    >>> found = certify_data(data, limits={"max_fmr": 1e-2})
    >>> found.verdict, found.found.binding_group
    ('passed', 'female')
    """

    attribute: str
    settings: dict
    limits: dict
    found: CertifiedThreshold = field(repr=False)
    n_people: int | None
    notes: tuple
    about: dict

    _name = "threshold"

    @property
    def verdict(self) -> str:
        """State of the certificate: a str.

        "passed" if there is a threshold that meets all limits, "failed" if the FNMR of a
        group certainly exceeds its limit at every threshold at which the FMR may meet its own,
        and "undetermined" if the data do not show either.
        """
        if "withheld" in self.settings:
            return "undetermined"
        if self.found.supported:
            return "passed"
        limit = self.limits.get("max_fnmr", 1.0)
        return "failed" if (self.found.frr_least > limit).any() else "undetermined"

    @classmethod
    def schema(cls, kind="verification"):
        """JSON Schema of the output of :meth:`to_json`.

        Parameters
        ----------
        kind : {"verification", "identification"}, default="verification"
            Of comparisons, or of searches.

        Returns
        -------
        schema : dict

        Raises
        ------
        ArgumentError
            A ValueError: if ``kind`` is none of the two.
        """
        return schema_of(f"{cls._name}.json", kind)

    def _record(self):
        names = ("attribute", "settings", "verdict", "limits", "n_people")
        names += ("notes", "about")
        return {name: getattr(self, name) for name in names} | asdict(self.found)

    # ---- the document ------------------------------------------------------------

    @property
    def _called(self):
        whose = "its own" if self.settings["own"] else "this"
        return "Data", f"{capital(self._every)} at {whose} threshold", "What was tested"

    @property
    def _does_not_show(self):
        other = "rates of groups"
        if self.attribute:
            other = (
                "rates of pairs across groups or by other attributes and combinations"
            )
        if "gallery" in self.settings:
            other = "rates with another gallery"
        own = ""
        if self.settings["own"]:
            own = " Check that thresholds that differ by group are lawful."
        return (
            f"Does not show: {other}, samples captured in another way, or that the system is "
            f"lawful.{own}"
        )

    @property
    def _heading(self):
        return f"Threshold for {self._every}{by_attribute(self.attribute)}"

    @property
    def _every(self):
        """Who meets the limits."""
        return "every group" if self.attribute else "everyone"

    @property
    def _each(self):
        """Whose rates are limited."""
        return "each group" if self.attribute else "everyone"

    def _facts(self):
        people = "not known; pairs taken as independent"
        if self.n_people is not None:
            people = count(self.n_people)
        limits = [
            f"{self._rate(name)} of {self._each} at most {level_percent(limit)}"
            for name, limit in self.limits.items()
        ]
        facts = [("People", people), ("Limits", "; ".join(limits))]
        if "gallery" in self.settings:
            of_gallery = facts_of_gallery(self.settings)
            facts = [*of_gallery, ("People who search", people), facts[-1]]
        return facts

    def _rate(self, limit):
        """Name of the rate that is limited."""
        return terms_of(self.settings)[LIMITS[limit][0]].name

    @property
    def _far(self):
        return self._rate("max_fmr")

    @property
    def _frr(self):
        return self._rate("max_fnmr")

    def _opening(self):
        return [self._result_section(), self._limits(), self._rates()]

    @property
    def _kept(self):
        """Whether each group has a threshold. If own ones, one that may meet all limits."""
        found = self.found
        low = np.broadcast_to(found.threshold, found.groups.shape)
        if self.settings["own"] and "max_fnmr" in self.limits:
            return low <= found.threshold_high
        return ~np.isnan(low)

    def _limits(self):
        """The table of limits: the group with the highest bound, its rate, bound and result."""
        found, rows = self.found, []
        if np.isnan(found.threshold).all():
            return None
        columns = {
            "max_fmr": ("far", found.far, found.far_high),
            "max_fnmr": ("frr", found.frr, found.frr_high),
        }
        for name, limit in self.limits.items():
            rate, values, bounds = columns[name]
            place = int(np.argmax(bounds))  # nan, without a threshold, is highest
            word = "passed" if bounds[place] <= limit else "undetermined"
            value, bound = percent(values[place]), f"up to {percent(bounds[place])}"
            if np.isnan(bounds[place]):
                bound = "no threshold"
            if rate == "frr" and (found.frr_least > limit).any():
                place, word, value = int(np.argmax(found.frr_least)), "failed", NONE
                least = percent(found.frr_least[place])
                bound = f"at least {least} where the {self._far} may meet its limit"
            word = "undetermined" if "withheld" in self.settings else word
            texts = [f"at most {level_percent(limit)}", printable(found.groups[place])]
            cells = [*map(Cell, (*texts, value, bound))]
            cells.append(Cell(RESULTS[word], word=word))
            rows.append(
                Row(f"{terms_of(self.settings)[rate].name} of {self._each}", cells)
            )
        other = (
            "" if self._kept.all() else f", or at the one that the {self._far} needs"
        )
        caption = f"Each group at its own threshold, as listed below{other}."
        if not self.settings["own"]:
            caption = f"At this threshold: {accepted(found.threshold, self.settings)}."
        head = ["Limit", "Allowed", "Highest bound", "Found", "Bound", "Result"]
        return Table(caption, head, rows)

    def _rates(self):
        """The figure of both rates of all groups there, with the limits."""
        found, terms = self.found, terms_of(self.settings)
        known = np.flatnonzero(self._kept)
        if not known.size:
            return None
        rows = []
        for g in known:
            far = _figure(found.far[g], found.far[g], found.far_high[g])
            frr = _figure(found.frr[g], found.frr_low[g], found.frr_high[g])
            rows.append(GroupRates(found.groups[g], far, frr))
        limits = {
            LIMITS[name][0]: np.array([limit]) for name, limit in self.limits.items()
        }
        level = self._level
        kinds = (terms.far, terms.frr)
        at = "of each group at its own" if self.settings["own"] else "at this"
        caption = f"Rates {at} threshold, the {self._far} with its bound. "
        caption += " ".join(
            f"A higher {kind.name} means that {kind.consequence}." for kind in kinds
        )

        def draw():
            return group_rates([rows], [""], limits, level, terms)

        return Figure(caption, draw, "rates")

    def _result_section(self):
        """The threshold and whose it is, or why there is none, and the FNMR that it costs."""
        found, cost = self.found, self._cost()
        if nothing := nothing_concluded(self.settings):
            headline, texts = nothing
            return Verdict("undetermined", f"{headline} {cost}".strip(), texts)
        label = f"{LABELS[self.verdict]}. {plural(len(self.limits), 'limit')}"
        reasons = filter(None, found.reason.split("; "))
        texts = [printable(capital(f"{reason}.")) for reason in reasons]
        headline = f"{self._certified() if found.supported else self._open()} {cost}"
        if self.settings["own"] or np.isnan(found.threshold):
            return Verdict(self.verdict, headline.strip(), texts, label)
        by, errors = printable(found.binding_group), terms_of(self.settings).far.errors
        text = (
            f"{by} sets this threshold: with more {errors} the bound of its {self._far} exceeds "
            "the limit."
        )
        if not self.attribute:
            text = f"With more {errors} the bound of the {self._far} exceeds the limit."
        texts.insert(0, text)
        if found.binding_group_high is not None:
            texts.append(self._highest_threshold())
        return Verdict(self.verdict, headline, texts, label)

    def _highest_threshold(self):
        """Up to which threshold the limit of the FNMR is met, and whose bound that is."""
        found, most = self.found, level_percent(self.limits["max_fnmr"])
        groups, by = "", ""
        if self.attribute:
            groups = " in every group"
            by = f", set by {printable(found.binding_group_high)}"
        which = "At any threshold" if found.supported else "Only at thresholds"
        text = (
            f"{which} up to {self._point(found.threshold_high)}{by}, the {self._frr} is at or below "
            f"{most}{groups} ({self._confidence})."
        )
        if not found.supported:
            return text
        looser = "Above" if self.settings.get("distance") else "Below"
        low = self._point(found.threshold)
        return f"{text} {looser} {low} the limit of the {self._far} is not certified."

    @property
    def _confidence(self):
        return f"{100 * self.settings['confidence_level']:g} % confidence"

    def _certified(self):
        """At which threshold every group meets all limits."""
        kept = [
            f"an {self._rate(name)} at or below {level_percent(limit)}"
            for name, limit in self.limits.items()
        ]
        level, kept = self._confidence + ", each limit" * (len(kept) > 1), listed(kept)
        if self.settings["own"]:
            return f"At its own threshold each group has {kept} ({level}, all groups at once)."
        at = given_point(self.found.threshold, self.settings)
        whom = "every group has" if self.attribute else "all people together have"
        return f"At {at} {whom} {kept}, for new people too ({level})."

    def _open(self):
        """That no threshold is certified, and whether some may meet the limits."""
        found, of = self.found, ""
        failed, low = self.verdict == "failed", np.atleast_1d(found.threshold)
        if self.settings["own"]:
            lacking = ~self._kept
            if failed:
                lacking = found.frr_least > self.limits["max_fnmr"]
            of = f" for {listed([*map(printable, found.groups[lacking])])}"
            low = low[lacking]
        if failed:
            return (
                f"No threshold meets both limits{of}: at every one at which the {self._far} may "
                f"meet its limit, the {self._frr}{'' if of or not self.attribute else ' of a group'} exceeds "
                f"{level_percent(self.limits['max_fnmr'])}."
            )
        if np.isnan(low).all():
            return f"No threshold can be certified{of} with these people."
        text = f"The data do not show whether a threshold meets both limits{of}."
        if of:
            return text
        at, most = self._point(found.threshold), level_percent(self.limits["max_fmr"])
        return f"{text} An {self._far} of {most} needs threshold {at}."

    def _cost(self):
        """The highest FNMR at the threshold, or thresholds, or empty without any."""
        found, frr = self.found, np.where(self._kept, self.found.frr, np.nan)
        if np.isnan(frr).all():
            return ""
        place = int(np.nanargmax(frr))
        at = "At these thresholds"
        if not self.settings["own"]:
            at = f"At {given_point(found.threshold, self.settings)}"
            at = "There" if found.supported else at
        ends = percents(found.frr_low[place], found.frr_high[place])
        highest = f"highest {self._frr} is that of {printable(found.groups[place])}:"
        if not self.attribute:
            highest = f"{self._frr} is"
        return f"{at} the {highest} {percent(found.frr[place])} ({100 * self._level:.4g} % CI {ends})."

    @property
    def _level(self):
        """Confidence level of each interval: groups with their own thresholds share it."""
        n = len(self.found.groups) if self.settings["own"] else 1
        return 1 - (1 - self.settings["confidence_level"]) / n

    def _point(self, threshold):
        """A threshold on the scale of the caller's scores."""
        sign = -1 if self.settings.get("distance") else 1
        return in_digits(sign * threshold)

    def _table(self):
        """Effect of a threshold on each group, or empty without a threshold."""
        found, own = self.found, self.settings["own"]
        thresholds = np.broadcast_to(found.threshold, found.groups.shape)
        head = ["Group", self._far, "Bound", self._frr, f"{100 * self._level:.4g} % CI"]
        rows = []
        for place in np.argsort(-found.far, kind="stable").tolist():
            group = found.groups[place]
            if np.isnan(thresholds[place]):
                continue
            ends = percents(found.frr_low[place], found.frr_high[place])
            cells = [
                percent(found.far[place]),
                f"at most {percent(found.far_high[place])}",
                percent(found.frr[place]),
                ends,
            ]
            if not self._kept[place]:
                cells = [NONE] * len(cells)
            if own:
                at = self._point(thresholds[place])
                if "max_fnmr" in self.limits:
                    at = self._range(thresholds[place], found.threshold_high[place])
                cells.insert(0, at)
            rows.append(Row(printable(group), [Cell(text) for text in cells]))
        if own:
            head.insert(1, "Threshold")
        within = (" within the group", " Each is of its group alone.")
        if not self.attribute:
            within = "", ""
        caption = (
            f"{self._far}{within[0]}, with the bound that was certified, the upper end of its "
            f"two-sided interval. {self._frr} with its interval.{within[1]}"
        )
        if own:
            caption += (
                f" All intervals have the level {100 * self._level:.4g} %, so the certificate is "
                f"valid for all groups at once at {100 * self.settings['confidence_level']:g} %."
            )
        return Table(caption, head, rows)

    def _range(self, low, high):
        """Thresholds that meet both limits of a group, and what either needs if none does."""
        if low <= high:
            return f"{self._point(low)} up to {self._point(high)}"
        texts = [f"{self._far} needs {self._point(low)}"]
        if not np.isnan(high):
            texts.append(f"{self._frr} allows {self._point(high)}")
        return f"none: {', '.join(texts)}"

    def _method(self):
        name = "certificate_own" if self.settings["own"] else "certificate"
        name = name if self.attribute else "certificate_everyone"
        lines = self._lines(name, far=self._far, trials=terms_of(self.settings).trials)
        return [*lines[:-1], AS_GIVEN] if "gallery" in self.settings else lines


def _figure(value, low, high):
    """A rate with its interval, as the figures of a page take it."""
    return Estimate(float(value), float(low), float(high), np.nan, True, "")


def _as_one_group(data):
    """The data with one attribute, of which all are one group, everyone."""
    everyone = np.full(data.people().size, "everyone")
    if isinstance(data, PairData):
        everyone = tuple(np.split(everyone, 2))
    return replace(data, columns={"": everyone})


def certify_data(
    data: EmbeddingData | PairData,
    *,
    gallery: EmbeddingData | None = None,
    rank: Any = 1,
    template: str = "image",
    limits: dict | None = None,
    policy: Any = None,
    own: bool = False,
    confidence_level: float | None = None,
    about: dict | None = None,
    progress: bool = False,
    n_jobs: int | None = None,
) -> Certificate:
    """Find the loosest threshold that meets limits for every group of the data, or for everyone.

    Parameters
    ----------
    data : EmbeddingData or PairData
        Data, as :func:`read_data` returns them. The groups of several attributes are their
        combinations.
    gallery : EmbeddingData, default=None
        Enrolled people: data are then probes, which search them.
    rank : int, default=1
        A mate counts as found if fewer others reach its score.
    template : {"image", "mean", "max"}, default="image"
        Enrolled templates: the one image of each person, the mean of a person's unit rows, or
        all of them, of which the best counts.
    limits : dict of str -> float, default=None
        ``max_fmr``, the largest FMR allowed of each group, in (0, 1), and, if the FNMR is
        limited too, ``max_fnmr``. For searches ``max_fpir`` and ``max_fnir``.
    policy : Policy, str or path-like, default=None
        Policy that sets the limits and the confidence level instead, as in :func:`audit_data`. The
        strictest of its limits at several levels, none of which it operates at.
    own : bool, default=False
        Whether each group has its own threshold.
    confidence_level : float in (0, 1), default=None
        One minus the share of wrong certificates. If None: 0.95.
    about : dict of str -> str, default=None
        "title", "system", "dataset" and "organisation": what the report is to show, and its
        JSON to keep, about the test.
    progress : bool, default=False
        Whether standard error shows how far the comparison of all pairs is.
    n_jobs : int, default=None
        Workers of joblib. If None, one process, which uses all cores by threads.

    Returns
    -------
    certificate : Certificate
        The threshold, or why there is none.

    Raises
    ------
    ValueError
        As :func:`audit_data`, or :func:`identify_data`, and if no limit of the FMR, or of
        the FPIR, is given.

    See Also
    --------
    skfairfr.metrics.SimilarityROC.certify : The numbers.

    Examples
    --------
    >>> from skfairfr import make_face_embeddings
    >>> from skfairfr.report import EmbeddingData, certify_data
    >>> made = make_face_embeddings(n_identities=100, random_state=0)
    >>> data = EmbeddingData(made.X, made.y, {"gender": made.sensitive_features})
    >>> found = certify_data(data, limits={"max_fmr": 0.02})
    >>> found.verdict, found.found.binding_group
    ('passed', 'female')
    """
    options = own, confidence_level, about, progress, n_jobs
    if gallery is None:
        return _certificate_of(data, policy, limits, *options)
    searches = searches_of(data, gallery, rank, template)
    with in_arguments_of_searches(searches.is_distance):
        return _certificate_of(searches, *as_of_pairs(policy, limits), *options)


def _certificate_of(
    data, policy, limits, own, confidence_level, about, progress, n_jobs
):
    check_data(data)
    check_about(about)
    every, level, settings = settle_limits(policy, limits, confidence_level)
    limits = {name: every[name] for name in CERTIFIABLE if name in every}
    if "max_fmr" not in limits:
        where = f" by the policy {settings['policy']!r}" if settings else ""
        remedy = f"name the largest {data.terms.far.name} allowed of each group."
        raise invalid("max_fmr", None, f"is not given{where};", remedy)
    chosen, points = prepare(data, Points.of(limits["max_fmr"]), 0)
    attributes, fitted = chosen[-1], data
    if not attributes:
        if own:
            problem = "gives each group a threshold, and there is no attribute;"
            raise invalid(
                "own", own, problem, "name one (--attribute), or leave it out."
            )
        attributes, fitted = ("",), _as_one_group(data)
    warnings = []
    with show_progress(progress, 2), collecting(warnings):
        next_step("comparing all pairs")
        # Nothing is resampled.
        roc = SimilarityROC(
            n_resamples=1, far_max=points.far_max, n_jobs=n_jobs, random_state=0
        )
        roc = fitted.fit(roc, attributes)
        next_step("certifying")
        found = roc.certify(
            limits["max_fmr"],
            frr=limits.get("max_fnmr"),
            confidence_level=level,
            operating_point="group" if own else "overall",
        )
    settings |= {"confidence_level": level, "own": bool(own)} | data.more_settings
    if data.reading is not None:
        settings |= {"sha256": data.reading.sha256, "distance": data.is_distance}
    if (code := reason_to_withhold(warnings)) is not None:
        settings["withheld"] = code
    notes = [*data.notes, *notes_of(warnings, data.terms)]
    limit = data.terms.limit
    if left_out := [limit(name) for name in every if name not in RATE_LIMITS]:
        notes.append(
            f"Not certified: {', '.join(left_out)}, which an audit at the threshold judges."
        )
    return Certificate(
        " & ".join(attributes),
        settings,
        limits,
        found,
        None if data.independent else np.unique(data.people()).size,
        tuple(dict.fromkeys(filter(None, notes))),
        about or {},
    )
