"""Failures to acquire and to enrol, and where each group is lost."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

import numpy as np

from skfairfr._text._document import Cell, Table
from skfairfr._text._words import capital, count, percent, printable, terms_of
from skfairfr.report._data import PairData, combinations_of
from skfairfr.report._notes import at_place
from skfairfr.report.sections._cells import row_of_group

# What became of attempts that failed, by the setting.
FAILED = {"reject": "count as rejected", "report": "are left out of the rates"}


@dataclass(frozen=True)
class GeneralisedRates:
    """Rates of a group that count failures to enrol and to acquire as well.

    ``gfar`` is FMR (1 - FTA) (1 - FTE), and ``gfrr`` is FTE + (1 - FTE) FTA +
    (1 - FTE) (1 - FTA) FNMR, of ISO/IEC 19795-1, or nan without the pairs, but 0 and 1
    if no attempt of the group gave a template.
    """

    group: object
    gfar: float
    gfrr: float


@dataclass(frozen=True)
class Failures:
    """Attempts of a group that gave no template. ``group`` None is everyone.

    ``fta`` is the share of all attempts that failed to acquire, ``fte`` the share of the
    others that failed to enrol.
    """

    group: object
    n_attempts: int
    n_failed_to_acquire: int
    n_failed_to_enrol: int
    fta: float
    fte: float

    @property
    def n_made(self):
        """Number of attempts that gave a template."""
        return self.n_attempts - self.n_failed_to_acquire - self.n_failed_to_enrol


def failures_of(attempts, attributes):
    """Numbers and rates of failures, everyone's first, then those of every group.

    Parameters
    ----------
    attempts : Attempts or None
    attributes : tuple of str

    Returns
    -------
    failures : tuple of Failures
        Of groups without any template as well, or empty if no attempts were recorded.
    """
    if attempts is None:
        return ()
    columns = {name: attempts.columns[name] for name in attributes}
    labels = combinations_of(columns, attempts.outcome.size)
    scopes = [(None, slice(None))]
    scopes += [(g, labels.codes == c) for c, g in enumerate(labels.values.tolist())]
    rows = []
    for group, inside in scopes:
        made, n_fta, n_fte = np.bincount(attempts.outcome[inside], minlength=3).tolist()
        acquired = made + n_fte
        n = acquired + n_fta
        fte = n_fte / acquired if acquired else float("nan")
        rows.append(Failures(group, n, n_fta, n_fte, n_fta / n, fte))
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


def n_lost(data, inside):
    """How many genuine pairs of some images failed, or None if none is kept.

    Parameters
    ----------
    data : EmbeddingData or PairData
    inside : ndarray of bool, shape (n_rows,)
        As of its ``groups``.
    """
    if data.failed is None:
        return None
    failed = data.failed
    if isinstance(data, PairData):
        failed = np.tile(failed, 2)
    every, rest = (
        data.genuine_pairs(rows).sum() for rows in (inside, inside & ~failed)
    )
    return int(every - rest)


def groups_lost_to_failures(failures):
    """A sentence on every group of which no attempt gave a template, a list."""
    return [
        f"None of the {row.n_attempts:,} attempts of {row.group!r} gave a template or a "
        "score: all were rejected (GFRR 1), and no FNMR of theirs can be measured."
        for row in failures
        if not row.n_made
    ]


def failures_in_short(audits):
    """How many attempts of each kind failed, and of which group most, in sentences, or none."""
    by_kind = {}
    for audit in audits:
        by_kind.setdefault(audit.settings.get("decisions"), []).append(audit)
    texts = []
    for kind, (first, *others) in by_kind.items():
        every = chain(first.failures, *(audit.failures[1:] for audit in others))
        rows = [(f.group, f.n_attempts, f.n_attempts - f.n_made) for f in every]
        became = FAILED[first.settings.get("failures", "report")]
        if kind is None:
            texts += not_captured(rows, "attempts gave no template or score", became)
        else:
            trials = terms_of(first.settings).trials
            texts += not_captured(rows, f"{trials} were not captured", became)
    return texts


def not_captured(rows, failed, became):
    """How many attempts failed, and in which group most, in a list, or empty if none did.

    Parameters
    ----------
    rows : list of (group, int, int)
        Attempts, and how many of them failed, everyone's first.
    failed, became : str
        Attempts that failed, and how they are counted, in words.
    """
    if not rows or not rows[0][2]:
        return []
    (_, n, lost), *groups = rows
    text = f"{lost:,} of {n:,} {failed} and {became}."
    if len(groups) > 1:
        group, n, lost = max(groups, key=lambda row: row[2] / row[1])
        share = f"{percent(lost / n)} ({lost:,} of {n:,})"
        text += f" The largest share is that of {printable(group)}: {share}."
    return [text]


def lost(audit):
    """A table of genuine pairs that fail before they are compared, and after, or None."""
    rows = []
    for level in audit.levels:
        if level.rates[0].frr_failures is None:
            return None
        for size, found in zip(audit.groups, level.rates, strict=True):
            n, failed = size.n_genuine, found.frr_failures
            numbers = failed, (found.frr_errors or 0) - failed
            cells = [Cell(count(n))]
            for number in (*numbers, sum(numbers)):
                share = percent(number / n) if n else ""
                cells.append(Cell(count(number), share))
            rows.append(row_of_group(found.group, cells, at_place(level, audit)))
    trials = capital(terms_of(audit.settings).frr.standard_trials)
    later = "not matched"
    if audit.settings.get("decisions") == "bpcer":
        later = "taken for attacks"
    caption = (
        f"{trials} of each group that fail to be enrolled or acquired, and those that are "
        f"not, and are then {later}. Both are rejected."
    )
    head = ["Group", trials, "Not enrolled or acquired", f"Then {later}"]
    return Table(caption, [*head, "Rejected"], rows)


def failures(audit):
    """A table of attempts without a template, by group."""
    rows, enrolled = [], any(found.n_failed_to_enrol for found in audit.failures)
    for found in audit.failures:
        shown = count(found.n_failed_to_acquire), percent(found.fta)
        shown += count(found.n_failed_to_enrol), percent(found.fte)
        texts = (count(found.n_attempts), *shown)[: 5 if enrolled else 3]
        rows.append(row_of_group(found.group, list(map(Cell, texts))))
    attempts = "attempts"
    if "decisions" in audit.settings:
        attempts = terms_of(audit.settings).trials
    head = ["Group", capital(attempts), "Failed to acquire", "FTA"]
    of_all = f"FTA is the share of all {attempts}"
    if enrolled:
        head += ["Failed to enrol", "FTE"]
        of_all += ", FTE the share of those acquired"
    caption = (
        f"{capital(attempts)} that gave no template or no score, by group. {of_all}."
    )
    return Table(caption, head, rows)
