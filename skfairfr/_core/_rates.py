"""Counts and rates from scores and a threshold, their disparities, and the tie rule.

A pair is accepted when ``score >= threshold`` and rejected when ``score < threshold``.
This is the only module that compares a score with a threshold. Scores are sorted in
descending order, so a count of accepted pairs is a position in them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_HALF_DOWN, ROUND_HALF_UP, Context, Decimal

import numpy as np

# A rate that is a sum of floating-point weights carries rounding errors. One that exceeds
# its level by less than this (relative) is taken to equal it. Counts are exact: two
# rates that differ do so by more than 1e-12 for fewer than 1e12 accepted pairs.
ROUNDING = 1e-12


def exceeds(far, level):
    """Whether a rate (or a sum of weights) lies above a level (or its target sum)."""
    return far > level * (1 + ROUNDING)


def next_above(scores):
    """The number next above each score, in the scores' own floating-point type."""
    scores = np.asarray(scores)
    with np.errstate(over="ignore"):  # +inf is above the largest number of the type
        return np.nextafter(scores, np.array(np.inf, dtype=scores.dtype))


def in_score_dtype(thresholds, dtype):
    """Thresholds rounded to the type of the scores, as in numpy's ``scores >= 0.7``.

    Scores rounded to decimals are then accepted from such a decimal on in every type: the
    float32 of 0.7 is below the float64 of 0.7.
    """
    with np.errstate(over="ignore"):  # beyond the type's range is +-inf, as it should
        return np.asarray(thresholds, dtype=np.float64).astype(dtype)


def count_at_least(descending, thresholds):
    """How many scores are accepted at each threshold: ``score >= threshold``.

    Parameters
    ----------
    descending : ndarray, shape (n_scores,)
        Scores in descending order.
    thresholds : array-like, any shape
        NaN thresholds accept nothing. A caller masks them.

    Returns
    -------
    counts : ndarray of int64, shape of ``thresholds``
    """
    thresholds = in_score_dtype(thresholds, descending.dtype)
    # In ascending order, the scores >= threshold follow this position.
    below = np.searchsorted(descending[::-1], thresholds, side="left")
    return descending.size - below


def accepts(scores, thresholds):
    """Whether each score is accepted, broadcasting scores against thresholds."""
    scores = np.asarray(scores)
    return scores >= in_score_dtype(thresholds, scores.dtype)


def first_exceeding(accumulated, targets):
    """First position at which an accumulated weight exceeds each target, or -1 if none.

    ``accumulated`` is non-decreasing, shape (n_scores,). ``targets`` is level x total.
    """
    bounds = np.asarray(targets, dtype=np.float64) * (1 + ROUNDING)
    position = np.searchsorted(accumulated, bounds, side="right")
    return np.where(position < accumulated.size, position, -1)


def threshold_at(descending, position):
    """The threshold just above the score at ``position``, or -inf where position is -1.

    With ``position`` from :func:`first_exceeding` this is the number next above the
    largest impostor score at which the FAR still exceeds the level: the infimum of the
    thresholds with FAR <= level, in the scores' own type.
    """
    position = np.asarray(position)
    if descending.size == 0:
        return np.full(position.shape, -np.inf)
    above = next_above(descending[np.maximum(position, 0)]).astype(np.float64)
    return np.where(position >= 0, above, -np.inf)


def shortest_between(rejected, accepted, dtype=np.float64):
    """The decimal of fewest significant digits that rejects one score and accepts another.

    Parameters
    ----------
    rejected, accepted : floats
        ``rejected < accepted``. One may be infinite, if there is no such score.
    dtype : dtype, default=numpy.float64
        Type of the scores.

    Returns
    -------
    threshold : float
        The number that the decimal is read as. ``rejected < threshold <= accepted``, also
        rounded to the type. Of equally short decimals that nearest to the middle.
    """
    if np.isinf(rejected):
        rejected = accepted - (abs(accepted) or 1.0)
    if np.isinf(accepted):
        accepted = rejected + (abs(rejected) or 1.0)
    middle = (Decimal(rejected) + Decimal(accepted)) / 2
    # A middle between two decimals is rounded up: the lower one may be the score rejected.
    rounding = ROUND_HALF_UP if middle > 0 else ROUND_HALF_DOWN
    for digits in range(1, 17):
        context = Context(prec=digits, rounding=rounding)
        for number in (middle, Decimal(accepted)):
            threshold = float(context.plus(number))
            if rejected < in_score_dtype(threshold, dtype) and threshold <= accepted:
                return threshold
    return float(accepted)


def in_digits(threshold):
    """A threshold in digits from which the same number is read."""
    return repr(float(threshold) + 0.0).removesuffix(".0")


