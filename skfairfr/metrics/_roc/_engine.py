"""The engine of SimilarityROC: from a question to rates, replicates and warnings.

``Engine`` computes tables of rates with ``_core``, caches them, and warns of undefined and
unresolved values; ``_estimates`` turns a table into a value with its interval.
"""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from skfairfr._core import _equal_error
from skfairfr._core._bootstrap import (
    Query,
    Resampling,
    point_rates,
    rate_table,
)
from skfairfr._core._intervals import Reason
from skfairfr._core._rates import exceeds
from skfairfr.metrics._roc import _estimates, _evidence
from skfairfr.metrics._roc._question import parse_question
from skfairfr.metrics._roc._records import (
    EstimandWarning,
    Estimate,
)
from skfairfr.utils._errors import plain
from skfairfr.utils._validation import warn_caller, warn_undefined

# Resamples of identities that show whether an interval over images is far too narrow.
N_COMPARED = 50
ESTIMAND_RATIO = 1.5


@dataclass(frozen=True)
class Intervals:
    """Settings of intervals: parameters of SimilarityROC as they were in ``fit``.

    Attributes
    ----------
    resample, method : str
    n_resamples : int
    confidence_level : float
    n_jobs : int or None
    entropy : int
        Seed of the resamples.
    images_named : bool
        Whether images can be resampled.
    """

    resample: str
    method: str
    n_resamples: int
    confidence_level: float
    n_jobs: int | None
    entropy: int
    images_named: bool = True


