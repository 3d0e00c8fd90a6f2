"""Rates of groups if labels of groups are wrong: corrected, bounded, and how many undo a finding."""

import os
from dataclasses import dataclass, field

import numpy as np

from skfairfr._core._kinds import SEARCHES
from skfairfr._text._document import Cell, Row, Table
from skfairfr._text._words import (
    NONE,
    capital,
    level_percent,
    percent,
    percents,
    printable,
    ratio,
    ratios,
    terms_of,
)
from skfairfr.datasets._tables import read_table
from skfairfr.metrics import correct_for_label_errors, label_error_bounds
from skfairfr.report._notes import at_place, short_place
from skfairfr.report._records import OF_SCORES
from skfairfr.report.sections._cells import level_in_percent, row_of_group
from skfairfr.report.sections._differences import DIFFERS, leading_findings
from skfairfr.report.sections._matrix import sides_of
from skfairfr.utils._errors import ArgumentError, invalid
from skfairfr.utils._labels import to_columns
from skfairfr.utils._validation import RATE, check_number

# Findings of which a terminal shows how many wrong labels undo them.
MOST_SENTENCES = 3
CAPTION = (
    "Undone: the smallest share of wrong labels in each labelled group at which the interval of "
    "the ratio may include 1, whoever is labelled wrongly."
)
BOUNDED = (
    " Bounds: smallest and largest rates if up to {} of the labels of each group are wrong, "
    "without sampling error."
)
CORRECTED = (
    " Corrected: by the shares of labels that people with known groups have. Intervals include "
    "the uncertainty of these shares. Within a group, wrong labels must not depend on errors."
)


@dataclass(frozen=True)
class WithGroup:
    """Corrected FAR of the impostor pairs of a group with another, or with itself.

    Attributes
    ----------
    group : label
        The other group, that of the reference if there are two sides.
    value, low, high : float
    """

    group: object
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class LabelErrors:
    """One rate of a group at one level, if labels of groups are wrong.

    Attributes
    ----------
    rate : {"far", "frr"}
    far : float in (0, 1) or None
        Level. None of a given threshold.
    threshold : float
    group : label
    labelled : float
        Rate of the labelled group. Lower is better.
    value, low, high : float
        Corrected rate and its interval, nan without a sample with true groups.
    ratio, ratio_low, ratio_high : float
        That over the corrected rate of the reference, nan for the reference.
    bound_low, bound_high : float
        Bounds of the rate with the share of wrong labels that was given, nan without one.
    undo_share : float
        Smallest share of wrong labels that undoes the difference from the reference: 0 if there
        is none or a rate is 0, infinite if no share does, nan of the reference.
    share : float or None
        That the bounds allow.
    with_groups : tuple of WithGroup
        Corrected. Empty of the FRR and without a sample with true groups.
    """

    rate: str
    far: float | None = field(metadata=OF_SCORES)
    threshold: float = field(metadata=OF_SCORES)
    group: object
    labelled: float
    value: float
    low: float
    high: float
    ratio: float
    ratio_low: float
    ratio_high: float
    bound_low: float
    bound_high: float
    undo_share: float
    share: float | None
    with_groups: tuple = ()


@dataclass(frozen=True)
class Asked:
    """Samples with true groups, each (groups as texts, counts), and a share of wrong labels."""

    samples: list
    share: float | None

    def sample_of(self, groups):
        """Counts of the sample of these groups, in their order, or None."""
        texts = [str(group) for group in groups]
        for names, counts in self.samples:
            if sorted(names) == sorted(texts):
                order = [names.index(text) for text in texts]
                return counts[np.ix_(order, order)]
        return None


def asked_of(label_errors, share, chosen):
    """What is asked about wrong labels.

    Parameters
    ----------
    label_errors : path, frame or dict of columns, or list of such, or None
    share : float or None
    chosen : list of tuple (data, names)
        What is audited, and by which attributes.
    """
    name = "label_error_rate" if label_errors is None else "label_errors"
    data = chosen[0][0]
    if data.terms is SEARCHES or data.independent or not chosen[0][1]:
        problem = "needs people and their groups;"
        raise invalid(name, None, problem, "leave it out.")
    if share is not None:
        share = check_number(share, "label_error_rate", *RATE)
    given = label_errors if isinstance(label_errors, list) else [label_errors]
    asked = Asked([_sample(one) for one in given if one is not None], share)
    known = [
        sorted(map(str, data.groups(names).values.tolist())) for data, names in chosen
    ]
    for groups, _ in asked.samples:
        if sorted(groups) not in known:
            problem = f"has the groups {', '.join(groups)}, and no attribute has these;"
            remedy = f"they are {'; '.join(', '.join(of) for of in known)}."
            raise invalid("label_errors", None, problem, remedy)
    return asked


