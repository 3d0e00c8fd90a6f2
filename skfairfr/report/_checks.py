"""An audit as a check: does a disparity stay within a limit?"""

import math
import numbers

from skfairfr.report._records import Check
from skfairfr.utils._errors import Argument, ArgumentError, plain
from skfairfr.utils._validation import check_option

# Limit -> the rate and the operating point whose max / min it limits.
CHECKS = {
    "max_bfar": ("far", "worst_group"),
    "max_bfrr": ("frr", "worst_group"),
    "max_far_ratio": ("far", "overall"),
    "max_frr_ratio": ("frr", "overall"),
}


def check_limits(limits, threshold_is_set):
    """Raise unless limits can be judged.

    Parameters
    ----------
    limits : dict of str -> float
        With keys of CHECKS.
    threshold_is_set : bool
        Whether the audited data set the threshold, which BFAR and BFRR are about.
    """
    if not isinstance(limits, dict):
        raise ArgumentError(
            Argument("limits"),
            f" must be a dict, as {{'max_bfar': 2.0}} is; got {plain(limits)!r}.",
            value=limits,
        )
    for name, limit in limits.items():
        check_option(name, "limits", tuple(CHECKS))
        if not isinstance(limit, numbers.Real):
            raise ArgumentError(
                Argument(name),
                f" must be a number above 1; got {plain(limit)!r}.",
                remedy="Give the largest max / min allowed, or leave it out.",
                value=limit,
            )
        if not 1 < limit < math.inf:
            raise ArgumentError(
                Argument(name),
                " must be above 1, which max / min is when all groups have the same rate, "
                f"and finite; got {limit:g}.",
                value=limit,
            )
        if CHECKS[name][1] == "worst_group" and not threshold_is_set:
            other = Argument(f"max_{CHECKS[name][0]}_ratio")
            raise ArgumentError(
                Argument(name, limit),
                " is about the threshold where no group's FAR exceeds a level, and the "
                "threshold was given;",
                remedy=("use ", other, ", or leave the threshold to a FAR level."),
            )


def judge(audit, limits):
    """A Check for each limit and level of an audit.

    Parameters
    ----------
    audit : Audit
    limits : dict of str -> float

    Returns
    -------
    checks : list of Check
    """
    return [
        _judge(audit, level, name, limit)
        for name, limit in limits.items()
        for level in audit.levels
    ]


def _judge(audit, level, name, limit):
    rate, operating_point = CHECKS[name]
    disparity = next(
        d
        for d in level.disparities
        if (d.how, d.operating_point) == ("max_min", operating_point)
    )
    figure = getattr(disparity, rate)
    not_covered = tuple(
        row.group for row in level.rates[1:] if math.isnan(getattr(row, rate).value)
    )
    overall = operating_point == "overall"
    threshold = level.threshold if overall else level.worst_group_threshold
    verdict = verdict_of(figure, limit)
    operating = (level.far, threshold)
    return Check(name, limit, audit.attribute, *operating, figure, not_covered, verdict)


def verdict_of(figure, limit):
    """Verdict of an interval about a limit; undetermined where the data do not support it."""
    if not figure.supported:
        return "undetermined"
    if figure.low > limit:
        return "failed"
    return "passed" if figure.high <= limit else "undetermined"
