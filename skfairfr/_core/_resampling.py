"""Images, how often each resample draws them and their people, and the weight of all their pairs.

Every resample has a seed of its own, derived from the entropy drawn in ``fit``. The size of a
block and the number of workers change no bit of it.

In a complete design every image is compared with every other one (or every probe with
every reference). The weight of all pairs of a scope then follows from sums over people:
no resample has to visit the pairs that no threshold accepts. A scope is None
(all impostor pairs used), ``(g, g)`` (both images in group g) or ``(g, h)`` (cross-group,
with the probe in g and the reference in h if there are two sides).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from joblib import effective_n_jobs
from numba import njit
from numpy.random import SeedSequence
from scipy import sparse

from skfairfr._core._parallel import n_threads, over_blocks

MODES = ("images", "identities", "both")
# Largest number of bytes for the multiplicities of a block of resamples.
BLOCK_BYTES = 2**26
# Resamples that a thread draws at a time.
FEWEST_RESAMPLES, MOST_RESAMPLES = 16, 128
# Bytes of all drawn multiplicities that are kept for the next question.
KEPT_BYTES = 2**28


@dataclass(frozen=True)
class Images:
    """The images (or, where images are unnamed, the identities) that pairs are made of.

    Attributes
    ----------
    identity : ndarray of int32, shape (n_images,)
    group : ndarray of int32, shape (n_images,)
        -1 is unknown.
    side : ndarray of int8, shape (n_images,), or None
        0 for probes and 1 for references where only pairs across are compared.
    n_identities, n_groups : int
    n_drawn : int, default=None
        Number of identities, the first, that resamples draw among. The others count once
        in each. None draws among all. Independent pairs are drawn so: each has one
        identity that is drawn, though an impostor pair is of two.
    drawn : dict
        Multiplicities already drawn, by their seeds. Other groups of the same images
        share them. They stay behind when the images travel to another process.
    """

    identity: np.ndarray
    group: np.ndarray
    side: np.ndarray | None
    n_identities: int
    n_groups: int
    n_drawn: int | None = None
    drawn: dict = field(default_factory=dict, compare=False, repr=False)

    def __getstate__(self):
        return vars(self) | {"drawn": {}}

    @property
    def strata(self):
        """Code of each image's (side, identity), within which it is drawn."""
        if self.side is None:
            return self.identity
        return self.identity + self.n_identities * self.side.astype(np.int32)

    def per_stratum(self):
        """Number of images of the same identity on the same side, for each image."""
        strata = self.strata
        return np.bincount(strata)[strata]


@dataclass(frozen=True)
class Weights:
    """Multiplicities of a block of resamples. By default the data, as one resample.

    Attributes
    ----------
    identity : ndarray, shape (n_identities, n_resamples), or None where all are 1
    image : ndarray, shape (n_images, n_resamples), or None where all are 1
    n_resamples : int
    sums : dict
        Sums over people that :class:`Totals` computed. Many scopes need the same ones.
    known : dict
        Weights of all pairs of a scope that :class:`Totals` computed. Kept with the drawn
        multiplicities for the next question.
    block : tuple, or None
        Drawn units. If None, the data.
    """

    identity: np.ndarray | None = None
    image: np.ndarray | None = None
    n_resamples: int = 1
    block: tuple | None = None
    sums: dict = field(default_factory=dict, compare=False, repr=False)
    known: dict = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True)
class Resampling:
    """How resamples are drawn, and how many."""

    mode: str
    method: str
    n_resamples: int
    entropy: int
    n_jobs: int | None


class Resamples(NamedTuple):
    """The resamples ``start`` to ``stop`` of a mode, as :func:`draw` takes them."""

    mode: str
    entropy: int
    start: int
    stop: int


def draw(images, mode, entropy, start, stop):
    """Weights of the resamples ``start`` to ``stop`` of a mode.

    Parameters
    ----------
    images : Images
    mode : {"images", "identities", "both"}
        Independent pairs are drawn whatever it is.
    entropy : int
        The same entropy gives the same resamples, and modes that both draw identities
        draw the same ones.
    start, stop : int

    Returns
    -------
    weights : Weights
    """
    mode = mode if images.n_drawn is None else "identities"
    key = (mode, entropy, start, stop)
    if key not in images.drawn:
        identity = image = None
        of_people, of_images = (
            [SeedSequence(entropy, spawn_key=(of, r)) for r in range(start, stop)]
            for of in (0, 1)
        )
        if mode in ("identities", "both"):
            n_drawn = images.n_identities if images.n_drawn is None else images.n_drawn
            identity = np.ones((stop - start, images.n_identities), dtype=np.int32)
            for r, seed in enumerate(of_people):
                picks = np.random.default_rng(seed).integers(0, n_drawn, n_drawn)
                identity[r, :n_drawn] = np.bincount(picks, minlength=n_drawn)
            identity = smallest(identity.T)
        if mode in ("images", "both"):
            image = smallest(_draw_images(images, of_images).T)
        drawn = sum(array.nbytes for array in (identity, image) if array is not None)
        kept = sum(size for *_, size in list(images.drawn.values()))
        if kept + drawn > KEPT_BYTES:
            return Weights(identity, image, stop - start, key)
        images.drawn[key] = (identity, image, {}, drawn)
    identity, image, known, _ = images.drawn[key]
    return Weights(identity, image, stop - start, key, known=known)


