"""Scored pairs with the labels of their two images, from files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain, permutations

import numpy as np
from sklearn.utils import Bunch

from skfairfr.datasets import _files, _tables, _texts
from skfairfr.datasets._texts import GENUINE, IMAGES, OF_PAIRS, PEOPLE, Y_TRUE
from skfairfr.utils._errors import ABOUT_FAILURES, DECIDING, EMPTY_CELLS, invalid
from skfairfr.utils._types import FilePath
from skfairfr.utils._validation import (
    check_option,
    check_path,
    code_of_failure,
    is_failure,
)

# Names of columns that contain distances, but not "district".
DISTANCE = re.compile(r"(?<![a-z])dist(ances?)?(?![a-z])|dissim|euclid", re.IGNORECASE)
NAMES_OF_PEOPLE = "id identity person subject speaker user subject_id".split()
# How the columns of the two images of one attribute are called, if it is called *.
SIDES = (
    "*_1 *_2, *1 *2, *_a *_b, *_A *_B, *_probe *_reference, *_probe *_gallery, *_enrol *_test, "
    "*_enroll *_test, *_left *_right, *_x *_y, *_l *_r, probe_* bio_ref_*, probe_* reference_*, "
    "probe_* gallery_*, enrol_* test_*, enroll_* test_*, left_* right_*"
)
SIDES = [tuple(both.split()) for both in SIDES.split(", ")]


def load_pairs(
    path: FilePath,
    *,
    score: str | None = None,
    identity_1: str | None = None,
    identity_2: str | None = None,
    y_true: str | None = None,
    image_1: str | None = None,
    image_2: str | None = None,
    columns: Sequence[str] | None = None,
    distance: bool = False,
    layout: str | None = None,
) -> Bunch:
    """Scored pairs of images, as a protocol file lists them.

    Parameters
    ----------
    path : str or path-like
        A table with one row for each pair, and names in its first row: text in UTF-8 (.csv,
        .tsv), with commas, semicolons or tabs between columns, plain or compressed by gzip
        (.csv.gz, .tsv.gz), or .parquet, or a list without names in one of the layouts of
        :ref:`input-formats`, such as ``image image score target|nontarget``. The content
        decides which. Large texts are read by pyarrow if it is installed, in a fraction of
        the time.
    score : str, default=None
        Column of the scores. If None: "score" or, of distances, the first of "distance"
        and "score" that is there.
    identity_1, identity_2 : str, default=None
        Columns that name the people in the two images. If None: "identity_1" and
        "identity_2". In text tables labels are text unless all are integers without
        leading zeros.
    y_true : str, default=None
        Where there are no such columns, the one that shows whether both images show one
        person, by 1 and 0 or -1, true and false, yes and no, genuine and impostor, mated and
        nonmated, same and different, match and nonmatch, or target and nontarget. None takes
        "y_true", "genuine", "label", "target", "same" or a like name.
    image_1, image_2 : str, default=None
        Columns that name the images. If None: "image_1" and "image_2" where both are
        there.
    columns : sequence of str, shape (n_columns,), default=None
        Other columns to read, such as "gender_1" and "gender_2". None reads all.
    distance : bool, default=False
        Whether the score is a distance, smaller meaning more similar.
    layout : str, default=None
        The layout of a list without names, such as "wespeaker", if its content leaves open
        which it is. "table" if the first line names the columns.

    Returns
    -------
    data : Bunch
        ``y_score`` (n_pairs,) is larger for more similar images (minus a distance).
        ``identity_1`` and ``identity_2`` have shape (n_pairs,). If they are None, ``y_true``
        (n_pairs,) is 1 for a genuine pair and 0 for another. ``image_1`` and ``image_2`` have
        shape (n_pairs,) or are None. ``columns`` is a dict of arrays (n_pairs,) in which None
        and NaN are unknown. ``path`` is the file, and ``read_as`` the layout of a list by its
        path.

    Raises
    ------
    ValueError
        If the file cannot be read, is a device or a pipe (files are read more than once), or
        lacks columns, all of which the message names. If a column shows which pairs are genuine ("label", "target",
        "same", ...) and contradicts the identities.
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
    asked = _files.check_columns(columns)
    names = {"score": score, "identity_1": identity_1, "identity_2": identity_2}
    names |= {"y_true": y_true, "image_1": image_1, "image_2": image_2}
    return read_pairs(path, names, asked, distance, layout=layout)


