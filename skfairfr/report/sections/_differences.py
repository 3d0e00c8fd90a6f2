"""Differences between groups in sentences, as they are and at equal covariates."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from skfairfr._text._document import Cell, Row, Section, Table
from skfairfr._text._words import (
    TOO_FEW,
    capital,
    listed,
    p_value,
    percent,
    plural,
    printable,
    ratio,
    ratios,
    terms_of,
    who,
)
from skfairfr.report._notes import at_place, heading_of, rates_in
from skfairfr.report._records import OF_SCORES
from skfairfr.report.sections._cells import (
    level_in_percent,
    lines_of,
    of_rate,
    of_ratio,
    row_of_group,
)
from skfairfr.report.sections._indices import DISPARITIES

DIFFERS = ("higher", "lower")
# Differences that a terminal shows.
MOST_SENTENCES = 3
# More groups with too few errors are counted, not named.
MOST_NAMED = 6


def leading_findings(report):
    """Findings of all rates and attributes: significant ones first, the largest ratio first.

    For each rate and attribute: the significantly higher ones at the first operating point
    with significant ones, or the largest ratio of the lower ones there. If none is significant,
    the largest ratio with enough errors, at the first operating point that has one.
    """
    found = []
    for audit in report.audits:
        for rate in ("far", "frr"):
            of_levels = [
                [f for f in level.findings if f.rate == rate and f.group is not None]
                for level in audit.levels
            ]
            differ = [any(f.verdict in DIFFERS for f in own) for own in of_levels]
            enough = [any(f.ratio.supported for f in own) for own in of_levels]
            of_first = differ if any(differ) else enough
            place = of_first.index(True) if any(of_first) else 0
            level, own = audit.levels[place], of_levels[place]
            higher, lower = ([f for f in own if f.verdict == v] for v in DIFFERS)
            kept = higher or sorted(lower or own, key=_certain_then_large)[-1:]
            found += [(audit, level, f) for f in kept]

    def order(one):
        enough, size = _certain_then_large(one[2])
        differs = one[2].verdict in DIFFERS
        return not differs, not (differs or enough), -size

    return sorted(found, key=order)


def _certain_then_large(finding):
    """Whether a ratio rests on enough errors, and its size."""
    return finding.ratio.supported, ratio_of_larger(finding)


def ratio_of_larger(finding):
    """The larger rate over the smaller one, or 0 if both are, or if one is by chance."""
    value = finding.ratio.value
    size = 0.0 if math.isnan(value) else max(value, 1 / value if value else math.inf)
    return 0.0 if math.isinf(size) and finding.verdict not in DIFFERS else size


def sentence_of(audit, level, finding):
    """A significant difference. The group with the higher rate is named first."""
    start, (one, other), (first, second), size, few = _parts(audit, level, finding)
    rate = terms_of(audit.settings)[finding.rate].name
    higher = f"{start}{one} has a higher {rate} than {other}"
    larger, *ends = _larger(finding)
    if math.isinf(larger):
        ci = level_in_percent(audit.settings)
        ends = f"({ci} CI of this pair alone {ratios(*ends)})"
        return f"{higher}: {first} against {second} {ends}{few}."
    return f"{higher}, {size}: {first} against {second}{few}."


def sentence_of_largest_ratio(audit, level, finding):
    """The same of a difference that is not significant."""
    start, (one, other), (first, second), size, few = _parts(audit, level, finding)
    rate = terms_of(audit.settings)[finding.rate].name
    enough = ""
    if finding.ratio.supported and any(
        not f.ratio.supported and ratio_of_larger(f) > ratio_of_larger(finding)
        for f in level.findings
        if f.group is not None
    ):
        enough = " with enough errors"
    return capital(
        f"{start}the largest ratio{enough} is that of the {rate} of {one} ({first}) to that of "
        f"{other} ({second}){', ' if size.startswith('which') else ': '}{size}{few}."
    )


def _larger(finding):
    """The ratio of the larger to the smaller rate and its ends."""
    of = finding.ratio
    if of.value < 1:
        return tuple(1 / v if v else math.inf for v in (of.value, of.high, of.low))
    return of.value, of.low, of.high


def _parts(audit, level, finding):
    """Operating point, both groups and rates, the ratio, and groups with too few errors."""
    groups = finding.group, finding.reference
    values = finding.value, finding.reference_value
    size, low, high = _larger(finding)
    if finding.ratio.value < 1:
        groups, values = groups[::-1], values[::-1]
    at, ci = at_place(level, audit), level_in_percent(audit.settings)
    start = f"{capital(at)}, " if at else ""
    ends = f"({ci} CI {ratios(low, high)})"
    times = f"at least {ratio(low)}" if math.isinf(size) else ratio(size)
    if math.isinf(size) and low <= 1:
        size = f"which has no errors (ratio: {ci} CI {ratios(low, high)})"
    else:
        size = f"{times} times as high {ends}"
    few = few_groups(finding.ratio)
    few = f". The ratio is uncertain: {TOO_FEW} among {few}" if few else ""
    if finding.verdict not in DIFFERS and (low > 1 or high < 1):
        size += f", not significant among {finding.n_comparisons} comparisons"
    return start, [*map(printable, groups)], [*map(percent, values)], size, few


def overall_differences(audit):
    """Whether rates differ across all groups, a sentence for each operating point."""
    texts = []
    for level in audit.levels:
        tests = [test for test in level.overall if test.verdict != "undetermined"]
        if tests:
            texts.append(f"{_overall(audit, level, tests)}.")
    return texts


def differ_overall(report):
    """Groups that differ from all others together, though none does from the reference, in sentences."""
    texts = []
    for audit in report.audits:
        findings = [f for level in audit.levels for f in level.findings]
        known = {f.rate for f in findings if f.verdict in DIFFERS}
        for level in audit.levels:
            for test in level.overall:
                if test.verdict == "different" and test.rate not in known:
                    known.add(test.rate)
                    first = next(f for f in level.findings if f.rate == test.rate)
                    texts.append(
                        f"{_from_others(audit, level, test.rate)}. {none_from(first, audit)}"
                    )
    return texts


def _from_others(audit, level, rate):
    """Groups that have another rate than all others together, without a full stop."""
    alpha, found = 1 - audit.settings["confidence_level"], {}
    for of in level.against_others:
        if of.rate == rate and of.p_adjusted <= alpha:
            found.setdefault(DIFFERS[of.ratio.value < 1], []).append(of)
    texts = []
    for differs in filter(found.get, DIFFERS):
        own = found[differs]
        p = listed([f"p {_p_in_words(of)}" for of in own])
        texts.append(
            f"{listed([who(of.group) for of in own])} {'has' if len(own) == 1 else 'have'} a "
            f"{differs} {terms_of(audit.settings)[rate].name} than the other groups together "
            f"({p}, adjusted)"
        )
    at = at_place(level, audit)
    return capital(f"{at}, {listed(texts)}" if at else listed(texts))


def none_from(finding, audit):
    """That no group differs from the reference of a finding, in a sentence."""
    known = ", which has no errors" if finding.reference_value == 0 else ""
    return (
        f"Compared with {printable(finding.reference)} alone{known}, no {printable(audit.attribute)} "
        f"has a significantly different {terms_of(audit.settings)[finding.rate].name}."
    )


def _p_in_words(test):
    return f"{'' if test.p_adjusted < 0.001 else '= '}{p_value(test.p_adjusted)}"


def _overall(audit, level, tests):
    """Whether rates differ across all groups, without a full stop."""
    at, terms, found = at_place(level, audit), terms_of(audit.settings), []
    for test in tests:
        differs = (
            "differs"
            if test.verdict == "different"
            else "does not differ significantly"
        )
        name = terms[test.rate].name
        found.append(f"the {name} {differs} (p {_p_in_words(test)}, adjusted)")
    return capital(f"{at and f'{at}, '}across all groups {listed(found)}")


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


# Groups of more than these have no columns in a table of strata.
MOST_COLUMNS = 8


@dataclass(frozen=True)
class Stratum:
    """A stratum of the pairs, by covariates.

    Attributes
    ----------
    name : str
    far_share, frr_share : float in [0, 1]
        Share of the impostor, and of the genuine, pairs of all groups that are in common
        strata. 0 of a stratum that some group has no pairs in, which is left out.
    far_within, frr_within : tuple of float, shape (n_groups,)
        Share of the pairs of each group that are in the stratum. NaN of a group without any.
    """

    name: str
    far_share: float = field(metadata=OF_SCORES)
    far_within: tuple = field(metadata=OF_SCORES)
    frr_share: float
    frr_within: tuple


@dataclass(frozen=True)
class Control:
    """The strata by which rates are standardised.

    Attributes
    ----------
    groups : tuple of labels
        Those of the tuples of a Stratum.
    strata : tuple of Stratum
    far_lost, frr_lost : float in [0, 1]
        Share of the groups' pairs outside common strata, or nan if there is none.
    """

    groups: tuple
    strata: tuple
    far_lost: float = field(metadata=OF_SCORES)
    frr_lost: float


def names_of(audit):
    """The covariates that rates of an audit are standardised by."""
    return listed(
        [
            "difference of " * text.endswith(":gap") + printable(text.partition(":")[0])
            for text in audit.settings["control"]
        ]
    )


def at_equal(audit, name):
    """The section of standardised rates, or None."""
    if audit.control is None:
        return None
    title = f"At equal {names_of(audit)}"
    parts, terms = [differences_at_equal(audit)], terms_of(audit.settings)
    measured = rates_in(audit.groups)
    both = zip(audit.levels, audit.standardised.levels, strict=True)
    for n, (level, found) in enumerate(both):
        rows = []
        for raw, row in zip(level.rates[1:], found.rates[1:], strict=True):
            cells = [of_rate(getattr(of, r)) for r in measured for of in (raw, row)]
            rows.append(row_of_group(row.group, cells))
        raw = next(d for d in level.disparities if d.how == "max_min")
        (equal,) = found.disparities
        cells = [of_ratio(getattr(of, r)) for r in measured for of in (raw, equal)]
        rows.append(Row(capital(DISPARITIES["max_min"]), cells))
        place = f"Rates {at_place(level, audit)}".strip()
        caption = f"{place}, as they are and {title.lower()}."
        names = [terms[rate].name for rate in measured]
        both = "as it is", title.lower()
        head = ["Group", *(f"{name}, {how}" for name in names for how in both)]
        table = Table(caption, head, rows)
        parts.append(Section(f"{name}-{n}", heading_of(level, audit), [table], n > 0))
    method = [*lines_of("control"), _strata(audit, "far"), _strata(audit, "frr")]
    parts.append(Section(f"{name}-strata", "Strata", method, True))
    return Section(name, title, parts)


def differences_at_equal(audit):
    """Significant differences at equal covariates in sentences, or that there are none."""
    title = f"At equal {names_of(audit)}"
    found = [
        (level, finding)
        for level in audit.standardised.levels
        for finding in level.findings
        if finding.verdict in DIFFERS
    ]
    if not found:
        return [f"{title}, no rate differs significantly."]
    return [f"{title}: {sentence_of(audit, *of)}" for of in found]


def _strata(audit, rate):
    """A table of the strata of one rate: their weights, and the shares in each group."""
    strata, lost = audit.control.strata, getattr(audit.control, f"{rate}_lost")
    if math.isnan(lost):
        return None
    groups = audit.control.groups
    groups = groups if len(groups) <= MOST_COLUMNS else ()
    rows = []
    for stratum in strata:
        share = getattr(stratum, f"{rate}_share")
        within = getattr(stratum, f"{rate}_within")[: len(groups)]
        cells = [
            Cell(percent(share) if share else "left out"),
            *map(Cell, map(percent, within)),
        ]
        rows.append(Row(printable(stratum.name), cells))
    kind = terms_of(audit.settings)[rate]
    caption = (
        f"Strata of the {kind.name}: the weight of each, and its share of the {kind.trials} of "
        f"each group. {percent(lost)} of them are in no stratum that all groups have."
    )
    return Table(caption, ["Stratum", "Weight", *map(printable, groups)], rows)
