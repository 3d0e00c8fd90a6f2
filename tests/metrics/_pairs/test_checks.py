"""What scored pairs may be, and which pairs belong to a group."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import UndefinedMetricWarning

from skfairfr import SimilarityROC
from skfairfr.metrics._pairs._rates import (
    SplitScores,
    _separation,
    check_pair_groups,
    check_pairs,
    operating_thresholds,
)


@pytest.mark.parametrize(
    "y_true",
    [
        [1, 0, 1],
        [True, False, True],
        [1.0, 0.0, 1.0],
        np.array([True, False, True]),
        np.array([1, False, 1.0], dtype=object),
        pd.Series([1, 0, 1], index=[7, 8, 9]),
        pl.Series([True, False, True]),
    ],
)
def test_ways_to_say_genuine(y_true):
    assert check_pairs(y_true, [1, 2, 3])[0].tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("y_true", "y_score", "message"),
    [
        ([1, -1], [1, 2], "y_true must be 1 .* pair 1 has"),
        ([0, 2], [1, 2], "y_true must be 1 .* pair 1 has"),
        ([0, np.nan], [1, 2], "y_true must be 1 .* pair 1 has"),
        (["0", "1"], [1, 2], "y_true must be 1 .* pair 0 has"),
        ([1, None], [1, 2], "y_true must be 1 .* pair 1 has None"),
        ([[0, 1]], [1, 2], "y_true must be one-dimensional"),
        ([[0], [0, 1]], [1, 2], "y_true .* inhomogeneous"),
        (np.ma.array([0, 1], mask=[0, 1]), [1, 2], r"y_true has masked values \(1\)"),
        ([0, 1], [1, 2, 3], "y_true has 2 pairs but y_score has 3"),
        ([0, 1], [1, np.nan], "y_score must be finite, but pair 1 has nan"),
        ([0, 1], [-np.inf, 1], "y_score must be finite, but pair 0 has -inf"),
        ([], [], "are empty"),
    ],
)
def test_pairs_that_are_none(y_true, y_score, message):
    with pytest.raises(ValueError, match=message):
        check_pairs(y_true, y_score)


TWO_COLUMNS = [["m", "f"], ["m", "m"], ["f", "f"], ["f", None]]


@pytest.mark.parametrize(
    "sensitive_features",
    [
        TWO_COLUMNS,
        np.array(TWO_COLUMNS, dtype=object),
        pd.DataFrame(TWO_COLUMNS, columns=["first", "second"]),
        pl.DataFrame(TWO_COLUMNS, schema=["first", "second"], orient="row"),
        [[*row[:1], np.nan if row[1] is None else row[1]] for row in TWO_COLUMNS],
    ],
)
def test_a_pair_is_in_a_group_when_both_images_are(sensitive_features):
    labels = check_pair_groups(sensitive_features, 4)
    assert labels.values.tolist() == ["f", "m"]
    assert labels.codes.tolist() == [-1, 1, 0, -1]


@pytest.mark.parametrize(
    ("sensitive_features", "message"),
    [
        (None, "must give the group of each pair, got None"),
        (["f"], "has 1 rows but y_score has 2"),
        ([["a", "b", "c"]] * 2, r"\(n_pairs, 2\).* got 3 columns"),
        ([None, np.nan], "has no known group"),
        (pd.DataFrame({"a": ["x", "y"], "b": [1, 2]}), "cannot be sorted as labels"),
    ],
)
def test_groups_that_are_none(sensitive_features, message):
    with pytest.raises(ValueError, match=f"sensitive_features .*{message}"):
        check_pair_groups(sensitive_features, 2)


def impostors(scores):
    return SplitScores(np.array([]), np.sort(np.array(scores, dtype=float))[::-1])


def test_unresolved_groups_are_named_with_their_counts():
    a, b = impostors(range(10)), impostors([1, 2])
    message = r"far=0.1 is below .* \(2 impostor pairs in 'b'\).* use far >= 0.5"
    with pytest.warns(UndefinedMetricWarning, match=message):
        operating_thresholds(
            a, [a, b], np.array(["a", "b"]), far=0.1, operating_point="worst_group"
        )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_share_of_larger_genuine_scores_is_that_of_all_pairs(dtype):
    rng = np.random.default_rng(0)
    genuine, impostor = (rng.integers(0, 9, n).astype(dtype) for n in (30, 50))
    larger = genuine[:, None] > impostor
    ties = genuine[:, None] == impostor
    first = np.arange(80)
    second = np.where(first < 30, first, first + 100)
    roc = SimilarityROC(n_resamples=1).fit_pairs(
        np.r_[genuine, impostor], first, second
    )
    share, _, equal = _separation(roc._engine.pairs, None)
    assert share == pytest.approx((larger + ties / 2).mean()) and not equal
