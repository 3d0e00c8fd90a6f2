"""Remover, whitening and PLDA obey scikit-learn's checks."""

import pytest
from sklearn import config_context
from sklearn.utils.estimator_checks import parametrize_with_checks

from skfairfr.comparators import GroupMeanRemover, PLDAComparator, WithinClassWhitening

# The checks give no groups.
pytestmark = pytest.mark.filterwarnings("ignore:fit was given no groups")

# The labels that the checks draw tell nothing of their rows; with less shrinkage, fewer of
# them leave no direction in which people differ.
ESTIMATORS = [GroupMeanRemover(), WithinClassWhitening(), PLDAComparator(0.1)]
ZERO_ROW = {"check_estimators_dtypes": "its data contain a zero row, an error here"}


def run_check(check, estimator):
    """Run it; versions of scikit-learn draw other labels, and some leave no model."""
    try:
        check(estimator)
    except ValueError as error:
        if "differ no more than the images of one" not in str(error):
            raise
        pytest.skip("its labels tell nothing of its rows, an error here")


@pytest.mark.slow
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=lambda _: ZERO_ROW)
def test_scikit_learn_checks(estimator, check):
    run_check(check, estimator)


@pytest.mark.slow
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=lambda _: ZERO_ROW)
def test_scikit_learn_checks_with_routing(estimator, check):
    with config_context(enable_metadata_routing=True):
        run_check(check, estimator)
