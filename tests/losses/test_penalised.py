"""The penalised cross-entropy: a double loop, autograd of the formula, the published head."""

import math
from fractions import Fraction
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from torch.nn.functional import cross_entropy, normalize

from skfairfr.losses import _fpr_penalty, _softmax
from skfairfr.losses._fpr_penalty import penalised_cross_entropy
from tests.covering import daily_pairwise

N_SAMPLES, N_IDENTITIES, N_FEATURES = 13, 9, 5
NAN = torch.tensor(math.nan, dtype=torch.float64)
RUNNING = torch.tensor(0.3, dtype=torch.float64)
PENALTIES = [("ratio", "count"), ("ratio", "cosine"), ("mean_square", "count")]
BASES = ["cosface", "arcface", "softmax"]


@pytest.fixture(params=["autograd", "held", "blocks"], autouse=True)
def small(request, monkeypatch):
    """Whether torch takes the loss, or blocks do, from cosines that are held or not."""
    if request.param != "autograd":
        monkeypatch.setattr(_softmax, "AUTOGRAD_ELEMENTS", 0)
    if request.param == "blocks":
        monkeypatch.setattr(_fpr_penalty, "HELD_ELEMENTS", 3 * N_IDENTITIES)
        monkeypatch.setattr(_softmax, "BLOCK_ELEMENTS", 4 * N_IDENTITIES)


def rule(penalty="ratio", weighting="count", **options):
    usual = {"far": 0.1, "alpha": 0.2, "base": "cosface", "scale": 16.0}
    usual |= {"margin": 0.35, "momentum": 0.0}
    return SimpleNamespace(penalty=penalty, weighting=weighting, **(usual | options))


def problem(seed=0, dtype=torch.float64, n=N_SAMPLES, k=N_IDENTITIES):
    """Unit embeddings, centroids of any length, identities; the first two want gradients."""
    generator = torch.Generator().manual_seed(seed)
    embeddings = torch.randn((n, N_FEATURES), generator=generator, dtype=torch.float64)
    centroids = torch.randn((k, N_FEATURES), generator=generator, dtype=torch.float64)
    y = torch.randint(k, (n,), generator=generator)
    # Near their own centroid, as in training: few other cosines are above the own one.
    embeddings = normalize(embeddings + 1.5 * normalize(centroids)[y])
    pair = [t.to(dtype).requires_grad_() for t in (embeddings, 3 * centroids)]
    return *pair, y


def double_loop(cosines, y, rule, running=math.nan):
    """T_u, selected (i, j) and gamma_i (or p_i), one cosine after the other."""
    others = []
    for i, row in enumerate(cosines):
        for j, cosine in enumerate(row):
            wrong_label = rule.penalty == "mean_square" and cosine > row[y[i]]
            if j != y[i] and not wrong_label:
                others.append((cosine, i, j))
    k = math.ceil(Fraction(str(rule.far)) * len(others))
    ordered = sorted((c for c, _, _ in others), reverse=True)
    threshold = ordered[k - 1] if k else -math.inf
    if rule.momentum and not math.isnan(running):
        threshold = rule.momentum * running + (1 - rule.momentum) * threshold
    strictly = rule.penalty == "mean_square"
    selected = [
        (i, j) for c, i, j in others if (c > threshold if strictly else c >= threshold)
    ]
    shares = []
    for i, row in enumerate(cosines):
        mine = [row[j] for s, j in selected if s == i]
        if strictly:
            shares.append(sum(c * c for c in mine) / len(mine) if mine else 0.0)
        elif rule.weighting == "count":
            shares.append(len(mine) / (len(row) - 1))
        else:
            shares.append(sum(mine) / (len(row) - 1))
    return threshold, selected, shares


def own_target(cosine, rule):
    """The base's own cosine, by angles."""
    if rule.base == "cosface":
        return cosine - rule.margin
    if rule.base == "arcface":
        turned = torch.acos(cosine) + rule.margin
        straight = cosine - rule.margin * math.sin(rule.margin)
        return torch.where(turned < math.pi, torch.cos(turned), straight)
    return cosine


