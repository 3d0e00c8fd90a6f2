"""FAR at any threshold from a fine histogram of all scores, for levels above far_max."""

from dataclasses import dataclass

import numpy as np

from skfairfr._core import _pairs

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
    """Histograms of the overall scope and of every group, or {} where none can be had.

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
    counts = _pairs.histogram(*pairs.rows, (low, high, N_BINS), factors, pairs.n_jobs)
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
