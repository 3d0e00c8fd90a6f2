"""Counts and rates from scores and a threshold; the tie rule.

A pair is accepted when ``score >= threshold`` and rejected when ``score < threshold``.
This is the only module that compares a score with a threshold. Scores come sorted in
descending order, so that a count of accepted pairs is a position in them.
"""

from decimal import ROUND_HALF_DOWN, ROUND_HALF_UP, Context, Decimal

import numpy as np

# A rate that is a sum of floating-point weights carries rounding errors; one that exceeds
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
    """The smallest number of ``dtype`` not below each threshold.

    Comparing float32 scores with a float64 threshold rounds the threshold, which can lower
    it onto a score that it should reject. No score lies between the threshold and the
    returned number.
    """
    thresholds = np.asarray(thresholds, dtype=np.float64)
    with np.errstate(over="ignore"):  # beyond the type's range is +-inf, as it should
        rounded = thresholds.astype(dtype)
        above = np.nextafter(rounded, np.array(np.inf, dtype=dtype))
    return np.where(rounded < thresholds, above, rounded)


def count_at_least(descending, thresholds):
    """How many scores are accepted at each threshold: ``score >= threshold``.

    Parameters
    ----------
    descending : ndarray, shape (n_scores,)
        Scores in descending order.
    thresholds : array-like, any shape
        NaN thresholds accept nothing; a caller masks them.

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
    """First position at which an accumulated weight exceeds each target; -1 if none.

    ``accumulated`` is non-decreasing, shape (n_scores,); ``targets`` is level x total.
    """
    bounds = np.asarray(targets, dtype=np.float64) * (1 + ROUNDING)
    position = np.searchsorted(accumulated, bounds, side="right")
    return np.where(position < accumulated.size, position, -1)


def threshold_at(descending, position):
    """The threshold just above the score at ``position``; -inf where position is -1.

    With ``position`` from :func:`first_exceeding` this is the number next above the
    largest impostor score at which the FAR still exceeds the level: the infimum of the
    thresholds with FAR <= level, in the scores' own type.
    """
    position = np.asarray(position)
    if descending.size == 0:
        return np.full(position.shape, -np.inf)
    above = next_above(descending[np.maximum(position, 0)]).astype(np.float64)
    return np.where(position >= 0, above, -np.inf)


def shortest_between(rejected, accepted):
    """The decimal of fewest significant digits that rejects one score and accepts another.

    Parameters
    ----------
    rejected, accepted : floats
        ``rejected < accepted``; one may be infinite, where there is no such score.

    Returns
    -------
    threshold : float
        The number that the decimal is read as; ``rejected < threshold <= accepted``. Of
        equally short decimals that nearest to the middle.
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
            if rejected < threshold <= accepted:
                return threshold
    return float(accepted)


def in_digits(threshold):
    """A threshold in digits from which the same number is read."""
    return repr(float(threshold) + 0.0).removesuffix(".0")


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
    """A p-value in two digits, or more where they would not tell it from a usual level."""
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

    With finite data they are seldom equal. If two thresholds are equally close, the lower
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
