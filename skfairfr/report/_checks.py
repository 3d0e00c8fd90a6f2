"""An audit as a check: do rates, or a disparity, stay within a limit?"""

from dataclasses import replace

import numpy as np

from skfairfr.report._needed import growth_of, people_needed
from skfairfr.report._policy import RATE_LIMITS, RATIO_LIMITS, verdict_of
from skfairfr.report._records import Check

# Rates above which nobody's ratio to another can be large, so that a small one says nothing.
NEARLY_ALL = 0.9


def operating_points_of(limits):
    """Operating points at which every two groups have to be compared, a tuple of str."""
    asked = {RATIO_LIMITS[name][1] for name in limits if name in RATIO_LIMITS}
    return ("overall", *sorted(asked - {"overall"}))


def check(audit, judged, limits, at=None):
    """A Check for each limit and level of an audit.

    Parameters
    ----------
    audit : Audit
    judged : dict
        (rate, operating point, level) -> Judged.
    limits : dict of str -> float
    at : dict of float -> dict, default=None
        Further limits of single FAR levels, or of single thresholds as they were given;
        they take the place of those in ``limits``.

    Returns
    -------
    checks : list of Check
    """
    at = {} if at is None else at
    own = [limits | at.get(_point(level, audit), {}) for level in audit.levels]
    names = dict.fromkeys(name for of_level in own for name in of_level)
    return [
        _check(audit, place, level, name, own[place][name], judged)
        for name in names
        for place, level in enumerate(audit.levels)
        if name in own[place]
    ]


def _point(level, audit):
    """The FAR of a level, or its threshold on the scale of the scores that were given."""
    if level.far is not None:
        return level.far
    return -level.threshold if audit.settings.get("distance") else level.threshold


def _check(audit, place, level, name, limit, judged):
    if name in RATE_LIMITS:
        rate, operating_point, how = RATE_LIMITS[name], "overall", None
    else:
        rate, operating_point, how = RATIO_LIMITS[name]
    found = judged.get((rate, operating_point, place))
    known = [] if found is None else found.labels
    not_covered = tuple(row.group for row in level.rates[1:] if row.group not in known)
    if name in RATE_LIMITS:
        figure, groups = _of_rates(level, rate, limit, found)
    else:
        figure, groups = _of_ratios(level, rate, operating_point, how, limit, found)
    overall = operating_point == "overall"
    threshold = level.threshold if overall else level.worst_group_threshold
    about = (name, limit, audit.attribute, level.far, threshold)
    verdict, of_rate = verdict_of(figure, limit), name in RATE_LIMITS
    reason = _why_nothing_is_told(level, None if of_rate else found)
    # A limit on rates is about each group.
    if verdict == "passed" and of_rate and not_covered:
        reason = reason or "not every group has the pairs"
    verdict = "undetermined" if reason else verdict
    needed = ()
    if verdict == "undetermined" and groups and not reason:
        sizes = {row.group: _size(row, rate) for row in audit.groups[1:]}
        wanted = audit.settings["confidence_level"]
        needed = people_needed(found, how, limit, wanted, sizes)
    return Check(*about, figure, groups, not_covered, verdict, needed, reason)


def _why_nothing_is_told(level, of_ratio):
    """Why a limit tells nothing of the system, kept or not; empty if it does.

    Parameters
    ----------
    level : Level
    of_ratio : Judged or None
        The groups whose rates are divided; None where each rate is limited.
    """
    everyone = level.rates[0]
    rejected = np.array([1 - everyone.far.value, everyone.frr.value])
    rates = np.full(1, np.nan) if of_ratio is None else of_ratio.sums.rate
    for share, accepted in ((0, "every pair"), (1, "no pair")):
        if np.allclose(rejected, share, rtol=0, atol=1e-12):
            return f"the threshold lies beyond all scores: {accepted} is accepted"
        if np.allclose(rates, share, rtol=0, atol=1e-12):
            return f"all rates are {share}"
    if rates.min() > NEARLY_ALL:
        return f"more than {NEARLY_ALL:g} of the pairs of every group are wrong"
    return ""


def _size(row, rate):
    """People of a group, and with which power of their number its pairs grow.

    Where nobody is known, pairs stand in for people.
    """
    if row.n_identities is None:
        return row.n_impostor if rate == "far" else row.n_genuine, 1
    growth = growth_of(row.n_identities, row.n_impostor) if rate == "far" else 1
    return row.n_identities, growth


def _of_rates(level, rate, limit, found):
    """Figure and groups of a limit that the rate of each group has to keep."""
    figures = {row.group: getattr(row, rate) for row in level.rates[1:]}
    if found is None:  # no group has pairs
        return next(iter(figures.values())), ()
    low, high = found.one_sided()
    known = np.where(np.isnan(high), np.inf, high)
    worst = int(np.argmax(known))
    # Groups above the limit, that with the largest lower bound first.
    exceeding = tuple(found.labels[g] for g in np.argsort(-low) if low[g] > limit)
    least = np.nanmax(low) if exceeding else low[worst]
    groups = exceeding or (found.labels[worst],)
    ends = {"low": float(np.nan_to_num(least)), "high": float(high.max())}
    return replace(figures[groups[0]], **ends), groups


def _of_ratios(level, rate, operating_point, how, limit, found):
    """Figure and groups of a limit that a ratio of the groups' rates has to keep."""
    disparity = next(
        d
        for d in level.disparities
        if (d.how, d.operating_point) == (how, operating_point)
    )
    figure = getattr(disparity, rate)
    if found is None or not found.compared.n_tests:
        return figure, ()
    if how == "max_geomean":
        value, low, high, groups = found.over_geomean(limit)
    else:
        low, high, *ends = found.compared.largest_ratio(found.tail)
        above, below = ends[0] if low > limit else ends[1]
        groups = found.named(above) + found.named(below)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(found.sums.rate)
            value = float(np.exp(logs[list(above)].mean() - logs[list(below)].mean()))
    return replace(figure, value=value, low=low, high=high), groups
