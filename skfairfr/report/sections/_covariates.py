"""Rates at equal covariates beside the rates as they are."""

import math
from dataclasses import dataclass

from skfairfr._text._document import Cell, Row, Section, Table
from skfairfr._text._words import capital, listed, percent, printable, terms_of
from skfairfr.report._notes import heading_of, place_of
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
        strata; 0 of a stratum that some group has no pairs in, which is left out.
    far_within, frr_within : tuple of float, shape (n_groups,)
        Share of the pairs of each group that are in the stratum; nan of a group without any.
    """

    name: str
    far_share: float
    far_within: tuple
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
        Share of the groups' pairs outside common strata; nan if there is none.
    """

    groups: tuple
    strata: tuple
    far_lost: float
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
    parts = [differences_at_equal(audit)]
    both = zip(audit.levels, audit.standardised.levels, strict=True)
    for n, (level, found) in enumerate(both):
        rows = []
        for raw, row in zip(level.rates[1:], found.rates[1:], strict=True):
            figures = (raw.far, row.far, raw.frr, row.frr)
            rows.append(row_of_group(row.group, [of_rate(f) for f in figures]))
        raw = next(d for d in level.disparities if d.how == "max_min")
        (equal,) = found.disparities
        figures = (raw.far, equal.far, raw.frr, equal.frr)
        rows.append(
            Row(capital(DISPARITIES["max_min"]), [of_ratio(f) for f in figures])
        )
        caption = f"Rates at {place_of(level, audit)}, as they are and {title.lower()}."
        head = ["Group"]
        terms = terms_of(audit.settings)
        for rate in (terms.far.name, terms.frr.name):
            head += [f"{rate}, as it is", f"{rate}, {title.lower()}"]
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
    name = terms_of(audit.settings)[rate].name
    caption = (
        f"Strata of the {name}: the weight of each, and its share of the pairs of each "
        f"group. {percent(lost)} of the pairs are in no stratum that all groups have."
    )
    return Table(caption, ["Stratum", "Weight", *map(printable, groups)], rows)
