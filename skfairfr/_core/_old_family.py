"""Many comparisons of two groups: p-values and bounds of ratios that hold all at once.

Rates come as :class:`~skfairfr._core._few_errors.Effective` errors. The ratio of two is
compared with the F distribution, as that of two Poisson counts is, and its tail with
Student's where few people stand behind the variance. ``step_down`` then adjusts the
p-values of all comparisons of an audit at once, by normal draws that share the people's
influences, and gives the quantile with which all bounds hold together.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import issparse
from scipy.special import fdtr, fdtri, ndtr, ndtri, stdtr, stdtrit

from skfairfr._core._compiled import njit

# Beyond this many standard deviations probabilities underflow.
LARGEST = 37.0
# As good as infinitely many degrees of freedom.
MANY = 1e9


@dataclass(frozen=True)
class Ratios:
    """Ratios of the rate of one group to that of another, all (n_comparisons,).

    Attributes
    ----------
    raw : ndarray
        Quotient of the rates; inf over 0, nan of two zeros.
    middle : ndarray
        The same with half an effective error added to both, about which bounds lie.
    shape, other_shape : ndarrays
        Inverse variance of the logarithm of either rate.
    freedom : ndarray
        Student's degrees of freedom of the sum of both variances.
    error_free, other_error_free : ndarrays of bool
        Whether either rate is 0.
    """

    raw: np.ndarray
    middle: np.ndarray
    shape: np.ndarray
    other_shape: np.ndarray
    freedom: np.ndarray
    error_free: np.ndarray
    other_error_free: np.ndarray


def ratios_of(effective, first, second):
    """Ratios of rates of one level, in groups ``first`` over ``second``.

    Parameters
    ----------
    effective : Effective
        Of one level, each (n_groups,), of groups that have pairs.
    first, second : ndarrays of int, shape (n_comparisons,)

    Returns
    -------
    ratios : Ratios
    """
    variance = effective.log_variance
    shrunk = (effective.errors + 0.5) / effective.pairs
    of_first, of_second = variance[first], variance[second]
    free = np.clip(effective.freedom, 1.0, MANY)
    # Satterthwaite: the degrees of freedom of a sum of two variances.
    freedom = (of_first + of_second) ** 2 / (
        of_first**2 / free[first] + of_second**2 / free[second]
    )
    rate = effective.rate
    with np.errstate(divide="ignore", invalid="ignore"):
        raw = rate[first] / rate[second]
    return Ratios(
        raw,
        shrunk[first] / shrunk[second],
        1 / of_first,
        1 / of_second,
        freedom,
        effective.errors[first] == 0,
        effective.errors[second] == 0,
    )


def deviates(ratios, limit=1.0):
    """Standard normal deviates of the test that a ratio is ``limit``, (n_comparisons,).

    Positive where the ratio is larger; 0 where neither group has an error.
    """
    quotient = limit / ratios.middle
    # The smaller tail, so that neither end is 1 minus something tiny.
    below = fdtr(2 * ratios.shape, 2 * ratios.other_shape, quotient)
    above = fdtr(2 * ratios.other_shape, 2 * ratios.shape, 1 / quotient)
    normal = np.where(below < above, -ndtri(below), ndtri(above))
    normal = np.clip(normal, -LARGEST, LARGEST)
    # What Student's distribution makes of it: variances are estimates.
    tail = stdtr(ratios.freedom, -np.abs(normal))
    found = np.sign(normal) * np.minimum(-ndtri(tail), LARGEST)
    return np.where(ratios.error_free & ratios.other_error_free, 0.0, found)


def p_values(deviates):
    """Two-sided p-values of standard normal deviates."""
    return 2 * ndtr(-np.abs(deviates))


def bounds(ratios, quantile):
    """Bounds of ratios: those limits whose deviate is ``quantile`` at most.

    Parameters
    ----------
    ratios : Ratios
    quantile : float
        Two-sided standard normal quantile: 1.96 for 95 % of each, larger for all at once.

    Returns
    -------
    low, high : ndarrays, shape (n_comparisons,)
        0 where the first rate is 0 and inf where the second is: how much smaller, or
        larger, cannot be determined.
    """
    reach = -stdtrit(ratios.freedom, ndtr(-quantile))
    tail = ndtr(-np.minimum(reach, LARGEST))
    shapes = 2 * ratios.shape, 2 * ratios.other_shape
    low = ratios.middle * fdtri(*shapes, tail)
    with np.errstate(divide="ignore"):  # a quantile that underflows: no bound
        high = ratios.middle / fdtri(*shapes[::-1], tail)
    low = np.where(ratios.error_free, 0.0, low)
    return low, np.where(ratios.other_error_free, np.inf, high)


def draw_jointly(influence, n_draws, generator):
    """Normal draws with the covariance of the logarithms of all rates.

    Parameters
    ----------
    influence : ndarray or sparse array, shape (n_cells, n_people)
        Each person's influence on the logarithm of each cell's rate; people of several
        cells, those of other attributes among them, make cells vary together.
    n_draws : int
    generator : numpy.random.Generator

    Returns
    -------
    draws : ndarray, shape (n_draws, n_cells)
        0 in cells on which nobody has an influence.

    Notes
    -----
    Eigenvectors have no sign of their own, and those of equal eigenvalues can be rotated:
    libraries of linear algebra choose. The symmetric root is the same for every choice.
    """
    covariance = influence @ influence.T
    if issparse(covariance):
        covariance = covariance.toarray()
    spread = np.sqrt(np.diag(covariance))
    varies = spread > 0
    covariance = covariance[np.ix_(varies, varies)]
    root = symmetric_root(covariance / np.outer(spread[varies], spread[varies]))
    factor = np.zeros((len(root), spread.size))
    factor[:, varies] = root * spread[varies]
    return generator.standard_normal((n_draws, len(root))) @ factor


def symmetric_root(matrix):
    """The symmetric square root without negative eigenvalues: there is only one.

    Parameters
    ----------
    matrix : ndarray, shape (n, n)
        Symmetric, without negative eigenvalues but for rounding.

    Returns
    -------
    root : ndarray, shape (n, n)
    """
    values, vectors = np.linalg.eigh(matrix)
    # Eigenvalues of 0 come out as some 1e-16, whose root would be 1e-8.
    rounding = values.size * np.finfo(np.float64).eps * values.max(initial=0.0)
    roots = np.sqrt(np.where(values > rounding, values, 0.0))
    return (vectors * roots) @ vectors.T


def step_down(deviates, first, second, draws, confidence_level):
    """Adjusted p-values of all comparisons, and the quantile of all bounds at once.

    Free step-down max-T (Westfall & Young 1993): the p-value of a comparison is the share
    of draws in which the largest deviate, of this comparison and those with smaller ones,
    is at least as large as the one found.

    Parameters
    ----------
    deviates : ndarray, shape (n_comparisons,)
    first, second : ndarrays of int, shape (n_comparisons,)
        Cells that are compared.
    draws : ndarray, shape (n_draws, n_cells)
        As :func:`draw_jointly` gives them.
    confidence_level : float in (0, 1)

    Returns
    -------
    p_adjusted : ndarray, shape (n_comparisons,)
        Never below the p-value of the comparison alone.
    quantile : float
        Of the largest absolute deviate of all comparisons.
    """
    found = np.abs(deviates)
    order = np.argsort(found, kind="stable")
    spread = _spread(draws, first, second)
    exceeding, largest = _running_maxima(
        found[order], first[order], second[order], spread[order], draws.T.copy()
    )
    n_draws = draws.shape[0]
    stepped = np.empty(found.size)
    # From the largest deviate down, no p-value falls.
    shares = (1 + exceeding) / (1 + n_draws)
    stepped[order] = np.maximum.accumulate(shares[::-1])[::-1]
    alone = p_values(deviates)
    # Below 1 / n_draws, Holm's bound says more than draws do.
    adjusted = np.maximum(np.minimum(stepped, holm(alone)), alone)
    single = -ndtri((1 - confidence_level) / 2)
    quantile = max(float(np.quantile(largest, confidence_level)), single)
    return np.where(found > 0, adjusted, 1.0), quantile


def holm(p):
    """p-values adjusted for their number (Holm 1979), whatever their dependence."""
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    adjusted = np.empty(p.size)
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted


def _spread(draws, first, second):
    """Standard deviation of the difference of two cells, from the draws."""
    centred = draws - draws.mean(axis=0)
    variance = (centred**2).mean(axis=0)
    covariance = np.empty(first.size)
    block = max(1, 2**22 // max(1, draws.shape[0]))
    for start in range(0, first.size, block):
        part = slice(start, start + block)
        covariance[part] = np.einsum(
            "di,di->i", centred[:, first[part]], centred[:, second[part]]
        )
    covariance /= draws.shape[0]
    squared = variance[first] + variance[second] - 2 * covariance
    return np.sqrt(np.maximum(squared, 0.0))


@njit(nogil=True, cache=True)
def _running_maxima(found, first, second, spread, draws):
    """How many draws reach each deviate, in increasing order, and their largest one."""
    n_draws = draws.shape[1]
    largest = np.zeros(n_draws)
    exceeding = np.zeros(found.size, dtype=np.int64)
    for c in range(found.size):
        one, other, sd = draws[first[c]], draws[second[c]], spread[c]
        count = 0
        for d in range(n_draws):
            if sd > 0:
                deviate = abs(one[d] - other[d]) / sd
                if deviate > largest[d]:
                    largest[d] = deviate
            if largest[d] >= found[c]:
                count += 1
        exceeding[c] = count
    return exceeding, largest


def shrunken_rates(effective):
    """Rates moved towards their common geometric mean by as much as they are noise.

    Empirical Bayes on the logarithms: the variance between groups is what their spread
    exceeds their own variances by (DerSimonian & Laird 1986), and the rates keep that
    variance (Louis 1984), so that equal groups have equal rates and groups that differ
    surely keep theirs.

    Parameters
    ----------
    effective : Effective
        Of one level, each (n_groups,).

    Returns
    -------
    rate : ndarray, shape (n_groups,)
    """
    variance = effective.log_variance
    logs = np.log((effective.errors + 0.5) / effective.pairs)
    weight = 1 / variance
    mean = weight @ logs / weight.sum()
    excess = weight @ (logs - mean) ** 2 - (logs.size - 1)
    between = max(excess / (weight.sum() - (weight**2).sum() / weight.sum()), 0.0)
    weight = 1 / (variance + between)
    mean = weight @ logs / weight.sum()
    kept = np.sqrt(between / (between + variance))
    return np.exp(mean + kept * (logs - mean))


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
    are counted as :func:`~skfairfr._core._few_errors.effective_errors` counts them, half
    an effective error is added on either side, and what people add is taken as it is.
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
