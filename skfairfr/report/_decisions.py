"""Decisions on attempts, failures of attempts, transactions, and scores of attack detection."""

import math
from dataclasses import replace

import numpy as np
from sklearn.utils import Bunch

from skfairfr._core._kinds import DECISIONS
from skfairfr._text._words import number, percent, percents
from skfairfr.datasets._decisions import guessed_times
from skfairfr.datasets._files import data_row, meanings
from skfairfr.metrics import attack_detection
from skfairfr.report._data import Attempts, PairData
from skfairfr.report._policy import Policy
from skfairfr.utils._errors import ABOUT_FAILURES, invalid, plain
from skfairfr.utils._labels import (
    check_length,
    encode,
    encode_joined,
    is_unknown,
    to_column,
)
from skfairfr.utils._validation import check_count, check_option, to_array

# Kinds of errors in which the system accepts whom it should not.
OF_ACCEPTANCE = ("far", "apcer")


def transactions(error, keys, best_of, of_acceptance, time=None):
    """Errors of the best of the first attempts with the same keys.

    Parameters
    ----------
    error : ndarray, shape (n_attempts,)
        1 or 0. NaN where nothing was captured.
    keys : list of array-like, shape (n_attempts,)
    best_of : int
        How many attempts a transaction has at most. Later ones are left out.
    of_acceptance : bool
        Whether an error is that somebody is accepted.
    time : ndarray, shape (n_attempts,), default=None
        See :func:`read_times`. If None: the order of the rows.

    Returns
    -------
    first : ndarray of int, shape (n_transactions,)
        The first attempt of each, in the order of the rows.
    error : ndarray, shape (n_transactions,)
        An accepted attempt makes an accepted transaction. NaN where none was captured.
    """
    place = _places(keys)
    order = np.arange(place.size) if time is None else in_time(time, place, error)
    order = order[np.argsort(place[order], kind="stable")]
    starts = np.searchsorted(place[order], np.arange(place.max() + 1))
    first = order[starts]
    taken = order[np.arange(order.size) - starts[place[order]] < best_of]
    captured = taken[~np.isnan(error[taken])]
    accepted = captured[error[captured] == of_acceptance]
    n_captured, n_accepted = (
        np.bincount(place[rows], minlength=first.size) for rows in (captured, accepted)
    )
    found = np.where((n_accepted > 0) == of_acceptance, 1.0, 0.0)
    found[n_captured == 0] = np.nan
    by_row = np.argsort(first)
    return first[by_row], found[by_row]


def _places(keys):
    """A number for each combination of keys, (n_attempts,)."""
    codes = [encode(key, "session", allow_unknown=True).codes for key in keys]
    return np.unique(np.stack(codes), axis=1, return_inverse=True)[1].ravel()


def in_time(time, place, error=None):
    """Rows in the order of time, ndarray of int.

    Equal times have the order of the rows, or its reverse if rows run backwards in time. If
    neither is so, an ``error`` that differs at equal times of a place is an error.
    """
    found, rows = _directions(time, place), np.arange(time.size)
    order = np.lexsort((-rows if found == {-1} else rows, time))
    if error is not None and len(found) != 1:
        by_place = order[np.argsort(place[order], kind="stable")]
        one, next_ = by_place[:-1], by_place[1:]
        equal = (place[one] == place[next_]) & (time[one] == time[next_])
        outcome = np.nan_to_num(error, nan=2)
        if (outcome[one] != outcome[next_])[equal].any():
            problem = "is equal for attempts of a session, whose order matters, and rows are in no "
            problem += "order of time;"
            raise invalid("time", None, problem, "sort the rows, or give finer times.")
    return order