def read_pairs(
    path,
    names,
    asked=None,
    distance=False,
    finite=True,
    layout=None,
    scores=None,
    people=(),
    coded=False,
):
    """As load_pairs.

    Parameters
    ----------
    coded : bool, default=False
        Whether labels of text are CodedColumns.
    people : sequence of labels, default=()
        Those of the metadata, by which :func:`people_in_names` knows names of images.
    scores : ndarray, shape (n_pairs,), default=None
        Scores that are not in the file, which then lists the trials.
    finite : bool, default=True
        Whether a missing score is an error, and not NaN.
    names : dict of str -> str or None
        Column of each of score, identity_1, identity_2, image_1 and image_2 and, where
        people may be missing, of y_true.
    asked : dict of str -> str, default=None
        For each other requested column the argument that names it, for messages. Of
        "attributes" the columns are those of :func:`columns_of_both`, called NAME_1 and NAME_2.
    """
    argument = "path" if scores is None else "trials"
    path = check_path(path, argument)
    if _files.kind_of(path, argument) not in ("csv", "parquet", "list"):
        problem = f" is no table. Scored pairs are read from a {_files.TABLE_FORMATS} file, one row "
        raise _files.file_error(argument, path, f"{problem}for each pair.")
    table = read_list(path, argument, layout)
    both = {}
    for name in [name for name in asked or () if asked[name] == "attributes"]:
        both[name] = columns_of_both(name, table.names)
        asked = {n: a for n, a in asked.items() if n != name}
        asked |= dict.fromkeys(both[name], "attributes")
    names = {"y_true": None} | names
    if names["y_true"] is None and people_in_names(table, people):
        table.read_as += " (people are read from the part before the first /)"
    is_listed = scores is not None
    found = _find_columns(table.names, names, asked or {}, path, distance, is_listed)
    if is_listed:
        check_has_no_scores(table, scores)
    else:
        scores = table.numbers(found["score"])
    y_score = check_scores(scores, found.get("score", "score"), distance, finite)
    read = _read_labels(table, found, path, coded)
    if "y_true" in found:
        _check_of_both(table, both, read["y_true"] == 1, path)
    else:
        same = read["identity_1"] == read["identity_2"]
        check_truth(table, path, same, {*found.values(), *(asked or ())})
    if asked is None:
        plain = table.plain_columns(y_score.size)
        others = [name for name in plain if name not in found.values()]
        asked = dict.fromkeys(others, "columns")
    return Bunch(
        y_score=y_score,
        **read,
        columns=_read_columns(table, asked, both, path, coded),
        path=path,
        read_as={path: table.read_as} if table.read_as else {},
    )


def _read_labels(table, found, path, coded):
    """Labels of people and images of both sides, and which pairs are genuine, a dict."""
    read = dict.fromkeys((*PEOPLE, "y_true", *IMAGES))
    if "y_true" in found:
        read["y_true"] = _which_are_genuine(table, found["y_true"])
    for pair in (PEOPLE, IMAGES):
        if pair[0] in found:
            both_sides = (found[argument] for argument in pair)
            labels = table.labels(*both_sides, coded=coded)
            read |= dict(zip(pair, labels, strict=True))
    for argument in set(PEOPLE) & set(found):
        name, labels = found[argument], read[argument]
        remedy = "every image needs an identity: drop such pairs."
        _files.check_known(argument, name, labels, remedy)
        _files.warn_of_words(labels, name, path)
    return read


def check_has_no_scores(listed, scores):
    """Raise unless a list has a row for each score of another file, and no scores itself."""
    if name := _files.first_of(("score", "distance"), listed.names):
        problem = f" has {name!r}, and the first file is an array of scores too;"
        raise _files.file_error("trials", listed.path, problem, "leave one out.")
    if scores.size != listed.n_rows:
        problem = f" lists {listed.n_rows:,} pairs, and there are "
        problem += f"{scores.size:,} scores;"
        remedy = "give the list that the scores are of, in their order."
        raise _files.file_error("trials", listed.path, problem, remedy)


def read_list(path, argument, layout):
    """A Table from a table of pairs, or from a list of them in a layout."""
    if layout is not None:
        check_option(layout, "layout", _texts.NAMES)
    layouts = (*_texts.PAIR_LISTS, _texts.LFW)
    return _tables.read_table(path, argument, layouts, layout)


def people_in_names(table, known):
    """Whether a list of images without people has them in the images' names, and add them.

    As of VoxCeleb, where id10270/5r0dWxy17C8/00001.wav shows id10270: the parts before the
    first / are people if all of them are known ones, or if they are equal in all genuine pairs
    of the list, of which it has some, and in no others, of which it has some too.
    """
    if not table.read_as or {*IMAGES} - {*table.names} or {*PEOPLE} & {*table.names}:
        return False
    starts = table.starts(IMAGES)
    if starts is None:
        return False
    places = {one: k for k, one in enumerate({*starts[0].values, *starts[1].values})}
    agree = {*places} <= {*map(str, known)}
    if not agree and "y_true" in table.names:
        codes = (np.array([places[v] for v in c.values])[c.codes] for c in starts)
        same = np.equal(*codes)
        agree = not same.all() and same.any()
        agree &= (same == _which_are_genuine(table, "y_true")).all()
    if agree:
        table.add(dict(zip(PEOPLE, starts, strict=True)))
    return agree


