"""What a file of embeddings must hold, and the errors where it does not."""

import gzip
import pickle
import zipfile

import numpy as np
import pytest

from skfairfr.datasets import load_embeddings

LABELS = "identity,gender,age\nann,f,30\nann,f,31\nbob,m,\nbob,m,40\ncem,,1\ncem,,2\n"


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


def test_arrays_come_back(save, arrays):
    data = load_embeddings(save(**arrays, few=np.arange(2)))
    assert np.array_equal(data.X, arrays["embedding"])
    assert np.array_equal(data.y, arrays["identity"])
    assert list(data.columns) == ["gender"]
    assert data.columns["gender"].tolist() == ["f", "f", "m", "m", None, None]


@pytest.mark.parametrize("names", [("X", "y"), ("embeddings", "identities")])
def test_other_usual_names_are_found(save, arrays, names):
    renamed = dict(zip((*names, "gender"), arrays.values(), strict=True))
    data = load_embeddings(save(**renamed))
    assert np.array_equal(data.X, arrays["embedding"])
    assert list(data.columns) == ["gender"]


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
    assert isinstance(data.X, np.memmap)
    assert np.array_equal(data.X, arrays["embedding"])
    assert data.y.tolist() == arrays["identity"].tolist()
    assert data.columns["gender"].tolist() == ["f", "f", "m", "m", None, None]
    assert np.isnan(data.columns["age"][2])


def test_npz_with_labels_beside_it(tmp_path, save, arrays):
    (tmp_path / "labels.csv").write_text(LABELS)
    path = save(embedding=arrays["embedding"])
    data = load_embeddings(path, tmp_path / "labels.csv")
    assert list(data.columns) == ["gender", "age"]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz", ".tsv.gz"])
@pytest.mark.parametrize("beside", [True, False])
def test_labels_of_every_text_format(tmp_path, arrays, suffix, beside):
    np.save(tmp_path / "faces.npy", arrays["embedding"])
    content = LABELS.replace(",", "\t") if suffix.startswith(".tsv") else LABELS
    content = content.encode()
    labels = tmp_path / f"{'faces' if beside else 'others'}{suffix}"
    labels.write_bytes(gzip.compress(content) if suffix.endswith(".gz") else content)
    data = load_embeddings(tmp_path / "faces.npy", None if beside else labels)
    assert data.y.tolist() == arrays["identity"].tolist()
    assert data.columns["gender"].tolist() == ["f", "f", "m", "m", None, None]


def test_labels_of_another_length(tmp_path, arrays):
    np.save(tmp_path / "faces.npy", arrays["embedding"])
    (tmp_path / "faces.csv").write_text(LABELS + "dan,m,3\n")
    message = complaint(tmp_path / "faces.npy")
    assert "labels" in message
    assert "has 7 rows but" in message


def test_npy_needs_labels(tmp_path, arrays):
    np.save(tmp_path / "faces.npy", arrays["embedding"])
    assert "holds one array (.npy) and no labels" in complaint(tmp_path / "faces.npy")
    (tmp_path / "faces.csv").write_text(LABELS)
    assert "leave it out" in complaint(tmp_path / "faces.npy", embedding="X")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b"not an archive",
            "nor an .npz or .npy file (embeddings); write one with numpy",
        ),
        (b"", "is neither a .csv, .tsv, .csv.gz, .tsv.gz or .parquet file (labels, "),
        (pickle.dumps([1, 2]), "is a pickle, which can run code"),
    ],
)
def test_other_files(tmp_path, content, message):
    (tmp_path / "faces.npz").write_bytes(content)
    assert message in complaint(tmp_path / "faces.npz")


def test_a_workbook_is_an_archive_of_no_arrays(tmp_path):
    with zipfile.ZipFile(tmp_path / "faces.xlsx", "w") as workbook:
        workbook.writestr("xl/workbook.xml", "<workbook/>")
    assert "is neither a .csv, .tsv" in complaint(tmp_path / "faces.xlsx")


