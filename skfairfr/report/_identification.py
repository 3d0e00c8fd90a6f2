"""Searches (1:N): their data, audits and comparisons, by the group of the probe."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from skfairfr._core._candidates import CandidateLists
from skfairfr._core._kinds import SEARCHES
from skfairfr._core._searches import FloorTooHighError
from skfairfr.datasets._candidates import SEARCH_NAMES, load_candidates
from skfairfr.datasets._embeddings import read_labels
from skfairfr.datasets._tables import column_names
from skfairfr.metrics import IdentificationROC
from skfairfr.metrics._searches import check_known
from skfairfr.report._audit import audit_data
from skfairfr.report._comparison import compare_systems
from skfairfr.report._data import EmbeddingData, Reading, check_data
from skfairfr.report._figures import over_gallery_sizes
from skfairfr.report._given import by_name, columns_of, reraise_for
from skfairfr.report._notes import collecting
from skfairfr.report._paired import overlap
from skfairfr.report._policy import OF_SEARCHES, as_policy
from skfairfr.report._reading import _bands_of, _with_metadata, digests_of
from skfairfr.report._searched import of_searches, with_matrices
from skfairfr.utils._errors import (
    ArgumentError,
    LackingError,
    invalid,
    kind_of_value,
    size_of,
)
from skfairfr.utils._labels import encode, find_labels, is_unknown, to_column
from skfairfr.utils._options import with_options_of
from skfairfr.utils._types import Columns, FilePath
from skfairfr.utils._validation import check_path, check_sequence

if TYPE_CHECKING:
    from skfairfr.report._report import Report, SystemsComparison

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
            problem = "must be a frame or a dict of search, candidate and score, or a matrix, "
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
        Lists, or a matrix whose rows and columns are in the order of the two tables, as in
        :func:`~skfairfr.datasets.load_candidates`.
    search : str, default=None
        Column that names the searches, in ``path`` and in lists. If None: "search", "probe",
        "query" or a like name or, if ``path`` has none and everybody searches once, the people.
    candidate, score, distance : options
        Columns, as in :func:`~skfairfr.datasets.load_candidates`.
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
        asked = {"search": search, "candidate": candidate, "score": score}
        lists = load_candidates(candidates, **asked, distance=distance)
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
    digests = digests_of([path, lists.path, *([metadata] if metadata else [])])
    digests |= {f"{n} (gallery)": v for n, v in digests_of([gallery]).items()}
    described = {"domain": None, "distance": distance, "candidates": lists.path}
    notes = tuple(dict.fromkeys(map(str, warnings)))
    found = CandidateData(
        *(np.arange(data.y.size)[:, None], data.y, columns),
        reading=Reading(
            *(path, described, notes, digests, options["bands"]),
            read_as=options["read_as"] | lists.read_as,
        ),
        candidates=scores,
        searches=names,
        listed_from=listed_from,
        non_mated_only=bool(non_mated_only),
    )
    of_gallery = {n: enrolled.columns[n] for n in columns if n in enrolled.columns}
    rows = np.arange(enrolled.y.size)[:, None]
    return found, EmbeddingData(rows, enrolled.y, of_gallery)


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


@dataclass(frozen=True, eq=False)
class SearchData(CandidateData):
    """Probes and the gallery that they search. Others are as of CandidateData, None of embeddings.

    Attributes
    ----------
    gallery : EmbeddingData
        Whose columns are those of the probes that it has.
    rank : int, default=1
    template : {"image", "mean", "max"}, default="image"
        As in :class:`~skfairfr.metrics.IdentificationROC`.
    fitted : list
        An IdentificationROC of each fit.
    """

    gallery: EmbeddingData | None = field(default=None, repr=False)
    rank: int = 1
    template: str = "image"
    fitted: list = field(default_factory=list, repr=False)
    kind, one_average, terms = EmbeddingData.kind, True, SEARCHES

    def fit(self, roc, attributes=()):
        """Search the gallery. The SimilarityROC whose pairs are the searches."""
        options = roc.get_params()
        search = IdentificationROC(
            rank=self.rank,
            template=self.template,
            similarity=self.similarity,
            **{n: options[n] for n in ("confidence_level", "n_jobs", "random_state")},
        )
        groups = {name: self.columns[name] for name in attributes} or None
        unknown = np.full(len(self.gallery.X), None)
        of_gallery = {
            n: self.gallery.columns.get(n, unknown) for n in attributes
        } or None
        if self.candidates is not None:
            fit_known(search, self, groups, of_gallery)
        else:
            search.fit(
                self.X,
                self.y,
                groups,
                X_gallery=self.gallery.X,
                y_gallery=self.gallery.y,
                sensitive_features_gallery=of_gallery,
            )
        if not (self.non_mated_only or search.n_mated_[0]):
            problem = "was not given, and no probe is of a person enrolled."
            remedy = (
                "Use it if none is meant to be. If not, check the identities: are they "
            )
            remedy += "written in the same way in the gallery?"
            raise invalid("non_mated_only", None, problem, remedy)
        self.fitted.append(search)
        search._searches.warn_of_chance()
        return search._system().by(method="jackknife")

    def genuine_pairs(self):
        """Count the mated searches of each person."""
        known = to_column(self.gallery.y, "y_gallery")
        mated = find_labels(known, to_column(self.y, "y")) >= 0
        people = encode(self.y, "y").codes
        return np.bincount(people[mated], minlength=people.max() + 1)

    def lack_of_pairs(self):
        """Say why no FNIR, or no FPIR, can be measured, or empty if both can."""
        counts = self.genuine_pairs().sum()
        if not counts:
            return "No probe is of a person enrolled, so no FNIR can be measured."
        return "" if counts < len(self.y) else "All people who search are enrolled."

    @property
    def more_settings(self):
        """Settings besides those of an audit that the numbers depend on."""
        gallery = {"enrolled": np.unique(np.asarray(self.gallery.y)).size}
        gallery |= {"images": len(self.gallery.X), "template": self.template}
        gallery |= {"rank": self.rank}
        if self.candidates is not None:
            gallery["candidates"] = summary_of(self.fitted[0])
        return {"gallery": gallery}


@with_options_of(
    audit_data,
    without=(
        *("far", "threshold_from", "threshold_group", "control", "sections"),
        *("metrics", "p_target", "llr", "average", "impostors"),
        *("label_errors", "label_error_rate"),
    ),
)
def identify_data(
    data: EmbeddingData,
    *,
    gallery: EmbeddingData,
    fpir: ArrayLike | None = None,
    threshold: ArrayLike | None = None,
    rank: int = 1,
    template: str = "image",
    limits: dict | None = None,
    policy: Any = None,
    **options: Any,
) -> Report:
    """Audit searches by every attribute of the probes and by every combination of them.

    Parameters
    ----------
    data, gallery : EmbeddingData
        Probes, and who is enrolled, as :func:`read_data` returns them.
    fpir : float in (0, 1) or array-like, shape (n_levels,), default=None
        Levels, each of which chooses a threshold on the probes. If None: 1e-2 and 1e-3.
    threshold : float or array-like, shape (n_levels,), default=None
        Similarities from which on a deployed system alarms, instead.
    rank : int, default=1
        A mate counts as found if fewer others reach its score.
    template : {"image", "mean", "max"}, default="image"
        Template of each person: the only image, the mean of a person's unit rows, or
        all of them, of which the best counts.
    limits : dict of str -> float, default=None
        Largest rate allowed of each group, in (0, 1), or largest max / min allowed of the
        groups' rates, above 1, by the names ``max_fpir``, ``max_fnir``, ``max_fpir_ratio``,
        ``max_fnir_ratio``, ``max_fpir_geomean_ratio`` and ``max_fnir_geomean_ratio``.
    policy : Policy, str or path-like, default=None
        Its ``search`` sets ``fpir`` or ``threshold``, and ``limits``.
    **options
        Options of :func:`audit_data`.

    Returns
    -------
    report : Report
        In its records "far" is the FPIR and "frr" the FNIR. Lower is better. Its texts,
        JSON and CSV call them FPIR and FNIR.

    Raises
    ------
    ValueError
        As :func:`audit_data`, and if a probe is itself in the gallery.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairfr.report import EmbeddingData, identify_data
    >>> rng = np.random.default_rng(0)
    >>> probes, enrolled = rng.normal(size=(200, 8)), rng.normal(size=(50, 8))
    >>> data = EmbeddingData(probes, np.arange(200), {"half": np.arange(200) % 2})
    >>> gallery = EmbeddingData(enrolled, np.arange(50))
    >>> report = identify_data(data, gallery=gallery, fpir=0.2)
    >>> round(report.audits[0].levels[0].rates[0].far.value, 1)
    0.2
    """
    searches = searches_of(data, gallery, rank, template)
    policy, limits = as_of_pairs(policy, limits)
    with in_arguments_of_searches(data.is_distance):
        report = audit_data(
            searches,
            far=fpir,
            threshold=threshold,
            limits=limits,
            policy=policy,
            **options,
        )
        search = searches.fitted[0]  # a later one is without repeats
        check_known(
            search._systems[None], [one.threshold for one in report.audits[0].levels]
        )
    audits = [of_searches(audit, searches, search) for audit in report.audits]
    threshold = audits[0].levels[0].threshold
    if search._searches.share < 1 or threshold >= search._searches.found.floor:
        sizes = partial(over_gallery_sizes, search, threshold)
        audits[0] = replace(audits[0], sizes=sizes)
    return replace(report, audits=tuple(audits))


@with_options_of(identify_data, without=("gallery", "explain_by"))
def identify(
    X: ArrayLike | None,
    y: ArrayLike,
    sensitive_features: Columns | None = None,
    *,
    X_gallery: ArrayLike | None = None,
    y_gallery: ArrayLike,
    sensitive_features_gallery: Columns | None = None,
    candidates: Any = None,
    searches: ArrayLike | None = None,
    listed_from: float | None = None,
    attribute: str | None = None,
    similarity: Any = "cosine",
    non_mated_only: bool = False,
    **options: Any,
) -> Report:
    """Assess for which groups searches of a gallery (1:N) have more errors, with intervals.

    Parameters
    ----------
    X, y, sensitive_features : array-likes, (n_probes, n_features), (n_probes,), (n_probes,)
        Probes, as in :func:`audit`. Each is a search. Without groups everyone is audited. X is
        None with ``candidates``.
    X_gallery, y_gallery : array-likes, shape (n_images, n_features), (n_images,)
        Enrolled people. X_gallery is None with ``candidates``.
    sensitive_features_gallery : array-like, frame or dict, shape (n_images,), default=None
        Groups of these, by the same names.
    candidates : frame, dict or array-like, default=None
        Instead of embeddings: lists of candidates, with the columns search, candidate and score,
        or a matrix of scores (n_probes, n_images). As in ``fit_candidates`` and ``fit_matrix`` of
        :class:`~skfairfr.metrics.IdentificationROC`.
    searches : array-like, shape (n_probes,), default=None
        Names of the searches, by which lists call them. None numbers them from 0.
    listed_from : float, default=None
        Score from which on lists have all candidates.
    attribute : str, default=None
        Name of the attribute, for messages and the report. If None: that of a series or
        of a frame's one column, else "group".
    similarity : {"cosine", "dot"} or comparator, default="cosine"
        Similarity of a probe and an enrolled image. A fitted comparator, such as
        :class:`~skfairfr.comparators.CohortNormalizer`, in place of the cosine.
    non_mated_only : bool, default=False
        Whether no probe is of a person enrolled. If not stated, such probes are an error.
    **options
        Options of :func:`identify_data`.

    Returns
    -------
    report : Report
        In its records "far" is the FPIR and "frr" the FNIR, lower being better.

    Raises
    ------
    ValueError
        As :func:`audit`, and if a probe is itself in the gallery.
    TypeError
        If an option is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairfr import make_face_embeddings
    >>> from skfairfr.report import identify
    >>> data = make_face_embeddings(400, images_per_identity=2, random_state=0)
    >>> _, first = np.unique(data.y, return_index=True)
    >>> gallery = first[::2]
    >>> probes = np.setdiff1d(np.arange(len(data.y)), gallery)
    >>> report = identify(
    ...     data.X[probes], data.y[probes], data.sensitive_features[probes],
    ...     X_gallery=data.X[gallery], y_gallery=data.y[gallery],
    ...     fpir=0.1, limits={"max_fpir": 0.05},
    ... )
    >>> report.checks[0].verdict, report.exit_code
    ('failed', 1)
    """
    columns, given = columns_of(sensitive_features, attribute)
    enrolled = {}
    if sensitive_features_gallery is not None:
        enrolled, _ = columns_of(sensitive_features_gallery, attribute)
        if len(enrolled) == len(columns) == 1:
            enrolled = dict(zip(columns, enrolled.values(), strict=True))
    options_of = {"similarity": similarity, "non_mated_only": non_mated_only}
    if candidates is not None:
        if X is not None or X_gallery is not None:
            problem = "were given, and embeddings (X, X_gallery);"
            raise invalid("candidates", None, problem, "give one of the two.")
        known = candidates, searches, listed_from
        data = candidates_of(y, columns, *known, **options_of)
        X_gallery = np.arange(len(to_column(y_gallery, "y_gallery")))[:, None]
    else:
        data = EmbeddingData(X, y, columns, **options_of)
    gallery = EmbeddingData(X_gallery, y_gallery, enrolled)
    check_data(data, "sensitive_features", named=given)
    return identify_data(data, gallery=gallery, **options)


@with_options_of(
    compare_systems, without=("far", "average", "impostors", "p_target", "llr")
)
def compare_searches(
    before: EmbeddingData,
    after: EmbeddingData,
    *more: EmbeddingData,
    galleries: Sequence[EmbeddingData],
    fpir: ArrayLike | None = None,
    threshold: ArrayLike | None = None,
    rank: int = 1,
    template: str = "image",
    **options: Any,
) -> SystemsComparison:
    """Find the groups that a change of system harms or helps in searches (1:N).

    As :func:`compare_systems`, with paired intervals and one family of tests.

    Parameters
    ----------
    before, after, *more : EmbeddingData
        The same probes of each system, as :func:`read_data` returns them.
    galleries : sequence of EmbeddingData, shape (n_systems,)
        The gallery of each system, of the same images. It is taken as given.
    fpir : float in (0, 1) or array-like, shape (n_levels,), default=None
        Levels, which every system meets at its own threshold. If None: 1e-2 and
        1e-3.
    threshold : float or array-like, shape (n_levels,), default=None
        Similarities from which on all systems alarm, instead.
    rank : int, default=1
        A mate counts as found if fewer others reach its score.
    template : {"image", "mean", "max"}, default="image"
        Template of each person: the only image, the mean of a person's unit rows, or
        all of them, of which the best counts.
    **options
        Options of :func:`compare_systems`.

    Returns
    -------
    found : SystemsComparison
        In its records "far" is the FPIR and "frr" the FNIR. Lower is better. Its texts,
        JSON and CSV call them FPIR and FNIR.

    Raises
    ------
    ValueError
        As :func:`compare_systems`, and if galleries are not of the same images.

    See Also
    --------
    skfairfr.metrics.IdentificationROC.compare : One rate, or one disparity, of two systems.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairfr.report import EmbeddingData, compare_searches
    >>> rng = np.random.default_rng(0)
    >>> centre, y = rng.normal(size=(300, 16)), np.arange(300)
    >>> gallery = EmbeddingData(centre[:100], y[:100])
    >>> half = {"half": y % 2}
    >>> good, bad = (
    ...     EmbeddingData(centre + noise * rng.normal(size=centre.shape), y, half)
    ...     for noise in (0.1, 1.0)
    ... )
    >>> found = compare_searches(
    ...     good, bad, galleries=[gallery, gallery], fpir=0.1
    ... )
    >>> [(change.group, change.rate) for change in found.harm]
    [(None, 'frr'), (0, 'frr'), (1, 'frr')]
    """
    data = (before, after, *more)
    if not isinstance(galleries, Sequence) or len(galleries) != len(data):
        found = size_of(galleries) or kind_of_value(galleries)
        problem = f"are {found}, and the systems are {len(data)};"
        raise invalid("galleries", None, problem, "give the gallery of each system.")
    both = zip(data, galleries, strict=True)
    systems = [
        searches_of(*one, rank, template, f"galleries[{k}]")
        for k, one in enumerate(both)
    ]
    _check_same_galleries(galleries)
    with in_arguments_of_searches(before.is_distance):
        found = compare_systems(*systems, far=fpir, threshold=threshold, **options)
    fitted = {n: one.fitted[0] for n, one in zip(found.systems, systems, strict=True)}
    measured = tuple(
        replace(one, levels=with_matrices(one, before.columns, fitted[one.system]))
        for one in found.measured
    )
    settings = found.settings | systems[0].more_settings
    return replace(found, measured=measured, settings=settings)


def _check_same_galleries(galleries):
    """Raise unless all galleries are of the same images."""
    names = [f"gallery {place}" for place, _ in enumerate(galleries, 1)]
    _, left_out = overlap([replace(one, columns={}) for one in galleries], names)
    first, *others = (
        np.unique(np.asarray(one.y), return_counts=True) for one in galleries
    )
    alike = [all(map(np.array_equal, first, other)) for other in others]
    if any(map(len, left_out)) or not all(alike):
        remedy = "enrol in every system what all of them can enrol."
        raise invalid(
            "galleries", None, "are not of the same people and images;", remedy
        )


def searches_of(data, gallery, rank, template, called="gallery"):
    """Probes and the gallery that they search, SearchData. ``called`` names the latter."""
    for name, part in (("data", data), (called, gallery)):
        if not isinstance(part, EmbeddingData):
            problem = f"must be an EmbeddingData, got {kind_of_value(part)}."
            raise invalid(name, part, problem, "Searches need embeddings.")
    try:
        check_data(gallery)
    except ArgumentError as error:
        raise reraise_for(error, called, gallery) from None
    _check_same_groups(data, gallery, called)
    names = CandidateData.__dataclass_fields__
    own = {name: getattr(data, name, None) for name in names}
    of_probes, of_gallery = data.reading, gallery.reading
    if of_probes is not None and of_gallery is not None:
        digests = {f"{n} (gallery)": v for n, v in of_gallery.sha256.items()}
        notes = (*of_probes.notes, *of_gallery.notes)
        sha256 = of_probes.sha256 | digests
        own["reading"] = replace(of_probes, notes=notes, sha256=sha256)
    return SearchData(**own, gallery=gallery, rank=rank, template=template)


@contextmanager
def in_arguments_of_searches(distance=False):
    """Name the arguments of searches in errors: fpir for far, max_fpir for max_fmr."""
    try:
        yield
    except FloorTooHighError as error:
        raise ValueError(error.in_words(distance)) from None
    except ArgumentError as error:
        name = str(error.argument)
        own = SEARCHES.level if name == "far" else SEARCHES.limit(name)
        text = str(error)
        if text.startswith(name):
            text = own + text.removeprefix(name)
        own = own if error.argument else None
        raise ArgumentError(text, own, error.value, error.remedy) from None


def _check_same_groups(data, gallery, called):
    """Raise if most people who are enrolled have other groups there than as probes.

    Groups that were exchanged differ for most, those that change, such as ages, for some.
    """
    probes, enrolled = (to_column(one.y, "y").astype(str) for one in (data, gallery))
    place = find_labels(enrolled, probes)
    for name in data.columns.keys() & gallery.columns.keys():
        own = to_column(data.columns[name], name)[place >= 0]
        there = to_column(gallery.columns[name], name)[place[place >= 0]]
        known = ~is_unknown(own) & ~is_unknown(there)
        other = own[known].astype(str) != there[known].astype(str)
        people = np.unique(probes[place >= 0][known], return_inverse=True)[1]
        agrees = np.bincount(people, ~other, minlength=people.max(initial=-1) + 1) > 0
        if (n := int((~agrees).sum())) > agrees.size / 2:
            problem = f"has another {name!r} than the probes for {n:,} of {agrees.size:,} people;"
            raise invalid(called, None, problem, "correct the one that is wrong.")


def as_of_pairs(policy, limits):
    """A policy of searches, and limits, by their names of comparisons. None stays."""
    policy = None if policy is None else as_policy(policy).for_search()
    if limits is None:
        return policy, None
    if not isinstance(limits, dict):
        raise invalid("limits", limits, f"must be a dict, got {kind_of_value(limits)}.")
    unknown = [name for name in limits if name not in OF_SEARCHES]
    if unknown:
        remedy = f"Known are {', '.join(OF_SEARCHES)}."
        raise invalid("limits", limits, f"has the unknown key {unknown[0]!r}.", remedy)
    return policy, {OF_SEARCHES[name]: limit for name, limit in limits.items()}
