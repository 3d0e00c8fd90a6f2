"""Arrays come back from .npz and .npy without pickle, and damage is an error."""

import os
import pickle
import socket

import numpy as np
import pytest

from skfairfr.datasets._files import (
    TEXT_TABLES,
    Wanted,
    choose_all,
    kind_of,
    open_npz,
    read_npy,
    warn_of_words,
)
from skfairfr.utils._errors import ArgumentError


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
    return str(tmp_path / "faces.npz")


def read_all(path):
    with open_npz(path) as archive:
        return {name: archive.read(name) for name in archive.names}


def test_arrays_come_back(path, arrays):
    found = read_all(path)
    assert all(np.array_equal(found[name], array) for name, array in arrays.items())


@pytest.mark.parametrize("kind", ["U", "S"])
def test_empty_text_is_unknown(tmp_path, arrays, kind):
    np.savez(tmp_path / "faces.npz", gender=arrays["gender"].astype(kind))
    with open_npz(str(tmp_path / "faces.npz")) as archive:
        assert archive.labels("gender").tolist() == ["f", "f", "m", "m", None, None]


def test_columns_are_known_by_their_headers(tmp_path, arrays):
    others = {"notes": np.array([None] * 6), "few": np.arange(5), "age": np.ones(6)}
    np.savez(tmp_path / "faces.npz", **arrays, **others)
    with open_npz(str(tmp_path / "faces.npz")) as archive:
        assert archive.plain_columns(6) == ["identity", "gender", "age"]


def test_single_array_is_memory_mapped(tmp_path, arrays):
    np.save(tmp_path / "faces.npy", arrays["embedding"])
    X = read_npy(str(tmp_path / "faces.npy"))
    assert isinstance(X, np.memmap)
    assert not X.flags.writeable


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"PK\x03\x04", "npz"),
        (b"\x93NUMPY", "npy"),
        (b"PAR1", "parquet"),
        (pickle.dumps([1]), "pickle"),
        (b"", "other"),
    ],
)
def test_kind_is_told_by_content(tmp_path, content, kind):
    (tmp_path / "file").write_bytes(content)
    assert kind_of(str(tmp_path / "file")) == kind


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *((f"a.b{suffix}", "csv") for suffix in TEXT_TABLES),
        *((name, "csv") for name in ("A.CSV", "a.Tsv.GZ")),
        *((name, "other") for name in ("a.gz", "a.txt.gz", "a.npz.gz", "csv", "a.txt")),
    ],
)
def test_kind_of_text_is_told_by_name(tmp_path, name, kind):
    (tmp_path / name).write_bytes(b"\x1f\x8b\x08")
    assert kind_of(str(tmp_path / name)) == kind


def test_missing_file_and_folder(tmp_path):
    formats = ".npz, .npy, .csv, .tsv, .csv.gz, .tsv.gz or .parquet file"
    with pytest.raises(
        ValueError, match=f"' does not exist; give the path of an {formats}"
    ):
        kind_of(str(tmp_path / "absent"))
    with pytest.raises(ValueError, match="cannot be read"):
        kind_of(str(tmp_path))


@pytest.mark.parametrize("share", [0.1, 0.5, 0.95])
def test_truncated_archive(tmp_path, path, share):
    content = (tmp_path / "faces.npz").read_bytes()
    (tmp_path / "faces.npz").write_bytes(content[: int(len(content) * share)])
    with pytest.raises(ValueError, match="is cut short or damaged"):
        read_all(path)


def test_truncated_array(tmp_path, arrays):
    np.save(tmp_path / "faces.npy", arrays["embedding"])
    content = (tmp_path / "faces.npy").read_bytes()
    for size in (20, len(content) - 5):
        (tmp_path / "faces.npy").write_bytes(content[:size])
        with pytest.raises(ValueError, match="is cut short or damaged"):
            read_npy(str(tmp_path / "faces.npy"))


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_damaged_member(tmp_path, path, arrays, save):
    """A file with a flipped byte is read all the same, or the error names the damage."""
    save(path, **arrays)
    content = (tmp_path / "faces.npz").read_bytes()
    refused = 0
    for place in range(0, len(content), 7):
        broken = bytearray(content)
        broken[place] ^= 0xFF
        (tmp_path / "faces.npz").write_bytes(broken)
        try:
            read_all(path)
        except ValueError as error:
            assert "faces.npz" in str(error)
            refused += 1
    assert refused > 10


