"""Disparities of few errors: intervals, tests and values that agree, whatever the data."""

import math
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skfairfr._core._jackknife import Contrasts, ErrorSums, genuine_sums
from skfairfr.metrics._roc._evidence import ComparedGroups, place_of
from tests._core.test_jackknife import some_groups

DATA = [(kind, n_groups) for kind in ("impostor", "genuine") for n_groups in (2, 3, 5)]


def compared(sums):
    """Groups at one given threshold."""
    n = sums.errors.size
    evidence = SimpleNamespace(
        scopes=tuple((g, g) for g in range(n)),
        sums=sums.rows(None),
        added=np.zeros((1, n)),
        added_to=lambda level, weights: np.zeros(len(weights)),
    )
    return ComparedGroups(evidence, 0)


@cache
def each(kind, n_groups, n_sets=14):
    """Groups of many random data sets."""
    return [
        compared(some_groups([seed, n_groups], n_groups, kind))
        for seed in range(n_sets)
    ]


def test_contrasts_of_a_disparity_leave_out_groups_of_one_person():
    lone = genuine_sums(np.array([[5.0]]), np.array([9.0]))
    rejected = np.repeat([[1.0, 0.0]], [3, 6], axis=1)
    other = genuine_sums(rejected, np.full(9, 4.0))
    found = compared(ErrorSums.of_groups([lone, other, other]).rows(0))
    weights = np.vstack([block.weights for block in found.of_disparity("max_min")])
    assert_array_equal(weights, [[0, 1, -1], [0, -1, 1]])
    (mean,) = found.of_disparity("max_geomean")
    assert_allclose(mean.weights, np.eye(3) - 1 / 3)
    (ratio,) = found.of_disparity("ratio", [2, 0])
    assert_array_equal(ratio.weights, [[1, 0, -1]])


@pytest.mark.parametrize(("kind", "n_groups"), DATA)
def test_the_largest_ratio_is_above_one_exactly_where_groups_differ(kind, n_groups):
    seen = set()
    for found in each(kind, n_groups):
        for level in (0.05, 0.3):
            low, high = found.largest_ratio(level / 2)
            assert (low > 1) == (found.p_value < level)
            assert 1 <= low <= high
            seen.add(low > 1)
    assert seen == {True, False}


@pytest.mark.parametrize(("kind", "n_groups"), DATA)
def test_the_largest_ratio_is_a_loop_over_every_two_groups(kind, n_groups):
    tail = 0.1
    for found in each(kind, n_groups)[:6]:
        low, high = found.largest_ratio(tail)
        ends, several = {}, {}
        for a in range(n_groups):
            for b in range(n_groups):
                if a == b:
                    continue
                weights = np.zeros((1, n_groups))
                weights[0, [a, b]] = 1, -1
                two = Contrasts(found.sums, weights)
                ends[(a,), (b,)] = float(two.bounds(tail)[1][0])
                n_pairs = n_groups * (n_groups - 1) / 2
                several[(a,), (b,)] = float(two.bounds(tail / n_pairs)[0][0])
        assert_allclose(high, max(1, *ends.values()))
        n_tests = 1 if n_groups == 2 else n_groups
        above, below = found.tests.bounds(tail / n_tests)
        for g, weights in enumerate(found.weights):
            others = tuple(np.flatnonzero(weights < 0))
            against = {((g,), others): above[g], (others, (g,)): 1 / below[g]}
            several |= {
                sides: max(several.get(sides, 0.0), end)
                for sides, end in against.items()
            }
        if low > 1:
            assert_allclose(low, max(several.values()))


@pytest.mark.parametrize(("kind", "n_groups"), DATA)
def test_the_p_value_is_that_of_the_surest_group_times_their_number(kind, n_groups):
    for found in each(kind, n_groups):
        n_tests = 1 if n_groups == 2 else n_groups
        assert found.n_tests == n_tests
        assert_allclose(found.p_value, min(n_tests * min(found.tests.p_value), 1))


def test_one_group_has_no_ratio():
    alone = compared(some_groups(0, 1))
    assert alone.n_tests == 0 and math.isnan(alone.p_value)
    assert all(map(math.isnan, alone.largest_ratio(0.025)))


def test_a_group_of_one_person_leaves_the_largest_ratio_unbounded():
    """Its rate is among those of which the largest and the smallest are taken."""
    lone = genuine_sums(np.array([[5.0]]), np.array([9.0]))
    for found in each("genuine", 3)[:10]:
        groups = [found.sums.rows(slice(None)), lone.rows(0)]
        both = ErrorSums(*(np.append(*values) for values in zip(*groups, strict=True)))
        expected, ratio = (c.largest_ratio(0.025) for c in (found, compared(both)))
        assert_array_equal(ratio, (expected[0], np.inf))


def test_a_scope_of_two_groups_is_found_in_either_order():
    evidence = SimpleNamespace(scopes=((0, 0), (0, 1), None))
    assert place_of(evidence, (0, 1)) == place_of(evidence, (1, 0)) == 1
    assert place_of(evidence, None) == 2
    assert place_of(evidence, (1, 1)) is None
