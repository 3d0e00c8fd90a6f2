"""Text tables, lists and .parquet files as named columns.

A text is in UTF-8. Its content decides what separates cells, and whether its first line names
the columns. Without names it is a list in one of the layouts of :mod:`_texts`. Labels are not
changed, and a column is numbers only if every cell is one.
"""

from __future__ import annotations

import csv
import re
from contextlib import contextmanager, suppress
from contextvars import ContextVar

import numpy as np

from skfairfr.datasets import _files, _texts
from skfairfr.datasets._files import INTEGER, MOST_READ, file_error, kind_of
from skfairfr.datasets._texts import (
    LFW,
    MOST_STARTED,
    Cells,
    ListColumn,
    Text,
    explained,
    is_list,
    to_labels,
    to_values,
    to_vector,
)
from skfairfr.utils._errors import ArgumentError
from skfairfr.utils._labels import CodedColumn, to_column
from skfairfr.utils._validation import float_type

# Decimal commas that may separate thousands.
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+", re.ASCII)


class Table:
    """Named columns of one length.

    Parameters
    ----------
    columns : dict of str -> Cells, ndarray or ListColumn, shape (n_rows,)
        Text cells, in which an empty one is missing, values that have a type, or lists and
        structs, which are not labels or numbers.
    n_rows : int
    path, argument : str
        For messages.
    read_as : str, default=None
        The layout, if the file has no names of columns.
    commas : bool, default=False
        Whether numbers may have a decimal comma.
    """

    def __init__(self, columns, n_rows, path, argument, read_as=None, commas=False):
        self.names = list(columns)
        self.n_rows = n_rows
        self._columns = columns
        self.path = path
        self._file = argument, path
        self.read_as = read_as
        self._commas = commas

    def starts(self, names):
        """Cells of the parts before the first / of text columns, or None if a cell has none."""
        cells = [self._columns[name] for name in names]
        parts = [[cell.partition("/") for cell in own.values] for own in cells]
        if not all(start and slash for own in parts for start, slash, _ in own):
            return None
        both = zip(cells, parts, strict=True)
        return [Cells.of([start for start, *_ in own], c.codes) for c, own in both]

    def add(self, columns):
        """Add columns of as many rows, a dict."""
        self._columns, self.names = self._columns | columns, [*self.names, *columns]

    def plain_columns(self, _):
        """Names of the columns with one number or text for each row."""
        columns = self._columns.items()
        return [n for n, column in columns if not isinstance(column, ListColumn)]

    def labels(self, *names, coded=False):
        """Labels of people or images, converted the same way for several columns.

        Integers where every cell is one, written without leading zeros, else text, None
        where missing. A list of columns where several are named. Text cells become
        CodedColumns if ``coded``.
        """
        return self._convert(names, to_labels, coded)

    def values(self, *names, coded=False):
        """As labels, but numbers where every known cell is one, nan where missing."""
        return self._convert(names, to_values, coded)

    def distinct(self, name):
        """Labels that occur in a column, each once or more, and the place of each row's own."""
        column = self._columns[name]
        if not isinstance(column, Cells):
            return self.labels(name), np.arange(self.n_rows)
        return to_labels([cell.strip() for cell in column.values]), column.codes

    def some(self, name):
        """A few labels of a column."""
        column = self._columns[name]
        if isinstance(column, Cells):
            return to_labels([cell.strip() for cell in column.some()])
        return self.labels(name)[:: max(self.n_rows // MOST_READ, 1)]

    def numbers(self, name):
        """A column of numbers, nan where missing, or an error if it contains anything else."""
        column = self._columns[name]
        if isinstance(column, Cells) and column.numbers is not None:
            return column.numbers
        values = self.values(name)
        try:
            if values.dtype.kind in "mM":
                raise TypeError("it contains times")
            dtype = float_type(values.dtype)
            if values.dtype.kind in "OU":
                values = [None if _files.is_missing(v) else v for v in values.tolist()]
            return np.array(values, dtype=dtype)  # None as nan
        except (TypeError, ValueError) as error:
            problem = f": column {name!r} must contain numbers ({error});"
            raise file_error(*self._file, problem, "name another column.") from None

    def vectors(self, names):
        """Numbers of several columns, or of one with a list in each cell, (n_rows, n)."""
        if len(names) > 1:
            return np.stack([self.numbers(name) for name in names], axis=1)
        column = self._columns[names[0]]
        if isinstance(column, ListColumn):
            lengths, numbers = column.parts()
        else:
            vectors = [to_vector(column.values[code]) for code in column.codes]
            lengths, numbers = np.array([*map(len, vectors)]), np.concatenate(vectors)
        if (wrong := (lengths != lengths[0]) | (lengths == 0)).any():
            row = wrong.argmax()
            problem = f": {names[0]!r} has {lengths[row]} numbers in "
            problem += f"{_files.data_row(row)}, and {lengths[0]} in the first;"
            remedy = "write each embedding as numbers, all of them without '...'."
            raise file_error(*self._file, problem, remedy)
        return numbers.reshape(lengths.size, -1)

    def _convert(self, names, convert, coded):
        columns = [self._columns[name] for name in names]
        for name, column in zip(names, columns, strict=True):
            if isinstance(column, ListColumn):
                problem = f": column {name!r} contains {column.kind}, no "
                problem += "numbers or labels;"
                remedy = "name another column, or write one value into each cell."
                raise file_error(*self._file, problem, remedy)
        if isinstance(columns[0], Cells):
            cells = [cell.strip() for c in columns for cell in c.values]
            if self._commas and convert is to_values:
                cells = self._with_points(names, cells)
            joint = convert(cells)
            ends = np.cumsum([len(cells.values) for cells in columns])
            parts = np.split(joint, ends[:-1])
            both = zip(parts, columns, strict=True)
            columns = [CodedColumn.of(part, cells.codes) for part, cells in both]
        if not coded:
            columns = [np.array(column) for column in columns]
        return columns[0] if len(columns) == 1 else columns

    def _with_points(self, names, cells):
        """Cells with a point in place of the decimal comma, if all of them are numbers."""
        written = [cell for cell in cells if "," in cell]
        others = [
            cell for cell in cells if "," not in cell and not _files.is_missing(cell)
        ]
        is_such = all(map(_files.WITH_COMMA.fullmatch, written))
        if not written or not is_such or not all(map(INTEGER.fullmatch, others)):
            return cells
        if all(map(THOUSANDS.fullmatch, written)):
            one = written[0]
            problem = f": {one!r} in column {names[0]!r} may be "
            problem += f"{one.replace(',', '.')} or {one.replace(',', '')};"
            remedy = "write numbers with a decimal point, and without separators."
            raise file_error(*self._file, problem, remedy)
        return [cell.replace(",", ".") for cell in cells]


# Tables that were read, by path, in the block of kept_tables.
KEPT = ContextVar("tables", default=None)


@contextmanager
def kept_tables():
    """A dict that has the tables read in the block, by their paths."""
    token = KEPT.set({})
    try:
        yield KEPT.get()
    finally:
        KEPT.reset(token)


def read_table(path, argument="path", layouts=(), stated=None):
    """A Table from a file.

    Parameters
    ----------
    path : str
    argument : str, default="path"
        Name of the file, for messages.
    layouts : tuple of Layout, default=()
        Those that a text without names of columns may have. None to raise an error for such texts.
    stated : str, default=None
        Name of the layout, if the caller gave it. "table": the first line names columns.
    """
    kind = kind_of(path, argument)
    if kind == "parquet":
        table = _read_parquet(path, argument)
    elif kind in ("csv", "list"):
        table = _read_text(path, argument, kind == "list", layouts, stated)
    else:
        remedy = (
            f"give a {_files.TABLE_FORMATS} file with a row for each row of the data."
        )
        raise file_error(argument, path, " is no table;", remedy)
    if not table.n_rows:
        remedy = "give a table with names in its first line."
        raise file_error(argument, path, " contains no row;", remedy)
    if KEPT.get() is not None:
        KEPT.get()[path] = table
    return table


def start_of(path, argument="path"):
    """Names of the columns of a table and which of them have lists, or none of a list."""
    kind = kind_of(path, argument)
    if kind == "parquet":
        with _parquet(path, argument) as file:
            schema = file.schema_arrow
            types = zip(schema.names, map(str, schema.types), strict=True)
            return schema.names, [name for name, one in types if is_list(one)]
    with explained(path, argument):
        text = Text(path, argument, kind == "list", most=MOST_STARTED)
    names, columns = text.names or [], [*zip(*text.rows, strict=False)]
    both = [*zip(names, columns, strict=False)]
    return names, [n for n, cells in both if all(to_vector(c).size > 1 for c in cells)]


def column_names(path):
    """Names of the columns or arrays of a file, or none if it cannot be read, or has none."""
    with suppress(ValueError, ImportError):
        if kind_of(path) == "npz":
            with _files.open_npz(path) as archive:
                return archive.names
        return start_of(path)[0]
    return []


def _read_text(path, argument, is_list, layouts, stated):
    """A Table from a text."""
    with explained(path, argument):
        text, read_as = Text(path, argument, is_list, stated), None
        names, first = text.names, text.delimiter.join(text.first)
        if names is None and not layouts:
            problem = f" has no names of columns: its first line is {first!r};"
            raise file_error(argument, path, problem, "write a line of names there.")
        folds, is_lfw, where = None, stated == LFW.name, (argument, path, first)
        try:
            columns = [] if is_lfw else text.read()
        except csv.Error:
            if LFW in layouts and text.delimiter == " " and stated is None:
                folds = _texts.read_folds(text, argument, path)
            if folds is None:
                raise
        if is_lfw and text.first:
            folds = _texts.read_folds(text, argument, path, required=True)
        if folds is not None:
            first, i, second, j, fold = *text.read(), folds
            places = {name: k for k, name in enumerate(first.values)}
            own = np.array([places.get(name, -1) for name in second.values])
            genuine = (own[second.codes] == first.codes).astype(int)
            columns = [first, second, first.joined(i, _texts.image_name)]
            columns += [
                second.joined(j, _texts.image_name),
                Cells.of(["0", "1"], genuine),
            ]
            columns.append(Cells.of([*map(str, range(fold[-1] + 1))], fold))
            read_as = LFW
        elif names is None and columns:
            read_as = _texts.recognised(columns, layouts, stated, *where)
            if not text.is_list and stated is None and text.may_have_names:
                raise _texts.several(*where, (_texts.TABLE, read_as))
        names = read_as.columns if read_as else names or ()
        n_rows = columns[0].n_rows if columns else 0
        if text.n_rows not in (None, n_rows):
            problem = f": its first line announces {text.n_rows:,} rows, and there are {n_rows:,};"
            raise file_error(argument, path, problem, "copy it again.")
        columns = dict(zip(names, columns, strict=bool(n_rows)))
        words, commas = str(read_as or "") or None, text.delimiter != ","
        return Table(columns, n_rows, path, argument, words, commas)


# ---- parquet -------------------------------------------------------------------------


@contextmanager
def _parquet(path, argument):
    """An open .parquet file."""
    try:
        import pyarrow.parquet
    except ModuleNotFoundError:
        words = "which needs pyarrow: pip install pyarrow, or save it as .csv."
        raise ImportError(f"{argument} {path!r}, {words}") from None
    # Damaged files raise OSError, ArrowInvalid and others, some of them as late as when
    # a column is converted.
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            _files.check_names(file.schema_arrow.names, path, argument)
            yield file
    except ArgumentError:
        raise
    except Exception as error:
        raise _files.damaged(argument, path, error) from None


def _read_parquet(path, argument):
    """A Table from a .parquet file."""
    with _parquet(path, argument) as file:
        from pyarrow.types import is_nested

        schema, table = file.schema_arrow, file.read()
        table.validate(full=True)
        columns = {
            name: ListColumn(str(kind), table.column(name))
            if is_nested(kind)
            else _labels_of(table.column(name), name)
            for name, kind in zip(schema.names, schema.types, strict=True)
        }
        return Table(columns, len(table), path, argument)


def _labels_of(column, name):
    """A column of a .parquet file. Texts are coded."""
    from pyarrow.types import is_large_string, is_string

    if not (is_string(column.type) or is_large_string(column.type)):
        return to_column(column, name)
    coded = column.dictionary_encode().combine_chunks()
    values = np.array([*coded.dictionary.to_pylist(), None], dtype=object)
    return CodedColumn.of(values, coded.indices.fill_null(len(values) - 1).to_numpy())
