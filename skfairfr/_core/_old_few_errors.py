"""Rates from few, dependent errors: how many independent errors they are worth, and intervals.

Errors come in clumps: the pairs of one person (FRR) or of the same two people (FAR) err
together, and a person who resembles many others is in many false accepts. ``ErrorSums``
holds the sums from which both are estimated, ``dependence`` the estimates, in which groups
and levels with few errors borrow from those with many, and ``effective_errors`` the number
of independent errors and pairs of the same variance. ``rate_interval`` is Wilson's with
these numbers: one method from no error to all.
"""

from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv, gammaincinv, ndtr, ndtri, stdtrit

from skfairfr._core._compiled import njit

# Where there is no error at all: the correlation of errors within a clump, the squared
# coefficient of variation of people's own rates, and how many errors they count as.
PRIOR_CORRELATION = 0.5
PRIOR_VARIATION = 1.0
PRIOR_WEIGHT = 3.0
# How many errors of its own a group needs to weigh as much as the average of all groups,
# and all groups at one level to weigh as much as the level with the next more errors.
GROUP_WEIGHT = 20.0
VARIATION_GROUP_WEIGHT = 10.0
LEVEL_WEIGHT = 10.0
# A person with more of the pairs than this is no longer extrapolated from (jackknife).
MAX_LEVERAGE = 0.5
# Least share of a rate's variance that the threshold of the same data may leave.
LEAST_SHARE = 0.01


@dataclass(frozen=True)
class ErrorSums:
    """Errors, and the sums that show their dependence; each (n_levels, n_groups).

    A clump is what errs together: all genuine pairs of one person, or all impostor pairs
    of the same two people.

    Attributes
    ----------
    errors, pairs : ndarrays
        Weight of the erroneous pairs, and of all.
    single, clumped : ndarrays
        Sum of the squared weights of pairs, and of clumps, over ``pairs``: by how much
        more than independent pairs of weight 1 the errors would vary if pairs of a clump
        were independent, and if they erred all together.
    squares : ndarray
        Sum over clumps of the squared deviation of their errors from their share.
    shared : ndarray
        Sum over pairs of clumps that share a person of the product of their deviations,
        each in both orders; 0 of genuine pairs, whose clumps share nobody.
    reach : ndarray
        Sum over people of the squared share of the pairs that they are in; ``shared`` is
        errors**2 * reach times the squared coefficient of variation of people's own rates.
        0 of genuine pairs.
    people : ndarray
        Effective number of people, at most their number.
    """

    errors: np.ndarray
    pairs: np.ndarray
    single: np.ndarray
    clumped: np.ndarray
    squares: np.ndarray
    shared: np.ndarray
    reach: np.ndarray
    people: np.ndarray

    @property
    def rate(self):
        """Errors over pairs; nan without pairs."""
        return _over(self.errors, self.pairs, np.nan)

    def rows(self, levels):
        """Sums of some levels, a slice or their positions."""
        return ErrorSums(*(getattr(self, field.name)[levels] for field in fields(self)))

    @classmethod
    def of_groups(cls, groups):
        """Sums of several groups, each (n_levels,), side by side."""
        columns = (
            np.stack([getattr(sums, field.name) for sums in groups], axis=-1)
            for field in fields(cls)
        )
        return cls(*columns)


