"""Rates of groups, the FAR between them and their weights are drawn as they are."""

from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.figure import Figure

from skfairfr.metrics import GroupFARDisplay, GroupRatesDisplay, GroupWeightsDisplay
from skfairfr.metrics._plot import _groups, _style
from tests.metrics._plot.drawn import (
    axes,
    fitted,
    fitted_beyond_far_max,
    fitted_with_lone_person,
    legend_texts,
)


def panels(n=2):
    return Figure(layout="constrained").subplots(1, n, squeeze=False)[0]


def rates(far, frr, supported=True, **options):
    """A display of rates (n_levels, n_groups), not drawn."""
    columns = {}
    for name, values in (("far", far), ("frr", frr)):
        values = np.array(values, dtype=float)
        columns[name] = values
        columns[f"{name}_low"], columns[f"{name}_high"] = values / 2, values * 2
        columns[f"{name}_supported"] = np.full(values.shape, supported)
    n_levels, n_groups = np.shape(far)
    columns["groups"] = tuple(range(n_groups))
    names = tuple(f"level {i}" for i in range(n_levels))
    return GroupRatesDisplay(names=names, **columns, **options)


@pytest.mark.parametrize("question", [{"far": [0.1, 0.05]}, {"threshold": 0.5}])
def test_rates_are_those_of_the_estimates(question):
    display = GroupRatesDisplay.from_roc(fitted(), ax=panels(), **question)
    assert display.groups == (None, "female", "male")
    asked = {k: np.atleast_1d(v) for k, v in question.items()}
    for rate in ("far", "frr"):
        for column, group in enumerate(display.groups):
            found = fitted().estimate(**asked, rate=rate, group=group)
            assert np.array_equal(getattr(display, rate)[:, column], found.value)
            low = getattr(display, f"{rate}_low")[:, column]
            # The FAR of everyone at a level is set, and has no interval.
            is_set = rate == "far" and group is None and "far" in question
            expected = np.full(low.shape, np.nan) if is_set else found.low
            assert np.array_equal(low, expected, equal_nan=True)


def test_points_lie_at_the_rates():
    display = rates([[0.01, 0.02]], [[0.1, 0.3]]).plot(panels())
    for rate, ax in zip(("far", "frr"), display.axes_, strict=True):
        (points,) = display.points_[rate]
        assert points.get_xdata().tolist() == getattr(display, rate)[0].tolist()
        assert ax.get_xscale() == "log"
        assert [t.get_text() for t in ax.get_yticklabels()] == ["0", "1"]
    (alone,) = rates([[0.1]], [[0.2]]).plot(panels(1), rates=("frr",)).axes_
    assert "FNMR" in alone.get_xlabel()


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({"frr": [0.2, np.nan]}, {"far": [], "frr": [0.2]}),
        ({"far": [0.1, 0.2], "frr": 0.5}, {"far": [0.1, 0.2], "frr": [0.5]}),
        (None, {"far": [], "frr": []}),
    ],
)
def test_limits_are_lines_within_the_axes(limits, expected):
    display = rates([[0.01, 0.02]] * 2, [[0.1, 0.3]] * 2, limits=limits).plot(panels())
    for ax, rate in zip(display.axes_, ("far", "frr"), strict=True):
        places = [line.get_xdata()[0] for line in display.limits_[rate]]
        assert places == expected[rate]
        assert all(ax.get_xlim()[0] < place < ax.get_xlim()[1] for place in places)
        texts = [t.get_text() for t in ax.texts if t.get_text().startswith("limit")]
        assert len(texts) == len(expected[rate])


def test_rates_without_errors_and_without_pairs_are_told_apart():
    display = rates([[0.0, np.nan, 0.1]], [[0.1, 0.2, 0.3]]).plot(panels())
    texts = [t.get_text() for t in display.axes_[0].texts]
    assert texts == ["0 %", _style.NO_PAIRS, "10.0 %"]
    assert "<" in [line.get_marker() for line in display.axes_[0].lines]


def test_an_interval_that_ends_at_almost_nothing_does_not_set_the_axis():
    display = rates([[0.1]], [[0.1]])
    display.far_low = np.array([[1e-12]])
    low, high = display.plot(panels()).axes_[0].get_xlim()
    assert low < 0.1 < high < 1e3 * low


def test_what_rests_on_too_few_errors_is_hollow_and_explained():
    display = rates([[0.1]], [[0.1]], supported=False).plot(panels())
    assert _style.TOO_FEW in legend_texts(display.axes_[0])
    assert rates([[0.1]], [[0.1]]).plot(panels()).axes_[0].get_legend() is None


def test_bad_axes_and_limits_of_rates_name_a_remedy():
    with pytest.raises(ValueError, match=r"2 axes, one for each rate, got 1\. Make"):
        rates([[0.1]], [[0.2]]).plot(panels(1))
    with pytest.raises(ValueError, match=r"limits must be a dict.*'far'.*'fmr'"):
        rates([[0.1]], [[0.2]], limits={"fmr": 0.1}).plot(panels())


# ---- the FAR of every two groups -----------------------------------------------------


def matrix(far, n_impostor=1000, supported=True, **options):
    """A display of a matrix, not drawn."""
    far = np.array(far)
    return GroupFARDisplay(
        groups=np.arange(len(far)),
        far=far,
        low=far,
        high=np.full(far.shape, 0.01),
        n_impostor=np.where(np.isnan(far), 0, n_impostor),
        supported=np.full(far.shape, supported),
        **options,
    )


