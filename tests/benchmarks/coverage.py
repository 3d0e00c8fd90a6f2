"""How often verdicts are wrong, intervals hold and differences are found: the study.

``python -m tests.benchmarks.coverage`` draws data sets of synthetic people whose rates in
the population are known, asks the kernels of ``_few_errors`` and ``_family`` and the public
``compare`` and ``far_asymmetry`` about each, and prints tables with Monte-Carlo errors. Results are lines of JSON, one for each data set,
so that a run continues where one ended: ``--sets 1000 --jobs 2 --file coverage.jsonl``.
``--cells`` names some of the designs, ``--audit 100`` judges as many data sets of each by
``skfairfr.report.audit`` as well, and ``--tables`` prints what is there.

People are points of a sphere in 48 dimensions, everybody in a group moved in one direction,
with images around them; see :class:`Design`. The truth comes from integrals of the same
model, exact up to some 0.5 %.
"""

import argparse
import json
import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from scipy.optimize import brentq
from scipy.special import betainc, ndtri

from skfairfr._core._disparities import gini, max_geomean, max_min
from skfairfr._core._family import (
    bounds,
    deviates,
    draw_jointly,
    holm,
    p_values,
    ratios_of,
    shrunken_rates,
    step_down,
)
from skfairfr._core._few_errors import (
    ErrorSums,
    dependence,
    effective_errors,
    errors_by_person,
    genuine_sums,
    impostor_sums,
    influences,
    lower_bound,
    rate_interval,
    share_left,
    upper_bound,
    wilson_interval,
)
from skfairfr.metrics import SimilarityROC

DIMENSIONS = 48
LEVELS = np.array([1e-2, 1e-3])
BAND = np.geomspace(1e-3, 1e-2, 9)
STEP = 1.5  # between levels whose rates give a slope
RATES = ("far", "frr")
FINDINGS = tuple(f"{rate} {level:g}" for rate in RATES for level in LEVELS)
LIMITS = (1.25, 1.5, 2.0, 3.0)
# Limits on each group's rate, over the largest of the rates in truth.
RATE_LIMITS = (0.5, 0.8, 1.25, 2.0)
CONFIDENCE = 0.95
N_DRAWS = 2000
DISPARITIES = {"max_min": max_min, "max_geomean": max_geomean, "gini": gini}


@dataclass(frozen=True)
class Design:
    """People of some groups, and what is asked about them.

    Attributes
    ----------
    people : tuple of int
        Of each group.
    noise : float or tuple
        Of the images of a group, in units of the distance between people.
    direction : float or tuple
        How far a group is moved in a direction of its own: the larger, the higher its FAR.
    spread : float or tuple
        Standard deviation of the logarithm of the noise between people.
    images : tuple, or tuple of tuples
        Least and largest number of images of a person; ("heavy",) is log-normal.
    random : int
        How many random attributes of two groups there are, in place of the groups.
    """

    people: tuple
    noise: object = 0.7
    direction: object = 0.4
    spread: object = 0.3
    images: object = (2, 8)
    random: int = 0

    def of_groups(self, name):
        """A property as one value for each group."""
        value = getattr(self, name)
        one = not isinstance(value, tuple) or (
            name == "images" and not isinstance(value[0], tuple)
        )
        return [value] * len(self.people) if one else list(value)

    @property
    def kinds(self):
        """What makes rates differ, for each group."""
        names = ("noise", "direction", "spread")
        return list(zip(*map(self.of_groups, names), strict=True))


DESIGNS = {
    "2 x 100": Design((100, 100)),
    "2 x 30": Design((30, 30)),
    "2 x 300": Design((300, 300)),
    "4 x 50": Design((50,) * 4),
    "8 x 25": Design((25,) * 8),
    "8 x 60": Design((60,) * 8),
    "16 x 30": Design((30,) * 16),
    "200/100/40/20": Design((200, 100, 40, 20)),
    "30 and 300": Design((30, 300)),
    "12 and 200": Design((12, 200)),
    "5 and 100": Design((5, 100)),
    "3 random attributes": Design((200,), random=3),
    "2 x 100, few rejected": Design((100, 100), noise=0.45),
    "12 and 200, few rejected": Design((12, 200), noise=0.5),
    "2 x 150, 2 images": Design((150, 150), images=(2, 2)),
    "2 x 100, people vary more": Design((100, 100), spread=0.5),
    "2 x 100, images 2-40": Design((100, 100), images=("heavy",)),
    "100 and 40, images 2-3 and 6-14": Design((100, 40), images=((2, 3), (6, 14))),
    "2 x 100, noise .70/.75": Design((100, 100), noise=(0.7, 0.75)),
    "2 x 100, direction .40/.44": Design((100, 100), direction=(0.4, 0.44)),
    "2 x 60, noise .60/.85": Design((60, 60), noise=(0.6, 0.85)),
    "2 x 60, spread .15/.50": Design((60, 60), spread=(0.15, 0.5)),
    "4 x 50, one noise .80": Design((50,) * 4, noise=(0.7, 0.7, 0.7, 0.8)),
    "4 x 50, one direction .47": Design((50,) * 4, direction=(0.4, 0.4, 0.4, 0.47)),
    "8 x 60, noise and direction": Design(
        (60,) * 8,
        noise=(0.7,) * 6 + (0.75, 0.8),
        direction=(0.4,) * 6 + (0.5, 0.4),
    ),
    "12 and 200, noise .85/.70": Design((12, 200), noise=(0.85, 0.7)),
    "200/100/40/20, all differ": Design(
        (200, 100, 40, 20),
        noise=(0.7, 0.65, 0.75, 0.8),
        direction=(0.4, 0.45, 0.5, 0.5),
    ),
}
# Everybody's ROC with its band; two systems on the same people; probes and references.
BANDS = (
    "2 x 100",
    "2 x 30",
    "4 x 50",
    "2 x 100, few rejected",
    "2 x 60, spread .15/.50",
)
SYSTEMS = {
    "100 people": (100, 0.7),
    "200 people": (200, 0.7),
    "200 people, noise .70/.75": (200, 0.75),
}
SIDES = {"60 people": 60, "120 people": 120, "200 people": 200}