@dataclass(frozen=True)
class Effective:
    """Independent errors and pairs of the same rate and variance, (n_levels, n_groups).

    Attributes
    ----------
    errors, pairs : ndarrays
        Effective numbers, clumps counted once; their quotient is the rate.
    between : ndarray
        Variance of the logarithm of the odds (of the rate, where it is small) that more
        pairs of the same people would leave; 0 of genuine pairs, whose clumps are people.
    freedom : ndarray
        Student's degrees of freedom of the variance, 1 at least: it is an estimate, from
        so many people, and from so many errors that show how they correlate.
    unseen, unseen_freedom : ndarrays, default=inf
        Effective pairs and degrees of freedom if the group had no error, when less were
        known of how errors correlate: errors must not tighten an upper bound.
    """

    errors: np.ndarray
    pairs: np.ndarray
    between: np.ndarray
    freedom: np.ndarray
    unseen: np.ndarray | float = np.inf
    unseen_freedom: np.ndarray | float = np.inf

    def __post_init__(self):
        for name in ("unseen", "unseen_freedom"):
            values = np.broadcast_to(getattr(self, name), np.shape(self.pairs))
            object.__setattr__(self, name, values)

    @property
    def rate(self):
        """Errors over pairs; nan without pairs."""
        return _over(self.errors, self.pairs, np.nan)

    def at(self, level):
        """Those of one level, each (n_groups,)."""
        return Effective(*(getattr(self, field.name)[level] for field in fields(self)))

    def columns(self, groups):
        """Those of some groups, their positions, each (n_levels, len(groups))."""
        return Effective(
            *(getattr(self, field.name)[..., groups] for field in fields(self))
        )

    @property
    def log_variance(self):
        """Variance of the logarithm of the rate, half an error added to both sides."""
        errors = self.errors + 0.5
        right = 1 - errors / (self.pairs + 1)
        return right / errors + right**2 * self.between


@dataclass(frozen=True)
class Dependence:
    """How errors depend on each other, each (n_levels, n_groups).

    Attributes
    ----------
    correlation : ndarray in [0, 1]
        Between errors of pairs of one clump.
    known : ndarray
        How many independent errors the correlation is as good as estimated from.
    variation : ndarray
        Squared coefficient of variation of people's own odds of an error.
    unseen, unseen_known : ndarrays
        The first two if the group had no error at the level.
    """

    correlation: np.ndarray
    known: np.ndarray
    variation: np.ndarray
    unseen: np.ndarray
    unseen_known: np.ndarray


def genuine_sums(rejected, pairs, squared_weights=None):
    """Sums of the rejected genuine pairs of a group.

    Parameters
    ----------
    rejected : ndarray, shape (n_levels, n_people)
        Weight of each person's rejected pairs.
    pairs : ndarray, shape (n_people,)
        Weight of each person's pairs; people without any are left out.
    squared_weights : float, default=None
        Sum of the squared weights of pairs; None if all weigh 1.

    Returns
    -------
    sums : ErrorSums
        Each (n_levels,).
    """
    seen = pairs > 0
    rejected, pairs = (
        rejected[:, seen].astype(np.float64),
        pairs[seen].astype(np.float64),
    )
    errors, total = rejected.sum(axis=1), pairs.sum()
    share = pairs / total if total else pairs
    # Delete-one jackknife: what is left of a deviation once the person has no part in the
    # rate that it is measured against.
    deviations = (rejected - errors[:, None] * share) / np.maximum(
        1 - share, MAX_LEVERAGE
    )
    n = pairs.size
    squares = (deviations**2).sum(axis=1) * ((n - 1) / n if n else 0.0)
    single = total if squared_weights is None else squared_weights
    levels, none = np.ones(errors.size), np.zeros(errors.size)
    return ErrorSums(
        errors,
        total * levels,
        _over(single, total, 1.0) * levels,
        _over((pairs**2).sum(), total, 1.0) * levels,
        squares,
        none,
        none,
        _over(1.0, (share**2).sum(), 0.0) * levels,
    )


