"""Facts of the display of sampling weights."""

from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_array_equal

from skfairfr.metrics import GroupWeightsDisplay

WEIGHTS = np.array([[1.0, 1.0], [1.2, 0.8], [1.3, 0.7]])
FARS = np.array([[1e-3, 1e-4], [np.nan, 0.0], [1e-2, 1e-5]])
PROJECTOR = SimpleNamespace(
    group_weights_=WEIGHTS, group_fars_=FARS, groups_=np.array(["AF", "EU"])
)


@pytest.fixture
def ax():
    return Figure().subplots()


def test_weights_are_drawn_by_epoch_and_group(ax):
    display = GroupWeightsDisplay.from_projector(PROJECTOR, ax=ax)
    for line, column in zip(display.lines_, WEIGHTS.T, strict=True):
        assert_array_equal(line.get_xdata(), [1, 2, 3])
        assert_array_equal(line.get_ydata(), column)
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == ["AF", "EU"]
    assert display.ax_ is ax and display.figure_ is ax.figure
    assert ax.get_yscale() == "linear"


def test_fars_are_drawn_on_a_log_axis_with_gaps(ax):
    display = GroupWeightsDisplay.from_projector(PROJECTOR, ax=ax, kind="far")
    assert ax.get_yscale() == "log"
    assert "within the group" in ax.get_ylabel()
    assert_array_equal(display.lines_[1].get_ydata(), [1e-4, np.nan, 1e-5])


def test_groups_differ_in_colour_and_in_line(ax):
    lines = GroupWeightsDisplay.from_projector(PROJECTOR, ax=ax).lines_
    assert lines[0].get_color() != lines[1].get_color()
    assert lines[0].get_linestyle() != lines[1].get_linestyle()
    wide = GroupWeightsDisplay.from_projector(PROJECTOR, ax=ax, linewidth=4).lines_
    assert {line.get_linewidth() for line in wide} == {4}


def test_refused(ax):
    display = GroupWeightsDisplay(weights=WEIGHTS, groups=["AF", "EU"])
    with pytest.raises(ValueError, match="kind must be one of"):
        display.plot(ax, kind="frr")
    with pytest.raises(ValueError, match="There is nothing to draw for kind='far'"):
        display.plot(ax, kind="far")
    with pytest.raises(ValueError, match="There is nothing to draw for kind='weights'"):
        GroupWeightsDisplay(weights=np.empty((3, 0)), groups=[]).plot(ax)
    with pytest.raises(ValueError, match="must be fitted and keep group_weights_"):
        GroupWeightsDisplay.from_projector(object(), ax=ax)
