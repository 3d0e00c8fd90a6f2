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
from skfairfr.utils import ArgumentError

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
    ("weights", "words"),
    [
        ({"a": 1, "b": 1, "c": 1}, r"weights has \['c'\], as no group"),
        ({"a": 1}, r"weights lacks an entry for \['b'\];"),
        ({"a": np.nan, "b": 1}, "weights must be finite and >= 0"),
        ({"a": 0, "b": 0}, "weights are all 0"),
        ({"a": "x", "b": 1}, "weights must be numbers, got 'x' for 'a'"),
    ],
)
def test_adjusted_weights_refuse(weights, words):
    with pytest.raises(ArgumentError, match=words):
        adjusted_weights(weights, ["a", "b"])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"n": [0, 10]}, "n_false_accepts must lie between 0 and n_impostors"),
        ({"errors": [11, 1]}, "n_false_accepts must lie between"),
        ({"errors": [1, 1, 1]}, "n_false_accepts must have one entry for each group"),
        ({"previous": [1, -1]}, "previous must be finite"),
        ({"previous": [[1, 1]]}, "previous must be one-dimensional"),
        ({"smoothing": 1.1}, r"smoothing must lie in \[0, 1\]"),
        ({"exponent": -1}, r"exponent must lie in \[0, inf\)"),
    ],
)
def test_dynamic_weights_refuse(change, words):
    usual = {"previous": [1, 1], "errors": [1, 1], "n": [10, 10]}
    with pytest.raises(ArgumentError, match=words):
        dynamic(**(usual | change))
    with pytest.raises(ArgumentError, match="n_groups must be an integer from 1"):
        equal_weights(0)
    with pytest.raises(ArgumentError, match="counts are all 0"):
        natural_weights([0, 0])
