"""Errors of every scope at given thresholds, person by person, and the sums they make.

This module computes ``ErrorSums`` and the influences of people from the sorted pairs. Intervals,
verdicts and comparisons use them. The moments of the errors of a FAR need the weight of all
impostor pairs of a scope, for each person and each pair of people. In a complete design this
weight depends only on how many images each has, so people with as many images are one kind.
For listed pairs the sums are counted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numba import njit

from skfairfr._core import _pairs, _rates
from skfairfr._core._bootstrap import threshold_in
from skfairfr._core._jackknife import (
    ErrorSums,
    genuine_sums,
    impostor_sums,
    lost,
    never_falling,
    rate_ends,
)
from skfairfr._core._paired import clusters
from skfairfr._core._resampling import Weights

# Numbers of errors at which a rate is bounded: all small ones, then eight an octave. Between
# them a bound n + c sqrt(n) is taken as linear. That is at most h**2 / 32 of c sqrt(n) off
# for numbers a share h apart, here 0.03 % (h = 0.09).
NUMBERS = np.unique(np.rint(2 ** np.arange(0, 40, 1 / 8)).astype(np.int64))
# Weights of people's errors in memory at a time, (n_levels, n_people): 32 MiB an array.
MOST_WEIGHTS = 2**22
# About so many pairs are counted, or sorted by people, at a time.
MOST_PAIRS = 2**21
# Kinds of people whose pairs are weighed at a time, with all others.
MOST_KINDS = 1024


@dataclass(frozen=True)
class ErrorCounts:
    """Errors of a scope at several thresholds.

    Attributes
    ----------
    sums : ErrorSums
        Each (n_levels,).
    lost : ndarray, shape (n_levels, n_people)
        Change of the errors without each person: see :func:`lost`.
    of_person : ndarray, shape (n_levels, n_people)
        Weight of the errors that each person is in.
    of_pairs : ndarray, shape (n_people,)
        Weight of all pairs that each person is in.
    ends : {1, 2}
        How many people a pair is in: 1 of genuine pairs, 2 of impostor pairs.
    squared_weights : float or None
        See :func:`genuine_sums`.
    powers, sizes : ndarray and tuple, or None
        See :func:`impostor_sums`, or None for genuine pairs.
    """

    sums: ErrorSums
    lost: np.ndarray
    of_person: np.ndarray
    of_pairs: np.ndarray
    ends: int = 1
    squared_weights: float | None = None
    powers: np.ndarray | None = None
    sizes: tuple | None = None

    @property
    def influence(self):
        """Of each person on the logarithm of the rate, (n_levels, n_people). 0 without errors.

        Adds up in squares to the variance of the logarithm, but clusters of impostor pairs
        count twice.
        """
        errors = self.sums.errors[:, None]
        return self.lost / np.where(errors != 0, errors, 1.0)


def errors_first(pairs, scope, rate, sampled=False, thresholds=()):
    """The pairs of a scope in the order in which they become errors.

    Parameters
    ----------
    pairs : EmbeddingPairs or ListedPairs
    scope : None, (g, g) or (g, h)
    rate : {"far", "frr"}
    sampled : bool, default=False
        Whether impostor pairs come from a uniform sample, each for many.
    thresholds : array-like, shape (n_levels,), default=()
        NaN makes no error.

    Returns
    -------
    sequence : PairSequence
    positions : ndarray of int, shape (n_levels,)
        How many of the first are errors.
    """
    if rate == "far":
        sequence = pairs.impostors(scope, sampled)
        return sequence, _rates.count_at_least(sequence.scores, thresholds)
    at = np.where(np.isnan(thresholds), -np.inf, thresholds)
    return pairs.genuine.ascending(scope), pairs.genuine.rejected(scope, at)


def errors_of(pairs, scope, rate, thresholds, sampled=False):
    """Errors of a scope at thresholds (n_levels,). Arguments as in :func:`errors_first`.

    Returns
    -------
    counts : ErrorCounts
    """
    sequence, positions = errors_first(pairs, scope, rate, sampled, thresholds)
    base, n_people = sequence.base, pairs.images.n_identities
    complete = rate == "far" and pairs.totals is not None
    n_known = positions.max(initial=0) if complete and not sampled else None
    left, right = sequence.identities(pairs.images, n_known)
    stratum, n_ends = None, 1 if sequence.of_one or rate == "frr" else 2
    if scope is not None and pairs.strata is not None:
        stratum = pairs.strata.of(sequence, scope, rate)[:n_known]

    def people(times=None):
        """People of the pairs, of which each weighs ``times`` as much, (n_strata,)."""
        if complete:
            totals = pairs.totals if times is None else pairs.totals.times(times)
            return people_of(totals, scope)
        if sequence.of_one:
            return People(pairs.of_people(scope, rate), (), None, None)
        weights = base if times is None else times[stratum] * base
        if n_ends == 2:
            return people_of_list(left, right, weights, n_people)
        of_pairs = np.bincount(left, weights, n_people).astype(np.float64)
        squared = left.size if weights is None else float((weights**2).sum())
        return People(of_pairs, (), squared, None)

    known, key = pairs.known if scope else pairs.known_of_all, ("people", scope, rate)
    if key not in known:
        known[key] = people()
    of_pairs, sizes, squared, between = known[key]
    weights = base
    if sampled and sequence.scores.size:
        # Every pair drawn represents so many, and drawing adds to the variance.
        drawn = np.ones(sequence.scores.size) if base is None else base
        weights = drawn * (of_pairs.sum() / 2 / drawn.sum())
        added = float((weights**2).sum())
        squared += added
        sizes = (sizes[0] + added, *sizes[1:])
    errors = left, right, weights, positions, n_people
    of_person, powers = errors_by_person(*errors, between)
    if stratum is None:
        parts, expected = lost(of_person, of_pairs, n_ends), None
    else:
        asked = errors, stratum, pairs.strata.n_strata, people, n_ends, sampled
        parts, *expected, independent = _by_strata(*asked)
    if n_ends == 1:
        sums = genuine_sums(of_person, of_pairs, squared, parts)
    else:
        asked = of_person, of_pairs, powers, sizes, squared, parts, expected
        sums = impostor_sums(*asked)
    if stratum is not None:
        of_one = sums.errors * (1 - sums.rate)
        some = of_one > 0
        single = np.where(some, independent / np.where(some, of_one, 1.0), sums.single)
        sums = sums._replace(single=single)
    if sequence.of_one and base is not None:
        # Errors are chances, of which one weighs what it does on average, and no less than
        # one person in a random gallery can make.
        number = chances_of_errors(sequence, positions, pairs.images)
        single = sums.errors / np.where(number > 0, number, 1.0)
        single = np.maximum(single, pairs.least[rate])
        sums = sums._replace(single=single, clustered=sums.clustered * single)
    counted = squared, powers, sizes
    return ErrorCounts(sums, parts, of_person, of_pairs, n_ends, *counted)


def _by_strata(errors, stratum, n_strata, people, n_ends, sampled):
    """Change of errors at equal covariates without people, and expectation of clusters.

    A standardised rate is a mean of those of strata, each of which is another without a
    person: what is lost is the sum of what is lost in strata.

    Returns
    -------
    lost : ndarray, shape (n_levels, n_people)
    powers, sizes : ndarrays, shapes (n_levels, 9) and (n_levels, 3)
        As ``expected`` of :func:`impostor_sums`. Empty of genuine pairs.
    independent : ndarray, shape (n_levels,)
        Variance of the errors if those of pairs were independent.
    """
    left, right, weights, positions, n_people = errors
    n_levels, found, independent = positions.size, 0.0, 0.0
    seen = people().pairs > 0
    rates, drawn = np.zeros((n_levels, n_strata)), np.zeros(n_strata)
    for s, alone in enumerate(np.eye(n_strata)):
        inside, (of_pairs, _, squared, _) = np.flatnonzero(stratum == s), people(alone)
        own = left[inside], right[inside], weights[inside]
        n_errors = np.searchsorted(inside, positions)
        of_person, _ = errors_by_person(*own, n_errors, n_people)
        found = found + lost(of_person, of_pairs, n_ends, seen)
        rates[:, s] = of_person.sum(axis=1) / (of_pairs.sum() or 1.0)
        drawn[s] = (own[2] ** 2).sum() if sampled else 0.0
        independent += (squared + drawn[s]) * rates[:, s] * (1 - rates[:, s])
    powers, sizes = np.empty((n_levels, 9)), np.empty((n_levels, 3))
    for level, rate in enumerate(rates if n_ends == 2 else ()):
        _, sizes[level], _, between = people(rate)
        sizes[level, 0] += rate**2 @ drawn
        asked = left, right, weights, positions[[level]], n_people
        powers[level] = errors_by_person(*asked, between)[1]
    return found, powers, sizes, independent


def accepted_shares(pairs, scope, threshold, sampled=False):
    """Shares of each pair of people in the accepted impostor pairs of a scope.

    Parameters
    ----------
    pairs : EmbeddingPairs or ListedPairs
    scope : None, (g, g) or (g, h)
    threshold : float
        NaN accepts no pair.
    sampled : bool, default=False

    Returns
    -------
    shares : sparse array, shape (1, n_people**2)
        See :func:`~skfairfr._core._paired.clusters`. They add up to 1, or to 0 of none.
    """
    found = _of_two(pairs, scope, threshold, sampled)
    return found / max(found.sum(), np.finfo(np.float64).tiny)


def _of_two(pairs, scope, threshold=-np.inf, sampled=False):
    """Weights of accepted image pairs of each pair of people, sparse (1, n_people**2)."""
    sequence = pairs.impostors(scope, sampled)
    n = int(_rates.count_at_least(sequence.scores, threshold))
    n = 0 if sequence.of_one else n  # which no two people add to
    left, right = sequence.identities(pairs.images, n)
    weights = np.ones(n) if sequence.base is None else sequence.base[:n]
    return clusters(left, right, weights, pairs.images.n_identities)


def weights_of_two(pairs, scope, couples):
    """Weights of all impostor pairs of a scope between two people.

    Parameters
    ----------
    pairs : EmbeddingPairs or ListedPairs
    scope : None, (g, g) or (g, h)
    couples : ndarray of int, shape (n_couples,)
        Keys as in :func:`~skfairfr._core._paired.clusters`.

    Returns
    -------
    weights : ndarray, shape (n_couples,)
    sums : ndarray, shape (4,)
        Sums over all couples of the first to fourth power.
    """
    if pairs.totals is None:
        every = _of_two(pairs, scope)
        # SciPy gives a sparse array if none is asked for.
        weights = every[[0], couples] if couples.size else np.empty(0)
        return weights, np.array([(every.data**power).sum() for power in (1, 2, 3, 4)])
    known = pairs.known.get(("people", scope, "far")) or people_of(pairs.totals, scope)
    of_people, sizes, _, between = known
    left, right = np.divmod(couples, of_people.size)
    if callable(between):
        weights = between(left, right)
    else:
        kind, size = between
        weights = size[kind[left], kind[right]]
    return weights, np.array([of_people.sum() / 2, *sizes])


def threshold_of(pairs, scope, levels, sampled=False):
    """Thresholds at which the FAR of a scope meets levels, or nan beyond what is stored.

    Parameters
    ----------
    pairs : EmbeddingPairs or ListedPairs
    scope : None or (g, g)
    levels : ndarray, shape (n_levels,)
    sampled : bool, default=False

    Returns
    -------
    thresholds : ndarray, shape (n_levels,)
    """
    found = threshold_in(pairs, scope, levels, Weights(), sampled)[:, 0]
    if pairs.impostors(scope, sampled).complete:
        return found
    return np.where(np.isneginf(found), np.nan, found)


@dataclass(frozen=True)
class RateCurve:
    """A rate of a scope as its errors grow, whatever thresholds are asked about.

    Attributes
    ----------
    place : ndarray, shape (n_places,)
        Increasing: weights of errors, or logarithms of the levels that set thresholds.
    sums : ErrorSums
        Each (n_places,).
    added : ndarray, shape (n_places,), or float
        See :func:`rate_ends`.
    pivot : int
        See :func:`never_falling`.
    """

    place: np.ndarray
    sums: ErrorSums
    added: np.ndarray | float
    pivot: int
    _bounds: dict = field(default_factory=dict, init=False, repr=False, compare=False)

    def upper_bounds(self, tail):
        """Upper bounds of the rate, one-sided, which never fall, (n_places,). Kept by tail."""
        if tail not in self._bounds:
            high = rate_ends(self.sums, tail, self.added)[1]
            self._bounds[tail] = never_falling(high, self.pivot)
        return self._bounds[tail]

    def most_errors(self, tail, limit):
        """Largest weight of errors of which the upper bound is within a limit.

        NaN where not even that of no error is, or where nothing is known.
        """
        high = self.upper_bounds(tail)
        n = np.count_nonzero(high <= limit)
        if n in (0, high.size):
            return float(self.place[-1]) if n else np.nan
        part = slice(n - 1, n + 1)
        return float(np.interp(limit, high[part], self.place[part]))


def people_with_pairs(pairs, scope, rate):
    """Number of people who are in pairs of a scope."""
    if rate == "far" and pairs.totals is not None:
        return int(np.count_nonzero(people_of(pairs.totals, scope).pairs))
    sequence, _ = errors_first(pairs, scope, rate)
    people = np.concatenate(sequence.identities(pairs.images))
    return int(np.count_nonzero(np.bincount(people)))


def rate_curve_of(pairs, scope, rate, sampled=False, whole=True):
    """The RateCurve of a rate of a scope, kept for the next question.

    Parameters
    ----------
    pairs : EmbeddingPairs or ListedPairs
    scope : None, (g, g) or (g, h)
    rate : {"far", "frr"}
    sampled : bool, default=False
    whole : bool, default=True
        Whether the curve of a FAR goes on beyond a usual one. Up to there it is the same.

    Returns
    -------
    rate_curve : RateCurve
    """
    whole = whole or rate == "frr"
    known = pairs.known if scope else pairs.known_of_all
    key = ("rate_curve", rate, scope, sampled, whole)
    if key in known:
        return known[key]
    sequence, _ = errors_first(pairs, scope, rate, sampled)
    last = sequence.scores.size
    if rate == "far":
        # Up to this FAR pairs are stored, whatever an audit is asked about.
        level = _pairs.usual_far_max(pairs.images.identity.size)
        few = pairs.count(scope) <= _pairs.WHOLE_GROUP
        if few or pairs.count(None) <= _pairs.WHOLE:
            level = 1.0
        by = None if scope and scope[0] != scope[1] else scope
        at_level = threshold_of(pairs, by, np.array([level]), sampled).item()
        at_level = -np.inf if np.isnan(at_level) else at_level
        last = int(_rates.count_at_least(sequence.scores, at_level))
    n_pairs = sequence.scores.size if whole else last
    numbers = NUMBERS[NUMBERS < n_pairs]
    if whole:
        # As dense where few pairs are left that are no errors.
        numbers = np.append(numbers, n_pairs - numbers[numbers < n_pairs / 2])
    numbers = np.union1d(numbers, [0, last, n_pairs])
    # Equal scores are errors at the same thresholds.
    at = sequence.scores[numbers[1:] - 1]
    thresholds = np.append(np.inf, at)
    if rate == "frr":
        thresholds = np.append(-np.inf, _rates.next_above(at))
    thresholds, at_threshold = np.unique(thresholds, return_inverse=True)
    parts = -(-thresholds.size * pairs.images.n_identities // MOST_WEIGHTS)
    sums = [
        errors_of(pairs, scope, rate, part, sampled).sums
        for part in np.array_split(thresholds, parts)
    ]
    sums = ErrorSums.joined(sums).rows(at_threshold)
    pivot = int(np.searchsorted(numbers, last))
    known[key] = RateCurve(sums.errors, sums, 0.0, pivot)
    return known[key]


# ---- weights of all pairs, by people -------------------------------------------------


class People(NamedTuple):
    """Weights of all impostor pairs of a scope, by people.

    Attributes
    ----------
    pairs : ndarray, shape (n_people,)
        Weight of all pairs that each person is in.
    sizes : tuple of three floats
        Sums over two people of the second to fourth power of the weight of their pairs.
    squared_weights : float
        Sum of the squared weights of pairs.
    between : ndarray, shape (n_pairs,), tuple of two ndarrays, or callable
        That of all pairs of two people, as :func:`errors_by_person` takes it. For people of
        very many kinds what gives that array of their codes.
    """

    pairs: np.ndarray
    sizes: tuple
    squared_weights: float
    between: np.ndarray | tuple | Callable


def people_of_list(left, right, base, n_people):
    """Weights of listed pairs, counted.

    Parameters
    ----------
    left, right : ndarrays of int, shape (n_pairs,)
        People of the pairs.
    base : ndarray, shape (n_pairs,), or None where every pair weighs 1
    n_people : int

    Returns
    -------
    people : People
    """
    weights = np.ones(left.size) if base is None else base
    pairs = sum(np.bincount(end, weights, minlength=n_people) for end in (left, right))
    key = np.minimum(left, right).astype(np.int64) * n_people + np.maximum(left, right)
    _, cluster = np.unique(key, return_inverse=True)
    size = np.bincount(cluster, weights)
    return People(
        pairs,
        tuple(float((size**power).sum()) for power in (2, 3, 4)),
        float((weights**2).sum()),
        size[cluster],
    )


def people_of(totals, scope):
    """Weights of all impostor pairs of a scope of a complete design.

    Parameters
    ----------
    totals : Totals
    scope : None, (g, g) or (g, h)

    Returns
    -------
    people : People
    """
    scale = totals.scale(scope)
    within = scope is None and totals.impostors == "same_group"
    if within and totals.average == "identity" and totals.mixed:
        return _of_patterns(totals, scale)
    by = totals.pair_weights(scope)
    squared = float((by**2 * totals.masses_met(scope, 2)).sum())
    one, other = (totals.people_masses(side, scope) for side in (0, 1))
    kind = np.zeros(len(one), dtype=np.int64)
    for masses in (*one.T, *other.T):  # sorting whole rows takes longer
        _, inverse = np.unique(masses, return_inverse=True)
        _, kind = np.unique(kind * len(one) + inverse, return_inverse=True)
    _, first = np.unique(kind, return_index=True)
    return _of_kinds(kind, one[first] @ by, other[first], scale, squared)


def _of_patterns(totals, scale):
    """People of the identity average over same-group pairs, some in several groups."""
    (rows_0, index_0), (rows_1, index_1) = totals.patterns
    shared = rows_0 @ rows_1.T
    inverse = np.divide(1.0, shared, out=np.zeros_like(shared), where=shared > 0)
    numbers = [
        np.bincount(i, minlength=n)
        for i, n in zip((index_0, index_1), shared.shape, strict=True)
    ]
    squared = numbers[0] @ inverse @ numbers[1] - inverse[index_0, index_1].sum()
    both = np.stack([index_0, index_1])
    kinds, kind = np.unique(both, axis=1, return_inverse=True)
    # The pairs of two people weigh 1 in all, if the two share a group.
    met = (shared > 0)[kinds[0]][:, kinds[1]].astype(np.float64)
    one = np.eye(len(met))
    return _of_kinds(kind.ravel(), met, one, scale, scale * float(squared))


def _of_kinds(kind, left, right, scale, squared_weights):
    """People the weight of whose pairs depends on the kinds of both alone.

    Two people of kinds k and l have ``scale * (left[k] @ right[l] + right[k] @ left[l])``.
    """
    n = np.bincount(kind).astype(np.float64)
    own = 2 * scale * (left * right).sum(axis=1)
    pairs, sums = np.empty(n.size), np.zeros(3)
    for start in range(0, n.size, MOST_KINDS):
        block = slice(start, start + MOST_KINDS)
        size = scale * (left[block] @ right.T + right[block] @ left.T)
        pairs[block] = size @ n - own[block]
        for power in (2, 3, 4):
            each = size**power @ n - own[block] ** power
            sums[power - 2] += n[block] @ each / 2

    def between(one, other):
        one, other = kind[one], kind[other]
        products = (
            left[one, c] * right[other, c] + right[one, c] * left[other, c]
            for c in range(left.shape[1])
        )
        return scale * sum(products, np.zeros(one.size))

    if n.size <= MOST_KINDS:
        between = kind, size
    return People(pairs[kind], tuple(sums.tolist()), squared_weights, between)


# ---- errors person by person ---------------------------------------------------------


def errors_by_level(left, right, weights, positions, n_people):
    """Yield the place of each level, the smallest first, and the errors of each person.

    Parameters
    ----------
    left, right : ndarrays of int, shape (n_pairs,)
        People of the pairs, errors first. A person with herself is a genuine pair, which
        counts once.
    weights : ndarray of float64, shape (n_pairs,), or None where every pair weighs 1
    positions : ndarray of int, shape (n_levels,)
        How many of the first pairs are errors at each level, in any order.
    n_people : int

    Yields
    ------
    level : int
    errors : ndarray, shape (n_people,)
        Weight of the errors that each person is in. Changed for the next level.
    """
    errors, done = np.zeros(n_people), 0
    for level in np.argsort(positions, kind="stable"):
        last = int(positions[level])
        for start in range(done, last, MOST_PAIRS):
            part = slice(start, min(start + MOST_PAIRS, last))
            one, other = left[part], right[part]
            own = None if weights is None else weights[part]
            errors += np.bincount(one, own, n_people)
            two = one != other
            if two.any():
                own = own if own is None else own[two]
                errors += np.bincount(other[two], own, n_people)
        done = last
        yield level, errors


def errors_by_person(left, right, weights, positions, n_people, between=None):
    """Errors of each person, and powers of those of each two people, as a sequence grows.

    Parameters
    ----------
    left, right, weights, positions, n_people
        As of :func:`errors_by_level`.
    between : ndarray, shape (n_pairs,), tuple of two ndarrays, or callable, default=None
        Weight of all pairs of the two people of each of the first pairs, or the kind of each
        person, (n_people,), and what two people of these kinds have, (n_kinds, n_kinds), or
        a function of the codes of two people that returns the first.

    Returns
    -------
    of_person : ndarray, shape (n_levels, n_people)
        Weight of the errors that each person is in.
    powers : ndarray, shape (n_levels, 9), or None without ``between``
        With e the weight of the errors of two people and c that of all their pairs, sums
        over two people of e**2, e**3, e**4, e c, e**2 c, e**3 c, e c**2, e**2 c**2, e c**3.
    """
    positions = np.asarray(positions, dtype=np.int64)
    of_person = np.empty((positions.size, n_people))
    for level, errors in errors_by_level(left, right, weights, positions, n_people):
        of_person[level] = errors
    if between is None:
        return of_person, None
    order = np.argsort(positions, kind="stable")
    last = int(positions.max(initial=0))
    weights = np.ones(1) if weights is None else weights
    if callable(between):
        between = between(left[:last], right[:last])
    kinds = np.zeros(0, dtype=np.int64), np.ones((1, 1))
    if isinstance(between, tuple):
        kinds, between = between, np.ones(1)
    ends = left[:last], right[:last]
    asked = *ends, weights, between, *kinds, positions[order], n_people
    powers = np.zeros((positions.size, 9))
    step = -(-n_people * MOST_PAIRS // max(last, MOST_PAIRS))
    for first in range(0, n_people, step):
        powers[order] += _powers(*asked, first, min(first + step, n_people))
    return of_person, powers


def chances_of_errors(sequence, positions, images):
    """As how many certain errors the chances of the first searches count (Kish), (n_levels,)."""
    asked = (sequence.left, sequence.left, sequence.base, positions)
    chances, _ = errors_by_person(*asked, images.identity.size)
    squares = (chances**2).sum(axis=1)
    return chances.sum(axis=1) ** 2 / np.where(squares > 0, squares, 1.0)


@njit(nogil=True, cache=True)
def _powers(
    left, right, weights, between, kind, size, positions, n_people, first, stop
):
    """Powers of pairs whose lower person is one from ``first`` to ``stop``."""
    n_levels, n_pairs = positions.size, left.size
    weighted, sized, by_kind = weights.size > 1, between.size > 1, kind.size > 0
    powers = np.zeros((n_levels, 9))
    # Pairs by the lower of their people, in their order: what then is looked up, how much
    # of a person's errors are with each other one, stays in the cache, and pairs are read
    # one after the other.
    starts = np.zeros(stop - first + 1, dtype=np.int64)
    for p in range(n_pairs):
        one = min(left[p], right[p])
        if first <= one < stop:
            starts[one - first + 1] += 1
    for one in range(stop - first):
        starts[one + 1] += starts[one]
    place = starts[:-1].copy()
    n_moved = starts[-1]
    others = np.empty(n_moved, dtype=np.int32)
    levels = np.empty(n_moved, dtype=np.int32)
    moved = np.empty(n_moved if weighted else 0)
    sizes = np.empty(n_moved if sized else 0)
    level = 0
    for p in range(n_pairs):
        while p >= positions[level]:
            level += 1
        one, other = min(left[p], right[p]), max(left[p], right[p])
        if not first <= one < stop:
            continue
        q = place[one - first]
        others[q], levels[q] = other, level
        if weighted:
            moved[q] = weights[p]
        if sized:
            sizes[q] = between[p]
        place[one - first] = q + 1
    met = np.zeros(n_people)
    for one in range(first, stop):
        of_one = size[kind[one] if by_kind else 0]
        moves = range(starts[one - first], starts[one - first + 1])
        for q in moves:
            other = others[q]
            c = sizes[q] if sized else between[0]
            if by_kind:
                c = of_one[kind[other]]
            before, e = met[other], moved[q] if weighted else weights[0]
            after = before + e
            e2, e3 = after**2 - before**2, after**3 - before**3
            row = powers[levels[q]]
            row[0] += e2
            row[1] += e3
            row[2] += after**4 - before**4
            row[3] += e * c
            row[4] += e2 * c
            row[5] += e3 * c
            row[6] += e * c * c
            row[7] += e2 * c * c
            row[8] += e * c * c * c
            met[other] = after
        for q in moves:
            met[others[q]] = 0.0
    for level in range(1, n_levels):
        # Compiling a sum of whole rows, with its errors of shapes, takes seconds.
        for k in range(9):
            powers[level, k] += powers[level - 1, k]
    return powers