# Drawing


def draw(design, rng):
    """Images X, whose they are, groups and numbers of images of the people."""
    group = np.repeat(np.arange(len(design.people)), design.people)
    noise, direction, spread = np.array(design.kinds).T[:, group]
    centre = _unit(rng.standard_normal((group.size, DIMENSIONS)))
    centre[np.arange(group.size), group] += direction
    noise = noise * np.exp(spread * rng.standard_normal(group.size))
    n_images = numbers_of_images(design, group, rng)
    y = np.repeat(np.arange(group.size), n_images)
    return photograph(_unit(centre)[y], noise[y], rng), y, group, n_images


def numbers_of_images(design, group, rng):
    found = np.empty(group.size, dtype=np.int64)
    for g, span in enumerate(design.of_groups("images")):
        of_group = group == g
        n = np.count_nonzero(of_group)
        if span == ("heavy",):
            drawn = 2 + 2 * np.exp(rng.standard_normal(n))
            found[of_group] = np.minimum(drawn, 40)
        else:
            found[of_group] = rng.integers(span[0], span[1], n, endpoint=True)
    return found


def photograph(centre, noise, rng):
    shaken = rng.standard_normal(centre.shape) / np.sqrt(DIMENSIONS)
    return _unit(centre + noise[:, None] * shaken).astype(np.float32)


def _unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


# The truth


def truth(design, levels, n_drawn=400_000, n_quantiles=600, worst_group=False):
    """Rates of every group where the FAR over all pairs is a level, (n_levels, n_groups).

    With ``worst_group`` it is the largest of the groups' FARs that is the level. "cells" are
    the FARs of every two groups, (n_levels, n_groups, n_groups).

    Given how far two images lie in the direction of a group, their inner product is that
    of two uniform directions in the other dimensions; given a person's noise, so is that of
    two of her images.
    """
    rng = np.random.default_rng(20_000)
    kinds = design.kinds
    own, other, stays = {}, {}, {}
    for kind in dict.fromkeys(kinds):
        own[kind], other[kind] = _coordinates(kind, n_drawn, n_quantiles, rng)
        stays[kind] = _closeness(kind, 2 * n_drawn, rng)

    def far(g, h, threshold):
        x, z = own[kinds[g]], (own if g == h else other)[kinds[h]]
        return _above(x[:, None], z, threshold)

    weights = _pair_weights(design)

    def cells_at(threshold):
        known, cells = {}, np.empty((len(kinds),) * 2)
        for g, h in weights:
            key = (kinds[g], kinds[h], g == h)
            if key not in known:
                known[key] = far(g, h, threshold)
            cells[g, h] = cells[h, g] = known[key]
        return cells

    def met(threshold):
        cells = cells_at(threshold)
        if worst_group:
            return cells.diagonal().max()
        of_cells = [cells[pair] for pair in weights]
        return np.average(of_cells, weights=list(weights.values()))

    rates = {"far": [], "frr": [], "cells": []}
    for level in levels:
        threshold = brentq(lambda t, a=level: np.log(met(t) / a), 0.2, 0.7)
        rates["cells"].append(cells_at(threshold))
        rates["far"].append(rates["cells"][-1].diagonal())
        rates["frr"].append([1 - _above(*stays[kind], threshold) for kind in kinds])
    return {rate: np.array(found) for rate, found in rates.items()}


def _coordinates(kind, n_drawn, n_quantiles, rng):
    """Quantiles of an image's coordinate in its group's direction, and in another's."""
    noise, direction, spread = kind
    centre = _unit(rng.standard_normal((n_drawn, DIMENSIONS)))
    centre[:, 0] += direction
    noise = noise * np.exp(spread * rng.standard_normal(n_drawn))
    X = photograph(_unit(centre), noise, rng)
    middle = (np.arange(n_quantiles) + 0.5) / n_quantiles
    return np.quantile(X[:, 0], middle), np.quantile(X[:, 1], middle)


def _closeness(kind, n_drawn, rng):
    """Inner products of two images of a person with her centre."""
    noise = kind[0] * np.exp(kind[2] * rng.standard_normal(n_drawn))
    found = []
    for _ in range(2):
        along = 1 + noise * rng.standard_normal(n_drawn) / np.sqrt(DIMENSIONS)
        across = noise**2 * rng.chisquare(DIMENSIONS - 1, n_drawn) / DIMENSIONS
        found.append(along / np.sqrt(along**2 + across))
    return found