def _directions(time, place):
    """{1} if times increase from row to row within places, {-1} if they decrease, or both.

    If times are equal within each place, from row to row of the log.
    """
    order = np.argsort(place, kind="stable")
    rank = np.unique(time, return_inverse=True)[1]
    steps = np.diff(rank[order])[place[order][1:] == place[order][:-1]]
    within, over_all = ({*np.sign(s).tolist()} - {0} for s in (steps, np.diff(rank)))
    return within or (over_all if len(over_all) == 1 else set())


def check_ascending(argument, value, columns, keys, best_of=None):
    """Raise if a column that reads as a time decreases from row to row.

    Also if some keys have more attempts than ``best_of``, and no column of times, or of
    numbers that differ between these attempts, increases from row to row.

    Parameters
    ----------
    argument, value : str
        Name in the message.
    columns : dict of str -> ndarray, shape (n_attempts,)
    keys : list of ndarray, shape (n_attempts,)
        Rows with the same keys are compared.
    best_of : int, default=None
    """
    place, is_known = _places(keys), False
    for name, column in columns.items():
        known = ~is_unknown(column)
        time = guessed_times(column[known]) if known.any() else None
        if time is not None:
            is_known |= _directions(time, place[known]) == {1}
        elif (
            column.dtype.kind in "iu"
            and np.unique([place, column], axis=1).size == 2 * place.size
        ):
            is_known |= _directions(column, place) == {1}
        if time is not None and -1 in _directions(time, place[known]):
            problem = f"{value!r}: by {name!r} rows are not in ascending time, "
            problem += "and which attempts of a person are the first depends on that;"
            remedy = "name the column of the time with time (--time), or sort the rows."
            raise invalid(argument, value, problem, remedy)
    n_longer = np.count_nonzero(np.bincount(place) > (best_of or np.inf))
    if n_longer and not is_known:
        problem = f"takes the first {best_of} attempts of a session, {n_longer:,} of "
        problem += f"{place.max() + 1:,} sessions have more, and no column shows which are the first;"
        remedy = (
            "name the column of the time, or of the number of the attempt, with time "
        )
        remedy += (
            "(--time). If the log is in order, add a column that numbers its rows."
        )
        raise invalid("best_of", best_of, problem, remedy)


def check_decisions(error, identity, session, best_of, kind, time):
    """Raise unless attempts can be audited. The errors as floats, (n_attempts,)."""
    check_option(kind, "kind", tuple(DECISIONS))
    values = to_array(error, "error")
    try:  # None is nan
        found = values.astype(np.float64)
    except (TypeError, ValueError):
        found = np.empty(0)
    if (
        values.ndim != 1
        or not found.size
        or not np.isin(found[found == found], (0, 1)).all()
    ):
        raise invalid(
            "error",
            error,
            f"must be 1 for an error and 0 elsewhere, (n_attempts,), NaN where "
            f"nothing was captured, got {plain(values.ravel()[:5].tolist())}.",
        )
    check_best_of(session, best_of, time)
    columns = ("identity", identity), ("session", session), ("time", time)
    for name, column in columns:
        if column is not None:
            check_length(to_column(column, name), found.size, name, "error")
    return found


def check_best_of(session, best_of, time=None):
    """Raise unless both or none of the two were given, and a time with them."""
    if (session is None) != (best_of is None):
        name, other = (
            ("best_of", "session") if best_of is None else ("session", "best_of")
        )
        problem = f"is required with {other};"
        remedy = "a transaction is the best of first attempts in a session: give both."
        raise invalid(name, None, problem, remedy)
    if best_of is not None:
        check_count(best_of, "best_of", 1)
    elif time is not None:
        problem = "orders attempts of a session, and no sessions are asked for;"
        remedy = (
            "give them (session, --session, and best_of, --best-of), or leave it out."
        )
        raise invalid("time", None, problem, remedy)


