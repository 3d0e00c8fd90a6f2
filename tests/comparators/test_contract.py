"""Facts of any comparator: the pass, pairs and matrices give one score; scorers find it."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn import config_context
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import Pipeline

from skfairfr import (
    SimilarityROC,
    bfar_scorer,
    face_labels,
    fairness_scores,
    frr_at_far_scorer,
    make_face_embeddings,
)
from skfairfr._core._pair_tiles import unit_rows
from skfairfr.comparators import Adjustment, Comparator, PreparedImages
from skfairfr.metrics import bfar, frr_at_far
from skfairfr.report import audit

DATA = make_face_embeddings(n_identities=120, n_features=16, random_state=0)
LABELS = face_labels(DATA.y, DATA.sensitive_features)


class Lifted(Comparator):
    """Scores that favour images whose first feature is large."""

    def __init__(self, offset=0.3):
        self.offset = offset

    def fit(self, X, y=None, sensitive_features=None):
        self.n_features_in_ = np.shape(X)[1]
        self.fitted_ = True
        return self

    def _prepare(self, X, sensitive_features):
        self.seen_ = sensitive_features
        rows = unit_rows(X, "cosine")
        gain = 0.5 + np.abs(rows[:, 1].astype(float))
        return PreparedImages(rows, Adjustment.affine(gain, self.offset * rows[:, 0]))


class Halved(TransformerMixin, BaseEstimator):
    """The first half of all features."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X[:, :8]


@pytest.fixture(scope="module")
def comparator():
    return Lifted().fit(DATA.X)


def pairs_of(comparator, X, y, groups):
    """y_true, y_score and groups of all pairs, from the matrix."""
    i, j = np.triu_indices(len(X), 1)
    scores = comparator.score_matrix(X, X)[i, j]
    return (y[i] == y[j]).astype(int), scores, np.stack([groups[i], groups[j]], axis=1)


def test_scorers_score_what_the_comparator_scores(comparator):
    y_true, y_score, groups = pairs_of(
        comparator, DATA.X, DATA.y, DATA.sensitive_features
    )
    expected = -frr_at_far(y_true, y_score, far=1e-3)
    assert frr_at_far_scorer(comparator, DATA.X, LABELS) == expected
    together = fairness_scores(far=1e-2)(comparator, DATA.X, LABELS)
    by_hand = bfar(y_true, y_score, sensitive_features=groups, far=1e-2)
    assert together["bfar"] == pytest.approx(-by_hand)


def test_a_pipeline_that_ends_with_a_comparator_is_scored_by_it():
    pipeline = Pipeline([("head", Halved()), ("scores", Lifted())]).fit(DATA.X)
    alone = Lifted().fit(DATA.X[:, :8])
    expected = frr_at_far_scorer(alone, DATA.X[:, :8], LABELS)
    assert frr_at_far_scorer(pipeline, DATA.X, LABELS) == expected
    one_step = Pipeline([("scores", Lifted())]).fit(DATA.X)
    expected = frr_at_far_scorer(Lifted().fit(DATA.X), DATA.X, LABELS)
    assert frr_at_far_scorer(one_step, DATA.X, LABELS) == expected


def test_groups_reach_a_comparator(comparator):
    bfar_scorer(comparator, DATA.X, LABELS)
    (seen,) = comparator.seen_.values()
    assert_array_equal(seen, DATA.sensitive_features)
    some = DATA.sensitive_features.astype(object).copy()
    some[:3] = None
    SimilarityROC(similarity=comparator).fit(DATA.X, DATA.y, {"gender": some})
    assert list(comparator.seen_) == ["gender"]
    assert_array_equal(comparator.seen_["gender"], some)
    SimilarityROC(similarity=comparator).fit(DATA.X, DATA.y)
    assert comparator.seen_ is None
    with config_context(enable_metadata_routing=True):
        pipeline = Pipeline([("scores", Lifted())])
        pipeline.fit(DATA.X, DATA.y, sensitive_features=DATA.sensitive_features)


def test_an_audit_compares_by_the_comparator(comparator):
    report = audit(
        DATA.X,
        DATA.y,
        DATA.sensitive_features,
        similarity=comparator,
        far=1e-2,
    )
    (found,) = report.audits
    roc = SimilarityROC(similarity=comparator, resample="identities").fit(
        DATA.X, DATA.y, DATA.sensitive_features
    )
    at = found.levels[0].threshold
    for rate in ("far", "frr"):
        values = [
            roc.estimate(**a, rate=rate).value
            for a in ({"threshold": at}, {"far": 1e-2})
        ]
        assert values[0] == values[1]
    assert found.settings["similarity"] == "Lifted()"
    for shown in (report.to_text(), report.to_html()):
        assert "compared by Lifted()." in " ".join(shown.split())
    plain = audit(DATA.X, DATA.y, DATA.sensitive_features, far=1e-2)
    assert "similarity" not in plain.audits[0].settings
