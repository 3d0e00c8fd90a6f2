"""A log of decisions watched over time, as a report that goes on where the last one ended."""

import os
from dataclasses import asdict, dataclass, field
from hashlib import file_digest
from typing import Any

import numpy as np

from skfairfr._text._document import Cell, Figure, Row, Table, Verdict
from skfairfr._text._words import (
    NONE,
    count,
    level_percent,
    listed,
    number,
    p_value,
    percent,
    percents,
    plural,
    printable,
    ratio,
    ratios,
)
from skfairfr.datasets._decisions import read_decisions, read_times
from skfairfr.datasets._files import column_names
from skfairfr.metrics import MonitorState, RateMonitor
from skfairfr.report._audit import audit_decisions
from skfairfr.report._decisions import check_ascending, in_time
from skfairfr.report._figures import MOST_LIMITS, evidence_of, watched_over_time
from skfairfr.report._given import check_about
from skfairfr.report._notes import collecting, notes_of
from skfairfr.report._pages import Page
from skfairfr.report._policy import settle_limits
from skfairfr.report.sections._answer import NO_LIMITS
from skfairfr.utils._bands import split_bands, to_bands
from skfairfr.utils._errors import refused
from skfairfr.utils._labels import is_unknown
from skfairfr.utils._types import FilePath
from skfairfr.utils._validation import check_path

# What is known of a limit: never that it is kept, which no number of logs shows.
RESULTS = {"failed": "exceeded", "undetermined": "not exceeded so far"}
ABOVE = "above, not certain"
# Limits of a policy that are watched, and what the monitor calls them.
WATCHED = {"max_fnmr": None, "max_fnmr_ratio": "max_min"}
# Share of the error probability that first attempts get; single logs get the rest. Equal
# shares, as neither statement is more important.
SHARE = 1 / 2
# A log is taken in so many parts at most, each a point of the curves.
MOST_PARTS = 12


