"""Labels, frames, validation and named errors: what every other package uses."""

from skfairfr.utils import _extras

_HOME = {
    "ArgumentError": "skfairfr.utils._errors",
    "face_labels": "skfairfr.utils._labels",
}

__all__, __getattr__, __dir__ = _extras.lazy_names(__name__, _HOME)
