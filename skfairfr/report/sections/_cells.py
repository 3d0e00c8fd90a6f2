"""Cells and rows that several sections have in common."""

import math
from importlib.resources import files

from skfairfr._text._document import Cell, Row
from skfairfr._text._words import (
    NO_DIFFERENCE,
    NONE,
    TOO_FEW,
    count,
    percent,
    percents,
    printable,
    ratio,
    ratios,
)

# A page has its notes below. The terminal prints them on request.
READ_NOTES = "Read the notes first (at the terminal, with --full)."


def lines_of(name):
    """Lines of a text that is the same on every page."""
    file = files("skfairfr.report") / "texts" / f"{name}.txt"
    return file.read_text(encoding="utf-8").splitlines()


def row_of_group(group, cells, place=""):
    """A row about a group. None is everyone."""
    name = "Everyone" if group is None else printable(group)
    return Row(name, cells, place, group is None)


def of_people(row):
    """How many people a group has, and of searches how many of them are enrolled."""
    if row.n_mated is None:
        return Cell(count(row.n_identities))
    n_others = row.n_identities - row.n_mated
    known = f"{count(row.n_mated)} enrolled, {count(n_others)} not"
    return Cell(count(row.n_identities), known)


def of_rate(figure):
    """A rate with its interval."""
    if math.isnan(figure.value):  # no pairs
        return Cell(NONE)
    ends = percents(figure.low, figure.high)
    return Cell(percent(figure.value), ends, few=few_of(figure))


def of_ratio(figure):
    """A ratio with its interval."""
    return Cell(
        ratio(figure.value), ratios(figure.low, figure.high), few=few_of(figure)
    )


def few_of(figure):
    """The mark of a figure that rests on too few errors, else empty."""
    return "" if figure.supported or math.isnan(figure.value) else TOO_FEW


def concluded(verdict, text, supported=True):
    """A conclusion. Findings that rest on enough, and what is undetermined, have a colour."""
    if verdict == TOO_FEW:
        return Cell("", few=TOO_FEW)
    coloured = (supported and verdict != NO_DIFFERENCE) or verdict == "undetermined"
    return Cell(text, word=verdict if coloured else "")


def beside(rows_of_each):
    """Rows of several systems, the first of each, then the second and so on."""
    return [row for of_all in zip(*rows_of_each, strict=True) for row in of_all]


def level_in_percent(settings):
    """The confidence level as written before "CI"."""
    return f"{100 * settings['confidence_level']:g} %"
