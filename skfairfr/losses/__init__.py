"""Losses as torch modules: tensors in, a scalar out; usable in any training loop."""

from skfairfr.losses._fair_vmf import FairVMFLoss
from skfairfr.losses._fpr_penalty import FPRPenaltyLoss

__all__ = ["FPRPenaltyLoss", "FairVMFLoss"]
