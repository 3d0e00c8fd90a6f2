"""Files as named columns: text tables, .parquet, and arrays of .npz and .npy without pickle.

A library reads. This module names columns, tells numbers from labels, changes no label into
a number, and explains what a file lacks: every message has the argument, the file, what was
found and what to do. A text table is in UTF-8 and starts with a row of names; a list has none,
and its words stand between spaces.
"""

import codecs
import csv
import gzip
import io
import os
import re
import zipfile
import zlib
from collections import Counter
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np

from skfairfr.utils._errors import ArgumentError, LackingError, refused
from skfairfr.utils._labels import is_unknown, to_column
from skfairfr.utils._validation import check_sequence, float_type, warn_caller

KINDS = {b"\x93NUMPY": "npy", b"PK": "npz", b"PAR1": "parquet", b"\x80": "pickle"}
GZIP = b"\x1f\x8b"
TEXT_TABLES = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
TABLE_FORMATS = f"{', '.join(TEXT_TABLES)} or .parquet"
# So many names of columns are listed in a message.
MOST_LISTED = 30
# So many labels that are not found are listed, and so many values that have no meaning.
FEW, FEW_WORDS = 3, 5
# Of numpy's types: numbers, text and dates; neither objects nor structures.
KINDS_OF_LABELS = "biufSUmM"
# Words that programs write for a missing value, in lower case.
WORDS_FOR_UNKNOWN = ("", "nan", "none", "null", "nat", "<na>", "n/a")
# Those in a column of scores or decisions, where NA is no label.
WORDS_FOR_MISSING = (*WORDS_FOR_UNKNOWN, "na")
# Values of a column that are read before the others, to see what it is about.
MOST_READ = 100
# Labels that a group of unknown people may have.
WORDS_FOR_NO_GROUP = (*WORDS_FOR_MISSING, "unknown", "?", "-", "not stated", "missing")
# Below this size the csv module is done before pyarrow is imported.
LARGE = 2**19
# No leading zero: 007 is a label.
NUMBER = re.compile(
    r"[+-]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII
)
INTEGER = re.compile(r"0|-?[1-9]\d{0,17}", re.ASCII)
# No text holds these bytes; a list is known by that.
NO_TEXT = re.compile(rb"[\x00-\x08\x0e-\x1f]")
# Integers up to here are exact as floats, to which a missing cell converts them.
LARGEST_FLOAT_INTEGER = 2**53


def kind_of(path, argument="path"):
    """The kind of a file, by its first bytes or, for text, by its name.

    Parameters
    ----------
    path : str
    argument : str, default="path"
        For messages, here and below.

    Returns
    -------
    kind : {"npy", "npz", "parquet", "csv", "list", "pickle", "other"}
        "csv" is any text table, "list" any other text.
    """
    # A device may never end, and opening a pipe waits for a writer.
    if os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):
        remedy = "write the data into a file, which is read more than once."
        raise file_error(
            argument, path, " is a device, a pipe or a socket and no file;", remedy
        )
    try:
        with open(path, "rb") as file:
            start = file.read(1024)
    except OSError as error:
        absent = isinstance(error, FileNotFoundError)
        why = "does not exist" if absent else f"cannot be read ({error.strerror})"
        remedy = f"give the path of an .npz, .npy, {TABLE_FORMATS} file."
        raise file_error(argument, path, f" {why};", remedy) from None
    for magic, kind in KINDS.items():
        if start.startswith(magic):
            return kind
    if suffix_of(path) in TEXT_TABLES:
        return "csv"
    is_text = start.startswith(GZIP) or (start and not NO_TEXT.search(start))
    return "list" if is_text else "other"


def suffix_of(path):
    """The end of a file's name, in lower case; with .gz also the end before it."""
    stem, suffix = os.path.splitext(os.fspath(path).lower())
    return os.path.splitext(stem)[1] + suffix if suffix == ".gz" else suffix


# ---- errors --------------------------------------------------------------------------


def file_error(argument, path, problem, remedy=()):
    """The error about the file that an argument names; ``problem`` follows the path."""
    return refused(argument, path, f"{path!r}{problem}", remedy)


def damaged(argument, path, why):
    """The error about a file that is not whole."""
    problem = f" is cut short or damaged ({why});"
    return file_error(argument, path, problem, "copy or write it again.")


def check_names(names, path, argument):
    """Raise if two columns of a table have one name."""
    for name, _ in filter(lambda one: one[1] > 1, Counter(names).items()):
        raise file_error(argument, path, f" names {name!r} twice;", "rename one.")


# ---- columns that arguments name -----------------------------------------------------


