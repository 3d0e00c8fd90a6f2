"""Seconds that a measurement of held-out people takes after every epoch.

Beside the images that an epoch compares at most, the same metrics of all held-out images,
as every epoch would compare them without a sample: BFAR and the loss of EthicalModule.

    python -m tests.benchmarks.bench_validation [n_images ...]
"""

import time

import numpy as np
import torch

from skfairfr import EthicalModule
from skfairfr.projectors._head import ProjectionHead, project
from skfairfr.projectors._people import HeldOutRates, People, sample_to_compare
from skfairfr.projectors._training import DeviceRows
from tests.benchmarks._command import run_command

N_FEATURES, IMAGES_EACH, REPEATS = 512, 4, 2


def held_out(n_images):
    """People of four images each, one in three of the second group."""
    y = np.repeat(np.arange(n_images // IMAGES_EACH), IMAGES_EACH)
    group = (np.arange(y[-1] + 1) % 3 == 0).astype(np.int32)
    labels = np.array(["a", "b"])
    return People(np.arange(y.size), y, np.arange(y[-1] + 1), group, group[y], labels)


def seconds(people, rows, head):
    """The least of a few measurements."""
    module = EthicalModule()
    module.kappa_ = {"a": 20.0, "b": 20.0}
    rates = HeldOutRates(people, "bfar", 1e-3)
    best = np.inf
    for _ in range(REPEATS):
        start = time.perf_counter()
        Z = project(head, rows, people.rows)
        y = torch.from_numpy(people.y)
        module._held_out_loss(people, None, torch.from_numpy(Z), y, None)
        rates.measure(Z)
        best = min(best, time.perf_counter() - start)
    return best


def main(*n_images):
    rng = np.random.default_rng(0)
    head = ProjectionHead(N_FEATURES, 2 * N_FEATURES, N_FEATURES, "residual")
    print(f"{N_FEATURES} features, {torch.get_num_threads()} threads")
    print(f"{'held out':>10} {'compared':>10} {'seconds':>9} {'all of them':>12}")
    for n in n_images or (4_000, 20_000, 40_000):
        people = held_out(n)
        X = rng.standard_normal((people.rows.size, N_FEATURES), dtype=np.float32)
        rows = DeviceRows(X, torch.device("cpu"))
        sample = sample_to_compare(people, seed=0)
        found = seconds(sample, rows, head)
        whole = found if sample is people else seconds(people, rows, head)
        print(f"{n:>10,} {sample.rows.size:>10,} {found:>9.2f} {whole:>12.2f}")


if __name__ == "__main__":
    run_command(main, __doc__)
