"""Two systems on the same people: differences and ratios of rates, and rates over folds.

What is common to both systems cancels person by person. A rate is a sum of what each
person adds on her own and of what every two people add; ``covariance`` counts the latter
once, though the influences of both people hold it. One covariance gives the interval of
the difference, its test, and the interval of the ratio, so that all three agree.

A method that is fitted anew in every fold gives scores that can be compared within a fold
alone. So every fold has a threshold of its own, and a pooled rate is the sum of errors over
the sum of pairs of all folds; ``compare`` takes the same resamples of people for two systems.
Resampling counts what every two people add together three times, and for rare false
acceptances that is most of the variance: this surplus, known from the accepted pairs, is
taken out of the variance of the replicates.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import stdtr, stdtrit

from skfairfr._core._few_errors import Contrasts, ErrorSums, contrasts

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


def disparity_ratio(sums, people_add, shared, blocks, tail):
    """Interval of the ratio of two systems' disparities, and its p-value.

    The logarithm of a disparity is the largest of some contrasts of the logarithms of rates.
    The second system's is at least as large as any one contrast of that system. So the
    logarithm of the ratio is at most the largest contrast of the first system minus this one
    of the second. The data choose that one, and the tail is divided by the number of
    contrasts (Bonferroni). A largest rate that is large by chance thus narrows neither end.

    Parameters
    ----------
    sums : tuple of two ErrorSums
        Of either system, each (n_groups,).
    people_add, shared : ndarrays, shape (2 * n_groups, 2 * n_groups)
        Covariance of the logarithms of the rates, of the first system and then of the other:
        what people add on their own, and what every two do.
    blocks : sequence of ndarrays, each (n_contrasts, n_groups)
        The contrasts, some at a time.
    tail : float in (0, 1)
        Chance of either end to miss the ratio.

    Returns
    -------
    p_value, low, high : float
    """
    n_groups, share = sums[0].errors.size, tail / sum(map(len, blocks))
    both = ErrorSums(*map(np.concatenate, zip(*sums, strict=True)))
    highs, p_values = [], []
    for first in (0, 1):
        # The contrast of the other system that is surely the largest.
        bounds = [
            contrasts(sums[1 - first], block).bounds(share)[0] for block in blocks
        ]
        place = [int(np.argmax(low)) for low in bounds]
        best = int(np.argmax([low[k] for low, k in zip(bounds, place, strict=True)]))
        chosen = blocks[best][place[best]]
        high = p_value = 0.0
        for block in blocks:
            weights = np.tile(-chosen, (len(block), 2))
            weights[:, first * n_groups :][:, :n_groups] = block
            found = _paired_contrasts(both, weights, people_add, shared)
            estimate, error, freedom = found.upper
            with np.errstate(divide="ignore", invalid="ignore"):
                below = stdtr(freedom, estimate / error)
            high = max(high, found.bounds(share)[1].max())
            p_value = max(p_value, np.nan_to_num(below, nan=1.0).max())
        highs.append(high)
        p_values.append(p_value * tail / share)
    return min(2 * min(p_values), 1.0), 1 / highs[1] if highs[1] else np.inf, highs[0]


def _paired_contrasts(sums, weights, people_add, shared):
    """Contrasts of rates, many of them of the same people."""
    found, own = contrasts(sums, weights), weights * (sums.errors > 0)
    people, clumped = (((own @ of) * own).sum(axis=1) for of in (people_add, shared))
    varied = np.maximum(people, 0.0) + clumped
    more = varied - own**2 @ sums.worth().variance
    sides = (
        (estimate, np.sqrt(np.maximum(error**2 + more, varied)), freedom)
        for estimate, error, freedom in (found.lower, found.upper)
    )
    return Contrasts(found.value, *sides)


# ---- rates pooled over folds ---------------------------------------------------------

# Levels at which a rate's dependence on the level is seen: this many times less and more.
STEP = 1.5
# Added to the errors of every rate before its logarithm is taken.
HALF_ERROR = 0.5


class Cell(NamedTuple):
    """One rate of a fold.

    Attributes
    ----------
    attribute : str
        Whose groups set the threshold of the point "worst_group".
    point : {"overall", "worst_group"}
    rate : {"far", "frr"}
    group : label or None
        None is everyone.
    """

    attribute: str
    point: str
    rate: str
    group: object


@dataclass(frozen=True)
class FoldErrors:
    """Errors of one system on the people of one fold.

    Attributes
    ----------
    errors, pairs : ndarrays, shape (n_cells, 1 + n_resamples)
        Weights of errors and of pairs; the first column is the data.
    near : ndarray, shape (n_cells, 2)
        Errors in the data at the level over STEP and at STEP times the level.
    setter : ndarray of int, shape (n_cells,)
        The cell whose FAR sets the threshold of each; -1 where none does.
    cell, left, right, count : ndarrays, shape (n_clumps,)
        Accepted impostor pairs of each cell of the FAR: codes of both people, which no
        other fold has, the smaller one left, and how many pairs are theirs.
    """

    errors: np.ndarray
    pairs: np.ndarray
    near: np.ndarray
    setter: np.ndarray
    cell: np.ndarray
    left: np.ndarray
    right: np.ndarray
    count: np.ndarray


@dataclass(frozen=True)
class PooledErrors:
    """Errors of one system on the people of all folds.

    Attributes
    ----------
    errors, pairs : ndarrays, shape (n_cells, 1 + n_resamples)
    clumps : sparse array, shape (n_cells, n_people**2)
        What every two people add to the logarithm of each rate, by an accepted pair of
        their own or by the threshold that it moves.
    """

    errors: np.ndarray
    pairs: np.ndarray
    clumps: sparse.csr_array

    @property
    def rates(self):
        """Rates in the data, (n_cells,); nan without pairs."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.errors[:, 0] / self.pairs[:, 0]

    @property
    def logs(self):
        """Logarithms of the rates with half an error more, (n_cells, 1 + n_resamples)."""
        pairs = np.where(self.pairs > 0, self.pairs, np.nan)
        return np.log((self.errors + HALF_ERROR) / pairs)

    def measured(self, cells, how):
        """One rate, or the disparity of several, in the data with half an error more."""
        return float(np.exp(_log_disparity(self.logs[cells, 0], how)))


