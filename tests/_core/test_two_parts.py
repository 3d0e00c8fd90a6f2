"""Logarithms and hypotenuses in two parts, against mpmath with 60 digits."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skfairfr._core._bessel import hypot_parts, log_of_number, log_parts

POSITIVE = st.floats(1e-300, 1e300)
DIGITS = 60


def exact_sum(high, low):
    return mpmath.mpf(float(high)) + mpmath.mpf(float(low))


@given(POSITIVE, st.floats(-0.5, 0.5))
def test_the_logarithm_is_right_far_below_the_rounding_of_one_float(x, ulps):
    low = ulps * np.spacing(x)
    with mpmath.workdps(DIGITS):
        error = exact_sum(*log_parts(x, low)) - mpmath.log(exact_sum(x, low))
        assert abs(error) < 1e-17


@given(POSITIVE)
def test_the_high_part_stays_exact_times_a_half_integer(x):
    high, low = log_parts(x)
    assert high * 2**26 == np.rint(high * 2**26)
    assert abs(low) < 0.01
    with mpmath.workdps(DIGITS):
        assert mpmath.mpf(2047.5) * float(high) == float(2047.5 * high)


@pytest.mark.parametrize("number", ["2", "0.5", "6.25", "1"])
def test_the_logarithm_of_a_number_is_that_of_the_array(number):
    with mpmath.workdps(DIGITS):
        error = exact_sum(*log_of_number(number)) - mpmath.log(mpmath.mpf(number))
        assert abs(error) < 1e-23


@given(st.integers(0, 2**20).map(lambda n: n / 2), st.floats(1e-140, 1e300))
def test_the_hypotenuse_is_right_far_below_the_rounding_of_one_float(x, y):
    with mpmath.workdps(DIGITS):
        exact = mpmath.hypot(x, y)
        assert abs(exact_sum(*hypot_parts(x, y)) - exact) < 1e-30 * exact


@pytest.mark.parametrize(("x", "y"), [(0, 0), (7, 0), (0, 7), (3, 4), (0, 1e308)])
def test_whole_hypotenuses_have_no_low_part(x, y):
    assert hypot_parts(float(x), float(y)) == (np.hypot(x, y), 0)


def test_arrays_are_taken_entry_by_entry():
    x = np.array([[0.1, 2.0], [30.0, 1e5]])
    for parts in (log_parts, lambda v: hypot_parts(3.0, v)):
        rows = np.array([[parts(value) for value in row] for row in x])
        np.testing.assert_array_equal(np.stack(parts(x), axis=-1), rows)
