"""One log of decisions by itself: sentences about it, and the table of its limits."""

from __future__ import annotations

import numpy as np

from skfairfr._text._document import Cell, Row, Table
from skfairfr._text._words import (
    NONE,
    count,
    level_percent,
    percent,
    percents,
    printable,
    ratio,
    ratios,
)
from skfairfr.report.sections._failures import FAILED, not_captured

# Results of limits that are not known to be exceeded. No number of logs shows that one is met.
NO_EXCESS, BELOW = "no excess found", "interval below limit"
ABOVE = "above, not certain"


def table_of(log):
    """Rates of the last log by itself, and their ratio if it is limited."""
    if not log:
        return None
    checks = {one["name"]: one for one in log["checks"]}
    of_rates = checks.get("max_fnmr")
    level, rows = level_of(log), []
    one = checks.get("max_fnmr_ratio")
    if one is not None and one["groups"]:
        rows.append(_ratio_row(log, one, level))
    highest_first = np.argsort(-np.asarray(log["value"]), kind="stable")
    for group in [log["groups"][place] for place in highest_first]:
        people, attempts, rate, low, high = in_log(log, group)
        limit = (
            "" if of_rates is None else f"at most {level_percent(of_rates['limit'])}"
        )
        texts = limit or NONE, percent(rate), percents(low, high)
        texts += count(attempts), count(people)
        result = Cell(NONE)
        if of_rates:
            exceeded = certainly_above(log, group, of_rates)
            result = result_of(exceeded, rate, of_rates["limit"], high)
        rows.append(Row(f"FRR, {printable(group)}", [*map(Cell, texts), result]))
    caption = "All genuine attempts of this log, including those of known people."
    if one is not None:
        caption += (
            " The ratio is of the larger rate to the smaller one, so it and its "
            "interval are never below 1."
        )
    if checks:
        caption += " A limit is exceeded if the whole interval is above it."
    ci = f"{level} CI"
    head = ["This log", "Allowed", "Found", ci, "Attempts", "People", "Result"]
    return Table(caption, head, rows)


def _ratio_row(log, check, level):
    """The largest ratio of rates in the last log. Its level if it is not that of rates."""
    found = [in_log(log, group) for group in check["groups"]]
    ends, own = ratios(check["low"], check["high"]), level_of(check)
    ends = f"{ends} ({own})" if own != level else ends
    sums = (count(sum(row[k] for row in found)) for k in (1, 0))
    limit = f"at most {check['limit']:g}"
    cells = [*map(Cell, (limit, ratio(check["value"]), ends, *sums))]
    named = " against ".join(map(printable, check["groups"]))
    exceeded = check["verdict"] == "failed"
    result = result_of(exceeded, check["value"], check["limit"], check["high"])
    return Row(f"Largest ratio of FRR, {named}", [*cells, result])


def mostly_rejected(log):
    """That most captured attempts of the last log are rejected, in a list, or empty."""
    if not log:
        return []
    n, lost = (np.array(log[name]) for name in ("attempts", "not_captured"))
    rejected = np.rint(np.multiply(log["value"], n) - lost).sum()
    captured = (n - lost).sum()
    if rejected <= captured / 2:
        return []
    return [
        f"{percent(rejected / captured)} of the genuine attempts of this log are rejected. Are "
        "yes and no swapped?"
    ]


def without_capture(log):
    """How many attempts of the last log were not captured, in a list, or empty of none."""
    lost, n = (log.get(name, ()) for name in ("not_captured", "attempts"))
    rows = [*zip(log.get("groups", ()), n, lost, strict=True)]
    everyone = None, sum(n), sum(lost)
    failed = "attempts were not captured"
    return not_captured([everyone, *rows], failed, FAILED["reject"])


def not_judged(log):
    """Why limits could not be judged in the last log, a list of str."""
    reasons = {"max_fnmr": "rates", "max_fnmr_ratio": "ratio of rates"}
    return [
        f"The {reasons[one['name']]} of this log cannot be judged: {one['reason']}."
        for one in log.get("checks", ())
        if one["reason"]
    ]


def result_of(exceeded, value, limit, high=np.inf):
    """Result of a limit. Only the interval of a log, with its end ``high``, is below a limit."""
    if exceeded:
        return Cell("exceeded", word="failed")
    if value > limit:
        return Cell(ABOVE, word="undetermined")
    return Cell(BELOW if high <= limit else NO_EXCESS)


def certainly_above(log, group, check):
    """Whether a rate of a log certainly exceeds the limit of a check that failed."""
    low = in_log(log, group)[3]
    return check["verdict"] == "failed" and low > check["limit"]


def level_of(record):
    """The confidence level of a log, or of a check of it, in percent."""
    return f"{100 * record['confidence_level']:.5g} %"  # which is near 1 in late logs


def in_log(log, group):
    """People, attempts, rate and its interval (low, high) of a group in a log."""
    place = log["groups"].index(group)
    return [log[name][place] for name in ("people", "attempts", "value", "low", "high")]
