"""Who and what was tested: people, comparisons, files, groups and operating points."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product

import numpy as np

from skfairfr._text._document import Cell, Facts, Row, Table
from skfairfr._text._words import (
    capital,
    count,
    percent,
    plural,
    printable,
    terms_of,
)
from skfairfr.report._notes import of_unknown, rates_in, title_of
from skfairfr.report.sections._cells import beside, of_rate, row_of_group
from skfairfr.report.sections._gallery import facts_of_gallery
from skfairfr.report.sections._rates import references_of


@dataclass(frozen=True)
class GroupCount:
    """Number of people in one combination of the groups of several attributes.

    Attributes
    ----------
    groups : tuple of labels
        One of each attribute. None is unknown.
    n_identities : int
        Where scored pairs do not name their people, the number of pairs.
    n_images : int or None
        None if scored pairs do not name their images.
    """

    groups: tuple
    n_identities: int
    n_images: int | None


@dataclass(frozen=True)
class Crossing:
    """Every combination of the groups of several attributes, empty ones included."""

    attributes: tuple
    cells: tuple


# The fact of attributes if there are none.
NO_GROUPS = "none, so all are one group"


def cross(data, attributes):
    """Number of people in each combination of groups.

    Parameters
    ----------
    data : EmbeddingData or PairData
    attributes : tuple of str

    Returns
    -------
    crossing : Crossing
        Combinations in the order of sorted labels, unknown last if some are. A person
        whose images differ in a label counts in several.
    """
    masks = [_masks(data.groups((name,))) for name in attributes]
    people, images = data.people(), data.images()
    cells = []
    for combination in product(*masks):
        groups, of_groups = zip(*combination, strict=True)
        inside = np.logical_and.reduce(of_groups)
        n_images = None if images is None else np.unique(images[inside]).size
        cells.append(GroupCount(groups, np.unique(people[inside]).size, n_images))
    return Crossing(tuple(attributes), tuple(cells))


def _masks(labels):
    """Each group and whether an image is in it, (n_rows,). Unknown last if some are."""
    groups = [*enumerate(labels.values.tolist()), (-1, None)]
    masks = [(group, labels.codes == code) for code, group in groups]
    return [(group, mask) for group, mask in masks if mask.any()]


def tested(report):
    """Parts of the section."""
    return [Facts(facts(report))]


def facts(report):
    """Description of an audit's data, as pairs of a term and its description."""
    first = report.audits[0]
    names = [audit.attribute for audit in report.audits if audit.attribute]
    attributes = [printable(name) for name in names] or [NO_GROUPS]
    decisions = "decisions" in first.settings
    if decisions:
        rows = _facts_of_decisions(report, attributes)
    else:
        terms = terms_of(first.settings)
        rows = facts_of_gallery(first.settings)
        rows += facts_of_data(first.groups[0], attributes, terms)
    unit = "images" if first.groups[0].n_images is not None else "people or pairs"
    unit = "people" if decisions else unit
    references = {
        printable(audit.attribute): references_of(
            audit.levels[0], terms_of(audit.settings)
        )
        for audit in report.audits
        if audit.reference is not None
    }
    named = "; ".join(f"{group} ({name})" for name, group in references.items())
    if named:
        why = "the group with the most people (the first of equal ones), unless one is asked for"
        rows.append(("Reference", f"{named}: {why}"))
    for audit in report.audits:
        if audit.n_unknown:
            about = f"{count(audit.n_unknown)} {unit}, counted for everyone only"
            errors, trials = of_unknown(audit.levels[0], audit)
            if trials:
                name = terms_of(audit.settings).frr.name
                about += f". Their {name} is {percent(errors / trials)}"
            rows.append((f"Unknown {printable(audit.attribute)}", about))
    if not decisions:
        points = "; ".join(title_of(level, first) for level in first.levels)
        rows.append(("Operating points", points))
    return rows


def _facts_of_decisions(report, attributes):
    """How many people made how many attempts of each kind, and by what they are grouped."""
    rows = {}
    for audit in report.audits:
        everyone = audit.groups[0]
        people = "people who are not known"
        if everyone.n_identities is not None:
            people = plural(everyone.n_identities, "person", "people")
        attempts = capital(terms_of(audit.settings).frr.trials)
        rows[attempts] = f"{count(everyone.n_genuine)}, of {people}"
    return [*rows.items(), ("Attributes", "; ".join(dict.fromkeys(attributes)))]


def facts_of_data(everyone, attributes, terms):
    """How many people, images and comparisons there are, and by what they are grouped."""
    people = f"not known; {terms.trial}s taken as independent"
    if everyone.n_identities is not None:
        people = count(everyone.n_identities)
    images = [] if everyone.n_images is None else [("Images", count(everyone.n_images))]
    genuine, impostor = everyone.n_genuine, everyone.n_impostor
    of_kind = [
        ((capital(terms.frr.trials_at_length), count(genuine)), genuine),
        ((capital(terms.far.trials_at_length), count(impostor)), impostor),
    ]
    return [
        ("People", people),
        *images,
        *(kind for kind, n in of_kind if n),
        ("Attributes", "; ".join(attributes)),
    ]


def sizes(systems, terms, names=("",)):
    """Sizes of the groups, and the equal error rates of each system."""
    rows, shown = [], {"n_identities": "People", "n_images": "Images"}
    size = "Size of each group" if systems[0].attribute else "Size of the data"
    if systems[0].groups[0].n_images is None:
        del shown["n_images"]
    for system, name in zip(systems, names, strict=True):
        rows.append([])
        for found in system.groups:
            cells = [Cell(count(getattr(found, column))) for column in shown]
            equal = found.equal_error_rate
            cells = cells if equal is None else [*cells, of_rate(equal)]
            rows[-1].append(row_of_group(found.group, cells, name))
    caption, head = f"{size}.", ["Group", *shown.values()]
    if len(rates_in(systems[0].groups)) > 1:
        head.append("EER")
        caption = (
            f"{size}, and its equal error rate (EER), at the threshold where its "
            f"{terms.far.rate} equals its {terms.frr.rate}."
        )
        rates = [found.equal_error_rate for one in systems for found in one.groups]
        if any(rate and math.isnan(rate.value) and not rate.reasons for rate in rates):
            caption += " It is not known (-) if lists of candidates end before."
    return Table(caption, head, beside(rows))


def crossing(found, audit):
    """How many people there are of each combination of groups."""
    counted = "people"
    if audit.groups[0].n_identities is None:
        counted = f"{terms_of(audit.settings).trial}s"
    rows = [
        Row(
            ", ".join("unknown" if g is None else printable(g) for g in cell.groups),
            [Cell(count(cell.n_identities))],
        )
        for cell in found.cells
    ]
    names = ", ".join(map(printable, found.attributes))
    head = [names, capital(counted)]
    return Table(f"Number of {counted} by {names}.", head, rows)
