"""Cells of .csv and .tsv files, plain or compressed by gzip, as text.

Python's csv module decides what a file means. It needs seconds for 400,000 rows, so pyarrow
or polars reads a large file wherever its bytes leave no doubt that the result is the same;
any other file, and one that they refuse, goes to the csv module.
"""

import csv
import gzip
import io
import re
import zlib
from typing import NamedTuple

import numpy as np

from skfairfr.datasets._files import check_names, damaged, file_error, suffix_of

# Below this size the csv module is done before pyarrow is imported.
LARGE = 2**19
BOM = b"\xef\xbb\xbf"
GZIP = b"\x1f\x8b"
QUOTE, SPACE, NEWLINE, RETURN = b'" \n\r'
# Rows that show whether a column repeats its cells.
N_SHOWN = 4096


class Cells(NamedTuple):
    """Text cells of a column.

    Attributes
    ----------
    values : list of str
        One for each row or, with codes, each one that occurs.
    codes : ndarray, shape (n_rows,) or None
        Index into ``values`` of each row.
    """

    values: list
    codes: np.ndarray | None = None

    @property
    def n_rows(self):
        """Number of rows."""
        return len(self.values if self.codes is None else self.codes)

    def by_row(self, converted):
        """What ``values`` were converted to, for each row."""
        return converted if self.codes is None else converted[self.codes]


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
        content = _content(path)
        names = next(_reader(_text(content), delimiter), [])
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
    except (csv.Error, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise damaged(argument, path, error) from None
    return dict(zip(names, columns, strict=True))


def _content(path):
    with open(path, "rb") as file:
        content = file.read()
    # By its first bytes: a file loses or keeps the ending .gz in many ways.
    return gzip.decompress(content) if content.startswith(GZIP) else content


def _text(content):
    """Lines of a file; a byte order mark, as spreadsheets write it, is no part of them."""
    return io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", newline="")


def _reader(lines, delimiter):
    return csv.reader(lines, delimiter=delimiter, skipinitialspace=True)


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
    reader = _reader(_text(content), delimiter)
    n_columns = len(next(reader, []))
    columns = [[] for _ in range(n_columns)]
    for row in filter(None, reader):
        if len(row) != n_columns:
            between = "tabs" if delimiter == "\t" else "commas"
            raise file_error(
                argument,
                path,
                f": line {reader.line_num} has {len(row)} cells but the first "
                f"line names {n_columns} columns;",
                f"put text that holds {between} between double quotes.",
            )
        for column, cell in zip(columns, row, strict=True):
            column.append(cell)
    return [Cells(column) for column in columns]


# ---- large files ---------------------------------------------------------------------


class Body(NamedTuple):
    """A file below its first line, of which csv readers think alike.

    Attributes
    ----------
    content : bytes
    delimiter : str
    n_columns : int
    n_delimiters, n_lines : int
        Those that end a cell and those that end a row.
    has_quotes, has_broken_cells : bool
        Whether a cell stands between quotes, and whether a line ends inside one.
    """

    content: bytes
    delimiter: str
    n_columns: int
    n_delimiters: int
    n_lines: int
    has_quotes: bool
    has_broken_cells: bool


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
    below = content[_start_of_rows(content, delimiter) :]
    if b"\0" in below or below.startswith(BOM):
        return None
    # Readers differ about a carriage return alone.
    if below.count(b"\r") != below.count(b"\r\n"):
        return None
    found = _structure(below, delimiter)
    if found is None:
        return None
    is_indented, *counts = found
    body = Body(below, delimiter, n_columns, *counts)
    for read in READERS:
        try:
            columns = read(body)
        except ImportError:
            continue
        if columns is None or not is_indented:
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


def _structure(content, delimiter):
    """Whether a cell has spaces before it, and what Body counts; None where unclear."""
    separator = delimiter.encode()
    # As if a line ended before the first and after the last byte.
    n_lines = content.count(b"\n") + (not content.endswith(b"\n"))
    n_delimiters = content.count(separator)
    if b'"' not in content:
        starts = (separator + b" ", b"\n ")
        is_indented = content.startswith(b" ") or any(s in content for s in starts)
        return is_indented, n_delimiters, n_lines, False, False
    framed = np.frombuffer(b"\n" + content + b"\n", dtype=np.uint8)
    quotes = np.flatnonzero(framed == QUOTE)
    if quotes.size % 2 or not _are_quotes_plain(framed, quotes, separator[0]):
        return None
    starts = np.isin(framed, (separator[0], NEWLINE))[:-1]
    indented = np.flatnonzero(starts & (framed[1:] == SPACE))
    if (~_is_quoted(indented, quotes)).any():
        # Spaces before a cell go, those inside quotes stay: the csv module knows which.
        return None
    broken = int(_is_quoted(np.flatnonzero(framed == NEWLINE), quotes).sum())
    inside = int(_is_quoted(np.flatnonzero(framed == separator[0]), quotes).sum())
    return False, n_delimiters - inside, n_lines - broken, True, broken > 0


def _are_quotes_plain(framed, quotes, separator):
    """Whether quotes stand about whole cells, and are doubled inside.

    Each second quote, from the first on, then opens a cell or is the latter of a pair;
    each one after it closes a cell or is the former of a pair.
    """
    before, after = framed[quotes[::2] - 1], framed[quotes[1::2] + 1]
    return bool(
        np.isin(before, (separator, NEWLINE, QUOTE)).all()
        and np.isin(after, (separator, NEWLINE, RETURN, QUOTE)).all()
    )


def _is_quoted(positions, quotes):
    return np.searchsorted(quotes, positions) % 2 == 1


def read_by_pyarrow(body):
    """Cells of each column by pyarrow; None where it refuses or the csv module would."""
    import pyarrow
    import pyarrow.compute
    from pyarrow import csv as arrow_csv

    names = [str(i) for i in range(body.n_columns)]
    # Whatever its reason, the csv module will tell.
    try:
        table = arrow_csv.read_csv(
            pyarrow.py_buffer(body.content),
            read_options=arrow_csv.ReadOptions(column_names=names),
            parse_options=arrow_csv.ParseOptions(
                delimiter=body.delimiter,
                quote_char='"' if body.has_quotes else False,
                newlines_in_values=body.has_broken_cells,
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pyarrow.string()),
                strings_can_be_null=False,
            ),
        )
    except pyarrow.ArrowException:
        return None
    length = pyarrow.compute.binary_length
    longest = [pyarrow.compute.max(length(column)).as_py() for column in table.columns]
    if not table.num_rows or max(longest) > csv.field_size_limit():
        return None
    return [_cells_of_arrow(column) for column in table.columns]


