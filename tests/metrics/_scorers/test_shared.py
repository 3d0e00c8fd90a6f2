"""Scorers of one dict share the transform and the pass; each score is that of one alone."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.metrics import check_scoring

from skfairfr import face_labels
from skfairfr._core import _pair_tiles, _pairs
from skfairfr.metrics import make_fairness_scorer
from tests.metrics.searches import FAR, GROUP, IDENTITY, Stretch, X, Y

OVERALL = {"rate": "frr", "how": None, "operating_point": "overall"}
DICT = {
    "bfar": make_fairness_scorer(far=FAR),
    "bfrr": make_fairness_scorer(rate="frr", far=FAR),
    "frr_at_far": make_fairness_scorer(far=FAR, **OVERALL),
}
DOMAIN = np.where(np.arange(len(X)) % 2, "selfie", "document")


@pytest.fixture
def counted(monkeypatch):
    """How often rows were transformed and pairs compared."""
    found = {"transforms": 0, "passes": 0}
    transform, collect = Stretch.transform, _pair_tiles.collect_tail

    def transformed(self, X):
        found["transforms"] += 1
        return transform(self, X)

    def collected(*arguments, **options):
        found["passes"] += 1
        return collect(*arguments, **options)

    monkeypatch.setattr(Stretch, "transform", transformed)
    monkeypatch.setattr(_pair_tiles, "collect_tail", collected)
    return found


def of_dict(scorers, *data, estimator=None, **metadata):
    """Scores of a dict of scorers, as a search calls them."""
    estimator = Stretch(3.0) if estimator is None else estimator
    return check_scoring(estimator, scorers)(estimator, *data, **metadata)


def alone(scorers, *data, **metadata):
    """Scores of each scorer by itself."""
    return {k: scorer(Stretch(3.0), *data, **metadata) for k, scorer in scorers.items()}


def test_a_dict_transforms_and_compares_once(counted):
    found = of_dict(DICT, X, Y)
    assert counted == {"transforms": 1, "passes": 1}
    assert found == alone(DICT, X, Y)
    assert counted == {"transforms": 4, "passes": 4}


LEVELS = {
    f"{rate}@{far:g}": make_fairness_scorer(rate=rate, far=far)
    for far in (1e-3, 1e-2, 1e-1)
    for rate in ("far", "frr")
}
DESIGNS = {
    "pair": make_fairness_scorer(far=FAR),
    "identity": make_fairness_scorer(far=FAR, average="identity"),
    "same group": make_fairness_scorer(far=FAR, impostors="same_group"),
    "overall": make_fairness_scorer(far=FAR, **OVERALL),
}


@pytest.mark.parametrize("scorers", [LEVELS, DESIGNS], ids=["levels", "designs"])
@pytest.mark.parametrize("in_reverse", [False, True])
@pytest.mark.parametrize("domain", [None, DOMAIN])
def test_unlike_scorers_share_the_rows(
    scorers, in_reverse, domain, counted, monkeypatch
):
    monkeypatch.setattr(_pairs, "WHOLE_GROUP", 1)
    if in_reverse:
        scorers = dict(reversed(scorers.items()))
    y = face_labels(IDENTITY, GROUP, domain)
    found = of_dict(scorers, X, y)
    assert counted["transforms"] == 1
    if scorers.keys() == LEVELS.keys():
        # The level is what a pass reaches down to.
        assert counted["passes"] == (1 if in_reverse else 3)
    assert found == alone(scorers, X, y)


def test_without_transform_a_dict_is_refused():
    class NoTransform(BaseEstimator):
        def fit(self, X, y=None):
            return self

    with pytest.raises(AttributeError, match="transform"):
        of_dict(DICT, X, Y, estimator=NoTransform())
