"""State of a system from logs of its decisions: the record and its page."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

import numpy as np

from skfairfr._core._kinds import DECISIONS
from skfairfr._text._document import Cell, Facts, Figure, Row, Table, Verdict
from skfairfr._text._words import (
    NONE,
    capital,
    count,
    level_percent,
    listed,
    number,
    percent,
    percents,
    plural,
    printable,
    ratio,
    ratios,
)
from skfairfr.metrics import MonitorState
from skfairfr.report._figures import MOST_LIMITS, evidence_of, watched_over_time
from skfairfr.report._outputs import Page
from skfairfr.report.sections._answer import NO_LIMITS
from skfairfr.report.sections._cells import lines_of
from skfairfr.report.sections._method import glossary
from skfairfr.report.sections._one_log import (
    certainly_above,
    in_log,
    level_of,
    mostly_rejected,
    not_judged,
    result_of,
    table_of,
    without_capture,
)

AT_SOME_TIME = Cell("exceeded at some time", word="failed")
IF_UNCHANGED = "if the rate did not change"  # for intervals of first attempts
MOST = 1e6  # Evidence from which it is not written in digits.
# More groups above a limit are counted, not named.
MOST_NAMED = 4
RATES = {None: "FRR", "max_min": "ratio of FRR"}
# Limits of a policy that are watched, and what the monitor calls them.
WATCHED = {"max_fnmr": None, "max_fnmr_ratio": "max_min"}
# Share of the error probability that first attempts get. Single logs get the rest. Equal
# shares, as neither statement is more important.
SHARE = 1 / 2


@dataclass(frozen=True)
class Monitoring(Page):
    """State of a system in operation, from :func:`monitor_log`.

    Attributes
    ----------
    attribute : str
        Attribute of the groups.
    settings : dict
        Limits, confidence level and how many attempts of a person count.
    state : MonitorState
        Rates, lower being better, and findings, about first attempts of people in all logs
        so far.
    log : dict
        The last log by itself: ``n_attempts``, ``n_people``, ``n_new`` (first attempts),
        the ``groups`` with their ``attempts``, how many were ``not_captured``, ``people``, rates (``value``, ``low`` and
        ``high`` at ``confidence_level``), and ``checks`` of the limits. Empty for a log with
        fewer than two groups.
    history : tuple of dict
        State after each part of each log.
    n_logs : int
    notes : tuple of str
    about : dict of str -> str
        Description of the system, as given.
    span : tuple of str
        First and last time of the last log, or empty without times.

    Raises
    ------
    dataclasses.FrozenInstanceError
        If an attribute is assigned to.

    See Also
    --------
    monitor_log : Returns it.

    Examples
    --------
    >>> import os, tempfile
    >>> import pandas as pd
    >>> from skfairfr.report import monitor_log
    >>> log = pd.DataFrame({"person": range(2000)})
    >>> log["accepted"] = (log.person % 10 > 0).astype(int)
    >>> log["gender"] = (log.person % 2).map({0: "f", 1: "m"})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "log.csv")
    ...     log.to_csv(path, index=False)
    ...     found = monitor_log(path, "gender", limits={"max_fnmr_ratio": 1.5})
    >>> found.verdict, found.exit_code
    ('failed', 1)
    """

    attribute: str
    settings: dict
    state: MonitorState
    log: dict = field(repr=False)
    history: tuple = field(repr=False)
    n_logs: int
    notes: tuple
    about: dict
    span: tuple = ()

    _name, _in_short = "monitor", ("verdict",)

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
        """Limits that single logs exceed: (how, groups) -> limit, last such log, ends of all."""
        found = {}
        for row in self.history:
            log = row.get("log", {})
            for one in log.get("checks", ()):
                how, groups = WATCHED[one["name"]], tuple(one["groups"])
                if one["verdict"] == "failed":
                    of_each = [groups]
                    if how is None:
                        of_each = [(g,) for g in groups if certainly_above(log, g, one)]
                    for of in of_each:
                        *_, ends = found.get((how, of), ((),))
                        found[how, of] = one["limit"], log, (*ends, row["when"])
        return found

    def _record(self):
        names = ("attribute", "settings", "verdict", "n_logs", "notes", "about", "log")
        record = {name: getattr(self, name) for name in names}
        return record | asdict(self.state) | {"history": self.history}

    # ---- the document ------------------------------------------------------------

    _called = "Log", "Every group", "What was watched"
    _does_not_show = (
        "Does not show: false acceptances, or that the system is lawful or fit for a purpose. "
        "That no excess is found is no proof that a limit is met."
    )

    @property
    def _heading(self):
        return f"False rejections watched by {printable(self.attribute)}"

    def _facts(self):
        n_attempts = int(self.state.rates.n_attempts.sum()) + self.state.n_unknown
        until = self.history[-1]["when"]
        named = "Until"
        if _is_number(until):
            named += ", by the numbers of the time"
        return [
            ("Logs", count(self.n_logs)),
            *[(named, printable(until))] * (not until.startswith("log ")),
            ("Genuine attempts", count(n_attempts)),
            ("First attempts of people", count(self.state.n_people)),
        ]

    def _opening(self):
        return [
            self._result_section(),
            self._chance_of_alarm(),
            table_of(self.log),
            self._limits(),
            self._curves(),
        ]

    def _result_section(self):
        """Which limits are exceeded."""
        failed, of_logs = self.state.failed, self._of_logs
        new, counted = (
            self._new(),
            [*mostly_rejected(self.log), *without_capture(self.log)],
        )
        if not self.state.findings:
            return Verdict("none", self._highest(), counted, f"{NO_LIMITS}. {new}")
        seems, others = self._seem_exceeded(), [*counted, *not_judged(self.log)]
        if not failed and not of_logs:
            label = f"No limit is known to be exceeded. {new}"
            headline, *texts = *seems, self._highest()
            return Verdict("undetermined", headline, [*texts, *others], label)
        label = f"{self._exceeded()}. {new}"
        first, *more = [
            *(self._sentence_of_log(*one, *of) for one, of in of_logs.items()),
            *map(self._sentence, failed),
        ]
        texts = [*self._change(), *more, *seems, *others]
        return Verdict("failed", first, texts, label)

    def _exceeded(self):
        """How many groups exceed each limit, and in which logs."""
        where = {"in this log": set(), "in an earlier log": set()}
        for (how, groups), (_, log, _) in self._of_logs.items():
            own = "in this log" if log is self.log else "in an earlier log"
            where[own].add((how, groups))
        where["at some time so far"] = {(o.how, o.groups) for o in self.state.failed}
        of_groups = plural(len(self.state.rates.groups), "group")
        texts = []
        for how in RATES:
            known = {
                place: {of for kind, of in found if kind == how}
                for place, found in where.items()
            }
            known = {place: groups for place, groups in known.items() if groups}
            if not known:
                continue
            if how is not None:
                texts.append(f"the ratio of FRR exceeds its limit {listed([*known])}")
                continue
            (place, found), *others = known.items()
            verb = "exceeds" if len(found) == 1 else "exceed"
            text = f"{len(found)} of {of_groups} {verb} the limit of the FRR {place}"
            for place, more in others:
                text += f", {f'{len(more)} ' if more != found else 'and '}{place}"
            texts.append(text)
        return f"Exceeded. {capital('; '.join(texts))}"

    def _change(self):
        """The highest rate of this log, in it and in the log before, a list of a sentence."""
        *earlier, last = [row["log"] for row in self.history if row.get("log")] or [{}]
        if not earlier or last is not self.log:
            return []
        group = max(last["groups"], key=lambda g: np.nan_to_num(in_log(last, g)[2]))
        if group not in earlier[-1]["groups"]:
            return []
        before, now = (percent(in_log(log, group)[2]) for log in (earlier[-1], last))
        return [
            f"{printable(group)}: FRR {before} in the log before, {now} in this one."
        ]

    def _seem_exceeded(self):
        """Rates and ratios above their limits, which may be chance, in a list."""
        found = {}
        for one in self.log.get("checks", ()):
            groups, limit = one["groups"], one["limit"]
            if WATCHED[one["name"]] is None:
                values = zip(self.log["groups"], self.log["value"], strict=True)
                above = [g for g, value in values if value > limit]
                known = [g for g in above if certainly_above(self.log, g, one)]
                found["FRR in this log"] = [(g,) for g in above if g not in known]
            elif one["value"] > limit and one["verdict"] != "failed":
                found["ratio of FRR in this log"] = [groups]
        for one in sorted(self.state.findings, key=_over_limit, reverse=True):
            if one.value > one.limit and one.verdict != "failed":
                of_first = f"{RATES[one.how]} of first attempts"
                found.setdefault(of_first, []).append(one.groups)
        texts = []
        for rate, of in filter(lambda both: both[1], found.items()):
            named = listed(
                [" against ".join(map(printable, g)) for g in of[:MOST_NAMED]]
            )
            named = named if len(of) <= MOST_NAMED else f"{len(of)} groups or ratios"
            texts.append(f"{rate} ({named})")
        return [f"Above a limit, not certain: {'; '.join(texts)}."] if texts else []

    def _highest(self):
        """The group with the highest rate, in this log if it is audited by itself."""
        groups = self.log.get("groups", ())
        rows = [(group, *in_log(self.log, group)[2:]) for group in groups]
        where, level = "in this log", self.log.get("confidence_level")
        given = ""
        if not rows:
            rates = self.state.rates
            rows = zip(rates.groups, rates.value, rates.low, rates.high, strict=True)
            where, level = "of first attempts", self.settings["level_of_first"]
            given = f" {IF_UNCHANGED}"
        group, rate, low, high = max(rows, key=lambda row: np.nan_to_num(row[1]))
        ends = percents(low, high)
        ends = f" ({100 * level:.5g} % CI {ends}{given})" if ends else ""
        return f"The highest FRR {where} is that of {printable(group)}: {percent(rate)}{ends}."

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
        which = f"This log is log {self.n_logs}"
        if self.span:
            which += f" ({' to '.join(map(printable, self.span))})"
        attempts = plural(self.log["n_attempts"], "attempt")
        return f"{which}. It has {attempts} and {people}"

    def _sentence_of_log(self, how, groups, limit, log, ends):
        """A limit that was exceeded in a log, and all logs that exceeded it."""
        people, attempts, rate, low, high = in_log(log, groups[0])
        first, *others = map(printable, groups)
        which = "this log" if log is self.log else _name_of_logs(ends[-1:])
        since = f" (exceeded in {_name_of_logs(ends)})" if len(ends) > 1 else ""
        rests = f"{plural(attempts, 'attempt')} of {plural(people, 'person', 'people')}"
        ci = f"{level_of(log)} CI {percents(low, high)}"
        if how is None:
            return (
                f"{first}: FRR {percent(rate)} ({ci}) in {which} ({rests}), above the limit of "
                f"{level_percent(limit)}{since}."
            )
        (one,) = (c for c in log["checks"] if c["name"] == "max_fnmr_ratio")
        ci = f"{level_of(log | one)} CI {ratios(one['low'], one['high'])}"
        n_people, n_attempts, other, *_ = in_log(log, groups[1])
        rests = f"{attempts + n_attempts:,} attempts of {people + n_people:,} people"
        return (
            f"The FRR of {first} is {ratio(one['value'])} times that of {others[0]} ({ci}) in "
            f"{which}, above the limit of {limit:g}{since}: {percent(rate)} against {percent(other)} "
            f"({rests})."
        )

    def _chance_of_alarm(self):
        """The chance of a false alarm, and how it is divided, or empty without limits."""
        if not self.state.findings:
            return ""
        alarm = 1 - self.settings["confidence_level"]
        return (
            "If every limit is met, the chance of any alarm, in any log ever, is at most "
            f"{level_percent(alarm)}: {level_percent(alarm * (1 - SHARE))} for all single logs "
            f"together, {level_percent(alarm * SHARE)} for first attempts."
        )

    def _sentence(self, finding):
        """A limit that was exceeded at some time, and until when."""
        groups = [printable(group) for group in finding.groups]
        known = next(
            row["when"]
            for row in self.history
            if evidence_of(row, finding)["verdict"] == "failed"
        )
        known = f"First attempts alone show since {_as_time(known)} that"
        if finding.how is not None:
            return (
                f"{known} the FRR of {groups[0]} was above {finding.limit:g} times that of "
                f"{groups[1]} at some time. Over all first attempts so far it is "
                f"{ratio(finding.value)} times."
            )
        limit, ends = level_percent(finding.limit), self._ends_of_first(finding)
        ci = f"{self._level_of_first} CI {percents(*ends)} {IF_UNCHANGED}"
        average = (
            f"Its average over all first attempts is {percent(finding.value)} ({ci})"
        )
        if ends[0] <= finding.limit < finding.value:
            average += f", which does not show that the average is above {limit}"
        return (
            f"{known} the FRR of {groups[0]} was above {limit} at some time. {average}."
        )

    @property
    def _level_of_first(self):
        return f"{100 * self.settings['level_of_first']:g} %"

    def _ends_of_first(self, finding):
        """Ends of the interval of a group's rate over first attempts."""
        rates = self.state.rates
        place = rates.groups.index(finding.groups[0])
        return rates.low[place], rates.high[place]

    @property
    def _enough(self):
        """Evidence that is enough whatever that of the other limits is."""
        return len(self.state.findings) / (1 - self.settings["level_of_first"])

    def _limits(self):
        rates, rows = self.state.rates, []
        people = dict(zip(rates.groups, rates.n_people.tolist(), strict=True))
        for one in sorted(self.state.findings, key=_over_limit, reverse=True):
            of_rate = one.how is None
            about = "FRR" if of_rate else "Ratio of FRR"
            limit = level_percent(one.limit) if of_rate else f"{one.limit:g}"
            cells = [
                Cell(f"at most {limit}"),
                Cell((percent if of_rate else ratio)(one.value)),
                Cell(percents(*self._ends_of_first(one)) if of_rate else NONE),
                Cell(count(sum(people[group] for group in one.groups))),
                Cell(number(one.e_value) if one.e_value < MOST else "over 1 million"),
                AT_SOME_TIME
                if one.verdict == "failed"
                else result_of(False, one.value, one.limit),
            ]
            named = " against ".join(printable(group) for group in one.groups)
            rows.append(Row(f"{about}, {named}", cells))
        caption = (
            "First attempts of people, in all logs so far. 'So far' is the average over all time. "
            "Its interval assumes that the rate did not change. Evidence is about an excess at some "
            "time, so a limit may be exceeded although the average is below it. Evidence (an "
            "e-value) begins at 1, which is none, and grows with rejected attempts above a limit. "
            f"{self._enough:.3g} is enough to find the limit exceeded."
        )
        head = [
            "First attempts",
            "Allowed",
            "So far",
            f"{self._level_of_first} CI if unchanged",
            "People",
            "Evidence",
            "Result",
        ]
        return Table(caption, head, rows)

    def _curves(self):
        if len(self.history) < 2:
            return None
        caption = (
            f"Rates by group: of first attempts (lines) with their {self._level_of_first} confidence "
            "intervals (bands), which are valid at all times together if the rate of a group does not "
            "change, and of all attempts of each log by itself (points). Lines break between logs."
        )
        if self.state.findings:
            caption += (
                " The second figure has the evidence that each limit is exceeded, as it was known at "
                f"the time, of at most {MOST_LIMITS} limits, those with the most. Above the dotted "
                "line it is enough."
            )
        about = self.history, self.state.findings, self._enough, self._level_of_first
        return Figure(caption, lambda: watched_over_time(*about))

    def _table(self):
        rates, first_ones = self.state.rates, self.settings["attempts"]
        rows = []
        for place in np.argsort(-np.asarray(rates.value), kind="stable").tolist():
            people, attempts = int(rates.n_people[place]), int(rates.n_attempts[place])
            value, rejected = rates.value[place], round(rates.n_errors[place])
            of_first = plural(people, "person", "people")
            if first_ones == 1 and people:
                of_first = f"{round(value * people):,} of {people:,}"
            cells = [
                f"{percent(value)} ({of_first})",
                percents(rates.low[place], rates.high[place]),
                f"{percent(rejected / max(attempts, 1))} ({rejected:,} of {attempts:,})",
            ]
            label = printable(rates.groups[place])
            rows.append(Row(label, [Cell(text) for text in cells]))
        ends = f"{self._level_of_first} CI if unchanged"
        of_all = "All attempts rejected (no interval)"
        head = ["Group", "First attempts rejected", ends, of_all]
        caption = (
            "The interval of each group alone, valid at all times together if its rate does not "
            "change. Whether a limit is exceeded is judged for all limits together, above. No limit "
            "is judged by the rate of all attempts in all logs."
        )
        return Table(caption, head, rows)

    def _kinds(self):
        return [DECISIONS["frr"]]

    def _words(self):
        lines = lines_of("monitoring_glossary")
        return Facts(
            [
                *glossary(self.settings, (), "FRR,").rows,
                *(line.split(": ", 1) for line in lines),
            ],
            long=True,
        )

    def _method(self):
        first, *lines = self._lines("monitoring", attempts=self.settings["attempts"])
        lines = [" ".join([first, *self._levels()]), *lines]
        if "max_min" in self.settings["how"]:
            lines.append(
                "Rates may drift together: a ratio compares people who come at about the same time."
            )
        if self.state.findings:
            share = level_percent(1 - self.settings["level_of_first"])
            lines.append(
                "Evidence against a limit is its largest e-value so far. A limit is exceeded once it "
                f"reaches {self._enough:.3g}, the number of limits and groups "
                f"({len(self.state.findings)}) divided by {share}. Less is enough once others are "
                "exceeded (Holm)."
            )
        return lines

    def _levels(self):
        """How the levels of the last log come from its error probability, sentences."""
        checks, texts = {one["name"]: one for one in self.log.get("checks", ())}, []
        if "max_fnmr" in checks:
            texts.append(
                "The groups share that of a limit on rates equally. Each end of the interval of a "
                "rate has this part as its probability of error, so the level is one minus twice "
                f"the part, here {level_of(self.log)}."
            )
        if "max_fnmr_ratio" in checks:
            level = level_of(checks["max_fnmr_ratio"])
            texts.append(
                f"The level of a ratio is one minus the part of its limit, here {level}."
            )
        return texts


def _over_limit(finding):
    """A rate or ratio in multiples of its limit, or 0 if it is undefined."""
    return np.nan_to_num(finding.value / finding.limit)


def _is_number(when):
    """Whether a time is a number, not a date or the number of a log."""
    return when.replace(".", "").isdigit()


def _as_time(when):
    """A time, with a word before a number."""
    return f"time {when}" if _is_number(when) else when


def _name_of_logs(ends):
    """Logs by their last times, or by their numbers without times."""
    one = len(ends) == 1
    if ends[0].startswith("log "):
        of, named = "log", [end.removeprefix("log ") for end in ends]
    else:
        of, named = "the log", [f"until {_as_time(end)}" for end in ends]
    if len(ends) > MOST_NAMED:
        return f"{len(ends)} logs, the first of them {_name_of_logs(ends[:1])}"
    return f"{of}{'' if one else 's'} {listed(named)}"
