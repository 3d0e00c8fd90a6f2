"""Confidence intervals of rates, by leaving out one person at a time.

A person's errors depend on each other, and so do those of the same two people: what is
independent are people. ``ErrorSums`` contains the errors of a rate and three moments of what
the rate loses without one person (the jackknife): its variance, in which what two people
share counts once, its skewness, and how well the variance is known. ``rate_ends`` makes of
them an interval, which of independent errors is the exact one of a Poisson number, however
few they are. ``Contrasts`` compares rates by the ends of their intervals (MOVER), so an
interval of a ratio, its p-value and the intervals of both rates cannot disagree.

References: Efron & Stein (1981) and Fogliato, Patil & Perona (2024) for the variance,
Helmers (1991) for the skewness of a statistic of pairs of people, Hall (1992), "On the
removal of skewness by transformation", Garwood (1936) for a Poisson number, and Zou & Donner
(2008) for MOVER.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import gammainccinv, gammaincinv, ndtr, ndtri, stdtrit

# An interval of fewer independent errors reaches over more than a factor of ten (Garwood's
# of 3 is 0.21 to 2.9 times the rate), so such groups are no standard for others.
FEWEST_ERRORS = 4.0
# A person with a larger share of the pairs is left out as if it were this one: without all
# pairs there is no rate. Two people with half of the pairs each are left out exactly.
MOST_LEFT_OUT = 0.5
# Least share of a variance that a threshold set on the same data may leave. The rest is a
# difference of estimates, which can be 0 or negative: a standard error stays a tenth, at
# least, of that at a given threshold (a correlation of 0.995 with what sets it).
LEAST_SHARE = 0.01
# Below it a number is as good as even: quantiles of larger Poisson numbers lose digits.
LEAST_SKEWNESS = 1e-3
# Tails between which p-values are found: 2e-16 is what rounding leaves of 1, and a p-value
# above 0.9998 is 1. Regula falsi needs about ten steps, and stops after so many.
SMALLEST_TAIL, LARGEST_TAIL = 1e-16, 0.4999
PRECISION, STEPS = 1e-12, 40
# How often the weight of two people's pairs is a factor of each of the nine powers.
WITH_SIZES, WITH_ALL = np.array([0, 0, 0, 1, 1, 1, 2, 2, 3]), np.array([2, 3, 4])
# What is smaller may be a rounding error of sums over millions of people, 1e-16 of each.
TINY = 1e-9


class ErrorSums(NamedTuple):
    """Errors of a rate, and moments of what people add to them. Each (n_levels, n_groups).

    A cluster is a set of pairs with dependent errors: all genuine pairs of one person, or all
    impostor pairs of the same two people.

    Attributes
    ----------
    errors, pairs : ndarrays
        Weight of the erroneous pairs, and of all.
    single, clustered : ndarrays
        Sum of the squared weights of pairs, and of clusters, over ``pairs``: what a pair, and
        all pairs of a cluster, weigh on average. At equal covariates ``single`` is the
        variance of independent errors over that of as many of weight 1.
    own : ndarray
        Variance of the errors that clusters add on their own. All of it of genuine pairs.
    variance : ndarray
        Variance of the errors: with what people add to all clusters they are in.
    cubes, fourths : ndarrays
        Third and fourth moment: sums over people of powers of what is lost without each,
        the second of which add up to the variance.
    people : ndarray
        Effective number of people, at most their number.
    """

    errors: np.ndarray
    pairs: np.ndarray
    single: np.ndarray
    clustered: np.ndarray
    own: np.ndarray
    variance: np.ndarray
    cubes: np.ndarray
    fourths: np.ndarray
    people: np.ndarray

    @property
    def rate(self):
        """Errors over pairs, or nan without pairs."""
        return _over(self.errors, self.pairs, np.nan)

    @property
    def effective_errors(self):
        """Errors over how much more they vary than independent ones (design effect)."""
        return _over(self.errors**2 * self._right, self._variance, 0.0)

    def effective_people(self, ends):
        """Number of people in errors, if all were in as many (Kish): (sum e)**2 / sum e**2.

        Parameters
        ----------
        ends : {1, 2}
            How many people a pair is in: 1 of genuine pairs, 2 of impostor pairs.
        """
        total = (ends * self.errors) ** 2
        deviations = self.variance + (ends - 1) * self.own
        return _over(total, deviations + _over(total, self.people, 0.0), 0.0)

    @property
    def log_variance(self):
        """Variance of the logarithm of the rate, above 0. Without an error, that of one cluster."""
        return np.maximum(_over(self._variance, self.errors**2, 1.0), TINY)

    def rate_error(self, added):
        """Standard errors of the rates, with further variance of their logarithms."""
        variance = self.log_variance
        return self.rate * np.sqrt(np.maximum(variance + added, LEAST_SHARE * variance))

    @property
    def is_known(self):
        """Whether there are pairs of two people."""
        return (self.pairs > 0) & (self.people > 1 + TINY)

    @property
    def _right(self):
        """Share of the pairs that are no errors."""
        return 1 - self.errors / np.where(self.pairs > 0, self.pairs, 1.0)

    @property
    def _variance(self):
        """At least that of independent errors."""
        return np.maximum(self.variance, self.single * self.errors * self._right)

    def shape(self):
        """Skewness of the errors, and Student's degrees of freedom of their variance.

        Those of :func:`shape_of`. The skewness of impostor pairs is larger by 3/4 of what people
        add to the coefficient of variation: two people's chances multiply, so the rate changes
        with the square of people's mean factor (the third term of Helmers's expansion).
        """
        variance = self._variance
        moments = variance, self.cubes, self.fourths
        third, freedom = shape_of(*moments, self.single**2, self.people)
        people = np.maximum(self.variance - self.own, 0.0)
        multiplied = 0.75 * _over(people**2, self.errors * variance**1.5, 0.0)
        return np.minimum(third + multiplied, 1.0), freedom

    def with_an_error(self):
        """The sums, with one cluster of errors where there is none, as of independent clusters."""
        none, cluster = self.errors <= 0, self.clustered
        powers = {
            "errors": 1,
            "own": 2,
            "variance": 2,
            "cubes": 3,
            "fourths": 4,
            "single": 1,
        }
        both = ((name, cluster**n, getattr(self, name)) for name, n in powers.items())
        return self._replace(**{name: np.where(none, *of) for name, *of in both})

    def rows(self, levels):
        """Sums of one level, each (n_groups,), or of several, by a slice or their positions."""
        return ErrorSums(*(values[levels] for values in self))

    def columns(self, groups):
        """Sums of some groups, their positions, each (n_levels, len(groups))."""
        return ErrorSums(*(values[..., groups] for values in self))

    @classmethod
    def joined(cls, parts):
        """Sums at increasing levels, one after the other."""
        return cls(*map(np.concatenate, zip(*parts, strict=True)))

    @classmethod
    def pooled(cls, parts):
        """Sums of the errors of several parts that have no person in common."""
        sums = cls(*(np.sum(column, axis=0) for column in zip(*parts, strict=True)))
        return sums._replace(
            single=_over(sum(p.single * p.pairs for p in parts), sums.pairs, 1.0),
            clustered=_over(sum(p.clustered * p.pairs for p in parts), sums.pairs, 1.0),
        )

    @classmethod
    def of_groups(cls, groups):
        """Sums of several groups, each (n_levels,), side by side."""
        return cls(*(np.stack(c, axis=-1) for c in zip(*groups, strict=True)))


def shape_of(variance, cubes, fourths, squares, people):
    """Skewness of a sum over people, and Student's degrees of freedom of its variance.

    The skewness is the third moment in standard errors. The degrees of freedom are
    Satterthwaite's, from the fourth moment less that of as many independent errors, whose
    variance is known with their number.

    Parameters
    ----------
    variance, cubes, fourths : ndarrays
        As of ErrorSums.
    squares : ndarray or float
        Of what one error adds, on average. 0 if no error is independent.
    people : ndarray or float
        Effective number.

    Returns
    -------
    skewness, freedom : ndarrays
    """
    skewness = np.clip(_over(cubes, variance**1.5, 0.0), -1.0, 1.0)
    rest = _over(fourths, variance**2, 0.0) - _over(squares, variance, 0.0)
    rest = rest - _over(1.0, people, 0.0)
    most = np.maximum(people - 1, 1.0)
    return skewness, np.clip(2 / np.maximum(rest, TINY), 1.0, most)


def genuine_sums(rejected, pairs, squared_weights=None, of_people=None):
    """Sums of the rejected genuine pairs of a group.

    Parameters
    ----------
    rejected : ndarray, shape (n_levels, n_people)
        Weight of each person's rejected pairs.
    pairs : ndarray, shape (n_people,)
        Weight of each person's pairs. People without any are left out.
    squared_weights : float, default=None
        Sum of the squared weights of pairs, or None if all weigh 1.
    of_people : ndarray, shape (n_levels, n_people), default=None
        What is lost without each person. If None, :func:`lost`.

    Returns
    -------
    sums : ErrorSums
        Each (n_levels,).
    """
    of_people = lost(rejected, pairs) if of_people is None else of_people
    variance, cubes, fourths = _moments(of_people)
    moments = variance, variance, cubes, fourths
    return _sums(rejected, pairs, 1, squared_weights, (pairs**2).sum(), moments)


def impostor_sums(
    accepted, pairs, powers, sizes, squared_weights=None, of_people=None, expected=None
):
    """Sums of the accepted impostor pairs of a scope.

    Parameters
    ----------
    accepted : ndarray, shape (n_levels, n_people)
        Weight of the accepted pairs that each person is in. The sum is twice the weight of
        all of them.
    pairs : ndarray, shape (n_people,)
        Weight of all pairs that each person is in.
    powers : ndarray, shape (n_levels, 9)
        As :func:`~skfairfr._core._error_counts.errors_by_person` gives them.
    sizes : tuple of three floats
        Sum over two people of the second to fourth power of the weight of all their pairs.
    squared_weights : float, default=None
        Sum of the squared weights of pairs, or None if all weigh 1.
    of_people : ndarray, shape (n_levels, n_people), default=None
        What is lost without each person. If None, :func:`lost`.
    expected : tuple of two ndarrays, default=None
        If strata have rates of their own: the ``powers`` with what the errors of two people
        are expected to be in place of the weight of their pairs, and sums over two people of
        the second to fourth power of that, (n_levels, 3).

    Returns
    -------
    sums : ErrorSums
        Each (n_levels,).

    Notes
    -----
    With X the deviation of the errors of two people from what is expected of their pairs, the
    jackknife counts the sum of X**2 twice, once for either person (Efron & Stein 1981): it is
    taken off once, as is that of higher powers.
    """
    if expected is None:
        rate = _over(accepted.sum(axis=1), pairs.sum(), 0.0)[:, None]
        expected = powers * rate**WITH_SIZES, rate**WITH_ALL * sizes
    if of_people is None:
        of_people = lost(accepted, pairs, 2)
    powers, of_all = expected
    e2, e3, e4, ec, e2c, e3c, ec2, e2c2, ec3 = powers.T
    c2, c3, c4 = of_all.T
    of_clusters = (
        np.maximum(e2 - 2 * ec + c2, 0.0),
        e3 - 3 * e2c + 3 * ec2 - c3,
        e4 - 4 * e3c + 6 * e2c2 - 4 * ec3 + c4,
    )
    of_people = _moments(of_people)
    variance, cubes, fourths = np.subtract(of_people, of_clusters)
    own = of_clusters[0]
    moments = own, np.maximum(variance, own), cubes, fourths
    return _sums(accepted, pairs, 2, squared_weights, sizes[0], moments)


def _sums(errors, pairs, ends, squared_weights, squared_clusters, moments):
    """ErrorSums of the errors and pairs of people, each pair of so many (``ends``)."""
    total, levels = pairs.sum() / ends, np.ones(len(errors))
    squared = total if squared_weights is None else squared_weights
    people = _over(pairs.sum() ** 2, (pairs**2).sum(), 0.0)
    return ErrorSums(
        errors.sum(axis=1) / ends,
        total * levels,
        _over(squared, total, 1.0) * levels,
        _over(squared_clusters, total, 1.0) * levels,
        *moments,
        people * levels,
    )


def lost(errors, pairs, ends=1, seen=None):
    """Change of the errors without each person, at the same number of pairs.

    Parameters
    ----------
    errors : ndarray, shape (n_levels, n_people)
        Weight of the erroneous pairs that each person is in.
    pairs : ndarray, shape (n_people,)
        Weight of all pairs that each person is in.
    ends : {1, 2}, default=1
        How many people a pair is in: 1 of genuine pairs, 2 of impostor pairs.
    seen : ndarray of bool, shape (n_people,), default=None
        People who may be left out. Without others nothing is lost. If None, those in pairs.

    Returns
    -------
    lost : ndarray, shape (n_levels, n_people)
        Adds up to 0 over people, and in squares to the jackknife's variance of the errors:
        (n - 1) / n times the sum of squared deviations of the rates without each person,
        times the number of pairs squared.
    """
    seen = (pairs != 0 if seen is None else seen).astype(np.float64)
    n, share = max(seen.sum(), 1.0), _over(pairs, pairs.sum() / ends, 0.0)
    # In place: new arrays of this size take longer than what is computed in them.
    own = np.multiply.outer(np.einsum("lp,p->l", errors, seen) / ends, -share)
    own += errors
    own *= seen / np.maximum(1 - share, MOST_LEFT_OUT)
    own -= own.sum(axis=1, keepdims=True) / n
    own *= seen * np.sqrt((n - 1) / n)
    return own


def rate_ends(sums, tail, added=0.0, shape=None):
    """Lower and upper end of the confidence interval of a rate.

    Of errors with the skewness k, the ends are as far from them, in standard errors, as the
    exact ones (Garwood 1936) of a Poisson number of 1 / k**2 errors, whose skewness is k.
    Errors are no less skewed than binomial ones of the same variance, and their lower end is
    no less than that of a Poisson number of the effective errors. In logarithms that end is
    farther by Student's quantile over the normal one. The upper end is the lower one of what
    is no error.

    Parameters
    ----------
    sums : ErrorSums
    tail : float or ndarray in (0, 0.5)
        Chance of either end to miss the rate.
    added : ndarray or float, default=0.0
        Further variance of the logarithm of the rate.
    shape : tuple of two ndarrays, default=None
        ``sums.shape()`` if it is known.

    Returns
    -------
    low, high : ndarrays in [0, 1]
        NaN without pairs of two people. Without an error ``high`` is that of the rule of
        three, of clusters: -log(tail) of them.
    """
    errors, right = sums.errors, np.maximum(sums.pairs - sums.errors, 0.0)
    skewness, freedom = sums.shape() if shape is None else shape
    variance = np.maximum(sums._variance, TINY**2)
    moved = np.maximum(variance + added * errors**2, LEAST_SHARE * variance)
    skewness = skewness * np.minimum(variance / moved, 1.0) ** 1.5
    with np.errstate(divide="ignore", invalid="ignore"):
        error, stretch = np.sqrt(moved), stdtrit(freedom, tail) / ndtri(tail)
        # That of binomial errors. For more than half of the pairs it is negative.
        least = error * (right - errors) / (errors * right)
        skewness = np.where(
            errors < right, np.maximum(skewness, least), np.minimum(skewness, least)
        )
        below, above = _reaches(skewness, tail)
        rate = errors / sums.pairs
        low = stretch * _log_left(errors, rate, error * below, moved, tail)
        high = stretch * _log_left(right, 1 - rate, error * above, moved, tail)
        low, high = rate * np.exp(low), rate - (1 - rate) * np.expm1(high)
        none = -np.log(tail) * sums.clustered / sums.pairs
    low = np.where(errors <= 0, 0.0, np.where(right <= 0, 1 - none, low))
    high = np.where(errors <= 0, none, np.where(right <= 0, 1.0, high))
    known = np.where(sums.is_known, 1.0, np.nan)
    return np.clip(low, 0.0, 1.0) * known, np.clip(high, 0.0, 1.0) * known


def _log_left(count, share, reach, variance, tail):
    """Logarithm of what is left of a count at its lower end, which ``reach`` takes away.

    No less than of that of a Poisson number with as many errors as the effective ones.
    """
    number = count**2 * (1 - share) / variance
    return np.fmax(np.log1p(-reach / count), np.log(gammaincinv(number, tail) / number))


def ends_of(value, variance, skewness, freedom, tail):
    """Ends of the confidence interval of a sum over people, as in :func:`rate_ends`."""
    below, above = _reaches(skewness, tail)
    error = np.sqrt(variance) * stdtrit(freedom, tail) / ndtri(tail)
    return value - error * below, value + error * above


def even_reach(tail, freedom=np.inf):
    """How far both ends are in standard errors, without skewness: Student's quantile."""
    return -stdtrit(freedom, tail)