def _sample(given):
    """Groups as texts and their counts, true x labelled, of a path or of columns."""
    of_file = isinstance(given, str | os.PathLike)
    if of_file:
        table = read_table(os.fspath(given), "label_errors")
        true, *labels = table.names
        names = table.labels(true)
    else:
        columns = to_columns(given, "label_errors")
        true, *labels = columns
        names = columns[true]
    read = table.numbers if of_file else lambda one: np.asarray(columns[one], float)
    names, texts = [*map(str, names)], [*map(str, labels)]
    if sorted(names) != sorted(texts):
        problem = f"has rows {', '.join(names)} and columns {', '.join(texts)};"
        remedy = (
            "give a row for each true group, named first, and a column for each label."
        )
        raise invalid("label_errors", None, problem, remedy)
    counts = [read(one) for one in labels]
    if (np.array(counts) % 1 != 0).any():
        problem = "must contain counts of people, not shares;"
        remedy = "give how many people of each true group have each label."
        raise invalid("label_errors", None, problem, remedy)
    order = [texts.index(name) for name in names]
    return names, np.stack([counts[place] for place in order], axis=1)


def measure(roc, levels, asked):
    """Rows of all levels, rates and groups, a tuple of LabelErrors.

    Parameters
    ----------
    roc : SimilarityROC
        Fitted by an attribute.
    levels : tuple of Level
        With findings.
    asked : Asked
    """
    found, sample = [], asked.sample_of(roc.groups_.tolist())
    for level in levels:
        compared = {f.rate: f.reference for f in level.findings if f.group is not None}
        for rate, reference in compared.items():
            about = {
                "threshold": level.threshold,
                "rate": rate,
                "reference": reference,
            }
            bounds = label_error_bounds(roc, asked.share or 0.0, **about)
            corrected, with_groups = {}, {}
            if sample is not None:
                try:
                    of = correct_for_label_errors(roc, sample, **about)
                except ArgumentError as error:
                    if error.argument != "confusion":
                        raise
                    problem = str(error).removesuffix(error.remedy)
                    problem = problem.removeprefix("confusion ").rstrip()
                    about = "label_errors", None, problem, error.remedy
                    raise invalid(*about) from None
                columns = of.value, of.low, of.high
                columns += of.ratio, of.ratio_low, of.ratio_high
                rows = np.transpose(columns).tolist()
                corrected = dict(zip(of.group.tolist(), rows, strict=True))
                if rate == "far":
                    with_groups = _with_groups(of)
            for row, group in enumerate(bounds.group.tolist()):
                ends = [np.nan] * 2
                if asked.share is not None:
                    ends = bounds.value_low[row], bounds.value_high[row]
                found.append(
                    LabelErrors(
                        rate,
                        level.far,
                        level.threshold,
                        group,
                        float(bounds.value[row]),
                        *corrected.get(group, [np.nan] * 6),
                        *map(float, ends),
                        float(bounds.undo_share[row]),
                        asked.share,
                        with_groups.get(group, ()),
                    )
                )
    return tuple(found)


def _with_groups(correction):
    """WithGroups of each group, a dict of tuples."""
    groups = correction.group.tolist()
    cells = correction.matrix, correction.matrix_low, correction.matrix_high
    rows = np.moveaxis(cells, 0, -1).tolist()
    return {
        group: tuple(WithGroup(g, *cell) for g, cell in zip(groups, row, strict=True))
        for group, row in zip(groups, rows, strict=True)
    }


def wrong_labels(audit):
    """The table of wrong labels of an audit, a list, or empty if it was not asked for."""
    if not audit.label_errors:
        return []
    first, rows = audit.label_errors[0], []
    corrected = any(row.low == row.low for row in audit.label_errors)
    levels = {level.threshold: level for level in audit.levels}
    without_errors = {
        (row.rate, row.threshold)
        for row in audit.label_errors
        if np.isnan(row.undo_share) and row.labelled == 0
    }
    for row in audit.label_errors:
        cells = [Cell(percent(row.labelled))]
        if corrected:
            cells.append(_with_ends(percent, percents, row.value, row.low, row.high))
            of_ratio = row.ratio, row.ratio_low, row.ratio_high
            cells.append(_with_ends(ratio, ratios, *of_ratio))
        if first.share is not None:
            cells.append(Cell(percents(row.bound_low, row.bound_high)))
        cells.append(Cell(_undone(row, without_errors)))
        at = short_place(levels[row.threshold], audit) if len(levels) > 1 else ""
        place = f"{terms_of(audit.settings)[row.rate].name}{f', {at}' if at else ''}"
        rows.append(row_of_group(row.group, cells, place))
    head, caption = ["Group", "Rate"], CAPTION
    if corrected:
        head += ["Corrected", f"× {printable(audit.reference)}"]
        caption += CORRECTED
    if first.share is not None:
        head.append("Bounds")
        caption += BOUNDED.format(level_percent(first.share))
    return [Table(caption, [*head, "Undone"], rows)]


