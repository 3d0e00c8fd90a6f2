"""Choosing among candidates on people who were not trained on.

``IdentityKFold`` keeps all images of a person in one fold and balances groups over folds;
``BestTradeOff`` chooses, of a search's candidates, the best compromise of two metrics;
``roc_over_splits`` takes thresholds from some people and rates from others.
Scorers that such a search needs are in ``skfairfr.metrics``.
"""

from skfairfr.model_selection._identity_k_fold import IdentityKFold
from skfairfr.model_selection._roc_over_splits import SplitROC, roc_over_splits
from skfairfr.model_selection._trade_off import BestTradeOff

__all__ = ["BestTradeOff", "IdentityKFold", "SplitROC", "roc_over_splits"]
