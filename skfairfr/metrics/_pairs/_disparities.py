"""Disparities of scored pairs: their groups' rates at an operating point, reduced.

``far_disparity`` and ``frr_disparity`` join a rate, an operating point and a disparity;
``bfar`` and ``bfrr`` name the combination of EM22.
"""

import numpy as np

from skfairfr._core._bootstrap import OPERATING_POINTS
from skfairfr._core._rates import share_accepted, share_rejected
from skfairfr.metrics._pairs._checks import (
    check_pair_groups,
    check_pairs,
    check_single_level,
    operating_thresholds,
    split_by_group,
    split_pairs,
)
from skfairfr.metrics._pairs._indices import (
    check_two_for_ratio,
    check_zero_division,
    disparity_function,
    reduce_rates,
)
from skfairfr.utils._validation import check_option


def far_disparity(
    y_true,
    y_score,
    *,
    sensitive_features,
    far=1e-3,
    how="max_min",
    operating_point="overall",
    zero_division=np.nan,
):
    """How much the false acceptance rates of groups differ at an operating point.

    Parameters
    ----------
    y_true : array-like of {0, 1} or bool, shape (n_pairs,)
        1 for a genuine pair, 0 for an impostor pair.
    y_score : array-like of float, shape (n_pairs,)
        Similarity of each pair; larger is more alike.
    sensitive_features : array-like, shape (n_pairs,) or (n_pairs, 2)
        Group of both images, or of each image. A pair is in a group when both images
        are; other pairs count for the overall FAR only. None and NaN are unknown.
    far : float in (0, 1), default=1e-3
        False acceptance rate at which to operate, eq. (2) of [1]_.
    how : str or callable, default="max_min"
        The disparity, as in :func:`disparity`; "ratio" takes two groups in sorted order.
    operating_point : {"overall", "worst_group", "group"}, default="overall"
        Where FAR meets the level: over all impostor pairs; in every group, at the
        largest of the groups' thresholds (eq. (4) of [2]_); or in each group at a
        threshold of its own, where FARs differ by their resolution only.
    zero_division : float, default=nan
        Returned, with a warning, when a denominator is zero, as in :func:`disparity`.

    Returns
    -------
    value : float
        Larger is less fair; its interval is that of ``how`` in :func:`disparity`. nan with
        fewer than two groups that have impostor pairs.

    Raises
    ------
    ValueError
        If ``far`` lies outside (0, 1), an option is unknown, no pair has a known group,
        or the pairs are not as described above.

    Warns
    -----
    UndefinedMetricWarning
        If a group has no impostor pair (it is left out), fewer than two groups remain, a
        denominator is zero, or ``far`` is below 1 / n_impostor.

    See Also
    --------
    frr_disparity : The same of false rejections.
    bfar : The worst-group operating point, under its name.
    group_error_rates : The rates themselves, at a given threshold.

    References
    ----------
    .. [1] Conti, J.-R., & Clémençon, S. (2024). Assessing Uncertainty in Similarity
       Scoring: Performance & Fairness in Face Recognition. ICLR. Section 2.2, eq. (2).
    .. [2] Conti, J.-R., Noiry, N., Despiegel, V., Gentric, S., & Clémençon, S. (2022).
       Mitigating Gender Bias in Face Recognition Using the von Mises-Fisher Mixture
       Model. ICML. Eq. (4).

    Examples
    --------
    >>> from skfairfr.metrics import far_disparity
    >>> y_score = [0.1, 0.2, 0.7, 0.8, 0.1, 0.1, 0.2, 0.8]
    >>> groups = ["f", "f", "f", "f", "m", "m", "m", "m"]
    >>> far_disparity([0] * 8, y_score, sensitive_features=groups, far=0.4)
    2.0
    """
    return _rate_disparity(
        "far",
        y_true,
        y_score,
        sensitive_features=sensitive_features,
        far=far,
        how=how,
        operating_point=operating_point,
        zero_division=zero_division,
    )


