"""How many people a test needs, before it is made.

The simulation, judged as the data will be, is in ``_core/_planning.py``.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils.validation import check_is_fitted

from skfairfr._core._error_counts import people_with_pairs
from skfairfr._core._planning import (
    PlanGoal,
    Setting,
    fewest_people,
    first_number,
)
from skfairfr._text._document import Cell, Document, Row, Section, Table, write_text
from skfairfr._text._words import RATES, level_percent, percent, plural
from skfairfr.metrics._pairs._costs import COST
from skfairfr.metrics._roc._similarity_roc import SimilarityROC
from skfairfr.utils._errors import plain, refused, suggestion
from skfairfr.utils._frames import Framed
from skfairfr.utils._validation import (
    check_count,
    check_level,
    check_number,
    check_option,
)

INDEPENDENT, DEPENDENT = "independent errors", "dependent errors"
# Rates that a plan may be about. Searches of one person err together as genuine pairs do.
NAMES = RATES | {"fpir": "FPIR", "attempt": "FRR"}
DEPENDS = {"far": "far", "frr": "frr", "fpir": "frr", "attempt": "frr"}
# Limit -> the rate that it limits, and whether it is about the ratio of two.
LIMITS = {
    "max_fmr": ("far", False),
    "max_fnmr": ("frr", False),
    "max_fpir": ("fpir", False),
    "max_fmr_ratio": ("far", True),
    "max_fnmr_ratio": ("frr", True),
}
# Limits of a policy that no plan is made for: the data of the test set their threshold.
UNPLANNED = (
    *("max_bfar", "max_bfrr"),
    *("max_fmr_geomean_ratio", "max_fnmr_geomean_ratio"),
    *("max_dcf", "max_cllr"),
)
USUAL_FAR, USUAL_FRR = 1e-3, 0.01
# An audit that is told none looks at so many FAR levels.
USUAL_LEVELS = 2
MOST_GROUPS, MOST_IMAGES = 50, 1000
# Errors of a pilot from which its dependence is taken, if any level nearby has as many.
ENOUGH_ERRORS = 100
# What the rules of thumb ask for, if they are in a table.
RULES = {
    "rule of 3": "rule of 3: 3 / limit {}; if they are independent and have no error, "
    "the one-sided upper 95 % bound of the rate is about the limit.",
    "rule of 30": "rule of 30: enough {} to expect 30 errors.",
}


@dataclass(frozen=True)
class Dependence:
    """How errors depend on each other: those of one person, or of the same two people.

    Parameters
    ----------
    correlation : float in [0, 1], default=0.5
        Between errors of two pairs of images of the same person (FRR) or of the same two
        people (FAR). If it is 1, all pairs of a person are errors together.
    variation : float in [0, 100], default=1.0
        Squared coefficient of variation of people's own rates. It matters for the FAR,
        if one person is in pairs with all others.

    Raises
    ------
    ValueError
        If a number is out of its range.

    See Also
    --------
    plan_test : Takes it.

    Notes
    -----
    The defaults are those of people who differ much. With m images of each person, errors
    vary by phi = 1 + correlation (c - 1) times as much as if pairs were independent, with
    c = m**2 for the FAR and m (m - 1) / 2 for the FRR. With K people the logarithm of the
    FAR varies by 4 variation / K more.

    Examples
    --------
    >>> from skfairfr.metrics import Dependence
    >>> Dependence(correlation=0.25).inflation("far", images_per_person=2)
    1.75
    """

    correlation: float = 0.5
    variation: float = 1.0

    def __post_init__(self):
        object.__setattr__(
            self, "correlation", _checked("correlation", self.correlation)
        )
        object.__setattr__(self, "variation", _checked("variation", self.variation))

    def inflation(self, rate: str, images_per_person: int) -> float:
        """By how much errors vary more than those of independent pairs: phi.

        Parameters
        ----------
        rate : {"far", "frr", "fpir", "attempt"}
        images_per_person : int
            From 1 to 1000. For an FPIR each is a search, of attempts an attempt.

        Returns
        -------
        phi : float
            At least 1.

        Raises
        ------
        ValueError
            If the rate is none of them, or the number of images is out of its range.
        """
        check_option(rate, "rate", tuple(NAMES))
        m = check_count(images_per_person, "images_per_person", 1, MOST_IMAGES)
        cluster = {"far": m**2, "frr": max(m * (m - 1) / 2, 1)}.get(rate, m)
        return float(1 + self.correlation * (cluster - 1))


@dataclass(frozen=True)
class Plan(Framed):
    """Numbers of people for each question and basis, from :func:`plan_test`.

    Arrays have one element for each question and basis.

    Attributes
    ----------
    question : ndarray of str, shape (n_rows,)
        In words.
    kind : ndarray of str, shape (n_rows,)
        "certify": every group's rate is within a limit. "detect": two groups' rates
        differ. "pass": all their ratios are within a limit. "fail": a rate, or a ratio, is
        above its limit.
    rate : ndarray of str, shape (n_rows,)
        "far", "frr" or "fpir". "attempt" is the FRR of attempts.
    limit : ndarray, shape (n_rows,)
        Of the rate, or of the ratio of two, or 1 where a difference is to be detected.
    true_rate : ndarray, shape (n_rows,)
        Assumed: the smallest of the groups' rates.
    true_ratio : ndarray, shape (n_rows,)
        Assumed: of the largest to the smallest.
    basis : ndarray of str, shape (n_rows,)
        "rule of 3" or "rule of 30" (as many errors are expected), then "independent errors" and
        "dependent errors", or "given dependence", or "pilot". "none" where what is assumed
        rules the answer out.
    people : ndarray, shape (n_rows,)
        Per group, or inf where no number is enough, which ``reason`` explains.
    pairs : ndarray, shape (n_rows,)
        Within each group: impostor pairs for the FAR, genuine pairs for the FRR, or attempts.
    expected_errors : ndarray, shape (n_rows,)
        In the group with the smallest rate.
    bound : ndarray, shape (n_rows,)
        Median bound of the rate, or of the ratio, that is compared with the limit.
    chance : ndarray in [0, 1], shape (n_rows,)
        Share of simulated data sets with so many people that give the answer: certified,
        detected, passed, failed.
    reason : ndarray of str, shape (n_rows,)
        Why no number of people is enough, else empty.
    images_per_person, n_groups, comparisons : int
        As they were given to :func:`plan_test`, or found by it.
    power, confidence_level : float in (0, 1)
        As they were given.
    dependence : dict of str -> Dependence
        Of either rate, in the last row of each question.
    pilot_errors : dict of str -> tuple (int, float)
        Of either rate, how many errors of the pilot show the dependence, and at which FAR,
        nan where its threshold was given, or empty without a pilot.
    left_out : tuple of str
        Parts of the policy that were not planned for: such as "max_bfar", and "at".

    Raises
    ------
    dataclasses.FrozenInstanceError
        If an attribute is assigned to.

    See Also
    --------
    plan_test : Returns it.

    Examples
    --------
    >>> from skfairfr import plan_test
    >>> plan = plan_test(max_fmr=1e-3, n_groups=4)
    >>> print(plan.to_frame()[["basis", "people", "pairs"]])
                    basis  people     pairs
    0          rule of 30   174.0   60204.0
    1  independent errors   148.0   43512.0
    2    dependent errors   312.0  194064.0
    """

    question: np.ndarray
    kind: np.ndarray
    rate: np.ndarray
    limit: np.ndarray
    true_rate: np.ndarray
    true_ratio: np.ndarray
    basis: np.ndarray
    people: np.ndarray
    pairs: np.ndarray
    expected_errors: np.ndarray
    bound: np.ndarray
    chance: np.ndarray
    reason: np.ndarray
    images_per_person: int
    n_groups: int
    power: float
    confidence_level: float
    comparisons: int
    dependence: dict
    pilot_errors: dict
    left_out: tuple = ()

    def _columns(self):
        """One row for each question and basis."""
        columns = super()._columns()
        for name in ("dependence", "pilot_errors", "left_out"):
            del columns[name]
        return columns

    def to_text(self) -> str:
        """Give the plan in words, with all that was assumed.

        Returns
        -------
        text : str
            Of several lines.
        """
        return write_text(self._document())

    def _document(self):
        images = plural(self.images_per_person, self._trial or "image")
        head = [self._trial + "s" if t == "pairs" and self._trial else t for t in HEAD]
        left_out = ""
        if self.left_out:
            left_out = (
                f"Not planned for: {', '.join(self.left_out)} (judged where the data set "
                "the threshold, at single levels, or on costs)."
            )
        sections = []
        for question in dict.fromkeys(self.question.tolist()):
            rows = np.flatnonzero(self.question == question)
            parts = [Table("", head, [self._row(row) for row in rows])]
            if self.basis[rows[0]] == "none":
                parts = [str(self.reason[rows[0]])]
            sections.append(Section("question", question, parts))
        if np.isfinite(self.people).any():
            sections.append(Section("assumed", "Assumed", [[*self._assumptions()]]))
        return Document(
            f"People per group, {images} of each person", left_out, sections
        )

    @property
    def _trial(self):
        """ "attempt" of a plan in attempts, else empty."""
        return "attempt" if "attempt" in self.rate else ""

    def _row(self, row):
        """The numbers of a basis, or why there are none."""
        if self.reason[row]:
            return Row(self.basis[row], [Cell(self.reason[row]), *[Cell("")] * 4])
        numbers = [getattr(self, name)[row] for name in _NUMBERS]
        shown = [f.format(v) for f, v in zip(_FORMATS, numbers, strict=True)]
        if self.limit[row] < 1:
            shown[3] = percent(self.bound[row])
        return Row(self.basis[row], [Cell(text) for text in shown])

    def _assumptions(self):
        """Assumptions behind the numbers, each a sentence or two."""
        level = f"{100 * self.confidence_level:g} %"
        people = "1 group."
        if self.n_groups > 1:
            people = f"{self.n_groups} groups of as many people each."
        if self._trial:
            yield f"{people} Attempts vary among people as in the pilot, if there is one."
        else:
            yield (
                f"{people} All pairs within a group are compared, at a threshold set on other "
                "data."
            )
        if "fpir" in self.rate:
            yield (
                f"Of an FPIR, pairs are searches: {self.images_per_person} by each of as many "
                "people who are not enrolled, of one gallery, which is taken as given."
            )
        yield (
            "errors: expected in the group with the smallest rate. bound: median of what is "
            "compared with the limit. chance: share of simulated data sets that give the "
            f"answer, at least {self.power:g}."
        )
        if "certify" in self.kind:
            yield f"The {level} interval of every group's rate must stay within the limit."
        if ((self.kind == "fail") & (self.limit < 1)).any():
            yield (
                f"The lower bound of a group's rate, which is valid at {level} for all groups "
                "at once, must exceed the limit."
            )
        if "detect" in self.kind:
            yield (
                f"Groups are compared at {level}, adjusted for "
                f"{plural(self.comparisons, 'comparison')}."
            )
        trial = self._trial or "pair"
        rules = (text for name, text in RULES.items() if name in self.basis)
        yield from (text.format(f"{trial}s") for text in rules)
        if INDEPENDENT in self.basis:
            yield f"{INDEPENDENT}: as if every {trial} were of different people."
        if (last := str(self.basis[-1])) != "none":
            for rate in dict.fromkeys(self.rate.tolist()):
                yield self._dependence_in_words(rate, last)

    def _dependence_in_words(self, rate, basis):
        found, shown = self.dependence[DEPENDS[rate]], ""
        if (of := {"attempt": "frr"}.get(rate, rate)) in self.pilot_errors:
            n_errors, far = self.pilot_errors[of]
            at = "" if self._trial else " at the given threshold"
            if not math.isnan(far):
                at = f" at an FMR of {level_percent(far)}"
            shown = f" ({plural(n_errors, 'error')}{at})"
        elif basis == "pilot":
            shown = " (the pilot has no such pairs: as usual)"
        phi = found.inflation(rate, self.images_per_person)
        times = "" if f"{phi:.3g}" == "1" else f"{phi:.3g} times "
        text = (
            f"{basis}, {NAMES[rate]}{shown}: errors vary {times}as much as independent "
            f"ones (correlation {found.correlation:.3g})"
        )
        if rate == "far":
            text += (
                f", and people's own rates differ (coefficient of variation "
                f"{math.sqrt(found.variation):.3g})"
            )
        return f"{text}."


HEAD = ["basis", "people", "pairs", "errors", "bound", "chance"]
_NUMBERS = ("people", "pairs", "expected_errors", "bound", "chance")
_FORMATS = ("{:,.0f}", "{:,.0f}", "{:,.1f}", "{:.3g}", "{:.2f}")


def plan_test(
    *,
    max_fmr: float | None = None,
    max_fnmr: float | None = None,
    max_fpir: float | None = None,
    detect_factor: float | None = None,
    rate: str = "far",
    policy: Any = None,
    far: ArrayLike | None = None,
    frr: float | None = None,
    assumed: float = 0.5,
    n_groups: int | None = None,
    images_per_person: int = 2,
    attempts_per_person: int | None = None,
    power: float = 0.8,
    confidence_level: float | None = None,
    comparisons: int | None = None,
    dependence: Any = None,
    pilot: SimilarityROC | None = None,
    threshold: float | None = None,
) -> Plan:
    """Plan a test: the number of people per group for a conclusive result.

    Possible questions: certify that the rate of every group is within a limit
    (``max_fmr``, ``max_fnmr``), detect that the rates of two groups differ by a
    ``detect_factor``, and pass or fail a ``policy``. One call may combine several. Lower
    rates are better. Each question is answered for independent errors and for strongly
    dependent ones, or with the dependence measured in a pilot.

    Parameters
    ----------
    max_fmr, max_fnmr : float in (0, 1), default=None
        Certify that every group's FAR, or FRR, is at most this, with its whole
        interval.
    max_fpir : float in (0, 1), default=None
        The same for the FPIR of searches (1:N): ``pairs`` are then non-mated searches,
        one with each of the ``images_per_person`` of people who are not enrolled.
    detect_factor : float above 1, default=None
        Detect that one group's rate is this many times that of the reference.
    rate : {"far", "frr"}, default="far"
        Rate that ``detect_factor`` refers to.
    policy : mapping or object, default=None
        Limits by name: ``max_fmr`` and ``max_fnmr`` of every group's rate,
        ``max_fmr_ratio`` and ``max_fnmr_ratio`` of the largest to the smallest. Or an
        object with such a mapping as its attribute ``limits``, and ``fmr``,
        ``confidence_level``. ``max_bfar``, ``max_bfrr``, limits of costs and of single
        levels (``at``) are not planned for. A policy with only these is an error.
    far : float in (0, 1), or several, default=None
        FAR of the groups with the smaller rate, for ``detect_factor`` and
        ``max_fmr_ratio``. If None: that of a policy object, or 0.001.
    frr : float in (0, 1), default=None
        FRR of the groups with the smaller rate, for ``detect_factor`` and
        ``max_fnmr_ratio``. If None, that of the pilot, or 0.01.
    assumed : float of at least 0, default=0.5
        Assumed truth, as a share of the way from no error, or equal groups, to the
        limit: with 0.5 the FMR is half of ``max_fmr``, and the ratio is 1.5 for a limit
        of 2. Above 1, the plan is to show that one group exceeds the limit.
    n_groups : int, default=None
        Number of groups, at most 50, with equal numbers of people. The first has the
        larger rate if rates differ. If None: that of the pilot, or 2.
    images_per_person : int, default=2
        Images of each person: at least 1, and 2 for the FRR. At most 1000.
    attempts_per_person : int, default=None
        Average number of attempts, from 1 to 1000, instead of images. ``max_fnmr``,
        ``max_fnmr_ratio`` and ``detect_factor`` then refer to the FRR of attempts. A
        pilot has attempts too (:func:`fit_pairs <SimilarityROC.fit_pairs>` of each
        person with herself), and shows how they vary among people.
    power : float in (0, 1), default=0.8
        Probability of an answer, in all groups at once.
    confidence_level : float in (0.5, 1), default=None
        Confidence level of the bounds and tests. If None, that of a policy object, or
        0.95.
    comparisons : int, default=None
        Number of tests for which ``detect_factor`` is adjusted. If None, that of an
        audit: each group against the reference, for both rates at all levels (those of
        the policy or of ``far``, or the usual two).
    dependence : Dependence, or dict of "far" and "frr" to one, default=None
        Dependence of errors. If None: that of the pilot or, without one, a row for
        independent and a row for strongly dependent errors.
    pilot : SimilarityROC, default=None
        Fitted, preferably with groups. Its errors show the dependence at the smallest
        requested FAR if there are a hundred, otherwise at a nearby one with more.
    threshold : float, default=None
        Similarity from which on the pilot's system accepts, instead of the level, for
        example if the pilot has no impostor pairs.

    Returns
    -------
    plan : Plan
        One row for each question and basis, with ``to_text`` and ``to_frame``. If no
        number of people is enough, ``people`` is inf, and ``reason`` gives the reason.

    Raises
    ------
    ValueError
        If an argument is out of its range, or no question is given.

    See Also
    --------
    SimilarityROC : Measures the planned rates.

    Notes
    -----
    For each number of people, a thousand data sets are simulated and tested like an
    audit [1]_. The rules of 3 and 30 [2]_ are added for comparison. Errors of a person,
    or of two, are beta-binomial, and people's own rates lognormal. In groups with more
    than 400 clusters of errors, fewer people are simulated and their sums scaled up.
    All pairs within a group are compared, at a given threshold. A threshold set on the
    same data changes the error of a rate.

    In a pilot, let E be the errors of K people, own their variance within clusters and
    variance the total. The correlation is (own / (E (1 - rate)) - 1) / (c - 1), and the
    variation is (variance - own) K / (4 E**2).

    References
    ----------
    .. [1] Fogliato, R., Patil, P., & Perona, P. (2024). Confidence Intervals for Error
       Rates in 1:1 Matching Tasks. IJCV. The variance of dependent pairs.
    .. [2] Doddington, G., Przybocki, M., Martin, A., & Reynolds, D. (2000). The NIST
       speaker recognition evaluation. Speech Communication 31. The rule of 30; ISO/IEC
       19795-1 has it too, and the rule of 3.

    Examples
    --------
    >>> from skfairfr.metrics import plan_test
    >>> plan = plan_test(max_fmr=1e-4, images_per_person=4)
    >>> dict(zip(plan.basis.tolist(), plan.people.astype(int).tolist()))
    {'rule of 30': 275, 'independent errors': 216, 'dependent errors': 696}
    """
    limits, left_out, levels, confidence_level = _read_policy(
        policy, far, confidence_level
    )
    given = {
        "max_fmr": max_fmr,
        "max_fnmr": max_fnmr,
        "max_fpir": max_fpir,
        "detect_factor": detect_factor,
    }
    given = {k: _checked(k, v) for k, v in given.items() if v is not None}
    of_fmr = [v for v in (given.get("max_fmr"), limits.get("max_fmr")) if v]
    others = {*given, *limits} - {"max_fmr", "max_fpir"}
    at = [*of_fmr, *(levels if others or not of_fmr else [])]
    bases, pilot_errors, shown = _bases(
        dependence, pilot, min(at or [USUAL_FAR]), threshold, attempts_per_person
    )
    n_groups = shown["n_groups"] if n_groups is None else n_groups
    n_groups = check_count(n_groups, "n_groups", 1, MOST_GROUPS)
    images = check_count(images_per_person, "images_per_person", 1, MOST_IMAGES)
    check_option(rate, "rate", RATES)
    n_tests, frr_of = min(images, len(RATES)) * (len(levels) or USUAL_LEVELS), "frr"
    if attempts_per_person is not None:
        images, frr_of = attempts_per_person, "attempt"
        limits, more = _of_attempts(given, limits, rate)
        left_out, n_tests = left_out + more, 1
    if comparisons is None:
        comparisons = max(n_groups - 1, 1) * n_tests
    test = {
        "images_per_person": images,
        "n_groups": n_groups,
        "power": _checked("power", power),
        "confidence_level": _checked("confidence_level", confidence_level),
        "comparisons": check_count(comparisons, "comparisons", 1),
    }
    assumed = _checked("assumed", assumed)
    frr = _checked("frr", shown["frr"] if frr is None else frr)
    base = {"far": levels or [USUAL_FAR], "frr": [frr], "attempt": [frr]}
    in_trials = {"frr": frr_of}
    asked = []
    for name, limit in (*given.items(), *limits.items()):
        if name == "detect_factor":
            of = in_trials.get(rate, rate)
            asked += [_Asked("detect", of, 1.0, true, limit) for true in base[of]]
            continue
        of, of_ratio = LIMITS[name]
        of = in_trials.get(of, of)
        trues = base[of] if of_ratio else [limit * assumed]
        asked += [_asked(of, limit, true, assumed) for true in trues]
    _check_asked(asked, n_groups, images)
    rows = [row for a in asked for row in _rows(a, bases, test)]
    columns = {key: np.array([row[key] for row in rows]) for key in rows[0]}
    known = [*bases.values()][-1]
    return Plan(
        **columns,
        **test,
        dependence=known,
        pilot_errors=pilot_errors,
        left_out=left_out,
    )


@dataclass(frozen=True)
class _Asked:
    """A question, and what is assumed to be true."""

    kind: str
    rate: str
    limit: float
    true_rate: float
    true_ratio: float = 1.0
    reason: str = ""

    @property
    def question(self):
        """The question as a sentence."""
        name, true = NAMES[self.rate], f"{100 * self.true_rate:g} %"
        limit = f"{self.limit:g}" if self.limit >= 1 else f"{100 * self.limit:g} %"
        ratio = f"{self.true_ratio:g}"
        if self.kind == "detect":
            return f"To detect that the {name} of a group is {ratio} times that of the reference, {true}"
        if self.kind == "certify":
            return f"To certify that every group's {name} is at most {limit}, if it is {true}"
        if self.limit < 1:
            return (
                f"To show that not every group's {name} is at most {limit}, if that of one "
                f"is {true}"
            )
        goal = "all" if self.kind == "pass" else "not all"
        return (
            f"To show that {goal} ratios of two groups' {name} are at most {limit}, if the "
            f"largest is {ratio} and the smaller {name} {true}"
        )


def _asked(rate, limit, true, assumed):
    """About a limit of every group's rate, or of the ratio of two."""
    of_ratio, reason = limit >= 1, ""
    kind = "fail" if assumed > 1 else "pass" if of_ratio else "certify"
    if of_ratio and assumed == 1:
        reason = "can be neither passed nor failed: the assumed ratio is at the limit"
    elif assumed == 1:
        reason = f"cannot be certified: the assumed {NAMES[rate]}, {100 * true:g} %, is at the limit"
    elif true >= 1:
        reason = (
            f"the assumed {NAMES[rate]} would be {100 * true:g} %; give a smaller share"
        )
    ratio = 1 + assumed * (limit - 1) if of_ratio else 1.0
    return _Asked(kind, rate, limit, true, ratio, reason)