def impostor_sums(accepted, pairs, squares, sized, sizes, squared_weights=None):
    """Sums of the accepted impostor pairs of a scope.

    Parameters
    ----------
    accepted : ndarray, shape (n_levels, n_people)
        Weight of the accepted pairs that each person is in, so that it adds up to twice
        the weight of all.
    pairs : ndarray, shape (n_people,)
        Weight of all pairs that each person is in.
    squares : ndarray, shape (n_levels,)
        Sum over two people of the squared weight of their accepted pairs.
    sized : ndarray, shape (n_levels,)
        Sum over two people of the weight of their accepted pairs times that of all.
    sizes : float
        Sum over two people of the squared weight of all their pairs.
    squared_weights : float, default=None
        Sum of the squared weights of pairs; None if all weigh 1.

    Returns
    -------
    sums : ErrorSums
        Each (n_levels,).

    Notes
    -----
    With X the deviation of the errors of two people from their share and r_k its sum over
    all pairs of people with k, ``squares`` is the sum of X**2 and ``shared`` is sum r_k**2
    minus twice that: Var = squares + shared, the U-statistic's variance of Fogliato, Patil
    & Perona (2024) in O(n_people). Deviations from an estimated rate are too small, to
    first order by the two corrections here.
    """
    seen = pairs > 0
    accepted, pairs = (
        accepted[:, seen].astype(np.float64),
        pairs[seen].astype(np.float64),
    )
    errors, total = accepted.sum(axis=1) / 2, pairs.sum() / 2
    rate = _over(errors, total, 0.0)
    deviations = accepted - rate[:, None] * pairs
    own = np.maximum(squares - 2 * rate * sized + rate**2 * sizes, 0.0)
    squared = (pairs**2).sum()
    reach = _over(squared, total**2, 0.0)
    lost = 2 * _over((pairs**3).sum(), total * squared, 0.0)
    shared = (deviations**2).sum(axis=1) - 2 * own + reach * own
    levels = np.ones(errors.size)
    single = total if squared_weights is None else squared_weights
    return ErrorSums(
        errors,
        total * levels,
        _over(single, total, 1.0) * levels,
        _over(sizes, total, 1.0) * levels,
        own,
        shared / max(1 - lost, 0.3),
        reach * levels,
        _over(4.0, reach, 0.0) * levels,
    )


def dependence(sums):
    """How errors of a clump correlate, and how much people's own rates vary.

    Both are averages of a group's own estimate and that of all groups, the more of the
    group's own the more errors it has; the estimate of all groups borrows in the same way
    from the level with more errors.

    Parameters
    ----------
    sums : ErrorSums

    Returns
    -------
    found : Dependence
    """
    rate = np.nan_to_num(sums.rate)
    binomial = rate * (1 - rate) * sums.pairs
    extra = sums.clumped - sums.single
    correlation = _over(
        _over(sums.squares, binomial, 0.0) - sums.single, extra, 0.0
    ).clip(0, 1)
    correlation = np.where(binomial > 0, correlation, 0.0)
    clumps = sums.errors * (1 - rate) / (sums.single + correlation * extra)
    order = np.argsort(-sums.errors.sum(axis=1), kind="stable")
    of_clumps = _borrowing(correlation, clumps, order, GROUP_WEIGHT, PRIOR_CORRELATION)
    variation = _over(sums.shared, (sums.errors * (1 - rate)) ** 2 * sums.reach, 0.0)
    # Two erroneous clumps that share a person say something of the variation, and no more
    # of them than there are people.
    meetings = sums.reach * clumps**2 / 2
    met = _over(1.0, _over(1.0, meetings, np.inf) + sums.reach / 2, 0.0)
    of_people = _borrowing(
        variation, met, order, VARIATION_GROUP_WEIGHT, PRIOR_VARIATION
    )
    return Dependence(
        of_clumps.found,
        of_clumps.known,
        np.maximum(of_people.found, 0.0),
        of_clumps.unseen,
        of_clumps.unseen_known,
    )


def effective_errors(sums, depend):
    """Independent errors and pairs that have the same rate and variance.

    Parameters
    ----------
    sums : ErrorSums
    depend : Dependence

    Returns
    -------
    effective : Effective
    """

    def clumps(correlation, known):
        estimated = correlation * (sums.clumped - sums.single)
        together = sums.single + estimated
        # Only what clumps add is an estimate; where pairs are no clumps all is known.
        freedom = _over(known * together**2, estimated**2, np.inf)
        return together, np.maximum(np.minimum(freedom, sums.people - 1), 1.0)

    together, freedom = clumps(depend.correlation, depend.known)
    without, unseen_freedom = clumps(depend.unseen, depend.unseen_known)
    return Effective(
        sums.errors / together,
        sums.pairs / together,
        depend.variation * sums.reach,
        freedom,
        sums.pairs / without,
        unseen_freedom,
    )


