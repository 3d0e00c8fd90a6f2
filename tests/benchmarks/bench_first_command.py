"""What the first command of a fresh install costs, which compiles the kernels.

``python -m tests.benchmarks.bench_first_command`` runs the demonstration in two processes, with
an empty cache of compiled kernels and with the cache that the first one left, and prints the
processor time of the first over that of the second. Under a minute.
"""

import os
import resource
import subprocess
import sys
import tempfile

from tests.benchmarks._command import run_command


def processor_time(cache):
    """Processor time of the demonstration with a cache of compiled kernels, in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "skfairfr.cli", "demo"]
    variables = os.environ | {"NUMBA_CACHE_DIR": cache}
    subprocess.run(command, check=True, env=variables, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    """Print the ratio."""
    with tempfile.TemporaryDirectory() as cache:
        first, second = processor_time(cache), processor_time(cache)
    print(f"first demonstration, which compiles: {first / second:.1f} x the second")


if __name__ == "__main__":
    run_command(main, __doc__)
