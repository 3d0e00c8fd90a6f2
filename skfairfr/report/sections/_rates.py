"""Error rates of every group, their ratios to the reference, counts, and both averages."""

from dataclasses import replace
from itertools import product
from operator import attrgetter

import numpy as np

from skfairfr._core._kinds import SEARCHES
from skfairfr._text._document import Cell, Figure, Row, Table
from skfairfr._text._words import (
    NO_DIFFERENCE,
    NONE,
    TOO_FEW,
    by_attribute,
    capital,
    count,
    listed,
    p_value,
    percent,
    plural,
    printable,
    terms_of,
    who,
)
from skfairfr.report._figures import group_rates, ratios_to_reference
from skfairfr.report._notes import at_place, of_groups, rates_in
from skfairfr.report._policy import RATE_LIMITS, limited, limits_of
from skfairfr.report._verdicts import SHARE_OF_OVERALL
from skfairfr.report.sections._cells import (
    beside,
    concluded,
    few_of,
    level_in_percent,
    of_people,
    of_rate,
    of_ratio,
    row_of_group,
)
from skfairfr.report.sections._differences import named_or_counted
from skfairfr.utils._bands import in_ascending_order


def rates_and_ratios(level, audit, everyone=True):
    """Both rates of every group with their ratios to the reference.

    The first row is ``everyone``, if asked.
    """
    measured, ci = rates_in(audit.groups), level_in_percent(audit.settings)
    findings = {(f.rate, f.group): f for f in level.findings}
    # Everyone alone has no ratio.
    n_columns = 2 if level.findings else 1
    references = {f.rate: f.reference for f in level.findings if f.group is not None}
    size = {row.group: row for row in audit.groups}
    rows = []
    for row in level.rates[not everyone :]:
        cells = [of_people(size[row.group])]
        for rate in measured:
            found = findings.get((rate, row.group))
            is_reference = row.group is not None and references.get(rate) == row.group
            few = few_of(getattr(row, rate))
            ratio = Cell("reference") if is_reference else _ratio(found, few)
            cells += [of_rate(getattr(row, rate)), ratio][:n_columns]
        rows.append(row_of_group(row.group, cells))
    head, terms = ["Group", "People"], terms_of(audit.settings)
    for rate in measured:
        whom = printable(references.get(rate, "reference"))
        both = [
            f"{terms[rate].name} ({ci} CI)",
            f"{terms[rate].name} over {whom} ({ci} CI)",
        ]
        head += both[:n_columns]
    return Table(_caption(level, audit), head, rows)


def with_ranges_ascending(measured):
    """An audit, or a Measured of a comparison, whose groups ascend if they are ranges."""
    groups = [row.group for row in measured.groups[1:]]
    return in_one_order(measured) if in_ascending_order(groups) else measured


def in_one_order(audit):
    """The audit with its groups in the order of all tables and figures.

    Ranges, as of ages, ascend. Other groups are sorted by their first rate at the first
    operating point, and if those are equal by the second, highest first. Everyone is before
    all groups.
    """
    measured, (_, *rows) = rates_in(audit.groups), audit.levels[0].rates

    def rates_of(row):
        return [np.nan_to_num(getattr(row, r).value, nan=-1.0) for r in measured]

    ordered = in_ascending_order([row.group for row in rows])
    ordered = ordered or [r.group for r in sorted(rows, key=rates_of, reverse=True)]
    place = {group: n for n, group in enumerate(ordered)} | {None: -1}
    names = "rates", "generalised", "findings", "against_others"

    def sort(rows):
        # Findings of one rate follow those of the other.
        by_rate = attrgetter("rate") if hasattr(rows[0], "rate") else lambda _: ""
        # A group without any template has generalised rates alone.
        last = len(place)
        return tuple(
            sorted(rows, key=lambda row: (by_rate(row), place.get(row.group, last)))
        )

    def level_in_order(level):
        sorted_ = {name: sort(of) for name in names if (of := getattr(level, name))}
        if level.matrix is not None:
            groups = sorted(level.matrix.groups, key=place.get)
            places = [*map(level.matrix.groups.index, groups)]
            sorted_["matrix"] = level.matrix.take(places)
        return replace(level, **sorted_)

    others = {
        name: replace(of, levels=tuple(map(level_in_order, of.levels)))
        for name in ("averaged", "standardised")
        if (of := getattr(audit, name, None)) is not None
    }
    if audit.curves is not None:
        groups = audit.curves.groups
        places = sorted(range(len(groups)), key=lambda k: place[groups[k]])
        others["curves"] = audit.curves.take(places)
    if failures := getattr(audit, "failures", ()):
        others["failures"] = sort(failures)
    levels = tuple(map(level_in_order, audit.levels))
    return replace(audit, groups=sort(audit.groups), levels=levels, **others)


