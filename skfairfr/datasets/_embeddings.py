"""Embeddings with the labels of their rows, and templates of several images, from files."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from contextlib import contextmanager

import numpy as np
from sklearn.utils import Bunch

from skfairfr._core._pair_tiles import Samples, mean_rows
from skfairfr.datasets import _files, _tables, _texts
from skfairfr.datasets._texts import IMAGES, PEOPLE, Y_TRUE, Layout, features_of
from skfairfr.utils._errors import ABOUT_FAILURES, invalid, plain
from skfairfr.utils._labels import encode, find_labels, join_columns, joint_codes
from skfairfr.utils._types import FilePath
from skfairfr.utils._validation import (
    check_option,
    check_path,
    failed_rows,
    float_type,
    warn_caller,
)

EMBEDDING_NAMES = ("embedding", "embeddings", "X")
IDENTITY_NAMES = ("identity", "identities", "y")
WRITE_NPZ = (
    "write one with numpy.savez(path, embedding=..., identity=..., and one array for each "
    "attribute)."
)
# Why a file of another kind cannot be read.
OTHERS = {
    "pickle": " is a pickle, which can run code as it is opened;",
    "kaldi": " is a binary archive of Kaldi (copy-vector ark:FILE ark,t:FILE writes it as text);",
    "hdf5": " is a file of HDF5 or MATLAB;",
}


def load_embeddings(
    path: FilePath,
    labels: FilePath | None = None,
    *,
    embedding: str | None = None,
    identity: str | None = None,
    columns: Sequence[str] | None = None,
    image: str | None = None,
) -> Bunch:
    """Embeddings, identities and other labels of images, read without pickle.

    Parameters
    ----------
    path : str or path-like
        One of: an .npz file with embeddings (n_samples, n_features) and labels (n_samples,), an
        .npy file of embeddings, which stays on disk (memory-mapped, for reading only), a table
        (.csv, .tsv, .parquet) with numbered columns of features or one column of lists, an
        .npz file with an array for each image, under its name, or a text archive of Kaldi
        (``ark,t``). See :ref:`input-formats`.
    labels : str or path-like, default=None
        A table with one row for each row of the embeddings, in their order, in one of
        the formats of :func:`load_pairs`. If None: those inside the .npz file or, of an
        .npy file, the table of the same name next to it. A column of a text table is
        numbers where every known cell is one, and identities are text unless all are
        integers without leading zeros. Empty cells are unknown. For embeddings that are
        stored by the name of their image, a table with a column of these names, or a list
        of names and identities such as Kaldi's utt2spk.
    embedding : str, default=None
        Name of the embeddings in an .npz file, or of the column in a table. For numbered
        columns, the common part of their names. If None: the first of "embedding",
        "embeddings" and "X" that is there, or the columns numbered from 0 or 1.
    identity : str, default=None
        Name of the identities. If None: the first of "identity", "identities" and "y".
    columns : sequence of str, shape (n_columns,), default=None
        Names of the other labels to read. None reads all.
    image : str, default=None
        Column of the labels with the names of the images, by which embeddings that are
        stored by name find their row. If None: "image".

    Returns
    -------
    data : Bunch
        ``X`` (n_samples, n_features), ``y`` (n_samples,), ``columns``, a dict of arrays
        (n_samples,) in which None and NaN are unknown, ``path``, and ``read_as``, in which
        layout other files than .npz and .npy with labels are, by their paths.

    Raises
    ------
    ValueError
        If a file cannot be read without pickle, is a device or a pipe (files are read more
        than once), has rows with NaN, infinity or zeros alone, or lacks required data. The
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
    asked = _files.check_columns(columns)
    asked = asked if image is None or asked is None else asked | {image: "image"}
    return read_embeddings(path, labels, embedding, identity, asked, image=image)


def read_embeddings(
    path,
    labels=None,
    embedding=None,
    identity=None,
    asked=None,
    finite=True,
    image=None,
):
    """As load_embeddings.

    Parameters
    ----------
    asked : dict of str -> str, default=None
        For each requested column the argument that names it, for messages.
    finite : bool, default=True
        Whether every row must contain numbers. If not, the caller checks the rows it uses.
    """
    path = check_path(path, "path")
    labels = None if labels is None else check_path(labels, "labels")
    others = {} if asked is None else asked
    named = [column for column, argument in others.items() if argument == "image"]
    image = image or next(iter(named), "image")
    of_labels = [("identity", (identity,) if identity else IDENTITY_NAMES)]
    of_labels += [(argument, (column,)) for column, argument in others.items()]
    own = of_labels if labels is None else []
    with _opened(path, embedding, own) as (name, X, images, source, used):
        _check_vectors(name, X, finite)
        if labels is None and source is not None:
            column, *_ = _files.choose_all(of_labels, source.names, path)
            return _labelled(path, X, source, path, column, asked, used)
        named = _files.first_of(IDENTITY_NAMES, () if source is None else source.names)
        people = None if named is None else source.labels(named)
        labels = labels_beside(path) if labels is None else labels
        data = _from_table(path, X, images, labels, of_labels, asked, image)
        if named is not None:
            _check_same_people(data.y, named, people, labels)
    return data


