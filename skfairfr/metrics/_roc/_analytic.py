"""Intervals and tests of ``method="wilson"``: from evidence, without replicates.

Rates take Wilson's interval, ratios of two groups the F distribution, and max / min the
pairwise ratios. Other disparities keep the interval of their replicates as far as it agrees
with that of max / min.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import vstack
from scipy.special import ndtri

from skfairfr._core._family import (
    Ratios,
    bounds,
    deviates,
    draw_jointly,
    p_values,
    ratios_of,
    shrunken_rates,
    step_down,
)
from skfairfr._core._few_errors import rate_interval, wilson_interval

# Normal draws behind adjusted p-values and bounds, and the least where comparisons are many.
N_DRAWS = 10_000
FEWEST_DRAWS = 1_000
# Comparisons times draws that one family takes at most.
MOST_WORK = 2**30


@dataclass(frozen=True)
class PairsOfGroups:
    """Ratios of the rates of every two scopes at one level.

    Attributes
    ----------
    first, second : ndarrays of int, shape (n_comparisons,)
        Positions of the scopes in the evidence.
    ratios : Ratios
    deviates, p_value : ndarrays, shape (n_comparisons,)
        Of the test that the two rates are equal, two-sided.
    near : tuple of two ndarrays
        Ends of the interval of each ratio on its own.
    """

    first: np.ndarray
    second: np.ndarray
    ratios: Ratios
    deviates: np.ndarray
    p_value: np.ndarray
    near: tuple

    @classmethod
    def of(cls, evidence, level, confidence_level):
        """Every two scopes of the evidence at a level."""
        first, second = np.triu_indices(len(evidence.scopes), 1)
        ratios = ratios_of(evidence.effective.at(level), first, second)
        found = deviates(ratios)
        near = bounds(ratios, quantile_of(confidence_level))
        return cls(first, second, ratios, found, p_values(found), near)


@dataclass(frozen=True)
class Together:
    """Comparisons judged as one family.

    Attributes
    ----------
    p_adjusted : list of ndarrays
        Of each PairsOfGroups, in their order.
    quantile : float
        With which the bounds of all ratios hold together.
    n_comparisons : int
    """

    p_adjusted: list
    quantile: float
    n_comparisons: int


def quantile_of(confidence_level):
    """Two-sided standard normal quantile."""
    return float(-ndtri((1 - confidence_level) / 2))


def judge_together(compared, cells, confidence_level, generator):
    """Adjust all comparisons for their number and their dependence.

    Parameters
    ----------
    compared : list of PairsOfGroups
    cells : list of sparse arrays, each (n_scopes, n_people)
        Influences on the logarithms of the rates that each of them compares.
    confidence_level : float in (0, 1)
        With which no true null hypothesis of all is rejected.
    generator : numpy.random.Generator

    Returns
    -------
    together : Together
    """
    sizes = [pairs.first.size for pairs in compared]
    n_comparisons = sum(sizes)
    if n_comparisons == 0:
        return Together([np.empty(0) for _ in sizes], quantile_of(confidence_level), 0)
    starts = np.cumsum([0, *(cell.shape[0] for cell in cells)])[:-1]
    first, second = (
        np.concatenate([s + end for s, end in zip(starts, ends, strict=True)])
        for ends in ([p.first for p in compared], [p.second for p in compared])
    )
    n_draws = int(np.clip(MOST_WORK // n_comparisons, FEWEST_DRAWS, N_DRAWS))
    draws = draw_jointly(vstack(cells, format="csr"), n_draws, generator)
    found = np.concatenate([pairs.deviates for pairs in compared])
    adjusted, quantile = step_down(found, first, second, draws, confidence_level)
    ends = np.cumsum(sizes)[:-1]
    return Together(np.split(adjusted, ends), quantile, n_comparisons)


def influence_at(evidence, level):
    """Influences on the rates of all scopes at a level, sparse (n_scopes, n_people)."""
    return vstack([found[[level]] for found in evidence.influence], format="csr")


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


def analyse(evidence, question, confidence_level, entropy):
    """Intervals, bias-corrected values and p-values of a question.

    Parameters
    ----------
    evidence : Evidence
        About the question's levels, of the scopes that it is about at least.
    question : Question
    confidence_level : float in (0, 1)
    entropy : int
        Seed of the draws behind max / min.

    Returns
    -------
    found : Analytic
    """
    n_levels = evidence.share.shape[0]
    nan = np.full(n_levels, np.nan)
    if question.how is None:
        place = place_of(evidence, question.scope)
        if place is None:
            return Analytic.of_ends(nan, nan)
        low, high = rate_interval(
            evidence.effective.columns([place]),
            confidence_level,
            evidence.share[:, [place]],
        )
        return Analytic.of_ends(low[:, 0], high[:, 0])
    if len(evidence.scopes) < 2:
        return Analytic(None, None, nan, nan)
    if question.picked:
        return _signed_ratio(evidence, question.picked, confidence_level)
    low, high, corrected, p_value = (nan.copy() for _ in range(4))
    for level in range(n_levels):
        pairs, together = _of_one_level(evidence, level, confidence_level, entropy)
        p_value[level] = together.p_adjusted[0].min()
        rates = shrunken_rates(evidence.effective.at(level))
        corrected[level] = question.how.function(rates)
        low[level], high[level] = ends_of_largest(pairs, together.quantile)
    low, high = (
        _range_of_end(evidence, question.how, end, confidence_level)
        for end in (low, high)
    )
    return Analytic(low, high, corrected, p_value)


def _range_of_end(evidence, how, ratio, confidence_level):
    """Where an end of a disparity's interval can lie, from that of max / min.

    No rates have that max / min and a disparity beyond: so the intervals of all
    disparities say alike whether groups differ.

    Parameters
    ----------
    evidence : Evidence
    how : DisparityMeasure
    ratio : ndarray, shape (n_levels,)
        The end of the interval of max / min.
    confidence_level : float in (0, 1)

    Returns
    -------
    least, most : ndarrays, shape (n_levels,), or None
    """
    if how.range_of is None:
        return None
    least, most = how.range_of(1 / ratio, len(evidence.scopes))
    if how.in_rates:
        ends = rate_interval(evidence.effective, confidence_level, evidence.share)
        low, high = (end.max(axis=-1) for end in ends)
        least, most = low * least, high * most
    return least, most


def _of_one_level(evidence, level, confidence_level, entropy):
    """Every two groups at a level, judged together; kept for the next disparity."""
    key = (level, confidence_level, entropy)
    if key not in evidence.judged:
        pairs = PairsOfGroups.of(evidence, level, confidence_level)
        cells = [influence_at(evidence, level)]
        # The same draws at all levels: no answer depends on what else is asked.
        generator = np.random.default_rng(entropy)
        together = judge_together([pairs], cells, confidence_level, generator)
        evidence.judged[key] = pairs, together
    return evidence.judged[key]


def place_of(evidence, scope):
    """Position of a scope in the evidence, or of (h, g) for (g, h); None without pairs."""
    for same in (scope, scope and scope[::-1]):
        if same in evidence.scopes:
            return evidence.scopes.index(same)
    return None


def band(evidence, scope, confidence_level, entropy):
    """Wilson's intervals of a rate that hold at all levels at once.

    The quantile is that of the largest of the levels' deviates, from normal draws that
    share people's influences on the rates and on the thresholds.

    Returns
    -------
    low, high : ndarrays, shape (n_levels,)
    """
    place = place_of(evidence, scope)
    if place is None:
        return (np.full(evidence.share.shape[0], np.nan),) * 2
    influence = evidence.with_threshold(place)
    spread = np.sqrt((influence**2).sum(axis=1))
    varying = spread > 0
    quantile = quantile_of(confidence_level)
    if varying.any():
        generator = np.random.default_rng([entropy, evidence.share.shape[0]])
        scaled = influence[varying] / spread[varying, None]
        draws = np.abs(draw_jointly(scaled, N_DRAWS, generator)).max(axis=1)
        quantile = max(quantile, float(np.quantile(draws, confidence_level)))
    of_scope = evidence.effective.columns([place])
    ends = wilson_interval(of_scope, quantile, evidence.share[:, [place]])
    return tuple(end[:, 0] for end in ends)


def ends_of_largest(pairs, quantile):
    """Ends of the interval of the largest ratio of two rates, 1 at least.

    It is at least the largest of the lower bounds that hold together, and at most the
    largest of the upper bounds that hold one by one.
    """
    least, most = bounds(pairs.ratios, quantile)
    with np.errstate(divide="ignore"):
        low = max(1.0, float(least.max()), float((1 / most).max()))
        high = max(float(pairs.near[1].max()), float((1 / pairs.near[0]).max()))
    return low, high


def _signed_ratio(evidence, picked, confidence_level):
    """The second rate over the first, as ``how=("ratio", first, second)`` asks."""
    n_levels = evidence.share.shape[0]
    nan = np.full(n_levels, np.nan)
    scopes = [(g, g) for g in picked]
    if any(scope not in evidence.scopes for scope in scopes):
        return Analytic(None, None, nan, nan)
    second, first = ([evidence.scopes.index(scope)] for scope in scopes)
    low, high, p_value = nan.copy(), nan.copy(), nan.copy()
    for level in range(n_levels):
        ratios = ratios_of(
            evidence.effective.at(level), np.array(first), np.array(second)
        )
        ends = bounds(ratios, quantile_of(confidence_level))
        low[level], high[level] = (end[0] for end in ends)
        p_value[level] = p_values(deviates(ratios))[0]
    return Analytic.of_ends(low, high, nan, p_value)