def plain(embeddings, centroids, y, rule, running=math.nan):
    """Loss by METHODS §7, the penalty added to the other logits; autograd differentiates."""
    unit = normalize(centroids)
    cosines = embeddings @ unit.T
    _, selected, shares = double_loop(cosines.tolist(), y.tolist(), rule, running)
    shares = torch.tensor(shares, dtype=cosines.dtype)
    own = cosines.gather(1, y[:, None]).squeeze(1)
    is_own = torch.nn.functional.one_hot(y, len(centroids)).bool()
    if rule.penalty == "ratio" or not rule.alpha:
        if rule.weighting == "cosine":
            mask = torch.zeros_like(cosines)
            for i, j in selected:
                mask[i, j] = 1
            shares = (cosines * mask).sum(1) / (len(centroids) - 1)
        penalty = rule.alpha * shares / rule.far
    else:
        penalty = rule.alpha * published_penalty(embeddings, unit, y, rule, selected)
    others = rule.scale * (cosines + penalty[:, None])
    target = rule.scale * own_target(own, rule)
    return cross_entropy(torch.where(is_own, target[:, None], others), y)


def published_penalty(embeddings, unit, y, rule, selected):
    """What "mean_square" takes from the own cosine, one image after the other."""
    penalty = []
    for i, z in enumerate(embeddings):
        own, squares = z @ unit[y[i]], []
        for j in (j for s, j in selected if s == i):
            reaches = z @ unit[j] >= own_target(own, rule)
            squares.append((z @ (unit[j].detach() if reaches else unit[j])) ** 2)
        mean = sum(squares) / max(1, len(squares))
        penalty.append((1 + z @ unit[y[i]].detach()) * mean)
    return torch.stack(penalty)


def published_head(embeddings, centroids, y, margin, scale):
    """Loss of the head that FPR21's authors published, in matrices of all identities.

    An independent reading of ``Cifp`` (TFace, recognition/torchkit/head/localfc), for one
    process: its own threshold, masks and detached copies; the clamp of cosines left out.
    """
    cosines = embeddings @ normalize(centroids).T
    constant = embeddings @ normalize(centroids).T.detach()
    n, k = cosines.shape
    own = torch.eye(k, dtype=torch.bool)[y]
    target, target_constant = cosines[own], constant[own]
    noisy = ~own & (cosines > target[:, None])
    clean = cosines[~own & ~noisy]
    rank = math.ceil((n * (k - 1) - int(noisy.sum())) / (k - 1))
    threshold = clean.sort(descending=True).values[rank - 1]
    chosen = ~own & ~noisy & (cosines > threshold)
    below = cosines < (target - margin)[:, None]
    squares = torch.where(below, cosines, constant).square() * chosen
    mean = squares.sum(1) / chosen.sum(1).clamp_min(1)
    target = target - margin - (1 + target_constant) * mean
    return cross_entropy(scale * torch.where(own, target[:, None], cosines), y)


def grads_of(loss, embeddings, centroids):
    return [g.numpy() for g in torch.autograd.grad(loss, (embeddings, centroids))]


EVERY = daily_pairwise(product(PENALTIES, BASES, [0.0, 0.7]))


@pytest.mark.parametrize(("kind", "base", "momentum"), EVERY)
def test_all_is_that_of_a_double_loop_and_of_the_formula(kind, base, momentum):
    for seed, alpha in product(range(3), (0.0, 0.05, 1.0)):
        given = rule(*kind, base=base, momentum=momentum, alpha=alpha)
        embeddings, centroids, y = problem(seed)
        loss, threshold, share = penalised_cross_entropy(
            embeddings, centroids, y, given, RUNNING
        )
        expected = plain(embeddings, centroids, y, given, 0.3)
        assert loss.item() == pytest.approx(expected.item(), rel=1e-12)
        found = grads_of(loss, embeddings, centroids)
        wanted = grads_of(expected, embeddings, centroids)
        for ours, theirs in zip(found, wanted, strict=True):
            assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
        if alpha:
            cosines = (embeddings @ normalize(centroids).T).tolist()
            bar, selected, shares = double_loop(cosines, y.tolist(), given, 0.3)
            assert threshold.item() == pytest.approx(bar, abs=1e-14)
            assert_allclose(share, shares, rtol=1e-12)
            assert selected and not (threshold.requires_grad or share.requires_grad)


def test_a_gradient_that_is_no_derivative_has_none_of_its_own():
    embeddings, centroids, y = problem(4, n=4, k=4)
    loss, *_ = penalised_cross_entropy(
        embeddings, centroids, y, rule("mean_square"), NAN
    )
    with pytest.raises(ValueError, match="create_graph=True"):
        torch.autograd.grad(loss, centroids, create_graph=True)