@contextmanager
def _opened(path, embedding, of_labels):
    """Name of the vectors, these, names of their images, source of labels, columns used.

    The names are None if rows are in the order of labels, and the source if there is none.
    """
    kind = _files.kind_of(path)
    if kind == "npz":
        with _files.open_npz(path) as archive:
            if embedding is None and (keys := _keys_of(archive)):
                X = np.stack([archive.read(key).ravel() for key in keys])
                yield "the arrays", X, np.array(keys), None, keys
                return
            wanted = [("embedding", (embedding,) if embedding else EMBEDDING_NAMES)]
            name, *_ = _files.choose_all([*wanted, *of_labels], archive.names, path)
            yield repr(name), archive.read(name), None, archive, ()
    elif kind == "npy":
        if embedding is not None:
            problem = f"names an array of an .npz file, but {path!r} contains one array. Leave it out."
            raise invalid("embedding", embedding, problem)
        yield "the array", _files.read_npy(path), None, None, ()
    elif kind == "ark":
        keys, X = _read_ark(path)
        yield "the archive", X, keys, None, ()
    elif kind in ("csv", "parquet", "list"):
        table = _tables.read_table(path)
        names = vectors_in(*_tables.start_of(path), embedding)
        wanted = [("embedding", tuple(names[:1]) or (embedding or "embedding",))]
        _files.choose_all(wanted, table.names, path)
        yield repr(names[0]), table.vectors(names), None, table, names
    else:
        problem = OTHERS.get(kind, " contains no embeddings that can be read;")
        raise _files.file_error("path", path, problem, WRITE_NPZ)


def holds_embeddings(path, embedding=None, is_pairs=False):
    """Whether a file has embeddings, and no pairs. A table has columns of one or the other.

    Parameters
    ----------
    path : str
    embedding : str, default=None
        Name of the embeddings, if it was given.
    is_pairs : bool, default=False
        Whether an option was given that is of pairs.
    """
    if _files.kind_of(path) not in ("csv", "parquet", "list"):
        return True
    if embedding is not None or is_pairs:
        return embedding is not None
    names, lists = _tables.start_of(path)
    found = vectors_in(names, lists)
    if not found or {*PEOPLE, *IMAGES} & {*names}:
        return False
    if "score" in names and (truth := _files.first_of(Y_TRUE, names)) is not None:
        problem = f" may be embeddings ({found[0]!r} to {found[-1]!r}) "
        problem += f"or pairs ('score' and {truth!r});"
        remedy = "name the columns of one: embedding (--embedding) "
        remedy += "or y_true (--y-true)."
        raise _files.file_error("path", path, problem, remedy)
    return True


def vectors_in(names, lists, embedding=None):
    """Columns of a table that are embeddings: numbered ones, or one with lists, else none."""
    if embedding is not None:
        return features_of(names, embedding) or [n for n in names if n == embedding]
    usual = [n for n in names if n in EMBEDDING_NAMES[: None if n in lists else 2]]
    return usual[:1] or features_of(names) or lists[:1]


def _keys_of(archive):
    """Names of the arrays, if each is the embedding of the image that it is named after."""
    if {*EMBEDDING_NAMES, *IDENTITY_NAMES} & {*archive.names}:
        return []
    sizes = {
        name: max(shape) if len(shape) and np.prod(shape) == max(shape) else 0
        for name, (shape, dtype) in archive.headers().items()
        if dtype.kind == "f"
    }
    if len(sizes) < 2 or 2 * len(sizes) <= len(archive.names):
        return []
    size = Counter(sizes.values()).most_common(1)[0][0]
    if size < 2:
        return []
    if wrong := [name for name in archive.names if sizes.get(name) != size]:
        problem = f" has an embedding of {size} numbers in most arrays, "
        problem += f"and another array in {_files.few(np.array(wrong), 'images')};"
        raise _files.file_error("path", archive.path, problem, "leave those out.")
    return archive.names


