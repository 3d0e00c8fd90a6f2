"""Error rates of scored pairs, as scikit-learn's metrics read.

``y_true`` is 1 for a genuine pair and 0 for an impostor pair, ``y_score`` a similarity.
A pair is accepted when its score is at least the threshold (``_core/_rates.py``). Rates
within groups at one threshold are here too, intervals in ``SimilarityROC``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from skfairfr._core._rates import equal_error, share_accepted, share_rejected
from skfairfr.metrics._pairs._checks import (
    check_pair_groups,
    check_pairs,
    check_single_level,
    check_single_threshold,
    name_groups,
    operating_thresholds,
    split_by_group,
    split_pairs,
)
from skfairfr.utils._frames import Framed, framed, library_of
from skfairfr.utils._types import Column
from skfairfr.utils._validation import check_option, warn_undefined


def far_frr_curve(
    y_true: ArrayLike, y_score: ArrayLike
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """False acceptance and false rejection rate at every distinct score.

    The data of a ROC, DET or equal-error-rate figure. A pair is accepted when its score
    is at least the threshold, so the k-th rates are those of ``thresholds[k]`` itself.

    Parameters
    ----------
    y_true : array-like of {0, 1} or bool, shape (n_pairs,)
        1 for a genuine pair, 0 for an impostor pair.
    y_score : array-like of float, shape (n_pairs,)
        Similarity of each pair. Larger is more similar.

    Returns
    -------
    far : ndarray, shape (n_thresholds,)
        Share of impostor pairs accepted, in [0, 1], non-decreasing from 0 to 1, eq. (2)
        of [1]_. Lower is better.
    frr : ndarray, shape (n_thresholds,)
        Share of genuine pairs rejected, in [0, 1], non-increasing from 1 to 0, eq. (3)
        of [1]_. Lower is better.
    thresholds : ndarray of float64, shape (n_thresholds,)
        Similarities to accept from, descending: +inf, then the distinct scores.

    Raises
    ------
    ValueError
        If ``y_true`` has other values than 0 and 1, ``y_score`` is not finite, their
        lengths differ, or there is no pair.

    Warns
    -----
    UndefinedMetricWarning
        If there is no impostor pair (``far`` is nan) or no genuine pair (``frr``).

    See Also
    --------
    sklearn.metrics.det_curve : The same rates in ascending order of thresholds.
    threshold_at_far : The threshold that meets a FAR level.

    References
    ----------
    .. [1] Conti, J.-R., & Clémençon, S. (2024). Assessing Uncertainty in Similarity
       Scoring: Performance & Fairness in Face Recognition. ICLR. Eq. (2)-(4), here with
       every pair weighing the same.

    Examples
    --------
    >>> from skfairfr.metrics import far_frr_curve
    >>> far, frr, thresholds = far_frr_curve([1, 0, 1, 0], [0.9, 0.6, 0.6, 0.1])
    >>> thresholds.tolist()
    [inf, 0.9, 0.6, 0.1]
    >>> far.tolist(), frr.tolist()
    ([0.0, 0.0, 0.5, 1.0], [1.0, 0.5, 0.0, 0.0])
    """
    is_genuine, scores = check_pairs(y_true, y_score)
    pairs = split_pairs(is_genuine, scores)
    warn_missing_kinds(pairs.impostor.size, pairs.genuine.size)
    thresholds = np.concatenate([[np.inf], np.unique(scores)[::-1]])
    far = share_accepted(pairs.impostor, thresholds)
    frr = share_rejected(pairs.genuine, thresholds)
    return far, frr, thresholds


def threshold_at_far(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    far: float,
    sensitive_features: Column | None = None,
    operating_point: str = "overall",
) -> float:
    """The threshold at which the false acceptance rate meets a level.

    The number next above the largest impostor score at which the FAR still exceeds
    ``far``, that is the infimum of the thresholds with FAR <= ``far``, in the scores' own
    floating-point type. It depends on impostor scores alone, and ties fall out.

    Parameters
    ----------
    y_true : array-like of {0, 1} or bool, shape (n_pairs,)
        1 for a genuine pair, 0 for an impostor pair.
    y_score : array-like of float, shape (n_pairs,)
        Similarity of each pair. Larger is more similar.
    far : float in (0, 1)
        False acceptance rate not to exceed.
    sensitive_features : array-like, shape (n_pairs,) or (n_pairs, 2), default=None
        Group of both images, or of each image. None and NaN are unknown. Needed by
        "worst_group", unused by "overall".
    operating_point : {"overall", "worst_group"}, default="overall"
        "overall": the FAR over all impostor pairs meets the level. "worst_group": the
        largest of the groups' own thresholds, so that no group's FAR exceeds it [2]_.

    Returns
    -------
    threshold : float
        A similarity, or -inf if even accepting every pair meets the level, nan if undefined.

    Raises
    ------
    ValueError
        If ``far`` lies outside (0, 1), ``operating_point`` is unknown or lacks its
        groups, or the pairs are not as described above.

    Warns
    -----
    UndefinedMetricWarning
        If there is no impostor pair (nan); a group has none (it is left out); or ``far``
        is below 1 / n_impostor (the threshold is just above the largest impostor score).

    See Also
    --------
    frr_at_far : The false rejection rate at this threshold.
    group_error_rates : Each group's rates at a given threshold.

    References
    ----------
    .. [1] Conti, J.-R., & Clémençon, S. (2024). Assessing Uncertainty in Similarity
       Scoring: Performance & Fairness in Face Recognition. ICLR. Eq. (4).
    .. [2] Conti, J.-R., Noiry, N., Despiegel, V., Gentric, S., & Clémençon, S. (2022).
       Mitigating Gender Bias in Face Recognition Using the von Mises-Fisher Mixture
       Model. ICML. Eq. (3)-(4).

    Examples
    --------
    >>> from skfairfr.metrics import threshold_at_far
    >>> y_true, y_score = [0, 0, 0, 0, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.9]
    >>> round(threshold_at_far(y_true, y_score, far=0.25), 6)
    0.3
    >>> groups = ["f", "f", "m", "m", "f", "m"]
    >>> round(threshold_at_far(y_true, y_score, far=0.5, sensitive_features=groups,
    ...                        operating_point="worst_group"), 6)
    0.3
    """
    level = check_single_level(far)
    if operating_point == "group":
        raise ValueError(
            "operating_point='group' gives one threshold per group, not one float; call "
            "threshold_at_far on the pairs of each group."
        )
    check_option(operating_point, "operating_point", ("overall", "worst_group"))
    is_genuine, scores = check_pairs(y_true, y_score)
    overall = split_pairs(is_genuine, scores)
    by_group, groups = [overall], np.array(["all pairs"])
    if sensitive_features is not None:
        labels = check_pair_groups(sensitive_features, len(scores))
        by_group, groups = split_by_group(is_genuine, scores, labels), labels.values
    elif operating_point == "worst_group":
        raise ValueError(
            "operating_point='worst_group' needs sensitive_features; got None. Give the "
            "group of each pair, or use operating_point='overall'."
        )
    thresholds = operating_thresholds(
        overall, by_group, groups, far=level, operating_point=operating_point
    )
    if np.isnan(thresholds[0]) and operating_point == "worst_group":
        warn_undefined("No group has an impostor pair: the threshold is set to nan.")
    return float(thresholds[0])


def frr_at_far(y_true: ArrayLike, y_score: ArrayLike, *, far: float = 1e-3) -> float:
    """False rejection rate at a false acceptance level.

    One point of the ROC in the biometric sense: how often the right person is turned away
    when impostors get through at most at the rate ``far``.

    Parameters
    ----------
    y_true : array-like of {0, 1} or bool, shape (n_pairs,)
        1 for a genuine pair, 0 for an impostor pair.
    y_score : array-like of float, shape (n_pairs,)
        Similarity of each pair. Larger is more similar.
    far : float in (0, 1), default=1e-3
        False acceptance rate over all impostor pairs at which to operate.

    Returns
    -------
    frr : float in [0, 1]
        Share of genuine pairs rejected, eq. (4) of [1]_. Lower is better. NaN if there is
        no genuine or no impostor pair.

    Raises
    ------
    ValueError
        If ``far`` lies outside (0, 1), ``y_true`` has other values than 0 and 1,
        ``y_score`` is not finite, their lengths differ, or there is no pair.

    Warns
    -----
    UndefinedMetricWarning
        If there is no genuine or no impostor pair, or ``far`` is below 1 / n_impostor.

    See Also
    --------
    threshold_at_far : The threshold used.
    frr_disparity : How this rate differs between groups.

    References
    ----------
    .. [1] Conti, J.-R., & Clémençon, S. (2024). Assessing Uncertainty in Similarity
       Scoring: Performance & Fairness in Face Recognition. ICLR. Eq. (4), here with
       every pair weighing the same.

    Examples
    --------
    >>> from skfairfr.metrics import frr_at_far
    >>> frr_at_far([0, 0, 0, 0, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.35, 0.2], far=0.25)
    0.5
    """
    level = check_single_level(far)
    pairs = split_pairs(*check_pairs(y_true, y_score))
    if pairs.genuine.size == 0:
        warn_undefined(_no_pair("genuine", "frr", 1))
    (threshold,) = operating_thresholds(
        pairs, [pairs], np.array(["all pairs"]), far=level, operating_point="overall"
    )
    return float(share_rejected(pairs.genuine, threshold))


def equal_error_rate(y_true: ArrayLike, y_score: ArrayLike) -> float:
    """The rate at which false acceptances and false rejections are equally frequent.

    With finite data they are rarely equal: (FAR + FRR) / 2 at the score, taken as the
    threshold, where they are closest (the lower one of two equally close). It summarises
    a system at a threshold at which few are operated. Prefer :func:`frr_at_far` at the
    level in use.

    Parameters
    ----------
    y_true : array-like of {0, 1} or bool, shape (n_pairs,)
        1 for a genuine pair, 0 for an impostor pair.
    y_score : array-like of float, shape (n_pairs,)
        Similarity of each pair. Larger is more similar.

    Returns
    -------
    rate : float in [0, 1]
        Mean of FAR and FRR, eq. (2)-(3) of [1]_, where they meet. Lower is better. nan
        if there is no genuine or no impostor pair.

    Raises
    ------
    ValueError
        If ``y_true`` has other values than 0 and 1, ``y_score`` is not finite, their
        lengths differ, or there is no pair.

    Warns
    -----
    UndefinedMetricWarning
        If there is no genuine or no impostor pair.

    See Also
    --------
    far_frr_curve : The curve on which it lies.

    References
    ----------
    .. [1] Conti, J.-R., & Clémençon, S. (2024). Assessing Uncertainty in Similarity
       Scoring: Performance & Fairness in Face Recognition. ICLR. Eq. (2)-(3).

    Examples
    --------
    >>> from skfairfr.metrics import equal_error_rate
    >>> equal_error_rate([0, 0, 0, 0, 1, 1, 1, 1], [1, 2, 3, 6, 4, 5, 7, 8])
    0.25
    """
    far, frr, _ = far_frr_curve(y_true, y_score)
    return float(equal_error(far, frr)[0])


def _no_pair(kind, rate, code):
    return (
        f"No {kind} pair in y_true: {rate} is undefined and set to nan. Add {kind} pairs "
        f"(y_true = {code})."
    )


def warn_missing_kinds(n_impostor, n_genuine):
    """Warn if there is no impostor pair, or no genuine pair."""
    if n_impostor == 0:
        warn_undefined(_no_pair("impostor", "far", 0))
    if n_genuine == 0:
        warn_undefined(_no_pair("genuine", "frr", 1))


# ---- rates within each group, at one threshold ---------------------------------------


@dataclass(frozen=True)
class GroupErrorRates(Framed):
    """Error rates of each group at one threshold, from :func:`group_error_rates`.

    A pair belongs to a group when both its images do, so cross-group impostor pairs count
    for none.

    Attributes
    ----------
    groups : ndarray, shape (n_groups,)
        Sorted labels of the groups.
    far : ndarray, shape (n_groups,)
        Share of the group's impostor pairs accepted, in [0, 1]. Lower is better. NaN for
        a group without impostor pairs.
    frr : ndarray, shape (n_groups,)
        Share of the group's genuine pairs rejected, in [0, 1]. Lower is better. NaN for a
        group without genuine pairs.
    n_impostor : ndarray of int, shape (n_groups,)
        Number of impostor pairs within each group.
    n_genuine : ndarray of int, shape (n_groups,)
        Number of genuine pairs within each group.
    threshold : float
        Similarity from which on a pair is accepted, the same for all groups.

    Raises
    ------
    dataclasses.FrozenInstanceError
        If an attribute is assigned to.

    See Also
    --------
    group_error_rates : Returns it.

    References
    ----------
    .. [1] Conti, J.-R., & Clémençon, S. (2024). Assessing Uncertainty in Similarity
       Scoring: Performance & Fairness in Face Recognition. ICLR. Section 2.2, with the
       empirical rates of eq. (2)-(3).

    Examples
    --------
    >>> from skfairfr.metrics import group_error_rates
    >>> rates = group_error_rates([0, 0, 1, 1], [0.7, 0.2, 0.9, 0.3],
    ...     sensitive_features=["f", "m", "f", "m"], threshold=0.5)
    >>> dict(zip(rates.groups.tolist(), rates.far.tolist()))
    {'f': 1.0, 'm': 0.0}
    """

    groups: np.ndarray
    far: np.ndarray
    frr: np.ndarray
    n_impostor: np.ndarray
    n_genuine: np.ndarray
    threshold: float

    def _columns(self):
        """One row for each group, all with the threshold."""
        columns = super()._columns()
        return {"group": columns.pop("groups"), **columns}


def group_error_rates(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sensitive_features: Column,
    threshold: float,
) -> GroupErrorRates:
    """False acceptance and false rejection rate within each group, at one threshold.

    Parameters
    ----------
    y_true : array-like of {0, 1} or bool, shape (n_pairs,)
        1 for a genuine pair, 0 for an impostor pair.
    y_score : array-like of float, shape (n_pairs,)
        Similarity of each pair. Larger is more similar.
    sensitive_features : array-like, shape (n_pairs,) or (n_pairs, 2)
        Group of both images, or of each image. A pair is in a group when both images
        are. None and NaN are unknown, in no group.
    threshold : float
        A pair is accepted when its score is at least this. +-inf are allowed.

    Returns
    -------
    rates : GroupErrorRates
        With the arrays ``groups``, ``far``, ``frr``, ``n_impostor`` and ``n_genuine``, of
        shape (n_groups,), and ``threshold``. Rates lie in [0, 1]. Lower is better.

    Raises
    ------
    ValueError
        If ``threshold`` is not one number, no pair has a known group, or the pairs are
        not as described above.

    Warns
    -----
    UndefinedMetricWarning
        If a group has no impostor pair (its ``far`` is nan) or no genuine pair (``frr``).

    See Also
    --------
    threshold_at_far : The threshold that meets a FAR level.
    far_disparity, frr_disparity : One number for how the rates differ.

    References
    ----------
    .. [1] Conti, J.-R., & Clémençon, S. (2024). Assessing Uncertainty in Similarity
       Scoring: Performance & Fairness in Face Recognition. ICLR. Section 2.2, with the
       empirical rates of eq. (2)-(3).

    Examples
    --------
    >>> from skfairfr.metrics import group_error_rates
    >>> rates = group_error_rates([0, 0, 0, 1, 1], [0.7, 0.2, 0.6, 0.9, 0.3],
    ...     sensitive_features=[["f", "f"], ["m", "m"], ["f", "m"], ["f", "f"], ["m", "m"]],
    ...     threshold=0.5)
    >>> rates.far.tolist(), rates.frr.tolist(), rates.n_impostor.tolist()
    ([1.0, 0.0], [0.0, 1.0], [1, 1])
    """
    threshold = check_single_threshold(threshold)
    is_genuine, scores = check_pairs(y_true, y_score)
    labels = check_pair_groups(sensitive_features, len(scores))
    by_group = split_by_group(is_genuine, scores, labels)
    far = np.array([float(share_accepted(p.impostor, threshold)) for p in by_group])
    frr = np.array([float(share_rejected(p.genuine, threshold)) for p in by_group])
    for kind, name, rates in (("impostor", "FAR", far), ("genuine", "FRR", frr)):
        without = labels.values[np.isnan(rates)]
        if len(without):
            warn_undefined(
                f"No {kind} pair in {name_groups(without)}: {name} is undefined there "
                "and set to nan."
            )
    n_impostor = np.array([p.impostor.size for p in by_group])
    n_genuine = np.array([p.genuine.size for p in by_group])
    rates = GroupErrorRates(labels.values, far, frr, n_impostor, n_genuine, threshold)
    return framed(rates, library_of(y_true, y_score, sensitive_features))
