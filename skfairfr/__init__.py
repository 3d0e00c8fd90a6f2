"""Assess and mitigate demographic disparities of biometric verification systems.

Public names are resolved when first used, so that ``import skfairfr`` loads neither torch
nor matplotlib.
"""

from importlib import import_module

__version__ = "0.1.0.dev0"

_HOME = {
    "SimilarityROC": "skfairfr.metrics",
    "make_face_embeddings": "skfairfr.datasets",
    "face_labels": "skfairfr.utils",
}

__all__ = sorted(_HOME)


def __getattr__(name):
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'skfairfr' has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), *__all__])
