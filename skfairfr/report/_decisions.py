"""Decisions on attempts, without scores: what may be audited, and transactions."""

import numpy as np

from skfairfr._core._kinds import DECISIONS
from skfairfr.datasets._decisions import guessed_times
from skfairfr.report._policy import Policy
from skfairfr.utils._errors import invalid, plain
from skfairfr.utils._labels import check_length, encode, is_unknown, to_column
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
        As of :func:`read_times`. If None: the order of the rows.

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
        remedy += "(--time); to a log in order add one of the numbers of its rows."
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
            f"nothing was captured; got {plain(values.ravel()[:5].tolist())}.",
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
