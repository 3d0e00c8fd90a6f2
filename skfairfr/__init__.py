"""Assess and mitigate demographic disparities of biometric verification systems.

Public names are resolved when first used, so that ``import skfairfr`` loads neither torch
nor matplotlib.
"""

from importlib import import_module

__version__ = "0.1.0.dev0"

_HOME = {
    "EthicalModule": "skfairfr.projectors",
    "FPRPenaltyProjector": "skfairfr.projectors",
    "TripletProjector": "skfairfr.projectors",
    "SimilarityROC": "skfairfr.metrics",
    "bfar_scorer": "skfairfr.metrics",
    "bfrr_scorer": "skfairfr.metrics",
    "frr_at_far_scorer": "skfairfr.metrics",
    "far_max_geomean_scorer": "skfairfr.metrics",
    "frr_max_geomean_scorer": "skfairfr.metrics",
    "make_fairness_scorer": "skfairfr.metrics",
    "fairness_scores": "skfairfr.metrics",
    "BestTradeOff": "skfairfr.model_selection",
    "IdentityKFold": "skfairfr.model_selection",
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
