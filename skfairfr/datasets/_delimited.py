"""Cells of .csv and .tsv files, plain or compressed by gzip, as text.

Python's csv module decides what a file means. It needs seconds for 400,000 rows, so pyarrow
or polars reads a large file wherever its bytes leave no doubt that the result is the same;
any other file, and one that they refuse, goes to the csv module.
"""

import csv
import gzip
import io
import math
import os
import re
import zlib
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from skfairfr.datasets._files import (
    available_bytes,
    check_fits,
    check_names,
    damaged,
    file_error,
    suffix_of,
    too_large,
)

# A text and its cells are held at one time, at least; gzip packs so many bytes into one at most.
COPIES, MOST_PACKED = 2, 1032
# Below this size of a file, or number of texts, Python is done before pyarrow is imported.
LARGE = 2**19
MANY = 10_000
BOM = b"\xef\xbb\xbf"
GZIP = b"\x1f\x8b"
QUOTE, SPACE, NEWLINE, RETURN = b'" \n\r'


class Cells(NamedTuple):
    """Text cells of a column.

    Attributes
    ----------
    values : list of str
        All that occur, once or several times.
    codes : ndarray, shape (n_rows,)
        Index into ``values`` of each row.
    """

    values: list
    codes: np.ndarray


def read_delimited(path, argument):
    """Columns of a .csv or .tsv file.

    Parameters
    ----------
    path, argument : str
        The second for messages.

    Returns
    -------
    columns : dict of str -> Cells
    """
    delimiter = "\t" if suffix_of(path).startswith(".tsv") else ","
    try:
        content = _content(path, argument)
        _, names = next(_rows(content, delimiter), (0, []))
        _check_separator(names, delimiter, path, argument)
        check_names(names, path, argument)
        columns = None
        if names and len(content) >= LARGE:
            columns = read_fast(content, len(names), delimiter)
        if columns is None:
            columns = _read_by_loop(content, delimiter, path, argument)
    except UnicodeDecodeError:
        raise file_error(
            argument, path, " is not UTF-8 text;", "save it as CSV UTF-8."
        ) from None
    except MemoryError:
        raise too_large(argument, path) from None
    except (csv.Error, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise damaged(argument, path, error) from None
    return dict(zip(names, columns, strict=True))


def _content(path, argument):
    check_fits(COPIES * os.path.getsize(path), argument, path)
    with open(path, "rb") as file:
        # By its first bytes: a file loses or keeps the ending .gz in many ways.
        if file.read(len(GZIP)) != GZIP:
            file.seek(0)
            return file.read()
        file.seek(0)
        # A file may unpack to a thousand times its size, and does not say so.
        unpacked = COPIES * MOST_PACKED * os.path.getsize(path)
        available = available_bytes(unpacked)
        most = available / COPIES
        with gzip.GzipFile(fileobj=file) as packed:
            content = packed.read(-1 if math.isinf(most) else int(most) + 1)
    if len(content) > most:
        why = f"it unpacks to more than {most / 1e9:.2g} GB, cells take at least as much, "
        why += f"and {available / 1e9:.2g} GB are available"
        raise too_large(argument, path, why=why)
    return content


def _text(content):
    """Lines of a file; a byte order mark, as spreadsheets write it, is no part of them."""
    return io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", newline="")


def _reader(lines, delimiter):
    return csv.reader(lines, delimiter=delimiter, skipinitialspace=True)


def _rows(content, delimiter):
    """Each row, and the number of its last line.

    Raises
    ------
    csv.Error
        If a quote is never closed: all lines below it would be one cell.
    """
    ended = False

    def lines():
        nonlocal ended
        yield from _text(content)
        ended = True

    reader, line = _reader(lines(), delimiter), 0
    for row in reader:
        if ended:  # inside this row
            raise csv.Error(f"a double quote from line {line + 1} on is never closed")
        line = reader.line_num
        yield line, row


def _check_separator(names, delimiter, path, argument):
    others, separators, ending = ("[;\t]", "commas", ".tsv")
    if delimiter == "\t":
        others, separators, ending = ("[;,]", "tabs", ".csv")
    if len(names) != 1 or not re.search(others, names[0]):
        return
    remedy = f"separate columns by {separators}."
    if ";" not in names[0]:
        remedy = f"separate columns by {separators}, or let its name end in {ending}."
    raise file_error(argument, path, f" has one column, {names[0]!r};", remedy)


def _read_by_loop(content, delimiter, path, argument):
    """Cells of each column, by the csv module."""
    rows = _rows(content, delimiter)
    n_columns = len(next(rows, (0, []))[1])
    columns = [[] for _ in range(n_columns)]
    for line, row in rows:
        if not row:
            continue
        if len(row) != n_columns:
            between = "tabs" if delimiter == "\t" else "commas"
            raise file_error(
                argument,
                path,
                f": line {line} has {len(row)} cells but the first "
                f"line names {n_columns} columns;",
                f"put text that holds {between} between double quotes.",
            )
        for column, cell in zip(columns, row, strict=True):
            column.append(cell)
    return [_cells_of_list(column) for column in columns]


def _cells_of_list(column):
    known = {}
    codes = [known.setdefault(cell, len(known)) for cell in column]
    return Cells(list(known), np.array(codes, dtype=np.intp))


# ---- large files ---------------------------------------------------------------------


class Body(NamedTuple):
    """A file below its first row, of which csv readers think alike.

    Attributes
    ----------
    content : bytes
        Of the whole file.
    start : int
        Number of bytes of the first row.
    delimiter : str
    n_columns : int
    quotes : ndarray, shape (n_quotes,)
        Places of the quotes in :func:`_framed`, in ascending order.
    """

    content: bytes
    start: int
    delimiter: str
    n_columns: int
    quotes: np.ndarray

    @property
    def has_broken_cells(self):
        """Whether a line ends inside a cell."""
        if not self.quotes.size:
            return False
        n_lines = self.content.count(b"\n", self.start)
        return self.places("\n").size != n_lines

    def places(self, character):
        """Where a character stands outside quotes, as in :func:`_framed`."""
        framed = _framed(self.content, self.start)[1:-1]
        places = np.flatnonzero(framed == ord(character)) + 1
        if not self.quotes.size:
            return places
        return places[~_is_quoted(places, self.quotes)]

    def n_even_rows(self):
        """Number of rows; None where one has more or fewer cells than another."""
        ends = self.places("\n")
        if not self.content.endswith(b"\n"):
            ends = np.append(ends, len(self.content))
        places = self.places(self.delimiter)
        if places.size != ends.size * (self.n_columns - 1):
            return None
        places = places.reshape(ends.size, self.n_columns - 1)
        if (places[:, -1] > ends).any() or (places[1:, 0] < ends[:-1]).any():
            return None
        return ends.size


def read_fast(content, n_columns, delimiter):
    """Cells of each column as the csv module reads them; None where that is not certain.

    Parameters
    ----------
    content : bytes
    n_columns : int
    delimiter : {",", "\\t"}

    Returns
    -------
    columns : list of Cells or None
    """
    start = _start_of_rows(content, delimiter)
    if start == len(content) or content.startswith(BOM, start):
        return None
    # Readers differ about a carriage return alone. To look for one takes no time.
    returns = content.find(b"\r", start) >= 0
    if returns and content.count(b"\r", start) != content.count(b"\r\n", start):
        return None
    if content.find(b"\0", start) >= 0:
        return None
    quotes = np.empty(0, dtype=np.int64)
    if content.find(b'"', start) >= 0:
        framed = _framed(content, start)
        quotes = np.flatnonzero(framed == QUOTE)
        if not _are_plain(quotes, framed, ord(delimiter)):
            return None
    body = Body(content, start, delimiter, n_columns, quotes)
    for read in READERS:
        try:
            columns = read(body)
        except ImportError:
            continue
        if columns is None or quotes.size or content.find(b" ", start) < 0:
            return columns
        return [Cells([v.lstrip(" ") for v in c.values], c.codes) for c in columns]
    return None


def _start_of_rows(content, delimiter):
    """Number of bytes of the first row, which may stand on several lines."""
    lines = []

    def remembered():
        for line in _text(content):
            lines.append(line)
            yield line

    next(_reader(remembered(), delimiter))
    return len("".join(lines).encode()) + len(BOM) * content.startswith(BOM)


def _framed(content, start):
    """Bytes from a place on, as if a line ended before the first and after the last."""
    return np.frombuffer(b"\n" + content[start:] + b"\n", dtype=np.uint8)


def _are_plain(quotes, framed, delimiter):
    """Whether quotes stand about whole cells, are doubled inside, and no cell is indented.

    Each second quote, from the first on, then opens a cell or is the latter of a pair;
    each one after it closes a cell or is the former of a pair. Of spaces, those before a
    cell go and those inside quotes stay, which only the csv module tells apart.
    """
    if quotes.size % 2:
        return False
    before, after = framed[quotes[::2] - 1], framed[quotes[1::2] + 1]
    ends = (framed == delimiter) | (framed == NEWLINE)
    indented = np.flatnonzero(ends[:-1] & (framed[1:] == SPACE))
    return bool(
        np.isin(before, (delimiter, NEWLINE, QUOTE)).all()
        and np.isin(after, (delimiter, NEWLINE, RETURN, QUOTE)).all()
        and _is_quoted(indented, quotes).all()
    )


def _is_quoted(places, quotes):
    return np.searchsorted(quotes, places) % 2 == 1


def read_by_pyarrow(body):
    """Cells of each column by pyarrow; None where it refuses or the csv module would."""
    import pyarrow
    import pyarrow.compute
    from pyarrow import csv as arrow_csv

    names = [str(i) for i in range(body.n_columns)]
    # Whatever its reason, the csv module will tell.
    try:
        table = arrow_csv.read_csv(
            pyarrow.py_buffer(memoryview(body.content)[body.start :]),
            read_options=arrow_csv.ReadOptions(column_names=names),
            parse_options=arrow_csv.ParseOptions(
                delimiter=body.delimiter,
                quote_char='"' if body.quotes.size else False,
                newlines_in_values=body.has_broken_cells,
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pyarrow.large_string()),
                strings_can_be_null=False,
            ),
        )
    except MemoryError:
        raise
    except pyarrow.ArrowException:
        return None
    length = pyarrow.compute.binary_length
    longest = [pyarrow.compute.max(length(column)).as_py() for column in table.columns]
    if not table.num_rows or max(longest) > csv.field_size_limit():
        return None
    return [_cells_of_arrow(column) for column in table.columns]


