"""Microseconds a value of the von Mises-Fisher normaliser, beside one Bessel call of scipy.

``python -m tests.benchmarks.bench_vmf [n_values ...]`` prints, for each number of features,
microseconds a value and the ratio to the floor: ``log(ive(v, kappa))`` of the same array,
floor and run interleaved, minimum of seven each. The floor is not finite everywhere at
v = 255 and beyond. mpmath, for the same numbers, is timed on a few values.
"""

import time

import numpy as np
from scipy.special import ive

from skfairfr._core._vmf import log_vmf_normalizer
from tests._core.vmf_oracle import exact_log_normalizer
from tests.benchmarks._command import run_command

DIMENSIONS = (2, 16, 128, 512, 4096)
REPEATS = 7
N_MPMATH = 20


def floor(kappa, n_features):
    """The plain formula, as far as scipy takes it."""
    with np.errstate(divide="ignore"):
        return np.log(ive(n_features / 2 - 1, kappa))


def with_50_digits(kappa, n_features):
    """The same values from mpmath, one after the other."""
    return [exact_log_normalizer(float(value), n_features) for value in kappa]


def timed(function, kappa, n_features):
    """Microseconds a value of one call on an array."""
    start = time.perf_counter()
    function(kappa, n_features)
    return (time.perf_counter() - start) / len(kappa) * 1e6


def bench(n_values, n_features):
    """Print one line for the normaliser and one for mpmath."""
    kappa = np.geomspace(1e-3, 1e6, n_values)
    floors, runs = [], []
    for _ in range(REPEATS):
        floors.append(timed(floor, kappa, n_features))
        runs.append(timed(log_vmf_normalizer, kappa, n_features))
    digits = timed(with_50_digits, kappa[:: max(1, n_values // N_MPMATH)], n_features)
    where = f"n={n_values}, d={n_features}"
    print(
        f"{where}, log_vmf_normalizer: {min(runs):.3f} us a value, "
        f"{min(runs) / min(floors):.2f} x the floor"
    )
    print(f"{where}, mpmath: {digits:.0f} us a value")


def main(*n_values):
    for n in n_values or [10_000]:
        for d in DIMENSIONS:
            bench(n, d)


if __name__ == "__main__":
    run_command(main, __doc__)