def _caption(level, audit):
    texts = [f"Error rates {at_place(level, audit)}".strip()]
    terms = terms_of(audit.settings)
    if references_of(level, terms):
        n = max(f.n_comparisons for f in level.findings)
        alpha = 100 * (1 - audit.settings["confidence_level"])
        texts[0] += f", and their ratios to those of {references_of(level, terms)}"
        texts.append(
            f"Higher and lower are significant among all {plural(n, 'comparison')}: if all "
            f"groups had the same rates, about {alpha:g} % of such audits or fewer would name "
            "any (Holm)"
        )
    texts += _sorted_by(level, audit)
    if terms is SEARCHES:
        texts.append(
            f"'People' counts everyone in a group, but the {terms.far.name} rests on those who are "
            f"not enrolled, and the {terms.frr.name} on those who are (see 'Counts')"
        )
    if audit.settings["average"] == "identity":
        texts.append(
            f"Every person weighs the same: a rate is not errors over {terms.comparisons}"
        )
    return f"{'. '.join(texts)}."


def _sorted_by(level, audit):
    """The order of the groups in a list, or empty of two groups, ranges or another level."""
    groups = [row.group for row in level.rates[1:]]
    if len(groups) < 3 or level is not audit.levels[0] or in_ascending_order(groups):
        return []
    name = terms_of(audit.settings)[rates_in(audit.groups)[0]].name
    return [f"Groups are sorted by {name}, highest first"]


def across_groups(level, audit):
    """Which comparisons the rates of groups and of everyone are of, if they are others, in a list."""
    matrix, terms = level.matrix, terms_of(audit.settings)
    if matrix is None or terms is SEARCHES:
        return []
    across = ~np.eye(len(matrix.groups), dtype=bool)
    n = matrix.n_impostor[across].sum()
    if not n:
        return []
    far, rate = terms.far.name, ""
    if audit.settings["average"] == "pair":
        # Each two groups are in two cells.
        share = percent(n / 2 / audit.groups[0].n_impostor)
        rate = (
            f" ({share}), whose {far} is {percent(matrix.n_errors[across].sum() / n)}"
        )
    return [
        f"The {far} of a group is of comparisons of two of its people. That of everyone "
        f"includes comparisons across groups{rate}."
    ]


def references_of(level, terms):
    """The reference in words, by rate if the rates have different ones, or empty of none."""
    found = {
        f.rate: printable(f.reference) for f in level.findings if f.group is not None
    }
    if len(set(found.values())) < 2:
        return "".join(set(found.values()))
    return listed([f"{group} ({terms[rate].name})" for rate, group in found.items()])


def _ratio(finding, few):
    """The ratio of a group's rate to that of the reference, and what is concluded.

    ``few`` is the mark of the group's own rate. That of the reference is in its row.
    """
    if finding is None:
        return Cell(NONE)
    if finding.value == finding.reference_value == 0:
        return Cell(NONE, more="no errors")
    found, cell, text = finding.ratio, of_ratio(finding.ratio), finding.verdict
    if text == NO_DIFFERENCE and (found.low > 1 or found.high < 1):
        text += " among all comparisons"
    conclusion = concluded(finding.verdict, text, found.supported)
    return Cell(cell.text, cell.ends, conclusion.text, few, word=conclusion.word)


def rates_figure(audit, place=0):
    """The figure of both rates of all groups at an operating point."""
    level = audit.levels[place]
    limits, rates = limits_of(audit), rates_in(audit.groups)
    limits = {rate: of[place : place + 1] for rate, of in limits.items()}
    ci, terms = level_in_percent(audit.settings), terms_of(audit.settings)
    shown = "Both error rates" if len(rates) > 1 else terms[rates[0]].name
    at = at_place(level, audit)
    caption = f"{shown}{by_attribute(audit.attribute)}{at and f' {at}'}, with {ci} CI. "
    kinds = [terms[rate] for rate in rates]
    caption += " ".join(
        f"A higher {kind.name} means that {kind.consequence}." for kind in kinds
    )
    if any(few_of(getattr(row, rate)) for row in level.rates for rate in rates):
        caption += f" Hollow: {TOO_FEW}."
    caption += _only_unadjusted(audit, level)

    def draw():
        confidence = audit.settings["confidence_level"]
        # The caption has the operating point and the legend.
        return group_rates([level.rates], [""], limits, confidence, terms, rates)

    return Figure(caption, draw, f"rates-{audit.attribute}")


