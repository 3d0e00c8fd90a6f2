"""The public questions: shapes, curves, matrices, thresholds."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skfairfr.metrics import all_pairs, equal_error_rate
from tests.metrics import designs
from tests.metrics.designs import GROUP, IDENTITY, LEVELS, X, roc_of, unfitted

AVERAGES = ("pair", "identity")


pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning"),
]


def test_curve_holds_the_estimates_and_a_wider_band():
    X, identity, group = designs.one_side("people", np.random.default_rng(26), 40)
    roc = roc_of(X, identity, group, n_resamples=100)
    levels = [0.3, 0.05, 0.1]
    curve = roc.curve(levels, how="max_min", rate="far")
    found = roc.estimate(levels, how="max_min", rate="far")
    assert_allclose(curve.far, levels)
    for name in ("value", "low", "high", "supported"):
        assert_allclose(getattr(curve, name), getattr(found, name))
    assert curve.reason.tolist() == found.reason.tolist()
    assert not (curve.band_low > curve.low).any()
    assert not (curve.band_high < curve.high).any()
    assert_allclose(curve.threshold, roc.threshold_at(levels))


@pytest.mark.parametrize("shape", [(), (1,), (2, 2)])
def test_fields_follow_the_shape_of_far(shape):
    X, identity, group = designs.one_side("people", np.random.default_rng(27))
    roc = roc_of(X, identity, group)
    far = np.full(shape, 0.2) if shape else 0.2
    found = roc.estimate(far)
    for field in dataclasses.fields(found):
        value = getattr(found, field.name)
        if value is not None and (field.name, shape) != ("reasons", ()):
            assert np.shape(value) == shape, field.name
    assert found.corrected is None and found.p_value is None
    one = roc.estimate(0.2)
    assert isinstance(one.supported, bool) and isinstance(one.reasons, tuple)


def test_far_matrix_equals_the_double_loop():
    X, identity, group = designs.one_side("images", np.random.default_rng(20), 30)
    oracle = designs.oracle_of(X, identity, group)
    roc = roc_of(X, identity, group, n_resamples=200)
    matrix = roc.far_matrix(0.2)
    threshold = oracle.threshold(0.2)
    for i, g in enumerate(matrix.groups):
        for j, h in enumerate(matrix.groups):
            scope = g if g == h else (g, h)
            assert matrix.far[i, j] == pytest.approx(
                float(oracle.far(threshold, scope))
            )
            assert matrix.n_impostor[i, j] == oracle.counts(scope)[1]
            # nan where too many resamples lack the pairs
            assert not matrix.low[i, j] > matrix.far[i, j]
            assert not matrix.high[i, j] < matrix.far[i, j]


@pytest.mark.parametrize("method", ["recentered", "jackknife"])
def test_far_matrix_of_more_cells_than_answers_are_kept(method):
    rng = np.random.default_rng(21)
    identity = np.repeat(np.arange(36), 2)
    X = rng.standard_normal((72, 8))
    roc = roc_of(X, identity, identity % 12, method=method, n_resamples=5)
    roc.estimate([0.1, 0.2], how="max_min")
    matrix = roc.far_matrix(0.2)
    threshold = roc.threshold_at(0.2)
    group, unit = identity % 12, X / np.linalg.norm(X, axis=1, keepdims=True)
    scores, apart = unit @ unit.T, np.not_equal.outer(identity, identity)
    for g, h in ((0, 0), (3, 7), (11, 11)):
        cell = apart & np.outer(group == g, group == h)
        assert matrix.far[g, h] == pytest.approx((scores[cell] >= threshold).mean())


@pytest.mark.parametrize("average", AVERAGES)
def test_threshold_is_that_of_the_oracle(average):
    X, identity, group = designs.one_side("people", np.random.default_rng(21))
    oracle = designs.oracle_of(X, identity, group, average=average)
    roc = roc_of(X, identity, group, average=average)
    for level in LEVELS:
        assert roc.threshold_at(level) == oracle.threshold(level)
        own = oracle.operating_thresholds(level, "group")
        assert roc.threshold_at(level, operating_point="group", group="b") == own["b"]
        worst = roc.threshold_at(level, operating_point="worst_group")
        assert worst == max(own["a"], own["b"])


def test_equal_error_rate_is_that_of_the_scored_pairs():

    X, identity, group = designs.one_side("people", np.random.default_rng(13), 40)
    y_true, y_score, pair_groups = all_pairs(X, identity, sensitive_features=group)
    roc = roc_of(X, identity, group)
    assert roc.equal_error_rate().value == pytest.approx(
        equal_error_rate(y_true, y_score), rel=1e-12
    )
    within = (pair_groups == "a").all(axis=1)
    assert roc.equal_error_rate("a").value == pytest.approx(
        equal_error_rate(y_true[within], y_score[within]), rel=1e-12
    )


def test_two_groups_may_come_as_a_list():
    fitted = unfitted().fit(X, IDENTITY, GROUP)
    listed, paired = (
        fitted.estimate(0.2, rate="far", group=kind(["a", "b"]))
        for kind in (list, tuple)
    )
    assert listed == paired