def _rows(asked, bases, test):
    """A row, as a dict, for each basis of a question."""
    about = {**vars(asked), "question": asked.question}
    none = dict.fromkeys(_NUMBERS, math.nan) | {"people": math.inf}
    if asked.reason:
        return [about | none | {"basis": "none"}]
    even = _simulated(asked, Dependence(0.0, 0.0), test)
    rule, wanted = "rule of 3", 3 / asked.limit
    if asked.true_rate > 0:
        rule, wanted = "rule of 30", 30 / asked.true_rate
    enough = first_number(lambda k: even.setting.pairs(k) >= wanted, 2)
    found = [(rule, even, enough)]
    for basis, dependence in bases.items():
        question = _simulated(asked, dependence[DEPENDS[asked.rate]], test)
        found.append((basis, question, fewest_people(question, test["power"])))
    rows = []
    for basis, question, people in found:
        row = none | {"reason": "more than ten million people"}
        if people is not None:
            pairs = question.setting.pairs(people)
            answered, bounds = question.answers(people)
            row = {"people": float(people), "pairs": pairs, "reason": ""}
            row |= {"expected_errors": pairs * asked.true_rate}
            row |= {"bound": np.median(bounds), "chance": answered.mean()}
        rows.append(about | row | {"basis": basis})
    return rows


