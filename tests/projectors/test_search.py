"""The search that chooses an EthicalModule: the card's line as written, and with routing."""

import warnings
from functools import cache

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_array_equal
from sklearn import clone, config_context
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from skfairfr import (
    EthicalModule,
    IdentityKFold,
    bfar_scorer,
    face_labels,
    make_face_embeddings,
)
from tests.projectors.faces import HALVES

# Enough people for a FAR of 1e-3 of each group in a fifth of the images.
FACES = make_face_embeddings(300, 4, 16, groups=HALVES, random_state=0)
X, A = FACES.X, FACES.sensitive_features
Y = face_labels(FACES.y, A)
GRID = {"kappa0": [10.0, 25.0], "kappa1": [15.0]}
FOLDS = IdentityKFold(2)


def module():
    return EthicalModule(
        groups=("male", "female"), max_epochs=2, random_state=0, device="cpu"
    )


def search(estimator=None, grid=GRID, **options):
    usual = {"scoring": bfar_scorer, "cv": FOLDS, "error_score": "raise"}
    return GridSearchCV(estimator or module(), grid, **(usual | options))


@cache
def chosen():
    """A search that many tests look at."""
    return search().fit(X, Y)


def scores(fitted, name="score"):
    return fitted.cv_results_[f"mean_test_{name}"]


def test_the_card_s_line_as_written():
    grid = {"kappa0": [15.0, 20.0], "kappa1": [20.0]}
    few = EthicalModule(max_epochs=1, random_state=0)
    scorer = clone(bfar_scorer)  # which warns once
    with pytest.warns(UserWarning, match="IdentityKFold") as caught:
        fitted = GridSearchCV(few, grid, scoring=scorer).fit(X, Y)
    told = [w for w in caught if "on whom the estimator was fitted" in str(w.message)]
    assert len(told) == 1
    assert np.isfinite(scores(fitted)).all() and (scores(fitted) <= -1).all()
    assert fitted.transform(X[:3]).shape == (3, 16)


def test_scores_are_those_of_fits_by_hand():
    expected = np.empty((2, 2))
    for i, kappa0 in enumerate(GRID["kappa0"]):
        for j, (train, test) in enumerate(FOLDS.split(X, Y)):
            fitted = module().set_params(kappa0=kappa0, kappa1=15.0)
            fitted.fit(X[train], Y[train])
            expected[i, j] = bfar_scorer(fitted, X[test], Y[test])
    assert scores(chosen()) == pytest.approx(expected.mean(1), rel=1e-12)
    assert len(set(scores(chosen()))) == 2
    whole = module().set_params(**chosen().best_params_).fit(X, Y)
    assert_array_equal(chosen().transform(X), whole.transform(X))


def test_with_routing_groups_go_beside_y():
    with config_context(enable_metadata_routing=True):
        routed = search().fit(X, FACES.y, sensitive_features=A)
    assert_array_equal(scores(routed), scores(chosen()))
    assert routed.best_estimator_.kappa_ == chosen().best_estimator_.kappa_


def test_in_a_pipeline_with_routing():
    pipeline = make_pipeline(StandardScaler(), module())
    grid = {f"ethicalmodule__{name}": values for name, values in GRID.items()}
    with config_context(enable_metadata_routing=True):
        fitted = search(pipeline, grid).fit(X, FACES.y, sensitive_features=A)
        assert fitted.best_estimator_[-1].groups_.tolist() == ["male", "female"]
        by_hand = pipeline.set_params(**fitted.best_params_)
        by_hand.fit(X, FACES.y, sensitive_features=A)
    assert_array_equal(fitted.transform(X), by_hand.transform(X))
    assert np.isfinite(scores(fitted)).all()


@pytest.mark.parametrize(
    "backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)]
)
def test_with_two_workers(backend):
    with parallel_config(backend):
        assert_array_equal(scores(search(n_jobs=2).fit(X, Y)), scores(chosen()))


def test_scorers_warn_of_people_on_whom_the_estimator_was_fitted():
    fitted = EthicalModule(kappa=15.0, max_epochs=1, random_state=0).fit(X, Y)
    for estimator in (fitted, make_pipeline(FunctionTransformer(), fitted)):
        with pytest.warns(UserWarning, match=r"people whom FairnessScorer.*Identity"):
            clone(bfar_scorer)(estimator, X, Y)
    inner = make_pipeline(FunctionTransformer(), fitted)
    for estimator in (make_pipeline(inner), chosen()):
        with pytest.warns(UserWarning, match=f"of {len({*FACES.y}):,} people whom"):
            clone(bfar_scorer)(estimator, X, Y)
    scorer = clone(bfar_scorer)  # once for an estimator and people
    others = Y.copy()
    others["identity"] += 10**6
    refitted = clone(fitted).fit(X, others)
    for estimator, labels in ((fitted, Y), (refitted, others), (inner, Y)):
        with pytest.warns(UserWarning, match="people whom"):
            scorer(estimator, X, labels)
        with warnings.catch_warnings():
            warnings.filterwarnings("error", "(?s).*on whom the estimator was fitted")
            scorer(estimator, X[::2], labels[::2])
    strangers = Y.copy()
    strangers["identity"] += 10**6
    for labels, estimator in ((strangers, fitted), (Y, FunctionTransformer())):
        with warnings.catch_warnings():
            warnings.filterwarnings("error", "(?s).*on whom the estimator was fitted")
            clone(bfar_scorer)(estimator, X, labels)
