"""How many more people would settle an undetermined check, if rates are as they were found.

A group of K times as many people has K times as many genuine pairs, K**2 times as many
impostor pairs where everybody is compared with everybody (K times where a list holds fewer),
and people who differ as much as before: ``enlarged`` sums. The bounds that judged the check
then judge them again.
"""

from math import ceil

import numpy as np
from scipy.special import ndtri

from skfairfr._core._few_errors import contrasts, every_two, rate_bounds
from skfairfr._core._planning import enlarged

# People of one group beyond whom nothing counts as settled.
MOST_PEOPLE = 10_000_000
# Share of such data sets in which the check is settled then: at half of them, errors are
# more than expected, or fewer, and one comparison of two is as likely as not.
POWER = 0.8


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
    people, growth = np.array([sizes[g] for g in judged.labels], dtype=np.float64).T
    more = _More(judged, people, growth, limit, (1 - confidence_level) / 2)
    found = more.of_rates() if of_each else more.of_ratios()
    return tuple((judged.labels[g], int(n)) for g, n in sorted(found.items()))


def growth_of(n_people, n_impostor):
    """With which power of the number of people impostor pairs grow: 2, or 1 of a short list."""
    # A list of a quarter of all pairs of two people, say across two domains, is no short one.
    return 2 if n_impostor >= n_people**2 / 8 else 1


class _More:
    """The groups of a check, and a search for more people."""

    def __init__(self, judged, people, growth, limit, tail):
        self.sums, self.people, self.growth = judged.sums, people, growth
        self.compared, self.limit, self.tail = judged.compared, limit, tail
        self.added = self.compared.evidence.added[self.compared.level]

    def of_rates(self):
        """Position of each group -> more people, for a limit of each group's rate."""
        n, rate = len(self.people), self.sums.rate
        tail = min(self.tail, 2 * self.tail / n)

        def settles(g, side, n_verdicts):
            def at(people):
                factors = np.ones(n)
                factors[g] = people / self.people[g]
                sums, shrunk, unlucky = self._enlarged(factors, n_verdicts)
                moved = np.exp(side * unlucky)
                sums = enlarged(sums, np.ones(n), self.growth, moved)
                added = self.added * shrunk
                low, high = rate_bounds(sums, tail if side < 0 else self.tail, added)
                return low[g] > self.limit if side < 0 else high[g] <= self.limit

            return at

        above = np.flatnonzero(rate > self.limit)
        if above.size:
            # One group that certainly exceeds the limit is enough.
            found = {g: _least(settles(g, -1, 1), self.people[g]) for g in above}
            found = {g: more for g, more in found.items() if more is not None}
            return dict(sorted(found.items(), key=lambda item: item[1])[:1])
        _, high = rate_bounds(self.sums, self.tail, self.added)
        (unsettled,) = np.nonzero(~(high <= self.limit))
        found = {
            g: _least(settles(g, 1, unsettled.size), self.people[g]) for g in unsettled
        }
        return {} if None in found.values() else found

    def of_ratios(self):
        """The same for a limit of the largest ratio of two groups' rates."""
        weights = every_two(self.sums)
        found = self.compared.contrasts(weights)
        exceeding = np.log(self.limit) < found.value
        if exceeding.any():
            tail, side = 2 * self.tail / len(weights), -1
            chosen = [np.argmax(np.where(exceeding, found.bounds(tail)[0], -np.inf))]
        else:
            tail, side = self.tail, 1
            (chosen,) = np.nonzero(~(found.bounds(tail)[1] <= self.limit))
        if len(chosen) == 0:
            return {}
        weights = weights[chosen]
        members = np.flatnonzero(weights.any(axis=0))
        variance = self.sums.worth().variance
        least_known = members[np.argmax(variance[members])]

        def factors(people):
            # Groups that are known as well already stay as they are.
            times = people / self.people[least_known] * variance / variance[least_known]
            grown = np.isin(np.arange(times.size), members)
            return np.where(grown, np.maximum(times, 1.0), 1.0)

        def settles(people):
            # All ratios have to stay within; independent are all groups but one.
            n_verdicts = members.size - 1 if side > 0 else 1
            sums, shrunk, unlucky = self._enlarged(factors(people), n_verdicts)
            spread = np.sqrt(weights**2 @ unlucky**2)
            added = self.compared.evidence.added_to(self.compared.level, weights)
            added = added * (weights**2 @ shrunk) / (weights**2).sum(axis=1)
            low, high = contrasts(sums, weights, added).bounds(tail)
            if side < 0:
                return (low * np.exp(-spread) > self.limit).all()
            return (high * np.exp(spread) <= self.limit).all()

        more = _least(settles, self.people[least_known])
        total = factors(self.people[least_known] + (more or 0)) * self.people
        if more is None or total.max() > MOST_PEOPLE:
            return {}
        return {
            g: ceil(total[g] - self.people[g])
            for g in members
            if total[g] > self.people[g]
        }

    def _enlarged(self, factors, n_verdicts):
        """Sums of more people, what is left of the variances, and unlucky deviations.

        Deviations are those of the logarithms of the rates by new pairs, which one of so
        many verdicts exceeds in 1 - ``POWER`` of cases.
        """
        sums = enlarged(self.sums, factors, self.growth)
        variance = sums.worth().variance
        new = 1 - 1 / np.power(factors, self.growth)
        unlucky = -ndtri((1 - POWER) / n_verdicts) * np.sqrt(variance * new)
        return sums, variance / self.sums.worth().variance, unlucky


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
