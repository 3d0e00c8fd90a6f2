"""Embeddings with the labels of their rows, from files."""

import os
from collections.abc import Sequence

import numpy as np
from sklearn.utils import Bunch

from skfairfr.datasets import _files
from skfairfr.utils._errors import ABOUT_FAILURES, refused
from skfairfr.utils._types import FilePath
from skfairfr.utils._validation import check_path, failed_rows

EMBEDDING_NAMES = ("embedding", "embeddings", "X")
IDENTITY_NAMES = ("identity", "identities", "y")
WRITE_NPZ = (
    "write one with numpy.savez(path, embedding=..., identity=..., and one array for each "
    "attribute)."
)


def load_embeddings(
    path: FilePath,
    labels: FilePath | None = None,
    *,
    embedding: str | None = None,
    identity: str | None = None,
    columns: Sequence[str] | None = None,
) -> Bunch:
    """Embeddings, identities and other labels of images, read without pickle.

    Parameters
    ----------
    path : str or path-like
        An .npz file with embeddings (n_samples, n_features) and labels (n_samples,), or
        an .npy file of embeddings, which stays on disk (memory-mapped, for reading only).
    labels : str or path-like, default=None
        A table with one row for each row of the embeddings, in their order, in one of
        the formats of :func:`load_pairs`. None takes those inside the .npz file or, of an
        .npy file, the table of the same name beside it. A column of a text table is
        numbers where every known cell is one, and identities are text unless all are
        integers without leading zeros; empty cells are unknown.
    embedding : str, default=None
        Name of the embeddings in an .npz file; None takes the first of "embedding",
        "embeddings" and "X" that is there.
    identity : str, default=None
        Name of the identities; None takes the first of "identity", "identities" and "y".
    columns : sequence of str, shape (n_columns,), default=None
        Names of the other labels to read; None reads all.

    Returns
    -------
    data : Bunch
        ``X`` (n_samples, n_features), ``y`` (n_samples,), ``columns``, a dict of arrays
        (n_samples,) in which None and NaN are unknown, and ``path``.

    Raises
    ------
    ValueError
        If a file cannot be read without pickle, is a device or a pipe (files are read more
        than once), has rows with NaN, infinity or zeros alone, or does not hold what is
        needed; the message names all columns that a file lacks.
    ImportError
        If a .parquet file is read without pyarrow.

    Warns
    -----
    UserWarning
        If labels are words for an unknown value, such as "nan" and "None".

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from skfairfr.datasets import load_embeddings
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "faces.npz")
    ...     np.savez(path, embedding=np.eye(3), identity=[1, 1, 2], gender=["f", "f", ""])
    ...     data = load_embeddings(path)
    >>> data.X.shape, data.columns["gender"].tolist()
    ((3, 3), ['f', 'f', None])
    """
    asked = _files.check_columns(columns)
    return read_embeddings(path, labels, embedding, identity, asked)


def read_embeddings(
    path, labels=None, embedding=None, identity=None, asked=None, finite=True
):
    """As load_embeddings.

    Parameters
    ----------
    asked : dict of str -> str, default=None
        For each requested column the argument that names it, for messages.
    finite : bool, default=True
        Whether every row has to hold numbers; else the caller checks those it takes.
    """
    path = check_path(path, "path")
    labels = None if labels is None else check_path(labels, "labels")
    kind = _files.kind_of(path)
    if kind not in ("npy", "npz"):
        problem = " is neither an .npz nor an .npy file, and embeddings are needed;"
        raise _files.file_error("path", path, problem, WRITE_NPZ)
    others = {} if asked is None else asked
    of_labels = [("identity", (identity,) if identity else IDENTITY_NAMES)]
    of_labels += [(argument, (column,)) for column, argument in others.items()]
    if kind == "npy":
        if embedding is not None:
            problem = f"is of an .npz file, but {path!r} holds one array; leave it out."
            raise refused("embedding", embedding, problem)
        X = _files.read_npy(path)
        _check_vectors("the array", X, finite)
        labels = labels_beside(path) if labels is None else labels
        return _from_table(path, X, labels, of_labels, asked)
    with _files.open_npz(path) as archive:
        wanted = [("embedding", (embedding,) if embedding else EMBEDDING_NAMES)]
        wanted += of_labels if labels is None else []
        name, *found = _files.choose_all(wanted, archive.names, path)
        X = archive.read(name)
        _check_vectors(repr(name), X, finite)
        if labels is None:
            return _labelled(path, X, archive, path, found[0], asked)
        own = next((name for name in IDENTITY_NAMES if name in archive.names), None)
        own = None if own is None else (own, archive.labels(own))
    data = _from_table(path, X, labels, of_labels, asked)
    if own is not None:
        _check_same_people(data.y, *own, labels)
    return data


