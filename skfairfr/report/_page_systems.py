"""The sections of a comparison's page about one attribute: every system beside the others."""

import os
from types import SimpleNamespace

import numpy as np

from skfairfr.report._page_audit import (
    HOLLOW,
    disparities_table,
    disparity_rows,
    groups_row,
    groups_table,
    matrix_table,
    rates_row,
    rates_table,
    shades_of,
    unsupported_of,
)
from skfairfr.report._page_figures import det_of_systems, group_rates
from skfairfr.report._page_parts import bullets, heading, place_of, section, text_of
from skfairfr.report._text_layout import accepted, listed, printable

# Of a system in a legend and in a row.
LONGEST = 28


def short_names(systems):
    """Names that fit a legend, no two alike: of paths, the files if these differ.

    Parameters
    ----------
    systems : sequence of str

    Returns
    -------
    names : list of str
    """
    files = [os.path.basename(name) for name in systems]
    names = files if all(files) and len(set(files)) == len(files) else list(systems)
    shown = [
        name
        if len(name) <= LONGEST
        else f"{name[:12]}\N{HORIZONTAL ELLIPSIS}{name[-15:]}"
        for name in map(printable, names)
    ]
    if len(set(shown)) < len(shown):
        shown = [f"{place}: {name}" for place, name in enumerate(shown, 1)]
    return shown


def sections_of_systems(found):
    """A section for each attribute.

    Parameters
    ----------
    found : SystemsComparison

    Returns
    -------
    sections : list of dict
    """
    names = short_names(found.systems)
    sections = []
    for place, attribute in enumerate(
        dict.fromkeys(m.attribute for m in found.measured)
    ):
        systems = [m for m in found.measured if m.attribute == attribute]
        parts = _parts(found, systems, names, f"b{place}")
        name = printable(attribute)
        sections.append(
            section(f"by-{place}", f"Error rates by {name}", parts, f"By {name}")
        )
    return sections


def thresholds(found):
    """The operating point of every level, and the threshold of each system there."""
    names = short_names(found.systems)
    systems = found.measured[: len(names)]
    texts = []
    for levels in zip(*(m.levels for m in systems), strict=True):
        place = _title(levels[0], found)
        if found.settings["threshold"] is not None:
            texts.append(place)
            continue
        own = (
            f"{name}: {accepted(level.threshold, found.settings)}"
            for name, level in zip(names, levels, strict=True)
        )
        texts.append(f"{place} ({', '.join(own)})")
    return "; ".join(texts)


def unsupported(found):
    """What the data do not support of any system, as parts of a section."""
    parts = []
    for name in found.systems:
        texts = {}
        for measured in found.measured:
            if measured.system == name:
                about = SimpleNamespace(**vars(measured), settings=found.settings)
                texts |= dict.fromkeys(unsupported_of(about))
        if texts:
            parts += [heading(printable(name)), bullets(texts)]
    if parts:
        about = (
            "These numbers rest on few errors, few people, or one person in many errors. "
            "Do not conclude from their size."
        )
        parts.insert(0, text_of(about))
    return parts


def _parts(found, systems, names, prefix):
    """Figures and tables of all systems by one attribute."""
    parts = []
    for level, levels in enumerate(zip(*(m.levels for m in systems), strict=True)):
        parts.append(heading(_title(levels[0], found)))
        parts.append(_figure(found, levels, names, f"{prefix}-{level}"))
        rows = [
            rates_row(own, own.rates[row], system.groups[row], name)
            for row in range(len(levels[0].rates))
            for own, system, name in zip(levels, systems, names, strict=True)
        ]
        parts.append(rates_table(rows, found.settings))
        of_systems = [
            disparity_rows(own, name) for own, name in zip(levels, names, strict=True)
        ]
        rows = [row for rows in zip(*of_systems, strict=True) for row in rows]
        parts += [disparities_table(rows), *_matrices(found, systems, level, names)]
    parts.append(heading("Detection error tradeoff (DET) by group"))
    parts.append(_det(found, systems, names, f"{prefix}-det"))
    rows = [
        groups_row(system.groups[row], name)
        for row in range(len(systems[0].groups))
        for system, name in zip(systems, names, strict=True)
    ]
    return [*parts, heading("Groups"), groups_table(rows)]


def _title(level, found):
    place = place_of(level, found).removeprefix("an ").removeprefix("the ")
    return f"{place[0].upper()}{place[1:]}"


def _figure(found, levels, names, prefix):
    confidence = found.settings["confidence_level"]
    caption = (
        f"Both error rates of every group under {listed(names)}; further right is worse. "
        f"Bars are {100 * confidence:g} % intervals of each rate on its own: whether two "
        "systems differ is for the paired intervals above. "
    )
    caption += HOLLOW
    figures = group_rates(levels, names, None, confidence, prefix)
    return {"kind": "figure", "figures": figures, "caption": caption}


def _matrices(found, systems, level, names):
    """The matrix of groups of every system, in shades that can be compared."""
    matrices = [system.levels[level].matrix for system in systems]
    if any(matrix is None or len(matrix.groups) < 2 for matrix in matrices):
        return []
    shades = shades_of(np.stack([matrix.far for matrix in matrices]))
    place = place_of(systems[0].levels[level], found)
    about = f"{printable(systems[0].attribute)} at {place}"
    return [
        matrix_table(matrix, own, f"{about}, {name}")
        for matrix, own, name in zip(matrices, shades, names, strict=True)
    ]


def _det(found, systems, names, prefix):
    caption = (
        "Detection error tradeoff of each group under each system, as its one threshold for "
        "everybody moves; nearer to the lower left is better. Points mark the operating "
        "points. Rates of zero have no place on these axes."
    )
    figure = det_of_systems(
        [system.curves for system in systems],
        [system.levels for system in systems],
        names,
        prefix,
    )
    return {"kind": "figure", "figures": [figure], "caption": caption}
