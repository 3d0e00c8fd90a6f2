"""Logs of decisions, from files: one attempt a row, accepted or not, and no scores."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime

import numpy as np
from sklearn.utils import Bunch

from skfairfr.datasets import _files, _tables
from skfairfr.utils._errors import ArgumentError, invalid
from skfairfr.utils._labels import is_unknown
from skfairfr.utils._types import FilePath
from skfairfr.utils._validation import check_option, check_path

# What the words of a column mean, in lower case.
YES = ("1", "true", "t", "yes", "y", "accept", "accepted", "pass", "passed", "match")
YES += ("ja", "j", "oui", "sí", "si")
NO = ("0", "false", "f", "no", "n", "reject", "rejected", "fail", "failed", "no match")
NO += ("non match", "nonmatch", "nein", "non")
YES_NO = dict.fromkeys(YES, 1) | dict.fromkeys(NO, 0)
KINDS_OF_ATTEMPTS = ("genuine", "impostor", "attack")
ATTEMPTS = {
    **dict.fromkeys(("genuine", "bona fide", "bonafide", "live", "mated"), 0),
    **dict.fromkeys(("impostor", "imposter", "non mated", "nonmated"), 1),
    **dict.fromkeys(("attack", "presentation attack", "spoof"), 2),
}
# How dates with the year last are written, as ISO 8601 writes them.
DATES = {"day-first": "{2}-{1:0>2}-{0:0>2}", "month-first": "{2}-{0:0>2}-{1:0>2}"}
DATE = re.compile(
    r"(\d{1,2})[./-](\d{1,2})[./-](\d{4}|\d{2})(?:[T, ]+(\d{1,2})(:[\d:.,]+) *(?:([ap])m)?)?",
    re.IGNORECASE,
)
# Words that are yes or no of any question, and names of columns that ask who was rejected.
PLAIN = frozenset("1 0 true false t f yes no y n ja nein j oui non".split())
REJECTED = re.compile(
    r"^(is_|was_)?(reject|denied|deny|refus|fail|error|false|mis|block)", re.IGNORECASE
)
NEGATIVE = {"0", "false", "no", "n"}
GENUINE_BY_NAME = "genuine is_genuine mated is_mated label target is_target truth"
# Parts of words for attempts that are not genuine.
NOT_GENUINE = re.compile("impost|attack|spoof|non ?mated|non ?target")
USUAL = {"accepted": ("accepted",), "identity": ("identity", "person")}


def load_decisions(
    path: FilePath,
    *,
    accepted: str | None = None,
    identity: str | None = None,
    attempt: str | None = None,
    session: str | None = None,
    species: str | None = None,
    columns: Sequence[str] | None = None,
) -> Bunch:
    """A log of decisions: one attempt a row, in the order of time.

    Parameters
    ----------
    path : str or path-like
        A table with one row for each attempt, and names in its first row: .csv, .tsv, both
        also as .gz, or .parquet with pyarrow.
    accepted : str, default=None
        Column that shows whether the attempt was accepted, by 1 and 0, true and false, yes
        and no (also ja, oui, si and nein, non), accept and reject, pass and fail, or match and
        no match, in any case. An empty cell is an attempt without a decision. None takes
        "accepted".
    identity : str, default=None
        Column that names the person who attempts, whoever is claimed. If None: "identity"
        or "person".
    attempt : str, default=None
        Column that marks genuine (bona fide, live, mated), impostor (non-mated) and attack
        (presentation attack, spoof) attempts apart, in any case. If None, attempts with a
        species are attacks, and all others genuine.
    session, species : str, default=None
        Columns that name the session of an attempt, and the instrument of an attack. None
        reads none.
    columns : sequence of str, shape (n_columns,), default=None
        Other columns to read, such as "gender". None reads all.

    Returns
    -------
    data : Bunch
        Arrays of shape (n_attempts,) in the order of the file. ``accepted`` is bool.
        ``captured`` is bool: False if the column "captured" is 0 (or no, ...), or if no
        decision was made. Such an attempt is not accepted. ``identity`` names people,
        ``attempt`` is "genuine", "impostor" or "attack", ``session`` and ``species`` are
        arrays or None. ``columns`` is a dict of arrays (n_attempts,) in which None and NaN are
        unknown. ``path`` is the file.

    Raises
    ------
    ValueError
        If the file cannot be read or lacks a column, a value is none of these words (the
        message lists the values found), or what was accepted was not captured.
    ImportError
        If a .parquet file is read without pyarrow.

    Warns
    -----
    UserWarning
        If labels are words for an unknown value, such as "nan" and "None".

    Examples
    --------
    >>> import os, tempfile
    >>> from skfairfr.datasets import load_decisions
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "log.csv")
    ...     with open(path, "w") as file:
    ...         _ = file.write("person,accepted,gender\\nann,yes,f\\nbob,no,m\\nbob,,m")
    ...     data = load_decisions(path)
    >>> data.accepted.tolist(), data.captured.tolist(), data.columns["gender"].tolist()
    ([True, False, False], [True, True, False], ['f', 'm', 'm'])
    """
    names = {"accepted": accepted, "identity": identity, "attempt": attempt}
    names |= {"session": session, "species": species}
    return read_decisions(path, names, _files.check_columns(columns))


def _check_no_kinds(table, others):
    """Raise if a column marks impostor attempts or attacks among genuine ones."""
    for name in (n for n in table.plain_columns(table.n_rows) if n not in others):
        column = table.labels(name)
        words = _files.words_of(column[:: max(column.size // _files.MOST_READ, 1)])
        words = words if len(words) > _files.FEW_WORDS else _files.words_of(column)
        if any(map(NOT_GENUINE.search, words)):
            remedy = "write genuine, impostor and attack into it and "
            remedy += "name it with attempt (--attempt), or rename its values."
        elif name.casefold() in GENUINE_BY_NAME.split() and words & NEGATIVE:
            remedy = "write genuine and impostor into it and name it with attempt (--attempt)."
        else:
            continue
        problem = f"is missing, and the column {name!r} has attempts of other kinds;"
        raise invalid("attempt", None, problem, remedy)


def read_decisions(path, names, asked=None, kinds=True, people=True):
    """As load_decisions.

    Parameters
    ----------
    names : dict of str -> str or None
        Column of each of accepted, identity, attempt, session and species. With that of a
        score the log has scores of attack detection in place of decisions.
    asked : dict of str -> str, default=None
        For each other requested column the argument that names it, for messages.
    kinds : bool, default=True
        Whether a column of kinds of attempts has to be named.
    people : bool, default=True
        Whether a column of the people is needed. Without, there must be none.
    """
    path = check_path(path, "path")
    table = _tables.read_table(path)
    named = {argument: (name,) for argument, name in names.items() if name is not None}
    wanted = USUAL | named
    if "score" in named:
        del wanted["accepted"]
    for name in () if people else wanted.pop("identity"):
        if name in table.names:
            problem = f"was given, and {path!r} has a column {name!r};"
            remedy = "leave it out: people are then the units."
            raise invalid("no_people", True, problem, remedy)
    others = [(argument, (name,)) for name, argument in (asked or {}).items()]
    found = _files.choose_all([*wanted.items(), *others], table.names, path)
    found = dict(zip(wanted, found, strict=False))
    scores = table.numbers(found["score"]) if "score" in found else None
    if scores is None:
        words = YES_NO | dict.fromkeys(_files.WORDS_FOR_MISSING, -1)
        decision = _meant(table, "accepted", found["accepted"], words)
    else:
        decision = np.where(np.isfinite(scores), 0, -1)
    captured = (decision >= 0) & _captured(table, found, decision)
    if kinds and "attempt" not in found:
        _check_no_kinds(table, {*found.values(), "captured", *(asked or ())})
    kind = _kinds_of_attempts(table, found)
    if scores is None:
        _check_is_acceptance(table, found["accepted"], decision[kind == 0])
    labels = {"identity": None, "session": None, "species": None}
    for argument in {*labels} & {*found}:
        name = found[argument]
        labels[argument] = table.labels(name)
        if argument != "species":  # only attacks have one
            remedy = "every attempt needs one: write it, or drop such rows."
            _files.check_known(argument, name, labels[argument], remedy)
        _files.warn_of_words(labels[argument], name, path)
    if labels["species"] is not None:
        labels["species"] = np.where(kind == 2, labels["species"].astype(object), None)
    if asked is None:
        read = {*found.values(), "captured"}
        asked = [n for n in table.plain_columns(decision.size) if n not in read]
    columns = {name: table.values(name) for name in asked}
    for name, column in columns.items():
        _files.warn_of_words(column, name, path)
    return Bunch(
        accepted=decision == 1,
        captured=captured,
        attempt=np.array(KINDS_OF_ATTEMPTS)[kind],
        **labels,
        y_score=scores,
        columns=columns,
        path=path,
    )


def _meant(table, argument, name, words, missing=-1):
    """Meaning of each cell of a column by its words, ndarray of int (n_rows,)."""
    remedy = "write one of them, or name another column."
    asked = (words, argument, name, remedy, missing)
    return _files.meanings(*table.distinct(name), *asked)


def _captured(table, found, decision):
    """Which attempts were captured by the column of that name, ndarray of bool (n_rows,)."""
    if "captured" not in table.names:
        return np.ones(decision.size, dtype=bool)
    captured = _meant(table, "captured", "captured", YES_NO) != 0
    if (wrong := ~captured & (decision == 1)).any():
        name = found["accepted"]
        problem = f"{name!r} is yes in {_files.data_row(wrong.argmax())}, in which "
        problem += "'captured' is no."
        raise invalid("accepted", name, problem, "Correct one of the two.")
    return captured


def _kinds_of_attempts(table, found):
    """Place of the kind of each attempt in KINDS_OF_ATTEMPTS, ndarray of int (n_rows,)."""
    if "attempt" in found:
        return _meant(table, "attempt", found["attempt"], ATTEMPTS, missing=None)
    if "species" not in found:
        return np.zeros(table.n_rows, dtype=np.intp)
    species, rows = table.distinct(found["species"])  # attacks are rows that have one
    kinds = np.where(is_unknown(species), "genuine", species.astype(str))
    return np.array([ATTEMPTS.get(_files.in_words(one), 2) for one in kinds])[rows]


def _check_is_acceptance(table, name, genuine):
    """Raise if a column of decisions seems to be of rejections or errors.

    Parameters
    ----------
    table : Table
    name : str
        Of the column.
    genuine : ndarray of int, shape (n_genuine,)
        Decisions about genuine attempts: 1, 0, or -1 without any.
    """
    is_named = name.casefold().startswith("accept")
    if is_named or not _files.words_of(table.labels(name)) <= PLAIN:
        return
    genuine = genuine[genuine >= 0]
    n_no = np.count_nonzero(genuine == 0)
    problem = f"{name!r} is a column of rejections or errors by its name."
    if not REJECTED.search(name):
        problem = f"{name!r} is no in {n_no:,} of {genuine.size:,} genuine attempts, as if yes "
        problem += "were a rejection or an error."
    if REJECTED.search(name) or 2 * n_no > genuine.size:
        remedy = "Name a column in which accepted attempts are yes, such as accepted."
        raise invalid("accepted", name, problem, remedy)


def read_times(column, name, dates=None):
    """Times of attempts as numbers or datetime64, which sort as they do.

    Parameters
    ----------
    column : ndarray, shape (n_attempts,)
        Numbers, such as seconds since 1970, or texts that are times of ISO 8601 or, with
        ``dates``, such as 31.01.2026 10:00.
    name : str
        Of the column, for messages.
    dates : {"day-first", "month-first"}, default=None

    Raises
    ------
    ArgumentError
        If a value is no time.
    """
    if dates is not None:
        check_option(dates, "dates", tuple(DATES))
    if column.dtype.kind in "iuf" and np.isfinite(column).all():
        return column.astype(np.float64)
    remedy = "every attempt needs one: write it, or drop such rows."
    _files.check_known("time", name, column, remedy)
    texts, place = np.unique(column.astype(str), return_inverse=True)
    times = []
    for text in texts.tolist():
        times.append(_time(text.strip(), dates))
        if times[-1] is None or (times[-1].tzinfo is None) != (times[0].tzinfo is None):
            problem = f"{name!r} must contain numbers, or texts as 2026-01-31 or 2026-01-31T10:00, "
            problem += f"all or none with a time zone, got {text!r}."
            remedy = "Name a column of times."
            if DATE.fullmatch(text.strip()):
                remedy = "03.04.2026 is 3 April or 4 March: state which, day-first or month-first "
                remedy += "(dates, --dates)."
            raise invalid("time", name, problem, remedy)
    times = [
        t if t.tzinfo is None else t.astimezone(UTC).replace(tzinfo=None) for t in times
    ]
    return np.array(times, dtype="datetime64[us]")[place]


def dates_as_years(column, dates=None):
    """Years of a column of dates as numbers, nan if unknown. Another column as it is.

    Parameters
    ----------
    column : ndarray, shape (n_rows,)
    dates : {"day-first", "month-first"}, default=None
        See :func:`read_times`.

    Raises
    ------
    ArgumentError
        If there are dates with the year last, and ``dates`` is None.
    """
    known = ~is_unknown(column)
    times = column[known]
    if column.dtype.kind in "iufb" or not times.size:
        return column
    if column.dtype.kind != "M":
        try:
            times = read_times(times, "", dates)
        except ArgumentError as error:
            some = times[: _files.MOST_READ]
            if not all(DATE.fullmatch(str(text).strip()) for text in some):
                return column
            problem = str(error).partition("'' ")[2]
            raise invalid("attributes", None, problem) from None
    years = np.full(column.size, np.nan)
    days = (times - np.datetime64("1970-01-01")) / np.timedelta64(1, "D")
    years[known] = 1970 + days / 365.2425
    return years


def _time(text, dates):
    """A time as datetime, or None if a text is none."""
    if dates is not None and (found := DATE.fullmatch(text)):
        *date, hour, rest, half = found.groups("")
        hour = int(hour or 0)
        if half:
            hour = hour % 12 + 12 * (half in "pP")
        date[2] = f"20{date[2]}"[-4:]
        text = f"{DATES[dates].format(*date)}T{hour:02}{rest}"
    try:
        return datetime.fromisoformat(text.replace("/", "-"))
    except ValueError:
        return None


def guessed_times(column):
    """Times of a column whose values all read as times, in whichever way, else None.

    Numbers are seconds since 1970, from 2001 to 2033, or milli- or microseconds, or digits
    such as 20260131100000.
    """
    if column.dtype.kind in "iuf":
        units = column.astype(np.float64) / [[1e9], [1e12], [1e15], [2e13]]
        return column if ((units >= 1) & (units < 2)).all(axis=1).any() else None
    texts = column.astype(str)
    for start, dates in (*(("", way) for way in (None, *DATES)), ("1970-01-01T", None)):
        with suppress(ValueError):
            read_times(np.char.add(start, texts[:1]), "", dates)
            return read_times(np.char.add(start, texts), "", dates)
    return None
