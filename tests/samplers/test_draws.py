"""Drawing by group: shares of the groups, uniform within them, unknown ones apart."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from skfairfr.samplers._torch import GroupCells

CODES = np.array([0] * 70 + [1] * 20 + [-1] * 10)[
    np.random.default_rng(0).permutation(100)
]


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_weights_share_out_what_is_not_unknown():
    cells = GroupCells(CODES, 2)
    assert_allclose(cells.probabilities([1, 2]), [0.9 / 3, 1.8 / 3, 0.1])
    assert_allclose(cells.probabilities([7, 2]), [0.7, 0.2, 0.1])


def test_shares_of_the_draws_are_those_of_the_weights():
    drawn = GroupCells(CODES, 2).draw([1, 1], 90_000, generator())
    counts = np.bincount(CODES[drawn] + 1)
    # Three standard errors of a binomial share.
    assert_allclose(counts / 90_000, [0.1, 0.45, 0.45], atol=3 * 0.5 / 300)


def test_images_of_a_group_are_drawn_alike():
    drawn = GroupCells(CODES, 2).draw([0, 1], 40_000, generator()).numpy()
    counts = np.bincount(drawn, minlength=100)
    assert counts[CODES == 0].sum() == 0
    of_group = counts[CODES == 1]
    expected = of_group.mean()
    # Chi-squared with 19 degrees of freedom: 43.8 at 1 in 1000.
    assert ((of_group - expected) ** 2 / expected).sum() < 43.8


def test_a_batch_holds_one_group():
    batches = GroupCells(CODES, 2).draw_batches([1, 3], 16, 400, generator())
    assert [len(batch) for batch in batches] == [16] * 400
    groups = [np.unique(CODES[batch]) for batch in batches]
    assert {len(group) for group in groups} == {1}
    shares = np.bincount([int(group[0]) + 1 for group in groups]) / 400
    assert_allclose(shares, [0.1, 0.225, 0.675], atol=3 * 0.5 / 20)


def test_a_group_without_images_is_never_drawn():
    cells = GroupCells(np.array([0, 0, 2]), 3)
    assert_allclose(cells.probabilities([1, 5, 1]), [0.5, 0, 0.5, 0])


@pytest.mark.parametrize("weights", [[0, 0, 0], [0, 1, 0]])
def test_nothing_to_draw_is_refused(weights):
    with pytest.raises(ValueError, match="weights are 0 for every group"):
        GroupCells(np.array([0, 0, 2]), 3).probabilities(weights)
