"""Embeddings and scored pairs tell who stands behind their pairs."""

import numpy as np
import pytest

from skfairfr.metrics import SimilarityROC
from skfairfr.report._data import Faces, ScoredPairs

Y = np.array(["a", "a", "a", "b", "b", "c"])
COLUMNS = {
    "gender": np.array(["f", "f", "f", "m", "m", None], dtype=object),
    "age": np.array([1.0, 1.0, 1.0, 2.0, np.nan, 2.0]),
}
X = np.random.default_rng(0).normal(size=(6, 3))


def listed(**columns):
    left, right = np.triu_indices(len(Y), 1)
    both = {name: (c[left], c[right]) for name, c in (COLUMNS | columns).items()}
    scores = (X @ X.T)[left, right]
    return ScoredPairs(scores, (Y[left], Y[right]), both, (left, right))


def test_genuine_pairs_of_each_person():
    assert Faces(X, Y).genuine_pairs().tolist() == [3, 1, 0]
    assert listed().genuine_pairs().tolist() == [3, 1, 0]
    domain = np.array(["s", "s", "d", "s", "d", "d"])
    assert Faces(X, Y, {}, domain).genuine_pairs().tolist() == [2, 1, 0]


@pytest.mark.parametrize("data", [Faces(X, Y, COLUMNS), listed()])
def test_combinations_are_unknown_where_one_attribute_is(data):
    labels = data.groups(("gender", "age"))
    assert labels.values.tolist() == ["f & 1.0", "m & 2.0"]
    assert np.unique(data.images()[labels.codes < 0]).size == 2
    assert np.unique(data.people()).size == 3


@pytest.mark.parametrize("data", [Faces(X, Y, COLUMNS), listed()])
@pytest.mark.parametrize("attributes", [(), ("gender",), ("gender", "age")])
def test_fit_hands_over_the_groups(data, attributes):
    roc = data.fit(SimilarityROC(), attributes)
    known = data.groups(attributes).values.tolist() if attributes else []
    assert roc.groups_.tolist() == known


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (Faces(X, Y), ""),
        (Faces(X[[0, 3, 5]], Y[[0, 3, 5]]), "every person has one image"),
        (Faces(X[:2], Y[:2], {}, np.array(["s", "d"])), "one image in each domain"),
        (listed(), ""),
        (ScoredPairs([0.1], (["a"], ["b"])), "do not name their images"),
        (ScoredPairs([0.1], (["a"], ["b"]), {}, ([1], [2])), "every person has one"),
    ],
)
def test_whether_other_photographs_can_be_drawn(data, said):
    reason = data.others_to_draw()
    assert said in reason
    assert bool(said) == bool(reason)


def test_labels_of_both_sides_may_differ_in_type():
    data = ScoredPairs([0.1], (["a"], ["b"]), {"g": (["f"], [None])})
    assert data.groups(("g",)).codes.tolist() == [0, -1]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (Faces(X, Y), ""),
        (Faces(X[[0, 3, 5]], Y[[0, 3, 5]]), "No person has two images, so that"),
        (Faces(X, Y, {}, Y == "a"), "No person has an image in each domain"),
        (listed(), ""),
        (ScoredPairs([0.1], (["a"], ["b"])), "No pair is of two images of one person"),
    ],
)
def test_whether_an_frr_can_be_measured(data, said):
    lack = data.lack_of_genuine()
    assert said in lack
    assert bool(said) == ("Do the identities name people" in lack)