def _read_ark(path):
    """Names and vectors of a text archive of Kaldi, as copy-vector writes it to ark,t."""
    keys, rows = [], []
    with _texts.explained(path, "path"):
        lines = _texts.content_of(path).decode().splitlines()
    for number, line in enumerate(filter(str.strip, lines), 1):
        key, *vector = line.split(maxsplit=1)
        vector = "".join(vector).strip()
        is_whole = vector.startswith("[") and vector.endswith("]")
        row = _texts.to_vector(vector) if is_whole else np.zeros(0)
        if not row.size or (rows and row.size != rows[0].size):
            problem = f": line {number} ({line[:40]!r}) is no name with "
            problem += (
                f"a vector in brackets of {rows[0].size} numbers;" if rows else ";"
            )
            remedy = "write vectors with copy-vector ark:FILE ark,t:FILE."
            raise _files.file_error("path", path, problem, remedy)
        keys.append(key)
        rows.append(row)
    return np.array(keys), np.stack(rows)


def _check_same_people(people, name, own, path):
    """Raise if a table assigns rows to different people than the file of embeddings."""
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
        problem = f" gives {len(own) - n_alike:,} of {len(own):,} rows "
        problem += f"a different person than {name!r} of the embeddings does."
        remedy = "Put its rows into the order of the embeddings, or leave one of the two out."
        raise _files.file_error("labels", path, problem, remedy)


def read_labels(path, argument, identity=None, asked=None):
    """Labels of a table alone, as :func:`read_embeddings` returns them, without features."""
    path = check_path(path, argument)
    image = next((n for n, what in (asked or {}).items() if what == "image"), "image")
    table = _tables.read_table(path, argument, (two_columns(image),))
    wanted = [("identity", (identity,) if identity else IDENTITY_NAMES)]
    wanted += [(argument, (column,)) for column, argument in (asked or {}).items()]
    name, *_ = _files.choose_all(wanted, table.names, path)
    return _labelled(path, np.empty((table.n_rows, 0)), table, path, name, asked)


def two_columns(image):
    """The layout of a list of images and people, as utt2spk of Kaldi."""
    return Layout("images", (image, "identity"))


def _from_table(path, X, images, labels, wanted, asked, image):
    """Embeddings with labels from a table, by the names of the images or in its order."""
    table = _tables.read_table(labels, "labels", (two_columns(image),))
    rows = None
    if images is not None:
        _files.choose_all([("image", (image,))], table.names, labels)
        rows = _rows_of(images, table, image, path)
    elif table.n_rows != len(X):
        problem = f" has {table.n_rows} rows but {path!r} has {len(X)};"
        remedy = "give one row of labels for each row of embeddings, in their order."
        raise _files.file_error("labels", labels, problem, remedy)
    name, *_ = _files.choose_all(wanted, table.names, labels)
    return _labelled(path, X, table, labels, name, asked, rows=rows)


def _rows_of(images, table, image, path):
    """The row of a table for each image of some names."""
    known = table.labels(image)
    rows = find_images(known, images, image)
    if (rows < 0).any():
        absent = _files.few(images[rows < 0], "images")
        problem = f" has no row for {absent} of {path!r}, as it names "
        problem += f"{plain(known[0])!r};"
        remedy = "add the rows, or name the column of these names (image, --image)."
        raise _files.file_error("labels", table.path, problem, remedy)
    if (absent := np.delete(known, rows)).size:
        lacking = f"{_files.few(absent, 'images')} without an embedding in {path!r}"
        warn_caller(f"{table.path!r} lists {lacking}.", UserWarning)
    return rows


def find_listed(listed, wanted, known, image, path):
    """Places of the images that a list names. An error about the list if some are unknown.

    Parameters
    ----------
    listed : tuple of str
        Argument and path of the list.
    wanted, known : ndarrays of labels
    image : str
        Column of the known names.
    path : str
        Item with the known names.
    """
    rows = find_images(known, wanted, image)
    if (rows < 0).any():
        absent = _files.few(wanted[rows < 0], "images")
        problem = f" lists {absent} that {path!r} does not name, as it names "
        problem += f"{plain(known[0])!r};"
        remedy = "give the column that does as image (--image), and nan as the embedding of an "
        remedy += "image that failed."
        raise _files.file_error(*listed, problem, remedy)
    return rows


def find_images(known, wanted, image):
    """The place of each wanted name among the known ones, -1 if it is not there."""
    _files.check_known("image", image, known, "every image needs a name.")
    first, rows = find_labels(known, known), find_labels(known, wanted)
    if (twice := np.flatnonzero(first != np.arange(first.size))).size:
        problem = f"{image!r} contains {plain(known[twice[0]])!r} several times;"
        raise invalid("image", image, problem, "give each image a name of its own.")
    return rows


