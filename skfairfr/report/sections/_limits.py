"""Limits in a table and in sentences."""

import math

import numpy as np

from skfairfr._core._rates import exceeds
from skfairfr._text._document import Cell, Row, Table
from skfairfr._text._words import (
    TOO_FEW,
    accepted,
    by_attribute,
    capital,
    level_percent,
    listed,
    number,
    numbers,
    percent,
    percents,
    plural,
    printable,
    ratio,
    ratios,
    terms_of,
    who,
)
from skfairfr.report._notes import at_place, of_groups
from skfairfr.report._policy import COST_LIMITS, LIMITS, RATE_LIMITS, limited
from skfairfr.report._records import CostCheck
from skfairfr.report.sections._cells import few_of, level_in_percent
from skfairfr.report.sections._costs import NAMES
from skfairfr.report.sections._differences import named_or_counted

LIMITED = {
    "max_fmr": "{rate} of {whom}",
    "max_fnmr": "{rate} of {whom}",
    "max_bfar": "largest over smallest {rate} (BFAR)",
    "max_bfrr": "largest over smallest {rate} (BFRR)",
    "max_fmr_ratio": "largest over smallest {rate}",
    "max_fnmr_ratio": "largest over smallest {rate}",
    "max_fmr_geomean_ratio": "largest {rate} over the geometric mean",
    "max_fnmr_geomean_ratio": "largest {rate} over the geometric mean",
}
RESULTS = {"failed": "exceeded", "passed": "met", "undetermined": "undetermined"}
CAPTION = "Limits set by whoever ran this report, those that are exceeded first."
# More groups that exceed a limit are counted, not named.
MOST_NAMED = 4


def table_of_limits(report):
    """All limits, those that are exceeded first."""
    ci, checks = level_in_percent(report.audits[0].settings), sorted_checks(report)
    head = ["Limit", "Allowed", _whose(checks), "Found", f"{ci} CI", "Result"]
    if all(check.name in RATE_LIMITS for check in checks):
        head[4] += ", each alone"
    rows = [row_of_limit(check, report) for check in checks]
    return Table(CAPTION, head, rows)


def how_limits_are_judged(report):
    """The rule for each result, below the table of limits, in sentences. None without limits."""
    if not report.checks:
        return None
    adjusted = whose = all_ = shown_as = ""
    names = {check.name for check in report.checks}
    if any(audit.attribute for audit in report.audits):
        adjusted = ", adjusted for the number of groups of the check,"
        if names & {*RATE_LIMITS, *COST_LIMITS}:
            whose = " of every group"
            all_ = "; this needs no adjustment, as all groups must meet it"
            kinds = "rates and costs" if names & {*COST_LIMITS} else "rates"
            shown_as = (
                f" Intervals of {kinds} are shown before the adjustment. The adjusted lower "
                "ends are in the JSON: of a rate, one-sided with the error probability "
                "divided by the number of groups."
            )
    text = (
        f"Exceeded: the lower end of the interval{adjusted} is above the limit. Met: the upper "
        f"end{whose} is at or below it{all_}. Undetermined: neither.{shown_as}"
    )
    if adjusted and names & {*LIMITS} - {*RATE_LIMITS}:
        text += " The lower ends of ratios include the adjustment."
    if len(report.checks) > 1:
        text += f" There is no adjustment for the number of {limit_or_check(report)}s."
    if any(check.verdict == "passed" and check.attribute for check in report.checks):
        text += " A limit that is met does not mean that groups have equal rates."
    return f"{text}{_inside_a_group(report)}"


def _whose(checks):
    """The head of the column of groups: those of rates have the highest one."""
    names = {check.name for check in checks if check.name in LIMITS}
    if names <= {*RATE_LIMITS}:
        return "Highest group"
    return "Highest group, or pair" if names & {*RATE_LIMITS} else "Groups"


