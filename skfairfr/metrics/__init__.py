"""Metrics of biometric verification, overall and by group.

Two images of one *identity* make a *genuine* pair, of two an *impostor* pair. A pair is
accepted when its similarity is at least a *threshold*. The *far* is the share of impostor
pairs accepted, the *frr* that of genuine pairs rejected. Lower is better for both. ISO/IEC
19795 calls them FMR and FNMR, since its FAR and FRR also count failures to acquire.

``sensitive_features`` give the *group* of each image. A pair belongs to a group when both
its images do. A *disparity* is one number for how much the rates of groups differ at an
operating point, the threshold that meets a level of the FAR: over all pairs ("overall"),
in every group ("worst_group"), or in each group at its own threshold ("group").

Functions named ``*_rate``, ``*_at_far`` and ``*_disparity``, and ``bfar``, ``bfrr``, ``garbe``
and ``werm``, are to be minimised. ``fairness_discrepancy_rate`` alone is to be maximised. A
value that the data do not define is nan, with an ``UndefinedMetricWarning``.
Names ending in ``_scorer``, and ``fairness_scores``, are for scikit-learn's searches and
negate what they measure: greater is better.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from skfairfr._core._support import Reason
from skfairfr.metrics._asymmetry import FARAsymmetry
from skfairfr.metrics._attacks import AttackDetection, attack_detection
from skfairfr.metrics._certificates import CertifiedThreshold
from skfairfr.metrics._embeddings import (
    IdentityInertia,
    InstanceFAR,
    all_pairs,
    identity_inertia,
    instance_far,
)
from skfairfr.metrics._explain import (
    ExplainedRatio,
    Explanation,
    RateCurve,
    explain_errors,
)
from skfairfr.metrics._identification import IdentificationROC
from skfairfr.metrics._label_errors import (
    LabelCorrection,
    LabelErrorBounds,
    correct_for_label_errors,
    label_error_bounds,
)
from skfairfr.metrics._monitor import (
    MonitorState,
    RateMonitor,
    WatchedLimit,
    WatchedRates,
)
from skfairfr.metrics._pairs._costs import (
    PairAccuracy,
    calibration_loss,
    cllr,
    detection_cost,
    expected_performance_curve,
    half_total_error_rate,
    min_cllr,
    pair_accuracy,
    tar_at_far,
)
from skfairfr.metrics._pairs._disparities import (
    GroupGateRates,
    bfar,
    bfrr,
    disparity,
    fairness_discrepancy_rate,
    far_disparity,
    frr_disparity,
    garbe,
    group_gate_rates,
    inequity_rate,
    werm,
)
from skfairfr.metrics._pairs._rates import (
    GroupErrorRates,
    ReversedScoresWarning,
    equal_error_rate,
    far_frr_curve,
    frr_at_far,
    group_error_rates,
    threshold_at_far,
)
from skfairfr.metrics._plan import Dependence, Plan, plan_test
from skfairfr.metrics._records import (
    CMC,
    Comparison,
    Estimate,
    GalleryAlarms,
    GroupFARMatrix,
    GroupFPIRMatrix,
    ROCCurve,
    ScoreSummary,
)
from skfairfr.metrics._roc._engine import EstimandWarning
from skfairfr.metrics._roc._similarity_roc import SimilarityROC
from skfairfr.metrics._scorers import (
    bfar_scorer,
    bfrr_scorer,
    fairness_scores,
    far_max_geomean_scorer,
    frr_at_far_scorer,
    frr_max_geomean_scorer,
    make_fairness_scorer,
)
from skfairfr.metrics._worst_group import (
    WorstGroupRate,
    cluster_groups,
    worst_cluster_rate,
    worst_group_rate,
)
from skfairfr.utils._validation import FewErrorsWarning

if TYPE_CHECKING:
    from skfairfr.metrics._plot._curves import (
        DisparityCurveDisplay as DisparityCurveDisplay,
    )
    from skfairfr.metrics._plot._curves import (
        GallerySizeDisplay as GallerySizeDisplay,
    )
    from skfairfr.metrics._plot._curves import RateCurveDisplay as RateCurveDisplay
    from skfairfr.metrics._plot._curves import (
        SimilarityROCDisplay as SimilarityROCDisplay,
    )
    from skfairfr.metrics._plot._embeddings import (
        IdentityInertiaDisplay as IdentityInertiaDisplay,
    )
    from skfairfr.metrics._plot._embeddings import (
        InstanceFARDisplay as InstanceFARDisplay,
    )
    from skfairfr.metrics._plot._groups import GroupFARDisplay as GroupFARDisplay
    from skfairfr.metrics._plot._groups import GroupRatesDisplay as GroupRatesDisplay
    from skfairfr.metrics._plot._groups import (
        GroupWeightsDisplay as GroupWeightsDisplay,
    )
    from skfairfr.metrics._plot._search import KappaGridDisplay as KappaGridDisplay
    from skfairfr.metrics._plot._search import MitigationsDisplay as MitigationsDisplay
    from skfairfr.metrics._plot._search import TradeOffDisplay as TradeOffDisplay
    from skfairfr.metrics._plot._thresholds import ErrorRateDisplay as ErrorRateDisplay
    from skfairfr.metrics._plot._thresholds import (
        ExpectedPerformanceDisplay as ExpectedPerformanceDisplay,
    )
    from skfairfr.metrics._plot._thresholds import (
        ReliabilityDisplay as ReliabilityDisplay,
    )
    from skfairfr.metrics._plot._thresholds import (
        ScoreHistogramDisplay as ScoreHistogramDisplay,
    )

# Displays import this package: they are resolved on first use.
_DISPLAYS = {
    "DisparityCurveDisplay": "_curves",
    "ErrorRateDisplay": "_thresholds",
    "ExpectedPerformanceDisplay": "_thresholds",
    "GallerySizeDisplay": "_curves",
    "GroupFARDisplay": "_groups",
    "GroupRatesDisplay": "_groups",
    "GroupWeightsDisplay": "_groups",
    "RateCurveDisplay": "_curves",
    "ReliabilityDisplay": "_thresholds",
    "ScoreHistogramDisplay": "_thresholds",
    "SimilarityROCDisplay": "_curves",
    "IdentityInertiaDisplay": "_embeddings",
    "InstanceFARDisplay": "_embeddings",
    "KappaGridDisplay": "_search",
    "MitigationsDisplay": "_search",
    "TradeOffDisplay": "_search",
}

__all__ = [
    "CMC",
    "AttackDetection",
    "CertifiedThreshold",
    "Comparison",
    "Dependence",
    "DisparityCurveDisplay",
    "ErrorRateDisplay",
    "EstimandWarning",
    "Estimate",
    "ExpectedPerformanceDisplay",
    "ExplainedRatio",
    "Explanation",
    "FARAsymmetry",
    "FewErrorsWarning",
    "GalleryAlarms",
    "GallerySizeDisplay",
    "GroupErrorRates",
    "GroupFARDisplay",
    "GroupFARMatrix",
    "GroupFPIRMatrix",
    "GroupGateRates",
    "GroupRatesDisplay",
    "GroupWeightsDisplay",
    "IdentificationROC",
    "IdentityInertia",
    "IdentityInertiaDisplay",
    "InstanceFAR",
    "InstanceFARDisplay",
    "KappaGridDisplay",
    "LabelCorrection",
    "LabelErrorBounds",
    "MitigationsDisplay",
    "MonitorState",
    "PairAccuracy",
    "Plan",
    "ROCCurve",
    "RateCurve",
    "RateCurveDisplay",
    "RateMonitor",
    "Reason",
    "ReliabilityDisplay",
    "ReversedScoresWarning",
    "ScoreHistogramDisplay",
    "ScoreSummary",
    "SimilarityROC",
    "SimilarityROCDisplay",
    "TradeOffDisplay",
    "WatchedLimit",
    "WatchedRates",
    "WorstGroupRate",
    "all_pairs",
    "attack_detection",
    "bfar",
    "bfar_scorer",
    "bfrr",
    "bfrr_scorer",
    "calibration_loss",
    "cllr",
    "cluster_groups",
    "correct_for_label_errors",
    "detection_cost",
    "disparity",
    "equal_error_rate",
    "expected_performance_curve",
    "explain_errors",
    "fairness_discrepancy_rate",
    "fairness_scores",
    "far_disparity",
    "far_frr_curve",
    "far_max_geomean_scorer",
    "frr_at_far",
    "frr_at_far_scorer",
    "frr_disparity",
    "frr_max_geomean_scorer",
    "garbe",
    "group_error_rates",
    "group_gate_rates",
    "half_total_error_rate",
    "identity_inertia",
    "inequity_rate",
    "instance_far",
    "label_error_bounds",
    "make_fairness_scorer",
    "min_cllr",
    "pair_accuracy",
    "plan_test",
    "tar_at_far",
    "threshold_at_far",
    "werm",
    "worst_cluster_rate",
    "worst_group_rate",
]


def __getattr__(name):
    if name in _DISPLAYS:
        module = import_module(f"skfairfr.metrics._plot.{_DISPLAYS[name]}")
        return getattr(module, name)
    raise AttributeError(f"module 'skfairfr.metrics' has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *__all__})
