"""Facts of the disparity of given rates."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import UndefinedMetricWarning

from skfairfr._core._rates import DISPARITIES
from skfairfr.metrics import disparity

FMR = [0.001, 0.002, 0.004, 0.008]
SYMMETRIC = sorted(set(DISPARITIES) - {"ratio"})


@pytest.mark.parametrize(
    ("how", "expected"),
    [  # the table of disparities
        ("max_min", 8),
        ("max_geomean", 2.8284271247461916),
        ("log_geomean", 1.2041199826559246),
        ("gini", 0.5111111111),
        ("difference", 0.007),
        (np.median, 0.003),
    ],
)
@pytest.mark.parametrize("container", [list, pd.Series])
def test_exact_vectors(how, expected, container):
    value = disparity(container(FMR), how)
    assert type(value) is float
    assert value == pytest.approx(expected, rel=1e-9)


def test_options_change_the_base_the_sum_and_the_divisor():
    """0.01 and 0.04 are a half of and twice their geometric mean, 0.02."""
    rates = [0.01, 0.04]
    assert disparity(rates, "log_geomean", log_base=2) == pytest.approx(2)
    options = {"log_base": 2, "log_reduce": "mean"}
    assert disparity(rates, "log_geomean", **options) == pytest.approx(1)
    assert disparity([0.1, 0.3], "std", ddof=1) == pytest.approx(0.02**0.5)


def test_ratio_keeps_the_order_given():
    assert disparity([0.25, 0.5], "ratio") == 2
    assert disparity([0.5, 0.25], "ratio") == 0.5


@pytest.mark.parametrize("how", [*SYMMETRIC, np.ptp])
def test_nan_rates_are_left_out_with_a_warning(how):
    with pytest.warns(UndefinedMetricWarning, match="group '1' is undefined"):
        value = disparity([0.1, np.nan, 0.4], how)
    assert value == disparity([0.1, 0.4], how)


@pytest.mark.parametrize("zero_division", [np.nan, np.inf, 1.0, 0])
@pytest.mark.parametrize("how", ["max_min", "max_geomean", "log_geomean", "ratio"])
def test_a_zero_denominator_gives_zero_division(how, zero_division):
    for rates in ([0.0, 0.1], [0.0, 0.0]):
        with pytest.warns(UndefinedMetricWarning, match="zero denominator"):
            value = disparity(rates, how, zero_division=zero_division)
        assert value == pytest.approx(zero_division, nan_ok=True)
        assert type(value) is float
