"""Pairs of people and minibatches of triplets: who stands where, and that it is uniform."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_array_equal

from skfairfr.projectors._people import People
from skfairfr.projectors._training import ProjectionHead
from skfairfr.projectors._triplet_projector import Partners, TripletBatches, have_pairs
from tests.projectors.faces import rows_of

Y = torch.tensor([0, 1, 0, 2, 1, 0, 2, 2])
DOMAIN = torch.tensor([0, 1, 1, 0, 0, 1, 0, 1])
BOTH = [None, DOMAIN]


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def partners_by_loop(i, domain):
    """All images that image i makes a pair with."""
    return {
        j
        for j in range(len(Y))
        if Y[j] == Y[i] and j != i and (domain is None or domain[j] != domain[i])
    }


@pytest.mark.parametrize("domain", BOTH)
def test_partners_are_drawn_uniformly_among_all_there_are(domain):
    n = 600
    partners = Partners(Y, domain)
    for i in range(len(Y)):
        left, right = partners.draw(torch.full((n,), i), seeded())
        drawn = torch.where(left == i, right, left).tolist()
        allowed = partners_by_loop(i, domain)
        assert set(drawn) == allowed
        for j in allowed:
            assert abs(drawn.count(j) / n - 1 / len(allowed)) < 0.08


@pytest.mark.parametrize("domain", BOTH)
def test_every_image_is_paired_once(domain):
    left, right = Partners(Y, domain).all_once()
    for i, (a, b) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
        other = b if a == i else a
        assert i in (a, b) and other in partners_by_loop(i, domain)


def people(domain=None, y=Y):
    y = y.numpy()
    codes = None if domain is None else domain.numpy().astype(np.int8)
    return People(np.arange(len(y)), y, np.unique(y), None, None, None, codes)


def test_who_has_a_pair():
    y = torch.tensor([0, 0, 1, 1, 2])
    assert_array_equal(have_pairs(people(y=y)), [True, True, False])
    domain = torch.tensor([0, 1, 0, 0, 1])
    assert_array_equal(have_pairs(people(domain, y)), [True, False, False])


def batches(domain=None, n=60, n_people=12, margin=0.6, **options):
    """TripletBatches over random rows, and their rows, identities and domains."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 6)).astype(np.float32)
    y = torch.arange(n) % n_people
    domain = None if domain is None else (torch.arange(n) // n_people) % 2
    head = ProjectionHead(6, 8, 6, "residual", seeded())
    options = {"sampler": None, "selection_size": 25, "batch_size": 8} | options
    common = options.pop("batch_size"), seeded(1), options.pop("sampler")
    epoch = TripletBatches(
        rows_of(X), people(domain, y), *common, head=head, margin=margin, **options
    )
    return epoch, X, y, domain


def images(X, batch):
    """Triplets of a batch as images (n_triplets, 3)."""
    rows, triplets = batch
    place = [int(np.flatnonzero((X == row).all(1))[0]) for row in rows.numpy()]
    return torch.tensor(place)[triplets]


@pytest.mark.parametrize("domain", BOTH)
def test_triplets_are_what_they_are_called(domain):
    epoch, X, y, domain = batches(domain)
    found = torch.cat([images(X, batch) for batch in epoch])
    anchor, positive, negative = found.unbind(1)
    assert epoch.n_triplets == len(found) > 60
    assert (y[anchor] == y[positive]).all() and (anchor != positive).all()
    assert (y[anchor] != y[negative]).all()
    if domain is not None:
        assert (domain[anchor] != domain[positive]).all()
        assert (domain[negative] == domain[positive]).all()
    z = X / np.linalg.norm(X, axis=1, keepdims=True)
    near, far = (((z[anchor] - z[other]) ** 2).sum(1) for other in (positive, negative))
    assert (near + 0.6 > far - 1e-6).all()


def test_an_epoch_without_a_violation_costs_nothing():
    epoch, _, _, _ = batches(n_people=1)
    ((rows, triplets),) = list(epoch)
    assert rows.shape == (1, 6) and triplets.shape == (0, 3)
