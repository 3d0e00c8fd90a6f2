"""Kinds of files, the columns that arguments name, and arrays of .npz and .npy without pickle.

Every message has the argument, the file, what was found and what to do.
"""

import os
import re
import zipfile
from collections import Counter
from contextlib import contextmanager, suppress

import numpy as np

from skfairfr.utils._errors import LackingError, invalid, suggestion
from skfairfr.utils._labels import count_labels, is_unknown
from skfairfr.utils._validation import check_sequence, warn_caller

KINDS = {b"\x93NUMPY": "npy", b"PK": "npz", b"PAR1": "parquet", b"\x80": "pickle"}
KINDS[b"\x89HDF"] = "hdf5"
# A name, and a vector in brackets, or in the binary form of Kaldi.
ARK, BINARY_ARK = re.compile(rb"\S+[ \t]+\[[\s\d.+-]"), re.compile(rb"\S+ \0B")
GZIP = b"\x1f\x8b"
TEXT_TABLES = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
TABLE_FORMATS = f"{', '.join(TEXT_TABLES)} or .parquet"
SCORE_NAMES = ("score", "scores", "similarity")
# So many names of columns are listed in a message.
MOST_LISTED = 30
# So many labels that are not found are listed, and so many values that have no meaning.
FEW, FEW_WORDS = 3, 5
# numpy's types of numbers, text and dates. Objects and structures are left out.
KINDS_OF_LABELS = "biufSUmM"
# Words that programs write for a missing value, in lower case.
WORDS_FOR_UNKNOWN = ("", "nan", "none", "null", "nat", "<na>", "n/a")
# Those in a column of scores or decisions, where NA is no label.
WORDS_FOR_MISSING = (*WORDS_FOR_UNKNOWN, "na")
# Values of a column that are read before the others, to see what it is about.
MOST_READ = 100
# Labels that a group of unknown people may have.
WORDS_FOR_NO_GROUP = (*WORDS_FOR_MISSING, "unknown", "?", "-", "not stated", "missing")
# No leading zero: 007 is a label.
NUMBER = re.compile(
    r"[+-]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII
)
WITH_COMMA = re.compile(NUMBER.pattern.replace(r"\.", ","), re.ASCII)
INTEGER = re.compile(r"0|-?[1-9]\d{0,17}", re.ASCII)
# No text contains these bytes. A list is known by that.
NO_TEXT = re.compile(rb"[\x00-\x08\x0e-\x1f]")


def kind_of(path, argument="path"):
    """The kind of a file, by its first bytes or, for text, by its name.

    Parameters
    ----------
    path : str
    argument : str, default="path"
        For messages, here and below.

    Returns
    -------
    kind : {"npy", "npz", "parquet", "csv", "ark", "list", "pickle", "hdf5", "kaldi", "other"}
        "csv" is any text table, "ark" a text archive of Kaldi, "list" any other text.
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
    if ARK.match(start) or BINARY_ARK.match(start):
        return "ark" if ARK.match(start) else "kaldi"
    is_text = start.startswith(GZIP) or (start and not NO_TEXT.search(start))
    return "list" if is_text else "other"


def suffix_of(path):
    """The end of a file's name, in lower case, with .gz also the end before it."""
    stem, suffix = os.path.splitext(os.fspath(path).lower())
    return os.path.splitext(stem)[1] + suffix if suffix == ".gz" else suffix


# ---- errors --------------------------------------------------------------------------


def file_error(argument, path, problem, remedy=()):
    """The error about the file that an argument names. ``problem`` follows the path."""
    return invalid(argument, path, f"{path!r}{problem}", remedy)


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
    """The first candidate that is there, or None if there is none."""
    return next((name for name in candidates if name in present), None)


