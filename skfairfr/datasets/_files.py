"""Formats of files, and arrays from .npz and .npy files, read without pickle.

Every message names the argument, the file, what was found and what to do.
"""

import math
import os
import sys
import zipfile
from collections import Counter
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from skfairfr._core import _memory
from skfairfr.utils._errors import Argument, ArgumentError, place, plain
from skfairfr.utils._validation import check_texts, special_file, warn_caller

KINDS = {b"\x93NUMPY": "npy", b"PK": "npz", b"PAR1": "parquet", b"\x80": "pickle"}
TEXT_TABLES = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
TABLE_FORMATS = f"{', '.join(TEXT_TABLES)} or .parquet"
# A table of labels or scores has far fewer columns, and each costs time of its own.
MOST_COLUMNS = 10_000
# Files that need less than this are read without a look at what may be used.
SMALL = 2**27
# So many names of columns are listed in a message.
MOST_LISTED = 30
# Of numpy's types: numbers, text and dates; neither objects nor structures.
KINDS_OF_LABELS = "biufSUmM"
# Words that programs write for a missing value, in lower case.
WORDS_FOR_UNKNOWN = ("", "nan", "none", "null", "nat", "<na>", "n/a")


def kind_of(path, argument="path"):
    """The kind of a file, by its first bytes or, for text, by its name.

    Parameters
    ----------
    path : str
    argument : str, default="path"
        For messages, here and below.

    Returns
    -------
    kind : {"npy", "npz", "parquet", "csv", "pickle", "other"}
        "csv" is any text table.
    """
    try:
        special = special_file(path)
        start = b"" if special else _first_bytes(path)
    except FileNotFoundError:
        raise file_error(
            argument,
            path,
            " does not exist;",
            f"give the path of an .npz, .npy, {TABLE_FORMATS} file.",
        ) from None
    except (OSError, ValueError) as error:  # a path with a null character
        raise file_error(
            argument,
            path,
            f" cannot be read ({getattr(error, 'strerror', error)});",
            "give the path of a file that can.",
        ) from None
    if special:
        raise file_error(
            argument,
            path,
            f" is {special} and no file;",
            "write the data into a file, which is read more than once, and give that.",
        )
    for magic, kind in KINDS.items():
        if start.startswith(magic):
            return kind
    return "csv" if suffix_of(path) in TEXT_TABLES else "other"


def _first_bytes(path):
    with open(path, "rb") as file:
        return file.read(8)


def suffix_of(path):
    """The end of a file's name, in lower case; with .gz also the end before it."""
    stem, suffix = os.path.splitext(os.fspath(path).lower())
    return os.path.splitext(stem)[1] + suffix if suffix == ".gz" else suffix


def file_error(argument, path, problem, remedy=()):
    """The error about the file that an argument names.

    Parameters
    ----------
    argument, path : str
    problem : str
        Follows the path.
    remedy : str or tuple of str and Argument, default=()
    """
    about = (Argument(argument), f" {path!r}{problem}")
    return ArgumentError(*about, remedy=remedy, value=path)


def damaged(argument, path, why):
    """The error about a file that is not whole."""
    return file_error(
        argument, path, f" is cut short or damaged ({why});", "copy or write it again."
    )


def unknown_format(argument, path):
    """The error about a file of no format that is read."""
    return file_error(
        argument,
        path,
        f" is neither a {TABLE_FORMATS} file (labels, scored pairs) nor an .npz or .npy "
        "file (embeddings);",
        "write one with numpy.savez(path, embedding=..., identity=..., and one array for "
        "each attribute).",
    )


class Wanted(NamedTuple):
    """A column or an array that an argument names.

    Attributes
    ----------
    argument : str
    candidates : tuple of str
        The first that the file holds is taken.
    """

    argument: str
    candidates: tuple

    def among(self, present):
        """The first candidate that is there; None if there is none."""
        return next((name for name in self.candidates if name in present), None)


