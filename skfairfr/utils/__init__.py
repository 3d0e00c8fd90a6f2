"""Labels, validation, random seeds and progress: what every door of the house uses."""

from skfairfr.utils._labels import face_labels

__all__ = ["face_labels"]