def blocks_of_resamples(images, resampling):
    """Blocks of Resamples as tasks of ``over_blocks``, and how many resamples each has.

    A block has at most BLOCK_BYTES and MOST_RESAMPLES, but at least FEWEST_RESAMPLES. It is
    smaller where there would be fewer of them than workers or threads that compute them.
    """
    least, most = FEWEST_RESAMPLES, MOST_RESAMPLES
    fitting = int(np.clip(BLOCK_BYTES // max(images.identity.size, 1), least, most))
    n_workers, n = max(n_threads(), effective_n_jobs()), resampling.n_resamples
    size = min(fitting, max(least, -(-n // n_workers)))
    seeds = (resampling.mode, resampling.entropy)
    tasks = [(Resamples(*seeds, s, min(s + size, n)),) for s in range(0, n, size)]
    return tasks, [block.stop - block.start for (block,) in tasks]


def in_resamples(measured, pairs, scope, sampled, about, resampling):
    """What ``measured(pairs, scope, sampled, about, weights)`` gives of all resamples."""
    small = pairs.for_workers((scope,), (scope,) * sampled)
    tasks, sizes = blocks_of_resamples(pairs.images, resampling)
    shared, n_jobs = (measured, small, scope, sampled, about), resampling.n_jobs
    blocks = over_blocks(_in_block, tasks, n_jobs, "resampling", sizes, shared)
    return np.concatenate(blocks, axis=-1)


def _in_block(measured, pairs, scope, sampled, about, resamples):
    return measured(pairs, scope, sampled, about, draw(pairs.images, *resamples))


def _draw_images(images, seeds):
    """Draw as many images as there are, with replacement, within every stratum."""
    strata = images.strata
    order = np.argsort(strata, kind="stable")
    counts = np.bincount(strata)
    first = np.repeat(np.cumsum(counts) - counts, counts)
    size = np.repeat(counts, counts)
    image = np.zeros((len(seeds), strata.size), dtype=np.int32)
    for r, seed in enumerate(seeds):
        u = np.random.default_rng(seed).random(strata.size)
        # u * size is below size for u < 1, and several times faster than drawing integers.
        _count_picks(u, size, order, first, image[r])
    return image


def places_among_equals(codes):
    """Place of each element among those of its code, from 0 on, ndarray of int."""
    order, counts = np.argsort(codes, kind="stable"), np.bincount(codes)
    first = np.repeat(np.cumsum(counts) - counts, counts)
    places = np.empty(codes.size, dtype=np.int64)
    places[order] = np.arange(codes.size) - first
    return places


@njit(nogil=True, cache=True)
def _count_picks(u, size, order, first, counts):
    for i in range(u.size):
        counts[order[first[i] + np.int64(u[i] * size[i])]] += 1


def smallest(multiplicities):
    """uint8 where the multiplicities fit, for the running sums' fast path."""
    fits = multiplicities.size == 0 or multiplicities.max() <= np.iinfo(np.uint8).max
    return multiplicities.astype(np.uint8 if fits else np.float64, order="C")


# ---- complete designs: numbers, base weights and totals of pairs ---------------------


class Cells(NamedTuple):
    """The images of one side by person: of all groups together, and within each group.

    Attributes
    ----------
    person, count : ndarrays, shape (n_cells,)
        Those of a group are together, by person. Those of everyone come last.
    starts : ndarray of int, shape (n_groups + 2,)
        Where the cells of each group, and those of everyone, start, and their number.
    of_image : ndarray of int, shape (2, n_images)
        Cell of each image within its group, and within everyone, or -1 where it has none.
    """

    person: np.ndarray
    count: np.ndarray
    starts: np.ndarray
    of_image: np.ndarray

    @classmethod
    def of(cls, images, members):
        """Cells of some images."""
        grouped = members[images.group[members] >= 0]
        both = np.append(grouped, members)
        group = np.append(
            images.group[grouped], np.full(members.size, images.n_groups)
        ).astype(np.int64)
        key = group * images.n_identities + images.identity[both]
        values, cell, count = np.unique(key, return_inverse=True, return_counts=True)
        of_image = np.full((2, images.identity.size), -1)
        of_image[0, grouped] = cell[: grouped.size]
        of_image[1, members] = cell[grouped.size :]
        firsts = np.arange(images.n_groups + 2) * images.n_identities
        starts = np.searchsorted(values, firsts)
        person = values % images.n_identities
        return cls(person, count.astype(np.float64), starts, of_image)


class Totals:
    """Numbers, base weights and totals of all pairs within or across sides.

    Parameters
    ----------
    images : Images
    average : {"pair", "identity"}
    impostors : {"all", "same_group"}
        Which impostor pairs the overall scope uses.

    Attributes
    ----------
    cells : tuple of two Cells
        Of the probes and of the references: the same object if there is one side.
    """

    def __init__(self, images, average, impostors):
        self.images = images
        self.average = average
        self.impostors = impostors
        self.two_sides = images.side is not None
        sides = [np.arange(images.identity.size)]
        if self.two_sides:
            sides = [np.flatnonzero(images.side == s) for s in (0, 1)]
        self.cells = [Cells.of(images, side) for side in sides] * (3 - len(sides))
        self._counts = {}
        # Base weight of a genuine pair of each cell, one side.
        n = self.cells[0].count
        self._genuine_scale = np.ones_like(n)
        if average == "identity":
            number, none = n * (n - 1), np.zeros_like(n)
            self._genuine_scale = np.divide(2.0, number, out=none, where=n > 1)

    def rows(self, side, group):
        """Cells of a group on a side, a slice. Those of everyone where it is None."""
        group = self.images.n_groups if group is None else group
        return slice(*self.cells[side].starts[group : group + 2])

    def _met(self, scope):
        """Cells of the people who are on both sides of a scope, two ndarrays of int."""
        rows = [self.rows(side, (scope or (None, None))[side]) for side in (0, 1)]
        people = (cells.person[r] for cells, r in zip(self.cells, rows, strict=True))
        options = {"assume_unique": True, "return_indices": True}
        _, *met = np.intersect1d(*people, **options)
        return [m + r.start for m, r in zip(met, rows, strict=True)]

    def count(self, scope, rate="far"):
        """Number of the impostor pairs of a scope, or of the genuine ones of an FRR."""
        if scope is None and rate == "far" and self.impostors == "same_group":
            return sum(self.count((g, g)) for g in range(self.images.n_groups))
        if (scope, rate) not in self._counts:
            first, second = (cells.count for cells in self.cells)
            met = self._met(scope)
            g, h = scope or (None, None)
            n_first = first[self.rows(0, g)].sum()
            n_second = second[self.rows(1, h)].sum()
            same = first[met[0]] @ second[met[1]]
            found = {"frr": same, "far": n_first * n_second - same}
            if not self.two_sides and g == h:  # pairs were met twice, images once
                found = {"frr": (same - n_first) / 2, "far": found["far"] / 2}
            self._counts |= {(scope, r): round(float(n)) for r, n in found.items()}
        return self._counts[scope, rate]

    # ---- impostor pairs -----------------------------------------------------------

    def impostor_total(self, scope, weights):
        """Weight of all impostor pairs of a scope, (n_resamples,)."""
        if scope is None and self.impostors == "same_group":
            if self.average == "identity" and self.mixed:
                return self._mixed_total(weights)
            groups = range(self.images.n_groups)
            totals = (self.impostor_total((g, g), weights) for g in groups)
            return sum(totals, np.zeros(weights.n_resamples))
        g, h = scope or (None, None)
        own = not self.two_sides and g == h
        key = (self, "impostor", "own" if own else scope)
        if key not in weights.known:
            if own:
                cells, n = self.cells[0], self.cells[0].count
                scale = 1 / n if self.average == "identity" else np.ones_like(n)
                known = cells.starts, cells.person, scale, self._drawn(0, weights)
                sums, squares = _sums_by_group(*known, weights.identity)
                weights.known[key] = (sums**2 - squares) / 2
            else:
                masses = [self._masses(s, weights, self.average) for s in (0, 1)]
                met = [m[r] for m, r in zip(masses, self._met(scope), strict=True)]
                first, second = masses[0][self.rows(0, g)], masses[1][self.rows(1, h)]
                products = first.sum(axis=0) * second.sum(axis=0)
                weights.known[key] = products - (met[0] * met[1]).sum(axis=0)
        found = weights.known[key]
        return found[self.images.n_groups if g is None else g] if own else found

    def base(self, scope, left, right, genuine=False):
        """Base weights of given impostor, or genuine, pairs, or None where all weigh 1."""
        if self.average == "pair":
            return None
        within = not genuine and scope is None and self.impostors == "same_group"
        if within and self.mixed:
            counts = [
                p[i[self.images.identity[s]]]
                for (p, i), s in zip(self.patterns, (left, right), strict=True)
            ]
            return 1.0 / (counts[0] * counts[1]).sum(axis=1)
        first, second = self.cells
        kind = int(scope is None and not within)
        cell = first.of_image[kind, left]
        if genuine and not self.two_sides:
            return self._genuine_scale[cell]
        return 1.0 / (first.count[cell] * second.count[second.of_image[kind, right]])

    def _drawn(self, side, weights, power=1):
        """Sum over a cell's images of their multiplicity (to a power), (n_cells, ...)."""
        cells = self.cells[side]
        if weights.image is None:
            return cells.count[:, None]
        key = (self, side, power)
        if key not in weights.sums:
            kind, image = np.nonzero(cells.of_image >= 0)
            places = cells.of_image[kind, image], image
            shape = (cells.count.size, self.images.identity.size)
            members = sparse.csr_array((np.ones(image.size), places), shape=shape)
            weights.sums[key] = members @ weights.image.astype(np.float64) ** power
        return weights.sums[key]

    def _masses(self, side, weights, average):
        """Mass of each cell's person, v_k times that of its images, (n_cells, ...)."""
        cells, mass = self.cells[side], self._drawn(side, weights)
        if weights.identity is not None:
            mass = weights.identity[cells.person] * mass
        # That of its images is their multiplicity, or its mean.
        return mass / cells.count[:, None] if average == "identity" else mass

    # ---- weights of the pairs of two people ------------------------------------------

    def scale(self, scope):
        """1/2 if both sides of a scope are the same images, because each pair occurs twice."""
        same = scope is None or scope[0] == scope[1]
        return 0.5 if same and not self.two_sides else 1.0

    def people_masses(self, side, scope, power=1):
        """Sum over a person's images of their masses to a power, (n_people, n_columns).

        Columns are groups: that of the scope, everyone, or all if pairs are within groups.
        """
        groups = [(scope or (None, None))[side]]
        if scope is None and self.impostors == "same_group":
            groups = range(self.images.n_groups)
        found = np.zeros((self.images.n_identities, len(groups)))
        cells = self.cells[side]
        for column, group in enumerate(groups):
            rows = self.rows(side, group)
            each = 1.0 if self.average == "pair" else cells.count[rows] ** -power
            found[cells.person[rows], column] = cells.count[rows] * each
        return found

    def pair_weights(self, scope):
        """Weight of a pair of two images by their columns, besides both masses."""
        within = scope is None and self.impostors == "same_group"
        return np.eye(self.images.n_groups if within else 1)

    def masses_met(self, scope, power=1):
        """Sum over impostor pairs of both masses (to a power), by columns of both images."""
        one, other = (self.people_masses(side, scope, power) for side in (0, 1))
        met = np.outer(one.sum(axis=0), other.sum(axis=0)) - one.T @ other
        return self.scale(scope) * met

    # ---- same-group pairs of people with images in several groups --------------------

    @cached_property
    def mixed(self):
        """Whether the images of some person are in several groups."""
        return any(
            np.bincount(cells.person[: cells.starts[-2]]).max(initial=0) > 1
            for cells in self.cells
        )

    @cached_property
    def patterns(self):
        """For each side, distinct rows of images per group, and each identity's row."""
        patterns = []
        for cells in self.cells:
            n_groups = self.images.n_groups
            counts = np.zeros((self.images.n_identities, n_groups))
            for g in range(n_groups):
                rows = slice(*cells.starts[g : g + 2])
                counts[cells.person[rows], g] = cells.count[rows]
            rows, index = np.unique(counts, axis=0, return_inverse=True)
            patterns.append((rows, index.ravel()))
        return patterns

    def _mixed_total(self, weights):
        """Identity average over same-group pairs, a sum over k < l, (n_resamples,)."""
        # Two people add the mean over their m_kl pairs. m_kl depends on k and l only
        # through how many images each has per group, so people with the same pattern
        # are summed first.
        (rows_0, index_0), (rows_1, index_1) = self.patterns
        shared = rows_0 @ rows_1.T
        inverse = np.divide(1.0, shared, out=np.zeros_like(shared), where=shared > 0)
        of_person = inverse[index_0, index_1][:, None]
        n_people = self.images.n_identities
        total = np.zeros(weights.n_resamples)
        masses = [self._masses(side, weights, "pair") for side in (0, 1)]
        ones, people = np.ones(n_people), np.arange(n_people)
        members = [
            sparse.csr_array((ones, (index, people)), shape=(len(rows), n_people))
            for rows, index in self.patterns
        ]
        for g in range(self.images.n_groups):
            full = np.zeros((2, n_people, weights.n_resamples))
            for side, cells in enumerate(self.cells):
                rows = self.rows(side, g)
                full[side, cells.person[rows]] = masses[side][rows]
            first, second = (of @ own for of, own in zip(members, full, strict=True))
            total += (first * (inverse @ second)).sum(axis=0)
            total -= (of_person * full[0] * full[1]).sum(axis=0)
        return total if self.two_sides else total / 2

    # ---- genuine pairs ------------------------------------------------------------

    @cached_property
    def _images_of_person(self):
        return np.bincount(self.images.identity, minlength=self.images.n_identities)

    def copy_base(self, scope, image):
        """Base weight of a pair of two copies of one image, or 0 where it has none."""
        cell = self.cells[0].of_image[int(scope is None), image]
        inside = (cell >= 0) if scope is None else self.images.group[image] == scope[0]
        return np.where(inside, self._genuine_scale[cell], 0.0)

    def genuine_total(self, scope, weights, copies=True):
        """Weight of all genuine pairs of a scope, (n_resamples,).

        Parameters
        ----------
        scope, weights
        copies : bool
            Whether pairs of two copies of one image count. Without them the base weights
            are scaled by n_k / (n_k - 1), see :meth:`without_copies`.
        """
        key = (self, "genuine", scope if self.two_sides else copies)
        if key not in weights.known and self.two_sides:
            (first, second), met = self.cells, self._met(scope)
            one, other = (self._drawn(side, weights)[met[side]] for side in (0, 1))
            total = one * other
            if self.average == "identity":
                total = total / (first.count[met[0]] * second.count[met[1]])[:, None]
            if weights.identity is not None:
                total = total * weights.identity[first.person[met[0]]]
            weights.known[key] = np.broadcast_to(
                total.sum(axis=0), (weights.n_resamples,)
            )
        elif key not in weights.known:
            cells, scale = self.cells[0], self._genuine_scale
            drawn = self._drawn(0, weights)
            squares = drawn
            if not copies:
                scale = scale * self._scale_without_copies(cells.person)
                squares = self._drawn(0, weights, power=2)
            pairs = (drawn**2 - squares) / 2
            known = cells.starts, cells.person, scale, pairs, weights.identity
            weights.known[key], _ = _sums_by_group(*known)
        if self.two_sides:
            return weights.known[key]
        return weights.known[key][self.images.n_groups if scope is None else scope[0]]

    def without_copies(self, image):
        """n_k / (n_k - 1): compensates for the pairs of copies that are left out."""
        return self._scale_without_copies(self.images.identity[image])

    def _scale_without_copies(self, person):
        n = self._images_of_person[person]
        return np.divide(n, n - 1, out=np.zeros(n.size), where=n > 1)

    def kept_share(self, image):
        """1 - 1/n_k = E*[w_i w_j] of two images drawn together, one side."""
        return 1 - 1 / self._images_of_person[self.images.identity[image]]

    def expected_genuine_total(self, scope):
        """E* of the total under image resampling, one side (a number)."""
        rows, cells = self.rows(0, None if scope is None else scope[0]), self.cells[0]
        n = self._images_of_person[cells.person[rows]]
        scale, count = self._genuine_scale[rows], cells.count[rows]
        return float((scale * (1 - 1 / n) * count**2 / 2).sum())


@njit(nogil=True, cache=True)
def _sums_by_group(starts, person, scale, drawn, multiplicity):
    """Sums over groups' cells, and of squares, (n_groups + 1, n_resamples) each."""
    n_resamples = drawn.shape[1] if multiplicity is None else multiplicity.shape[1]
    sums, squares = np.zeros((2, starts.size - 1, n_resamples))
    alike = drawn.shape[1] == 1
    for g in range(starts.size - 1):
        for c in range(starts[g], starts[g + 1]):
            for r in range(n_resamples):
                # drawn: (n_cells, n_resamples or 1).
                # multiplicity: (n_people, n_resamples).
                value = scale[c] * drawn[c, 0 if alike else r]
                if multiplicity is not None:
                    value *= multiplicity[person[c], r]
                sums[g, r] += value
                squares[g, r] += value**2
    return sums, squares
