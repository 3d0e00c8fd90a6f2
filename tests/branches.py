"""Run the daily tests under coverage.py; print which lines and branches they reach.

    python -m tests.branches                           all daily tests
    python -m tests.branches tests/_core tests/report  parts of them, for their files alone

Lines that a tracer cannot see are left out by the rules in pyproject.toml: functions that
numba compiles, and generators of LLVM code. ``python -m tests.mutation`` runs those as
plain Python. Processes that tests start are traced too, unless they are killed. A test that
fails because it is traced does not count; ``.ci/run`` has the verdict on tests.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from coverage import Coverage

ROOT = Path(__file__).resolve().parents[1]
# Of all lines, and of all branches, in percent.
LEAST = 95.0
KINDS = {"lines": "num_statements", "branches": "num_branches"}
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


def counted(data):
    """What coverage.py counted over all processes, as its JSON report has it."""
    coverage = Coverage(data_file=str(data), config_file=str(ROOT / "pyproject.toml"))
    coverage.combine([str(data.parent)])
    out = data.with_suffix(".json")
    coverage.json_report(outfile=str(out))
    return json.loads(out.read_text())


def text_of(report):
    """The files with most lines and branches left, and the totals."""
    left = {}
    for path, file in report["files"].items():
        found = file["summary"]
        left[path] = found["missing_lines"] + found["missing_branches"]
    lines = [f"{'most left':<52}{'lines':>8}{'branches':>10}{'reached':>10}"]
    for path in sorted(left, key=lambda path: (-left[path], path))[:SHOWN]:
        found = report["files"][path]["summary"]
        missing = f"{found['missing_lines']:>8}{found['missing_branches']:>10}"
        lines.append(f"{path:<52}{missing}{found['percent_covered']:>9.1f}%")
    total = report["totals"]
    for kind, share in shares(report).items():
        reached, n = total[f"covered_{kind}"], total[KINDS[kind]]
        lines.append(f"{reached} of {n} {kind} are reached, {share:.2f}%")
    lines.append(f"At least {LEAST:.0f}% of either are asked for")
    return "\n".join(lines)


def shares(report):
    """Lines and branches that are reached, each in percent."""
    total = report["totals"]
    return {
        kind: 100 * total[f"covered_{kind}"] / total[n] for kind, n in KINDS.items()
    }


def main(arguments=None):
    """Exit status: 0 if enough is reached, or if parts were asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tests", nargs="*", help="files or folders; all by default")
    tests = parser.parse_args(arguments).tests
    with tempfile.TemporaryDirectory() as name:
        data = Path(name) / "coverage"
        traced(tests, data)
        report = counted(data)
    print(text_of(report))
    return int(not tests and min(shares(report).values()) < LEAST)


if __name__ == "__main__":
    sys.exit(main())