def choose_all(wanted, present, path, reserved=(), remedy=None):
    """What the file holds of all that is wanted; one error names all that it lacks.

    Parameters
    ----------
    wanted : sequence of Wanted
    present : sequence of str
    path : str
    reserved : sequence of str, default=()
        Arguments whose columns are no remedy for what is wanted after them.
    remedy : str or tuple of str and Argument, default=None
        What to do; None is to name others that are there.

    Returns
    -------
    names : list of str
        One for each that is wanted.
    """
    names = [one.among(present) for one in wanted]
    missing = [one for one, name in zip(wanted, names, strict=True) if name is None]
    if not missing:
        return names
    before = wanted[: wanted.index(missing[0])]
    taken = [one.among(present) for one in before if one.argument in reserved]
    others = [repr(name) for name in present if name not in taken]
    listed = ", ".join(others[:MOST_LISTED])
    if len(others) > MOST_LISTED:
        listed += f" and {len(others) - MOST_LISTED:,} others"
    arguments = dict.fromkeys(one.argument for one in missing)
    looked_for = dict.fromkeys(" or ".join(map(repr, m.candidates)) for m in missing)
    instead = "one of them" if len(missing) == 1 else "others"
    raise ArgumentError(
        *enumerated(map(Argument, arguments)),
        f": {path!r} holds {''.join(enumerated(f'no {name}' for name in looked_for))}, "
        f"but {listed or 'nothing'};",
        remedy=remedy or (f"name {instead} ", *enumerated(map(place, arguments)), "."),
        value=missing[0].candidates[0],
    )


def check_fits(n_bytes, argument, path, what=""):
    """Raise where reading takes more memory than is available.

    Parameters
    ----------
    n_bytes : float
        What it takes at least.
    argument, path : str
    what : str, default=""
        Follows the path in the message: which part of the file.
    """
    available = available_bytes(n_bytes)
    if n_bytes > available:
        why = f"it takes {n_bytes / 1e9:.2g} GB, and {available / 1e9:.2g} GB are available"
        raise too_large(argument, path, what, why)


def available_bytes(n_bytes=math.inf):
    """Memory that is available; inf where so few bytes are asked for that all is well."""
    return math.inf if n_bytes < SMALL else _memory.available_bytes()


def too_large(argument, path, what="", why="no memory is left"):
    """The error about a file that does not fit into the memory."""
    return file_error(
        argument,
        path,
        f"{what} does not fit into memory ({why});",
        "give fewer rows, or embeddings as an .npy file, which is memory-mapped.",
    )


def enumerated(parts):
    """Parts of a message with ", " and " and " between them."""
    *first, last = parts
    between = [piece for part in first for piece in (part, ", ")][:-1]
    return [*between, " and ", last] if first else [last]


def check_column(name, argument):
    """Raise unless the name of a column is a text, or None where none is given."""
    if name is not None and not isinstance(name, str):
        raise ArgumentError(
            Argument(argument),
            f" must be the name of a column, a text; got {plain(name)!r}.",
            value=name,
        )


def check_columns(columns):
    """The requested columns, each with the argument that names it; None for all."""
    if columns is None:
        return None
    names = check_texts(columns, "columns", "names of columns")
    return dict.fromkeys(names, "columns")


def check_names(names, path, argument):
    """Raise if two columns of a table have one name, or there are too many to read."""
    if len(names) > MOST_COLUMNS:
        raise file_error(
            argument,
            path,
            f" names {len(names):,} columns, and no more than {MOST_COLUMNS:,} are read;",
            "keep those with labels and scores. Embeddings are read from an .npz file.",
        )
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        raise file_error(
            argument, path, f" names the column {twice[0]!r} twice;", "rename one."
        )


def read_npy(path):
    """The array of an .npy file, memory-mapped, for reading only."""
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception as error:
        if "object" in str(error):
            raise _pickled(path, "the array", "embedding") from None
        raise damaged("path", path, error) from None


@contextmanager
def open_npz(path, argument="path"):
    """An open .npz file.

    Parameters
    ----------
    path : str
    argument : str, default="path"

    Yields
    ------
    archive : Archive
    """
    if not zipfile.is_zipfile(path):
        raise damaged(argument, path, "its end is missing")
    # numpy does not close a file that it opened itself if the archive is damaged.
    with open(path, "rb") as file:
        # Damaged archives raise many kinds of errors, here and below.
        try:
            arrays = np.load(file, allow_pickle=False)
        except Exception as error:
            raise damaged(argument, path, error) from None
        members = arrays.zip.namelist()
        # Workbooks and other documents are archives too.
        if members and not any(name.endswith(".npy") for name in members):
            raise unknown_format(argument, path)
        check_names(arrays.files, path, argument)
        yield Archive(arrays, path, argument)


