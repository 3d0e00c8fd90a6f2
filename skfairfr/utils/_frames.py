"""Frames of any library: that of the caller's data, and records as tidy tables."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from skfairfr.utils._extras import is_installed
from skfairfr.utils._validation import check_option

# The default is the first of these that is installed.
BACKENDS = ("pandas", "polars", "pyarrow")


def library_of(*given):
    """Name of the library of the first frame or series among arguments, or None."""
    for values in given:
        native = nw.from_native(values, pass_through=True, allow_series=True)
        if isinstance(native, nw.DataFrame | nw.Series):
            return native.implementation.value
    return None


def build_frame(columns, backend=None, default_library=None):
    """Columns, as arrays (n_rows,) or single values, as a frame of a library.

    Parameters
    ----------
    columns : dict of str -> array-like
        Single values are repeated. Without any array, the frame has one row. Arrays of
        more dimensions have a row for each element.
    backend : {"pandas", "polars", "pyarrow"} or None
    default_library : str or None
        Any library of narwhals, used where ``backend`` is None.

    Returns
    -------
    frame : the library's own frame
    """
    backend = _check_backend(backend, default_library)
    arrays = {name: _to_array(values) for name, values in columns.items()}
    shape = np.broadcast_shapes((1,), *(array.shape for array in arrays.values()))
    arrays = {n: np.broadcast_to(array, shape).ravel() for n, array in arrays.items()}
    lists = {name: _to_values(array, backend) for name, array in arrays.items()}
    return nw.from_dict(lists, backend=backend).to_native()


def _to_array(values):
    """An array. A list or tuple of labels, such as None and strings, keeps their types."""
    if not isinstance(values, tuple | list):
        return np.asarray(values)
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    return objects


def _to_values(column, backend):
    """Plain Python values, from which each library infers its own type."""
    values = column.tolist()
    if backend == "pandas" and column.dtype == object and None in values:
        # From a list, pandas would turn integer labels next to a None into floats.
        return column.copy()
    return values


def _check_backend(backend, default_library):
    """Name of an installed frame library."""
    if backend is not None:
        check_option(backend, "backend", BACKENDS)
    known = [backend] if backend else filter(None, (default_library, *BACKENDS))
    found = next(filter(is_installed, known), None)
    if found is None:
        needed = backend or "pandas, polars or pyarrow"
        remedy = f"pip install {backend or 'pandas'}"
        raise ImportError(f"to_frame needs {needed}, which is not installed: {remedy}")
    return found


class ShownAsTable:
    """Base of records with ``to_frame``, which a notebook shows as that table."""

    def _repr_html_(self):
        """The table as its library shows it, or None if it does not."""
        with suppress(ImportError):
            return getattr(self.to_frame(), "_repr_html_", lambda: None)()


class Framed(ShownAsTable):
    """Base of dataclass records that can be returned as a frame.

    The attributes that :func:`framed` sets are not fields: they are not compared or printed.
    """

    _library = None
    _level_columns: Mapping = MappingProxyType({})

    def to_frame(self, backend: str | None = None) -> Any:
        """Give the record as a tidy table: one row for each level, group or cell.

        Numbers of the whole record are repeated in every row, and unknown
        labels are the library's missing values.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, default=None
            Library of the frame. None takes that of the frames the record was computed
            from or, without any, the first of these that is installed.

        Returns
        -------
        frame : pandas.DataFrame, polars.DataFrame or pyarrow.Table
            A new frame with n_rows rows. No index carries meaning.

        Raises
        ------
        ValueError
            If ``backend`` is none of those listed.
        ImportError
            If that library is not installed or, with None, none of them is.
        """
        return build_frame(self._columns(), backend, self._library)

    def _columns(self):
        """Column name -> values (n_rows,) or one value. Levels, then fields."""
        names = [field.name for field in dataclasses.fields(self)]
        # ``reasons`` are records, which do not fit into a table. ``reason`` has their text.
        columns = {name: getattr(self, name) for name in names if name != "reasons"}
        return {**self._level_columns, **columns}


def framed(record, library, **level_columns):
    """Set the default library of a record's frame, and its first columns.

    Parameters
    ----------
    record : Framed
    library : str or None
        As ``library_of`` names it.
    **level_columns : float or ndarray
        First columns of a record of levels: its ``far`` or ``threshold``.

    Returns
    -------
    record : Framed
        The same object.
    """
    for name, value in (("_library", library), ("_level_columns", level_columns)):
        if value:
            object.__setattr__(record, name, value)
    return record