def frr_disparity(
    y_true,
    y_score,
    *,
    sensitive_features,
    far=1e-3,
    how="max_min",
    operating_point="overall",
    zero_division=np.nan,
):
    """How much the false rejection rates of groups differ at an operating point.

    Parameters
    ----------
    y_true : array-like of {0, 1} or bool, shape (n_pairs,)
        1 for a genuine pair, 0 for an impostor pair.
    y_score : array-like of float, shape (n_pairs,)
        Similarity of each pair; larger is more alike.
    sensitive_features : array-like, shape (n_pairs,) or (n_pairs, 2)
        Group of both images, or of each image. A pair is in a group when both images
        are; other pairs count for the overall FAR only. None and NaN are unknown.
    far : float in (0, 1), default=1e-3
        False acceptance rate at which to operate, eq. (2) of [1]_.
    how : str or callable, default="max_min"
        The disparity, as in :func:`disparity`; "ratio" takes two groups in sorted order.
    operating_point : {"overall", "worst_group", "group"}, default="overall"
        Where FAR meets the level: over all impostor pairs; in every group, at the
        largest of the groups' thresholds (eq. (3) of [2]_); or in each group at a
        threshold of its own.
    zero_division : float, default=nan
        Returned, with a warning, when a denominator is zero, as in :func:`disparity`.

    Returns
    -------
    value : float
        Larger is less fair; its interval is that of ``how`` in :func:`disparity`. nan with
        fewer than two groups that have genuine pairs (and, at the operating point
        "group", impostor pairs).

    Raises
    ------
    ValueError
        If ``far`` lies outside (0, 1), an option is unknown, no pair has a known group,
        or the pairs are not as described above.

    Warns
    -----
    UndefinedMetricWarning
        If a group lacks the pairs needed (it is left out), fewer than two groups remain,
        a denominator is zero, or ``far`` is below 1 / n_impostor.

    See Also
    --------
    far_disparity : The same of false acceptances.
    bfrr : The worst-group operating point, under its name.
    frr_at_far : The rate over all pairs, to report next to the disparity.

    References
    ----------
    .. [1] Conti, J.-R., & Clémençon, S. (2024). Assessing Uncertainty in Similarity
       Scoring: Performance & Fairness in Face Recognition. ICLR. Section 2.2, eq. (2)-(3).
    .. [2] Conti, J.-R., Noiry, N., Despiegel, V., Gentric, S., & Clémençon, S. (2022).
       Mitigating Gender Bias in Face Recognition Using the von Mises-Fisher Mixture
       Model. ICML. Eq. (3).

    Examples
    --------
    >>> from skfairfr.metrics import frr_disparity
    >>> y_true = [0, 0, 1, 1, 1, 1, 1, 1]
    >>> y_score = [0.3, 0.5, 0.1, 0.2, 0.9, 0.2, 0.6, 0.7]
    >>> groups = ["f", "m", "f", "f", "f", "m", "m", "m"]
    >>> frr_disparity(y_true, y_score, sensitive_features=groups, far=0.5)
    2.0
    """
    return _rate_disparity(
        "frr",
        y_true,
        y_score,
        sensitive_features=sensitive_features,
        far=far,
        how=how,
        operating_point=operating_point,
        zero_division=zero_division,
    )


def bfar(y_true, y_score, *, sensitive_features, far=1e-3, zero_division=np.nan):
    """BFAR: the largest over the smallest FAR of the groups, none of them above ``far``.

    :func:`far_disparity` with "max_min" at the worst-group operating point.

    Parameters
    ----------
    y_true : array-like of {0, 1} or bool, shape (n_pairs,)
        1 for a genuine pair, 0 for an impostor pair.
    y_score : array-like of float, shape (n_pairs,)
        Similarity of each pair; larger is more alike.
    sensitive_features : array-like, shape (n_pairs,) or (n_pairs, 2)
        Group of both images, or of each image; None and NaN are unknown.
    far : float in (0, 1), default=1e-3
        False acceptance rate that no group exceeds.
    zero_division : float, default=nan
        Returned, with a warning, when a group has no false accept: both x/0 and 0/0.

    Returns
    -------
    value : float in [1, inf]
        Eq. (4) of [1]_. Larger is less fair; 1 when the groups' rates are equal.

    Raises
    ------
    ValueError
        If ``far`` lies outside (0, 1), no pair has a known group, or the pairs are not
        as described above.

    Warns
    -----
    UndefinedMetricWarning
        As :func:`far_disparity`.

    See Also
    --------
    bfrr : The same of false rejections.
    far_disparity : Other disparities and operating points.

    References
    ----------
    .. [1] Conti, J.-R., Noiry, N., Despiegel, V., Gentric, S., & Clémençon, S. (2022).
       Mitigating Gender Bias in Face Recognition Using the von Mises-Fisher Mixture
       Model. ICML. Eq. (4).

    Examples
    --------
    >>> from skfairfr.metrics import bfar
    >>> y_score = [0.1, 0.2, 0.7, 0.8, 0.1, 0.1, 0.2, 0.8]
    >>> groups = ["f", "f", "f", "f", "m", "m", "m", "m"]
    >>> bfar([0] * 8, y_score, sensitive_features=groups, far=0.5)
    2.0
    """
    return far_disparity(
        y_true,
        y_score,
        sensitive_features=sensitive_features,
        far=far,
        operating_point="worst_group",
        zero_division=zero_division,
    )


