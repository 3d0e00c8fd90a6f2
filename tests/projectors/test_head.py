"""The network between encoder and matcher: its formula, its start, its unit rows."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from skfairfr.projectors import _training
from skfairfr.projectors._people import People
from skfairfr.projectors._training import HEADS, ProjectionHead, sums_by_identity
from tests.projectors.faces import rows_of


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def head(kind="mlp", sizes=(6, 9, 6), seed=0):
    return ProjectionHead(*sizes, kind, generator(seed))


def rows(n=20, d=6):
    return torch.randn((n, d), generator=generator(1))


def in_numpy(net, x):
    """The formula, in float64."""
    w = {k: v.numpy().astype(float) for k, v in net.state_dict().items()}
    x = x.numpy().astype(float)
    x = x / np.sqrt((x**2).sum(1, keepdims=True))
    hidden = np.maximum(x @ w["hidden.weight"].T + w["hidden.bias"], 0)
    z = hidden @ w["output.weight"].T + w["output.bias"]
    z = z + x if net.kind == "residual" else z
    return z / np.sqrt((z**2).sum(1, keepdims=True))


@pytest.mark.parametrize("kind", HEADS)
def test_is_its_formula(kind):
    net = head(kind)
    torch.nn.init.normal_(net.output.weight, generator=generator(2))
    assert_allclose(net(rows()).detach(), in_numpy(net, rows()), atol=1e-6)


def test_residual_starts_as_the_identity_map():
    x = torch.nn.functional.normalize(rows())
    assert_allclose(head("residual")(x).detach(), x, atol=1e-6)


@pytest.mark.parametrize("kind", HEADS)
def test_a_row_of_zeros_stays_one(kind):
    net, x = head(kind), rows()
    torch.nn.init.normal_(net.output.weight, generator=generator(2))
    torch.nn.init.ones_(net.output.bias)
    x[3] = 0
    lengths = torch.linalg.vector_norm(net(x), dim=1).detach()
    assert_allclose(lengths, np.where(np.arange(20) == 3, 0, 1), atol=1e-6)


def test_weights_are_drawn_with_the_generator_alone():
    before = torch.random.get_rng_state()
    one, same, other = head(), head(), head(seed=1)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert torch.equal(one.hidden.weight, same.hidden.weight)
    assert not torch.equal(one.hidden.weight, other.hidden.weight)


def test_rows_are_float32_whatever_comes():
    assert head(sizes=(6, 4, 3))(rows().half()).dtype == torch.float32


def test_sums_are_those_of_each_identity(monkeypatch):
    net, x = head(), rows()
    monkeypatch.setattr(_training, "BLOCK_ROWS", 4)
    place = np.array([1, 4, 5, 6, 9, 12, 19])
    y = np.array([0, 2, 1, 2, 0, 2, 0])
    people = People(place, y, np.array(["a", "b", "c"]))
    z = net(x).detach().numpy()
    expected = [z[place[y == who]].sum(0) for who in range(3)]
    assert_allclose(sums_by_identity(rows_of(x), people, net), expected, atol=1e-6)
