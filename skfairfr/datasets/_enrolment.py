"""Templates of several images, from an enrolment list or from a column."""

import os

import numpy as np
from sklearn.utils import Bunch

from skfairfr._core._pair_tiles import Samples, mean_rows
from skfairfr.datasets import _files, _texts
from skfairfr.datasets._embeddings import find_listed
from skfairfr.utils._errors import invalid
from skfairfr.utils._labels import encode, join_columns, joint_codes
from skfairfr.utils._validation import check_option, check_path, failed_rows, float_type

TEMPLATES = ("mean", "max")
# What marks images in a column, in lower case.
MARKS = dict.fromkeys(
    "1 yes y true enrol enroll enrolled enrolment enrollment".split(), 1
)
MARKS |= dict.fromkeys("0 no n false test probe verify nan".split(), 0)


def columns_of_enrolment(enrolment, template, image):
    """Columns that :func:`enrol` needs, each with the argument that names it, a dict."""
    if enrolment is None:
        if template is not None:
            problem = (
                f"{template!r} is of images enrolled together, and none are named;"
            )
            remedy = "name the list or the column that does (enrolment, --enrolment)."
            raise invalid("template", template, problem, remedy)
        return {}
    is_list = os.path.isfile(enrolment)
    return {image: "image"} if is_list else {enrolment: "enrolment"}


def enrol(data, enrolment, template, image):
    """Data in which the images of each template are one row, behind all images not enrolled.

    Parameters
    ----------
    data : Bunch
        Of ``read_embeddings`` or ``read_labels``, with :func:`columns_of_enrolment`.
    enrolment : str
        A list, each line of which has the name of a template and those of its images, or
        the column that marks images enrolled, all of a person's as one template.
    template : {"mean", "max"} or None
        The mean of unit rows, or all of them, of which the best counts. If None, "mean".
        Rows that failed are left out if a template has others.
    image : str
        Column with the names of the images. Templates are called as the list does, or as
        their person.

    Returns
    -------
    data : Bunch
        A copy. ``enrolled`` marks the templates, (n_rows,). ``samples`` has the embeddings
        behind each row, as Samples; None unless of "max": then X has the first of them.

    Raises
    ------
    ArgumentError
        If no image is enrolled, or all are. A template names unknown images, or images of
        several people.
    """
    enrolment = check_path(enrolment, "enrolment")
    check_option(template or "mean", "template", TEMPLATES)
    by_column = enrolment in data.columns
    if by_column:
        column = data.columns[enrolment]
        how = (MARKS, "enrolment", enrolment, "write yes, or no.", 0)
        marks = _files.meanings(column, np.arange(column.size), *how)
        rows = np.flatnonzero(marks == 1)
        names = data.y[rows].astype(str)
    else:
        names, rows = _read_list(enrolment, data, image)
    enrolled = np.isin(np.arange(data.y.size), rows)
    if enrolled.all() or not enrolled.any():
        problem = (
            f"{enrolment!r} enrols {enrolled.sum():,} of {enrolled.size:,} images;"
        )
        remedy = "leave some to be compared with the templates."
        raise invalid("enrolment", enrolment, problem, remedy)
    names, of_row = np.unique(names, return_inverse=True)
    with_numbers = data.X.shape[1] > 0
    failed = failed_rows(data.X[rows]) if with_numbers else np.zeros(rows.size, bool)
    kept = ~failed | (np.bincount(of_row[~failed], minlength=names.size) == 0)[of_row]
    order = np.flatnonzero(kept)[np.argsort(of_row[kept], kind="stable")]
    rows, first = rows[order], np.flatnonzero(np.diff(of_row[order], prepend=-1))
    person = encode(data.y, "y").codes[rows]
    if (mixed := joint_codes(person, first) < 0).any():
        own = of_row[order] == mixed.argmax()
        problem = (
            f"{enrolment!r} has images of {_files.few(data.y[rows[own]], 'people')} in "
        )
        problem += f"template {names[mixed.argmax()]!r};"
        raise invalid("enrolment", enrolment, problem, "a template is of one person.")
    others = np.flatnonzero(~enrolled)
    taken, columns = np.append(others, rows[first]), {}
    for name in [name for name in data.columns if name != enrolment]:
        column = data.columns[name]
        codes = encode(column, name, allow_unknown=True).codes[rows]
        columns[name] = column[taken]
        if (differ := (joint_codes(codes, first) < 0) & (codes[first] >= 0)).any():
            columns[name] = columns[name].astype(object)
            columns[name][others.size :][differ] = None
    if image in columns:
        columns[image] = join_columns([data.columns[image][others], names])
    X, samples = data.X[taken], None
    if with_numbers and template == "max":
        n = np.append(np.ones(others.size, int), np.diff(np.append(first, rows.size)))
        samples = Samples(data.X[np.append(others, rows)], np.append(0, np.cumsum(n)))
    elif with_numbers:
        X = X.astype(float_type(X.dtype))
        with np.errstate(invalid="ignore"):  # of templates whose images all failed
            means = mean_rows(data.X[rows], np.append(first, rows.size), "cosine")
        X[others.size :] = means
    what = f"{names.size:,} templates of {rows.size:,} images ({template or 'mean'})"
    new = {"X": X, "y": data.y[taken], "columns": columns, "samples": samples}
    new["read_as"] = data.read_as | {data.path if by_column else enrolment: what}
    return Bunch(**data | new, enrolled=np.arange(taken.size) >= others.size)


def _read_list(path, data, image):
    """Names of templates, and rows of their images, of an enrolment list."""
    with _texts.explained(path, "enrolment"):
        lines = _texts.content_of(path).decode().splitlines()
    words = [line.split() for line in lines if line.strip()]
    pairs = [
        (n.removesuffix(":"), one) for n, *own in words for one in own if one != ":"
    ]
    names, images = np.array([*dict.fromkeys(pairs)], dtype=object).reshape(-1, 2).T
    rows = find_listed(
        ("enrolment", path), images, data.columns[image], image, data.path
    )
    people = data.y.astype(str)
    if (wrong := np.isin(names, people) & (names != people[rows])).any():
        row = wrong.argmax()
        problem = f" has {images[row]!r} as an image of {names[row]!r}, and {data.path!r} as one "
        problem += f"of {people[rows[row]]!r};"
        raise _files.file_error("enrolment", path, problem, "correct one of them.")
    return names, rows
