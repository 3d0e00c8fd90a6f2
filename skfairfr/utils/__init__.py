"""Labels, validation, random seeds and progress: what every door of the house uses."""

from skfairfr.utils import _extras

_HOME = {"face_labels": "skfairfr.utils._labels"}

__all__, __getattr__, __dir__ = _extras.lazy_names(__name__, _HOME)
