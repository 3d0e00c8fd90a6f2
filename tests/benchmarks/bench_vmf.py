"""Microseconds a value of the von Mises-Fisher functions, beside one Bessel call of scipy.

``python -m tests.benchmarks.bench_vmf [n_values ...]`` prints, for each function and number
of features, microseconds a value and the ratio to the floor: ``log(ive(v, kappa))`` of the
same array, floor and run interleaved, minimum of seven each. The floor is not finite
everywhere at v = 255 and beyond. mpmath, for the same numbers, is timed on a few values.
"""

import time

import numpy as np
from scipy.special import ive

from skfairfr._core._vmf import (
    bessel_ratio,
    bessel_ratio_derivative,
    estimate_kappa,
    log_bessel_i,
    log_vmf_normalizer,
)
from tests.benchmarks._command import run_command

FUNCTIONS = (
    log_vmf_normalizer,
    log_bessel_i,
    bessel_ratio,
    bessel_ratio_derivative,
    estimate_kappa,
)
DIMENSIONS = (2, 16, 128, 512, 4096)
REPEATS = 7
N_MPMATH = 20


def floor(kappa, n_features):
    """The plain formula, as far as scipy takes it."""
    with np.errstate(divide="ignore"):
        return np.log(ive(n_features / 2 - 1, kappa))


def timed(function, *args, **kwargs):
    """Microseconds a value of one call on an array."""
    start = time.perf_counter()
    function(*args, **kwargs)
    return (time.perf_counter() - start) / len(args[0]) * 1e6


def bench(n_values, n_features):
    """Print one line a function."""
    kappa = np.geomspace(1e-3, 1e6, n_values)
    inputs = dict.fromkeys(FUNCTIONS, kappa)
    inputs[estimate_kappa] = np.linspace(0, 1, n_values)
    floors, runs = [], {function: [] for function in FUNCTIONS}
    for _ in range(REPEATS):
        floors.append(timed(floor, kappa, n_features))
        for function, values in inputs.items():
            runs[function].append(timed(function, values, n_features))
    few = kappa[:: max(1, n_values // N_MPMATH)]
    digits = timed(log_vmf_normalizer, few, n_features, method="mpmath")
    where = f"n={n_values}, d={n_features}"
    for function, taken in runs.items():
        print(
            f"{where}, {function.__name__}: {min(taken):.3f} us a value, "
            f"{min(taken) / min(floors):.2f} x the floor"
        )
    print(f"{where}, mpmath: {digits:.0f} us a value")


def main(*n_values):
    for n in n_values or [10_000]:
        for d in DIMENSIONS:
            bench(n, d)


if __name__ == "__main__":
    run_command(main, __doc__)
