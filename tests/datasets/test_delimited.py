"""pyarrow and polars give what the csv module gives, or leave the file to it."""

import csv
import gzip
import io
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skfairfr.datasets import _delimited
from skfairfr.datasets._delimited import MANY, READERS, read_fast, to_floats
from skfairfr.datasets._tables import read_table

NUMBER = re.compile(r"[+-]?((0|[1-9]\d*)(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
INTEGER = re.compile(r"0|-?[1-9]\d{0,17}", re.ASCII)
NAMES = {read: read.__name__ for read in READERS}
installed = pytest.mark.parametrize("read", READERS, ids=NAMES.get)


@pytest.fixture(autouse=True)
def every_size(monkeypatch):
    monkeypatch.setattr(_delimited, "LARGE", 0)


@pytest.fixture
def by(monkeypatch):
    """A function that reads a table by one reader, or by none."""

    def by(read, path):
        monkeypatch.setattr(_delimited, "READERS", () if read is None else (read,))
        return read_table(str(path))

    return by


# ---- the oracle: every cell by itself ------------------------------------------------


def cells_of(content, delimiter):
    """Names and columns as the csv module reads them."""
    lines = io.TextIOWrapper(io.BytesIO(content), "utf-8-sig", newline="")
    names, *rows = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    assert not ends_in_quotes(content, delimiter)
    rows = [row for row in rows if row]
    assert all(len(row) == len(names) for row in rows)
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}


def ends_in_quotes(content, delimiter):
    """Whether the csv module is in want of a quote; also if it takes one for a fault."""
    lines = io.TextIOWrapper(io.BytesIO(content), "utf-8-sig", newline="")
    options = {"delimiter": delimiter, "skipinitialspace": True, "strict": True}
    try:
        list(csv.reader(lines, **options))
    except csv.Error as error:
        return str(error) == "unexpected end of data"
    return False


def as_labels(cells):
    if all(map(INTEGER.fullmatch, cells)):
        return np.array([int(cell) for cell in cells])
    return as_text(cells)


def as_values(cells):
    missing = [cell == "" or cell.lower() == "nan" for cell in cells]
    known = [cell for cell, m in zip(cells, missing, strict=True) if not m]
    if not known or not all(map(NUMBER.fullmatch, known)):
        return as_text(cells)
    if not any(missing) and all(map(INTEGER.fullmatch, known)):
        return np.array([int(cell) for cell in cells])
    if any(cell.isdigit() and int(cell) > 2**53 for cell in known):
        return as_text(cells)
    pairs = zip(cells, missing, strict=True)
    return np.array([np.nan if m else float(cell) for cell, m in pairs])


def as_text(cells):
    if all(cells):
        return np.array(cells)
    return np.array([cell or None for cell in cells], dtype=object)


def assert_same(found, expected):
    assert found.dtype == expected.dtype
    assert found.tolist() == expected.tolist() or np.array_equal(
        found, expected, equal_nan=True
    )


def assert_as_the_oracle(table, content, delimiter):
    expected = cells_of(content, delimiter)
    assert table.names == list(expected)
    for name, cells in expected.items():
        assert table.n_rows == len(cells)
        assert_same(table.labels(name), as_labels(cells))
        assert_same(table.values(name), as_values(cells))
        assert table.distinct(name) == set(cells) - {""}
    for a, b in pairwise(expected):
        for convert, joint in ((table.labels, as_labels), (table.values, as_values)):
            halves = np.split(joint(expected[a] + expected[b]), 2)
            for found, half in zip(convert(a, b), halves, strict=True):
                assert_same(found, half)


# ---- files ---------------------------------------------------------------------------

CELLS = st.one_of(
    st.sampled_from(
        ["", "7", "007", "-3", "0.5", "1e3", "1e999", "nan", "NaN", "None", "1_0", "+2"]
        + ["9007199254740993", "9" * 18, "9" * 19, "\u0663", "ann", "\u00e9ve", "a b "]
        + [" x", "  ", ",", "a, b", "\t", ";", "'", 'say "a"', "a\nb", "a\r\nb", "#c"]
        + ["\u2028", "\x0b", "\x85", "\ufeffx", "N/A", "null", "\U0001f600", "a\x00"]
    ),
    st.text(st.sampled_from('a7 .,\t"\n\r;\u00e9'), max_size=5),
)
ENDS = st.sampled_from(["\n", "\r\n", "\r"])


@st.composite
def written_files(draw, delimiter):
    """A table as a program writes it, and now and then a fault in it."""
    n_columns = draw(st.integers(1, 4))
    names = st.sampled_from([*"abcdef", "a b", " a", "\u00e9", 'q"', "n\nm", "", "a;b"])
    head = draw(st.lists(names, min_size=n_columns, max_size=n_columns))
    pool = draw(st.lists(CELLS, min_size=1, max_size=6))
    cell = st.sampled_from(pool)
    row = st.lists(cell, min_size=n_columns, max_size=n_columns)
    rows = draw(st.lists(row, max_size=8))
    text = io.StringIO()
    quoting = draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    end = draw(ENDS)
    csv.writer(
        text, delimiter=delimiter, quoting=quoting, lineterminator=end
    ).writerows([head, *rows])
    content = text.getvalue()
    if draw(st.booleans()):
        content = content.removesuffix(end)
    faults = [
        end,
        " ",
        '"',
        delimiter,
        f"{delimiter}x",
        f"{delimiter} ",
        "\ufeff",
        "\r",
    ]
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 1, 2]))):
        place = draw(st.integers(0, len(content)))
        content = content[:place] + draw(st.sampled_from(faults)) + content[place:]
    start = draw(st.sampled_from([b"", b"", b"\xef\xbb\xbf"]))
    return start + content.encode()


