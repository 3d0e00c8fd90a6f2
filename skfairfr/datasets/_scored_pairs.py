"""Scored pairs with the labels of their two images, from files."""

import re

import numpy as np
from sklearn.utils import Bunch

from skfairfr.datasets._files import (
    TABLE_FORMATS,
    Wanted,
    check_column,
    check_columns,
    choose_all,
    enumerated,
    file_error,
    kind_of,
    warn_of_words,
)
from skfairfr.datasets._tables import read_table
from skfairfr.utils._errors import Argument, ArgumentError, place
from skfairfr.utils._validation import check_path, warn_caller

# Names of columns that hold distances, but not "district".
DISTANCE = re.compile(r"(?<![a-z])dist(ances?)?(?![a-z])|dissim|euclid", re.IGNORECASE)
# Usual names of the column that says which pairs are genuine, and its usual values.
Y_TRUE = ("y_true", "genuine", "label")
GENUINE = {
    **dict.fromkeys(("1", "true", "genuine", "mated", "same"), 1),
    **dict.fromkeys(("0", "false", "impostor", "imposter", "different"), 0),
    **dict.fromkeys(("nonmated", "non-mated"), 0),
}


def load_pairs(
    path,
    *,
    score=None,
    identity_1=None,
    identity_2=None,
    y_true=None,
    image_1=None,
    image_2=None,
    columns=None,
    distance=False,
):
    """Scored pairs of images, as a protocol file lists them.

    Parameters
    ----------
    path : str or path-like
        A table with one row for each pair, and names in its first row: comma-separated
        (.csv) or tab-separated (.tsv) text in UTF-8, plain or compressed by gzip (.csv.gz,
        .tsv.gz), or .parquet. Large text tables are read by pyarrow or polars, where one
        is installed, in a fraction of the time and with the same result.
    score : str, default=None
        Column of the scores; None takes "score" or, of distances, the first of "distance"
        and "score" that is there.
    identity_1, identity_2 : str, default=None
        Columns that name the people in the two images; None takes "identity_1" and
        "identity_2". In text tables labels are text unless all are integers without
        leading zeros.
    y_true : str, default=None
        Where there are no such columns, the one that says whether both images show one
        person, by 1 and 0, true and false, genuine and impostor, mated and nonmated, or
        same and different; None takes "y_true", "genuine" or "label".
    image_1, image_2 : str, default=None
        Columns that name the images; None takes "image_1" and "image_2" where both are
        there.
    columns : sequence of str, shape (n_columns,), default=None
        Other columns to read, such as "gender_1" and "gender_2"; None reads all.
    distance : bool, default=False
        Whether the score is a distance, smaller meaning more alike.

    Returns
    -------
    data : Bunch
        ``y_score`` (n_pairs,), larger meaning more alike (minus a distance);
        ``identity_1`` and ``identity_2`` (n_pairs,) or, where these are None, ``y_true``
        (n_pairs,), 1 for a genuine pair and 0 for another; ``image_1`` and ``image_2``
        (n_pairs,) or None; ``columns``, a dict of arrays (n_pairs,) in which None and NaN are
        unknown; and ``path``.

    Raises
    ------
    ValueError
        If the file cannot be read, is a device or a pipe (files are read more than once),
        has more than 10,000 columns, or does not hold what is needed; the message names all
        columns that are missing.
    ImportError
        If a .parquet file is read without pyarrow.

    Warns
    -----
    UserWarning
        If labels are words for an unknown value, such as "nan" and "None".

    Examples
    --------
    >>> import os, tempfile
    >>> from skfairfr.datasets import load_pairs
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "pairs.csv")
    ...     with open(path, "w") as file:
    ...         _ = file.write("identity_1,identity_2,distance\\nann,ann,0.3\\nann,bob,1.2")
    ...     data = load_pairs(path, distance=True)
    >>> data.y_score.tolist(), data.identity_2.tolist()
    ([-0.3, -1.2], ['ann', 'bob'])
    """
    asked = check_columns(columns)
    names = {
        "score": score,
        "identity_1": identity_1,
        "identity_2": identity_2,
        "y_true": y_true,
        "image_1": image_1,
        "image_2": image_2,
    }
    return read_pairs(path, names, asked, distance)


