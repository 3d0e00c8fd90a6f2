"""The only module that touches private scikit-learn names."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeVar

from sklearn.base import BaseEstimator, _fit_context
from sklearn.metrics._scorer import _BaseScorer
from sklearn.utils._metadata_requests import RequestMethod
from sklearn.utils._param_validation import Interval as _Interval
from sklearn.utils._param_validation import StrOptions
from sklearn.utils._param_validation import validate_params as _validate_params
from sklearn.utils.validation import _num_samples as count_rows

__all__ = ["Interval", "SharingScorer", "StrOptions", "count_rows"]
__all__ += ["fit_context", "validate_params"]


F = TypeVar("F")


def fit_context(*, prefer_skip_nested_validation: bool) -> Callable[[F], F]:
    """Scikit-learn's, which keeps the type of what it decorates."""
    return _fit_context(prefer_skip_nested_validation=prefer_skip_nested_validation)


def validate_params(
    constraints: dict, *, prefer_skip_nested_validation: bool
) -> Callable[[F], F]:
    """Scikit-learn's, which keeps the type of what it decorates."""
    return _validate_params(
        constraints, prefer_skip_nested_validation=prefer_skip_nested_validation
    )


class Interval(_Interval):
    """Numbers in an interval. True and False, which are 1 and 0 to Python, are none.

    An integer beyond floats is in none either.
    """

    def is_satisfied_by(self, val):
        if isinstance(val, bool) or not super().is_satisfied_by(val):
            return False
        return not isinstance(val, int) or abs(val) <= sys.float_info.max


class SharingScorer(BaseEstimator, _BaseScorer):
    """Base of scorers that share work where several are called with one estimator.

    Given a dict of scorers, scikit-learn calls ``_score`` of each that is a ``_BaseScorer``
    and passes a cache that lives as long as the call. A subclass defines
    ``_score_with(shared, estimator, X, y, **metadata)``, where ``shared`` is the cache, or
    an empty dict if the scorer is alone.
    """

    # Scikit-learn makes a cache where two scorers name the same method.
    _response_method = "transform"
    # Those of _BaseScorer are about a function of y_true and y_pred, and there is none.
    _get_metadata_request = BaseEstimator._get_metadata_request
    set_score_request = RequestMethod("score", [])

    def _accept_sample_weight(self):
        return False

    def _score(self, method_caller, estimator, X, y_true, **metadata):
        arguments = getattr(method_caller, "args", ())
        shared = arguments[0] if arguments else None
        if not isinstance(shared, dict):
            shared = {}
        return self._score_with(shared, estimator, X, y_true, **metadata)
