"""Decisions on attempts, without scores: what may be audited, and transactions."""

import numpy as np

from skfairfr._text._words import DECISIONS, named
from skfairfr.report._policy import Policy
from skfairfr.utils._errors import plain, refused
from skfairfr.utils._labels import check_length, encode, to_column
from skfairfr.utils._validation import check_count, check_option, to_array

# Kinds of errors in which the system accepts whom it should not.
OF_ACCEPTANCE = ("far", "apcer")
# Of them, what limits one rate limits the other to the audit.
SWAPPED = {"fmr": "fnmr", "fnmr": "fmr"}
# Why they have no strata, and what to do.
NO_CONTROL = (
    "standardises rates of comparisons, and decisions are none;",
    "leave it out.",
)


def transactions(error, keys, best_of, of_acceptance):
    """Errors of the best of the first attempts with the same keys.

    Parameters
    ----------
    error : ndarray, shape (n_attempts,)
        1 or 0 in the order of time; NaN where nothing was captured.
    keys : list of array-like, shape (n_attempts,)
    best_of : int
        How many attempts a transaction has at most; later ones are left out.
    of_acceptance : bool
        Whether an error is that somebody is accepted.

    Returns
    -------
    first : ndarray of int, shape (n_transactions,)
        The first attempt of each, in the order of time.
    error : ndarray, shape (n_transactions,)
        An accepted attempt makes an accepted transaction; NaN where none was captured.
    """
    codes = [encode(key, "session", allow_unknown=True).codes for key in keys]
    _, first, place = np.unique(
        np.stack(codes), axis=1, return_index=True, return_inverse=True
    )
    place = place.ravel()
    order = np.argsort(place, kind="stable")
    starts = np.searchsorted(place[order], np.arange(first.size))
    taken = order[np.arange(order.size) - starts[place[order]] < best_of]
    captured = taken[~np.isnan(error[taken])]
    accepted = captured[error[captured] == of_acceptance]
    n_captured, n_accepted = (
        np.bincount(place[rows], minlength=first.size) for rows in (captured, accepted)
    )
    found = np.where((n_accepted > 0) == of_acceptance, 1.0, 0.0)
    found[n_captured == 0] = np.nan
    in_time = np.argsort(first)
    return first[in_time], found[in_time]


def check_decisions(error, identity, session, best_of, kind):
    """Raise unless attempts can be audited; the errors as floats, (n_attempts,)."""
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
        raise refused(
            "error",
            error,
            f"must be 1 where the system erred and 0 elsewhere, (n_attempts,), NaN where "
            f"nothing was captured; got {plain(values.ravel()[:5].tolist())}.",
        )
    check_length(to_column(identity, "identity"), found.size, "identity", "error")
    check_best_of(session, best_of)
    if session is not None:
        check_length(to_column(session, "session"), found.size, "session", "error")
    return found


def check_best_of(session, best_of):
    """Raise unless both or none of the two were given."""
    if (session is None) != (best_of is None):
        name, other = (
            ("best_of", "session") if best_of is None else ("session", "best_of")
        )
        problem = f"is missing beside {other};"
        remedy = (
            "a transaction is the best of the first attempts in a session: give both."
        )
        raise refused(name, None, problem, remedy)
    if best_of is not None:
        check_count(best_of, "best_of", 1)


def check_without_points(points, policy, control):
    """Raise where an operating point is given, which decisions had of their own."""
    names = ("far", "threshold", "threshold_from", "threshold_group")
    for name, value in zip(names, points, strict=True):
        if value is not None:
            problem = (
                "is about scores, and decisions were made at a threshold of their own;"
            )
            raise refused(name, value, problem, "leave it out.")
    if control is not None:
        raise refused("control", control, *NO_CONTROL)
    if policy is not None:
        policy = policy if isinstance(policy, Policy) else Policy.read(policy)
        if (policy.fmr and not policy.allow_threshold) or policy.threshold:
            problem = "sets where the system operates, and decisions were made at a threshold of "
            problem += "their own;"
            remedy = "write one without fmr and threshold, or with allow_threshold."
            raise refused("policy", policy.name, f"{policy.name!r} {problem}", remedy)


def of_decisions(limits, part, parts):
    """Limits that are about the errors of some decisions.

    An audit of decisions has one rate, as ``max_fnmr`` and its ratios limit it. Of FAR and
    APCER these are ``max_fmr`` and its ratios. What no kind of the data has stays, and no
    audit can tell whether it is kept.

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
            found[named(name, SWAPPED) if of_acceptance else name] = limit
    return found