def first_of(candidates, present):
    """The first candidate that is there; None if there is none."""
    return next((name for name in candidates if name in present), None)


def choose_all(wanted, present, path, remedy=None):
    """What the file holds of all that is wanted; one error names all that it lacks.

    Parameters
    ----------
    wanted : list of (str, tuple of str)
        Arguments and the columns or arrays that they may name; the first is taken.
    present : sequence of str
    path : str
    remedy : str, default=None
        What to do; None is to name others that are there.

    Returns
    -------
    names : list of str
        One for each that is wanted.
    """
    names = [first_of(candidates, present) for _, candidates in wanted]
    if None not in names:
        return names
    missing = [one for one, name in zip(wanted, names, strict=True) if name is None]
    others = [repr(name) for name in present if name not in names]
    listed = f"but {', '.join(others[:MOST_LISTED])}"
    if len(others) > MOST_LISTED:
        listed += f" and {len(others) - MOST_LISTED:,} others"
    first, *more = dict.fromkeys(argument for argument, _ in missing)
    instead = f"name {'others' if more else 'one of them'}."
    if not others:
        listed = "and nothing that is not in use already"
        instead = "add what is missing to the file."
    lacking = dict.fromkeys(f"no {' or '.join(map(repr, c))}" for _, c in missing)
    problem = f"{''.join(f'and {one} ' for one in more)}cannot be found: {path!r} "
    problem += f"holds {' and '.join(lacking)}, {listed};"
    raise refused(first, missing[0][1][0], problem, remedy or instead, LackingError)


def check_columns(columns):
    """The requested columns, each with the argument that names it; None for all.

    A dict, as which a reader of ours gives them, stays as it is.
    """
    if columns is None or isinstance(columns, dict):
        return columns
    names = check_sequence(columns, "columns", "names of columns", str)
    return dict.fromkeys(names, "columns")


def data_row(place):
    """How messages about a file name a row: from 1, the line of names not counted."""
    return f"data row {place + 1:,}"


def check_known(argument, name, labels, remedy):
    """Raise where an identity is missing, None among the labels of a column."""
    if labels.dtype.kind == "O" and None in labels:
        problem = f"{name!r} is missing in {data_row(labels.tolist().index(None))};"
        raise refused(argument, name, problem, remedy)


def few(labels, what):
    """How many labels, "people" or "images", these are, and the first of them."""
    distinct = [*map(repr, np.unique(labels.astype(str)).tolist())]
    if len(distinct) == 1:
        what = {"people": "person", "images": "image"}[what]
    listed = ", ".join([*distinct[:FEW], *["…"] * (len(distinct) > FEW)])
    return f"{len(distinct):,} {what} ({listed})"


def meanings(values, words, argument, name, remedy, missing=None):
    """What each cell of a column means by its words, ndarray of int (n_rows,).

    Parameters
    ----------
    values : ndarray, shape (n_rows,)
    words : dict of str -> int
        In lower case, spaces in place of hyphens.
    argument, name : str
        Of the argument, and of the column that it names.
    remedy : str
    missing : int, default=None
        What None and NaN mean; None: no cell may be missing.
    """
    distinct, place = np.unique(values.astype(str), return_inverse=True)
    # 1.0 as 1: so a column with a missing cell holds it.
    texts = (text.strip().casefold().removesuffix(".0") for text in distinct.tolist())
    codes = [words.get(re.sub(r"(?<=\w)[-_]", " ", text), -2) for text in texts]
    codes = np.array(codes, dtype=np.intp)[place]
    if missing is not None:
        codes[is_unknown(values)] = missing
    if (wrong := codes < -1).any():
        found = [*map(repr, np.unique(values[wrong].astype(str)).tolist())]
        known = ", ".join(filter(None, words))
        problem = f"{name!r} holds {', '.join(found[:FEW_WORDS])}"
        if len(found) > FEW_WORDS:
            problem += f" and {len(found) - FEW_WORDS:,} other values"
        problem += f" (first in {data_row(wrong.argmax())}); every value must be one of {known}, "
        problem += "in any case;"
        raise refused(argument, name, problem, remedy)
    return codes


def words_of(column):
    """Different values of a column in lower case, a set; unknown ones left out."""
    known = np.unique(column[~is_unknown(column)].astype(str))
    return {re.sub("[-_]", " ", text.strip().casefold()) for text in known}


