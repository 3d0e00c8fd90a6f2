"""Margins on the own cosine: definitions, and that a margin never helps."""

import math

import pytest
import torch

from skfairfr.losses._fpr_penalty import BASES, target_cosine

COSINES = torch.linspace(-0.999, 0.999, 401, dtype=torch.float64)


@pytest.mark.parametrize("margin", [0.0, 0.35, 1.0, 1.9])
def test_arcface_turns_by_the_margin_until_it_would_rise_again(margin):
    target = target_cosine(COSINES, "arcface", margin)
    for cosine, found in zip(COSINES.tolist(), target.tolist(), strict=True):
        angle = math.acos(cosine)
        expected = math.cos(angle + margin)
        if angle + margin >= math.pi:
            expected = cosine - margin * math.sin(margin)
        assert found == pytest.approx(expected, abs=1e-12)


def test_cosface_subtracts_and_softmax_does_nothing():
    assert torch.equal(target_cosine(COSINES, "cosface", 0.35), COSINES - 0.35)
    assert torch.equal(target_cosine(COSINES, "softmax", 0.35), COSINES)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("base", BASES)
def test_ends_and_beyond_are_finite_and_keep_their_type(base, dtype):
    # Rounding takes cosines of unit rows a little past one.
    ends = torch.tensor([-1.0000002, -1, 1, 1.0000002], dtype=dtype).requires_grad_()
    target = target_cosine(ends, base, 0.35)
    for values in (target, *torch.autograd.grad(target.sum(), ends)):
        assert values.dtype == dtype and bool(torch.isfinite(values).all())
