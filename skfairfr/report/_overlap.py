"""What several systems have in common: the same images, or the same pairs, in one order."""

from dataclasses import replace

import numpy as np

from skfairfr.report._data import EmbeddingData, PairData
from skfairfr.utils._errors import Argument, ArgumentError, plain
from skfairfr.utils._labels import encode, join_columns, to_column, types_in_words

KINDS = {EmbeddingData: "embeddings", PairData: "scored pairs"}
PAIRED = "a paired comparison needs the same people, images and labels."
# How to name the images of either kind.
NAMING = {
    EmbeddingData: ("name the rows with ", Argument("image"), "."),
    PairData: (
        *("name the images with ", Argument("image_1"), " and "),
        *(Argument("image_2"), "."),
    ),
}


def overlap(data, names):
    """The images, or the pairs, that all systems have, in one order.

    Images of embeddings are known by the names of their rows, pairs by those of their two
    images, in either order; without names, rows are the same in the order of the files.

    Parameters
    ----------
    data : sequence of EmbeddingData or PairData
        All of one kind.
    names : sequence of str
        Of the systems, for messages.

    Returns
    -------
    common : list of EmbeddingData or PairData
    left_out : tuple of int
        Images, or pairs, of every system that another lacks.

    Raises
    ------
    ArgumentError
        If the systems have nothing in common, or other labels of what they have.
    """
    kind = type(data[0])
    if any(type(one) is not kind for one in data):
        problem = f"{names[0]} holds {KINDS[kind]}, and another system does not"
        raise _unpaired(problem, "give files of one kind.")
    unit = "images" if kind is EmbeddingData else "pairs"
    keys = _keys(data, names)
    if keys is None:
        sizes = [len(one.y if unit == "images" else one.y_score) for one in data]
        for name, size in zip(names, sizes, strict=True):
            if size != sizes[0]:
                raise _unpaired(
                    f"{name} has {size:,} {unit} and {names[0]} {sizes[0]:,}, which have "
                    "no names to pair them by",
                    NAMING[kind],
                )
        common, left_out = list(data), (0,) * len(data)
    else:
        rows, left_out = _common_rows(keys, names, unit)
        # Where all have the same rows, nothing is copied.
        common = [
            one if own is None else one.take(own)
            for one, own in zip(data, rows, strict=True)
        ]
        if kind is PairData:
            common = _turned_alike(common)
    for one, name in zip(common[1:], names[1:], strict=True):
        _check_labels(common[0], one, (names[0], name), keys is None)
    return common, left_out


def _unpaired(problem, remedy=PAIRED):
    """An error about systems that cannot be paired."""
    return ArgumentError(Argument("after"), f": {problem};", remedy=remedy)


def _image_names(one):
    """The names of images, or of either image of pairs, by what they are called."""
    if isinstance(one, EmbeddingData):
        return {"image": one.names}
    return dict(zip(("image_1", "image_2"), one.image_names, strict=True))


def _keys(data, names):
    """Codes of images, or of pairs in either order, of every system; None without names."""
    sides = [_image_names(one) for one in data]
    named = [all(column is not None for column in own.values()) for own in sides]
    if not any(named):
        return None
    if not all(named):
        problem = "one system names its images and another does not"
        raise _unpaired(problem, NAMING[type(data[0])])
    for what in sides[0]:
        columns = [to_column(own[what], what) for own in sides]
        for column, name in zip(columns, names, strict=True):
            _check_types(columns[0], column, what, (names[0], name))
    codes = _image_codes(data)
    if len(sides[0]) == 1:
        return [own[0] for own in codes]
    n_images = max(both.max() for both in codes) + 1
    return [both.min(axis=0) * n_images + both.max(axis=0) for both in codes]


