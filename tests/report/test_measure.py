"""Operating points, and the pair of groups that are the extremes."""

import json

import numpy as np
import pytest

from skfairfr.metrics import Reason
from skfairfr.report._measure import Points
from tests.report.audits import small_audit, small_report, synthetic


def test_points_go_from_the_largest_far_to_the_smallest():
    assert Points.of([1e-3, 1e-2]).far.tolist() == [1e-2, 1e-3]
    assert Points.of(threshold=[0.5, 0.4]).threshold.tolist() == [0.4, 0.5]
    assert Points.of().far.tolist() == [1e-2, 1e-3]
    distances = Points.of(threshold=[1.1, 1.2], distance=True)
    assert distances.threshold.tolist() == [-1.2, -1.1]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"far": 0.1, "threshold": 0.5}, "both given"),
        ({"far": 2.0}, r"far must lie in \(0, 1\)"),
        ({"threshold": np.nan}, "threshold"),
    ],
)
def test_points_are_checked(given, message):
    with pytest.raises(ValueError, match=message):
        Points.of(**given)


def test_the_record_holds_curves_and_the_matrix_as_counted_over_all_pairs():
    X, y, groups = synthetic(30)
    read = json.loads(small_report((X, y, groups)).to_json())["audits"][0]
    unit = (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32)
    scores, same = unit @ unit.T, y[:, None] == y
    curves = read["curves"]
    assert curves["groups"] == [None, "female", "male"]
    for row, group in enumerate(curves["groups"]):
        inside = np.ones(len(y), bool) if group is None else groups == group
        pairs = np.triu(np.outer(inside, inside), 1)
        for place in (0, len(curves["threshold"]) // 2, -1):
            at = scores >= np.float32(curves["threshold"][place])
            rates = at[pairs & ~same].mean(), 1 - at[pairs & same].mean()
            found = curves["fmr"][row][place], curves["fnmr"][row][place]
            assert found == pytest.approx(rates)
    (level,) = read["levels"]
    assert level["matrix"]["groups"] == ["female", "male"]
    across = np.outer(groups == "female", groups == "male")
    n_errors = (scores >= np.float32(level["threshold"]))[across].sum()
    for g, h in ((0, 1), (1, 0)):
        assert level["matrix"]["n_errors"][g][h] == n_errors
        assert level["matrix"]["n_impostor"][g][h] == across.sum()


@pytest.mark.parametrize(
    ("threshold", "far", "frr"),
    [(2.0, 0.0, 1.0), (-2.0, 1.0, 0.0), ((2.0, 1.5), 0.0, 1.0)],
)
def test_curves_end_at_the_threshold_though_it_accepts_none_or_all(threshold, far, frr):
    read = small_audit(far=None, threshold=threshold).curves
    assert read.threshold[-1] == np.min(threshold)
    assert (read.far[:, -1] == far).all()
    assert (read.frr[:, -1] == frr).all()
    assert read.threshold.size == 1 or (np.diff(read.threshold) < 0).all()


def test_one_group_with_genuine_pairs_is_not_compared():
    """Nothing is x/0 where there is nothing to divide."""
    X, y, groups = synthetic()
    alone = np.where(groups == "male", y, np.arange(len(y)) + y.size)
    found = small_audit((X, alone, groups))
    level = found.levels[0]
    few = (Reason("few_groups", found=1, needed=2),)
    assert {d.frr.reasons for d in level.disparities} == {few}
    assert level.findings[1].ratio.reasons == few
    text = "fewer than two groups have the pairs it needs"
    assert {d.frr.reason for d in level.disparities} == {text}
    lacking = level.rates[1].frr
    expected = Reason("no_pairs", ("female",), "frr", found=0, needed=1)
    assert lacking.reasons == (expected,)
    assert lacking.reason == "female: no genuine pair"
    assert not any("A group has no error" in note for note in found.notes)


def test_every_reason_is_a_record():
    X, y, groups = synthetic()
    lone = np.where(y == y[0], np.arange(len(y)) == np.flatnonzero(y == y[0])[0], True)
    groups = np.where(y == y[0], "single", groups)
    found = small_audit((X[lone], y[lone], groups[lone]))
    figures = [row.equal_error_rate for row in found.groups]
    for level in found.levels:
        rows = (*level.rates, *level.disparities)
        figures += [figure for row in rows for figure in (row.far, row.frr)]
        figures += [finding.ratio for finding in level.findings]
    codes = {reason.code for figure in figures for reason in figure.reasons}
    assert "no_pairs" in codes
    (single,) = [row for row in found.groups if row.group == "single"]
    lacking = [(r.code, r.groups, r.rate) for r in single.equal_error_rate.reasons]
    assert lacking == [("no_pairs", ("single",), rate) for rate in ("frr", "far")]
    reason = single.equal_error_rate.reason
    assert reason == "single: no genuine pair and no impostor pair"
