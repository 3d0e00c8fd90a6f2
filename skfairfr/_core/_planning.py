"""How many people a test needs: simulated data sets, judged by the functions of an audit.

``Setting`` defines who would be compared, and how their errors would depend on each other. It
draws the errors of many data sets at once, in clusters: those of the same two people (FAR) or
of one person (FRR). Only errors are drawn, never people or pairs, so ten million people
cost as much as a hundred with as many errors. ``PlanGoal`` gives the share of data sets that
answer, and ``fewest_people`` the smallest number of people with enough of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from scipy.stats import betabinom

from skfairfr._core._jackknife import (
    MOST_LEFT_OUT,
    Contrasts,
    ErrorSums,
    _over,
    against_others,
    rate_ends,
)

N_SETS = 1000
MAX_PEOPLE = 10**7
# Clusters that are drawn of a group, on average: sums of a larger one are enlarged from
# those of at least so many people.
MOST_CLUSTERS, FEWEST_PEOPLE = 400, 100
# How often two people are drawn again who are the same one.
MOST_TRIES = 20
# Relative precision of the number of people found. A thousand data sets allow no finer one.
PRECISION = 0.02
# Correlations of 0 and 1 are limits of the beta-binomial distribution.
NEXT_TO_0 = 1e-9


@dataclass(frozen=True)
class Setting:
    """Groups of as many people each, with as many images each, all pairs compared.

    Attributes
    ----------
    rate : {"far", "frr", "fpir", "attempt"}
    rates : tuple of float
        The true one of each group.
    images : int
        Of each person. For an FPIR each is a search, of attempts an attempt.
    correlation : float
        Of the errors of a cluster, whose number is beta-binomial.
    variation : float
        Squared coefficient of variation of people's factors, which are lognormal: two
        people are accepted for each other in proportion to the product of theirs.
    """

    rate: str
    rates: tuple
    images: int
    correlation: float
    variation: float

    @property
    def growth(self):
        """With which power of the number of people pairs grow."""
        return 2 if self.rate == "far" else 1

    @property
    def cluster(self):
        """Number of pairs of one person, or of the same two."""
        m = self.images
        return {"far": m**2, "frr": m * (m - 1) // 2}.get(self.rate, m)

    def clusters(self, people):
        """Number of people, or of pairs of them."""
        return people * (people - 1) / 2 if self.rate == "far" else float(people)

    def pairs(self, people):
        """Number of pairs within a group of so many people."""
        return self.clusters(people) * self.cluster

    def draw(self, people, n_sets=N_SETS):
        """Errors of data sets with so many people per group, the same every time.

        Returns
        -------
        sums : ErrorSums
            Each (n_sets, n_groups).
        """
        rng = np.random.default_rng(0)
        drawn = self._drawn(people)
        sums = ErrorSums.of_groups(
            [self._of_group(rate, drawn, n_sets, rng) for rate in self.rates]
        )
        if drawn == people:
            return sums
        # Errors of more people are nearer to what is expected of them.
        factor, expected = people / drawn, np.array(self.rates)
        spread = enlarged(sums, factor, self.growth).log_variance
        kept = np.sqrt(_over(spread, sums.log_variance, 1.0))
        moved = _over(expected, sums.rate, 1.0) ** (1 - kept)
        return enlarged(sums, factor, self.growth, moved)

    def _drawn(self, people):
        """The number of people of whom errors are drawn."""
        most = max(
            self.clusters(people) * self._sizes(rate)[0] for rate in set(self.rates)
        )
        least = min(FEWEST_PEOPLE, people)
        if most <= MOST_CLUSTERS:
            return people
        return max(least, int(people * (MOST_CLUSTERS / most) ** (1 / self.growth)))

    def _sizes(self, rate):
        """Mean number of erroneous clusters per cluster, and shares of their sizes from 1 on."""
        # Several rare clusters of errors may hit the same two people.
        low = 1e-6 * NEXT_TO_0 if self.rate == "far" else rate
        shares = _sizes_of_clusters(self.cluster, low, self.correlation)
        if rate == 0:
            return 0.0, shares
        some = rate * self.cluster / (shares @ np.arange(1, self.cluster + 1))
        return float(some), shares

    def _of_group(self, rate, people, n_sets, rng):
        """ErrorSums of one group, each (n_sets,)."""
        chance, shares = self._sizes(rate)
        if self.rate != "far":
            n_clusters = rng.binomial(people, min(chance, 1.0), n_sets)
        else:
            chosen = _People.draw(people, self.variation, n_sets, rng)
            n_clusters = rng.poisson(chance * chosen.couples)
        sets = np.repeat(np.arange(n_sets), n_clusters)
        sizes = 1.0 + rng.choice(shares.size, sets.size, p=shares)
        if self.rate != "far":
            powers = _powers(sets, sizes, n_sets)
            return genuine_sums_of(powers, people, self.cluster)
        left, right = chosen.every_two(sets, rng)
        kept = left != right
        sets, left, right, sizes = (v[kept] for v in (sets, left, right, sizes))
        couples = np.minimum(left, right) * people + np.maximum(left, right)
        of_couples = _powers(*_summed(sets, couples, sizes, people**2), n_sets)
        sets, sizes = np.tile(sets, 2), np.tile(sizes, 2)
        ends = np.concatenate([left, right])
        of_people = _powers(*_summed(sets, ends, sizes, people), n_sets)
        return impostor_sums_of(of_couples, of_people, people, self.cluster)


@dataclass(frozen=True)
class _People:
    """People of several data sets, of kinds with the same factor. Each (n_sets, n_kinds)."""

    numbers: np.ndarray
    factors: np.ndarray

    @classmethod
    def draw(cls, people, variation, n_sets, rng):
        """Kinds are the nodes of Gauss and Hermite: they have the lognormal's moments."""
        nodes, shares = hermegauss(15)
        spread = np.sqrt(np.log1p(variation))
        numbers = rng.multinomial(people, shares / shares.sum(), n_sets)
        return cls(numbers, np.exp(spread * nodes - spread**2 / 2))

    @property
    def couples(self):
        """Sum over each pair of people of the product of their factors, (n_sets,)."""
        total = self.numbers @ self.factors
        return np.maximum(total**2 - self.numbers @ self.factors**2, 0.0) / 2

    def every_two(self, sets, rng):
        """Two people for each cluster of errors. The same one if hardly anybody else has errors."""
        left, right = self._each(sets, rng), self._each(sets, rng)
        for _ in range(MOST_TRIES):
            (same,) = np.nonzero(left == right)
            if same.size == 0:
                break
            left[same] = self._each(sets[same], rng)
            right[same] = self._each(sets[same], rng)
        return left, right

    def _each(self, sets, rng):
        """One person for each cluster, drawn in proportion to their factors."""
        n_sets, n_kinds = self.numbers.shape
        share = np.cumsum(self.numbers * self.factors, axis=1)
        share /= share[:, -1:]
        places = (share + np.arange(n_sets)[:, None]).ravel()
        kinds = np.searchsorted(places, sets + rng.random(sets.size), side="right")
        kinds = np.minimum(kinds, (sets + 1) * n_kinds - 1)
        ends = np.cumsum(self.numbers, axis=1).ravel()[kinds]
        return (
            ends - 1 - (rng.random(sets.size) * self.numbers.ravel()[kinds]).astype(int)
        )


