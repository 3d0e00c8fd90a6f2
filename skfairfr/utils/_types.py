"""Types of arguments, for the signatures of public names."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

# One for each row, of any type. None and NaN are unknown.
Column = ArrayLike | Sequence[Any]
# Several attributes: a frame, or a dict of columns.
Columns = Column | Mapping[Any, Any]
FilePath = str | os.PathLike[str]
