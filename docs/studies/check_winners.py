"""How often the bench names a winner where there is none to name.

In null sets, groups are dealt to people at random, so the rates of the groups are equal in the
population, before and after any method: each winner is false. In the other sets women are
crowded and noise on all images is among the methods, at any cost: it must never win.

    python -m docs.studies.check_winners [n_sets [n_people]]
"""

import warnings

import numpy as np

from docs.studies._command import run_command
from skfairfr import make_face_embeddings
from skfairfr.comparators import (
    CohortNormalizer,
    GroupMeanRemover,
    GroupThresholds,
    PLDAComparator,
    WithinClassWhitening,
)
from skfairfr.model_selection import compare_mitigations
from skfairfr.model_selection._mitigations import Noise

FAR, N_FEATURES = 1e-2, 32
NOISE = {f"noise {length:g}": Noise(length, 0) for length in (0.3, 0.6, 1.0)}
METHODS = NOISE | {
    "as-norm": CohortNormalizer(),
    "s-norm": CohortNormalizer("s"),
    "thresholds of groups": GroupThresholds(far=FAR),
    "group means out": GroupMeanRemover(),
    "WCCN": WithinClassWhitening(),
    "PLDA": PLDAComparator(),
}
SETS = {
    "equal groups": {"crowding": 5.0, "kappa": 60.0},
    "crowded group": {"crowding": {"male": 2.0, "female": 12.0}, "kappa": 60.0},
}


def bench(name, seed, n_people):
    """A bench of all methods on one set of people."""
    faces = make_face_embeddings(
        n_people, (2, 6), N_FEATURES, random_state=seed, **SETS[name]
    )
    group = faces.sensitive_features
    if name == "equal groups":
        of_person = np.random.default_rng(seed).permutation(n_people) < n_people * 0.35
        group = np.where(of_person[faces.y], "female", "male")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compare_mitigations(
            *(faces.X, faces.y, group, METHODS),
            **{"far": FAR, "n_splits": 2, "max_cost": None},
            refit=False,
            random_state=seed,
        )


def winners(name, n_sets, n_people):
    """Winner of each set, None of those without one."""
    return [bench(name, seed, n_people).winner for seed in range(n_sets)]


def main(n_sets=200, n_people=200):
    print(f"{n_people} people, {len(METHODS)} methods, FAR {FAR:g}, any cost")
    for name in SETS:
        found = [w for w in winners(name, n_sets, n_people) if w is not None]
        noise = sum(w in NOISE for w in found)
        print(f"{name}: {len(found)} winners in {n_sets} sets, noise in {noise}")


if __name__ == "__main__":
    run_command(main, __doc__)
