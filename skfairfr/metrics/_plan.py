"""How many people a test needs, before it is made.

The arithmetic, with the formulas that later judge the data, is in ``_core/_planning.py``.
"""

import math
import textwrap
import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils.validation import check_is_fitted

from skfairfr._core._old_few_errors import PRIOR_CORRELATION, PRIOR_VARIATION
from skfairfr._core._old_few_errors import dependence as dependence_of
from skfairfr._core._planning import (
    RateAbove,
    RateWithin,
    RatioJudged,
    Setting,
    fewest_people,
    first_number,
)
from skfairfr.metrics._roc._similarity_roc import SimilarityROC
from skfairfr.utils._errors import Argument, ArgumentError, plain, suggestion
from skfairfr.utils._frames import Framed
from skfairfr.utils._validation import (
    check_count,
    check_level,
    check_option,
    to_float,
)

RATES = ("far", "frr")
# Limit -> the rate that it limits, and whether it is about the ratio of two.
LIMITS = {
    "max_fmr": ("far", False),
    "max_fnmr": ("frr", False),
    "max_far_ratio": ("far", True),
    "max_frr_ratio": ("frr", True),
}
# Limits of a policy that no plan is made for.
UNPLANNED = ("max_bfar", "max_bfrr")
WHY_UNPLANNED = (
    "judged where no group's FAR exceeds a level, at a threshold that the data of the test "
    "set"
)
USUAL_FRR = 0.01
MOST = np.finfo(np.float64).max
# The search looks at all groups, and counts pairs of images, in each of its steps.
MOST_GROUPS, MOST_IMAGES = 1000, 1_000_000
ISO = {"far": "FMR", "frr": "FNMR"}
# What the rules of thumb ask for, where they are in a table.
RULES = {
    "rule of 3": "rule of 3: 3 / limit pairs; if none of them errs and they are independent, "
    "the upper 95 % bound of the rate is about the limit.",
    "rule of 30": "rule of 30: enough pairs to expect 30 errors.",
}


