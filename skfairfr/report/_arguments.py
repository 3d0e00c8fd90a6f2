"""Data and labels as callers give them: what is accepted, and the names that they bring."""

from collections.abc import Mapping
from itertools import islice

import narwhals.stable.v2 as nw

from skfairfr._core._pairs import usual_far_max
from skfairfr.report._data import EmbeddingData, PairData
from skfairfr.utils._errors import ArgumentError, kind_of_value, plain, refused, size_of
from skfairfr.utils._labels import check_length, check_text, to_column, to_columns
from skfairfr.utils._validation import check_line, check_scores, count_images

# The name of an attribute whose labels come without one.
UNNAMED = "group"
# What a caller may say of the test.
ABOUT = ("title", "system", "dataset", "organisation")


def check_data(data, argument="columns", *, named=True):
    """Raise unless this is data to audit, whose rows are as many in every part.

    Parameters
    ----------
    data : object
    argument : str, default="columns"
        What the caller calls the columns, for messages.
    named : bool, default=True
        Whether the caller gave the names of the columns.
    """
    if not isinstance(data, EmbeddingData | PairData):
        raise refused(
            "data",
            data,
            f"must be an EmbeddingData or a PairData; got {kind_of_value(data)}.",
            "Give EmbeddingData(X, y, columns), or what read_data reads.",
        )
    _check_names(data.columns, argument if named else "attribute")
    embedded = isinstance(data, EmbeddingData)
    (_check_images if embedded else _check_listed)(data, argument, named)
    check_text(data.columns, "attribute")


def choose_far_max(n_images, far):
    """The FAR up to which pairs are held: the largest level, or more of few images.

    Rates at the levels are exact; others, such as the FAR of one group at a threshold for
    all, may exceed them.
    """
    rule = usual_far_max(n_images)
    return rule if far is None else max(rule, float(far.max()))


def restated(error, argument, value):
    """An error about a part of an argument as one about the argument, an ArgumentError."""
    if getattr(error, "argument", None) == argument:
        return error
    remedy = error.remedy if isinstance(error, ArgumentError) else ""
    problem = str(error).removesuffix(remedy).rstrip()
    return refused(argument, value, f"cannot be used: {problem}", remedy)


def check_about(about):
    """Raise unless these are texts about a test by name."""
    if not isinstance(about, Mapping) or about.keys() - {*ABOUT}:
        raise refused(
            "about",
            about,
            f"must be a dict; got {plain(about)!r}.",
            f"Give texts for some of {', '.join(ABOUT)}.",
        )
    for name, text in about.items():
        check_line(text, name)


def columns_of(sensitive_features, attribute, of_pairs=False):
    """Name -> labels as callers give them, and whether they came with their names."""
    native = nw.from_native(sensitive_features, pass_through=True)
    empty = isinstance(sensitive_features, dict) and not sensitive_features
    if isinstance(native, nw.DataFrame):
        empty = not native.columns
    if sensitive_features is None or empty:
        problem = "is None" if sensitive_features is None else "has no column"
        raise refused(
            "sensitive_features",
            sensitive_features,
            f"{problem}, and an audit compares the groups of one attribute at least;",
            "give the group of each image.",
        )
    columns = (pair_columns if of_pairs else named_columns)(sensitive_features)
    if columns is None:
        labels, name = sensitive_features, name_of
        if of_pairs:
            labels, name = groups_of_both(labels, "sensitive_features"), name_of_both
        return {attribute or name(labels) or UNNAMED: labels}, False
    if attribute is not None:
        raise refused(
            "attribute",
            attribute,
            f"{attribute!r} names labels that come without a name, and sensitive_features "
            f"names its own ({', '.join(columns)});",
            "leave it out.",
        )
    return columns, True


def named_columns(sensitive_features):
    """Name -> labels of a dict or of a frame with several columns; None of other labels."""
    if isinstance(sensitive_features, dict):
        return {str(name): labels for name, labels in sensitive_features.items()}
    native = nw.from_native(sensitive_features, pass_through=True)
    if isinstance(native, nw.DataFrame) and len(native.columns) > 1:
        return {str(name): native[name] for name in native.columns}
    return None


def name_of(labels):
    """Name of a series, or of the one column of a frame; empty of other labels."""
    native = nw.from_native(labels, pass_through=True, allow_series=True)
    if isinstance(native, nw.DataFrame):
        return str(native.columns[0])
    name = native.name if isinstance(native, nw.Series) else None
    return "" if name is None else str(name)


