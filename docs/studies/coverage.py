"""How often verdicts are wrong, intervals hold and differences are found: the study.

``python -m docs.studies.coverage --sets 2000 --audits 300`` prints the tables of the
user guide; ``.ci/nightly`` runs it with fewer. ``--tables`` and ``--cells`` name some.

*Counts* are errors of groups of people from a model whose rates are known, judged by the
functions that an audit uses. *Audits* are whole audits of embeddings and of scored pairs,
whose thresholds are set on the data.
"""

import argparse
import math
import warnings
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from joblib import Parallel, delayed
from numba import njit
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from skfairfr._core._error_counts import NUMBERS, errors_by_person
from skfairfr._core._jackknife import (
    Contrasts,
    ErrorSums,
    against_others,
    genuine_sums,
    holm,
    impostor_sums,
    never_falling,
    rate_ends,
)
from skfairfr.metrics import SimilarityROC
from skfairfr.report import audit, compare_systems
from skfairfr.report._data import EmbeddingData
from skfairfr.report._verdicts import SHARE_OF_OVERALL

CONFIDENCE = 0.95
TAIL = (1 - CONFIDENCE) / 2
RATES = ("far", "frr")
# How many times a group's own rate a worse group has, where power is asked for.
WORSE = {"far": 2.0, "frr": 1.5}
# Up to how many times its rate a group's accepted pairs are known, by their scores.
LOOSER = 8.0
# What the errors of a wolf are multiplied by, and a goat's scores lowered by.
WOLF, GOAT = 6.0, 1.5


# Counts


@dataclass(frozen=True)
class Group:
    """People of one group, of known rates.

    Attributes
    ----------
    people, images : int
        Images are of each person.
    far, frr : float
        True rates.
    genuine : float
        Share of the variance of genuine scores by person.
    person, couple : float
        Shares of the variance of impostor scores by persons, and by every two people. If
        ``log``, standard deviations of the logarithms of a person's and a couple's factor.
    log : bool
        Whether a couple's rate is a product of factors, not that of normal scores.
    heavy : bool
        Whether logarithms of people's factors are exponential: of factors without a variance
        from ``person`` .5 on.
    wolves, goats : float
        Shares of people who are taken for others, or rejected, far more often; with ``log``.
    """

    people: int
    images: int = 4
    far: float = 1e-3
    frr: float = 0.03
    genuine: float = 0.3
    person: float = 0.0
    couple: float = 0.0
    log: bool = False
    heavy: bool = False
    wolves: float = 0.0
    goats: float = 0.0

    def draw(self, rng, looser=LOOSER):
        """Courses of the accepted impostor and of the rejected genuine pairs.

        A course at its first number is that of the rate; then at all fixed numbers, of
        impostor pairs up to ``looser`` times the rate.
        """
        n, m = self.people, self.images
        left, right, place, shift = self.impostors(rng, looser)
        numbers = _numbers((place < shift).sum(), left.size)
        accepted = sums_of(left, right, numbers, n, m)
        known = np.sqrt(self.genuine) * rng.standard_normal(n)
        known += GOAT * (rng.random(n) < self.goats)
        pairs = m * (m - 1) // 2
        place = np.sqrt(1 - self.genuine) * rng.standard_normal((n, pairs))
        place = (place - known[:, None]).ravel()
        people = np.argsort(place) // max(pairs, 1)
        numbers = _numbers((place < self._cut).sum(), people.size)
        of_person, _ = errors_by_person(people, people, None, numbers, n)
        return accepted, genuine_sums(of_person, np.full(n, float(pairs)))

    def impostors(self, rng, looser=LOOSER):
        """Pairs that are accepted up to ``looser`` times the rate, first errors first.

        Returns
        -------
        left, right : ndarrays of int, shape (n_errors,)
            People.
        place : ndarray, shape (n_errors,)
            Shift of the scores at which each begins to be an error; with ``log`` the rate
            is in proportion to the exponential of the shift.
        shift : float
            At which the rate is the true one.
        """
        n, m = self.people, self.images
        own = rng.exponential(size=n) if self.heavy else rng.standard_normal(n)
        if self.log:
            own = self.person * own + np.log(WOLF) * (rng.random(n) < self.wolves)
            shift, loose = self._shift, self._shift + np.log(looser)
            parts = (loose, self.couple, 0.0)
        else:
            own *= np.sqrt(self.person / 2)
            rest = np.sqrt(1 - self.person - self.couple)
            shift, loose = ndtri(self.far), ndtri(min(looser * self.far, 0.5))
            parts = (loose, np.sqrt(self.couple), rest)
        left, right, errors, score, chance = _couples(own, m * m, *parts, rng)
        # Every error has a place: the shift at which it begins to be one.
        left, right, score, chance = (
            np.repeat(x, errors.astype(int)) for x in (left, right, score, chance)
        )
        place = chance * rng.random(left.size)
        place = np.log(place) if self.log else parts[2] * ndtri(place)
        place -= score - loose
        order = np.argsort(place)
        return left[order], right[order], place[order], shift

    @property
    def _shift(self):
        """Logarithm of a rate without a person's or a couple's part."""
        mean = 1 / (1 - self.person) if self.heavy else np.exp(self.person**2 / 2)
        mean *= 1 - self.wolves + self.wolves * WOLF
        return np.log(self.far) - 2 * np.log(mean) - self.couple**2 / 2

    @property
    def _cut(self):
        """The score below which people who are no goats are rejected."""
        return _cut_of(self.goats, self.frr)


