"""The answer of a plan, in words and tables, and how errors of the same people depend on each other."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils.validation import check_is_fitted

from skfairfr._core._error_counts import people_with_pairs
from skfairfr._text._document import Cell, Document, Row, Section, Table, write_text
from skfairfr._text._words import RATES, level_percent, percent, plural, printable
from skfairfr.metrics._roc._similarity_roc import SimilarityROC
from skfairfr.utils._errors import invalid, plain
from skfairfr.utils._frames import Framed
from skfairfr.utils._validation import check_count, check_number, check_option

INDEPENDENT, DEPENDENT = "independent errors", "dependent errors"
# Rates that a plan may be about. Errors of one person's searches are correlated, as are those
# of genuine pairs.
NAMES = RATES | {"fpir": "FPIR", "attempt": "FRR"}
DEPENDS = {"far": "far", "frr": "frr", "fpir": "frr", "attempt": "frr"}
USUAL_FRR = 0.01
MOST_IMAGES = 1000
# Errors of a pilot from which its dependence is taken, if any level nearby has as many.
ENOUGH_ERRORS = 100


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
        for name, most in (("correlation", 1), ("variation", 100)):
            words = f"must be a number in [0, {most}]"
            value = check_number(
                getattr(self, name), name, lambda x, most=most: 0 <= x <= most, words
            )
            object.__setattr__(self, name, value)

    def inflation(self, rate: str, images_per_person: int) -> float:
        """By how much errors vary more than those of independent pairs: phi.

        Parameters
        ----------
        rate : {"far", "frr", "fpir", "attempt"}
        images_per_person : int
            Images per person, 1 to 1000. For an FPIR each is a search, for attempts an attempt.

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


def dependence_by_basis(dependence, pilot, far, threshold, attempts=None):
    """Basis -> rate -> Dependence, rate -> a pilot's (errors, level), and what it shows."""
    # Number of groups, and FRR, if no pilot shows them.
    usual = {"n_groups": 2, "frr": USUAL_FRR, "largest": {}}
    if pilot is None:
        if threshold is not None:
            raise invalid("threshold", threshold, "is that of a pilot;", "give one.")
        bases = {INDEPENDENT: Dependence(0.0, 0.0), DEPENDENT: Dependence()}
        bases = bases if dependence is None else {"given dependence": dependence}
        return {name: _by_rate(known) for name, known in bases.items()}, {}, usual
    if dependence is not None:
        problem = "and pilot were both given;"
        raise invalid("dependence", None, problem, "leave one out.")
    _check_pilot(pilot, threshold)
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
        # A level sets the FMR of everyone, so its groups' rates are not what a pilot shows.
        if rate == "frr" or threshold is not None:
            group = int(np.nanargmax(sums[0].rate))
            value = float(sums[0].rate[group])
            name = pilot.groups_[group] if pilot.groups_.size else "everyone"
            usual["largest"][rate] = name, value, float(levels[0])
        if rate == "frr" and errors[0]:
            usual["frr"] = min(errors[0] / sums[0].pairs.sum(), 1 - USUAL_FRR)
    if pilot.groups_.size > 1:
        usual["n_groups"] = max(n_groups, default=2)
    return {"pilot": known}, pilot_errors, usual


def _check_pilot(pilot, threshold):
    """Raise unless a pilot can show how errors depend on each other."""
    if not isinstance(pilot, SimilarityROC):
        problem = f"must be a fitted SimilarityROC, got {plain(pilot)!r}."
        raise invalid("pilot", pilot, problem)
    check_is_fitted(pilot)
    if pilot._engine.pairs.images.n_drawn is not None:
        problem = "names no people, so it cannot show how errors depend on each other."
        remedy = "Name the people in the two images of each pair, or leave it out."
        raise invalid("pilot", None, problem, remedy)
    if threshold is None and not pilot.n_impostor_[0]:
        problem = "is missing, and the pilot has no impostor pair from which an FMR level could set "
        remedy = "Set the threshold at which its system accepts."
        raise invalid("threshold", None, f"{problem}one.", remedy)


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
    single = sums.errors @ sums.single / errors
    cluster = sums.errors @ sums.clustered / errors
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
        problem = (
            "must be a Dependence, or a dict with one for 'far' and one for 'frr', got "
        )
        raise invalid("dependence", dependence, f"{problem}{plain(dependence)!r}.")
    return {rate: dependence[rate] for rate in RATES}


# ---- the answer ----------------------------------------------------------------------


# What the rules of thumb ask for, if they are in a table.
RULES = {
    "rule of 3": "rule of 3: 3 / limit {}. If they are independent and have no error, "
    "the one-sided upper 95 % bound of the rate is about the limit.",
    "rule of 30": "rule of 30: enough {} to expect 30 errors.",
}


