"""How often each group is drawn: weights as functions of arrays, their mean 1.

A group's share of the draws is its weight over the sum of all weights, whatever its number
of images. The draws themselves are in ``_torch.py``.
"""

import math
from collections.abc import Mapping
from numbers import Real

import numpy as np

from skfairfr.utils._validation import check_count, plain, to_float

MOST_GROUPS = 1_000_000
# Ten times the FAR, four times the weight (GEO20 section 4.3).
EXPONENT = math.log10(4)


def natural_weights(counts):
    """Weights under which every image is drawn equally often.

    Parameters
    ----------
    counts : array-like of int, shape (n_groups,)
        Images of each group, >= 0, not all 0.

    Returns
    -------
    weights : ndarray of float64, shape (n_groups,)
        In [0, inf), their mean 1.

    Raises
    ------
    ValueError
        If a count is negative or all are 0.

    See Also
    --------
    equal_weights, adjusted_weights, dynamic_weights : The strategies against imbalance.

    References
    ----------
    .. [1] Bruveris, M., Mortazavian, P., Gietema, J., & Mahadevan, M. (2020). Reducing
       Geographic Performance Differentials for Face Recognition. WACV Workshops.
       Section 4.3.

    Examples
    --------
    >>> from skfairfr.samplers import natural_weights
    >>> natural_weights([30, 10, 20])
    array([1.5, 0.5, 1. ])
    """
    return _with_mean_one(counts, "counts")


def equal_weights(n_groups):
    """Weights under which every group is drawn equally often.

    Parameters
    ----------
    n_groups : int
        At least 1, and at most a million.

    Returns
    -------
    weights : ndarray of float64, shape (n_groups,)
        All 1.

    Raises
    ------
    ValueError
        If there is no group, or more than a million.

    References
    ----------
    .. [1] Bruveris, M., Mortazavian, P., Gietema, J., & Mahadevan, M. (2020). Reducing
       Geographic Performance Differentials for Face Recognition. WACV Workshops.
       Section 4.3, "Sampling with fixed weights".

    Examples
    --------
    >>> from skfairfr.samplers import equal_weights
    >>> equal_weights(3)
    array([1., 1., 1.])
    """
    return np.ones(check_count(n_groups, "n_groups", 1, MOST_GROUPS))


def adjusted_weights(weights, groups):
    """Weights chosen by hand, higher for groups that a system serves worse.

    Parameters
    ----------
    weights : dict of label -> float in [0, inf)
        An entry for every group and for no other; not all 0.
    groups : array-like, shape (n_groups,)
        Labels of the groups, in the order of the result.

    Returns
    -------
    weights : ndarray of float64, shape (n_groups,)
        In [0, inf), their mean 1.

    Raises
    ------
    ValueError
        If a group has no weight, a weight belongs to no group, is negative or not finite,
        or all are 0.

    References
    ----------
    .. [1] Bruveris, M., Mortazavian, P., Gietema, J., & Mahadevan, M. (2020). Reducing
       Geographic Performance Differentials for Face Recognition. WACV Workshops.
       Section 5.3: weight 3 for two of six continents.

    Examples
    --------
    >>> from skfairfr.samplers import adjusted_weights
    >>> adjusted_weights({"AF": 3, "EU": 1, "UN": 2}, groups=["AF", "EU", "UN"])
    array([1.5, 0.5, 1. ])
    """
    if not isinstance(weights, Mapping):
        raise ValueError(f"weights must be a dict of labels; got {weights!r}.")
    labels = np.asarray(groups, dtype=object)
    if labels.ndim != 1:
        raise ValueError(
            f"groups must be one-dimensional, (n_groups,); got shape {labels.shape}."
        )
    labels = [plain(label) for label in labels]
    given = {plain(label): value for label, value in weights.items()}
    unknown = [label for label in given if label not in labels]
    if unknown:
        raise ValueError(
            f"Group weights are given for {unknown}, which are no groups of the data; "
            f"the groups are: {labels}."
        )
    missing = [label for label in labels if label not in given]
    if missing:
        raise ValueError(
            f"Group weights are missing for {missing}; give every group one, 1 where "
            "nothing is to be changed."
        )
    for label, value in given.items():
        if not isinstance(value, Real):
            raise ValueError(
                f"Group weights must be numbers; got {plain(value)!r} for {label!r}."
            )
    return _with_mean_one([given[label] for label in labels], "group weights")