def bfrr(y_true, y_score, *, sensitive_features, far=1e-3, zero_division=np.nan):
    """BFRR: the largest over the smallest FRR of the groups, where no FAR exceeds ``far``.

    :func:`frr_disparity` with "max_min" at the worst-group operating point.

    Parameters
    ----------
    y_true : array-like of {0, 1} or bool, shape (n_pairs,)
        1 for a genuine pair, 0 for an impostor pair.
    y_score : array-like of float, shape (n_pairs,)
        Similarity of each pair; larger is more alike.
    sensitive_features : array-like, shape (n_pairs,) or (n_pairs, 2)
        Group of both images, or of each image; None and NaN are unknown.
    far : float in (0, 1), default=1e-3
        False acceptance rate that no group exceeds.
    zero_division : float, default=nan
        Returned, with a warning, when a group has no false reject: both x/0 and 0/0.

    Returns
    -------
    value : float in [1, inf]
        Eq. (3) of [1]_. Larger is less fair; 1 when the groups' rates are equal.

    Raises
    ------
    ValueError
        If ``far`` lies outside (0, 1), no pair has a known group, or the pairs are not
        as described above.

    Warns
    -----
    UndefinedMetricWarning
        As :func:`frr_disparity`.

    See Also
    --------
    bfar : The same of false acceptances.
    frr_disparity : Other disparities and operating points.

    References
    ----------
    .. [1] Conti, J.-R., Noiry, N., Despiegel, V., Gentric, S., & Clémençon, S. (2022).
       Mitigating Gender Bias in Face Recognition Using the von Mises-Fisher Mixture
       Model. ICML. Eq. (3).

    Examples
    --------
    >>> from skfairfr.metrics import bfrr
    >>> y_true = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> y_score = [0.3, 0.2, 0.5, 0.1, 0.1, 0.2, 0.2, 0.6]
    >>> groups = ["f", "f", "m", "m", "f", "f", "m", "m"]
    >>> bfrr(y_true, y_score, sensitive_features=groups, far=0.5)
    2.0
    """
    return frr_disparity(
        y_true,
        y_score,
        sensitive_features=sensitive_features,
        far=far,
        operating_point="worst_group",
        zero_division=zero_division,
    )


def _rate_disparity(
    rate,
    y_true,
    y_score,
    *,
    sensitive_features,
    far,
    how,
    operating_point,
    zero_division,
):
    """The disparity of the groups' "far" or "frr" at an operating point."""
    far = check_single_level(far)
    function = disparity_function(how)
    check_option(operating_point, "operating_point", OPERATING_POINTS)
    zero_division = check_zero_division(zero_division)
    is_genuine, scores = check_pairs(y_true, y_score)
    labels = check_pair_groups(sensitive_features, len(scores))
    groups = labels.values
    check_two_for_ratio(how, groups)
    by_group = split_by_group(is_genuine, scores, labels)
    overall = split_pairs(is_genuine, scores)
    thresholds = operating_thresholds(
        overall, by_group, groups, far=far, operating_point=operating_point
    )
    if rate == "far":
        pairs, share = [p.impostor for p in by_group], share_accepted
    else:
        pairs, share = [p.genuine for p in by_group], share_rejected
    rates = [float(share(p, t)) for p, t in zip(pairs, thresholds, strict=True)]
    return reduce_rates(
        np.array(rates), groups, function, zero_division, rate=f"{rate} "
    )