def _check_same_people(people, name, own, path):
    """Raise if a table divides rows among other people than the file of embeddings does."""
    if len(own) != len(people):
        return
    codes = [
        np.unique(np.asarray(c).astype(str), return_inverse=True)[1]
        for c in (people, own)
    ]
    both, counts = np.unique(np.stack(codes), axis=1, return_counts=True)
    in_common = []
    for side in both:
        largest = np.zeros(side.max() + 1, dtype=np.intp)
        np.maximum.at(largest, side, counts)
        in_common.append(largest.sum())
    n_alike = int(min(in_common))
    if n_alike < len(own):
        problem = (
            f" gives {len(own) - n_alike:,} of {len(own):,} rows to other people than "
        )
        problem += f"{name!r} of the embeddings does;"
        remedy = "put its rows into the order of the embeddings, or leave one of the two out."
        raise _files.file_error("labels", path, problem, remedy)


def read_labels(path, argument, identity=None, asked=None):
    """As :func:`read_embeddings`, of a table alone, so that embeddings have no features."""
    path = check_path(path, argument)
    table = _files.read_table(path, argument)
    wanted = [("identity", (identity,) if identity else IDENTITY_NAMES)]
    wanted += [(argument, (column,)) for column, argument in (asked or {}).items()]
    name, *_ = _files.choose_all(wanted, table.names, path)
    return _labelled(path, np.empty((table.n_rows, 0)), table, path, name, asked)


def _from_table(path, X, labels, wanted, asked):
    table = _files.read_table(labels, "labels")
    if table.n_rows != len(X):
        problem = f" has {table.n_rows} rows but {path!r} has {len(X)};"
        remedy = "give one row of labels for each row of embeddings, in their order."
        raise _files.file_error("labels", labels, problem, remedy)
    name, *_ = _files.choose_all(wanted, table.names, labels)
    return _labelled(path, X, table, labels, name, asked)


def _labelled(path, X, source, source_path, name, asked):
    """Embeddings with labels from an Archive or a Table, which holds these columns."""
    y = source.labels(name)
    _check_labels("identity", name, y, len(X))
    remedy = "every image needs one: drop such rows, with their embeddings."
    _files.check_known("identity", name, y, remedy)
    _files.warn_of_words(y, name, source_path)
    if asked is None:
        others = [n for n in source.plain_columns(len(X)) if n != name]
        asked = dict.fromkeys(others, "columns")
    columns = {}
    for column, argument in asked.items():
        # Names stay as they are written.
        read = source.labels if argument == "image" else source.values
        columns[column] = read(column)
        _check_labels(argument, column, columns[column], len(X))
        _files.warn_of_words(columns[column], column, source_path)
    return Bunch(X=X, y=y, columns=columns, path=path)


def labels_beside(path):
    """Path of the labels next to an .npy file, under the same name."""
    stem = os.path.splitext(path)[0]
    for suffix in (".csv", ".parquet", *_files.TEXT_TABLES):
        if os.path.exists(stem + suffix):
            return stem + suffix
    problem = f" holds one array and no labels, and no {stem + '.csv'!r} is beside it;"
    remedy = f"name a {_files.TABLE_FORMATS} file with labels (--labels)."
    raise _files.file_error("path", path, problem, remedy)


def _check_vectors(name, vectors, finite):
    expected = None
    if vectors.ndim != 2 or vectors.dtype.kind not in "fiu":
        expected = "hold one row of numbers for each image, (n_samples, n_features)"
    elif vectors.shape[0] < 2 or vectors.shape[1] == 0:
        expected = "hold two images at least"
    if expected is not None:
        got = f"shape {vectors.shape} of {vectors.dtype}"
        problem = f"{name} must {expected}; got {got}."
        raise refused("embedding", None, problem, "Give another array.")
    if finite and (bad := np.flatnonzero(failed_rows(vectors))).size:
        rows = f"in {_files.data_row(bad[0])} ({bad.size} such rows)"
        problem = f"{name} has nan, infinite values or zeros alone {rows};"
        raise refused("embedding", None, problem, ABOUT_FAILURES)


def _check_labels(argument, name, labels, n_samples):
    kinds = "O" + _files.KINDS_OF_LABELS
    if labels.shape != (n_samples,) or labels.dtype.kind not in kinds:
        problem = f"{name!r} must hold one number or text for each of the {n_samples} rows of "
        problem += f"the embeddings; got shape {labels.shape} of type {labels.dtype}."
        raise refused(argument, name, problem, "Name another.")