def _reaches(skewness, tail):
    """How far a Poisson number of that skewness is from its ends, in standard errors."""
    number = 1 / np.maximum(np.abs(skewness), LEAST_SKEWNESS) ** 2
    near = (number - gammaincinv(number, tail)) / np.sqrt(number)
    far = (gammainccinv(number + 1, tail) - number) / np.sqrt(number)
    share = np.clip(0.5 + skewness / LEAST_SKEWNESS / 2, 0.0, 1.0)
    return share * near + (1 - share) * far, share * far + (1 - share) * near


def two_sided(beyond, shape):
    """p-values: twice the tail at which an interval begins to exclude a value.

    Parameters
    ----------
    beyond : callable
        Of tails, how far the value is beyond the interval, an array of the shape. Below 0
        inside. The longer the interval, the less.
    shape : tuple of int

    Returns
    -------
    p_value : ndarray
        1 of what even the shortest interval contains.

    Notes
    -----
    In normal quantiles, in which intervals grow about evenly, by regula falsi
    (Illinois).
    """

    short, long = (np.full(shape, -ndtri(t)) for t in (LARGEST_TAIL, SMALLEST_TAIL))
    # No less than -1: regula falsi cannot weigh an infinite distance.
    at_short, at_long = (np.maximum(beyond(ndtr(-q)), -1.0) for q in (short, long))
    never, always, before = at_short <= 0, at_long > 0, None
    for _ in range(STEPS):
        share = at_long / np.where(never | always, 1.0, at_long - at_short)
        between = long - share * (long - short)
        between = np.where(never | always, long, between)
        found = np.maximum(beyond(ndtr(-between)), -1.0)
        inside = found <= 0
        # An end that stays a second time counts half. Otherwise only one end would move.
        half = np.where(inside == before, 0.5, 1.0)
        at_short = np.where(inside, at_short * half, found)
        at_long = np.where(inside, found, at_long * half)
        before = inside
        short, long = np.where(inside, short, between), np.where(inside, between, long)
        near = np.minimum(np.abs(found), np.abs(long - short)) < PRECISION
        if np.all(never | always | near):
            break
    return np.where(never, 1.0, 2 * ndtr(-np.where(always, long, between)))


