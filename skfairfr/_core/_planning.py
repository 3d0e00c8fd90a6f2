"""How many people a test needs: the verdicts' own formulas, at rates and dependence assumed.

``Setting`` says who would be compared, and what the errors would look like; from a number
of people it makes the :class:`~skfairfr._core._old_few_errors.ErrorSums` that are expected,
and from those, by the functions that judge data, the effective errors. A question, such as
:class:`RateWithin`, gives the probability of its answer for a number of people;
``fewest_people`` searches for the smallest number with enough of it.
"""

from dataclasses import dataclass, fields, replace

import numpy as np
from scipy.special import betainc, gammaincc, ndtri
from scipy.stats.qmc import Sobol

from skfairfr._core._old_family import bounds, deviates, ratios_of
from skfairfr._core._old_few_errors import (
    Effective,
    ErrorSums,
    dependence,
    effective_errors,
    lower_bound,
    upper_bound,
)

MAX_PEOPLE = 10**7
# Audits look at levels with many errors too, from which those with few learn dependence.
LENDING = {"far": 1e-2, "frr": 0.1}
N_NODES = 1024
# Numbers of errors that are told apart, and how far from their mean.
MAX_VALUES = 2048
MOST_SPREADS = 10
# Numbers of people tried one by one where the probability goes up and down.
MAX_TRIED = 200


@dataclass(frozen=True)
class Setting:
    """Groups of as many people each, with as many images each, all pairs compared.

    Attributes
    ----------
    rate : {"far", "frr"}
    rates : tuple of float
        The true one of each group.
    images : int
        Of each person.
    correlation, variation : float or None
        As :func:`~skfairfr._core._old_few_errors.dependence` gives them; None for pairs that
        are independent, whose variance is known.
    lent : float or None
        The correlation at a level with many errors, from which an audit borrows where
        errors are few.
    """

    rate: str
    rates: tuple
    images: int
    correlation: float | None = None
    variation: float | None = None
    lent: float | None = None

    @property
    def clump(self):
        """Number of pairs of one person, or of the same two."""
        m = self.images
        return float(m**2) if self.rate == "far" else m * (m - 1) / 2

    def pairs(self, people):
        """Number of pairs within a group of so many people."""
        clumps = people * (people - 1) / 2 if self.rate == "far" else people
        return clumps * self.clump

    def _reach(self, people):
        """As of ErrorSums: every pair is in the shares of two people."""
        return 4 / people if self.rate == "far" else 0.0

    def effective(self, people):
        """Effective errors and pairs where every group errs as expected, (n_groups,).

        Parameters
        ----------
        people : int
            Of each group.

        Returns
        -------
        effective : Effective
        """
        rates, pairs = np.array(self.rates), self.pairs(people)
        if self.correlation is None:
            none, endless = np.zeros(rates.size), np.full(rates.size, np.inf)
            return Effective(rates * pairs, pairs + none, none, endless)
        sums = self._expected_sums(people)
        return effective_errors(sums, dependence(sums)).at(1)

    def _expected_sums(self, people):
        """Sums at a level with many errors, and at the one asked about."""
        rates = np.array([np.maximum(self.rates, LENDING[self.rate]), self.rates])
        ones, pairs = np.ones(rates.shape), self.pairs(people)
        errors, right = rates * pairs, 1 - rates
        reach = self._reach(people)
        correlation = np.array([[self.lent], [self.correlation]])
        together = 1 + correlation * (self.clump - 1)
        return ErrorSums(
            errors,
            pairs * ones,
            ones,
            self.clump * ones,
            errors * right * together,
            self.variation * (errors * right) ** 2 * reach,
            reach * ones,
            people * ones,
        )

    def counted(self, people):
        """What a number of errors would say, of each group.

        Returns
        -------
        counts : Counts
        """
        effective, rates = self.effective(people), np.array(self.rates)
        pairs = self.pairs(people)
        mean, right = rates * pairs, 1 - rates
        variance = mean * right
        if self.correlation is not None:
            # What is true, and not what an audit makes of few errors.
            together = 1 + self.correlation * (self.clump - 1)
            between = self.variation * self._reach(people)
            variance = mean * right * (together + mean * right * between)
        return Counts(pairs, effective, pairs / effective.pairs, mean, variance)


