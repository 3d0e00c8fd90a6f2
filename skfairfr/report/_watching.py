"""Watching a log of decisions: it goes on where the last report ended."""

from __future__ import annotations

import os
from hashlib import file_digest
from typing import Any

import numpy as np

from skfairfr._text._words import listed, plural
from skfairfr.datasets._decisions import guessed_times, read_decisions, read_times
from skfairfr.datasets._tables import column_names
from skfairfr.metrics import RateMonitor
from skfairfr.report._audit import audit_decisions
from skfairfr.report._decisions import check_ascending, in_time
from skfairfr.report._given import check_about
from skfairfr.report._monitoring import SHARE, WATCHED, Monitoring
from skfairfr.report._notes import collecting, notes_of
from skfairfr.report._policy import settle_limits
from skfairfr.utils._bands import split_bands, to_bands
from skfairfr.utils._errors import invalid
from skfairfr.utils._labels import is_unknown
from skfairfr.utils._types import FilePath
from skfairfr.utils._validation import check_path

# A log is taken in so many parts at most, each a point of the curves.
MOST_PARTS = 12
DOUBLED = (
    "All rows of the log are in it twice, by person, time and decision. Numbers of attempts are too "
    "high if these are copies."
)
FIRST_DAY = np.datetime64("1970-01-02")  # a time without a date has the day before


def monitor_log(
    log: FilePath,
    attribute: str,
    *,
    time: str | None = None,
    dates: str | None = None,
    state: FilePath | None = None,
    limits: dict | None = None,
    policy: Any = None,
    confidence_level: float | None = None,
    attempts: int = 1,
    accepted: str | None = None,
    identity: str | None = None,
    attempt: str | None = None,
    about: dict | None = None,
) -> Monitoring:
    """Watch the false rejections of groups in a log of decisions, and in all logs before it.

    Parameters
    ----------
    log : path-like
        Table with a row for each attempt, as :func:`~skfairfr.datasets.load_decisions` reads
        it. Impostor attempts and attacks are left out.
    attribute : str
        Column of the groups.
    time : str, default=None
        Column of the time of each attempt: a number, or text such as 2026-01-31 or
        2026-01-31T10:00. If None, rows are in order.
    dates : {"day-first", "month-first"}, default=None
        Format of dates in the column of times with the year last, such as 31.01.2026. If None, only dates
        such as 2026-01-31 are read.
    state : path-like, default=None
        File that keeps what is known for the next log. Made if it does not exist. None keeps
        nothing.
    limits : dict of str -> float, default=None
        ``max_fnmr``, the largest FRR allowed of each group, in (0, 1), and
        ``max_fnmr_ratio``, the largest ratio of the FRR of two groups, above 1.
    policy : Policy, str or path-like, default=None
        Policy that sets the limits and the confidence level instead.
    confidence_level : float in (0, 1), default=None
        One minus the chance of any false alarm, ever. If None: 0.95. Half of that chance
        is for first attempts of people in all logs. The other half is for single logs: the
        k-th gets 6 / (pi k)**2 of it. These shares sum to 1 (union bound).
    attempts : int, default=1
        Number of first attempts of a person that make one value, as in
        :class:`~skfairfr.metrics.RateMonitor`.
    accepted, identity, attempt : str, default=None
        Columns, as in :func:`~skfairfr.datasets.load_decisions`.
    about : dict of str -> str, default=None
        "title", "system", "dataset" and "organisation": what the report is to show, and its
        JSON to keep, about the test.

    Returns
    -------
    monitoring : Monitoring
        State after this log.

    Raises
    ------
    ValueError
        If the log cannot be read, was given before, begins before the last one ended, or, by
        a column that reads as a time, lies before the last one began. If the state is of other limits, another attribute or another confidence level, or had
        times and the log has none.

    See Also
    --------
    skfairfr.metrics.RateMonitor : The numbers.

    Examples
    --------
    >>> import os, tempfile
    >>> from skfairfr.report import monitor_log
    >>> rows = [f"p{i},{int(i % 10 > 0)},{'fm'[i % 2]}" for i in range(2000)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "log.csv")
    ...     with open(path, "w") as file:
    ...         _ = file.write("\\n".join(["person,accepted,gender", *rows]))
    ...     found = monitor_log(path, "gender", limits={"max_fnmr_ratio": 1.5})
    >>> found.verdict, found.state.failed[0].groups
    ('failed', ('f', 'm'))
    """
    check_about(about)
    every, level, named = settle_limits(policy, limits, confidence_level)
    watched = [(WATCHED[name], every[name]) for name in WATCHED if name in every]
    monitor = RateMonitor(
        how=tuple(kind for kind, _ in watched),
        limit=tuple(limit for _, limit in watched) or None,
        confidence_level=1 - (1 - level) * SHARE,
        attempts=attempts,
    )
    asked = {"attribute": attribute, "confidence_level": level} | named
    if state is not None and os.path.exists(check_path(state, "state")):
        monitor = _loaded(state, monitor.settings, asked)
    names = {"accepted": accepted, "identity": identity, "attempt": attempt}
    name, cuts = _column_and_cuts(log, attribute)
    columns = {name: "attribute"} | ({} if time is None else {time: "time"})
    data = read_decisions(log, names, columns)
    with open(data.path, "rb") as file:
        digest = file_digest(file, "sha256").hexdigest()
    if digest in monitor.logs_:
        problem = f"{str(log)!r} was taken before, and its attempts would count twice;"
        raise invalid("log", log, problem, "give the attempts since then.")
    columns = _columns(log, names)
    order, when = _in_order(data, log, columns, time, dates)
    _check_later(monitor, when[0] if time else None, log)
    begins = monitor.about_.get("begins", {})
    monitor.about_["begins"] = _beginnings(columns, begins, log)
    if time is not None:
        monitor.about_["until"] = _as_read(when[-1])
    error, group = ~data.accepted[order], data.columns[name][order]
    group = group if cuts is None else to_bands(group, cuts)
    people, parts = data.identity[order], _parts(when)
    n_before, number = monitor.state.n_people, len(monitor.logs_) + 1
    share = (1 - level) * (1 - SHARE) * 6 / (np.pi * number) ** 2
    by_itself = _by_itself(error, people, {name: group}, every, share)
    if by_itself:
        lost = group[~data.captured[order]]
        known = by_itself["groups"]
        by_itself["not_captured"] = [int((lost == g).sum()) for g in known]
    warned, last = [], len(parts) - 1
    doubled = [DOUBLED] * (time is not None and _all_doubled(when, error, people))
    for part, rows in enumerate(parts):
        shown = str(_as_read(when[rows[-1]])) if time else f"log {number}"
        attempted = error[rows], people[rows], group[rows]
        with collecting(warned, UserWarning):
            ended = digest if part == last else None
            monitor.update(*attempted, when=shown, log=ended)
    if by_itself:
        by_itself["n_new"] = monitor.state.n_people - n_before
    # The last row of a log in the history has its rates.
    monitor.history_[-1]["log"] = by_itself
    if state is not None:
        monitor.about_ |= asked
        monitor.save(state)
    levels = {"confidence_level": level, "level_of_first": monitor.confidence_level}
    levels["sha256"] = {os.path.basename(log): digest}
    return Monitoring(
        attribute,
        monitor.settings | levels | named,
        monitor.state,
        by_itself,
        tuple(monitor.history_),
        len(monitor.logs_),
        (*doubled, *_notes(data, monitor, every), *notes_of(warned)),
        about or {},
        tuple(str(_as_read(end)) for end in when[[0, -1]]) if time else (),
    )


