"""What a file of embeddings must hold, and the errors where it does not."""

import pickle
import zipfile

import numpy as np
import pytest

from skfairfr.datasets import load_embeddings
from skfairfr.utils import ArgumentError

LABELS = "identity,gender,age\nann,f,30\nann,f,31\nbob,m,\nbob,m,40\ncem,,1\ncem,,2\n"
GENDER = ["f", "f", "m", "m", None, None]


@pytest.fixture
def arrays():
    rng = np.random.default_rng(0)
    return {
        "embedding": rng.normal(size=(6, 3)).astype(np.float32),
        "identity": np.repeat(["ann", "bob", "cem"], 2),
        "gender": np.array(["f", "f", "m", "m", "", ""]),
    }


@pytest.fixture
def save(tmp_path):
    def save(**arrays):
        np.savez(tmp_path / "faces.npz", **arrays)
        return tmp_path / "faces.npz"

    return save


def complaint(path, *args, **options):
    with pytest.raises(ValueError) as error:
        load_embeddings(path, *args, **options)
    return str(error.value)


@pytest.mark.parametrize(
    ("kind", "names"), [("U", ("embedding", "identity")), ("S", ("X", "y"))]
)
def test_arrays_come_back(save, arrays, names, kind):
    arrays["gender"] = arrays["gender"].astype(kind)
    renamed = dict(zip((*names, "gender"), arrays.values(), strict=True))
    data = load_embeddings(save(**renamed, few=np.arange(2)))
    assert np.array_equal(data.X, arrays["embedding"])
    assert np.array_equal(data.y, arrays["identity"])
    assert list(data.columns) == ["gender"]
    assert data.columns["gender"].tolist() == GENDER


def test_names_can_be_given(save, arrays):
    path = save(a=arrays["embedding"], b=arrays["identity"], **arrays)
    data = load_embeddings(path, embedding="a", identity="b", columns=["gender"])
    assert (data.X.shape, list(data.columns)) == ((6, 3), ["gender"])


@pytest.mark.parametrize("named", [True, False])
def test_npy_is_not_copied(tmp_path, arrays, named):
    np.save(tmp_path / "faces.npy", arrays["embedding"])
    labels = tmp_path / ("other.csv" if named else "faces.csv")
    labels.write_text(LABELS)
    data = load_embeddings(tmp_path / "faces.npy", labels if named else None)
    assert isinstance(data.X, np.memmap) and not data.X.flags.writeable
    assert np.array_equal(data.X, arrays["embedding"])
    assert data.y.tolist() == arrays["identity"].tolist()
    assert data.columns["gender"].tolist() == GENDER
    assert np.isnan(data.columns["age"][2])


def test_npz_with_labels_beside_it(tmp_path, save, arrays):
    (tmp_path / "labels.csv").write_text(LABELS)
    path = save(embedding=arrays["embedding"])
    data = load_embeddings(path, tmp_path / "labels.csv")
    assert list(data.columns) == ["gender", "age"]
    (tmp_path / "labels.csv").write_text(LABELS + "dan,m,3\n")
    message = complaint(path, tmp_path / "labels.csv")
    assert "labels" in message and "has 7 rows but" in message


def test_npy_needs_labels(tmp_path, arrays):
    np.save(tmp_path / "faces.npy", arrays["embedding"])
    assert "contains no labels of its rows" in complaint(tmp_path / "faces.npy")
    (tmp_path / "faces.csv").write_text(LABELS)
    assert "Leave it out" in complaint(tmp_path / "faces.npy", embedding="X")


@pytest.mark.parametrize(
    ("name", "content"), [("faces.npz", pickle.dumps([1, 2])), ("faces.h5", b"\x89HDF")]
)
def test_other_files_hold_no_embeddings(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    assert "write one with numpy.savez" in complaint(tmp_path / name)


def test_a_workbook_is_an_archive_of_no_arrays(tmp_path):
    with zipfile.ZipFile(tmp_path / "faces.xlsx", "w") as workbook:
        workbook.writestr("xl/workbook.xml", "<workbook/>")
    assert "without arrays of numpy" in complaint(tmp_path / "faces.xlsx")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"embedding": "Z"}, "embedding cannot be found: .* no 'Z', but .*'gender'"),
        (
            {"embedding": "Z", "identity": "who", "columns": ["age", "gender"]},
            "embedding and identity and columns cannot be found: .* no 'Z' and no 'who'",
        ),
        ({"embedding": "gender"}, r"embedding 'gender' must contain .* shape \(6,\)"),
        ({"identity": "embedding"}, "identity 'embedding' must contain one number"),
        (
            {"identity": "gender"},
            "identity 'gender' is missing in 2 rows, first in data row 5",
        ),
        ({"columns": "gender"}, "columns must be a sequence"),
    ],
)
def test_wrong_array(save, arrays, options, words):
    with pytest.raises(ArgumentError, match=words):
        load_embeddings(save(**arrays), **options)


@pytest.mark.parametrize(("dtype", "size"), [("V8", 6), ([("a", int)], 5)])
def test_structures_and_other_lengths_are_no_labels(save, arrays, dtype, size):
    path = save(**arrays | {"gender": np.zeros(size, dtype)})
    assert list(load_embeddings(path).columns) == []
    for options in ({"columns": ["gender"]}, {"identity": "gender"}):
        found = complaint(path, **options)
        assert (
            "'gender' must contain one number or text for each of the 6 rows" in found
        )


def test_values_that_are_not_finite(save, arrays):
    arrays["embedding"][3, 1] = np.nan
    message = complaint(save(**arrays))
    assert "in data row 4 (1 such rows)" in message
    assert "how an audit counts failures (failures, --failures)" in message


def test_one_row_is_too_few(save, arrays):
    path = save(**{k: v[:1] for k, v in arrays.items()})
    assert "two images at least" in complaint(path)


@pytest.mark.parametrize("beside", [True, False])
def test_an_image_in_every_column(tmp_path, arrays, beside):
    columns = arrays["embedding"].T
    if beside:
        np.save(tmp_path / "faces.npy", columns)
        (tmp_path / "faces.csv").write_text(LABELS)
    else:
        np.savez(tmp_path / "faces.npz", **arrays | {"embedding": columns})
    message = complaint(tmp_path / ("faces.npy" if beside else "faces.npz"))
    assert "has 3" in message if beside else "each of the 3 rows" in message


@pytest.mark.parametrize("column", ["identity", "gender"])
def test_words_for_unknown_are_told(save, arrays, column):
    arrays[column] = np.where(np.arange(6) == 2, "None", arrays[column])
    with pytest.warns(UserWarning, match=f"'None' in '{column}'.*field empty"):
        load_embeddings(save(**arrays))


def test_labels_that_divide_rows_among_other_people_are_refused(arrays, save, tmp_path):
    """A table with shifted rows names different people than the file of the embeddings."""
    path, labels = save(**arrays), tmp_path / "labels.csv"
    people = ["p1", "p1", "p2", "p2", "p3", "p3"]

    def read(order):
        rows = [f"{people[place]},f" for place in order]
        labels.write_text("\n".join(["identity,gender", *rows]))
        return load_embeddings(path, labels=labels)

    assert read(range(6)).y.tolist() == people
    read([2, 3, 0, 1, 4, 5])  # other names of the same people
    with pytest.raises(
        ValueError, match=r"3 of 6 rows a different person than 'identity'"
    ):
        read([5, 0, 1, 2, 3, 4])
