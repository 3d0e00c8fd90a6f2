"""The Fair von Mises-Fisher loss: equation 6 of EM22, its exact facts, its errors."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from torch.nn.functional import cross_entropy, linear, normalize

from skfairfr.losses import FairVMFLoss
from tests.oracles.vmf import exact_log_normalizer

GROUPS = ["female", "male", "male", "female", "male"]
KAPPAS = {"female": 30.0, "male": 12.0}
K, D = len(GROUPS), 16


def drawn(n=40, d=D, seed=0, dtype=torch.float32):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn((n, d), generator=generator, dtype=dtype)
    return x, torch.randint(K, (n,), generator=generator)


def make(kappa=KAPPAS, attribute=GROUPS, d=D, seed=1, **options):
    generator = torch.Generator().manual_seed(seed)
    return FairVMFLoss(K, d, kappa, attribute=attribute, generator=generator, **options)


def equation_6(loss, x, y, margin=0.0):
    """The published formula with log C of mpmath, in float64."""
    d = x.shape[1]
    kappa = loss.kappa.double()
    log_c = [float(exact_log_normalizer(float(k), d)) for k in kappa]
    cosines = normalize(x.double()) @ normalize(loss.centroids.double()).T
    own = torch.nn.functional.one_hot(y, K)
    logits = torch.tensor(np.array(log_c)) + kappa * (cosines - margin * own)
    return cross_entropy(logits, y)


@pytest.mark.parametrize(("d", "margin"), [(2, 0.0), (16, 0.2), (512, 0.2)])
def test_is_equation_6(d, margin):
    x, y = drawn(d=d)
    loss = make(d=d, margin=margin)
    expected = equation_6(loss, x, y, margin).item()
    for length in (1, 50):
        found = loss(length * x, y).item()
        assert found == pytest.approx(expected, rel=2e-5)


@pytest.mark.parametrize("d", [16, 512])
def test_equal_kappa_is_the_scaled_softmax(d):
    x, y = drawn(d=d)
    loss = make(25.0, None, d=d)
    assert torch.equal(loss.offset, torch.zeros(K))
    cosines = linear(normalize(x), normalize(loss.centroids))
    expected = cross_entropy(25 * cosines, y).item()
    assert loss(x, y).item() == pytest.approx(expected, rel=1e-6)
    groups = make({"female": 25.0, "male": 25.0}, d=d)
    assert torch.equal(groups(x, y), loss(x, y))


@pytest.mark.parametrize(("d", "kappa"), [(2, 1e4), (16, 1e-2), (512, 20.0)])
def test_logits_lie_within_their_bounds(d, kappa):
    loss = make({"female": kappa, "male": 2 * kappa}, d=d)
    x = torch.cat([drawn(d=d)[0], loss.centroids.detach(), -loss.centroids.detach()])
    logits = loss.logits(1e3 * x)
    assert logits.shape == (len(x), K) and logits.dtype == torch.float32
    low, high = loss.log_normalizer - loss.kappa, loss.log_normalizer + loss.kappa
    assert bool((logits >= low).all()) and bool((logits <= high).all())
    assert_allclose(logits[-K:].diagonal().detach(), low, rtol=1e-6)


@pytest.mark.parametrize(
    ("kappa", "attribute"),
    [
        (KAPPAS, GROUPS),
        ({0: 30.0, 1: 12.0}, np.array([0, 1, 1, 0, 1])),
        ([30, 12, 12, 30, 12], None),
        (torch.tensor([30.0, 12, 12, 30, 12]), None),
        (lambda age: 2 * age, [15, 6, 6, 15, 6]),
    ],
)
def test_kappa_in_every_form(kappa, attribute):
    loss = make(kappa, attribute)
    assert loss.kappa.tolist() == [30, 12, 12, 30, 12]
    assert torch.equal(loss(*drawn()), make()(*drawn()))


def test_all_is_float32_even_where_kappas_and_embeddings_are_float64():
    x, y = drawn(dtype=torch.float64)
    loss = make(np.linspace(10, 20, K, dtype=np.float64), None)
    value = loss(x.requires_grad_(), y)
    value.backward()
    assert value.dtype == torch.float32
    assert {t.dtype for t in loss.state_dict().values()} == {torch.float32}
    assert loss.logits(x).dtype == loss.centroids.grad.dtype == torch.float32
    assert x.grad.dtype == torch.float64


def test_in_float64_where_the_module_is():
    x, y = drawn(dtype=torch.float64)
    loss = make().double()
    assert loss(x, y).item() == pytest.approx(equation_6(loss, x, y).item(), rel=1e-6)
    assert loss(x, y).dtype == torch.float64
