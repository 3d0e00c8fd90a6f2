"""Selection of candidates on people who were not used for training.

``IdentityKFold`` keeps all images of a person in one fold and balances groups over folds.
``BestTradeOff`` chooses the candidate that is the best compromise of two metrics.
``roc_over_splits`` takes thresholds from some people and rates from others.
``compare_mitigations`` tries many methods on the same splits, and reports which help.
``MITIGATIONS`` is a tuple of the method names that it knows, such as "as-norm", "FairCal" and
"ethical module". ``kappa_grid`` returns the concentrations to search for ``EthicalModule``.
The scorers of such a search are in ``skfairfr.metrics``.
"""

from skfairfr.model_selection._bench import (
    Bench,
    ControlResult,
    GroupChange,
    MethodResult,
    MetricChange,
    compare_mitigations,
)
from skfairfr.model_selection._kappas import kappa_grid
from skfairfr.model_selection._mitigations import (
    MITIGATIONS,
    load_mitigation,
    save_mitigation,
)
from skfairfr.model_selection._splits import (
    IdentityKFold,
    SplitROC,
    roc_over_splits,
)
from skfairfr.model_selection._trade_off import BestTradeOff

__all__ = [
    "MITIGATIONS",
    "Bench",
    "BestTradeOff",
    "ControlResult",
    "GroupChange",
    "IdentityKFold",
    "MethodResult",
    "MetricChange",
    "SplitROC",
    "compare_mitigations",
    "kappa_grid",
    "load_mitigation",
    "roc_over_splits",
    "save_mitigation",
]
