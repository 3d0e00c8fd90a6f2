"""Which groups have another rate than the reference, over rates, levels and attributes.

All tests of a report share one error rate: if all groups have the same rates, the nominal
chance that any of them names a group is one minus the confidence level.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

import numpy as np

from skfairfr._core._jackknife import holm, rate_ends
from skfairfr._core._kinds import COMPARISONS
from skfairfr._text._words import RATES
from skfairfr.metrics._roc._evidence import ComparedGroups

# Share of the error rate for combinations of attributes, which have many cells: tests of the
# attributes themselves stay at 80 % of their level, however many cells there are. Families
# with shares that add up to 1 keep the error rate together (Bonferroni).
SHARE_OF_COMBINATIONS = 0.2
# By whether tests are of combinations, if a report has both. Adjusted p-values are divided by it.
SHARES = {True: SHARE_OF_COMBINATIONS, False: 1 - SHARE_OF_COMBINATIONS}
# Share of the error rate of the sentences about all groups, in addition to that of naming one.
# With it, hard cells of docs.studies.coverage (table "overall") stay at false statements in
# 0.085 of data sets. With 0.5 they reached 0.105.
SHARE_OF_OVERALL = 0.2


@dataclass(eq=False)
class GroupTests:
    """The groups of an attribute at one level, judged with all other tests of a report.

    Attributes
    ----------
    rate : {"far", "frr"}
    labels : list
        Groups that have pairs.
    compared : ComparedGroups
    reference : int
        Position of the group that the others are compared with.
    confidence_level : float
    p_adjusted : ndarray, shape (n_groups,)
        Of the hypothesis that a group has the same rate as the reference. NaN of a group
        that is not compared.
    p_others : ndarray, shape (n_groups,)
        The same of the geometric mean of all other groups, or nan without three groups.
    n_comparisons : int
        Number of tests of the whole report.
    sums : ErrorSums
        Of the groups, each (n_groups,).
    tail : float
        Chance of either end of an interval to miss.
    """

    rate: str
    labels: list
    compared: ComparedGroups
    reference: int
    confidence_level: float
    p_adjusted: np.ndarray = field(init=False)
    p_others: np.ndarray = field(init=False)
    n_comparisons: int = 0

    def __post_init__(self):
        self.p_adjusted, self.p_others = np.full((2, len(self.labels)), np.nan)
        self.sums, self.tail = self.compared.sums, (1 - self.confidence_level) / 2

    @cached_property
    def tests(self):
        """Contrasts of each group over the reference. All weights 0 of what is not compared."""
        compared = self.sums.is_known & (np.arange(len(self.labels)) != self.reference)
        weights = np.diag(compared.astype(np.float64))
        weights[compared, self.reference] = -1.0
        return self.compared.contrasts(weights)

    @property
    def compared_groups(self):
        """Positions of the groups that are compared, the largest ratio first."""
        places = np.flatnonzero((self.tests.weights != 0).any(axis=1))
        return places[np.argsort(-self.tests.value[places], kind="stable")].tolist()

    def named(self, places):
        """Labels of the groups at some positions."""
        return tuple(self.labels[g] for g in places)

    def against(self, place, tests=None):
        """Results on the ratio of a group's rate and that of the reference.

        Parameters
        ----------
        place : int
        tests : Contrasts, default=None
            Others than those against the reference.

        Returns
        -------
        numbers : tuple of floats
            The ratio, its interval, the standard error of its logarithm, and the p-value of
            this comparison alone.
        """
        tests = tests or self.tests
        value, ends = np.exp(tests.value[place]), tests.bounds(self.tail)
        more = tests.error[place], tests.p_value[place]
        return tuple(map(float, (value, *(end[place] for end in ends), *more)))

    def over_geomean(self, limit):
        """Bounds of the largest rate over the geometric mean of all.

        Returns
        -------
        low, high : floats, 1 at least
            ``low``, the largest of bounds that are valid for all groups at once. ``high``, the
            largest of bounds each alone, one of which is that of the largest rate.
        groups : tuple of labels
            The group that the bound above the limit is of, or else the upper one.
        """
        (found,) = self.compared.of_disparity("max_geomean")
        known = np.flatnonzero(self.sums.pairs > 0)
        low, high = found.bounds(self.tail / known.size)[0], found.bounds(self.tail)[1]
        # One person does not bound a group's rate.
        low, high = np.nan_to_num(low), np.where(np.isnan(high), np.inf, high)
        place = int(np.argmax(low if low.max() > limit else high))
        ends = max(1.0, float(low.max())), max(1.0, float(high.max()))
        return *ends, self.named(known[[place]])

    def one_sided(self):
        """Lower and upper bounds of the groups' rates, each (n_groups,).

        The upper ones are those of the intervals of the rates, each valid alone. The
        lower ones are valid together, and are no larger. With all upper ones within a limit
        all groups are, with one lower one above it some group is not.
        """
        evidence, level = self.compared.evidence, self.compared.level
        tail = min(self.tail, 2 * self.tail / len(self.labels))
        low = rate_ends(self.sums, tail, evidence.added[level])[0]
        return low, evidence.bounds(self.tail)[1][level]


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
        Of each audit (rate, operating point, level) -> GroupTests, where some group has pairs.
        Levels in the order of the points.
    """
    combined = np.array(sizes) > 1
    families = set(combined.tolist())
    judged = [{} for _ in audited]
    for of_combinations in sorted(families):
        share = SHARES[of_combinations] if len(families) > 1 else 1.0
        family = []
        for member in np.flatnonzero(combined == of_combinations):
            one = audited[member]
            for rate, operating_point in product(RATES, operating_points):
                evidence, order = one.evidence(rate, operating_point)
                if evidence is None:
                    continue
                labels = [one.labels[one.scopes.index(s)] for s in evidence.scopes]
                places = [labels.index(g) for g in one.references if g in labels]
                for row, level in enumerate(order.tolist()):
                    compared = evidence.compared[row]
                    # The first in the order of references that has pairs of two people.
                    known = (p for p in places if compared.sums.is_known[p])
                    about = rate, labels, compared, next(known, 0)
                    of_level = GroupTests(*about, confidence_level)
                    family.append(of_level)
                    judged[member][rate, operating_point, level] = of_level
        _adjust(family, share)
    return judged


