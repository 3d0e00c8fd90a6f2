"""Data and labels as callers give them: what is accepted, and the names that they bring."""

from collections.abc import Mapping
from itertools import islice

import narwhals.stable.v2 as nw

from skfairfr._core._pairs import usual_far_max
from skfairfr.report._data import Attempts, EmbeddingData, PairData, Reading
from skfairfr.utils._errors import (
    Argument,
    ArgumentError,
    kind_of_value,
    plain,
    size_of,
)
from skfairfr.utils._labels import check_length, check_text, to_column, to_columns
from skfairfr.utils._validation import (
    check_line,
    check_option,
    check_scores,
    check_seed,
    count_images,
)

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
        raise ArgumentError(
            Argument("data"),
            f" must be an EmbeddingData or a PairData; got {kind_of_value(data)}.",
            remedy="Give EmbeddingData(X, y, columns), or what read_data reads.",
            value=data,
        )
    _check_names(data.columns, argument if named else "attribute")
    for name, kind in (("reading", Reading), ("attempts", Attempts)):
        value = getattr(data, name)
        if not isinstance(value, kind | None):
            raise ArgumentError(
                Argument(name),
                f" is made by read_data; got {kind_of_value(value)}.",
                remedy="Leave it out.",
                value=value,
            )
    check = _check_images if isinstance(data, EmbeddingData) else _check_listed
    check(data, argument, named)
    check_text(data.columns, "attribute")


def choose_far_max(n_images, far):
    """The FAR up to which pairs are held: the largest level, or more of few images.

    Rates at the levels are exact; others, such as the FAR of one group at a threshold for
    all, may exceed them.
    """
    rule = usual_far_max(n_images)
    return rule if far is None else max(rule, float(far.max()))


def check_ranges(options):
    """Raise where an option that is used before a fit, or without one, is out of range."""
    check_option(options.average, "average", ("pair", "identity"))
    check_option(options.impostors, "impostors", ("all", "same_group"))
    check_seed(options.random_state)


def restated(error, argument, value):
    """An error about a part of an argument as one about the argument, an ArgumentError."""
    problem, remedy = str(error), ()
    if isinstance(error, ArgumentError):
        problem, remedy = error.problem, error.remedy.parts
    return ArgumentError(Argument(argument), ": ", problem, remedy=remedy, value=value)


def check_about(about):
    """Raise unless these are texts about a test by name."""
    if not isinstance(about, Mapping) or about.keys() - {*ABOUT}:
        raise ArgumentError(
            Argument("about"),
            f" must be a dict of {', '.join(ABOUT)}; got {plain(about)!r}.",
            value=about,
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
        raise ArgumentError(
            Argument("sensitive_features"),
            f" {problem}, and an audit compares the groups of one attribute at least;",
            remedy="give the group of each image.",
            value=sensitive_features,
        )
    columns = (pair_columns if of_pairs else named_columns)(sensitive_features)
    if columns is None:
        labels, name = sensitive_features, name_of
        if of_pairs:
            labels, name = groups_of_both(labels, "sensitive_features"), name_of_both
        return {attribute or name(labels) or UNNAMED: labels}, False
    if attribute is not None:
        raise ArgumentError(
            Argument("attribute", attribute),
            " names labels that come without a name, and ",
            Argument("sensitive_features"),
            f" names its own ({', '.join(columns)});",
            remedy="leave it out.",
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


def _check_names(columns, argument):
    """Raise unless columns have names, all of them texts."""
    if not isinstance(columns, Mapping):
        raise ArgumentError(
            Argument(argument),
            " must be a dict of names to the labels of each row; got "
            f"{kind_of_value(columns)}.",
            remedy='Give {"gender": labels}.',
            value=columns,
        )
    for name in columns:
        if not isinstance(name, str):
            raise ArgumentError(
                Argument(argument),
                f" has the name {plain(name)!r}, and names are texts;",
                remedy=f"give {str(name)!r}.",
                value=name,
            )


def _check_images(data, argument, named):
    """Raise unless embeddings and all their labels have one number of rows."""
    n_images = count_images(data.X)
    check_length(to_column(data.y, "y"), n_images, "y", "X")
    for name in ("domain", "names"):
        labels = getattr(data, name)
        if labels is not None:
            check_length(to_column(labels, name), n_images, name, "X")
    for name, labels in data.columns.items():
        where = f"[{name!r}]" if named else ""
        for column in to_columns(labels, f"{argument}{where}"):
            check_length(column, n_images, argument, "X", where)


def _check_listed(data, argument, named):
    """Raise unless scores and the labels of both images have one number of rows."""
    check_people(data.identities, data.y_true)
    n_pairs = check_scores(data.y_score, "y_score").size
    if data.y_true is not None:
        check_length(to_column(data.y_true, "y_true"), n_pairs, "y_true", "y_score")
    else:
        both = two_columns(data.identities, "identities")
        _check_sides(both, n_pairs, "identities")
    both = two_columns(data.image_names, "image_names", needed=False)
    _check_sides(both, n_pairs, "image_names")
    for name, labels in data.columns.items():
        both = two_columns(labels, argument, f"[{name!r}]")
        _check_sides(both, n_pairs, argument, f"[{name!r}]" if named else "")


def _check_sides(both, n_pairs, argument, where=""):
    for side, labels in enumerate(both):
        if labels is not None:
            place = f"{where}[{side}]"
            column = to_column(labels, f"{argument}{place}")
            check_length(column, n_pairs, argument, "y_score", place)


def _is_column(value):
    return size_of(value) is not None and not isinstance(value, str | dict)


def _is_label(value):
    return size_of(value) is None or isinstance(value, str)
