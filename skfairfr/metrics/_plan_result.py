"""The numbers of people that a plan asks for, with their assumptions in words."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from skfairfr._text._document import Cell, Document, Row, Section, Table, write_text
from skfairfr._text._words import level_percent, percent, plural
from skfairfr.metrics._plan_dependence import DEPENDS, INDEPENDENT, NAMES
from skfairfr.utils._frames import Framed

# What the rules of thumb ask for, if they are in a table.
RULES = {
    "rule of 3": "rule of 3: 3 / limit {}; if they are independent and have no error, "
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
        numbers = [getattr(self, name)[row] for name in NUMBERS]
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
NUMBERS = ("people", "pairs", "expected_errors", "bound", "chance")
_FORMATS = ("{:,.0f}", "{:,.0f}", "{:,.1f}", "{:.3g}", "{:.2f}")
