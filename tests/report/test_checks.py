"""A check fails, passes or is undetermined as its interval says."""

import math
from dataclasses import replace

import pytest

from skfairfr.report._checks import check_limits, judge, verdict_of
from skfairfr.report._records import Check, Figure, Report
from tests.report.audits import small_audit, with_a_lone_person


@pytest.mark.parametrize(
    ("low", "high", "supported", "verdict"),
    [
        (1.1, 1.9, True, "passed"),
        (1.1, 2.0, True, "passed"),
        (1.1, 1.9, False, "undetermined"),
        (1.1, 2.1, True, "undetermined"),
        (2.0, 2.1, True, "undetermined"),
        (2.1, 2.5, True, "failed"),
        (2.1, math.inf, True, "failed"),
        (2.1, 2.5, False, "undetermined"),
        (math.nan, math.nan, False, "undetermined"),
    ],
)
def test_verdicts(low, high, supported, verdict):
    assert verdict_of(Figure(1.5, low, high, 0.1, supported, ""), 2.0) == verdict


def test_every_level_is_judged_by_the_figure_of_the_audit():
    found = small_audit(far=[0.05, 0.1])
    checks = judge(found, {"max_bfar": 3.0, "max_frr_ratio": 2.0})
    assert [(c.name, c.far) for c in checks] == [
        ("max_bfar", 0.1),
        ("max_bfar", 0.05),
        ("max_frr_ratio", 0.1),
        ("max_frr_ratio", 0.05),
    ]
    level = found.levels[0]
    assert checks[0].figure == level.disparities[-1].far
    assert checks[0].threshold == level.worst_group_threshold
    assert checks[2].figure == level.disparities[0].frr
    assert checks[2].threshold == level.threshold


def test_groups_without_pairs_are_named():
    check = judge(small_audit(with_a_lone_person()), {"max_far_ratio": 9.0})[0]
    assert check.not_covered == ("alone",)


def test_exit_code_is_that_of_the_worst_verdict():
    def code(*limits):
        figure = Figure(1.5, 1.2, 1.8, 0.1, True, "")
        made = ("max_bfar", 2.0, "gender", 0.05, 0.4, figure, ())
        checks = [Check(*made, verdict_of(figure, limit)) for limit in limits]
        audit = replace(found, checks=tuple(checks))
        assert Report((found, audit)).exit_code == audit.exit_code
        return audit.exit_code

    found = small_audit()
    assert (code(), code(2.0), code(2.0, 1.5), code(1.1, 1.5, 2.0)) == (0, 0, 3, 1)


@pytest.mark.parametrize("limit", [1.0, 0.5, math.nan, math.inf])
def test_limits_lie_above_one(limit):
    with pytest.raises(ValueError, match="max_bfar must be above 1"):
        check_limits({"max_bfar": limit}, True)


def test_limits_are_known():
    with pytest.raises(ValueError, match="limits must be one of 'max_bfar'"):
        check_limits({"max_eer": 2.0}, True)


def test_worst_group_needs_a_level():
    check_limits({"max_frr_ratio": 2.0}, False)
    with pytest.raises(ValueError, match="use max_frr_ratio"):
        check_limits({"max_bfrr": 2.0}, False)
