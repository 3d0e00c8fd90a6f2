"""How often intervals of disparities, and of the matrix of groups, hold the truth.

``python -m docs.studies.check_disparities 60`` draws 60 data sets of some designs, and
prints for each FAR level the coverage of the nominal 95 % intervals of
``method="recentered"`` (replicates alone) and of ``"jackknife"``: of the disparities of both
rates, of BFAR and BFRR (at the threshold where no group's FAR exceeds the level), and of
the cells of the matrix, those within groups and those between two. The truth of a design
whose groups differ is counted among 4,000 people of it. Three minutes with 60.
"""

import warnings

import numpy as np

from docs.studies._command import run_command
from skfairfr import SimilarityROC, make_face_embeddings
from skfairfr._core._rates import DISPARITIES

LEVELS = np.array([1e-2, 1e-3])
RATES = ("far", "frr")
METHODS = ("recentered", "jackknife")
FOUR = dict.fromkeys("abcd", 1 / 4)
# Name -> number of people, and how they are made.
DESIGNS = {
    "2 x 100": (200, {"groups": {"a": 0.5, "b": 0.5}}),
    "4 x 50": (200, {"groups": FOUR}),
    "2 x 60, differ": (
        120,
        {
            "groups": {"a": 0.5, "b": 0.5},
            "kappa": {"a": 60, "b": 45},
            "crowding": {"a": 0, "b": 10},
        },
    ),
    "4 x 50, differ": (
        200,
        {
            "groups": FOUR,
            "kappa": dict(zip("abcd", (70, 60, 50, 45), strict=True)),
            "crowding": dict(zip("abcd", (0, 5, 10, 15), strict=True)),
        },
    ),
}
WORST = {"how": "max_min", "operating_point": "worst_group"}
HOWS = ("max_min", "max_geomean", "log_geomean", "gini", "difference")
QUESTIONS = {(rate, how): {"rate": rate, "how": how} for rate in RATES for how in HOWS}
QUESTIONS |= {(rate, "worst group"): {"rate": rate, **WORST} for rate in RATES}
CELLS = ("within", "between")


def fitted(name, seed, n_identities=None, **settings):
    """A SimilarityROC of people of a design."""
    own, made = DESIGNS[name]
    alike = {"kappa": 55, "crowding": 10}
    faces = make_face_embeddings(
        n_identities=n_identities or own,
        images_per_identity=4,
        n_features=48,
        random_state=seed,
        **(alike | made),
    )
    roc = SimilarityROC(random_state=seed, **settings)
    return roc.fit(faces.X, faces.y, faces.sensitive_features)


def truth(name, n_identities=4000):
    """Values of the QUESTIONS, and the matrix of groups, each at all LEVELS."""
    roc = fitted(name, 2**20, n_identities, n_resamples=1, far_max=2e-2)
    if "kappa" in DESIGNS[name][1]:
        values = {of: roc.estimate(LEVELS, **q).value for of, q in QUESTIONS.items()}
    else:
        neutral = {of: DISPARITIES[q["how"]].neutral for of, q in QUESTIONS.items()}
        values = {of: np.full(LEVELS.size, value) for of, value in neutral.items()}
    return values, [roc.far_matrix(level).far for level in LEVELS]


def check(name, n_sets):
    """Coverage in a design, by question: (rate, how), or "cells" and which.

    Returns
    -------
    held : dict of ndarrays, shape (n_methods, n_levels)
    """
    values, matrix = truth(name)
    inside = np.eye(len(DESIGNS[name][1]["groups"]), dtype=bool)
    asked = [*QUESTIONS, *(("cells", of) for of in CELLS)]
    held = {of: np.zeros((len(METHODS), LEVELS.size)) for of in asked}
    for seed in range(n_sets):
        roc = fitted(name, seed, n_resamples=200)
        for m, method in enumerate(METHODS):
            answering = roc.by(method=method)
            for of, question in QUESTIONS.items():
                found = answering.estimate(LEVELS, **question)
                held[of][m] += holds(found, values[of]) / n_sets
            for k, level in enumerate(LEVELS):
                found = holds(answering.far_matrix(level), matrix[k])
                for of, chosen in zip(CELLS, (inside, ~inside), strict=True):
                    held["cells", of][m, k] += found[chosen].mean() / n_sets
    return held


def holds(found, value):
    return (found.low <= value + 1e-9) & (value <= found.high + 1e-9)


def main(n_sets=40):
    """Print one line for each design, level and quantity."""
    print(f"{'design':16} {'level':>6} {'of':18} {METHODS[0]:>10} {METHODS[1]:>7}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in DESIGNS:
            for of, shares in check(name, n_sets).items():
                for level, (one, other) in zip(LEVELS, shares.T, strict=True):
                    print(
                        f"{name:16} {level:6g} {' '.join(of):18} {one:10.3f} {other:7.3f}",
                        flush=True,
                    )


if __name__ == "__main__":
    run_command(main, __doc__)