def dynamic_weights(
    previous, n_false_accepts, n_impostors, *, smoothing=0.2, exponent=EXPONENT
):
    """Weights that follow the FAR within each group, smoothed over epochs.

    smoothing * target + (1 - smoothing) * previous, where the target is FAR ** exponent,
    divided by its mean so that it is averaged with weights of its own size. A FAR is
    floored at (errors + 0.5) / (pairs + 1): a group without a false accept keeps a weight.

    Parameters
    ----------
    previous : array-like, shape (n_groups,)
        Weights of the epoch before, in [0, inf).
    n_false_accepts : array-like of int, shape (n_groups,)
        Impostor pairs within each group that are accepted at the threshold of the overall
        FAR, of people who are not trained on.
    n_impostors : array-like of int, shape (n_groups,)
        Impostor pairs within each group, at least 1.
    smoothing : float in [0, 1], default=0.2
        Weight of the target; 0 never changes the weights.
    exponent : float in [0, inf), default=log10(4)
        With log10(4), ten times the FAR is four times the weight.

    Returns
    -------
    weights : ndarray of float64, shape (n_groups,)
        In [0, inf), their mean 1.

    Raises
    ------
    ValueError
        If the shapes differ, a group has no impostor pair or more false accepts than
        pairs, or a number is out of its range.

    References
    ----------
    .. [1] Bruveris, M., Mortazavian, P., Gietema, J., & Mahadevan, M. (2020). Reducing
       Geographic Performance Differentials for Face Recognition. WACV Workshops.
       Section 4.3, "Sampling with dynamically adjusted weights". The floor and the
       division by the mean are ours: as printed, a group without a false accept is never
       drawn again, and numbers of the size of 1e-3 are averaged with 1.

    Examples
    --------
    >>> from skfairfr.samplers import dynamic_weights, equal_weights
    >>> weights = equal_weights(2)
    >>> for _ in range(40):
    ...     weights = dynamic_weights(weights, [1000, 100], [100_000, 100_000])
    >>> round(float(weights[0] / weights[1]), 1)
    4.0
    """
    previous = _with_mean_one(previous, "previous")
    errors, pairs = (
        _to_floats(given, name)
        for given, name in (
            (n_false_accepts, "n_false_accepts"),
            (n_impostors, "n_impostors"),
        )
    )
    if errors.shape != previous.shape or pairs.shape != previous.shape:
        raise ValueError(
            "previous, n_false_accepts and n_impostors need one entry for each group; got "
            f"the shapes {previous.shape}, {errors.shape} and {pairs.shape}."
        )
    if not ((errors >= 0) & (errors <= pairs) & (pairs > 0)).all():
        raise ValueError(
            "Every group needs an impostor pair at least, and no more false accepts than "
            f"pairs; got {errors.tolist()} of {pairs.tolist()}."
        )
    if not 0 <= to_float(smoothing) <= 1:
        raise ValueError(f"smoothing must lie in [0, 1]; got {plain(smoothing)!r}.")
    if not 0 <= to_float(exponent) < math.inf:
        raise ValueError(f"exponent must lie in [0, inf); got {plain(exponent)!r}.")
    smoothing, exponent = float(smoothing), float(exponent)
    far = np.maximum(errors / pairs, (errors + 0.5) / (pairs + 1))
    # Divided by the largest, so that no power leaves the range of floats.
    target = _with_mean_one((far / far.max()) ** exponent, "FAR")
    return smoothing * target + (1 - smoothing) * previous


def _to_floats(values, name):
    """Numbers as a float64 array."""
    try:
        return np.asarray(values, dtype=np.float64)
    # RuntimeError: of a tensor with a gradient.
    except (TypeError, ValueError, OverflowError, RuntimeError) as error:
        raise ValueError(f"{name} must be numbers, one for each group.") from error


def _with_mean_one(values, name):
    """Non-negative numbers over their mean."""
    values = _to_floats(values, name)
    if values.ndim != 1 or values.size == 0:
        raise ValueError(
            f"{name} must be one-dimensional, (n_groups,); got shape {values.shape}."
        )
    if not (np.isfinite(values) & (values >= 0)).all():
        raise ValueError(f"{name} must be finite and >= 0; got {values.tolist()}.")
    if not values.any():
        raise ValueError(f"{name} are all 0, so that nothing would be drawn.")
    # Divided by the largest first: a sum of large numbers could leave the range.
    values = values / values.max()
    return values / values.mean()
