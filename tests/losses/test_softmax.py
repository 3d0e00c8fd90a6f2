"""Cross-entropy over identities: autograd of the plain formula, differences, blocks."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from torch.nn.functional import cross_entropy, normalize

from skfairfr.losses import _softmax
from skfairfr.losses._softmax import identity_cross_entropy, product_type

N_SAMPLES, N_IDENTITIES, N_FEATURES = 13, 7, 5
NAMES = ["embeddings", "centroids", "shift"]


@pytest.fixture(params=[0, 1 << 22], ids=["blocks", "autograd"], autouse=True)
def small(request, monkeypatch):
    """Up to how many logits torch's own cross-entropy is taken."""
    monkeypatch.setattr(_softmax, "AUTOGRAD_ELEMENTS", request.param)


def problem(seed=0, dtype=torch.float64, scale=(5.0, 40.0)):
    """Arguments by name; embeddings, centroids and shift want a gradient."""
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape):
        # In float64 first: torch draws other numbers for another type.
        drawn = torch.randn(shape, generator=generator, dtype=torch.float64)
        return drawn.to(dtype)

    given = {
        "embeddings": normalize(draw(N_SAMPLES, N_FEATURES)),
        "centroids": 3 * draw(N_IDENTITIES, N_FEATURES),
        "y": torch.randint(N_IDENTITIES, (N_SAMPLES,), generator=generator),
        "scale": torch.linspace(*scale, N_IDENTITIES, dtype=dtype),
        "offset": draw(N_IDENTITIES),
        "shift": draw(N_SAMPLES).abs(),
    }
    for name in NAMES:
        given[name].requires_grad_()
    return given


def plain(embeddings, centroids, y, *, scale, offset=None, shift=None):
    """The formula in a line or two, its gradient left to autograd."""
    logits = scale * (embeddings @ normalize(centroids).T)
    if offset is not None:
        logits = logits + offset
    if shift is not None:
        own = torch.nn.functional.one_hot(y, len(scale)).to(logits.dtype)
        logits = logits - shift[:, None] * own
    return cross_entropy(logits, y)


def loss_and_grads(function, given, factor=1.0, **options):
    """Loss and gradients, as arrays; None for arguments without one."""
    loss = function(**given, **options)
    wanted = [given[n] for n in NAMES if given.get(n) is not None]
    grads = torch.autograd.grad(factor * loss, wanted)
    return [loss.detach().numpy(), *(grad.numpy() for grad in grads)]


@pytest.mark.parametrize(("seed", "factor"), [(0, 1.0), (1, 3.0), (2, -0.5)])
def test_loss_and_gradients_are_autograd_s(seed, factor):
    found = loss_and_grads(identity_cross_entropy, problem(seed), factor)
    expected = loss_and_grads(plain, problem(seed), factor)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.dtype == np.float64
        assert_allclose(ours, theirs, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("absent", [("offset",), ("shift",), ("offset", "shift")])
def test_offset_and_shift_are_optional(absent):
    given = problem(1)
    given |= dict.fromkeys(absent)
    found = loss_and_grads(identity_cross_entropy, given)
    expected = loss_and_grads(plain, given)
    for ours, theirs in zip(found, expected, strict=True):
        assert_allclose(ours, theirs, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("block_elements", [1, 8, 20, 91])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_blocks_change_rounding_only(block_elements, dtype, monkeypatch):
    monkeypatch.setattr(_softmax, "AUTOGRAD_ELEMENTS", 0)
    whole = loss_and_grads(identity_cross_entropy, problem(4, dtype))
    monkeypatch.setattr(_softmax, "BLOCK_ELEMENTS", block_elements)
    parts = loss_and_grads(identity_cross_entropy, problem(4, dtype))
    tolerance = 1e-12 if dtype == torch.float64 else 2e-5
    for ours, theirs in zip(parts, whole, strict=True):
        assert ours.dtype == theirs.dtype
        assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)


def test_autocast_is_close_and_leaves_types_alone():
    given = problem(9, torch.float32, scale=(5.0, 10.0))
    exact = loss_and_grads(identity_cross_entropy, given)
    with torch.autocast("cpu", torch.bfloat16):
        rounded = loss_and_grads(identity_cross_entropy, given)
        assert product_type(given["embeddings"]) == torch.bfloat16
    assert product_type(given["embeddings"]) == torch.float32
    for ours, theirs in zip(rounded, exact, strict=True):
        assert ours.dtype == np.float32
        # bfloat16 keeps eight bits.
        assert_allclose(ours, theirs, atol=0.03 * np.abs(theirs).max())
    assert not np.array_equal(rounded[1], exact[1])


def test_cosines_that_the_caller_has_are_not_computed_again():
    given = problem(13)
    cosines = given["embeddings"] @ normalize(given["centroids"]).T
    found = loss_and_grads(identity_cross_entropy, given, cosines=cosines.detach())
    for ours, theirs in zip(found, loss_and_grads(plain, given), strict=True):
        assert_allclose(ours, theirs, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("scale", [1e3, 1e6])
def test_large_logits_do_not_overflow(scale):
    given = problem(10, torch.float32, scale=(scale, scale))
    found = loss_and_grads(identity_cross_entropy, given)
    assert all(np.isfinite(values).all() for values in found)
    expected = loss_and_grads(plain, problem(10, torch.float64, scale=(scale, scale)))
    assert_allclose(found[0], expected[0], rtol=1e-4)
