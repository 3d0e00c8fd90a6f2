"""What comparators cost: the same fit and questions with adjusted scores and with cosines.

``python -m docs.studies.bench_comparators`` prints a line for each comparator: the time
of ``SimilarityROC(similarity=comparator)``, its ROC and eight disparities, over that with
plain cosines, and the part in which images are prepared. Interleaved runs, the smallest of
three each; 20,000 images, 512 features, B = 200; comparators are fitted on other people, the
cohort on 2,000. ``... bench_comparators SIZE COHORT`` takes other numbers. Some minutes.
"""

import warnings
from functools import partial

import numpy as np

from docs.studies._command import run_command
from docs.studies.bench_engine import faces, machine, measure, seconds
from skfairfr.comparators import (
    ClusterCalibration,
    CohortNormalizer,
    FairScoreNormalizer,
    GroupThresholds,
)

REPEATS = 3


def fitted(data):
    """Every comparator, fitted."""
    comparators = [
        CohortNormalizer("as"),
        CohortNormalizer("s"),
        GroupThresholds(),
        FairScoreNormalizer(20, random_state=0),
        ClusterCalibration(20, random_state=0),
    ]
    return [c.fit(data.X, data.y, data.sensitive_features) for c in comparators]


def main(n_images=20_000, n_cohort=2_000):
    warnings.simplefilter("ignore")
    data, others = faces(n_images), faces(4 * n_cohort)
    comparators = fitted(others)
    few = faces(1000)
    runs = {"cosine": partial(measure, data)}
    measure(few)  # compile
    for comparator in comparators:
        measure(few, similarity=comparator)
        groups = {"group": data.sensitive_features}
        runs[comparator] = partial(measure, data, similarity=comparator)
        runs[comparator, "prepare"] = partial(comparator.prepare, data.X, groups)
    found = seconds(runs, REPEATS)
    print(machine())
    print(f"n = {n_images:,}, a cohort of {n_cohort:,}; x the fit with cosines")
    base = found["cosine"]
    print(f"{'cosine, seconds':<60} {base:6.2f}")
    for comparator in comparators:
        ratio, part = found[comparator] / base, found[comparator, "prepare"] / base
        print(f"{comparator!s:<60} {ratio:6.2f}   of which prepared {part:.2f}")
    worst = np.max([found[comparator] for comparator in comparators])
    print(f"{'largest':<60} {worst / base:6.2f}")


if __name__ == "__main__":
    run_command(main, __doc__)
