"""Scorers of detection costs, Cllr and the area under the curve."""

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import FunctionTransformer

from skfairfr import face_labels, make_fairness_scorer
from skfairfr.comparators import PLDAComparator
from skfairfr.metrics import (
    FewErrorsWarning,
    all_pairs,
    cllr,
    detection_cost,
    disparity,
    min_cllr,
)
from tests.metrics.searches import FOLDS, GROUP, IDENTITY, WEIGHTS, Stretch, X, Y

AS_THEY_ARE, P_TARGET = FunctionTransformer(), 0.3
OF_PAIRS = {
    "min_dcf": lambda y, s: detection_cost(y, s, p_target=P_TARGET),
    "dcf": lambda y, s: detection_cost(y, s, p_target=P_TARGET, threshold="bayes"),
    "cllr": cllr,
    "min_cllr": min_cllr,
    "auc": roc_auc_score,
}


@cache
def pairs_of(group=None):
    """Labels and scores of all pairs, or of those within a group."""
    y_true, y_score, groups = all_pairs(X, IDENTITY, sensitive_features=GROUP)
    within = (groups == group).all(axis=1) | (group is None)
    return y_true[within], y_score[within].astype(float)


@pytest.mark.filterwarnings("ignore::skfairfr.metrics.FewErrorsWarning")
@pytest.mark.parametrize("rate", OF_PAIRS)
def test_scores_are_costs_of_pairs_by_hand(rate):
    scorer = make_fairness_scorer(rate=rate, how=None, p_target=P_TARGET)
    sign = 1 if rate == "auc" else -1
    value = OF_PAIRS[rate](*pairs_of())
    assert_allclose(scorer(AS_THEY_ARE, X, Y), sign * value, rtol=1e-5)
    assert_allclose(scorer(AS_THEY_ARE, X, IDENTITY), sign * value, rtol=1e-5)
    costs = {g: OF_PAIRS[rate](*pairs_of(g)) for g in np.unique(GROUP)}
    for how in ("max_min", "difference"):
        scorer = make_fairness_scorer(rate=rate, how=how, p_target=P_TARGET)
        expected = disparity([*costs.values()], how)
        assert_allclose(scorer(AS_THEY_ARE, X, Y), -expected, rtol=1e-4)
    for group, cost in costs.items():
        scorer = make_fairness_scorer(
            rate=rate, how=None, group=group, p_target=P_TARGET
        )
        assert_allclose(scorer(AS_THEY_ARE, X, Y), sign * cost, rtol=1e-5)


def test_scores_of_a_comparator_are_those_of_its_likelihood_ratios():
    peer = PLDAComparator().fit(X[1::2], IDENTITY[1::2])
    first, second = np.triu_indices(len(X), 1)
    ratios = peer.score_pairs(X[first], X[second]).astype(float)
    expected = cllr(IDENTITY[first] == IDENTITY[second], ratios)
    scorer = make_fairness_scorer(rate="cllr", how=None)
    assert_allclose(scorer(peer, X, Y), -expected, rtol=1e-5)


@pytest.mark.filterwarnings("ignore::skfairfr.metrics.FewErrorsWarning")
@pytest.mark.parametrize(
    ("rate", "how"), [("min_dcf", "max_min"), ("auc", None), ("cllr", "difference")]
)
def test_a_search_takes_the_greatest(rate, how):
    scorer = make_fairness_scorer(rate=rate, how=how, p_target=P_TARGET)
    search = GridSearchCV(
        *(Stretch(), {"weight": WEIGHTS}),
        scoring={"cost": scorer, "bfar": make_fairness_scorer(far=0.1)},
        refit="cost",
        cv=FOLDS,
        error_score="raise",
    ).fit(X, face_labels(IDENTITY, GROUP))
    means = [
        np.mean([scorer(Stretch(w), X[test], Y[test]) for _, test in FOLDS])
        for w in WEIGHTS
    ]
    assert_allclose(search.cv_results_["mean_test_cost"], means)
    assert search.best_index_ == np.argmax(means)


def test_scores_that_cannot_be_computed_are_errors():
    scorer = make_fairness_scorer(rate="min_dcf")
    with pytest.raises(ValueError, match="needs the group of every image"):
        scorer(AS_THEY_ARE, X, IDENTITY)
    with pytest.raises(ValueError, match="two groups with genuine pairs and impostor"):
        scorer(AS_THEY_ARE, X, face_labels(IDENTITY, np.full(len(X), "all")))
    apart = np.eye(4)[[0, 0, 1, 1, 2, 2, 3, 3]]
    y = face_labels(np.arange(8) // 2, np.repeat(["a", "b"], 4))
    with pytest.raises(ValueError, match="is nan, since the cost of a group is 0"):
        scorer(AS_THEY_ARE, apart, y)
    with pytest.raises(ValueError, match=r"p_target must be a number in \(0, 1\)"):
        make_fairness_scorer(rate="min_dcf", p_target=0)


def test_few_errors_are_warned_of_with_what_has_more():
    scorer = make_fairness_scorer(rate="min_dcf", how=None, p_target=1e-4)
    with pytest.warns(FewErrorsWarning, match="Use a p_target nearer to 0.5"):
        scorer(AS_THEY_ARE, X, Y)