def _above(a, b, threshold):
    """Probability that a b + sqrt((1 - a^2)(1 - b^2)) u is above; u two directions' product."""
    u = (threshold - a * b) / np.sqrt((1 - a**2) * (1 - b**2))
    u = np.clip(u, -1, 1)
    half = betainc(0.5, (DIMENSIONS - 2) / 2, u**2) / 2
    return np.where(u >= 0, 0.5 - half, 0.5 + half).mean()


def _pair_weights(design):
    """Number of impostor pairs of every two groups, up to a factor."""
    mean = [
        np.minimum(2 + 2 * np.exp(np.random.default_rng(0).standard_normal(10**6)), 40)
        .astype(int)
        .mean()
        if span == ("heavy",)
        else (span[0] + span[1]) / 2
        for span in design.of_groups("images")
    ]
    n = design.people
    return {
        (g, h): mean[g] * mean[h] * (n[g] * (n[g] - 1) / 2 if g == h else n[g] * n[h])
        for g in range(len(n))
        for h in range(g, len(n))
    }


def _floor(S, y, n_held):
    """A score that at least ``n_held`` pairs of the upper triangle reach."""
    rows = np.linspace(0, y.size - 1, 200).astype(int)
    wanted = 1.3 * n_held / (y.size * (y.size - 1) / 2)
    floor = np.quantile(S[rows][y[rows, None] != y], 1 - wanted)
    while np.count_nonzero(S >= floor) < 2 * n_held + (y[:, None] == y).sum():
        floor -= 0.01
    return floor


# Measuring: what an engine does with sorted pairs


@dataclass
class Measured:
    """Effective errors of every rate, group and level, and people's influences on them."""

    errors: dict
    effective: dict
    share: dict
    rate: dict
    influence: np.ndarray
    threshold_influence: dict = field(default_factory=dict)


@dataclass
class SortedPairs:
    """Pairs of people, the erroneous first: accepted impostors, all genuine pairs."""

    left: np.ndarray
    right: np.ndarray
    scores: np.ndarray
    genuine_of: np.ndarray
    genuine_scores: np.ndarray
    n_images: np.ndarray

    @classmethod
    def of(cls, X, y, n_images, far_max):
        """Impostor pairs up to a FAR, genuine pairs in increasing order."""
        S = X @ X.T
        # Images come person by person: genuine pairs are next to the diagonal.
        steps = [np.flatnonzero(y[d:] == y[:-d]) for d in range(1, n_images.max())]
        genuine = np.concatenate(steps)
        other = np.concatenate([s + d for d, s in enumerate(steps, 1)])
        scores = S[genuine, other]
        order = np.argsort(scores, kind="stable")
        S[genuine, other] = -2
        n_held = int(far_max * (y.size**2 - (n_images**2).sum()) / 2) + 1
        # Both triangles, of which the upper one is kept; its genuine pairs are gone.
        above = np.flatnonzero(S.ravel() >= _floor(S, y, n_held))
        first, second = np.divmod(above, y.size)
        once = first < second
        first, second = first[once], second[once]
        found = S[first, second]
        ranks = np.argsort(-found, kind="stable")
        first, second = first[ranks], second[ranks]
        return cls(
            y[first],
            y[second],
            found[ranks],
            y[genuine[order]],
            scores[order],
            n_images,
        )

    def thresholds(self, levels):
        """Scores from which a pair is accepted, so that the FAR is each level."""
        n = self.n_images
        n_pairs = (n.sum() ** 2 - (n**2).sum()) / 2
        return self.scores[np.floor(levels * n_pairs).astype(int) - 1]

    def accepted(self, thresholds, inside=None):
        """ErrorSums and influences of the accepted pairs among some people."""
        n = self.n_images if inside is None else self.n_images * inside
        left, right, scores = self.left, self.right, self.scores
        if inside is not None:
            both = inside[left] & inside[right]
            left, right, scores = left[both], right[both], scores[both]
        positions = np.searchsorted(-scores, -thresholds, side="right")
        of_person, squares, _ = errors_by_person(left, right, None, positions, n.size)
        sized = np.concatenate([[0], np.cumsum(n[left] * n[right])])[positions]
        sizes = ((n**2).sum() ** 2 - (n**4).sum()) / 2
        pairs = n * (n.sum() - n)
        sums = impostor_sums(of_person, pairs, squares, sized, sizes)
        return sums, influences(of_person, pairs, ends=2)

    def rejected(self, thresholds, inside=None):
        """ErrorSums and influences of the rejected pairs of some people."""
        n = self.n_images if inside is None else self.n_images * inside
        who, scores = self.genuine_of, self.genuine_scores
        if inside is not None:
            who, scores = who[inside[who]], scores[inside[who]]
        positions = np.searchsorted(scores, thresholds, side="left")
        of_person, *_ = errors_by_person(who, who, None, positions, n.size)
        pairs = n * (n - 1) / 2
        return genuine_sums(of_person, pairs), influences(of_person, pairs)


