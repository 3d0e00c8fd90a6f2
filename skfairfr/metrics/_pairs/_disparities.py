"""Functions of given rates, and disparities of scored pairs at an operating point.

``disparity`` reduces the rates of groups. Indices (FDR, inequity rate, WERM, GARBE) join both
rates and are published proposals whose papers write FMR and FNMR for this package's far
and frr. ``far_disparity`` and ``frr_disparity`` join a rate, an operating point and a
disparity. ``bfar`` and ``bfrr`` name the combination of EM22.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from skfairfr._core._bootstrap import OPERATING_POINTS
from skfairfr._core._rates import DISPARITIES, share_accepted, share_rejected
from skfairfr.metrics._pairs._rates import (
    check_pair_groups,
    check_pairs,
    check_single_level,
    name_groups,
    operating_thresholds,
    split_by_group,
    split_pairs,
)
from skfairfr.utils._frames import Framed
from skfairfr.utils._types import Column
from skfairfr.utils._validation import (
    check_count,
    check_level,
    check_option,
    plain,
    to_array,
    to_float,
    warn_undefined,
)


def far_disparity(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sensitive_features: Column,
    far: float = 1e-3,
    how: str | Callable = "max_min",
    operating_point: str = "overall",
    zero_division: float = np.nan,
) -> float:
    """How much the false acceptance rates of groups differ at an operating point.

    Parameters
    ----------
    y_true : array-like of {0, 1} or bool, shape (n_pairs,)
        1 for a genuine pair, 0 for an impostor pair.
    y_score : array-like of float, shape (n_pairs,)
        Similarity of each pair. Larger is more similar.
    sensitive_features : array-like, shape (n_pairs,) or (n_pairs, 2)
        Group of both images, or of each image. A pair is in a group when both images
        are. Other pairs count for the overall FAR only. None and NaN are unknown.
    far : float in (0, 1), default=1e-3
        False acceptance rate at which to operate, eq. (2) of [1]_.
    how : str or callable, default="max_min"
        The disparity, as in :func:`disparity`. "ratio" takes two groups in sorted order.
    operating_point : {"overall", "worst_group", "group"}, default="overall"
        FAR that meets the level: of all impostor pairs, of every group at the
        largest of the groups' thresholds (eq. (4) of [2]_), or of each group at a
        threshold of its own, where FARs differ by their resolution only.
    zero_division : float, default=nan
        Returned, with a warning, when a denominator is zero, as in :func:`disparity`.

    Returns
    -------
    value : float
        Larger is less fair. Its interval is that of ``how`` in :func:`disparity`. nan with
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
    pairs = y_true, y_score, sensitive_features
    return _rate_disparity("far", *pairs, far, how, operating_point, zero_division)