def _only_unadjusted(audit, level):
    """Groups whose interval exceeds a limit on their rate before the adjustment alone."""
    texts = []
    for check in audit.checks:
        point = check.far, check.threshold
        at_level = point == (level.far, level.threshold)
        if check.name in RATE_LIMITS and at_level and not check.reason:
            rate, *_ = limited(check.name, audit.settings)
            exceeded = check.groups if check.verdict == "failed" else ()
            groups = [
                who(row.group)
                for row in of_groups(level.rates)
                if getattr(row, rate).low > check.limit and row.group not in exceeded
            ]
            if groups:
                texts.append(
                    f" Not certain after adjustment for the number of groups: that the "
                    f"{terms_of(audit.settings)[rate].name} of {named_or_counted(groups)} "
                    "exceeds the limit."
                )
    return "".join(texts)


def ratios_figure(audit):
    """Ratios of every group to the reference at the first operating point, with the limits."""
    level, terms = audit.levels[0], terms_of(audit.settings)
    if not references_of(level, terms):
        return None
    ci = level_in_percent(audit.settings)
    caption = (
        f"Ratios to the rates of {references_of(level, terms)} by "
        f"{printable(audit.attribute)}, with {ci} CI, each alone. "
        f"Thick lines differ significantly. Hollow: {TOO_FEW}.{_highest_reference(audit)}"
    )
    measured, limits = rates_in(audit.groups), ratio_limits(audit, level)

    def draw():
        by_rate = {
            rate: [f for f in level.findings if f.rate == rate] for rate in measured
        }
        return [
            ratios_to_reference(own, terms[rate], limits.get(rate))
            for rate, own in by_rate.items()
            if own[0].group is not None
        ]

    return Figure(caption, draw, f"ratios-{audit.attribute}")


def _highest_reference(audit):
    """The rates of which the reference has the highest of three groups or more, in a sentence."""
    by_rate = {}
    for of in audit.levels[0].findings:
        by_rate.setdefault(of.rate, []).append(of)
    highest = [
        terms_of(audit.settings)[rate].name
        for rate, own in by_rate.items()
        if len(own) > 1 and all(of.value < of.reference_value for of in own)
    ]
    return f" The reference has the highest {listed(highest)}." if highest else ""


def ratio_limits(audit, level):
    """The limit of the largest over the smallest rate, by rate."""
    names = {"max_fmr_ratio": "far", "max_fnmr_ratio": "frr"}
    return {
        names[check.name]: check.limit
        for check in audit.checks
        if check.name in names
        and (check.far, check.threshold) == (level.far, level.threshold)
    }


# ---- counts --------------------------------------------------------------------------


def counts(levels, systems, settings, names=("",)):
    """Comparisons and errors of each group of some systems, side by side."""
    measured, rows = rates_in(systems[0].groups), []
    with_rates = len(systems) > 1  # an audit has another table of them
    for level, system, name in zip(levels, systems, names, strict=True):
        of_groups = zip(level.rates, system.groups, strict=True)
        about = measured, with_rates, name
        rows.append([_row_of_counts(level, *row, *about) for row in of_groups])
    head, terms = ["Group"], terms_of(settings)
    for kind in (terms[rate] for rate in measured):
        head += map(capital, (kind.standard_trials, kind.errors))
        head += [kind.name] * with_rates
    if any(level.generalised for level in levels):
        head += [f"G{rate.upper()}" for rate in measured]
    whose = " of each group" if systems[0].attribute else ""
    caption = f"{capital(terms.comparisons)} and errors{whose}."
    if not settings.get("independent_pairs"):
        caption += (
            " Errors of one person are correlated: 'like 7 errors' is the effective number, "
            "of independent errors that would leave the same uncertainty."
        )
    return Table(caption, head, beside(rows))


def _row_of_counts(level, found, size, measured, with_rates, place):
    """Comparisons and errors of a group. ``size`` is its GroupRow."""
    cells, n_pairs = [], {"far": size.n_impostor, "frr": size.n_genuine}
    for rate in measured:
        figure, errors = getattr(found, rate), getattr(found, f"{rate}_errors")
        like = _like(getattr(found, f"{rate}_effective"))
        cells += [
            Cell(count(n_pairs[rate])),
            Cell(count(errors, figure.source), more=like),
        ]
        cells += [of_rate(figure)] * with_rates
    if level.generalised:
        # A group that no attempt is of, as of pairs without a mated one, has none.
        own = next((g for g in level.generalised if g.group == found.group), None)
        cells += [Cell(percent(own and getattr(own, f"g{rate}"))) for rate in measured]
    return row_of_group(found.group, cells, place)


