"""What a pass over a gallery costs beside its products: time, and what is held.

``python -m docs.studies.bench_identification 20000 20000 512 5`` takes probes, people
enrolled, features and repeats. Products of tiles alone, in as many threads, are the floor;
both run in turn, and the least processor time of all threads counts: other programs change the
time to wait more.
"""

from concurrent.futures import ThreadPoolExecutor
from time import process_time

import numpy as np

from docs.studies._command import run_command
from skfairfr._core import _searches
from skfairfr._core._pair_tiles import TILE, PreparedImages, unit_rows
from skfairfr._core._parallel import n_threads, one_blas_thread


def products(probes, enrolled):
    """The products of all tiles, as the pass makes them, and nothing else."""

    def strip(start):
        with one_blas_thread():
            rows = probes[start : start + TILE]
            for column in range(0, len(enrolled), TILE):
                rows @ enrolled[column : column + TILE].T

    with one_blas_thread(), ThreadPoolExecutor(n_threads()) as pool:
        list(pool.map(strip, range(0, len(probes), TILE)))


def timed(function, *arguments):
    start = process_time()
    found = function(*arguments)
    return process_time() - start, found


def main(n_probes=20_000, n_enrolled=20_000, n_features=512, repeats=5):
    """Half of the probes are of people enrolled."""
    rng = np.random.default_rng(0)
    centre = rng.normal(size=(n_enrolled, n_features))
    own = np.where(np.arange(n_probes) % 2, np.arange(n_probes) % n_enrolled, -1)
    rows = rng.normal(size=(n_probes, n_features))
    rows[own >= 0] += centre[own[own >= 0]]
    probes, enrolled = (
        PreparedImages(unit_rows(r, "cosine"), None) for r in (rows, centre)
    )
    group = rng.integers(0, 2, n_enrolled).astype(np.int32)
    gallery = _searches.Gallery(enrolled, np.arange(n_enrolled + 1), group, 2)
    share = _searches.share_held(int((own < 0).sum()) * n_enrolled)
    floor = _searches.floor_at(probes, np.arange(len(probes.vectors)), gallery, share)
    _searches.search(probes, own, gallery, floor)  # compiled
    floors, passes = [], []
    for _ in range(repeats):
        floors.append(timed(products, probes.vectors, enrolled.vectors)[0])
        seconds, found = timed(_searches.search, probes, own, gallery, floor)
        passes.append(seconds)
    held = sum(value.nbytes for value in vars(found).values())
    print(f"products {min(floors):.2f} s, pass {min(passes):.2f} s", end=", ")
    print(
        f"{min(passes) / min(floors):.2f} times; {found.scores.size:,} candidates",
        end=", ",
    )
    print(f"{held / 1e6:.0f} MB held")


if __name__ == "__main__":
    run_command(main, __doc__)