def check_scores(scores, name, distance, finite=True):
    """Similarities, nan where a comparison failed, which is an error if they have to be finite.

    A pair that is accepted at every threshold always is one.
    """
    scores = -scores if distance else scores
    failed = is_failure(scores)
    for bad, found, remedy in (
        (np.isposinf(scores), "is infinite, above every threshold,", DECIDING),
        (failed & finite, "is missing or infinite", ABOUT_FAILURES),
    ):
        if bad.any():
            row = _files.data_row(bad.argmax())
            problem = f"{name!r} {found} in {row} ({bad.sum():,} rows);"
            raise invalid("score", name, problem, remedy)
    if code := code_of_failure(scores):
        problem = f"{name!r} is {-code[0] if distance else code[0]:g} in {code[1]:,} rows, far from "
        problem += "all others, as if it were a code of failures;"
        raise invalid("score", name, problem, EMPTY_CELLS + ABOUT_FAILURES)
    return np.where(failed, np.nan, scores)


def check_truth(table, path, same, others=()):
    """Raise if a column shows which pairs are genuine, and the people say another thing."""
    usual = {*map(_plain_name, Y_TRUE)}
    for name in table.plain_columns(same.size):
        is_usual = _plain_name(name) in usual
        if name in others:
            continue
        if not (is_usual or _files.words_of(table.some(name)) <= OF_PAIRS):
            continue
        try:
            marked = _which_are_genuine(table, name, missing=-1)
        except ValueError:
            continue  # a column of that name, about something else
        if ((marked >= 0) & (marked != same)).any():
            wrong = np.count_nonzero((marked >= 0) & (marked != same))
            n_true = np.count_nonzero(same)
            problem = f": {name!r} contradicts the identities in {wrong:,} "
            problem += f"of {same.size:,} pairs: {(marked == 1).sum():,} are genuine by {name!r}, and {n_true:,} by the identities."
            remedy = "Correct the wrong one, or rename the column if it means something else."
            raise _files.file_error("path", path, problem, remedy)


def _plain_name(name):
    return re.sub("[-_ ]", "", name.casefold())


def _find_columns(present, names, asked, path, distance, is_listed):
    """Columns by their arguments, but for scores of a listed pair. One error for all."""
    usual = {"score": ("distance", "score") if distance else ("score",)}
    usual = {} if is_listed else usual
    images = [argument for argument in IMAGES if names[argument] is not None]
    if _is_without_people(present, names, path):
        usual["y_true"] = Y_TRUE
    else:
        usual |= {argument: (argument,) for argument in PEOPLE}
    if not images and {*IMAGES} <= {*present}:
        images = IMAGES
    if len(images) == 1:
        (missing,) = set(IMAGES) - set(images)
        problem = "is missing while the other image was named;"
        raise invalid(missing, None, problem, "name both.")
    usual |= {argument: (argument,) for argument in images}
    named = {argument: (names[argument],) for argument in usual if names[argument]}
    wanted = list((usual | named).items())
    others = [(argument, (name,)) for name, argument in asked.items()]
    score = _files.first_of(dict(wanted).get("score", ()), present)
    remedy = None if is_listed else _remedy(present, names, distance, score)
    found = _files.choose_all([*wanted, *others], present, path, remedy=remedy)
    return dict(zip(usual, found, strict=False))


def _is_without_people(present, names, path):
    """Whether a column that shows which pairs are genuine is read instead of identities."""
    some = {*PEOPLE} & {*present} or any(names[argument] for argument in PEOPLE)
    if names["y_true"] is None:
        marked = _files.first_of(Y_TRUE, present)
        people = [both for name in NAMES_OF_PEOPLE for both in _sides(name, present)]
        if marked and people and not some:
            one, other = people[0]
            problem = f"was not given, and {one!r} and {other!r} seem to name the people, whom "
            problem += (
                f"intervals need, while {marked!r} shows which pairs are genuine;"
            )
            remedy = f"name the people (--identity-1 {one} --identity-2 {other}) or, if they are "
            remedy += f"none, {marked!r} (--y-true {marked})."
            raise invalid("y_true", None, problem, remedy)
        return not some and marked is not None
    named = [argument for argument in (*PEOPLE, *IMAGES) if names[argument]]
    if named or {*PEOPLE} <= {*present}:
        problem = (
            f"and {(named or PEOPLE)[0]} are both there, and both show which pairs are "
        )
        remedy = "Leave one of them out."
        raise invalid("y_true", names["y_true"], f"{problem}genuine.", remedy)
    return True


def _sides(name, present):
    """All two columns whose names share this one, and are those of two images."""
    sides = [(one.replace("*", name), two.replace("*", name)) for one, two in SIDES]
    return [both for both in sides if {*both} <= {*present}]


