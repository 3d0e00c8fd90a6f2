"""Losses with their gradients, and the draws of samplers."""

import numpy as np
import torch

from skfairfr import losses, samplers
from tests.recorded.data import with_unknown

GROUPS = np.array(list("aaaaaabbbc") * 6)
WEIGHTS = ({"a": 1, "b": 2, "c": 0}, "equal", "natural")


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def batch(n_rows=24, n_identities=6, n_features=8):
    """Unit rows that want a gradient, and their identities."""
    rows = torch.randn(n_rows, n_features, generator=generator(1))
    rows = torch.nn.functional.normalize(rows + 0.3).requires_grad_()
    return rows, torch.arange(n_rows) % n_identities


def passed(loss, times=1):
    """Values and gradients of a loss over a batch, several times."""
    rows, y = batch()
    values = [loss(rows, y) for _ in range(times)]
    values[-1].backward()
    gradients = {name: p.grad for name, p in loss.named_parameters()}
    buffers = dict(loss.named_buffers())
    return {"values": values, "rows": rows.grad, "grad": gradients, "kept": buffers}


def record_fair_vmf(record):
    cases = {
        "number": {"kappa": 20.0},
        "margin": {"kappa": 12.0, "margin": 0.2},
        "dict": {"kappa": {"a": 10.0, "b": 30.0}, "attribute": list("aabbab")},
        "array": {"kappa": np.linspace(5, 45, 6)},
        "callable": {
            "kappa": lambda age: 5 + age / 2,
            "attribute": [20, 30, 40, 50, 60, 70],
        },
        "extreme": {"kappa": 1e4},
        "tiny": {"kappa": 1e-2},
        "centroids": {"centroids": np.eye(6, 8)},
    }
    for name, options in cases.items():
        loss = losses.FairVMFLoss(6, 8, generator=generator(), **options)
        record(f"FairVMFLoss {name}", passed, loss)
        record(f"FairVMFLoss {name} logits", loss.logits, batch()[0])
        record(f"FairVMFLoss {name} state", loss.state_dict)
    for n_features in (2, 3, 128, 512):
        loss = losses.FairVMFLoss(
            4, n_features, [0.5, 5.0, 50.0, 5000.0], generator=generator()
        )
        record(f"FairVMFLoss {n_features} features", loss.state_dict)


def record_fpr_penalty(record):
    for penalty in ("ratio", "mean_square"):
        for base in ("cosface", "arcface", "softmax"):
            for far in (None, 0.3):
                options = {"penalty": penalty, "base": base, "far": far, "alpha": 1.0}
                loss = losses.FPRPenaltyLoss(6, 8, generator=generator(), **options)
                record(f"FPRPenaltyLoss {penalty} {base} {far}", passed, loss)
    for options in (
        {"weighting": "cosine"},
        {"momentum": 0.9},
        {"alpha": 0.0},
        {"scale": 10.0, "margin": 0.1},
        {"weighting": "cosine", "momentum": 0.5, "far": 0.3, "alpha": 3.0},
    ):
        loss = losses.FPRPenaltyLoss(6, 8, generator=generator(), **options)
        record(f"FPRPenaltyLoss {options}", passed, loss, 3)


def record_triplets(record):
    rows, y = batch()
    half = len(y) // 2
    left, right = rows[:half], rows[half:]
    for margin in (0.1, 0.6, 4.0):
        found = record(
            f"semi_hard_negatives {margin}",
            losses.semi_hard_negatives,
            *(left.detach(), right.detach(), y[:half]),
            margin=margin,
            generator=generator(),
        )
        record(f"TripletLoss {margin}", triplet_loss, margin, rows, half, found)


def triplet_loss(margin, rows, half, found):
    """Value and gradient over triplets with the negatives of semi_hard_negatives."""
    triplets = torch.as_tensor([[0, half, 3], [1, half + 1, 5], [2, half + 2, 0]])
    value = losses.TripletLoss(margin)(rows, triplets)
    (gradient,) = torch.autograd.grad(value, rows)
    return {"value": value, "gradient": gradient, "n_found": len(found)}


def record_samplers(record):
    group = torch.arange(60).numpy() % 3
    for groups in (GROUPS, with_unknown(GROUPS)):
        name = "unknown" if groups.dtype == object else "known"
        for weights in WEIGHTS:
            key = f"{name} {weights}"
            options = {"weights": weights, "generator": generator()}
            make = samplers.GroupWeightedSampler
            sampler = make(groups, n_draws=50, **options)
            record(f"GroupWeightedSampler {key}", list, sampler)
            record(f"GroupWeightedSampler {key} again", list, sampler)
            record(f"GroupWeightedSampler {key} repr", repr, sampler)
            make = samplers.HomogeneousBatchSampler
            sampler = make(groups, batch_size=8, **options)
            record(f"HomogeneousBatchSampler {key}", list, sampler)
            record(f"HomogeneousBatchSampler {key} length", len, sampler)
            record(f"HomogeneousBatchSampler {key} repr", repr, sampler)
    for make in (samplers.GroupWeightedSampler, samplers.HomogeneousBatchSampler):
        record(f"{make.__name__} called", make(), group, group, generator())
        record(
            f"{make.__name__} labels", make(), group, group, generator(), list("xyz")
        )
        record(f"{make.__name__} unbound", list, make())


def record_weights(record):
    record("equal_weights", samplers.equal_weights, 3)
    record("natural_weights", samplers.natural_weights, [5, 10, 0])
    record("adjusted_weights", samplers.adjusted_weights, {"a": 3, "b": 1}, ["a", "b"])
    previous = np.array([1.0, 0.5, 1.5])
    for smoothing, exponent in ((0.2, 0.6), (1.0, 2.0), (0.0, 0.0)):
        record(
            f"dynamic_weights {smoothing} {exponent}",
            samplers.dynamic_weights,
            *(previous, [0, 10, 3], [1000, 1000, 10]),
            smoothing=smoothing,
            exponent=exponent,
        )