@dataclass(frozen=True)
class Dependence:
    """How errors depend on each other: those of one person, or of the same two people.

    Parameters
    ----------
    correlation : float in [0, 1], default=0.5
        Between errors of two pairs of images of the same person (FRR) or of the same two
        people (FAR). If it is 1, all pairs of a person err together.
    variation : float of at least 0, default=1.0
        Squared coefficient of variation of people's own rates. It matters for the FAR,
        where one person is in pairs with all others.
    lent : float in [0, 1], default=None
        The correlation where errors are many, at a FAR of 0.01 or a FRR of 0.1: an audit
        borrows from there where errors are few. None is ``correlation``.

    Raises
    ------
    ValueError
        If a number is out of its range.

    See Also
    --------
    plan_test : Takes it.

    Notes
    -----
    The defaults are what an audit assumes where there is no error to learn from. With m
    images of each person, errors vary by phi = 1 + correlation (c - 1) times as much as
    if pairs were independent, with c = m**2 for the FAR and m (m - 1) / 2 for the FRR;
    with K people the logarithm of the FAR varies by 4 variation / K more.

    Examples
    --------
    >>> from skfairfr.metrics import Dependence
    >>> Dependence(correlation=0.25).inflation("far", images_per_person=2)
    1.75
    """

    correlation: float = PRIOR_CORRELATION
    variation: float = PRIOR_VARIATION
    lent: float | None = None

    def __post_init__(self):
        if self.lent is None:
            object.__setattr__(self, "lent", self.correlation)
        for name in ("correlation", "variation", "lent"):
            object.__setattr__(self, name, _to_float(getattr(self, name), name))

    def inflation(self, rate, images_per_person):
        """By how much errors vary more than those of independent pairs: phi.

        Parameters
        ----------
        rate : {"far", "frr"}
        images_per_person : int
            From 1 to a million.

        Returns
        -------
        phi : float
            At least 1.

        Raises
        ------
        ValueError
            If the rate is none of the two, or the number of images is out of its range.
        """
        check_option(rate, "rate", RATES)
        m = check_count(images_per_person, "images_per_person", 1, MOST_IMAGES)
        clump = m**2 if rate == "far" else max(m * (m - 1) / 2, 1)
        return float(1 + self.correlation * (clump - 1))


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
        "far" or "frr".
    limit : ndarray, shape (n_rows,)
        Of the rate, or of the ratio of two; 1 where a difference is to be detected.
    true_rate : ndarray, shape (n_rows,)
        Assumed: the smallest of the groups' rates.
    true_ratio : ndarray, shape (n_rows,)
        Assumed: of the largest to the smallest.
    basis : ndarray of str, shape (n_rows,)
        "rule of 3" or "rule of 30" (as many errors are expected), "independent pairs", and
        "assumed dependence", "given dependence" or "pilot"; "none" where what is assumed rules the answer out.
    people : ndarray, shape (n_rows,)
        Per group; inf where no number is enough, which ``reason`` explains.
    pairs : ndarray, shape (n_rows,)
        Within each group: impostor pairs for the FAR, genuine pairs for the FRR.
    expected_errors : ndarray, shape (n_rows,)
        In the group with the smallest rate.
    most_errors : ndarray, shape (n_rows,)
        Number of errors of a group with which its rate is still certified; nan for other
        kinds.
    bound : ndarray, shape (n_rows,)
        One-sided bound of the rate, or bound of the ratio, that is compared with the
        limit, where errors are as expected.
    chance : ndarray in [0, 1], shape (n_rows,)
        Probability of the answer with so many people: certified, detected, passed, failed.
    reason : ndarray of str, shape (n_rows,)
        Why no number of people is enough; else empty.
    images_per_person, groups, comparisons : int
        As they were given to :func:`plan_test`.
    power, confidence_level : float in (0, 1)
        As they were given.
    dependence : dict of str -> Dependence
        Of either rate.
    left_out : tuple of str
        What was not planned for of the policy: "max_bfar", "max_bfrr" and "at".

    Raises
    ------
    dataclasses.FrozenInstanceError
        If an attribute is assigned to.

    See Also
    --------
    plan_test : Returns it.
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
    most_errors: np.ndarray
    bound: np.ndarray
    chance: np.ndarray
    reason: np.ndarray
    images_per_person: int
    groups: int
    power: float
    confidence_level: float
    comparisons: int
    dependence: dict
    left_out: tuple = ()

    def _columns(self):
        """One row for each question and basis."""
        columns = super()._columns()
        del columns["dependence"], columns["left_out"]
        return columns

    def to_text(self):
        """Give the plan in words, with all that was assumed.

        Returns
        -------
        text : str
            Of several lines.
        """
        lines = [
            f"People per group, {_count(self.images_per_person, 'image')} of each person"
        ]
        if self.left_out:
            lines += _wrapped(f"Not planned for: {_unplanned(self.left_out)}.", "  ")
        for question in dict.fromkeys(self.question.tolist()):
            rows = np.flatnonzero(self.question == question)
            lines += ["", *_wrapped(f"{question}:", "  ")]
            if self.basis[rows[0]] == "none":
                lines.append(f"  {self.reason[rows[0]]}")
            else:
                lines += self._table(rows)
        if np.isfinite(self.people).any():
            lines += ["", "Assumed:"]
            for text in self._assumptions():
                lines += _wrapped(f"- {text}", "  ")
        return "\n".join([*lines, ""])

    def _table(self, rows):
        """A line of titles, and one for each basis."""
        cells = [["basis", "people", "pairs", "errors", "bound", "chance"]]
        certified = self.kind[rows[0]] == "certify"
        cells[0] += ["allowed"] * certified
        for row in rows:
            line = [self.basis[row], *_FORMATS[0].format(self.people[row]).split()]
            if not self.reason[row]:
                for name, form in zip(_NUMBERS, _FORMATS[1:], strict=True):
                    line.append(form.format(getattr(self, name)[row]))
                most = self.most_errors[row]
                line += ["none" if most < 0 else f"{most:,.0f}"] * certified
            else:
                line = [self.basis[row], self.reason[row]]
            cells.append(line)
        whole = [line for line in cells if len(line) == len(cells[0])]
        widths = [max(map(len, column)) for column in zip(*whole, strict=True)]
        widths[0] = max(len(line[0]) for line in cells)
        return [
            "  "
            + "  ".join(
                [line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]
            )
            for line in cells
        ]

    def _assumptions(self):
        """What the numbers rest on, each a sentence or two."""
        level = f"{100 * self.confidence_level:g} %"
        people = "1 group."
        if self.groups > 1:
            people = f"{self.groups} groups of as many people each."
        yield (
            f"{people} All pairs within a group are compared, at a threshold that other data "
            "set."
        )
        yield (
            "errors: expected in the group with the smallest rate. bound: what is compared "
            "with the limit if errors are as expected. chance: probability of the answer, "
            f"of which at least {self.power:g} was asked for."
        )
        if "certify" in self.kind:
            yield (
                f"The upper one-sided {level} bound of every group's rate must stay within "
                "the limit. allowed: errors of a group with which it does."
            )
        if ((self.kind == "fail") & (self.limit < 1)).any():
            yield (
                f"The lower one-sided {level} bound of a group's rate, which holds for all "
                "groups at once, must exceed the limit."
            )
        if (self.limit >= 1).any():
            yield (
                f"Bounds of ratios are two-sided, at {level}, widened for "
                f"{_count(self.comparisons, 'comparison')}."
            )
        rules = [text for name, text in RULES.items() if name in self.basis]
        yield " ".join(
            [*rules, "independent pairs: as if every pair had people of its own."]
        )
        for basis in ("assumed dependence", "given dependence", "pilot"):
            if basis in self.basis:
                yield from map(
                    self._dependence_in_words, dict.fromkeys(self.rate), [basis] * 2
                )
        if "assumed dependence" in self.basis:
            yield (
                "An audit assumes this dependence where there is no error to learn from. "
                "A pilot replaces it."
            )

    def _dependence_in_words(self, rate, basis):
        found = self.dependence[str(rate)]
        phi = found.inflation(str(rate), self.images_per_person)
        times = "" if f"{phi:.3g}" == "1" else f"{phi:.3g} times "
        text = (
            f"{basis}, {ISO[str(rate)]}: errors vary {times}as much as independent "
            f"ones (correlation {found.correlation:.3g})"
        )
        if rate == "far":
            text += (
                f", and people's own rates differ (coefficient of variation "
                f"{math.sqrt(found.variation):.3g})"
            )
        return f"{text}."


