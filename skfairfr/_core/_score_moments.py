"""Means and standard deviations of all scores, without a list of all pairs."""

from __future__ import annotations

import numpy as np

# Rows of a block of vectors, and rows and columns of a tile of adjusted scores.
BLOCK, SIDE = 8192, 2048


def score_moments(pairs, scope):
    """Number, mean and standard deviation of genuine, then of impostor scores.

    Parameters
    ----------
    pairs : EmbeddingPairs or ListedPairs
    scope : None or (g, g)

    Returns
    -------
    moments : tuple
        n_genuine, mean, sd, n_impostor, mean, sd, or nan without a pair.
    """
    genuine = pairs.genuine.ascending(scope).scores.astype(np.float64)
    first = _of_scores(genuine)
    if pairs.totals is None:
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
    if scope is None and pairs.totals.impostors == "same_group":
        groups = range(pairs.images.n_groups)
        sums = sum(_impostor_sums(pairs, (g, g)) for g in groups)
    else:
        sums = _impostor_sums(pairs, scope)
    mean, square = sums / n_pairs
    return n_pairs, float(mean), float(np.sqrt(max(square - mean**2, 0.0)))


def _impostor_sums(pairs, scope):
    """Sums of scores and of squared scores over the impostor pairs of a scope."""
    sides = pairs.members(scope)
    if pairs.compared.adjustment is None and pairs.compared.first is None:
        total, gram = _row_and_gram(pairs.compared.vectors, sides[0])
        others = total, gram
        if pairs.totals.two_sides:
            others = _row_and_gram(pairs.compared.vectors, sides[1])
        everything = [total @ others[0], (gram * others[1]).sum()]
    else:
        everything = _sums_of_tiles(pairs.compared, *sides)
    # Subtract the pairs of one person. Within one side every pair is counted twice.
    genuine = pairs.genuine.ascending(scope).scores.astype(np.float64)
    same = np.array([genuine.sum(), (genuine**2).sum()])
    if pairs.totals.two_sides:
        return everything - same
    own = pairs.own_scores[sides[0]].astype(np.float64)
    return (everything - np.array([own.sum(), (own**2).sum()])) / 2 - same


def _sums_of_tiles(compared, probes, references):
    """Sum of the scores of all pairs, and that of their squares, tile by tile."""
    sums = np.zeros(2)
    for start in range(0, probes.size, SIDE):
        for column in range(0, references.size, SIDE):
            parts = probes[start : start + SIDE], references[column : column + SIDE]
            scores = compared.tile(*parts).astype(np.float64).ravel()
            sums += scores.sum(), scores @ scores
    return sums


def _row_and_gram(vectors, members):
    """Sum of rows (d,) and Gram matrix (d, d) in float64, block by block."""
    n_features = vectors.shape[1]
    total, gram = np.zeros(n_features), np.zeros((n_features, n_features))
    for start in range(0, members.size, BLOCK):
        block = vectors[members[start : start + BLOCK]].astype(np.float64)
        total += block.sum(axis=0)
        gram += block.T @ block
    return total, gram
