"""Rates from few, dependent errors: intervals, and tests of groups against each other.

Errors come in clumps: the pairs of one person (FRR) or of the same two people (FAR) err
together, and a person who resembles many others is in many false accepts. ``ErrorSums``
holds the moments of what people and clumps add to the errors of a group; nothing is
borrowed from other groups. The second moment gives the variance of a rate, the fourth how
well that variance is known (Student's degrees of freedom), and the third on which scale the
rate's distribution is even, so that a bound holds where few people carry most errors.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit
from scipy.special import stdtr, stdtrit

# Correlation assumed of the errors of a clump until some are seen, and how many errors that
# assumption weighs as much as.
PRIOR_CORRELATION = 0.5
PRIOR_ERRORS = 0.5
# With fewer clumps of errors a group is compared, and bounded from above, as if it had these.
FEWEST_CLUMPS = 3.0
# A person with more of the pairs than this is no longer extrapolated from (jackknife).
MAX_LEVERAGE = 0.5
# By how many n-ths the kurtosis of n people is found too small: of Laplace's distribution.
KURTOSIS_LOSS = 12.0
# By how much more than its estimate the skewness of a rate counts.
SKEWNESS_FACTOR = 1.25
# Exponents of the scale on which a bound is taken: the cube root is that of a Poisson number.
LEAST_EXPONENT, CUBE_ROOT = -2.0, 1 / 3
# Least share of a variance that a threshold set on the same data may leave.
LEAST_SHARE = 0.01
TINY = 1e-9


class ErrorSums(NamedTuple):
    """Errors of a rate, and moments of their parts; each (n_levels, n_groups).

    A clump is what errs together: all genuine pairs of one person, or all impostor pairs
    of the same two people. The deviation of a clump, or of a person, is that of its errors
    from its share of all.

    Attributes
    ----------
    errors, pairs : ndarrays
        Weight of the erroneous pairs, and of all.
    single, clumped : ndarrays
        Sum of the squared weights of pairs, and of clumps, over ``pairs``: what a pair, and
        all pairs of a clump, weigh on average.
    own : ndarray
        Variance of the errors that clumps add on their own.
    variance : ndarray
        Variance of the errors: with what people add to all clumps they are in.
    squares, cubes, fourths : ndarrays
        Second to fourth moments about 0 of people's deviations, summed over people; of
        impostor pairs without what a clump adds to two people.
    people : ndarray
        Effective number of people, at most their number.
    """

    errors: np.ndarray
    pairs: np.ndarray
    single: np.ndarray
    clumped: np.ndarray
    own: np.ndarray
    variance: np.ndarray
    squares: np.ndarray
    cubes: np.ndarray
    fourths: np.ndarray
    people: np.ndarray

    @property
    def rate(self):
        """Errors over pairs; nan without pairs."""
        return _over(self.errors, self.pairs, np.nan)

    @property
    def clump(self):
        """Mean weight of the errors of a clump, seen from an error."""
        assumed = self.single + PRIOR_CORRELATION * (self.clumped - self.single)
        weight = PRIOR_ERRORS * self.single
        pairs = np.where(self.pairs > 0, self.pairs, 1.0)
        errors = self.errors * (1 - self.errors / pairs)  # as they vary
        seen = (self.own + weight * assumed) / (errors + weight)
        return np.maximum(seen, self.single)

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
        deviations = self.squares + (ends - 1) * self.own
        return _over(total, deviations + _over(total, self.people, 0.0), 0.0)

    @property
    def _right(self):
        """Share of the pairs that are no errors."""
        return 1 - self.errors / np.where(self.pairs > 0, self.pairs, 1.0)

    @property
    def _variance(self):
        """No less than that of clumps that err independently."""
        return np.maximum(self.variance, self.clump * self.errors * self._right)

    def worth(self, added=0.0):
        """What the errors say of the logarithm of the rate.

        Parameters
        ----------
        added : ndarray or float, default=0.0
            Further variance of the logarithm of the rate.

        Returns
        -------
        worth : Worth
        """
        clump = self.clump
        # No less than of independent pairs, where people err more alike than by chance.
        squares = np.maximum(self.squares, self.single * self.errors * self._right)
        # Half a clump more on either side, and one that is as it should be: moments of few
        # errors say little.
        errors, squares = self.errors + clump / 2, squares + clump**2
        even = _over(1.0, self.people, 0.0)
        share = (1 + KURTOSIS_LOSS * even) * (self.fourths + clump**4) / squares**2
        # Half of what the moments give: they are too small where few people err much.
        freedom = 1 / np.maximum(share - even, TINY)
        third = self.cubes + clump**3 * (2 * self._right - 1)
        skewness = third * (self.errors + clump) / squares**2
        variance = (self._variance + clump**2 / 2) / errors**2
        with np.errstate(divide="ignore", invalid="ignore"):
            return Worth(
                np.log(errors / self.pairs),
                np.maximum(variance + added, LEAST_SHARE * variance),
                np.clip(freedom, 1.0, np.maximum(self.people - 1, 1.0)),
                skewness,
            )

    def padded(self):
        """The sums, with as many clumps as are needed to be compared where there are fewer."""
        few = self.errors < FEWEST_CLUMPS * self.clump
        fewest = self.fewest()
        names = ("errors", "own", "variance", "squares", "cubes", "fourths")
        return self._replace(
            **{
                name: np.where(few, getattr(fewest, name), getattr(self, name))
                for name in names
            }
        )

    def fewest(self):
        """Sums of as many clumps as are needed to be compared, and no more."""
        clump = self.clump
        of_power = [FEWEST_CLUMPS * clump**power for power in range(5)]
        _, one, two, three, four = of_power
        return ErrorSums(
            one, self.pairs, clump, clump, *[two] * 3, three, four, self.people
        )

    def rows(self, levels):
        """Sums of one level, each (n_groups,), or of a slice of levels."""
        return ErrorSums(*(values[levels] for values in self))

    def columns(self, groups):
        """Sums of some groups, their positions, each (n_levels, len(groups))."""
        return ErrorSums(*(values[..., groups] for values in self))

    @classmethod
    def joined(cls, parts):
        """Sums at increasing levels, one after the other."""
        return cls(*map(np.concatenate, zip(*parts, strict=True)))

    @classmethod
    def of_groups(cls, groups):
        """Sums of several groups, each (n_levels,), side by side."""
        return cls(*(np.stack(c, axis=-1) for c in zip(*groups, strict=True)))


class Worth(NamedTuple):
    """What errors say of the logarithm of a rate.

    Attributes
    ----------
    log_rate, variance : ndarrays
        With half a clump of errors more.
    freedom : ndarray
        Student's degrees of freedom of the variance.
    skewness : ndarray
        Of the errors, over that of as many independent clumps of the same variance.
    """

    log_rate: np.ndarray
    variance: np.ndarray
    freedom: np.ndarray
    skewness: np.ndarray


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
    rejected, pairs = rejected[:, seen], pairs[seen]
    errors, total = rejected.sum(axis=1), pairs.sum()
    share = pairs / total if total else pairs
    deviations = rejected - errors[:, None] * share
    # Delete-one jackknife: what is left of a deviation once the person has no part in the
    # rate that it is measured against.
    n = pairs.size
    apart = deviations / np.maximum(1 - share, MAX_LEVERAGE)
    variance = (apart**2).sum(axis=1) * ((n - 1) / n if n else 0.0)
    levels = np.ones(errors.size)
    single = total if squared_weights is None else squared_weights
    return ErrorSums(
        errors,
        total * levels,
        _over(single, total, 1.0) * levels,
        _over((pairs**2).sum(), total, 1.0) * levels,
        variance,
        variance,
        *_moments(deviations),
        _over(1.0, (share**2).sum(), 0.0) * levels,
    )


def impostor_sums(accepted, pairs, powers, sizes, squared_weights=None):
    """Sums of the accepted impostor pairs of a scope.

    Parameters
    ----------
    accepted : ndarray, shape (n_levels, n_people)
        Weight of the accepted pairs that each person is in, so that it adds up to twice
        the weight of all.
    pairs : ndarray, shape (n_people,)
        Weight of all pairs that each person is in.
    powers : ndarray, shape (n_levels, 9)
        As :func:`errors_by_person` gives them.
    sizes : tuple of three floats
        Sum over two people of the second to fourth power of the weight of all their pairs.
    squared_weights : float, default=None
        Sum of the squared weights of pairs; None if all weigh 1.

    Returns
    -------
    sums : ErrorSums
        Each (n_levels,).

    Notes
    -----
    With X the deviation of the errors of two people from their share and r_k its sum over
    all pairs of people with k, Var = sum r_k**2 - sum X**2, the U-statistic's variance of
    Fogliato, Patil & Perona (2024) in O(n_people). Deviations from an estimated rate are
    too small, to first order by the two corrections here.
    """
    seen = pairs > 0
    accepted, pairs = accepted[:, seen], pairs[seen]
    errors, total = accepted.sum(axis=1) / 2, pairs.sum() / 2
    rate = _over(errors, total, 0.0)
    deviations = accepted - rate[:, None] * pairs
    of_people = _moments(deviations)
    e2, e3, e4, ec, e2c, e3c, ec2, e2c2, ec3 = powers.T
    of_clumps = (
        np.maximum(e2 - 2 * rate * ec + rate**2 * sizes[0], 0.0),
        e3 - 3 * rate * e2c + 3 * rate**2 * ec2 - rate**3 * sizes[1],
        e4
        - 4 * rate * e3c
        + 6 * rate**2 * e2c2
        - 4 * rate**3 * ec3
        + rate**4 * sizes[2],
    )
    own = of_clumps[0]
    squared = (pairs**2).sum()
    reach = _over(squared, total**2, 0.0)
    lost = 2 * _over((pairs**3).sum(), total * squared, 0.0)
    shared = (of_people[0] - 2 * own + reach * own) / max(1 - lost, 0.3)
    squares, cubes, fourths = (
        people - clumps for people, clumps in zip(of_people, of_clumps, strict=True)
    )
    levels = np.ones(errors.size)
    single = total if squared_weights is None else squared_weights
    return ErrorSums(
        errors,
        total * levels,
        _over(single, total, 1.0) * levels,
        _over(sizes[0], total, 1.0) * levels,
        own,
        own + np.maximum(shared, 0.0),
        np.maximum(squares, own),
        cubes,
        fourths,
        _over(4.0, reach, 0.0) * levels,
    )


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
    share = _over(pairs, pairs.sum(), 0.0)
    counted = np.where(total > 0, total, 1.0)
    return np.where(total > 0, ends * (errors / counted - share), 0.0)


def rate_bounds(sums, tail, added=0.0):
    """Lower and upper bound of a rate, each one-sided.

    A bound is taken on the scale ``odds ** q``, the odds being rate / (1 - rate), on which
    the studentised rate is not skewed: q is 1/3 for a Poisson number of errors (Wilson &
    Hilferty 1931), 0 for independent pairs half of which err, and less, or below 0, where
    few people carry the errors, whose samples without them have low rates and low variances
    together. The lower bound of a rate is the upper one of its complement.

    Parameters
    ----------
    sums : ErrorSums
    tail : float in (0, 1)
        Chance of either bound to miss the rate.
    added : ndarray or float, default=0.0
        Further variance of the logarithm of the rate.

    Returns
    -------
    low, high : ndarrays in [0, 1]
        NaN without pairs of two people. ``high`` is 1 where the errors, of too few people,
        do not bound the rate.
    """
    return lower_bound(sums, tail, added), upper_bound(sums, tail, added)


def lower_bound(sums, tail, added=0.0):
    """The first of :func:`rate_bounds`."""
    n_right = np.maximum(sums.pairs - sums.errors, 0.0)
    right = sums._replace(errors=n_right, cubes=-sums.cubes)
    of_right = added * _over(sums.errors, n_right, 0.0) ** 2
    # No further than logarithms, while few people may bend the scale from above.
    return 1 - _from_above(right, tail, of_right, (-CUBE_ROOT, -TINY))


def upper_bound(sums, tail, added=0.0):
    """The second of :func:`rate_bounds`."""
    return _from_above(sums, tail, added, (LEAST_EXPONENT, CUBE_ROOT))


def never_falling(high, pivot):
    """Upper ends at growing numbers of errors, so that none falls where more err.

    Where few err, little is known of who does, and a bound may be larger than where more do.
    The rate at fewer errors is the smaller one, and so within that bound too.

    Parameters
    ----------
    high : ndarray, shape (n_numbers, ...)
        Ends at growing numbers of errors.
    pivot : int
        Up to this number an end is the least of its own and those of larger numbers; beyond
        it, the largest of its own and those of smaller ones.

    Returns
    -------
    high : ndarray, shape (n_numbers, ...)
    """
    least = np.minimum.accumulate(high[pivot::-1])[::-1]
    return np.concatenate([least, np.maximum.accumulate(high[pivot:])[1:]])


def _from_above(sums, tail, added, exponents):
    """Upper bound of a rate; ``exponents`` are the least and the largest of the scale."""
    clump, high = sums.clump, 0.0
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # More errors never bound a rate lower than the fewest that are believed.
        for part in (sums.padded(), sums.fewest()):
            right = np.maximum(sums.pairs - part.errors, 0.0)
            # Of the logarithm of the odds, which move more than the rate where it is large.
            worth = part.worth(added)
            reach = -stdtrit(worth.freedom, tail) * np.sqrt(worth.variance)
            reach = reach * sums.pairs / (right + clump / 2)
            exponent = _exponent(part, worth.skewness, *exponents)
            times = np.fmax(1 + exponent * reach, 0.0)
            odds = (part.errors + clump) / right * np.exp(np.log(times) / exponent)
            high = np.fmax(high, np.where(np.isfinite(odds), odds / (1 + odds), 1.0))
        # No error bounds the rate as it does a Poisson number of clumps: the rule of three.
        least = -np.log(tail) * clump / sums.pairs
    high = np.maximum(np.where(sums.errors > 0, high, 0.0), least)
    undefined = (sums.pairs == 0) | (sums.people <= 1 + TINY)
    return np.where(undefined, np.nan, np.clip(high, 0.0, 1.0))


def _exponent(sums, skewness, least, largest):
    """The power of the odds on which scale a rate is not skewed; never 0."""
    share, skewness = sums._right, SKEWNESS_FACTOR * skewness
    # Share of the variance that people add to all clumps they are in.
    between = np.clip(1 - _over(sums.own, sums._variance, 1.0), 0.0, 1.0)
    power = (1 - between / 2) * (2 * share - 1) - 2 / 3 * share * skewness
    power = np.clip(power, least, largest)
    return np.where(np.abs(power) < TINY, TINY, power)


@dataclass(frozen=True)
class Contrasts:
    """Logarithms of rates of groups over the geometric means of others, (n_contrasts,).

    Attributes
    ----------
    value : ndarray
        From the rates as they are; infinite or nan where there is no error.
    lower, upper : tuples of three ndarrays
        Estimate, standard error and Student's degrees of freedom behind the lower and the
        upper bound: those whose rates would be too low with few errors have three clumps
        at least, and bounds are infinite where the other side has no error.
    """

    value: np.ndarray
    lower: tuple
    upper: tuple

    @property
    def p_value(self):
        """Two-sided, of the hypothesis that the ratio is 1; it goes with the bounds."""
        tails = []
        for side, (estimate, error, freedom) in ((1, self.lower), (-1, self.upper)):
            with np.errstate(invalid="ignore", divide="ignore"):
                tails.append(stdtr(freedom, -side * estimate / error))
        return np.minimum(2 * np.nan_to_num(np.fmin(*tails), nan=0.5), 1.0)

    def bounds(self, tail):
        """Lower and upper bound of the ratios (not their logarithms), one-sided."""
        found = []
        for side, (estimate, error, freedom) in ((-1, self.lower), (1, self.upper)):
            with np.errstate(over="ignore", invalid="ignore"):
                found.append(np.exp(estimate - side * stdtrit(freedom, tail) * error))
        return tuple(found)


def contrasts(sums, weights, added=0.0):
    """Compare the rates of groups at one level with those of others.

    Parameters
    ----------
    sums : ErrorSums
        Each (..., n_groups).
    weights : ndarray, shape (..., n_contrasts, n_groups)
        Of the logarithms of the rates: 1 of the group, and those of the others below 0.
    added : ndarray, shape (..., n_contrasts), or float, default=0.0
        Further variance of the contrasts.

    Returns
    -------
    found : Contrasts
    """
    above, below = np.maximum(weights, 0.0), np.minimum(weights, 0.0)
    own, padded = sums.worth(), sums.padded().worth()
    # Whose logarithm would be minus infinity: what is bounded from that side has no bound.
    free = (sums.errors <= 0).astype(np.float64)
    ends = []
    for upper, over, under in ((False, own, padded), (True, padded, own)):
        estimate = _dot(above, over.log_rate) + _dot(below, under.log_rate)
        parts = (
            above**2 * over.variance[..., None, :],
            below**2 * under.variance[..., None, :],
        )
        variance = (parts[0] + parts[1]).sum(axis=-1)
        variance = np.maximum(variance + added, LEAST_SHARE * variance)
        # Satterthwaite: the degrees of freedom of a sum of variances.
        known = sum(
            (part**2 / worth.freedom[..., None, :]).sum(axis=-1)
            for part, worth in zip(parts, (over, under), strict=True)
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            freedom = np.maximum(variance**2 / known, 1.0)
        unbounded = _dot(below if upper else above, free) != 0
        estimate = np.where(unbounded, np.inf if upper else -np.inf, estimate)
        ends.append((estimate, np.sqrt(variance), freedom))
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(sums.rate)[..., None, :]
        terms = np.where(weights == 0, 0.0, weights * logs)
        value = terms.sum(axis=-1)
    return Contrasts(value, *ends)


def against_others(sums):
    """Weights of each group against the others, (..., n_groups, n_groups).

    Others with fewer than three clumps of errors are left out, unless all have fewer; a
    group of one person, or without pairs, is compared with nobody: its row is 0.
    """
    known = (sums.pairs > 0) & (sums.people > 1 + TINY)
    # Half a clump less: what a clump weighs is an estimate.
    counted = known & (sums.errors > (FEWEST_CLUMPS - 0.5) * sums.clump)
    itself = np.eye(known.shape[-1], dtype=bool)
    others, all_others = (groups[..., None, :] & ~itself for groups in (counted, known))
    others = np.where(others.any(axis=-1, keepdims=True), others, all_others)
    n_others = others.sum(axis=-1, keepdims=True)
    compared = known[..., None] & (n_others > 0)
    return np.where(compared, itself - others / np.maximum(n_others, 1), 0.0)


def number_of_tests(weights):
    """How many different hypotheses each group against the others makes."""
    n = int((weights != 0).any(axis=1).sum())
    return 1 if n == 2 else n


def every_two(sums):
    """Weights of each group over every other one, a block (n_others, n_groups) a group."""
    known = np.flatnonzero((sums.pairs > 0) & (sums.people > 1 + TINY))
    for group in known:
        others = known[known != group]
        weights = np.zeros((others.size, sums.pairs.size))
        weights[:, group] = 1.0
        weights[np.arange(others.size), others] = -1.0
        yield weights


def shrunken_rates(sums):
    """Rates moved towards their common geometric mean by as much as they are noise.

    Empirical Bayes on the logarithms: the variance between groups is what their spread
    exceeds their own variances by (DerSimonian & Laird 1986), and the rates keep that
    variance (Louis 1984), so that equal groups have equal rates and groups that differ
    surely keep theirs.

    Parameters
    ----------
    sums : ErrorSums
        Of one level, each (n_groups,).

    Returns
    -------
    rate : ndarray, shape (n_groups,)
    """
    logs, variance, *_ = sums.worth()
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


def errors_by_person(left, right, weights, positions, n_people, between=None):
    """Errors of each person, and powers of those of each two people, as a sequence grows.

    Parameters
    ----------
    left, right : ndarrays of int, shape (n_pairs,)
        People of the pairs, errors first; a person with herself is a genuine pair.
    weights : ndarray of float64, shape (n_pairs,), or None where every pair weighs 1
    positions : ndarray of int, shape (n_levels,)
        How many of the first pairs are errors at each level, in any order.
    n_people : int
    between : ndarray, shape (n_pairs,), or tuple of two ndarrays, default=None
        Weight of all pairs of the two people of each of the first pairs; or the kind of each
        person, (n_people,), and what two people of these kinds have, (n_kinds, n_kinds).

    Returns
    -------
    of_person : ndarray, shape (n_levels, n_people)
        Weight of the errors that each person is in; a genuine pair counts once.
    powers : ndarray, shape (n_levels, 9)
        With e the weight of the errors of two people and c that of all their pairs, sums
        over two people of e**2, e**3, e**4, e c, e**2 c, e**3 c, e c**2, e**2 c**2, e c**3.
    """
    positions = np.asarray(positions, dtype=np.int64)
    order = np.argsort(positions, kind="stable")
    last = int(positions.max(initial=0))
    weights = np.ones(1) if weights is None else weights
    kinds = np.zeros(0, dtype=np.int64), np.ones((1, 1))
    if isinstance(between, tuple):
        kinds, between = between, None
    between = np.ones(1) if between is None else between
    found = _accumulate(
        left[:last], right[:last], weights, between, *kinds, positions[order], n_people
    )
    results = tuple(np.empty_like(values) for values in found)
    for result, values in zip(results, found, strict=True):
        result[order] = values
    return results


def chances_of_errors(sequence, positions, images):
    """As how many certain errors the chances of the first searches count (Kish), (n_levels,)."""
    asked = (sequence.left, sequence.left, sequence.base, positions)
    chances, _ = errors_by_person(*asked, images.identity.size)
    return _over(chances.sum(axis=1) ** 2, (chances**2).sum(axis=1), 0.0)


@njit(nogil=True, cache=True)
def _accumulate(left, right, weights, between, kind, size, positions, n_people):
    n_levels, n_pairs = positions.size, left.size
    weighted, sized, by_kind = weights.size > 1, between.size > 1, kind.size > 0
    of_person = np.zeros((n_levels, n_people))
    powers = np.zeros((n_levels, 9))
    # Pairs by the lower of their people, in their order: what then is looked up, how much
    # of a person's errors are with each other one, stays in the cache, and pairs are read
    # one after the other.
    starts = np.zeros(n_people + 1, dtype=np.int64)
    for p in range(n_pairs):
        starts[min(left[p], right[p]) + 1] += 1
    for person in range(n_people):
        starts[person + 1] += starts[person]
    place = starts[:-1].copy()
    others = np.empty(n_pairs, dtype=np.int32)
    levels = np.empty(n_pairs, dtype=np.int32)
    moved = np.empty(n_pairs if weighted else 0)
    sizes = np.empty(n_pairs if sized else 0)
    level = 0
    for p in range(n_pairs):
        while p >= positions[level]:
            level += 1
        one, other = min(left[p], right[p]), max(left[p], right[p])
        weight = weights[p] if weighted else weights[0]
        of_person[level, one] += weight
        if other != one:
            of_person[level, other] += weight
        q = place[one]
        others[q], levels[q] = other, level
        if weighted:
            moved[q] = weight
        if sized:
            sizes[q] = between[p]
        place[one] = q + 1
    met = np.zeros(n_people)
    for one in range(n_people):
        of_one = size[kind[one] if by_kind else 0]
        for q in range(starts[one], starts[one + 1]):
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
        for q in range(starts[one], starts[one + 1]):
            met[others[q]] = 0.0
    for level in range(1, n_levels):
        # Compiling a sum of whole rows, with its errors of shapes, takes seconds.
        for person in range(n_people):
            of_person[level, person] += of_person[level - 1, person]
        for k in range(9):
            powers[level, k] += powers[level - 1, k]
    return of_person, powers


def _moments(deviations):
    """Sums over people of the second to fourth power, each (n_levels,)."""
    squares = deviations * deviations  # by power takes ten times as long
    powers = (squares, squares * deviations, squares * squares)
    return [power.sum(axis=1) for power in powers]


def _dot(weights, values):
    """Weighted sums of the last axis, (..., n_contrasts); 0 of what has no weight."""
    return (np.where(weights == 0, 0.0, values[..., None, :]) * weights).sum(axis=-1)


def _over(numerator, denominator, otherwise):
    """Quotient, with a value of its own where the denominator is 0."""
    denominator = np.asarray(denominator, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(denominator != 0, numerator / denominator, otherwise)
