"""Facts of genuine pairs, and of what a scope holds."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skfairfr._core._pairs import within
from tests._core.cases import (
    ONE,
    embedded,
    oracle_of_pairs,
    oracle_scope,
    scores_and_base,
)

OWN = (None, (0, 0), (1, 1))
designs = pytest.mark.parametrize(
    ("sides", "average", "impostors"),
    list(product((1, 2), ("pair", "identity"), ("all", "same_group"))),
)


@designs
def test_genuine_pairs_of_every_scope_are_those_of_a_double_loop(
    sides, average, impostors
):
    pairs = embedded(1, average, impostors, sides=sides, groups="unknown")
    twin = oracle_of_pairs(pairs)
    for scope in OWN:
        held = pairs.genuine.ascending(scope)
        assert (np.diff(held.scores) >= 0).all()
        expected = twin.scope(oracle_scope(scope)).genuine
        expected = sorted((p.score, float(base)) for p, base in expected)
        assert_allclose(
            np.reshape(scores_and_base(held), (-1, 2)), np.reshape(expected, (-1, 2))
        )
        assert pairs.count(scope, "frr") == len(expected)


def test_rejected_pairs_are_those_below_the_threshold():
    pairs = embedded(1)
    scores = pairs.genuine.ascending((0, 0)).scores
    thresholds = np.array([-np.inf, 0, scores[3], 2.5, np.inf])
    expected = [sum(s < t for s in scores) for t in thresholds]
    assert pairs.genuine.rejected((0, 0), thresholds).tolist() == expected


def test_one_image_each_leaves_no_genuine_pair():
    pairs = embedded(0, most=1)
    assert pairs.count(None, "frr") == 0
    assert pairs.genuine_total(None, ONE, True).tolist() == [0]
    assert pairs.count(None) == pairs.impostors(None).scores.size == 21


@pytest.mark.parametrize(
    ("scope", "ordered", "expected"),
    [
        ((0, 0), False, [0]),
        ((0, 1), True, [1]),
        ((0, 1), False, [1, 2]),
        ((1, 0), True, [2]),
    ],
)
def test_a_scope_across_groups_has_an_order_only_across_sides(scope, ordered, expected):
    groups = (np.array([0, 0, 1, 1, -1]), np.array([0, 1, 0, 1, 0]))
    assert np.flatnonzero(within(groups, scope, ordered)).tolist() == expected