@lru_cache(maxsize=64)
def _sizes_of_clusters(cluster, rate, correlation):
    """Probabilities of 1, 2, ... errors of a cluster that has some."""
    correlation = np.clip(correlation, NEXT_TO_0, 1 - NEXT_TO_0)
    strength = (1 - correlation) / correlation
    errors = np.arange(1, cluster + 1)
    low = max(rate, 1e-6 * NEXT_TO_0)
    found = betabinom.pmf(errors, cluster, low * strength, (1 - low) * strength)
    return found / found.sum()


def _summed(sets, keys, sizes, n_keys):
    """Data set and errors of every key that has some."""
    found, places = np.unique(sets * n_keys + keys, return_inverse=True)
    return found // n_keys, np.bincount(places, sizes)


def _powers(sets, errors, n_sets):
    """Sums of the first to fourth power of errors, each (n_sets,)."""
    return [np.bincount(sets, errors**power, n_sets) for power in (1, 2, 3, 4)]


def _central(powers, n):
    """Sums of the second to fourth power of deviations from the mean of ``n`` numbers."""
    one, two, three, four = powers
    mean = one / n
    return (
        np.maximum(two - mean * one, 0.0),
        three - 3 * mean * two + 2 * mean**2 * one,
        four - 4 * mean * three + 6 * mean**2 * two - 3 * mean**3 * one,
    )


def genuine_sums_of(powers, people, cluster):
    """``genuine_sums`` of people with as many pairs each, from powers of their errors."""
    errors = powers[0]
    variance, cubes, fourths = _without_each(_central(powers, people), people, 1)
    ones = np.ones(errors.size)
    return ErrorSums(
        *(errors, people * cluster * ones, ones, cluster * ones),
        *(variance, variance, cubes, fourths, people * ones),
    )


def impostor_sums_of(of_couples, of_people, people, cluster):
    """``impostor_sums`` where all are compared with all, from powers of their errors."""
    couples = people * (people - 1) / 2
    own, *of_clusters = _central(of_couples, couples)
    variance, cubes, fourths = _without_each(_central(of_people, people), people, 2)
    ones = np.ones(own.size)
    return ErrorSums(
        *(of_couples[0], couples * cluster * ones, ones, cluster * ones),
        *(own, np.maximum(variance - own, own)),
        *(cubes - of_clusters[0], fourths - of_clusters[1], people * ones),
    )


def _without_each(moments, people, ends):
    """Moments of what is lost without each person, from those of deviations, as of ``lost``."""
    times = np.sqrt((people - 1) / people) / max(1 - ends / people, MOST_LEFT_OUT)
    return [of * times**power for power, of in enumerate(moments, start=2)]


