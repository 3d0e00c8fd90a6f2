"""The numbers of an audit: rates, disparities and findings from a fitted SimilarityROC."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import repeat

import numpy as np

from skfairfr._core._kinds import COMPARISONS, Terms
from skfairfr._core._rates import DISPARITIES, count_at_least
from skfairfr._core._searches import FloorTooHighError
from skfairfr._text._words import NO_DIFFERENCE, RATES, level_percent, percent
from skfairfr.metrics import Reason
from skfairfr.metrics._roc._evidence import place_of
from skfairfr.metrics._roc._question import RateRequest
from skfairfr.report._notes import collecting, in_words, of_groups
from skfairfr.report._records import (
    Deviation,
    Disparity,
    Effective,
    Figure,
    Finding,
    GroupRates,
    GroupRow,
    Level,
    Overall,
)
from skfairfr.report._verdicts import beyond_all_scores
from skfairfr.report.sections import _indices, _matrix
from skfairfr.utils._errors import invalid
from skfairfr.utils._labels import count_distinct
from skfairfr.utils._validation import check_level, check_threshold, plain, to_array

DEFAULT_FAR = (1e-2, 1e-3)
# Audited too where two groups of every attribute have this many impostor pairs, of which
# some 30 are accepted.
SMALLEST_FAR = 1e-4
ENOUGH_IMPOSTORS = 300_000
HOWS = ("max_min", "max_geomean", "log_geomean", "gini", "difference")


@dataclass(frozen=True)
class Points:
    """Operating points, from the largest FAR to the smallest.

    Attributes
    ----------
    far : ndarray, shape (n_levels,), or None
        Levels, met on the data that ``set_on`` names. None of given thresholds.
    threshold : ndarray, shape (n_levels,), or None
        Similarities. None before the audited data have set them.
    set_on : {"these data", "other data", "given"}
    far_max : float, default=None
        FAR up to which all pairs are stored. None before the data are known.
    worst_group : ndarray, shape (n_levels,), default=None
        Similarities at which no group's FAR exceeds the level, nan without the pairs, or None
        where the audited data do not set thresholds.
    path : str, default=None
        File of other data that set thresholds.
    group : label or tuple, default=None
        The group whose FAR meets the levels. From ``prepare`` on the attributes that have
        it, and its label. None: all impostor pairs.
    terms : Terms, default=COMPARISONS
        Of the data.
    """

    far: np.ndarray | None
    threshold: np.ndarray | None
    set_on: str
    far_max: float | None = None
    worst_group: np.ndarray | None = None
    path: str | None = None
    group: object = None
    terms: Terms = COMPARISONS

    @classmethod
    def of(cls, far=None, threshold=None, distance=False, group=None):
        """Points of levels or of thresholds, not both. Neither takes the usual levels.

        With ``distance`` thresholds are distances.
        """
        if far is not None and threshold is not None:
            raise invalid(
                "far",
                far,
                "and a threshold were both given, and a level sets a threshold of its own;",
                "leave one out.",
            )
        if threshold is not None and group is not None:
            raise invalid(
                *("threshold_group", group),
                "sets thresholds by the level of a group, and a threshold was given;",
                "leave one out.",
            )
        if threshold is not None:
            given = to_array(threshold, "threshold")
            if given.dtype.kind in "fiu" and not np.isfinite(given).all():
                raise invalid(
                    "threshold",
                    threshold,
                    f"must be finite, got {plain(threshold)}, which accepts all pairs, "
                    "none, or is no number.",
                    "Give the score at which the system accepts.",
                )
            similarity = check_threshold(threshold) * (-1 if distance else 1)
            return cls(None, np.unique(similarity), "given")
        levels = check_level(DEFAULT_FAR if far is None else far)
        return cls(np.unique(levels)[::-1], None, "these data", group=group)

    @property
    def size(self):
        """Number of operating points."""
        return (self.far if self.threshold is None else self.threshold).size

    def settings(self):
        """Levels, and thresholds that these data did not set, as a record has them."""
        threshold = None if self.set_on == "these data" else self.threshold
        found = {"far": self.far, "threshold": threshold}
        found = {n: None if of is None else of.tolist() for n, of in found.items()}
        return found | ({"threshold_group": self.group[1]} if self.group else {})

    def settled(self, roc):
        """The points at thresholds: levels choose them on the data of a fitted ROC."""
        if self.threshold is not None:
            return self
        if not roc.n_impostor_[0]:
            raise invalid(
                "threshold",
                None,
                f"is missing, and there are no {self.terms.far.trials} from which a level "
                "could set it.",
                "Set the threshold at which the system accepts. An audit also accepts other data that set "
                "it (threshold_from, --threshold-from).",
            )
        overall = chosen_thresholds(roc, self.far, "overall", self.group)
        worst = None
        if roc.groups_.size:
            worst = chosen_thresholds(roc, self.far, "worst_group")
        return replace(self, threshold=overall, worst_group=worst)


def chosen_thresholds(roc, far, operating_point="overall", group=None):
    """Thresholds that FAR levels choose: the shortest decimals that accept the same pairs.

    What is printed is then what was used. ``group``, as of Points, sets them alone.
    """
    label = None
    if group is not None:
        roc, operating_point, label = roc.by(group[0]), "group", group[1]
    asked = {"operating_point": operating_point, "group": label}
    found = roc.threshold_at(far, **asked).tolist()
    return np.array([t if t != t else roc._engine.shortest(t) for t in found])


class AuditedROC:
    """A fitted SimilarityROC and the operating points of an audit.

    Parameters
    ----------
    roc : SimilarityROC
        Fitted with groups.
    points : Points
        Whose levels, before they have thresholds, choose them here.
    references : sequence of labels, default=()
        Groups in the order in which they are taken for the reference.

    Attributes
    ----------
    labels, scopes : list
        For everyone, who is None, and of every group.
    warnings : list of Warning
        About the levels.
    """

    def __init__(self, roc, points, references=()):
        self.roc, self.references = roc, references
        self.warnings = []
        with collecting(self.warnings):
            self.points = points.settled(roc)
        self.labels = [None, *roc.groups_.tolist()]
        self.scopes = [None, *((g, g) for g in range(len(self.labels) - 1))]
        self.n_pairs = {"far": roc.n_impostor_, "frr": roc.n_genuine_}
        self.rates = [rate for rate in RATES if self.n_pairs[rate][0]]

    def evidence(self, rate, operating_point):
        """Evidence about every group, and the place of each of its levels in the points.

        Without groups it is about everyone.
        """
        threshold = self._threshold(operating_point)
        if threshold is None:
            return None, np.empty(0, dtype=int)
        question = self._question(rate, None, threshold)
        scopes = tuple(of_groups(self.scopes))
        return self.roc._engine.evidence(question, scopes), question.order

    def _threshold(self, operating_point):
        """Thresholds of an operating point, (n_levels,), or None where it has none."""
        if operating_point == "overall":
            return self.points.threshold
        worst = self.points.worst_group
        return None if worst is None or np.isnan(worst).any() else worst

    def groups(self, people, images, group):
        """Sizes and equal error rates, everyone first.

        Parameters
        ----------
        people : ndarray of int, shape (n_rows,)
        images : ndarray of int, shape (n_rows,), or None
            None where images are not named.
        group : Labels
        """
        rows, n_groups = [], len(self.labels) - 1
        sizes = (
            repeat(None)
            if of is None
            else count_distinct(group.codes, n_groups, of).tolist()
            for of in (people, images)
        )
        for row, (label, *size) in enumerate(zip(self.labels, *sizes, strict=False)):
            n_genuine, n_impostor = (int(self.n_pairs[r][row]) for r in ("frr", "far"))
            if not len(self.rates) == 2:
                equal = None
            elif n_genuine and n_impostor:
                equal = self._equal_error_rate(label)
            else:
                equal = Figure.undefined(*self._lack(row), terms=self.points.terms)
            rows.append(GroupRow(label, *size, n_genuine, n_impostor, equal))
        return tuple(rows)

    def _equal_error_rate(self, label):
        """Figure of an equal error rate. Undefined if it is below the end of lists."""
        try:
            found = self.roc.equal_error_rate(label)
        except FloorTooHighError:
            return Figure.undefined(terms=self.points.terms)
        return figures_of(found, self.points.terms)[0]

    def levels(self, judged, in_short=False, withheld=False):
        """Records of all levels. In short: max_min at the overall threshold alone.

        Parameters
        ----------
        judged : dict or None
            (rate, operating point, level) -> GroupTests, as ``_verdicts.judge`` gives it. None
            leaves findings out.
        in_short : bool, default=False
        withheld : bool, default=False
            Whether the scores leave no verdict.
        """
        points = self.points
        by_rate = [self._group_rates(rate, in_short) for rate in RATES]
        figures, errors, effective = zip(*by_rate, strict=True)
        grouped = len(self.labels) > 1
        hows = [("max_min", "overall")] * grouped
        worst_group = np.full(points.size, np.nan)
        if grouped and not in_short:
            hows = [(how, "overall") for how in HOWS]
            if points.worst_group is not None:
                hows.append(("max_min", "worst_group"))
                worst_group = points.worst_group
        disparities = [self._disparity(*about) for about in hows]
        matrices = [None] * points.size if in_short else _matrix.measure(self)
        levels = []
        for level in range(points.size):
            rates = tuple(
                GroupRates(
                    label, *(of[row][level] for of in (*figures, *errors, *effective))
                )
                for row, label in enumerate(self.labels)
            )
            findings = [
                finding
                for rate in self.rates
                if judged is not None and grouped
                for finding in self._findings(
                    rate, rates, judged.get((rate, "overall", level))
                )
            ]
            others, overall = (), ()
            if judged is not None and not in_short:
                others = self._against_others(rates, judged, level)
                overall = _overall(others, 1 - self.roc._engine.confidence_level)
            if withheld or beyond_all_scores(rates[0]):
                findings, overall = (
                    [replace(f, verdict="undetermined") for f in of]
                    for of in (findings, overall)
                )
            levels.append(
                Level(
                    None if points.far is None else float(points.far[level]),
                    float(points.threshold[level]),
                    float(worst_group[level]),
                    rates,
                    tuple(of_levels[level] for of_levels in disparities),
                    tuple(findings),
                    points.set_on,
                    _indices.measure(rates)
                    if grouped and not in_short and len(self.rates) == 2
                    else (),
                    matrix=matrices[level],
                    against_others=others,
                    overall=tuple(overall),
                )
            )
        return tuple(levels)

    def missed_levels(self):
        """Notes about levels that ties of scores miss by more than a tenth, a list."""
        group, scope, asked = self.points.group, None, {}
        if group is not None:
            if self.roc._names != group[0]:
                return []
            scope = (self.labels.index(group[1]) - 1,) * 2
            asked = {"operating_point": "group", "group": group[1]}
        if self.points.set_on != "these data":
            return []
        notes = []
        tail = self.roc._engine.pairs.impostors(scope)
        for far in self.points.far[self.points.far <= self.points.far_max].tolist():
            # The threshold is just above the score with which the level is exceeded.
            threshold = self.roc.threshold_at(far, **asked)
            next_score = tail.scores[count_at_least(tail.scores, threshold) :][:1]
            if not next_score.size:
                continue  # the level is 1 but for rounding
            both = [threshold, *next_score]
            (found, above), (n_found, n_above) = self.at_thresholds("far", scope, both)
            if found < 0.9 * far and n_above > n_found + 1:
                notes.append(
                    f"An {self.points.terms.far.name} of {level_percent(far)} cannot be met: "
                    f"scores are equal, and the nearest levels are {percent(found)} and "
                    f"{percent(above)}. The first is used."
                )
        return notes

    def _question(self, rate, scope, threshold):
        """A question about thresholds, of parts that were checked before."""
        threshold = np.asarray(threshold, dtype=np.float64)
        order = np.argsort(threshold, kind="stable")
        about = (rate, scope, None, None, "overall")
        return RateRequest(None, threshold[order], order, threshold.shape, *about)

    def at_thresholds(self, rate, scope, threshold):
        """Values and numbers of errors of a scope at thresholds, in their order."""
        question = self._question(rate, scope, threshold)
        values, errors = self.roc._engine.points_and_errors(question)
        return question.in_shape(values), question.in_shape(errors[0])

    def by_group(self, rate, threshold):
        """Values of everyone and of every group, (n_groups, n_thresholds)."""
        return np.array(
            [self.at_thresholds(rate, s, threshold)[0] for s in self.scopes]
        )

    def _group_rates(self, rate, in_short):
        """Figures, errors and their worth (None in short), lists (n_groups, n_levels) each."""
        n_levels, threshold = self.points.size, self.points.threshold
        figures = [
            [Figure.undefined(*self._lack(row), terms=self.points.terms)] * n_levels
            for row in range(len(self.labels))
        ]
        errors, effective = ([[None] * n_levels for _ in figures] for _ in range(2))
        # Independent pairs are worth as many as they are, of people who are not known.
        unnamed = self.roc._engine.pairs.images.n_drawn is not None
        for row in np.flatnonzero(self.n_pairs[rate]).tolist():
            estimate = self._estimate("overall", rate=rate, group=self.labels[row])
            figures[row] = figures_of(estimate, self.points.terms)
            if in_short:
                continue
            scope = self.scopes[row]
            errors[row] = self.at_thresholds(rate, scope, threshold)[1].tolist()
            if unnamed:
                continue
            question = self._question(rate, scope, threshold)
            evidence = self.roc._engine.evidence(question)
            sums = evidence.sums.columns(place_of(evidence, scope))
            ends = self.roc._engine.pairs.people_in[rate]
            columns = sums.effective_errors, sums.effective_people(ends)
            columns = (question.in_shape(column).tolist() for column in columns)
            effective[row] = [Effective(*both) for both in zip(*columns, strict=True)]
        return figures, errors, effective

    def _estimate(self, operating_point, **question):
        threshold = self._threshold(operating_point)
        return self.roc.estimate(threshold=threshold, **question)

    def _disparity(self, how, operating_point):
        """One disparity of either rate, at every level."""
        figures = []
        for rate in RATES:
            reason = self.few_groups(rate)
            if self._threshold(operating_point) is None:
                reason = reason or self.few_groups("far")
            if reason is None:
                estimate = self._estimate(operating_point, rate=rate, how=how)
                figures.append(figures_of(estimate, self.points.terms))
            else:
                undefined = Figure.undefined(reason, terms=self.points.terms)
                figures.append([undefined] * self.points.size)
        neutral = DISPARITIES[how].neutral
        return [
            Disparity(how, operating_point, neutral, far, frr)
            for far, frr in zip(*figures, strict=True)
        ]

    def _lack(self, row):
        """Reasons that name the pairs a group is without, not the group if all are."""
        everywhere = [r for r in ("frr", "far") if not self.n_pairs[r][0]]
        lacking = [r for r in ("frr", "far") if not self.n_pairs[r][row]]
        groups = None if lacking == everywhere else (self.labels[row],)
        return tuple(_no_pairs(rate, groups) for rate in lacking)

    def few_groups(self, rate):
        """The Reason why no two groups can be compared, or None if they can."""
        if not self.n_pairs[rate][0]:
            return _no_pairs(rate)
        n_groups = np.count_nonzero(self.n_pairs[rate][1:])
        return None if n_groups > 1 else _only(n_groups)

    def _findings(self, rate, rates, judged):
        """Every group against the reference at a level, the largest ratio first."""
        places = [] if judged is None else judged.compared_groups
        if not places:
            n_groups = np.count_nonzero(self.n_pairs[rate][1:])
            why = self.few_groups(rate) or _only(min(n_groups, 1))
            return [
                Finding.untested(rate, Figure.undefined(why), tuple(self.labels[1:]))
            ]
        known = judged.named([judged.reference, *places])
        left_out = tuple(label for label in self.labels[1:] if label not in known)
        of_group = {row.group: getattr(row, rate) for row in rates}
        return [self._finding(rate, of_group, judged, g, left_out) for g in places]

    def _against_others(self, rates, judged, level):
        """Every group against the geometric mean of the others, of three groups or more."""
        found = []
        for rate in self.rates:
            of_level = judged.get((rate, "overall", level))
            if of_level is None:
                continue
            of_group = {row.group: getattr(row, rate) for row in rates}
            for place in np.flatnonzero(~np.isnan(of_level.p_others)):
                (group,), tests = of_level.named([place]), of_level.compared.tests
                *numbers, p_value = of_level.against(place, tests)
                own = of_group[group]
                why = own.supported, *_why(own.reasons, own.source, self.points.terms)
                ratio = Figure(*numbers, *why, p_value=p_value)
                found.append(
                    Deviation(rate, group, ratio, float(of_level.p_others[place]))
                )
        return tuple(found)

    def _finding(self, rate, of_group, judged, place, left_out):
        """One group against the reference, whose figures are known."""
        both = group, reference = judged.named([place, judged.reference])
        value, *numbers, p_value = judged.against(place)
        reasons = [r for g in both for r in of_group[g].reasons]
        sources = {of_group[g].source for g in both}
        source = "all pairs" if len(sources) > 1 else sources.pop()
        ratio = Figure(
            value,
            *numbers,
            not reasons,
            *_why(reasons, source, self.points.terms),
            p_value=p_value,
        )
        verdict, p_adjusted = NO_DIFFERENCE, float(judged.p_adjusted[place])
        if p_adjusted <= 1 - judged.confidence_level:
            verdict = "higher" if value > 1 else "lower"
        return Finding(
            rate,
            *both,
            of_group[group].value,
            of_group[reference].value,
            ratio,
            p_adjusted,
            judged.n_comparisons,
            left_out,
            verdict,
        )


def figures_of(estimate, terms=COMPARISONS):
    """One Figure for each level of an Estimate."""
    names = ("value", "low", "high", "standard_error", "supported", "source", "reasons")
    columns = [getattr(estimate, name) for name in (*names, "corrected", "p_value")]
    if np.ndim(estimate.value) == 0:
        columns = [[value] for value in columns]
    else:
        columns = [repeat(None) if c is None else c.tolist() for c in columns]
    rows = zip(*columns, strict=False)
    return [
        Figure(*row, *_why(reasons, source, terms), corrected, p_value)
        for *row, source, reasons, corrected, p_value in rows
    ]


def _why(reasons, source, terms):
    """Reason, source and reasons of a Figure."""
    return in_words(reasons, terms, source), source, tuple(reasons)


def _overall(others, alpha):
    """Whether each rate differs across all groups, by a level's Deviations, a list."""
    found = []
    for rate in dict.fromkeys(of.rate for of in others):
        p = min(of.p_adjusted for of in others if of.rate == rate)
        found.append(Overall(rate, p, "different" if p <= alpha else NO_DIFFERENCE))
    return found


def _no_pairs(rate, groups=None):
    return Reason("no_pairs", groups, rate, found=0, needed=1)


def _only(n_groups):
    return Reason("few_groups", found=int(n_groups), needed=2)