def measure(X, y, n_images, groups, levels=LEVELS):
    """Rates of groups (masks over people) at the thresholds of levels, as Measured."""
    pairs = SortedPairs.of(X, y, n_images, 1.02 * STEP * levels.max())
    thresholds = pairs.thresholds(levels)
    sums, of_threshold = pairs.accepted(thresholds)
    variance = (sums.squares + sums.shared) / sums.errors**2
    found = Measured({}, {}, {}, {}, None)
    influence = []
    for rate in RATES:
        ask = pairs.accepted if rate == "far" else pairs.rejected
        cells = [ask(thresholds, inside) for inside in groups]
        of_groups = ErrorSums.of_groups([cell[0] for cell in cells])
        effective = effective_errors(of_groups, dependence(of_groups))
        around = [
            np.stack([ask(pairs.thresholds(a), g)[0].errors for g in groups], axis=-1)
            for a in (levels / STEP, levels * STEP)
        ]
        slope = np.log((around[1] + 0.5) / (around[0] + 0.5)) / (2 * np.log(STEP))
        together = np.stack([(i * of_threshold).sum(1) for _, i in cells], axis=-1)
        if rate == "far":
            counted = of_groups.errors * sums.errors[:, None]
            twice = np.where(counted > 0, of_groups.squares / np.maximum(counted, 1), 0)
            together = together - twice
        found.errors[rate] = of_groups.errors
        found.effective[rate] = effective
        found.rate[rate] = of_groups.rate
        found.share[rate] = share_left(effective, slope, variance[:, None], together)
        found.threshold_influence[rate] = [
            i - s[:, None] * of_threshold
            for (_, i), s in zip(cells, slope.T, strict=True)
        ]
        influence += [i[level] for level in range(levels.size) for _, i in cells]
    found.influence = np.array(influence)
    return found


# One data set


def judge(name, seed, true):
    """Everything that one data set of a design says, against the truth."""
    design = DESIGNS[name]
    rng = np.random.default_rng([seed, 1])
    X, y, group, n_images = draw(design, rng)
    attributes = [group]
    if design.random:
        attributes = list(rng.integers(0, 2, (design.random, group.size)))
    masks = [[of == g for g in np.unique(of)] for of in attributes]
    measured = [measure(X, y, n_images, groups) for groups in masks]
    first, second, cells = [], [], 0
    ratios, true_ratios = [], []
    for found, groups in zip(measured, masks, strict=True):
        g, h = np.triu_indices(len(groups), 1)
        for rate in RATES:
            for level in range(LEVELS.size):
                ratios.append(ratios_of(found.effective[rate].at(level), g, h))
                kept = true[rate][level]
                kept = np.repeat(kept, 2) if design.random else kept
                true_ratios.append(kept[g] / kept[h])
                first.append(cells + g)
                second.append(cells + h)
                cells += len(groups)
    found = np.array([deviates(r) for r in ratios])
    ends = np.concatenate(first), np.concatenate(second)
    influence = np.concatenate([m.influence for m in measured])
    draws = draw_jointly(influence, N_DRAWS, rng)
    adjusted, quantile = step_down(found.ravel(), *ends, draws, CONFIDENCE)
    verdicts = {
        "alone": p_values(found),
        "Holm": holm(p_values(found).ravel()).reshape(found.shape),
        "max-T": adjusted.reshape(found.shape),
        "in sequence": in_sequence(found, ends, draws),
    }
    true_ratios = np.array(true_ratios)
    right = np.sign(found) == np.sign(np.log(true_ratios))
    right &= np.abs(np.log(true_ratios)) > 0.01
    apart = [bounds(r, 1.959964) for r in ratios]
    jointly = [bounds(r, quantile) for r in ratios]
    low, high = (np.array([b[e] for b in apart]) for e in (0, 1))
    least, most = (np.array([b[e] for b in jointly]) for e in (0, 1))
    surely = np.maximum(least, 1 / np.maximum(most, 1e-300)).max(1)
    with np.errstate(divide="ignore"):
        largest = np.maximum(high, 1 / low).max(1)
    found_by = {
        method: [bool(worse) for worse in (p < 0.05).any(1)]
        for method, p in verdicts.items()
    }
    wrongly = {m: bool(((p < 0.05) & ~right).any()) for m, p in verdicts.items()}
    return {
        "found": found_by,
        "wrong": wrongly,
        "below": (high < true_ratios).mean(1).tolist(),
        "above": (low > true_ratios).mean(1).tolist(),
        "any_miss": bool(((least > true_ratios) | (most < true_ratios)).any()),
        "at_least": surely.tolist(),
        "at_most": np.minimum(largest, 1e9).tolist(),
        "rates": rates_missed(measured[0], true, design),
        "disparities": disparities(measured[0]),
        "logs": logs_of(measured[0]),
        **of_limits(measured[0]),
    }


def of_limits(measured):
    """Errors of the groups, and the bounds that limits on every group's rate are judged by."""
    ends = []
    for rate in RATES:
        effective, share = measured.effective[rate], measured.share[rate]
        low = lower_bound(effective, CONFIDENCE, effective.errors.shape[-1], share)
        ends.append((low, upper_bound(effective, CONFIDENCE, share)))
    return {
        "errors": np.concatenate([measured.errors[rate] for rate in RATES]).tolist(),
        "rate_at_least": np.concatenate([low.max(1) for low, _ in ends]).tolist(),
        "rate_at_most": np.concatenate([high.max(1) for _, high in ends]).tolist(),
    }