def check_without_points(points, policy):
    """Raise where an operating point is given, which decisions had of their own."""
    names = ("far", "threshold", "threshold_from", "threshold_group")
    for name, value in zip(names, points, strict=True):
        if value is not None:
            problem = "is about scores of comparisons, and decisions have a threshold of their "
            problem += (
                "own (of scores of attack detection the one at a BPCER, --bpcer);"
            )
            raise invalid(name, value, problem, "leave it out.")
    if policy is not None:
        policy = policy if isinstance(policy, Policy) else Policy.read(policy)
        if (policy.fmr and not policy.allow_threshold) or policy.threshold:
            problem = "sets where the system operates, and decisions were made at a threshold of "
            problem += "their own;"
            remedy = "write one without fmr and threshold, or with allow_threshold."
            raise invalid("policy", policy.name, f"{policy.name!r} {problem}", remedy)


def of_decisions(limits, part, parts):
    """Limits that are about the errors of some decisions.

    ``max_fnmr`` and its ratios are about FRR and BPCER, ``max_fmr`` and its ratios about
    FAR and APCER. Limits of a kind that the data lack stay, and are undetermined.

    Parameters
    ----------
    limits : dict
    part : EmbeddingData or PairData
        Of comparisons, whose limits stay, or of decisions.
    parts : sequence of those
        All that are audited.

    Returns
    -------
    limits : dict
    """
    if part.decisions is None:
        return limits
    found, of_acceptance = {}, part.decisions in OF_ACCEPTANCE
    known = {one.decisions in OF_ACCEPTANCE for one in parts}
    for name, limit in limits.items():
        about_acceptance = "_fmr" in name
        if about_acceptance == of_acceptance or about_acceptance not in known:
            found[name] = limit
    return found


# What is wrong with an image that failed.
NO_EMBEDDING = "is zero, or has nan or infinite values,"
# What becomes of an attempt that failed.
FAILURES = ("reject", "report", "error")
# Score of an error of a decision, and of a decision that is none, and what lies between.
WRONG, RIGHT, BETWEEN = 0.0, 1.0, 0.5
# Values of a column of failures.
MADE, NOT_ACQUIRED, NOT_ENROLLED = 0, 1, 2
WORDS = {
    **dict.fromkeys(("", "0", "no", "false", "ok"), MADE),
    **dict.fromkeys(("fta", "acquire"), NOT_ACQUIRED),
    **dict.fromkeys(("1", "yes", "true", "fte", "enrol", "enroll"), NOT_ENROLLED),
}


def decisions(
    error,
    identity,
    columns,
    *,
    covariates=None,
    kind="frr",
    session=None,
    best_of=None,
    time=None,
    failures=None,
    grouped=(),
    problem=("accepted", "is empty, or captured is 0,"),
):
    """Attempts of one kind, PairData.

    Parameters
    ----------
    error : ndarray, shape (n_attempts,)
        1 or 0. NaN if nothing was captured.
    identity : array-like, shape (n_attempts,), or None
        If None, attempts are assumed to be independent.
    columns, covariates : dict of str -> array-like, shape (n_attempts,)
    kind : {"frr", "far", "bpcer", "apcer"}
    session : array-like, shape (n_attempts,), default=None
    best_of : int, default=None
    time : ndarray, shape (n_attempts,), default=None
        See :func:`read_times`. If None: the order of the rows.
    failures : {"reject", "report", "error"}, default=None
    grouped : tuple of str, default=()
        Columns that separate transactions within a session.
    problem : tuple of two str
        The argument, and what is wrong if nothing was captured, for messages.

    Returns
    -------
    data : PairData
    """
    people = [] if identity is None else [to_column(identity, "identity")]
    both = columns, covariates or {}
    columns, covariates = ({n: to_column(c, n) for n, c in own.items()} for own in both)
    if best_of is not None:
        keys = [*people, session, *(columns[name] for name in grouped)]
        of_acceptance = kind in OF_ACCEPTANCE
        first, error = transactions(error, keys, best_of, of_acceptance, time)
        people = [column[first] for column in people]
        both = columns, covariates
        columns, covariates = ({n: c[first] for n, c in own.items()} for own in both)
    failed = np.isnan(error)
    # Nobody who was not captured is accepted.
    wrong = np.where(failed, kind not in OF_ACCEPTANCE, error) == 1
    data = PairData(
        np.where(wrong, WRONG, RIGHT),
        (*people, *people) or None,
        {name: (column, column) for name, column in columns.items()},
        y_true=None if people else np.ones(wrong.size),
        covariates=covariates,
        decisions=kind,
        best_of=best_of,
        mated_only=True,
    )
    return with_failures(data, failed, failures, problem)


