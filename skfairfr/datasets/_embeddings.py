"""Embeddings with the labels of their rows, from files."""

import os

import numpy as np
from sklearn.utils import Bunch

from skfairfr.datasets._files import (
    KINDS_OF_LABELS,
    TABLE_FORMATS,
    TEXT_TABLES,
    Wanted,
    check_column,
    check_columns,
    choose_all,
    file_error,
    kind_of,
    open_npz,
    read_npy,
    unknown_format,
    warn_of_words,
)
from skfairfr.datasets._tables import read_table
from skfairfr.utils._errors import FAILED_EXTRACTIONS, Argument, ArgumentError, place
from skfairfr.utils._validation import check_path

EMBEDDING_NAMES = ("embedding", "embeddings", "X")
IDENTITY_NAMES = ("identity", "identities", "y")
# Arguments whose columns are no other labels.
RESERVED = ("embedding", "identity")
# Number of values checked at once, so that no memory-mapped file is copied whole.
BLOCK_VALUES = 2**22


def load_embeddings(path, labels=None, *, embedding=None, identity=None, columns=None):
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
        than once), has more than 10,000 columns, or does not hold what is needed; the
        message names all columns that a file lacks.
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
    asked = check_columns(columns)
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
    check_column(embedding, "embedding")
    check_column(identity, "identity")
    kind = kind_of(path)
    if kind == "npy":
        if embedding is not None:
            raise ArgumentError(
                Argument("embedding", embedding),
                f" names an array of an .npz file, but {path!r} holds one array;",
                remedy="leave it out.",
            )
        X = read_npy(path)
        _check_vectors("the array", X)
        if finite:
            check_finite("the array", X)
        labels = labels_beside(path) if labels is None else labels
        return _from_table(path, X, labels, identity, asked)
    if kind != "npz":
        raise _no_embeddings(path, kind)
    with open_npz(path) as archive:
        candidates = EMBEDDING_NAMES if embedding is None else (embedding,)
        wanted = [Wanted("embedding", candidates)]
        if labels is None:
            wanted += _wanted(identity, asked)
        name, *found = choose_all(wanted, archive.names, path, RESERVED)
        X = archive.read(name)
        _check_vectors(repr(name), X)
        if finite:
            check_finite(repr(name), X)
        if labels is not None:
            return _from_table(path, X, labels, identity, asked)
        return _labelled(path, X, archive, path, found[0], asked)


def _wanted(identity, asked):
    """Identities and other columns of a source of labels."""
    candidates = IDENTITY_NAMES if identity is None else (identity,)
    columns = {} if asked is None else asked
    others = [Wanted(argument, (column,)) for column, argument in columns.items()]
    return [Wanted("identity", candidates), *others]


def _from_table(path, X, labels, identity, asked):
    table = read_table(labels, "labels")
    _check_not_transposed(path, X, table.n_rows)
    if table.n_rows != len(X):
        raise file_error(
            "labels",
            labels,
            f" has {table.n_rows} rows but {path!r} has {len(X)};",
            "give one row of labels for each row of embeddings, in their order.",
        )
    name, *_ = choose_all(_wanted(identity, asked), table.names, labels, RESERVED)
    return _labelled(path, X, table, labels, name, asked)


def _labelled(path, X, source, source_path, name, asked):
    """Embeddings with labels from an Archive or a Table, which holds these columns."""
    y = source.labels(name)
    _check_not_transposed(path, X, y.size)
    _check_labels("identity", name, y, len(X))
    if y.dtype.kind == "O" and any(label is None for label in y):
        row = next(row for row, label in enumerate(y) if label is None)
        raise ArgumentError(
            Argument("identity"),
            f": {name!r} is missing in row {row}; every image needs one:",
            remedy="drop such rows, with their embeddings.",
            value=name,
        )
    if asked is None:
        plain = source.plain_columns(len(X))
        asked = {column: "columns" for column in plain if column != name}
    warn_of_words(y, name, source_path, source.distinct(name))
    columns = {}
    for column, argument in asked.items():
        columns[column] = source.values(column)
        _check_labels(argument, column, columns[column], len(X))
        warn_of_words(columns[column], column, source_path, source.distinct(column))
    return Bunch(X=X, y=y, columns=columns, path=path)


def labels_beside(path):
    """Path of the labels next to an .npy file, under the same name."""
    stem = os.path.splitext(path)[0]
    for suffix in (".csv", ".parquet", *TEXT_TABLES):
        if os.path.exists(stem + suffix):
            return stem + suffix
    raise file_error(
        "path",
        path,
        f" holds one array (.npy) and no labels, and no {stem + '.csv'!r} is beside it;",
        (f"name a {TABLE_FORMATS} file ", place("labels"), "."),
    )


def _no_embeddings(path, kind):
    if kind == "other":
        return unknown_format("path", path)
    what = {
        "pickle": "is a pickle, which can run code when it is read",
        "csv": "is a table, of labels or scored pairs, and embeddings are needed",
        "parquet": "is a table, of labels or scored pairs, and embeddings are needed",
    }[kind]
    return file_error(
        "path",
        path,
        f" {what};",
        "write one with numpy.savez(path, embedding=..., identity=..., and one array for "
        "each attribute).",
    )


def _check_vectors(name, vectors):
    if vectors.ndim != 2 or vectors.dtype.kind not in "fiu":
        raise ArgumentError(
            Argument("embedding"),
            f": {name} must hold one row of numbers for each image, (n_samples, "
            f"n_features); got shape {vectors.shape} of {vectors.dtype}.",
            remedy="Give another array.",
        )
    if vectors.shape[0] < 2 or vectors.shape[1] == 0:
        raise ArgumentError(
            Argument("embedding"),
            f": {name} must hold two images at least; got shape {vectors.shape}.",
            remedy="Give more rows.",
        )


def check_finite(name, vectors):
    """Raise where a row holds what is no number."""
    step = max(BLOCK_VALUES // vectors.shape[1], 1)
    blocks = [vectors[row : row + step] for row in range(0, len(vectors), step)]
    finite = np.concatenate([np.isfinite(block).all(axis=1) for block in blocks])
    bad = np.flatnonzero(~finite)
    if bad.size:
        raise ArgumentError(
            Argument("embedding"),
            f": {name} has nan or infinite values in row {bad[0]} ({bad.size} such rows);",
            remedy=FAILED_EXTRACTIONS,
        )


def _check_not_transposed(path, X, n_labels):
    if n_labels == X.shape[1] != len(X):
        raise ArgumentError(
            Argument("embedding"),
            f": {path!r} holds embeddings of shape {X.shape} and {n_labels} identities, as "
            "if every image stood in a column;",
            remedy="save the transpose (embedding.T), one row for each image.",
        )


def _check_labels(argument, name, labels, n_samples):
    if labels.shape != (n_samples,) or labels.dtype.kind not in "O" + KINDS_OF_LABELS:
        raise ArgumentError(
            Argument(argument),
            f": {name!r} must hold one number or text for each of the {n_samples} rows of "
            f"the embeddings; got shape {labels.shape} of type {labels.dtype}.",
            remedy=("Name another ", place(argument), "."),
            value=name,
        )