def read_pairs(path, names, asked=None, distance=False):
    """As load_pairs.

    Parameters
    ----------
    names : dict of str -> str or None
        Column of each of score, identity_1, identity_2, image_1 and image_2 and, where
        people may be missing, of y_true.
    asked : dict of str -> str, default=None
        For each other requested column the argument that names it, for messages. Columns of
        "attributes" end in _1 and _2; where there are none, one of both images is read.
    """
    path = check_path(path, "path")
    for argument, column in names.items():
        check_column(column, argument)
    if kind_of(path) not in ("csv", "parquet"):
        raise file_error(
            "path",
            path,
            f" is no table; scored pairs are read from a {TABLE_FORMATS} file, one row for "
            "each pair.",
        )
    table = read_table(path)
    names = {"y_true": None} | names
    if asked is not None:
        asked = _of_both_images(asked, table.names)
    found = _find_columns(table.names, names, asked or {}, path, distance)
    y_score = table.numbers(found["score"])
    bad = np.flatnonzero(~np.isfinite(y_score))
    if bad.size:
        raise ArgumentError(
            Argument("score"),
            f": {found['score']!r} is missing or infinite in row {bad[0]} ({bad.size} such "
            "rows);",
            remedy="a comparison that failed is a non-match: give it the "
            f"{'largest distance' if distance else 'lowest score'}, or count failures by "
            "group apart. Without such pairs, rates hide whom the system fails.",
            value=found["score"],
        )
    identities, y_true = (None, None), None
    if "y_true" in found:
        y_true = _which_are_genuine(table, found["y_true"])
    else:
        identities = table.labels(found["identity_1"], found["identity_2"])
        for argument, labels in zip(
            ("identity_1", "identity_2"), identities, strict=True
        ):
            _check_known(argument, found[argument], labels)
            name = found[argument]
            warn_of_words(labels, name, path, table.distinct(name))
        _warn_of_contradiction(table, path, identities)
    images = (None, None)
    if found["image_1"] is not None:
        images = table.labels(found["image_1"], found["image_2"])
    if asked is None:
        plain = table.plain_columns(y_score.size)
        asked = {n: "columns" for n in plain if n not in found.values()}
    return Bunch(
        y_score=-y_score if distance else y_score,
        identity_1=identities[0],
        identity_2=identities[1],
        y_true=y_true,
        image_1=images[0],
        image_2=images[1],
        columns=_read_columns(table, asked, path),
        path=path,
    )


def _warn_of_contradiction(table, path, identities):
    """Count the pairs of which a column says another thing than the people do."""
    # A column called label may be about anything.
    for name in {*Y_TRUE[:2]} & {*table.names}:
        try:
            said = _which_are_genuine(table, name)
        except ValueError:
            continue  # a column of that name, about something else
        same = np.asarray(identities[0] == identities[1])
        n_wrong = int((said.astype(bool) != same).sum())
        if n_wrong:
            warn_caller(
                f"{path!r}: {name!r} contradicts the identities in {n_wrong:,} of "
                f"{same.size:,} pairs; the identities decide which pairs are genuine.",
                UserWarning,
            )


def _find_columns(present, names, asked, path, distance):
    """The column of each argument; None for images that are not named."""
    usual = ("distance", "score") if distance else ("score",)
    usual = usual if names["score"] is None else (names["score"],)
    wanted = [Wanted("score", usual)]
    images = {name: names[name] for name in ("image_1", "image_2")}
    without_people = _is_without_people(present, names, path)
    if without_people:
        usual = Y_TRUE if names["y_true"] is None else (names["y_true"],)
        wanted.append(Wanted("y_true", usual))
    else:
        people = ("identity_1", "identity_2")
        wanted += [Wanted(name, (names[name] or name,)) for name in people]
    unnamed = set(images.values()) == {None} and not without_people
    if unnamed and set(images) <= set(present):
        images = {name: name for name in images}
    named = {name: column for name, column in images.items() if column is not None}
    for argument in images:
        if named and argument not in named:
            raise ArgumentError(
                Argument(argument),
                " is missing while the other image was named;",
                remedy="name both.",
            )
    wanted += [Wanted(argument, (name,)) for argument, name in named.items()]
    found = [one.among(present) for one in wanted]
    if None not in found:
        _check_attributes(asked, present, found, path)
    others = [Wanted(argument, (name,)) for name, argument in asked.items()]
    remedy = _remedy(present, names, distance, found[0] is not None)
    choose_all([*wanted, *others], present, path, remedy=remedy)
    arguments = [one.argument for one in wanted]
    return images | dict(zip(arguments, found, strict=True))


def _is_without_people(present, names, path):
    """Whether a column that says which pairs are genuine is read instead of identities."""
    people = {name: names[name] or name for name in ("identity_1", "identity_2")}
    named = [name for name in people if names[name] is not None]
    if names["y_true"] is None:
        some = named or not set(people.values()).isdisjoint(present)
        return not some and not set(Y_TRUE).isdisjoint(present)
    images = [name for name in ("image_1", "image_2") if names[name] is not None]
    for argument in (*named, *images):
        raise ArgumentError(
            *(
                Argument("y_true"),
                " and ",
                Argument(argument),
                " were both given, and ",
            ),
            *(Argument("y_true"), " is for pairs of which no person is known;"),
            remedy="leave one out.",
            value=names["y_true"],
        )
    if set(people.values()) <= set(present):
        raise ArgumentError(
            Argument("y_true"),
            f" was given, and {path!r} names the people of each pair ('identity_1' and "
            "'identity_2'), who tell which are genuine;",
            remedy=("leave ", Argument("y_true"), " out."),
            value=names["y_true"],
        )
    return True


