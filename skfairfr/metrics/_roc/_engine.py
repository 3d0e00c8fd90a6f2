"""Fitted comparisons, ready to be asked: queries, tables of rates, warnings."""

from dataclasses import dataclass, field, replace

import numpy as np

from skfairfr._core import _equal_error
from skfairfr._core._bootstrap import Query, Resampling, point_table, rate_table
from skfairfr._core._rates import exceeds
from skfairfr.metrics._frames import framed
from skfairfr.metrics._roc import _estimates
from skfairfr.metrics._roc._query import ask
from skfairfr.metrics._roc._records import (
    EstimandWarning,
    Estimate,
    check_same_images,
    paired,
    to_asymmetry,
)
from skfairfr.utils._validation import warn_caller, warn_undefined

# Tables of rates that a fitted object remembers: one for each set of levels asked.
REMEMBERED = 8
# Resamples of identities that show whether an interval over images is far too narrow.
N_COMPARED = 50
ESTIMAND_RATIO = 1.5


@dataclass(frozen=True)
class Settings:
    """The parameters of SimilarityROC as they were in ``fit``."""

    average: str
    impostors: str
    resample: str
    method: str
    n_resamples: int
    confidence_level: float
    far_max: float
    similarity: str
    n_jobs: int | None


@dataclass
class Measurement:
    """Comparisons with everything that answering about them needs.

    Attributes
    ----------
    pairs : EmbeddingPairs or ListedPairs
    settings : Settings
    groups : ndarray, shape (n_groups,)
    entropy : int
        Of the resamples.
    images_named : bool
        Whether images can be resampled.
    library : str or None
        Of the frames that were fitted, for those of the records.
    """

    pairs: object
    settings: Settings
    groups: np.ndarray
    entropy: int
    images_named: bool = True
    library: str | None = None
    _tables: dict = field(default_factory=dict)
    _told_estimand: bool = False

    @property
    def two_sides(self):
        """Whether probes are compared with references."""
        return self.pairs.images.side is not None

    def ask(self, far, threshold, rate, group, how, operating_point):
        """Check the arguments of a question."""
        if operating_point in ("worst_group", "group"):
            self.check_has_groups(f"operating_point={operating_point!r}")
        return ask(far, threshold, rate, group, how, operating_point, self.groups)

    def check_has_groups(self, what):
        """Raise where a question needs groups and there are none."""
        if self.groups.size == 0:
            raise ValueError(
                f"{what} needs groups, but fit was given none; pass sensitive_features= "
                "to fit, or face_labels(identity, group) as y."
            )

    def thresholds(self, question):
        """Thresholds in the data that answer a question's levels, in the caller's shape."""
        self._warn_unresolved(question)
        found = []
        for part in self._parts(question):
            query, point = point_table(self.pairs, self._query(part))
            row = 0 if part.scope is None else query.row_of[part.scope]
            found.append(point.thresholds[row])
        return question.in_shape(np.concatenate(found))

    def answer(self, question):
        """Value, interval and support, levels in increasing order."""
        used = self._used_groups(question)
        self._warn_unresolved(question)
        found = self._answer(question, used, self._resampling())
        self._warn_undefined_values(question, found)
        self._warn_of_estimand(question, used, found)
        return found

    def _answer(self, question, used, resampling):
        parts = []
        for part in self._parts(question):
            table = self._table(part, resampling)
            parts.append(
                _estimates.answer(
                    self.pairs, table, part, used, self.settings, self.groups
                )
            )
        return _estimates.Answer.joined(parts)

    def points(self, question):
        """Values in the data (n_levels,), levels in increasing order, without interval."""
        used = self._used_groups(question)
        found = []
        for part in self._parts(question):
            # The other rate may lie where no pairs are held, and cost another pass.
            query = replace(self._query(part), wanted=(part.rate,))
            query, point = point_table(self.pairs, query)
            found.append(_estimates.quantity(point, query, part, used))
        return np.concatenate(found)

    def compare(self, other, question):
        """Comparison of this and another measurement of the same images."""
        check_same_images(self, other)
        resampling = self._resampling()
        answers = []
        for measured in (self, other):
            measured.check_resampling()
            used = measured._used_groups(question)
            measured._warn_unresolved(question)
            answers.append(measured._answer(question, used, resampling))
        return paired(*answers, question, self.settings.confidence_level)

    def matrix(self, question):
        """FAR of every two groups from one table."""
        answers = self._cells(question)
        counts = {scope: self.pairs.count(scope) for scope in answers}
        return _estimates.to_matrix(answers, counts, self.groups, self.two_sides)

    def asymmetry(self, question):
        """FAR of every two groups against that of the two reversed."""
        level = self.settings.confidence_level
        return to_asymmetry(self._cells(question), self.groups, level)

    def _cells(self, question):
        """Answers about every two groups, by scope."""
        self._warn_unresolved(question)
        n_groups = self.groups.size
        scopes = tuple(
            (g, h)
            for g in range(n_groups)
            for h in range(0 if self.two_sides else g, n_groups)
        )
        table = self._table(question, self._resampling(), scopes)
        return {
            scope: _estimates.answer(
                self.pairs,
                table,
                replace(question, scope=scope),
                (),
                self.settings,
                self.groups,
            )
            for scope in scopes
        }

    def framed(self, record, question=None):
        """The record, whose frame is of the caller's library and tells the levels asked."""
        return framed(record, self.library, **(question.asked() if question else {}))

    def equal_error_rate(self, question):
        """Estimate of the equal error rate of the question's scope."""
        scope = question.scope
        counts = self.counts(question)
        missing = [
            f"no {kind} pair"
            for kind, n in zip(("genuine", "impostor"), counts, strict=True)
            if n == 0
        ]
        if missing:
            reason = " and ".join(missing)
            where = "overall" if scope is None else f"in {str(self.groups[scope[0]])!r}"
            warn_undefined(
                f"There is {reason} {where}: the equal error rate is undefined and set "
                "to nan."
            )
            return Estimate(*(np.nan,) * 5, *counts, 0, False, reason)
        self.check_resampling()
        rates = _equal_error.equal_error_rates(self.pairs, scope, self._resampling())
        found = _estimates.answer_equal_error(
            self.pairs, rates, question, self.settings, self.groups
        )
        return _estimates.to_estimate(found, question, counts)

    def counts(self, question):
        """Genuine and impostor pairs that a question is about."""
        genuine, impostor = self.pairs.genuine.count, self.pairs.count
        if question.how is None:
            return genuine(question.scope), impostor(question.scope)
        scopes = [(g, g) for g in self.groups_with_pairs(question)]
        return sum(map(genuine, scopes)), sum(map(impostor, scopes))

    def check_resampling(self):
        """Raise where there is nothing to draw."""
        resample = self.settings.resample
        if resample == "identities":
            return
        remedy = "use SimilarityROC(resample='identities')"
        if not self.images_named:
            raise ValueError(
                f"resample={resample!r} draws images, but fit_pairs was not told which "
                f"they are; give image_1 and image_2, or {remedy}."
            )
        if self.pairs.images.per_stratum().max() == 1:
            raise ValueError(
                f"resample={resample!r} draws among the images of one person, but every "
                f"person has one (on each side), so that nothing would vary; {remedy}."
            )

    def _parts(self, question):
        """What all pairs answer apart from what a sample does, to keep the former exact."""
        if question.thresholds is None:
            return question.parts(question.levels <= self.settings.far_max)
        exact = np.ones(question.thresholds.size, dtype=bool)
        if question.rate == "far":
            for scope in self._query(question).scopes:
                exact &= self._reaches(scope, question.thresholds)
        return question.parts(exact)

    def _reaches(self, scope, thresholds):
        """Whether all pairs that each threshold accepts are held, or soon will be."""
        if self.pairs.is_whole(scope):
            return np.ones(thresholds.size, dtype=bool)
        held = self.pairs.holds(scope, thresholds)
        return held if held.all() else held | self.pairs.can_reach(scope, thresholds)

    def _query(self, question, scopes=None):
        n_groups = self.groups.size
        if scopes is None:
            scopes = _estimates.scopes_of(question, n_groups)
        with_impostors = tuple(g for g in range(n_groups) if self.pairs.count((g, g)))
        query = Query(
            question.levels,
            question.thresholds,
            question.operating_point,
            scopes,
            with_impostors,
        )
        if question.levels is None:
            return replace(query, wanted=(question.rate,))
        if question.levels.max() <= self.settings.far_max:
            return query
        # What is not held whole answers levels above far_max from a sample.
        asked = {None, *((g, g) for g in with_impostors), *scopes}
        sampled = frozenset(s for s in asked if not self.pairs.is_whole(s))
        return replace(query, sampled=sampled)

    def _resampling(self, mode=None, n_resamples=None):
        settings = self.settings
        return Resampling(
            settings.resample if mode is None else mode,
            settings.method,
            settings.n_resamples if n_resamples is None else n_resamples,
            self.entropy,
            settings.n_jobs,
        )

    def _table(self, question, resampling, scopes=None):
        query = self._query(question, scopes)
        given = question.levels if question.thresholds is None else question.thresholds
        asked = (
            question.thresholds is None,
            given.tobytes(),
            query.operating_point,
            query.scopes,
            query.wanted,
        )
        key = (asked, resampling)
        if key not in self._tables:
            self.check_resampling()
            known = self._tables.get((asked, self._resampling()))
            while len(self._tables) >= REMEMBERED:
                self._tables.pop(next(iter(self._tables)))
            self._tables[key] = rate_table(self.pairs, query, resampling, known)
        return self._tables[key]

    def groups_with_pairs(self, question):
        """Groups that take part in a disparity: those with the pairs its rate needs."""
        wanted = question.picked or range(self.groups.size)
        counts = [
            self.pairs.count if question.rate == "far" else self.pairs.genuine.count
        ]
        if question.operating_point == "group":
            counts.append(self.pairs.count)
        return tuple(g for g in wanted if all(count((g, g)) for count in counts))

    def _used_groups(self, question):
        """The groups of a disparity; a warning names those that cannot take part."""
        if question.how is None:
            return ()
        used = self.groups_with_pairs(question)
        wanted = question.picked or range(self.groups.size)
        left_out = [repr(str(self.groups[g])) for g in wanted if g not in used]
        if left_out:
            kind = "impostor" if question.rate == "far" else "genuine"
            if question.operating_point == "group" and kind == "genuine":
                kind = "genuine or no impostor"
            warn_undefined(
                f"No {kind} pair within group {', '.join(left_out)}: left out of the "
                f"disparity of the {question.rate}."
            )
        return used

    def _warn_undefined_values(self, question, found):
        """Say why values are nan, or a ratio over groups without any error is +inf."""
        if question.how is None and np.isnan(found.value).any():
            kinds = ["impostor"] if question.rate == "far" else ["genuine"]
            if question.operating_point == "group":
                kinds.append("impostor")
            counts = {"genuine": self.pairs.genuine.count, "impostor": self.pairs.count}
            missing = [
                kind
                for kind in dict.fromkeys(kinds)
                if not counts[kind](question.scope)
            ]
            where = "" if question.scope is None else " in the group asked for"
            warn_undefined(
                f"No {' and no '.join(missing)} pair{where}: the {question.rate} is "
                "undefined and set to nan."
            )
        elif question.how is not None and not np.isfinite(found.value).all():
            warn_undefined(
                f"A group has no error, so that the disparity of the {question.rate} is x/0 "
                "(+inf) or 0/0 (nan). Ask for how='difference', a larger far, or more "
                "people."
            )

    def _warn_unresolved(self, question):
        said = self.unresolved(question)
        if said:
            warn_undefined(
                f"{said}: the threshold is the one just above the largest impostor score. "
                "Give a larger far or more people."
            )

    def unresolved(self, question):
        """Why the data cannot resolve a question's smallest level; empty if they can."""
        if question.levels is None:
            return ""
        asked = [question.scope]
        if question.how is not None:
            asked = [(g, g) for g in self.groups_with_pairs(question)]
        query = self._query(question)
        n_pairs = _estimates.hardest_to_resolve(self.pairs, query, asked)
        if not n_pairs or not exceeds(1.0, question.levels.min() * n_pairs):
            return ""
        return (
            f"far={question.levels.min():g} is below 1 / n_impostor = {1 / n_pairs:.3g}, "
            "the smallest FAR these data can resolve"
        )

    def _warn_of_estimand(self, question, used, found):
        """Compare with the standard error over other people, once a fit."""
        if self.settings.resample != "images" or self._told_estimand:
            return
        n_compared = min(self.settings.n_resamples, N_COMPARED)
        resampling = self._resampling("identities", n_compared)
        other = self._answer(question, used, resampling)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = _estimates.standard_errors(other) / _estimates.standard_errors(
                found
            )
        ratio = ratio[np.isfinite(ratio)]
        if ratio.size and ratio.max() > ESTIMAND_RATIO:
            self._told_estimand = True
            warn_caller(
                "resample='images' speaks of these people in other photographs. Over "
                "other people of the same population the standard error is "
                f"{ratio.max():.1f} times as large; SimilarityROC(resample='identities') "
                "gives that interval.",
                EstimandWarning,
            )
