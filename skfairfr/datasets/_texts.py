"""Texts of tables and lists: layouts without names, what separates cells, what cells are.

A column of cells keeps the texts that occur, each once, and what they are as labels or numbers.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zlib
from contextlib import contextmanager, nullcontext, suppress
from functools import cached_property
from importlib.util import find_spec
from itertools import islice
from typing import NamedTuple

import numpy as np

from skfairfr.datasets import _files
from skfairfr.datasets._files import INTEGER, MOST_READ, NUMBER, file_error, is_score
from skfairfr.utils._errors import invalid

# Words for genuine pairs and for others, those first that are about pairs in any column.
YES, NO = (
    "genuine, gen, mated, mate, target, tar, tgt, 1, true, t, yes, y, positive, same, match",
    "impostor, imposter, imp, nonmated, non mated, nonmate, nontarget, non target, "
    "0, -1, false, f, no, n, negative, different, diff, nonmatch, non match, no match",
)
GENUINE = dict.fromkeys(YES.split(", "), 1) | dict.fromkeys(NO.split(", "), 0)
OF_PAIRS = {*YES.split(", ")[:7], *NO.split(", ")[:8]}
PEOPLE, IMAGES = ("identity_1", "identity_2"), ("image_1", "image_2")
# Usual names of the column that shows which pairs are genuine.
Y_TRUE = "y_true genuine is_genuine label target is_target same is_same same_person "
Y_TRUE += "same_identity mated is_mated match is_match truth ground_truth gt"
Y_TRUE = tuple(Y_TRUE.split())
# Names of columns, by one of which a line is known to consist of names.
USUAL_NAMES = (
    "score scores distance similarity identity identities person image accepted "
)
USUAL_NAMES += "gender sex age label enrol enroll enrolment test probe reference"
USUAL_NAMES = {*USUAL_NAMES.split(), *PEOPLE, *IMAGES, *({*Y_TRUE} - {*GENUINE})}
# How many digits the number of an image has in the name of its file, in LFW and RFW.
DIGITS = 4
IMAGE_NUMBER = re.compile(r"0*[1-9]\d*", re.ASCII)
# A line of theirs about one person, and lines about two.
ONE_PERSON = re.compile(rb"^(\S+) (\d+) (\d+)\n", re.MULTILINE)
TWO_PEOPLE = re.compile(rb"(?:\S+ \d+ \S+ \d+\n)*")


class Layout(NamedTuple):
    """Columns of a list.

    Attributes
    ----------
    name : str
        As ``--layout`` takes it.
    columns : tuple of str
    """

    name: str
    columns: tuple

    def fits(self, columns, doubt=0):
        """Whether text columns can be these, with a degree of doubt."""
        return not self.misfits(columns, doubt)

    def misfits(self, columns, doubt=2):
        """Names of the columns that cannot be these, a list."""
        if len(columns) != len(self.columns):
            return [*self.columns]
        found = zip(self.columns, columns, strict=True)
        return [name for name, cells in found if not _can_be(name, cells, doubt)]

    def __str__(self):
        return f"{self.name} ({' '.join(self.columns)})"


# Whose lists these are: IJB's (next to scores), any, VoxCeleb's and Kaldi's (also template pairs
# of IJB), scores of Kaldi and others, WeSpeaker's, SpeechBrain's, VoxCeleb's with scores, bob's.
PAIR_LISTS = (
    Layout("labels", ("y_true",)),
    Layout("pairs", IMAGES),
    Layout("voxceleb", ("y_true", *IMAGES)),
    Layout("kaldi", (*IMAGES, "y_true")),
    Layout("scores", (*IMAGES, "score")),
    Layout("wespeaker", (*IMAGES, "score", "y_true")),
    Layout("speechbrain", (*IMAGES, "y_true", "score")),
    Layout("voxceleb-scores", ("y_true", *IMAGES, "score")),
    Layout("bob4", (*PEOPLE, "probe_label", "score")),
    Layout("bob5", ("identity_1", "image_1", "identity_2", "image_2", "score")),
)
# pairs.txt of LFW and RFW, whose lines have three or four words.
LFW = Layout("lfw", (*PEOPLE, *IMAGES, "y_true", "fold"))
# The first line names the columns.
TABLE = Layout("table", ())
NAMES = tuple(one.name for one in (TABLE, *PAIR_LISTS, LFW))


def _can_be(name, cells, doubt):
    """Whether a column can be scores, words for genuine pairs, or names.

    Without doubt, only words for genuine pairs are nothing else. With a doubt of 2, images may
    be called by numbers such as 1.50.
    """
    is_label = cells.every(_is_genuine_word)
    if name == "y_true":
        return is_label
    if not doubt and is_label:
        return False
    if name == "score":
        return cells.every(_files.is_score)
    if name == "rank":
        return cells.every(_files.INTEGER.fullmatch)
    if name in (*PEOPLE, "probe_label") or (name in IMAGES and doubt < 2):
        is_number = cells.every(_files.is_score)
        return not is_number or cells.every(_files.INTEGER.fullmatch)
    return True


def _is_genuine_word(cell):
    return _files.in_words(cell) in GENUINE


def recognised(columns, layouts, stated, argument, path, first):
    """The layout of a list.

    Parameters
    ----------
    columns : list of cells
    layouts : tuple of Layout
        Those that may be.
    stated : str or None
        The name of the layout, if the caller gave it.
    argument, path : str
        For messages.
    first : str
        The first line of the list.

    Raises
    ------
    ArgumentError
        If no layout fits, several do, or the stated one does not.
    """
    if stated is not None:
        (layout,) = (one for one in (*PAIR_LISTS, LFW) if one.name == stated)
        if wrong := layout.misfits(columns):
            problem = f"{stated!r} needs the columns {layout}, and {path!r} has {len(columns)} "
            problem += f"({first!r}), in which {wrong[0]} is not found;"
            raise invalid("layout", stated, problem, "name another.")
        return layout
    found = ([one for one in layouts if one.fits(columns, k)] for k in range(2))
    fitting = next(filter(None, found), [])
    lax = [] if fitting else [one for one in layouts if one.fits(columns, 2)]
    if any("score" in one.columns for one in lax):  # names of images may be scores too
        raise several(argument, path, first, lax)
    fitting += lax
    if LFW in layouts and len(columns) in (3, 4) and _are_numbered(columns):
        fitting.append(LFW)
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise several(argument, path, first, fitting)
    known = ", ".join(map(str, layouts))
    problem = f" has {len(columns)} columns without names ({first!r}), in none of the forms of "
    remedy = (
        "lists. Use a table (.csv, .tsv, .parquet) whose first line names its columns. "
    )
    raise _files.file_error(argument, path, problem + remedy, f"Known forms: {known}.")


def _are_numbered(columns):
    """Whether columns are a name and two numbers of its images, or a name and a number, twice."""
    numbers = columns[1::2] if len(columns) == 4 else columns[1:]
    names = [cells for cells in columns if cells not in numbers]
    is_name = not any(cells.every(_files.is_score) for cells in names)
    return is_name and all(cells.every(IMAGE_NUMBER.fullmatch) for cells in numbers)


def several(argument, path, first, fitting):
    """The error that a file can be read in several ways."""
    problem = f" may be {' or '.join(map(str, fitting))}. Its first line is {first!r}."
    return _files.file_error(
        argument, path, problem, "State which it is (layout, --layout)."
    )


def read_folds(text, argument, path, required=False):
    """Fold of each pair of a text in the layout of LFW, or None if it is not in that layout.

    Each line has a name and two numbers of its images, a pair of one person, or a name and a
    number, twice. The first may be the number of folds and of the genuine pairs of each, or
    that of pairs alone.

    Parameters
    ----------
    text : Text
        Its content becomes the four words of every pair.
    argument, path : str
        For messages.
    required : bool, default=False
        Whether another layout is an error.
    """
    head = re.match(rb"(\d+)(?: (\d+))?\n", text.content)
    body = text.content[head.end() if head else 0 :].rstrip(b"\n") + b"\n"
    body = re.sub(rb"\n\n+", b"\n", body)
    text.content, text.first = ONE_PERSON.sub(rb"\1 \2 \1 \3\n", body), [""] * 4
    if not TWO_PEOPLE.fullmatch(text.content):
        if not required:
            return None
        row, line = next(
            (row, line)
            for row, line in enumerate(body.splitlines(), 1 + bool(head))
            if not (
                ONE_PERSON.fullmatch(line + b"\n") or TWO_PEOPLE.fullmatch(line + b"\n")
            )
        )
        problem = f": line {row} ({line.decode()!r}) has no name with two numbers, "
        problem += "and no name with a number, twice;"
        raise _files.file_error(argument, path, problem, "correct it, or the layout.")
    bytes_of = np.frombuffer(body, dtype=np.uint8)
    starts = np.append(0, np.flatnonzero(bytes_of == ord("\n"))[:-1] + 1)
    n_words = np.add.reduceat(bytes_of == ord(" "), starts, dtype=np.intp) + 1
    folds = np.cumsum(np.diff(n_words, prepend=3) < 0)
    if head:
        n_folds, n_each = map(int, head.groups() if head[2] else (b"1", head[1]))
        if starts.size != 2 * n_folds * n_each:
            problem = f": its first line announces {2 * n_folds * n_each:,} pairs, and there are "
            problem += f"{starts.size:,};"
            raise _files.file_error(argument, path, problem, "copy it again.")
        folds = np.arange(starts.size) // (2 * n_each)
    return folds


def image_name(person, number):
    """Name of an image in the data set."""
    return f"{person}_{number:0>{DIGITS}}"


def features_of(names, stem=None):
    """Columns numbered from 0 or 1, as 'e_0', 'e_1' and 'e_2', a list. The longest such run.

    Parameters
    ----------
    names : list of str
    stem : str, default=None
        Common part of the names. If None: runs of three columns or more.
    """
    numbered = {}
    for name in names:
        if (found := re.fullmatch(r"(.*?)[\[(]?(0|[1-9]\d*)[\])]?", name)) is not None:
            numbered.setdefault(found[1], {})[int(found[2])] = name
    runs = [
        [of[k] for k in sorted(of)]
        for start, of in numbered.items()
        if sorted(of) in ([*range(len(of))], [*range(1, len(of) + 1)])
        and (len(of) > 2 if stem is None else start == stem)
    ]
    return max(runs, key=len, default=[])


# ---- cells ---------------------------------------------------------------------------


# Integers up to here are exact as floats, to which a missing cell converts them.
LARGEST_FLOAT_INTEGER = 2**53


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


def to_labels(cells):
    if all(map(INTEGER.fullmatch, cells)):
        return np.array(list(map(int, cells)), dtype=np.int64)
    return _to_text(cells)


def to_values(cells):
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


# ---- texts ---------------------------------------------------------------------------


# Below this size the csv module is done before pyarrow is imported.
LARGE = 2**19
# Bytes that are looked at to learn how a text is written.
MOST_STARTED = 2**20
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", " ": "spaces"}
# Bytes that separate words.
ONE_SPACE = bytes.maketrans(b"\t\r\x0b\x0c", b" \n  ")


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
        if {cell.casefold() for cell in first} & USUAL_NAMES:
            return True
        numbers = [cell for cell in first if _files.is_number(cell)]
        counted = ([str(k + one) for k in range(len(numbers))] for one in (0, 1))
        if numbers and (len(numbers) < 3 or numbers not in counted):
            return False
        if any(all(map(is_score, cells)) and not is_score(c) for c, cells in both):
            return True
        again = {cell.casefold() for cell, column in both if cell and cell in column}
        self.may_have_names = again <= {*Y_TRUE}
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
