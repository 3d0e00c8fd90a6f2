"""Losses as torch modules: tensors in, a scalar out; usable in any training loop."""

from skfairfr.losses._fair_vmf import FairVMFLoss
from skfairfr.losses._fpr_penalty import FPRPenaltyLoss
from skfairfr.losses._semi_hard import semi_hard_negatives
from skfairfr.losses._triplet import TripletLoss

__all__ = ["FPRPenaltyLoss", "FairVMFLoss", "TripletLoss", "semi_hard_negatives"]