def warn_of_words(labels, name, path):
    """Warn of labels that are words for a missing value, of column ``name`` in a file."""
    if labels.dtype.kind not in "OU":
        return
    texts = labels.tolist()
    found = (text for text in set(texts) if isinstance(text, str))
    words = sorted(text for text in found if text.strip().lower() in WORDS_FOR_NO_GROUP)
    if words:
        count = sum(map(texts.count, words))
        warn_caller(
            f"{path!r}: {name!r} holds {' and '.join(map(repr, words))} in {count} "
            f"{'row' if count == 1 else 'rows'}, which are labels like any other. Where "
            "unknown is meant, leave the field empty: '' in an array, no text in a .csv "
            "file, null in a .parquet file.",
            UserWarning,
        )


def is_missing(cell):
    """Whether there is no score in a cell."""
    return str(cell).strip().lower() in WORDS_FOR_MISSING


# ---- arrays --------------------------------------------------------------------------


def read_npy(path):
    """The array of an .npy file, memory-mapped, for reading only."""
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception as error:  # numpy's, of many kinds
        raise _unreadable(path, "the array", "embedding", error) from None


def _unreadable(path, what, name, error):
    problem = f": {what} cannot be read without pickle, which can run code ({error});"
    remedy = f"save {name!r} as numbers or, of labels, {name}.astype(str), unknown ones as ''; "
    remedy += "if it is saved so, the file is damaged: copy it again."
    return file_error("path", path, problem, remedy)


@contextmanager
def open_npz(path):
    """An open .npz file, as an Archive."""
    if not zipfile.is_zipfile(path):
        raise damaged("path", path, "its end is missing")
    # numpy does not close a file that it opened itself if the archive is damaged.
    with open(path, "rb") as file:
        try:
            arrays = np.load(file, allow_pickle=False)
        except Exception as error:
            raise damaged("path", path, error) from None
        archive = Archive(arrays, path)
        check_names(archive.names, path, "path")
        yield archive


class Archive:
    """Arrays of an open .npz file, read one by one."""

    def __init__(self, arrays, path):
        members = arrays.zip.namelist()
        self.names = [name for name in arrays.files if f"{name}.npy" in members]
        self._arrays = arrays
        self._path = path

    def read(self, name):
        """One array."""
        try:
            array = self._arrays[name]
            if not isinstance(array, np.ndarray):
                raise ValueError("no array")
            return array
        except Exception as error:  # zipfile's, zlib's and numpy's, of many kinds
            raise _unreadable(self._path, repr(name), name, error) from None

    def labels(self, name):
        """One array of labels, None where they are empty strings."""
        labels = self.read(name)
        try:
            if labels.dtype.kind == "S":
                labels = np.char.decode(labels, "utf-8")
            if labels.dtype.kind != "U":
                return labels
            texts = labels.astype(object)  # fails on what is no character
        except (ValueError, SystemError):
            problem = f": {name!r} holds bytes that are no UTF-8 text;"
            remedy = f"save {name!r} as numpy.asarray(..., dtype=str)."
            raise file_error("path", self._path, problem, remedy) from None
        # A text array has no other missing value.
        return np.where(labels == "", None, texts) if (labels == "").any() else labels

    values = labels

    def plain_columns(self, n_rows):
        """Names of the arrays with one number or string a row, by their headers."""
        formats = np.lib.format

        def is_plain(name):
            try:
                with self._arrays.zip.open(f"{name}.npy") as member:
                    version = "{}_{}".format(*formats.read_magic(member))
                    read = getattr(formats, f"read_array_header_{version}")
                    shape, _, dtype = read(member)
            except Exception:  # of a damaged member, which nobody named
                return False
            return shape == (n_rows,) and dtype.kind in KINDS_OF_LABELS

        return [name for name in self.names if is_plain(name)]


# ---- tables --------------------------------------------------------------------------


class Cells(NamedTuple):
    """Text cells of a column: all that occur, and for each row the index of its own."""

    values: list
    codes: np.ndarray


