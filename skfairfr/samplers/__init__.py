"""Which images training visits: weights of groups, and torch samplers that draw by them.

The weights are functions of numpy arrays, their mean 1: a group's share of the draws is its
weight over the sum of all weights, whatever its number of images. The samplers serve
anyone's ``DataLoader`` and, made without data, the ``sampler=`` of the projectors. They need
torch, which comes with the extra "mitigate". Without it only the weights are here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from skfairfr.utils import _extras
from skfairfr.utils._errors import invalid, plain
from skfairfr.utils._labels import to_column
from skfairfr.utils._validation import check_count, check_number, to_numbers

if TYPE_CHECKING:
    from skfairfr.samplers._torch import GroupWeightedSampler as GroupWeightedSampler
    from skfairfr.samplers._torch import (
        HomogeneousBatchSampler as HomogeneousBatchSampler,
    )

_HOME = {
    "GroupWeightedSampler": "skfairfr.samplers._torch",
    "HomogeneousBatchSampler": "skfairfr.samplers._torch",
    "adjusted_weights": "skfairfr.samplers",
    "dynamic_weights": "skfairfr.samplers",
    "equal_weights": "skfairfr.samplers",
    "natural_weights": "skfairfr.samplers",
}

__all__, __getattr__, __dir__ = _extras.lazy_names(
    __name__, _HOME, needs={"skfairfr.samplers._torch": ("torch",)}
)

# Ten times the FAR, four times the weight (GEO20 section 4.3).
EXPONENT = math.log10(4)


def natural_weights(counts: ArrayLike) -> np.ndarray:
    """Weights under which every image is drawn equally often.

    Parameters
    ----------
    counts : array-like of int, shape (n_groups,)
        Images of each group, >= 0, not all 0.

    Returns
    -------
    weights : ndarray of float64, shape (n_groups,)
        Weights in [0, inf), with a mean of 1.

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


def equal_weights(n_groups: int) -> np.ndarray:
    """Weights under which every group is drawn equally often.

    Parameters
    ----------
    n_groups : int
        At least 1.

    Returns
    -------
    weights : ndarray of float64, shape (n_groups,)
        All 1.

    Raises
    ------
    ValueError
        If there is no group.

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
    return np.ones(check_count(n_groups, "n_groups", 1))


def adjusted_weights(weights: dict, groups: ArrayLike) -> np.ndarray:
    """Weights chosen by hand, higher for groups that a system serves worse.

    Parameters
    ----------
    weights : dict of label -> float in [0, inf)
        An entry for every group and for no other, not all 0.
    groups : array-like, shape (n_groups,)
        Labels of the groups, in the order of the result.

    Returns
    -------
    weights : ndarray of float64, shape (n_groups,)
        Weights in [0, inf), with a mean of 1.

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
        raise invalid("weights", weights, f"must be a dict of labels, got {weights!r}.")
    labels = [plain(label) for label in to_column(groups, "groups")]
    given = {plain(label): value for label, value in weights.items()}
    unknown = [label for label in given if label not in labels]
    missing = [label for label in labels if label not in given]
    if unknown or missing:
        problems = [f"has {unknown}, as no group is called"] * bool(unknown)
        problems += [f"lacks an entry for {missing}"] * bool(missing)
        problem = f"{' and '.join(problems)};"
        remedy = f"give one for each of the groups {labels}, and for no other."
        raise invalid("weights", weights, problem, remedy)
    for label, value in given.items():
        if not isinstance(value, Real):
            problem = f"must be numbers, got {plain(value)!r} for {label!r}."
            raise invalid("weights", weights, problem)
    return _with_mean_one([given[label] for label in labels], "weights")


def dynamic_weights(
    previous: ArrayLike,
    n_false_accepts: ArrayLike,
    n_impostors: ArrayLike,
    *,
    smoothing: float = 0.2,
    exponent: float = EXPONENT,
) -> np.ndarray:
    """Weights that follow the FAR within each group, smoothed over epochs.

    smoothing * target + (1 - smoothing) * previous. The target is FAR ** exponent divided by
    its mean, which gives it the same size as the weights. A FAR is
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
        Weight of the target. 0 never changes the weights.
    exponent : float in [0, inf), default=log10(4)
        With log10(4), ten times the FAR is four times the weight.

    Returns
    -------
    weights : ndarray of float64, shape (n_groups,)
        Weights in [0, inf), with a mean of 1.

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
    errors = to_numbers(n_false_accepts, "n_false_accepts")
    pairs = to_numbers(n_impostors, "n_impostors")
    if errors.shape != previous.shape or pairs.shape != previous.shape:
        problem = "must have one entry for each group, like previous and n_impostors, "
        problem += f"got shapes {errors.shape}, {previous.shape} and {pairs.shape}."
        raise invalid("n_false_accepts", errors, problem)
    if not ((errors >= 0) & (errors <= pairs) & (pairs > 0)).all():
        problem = "must lie between 0 and n_impostors, which are 1 at least, got "
        problem += f"{errors.tolist()} of {pairs.tolist()}."
        raise invalid("n_false_accepts", errors, problem)
    wanted = "must lie in [0, 1]"
    smoothing = check_number(smoothing, "smoothing", lambda s: 0 <= s <= 1, wanted)
    wanted = "must lie in [0, inf)"
    exponent = check_number(exponent, "exponent", lambda e: 0 <= e < math.inf, wanted)
    far = np.maximum(errors / pairs, (errors + 0.5) / (pairs + 1))
    # Divided by the largest: no power leaves the range of floats.
    target = _with_mean_one((far / far.max()) ** exponent, "FAR")
    return smoothing * target + (1 - smoothing) * previous


def _with_mean_one(values, name):
    """Non-negative numbers over their mean."""
    values = to_numbers(values, name)
    problem = ""
    if values.ndim != 1 or values.size == 0:
        problem = f"must be one-dimensional, (n_groups,), got shape {values.shape}."
    elif not (np.isfinite(values) & (values >= 0)).all():
        problem = f"must be finite and >= 0, got {values.tolist()}."
    elif not values.any():
        problem = "are all 0, so nothing would be drawn."
    if problem:
        raise invalid(name, values, problem)
    # Divided by the largest first: a sum of large numbers could leave the range.
    values = values / values.max()
    return values / values.mean()