def sums_of(left, right, numbers, n_people, images):
    """Sums of accepted pairs, first errors first, where everybody is compared, at numbers."""
    c, n_couples = float(images**2), n_people * (n_people - 1) / 2
    of_person, powers = errors_by_person(
        left, right, None, numbers, n_people, np.full(left.size, c)
    )
    pairs = np.full(n_people, (n_people - 1) * c)
    sizes = tuple(n_couples * c**power for power in (2, 3, 4))
    return impostor_sums(of_person, pairs, powers, sizes)


def _numbers(at_rate, last):
    """Numbers of errors: that of the rate, then the fixed ones."""
    return np.concatenate([[at_rate, 0], NUMBERS[NUMBERS < last], [last]])


@cache
def _cut_of(goats, frr):
    def above(cut):
        return (1 - goats) * ndtr(cut) + goats * ndtr(cut + GOAT) - frr

    return brentq(above, -8, 4)


@njit
def _couples(own, n_pairs, shift, couple, rest, rng):
    """People of the couples that err, how many of their pairs do, their score and chance."""
    n = own.size
    left, right = np.empty(1024, np.int64), np.empty(1024, np.int64)
    errors, scores, chances = np.empty(1024), np.empty(1024), np.empty(1024)
    found = 0
    for k in range(n):
        for h in range(k + 1, n):
            score = shift + own[k] + own[h]
            if couple > 0:
                score += couple * rng.standard_normal()
            if rest > 0:
                chance = 0.5 * math.erfc(-score / rest / math.sqrt(2.0))
            else:
                chance = min(math.exp(score), 1.0)
            some = -math.expm1(n_pairs * math.log1p(-min(chance, 1 - 1e-12)))
            u = rng.random()
            if u >= some:
                continue
            # The first pair that errs is geometric; the pairs behind it are independent.
            first, none = 0, 1 - chance
            while first < n_pairs - 1 and u > 1 - none:
                none *= 1 - chance
                first += 1
            wrong = 1.0 + rng.binomial(n_pairs - 1 - first, chance)
            if found == left.size:
                left, right = np.append(left, left), np.append(right, right)
                errors, scores = np.append(errors, errors), np.append(scores, scores)
                chances = np.append(chances, chances)
            left[found], right[found], errors[found] = k, h, wrong
            scores[found], chances[found] = score, chance
            found += 1
    every = slice(found)
    return left[every], right[every], errors[every], scores[every], chances[every]


def alike(group, n=2):
    """Groups whose people are alike."""
    return (group,) * n


