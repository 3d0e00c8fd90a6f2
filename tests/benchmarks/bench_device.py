"""The pass over all pairs, and an epoch of EthicalModule, on a CUDA device.

    python -m tests.benchmarks.bench_device [n_images [n_batches]]

On a CUDA device: seconds of ``SimilarityROC(device="cuda").fit`` for 100,000 images of 512
features at far_max = 1e-3 and for ``n_images`` at 1e-4; how much of it is the pass, and how
long its products alone take; whether the smaller set holds the same pairs as on the CPU.
Then an epoch of ``EthicalModule`` with 93,000 people and batches of 1024, of which
``n_batches`` are timed and the rest is extrapolated. Without a CUDA device: the same code on
the CPU's tensors, for 8,000 images, as a ratio to the pass of the CPU, interleaved with it,
minimum of five.
"""

import time
from unittest.mock import patch

import numpy as np
import torch

from skfairfr import EthicalModule, SimilarityROC, face_labels
from skfairfr._core import _device_tiles
from skfairfr._core._pair_sequences import sort_pairs
from skfairfr._core._pair_tiles import collect_tail
from tests.benchmarks._command import run_command
from tests.benchmarks.bench_screen import floors_of, rows_of

N_FEATURES, BATCH, N_PEOPLE = 512, 1024, 93_000
PAPERS_IMAGES = 5_180_000  # MS1M-RetinaFace, on which the method was published
SMALL, REPEATS = 8_000, 5


def faces_of(n_images):
    """Embeddings of four images of each person, identities and two groups."""
    rng = np.random.default_rng(0)
    identity = np.arange(n_images) // 4
    X = rng.standard_normal((n_images, N_FEATURES), dtype=np.float32)
    means = rng.standard_normal((identity[-1] + 1, N_FEATURES), dtype=np.float32)
    for start in range(0, n_images, 100_000):
        part = slice(start, start + 100_000)
        X[part] += means[identity[part]]
    return X, identity, np.where(identity % 3 == 0, "a", "b")


class Timed:
    """A function, and the seconds that its calls took."""

    def __init__(self, function):
        self.function, self.seconds = function, 0.0

    def __call__(self, *args, **kwargs):
        start = time.perf_counter()
        result = self.function(*args, **kwargs)
        self.seconds += time.perf_counter() - start
        return result


def seconds_of(function, *args, **kwargs):
    """Result of a call, and how long it took."""
    timed = Timed(function)
    return timed(*args, **kwargs), timed.seconds


def seconds_of_products(n_images, precision):
    """The products of all chunks of a pass alone, on the device."""
    shape = (n_images, N_FEATURES)
    rows = torch.ones(shape, dtype=getattr(torch, precision), device="cuda")
    width = _device_tiles.PRODUCTS // _device_tiles.TILE

    def multiply():
        for start in range(0, n_images, _device_tiles.TILE):
            strip = rows[start : start + _device_tiles.TILE]
            for first in range(start, n_images, width):
                _device_tiles.multiply(strip, rows[first : first + width])
        torch.cuda.synchronize()

    multiply()
    return seconds_of(multiply)[1]


def bench_fit(n_images, far_max, beside_cpu):
    """Print the line of one fit, and that of the CPU beside it."""
    faces = faces_of(n_images)
    options = {"far_max": far_max, "n_resamples": 1, "random_state": 0}
    torch.cuda.reset_peak_memory_stats()
    timed = Timed(_device_tiles.sorted_tail)
    with patch.object(_device_tiles, "sorted_tail", timed):
        roc, fit = seconds_of(SimilarityROC(device="cuda", **options).fit, *faces)
    held = roc._engine.pairs.compared.held()
    with _device_tiles._float32_sums(torch.device("cuda")) as device:
        precision = _device_tiles.choose(device, N_FEATURES)
        products = seconds_of_products(n_images, precision)
    print(
        f"n={n_images:,}, d={N_FEATURES}, far_max={far_max:g}: fit {fit:.1f} s, of which "
        f"the pass {timed.seconds:.1f} s (its {precision} products alone "
        f"{products:.1f} s); {len(held):,} pairs held, "
        f"{torch.cuda.max_memory_allocated() / 2**30:.1f} GiB of the device used"
    )
    if not beside_cpu:
        return
    roc, fit = seconds_of(SimilarityROC(**options).fit, *faces)
    other = roc._engine.pairs.compared.held()
    same = all(
        np.array_equal(getattr(held, name), getattr(other, name))
        for name in ("scores", "left", "right")
    )
    print(f"  on the CPU: fit {fit:.1f} s; the same pairs and scores: {same}")


def bench_epoch(n_batches, precision):
    """Print the line of some batches of EthicalModule at the paper's size."""
    rng = np.random.default_rng(0)
    n_images = max(n_batches * BATCH, 2 * N_PEOPLE)
    X = rng.standard_normal((n_images, N_FEATURES), dtype=np.float32)
    identity = np.arange(n_images) % N_PEOPLE
    y = face_labels(identity, np.where(identity % 2 == 0, "a", "b"))
    options = {"head": "mlp", "lr": 0.01, "batch_size": BATCH, "precision": precision}
    module = EthicalModule(
        15.0, 20.0, max_epochs=3, device="cuda", random_state=0, **options
    ).fit(X, y)
    n_timed = -(-n_images // BATCH)
    seconds = min(module.history_["dur"][1:])  # the first epoch loads the libraries
    n_all = -(-PAPERS_IMAGES // BATCH)
    print(
        f"EthicalModule, {N_PEOPLE:,} people, {precision}: {n_timed} batches of {BATCH} "
        f"in {seconds:.2f} s; an epoch of {n_all:,} batches, extrapolated: "
        f"{seconds * n_all / n_timed:.0f} s"
    )


def bench_without():
    """Print the ratio of the device's code on the CPU to the pass of the CPU."""
    print("No CUDA device here: its code runs on the CPU's tensors.")
    rows = rows_of(SMALL)
    floors = floors_of(rows, 1e-3)
    runs = {
        "CPU": lambda: sort_pairs(*collect_tail(rows, rows, floors)),
        "device": lambda: _device_tiles.sorted_tail(rows, rows, floors, "cpu"),
    }
    tails = {name: run() for name, run in runs.items()}  # compiles, too
    best = dict.fromkeys(runs, np.inf)
    for _ in range(REPEATS):
        for name, run in runs.items():
            best[name] = min(best[name], seconds_of(run)[1])
    same = all(map(np.array_equal, tails["CPU"], tails["device"]))
    print(
        f"n={SMALL:,}, d={N_FEATURES}, far_max=0.001: the device's code takes "
        f"{best['device'] / best['CPU']:.1f} x the pass of the CPU; equal tails: {same}"
    )


def main(n_images=1_000_000, n_batches=200):
    """Print all lines."""
    if not torch.cuda.is_available():
        bench_without()
        return
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}")
    bench_fit(20_000, 1e-3, False)  # loads libraries, compiles
    bench_fit(100_000, 1e-3, True)
    bench_fit(n_images, 1e-4, False)
    for precision in ("float32", "tf32", "bfloat16"):
        bench_epoch(n_batches, precision)


if __name__ == "__main__":
    run_command(main, __doc__)