class Table:
    """Named columns of one length.

    Parameters
    ----------
    columns : dict of str -> Cells, ndarray or str, shape (n_rows,)
        Text cells, an empty one missing; values that have a type; or the type of lists and
        structs, which are neither labels nor numbers.
    n_rows : int
    path, argument : str
        For messages.
    """

    def __init__(self, columns, n_rows, path, argument):
        self.names = list(columns)
        self.n_rows = n_rows
        self._columns = columns
        self.path = path
        self._file = argument, path

    def plain_columns(self, _):
        """Names of the columns with one number or text for each row."""
        return [n for n, column in self._columns.items() if not isinstance(column, str)]

    def labels(self, *names):
        """Labels of people or images, converted alike for several columns.

        Integers where every cell is one, written without leading zeros; else text, None
        where missing. A list of columns where several are named.
        """
        return self._convert(names, _to_labels)

    def values(self, *names):
        """As labels, but numbers where every known cell is one, nan where missing."""
        return self._convert(names, _to_values)

    def numbers(self, name):
        """A column of numbers, nan where missing; an error if it holds anything else."""
        values = self.values(name)
        try:
            if values.dtype.kind in "mM":
                raise TypeError("it holds times")
            dtype = float_type(values.dtype)
            if values.dtype.kind in "OU":
                values = [None if is_missing(v) else v for v in values.tolist()]
            return np.array(values, dtype=dtype)  # None as nan
        except (TypeError, ValueError) as error:
            problem = f": column {name!r} must hold numbers ({error});"
            raise file_error(*self._file, problem, "name another column.") from None

    def _convert(self, names, convert):
        columns = [self._columns[name] for name in names]
        for name, column in zip(names, columns, strict=True):
            if isinstance(column, str):
                problem = f": column {name!r} holds {column}, no numbers or labels;"
                remedy = "name another column, or write one value into each cell."
                raise file_error(*self._file, problem, remedy)
        if isinstance(columns[0], Cells):
            joint = convert([cell.strip() for c in columns for cell in c.values])
            ends = np.cumsum([len(cells.values) for cells in columns])
            parts = np.split(joint, ends[:-1])
            columns = [p[c.codes] for c, p in zip(columns, parts, strict=True)]
        return columns[0] if len(columns) == 1 else columns


def read_table(path, argument="path", name_columns=None):
    """A Table from a file.

    Parameters
    ----------
    path : str
    argument : str, default="path"
        What names the file, for messages.
    name_columns : callable, default=None
        Names for the columns of a list, from the argument, the path and the words that occur
        in each column; None to refuse lists.
    """
    kind = kind_of(path, argument)
    is_list = kind == "list" and name_columns is not None
    if not is_list and kind not in ("csv", "parquet"):
        remedy = f"give a {TABLE_FORMATS} file with a row for each row of the data."
        raise file_error(argument, path, " is no table;", remedy)
    if kind == "parquet":
        columns, n_rows = _read_parquet(path, argument)
    else:
        columns, n_rows = _read_text(path, argument, is_list)
    if not n_rows:
        remedy = "give a table with names in its first line."
        raise file_error(argument, path, " holds no row;", remedy)
    if is_list:
        words = [cells.values for cells in columns.values()]
        names = name_columns(argument, path, words)
        columns = dict(zip(names, columns.values(), strict=True))
    return Table(columns, n_rows, path, argument)


def column_names(path):
    """Names of the columns or arrays of a file; none if it cannot be read, or has none."""
    with suppress(ValueError, ImportError):
        if kind_of(path) == "npz":
            with open_npz(path) as archive:
                return archive.names
        return read_table(path).names
    return []


# ---- text ----------------------------------------------------------------------------


def _read_text(path, argument, is_list):
    delimiter = "\t" if suffix_of(path).startswith(".tsv") else ","
    try:
        content = _content(path)
        if is_list:
            delimiter, content = " ", _numbered(content)
        # A byte order mark, as spreadsheets write it, is no part of the text.
        text = io.StringIO(content.decode("utf-8-sig"), newline="")
        # Strict: a quote that is never closed would make one cell of all lines below it.
        options = {"skipinitialspace": True, "strict": True}
        rows = csv.reader(text, delimiter=delimiter, **options)
        names = next(rows, [])
        _check_separator(names, path, argument)
        check_names(names, path, argument)
        read = _read_by_pyarrow if _is_for_pyarrow(content, delimiter) else _read_by_csv
        columns = read(content, rows, names, delimiter)
    except UnicodeDecodeError:
        problem = " is not UTF-8 text;"
        raise file_error(argument, path, problem, "save it as CSV UTF-8.") from None
    except csv.Error as error:
        between = "tabs" if delimiter == "\t" else "commas"
        remedy = f"close each double quote, and put text with {between} between two."
        raise file_error(argument, path, f" is no table ({error});", remedy) from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise damaged(argument, path, error) from None
    n_rows = columns[0].codes.size if columns else 0
    return dict(zip(names, columns, strict=bool(n_rows))), n_rows


def _content(path):
    """Bytes of a file, unpacked."""
    with open(path, "rb") as file:
        content = file.read()
    # By its first bytes: a file loses or keeps the ending .gz in many ways.
    return gzip.decompress(content) if content.startswith(GZIP) else content


