"""How many more people would settle an undetermined check, if rates are as they were found.

A group of K times as many people has K times as many genuine pairs, K**2 times as many
impostor pairs where everybody is compared with everybody (K times where a list holds fewer),
and people who differ as much as before: ``enlarged`` errors. The rule that judged the check
then judges them again.
"""

from dataclasses import replace
from math import ceil

import numpy as np
from scipy.special import ndtri

from skfairfr._core._old_family import bounds, deviates, ratios_of
from skfairfr._core._old_family import p_values as quantile_of
from skfairfr._core._old_few_errors import Effective, lower_bound, upper_bound

# People of one group beyond whom nothing counts as settled.
MOST_PEOPLE = 10_000_000
# Share of such data sets in which the check is settled then: at half of them, errors are
# more than expected, or fewer, and one comparison of two is as likely as not.
POWER = 0.8
# Pairs of groups that may exceed a limit of ratios, the most certain first, out of which
# the one that takes the fewest people is named.
MOST_CANDIDATES = 5


def people_needed(judged, of_each, limit, confidence_level, sizes):
    """How many more people settle whether a limit is kept.

    Parameters
    ----------
    judged : Judged
        Of an undetermined check.
    of_each : bool
        Whether the limit is one of each group's rate, or else of the ratio of two rates.
    limit : float
    confidence_level : float in (0, 1)
    sizes : dict of label -> tuple
        How many people each group has, and with which power of their number its pairs
        grow.

    Returns
    -------
    needed : tuple of (label, int)
        Groups, and how many more people each of them takes, so that the check is settled
        with a probability of ``POWER`` if rates are as found; empty where no number up to
        ``MOST_PEOPLE`` does.
    """
    people, growth = (
        np.array([sizes[label][i] for label in judged.labels], dtype=np.float64)
        for i in (0, 1)
    )
    if of_each:
        found = _of_rates(judged, limit, confidence_level, people, growth)
    else:
        found = _of_ratios(judged, limit, confidence_level, people, growth)
    return tuple((judged.labels[g], int(more)) for g, more in sorted(found.items()))


def growth_of(n_people, n_impostor):
    """With which power of the number of people impostor pairs grow: 2, or 1 of a short list."""
    # A list of a quarter of all pairs of two people, say across two domains, is no short one.
    return 2 if n_impostor >= n_people**2 / 8 else 1


def enlarged(effective, factor, growth):
    """Effective errors of so many times as many people, who err at the same rate.

    Parameters
    ----------
    effective : Effective
    factor, growth : floats or ndarrays, shape (n_groups,)
        How many times as many people, and with which power of it pairs grow.

    Returns
    -------
    effective : Effective
    """
    pairs = np.power(factor, growth)
    return Effective(
        effective.errors * pairs,
        effective.pairs * pairs,
        effective.between / factor,
        effective.freedom * factor,
        effective.unseen * pairs,
        effective.unseen_freedom * factor,
    )


def _of_rates(judged, limit, confidence_level, people, growth):
    """Position of each group -> more people, for a limit of each group's rate."""
    rate, n_groups = judged.effective.rate, len(judged.labels)
    of_one = [_one_group(judged, g) for g in range(rate.size)]

    def settles(g, side, n_verdicts=1):
        effective, share = of_one[g]

        def at(n):
            times = n / people[g]
            more = enlarged(effective, times, growth[g])
            spread = np.sqrt(more.log_variance * share * _new(times, growth[g]))
            moved = np.exp(side * _reach(n_verdicts) * spread)
            errors = np.minimum(more.errors * moved, more.pairs)
            more = replace(more, errors=errors)
            if side > 0:
                return upper_bound(more, confidence_level, share)[0] <= limit
            return lower_bound(more, confidence_level, n_groups, share)[0] > limit

        return at

    above = np.flatnonzero(rate > limit)
    if above.size:
        # One group that certainly exceeds the limit is enough.
        found = {g: _least(settles(g, -1), people[g]) for g in above}
        found = {g: more for g, more in found.items() if more is not None}
        fewest = sorted(found, key=found.get)[:1]
        return {g: found[g] for g in fewest}
    _, high = judged.one_sided(confidence_level)
    open_ones = np.flatnonzero(~(high <= limit))
    found = {g: _least(settles(g, 1, open_ones.size), people[g]) for g in open_ones}
    return {} if None in found.values() else found


