"""Estimators that score pairs of embeddings in place of the plain cosine, or prepare them."""

from skfairfr._core._calibration import Adjustment
from skfairfr._core._pair_tiles import PreparedImages
from skfairfr.comparators._base import Comparator
from skfairfr.comparators._calibrators import ClusterCalibration, ScoreCalibrator
from skfairfr.comparators._cohort import CohortNormalizer
from skfairfr.comparators._linear import (
    GroupMeanRemover,
    PLDAComparator,
    WithinClassWhitening,
)
from skfairfr.comparators._thresholds import FairScoreNormalizer, GroupThresholds

__all__ = [
    "Adjustment",
    "ClusterCalibration",
    "CohortNormalizer",
    "Comparator",
    "FairScoreNormalizer",
    "GroupMeanRemover",
    "GroupThresholds",
    "PLDAComparator",
    "PreparedImages",
    "ScoreCalibrator",
    "WithinClassWhitening",
]