def _inside_a_group(report):
    """A group that meets a limit and contains a combination that exceeds it, in a sentence."""
    for check in report.checks:
        if check.name not in RATE_LIMITS or check.verdict != "passed":
            continue
        audit = audit_of(check, report)
        for row in audit.levels[place_in(check, audit)].rates[1:]:
            if inner := combination_inside(check, row.group, report):
                return (
                    f" {who(row.group)} meets the limit but contains {who(inner)}, which "
                    "exceeds it."
                )
    return ""


def combination_inside(check, group, report):
    """A combination within a group that exceeds the limit of a check on rates, or None."""
    if check.name not in RATE_LIMITS:
        return None
    about = check.name, check.limit, check.far, check.threshold
    return next(
        (
            inner
            for of in sorted_checks(report)
            if of.verdict == "failed" and of.name in RATE_LIMITS
            if (of.name, of.limit, of.far, of.threshold) == about
            for inner in of.groups
            if contains((check.attribute, group), (of.attribute, inner))
        ),
        None,
    )


def contains(of, whole):
    """Whether a combination is part of a group of fewer of its attributes.

    Parameters
    ----------
    of, whole : tuple of (str, label)
        An attribute and its group. Those of combinations are joined by " & ".
    """
    parts, members = (
        set(zip(*(str(text).split(" & ") for text in pair), strict=False))
        for pair in (of, whole)
    )
    return parts < members


def limits_in_short(report, most):
    """The first limits in sentences, those that are exceeded first, for a terminal."""
    checks = sorted_checks(report)
    most -= len(checks) > most  # for the line that counts the others
    texts = [sentence_of_check(check, report) for check in checks[:most]]
    if others := [RESULTS[check.verdict] for check in checks[most:]]:
        counted = [f"{others.count(word)} {word}" for word in dict.fromkeys(others)]
        texts.append(
            f"{plural(len(others), f'more {limit_or_check(report)}')}: {listed(counted)}."
        )
    return texts


def limit_or_check(report):
    """The word for what is counted: a limit at several operating points is several checks."""
    n_limits = len({(check.name, check.limit) for check in report.checks})
    return "limit" if n_limits == len(report.checks) else "check"


def sorted_checks(report):
    """All checks, the one that a headline is about first.

    Those that fail are first. For one result, those at levels that the data resolve, then the
    limits with the largest finite excess. For one limit, the operating point with the most
    errors, which is the most certain.
    """
    worst_first = ("failed", "undetermined", "passed").index
    known, excess = sorted(report.checks, key=lambda c: -_errors(c, report)), {}

    def kind(check):
        told_nothing = bool(check.reason), not math.isfinite(check.figure.value)
        unresolved = _is_below_resolution(check, report)
        about = check.name, check.limit, check.attribute
        return worst_first(check.verdict), *told_nothing, unresolved, about

    for check in known:
        excess.setdefault(kind(check), check.figure.value / check.limit)
    # A limit without a number is the last of its kind.
    return sorted(
        known, key=lambda c: (kind(c)[:4], -np.nan_to_num(excess[kind(c)], nan=0.0))
    )


def _is_below_resolution(check, report):
    """Whether one impostor trial of everyone exceeds the level of a check."""
    if getattr(check, "far", None) is None:
        return False
    return exceeds(1, check.far * audit_of(check, report).groups[0].n_impostor)


def _errors(check, report):
    """Errors that the number of a check rests on: of two groups, those of the one with fewer."""
    if check.name not in LIMITS:
        return 0
    audit = audit_of(check, report)
    rate, *_ = limited(check.name, audit.settings)
    errors = {
        row.group: getattr(row, f"{rate}_errors") or 0
        for row in audit.levels[place_in(check, audit)].rates
    }
    return min((errors[group] for group in _shown(check)), default=0)


def _shown(check):
    """Groups that the number of a check is of."""
    return check.groups[:1] if check.name in RATE_LIMITS else check.groups


