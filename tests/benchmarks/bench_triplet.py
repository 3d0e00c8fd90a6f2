"""Selection of semi-hard negatives against the one matrix product it needs.

N pairs have 2 N anchors, each with N candidates; the cosines of left and right images,
one (N, d) by (d, N) product, serve both directions.

    python -m tests.benchmarks.bench_triplet [n_pairs [n_features]]

Prints ratios, taken as the minimum of interleaved runs, for embeddings of which every
candidate, about a fifth of the anchors' and none violates the margin. Bound: 2.
"""

import time

import numpy as np
import torch
from torch.nn.functional import normalize

from skfairfr.losses import semi_hard_negatives
from tests.benchmarks._command import run_command

REPEATS = 7


def pairs(n_pairs, n_features, noise):
    """Unit rows of both images of every pair, apart by more noise."""
    generator = torch.Generator().manual_seed(0)
    centre, *errors = torch.randn((3, n_pairs, n_features), generator=generator)
    return [normalize(centre + noise * error) for error in errors]


def shortest(runs):
    """Seconds of the fastest of interleaved runs, by name."""
    best = dict.fromkeys(runs, np.inf)
    for _ in range(REPEATS):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def main(n_pairs=10_240, n_features=512):
    y = torch.arange(n_pairs)
    generator = torch.Generator().manual_seed(0)
    print(
        f"{n_pairs} pairs, {n_features} features, {torch.get_num_threads()} threads; "
        f"selection over one product"
    )
    for label, noise in (("every", 5.0), ("some", 1.0), ("none", 0.3)):
        left, right = pairs(n_pairs, n_features, noise)
        best = shortest(
            {
                "product": lambda left=left, right=right: left @ right.T,
                "selection": lambda left=left, right=right: semi_hard_negatives(
                    left, right, y, generator=generator
                ),
            }
        )
        found, _ = semi_hard_negatives(left, right, y, generator=generator)
        share = float((found >= 0).float().mean())
        print(
            f"{label:>6} (a negative for {share:.0%}) "
            f"{best['selection'] / best['product']:6.2f} x"
        )


if __name__ == "__main__":
    run_command(main, __doc__)
