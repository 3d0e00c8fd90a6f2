"""A search whose scores rest on few errors warns once, wherever they were computed."""

import pickle
import warnings

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.model_selection import GridSearchCV, cross_validate

from skfairfr import face_labels
from skfairfr.metrics import (
    FewErrorsWarning,
    all_pairs,
    fairness_scores,
    group_error_rates,
    make_fairness_scorer,
    threshold_at_far,
)
from skfairfr.metrics._scorers import _few_errors
from tests.metrics._scorers.test_one_score import AS_THEY_ARE, GRID, SCORERS
from tests.metrics.searches import FAR, FOLDS, GROUP, IDENTITY, Stretch, X, Y

SCORER = make_fairness_scorer(far=FAR)


def search(scoring, **options):
    options = {"cv": FOLDS, "refit": False, "error_score": "raise", **options}
    return GridSearchCV(Stretch(), GRID, scoring=scoring, **options)


def warned_of(run):
    """What a call warns of few errors; all warnings are shown as often as they are given."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run()
    return [w for w in caught if issubclass(w.category, FewErrorsWarning)]


def errors_by_pairs(rate, operating_point="worst_group"):
    """Errors of each group at its threshold, of scored pairs."""
    y_true, y_score, groups = all_pairs(X, IDENTITY, sensitive_features=GROUP)
    threshold = threshold_at_far(
        y_true,
        y_score,
        far=FAR,
        sensitive_features=groups,
        operating_point=operating_point,
    )
    found = group_error_rates(
        y_true, y_score, sensitive_features=groups, threshold=threshold
    )
    numbers = found.n_impostor if rate == "far" else found.n_genuine
    errors = np.rint(getattr(found, rate) * numbers).astype(int)
    return dict(zip(found.groups.tolist(), errors.tolist(), strict=True))


@pytest.mark.parametrize("average", ["pair", "identity"])
@pytest.mark.parametrize("rate", ["far", "frr"])
def test_errors_are_those_counted_over_scored_pairs(rate, average, monkeypatch):
    monkeypatch.setattr(_few_errors, "MIN_ERRORS", 10**6)
    scorer = make_fairness_scorer(rate=rate, far=FAR, average=average)
    expected = errors_by_pairs(rate)
    if average == "identity":  # everyone has four images: both averages are the same
        assert set(np.unique(IDENTITY, return_counts=True)[1]) == {4}
    fewest = min(expected, key=expected.get)
    kind = {"far": "false acceptances", "frr": "false rejections"}[rate]
    with pytest.warns(
        FewErrorsWarning,
        match=f"rests on {expected[fewest]} {kind} in group '{fewest}'",
    ):
        scorer(AS_THEY_ARE, X, Y)


@pytest.mark.parametrize("limit", [0, 1])
def test_the_limit_itself_is_enough(limit, monkeypatch):
    fewest = min(errors_by_pairs("far").values())
    monkeypatch.setattr(_few_errors, "MIN_ERRORS", fewest + limit)
    assert len(warned_of(lambda: SCORER(AS_THEY_ARE, X, Y))) == limit


def test_an_overall_rate_rests_on_all_errors():
    scorer = make_fairness_scorer(
        rate="frr", how=None, operating_point="overall", far=0.2
    )
    few = warned_of(lambda: scorer(AS_THEY_ARE, X[:40], Y[:40]))
    assert "false rejections, fewer than 30" in str(few[0].message)


def test_several_scores_name_the_one_with_the_fewest_errors(monkeypatch):
    monkeypatch.setattr(_few_errors, "MIN_ERRORS", 10**6)
    (few,) = warned_of(lambda: fairness_scores(FAR)(AS_THEY_ARE, X, Y))
    fewest = min(min(errors_by_pairs(rate).values()) for rate in ("far", "frr"))
    assert f"rests on {fewest} " in str(few.message)


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize(
    "scoring", [SCORER, fairness_scores(FAR), SCORERS], ids=["one", "several", "dict"]
)
def test_a_search_warns_once_at_the_line_that_runs_it(scoring, n_jobs):
    searches = [search(scoring, n_jobs=n_jobs) for _ in range(2)]
    for one in searches:
        (few,) = warned_of(lambda one=one: one.fit(X, Y))
        assert few.filename == __file__
        assert "fewer than 30" in str(few.message)
        assert "Traceback" not in str(few.message)
    name = "score" if scoring is SCORER else "bfar"
    expected = [
        np.mean([SCORER(Stretch(w), X[test], Y[test]) for _, test in FOLDS])
        for w in GRID["weight"]
    ]
    for one in searches:
        assert one.cv_results_[f"mean_test_{name}"] == pytest.approx(expected)
        assert one.cv_results_[f"split0_test_{name}"].dtype == float


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_cross_validation_warns_once(n_jobs):
    options = {"scoring": SCORER, "cv": FOLDS, "n_jobs": n_jobs}
    assert len(warned_of(lambda: cross_validate(Stretch(), X, Y, **options))) == 1


def test_threads_warn_once():
    with parallel_config("threading"):
        few = warned_of(lambda: search(SCORER, n_jobs=2).fit(X, Y))
    assert len(few) == 1


def test_a_search_with_enough_errors_does_not_warn():
    y = face_labels(IDENTITY, GROUP)
    scorer = make_fairness_scorer(far=0.2)
    assert warned_of(lambda: search(scorer, n_jobs=2).fit(X, y)) == []


def test_where_warnings_are_errors_a_search_in_workers_comes_to_its_end():
    with warnings.catch_warnings():
        warnings.simplefilter("error", FewErrorsWarning)
        found = search(SCORER, n_jobs=2).fit(X, Y)
        assert np.isfinite(found.cv_results_["mean_test_score"]).all()
        with pytest.raises(FewErrorsWarning):
            search(SCORER).fit(X, Y)


def test_a_score_of_a_worker_becomes_a_float_where_it_arrives(monkeypatch):
    monkeypatch.setattr(_few_errors, "parent_process", lambda: object())
    score = _few_errors.reported(-2.5, "A score rests on few errors")
    assert (score, isinstance(score, float)) == (-2.5, True)
    assert _few_errors.reported(-2.5, "").__class__ is float
    packed = pickle.dumps(score)
    monkeypatch.undo()
    with pytest.warns(FewErrorsWarning, match="A score rests on few errors"):
        arrived = pickle.loads(packed)
    assert (arrived, arrived.__class__) == (-2.5, float)