def _image_codes(data):
    """Codes of the names of images of every system, (n_sides, n_rows) each."""
    columns = [
        to_column(column, what)
        for one in data
        for what, column in _image_names(one).items()
    ]
    codes = encode(join_columns(columns), "image").codes.astype(np.int64)
    codes = np.split(codes, np.cumsum([len(c) for c in columns])[:-1])
    n_sides = len(columns) // len(data)
    return [np.stack(codes[k : k + n_sides]) for k in range(0, len(codes), n_sides)]


def _common_rows(keys, names, unit):
    """Rows of every system with the keys that all have, in the order of the first.

    None where all systems have the same rows.
    """
    if all(np.array_equal(own, keys[0]) for own in keys):
        return [None] * len(keys), (0,) * len(keys)
    for own, name in zip(keys, names, strict=True):
        twice = own.size - np.unique(own).size
        if twice:
            problem = (
                f"{name} names {twice:,} {unit} twice, so that they cannot be paired"
            )
            raise _unpaired(problem, "give each once.")
    common = keys[0]
    for own in keys[1:]:
        common = common[np.isin(common, own)]
    if not common.size:
        raise _unpaired(f"the systems have no {unit} in common")
    rows = []
    for own in keys:
        order = np.argsort(own, kind="stable")
        rows.append(order[np.searchsorted(own[order], common)])
    return rows, tuple(own.size - common.size for own in keys)


def _turned_alike(data):
    """Pairs with the image first whose name comes first in all of them."""
    found = []
    for one, codes in zip(data, _image_codes(data), strict=True):
        turned = codes[0] > codes[1]

        def alike(sides, turned=turned):
            first, second = (to_column(side, "labels") for side in sides)
            return np.where(turned, second, first), np.where(turned, first, second)

        sides = {
            "identities": alike(one.identities),
            "columns": {name: alike(both) for name, both in one.columns.items()},
            "image_names": alike(one.image_names),
        }
        found.append(replace(one, **sides))
    return found


def _check_labels(ours, theirs, names, by_order):
    """Raise, naming what differs, unless what is paired has the same labels."""
    our_name, name = names
    for attribute in ours.columns:
        if attribute not in theirs.columns:
            raise ArgumentError(
                Argument("attributes"),
                f": {name} has no {attribute!r};",
                remedy="give all systems the same columns.",
            )
    labels = (_labels_of(one, ours.columns) for one in (ours, theirs))
    for (what, one), (_, other) in zip(*labels, strict=True):
        if (one is None) != (other is None):
            raise _unpaired(f"{name} and {our_name} do not both have {what}")
        if one is None:
            continue
        one, other = (to_column(column, what) for column in (one, other))
        _check_types(one, other, what, names)
        codes = encode(join_columns([one, other]), what, allow_unknown=True).codes
        unlike = np.flatnonzero(np.not_equal(*np.split(codes, [len(one)])))
        if unlike.size:
            row = int(unlike[0])
            there, here = (plain(column[row]) for column in (other, one))
            order = " (rows are paired in their order)" if by_order else ""
            raise _unpaired(
                f"{unlike.size:,} rows of {name} have another {what} than {our_name}, "
                f"the first {there!r} instead of {here!r}{order}",
                NAMING[type(ours)] if by_order else PAIRED,
            )


def _labels_of(one, attributes):
    """What must be the same, names and columns in a list."""
    columns = [(attribute, one.columns[attribute]) for attribute in attributes]
    if isinstance(one, EmbeddingData):
        return [("identity", one.y), ("domain", one.domain), *columns]
    return [
        (f"{name}_{side + 1}", both[side])
        for side in (0, 1)
        for name, both in (("identity", one.identities), *columns)
    ]


def _check_types(ours, theirs, what, names):
    """Raise where two systems have labels of types that are never equal."""
    types = types_in_words(ours, theirs)
    if types is not None:
        raise _unpaired(
            f"{what} is of type {types[0]} in {names[0]} and {types[1]} in {names[1]}",
            "give the labels of all systems in one type.",
        )
