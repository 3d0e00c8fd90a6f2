"""Embeddings and labels from files, read without pickle.

Every message names the file or the argument, what was found and what to do.
"""

import os
import zipfile
from typing import NamedTuple

import numpy as np

EMBEDDING_NAMES = ("embedding", "embeddings", "X")
IDENTITY_NAMES = ("identity", "identities", "y")


class Faces(NamedTuple):
    """X (n_samples, n_features), and y and sensitive_features (n_samples,)."""

    X: np.ndarray
    y: np.ndarray
    sensitive_features: np.ndarray


def read_faces(path, *, attribute, embedding=None, identity=None):
    """Embeddings, identities and one attribute from an .npz file.

    Parameters
    ----------
    path : str or path-like
    attribute : str
        Name of the array of groups; empty strings in it are unknown.
    embedding, identity : str, default=None
        Names of the arrays; None takes the first of "embedding", "embeddings" and "X",
        and of "identity", "identities" and "y", that is there.

    Returns
    -------
    faces : Faces

    Raises
    ------
    ValueError
        If the file cannot be read without pickle, or its arrays are not what is needed.
    """
    wanted = {
        "embedding": EMBEDDING_NAMES if embedding is None else (embedding,),
        "identity": IDENTITY_NAMES if identity is None else (identity,),
        "attribute": (attribute,),
    }
    arrays = read_npz(path, wanted)
    _check_vectors(*arrays["embedding"])
    n_samples = len(arrays["embedding"][1])
    for argument in ("identity", "attribute"):
        _check_labels(argument, *arrays[argument], n_samples, arrays["embedding"][0])
    X, y, groups = (array for _, array in arrays.values())
    return Faces(X, y, _unknown_if_empty(groups))


def read_npz(path, wanted):
    """Arrays of an .npz file.

    Parameters
    ----------
    path : str or path-like
    wanted : dict of str -> tuple of str
        For each argument the names its array may have; the first that is there counts.

    Returns
    -------
    arrays : dict of str -> (str, ndarray)
        For each argument the array's name and the array.
    """
    path = os.fspath(path)
    _check_archive(path)
    # numpy leaves a file that it opened itself open where the archive is damaged.
    with open(path, "rb") as file:
        archive = _open(file, path)
        names = {
            argument: _choose(argument, candidates, archive.files, path)
            for argument, candidates in wanted.items()
        }
        return {
            argument: (name, _read_member(archive, name, path))
            for argument, name in names.items()
        }


def _open(file, path):
    # Here and below: damaged archives raise nearly anything, from zipfile to tokenize.
    try:
        return np.load(file, allow_pickle=False)
    except Exception as error:
        raise _damaged(path, error) from None


def _check_archive(path):
    """Raise unless the file is a zip archive, as .npz files are."""
    try:
        with open(path, "rb") as file:
            start = file.read(8)
        if zipfile.is_zipfile(path):
            return
    except FileNotFoundError:
        raise ValueError(
            f"DATA {path!r} does not exist; give the path of an .npz file."
        ) from None
    except OSError as error:
        raise ValueError(
            f"DATA {path!r} cannot be read ({error.strerror}); give the path of an .npz "
            "file."
        ) from None
    if start.startswith(b"PK"):
        raise _damaged(path, "its end is missing")
    what = "is not an .npz file"
    if start.startswith(b"\x93NUMPY"):
        what = "holds one array (.npy) and no labels"
    elif start.startswith(b"\x80"):
        what = "is a pickle, which can run code when it is read"
    raise ValueError(
        f"DATA {path!r} {what}; write one with numpy.savez(path, embedding=..., "
        "identity=..., and one array for each attribute)."
    )


def _damaged(path, why):
    return ValueError(
        f"DATA {path!r} is cut short or damaged ({why}); copy or write it again."
    )


def _choose(argument, candidates, present, path):
    """The first candidate that the file holds."""
    for name in candidates:
        if name in present:
            return name
    listed = ", ".join(map(repr, present)) or "no array"
    looked_for = " or ".join(map(repr, candidates))
    raise ValueError(
        f"{argument}: DATA {path!r} holds no array {looked_for}, but {listed}; "
        f"name one with --{argument}."
    )


def _read_member(archive, name, path):
    try:
        array = archive[name]
    except MemoryError:
        raise ValueError(
            f"DATA {path!r}: {name!r} does not fit into memory; give fewer rows."
        ) from None
    except Exception as error:
        if "allow_pickle" not in str(error):
            raise _damaged(path, f"{name!r}: {error}") from None
        raise ValueError(
            f"DATA {path!r}: {name!r} is an array of Python objects (pickled), which are "
            f"not read since they can run code; save {name} as numbers or as "
            "numpy.asarray(..., dtype=str)."
        ) from None
    if not isinstance(array, np.ndarray):
        raise _damaged(path, f"{name!r} is no array")
    return array


def _check_vectors(name, vectors):
    if vectors.ndim != 2 or vectors.dtype.kind not in "fiu":
        raise ValueError(
            f"embedding: {name!r} must hold one row of numbers for each image, "
            f"(n_samples, n_features); got shape {vectors.shape} of {vectors.dtype}. Name "
            "another array with --embedding."
        )
    if vectors.shape[0] < 2 or vectors.shape[1] == 0:
        raise ValueError(
            f"embedding: {name!r} must hold two images at least; got shape "
            f"{vectors.shape}. Give more rows."
        )
    bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if bad.size:
        raise ValueError(
            f"embedding: {name!r} has nan or infinite values in row {bad[0]} ({bad.size} "
            "such rows); remove failed extractions, with their labels."
        )


def _check_labels(argument, name, labels, n_samples, vectors):
    if labels.shape != (n_samples,) or labels.dtype.names is not None:
        raise ValueError(
            f"{argument}: {name!r} must hold one label for each of the {n_samples} rows "
            f"of {vectors!r}; got shape {labels.shape}. Name another array with "
            f"--{argument}."
        )


def _unknown_if_empty(groups):
    """Strings, None where they are empty: a text array has no other missing value."""
    if groups.dtype.kind == "S":
        groups = np.char.decode(groups, "utf-8", "replace")
    if groups.dtype.kind != "U" or (groups != "").all():
        return groups
    return np.where(groups == "", None, groups.astype(object))