EVEN = {"genuine": 0.0}
MILD = {"genuine": 0.5, "person": 0.15, "couple": 0.4}
MILDER = {"genuine": 0.3, "person": 0.05, "couple": 0.2}
MID = {"genuine": 0.6, "person": 0.35, "couple": 0.35}
LESS = {"genuine": 0.3, "person": 0.05, "couple": 0.35}
MANY = {"genuine": 0.6, "person": 0.25, "couple": 0.6}
FEWER = {"genuine": 0.2, "person": 0.05, "couple": 0.3}
EXTREME = {"genuine": 0.8, "person": 0.4, "couple": 0.4}
WILD = {"person": 0.3, "couple": 0.5, "log": True, "wolves": 0.05, "goats": 0.05}
CALM = {"person": 0.0, "couple": 0.5, "log": True}
# Of normal scores, shares of the variance: people of (a, b) = (.25, .1) and (.6, .1) beside 1.
USUAL = {"genuine": 0.23, "person": 0.185, "couple": 0.074}
UNEVEN = {"genuine": 0.47, "person": 0.353, "couple": 0.059}
LOGNORMAL = {"person": 0.7, "log": True}
WOLVES = {"person": 0.7, "log": True, "wolves": 0.05, "goats": 0.05}
PARETO = {"person": 0.5, "log": True, "heavy": True}
# Cell -> kind, groups. All have equal rates.
CELLS = {
    "2 x 60, even": ("alike", alike(Group(60, **EVEN))),
    "2 x 60, mild": ("alike", alike(Group(60, **MILD))),
    "2 x 60, extreme": ("alike", alike(Group(60, **EXTREME))),
    "2 x 100, wolves and goats": ("alike", alike(Group(100, **WILD))),
    "2 x 100, 3 images, log": (
        "alike",
        alike(Group(100, 3, person=0.5, couple=0.8, log=True)),
    ),
    "2 x 80, heavy tails": (
        "alike",
        alike(Group(80, person=0.4, couple=0.5, log=True, heavy=True)),
    ),
    "2 x 40, 20 images": ("alike", alike(Group(40, 20, **MILD))),
    "30 and 300": ("alike", (Group(30, **MILD), Group(300, **MILD))),
    "30 x 20 and 200 x 2 images": (
        "alike",
        (Group(30, 20, **MILD), Group(200, 2, **MILD)),
    ),
    "4 x 60": ("alike", alike(Group(60, **MILD), 4)),
    "8 x 40": ("alike", alike(Group(40, **MILD), 8)),
    "few errors, 3": ("few", alike(Group(60, 2, 4.3e-4, 0.05, **MILDER))),
    "few errors, 10": ("few", alike(Group(60, 2, 1.4e-3, 0.17, **MILDER))),
    "few errors, 30": ("few", alike(Group(60, 2, 4.3e-3, 0.4, **MILDER))),
    "few errors, 3 and 30": (
        "few",
        (Group(40, 2, 1e-3, 0.1, **MILDER), Group(130, 2, 1e-3, 0.1, **MILDER)),
    ),
    "100 mild, 100 milder": ("mild", (Group(100, **MILD), Group(100, **MILDER))),
    "40 mild, 300 milder": ("mild", (Group(40, **MILD), Group(300, **MILDER))),
    "100 mid, 100 less": ("mid", (Group(100, **MID), Group(100, **LESS))),
    "200 mid, 200 less": ("mid", (Group(200, **MID), Group(200, **LESS))),
    "40 mid, 300 less": ("mid", (Group(40, **MID), Group(300, **LESS))),
    "60 x 8 images, many, fewer": (
        "mid",
        (Group(60, 8, **MANY), Group(60, 8, **FEWER)),
    ),
    "60 wild, 60 calm": ("mid", (Group(60, **WILD), Group(60, **CALM))),
    "200 wild, 200 calm": ("mid", (Group(200, **WILD), Group(200, **CALM))),
    "4 x 100, two mid, two less": (
        "mid",
        alike(Group(100, **MID)) + alike(Group(100, **LESS)),
    ),
    "8 x 60, four mid, four less": (
        "mid",
        alike(Group(60, **MID), 4) + alike(Group(60, **LESS), 4),
    ),
    "few errors, 10, mid and less": (
        "mid",
        (Group(60, 2, 1.4e-3, 0.17, **MID), Group(60, 2, 1.4e-3, 0.17, **LESS)),
    ),
    "100 extreme, 100 even": ("extreme", (Group(100, **EXTREME), Group(100, **EVEN))),
    "60 x 8 images, extreme, even": (
        "extreme",
        (Group(60, 8, **EXTREME), Group(60, 8, **EVEN)),
    ),
    "30 extreme, 300 even": ("extreme", (Group(30, **EXTREME), Group(300, **EVEN))),
    "30 wild, 300 calm": ("absent", (Group(30, **WILD), Group(300, **CALM))),
    # At the end, since a cell is drawn by its place.
    "30 and 500": ("alike", (Group(30, **MILD), Group(500, **MILD))),
    "2 x 200, 1 image": ("alike", alike(Group(200, 1, 2e-3, **MILD))),
    "500 mid, 500 less": ("mid", (Group(500, **MID), Group(500, **LESS))),
    "2 x 50, no effect": ("ordinary", alike(Group(50, 6, 1e-2, 0.1, **EVEN))),
    "2 x 100, usual": ("ordinary", alike(Group(100, 6, 1e-3, 0.03, **USUAL))),
    "50 and 300, usual": (
        "ordinary",
        (Group(50, 6, 1e-2, 0.1, **USUAL), Group(300, 6, 1e-2, 0.1, **USUAL)),
    ),
    "8 x 60, usual": ("ordinary", alike(Group(60, 6, 1e-2, 0.1, **USUAL), 8)),
    "2 x 100, lognormal": ("ordinary", alike(Group(100, 6, 1e-3, **LOGNORMAL))),
    "100 usual, 100 no effect": (
        "ordinary",
        (Group(100, 6, 1e-2, 0.1, **USUAL), Group(100, 6, 1e-2, 0.1, **EVEN)),
    ),
    "2 x 100, uneven": ("hard", alike(Group(100, 6, 1e-2, 0.1, **UNEVEN))),
    "100 uneven, 100 no effect": (
        "hard",
        (Group(100, 6, 1e-2, 0.1, **UNEVEN), Group(100, 6, 1e-2, 0.1, **EVEN)),
    ),
    "8 x 60, uneven": ("hard", alike(Group(60, 6, 1e-2, 0.1, **UNEVEN), 8)),
    "2 x 100, wolves": ("hard", alike(Group(100, 6, 1e-2, 0.1, **WOLVES))),
    "2 x 100, Pareto 2": ("hard", alike(Group(100, 6, 1e-3, **PARETO))),
}


