"""Failures to acquire and to enrol in the data, and decisions that are made of attempts."""

from dataclasses import replace

import numpy as np

from skfairfr.datasets._files import data_row, meanings
from skfairfr.report._data import Attempts, PairData, stacked
from skfairfr.report._decisions import OF_ACCEPTANCE, transactions
from skfairfr.utils._errors import ABOUT_FAILURES, invalid
from skfairfr.utils._labels import encode, to_column
from skfairfr.utils._validation import check_option

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
        None takes attempts as independent.
    columns, covariates : dict of str -> array-like, shape (n_attempts,)
    kind : {"frr", "far", "bpcer", "apcer"}
    session : array-like, shape (n_attempts,), default=None
    best_of : int, default=None
    time : ndarray, shape (n_attempts,), default=None
        As of :func:`read_times`. If None: the order of the rows.
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
        Empty, 0, "no", "false" or "ok" if a template was made; "fta" or "acquire" if
        no sample was acquired; 1, "yes", "true", "fte" or "enrol" if no template was
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
    labels = encode(stacked(both, name), name, allow_unknown=True)
    left, right = np.split(labels.codes, 2)
    found = np.full(left.size, None, dtype=object)
    same = (left == right) & (left >= 0)
    found[same] = np.array(labels.values.tolist(), dtype=object)[left[same]]
    return found
