"""The loss of people without a centroid: a double loop, and who is not judged."""

import math

import numpy as np
import pytest
import torch
from torch.nn.functional import normalize

from skfairfr.losses import _softmax
from skfairfr.losses._softmax import held_out_cross_entropy, rows_per_block

Y = torch.tensor([0, 0, 1, 2, 2, 2, 3, 0])
SCALE = torch.tensor([5.0, 10.0, 20.0, 30.0])
OFFSET = torch.tensor([0.0, -1.0, 0.5, 0.25])


def embeddings(dtype=torch.float64, n=8):
    generator = torch.Generator().manual_seed(0)
    drawn = torch.randn((n, 6), generator=generator, dtype=torch.float64)
    return normalize(drawn).to(dtype)


def double_loop(z, y, scale, offset, margin):
    """Every image against every mean, its own left out of its own mean."""
    z, losses = z.numpy().astype(float), []
    for i, own in enumerate(y.tolist()):
        if (y == own).sum() < 2:
            continue
        logits = []
        for k in range(len(scale)):
            members = [j for j in range(len(y)) if y[j] == k and j != i]
            mean = sum(z[j] for j in members)
            cosine = z[i] @ mean / np.linalg.norm(mean)
            logit = float(scale[k]) * (cosine - margin * (k == own)) + float(offset[k])
            logits.append(logit)
        losses.append(math.log(sum(map(math.exp, logits))) - logits[own])
    return np.mean(losses)


@pytest.mark.parametrize("margin", [0.0, 0.35])
@pytest.mark.parametrize("offset", [None, OFFSET])
def test_equals_a_double_loop(margin, offset):
    z = embeddings()
    scale = SCALE.double()
    added = None if offset is None else offset.double()
    loss = held_out_cross_entropy(z, Y, scale=scale, offset=added, margin=margin)
    plain = torch.zeros(4) if offset is None else offset
    assert isinstance(loss, float)
    assert loss == pytest.approx(double_loop(z, Y, SCALE, plain, margin), rel=1e-12)


def test_only_single_images_is_undefined():
    loss = held_out_cross_entropy(
        embeddings(n=4), torch.arange(4), scale=SCALE.double()
    )
    assert math.isnan(loss)


def test_blocks_change_rounding_only(monkeypatch):
    z, scale = embeddings(), SCALE.double()
    whole = held_out_cross_entropy(z, Y, scale=scale)
    monkeypatch.setattr(_softmax, "rows_per_block", lambda n: rows_per_block(n, 3 * n))
    assert held_out_cross_entropy(z, Y, scale=scale) == pytest.approx(whole, rel=1e-12)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("autocast", [False, True])
def test_types_may_differ(dtype, autocast):
    scale, offset = SCALE.double(), OFFSET.double()
    exact = double_loop(embeddings(), Y, SCALE, OFFSET, 0.25)
    with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
        loss = held_out_cross_entropy(
            embeddings(dtype), Y, scale=scale, offset=offset, margin=0.25
        )
    rounded = autocast or dtype == torch.bfloat16
    assert loss == pytest.approx(exact, rel=0.02 if rounded else 1e-5)
