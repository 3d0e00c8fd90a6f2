"""The disparity of given rates: checked, nan left out, undefined values said aloud.

The family itself, as functions of arrays, lives in ``_core/_disparity.py``; rates are
computed from scored pairs in ``_pair_disparities.py``.
"""

import numbers
from functools import partial

import numpy as np

from skfairfr._core._disparity import DISPARITIES
from skfairfr.metrics._pair_groups import name_groups
from skfairfr.utils._validation import check_count, check_option, plain, warn_undefined


def disparity(
    rates,
    how="max_min",
    *,
    zero_division=np.nan,
    ddof=0,
    log_base=10.0,
    log_reduce="sum",
):
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
        One rate per group, each in [0, 1]; nan where a group has none, which leaves the
        group out.
    how : str or callable, default="max_min"
        A name of the table, or a function of the rates, shape (n_kept,), to a float.
    zero_division : float, default=nan
        Returned, with a warning, when a denominator is zero: both x/0 and 0/0. Pass inf
        to let one perfect group make the disparity infinite.
    ddof : {0, 1}, default=0
        Of "std": its divisor is n_kept - ddof.
    log_base : float in (1, inf), default=10.0
        Of "log_geomean": the logarithm's base.
    log_reduce : {"sum", "mean"}, default="sum"
        Of "log_geomean": how the groups' terms are put together.

    Returns
    -------
    value : float
        Larger is less fair ("ratio": farther from 1). nan with fewer than two rates.

    Raises
    ------
    ValueError
        If ``rates`` is empty, not one-dimensional, negative or infinite, "ratio" is not
        given two rates, or an option is unknown.

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
       Scoring: Performance & Fairness in Face Recognition. ICLR. Section 2.2 ("max_min"),
       appendix A.1.
    .. [2] Conti, J.-R., Noiry, N., Despiegel, V., Gentric, S., & Clémençon, S. (2022).
       Mitigating Gender Bias in Face Recognition Using the von Mises-Fisher Mixture
       Model. ICML. Eq. (2) ("difference"), Fig. 9 ("ratio").
    .. [3] ISO/IEC 19795-10:2024. Biometric performance testing and reporting. Part 10:
       Quantifying biometric system performance variation across demographic groups
       ("gini").

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
    rates = check_rates(rates, "rates")
    names = np.arange(len(rates)).astype(str)
    check_two_for_ratio(how, names)
    return reduce_rates(rates, names, function, zero_division)


def check_rates(rates, name):
    """Rates of groups as a float64 array, shape (n_groups,); nan is allowed."""
    array = np.asarray(rates)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(
            f"{name} must hold one rate per group, (n_groups,); got shape {array.shape}."
        )
    if array.dtype.kind not in "fiu":
        raise ValueError(f"{name} must be numbers; got the type {array.dtype}.")
    array = array.astype(np.float64)
    bad = np.flatnonzero((array < 0) | np.isinf(array))
    if bad.size:
        raise ValueError(
            f"{name} must lie in [0, 1], or be nan; group {bad[0]} has {array[bad[0]]}."
        )
    return array


def reduce_rates(rates, names, function, zero_division, *, rate=""):
    """Leave out undefined rates, reduce the others, and say aloud what is undefined."""
    undefined = np.isnan(rates)
    if undefined.any():
        warn_undefined(
            f"The {rate}rate of {name_groups(names[undefined])} is undefined (nan): left "
            "out of the disparity."
        )
    kept = rates[~undefined]
    if kept.size < 2:
        warn_undefined(
            f"A disparity needs the rates of two groups at least; {kept.size} is defined: "
            "nan is returned."
        )
        return np.nan
    value = function(kept)
    if np.ndim(value) != 0:
        raise ValueError(
            f"how must return one number; got an array of shape {np.shape(value)}."
        )
    if np.isfinite(value):
        return float(value)
    warn_undefined(
        f"The {rate}rate of {name_groups(names[rates == 0])} is zero, so the disparity "
        f"has a zero denominator: zero_division={zero_division} is returned."
    )
    return zero_division


def disparity_function(how, ddof=0, log_base=10.0, log_reduce="sum"):
    """The function of rates that ``how`` names, with its options bound."""
    ddof = check_count(ddof, "ddof", 0)
    if ddof > 1:
        raise ValueError(f"ddof must be 0 or 1; got {ddof}.")
    if not _is_real(log_base) or not 1 < log_base < np.inf:
        raise ValueError(f"log_base must be a number above 1; got {plain(log_base)!r}.")
    check_option(log_reduce, "log_reduce", ("sum", "mean"))
    if callable(how):
        return how
    if not isinstance(how, str) or how not in DISPARITIES:
        choices = ", ".join(repr(name) for name in DISPARITIES)
        raise ValueError(
            f"how must be one of {choices}, or a function of the rates; got {plain(how)!r}."
        )
    options = {
        "std": {"ddof": ddof},
        "log_geomean": {"base": log_base, "reduce": log_reduce},
    }
    return partial(DISPARITIES[how].function, **options.get(how, {}))


def check_two_for_ratio(how, groups):
    if how == "ratio" and len(groups) != 2:
        raise ValueError(
            f"how='ratio' compares exactly two groups; got {len(groups)} "
            f"({name_groups(groups)}). Select two, or use 'max_min'."
        )


def check_zero_division(zero_division):
    if not _is_real(zero_division):
        raise ValueError(
            "zero_division must be a number, such as nan, inf or 1.0; got "
            f"{plain(zero_division)!r}."
        )
    return float(zero_division)


def _is_real(value):
    return isinstance(value, numbers.Real) and not isinstance(value, bool)