def _simulated(asked, dependence, test):
    """The setting to simulate. The first group has the largest rate."""
    rates = (asked.true_rate * asked.true_ratio,)
    if asked.kind != "fail" or asked.limit >= 1:
        rates += (asked.true_rate,) * (test["n_groups"] - 1)
    known = dependence.correlation, dependence.variation
    return PlanGoal(
        Setting(asked.rate, rates, test["images_per_person"], *known),
        *(asked.kind, asked.limit, test["n_groups"]),
        *(test["confidence_level"], test["comparisons"]),
    )


# ---- arguments -----------------------------------------------------------------------

_SHARE = (lambda x: 0 < x < 1, "must be a number in (0, 1)")
_FACTOR = (lambda x: 1 < x < math.inf, "must be a finite number above 1")
# Argument -> its range, and that in words.
_RANGES = {
    "correlation": (lambda x: 0 <= x <= 1, "must be a number in [0, 1]"),
    "variation": (lambda x: 0 <= x <= 100, "must be a number in [0, 100]"),
    "assumed": (
        lambda x: 0 <= x < math.inf,
        "must be a finite number of at least 0: 0 for no error and equal groups, 1 for the "
        "limit itself",
    ),
    "confidence_level": (lambda x: 0.5 < x < 1, "must be a number in (0.5, 1)"),
    **dict.fromkeys(("detect_factor", "max_fmr_ratio", "max_fnmr_ratio"), _FACTOR),
    **dict.fromkeys(UNPLANNED, _FACTOR),
    **dict.fromkeys(("max_dcf", "max_cllr"), COST),
}


