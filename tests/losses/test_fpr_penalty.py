"""FPRPenaltyLoss as a module: its options, its running threshold, a plain torch loop."""

import math
import pickle

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy, linear, normalize

from skfairfr.losses import FPRPenaltyLoss

K, D = 7, 12
PENALTIES = ["ratio", "mean_square"]


def drawn(n=40, seed=0, dtype=torch.float32):
    """Embeddings of any length, near the centroids of `make`, and identities."""
    generator = torch.Generator().manual_seed(seed)
    y = torch.randint(K, (n,), generator=generator)
    noise = torch.randn((n, D), generator=generator)
    x = normalize(make().centroids.detach())[y] + 0.5 * noise
    return 3 * x.to(dtype), y


def make(seed=1, **options):
    generator = torch.Generator().manual_seed(seed)
    return FPRPenaltyLoss(K, D, generator=generator, **options)


def cosines_of(loss, x):
    return linear(normalize(x), normalize(loss.centroids))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_default_is_cosface_with_the_ratio_of_an_image_s_share(dtype):
    x, y = drawn(dtype=dtype)
    loss = make().to(dtype)
    cosines = cosines_of(loss, x)
    own = torch.nn.functional.one_hot(y, K).bool()
    k = math.ceil(40 * (K - 1) / (K - 1))
    threshold = cosines[~own].sort(descending=True).values[k - 1]
    gamma = ((cosines >= threshold) & ~own).sum(1) / (K - 1)
    others = cosines + 0.1 * gamma[:, None] * (K - 1)
    logits = 64 * torch.where(own, cosines - 0.35, others)
    value = loss(x, y)
    assert value.dtype == dtype
    assert value.item() == pytest.approx(cross_entropy(logits, y).item(), rel=1e-5)
    assert loss.threshold.item() == pytest.approx(threshold.item(), abs=1e-6)
    assert loss.share.tolist() == pytest.approx(gamma.tolist())
    assert loss.share.mean().item() == pytest.approx(1 / (K - 1), rel=1e-6)


@pytest.mark.parametrize(
    ("n_identities", "far"), [(2, 0.5), (3, 0.5), (5, 0.25), (10**4 + 2, 1e-4)]
)
def test_far_is_one_false_positive_an_image_but_at_least_1e_4(n_identities, far):
    assert FPRPenaltyLoss(n_identities, 1).far == far


def thresholds(loss, batches):
    found = []
    for batch in batches:
        loss(*batch)
        found.append(loss.threshold.item())
    return found


@pytest.mark.parametrize("penalty", PENALTIES)
def test_the_threshold_runs_over_batches(penalty):
    batches = [drawn(seed=s) for s in range(5)]
    alone = thresholds(make(penalty=penalty), batches)
    assert len(set(alone)) == 5
    expected = alone[:1]
    for own in alone[1:]:
        expected.append(0.9 * expected[-1] + 0.1 * own)
    # Nothing is trained, so that each batch has the threshold it had alone.
    running = make(penalty=penalty, momentum=0.9)
    assert thresholds(running, batches) == pytest.approx(expected, abs=1e-6)


def test_a_threshold_above_all_cosines_penalises_nobody():
    x, y = drawn()
    loss = make(momentum=0.99)
    loss.threshold.fill_(50.0)
    assert loss(x, y).item() == pytest.approx(make(alpha=0.0)(x, y).item(), rel=1e-6)
    assert loss.share.tolist() == [0] * 40


def test_evaluation_leaves_the_threshold():
    first, second = drawn(), drawn(seed=1)
    loss = make(momentum=0.5)
    loss(*first)
    kept = loss.threshold.clone()
    value = loss.eval()(*second)
    assert torch.equal(loss.threshold, kept)
    assert torch.equal(loss(*second), value)
    assert torch.equal(loss.train()(*second), value)
    assert not torch.equal(loss.threshold, kept)


def test_a_batch_without_a_threshold_does_not_spoil_the_next(recwarn):
    # All other cosines above the own one: "mean_square" has nothing to select from.
    loss = FPRPenaltyLoss(
        3, 3, penalty="mean_square", far=0.5, momentum=0.5, centroids=np.eye(3)
    )
    usual = torch.tensor([[0.9, 0.3, 0.1]]), torch.tensor([0])
    wrong = torch.tensor([[0.0, 0.6, 0.8]]), torch.tensor([0])
    found = thresholds(loss, [wrong, usual, wrong, usual])
    assert found[0] == -math.inf and not recwarn
    assert found[1:] == pytest.approx([0.3 / math.sqrt(0.91)] * 3)


def test_copies_and_state_dicts_answer_the_same():
    x, y = drawn()
    loss = make(momentum=0.5)
    loss(x, y)
    again, loaded = pickle.loads(pickle.dumps(loss)), make(seed=9, momentum=0.5)
    loaded.load_state_dict(loss.state_dict())
    assert set(loss.state_dict()) == {"centroids", "threshold"}
    value = loss(x, y)
    for other in (again, loaded):
        assert torch.equal(other(x, y), value)
        assert torch.equal(other.threshold, loss.threshold)