def never_falling(high, pivot):
    """Upper ends at growing numbers of errors, none of which falls with more errors.

    With few errors, little is known of who makes them, and an end may be larger than with more.
    The rate at fewer errors is the smaller one, and so below that end too.

    Parameters
    ----------
    high : ndarray, shape (n_numbers, ...)
        Ends at growing numbers of errors.
    pivot : int
        Up to this number an end is the least of its own and those of larger numbers. Beyond
        it, the largest of its own and those of smaller ones.

    Returns
    -------
    high : ndarray, shape (n_numbers, ...)
    """
    least = np.minimum.accumulate(high[pivot::-1])[::-1]
    return np.concatenate([least, np.maximum.accumulate(high[pivot:])[1:]])


@dataclass(frozen=True, eq=False)
class Contrasts:
    """Weighted sums of the logarithms of rates, such as a ratio of two, (..., n_contrasts).

    An end is as far from its value as the ends of the rates are from theirs, on that side,
    in the square root of the sum of squares (MOVER, Zou & Donner 2008). A rate without an
    error counts as one cluster of errors between its own ends, 0 and that of the rule of
    three. For independent errors the p-value is then close to that of the conditional test of
    two Poisson numbers (Przyborowski & Wilenski 1940).

    Parameters
    ----------
    sums : ErrorSums
        Each (..., n_rates).
    weights : ndarray, shape (..., n_contrasts, n_rates)
        Of the logarithms: above 0 of what is compared, below 0 of what it is compared with.
    added : ndarray, shape (..., n_contrasts), or float, default=0.0
        Further variance of the contrasts. For thresholds that are set on the data.
    """

    sums: ErrorSums
    weights: np.ndarray
    added: np.ndarray | float = 0.0

    @property
    def value(self):
        """From the rates as they are. Infinite or nan where there is no error."""
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(self.sums.rate)[..., None, :]
            return np.where(self.weights == 0, 0.0, self.weights * logs).sum(axis=-1)

    @cached_property
    def _counted(self):
        """The sums with an axis of contrasts, their shape, and the rates that are compared."""
        sums = ErrorSums(*(values[..., None, :] for values in self.sums))
        return sums, sums.shape(), sums.with_an_error().rate

    @cached_property
    def _estimate(self):
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.where(self.weights == 0, 0.0, np.log(self._counted[2]))
        return (self.weights * logs).sum(axis=-1)

    @property
    def error(self):
        """Standard errors."""
        variance = (self.weights**2 * self._counted[0].log_variance).sum(axis=-1)
        return np.sqrt(np.maximum(variance + self.added, LEAST_SHARE * variance))

    def _apart(self, tail):
        """How far both ends of each rate are from it, in logarithms: below and above."""
        sums, shape, rate = self._counted
        low, high = rate_ends(sums, np.asarray(tail)[..., None], shape=shape)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            # Of no error an upper end with a tail above 1 / e is below one cluster.
            return np.log(rate / low), np.log(np.maximum(high / rate, 1.0))

    def _reach(self, tail, apart, upper):
        """How far an end is from the estimate. Infinite where the ratio may be 0, or infinite.

        ``apart`` is of the rates at this tail. ``tail`` and ``upper``, whether the end is the
        upper one, are of all contrasts or each.
        """
        weights, upper = self.weights, np.asarray(upper)[..., None]
        below, above = apart
        reaches = np.where((weights > 0) == upper, above, below)
        reaches = np.where(weights == 0, 0.0, reaches)
        squares = (weights**2 * reaches**2).sum(axis=-1)
        moved = squares + ndtri(tail) ** 2 * self.added
        return np.sqrt(np.maximum(moved, LEAST_SHARE * squares))

    def bounds(self, tail):
        """Lower and upper end of the ratios (not their logarithms), each with this tail."""
        apart = self._apart(tail)
        below, above = (self._reach(tail, apart, upper) for upper in (False, True))
        with np.errstate(over="ignore"):
            return np.exp(self._estimate - below), np.exp(self._estimate + above)

    @cached_property
    def p_value(self):
        """Two-sided, that the ratio is 1: twice the tail at which an end is 1."""
        estimate = self._estimate

        def beyond(tail):
            return np.abs(estimate) - self._reach(tail, self._apart(tail), estimate < 0)

        shape = np.broadcast_shapes(estimate.shape, np.shape(self.added))
        return two_sided(beyond, shape)