PIECES = [b",", b"\t", b'"', b"\n", b"\r\n", b"\r", b" ", b"a", b"7", b"0", b"."]
PIECES += ["\u00e9".encode(), b";", b"\xef\xbb\xbf", b"\0", b"\xff", b"nan", b",a\n"]


def files(delimiter):
    noise = st.lists(st.sampled_from(PIECES), max_size=14).map(b"".join)
    below = noise.map(lambda body: b"a" + delimiter.encode() + b"b\n" + body)
    return st.one_of(written_files(delimiter), written_files(delimiter), noise, below)


def outcome(by, read, path, content, delimiter):
    """None where a table is that of the oracle, or the text of the error."""
    try:
        table = by(read, path)
    except ValueError as error:
        return str(error)
    assert_as_the_oracle(table, content, delimiter)
    return None


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_readers_agree(by, tmp_path, suffix):
    path = tmp_path / f"table{suffix}"
    delimiter = "\t" if suffix == ".tsv" else ","
    readers = [read for read in READERS if is_installed(read)]

    @settings(deadline=None, max_examples=2 * settings.default.max_examples)
    @given(files(delimiter))
    def agree(content):
        path.write_bytes(content)
        expected = outcome(by, None, path, content, delimiter)
        for read in readers:
            assert outcome(by, read, path, content, delimiter) == expected

    agree()


def is_installed(read):
    try:
        read_fast_by(read, b"a,b\n1,2\n")
    except ImportError:
        return False
    return True


def read_fast_by(read, content, n_columns=2, delimiter=","):
    """What a reader gives of a file without the csv module; an error if not installed."""

    def seen(body):
        seen.body = body
        return None

    readers, _delimited.READERS = _delimited.READERS, (seen,)
    try:
        read_fast(content, n_columns, delimiter)
    finally:
        _delimited.READERS = readers
    return read(seen.body)


# ---- which files are read fast -------------------------------------------------------

BOTH = [
    "a,b\n1,2\n",
    "a,b\n1,2",
    "a,b\r\n1,2\r\n,\r\n",
    "a,b\n007,\n7,\u00e9\n",
    "a, b\n 1,  2\n,   \n",
    '"a","b"\n"x, y","say ""hi"""\n"","z"\n',
    'a,b\n"x",y\n" x"," , "\n',
    '"n\nm",b\n1,2\n',
    "a,b\n" + "x,1.5\n" * 5000 + "y,2.5\n",
    "a,b\n" + "".join(f"{i},{i / 7}\n" for i in range(9000)),
]
PYARROW = [
    "a,b\n\n1,2\n\n\n",
    'a,b\n"1\n2",3\n"x\r\ny",z\n',
    "a,b\n" + "x,y\n\n" * 5000,
]
NEITHER = [
    'a,b\n1, "2"\n',
    'a,b\nx"y,2\n',
    'a,b\n"x"y,2\n',
    'a,b\n"x,2\n',
    "a,b\r1,2\r",
    'a,b\n1,"x\ry"\n',
    "a,b\n1,x\0\n",
    "a,b\n1\n",
    "a,b\n1,2,3\n1\n",
    "a,b\n1,2\n1\n,,",
    "a,b\n" + "x" * 140_000 + ",1\n",
    "a,b\n",
    'a,b\n "x",1\n',
    'a,b\n x,"1"\n',
    "a,b\n\ufeffx,1\n",
]


@installed
@pytest.mark.parametrize("text", BOTH + PYARROW + NEITHER)
def test_a_file_is_read_fast_where_that_is_certain(by, tmp_path, read, text):
    if not is_installed(read):
        pytest.skip(f"{NAMES[read]} has no library")
    content = text.encode()
    _delimited.READERS, readers = (read,), _delimited.READERS
    try:
        columns = read_fast(content, 2, ",")
    finally:
        _delimited.READERS = readers
    fast = text in BOTH or (text in PYARROW and "pyarrow" in NAMES[read])
    assert (columns is not None) == fast
    if fast:
        (tmp_path / "a.csv").write_bytes(content)
        assert_as_the_oracle(by(read, tmp_path / "a.csv"), content, ",")


@installed
def test_cells_that_repeat_are_held_once(by, read):
    if not is_installed(read):
        pytest.skip(f"{NAMES[read]} has no library")
    columns = read_fast_by(
        read, b"a,b\n" + b"".join(b"x,%d\n" % i for i in range(9000))
    )
    assert [len(cells.values) for cells in columns] == [1, 9000]
    assert [len(cells.codes) for cells in columns] == [9000, 9000]


