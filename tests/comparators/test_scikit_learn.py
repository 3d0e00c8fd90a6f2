"""Remover, whitening and PLDA obey scikit-learn: checks, pickles, pipelines, searches."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from skfairfr import IdentityKFold, bfar_scorer, face_labels, make_face_embeddings
from skfairfr.comparators import (
    GroupMeanRemover,
    PLDAComparator,
    WithinClassWhitening,
)

# The checks give no groups.
pytestmark = pytest.mark.filterwarnings("ignore:fit was given no groups")

# The labels that the checks draw tell nothing of their rows; with less shrinkage, fewer of
# them leave no direction in which people differ.
ESTIMATORS = [GroupMeanRemover(), WithinClassWhitening(), PLDAComparator(0.1)]
ZERO_ROW = {"check_estimators_dtypes": "its data hold a zero row, an error here"}


def run_check(check, estimator):
    """Run it; versions of scikit-learn draw other labels, and some leave no model."""
    try:
        check(estimator)
    except ValueError as error:
        if "differ no more than the images of one" not in str(error):
            raise
        pytest.skip("its labels tell nothing of its rows, an error here")


@pytest.mark.slow
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=lambda _: ZERO_ROW)
def test_scikit_learn_checks(estimator, check):
    run_check(check, estimator)


@pytest.mark.slow
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=lambda _: ZERO_ROW)
def test_scikit_learn_checks_with_routing(estimator, check):
    with config_context(enable_metadata_routing=True):
        run_check(check, estimator)


# Enough people for a FAR of 1e-3 of each group in half of the images.
FACES = make_face_embeddings(
    300, 4, 16, groups={"male": 0.5, "female": 0.5}, random_state=0
)
X, A = FACES.X, FACES.sensitive_features
Y = face_labels(FACES.y, A)
FOLDS = IdentityKFold(2)
CHAINS = {
    "means, then whitening": Pipeline(
        [("means", GroupMeanRemover()), ("last", WithinClassWhitening())]
    ),
    "means, then PLDA": Pipeline(
        [("means", GroupMeanRemover()), ("last", PLDAComparator())]
    ),
}
GRID = {"last__shrinkage": [0.3, 0.9]}


def search(estimator, grid=GRID):
    return GridSearchCV(
        estimator, grid, scoring=bfar_scorer, cv=FOLDS, error_score="raise"
    )


@pytest.mark.parametrize("chain", CHAINS.values(), ids=CHAINS)
def test_a_search_scores_as_fits_by_hand(chain):
    found = search(chain).fit(X, Y).cv_results_["mean_test_score"]
    by_hand = [
        [
            bfar_scorer(
                clone(chain).set_params(last__shrinkage=s).fit(X[train], Y[train]),
                X[test],
                Y[test],
            )
            for train, test in FOLDS.split(X, Y)
        ]
        for s in GRID["last__shrinkage"]
    ]
    assert found == pytest.approx(np.mean(by_hand, axis=1), rel=1e-12)
    assert len(set(found)) == 2


@pytest.mark.parametrize("chain", CHAINS.values(), ids=CHAINS)
def test_with_routing_groups_go_beside_y(chain):
    with config_context(enable_metadata_routing=True):
        routed = search(chain).fit(X, FACES.y, sensitive_features=A)
    inside = search(chain).fit(X, Y)
    assert_array_equal(
        routed.cv_results_["mean_test_score"], inside.cv_results_["mean_test_score"]
    )