def _adjust(family, share):
    """Set the p-values of a family, adjusted for the number of all its tests.

    Those against the others, of three groups or more, are a family of their own with a smaller
    share. Each p-value is compared with one minus the confidence level.
    """
    several = [of for of in family if of.compared.n_tests > 1]
    asked = [(of.tests, of.p_adjusted) for of in family]
    others = [(of.compared.tests, of.p_others) for of in several]
    for members, of_error in ((asked, share), (others, share * SHARE_OF_OVERALL)):
        tested = [(tests.weights != 0).any(axis=1) for tests, _ in members]
        p = [tests.p_value[of] for (tests, _), of in zip(members, tested, strict=True)]
        adjusted = np.minimum(holm(np.concatenate([[], *p])) / of_error, 1.0)
        ends = np.cumsum([*map(len, p)], dtype=int)
        split = np.split(adjusted, ends)[: len(p)]
        for (_, column), of, found in zip(members, tested, split, strict=True):
            column[of] = found
    n_tests = sum(len(of.compared_groups) for of in family)
    for of_level in family:
        of_level.n_comparisons = n_tests


def beyond_all_scores(everyone, terms=COMPARISONS):
    """A note that a threshold accepts every pair, or none, else empty.

    Parameters
    ----------
    everyone : GroupRates
        At the threshold.
    terms : Terms, default=COMPARISONS
    """
    rejected = np.array([1 - everyone.far.value, everyone.frr.value])
    for share, accepted in (
        (0, f"every {terms.trial} is accepted, the {terms.far.name} is 100 %"),
        (1, f"no {terms.trial} is accepted, the {terms.frr.name} is 100 %"),
    ):
        if np.allclose(rejected, share, rtol=0, atol=1e-9):
            return f"the threshold lies beyond all scores: {accepted}"
    if everyone.frr.value == 1 and everyone.far.value > 0:
        return (
            f"no {terms.frr.trial} is accepted, and some {terms.far.trials} are: the labels "
            "may be wrong"
        )
    return ""
