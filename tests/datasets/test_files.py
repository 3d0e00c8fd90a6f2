"""What an .npz must hold, and what is said where it does not."""

import pickle
import re

import numpy as np
import pytest

from skfairfr.datasets._files import read_faces


@pytest.fixture
def arrays():
    rng = np.random.default_rng(0)
    return {
        "embedding": rng.normal(size=(6, 3)).astype(np.float32),
        "identity": np.repeat(["ann", "bob", "cem"], 2),
        "gender": np.array(["f", "f", "m", "m", "", ""]),
    }


@pytest.fixture
def path(tmp_path, arrays):
    np.savez(tmp_path / "faces.npz", **arrays)
    return tmp_path / "faces.npz"


def complaint(path, attribute="gender", **names):
    with pytest.raises(ValueError) as error:
        read_faces(path, attribute=attribute, **names)
    return str(error.value)


def test_arrays_come_back(path, arrays):
    faces = read_faces(path, attribute="gender")
    assert np.array_equal(faces.X, arrays["embedding"])
    assert np.array_equal(faces.y, arrays["identity"])
    assert faces.sensitive_features.tolist() == ["f", "f", "m", "m", None, None]


@pytest.mark.parametrize("names", [("X", "y"), ("embeddings", "identities")])
def test_other_usual_names_are_found(tmp_path, arrays, names):
    renamed = dict(zip((*names, "gender"), arrays.values(), strict=True))
    np.savez(tmp_path / "faces.npz", **renamed)
    faces = read_faces(tmp_path / "faces.npz", attribute="gender")
    assert np.array_equal(faces.X, arrays["embedding"])


def test_names_can_be_given(tmp_path, arrays):
    np.savez(
        tmp_path / "faces.npz", a=arrays["embedding"], b=arrays["identity"], **arrays
    )
    faces = read_faces(
        tmp_path / "faces.npz", attribute="gender", embedding="a", identity="b"
    )
    assert faces.X.shape == (6, 3)


def test_bytes_are_read_as_text(tmp_path, arrays):
    arrays["gender"] = arrays["gender"].astype("S")
    np.savez(tmp_path / "faces.npz", **arrays)
    faces = read_faces(tmp_path / "faces.npz", attribute="gender")
    assert faces.sensitive_features.tolist()[:3] == ["f", "f", "m"]


def test_missing_file(tmp_path):
    assert re.search(
        "absent.npz' does not exist; give", complaint(tmp_path / "absent.npz")
    )


def test_folder(tmp_path):
    assert "cannot be read" in complaint(tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"not an archive", "is not an .npz file; write one with numpy.savez"),
        (b"", "is not an .npz file"),
        (pickle.dumps([1, 2]), "is a pickle, which can run code"),
    ],
)
def test_other_files(tmp_path, content, message):
    (tmp_path / "faces.npz").write_bytes(content)
    assert message in complaint(tmp_path / "faces.npz")


def test_single_array(tmp_path, arrays):
    np.save(tmp_path / "faces.npy", arrays["embedding"])
    assert "holds one array (.npy)" in complaint(tmp_path / "faces.npy")


@pytest.mark.parametrize("share", [0.1, 0.5, 0.95])
def test_truncated_archive(path, share):
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    assert "is cut short or damaged" in complaint(path)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_damaged_member(tmp_path, arrays, save):
    """Wherever a byte is flipped, it is read all the same or said to be damaged."""
    path = tmp_path / "faces.npz"
    save(path, **arrays)
    content = path.read_bytes()
    refused = 0
    for place in range(0, len(content), 7):
        broken = bytearray(content)
        broken[place] ^= 0xFF
        path.write_bytes(broken)
        try:
            read_faces(path, attribute="gender")
        except ValueError as error:
            assert "faces.npz" in str(error)
            refused += 1
    assert refused > 10


def test_pickled_array_is_refused_with_the_remedy(tmp_path, arrays):
    arrays["gender"] = arrays["gender"].astype(object)
    np.savez(tmp_path / "faces.npz", **arrays)
    message = complaint(tmp_path / "faces.npz")
    assert "'gender' is an array of Python objects (pickled)" in message
    assert "dtype=str" in message


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (
            {"attribute": "age"},
            "attribute: .* no array 'age', but .*'gender'.*--attribute",
        ),
        ({"embedding": "Z"}, "embedding: .* no array 'Z', but .*--embedding"),
        ({"identity": "who"}, "identity: .* no array 'who', but .*--identity"),
        ({"embedding": "gender"}, r"embedding: 'gender' must hold .* shape \(6,\)"),
        ({"identity": "embedding"}, r"identity: 'embedding' must hold one label"),
        ({"attribute": "embedding"}, r"attribute: 'embedding' must hold one label"),
    ],
)
def test_wrong_array(path, names, message):
    assert re.search(message, complaint(path, **names))


def test_attribute_of_another_length(tmp_path, arrays):
    arrays["gender"] = arrays["gender"][:5]
    np.savez(tmp_path / "faces.npz", **arrays)
    message = complaint(tmp_path / "faces.npz")
    assert "attribute: 'gender' must hold one label for each of the 6 rows" in message


def test_values_that_are_not_finite(tmp_path, arrays):
    arrays["embedding"][3, 1] = np.nan
    np.savez(tmp_path / "faces.npz", **arrays)
    message = complaint(tmp_path / "faces.npz")
    assert "has nan or infinite values in row 3 (1 such rows); remove" in message


def test_one_row_is_too_few(tmp_path, arrays):
    np.savez(tmp_path / "faces.npz", **{k: v[:1] for k, v in arrays.items()})
    assert "two images at least" in complaint(tmp_path / "faces.npz")
