"""An audit as a check: do rates, or a disparity, stay within a limit?"""

from dataclasses import replace

import numpy as np
from scipy.special import ndtri

from skfairfr._core._jackknife import Contrasts, rate_ends
from skfairfr._core._planning import MAX_PEOPLE, enlarged, first_number, growth_of
from skfairfr._text._words import percent, terms_of
from skfairfr.report._notes import WITHHELD, of_groups, of_unknown, unknown_exceed
from skfairfr.report._policy import COST_LIMITS, LIMITS, POWER, limited, verdict_of
from skfairfr.report._records import Check, CostCheck
from skfairfr.report._verdicts import beyond_all_scores

# No ratio of two rates above it exceeds 1 / 0.9 = 1.11: keeping a limit shows nothing.
NEARLY_ALL = 0.9


def operating_points_of(limits):
    """Operating points at which each pair of groups is to be compared, a tuple of str."""
    asked = {LIMITS[name][1] for name in limits}
    return ("overall", *sorted(asked - {"overall"}))


def check(audit, judged, limits, at):
    """A Check for each limit and level of an audit.

    Parameters
    ----------
    audit : Audit
    judged : dict
        (rate, operating point, level) -> GroupTests.
    limits : dict of str -> float
    at : dict of float -> dict
        Further limits of single FAR levels, or of single thresholds as they were given.
        They take the place of those in ``limits``.

    Returns
    -------
    checks : tuple of Check
    """
    own = [limits | at.get(_point(level, audit), {}) for level in audit.levels]
    names = dict.fromkeys(n for of_level in own for n in of_level if n in LIMITS)
    checks = [
        _check(audit, place, level, name, own[place][name], judged)
        for name in names
        for place, level in enumerate(audit.levels)
        if name in own[place]
    ]
    return (*checks, *(_checks_of_costs(audit, limits) if audit.costs else ()))


def checks_of_metrics(audit, limits):
    """A Check for each limit of a metric of the user's, "max_" and its name, and level."""
    checks = []
    for name, limit in limits.items():
        for level in audit.levels:
            figure = next(
                one.figure for one in level.metrics if f"max_{one.name}" == name
            )
            beyond = beyond_all_scores(level.rates[0], terms_of(audit.settings))
            reason = _withheld(audit) or beyond
            verdict = "undetermined" if reason else verdict_of(figure, limit)
            about = name, limit, audit.attribute, level.far, level.threshold, figure
            checks.append(Check(*about, (), (), verdict, reason=reason))
    return tuple(checks)


def _checks_of_costs(audit, limits):
    """A CostCheck for each limit of a cost and operating point."""
    checks, measured = [], {row.cost for row in audit.costs}
    for name in [n for n in COST_LIMITS if n in limits]:
        cost = next((c for c in COST_LIMITS[name] if c in measured), None)
        rows = [row for row in audit.costs if row.cost == cost]
        for p in dict.fromkeys(row.p_target for row in rows):
            of_point = [row for row in rows if row.p_target == p]
            checks.append(_check_of_cost(audit, name, limits[name], of_point))
    return checks


def _check_of_cost(audit, name, limit, rows):
    known = [row for row in rows if not np.isnan(row.figure.value)]
    lost = tuple(row.group for row in rows if row not in known)
    figure, groups, decides = rows[0].figure, (), ()
    reason = "not every group has genuine and impostor pairs" if lost else ""
    if known:
        columns = [(r.figure.value, r.low_of_all, r.figure.high) for r in known]
        shown, ends, place = _worst(*np.array(columns).T, limit)
        groups = tuple(known[of].group for of in shown)
        figure, decides = replace(known[shown[0]].figure, **ends), (known[place].group,)
    verdict = verdict_of(figure, limit)
    reason = _withheld(audit) or (reason if verdict == "passed" or not known else "")
    verdict = "undetermined" if reason else verdict
    about = name, limit, audit.attribute, None, np.nan, figure, groups, lost, verdict
    more = {"reason": reason, "decided_by": decides}
    return CostCheck(*about, **more, cost=rows[0].cost, p_target=rows[0].p_target)


def _point(level, audit):
    """The FAR of a level, or its threshold on the scale of the scores that were given."""
    if level.far is not None:
        return level.far
    return -level.threshold if audit.settings.get("distance") else level.threshold


