"""load_pairs through pyarrow or polars, beside the loop over the csv module.

``python -m tests.benchmarks.bench_load_pairs [n_pairs ...]`` prints, for a file of scored
pairs, with a name and a demographic group of each image, how many times longer the loop
takes than each library that is installed: for load_pairs, and for reading the cells alone,
without the conversion to numbers and labels; all interleaved, minimum of five each.
"""

import importlib.util
import tempfile
import time
from pathlib import Path
from unittest import mock

import numpy as np

from skfairfr.datasets import _delimited, load_pairs
from tests.benchmarks._command import run_command

REPEATS = 5
N_PEOPLE = 5_000
HEAD = "identity_1,identity_2,image_1,image_2,score,gender_1,gender_2"
READERS = {
    "loop": (),
    "pyarrow": (_delimited.read_by_pyarrow,),
    "polars": (_delimited.read_by_polars,),
}


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


def read_cells(path):
    """The cells of a file, as text."""
    _delimited.read_delimited(str(path), "path")


WORK = {"load_pairs": load_pairs, "cells alone": read_cells}


def seconds(work, path, readers):
    """Seconds of one call; without pyarrow, Python converts the numbers."""
    many = _delimited.MANY if _delimited.read_by_pyarrow in readers else float("inf")
    with mock.patch.multiple(_delimited, READERS=readers, MANY=many):
        start = time.perf_counter()
        work(path)
        return time.perf_counter() - start


def bench(n_pairs):
    """Print one line for each kind of work and library."""
    readers = {
        name: reader
        for name, reader in READERS.items()
        if not reader or importlib.util.find_spec(name)
    }
    runs = {(work, name): [] for work in WORK for name in readers}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.csv"
        write_pairs(path, n_pairs)
        for reader in readers.values():
            seconds(load_pairs, path, reader)  # import
        for _ in range(REPEATS):
            for work, name in runs:
                runs[work, name].append(seconds(WORK[work], path, readers[name]))
    for (work, name), times in runs.items():
        ratio = min(runs[work, "loop"]) / min(times)
        beside = "" if name == "loop" else f", the loop takes {ratio:.1f} x"
        print(f"n={n_pairs}, {work}, {name}: {min(times):.2f} s{beside}")


def main(*n_pairs):
    for n in n_pairs or [400_000]:
        bench(n)


if __name__ == "__main__":
    run_command(main, __doc__)
