"""Transformers between encoder and matcher that mitigate disparities."""

from skfairfr.projectors._ethical_module import EthicalModule
from skfairfr.projectors._fpr_penalty_projector import FPRPenaltyProjector
from skfairfr.projectors._triplet_projector import TripletProjector

__all__ = ["EthicalModule", "FPRPenaltyProjector", "TripletProjector"]