def _column_and_cuts(log, attribute):
    """The column of the groups, and the cut points between ranges, or None without any."""
    if attribute in column_names(log):
        return attribute, None
    name, cuts = split_bands(attribute)
    if isinstance(cuts, int):
        problem = f"{attribute!r} has quantiles, which differ from log to log;"
        remedy = f"give cut points, as {name}:18,30,50."
        raise invalid("attribute", attribute, problem, remedy)
    return name, cuts


def _columns(log, names):
    """All columns of a log."""
    with collecting([], UserWarning):
        return read_decisions(log, names, kinds=False).columns


def _beginnings(columns, before, log):
    """First time of each column that reads as a date. Raise if all come before the last log."""
    begins = {}
    for name, column in columns.items():
        known = column[~is_unknown(column)]
        times = guessed_times(known) if known.size else None
        # Times of the day have no order between logs.
        if times is None or (times.dtype.kind == "M" and times.max() < FIRST_DAY):
            continue
        begins[name], last = (_as_read(end) for end in (times.min(), times.max()))
        earliest = before.get(name, last)
        if isinstance(earliest, str) == isinstance(last, str) and last < earliest:
            problem = f"{str(log)!r} ends at {last} by {name!r}, "
            problem += f"and the last log began at {earliest};"
            raise invalid("log", log, problem, "give logs in the order of time.")
    return begins


def _in_order(data, log, columns, time, dates):
    """Rows of the genuine attempts in the order of time, and the time of each."""
    order = np.flatnonzero(data.attempt == "genuine")
    if time is None:
        check_ascending("log", str(log), columns, [data.identity])
        return order, np.arange(order.size)
    when = read_times(data.columns[time], time, dates)
    order = order[in_time(when[order], data.identity[order])]
    return order, when[order]


def _all_doubled(*columns):
    """Whether each combination of values of columns is in an even number of rows."""
    places = np.zeros(columns[0].size, dtype=np.intp)
    for column in columns:  # the first odd number ends the search
        code = np.unique(column, return_inverse=True)[1]
        places = places * (code.max() + 1) + code
        counts = np.unique(places, return_counts=True)[1]
        if (counts % 2).any():
            return False
    return True


