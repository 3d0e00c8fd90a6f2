"""Facts of the list of all pairs."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skfairfr import face_labels
from skfairfr.metrics import all_pairs

X = np.random.default_rng(0).normal(size=(7, 4))
IDENTITY = ["c", "a", "a", "b", "c", "a", "d"]
GROUP = ["m", "f", "f", None, "m", "f", "m"]


def test_every_pair_of_a_double_loop_in_its_order():
    y_true, y_score, groups = all_pairs(X, IDENTITY, sensitive_features=GROUP)
    pairs = list(combinations(range(7), 2))
    assert y_true.tolist() == [int(IDENTITY[i] == IDENTITY[j]) for i, j in pairs]
    assert groups.tolist() == [[GROUP[i], GROUP[j]] for i, j in pairs]
    norm = np.linalg.norm
    cosines = [X[i] @ X[j] / (norm(X[i]) * norm(X[j])) for i, j in pairs]
    assert y_score == pytest.approx(np.array(cosines), abs=1e-6)
    assert y_score.dtype == np.float32
    assert y_true.dtype.kind == "i"


def test_groups_may_travel_inside_y():
    y = face_labels(IDENTITY, GROUP)
    expected = all_pairs(X, IDENTITY, sensitive_features=GROUP)
    for ours, theirs in zip(all_pairs(X, y), expected, strict=True):
        assert_array_equal(ours, theirs)


def test_scores_ignore_length_and_stay_within_one():
    lengths = np.geomspace(1e-3, 1e3, 7)[:, None]
    assert_array_equal(all_pairs(X * 4, IDENTITY)[1], all_pairs(X, IDENTITY)[1])
    same = np.outer(lengths, X[0])
    assert all_pairs(same, IDENTITY)[1].tolist() == [1.0] * 21
    assert all_pairs([[1.0, 2.0, 3.0], [-1.0, -2.0, -3.0]], [0, 0])[1].tolist() == [
        -1.0
    ]
