"""Failures to acquire and to enrol, by group, and the rates that count them."""

from dataclasses import dataclass, field

import numpy as np

from skfairfr.report._records import Failures, GeneralisedRates
from skfairfr.utils._errors import Argument, ArgumentError, plain
from skfairfr.utils._labels import encode, intersect, is_unknown, to_column

MADE, NOT_ACQUIRED, NOT_ENROLLED = 0, 1, 2
WORDS = {
    **dict.fromkeys(("", "0", "0.0", "no", "false", "ok"), MADE),
    **dict.fromkeys(("fta", "acquire"), NOT_ACQUIRED),
    **dict.fromkeys(
        ("1", "1.0", "yes", "true", "fte", "enrol", "enroll"), NOT_ENROLLED
    ),
}


@dataclass(frozen=True, eq=False)
class Attempts:
    """What became of every row of a file, those without a template included.

    Attributes
    ----------
    outcome : ndarray of int, shape (n_attempts,)
        MADE, NOT_ACQUIRED or NOT_ENROLLED.
    columns : dict of str -> array-like, shape (n_attempts,)
        Attributes.
    """

    outcome: np.ndarray = field(repr=False)
    columns: dict = field(repr=False)


def outcomes(values, name):
    """What became of every attempt, from the column that says so.

    Parameters
    ----------
    values : array-like, shape (n_attempts,)
        Empty, 0, "no", "false" or "ok" where a template was made; "fta" or "acquire" where
        no sample was acquired; 1, "yes", "true", "fte" or "enrol" where no template was
        stored.
    name : str
        Of the column, for messages.

    Returns
    -------
    outcome : ndarray of int, shape (n_attempts,)
    """
    column = to_column(values, name)
    found = np.full(column.shape, MADE, dtype=np.int8)
    known = ~is_unknown(column)
    distinct, place = np.unique(column[known].astype(str), return_inverse=True)
    words = [word.strip().casefold() for word in distinct.tolist()]
    found[known] = np.array([WORDS.get(word, -1) for word in words], np.int8)[place]
    if (found < 0).any():
        row = int(np.flatnonzero(found < 0)[0])
        raise ArgumentError(
            Argument("fte", name),
            f" holds {plain(column[row])!r} in row {row}, which says nothing about the "
            "attempt;",
            remedy="write fte (or 1) where enrolment failed, fta where acquisition "
            "failed, and 0 or nothing elsewhere.",
            value=name,
        )
    return found


def failures_of(attempts, attributes):
    """Numbers and rates of failures, everyone's first, then those of every group.

    Parameters
    ----------
    attempts : Attempts
    attributes : tuple of str

    Returns
    -------
    failures : tuple of Failures
        Of groups without any template as well.
    """
    columns = [encode(attempts.columns[a], a, allow_unknown=True) for a in attributes]
    labels = intersect(columns)
    scopes = [(None, np.full(labels.codes.shape, True))]
    scopes += [(g, labels.codes == c) for c, g in enumerate(labels.values.tolist())]
    rows = []
    for group, inside in scopes:
        outcome = attempts.outcome[inside]
        n = outcome.size
        n_fta, n_fte = (
            int((outcome == kind).sum()) for kind in (NOT_ACQUIRED, NOT_ENROLLED)
        )
        fta = n_fta / n if n else float("nan")
        fte = n_fte / (n - n_fta) if n > n_fta else float("nan")
        rows.append(Failures(group, n, n_fta, n_fte, fta, fte))
    return tuple(rows)


def generalised(rates, failures):
    """Generalised rates of everyone and of every group at one threshold.

    Parameters
    ----------
    rates : tuple of GroupRates
    failures : tuple of Failures

    Returns
    -------
    rates : tuple of GeneralisedRates
        In the order of ``failures``. A group without a template has no rates of pairs:
        nobody of it is accepted, whoever they claim to be.
    """
    of_group = {row.group: row for row in rates}
    found = []
    for row in failures:
        made = row.n_made / row.n_attempts
        gfar, gfrr = 0.0, 1.0
        if row.n_made:
            compared = of_group[row.group]
            gfar = compared.far.value * made
            gfrr = 1 - made + made * compared.frr.value
        found.append(GeneralisedRates(row.group, gfar, gfrr))
    return tuple(found)


def lost_groups(failures):
    """A sentence on every group of which no attempt gave a template, a list."""
    return [
        f"None of the {row.n_attempts:,} attempts of {row.group!r} gave a template: all were "
        "rejected (GFRR 1), and no rate of pairs can be measured."
        for row in failures
        if not row.n_made
    ]
