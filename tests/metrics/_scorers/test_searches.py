"""Scorers of searches within a fold: of one image of every second person."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from skfairfr import (
    IdentityKFold,
    face_labels,
    make_face_embeddings,
    make_fairness_scorer,
)
from skfairfr.metrics import IdentificationROC


def data():
    made = make_face_embeddings(
        120, images_per_identity=3, n_features=8, random_state=0
    )
    return made.X, face_labels(made.y, made.sensitive_features)


@pytest.mark.parametrize("rate", ["fpir", "fnir"])
@pytest.mark.parametrize("how", ["difference", None])
def test_a_score_is_that_of_searches_by_the_others(rate, how):
    X, y = data()
    scorer = make_fairness_scorer(
        rate=rate, how=how, far=0.2, operating_point="overall"
    )
    enrolled = []
    for group in ("female", "male"):
        people = sorted(set(y["identity"][y["group"] == group]))
        enrolled += [int(np.flatnonzero(y["identity"] == p)[0]) for p in people]
    enrolled = enrolled[::2]
    probes = [i for i in range(len(X)) if i not in enrolled]
    roc = IdentificationROC(n_resamples=1, random_state=0).fit(
        *(X[probes], y[probes]),
        X_gallery=X[enrolled],
        y_gallery=y["identity"][enrolled],
    )
    expected = roc.estimate(0.2, rate=rate, how=how).value
    assert scorer(FunctionTransformer(), X, y) == -expected < 0


def test_a_search_chooses_by_them():
    X, y = data()
    cut = FunctionTransformer(lambda X, kept: X[:, :kept], kw_args={"kept": 8})
    scorer = make_fairness_scorer(
        rate="fnir", how=None, far=0.2, operating_point="overall"
    )
    search = GridSearchCV(
        Pipeline([("cut", cut)]),
        {"cut__kw_args": [{"kept": 2}, {"kept": 8}]},
        scoring=scorer,
        cv=IdentityKFold(2),
        error_score="raise",
    )
    assert search.fit(X, y).best_params_ == {"cut__kw_args": {"kept": 8}}


def test_a_fold_that_cannot_answer_is_an_error_in_words_of_searches():
    X, y = data()
    scorer = make_fairness_scorer(rate="fpir", far=1e-4)
    with pytest.raises(ValueError, match=r"below 1 / \(non-mated searches\)"):
        scorer(FunctionTransformer(), X, y)
    with pytest.raises(ValueError, match="rate must be one of"):
        make_fairness_scorer(rate="fmr")
