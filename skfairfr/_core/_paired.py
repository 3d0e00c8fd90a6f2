"""Two systems on the same people: differences and ratios of rates.

Effects common to both systems cancel person by person: leaving one person out changes both
rates and their difference. A contribution of two people counts once, though the influences of
both people contain it. The interval of the difference, its test and the interval of the ratio
come from one interval, so all three agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.special import stdtr

from skfairfr._core._jackknife import ends_of, even_reach, shape_of, two_sided

# First minus second.
SIGNS = np.array([1.0, -1.0])


def clusters(left, right, weights, n_people):
    """Weights of pairs summed over the pairs of the same two people.

    Parameters
    ----------
    left, right : ndarrays of int, shape (n_pairs,)
        People of the pairs, in any order.
    weights : ndarray, shape (n_pairs,)
    n_people : int

    Returns
    -------
    weight : sparse array, shape (1, n_people**2)
    """
    one = np.minimum(left, right).astype(np.int64)
    key = one * n_people + np.maximum(left, right)
    where = (np.zeros(key.size, dtype=np.int64), key)
    return sparse.csr_array((weights, where), shape=(1, n_people**2))


def stacked(rates):
    """Contributions of each pair of people to several rates, of those who add to any.

    Parameters
    ----------
    rates : sequence of sparse arrays, each (1, n_people**2)

    Returns
    -------
    clustered : sparse array, shape (n_rates, n_couples)
        A product with columns of all couples would take an array of as many.
    """
    found = sparse.vstack(rates, format="csr")
    couples, column = np.unique(found.indices, return_inverse=True)
    shape = found.shape[0], couples.size
    return sparse.csr_array((found.data, column, found.indptr), shape=shape)


@dataclass(frozen=True)
class PairedDifference:
    """The difference of two rates on the same people.

    Parameters
    ----------
    influence : ndarray, shape (2, n_people)
        Of each person on either rate.
    clustered : ndarray, shape (2, n_couples)
        By how much what each pair of people with errors adds to either rate deviates
        from what is expected of them.
    others : tuple of ndarray, shape (2, 2), and two floats
        Sums over all other pairs of people, whose deviations are minus what is expected, of
        the products of both deviations, and of the third and fourth power of their difference.
    single : ndarray, shape (2,)
        What one pair adds to either rate: as if either system alone had one more error.
        Without it the variance would be 0 if no decision differs.
    people : float
        Effective number of people.
    """

    influence: np.ndarray
    clustered: np.ndarray
    others: tuple
    single: np.ndarray
    people: float

    @cached_property
    def covariance(self):
        """Covariance of the two rates, (2, 2)."""
        shared = self.clustered @ self.clustered.T + self.others[0]
        found = self.influence @ self.influence.T - shared
        # What people add to the difference is no negative variance.
        lacking = min(_of_difference(found - shared), 0.0)
        return found - lacking / 4 * np.outer(SIGNS, SIGNS) + np.diag(self.single**2)

    def shape(self):
        """Variance, skewness and degrees of freedom of the difference."""
        variance = _of_difference(self.covariance)
        people, clusters = SIGNS @ self.influence, SIGNS @ self.clustered
        cubes, fourths = (
            (people**power).sum() - (clusters**power).sum() - of_others
            for power, of_others in zip((3, 4), self.others[1:], strict=True)
        )
        of_one = (self.single**2).mean(), max(self.people, 1.0)
        return variance, *shape_of(variance, cubes, fourths, *of_one)

    def judge(self, rates, tail):
        """p-value that the rates are equal, and ends of their difference and ratio.

        Parameters
        ----------
        rates : ndarray, shape (2,)
        tail : float in (0, 0.5)

        Returns
        -------
        p_value, low, high, ratio_low, ratio_high : float
            Both intervals exclude equal rates exactly if ``p_value`` is below ``2 * tail``.
        """
        value, covariance = rates[0] - rates[1], self.covariance
        variance, *shape = self.shape()
        if not variance:
            nan = np.nan
            return (1.0, value, value, nan, nan) if value == 0 else (nan,) * 5

        def beyond(tail):
            low, high = ends_of(value, variance, *shape, tail)
            return np.maximum(low, -high) / np.sqrt(variance)

        low, high = ends_of(value, variance, *shape, tail)
        error = np.sqrt(variance)
        ratio_low = ratio_ends(rates, covariance, (value - low) / error)[0]
        ratio_high = ratio_ends(rates, covariance, (high - value) / error)[1]
        p_value = float(two_sided(beyond, ()))
        return p_value, *np.clip((low, high), -1.0, 1.0), ratio_low, ratio_high


def _of_difference(covariance):
    return SIGNS @ covariance @ SIGNS


def ratio_ends(rates, covariance, reach):
    """Interval of the ratio of two rates: what a difference does not speak against.

    The ratios q at which ``rates[0] - q * rates[1]`` is within ``reach`` standard errors of
    0 (Fieller 1954). It excludes 1 where the interval of the difference excludes 0.

    Parameters
    ----------
    rates : ndarray, shape (2,)
    covariance : ndarray, shape (2, 2)
    reach : float
        In standard errors.

    Returns
    -------
    low, high : float
        0 and inf where the data do not bound the ratio, or nan where both rates are 0.
    """
    first, second = rates
    if not (first > 0 or second > 0):
        return np.nan, np.nan
    one, both, other = (
        reach**2 * covariance[k] - rates[k[0]] * rates[k[1]]
        for k in ((0, 0), (0, 1), (1, 1))
    )
    # All q of which one - 2 both q + other q**2 is no less than 0, about first / second. The
    # roots are near and far = summed / other, which goes to infinity as other goes to 0.
    root = np.sqrt(max(both**2 - one * other, 0.0))
    summed = both + np.copysign(root, both)  # no difference of like numbers
    if other <= 0:
        if summed == 0:
            return 0.0, 0.0 if other else np.inf
        far = summed / other if other else -np.copysign(np.inf, summed)
        low, high = sorted((one / summed, far))
        return max(low, 0.0), max(high, 0.0)
    if root == 0:
        return 0.0, np.inf
    lower, upper = sorted((one / summed, summed / other))
    if second > 0 and first / second <= lower:
        return 0.0, lower
    return max(upper, 0.0), np.inf


# ---- disparities ---------------------------------------------------------------------


def disparity_ratio(compared, blocks, tail):
    """Interval of the ratio of two systems' disparities, and its p-value.

    The logarithm of a disparity is the largest of some contrasts of the logarithms of rates.
    The second system's is at least as large as any one contrast of that system. So the
    logarithm of the ratio is at most the largest contrast of the first system minus this one
    of the second. The data choose that one, and the tail is divided by the number of
    contrasts (Bonferroni). A largest rate that is large by chance thus narrows neither end.
    Of one rate, and of two groups, each system has one contrast, up to its sign: the interval
    is that of their difference.

    Parameters
    ----------
    compared : callable
        Of weights (n, 2 * n_groups), of the logarithms of the first system's rates and then
        of the other's, the Contrasts.
    blocks : sequence of ndarrays, each (n_contrasts, n_groups)
        The contrasts of either system, some at a time.
    tail : float in (0, 1)
        Chance of either end to miss the ratio.

    Returns
    -------
    p_value, low, high : float
    """
    n_contrasts = sum(map(len, blocks))
    if n_contrasts <= 2:
        (weights,) = blocks if len(blocks) == 1 else [np.concatenate(blocks)]
        own = [np.kron(system, weights) for system in np.eye(2)]
        first, second = (of[[np.argmax(compared(of).value)]] for of in own)
        found = compared(first - second)
        p_value = found.p_value[0] if found.value[0] else 1.0
        return p_value, *np.ravel(found.bounds(tail))
    share = tail / n_contrasts
    highs, p_values = [], []
    for system in np.eye(2):
        # The contrast of the other system that is surely the largest.
        found = [compared(np.kron(1 - system, block)) for block in blocks]
        surest = np.argmax(np.concatenate([own.bounds(share)[0] for own in found]))
        chosen = np.kron(1 - system, np.concatenate(blocks)[surest])
        found = [compared(np.kron(system, block) - chosen) for block in blocks]
        highs.append(max(own.bounds(share)[1].max() for own in found))
        tails = np.concatenate([own.tail_above for own in found])
        below = np.nan_to_num(tails, nan=1.0).max()
        p_values.append(below * tail / share)
    return min(2 * min(p_values), 1.0), 1 / highs[1] if highs[1] else np.inf, highs[0]


@dataclass(frozen=True)
class SymmetricContrasts:
    """Weighted sums of the logarithms of rates of the same people, each (n_contrasts,).

    Attributes
    ----------
    value, error, freedom : ndarrays
        Infinite values are of rates without an error.
    """

    value: np.ndarray
    error: np.ndarray
    freedom: np.ndarray

    def bounds(self, tail):
        """Lower and upper end of the ratios (not their logarithms), each with this tail."""
        reach = even_reach(tail, self.freedom) * self.error
        with np.errstate(over="ignore", invalid="ignore"):
            return np.exp(self.value - reach), np.exp(self.value + reach)

    @property
    def tail_above(self):
        """The tail at which the upper end is 1."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return stdtr(self.freedom, self.value / self.error)

    @property
    def p_value(self):
        """Two-sided, that the ratio is 1."""
        return 2 * np.minimum(self.tail_above, 1 - self.tail_above)

    @classmethod
    def of(cls, weights, sums, influence, clustered):
        """Contrasts of rates, from what people and pairs of people add to them.

        Parameters
        ----------
        weights : ndarray, shape (n_contrasts, n_rates)
        sums : ErrorSums
            Each (n_rates,).
        influence : ndarray, shape (n_rates, n_people)
            Of each person on the logarithm of each rate.
        clustered : sparse array, shape (n_rates, n_couples)
            What each pair of people adds to it.
        """
        erring, n_people = sums.with_an_error(), sums.people.min()
        # As if each rate had one error more, and those without an error one more cluster.
        single = np.where(sums.errors > 0, sums.single / erring.errors, 1.0)
        people, clusters = weights @ influence, sparse.csr_array(weights) @ clustered
        shared, fourths = (
            np.asarray((clusters**power).sum(axis=1)).ravel() for power in (2, 4)
        )
        squares = (people**2).sum(axis=1) - shared
        variance = np.maximum(squares, shared) + weights**2 @ single**2
        fourths = (people**4).sum(axis=1) - fourths
        _, freedom = shape_of(variance, 0.0, fourths, 0.0, n_people)
        return cls(weights @ np.log(erring.rate), np.sqrt(variance), freedom)


def difference_ends(ratio, first, second):
    """Ends of the difference of two disparities: what the intervals of three numbers leave.

    Parameters
    ----------
    ratio, first, second : tuples of two ndarrays, shape (n_levels,)
        Ends of the intervals of first over second, and of either.

    Returns
    -------
    low, high : ndarrays, shape (n_levels,)
        They exclude 0 where the interval of the ratio excludes 1.
    """
    ends = []
    for end, inner, nearer in ((ratio[0], 0, np.fmax), (ratio[1], 1, np.fmin)):
        with np.errstate(divide="ignore", invalid="ignore"):
            # first - second = second * (ratio - 1) = first * (1 - 1 / ratio)
            both = (end - 1, second), (1 - 1 / end, first)
            found = [c * np.where(c > 0, own[inner], own[1 - inner]) for c, own in both]
        ends.append(np.where(end == 1, 0.0, nearer(*found)))
    return tuple(ends)
