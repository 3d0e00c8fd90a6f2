"""Scorers equal the pair functions and SimilarityROC, and choose in searches."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn import config_context
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skfairfr import SimilarityROC, face_labels
from skfairfr.metrics import (
    all_pairs,
    bfar,
    bfar_scorer,
    bfrr,
    bfrr_scorer,
    fairness_scores,
    far_disparity,
    far_max_geomean_scorer,
    frr_at_far,
    frr_at_far_scorer,
    frr_disparity,
    frr_max_geomean_scorer,
    make_fairness_scorer,
)
from tests.covering import daily_pairwise
from tests.metrics.searches import FAR, FOLDS, GROUP, IDENTITY, WEIGHTS, Stretch, X, Y

AS_THEY_ARE = FunctionTransformer()
GRID = {"weight": WEIGHTS}
READY = [
    bfar_scorer,
    bfrr_scorer,
    frr_at_far_scorer,
    far_max_geomean_scorer,
    frr_max_geomean_scorer,
]
SCORERS = {
    "bfar": make_fairness_scorer(far=FAR),
    "frr_at_far": make_fairness_scorer(
        rate="frr", how=None, operating_point="overall", far=FAR
    ),
}


@pytest.mark.parametrize("weight", WEIGHTS)
def test_ready_scorers_negate_the_pair_functions(weight):
    stretch = Stretch(weight)
    *pairs, groups = all_pairs(stretch.transform(X), IDENTITY, sensitive_features=GROUP)
    options = {"sensitive_features": groups}
    worst = options | {"operating_point": "worst_group", "how": "max_geomean"}
    expected = [
        bfar(*pairs, **options),
        bfrr(*pairs, **options),
        frr_at_far(*pairs, far=1e-3),
        far_disparity(*pairs, **worst),
        frr_disparity(*pairs, **worst),
    ]
    found = [-scorer(stretch, X, Y) for scorer in READY]
    assert_allclose(found, expected, rtol=1e-12)


DESIGNS = [{}, {"average": "identity"}, {"impostors": "same_group"}]


@pytest.fixture(scope="module")
def measured():
    """One SimilarityROC for each design."""
    options = {"resample": "identities", "n_resamples": 2}
    return [SimilarityROC(**options, **design).fit(X, Y) for design in DESIGNS]


@pytest.mark.parametrize(
    ("rate", "how", "operating_point"),
    daily_pairwise(
        product(
            ("far", "frr"),
            ("max_min", "gini", "difference", "log_geomean", "std"),
            ("overall", "worst_group", "group"),
        )
    ),
)
def test_values_are_those_of_similarity_roc(rate, how, operating_point, measured):
    question = {"rate": rate, "how": how, "operating_point": operating_point}
    for design, roc in zip(DESIGNS, measured, strict=True):
        scorer = make_fairness_scorer(**question, far=FAR, **design)
        value = roc.estimate(FAR, **question).value
        assert_allclose(scorer(AS_THEY_ARE, X, Y), -value, rtol=1e-12)


@pytest.mark.parametrize(
    "y",
    [Y, pd.DataFrame({"identity": IDENTITY, "group": GROUP})],
    ids=["structured", "frame"],
)
def test_groups_come_inside_y_or_beside_it(y):
    beside = bfar_scorer(AS_THEY_ARE, X, IDENTITY, sensitive_features=GROUP)
    assert bfar_scorer(AS_THEY_ARE, X, y) == beside


# ---- refusals --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "scorer", [bfar_scorer, bfrr_scorer, fairness_scores(), SCORERS["bfar"]]
)
def test_missing_groups_name_both_remedies(scorer):
    with pytest.raises(ValueError, match=r"face_labels.*enable_metadata_routing"):
        scorer(AS_THEY_ARE, X, IDENTITY)


@pytest.mark.parametrize("scorer", [bfar_scorer, bfrr_scorer, fairness_scores()])
def test_one_group_is_refused(scorer):
    with pytest.raises(ValueError, match="two groups"):
        scorer(AS_THEY_ARE, X, IDENTITY, np.full(len(X), "a"))


@pytest.mark.parametrize(
    "scorer", [*READY, fairness_scores(), fairness_scores([0.1, 1e-3])]
)
def test_a_level_below_one_pair_is_refused(scorer):
    few = np.flatnonzero(IDENTITY < 8)
    with pytest.raises(ValueError, match=r"far=0.001 is below .* larger far"):
        scorer(AS_THEY_ARE, X[few], Y[few])


def without_errors():
    """Ten people whose images coincide: no genuine pair is ever rejected."""
    rows = np.eye(20, dtype=np.float32)[np.repeat(np.arange(20), 3)]
    rows += 0.3 * np.repeat(np.random.default_rng(0).random((20, 20)), 3, axis=0)
    return rows, face_labels(np.repeat(np.arange(20), 3), np.repeat(["a", "b"], 30))


def test_an_undefined_disparity_is_refused_alone_and_nan_among_others():
    rows, y = without_errors()
    scorer = make_fairness_scorer(rate="frr", far=0.05)
    with pytest.raises(
        ValueError, match="is nan, since a group has no error of the FRR"
    ):
        scorer(AS_THEY_ARE, rows, y)
    with pytest.warns(UndefinedMetricWarning, match="frr_max_geomean|bfrr"):
        scores = fairness_scores(0.05)(AS_THEY_ARE, rows, y)
    assert np.isnan([scores["bfrr"], scores["frr_max_geomean"]]).all()
    assert scores["frr_at_far"] == 0
    assert np.isfinite([scores["bfar"], scores["far_max_geomean"]]).all()


class NoTransform:
    def fit(self, X, y=None):
        return self


@pytest.mark.parametrize("scorer", [bfar_scorer, fairness_scores()])
def test_an_estimator_without_transform_is_refused(scorer):
    with pytest.raises(TypeError, match="NoTransform has no transform"):
        scorer(NoTransform(), X, Y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"far": 1.5}, "far must lie in"),
        ({"far": [1e-3, 1e-2]}, "one number"),
        ({"rate": "fmr"}, "rate must be one of"),
        ({"how": "range"}, "how must be one of"),
        ({"how": ("range", "a", "b")}, "how must be one of"),
        ({"operating_point": "worst"}, "operating_point must be one of"),
        ({"group": "a"}, "exclude each other"),
        ({"how": None, "operating_point": "group"}, "no overall rate"),
        ({"average": "mean"}, "average must be one of"),
        ({"impostors": "some"}, "impostors must be one of"),
    ],
)
def test_wrong_parameters_are_named_at_once(parameters, message):
    with pytest.raises(ValueError, match=message):
        make_fairness_scorer(**parameters)


# ---- in searches -----------------------------------------------------------------------


def expected_winner(score):
    """Index of the weight whose mean score over FOLDS is greatest."""
    means = [
        np.mean([score(Stretch(w), X[test], Y[test]) for _, test in FOLDS])
        for w in WEIGHTS
    ]
    return int(np.argmax(means))


@pytest.mark.parametrize("name", SCORERS)
@pytest.mark.parametrize("n_jobs", [None, pytest.param(2, marks=pytest.mark.slow)])
def test_grid_search_minimises(name, n_jobs):
    scorer = SCORERS[name]
    search = GridSearchCV(
        Stretch(), GRID, scoring=scorer, cv=FOLDS, n_jobs=n_jobs, error_score="raise"
    ).fit(X, Y)
    assert search.best_index_ == expected_winner(scorer)
    assert (search.cv_results_["mean_test_score"] < 0).all()


@pytest.mark.parametrize("pipeline", [False, True])
def test_grid_search_routes_groups(pipeline):
    estimator, grid = Stretch(), GRID
    expected = GridSearchCV(
        estimator, grid, scoring=SCORERS["bfar"], cv=FOLDS, error_score="raise"
    ).fit(X, Y)
    with config_context(enable_metadata_routing=True):
        estimator = Stretch().set_fit_request(sensitive_features=True)
        if pipeline:
            estimator = make_pipeline(FunctionTransformer(), estimator)
            grid = {"stretch__weight": WEIGHTS}
        search = GridSearchCV(
            estimator, grid, scoring=SCORERS["bfar"], cv=FOLDS, error_score="raise"
        ).fit(X, IDENTITY, sensitive_features=GROUP)
    for results in (search.cv_results_, expected.cv_results_):
        assert_allclose(
            results["mean_test_score"], expected.cv_results_["mean_test_score"]
        )


def test_routing_reaches_domain_and_several_scorers():
    domain = np.where(np.arange(len(X)) % 2, "selfie", "document")
    inside = cross_validate(
        AS_THEY_ARE, X, face_labels(IDENTITY, GROUP, domain), scoring=SCORERS, cv=FOLDS
    )
    with config_context(enable_metadata_routing=True):
        beside = cross_validate(
            AS_THEY_ARE,
            X,
            IDENTITY,
            scoring=SCORERS,
            cv=FOLDS,
            params={"sensitive_features": GROUP, "domain": domain},
        )
    for name in SCORERS:
        assert_allclose(inside[f"test_{name}"], beside[f"test_{name}"])
