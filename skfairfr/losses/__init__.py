"""Losses as torch modules: tensors in, a scalar out. Usable in any training loop.

They need torch, which comes with the extra "mitigate". Without it this package has no names.
"""

from typing import TYPE_CHECKING

from skfairfr.utils import _extras

if TYPE_CHECKING:
    from skfairfr.losses._centroid_fairness import (
        CentroidFairnessLoss as CentroidFairnessLoss,
    )
    from skfairfr.losses._fair_vmf import FairVMFLoss as FairVMFLoss
    from skfairfr.losses._fpr_penalty import FPRPenaltyLoss as FPRPenaltyLoss
    from skfairfr.losses._group_adversary import (
        GroupAdversaryLoss as GroupAdversaryLoss,
    )
    from skfairfr.losses._triplet import TripletLoss as TripletLoss
    from skfairfr.losses._triplet import semi_hard_negatives as semi_hard_negatives

_HOME = {
    "CentroidFairnessLoss": "skfairfr.losses._centroid_fairness",
    "FPRPenaltyLoss": "skfairfr.losses._fpr_penalty",
    "FairVMFLoss": "skfairfr.losses._fair_vmf",
    "GroupAdversaryLoss": "skfairfr.losses._group_adversary",
    "TripletLoss": "skfairfr.losses._triplet",
    "semi_hard_negatives": "skfairfr.losses._triplet",
}

__all__, __getattr__, __dir__ = _extras.lazy_names(
    __name__, _HOME, needs=dict.fromkeys(_HOME.values(), ("torch",))
)
