"""A score that rests on few errors says so, once in a search by warnings' own filter."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from skfairfr.metrics import (
    FewErrorsWarning,
    _scorers,
    all_pairs,
    fairness_scores,
    group_error_rates,
    make_fairness_scorer,
    threshold_at_far,
)
from tests.metrics._scorers.test_one_score import AS_THEY_ARE, GRID, SCORERS
from tests.metrics.searches import FAR, FOLDS, GROUP, IDENTITY, Stretch, X, Y

SCORER = make_fairness_scorer(far=FAR)


def search(scoring, **options):
    options = {"cv": FOLDS, "refit": False, "error_score": "raise", **options}
    return GridSearchCV(Stretch(), GRID, scoring=scoring, **options)


def warned_of(run):
    """What a call warns of few errors, by the filter that Python starts with."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
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


@pytest.mark.parametrize("rate", ["far", "frr"])
@pytest.mark.parametrize("limit", [0, 1])
def test_as_many_errors_as_the_limit_are_enough(rate, limit, monkeypatch):
    fewest = min(errors_by_pairs(rate).values())
    monkeypatch.setattr(_scorers, "MIN_ERRORS", fewest + limit)
    scorer = make_fairness_scorer(rate=rate, far=FAR)
    assert len(warned_of(lambda: scorer(AS_THEY_ARE, X, Y))) == limit


@pytest.mark.parametrize(
    "scoring", [SCORER, fairness_scores(FAR), SCORERS], ids=["one", "several", "dict"]
)
def test_a_scorer_says_it_once(scoring):
    fresh = (
        {name: clone(scorer) for name, scorer in scoring.items()}
        if isinstance(scoring, dict)
        else clone(scoring)
    )
    said = [str(w.message) for w in warned_of(lambda: search(fresh).fit(X, Y))]
    assert said
    assert len(set(said)) == len(said)
    assert all("fewer than 30" in words for words in said)
    assert warned_of(lambda: search(fresh).fit(X, Y)) == []
