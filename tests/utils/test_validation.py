"""What the door lets in, and that messages name the argument, the value, the remedy."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import UndefinedMetricWarning

from skfairfr import make_face_embeddings
from skfairfr.metrics import bfar
from skfairfr.utils._validation import (
    check_count,
    check_group,
    check_level,
    check_option,
    check_scores,
    check_threshold,
    plain,
    warn_undefined,
)


@pytest.mark.parametrize(
    "far", [0, 1, -0.1, 1.5, np.nan, "1e-3", None, [], True, [0.1, 2]]
)
def test_levels_outside_the_open_interval_are_named(far):
    with pytest.raises(ValueError, match=r"far must .*\(0, 1\)"):
        check_level(far)


@pytest.mark.parametrize(("far", "shape"), [(1e-3, ()), ([1e-3, 0.5], (2,))])
def test_levels_keep_their_shape(far, shape):
    assert check_level(far).shape == shape


@pytest.mark.parametrize("threshold", [np.nan, "high", None, [], True])
def test_thresholds_are_numbers(threshold):
    with pytest.raises(ValueError, match="threshold must"):
        check_threshold(threshold)
    assert check_threshold(-np.inf) == -np.inf


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([[0.1]], "one-dimensional"),
        (["a"], "must be numbers"),
        ([0.1, np.nan], "pair 1 has nan"),
        ([np.inf, 0.1], "pair 0 has inf"),
    ],
)
def test_scores_that_are_none(scores, message):
    with pytest.raises(ValueError, match=f"y_score .*{message}"):
        check_scores(scores, "y_score")


@pytest.mark.parametrize(
    ("given", "kept"),
    [(np.float32, np.float32), (np.float64, np.float64), (int, np.float64)],
)
def test_only_float32_scores_keep_their_type(given, kept):
    assert check_scores(np.array([1, 2], dtype=given), "y_score").dtype == kept


def test_options_groups_and_counts_list_what_is_possible():
    with pytest.raises(ValueError, match="rate must be one of 'far', 'frr'; got 'roc'"):
        check_option("roc", "rate", ("far", "frr"))
    with pytest.raises(ValueError, match=r"group='x' is not .* groups are: 'f', 'm'"):
        check_group("x", np.array(["f", "m"]))
    with pytest.raises(ValueError, match="n must be at least 2; got 1"):
        check_count(1, "n", 2)
    with pytest.raises(ValueError, match="n must be an integer; got True"):
        check_count(True, "n", 0)
    assert check_group("m", np.array(["f", "m"])) == 1


@pytest.mark.parametrize(
    "call",
    [
        lambda: warn_undefined("nothing there"),
        lambda: bfar(
            [0] * 8, np.arange(8.0), sensitive_features=[*"aaaabbbb"], far=0.1
        ),
    ],
    ids=["directly", "through four of our own frames"],
)
def test_a_warning_points_at_the_caller(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    assert caught
    for warning in caught:
        assert warning.category is UndefinedMetricWarning
        assert warning.filename == __file__


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (np.str_("a"), "'a'"),
        (np.int64(3), "3"),
        (np.float64(0.1), "0.1"),
        (np.bool_(True), "True"),
        (np.datetime64("2026-01-02", "ns"), "'2026-01-02T00:00:00.000000000'"),
        ((np.str_("a"), None), "('a', None)"),
        ([np.float32(0.5), 1], "[0.5, 1]"),
        ({np.str_("a"): np.float64(2)}, "{'a': 2.0}"),
        ("a", "'a'"),
        (None, "None"),
    ],
)
def test_values_are_shown_without_numpy_s_types(value, shown):
    assert repr(plain(value)) == shown


@pytest.mark.parametrize(
    ("check", "given"),
    [
        (check_level, (np.float64(1.5),)),
        (check_level, ([np.float64(1.5)],)),
        (check_threshold, (np.str_("x"),)),
        (check_option, (np.str_("x"), "how", ("a",))),
        (check_group, (np.str_("x"), np.array(["a"]))),
        (check_count, (np.int64(0), "n", 1)),
    ],
)
def test_messages_hold_no_numpy_types(check, given):
    with pytest.raises(ValueError) as caught:
        check(*given)
    assert "np." not in str(caught.value)


def test_a_warning_from_fit_points_at_its_caller():
    """Not at the wrapper that scikit-learn puts about fit."""
    pytest.importorskip("torch")
    from skfairfr import EthicalModule

    data = make_face_embeddings(20, 2, n_features=8, random_state=0)
    module = EthicalModule(10, 20, max_epochs=1, random_state=0)
    with pytest.warns(UserWarning, match="No groups were given") as seen:
        module.fit(data.X, data.y)
    assert seen[0].filename == __file__
