"""Run the daily tests under coverage.py; print which lines and branches they reach.

    python -m tests.branches                           all daily tests
    python -m tests.branches tests/_core tests/report  parts of them, for their files alone

Lines that a tracer cannot see are left out by the rules in pyproject.toml: functions that
numba compiles, and generators of LLVM code. ``python -m tests.mutation`` runs those as
plain Python. Processes that tests start are traced too, unless they are killed. A test that
fails because it is traced does not count; ``.ci/run`` has the verdict on tests.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from coverage import Coverage

ROOT = Path(__file__).resolve().parents[1]
# Of all lines and branches, in percent.
LEAST = 95.0
SHOWN = 10


def traced(tests, data):
    """Run pytest with two workers, all of whose processes write beside ``data``."""
    command = [sys.executable, "-m", "coverage", "run", "-m", "pytest", "-q"]
    environment = {**os.environ, "COVERAGE_FILE": str(data)}
    options = ["-p", "no:cacheprovider", *tests]
    done = subprocess.run(
        [*command, *options], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    if done.returncode not in (0, 1):
        raise RuntimeError(f"The tests did not run:\n{done.stdout}{done.stderr}")
    print("\n".join(done.stdout.splitlines()[-SHOWN:]), flush=True)


def share(numbers):
    """Lines and branches reached, of all, in percent; coverage.py's own total."""
    return 100.0 * numbers.ratio_covered[0] / max(numbers.ratio_covered[1], 1)


def report(data):
    """Print the total and the files with most lines and branches left; the total."""
    coverage = Coverage(data_file=str(data), config_file=str(ROOT / "pyproject.toml"))
    coverage.combine([str(data.parent)])
    coverage.load()
    paths = sorted(coverage.get_data().measured_files())
    files = {path: coverage._analyze(path).numbers for path in paths}
    total = sum(files.values())
    missing = {p: n.ratio_covered[1] - n.ratio_covered[0] for p, n in files.items()}
    print(f"\n{'least reached':<52}{'left':>6}{'of':>7}{'%':>8}")
    for path in sorted(files, key=lambda p: share(files[p]))[:SHOWN]:
        name = Path(path).relative_to(ROOT).as_posix()
        n = files[path].ratio_covered[1]
        print(f"{name:<52}{missing[path]:>6}{n:>7}{share(files[path]):>8.1f}")
    lines = total.n_executed, total.n_statements
    branches = total.n_executed_branches, total.n_branches
    for name, (reached, n) in (("lines", lines), ("branches", branches)):
        print(f"{reached} of {n} {name} are reached, {100 * reached / n:.2f}%")
    print(f"Together {share(total):.2f}%; at least {LEAST}% are asked for")
    return share(total)


def main(arguments=None):
    """Exit status: 0 if enough is reached, or if parts were asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tests", nargs="*", help="files or folders; all by default")
    tests = parser.parse_args(arguments).tests
    with tempfile.TemporaryDirectory() as name:
        data = Path(name) / "coverage"
        traced(tests, data)
        reached = report(data)
    return int(not tests and reached < LEAST)


if __name__ == "__main__":
    sys.exit(main())
