"""Labels and options as callers give them, and columns that may name groups."""

from collections.abc import Mapping
from contextlib import suppress
from itertools import islice

import narwhals.stable.v2 as nw
import numpy as np

from skfairfr._core._pairs import usual_far_max
from skfairfr.datasets._embeddings import IDENTITY_NAMES
from skfairfr.datasets._files import kind_of, open_npz
from skfairfr.datasets._scored_pairs import PEOPLE, SIDES
from skfairfr.metrics._roc._inputs import common_names
from skfairfr.utils._bands import split_bands
from skfairfr.utils._errors import ArgumentError, invalid, kind_of_value, plain, size_of
from skfairfr.utils._labels import encode, join_columns
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
        raise invalid("about", about, f"must be a dict, got {plain(about)!r}.", remedy)
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
            "has no column. Pass the group of each image, or None to audit everyone."
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
    raise invalid(name, values, f"{problem}each pair, got {kind_of_value(values)}.")


def _is_column(value):
    return size_of(value) is not None and not isinstance(value, str | dict)


def _is_label(value):
    return size_of(value) is None or isinstance(value, str)


# More labels than this are names or numbers.
MOST_LABELS = 20
# A million rows would take seconds.
MOST_ROWS = 50_000
# What names people: in a table of images or attempts, and in one of pairs.
OF_ONE = (*IDENTITY_NAMES, "person")


def candidate_columns(files, options, tables):
    """Columns of 2 to 20 labels, each person with one. For pairs those of both images.

    Parameters
    ----------
    files : list of str
        Data and tables that were read with them.
    options : dict
        Of :func:`read_data`, which name what is no group.
    tables : dict of str -> Table
        Those of the files that are tables.

    Returns
    -------
    names : tuple of str
        What ``attributes`` takes.
    """
    found = {}
    for path in files:
        # This is a hint, and errors of reading were raised before.
        with suppress(ValueError, ImportError):
            if path in tables:
                found |= dict.fromkeys(_of_source(tables[path], options))
            elif kind_of(path) == "npz":
                with open_npz(path) as archive:
                    found |= dict.fromkeys(_of_source(archive, options))
    return tuple(found)


def _of_source(source, options):
    """The same of an Archive or a Table, a list."""
    present = source.names
    both = [options[name] or name for name in PEOPLE]
    one = [options["identity"], options["on"], *OF_ONE]
    one = next((name for name in one if name in present), None)
    used = {*map(str, options.values()), one, *both}
    whose, columns = [one], {name: [name] for name in present}
    if one is None:  # of pairs, whose people may not be known
        whose = both if {*both} <= {*present} else []
        columns = dict(filter(None, (_sides(name, present) for name in present)))
    people, n_rows = None, None
    if whose:
        sides = [source.labels(name) for name in whose]
        people, n_rows = encode(_some(sides), "people").codes, len(sides[0])
    plain = {*source.plain_columns(n_rows)}
    return [
        name
        for name, own in columns.items()
        if not used & {name, *own}
        and {*own} <= plain
        and _is_of_people(_some([source.values(n) for n in own]), people)
    ]


def _some(columns):
    """Columns of one or both images joined, of at most so many rows that are equally far apart."""
    step = -(-len(columns[0]) // MOST_ROWS)
    return join_columns([column[::step] for column in columns])


def _sides(name, present):
    """The name that two columns share, and both, if this is the first, else None."""
    for first, second in SIDES:
        start, end = first.split("*")
        shared = name.removeprefix(start).removesuffix(end)
        other = second.replace("*", shared)
        if shared and first.replace("*", shared) == name != other and other in present:
            return shared, [name, other]
    return None


def _is_of_people(labels, people):
    """Whether labels are 2 to 20, fewer than people, if these are known, and one for each."""
    found = encode(labels, "labels", allow_unknown=True)
    most = MOST_LABELS if people is None else min(MOST_LABELS, people.max())
    if not 2 <= found.values.size <= most or people is None:
        return 2 <= found.values.size <= most
    known = found.codes >= 0
    both = np.unique(np.stack([people, found.codes])[:, known], axis=1)
    return both.shape[1] == np.unique(both[0]).size
