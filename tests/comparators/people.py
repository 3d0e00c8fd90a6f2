"""Small sets of faces, fitted comparators, and scores by double loops over pairs."""

from functools import cache

import numpy as np
import pytest
from sklearn.base import clone

from skfairfr import make_face_embeddings
from skfairfr.comparators import (
    ClusterCalibration,
    CohortNormalizer,
    FairScoreNormalizer,
    GroupThresholds,
    PLDAComparator,
    ScoreCalibrator,
)
from tests.oracles.pairs import unit

FAR = 1e-2
KAPPA = {"male": 60.0, "female": 40.0}
FACES = make_face_embeddings(90, 4, 24, kappa=KAPPA, random_state=0)
SEEN = FACES.y < 50
X, Y, GROUP = FACES.X[SEEN], FACES.y[SEEN], FACES.sensitive_features[SEEN]
NEW, NEW_Y, NEW_GROUP = (c[~SEEN] for c in (FACES.X, FACES.y, FACES.sensitive_features))

SYMMETRIC = [
    CohortNormalizer(),
    CohortNormalizer(top=7),
    CohortNormalizer("s"),
    CohortNormalizer("s", cohort="images"),
    CohortNormalizer("s", by="group"),
    CohortNormalizer(cohort="centroids", by="group", top=9, strength=0.5),
    GroupThresholds(FAR),
    GroupThresholds(FAR, operating_point="overall"),
    FairScoreNormalizer(3, far=FAR, random_state=0),
    FairScoreNormalizer(3, far=FAR, pairs="either", random_state=0),
    ClusterCalibration(3, random_state=0),
    PLDAComparator(),
    ScoreCalibrator(),
    ScoreCalibrator("beta", by="group", random_state=0),
    ScoreCalibrator("isotonic", by="cluster", n_clusters=3, random_state=0),
    ScoreCalibrator(by="group", similarity=CohortNormalizer("s"), random_state=0),
]
ONE_SIDED = [
    CohortNormalizer("z"),
    CohortNormalizer("t"),
    CohortNormalizer("z", by="group"),
    ScoreCalibrator(similarity=CohortNormalizer("z"), random_state=0),
]


@cache
def fit(comparator):
    """A comparator, fitted once for all tests, which do not change it."""
    return clone(comparator).fit(X, Y, GROUP)


def of_groups(comparator, first, second):
    """The groups as arguments of score_pairs, of a comparator that takes them."""
    if not comparator.takes_groups:
        return {}
    return {"sensitive_features_1": first, "sensitive_features_2": second}


def threshold_by_loop(scores, far):
    """The float32 next above the largest score at which the share accepted exceeds far."""
    scores = np.array(scores, dtype=np.float32)
    descending = sorted(scores, reverse=True)
    largest = next(s for s in descending if (scores >= s).mean() > far)
    return float(np.nextafter(np.float32(largest), np.float32(np.inf)))


def impostor_pairs(X, y):
    """(score, i, j) of all impostor pairs, by a double loop."""
    rows = unit(X).astype(np.float32).astype(np.float64)
    return [
        (np.float32(rows[i] @ rows[j]), i, j)
        for i in range(len(X))
        for j in range(i)
        if y[i] != y[j]
    ]


def approx(scores):
    """Equal but for the last bit of float32, which the order of a sum decides."""
    return pytest.approx(scores, rel=0, abs=1.2e-7)
