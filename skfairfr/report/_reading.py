"""Data of an audit from files: which reader, which columns, and what a file lacks."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from hashlib import file_digest

import numpy as np

from skfairfr.datasets._decisions import dates_as_years, read_decisions, read_times
from skfairfr.datasets._embeddings import (
    columns_of_enrolment,
    enrol,
    holds_embeddings,
    labels_beside,
    read_embeddings,
)
from skfairfr.datasets._files import kind_of
from skfairfr.datasets._metadata import joined, read_metadata
from skfairfr.datasets._scored_pairs import read_pairs
from skfairfr.datasets._tables import column_names, kept_tables
from skfairfr.datasets._trials import load_score_matrix, load_trials, scores_of
from skfairfr.report._control import covariates_of
from skfairfr.report._data import DecisionData, EmbeddingData, PairData, Reading
from skfairfr.report._decisions import (
    MADE,
    NO_EMBEDDING,
    NOT_ACQUIRED,
    OF_ACCEPTANCE,
    check_ascending,
    check_best_of,
    decided,
    decisions,
    outcomes,
    with_failures,
)
from skfairfr.report._given import candidate_columns
from skfairfr.report._notes import collecting
from skfairfr.utils._bands import quantile_cuts, split_bands, to_bands
from skfairfr.utils._errors import ArgumentError, invalid, plain
from skfairfr.utils._labels import (
    count_labels,
    encode_joined,
    is_unknown,
    join_columns,
    to_column,
)
from skfairfr.utils._types import FilePath
from skfairfr.utils._validation import (
    check_path,
    check_sequence,
    code_of_failure,
    failed_rows,
    is_failure,
    to_scores,
)

# Options that only some ways of reading have.
OPTIONS_OF_EMBEDDINGS = ("labels", "embedding", "identity", "domain", "image", "fte")
OPTIONS_OF_EMBEDDINGS += ("enrolment", "template")
OPTIONS_OF_LOGS = ("accepted", "attempt", "session", "best_of", "time", "species")
OPTIONS_OF_LOGS += ("no_people",)
# Of logs with scores of attack detection.
OPTIONS_OF_ATTACKS = ("score", "distance", "bpcer")
OPTIONS_OF_PAIRS = ("score", "identity_1", "identity_2", "y_true")
OPTIONS_OF_PAIRS += ("image_1", "image_2", "distance", "layout")
OPTIONS_OF_TRIALS = ("trials", "labels", "embedding", "identity", "image", "score")
OPTIONS_OF_TRIALS += ("distance", "layout", "enrolment", "template")
OPTIONS_OF_MATRIX = ("probes", "references", "identity", "image", "score", "distance")
OPTIONS_OF_ALL = ("metadata", "on", "failures", "dates")
# What a list of pairs of one kind alone states.
ONLY = ("mated_only", "non_mated_only")
# Options that are further files.
FILES = ("labels", "trials", "probes", "references", "metadata")


def read_data(
    path: FilePath,
    attributes: str | Sequence[str] = (),
    *,
    control: str | Sequence[str] = (),
    labels: str | None = None,
    embedding: str | None = None,
    identity: str | None = None,
    domain: str | None = None,
    image: str | None = None,
    fte: str | None = None,
    accepted: str | None = None,
    attempt: str | None = None,
    session: str | None = None,
    best_of: int | None = None,
    time: str | None = None,
    dates: str | None = None,
    species: str | None = None,
    failures: str | None = None,
    score: str | None = None,
    identity_1: str | None = None,
    identity_2: str | None = None,
    y_true: str | None = None,
    image_1: str | None = None,
    image_2: str | None = None,
    distance: bool = False,
    trials: FilePath | None = None,
    probes: FilePath | None = None,
    references: FilePath | None = None,
    metadata: FilePath | None = None,
    on: str | None = None,
    layout: str | None = None,
    enrolment: str | None = None,
    template: str | None = None,
    mated_only: bool = False,
    non_mated_only: bool = False,
    no_people: bool = False,
    bpcer: float | Sequence[float] | None = None,
) -> EmbeddingData | PairData | DecisionData:
    """Data to audit, from a file of embeddings or of scored pairs.

    Parameters
    ----------
    path : str or path-like
        Embeddings (.npz, .npy), one row for each image, or scored pairs (.csv, .tsv, .csv.gz,
        .tsv.gz, .parquet with pyarrow, score files of bob).
    attributes : str or sequence of str, shape (n_attributes,), default=()
        Columns of the groups. For scored pairs each is two columns, ending in _1 and _2, or
        one if both images of every pair have the same group.
    control : str or sequence of str, shape (n_covariates,), default=()
        Covariates that the audit will control for, whose columns are read too, as in
        :func:`audit_data`.
    labels, embedding, identity : str, default=None
        For embeddings, as in :func:`~skfairfr.datasets.load_embeddings`.
    domain : str, default=None
        For embeddings: a column with two values, such as selfie and document. Only pairs
        across them are compared.
    image : str, default=None
        For embeddings: a column that names the images, by which :func:`compare_systems`
        pairs the rows of two files. None leaves them in their order. Lists of trials call
        images by it. There the default is "image".
    fte : str, default=None
        For embeddings: a column that marks attempts without a template, whose
        embeddings are not read: ``fte`` (or 1) if enrolment failed, ``fta`` if
        acquisition failed, else 0 or empty. Unless ``failures`` is given, they are
        reported.
    accepted, attempt, session, species : str, default=None
        Columns of a log of decisions, as in :func:`~skfairfr.datasets.load_decisions`.
        ``accepted`` makes the file one. Errors of genuine attempts are FRR, or BPCER if there are
        attacks. Those of impostors are FAR, and those of attacks APCER by species.
    best_of : int, default=None
        For a log, with ``session``: rates of transactions, the first so many attempts of a
        person in a session, accepted if one of them is.
    time : str, default=None
        For a log, with ``best_of``: a column of numbers or times by which attempts are
        ordered. If None, rows are in order. That is an error if a column that
        reads as a time decreases within a session or if, in a log with longer sessions,
        no column of times or of different numbers increases within all of them.
    dates : {"day-first", "month-first"}, default=None
        How ``time``, and attributes of which ranges are asked for, write dates with the year
        last, such as 31.01.2026. None allows only dates such as 2026-01-31. Ranges of dates
        are in years: "born:1990".
    failures : {"reject", "report", "error"}, default=None
        Treatment of missing scores (also infinite ones, if nothing is accepted there),
        embeddings with NaN, infinity or zeros alone, and attempts of which nothing was
        captured. "reject" counts them as rejections. "report" leaves them out of the rates,
        counts them by group and adds generalised rates. "error", and None if there are
        some, raises an error.
    score, identity_1, identity_2, y_true, image_1, image_2 : str, default=None
        Columns of scored pairs, as in :func:`~skfairfr.datasets.load_pairs`. If ``y_true``
        is read instead of identities, pairs are assumed to be independent.
    distance : bool, default=False
        Whether scores of pairs are distances, smaller meaning more similar.
    trials : str or path-like, default=None
        A list of pairs, as in :func:`~skfairfr.datasets.load_trials`: no others of the
        embeddings are compared, and if it has scores, those are taken.
    probes, references : str or path-like, default=None
        Labels of the rows and of the columns of a matrix of scores, as in
        :func:`~skfairfr.datasets.load_score_matrix`. ``path`` is that of the matrix.
    metadata : str or path-like, default=None
        A table from which those attributes are taken that it has, as in
        :func:`~skfairfr.datasets.join_metadata`.
    on : str, default=None
        Its column of the people or, if its name is that of the column of the images, of
        the images.
    layout : str, default=None
        Layout of a list of pairs without names, such as "wespeaker", if its content leaves
        open which it is. "table" if its first line names the columns.
    enrolment, template : str, default=None
        For embeddings and of lists of trials, as in :func:`~skfairfr.datasets.load_trials`: a
        list or a column of images that are enrolled together, and what their templates are.
        Without trials all other images are compared with all templates, one of each person.
    mated_only, non_mated_only : bool, default=False
        Whether all pairs are genuine, or none is. Not stated, such data are an error, since
        identities that are written otherwise on one side look the same.
    no_people : bool, default=False
        For a log: whether nobody is known. Attempts are then taken as independent. A log
        with a column of people is then an error.
    bpcer : float in (0, 1) or sequence of floats, shape (n_levels,), default=None
        Of scores of attack detection, which a table with ``species`` and without ``accepted``
        has: the BPCER at which thresholds are set. Decisions are those at the first. None is
        (0.05, 0.01). Scores are larger, or with ``distance`` smaller, if bona fide is likely.

    Returns
    -------
    data : EmbeddingData, PairData or, from a log, DecisionData
        For :func:`audit_data`. A probable mistake in the file becomes a note of its audit.

    Raises
    ------
    ValueError
        If the file cannot be read, lacks a column, or has the other kind
        of data than an option is for.
    ImportError
        If a .parquet file is read without pyarrow.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from skfairfr.report import read_data
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "faces.npz")
    ...     np.savez(path, embedding=np.eye(3), identity=[1, 1, 2], gender=["f", "f", "m"])
    ...     data = read_data(path, "gender")
    >>> data.columns["gender"].tolist()
    ['f', 'f', 'm']
    """
    given = dict(locals())
    path = check_path(path, "path")
    if isinstance(attributes, str):
        attributes = (attributes,)
    asked = check_sequence(attributes, "attributes", "names of columns", str)
    others = ("path", "attributes", "control")
    options = {name: value for name, value in given.items() if name not in others}
    kind, read, own = _way_to_read(path, options)
    for name, value in options.items():
        if value not in (None, False) and name not in (*own, *OPTIONS_OF_ALL):
            problem = f"is no option of {kind}, which {path!r} is read as;"
            raise invalid(name, value, problem, "leave it out.")
    bands = _bands_of(attributes, asked, _files_of(path, options))
    attributes = list(bands)
    if len(attributes) < len(asked):
        problem = f"{plain(list(asked))!r} names one column twice;"
        raise invalid("attributes", asked, problem, "give it once.")
    warnings = []
    with collecting(warnings, UserWarning), kept_tables() as tables:
        asked = options | {"bands": bands, "read_as": {}, "covariates": ()}
        found = _controlled(read, path, attributes, asked, control or ())
    notes = tuple(dict.fromkeys(map(str, warnings)))
    digests = digests_of(_files_of(path, options))
    known = {"bands": bands, "read_as": asked["read_as"]}
    if not attributes:
        known["candidates"] = candidate_columns(
            _files_of(path, options), options, tables
        )
    reading = Reading(path, options, notes, digests, **known)
    if isinstance(found, DecisionData):
        reading = replace(reading, options=options | {"distance": False})
        parts = tuple(replace(part, reading=reading) for part in found.parts)
        return replace(found, parts=parts, reading=reading)
    return replace(found, reading=reading)


def _bands_of(attributes, asked, files):
    """Column of every attribute, and its cuts. A column of that name has none."""
    if isinstance(attributes, Mapping):
        return dict(attributes)
    known = set()
    if any(":" in one for one in asked):
        known.update(*map(column_names, files))
    return dict(
        (one, None) if {one, f"{one}_1"} & known else split_bands(one) for one in asked
    )


def _controlled(read, path, attributes, options, control):
    """Data with attributes, and with covariates apart from them."""
    if not control:
        return read(path, attributes, options)
    covariates = [one.name for one in covariates_of(control)]
    more = [name for name in covariates if name not in attributes]
    try:
        asked = options | {"covariates": covariates}
        found = read(path, [*attributes, *more], asked)
    except ArgumentError as error:
        lacking = [f"{name}{end}" for name in more for end in ("", "_1", "_2")]
        if error.argument == "attributes" and error.value in lacking:
            problem = str(error).removeprefix("attributes ")
            raise invalid("control", error.value, problem) from None
        raise
    if isinstance(found, DecisionData):
        return found
    ends = {name: found.columns[name] for name in covariates}
    return replace(
        found,
        columns={name: found.columns[name] for name in attributes},
        covariates={
            # One column is that of the pair.
            name: both[0] if isinstance(both, tuple) and both[0] is both[1] else both
            for name, both in ends.items()
        },
    )


def _way_to_read(path, options):
    """How a file is read: the kind of data in words, a function, and its own options."""
    if options["accepted"] is not None:
        return DecisionData.kind, _read_log, (*OPTIONS_OF_LOGS, "identity")
    if options["species"] is not None:
        own = (*OPTIONS_OF_LOGS, *OPTIONS_OF_ATTACKS, "identity")
        return "attack detection", _read_log, own
    if options["trials"] is not None:
        read = partial(_read_listed, load_trials, OPTIONS_OF_TRIALS)
        return "listed trials", read, (*OPTIONS_OF_TRIALS, *ONLY)
    if options["probes"] is not None:
        read = partial(_read_listed, load_score_matrix, OPTIONS_OF_MATRIX)
        return "a matrix of scores", read, (*OPTIONS_OF_MATRIX, *ONLY)
    is_pairs = any(options[name] for name in OPTIONS_OF_PAIRS)
    if not holds_embeddings(path, options["embedding"], is_pairs):
        return PairData.kind, _read_pairs, (*OPTIONS_OF_PAIRS, *ONLY)
    return EmbeddingData.kind, _read_embeddings, (*OPTIONS_OF_EMBEDDINGS, ONLY[1])


def _read_embeddings(path, attributes, options):
    names = [options[name] for name in ("labels", "embedding", "identity")]
    how = options["enrolment"], options["template"], options["image"] or "image"
    enrolled = columns_of_enrolment(*how)

    def read(attributes, image, *_):
        asked = dict.fromkeys(attributes, "attributes")
        for name, column in (options | {"image": image}).items():
            if name in ("domain", "image", "fte") and column is not None:
                asked.setdefault(column, name)
        asked = enrolled | asked
        return read_embeddings(path, *names, asked, finite=False)

    data = _with_metadata(read, attributes, options)
    if enrolled:
        data = _with_templates(enrol(data, *how), options)
    columns = {name: data.columns[name] for name in attributes}
    side, images = (
        None if options[name] is None else data.columns[options[name]]
        for name in ("domain", "image")
    )
    only = bool(options["non_mated_only"])
    found = EmbeddingData(
        data.X, data.y, columns, side, names=images, non_mated_only=only
    )
    if enrolled:
        found = replace(found, domain=data.enrolled.astype(int), samples=data.samples)
    failures, outcome = options["failures"], np.full(len(found.X), MADE)
    if options["fte"] is not None:
        outcome = outcomes(data.columns[options["fte"]], options["fte"])
        if (outcome != MADE).all():
            problem = (
                f"{options['fte']!r} marks every row as an attempt without a template;"
            )
            remedy = "write 0, or nothing, if a template was made."
            raise invalid("fte", options["fte"], problem, remedy)
    failed = failed_rows(found.X) & (outcome == MADE)
    problem = "embedding", NO_EMBEDDING
    if failures is None and options["fte"] is not None:
        # Who marks failures asks for a report of them, and may have missed some.
        with_failures(found, failed, None, problem)
        failures = "report"
    outcome = np.where(failed, NOT_ACQUIRED, outcome)
    return with_failures(found, outcome != MADE, failures, problem, outcome)


def _with_templates(data, options):
    """Data with templates, if each can be compared with all other images."""
    options["read_as"] |= data.read_as
    for name in ("domain", "fte"):
        if options[name] is not None:
            problem = "is of single images, and some are enrolled together;"
            raise invalid(name, options[name], problem, "leave one of the two out.")
    people, counts = np.unique(data.y[data.enrolled], return_counts=True)
    if (counts > 1).any():
        person = plain(people[counts.argmax()])
        problem = (
            f"has {counts.max():,} templates of {person!r}, and without trials each "
        )
        remedy = "name the list of what is compared (--trials), or join them."
        raise invalid(
            "enrolment", options["enrolment"], f"{problem}person has one;", remedy
        )
    return data


def _with_metadata(read, attributes, options):
    """The result of ``read`` for attributes that metadata lack, and the others.

    Numbers of which bands are asked for become their labels, and -1 and 1 (CelebA) texts
    such as "Male = 1".
    """
    data = _joined(read, attributes, options)
    options["read_as"] |= data.get("read_as", {})
    people = (data.get(name) for name in ("y", "identity", "identity_1", "identity_2"))
    people = [column for column in people if column is not None]
    for name, cuts in options["bands"].items():
        sides = [n for n in (name, f"{name}_1", f"{name}_2") if n in data.columns]
        own = [data.columns[side] for side in sides]
        if cuts is None:
            values = {v for column in own for v in count_labels(column)}
            if {v for v in values if v is not None and v == v} != {-1, 1}:
                continue
        joint = join_columns(own)
        try:
            if cuts is None:
                known = ~is_unknown(joint)
                labels = np.full(joint.size, None, dtype=object)
                labels[known] = [f"{name} = {value:g}" for value in joint[known]]
            elif callable(cuts):
                labels = to_column(cuts(joint), "attributes")
            else:
                joint = dates_as_years(joint, options["dates"])
                if isinstance(cuts, int):
                    whose = encode_joined(people, "people").codes if people else None
                    cuts = options["bands"][name] = quantile_cuts(joint, cuts, whose)
                labels = to_bands(joint, cuts)
        except ArgumentError as error:
            problem = str(error).partition(" ")[2]
            problem = f"{name!r} cannot be put into ranges, which {problem}"
            raise invalid("attributes", name, problem) from None
        data.columns |= zip(sides, np.split(labels, len(sides)), strict=True)
    return data


def _joined(read, attributes, options):
    path, image, on = (options[name] for name in ("metadata", "image", "on"))
    if path is None:
        if on is not None:
            problem = "names a column of metadata;"
            raise invalid("on", on, problem, "give it (--metadata).")
        return read(attributes, image)
    table, key = read_metadata(path, on, image or "image", attributes)
    if table.read_as:
        options["read_as"][table.path] = table.read_as
    others = [name for name in attributes if name not in table.names or name == key]
    image, people = (
        (key, ()) if key == (image or "image") else (image, table.labels(key))
    )
    data = read(others, image, people)
    added = [name for name in attributes if name not in others]
    return joined(data, table, key, image, added)


def _files_of(path, options):
    """A file, and those that are read next to it."""
    paths = [path, *(options[name] for name in FILES if options[name] is not None)]
    if options["enrolment"] is not None and os.path.isfile(options["enrolment"]):
        paths.append(options["enrolment"])
    is_lone = options["labels"] is None and options["probes"] is None
    is_list = options["trials"] is not None and scores_of(path) is not None
    if kind_of(path) == "npy" and is_lone and not is_list:
        paths.append(labels_beside(path))
    return [*map(os.fsdecode, paths)]


def digests_of(paths):
    """SHA-256 of files, by their names."""
    digests = {}
    for one in paths:
        with open(one, "rb") as file:
            digests[os.path.basename(one)] = file_digest(file, "sha256").hexdigest()
    return digests


def _read_pairs(path, attributes, options):
    names = {n: options[n] for n in OPTIONS_OF_PAIRS if n not in ("distance", "layout")}
    distance, layout = bool(options["distance"]), options["layout"]

    def read(attributes, image, people=()):
        asked = dict.fromkeys(attributes, "attributes")
        how = {"finite": False, "layout": layout, "people": people, "coded": True}
        return read_pairs(path, names, asked, distance, **how)

    return _pair_data(read, attributes, options)


def _read_listed(load, own, path, attributes, options):
    def read(attributes, image, *_):
        given = {name: options[name] for name in own} | {"image": image}
        return load(path, **given, columns=dict.fromkeys(attributes, "attributes"))

    return _pair_data(read, attributes, options)


def _pair_data(read, attributes, options):
    data = _with_metadata(read, attributes, options)
    columns = {n: (data.columns[f"{n}_1"], data.columns[f"{n}_2"]) for n in attributes}
    # Pairs without people are taken as independent, also those that share an image.
    images = (None, None) if data.y_true is not None else (data.image_1, data.image_2)
    identities = (data.identity_1, data.identity_2) if data.y_true is None else None
    only = {name: bool(options[name]) for name in ONLY}
    found = PairData(
        data.y_score, identities, columns, images, y_true=data.y_true, **only
    )
    found, failed = placeholders(found)
    problem = "score", "is missing or infinite"
    return with_failures(found, failed, options["failures"], problem)


def placeholders(data):
    """Pairs with 0 for each failure, a score that is NaN or -inf, and which these are."""
    scores = to_scores(data.y_score, "y_score")
    failed = is_failure(scores)
    if data.reading is None and (code := code_of_failure(scores)):
        problem = f"is {code[0]:g} of {code[1]:,} pairs, far from all others, as if it were a code "
        remedy = "give nan there, and say what becomes of failures (failures)."
        raise invalid("y_score", None, f"{problem}of failures;", remedy)
    if failed.any():
        data = replace(data, y_score=np.where(failed, 0.0, scores))
    return data, failed


def _read_log(path, attributes, options):
    """Decisions of a log, by kinds of attempts. Arguments are those of ``read_data``."""
    named = options["time"]
    check_best_of(options["session"], options["best_of"], named)
    names = ("accepted", "identity", "attempt", "session", "species")
    names = {name: options[name] for name in names}
    of_scores = options["accepted"] is None
    names["score"] = (options["score"] or "score") if of_scores else None
    people = not options["no_people"]

    def read(attributes, image, *_):
        asked = {} if named is None else {named: "time"}
        asked |= dict.fromkeys(attributes, "attributes")
        return read_decisions(path, names, asked, people=people)

    log, time = _with_metadata(read, attributes, options), None
    if named is not None:
        time = read_times(log.columns[named], named, options["dates"])
    elif log.session is not None:
        with collecting([], UserWarning):
            every = read_decisions(path, names, kinds=False, people=people).columns
        keys = [k for k in (log.identity, log.session) if k is not None]
        check_ascending("session", options["session"], every, keys, options["best_of"])
    sections, overrides = (), {}
    if of_scores:
        overrides["problem"] = "score", "is missing or infinite, or captured is 0,"
        how = options["bpcer"], options["distance"]
        log, sections, options["read_as"][path] = decided(log, *how)
    attacks = log.attempt == "attack"
    if attacks.any() and log.species is None:
        problem = f"is missing, and {attacks.sum():,} attempts are attacks;"
        remedy = "name the column of the instrument, by which their errors are counted."
        raise invalid("species", None, problem, remedy)
    of_genuine = "bpcer" if attacks.any() else "frr"
    kinds, parts = {of_genuine: "genuine", "far": "impostor", "apcer": "attack"}, []
    for kind, attempt in kinds.items():
        rows = log.attempt == attempt
        if not rows.any():
            continue
        columns, grouped = {name: log.columns[name] for name in options["bands"]}, ()
        if kind == "apcer":
            columns, grouped = {options["species"]: log.species}, (options["species"],)
        error = log.accepted == (kind in OF_ACCEPTANCE)
        error = np.where(log.captured, error, np.nan)[rows]
        known = log.identity, log.session, time
        identity, session, when = (None if v is None else v[rows] for v in known)
        columns = {name: columns[name][rows] for name in columns}
        covariates = {name: log.columns[name][rows] for name in options["covariates"]}
        parts.append(
            decisions(
                *(error, identity, columns),
                covariates=covariates,
                kind=kind,
                session=session,
                best_of=options["best_of"],
                time=when,
                failures=options["failures"],
                grouped=grouped,
                **overrides,
            )
        )
    return DecisionData(tuple(parts), sections=sections)
