"""Files become named columns, no label is changed, and what is no data is an error."""

import csv
import datetime
import gzip
import io
import os
import struct
import sys
import zipfile
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skfairfr.datasets import _files, _tables, _texts, load_embeddings, load_pairs
from skfairfr.utils._errors import ArgumentError

READERS = {"csv": float("inf"), "pyarrow": 1}


@pytest.fixture(params=READERS)
def reader(request, monkeypatch):
    """Every text table is read by one library."""
    if request.param == "pyarrow":
        pytest.importorskip("pyarrow")
    monkeypatch.setattr(_texts, "LARGE", READERS[request.param])
    return request.param


@pytest.fixture
def table(tmp_path):
    """A function that writes lines and reads them as a table."""

    def table(*lines, name="table.csv", encoding="utf-8"):
        (tmp_path / name).write_bytes("\n".join(lines).encode(encoding))
        return _tables.read_table(str(tmp_path / name))

    return table


def complaint(call, *args, **options):
    with pytest.raises(ArgumentError) as caught:
        call(*args, **options)
    return str(caught.value)


# ---- cells ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "values", "labels"),
    [
        (["1", "2", "-3"], [1, 2, -3], [1, 2, -3]),
        (["1", "2.5", "1e-3"], [1.0, 2.5, 1e-3], ["1", "2.5", "1e-3"]),
        (["007", "7"], ["007", "7"], ["007", "7"]),
        (["f", "", "m"], ["f", None, "m"], ["f", None, "m"]),
        (["1", ""], [1.0, np.nan], ["1", None]),
        (["NaN", "1"], [np.nan, 1.0], ["NaN", "1"]),
        (["nan", "f"], ["nan", "f"], ["nan", "f"]),
        (["1_0", "2"], ["1_0", "2"], ["1_0", "2"]),
        (["9" * 20, "1"], ["9" * 20, "1"], ["9" * 20, "1"]),
        (["9007199254740993", ""], ["9007199254740993", None], ["9007199254740993", None]),
        (['"a, b"', ' "c ""d"""'], ["a, b", 'c "d"'], ["a, b", 'c "d"']),
        (["  x", '"x\ny"'], ["x", "x\ny"], ["x", "x\ny"]),
    ],
)  # fmt: skip
def test_labels_stay_themselves_and_numbers_are_numbers(
    table, reader, cells, values, labels
):
    found = table("n,x", *(f"{n},{cell}" for n, cell in enumerate(cells)))
    np.testing.assert_array_equal(found.values("x"), values)
    assert found.labels("x").tolist() == labels


def test_columns_named_together_are_converted_alike(table, reader):
    a, b = table("a,b", "1,ann", "2,1").labels("a", "b")
    assert (a.tolist(), b.tolist()) == (["1", "2"], ["ann", "1"])


def test_spreadsheets_are_read(table, reader):
    found = table("name, age", "\u00e9ve, 3", "", encoding="utf-8-sig")
    assert (found.names, found.n_rows) == (["name", "age"], 1)
    assert found.values("age").tolist() == [3]


CELLS = st.one_of(
    st.sampled_from(["", "7", "007", "nan", "None", "a, b", 'say "a"', "a\nb", "\t", " "]),
    st.text(st.sampled_from('a7 .,\t"\n;\u00e9\u2028'), max_size=5),
)  # fmt: skip


@pytest.mark.parametrize(
    ("quoting", "delimiter"), [(csv.QUOTE_MINIMAL, ","), (csv.QUOTE_ALL, "\t")]
)
def test_what_the_csv_module_writes_comes_back(tmp_path, reader, quoting, delimiter):
    path = tmp_path / ("a.csv" if delimiter == "," else "a.tsv")

    @settings(deadline=None, max_examples=20)
    @given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=6))
    def agree(rows):
        text = io.StringIO()
        writer = csv.writer(text, quoting=quoting, delimiter=delimiter)
        writer.writerows([("a", "b"), *rows])
        path.write_bytes(text.getvalue().encode())
        found = _tables.read_table(str(path), stated="table")
        for name, column in zip("ab", zip(*rows, strict=True), strict=True):
            cells = found._columns[name]
            held = [cells.values[code] for code in cells.codes]
            # Spaces before a cell do not count, unless it stands between quotes.
            assert [c.lstrip(" ") for c in held] == [c.lstrip(" ") for c in column]

    agree()


