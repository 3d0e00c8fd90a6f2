"""Arrays from .npz and .npy files, read without pickle.

Every message names the argument, the file, what was found and what to do.
"""

import os
import zipfile
from contextlib import contextmanager

import numpy as np

from skfairfr.utils._errors import Argument, ArgumentError, place
from skfairfr.utils._validation import warn_caller

KINDS = {b"\x93NUMPY": "npy", b"PK": "npz", b"PAR1": "parquet", b"\x80": "pickle"}
TABLES = (".csv", ".parquet")
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
    """
    try:
        with open(path, "rb") as file:
            start = file.read(8)
    except FileNotFoundError:
        raise file_error(
            argument,
            path,
            " does not exist;",
            "give the path of an .npz, .npy, .csv or .parquet file.",
        ) from None
    except OSError as error:
        raise file_error(
            argument,
            path,
            f" cannot be read ({error.strerror});",
            "give the path of a file that can.",
        ) from None
    for magic, kind in KINDS.items():
        if start.startswith(magic):
            return kind
    return "csv" if suffix_of(path) == ".csv" else "other"


def suffix_of(path):
    """The end of a file's name, in lower case."""
    return os.path.splitext(path)[1].lower()


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


def choose(argument, candidates, present, path, but=(), remedy=None):
    """The first candidate that the file holds.

    Parameters
    ----------
    argument : str
    candidates, present : sequences of str
    path : str
    but : sequence of str, default=()
        Names that are there and would be no remedy.
    remedy : tuple of str and Argument, default=None
        What to do; None is to name one that is there.
    """
    for name in candidates:
        if name in present:
            return name
    listed = ", ".join(repr(name) for name in present if name not in but)
    looked_for = " or ".join(map(repr, candidates))
    raise ArgumentError(
        Argument(argument),
        f": {path!r} holds no {looked_for}, but {listed or 'nothing'};",
        remedy=remedy or ("name one of them ", place(argument), "."),
        value=candidates[0],
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
        self._path = path
        self._argument = argument

    def read(self, name):
        """One array."""
        try:
            array = self._arrays[name]
        except MemoryError:
            raise file_error(
                self._argument,
                self._path,
                f": {name!r} does not fit into memory;",
                "give fewer rows, or the embeddings as an .npy file, which is "
                "memory-mapped.",
            ) from None
        except Exception as error:
            if "allow_pickle" in str(error):
                raise _pickled(self._path, repr(name), name) from None
            raise damaged(self._argument, self._path, f"{name!r}: {error}") from None
        if not isinstance(array, np.ndarray):
            raise damaged(self._argument, self._path, f"{name!r} is no array")
        return array

    def labels(self, name):
        """One array of labels, None where they are empty strings."""
        return unknown_if_empty(self.read(name))

    values = labels

    def plain_columns(self, n_rows):
        """Names of the arrays with one number or string for each row, by their headers."""
        return [name for name in self.names if self._is_plain(name, n_rows)]

    def _is_plain(self, name, n_rows):
        header = np.lib.format
        readers = {
            (1, 0): header.read_array_header_1_0,
            (2, 0): header.read_array_header_2_0,
        }
        try:
            with self._arrays.zip.open(f"{name}.npy") as member:
                shape, _, dtype = readers[header.read_magic(member)](member)
        except Exception:
            return False
        return shape == (n_rows,) and not dtype.hasobject and dtype.names is None


def unknown_if_empty(labels):
    """Strings, None where they are empty: a text array has no other missing value."""
    if labels.dtype.kind == "S":
        labels = np.char.decode(labels, "utf-8", "replace")
    if labels.dtype.kind != "U" or (labels != "").all():
        return labels
    return np.where(labels == "", None, labels.astype(object))


def warn_of_words(labels, name, path):
    """Warn of labels that are words for a missing value.

    Parameters
    ----------
    labels : ndarray, shape (n_rows,)
    name, path : str
        Of the column and its file, for the message.
    """
    if labels.dtype.kind not in "OU":
        return
    rows = labels.tolist()
    texts = {label for label in rows if isinstance(label, str)}
    words = sorted(t for t in texts if t.strip().lower() in WORDS_FOR_UNKNOWN)
    if words:
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
        f"save {name} as numbers or as numpy.asarray(..., dtype=str).",
    )
