"""Rates at equal covariates next to the rates as they are."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from skfairfr._text._document import Cell, Row, Section, Table
from skfairfr._text._words import capital, listed, percent, printable, terms_of
from skfairfr.report._notes import at_place, heading_of, rates_in
from skfairfr.report._records import OF_SCORES
from skfairfr.report.sections._cells import lines_of, of_rate, of_ratio, row_of_group
from skfairfr.report.sections._differences import DIFFERS, sentence_of
from skfairfr.report.sections._indices import DISPARITIES

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