def _cells_of_arrow(column):
    if not _is_repetitive(column.slice(0, N_SHOWN).to_numpy().tolist()):
        return Cells(column.to_numpy().tolist())
    chunks = column.dictionary_encode().unify_dictionaries().chunks
    codes = np.concatenate([chunk.indices.to_numpy() for chunk in chunks])
    return Cells(chunks[0].dictionary.to_pylist(), codes)


def read_by_polars(body):
    """As read_by_pyarrow, by polars."""
    import polars

    # It reads too short a row as if empty cells followed, and may take the end of a line
    # inside a cell for that of a row. The counts tell.
    if body.n_columns == 1 or body.has_broken_cells:
        return None
    if body.n_delimiters != body.n_lines * (body.n_columns - 1):
        return None
    names = [str(i) for i in range(body.n_columns)]
    try:
        frame = polars.read_csv(
            body.content,
            has_header=False,
            separator=body.delimiter,
            quote_char='"' if body.has_quotes else None,
            schema=dict.fromkeys(names, polars.String),
        )
    except polars.exceptions.PolarsError:
        return None
    columns = [column.fill_null("") for column in frame.get_columns()]
    longest = [column.str.len_bytes().max() for column in columns]
    if frame.height != body.n_lines or max(longest) > csv.field_size_limit():
        return None
    return [_cells_of_polars(column) for column in columns]


def _cells_of_polars(column):
    import polars

    if not _is_repetitive(column.head(N_SHOWN).to_list()):
        return Cells(column.to_list())
    values = column.unique(maintain_order=True)
    codes = column.cast(polars.Enum(values)).to_physical().to_numpy()
    return Cells(values.to_list(), codes)


def _is_repetitive(cells):
    """Whether it pays to convert each cell that occurs once for all its rows."""
    return 2 * len(set(cells)) <= len(cells)


# The first that is installed reads.
READERS = (read_by_pyarrow, read_by_polars)
