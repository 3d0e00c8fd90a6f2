"""Direct standardisation: weights of pairs that make covariates equal in all groups.

Pairs fall into strata of a covariate. The standardised rate of a group is the mean of its
rates in the strata, each weighing the share that the stratum has of the pairs of all groups.
That is a rate of weighted pairs: one of stratum s in group g weighs w_s N_g / N_gs, with N
the weight of pairs. Those of a group weigh as much as before. The weights are taken
as given. Without a person each stratum has another rate, and the same weight: what people add
to the errors are deviations from the rates of strata. For embeddings N_gs and the weights
of the pairs of people follow from how many images of each code people have.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from skfairfr._core._error_counts import errors_first
from skfairfr._core._pairs import LastAnswers, within
from skfairfr._core._rates import ROUNDING
from skfairfr._core._resampling import Totals


@dataclass(frozen=True, eq=False)
class Strata:
    """Strata of pairs, by the codes of their images or, where pairs are listed, of each.

    Attributes
    ----------
    names : list of str, shape (n_strata,)
    of_codes : ndarray of int, shape (n_codes, n_codes), or None
        Stratum of two images by their codes, symmetric. -1 is unknown.
    codes : ndarray of int, shape (n_images,) or, of listed pairs, (n_pairs,)
        Of listed pairs their strata.
    """

    names: list
    of_codes: np.ndarray | None
    codes: np.ndarray

    def of_images(self, left, right):
        """Stratum of pairs of images, (n_pairs,)."""
        return self.of_codes[self.codes[left], self.codes[right]]

    def crossed(self, other):
        """Strata of both covariates at once."""
        names = [f"{one}, {two}" for one in self.names for two in other.names]
        n = len(other.names)
        if self.of_codes is None:
            return Strata(names, None, _crossed(self.codes, other.codes, n))
        size = len(other.of_codes)
        one, two = np.divmod(np.arange(len(self.of_codes) * size), size)
        of_codes = self.of_codes[one][:, one], other.of_codes[two][:, two]
        codes = self.codes * size + other.codes
        return Strata(names, _crossed(*of_codes, n), codes)


def _crossed(one, other, n_others):
    known = (one >= 0) & (other >= 0)
    return np.where(known, one * n_others + other, -1)


@dataclass(frozen=True, eq=False)
class Standard:
    """Weights of the strata of one rate.

    Attributes
    ----------
    counts : ndarray, shape (n_groups, n_strata)
        Weight of the pairs of each group in each stratum.
    totals : ndarray, shape (n_groups,)
        Weight of all pairs of each group, unknown strata included.
    """

    counts: np.ndarray
    totals: np.ndarray

    @property
    def common(self):
        """Strata in which every group that has pairs has some, (n_strata,)."""
        return (self.counts[self.totals > 0] > 0).all(axis=0)

    @property
    def shares(self):
        """Share of each stratum among the pairs of all groups in common strata."""
        pooled = np.where(self.common, self.counts.sum(axis=0), 0.0)
        return pooled / (pooled.sum() or 1.0)

    @property
    def lost(self):
        """Share of the groups' pairs that is in no common stratum."""
        return 1 - self.counts[:, self.common].sum() / self.totals.sum()

    @property
    def weights(self):
        """Weight of a pair of each group and stratum, the last of which is unknown: 0."""
        times = self.shares * self.totals[:, None]  # 0 of strata that are not common
        there = self.counts > 0
        found = np.divide(times, self.counts, out=np.zeros_like(times), where=there)
        return np.pad(found, ((0, 0), (0, 1)))


def standards(pairs, strata):
    """The Standard of either rate by its name, of an EmbeddingPairs or a ListedPairs.

    Parameters
    ----------
    pairs : EmbeddingPairs or ListedPairs
    strata : Strata

    Returns
    -------
    found : dict of str -> Standard
    """
    n_strata, found = len(strata.names), {}
    for rate in ("far", "frr"):
        counts = np.zeros((pairs.images.n_groups, n_strata + 1))
        for g in range(len(counts)):
            if rate == "far" and pairs.totals is not None:
                # -1 is the last.
                mass = WeighedTotals(pairs.totals, strata).masses_met((g, g))
                np.add.at(counts[g], strata.of_codes, mass)
                # Differences of sums that are equal but for rounding.
                counts[g][counts[g] < ROUNDING * counts[g].sum()] = 0.0
            else:
                sequence, stratum = _sequence(pairs, rate, (g, g), strata)
                counts[g] = np.bincount(
                    stratum % (n_strata + 1), sequence.base, n_strata + 1
                )
        found[rate] = Standard(counts[:, :-1], counts.sum(axis=1))
    return found