def logs_of(measured):
    """Logarithms of the groups' rates, half an effective error added, of every finding."""
    cells = [measured.effective[rate] for rate in RATES]
    return np.concatenate([np.log((e.errors + 0.5) / e.pairs) for e in cells]).tolist()


def in_sequence(found, ends, draws):
    """Adjusted p-values if a level is tested only where the one with more errors differs."""
    n_levels, n_pairs = LEVELS.size, found.shape[1]
    places = np.arange(found.size).reshape(-1, n_levels, n_pairs)
    # FAR has the most errors at the largest level, FRR at the smallest.
    for chain in range(1, len(places), 2):
        places[chain] = places[chain][::-1]
    p = np.empty((n_levels, len(places), n_pairs))
    for step in range(n_levels):
        rows = places[:, step].ravel()
        part = step_down(found.ravel()[rows], ends[0][rows], ends[1][rows], draws, 0.95)
        p[step] = part[0].reshape(len(places), n_pairs)
    p = np.maximum.accumulate(p, axis=0)
    result = np.empty(found.size)
    for step in range(n_levels):
        result[places[:, step].ravel()] = p[step].ravel()
    return result.reshape(found.shape)


def rates_missed(measured, true, design):
    """Whether the interval of each rate lies below, or above, the truth."""
    missed = {}
    for rate in RATES:
        low, high = rate_interval(
            measured.effective[rate], CONFIDENCE, measured.share[rate]
        )
        kept = np.repeat(true[rate], 2, axis=1) if design.random else true[rate]
        missed[rate] = [(high < kept).tolist(), (low > kept).tolist()]
    return missed


def disparities(measured):
    """Disparities of the rates as they are, and shrunken, of every finding."""
    found = []
    for rate in RATES:
        for level in range(LEVELS.size):
            raw = measured.rate[rate][level]
            shrunken = shrunken_rates(measured.effective[rate].at(level))
            with np.errstate(divide="ignore", invalid="ignore"):
                row = [
                    [float(f(rates)) for rates in (raw, shrunken)]
                    for f in DISPARITIES.values()
                ]
            found.append(np.nan_to_num(row, posinf=1e9).tolist())
    return found


def judge_band(name, seed, true):
    """Whether the band of everybody's ROC holds the truth at all levels."""
    rng = np.random.default_rng([seed, 2])
    X, y, group, n_images = draw(DESIGNS[name], rng)
    everybody = [np.ones(group.size, dtype=bool)]
    found = measure(X, y, n_images, everybody, BAND)
    influence = found.threshold_influence["frr"][0]
    spread = np.sqrt((influence**2).sum(1))
    varying = spread > 0
    quantile = 1.959964
    if varying.any():
        scaled = influence[varying] / spread[varying, None]
        draws = draw_jointly(scaled, N_DRAWS, rng)
        largest = np.abs(draws).max(1)
        quantile = max(quantile, float(np.quantile(largest, CONFIDENCE)))
    effective, share = found.effective["frr"], found.share["frr"]
    low, high = wilson_interval(effective, quantile, share)
    near = rate_interval(effective, CONFIDENCE, share)
    people = np.array(DESIGNS[name].people)
    true = (true["frr"] * people / people.sum()).sum(1)
    return {
        "band": [bool((high[:, 0] < true).any()), bool((low[:, 0] > true).any())],
        "pointwise": float(((near[0][:, 0] <= true) & (true <= near[1][:, 0])).mean()),
    }


def judge_systems(name, seed, true=None):
    """Whether ``compare`` finds that two systems differ in their FRR on the same people."""
    n_people, noise = SYSTEMS[name]
    rng = np.random.default_rng([seed, 3])
    design = Design((n_people,), direction=0.0)
    n_images = numbers_of_images(design, np.zeros(n_people, dtype=int), rng)
    y = np.repeat(np.arange(n_people), n_images)
    centre = _unit(rng.standard_normal((n_people, DIMENSIONS)))[y]
    own = np.exp(0.3 * rng.standard_normal(n_people))[y]
    shaken = rng.standard_normal((3, *centre.shape)) / np.sqrt(2 * DIMENSIONS)
    first, second = (
        _fitted(_unit(centre + size * own[:, None] * (shaken[0] + part)), y)
        for part, size in ((shaken[1], 0.7), (shaken[2], noise))
    )
    found = first.compare(second, far=LEVELS)
    return {"p": found.p_value.tolist()}


def judge_sides(name, seed, true=None):
    """Whether ``far_asymmetry`` finds that it matters which of two groups is the probe's."""
    n_people = SIDES[name]
    rng = np.random.default_rng([seed, 4])
    y = np.repeat(np.arange(n_people), 2)
    centre = _unit(rng.standard_normal((n_people, DIMENSIONS)))
    centre[:, 0] += 0.4
    noise = 0.7 * np.exp(0.3 * rng.standard_normal(n_people))
    probes, references = (photograph(centre[y], noise[y], rng) for _ in range(2))
    group = np.array(["even", "odd"])[y % 2]
    other = {
        "X_reference": references,
        "y_reference": y,
        "sensitive_features_reference": group,
    }
    roc = _fitted(probes, y, group, **other)
    return {"p": [float(roc.far_asymmetry(far=a).p_value[0]) for a in LEVELS]}


