"""Summaries of all scores of a scope: fine histograms, and moments from sums over images.

A histogram gives the FAR at any threshold, for levels above far_max.
"""

from dataclasses import dataclass

import numpy as np

from skfairfr._core import _device_tiles, _pair_tiles

N_BINS = 2**16


@dataclass(frozen=True)
class ScoreHistogram:
    """Weight of the impostor pairs of one scope in equal bins of score.

    Rates between two edges are interpolated linearly, which is wrong by at most the
    weight of one bin.

    Attributes
    ----------
    edges : ndarray, shape (n_bins + 1,)
    accepted : ndarray, shape (n_bins + 1,)
        Share of the weight at or above each edge.
    """

    edges: np.ndarray
    accepted: np.ndarray

    def far(self, thresholds):
        """FAR at thresholds of any shape."""
        return np.interp(thresholds, self.edges, self.accepted)

    def threshold(self, levels):
        """Threshold at FAR levels of any shape."""
        return np.interp(levels, self.accepted[::-1], self.edges[::-1])


def score_histograms(pairs):
    """Histograms of the overall scope and of every group, or {} if the weights allow none.

    One pass over all pairs. Base weights must be products of two images' factors; those of
    the identity average over same-group pairs of people in several groups are not.
    """
    design, images = pairs.design, pairs.images
    same_group = design.impostors == "same_group"
    if same_group and design.average == "identity" and design.mixed:
        return {}
    largest = 1.0
    if pairs.similarity == "dot":
        largest = float(np.einsum("ij,ij->i", pairs.vectors, pairs.vectors).max())
    low, high = -largest, largest
    factors = tuple(
        np.stack(
            [
                _factors(design, c[side], rows)
                for c in (design.by_identity, design.by_group)
            ]
        )
        for side, rows in enumerate(pairs.rows)
    )
    columns = (*pairs.rows, (low, high, N_BINS), factors)
    if _device_tiles.is_at_hand(pairs.compared.device):
        counts = _device_tiles.histogram(*columns, pairs.compared.device)
    else:
        counts = _pair_tiles.histogram(*columns, pairs.n_jobs)
    edges = np.linspace(low, high, N_BINS + 1)
    rows = {(g, g): counts[1 + g] for g in range(images.n_groups)}
    rows[None] = counts[1:].sum(axis=0) if same_group else counts[0]
    return {
        scope: _histogram(edges, row) for scope, row in rows.items() if row.sum() > 0
    }


def _factors(design, cells, rows):
    """Each row's factor of a pair's base weight; 0 outside the cells."""
    shares = cells.shares[rows.image]
    return (shares > 0).astype(np.float64) if design.average == "pair" else shares


def _histogram(edges, weight):
    above = np.concatenate([np.cumsum(weight[::-1])[::-1], [0.0]])
    return ScoreHistogram(edges, above / above[0])


BLOCK = 8192


def score_moments(pairs, scope):
    """Number, mean and standard deviation of genuine, then of impostor scores.

    Parameters
    ----------
    pairs : EmbeddingPairs or ListedPairs
    scope : None or (g, g)

    Returns
    -------
    moments : tuple
        n_genuine, mean, sd, n_impostor, mean, sd; nan without a pair.
    """
    genuine = pairs.genuine.ascending(scope).scores.astype(np.float64)
    first = _of_scores(genuine)
    if pairs.design is None:
        second = _of_scores(pairs.impostors(scope).scores.astype(np.float64))
    else:
        second = _of_impostors(pairs, scope)
    return (*first, *second)


def _of_scores(scores):
    if scores.size == 0:
        return 0, np.nan, np.nan
    return scores.size, float(scores.mean()), float(scores.std())


def _of_impostors(pairs, scope):
    n_pairs = pairs.count(scope)
    if n_pairs == 0:
        return 0, np.nan, np.nan
    if scope is None and pairs.design.impostors == "same_group":
        groups = range(pairs.images.n_groups)
        sums = sum(_impostor_sums(pairs, (g, g)) for g in groups)
    else:
        sums = _impostor_sums(pairs, scope)
    mean, square = sums / n_pairs
    return n_pairs, float(mean), float(np.sqrt(max(square - mean**2, 0.0)))


def _impostor_sums(pairs, scope):
    """Sums of scores and of squared scores over the impostor pairs of a scope."""
    groups = (None, None) if scope is None else scope
    sides = [
        rows.image if g is None else rows.image[rows.group == g]
        for rows, g in zip(pairs.rows, groups, strict=True)
    ]
    sums = [_row_and_gram(pairs.vectors, members) for members in sides]
    everything = np.array([sums[0][0] @ sums[1][0], (sums[0][1] * sums[1][1]).sum()])
    # Subtract the pairs of one person; within one side every pair is counted twice.
    held = pairs.genuine.ascending(scope).scores.astype(np.float64)
    same = np.array([held.sum(), (held**2).sum()])
    if pairs.design.two_sides:
        return everything - same
    own = pairs.own_scores[sides[0]].astype(np.float64)
    return (everything - np.array([own.sum(), (own**2).sum()])) / 2 - same


def _row_and_gram(vectors, members):
    """Sum of rows (d,) and Gram matrix (d, d) in float64, block by block."""
    n_features = vectors.shape[1]
    total, gram = np.zeros(n_features), np.zeros((n_features, n_features))
    for start in range(0, members.size, BLOCK):
        block = vectors[members[start : start + BLOCK]].astype(np.float64)
        total += block.sum(axis=0)
        gram += block.T @ block
    return total, gram
