"""Weights of groups: their formulas, their mean, what is refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skfairfr.samplers import (
    EXPONENT,
    adjusted_weights,
    dynamic_weights,
    equal_weights,
    natural_weights,
)

CONTINENTS = ["AF", "AM", "AS", "EU", "OC", "UN"]
PAPER = {"EU": 1, "AM": 1, "OC": 1, "UN": 1, "AF": 3, "AS": 3}


def dynamic(previous, errors, n, **options):
    return dynamic_weights(np.array(previous), np.array(errors), np.array(n), **options)


def test_natural_weights_are_in_proportion_to_counts():
    assert_allclose(natural_weights([610, 151, 5]), np.array([610, 151, 5]) * 3 / 766)


def test_equal_weights_are_one():
    assert_array_equal(equal_weights(6), np.ones(6))


def test_adjusted_weights_keep_the_paper_s_ratio_in_the_order_of_the_groups():
    weights = adjusted_weights(PAPER, CONTINENTS)
    assert_allclose(weights * 10 / 6, [3, 1, 3, 1, 1, 1])


@pytest.mark.parametrize(
    "weights",
    [
        natural_weights([1, 2, 9]),
        equal_weights(4),
        adjusted_weights(PAPER, CONTINENTS),
        dynamic([1, 5, 3], [0, 10, 1000], [50, 10_000, 10_000]),
        natural_weights([1e300, 1e300]),
    ],
)
def test_the_mean_is_one(weights):
    assert weights.mean() == pytest.approx(1)


def test_ten_times_the_far_is_four_times_the_weight():
    target = dynamic([1, 1], [100_000, 10_000], [10**7, 10**7], smoothing=1)
    assert target[0] / target[1] == pytest.approx(4, rel=1e-4)
    assert EXPONENT == pytest.approx(np.log10(4))


def test_smoothing_is_the_paper_s_average_of_target_and_previous():
    previous = np.array([0.5, 1.5])
    target = dynamic(previous, [40, 10], [1000, 1000], smoothing=1)
    found = dynamic(previous, [40, 10], [1000, 1000], smoothing=0.2)
    assert_allclose(found, 0.2 * target + 0.8 * previous)
    assert_array_equal(dynamic(previous, [40, 10], [1000, 1000], smoothing=0), previous)


def test_a_group_without_a_false_accept_is_floored():
    target = dynamic([1, 1], [0, 30], [1000, 1000], smoothing=1, exponent=1)
    assert target[0] / target[1] == pytest.approx((0.5 / 1001) / (30.5 / 1001))


def test_the_worse_group_gains_weight_and_equal_groups_stay():
    gained = dynamic([1, 1], [50, 5], [1000, 1000])
    assert gained[0] > 1 > gained[1] > 0
    assert_allclose(dynamic([1, 1], [7, 7], [1000, 1000]), [1, 1])
    assert_allclose(dynamic([1, 1], [50, 5], [1000, 1000], exponent=0), [1, 1])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"a": 1, "b": 1, "c": 1}, r"\['c'\], which are no groups"),
        ({"a": 1}, r"missing for \['b'\]"),
        ({"a": -1, "b": 1}, "finite and >= 0"),
        ({"a": np.inf, "b": 1}, "finite and >= 0"),
        ({"a": np.nan, "b": 1}, "finite and >= 0"),
        ({"a": 0, "b": 0}, "all 0"),
        ({"a": "x", "b": 1}, "must be numbers; got 'x' for 'a'"),
    ],
)
def test_adjusted_weights_refuse(weights, message):
    with pytest.raises(ValueError, match=message):
        adjusted_weights(weights, ["a", "b"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n": [0, 10]}, "Every group needs an impostor pair"),
        ({"errors": [11, 1]}, "no more false accepts"),
        ({"errors": [-1, 1]}, "no more false accepts"),
        ({"errors": [1, 1, 1]}, "one entry for each group"),
        ({"previous": [1, -1]}, "previous must be finite"),
        ({"previous": [[1, 1]]}, "one-dimensional"),
        ({"smoothing": 1.1}, r"smoothing must lie in \[0, 1\]"),
        ({"exponent": -1}, r"exponent must lie in \[0, inf\)"),
    ],
)
def test_dynamic_weights_refuse(change, message):
    usual = {"previous": [1, 1], "errors": [1, 1], "n": [10, 10]}
    with pytest.raises(ValueError, match=message):
        dynamic(**(usual | change))


@pytest.mark.parametrize("counts", [[], [0, 0], [-1, 2]])
def test_natural_weights_refuse(counts):
    with pytest.raises(ValueError, match="counts"):
        natural_weights(counts)


def test_equal_weights_need_a_group():
    with pytest.raises(ValueError, match="at least 1"):
        equal_weights(0)
