"""Frames in, frames out: which library a caller uses, and a table in it."""

import importlib.util

import narwhals.stable.v2 as nw
import numpy as np

# In the order in which the default looks for one that is installed.
BACKENDS = ("pandas", "polars", "pyarrow")


def library_of(*given):
    """Name of the library of the first frame or series among arguments, or None."""
    for values in given:
        native = nw.from_native(values, pass_through=True, allow_series=True)
        if isinstance(native, nw.DataFrame | nw.Series):
            return native.implementation.value
    return None


def build_frame(columns, backend=None, remembered=None):
    """Columns, as arrays (n_rows,) or single values, as a frame of a library.

    Parameters
    ----------
    columns : dict of str -> array-like
        Single values are repeated; without any array, the frame has one row. Arrays of
        more dimensions have a row for each element.
    backend : {"pandas", "polars", "pyarrow"} or None
    remembered : str or None
        Any library of narwhals, for the default.

    Returns
    -------
    frame : the library's own frame
    """
    backend = _check_backend(backend, remembered)
    columns = {name: _to_array(values) for name, values in columns.items()}
    shape = np.broadcast_shapes((1,), *(column.shape for column in columns.values()))
    lists = {
        name: _to_values(np.broadcast_to(column, shape).ravel(), backend)
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


def _check_backend(backend, remembered):
    """Name of an installed frame library."""
    if backend is None and remembered is not None and _is_installed(remembered):
        return remembered
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