def columns_of_both(name, present):
    """Columns of the first and of the second image. A name twice if one is that of both.

    Parameters
    ----------
    name : str
        Name of a column, such as "gender", the common part of the two images' names, as in
        "gender_1" and "gender_2" or "probe_gender" and "reference_gender", or two columns with
        a comma between.
    present : sequence of str
        Columns of the table.
    """
    sides = _sides(name, present)
    if len(sides) + (name in present) > 1:
        several = [" and ".join(both) for both in sides] + [name] * (name in present)
        remedy = f"give the two that are meant, such as '{','.join(sides[0])}'."
        problem = f"{name!r} may be {', or '.join(several)};"
        raise invalid("attributes", name, problem, remedy)
    if sides:
        return sides[0]
    if name not in present:
        two = tuple(part.strip() for part in name.split(","))
        return two if len(two) == 2 else (f"{name}_1", f"{name}_2")
    for own, others in chain.from_iterable(map(permutations, SIDES)):
        start, end = own.split("*")
        stem = name.removeprefix(start).removesuffix(end)
        other = others.replace("*", stem)
        if stem and own.replace("*", stem) == name != other and other in present:
            problem = f"{name!r} is of one image of a pair, and {other!r} of the other;"
            remedy = f"give {stem!r}, which reads both."
            raise invalid("attributes", name, problem, remedy)
    return name, name


def _which_are_genuine(table, name, missing=None):
    """1 for each genuine pair, 0 for each other and ``missing`` for no value, (n_pairs,)."""
    remedy = "write 1 for pairs of one person and 0 for pairs of two."
    distinct = table.distinct(name)
    return _files.meanings(*distinct, GENUINE, "y_true", name, remedy, missing)


def _check_of_both(table, both, genuine, path):
    """Raise if an attribute of both images is that of one, and a column has the other's.

    Of genuine pairs two such columns are equal, and of impostor pairs they have the same labels.
    """
    for name in (name for name, other in both.values() if name == other):
        own = table.labels(name).astype(str)
        for other in {*table.plain_columns(0)} - {name}:
            if not {*table.some(other).astype(str)} <= {*own}:
                continue
            label = table.labels(other).astype(str)
            equal = label == own
            if {*label} == {*own} and equal[genuine].all() and not equal.all():
                problem = f"{name!r} seems to be of one image of a pair, and {other!r} of the other;"
                remedy = (
                    f"give {f'{name},{other}'!r}, or leave {other!r} out of {path!r}."
                )
                raise invalid("attributes", name, problem, remedy)


def _remedy(present, names, distance, score):
    """Remedy if a file lacks columns. None names others."""
    if score is None and names["score"] is None and not distance:
        for name in filter(DISTANCE.search, present):
            named = f"score={name!r} and " if name != "distance" else ""
            advice = (
                f"{name!r} looks like a distance, smaller meaning more similar: give "
            )
            flag = f"--score {name} " if named else ""
            return f"{advice}{named}distance=True ({flag}--distance)."
    if names["y_true"] or any((names[a] or a) in present for a in PEOPLE):
        return None
    if {*IMAGES} <= {*present}:
        advice = "give embeddings, or a table of the images' labels with their people, in its "
        return f"{advice}place, and it as trials (--trials)."
    if score is not None:
        people = "name others as identity_1 and identity_2, or for an audit as y_true "
        return (
            f"{people}the one that shows which pairs are genuine. Scores of attack detection "
            "need --species."
        )
    return (
        "scored pairs need a score and two identities, or a column that shows which pairs are "
        "genuine. A log of decisions has no scores: give --accepted to audit, compare, explain, "
        "plan or monitor it. If the file has the labels of embeddings, name the embeddings "
        "(.npz, .npy) and pass it as labels (--labels)."
    )


def _read_columns(table, asked, both, path, coded):
    """The requested columns. Those of the two images of a pair are converted the same way.

    Those of an attribute are called NAME_1 and NAME_2, one column that is of both is twice.
    """
    columns = {}
    named = [n for n in asked if n.endswith("_1") and f"{n[:-2]}_2" in asked]
    two = {name: (name, f"{name[:-2]}_2") for name in named}
    two |= {sides[0]: sides for sides in both.values() if sides[0] != sides[1]}
    for name in asked:
        if name in two:
            sides = two[name]
            columns |= dict(zip(sides, table.values(*sides, coded=coded), strict=True))
        elif name not in columns:
            columns[name] = table.values(name, coded=coded)
    for name, column in columns.items():
        _files.warn_of_words(column, name, path)
    of_both = {
        f"{name}_{k}": columns[column]
        for name, sides in both.items()
        for k, column in enumerate(sides, 1)
    }
    return {n: c for n, c in columns.items() if asked[n] != "attributes"} | of_both