@dataclass(frozen=True)
class Counts:
    """Numbers of errors in groups of a given size: their distribution, and their worth.

    Attributes
    ----------
    pairs : float
        Within each group.
    effective : Effective
        Of the expected errors, each (n_groups,).
    together : ndarray, shape (n_groups,)
        Errors that an audit counts as one independent one.
    mean, variance : ndarrays, shape (n_groups,)
        Of the number of errors.
    """

    pairs: float
    effective: Effective
    together: np.ndarray
    mean: np.ndarray
    variance: np.ndarray

    def of(self, errors, group):
        """Effective errors of the observed ``errors`` (n,) of the groups (n,) or one."""
        of_group = self.effective.columns(np.broadcast_to(group, np.shape(errors)))
        return replace(of_group, errors=errors / self.together[group])

    def upper(self, errors, confidence_level):
        """Upper bound of the rate of the first group if it has so many errors."""
        return upper_bound(self.of(errors, 0), confidence_level)

    def lower(self, errors, confidence_level):
        """Lower bound of the rate of the first group, one of all, with so many errors."""
        return lower_bound(self.of(errors, 0), confidence_level, self.mean.size)


@dataclass(frozen=True)
class RateWithin:
    """Does the upper one-sided bound of every group's rate stay within a limit?"""

    setting: Setting
    limit: float
    confidence_level: float

    def probability(self, people, more=0.0, whole=True):
        """That it does.

        Parameters
        ----------
        people : int
        more : float, default=0.0
            Errors fewer than allowed; 1 gives a lower bound of the probability.
        whole : bool, default=True
            Whether errors are whole numbers; without, it rises with ``people``.
        """
        counts = self.setting.counted(people)
        most = self.most_errors(counts, whole)
        if most < 0:
            return 0.0
        each = count_cdf(most - more, counts.mean, counts.variance)
        return float(np.prod(each))

    def most_errors(self, counts, whole=True):
        """Errors of a group up to which the bound stays within; -1 if not even with none."""

        def within(errors):
            return counts.upper(errors, self.confidence_level) <= self.limit

        return last_number(within, self.limit * counts.pairs, whole)

    def bound(self, people):
        """The upper bound where errors are as expected, rounded down."""
        counts = self.setting.counted(people)
        errors = np.floor(counts.mean[0])
        return float(counts.upper(errors, self.confidence_level))


@dataclass(frozen=True)
class RateAbove:
    """Does the lower one-sided bound of the first group's rate exceed a limit?

    The bound holds for all groups of the setting at once: that some group is found above
    the limit must not become likelier with their number.
    """

    setting: Setting
    limit: float
    confidence_level: float

    def probability(self, people, more=0.0, whole=True):
        """That it does; arguments as of RateWithin."""
        counts = self.setting.counted(people)

        def not_above(errors):
            return counts.lower(errors, self.confidence_level) <= self.limit

        most = last_number(not_above, counts.pairs, whole)
        cdf = count_cdf(most + more, counts.mean, counts.variance)
        return float(1 - cdf[0])

    def bound(self, people):
        """The lower bound where errors are as expected, rounded down."""
        counts = self.setting.counted(people)
        errors = np.floor(counts.mean[0])
        return float(counts.lower(errors, self.confidence_level))


@dataclass(frozen=True)
class RatioJudged:
    """Do the groups' rates differ by more than a limit, or by less?

    Attributes
    ----------
    setting : Setting
        The first group has the largest rate.
    limit : float
        Of the ratio of two rates; 1 asks whether they differ at all.
    above : bool
        Whether the question is if the lower bound of the first rate over the smallest one
        exceeds the limit, and not if all upper bounds stay within.
    confidence_level : float
    comparisons : int
        For whose number the bounds are widened (Bonferroni).
    """

    setting: Setting
    limit: float
    above: bool
    confidence_level: float
    comparisons: int

    def probability(self, people, more=0.0, whole=True):
        """That the answer is yes; ``more`` and ``whole`` are for rates alone."""
        counts = self.setting.counted(people)
        nodes = _nodes(counts.mean.size)
        errors = np.empty(nodes.shape)
        for mean in np.unique(counts.mean):
            alike = counts.mean == mean
            variance = counts.variance[alike][0]
            errors[:, alike] = count_quantile(nodes[:, alike], mean, variance)
        # Groups have as many pairs each: the most errors over the fewest decide.
        rates = errors / counts.pairs
        first = np.zeros(len(errors), dtype=int) if self.above else rates.argmax(1)
        others = rates.copy()
        others[np.arange(len(errors)), first] = np.inf
        second = others.argmin(1)
        found = deviates(self._ratios(counts, errors, first, second), self.limit)
        quantile = self._quantile()
        yes = found > quantile if self.above else found < -quantile
        return float(yes.mean())

    def bound(self, people):
        """The bound that is judged, of the first rate over the last, if errors are as expected."""
        counts = self.setting.counted(people)
        errors, last = np.floor(counts.mean)[None], np.array([counts.mean.size - 1])
        ratios = self._ratios(counts, errors, np.array([0]), last)
        low, high = bounds(ratios, self._quantile())
        return float((low if self.above else high)[0])

    def _ratios(self, counts, errors, first, second):
        """Ratios of the groups ``first`` over ``second`` with the errors (n, n_groups)."""
        rows = np.arange(len(errors))
        parts = [counts.of(errors[rows, g], g) for g in (first, second)]
        both = Effective(
            *(
                np.concatenate([getattr(part, field.name) for part in parts])
                for field in fields(Effective)
            )
        )
        return ratios_of(both, rows, rows + rows.size)

    def _quantile(self):
        return -ndtri((1 - self.confidence_level) / 2 / self.comparisons)