def share_left(effective, slope, threshold_variance, covariance):
    """Share of a rate's variance where its threshold was set on the same data.

    The logarithm of the rate at the estimated threshold is, to first order, that at the
    true one minus ``slope`` times the error of the logarithm of the FAR which sets it.

    Parameters
    ----------
    effective : Effective
    slope : ndarray, shape (n_levels, n_groups)
        Derivative of the logarithm of the rate by that of the FAR that sets the threshold.
    threshold_variance : ndarray, shape (n_levels, 1)
        Variance of the logarithm of that FAR at a given threshold.
    covariance : ndarray, shape (n_levels, n_groups)
        Of the logarithms of the rate and of that FAR, at a given threshold.

    Returns
    -------
    share : ndarray, shape (n_levels, n_groups)
        Above 1 where the threshold adds variance; 1 without errors.
    """
    added = slope**2 * threshold_variance - 2 * slope * covariance
    share = np.maximum(1 + added / effective.log_variance, LEAST_SHARE)
    return np.where(effective.errors > 0, share, 1.0)


def influences(errors, pairs, ends=1):
    """Each person's part in the logarithm of a rate, to first order.

    Parameters
    ----------
    errors : ndarray, shape (n_levels, n_people)
        Weight of the erroneous pairs that each person is in.
    pairs : ndarray, shape (n_people,)
        Weight of all pairs that each person is in.
    ends : {1, 2}, default=1
        How many people a pair is in: 1 of genuine pairs, 2 of impostor pairs.

    Returns
    -------
    influence : ndarray, shape (n_levels, n_people)
        Adds up to 0 over people, and in squares to the variance of the logarithm, save
        that clumps of impostor pairs count twice; 0 without errors.
    """
    total = errors.sum(axis=1, keepdims=True)
    share = pairs / pairs.sum()
    counted = np.where(total > 0, total, 1.0)
    return np.where(total > 0, ends * (errors / counted - share), 0.0)


def rate_interval(effective, confidence_level, share=1.0):
    """Wilson's interval of a rate from effective errors, with Student's quantile.

    Parameters
    ----------
    effective : Effective
    confidence_level : float in (0, 1)
    share : ndarray or float, default=1.0
        As :func:`share_left` gives it.

    Returns
    -------
    low, high : ndarrays in [0, 1]
        NaN without pairs. With everything else fixed, more errors raise both.

    References
    ----------
    Wilson (1927); with a variance that allows for dependence, Fogliato, Patil & Perona
    (2024), here one formula from 0 errors on.
    """
    return wilson_interval(effective, -ndtri((1 - confidence_level) / 2), share)


def wilson_interval(effective, quantile, share):
    """Wilson's interval at a two-sided standard normal quantile.

    Student's distribution with the degrees of freedom makes it as much larger as the
    variance is uncertain.
    """
    tail = ndtr(-quantile)
    reach = -stdtrit(effective.freedom, tail)
    without = -stdtrit(effective.unseen_freedom, tail)
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = effective.rate
        # One clump more is worth less where people differ: they stay the same people.
        worth = 1 + effective.errors * (1 - rate) * effective.between
        n = effective.pairs / (worth * share)
        z2 = np.square(reach) / n
        centre = (rate + z2 / 2) / (1 + z2)
        half = np.sqrt(z2 * (rate * (1 - rate) + z2 / 4)) / (1 + z2)
        low = np.where(rate > 0, centre - half, 0.0)
        high = np.where(rate < 1, centre + half, 1.0)
        without = np.square(without) / effective.unseen
        high = np.maximum(high, without / (1 + without))
    undefined = np.isnan(rate)
    low, high = (np.where(undefined, np.nan, end) for end in (low, high))
    return np.clip(low, 0, 1), np.clip(high, 0, 1)


