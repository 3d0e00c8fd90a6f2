"""Text tables, lists and .parquet files as named columns.

A text is in UTF-8. Its content decides what separates cells, and whether its first line names
the columns. Without names it is a list in one of the layouts of :mod:`_layouts`. Labels are not
changed, and a column is numbers only if every cell is one.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zlib
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from functools import cached_property
from importlib.util import find_spec
from itertools import islice
from typing import NamedTuple

import numpy as np

from skfairfr.datasets import _files, _layouts
from skfairfr.datasets._files import (
    INTEGER,
    MOST_READ,
    NUMBER,
    file_error,
    is_score,
    kind_of,
)
from skfairfr.datasets._layouts import LFW
from skfairfr.utils._errors import ArgumentError
from skfairfr.utils._labels import to_column
from skfairfr.utils._validation import float_type

# Below this size the csv module is done before pyarrow is imported.
LARGE = 2**19
# Bytes that are looked at to learn how a text is written.
MOST_STARTED = 2**20
# Integers up to here are exact as floats, to which a missing cell converts them.
LARGEST_FLOAT_INTEGER = 2**53
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", " ": "spaces"}
# Bytes that separate words.
ONE_SPACE = bytes.maketrans(b"\t\r\x0b\x0c", b" \n  ")
# Decimal commas that may separate thousands.
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+", re.ASCII)


class Cells:
    """Text cells of a column: all that occur, and for each row the index of its own."""

    # The cells as numbers, or None if they have to be looked at.
    numbers = None

    def __init__(self, column):
        known, self.n_rows, self._answers = {}, len(column), {}
        codes = [known.setdefault(cell, len(known)) for cell in column]
        self.values, self.codes = list(known), np.array(codes, dtype=np.intp)

    @classmethod
    def of(cls, values, codes):
        """Cells from texts that may be equal and, for each row, the index of its own."""
        cells = cls(values)
        cells.codes, cells.n_rows = cells.codes[codes], codes.size
        return cells

    def some(self):
        """A few cells, a list."""
        return self.values[:MOST_READ]

    def joined(self, other, join):
        """Cells that a function makes of those of two columns in each row."""
        both, codes = np.unique(
            self.codes * len(other.values) + other.codes, return_inverse=True
        )
        ends = zip(*np.divmod(both, len(other.values)), strict=True)
        return Cells.of([join(self.values[a], other.values[b]) for a, b in ends], codes)

    def every(self, is_such):
        """Whether a function is true of every cell. The answer is kept."""
        if is_such not in self._answers:
            answer = all(map(is_such, self.some()))
            if answer and not (is_such is is_score and self.numbers is not None):
                answer = all(map(is_such, self.values))
            self._answers[is_such] = answer
        return self._answers[is_such]


class ArrowCells(Cells):
    """The same of a column of pyarrow, whose cells are compared only if they have to be."""

    def __init__(self, column):
        self._column, self.n_rows, self._answers = column, len(column), {}

    @cached_property
    def _encoded(self):
        return self._column.dictionary_encode().combine_chunks()

    @cached_property
    def values(self):
        return self._encoded.dictionary.to_pylist()

    @cached_property
    def codes(self):
        return self._encoded.indices.to_numpy()

    def some(self):
        return self._column.slice(0, MOST_READ).to_pylist()

    @cached_property
    def numbers(self):
        import pyarrow

        with suppress(pyarrow.ArrowInvalid):
            return self._column.cast(pyarrow.float64()).to_numpy()


class Table:
    """Named columns of one length.

    Parameters
    ----------
    columns : dict of str -> Cells, ndarray or ListColumn, shape (n_rows,)
        Text cells, an empty one missing; values that have a type; or lists and structs,
        which are neither labels nor numbers.
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

    def labels(self, *names):
        """Labels of people or images, converted the same way for several columns.

        Integers where every cell is one, written without leading zeros, else text, None
        where missing. A list of columns where several are named.
        """
        return self._convert(names, _to_labels)

    def values(self, *names):
        """As labels, but numbers where every known cell is one, nan where missing."""
        return self._convert(names, _to_values)

    def distinct(self, name):
        """Labels that occur in a column, each once or more, and the place of each row's own."""
        column = self._columns[name]
        if not isinstance(column, Cells):
            return self.labels(name), np.arange(self.n_rows)
        return _to_labels([cell.strip() for cell in column.values]), column.codes

    def some(self, name):
        """A few labels of a column."""
        column = self._columns[name]
        if isinstance(column, Cells):
            return _to_labels([cell.strip() for cell in column.some()])
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

    def _convert(self, names, convert):
        columns = [self._columns[name] for name in names]
        for name, column in zip(names, columns, strict=True):
            if isinstance(column, ListColumn):
                problem = f": column {name!r} contains {column.kind}, no "
                problem += "numbers or labels;"
                remedy = "name another column, or write one value into each cell."
                raise file_error(*self._file, problem, remedy)
        if isinstance(columns[0], Cells):
            cells = [cell.strip() for c in columns for cell in c.values]
            if self._commas and convert is _to_values:
                cells = self._with_points(names, cells)
            joint = convert(cells)
            ends = np.cumsum([len(cells.values) for cells in columns])
            parts = np.split(joint, ends[:-1])
            columns = [p[c.codes] for c, p in zip(columns, parts, strict=True)]
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


