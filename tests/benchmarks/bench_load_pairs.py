"""load_pairs through pyarrow, beside the csv module.

``python -m tests.benchmarks.bench_load_pairs [n_pairs ...]`` prints, for a file of scored
pairs with a name and a demographic group of each image, the CPU seconds that load_pairs takes
with either reader, and how many times longer the csv module takes; interleaved, minimum of
three each. It also says whether both gave the same.
"""

import tempfile
import time
from pathlib import Path
from unittest import mock

import numpy as np

from skfairfr.datasets import _files, load_pairs
from tests.benchmarks._command import run_command

REPEATS = 3
N_PEOPLE = 5_000
HEAD = "identity_1,identity_2,image_1,image_2,score,gender_1,gender_2"
# From which size on pyarrow reads.
LARGE = {"pyarrow": 0, "csv": float("inf")}


def write_pairs(path, n_pairs):
    """A file of scored pairs, four images of each person, some groups unknown."""
    rng = np.random.default_rng(0)
    left, right = rng.integers(N_PEOPLE * 4, size=(2, n_pairs)).tolist()
    scores = rng.normal(0.1, 0.2, n_pairs).round(6).tolist()
    genders = ("female", "male", "male", "")
    with open(path, "w", encoding="utf-8") as file:
        file.write(HEAD + "\n")
        for i, j, score in zip(left, right, scores, strict=True):
            people = f"person_{i // 4},person_{j // 4}"
            images = f"img/{i:06}.png,img/{j:06}.png"
            groups = f"{genders[i // 4 % 4]},{genders[j // 4 % 4]}"
            file.write(f"{people},{images},{score},{groups}\n")


def read(path, reader):
    """What load_pairs gives by one reader, and seconds."""
    with mock.patch.object(_files, "LARGE", LARGE[reader]):
        start = time.process_time()
        data = load_pairs(path)
        return data, time.process_time() - start


def same(one, other):
    """Whether two readers gave the same columns."""
    columns = (
        *one.columns,
        "y_score",
        "identity_1",
        "identity_2",
        "image_1",
        "image_2",
    )
    pairs = (
        (one.columns.get(c, one.get(c)), other.columns.get(c, other.get(c)))
        for c in columns
    )
    return all(a.dtype == b.dtype and (a == b).all() for a, b in pairs)


def bench(n_pairs):
    """Print one line for each reader."""
    seconds = {reader: [] for reader in LARGE}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.csv"
        write_pairs(path, n_pairs)
        for _ in range(REPEATS):
            found = {}
            for reader in LARGE:
                found[reader], took = read(path, reader)
                seconds[reader].append(took)
    best = {reader: min(times) for reader, times in seconds.items()}
    ratio = best["csv"] / best["pyarrow"]
    print(
        f"n={n_pairs}: pyarrow {best['pyarrow']:.2f} s, csv {best['csv']:.2f} s "
        f"({ratio:.1f} x); same: {same(*found.values())}"
    )


def main(*n_pairs):
    for n in n_pairs or [1_000_000]:
        bench(n)


if __name__ == "__main__":
    run_command(main, __doc__)
