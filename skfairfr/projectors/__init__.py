"""Transformers between encoder and matcher that mitigate disparities.

They need torch and skorch, which come with the extra "mitigate". Without them
this package has no names.
"""

from skfairfr.utils import _extras

_HOME = {
    "AdversarialProjector": "skfairfr.projectors._adversarial_projector",
    "CentroidFairnessProjector": "skfairfr.projectors._centroid_fairness_projector",
    "EthicalModule": "skfairfr.projectors._ethical_module",
    "FPRPenaltyProjector": "skfairfr.projectors._loss_projector",
    "LossProjector": "skfairfr.projectors._loss_projector",
    "TripletProjector": "skfairfr.projectors._triplet_projector",
}

__all__, __getattr__, __dir__ = _extras.lazy_names(
    __name__, _HOME, needs=dict.fromkeys(_HOME.values(), _extras.TRAINING)
)
