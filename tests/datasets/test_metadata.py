"""Attributes of a separate file reach every image, and what it lacks is told."""

import numpy as np
import pytest

from skfairfr.datasets import _tables, join_metadata, load_embeddings, load_pairs
from skfairfr.report import read_data
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
    with refusal("on", "contain 2 labels", "'12' and 'id12', '7' and 'id7'"):
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
    words = "two values for 2 people ('12', '7'): 'sex' of 7 is 'f' and 'm'. Keep one."
    with refusal("metadata", words):
        join_metadata(faces, path)


def test_unusable_metadata(faces, pairs, write):
    with refusal(
        "on", "'person' of", "contains none", "people ('12', '3', '7')", "as 'ann'"
    ):
        join_metadata(faces, write("person,sex", "ann,f"))
    with refusal("on", "contains no 'who', but 'person', 'sex'"):
        join_metadata(faces, write(*PEOPLE), on="who")
    with refusal("columns", "no 'height'"):
        join_metadata(faces, write(*PEOPLE), columns=["height"])
    with refusal("on", "'person' is missing in data row 2"):
        join_metadata(faces, write("person,sex", "7,f", ",m"))
    pairs.identity_1 = None
    with refusal("metadata", "is about people, and the data name none"):
        join_metadata(pairs, write(*PEOPLE))


# ---- dates and lists of CelebA ---------------------------------------------------------

BORN = {"7": "03.04.1990", "3": "31.12.2001", "12": ""}


@pytest.mark.parametrize(
    ("dates", "written"),
    [
        ("day-first", BORN),
        ("month-first", BORN | {"7": "04/03/1990", "3": "12/31/2001"}),
        (None, BORN | {"7": "1990-04-03", "3": "2001-12-31"}),
    ],
)
def test_ranges_of_dates_are_in_years(faces, write, dates, written):
    path = write("person,born", *(f"{p},{day}" for p, day in written.items()))
    options = {"metadata": path, "on": "person", "dates": dates}
    data = read_data(faces.path, "born:1990.3,2000", non_mated_only=True, **options)
    early, late = "under 1990.3", "2000 and over"
    assert data.columns["born"].tolist() == [early, early, None, late]


def test_dates_that_may_be_read_in_two_ways_are_an_error(faces, write):
    path = write("person,born", *(f"{p},{day}" for p, day in BORN.items()))
    words = "'born' cannot be put into ranges, which must contain numbers, or texts as"
    with refusal("attributes", words, "--dates"):
        read_data(faces.path, "born:1980,2000", metadata=path, on="person")
    with refusal("attributes", "such as 'x'"):
        read_data(faces.path, "sex:2", dates="day-first")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lists_of_celeba(tmp_path, end):
    images = [f"{k:06d}.jpg" for k in range(1, 11)]
    people = [k // 2 for k in range(10)]
    np.save(tmp_path / "faces.npy", np.random.default_rng(0).normal(size=(10, 3)))
    lines = [f"{i} {p}" for i, p in zip(images, people, strict=True)]
    (tmp_path / "identity_CelebA.txt").write_bytes(end.join(lines).encode())
    lines = [
        f"{i}  {1 if p % 2 else -1} -1  1"
        for i, p in zip(images[::-1], people[::-1], strict=True)
    ]
    head = ["10", "Male Young Eyeglasses "]
    path = tmp_path / "list_attr_celeba.txt"
    path.write_bytes(end.join([*head, *lines, ""]).encode())
    files = {"labels": tmp_path / "identity_CelebA.txt", "metadata": path}
    data = read_data(tmp_path / "faces.npy", ["Male", "Young"], **files)
    assert data.y.tolist() == people
    levels = [f"Male = {1 if p % 2 else -1}" for p in people]
    assert data.columns["Male"].tolist() == levels
    path.write_bytes(end.join([*head, *lines[:-1], ""]).encode())
    with refusal("metadata", "announces 10 rows, and there are 9"):
        read_data(tmp_path / "faces.npy", "Male", **files)


def test_a_hint_of_groups_reads_no_table_again(faces, write, monkeypatch):
    path, read = write(*PEOPLE), []
    plain = _tables._read_text
    monkeypatch.setattr(
        _tables, "_read_text", lambda *a: read.append(a[0]) or plain(*a)
    )
    pairs = write(
        "identity_1,identity_2,score,sex_1,sex_2",
        "7,7,1,f,f",
        "7,3,0,f,m",
        "3,12,0,m,m",
    )
    data = read_data(pairs)
    assert data.reading.candidates == ("sex",)
    assert read == [str(path)]
