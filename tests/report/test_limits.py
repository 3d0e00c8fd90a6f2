"""Limits that figures draw: each at the level that it is about."""

from types import SimpleNamespace

import numpy as np
from numpy.testing import assert_array_equal

from skfairfr.report._policy import limits_of


def check(name, limit, far, threshold):
    return SimpleNamespace(name=name, limit=limit, far=far, threshold=threshold)


def test_a_limit_is_drawn_at_its_level_alone():
    levels = [
        SimpleNamespace(far=far, threshold=t) for far, t in ((0.1, 0.4), (0.01, 0.6))
    ]
    levels.append(SimpleNamespace(far=None, threshold=0.6))
    checks = [
        check("max_fmr", 0.2, 0.1, 0.4),
        check("max_fmr", 0.3, None, 0.6),
        check("max_fnmr", 0.05, 0.01, 0.6),
        check("max_bfar", 3.0, 0.1, 0.4),
    ]
    found = limits_of(SimpleNamespace(levels=levels, checks=checks))
    assert [*found] == ["far", "frr"]
    assert_array_equal(found["far"], [0.2, np.nan, 0.3])
    assert_array_equal(found["frr"], [np.nan, 0.05, np.nan])
    assert limits_of(SimpleNamespace(levels=levels, checks=())) == {}
