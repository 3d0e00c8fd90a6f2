"""Differences between groups in sentences, the largest first."""

import math

from skfairfr._text._words import (
    TOO_FEW,
    capital,
    listed,
    percent,
    plural,
    printable,
    ratio,
    ratios,
    terms_of,
)
from skfairfr.report._notes import at_place
from skfairfr.report.sections._cells import level_in_percent

DIFFERS = ("higher", "lower")
# Differences that a terminal shows.
MOST_SENTENCES = 5
# More groups with too few errors are counted, not named.
MOST_NAMED = 6


def leading_findings(report):
    """Findings of all rates and attributes: significant ones first, the largest ratio first.

    For each rate and attribute: the significantly higher ones at the first operating point
    with significant ones, or at the first of all. Without any, the largest ratio of the lower
    ones, or of all.
    """
    found = []
    for audit in report.audits:
        for rate in ("far", "frr"):
            of_levels = [
                [f for f in level.findings if f.rate == rate and f.group is not None]
                for level in audit.levels
            ]
            differ = [any(f.verdict in DIFFERS for f in own) for own in of_levels]
            place = differ.index(True) if any(differ) else 0
            level, own = audit.levels[place], of_levels[place]
            higher, lower = ([f for f in own if f.verdict == v] for v in DIFFERS)
            kept = higher or sorted(lower or own, key=_ratio_of_larger)[-1:]
            found += [(audit, level, f) for f in kept]

    def order(one):
        return one[2].verdict not in DIFFERS, -_ratio_of_larger(one[2])

    return sorted(found, key=order)


def _ratio_of_larger(finding):
    """The larger rate over the smaller one, or 0 if both are, or if one is by chance."""
    value = finding.ratio.value
    size = 0.0 if math.isnan(value) else max(value, 1 / value if value else math.inf)
    return 0.0 if math.isinf(size) and finding.verdict not in DIFFERS else size


def sentence_of(audit, level, finding):
    """A significant difference. The group with the higher rate is named first."""
    start, (one, other), (first, second), size, few = _parts(audit, level, finding)
    rate = terms_of(audit.settings)[finding.rate].name
    return (
        f"{start}{one} has a higher {rate} than {other}: {first} against {second}, "
        f"{size}{few}."
    )


def sentence_of_largest_ratio(audit, level, finding):
    """The same of a difference that is not significant."""
    start, (one, other), (first, second), size, few = _parts(audit, level, finding)
    rate = terms_of(audit.settings)[finding.rate].name
    return capital(
        f"{start}the largest ratio is that of the {rate} of {one} ({first}) to that of "
        f"{other} ({second}): {size}{few}."
    )


def _parts(audit, level, finding):
    """Operating point, both groups and rates, the ratio, and groups with too few errors."""
    groups = finding.group, finding.reference
    values = finding.value, finding.reference_value
    size, low, high = finding.ratio.value, finding.ratio.low, finding.ratio.high
    if size < 1:
        groups, values = groups[::-1], values[::-1]
        size, low, high = (1 / v if v else math.inf for v in (size, high, low))
    at, ci = at_place(level, audit), level_in_percent(audit.settings)
    start = f"{capital(at)}, " if at else ""
    ends = f"({ci} CI {ratios(low, high)})"
    times = f"at least {ratio(low)}" if math.isinf(size) else ratio(size)
    if math.isinf(size) and low <= 1:
        size = f"{printable(groups[1])} has no errors {ends}"
    else:
        size = f"{times} times as high {ends}"
    few = few_groups(finding.ratio)
    few = f". The ratio is uncertain: {TOO_FEW} among {few}" if few else ""
    if finding.verdict not in DIFFERS and (low > 1 or high < 1):
        size += f", not significant among {finding.n_comparisons} comparisons"
    return start, [*map(printable, groups)], [*map(percent, values)], size, few


def few_groups(figure):
    """Groups whose errors are too few for a figure, in words, or empty of none."""
    groups = dict.fromkeys(g for reason in figure.reasons for g in reason.groups or ())
    return named_or_counted([*map(printable, groups)]) if groups else ""


def named_or_counted(groups):
    """Groups, or their number if there are many."""
    return listed(groups) if len(groups) <= MOST_NAMED else f"{len(groups)} groups"


def in_sentences(differences):
    """The first significant differences in sentences, and how many more there are."""
    texts = [sentence_of(*one) for one in differences[:MOST_SENTENCES]]
    if len(differences) > MOST_SENTENCES:
        more = plural(len(differences) - MOST_SENTENCES, "further difference")
        texts.append(f"{more}.")
    return texts
