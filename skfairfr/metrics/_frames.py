"""Records as tidy tables: one row for each level, group or cell, in any frame library.

The columns are those of the record; nothing is computed here.
"""

import dataclasses
import importlib.util

import narwhals.stable.v2 as nw
import numpy as np

# In the order in which the default looks for one that is installed.
BACKENDS = ("pandas", "polars", "pyarrow")


class Framed:
    """A record, a dataclass, that also comes as a frame."""

    def to_frame(self, backend=None):
        """Give the record as a tidy table: one row for each level, group or cell.

        Numbers that stand for the whole record are repeated in every row, and unknown
        labels are the library's missing values.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, default=None
            Library of the frame. None takes the first of them that is installed.

        Returns
        -------
        frame : pandas.DataFrame, polars.DataFrame or pyarrow.Table
            A new frame with n_rows rows; no index carries meaning.

        Raises
        ------
        ValueError
            If ``backend`` is none of those listed.
        ImportError
            If that library is not installed or, with None, none of them is.
        """
        return build_frame(self._columns(), backend)

    def _columns(self):
        """Column name -> values (n_rows,) or one value: here the fields as they are."""
        fields = dataclasses.fields(self)
        return {field.name: getattr(self, field.name) for field in fields}


def build_frame(columns, backend=None):
    """Columns, as arrays (n_rows,) or single values, as a frame of a library.

    Parameters
    ----------
    columns : dict of str -> array-like
        Single values are repeated; without any array, the frame has one row.
    backend : {"pandas", "polars", "pyarrow"} or None

    Returns
    -------
    frame : the library's own frame
    """
    backend = _check_backend(backend)
    columns = {name: _to_array(values) for name, values in columns.items()}
    shape = np.broadcast_shapes((1,), *(column.shape for column in columns.values()))
    lists = {
        name: _to_values(np.broadcast_to(column, shape), backend)
        for name, column in columns.items()
    }
    return nw.from_dict(lists, backend=backend).to_native()


def _to_array(values):
    """An array; a tuple of labels, such as None beside strings, keeps their types."""
    if not isinstance(values, tuple | list):
        return np.asarray(values)
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    return objects


def _to_values(column, backend):
    """Plain Python values, from which each library infers its own type."""
    values = column.tolist()
    if backend == "pandas" and column.dtype == object and None in values:
        # From a list, pandas would turn integer labels beside a None into floats.
        return column.copy()
    return values


def _check_backend(backend):
    """Name of an installed frame library."""
    if backend is None:
        installed = [name for name in BACKENDS if _is_installed(name)]
        if not installed:
            raise ImportError(
                "to_frame needs a frame library, and none of pandas, polars and pyarrow "
                "is installed. Install one: pip install pandas"
            )
        return installed[0]
    if not isinstance(backend, str) or backend not in BACKENDS:
        choices = ", ".join(repr(name) for name in BACKENDS)
        raise ValueError(f"backend must be None or one of {choices}; got {backend!r}.")
    if not _is_installed(backend):
        raise ImportError(
            f"to_frame(backend={backend!r}) needs {backend}, which is not installed: "
            f"pip install {backend}"
        )
    return backend


def _is_installed(name):
    return importlib.util.find_spec(name) is not None
