"""How many people a test needs, before it is made.

The simulation, judged as the data will be, is in ``_core/_planning.py``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skfairfr._core._planning import PlanGoal, Setting, fewest_people, first_number
from skfairfr._text._words import RATES
from skfairfr.metrics._pairs._costs import COST
from skfairfr.metrics._plan_result import (
    DEPENDS,
    MOST_IMAGES,
    NAMES,
    NUMBERS,
    Dependence,
    Plan,
    dependence_by_basis,
)
from skfairfr.metrics._roc._similarity_roc import SimilarityROC
from skfairfr.utils._errors import invalid, plain, suggestion
from skfairfr.utils._validation import (
    check_count,
    check_level,
    check_number,
    check_option,
)

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
USUAL_FAR = 1e-3
# Number of FAR levels of an audit without levels of its own.
USUAL_LEVELS = 2
MOST_GROUPS = 50


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
       speaker recognition evaluation. Speech Communication 31. The rule of 30. ISO/IEC
       19795-1 has it too, and the rule of 3.

    Examples
    --------
    >>> from skfairfr.metrics import plan_test
    >>> plan = plan_test(max_fmr=1e-4, images_per_person=4)
    >>> dict(zip(plan.basis.tolist(), plan.people.astype(int).tolist()))
    {'rule of 30': 275, 'independent errors': 216, 'dependent errors': 696}
    """
    read = _read_policy(policy, far, confidence_level)
    limits, left_out, levels, confidence_level = read
    given = {"max_fmr": max_fmr, "max_fnmr": max_fnmr, "max_fpir": max_fpir}
    given |= {"detect_factor": detect_factor}
    given = {k: _checked(k, v) for k, v in given.items() if v is not None}
    of_fmr = [v for v in (given.get("max_fmr"), limits.get("max_fmr")) if v]
    others = {*given, *limits} - {"max_fmr", "max_fpir"}
    at = [*of_fmr, *(levels if others or not of_fmr else [])]
    bases, pilot_errors, shown = dependence_by_basis(
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
    base = {"far": levels or [USUAL_FAR], frr_of: [frr]}
    questions = []
    for name, limit in (*given.items(), *limits.items()):
        of, of_ratio = LIMITS.get(name, (rate, True))
        of = frr_of if of == "frr" else of
        for true in base[of] if of_ratio else [limit * assumed]:
            if name == "detect_factor":
                questions.append(_Question("detect", of, 1.0, true, limit))
            else:
                questions.append(_Question.of_limit(of, limit, true, assumed))
    _check_questions(questions, n_groups, images)
    rows = [row for one in questions for row in _rows(one, bases, test)]
    columns = {key: np.array([row[key] for row in rows]) for key in rows[0]}
    known = {"dependence": [*bases.values()][-1], "pilot_errors": pilot_errors}
    known["pilot_largest"] = shown["largest"]
    return Plan(**columns, **test, **known, left_out=left_out)


@dataclass(frozen=True)
class _Question:
    """A question, and what is assumed to be true."""

    kind: str
    rate: str
    limit: float
    true_rate: float
    true_ratio: float = 1.0
    reason: str = ""

    @classmethod
    def of_limit(cls, rate, limit, true, assumed):
        """About a limit of every group's rate, or of the ratio of two."""
        of_ratio, reason = limit >= 1, ""
        kind = "fail" if assumed > 1 else "pass" if of_ratio else "certify"
        if of_ratio and assumed == 1:
            reason = "cannot be passed or failed: the assumed ratio is at the limit"
        elif assumed == 1:
            reason = f"cannot be certified: the assumed {NAMES[rate]}, {100 * true:g} %, is at the limit"
        elif true >= 1:
            reason = f"the assumed {NAMES[rate]} would be {100 * true:g} %: set a smaller share"
        ratio = 1 + assumed * (limit - 1) if of_ratio else 1.0
        return cls(kind, rate, limit, true, ratio, reason)

    @property
    def sentence(self):
        """The question as the start of a sentence."""
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


def _rows(question, bases, test):
    """A row, as a dict, for each basis of a question."""
    about = {**vars(question), "question": question.sentence}
    none = dict.fromkeys(NUMBERS, math.nan) | {"people": math.inf}
    if question.reason:
        return [about | none | {"basis": "none"}]
    even = _goal(question, Dependence(0.0, 0.0), test)
    rule, wanted = "rule of 3", 3 / question.limit
    if question.true_rate > 0:
        rule, wanted = "rule of 30", 30 / question.true_rate
    enough = first_number(lambda k: even.setting.pairs(k) >= wanted, 2)
    found = [(rule, even, enough)]
    for basis, dependence in bases.items():
        goal = _goal(question, dependence[DEPENDS[question.rate]], test)
        found.append((basis, goal, fewest_people(goal, test["power"])))
    rows = []
    for basis, goal, people in found:
        row = none | {"reason": "more than ten million people"}
        if people is not None:
            pairs = goal.setting.pairs(people)
            answered, bounds = goal.answers(people)
            row = {"people": float(people), "pairs": pairs, "reason": ""}
            row |= {"expected_errors": pairs * question.true_rate}
            row |= {"bound": np.median(bounds), "chance": answered.mean()}
        rows.append(about | row | {"basis": basis})
    return rows


def _goal(question, dependence, test):
    """The PlanGoal to simulate. The first group has the largest rate."""
    rates = (question.true_rate * question.true_ratio,)
    if question.kind != "fail" or question.limit >= 1:
        rates += (question.true_rate,) * (test["n_groups"] - 1)
    known = dependence.correlation, dependence.variation
    return PlanGoal(
        Setting(question.rate, rates, test["images_per_person"], *known),
        *(question.kind, question.limit, test["n_groups"]),
        *(test["confidence_level"], test["comparisons"]),
    )


# ---- arguments -----------------------------------------------------------------------

_SHARE = (lambda x: 0 < x < 1, "must be a number in (0, 1)")


_FACTOR = (lambda x: 1 < x < math.inf, "must be a finite number above 1")
# Argument -> its range, and that in words.
_RANGES = {
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
            problem = "must be a mapping of limits, as {'max_fmr': 1e-4} is, or have one as its "
            problem += f"attribute limits, got {plain(policy)!r}."
            raise invalid("policy", policy, problem)
        known, called = (*LIMITS, *UNPLANNED), getattr(policy, "name", policy)
        for name in limits:
            if name not in known:
                problem = f"has an unknown limit, {plain(name)!r}."
                remedy = f"{suggestion(name, known)}Known are {', '.join(known)}."
                raise invalid("policy", called, problem, remedy)
        limits = {name: _checked(name, limit) for name, limit in limits.items()}
        left_out = tuple(name for name in UNPLANNED if limits.pop(name, None))
        left_out += ("at",) if getattr(policy, "at", None) else ()
        if left_out and not limits:
            problem = "contains nothing that can be planned for, only "
            remedy = f"Give one of {', '.join(LIMITS)} for all levels."
            problem += f"{', '.join(left_out)}."
            raise invalid("policy", called, problem, remedy)
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
            raise invalid(name, given[name], problem, "leave it out.")
    if "detect_factor" in given and rate != "frr":
        problem = "is not that of rejected attempts;"
        raise invalid("rate", rate, problem, "give rate='frr' (--rate fnmr).")
    kept = {n: v for n, v in limits.items() if "_fmr" not in n and n != "max_fpir"}
    return kept, tuple(limits.keys() - kept.keys())


def _check_questions(questions, n_groups, images):
    """Raise unless there is a question, and groups and images for all of them."""
    if not questions:
        raise ValueError(
            "Nothing was asked. Give max_fmr, max_fnmr, max_fpir, detect_factor "
            "or policy."
        )
    if images < 2 and any(one.rate == "frr" for one in questions):
        problem = f"{images!r} leaves no genuine pair, which an FNMR needs."
        raise invalid("images_per_person", images, problem, "Give 2 or more.")
    for one in questions:
        if one.limit >= 1 and n_groups < 2:
            problem = f"{n_groups!r} has no two rates to compare."
            raise invalid("n_groups", n_groups, problem, "Give 2 or more.")
        if one.limit >= 1 and one.true_rate * one.true_ratio >= 1:
            problem = f"{one.true_rate:g} times {one.true_ratio:g} is no rate below 1."
            raise invalid(one.rate, one.true_rate, problem, "Give a smaller one.")