def enlarged(sums, factor, growth, moved=1.0):
    """Sums of so many times as many people, who differ as those do.

    Parameters
    ----------
    sums : ErrorSums
    factor, growth : floats or ndarrays
        How many times as many people, and with which power of it pairs grow.
    moved : float or ndarray, default=1.0
        Factor of their error rate.

    Returns
    -------
    sums : ErrorSums
        The part of the variance that people add falls with their number. The skewness
        stays, and effective people grow as people do.
    """
    pairs = np.power(factor, growth)
    times = pairs * moved

    def summed(values):
        return sums.own * times + (values - sums.own) * times**2 / factor

    variance = summed(sums.variance)
    kept = _over(variance, sums.variance, 1.0) ** 2
    return sums._replace(
        errors=sums.errors * times,
        pairs=sums.pairs * pairs,
        own=sums.own * times,
        variance=variance,
        cubes=sums.cubes * kept / times,
        fourths=sums.fourths * kept / factor,
        people=sums.people * factor,
    )


def growth_of(n_people, n_impostor):
    """With which power of the number of people impostor pairs grow: 2, or 1 of a short list."""
    # A list of a quarter of all pairs of two people, say across two domains, is no short one.
    return 2 if n_impostor >= n_people**2 / 8 else 1


@dataclass(frozen=True)
class PlanGoal:
    """Question of a test.

    Attributes
    ----------
    setting : Setting
        The first group has the largest rate.
    kind : {"certify", "detect", "pass", "fail"}
    limit : float
        Of each rate, if below 1, or of the ratio of two.
    groups : int
        Of the test. The setting may contain only those that matter.
    confidence_level : float
    comparisons : int
        Number of all tests of groups, which share the error rate.
    """

    setting: Setting
    kind: str
    limit: float
    groups: int
    confidence_level: float
    comparisons: int

    def answers(self, people):
        """Whether each data set answers, and the bound that answers, both (n_sets,)."""
        sums = self.setting.draw(people)
        tail = (1 - self.confidence_level) / 2
        if self.kind == "certify":
            bound = rate_ends(sums, tail)[1].max(axis=-1)
            return bound <= self.limit, bound
        if self.limit < 1:
            bound = rate_ends(sums, min(tail, 2 * tail / self.groups))[0][:, 0]
            return bound > self.limit, bound
        if self.kind == "pass":
            bound = np.max([high for _, high in ratio_bounds(sums, tail)], axis=0)
            return bound <= self.limit, bound
        if self.kind == "detect":
            weights = np.zeros((1, sums.errors.shape[-1]))
            weights[0, 0], weights[0, -1] = 1.0, -1.0  # over the reference
            found = Contrasts(sums, weights)
            p = found.p_value[:, 0] * self.comparisons
            low, _ = found.bounds(tail / self.comparisons)
            return (p <= 2 * tail) & (found.value[:, 0] > 0), low[:, 0]
        found = Contrasts(sums, against_others(sums))
        low, high = found.bounds(tail / number_of_tests(self.groups))
        bound = np.fmax(low, 1 / np.where(high > 0, high, np.inf)).max(axis=-1)
        if self.groups > 2:
            share = 2 * tail / (self.groups * (self.groups - 1))
            of_two = np.max([low for low, _ in ratio_bounds(sums, share)], axis=0)
            bound = np.where(bound > 1, np.maximum(bound, of_two), bound)
        return bound > self.limit, bound

    def chance(self, people):
        """Share of data sets that answer."""
        return float(self.answers(people)[0].mean())


def number_of_tests(groups):
    """Of each group against the others at one level."""
    return 1 if groups == 2 else groups


def ratio_bounds(sums, tail):
    """Yield the smallest lower and largest upper bound of each group over every other one."""
    n = sums.errors.shape[-1]
    for first in range(n):
        others = np.delete(np.arange(n), first)
        two = sums.columns(np.stack([np.full(n - 1, first), others], axis=-1))
        low, high = Contrasts(two, np.array([[1.0, -1.0]])).bounds(tail)
        yield low.max(axis=(-2, -1)), high.max(axis=(-2, -1))


def fewest_people(goal, power):
    """Smallest number of people per group that answers with a probability.

    Errors are whole numbers, and there are a thousand data sets. The chance therefore does not
    rise smoothly: it is about ``power`` from the number returned on.

    Parameters
    ----------
    goal : PlanGoal
    power : float in (0, 1)

    Returns
    -------
    people : int or None
        None if even ten million are too few.
    """
    return first_number(lambda k: goal.chance(k) >= power, 2, PRECISION)


def first_number(holds, lowest, precision=0.0):
    """Smallest whole number from ``lowest`` on of a monotone condition."""
    below, above = lowest - 1, lowest
    while not holds(above):
        if above >= MAX_PEOPLE:
            return None
        below, above = above, min(2 * above, MAX_PEOPLE)
    while above - below > max(1, above * precision):
        middle = (below + above) // 2
        below, above = (below, middle) if holds(middle) else (middle, above)
    return above