class Engine:
    """Computes rates, replicates and answers from fitted pairs.

    Parameters
    ----------
    pairs : EmbeddingPairs or ListedPairs
    groups : ndarray, shape (n_groups,)
        Labels.
    far_max : float
        Largest level computed from all pairs; larger ones are computed from samples.
    intervals : Intervals, default=None
        None is enough for rates in the data: :meth:`points`, :meth:`thresholds`.
    """

    def __init__(self, pairs, groups, far_max, intervals=None):
        self.pairs = pairs
        self.groups = groups
        self.far_max = far_max
        self.intervals = intervals
        self._warned_of_estimand = False

    @property
    def two_sides(self):
        """Whether probes are compared with references."""
        return self.pairs.images.side is not None

    @property
    def _independent(self):
        """Whether pairs were taken as independent, of people of their own."""
        return self.pairs.images.n_drawn is not None

    # ---- questions -------------------------------------------------------------------

    def question(self, far, threshold, rate, group, how, operating_point):
        """A checked Question from the arguments of ``SimilarityROC.estimate``."""
        if operating_point in ("worst_group", "group"):
            self.check_has_groups(f"operating_point={operating_point!r}")
        arguments = (far, threshold, rate, group, how, operating_point)
        return parse_question(*arguments, self.groups)

    def check_has_groups(self, what):
        """Raise if there are no groups; ``what`` names the argument that needs them."""
        if self.groups.size == 0:
            raise ValueError(
                f"{what} needs groups, but fit was given none; pass sensitive_features= "
                "to fit, or face_labels(identity, group) as y."
            )

    def groups_with_pairs(self, question):
        """Groups that take part in a disparity: those with the pairs its rate needs."""
        if question.how is None:
            return ()
        counts = [
            self.pairs.count if question.rate == "far" else self.pairs.genuine.count
        ]
        if question.operating_point == "group":
            counts.append(self.pairs.count)
        return tuple(
            g
            for g in question.picked or range(self.groups.size)
            if all(count((g, g)) for count in counts)
        )

    def counts(self, question):
        """Numbers of genuine and of impostor pairs behind a question."""
        genuine, impostor = self.pairs.genuine.count, self.pairs.count
        if question.how is None:
            return genuine(question.scope), impostor(question.scope)
        scopes = [(g, g) for g in self.groups_with_pairs(question)]
        return sum(map(genuine, scopes)), sum(map(impostor, scopes))

    def unresolved(self, question):
        """Why the data cannot resolve a question's smallest level; empty if they can."""
        smallest = self._smallest_resolved(question)
        if smallest is None:
            return ""
        return (
            f"far={question.levels.min():g} is below 1 / n_impostor = {smallest:.3g}, "
            "the smallest FAR these data can resolve"
        )

    def _smallest_resolved(self, question):
        """The smallest FAR that the data resolve if a level is below it; else None."""
        if question.levels is None:
            return None
        scopes = [question.scope]
        if question.how is not None:
            scopes = [(g, g) for g in self.groups_with_pairs(question)]
        query = self._query(question)
        n_pairs = _estimates.hardest_to_resolve(self.pairs, query, scopes)
        resolved = not n_pairs or not exceeds(1.0, question.levels.min() * n_pairs)
        return None if resolved else 1 / n_pairs

    # ---- rates in the data -----------------------------------------------------------

    def thresholds(self, question):
        """Thresholds in the data that meet a question's levels, in the caller's shape."""
        self._warn_unresolved(question)
        found = []
        for part in self._parts(question):
            query, point = point_rates(self.pairs, self._query(part))
            row = 0 if part.scope is None else query.row_of[part.scope]
            found.append(point.thresholds[row])
        return question.in_shape(np.concatenate(found))

    def points(self, question):
        """Values in the data (n_levels,), levels in increasing order, without interval."""
        return self.points_and_errors(question)[0]

    def points_and_errors(self, question):
        """Values in the data, and the numbers of errors that they rest on.

        Returns
        -------
        values : ndarray, shape (n_levels,)
            Levels in increasing order.
        errors : ndarray of int, shape (n_scopes, n_levels)
            Accepted impostor pairs or rejected genuine pairs of ``scopes_of_points``.
        """
        self._warn_left_out(question)
        used = self.groups_with_pairs(question)
        found, errors = [], []
        for part in self._parts(question):
            # The other rate may need pairs that are not held, and so a sample.
            query = replace(self._query(part), wanted=(part.rate,))
            query, point = point_rates(self.pairs, query)
            found.append(_estimates.quantity(point, query, part, used))
            errors.append(
                [
                    self._errors(query, point, part.rate, scope)
                    for scope in self.scopes_of_points(question)
                ]
            )
        return np.concatenate(found), np.concatenate(errors, axis=1)

    def scopes_of_points(self, question):
        """Scopes whose rates a value is made of."""
        if question.how is None:
            return [question.scope]
        return [(g, g) for g in self.groups_with_pairs(question)]

    def _errors(self, query, point, rate, scope):
        """Number of errors of a scope at each level, (n_levels,)."""
        row = query.row_of[scope]
        if rate == "frr":
            return self.pairs.genuine.rejected(scope, point.thresholds[row])
        if scope in query.sampled:
            return np.rint(point.far[row] * self.pairs.count(scope)).astype(np.int64)
        return self.pairs.impostors(scope).positions(point.thresholds[row])

    # ---- rates with replicates -------------------------------------------------------

    def check_answerable(self, question):
        """Warn of groups and levels that lack pairs; raise if resampling changes nothing."""
        self._warn_left_out(question)
        self._warn_unresolved(question)
        self._check_something_to_draw()

    def answer(self, question):
        """Value, interval and support, levels in increasing order, with all warnings."""
        self.check_answerable(question)
        found = _estimates.Answer.joined(self.resampled(question, self.resampling()))
        self._warn_undefined_values(question, found)
        if self.resampling().mode == "images" and not self._warned_of_estimand:
            n_compared = min(self.intervals.n_resamples, N_COMPARED)
            other = replace(
                self.resampling(), mode="identities", n_resamples=n_compared
            )
            self._warn_of_estimand(
                found, _estimates.Answer.joined(self.resampled(question, other))
            )
        return found

    def resampled(self, question, resampling, scopes=None):
        """Answers about each run of levels or, of one level, about each of some scopes."""
        answers = []
        for part in self._parts(question):
            query = self._query(part, scopes)
            known, key = self.pairs.known, (query.key, resampling)
            if key not in known:
                known[key] = rate_table(self.pairs, query, resampling)
            for scope in scopes or [part.scope]:
                about = replace(part, scope=scope)
                made = self.groups_with_pairs(about), self.intervals, self.groups
                evidence = partial(self._evidence_of, about)
                found = _estimates.answer(
                    self.pairs, known[key], about, *made, evidence
                )
                answers.append(found)
        return answers

    def compared(self, question, resampling):
        """One answer by a resampling, without warnings about its values."""
        return _estimates.Answer.joined(self.resampled(question, resampling))

    def evidence(self, question):
        """Evidence about a question's rates in all scopes like its own; None of no pairs."""
        parts = [self._evidence_of(part) for part in self._parts(question)]
        return None if None in parts else _evidence.Evidence.joined(parts)

    def _evidence_of(self, part, as_far_as_held=False):
        groups = range(self.groups.size)
        scopes = tuple((g, g) for g in groups)
        if part.how is None and part.scope is None:
            scopes = (None,)
        elif part.how is None and part.scope[0] != part.scope[1]:
            first = [0] * self.groups.size if self.two_sides else groups
            scopes = tuple((g, h) for g in groups for h in range(first[g], len(groups)))
        query = replace(self._query(part, scopes), wanted=(part.rate,))
        if as_far_as_held:
            query = replace(query, sampled=frozenset())
        known, key = self.pairs.known, ("evidence", query.key)
        if key not in known:
            known[key] = _evidence.gather(self.pairs, query, part.rate)
        return known[key]

    def cells(self, question):
        """Answers about every two groups, by scope, from one table."""
        self.check_answerable(question)
        n_groups = self.groups.size
        scopes = tuple(
            (g, h)
            for g in range(n_groups)
            for h in range(0 if self.two_sides else g, n_groups)
        )
        found = self.resampled(question, self.resampling(), scopes)
        return dict(zip(scopes, found, strict=True))

    def equal_error_rate(self, question):
        """Estimate of the equal error rate of the question's scope."""
        scope = question.scope
        counts = self.counts(question)
        groups = () if scope is None else plain((self.groups[scope[0]],))
        reasons = tuple(
            Reason("no_pairs", groups, rate, found=0, needed=1)
            for rate, n in zip(("frr", "far"), counts, strict=True)
            if n == 0
        )
        if reasons:
            reason = " and ".join(reason.words for reason in reasons)
            where = f"in {str(groups[0])!r}" if groups else "overall"
            warn_undefined(
                f"There is {reason} {where}: the equal error rate is undefined and set "
                "to nan."
            )
            return Estimate(
                *((np.nan,) * 5),
                *counts,
                *(0, None, None, False),
                *(reason, "all pairs", reasons),
            )
        self._check_something_to_draw()
        analytic = self.intervals.method == "wilson"
        drawn = None if analytic else self.resampling()
        rates = _equal_error.equal_error_rates(self.pairs, scope, drawn)
        at = replace(question, thresholds=np.array([rates.threshold]))
        evidence = partial(self._evidence_of, at)
        found = _estimates.answer_equal_error(
            self.pairs, rates, question, self.intervals, self.groups, evidence
        )
        if analytic and 0 < rates.value < 1:
            at_level = replace(
                question,
                levels=np.array([rates.value]),
                thresholds=None,
                operating_point="overall" if scope is None else "group",
            )
            at_level = self._evidence_of(at_level, as_far_as_held=True)
            level = self.intervals.confidence_level
            found = _estimates.with_equal_error_ends(found, at_level, scope, level)
        return _estimates.to_estimate(found, question, counts)

    def resampling(self):
        """The resampling of ``fit``; independent pairs are drawn whatever it names."""
        made = self.intervals
        mode = "identities" if self._independent else made.resample
        method = "recentered" if made.method == "wilson" else made.method
        return Resampling(mode, method, made.n_resamples, made.entropy, made.n_jobs)

    # ---- queries and tables ----------------------------------------------------------

    def _parts(self, question):
        """The parts of a question: levels that all pairs answer stay exact."""
        if question.thresholds is None:
            return question.parts(question.levels <= self.far_max)
        exact = np.ones(question.thresholds.size, dtype=bool)
        if question.rate == "far":
            for scope in self._query(question).scopes:
                exact &= self.pairs.holds(scope, question.thresholds)
        return question.parts(exact)

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
        if question.levels.max() <= self.far_max:
            return query
        # A scope that is not held whole uses a sample for levels above far_max.
        needed = {None, *((g, g) for g in with_impostors), *scopes}
        sampled = frozenset(s for s in needed if not self.pairs.is_whole(s))
        return replace(query, sampled=sampled)

    # ---- warnings --------------------------------------------------------------------

    def _check_something_to_draw(self):
        """Raise where resampling images would change nothing."""
        resample = self.intervals.resample
        if resample == "identities" or self._independent:
            return
        check_draws(self.intervals.method, resample)
        if not self.intervals.images_named:
            raise ValueError(
                f"resample={resample!r} draws images, but the pairs do not name them; give "
                "image_1 and image_2, or use resample='identities'."
            )
        if self.pairs.images.per_stratum().max() == 1:
            raise ValueError(
                f"resample={resample!r} draws among the images of one person, but every "
                "person has one (on each side), so that nothing would vary; use "
                "resample='identities'."
            )

    def _warn_left_out(self, question):
        """Warn of the groups that cannot take part in a disparity."""
        if question.how is None:
            return
        used = self.groups_with_pairs(question)
        wanted = question.picked or range(self.groups.size)
        left_out = [repr(str(self.groups[g])) for g in wanted if g not in used]
        if left_out:
            kind = "impostor" if question.rate == "far" else "genuine"
            if question.operating_point == "group" and kind == "genuine":
                kind = "genuine or no impostor"
            warn_undefined(
                f"No {kind} pair within group {', '.join(left_out)}: left out of the "
                f"disparity of the {question.rate.upper()}.",
                "left_out",
                kind=kind,
                groups=left_out,
                rate=question.rate,
            )

    def _warn_unresolved(self, question):
        reason = self.unresolved(question)
        if reason:
            warn_undefined(
                f"{reason}: the threshold is the one just above the largest impostor "
                "score. Give a larger far or more people.",
                "below_resolution",
                far=float(question.levels.min()),
                smallest=self._smallest_resolved(question),
                group=self._hardest_group(question),
            )

    def _hardest_group(self, question):
        """Label of the group whose pairs resolve the fewest levels; None for all pairs."""
        n_pairs = round(1 / self._smallest_resolved(question))
        if n_pairs == self.pairs.count(None):
            return None
        codes = range(self.groups.size)
        of_groups = {self.pairs.count((g, g)): self.groups[g] for g in codes}
        return of_groups.get(n_pairs)

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
                f"No {' and no '.join(missing)} pair{where}: the {question.rate.upper()} is "
                "undefined and set to nan."
            )
        elif question.how is not None and not np.isfinite(found.value).all():
            warn_undefined(
                f"A group has no error, so that the disparity of the {question.rate.upper()} is x/0 "
                "(+inf) or 0/0 (nan). Ask for how='difference', a larger far, or more "
                "people.",
                "no_error",
                rate=question.rate,
            )

    def _warn_of_estimand(self, found, over_people):
        """Warn, once a fit, that the standard error over other people is larger."""
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = over_people.standard_error / found.standard_error
        ratio = ratio[np.isfinite(ratio)]
        if ratio.size and ratio.max() > ESTIMAND_RATIO:
            self._warned_of_estimand = True
            warn_caller(
                "resample='images' is about these people in other photographs. Over "
                "other people of the same population the standard error is "
                f"{ratio.max():.1f} times as large; SimilarityROC(resample='identities') "
                "gives that interval.",
                EstimandWarning,
                "estimand",
                ratio=float(ratio.max()),
            )


def check_draws(method, resample):
    """Raise where a method of intervals is not about what is drawn."""
    if method == "wilson" and resample != "identities":
        raise ValueError(
            "method='wilson' is about other people of the same population, and "
            f"resample={resample!r} draws photographs of these; use "
            "resample='identities', or method='recentered'."
        )
