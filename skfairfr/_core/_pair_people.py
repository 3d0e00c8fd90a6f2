"""What all impostor pairs of a scope weigh, person by person and for every two people.

The variance of a FAR needs these sums (``_few_errors.impostor_sums``). In a complete design
they follow from masses of people in closed form; of listed pairs they are counted.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse


@dataclass(frozen=True)
class CompletePeople:
    """Weights of the pairs of every two people as products of their masses.

    All pairs of two people k and l weigh the sum over components of
    ``scale * (first[k] * second[l] + first[l] * second[k])``.

    Attributes
    ----------
    first, second : sparse matrices, shape (n_people, n_components)
        Masses of each person as the probe and as the reference.
    scale : float
        1/2 where both are the same images, which would count twice; else 1.
    squared_weights : float or None
        Sum of the squared weights of pairs; None where all pairs weigh 1.
    """

    first: object
    second: object
    scale: float
    squared_weights: float | None

    @property
    def pairs(self):
        """Weight of all pairs that each person is in, (n_people,)."""
        one, other = self.first, self.second
        met = one @ _sums(other) + other @ _sums(one)
        return self.scale * (met - 2 * _dot(one, other))

    @property
    def sizes(self):
        """Sum over two people of the squared weight of all their pairs."""
        one, other = self.first, self.second
        gram = [(a.T @ b).toarray() for a, b in ((one, one), (other, other))]
        mixed = (one.T @ other).toarray()
        own = _dot(one, other)
        found = (gram[0] * gram[1]).sum() + (mixed * mixed.T).sum() - 2 * own @ own
        return self.scale**2 * float(found)

    @property
    def masses(self):
        """Of one component, those whose products are ``between``; None of several."""
        if self.first.shape[1] > 1:
            return None
        one, other = (m.toarray().ravel() for m in (self.first, self.second))
        return self.scale * one, other

    def between(self, left, right):
        """Weight of all pairs of given people, (n_pairs,)."""
        found = np.zeros(left.size)
        for column in range(self.first.shape[1]):
            one, other = (
                np.asarray(masses[:, [column]].todense()).ravel()
                for masses in (self.first, self.second)
            )
            found += one[left] * other[right] + one[right] * other[left]
        return self.scale * found


@dataclass(frozen=True)
class PatternPeople:
    """People whose pairs weigh 1 in all, if two people share a group at all.

    That is the identity average over same-group pairs of people who have images in
    several groups: what two people share depends on the pattern of either.

    Attributes
    ----------
    meet : ndarray of float, shape (n_patterns_0, n_patterns_1)
        1 where people of two patterns share a group, else 0.
    index : tuple of two ndarrays of int, shape (n_people,)
        Pattern of each person on either side.
    scale : float
        As of :class:`CompletePeople`.
    squared_weights : float
    """

    meet: np.ndarray
    index: tuple
    scale: float
    squared_weights: float
    masses: None = None

    @property
    def pairs(self):
        """Weight of all pairs that each person is in, (n_people,)."""
        numbers = [
            np.bincount(index, minlength=n)
            for index, n in zip(self.index, self.meet.shape, strict=True)
        ]
        one, other = self.index
        met = (self.meet @ numbers[1])[one] + (numbers[0] @ self.meet)[other]
        return self.scale * (met - 2 * self.meet[one, other])

    @property
    def sizes(self):
        """Sum over two people of the squared weight of all their pairs."""
        both = np.stack(self.index)
        kinds, inverse, n = np.unique(
            both, axis=1, return_inverse=True, return_counts=True
        )
        found = self.meet[kinds[0]][:, kinds[1]]
        size = self.scale * (found + found.T)
        return float(n @ size**2 @ n - (np.diag(size)[inverse.ravel()] ** 2).sum()) / 2

    def between(self, left, right):
        """Weight of all pairs of given people, (n_pairs,)."""
        one, other = self.index
        forth = self.meet[one[left], other[right]]
        return self.scale * (forth + self.meet[one[right], other[left]])


class ListedPeople:
    """The same of listed pairs, counted.

    Parameters
    ----------
    left, right : ndarrays of int, shape (n_pairs,)
        People of the pairs.
    base : ndarray, shape (n_pairs,), or None where every pair weighs 1
    n_people : int
    """

    def __init__(self, left, right, base, n_people):
        self.n_people = n_people
        weights = np.ones(left.size) if base is None else base
        self.pairs = sum(
            np.bincount(people, weights, minlength=n_people) for people in (left, right)
        )
        self._keys, clump = np.unique(self._key(left, right), return_inverse=True)
        self._size = np.bincount(clump, weights, minlength=self._keys.size)
        self.sizes = float((self._size**2).sum())
        self.squared_weights = None if base is None else float((base**2).sum())
        self.masses = None

    def _key(self, left, right):
        one, other = np.minimum(left, right), np.maximum(left, right)
        return one.astype(np.int64) * self.n_people + other

    def between(self, left, right):
        """Weight of all pairs of given people, who have some, (n_pairs,)."""
        return self._size[np.searchsorted(self._keys, self._key(left, right))]


def people_of_design(design, scope):
    """Weights of all impostor pairs of a scope of a complete design.

    Parameters
    ----------
    design : CompleteDesign
    scope : None, (g, g) or (g, h)

    Returns
    -------
    people : CompletePeople or PatternPeople
    """
    groups = design.images.n_groups
    scopes = [(None, None) if scope is None else scope]
    one_side = not design.two_sides and scopes[0][0] == scopes[0][1]
    scale = 0.5 if one_side else 1.0
    if scope is None and design.impostors == "same_group":
        if design.average == "identity" and design.mixed:
            return _of_patterns(design, scale)
        scopes = [(g, g) for g in range(groups)]
    first, second = (
        _masses(design, side, [s[side] for s in scopes], design.average)
        for side in (0, 1)
    )
    squared = None
    if design.average == "identity":
        # A pair weighs one over the images of both, which so many pairs share.
        one, other = (
            _masses(design, side, [s[side] for s in scopes], "squared")
            for side in (0, 1)
        )
        squared = scale * float(_sums(one) @ _sums(other) - _dot(one, other).sum())
    return CompletePeople(first, second, scale, squared)


def _of_patterns(design, scale):
    (rows_0, index_0), (rows_1, index_1) = design._patterns
    shared = rows_0 @ rows_1.T
    inverse = np.divide(1.0, shared, out=np.zeros_like(shared), where=shared > 0)
    numbers = [
        np.bincount(i, minlength=n)
        for i, n in zip((index_0, index_1), shared.shape, strict=True)
    ]
    squared = numbers[0] @ inverse @ numbers[1] - inverse[index_0, index_1].sum()
    meet = (shared > 0).astype(np.float64)
    return PatternPeople(meet, (index_0, index_1), scale, scale * float(squared))


def _masses(design, side, groups, average):
    """Masses of people in each of some groups, sparse (n_people, n_groups)."""
    power = {"pair": 1.0, "identity": 0.0, "squared": -1.0}[average]
    rows, columns, values = [], [], []
    for column, group in enumerate(groups):
        cells = (design.by_identity if group is None else design.by_group)[side]
        chosen = cells.rows(group)
        rows.append(cells.identity[chosen])
        columns.append(np.full(chosen.size, column))
        values.append(cells.count[chosen] ** power)
    shape = (design.images.n_identities, len(groups))
    where = (np.concatenate(rows), np.concatenate(columns))
    return sparse.csc_array((np.concatenate(values), where), shape=shape)


def _sums(masses):
    return np.asarray(masses.sum(axis=0)).ravel()


def _dot(one, other):
    """Sum over components of the product of both masses, (n_people,)."""
    return np.asarray(one.multiply(other).sum(axis=1)).ravel()
