"""Columns of tables: text (.csv, .tsv) and .parquet files.

A text table is in UTF-8 and starts with a row of names. Its cells are text; this module
decides which columns are numbers, and changes no label into a number.
"""

import re
from decimal import Decimal
from itertools import product
from numbers import Real
from typing import NamedTuple

import numpy as np

from skfairfr.datasets._delimited import Cells, read_delimited, to_floats
from skfairfr.datasets._files import (
    TABLE_FORMATS,
    check_fits,
    check_names,
    damaged,
    file_error,
    kind_of,
    too_large,
)
from skfairfr.utils._errors import Argument, ArgumentError, Message, plain
from skfairfr.utils._labels import to_columns

# No leading zero: 007 is a label.
NUMBER = re.compile(
    r"[+-]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII
)
# One number a line; it never goes back into a line, and is faster than a call for each.
NUMBERS = re.compile(f"(?:(?>{NUMBER.pattern})\n)*+", re.ASCII)
INTEGER = re.compile(r"0|-?[1-9]\d{0,17}", re.ASCII)
# Integers up to here are exact as floats, to which a missing cell converts them.
LARGEST_FLOAT_INTEGER = 2**53
# In upper or lower case.
MISSING_NUMBERS = {"", *map("".join, product("nN", "aA", "nN"))}


class Nested(NamedTuple):
    """A column of lists or structs, which are neither labels nor numbers.

    Attributes
    ----------
    type : str
    n_rows : int
    """

    type: str
    n_rows: int


class Table:
    """Named columns of one length.

    Parameters
    ----------
    columns : dict of str -> Cells, ndarray or Nested, shape (n_rows,)
        Text cells, an empty one missing; or values that have a type.
    path, argument : str
        For messages.
    """

    def __init__(self, columns, path, argument):
        self.names = list(columns)
        self.n_rows = _n_rows(next(iter(columns.values())))
        self._columns = columns
        self._path = path
        self._argument = argument

    def plain_columns(self, n_rows):
        """Names of the columns with one number or text for each row."""
        columns = self._columns.items()
        return [name for name, column in columns if not isinstance(column, Nested)]

    def distinct(self, name):
        """Texts that occur in a column; None of values that have a type."""
        cells = self._columns[name]
        return set(filter(None, cells.values)) if isinstance(cells, Cells) else None

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
        """A column of numbers, nan where missing; an error if it holds text."""
        values = self.values(name)
        if values.dtype.kind in "fiub":
            return values.astype(np.float64)
        for row, value in enumerate(values):
            if not _is_number(value):
                raise file_error(
                    self._argument,
                    self._path,
                    f": column {name!r} must hold numbers; got {plain(value)!r} in row {row} "
                    "(from 0).",
                    "Name another column.",
                )
        return np.array([np.nan if v is None else v for v in values], dtype=np.float64)

    def _convert(self, names, convert):
        columns = [self._columns[name] for name in names]
        for name, column in zip(names, columns, strict=True):
            if isinstance(column, Nested):
                raise file_error(
                    self._argument,
                    self._path,
                    f": column {name!r} holds {column.type}, no numbers or labels;",
                    "name another column, or write one value into each cell.",
                )
        if isinstance(columns[0], Cells):
            joint = convert([cell for cells in columns for cell in cells.values])
            ends = np.cumsum([len(cells.values) for cells in columns])
            parts = np.split(joint, ends[:-1])
            columns = [p[c.codes] for c, p in zip(columns, parts, strict=True)]
        return columns[0] if len(columns) == 1 else columns


def read_table(path, argument="path"):
    """A table from a file.

    Parameters
    ----------
    path : str
    argument : str, default="path"
        For messages.

    Returns
    -------
    table : Table
    """
    kind = kind_of(path, argument)
    if kind not in ("csv", "parquet"):
        raise file_error(
            argument,
            path,
            " is no table;",
            f"give a {TABLE_FORMATS} file with a row for each row of the data.",
        )
    columns = (read_delimited if kind == "csv" else _read_parquet)(path, argument)
    if not columns or not _n_rows(next(iter(columns.values()))):
        raise file_error(
            argument,
            path,
            " holds no row;",
            "give a table with names in its first line.",
        )
    return Table(columns, path, argument)


def _read_parquet(path, argument):
    try:
        import pyarrow.parquet
    except ModuleNotFoundError:
        raise ImportError(
            Message(
                Argument(argument),
                f" {path!r} is a .parquet file, which needs pyarrow; pip install pyarrow, "
                "or save it as .csv.",
            )
        ) from None
    # Damaged files raise OSError, ArrowInvalid and others, some of them as late as when
    # a column is converted.
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            names = file.schema_arrow.names
            check_names(names, path, argument)
            # A row that occurs a billion times takes some hundred bytes of the file.
            widths = [_width(field.type) for field in file.schema_arrow]
            check_fits(file.metadata.num_rows * sum(widths), argument, path)
            table = file.read()
        table.validate(full=True)
        return {name: _of_arrow(table.column(name), name) for name in names}
    except ArgumentError:
        raise
    except MemoryError:
        raise too_large(argument, path) from None
    except Exception as error:
        raise damaged(argument, path, error) from None


def _width(kind):
    """Bytes of a cell at least, of text those of its offset."""
    try:
        return kind.bit_width / 8
    except ValueError:
        return 4


def _of_arrow(column, name):
    import pyarrow

    if pyarrow.types.is_nested(column.type):
        return Nested(str(column.type), len(column))
    return to_columns(column, name)[0]


def _is_number(value):
    """Whether a cell is a number, a text of one, or missing; times are none."""
    if isinstance(value, str):
        return NUMBER.fullmatch(value) is not None
    if isinstance(value, np.datetime64 | np.timedelta64):
        return False
    return value is None or isinstance(value, Real | Decimal)


def _n_rows(column):
    if isinstance(column, Nested):
        return column.n_rows
    return len(column.codes if isinstance(column, Cells) else column)


# ---- conversions of the texts that occur in a column ---------------------------------


def _to_labels(cells):
    if all(map(INTEGER.fullmatch, cells)):
        return np.array(list(map(int, cells)), dtype=np.int64)
    return _to_text(cells)


def _to_values(cells):
    some_missing = not MISSING_NUMBERS.isdisjoint(cells)
    known = [c for c in cells if c not in MISSING_NUMBERS] if some_missing else cells
    if not known or not _are_numbers(known):
        return _to_text(cells)
    if not some_missing and all(map(INTEGER.fullmatch, known)):
        return np.array(list(map(int, cells)), dtype=np.int64)
    integers = filter(str.isdigit, known)
    if any(len(c) > 16 or int(c) > LARGEST_FLOAT_INTEGER for c in integers):
        return _to_text(cells)
    # Of the missing, only the empty one is no number to Python.
    return to_floats([cell or "nan" for cell in cells] if some_missing else cells)


def _are_numbers(cells):
    # Most columns of text are known by their first cell.
    if not NUMBER.fullmatch(cells[0]):
        return False
    text = "\n".join([*cells, ""])
    return NUMBERS.fullmatch(text) is not None and text.count("\n") == len(cells)


def _to_text(cells):
    if all(cells):
        return np.array(cells)
    return np.array([cell or None for cell in cells], dtype=object)