def end_in_digits(floor, distance=False):
    """A floor of similarities in six digits, not looser, or as a distance."""
    near = float(f"{floor:.6g}")
    if near < floor:
        near = float(Context(prec=6, rounding=ROUND_CEILING).create_decimal(floor))
    return in_digits(-near if distance else near)


def on_its_side(form, value, border, digits):
    """A number in digits enough to be read on the side of a border on which it lies.

    Parameters
    ----------
    form : callable
        ``form(value, digits)`` gives the text.
    value, border : float
    digits : int
        The fewest.
    """
    text = form(value, digits)
    while digits < 17 and np.sign(float(text.replace(",", "")) - border) != np.sign(
        value - border
    ):
        digits += 1
        text = form(value, digits)
    return text


def p_in_digits(p):
    """A p-value in two digits, or more if they would round it to a usual level."""
    if p < 1e-4:
        return "< 0.0001"
    texts = [
        on_its_side(lambda value, digits: f"{value:.{digits}g}", p, level, 2)
        for level in (0.05, 0.01)
    ]
    return max(texts, key=len)


def share_accepted(descending, thresholds):
    """Share of scores accepted at each threshold (a FAR, of impostor scores).

    NaN where the threshold is NaN, or where there is no score at all.
    """
    thresholds = np.asarray(thresholds, dtype=np.float64)
    if descending.size == 0:
        return np.full(thresholds.shape, np.nan)
    share = count_at_least(descending, thresholds) / descending.size
    return np.where(np.isnan(thresholds), np.nan, share)


def share_rejected(descending, thresholds):
    """Share of scores rejected at each threshold (an FRR, of genuine scores)."""
    thresholds = np.asarray(thresholds, dtype=np.float64)
    if descending.size == 0:
        return np.full(thresholds.shape, np.nan)
    # Counted, not 1 - share_accepted, which would round.
    rejected = descending.size - count_at_least(descending, thresholds)
    return np.where(np.isnan(thresholds), np.nan, rejected / descending.size)


def equal_error(far, frr):
    """The equal error rate: (FAR + FRR) / 2 where the two are closest.

    With finite data they are rarely equal. If two thresholds are equally close, the lower
    one counts.

    Parameters
    ----------
    far, frr : array-like, shape (..., n_thresholds)
        Along descending thresholds: far rises and frr falls.

    Returns
    -------
    rates : ndarray, shape (...,)
        nan if a rate is undefined.
    positions : ndarray of int, shape (...,)
        Position of the threshold where they are closest.
    """
    far, frr = np.asarray(far, dtype=np.float64), np.asarray(frr, dtype=np.float64)
    gap = np.abs(far - frr)[..., ::-1]
    closest = gap <= gap.min(axis=-1, keepdims=True) + ROUNDING
    positions = gap.shape[-1] - 1 - np.argmax(closest, axis=-1)
    middle = (far + frr) / 2
    rates = np.take_along_axis(middle, positions[..., None], axis=-1)[..., 0]
    return rates, positions


# ---- disparities of group rates ------------------------------------------------------
# Each function maps rates of shape (..., n_groups) to (...,). Larger is less fair. Zero
# denominators follow one rule: x/0 is +inf, 0/0 is nan. A nan rate makes the disparity nan:
# the caller decides which groups take part. A new disparity needs one function, one line of
# ``DISPARITIES`` and one entry in its test. With a ``range_of`` as well, its intervals agree
# with those of max / min. With ``contrasts``, those of the ratio of two systems' disparities
# allow for a largest rate that is large by chance.


def _divide(numerator, denominator):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.divide(numerator, denominator)


def _geometric_mean(rates):
    with np.errstate(divide="ignore"):
        return np.exp(np.mean(np.log(rates), axis=-1))


def max_min(rates):
    """max x / min x."""
    return _divide(rates.max(axis=-1), rates.min(axis=-1))


def max_geomean(rates):
    """max x / geometric mean of x."""
    return _divide(rates.max(axis=-1), _geometric_mean(rates))


def log_geomean(rates, base=10.0, reduce="sum"):
    """Sum (or mean) over groups of abs(log(x / geometric mean of x)).

    One zero rate among positive ones puts every other infinitely far from the geometric
    mean, so the sum is +inf. All zero is undefined.
    """
    ratios = _divide(rates, _geometric_mean(rates)[..., None])
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.abs(np.log10(ratios) / np.log10(base))
        total = terms.sum(axis=-1) if reduce == "sum" else terms.mean(axis=-1)
    some_zero = (rates == 0).any(axis=-1) & (rates > 0).any(axis=-1)
    return np.where(some_zero & ~np.isnan(rates).any(axis=-1), np.inf, total)