def name_of_both(both):
    """The name of two columns: that of both, or NAME of NAME_1 and NAME_2; else empty."""
    first, second = map(name_of, both)
    if first == second:
        return first
    stem = first.removesuffix("_1")
    return stem if (first, second) == (f"{stem}_1", f"{stem}_2") else ""


def check_people(identities, y_true):
    """Raise unless pairs name their people, or say which of them are genuine."""
    if (identities is None) == (y_true is None):
        given = "are None" if y_true is None else "were both given"
        raise refused(
            "identities",
            identities,
            f"and y_true {given};",
            "give whom the images show or, where no person is known, y_true alone.",
        )


def pair_columns(sensitive_features):
    """Name -> labels of both images; None where labels come without names."""
    if isinstance(sensitive_features, dict):
        return {
            str(name): groups_of_both(both, f"sensitive_features[{name!r}]")
            for name, both in sensitive_features.items()
        }
    both = groups_of_both(sensitive_features, "sensitive_features")
    first, second = map(named_columns, both)
    if first is None and second is None:
        return None
    if first is None or second is None or list(first) != list(second):
        raise refused(
            "sensitive_features",
            sensitive_features,
            "must have the same columns for the first and the second image of a pair;",
            "give two frames with columns of the same names.",
        )
    return {name: (first[name], second[name]) for name in first}


def groups_of_both(values, name):
    """Labels of both images of each pair, a tuple of two; one column is that of both."""
    native = nw.from_native(values, pass_through=True, allow_series=True)
    if isinstance(native, nw.DataFrame):
        # Two columns may be meant for the two images, or for two attributes.
        is_one = len(native.columns) == 1
    elif isinstance(native, nw.Series):
        is_one = True
    else:
        # The first two tell labels from columns.
        is_one = _is_column(values) and all(map(_is_label, islice(values, 2)))
    return (values, values) if is_one else two_columns(values, name)


def two_columns(values, name, needed=True):
    """Labels of the first and of the second image of each pair, a tuple of two.

    Parameters
    ----------
    values : tuple or array of two array-likes, shape (n_pairs,)
    name : str
        The argument, for messages.
    needed : bool, default=True
        Whether either may not be None.
    """
    native = nw.from_native(values, pass_through=True, allow_series=True)
    is_one = isinstance(native, nw.DataFrame | nw.Series | str | dict)
    if not is_one and size_of(values) == 2:
        both = tuple(values)
        if all(_is_column(c) or (c is None and not needed) for c in both):
            return both
    raise refused(
        name,
        values,
        "must be a tuple of two array-likes, for the first and for the second image of "
        f"each pair; got {kind_of_value(values)}.",
    )


def _check_names(columns, argument):
    """Raise unless columns have names, all of them texts."""
    names = [0] if not isinstance(columns, Mapping) else columns
    wrong = [name for name in names if not isinstance(name, str)]
    if wrong:
        got = kind_of_value(columns) if names is not columns else f"{plain(wrong[0])!r}"
        raise refused(
            argument,
            columns,
            f"must be a dict of names, as texts, to the labels of each row; got {got}.",
            'Give {"gender": labels}.',
        )


def _check_images(data, argument, named):
    """Raise unless embeddings and all their labels have one number of rows."""
    n_images = count_images(data.X)
    for name in ("y", "domain", "names"):
        labels = getattr(data, name)
        if labels is not None or name == "y":
            check_length(to_column(labels, name), n_images, name, "X")
    for key, labels in data.columns.items():
        name = f"{argument}[{key!r}]" if named else argument
        for column in to_columns(labels, name):
            check_length(column, n_images, name, "X")


def _check_listed(data, argument, named):
    """Raise unless scores and the labels of both images have one number of rows."""
    check_people(data.identities, data.y_true)
    n_pairs = check_scores(data.y_score, "y_score").size
    sides = {"image_names": two_columns(data.image_names, "image_names", needed=False)}
    if data.y_true is not None:
        check_length(to_column(data.y_true, "y_true"), n_pairs, "y_true", "y_score")
    else:
        sides["identities"] = two_columns(data.identities, "identities")
    for key, labels in data.columns.items():
        name = f"{argument}[{key!r}]"
        sides[name if named else argument] = two_columns(labels, name)
    for name, both in sides.items():
        for side, labels in enumerate(both):
            if labels is not None:
                column = to_column(labels, f"{name}[{side}]")
                check_length(column, n_pairs, f"{name}[{side}]", "y_score")


def _is_column(value):
    return size_of(value) is not None and not isinstance(value, str | dict)


def _is_label(value):
    return size_of(value) is None or isinstance(value, str)