def _labelled(path, X, source, source_path, name, asked, used=(), rows=None):
    """Embeddings with labels from an Archive or a Table, of some of its rows, or of all."""
    if asked is None:
        others = [n for n in source.plain_columns(len(X)) if n not in (name, *used)]
        asked = dict.fromkeys(others, "columns")
    columns = {}
    for column, argument in [(name, "identity"), *asked.items()]:
        # Names stay as they are written.
        as_written = argument in ("identity", "image")
        read = (source.labels if as_written else source.values)(column)
        columns[argument, column] = read = read if rows is None else read[rows]
        _check_labels(argument, column, read, len(X))
        if argument == "identity":
            remedy = "every image needs one: drop such rows, with their embeddings."
            _files.check_known(argument, column, read, remedy)
        _files.warn_of_words(read, column, source_path)
    y = columns.pop(("identity", name))
    read_as = {source_path: source.read_as} if source.read_as else {}
    columns = {column: read for (_, column), read in columns.items()}
    return Bunch(X=X, y=y, columns=columns, path=path, read_as=read_as)


def labels_beside(path):
    """Path of the labels next to an .npy file, under the same name."""
    stem = os.path.splitext(path)[0]
    for suffix in (".csv", ".parquet", *_files.TEXT_TABLES):
        if os.path.exists(stem + suffix):
            return stem + suffix
    problem = (
        f" contains no labels of its rows, and no {stem + '.csv'!r} is in its folder;"
    )
    remedy = f"name a {_files.TABLE_FORMATS} file with labels (--labels)."
    raise _files.file_error("path", path, problem, remedy)


def _check_vectors(name, vectors, finite):
    expected = None
    if vectors.ndim != 2 or vectors.dtype.kind not in "fiu":
        expected = "contain one row of numbers for each image, (n_samples, n_features)"
    elif vectors.shape[0] < 2 or vectors.shape[1] == 0:
        expected = "contain two images at least"
    if expected is not None:
        got = f"shape {vectors.shape} of {vectors.dtype}"
        problem = f"{name} must {expected}, got {got}."
        remedy = "Give another array."
        if vectors.ndim == 1:
            remedy = (
                "One number a row is a score: name the list of the pairs (--trials)."
            )
        raise invalid("embedding", None, problem, remedy)
    if finite and (bad := np.flatnonzero(failed_rows(vectors))).size:
        rows = f"in {_files.data_row(bad[0])} ({bad.size} such rows)"
        problem = f"{name} has nan, infinite values or zeros alone {rows};"
        raise invalid("embedding", None, problem, ABOUT_FAILURES)


def _check_labels(argument, name, labels, n_samples):
    kinds = "O" + _files.KINDS_OF_LABELS
    if labels.shape != (n_samples,) or labels.dtype.kind not in kinds:
        problem = f"{name!r} must contain one number or text for each of the {n_samples} rows of "
        problem += f"the embeddings, got shape {labels.shape} of type {labels.dtype}."
        raise invalid(argument, name, problem, "Name another.")


# ---- templates, from an enrolment list or from a column ------------------------------


TEMPLATES = ("mean", "max")
# What marks images in a column, in lower case.
MARKS = dict.fromkeys(
    "1 yes y true enrol enroll enrolled enrolment enrollment".split(), 1
)
MARKS |= dict.fromkeys("0 no n false test probe verify nan".split(), 0)


def columns_of_enrolment(enrolment, template, image):
    """Columns that :func:`enrol` needs, each with the argument that names it, a dict."""
    if enrolment is None:
        if template is not None:
            problem = (
                f"{template!r} is of images enrolled together, and none are named;"
            )
            remedy = "name the list or the column that does (enrolment, --enrolment)."
            raise invalid("template", template, problem, remedy)
        return {}
    is_list = os.path.isfile(enrolment)
    return {image: "image"} if is_list else {enrolment: "enrolment"}