def corrected_matrices(audit):
    """Corrected FAR of each pair of groups, a table for each level, or empty without them."""
    tables = []
    for level in audit.levels:
        rows = [
            row
            for row in audit.label_errors
            if row.threshold == level.threshold and row.with_groups
        ]
        if rows:
            head = ["Group", *(printable(of.group) for of in rows[0].with_groups)]
            at = short_place(level, audit)
            name = terms_of(audit.settings)["far"].name
            caption = (
                f"{name} of each pair of groups at {at}, corrected for wrong labels."
            )
            far = [[of.value for of in row.with_groups] for row in rows]
            caption += sides_of(np.array(far))
            cells = [[_of_two(of) for of in row.with_groups] for row in rows]
            named = [
                Row(printable(row.group), of)
                for row, of in zip(rows, cells, strict=True)
            ]
            tables.append(Table(caption, head, named, "matrix"))
    return tables


def _of_two(cell):
    return _with_ends(percent, percents, cell.value, cell.low, cell.high)


def _with_ends(of_value, of_ends, value, low, high):
    if np.isnan(value) and np.isnan(low):
        return Cell(NONE)
    return Cell(of_value(value), of_ends(low, high))


def _undone(row, without_errors):
    """The share in words. ``without_errors`` has rates and thresholds of such references."""
    share = row.undo_share
    if np.isnan(share):
        return NONE
    if share == 0:
        unknown = row.labelled == 0 or (row.rate, row.threshold) in without_errors
        return "unknown: no error" if unknown else "no difference"
    return percent(share) if np.isfinite(share) else "never"


def in_short(report):
    """Effect of a share of wrong labels, the share that undoes differences, corrected ratios."""
    texts = []
    for audit, level, finding in leading_findings(report):
        rows = {
            row.group: row
            for row in audit.label_errors
            if (row.rate, row.threshold) == (finding.rate, level.threshold)
        }
        if finding.group not in rows:
            continue
        row, other = rows[finding.group], rows.get(finding.reference)
        if not texts and row.share is not None and other is not None:
            texts.append(_between(row, other, audit, level, finding))
        if _has_share(row, finding):
            texts.append(_sentence(row, audit, level, finding))
    return texts[:MOST_SENTENCES]


def _has_share(row, finding):
    """Whether there is a difference that a share undoes. A rate of 0 has no such share."""
    return finding.verdict in DIFFERS and row.undo_share > 0


def _between(row, other, audit, level, finding):
    """Bounds of two groups, and whether their difference stays."""
    at, kind = at_place(level, audit), terms_of(audit.settings)[finding.rate].name
    (group, ends), (against, others) = (
        (printable(of.group), percents(of.bound_low, of.bound_high))
        for of in (row, other)
    )
    text = f"{f'{at}, ' if at else ''}if up to {level_percent(row.share)} of the labels of each group are wrong"
    text += f", the {kind} of {group} may be {ends}, and that of {against} {others} (without "
    text += "sampling error)"
    if _has_share(row, finding):
        stays = row.share < row.undo_share
        text += f": the difference {'stays' if stays else 'may vanish'}"
    return f"{capital(text)}."


def _sentence(row, audit, level, finding):
    """Share that undoes a difference. The group with the higher rate is named first."""
    at, kind = at_place(level, audit), terms_of(audit.settings)[finding.rate].name
    groups = [*map(printable, (finding.group, finding.reference))]
    size, *ends = row.ratio, row.ratio_low, row.ratio_high
    if finding.verdict == "lower":
        groups = groups[::-1]
        size, *ends = (1 / v if v else np.inf for v in (size, *ends[::-1]))
    few = "whatever labels are wrong"
    if np.isfinite(row.undo_share):
        few = f"if fewer than {percent(row.undo_share)} of the labels of each group are wrong"
    text = f"the {kind} of {groups[0]} stays higher than that of {groups[1]} {few}."
    text = capital(f"{f'{at}, ' if at else ''}{text}")
    if np.isnan(row.low):
        return text
    ci = level_in_percent(audit.settings)
    corrected = f"{ratio(size)} times that ({ci} CI {ratios(*ends)})"
    return f"{text} Corrected for wrong labels, it is {corrected}."
