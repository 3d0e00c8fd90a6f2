"""Bytes and seconds of a pass over all pairs on a Dask cluster of this machine.

``python -m tests.benchmarks.bench_cluster [n_images [n_features [n_workers]]]`` prints what
all processes send to each other, beside the embeddings and the tail, and the seconds beside
those of one process with as many threads. What crosses a network takes longer than here.
"""

import time

import joblib
import numpy as np

from skfairfr._core._pair_tiles import Rows, collect_tail, unit_rows
from tests._core.network import bytes_on, count_on
from tests.benchmarks._command import run_command


def timed(rows, floors):
    start = time.perf_counter()
    tail = collect_tail(rows, rows, floors)
    return tail, time.perf_counter() - start


def main(n_images=50_000, n_features=128, n_workers=2):
    """Print one line for each of two passes; the first one also compiles."""
    from distributed import Client, LocalCluster

    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_images, n_features), dtype=np.float32)
    each = np.arange(n_images, dtype=np.int32)
    rows = Rows(unit_rows(X, "cosine"), each, each, np.full_like(each, -1))
    # About every thousandth pair.
    floors = np.full((1, 1), 3.09 / np.sqrt(n_features), dtype=np.float32)
    expected, alone = timed(rows, floors)
    options = {"n_workers": n_workers, "threads_per_worker": 1}
    with LocalCluster(**options, dashboard_address=":0") as cluster:
        with Client(cluster) as client, joblib.parallel_config("dask"):
            stop = count_on(client)
            for _ in range(2):
                before = bytes_on(client)
                tail, seconds = timed(rows, floors)
                sent = bytes_on(client) - before
                size = sum(column.nbytes for column in tail)
                same = all(map(np.array_equal, tail, expected))
                print(
                    f"n={n_images}, d={n_features}, {n_workers} workers: "
                    f"{sent / 1e6:.0f} MB sent; embeddings {X.nbytes / 1e6:.0f} MB, tail "
                    f"{size / 1e6:.0f} MB; {seconds:.1f} s, in one process {alone:.1f} s; "
                    f"equal: {same}"
                )
            stop()


if __name__ == "__main__":
    run_command(main, __doc__)
