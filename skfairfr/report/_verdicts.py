"""Which groups are treated worse: each against the others, over rates, levels, attributes.

All tests of a report share one error rate: in a system that treats every group alike, the
nominal chance that any of them names a group is one minus the confidence level.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np

from skfairfr._core._jackknife import holm, rate_ends
from skfairfr._text._words import RATES
from skfairfr.metrics._roc._evidence import ComparedGroups

# Combinations of attributes have many cells: so much of the error rate is theirs, so that
# they cannot silence the attributes themselves.
SHARE_OF_COMBINATIONS = 0.2


@dataclass(frozen=True)
class Judged:
    """The groups of an attribute at one level, judged with all other tests of a report.

    Attributes
    ----------
    rate : {"far", "frr"}
    labels : list
        Groups that have pairs.
    compared : ComparedGroups
    p_adjusted : ndarray, shape (n_groups,)
        Of the hypothesis that a group has the same rate as the others; nan of a group that
        is compared with none.
    n_comparisons : int
        Number of tests of the whole report.
    confidence_level : float
    """

    rate: str
    labels: list
    compared: ComparedGroups
    p_adjusted: np.ndarray
    n_comparisons: int
    confidence_level: float

    @property
    def sums(self):
        """ErrorSums of the groups, each (n_groups,)."""
        return self.compared.sums

    @property
    def tail(self):
        """Chance of either end of an interval to miss."""
        return (1 - self.confidence_level) / 2

    def found(self):
        """The group with the highest rate, and those whose rate differs from the others'.

        Returns
        -------
        found : list of (int, bool)
            Positions of groups and whether the rate differs: first that of the highest rate,
            then the others that differ, higher rates before lower ones.
        """
        compared = np.flatnonzero(~np.isnan(self.p_adjusted))
        if not compared.size:
            return []
        rates, p = self.sums.rate, self.p_adjusted
        highest = int(compared[rates[compared].argmax()])
        differs = p <= 1 - self.confidence_level
        if self.compared.n_tests == 1:  # of two groups, both say the same
            return [(highest, bool(differs[highest]))]
        others = [g for g in np.flatnonzero(differs).tolist() if g != highest]
        higher = self.compared.tests.value > 0
        others.sort(key=lambda g: (not higher[g], p[g], self.compared.tests.p_value[g]))
        return [(highest, bool(differs[highest])), *((g, True) for g in others)]

    @property
    def compared_labels(self):
        """Groups that are compared with others."""
        return self.named(np.flatnonzero((self.compared.weights != 0).any(axis=1)))

    def named(self, places):
        """Labels of the groups at some positions."""
        return tuple(self.labels[g] for g in places)

    def against(self, place):
        """A group and the others, and what is known of the ratio of their rates.

        Returns
        -------
        group : label
        others : tuple of labels
        numbers : tuple of floats
            The ratio, its interval, the standard error of its logarithm, and the p-value of
            this comparison alone.
        """
        tests = self.compared.tests
        low, high = (float(end[place]) for end in tests.bounds(self.tail))
        others = self.named(np.flatnonzero(self.compared.weights[place] < 0))
        value = float(np.exp(tests.value[place]))
        error, p = float(tests.error[place]), float(tests.p_value[place])
        return self.labels[place], others, (value, low, high, error, p)

    def over_geomean(self, limit):
        """Bounds of the largest rate over the geometric mean of all.

        Returns
        -------
        low, high : floats, 1 at least
            ``low``, the largest of bounds that hold for all groups at once; ``high``, the
            largest of bounds each alone, one of which is that of the largest rate.
        groups : tuple of labels
            The group that the bound above the limit is of, or else the upper one.
        """
        weights = geomean_weights(self.sums)
        found = self.compared.contrasts(weights)
        low = found.bounds(self.tail / len(weights))[0]
        high = found.bounds(self.tail)[1]
        known = np.flatnonzero(self.sums.pairs > 0)
        place = int(np.argmax(low if low.max() > limit else high))
        ends = max(1.0, float(low.max())), max(1.0, float(high.max()))
        return *ends, self.named(known[[place]])

    def one_sided(self):
        """Lower and upper bounds of the groups' rates, each (n_groups,).

        The upper ones are those of the intervals of the rates, and hold one by one; the
        lower ones hold all at once, and are no larger. With all upper ones within a limit
        all groups are, with one lower one above it some group is not.
        """
        evidence, level = self.compared.evidence, self.compared.level
        tail = min(self.tail, 2 * self.tail / len(self.labels))
        low = rate_ends(self.sums, tail, evidence.added[level])[0]
        return low, evidence.bounds(self.tail)[1][level]


def geomean_weights(sums):
    """Of each group over the geometric mean of all that have pairs, (n_known, n_groups)."""
    known = np.flatnonzero(sums.pairs > 0)
    weights = np.zeros((known.size, sums.pairs.size))
    weights[:, known] = -1 / known.size
    weights[np.arange(known.size), known] += 1
    return weights


def judge(audited, sizes, confidence_level, operating_points=("overall",)):
    """Judge all comparisons of several audits.

    Parameters
    ----------
    audited : list of AuditedROC
    sizes : list of int
        How many attributes each combines.
    confidence_level : float in (0, 1)
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
        compared, places = [], []
        for member in np.flatnonzero(combined == of_combinations):
            for rate, operating_point in product(RATES, operating_points):
                evidence, order = audited[member].evidence(rate, operating_point)
                if evidence is None:
                    continue
                for row, level in enumerate(order.tolist()):
                    compared.append(ComparedGroups(evidence, row))
                    places.append((member, (rate, operating_point, level)))
        adjusted = _adjusted(compared)
        n_comparisons = sum(groups.n_tests for groups in compared)
        for groups, p, (member, key) in zip(compared, adjusted, places, strict=True):
            scopes = groups.evidence.scopes
            judged[member][key] = Judged(
                key[0],
                [audited[member].label_of(scope) for scope in scopes],
                groups,
                np.minimum(p / share, 1.0),
                n_comparisons,
                confidence_level,
            )
    return judged


def _adjusted(compared):
    """p-values of all groups, adjusted for the number of all tests; nan without a test."""
    found, tested = [], []
    for groups in compared:
        p = np.where((groups.weights != 0).any(axis=1), groups.tests.p_value, np.nan)
        found.append(p)
        # Of two groups there is one test.
        tested.append(p[~np.isnan(p)][: groups.n_tests])
    adjusted = iter(holm(np.concatenate([[], *tested])).tolist())
    for p, of_tests in zip(found, tested, strict=True):
        p[~np.isnan(p)] = [next(adjusted) for _ in of_tests]
    return found


def beyond_all_scores(everyone):
    """That a threshold accepts every pair, or none, which tells nothing; else empty.

    Parameters
    ----------
    everyone : GroupRates
        At the threshold.
    """
    rejected = np.array([1 - everyone.far.value, everyone.frr.value])
    for share, accepted in ((0, "every pair"), (1, "no pair")):
        if np.allclose(rejected, share, rtol=0, atol=1e-9):
            return f"the threshold lies beyond all scores: {accepted} is accepted"
    return ""
