"""Two systems on the same people: differences and ratios of rates.

What is common to both systems cancels person by person. A rate is a sum of what each
person adds on her own and of what every two people add; ``covariance`` counts the latter
once, though the influences of both people hold it. One covariance gives the interval of
the difference, its test, and the interval of the ratio, so that all three agree.
"""

import numpy as np
from scipy import sparse
from scipy.special import stdtr, stdtrit

from skfairfr._core._few_errors import Contrasts, contrasts

# The least share of people that a correction for estimated rates may leave.
LEAST_LEFT = 0.3
# First minus second.
SIGNS = np.array([1.0, -1.0])


def clumps(left, right, weights, n_people):
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


def covariance(influence, shared, single, people, ends):
    """Covariance of two rates on the same people.

    Parameters
    ----------
    influence : ndarray, shape (2, n_people)
        Of each person on either rate.
    shared : ndarray, shape (2, 2)
        Sums over two people of the products of what both add together to the rates.
    single : ndarray, shape (2,)
        What one pair adds to either rate: as if one more had erred in either system
        alone, so that without any that differs the variance is not 0.
    people : float
        Effective number of people.
    ends : {1, 2}
        How many people an error is of.

    Returns
    -------
    covariance : ndarray, shape (2, 2)
    """
    people_add = influence @ influence.T - 2 * shared
    # What people add to the difference is no negative variance.
    lacking = min(SIGNS @ people_add @ SIGNS, 0.0)
    people_add -= lacking / 4 * np.outer(SIGNS, SIGNS)
    # Deviations from an estimated rate are too small.
    left = max(1 - ends / max(people, ends), LEAST_LEFT)
    return (shared + people_add) / left + np.diag(single**2)


def student(difference, variance, freedom, confidence_level):
    """Student's test that a difference is 0, and the interval that goes with it.

    Parameters
    ----------
    difference, variance, freedom : ndarrays, shape (n_levels,)
    confidence_level : float in (0, 1)

    Returns
    -------
    p_value, low, high : ndarrays, shape (n_levels,)
        The interval excludes 0 where the p-value is below ``1 - confidence_level``.
    """
    error = np.sqrt(variance)
    with np.errstate(divide="ignore", invalid="ignore"):
        deviate = np.where(difference == 0, 0.0, np.abs(difference) / error)
    p_value = 2 * stdtr(freedom, -deviate)
    reach = -stdtrit(freedom, (1 - confidence_level) / 2) * error
    return p_value, difference - reach, difference + reach


def paired_deviates(errors, pairs, of_person, squares):
    """Deviates of the test that two rates on the same people are equal, by their ratio.

    Parameters
    ----------
    errors, pairs : tuples of two ndarrays, shape (n_comparisons,)
        Weight of the errors, and of the pairs, of either rate.
    of_person : ndarray, shape (n_comparisons, n_people)
        Each person's influence on the logarithm of the first rate minus that on the
        logarithm of the second.
    squares : ndarray, shape (n_comparisons,)
        Sum over two people of the squared difference of their influences.

    Returns
    -------
    deviates, log_variance : ndarrays, shape (n_comparisons,)
        Positive where the first rate is larger; 0 and inf where neither has an error. The
        variance is that of the logarithm of the ratio.

    Notes
    -----
    Clumps of errors, and not people, make most of the variance where errors are few: they
    are counted, half a clump is added on either side, and what people add is taken as it is.
    """
    first, second = (np.asarray(e, dtype=np.float64) for e in errors)
    both = np.where((first > 0) & (second > 0), first + second, 1.0)
    weight = np.where((first > 0) & (second > 0), first * second / both, first + second)
    clump = squares * weight
    clump = np.where(clump > 0, clump, 1.0)
    first, second = first / clump + 0.5, second / clump + 0.5
    # People's influences hold each clump of two people twice.
    people = np.maximum((of_person**2).sum(axis=-1) - 2 * squares, 0.0)
    variance = 1 / first + 1 / second + people
    ratio = np.log(first / pairs[0]) - np.log(second / pairs[1])
    none = weight == 0
    found = np.where(none, 0.0, ratio / np.sqrt(variance))
    return found, np.where(none, np.inf, variance)


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
        0 and inf where the data do not bound the ratio; nan where both rates are 0.
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
    share = tail / sum(map(len, blocks))
    highs, p_values = [], []
    for system in np.eye(2):
        # The contrast of the other system that is surely the largest.
        found = [compared(np.kron(1 - system, block)) for block in blocks]
        surest = np.argmax(np.concatenate([own.bounds(share)[0] for own in found]))
        chosen = np.kron(1 - system, np.concatenate(blocks)[surest])
        found = [compared(np.kron(system, block) - chosen) for block in blocks]
        highs.append(max(own.bounds(share)[1].max() for own in found))
        with np.errstate(divide="ignore", invalid="ignore"):
            tails = [stdtr(own.upper[2], own.upper[0] / own.upper[1]) for own in found]
        below = np.nan_to_num(np.concatenate(tails), nan=1.0).max()
        p_values.append(below * tail / share)
    return min(2 * min(p_values), 1.0), 1 / highs[1] if highs[1] else np.inf, highs[0]


def paired_contrasts(weights, *, sums, people_add, shared):
    """Contrasts of rates, many of them of the same people.

    Parameters
    ----------
    weights : ndarray, shape (n_contrasts, n_rates)
    sums : ErrorSums
        Each (n_rates,).
    people_add, shared : ndarrays, shape (n_rates, n_rates)
        Covariance of the logarithms of the rates: what people add on their own, and what
        every two do.

    Returns
    -------
    found : Contrasts
    """
    found, own = contrasts(sums, weights), weights * (sums.errors > 0)
    people, clumped = (((own @ of) * own).sum(axis=1) for of in (people_add, shared))
    varied = np.maximum(people, 0.0) + clumped
    more = varied - own**2 @ sums.worth().variance
    sides = (
        (estimate, np.sqrt(np.maximum(error**2 + more, varied)), freedom)
        for estimate, error, freedom in (found.lower, found.upper)
    )
    return Contrasts(found.value, *sides)


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