@dataclass(frozen=True)
class Monitoring(Page):
    """What is known of a system in operation, from :func:`monitor_log`.

    Attributes
    ----------
    attribute : str
        What the groups are of.
    settings : dict
        Limits, confidence level and how many attempts of a person count.
    state : MonitorState
        Rates, lower being better, and findings, about first attempts of people in all logs
        so far.
    log : dict
        The last log by itself: ``n_attempts``, ``n_people``, ``n_new`` (first attempts),
        the ``groups`` with their ``attempts``, ``people``, rates (``value``, ``low`` and
        ``high`` at ``confidence_level``), and ``checks`` of the limits. Empty for a log with
        fewer than two groups.
    history : tuple of dict
        What was known after each part of each log.
    n_logs : int
    notes : tuple of str
    about : dict of str -> str
        What was given about the system.

    Raises
    ------
    dataclasses.FrozenInstanceError
        If an attribute is assigned to.

    See Also
    --------
    monitor_log : Returns it.
    """

    attribute: str
    settings: dict
    state: MonitorState
    log: dict = field(repr=False)
    history: tuple = field(repr=False)
    n_logs: int
    notes: tuple
    about: dict

    _name = "monitor"

    @property
    def verdict(self) -> str:
        """State of all limits: "failed" if one is exceeded, else "undetermined"."""
        return "failed" if self.state.failed or self._of_logs else "undetermined"

    @property
    def exit_code(self) -> int:
        """1 if a limit is exceeded, else 0: no limit is known to be."""
        return int(self.verdict == "failed")

    @property
    def _of_logs(self):
        """Limits that single logs exceed: (how, groups) -> limit, the last such log, when."""
        found = {}
        for row in self.history:
            log = row.get("log", {})
            for one in log.get("checks", ()):
                how, groups = WATCHED[one["name"]], tuple(one["groups"])
                if one["verdict"] == "failed":
                    of_each = [(g,) for g in groups] if how is None else [groups]
                    about = one["limit"], log, row["when"]
                    found |= {(how, of): about for of in of_each}
        return found

    def _record(self):
        names = ("attribute", "settings", "verdict", "n_logs", "notes", "about", "log")
        record = {name: getattr(self, name) for name in names}
        return record | asdict(self.state) | {"history": self.history}

    # ---- the document ------------------------------------------------------------

    _called = "Log", "Every group", "What was watched"
    _does_not_show = (
        "Does not show: false acceptances, or that the system is lawful or fit for a purpose. "
        "That no excess is found is no proof that a limit is kept."
    )

    @property
    def _heading(self):
        return f"False rejections watched by {printable(self.attribute)}"

    def _facts(self):
        n_attempts = int(self.state.rates.n_attempts.sum()) + self.state.n_unknown
        return [
            ("Logs", count(self.n_logs)),
            ("Until", printable(self.history[-1]["when"])),
            ("Genuine attempts", count(n_attempts)),
            ("First attempts of people", count(self.state.n_people)),
        ]

    def _opening(self):
        return [self._told(), self._of_this_log(), self._limits(), self._curves()]

    def _told(self):
        """Which limits are exceeded."""
        failed, of_logs = self.state.failed, self._of_logs
        new = self._new()
        if not self.state.findings:
            return Verdict("none", self._highest(), [], f"{NO_LIMITS}. {new}")
        if not failed and not of_logs:
            label = f"No limit is known to be exceeded. {new}"
            return Verdict("undetermined", self._highest(), self._not_judged(), label)
        exceeded = {(how, frozenset(groups)) for how, groups in of_logs}
        exceeded |= {(one.how, frozenset(one.groups)) for one in failed}
        earlier = not failed and all(
            log is not self.log for _, log, _ in of_logs.values()
        )
        label = (
            f"{plural(len(exceeded), 'limit')} exceeded"
            f"{' in an earlier log, none in this one' if earlier else ''} "
            f"({100 * self.settings['confidence_level']:g} % confidence, all logs together). "
            f"{new}"
        )
        first, *others = [
            *(self._sentence_of_log(*one, *of) for one, of in of_logs.items()),
            *map(self._sentence, failed),
        ]
        return Verdict("failed", first, [*others, *self._not_judged()], label)

    def _highest(self):
        """The group with the highest rate, in this log if it is audited by itself."""
        groups = self.log.get("groups", ())
        rows = [(group, *_in_log(self.log, group)[2:]) for group in groups]
        where, level = "in this log", self.log.get("confidence_level")
        if not rows:
            rates = self.state.rates
            rows = zip(rates.groups, rates.value, rates.low, rates.high, strict=True)
            where, level = "of first attempts", self.settings["level_of_first"]
        group, rate, low, high = max(rows, key=lambda row: np.nan_to_num(row[1]))
        ends = percents(low, high)
        ends = f" ({100 * level:.5g} % CI {ends})" if ends else ""
        return f"The highest FRR {where} is that of {printable(group)}: {percent(rate)}{ends}."

    def _not_judged(self):
        """Why limits could not be judged in the last log, a list of str."""
        reasons = {"max_fnmr": "rates", "max_fnmr_ratio": "ratio of rates"}
        return [
            f"The {reasons[one['name']]} of this log cannot be judged: {one['reason']}."
            for one in self.log.get("checks", ())
            if one["reason"]
        ]

    def _new(self):
        """How much of the last log is new."""
        if not self.log:
            return "The last log has fewer than two groups and is not audited by itself"
        k, n_new = self.settings["attempts"], self.log["n_new"]
        people = plural(n_new, "new person", "new people") if n_new else "no new people"
        if k > 1:
            people = (
                f"{plural(n_new, 'person', 'people')} with {k} first attempts by now"
            )
        return f"This log has {plural(self.log['n_attempts'], 'attempt')} and {people}"

    def _sentence_of_log(self, how, groups, limit, log, when):
        """A limit that was exceeded in a log."""
        people, attempts, rate, low, high = _in_log(log, groups[0])
        first, *others = map(printable, groups)
        which = "this log" if log is self.log else f"the log until {when}"
        rests = f"{plural(attempts, 'attempt')} of {plural(people, 'person', 'people')}"
        ci = f"{100 * log['confidence_level']:.5g} % CI {percents(low, high)}"
        if how is None:
            return (
                f"{first}: FRR {percent(rate)} ({ci}) in {which} ({rests}), above the limit of "
                f"{level_percent(limit)}."
            )
        (one,) = (c for c in log["checks"] if c["name"] == "max_fnmr_ratio")
        ci = f"{100 * log['confidence_level']:.5g} % CI {ratios(one['low'], one['high'])}"
        other = percent(_in_log(log, groups[1])[2])
        return (
            f"The FRR of {first} is {ratio(one['value'])} times that of {others[0]} ({ci}) in "
            f"{which}, above the limit of {limit:g}: {percent(rate)} against {other} ({rests})."
        )

    def _of_this_log(self):
        """Rates of the last log by itself, and their ratio if it is limited."""
        if not self.log:
            return None
        checks = {one["name"]: one for one in self.log["checks"]}
        of_rates = checks.get("max_fnmr")
        exceeded = of_rates is not None and of_rates["verdict"] == "failed"
        exceeded = of_rates["groups"] if exceeded else ()
        rows = []
        for group in self.log["groups"]:
            people, attempts, rate, low, high = _in_log(self.log, group)
            limit = (
                ""
                if of_rates is None
                else f"at most {level_percent(of_rates['limit'])}"
            )
            texts = limit or NONE, percent(rate), percents(low, high)
            texts += count(attempts), count(people)
            result = Cell(NONE)
            if of_rates:
                result = _result(group in exceeded, rate > of_rates["limit"])
            rows.append(Row(f"FRR, {printable(group)}", [*map(Cell, texts), result]))
        one = checks.get("max_fnmr_ratio")
        if one is not None and one["groups"]:
            found = [_in_log(self.log, group) for group in one["groups"]]
            ends = f"{ratio(one['low'])} to {ratio(one['high'])}"
            sums = (count(sum(row[k] for row in found)) for k in (1, 0))
            limit = f"at most {one['limit']:g}"
            cells = [*map(Cell, (limit, ratio(one["value"]), ends, *sums))]
            named = " over ".join(map(printable, one["groups"]))
            result = _result(one["verdict"] == "failed", one["value"] > one["limit"])
            row = Row(f"ratio of FRR, {named}", [*cells, result])
            rows.append(row)
        # Five digits, as the level of a late log is near 1.
        level = f"{100 * self.log['confidence_level']:.5g} %"
        alarm = (1 - self.settings["confidence_level"]) * (1 - SHARE)
        caption = (
            "All genuine attempts of this log, including those of known people. Intervals have "
            f"the confidence level {level}. That level rises from log to log and keeps the "
            f"chance of a false alarm in any log at {percent(alarm)} at most."
        )
        if checks:
            caption += " A limit is exceeded if this table, or that of first attempts, shows it."
        head = ["This log", "Allowed", "Found", "CI", "Attempts", "People", "Result"]
        return Table(caption, head, rows)

    def _sentence(self, finding):
        """A limit that is exceeded, and since when that is known."""
        groups = [printable(group) for group in finding.groups]
        known = next(
            row["when"]
            for row in self.history
            if evidence_of(row, finding)["verdict"] == "failed"
        )
        if finding.how is None:
            return (
                f"{groups[0]}: its FRR has exceeded {level_percent(finding.limit)}, known since "
                f"{known} ({percent(finding.value)} of first attempts, over all the time so far)."
            )
        return (
            f"{groups[0]}: its FRR has exceeded {finding.limit:g} times that of {groups[1]}, "
            f"known since {known} ({ratio(finding.value)} times, of first attempts over all the time so far)."
        )

    def _limits(self):
        rates, rows = self.state.rates, []
        people = dict(zip(rates.groups, rates.n_people.tolist(), strict=True))
        for one in self.state.findings:
            shown = percent if one.how is None else ratio
            about = "FRR" if one.how is None else "ratio of FRR"
            limit = level_percent(one.limit) if one.how is None else f"{one.limit:g}"
            cells = [
                Cell(f"at most {limit}"),
                Cell(shown(one.value)),
                Cell(count(sum(people[group] for group in one.groups))),
                Cell(number(one.e_value)),
                Cell(p_value(one.p_adjusted)),
                _result(one.verdict == "failed", one.value > one.limit),
            ]
            named = " over ".join(printable(group) for group in one.groups)
            rows.append(Row(f"{about}, {named}", cells))
        caption = (
            "First attempts of people, in all logs so far. Evidence that the limit is exceeded "
            "begins at 1 (an e-value: the largest wealth so far of a bet on it). p is one over "
            "it, adjusted for all limits here (Holm). Both are valid whenever they are read."
        )
        head = [
            "First attempts",
            "Allowed",
            "So far",
            "People",
            "Evidence",
            "p, adjusted",
            "Result",
        ]
        return Table(caption, head, rows)

    def _curves(self):
        if len(self.history) < 2:
            return None
        caption = (
            "Rates by group: of first attempts with their confidence sequences (lines), and of "
            "all attempts of each log (points). If limits are set, the second figure has the "
            f"evidence that each is exceeded, as it was known at the time, of at most {MOST_LIMITS} "
            "limits, those with the most. Above the dotted line it is enough."
        )
        # Evidence that is enough whatever that of the other limits is.
        enough = len(self.state.findings) / (1 - self.settings["level_of_first"])
        about = self.history, self.state.findings, enough
        return Figure(caption, lambda: watched_over_time(*about))

    def _table(self):
        rates = self.state.rates
        rows = []
        for place, group in enumerate(rates.groups):
            cells = [
                count(int(rates.n_people[place])),
                percent(rates.value[place]),
                percents(rates.low[place], rates.high[place]),
                count(int(rates.n_attempts[place])),
                count(round(rates.n_errors[place])),
            ]
            rows.append(Row(printable(group), [Cell(text) for text in cells]))
        ends = f"{100 * self.settings['level_of_first']:g} % at all times"
        head = ["Group", "People", "FRR, first", ends, "All attempts", "Rejected"]
        return Table("", head, rows)

    def _method(self):
        return self._lines("monitoring", attempts=self.settings["attempts"])


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
        2026-01-31T10:00. None takes the rows in their order.
    dates : {"day-first", "month-first"}, default=None
        As of :func:`read_data`.
    state : path-like, default=None
        File that keeps what is known for the next log; made if it does not exist. None keeps
        nothing.
    limits : dict of str -> float, default=None
        ``max_fnmr``, the largest FRR allowed of each group, in (0, 1), and
        ``max_fnmr_ratio``, the largest ratio of the FRR of two groups, above 1.
    policy : Policy, str or path-like, default=None
        What sets the limits and the confidence level instead.
    confidence_level : float in (0, 1), default=None
        One minus the chance of any false alarm, ever; None takes 0.95. Half of that chance
        is for first attempts of people in all logs. The other half is for single logs: the
        k-th gets 6 / (pi k)**2 of it. These shares sum to 1 (union bound).
    attempts : int, default=1
        How many first attempts of a person make one value, as of
        :class:`~skfairfr.metrics.RateMonitor`.
    accepted, identity, attempt : str, default=None
        Columns, as of :func:`~skfairfr.datasets.load_decisions`.
    about : dict of str -> str, default=None
        As of :func:`audit_data`.

    Returns
    -------
    monitoring : Monitoring
        What is known after this log.

    Raises
    ------
    ValueError
        If the log cannot be read, was given before, or begins before the last one ended; if
        the state is of other limits, another attribute or another confidence level, or had
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
        raise refused("log", log, problem, "give the attempts since then.")
    order, when = _in_order(data, log, names, time, dates)
    _check_later(monitor, when[0] if time else None, log)
    if time is not None:
        monitor.about_["until"] = _as_read(when[-1])
    error, group = ~data.accepted[order], data.columns[name][order]
    group = group if cuts is None else to_bands(group, cuts)
    people, parts = data.identity[order], _parts(when)
    n_before = monitor.state.n_people
    number_of_log = len(monitor.logs_) + 1
    share = (1 - level) * (1 - SHARE) * 6 / (np.pi * number_of_log) ** 2
    by_itself = _by_itself(error, people, {name: group}, every, share)
    warned = []
    for number_, rows in enumerate(parts):
        shown = _as_read(when[rows[-1]]) if time else f"log {len(monitor.logs_) + 1}"
        with collecting(warned, UserWarning):
            monitor.update(
                *(error[rows], people[rows], group[rows]),
                when=str(shown),
                log=digest if number_ == len(parts) - 1 else None,
            )
    if by_itself:
        by_itself["n_new"] = monitor.state.n_people - n_before
        # The figure draws the rates of a log at the last row of its history.
        monitor.history_[-1]["log"] = by_itself
    if state is not None:
        monitor.about_ |= asked
        monitor.save(state)
    levels = {"confidence_level": level, "level_of_first": monitor.confidence_level}
    return Monitoring(
        attribute,
        monitor.settings | levels | named,
        monitor.state,
        by_itself,
        tuple(monitor.history_),
        len(monitor.logs_),
        (*_notes(data, monitor, every), *notes_of(warned)),
        about or {},
    )


