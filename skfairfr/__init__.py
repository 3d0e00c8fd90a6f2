"""Assess and mitigate demographic disparities of biometric verification systems.

Public names are resolved when first used, so ``import skfairfr`` does not load torch or
matplotlib. A plain install can measure. ``EthicalModule``, ``FPRPenaltyProjector`` and
``TripletProjector`` need the extra "mitigate" (torch, skorch). Without it they
are left out of ``__all__`` and ``dir()``, and using one raises an ImportError that names the
extra. ``hasattr(skfairfr, "EthicalModule")`` raises it, too, because only an ImportError keeps
its message in ``from skfairfr import EthicalModule``. Ask ``"EthicalModule" in
skfairfr.__all__`` instead.
"""

from typing import TYPE_CHECKING

from skfairfr.utils import _extras

__version__ = "0.2.0"

if TYPE_CHECKING:
    from skfairfr.comparators import CohortNormalizer as CohortNormalizer
    from skfairfr.datasets import make_face_embeddings as make_face_embeddings
    from skfairfr.metrics import IdentificationROC as IdentificationROC
    from skfairfr.metrics import SimilarityROC as SimilarityROC
    from skfairfr.metrics import attack_detection as attack_detection
    from skfairfr.metrics import bfar_scorer as bfar_scorer
    from skfairfr.metrics import bfrr_scorer as bfrr_scorer
    from skfairfr.metrics import fairness_scores as fairness_scores
    from skfairfr.metrics import far_max_geomean_scorer as far_max_geomean_scorer
    from skfairfr.metrics import frr_at_far_scorer as frr_at_far_scorer
    from skfairfr.metrics import frr_max_geomean_scorer as frr_max_geomean_scorer
    from skfairfr.metrics import make_fairness_scorer as make_fairness_scorer
    from skfairfr.metrics import plan_test as plan_test
    from skfairfr.model_selection import BestTradeOff as BestTradeOff
    from skfairfr.model_selection import IdentityKFold as IdentityKFold
    from skfairfr.model_selection import compare_mitigations as compare_mitigations
    from skfairfr.model_selection import kappa_grid as kappa_grid
    from skfairfr.model_selection import load_mitigation as load_mitigation
    from skfairfr.projectors import EthicalModule as EthicalModule
    from skfairfr.projectors import FPRPenaltyProjector as FPRPenaltyProjector
    from skfairfr.projectors import TripletProjector as TripletProjector
    from skfairfr.report import audit as audit
    from skfairfr.report import audit_data as audit_data
    from skfairfr.report import audit_decisions as audit_decisions
    from skfairfr.report import audit_pairs as audit_pairs
    from skfairfr.report import certify_data as certify_data
    from skfairfr.report import compare_decisions as compare_decisions
    from skfairfr.report import compare_systems as compare_systems
    from skfairfr.report import explain as explain
    from skfairfr.report import identify as identify
    from skfairfr.report import read_data as read_data
    from skfairfr.utils import face_labels as face_labels

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
    "CohortNormalizer": "skfairfr.comparators",
    "IdentificationROC": "skfairfr.metrics",
    "attack_detection": "skfairfr.metrics",
    "plan_test": "skfairfr.metrics",
    "compare_mitigations": "skfairfr.model_selection",
    "kappa_grid": "skfairfr.model_selection",
    "load_mitigation": "skfairfr.model_selection",
    "audit": "skfairfr.report",
    "audit_data": "skfairfr.report",
    "audit_decisions": "skfairfr.report",
    "audit_pairs": "skfairfr.report",
    "certify_data": "skfairfr.report",
    "compare_decisions": "skfairfr.report",
    "compare_systems": "skfairfr.report",
    "explain": "skfairfr.report",
    "identify": "skfairfr.report",
    "read_data": "skfairfr.report",
    "make_face_embeddings": "skfairfr.datasets",
    "face_labels": "skfairfr.utils",
}

__all__, __getattr__, __dir__ = _extras.lazy_names(
    __name__, _HOME, needs={"skfairfr.projectors": _extras.TRAINING}
)
