"""How many more people would settle an undetermined check, if rates are as they were found.

A group of K times as many people has K times as many genuine pairs, K**2 times as many
impostor pairs where everybody is compared with everybody (K times where a list holds fewer),
and people who differ as much as before: ``enlarged`` sums. The bounds that judged the check
then judge them again.
"""

import numpy as np
from scipy.special import ndtri

from skfairfr._core._few_errors import contrasts, every_two, rate_bounds
from skfairfr._core._planning import MAX_PEOPLE, enlarged, first_number
from skfairfr.report._verdicts import geomean_weights

# People of one group beyond whom nothing counts as settled.
MOST_PEOPLE = MAX_PEOPLE
# Share of such data sets in which the check is settled then: at half of them, errors are
# more than expected, or fewer, and one comparison of two is as likely as not.
POWER = 0.8


def people_needed(judged, how, limit, confidence_level, sizes):
    """How many more people settle whether a limit is kept.

    Parameters
    ----------
    judged : Judged
        Of an undetermined check.
    how : {"max_min", "max_geomean"} or None
        The ratio that is limited; None of each group's rate.
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
    groups = _Groups(judged, sizes)
    tail = (1 - confidence_level) / 2
    if how is None:
        found = _of_rates(judged, groups, limit, tail)
    else:
        found = _of_ratios(judged, groups, limit, tail, how)
    return tuple((judged.labels[g], more) for g, more in sorted(found.items()))


def growth_of(n_people, n_impostor):
    """With which power of the number of people impostor pairs grow: 2, or 1 of a short list."""
    # A list of a quarter of all pairs of two people, say across two domains, is no short one.
    return 2 if n_impostor >= n_people**2 / 8 else 1


def _of_rates(judged, groups, limit, tail):
    """Position of each group -> more people, for a limit of each group's rate."""
    low, high = judged.one_sided()
    added = judged.compared.evidence.added[judged.compared.level]
    above, unsettled = judged.sums.rate > limit, ~(high <= limit)
    side = -1 if above.any() else 1
    asked = np.flatnonzero(above if side < 0 else unsettled)
    tail = min(tail, 2 * tail / low.size) if side < 0 else tail

    def settles(sums, kept, unlucky):
        # The bounds of very few errors fall where there are more.
        ends = [
            rate_bounds(enlarged(sums, 1.0, 1, moved), tail, added * kept)
            for moved in (np.exp(-unlucky), np.exp(unlucky))
        ]
        if side < 0:
            return np.min([low for low, _ in ends], axis=0) > limit
        return np.max([high for _, high in ends], axis=0) <= limit

    found = [
        groups.more(
            [g], asked.size if side > 0 else 1, lambda *more, g=g: settles(*more)[g]
        )
        for g in asked
    ]
    if side < 0:
        # One group that certainly exceeds the limit is enough.
        return min(
            filter(None, found), key=lambda of_one: sum(of_one.values()), default={}
        )
    return {} if {} in found else {g: n for more in found for g, n in more.items()}


def _of_ratios(judged, groups, limit, tail, how):
    """The same for a limit of the largest ratio of rates."""
    compared, weights = judged.compared, geomean_weights(judged.sums)
    if how == "max_min":
        weights = np.vstack([*every_two(judged.sums)])
    found = compared.contrasts(weights)
    exceeding = found.value > np.log(limit)
    if exceeding.any():
        side, tail = -1, 2 * tail / len(weights)
        low, _ = found.bounds(tail)
        chosen = np.argmax(np.where(exceeding, low, -np.inf), keepdims=True)
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
        low, high = contrasts(sums, weights[chosen], left).bounds(tail)
        return (low * spread > limit if side < 0 else high * spread <= limit).all()

    # All ratios have to stay within; independent are all groups but one.
    return groups.more(members, members.size - 1 if side > 0 else 1, settles)


class _Groups:
    """The groups of a check, their people, and with which power of them pairs grow."""

    def __init__(self, judged, sizes):
        columns = zip(*(sizes[label] for label in judged.labels), strict=True)
        self.people, self.growth = map(np.array, columns)
        self.sums = judged.sums
        self.variance = self.sums.worth().variance

    def more(self, members, n_verdicts, settles):
        """Position of each group -> more people, with whom an unlucky case settles.

        Parameters
        ----------
        members : sequence of int
            Groups that get more people, so that their rates are known equally well.
        n_verdicts : int
            How many verdicts at once have to be lucky enough.
        settles : callable
            Asked with ErrorSums, the share that is left of each variance, and deviations
            of the logarithms of the rates which one verdict exceeds too rarely to matter.
        """
        least_known = members[np.argmax(self.variance[members])]

        def factors(people):
            found = np.ones(self.people.size)
            times = self.variance[members] / self.variance[least_known]
            times = times * people / self.people[least_known]
            found[members] = np.maximum(times, 1.0)
            return found

        def holds(people):
            times = factors(people)
            sums = enlarged(self.sums, times, self.growth)
            variance = sums.worth().variance
            new = 1 - 1 / times**self.growth
            unlucky = -ndtri((1 - POWER) / n_verdicts) * np.sqrt(variance * new)
            return settles(sums, variance / self.variance, unlucky)

        people = first_number(holds, int(self.people[least_known]) + 1)
        if people is None:
            return {}
        total = np.ceil(factors(people) * self.people - 1e-6)
        if total.max() > MOST_PEOPLE:
            return {}
        return {
            g: int(total[g] - self.people[g])
            for g in members
            if total[g] > self.people[g]
        }
