"""The engine of SimilarityROC: from a checked question to rates, replicates and warnings.

``Engine`` computes tables of rates with ``_core``, caches them, and warns of undefined and
unresolved values. ``_estimates`` turns a table into a value with its interval.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from skfairfr._core import _bootstrap
from skfairfr._core._bootstrap import Query, point_rates, rate_table
from skfairfr._core._kinds import PAIRS, Terms
from skfairfr._core._rates import count_at_least, exceeds, shortest_between
from skfairfr._core._score_costs import CostTable, cost_table
from skfairfr._core._support import support_of, words_of
from skfairfr.metrics._roc import _estimates, _evidence
from skfairfr.metrics._roc._question import parse_question
from skfairfr.utils._validation import warn_caller, warn_undefined

# Resamples of identities that show whether an interval over images is far too narrow: the
# standard deviation of 50 is known to 10 %, one over the root of 2 * 49.
N_COMPARED = 50
# A 95 % interval that is so many times too narrow covers 81 %: P(abs(z) < 1.96 / 1.5).
ESTIMAND_RATIO = 1.5


def level_with_errors(rate, level="far"):
    """Which level of the FAR has more errors of a rate."""
    return f"{'larger' if rate == 'far' else 'smaller'} {level}"


class EstimandWarning(UserWarning):
    """The interval covers the people in the data only. Other people vary much more.

    Issued by :class:`~skfairfr.metrics.SimilarityROC` with ``resample="images"`` when the
    standard error over new people from the same population is more than 1.5 times that
    over other photographs of these people.
    """


def left_out_in_words(terms, lacking, groups, rate):
    """That groups without trials of some rates are left out of a disparity."""
    trials = " or no ".join(terms[of].trial for of in lacking)
    return (
        f"No {trials} within group {', '.join(groups)}: left out of the disparity of the "
        f"{terms[rate].name}."
    )


class Unresolved(NamedTuple):
    """A FAR level below the smallest one that the impostor pairs of a group resolve."""

    far: float
    smallest: float
    group: object

    def in_words(self, terms=PAIRS):
        """The same in a text."""
        return (
            f"{terms.level}={self.far:g} is below 1 / ({terms.far.trials}) = "
            f"{self.smallest:.3g}, the smallest {terms.far.name} these data can resolve"
        )


@dataclass(eq=False)
class Engine:
    """Computes rates, replicates and answers from fitted pairs.

    Parameters
    ----------
    pairs : EmbeddingPairs or ListedPairs
    groups : ndarray, shape (n_groups,)
        Labels.
    far_max : float
        Largest level computed from all pairs. Larger ones are computed from samples.
    resampling : Resampling, default=None
        None is enough for rates in the data: :meth:`points`, :meth:`thresholds`.
    method : str, default="recentered"
        Of intervals, as of SimilarityROC.
    confidence_level : float, default=0.95
    images_named : bool, default=True
        Whether images can be resampled.
    terms : Terms, default=PAIRS
        Words of messages.

    Attributes
    ----------
    question : callable
        Checks the arguments of ``SimilarityROC.estimate``, and returns a RateRequest.
    drawn : Resampling or None
        What intervals are made of. None of "jackknife".
    two_sides : bool
        Whether probes are compared with references.
    """

    pairs: object
    groups: np.ndarray
    far_max: float
    resampling: object = None
    method: str = "recentered"
    confidence_level: float = 0.95
    images_named: bool = True
    terms: Terms = PAIRS

    def __post_init__(self):
        self.question = partial(parse_question, self.groups, terms=self.terms)
        self.drawn = None if self.method == "jackknife" else self.resampling
        self.two_sides = self.pairs.images.side is not None
        self._warned_of_estimand = False

    # ---- what a question is about ----------------------------------------------------

    def scopes(self, question):
        """Scopes whose rates a value is made of: of a disparity, groups with the pairs."""
        if question.how is None:
            return [question.scope]
        rates = {question.rate}
        if question.operating_point == "group":
            rates.add("far")
        own = [(g, g) for g in question.picked or range(self.groups.size)]
        return [s for s in own if all(self.pairs.count(s, rate) for rate in rates)]

    def counts(self, question):
        """Numbers of genuine and of impostor pairs behind a question."""
        scopes = self.scopes(question)
        return tuple(
            sum(self.pairs.count(scope, rate) for scope in scopes)
            for rate in ("frr", "far")
        )

    def unresolved(self, question):
        """Levels of a question that the data cannot resolve, Unresolved, or None."""
        if question.levels is None:
            return None
        setters = self._query(question).setters(self.scopes(question))
        n_pairs = {setter: self.pairs.count(setter) for setter in setters}
        hardest = min(n_pairs, key=n_pairs.get, default=None)
        smallest, n = question.levels.min(), n_pairs.get(hardest, 0)
        if not n or not exceeds(1.0, smallest * n):
            return None
        group = None if hardest is None else self.groups[hardest[0]]
        return Unresolved(float(smallest), 1 / n, group)

    def runs(self, question, scopes=None):
        """The question and its query about each run of levels: those all pairs answer stay exact.

        Parameters
        ----------
        question : RateRequest
        scopes : tuple, default=None
            Those of the queries. If None: those that the question needs.

        Returns
        -------
        runs : list of tuples (RateRequest, Query)
            Their levels or thresholds together are those of the question, in their order.
        """
        levels, thresholds = question.levels, question.thresholds
        if thresholds is None:
            exact = levels <= self.far_max
        else:
            exact = np.ones(thresholds.size, dtype=bool)
            if question.rate == "far":
                for scope in self._query(question).scopes:
                    exact &= self.pairs.holds(scope, thresholds)
        found = []
        changes = np.flatnonzero(np.diff(exact)) + 1
        for run in np.split(np.arange(exact.size), changes):
            part = replace(
                question,
                levels=None if levels is None else levels[run],
                thresholds=None if thresholds is None else thresholds[run],
                order=np.arange(run.size),
                shape=(run.size,),
            )
            found.append((part, self._query(part, scopes)))
        return found

    def _query(self, question, scopes=None):
        """Contents of a table of rates. Common questions about a rate share one."""
        groups, scope = range(self.groups.size), question.scope
        own = tuple((g, g) for g in groups)
        if scopes is None and scope is not None and scope[0] != scope[1]:
            scopes = (scope,)
        elif scopes is None and question.operating_point == "overall":
            scopes = (None, *own)
        elif scopes is None:
            scopes = (None,) if scope is None and question.how is None else own
        with_impostors = tuple(g for g in groups if self.pairs.count((g, g)))
        asked = (question.levels, question.thresholds, question.operating_point)
        return Query(*asked, scopes, with_impostors, wanted=(question.rate,))

    # ---- rates in the data -----------------------------------------------------------

    def thresholds(self, question):
        """Thresholds in the data that meet a question's levels, in the caller's shape."""
        self._warn_unresolved(question)
        found = []
        for part, query in self.runs(question):
            query, point = point_rates(self.pairs, query)
            row = 0 if part.scope is None else query.scopes.index(part.scope)
            found.append(point.thresholds[row])
        return question.in_shape(np.concatenate(found))

    def shortest(self, threshold):
        """The shortest decimal that accepts the same pairs. What is printed is then used."""
        compared = self.pairs.compared
        # Below the floor of searches no threshold is known.
        floor = getattr(self.pairs, "floor", np.float32(-np.inf))
        rejected = float(np.nextafter(floor, -np.inf, dtype=floor.dtype))
        accepted = np.inf
        for scores in (compared.tail().scores, compared.genuine.scores):
            n_accepted = int(count_at_least(scores, threshold))
            if n_accepted:
                accepted = min(accepted, float(scores[n_accepted - 1]))
            if n_accepted < scores.size:
                rejected = max(rejected, float(scores[n_accepted]))
        return shortest_between(rejected, accepted, scores.dtype)

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
            Accepted impostor pairs or rejected genuine pairs of :meth:`scopes`.
        """
        self._warn_left_out(question)
        scopes, found, errors = self.scopes(question), [], []
        for part, query in self.runs(question):
            query, point = point_rates(self.pairs, query)
            found.append(_estimates.quantity(point, query, part, scopes))
            columns = []
            for scope in scopes:
                row = query.scopes.index(scope)
                at = point.thresholds[row]
                if part.rate == "frr":
                    n = self.pairs.genuine.rejected(scope, at)
                elif scope in query.sampled:
                    n = np.rint(point.far[row] * self.pairs.count(scope))
                else:
                    n = count_at_least(self.pairs.impostors(scope).scores, at)
                columns.append(n.astype(np.int64))
            errors.append(columns)
        return np.concatenate(found), np.concatenate(errors, axis=1)

    # ---- rates with replicates -------------------------------------------------------

    def answer(self, question, replicated=False):
        """Value, interval and support, levels in increasing order, with all warnings.

        Replicates are drawn for intervals that are made of them, or if ``replicated``.
        """
        self.check_answerable(question)
        (found,) = self.answers(question, self.resampling if replicated else self.drawn)
        if not np.isfinite(found.value).all():
            self._warn_undefined_values(question, found)
        independent = self.pairs.images.n_drawn is not None
        images = self.resampling.mode == "images" and not independent
        if images and not self._warned_of_estimand:
            n_compared = min(self.resampling.n_resamples, N_COMPARED)
            other = replace(self.resampling, mode="identities", n_resamples=n_compared)
            (over_people,) = self.answers(question, other)
            self._warn_of_estimand(found, over_people)
        return found

    def check_answerable(self, question):
        """Warn of groups and levels that lack pairs. Raise if resampling changes nothing."""
        self._warn_left_out(question)
        self._warn_unresolved(question)
        resample = self.resampling.mode
        if resample == "identities" or self.pairs.images.n_drawn is not None:
            return
        if not self.images_named:
            raise ValueError(
                f"resample={resample!r} draws images, but the pairs do not name them. Pass "
                "image_1 and image_2, or use resample='identities'."
            )
        if self.pairs.images.per_stratum().max() == 1:
            raise ValueError(
                f"resample={resample!r} draws among the images of one person, but every "
                "person has one (on each side), and nothing would vary. Use "
                "resample='identities'."
            )

    def answers(self, question, resampling, scopes=None):
        """Answers about the question's scope or about each of some scopes, a list."""
        runs = []
        for part, query in self.runs(question, scopes):
            known, key = self.pairs.known, (query.key, resampling)
            # Answers about many scopes may push the table out of what is known.
            table = known.get(key)
            if table is None:
                table = known[key] = rate_table(self.pairs, query, resampling)
            about = [replace(part, scope=s) for s in scopes or [part.scope]]
            runs.append(
                [_estimates.answer(self, table, of_scope) for of_scope in about]
            )
        if len(runs) == 1:
            return runs[0]
        return [_estimates.joined(parts) for parts in zip(*runs, strict=True)]

    def errors_and_people(self, question, thresholds):
        """Errors of a rate at the thresholds of its levels, and the people in them."""
        found, first = [], 0
        for part, query in self.runs(question):
            at, first = thresholds[first:][: part.order.size], first + part.order.size
            query, _ = point_rates(self.pairs, query)
            asked = (part.scope, at, part.scope in query.sampled)
            support = support_of(self.pairs, part.rate, *asked)
            found.append((support.n_errors, support.n_identities))
        return np.concatenate(found, axis=1)

    def cells(self, question):
        """Answers at one level about each pair of groups, by scope, from one table."""
        self.check_answerable(question)
        groups = range(self.groups.size)
        # Without sides (h, g) is the same.
        scopes = tuple(
            (g, h) for g in groups for h in groups[0 if self.two_sides else g :]
        )
        found = self.answers(question, self.drawn, scopes)
        return dict(zip(scopes, found, strict=True))

    def evidence(self, question, scopes=None):
        """Evidence about a question's rates in these scopes. None of no pairs.

        None: in all scopes like the question's own, but for two groups only in theirs.
        """
        parts = [self.evidence_of(part, scopes) for part, _ in self.runs(question)]
        return None if None in parts else _evidence.Evidence.joined(parts)

    def evidence_of(self, part, scopes=None):
        """The same about one part of a question."""
        if scopes is None:
            scopes = tuple((g, g) for g in range(self.groups.size))
            if part.how is None and part.scope not in scopes:
                scopes = (part.scope,)
        query = self._query(part, scopes)
        known, key = self.pairs.known, ("evidence", query.key)
        if key not in known:
            known[key] = _evidence.gather(self.pairs, query)
        return known[key]

    def equal_error_rate(self, question):
        """Answer about the equal error rate of the question's scope, as one level."""
        if (lacking := self._lacks_pairs(question, "equal error rate")) is not None:
            return lacking
        self.check_answerable(question)
        rates = _bootstrap.equal_error_rates(self.pairs, question.scope, self.drawn)
        return _estimates.answer_equal_error(self, rates, question)

    def score_cost(self, question, cost, resampled=True):
        """Answer about a ScoreCost of the question's scope, or of all groups, as one level.

        Resamples are drawn for its interval unless ``resampled`` is False.
        """
        name = {"auc": "area under the ROC curve", "dcf": "detection cost"}
        if (
            lacking := self._lacks_pairs(question, name.get(cost.name, "Cllr"))
        ) is not None:
            return lacking
        self.check_answerable(question)
        scopes = tuple(self.scopes_of_both(question))
        table = None
        if question.how is None or len(scopes) > 1:
            table = self._costs(scopes, cost, self.resampling if resampled else None)
        return _estimates.answer_cost(self, table, question, cost)

    def _costs(self, scopes, cost, resampling):
        """The CostTable of some scopes. That of each is kept."""
        known, tables = self.pairs.known, []
        for scope in scopes:
            key = scope, cost, resampling
            if key not in known:
                known[key] = cost_table(self.pairs, scope, cost, resampling)
            tables.append(known[key])
        return CostTable.joined(tables)

    def scopes_of_both(self, question):
        """Those of :meth:`scopes` that have genuine and impostor pairs."""
        return [s for s in self.scopes(question) if self.pairs.count(s)]

    def _lacks_pairs(self, question, name):
        """The undefined answer, after a warning, if one kind of pairs is absent, else None."""
        scope, counts = question.scope, self.counts(question)
        if all(counts):
            return None
        found = _estimates.no_equal_error(self, question, counts)
        words = (words_of(reason, self.terms) for reason in found.reasons[0])
        whose = " and ".join(words)
        where = "overall" if scope is None else f"in {str(self.groups[scope[0]])!r}"
        warn_undefined(
            f"There is {whose} {where}: the {name} is undefined and set to nan."
        )
        return found

    # ---- warnings --------------------------------------------------------------------

    def _warn_left_out(self, question):
        """Warn of groups that cannot take part in a disparity."""
        if question.how is None:
            return
        used = self.scopes(question)
        wanted = question.picked or range(self.groups.size)
        left_out = [repr(str(self.groups[g])) for g in wanted if (g, g) not in used]
        if left_out:
            lacking = (question.rate,)
            if question.operating_point == "group" and question.rate == "frr":
                lacking = ("frr", "far")
            warn_undefined(
                left_out_in_words(self.terms, lacking, left_out, question.rate),
                "left_out",
                lacking=lacking,
                groups=left_out,
                rate=question.rate,
            )

    def _warn_unresolved(self, question):
        terms = self.terms
        if question.levels is not None and not self.pairs.count(None):
            warn_undefined(
                f"No {terms.far.trial}, so no threshold meets a level of the "
                f"{terms.far.name}: what is asked at one is undefined and set to nan. Give "
                "threshold=."
            )
        unresolved = self.unresolved(question)
        if unresolved is not None:
            warn_undefined(
                f"{unresolved.in_words(terms)}: the threshold is the one just above the "
                f"largest score of the {terms.far.trials}. Give a larger {terms.level} or "
                "more people.",
                "below_resolution",
                **unresolved._asdict(),
            )

    def _warn_undefined_values(self, question, found):
        """Say why some are nan, or a ratio over groups without any error is +inf."""
        rate, terms = self.terms[question.rate].name, self.terms
        if question.levels is not None and not self.pairs.count(None):
            return  # a former warning reported it
        if question.how is not None:
            warn_undefined(
                f"A group has no error, so the disparity of the {rate} is x/0 (+inf) "
                "or 0/0 (nan). Use how='difference', a "
                f"{level_with_errors(question.rate, terms.level)}, or more people.",
                "no_error",
                rate=question.rate,
            )
        else:
            own_threshold = question.operating_point == "group"
            needed = {"frr": question.rate == "frr"}
            needed["far"] = question.rate == "far" or own_threshold
            n_pairs = dict(zip(needed, self.counts(question), strict=True))
            missing = [
                terms[of].trial for of in needed if needed[of] and not n_pairs[of]
            ]
            where = "" if question.scope is None else " in the group asked for"
            warn_undefined(
                f"No {' and no '.join(missing)}{where}: the {rate} is undefined and set "
                "to nan."
            )

    def _warn_of_estimand(self, found, over_people):
        """Warn once per fit that the standard error over new people is larger."""
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = over_people.standard_error / found.standard_error
        ratio = ratio[np.isfinite(ratio)]
        if ratio.size and ratio.max() > ESTIMAND_RATIO:
            self._warned_of_estimand = True
            warn_caller(
                "resample='images' is about these people in other photographs. Over "
                "new people from the same population the standard error is "
                f"{ratio.max():.1f} times as large. SimilarityROC(resample='identities') "
                "returns that interval.",
                EstimandWarning,
                "estimand",
                ratio=float(ratio.max()),
            )