def choose_all(wanted, present, path, remedy=None):
    """Columns of the file that are wanted. One error names all that are missing.

    Parameters
    ----------
    wanted : list of (str, tuple of str)
        Arguments and the columns or arrays that they may name. The first is taken.
    present : sequence of str
    path : str
    remedy : str, default=None
        Remedy. If None, name others that are there.

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
    several = str(missing[0][1][0]).split(",")
    if first == "attributes" and {*several} <= {*present}:
        instead = f"name each by itself: {' '.join(f'-a {name}' for name in several)}."
    if not others:
        listed = "and all its columns are in use"
        instead = "add what is missing to the file."
        if first == "attributes":
            instead = "add it, or give a table of the people with --metadata."
    near = suggestion(missing[0][1][0], [name for name in present if name not in names])
    instead = f"{instead} {near}".rstrip()
    lacking = dict.fromkeys(f"no {' or '.join(map(repr, c))}" for _, c in missing)
    problem = f"{''.join(f'and {one} ' for one in more)}cannot be found: {path!r} "
    problem += f"contains {' and '.join(lacking)}, {listed};"
    raise invalid(first, missing[0][1][0], problem, remedy or instead, LackingError)


def check_columns(columns):
    """The requested columns, each with the argument that names it, or None for all.

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
        missing = [row for row, label in enumerate(labels.tolist()) if label is None]
        rows = data_row(missing[0])
        if len(missing) > 1:
            rows = f"{len(missing):,} rows, first in {rows}"
        problem = f"{name!r} is missing in {rows};"
        raise invalid(argument, name, problem, remedy)


def few(labels, what):
    """How many labels, "people" or "images", these are, and the first of them."""
    distinct = [*map(repr, np.unique(labels.astype(str)).tolist())]
    if len(distinct) == 1:
        what = {"people": "person", "images": "image"}[what]
    listed = ", ".join([*distinct[:FEW], *["…"] * (len(distinct) > FEW)])
    return f"{len(distinct):,} {what} ({listed})"


def meanings(values, rows, words, argument, name, remedy, missing=None):
    """Meaning of each cell of a column by its words, ndarray of int (n_rows,).

    Parameters
    ----------
    values : ndarray, shape (n_values,)
    rows : ndarray of int, shape (n_rows,)
        Place of the value of each row.
    words : dict of str -> int
        In lower case, spaces in place of hyphens.
    argument, name : str
        Of the argument, and of the column that it names.
    remedy : str
    missing : int, default=None
        What None and NaN mean. If None, no cell may be missing.
    """
    distinct, place = np.unique(values.astype(str), return_inverse=True)
    # 1.0 as 1: so a column with a missing cell contains it.
    texts = (
        text.removesuffix(".0").removeprefix("+") for text in map(in_words, distinct)
    )
    codes = [words.get(text, -2) for text in texts]
    codes = np.array(codes, dtype=np.intp)[place]
    if missing is not None:
        codes[is_unknown(values)] = missing
    codes = codes[rows]
    if (wrong := codes < -1).any():
        found = [*map(repr, np.unique(values[rows][wrong].astype(str)).tolist())]
        known = ", ".join(filter(None, words))
        problem = f"{name!r} contains {', '.join(found[:FEW_WORDS])}"
        if len(found) > FEW_WORDS:
            problem += f" and {len(found) - FEW_WORDS:,} other values"
        problem += f" (first in {data_row(wrong.argmax())}). Every value must be one of {known}, "
        problem += "in any case;"
        raise invalid(argument, name, problem, remedy)
    return codes


def in_words(cell):
    """A cell in lower case, with spaces for hyphens between letters."""
    return re.sub(r"(?<=\w)[-_]", " ", cell.strip().casefold())


def words_of(column):
    """Different values of a column in lower case, a set. Unknown ones left out."""
    known = np.unique(column[~is_unknown(column)].astype(str))
    return {re.sub("[-_]", " ", text.strip().casefold()) for text in known}


