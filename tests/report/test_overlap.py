"""Systems are paired by names where they have them, else row by row; labels must agree."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skfairfr.report import EmbeddingData, PairData, compare_systems
from skfairfr.report._paired import overlap
from tests.refusals import refusal

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
    assert [*map(list, left_out)] == [[2], [0]]
    for one in common:
        assert_array_equal(one.names, ["a1", "a2", "c1"])
        assert_array_equal(one.X, X[[0, 1, 4]])
        assert_array_equal(one.y, ["ann", "ann", "cy"])
        assert_array_equal(one.columns["sex"], ["f", "f", "f"])


def test_three_systems_share_what_all_have():
    data = [embedded(rows) for rows in ([0, 1, 2, 3], [1, 2, 3, 4], [4, 3, 2])]
    common, left_out = overlap(data, "abc")
    assert [*map(list, left_out)] == [[0, 1], [0, 3], [0]]
    assert [one.names.tolist() for one in common] == [["b1", "b2"]] * 3


def test_without_names_rows_stay_where_they_are():
    data = [embedded(names=None), embedded(names=None, X=X + 1)]
    common, left_out = overlap(data, ["before", "after"])
    assert [*map(list, left_out)] == [[], []]
    assert common[0] is data[0] and common[1] is data[1]


def test_pairs_have_no_direction():
    first, second = listed(turned=[2]), listed([9, 2, 4], turned=[4])
    common, left_out = overlap([first, second], ["before", "after"])
    assert [*map(len, left_out)] == [7, 0]
    for one in common:
        assert_array_equal(one.y_score, [2, 4, 9])
        found = [{*both} for both in zip(*one.image_names, strict=True)]
        assert found == [{NAMES[LEFT[k]], NAMES[RIGHT[k]]} for k in (2, 4, 9)]


@pytest.mark.parametrize("named", [True, False])
def test_turned_pairs_change_no_number(named):
    rng = np.random.default_rng(0)
    people = rng.integers(0, 30, (2, 1500))
    images = people * 10 + rng.integers(0, 5, (2, 1500)) + np.array([[0], [5]])
    groups = people % 2
    scores = rng.normal(size=(2, 1500)) + 2 * (people[0] == people[1])

    def made(score, turned):
        def of(both):
            return tuple(np.where(turned, both[::-1], both))

        names = of(images) if named else (None, None)
        return PairData(score, of(people), {"g": of(groups)}, names)

    straight, some = np.zeros(1500, bool), rng.random(1500) < 0.5
    before = made(scores[0], straight)
    one, other = (
        compare_systems(before, made(scores[1], turned), far=0.1)
        for turned in (straight, some)
    )
    assert repr(one.changes) == repr(other.changes)
    assert repr(one.disparities) == repr(other.disparities)


def other(label):
    changed = Y.copy()
    changed[2] = label
    return changed


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([embedded(), listed()], "files of one kind"),
        ([embedded(), embedded(names=None)], "name the image of each row"),
        ([listed(), listed(named=False)], "name the images with image_1 and image_2"),
        (
            [embedded(names=None), embedded([0, 1, 2], names=None)],
            "name the image of each row",
        ),
        ([embedded([0, 1]), embedded([2, 3])], "no images in common"),
        ([listed([0, 1]), listed([2, 3])], "use the same names"),
        ([embedded(names=np.arange(5)), embedded()], "in one type"),
        ([embedded(), embedded([0, 0, 1, 2, 3])], "remove the repeats"),
        ([embedded(), embedded(y=other("dee"))], "is 'dee' there and 'bo' here"),
        (
            [embedded(names=None), embedded(names=None, y=other("dee"))],
            "Rows are paired in their order: name the image of each row",
        ),
        ([listed(), listed(y=other("dee"))], "'dee' there and 'bo' here"),
        ([embedded(), embedded(columns={"sex": np.roll(GROUP, 1)})], "groups"),
        ([embedded(), embedded(columns={"age": GROUP})], "'sex'"),
        ([embedded(), embedded(y=np.arange(5) % 4)], "is 0 there and 'ann' here"),
        ([embedded(), replace(embedded(), domain=np.array([0, 1, 0, 1, 0]))], "sides"),
    ],
)
def test_what_cannot_be_paired_is_named(data, words):
    before, after = data
    scores = "X" if isinstance(after, EmbeddingData) else "y_score"
    after = replace(after, **{scores: getattr(after, scores) + 0.1})
    with refusal("after", "'after'", words):
        compare_systems(before, after, far=0.5)