def test_compression_is_seen_from_the_content(tmp_path):
    content = b"a,b\n1,2\n"
    for name, written in (("a.csv", gzip.compress(content)), ("a.csv.gz", content)):
        (tmp_path / name).write_bytes(written)
        assert _tables.read_table(str(tmp_path / name)).values("b").tolist() == [2]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ((), "contains no row"),
        (("a,b",), "contains no row"),
        (("a,b", "1,2", "1,2,3"), "2 columns, got 3"),
        (("a,b", "1"), "2 columns, got 1"),
        (("a,b", '1,"2', "3,4"), "close each double quote"),
        (('"a,b', "1,2"), "close each double quote"),
        (("a;b,c", "1;2,x"), "columns between commas (2) or semicolons (2)"),
        (("0.5,a", "1,b"), "has no names of columns: its first line is '0.5,a'"),
        (("a,a", "1,2"), "'a' twice; rename"),
    ],
)
def test_what_is_no_table_is_refused(table, reader, lines, words):
    said = complaint(table, *lines)
    if reader == "csv" and "columns, got" in words:
        words = "cells but the first line has 2"
    assert said.startswith("path '") and words in said


def test_text_among_scores_is_shown(table):
    said = complaint(table("n,x", "0,0.5", "1,high").numbers, "x")
    assert "column 'x' must contain numbers" in said and "float: 'high')" in said


def test_few_of_many_names_are_listed():
    wanted = [("score", ("a", "b")), ("identity", ("c0",)), ("columns", ("x",))]
    said = complaint(_files.choose_all, wanted, [f"c{i}" for i in range(5000)], "x.csv")
    assert said.startswith(
        "score and columns cannot be found: 'x.csv' contains no 'a' or"
    )
    assert "'c30' and 4,969 others; name others." in said
    assert "'c0'" not in said and len(said) < 500
    assert _files.choose_all(wanted[:2], ["c0", "b"], "x.csv") == ["b", "c0"]
    said = complaint(_files.choose_all, wanted, ["c0", "b"], "x.csv")
    assert "no 'x'" in said and said.endswith("add what is missing to the file.")


# ---- parquet -------------------------------------------------------------------------


@pytest.fixture
def parquet(tmp_path):
    """A function that writes columns and reads them as a table."""
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    def written(columns, **options):
        path = tmp_path / "t.parquet"
        parquet.write_table(pyarrow.table(columns), path, **options)
        return path

    return written


def test_parquet_keeps_its_types(parquet):
    columns = {
        "identity": ["007", "7"],
        "gender": ["f", None],
        "score": [Decimal("0.5"), None],
        "n": [1, 2],
        "nested": [[1, 2], [3]],
    }
    found = _tables.read_table(str(parquet(columns)))
    assert found.labels("identity").tolist() == ["007", "7"]
    assert found.values("gender").tolist() == ["f", None]
    assert np.array_equal(found.numbers("score"), [0.5, np.nan], equal_nan=True)
    assert found.values("n").dtype == np.int64
    assert found.plain_columns(2) == ["identity", "gender", "score", "n"]
    assert "'nested' contains list<" in complaint(found.values, "nested")


@pytest.mark.parametrize(
    "cells",
    [[{"a": 1}] * 2, [datetime.time(1, 2)] * 2, [datetime.timedelta(1)] * 2],
)
def test_a_score_of_parquet_is_a_number(parquet, cells):
    found = _tables.read_table(str(parquet({"x": cells})))
    assert "name another column" in complaint(found.numbers, "x")


def test_parquet_without_pyarrow(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    with pytest.raises(ImportError, match="pip install pyarrow, or save"):
        _tables.read_table(str(tmp_path / "t.parquet"))


# ---- kinds of files ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a", b"PK\x03\x04", "npz"),
        ("a.csv", b"\x93NUMPY", "npy"),
        ("a", b"PAR1", "parquet"),
        ("a.npz", b"\x80\x04", "pickle"),
        ("a", b"", "other"),
        ("a.png", b"\x89PNG\r\n\x1a\n\0\0", "other"),
        ("A.CSV", b"\x1f\x8b", "csv"),
        ("a.b.Tsv.GZ", b"x", "csv"),
        ("a.txt", b"\xe4 1\r\n", "list"),
        ("a.txt.gz", b"\x1f\x8b", "list"),
        ("csv", b"x", "list"),
    ],
)
def test_kind_is_told_by_content_or_name(tmp_path, name, content, kind):
    (tmp_path / name).write_bytes(content)
    assert _files.kind_of(str(tmp_path / name)) == kind


