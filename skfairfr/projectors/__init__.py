"""Transformers between encoder and matcher that mitigate disparities.

They need torch and skorch, which come with the extra "mitigate". Without them
this package has no names.
"""

from typing import TYPE_CHECKING

from skfairfr.utils import _extras

if TYPE_CHECKING:
    from skfairfr.projectors._adversarial_projector import (
        AdversarialProjector as AdversarialProjector,
    )
    from skfairfr.projectors._centroid_fairness_projector import (
        CentroidFairnessProjector as CentroidFairnessProjector,
    )
    from skfairfr.projectors._ethical_module import EthicalModule as EthicalModule
    from skfairfr.projectors._fpr_penalty_projector import (
        FPRPenaltyProjector as FPRPenaltyProjector,
    )
    from skfairfr.projectors._loss_projector import LossProjector as LossProjector
    from skfairfr.projectors._triplet_projector import (
        TripletProjector as TripletProjector,
    )

_HOME = {
    "AdversarialProjector": "skfairfr.projectors._adversarial_projector",
    "CentroidFairnessProjector": "skfairfr.projectors._centroid_fairness_projector",
    "EthicalModule": "skfairfr.projectors._ethical_module",
    "FPRPenaltyProjector": "skfairfr.projectors._fpr_penalty_projector",
    "LossProjector": "skfairfr.projectors._loss_projector",
    "TripletProjector": "skfairfr.projectors._triplet_projector",
}

__all__, __getattr__, __dir__ = _extras.lazy_names(
    __name__, _HOME, needs=dict.fromkeys(_HOME.values(), _extras.TRAINING)
)
