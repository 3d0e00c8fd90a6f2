"""Columns of .csv and .parquet files.

A .csv file is comma-separated, in UTF-8, and starts with a row of names. Its cells are
text; this module decides which columns are numbers, and changes no label into a number.
"""

import csv
import re

import numpy as np

from skfairfr.datasets._files import damaged, file_error, kind_of
from skfairfr.utils._errors import Argument, Message
from skfairfr.utils._labels import to_columns

# No leading zero: 007 is a label.
NUMBER = re.compile(r"[+-]?((0|[1-9]\d*)(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
INTEGER = re.compile(r"0|-?[1-9]\d{0,17}", re.ASCII)
# Integers up to here are exact as floats, to which a missing cell converts them.
LARGEST_FLOAT_INTEGER = 2**53


class Table:
    """Named columns of one length.

    Parameters
    ----------
    columns : dict of str -> list of str or ndarray, shape (n_rows,)
        Text cells, an empty one missing; or values that have a type.
    path, argument : str
        For messages.
    """

    def __init__(self, columns, path, argument):
        self.names = list(columns)
        self.n_rows = len(next(iter(columns.values())))
        self._columns = columns
        self._path = path
        self._argument = argument

    def plain_columns(self, n_rows):
        """All names: a table holds one cell for each row."""
        return self.names

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
        for row, value in enumerate(values.tolist()):
            if isinstance(value, str) and not NUMBER.fullmatch(value):
                raise file_error(
                    self._argument,
                    self._path,
                    f": column {name!r} must hold numbers; got {value!r} in row {row} "
                    "(from 0).",
                    "Name another column.",
                )
        return np.array([np.nan if v is None else v for v in values], dtype=np.float64)

    def _convert(self, names, convert):
        columns = [self._columns[name] for name in names]
        if isinstance(columns[0], list):
            joint = convert([cell for column in columns for cell in column])
            columns = np.split(joint, len(columns))
        return columns[0] if len(columns) == 1 else columns


def read_table(path, argument="path"):
    """A .csv or .parquet file.

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
            "give a .csv or .parquet file with a row for each row of the data.",
        )
    columns = (_read_csv if kind == "csv" else _read_parquet)(path, argument)
    if not columns or not len(next(iter(columns.values()))):
        raise file_error(
            argument,
            path,
            " holds no row;",
            "give a table with names in its first line.",
        )
    return Table(columns, path, argument)


def _read_csv(path, argument):
    try:
        # A byte order mark, as spreadsheets write it, is no part of the first name.
        with open(path, encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, skipinitialspace=True)
            names = next(reader, [])
            _check_names(names, path, argument)
            columns = [[] for _ in names]
            for row in filter(None, reader):
                if len(row) != len(names):
                    raise file_error(
                        argument,
                        path,
                        f": line {reader.line_num} has {len(row)} cells but the first "
                        f"line names {len(names)} columns;",
                        "put text that holds commas between double quotes.",
                    )
                for column, cell in zip(columns, row, strict=True):
                    column.append(cell)
    except UnicodeDecodeError:
        raise file_error(
            argument, path, " is not UTF-8 text;", "save it as CSV UTF-8."
        ) from None
    except csv.Error as error:
        raise damaged(argument, path, error) from None
    return dict(zip(names, columns, strict=True))


def _check_names(names, path, argument):
    if len(names) == 1 and re.search("[;\t]", names[0]):
        raise file_error(
            argument,
            path,
            f" has one column, {names[0]!r};",
            "separate columns by commas.",
        )
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise file_error(
            argument, path, f" names the column {twice[0]!r} twice;", "rename one."
        )


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
    # Damaged files raise OSError, ArrowInvalid and others.
    try:
        table = pyarrow.parquet.read_table(path)
    except Exception as error:
        raise damaged(argument, path, error) from None
    _check_names(table.column_names, path, argument)
    return {
        name: to_columns(table.select([name]), name)[0] for name in table.column_names
    }


def _to_labels(cells):
    if all(map(INTEGER.fullmatch, set(cells))):
        return np.array(list(map(int, cells)), dtype=np.int64)
    return _to_text(cells)


def _to_values(cells):
    distinct = set(cells)
    known = {cell for cell in distinct if not _is_missing_number(cell)}
    if not known or not all(map(NUMBER.fullmatch, known)):
        return _to_text(cells)
    if known == distinct and all(map(INTEGER.fullmatch, known)):
        return np.array(list(map(int, cells)), dtype=np.int64)
    if any(c.isdigit() and int(c) > LARGEST_FLOAT_INTEGER for c in known):
        return _to_text(cells)
    number = {cell: float(cell) if cell in known else np.nan for cell in distinct}
    return np.array([number[cell] for cell in cells])


def _to_text(cells):
    if all(cells):
        return np.array(cells)
    return np.array([cell or None for cell in cells], dtype=object)


def _is_missing_number(cell):
    return cell == "" or cell.lower() == "nan"