def test_pickled_arrays_are_refused_with_the_remedy(tmp_path, arrays):
    # A pickle names a label that stands again by two bytes, and is short.
    labels = np.resize(arrays["gender"], 4000).astype(object)
    np.savez(tmp_path / "faces.npz", gender=labels)
    with pytest.raises(
        ValueError, match=r"'gender' is an array of Python.*astype\(str\)"
    ):
        read_all(str(tmp_path / "faces.npz"))
    np.save(tmp_path / "faces.npy", arrays["gender"].astype(object))
    with pytest.raises(ValueError, match="Python objects"):
        read_npy(str(tmp_path / "faces.npy"))


def missing(wanted, present, **options):
    """The text of the error, the argument that it is about and its value."""
    wanted = [Wanted(argument, tuple(names)) for argument, *names in wanted]
    with pytest.raises(ArgumentError) as caught:
        choose_all(wanted, present, "x.csv", **options)
    return str(caught.value), caught.value.argument, caught.value.value


def test_the_first_candidate_counts():
    wanted = [Wanted("score", ("a", "b", "c")), Wanted("identity", ("c",))]
    assert choose_all(wanted, ["c", "b"], "x.csv") == ["b", "c"]
    assert missing([("score", "a")], ["c", "b"]) == (
        "score: 'x.csv' holds no 'a', but 'c', 'b'; name one of them as score.",
        "score",
        "a",
    )


def test_all_that_is_missing_is_listed():
    wanted = [
        ("score", "s", "t"),
        ("identity", "b"),
        ("columns", "x"),
        ("columns", "y"),
    ]
    assert missing(wanted, ["a", "b"]) == (
        "score and columns: 'x.csv' holds no 's' or 't', no 'x' and no 'y', but 'a', 'b'; "
        "name others as score and as columns.",
        "score",
        "s",
    )
    text, *_ = missing([("p", "1"), ("q", "2"), ("r", "3")], [], remedy="give all.")
    assert (
        text
        == "p, q and r: 'x.csv' holds no '1', no '2' and no '3', but nothing; give all."
    )


def test_what_is_no_remedy_is_not_listed():
    wanted = [("vectors", "b"), ("score", "a"), ("identity", "c")]
    text, *_ = missing(wanted, ["c", "b"], reserved=("vectors", "identity"))
    assert text == "score: 'x.csv' holds no 'a', but 'c'; name one of them as score."


@pytest.mark.parametrize("kind", [str, object])
@pytest.mark.parametrize("word", ["nan", "NaN", "None", "NULL", " ", "<NA>"])
def test_words_for_unknown_are_told(word, kind):
    labels = np.array(["f", word, "m", word], dtype=kind)
    with pytest.warns(UserWarning, match=f"'x.csv': 'age' holds '{word}' in 2 rows"):
        warn_of_words(labels, "age", "x.csv")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_what_is_no_file_is_refused_before_it_is_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(ArgumentError, match=r"pipe.csv' is a pipe and no file; write"):
        kind_of(str(tmp_path / "pipe.csv"))
    with pytest.raises(
        ArgumentError, match=r"path '/dev/zero' is a device and no file"
    ):
        kind_of("/dev/zero")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(tmp_path / "s"))
        with pytest.raises(ArgumentError, match=r"labels .*s' is a socket and no file"):
            kind_of(str(tmp_path / "s"), "labels")


def test_a_path_that_cannot_be_is_named():
    with pytest.raises(ArgumentError, match=r"cannot be read .*null"):
        kind_of("a\0b.csv")


def test_few_of_many_names_are_listed():
    text, *_ = missing([("score", "a")], [f"c{i}" for i in range(5000)])
    assert "'c29' and 4,970 others; name one of them" in text and len(text) < 500


def test_bytes_that_are_no_text_are_refused(tmp_path, arrays):
    gender = np.array([b"\xff", b"\xfe"] * 3)
    np.savez(tmp_path / "faces.npz", **arrays | {"gender": gender})
    with open_npz(str(tmp_path / "faces.npz")) as archive:
        with pytest.raises(
            ArgumentError, match="'gender' holds bytes that are no UTF-8"
        ):
            archive.labels("gender")


def test_words_for_unknown_are_sought_among_known_texts():
    with pytest.warns(UserWarning, match="holds 'nan' in 2 rows"):
        warn_of_words(np.array(["nan", "f", "nan"]), "age", "x.csv", {"nan", "f"})


@pytest.mark.parametrize(
    "labels", [["NA", "nano", "none of these"], [1.0, np.nan], [None, "f"]]
)
def test_labels_and_what_is_unknown_are_not(labels):
    warn_of_words(np.array(labels), "age", "x.csv")