def pool(folds, n_people):
    """Sum errors and pairs over folds.

    Parameters
    ----------
    folds : sequence of FoldErrors
        Of the same cells and numbers of resamples.
    n_people : int
        Number of codes of people.

    Returns
    -------
    pooled : PooledErrors
    """
    errors, pairs, near = (
        sum(getattr(fold, name) for fold in folds)
        for name in ("errors", "pairs", "near")
    )
    few, many = (near + HALF_ERROR).T
    slope = np.log(many / few) / (2 * np.log(STEP))
    total = errors[:, 0] + HALF_ERROR
    size = (total.size, n_people**2)
    found = sparse.csr_array(size)
    for fold in folds:
        own = _own_clumps(fold, n_people)
        accepted = own.sum(axis=1)
        # A pair more at the setter of a threshold is as if the level were lower.
        moved = slope * fold.errors[:, 0] / total
        set_by = fold.setter >= 0
        weights = np.zeros(total.size)
        weights[set_by] = moved[set_by] / np.maximum(accepted[fold.setter[set_by]], 1)
        rows = np.flatnonzero(set_by)
        move = sparse.csr_array(
            (weights[rows], (rows, fold.setter[rows])), shape=(total.size, total.size)
        )
        found = found + sparse.diags_array(1 / total) @ own - move @ own
    return PooledErrors(errors, pairs, sparse.csr_array(found))


def _own_clumps(fold, n_people):
    """Numbers of accepted pairs of every two people, sparse (n_cells, n_people**2)."""
    rows = []
    for cell in range(fold.errors.shape[0]):
        of_cell = fold.cell == cell
        people = fold.left[of_cell], fold.right[of_cell]
        rows.append(clumps(*people, fold.count[of_cell].astype(float), n_people))
    return sparse.vstack(rows, format="csr")


@dataclass(frozen=True)
class PooledRatio:
    """A rate or disparity of two systems on the same people.

    Attributes
    ----------
    before, after, ratio : float
        In the data; the ratio is after over before.
    low, high : float
        Interval of the ratio for other people.
    p_value : float
        Two-sided, that the ratio is 1.
    log_error : float
        Standard error of the logarithm of the ratio.
    """

    before: float
    after: float
    ratio: float
    low: float
    high: float
    p_value: float
    log_error: float


def compare(before, after, cells, how, freedom, confidence_level):
    """Compare two systems by one rate or by the disparity of several.

    Parameters
    ----------
    before, after : PooledErrors
    cells : sequence of int
        Rows of the rates; one alone where ``how`` is None.
    how : {None, "max_min", "max_geomean"}
    freedom : float
        Student's degrees of freedom: one less than the number of people of the smallest
        group.
    confidence_level : float in (0, 1)

    Returns
    -------
    found : PooledRatio

    Notes
    -----
    The interval is symmetric about the logarithm of the ratio of values with half an error
    more. Its variance is that of the replicates minus twice the sum of squares of what
    every two people add, and no less than that sum.
    """
    cells = np.asarray(cells)
    systems = (before, after)
    # A rate that a system cannot have is none that the other has.
    known = np.all([(s.pairs[cells, 0] > 0) for s in systems], axis=0)
    cells = cells[known]
    if cells.size < (1 if how is None else 2):
        return PooledRatio(*[np.nan] * 7)
    values = [_disparity(s.rates[cells], how) for s in systems]
    logs = [_log_disparity(s.logs[cells], how) for s in systems]
    shares = [_coefficients(s.logs[cells, 0], how) @ s.clumps[cells] for s in systems]
    difference = logs[1] - logs[0]
    replicates = difference[1:][np.isfinite(difference[1:])]
    together = float(((shares[1] - shares[0]) ** 2).sum())
    variance = max(replicates.var(ddof=1) - 2 * together, together)
    error, middle = float(np.sqrt(variance)), float(difference[0])
    reach = -stdtrit(freedom, (1 - confidence_level) / 2) * error
    p_value = 1.0
    if middle != 0:
        p_value = 2 * float(stdtr(freedom, -abs(middle) / error)) if error else 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = float(np.divide(values[1], values[0]))
    low, high = np.exp([middle - reach, middle + reach]).tolist()
    return PooledRatio(*values, ratio, low, high, p_value, error)


def _disparity(rates, how):
    """One rate, or the disparity of several, as they are."""
    with np.errstate(divide="ignore", invalid="ignore"):
        if how is None:
            return float(rates[0])
        if how == "max_min":
            return float(rates.max() / rates.min())
        return float(rates.max() / np.exp(np.log(rates).mean()))


def _log_disparity(logs, how):
    """Logarithm of a disparity, from logarithms (n_cells, n_columns)."""
    if how is None:
        return logs[0]
    lowest = logs.min(axis=0) if how == "max_min" else logs.mean(axis=0)
    return logs.max(axis=0) - lowest


def _coefficients(logs, how):
    """How the logarithm of a disparity depends on those of the rates, (n_cells,)."""
    found = np.zeros(logs.size)
    if how == "max_geomean":
        found -= 1 / logs.size
    elif how == "max_min":
        found[logs.argmin()] -= 1
    found[logs.argmax()] += 1
    return found