def outcomes(values, name):
    """Whether each attempt failed, and how, from its column.

    Parameters
    ----------
    values : array-like, shape (n_attempts,)
        Empty, 0, "no", "false" or "ok" if a template was made, "fta" or "acquire" if
        no sample was acquired, and 1, "yes", "true", "fte" or "enrol" if no template was
        stored.
    name : str
        Of the column, for messages.

    Returns
    -------
    outcome : ndarray of int, shape (n_attempts,)
    """
    remedy = "write fte (or 1) if enrolment failed, fta if acquisition failed, and 0 "
    remedy += "or nothing elsewhere."
    values = to_column(values, name)
    rows = np.arange(values.size)
    return meanings(values, rows, WORDS, "fte", name, remedy, missing=MADE)


def with_failures(data, failed, failures, problem, outcome=None):
    """Data of which some rows failed: rejected, or left out and counted.

    Parameters
    ----------
    data : EmbeddingData or PairData
    failed : ndarray of bool, shape (n_rows,)
        Of its images or pairs.
    failures : {"reject", "report", "error"} or None
        Remedy. None raises an error that names these.
    problem : tuple of two str
        The argument, and what is wrong, for messages.
    outcome : ndarray of int, shape (n_rows,), default=None
        Outcome of each. If None: failures to acquire.

    Returns
    -------
    data : EmbeddingData or PairData
        The same if nothing failed and nothing was asked.
    """
    if failures is not None:
        check_option(failures, "failures", FAILURES)
    n_failed = int(failed.sum())
    if failures in (None, "error"):
        if n_failed:
            first = int(failed.argmax())
            of_array = problem[0] in ("X", "y_score")
            rows = f"rows, first in {f'row {first}' if of_array else data_row(first)}"
            if data.decisions:  # rows of some kind of attempts, or transactions
                rows = data.terms.frr.trials
            found = f"{problem[1]} in {n_failed:,} of {failed.size:,} {rows};"
            raise invalid(problem[0], None, found, ABOUT_FAILURES)
        return data
    if n_failed == failed.size:
        remedy = "give data with an attempt that did not fail."
        raise invalid(problem[0], None, f"{problem[1]} in all rows;", remedy)
    outcome = np.where(failed, NOT_ACQUIRED, MADE) if outcome is None else outcome
    columns, note = data.columns, ""
    if isinstance(data, PairData):
        # Attempts are genuine comparisons, of which those who are rejected know.
        left, right = np.split(data.people(), 2)
        counted = left == right if data.y_true is None else np.asarray(data.y_true) == 1
        counted = counted if counted.any() else ~counted
        if not counted.all():
            lost, n = failed[~counted].sum(), (~counted).sum()
            note = (
                "Failures are counted among mated comparisons. Non-mated comparisons "
            )
            note += f"without a score: {lost:,} of {n:,}."
        outcome = outcome[counted]
        columns = {n: _of_one_group(both, n)[counted] for n, both in columns.items()}
    about = {"attempts": Attempts(outcome, columns, note), "failures": failures}
    if failures == "report":
        return replace(data.take(~failed), **about)
    return replace(data, failed=failed, **about)