def judged(sums):
    """p-values of the groups against the last one, which has the most people, by rate."""
    found = []
    for of_rate in sums:
        # Who is compared is the same in all data sets.
        known = of_rate.is_known[0]
        weights = np.eye(known.size)[:-1][known[:-1] & known[-1]]
        weights[:, -1] = -1.0
        tests = Contrasts(of_rate, weights)
        found.append((tests.p_value, tests.value > 0, tests.bounds(TAIL)))
    return found


def upper_ends(drawn, place, tail):
    """Upper ends of a rate of groups of data sets, as an audit has them."""
    courses = [
        group[place].rows(slice(1, None)) for groups in drawn for group in groups
    ]
    at_rate = [group[place].errors[0] for groups in drawn for group in groups]
    high = rate_ends(ErrorSums.joined(courses), tail)[1]
    stops = np.cumsum([course.errors.size for course in courses])[:-1]
    found = [
        np.interp(errors, course.errors, never_falling(ends, ends.size - 1))
        for errors, course, ends in zip(
            at_rate, courses, np.split(high, stops), strict=True
        )
    ]
    return np.reshape(found, (len(drawn), -1))


def side_by_side(drawn, place):
    """Sums of a rate at that rate, (n_sets, n_groups)."""
    return ErrorSums.of_groups(
        [
            ErrorSums.joined([group[place].rows(slice(1)) for group in of_group])
            for of_group in zip(*drawn, strict=True)
        ]
    )


