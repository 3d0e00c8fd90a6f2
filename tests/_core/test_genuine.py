"""Facts of genuine pairs, and of what a scope holds."""

import numpy as np
import pytest

from skfairfr._core._pairs import within
from tests._core.cases import (
    ONE,
    embedded,
)


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
