"""The private scikit-learn names that the package leans on still do their work."""

from numbers import Integral, Real

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from skfairfr import _compat
from skfairfr._compat import Interval, StrOptions, fit_context


class Estimator(BaseEstimator):
    _parameter_constraints = {  # noqa: RUF012
        "far": [Interval(Real, 0, 1, closed="neither")],
        "average": [StrOptions({"pair", "identity"})],
    }

    def __init__(self, far=0.5, average="pair"):
        self.far = far
        self.average = average

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None):
        return self


@pytest.mark.parametrize("parameters", [{}, {"far": 0.1, "average": "identity"}])
def test_parameters_within_their_constraints_pass(parameters):
    assert Estimator(**parameters).fit(None)


@pytest.mark.parametrize("parameters", [{"far": 1.0}, {"far": "x"}, {"average": "all"}])
def test_parameters_outside_are_named(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        Estimator(**parameters).fit(None)


@pytest.mark.parametrize("value", [True, False, np.True_])
@pytest.mark.parametrize("kind", [Integral, Real])
def test_a_truth_value_is_no_number(value, kind):
    assert not Interval(kind, None, None, closed="neither").is_satisfied_by(value)
    assert Interval(kind, 0, 1, closed="both").is_satisfied_by(int(value))


def test_every_name_is_there():
    assert all(hasattr(_compat, name) for name in _compat.__all__)