def place_in(check, audit):
    """Position of the level of a check among those of its audit. The first of a cost."""
    if isinstance(check, CostCheck):
        return 0
    return next(
        n
        for n, of in enumerate(audit.levels)
        if of.far == check.far
        and check.threshold in (of.threshold, of.worst_group_threshold)
    )


def row_of_limit(check, report):
    """A limit by name, with its groups, number, interval and result."""
    audit = audit_of(check, report)
    cells = [
        Cell(f"at most {allowed(check)}"),
        Cell(_shown_groups(check, audit), more=_more(check, audit)),
        Cell(shown(check)(check.figure.value), few=_few_of_check(check)),
        Cell(interval_of_limit(check, audit)),
        Cell(
            RESULTS[check.verdict],
            more=results_of_others(check, audit),
            word=check.verdict,
        ),
    ]
    name = f"{limited_in_words(check, audit)}{check.attribute and ','}{by_attribute(check.attribute)}"
    name = capital(name) if check.name in LIMITS else name
    return Row(name, cells, place_of_check(check, audit))


def results_of_others(check, audit):
    """Whether other groups meet a limit of each group, or how many do."""
    if check.name not in RATE_LIMITS or check.verdict == "passed" or check.reason:
        return ""
    rate, *_ = limited(check.name, audit.settings)
    found = {}
    for row in audit.levels[place_in(check, audit)].rates[1:]:
        if row.group not in (*check.groups, *check.not_covered):
            met = getattr(row, rate).high <= check.limit
            word = RESULTS["passed" if met else "undetermined"]
            found.setdefault(word, []).append(row.group)
    words = [word for word in RESULTS.values() if word in found]
    if len(words) < 2:
        return f"others {words[0]}" if words else ""
    counted = [
        f"{who(found[word][0]) if len(found[word]) == 1 else len(found[word])} {word}"
        for word in words
    ]
    return f"others: {', '.join(counted)}"


def _few_of_check(check):
    """The mark of too few errors. An excess is certain, and only its size is not."""
    few = few_of(check.figure)
    return f"size uncertain: {few}" if few and check.verdict == "failed" else few


def name_of_metric(check):
    """The name of a metric of the user's, or the cost of whom the number is."""
    if isinstance(check, CostCheck):
        return f"the {NAMES[check.cost]} of {groups_of(check)}"
    return printable(check.name.removeprefix("max_"))


def limited_in_words(check, audit):
    """The rate, ratio of rates or cost that a limit is about."""
    if isinstance(check, CostCheck):
        return f"{NAMES[check.cost]} of everyone{check.attribute and ' and each group'}"
    if check.name not in LIMITS:
        return name_of_metric(check)
    rate = _kind(check, audit).name
    whom = "each group" if check.attribute else "everyone"
    return LIMITED[check.name].format(rate=rate, whom=whom)


def short_name(check, audit):
    """The name of the rate of a limit of each group, or else of what a limit is about."""
    of_each = check.name in RATE_LIMITS and check.attribute
    return _kind(check, audit).name if of_each else limited_in_words(check, audit)


def place_of_check(check, audit):
    """The operating point of a limit in words, with the threshold, if groups set it."""
    if check.name not in LIMITS or LIMITS[check.name][1] == "overall":
        return at_place(check, audit)
    there = accepted(check.threshold, audit.settings)
    far = terms_of(audit.settings).far.name
    return f"if no group's {far} exceeds {level_percent(check.far)}, {there}"


def audit_of(check, report):
    """The audit that a check is of."""
    found = (a for a in report.audits if any(c is check for c in a.checks))
    return next(found, report.audits[0])


def shown(check):
    """The function that writes the numbers of a limit."""
    if check.name not in LIMITS:
        return number
    return percent if check.name in RATE_LIMITS else ratio


def allowed(check):
    """The limit, as it was given."""
    of_rate = check.name in RATE_LIMITS
    return level_percent(check.limit) if of_rate else f"{check.limit:g}"


