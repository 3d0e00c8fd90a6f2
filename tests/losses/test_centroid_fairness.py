"""CentroidFairnessLoss against a loop over images and people."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from skfairfr.losses import CentroidFairnessLoss
from skfairfr.losses._centroid_fairness import apply_score_map, score_map
from tests.oracles.pairs import unit

K, D = 9, 6
GROUP = np.array([0, 0, 1, 0, 1, 1, 0, 2, 2])


def drawn(n=60, seed=0, d=D):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % K
    X = rng.standard_normal((K, d))[y] + 0.6 * rng.standard_normal((n, d))
    return X.astype(np.float32), y


def make(X, y, **options):
    generator = torch.Generator().manual_seed(1)
    return CentroidFairnessLoss(X, y, GROUP, generator=generator, **options)


def scores_before(X, y):
    """Genuine and impostor scores of every group, one after the other."""
    x = unit(X.astype(float))
    centroids = unit(np.stack([x[y == k].sum(0) for k in range(K)]))
    genuine, impostor = ([[] for _ in range(3)] for _ in range(2))
    for i in range(len(x)):
        for k in range(K):
            if GROUP[k] != GROUP[y[i]]:
                continue
            kind = genuine if k == y[i] else impostor
            kind[GROUP[k]].append(x[i] @ centroids[k])
    return x, centroids, genuine, impostor


def mapped(own, reference, score):
    table = torch.from_numpy(score_map(np.array(own), np.array(reference)))
    return float(apply_score_map(table, torch.tensor(float(score))))


def slowly(X, y, Z, nu, reference, weight, batch):
    """The loss of a batch, pair by pair."""
    x, centroids, genuine, impostor = scores_before(X, y)
    z, nu = unit(Z.astype(float)), unit(nu.astype(float))
    by_group = {}
    for i in batch:
        g, total, others = GROUP[y[i]], 0.0, []
        for k in range(K):
            before, now = x[i] @ centroids[k], z[i] @ nu[k]
            if k == y[i]:
                target = mapped(genuine[g], genuine[reference], before)
                total += weight * (now - target) ** 2
            elif GROUP[k] == g:
                target = mapped(impostor[g], impostor[reference], before)
                others.append((now - target) ** 2)
        by_group.setdefault(g, []).append(total + np.mean(others))
    return np.mean([np.mean(losses) for losses in by_group.values()])


@pytest.mark.parametrize(("reference", "weight"), [(0, 0.0), (1, 1.0), (2, 7.0)])
def test_the_loss_is_the_formula(reference, weight):
    X, y = drawn()
    Z, _ = drawn(seed=3, d=4)
    loss = make(X, y, reference=reference, genuine_weight=weight, n_features=4)
    batch = np.arange(5, 40)
    found = loss(*map(torch.from_numpy, (Z[batch], y[batch], X[batch])))
    nu = loss.centroids.detach().numpy()
    expected = slowly(X, y, Z, nu, reference, weight, batch)
    assert found.item() == pytest.approx(expected, rel=1e-4)


def test_one_group_at_the_start_has_no_loss():
    """Every score is its own target, and the centroids are those before."""
    X, y = drawn()
    rows = torch.from_numpy(X)
    start = np.stack([unit(X)[y == k].sum(0) for k in range(K)])
    loss = CentroidFairnessLoss(X, y, np.zeros(K, int), centroids=start)
    assert loss.reference == 0
    assert loss(rows, torch.from_numpy(y), rows).item() == pytest.approx(0, abs=1e-12)


def test_gradients_are_those_of_differences():
    X, y = drawn(9)
    loss = make(X, y).double()
    rows, y = torch.from_numpy(X).double(), torch.from_numpy(y)
    z = rows.clone().requires_grad_()
    assert torch.autograd.gradcheck(lambda z: loss(z, y, rows), (z,))


def test_blocks_change_rounding_only(monkeypatch):
    X, y = drawn(27)
    rows, y = torch.from_numpy(X), torch.from_numpy(y)
    results = []
    for elements in (None, 20):
        loss, z = make(X, y.numpy()), rows.flip(1).requires_grad_()
        if elements:
            monkeypatch.setattr("skfairfr.losses._softmax.BLOCK_ELEMENTS", elements)
        value = loss(z, y, rows)
        value.backward()
        results.append((value.detach(), z.grad, loss.centroids.grad))
    for whole, blocks in zip(*results, strict=True):
        assert_allclose(whole, blocks, rtol=1e-4, atol=1e-7)


def test_the_reference_is_the_group_that_is_told_apart_best():
    X, y = drawn(270)
    rng = np.random.default_rng(5)
    tight = GROUP[y] == 2
    X[tight] = 0.05 * rng.standard_normal((tight.sum(), D)) + unit(X[y.argsort()[:1]])
    X[tight] += np.where((y[tight] == 7)[:, None], 5.0, -5.0) * np.eye(D)[0]
    loss = make(X.astype(np.float32), y)
    assert loss.reference == 2
    separation = []
    _, _, genuine, impostor = scores_before(X, y)
    for g, i in zip(genuine, impostor, strict=True):
        separation.append((np.mean(g) - np.mean(i)) / np.sqrt(np.var(g) + np.var(i)))
    assert int(np.argmax(separation)) == 2


def test_people_held_out_have_centroids_of_their_own():
    """Those trained on, taken as held out: the loss with the means as centroids."""
    X, y = drawn()
    Z = unit(drawn(seed=3)[0]).astype(np.float32)
    loss = make(X, y, reference=1)
    rows = map(torch.from_numpy, (Z, y, X, GROUP))
    nu = np.stack([Z[y == k].sum(0) for k in range(K)])
    expected = slowly(X, y, Z, nu, 1, 1.0, range(len(y)))
    assert loss.held_out(*rows) == pytest.approx(expected, rel=1e-4)


def test_a_group_that_nobody_was_trained_on_keeps_its_scores():
    X, y = drawn()
    assert len(CentroidFairnessLoss(X, y, GROUP).genuine_maps) == GROUP.max() + 1
    loss = CentroidFairnessLoss(X, y, GROUP, n_groups=4)
    scores = torch.linspace(-1, 1, 77)
    for maps in (loss.genuine_maps, loss.impostor_maps):
        assert len(maps) == 4
        assert_allclose(apply_score_map(maps[3], scores), scores, atol=2e-7)