def weighed_by_strata(pairs, strata, standards):
    """The same pairs, those within groups weighed by strata.

    Parameters
    ----------
    pairs : EmbeddingPairs or ListedPairs
    strata : Strata
    standards : dict of str -> Standard

    Returns
    -------
    weighed : EmbeddingPairs or ListedPairs
        Without the pairs of strata that are not common.
    """
    weighed = copy(pairs)
    weighed.known = weighed.known_of_all = LastAnswers()
    weights = {rate: standard.weights for rate, standard in standards.items()}
    kept, listed = {rate: {} for rate in weights}, {}
    for rate, g in product(kept, range(pairs.images.n_groups)):
        sequence, stratum = _sequence(pairs, rate, (g, g), strata)
        by = weights[rate][g][stratum]
        kept[rate][g, g] = sequence.times(by).take(by > 0)
        listed[rate, (g, g)] = stratum[by > 0]
    weighed.strata = WeighedStrata(strata, listed)
    weighed.genuine = replace(pairs.genuine)
    weighed.genuine._scopes.update(kept["frr"])
    if pairs.totals is None:
        weighed._scopes = kept["far"]
    else:
        totals = WeighedTotals(pairs.totals, strata, weights["far"], weighed.genuine)
        weighed.totals, weighed.impostor_total = totals, totals.impostor_total
        weighed._tails, weighed._samples = kept["far"], {}
        weighed.genuine_total = totals.genuine_total
    return weighed


@dataclass(frozen=True, eq=False)
class WeighedStrata:
    """The strata of weighed pairs.

    Attributes
    ----------
    strata : Strata
    listed : dict of tuple (rate, scope) -> ndarray of int, shape (n_pairs,)
        That of each pair, by which listed pairs are known.
    """

    strata: Strata
    listed: dict

    @property
    def n_strata(self):
        return len(self.strata.names)

    def of(self, sequence, scope, rate):
        """The stratum of each pair of a sequence, which may be a sample of embeddings."""
        if self.strata.of_codes is None:
            return self.listed[rate, scope]
        return self.strata.of_images(sequence.left, sequence.right)


def _sequence(pairs, rate, scope, strata):
    """The pairs of a scope, ascending of an FRR, and the stratum of each."""
    sequence, _ = errors_first(pairs, scope, rate)
    if strata.of_codes is not None:
        return sequence, strata.of_images(sequence.left, sequence.right)
    listed = pairs.compared
    rows, groups = listed.impostor_rows, pairs._groups
    if rate == "frr":
        rows, groups = listed.genuine_rows, pairs.genuine.groups
    rows = rows[within(groups, scope, False)]
    return sequence, strata.codes[rows if rate == "far" else rows[::-1]]


# ---- impostor pairs of embeddings, of which few are stored -----------------------------


class WeighedTotals(Totals):
    """Totals of pairs that weigh by strata within groups. For all pairs as before.

    Parameters
    ----------
    totals : Totals
    strata : Strata
    weights : ndarray, shape (n_groups, n_strata + 1), default=None
        None is enough for :meth:`people_masses` and :meth:`masses_met`.
    genuine : Genuine, default=None
        With their weights.
    """

    def __init__(self, totals, strata, weights=None, genuine=None):
        vars(self).update(vars(totals))
        self.strata, self.weights, self.genuine = strata, weights, genuine

    def times(self, factor):
        """With pairs that weigh so many times as much, by strata, (n_strata,)."""
        weights = self.weights * np.append(factor, 0.0)
        return WeighedTotals(self, self.strata, weights, self.genuine)

    def pair_weights(self, scope):
        """As of Totals. Within groups, columns are codes."""
        if scope is None:
            return super().pair_weights(scope)
        return self.weights[scope[0]][self.strata.of_codes]

    def people_masses(self, side, scope, power=1):
        """As of Totals. Within groups, columns are codes."""
        if scope is None:
            return super().people_masses(side, scope, power)
        cells, images = self.cells[side], self.images
        inside = images.group == scope[side]
        if self.two_sides:
            inside &= images.side == side
        rows = np.flatnonzero(inside)
        mass = np.ones(rows.size)
        if self.average == "identity":
            mass = 1 / cells.count[cells.of_image[0, rows]] ** power
        found = np.zeros((images.n_identities, len(self.strata.of_codes)))
        np.add.at(found, (images.identity[rows], self.strata.codes[rows]), mass)
        return found

    def base(self, scope, left, right, genuine=False):
        """As of Totals, times the weight of the stratum."""
        base = super().base(scope, left, right, genuine)
        if scope is None:
            return base
        codes = self.strata.codes
        by = self.pair_weights(scope)[codes[left], codes[right]]
        return by if base is None else by * base

    def genuine_total(self, scope, weights, copies=True):
        """As of Totals. Within groups, of the weighed pairs."""
        if scope is None:
            return super().genuine_total(scope, weights, copies)
        pairs = self.genuine.ascending(scope)
        return pairs.weighed(weights, self.images, genuine=True).total()

    def impostor_total(self, scope, weights):
        """As of Totals. Within groups, that of the data: audits do not resample."""
        if scope is None:
            return super().impostor_total(scope, weights)
        total = (self.pair_weights(scope) * self.masses_met(scope)).sum()
        return np.full(weights.n_resamples, total)
