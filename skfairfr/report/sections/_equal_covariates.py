"""Ratios of rates at equal covariates, by one regression of each rate: of ExplainedErrors."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from skfairfr._core._support import MIN_ERRORS
from skfairfr._text._document import Cell, Figure, Row, Table
from skfairfr._text._words import (
    NO_DIFFERENCE,
    TOO_FEW,
    capital,
    given_point,
    level_percent,
    listed,
    number,
    numbers,
    p_value,
    printable,
    ratio,
    ratios,
)
from skfairfr.metrics._explain import DIFFERENT
from skfairfr.report._figures import changes, rate_curve
from skfairfr.report.sections._cells import level_in_percent

# Sentences at a terminal.
MOST_TOLD = 3
OF_RATIOS = {("raw", None): "raw", ("equal", None): "all else equal"}


def explained(report):
    """Parts of an audit's section: threshold and regressors, a table and a figure."""
    found = report.explained
    used = next(iter(found.explanations.values())).covariates
    at = place_of_threshold(found) or "At the threshold of the decisions"
    by = listed(["groups", *map(printable, used)]) if used else "groups alone"
    of_what = f"{at}, by one regression of each rate on {by}."
    return [of_what, table(found), figure(found)]


def place_of_threshold(found):
    """The threshold of scores, and the level that set it, or empty of decisions."""
    if found.threshold is None:
        return ""
    at = f"At {given_point(found.threshold, found.settings)}"
    if found.level:
        at += f" ({found.settings['level_of']} {level_percent(found.level)})"
    return at


def explained_in_short(report):
    """Sentences about the largest ratios, a list."""
    rows = [r for r in largest_first(report.explained) if r[2].group != DIFFERENT]
    return [capital(sentence(report.explained, row)) for row in rows[:MOST_TOLD]]


def largest_first(found):
    """Rate, Explanation, ratio and adjusted p of each ratio: those that differ raw first.

    All ratios of two groups are turned if the first of them is below 1, unless they are of
    combinations, whose regression has other rows.
    """

    def harm(row):
        one = row[2]
        differs = not one.raw_low <= 1 <= one.raw_high
        return one.group != DIFFERENT, differs, abs(np.log(one.raw))

    rows = [
        (name, of, one, p)
        for name, of in found.explanations.items()
        for one, p in zip(of.ratios, found.adjusted[name], strict=True)
    ]
    rows, lower = sorted(rows, key=harm, reverse=True), {}
    for _, _, one, _ in rows:
        plain = one.group != DIFFERENT and " & " not in one.attribute
        lower.setdefault(_groups(one), plain and one.raw_high < 1)
    return [
        (name, of, _turned(one, of) if lower[_groups(one)] else one, p)
        for name, of, one, p in rows
    ]


def _turned(one, of):
    """The ratio of the reference to the group."""
    own, numbers = [r for r in of.ratios if r.attribute == one.attribute], {}
    for total in ("n_errors", "n_trials"):
        numbers[total] = getattr(of, total) - sum(getattr(r, total) for r in own)
    numbers |= {"raw": 1 / one.raw, "ratio": 1 / one.ratio}
    numbers |= {"raw_low": 1 / one.raw_high, "raw_high": 1 / one.raw_low}
    numbers |= {"low": 1 / one.high, "high": 1 / one.low}
    numbers |= {"difference": -one.difference}
    numbers |= {"difference_low": -one.difference_high}
    numbers |= {"difference_high": -one.difference_low}
    return replace(one, group=one.reference, reference=one.group, **numbers)


def compares_at_equal(found):
    """Whether ratios are at equal values of something: a covariate, or a second attribute."""
    every = list(found.explanations.values())
    attributes = {r.attribute for of in every for r in of.ratios}
    return len(attributes) > 1 or any(of.covariates for of in every)


def sentence(found, row):
    """A ratio as it is, at equal covariates, and whether it differs from 1."""
    name, of, one, p = row
    others = [r.attribute for r in of.ratios if " & " not in r.attribute]
    others = [n for n in others if n not in one.attribute.split(" & ")]
    equal = listed([*map(printable, dict.fromkeys([*of.covariates, *others]))] or [""])
    ends = f"({level_in_percent(found.settings)} CI {ratios(one.low, one.high)})"
    how = f"{ratio(one.ratio)} times that of {printable(one.reference)}"
    if equal:
        how = f"{ratio(one.raw)} times that of {printable(one.reference)}"
        how += f", and {ratio(one.ratio)} times at equal {equal}"
    verdict = _verdict(found, one, p)
    if verdict == NO_DIFFERENCE and not one.low <= 1 <= one.high:
        n_ratios = sum(len(e.ratios) for e in found.explanations.values())
        verdict = f"not significant among {n_ratios} ratios (p {p_value(p)})"
    elif verdict != NO_DIFFERENCE:
        verdict = f"significantly {verdict}"
    few = f" The ratio is uncertain: {TOO_FEW}." if _has_few(one, of) else ""
    return f"the {name} of {_group(one)} is {how} {ends}: {verdict}.{few}"