def _checked(name, value):
    """An argument, or a limit, as a float, or an error where it is out of its range."""
    return check_number(value, name, *_RANGES.get(name, _SHARE))


def _read_policy(policy, far, confidence_level):
    """Limits by name, what is not planned for, FAR levels and confidence level."""
    limits, left_out = {}, ()
    if policy is not None:
        limits = policy if isinstance(policy, Mapping) else getattr(policy, "limits", 0)
        if not isinstance(limits, Mapping):
            raise refused(
                "policy",
                policy,
                "must be a mapping of limits, as {'max_fmr': 1e-4} is, or have one as its "
                f"attribute limits; got {plain(policy)!r}.",
            )
        known = (*LIMITS, *UNPLANNED)
        for name in limits:
            if name not in known:
                raise refused(
                    "policy",
                    getattr(policy, "name", limits),
                    f"has an unknown limit, {plain(name)!r}.",
                    f"{suggestion(name, known)}Known are {', '.join(known)}.",
                )
        limits = {name: _checked(name, limit) for name, limit in limits.items()}
        left_out = tuple(name for name in UNPLANNED if limits.pop(name, None))
        left_out += ("at",) if getattr(policy, "at", None) else ()
        if left_out and not limits:
            raise refused(
                "policy",
                getattr(policy, "name", policy),
                f"contains nothing that can be planned for, only {', '.join(left_out)}.",
                f"Give one of {', '.join(LIMITS)} for all levels.",
            )
    of_policy = None if isinstance(policy, Mapping) else getattr(policy, "fmr", None)
    far = far if of_policy is None or np.size(of_policy) == 0 else of_policy
    levels = [] if far is None else np.unique(check_level(far)).tolist()
    if confidence_level is None:
        confidence_level = getattr(policy, "confidence_level", 0.95)
    return limits, left_out, levels, confidence_level