class Archive:
    """Arrays of an open .npz file, read one by one.

    Attributes
    ----------
    names : list of str
    """

    def __init__(self, arrays, path, argument):
        self.names = arrays.files
        self._arrays = arrays
        self._members = set(arrays.zip.namelist())
        self._path = path
        self._argument = argument

    def read(self, name):
        """One array."""
        what = f": {name!r}"
        # An archive may hold thousands of times its size.
        size = self._arrays.zip.getinfo(self._member(name)).file_size
        check_fits(size, self._argument, self._path, what)
        shape, dtype = self._header(name)
        if dtype.hasobject:
            raise _pickled(self._path, repr(name), name)
        if math.prod(shape) * dtype.itemsize > size:
            raise damaged(
                self._argument, self._path, f"{name!r} is shorter than its header says"
            )
        try:
            array = self._arrays[name]
        except MemoryError:
            raise too_large(self._argument, self._path, what) from None
        except Exception as error:
            raise damaged(self._argument, self._path, f"{name!r}: {error}") from None
        if not isinstance(array, np.ndarray):
            raise damaged(self._argument, self._path, f"{name!r} is no array")
        if not _are_characters(array):
            raise damaged(self._argument, self._path, f"{name!r} is no text")
        return array

    def _member(self, name):
        """The name of an array's file in the archive."""
        return name if name in self._members else f"{name}.npy"

    def labels(self, name):
        """One array of labels, None where they are empty strings."""
        try:
            return unknown_if_empty(self.read(name))
        except UnicodeDecodeError:
            raise file_error(
                self._argument,
                self._path,
                f": {name!r} holds bytes that are no UTF-8 text;",
                f"save {name} as numpy.asarray(..., dtype=str).",
            ) from None

    values = labels

    def distinct(self, name):
        """As of Table: not known without reading."""

    def plain_columns(self, n_rows):
        """Names of the arrays with one number or string for each row, by their headers."""
        return [name for name in self.names if self._is_plain(name, n_rows)]

    def _is_plain(self, name, n_rows):
        shape, dtype = self._header(name)
        return shape == (n_rows,) and dtype.kind in KINDS_OF_LABELS

    def _header(self, name):
        """Shape and type that an array's header claims; nothing where it is damaged."""
        header = np.lib.format
        readers = {
            (1, 0): header.read_array_header_1_0,
            (2, 0): header.read_array_header_2_0,
        }
        try:
            with self._arrays.zip.open(self._member(name)) as member:
                shape, _, dtype = readers[header.read_magic(member)](member)
        except Exception:
            return (0,), np.dtype("V1")
        return shape, dtype


def _are_characters(array):
    """Whether an array of text holds characters alone; Python fails on any other number."""
    if array.dtype.kind != "U" or array.nbytes == 0:
        return True
    order = array.dtype.byteorder.replace("=", "")
    codes = np.ascontiguousarray(array).view(np.dtype("u4").newbyteorder(order or "="))
    return bool((codes <= sys.maxunicode).all())


def unknown_if_empty(labels):
    """Strings, None where they are empty: a text array has no other missing value."""
    if labels.dtype.kind == "S":
        labels = np.char.decode(labels, "utf-8")
    if labels.dtype.kind != "U" or (labels != "").all():
        return labels
    return np.where(labels == "", None, labels.astype(object))


def warn_of_words(labels, name, path, distinct=None):
    """Warn of labels that are words for a missing value.

    Parameters
    ----------
    labels : ndarray, shape (n_rows,)
    name, path : str
        Of the column and its file, for the message.
    distinct : iterable of str, default=None
        The texts among the labels, where they are known.
    """
    if labels.dtype.kind not in "OU":
        return
    if distinct is None:
        distinct = {label for label in labels.tolist() if isinstance(label, str)}
    words = sorted(t for t in distinct if t.strip().lower() in WORDS_FOR_UNKNOWN)
    if words:
        rows = labels.tolist()
        count = sum(isinstance(label, str) and label in words for label in rows)
        warn_caller(
            f"{path!r}: {name!r} holds {' and '.join(map(repr, words))} in {count} "
            f"{'row' if count == 1 else 'rows'}, which are labels like any other. Where "
            "unknown is meant, leave the field empty: '' in an array, no text in a .csv "
            "file, null in a .parquet file.",
            UserWarning,
        )


def _pickled(path, what, name):
    return file_error(
        "path",
        path,
        f": {what} is an array of Python objects (pickled), which are not read since they "
        "can run code;",
        f"save {name} as numbers or, of labels, {name}.astype(str), unknown ones as ''.",
    )