def _column_and_cuts(log, attribute):
    """The column of the groups, and the cut points between ranges; None without any."""
    if attribute in column_names(log):
        return attribute, None
    name, cuts = split_bands(attribute)
    if isinstance(cuts, int):
        problem = f"{attribute!r} has quantiles, which differ from log to log;"
        remedy = f"give cut points, as {name}:18,30,50."
        raise refused("attribute", attribute, problem, remedy)
    return name, cuts


def _in_order(data, log, names, time, dates):
    """Rows of the genuine attempts in the order of time, and the time of each."""
    order = np.flatnonzero(data.attempt == "genuine")
    if time is None:
        with collecting([], UserWarning):
            columns = read_decisions(log, names, kinds=False).columns
        check_ascending("log", str(log), columns, [data.identity])
        return order, np.arange(order.size)
    when = read_times(data.columns[time], time, dates)
    order = order[in_time(when[order], data.identity[order])]
    return order, when[order]


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
            f"Not watched: {listed(not_watched)}; a log of genuine attempts has no such errors."
        )
    return tuple(notes)


def _result(exceeded, above):
    """The result of a limit: exceeded, or that its rate or ratio is above it or not."""
    word = "failed" if exceeded else "undetermined"
    return Cell(ABOVE if above and not exceeded else RESULTS[word], word=word)


