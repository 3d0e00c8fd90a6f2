"""Indices that join the disparities of FMR and FNMR into one number.

Three published proposals, as functions of the groups' rates at one threshold. Their
papers say FMR and FNMR where the rest of the house says far and frr.
"""

import numbers

from skfairfr.metrics._disparity import check_rates, disparity
from skfairfr.utils._validation import plain


def fairness_discrepancy_rate(fmr, fnmr, *, beta=0.5):
    """Fairness discrepancy rate (FDR): 1 - (beta A + (1 - beta) B).

    A is the largest difference between groups' false match rates, B between their false
    non-match rates. Not the false discovery rate.

    Parameters
    ----------
    fmr : array-like, shape (n_groups,)
        False match rate (far) of each group at one threshold, each in [0, 1].
    fnmr : array-like, shape (n_groups,)
        False non-match rate (frr) of the same groups at the same threshold, in [0, 1].
    beta : float in [0, 1], default=0.5
        Weight of the false match rates.

    Returns
    -------
    value : float in [0, 1]
        Larger is more alike; 1 when all groups have equal rates. It stays near 1 whenever
        rates are small, however different their ratios.

    Raises
    ------
    ValueError
        If a rate lies outside [0, 1], the lengths differ, or ``beta`` lies outside [0, 1].

    Warns
    -----
    UndefinedMetricWarning
        If a rate is nan (left out); nan is returned with fewer than two of a kind.

    See Also
    --------
    inequity_rate, garbe : Indices made of ratios and of Gini coefficients.
    disparity : The parts themselves.

    References
    ----------
    .. [1] de Freitas Pereira, T., & Marcel, S. (2020). Fairness in Biometrics: a figure
       of merit to assess biometric verification systems. arXiv:2011.02395. The equation
       defining FDR, whose alpha is this beta.

    Examples
    --------
    >>> from skfairfr.metrics import fairness_discrepancy_rate
    >>> round(fairness_discrepancy_rate([0.001, 0.008], [0.01, 0.05]), 6)
    0.9765
    """
    a, b = _two_disparities(fmr, fnmr, beta, "difference")
    return 1 - (beta * a + (1 - beta) * b)


def inequity_rate(fmr, fnmr, *, beta=0.5):
    """Inequity rate (IR): (max/min FMR)^beta (max/min FNMR)^(1 - beta).

    Parameters
    ----------
    fmr : array-like, shape (n_groups,)
        False match rate (far) of each group at one threshold, each in [0, 1].
    fnmr : array-like, shape (n_groups,)
        False non-match rate (frr) of the same groups at the same threshold, in [0, 1].
    beta : float in [0, 1], default=0.5
        Weight of the false match rates.

    Returns
    -------
    value : float in [1, inf)
        Larger is less fair; 1 when all groups have equal rates. nan where a group's rate
        is zero.

    Raises
    ------
    ValueError
        If a rate lies outside [0, 1], the lengths differ, or ``beta`` lies outside [0, 1].

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
    a, b = _two_disparities(fmr, fnmr, beta, "max_min")
    return a**beta * b ** (1 - beta)


def garbe(fmr, fnmr, *, beta=0.5):
    """GARBE, Gini aggregation rate for biometric equitability.

    beta gini(FMR) + (1 - beta) gini(FNMR), with the Gini coefficient of M groups scaled
    by M/(M-1) so that its maximum is 1.

    Parameters
    ----------
    fmr : array-like, shape (n_groups,)
        False match rate (far) of each group at one threshold, each in [0, 1].
    fnmr : array-like, shape (n_groups,)
        False non-match rate (frr) of the same groups at the same threshold, in [0, 1].
    beta : float in [0, 1], default=0.5
        Weight of the false match rates.

    Returns
    -------
    value : float in [0, 1]
        Larger is less fair; 0 when all groups have equal rates. nan where all rates of a
        kind are zero.

    Raises
    ------
    ValueError
        If a rate lies outside [0, 1], the lengths differ, or ``beta`` lies outside [0, 1].

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
    .. [2] ISO/IEC 19795-10:2024. Biometric performance testing and reporting. Part 10:
       Quantifying biometric system performance variation across demographic groups.

    Examples
    --------
    >>> from skfairfr.metrics import garbe
    >>> round(garbe([0.01, 0.03], [0.1, 0.1]), 6)
    0.25
    """
    a, b = _two_disparities(fmr, fnmr, beta, "gini")
    return beta * a + (1 - beta) * b


def _two_disparities(fmr, fnmr, beta, how):
    """The disparities of both kinds of rates, checked."""
    if not isinstance(beta, numbers.Real) or not 0 <= beta <= 1:
        raise ValueError(f"beta must lie in [0, 1]; got {plain(beta)!r}.")
    fmr, fnmr = check_rates(fmr, "fmr"), check_rates(fnmr, "fnmr")
    if len(fmr) != len(fnmr):
        raise ValueError(
            f"fmr has {len(fmr)} groups but fnmr has {len(fnmr)}; give both rates of "
            "every group."
        )
    for name, rates in (("fmr", fmr), ("fnmr", fnmr)):
        if (rates > 1).any():
            raise ValueError(
                f"{name} must lie in [0, 1]; got {rates[rates > 1][0]}. Divide "
                "percentages by 100."
            )
    return disparity(fmr, how), disparity(fnmr, how)