def _numbered(content):
    """A list as a table whose columns are called by their numbers."""
    lines = content.removeprefix(codecs.BOM_UTF8).splitlines()
    lines = [b" ".join(line.split()) for line in lines]
    n_columns = next(filter(None, lines), b"").count(b" ") + 1
    return b"\n".join([b" ".join(b"%d" % k for k in range(n_columns)), *lines])


def _check_separator(names, path, argument):
    if len(names) == 1 and re.search("[;,\t]", names[0]):
        problem = f" has one column, {names[0]!r};"
        remedy = "separate columns by commas in a .csv file, or by tabs in a .tsv file."
        raise file_error(argument, path, problem, remedy)


def _is_for_pyarrow(content, delimiter):
    """Whether pyarrow is there and reads these bytes as they are meant."""
    # It hides all rows below a quote that is never closed, and keeps spaces, and with
    # them the quotes, in front of a quoted cell.
    if len(content) < LARGE or content.count(b'"') % 2:
        return False
    return (
        delimiter.encode() + b' "' not in content and find_spec("pyarrow") is not None
    )


def _read_by_csv(content, rows, names, delimiter):
    """Cells of each column, by the csv module."""
    kept = []
    for row in filter(None, rows):
        if len(row) != len(names):
            line = rows.line_num - (delimiter == " ")  # a list has no line of names
            n_cells = f"line {line} has {len(row)} cells"
            raise csv.Error(f"{n_cells} but the first line has {len(names)}")
        kept.append(row)
    return [_cells(column) for column in zip(*kept, strict=True)]


def _cells(column):
    known = {}
    codes = [known.setdefault(cell, len(known)) for cell in column]
    return Cells(list(known), np.array(codes, dtype=np.intp))


def _read_by_pyarrow(content, rows, names, delimiter):
    """Cells of each column, by pyarrow."""
    import pyarrow
    from pyarrow import csv as arrow

    # Columns by number: names may stand on several lines, or have spaces before them.
    numbered = [str(column) for column in range(len(names))]
    types = dict.fromkeys(numbered, pyarrow.large_string())
    quoted = b'"' in content
    try:
        table = arrow.read_csv(
            pyarrow.py_buffer(content),
            arrow.ReadOptions(column_names=numbered),
            arrow.ParseOptions(delimiter=delimiter, newlines_in_values=quoted),
            arrow.ConvertOptions(column_types=types),
        )
    except pyarrow.ArrowInvalid as error:
        raise csv.Error(str(error)) from None
    return [_cells_of_arrow(column) for column in table.slice(1).columns]


def _cells_of_arrow(column):
    encoded = column.combine_chunks().dictionary_encode()
    values = encoded.dictionary.to_pylist()
    return Cells(values, encoded.indices.to_numpy())


# ---- parquet -------------------------------------------------------------------------


def _read_parquet(path, argument):
    try:
        import pyarrow.parquet
    except ModuleNotFoundError:
        words = "which needs pyarrow; pip install pyarrow, or save it as .csv."
        raise ImportError(f"{argument} {path!r}, {words}") from None
    # Damaged files raise OSError, ArrowInvalid and others, some of them as late as when
    # a column is converted.
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            schema = file.schema_arrow
            check_names(schema.names, path, argument)
            table = file.read()
        table.validate(full=True)
        columns = {
            name: str(kind)
            if pyarrow.types.is_nested(kind)
            else to_column(table.column(name), name)
            for name, kind in zip(schema.names, schema.types, strict=True)
        }
    except ArgumentError:
        raise
    except Exception as error:
        raise damaged(argument, path, error) from None
    return columns, len(table)


# ---- conversions of the texts that occur in a column ---------------------------------


def _to_labels(cells):
    if all(map(INTEGER.fullmatch, cells)):
        return np.array(list(map(int, cells)), dtype=np.int64)
    return _to_text(cells)


def _to_values(cells):
    known = [cell for cell in cells if cell and cell.lower() != "nan"]
    if not known or not all(map(NUMBER.fullmatch, known)):
        return _to_text(cells)
    if len(known) == len(cells) and all(map(INTEGER.fullmatch, known)):
        return np.array(list(map(int, cells)), dtype=np.int64)
    # Such integers name something, and as floats several would be one.
    if any(map(_is_long_integer, known)):
        return _to_text(cells)
    # Of the missing, only the empty one is no number to Python.
    return np.array([float(cell or "nan") for cell in cells])


def _is_long_integer(cell):
    return len(cell) > 15 and cell.isdigit() and int(cell) > LARGEST_FLOAT_INTEGER


def _to_text(cells):
    if all(cells):
        return np.array(cells)
    return np.array([cell or None for cell in cells], dtype=object)
