"""What several systems have in common: the same images, or the same pairs, in one order."""

from dataclasses import replace

import numpy as np

from skfairfr.report._data import EmbeddingData, PairData
from skfairfr.utils._errors import Argument, ArgumentError, plain
from skfairfr.utils._labels import encode, join_columns, to_column, types_in_words

KINDS = {EmbeddingData: "embeddings", PairData: "scored pairs"}
PAIRED = "a paired comparison needs the same people, images and labels."


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
    kinds = {type(one) for one in data}
    if len(kinds) > 1:
        raise ArgumentError(
            Argument("after"),
            f": {names[0]} holds {KINDS[type(data[0])]}, and another system does not;",
            remedy="give files of one kind.",
        )
    embedded = kinds == {EmbeddingData}
    keys = (_keys_of_rows if embedded else _keys_of_pairs)(data, names)
    unit = "images" if embedded else "pairs"
    if keys is None:
        sizes = [_size(one) for one in data]
        for name, size in zip(names, sizes, strict=True):
            if size != sizes[0]:
                raise ArgumentError(
                    Argument("after"),
                    f": {name} has {size:,} {unit} and {names[0]} {sizes[0]:,}, which have "
                    "no names to pair them by;",
                    remedy=_how_to_name(embedded),
                )
        rows = [slice(None)] * len(data)
        left_out = (0,) * len(data)
    else:
        rows, left_out = _common_rows(keys, names, unit)
    common = [_take(one, own) for one, own in zip(data, rows, strict=True)]
    if keys is not None and not embedded:
        common = _turned_alike(common)
    for one, name in zip(common[1:], names[1:], strict=True):
        _check_labels(common[0], one, names[0], name, keys is None, embedded)
    return common, left_out


def _size(one):
    return len(one.y if isinstance(one, EmbeddingData) else one.y_score)


def _how_to_name(embedded):
    if embedded:
        return ("name the rows with ", Argument("image"), ".")
    return (
        "name the images with ",
        Argument("image_1"),
        " and ",
        Argument("image_2"),
        ".",
    )


def _keys_of_rows(data, names):
    """Codes of the names of rows, of every system; None where they have no names."""
    if not _all_named([one.names is not None for one in data], True):
        return None
    columns = [to_column(one.names, "image") for one in data]
    for column, name in zip(columns, names, strict=True):
        _check_types(columns[0], column, "image", (names[0], name))
    return _together(columns)


def _keys_of_pairs(data, names):
    """Codes of the names of both images in either order; None without names."""
    named = [all(side is not None for side in one.image_names) for one in data]
    if not _all_named(named, False):
        return None
    for side, what in enumerate(("image_1", "image_2")):
        columns = [to_column(one.image_names[side], what) for one in data]
        for column, name in zip(columns, names, strict=True):
            _check_types(columns[0], column, what, (names[0], name))
    codes = _image_codes(data)
    n_images = max(both.max() for both in codes) + 1
    return [both.min(axis=0) * n_images + both.max(axis=0) for both in codes]


def _image_codes(data):
    columns = [to_column(c, "image") for one in data for c in one.image_names]
    codes = _together(columns)
    return [np.stack(codes[k : k + 2]) for k in range(0, len(codes), 2)]


def _all_named(named, embedded):
    if any(named) and not all(named):
        raise ArgumentError(
            Argument("after"),
            ": one system names its images and another does not;",
            remedy=_how_to_name(embedded),
        )
    return all(named)


def _together(columns):
    """Codes of the labels of several columns, the same of the same labels."""
    codes = encode(join_columns(columns), "image").codes.astype(np.int64)
    return np.split(codes, np.cumsum([len(c) for c in columns])[:-1])


def _common_rows(keys, names, unit):
    """Rows of every system with the keys that all have, in the order of the first."""
    if all(np.array_equal(own, keys[0]) for own in keys):
        return [slice(None)] * len(keys), (0,) * len(keys)
    for own, name in zip(keys, names, strict=True):
        twice = own.size - np.unique(own).size
        if twice:
            raise ArgumentError(
                Argument("after"),
                f": {name} names {twice:,} {unit} twice, so that they cannot be paired;",
                remedy="give each once.",
            )
    common = keys[0]
    for own in keys[1:]:
        common = common[np.isin(common, own)]
    if not common.size:
        raise ArgumentError(
            Argument("after"),
            f": the systems have no {unit} in common;",
            remedy=PAIRED,
        )
    rows = []
    for own in keys:
        order = np.argsort(own, kind="stable")
        rows.append(order[np.searchsorted(own[order], common)])
    return rows, tuple(own.size - common.size for own in keys)