_NUMBERS = ("pairs", "expected_errors", "bound", "chance")
_FORMATS = ("{:,.0f}", "{:,.0f}", "{:,.1f}", "{:.3g}", "{:.2f}")


def _count(n, thing):
    return f"{n} {thing}{'s' * (n != 1)}"


def _unplanned(left_out):
    """What a policy asks and no plan answers, in words."""
    limits = [name for name in left_out if name in UNPLANNED]
    texts = [f"{' and '.join(limits)} ({WHY_UNPLANNED})"] if limits else []
    if "at" in left_out:
        texts.append("limits of single levels or thresholds (at)")
    return ", ".join(texts)


def _wrapped(text, indent):
    """Lines of at most 88 characters, all but the first indented."""
    return textwrap.wrap(text, 88, subsequent_indent=indent)


def plan_test(
    *,
    certify_fmr=None,
    certify_fnmr=None,
    detect_factor=None,
    rate="far",
    policy=None,
    far=1e-3,
    frr=None,
    assumed=0.0,
    groups=2,
    images_per_person=2,
    power=0.8,
    confidence_level=None,
    comparisons=None,
    dependence=None,
    pilot=None,
):
    """Plan a test: how many people per group it takes to get an answer.

    Questions are to certify that the rate of every group is within a limit
    (``certify_fmr``, ``certify_fnmr``), to detect that the rates of two groups differ by a
    ``detect_factor``, and to pass or fail a ``policy``; several may be asked at once. Lower
    rates are better. Each question is answered as if pairs were independent, and with the
    dependence of errors that an audit allows for.

    Parameters
    ----------
    certify_fmr, certify_fnmr : float in (0, 1), default=None
        Certify that every group's FAR, or FRR, is at most this: its upper one-sided bound
        stays within.
    detect_factor : float above 1, default=None
        Detect that one group's rate is so many times that of the others, by a two-sided
        test at 1 - ``confidence_level``.
    rate : {"far", "frr"}, default="far"
        The one that ``detect_factor`` is about.
    policy : mapping or object, default=None
        Limits by name: ``max_fmr`` and ``max_fnmr`` of every group's rate,
        ``max_far_ratio`` and ``max_frr_ratio`` of the largest to the smallest. Or an object
        with such a mapping as its attribute ``limits``, and ``far``, ``confidence_level``.
        ``max_bfar``, ``max_bfrr`` and limits of single levels (``at``) are not planned for;
        a policy of nothing else is an error.
    far : float in (0, 1), or several, default=1e-3
        FAR of the groups that have the smaller one, for ``detect_factor`` and ``max_far_ratio``;
        of a policy object, its own.
    frr : float in (0, 1), default=None
        FRR of the groups that have the smaller one, for ``detect_factor`` and
        ``max_frr_ratio``; None is that of the pilot, or 0.01.
    assumed : float of at least 0, default=0.0
        What is true, as a share of the way from no error, or equal groups, to the limit:
        with 0.5 the FMR is half of ``certify_fmr``, and a limit of 2 for ratios is met with
        1.5. Above 1 the plan of a policy is one for its failure.
    groups : int, default=2
        Number of groups, at most 1000, with as many people each; the first has the larger
        rate where rates differ.
    images_per_person : int, default=2
        Of everybody, at least 1, and 2 for the FRR; at most a million.
    power : float in (0, 1), default=0.8
        Probability with which the answer is to be got, in all groups at once.
    confidence_level : float in (0.5, 1), default=None
        Of the bounds and tests; None is that of a policy object, or 0.95.
    comparisons : int, default=None
        For how many comparisons of two groups tests and bounds of ratios are widened
        (Bonferroni); None is the number of pairs of groups. For an audit of several
        levels, rates or attributes give their total.
    dependence : Dependence, or dict of "far" and "frr" to one, default=None
        How errors depend on each other. None is what the pilot shows or, without one,
        what an audit assumes where it sees no errors.
    pilot : SimilarityROC, default=None
        Fitted, best with groups: its errors show the dependence, at the smallest FAR that
        is asked about or as near as its pairs allow.

    Returns
    -------
    plan : Plan
        One row for each question and basis, with ``to_text`` and ``to_frame``. Where no
        number of people is enough, ``people`` is inf, and ``reason`` says why.

    Raises
    ------
    ValueError
        If an argument is out of its range, or nothing was asked.

    See Also
    --------
    SimilarityROC : Measures what was planned.

    Notes
    -----
    Numbers are searched for with the formulas that judge the data: Wilson's bound [1]_ of
    the effective number of errors or the exact one, whichever is farther from the rate
    (that of a binomial number of errors where a rate must lie within its limit, of a Poisson
    number where it must be shown to lie above), and the F test of the ratio of two rates; the rules of 3 and 30
    [2]_ stand beside them. The number of errors is binomial, Poisson or negative
    binomial, as its variance demands. All pairs within a group are compared, at a given
    threshold; one that the same data set, for a level, adds an error of its own, or takes
    some away.

    References
    ----------
    .. [1] Fogliato, R., Patil, P., & Perona, P. (2024). Confidence Intervals for Error
       Rates in 1:1 Matching Tasks. IJCV. Wilson's interval with dependent pairs.
    .. [2] Doddington, G., Przybocki, M., Martin, A., & Reynolds, D. (2000). The NIST
       speaker recognition evaluation. Speech Communication 31. The rule of 30; ISO/IEC
       19795-1 has it too, and the rule of 3.

    Examples
    --------
    >>> from skfairfr.metrics import plan_test
    >>> plan = plan_test(certify_fmr=1e-4, images_per_person=1)
    >>> dict(zip(plan.basis.tolist(), plan.people.astype(int).tolist()))
    {'rule of 3': 246, 'independent pairs': 246, 'assumed dependence': 247}
    """
    limits, levels, confidence_level, left_out = _read_policy(
        policy, far, confidence_level
    )
    certify_fmr, certify_fnmr, detect_factor = (
        None if value is None else _to_float(value, name)
        for name, value in (
            ("certify_fmr", certify_fmr),
            ("certify_fnmr", certify_fnmr),
            ("detect_factor", detect_factor),
        )
    )
    at = [limit for limit in (certify_fmr, limits.get("max_fmr")) if limit is not None]
    if not at or detect_factor or certify_fnmr or len(limits) > ("max_fmr" in limits):
        at += levels
    known, frr_there = _known(dependence, pilot, min(at))
    frr = frr_there if frr is None else frr
    assumed, power, confidence_level, frr = (
        _to_float(value, name)
        for name, value in (
            ("assumed", assumed),
            ("power", power),
            ("confidence_level", confidence_level),
            ("frr", frr),
        )
    )
    groups = check_count(groups, "groups", 1, MOST_GROUPS)
    images = check_count(images_per_person, "images_per_person", 1, MOST_IMAGES)
    if comparisons is None:
        comparisons = max(groups * (groups - 1) // 2, 1)
    comparisons = check_count(comparisons, "comparisons", 1)
    check_option(rate, "rate", RATES)
    base = {"far": levels, "frr": [frr]}
    asked = []
    for of, limit in (("far", certify_fmr), ("frr", certify_fnmr)):
        if limit is not None:
            asked.append(_asked_of_rate(of, limit, assumed, True))
    if detect_factor is not None:
        asked += [_Asked("detect", rate, 1.0, a, detect_factor) for a in base[rate]]
    for name, limit in limits.items():
        kind, of_ratio = LIMITS[name]
        if of_ratio:
            asked += [_asked_of_ratio(kind, limit, assumed, a) for a in base[kind]]
        else:
            asked.append(_asked_of_rate(kind, limit, assumed, False))
    _check_asked(asked, groups, images)
    test = _Test(groups, images, power, confidence_level, comparisons)
    name = "pilot" if pilot is not None else "given dependence"
    name = "assumed dependence" if pilot is None and dependence is None else name
    rows = [row for a in asked for row in test.rows(a, name, known[a.rate])]
    columns = {key: np.array([row[key] for row in rows]) for key in rows[0]}
    return Plan(
        **columns,
        images_per_person=images,
        groups=groups,
        power=power,
        confidence_level=confidence_level,
        comparisons=comparisons,
        dependence=known,
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

    def words(self, groups):
        """The question as a sentence."""
        name = ISO[self.rate]
        if self.kind == "detect":
            return (
                f"To detect that the {name} of a group is {self.true_ratio:g} times that of "
                f"another, {self.true_rate:g}"
            )
        if self.limit < 1:
            goal = "certify that" if self.kind == "certify" else "show that not"
            return (
                f"To {goal} every group's {name} is at most {self.limit:g}, if it is "
                f"{self.true_rate:g}"
            )
        goal = "show that all" if self.kind == "pass" else "show that not all"
        return (
            f"To {goal} ratios of two groups' {name} are at most {self.limit:g}, if the "
            f"largest is {self.true_ratio:g} and the smaller {name} {self.true_rate:g}"
        )


def _asked_of_rate(rate, limit, assumed, only_certify):
    """About a limit of every group's rate; above it, only a policy can be failed."""
    true, name = limit * assumed, ISO[rate]
    if assumed < 1:
        return _Asked("certify", rate, limit, true)
    above = "at" if assumed == 1 else "above"
    if only_certify or assumed == 1:
        reason = (
            f"cannot be certified: the assumed {name}, {true:g}, is {above} the limit"
        )
        return _Asked("certify", rate, limit, true, reason=reason)
    if true >= 1:
        reason = f"the assumed {name} would be {true:g}; give a smaller share"
        return _Asked("fail", rate, limit, true, reason=reason)
    return _Asked("fail", rate, limit, true)


def _asked_of_ratio(rate, limit, assumed, smaller):
    """About a limit of the ratio of two groups' rates."""
    ratio = 1 + assumed * (limit - 1)
    if assumed == 1:
        reason = "can be neither passed nor failed: the assumed ratio is at the limit"
        return _Asked("pass", rate, limit, smaller, ratio, reason)
    kind = "pass" if assumed < 1 else "fail"
    return _Asked(kind, rate, limit, smaller, ratio)


@dataclass(frozen=True)
class _Test:
    """Who is compared, and how surely an answer is wanted."""

    groups: int
    images: int
    power: float
    confidence_level: float
    comparisons: int

    def rows(self, asked, basis, dependence):
        """A row, as a dict, for each basis of a question."""
        if asked.reason:
            return [self._row(asked, "none", None, None, asked.reason)]
        alone = self._question(asked)
        given = self._question(
            asked, dependence.correlation, dependence.variation, dependence.lent
        )
        few = asked.true_rate == 0
        wanted = 3 / asked.limit if few else 30 / asked.true_rate
        by_rule = first_number(lambda k: alone.setting.pairs(k) >= wanted, 2)
        return [
            self._row(asked, "rule of 3" if few else "rule of 30", alone, by_rule),
            *(
                self._row(asked, name, question, fewest_people(question, self.power))
                for name, question in (("independent pairs", alone), (basis, given))
            ),
        ]

    def _question(self, asked, *dependence):
        """What the arithmetic asks; the first group has the largest rate."""
        rates = (asked.true_rate * asked.true_ratio,)
        rates += (asked.true_rate,) * (self.groups - 1)
        setting = Setting(asked.rate, rates, self.images, *dependence)
        level = self.confidence_level
        if asked.kind == "certify":
            return RateWithin(setting, asked.limit, level)
        if asked.limit < 1:
            return RateAbove(setting, asked.limit, level)
        above = asked.kind != "pass"
        return RatioJudged(setting, asked.limit, above, level, self.comparisons)

    def _row(self, asked, basis, question, people, reason=""):
        """One row; without a number of people there is none that is enough."""
        row = {
            "question": asked.words(self.groups),
            "kind": asked.kind,
            "rate": asked.rate,
            "limit": float(asked.limit),
            "true_rate": float(asked.true_rate),
            "true_ratio": float(asked.true_ratio),
            "basis": basis,
        }
        unknown = ("pairs", "expected_errors", "most_errors", "bound", "chance")
        if people is None:
            reason = reason or "more than ten million people"
            row |= {"people": math.inf, **dict.fromkeys(unknown, math.nan)}
            return row | {"reason": reason}
        counts = question.setting.counted(people)
        most = question.most_errors(counts) if asked.kind == "certify" else math.nan
        found = (
            counts.pairs,
            counts.mean[-1],
            most,
            question.bound(people),
            question.probability(people),
        )
        row |= {"people": float(people), **dict(zip(unknown, found, strict=True))}
        return row | {"reason": reason}


# ---- arguments -----------------------------------------------------------------------

# Argument -> lowest and highest number, whether they are allowed, and the range in words.
_RANGES = {
    "correlation": (0, 1, True, "a number in [0, 1]"),
    "lent": (0, 1, True, "a number in [0, 1]"),
    "variation": (0, MOST, True, "a finite number of at least 0"),
    "assumed": (
        *(0, MOST, True),
        "a finite number of at least 0: 0 for no error and equal groups, 1 for the limit "
        "itself",
    ),
    "power": (0, 1, False, "a number in (0, 1)"),
    "confidence_level": (0.5, 1, False, "a number in (0.5, 1)"),
    "frr": (0, 1, False, "a number in (0, 1)"),
    "certify_fmr": (0, 1, False, "a number in (0, 1)"),
    "certify_fnmr": (0, 1, False, "a number in (0, 1)"),
    "detect_factor": (1, math.inf, False, "a finite number above 1"),
}


def _to_float(value, name):
    """An argument as a float, or an error where it is out of its range."""
    low, high, ends, meaning = _RANGES[name]
    if not _is_number(value, low, high, ends):
        raise ArgumentError(
            Argument(name), f" must be {meaning}; got {plain(value)!r}.", value=value
        )
    return float(value)


def _is_number(value, low, high, ends=False):
    value = to_float(value)
    return low <= value <= high if ends else low < value < high


def _read_policy(policy, far, confidence_level):
    """Limits by name, FAR levels, confidence level, and what is not planned for."""
    limits, left_out, level = {}, (), 0.95
    if policy is not None:
        limits, left_out = _limits_of(policy)
    if not isinstance(policy, Mapping):
        of_policy = getattr(policy, "far", None)
        far = far if of_policy is None or np.size(of_policy) == 0 else of_policy
        level = getattr(policy, "confidence_level", level)
    levels = np.unique(check_level(far)).tolist()
    level = level if confidence_level is None else confidence_level
    return limits, levels, level, left_out


def _limits_of(policy):
    """Limits of a policy that are planned for, by name, and names of what is not."""
    limits = policy
    if not isinstance(policy, Mapping):
        limits = getattr(policy, "limits", None)
    if not isinstance(limits, Mapping):
        raise ArgumentError(
            Argument("policy"),
            " must be a mapping of limits, as {'max_fmr': 1e-4} is, or have one as its "
            f"attribute limits; got {plain(policy)!r}.",
            value=policy,
        )
    about = Argument("policy", getattr(policy, "name", limits))
    for name, limit in limits.items():
        _check_limit(about, name, limit)
    left_out = tuple(name for name in UNPLANNED if name in limits)
    planned = {name: float(limit) for name, limit in limits.items() if name in LIMITS}
    at = ("at",) if getattr(policy, "at", None) else ()
    if (left_out or at) and not planned:
        raise ArgumentError(
            about,
            f" holds nothing that can be planned for, only {_unplanned(left_out + at)}.",
            remedy=f"Give one of {', '.join(LIMITS)} for all levels.",
        )
    return planned, left_out + at


def _check_limit(policy, name, limit):
    """Raise unless a limit is known, and a number in its range."""
    known = (*LIMITS, *UNPLANNED)
    if name not in known:
        raise ArgumentError(
            policy,
            f" has an unknown limit, {plain(name)!r}.",
            remedy=f"{suggestion(name, known)}Known are {', '.join(known)}.",
        )
    of_ratio = name in UNPLANNED or LIMITS[name][1]
    if not _is_number(limit, of_ratio, math.inf if of_ratio else 1):
        meaning = "a finite number above 1" if of_ratio else "a number in (0, 1)"
        raise ArgumentError(
            Argument(name), f" must be {meaning}; got {plain(limit)!r}.", value=limit
        )


def _known(dependence, pilot, far):
    """A Dependence for either rate, and the FRR that is usual.

    Parameters
    ----------
    dependence, pilot
        As of :func:`plan_test`.
    far : float
        Level at which the pilot is asked.
    """
    if pilot is None:
        return _by_rate(Dependence() if dependence is None else dependence), USUAL_FRR
    if dependence is not None:
        raise ArgumentError(
            *(Argument("dependence"), " and ", Argument("pilot"), " were both given;"),
            remedy="leave one out.",
        )
    if not isinstance(pilot, SimilarityROC):
        raise ArgumentError(
            Argument("pilot"),
            f" must be a fitted SimilarityROC; got {plain(pilot)!r}.",
            value=pilot,
        )
    check_is_fitted(pilot)
    if pilot._engine.pairs.images.n_drawn is not None:
        raise ArgumentError(
            Argument("pilot"),
            " names no people, so that it cannot show how errors depend on each other;",
            remedy="name whom the two images of each pair show, or leave it out.",
        )
    found, frr = {}, USUAL_FRR
    for rate in RATES:
        sums, row = _sums_of_pilot(pilot, rate, far)
        if sums is None:
            found[rate] = Dependence()
            continue
        shown = dependence_of(sums)
        most = np.argmax(sums.errors.sum(axis=1))
        # Of the group with the most of either, which needs the most people.
        found[rate] = Dependence(
            float(shown.correlation[row].max()),
            float(shown.variation[row].max()),
            float(shown.correlation[most].max()),
        )
        errors = float(sums.errors[row].sum())
        if rate == "frr" and errors:
            frr = errors / float(sums.pairs[row].sum())
    return found, min(frr, 1 - USUAL_FRR)


def _sums_of_pilot(roc, rate, far):
    """ErrorSums of the groups, or of everybody, and the row that is about the level."""
    engine = roc._engine
    # Levels with more errors, as an audit has them, show more of their dependence.
    levels = np.array([min(far, engine.far_max), 0.1 * engine.far_max, engine.far_max])
    how = "gini" if roc.groups_.size > 1 else None
    levels, rows = np.unique(levels, return_inverse=True)
    question = engine.question(levels, None, rate, None, how, "overall")
    with warnings.catch_warnings():
        # A level that the pilot cannot resolve shows no error, which is no fault here.
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        evidence = engine.evidence(question)
    return None if evidence is None else evidence.sums, rows[0]


def _by_rate(dependence):
    """A Dependence for either rate."""
    if isinstance(dependence, Dependence):
        return dict.fromkeys(RATES, dependence)
    if not isinstance(dependence, Mapping) or not all(
        isinstance(dependence.get(rate), Dependence) for rate in RATES
    ):
        raise ArgumentError(
            Argument("dependence"),
            " must be a Dependence, or a dict with one for 'far' and one for 'frr'; got "
            f"{plain(dependence)!r}.",
            value=dependence,
        )
    return {rate: dependence[rate] for rate in RATES}


def _check_asked(asked, groups, images):
    """Raise unless there is a question, and groups and images for all of them."""
    if not asked:
        raise ArgumentError(
            "Nothing was asked.",
            remedy=(
                *("Give ", Argument("certify_fmr"), ", ", Argument("certify_fnmr")),
                *(", ", Argument("detect_factor"), " or ", Argument("policy"), "."),
            ),
        )
    if images < 2 and any(a.rate == "frr" for a in asked):
        raise ArgumentError(
            Argument("images_per_person", images),
            " leaves no genuine pair, which an FNMR needs.",
            remedy="Give 2 or more.",
        )
    for a in asked:
        if a.limit >= 1 and groups < 2:
            raise ArgumentError(
                Argument("groups", groups),
                " has no two rates to compare.",
                remedy="Give 2 or more.",
            )
        if a.limit >= 1 and a.true_rate * a.true_ratio >= 1:
            raise ArgumentError(
                Argument(a.rate, a.true_rate),
                f" times {a.true_ratio:g} is no rate below 1.",
                remedy="Give a smaller one.",
            )