def _has_few(one, of):
    """Whether the group or the reference of a ratio has too few errors."""
    own = [r for r in of.ratios if r.attribute == one.attribute]
    errors = {r.group: r.n_errors for r in own}
    if " & " not in one.attribute:
        errors[own[0].reference] = of.n_errors - sum(errors.values())
    known = (errors.get(g, MIN_ERRORS) for g in (one.group, one.reference))
    return min(known) < MIN_ERRORS


def _group(one):
    """The first group of a ratio in words."""
    return "pairs across groups" if one.group == DIFFERENT else printable(one.group)


def _groups(one):
    return f"{_group(one)} against {printable(one.reference)}"


def _verdict(found, one, p):
    if "withheld" in found.settings:
        return "undetermined"
    if p >= 1 - found.settings["confidence_level"]:
        return NO_DIFFERENCE
    return "higher" if one.ratio > 1 else "lower"


def table(found):
    """Every ratio and difference, raw and at equal covariates, the largest first."""
    rows, every, equal = [], largest_first(found), compares_at_equal(found)
    for name, of, one, p in every:
        verdict, few = _verdict(found, one, p), TOO_FEW if _has_few(one, of) else ""
        word = "" if verdict == NO_DIFFERENCE else verdict
        between = numbers(100 * one.difference_low, 100 * one.difference_high)
        cells = [
            Cell(f"{one.n_errors:,.0f}"),
            Cell(ratio(one.raw), ratios(one.raw_low, one.raw_high), few=few),
            *[Cell(ratio(one.ratio), ratios(one.low, one.high))] * equal,
            Cell(number(100 * one.difference), between),
            Cell(f"{word and word + ', '}p {p_value(p)}", word=word),
        ]
        rows.append(Row(_groups(one), cells, name))
    head = ["Groups", "Errors of the first", "Ratio", "% points", "Result"]
    if equal:
        head[2:4] = "Ratio, raw", "Ratio, all else equal", "% points, all else equal"
    caption = (
        "Rate of the first group over that of the second, and difference in percentage points. "
        f"{level_in_percent(found.settings)} CI. p is adjusted for the number of ratios."
    )
    return Table(caption, head, rows)


def figure(found):
    """Ratios of each rate with their intervals, raw and at equal covariates, and the curves."""

    equal = compares_at_equal(found)

    def draw():
        drawn, every = [], largest_first(found)
        for name, of in found.explanations.items():
            kind, rows = found.kinds[name], []
            for one, p in [row[2:] for row in every if row[0] == name]:
                raw = "higher" if one.raw_low > 1 else "lower"
                raw = raw if one.raw_high < 1 or one.raw_low > 1 else NO_DIFFERENCE
                adjusted = _verdict(found, one, p)
                for far, verdict, *ends in (
                    ("raw", raw, one.raw, one.raw_low, one.raw_high),
                    ("equal", adjusted, one.ratio, one.low, one.high),
                )[: 1 + equal]:
                    values = zip(
                        ("ratio", "ratio_low", "ratio_high"), ends, strict=True
                    )
                    about = {"attribute": one.attribute, "group": _groups(one)}
                    about |= {"far": far, "threshold": None, "verdict": verdict}
                    rows.append(SimpleNamespace(**about, **dict(values)))
            about = f"{kind.title} of groups over others"
            about += ", raw and all else equal" if equal else ""
            drawn.append(changes(rows, kind, OF_RATIOS, (), "ratio of groups", about))
            drawn += [
                rate_curve(of, curve.name, kind, found.limit_of(name))
                for curve in of.curves
            ]
        return drawn

    caption = "Ratios with their intervals"
    caption += ", raw and at equal values of all else." if equal else "."
    if any(of.curves for of in found.explanations.values()):
        caption += " Rates with their intervals at each value, and (lighter) at all values at once."
    return Figure(caption, draw, "ratios-explained")
