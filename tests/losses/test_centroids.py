"""Where centroids start: as given, or directions drawn with a generator."""

import numpy as np
import pytest
import torch

from skfairfr.losses._softmax import starting_centroids


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def test_drawn_directions_are_uniform_on_the_sphere():
    drawn = starting_centroids(None, 20_000, 3, seeded())
    assert drawn.shape == (20_000, 3) and drawn.dtype == torch.float32
    unit = torch.nn.functional.normalize(drawn.double())
    assert unit.mean(0).numpy() == pytest.approx(np.zeros(3), abs=0.02)
    assert (unit.T @ unit / 20_000).numpy() == pytest.approx(np.eye(3) / 3, abs=0.02)


def test_drawn_ones_are_as_long_as_xavier_draws_them():
    shape = (3000, 500)
    drawn = starting_centroids(None, *shape, seeded())
    other = torch.nn.init.xavier_normal_(torch.empty(shape), generator=seeded(1))
    for share in (0.0, 0.001, 0.1, 0.5, 0.9, 1.0):
        ends = [np.quantile(of.numpy(), share) for of in (drawn, other)]
        assert ends[0] == pytest.approx(ends[1], rel=0.15, abs=2e-4)
    assert drawn.std().item() == pytest.approx(other.std().item(), rel=0.005)


def test_the_generator_alone_draws():
    before = torch.random.get_rng_state()
    one, same, other = (starting_centroids(None, 4, 3, seeded(s)) for s in (1, 1, 2))
    assert torch.equal(one, same) and not torch.equal(one, other)
    assert torch.equal(torch.random.get_rng_state(), before)


@pytest.mark.parametrize(
    "given",
    [
        [[1, 2], [3, 4], [5, 6]],
        torch.nn.Parameter(torch.tensor([[1.0, 2], [3, 4], [5, 6]]).double()),
    ],
)
def test_given_ones_are_float32_and_of_any_kind(given):
    start = starting_centroids(given, 3, 2, None)
    assert start.dtype == torch.float32 and not start.requires_grad
    assert start.tolist() == [[1, 2], [3, 4], [5, 6]]


@pytest.mark.parametrize("kind", [np.float32, torch.tensor])
def test_given_ones_are_copied(kind):
    given = kind([[1.0, 0.0], [0.0, 1.0]])
    start = starting_centroids(given, 2, 2, None)
    given[0] = 7
    assert start.tolist() == [[1, 0], [0, 1]]
