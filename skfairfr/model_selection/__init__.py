"""Choosing among candidates on people who were not trained on.

``IdentityKFold`` keeps all images of a person in one fold and balances groups over folds;
``BestTradeOff`` chooses, of a search's candidates, the best compromise of two metrics.
Scorers that such a search needs are in ``skfairfr.metrics``.
"""

from skfairfr.model_selection._identity_k_fold import IdentityKFold
from skfairfr.model_selection._trade_off import BestTradeOff

__all__ = ["BestTradeOff", "IdentityKFold"]