def of_sets(groups, place, start, stop):
    """What data sets say: false findings, contradictions, ends, errors, power."""
    drawn, worse = [], []
    for seed in range(start, stop):
        rng = np.random.default_rng([place, seed])
        drawn.append([group.draw(rng) for group in groups])
        # A first group that is worse, and one that all others are better than.
        of_first = {rate: getattr(groups[0], rate) * WORSE[rate] for rate in RATES}
        worse.append(
            [replace(groups[0], **{r: of_first[r]}).draw(rng, 1.0) for r in RATES]
        )
    sums = [side_by_side(drawn, r) for r in range(2)]
    found = judged(sums)
    n_tests = [p.shape[1] for p, *_ in found]
    adjusted = np.array([holm(p) for p in np.hstack([p for p, *_ in found])])
    differs = np.split(adjusted <= 1 - CONFIDENCE, n_tests[:1], axis=1)
    contradicted = np.zeros(len(drawn), dtype=bool)
    for some, (_, _, ends), n in zip(differs, found, n_tests, strict=True):
        low, high = (end[:, :n] for end in ends)
        contradicted |= (some & (low <= 1) & (high >= 1)).any(axis=1)
    wrong = np.stack([some.any(axis=1) for some in differs], axis=1)
    ends = [[rate_ends(sums[r], TAIL)[0], upper_ends(drawn, r, TAIL)] for r in (0, 1)]
    # The sets first.
    bounds = np.moveaxis(np.array(ends), 2, 0)
    single = upper_ends(drawn, 0, 1 - CONFIDENCE)
    errors = np.stack([s.errors for s in sums], axis=1)
    power = np.zeros((len(drawn), 2), dtype=bool)
    for r in range(2):
        changed = [[w[r], *of_set[1:]] for w, of_set in zip(worse, drawn, strict=True)]
        ((p, higher, _),) = judged([side_by_side(changed, r)])
        # People of one image have no genuine pairs.
        if n_tests[r]:
            power[:, r] = higher[:, 0] & (p[:, 0] * sum(n_tests) <= 1 - CONFIDENCE)
    return wrong, contradicted, bounds, single, errors, power


def counts(n_sets, n_jobs, cells):
    """Tables of verdicts and bounds of groups with equal rates."""
    print(
        "\n## Groups of equal rates: share of audits that name any (FMR, FNMR), and power\n"
        "| kind | cell | errors of the groups, FMR; FNMR | any false | FMR | FNMR "
        "| FMR x 2 found | FNMR x 1.5 found | beside an interval with 1 |"
    )
    print("|---" * 9 + "|")
    results = {}
    for place, (name, (kind, groups)) in enumerate(CELLS.items()):
        if cells and name not in cells:
            continue
        found = Parallel(n_jobs)(
            delayed(of_sets)(groups, place, start, min(start + 50, n_sets))
            for start in range(0, n_sets, 50)
        )
        found = [np.concatenate(blocks) for blocks in zip(*found, strict=True)]
        wrong, contradicted, *results[name], errors, power = found
        mean = np.mean(errors, axis=0)
        words = "; ".join(" ".join(f"{e:.0f}" for e in of_rate) for of_rate in mean)
        print(
            f"| {kind} | {name} | {words} | {share(wrong.any(axis=1))} "
            f"| {wrong[:, 0].mean():.3f} | {wrong[:, 1].mean():.3f} "
            f"| {power[:, 0].mean():.2f} | {power[:, 1].mean():.2f} "
            f"| {np.mean(contradicted):.3f} |"
        )
    print(
        "\n## Intervals of rates at .95, group by group: missed below; above the truth; "
        "median upper end over the truth\n"
        "| kind | cell | FMR below | above | width | FNMR below | above | width "
        "| FMR passed at one-sided .05 |"
    )
    print("|---" * 9 + "|")
    for name, (bounds, single) in results.items():
        kind, groups = CELLS[name]
        row = []
        for place, rate in enumerate(RATES):
            true = np.array([getattr(g, rate) for g in groups])
            low, high = np.moveaxis(bounds[:, place], 1, 0)
            none = np.isnan(high).all(axis=0)  # no pairs
            missed = (
                ((high < true).mean(axis=0), ".3f"),
                ((low > true).mean(axis=0), ".3f"),
            )
            for shares, form in (*missed, (np.median(high / true, axis=0), ".2f")):
                both = zip(shares, none, strict=True)
                row.append(" ".join("-" if n else format(x, form) for x, n in both))
        true = np.array([g.far for g in groups])
        row.append(" ".join(f"{x:.3f}" for x in (single < true).mean(axis=0)))
        print(f"| {kind} | {name} | {' | '.join(row)} |")