class ListColumn(NamedTuple):
    """A column of lists or structs of a .parquet file."""

    kind: str
    column: object

    def parts(self):
        """How long each list is, 0 of what is none, and all numbers end to end."""
        if not is_list(self.kind):
            return np.zeros(len(self.column), dtype=np.intp), np.zeros(0)
        lengths = self.column.combine_chunks().value_lengths().fill_null(0)
        flat = self.column.combine_chunks().flatten()
        return lengths.to_numpy(), flat.to_numpy(zero_copy_only=False)


def is_list(kind):
    """Whether the name of a type of pyarrow is that of lists."""
    return "list" in kind.partition("<")[0]


def to_vector(cell):
    """The numbers of a cell such as '[0.1, 0.2]' or '0.1 0.2', an array, or none of another."""
    words = cell.strip().removeprefix("[").removesuffix("]").replace(",", " ").split()
    try:
        return np.array(words, dtype=np.float64)
    except ValueError:
        return np.zeros(0)


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


# ---- text ----------------------------------------------------------------------------


class Text:
    """A text, what separates its cells, and whether its first line names the columns.

    Attributes
    ----------
    names : list of str or None
        None of a text without names. Such are all of which no line looks like names.
    """

    def __init__(self, path, argument, is_list, stated=None, most=-1):
        self.file, self.is_list = (argument, path), is_list
        self.content = content_of(path, most)
        # Bytes that are no UTF-8 are found when all of them are read.
        start = self.content[:MOST_STARTED].decode("utf-8", "replace")
        lines = [*islice(filter(str.strip, io.StringIO(start, newline="")), MOST_READ)]
        # As of CelebA: how many rows, then names of all columns but that of the images.
        self.n_rows, head = None, [line.split() for line in lines[:3]]
        if is_list and [1, len(head[-1]) - 1] == [*map(len, head[:-1])]:
            if head[0][0].isdecimal() and not any(map(_files.is_number, head[1])):
                self.n_rows = int(head[0][0])
                rest = self.content.lstrip().partition(b"\n")[2].lstrip()
                self.content = b"image " + rest
                lines = [f"image {lines[1]}", *lines[2:]]
        self.delimiter = self._delimiter(lines)
        if self.delimiter == " ":
            self.content = _single_spaces(self.content)
        rows = [*filter(None, self._rows(lines, self.delimiter))]
        self.first, *self.rows = rows or [[]]
        # Whether its words for genuine pairs may be names of columns too.
        self.names, self.may_have_names = None, False
        if self._starts_with_names(stated):
            self.names = [name.strip() for name in self.first]
            _files.check_names(self.names, path, argument)

    def _rows(self, lines, delimiter, strict=False):
        """A reader of the cells of lines."""
        options = {"delimiter": delimiter, "skipinitialspace": True, "strict": strict}
        if delimiter == " ":
            lines = (" ".join(line.split()) for line in lines)
        return csv.reader(lines, **options)

    def _delimiter(self, lines):
        """Separator of cells: in every line as many of them, and several."""
        is_tsv, text = _files.suffix_of(self.file[1]).startswith(".tsv"), "".join(lines)
        usual = " " if self.is_list else "\t" if is_tsv else ","
        counts = {
            one: [*map(len, filter(None, self._rows(lines, one)))]
            for one in dict.fromkeys((usual, *",;\t"))
        }
        counts = {one: n for one, n in counts.items() if n and n[0] > 1}
        fitting = {one: n[0] for one, n in counts.items() if len({*n}) == 1}
        if len(fitting) > 1 and not re.search(r"(?<!\d),|,(?!\d)", text):
            fitting.pop(",", None)  # decimal commas
        words = re.sub(r"[^\S\n]*[,;\t][^\S\n]*", ",", text.strip())
        if len(fitting) > 1 and not re.search(r"[^\S\n]", words):
            fitting.pop(" ", None)  # only next to another separator
        if fitting.get(" ") == fitting.get("\t"):
            fitting.pop("\t", None)
        if len(fitting) > 1:
            found = [f"{SEPARATORS[one]} ({n})" for one, n in fitting.items()]
            problem = f" may have columns between {' or '.join(found)} "
            problem += f"in its first line {lines[0]!r};"
            remedy = "leave out the one that separates no columns."
            raise file_error(*self.file, problem, remedy)
        return next(iter([*fitting, *counts]), usual)

    def _starts_with_names(self, stated):
        """Whether the first line names the columns."""
        if stated is not None:
            return stated == "table"
        first, *others = [[c.strip() for c in row] for row in (self.first, *self.rows)]
        both = [*zip(first, zip(*others, strict=False), strict=False)]
        if {cell.casefold() for cell in first} & _layouts.USUAL_NAMES:
            return True
        numbers = [cell for cell in first if _files.is_number(cell)]
        counted = ([str(k + one) for k in range(len(numbers))] for one in (0, 1))
        if numbers and (len(numbers) < 3 or numbers not in counted):
            return False
        if any(all(map(is_score, cells)) and not is_score(c) for c, cells in both):
            return True
        again = {cell.casefold() for cell, column in both if cell and cell in column}
        self.may_have_names = again <= {*_layouts.Y_TRUE}
        return not (again or self.is_list)

    def read(self):
        """Cells of every column, without those that are names."""
        quoted = b'"' in self.content
        # pyarrow hides all rows below a quote that is never closed, and keeps spaces, and
        # with them the quotes, in front of a quoted cell.
        is_even = self.content.count(b'"') % 2 == 0
        is_plain = is_even and self.delimiter.encode() + b' "' not in self.content
        is_large = len(self.content) >= LARGE and find_spec("pyarrow") is not None
        if is_large and (is_plain or not quoted):
            return self._read_by_pyarrow(quoted)
        return self._read_by_csv()

    def _read_by_csv(self):
        text = io.StringIO(self.content.decode(), newline="")
        rows, n_columns = self._rows(text, self.delimiter, strict=True), len(self.first)
        kept = []
        for row in filter(None, rows):
            if len(row) != n_columns:
                n_cells = f"line {rows.line_num} has {len(row)} cells"
                raise csv.Error(f"{n_cells} but the first line has {n_columns}")
            kept.append(row)
        kept = kept[self.names is not None :]
        return [Cells(column) for column in zip(*kept, strict=True)]

    def _read_by_pyarrow(self, quoted):
        import pyarrow
        from pyarrow import csv as arrow

        # Columns by number: names may fill several lines, or have spaces before them.
        numbered = [str(column) for column in range(len(self.first))]
        types = dict.fromkeys(numbered, pyarrow.string())
        quotes = {"quote_char": '"' if quoted else False, "newlines_in_values": quoted}
        try:
            table = arrow.read_csv(
                pyarrow.py_buffer(self.content),
                arrow.ReadOptions(column_names=numbered),
                arrow.ParseOptions(delimiter=self.delimiter, **quotes),
                arrow.ConvertOptions(column_types=types),
            )
        except pyarrow.ArrowInvalid as error:
            self.content.decode()  # an error if it is no UTF-8
            raise csv.Error(str(error)) from None
        return [ArrowCells(c) for c in table.slice(int(self.names is not None)).columns]


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
                folds = _layouts.read_folds(text, argument, path)
            if folds is None:
                raise
        if is_lfw and text.first:
            folds = _layouts.read_folds(text, argument, path, required=True)
        if folds is not None:
            first, i, second, j, fold = *text.read(), folds
            places = {name: k for k, name in enumerate(first.values)}
            own = np.array([places.get(name, -1) for name in second.values])
            genuine = (own[second.codes] == first.codes).astype(int)
            columns = [first, second, first.joined(i, _layouts.image_name)]
            columns += [
                second.joined(j, _layouts.image_name),
                Cells.of(["0", "1"], genuine),
            ]
            columns.append(Cells.of([*map(str, range(fold[-1] + 1))], fold))
            read_as = LFW
        elif names is None and columns:
            read_as = _layouts.recognised(columns, layouts, stated, *where)
            if not text.is_list and stated is None and text.may_have_names:
                raise _layouts.several(*where, (_layouts.TABLE, read_as))
        names = read_as.columns if read_as else names or ()
        n_rows = columns[0].n_rows if columns else 0
        if text.n_rows not in (None, n_rows):
            problem = f": its first line announces {text.n_rows:,} rows, and there are {n_rows:,};"
            raise file_error(argument, path, problem, "copy it again.")
        columns = dict(zip(names, columns, strict=bool(n_rows)))
        words, commas = str(read_as or "") or None, text.delimiter != ","
        return Table(columns, n_rows, path, argument, words, commas)