def gini(rates):
    """M/(M-1) times the Gini coefficient of the M rates, with a maximum of 1."""
    n_groups = rates.shape[-1]
    # The sum of |x_a - x_b| over all pairs is a weighted sum of the sorted rates, which
    # needs no M x M array.
    rank = 2.0 * np.arange(n_groups) - (n_groups - 1)
    differences = 2 * (np.sort(rates, axis=-1) * rank).sum(axis=-1)
    spread = _divide(differences, 2 * n_groups**2 * rates.mean(axis=-1))
    return n_groups / (n_groups - 1) * spread


def difference(rates):
    """max x - min x."""
    return rates.max(axis=-1) - rates.min(axis=-1)


def std(rates, ddof=0):
    """Standard deviation of the rates."""
    return rates.std(axis=-1, ddof=ddof)


def ratio(rates):
    """Signed ratio x_2 / x_1 of exactly two groups, in their order."""
    return _divide(rates[..., 1], rates[..., 0])


# What rates between a smallest one and 1, both of which occur, can give: the least and the
# largest value of a disparity, from the smallest rate (...,) and the number of groups.


def _range_of_max_min(smallest, n_groups):
    found = _divide(1.0, smallest)
    return found, found


def _range_of_max_geomean(smallest, n_groups):
    found = _divide(1.0, smallest)
    return found ** (1 / n_groups), found ** (1 - 1 / n_groups)


def _range_of_log_geomean(smallest, n_groups):
    with np.errstate(divide="ignore"):
        apart = np.abs(np.log10(smallest))
    # The most where half of the groups are at either end.
    return apart, apart * (2 * (n_groups // 2) * ((n_groups + 1) // 2) / n_groups)


def _range_of_gini(smallest, n_groups):
    smallest = np.asarray(smallest)
    # The least where all other groups have the largest rate, the most where some number of
    # groups has it and the others the smallest one.
    largest = np.arange(1, n_groups)
    others = n_groups - largest
    total = largest + others * smallest[..., None]
    most = (largest * others / total).max(axis=-1)
    apart = 1 - smallest
    return apart / (n_groups - 1 + smallest), apart * most / (n_groups - 1)


def _range_of_difference(smallest, n_groups):
    return 1 - smallest, 1 - smallest


def _range_of_std(smallest, n_groups):
    halves = (n_groups // 2) * ((n_groups + 1) // 2)
    apart = 1 - smallest
    return apart / np.sqrt(2 * n_groups), apart * np.sqrt(halves) / n_groups


# Where the logarithm of a disparity is the largest of some weighted sums of the logarithms of
# rates: the weights of these sums, blocks (n_contrasts, n_groups).


def _every_two(n_groups):
    one = np.eye(n_groups)
    return [one[group] - np.delete(one, group, axis=0) for group in range(n_groups)]


def _against_the_mean(n_groups):
    return [np.eye(n_groups) - 1 / n_groups]


@dataclass(frozen=True)
class DisparityMeasure:
    """A disparity: its function, neutral value and natural range.

    Attributes
    ----------
    function : callable
    neutral : float
    bounds : tuple of two floats
    range_of : callable, default=None
        Least and largest value by the smallest rate and the number of groups, where the
        largest rate is 1, or None where it is not known.
    in_rates : bool, default=False
        Whether the disparity is in units of a rate: of rates twice as large, twice as large.
    contrasts : callable, default=None
        Weights of the logarithms of rates, in blocks (n_contrasts, n_groups), by the number of
        groups: the logarithm of the disparity is the largest of these sums. None if it is not.
    """

    function: Callable
    neutral: float
    bounds: tuple[float, float]
    range_of: Callable | None = None
    in_rates: bool = False
    contrasts: Callable | None = None


DISPARITIES = {
    "max_min": DisparityMeasure(
        max_min, 1.0, (1.0, np.inf), _range_of_max_min, contrasts=_every_two
    ),
    "max_geomean": DisparityMeasure(
        *(max_geomean, 1.0, (1.0, np.inf), _range_of_max_geomean),
        contrasts=_against_the_mean,
    ),
    "log_geomean": DisparityMeasure(
        log_geomean, 0.0, (0.0, np.inf), _range_of_log_geomean
    ),
    "gini": DisparityMeasure(gini, 0.0, (0.0, 1.0), _range_of_gini),
    "difference": DisparityMeasure(
        difference, 0.0, (0.0, 1.0), _range_of_difference, in_rates=True
    ),
    "std": DisparityMeasure(std, 0.0, (0.0, 1.0), _range_of_std, in_rates=True),
    "ratio": DisparityMeasure(
        *(ratio, 1.0, (0.0, np.inf)), contrasts=lambda _: [np.array([[-1.0, 1.0]])]
    ),
}
