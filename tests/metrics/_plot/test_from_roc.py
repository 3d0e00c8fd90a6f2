"""Displays ask a SimilarityROC of what an estimator makes of embeddings."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression

from skfairfr.metrics import (
    DisparityCurveDisplay,
    ErrorRateDisplay,
    GroupRatesDisplay,
    ScoreHistogramDisplay,
    SimilarityROCDisplay,
)
from skfairfr.metrics._plot import _from_roc
from tests.metrics._plot.drawn import (
    axes,
    fitted,
    fitted_beyond_far_max,
    synthetic,
    unfitted,
)


def test_transformed_embeddings_are_compared():
    class Compared(_from_roc.FromEstimatorMixin):
        from_roc = staticmethod(lambda roc: roc)

    X, y, groups = synthetic()
    pca = PCA(4).fit(X)
    roc = unfitted()
    ours = Compared.from_estimator(pca, X, y, groups, roc=roc)
    direct = unfitted().fit(pca.transform(X), y, groups)
    assert ours.threshold_at(0.1) == direct.threshold_at(0.1)
    assert not hasattr(roc, "groups_")
    cloned = Compared.from_estimator(roc, X, y, groups)
    assert cloned is not roc
    assert cloned.threshold_at(0.1) == fitted().threshold_at(0.1)
    with pytest.raises(ValueError, match="transform"):
        Compared.from_estimator(LinearRegression(), X, y)


@pytest.mark.parametrize(
    "display",
    [ErrorRateDisplay, GroupRatesDisplay, ScoreHistogramDisplay, SimilarityROCDisplay],
)
def test_groups_to_draw_are_those_of_the_data(display):
    for groups, message in (
        ((), "groups names none; give one at least"),
        ("female", "groups must be a sequence of labels, got 'female'"),
        (("x",), r"groups 'x' is not a group of the data.*'female', 'male'"),
        ((["female", "x"],), "is not a group of the data"),
    ):
        with pytest.raises(ValueError, match=message) as found:
            display.from_roc(fitted(), groups=groups, ax=axes())
        assert found.value.argument == "groups"


@pytest.mark.parametrize("point", ["overall", "group"])
def test_default_levels_can_be_resolved(point):
    levels = _from_roc.default_levels(fitted(), point)
    overall, *of_groups = fitted().score_summary().n_impostor
    n_pairs = overall if point == "overall" else min(of_groups)
    assert levels[0] * n_pairs >= 10
    assert levels[-1] == pytest.approx(0.1)
    assert (np.diff(levels) > 0).all()


def test_default_thresholds_span_the_default_levels():
    grid = _from_roc.default_thresholds(fitted(), n_thresholds=5)
    far = fitted().estimate(threshold=grid, rate="far").value
    assert far[0] <= 0.2
    assert far[-1] <= _from_roc.default_levels(fitted())[0]
    assert grid.size == 5
    # Also those that are marked, but not where there are no scores.
    marked = [grid[0] - 0.1, grid[-1] + 0.05]
    wide = _from_roc.default_thresholds(fitted(), marked)
    assert wide[0] < marked[0] and marked[1] < wide[-1]
    assert _from_roc.default_thresholds(fitted(), [9.0])[-1] < 2


def test_curves_are_the_answers_and_say_which_are_sampled():
    roc, levels = fitted_beyond_far_max(), np.array([0.02, 0.1, 0.2])
    questions = [{"rate": "far", "how": "max_min"}, {"rate": "frr"}]
    curves, sampled = _from_roc.curves_of(roc, questions, far=levels)
    for row, question in enumerate(questions):
        for field, values in curves.items():
            expected = getattr(roc.estimate(levels, **question), field)
            assert np.array_equal(values[row], expected, equal_nan=True)
    assert sampled.tolist() == [False, True, True]


@pytest.mark.parametrize("display", [SimilarityROCDisplay, DisparityCurveDisplay])
def test_levels_are_sorted_and_what_is_none_is_refused_by_name(display):
    found = display.from_roc(fitted(), far=[0.1, 0.05], ax=axes())
    assert found.far.tolist() == [0.05, 0.1]
    with pytest.raises(ValueError, match="far must lie in"):
        display.from_roc(fitted(), far="x", ax=axes())


def test_thresholds_are_numbers():
    for display in (ErrorRateDisplay, ScoreHistogramDisplay):
        with pytest.raises(ValueError, match="operating_thresholds"):
            display.from_roc(fitted(), operating_thresholds="x", ax=axes())
    with pytest.raises(ValueError, match=r"threshold must .* a similarity"):
        ErrorRateDisplay.from_roc(fitted(), threshold="x", ax=axes())