@contextmanager
def explained(path, argument):
    """Errors of libraries in words about the file."""
    try:
        yield
    except csv.Error as error:
        remedy = "close each double quote, put text with separators between two, and write as "
        remedy += "many cells into each line."
        raise file_error(argument, path, f" is no table ({error});", remedy) from None
    except UnicodeDecodeError:
        problem = " is not UTF-8 text;"
        raise file_error(argument, path, problem, "save it as CSV UTF-8.") from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise _files.damaged(argument, path, error) from None


def content_of(path, most=-1):
    """Bytes of a file, unpacked, without a mark of the byte order, as spreadsheets write it."""
    with open(path, "rb") as file:
        # By its first bytes: a file loses or keeps the ending .gz in many ways.
        is_packed = file.read(2) == _files.GZIP
        file.seek(0)
        with gzip.GzipFile(fileobj=file) if is_packed else nullcontext(file) as content:
            return content.read(most).removeprefix(codecs.BOM_UTF8)


def _single_spaces(content):
    """Lines whose words are separated by single spaces, without empty lines at the start."""
    if any(byte in content for byte in (b"\t", b"\r", b"\x0b", b"\x0c")):
        content = content.replace(b"\r\n", b"\n").translate(ONE_SPACE)
    white = np.frombuffer(content, dtype=np.uint8) <= ord(" ")
    if (white[1:] & white[:-1]).any():
        for two, one in ((b"  ", b" "), (b" \n", b"\n"), (b"\n ", b"\n")):
            while two in content:
                content = content.replace(two, one)
    is_plain = content[:1].strip() and content[-2:-1].strip()
    return content if is_plain else content.strip()


# ---- parquet -------------------------------------------------------------------------


@contextmanager
def _parquet(path, argument):
    """An open .parquet file."""
    try:
        import pyarrow.parquet
    except ModuleNotFoundError:
        words = "which needs pyarrow; pip install pyarrow, or save it as .csv."
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
            else to_column(table.column(name), name)
            for name, kind in zip(schema.names, schema.types, strict=True)
        }
        return Table(columns, len(table), path, argument)


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
