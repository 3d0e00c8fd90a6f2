"""Cells become labels and numbers, and no label is changed on the way."""

import sys

import numpy as np
import pytest

from skfairfr.datasets._tables import read_table


def table_of(tmp_path, *lines, encoding="utf-8"):
    path = tmp_path / "table.csv"
    path.write_text("\n".join(lines), encoding=encoding)
    return read_table(str(path))


def column_of(tmp_path, *cells):
    return table_of(tmp_path, "n,x", *(f"{n},{c}" for n, c in enumerate(cells)))


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (("1", "2", "-3"), [1, 2, -3]),
        (("1", "2.5", "1e-3"), [1.0, 2.5, 1e-3]),
        # This one Python 3.11 once took for a fault of its own regular expressions.
        (("1", ".1"), [1.0, 0.1]),
        (("007", "7"), ["007", "7"]),
        (("f", "", "m"), ["f", None, "m"]),
        (("", ""), [None, None]),
        (("1_0", "2"), ["1_0", "2"]),
        (("nan", "f"), ["nan", "f"]),
        (("9" * 20, "1"), [1e20, 1.0]),
        (("9007199254740993", ""), ["9007199254740993", None]),
        (('"a, b"', "c"), ["a, b", "c"]),
    ],
)
def test_values(tmp_path, cells, values):
    if cells[0] == "9" * 20:
        values = list(cells)
    assert column_of(tmp_path, *cells).values("x").tolist() == values


@pytest.mark.parametrize("missing", ["", "nan", "NaN"])
def test_missing_numbers_are_nan(tmp_path, missing):
    found = column_of(tmp_path, "1", missing).values("x")
    assert np.array_equal(found, [1.0, np.nan], equal_nan=True)


@pytest.mark.parametrize(
    ("cells", "labels"),
    [
        (("1", "2"), [1, 2]),
        (("1.0", "1"), ["1.0", "1"]),
        (("01", "1"), ["01", "1"]),
        (("1e3", "1000"), ["1e3", "1000"]),
        (("1", ""), ["1", None]),
    ],
)
def test_labels_stay_themselves(tmp_path, cells, labels):
    assert column_of(tmp_path, *cells).labels("x").tolist() == labels


def test_columns_named_together_are_converted_alike(tmp_path):
    table = table_of(tmp_path, "a,b", "1,ann", "2,1")
    a, b = table.labels("a", "b")
    assert (a.tolist(), b.tolist()) == (["1", "2"], ["ann", "1"])


def test_text_among_numbers_is_shown(tmp_path):
    table = column_of(tmp_path, "0.5", "high")
    with pytest.raises(ValueError, match=r"'x' must hold numbers; got 'high' in row 1"):
        table.numbers("x")


def test_spreadsheets_are_read(tmp_path):
    table = table_of(tmp_path, "name, age", "\u00e9ve, 3", "", encoding="utf-8-sig")
    assert table.names == ["name", "age"]
    assert (table.n_rows, table.values("age").tolist()) == (1, [3])


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ((), "holds no row"),
        (("a,b",), "holds no row"),
        (("a,b", "1,2", "1,2,3"), "line 3 has 3 cells but the first line names 2"),
        (("a;b", "1;2"), r"has one column, 'a;b'; separate columns by commas\.$"),
        (
            ("a\tb", "1\t2"),
            r"separate columns by commas, or let its name end in \.tsv\.",
        ),
        (("a,a", "1,2"), "names the column 'a' twice"),
        (("a,b", "x" * 200_000 + ",1"), "damaged"),
    ],
)
def test_unusable_tables(tmp_path, lines, message):
    with pytest.raises(ValueError, match=message):
        table_of(tmp_path, *lines)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (("a;b", "1;2"), r"has one column, 'a;b'; separate columns by tabs\.$"),
        (("a,b", "1,2"), r"separate columns by tabs, or let its name end in \.csv\."),
        (("a\tb", "1\t2\t3"), "put text that holds tabs between double quotes"),
    ],
)
def test_unusable_tables_with_tabs(tmp_path, lines, message):
    (tmp_path / "table.tsv").write_text("\n".join(lines))
    with pytest.raises(ValueError, match=message):
        read_table(str(tmp_path / "table.tsv"))


def test_other_encodings(tmp_path):
    with pytest.raises(ValueError, match="is not UTF-8 text; save it"):
        table_of(tmp_path, "a,b", "\u00e9,1", encoding="latin-1")


def test_other_files_are_no_tables(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(3))
    with pytest.raises(ValueError, match=r"labels .* is no table; give a .csv"):
        read_table(str(tmp_path / "x.npy"), "labels")


def test_parquet_keeps_its_types(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {
        "identity": ["007", "7"],
        "gender": pa.array(["f", None]).dictionary_encode(),
        "score": pa.array([0.5, None]),
        "n": [1, 2],
    }
    parquet.write_table(pa.table(columns), tmp_path / "t.parquet")
    table = read_table(str(tmp_path / "t.parquet"))
    assert table.labels("identity").tolist() == ["007", "7"]
    assert table.values("gender").tolist() == ["f", None]
    assert np.array_equal(table.numbers("score"), [0.5, np.nan], equal_nan=True)
    assert table.values("n").dtype == np.int64
    (tmp_path / "t.parquet").write_bytes(b"PAR1" + b"x" * 50)
    with pytest.raises(ValueError, match="damaged"):
        read_table(str(tmp_path / "t.parquet"))


def test_parquet_without_pyarrow(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    with pytest.raises(ImportError, match="pip install pyarrow, or save"):
        read_table(str(tmp_path / "t.parquet"))