def enrol(data, enrolment, template, image):
    """Data in which the images of each template are one row, behind all images not enrolled.

    Parameters
    ----------
    data : Bunch
        Of ``read_embeddings`` or ``read_labels``, with :func:`columns_of_enrolment`.
    enrolment : str
        A list, each line of which has the name of a template and those of its images, or
        the column that marks images enrolled, all of a person's as one template.
    template : {"mean", "max"} or None
        The mean of unit rows, or all of them, of which the best counts. If None, "mean".
        Rows that failed are left out if a template has others.
    image : str
        Column with the names of the images. Templates are called as the list does, or as
        their person.

    Returns
    -------
    data : Bunch
        A copy. ``enrolled`` marks the templates, (n_rows,). ``samples`` has the embeddings
        behind each row, as Samples, and is None unless the template is "max". In that case X
        has the first of them.

    Raises
    ------
    ArgumentError
        If no image is enrolled, or all are. A template names unknown images, or images of
        several people.
    """
    enrolment = check_path(enrolment, "enrolment")
    check_option(template or "mean", "template", TEMPLATES)
    by_column = enrolment in data.columns
    if by_column:
        column = data.columns[enrolment]
        how = (MARKS, "enrolment", enrolment, "write yes, or no.", 0)
        marks = _files.meanings(column, np.arange(column.size), *how)
        rows = np.flatnonzero(marks == 1)
        names = data.y[rows].astype(str)
    else:
        names, rows = _read_list(enrolment, data, image)
    enrolled = np.isin(np.arange(data.y.size), rows)
    if enrolled.all() or not enrolled.any():
        n = f"{enrolled.sum():,} of {enrolled.size:,}"
        problem = f"{enrolment!r} enrols {n} images;"
        remedy = "leave some to be compared with the templates."
        raise invalid("enrolment", enrolment, problem, remedy)
    names, of_row = np.unique(names, return_inverse=True)
    with_numbers = data.X.shape[1] > 0
    failed = failed_rows(data.X[rows]) if with_numbers else np.zeros(rows.size, bool)
    kept = ~failed | (np.bincount(of_row[~failed], minlength=names.size) == 0)[of_row]
    order = np.flatnonzero(kept)[np.argsort(of_row[kept], kind="stable")]
    rows, first = rows[order], np.flatnonzero(np.diff(of_row[order], prepend=-1))
    person = encode(data.y, "y").codes[rows]
    if (mixed := joint_codes(person, first) < 0).any():
        own = of_row[order] == mixed.argmax()
        people = _files.few(data.y[rows[own]], "people")
        problem = f"{enrolment!r} has images of {people} in template "
        problem += f"{names[mixed.argmax()]!r};"
        raise invalid("enrolment", enrolment, problem, "a template is of one person.")
    others = np.flatnonzero(~enrolled)
    taken, first = np.append(others, rows[first]), np.append(first, rows.size)
    columns = {
        name: _with_templates(name, column, others, rows, first)
        for name, column in data.columns.items()
        if name != enrolment
    }
    if image in columns:
        columns[image] = join_columns([data.columns[image][others], names])
    X, samples = data.X[taken], None
    if with_numbers and template == "max":
        n = np.append(np.ones(others.size, int), np.diff(first))
        samples = Samples(data.X[np.append(others, rows)], np.append(0, np.cumsum(n)))
    elif with_numbers:
        X = X.astype(float_type(X.dtype))
        with np.errstate(invalid="ignore"):  # of templates whose images all failed
            X[others.size :] = mean_rows(data.X[rows], first, "cosine")
    what = f"{names.size:,} templates of {rows.size:,} images ({template or 'mean'})"
    new = {"X": X, "y": data.y[taken], "columns": columns, "samples": samples}
    new["read_as"] = data.read_as | {data.path if by_column else enrolment: what}
    return Bunch(**data | new, enrolled=np.arange(taken.size) >= others.size)


def _with_templates(name, column, others, rows, first):
    """A column of other images, then of templates: None where images of one differ."""
    codes = encode(column, name, allow_unknown=True).codes[rows]
    found = column[np.append(others, rows[first[:-1]])]
    differ = (joint_codes(codes, first[:-1]) < 0) & (codes[first[:-1]] >= 0)
    if differ.any():
        found = found.astype(object)
        found[others.size :][differ] = None
    return found


def _read_list(path, data, image):
    """Names of templates, and rows of their images, of an enrolment list."""
    with _texts.explained(path, "enrolment"):
        lines = _texts.content_of(path).decode().splitlines()
    words = [line.split() for line in lines if line.strip()]
    pairs = [
        (n.removesuffix(":"), one) for n, *own in words for one in own if one != ":"
    ]
    names, images = np.array([*dict.fromkeys(pairs)], dtype=object).reshape(-1, 2).T
    rows = find_listed(
        ("enrolment", path), images, data.columns[image], image, data.path
    )
    people = data.y.astype(str)
    if (wrong := np.isin(names, people) & (names != people[rows])).any():
        row = wrong.argmax()
        problem = f" has {images[row]!r} as an image of {names[row]!r}, and {data.path!r} as one "
        problem += f"of {people[rows[row]]!r};"
        raise _files.file_error("enrolment", path, problem, "correct one of them.")
    return names, rows
