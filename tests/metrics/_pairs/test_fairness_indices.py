"""Facts of the indices that join FMR and FNMR."""

import numpy as np
import pytest
from sklearn.exceptions import UndefinedMetricWarning

from skfairfr.metrics import (
    disparity,
    fairness_discrepancy_rate,
    garbe,
    inequity_rate,
    werm,
)

FMR = [0.001, 0.002, 0.004, 0.008]
FNMR = [0.01, 0.02, 0.02, 0.05]
INDICES = [fairness_discrepancy_rate, inequity_rate, werm, garbe]


@pytest.mark.parametrize(
    ("index", "expected"),
    [  # the table of disparities
        (fairness_discrepancy_rate, 0.9765),
        (inequity_rate, 6.324555320336759),
        # The geometric mean of the two max_geomean of that table.
        (werm, (2.8284271247461916 * 2.3643540225079387) ** 0.5),
        (garbe, 0.4555555556),
    ],
)
def test_exact_vectors(index, expected):
    value = index(FMR, FNMR)
    assert type(value) is float
    assert value == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("index", "how", "sign", "offset"),
    [
        (fairness_discrepancy_rate, "difference", -1, 1),
        (inequity_rate, "max_min", 1, 0),
        (werm, "max_geomean", 1, 0),
        (garbe, "gini", 1, 0),
    ],
)
@pytest.mark.parametrize(("alpha", "rates"), [(1, FMR), (0, FNMR)])
def test_the_ends_of_alpha_are_one_kind_alone(index, how, sign, offset, alpha, rates):
    expected = offset + sign * disparity(rates, how)
    assert index(FMR, FNMR, alpha=alpha) == pytest.approx(expected)


@pytest.mark.parametrize("index", INDICES)
def test_rates_below_the_floor_count_as_it(index):
    # 0.015 is above some rates of either kind.
    floored = [[max(rate, 0.015) for rate in rates] for rates in (FMR, FNMR)]
    assert index(FMR, FNMR, floor=0.015) == index(*floored)
    with pytest.warns(UndefinedMetricWarning, match="group '0' is undefined"):
        index([np.nan, 0.1, 0.2], [0.1, 0.2, 0.3], floor=0.15)


def test_a_floor_keeps_ratios_finite():
    assert disparity([0.0, 1e-3], floor=1e-5) == pytest.approx(100)


def test_a_zero_rate_leaves_the_inequity_rate_undefined():
    with pytest.warns(UndefinedMetricWarning, match="zero denominator"):
        assert np.isnan(inequity_rate([0, 0.1], [0.1, 0.2]))
    assert fairness_discrepancy_rate([0, 0.1], [0.1, 0.1]) == pytest.approx(0.95)


@pytest.mark.parametrize("index", INDICES)
def test_nan_rates_are_left_out_with_a_warning(index):
    with pytest.warns(UndefinedMetricWarning, match="group '1' is undefined"):
        value = index([0.1, np.nan, 0.2], [0.1, 0.1, 0.1])
    assert value == pytest.approx(index([0.1, 0.2], [0.1, 0.1]))
