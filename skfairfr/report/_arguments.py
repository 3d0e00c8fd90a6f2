"""Data and labels as callers give them: what is accepted, and the names that they bring."""

from itertools import islice

import narwhals.stable.v2 as nw

from skfairfr.report._data import EmbeddingData, PairData
from skfairfr.utils._errors import Argument, ArgumentError, kind_of_value, size_of
from skfairfr.utils._labels import check_text
from skfairfr.utils._validation import check_option, check_seed

# The name of an attribute whose labels come without one.
UNNAMED = "group"


def check_data(data):
    """Raise unless this is data to audit."""
    if not isinstance(data, EmbeddingData | PairData):
        raise ArgumentError(
            Argument("data"),
            f" must be an EmbeddingData or a PairData; got {kind_of_value(data)}.",
            remedy="Give EmbeddingData(X, y, columns), or what read_data reads.",
            value=data,
        )
    check_text(data.columns, "attribute")


def check_options(options):
    """Raise where options that are used before any fit, or without one, are out of range."""
    check_option(options.average, "average", ("pair", "identity"))
    check_option(options.impostors, "impostors", ("all", "same_group"))
    check_seed(options.random_state)


def check_labels(sensitive_features):
    """Raise where there are no labels at all."""
    native = nw.from_native(sensitive_features, pass_through=True)
    empty = sensitive_features == {} if isinstance(sensitive_features, dict) else False
    if isinstance(native, nw.DataFrame):
        empty = not native.columns
    if sensitive_features is None or empty:
        problem = "is None" if sensitive_features is None else "has no column"
        raise ArgumentError(
            Argument("sensitive_features"),
            f" {problem}, and an audit compares the groups of one attribute at least;",
            remedy="give the group of each image.",
            value=sensitive_features,
        )


def check_unnamed(attribute, columns):
    """Raise where labels that have names are given another."""
    if attribute is not None:
        raise ArgumentError(
            Argument("attribute", attribute),
            " names labels that come without a name, and ",
            Argument("sensitive_features"),
            f" names its own ({', '.join(columns)});",
            remedy="leave it out.",
        )


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
    if (identities is None) != (y_true is None):
        return
    given = "are None" if y_true is None else "were both given"
    raise ArgumentError(
        *(Argument("identities"), " and ", Argument("y_true"), f" {given};"),
        remedy="give whom the images show or, where no person is known, y_true alone.",
    )


def pair_columns(sensitive_features):
    """Name -> labels of both images; None where labels come without names."""
    if isinstance(sensitive_features, dict):
        return {
            str(name): groups_of_both(both, "sensitive_features", f" of {name!r}")
            for name, both in sensitive_features.items()
        }
    both = groups_of_both(sensitive_features, "sensitive_features")
    first, second = map(named_columns, both)
    if first is None and second is None:
        return None
    if first is None or second is None or list(first) != list(second):
        raise ArgumentError(
            Argument("sensitive_features"),
            " must have the same columns for the first and the second image of a pair;",
            remedy="give two frames with columns of the same names.",
        )
    return {name: (first[name], second[name]) for name in first}


def groups_of_both(values, name, where=""):
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
    if is_one:
        return (values, values)
    return two_columns(values, name, where)


def two_columns(values, name, where="", needed=True):
    """Labels of the first and of the second image of each pair, a tuple of two.

    Parameters
    ----------
    values : tuple or array of two array-likes, shape (n_pairs,)
    name : str
        The argument, for messages.
    where : str, default=""
        Which part of it, for messages.
    needed : bool, default=True
        Whether either may not be None.
    """
    native = nw.from_native(values, pass_through=True, allow_series=True)
    is_one = isinstance(native, nw.DataFrame | nw.Series | str | dict)
    if not is_one and size_of(values) == 2:
        both = tuple(values)
        if all(
            _is_column(column) or (column is None and not needed) for column in both
        ):
            return both
    raise ArgumentError(
        Argument(name),
        f"{where} must be a tuple of two array-likes, for the first and for the second "
        f"image of each pair; got {kind_of_value(values)}.",
        value=values,
    )


def _is_column(value):
    return size_of(value) is not None and not isinstance(value, str | dict)


def _is_label(value):
    return size_of(value) is None or isinstance(value, str)