def _check(audit, place, level, name, limit, judged):
    rate, operating_point, how = limited(name, audit.settings)
    of_rate = how is None
    found = judged.get((rate, operating_point, place))
    known = [] if found is None else found.labels
    not_covered = tuple(
        row.group for row in of_groups(level.rates) if row.group not in known
    )
    if of_rate:
        figure, groups, decides = _of_rates(level, rate, limit, found)
    else:
        results = _of_ratios(level, rate, operating_point, how, limit, found)
        figure, groups, decides = results
    overall = operating_point == "overall"
    threshold = level.threshold if overall else level.worst_group_threshold
    about = (name, limit, audit.attribute, level.far, threshold)
    verdict, terms = verdict_of(figure, limit), terms_of(audit.settings)
    told = _why_nothing_is_told(level, None if of_rate else found, terms)
    reason = _withheld(audit) or told
    # A limit on rates is about each group.
    if verdict == "passed" and of_rate and not_covered:
        reason = reason or f"not every group has the {terms.trials}"
    if verdict == "passed" and rate == "frr" and found is not None:
        rates = found.sums.rate
        most = limit if of_rate else max(rates.max(), limit * rates.min())
        if unknown_exceed(level, audit, most):
            errors, trials = of_unknown(level, audit)
            their = f"{terms.frr.name} {percent(errors / trials)}"
            reason = reason or f"people of unknown group have a higher rate ({their})"
    verdict = "undetermined" if reason else verdict
    needed = ()
    if verdict == "undetermined" and groups and not reason:
        two = rate == "far" and "gallery" not in audit.settings
        sizes = {row.group: _size(row, rate, two) for row in of_groups(audit.groups)}
        needed = people_needed(found, how, limit, sizes)
    results = (verdict, needed, reason, decides)
    return Check(*about, figure, groups, not_covered, *results)


def _withheld(audit):
    """Why the scores leave no verdict, or empty."""
    return WITHHELD.get(audit.settings.get("withheld"), [""])[0]


def _why_nothing_is_told(level, of_ratio, terms):
    """Why a limit is not informative about the system, or empty if it is."""
    beyond = beyond_all_scores(level.rates[0], terms)
    # Without the groups of a ratio, each rate is limited.
    if beyond or of_ratio is None:
        return beyond
    rates = of_ratio.sums.rate
    for share in (0, 1):
        if np.allclose(rates, share, rtol=0, atol=1e-12):
            return f"the {terms[of_ratio.rate].name} of every group is {percent(share)}"
    if rates.min() > NEARLY_ALL:
        share = f"{100 * NEARLY_ALL:g} %"
        return f"more than {share} of the {terms.trials} of every group are errors"
    return ""


def _size(row, rate, of_two):
    """People of a group, and with which power of their number its pairs, or searches, grow."""
    # If nobody is known, pairs replace people.
    if row.n_identities is None:
        return row.n_impostor if rate == "far" else row.n_genuine, 1
    growth = growth_of(row.n_identities, row.n_impostor) if of_two else 1
    return row.n_identities, growth


def _of_rates(level, rate, limit, found):
    """Figure, groups and that of the bound, of a limit that each group's rate has to meet."""
    figures = {row.group: getattr(row, rate) for row in of_groups(level.rates)}
    if found is None:  # no group has pairs
        return next(iter(figures.values())), (), ()
    shown, ends, place = _worst(found.sums.rate, *found.one_sided(), limit)
    groups = found.named(shown)
    return replace(figures[groups[0]], **ends), groups, found.named([place])


def _worst(rates, low, high, limit):
    """Groups and bounds that a limit of each rate is about.

    Parameters
    ----------
    rates, low, high : ndarrays, shape (n_groups,)
        With bounds. The lower ones are valid for all at once.
    limit : float

    Returns
    -------
    shown : list of int
        The group whose rate is shown, then all others that the verdict is about. The first
        is the one that decides if groups exceed the limit, or else that of the highest rate.
    ends : dict of str -> float
        ``low`` and ``high`` of the Figure, those of ``decides``.
    decides : int
    """
    first = int(np.nanargmax(rates))
    if (low > limit).any():
        first = decides = int(np.nanargmax(low))
        open_ = low > limit
    elif rates[first] > limit:
        decides, open_ = first, np.zeros(low.size, dtype=bool)
    else:
        decides = int(np.argmax(np.where(np.isnan(high), np.inf, high)))
        open_ = ~(high <= limit)
    others = [g for g in np.argsort(-rates) if open_[g] and g != first]
    ends = {"low": float(np.nan_to_num(low[decides])), "high": float(high[decides])}
    return [first, *others], ends, decides


def _of_ratios(level, rate, operating_point, how, limit, found):
    """The same of a limit that a ratio of the groups' rates has to meet."""
    disparity = next(
        d
        for d in level.disparities
        if (d.how, d.operating_point) == (how, operating_point)
    )
    figure = getattr(disparity, rate)
    if found is None or not found.compared.n_tests:
        return figure, (), ()
    rates = found.sums.rate
    groups = found.named([np.nanargmax(rates)])
    if how == "max_geomean":
        low, high, decides = found.over_geomean(limit)
    else:
        low, high = found.compared.largest_ratio(found.tail)
        # Either bound is of the largest ratio, whichever groups it comes from.
        smallest = rates.size - 1 - np.nanargmin(rates[::-1])  # of equal rates, another
        groups = (*groups, *found.named([smallest]))
        decides = groups if rates.size == 2 else ()
    return replace(figure, low=low, high=high), groups, decides


# ---- people needed -------------------------------------------------------------------
#
# A group of K times as many people has K times as many genuine pairs, K**2 times as many
# impostor pairs where everybody is compared with everybody (K times where a list contains
# fewer), and people who differ as much as before: `enlarged` sums. The bounds that judged
# the check then judge them again.


