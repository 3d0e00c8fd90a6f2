"""Which groups are treated worse: every two groups, over all rates, levels and attributes.

All comparisons of a report share one error rate: in a system that treats every group
alike, the nominal chance that any of them names a group is one minus the confidence level.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np

from skfairfr._core._family import bounds
from skfairfr._core._few_errors import lower_bound, upper_bound
from skfairfr.metrics._roc._analytic import (
    PairsOfGroups,
    influence_at,
    judge_together,
)

RATES = ("far", "frr")
# Combinations of attributes have many cells: so much of the error rate is theirs, so that
# they cannot silence the attributes themselves.
SHARE_OF_COMBINATIONS = 0.2


@dataclass(frozen=True)
class Judged:
    """Every two groups of an attribute at one level, judged with all other comparisons.

    Attributes
    ----------
    labels : list
        Groups that have pairs.
    rates : ndarray, shape (n_groups,)
    pairs : PairsOfGroups
    p_adjusted : ndarray, shape (n_comparisons,)
        Of the hypothesis that both groups have the same rate in the population.
    low, high : ndarrays, shape (n_comparisons,)
        Bounds of the ratios of first over second that hold for all comparisons at once.
    n_comparisons : int
        Of the whole family.
    effective : Effective
        Effective errors of the groups, each (n_groups,).
    share : ndarray, shape (n_groups,)
    quantile : float
        With which the bounds of all ratios hold at once.
    """

    labels: list
    rates: np.ndarray
    pairs: PairsOfGroups
    p_adjusted: np.ndarray
    low: np.ndarray
    high: np.ndarray
    n_comparisons: int
    effective: object
    share: np.ndarray
    quantile: float

    def most_certain(self):
        """The two groups that differ most certainly, and the numbers about them.

        Returns
        -------
        worst, best : labels
        p_value, p_adjusted : floats
        low, high : floats
            Bounds of the rate of ``worst`` over that of ``best``.
        """
        certainty = np.abs(self.pairs.deviates)
        place = np.lexsort((-certainty, self.p_adjusted))[0]
        first, second = (
            self.labels[ends[place]] for ends in (self.pairs.first, self.pairs.second)
        )
        low, high = float(self.low[place]), float(self.high[place])
        worse = self.pairs.deviates[place] > 0
        if self.pairs.deviates[place] == 0:
            one, other = (
                self.rates[ends[place]]
                for ends in (self.pairs.first, self.pairs.second)
            )
            worse = one > other
        if not worse:
            first, second = second, first
            with np.errstate(divide="ignore"):
                low, high = float(1 / np.float64(high)), float(1 / np.float64(low))
        p = float(self.pairs.p_value[place]), float(self.p_adjusted[place])
        return first, second, *p, low, high

    def largest_ratio(self):
        """What is known of the largest ratio of two groups' rates.

        Returns
        -------
        low, high : floats, 1 at least
            The largest of the lower bounds, which hold all at once, and the largest of the
            upper bounds, which hold one by one.
        lowest, highest : tuples of labels
            The worse and the better group of the pair that either bound is of.
        """
        with np.errstate(divide="ignore"):
            lows = np.stack([self.low, 1 / self.high])
            highs = np.stack([self.pairs.near[1], 1 / self.pairs.near[0]])
        found = []
        for ends in (lows, highs):
            side, place = np.unravel_index(np.argmax(ends), ends.shape)
            both = self.pairs.first[place], self.pairs.second[place]
            groups = tuple(self.labels[g] for g in (both if side == 0 else both[::-1]))
            found.append((max(1.0, float(ends[side, place])), groups))
        (low, lowest), (high, highest) = found
        return low, high, lowest, highest

    def one_sided(self, confidence_level):
        """Lower and upper bounds of the groups' rates, each (n_groups,).

        The upper ones hold one by one, the lower ones all at once: with all upper ones
        within a limit all groups are, with one lower one above it some group is not.
        """
        n = len(self.labels)
        low = lower_bound(self.effective, confidence_level, n, self.share)
        return low, upper_bound(self.effective, confidence_level, self.share)


def judge(audited, sizes, confidence_level, seed, operating_points=("overall",)):
    """Judge all comparisons of several audits.

    Parameters
    ----------
    audited : list of AuditedROC
    sizes : list of int
        How many attributes each combines.
    confidence_level : float in (0, 1)
    seed : int
    operating_points : tuple of str, default=("overall",)
        "overall", and "worst_group" where a limit is about it.

    Returns
    -------
    judged : list of dict
        Of each audit (rate, operating point, level) -> Judged, where some group has pairs;
        levels in the order of the points.
    """
    combined = np.array(sizes) > 1
    mixed = combined.any() and not combined.all()
    judged = [{} for _ in audited]
    for of_combinations in sorted(set(combined.tolist())):
        share = SHARE_OF_COMBINATIONS if of_combinations else 1 - SHARE_OF_COMBINATIONS
        share = share if mixed else 1.0
        compared, cells, places = [], [], []
        for member in np.flatnonzero(combined == of_combinations):
            for rate, operating_point in product(RATES, operating_points):
                evidence, order = audited[member].evidence(rate, operating_point)
                if evidence is None:
                    continue
                for row, level in enumerate(order.tolist()):
                    compared.append(PairsOfGroups.of(evidence, row, confidence_level))
                    cells.append(influence_at(evidence, row))
                    key = (rate, operating_point, level)
                    places.append((member, key, evidence, row))
        together = judge_together(
            compared,
            cells,
            1 - share * (1 - confidence_level),
            np.random.default_rng([seed, int(of_combinations)]),
        )
        for pairs, adjusted, (member, key, evidence, row) in zip(
            compared, together.p_adjusted, places, strict=True
        ):
            judged[member][key] = Judged(
                [audited[member].label_of(scope) for scope in evidence.scopes],
                evidence.rate[row],
                pairs,
                np.minimum(adjusted / share, 1.0),
                *bounds(pairs.ratios, together.quantile),
                together.n_comparisons,
                evidence.effective.at(row),
                evidence.share[row],
                together.quantile,
            )
    return judged
