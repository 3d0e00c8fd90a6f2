"""Genuine pairs of every scope, and what scopes mean for pairs of either kind."""

import numpy as np

from skfairfr._core import _rates, _running_sums
from skfairfr._core._sequences import PairSequence


class Genuine:
    """Genuine pairs of every scope, in ascending order of score, and their copies.

    Parameters
    ----------
    sequence : PairSequence
        All genuine pairs, descending.
    groups : tuple of two ndarrays, shape (n_genuine,)
        Group of the left and right image of each pair.
    design : CompleteDesign, or None for listed pairs
    """

    def __init__(self, sequence, groups, design, listed_base=None):
        self._all = sequence
        self._groups = groups
        self._design = design
        self._listed_base = listed_base
        self._scopes = {}

    def ascending(self, scope):
        """Pairs of a scope, lowest score first, with their base weights."""
        if scope not in self._scopes:
            rows = slice(None)
            if scope is not None:
                ordered = self._design is not None and self._design.two_sides
                rows = np.flatnonzero(within(self._groups, scope, ordered))
            pairs = self._all.take(rows)
            base = self._base(scope, pairs)
            pairs = pairs.with_base(base).take(slice(None, None, -1))
            self._scopes[scope] = PairSequence(
                *(
                    np.ascontiguousarray(a)
                    for a in (pairs.scores, pairs.left, pairs.right)
                ),
                None if base is None else np.ascontiguousarray(pairs.base),
            )
        return self._scopes[scope]

    def count(self, scope):
        """Number of genuine pairs of a scope."""
        return len(self.ascending(scope))

    def n_identities(self, scope, images):
        """Number of people with a genuine pair in a scope."""
        return np.unique(images.identity[self.ascending(scope).left]).size

    def rejected(self, scope, thresholds):
        """Number of rejected pairs at each threshold."""
        pairs = self.ascending(scope)
        return len(pairs) - _rates.count_at_least(pairs.scores[::-1], thresholds)

    def total(self, scope, weights, images, copies):
        """Weight of all genuine pairs of a scope, (n_resamples,)."""
        if self._design is not None:
            return self._design.genuine_total(scope, weights, copies)
        return sum_of_all(self.ascending(scope), weights.of_genuine, images)

    def _base(self, scope, pairs):
        if scope is not None and scope[0] != scope[1]:
            return None  # counted only: a cross-group FRR is never asked for
        if self._design is not None:
            return self._design.genuine_base(scope, pairs.left, pairs.right)
        return self._listed_base(pairs)


def within(groups, scope, ordered):
    """Mask of the pairs of a scope; a cross-group scope of one side has no order."""
    left, right = groups
    g, h = scope
    inside = (left == g) & (right == h)
    if g != h and not ordered:
        inside |= (left == h) & (right == g)
    return inside


def sum_of_all(pairs, weights_of, images):
    """Weight of all pairs of a sequence in every resample."""
    weights, units = weights_of(images, pairs)
    end = np.full((1, weights[0].shape[1]), len(pairs))
    return _running_sums.sums_before(weights, (*units, pairs.base), end)[0]
