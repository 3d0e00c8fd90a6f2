"""Frames of any library: that of the caller's data, and records as tidy tables."""

import dataclasses
from collections.abc import Mapping
from html import escape
from numbers import Real
from types import MappingProxyType

import narwhals.stable.v2 as nw
import numpy as np

from skfairfr.utils._extras import is_installed
from skfairfr.utils._validation import check_option

# The default is the first of these that is installed.
BACKENDS = ("pandas", "polars", "pyarrow")
# A notebook shows the first rows of a long table.
MAX_ROWS = 60


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
        Single values are repeated; without any array, the frame has one row. Arrays of
        more dimensions have a row for each element.
    backend : {"pandas", "polars", "pyarrow"} or None
    default_library : str or None
        Any library of narwhals, used where ``backend`` is None.

    Returns
    -------
    frame : the library's own frame
    """
    backend = _check_backend(backend, default_library)
    lists = {n: _to_values(c, backend) for n, c in _spread(columns).items()}
    return nw.from_dict(lists, backend=backend).to_native()


def _spread(columns):
    """Columns as arrays of one length, single values repeated."""
    columns = {name: _to_array(values) for name, values in columns.items()}
    shape = np.broadcast_shapes((1,), *(column.shape for column in columns.values()))
    return {n: np.broadcast_to(column, shape).ravel() for n, column in columns.items()}


def _to_array(values):
    """An array; a list or tuple of labels, such as None and strings, keeps their types."""
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
    if backend is None:
        known = filter(None, (default_library, *BACKENDS))
        installed = [name for name in known if is_installed(name)]
        if not installed:
            raise ImportError(
                "to_frame needs a frame library, and none of pandas, polars and pyarrow "
                "is installed. Install one: pip install pandas"
            )
        return installed[0]
    check_option(backend, "backend", BACKENDS)
    if not is_installed(backend):
        raise ImportError(
            f"to_frame(backend={backend!r}) needs {backend}, which is not installed: "
            f"pip install {backend}"
        )
    return backend


class Framed:
    """Base of dataclass records that can be returned as a frame.

    The attributes that :func:`framed` sets are not fields: they are neither compared nor
    printed.
    """

    _library = None
    _level_columns: Mapping = MappingProxyType({})

    def to_frame(self, backend=None):
        """Give the record as a tidy table: one row for each level, group or cell.

        Numbers that stand for the whole record are repeated in every row, and unknown
        labels are the library's missing values.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, default=None
            Library of the frame. None takes that of the frames the record was computed
            from or, without any, the first of these that is installed.

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
        return build_frame(self._columns(), backend, self._library)

    def _repr_html_(self):
        """The same table, as a notebook shows it."""
        columns = _spread(self._columns())
        rows = list(zip(*(c.tolist() for c in columns.values()), strict=True))
        return html_table(columns, rows, type(self).__name__)

    def _columns(self):
        """Column name -> values (n_rows,) or one value; levels first, then the fields.

        ``reasons`` are records, which no table holds; ``reason`` gives them in words.
        """
        names = [field.name for field in dataclasses.fields(self)]
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


def html_table(head, rows, caption):
    """Columns and rows as a table of HTML, every text escaped; the first of many rows."""
    if len(rows) > MAX_ROWS:
        caption = f"{caption}; the first {MAX_ROWS} of {len(rows)} rows"
    lines = [f"<table>\n<caption>{escape(caption)}</caption>"]
    lines += [f"<thead>{_html_row(head, 'th')}</thead>", "<tbody>"]
    lines += [_html_row(row, "td") for row in rows[:MAX_ROWS]]
    return "\n".join([*lines, "</tbody></table>"])


def _html_row(values, kind):
    cells = (f"<{kind}>{escape(_shown(value))}</{kind}>" for value in values)
    return f"<tr>{''.join(cells)}</tr>"


def _shown(value):
    """A number with four significant digits; nothing where there is none."""
    if value is None or value != value:
        return ""
    if isinstance(value, Real) and not isinstance(value, bool | int):
        return f"{float(value):.4g}"
    return str(value)
