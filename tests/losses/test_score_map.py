"""The map of scores against a loop over sorted scores, and what it does to quantiles."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from skfairfr.losses._centroid_fairness import N_CELLS, apply_score_map, score_map


def draw(mean, sd, n, seed):
    scores = np.random.default_rng(seed).normal(mean, sd, n)
    return np.clip(scores, -1, 1)


def between(level, levels, values):
    """Value at a level by the line between two neighbours, one after the other."""
    for j in range(len(levels) - 1):
        if levels[j] <= level <= levels[j + 1]:
            share = (level - levels[j]) / (levels[j + 1] - levels[j])
            return values[j] + share * (values[j + 1] - values[j])
    return values[0] if level < levels[0] else values[-1]


def slowly(scores, reference, score):
    """FRR of the score in its group, and the reference's score of that FRR."""
    own, other = sorted(scores), sorted(reference)
    if score < own[0] or score > own[-1]:
        end = own[0] if score < own[0] else own[-1]
        return slowly(scores, reference, end) + score - end
    own_levels = [(j + 0.5) / len(own) for j in range(len(own))]
    other_levels = [(j + 0.5) / len(other) for j in range(len(other))]
    return between(between(score, own, own_levels), other_levels, other)


@pytest.mark.parametrize("sizes", [(40, 25), (7, 60), (1, 3), (5, 1)])
def test_the_table_is_the_quantile_function_after_the_distribution(sizes):
    own, other = draw(0.1, 0.2, sizes[0], 0), draw(0.3, 0.1, sizes[1], 1)
    table = score_map(own, other)
    grid = np.linspace(-1, 1, N_CELLS + 1)
    for place in range(0, N_CELLS + 1, 97):
        expected = slowly(own, other, grid[place])
        assert table[place] == pytest.approx(expected, abs=1e-6)


def test_scores_between_points_are_on_the_line():
    table = torch.linspace(-1, 1, N_CELLS + 1).square()
    scores = torch.tensor([-1.0, -0.3, 0.0, 0.123, 1.0])
    expected = np.interp(scores, np.linspace(-1, 1, N_CELLS + 1), table)
    assert_allclose(apply_score_map(table, scores), expected, atol=1e-6)
