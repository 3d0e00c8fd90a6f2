"""Columns of cells: texts that occur, lists, and what they are as labels or numbers."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from typing import NamedTuple

import numpy as np

from skfairfr.datasets._files import INTEGER, MOST_READ, NUMBER, is_score

# Integers up to here are exact as floats, to which a missing cell converts them.
LARGEST_FLOAT_INTEGER = 2**53


class Cells:
    """Text cells of a column: all that occur, and for each row the index of its own."""

    # The cells as numbers, or None if they have to be looked at.
    numbers = None

    def __init__(self, column):
        known, self.n_rows, self._answers = {}, len(column), {}
        codes = [known.setdefault(cell, len(known)) for cell in column]
        self.values, self.codes = list(known), np.array(codes, dtype=np.intp)

    @classmethod
    def of(cls, values, codes):
        """Cells from texts that may be equal and, for each row, the index of its own."""
        cells = cls(values)
        cells.codes, cells.n_rows = cells.codes[codes], codes.size
        return cells

    def some(self):
        """A few cells, a list."""
        return self.values[:MOST_READ]

    def joined(self, other, join):
        """Cells that a function makes of those of two columns in each row."""
        both, codes = np.unique(
            self.codes * len(other.values) + other.codes, return_inverse=True
        )
        ends = zip(*np.divmod(both, len(other.values)), strict=True)
        return Cells.of([join(self.values[a], other.values[b]) for a, b in ends], codes)

    def every(self, is_such):
        """Whether a function is true of every cell. The answer is kept."""
        if is_such not in self._answers:
            answer = all(map(is_such, self.some()))
            if answer and not (is_such is is_score and self.numbers is not None):
                answer = all(map(is_such, self.values))
            self._answers[is_such] = answer
        return self._answers[is_such]


class ArrowCells(Cells):
    """The same of a column of pyarrow, whose cells are compared only if they have to be."""

    def __init__(self, column):
        self._column, self.n_rows, self._answers = column, len(column), {}

    @cached_property
    def _encoded(self):
        return self._column.dictionary_encode().combine_chunks()

    @cached_property
    def values(self):
        return self._encoded.dictionary.to_pylist()

    @cached_property
    def codes(self):
        return self._encoded.indices.to_numpy()

    def some(self):
        return self._column.slice(0, MOST_READ).to_pylist()

    @cached_property
    def numbers(self):
        import pyarrow

        with suppress(pyarrow.ArrowInvalid):
            return self._column.cast(pyarrow.float64()).to_numpy()


class ListColumn(NamedTuple):
    """A column of lists or structs of a .parquet file."""

    kind: str
    column: object

    def parts(self):
        """How long each list is, 0 of what is none, and all numbers end to end."""
        if not is_list(self.kind):
            return np.zeros(len(self.column), dtype=np.intp), np.zeros(0)
        lengths = self.column.combine_chunks().value_lengths().fill_null(0)
        flat = self.column.combine_chunks().flatten()
        return lengths.to_numpy(), flat.to_numpy(zero_copy_only=False)


def is_list(kind):
    """Whether the name of a type of pyarrow is that of lists."""
    return "list" in kind.partition("<")[0]


def to_vector(cell):
    """The numbers of a cell such as '[0.1, 0.2]' or '0.1 0.2', an array, or none of another."""
    words = cell.strip().removeprefix("[").removesuffix("]").replace(",", " ").split()
    try:
        return np.array(words, dtype=np.float64)
    except ValueError:
        return np.zeros(0)


def to_labels(cells):
    if all(map(INTEGER.fullmatch, cells)):
        return np.array(list(map(int, cells)), dtype=np.int64)
    return _to_text(cells)


def to_values(cells):
    known = [cell for cell in cells if cell and cell.lower() != "nan"]
    if not known or not all(map(NUMBER.fullmatch, known)):
        return _to_text(cells)
    if len(known) == len(cells) and all(map(INTEGER.fullmatch, known)):
        return np.array(list(map(int, cells)), dtype=np.int64)
    # Such integers name something, and as floats several would be one.
    if any(map(_is_long_integer, known)):
        return _to_text(cells)
    # Of the missing, only the empty one is no number to Python.
    return np.array([float(cell or "nan") for cell in cells])


def _is_long_integer(cell):
    return len(cell) > 15 and cell.isdigit() and int(cell) > LARGEST_FLOAT_INTEGER


def _to_text(cells):
    if all(cells):
        return np.array(cells)
    return np.array([cell or None for cell in cells], dtype=object)
