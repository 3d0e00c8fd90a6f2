"""Intervals and tests of ``method="wilson"``: from evidence, without replicates.

Rates, ratios of two groups and max / min take the bounds of ``_core._few_errors``. Other
disparities keep the interval of their replicates as far as it agrees with that of max / min.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from skfairfr._core._few_errors import (
    against_others,
    contrasts,
    every_two,
    number_of_tests,
    shrunken_rates,
)


@dataclass(frozen=True)
class ComparedGroups:
    """The groups of an evidence, each against the others, at one level.

    Attributes
    ----------
    evidence : Evidence
    level : int
    """

    evidence: object
    level: int

    @cached_property
    def sums(self):
        """ErrorSums of the level, each (n_groups,)."""
        return self.evidence.sums.rows(self.level)

    @cached_property
    def weights(self):
        """Of each group against the others, (n_groups, n_groups)."""
        return against_others(self.sums)

    @cached_property
    def tests(self):
        """Contrasts of each group against the geometric mean of the others."""
        return self.contrasts(self.weights)

    @property
    def n_tests(self):
        """Number of different hypotheses."""
        return number_of_tests(self.weights)

    @property
    def p_value(self):
        """Of the hypothesis that all groups have the same rate; nan without two groups."""
        if not self.n_tests:
            return np.nan
        return float(np.minimum(self.n_tests * self.tests.p_value.min(), 1.0))

    def contrasts(self, weights):
        """Contrasts of the logarithms of the rates, (n_contrasts, n_groups)."""
        return contrasts(
            self.sums, weights, self.evidence.added_to(self.level, weights)
        )

    def largest_ratio(self, tail):
        """Lower and upper bound of the largest ratio of two rates, each one-sided.

        Returns
        -------
        low, high : floats, 1 at least
            ``low`` is above 1 if the rate of some group differs from that of the others,
            and then the largest of all bounds that hold together; ``high`` is the largest
            of the bounds of two groups, of which one is that of the largest ratio. NaN
            without two groups.
        lowest, highest : tuples of int
            Positions of the groups that either bound is of: the worse, and the better ones.
        """
        if not self.n_tests:
            return np.nan, np.nan, (), ()
        low, high = self.tests.bounds(tail / self.n_tests)
        # The largest rate is no less than a group's, and the least no more than the mean.
        ends = np.fmax(low, 1 / np.where(high > 0, high, np.inf))
        place = int(np.nanargmax(ends))
        found, weights = float(ends[place]), self.weights[place]
        lowest = weights if low[place] >= found else -weights
        most, highest = 0.0, lowest
        differs, n_pairs = found > 1, self.n_tests * (self.n_tests - 1) / 2
        for block in every_two(self.sums):
            pairs = self.contrasts(block)
            above = pairs.bounds(tail)[1]
            if above.max() > most:
                most, highest = float(above.max()), block[np.argmax(above)]
            below = pairs.bounds(tail / max(n_pairs, 1))[0]
            if differs and below.max() > found:
                found, lowest = float(below.max()), block[np.argmax(below)]
        alone = (self.sums.pairs > 0) & (self.weights == 0).all(axis=1)
        if alone.any():  # one person does not bound a group's rate
            most = np.inf
        return max(1.0, found), max(1.0, most), _ends_of(lowest), _ends_of(highest)


def _ends_of(weights):
    """Positions of the groups above 0 and below, of one contrast."""
    return tuple(np.flatnonzero(weights > 0)), tuple(np.flatnonzero(weights < 0))


@dataclass(frozen=True)
class Analytic:
    """Answers to a question from evidence, each (n_levels,).

    Attributes
    ----------
    low, high : tuples of two ndarrays, or None
        Least and largest possible place of either end of the interval, the same where
        evidence gives the end; None where replicates alone give it.
    corrected : ndarray
        Disparity of shrunken rates, from which the upward bias is removed; None of a rate.
    p_value : ndarray
        Of a disparity: that all groups have the same rate in the population. None of a rate.
    """

    low: tuple | None
    high: tuple | None
    corrected: np.ndarray | None
    p_value: np.ndarray | None

    @classmethod
    def of_ends(cls, low, high, corrected=None, p_value=None):
        """From the ends of an interval."""
        return cls((low, low), (high, high), corrected, p_value)


def analyse(evidence, question, confidence_level):
    """Intervals, bias-corrected values and p-values of a question.

    Parameters
    ----------
    evidence : Evidence
        About the question's levels, of the scopes that it is about at least.
    question : Question
    confidence_level : float in (0, 1)

    Returns
    -------
    found : Analytic
    """
    n_levels = evidence.slope.shape[0]
    tail = (1 - confidence_level) / 2
    nan = np.full(n_levels, np.nan)
    if question.how is None:
        place = place_of(evidence, question.scope)
        if place is None:
            return Analytic.of_ends(nan, nan)
        return Analytic.of_ends(*(end[:, place] for end in evidence.bounds(tail)))
    if len(evidence.scopes) < 2:
        return Analytic(None, None, nan, nan)
    if question.picked:
        return _signed_ratio(evidence, question.picked, tail)
    low, high, corrected, p_value = (nan.copy() for _ in range(4))
    for level in range(n_levels):
        compared = ComparedGroups(evidence, level)
        low[level], high[level], *_ = compared.largest_ratio(tail)
        p_value[level] = compared.p_value
        rates = shrunken_rates(compared.sums)
        corrected[level] = question.how.function(rates)
        if np.ptp(rates) == 0 and not np.isnan(question.how.neutral):
            corrected[level] = question.how.neutral
    ends = evidence.bounds(tail) if question.how.in_rates else ()
    low, high = (
        _range_of_end(question.how, end, len(evidence.scopes), ends)
        for end in (low, high)
    )
    return Analytic(low, high, corrected, p_value)


def _range_of_end(how, ratio, n_groups, ends):
    """Where an end of a disparity's interval can lie, from that of max / min.

    No rates have that max / min and a disparity beyond: so the intervals of all
    disparities say alike whether groups differ.

    Parameters
    ----------
    how : DisparityMeasure
    ratio : ndarray, shape (n_levels,)
        The end of the interval of max / min.
    n_groups : int
    ends : tuple of two ndarrays, shape (n_levels, n_groups)
        Those of the rates' intervals, of a disparity in rates.

    Returns
    -------
    least, most : ndarrays, shape (n_levels,), or None
    """
    if how.range_of is None:
        return None
    least, most = how.range_of(1 / ratio, n_groups)
    if how.in_rates:
        low, high = (end.max(axis=-1) for end in ends)
        least, most = low * least, high * most
    return least, most


def place_of(evidence, scope):
    """Position of a scope in the evidence, or of (h, g) for (g, h); None without pairs."""
    for same in (scope, scope and scope[::-1]):
        if same in evidence.scopes:
            return evidence.scopes.index(same)
    return None


def _signed_ratio(evidence, picked, tail):
    """The second rate over the first, as ``how=("ratio", first, second)`` asks."""
    n_levels = evidence.slope.shape[0]
    nan = np.full(n_levels, np.nan)
    scopes = [(g, g) for g in picked]
    if any(scope not in evidence.scopes for scope in scopes):
        return Analytic(None, None, nan, nan)
    second, first = (evidence.scopes.index(scope) for scope in scopes)
    weights = np.zeros((1, len(evidence.scopes)))
    weights[0, first], weights[0, second] = 1.0, -1.0
    low, high, p_value = nan.copy(), nan.copy(), nan.copy()
    for level in range(n_levels):
        found = ComparedGroups(evidence, level).contrasts(weights)
        low[level], high[level] = (end[0] for end in found.bounds(tail))
        p_value[level] = found.p_value[0]
    return Analytic.of_ends(low, high, nan, p_value)