def _of_attempts(given, limits, rate):
    """Limits about rejected attempts, and names of others. Raise for other questions."""
    for name in ("max_fmr", "max_fpir"):
        if name in given:
            problem = "is no question about rejected attempts;"
            raise refused(name, given[name], problem, "leave it out.")
    if "detect_factor" in given and rate != "frr":
        problem = "is not that of rejected attempts;"
        raise refused("rate", rate, problem, "give rate='frr' (--rate fnmr).")
    kept = {n: v for n, v in limits.items() if "_fmr" not in n and n != "max_fpir"}
    return kept, tuple(limits.keys() - kept.keys())


def _bases(dependence, pilot, far, threshold, attempts=None):
    """Basis -> rate -> Dependence; rate -> a pilot's (errors, level); what it shows."""
    # Number of groups, and FRR, if no pilot shows them.
    usual = {"n_groups": 2, "frr": USUAL_FRR}
    if pilot is None:
        if threshold is not None:
            raise refused("threshold", threshold, "is that of a pilot;", "give one.")
        bases = {INDEPENDENT: Dependence(0.0, 0.0), DEPENDENT: Dependence()}
        bases = bases if dependence is None else {"given dependence": dependence}
        return {name: _by_rate(known) for name, known in bases.items()}, {}, usual
    if dependence is not None:
        raise refused(
            "dependence", None, "and pilot were both given;", "leave one out."
        )
    if not isinstance(pilot, SimilarityROC):
        raise refused(
            "pilot", pilot, f"must be a fitted SimilarityROC; got {plain(pilot)!r}."
        )
    check_is_fitted(pilot)
    if pilot._engine.pairs.images.n_drawn is not None:
        raise refused(
            "pilot",
            None,
            "names no people, so that it cannot show how errors depend on each other;",
            "name whom the two images of each pair show, or leave it out.",
        )
    if threshold is None and not pilot.n_impostor_[0]:
        raise refused(
            "threshold",
            None,
            "is missing, and the pilot has no impostor pair, so that no level of the FMR sets "
            "one;",
            "give the threshold at which its system accepts.",
        )
    known, pilot_errors, n_groups = {}, {}, []
    for rate in RATES:
        # Levels with more errors, from the one that is asked about on.
        steps = 10.0 ** (np.arange(3) if rate == "far" else -np.arange(3))
        levels = np.minimum(far * steps, pilot._engine.far_max)
        if threshold is not None:
            levels = np.array([np.nan])  # of the FAR. The threshold was given
        sums = [_sums_of_pilot(pilot, rate, at, threshold) for at in levels.tolist()]
        if sums[0] is None:
            known[rate] = Dependence()
            continue
        errors = np.array([of_level.errors.sum() for of_level in sums])
        place = int(np.argmax(np.minimum(errors, ENOUGH_ERRORS)))
        known[rate] = _shown_by(sums[place])
        if attempts is not None:
            known[rate] = _as_uneven(pilot, sums[place], known[rate], attempts)
        pilot_errors[rate] = round(errors[place]), float(levels[place])
        n_groups.append(sums[0].errors.size)
        if rate == "frr" and errors[0]:
            usual["frr"] = min(errors[0] / sums[0].pairs.sum(), 1 - USUAL_FRR)
    if pilot.groups_.size > 1:
        usual["n_groups"] = max(n_groups, default=2)
    return {"pilot": known}, pilot_errors, usual


