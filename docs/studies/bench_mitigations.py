"""How often the bench is right: its intervals, its tests, and "none helps".

Synthetic people are drawn again and again. Systems that are the same for all draws, random
projections of the embeddings, are judged as the bench judges methods, on five splits of the
people. The truth is the ratio over many more people. Printed are the spread of the estimated
logarithm, the mean of its standard error, how often the interval covers the truth, and how
often the test rejects a ratio of 1. If both groups have the same distribution the truth is 1
and that is an error, and so is every family of several methods in which Holm's test rejects
one.

    python -m docs.studies.bench_mitigations [n_people [n_draws [far_per_100000]]]
"""

import time

import numpy as np

from docs.studies._command import run_command
from skfairfr import IdentityKFold, face_labels, make_face_embeddings
from skfairfr._core._jackknife import holm
from skfairfr.metrics._folds import cells_of, compare, count_errors, pool
from skfairfr.model_selection._bench_fits import METRICS, rows_of

N_FEATURES, N_SPLITS, N_SYSTEMS = 32, 5, 4
POPULATIONS = {
    "equal groups": {"kappa": 60.0, "crowding": 0.0},
    "crowded group": {
        "kappa": {"male": 70.0, "female": 60.0},
        "crowding": {"male": 4.0, "female": 10.0},
    },
}
GROUPS = {"sex": ["female", "male"]}
SHOWN = ("bfar", "bfrr", "frr_at_far")


def projections():
    """Matrices (n_features, n_kept): doing nothing first."""
    drawn = np.random.default_rng(99).standard_normal
    found = [np.eye(N_FEATURES)]
    for _ in range(N_SYSTEMS):
        found.append(np.linalg.qr(drawn((N_FEATURES, N_FEATURES)))[0][:, :-4])
    return found


def judge(population, n_people, far, seed):
    """PooledErrors of all systems on people drawn by a seed."""
    made = make_face_embeddings(
        n_people, (2, 6), N_FEATURES, random_state=seed, **POPULATIONS[population]
    )
    y, group = made.y, made.sensitive_features
    folds = IdentityKFold(N_SPLITS, shuffle=True, random_state=seed)
    rows = [test for _, test in folds.split(made.X, face_labels(y, group))]
    return [
        pool(
            [
                count_errors(
                    made.X[test] @ matrix,
                    y[test],
                    {"sex": group[test]},
                    GROUPS,
                    far=far,
                )
                for test in rows
            ]
        )
        for matrix in projections()
    ]


def ratios(pooled, metric):
    """Comparison of every system with the first."""
    rows = rows_of(cells_of(GROUPS), "sex", metric)
    how = METRICS[metric].how
    return [compare(pooled[0], system, rows, how, 0.95) for system in pooled[1:]]


def main(n_people=300, n_draws=100, far_per_100000=100):
    far, start = far_per_100000 / 1e5, time.perf_counter()
    print(
        f"{n_people} people, {N_SPLITS} splits, FAR {far:g}, {n_draws} draws, "
        f"{N_SYSTEMS} methods, nominal 95 %"
    )
    for population in POPULATIONS:
        many = judge(population, 20 * n_people, far, 10**6)
        print(
            f"\n{population}\n{'':12} {'truth':>7} {'sd':>7} {'error':>7} "
            f"{'covers':>7} {'rejects':>8} {'family':>7}"
        )
        found = {metric: [] for metric in SHOWN}
        for seed in range(n_draws):
            pooled = judge(population, n_people, far, seed)
            for metric in SHOWN:
                found[metric].append(
                    [
                        (np.log(r.low), np.log(r.high), r.log_error, r.p_value)
                        for r in ratios(pooled, metric)
                    ]
                )
        for metric, values in found.items():
            rows = rows_of(cells_of(GROUPS), "sex", metric)
            how = METRICS[metric].how
            truth = np.log([m.of_cells(rows).measured(how) for m in many])
            truth = truth[1:] - truth[0]
            if population == "equal groups" and how is not None:
                truth = np.zeros(N_SYSTEMS)
            low, high, error, p = np.array(values).transpose(2, 0, 1)
            middle, covers = (low + high) / 2, (low <= truth) & (truth <= high)
            family = np.mean([holm(row).min() <= 0.05 for row in p])
            print(
                f"{metric:12} {np.exp(truth.mean()):7.3f} {middle.std(axis=0).mean():7.3f} "
                f"{error.mean():7.3f} {covers.mean():7.3f} {(p <= 0.05).mean():8.3f} "
                f"{family:7.3f}"
            )
    print(f"\n{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    run_command(main, __doc__)
