"""Pairs of images whose labels are in another file: lists of trials, matrices of scores."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

import numpy as np
from sklearn.utils import Bunch

from skfairfr._core._pair_tiles import score_pairs, unit_rows
from skfairfr.datasets import _embeddings, _files, _scored_pairs, _texts
from skfairfr.datasets._embeddings import (
    EMBEDDING_NAMES,
    find_listed,
    read_embeddings,
    read_labels,
)
from skfairfr.utils._errors import invalid
from skfairfr.utils._labels import find_labels, join_columns
from skfairfr.utils._types import FilePath
from skfairfr.utils._validation import (
    FEWEST_IMAGES,
    check_path,
    float_type,
    warn_caller,
)

# A name of a file without its folder and its ending.
FILE = re.compile(r"^.*[/\\]|(_\d{4})\.\w{2,4}$")


def load_trials(
    path: FilePath,
    trials: FilePath,
    labels: str | None = None,
    *,
    embedding: str | None = None,
    identity: str | None = None,
    image: str | None = None,
    score: str | None = None,
    columns: Sequence[str] = (),
    distance: bool = False,
    layout: str | None = None,
    enrolment: str | None = None,
    template: str | None = None,
) -> Bunch:
    """Scores of the pairs of embeddings in a list of trials.

    Parameters
    ----------
    path : str or path-like
        Embeddings, as in :func:`load_embeddings`. If the list has scores, a table with the
        labels of the images. Or one score for each line of the list (.npy, or "score" in an
        .npz file), with the people and groups of ``labels``, if passed, or of the list.
    trials : str or path-like
        A list without names, in one of the layouts of :ref:`input-formats`, such as ``1|0
        image image`` or ``image image score``, plain or compressed by gzip, or a table with
        the columns image_1 and image_2. Scores of a list are used unchanged. Without them, a
        score is the cosine similarity.
    labels, embedding, identity : str, default=None
        Columns, as in :func:`load_embeddings`.
    image : str, default=None
        Name of the images' names, each of one image, by which the list calls them. None
        takes "image".
    score : str, default=None
        Column of the scores in a table of trials, as in :func:`load_pairs`.
    columns : sequence of str, shape (n_columns,), default=()
        Other labels of the images to read.
    distance : bool, default=False
        Whether the list has distances, smaller meaning more similar.
    layout : str, default=None
        Layout of the list, as in :func:`load_pairs`.
    enrolment : str or path-like, default=None
        A list of templates, each line of which has the name of one, by which trials call it,
        and the names of its images (``ann: ann/1.wav ann/2.wav``), or the column that marks
        the images enrolled, of which each person has one template, called as the person. All
        images of a template show one person. On their own they are no images of the data.
    template : {"mean", "max"}, default=None
        Template of a person: the mean of the unit rows of its images, or all of them, of which
        the best counts. None is "mean".

    Returns
    -------
    data : Bunch
        As that of :func:`load_pairs`, with people. For the column gender of the images the
        columns are gender_1 and gender_2. Scores are nan where one is missing, or an image
        of the pair has no embedding (all zeros, nan or infinite).

    Raises
    ------
    ValueError
        If a file cannot be read or lacks required data, or the list names images that the
        file does not contain.
    ImportError
        If a .parquet file is read without pyarrow.

    Warns
    -----
    UserWarning
        If the list contradicts the identities, which decide which pairs are genuine.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from skfairfr.datasets import load_trials
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path, trials = (os.path.join(folder, n) for n in ("voices.npz", "trials.txt"))
    ...     np.savez(path, X=np.eye(2)[[0, 0, 1]], y=[7, 7, 8], image=list("abc"))
    ...     with open(trials, "w") as file:
    ...         _ = file.write("1 a b\\n0 a c")
    ...     data = load_trials(path, trials)
    >>> data.y_score.tolist(), data.identity_2.tolist()
    ([1.0, 0.0], [7, 8])
    """
    path, trials = check_path(path, "path"), check_path(trials, "trials")
    image = image or "image"
    asked = _files.check_columns(columns)
    enrolled = _embeddings.columns_of_enrolment(enrolment, template, image)
    y_score = scores_of(path, score)
    if y_score is not None and labels is None:
        names = dict.fromkeys(("score", *_texts.PEOPLE, *_texts.IMAGES))
        if enrolment is not None:
            problem = f"{enrolment!r} is of images, and no table of their labels is "
            remedy = "name it (labels, --labels)."
            raise invalid("enrolment", enrolment, f"{problem}named;", remedy)
        how = (dict.fromkeys(asked, "attributes"), distance, False, layout, y_score)
        return Bunch(**_scored_pairs.read_pairs(trials, names, *how) | {"path": path})
    listed = _scored_pairs.read_list(trials, "trials", layout)
    usual = ("distance", "score") if distance else ("score",)
    wanted = [("trials", (name,)) for name in _texts.IMAGES]
    if y_score is None:
        score = score or _files.first_of(usual, listed.names)
        wanted += [("score", (score or "score",))] if score or distance else []
    remedy = "a table calls its columns 'image_1', 'image_2' and 'score' (--score)."
    _files.choose_all(wanted, listed.names, trials, remedy)
    argument, source = "path", path
    if y_score is not None:
        _scored_pairs.check_has_no_scores(listed, y_score)
        argument, source = "labels", labels
    elif score is not None:
        y_score = listed.numbers(score)
    asked |= {image: "image"} | enrolled
    is_table = _files.kind_of(source) in ("csv", "parquet", "list")
    if y_score is not None and is_table:
        data = read_labels(source, argument, identity, asked)
    else:
        data = read_embeddings(path, labels, embedding, identity, asked, finite=False)
    if enrolment is not None:
        data = _embeddings.enrol(data, enrolment, template, image)
    data.images = data.columns.pop(image)
    left, right = _rows_of(listed, image, data)
    y_score = _compare(data, left, right) if y_score is None else y_score
    y_score = _scored_pairs.check_scores(y_score, score, distance, finite=False)
    _scored_pairs.check_truth(listed, trials, data.y[left] == data.y[right])
    pairs = _pairs_of(y_score, data, left, data, right, path)
    if "fold" in listed.names:
        pairs.columns["fold"] = listed.values("fold")
    pairs.read_as |= {trials: listed.read_as} if listed.read_as else {}
    return pairs


def scores_of(path, score=None):
    """An array of one score for each trial, from a file of such, or None of another file."""
    kind, array = _files.kind_of(path), np.zeros((0, 0))
    if kind == "npy":
        array = _files.read_npy(path)
    elif kind == "npz":
        with _files.open_npz(path) as archive:
            name = score or _files.first_of(_files.SCORE_NAMES, archive.names)
            if name in archive.names and not {*EMBEDDING_NAMES} & {*archive.names}:
                array = archive.read(name)
    if (
        array.shape not in ((len(array),), (len(array), 1))
        or array.dtype.kind not in "fiu"
    ):
        return None
    return np.array(array, dtype=float_type(array.dtype)).ravel()


def _rows_of(listed, image, data):
    """Rows of the first and of the second image of every trial."""
    known, wanted = data.images, join_columns(listed.labels(*_texts.IMAGES))
    if listed.read_as == str(_texts.LFW):  # files may have folders and endings
        known = np.array([FILE.sub(r"\1", str(name)) for name in known], dtype=object)
    rows = find_listed(("trials", listed.path), wanted, known, image, data.path)
    return np.split(rows, 2)


def _compare(data, left, right):
    """Cosine similarities of pairs of rows, nan of one without a direction."""
    rows, places = np.unique(np.concatenate([left, right]), return_inverse=True)
    X, first = data.X[rows], None  # only rows of a pair are looked at
    if data.get("samples") is not None:
        X, first = data.samples.take(rows)
    with np.errstate(invalid="ignore"):
        unit = unit_rows(np.asarray(X), "cosine")
    return score_pairs(unit, *np.split(places, 2), first=first)


def _pairs_of(y_score, first, left, second, right, path):
    """Scored pairs of rows of labels."""
    columns = {}
    pairs = Bunch(y_score=y_score, y_true=None, columns=columns, path=path)
    pairs.read_as = first.read_as
    for side, labels, rows in ((1, first, left), (2, second, right)):
        pairs |= {
            f"identity_{side}": labels.y[rows],
            f"image_{side}": labels.images[rows],
        }
        columns |= {f"{name}_{side}": c[rows] for name, c in labels.columns.items()}
    return pairs


# ---- matrices of scores --------------------------------------------------------------


def load_score_matrix(
    path: FilePath,
    probes: FilePath,
    references: FilePath | None = None,
    *,
    score: str | None = None,
    identity: str | None = None,
    image: str | None = None,
    columns: Sequence[str] = (),
    distance: bool = False,
) -> Bunch:
    """A matrix of scores, every cell of which is a pair.

    Parameters
    ----------
    path : str or path-like
        An .npy or .npz file with a matrix (n_probes, n_references).
    probes, references : str or path-like
        Tables with the labels of the rows and of the columns of the matrix, in their order,
        in one of the formats of :func:`load_pairs`, with names in the first line. If
        references are None, or the same file, each pair of images is used once, with its
        score above the diagonal.
    score : str, default=None
        Name of the matrix in an .npz file. If None: the first of "score", "scores" and
        "similarity" that is there.
    identity : str, default=None
        Column of the people. If None: the first of "identity", "identities" and "y".
    image : str, default=None
        Column of the images' names. None numbers the images. A cell of one image twice is
        left out. With numbers, several cells of the best score that seem to be such are an
        error.
    columns : sequence of str, shape (n_columns,), default=()
        Other labels of the images to read.
    distance : bool, default=False
        Whether scores are distances, smaller meaning more similar.

    Returns
    -------
    data : Bunch
        As that of :func:`load_trials`. Cells that are nan stay so, and infinite ones at which
        nothing is accepted become nan.

    Raises
    ------
    ValueError
        If a file cannot be read or lacks required data, or the matrix does not have one row
        for each probe and one column for each reference.
    ImportError
        If a .parquet file is read without pyarrow.

    Warns
    -----
    UserWarning
        If a matrix of pairs within one file is not symmetric.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from skfairfr.datasets import load_score_matrix
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path, labels = (os.path.join(folder, n) for n in ("scores.npy", "labels.csv"))
    ...     np.save(path, [[1.0, 0.8, 0.1], [0.8, 1.0, 0.2], [0.1, 0.2, 1.0]])
    ...     with open(labels, "w") as file:
    ...         _ = file.write("identity,gender\\nann,f\\nann,f\\nbob,m")
    ...     data = load_score_matrix(path, labels, columns=["gender"])
    >>> data.y_score.tolist(), data.columns["gender_2"].tolist()
    ([0.8, 0.1, 0.2], ['f', 'm', 'm'])
    """
    path, asked = check_path(path, "path"), _files.check_columns(columns)
    asked |= {} if image is None else {image: "image"}
    first = second = read_labels(probes, "probes", identity, asked)
    if references is not None:
        other = read_labels(references, "references", identity, asked)
        second = first if os.path.samefile(probes, references) else other
    matrix = _read_matrix(path, score)
    shape = first.y.size, second.y.size
    if matrix.shape != shape or matrix.dtype.kind not in "fiu":
        problem = f" contains {matrix.dtype} of shape {matrix.shape}, and there are {shape[0]:,} "
        problem += f"probes and {shape[1]:,} references;"
        remedy = "give numbers, a row for each probe and a column for each reference."
        raise _files.file_error("path", path, problem, remedy)
    first.images = first.columns.pop(image, np.arange(shape[0]))
    if second is not first:
        numbers = shape[0] + np.arange(shape[1])
        second.images = second.columns.pop(image, numbers)
    if first.y.dtype.kind != second.y.dtype.kind:  # a label of one file is no number
        first.y, second.y = first.y.astype(str), second.y.astype(str)
    if second is not first and image is None:
        _check_no_image_twice(matrix, first.y, second.y, path, distance)
    left, right = _cells(matrix, first, second, path)
    scores = matrix[left, right].astype(float_type(matrix.dtype))
    y_score = _scored_pairs.check_scores(scores, score or path, distance, finite=False)
    return _pairs_of(y_score, first, left, second, right, path)


def _read_matrix(path, score):
    if _files.kind_of(path) not in ("npy", "npz"):
        problem = " is no .npz or .npy file, and a matrix of scores is needed;"
        raise _files.file_error("path", path, problem, "write one with numpy.save.")
    return _files.read_scores(path, score)


def _check_no_image_twice(matrix, of_rows, of_columns, path, distance):
    """Raise if the best score is in several cells of one person, one a row and a column."""
    best = np.nanmin(matrix) if distance else np.nanmax(matrix)
    row, column = np.nonzero(np.abs(matrix - best) <= 1e-6 * (1 + abs(best)))
    n_alike = min(np.unique(place).size for place in (row, column))
    if (
        row.size == n_alike >= FEWEST_IMAGES
        and (of_rows[row] == of_columns[column]).all()
    ):
        problem = f" contains the best score, {best:g}, in {row.size:,} cells of one person, one in a row "
        problem += "and in a column, as if these compare an image with itself."
        remedy = "Name the images (--image), and their cells are left out."
        raise _files.file_error("path", path, problem, remedy)


def _cells(matrix, first, second, path):
    """Rows and columns of the cells that are pairs."""
    if first is not second:
        left, right = (place.ravel() for place in np.indices(matrix.shape))
        kept = right != find_labels(second.images, first.images)[left]
        return left[kept], right[kept]
    left, right = np.triu_indices(len(matrix), 1)
    same = np.isclose(matrix[left, right], matrix[right, left], equal_nan=True)
    if not same.all():
        warn_caller(
            f"{path!r}: {np.count_nonzero(~same):,} of {same.size:,} pairs have two scores, one "
            "on each side of the diagonal. Those above it are used.",
            UserWarning,
        )
    return left, right