def exact_low(effective, tail):
    """One-sided lower bound of a rate: exact for a Poisson number of effective errors.

    Far out in the tail Wilson's lower end is too high where few people make most errors.

    Parameters
    ----------
    effective : Effective
    tail : float in (0, 1)
        Chance to lie above the true rate.

    Returns
    -------
    low : ndarray in [0, 1]
        0 without errors, nan without pairs.
    """
    errors = effective.errors
    counted = np.where(errors > 0, errors, 1.0)
    shape = 1 / (1 / counted + effective.between)
    # As much further out as the variance is uncertain.
    further = ndtr(stdtrit(effective.freedom, tail))
    low = effective.rate * gammaincinv(shape, further) / shape
    return np.where(errors > 0, low, 0 * effective.rate)


def exact_high(effective, tail, share=1.0):
    """One-sided upper bound of a rate: exact for a binomial number of effective errors.

    With few errors Wilson's upper end is too low: without any, at .95, it is that of 2.7
    errors, and the exact one that of 3.

    Parameters
    ----------
    effective : Effective
    tail : float in (0, 1)
        Chance to lie below the true rate.
    share : ndarray or float, default=1.0
        As :func:`share_left` gives it.

    Returns
    -------
    high : ndarray in [0, 1]
        NaN without pairs. With everything else fixed, more errors raise it.

    References
    ----------
    Clopper & Pearson (1934).
    """
    right = effective.pairs - effective.errors
    counted = np.where(right > 0, right, 1.0)
    wrong = effective.errors + 1
    variance = 1 / wrong + 1 / counted  # of the logarithm of the odds
    known = variance / (share * (variance + effective.between))
    # As much further out as the variance is uncertain.
    further = 1 - ndtr(stdtrit(effective.freedom, tail))
    high = betaincinv(known * wrong, known * counted, further)
    # What it would be without errors, which must not tighten it.
    further = np.log(ndtr(stdtrit(effective.unseen_freedom, tail)))
    high = np.maximum(high, -np.expm1(further / effective.unseen))
    return np.where(right > 0, high, 1 + 0 * effective.rate)


def lower_bound(effective, confidence_level, n_groups, share=1.0):
    """One-sided lower bounds of rates, by which a limit on every group's rate is failed.

    They hold for all groups at once: with one above the limit some group is.

    Parameters
    ----------
    effective : Effective
    confidence_level : float in (0, 1)
    n_groups : int
        How many groups are held to the limit.
    share : ndarray or float, default=1.0
        As :func:`share_left` gives it.

    Returns
    -------
    low : ndarray in [0, 1]
        NaN without pairs. With everything else fixed, more errors raise it.
    """
    tail = (1 - confidence_level) / n_groups
    low, _ = rate_interval(effective, 1 - 2 * tail, share)
    return np.minimum(low, exact_low(effective, tail))


def upper_bound(effective, confidence_level, share=1.0):
    """One-sided upper bounds of rates, by which a limit on every group's rate is kept.

    They hold one by one: with all of them within the limit all groups are. Parameters are
    those of :func:`lower_bound`.
    """
    _, high = rate_interval(effective, 2 * confidence_level - 1, share)
    return np.maximum(high, exact_high(effective, 1 - confidence_level, share))


def errors_by_person(left, right, weights, positions, n_people, masses=None):
    """Errors of each person, and of each two people squared, as a sequence grows.

    Parameters
    ----------
    left, right : ndarrays of int, shape (n_pairs,)
        People of the pairs, errors first; a person with herself is a genuine pair.
    weights : ndarray of float64, shape (n_pairs,), or None where every pair weighs 1
    positions : ndarray of int, shape (n_levels,)
        How many of the first pairs are errors at each level, in any order.
    n_people : int
    masses : tuple of two ndarrays, shape (n_people,), default=None
        For ``sized``: all pairs of k and l weigh first[k] second[l] + first[l] second[k].

    Returns
    -------
    of_person : ndarray, shape (n_levels, n_people)
        Weight of the errors that each person is in; a genuine pair counts once.
    squares : ndarray, shape (n_levels,)
        Sum over two people (of genuine pairs, over people) of their squared weight.
    sized : ndarray, shape (n_levels,)
        Sum over errors of their weight times that of all pairs of their people; 0 without
        masses.
    """
    positions = np.asarray(positions, dtype=np.int64)
    order = np.argsort(positions, kind="stable")
    last = int(positions.max(initial=0))
    if weights is None:
        weights = np.ones(1)
    first, second = (np.zeros(n_people),) * 2 if masses is None else masses
    found = _accumulate(
        left[:last], right[:last], weights, positions[order], n_people, first, second
    )
    results = tuple(np.empty_like(values) for values in found)
    for result, values in zip(results, found, strict=True):
        result[order] = values
    return results