def _of_ratios(judged, limit, confidence_level, people, growth):
    """The same for a limit of the largest ratio of two groups' rates."""
    pairs = judged.pairs
    # Every two groups in both orders, since either may have the larger rate.
    first = np.concatenate([pairs.first, pairs.second])
    second = np.concatenate([pairs.second, pairs.first])
    ratios = ratios_of(judged.effective, first, second)
    exceeding = np.flatnonzero(ratios.raw > limit)
    if exceeding.size:
        certain = deviates(ratios, limit)[exceeding]
        candidates = exceeding[np.argsort(-certain)][:MOST_CANDIDATES]
        quantile, side = judged.quantile, -1
        chosen = [candidates[[i]] for i in range(candidates.size)]
    else:
        quantile, side = quantile_of(confidence_level), 1
        _, high = bounds(ratios, quantile)
        chosen = [np.flatnonzero(~(high <= limit))]
    found = []
    for places in filter(len, chosen):
        ends = first[places], second[places]
        more = _of_pairs(judged, limit, quantile, side, ends, people, growth)
        if more:
            found.append(more)
    return min(found, key=lambda more: sum(more.values()), default={})


def _of_pairs(judged, limit, quantile, side, ends, people, growth):
    """More people of the groups of some pairs, so that each ratio keeps a bound's side."""
    members = np.unique(np.concatenate(ends))
    variance = judged.effective.log_variance
    # All pairs have to stay within a limit; independent are at most all groups but one.
    reach = side * _reach(members.size - 1 if side > 0 else 1)
    least_known = members[np.argmax(variance[members])]

    def factors(n):
        # Groups that are known as well already stay as they are.
        found = np.ones(people.size)
        times = n / people[least_known] * variance[members] / variance[least_known]
        found[members] = np.maximum(times, 1.0)
        return found

    def settles(n):
        times = factors(n)
        effective = enlarged(judged.effective, times, growth)
        ratios = ratios_of(effective, *ends)
        variance = effective.log_variance * _new(times, growth)
        spread = np.sqrt(variance[ends[0]] + variance[ends[1]])
        moved = ratios.middle * np.exp(reach * spread)
        low, high = bounds(replace(ratios, middle=moved), quantile)
        return (low > limit).all() if side < 0 else (high <= limit).all()

    more = _least(settles, people[least_known])
    if more is None:
        return {}
    total = factors(people[least_known] + more) * people
    if total.max() > MOST_PEOPLE:
        return {}
    return {g: ceil(total[g] - people[g]) for g in members if total[g] > people[g]}


def _one_group(judged, group):
    """Effective errors of one group and the share left of their variance, each (1,)."""
    return judged.effective.columns([group]), judged.share[[group]]


def _reach(n_verdicts):
    """Standard deviations that so many verdicts at once exceed in 1 - ``POWER`` of cases."""
    return -ndtri((1 - POWER) / n_verdicts)


def _new(times, growth):
    """Share of the pairs of so many times as many people that are new, and so can vary."""
    return 1 - 1 / np.power(times, growth)


def _least(settles, people):
    """The smallest number of people more that settles; None up to ``MOST_PEOPLE``."""
    low, high = int(people), int(people) + 1
    while not settles(high):
        if high >= MOST_PEOPLE:
            return None
        low, high = high, min(2 * high, MOST_PEOPLE)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if settles(middle) else (middle, high)
    return high - int(people)
