"""What scorers share: directions, refusals, and a pass that never holds n x n scores."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.preprocessing import FunctionTransformer

from skfairfr.metrics._roc._engine import Engine, Intervals
from skfairfr.metrics._scorers import _base
from tests.metrics.searches import GROUP, IDENTITY, X

AS_THEY_ARE = FunctionTransformer()


def compared(X=X, identity=IDENTITY, group=GROUP, far_max=1e-2):
    return _base.compare_transformed(
        "scorer", AS_THEY_ARE, (X, identity, group, None), far_max=far_max
    )


@pytest.mark.parametrize("how", ["max_min", "difference", None, np.max])
def test_disparities_are_negated(how):
    assert _base.greater_is_better(np.array([2.0, 3.0]), how).tolist() == [-2, -3]


@pytest.mark.parametrize("how", ["ratio", ("ratio", "a", "b")])
def test_a_signed_ratio_is_best_at_one(how):
    scores = _base.greater_is_better(np.array([0.25, 1.0, 4.0, 0.0]), how)
    assert scores == pytest.approx([-np.log(4), 0, -np.log(4), -np.inf])


def test_a_rate_of_zero_scores_plain_zero():
    assert not np.signbit(_base.greater_is_better(np.zeros(1), None)).any()


def test_values_of_several_levels_rise_with_them():
    engine = compared()
    question = _base.answerable_question(
        "s", engine, [1e-2, 1e-3], "far", None, "overall"
    )
    assert (np.diff(engine.points(question)) > 0).all()


def test_points_are_those_of_an_interval_s_estimate():
    engine = compared()
    for rate in ("far", "frr"):
        question = _base.answerable_question(
            "s", engine, [1e-3], rate, "gini", "worst_group"
        )
        made = Intervals("identities", "naive", 1, 0.95, None, 0)
        with_replicates = Engine(engine.pairs, engine.groups, engine.far_max, made)
        (found,) = with_replicates.answers(question, [with_replicates.resampling()])
        assert_array_equal(engine.points(question), found.value)


def test_no_square_of_scores_is_held():
    n_images = 12000
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((n_images, 8), dtype=np.float32)
    identity = np.repeat(np.arange(n_images // 4), 4)
    group = np.where(identity % 2, "a", "b")
    tracemalloc.start()
    engine = compared(rows, identity, group, far_max=1e-3)
    question = _base.answerable_question(
        "s", engine, 1e-3, "far", "max_min", "worst_group"
    )
    assert np.isfinite(engine.points(question)).all()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < n_images**2 * 4 / 2


@pytest.mark.parametrize("group", [None, np.full(len(X), "a")])
def test_missing_groups_matter_to_what_needs_them(group):
    engine = compared(group=group)
    assert _base.answerable_question("s", engine, 1e-2, "frr", None, "overall")
    with pytest.raises(ValueError, match="group"):
        _base.answerable_question("s", engine, 1e-2, "frr", "max_min", "overall")


def test_a_group_without_pairs_is_left_out_aloud():
    group = GROUP.astype(object)
    group[0] = "alone"
    engine = compared(group=group)
    question = _base.answerable_question(
        "s", engine, 1e-2, "far", "max_min", "worst_group"
    )
    with pytest.warns(UserWarning, match="alone"):
        assert np.isfinite(engine.points(question)).all()