def _take(one, rows):
    """Some rows of the data."""
    if isinstance(rows, slice):
        return one
    if isinstance(one, EmbeddingData):
        return replace(
            one,
            X=np.asarray(one.X)[rows],
            y=to_column(one.y, "y")[rows],
            columns={k: to_column(v, k)[rows] for k, v in one.columns.items()},
            domain=None
            if one.domain is None
            else to_column(one.domain, "domain")[rows],
            names=to_column(one.names, "image")[rows],
        )

    def some(sides):
        return tuple(to_column(side, "labels")[rows] for side in sides)

    return _of_sides(one, some, np.asarray(one.y_score)[rows])


def _turned_alike(data):
    """Pairs with the image first whose name comes first in all of them."""
    found = []
    for one, codes in zip(data, _image_codes(data), strict=True):
        turned = codes[0] > codes[1]

        def alike(sides, turned=turned):
            first, second = (to_column(side, "labels") for side in sides)
            return np.where(turned, second, first), np.where(turned, first, second)

        found.append(_of_sides(one, alike, one.y_score))
    return found


def _of_sides(one, change, y_score):
    """Pairs whose labels of the first and of the second images were changed."""
    columns = {name: change(sides) for name, sides in one.columns.items()}
    return replace(
        one,
        y_score=y_score,
        identities=change(one.identities),
        columns=columns,
        image_names=change(one.image_names),
    )


def _check_labels(ours, theirs, our_name, name, by_order, embedded):
    """Raise, naming what differs, unless what is paired has the same labels."""
    for what, one, other in _labels_of(ours, theirs, name, embedded):
        if (one is None) != (other is None):
            raise ArgumentError(
                Argument("after"),
                f": {name} and {our_name} do not both have {what};",
                remedy=PAIRED,
            )
        if one is None:
            continue
        one, other = (to_column(column, what) for column in (one, other))
        _check_types(one, other, what, (our_name, name))
        codes = _codes_of_both(one, other, what)
        unlike = np.flatnonzero(codes[0] != codes[1])
        if unlike.size:
            row = int(unlike[0])
            there, here = (plain(column[row]) for column in (other, one))
            order = " (rows are paired in their order)" if by_order else ""
            raise ArgumentError(
                Argument("after"),
                f": {unlike.size:,} rows of {name} have another {what} than {our_name}, "
                f"the first {there!r} instead of {here!r}{order};",
                remedy=_how_to_name(embedded) if by_order else PAIRED,
            )


def _labels_of(ours, theirs, name, embedded):
    """What must be the same: a name and the column of either system."""
    for attribute in ours.columns:
        if attribute not in theirs.columns:
            raise ArgumentError(
                Argument("attributes"),
                f": {name} has no {attribute!r};",
                remedy="give all systems the same columns.",
            )
    if embedded:
        yield "identity", ours.y, theirs.y
        yield "domain", ours.domain, theirs.domain
        for attribute in ours.columns:
            yield attribute, ours.columns[attribute], theirs.columns[attribute]
        return
    for side in (0, 1):
        yield f"identity_{side + 1}", ours.identities[side], theirs.identities[side]
        for attribute in ours.columns:
            both = (data.columns[attribute][side] for data in (ours, theirs))
            yield f"{attribute}_{side + 1}", *both


def _codes_of_both(one, other, what):
    codes = encode(join_columns([one, other]), what, allow_unknown=True).codes
    return np.split(codes, [len(one)])


def _check_types(ours, theirs, what, names):
    """Raise where two systems have labels of types that are never equal."""
    types = types_in_words(ours, theirs)
    if types is not None:
        raise ArgumentError(
            Argument("after"),
            f": {what} is of type {types[0]} in {names[0]} and {types[1]} in {names[1]};",
            remedy="give the labels of all systems in one type.",
        )
