"""Cells become labels and numbers, and no label is changed on the way."""

import datetime
import sys
from contextlib import suppress
from decimal import Decimal
from time import process_time

import numpy as np
import pytest

from skfairfr.datasets._tables import read_table
from skfairfr.utils._errors import ArgumentError


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


NESTED = [[[1, 2]] * 3, [{"a": 1}] * 3]
TIMES = [
    [datetime.time(1, 2)] * 3,
    [datetime.timedelta(1)] * 3,
    np.array(["2026-01-01"] * 3, dtype="datetime64[ns]"),
    np.array([1, 2, 3], dtype="timedelta64[ns]"),
]


@pytest.mark.parametrize("cells", [*NESTED, *TIMES, [b"1"] * 3])
def test_a_score_of_parquet_is_a_number(tmp_path, cells):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table({"n": [1, 2, 3], "x": cells}), tmp_path / "t.parquet")
    with pytest.raises(
        ArgumentError, match=r"column 'x' (must hold|holds).* [nN]ame ano"
    ):
        read_table(str(tmp_path / "t.parquet")).numbers("x")


@pytest.mark.parametrize("cells", NESTED)
def test_a_nested_column_of_parquet_is_left_out_unless_named(tmp_path, cells):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table({"x": cells, "n": [1, 2, 3]}), tmp_path / "t.parquet")
    table = read_table(str(tmp_path / "t.parquet"))
    assert table.plain_columns(3) == ["n"] and table.n_rows == 3
    for read in (table.labels, table.values):
        with pytest.raises(ArgumentError, match=r"column 'x' holds (list|struct)<"):
            read("x")


def test_a_decimal_of_parquet_is_a_number(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    cells = [Decimal("0.25"), None]
    parquet.write_table(pa.table({"x": cells}), tmp_path / "t.parquet")
    found = read_table(str(tmp_path / "t.parquet")).numbers("x")
    assert np.array_equal(found, [0.25, np.nan], equal_nan=True)


@pytest.mark.parametrize("compression", ["none", "snappy"])
def test_flipped_bits_of_parquet_are_damage_or_data(tmp_path, compression):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {
        "score": np.linspace(0, 1, 50),
        "name": [f"p{i % 9}" for i in range(50)],
        "group": pa.array(["f", "m"] * 25).dictionary_encode(),
        "some": ["\u00e9", None] * 25,
    }
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table(columns), path, compression=compression)
    whole, rng = path.read_bytes(), np.random.default_rng(0)
    for place in rng.integers(4, len(whole), 400):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << rng.integers(8)
        path.write_bytes(flipped)
        with suppress(ArgumentError):
            read_table(str(path))


def test_a_cell_of_parquet_that_is_no_text_is_damage(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"x": ["aaaa", "bbbb"]}), path, compression="none")
    path.write_bytes(path.read_bytes().replace(b"bbbb", b"bb\xffb"))
    with pytest.raises(ArgumentError, match="is cut short or damaged"):
        read_table(str(path))


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_header_of_many_columns_is_refused_at_once(tmp_path, suffix):
    names = [f"c{i}" for i in range(100_000)]
    path = tmp_path / f"t.{suffix}"
    if suffix == "csv":
        path.write_text("\n".join([",".join(names), ",".join("1" * len(names))]))
    else:
        pa = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pa.table({n: [1] for n in names[:20_000]}), path)
    start = process_time()
    with pytest.raises(ArgumentError, match="00 columns, and no more than 10,000 are"):
        read_table(str(path))
    assert process_time() - start < 5


def test_parquet_without_pyarrow(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    with pytest.raises(ImportError, match="pip install pyarrow, or save"):
        read_table(str(tmp_path / "t.parquet"))