def _sums_of_pilot(roc, rate, far, threshold):
    """ErrorSums of the groups, or of everybody, at a level or threshold, each (n_groups,)."""
    engine = roc._engine
    how = "gini" if roc.groups_.size > 1 else None
    far = far if threshold is None else None
    question = engine.question(far, threshold, rate, None, how, "overall")
    with warnings.catch_warnings():
        # A level that the pilot cannot resolve shows no error, which is no fault here.
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        evidence = engine.evidence(question)
    return None if evidence is None else evidence.sums.rows(0)


def _shown_by(sums):
    """The Dependence of the errors of all groups together. The usual one without any."""
    errors = sums.errors.sum()
    wrong = (sums.errors * (1 - sums.rate)).sum()
    if not wrong:
        return Dependence()
    single, cluster = (
        sums.errors @ sums.single / errors,
        sums.errors @ sums.clustered / errors,
    )
    correlation = 0.0
    if cluster > single:
        correlation = (sums.own.sum() / wrong - single) / (cluster - single)
    between = ((sums.variance - sums.own) * sums.people / 4).sum()
    variation = between / (sums.errors**2).sum()
    return Dependence(
        float(np.clip(correlation, 0, 1)), float(np.clip(variation, 0, 100))
    )


def _as_uneven(pilot, sums, known, attempts):
    """The Dependence if everybody has so many attempts, with the variance of unequal ones.

    Errors of n attempts of a person vary 1 + correlation (n - 1) times as much, and n is here
    the mean weighted by attempts, in proportion to the attempts that are planned.
    """
    if attempts < 2:
        return known
    pairs = pilot._engine.pairs
    mean = pairs.count(None, "frr") / people_with_pairs(pairs, None, "frr")
    weighted = (sums.pairs @ sums.clustered) / sums.pairs.sum() / mean * attempts
    correlation = known.correlation * (weighted - 1) / (attempts - 1)
    return replace(known, correlation=float(np.clip(correlation, 0, 1)))


