"""One training step of FPRPenaltyLoss against plain CosFace.

A step is forward and backward of the loss, to the embeddings and to the centroids. Plain
CosFace comes in three forms: FPRPenaltyLoss with alpha = 0, our cross-entropy with a shift
of the own logit, and what a user would write with torch's own.

    python -m tests.benchmarks.bench_fpr_penalty [batch [n_identities [n_features]]]

Prints ratios, taken as the minimum of interleaved runs. Bound: 1.25 x plain CosFace, the
fastest of the three.
"""

import time

import numpy as np
import torch
from torch.nn.functional import cross_entropy, linear, normalize, one_hot

from skfairfr.losses import FPRPenaltyLoss
from skfairfr.losses._softmax import identity_cross_entropy
from tests.benchmarks._command import run_command

SCALE, MARGIN, REPEATS = 64.0, 0.35, 9


def steps(batch, n_identities, n_features):
    """A function without arguments for each loss, doing one step."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn((batch, n_features), generator=generator).requires_grad_()
    start = torch.randn((n_identities, n_features), generator=generator)
    y = torch.randint(n_identities, (batch,), generator=generator)
    centroids = torch.nn.Parameter(start)
    scale = torch.full((n_identities,), SCALE)
    shift = torch.full((batch,), SCALE * MARGIN)

    def ordinary():
        cosines = linear(normalize(x), normalize(centroids))
        margins = MARGIN * one_hot(y, n_identities).to(cosines.dtype)
        return cross_entropy(SCALE * (cosines - margins), y)

    def shifted():
        return identity_cross_entropy(
            normalize(x), centroids, y, scale=scale, shift=shift
        )

    losses = {"torch cross_entropy": ordinary, "identity_cross_entropy": shifted}
    for name, options in {
        "alpha = 0": {"alpha": 0.0},
        "ratio": {},
        "ratio, cosine": {"weighting": "cosine"},
        "ratio, momentum": {"momentum": 0.9},
        "mean_square": {"penalty": "mean_square"},
    }.items():
        module = FPRPenaltyLoss(n_identities, n_features, centroids=start, **options)
        losses[name] = lambda module=module: module(x, y)
    return {name: lambda loss=loss: loss().backward() for name, loss in losses.items()}


def main(batch=1024, n_identities=10_000, n_features=512):
    runs = steps(batch, n_identities, n_features)
    best = dict.fromkeys(runs, np.inf)
    for run in runs.values():
        run()
    for _ in range(REPEATS):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            best[name] = min(best[name], time.perf_counter() - start)
    plain = {name: best[name] for name in list(runs)[:3]}
    print(
        f"one step, batch {batch}, {n_identities} identities, {n_features} features, "
        f"{torch.get_num_threads()} threads"
    )
    print("seconds, and how often each plain CosFace:", ", ".join(plain))
    for name, seconds in best.items():
        ratios = " ".join(f"{seconds / floor:6.3f}" for floor in plain.values())
        print(f"{name:>24} {seconds:7.3f} {ratios}")
    bound = best["ratio"] / min(plain.values())
    print(f"ratio against the fastest plain CosFace: {bound:.3f}, bound 1.25")


if __name__ == "__main__":
    run_command(main, __doc__)