@pytest.mark.parametrize("towards", [0.3, 1.0, 3.0])
def test_mean_square_is_the_published_head_value_and_gradient(towards):
    """From the first steps, where images are far from their centroids, to the last ones."""
    n, k, d = 60, 25, 12
    for seed in range(5):
        generator = torch.Generator().manual_seed(seed)
        draw = {"generator": generator, "dtype": torch.float64}
        centroids, y = torch.randn((k, d), **draw), torch.arange(n) % k
        noise = normalize(torch.randn((n, d), **draw))
        embeddings = normalize(noise + towards * normalize(centroids)[y])
        pair = embeddings.requires_grad_(), centroids.requires_grad_()
        given = rule("mean_square", far=1 / (k - 1), alpha=1.0, scale=64.0)
        loss, _, share = penalised_cross_entropy(*pair, y, given, NAN)
        expected = published_head(*pair, y, 0.35, 64.0)
        assert share.count_nonzero() > n / 4
        assert loss.item() == pytest.approx(expected.item(), rel=1e-12)
        found, wanted = grads_of(loss, *pair), grads_of(expected, *pair)
        for ours, theirs in zip(found, wanted, strict=True):
            assert_allclose(ours, theirs, rtol=1e-9, atol=1e-11)


def ties():
    """Four other cosines of 0.6, four of 0 in two rows of identity 0."""
    embeddings = torch.tensor([[0.8, 0.6, 0.0], [0.8, 0.6, 0.0]], dtype=torch.float64)
    axes = torch.eye(3, dtype=torch.float64)
    return embeddings, axes[[0, 1, 1, 2, 2]], torch.tensor([0, 0])


@pytest.mark.parametrize(
    ("far", "counted"), [(0.01, 4), (0.5, 4), (0.51, 8), (0.99, 8)]
)
def test_tied_cosines_count_together(far, counted):
    *_, share = penalised_cross_entropy(*ties(), rule(far=far), NAN)
    assert share.sum().item() * 4 == pytest.approx(counted)


@pytest.mark.parametrize(("far", "share"), [(0.01, 0.0), (0.5, 0.0), (0.51, 0.36)])
def test_mean_square_takes_those_strictly_above(far, share):
    _, threshold, found = penalised_cross_entropy(
        *ties(), rule("mean_square", far=far), NAN
    )
    assert threshold.item() == pytest.approx(0.6 if far <= 0.5 else 0.0)
    assert found.tolist() == pytest.approx([share, share])


@pytest.mark.parametrize(("kind", "base"), list(zip(PENALTIES, BASES, strict=True)))
def test_autocast_is_close_and_leaves_types_alone(kind, base):
    data = problem(11, torch.float32)
    given = rule(*kind, base=base, scale=8.0, momentum=0.999)
    exact, *rest = penalised_cross_entropy(*data, given, torch.tensor(0.42))
    grads = grads_of(exact, *data[:2])
    with torch.autocast("cpu", torch.bfloat16):
        rounded, *others = penalised_cross_entropy(*data, given, torch.tensor(0.42))
        rounded_grads = grads_of(rounded, *data[:2])
    assert rounded.item() == pytest.approx(exact.item(), rel=0.05)
    assert rounded.item() != exact.item()
    for ours, theirs in zip([rounded, *others], [exact, *rest], strict=True):
        assert ours.dtype == theirs.dtype == torch.float32
    for ours, theirs in zip(rounded_grads, grads, strict=True):
        assert ours.dtype == np.float32
        assert_allclose(ours, theirs, atol=0.1 * np.abs(theirs).max())


@pytest.mark.parametrize("momentum", [0.0, 0.5])
def test_nothing_left_to_select_is_no_penalty_and_keeps_the_threshold(momentum):
    # Every other cosine lies above the own one and may be a wrong label.
    embeddings = torch.tensor([[0.0, 0.6, 0.8]], dtype=torch.float64)
    centroids, y = torch.eye(3, dtype=torch.float64), torch.tensor([0])
    given = rule("mean_square", far=0.5, momentum=momentum)
    for running in (NAN, RUNNING, torch.tensor(-math.inf, dtype=torch.float64)):
        loss, threshold, share = penalised_cross_entropy(
            embeddings, centroids, y, given, running
        )
        kept = momentum > 0 and math.isfinite(running)
        assert threshold.item() == (pytest.approx(0.3) if kept else -math.inf)
        assert share.tolist() == [0] and math.isfinite(loss)
