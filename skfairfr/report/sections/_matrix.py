"""The FMR of each pair of groups, shaded by how far it is from the level."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skfairfr._core._kinds import SEARCHES
from skfairfr._text._document import Cell, Row, Table
from skfairfr._text._words import percent, printable

# Above and below the neutral rate, as red, green and blue.
HIGH, LOW = np.array([146, 43, 33]), np.array([8, 62, 112])
# Luminance of a ground on which black and white have the same contrast, 4.6 (WCAG 2).
EQUAL_CONTRAST = np.sqrt(1.05 * 0.05) - 0.05
# This many times the neutral rate, or one in so many, has the full colour.
FULL = 30.0
# A matrix of more groups than these is folded.
MOST_GROUPS = 6
# A matrix of more groups than this is not measured.
MAX_MATRIX = 30


@dataclass(frozen=True)
class Matrix:
    """The FAR of the impostor pairs of each pair of groups at the threshold of a level.

    Attributes
    ----------
    groups : tuple of labels
    far : ndarray, shape (n_groups, n_groups)
        nan without a pair.
    n_errors, n_impostor : ndarrays of int, shape (n_groups, n_groups)
    """

    groups: tuple
    far: np.ndarray
    n_errors: np.ndarray
    n_impostor: np.ndarray

    def take(self, places):
        """The matrix with its groups in another order."""
        groups = tuple(self.groups[place] for place in places)
        columns = self.far, self.n_errors, self.n_impostor
        return Matrix(groups, *(of[np.ix_(places, places)] for of in columns))


def measure(audited):
    """The FAR of each pair of groups at each threshold, or None of too many groups."""
    groups = audited.labels[1:]
    threshold = audited.points.threshold
    if not 0 < len(groups) <= MAX_MATRIX or "far" not in audited.rates:
        return [None] * len(threshold)
    pairs, two_sides = audited.roc._engine.pairs, audited.roc._engine.two_sides
    shape = (len(groups), len(groups))
    far = np.full((len(threshold), *shape), np.nan)
    errors = np.zeros(far.shape, dtype=np.int64)
    counts = np.zeros(shape, dtype=np.int64)
    for g, h in np.ndindex(shape):
        # Without two sides, (g, h) and (h, g) are the same pairs.
        scope = (g, h) if two_sides else (min(g, h), max(g, h))
        counts[g, h] = pairs.count(scope)
        if counts[g, h]:
            far[:, g, h], errors[:, g, h] = audited.at_thresholds(
                "far", scope, threshold
            )
    return [
        Matrix(tuple(groups), far[level], errors[level], counts)
        for level in range(len(threshold))
    ]


def matrices(levels, abouts, terms):
    """Tables of matrices of some systems at one operating point, or empty without two groups.

    The rate without a colour is the level, or the rate of everyone.
    """
    if any(one.matrix is None or len(one.matrix.groups) < 2 for one in levels):
        return []
    first = levels[0]
    neutral, about_it = first.far, "the level of the operating point"
    if first.far is None:
        neutral = first.rates[0].far.value
        about_it = f"{percent(neutral)}, the rate of everyone"
    if terms is SEARCHES:
        of_all = "the level" if first.far else "the rate of everyone"
        neutral /= len(first.matrix.groups)
        about_it = f"{percent(neutral)}, {of_all} divided by the number of groups"
    colours = f"Red is above {about_it}, blue below. White: 0, or near it."
    return [
        _matrix(one.matrix, neutral, about, terms, colours)
        for one, about in zip(levels, abouts, strict=True)
    ]


def _matrix(matrix, neutral, about, terms, colours):
    rows, name = [], terms.far.name
    for g, group in enumerate(matrix.groups):
        cells = [
            Cell(percent(far), style=style_of(far, neutral))
            if n
            else Cell(f"no {terms.trials}")
            for n, far in zip(matrix.n_impostor[g], matrix.far[g], strict=True)
        ]
        rows.append(Row(printable(group), cells))
    caption = (
        f"{name} of each pair of groups {about}: how often two people, one of each group, are "
        "taken for one."
    )
    if terms is SEARCHES:
        caption = (
            f"{name} by the groups of the probe (rows) and of the person returned {about}: "
            "how often a search by a person of the row's group returns a person of the column's "
            "group in first place."
        )
    else:
        caption += sides_of(matrix.far)
    head = ["Group", *map(printable, matrix.groups)]
    return Table(caption, head, rows, "matrix", colours)


def sides_of(far):
    """Meaning of rows and columns of a matrix, after a space, or empty if it is symmetric."""
    if np.allclose(far, far.T, equal_nan=True):
        return ""
    return " Rows are the groups of probes, columns those of references."


def style_of(rate, neutral):
    """Colours of a cell: the ground, and of black and white the ink that is clearer.

    A rate of 0 is white, so the deepest colour is that of an error.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        depth = np.log(rate / neutral) / np.log(FULL) if rate else 0.0
    depth = float(np.clip(np.nan_to_num(depth), -1.0, 1.0))
    colour = 255 + ((HIGH if depth > 0 else LOW) - 255) * abs(depth)
    ink = "#fff" if luminance(colour) < EQUAL_CONTRAST else "#000"
    ground = ",".join(f"{part:.0f}" for part in colour)
    return f"background:rgb({ground});color:{ink};--soft:{ink}"


def luminance(colour):
    """Relative luminance of red, green and blue up to 255, as WCAG 2 defines it."""
    part = np.asarray(colour) / 255
    linear = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])
