"""The oracle against what can be worked out by hand."""

import math
from collections import Counter
from fractions import Fraction as F

import numpy as np
import pytest

from tests.metrics.oracle import Oracle

# Identities a (images 0, 1), b (2, 3), c (4)
IDENTITY = list("aabbc")
SCORES = np.eye(5)
for (_i, _j), _s in {
    (0, 1): 0.9,  # genuine a
    (2, 3): 0.4,  # genuine b
    (0, 2): 0.7,
    (0, 3): 0.5,
    (1, 2): 0.5,
    (1, 3): 0.1,
    (0, 4): 0.6,
    (1, 4): 0.2,
    (2, 4): 0.3,
    (3, 4): 0.0,
}.items():
    SCORES[_i, _j] = SCORES[_j, _i] = _s


def tiny(**options):
    return Oracle.one_side(SCORES, IDENTITY, **options)


def test_rates_by_hand():
    pair, identity = tiny(), tiny(average="identity")
    assert pair.counts() == (2, 8)
    # accepted at .5, which is a tie: .7 .5 .5 of a-b, .6 of a-c, none of b-c
    assert pair.far(0.5) == F(4, 8)
    assert identity.far(0.5) == F(1, 3) * (F(3, 4) + F(1, 2) + 0)
    assert pair.frr(0.5) == identity.frr(0.5) == F(1, 2)
    assert pair.frr(0.4) == 0 and pair.frr(0.95) == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_threshold_and_ties(dtype):
    oracle = Oracle.one_side(SCORES.astype(dtype), IDENTITY)

    def above(s):
        return np.nextafter(dtype(s), dtype(np.inf))

    assert oracle.threshold(0) == above(0.7)
    assert oracle.threshold(0.1) == above(0.7)
    assert oracle.threshold(0.125) == above(0.6)  # FAR(.7) = 1/8 does not exceed it
    assert oracle.threshold(0.25) == above(0.5)  # the two at .5 come together
    assert oracle.threshold(0.49) == above(0.5)
    assert oracle.threshold(0.5) == above(0.3)
    assert oracle.threshold(1) == -math.inf
    assert oracle.far(oracle.threshold(0.49)) == F(2, 8)


def test_groups_by_hand():
    group = ["g", "g", "g", "h", None]
    pair = tiny(group=group)
    assert pair.groups == ["g", "h"]
    assert pair.counts() == (2, 8)  # the unknown group counts overall
    assert pair.counts("g") == (1, 2)
    assert pair.counts("h") == (0, 0)
    assert pair.far(0.6, "g") == F(1, 2)
    assert math.isnan(pair.far(0.6, "h")) and math.isnan(pair.frr(0.6, "h"))
    # 0-3 and 1-3; 2-3 is genuine
    assert pair.far(0.5, ("g", "h")) == pair.far(0.5, ("h", "g")) == F(1, 2)
    with pytest.raises(ValueError, match="cross-group"):
        pair.frr(0.5, ("g", "h"))
    same = tiny(group=group, impostors="same_group")
    assert same.counts() == (2, 2)
    assert same.far(0.6) == F(1, 2) and same.frr(0.5) == F(1, 2)
    assert same.far(0.5, ("g", "h")) == F(1, 2)
    unknown = [None, "g", "g", float("nan"), None]  # unknown is no group to share
    assert tiny(group=unknown, impostors="same_group").counts() == (2, 1)


def test_two_sides_by_hand():
    scores = [[0.9, 0.5, 0.1], [0.2, 0.6, 0.6]]  # probes a, b; references a, b, b
    pair = Oracle.two_sides(scores, list("ab"), list("abb"))
    identity = Oracle.two_sides(scores, list("ab"), list("abb"), average="identity")
    assert pair.counts() == (3, 3)
    assert pair.far(0.2) == F(2, 3)
    assert identity.far(0.2) == F(1, 2) * (F(1, 2) + 1)  # a-b and b-a
    assert pair.frr(0.7) == F(2, 3) and identity.frr(0.7) == F(1, 2)
    w = ([1, 1], [1, 2, 0])
    assert pair.far(0.2, w=w) == 1 and identity.far(0.2, w=w) == 1
    crossed = Oracle.two_sides(
        scores, list("ab"), list("abb"), list("gh"), list("ghg"), average="identity"
    )
    assert crossed.far(0.5, ("g", "h")) == 1  # probe 0, reference 1
    assert math.isnan(crossed.far(0.2, ("h", "h")))  # b's only
    assert crossed.far(0.5, ("h", "g")) == 0  # probe 1, reference 0


def test_listed_by_hand():
    columns = ([0.9, 0.8, 0.3, 0.2], list("abab"), list("baca"))
    pair = Oracle.listed(*columns, image_1=[1, 2, 1, 2], image_2=[2, 1, 3, 4])
    identity = Oracle.listed(*columns, average="identity")
    # a-b three times, whichever comes first, and a-c once
    assert pair.far(0.8) == F(2, 4)
    assert identity.far(0.8) == F(1, 2) * (F(2, 3) + 0)
    assert math.isnan(pair.frr(0.5))
    assert pair.far(0.8, w={1: 2, 4: 0}) == F(4, 6)
    with pytest.raises(AssertionError, match="labels"):
        identity.far(0.8, w={1: 2})


def test_a_resample_by_hand():
    oracle = tiny()
    w = [2, 0, 1, 1, 1]
    # a: a pair of copies of image 0, score 1; b: .4
    assert oracle.frr(0.5, w=w) == F(1, 2)
    assert oracle.frr(0.5, w=w, diagonal=False) == 1
    # 0-2 and 0-3 twice, 0-4 twice, 2-4, 3-4
    assert oracle.far(0.6, w=w) == F(4, 8)
    v = {"a": 2, "b": 1, "c": 0}
    assert oracle.far(0.5, v=v) == F(3, 4)
    assert oracle.frr(0.5, v=v) == F(1, 3)
    assert oracle.frr(0.5, v=Counter("bbb")) == 1
    assert math.isnan(oracle.far(0.5, v=Counter("bbb")))
    assert math.isnan(oracle.threshold(0.1, v=Counter("bbb")))
