"""Comparators in scikit-learn's pipelines and searches, groups inside y or routed."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.model_selection import GridSearchCV

from skfairfr import (
    IdentityKFold,
    SimilarityROC,
    face_labels,
    make_face_embeddings,
    make_fairness_scorer,
)
from skfairfr.comparators import (
    ClusterCalibration,
    CohortNormalizer,
    FairScoreNormalizer,
    GroupThresholds,
    PLDAComparator,
    ScoreCalibrator,
)

FACES = make_face_embeddings(
    100, 4, 16, kappa={"male": 40, "female": 25}, random_state=0
)
X, IDENTITY, GROUP = FACES.X, FACES.y, FACES.sensitive_features
Y = face_labels(IDENTITY, GROUP)
FAR = 1e-2
SCORER = make_fairness_scorer(far=FAR)


def search(estimator, grid, scoring=SCORER):
    options = {"cv": IdentityKFold(3), "error_score": "raise"}
    return GridSearchCV(estimator, grid, scoring=scoring, **options)


def by_hand(comparator):
    """The mean BFAR of the folds, by SimilarityROC."""
    found = []
    for seen, unseen in IdentityKFold(3).split(X, Y):
        fitted = comparator.fit(X[seen], IDENTITY[seen], GROUP[seen])
        roc = SimilarityROC(similarity=fitted, resample="identities", n_resamples=2)
        roc.fit(X[unseen], IDENTITY[unseen], GROUP[unseen])
        asked = {"how": "max_min", "operating_point": "worst_group"}
        found.append(roc.estimate(FAR, rate="far", **asked).value)
    return np.mean(found)


@pytest.mark.parametrize(
    ("comparator", "grid"),
    [
        (CohortNormalizer(), {"top": [10, 100]}),
        (GroupThresholds(FAR), {"operating_point": ["group", "overall"]}),
        (FairScoreNormalizer(2, far=FAR, random_state=0), {"n_clusters": [2, 4]}),
        (ClusterCalibration(2, random_state=0), {"n_clusters": [2, 4]}),
        (PLDAComparator(), {"shrinkage": [0.3, 0.9]}),
        (ScoreCalibrator(random_state=0), {"by": ["all", "group"]}),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("routed", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_search_scores_what_a_loop_over_folds_does(comparator, grid, routed):
    (name, values), labels = next(iter(grid.items())), Y
    with config_context(enable_metadata_routing=routed):
        if routed:
            found = search(comparator, grid)
            found.fit(X, IDENTITY, sensitive_features=GROUP)
        else:
            found = search(comparator, grid).fit(X, labels)
    expected = [-by_hand(comparator.set_params(**{name: value})) for value in values]
    np.testing.assert_allclose(
        found.cv_results_["mean_test_score"], expected, rtol=1e-12
    )


def test_a_kind_with_sides_is_searched_with_domains():
    domain = np.where(np.arange(len(X)) % 2 == 0, "selfie", "document")
    labels = face_labels(IDENTITY, GROUP, domain)
    found = search(CohortNormalizer(), {"kind": ["as", "z"]}).fit(X, labels)
    assert np.unique(found.cv_results_["mean_test_score"]).size == 2
