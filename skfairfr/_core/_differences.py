"""Two rates on the same people: the variance of their difference, and Student's test of it.

What is common to both systems cancels person by person. A difference is a sum of what each
person adds on her own and of what every two people add; ``variance`` counts the latter
once, though the influences of both people hold it.
"""

import numpy as np
from scipy import sparse
from scipy.special import ndtri, stdtr, stdtrit

# The least share of people that a correction for estimated rates may leave.
LEAST_LEFT = 0.3
# Beyond this many standard deviations probabilities underflow.
LARGEST = 37.0


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


def variance(influence, squares, single, people, ends):
    """Variance of a difference of two rates, and its degrees of freedom.

    Parameters
    ----------
    influence : ndarray, shape (n_levels, n_people)
        Of each person on the difference.
    squares : ndarray, shape (n_levels,)
        Sum over two people of the squared weight that both have in the difference.
    single : ndarray, shape (n_levels,)
        Square of what one clump of errors adds to the difference: as if half a clump more
        had erred in either system alone, so that few differing errors do not pass for
        none.
    people : ndarray, shape (n_levels,)
        Effective number of people.
    ends : {1, 2}
        How many people an error is of.

    Returns
    -------
    variance, freedom : ndarrays, shape (n_levels,)
        Satterthwaite's degrees of freedom, from the spread of what people add: the sum of
        the squares of n differences that are 1 or -1 has 2 n, and of n normal ones n.
    """
    second, fourth = ((influence**power).sum(axis=1) for power in (2, 4))
    once = np.maximum(second - squares, second / 2)
    # Deviations from an estimated rate are too small.
    left = np.maximum(1 - ends / np.maximum(people, ends), LEAST_LEFT)
    found = once / left + single
    spread = np.maximum(fourth + single**2 - second**2 / influence.shape[1], 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = 2 * found * (second + single) / spread
    return found, np.clip(np.nan_to_num(freedom, nan=1.0), 1.0, np.maximum(people, 2.0))


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


def normal_deviates(difference, p_value):
    """Standard normal deviates of two-sided p-values, with the sign of a difference."""
    size = np.clip(-ndtri(p_value / 2), 0.0, LARGEST)
    return np.sign(difference) * size