def _of_both_images(asked, present):
    """The requested columns; one where those of the two images of an attribute are one."""
    columns = {}
    for name, argument in asked.items():
        stem = name[:-2]
        both = {f"{stem}_1", f"{stem}_2"}
        is_one = stem in present and both.isdisjoint(present) and name in both
        other = {"_1": f"{stem[:-2]}_2", "_2": f"{stem[:-2]}_1"}.get(stem[-2:])
        if argument == "attributes" and is_one and other in present:
            raise ArgumentError(
                Argument("attributes"),
                f": {stem!r} is of one image of each pair, and {other!r} of the other;",
                remedy=(
                    "give ",
                    Argument("attributes", stem[:-2]),
                    ", which reads both.",
                ),
                value=stem,
            )
        columns[stem if argument == "attributes" and is_one else name] = argument
    return columns


def _which_are_genuine(table, name):
    """1 for each genuine pair and 0 for each other, (n_pairs,)."""
    values = table.labels(name)
    if values.dtype.kind != "b":
        distinct, place = np.unique(values.astype(str), return_inverse=True)
        words = [_as_integer(value.strip().lower()) for value in distinct]
        known = np.array([GENUINE.get(word, -1) for word in words])
        values = known[place]
        if (values < 0).any():
            row = int(np.flatnonzero(values < 0)[0])
            raise ArgumentError(
                Argument("y_true"),
                f": {name!r} must say which pairs are genuine; got "
                f"{str(distinct[place[row]])!r} in row {row}:",
                remedy="write 1 for pairs of one person and 0 for pairs of two.",
                value=name,
            )
    return values.astype(np.int64)


def _as_integer(word):
    """1.0 as 1, as a column with a missing cell holds it."""
    return word.removesuffix(".0")


def _remedy(present, names, distance, has_score):
    """What to do where a file lacks columns; None is to name others."""
    people = {names[name] or name for name in ("identity_1", "identity_2")}
    if has_score:
        if not people.isdisjoint(present) or names["y_true"] is not None:
            return None
        return (
            *("name others ", place("identity_1"), " and ", place("identity_2")),
            *(", or for an audit ", place("y_true")),
            " the one that says which pairs are genuine.",
        )
    distances = [name for name in present if DISTANCE.search(name)]
    if names["score"] is None and not distance and distances:
        named = (Argument("score", distances[0]), " and ")
        return (
            f"{distances[0]!r} looks like a distance, smaller meaning more alike: give ",
            *(() if distances[0] == "distance" else named),
            *(Argument("distance", True), "."),
        )
    if people.isdisjoint(present):
        return (
            "a row of scored pairs has a score and two identities, or a score and what says "
            "whether it is genuine. If it holds the labels "
            "of embeddings, give those (.npz, .npy) ",
            *(place("path"), " and it ", place("labels"), "."),
        )
    return None


def _check_attributes(asked, present, taken, path):
    """Raise if columns of attributes are missing, which end in _1 and _2, and no others."""
    missing = [name for name in asked if name not in present]
    if not missing or {asked[name] for name in missing} != {"attributes"}:
        return
    stems = [
        repr(name[:-2])
        for name in present
        if name.endswith("_1") and f"{name[:-2]}_2" in present and name not in taken
    ]
    attributes = list(dict.fromkeys(name[:-2] for name in missing))
    lacking = [f"no {a!r} (columns {f'{a}_1'!r} and {f'{a}_2'!r})" for a in attributes]
    one = "one of them" if len(attributes) == 1 else "others"
    remedy = (f"name {one} ", place("attributes"), ".")
    if not stems:
        remedy = (
            "give its labels of the two images in columns of these names, or those of both "
            "in one column of its own."
        )
    others = f", but {', '.join(stems)}" if stems else ""
    raise ArgumentError(
        Argument("attributes"),
        f": {path!r} holds {''.join(enumerated(lacking))}{others};",
        remedy=remedy,
        value=attributes[0],
    )


def _read_columns(table, asked, path):
    """The requested columns; those of the two images of a pair are converted alike."""
    columns = {}
    for name in asked:
        other = f"{name[:-2]}_2"
        if name.endswith("_1") and other in asked:
            columns[name], columns[other] = table.values(name, other)
        elif name not in columns:
            columns[name] = table.values(name)
    for name in asked:
        warn_of_words(columns[name], name, path, table.distinct(name))
    return {name: columns[name] for name in asked}


def _check_known(argument, name, labels):
    if labels.dtype.kind != "O":
        return
    for row, label in enumerate(labels):
        if label is None:
            raise ArgumentError(
                Argument(argument),
                f": {name!r} is missing in row {row}; every image needs an identity:",
                remedy="drop such pairs.",
                value=name,
            )
