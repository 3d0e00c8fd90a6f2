"""Attributes of a separate file reach every image, and what it lacks is told."""

import numpy as np
import pytest

from skfairfr.datasets import join_metadata, load_embeddings, load_pairs
from tests.refusals import refusal

Y = np.array([7, 7, 12, 3])


@pytest.fixture
def faces(tmp_path):
    arrays = {"X": np.eye(4), "y": Y, "image": [*"abcd"], "sex": [*"xxxx"]}
    np.savez(tmp_path / "faces.npz", **arrays)
    return load_embeddings(tmp_path / "faces.npz")


@pytest.fixture
def pairs(tmp_path):
    rows = ("7,12,0.5,a,c", "3,7,0.1,d,b")
    head = "identity_1,identity_2,score,image_1,image_2"
    (tmp_path / "pairs.csv").write_text("\n".join([head, *rows]))
    return load_pairs(tmp_path / "pairs.csv")


@pytest.fixture
def write(tmp_path):
    def write(*lines):
        (tmp_path / "people.csv").write_text("\n".join(lines))
        return tmp_path / "people.csv"

    return write


PEOPLE = ("person,sex,age", "3,m,1.5", "07,f,9", "7,f,2", "12,,4")


def test_every_row_has_the_attributes_of_its_person(faces, pairs, write):
    data = join_metadata(faces, write(*PEOPLE), on="person")
    assert data.columns["sex"].tolist() == ["f", "f", None, "m"]
    assert data.columns["age"].tolist() == [2, 2, 4, 1.5]
    assert faces.columns["sex"].tolist() == ["x"] * 4
    both = join_metadata(pairs, write(*PEOPLE), columns=["sex"])
    assert both.columns["sex_1"].tolist() == ["f", "m"]
    assert both.columns["sex_2"].tolist() == [None, "f"]
    assert "age_1" not in both.columns


@pytest.mark.parametrize("image", ["image", "photo"])
def test_or_of_its_image(faces, pairs, write, image):
    path = write(f"{image},pose", "d,left", "c,right", "b,left", "a,up")
    faces.columns[image] = np.array([*"abcd"])
    data = join_metadata(faces, path, on=image, image=image)
    assert data.columns["pose"].tolist() == ["up", "left", "right", "left"]
    both = join_metadata(pairs, path, on=image, image=image)
    assert both.columns["pose_2"].tolist() == ["right", "left"]


def test_people_with_a_beginning_in_one_file_are_refused(faces, write):
    path = write("person,sex", "3,m", "id7,f", "id12,f")
    with refusal("on", "hold 2 labels", "'12' and 'id12'; '7' and 'id7'"):
        join_metadata(faces, path, on="person")
    with pytest.warns(UserWarning, match="lacks 2 people"):
        join_metadata(faces, write("person,sex", "3,m", "id8,f", "id9,f"), on="person")


def test_who_is_not_found_is_told_and_unknown(faces, pairs, write):
    path = write("person,sex,age", "7,f,1")
    words = r"lacks 2 people \('12', '3'\) of the data's 3, whose 'sex' and 'age' is unknown"
    with pytest.warns(UserWarning, match=words):
        data = join_metadata(faces, path)
    assert data.columns["age"].tolist() == [1, 1, None, None]
    with pytest.warns(UserWarning, match="lacks 2 people"):
        both = join_metadata(pairs, path)
    assert both.columns["sex_1"].tolist() == ["f", None]


def test_rows_of_one_person_may_repeat_but_not_contradict(faces, write):
    path = write("y,sex", "7,", "12,m", "7,f", "3,m", "7,f", "12,m")
    assert join_metadata(faces, path).columns["sex"].tolist() == ["f", "f", "m", "m"]
    path = write("y,sex", "7,", "7,f", "12,m", "7,m", "3,m", "12,f")
    words = "two things of 2 people ('12', '7'): 'sex' of 7 is 'f' and 'm'; keep one."
    with refusal("metadata", words):
        join_metadata(faces, path)


def test_unusable_metadata(faces, pairs, write):
    with refusal(
        "on", "'person' of", "holds none", "people ('12', '3', '7')", "as 'ann'"
    ):
        join_metadata(faces, write("person,sex", "ann,f"))
    with refusal("on", "holds no 'who', but 'person', 'sex'"):
        join_metadata(faces, write(*PEOPLE), on="who")
    with refusal("columns", "no 'height'"):
        join_metadata(faces, write(*PEOPLE), columns=["height"])
    with refusal("on", "'person' is missing in data row 2"):
        join_metadata(faces, write("person,sex", "7,f", ",m"))
    pairs.identity_1 = None
    with refusal("metadata", "is about people, and the data name none"):
        join_metadata(pairs, write(*PEOPLE))