def groups_of(check):
    """The group that the number is of, or the two."""
    if check.name not in (*LIMITS, *COST_LIMITS):
        return "all groups"
    if not check.groups:
        return "none"
    if check.name not in LIMITS or check.name in RATE_LIMITS or len(check.groups) == 1:
        return who(check.groups[0])
    return f"{printable(check.groups[0])} against {printable(check.groups[1])}"


def ratio_over_none(check, audit):
    """The highest rate, the groups without errors, and the bound of the largest ratio."""
    (highest, *_), low = own_figures(check, audit), check.figure.low
    ci, limit = level_in_percent(audit.settings), f"{allowed(check)} times"
    ends = f"{ci} CI {percents(highest.low, highest.high)}"
    whose = f"the {_kind(check, audit).name} of {who(check.groups[0])}"
    which = "largest ratio of any two groups" if len(audit.groups) > 3 else "ratio"
    known_bound = f"With {ci} confidence the {which} is at least {ratio(low)}"
    if low <= 1:
        known_bound = f"No lower bound of the {which} is known"
    end = f"; the limit of {limit} is neither met nor exceeded"
    if check.verdict == "failed":
        end = f", above the limit of {limit}"
    without = _without_errors(check, audit)
    known = {percents(of.low, of.high) for of in without.values()}
    ends_of_none = f"up to {percent(max(of.high for of in without.values()))}"
    if len(known) == 1:
        ends_of_none = f"{known.pop()}{' each' if len(without) > 1 else ''}"
    none = f"{named_or_counted([*map(who, without)])} 0 % ({ends_of_none})"
    return f"{whose} is {percent(highest.value)} ({ends}), that of {none}. {known_bound}{end}."


def _without_errors(check, audit):
    """Label -> rate of the groups without errors at the operating point of a check."""
    kind, *_ = limited(check.name, audit.settings)
    rows = of_groups(audit.levels[place_in(check, audit)].rates)
    found = {row.group: getattr(row, kind) for row in rows}
    return {group: rate for group, rate in found.items() if rate.value == 0}


def _shown_groups(check, audit):
    """The group that the number is of. All groups if each has a rate of 0.

    An infinite ratio is that of one group to all without errors.
    """
    if math.isinf(check.figure.value) and own_figures(check, audit):
        none = named_or_counted([*map(who, _without_errors(check, audit))])
        return f"{who(check.groups[0])} against {none}"
    if check.name in RATE_LIMITS and check.attribute and check.figure.value == 0:
        rows = audit.levels[place_in(check, audit)].rates[1:]
        rate, *_ = limited(check.name, audit.settings)
        if all(getattr(row, rate).value == 0 for row in rows):
            return f"all groups equal, interval of {groups_of(check)}"
    return groups_of(check)


def _more(check, audit):
    """Other groups that exceed the limit, or may, and those that it is not about."""
    texts, others = [], check.groups[1:]
    if check.name in (*RATE_LIMITS, *COST_LIMITS) and others:
        named = listed([*map(who, others[:MOST_NAMED])])
        if len(others) > MOST_NAMED:
            named = f"{len(others)} other groups"
        verb = "exceed" if check.verdict == "failed" else "may exceed"
        texts.append(f"also {verb} it: {named}")
    if highest := higher_than_shown(check, audit):
        texts.append(highest)
    if check.not_covered:
        left_out = ", ".join(map(printable, check.not_covered))
        trials = terms_of(audit.settings).trials
        texts.append(f"not judged for lack of {trials}: {left_out}")
    return "; ".join(texts)


def higher_than_shown(check, audit):
    """The highest rate in words, if the group that exceeds a limit has a lower one."""
    if check.name not in RATE_LIMITS or check.verdict != "failed":
        return ""
    rate, *_ = limited(check.name, audit.settings)
    figures = {
        row.group: getattr(row, rate)
        for row in of_groups(audit.levels[place_in(check, audit)].rates)
    }
    group = max(figures, key=lambda one: np.nan_to_num(figures[one].value, nan=-1))
    highest = figures[group]
    if highest.value <= check.figure.value:
        return ""
    few = "" if highest.supported else f" ({TOO_FEW})"
    return f"the highest rate, {percent(highest.value)}, is that of {who(group)}{few}"