def _notes(data, monitor, limits):
    """Attempts that are left out, and limits that are not watched: a tuple of str."""
    notes = []
    if left_out := int((data.attempt != "genuine").sum()):
        notes.append(f"{plural(left_out, 'attempt')} were no genuine ones: left out.")
    if monitor.state.n_unknown:
        unknown = plural(monitor.state.n_unknown, "attempt")
        notes.append(f"{unknown} of people of unknown group: left out.")
    if not_watched := [name for name in limits if name not in WATCHED]:
        notes.append(
            f"Not monitored: {listed(not_watched)}. A log of genuine attempts has no such errors."
        )
    return tuple(notes)


def _by_itself(error, identity, sensitive_features, limits, share):
    """Rates and checks of one log, as of ``Monitoring.log``, or empty if it has one group.

    ``sensitive_features`` is a dict of one column. ``share`` is the error probability of the
    log, which is divided equally among its limits. A limit on rates is judged by their lower
    ends, which share theirs: so do the intervals of rates.
    """
    (group,) = sensitive_features.values()
    n_groups = np.unique(group[~is_unknown(group)]).size
    if n_groups < 2:
        return {}
    limits = {name: limits[name] for name in WATCHED if name in limits}
    level = level_of_rates = 1 - share / max(len(limits), 1)
    if "max_fnmr" in limits:
        level_of_rates = 1 - (1 - level) * 2 / n_groups

    def audited(confidence_level, limits):
        with collecting([], UserWarning):
            return audit_decisions(
                *(error, identity, sensitive_features),
                limits=limits,
                confidence_level=confidence_level,
            )

    found = audited(level, limits)
    shown = found if level_of_rates == level else audited(level_of_rates, {})
    (audit,) = shown.audits
    rates = audit.levels[0].rates[1:]
    groups = [row.group for row in audit.groups[1:]]
    # A limit on rates is judged by the ends of the group's own interval.
    judged = {(group,): row.frr for group, row in zip(groups, rates, strict=True)}
    return {
        "n_attempts": int(error.size),
        "n_people": int(np.unique(identity).size),
        "n_new": 0,
        "confidence_level": level_of_rates,
        "groups": groups,
        "attempts": [row.n_genuine for row in audit.groups[1:]],
        "people": [row.n_identities for row in audit.groups[1:]],
        **{
            name: [getattr(row.frr, name) for row in rates]
            for name in ("value", "low", "high")
        },
        "checks": [
            {"name": one.name, "limit": one.limit, "groups": list(one.groups)}
            | {
                name: getattr(judged.get(one.groups, one.figure), name)
                for name in ("value", "low", "high")
            }
            | {"verdict": one.verdict, "reason": one.reason}
            | {"confidence_level": level_of_rates if one.name == "max_fnmr" else level}
            for one in found.checks
        ],
    }


def _loaded(state, settings, asked):
    """The monitor of a state, which has to be of the same limits and groups."""
    monitor = RateMonitor.load(state)
    before = _in_words(monitor.settings) | monitor.about_
    now = _in_words(settings) | asked
    for name, value in now.items():
        if before.get(name) != value:
            problem = (
                f"{str(state)!r} is of {name} {before.get(name)!r}, not {value!r};"
            )
            remedy = "give what it began with, or name a new file."
            raise invalid("state", state, problem, remedy)
    return monitor


def _in_words(settings):
    """Settings of a monitor with its limits by their names in a policy."""
    names = {how: name for name, how in WATCHED.items()}
    limits = zip(settings["how"], settings["limit"] or (), strict=True)
    rest = {name: settings[name] for name in ("confidence_level", "attempts")}
    return {"limits": {names[how]: limit for how, limit in limits}} | rest


def _as_read(time):
    """A number, or the text of a time, as they are read again."""
    if time.dtype.kind != "M":
        return int(time) if time == int(time) else time.item()
    return time.item().isoformat().removesuffix("T00:00:00")


def _check_later(monitor, first, log):
    """Raise if a log begins before the last one ended, or has no times and that one had."""
    until = monitor.about_.get("until")
    if until is None:
        return
    if first is None:
        problem = "is missing, and earlier logs were taken in the order of a column;"
        raise invalid("time", None, problem, "name it, or begin a new state.")
    before = read_times(np.array([until]), "until")[0]
    if before.dtype.kind != first.dtype.kind or first < before:
        problem = f"{str(log)!r} begins at {_as_read(first)}, and the last log ended at {until};"
        raise invalid("log", log, problem, "give the attempts since then.")


def _parts(when):
    """Rows of at most so many parts of a log, split where the time changes."""
    n_parts = min(MOST_PARTS, when.size)
    cuts = (np.arange(1, n_parts) * when.size) // max(n_parts, 1)
    cuts = np.unique(np.searchsorted(when, when[cuts])) if when.size else cuts
    return np.split(np.arange(when.size), cuts[cuts > 0])
