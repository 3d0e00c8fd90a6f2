"""How often two systems are said to differ in a disparity that is the same in both.

    python -m docs.studies.check_compared_disparities [n_sets]

People are unevenly hard, for both systems. Each row is a number of groups, the FNMR of either
system, how many times as large it is in the first group of both, and what is asked. Each cell
is the share of data sets whose 95 % interval of the ratio leaves out 1.

The first table is of ``SimilarityROC.compare``, about groups of 60 people with as many genuine
pairs each, and impostor pairs with others of their group: the FNMR at one threshold, the FNMR
at an FMR of 1 %, the FMR there, and the FMR at the worst group's threshold. Its columns are
the max / min and the max / geometric mean.

The second is of the bench: of half as many data sets, with 30 people of three images a group,
all of whose pairs are compared in two folds.

Some seven minutes with 100 sets, on one core.
"""

import warnings

import numpy as np
from scipy.stats import norm

from docs.studies._command import run_command
from skfairfr import SimilarityROC
from skfairfr.metrics._folds import cells_of, compare, count_errors, pool
from skfairfr.model_selection._bench_fits import METRICS, rows_of

N_PEOPLE, N_IN_FOLDS = 60, 30  # of each group
N_GENUINE, N_IMPOSTORS = 3, 20  # pairs of each person
N_IMAGES, N_FOLDS = 3, 2
OWN = 0.7  # spread of what only one system sees, beside 1 of what both do
UNEVEN = 0.5  # spread of people
LEVEL = 0.01  # FMR of both at the threshold 0
# FNMR of either system, and of the first group over that of the others.
DESIGNS = ((0.05, 0.05, 1), (0.05, 0.15, 1), (0.05, 0.15, 2))
WORST = {"rate": "far", "operating_point": "worst_group"}
QUESTIONS = {
    "FNMR, threshold": {"threshold": 0.0},
    "FNMR, level": {"far": LEVEL},
    "FMR, level": {"far": LEVEL, "rate": "far"},
    "BFAR": {"far": LEVEL, **WORST},
}
HOWS = ("max_min", "max_geomean")
OF_BENCH = ("bfar", "bfrr", "far_max_geomean", "frr_max_geomean")


def scores_of(rng, hard, genuine, fnmr, fnmrs):
    """Scores of two systems of the same pairs, one after the other.

    ``hard`` is how hard the people of both ends are, and ``fnmr`` by how much the FNMR of a
    pair's group is larger than that of a system.
    """
    common = rng.normal(size=genuine.shape) + np.where(
        genuine, hard[0], -hard[0] - hard[1]
    )
    varied = np.where(genuine, 1, 2) * UNEVEN**2
    spread = np.sqrt(1 + varied + OWN**2)
    for of_system in fnmrs:
        scores = (common + rng.normal(0, OWN, genuine.shape)) / spread
        yield scores - norm.ppf(np.where(genuine, of_system * fnmr, 1 - LEVEL))


def two_systems(rng, n_groups, fnmrs, factor=1):
    """Fits of two systems on the same pairs."""
    people = np.arange(n_groups * N_PEOPLE)
    group = people // N_PEOPLE
    genuine = np.repeat(people, N_GENUINE)
    one = np.repeat(people, N_IMPOSTORS)
    moved = (one + rng.integers(1, N_PEOPLE, one.size)) % N_PEOPLE
    other = one // N_PEOPLE * N_PEOPLE + moved
    left, right = np.r_[genuine, one], np.r_[genuine, other]
    hard = rng.normal(0, UNEVEN, people.size)
    ends, fnmr = (hard[left], hard[right]), np.where(group[left] == 0, factor, 1)
    groups = {
        "sensitive_features_1": group[left],
        "sensitive_features_2": group[right],
    }
    return [
        SimilarityROC(far_max=0.05, random_state=0).fit_pairs(
            scores, left, right, **groups
        )
        for scores in scores_of(rng, ends, left == right, fnmr, fnmrs)
    ]


def pooled_systems(rng, n_groups, fnmrs, factor):
    """PooledErrors of two systems on the same people, as the bench counts them."""
    y = np.repeat(np.arange(n_groups * N_IN_FOLDS), N_IMAGES)
    group, labels = y // N_IN_FOLDS, {"group": list(range(n_groups))}
    hard = rng.normal(0, UNEVEN, y.max() + 1)[y]
    counted = []
    for fold in range(N_FOLDS):
        rows = y % N_FOLDS == fold
        own, of = hard[rows], {"group": group[rows]}
        fnmr = np.where(group[rows] == 0, factor, 1)[:, None]
        genuine = y[rows][:, None] == y[rows]
        counted.append(
            [
                count_errors(
                    *(None, y[rows], of, labels),
                    similarity=scores,
                    far=LEVEL,
                )
                for scores in scores_of(rng, (own[:, None], own), genuine, fnmr, fnmrs)
            ]
        )
    return [pool(folds) for folds in zip(*counted, strict=True)]


def told(fits, asked):
    """Whether the disparities are said to differ, by measure."""
    found = [fits[0].compare(fits[1], **asked, how=how) for how in HOWS]
    return [one.ratio_low > 1 or one.ratio_high < 1 for one in found]


def told_by_bench(rng, n_groups, *design):
    """Whether the metrics of the bench are said to differ."""
    pooled = pooled_systems(rng, n_groups, *design)
    cells = cells_of({"group": list(range(n_groups))})
    found = (
        compare(*pooled, rows_of(cells, "group", name), METRICS[name].how, 0.95)
        for name in OF_BENCH
    )
    return [one.low > 1 or one.high < 1 for one in found]


def rows(n_sets, kept):
    """Designs, and means of what ``kept`` gives of a random generator and a design."""
    for n_groups in (2, 4, 8):
        for *fnmrs, factor in DESIGNS:
            rng = np.random.default_rng(0)
            found = [kept(rng, n_groups, fnmrs, factor) for _ in range(n_sets)]
            start = "{:6}  {:.2f} and {:.2f}  {:5}".format(n_groups, *fnmrs, factor)
            yield start, np.mean(found, axis=0)


def main(n_sets=100):
    """Print both tables."""
    warnings.simplefilter("ignore")
    start = "groups  FNMR of both   times"
    print(f"SimilarityROC.compare: {n_sets} data sets a row, {N_PEOPLE} people a group")
    print(f"{start}  asked             max/min  max/geomean")

    def asked_all(*design):
        fits = two_systems(*design)
        return [told(fits, asked) for asked in QUESTIONS.values()]

    for design, shares in rows(n_sets, asked_all):
        for name, of in zip(QUESTIONS, shares, strict=True):
            cells = "{:9.3f}{:13.3f}".format(*of)
            print(f"{design}  {name:16}{cells}", flush=True)
    n_sets = -(-n_sets // 2)
    print(f"\nBench: {n_sets} data sets a row, {N_IN_FOLDS} people a group")
    print(f"{start}   BFAR   BFRR  FMR max/geomean  FNMR max/geomean")
    for design, shares in rows(n_sets, told_by_bench):
        cells = "{:7.3f}{:7.3f}{:17.3f}{:18.3f}".format(*shares)
        print(design + cells, flush=True)


if __name__ == "__main__":
    run_command(main, __doc__)