def frr_disparity(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sensitive_features: Column,
    far: float = 1e-3,
    how: str | Callable = "max_min",
    operating_point: str = "overall",
    zero_division: float = np.nan,
) -> float:
    """How much the false rejection rates of groups differ at an operating point.

    Parameters
    ----------
    y_true : array-like of {0, 1} or bool, shape (n_pairs,)
        1 for a genuine pair, 0 for an impostor pair.
    y_score : array-like of float, shape (n_pairs,)
        Similarity of each pair. Larger is more similar.
    sensitive_features : array-like, shape (n_pairs,) or (n_pairs, 2)
        Group of both images, or of each image. A pair is in a group when both images
        are. Other pairs count for the overall FAR only. None and NaN are unknown.
    far : float in (0, 1), default=1e-3
        False acceptance rate at which to operate, eq. (2) of [1]_.
    how : str or callable, default="max_min"
        The disparity, as in :func:`disparity`. "ratio" takes two groups in sorted order.
    operating_point : {"overall", "worst_group", "group"}, default="overall"
        FAR that meets the level: of all impostor pairs, of every group at the
        largest of the groups' thresholds (eq. (3) of [2]_), or of each group at a
        threshold of its own.
    zero_division : float, default=nan
        Returned, with a warning, when a denominator is zero, as in :func:`disparity`.

    Returns
    -------
    value : float
        Larger is less fair. Its interval is that of ``how`` in :func:`disparity`. nan with
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
    pairs = y_true, y_score, sensitive_features
    return _rate_disparity("frr", *pairs, far, how, operating_point, zero_division)


def bfar(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sensitive_features: Column,
    far: float = 1e-3,
    zero_division: float = np.nan,
) -> float:
    """BFAR: ratio of the largest to the smallest FAR, with no group above ``far``.

    :func:`far_disparity` with "max_min" at the worst-group operating point.

    Parameters
    ----------
    y_true : array-like of {0, 1} or bool, shape (n_pairs,)
        1 for a genuine pair, 0 for an impostor pair.
    y_score : array-like of float, shape (n_pairs,)
        Similarity of each pair. Larger is more similar.
    sensitive_features : array-like, shape (n_pairs,) or (n_pairs, 2)
        Group of both images, or of each image. None and NaN are unknown.
    far : float in (0, 1), default=1e-3
        False acceptance rate that no group exceeds.
    zero_division : float, default=nan
        Returned, with a warning, when a group has no false accept: both x/0 and 0/0.

    Returns
    -------
    value : float in [1, inf]
        Eq. (4) of [1]_. Larger is less fair. 1 when the groups' rates are equal.

    Raises
    ------
    ValueError
        If ``far`` lies outside (0, 1), no pair has a known group, or the pairs are not
        as described above.

    Warns
    -----
    UndefinedMetricWarning
        As for :func:`far_disparity`.

    See Also
    --------
    bfrr : The same for false rejections.
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
    pairs = y_true, y_score, sensitive_features
    return _rate_disparity("far", *pairs, far, "max_min", "worst_group", zero_division)