EXTREMES = [
    "1e999",
    "-1e999",
    "1e-999",
    "5e-324",
    "2.2250738585072011e-308",
    "-0",
    "+2",
]
EXTREMES += [
    ".5",
    "1.",
    "9007199254740993",
    "0.1" + "0" * 400 + "1",
    "nan",
    "NaN",
    "0e9",
]


@pytest.mark.slow
@settings(deadline=None)
@given(
    st.lists(st.one_of(st.floats().map(repr), st.from_regex(NUMBER, fullmatch=True)))
)
def test_many_numbers_are_those_of_python(texts):
    texts = EXTREMES + [text for text in texts if "inf" not in text]
    expected = np.array([float(text) for text in texts])
    found = to_floats(texts * (MANY // len(texts) + 1))[: len(texts)]
    assert np.array_equal(found.view(np.int64), expected.view(np.int64))


@installed
@pytest.mark.parametrize("fault", ["1\n", "1,2,3\n", '"1\n', "1,\xff\n"])
def test_the_line_of_a_fault_is_that_of_the_csv_module(by, tmp_path, read, fault):
    path = tmp_path / "a.csv"
    path.write_bytes(("a,b\n" + "x,y\n" * 40_000 + fault).encode("latin-1"))
    texts = []
    for reader in (None, read):
        with pytest.raises(ValueError) as caught:
            by(reader, path)
        texts.append(str(caught.value))
    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('a,b\n1,"2\n3,4\n', 2),
        ('a,b\n1,2\n"3,4\n5,6', 3),
        ('a,b\n1,"2\n3"\n4,"', 4),
        ('a,b\n1,2\n3,"x""', 3),
        ('a,"b\n1,2\n', 1),
        ('"', 1),
    ],
)
def test_a_quote_that_is_never_closed_hides_no_row(tmp_path, text, line):
    path = tmp_path / "a.csv"
    for content in (text.encode(), gzip.compress(text.encode())):
        path.write_bytes(content)
        with pytest.raises(ValueError) as caught:
            read_table(str(path))
        why = f"(a double quote from line {line} on is never closed)"
        assert f"is cut short or damaged {why}; copy or" in str(caught.value)
    path.write_text(text + '"')
    assert ends_in_quotes(text.encode(), ",")
    assert not ends_in_quotes(path.read_bytes(), ",")


# ---- which library reads -------------------------------------------------------------


def test_small_files_load_no_library(monkeypatch, tmp_path):
    monkeypatch.setattr(_delimited, "LARGE", 9)

    def refuse(body):
        raise AssertionError

    monkeypatch.setattr(_delimited, "READERS", (refuse,))
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    assert read_table(str(tmp_path / "a.csv")).n_rows == 1
    (tmp_path / "a.csv").write_text("a,b\n1,22\n")
    with pytest.raises(AssertionError):
        read_table(str(tmp_path / "a.csv"))


@pytest.mark.parametrize("absent", [("pyarrow",), ("pyarrow", "polars")])
def test_what_is_not_installed_is_not_needed(monkeypatch, tmp_path, absent):
    for library in absent:
        for name in [name for name in sys.modules if name.split(".")[0] == library]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, library, None)
    content = b"a,b\n" + b"x,1\ny,2\n" * 50
    (tmp_path / "a.csv").write_bytes(content)
    assert_as_the_oracle(read_table(str(tmp_path / "a.csv")), content, ",")


def test_importing_loads_no_library():
    # scikit-learn loads pandas where it is installed, and pandas loads pyarrow.
    code = (
        "import sys; sys.modules['pandas'] = None; import skfairfr.datasets; "
        "print({'pyarrow', 'polars'} & set(sys.modules))"
    )
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


# ---- compressed files ----------------------------------------------------------------


def test_compression_is_seen_from_the_content(tmp_path):
    content = b"a,b\n1,2\n"
    for name, written in (("a.csv", gzip.compress(content)), ("a.csv.gz", content)):
        (tmp_path / name).write_bytes(written)
        assert read_table(str(tmp_path / name)).values("b").tolist() == [2]


@pytest.mark.parametrize("size", [3, 12, 40, -4, -1])
def test_a_compressed_file_that_is_cut_short(tmp_path, size):
    rows = "".join(f"{i},{i * i}\n" for i in range(50))
    content = gzip.compress(f"a,b\n{rows}".encode())[:size]
    (tmp_path / "a.csv.gz").write_bytes(content)
    with pytest.raises(ValueError, match="is cut short or damaged"):
        read_table(str(tmp_path / "a.csv.gz"))


def test_a_compressed_file_that_is_damaged(tmp_path):
    content = bytearray(gzip.compress(b"a,b\n1,2\n" * 50))
    for place in range(2, len(content)):
        broken = bytes(content[:place]) + bytes([content[place] ^ 0xFF])
        (tmp_path / "a.csv.gz").write_bytes(broken + bytes(content[place + 1 :]))
        try:
            read_table(str(tmp_path / "a.csv.gz"))
        except ValueError as error:
            assert "is cut short or damaged" in str(error)