def fewest_people(question, power):
    """Smallest number of people per group that answers with a probability.

    Errors are whole numbers, so that the probability goes up and down as people are
    added: it is at least ``power`` from the number returned on.

    Parameters
    ----------
    question : RateWithin, RateAbove or RatioJudged
    power : float in (0, 1)

    Returns
    -------
    people : int or None
        None if even ten million are too few.
    """
    low = first_number(lambda k: question.probability(k, whole=False) >= power, 2)
    if low is None:
        return None
    high = first_number(lambda k: question.probability(k, more=1.0) >= power, low)
    high = low if high is None else high
    tried = np.unique(np.linspace(low, high, MAX_TRIED).astype(int))
    enough = np.array([question.probability(k) >= power for k in tried.tolist()])
    if enough.all():
        return low
    last = int(np.flatnonzero(~enough)[-1])
    if last + 1 == tried.size:
        return first_number(lambda k: question.probability(k) >= power, high)
    return int(tried[last + 1])


def first_number(holds, lowest):
    """Smallest whole number from ``lowest`` on, if once it holds it goes on holding."""
    if holds(lowest):
        return lowest
    below, above = lowest, 2 * lowest
    while not holds(above):
        if above > MAX_PEOPLE:
            return None
        below, above = above, 2 * above
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (below, middle) if holds(middle) else (middle, above)
    return above


def last_number(holds, highest, whole):
    """Largest number from 0 to ``highest`` if it holds of all below one; -1 if of none."""
    if not holds(0.0):
        return -1.0
    below, above = 0.0, highest + 1
    while above - below > (1 if whole else 1e-9 * (1 + above)):
        middle = (below + above) / 2
        middle = np.floor(middle) if whole else middle
        if middle in (below, above):
            break
        below, above = (middle, above) if holds(middle) else (below, middle)
    return float(min(below, highest))


def count_cdf(k, mean, variance):
    """Probability of at most ``k`` errors.

    Parameters
    ----------
    k : ndarray of float
        Between whole numbers it is interpolated; 0 below 0.
    mean, variance : ndarrays
        Of the number of errors, which is binomial, Poisson or negative binomial as the
        variance is smaller, equal or larger: errors that come in clumps whose sizes have a
        logarithmic distribution are negative binomial.

    Returns
    -------
    probability : ndarray in [0, 1]
    """
    k, mean, variance = np.broadcast_arrays(
        *(np.asarray(a, dtype=np.float64) for a in (k, mean, variance))
    )
    excess = variance - mean
    alike = np.abs(excess) <= 1e-9 * mean
    some = np.maximum(k, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.where(alike, 1.0, mean**2 / np.abs(excess))
        many = betainc(size, some + 1, size / (size + mean))
        # size trials, each an error with probability mean / size.
        left = size - some
        few = np.where(
            left > 0, betainc(np.maximum(left, 1e-300), some + 1, 1 - mean / size), 1.0
        )
        found = np.where(excess > 0, many, few)
        found = np.where(alike, gammaincc(some + 1, mean), found)
    found = np.where(mean > 0, found, 1.0)
    return np.where(k < 0, 0.0, found)


def count_quantile(probability, mean, variance):
    """Smallest number of errors (n,) whose probability of at most so many is reached."""
    probability = np.asarray(probability, dtype=np.float64)
    spread = np.sqrt(variance)
    low = max(np.floor(mean - MOST_SPREADS * spread), 0.0)
    high = np.ceil(mean + MOST_SPREADS * spread + 50)
    # Beyond so many numbers, neighbours are too alike to matter.
    values = np.unique(np.floor(np.linspace(low, high, MAX_VALUES)))
    reached = count_cdf(values, mean, variance)
    places = np.searchsorted(reached, probability)
    return values[np.minimum(places, values.size - 1)]


def _nodes(n_groups):
    """Points (n_nodes, n_groups) that fill the unit cube evenly, the same every time."""
    points = Sobol(n_groups, scramble=False).random(N_NODES)
    return points + 0.5 / N_NODES