def own_figures(check, audit):
    """Rates of the groups that a check names, at its threshold, or of one for a limit of rates.

    Empty for two groups at a threshold of their own (BFAR, BFRR), and for a geometric mean.
    """
    if isinstance(check, CostCheck):
        about = check.cost, check.p_target, check.groups[0]
        rows = (row for row in audit.costs if (row.cost, row.p_target) == about[:2])
        return [row.figure for row in rows if row.group == about[2]]
    rate, point, how = limited(check.name, audit.settings)
    if point != "overall" or how == "max_geomean":
        return []
    rows = audit.levels[place_in(check, audit)].rates
    of_group = {row.group: getattr(row, rate) for row in rows}
    return [of_group[group] for group in _shown(check)]


def interval_of_limit(check, audit):
    """The interval of the groups shown, and another group's bound if that one decides."""
    found = check.figure
    if check.reason:
        return check.reason
    if check.name not in (*LIMITS, *COST_LIMITS):
        return numbers(found.low, found.high)
    if not check.groups:
        return f"none: too few groups have {_trials_of(check, audit)}"
    if math.isnan(found.high):
        if check.name in COST_LIMITS:
            return "none: it is undefined in too many resamples"
        return f"none: one person alone has {_trials_of(check, audit)}"
    if check.name in (*RATE_LIMITS, *COST_LIMITS):
        return interval_of_rate(check, *own_figures(check, audit))
    ends = ratios(found.low, found.high)
    if check.decided_by and check.decided_by[0] != check.groups[0]:
        return f"{ends}, for {printable(check.decided_by[0])}"
    return ends if check.decided_by else f"{ends}, of the largest ratio"


def _trials_of(check, audit):
    """The trials that a limit is about, in words."""
    return _kind(check, audit).trials


def _kind(check, audit):
    rate, *_ = limited(check.name, audit.settings)
    return terms_of(audit.settings)[rate]


def interval_of_rate(check, own):
    """The group's own interval. A bound of the check if the conclusion rests on it."""
    write, between = (
        (percent, percents) if check.name in RATE_LIMITS else (number, numbers)
    )
    ends, low, high = between(own.low, own.high), check.figure.low, check.figure.high
    if (decides := check.decided_by[0]) != check.groups[0]:
        return f"{ends}; {who(decides)} up to {write(high)}"
    if check.verdict == "undetermined" and own.low > check.limit:
        return f"{ends}, adjusted lower end {write(low)}"
    return ends


def sentence_of_check(check, report):
    """A check in one sentence."""
    row, settings = row_of_limit(check, report), audit_of(check, report).settings
    allowed_, groups, found, ends, result = row.cells
    if not check.groups and not check.reason and check.name in LIMITS:
        audit = audit_of(check, report)
        return (
            f"{capital(result.text)}: {row.line}, {allowed_.line}: too few groups have "
            f"{_trials_of(check, audit)}."
        )
    ends, _, whose = ends.line.partition(", of the ")
    interval = f"{level_in_percent(settings)} CI{whose and f' of the {whose}'} {ends}"
    interval = check.reason or interval
    more = groups.more and f"; {groups.more}"
    text = f"{capital(result.text)}: {row.line}, {allowed_.line}: "
    return f"{text}{groups.text} {found.line} ({interval}){more}."


def name_of(check, report):
    """Name, limit and operating point of a check."""
    audit = audit_of(check, report)
    name = f"{limited_in_words(check, audit)}{by_attribute(check.attribute)}"
    place = place_of_check(check, audit)
    return ", ".join(filter(None, (name, f"at most {allowed(check)}", place)))
