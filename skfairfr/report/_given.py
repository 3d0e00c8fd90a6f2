"""Labels and options as callers give them: names, columns of one side or of both."""

from collections.abc import Mapping
from itertools import islice

import narwhals.stable.v2 as nw

from skfairfr._core._pairs import usual_far_max
from skfairfr.metrics._roc._inputs import common_names
from skfairfr.utils._bands import split_bands
from skfairfr.utils._errors import ArgumentError, invalid, kind_of_value, plain, size_of
from skfairfr.utils._validation import check_line

# The name of an attribute whose labels come without one.
UNNAMED = "group"
# Facts about the test that a caller may give.
ABOUT = ("title", "system", "dataset", "organisation", "tested", "labels_source")
ABOUT += ("sampling", "command")


def choose_far_max(n_images, far):
    """The FAR up to which pairs are kept: the largest level, or more of few images.

    Rates at the levels are exact. Others, such as the FAR of one group at a threshold for
    all, may exceed them.
    """
    rule = usual_far_max(n_images)
    return rule if far is None else max(rule, float(far.max()))


def reraise_for(error, argument, value):
    """An error about a part of an argument as one about the argument, an ArgumentError."""
    if getattr(error, "argument", None) == argument:
        return error
    remedy = error.remedy if isinstance(error, ArgumentError) else ""
    problem = str(error).removesuffix(remedy).rstrip()
    return invalid(argument, value, f"cannot be used: {problem}", remedy)


def check_about(about):
    """Raise unless these are texts about a test by name, or None."""
    if about is None:
        return
    if not isinstance(about, Mapping) or about.keys() - {*ABOUT}:
        remedy = f"Give texts for some of {', '.join(ABOUT)}."
        raise invalid("about", about, f"must be a dict; got {plain(about)!r}.", remedy)
    for name, text in about.items():
        check_line(text, name)


def columns_of(sensitive_features, attribute, of_pairs=False):
    """Name -> labels as callers give them, and whether they came with their names.

    None of both is an empty dict: everyone is the one group.
    """
    if sensitive_features is None:
        if attribute is not None:
            problem = f"{attribute!r} names labels, and sensitive_features is None;"
            raise invalid(
                "attribute", attribute, problem, "give them, or leave it out."
            )
        return {}, True
    columns = (_of_both if of_pairs else by_name)(sensitive_features)
    if not columns:
        problem = (
            "has no column; give the group of each image, or None to audit everyone."
        )
        raise invalid("sensitive_features", sensitive_features, problem)
    if not isinstance(sensitive_features, dict) and len(columns) == 1:
        ((name, labels),) = columns.items()
        if isinstance(attribute, str) and split_bands(attribute)[1] is not None:
            problem = f"{attribute!r} makes ranges of a column of a file;"
            remedy = "make those of arrays by skfairfr.utils.to_bands."
            raise invalid("attribute", attribute, problem, remedy)
        return {attribute or name or UNNAMED: labels}, False
    if attribute is not None:
        problem = f"{attribute!r} names labels that come without a name, and sensitive_features "
        problem += f"names its own ({', '.join(columns)});"
        raise invalid("attribute", attribute, problem, "leave it out.")
    return columns, True


def by_name(labels):
    """Name -> labels of a dict, a frame or a series. Labels without a name have an empty one."""
    if isinstance(labels, dict):
        return {str(name): column for name, column in labels.items()}
    native = nw.from_native(labels, pass_through=True, allow_series=True)
    if isinstance(native, nw.DataFrame):
        return {str(name): native[name] for name in native.columns}
    name = native.name if isinstance(native, nw.Series) else None
    return {"" if name is None else str(name): labels}


def _of_both(sensitive_features):
    """The same of both images of each pair: two columns a name."""
    if isinstance(sensitive_features, dict):
        return {
            str(name): groups_of_both(both, f"sensitive_features[{name!r}]")
            for name, both in sensitive_features.items()
        }
    both = groups_of_both(sensitive_features, "sensitive_features")
    first, second = map(by_name, both)
    called = ("sensitive_features[0]", "sensitive_features[1]")
    names = common_names([*first], [*second], called)
    if names == [*first] != [*second]:
        names = [""]
    columns = zip(first.values(), second.values(), strict=True)
    return dict(zip(names, columns, strict=True))


def check_people(identities, y_true):
    """Raise unless pairs name their people, or have labels of genuine pairs."""
    if (identities is None) == (y_true is None):
        given = "are None" if y_true is None else "were both given"
        remedy = "give whom the images show or, if no person is known, y_true alone."
        raise invalid("identities", identities, f"and y_true {given};", remedy)


def groups_of_both(values, name):
    """Labels of both images of each pair, a tuple of two. One column is that of both."""
    native = nw.from_native(values, pass_through=True, allow_series=True)
    if isinstance(native, nw.DataFrame):
        # Two columns may be meant for the two images, or for two attributes.
        is_one = len(native.columns) == 1
    elif isinstance(native, nw.Series):
        is_one = True
    else:
        # The first two separate labels from columns.
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
    problem = (
        "must be a tuple of two array-likes, for the first and for the second image of "
    )
    raise invalid(name, values, f"{problem}each pair; got {kind_of_value(values)}.")


def _is_column(value):
    return size_of(value) is not None and not isinstance(value, str | dict)


def _is_label(value):
    return size_of(value) is None or isinstance(value, str)
