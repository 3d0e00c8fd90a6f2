"""fit + ROC + eight disparities with intervals, beside the float32 products they need.

``python -m tests.benchmarks.bench_similarity_roc [n_images ...]`` prints ratios to the
floor: the plain float32 products of the same tiles, floor and run interleaved, minimum of
five each; and the memory above the input. Seconds depend on the machine, ratios do less.
"""

import threading
import time

import numpy as np

from skfairfr import SimilarityROC, make_face_embeddings
from skfairfr._core._pair_tiles import TILE
from tests.benchmarks._command import run_command

LEVELS = np.geomspace(1e-4, 1e-2, 9)
DISPARITIES = [
    (rate, how)
    for rate in ("far", "frr")
    for how in ("max_min", "max_geomean", "log_geomean", "gini")
]
REPEATS = 5


def floor(X):
    """The products of all tiles of the upper triangle."""
    out = np.empty((TILE, TILE), dtype=np.float32)
    for row in range(0, len(X), TILE):
        a = X[row : row + TILE]
        for column in range(row, len(X), TILE):
            b = X[column : column + TILE]
            np.matmul(a, b.T, out=out[: len(a), : len(b)])


def audit(data, **options):
    """What the ratio is about."""
    roc = SimilarityROC(
        n_resamples=200, far_max=1e-2, random_state=0, resample="identities", **options
    )
    roc.fit(data.X, data.y, data.sensitive_features)
    roc.curve(LEVELS)
    for rate, how in DISPARITIES:
        roc.estimate(LEVELS, rate=rate, how=how)
    return roc


def resident():
    """Resident memory of this process in bytes."""
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * 4096


def peak_above(function, *args, **kwargs):
    """Largest resident memory during a call above that before it."""
    before, peak, done = resident(), [0], threading.Event()

    def watch():
        while not done.wait(0.005):
            peak[0] = max(peak[0], resident())

    watcher = threading.Thread(target=watch)
    watcher.start()
    function(*args, **kwargs)
    done.set()
    watcher.join()
    return peak[0] - before


def timed(function, *args, **kwargs):
    """Seconds of one call."""
    start = time.perf_counter()
    function(*args, **kwargs)
    return time.perf_counter() - start


def bench(n_images):
    """Print one line of ratios for a number of images."""
    data = make_face_embeddings(n_images // 4, 4, 512, random_state=0)
    audit(make_face_embeddings(500, 4, 32, random_state=0))  # compile
    memory = peak_above(audit, data)
    options = {
        "identities": {"resample": "identities"},
        "images (and the identities that check them)": {"resample": "images"},
        "identities, identity average": {"average": "identity"},
    }
    floors, runs = [], {name: [] for name in options}
    for _ in range(REPEATS):
        floors.append(timed(floor, data.X))
        for name, chosen in options.items():
            runs[name].append(timed(audit_with, data, chosen))
    for name, seconds in runs.items():
        print(
            f"n={n_images}, resample {name}: {min(seconds) / min(floors):.2f} x the floor"
        )
    print(f"n={n_images}: {memory / 1e9:.2f} GB above the input")


def audit_with(data, chosen):
    """One audit with some options, quietly."""
    import warnings

    options = {"resample": "identities", **chosen}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        roc = SimilarityROC(n_resamples=200, far_max=1e-2, random_state=0, **options)
        roc.fit(data.X, data.y, data.sensitive_features)
        roc.curve(LEVELS)
        for rate, how in DISPARITIES:
            roc.estimate(LEVELS, rate=rate, how=how)


def main(*n_images):
    for n in n_images or [20_000]:
        bench(n)


if __name__ == "__main__":
    run_command(main, __doc__)