@njit(nogil=True, cache=True)
def _accumulate(left, right, weights, positions, n_people, first, second):
    n_levels, n_pairs = positions.size, left.size
    weighted = weights.size > 1
    of_person = np.zeros((n_levels, n_people))
    squares, sized = np.zeros(n_levels), np.zeros(n_levels)
    # Pairs by the lower of their people, in their order: what then is looked up, how much
    # of a person's errors are with each other one, stays in the cache.
    starts = np.zeros(n_people + 1, dtype=np.int64)
    for p in range(n_pairs):
        starts[min(left[p], right[p]) + 1] += 1
    for person in range(n_people):
        starts[person + 1] += starts[person]
    place = starts[:-1].copy()
    others = np.empty(n_pairs, dtype=np.int32)
    levels = np.empty(n_pairs, dtype=np.int32)
    weight_of = np.empty(n_pairs if weighted else 0)
    level = 0
    for p in range(n_pairs):
        while p >= positions[level]:
            level += 1
        one, other = min(left[p], right[p]), max(left[p], right[p])
        weight = weights[p] if weighted else weights[0]
        of_person[level, one] += weight
        if other != one:
            of_person[level, other] += weight
        both = first[one] * second[other] + first[other] * second[one]
        sized[level] += weight * both
        q = place[one]
        others[q], levels[q] = other, level
        if weighted:
            weight_of[q] = weight
        place[one] = q + 1
    met = np.zeros(n_people)
    for one in range(n_people):
        for q in range(starts[one], starts[one + 1]):
            weight = weight_of[q] if weighted else weights[0]
            squares[levels[q]] += weight * (2 * met[others[q]] + weight)
            met[others[q]] += weight
        for q in range(starts[one], starts[one + 1]):
            met[others[q]] = 0.0
    for level in range(1, n_levels):
        # Compiling a sum of whole rows, with its errors of shapes, takes seconds.
        for person in range(n_people):
            of_person[level, person] += of_person[level - 1, person]
        squares[level] += squares[level - 1]
        sized[level] += sized[level - 1]
    return of_person, squares, sized


class _Borrowed(NamedTuple):
    """Values that borrow, each (n_levels, n_groups); see :class:`Dependence`."""

    found: np.ndarray
    known: np.ndarray
    unseen: np.ndarray
    unseen_known: np.ndarray


def _borrowing(own, information, order, group_weight, prior):
    """Averages of groups' own values and those of all; levels in ``order`` lend onward.

    How much they know is the information of two independent sources, each with the square
    of its weight.
    """
    result = _Borrowed(*(np.empty(own.shape) for _ in range(4)))
    lent, weight = prior, PRIOR_WEIGHT
    for level in order:
        of_own = information[level]
        of_all = of_own.sum() + weight
        pooled = (of_own @ own[level] + weight * lent) / of_all
        part = of_own / (of_own + group_weight)
        result.found[level] = part * own[level] + (1 - part) * pooled
        variance = _over(part**2, of_own, 0.0) + (1 - part) ** 2 / of_all
        result.known[level] = _over(1.0, variance, np.inf)
        others = of_all - of_own
        result.unseen[level] = (of_all * pooled - of_own * own[level]) / others
        result.unseen_known[level] = others
        lent, weight = pooled, LEVEL_WEIGHT
    return result


def _over(numerator, denominator, otherwise):
    """Quotient, with a value of its own where the denominator is 0."""
    numerator, denominator = np.broadcast_arrays(
        np.asarray(numerator, dtype=np.float64),
        np.asarray(denominator, dtype=np.float64),
    )
    found = np.full(numerator.shape, float(otherwise))
    return np.divide(numerator, denominator, out=found, where=denominator != 0)
