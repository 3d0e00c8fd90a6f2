"""How often intervals of BFAR, BFRR and of the matrix of groups hold the truth.

``python -m tests.benchmarks.check_worst_group 40`` draws 40 data sets of some designs of
``coverage.py``, whose rates in the population are known, and prints the coverage of the
nominal 95 % intervals of ``method="recentered"`` (replicates alone) and of ``"wilson"``: of
max / min of the FAR and of the FRR at the threshold where no group's FAR exceeds the level,
which are BFAR and BFRR, and of the cells of the matrix at the overall threshold, those within
groups and those between two. Three minutes with 60; ``check_disparities`` counts the other disparities.
"""

import warnings

import numpy as np

from skfairfr import SimilarityROC
from skfairfr._core._disparities import max_min
from tests.benchmarks._command import run_command
from tests.benchmarks.coverage import DESIGNS, LEVELS, RATES, draw, truth

CHECKED = (
    "2 x 100",
    "2 x 60, noise .60/.85",
    "4 x 50",
    "4 x 50, one direction .47",
    "200/100/40/20, all differ",
)
METHODS = ("recentered", "wilson")
CELLS = ("within", "between")
WORST = {"how": "max_min", "operating_point": "worst_group"}
FINE = {"n_drawn": 60_000, "n_quantiles": 300}


def check(name, n_sets):
    """Coverage in a design.

    Returns
    -------
    disparities : ndarray, shape (n_methods, n_rates, n_levels)
        Share of data sets whose interval of BFAR, and of BFRR, holds the truth.
    cells : ndarray, shape (n_methods, 2, n_levels)
        Share of cells, within groups and between two, whose interval does.
    """
    design = DESIGNS[name]
    worst = truth(design, LEVELS, **FINE, worst_group=True)
    matrix = truth(design, LEVELS, **FINE)["cells"]
    disparities = np.zeros((len(METHODS), len(RATES), LEVELS.size))
    cells = np.zeros((len(METHODS), len(CELLS), LEVELS.size))
    inside = np.eye(len(design.people), dtype=bool)
    for seed in range(n_sets):
        X, y, group, _ = draw(design, np.random.default_rng([17, seed]))
        roc = SimilarityROC(resample="identities", n_resamples=200, random_state=seed)
        roc.fit(X, y, group[y])
        for m, method in enumerate(METHODS):
            answering = roc.by(method=method)
            for r, rate in enumerate(RATES):
                found = answering.estimate(LEVELS, rate=rate, **WORST)
                held = holds(found, max_min(worst[rate]))
                disparities[m, r] += held / n_sets
            for k, level in enumerate(LEVELS):
                held = holds(answering.far_matrix(level), matrix[k])
                for c, chosen in enumerate((inside, ~inside)):
                    cells[m, c, k] += held[chosen].mean() / n_sets
    return disparities, cells


def holds(found, value):
    return (found.low <= value + 1e-9) & (value <= found.high + 1e-9)


def main(n_sets=40):
    """Print one line for each design, level and quantity."""
    print(f"{'design':28} {'level':>6} {'of':14} {METHODS[0]:>10} {METHODS[1]:>7}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in CHECKED:
            disparities, cells = check(name, n_sets)
            shares = np.concatenate([disparities, cells], axis=1)
            titles = ("BFAR", "BFRR", *(f"cells {of}" for of in CELLS))
            for k, level in enumerate(LEVELS):
                for place, title in enumerate(titles):
                    one, other = shares[:, place, k]
                    print(
                        f"{name:28} {level:6g} {title:14} {one:10.3f} {other:7.3f}",
                        flush=True,
                    )


if __name__ == "__main__":
    run_command(main, __doc__)
