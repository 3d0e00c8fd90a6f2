"""Candidates of searches (1:N) from files: lists of them, or a matrix of all scores."""

from __future__ import annotations

from functools import partial

import numpy as np
from sklearn.utils import Bunch

from skfairfr.datasets import _files, _tables
from skfairfr.datasets._texts import Layout
from skfairfr.utils._errors import invalid
from skfairfr.utils._types import FilePath
from skfairfr.utils._validation import check_path, float_type

# Usual names of columns, those first that are taken first.
SEARCH_NAMES = ("search", "probe", "query", "search_id", "probe_id", "query_id")
CANDIDATE_NAMES = ("candidate", "candidate_id", "returned", "match", "gallery_id")
RANK_NAMES = ("rank", "position")
# Lists without names of columns.
LISTS = (
    Layout("candidates", ("search", "candidate", "score")),
    Layout("ranked-candidates", ("search", "rank", "candidate", "score")),
)
# So many lists with scores that rise are no chance.
FEWEST_LISTS = 3


def load_candidates(
    path: FilePath,
    *,
    search: str | None = None,
    candidate: str | None = None,
    score: str | None = None,
    distance: bool = False,
) -> Bunch:
    """Candidates that searches returned, from lists or from a matrix of scores.

    Parameters
    ----------
    path : str or path-like
        A table with one row for each candidate of a search, and names in its first line, in
        one of the formats of :func:`load_pairs`. Text of any other name is a list without
        names, ``search candidate score`` or ``search rank candidate score``, with spaces or
        tabs between. Or an .npy or .npz file with a matrix (n_searches, n_templates).
    search, candidate, score : str, default=None
        Columns of the search, of the person returned, and of the score. If None: the first
        of "search", "probe" and "query", "candidate", "score" or "distance", or a like name.
        ``score`` also names the matrix in an .npz file.
    distance : bool, default=False
        Whether scores are distances, smaller meaning more similar.

    Returns
    -------
    data : Bunch
        ``search`` and ``candidate`` are labels (n_rows,), or None for a matrix. ``y_score``,
        (n_rows,) or (n_searches, n_templates), is larger for more similar images (minus a
        distance). ``path`` is the file, and ``read_as`` the layout of a list without names by
        its path.

    Raises
    ------
    ValueError
        If the file cannot be read or lacks a column, a cell is empty, a column "rank" has gaps
        or contradicts the scores, or scores look like distances.
    ImportError
        If a .parquet file is read without pyarrow.

    Examples
    --------
    >>> import os, tempfile
    >>> from skfairfr.datasets import load_candidates
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "lists.csv")
    ...     with open(path, "w") as file:
    ...         _ = file.write("probe,rank,candidate,score\\ns1,1,ann,0.9\\ns1,2,bob,0.3")
    ...     data = load_candidates(path)
    >>> data.candidate.tolist(), data.y_score.tolist()
    (['ann', 'bob'], [0.9, 0.3])
    """
    path = check_path(path, "candidates")
    if _files.kind_of(path, "candidates") in ("npy", "npz"):
        for name, column in (("search", search), ("candidate", candidate)):
            if column is not None:
                problem = f"names a column of lists, and {path!r} is a matrix;"
                raise invalid(name, column, problem, "leave it out.")
        scores = _matrix(path, score)
        scores = np.asarray(scores, dtype=float_type(scores.dtype))
        scores = -scores if distance else scores
        labels = {"search": None, "candidate": None}
        return Bunch(**labels, y_score=scores, path=path, read_as={})
    table = _tables.read_table(path, "candidates", LISTS)
    usual = ("distance", "score") if distance else ("score", "similarity")
    wanted = [("search", (search, *SEARCH_NAMES) if search else SEARCH_NAMES)]
    wanted += [("candidate", (candidate,) if candidate else CANDIDATE_NAMES)]
    wanted += [("score", (score,) if score else usual)]
    names = _files.choose_all(wanted, table.names, path)
    labels = {}
    for argument, name in zip(("search", "candidate"), names, strict=False):
        labels[argument] = table.labels(name)
        _files.check_known(argument, name, labels[argument], "drop such rows.")
    scores = table.numbers(names[2])
    bad = ~np.isfinite(scores)
    if bad.any():
        row = f"{_files.data_row(bad.argmax())} ({bad.sum():,} rows)"
        problem = f"{names[2]!r} is missing or infinite in {row};"
        raise invalid("score", names[2], problem, "drop rows without a score.")
    scores = -scores if distance else scores
    rank = _files.first_of(RANK_NAMES, table.names)
    _check_order(names[0], scores, table, rank, distance)
    read_as = {path: table.read_as} if table.read_as else {}
    return Bunch(**labels, y_score=scores, path=path, read_as=read_as)


def _matrix(path, score):
    matrix = _files.read_scores(path, score)
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiu":
        problem = f" contains {matrix.dtype} of shape {matrix.shape}, and numbers are needed, a row "
        problem += "for each search and a column for each template enrolled;"
        raise _files.file_error("candidates", path, problem, "write such a matrix.")
    return matrix


def _check_order(search, scores, table, rank, distance):
    """Raise if ranks have gaps or contradict scores, or scores rise in every list as distances."""
    wrong = partial(_files.file_error, "candidates", table.path)
    # Lists in the order of the file, which mostly has each of them at one place.
    labels, codes = table.distinct(search)
    _, first, same = np.unique(labels, return_index=True, return_inverse=True)
    codes, rows = first[same][codes], np.arange(scores.size)
    place = rows if rank is None else table.numbers(rank)
    if not np.isfinite(place).all() or (place != np.floor(place)).any():
        problem = f": column {rank!r} must contain whole numbers;"
        raise wrong(problem, "correct it, or leave it out.")
    order = np.lexsort((place, codes))
    starts = np.diff(codes[order], prepend=-1) != 0
    steps = np.where(starts, 0, np.diff(scores[order], prepend=0))
    n_rising = np.unique(codes[order][steps > 0]).size
    if n_rising >= FEWEST_LISTS and not (steps < 0).any():
        what, worse, remedy = (
            ("distances", "rise", "leave out distance (--distance).")
            if distance
            else ("similarities", "fall", "give distance=True (--distance).")
        )
        by = "" if rank is None else f" by {rank!r}"
        problem = f": {what} were expected, which {worse} from the first candidate{by}, and in all "
        problem += f"{n_rising:,} lists of several scores they do the opposite;"
        raise wrong(problem, remedy)
    if rank is not None and n_rising:
        row = _files.data_row(order[np.argmax(steps > 0)])
        problem = (
            f": {rank!r} contradicts the scores in {n_rising:,} lists, first in {row}, "
        )
        problem += "whose score is better than that of the rank before;"
        raise wrong(problem, "correct one of them.")
    number = rows - np.maximum.accumulate(np.where(starts, rows, 0))
    lacking = place[order] - place.min() > number
    if rank is not None and lacking.any():
        n_lists = np.unique(codes[order][lacking]).size
        row = _files.data_row(order[np.argmax(lacking)])
        problem = f": {rank!r} skips a rank in {n_lists:,} lists, first in {row};"
        remedy = "a list needs all candidates up to its last: "
        raise wrong(problem, f"{remedy}add those that are missing.")
