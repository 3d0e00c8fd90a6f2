"""GroupAdversaryLoss against its formula in numpy, and who gets a gradient."""

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy, normalize

from skfairfr.losses import FairVMFLoss, GroupAdversaryLoss
from skfairfr.losses._softmax import held_out_cross_entropy

K, D, G = 5, 8, 3


def make(seed=1, **options):
    generator = torch.Generator().manual_seed(seed)
    usual = {"alpha": 0.7, "n_discriminators": 3, "discriminator_dim": 4}
    return GroupAdversaryLoss(K, D, G, generator=generator, **(usual | options))


def drawn(n=20, seed=0, dtype=torch.float32):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn((n, D), generator=generator, dtype=dtype)
    return x, torch.arange(n) % K


def selu(v):
    alpha, scale = 1.6732632423543772, 1.0507009873554805
    return scale * np.where(v > 0, v, alpha * (np.exp(v) - 1))


def divergences(loss, x):
    """Of each discriminator, image by image."""
    found = []
    for read in loss.discriminators:
        weights = {k: v.double().numpy() for k, v in read.state_dict().items()}
        of_images = []
        for row in x.double().numpy():
            z = row / np.linalg.norm(row) * np.sqrt(D)
            hidden = selu(weights["hidden.weight"] @ z + weights["hidden.bias"])
            logits = weights["output.weight"] @ hidden + weights["output.bias"]
            p = np.exp(logits) / np.exp(logits).sum()
            of_images.append(sum(np.log((1 / G) / q) / G for q in p))
        found.append(np.mean(of_images))
    return found


def plain(loss, x, y):
    """Cross-entropy of identities and the largest divergence, in float64."""
    cosines = normalize(x.double()) @ normalize(loss.centroids.double()).T
    identities = cross_entropy(loss.scale.double() * cosines, y).item()
    return identities + loss.alpha * max(divergences(loss, x))


@pytest.mark.parametrize(("alpha", "scale"), [(0.1, 20.0), (3.0, 1.0)])
def test_the_loss_is_the_formula(alpha, scale):
    x, y = drawn()
    loss = make(alpha=alpha, scale=scale)
    assert loss(x, y).item() == pytest.approx(plain(loss, x, y), rel=1e-5)


def test_the_surest_discriminator_counts():
    x, _ = drawn()
    loss = make()
    with torch.no_grad():
        loss.discriminators[1].output.weight.mul_(50)
    found = divergences(loss, x)
    assert max(found) == found[1] > 2 * found[0]
    z = normalize(x)
    assert loss.penalty(z).item() == pytest.approx(found[1], rel=1e-5)


def test_without_weight_it_is_the_scaled_softmax():
    x, y = drawn()
    loss = make(alpha=0.0, scale=12.0)
    assert len(loss.discriminators) == 0 and loss.penalty(x).item() == 0
    start = loss.centroids.detach().numpy()
    assert torch.equal(loss(x, y), FairVMFLoss(K, D, 12.0, centroids=start)(x, y))


def test_gradients_are_those_of_differences():
    x, y = drawn(6, dtype=torch.float64)
    loss = make().double()
    assert torch.autograd.gradcheck(lambda x: loss(x, y), (x.requires_grad_(),))


def test_the_adversary_is_one_sided():
    x, y = drawn()
    loss = make()
    loss(x.requires_grad_(), y).backward()
    assert x.grad.any() and loss.centroids.grad.any()
    assert all(p.grad is None for p in loss.discriminators.parameters())


def test_a_discriminator_is_trained_alone():
    x, _ = drawn()
    group = torch.arange(len(x)) % G
    loss = make()
    loss.discriminators[1].requires_grad_(True)
    value = loss.discriminator_loss(x, group, 1)
    expected = cross_entropy(loss.discriminators[1](x), group)
    assert torch.equal(value, expected)
    value.backward()
    trained = {n for n, p in loss.named_parameters() if p.grad is not None}
    assert trained and all(name.startswith("discriminators.1.") for name in trained)


def test_people_held_out_are_judged_with_the_adversary():
    x, y = drawn()
    loss, z = make(), normalize(x)
    identities = held_out_cross_entropy(z, y, scale=torch.full((K,), 20.0))
    expected = identities + 0.7 * max(divergences(loss, x))
    assert loss.held_out(z, y, K) == pytest.approx(expected, rel=1e-5)
