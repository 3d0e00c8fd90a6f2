"""Errors of the rates of several scopes, and the people that they are of.

From a question about a fitted SimilarityROC to the sums that ``_core._jackknife`` judges:
intervals without resamples, tests of groups and comparisons of two systems start here.
The ends of all disparities follow from those of max / min.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import groupby

import numpy as np
from scipy import sparse

from skfairfr._core._bootstrap import point_rates
from skfairfr._core._error_counts import (
    MOST_WEIGHTS,
    RateCurve,
    accepted_shares,
    errors_of,
    rate_curve_of,
    threshold_of,
)
from skfairfr._core._jackknife import (
    Contrasts,
    ErrorSums,
    against_others,
    rate_ends,
    shrunken_rates,
)
from skfairfr._core._rates import DISPARITIES

# Between FAR levels whose rates show how fast a rate changes with its threshold. For normal
# scores the difference over a step up and one down is within 1.5 % of the derivative (FAR 1e-6
# to 0.1, FNMR 1e-4 to 0.5), and five sixths as many impostor pairs as set the threshold lie
# between. A step of 2 is within 4.3 %, one of 1.25 has half as many pairs.
STEP = 1.5
# Levels at which rates are bounded whose thresholds are set by levels: eight a decade, nearer
# to each other than a step.
FIXED_LEVELS = 10 ** (-np.arange(1, 200) / 8)


@dataclass(frozen=True)
class Evidence:
    """Errors of one rate, of several scopes at several levels.

    Attributes
    ----------
    scopes : tuple
    sums : ErrorSums
        Each (n_levels, n_scopes).
    influence : list of sparse arrays, each (n_levels, n_people)
        Of each scope: that of people on the logarithm of its rate at a given threshold.
    slope : ndarray, shape (n_levels, n_scopes)
        Derivative of the logarithm of the rate by that of the FAR which sets the threshold.
        0 at given thresholds.
    of_threshold : list of sparse arrays, each (n_levels, n_people)
        Influence of people on the logarithm of that FAR.
    variance, covariance : ndarrays, shape (n_levels, n_scopes)
        Of the logarithm of that FAR at a given threshold, and with that of the rate.
    thresholds : ndarray, shape (n_levels, n_scopes)
    asked : tuple of ThresholdSetters, shape (n_levels,)
        What each level was asked of. Levels of one query share it.
    """

    scopes: tuple
    sums: ErrorSums
    influence: list
    slope: np.ndarray
    of_threshold: list
    variance: np.ndarray
    covariance: np.ndarray
    thresholds: np.ndarray
    asked: tuple

    def bounds(self, tail):
        """Lower and upper ends of the rates, one-sided, each (n_levels, n_scopes).

        An upper end depends on its threshold, or level, alone, not on others asked about
        (but for what sends the answer to a sample), and never falls where the rate cannot.
        """
        low, high = rate_ends(self.sums, tail, self.added)
        for asked, levels in groupby(range(len(self.asked)), self.asked.__getitem__):
            rows = list(levels)
            if asked.pairs.strata is not None:
                continue
            for column in range(len(self.scopes)):
                at = self.sums.errors[rows, column]
                if asked.query.levels is not None:
                    at = asked.place_of(asked.query.levels)
                rate_curve = asked.rate_curve(column, at.max())
                high[rows, column] = np.interp(
                    at, rate_curve.place, rate_curve.upper_bounds(tail)
                )
        return low, np.maximum(high, self.sums.rate)

    @cached_property
    def compared(self):
        """The ComparedGroups of each level, a list."""
        return [ComparedGroups(self, level) for level in range(len(self.asked))]

    @cached_property
    def added(self):
        """Variance of the logarithms of rates by thresholds that move, (n_levels, n_scopes).

        The logarithm of the rate at the estimated threshold is, to first order, that at the
        true one minus ``slope`` times the error of the logarithm of the FAR which sets it.
        """
        found = self.slope**2 * self.variance - 2 * self.slope * self.covariance
        return np.where(self.sums.errors > 0, found, 0.0)

    def added_to(self, level, weights):
        """The same of contrasts of the logarithms at a level, (n_contrasts,)."""
        if len(set(self.asked[level].setters)) > 1:
            return weights**2 @ self.added[level]
        slope = weights @ self.slope[level]
        shared = weights @ self.covariance[level]
        return slope**2 * self.variance[level, 0] - 2 * slope * shared

    def with_threshold(self, place):
        """Influence on the rate of a scope whose threshold moves too, (n_levels, n_people)."""
        of_threshold = self.slope[:, [place]] * self.of_threshold[place].toarray()
        return self.influence[place].toarray() - of_threshold

    def with_threshold_of_two(self, place, level):
        """The same of each pair of people together, at one level, sparse (1, n_people**2)."""
        asked, threshold = self.asked[level], self.thresholds[level, place]
        shares = asked.shares(asked.setters[place], threshold)
        found = shares * -self.slope[level, place]
        if asked.rate == "far":
            found = found + asked.shares(self.scopes[place], threshold)
        return found

    @classmethod
    def joined(cls, parts):
        """Evidence about increasing levels, one after the other."""
        if len(parts) == 1:
            return parts[0]
        columns = {f.name: [getattr(p, f.name) for p in parts] for f in fields(cls)}
        joined = {
            "scopes": columns.pop("scopes")[0],
            "asked": sum(columns.pop("asked"), ()),
        }
        joined["sums"] = ErrorSums.joined(columns.pop("sums"))
        for name in ("influence", "of_threshold"):
            rows = zip(*columns.pop(name), strict=True)
            joined[name] = [sparse.vstack(row, format="csr") for row in rows]
        return cls(**joined, **{name: np.concatenate(c) for name, c in columns.items()})


def gather(pairs, query):
    """Evidence about the rate that a query asks for.

    Parameters
    ----------
    pairs : EmbeddingPairs or ListedPairs
    query : Query
        About one rate.

    Returns
    -------
    evidence : Evidence or None
        Of the scopes of the query that have pairs, in their order. None of none.
    """
    (rate,) = query.wanted
    query, point = point_rates(pairs, query)
    # Without a threshold of its own, a group is not judged.
    defined = ~np.isnan(point.thresholds).all(axis=1)
    places = [
        p for p, s in enumerate(query.scopes) if pairs.count(s, rate) and defined[p]
    ]
    scopes = tuple(query.scopes[p] for p in places)
    thresholds = point.thresholds.T[:, places]
    n_levels = len(thresholds)
    if not scopes:
        return None
    worst = _worst_groups(pairs, query, point)
    changes = np.flatnonzero(np.diff(worst)) + 1
    if changes.size:
        parts = [replace(query, levels=run) for run in np.split(query.levels, changes)]
        return Evidence.joined([gather(pairs, part) for part in parts])
    setters = [None] * len(scopes)
    if query.operating_point == "group":
        setters = list(scopes)
    elif query.operating_point == "worst_group":
        setters = [(worst[0], worst[0])] * len(scopes)
    asked = ThresholdSetters(pairs, query, rate, scopes, tuple(setters))
    rows = np.concatenate([thresholds, *asked.near()])
    held = [asked.where_held(scope, rows[:, p]) for p, scope in enumerate(scopes)]
    known = {}  # for this question alone: they take much memory
    counts = asked.counts(rate, zip(scopes, held, strict=True), known)
    every = ErrorSums.of_groups([c.sums for c in counts])
    sums = every.rows(slice(n_levels))
    influence = [sparse.csr_array(c.influence[:n_levels]) for c in counts]
    slope, variance, covariance = np.zeros((3, *sums.errors.shape))
    of_threshold = [sparse.csr_array(i.shape) for i in influence]
    if query.levels is not None:
        slope = _slopes(every, np.stack(held, axis=-1), n_levels)
        setting = asked.counts("far", zip(setters, rows.T, strict=True), known)
        variance, covariance = asked.threshold_set(counts, setting)[:, :n_levels]
        of_threshold = [sparse.csr_array(c.influence[:n_levels]) for c in setting]
    return Evidence(
        *(scopes, sums, influence, slope, of_threshold, variance, covariance),
        *(thresholds, (asked,) * n_levels),
    )


@dataclass(frozen=True, eq=False)
class ThresholdSetters:
    """The errors that evidence is asked of: of its scopes, and where thresholds are set.

    Attributes
    ----------
    pairs : EmbeddingPairs or ListedPairs
    query : Query
        Of one run of levels or thresholds.
    rate : {"far", "frr"}
    scopes : tuple
    setters : tuple, shape (n_scopes,)
        The scope whose FAR sets the threshold of each.
    """

    pairs: object
    query: object
    rate: str
    scopes: tuple
    setters: tuple

    def counts(self, rate, asked, known=None):
        """ErrorCounts of scopes at thresholds. No error where one is undefined.

        Parameters
        ----------
        rate : {"far", "frr"}
        asked : iterable of tuples (scope, thresholds)
        known : dict, default=None
            In which answers are kept for the next call.

        Returns
        -------
        counts : list of ErrorCounts
        """
        found, known = [], {} if known is None else known
        for scope, thresholds in asked:
            key = (rate, scope, thresholds.tobytes())
            if key not in known:
                sampled = rate == "far" and scope in self.query.sampled
                known[key] = errors_of(self.pairs, scope, rate, thresholds, sampled)
            found.append(known[key])
        return found

    def shares(self, scope, threshold):
        """Shares of each pair of people in accepted impostor pairs, sparse (1, n_people**2)."""
        key = ("shares", scope, float(threshold))
        if key not in self.pairs.known:
            asked = (self.pairs, scope, threshold, scope in self.query.sampled)
            self.pairs.known[key] = accepted_shares(*asked)
        return self.pairs.known[key]

    def rate_curve(self, column, place):
        """The RateCurve of the rate of a scope: by its errors, to ``place`` at least, or by levels."""
        if self.query.levels is not None:
            levels, found = self._at_fixed_levels
            place, pivot = self.place_of(levels), levels.size - 1
            if self.rate == "frr":
                # Stricter levels than the last that some impostor pair sets have its
                # threshold.
                pivot = max(int((found.variance[:, column] > 0).sum()) - 1, 0)
            rows = np.argsort(place)
            sums = found.sums.columns(column).rows(rows)
            return RateCurve(place[rows], sums, found.added[rows, column], pivot)
        scope = self.scopes[column]
        sampled = self.rate == "far" and scope in self.query.sampled
        asked = (self.pairs, scope, self.rate, sampled)
        rate_curve = rate_curve_of(*asked, whole=False)
        return rate_curve if place <= rate_curve.place[-1] else rate_curve_of(*asked)

    def place_of(self, levels):
        """A quantity that grows with the rate: the logarithm of levels, or minus it."""
        return np.log(levels) * (1 if self.rate == "far" else -1)

    @cached_property
    def _at_fixed_levels(self):
        """Levels as far as they are stored and resolved, and the Evidence about them."""
        setters = self.query.setters()
        sampled = self.query.sampled
        least = 1 / max(map(self.pairs.count, setters))
        levels = np.append(FIXED_LEVELS[FIXED_LEVELS >= least], least / STEP)
        if not all(s in sampled or self.pairs.impostors(s).complete for s in setters):
            far_max = self.pairs.far_held(setters)
            levels = np.append(far_max, levels[levels < far_max])
        levels = np.sort(levels)
        # Each level is asked about at three thresholds: see `near`.
        n_weights = 3 * levels.size * self.pairs.images.n_identities
        parts = [
            gather(self.pairs, replace(self.query, levels=part))
            for part in np.array_split(levels, -(-n_weights // MOST_WEIGHTS))
        ]
        return levels, Evidence.joined(parts)

    def near(self):
        """Thresholds a step below and above each level, two (n_levels, n_scopes).

        NaN where the pairs down to one are not stored.
        """
        levels, n_scopes = self.query.levels, len(self.scopes)
        if levels is None:
            return [np.empty((0, n_scopes))] * 2
        asked, sampled = np.append(levels / STEP, levels * STEP), self.query.sampled
        of = {
            s: threshold_of(self.pairs, s, asked, s in sampled) for s in {*self.setters}
        }
        return np.split(np.stack([of[s] for s in self.setters], axis=-1), 2)

    def where_held(self, scope, thresholds):
        """The thresholds, nan where not all pairs that one accepts are stored."""
        whole = scope in self.query.sampled or self.pairs.impostors(scope).complete
        if self.rate == "frr" or whole:
            return thresholds
        held = self.pairs.holds(scope, np.nan_to_num(thresholds, nan=-np.inf))
        return np.where(held, thresholds, np.nan)

    def threshold_set(self, counts, setting):
        """How the FARs that set the thresholds vary, alone and with the rates.

        Parameters
        ----------
        counts, setting : lists of ErrorCounts
            Of each scope, and of the FARs that set its thresholds.

        Returns
        -------
        variance, covariance : ndarrays, shape (n_levels, n_scopes)
            Of the logarithms, or 0 where no impostor pair sets the threshold.
        """
        found = []
        for scope, setter, own, by in zip(
            self.scopes, self.setters, counts, setting, strict=True
        ):
            together = (own.influence * by.influence).sum(axis=1)
            errors = by.sums.errors
            counted = np.where(errors > 0, errors, 1.0)
            inside = None in (scope, setter) or scope == setter
            if inside and self.pairs.people_in[self.rate] == 2:
                # What two people add to both, who count twice: those of the smaller scope.
                inner = by if scope is None else own
                e2, ec, c2 = inner.powers[:, 0], inner.powers[:, 3], inner.sizes[0]
                one, other = own.sums.rate, by.sums.rate
                of_scope = np.where(own.sums.errors > 0, own.sums.errors, 1.0)
                shared = e2 - (one + other) * ec + one * other * c2
                together = together - shared / (of_scope * counted)
            moments = by.sums.variance / counted**2, together
            found.append(np.where(errors > 0, moments, 0.0))
        return np.stack(found, axis=-1)


def _slopes(every, rows, n_levels):
    """Derivative of the logarithm of each rate by that of the FAR, (n_levels, n_scopes)."""
    here, low, high = (
        every.rows(slice(n_levels * part, n_levels * (part + 1))) for part in range(3)
    )
    beyond = np.isnan(rows[2 * n_levels : 3 * n_levels])
    half = here.single / 2
    upper = np.where(beyond, here.errors, high.errors)
    span = np.where(beyond, 1.0, 2.0) * np.log(STEP)
    return np.log((upper + half) / (low.errors + half)) / span


def _worst_groups(pairs, query, point):
    """The group whose FAR is the largest at the threshold of each level, (n_levels,)."""
    if query.levels is None or query.operating_point != "worst_group":
        return np.full(point.thresholds.shape[1], -1)
    own, at = [(g, g) for g in query.operating_groups], point.thresholds[0]
    fars = [errors_of(pairs, s, "far", at, s in query.sampled).sums.rate for s in own]
    return np.array(query.operating_groups)[np.argmax(fars, axis=0)]


# ---- intervals and tests from evidence, without replicates ---------------------------


class ComparedGroups:
    """The groups of an evidence, each against the others, at one level.

    Parameters
    ----------
    evidence : Evidence
    level : int

    Attributes
    ----------
    sums : ErrorSums
        Of the level, each (n_groups,).
    weights : ndarray, shape (n_groups, n_groups)
        Of each group against the others.
    n_tests : int
        Number of different hypotheses.
    tests : Contrasts
        Of each group against the geometric mean of the others.
    """

    def __init__(self, evidence, level):
        self.evidence, self.level = evidence, level
        self.sums = evidence.sums.rows(level)
        self.weights = against_others(self.sums)
        n_compared = int((self.weights != 0).any(axis=1).sum())
        self.n_tests = 1 if n_compared == 2 else n_compared
        self.tests = self.contrasts(self.weights)
        self._largest_ratio = {}

    @cached_property
    def p_value(self):
        """Of the hypothesis that all groups have the same rate, or nan without two groups."""
        if not self.n_tests:
            return np.nan
        return float(min(self.n_tests * self.tests.p_value.min(), 1.0))

    def contrasts(self, weights):
        """Contrasts of the logarithms of the rates, (n_contrasts, n_groups)."""
        added = self.evidence.added_to(self.level, weights)
        return Contrasts(self.sums, weights, added)

    def of_disparity(self, how, groups=None):
        """Contrasts of which the largest is the logarithm of a disparity, a block at a time.

        Parameters
        ----------
        how : str
            Name of a disparity with ``contrasts``.
        groups : sequence of int or ndarray of bool, default=None
            None: those with pairs of two people, of a mean over groups all that have pairs.
        """
        if groups is None:
            ratio, sums = how == "max_min", self.sums
            groups = np.flatnonzero(sums.is_known if ratio else sums.pairs > 0)
        for block in DISPARITIES[how].contrasts(len(groups)):
            weights = np.zeros((len(block), self.sums.pairs.size))
            weights[:, groups] = block
            yield self.contrasts(weights)

    def largest_ratio(self, tail):
        """Lower and upper bound of the largest ratio of two rates, each one-sided.

        Returns
        -------
        low, high : floats, 1 at least
            ``low`` is above 1 if the rate of some group differs from that of the others,
            and then the largest of all bounds that are valid together. ``high`` is the largest
            of the bounds of two groups, of which one is that of the largest ratio. NaN
            without two groups.
        """
        if not self.n_tests:
            return np.nan, np.nan
        if tail in self._largest_ratio:
            return self._largest_ratio[tail]
        low, high = self.tests.bounds(tail / self.n_tests)
        # The largest rate is no less than a group's, and the least no more than the mean.
        ends = np.fmax(low, 1 / np.where(high > 0, high, np.inf))
        found, most = float(np.nanmax(ends)), 0.0
        differs, n_pairs = found > 1, self.n_tests * (self.n_tests - 1) / 2
        for pairs in self.of_disparity("max_min"):
            most = max(most, float(pairs.bounds(tail)[1].max()))
            if differs:
                below = pairs.bounds(tail / max(n_pairs, 1))[0]
                found = max(found, float(below.max()))
        alone = (self.sums.pairs > 0) & (self.weights == 0).all(axis=1)
        if alone.any():  # one person does not bound a group's rate
            most = np.inf
        self._largest_ratio[tail] = max(1.0, found), max(1.0, most)
        return self._largest_ratio[tail]


def analyse(evidence, question, confidence_level):
    """Intervals, bias-corrected values and p-values of a question, by the fields of Estimate.

    Parameters
    ----------
    evidence : Evidence
        About the question's levels, of the scopes that it is about at least.
    question : RateRequest
    confidence_level : float in (0, 1)

    Returns
    -------
    found : dict of str -> ndarray, shape (n_levels,)
        ``low`` and ``high``, the ends of the interval, nan without two groups, and of a
        function that the user gives, of which nothing is known but its values.
        ``standard_error``, nan of a disparity of all groups. A disparity also has
        ``corrected``, that of shrunken rates, from which the upward bias is removed, and
        ``p_value``, that all groups have the same rate in the population.
    """
    tail, names = (1 - confidence_level) / 2, ("low", "high", "standard_error")
    if question.how is not None:
        names = (*names, "corrected", "p_value")
    found = {name: np.full(len(evidence.slope), np.nan) for name in names}
    if question.how is None:
        place = place_of(evidence, question.scope)
        if place is None:
            return found
        error = evidence.sums.rate_error(evidence.added)
        columns = (*evidence.bounds(tail), error)
        return dict(zip(names, (of[:, place] for of in columns), strict=True))
    if len(evidence.scopes) < 2:
        return found
    if question.picked:  # the second rate over the first
        scopes, rows = [(g, g) for g in question.picked], []
        if not set(scopes) <= set(evidence.scopes):
            return found
        places = [evidence.scopes.index(scope) for scope in scopes]
        for compared in evidence.compared:
            (ratio,) = compared.of_disparity("ratio", places)
            error = np.exp(ratio.value) * ratio.error
            rows.append(np.concatenate([*ratio.bounds(tail), error, ratio.p_value]))
        names = ("low", "high", "standard_error", "p_value")
        return found | dict(zip(names, np.transpose(rows), strict=True))
    for level, compared in enumerate(evidence.compared):
        found["low"][level], found["high"][level] = compared.largest_ratio(tail)
        found["p_value"][level] = compared.p_value
        rates = shrunken_rates(compared.sums)
        corrected = question.how.function(rates)
        if np.ptp(rates) == 0 and not np.isnan(question.how.neutral):
            corrected = question.how.neutral
        found["corrected"][level] = corrected
    ends = evidence.bounds(tail) if question.how.in_rates else ()
    of_ratio = found["low"], found["high"], len(evidence.scopes)
    low, high = _ends_from(question.how, *of_ratio, ends)
    return found | {"low": low, "high": high}


def _ends_from(how, low, high, n_groups, ends):
    """Ends of a disparity from those of max / min.

    No rates with that max / min have a disparity beyond them. The intervals of all disparities
    therefore agree on whether groups differ.
    """
    if how.range_of is None:
        return (np.full(low.size, np.nan),) * 2
    least, _ = how.range_of(1 / low, n_groups)
    _, most = how.range_of(1 / high, n_groups)
    if how.in_rates:
        # ends are those of the rates' intervals, (n_levels, n_groups) each.
        least, most = ends[0].max(axis=-1) * least, ends[1].max(axis=-1) * most
    return least, most


def place_of(evidence, scope):
    """Position of a scope in the evidence, or of (h, g) for (g, h), or None without pairs."""
    for same in (scope, scope and scope[::-1]):
        if same in evidence.scopes:
            return evidence.scopes.index(same)
    return None
