"""The drawn disparity is the curve that was asked for."""

import numpy as np
import pytest

from skfairfr.metrics import DisparityCurveDisplay
from skfairfr.metrics._plot import _style
from tests.metrics._plot.drawn import (
    BEYOND,
    LEVELS,
    axes,
    bands,
    fitted,
    fitted_beyond_far_max,
    legend_texts,
)


def from_roc(**options):
    return DisparityCurveDisplay.from_roc(
        fitted(), **{"far": LEVELS, "ax": axes(), **options}
    )


@pytest.mark.parametrize("point", ["overall", "worst_group"])
def test_stored_arrays_are_those_of_the_curve(point):
    hows = ("max_min", "gini")
    display = from_roc(how=hows, operating_point=point)
    for row, (rate, how) in enumerate(display.curves):
        question = {"rate": rate, "how": how, "operating_point": point}
        curve = fitted().curve(LEVELS, **question)
        estimate = fitted().estimate(LEVELS, **question)
        for field in ("value", "low", "high", "band_low", "band_high", "supported"):
            assert np.array_equal(getattr(display, field)[row], getattr(curve, field))
        uncertainty = display.normalized_uncertainty[row]
        expected = estimate.normalized_uncertainty
        assert np.array_equal(uncertainty, expected, equal_nan=True)


@pytest.mark.parametrize("quantity", ["value", "normalized_uncertainty"])
@pytest.mark.parametrize("band", ["pointwise", "simultaneous", None])
def test_plot_draws_a_line_for_each_curve(quantity, band):
    display, ax = from_roc(how=["max_min", "max_geomean"]), axes()
    assert display.plot(ax, quantity=quantity, band=band) is display
    assert len(display.lines_) == len(display.curves) == 4
    assert ax.get_xscale() == "log"
    assert ax.get_yscale() == "log"
    assert legend_texts(ax)[0] == "FAR: max / min"


def test_rates_differ_by_line_and_disparities_by_colour():
    display = from_roc(how=["max_min", "gini"])
    colors = [line.get_color() for line in display.lines_]
    assert colors[:2] == colors[2:]
    assert colors[0] != colors[1]
    far, frr = (display.lines_[row].get_linestyle() for row in (0, 2))
    assert (far, frr) == ("-", "--")


@pytest.mark.parametrize(
    ("how", "scale"), [("max_min", "log"), ("gini", "linear"), ("difference", "linear")]
)
def test_ratios_are_on_a_log_axis(how, scale):
    display = from_roc(how=how)
    assert display.ax_.get_yscale() == scale
    low, high = display.ax_.get_ylim()
    values = display.value[np.isfinite(display.value)]
    assert low <= values.min() and values.max() <= high
    # The legend stands above the axes, and so over no band.
    display.figure_.draw_without_rendering()
    legend = display.ax_.get_legend().get_window_extent()
    assert legend.y0 >= display.ax_.get_window_extent().y1


def spread(rates):
    return rates.max(axis=-1) - rates.min(axis=-1)


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        (("ratio", "male", "female"), "ratio female / male"),
        ([("ratio", "female", "male")], "ratio male / female"),
        ("ratio", "ratio"),
        (spread, "spread"),
    ],
)
def test_curves_are_named(how, expected):
    assert from_roc(rate="far", how=how).curves == (("far", expected),)


@pytest.mark.parametrize(
    ("how", "neutral"),
    [
        (("ratio", "male", "female"), 1),
        (["max_min", "ratio"], 1),
        (["gini", "difference"], 0),
        (["gini", "max_min"], None),
        (spread, None),
    ],
)
def test_equal_groups_are_marked_where_that_is_one_place(how, neutral):
    lines = from_roc(how=how, band=None).ax_.get_lines()
    level = [line.get_ydata()[0] for line in lines if list(line.get_xdata()) == [0, 1]]
    assert level == ([] if neutral is None else [neutral])


def test_infinite_values_are_marked_at_the_upper_edge():
    display = from_roc(rate="far")
    display.value = np.array([[np.inf, 3.0, 2.0, 1.5]])
    display.high = np.full((1, 4), np.inf)
    display.plot(axes())
    assert _style.INFINITE in legend_texts(display.ax_)
    assert np.isfinite(display.ax_.get_ylim()).all()


def test_undefined_curve_says_so():
    display = from_roc(rate="far")
    for field in ("value", "low", "high", "normalized_uncertainty"):
        setattr(display, field, np.full((1, 4), np.nan))
    for quantity in ("value", "normalized_uncertainty"):
        display.plot(axes(), quantity=quantity)
        assert legend_texts(display.ax_)[0] == "FAR: max / min (undefined)"


def test_unsupported_part_is_marked():
    display = from_roc(rate="far")
    display.supported = np.array([[False, False, True, True]])
    display.plot(axes())
    assert display.unsupported_lines_[0].get_linestyle() == ":"
    assert _style.NOT_SUPPORTED in legend_texts(display.ax_)


@pytest.mark.parametrize("wrong", [{"quantity": "sd"}, {"band": "both"}])
def test_unknown_options_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        from_roc().plot(axes(), **wrong)


@pytest.mark.parametrize("quantity", ["value", "normalized_uncertainty"])
def test_levels_above_far_max_are_shaded_and_explained(quantity):
    display = DisparityCurveDisplay.from_roc(
        fitted_beyond_far_max(), far=LEVELS, quantity=quantity, ax=axes()
    )
    assert bands(display.ax_) == [pytest.approx((0.03, 0.2))]
    words = f"{_style.SHADED}{BEYOND}from a sample"
    assert legend_texts(display.ax_)[-1] == words
    assert bands(from_roc().ax_) == []