def people_needed(judged, how, limit, sizes):
    """How many more people settle whether a limit is met.

    Parameters
    ----------
    judged : GroupTests
        Of an undetermined check.
    how : {"max_min", "max_geomean"} or None
        The ratio that is limited. None of each group's rate.
    limit : float
    sizes : dict of label -> tuple
        How many people each group has, and with which power of their number its pairs
        grow.

    Returns
    -------
    needed : tuple of (label, int)
        Groups, and how many more people each of them needs for a result of the check with a
        probability of ``POWER`` if rates are as found. Empty if no number up to
        ``MAX_PEOPLE`` is enough.
    """
    find = _people_for_rates if how is None else _people_for_ratios
    found = find(judged, sizes, limit, *filter(None, [how]))
    return tuple((judged.labels[g], more) for g, more in sorted(found.items()))


def _people_for_rates(judged, sizes, limit):
    """Position of each group -> more people, for a limit of each group's rate."""
    low, high = judged.one_sided()
    added = judged.compared.evidence.added[judged.compared.level]
    above, unsettled = judged.sums.rate > limit, ~(high <= limit)
    side = -1 if above.any() else 1
    # Of a rate above the limit, the highest, which is the one shown.
    asked = [np.nanargmax(judged.sums.rate)] if side < 0 else np.flatnonzero(unsettled)
    tail = min(judged.tail, 2 * judged.tail / low.size) if side < 0 else judged.tail

    def settles(sums, kept, unlucky):
        moved = (enlarged(sums, 1.0, 1, np.exp(k * unlucky)) for k in (-1, 1))
        low, high = zip(
            *(rate_ends(of, tail, added * kept) for of in moved), strict=True
        )
        return (
            np.min(low, axis=0) > limit if side < 0 else np.max(high, axis=0) <= limit
        )

    n_verdicts = len(asked) if side > 0 else 1
    found = {}
    for g in asked:
        more = _more(judged, sizes, [g], n_verdicts, lambda *of, g=g: settles(*of)[g])
        if not more:
            return {}
        found |= more
    return found


def _people_for_ratios(judged, sizes, limit, how):
    """The same for a limit of the largest ratio of rates."""
    compared, tail = judged.compared, judged.tail
    weights = np.vstack([block.weights for block in compared.of_disparity(how)])
    found = compared.contrasts(weights)
    exceeding = found.value > np.log(limit)
    if exceeding.any():
        side, tail = -1, 2 * tail / len(weights)
        # The ratio that is shown: the last of equal ones.
        chosen = found.value.size - 1 - np.nanargmax(found.value[::-1], keepdims=True)
    else:
        side = 1
        chosen = np.flatnonzero(~(found.bounds(tail)[1] <= limit))
    squared = weights[chosen] ** 2
    members = np.flatnonzero(squared.any(axis=0))
    if members.size == 0:
        return {}
    added = compared.evidence.added_to(compared.level, weights[chosen])

    def settles(sums, kept, unlucky):
        spread = np.exp(side * np.sqrt(squared @ unlucky**2))
        # Of a threshold that moves, as much is left as of the rates' own variances.
        left = added * (squared @ kept) / squared.sum(axis=1)
        low, high = Contrasts(sums, weights[chosen], left).bounds(tail)
        return (low * spread > limit if side < 0 else high * spread <= limit).all()

    # All ratios have to stay within. Independent are all groups but one.
    n_verdicts = members.size - 1 if side > 0 else 1
    return _more(judged, sizes, members, n_verdicts, settles)


def _more(judged, sizes, members, n_verdicts, settles):
    """Position of each group -> more people, with whom an unlucky case settles.

    Parameters
    ----------
    judged, sizes
        See :func:`people_needed`.
    members : sequence of int
        Groups that get more people, in numbers that make their rates equally certain.
    n_verdicts : int
        How many verdicts at once have to be lucky enough.
    settles : callable
        Asked with ErrorSums, the share that is left of each variance, and deviations
        of the logarithms of the rates which one verdict exceeds too rarely to matter.
    """
    columns = zip(*(sizes[label] for label in judged.labels), strict=True)
    people, growth = map(np.array, columns)
    variance = judged.sums.log_variance
    least_known = members[np.argmax(variance[members])]

    def factors(n):
        found, times = np.ones(people.size), variance[members] / variance[least_known]
        found[members] = np.maximum(times * n / people[least_known], 1.0)
        return found

    def holds(n):
        times = factors(n)
        sums = enlarged(judged.sums, times, growth)
        left, new = sums.log_variance, 1 - 1 / times**growth
        unlucky = -ndtri((1 - POWER) / n_verdicts) * np.sqrt(left * new)
        return settles(sums, left / variance, unlucky)

    n = first_number(holds, int(people[least_known]) + 1)
    if n is None:
        return {}
    total = np.ceil(factors(n) * people - 1e-6)
    if total.max() > MAX_PEOPLE:
        return {}
    more = (total - people).astype(int)
    return {g: int(more[g]) for g in members if more[g] > 0}