def test_a_table_is_not_embeddings(tmp_path):
    (tmp_path / "faces.csv").write_text(LABELS)
    assert "is a table" in complaint(tmp_path / "faces.csv")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": ["age"]}, "columns: .* holds no 'age', but .*'gender'; name one"),
        ({"embedding": "Z"}, "embedding: .* holds no 'Z', but .*'gender'"),
        ({"identity": "who"}, "identity: .* holds no 'who', but .*'gender'"),
        ({"embedding": "gender"}, r"embedding: 'gender' must hold .* shape \(6,\)"),
        (
            {"identity": "embedding"},
            "identity: 'embedding' must hold one number or text",
        ),
        ({"identity": "gender"}, "identity: 'gender' is missing in row 4"),
        (
            {"columns": ["embedding"]},
            "columns: 'embedding' must hold one number or text",
        ),
    ],
)
def test_wrong_array(save, arrays, options, message):
    with pytest.raises(ValueError, match=message):
        load_embeddings(save(**arrays), **options)


def test_all_that_is_missing_is_named(tmp_path, save, arrays):
    options = {"identity": "who", "columns": ["age", "gender", "skin"]}
    assert complaint(save(**arrays), embedding="Z", **options) == (
        f"embedding, identity and columns: {str(tmp_path / 'faces.npz')!r} holds no 'Z', no "
        "'who', no 'age' and no 'skin', but 'embedding', 'identity', 'gender'; name others "
        "as embedding, as identity and as columns."
    )
    labels = tmp_path / "labels.csv"
    labels.write_text(LABELS)
    text = complaint(save(**arrays), labels, columns=["skin", "hair"])
    assert "columns: " in text
    assert "holds no 'skin' and no 'hair', but 'gender', 'age'; name others as" in text


@pytest.mark.parametrize("dtype", ["V8", "c16", [("a", int), ("b", "U3")]])
def test_structures_are_no_labels(save, arrays, dtype):
    path = save(**arrays | {"gender": np.zeros(6, dtype)})
    assert list(load_embeddings(path).columns) == []
    for options in ({"columns": ["gender"]}, {"identity": "gender"}):
        found = complaint(path, **options)
        assert "'gender' must hold one number or text for each of the 6 rows" in found
        assert f"of type {np.dtype(dtype)}. Name another" in found


def test_column_of_another_length(save, arrays):
    arrays["gender"] = arrays["gender"][:5]
    message = complaint(save(**arrays), columns=["gender"])
    assert "'gender' must hold one number or text for each of the 6 rows" in message


def test_values_that_are_not_finite(save, arrays):
    arrays["embedding"][3, 1] = np.nan
    message = complaint(save(**arrays))
    assert "has nan or infinite values in row 3 (1 such rows);" in message
    assert "counts failed extractions by group with fte" in message


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
    assert message.startswith("embedding: ")
    assert "shape (3, 6) and 6 identities" in message
    assert "save the transpose" in message


def test_neither_embeddings_nor_people_are_suggested_as_columns(save, arrays):
    message = complaint(save(**arrays), columns=["age"])
    assert "holds no 'age', but 'gender'; name" in message


@pytest.mark.parametrize("column", ["identity", "gender"])
def test_words_for_unknown_are_told(save, arrays, column):
    arrays[column] = np.where(np.arange(6) == 2, "None", arrays[column])
    with pytest.warns(UserWarning, match=f"'{column}' holds 'None' in 1 row,"):
        load_embeddings(save(**arrays))


@pytest.mark.parametrize("order", "<>")
def test_numbers_that_are_no_characters_are_no_text(save, arrays, order):
    gender = arrays["gender"].astype(f"{order}U1")
    gender.view(f"{order}u4")[2] = 0x110000
    arrays["gender"] = gender
    message = complaint(save(**arrays))
    assert "faces.npz" in message and "'gender' is no text" in message
