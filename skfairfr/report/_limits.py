"""Names of limits, what each of them limits; verdicts of intervals."""

import numpy as np

# Limit -> the rate of each group that it limits, at the overall threshold.
RATE_LIMITS = {"max_fmr": "far", "max_fnmr": "frr"}
# Limit -> the rate, the operating point and the disparity that it limits.
RATIO_LIMITS = {
    "max_bfar": ("far", "worst_group", "max_min"),
    "max_bfrr": ("frr", "worst_group", "max_min"),
    "max_fmr_ratio": ("far", "overall", "max_min"),
    "max_fnmr_ratio": ("frr", "overall", "max_min"),
    "max_fmr_geomean_ratio": ("far", "overall", "max_geomean"),
    "max_fnmr_geomean_ratio": ("frr", "overall", "max_geomean"),
}
LIMITS = (*RATE_LIMITS, *RATIO_LIMITS)


def rate_of(name):
    """The rate that a limit is about."""
    return RATE_LIMITS.get(name) or RATIO_LIMITS[name][0]


def verdict_of(figure, limit):
    """Verdict of an interval about a limit; undetermined where there is none."""
    if figure.low > limit:
        return "failed"
    return "passed" if figure.high <= limit else "undetermined"


def limits_of(audit):
    """Limits on rates, to be drawn.

    Parameters
    ----------
    audit : Audit
        With its checks.

    Returns
    -------
    limits : dict of str -> ndarray, shape (n_levels,)
        nan where a level has none.
    """
    found = {}
    for check in audit.checks:
        rate = RATE_LIMITS.get(check.name)
        if rate is None:
            continue
        row_of = found.setdefault(rate, np.full(len(audit.levels), np.nan))
        for place, level in enumerate(audit.levels):
            if (check.far, check.threshold) == (level.far, level.threshold):
                row_of[place] = check.limit
    return found
