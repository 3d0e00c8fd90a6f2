"""
=====================
Coverage of intervals
=====================

A 95 % interval should contain the truth in 95 of 100 data sets. The truth is known for
synthetic people, so one can count. Each interval is compared with two truths: the rates
of the whole population, and those of the same people over many more photographs of them.

    python examples/uncertainty/study_coverage.py [n_sets]

writes ``coverage_people.csv`` and ``coverage_photographs.csv`` next to this file, which the
user guide shows (100 data sets a row take some ten minutes on one core).
"""

import csv
import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from skfairfr import SimilarityROC, make_face_embeddings
from skfairfr.metrics import EstimandWarning

LEVEL = 1e-2
N_SETS = 100
DRAWS_PER_PEOPLE = 10
N_RESAMPLES = 200
POOL = 80  # photographs of each person that count as "many more"
# Identities, images of each, spread (log-sd) of the concentration between identities.
PEOPLE = (
    (60, (3, 6), 0.0),
    (60, (3, 6), 0.3),
    (150, (3, 6), 0.3),
    (60, (10, 20), 0.3),
)
PHOTOGRAPHS = ((60, (2, 3), 0.3), (60, (3, 6), 0.3), (150, (3, 6), 0.3))
IMAGES = {
    f"images, {method}": {"resample": "images", "method": method}
    for method in ("naive", "recentered", "multiplicative", "offdiagonal")
}
IDENTITIES = {"identities": {"resample": "identities"}}
QUESTIONS = {"FRR": {}, "max/min of FRR": {"how": "max_min"}}


def draw(n_identities, images, spread, seed):
    """People of two groups who differ in how much their images vary."""
    return make_face_embeddings(
        n_identities,
        images,
        n_features=16,
        groups={"a": 0.5, "b": 0.5},
        kappa={"a": 48.0, "b": 40.0},
        crowding=0.0,
        heterogeneity=spread,
        random_state=seed,
    )


def roc_of(X, y, group, **options):
    options = {"n_resamples": N_RESAMPLES, "random_state": 0, **options}
    return SimilarityROC(average="identity", far_max=LEVEL, **options).fit(X, y, group)


def rates(X, y, group):
    """The answers to all questions, without intervals that anyone needs."""
    roc = roc_of(X, y, group, resample="identities", n_resamples=2)
    return np.array(
        [roc.estimate(LEVEL, **asked).value for asked in QUESTIONS.values()]
    )


def held(X, y, group, truth, kinds):
    """Whether the interval of each kind contains the truth of each question."""
    found = []
    for options in kinds.values():
        roc = roc_of(X, y, group, **options)
        for true, asked in zip(truth, QUESTIONS.values(), strict=True):
            estimate = roc.estimate(LEVEL, **asked)
            found.append(estimate.low <= true <= estimate.high)
    return np.reshape(found, (len(kinds), len(QUESTIONS)))


def cover_people(n_identities, images, spread, n_sets):
    """Coverage of the population's rates, and those rates."""
    many = [draw(2000, 6, spread, 10_000 + seed) for seed in range(3)]
    truth = np.mean([rates(m.X, m.y, m.sensitive_features) for m in many], axis=0)
    kinds = IMAGES | IDENTITIES
    counts = np.zeros((len(kinds), len(QUESTIONS)))
    for seed in range(n_sets):
        data = draw(n_identities, images, spread, seed)
        counts += held(data.X, data.y, data.sensitive_features, truth, kinds)
    return counts / n_sets, truth[None]


def cover_photographs(n_identities, images, spread, n_sets):
    """Coverage of these people's rates over more photographs, and those rates."""
    rng = np.random.default_rng(0)
    counts, truths = np.zeros((len(IMAGES), len(QUESTIONS))), []
    for seed in range(n_sets // DRAWS_PER_PEOPLE):
        pool = draw(n_identities, POOL, spread, seed)
        data = pool.X, pool.y, pool.sensitive_features
        truths.append(rates(*data))
        numbers = rng.integers(images[0], images[1], n_identities, endpoint=True)
        for _ in range(DRAWS_PER_PEOPLE):
            rows = photograph(pool.y, numbers, rng)
            counts += held(*(part[rows] for part in data), truths[-1], IMAGES)
    return counts / (DRAWS_PER_PEOPLE * len(truths)), np.array(truths)


def photograph(y, numbers, rng):
    """Rows of a number of photographs of each person, drawn from the pool."""
    order = np.argsort(y, kind="stable").reshape(numbers.size, POOL)
    drawn = rng.permuted(order, axis=1)
    return np.concatenate([d[:n] for d, n in zip(drawn, numbers, strict=True)])


def table(name, cover, designs, kinds, n_sets):
    """Write one table: coverage of the FRR / of its disparity in each cell."""
    header = ["identities", "images each", "spread", *kinds, "truths"]
    rows = []
    for n_identities, images, spread in designs:
        found, truths = cover(n_identities, images, spread, n_sets)
        cells = [" / ".join(f"{c:.2f}" for c in kind) for kind in found]
        spans = zip(truths.min(axis=0), truths.max(axis=0), (3, 2), strict=True)
        text = " / ".join(
            f"{low:.{d}f}" if low == high else f"{low:.{d}f} to {high:.{d}f}"
            for low, high, d in spans
        )
        of_each = f"{images[0]} to {images[1]}"
        rows.append([n_identities, of_each, spread or "none", *cells, text])
        print(*rows[-1], sep=", ", flush=True)
    path = Path(__file__).with_name(f"coverage_{name}.csv")
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


def main(n_sets=N_SETS):
    warnings.simplefilter("ignore", EstimandWarning)
    # Where a group has no error there is no interval, and it contains nothing.
    warnings.simplefilter("ignore", UndefinedMetricWarning)
    table("people", cover_people, PEOPLE, IMAGES | IDENTITIES, n_sets)
    table("photographs", cover_photographs, PHOTOGRAPHS, IMAGES, n_sets)


if __name__ == "__main__":
    main(*(int(n) for n in sys.argv[1:]))
