"""Systems are paired by names where they have them, else row by row; labels must agree."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skfairfr.report import EmbeddingData, PairData
from skfairfr.report._overlap import overlap

Y = np.array(["ann", "ann", "bo", "bo", "cy"])
GROUP = np.array(["f", "f", "m", None, "f"], dtype=object)
NAMES = np.array(["a1", "a2", "b1", "b2", "c1"])
X = np.arange(10.0).reshape(5, 2)


def embedded(rows=slice(None), **changed):
    given = {"X": X, "y": Y, "columns": {"sex": GROUP}, "names": NAMES} | changed
    columns = {name: values[rows] for name, values in given["columns"].items()}
    names = None if given["names"] is None else given["names"][rows]
    return EmbeddingData(given["X"][rows], given["y"][rows], columns, names=names)


LEFT, RIGHT = np.triu_indices(5, 1)
SCORES = np.arange(10.0)


def listed(rows=slice(None), turned=(), named=True, y=Y):
    left, right = LEFT.copy(), RIGHT.copy()
    for row in turned:
        left[row], right[row] = right[row], left[row]
    sides = left[rows], right[rows]
    return PairData(
        SCORES[rows],
        tuple(y[side] for side in sides),
        {"sex": tuple(GROUP[side] for side in sides)},
        tuple(NAMES[side] for side in sides) if named else (None, None),
    )


def test_names_pair_what_both_have():
    first, second = embedded([0, 1, 2, 4]), embedded([3, 4, 1, 0])
    common, left_out = overlap([first, second], ["before", "after"])
    assert left_out == (1, 1)
    for one in common:
        assert_array_equal(one.names, ["a1", "a2", "c1"])
        assert_array_equal(one.X, X[[0, 1, 4]])
        assert_array_equal(one.y, ["ann", "ann", "cy"])
        assert_array_equal(one.columns["sex"], ["f", "f", "f"])


def test_three_systems_share_what_all_have():
    data = [embedded(rows) for rows in ([0, 1, 2, 3], [1, 2, 3, 4], [4, 3, 2])]
    common, left_out = overlap(data, "abc")
    assert left_out == (2, 2, 1)
    assert [one.names.tolist() for one in common] == [["b1", "b2"]] * 3


def test_without_names_rows_stay_where_they_are():
    data = [embedded(names=None), embedded(names=None, X=X + 1)]
    common, left_out = overlap(data, ["before", "after"])
    assert left_out == (0, 0)
    assert common[0] is data[0] and common[1] is data[1]


def test_pairs_have_no_direction():
    first, second = listed(turned=[2]), listed([9, 2, 4], turned=[4])
    common, left_out = overlap([first, second], ["before", "after"])
    assert left_out == (7, 0)
    for one in common:
        assert_array_equal(one.y_score, [2, 4, 9])
        assert_array_equal(one.image_names[0], NAMES[LEFT[[2, 4, 9]]])
        assert_array_equal(one.identities[1], Y[RIGHT[[2, 4, 9]]])
        assert_array_equal(one.columns["sex"][1], GROUP[RIGHT[[2, 4, 9]]])


def other(label):
    changed = Y.copy()
    changed[2] = label
    return changed


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (
            [embedded(), listed()],
            "before holds embeddings, and another system does not",
        ),
        ([embedded(), embedded(names=None)], "one system names its images and another"),
        ([listed(), listed(named=False)], "one system names its images and another"),
        (
            [embedded(names=None), embedded([0, 1], names=None)],
            "after has 2 images and before 5, which have no names",
        ),
        ([embedded([0, 1]), embedded([2, 3])], "no images in common"),
        ([listed([0, 1]), listed([2, 3])], "no pairs in common"),
        (
            [embedded(), embedded([0, 0, 1, 2, 3])],
            "after names 1 images twice",
        ),
        (
            [embedded(), embedded(y=other("dee"))],
            "1 rows of after have another identity than before, the first 'dee' instead of "
            "'bo'",
        ),
        (
            [embedded(names=None), embedded(names=None, y=other("dee"))],
            "(rows are paired in their order); name the rows with image",
        ),
        ([listed(), listed(y=other("dee"))], "another identity_1 than before"),
        (
            [embedded(), embedded(columns={"sex": np.roll(GROUP, 1)})],
            "rows of after have another sex than before",
        ),
        ([embedded(), embedded(columns={"age": GROUP})], "after has no 'sex'"),
        (
            [embedded(), embedded(y=np.arange(5))],
            "identity is of type str (such as 'ann') in before and int (such as 0) in after; "
            "give the labels of all systems in one type",
        ),
        (
            [embedded(names=np.arange(5)), embedded()],
            "image is of type int (such as 0) in before and str",
        ),
        (
            [embedded(columns={"sex": np.arange(5)}), embedded()],
            "sex is of type int (such as 0) in before and str",
        ),
        ([listed(), listed(y=np.arange(5))], "identity_1 is of type str"),
    ],
)
def test_what_cannot_be_paired_is_named(data, words):
    with pytest.raises(ValueError, match=r"(?s).*") as caught:
        overlap(data, ["before", "after"])
    assert words in str(caught.value)


def test_domains_must_agree():
    side = np.array([0, 1, 0, 1, 0])
    data = [EmbeddingData(X, Y, {}, d) for d in (side, None)]
    with pytest.raises(ValueError, match="do not both have domain"):
        overlap(data, ["before", "after"])
