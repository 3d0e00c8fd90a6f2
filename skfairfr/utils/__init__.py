"""Labels, frames, validation and named errors: what every other package uses."""

from skfairfr.utils._errors import ArgumentError
from skfairfr.utils._labels import face_labels

__all__ = ["ArgumentError", "face_labels"]
