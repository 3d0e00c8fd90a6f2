"""Gradients of gradients of every loss: differences of its gradients, or an error."""

import pytest
import torch

from skfairfr.losses import (
    CentroidFairnessLoss,
    FairVMFLoss,
    FPRPenaltyLoss,
    GroupAdversaryLoss,
    TripletLoss,
    _centroid_fairness,
    _softmax,
)

K, D = 4, 3
Y = torch.arange(8) % K
X = torch.randn((8, D), generator=torch.Generator().manual_seed(0)).double()
TRIPLETS = torch.tensor([[0, 4, 1], [5, 1, 2], [3, 7, 0]])


def losses():
    """Each loss, and what it is called with after the embeddings."""
    drawn = {"generator": torch.Generator().manual_seed(1)}
    group = [0, 0, 1, 1]
    return {
        "vmf": (FairVMFLoss(K, D, [4, 5, 6, 7], margin=0.1, **drawn), (Y,)),
        "penalty": (FPRPenaltyLoss(K, D, scale=4.0, **drawn), (Y,)),
        "adversary": (GroupAdversaryLoss(K, D, 2, scale=4.0, **drawn), (Y,)),
        "centroid fairness": (CentroidFairnessLoss(X, Y, group, **drawn), (Y, X)),
        "triplet": (TripletLoss(), (TRIPLETS,)),
    }


@pytest.mark.parametrize("name", list(losses()))
@pytest.mark.parametrize("n_rows", [3, pytest.param(100, marks=pytest.mark.slow)])
def test_they_are_differences_of_gradients(name, n_rows, monkeypatch):
    loss, given = losses()[name]
    loss.double()
    monkeypatch.setattr(_centroid_fairness, "rows_per_block", lambda _: n_rows)
    embeddings = (X + 0.1 * X.flip(0)).requires_grad_()
    parameters = [p for p in loss.parameters() if p.requires_grad]

    def value(embeddings, *parameters):
        return loss(embeddings, *given)

    fast = n_rows == 3
    assert torch.autograd.gradgradcheck(
        value, (embeddings, *parameters), fast_mode=fast
    )


@pytest.mark.parametrize("name", ["vmf", "penalty", "adversary"])
def test_many_logits_have_none(name, monkeypatch):
    monkeypatch.setattr(_softmax, "AUTOGRAD_ELEMENTS", 7 * K)
    loss, given = losses()[name]
    embeddings = X.float().requires_grad_()
    (gradient,) = torch.autograd.grad(loss(embeddings, *given), embeddings)
    assert not gradient.requires_grad
    with pytest.raises(ValueError, match=r"create_graph=True .* at most 7 images"):
        loss(embeddings, *given).backward(create_graph=True)
    assert loss(embeddings[:7], Y[:7]).backward(create_graph=True) is None