def _of_one_group(both, name):
    """The group of both images of pairs, None where they are in two."""
    labels = encode_joined(both, name, allow_unknown=True)
    left, right = np.split(labels.codes, 2)
    found = np.full(left.size, None, dtype=object)
    same = (left == right) & (left >= 0)
    found[same] = np.array(labels.values.tolist(), dtype=object)[left[same]]
    return found


# BPCER levels at which thresholds are set. The first is that of the decisions.
BPCER = (0.05, 0.01)
NAMES = {"apcer": "APCER", "bpcer": "BPCER", "eer": "EER"}
OTHER = {"apcer": "BPCER", "bpcer": "largest APCER"}


def decided(log, bpcer, is_distance):
    """A log with decisions in place of scores, and the section about other thresholds.

    Parameters
    ----------
    log : Bunch
        Of ``read_decisions``, with ``y_score``.
    bpcer : sequence of float in (0, 1), shape (n_levels,), or None
        None takes 5 % and 1 %.
    is_distance : bool
        Whether smaller scores mean bona fide.

    Returns
    -------
    log : Bunch
        A copy. Impostors are bona fide too.
    sections : tuple of AttackScores
    read_as : str
        Kind of the decisions.
    """
    score = -log.y_score if is_distance else log.y_score
    attack, rows = log.attempt == "attack", np.flatnonzero(log.captured)
    if not 0 < np.count_nonzero(attack[rows]) < rows.size:
        problem = "needs scores of attacks and of bona fide presentations;"
        remedy = "name the column that has the instrument of attacks alone (--species)."
        raise invalid("species", None, problem, remedy)
    people = np.arange(score.size) if log.identity is None else log.identity
    found = attack_detection(
        *(column[rows] for column in (score, attack, people, log.species)),
        bpcer=BPCER if bpcer is None else bpcer,
    )
    threshold = found.threshold[0]
    accepted = log.captured & (score >= threshold)
    attempt = np.where(attack, "attack", "genuine")
    section = AttackScores(found, -threshold if is_distance else threshold)
    line = (
        f"scores of attack detection, bona fide {'up to' if is_distance else 'from'} "
    )
    line += f"{section.threshold:.4g}, at a BPCER of {100 * found.level[0]:g} %"
    return Bunch(**log | {"accepted": accepted, "attempt": attempt}), (section,), line


class AttackScores:
    """A section of an audit: errors at other thresholds than that of the decisions.

    Parameters
    ----------
    found : AttackDetection
    threshold : float
        On the scale of the scores that were given.
    """

    title = "Attack detection by score"

    def __init__(self, found, threshold):
        self.found, self.threshold = found, threshold

    def measure(self, _):
        """Rows of the table, and the threshold of the decisions, for the JSON."""
        found, names = self.found, ("rate", "species", "level", "value", "low", "high")
        rows = zip(*(getattr(found, name).tolist() for name in names), strict=True)
        rows = [dict(zip(names, row, strict=True)) for row in rows]
        for row in rows:
            row["level"] = None if math.isnan(row["level"]) else row["level"]
        return {"threshold": self.threshold, "rates": rows}

    def document(self, record):
        """The threshold of the report, and a table without the rates at it."""
        first, *_ = record["rates"]
        rows = [
            (
                f"{NAMES[row['rate']]}, {row['species'] or 'all attacks'}",
                "-"
                if row["level"] is None
                else f"{OTHER[row['rate']]} {row['level']:.3g}",
                f"{percent(row['value'])} ({percents(row['low'], row['high'])})",
            )
            for row in record["rates"]
            if (row["rate"], row["level"]) != ("apcer", first["level"])
        ]
        caption = (
            "Thresholds are set on these data, and intervals allow for that. The BPCER is at the "
            "threshold at which the APCER of no species exceeds the level."
        )
        return [
            f"The rates of this report are at the threshold {number(record['threshold'])}, at "
            f"which the BPCER is at most {percent(first['level'])}.",
            (caption, ["Rate", "At", "Value"], rows),
        ]