def warn_of_words(labels, name, path):
    """Warn of labels that are words for a missing value, of column ``name`` in a file."""
    if labels.dtype.kind not in "OU":
        return
    counts = count_labels(labels)
    found = (text for text in counts if isinstance(text, str))
    words = sorted(text for text in found if text.strip().lower() in WORDS_FOR_NO_GROUP)
    if words:
        count = sum(map(counts.get, words))
        warn_caller(
            f"{path!r}: {' and '.join(map(repr, words))} in {name!r} ({count:,} "
            f"{'row' if count == 1 else 'rows'}) {'is' if len(words) == 1 else 'are'} taken as "
            "a label, not as unknown. For unknown, leave the field empty.",
            UserWarning,
        )


def is_missing(cell):
    """Whether there is no score in a cell."""
    return str(cell).strip().lower() in WORDS_FOR_MISSING


def is_number(cell):
    """Whether a cell is a number, with a decimal point or comma."""
    return bool(NUMBER.fullmatch(cell.strip()) or WITH_COMMA.fullmatch(cell.strip()))


def is_score(cell):
    """Whether a cell is a number, infinity or a word for a missing score."""
    infinite = cell.lower().lstrip("+-") in ("inf", "infinity")
    return infinite or is_missing(cell) or is_number(cell)


# ---- arrays --------------------------------------------------------------------------


def read_npy(path):
    """The array of an .npy file, memory-mapped, for reading only."""
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception as error:  # numpy's, of many kinds
        raise _unreadable(path, "the array", "embedding", error) from None


def read_scores(path, name=None):
    """The array of an .npy file, or that of scores in an .npz file."""
    if kind_of(path) == "npy":
        return read_npy(path)
    with open_npz(path) as archive:
        wanted = [("score", (name,) if name else SCORE_NAMES)]
        return archive.read(*choose_all(wanted, archive.names, path))


def _unreadable(path, what, name, error):
    problem = f": {what} cannot be read without pickle, which can run code ({error})."
    remedy = f"Save {name!r} as numbers, or labels as {name}.astype(str) with '' for unknown. "
    remedy += "If it is saved so, the file is damaged: copy it again."
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
        if not archive.names and arrays.zip.namelist():
            problem = " is an archive without arrays of numpy, such as a workbook, or what torch.save writes;"
            raise file_error("path", path, problem, "write arrays with numpy.savez.")
        check_names(archive.names, path, "path")
        yield archive


class Archive:
    """Arrays of an open .npz file, read one by one."""

    read_as = None

    def __init__(self, arrays, path):
        members = arrays.zip.namelist()
        self.names = [name for name in arrays.files if f"{name}.npy" in members]
        self._arrays = arrays
        self.path = path

    def read(self, name):
        """One array."""
        try:
            array = self._arrays[name]
            if not isinstance(array, np.ndarray):
                raise ValueError("no array")
            return array
        except Exception as error:  # zipfile's, zlib's and numpy's, of many kinds
            raise _unreadable(self.path, repr(name), name, error) from None

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
            problem = f": {name!r} contains bytes that are no UTF-8 text;"
            remedy = f"save {name!r} as numpy.asarray(..., dtype=str)."
            raise file_error("path", self.path, problem, remedy) from None
        # A text array has no other missing value.
        return np.where(labels == "", None, texts) if (labels == "").any() else labels

    values = labels

    def headers(self):
        """Shape and type of every array that has them, a dict by name."""
        formats, found = np.lib.format, {}
        for name in self.names:
            with suppress(Exception), self._arrays.zip.open(f"{name}.npy") as member:
                version = "{}_{}".format(*formats.read_magic(member))
                read = getattr(formats, f"read_array_header_{version}")
                shape, _, dtype = read(member)
                found[name] = shape, dtype
        return found

    def plain_columns(self, n_rows):
        """Names of the arrays with one number or string a row, by their headers."""
        return [
            name
            for name, (shape, dtype) in self.headers().items()
            if shape == (n_rows,) and dtype.kind in KINDS_OF_LABELS
        ]
