"""TripletLoss and the mean over all triplets: against loops over triplets."""

import numpy as np
import pytest
import torch
from torch.nn.functional import normalize

from skfairfr.losses import TripletLoss, _softmax
from skfairfr.losses._triplet import mean_triplet_loss

TRIPLETS = torch.tensor([[0, 1, 2], [1, 0, 3], [4, 5, 0]])


def draw(n=8, seed=0, n_features=5):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn((n, n_features), generator=generator, dtype=torch.float64)


def one(anchor, positive, negative, margin):
    """The formula for one triplet, in numpy."""
    a, p, n = (v / np.linalg.norm(v) for v in (anchor, positive, negative))
    return max(((a - p) ** 2).sum() - ((a - n) ** 2).sum() + margin, 0)


@pytest.mark.parametrize("margin", [0.1, 0.6, 4.0])
def test_the_loss_is_the_formula(margin):
    z = draw()
    rows = z.numpy()
    expected = [one(*rows[list(triplet)], margin) for triplet in TRIPLETS.tolist()]
    assert float(TripletLoss(margin)(z, TRIPLETS)) == pytest.approx(np.mean(expected))


def test_the_gradient_is_that_of_differences():
    z = draw().requires_grad_()
    assert torch.autograd.gradcheck(lambda z: TripletLoss(3.0)(z, TRIPLETS), (z,))


def test_no_triplet_costs_nothing_and_can_be_differentiated():
    z = draw().requires_grad_()
    loss = TripletLoss()(z, TRIPLETS[:0])
    loss.backward()
    assert float(loss.detach()) == 0
    assert not z.grad.any()


def all_triplets(left, right, y, margin):
    """Both anchors of every pair with every image of others on the positive's side."""
    return [
        one(anchor[i], positive[i], positive[j], margin)
        for anchor, positive in ((left, right), (right, left))
        for i in range(len(y))
        for j in range(len(y))
        if y[i] != y[j]
    ]


@pytest.mark.parametrize("block", [None, 10])
def test_the_mean_is_over_all_triplets(monkeypatch, block):
    if block:
        monkeypatch.setattr(_softmax, "BLOCK_ELEMENTS", block)
    left, right = normalize(draw(9)), normalize(draw(9, seed=1))
    y = torch.tensor([0, 1, 1, 2, 3, 3, 3, 0, 4])
    expected = np.mean(all_triplets(left.numpy(), right.numpy(), y.tolist(), 0.6))
    assert mean_triplet_loss(left, right, y, 0.6) == pytest.approx(expected)


def test_the_mean_of_nothing_is_undefined():
    left = normalize(draw(3))
    assert np.isnan(mean_triplet_loss(left, left, torch.zeros(3, dtype=int), 0.6))
