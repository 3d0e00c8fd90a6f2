"""Run many cases, and print how many ended in which way.

    python -m tests.fuzz --cases 100000                     all, most of them files
    python -m tests.fuzz --cases 200 --only command --seed 7
    python -m tests.fuzz --only command --seed 7 --first 41 --cases 1

The exit status is 1 if a case ended in a traceback, a hang or too much memory. Every such
case is printed, with the line that runs it alone and what was fed. Leave the sources as they
are meanwhile: whether an error was raised on purpose is read from its line in the file.
Linux only: a case runs in a copy of the process.
"""

import argparse
import os
import sys
import time
from importlib import import_module

# Of all cases. Files are cheap; lines of the command measure.
SHARES = {"files": 0.7, "command": 0.15, "misread": 0.15}
# Failures printed in full; more of them are counted alone.
SHOWN = 40


def main(argv=None):
    """Exit status: 0, or 1 if a case failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--only", choices=tuple(SHARES))
    options = parser.parse_args(argv)
    # Threads of these libraries do not live on in a copy, which waits for them.
    for name in ("OMP", "NUMBA", "OPENBLAS", "MKL"):
        os.environ[f"{name}_NUM_THREADS"] = "1"
    from tests.fuzz.driver import OUTCOMES, count

    shares = SHARES if options.only is None else {options.only: 1.0}
    print(f"{'':<10}{'cases':>8}{''.join(f'{name:>11}' for name in OUTCOMES)}")
    failures = []
    for name, share in shares.items():
        started, n_cases = time.perf_counter(), round(options.cases * share)
        module = import_module(f"tests.fuzz.{name}")
        found = count(module, n_cases, options.seed, options.first)
        counts = "".join(f"{found.outcomes[outcome]:>11}" for outcome in OUTCOMES)
        seconds = time.perf_counter() - started
        print(f"{name:<10}{n_cases:>8}{counts}   {seconds:.0f} s", flush=True)
        failures += found.failures
    for text in failures[:SHOWN]:
        print(f"\n{text}")
    if failures:
        print(f"\n{len(failures)} cases failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
