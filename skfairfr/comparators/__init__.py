"""Estimators that score pairs of embeddings in place of the plain cosine, or prepare them."""

from skfairfr._core._adjustments import Adjustment
from skfairfr._core._pair_tiles import PreparedImages
from skfairfr.comparators._base import Comparator
from skfairfr.comparators._calibrators import ClusterCalibration, ScoreCalibrator
from skfairfr.comparators._cohort import CohortNormalizer
from skfairfr.comparators._fair_score_normalizer import FairScoreNormalizer
from skfairfr.comparators._group_thresholds import GroupThresholds
from skfairfr.comparators._linear import GroupMeanRemover, WithinClassWhitening
from skfairfr.comparators._plda import PLDAComparator

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
