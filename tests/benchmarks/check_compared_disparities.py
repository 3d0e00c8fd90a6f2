"""How often two systems are said to differ in a disparity where all groups are alike in both.

    python -m tests.benchmarks.check_compared_disparities [n_sets]

Groups of 60 people have as many genuine pairs of their own, and impostor pairs with others of
their group. People are unevenly hard, for both systems. Each row is a number of groups, the
FNMR of either system, and what is asked: the max / min of the FNMR at one threshold, of the
FNMR at an FMR of 1 %, of the FMR there, and of the FMR at the worst group's threshold (BFAR).
Each cell is the share of data sets whose 95 % interval of the ratio leaves out 1:

- replicates: ``SimilarityROC.compare``, and so the bench;
- contrasts: ``compare_systems``, whose rule is that of ``PairedSystems.compare_disparities``.

Some three minutes with 200 sets, on one core.
"""

import warnings

import numpy as np
from scipy.stats import norm

from skfairfr import SimilarityROC
from skfairfr.metrics._roc._paired import PairedSystems
from tests.benchmarks._command import run_command

N_PEOPLE = 60  # of each group
N_GENUINE, N_IMPOSTORS = 3, 20  # pairs of each person
OWN = 0.7  # spread of what only one system sees, beside 1 of what both do
UNEVEN = 0.5  # spread of people
LEVEL = 0.01  # FMR of both at the threshold 0
FNMRS = ((0.05, 0.05), (0.05, 0.15), (0.15, 0.05))
WORST = {"rate": "far", "operating_point": "worst_group"}
QUESTIONS = {
    "FNMR, threshold": {"threshold": 0.0},
    "FNMR, level": {"far": LEVEL},
    "FMR, level": {"far": LEVEL, "rate": "far"},
    "BFAR": {"far": LEVEL, **WORST},
}


def two_systems(rng, n_groups, fnmrs):
    """Fits of two systems on the same pairs."""
    people = np.arange(n_groups * N_PEOPLE)
    group = people // N_PEOPLE
    genuine = np.repeat(people, N_GENUINE)
    one = np.repeat(people, N_IMPOSTORS)
    moved = (one + rng.integers(1, N_PEOPLE, one.size)) % N_PEOPLE
    other = one // N_PEOPLE * N_PEOPLE + moved
    left, right = np.r_[genuine, one], np.r_[genuine, other]
    hard = rng.normal(0, UNEVEN, people.size)
    common = rng.normal(size=left.size) + np.where(
        left == right, hard[left], -hard[left] - hard[right]
    )
    varied = np.where(left == right, 1, 2) * UNEVEN**2
    spread = np.sqrt(1 + varied + OWN**2)
    fits = []
    for fnmr in fnmrs:
        scores = (common + rng.normal(0, OWN, left.size)) / spread
        scores -= norm.ppf(np.where(left == right, fnmr, 1 - LEVEL))
        roc = SimilarityROC(n_resamples=300, far_max=0.05, random_state=0)
        groups = {
            "sensitive_features_1": group[left],
            "sensitive_features_2": group[right],
        }
        fits.append(roc.fit_pairs(scores, left, right, **groups))
    return fits


def told(fits, asked):
    """Whether either rule says that the disparities differ."""
    by_replicates = fits[0].compare(fits[1], **asked, how="max_min")
    question = fits[0]._engine.question(
        *(asked.get(name) for name in ("far", "threshold")),
        *(asked.get("rate", "frr"), None, "max_min"),
        asked.get("operating_point", "overall"),
    )
    paired = PairedSystems(*(roc._engine for roc in fits))
    _, low, high = paired.compare_disparities(
        question, np.atleast_1d(by_replicates.ratio)
    )
    ends = (by_replicates.ratio_low, by_replicates.ratio_high), (low[0], high[0])
    return [low > 1 or high < 1 for low, high in ends]


def main(n_sets=200):
    """Print a row for each design and question."""
    warnings.simplefilter("ignore")
    print(f"{n_sets} data sets a row, {N_PEOPLE} people a group")
    print("groups  FNMR of both   asked             replicates  contrasts")
    for n_groups in (2, 4, 8):
        for fnmrs in FNMRS:
            rng, found = np.random.default_rng(0), {name: [] for name in QUESTIONS}
            for _ in range(n_sets):
                fits = two_systems(rng, n_groups, fnmrs)
                for name, asked in QUESTIONS.items():
                    found[name].append(told(fits, asked))
            for name, of in found.items():
                start = f"{n_groups:6}  {fnmrs[0]:.2f} and {fnmrs[1]:.2f}  {name:16}"
                print(
                    start + "{:12.3f}{:11.3f}".format(*np.mean(of, axis=0)), flush=True
                )


if __name__ == "__main__":
    run_command(main, __doc__)