def _fitted(X, y, *groups, **other):
    """The estimator, whose tests need no replicates: the fewest are drawn."""
    roc = SimilarityROC(
        resample="identities",
        method="wilson",
        n_resamples=1,
        far_max=STEP * LEVELS.max(),
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return roc.fit(X.astype(np.float32), y, *groups, **other)


def judge_audit(name, seed, true=None):
    """What the package's own audit says of a data set."""
    from skfairfr.report import audit

    X, y, group, _ = draw(DESIGNS[name], np.random.default_rng([seed, 1]))
    labels = np.array([f"g{g:02d}" for g in group])[y]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = audit(X, y, labels, n_resamples=400, random_state=seed)
    order = [(r, i) for r in range(2) for i in range(LEVELS.size)]
    return {"found": [found.levels[i].findings[r].verdict == "worse" for r, i in order]}


PARTS = {
    "verdicts": (judge, tuple(DESIGNS)),
    "band": (judge_band, BANDS),
    "systems": (judge_systems, tuple(SYSTEMS)),
    "sides": (judge_sides, tuple(SIDES)),
    "audit": (judge_audit, tuple(n for n, d in DESIGNS.items() if not d.random)),
}
CHUNK = 20


# Running


def run(path, sizes, cells, n_jobs, pause=None):
    """Add what is missing to the file: ``sizes[part]`` data sets of each of the cells.

    No new data set begins while a file named ``pause`` exists.
    """
    lines = read(path)
    truths = {
        (line["part"], line["cell"]): line["true"]
        for line in lines
        if line["kind"] == "truth"
    }
    done = {
        (line["part"], line["cell"], line["seed"])
        for line in lines
        if line["kind"] == "set"
    }
    with path.open("a", encoding="utf-8") as file:
        for part, (function, names) in PARTS.items():
            for name in names:
                if cells and name not in cells:
                    continue
                seeds = [s for s in range(sizes[part]) if (part, name, s) not in done]
                if seeds and part in ("verdicts", "band"):
                    if (part, name) not in truths:
                        levels = LEVELS if part == "verdicts" else BAND
                        rates = truth(DESIGNS[name], levels)
                        kept = {rate: v.tolist() for rate, v in rates.items()}
                        truths[part, name] = kept
                        _write(file, kind="truth", part=part, cell=name, true=kept)
                true = {
                    rate: np.array(v)
                    for rate, v in truths.get((part, name), {}).items()
                }
                for start in range(0, len(seeds), CHUNK):
                    while pause is not None and pause.exists():
                        time.sleep(5)
                    chunk = seeds[start : start + CHUNK]
                    found = Parallel(n_jobs)(
                        delayed(function)(name, seed, true) for seed in chunk
                    )
                    for seed, result in zip(chunk, found, strict=True):
                        _write(
                            file,
                            kind="set",
                            part=part,
                            cell=name,
                            seed=seed,
                            said=result,
                        )


def read(path):
    """Lines of the file, none if there is none; a line cut short is left out."""
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    found = []
    for line in lines:
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError:
            print(f"left out: {line[:60]}")
    return found


def _write(file, **line):
    file.write(json.dumps(line) + "\n")
    file.flush()


# Tables


def tables(path):
    """Print what the file says, cell by cell."""
    lines = read(path)
    truths = {
        (line["part"], line["cell"]): line["true"]
        for line in lines
        if line["kind"] == "truth"
    }
    said = {}
    for line in lines:
        if line["kind"] == "set":
            said.setdefault((line["part"], line["cell"]), []).append(line["said"])
    verdicts = {c: found for (part, c), found in said.items() if part == "verdicts"}
    audits = {c: found for (part, c), found in said.items() if part == "audit"}
    true_of = {
        c: {r: np.array(v) for r, v in true.items()}
        for (part, c), true in truths.items()
        if part == "verdicts"
    }
    table_of_errors(verdicts)
    table_of_power(verdicts, audits, true_of)
    table_of_factors(verdicts)
    table_of_checks(verdicts, true_of)
    table_of_rate_limits(verdicts, true_of)
    table_of_rates(verdicts, true_of)
    table_of_disparities(verdicts, true_of)
    table_of_bands({c: v for (part, c), v in said.items() if part == "band"})
    for part, title in (
        (
            "systems",
            "Two systems on the same people: share of p < .05 for the FRR (equal but in the last)",
        ),
        ("sides", "far_asymmetry of symmetric groups: share of p < .05"),
    ):
        table_of_p_values({c: v for (p, c), v in said.items() if p == part}, title)


def share(values, axis=0):
    """Mean and its Monte-Carlo error in words."""
    values = np.asarray(values, dtype=float)
    mean, n = values.mean(axis), values.shape[axis]
    error = np.sqrt(np.maximum(mean * (1 - mean), 0.25 / n) / n)
    return (
        np.array2string(mean, precision=3, separator=" ")
        if mean.ndim
        else (f"{mean:.3f} ({error:.3f})")
    )


def table_of_errors(verdicts):
    print("\n## Any false 'is treated worse' in one audit, at .05 (Monte-Carlo error)")
    print("| design | data sets | each alone | Holm | max-T | in sequence |")
    print("|---|---|---|---|---|---|")
    for cell, found in verdicts.items():
        row = [
            share([f["wrong"][m] for f in found])
            for m in ("alone", "Holm", "max-T", "in sequence")
        ]
        print(f"| {cell} | {len(found)} | {' | '.join(row)} |")


def table_of_power(verdicts, audits, true_of):
    print("\n## Share of findings 'is treated worse':", ", ".join(FINDINGS))
    columns = (
        "each alone | Holm | max-T | in sequence | audit() | oracle | its error at 2/3"
    )
    print(f"| design | true ratios | {columns} |")
    print("|---" * 9 + "|")
    for cell, found in verdicts.items():
        ratios = true_largest(true_of[cell])
        if DESIGNS[cell].random or (ratios.max() < 1.01 and cell not in audits):
            continue
        row = [
            _row([f["found"][m] for f in found])
            for m in ("alone", "Holm", "max-T", "in sequence")
        ]
        own = _row([f["found"] for f in audits[cell]]) if cell in audits else "–"
        found_by, at_two_thirds = oracle([f["logs"] for f in found])
        ratios = " ".join(f"{r:.2f}" for r in ratios)
        last = f"{own} | {_row(found_by)} | {at_two_thirds:.3f}"
        print(f"| {cell} | {ratios} | {' | '.join(row)} | {last} |")


def oracle(logs):
    """What max-T would find if it knew all variances and correlations, for the power's bound.

    Parameters
    ----------
    logs : array-like, shape (n_sets, n_findings, n_groups)
        As :func:`logs_of` gives them.

    Returns
    -------
    found : ndarray of bool, shape (n_sets, n_findings)
        Whether any two groups differ at a family-wise error of .05.
    error : float
        The family-wise error, in groups that are alike, of the same tests of each finding at
        a level of its own, such that it is found two thirds as often as each alone.
    """
    logs = np.asarray(logs)
    n_sets, n_findings, n_groups = logs.shape
    cells = logs.reshape(n_sets, -1)
    rng = np.random.default_rng(0)
    apart = (cells - cells.mean(axis=0)) / np.sqrt(n_sets - 1)
    draws = draw_jointly(apart.T, N_DRAWS, rng)
    g, h = np.triu_indices(n_groups, 1)
    first, second = (
        np.add.outer(n_groups * np.arange(n_findings), ends).ravel() for ends in (g, h)
    )
    ratios = cells[:, first] - cells[:, second]
    spread = ratios.std(axis=0)
    found = ratios / spread
    p = np.array([step_down(z, first, second, draws, CONFIDENCE)[0] for z in found])
    largest = np.abs(found).reshape(n_sets, n_findings, -1).max(2)
    null = np.abs((draws[:, first] - draws[:, second]) / spread)
    null = null.reshape(len(draws), n_findings, -1).max(2)
    power = 2 / 3 * (largest > -ndtri((1 - CONFIDENCE) / 2)).mean(0)
    limits = [
        np.quantile(z, 1 - share) for z, share in zip(largest.T, power, strict=True)
    ]
    return (p < 0.05).reshape(n_sets, n_findings, -1).any(2), (null > limits).any(
        1
    ).mean()


def _row(values):
    return " ".join(f"{v:.3f}" for v in np.mean(np.asarray(values, dtype=float), 0))


def true_largest(true):
    """Largest ratio of two groups' rates in truth, of every finding."""
    return np.concatenate([true[r].max(1) / true[r].min(1) for r in RATES])


def table_of_factors(verdicts):
    print("\n## Coverage of factors, and how often any joint interval misses")
    print(f"| design | {' | '.join(FINDINGS)} | any of the joint ones misses |")
    print("|---" * (len(FINDINGS) + 2) + "|")
    for cell, found in verdicts.items():
        below = np.mean([f["below"] for f in found], 0).reshape(-1, len(FINDINGS))
        above = np.mean([f["above"] for f in found], 0).reshape(-1, len(FINDINGS))
        row = [f"{1 - m:.3f}" for m in (below + above).mean(0)]
        print(
            f"| {cell} | {' | '.join(row)} | {share([f['any_miss'] for f in found])} |"
        )


def table_of_checks(verdicts, true_of):
    print(
        "\n## Checks of max / min: false FAILED / false passed; FAILED of all that should"
    )
    print("| design | limit | " + " | ".join(FINDINGS) + " |")
    print("|---" * (len(FINDINGS) + 2) + "|")
    for cell, found in verdicts.items():
        if DESIGNS[cell].random:
            continue
        ratios = true_largest(true_of[cell])
        low = np.array([f["at_least"] for f in found])
        high = np.array([f["at_most"] for f in found])
        for limit in (*LIMITS, "the truth"):
            at = ratios if limit == "the truth" else np.full(ratios.size, limit)
            row = []
            for k, true in enumerate(ratios):
                failed, passed = (
                    (low[:, k] > at[k]).mean(),
                    (high[:, k] <= at[k]).mean(),
                )
                if limit == "the truth":
                    row.append(f"{failed:.3f} / {passed:.3f}")
                elif true > at[k]:
                    row.append(f"({failed:.2f}) / {passed:.3f}")
                else:
                    row.append(f"{failed:.3f} / ({passed:.2f})")
            print(f"| {cell} | {limit} | {' | '.join(row)} |")


def table_of_rate_limits(verdicts, true_of):
    print(
        "\n## Limits on each group's rate: false FAILED / false passed (right ones in brackets)"
    )
    print("| design | errors of a group | limit / largest rate | ", end="")
    print(" | ".join(FINDINGS) + " |")
    print("|---" * (len(FINDINGS) + 3) + "|")
    for cell, found in verdicts.items():
        true = np.concatenate([true_of[cell][r].max(1) for r in RATES])
        low, high = (
            np.array([f[name] for f in found])
            for name in ("rate_at_least", "rate_at_most")
        )
        errors = np.median([np.min(f["errors"], axis=1) for f in found], 0)
        errors = " ".join(f"{e:.0f}" for e in errors)
        for times in (*RATE_LIMITS, 1):
            failed, passed = (
                (low > times * true).mean(0),
                (high <= times * true).mean(0),
            )
            # A limit at the truth is the last to be kept and the first to be exceeded.
            failed = [f"({f:.2f})" if times < 1 else f"{f:.3f}" for f in failed]
            passed = [f"({p:.2f})" if times > 1 else f"{p:.3f}" for p in passed]
            row = [f"{f} / {p}" for f, p in zip(failed, passed, strict=True)]
            at = "the truth" if times == 1 else times
            print(f"| {cell} | {errors} | {at} | {' | '.join(row)} |")


def table_of_rates(verdicts, true_of):
    print(
        "\n## Coverage of groups' rates (missed below, above the truth), and mean errors"
    )
    for cell, found in verdicts.items():
        design = DESIGNS[cell]
        kinds = list(
            zip(design.people, design.of_groups("images"), design.kinds, strict=True)
        )
        print(f"{cell}, {len(found)} data sets")
        for kind in dict.fromkeys(kinds):
            of_kind = [g for g, k in enumerate(kinds) if k == kind]
            row = []
            for rate in RATES:
                missed = np.mean([f["rates"][rate] for f in found], 0)
                missed = missed[:, :, of_kind].mean(2)
                for level in range(LEVELS.size):
                    below, above = missed[:, level]
                    row.append(f"{1 - below - above:.3f} ({below:.3f} {above:.3f})")
            true = [
                float(true_of[cell][r][i, of_kind[0]]) for r in RATES for i in (0, 1)
            ]
            errors = np.mean([f["errors"] for f in found], 0)
            words = ", ".join(f"{r:.4g}" for r in true)
            words += "; errors " + ", ".join(
                f"{e:.0f}" for e in errors[:, of_kind].mean(1)
            )
            print(f"  {kind[0]} people, rates {words}: " + " | ".join(row))


def table_of_disparities(verdicts, true_of):
    print("\n## Disparities, medians: truth / of the rates / of the shrunken rates")
    print("| design | finding | " + " | ".join(DISPARITIES) + " |")
    print("|---|---|---|---|---|")
    for cell, found in verdicts.items():
        if DESIGNS[cell].random:
            continue
        middle = np.median([f["disparities"] for f in found], 0)
        for k, finding in enumerate(FINDINGS):
            rates = true_of[cell][RATES[k // LEVELS.size]][k % LEVELS.size]
            row = [
                f"{float(f(rates)):.3f} / {middle[k][d][0]:.3f} / {middle[k][d][1]:.3f}"
                for d, f in enumerate(DISPARITIES.values())
            ]
            print(f"| {cell} | {finding} | {' | '.join(row)} |")


def table_of_bands(bands):
    print(
        "\n## Band of the ROC: holds everywhere; misses below, above the truth; pointwise"
    )
    for cell, found in bands.items():
        missed = np.array([f["band"] for f in found])
        near = np.mean([f["pointwise"] for f in found])
        print(
            f"| {cell} | {len(found)} | {share(~missed.any(1))} | "
            f"{missed.mean(0).round(3)} | {near:.3f} |"
        )


def table_of_p_values(found, title):
    print(f"\n## {title}, at FAR {LEVELS.tolist()}")
    for cell, said in found.items():
        rejected = np.array([f["p"] for f in said]) < 0.05
        row = [share(rejected[:, level]) for level in range(LEVELS.size)]
        print(f"| {cell} | {len(said)} | {' | '.join(row)} |")


def main():
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.coverage",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--sets", type=int, default=400, help="data sets of a cell")
    parser.add_argument("--audit", type=int, default=0, help="of them, by audit()")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--file", type=Path, default=Path("coverage.jsonl"))
    parser.add_argument("--cells", nargs="*", default=[])
    parser.add_argument("--parts", nargs="*", default=list(PARTS), choices=list(PARTS))
    parser.add_argument("--pause", type=Path, help="wait while this file exists")
    parser.add_argument("--tables", action="store_true", help="print them and no more")
    asked = parser.parse_args()
    if not asked.tables:
        sizes = {part: asked.sets if part in asked.parts else 0 for part in PARTS}
        sizes["audit"] = min(sizes["audit"], asked.audit)
        run(asked.file, sizes, asked.cells, asked.jobs, asked.pause)
    tables(asked.file)


if __name__ == "__main__":
    main()