def _cells_of_arrow(column):
    encoded = column.combine_chunks().dictionary_encode()
    values = encoded.dictionary.to_numpy(zero_copy_only=False)
    return Cells(values.tolist(), encoded.indices.to_numpy())


def read_by_polars(body):
    """As read_by_pyarrow, by polars."""
    import polars

    # It reads too short a row as if empty cells followed, may leave out an empty cell of
    # too long a row, and may take the end of a line inside a cell for that of a row.
    if body.n_columns == 1 or body.has_broken_cells:
        return None
    n_rows = body.n_even_rows()
    if n_rows is None:
        return None
    names = [str(i) for i in range(body.n_columns)]
    try:
        frame = polars.read_csv(
            body.content[body.start :],
            has_header=False,
            separator=body.delimiter,
            quote_char='"' if body.quotes.size else None,
            schema=dict.fromkeys(names, polars.String),
        )
    except polars.exceptions.PolarsError:
        return None
    columns = [column.fill_null("") for column in frame.get_columns()]
    longest = [column.str.len_bytes().max() for column in columns]
    if frame.height != n_rows or max(longest) > csv.field_size_limit():
        return None
    return [_cells_of_polars(column) for column in columns]


def _cells_of_polars(column):
    import polars

    values = column.unique(maintain_order=True)
    codes = column.cast(polars.Enum(values)).to_physical()
    return Cells(values.to_list(), codes.to_numpy())


def to_floats(texts):
    """Numbers as Python reads their texts, (n_texts,).

    pyarrow also rounds each to the nearest float, and needs a tenth of the time.
    """
    if len(texts) >= MANY:
        try:
            import pyarrow
        except ImportError:
            pass
        else:
            with suppress(pyarrow.ArrowException):
                return pyarrow.array(texts).cast(pyarrow.float64()).to_numpy()
    return np.array(list(map(float, texts)))


# The first that is installed reads.
READERS = (read_by_pyarrow, read_by_polars)
