"""Attributes of people, or of images, from a file of their own."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from skfairfr.datasets import _files, _tables
from skfairfr.datasets._embeddings import IDENTITY_NAMES
from skfairfr.datasets._texts import Layout
from skfairfr.utils._errors import invalid, plain
from skfairfr.utils._labels import (
    affixed,
    encode,
    find_labels,
    join_columns,
    spelled_otherwise,
    two_spellings,
)
from skfairfr.utils._types import FilePath
from skfairfr.utils._validation import check_path, warn_caller

# Usual names of the column of people, those of VoxCeleb's tables last.
NAMES_OF_PEOPLE = (*IDENTITY_NAMES, "person", "VoxCeleb1 ID", "VoxCeleb2 ID")


def join_metadata(
    data: Any,
    path: FilePath,
    *,
    on: str | None = None,
    image: str = "image",
    columns: Sequence[str] | None = None,
) -> Bunch:
    """Data with the attributes that a separate file has of the people, or of the images.

    Parameters
    ----------
    data : Bunch
        Data from :func:`load_embeddings`, :func:`load_pairs`, :func:`load_trials`,
        :func:`load_score_matrix` or :func:`load_decisions`.
    path : str or path-like
        A table in one of the formats of :func:`load_pairs`, with names in its first line, or
        a list of people and one attribute, such as Kaldi's spk2gender.
    on : str, default=None
        Its column of the people or, if this is ``image``, of the images. If None: the
        first of "identity", "identities", "y", "person", "VoxCeleb1 ID", "VoxCeleb2 ID" and
        ``image`` that is there. Labels are compared as texts.
    image : str, default="image"
        Name of the images' column. Embeddings have it under the same name.
    columns : sequence of str, shape (n_columns,), default=None
        Attributes to add, in the place of columns of the same name. None adds all.

    Returns
    -------
    data : Bunch
        A copy, in whose ``columns`` an attribute is None where the file has none. For
        pairs each attribute is two columns, ending in _1 and _2.

    Raises
    ------
    ValueError
        If the table cannot be read or lacks what is needed, has two values for one
        person or image, or names none of the data's, or the data do not name them.
    ImportError
        If a .parquet file is read without pyarrow.

    Warns
    -----
    UserWarning
        Of the people or images that are not found.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from skfairfr.datasets import join_metadata, load_embeddings
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path, people = (os.path.join(folder, n) for n in ("faces.npz", "people.csv"))
    ...     np.savez(path, embedding=np.eye(3), identity=["ann", "ann", "bob"])
    ...     with open(people, "w") as file:
    ...         _ = file.write("person,gender\\nann,f\\nbob,m\\ncleo,f")
    ...     data = join_metadata(load_embeddings(path), people, on="person")
    >>> data.columns["gender"].tolist()
    ['f', 'f', 'm']
    """
    asked = [] if columns is None else [*_files.check_columns(columns)]
    table, key = read_metadata(path, on, image, asked)
    others = [name for name in table.plain_columns(table.n_rows) if name != key]
    wanted = [("columns", (name,)) for name in (asked or others)]
    names = _files.choose_all(wanted, others, table.path)
    return joined(data, table, key, image, names)


def read_metadata(path, on, image, asked=()):
    """A table of attributes, and the name of its column of people or images.

    A list of two columns without names, such as spk2gender, has the attribute of its name, or
    the only one of ``asked``.
    """
    path = check_path(path, "metadata")
    of, named = re.match(r"(?:([a-z]+)2([a-z]+))?", os.path.basename(path)).groups()
    key = on or (image if of == "utt" else "identity")
    if named not in asked and (asked or named is None):
        named = asked[0] if len(asked) == 1 else None
    layouts = () if named is None else (Layout("attribute", (key, named)),)
    table = _tables.read_table(path, "metadata", layouts)
    usual = (on,) if on else (*NAMES_OF_PEOPLE, image)
    return table, *_files.choose_all([("on", usual)], table.names, table.path)


def joined(data, table, key, image, names):
    """A copy of data with these columns of a table."""
    what = "images" if key == image else "people"
    both = _labels_of(data, image, what, table.path)
    labels, keys = join_columns(both), table.labels(key)
    _files.check_known("on", key, keys, "every row is about one: name it.")
    places = find_labels(keys, labels)
    one, lacking = "image" if key == image else "person", labels[places < 0].astype(str)
    alike = spelled_otherwise(lacking, keys)
    found = two_spellings(alike, one) if alike else None
    if found := found or affixed(keys.astype(str).tolist(), lacking.tolist(), one):
        problem = f"{key!r} of {table.path!r} and the data contain {found[0]}"
        raise invalid("on", key, problem, found[1])
    absent = _files.few(labels[places < 0], what)
    if (places < 0).all():
        problem = (
            f"{key!r} of {table.path!r} contains none of the data's {absent}, but "
        )
        problem += f"others, as {plain(keys[0])!r};"
        raise invalid("on", key, problem, "name the column that does.")
    if (places < 0).any():
        n_all = np.unique(labels.astype(str)).size
        message = f"{table.path!r}: column {key!r} lacks {absent} of the data's {n_all:,}, whose "
        message += f"{' and '.join(map(repr, names))} is unknown."
        warn_caller(message, UserWarning)
    sides = ("",) if len(both) == 1 else ("_1", "_2")
    columns = dict(data.columns)
    for name in names:
        rows = _rows_that_tell(table, name, keys, what)[places]
        column = table.values(name)
        if (rows < 0).any():
            column = np.append(column.astype(object), None)
        parts = np.split(column[rows], len(sides))
        columns |= {f"{name}{s}": part for s, part in zip(sides, parts, strict=True)}
    return Bunch(**data | {"columns": columns})


def _labels_of(data, image, what, path):
    """Labels of the people or images of the data, a list. For pairs, of both sides."""
    if "X" in data:
        labels = [data.y if what == "people" else data.columns.get(image)]
    elif "accepted" in data:
        labels = [data.identity if what == "people" else None]
    else:
        stem = "identity" if what == "people" else "image"
        labels = [data[f"{stem}_1"], data[f"{stem}_2"]]
    if labels[0] is None:
        problem = f"{path!r} is about {what}, and the data name none;"
        other = "images" if what == "people" else "people"
        remedy = f"name its column of {other} (--on), or the {what} of both sides of each pair. "
        remedy += "A list of trials needs a list of images and people: skfairfr audit utt2spk "
        remedy += "--trials LIST --metadata FILE."
        raise invalid("metadata", path, problem, remedy)
    return labels


def _rows_that_tell(table, name, keys, what):
    """For the first row of every key the first that knows an attribute, or -1. Then -1."""
    column = table.values(name)
    codes = encode(column, name, allow_unknown=True).codes
    known, first = np.flatnonzero(codes >= 0), find_labels(keys, keys)
    row_of = np.full(keys.size, -1)
    row_of[first[known[::-1]]] = known[::-1]
    other = known[codes[known] != codes[row_of[first[known]]]]
    if other.size:
        row, before = other[0], row_of[first[other[0]]]
        values = f"{plain(column[before])!r} and {plain(column[row])!r}"
        problem = f" has two values for {_files.few(keys[other], what)}: {name!r} of "
        problem += f"{plain(keys[row])!r} is {values}."
        raise _files.file_error("metadata", table.path, problem, "Keep one.")
    return np.append(row_of, -1)