def _in_log(log, group):
    """People, attempts, rate and its interval (low, high) of a group in a log."""
    place = log["groups"].index(group)
    return [log[name][place] for name in ("people", "attempts", "value", "low", "high")]


def _by_itself(error, identity, sensitive_features, limits, share):
    """Rates and checks of one log, as of ``Monitoring.log``; empty if it has one group.

    ``sensitive_features`` is a dict of one column. ``share`` is the error probability of the
    log, which is divided equally among its limits.
    """
    (group,) = sensitive_features.values()
    if np.unique(group[~is_unknown(group)]).size < 2:
        return {}
    limits = {name: limits[name] for name in WATCHED if name in limits}
    level = 1 - share / max(len(limits), 1)
    with collecting([], UserWarning):
        found = audit_decisions(
            *(error, identity, sensitive_features),
            limits=limits,
            confidence_level=level,
        )
    (audit,) = found.audits
    rates = audit.levels[0].rates[1:]
    return {
        "n_attempts": int(error.size),
        "n_people": int(np.unique(identity).size),
        "n_new": 0,
        "confidence_level": level,
        "groups": [row.group for row in audit.groups[1:]],
        "attempts": [row.n_genuine for row in audit.groups[1:]],
        "people": [row.n_identities for row in audit.groups[1:]],
        **{
            name: [getattr(row.frr, name) for row in rates]
            for name in ("value", "low", "high")
        },
        "checks": [
            {"name": one.name, "limit": one.limit, "groups": list(one.groups)}
            | {name: getattr(one.figure, name) for name in ("value", "low", "high")}
            | {"verdict": one.verdict, "reason": one.reason}
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
            raise refused("state", state, problem, remedy)
    return monitor


def _in_words(settings):
    """Settings of a monitor with its limits by their names in a policy."""
    names = {how: name for name, how in WATCHED.items()}
    limits = zip(settings["how"], settings["limit"] or (), strict=True)
    rest = {name: settings[name] for name in ("confidence_level", "attempts")}
    return {"limits": {names[how]: limit for how, limit in limits}} | rest


def _as_read(time):
    """A number, or the text of a time, as they are read again."""
    if time.dtype.kind == "f":
        return time.item()
    return time.item().isoformat().removesuffix("T00:00:00")


def _check_later(monitor, first, log):
    """Raise if a log begins before the last one ended, or has no times and that one had."""
    until = monitor.about_.get("until")
    if until is None:
        return
    if first is None:
        problem = "is missing, and earlier logs were taken in the order of a column;"
        raise refused("time", None, problem, "name it, or begin a new state.")
    before = read_times(np.array([until]), "until")[0]
    if before.dtype.kind != first.dtype.kind or first < before:
        problem = f"{str(log)!r} begins at {_as_read(first)}, and the last log ended at {until};"
        raise refused("log", log, problem, "give the attempts since then.")


def _parts(when):
    """Rows of at most so many parts of a log, split where the time changes."""
    n_parts = min(MOST_PARTS, when.size)
    cuts = (np.arange(1, n_parts) * when.size) // max(n_parts, 1)
    cuts = np.unique(np.searchsorted(when, when[cuts])) if when.size else cuts
    return np.split(np.arange(when.size), cuts[cuts > 0])
