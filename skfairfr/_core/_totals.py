"""Complete designs: base weights of pairs, and total weights in closed form.

In a complete design every image is compared with every other one (or every probe with
every reference). The weight of all pairs of a scope then follows from sums over people:
no resample has to visit the pairs that no threshold accepts. A scope is None
(all impostor pairs used), ``(g, g)`` (both images in group g) or ``(g, h)`` (cross-group;
probe in g and reference in h where there are two sides).
"""

from functools import cached_property

import numpy as np
from numba import njit

from skfairfr._core._resampling import Weights


class Cells:
    """The images of one side, collected by identity or by identity and group.

    Attributes
    ----------
    identity, group, count : ndarrays, shape (n_cells,)
        ``group`` is -1 throughout where cells are whole identities.
    of_image : ndarray, shape (n_images,)
        Cell of each image; -1 for images of the other side or of an unknown group.
    """

    def __init__(self, images, members, by_group):
        key = images.identity[members].astype(np.int64)
        if by_group:
            members = members[images.group[members] >= 0]
            key = images.identity[members].astype(np.int64) * images.n_groups
            key = key + images.group[members]
        values, cell = np.unique(key, return_inverse=True)
        self.identity = values // images.n_groups if by_group else values
        self.group = values % images.n_groups if by_group else np.full(values.size, -1)
        self.count = np.bincount(cell, minlength=values.size)
        self.of_image = np.full(images.identity.size, -1, dtype=np.int64)
        self.of_image[members] = cell
        whole = images.per_stratum()[members]
        self._partial = members[self.count[cell] < whole]

    @cached_property
    def shares(self):
        """1 / count of each image's cell, 0 outside the cells, (n_images,)."""
        shares = np.zeros(self.of_image.size)
        inside = self.of_image >= 0
        shares[inside] = 1.0 / self.count[self.of_image[inside]]
        return shares

    def sums(self, weights, power=1):
        """Sum over a cell's images of their multiplicity (to a power), (n_cells, ...).

        A cell that holds all images of its identity always sums to their number.
        """
        if weights.image is None:
            return self.count[:, None]
        sums = np.repeat(self.count[:, None], weights.n_resamples, axis=1)
        images = self._partial if power == 1 else np.flatnonzero(self.of_image >= 0)
        if images.size:
            cell = self.of_image[images]
            order = np.argsort(cell, kind="stable")
            changed, first = np.unique(cell[order], return_index=True)
            values = weights.image[images[order]].astype(np.int64) ** power
            sums[changed] = np.add.reduceat(values, first, axis=0)
        return sums

    def rows(self, group):
        """Cells of a group; all where group is None."""
        if group is None:
            return np.arange(self.group.size)
        return np.flatnonzero(self.group == group)


