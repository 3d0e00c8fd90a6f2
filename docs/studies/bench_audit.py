"""Processor time of ``skfairfr audit`` over what the same file needs in any tool.

``python -m docs.studies.bench_audit`` starts each command in a process of its own, twice, and
prints the shorter time: an audit of scored pairs over reading their columns and sorting the
scores once, the start of a small audit beyond the imports of its libraries, and an audit of a
log of attempts over counting the same cells by pandas.
"""

import os
import subprocess
import sys
import tempfile
from itertools import combinations

import numpy as np
import pandas as pd

from docs.studies._command import run_command

ATTEMPTS, SMALL = 60_000, 1_000
GROUPS = {"sex": ("f", "m"), "age": ("old", "young"), "site": ("north", "south")}
# Compiled modules are stored, as those of an installed package are.
ENVIRONMENT = {n: v for n, v in os.environ.items() if n != "PYTHONDONTWRITEBYTECODE"}
IMPORTS = "import sklearn, scipy.stats, numba, jinja2"
SORT = """import numpy, pyarrow.csv as csv, pyarrow.parquet as parquet
table = {}(r"{}")
numpy.sort(table["score"].to_numpy())"""
COUNT = """import pandas
log = pandas.read_csv(r"{}")
for names in {}:
    log.groupby(["attempt", *names]).accepted.agg(["sum", "size"])"""


def labels_of(people, rng):
    """Labels of the person of each row, by attribute."""
    of_people = {n: rng.choice(v, people.max() + 1) for n, v in GROUPS.items()}
    return {name: labels[people] for name, labels in of_people.items()}


def pairs_of(n_pairs):
    """Scored pairs of n_pairs // 50 people, a tenth of them mated."""
    rng, n_people = np.random.default_rng(0), n_pairs // 50
    first = rng.integers(n_people, size=n_pairs)
    mated = rng.random(n_pairs) < 0.1
    other = (first + rng.integers(1, n_people, n_pairs)) % n_people
    people = np.concatenate([first, np.where(mated, first, other)])
    names = np.char.add("p", people.astype(str))
    columns = {"identity": names} | labels_of(people, rng)
    pairs = {"score": rng.normal(3 * mated).round(6)}
    for name, both in columns.items():
        pairs[f"{name}_1"], pairs[f"{name}_2"] = np.split(both, 2)
    return pd.DataFrame(pairs)


def log_of(n_attempts):
    """Attempts of n_attempts // 20 people, half of them by impostors."""
    rng = np.random.default_rng(0)
    people = rng.integers(n_attempts // 20, size=n_attempts)
    mated = rng.random(n_attempts) < 0.5
    accepted = rng.random(n_attempts) < np.where(mated, 0.95, 0.02)
    columns = {"identity": people, "attempt": np.where(mated, "genuine", "impostor")}
    return pd.DataFrame(columns | {"accepted": accepted * 1} | labels_of(people, rng))


def seconds(*arguments):
    """Processor time of Python with the arguments."""
    times, how = [], {"capture_output": True, "env": ENVIRONMENT}
    for _ in range(2):
        before = os.times()
        done = subprocess.run([sys.executable, *arguments], **how)
        if done.returncode not in (0, 3):
            raise RuntimeError(done.stderr.decode())
        times.append(sum(np.subtract(os.times()[2:4], before[2:4])))
    return min(times)


def show(what, options, program, words, compare):
    """Print a row: the time of an audit with options, that of a program, and both compared."""
    times = seconds("-m", "skfairfr", "audit", "-q", *options), seconds("-c", program)
    row = f"{what:26s}{times[0]:7.2f}{times[1]:7.2f}"
    print(f"{row}  {compare(*times):.2f} {words}", flush=True)


def main(n_pairs=1_000_000):
    """Print the table."""
    by = [word for name in GROUPS for word in ("-a", name)]
    print(f"{'seconds':28s}audit  other")
    with tempfile.TemporaryDirectory() as folder:
        csv, parquet, small, log = (
            os.path.join(folder, name)
            for name in ("1.csv", "2.parquet", "3.csv", "4.csv")
        )
        pairs = pairs_of(n_pairs)
        pairs.to_csv(csv, index=False)
        pairs.to_parquet(parquet)
        pairs_of(SMALL).to_csv(small, index=False)
        log_of(ATTEMPTS).to_csv(log, index=False)
        for path, read in ((csv, "csv.read_csv"), (parquet, "parquet.read_table")):
            what = f"{n_pairs:,} pairs, {read.partition('.')[0]}", [path, *by[:4]]
            words = "times reading and sorting", lambda one, other: one / other
            show(*what, SORT.format(read, path), *words)
        words = "s beyond the imports", lambda one, other: one - other
        show(f"{SMALL:,} pairs", [small, *by[:4]], IMPORTS, *words)
        cells = [[*names] for size in (1, 2, 3) for names in combinations(GROUPS, size)]
        options = [log, "--accepted", "accepted", "--attempt", "attempt", *by]
        words = "s beyond twice pandas", lambda one, other: one - 2 * other
        show(f"{ATTEMPTS:,} attempts", options, COUNT.format(log, cells), *words)


if __name__ == "__main__":
    run_command(main, __doc__)
