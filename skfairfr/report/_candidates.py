"""Searches whose scores are known, from lists of candidates or a matrix: data of an audit."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from skfairfr._core._candidates import CandidateLists
from skfairfr.datasets._candidates import SEARCH_NAMES, load_candidates
from skfairfr.datasets._embeddings import read_labels
from skfairfr.datasets._tables import column_names
from skfairfr.report._data import EmbeddingData, Reading
from skfairfr.report._given import by_name
from skfairfr.report._notes import collecting
from skfairfr.report._reading import _bands_of, _with_metadata, digests_of
from skfairfr.utils._errors import LackingError, invalid, kind_of_value
from skfairfr.utils._labels import to_column
from skfairfr.utils._types import FilePath
from skfairfr.utils._validation import check_path, check_sequence

# Columns of candidates as Python takes them.
COLUMNS = ("search", "candidate", "score")


@dataclass(frozen=True, eq=False)
class CandidateData(EmbeddingData):
    """Searches whose scores are known. Other attributes are those of EmbeddingData.

    Attributes
    ----------
    X : ndarray of int, shape (n_searches, 1)
        Numbers of the searches in ``candidates``.
    candidates : tuple of search, candidate and y_score, each (n_rows,), or ndarray
        Lists, whose ``search`` has the names in ``searches`` or numbers, or a matrix of scores
        (n_searches, n_templates).
    searches : array-like, shape (n_searches,), default=None
        Names of the searches.
    listed_from : float, default=None
        Score from which on all candidates are listed.
    """

    candidates: object = field(default=None, repr=False)
    searches: object = field(default=None, repr=False)
    listed_from: float | None = None
    kind = "candidates of searches"

    def fit(self, roc, attributes=()):
        """Raise an error: searches are audited with their gallery, by :func:`identify_data`.

        Parameters
        ----------
        roc : SimilarityROC
        attributes : tuple of str, default=()

        Raises
        ------
        ArgumentError
            Always.
        """
        problem = "contains candidates of searches, and no pairs;"
        raise invalid(
            "data", self, problem, "give it to identify_data, with its gallery."
        )


def candidates_of(y, columns, candidates, searches=None, listed_from=None, **options):
    """CandidateData from what callers of :func:`identify` give."""
    if np.ndim(candidates) != 2 or hasattr(candidates, "columns"):
        named = {} if np.ndim(candidates) == 1 else by_name(candidates)
        if not set(COLUMNS) <= {*named}:
            problem = "must be a frame or a dict of search, candidate and score, or a matrix; "
            problem += f"got {kind_of_value(candidates)}."
            raise invalid("candidates", candidates, problem)
        candidates = tuple(to_column(named[n], n) for n in COLUMNS)
    X = np.arange(len(to_column(y, "y")))[:, None]
    known = {"candidates": candidates, "searches": searches}
    return CandidateData(X, y, columns, **known, listed_from=listed_from, **options)


def fit_known(search, data, groups, of_gallery):
    """Fit an IdentificationROC to the scores of CandidateData."""
    rows = np.asarray(data.X)[:, 0]
    labels = {"y_gallery": data.gallery.y, "sensitive_features_gallery": of_gallery}
    if not isinstance(data.candidates, tuple):
        scores = np.asarray(data.candidates)
        scores = scores if rows.size == len(scores) else scores[rows]
        return search.fit_matrix(scores, data.y, groups, **labels)
    names = rows if data.searches is None else to_column(data.searches, "names")
    lists = data.candidates
    if data.searches is None:
        kept = np.isin(lists[0], rows)
        lists = tuple(to_column(column, "candidates")[kept] for column in lists)
    labels |= {"y": data.y, "sensitive_features": groups, "names": names}
    return search.fit_candidates(*lists, listed_from=data.listed_from, **labels)


def summary_of(search):
    """Scores that an audit keeps, a dict."""
    searches = search._searches
    floor, source, n = searches.found.known_from, searches.source, searches.own.size
    if not isinstance(source, CandidateLists):
        return {"searches": n, "longest": None, "empty": 0, "known_from": None}
    length = np.bincount(source.search, minlength=n)
    lowest = None if np.isneginf(floor) else float(floor)
    found = {"longest": int(length.max()), "empty": int((length == 0).sum())}
    return {"searches": n} | found | {"known_from": lowest}


def read_candidates(
    path: FilePath,
    attributes: object = (),
    *,
    gallery: FilePath,
    candidates: FilePath,
    search: str | None = None,
    candidate: str | None = None,
    score: str | None = None,
    identity: str | None = None,
    metadata: FilePath | None = None,
    on: str | None = None,
    distance: bool = False,
    listed_from: float | None = None,
    non_mated_only: bool = False,
) -> tuple[CandidateData, EmbeddingData]:
    """Searches and the gallery from tables, and their scores from lists or a matrix.

    Parameters
    ----------
    path : str or path-like
        A table with one row for each search, also for those that returned nobody: who searches,
        the groups and, unless everybody searches once, the name of the search.
    attributes : str or sequence of str, shape (n_attributes,), default=()
        Columns of the groups, or "NAME:4" and "NAME:18,30" for ranges of a number. Columns
        that the gallery lacks are unknown there.
    gallery : str or path-like
        A table with one row for each template enrolled, and the columns of people and groups.
    candidates : str or path-like
        Lists, or a matrix whose rows and columns are in the order of the two tables; as in
        :func:`~skfairfr.datasets.load_candidates`.
    search : str, default=None
        Column that names the searches, in ``path`` and in lists. None takes "search", "probe",
        "query" or a like name or, if ``path`` has none and everybody searches once, the people.
    candidate, score, distance : options
        As in :func:`~skfairfr.datasets.load_candidates`.
    identity : str, default=None
        Column of the people in both tables. If None: "identity" or "y".
    metadata, on : options
        As in :func:`read_data`: a table of the people, for both tables.
    listed_from : float, default=None
        Score from which on lists have all candidates (up to which, of distances). See
        :meth:`~skfairfr.metrics.IdentificationROC.fit_candidates`.
    non_mated_only : bool, default=False
        Whether nobody who searches is enrolled.

    Returns
    -------
    data : CandidateData
    gallery : EmbeddingData
        For :func:`identify_data`.

    Raises
    ------
    ValueError
        If a file cannot be read or lacks a column, or files do not fit together.

    Examples
    --------
    >>> import os, tempfile
    >>> from skfairfr.report import read_candidates
    >>> files = {
    ...     "probes.csv": "probe,identity,half\\np1,ann,1\\np2,cy,2\\np3,bob,2\\np4,dan,1",
    ...     "gallery.csv": "identity\\nann\\nbob",
    ...     "lists.csv": "probe,candidate,score\\np1,ann,0.9\\np2,bob,0.4\\np3,bob,0.8",
    ... }
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     paths = [os.path.join(folder, name) for name in files]
    ...     for path, text in zip(paths, files.values()):
    ...         with open(path, "w") as file:
    ...             _ = file.write(text)
    ...     data, gallery = read_candidates(
    ...         paths[0], "half", gallery=paths[1], candidates=paths[2]
    ...     )
    >>> data.y.tolist(), gallery.y.tolist()
    (['ann', 'cy', 'bob', 'dan'], ['ann', 'bob'])
    """
    path, gallery = check_path(path, "path"), check_path(gallery, "gallery")
    if isinstance(attributes, str):
        attributes = (attributes,)
    asked = attributes
    if not isinstance(attributes, dict):
        asked = check_sequence(attributes, "attributes", "names of columns", str)
    options = {"metadata": metadata, "on": on, "image": None, "read_as": {}}
    options["bands"] = _bands_of(attributes, asked, [path])
    warnings = []
    with collecting(warnings, UserWarning):
        lists = load_candidates(
            candidates,
            search=search,
            candidate=candidate,
            score=score,
            distance=distance,
        )
        present = column_names(path)
        wanted = (search, *SEARCH_NAMES) if search else SEARCH_NAMES
        name = next((one for one in wanted if one in present), None)
        data = _read_table(path, "path", identity, name, options)
        enrolled = _read_table(gallery, "gallery", identity, None, options)
    names = None
    if lists.search is not None:
        names = data.y if name is None else data.columns.pop(name)
        if name is None and np.unique(data.y.astype(str)).size < data.y.size:
            problem = f"was not given, people search several times, and {path!r} has no column "
            problem += f"{', '.join(map(repr, SEARCH_NAMES[:3]))};"
            remedy = "name the column that names the searches, in it and in the lists."
            raise invalid("search", None, problem, remedy)
    scores = lists.y_score
    if names is not None:
        scores = lists.search, lists.candidate, scores
    elif scores.shape != (data.y.size, enrolled.y.size):
        problem = (
            f"has the shape {scores.shape}, and there are {data.y.size:,} searches and "
        )
        problem += f"{enrolled.y.size:,} rows of the gallery;"
        remedy = "give a row for each search and a column for each template enrolled."
        raise invalid("candidates", candidates, problem, remedy)
    columns = {n: data.columns[n] for n in options["bands"]}
    if listed_from is not None and distance:
        listed_from = -listed_from
    found = CandidateData(
        np.arange(data.y.size)[:, None],
        data.y,
        columns,
        candidates=scores,
        searches=names,
        listed_from=listed_from,
        non_mated_only=bool(non_mated_only),
    )
    digests = digests_of([path, lists.path, *([metadata] if metadata else [])])
    digests |= {f"{n} (gallery)": v for n, v in digests_of([gallery]).items()}
    described = {"domain": None, "distance": distance, "candidates": lists.path}
    notes = tuple(dict.fromkeys(map(str, warnings)))
    read_as = options["read_as"] | lists.read_as
    reading = Reading(
        path, described, notes, digests, options["bands"], read_as=read_as
    )
    of_gallery = {n: enrolled.columns[n] for n in columns if n in enrolled.columns}
    X_gallery = np.arange(enrolled.y.size)[:, None]
    return replace(found, reading=reading), EmbeddingData(
        X_gallery, enrolled.y, of_gallery
    )


def _read_table(path, argument, identity, name, options):
    """Labels of searches, or of the gallery, whose groups may not be known."""

    def read(attributes, *_):
        asked = dict.fromkeys(attributes, "attributes")
        asked |= {} if name is None else {name: "image"}
        return read_labels(path, argument, identity, asked)

    try:
        return _with_metadata(read, [*options["bands"]], options)
    except LackingError as error:
        if argument == "path" or error.argument != "attributes":
            raise
        present = column_names(path)
        known = {n: cuts for n, cuts in options["bands"].items() if n in present}
        return _with_metadata(read, [*known], options | {"bands": known})