class Totals:
    """Base weights and totals of all pairs within or across sides.

    Parameters
    ----------
    images : Images
    average : {"pair", "identity"}
    impostors : {"all", "same_group"}
        Which impostor pairs the overall scope uses.
    """

    def __init__(self, images, average, impostors):
        self.images = images
        self.average = average
        self.impostors = impostors
        self.two_sides = images.side is not None
        sides = [np.arange(images.identity.size)]
        if self.two_sides:
            sides = [np.flatnonzero(images.side == s) for s in (0, 1)]
        repeat = 1 if self.two_sides else 2
        self.by_identity = [Cells(images, s, False) for s in sides] * repeat
        self.by_group = [Cells(images, s, True) for s in sides] * repeat
        self._images_of_identity = images.per_stratum().astype(np.float64)
        self._counts = {}

    # ---- impostor pairs -----------------------------------------------------------

    def count_impostors(self, scope):
        """Number of impostor pairs of a scope."""
        if scope not in self._counts:
            total = self.impostor_total(scope, Weights(), "pair")
            self._counts[scope] = round(float(total[0]))
        return self._counts[scope]

    def impostor_total(self, scope, weights, average=None):
        """Weight of all impostor pairs of a scope, (n_resamples,).

        ``average`` replaces that of the totals, to count pairs.
        """
        average = self.average if average is None else average
        key = (self, "impostor", scope, average)
        if key in weights.known:
            return weights.known[key]
        scopes = [(None, None) if scope is None else scope]
        if scope is None and self.impostors == "same_group":
            if average == "identity" and self.mixed:
                return self._mixed_total(weights)
            scopes = [(g, g) for g in range(self.images.n_groups)]
        total = np.zeros(1)
        for g, h in scopes:
            if not self.two_sides and g == h:
                cells = (self.by_identity if g is None else self.by_group)[0]
                rows = cells.rows(g)
                if weights.image is None and weights.identity is not None:
                    one = np.ones(cells.count.size)
                    mass = one if average == "identity" else one * cells.count
                    people = (weights.identity, cells.identity)
                    found = _sums_over_people(*people, one, mass, rows)
                else:
                    found = _sums_over(
                        self._masses_of_all(cells, weights, average), rows
                    )
                sums, squares = found
                pairs = (sums**2 - squares) / 2
            else:
                identity_0, mass_0 = self._masses(0, g, weights, average)
                identity_1, mass_1 = self._masses(1, h, weights, average)
                _, row_0, row_1 = np.intersect1d(
                    identity_0, identity_1, assume_unique=True, return_indices=True
                )
                same = (mass_0[row_0] * mass_1[row_1]).sum(axis=0)
                pairs = mass_0.sum(axis=0) * mass_1.sum(axis=0) - same
            total = total + pairs
        weights.known[key] = np.broadcast_to(total, (weights.n_resamples,))
        return weights.known[key]

    def impostor_base(self, scope, left, right):
        """Base weights of given impostor pairs; None where all weigh 1."""
        if self.average == "pair":
            return None
        if scope is None and self.impostors == "same_group" and self.mixed:
            counts = [
                p[i[self.images.identity[s]]]
                for (p, i), s in zip(self._patterns, (left, right), strict=True)
            ]
            return 1.0 / (counts[0] * counts[1]).sum(axis=1)
        whole = scope is None and self.impostors == "all"
        cells = self.by_identity if whole else self.by_group
        base = cells[0].shares[left]
        base *= cells[1].shares[right]
        return base

    def _masses(self, side, group, weights, average):
        """Identity and mass of each person in a scope."""
        cells = (self.by_identity if group is None else self.by_group)[side]
        rows = cells.rows(group)
        return cells.identity[rows], self._masses_of_all(cells, weights, average)[rows]

    @staticmethod
    def _masses_of_all(cells, weights, average):
        """Mass of each cell's person: v_k times that of its images, (n_cells, ...).

        That is their multiplicity, or its mean. The total of a scope is a function of
        these: (sum^2 - sum of squares) / 2.
        """
        key = ("impostor", cells, average)
        if key not in weights.sums:
            mass = cells.sums(weights)
            if weights.identity is not None:
                mass = weights.identity[cells.identity].astype(np.float64) * mass
            if average == "identity":
                mass = mass / cells.count[:, None]
            weights.sums[key] = mass.astype(np.float64, copy=False)
        return weights.sums[key]

    # ---- same-group pairs of people with images in several groups --------------------

    @cached_property
    def mixed(self):
        """Whether the images of some person are in several groups."""
        return any(
            np.unique(cells.identity).size < cells.identity.size
            for cells in self.by_group
        )

    @cached_property
    def _patterns(self):
        """For each side, distinct rows of images per group, and each identity's row."""
        patterns = []
        for cells in self.by_group:
            counts = np.zeros((self.images.n_identities, self.images.n_groups))
            counts[cells.identity, cells.group] = cells.count
            rows, index = np.unique(counts, axis=0, return_inverse=True)
            patterns.append((rows, index.ravel()))
        return patterns

    def _mixed_total(self, weights):
        """Identity average over same-group pairs: sum over k < l of the mean over m_kl.

        m_kl depends on k and l only through how many images each has per group, so people
        with the same pattern are summed first.
        """
        (rows_0, index_0), (rows_1, index_1) = self._patterns
        shared = rows_0 @ rows_1.T
        inverse = np.divide(1.0, shared, out=np.zeros_like(shared), where=shared > 0)
        own = inverse[index_0, index_1]
        total = np.zeros(weights.n_resamples)
        for g in range(self.images.n_groups):
            dense = []
            for side in (0, 1):
                identity, mass = self._masses(side, g, weights, "pair")
                full = np.zeros((self.images.n_identities, weights.n_resamples))
                full[identity] = mass
                dense.append(full)
            summed = [
                _add_rows(full, index, rows.shape[0])
                for full, index, rows in zip(
                    dense, (index_0, index_1), (rows_0, rows_1), strict=True
                )
            ]
            total += (summed[0] * (inverse @ summed[1])).sum(axis=0)
            total -= (own[:, None] * dense[0] * dense[1]).sum(axis=0)
        return total if self.two_sides else total / 2

    # ---- genuine pairs ------------------------------------------------------------

    def genuine_base(self, scope, left, right):
        """Base weights of given genuine pairs; None where all weigh 1."""
        if self.average == "pair":
            return None
        cells = self.by_identity if scope is None else self.by_group
        n_left = cells[0].count[cells[0].of_image[left]].astype(np.float64)
        if not self.two_sides:
            return 2.0 / (n_left * (n_left - 1))
        return 1.0 / (n_left * cells[1].count[cells[1].of_image[right]])

    def copy_base(self, scope, image):
        """Base weight of a pair of two copies of one image; 0 where it has none."""
        cells = (self.by_identity if scope is None else self.by_group)[0]
        cell = cells.of_image[image]
        inside = (cell >= 0) if scope is None else self.images.group[image] == scope[0]
        return np.where(inside, self._genuine_scale(cells, self.average)[cell], 0.0)

    def genuine_total(self, scope, weights, copies=True, average=None):
        """Weight of all genuine pairs of a scope, (n_resamples,).

        Parameters
        ----------
        scope, weights
        copies : bool
            Whether pairs of two copies of one image count; without them the base weights
            are scaled by n_k / (n_k - 1), see :meth:`without_copies`.
        average : str, default=None
            Replaces that of the totals, to count pairs.
        """
        average = self.average if average is None else average
        group = None if scope is None else scope[0]
        if self.two_sides:
            return self._genuine_total_across(group, weights, average)
        kept = (self, "genuine", group, average, copies)
        if kept in weights.known:
            return weights.known[kept]
        cells = (self.by_identity if group is None else self.by_group)[0]
        scale = self._genuine_scale(cells, average)
        if not copies:
            n = self._whole(cells)
            scale = scale * np.divide(n, n - 1, out=np.zeros_like(n), where=n > 1)
        if weights.image is None and weights.identity is not None:
            n_pairs = cells.count * (cells.count - 1) / 2
            people = (weights.identity, cells.identity)
            total, _ = _sums_over_people(*people, scale, n_pairs, cells.rows(group))
        else:
            key = ("genuine", cells, copies, average)
            if key not in weights.sums:
                drawn = cells.sums(weights).astype(np.float64)
                squares = drawn if copies else cells.sums(weights, power=2)
                pairs = (drawn**2 - squares) / 2
                weights.sums[key] = scale[:, None] * pairs
                if weights.identity is not None:
                    weights.sums[key] *= weights.identity[cells.identity]
            total, _ = _sums_over(weights.sums[key], cells.rows(group))
        weights.known[kept] = np.broadcast_to(total, (weights.n_resamples,))
        return weights.known[kept]

    def without_copies(self, image):
        """n_k / (n_k - 1): compensates for the pairs of copies that are left out."""
        n = self._images_of_identity[image]
        return np.divide(n, n - 1, out=np.zeros_like(n), where=n > 1)

    def kept_share(self, image):
        """1 - 1/n_k = E*[w_i w_j] of two images drawn together; 1 across two sides."""
        n = self._images_of_identity[image]
        return np.ones_like(n) if self.two_sides else 1 - 1 / n

    def count_genuine(self, scope):
        """Number of genuine pairs of a scope."""
        total = self.genuine_total(scope, Weights(), average="pair")
        return round(float(total[0]))

    def expected_genuine_total(self, scope):
        """E* of the total under image resampling, one side (a number)."""
        cells = (self.by_identity if scope is None else self.by_group)[0]
        rows = cells.rows(None if scope is None else scope[0])
        n = self._whole(cells)[rows]
        scale = self._genuine_scale(cells, self.average)[rows]
        return float((scale * (1 - 1 / n) * cells.count[rows] ** 2 / 2).sum())

    def _genuine_total_across(self, group, weights, average):
        cells = self.by_identity if group is None else self.by_group
        rows = [np.arange(c.identity.size)[c.rows(group)] for c in cells]
        _, *common = np.intersect1d(
            cells[0].identity[rows[0]],
            cells[1].identity[rows[1]],
            assume_unique=True,
            return_indices=True,
        )
        rows = [r[c] for r, c in zip(rows, common, strict=True)]
        drawn = [c.sums(weights)[r] for c, r in zip(cells, rows, strict=True)]
        total = drawn[0] * drawn[1].astype(np.float64)
        if average == "identity":
            total = total / (cells[0].count[rows[0]] * cells[1].count[rows[1]])[:, None]
        if weights.identity is not None:
            total = total * weights.identity[cells[0].identity[rows[0]]]
        total = total.sum(axis=0)
        return np.broadcast_to(total, (weights.n_resamples,))

    def _whole(self, cells):
        """n_k of each cell's identity, over all groups."""
        n = np.zeros(cells.identity.size)
        inside = cells.of_image >= 0
        n[cells.of_image[inside]] = self._images_of_identity[inside]
        return n

    @staticmethod
    def _genuine_scale(cells, average):
        """Base weight of a genuine pair of each cell."""
        n = cells.count.astype(np.float64)
        if average == "pair":
            return np.ones_like(n)
        return np.divide(2.0, n * (n - 1), out=np.zeros_like(n), where=n > 1)


@njit(nogil=True, cache=True)
def _sums_over(values, rows):
    """Sum of some rows and sum of their squares, each (n_columns,)."""
    sums, squares = np.zeros((2, values.shape[1]))
    for row in rows:
        for r in range(sums.size):
            sums[r] += values[row, r]
            squares[r] += values[row, r] ** 2
    return sums, squares


@njit(nogil=True, cache=True)
def _sums_over_people(multiplicity, person, scale, mass, rows):
    """As ``_sums_over`` of ``scale * multiplicity[person] * mass``, which is not formed."""
    sums, squares = np.zeros((2, multiplicity.shape[1]))
    for row in rows:
        drawn = multiplicity[person[row]]
        for r in range(sums.size):
            value = scale[row] * drawn[r] * mass[row]
            sums[r] += value
            squares[r] += value**2
    return sums, squares


def _add_rows(values, index, n_rows):
    """Sum the rows of ``values`` that share an index, (n_rows, n_resamples)."""
    order = np.argsort(index, kind="stable")
    present, first = np.unique(index[order], return_index=True)
    result = np.zeros((n_rows, values.shape[1]))
    result[present] = np.add.reduceat(values[order], first, axis=0)
    return result