def against_others(sums):
    """Weights of each group against the others, (..., n_groups, n_groups).

    Others with few effective errors are left out, unless all have few. A group of one
    person, or without pairs, is compared with nobody: its row is 0.
    """
    known = sums.is_known
    counted = known & (sums.effective_errors >= FEWEST_ERRORS - TINY)
    itself = np.eye(known.shape[-1], dtype=bool)
    others, all_others = (groups[..., None, :] & ~itself for groups in (counted, known))
    others = np.where(others.any(axis=-1, keepdims=True), others, all_others)
    n_others = others.sum(axis=-1, keepdims=True)
    compared = known[..., None] & (n_others > 0)
    return np.where(compared, itself - others / np.maximum(n_others, 1), 0.0)


def shrunken_rates(sums):
    """Rates moved towards their common geometric mean by as much as they are noise.

    Empirical Bayes on the logarithms: the variance between groups is what their spread
    exceeds their own variances by (DerSimonian & Laird 1986), and the rates keep that
    variance (Louis 1984). Equal groups then have equal rates, and groups that surely differ
    keep theirs.

    Parameters
    ----------
    sums : ErrorSums
        Of one level, each (n_groups,).

    Returns
    -------
    rate : ndarray, shape (n_groups,)
    """
    sums = sums.with_an_error()
    variance = sums.log_variance
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(sums.rate)
    weight = 1 / variance
    mean = weight @ logs / weight.sum()
    excess = weight @ (logs - mean) ** 2 - (logs.size - 1)
    between = max(excess / (weight.sum() - (weight**2).sum() / weight.sum()), 0.0)
    weight = 1 / (variance + between)
    mean = weight @ logs / weight.sum()
    kept = np.sqrt(between / (between + variance))
    return np.exp(mean + kept * (logs - mean))


def holm(p):
    """p-values adjusted for their number (Holm 1979), whatever their dependence."""
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    adjusted = np.empty(p.size)
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted


def _moments(deviations):
    """Sums over people of the second to fourth power, each (n_levels,)."""
    squares = deviations * deviations  # by power takes ten times as long
    parts = (deviations, deviations), (squares, deviations), (squares, squares)
    return [np.einsum("lp,lp->l", *both) for both in parts]


def _over(numerator, denominator, otherwise):
    """Quotient, with a value of its own where the denominator is 0."""
    denominator = np.asarray(denominator, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(denominator != 0, numerator / denominator, otherwise)