def test_what_is_no_file_is_refused(tmp_path):
    assert "does not exist; give the path" in complaint(_files.kind_of, "absent.csv")
    assert "cannot be read (" in complaint(_files.kind_of, str(tmp_path))
    assert "labels '/dev/zero' is a device" in complaint(_files.kind_of, "/dev/zero", "labels")  # fmt: skip
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.csv")
        assert "a pipe or a socket and no file" in complaint(_files.kind_of, str(tmp_path / "pipe.csv"))  # fmt: skip
    np.save(tmp_path / "x.npy", np.arange(3))
    assert "labels" in complaint(_tables.read_table, str(tmp_path / "x.npy"), "labels")


# ---- damaged and crafted files -------------------------------------------------------


def archive(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in members.items():
            packed.writestr(f"{name}.npy", data)
    return path


def npy(array, shape=None):
    """Bytes of an .npy file, whose header may claim another shape."""
    out = io.BytesIO()
    np.save(out, array)
    data = out.getvalue()
    if shape is None:
        return data
    (length,) = struct.unpack("<H", data[8:10])
    header = data[10 : 10 + length].rstrip().decode()
    header = header.replace(str(array.shape), str(shape)).encode() + b"\n"
    return data[:8] + struct.pack("<H", len(header)) + header + data[10 + length :]


FACES = {"embedding": npy(np.eye(4)), "identity": npy(np.array([*"aabb"]))}


def test_objects_are_not_unpickled(tmp_path):
    ran = []

    class Harm:
        def __reduce__(self):
            return ran.append, (1,)

    objects = np.array([Harm()] * 4, dtype=object)
    np.savez(tmp_path / "faces.npz", embedding=np.eye(4), identity=objects)
    said = complaint(load_embeddings, tmp_path / "faces.npz")
    assert "'identity' cannot be read without pickle" in said
    assert "identity.astype(str)" in said
    np.save(tmp_path / "faces.npy", objects)
    assert "without pickle" in complaint(load_embeddings, tmp_path / "faces.npy")
    # One that nobody needs is left out.
    np.savez(tmp_path / "faces.npz", X=np.eye(4), y=[1, 1, 2, 2], notes=objects)
    assert load_embeddings(tmp_path / "faces.npz").columns == {}
    assert ran == []


@pytest.mark.parametrize("share", [0.1, 0.95])
@pytest.mark.parametrize("name", ["faces.npz", "faces.npy", "pairs.csv.gz"])
def test_what_is_cut_short_is_refused(tmp_path, name, share):
    path = tmp_path / name
    if name.endswith("npz"):
        archive(path, FACES)
    elif name.endswith("npy"):
        path.write_bytes(npy(np.eye(40)))
        (tmp_path / "faces.csv").write_text("identity\n" + "a\n" * 40)
    else:
        path.write_bytes(gzip.compress(HEAD + b"0.5,a,b,f,m\n" * 50))
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    load = load_pairs if name.startswith("pairs") else load_embeddings
    said = complaint(load, path)
    assert name in said and (
        "copy or write it again" in said or "copy it again" in said
    )


def test_what_is_no_text_is_refused(tmp_path):
    gender = np.array([*"fmfm"], dtype=">U1")
    gender.view(">u4")[2] = 0x110000
    path = archive(tmp_path / "faces.npz", FACES | {"gender": npy(gender)})
    assert "'gender' contains bytes that are no UTF-8" in complaint(
        load_embeddings, path
    )
    archive(path, FACES | {"gender": npy(np.array([b"\xff"] * 4))})
    assert "save 'gender' as" in complaint(load_embeddings, path)


# ---- more than there is memory -------------------------------------------------------

ROW = b"0.5,ann,bob,f,m\n"
HEAD = b"score,identity_1,identity_2,gender_1,gender_2\n"


def test_gzip_files_that_were_appended_to_each_other_are_one(tmp_path):
    path = tmp_path / "pairs.csv.gz"
    path.write_bytes(gzip.compress(HEAD + ROW) + gzip.compress(ROW))
    assert load_pairs(path).y_score.size == 2


@pytest.mark.parametrize("shape", [(10**12, 512), (10**30, 2)])
def test_headers_that_claim_more_than_there_is(tmp_path, shape):
    X = npy(np.zeros((4, 2)), shape)
    path = archive(tmp_path / "faces.npz", FACES | {"embedding": X})
    assert "'embedding'" in complaint(load_embeddings, path)
    (tmp_path / "faces.npy").write_bytes(X)
    (tmp_path / "faces.csv").write_text("identity\n1\n1\n2\n2\n")
    assert "copy it again" in complaint(load_embeddings, tmp_path / "faces.npy")