@pytest.mark.parametrize("question", [{"far": 0.05}, {"threshold": 0.5}])
@pytest.mark.parametrize("colorbar", [True, False])
def test_cells_are_those_of_the_matrix(question, colorbar):
    options = {"ax": axes(), "colorbar": colorbar, **question}
    display = GroupFARDisplay.from_roc(fitted(), **options)
    found = fitted().far_matrix(**question)
    for field in ("groups", "far", "low", "high", "n_impostor", "supported"):
        assert np.array_equal(getattr(display, field), getattr(found, field))
    assert display.level == question.get("far")
    written = [[t.get_text() for t in row] for row in display.text_]
    assert written == [[_style.percent(v) for v in row] for row in found.far]
    labels = [t.get_text() for t in display.ax_.get_xticklabels()]
    assert labels == ["female", "male"]
    assert len(display.figure_.axes) == 1 + colorbar


def test_cells_without_errors_show_a_bound_and_those_without_pairs_are_hatched():
    display = matrix([[0.1, 0.0], [0.0, 0.01]]).plot(axes())
    assert display.text_[0, 1].get_text() == "<1.00 %"
    assert _groups._cell_text(0.0, np.nan) == "none"
    lone = GroupFARDisplay.from_roc(fitted_with_lone_person(), far=0.05, ax=axes())
    assert lone.n_impostor[0, 0] == 0 and lone.text_[0, 0] is None
    assert any(patch.get_hatch() for patch in lone.ax_.patches)
    assert legend_texts(lone.ax_) == [_style.TOO_FEW, _style.NO_PAIRS]


def test_numbers_fit_their_cells():
    """Nine groups of long labels: no text is wider than its cell."""
    names = [f"group {k} & another" for k in range(9)]
    figure = Figure(figsize=_groups.matrix_size(names), layout="constrained")
    display = matrix(np.random.default_rng(0).uniform(0.001, 0.1, (9, 9)))
    display.groups = np.array(names)
    display.plot(figure.subplots())
    cell = display._cell_points() * figure.dpi / 72
    assert max(t.get_window_extent().width for t in display.text_.ravel()) < cell
    assert _groups.matrix_size(["a", "b"]) == (6, 4)


def test_sides_are_named_where_the_matrix_is_not_symmetric():
    assert matrix([[0.1, 0.2], [0.2, 0.1]]).plot(axes()).ax_.get_ylabel() == "Group"
    assert matrix([[0.1, 0.2], [0.3, 0.1]]).plot(axes()).ax_.get_ylabel() == "Probe"
    for far in (0.1, 0.0, np.nan):
        assert matrix([[far]], level=0.1).plot(axes()).text_.shape == (1, 1)


@pytest.mark.parametrize(("far", "is_sampled"), [(0.1, True), (0.02, False)])
def test_a_level_above_far_max_is_said(far, is_sampled):
    display = GroupFARDisplay.from_roc(fitted_beyond_far_max(), far=far, ax=axes())
    legend = display.ax_.get_legend()
    texts = [] if legend is None else legend_texts(display.ax_)
    assert ("from a sample" in texts) is is_sampled


# ---- weights over training -----------------------------------------------------------

WEIGHTS = np.array([[1.0, 1.0], [1.2, 0.8], [1.3, 0.7]])
FARS = np.array([[1e-3, 1e-4], [np.nan, 0.0], [1e-2, 1e-5]])
PROJECTOR = SimpleNamespace(
    group_weights_=WEIGHTS, group_fars_=FARS, groups_=np.array(["AF", "EU"])
)


def test_weights_are_drawn_by_epoch_and_group():
    display = GroupWeightsDisplay.from_projector(PROJECTOR, ax=axes(), linewidth=4)
    for line, column in zip(display.lines_, WEIGHTS.T, strict=True):
        assert line.get_xydata().tolist() == [[i + 1, w] for i, w in enumerate(column)]
    assert legend_texts(display.ax_) == ["AF", "EU"]
    first, second = display.lines_
    assert first.get_color() != second.get_color()
    assert first.get_linestyle() != second.get_linestyle()
    assert {line.get_linewidth() for line in display.lines_} == {4}


def test_fars_are_drawn_on_a_log_axis_with_gaps():
    display = GroupWeightsDisplay.from_projector(PROJECTOR, ax=axes(), kind="far")
    assert display.ax_.get_yscale() == "log"
    drawn = display.lines_[1].get_ydata()
    assert np.array_equal(drawn, [1e-4, np.nan, 1e-5], equal_nan=True)


def test_weights_that_are_not_there_are_refused():
    display = GroupWeightsDisplay(weights=WEIGHTS, groups=["AF", "EU"])
    with pytest.raises(ValueError, match="kind must be one of"):
        display.plot(axes(), kind="frr")
    with pytest.raises(ValueError, match="There is nothing to draw for kind='far'"):
        display.plot(axes(), kind="far")
    with pytest.raises(ValueError, match="There is nothing to draw for kind='weights'"):
        GroupWeightsDisplay(weights=np.empty((3, 0)), groups=[]).plot(axes())
    with pytest.raises(ValueError, match="must be fitted and keep group_weights_"):
        GroupWeightsDisplay.from_projector(object(), ax=axes())