def _like(effective):
    """The effective number of errors in words, or empty of none."""
    if effective is None or not effective.errors:
        return ""
    return f"like {plural(max(1, round(effective.errors)), 'error')}"


P_VALUES = "p, unadjusted", "p, adjusted"


def p_values(levels, audit, share):
    """p-values of all comparisons with the reference, alone and adjusted for all of them.

    ``share`` is that of the error rate which these tests have.
    """
    terms = terms_of(audit.settings)
    rows = [
        Row(
            f"{terms[f.rate].name} of {who(f.group)} against {printable(f.reference)}",
            _tested(f),
            at_place(level, audit),
        )
        for level in levels
        for f in level.findings
        if f.group is not None
    ]
    n = max((f.n_comparisons for level in levels for f in level.findings), default=0)
    times = f", times {1 / share:g}" if share < 1 else ""
    caption = (
        f"p-values of the comparisons with the reference. Adjusted (Holm, for {n} comparisons"
        f"{times}), several may be equal."
    )
    return Table(caption, ["Comparison", *P_VALUES], rows)


def against_others(levels, audit, share):
    """Every group against the geometric mean of the others, or empty of two groups."""
    terms = terms_of(audit.settings)
    rows = [
        Row(
            f"{terms[of.rate].name} of {who(of.group)}",
            [of_ratio(of.ratio), *_tested(of)],
            at_place(level, audit),
        )
        for level in levels
        for of in level.against_others
    ]
    caption = (
        "Each group over the geometric mean of the others. With many groups of equal size "
        "this finds more differences than one reference. The p-values are a family of their "
        "own, which has a fifth of the error rate of the tests against the reference, in "
        f"addition to it. Adjusted (Holm, times {1 / (share * SHARE_OF_OVERALL):g}). Limits of "
        "ratios are about the largest over the smallest rate, not about these ratios."
    )
    ratio = f"Ratio ({level_in_percent(audit.settings)} CI)"
    return Table(caption, ["Group", ratio, *P_VALUES], rows)


def _tested(one):
    """Both p-values of a Finding or a Deviation."""
    return [Cell(p_value(one.ratio.p_value)), Cell(p_value(one.p_adjusted))]


def averages(audit):
    """Rates and conclusions, every comparison weighing the same and every person."""
    if audit.averaged is None:
        return None
    rows, terms = [], terms_of(audit.settings)
    for both in zip(audit.levels, audit.averaged.levels, strict=True):
        place = at_place(both[0], audit)
        for rate in rates_in(audit.groups):
            for of_group in zip(*(level.rates for level in both), strict=True):
                name = f"{terms[rate].name} of {who(of_group[0].group)}"
                cells = [of_rate(getattr(found, rate)) for found in of_group]
                rows.append(Row(name, cells, place))
            named = [_differing(level, rate) for level in both]
            rows.append(
                Row(f"{terms[rate].name}, significant", [*map(Cell, named)], place)
            )
    weighs = {
        "pair": f"Equal weight of every {terms.comparison}",
        "identity": "Equal weight of every person",
    }
    caption = (
        f"One person is in {100 * audit.largest_genuine_share:.0f} % of the "
        f"{terms.frr.standard_trials}, so it matters whether every {terms.comparison} "
        "weighs the same or every person. The conclusions, limits and tables above use the first of the two columns."
    )
    head = ["Rate", weighs[audit.settings["average"]], weighs[audit.averaged.value]]
    return Table(caption, head, rows)


def _differing(level, rate):
    """Which groups differ from the reference, in words."""
    named = [
        f"{printable(f.group)} {f.verdict}"
        for f in level.findings
        if f.rate == rate and f.verdict in ("higher", "lower")
    ]
    return "; ".join(named) or "no group"


def n_differing(audit):
    """At how many levels, of either rate, the other average concludes something else."""
    if audit.averaged is None:
        return 0
    both = product(
        zip(audit.levels, audit.averaged.levels, strict=True), rates_in(audit.groups)
    )
    return sum(_differing(a, rate) != _differing(b, rate) for (a, b), rate in both)
