"""What is drawn of calibration is what was measured."""

import numpy as np
import pytest

from skfairfr.metrics import (
    ExpectedPerformanceDisplay,
    ReliabilityDisplay,
    all_pairs,
    expected_performance_curve,
)
from skfairfr.utils import ArgumentError
from tests.metrics._plot.drawn import (
    axes,
    fitted,
    fitted_with_lone_person,
    legend_texts,
    synthetic,
)


def test_reliability_draws_groups_and_their_intervals():
    display = ReliabilityDisplay.from_roc(fitted(), n_bins=4, ax=axes(), name="A")
    assert display.groups == ("female", "male") and display.observed.shape == (2, 4)
    assert legend_texts(display.ax_) == ["A, female", "A, male"]
    for row, line in enumerate(display.lines_):
        assert np.array_equal(line.get_xdata(), display.stated[row])
        known = np.isfinite(display.observed[row])
        assert np.array_equal(line.get_ydata()[known], display.observed[row, known])
    inside = np.isfinite(display.low + display.high)
    assert (display.low <= display.observed)[inside].all()
    assert (display.observed <= display.high)[inside].all()


def test_an_infinite_ratio_is_drawn_at_the_edge():
    display = ReliabilityDisplay(
        groups=(None,),
        stated=np.array([[-2.0, 2.0]]),
        observed=np.array([[-np.inf, 1.0]]),
        low=np.array([[-np.inf, 0.0]]),
        high=np.array([[-1.0, np.inf]]),
    ).plot(axes())
    low, _ = display.ax_.get_ylim()
    assert display.lines_[0].get_ydata()[0] == pytest.approx(low)


def test_a_group_without_both_kinds_of_pairs_has_no_curve():
    display = ReliabilityDisplay.from_roc(fitted_with_lone_person(), ax=axes())
    row = display.groups.index("alone")
    assert np.isnan(display.observed[row]).all()
    assert "alone (no pairs)" in legend_texts(display.ax_)


@pytest.mark.parametrize("n_bins", [3, 0, 2.5])
def test_bins_are_an_even_number(n_bins):
    with pytest.raises(ArgumentError, match="n_bins"):
        ReliabilityDisplay.from_roc(fitted(), n_bins=n_bins, ax=axes())


@pytest.mark.parametrize("error", ["half", "weighted"])
def test_expected_performance_of_groups_is_at_thresholds_for_all(error):
    X, y, features = synthetic()
    y_true, y_score, groups = all_pairs(X, y, sensitive_features=features)
    dev, test = slice(0, None, 2), slice(1, None, 2)
    sets = y_true[test], y_score[test]
    of_dev = {"y_true_dev": y_true[dev], "y_score_dev": y_score[dev]}
    asked = {"alpha": [0.5, 0.1], "error": error, **of_dev}
    display = ExpectedPerformanceDisplay.from_pairs(
        *sets, sensitive_features=groups[test], ax=axes(), **asked
    )
    assert display.groups == (None, "female", "male")
    for row, group in enumerate(display.groups):
        own = np.ones(len(sets[0]), dtype=bool)
        if group is not None:
            own = (groups[test] == group).reshape(len(own), -1).all(axis=1)
        _, expected, _ = expected_performance_curve(sets[0][own], sets[1][own], **asked)
        assert np.array_equal(display.error[row], expected)
        assert np.array_equal(display.lines_[row].get_ydata(), expected)
    assert legend_texts(display.ax_) == ["everyone", "female", "male"]
    alone = ExpectedPerformanceDisplay.from_pairs(*map(list, sets), **of_dev, ax=axes())
    assert alone.groups == (None,) and alone.alpha.size == 49