def bfrr(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sensitive_features: Column,
    far: float = 1e-3,
    zero_division: float = np.nan,
) -> float:
    """BFRR: ratio of the largest to the smallest FRR, with no group's FAR above ``far``.

    :func:`frr_disparity` with "max_min" at the worst-group operating point.

    Parameters
    ----------
    y_true : array-like of {0, 1} or bool, shape (n_pairs,)
        1 for a genuine pair, 0 for an impostor pair.
    y_score : array-like of float, shape (n_pairs,)
        Similarity of each pair. Larger is more similar.
    sensitive_features : array-like, shape (n_pairs,) or (n_pairs, 2)
        Group of both images, or of each image. None and NaN are unknown.
    far : float in (0, 1), default=1e-3
        False acceptance rate that no group exceeds.
    zero_division : float, default=nan
        Returned, with a warning, when a group has no false reject: both x/0 and 0/0.

    Returns
    -------
    value : float in [1, inf]
        Eq. (3) of [1]_. Larger is less fair. 1 when the groups' rates are equal.

    Raises
    ------
    ValueError
        If ``far`` lies outside (0, 1), no pair has a known group, or the pairs are not
        as described above.

    Warns
    -----
    UndefinedMetricWarning
        As for :func:`frr_disparity`.

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
    pairs = y_true, y_score, sensitive_features
    return _rate_disparity("frr", *pairs, far, "max_min", "worst_group", zero_division)


def _rate_disparity(
    rate, y_true, y_score, sensitive_features, far, how, operating_point, zero_division
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
    rates = [
        share_accepted(pairs.impostor, threshold)
        if rate == "far"
        else share_rejected(pairs.genuine, threshold)
        for pairs, threshold in zip(by_group, thresholds, strict=True)
    ]
    rates = np.array(rates, dtype=np.float64)
    return reduce_rates(rates, groups, function, zero_division, rate=f"{rate} ")


# ---- functions of given rates --------------------------------------------------------


def fairness_discrepancy_rate(
    fmr: ArrayLike, fnmr: ArrayLike, *, alpha: float = 0.5, floor: float = 0.0
) -> float:
    """Fairness discrepancy rate (FDR): 1 - (alpha A + (1 - alpha) B).

    A is the largest difference between groups' false match rates, B between their false
    non-match rates. Not the false discovery rate.

    Parameters
    ----------
    fmr : array-like, shape (n_groups,)
        False match rate (far) of each group at one threshold, each in [0, 1].
    fnmr : array-like, shape (n_groups,)
        False non-match rate (frr) of the same groups at the same threshold, in [0, 1].
    alpha : float in [0, 1], default=0.5
        Weight of the false match rates.
    floor : float in [0, 1], default=0.0
        Smaller rates are replaced by it, as in published tables that floor rates.

    Returns
    -------
    value : float in [0, 1]
        Larger is better: 1 when all groups have equal rates. It stays near 1 whenever
        rates are small, however different their ratios.

    Raises
    ------
    ValueError
        If a rate, ``alpha`` or ``floor`` lies outside [0, 1], or the lengths differ.

    Warns
    -----
    UndefinedMetricWarning
        If a rate is nan (left out). NaN is returned with fewer than two of a kind.

    See Also
    --------
    inequity_rate, garbe : Indices made of ratios and of Gini coefficients.
    disparity : The parts themselves.

    References
    ----------
    .. [1] de Freitas Pereira, T., & Marcel, S. (2020). Fairness in Biometrics: a figure
       of merit to assess biometric verification systems. arXiv:2011.02395. The equation
       defining FDR.

    Examples
    --------
    >>> from skfairfr.metrics import fairness_discrepancy_rate
    >>> round(fairness_discrepancy_rate([0.001, 0.008], [0.01, 0.05]), 6)
    0.9765
    """
    a, b, alpha = _two_disparities(fmr, fnmr, alpha, floor, "difference")
    return 1 - (alpha * a + (1 - alpha) * b)


def inequity_rate(
    fmr: ArrayLike, fnmr: ArrayLike, *, alpha: float = 0.5, floor: float = 0.0
) -> float:
    """Inequity rate (IR): (max/min FMR)^alpha (max/min FNMR)^(1 - alpha).

    Parameters
    ----------
    fmr : array-like, shape (n_groups,)
        False match rate (far) of each group at one threshold, each in [0, 1].
    fnmr : array-like, shape (n_groups,)
        False non-match rate (frr) of the same groups at the same threshold, in [0, 1].
    alpha : float in [0, 1], default=0.5
        Weight of the false match rates.
    floor : float in [0, 1], default=0.0
        Smaller rates are replaced by it, as in published tables that floor rates.

    Returns
    -------
    value : float in [1, inf)
        Larger is less fair. 1 when all groups have equal rates. NaN where a group's rate
        is zero.

    Raises
    ------
    ValueError
        If a rate, ``alpha`` or ``floor`` lies outside [0, 1], or the lengths differ.

    Warns
    -----
    UndefinedMetricWarning
        If a smallest rate is zero (nan), or a rate is nan (left out).

    See Also
    --------
    fairness_discrepancy_rate, garbe : Indices made of differences and Gini coefficients.

    References
    ----------
    .. [1] Howard, J. J., Laird, E. J., Sirotin, Y. B., Rubin, R. E., Tipton, J. L., &
       Vemury, A. R. (2022). Evaluating Proposed Fairness Models for Face Recognition
       Algorithms. arXiv:2203.05051. The equation defining IR, proposed by NIST.

    Examples
    --------
    >>> from skfairfr.metrics import inequity_rate
    >>> round(inequity_rate([0.001, 0.004], [0.01, 0.09]), 6)
    6.0
    """
    a, b, alpha = _two_disparities(fmr, fnmr, alpha, floor, "max_min")
    return a**alpha * b ** (1 - alpha)


def werm(
    fmr: ArrayLike, fnmr: ArrayLike, *, alpha: float = 0.5, floor: float = 0.0
) -> float:
    """WERM: (max/geomean FMR)^alpha (max/geomean FNMR)^(1 - alpha).

    The largest rate of the groups over their geometric mean, of either kind, in a weighted
    product: :func:`inequity_rate` with the geometric mean in place of the smallest rate.

    Parameters
    ----------
    fmr : array-like, shape (n_groups,)
        False match rate (far) of each group at one threshold, each in [0, 1].
    fnmr : array-like, shape (n_groups,)
        False non-match rate (frr) of the same groups at the same threshold, in [0, 1].
    alpha : float in [0, 1], default=0.5
        Weight of the false match rates.
    floor : float in [0, 1], default=0.0
        Smaller rates are replaced by it, as in published tables that floor rates.

    Returns
    -------
    value : float in [1, inf)
        Larger is less fair. 1 when all groups have equal rates. NaN where a group's rate
        is zero.

    Raises
    ------
    ValueError
        If a rate, ``alpha`` or ``floor`` lies outside [0, 1], or the lengths differ.

    Warns
    -----
    UndefinedMetricWarning
        If a rate is zero (nan) or nan (left out).

    See Also
    --------
    inequity_rate, garbe : Indices made of max / min and of Gini coefficients.

    References
    ----------
    .. [1] Linghu, Y., de Freitas Pereira, T., Ecabert, C., Marcel, S., & Günther, M. (2024).
       Score Normalization for Demographic Fairness in Face Recognition. IJCB. Read in the
       authors' code, which adds 1e-5 to the rates in the geometric mean. The paper was not
       available.

    Examples
    --------
    >>> from skfairfr.metrics import werm
    >>> round(werm([0.001, 0.004], [0.01, 0.09]), 6)
    2.44949
    """
    a, b, alpha = _two_disparities(fmr, fnmr, alpha, floor, "max_geomean")
    return a**alpha * b ** (1 - alpha)


def garbe(
    fmr: ArrayLike, fnmr: ArrayLike, *, alpha: float = 0.5, floor: float = 0.0
) -> float:
    """GARBE, Gini aggregation rate for biometric equitability.

    alpha gini(FMR) + (1 - alpha) gini(FNMR), with the Gini coefficient of M groups scaled
    by M/(M-1) to have the maximum 1.

    Parameters
    ----------
    fmr : array-like, shape (n_groups,)
        False match rate (far) of each group at one threshold, each in [0, 1].
    fnmr : array-like, shape (n_groups,)
        False non-match rate (frr) of the same groups at the same threshold, in [0, 1].
    alpha : float in [0, 1], default=0.5
        Weight of the false match rates.
    floor : float in [0, 1], default=0.0
        Smaller rates are replaced by it, as in published tables that floor rates.

    Returns
    -------
    value : float in [0, 1]
        Larger is less fair. 0 when all groups have equal rates. NaN where all rates of a
        kind are zero.

    Raises
    ------
    ValueError
        If a rate, ``alpha`` or ``floor`` lies outside [0, 1], or the lengths differ.

    Warns
    -----
    UndefinedMetricWarning
        If all rates of a kind are zero (nan), or a rate is nan (left out).

    See Also
    --------
    fairness_discrepancy_rate, inequity_rate : Indices made of differences and ratios.

    References
    ----------
    .. [1] Howard, J. J., Laird, E. J., Sirotin, Y. B., Rubin, R. E., Tipton, J. L., &
       Vemury, A. R. (2022). Evaluating Proposed Fairness Models for Face Recognition
       Algorithms. arXiv:2203.05051. The equation defining GARBE.

    Examples
    --------
    >>> from skfairfr.metrics import garbe
    >>> round(garbe([0.01, 0.03], [0.1, 0.1]), 6)
    0.25
    """
    a, b, alpha = _two_disparities(fmr, fnmr, alpha, floor, "gini")
    return alpha * a + (1 - alpha) * b


def _two_disparities(fmr, fnmr, alpha, floor, how):
    """The disparities of both kinds of rates, and alpha as a float. All checked."""
    if not 0 <= to_float(alpha) <= 1:
        raise ValueError(f"alpha must lie in [0, 1], got {plain(alpha)!r}.")
    fmr, fnmr = check_rates(fmr, "fmr"), check_rates(fnmr, "fnmr")
    if len(fmr) != len(fnmr):
        raise ValueError(
            f"fmr has {len(fmr)} groups but fnmr has {len(fnmr)}. Pass both rates of "
            "every group."
        )
    for name, rates in (("fmr", fmr), ("fnmr", fnmr)):
        if (rates > 1).any():
            raise ValueError(
                f"{name} must lie in [0, 1], got {rates[rates > 1][0]}. Divide "
                "percentages by 100."
            )
    found = (disparity(rates, how, floor=floor) for rates in (fmr, fnmr))
    return *found, float(alpha)


def disparity(
    rates: ArrayLike,
    how: str | Callable = "max_min",
    *,
    floor: float = 0.0,
    zero_division: float = np.nan,
    ddof: int = 0,
    log_base: float = 10.0,
    log_reduce: str = "sum",
) -> float:
    """One number for how much the rates of groups differ.

    With rates x_1..x_M, mean x̄ and geometric mean x†:

    ============= ============================================== ======== =============
    ``how``       formula                                        if equal interval
    ============= ============================================== ======== =============
    "max_min"     max x / min x                                  1        [1, inf]
    "max_geomean" max x / x†                                     1        [1, inf]
    "log_geomean" sum of abs(log10(x_a / x†))                    0        [0, inf]
    "gini"        M/(M-1) sum_ab abs(x_a - x_b) / (2 M² x̄)       0        [0, 1]
    "difference"  max x - min x                                  0        [0, 1]
    "std"         standard deviation                             0        [0, 1]
    "ratio"       x_2 / x_1, exactly two rates in this order     1        [0, inf]
    ============= ============================================== ======== =============

    Parameters
    ----------
    rates : array-like, shape (n_groups,)
        One rate per group, each in [0, 1], or nan where a group has none, which leaves the
        group out.
    how : str or callable, default="max_min"
        A name of the table, or a function of the rates, shape (n_kept,), to a float.
    floor : float in [0, 1], default=0.0
        Smaller rates are replaced by it, as in published tables that floor rates.
    zero_division : float, default=nan
        Returned, with a warning, when a denominator is zero: both x/0 and 0/0. Pass inf
        to let one perfect group make the disparity infinite.
    ddof : {0, 1}, default=0
        Correction of "std", whose divisor is n_kept - ddof.
    log_base : float in (1, inf), default=10.0
        Base of the logarithm, for "log_geomean".
    log_reduce : {"sum", "mean"}, default="sum"
        Reduction of the groups' terms, for "log_geomean".

    Returns
    -------
    value : float
        Larger is less fair ("ratio": farther from 1). nan with fewer than two rates.

    Raises
    ------
    ValueError
        If ``rates`` is empty, not one-dimensional, negative or infinite, "ratio" is not
        given two rates, or an option is unknown or out of range.

    Warns
    -----
    UndefinedMetricWarning
        If a rate is nan, fewer than two remain, or a denominator is zero.

    See Also
    --------
    far_disparity, frr_disparity : From scored pairs.

    References
    ----------
    .. [1] Conti, J.-R., & Clémençon, S. (2024). Assessing Uncertainty in Similarity
       Scoring: Performance & Fairness in Face Recognition. ICLR. Section 2.2 defines
       "max_min" and names "max_geomean", "log_geomean" and "gini", whose formulas are
       in an appendix that was not available: the sum and the decimal logarithm of
       "log_geomean" are this package's choice.
    .. [2] Conti, J.-R., Noiry, N., Despiegel, V., Gentric, S., & Clémençon, S. (2022).
       Mitigating Gender Bias in Face Recognition Using the von Mises-Fisher Mixture
       Model. ICML. Eq. (2) ("difference"), Fig. 9 ("ratio").
    .. [3] ISO/IEC 19795-10:2024, as cited by the paper DeSCon, eq. (5): "gini" is its
       differential of either rate. The standard was not read here.

    Examples
    --------
    >>> from skfairfr.metrics import disparity
    >>> disparity([0.001, 0.002, 0.004, 0.008])
    8.0
    >>> round(disparity([0.001, 0.002, 0.004, 0.008], "max_geomean"), 4)
    2.8284
    """
    function = disparity_function(how, ddof, log_base, log_reduce)
    zero_division = check_zero_division(zero_division)
    if not 0 <= to_float(floor) <= 1:
        raise ValueError(f"floor must lie in [0, 1], got {plain(floor)!r}.")
    rates = check_rates(rates, "rates")
    names = np.arange(len(rates)).astype(str)
    check_two_for_ratio(how, names)
    return reduce_rates(np.maximum(rates, floor), names, function, zero_division)


def check_rates(rates, name):
    """Rates of groups as a float64 array, shape (n_groups,). NaN is allowed."""
    array = to_array(rates, name)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(
            f"{name} must contain one rate per group, (n_groups,), got shape {array.shape}."
        )
    if array.dtype.kind not in "fiu":
        raise ValueError(f"{name} must be numbers, got the type {array.dtype}.")
    array = array.astype(np.float64)
    bad = np.flatnonzero((array < 0) | np.isinf(array))
    if bad.size:
        raise ValueError(
            f"{name} must lie in [0, 1], or be nan, but group {bad[0]} has {array[bad[0]]}."
        )
    return array


def reduce_rates(rates, names, function, zero_division, *, rate=""):
    """Leave out undefined rates, reduce the others, and warn of what is undefined."""
    undefined = np.isnan(rates)
    if undefined.any():
        warn_undefined(
            f"The {rate}rate of {name_groups(names[undefined])} is undefined (nan): left "
            "out of the disparity."
        )
    kept = rates[~undefined]
    if kept.size < 2:
        warn_undefined(
            f"A disparity needs the rates of at least two groups, and {kept.size} is defined: "
            "nan is returned."
        )
        return np.nan
    value = function(kept)
    if np.ndim(value) != 0:
        raise ValueError(
            f"how must return one number, got an array of shape {np.shape(value)}."
        )
    try:
        value = float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"how must return a number, got {value!r}.") from error
    if np.isfinite(value):
        return value
    warn_undefined(
        f"The {rate}rate of {name_groups(names[rates == 0])} is zero, so the disparity "
        f"has a zero denominator: zero_division={zero_division} is returned."
    )
    return zero_division


def disparity_function(how, ddof=0, log_base=10.0, log_reduce="sum"):
    """The function of rates that ``how`` names, with its options bound."""
    ddof = check_count(ddof, "ddof", 0)
    if ddof > 1:
        raise ValueError(f"ddof must be 0 or 1, got {ddof}.")
    if not 1 < to_float(log_base) < np.inf:
        raise ValueError(f"log_base must be a number above 1, got {plain(log_base)!r}.")
    check_option(log_reduce, "log_reduce", ("sum", "mean"))
    if callable(how):
        return how
    if not isinstance(how, str) or how not in DISPARITIES:
        choices = ", ".join(repr(name) for name in DISPARITIES)
        raise ValueError(
            f"how must be one of {choices}, or a function of the rates, got {plain(how)!r}."
        )
    options = {
        "std": {"ddof": ddof},
        "log_geomean": {"base": float(log_base), "reduce": log_reduce},
    }
    return partial(DISPARITIES[how].function, **options.get(how, {}))


def check_two_for_ratio(how, groups):
    if how == "ratio" and len(groups) != 2:
        raise ValueError(
            f"how='ratio' compares exactly two groups, got {len(groups)} "
            f"({name_groups(groups)}). Select two, or use 'max_min'."
        )


def check_zero_division(zero_division):
    number = to_float(zero_division)
    is_nan = isinstance(zero_division, numbers.Real) and zero_division != zero_division
    if np.isnan(number) and not is_nan:
        raise ValueError(
            "zero_division must be a number, such as nan, inf or 1.0, got "
            f"{plain(zero_division)!r}."
        )
    return number


@dataclass(frozen=True)
class GroupGateRates(Framed):
    """Rates of a matcher behind a gate. Lower is better for all of them.

    Attributes
    ----------
    far : float
        False acceptance rate over all impostor pairs, in [0, 1].
    frr : float
        False rejection rate, in [0, 1].
    far_within : float
        FAR of pairs within a group, in [0, 1].
    far_between : float
        FAR of pairs of two groups, in [0, 1].

    Raises
    ------
    dataclasses.FrozenInstanceError
        If an attribute is assigned to.

    See Also
    --------
    group_gate_rates : Returns it.

    Examples
    --------
    >>> from skfairfr.metrics import group_gate_rates
    >>> rates = group_gate_rates(far=1e-5, frr=1e-2, error=1e-3)
    >>> f"within a group {rates.far_within:.2g}, between groups {rates.far_between:.1g}"
    'within a group 1e-05, between groups 2e-08'
    """

    far: float
    frr: float
    far_within: float
    far_between: float


def group_gate_rates(
    *, far: float = 1e-5, frr: float = 1e-2, error: float = 1e-3, n_groups: int = 2
) -> GroupGateRates:
    """Rates of a matcher behind a classifier that rejects pairs of two groups.

    A thought experiment: a matcher has the same rates for all groups, within and between them. A
    classifier predicts the group of each image, wrongly at a rate ``error``. A pair of two
    predicted groups is rejected, and the matcher decides on the others. The overall FAR
    is divided by the number of groups, which looks like progress. But an impostor
    will look for a victim within a group. The FAR there is unchanged, and the FRR rises. A low
    overall FAR is not informative if groups are separated.

    Parameters
    ----------
    far : float in (0, 1), default=1e-5
        FAR of the matcher, for each pair of groups.
    frr : float in [0, 1], default=1e-2
        FRR of the matcher, for every group.
    error : float in [0, 1], default=1e-3
        Share of images whose group is predicted wrongly, each wrong group equally often,
        and independently for both images of a pair.
    n_groups : int, default=2
        Number of groups, of equal size, at least 2.

    Returns
    -------
    rates : GroupGateRates
        Rates of both gates together. Lower is better.

    Raises
    ------
    ValueError
        If a rate or the number of groups is out of range.

    References
    ----------
    .. [1] Bruveris, M., Mortazavian, P., Gietema, J., & Mahadevan, M. (2020). Reducing
       Geographic Performance Differentials for Face Recognition. WACV Workshops. The
       slides' thought experiment, for two groups. For these rates their table prints a
       FAR of 5e-6 within a group. The experiment as it is described gives 9.98e-6, and
       5e-6 is the overall FAR.

    Examples
    --------
    >>> from skfairfr.metrics import group_gate_rates
    >>> rates = group_gate_rates(far=1e-5, frr=1e-2, error=1e-3)
    >>> f"{rates.far:.3g} {rates.far_within:.3g} {rates.far_between:.1g} {rates.frr:.4g}"
    '5e-06 9.98e-06 2e-08 0.01198'
    """
    if check_level(far).ndim:
        raise ValueError(f"far must be one number, got {plain(far)!r}.")
    for name, value in (("frr", frr), ("error", error)):
        if not isinstance(value, Real) or not 0 <= value <= 1:
            raise ValueError(f"{name} must lie in [0, 1], got {plain(value)!r}.")
    n_groups = check_count(n_groups, "n_groups", 2)
    far, frr, error = float(far), float(frr), float(error)
    others = n_groups - 1
    # A pair within a group passes if both predictions are right, or equally wrong.
    within = (1 - error) ** 2 + error**2 / others
    # A pair of two groups passes if both predictions agree.
    between = (1 - within) / others
    return GroupGateRates(
        far=float(far * (within + others * between) / n_groups),
        frr=float(1 - within * (1 - frr)),
        far_within=float(far * within),
        far_between=float(far * between),
    )
