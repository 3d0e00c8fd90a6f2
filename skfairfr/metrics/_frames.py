"""Records as tidy tables: one row for each level, group or cell, in any frame library.

The columns are those of the record; nothing is computed here. Frames themselves are made in
``skfairfr.utils``.
"""

import dataclasses
from collections.abc import Mapping
from types import MappingProxyType

from skfairfr.utils._frames import build_frame


class Framed:
    """A record, a dataclass, that also comes as a frame.

    What :func:`framed` adds are no fields: neither compared nor printed.
    """

    _library = None
    _asked: Mapping = MappingProxyType({})

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

    def _columns(self):
        """Column name -> values (n_rows,) or one value: here the fields as they are.

        ``reasons`` are records, which no table holds; ``reason`` says the same in words.
        """
        names = [field.name for field in dataclasses.fields(self)]
        return {name: getattr(self, name) for name in names if name != "reasons"}


def framed(record, library, **asked):
    """The record itself, which from now on knows more for its frame.

    Parameters
    ----------
    record : Framed
    library : str or None
        Its library by default, as ``library_of`` names it.
    **asked : float or ndarray
        Columns that records of levels begin with: the ``far`` or ``threshold`` asked for.
    """
    for name, value in (("_library", library), ("_asked", asked)):
        if value:
            object.__setattr__(record, name, value)
    return record