@dataclass(frozen=True)
class Plan(Framed):
    """Numbers of people for each question and basis, from :func:`plan_test`.

    Arrays have one element for each question and basis.

    Attributes
    ----------
    question : ndarray of str, shape (n_rows,)
        Question in words.
    kind : ndarray of str, shape (n_rows,)
        "certify": every group's rate is within a limit. "detect": two groups' rates
        differ. "pass": all their ratios are within a limit. "fail": a rate, or a ratio, is
        above its limit.
    rate : ndarray of str, shape (n_rows,)
        "far", "frr" or "fpir". "attempt" is the FRR of attempts.
    limit : ndarray, shape (n_rows,)
        Limit of the rate, or of the ratio of two, or 1 if a difference is to be detected.
    true_rate : ndarray, shape (n_rows,)
        Assumed: every group's rate, the smaller of two, or that of the group that exceeds a
        limit of its rate.
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
        Expected number of errors in a group with ``true_rate``.
    bound : ndarray, shape (n_rows,)
        Median bound of the rate, or of the ratio, that is compared with the limit.
    chance : ndarray in [0, 1], shape (n_rows,)
        Share of simulated data sets with so many people that give the answer: certified,
        detected, passed, failed.
    reason : ndarray of str, shape (n_rows,)
        Why no number of people is enough, else empty.
    images_per_person, n_groups, comparisons : int
        Numbers passed to :func:`plan_test`, or found by it.
    power, confidence_level : float in (0, 1)
        Values passed to :func:`plan_test`.
    dependence : dict of str -> Dependence
        Dependence of either rate, in the last row of each question.
    pilot_errors : dict of str -> tuple (int, float)
        Of either rate, how many errors of the pilot show the dependence, and at which FAR,
        nan where its threshold was given, or empty without a pilot.
    pilot_largest : dict of str -> tuple (label, float, float)
        Of either rate, the group of the pilot with the largest, that rate, and the FAR level
        there, as in ``pilot_errors``. Without the FAR at a level, which the level itself sets.
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
    >>> plan = plan_test(max_fnmr=0.01, images_per_person=4)
    >>> print(plan.to_frame()[["basis", "people", "pairs"]])
                    basis  people    pairs
    0          rule of 30  1000.0   6000.0
    1  independent errors   560.0   3360.0
    2    dependent errors  2240.0  13440.0
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
    pilot_largest: dict
    left_out: tuple = ()

    def _columns(self):
        """One row for each question and basis."""
        columns = super()._columns()
        for name in ("dependence", "pilot_errors", "pilot_largest", "left_out"):
            del columns[name]
        return columns

    def to_text(self) -> str:
        """Give the plan in words, with all that was assumed.

        Returns
        -------
        text : str
            Text of several lines.
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
            caption = f"{self._answer(rows[-1])}{self._pilot_exceeds(rows[-1])}"
            parts = [Table(caption, head, [self._row(row) for row in rows])]
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

    def _answer(self, row):
        """How many people to recruit on a basis, in a sentence."""
        if self.reason[row]:
            return "No number of people that can be planned is enough."
        whom = "people per group" if self.n_groups > 1 else "people"
        found = {"certify": "certified", "detect": "detected"}.get(self.kind[row])
        basis = str(self.basis[row])
        basis = "dependence as in the pilot" if basis == "pilot" else basis
        return (
            f"Recruit {self.people[row]:,.0f} {whom}: with {basis}, this is {found or 'shown'} in "
            f"{100 * self.chance[row]:.0f} % of cases."
        )

    def _pilot_exceeds(self, row):
        """That a group of the pilot has a rate above a limit to be certified, or empty."""
        rate = "frr" if self.rate[row] == "attempt" else str(self.rate[row])
        group, value, far = self.pilot_largest.get(rate, ("", 0.0, math.nan))
        if self.kind[row] != "certify" or value <= self.limit[row]:
            return ""
        at = "" if math.isnan(far) else f", at an FMR of {level_percent(far)}"
        return (
            f" In the pilot{at}, the {NAMES[str(self.rate[row])]} of {printable(group)} is "
            f"{percent(value)}: above the limit of {level_percent(self.limit[row])}. If that is "
            "the true rate, no number of people certifies the limit."
        )

    def _row(self, row):
        """The numbers of a basis, or why there are none."""
        if self.reason[row]:
            return Row(self.basis[row], [Cell(self.reason[row]), *[Cell("")] * 4])
        numbers = [getattr(self, name)[row] for name in NUMBERS]
        shown = [f.format(v) for f, v in zip(_FORMATS, numbers, strict=True)]
        if self.limit[row] < 1:
            shown[3] = percent(self.bound[row])
        else:
            shown[3] += " times"
        return Row(self.basis[row], [Cell(text) for text in shown])

    def _assumptions(self):
        """Assumptions behind the numbers, each a sentence or two."""
        level = f"{100 * self.confidence_level:g} %"
        people = "1 group."
        if self.n_groups > 1:
            people = f"{self.n_groups} groups of as many people each."
        if self._trial:
            yield f"{people} Attempts vary among people as in the pilot, if there is one."
        elif {*self.rate} == {"fpir"}:
            yield f"{people} The threshold is set on other data."
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
            "errors: expected in a group with the assumed rate (of two rates, the smaller). "
            "bound: the end of the interval that is compared with the limit (to detect a "
            "difference: the lower end of the ratio, with 1), its median over simulated data "
            f"sets. chance: share of them that give the answer, at least {self.power:g}."
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
NUMBERS = ("people", "pairs", "expected_errors", "bound", "chance")
_FORMATS = ("{:,.0f}", "{:,.0f}", "{:,.1f}", "{:.3g}", "{:.2f}")
