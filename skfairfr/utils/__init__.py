"""Labels, frames, validation and named errors: what every other package uses."""

from typing import TYPE_CHECKING

from skfairfr.utils import _extras

if TYPE_CHECKING:
    from skfairfr.utils._bands import to_bands as to_bands
    from skfairfr.utils._errors import ArgumentError as ArgumentError
    from skfairfr.utils._labels import face_labels as face_labels

_HOME = {
    "ArgumentError": "skfairfr.utils._errors",
    "to_bands": "skfairfr.utils._bands",
    "face_labels": "skfairfr.utils._labels",
}

__all__, __getattr__, __dir__ = _extras.lazy_names(__name__, _HOME)