def overall(n_sets, n_jobs, cells):
    """Table of what is stated about equal groups, and about a doubled FMR, of three or more."""
    print(
        "\n## Three groups or more: share of data sets with a named group; with a difference "
        "across all groups; with either\n"
        "| kind | cell | equal: named | overall | either | FMR x 2: named | overall | either |"
    )
    print("|---" * 8 + "|")
    for place, (name, (kind, groups)) in enumerate(CELLS.items()):
        if len(groups) < 3 or (cells and name not in cells):
            continue
        found = Parallel(n_jobs)(
            delayed(_stated)(groups, place, seed) for seed in range(n_sets)
        )
        shares = np.mean(found, axis=0).ravel()
        print(f"| {kind} | {name} | {' | '.join(f'{x:.3f}' for x in shares)} |")


def _stated(groups, place, seed):
    """Named, overall, either: of equal groups, and with the FMR of the first doubled."""
    rng, alpha = np.random.default_rng([place, seed]), 1 - CONFIDENCE
    equal = [group.draw(rng) for group in groups]
    worse = replace(groups[0], far=2 * groups[0].far).draw(rng, 1.0)
    found = []
    for of_set in (equal, [(worse[0], equal[0][1]), *equal[1:]]):
        sums = [side_by_side([of_set], rate) for rate in range(2)]
        named = holm(np.hstack([p[0] for p, *_ in judged(sums)])).min() <= alpha
        others = [Contrasts(s, against_others(s)).p_value[0] for s in sums]
        across = holm(np.hstack(others)).min() <= alpha * SHARE_OF_OVERALL
        found.append((named, across, named or across))
    return found


def share(values):
    """Mean of 0 and 1, with its Monte-Carlo error."""
    values = np.asarray(values, dtype=float)
    mean, n = values.mean(), values.size
    return f"{mean:.3f} ({np.sqrt(max(mean * (1 - mean), 0.25 / n) / n):.3f})"


# Loosest thresholds


def loosest(n_people, seed, limit=1e-2, n_levels=40):
    """Whether the loosest threshold that meets a limit in both groups exceeds it in truth.

    At level t the rate of two people is t f_k f_h, with factors exp(.5 N), in the one group
    and half of t in the other, so that the first decides.
    """
    rng = np.random.default_rng([n_people, seed])
    levels = limit * np.geomspace(1.5, 0.1, n_levels)
    kept = np.ones(n_levels, dtype=bool)
    for spread, times in ((0.5, 1.0), (0.0, 0.5)):
        factor = np.exp(spread * rng.standard_normal(n_people) - spread**2 / 2)
        k, h = np.triu_indices(n_people, 1)
        chance = np.minimum(times * levels[0] * factor[k] * factor[h], 1.0)
        hit = np.repeat(np.arange(k.size), 4)[
            rng.random(4 * k.size) < np.repeat(chance, 4)
        ]
        at = levels[0] * rng.random(hit.size)
        order = np.argsort(at)
        hit, at = hit[order], at[order]
        positions = np.searchsorted(at, levels, side="right")
        of_person, powers = errors_by_person(
            k[hit], h[hit], None, positions, n_people, np.full(hit.size, 4.0)
        )
        pairs = np.full(n_people, 4.0 * (n_people - 1))
        sizes = tuple(k.size * 4.0**power for power in (2, 3, 4))
        sums = impostor_sums(of_person, pairs, powers, sizes)
        # Levels fall: so do errors.
        high = rate_ends(sums, 1 - CONFIDENCE)[1][::-1]
        kept &= never_falling(high, n_levels - 1)[::-1] <= limit
    # From the strictest level on, as long as all are kept.
    last = np.flatnonzero(~kept)
    place = last[-1] + 1 if last.size else 0
    return place < n_levels and levels[place] > limit, place == n_levels


def loosest_thresholds(n_sets, n_jobs):
    """Table of the thresholds chosen by one-sided bounds of both groups."""
    print(
        "\n## Loosest threshold at which both groups' one-sided .05 bounds keep an FMR: wrong"
    )
    print("| people a group | wrong | no threshold |")
    print("|---|---|---|")
    for n_people in (50, 100, 200):
        found = Parallel(n_jobs)(delayed(loosest)(n_people, s) for s in range(n_sets))
        wrong, none = np.array(found).T
        print(f"| {n_people} | {share(wrong)} | {none.mean():.3f} |")


