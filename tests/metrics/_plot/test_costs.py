"""What is drawn of calibration is what was measured."""

import numpy as np
import pytest

from skfairfr.metrics import ReliabilityDisplay
from skfairfr.utils import ArgumentError
from tests.metrics._plot.drawn import (
    axes,
    fitted,
    fitted_with_lone_person,
    legend_texts,
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