def _by_rate(dependence):
    """A Dependence for either rate."""
    if isinstance(dependence, Dependence):
        return dict.fromkeys(RATES, dependence)
    if not isinstance(dependence, Mapping) or not all(
        isinstance(dependence.get(rate), Dependence) for rate in RATES
    ):
        raise refused(
            "dependence",
            dependence,
            "must be a Dependence, or a dict with one for 'far' and one for 'frr'; got "
            f"{plain(dependence)!r}.",
        )
    return {rate: dependence[rate] for rate in RATES}


def _check_asked(asked, n_groups, images):
    """Raise unless there is a question, and groups and images for all of them."""
    if not asked:
        raise ValueError(
            "Nothing was asked. Give max_fmr, max_fnmr, max_fpir, detect_factor "
            "or policy."
        )
    if images < 2 and any(a.rate == "frr" for a in asked):
        problem = f"{images!r} leaves no genuine pair, which an FNMR needs."
        raise refused("images_per_person", images, problem, "Give 2 or more.")
    for a in asked:
        if a.limit >= 1 and n_groups < 2:
            problem = f"{n_groups!r} has no two rates to compare."
            raise refused("n_groups", n_groups, problem, "Give 2 or more.")
        if a.limit >= 1 and a.true_rate * a.true_ratio >= 1:
            problem = f"{a.true_rate:g} times {a.true_ratio:g} is no rate below 1."
            raise refused(a.rate, a.true_rate, problem, "Give a smaller one.")