# Levels set by few impostors


def at_level(expected, seed, n_pairs=2000, frr=0.3):
    """FNMR at a level at which so many false matches are expected, of independent pairs."""
    rng = np.random.default_rng([expected, seed])
    y_true = np.repeat([1, 0], n_pairs)
    score = rng.standard_normal(2 * n_pairs)
    far = expected / n_pairs
    middle = -ndtri(far) - ndtri(frr)
    score[:n_pairs] += middle
    roc = SimilarityROC(n_resamples=200, far_max=max(far, 1e-2), random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = roc.fit_pairs(score, y_true=y_true).estimate(far=far, rate="frr")
    return found.low <= frr <= found.high, not found.supported


def few_impostors(n_sets, n_jobs):
    """Table of FNMR at levels whose thresholds few impostor pairs set."""
    print("\n## FNMR at a FAR level: expected false matches, coverage, marked, either")
    print("| expected | interval holds | marked | holds or marked |")
    print("|---|---|---|---|")
    for expected in (1, 2, 3, 5, 10, 30):
        found = Parallel(n_jobs)(delayed(at_level)(expected, s) for s in range(n_sets))
        held, marked = np.array(found).T
        cells = (share(held), f"{marked.mean():.3f}", share(held | marked))
        print(f"| {expected} | {' | '.join(cells)} |")


# Audits of embeddings


DIMENSIONS = 48


@dataclass(frozen=True)
class Design:
    """Embeddings of people of some groups, in which all groups have the same rates.

    Attributes
    ----------
    people : tuple of int
        Of each group.
    images : tuple of two ints, or tuples of them
        Least and largest number of images of a person.
    noise, spread : float
        Of the images, and of the logarithm of people's own noise.
    common : tuple of float
        Of each group, the standard deviation of how far its people are moved in a direction
        of their group: people who are moved far resemble each other.
    """

    people: tuple
    images: tuple = (2, 8)
    noise: float = 0.7
    spread: float = 0.3
    common: float = 0.4

    def draw(self, rng):
        """Images X, whose they are and their groups."""
        group = np.repeat(np.arange(len(self.people)), self.people)
        centre = unit(rng.standard_normal((group.size, DIMENSIONS)))
        centre[np.arange(group.size), group] += self.common
        own = self.noise * np.exp(self.spread * rng.standard_normal(group.size))
        spans = self.images if isinstance(self.images[0], tuple) else [self.images]
        spans = np.array(list(spans) * (len(self.people) if len(spans) == 1 else 1))
        n_images = rng.integers(*spans[group].T, endpoint=True)
        y = np.repeat(np.arange(group.size), n_images)
        X = photograph(unit(centre)[y], own[y], rng)
        return X, y, np.array([f"g{g}" for g in range(len(self.people))])[group][y]


DESIGNS = {
    "2 x 100": Design((100, 100)),
    "2 x 30": Design((30, 30)),
    "30 and 300": Design((30, 300)),
    "12 and 200": Design((12, 200)),
    "4 x 50": Design((50,) * 4),
    "8 x 40": Design((40,) * 8),
    "2 x 100, images 2-3 and 6-14": Design((100, 100), ((2, 3), (6, 14))),
    "2 x 60, people vary more": Design((60, 60), spread=0.5),
}


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def photograph(centre, noise, rng):
    shaken = rng.standard_normal(centre.shape) / np.sqrt(DIMENSIONS)
    return unit(centre + noise[:, None] * shaken).astype(np.float32)


def audited(name, seed):
    """Verdicts of an audit, and whether what it prints contradicts itself."""
    X, y, group = DESIGNS[name].draw(np.random.default_rng([seed, 1]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = audit(*(X, y, group), far=(1e-2, 1e-3), random_state=seed)
    findings = [f for level in found.audits[0].levels for f in level.findings]
    differ = [f for f in findings if f.verdict in ("higher", "lower")]
    inside = [f for f in differ if f.ratio.low <= 1 <= f.ratio.high]
    return bool(differ), bool(inside)


def audits(n_sets, n_jobs, cells):
    """Table of whole audits of groups that are alike."""
    print(
        "\n## Audits of embeddings, groups alike: any false; beside an interval with 1"
    )
    print("| design | any false | contradicted |")
    print("|---|---|---|")
    for name in DESIGNS:
        if cells and name not in cells:
            continue
        found = Parallel(n_jobs)(delayed(audited)(name, s) for s in range(n_sets))
        wrong, inside = np.array(found).T
        print(f"| {name} | {share(wrong)} | {inside.mean():.3f} |")


# Two systems, two directions


def compared(n_people, noise, seed):
    """Whether a comparison of two systems on the same people names any harm or gain."""
    rng = np.random.default_rng([seed, 3])
    y = np.repeat(np.arange(n_people), rng.integers(2, 8, n_people, endpoint=True))
    centre = unit(rng.standard_normal((n_people, DIMENSIONS)))[y]
    own = 0.7 * np.exp(0.3 * rng.standard_normal(n_people))[y]
    shaken = rng.standard_normal((3, *centre.shape)) / np.sqrt(2 * DIMENSIONS)
    group = {"group": np.array(["even", "odd"])[y % 2]}
    systems = [
        EmbeddingData(
            unit(centre + size * own[:, None] * (shaken[0] + part)).astype(np.float32),
            *(y, group),
        )
        for part, size in ((shaken[1], 1.0), (shaken[2], noise))
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = compare_systems(*systems, far=(1e-2, 1e-3))
    return bool(found.harm or found.improved)


def asymmetric(n_people, seed):
    """p-value that it matters which of two groups is the probe's, where it does not."""
    rng = np.random.default_rng([seed, 4])
    y = np.repeat(np.arange(n_people), 2)
    centre = unit(rng.standard_normal((n_people, DIMENSIONS)))
    centre[:, 0] += 0.4
    noise = 0.7 * np.exp(0.3 * rng.standard_normal(n_people))
    probes, references = (photograph(centre[y], noise[y], rng) for _ in range(2))
    group = np.array(["even", "odd"])[y % 2]
    roc = SimilarityROC(method="jackknife", n_resamples=1, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        roc.fit(
            *(probes, y, group),
            X_reference=references,
            y_reference=y,
            sensitive_features_reference=group,
        )
        return [
            float(roc.far_asymmetry(far=a).p_value[0]) <= 0.05 for a in (1e-2, 1e-3)
        ]


def same_people(n_sets, n_jobs):
    """Tables of two systems, and of two directions, on the same people."""
    print("\n## Two systems on the same people: any harm or gain is named")
    print("| people | noise of the second | any named |")
    print("|---|---|---|")
    for n_people, noise in ((100, 1.0), (200, 1.0), (200, 1.1)):
        found = Parallel(n_jobs)(
            delayed(compared)(n_people, noise, s) for s in range(n_sets)
        )
        print(f"| {n_people} | {noise} | {share(found)} |")
    print("\n## far_asymmetry of groups alike: p <= .05 at FAR 1e-2, 1e-3")
    print("| people | 1e-2 | 1e-3 |")
    print("|---|---|---|")
    for n_people in (60, 200):
        found = np.array(
            Parallel(n_jobs)(delayed(asymmetric)(n_people, s) for s in range(n_sets))
        )
        print(f"| {n_people} | {share(found[:, 0])} | {share(found[:, 1])} |")


def main(arguments=None):
    """Print the tables that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=2000, help="of counts, a cell")
    parser.add_argument("--audits", type=int, default=300, help="of the rest, a cell")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--cells", nargs="*", default=[])
    tables = {
        "counts": lambda a: counts(a.sets, a.jobs, a.cells),
        "overall": lambda a: overall(a.sets, a.jobs, a.cells),
        "loosest": lambda a: loosest_thresholds(a.sets, a.jobs),
        "few": lambda a: few_impostors(a.audits, a.jobs),
        "audits": lambda a: audits(a.audits, a.jobs, a.cells),
        "same people": lambda a: same_people(a.audits, a.jobs),
    }
    parser.add_argument("--tables", nargs="*", default=list(tables), choices=tables)
    asked = parser.parse_args(arguments)
    for name in asked.tables:
        tables[name](asked)


if __name__ == "__main__":
    # Workers load functions by the name of their module, which is not __main__ there.
    from docs.studies import coverage

    coverage.main()
