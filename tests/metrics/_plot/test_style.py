"""One style: groups differ without colour, hollow means not supported, no text overlaps."""

from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.figure import Figure

from skfairfr.metrics import (
    DisparityCurveDisplay,
    ErrorRateDisplay,
    ScoreHistogramDisplay,
    SimilarityROCDisplay,
)
from skfairfr.metrics._plot import _style
from skfairfr.utils import ArgumentError
from tests.metrics._plot.drawn import axes, fitted, legend_texts, synthetic, unfitted

X = np.arange(6.0)
CURVES = [SimilarityROCDisplay, ErrorRateDisplay, DisparityCurveDisplay]


def test_no_two_styles_are_alike_and_neighbours_differ_without_colour():
    looks = [_style.line_style(i) for i in range(210)]
    assert len({str(sorted(look.items())) for look in looks}) == 210
    assert len({(str(s["linestyle"]), s["marker"]) for s in looks[:12]}) == 12
    assert _style.styles_on(axes(), ["a", "b"])[0] == looks[:2]


def test_systems_on_one_axes_have_styles_of_their_own():
    ax = axes()
    first, name = _style.styles_on(ax, [None, "a", "b"])
    assert (first[0]["color"], name) == ("black", None)
    ax.plot(X, X)
    second, name = _style.styles_on(ax, [None, "a", "b"])
    assert name == "system 2"
    assert len({str(sorted(style.items())) for style in first + second}) == 6
    assert _style.styles_on(ax, ["a"], "other")[1] == "other"
    ax.clear()
    assert _style.styles_on(ax, [None, "a", "b"]) == (first, None)


@pytest.mark.parametrize("n_unsupported", [0, 3])
def test_what_is_not_supported_is_dotted_and_hollow_and_explained(n_unsupported):
    drawn, supported = SimpleNamespace(ax_=axes()), n_unsupported <= X
    style = _style.line_style(0)
    _style.draw_curves(drawn, X, X[None], supported[None], [style], ["a"])
    _style.add_legend(drawn.ax_)
    (line,), (doubtful,) = drawn.lines_, drawn.unsupported_lines_
    assert np.isfinite(line.get_ydata()).tolist() == supported.tolist()
    assert line.get_markerfacecolor() == style["color"]
    if not n_unsupported:
        assert doubtful is None and legend_texts(drawn.ax_) == ["a"]
        return
    assert doubtful.get_linestyle() == ":"
    assert doubtful.get_markerfacecolor() == "white"
    # No point has both a filled and a hollow marker.
    assert not set(line.get_markevery()) & set(doubtful.get_markevery())
    assert legend_texts(drawn.ax_) == ["a", _style.TOO_FEW]


@pytest.mark.slow
@pytest.mark.parametrize("size", [(3.4, 2.8), (6.4, 4.8), (10.0, 6.5)])
@pytest.mark.parametrize("display", CURVES)
def test_no_text_overlaps_another_at_any_size(display, size):
    """Two systems, marked levels and a legend; ticks of either axis too."""
    figure = Figure(figsize=size, layout="constrained")
    ax = figure.subplots()
    marks = {"far": [0.1, 0.09]} if display is ErrorRateDisplay else {}
    for name in ("before", "after"):
        display.from_roc(fitted(), ax=ax, name=name, **marks)
    figure.draw_without_rendering()
    texts = [t for t in ax.texts if t.get_text()]
    above = [t.get_window_extent() for t in _style.written_above(ax)]
    if ax.get_legend().get_window_extent().y0 >= ax.get_window_extent().y1:
        above.append(ax.get_legend().get_window_extent())
    ticks = [
        [
            t.get_window_extent()
            for t in axis.get_ticklabels()
            if t.get_text() and t.get_visible()
        ]
        for axis in (ax.xaxis, ax.yaxis)
    ]
    for boxes in (above, *ticks):
        for i, box in enumerate(boxes):
            assert not any(box.overlaps(other) for other in boxes[:i])
    assert len({t.get_text() for t in texts}) == len(texts)


def test_conventions_and_shades_are_explained_once_and_last():
    ax = axes()
    _style.explain(ax, _style.TOO_FEW)
    _style.shade(ax, (0, 1), "left")
    ax.plot(X, X, label="a")
    _style.explain(ax, _style.TOO_FEW)
    _style.shade(ax, (2, 3), "left")
    _style.add_legend(ax)
    assert legend_texts(ax) == ["a", _style.TOO_FEW, _style.SHADED + "left"]
    assert [p.get_x() for p in ax.patches] == [0, 2]


def test_zeros_are_drawn_below_everything():
    assert _style.smallest_positive([[0.4], [0.0]], [0.1, np.inf]) == 0.05
    assert _style.smallest_positive([[0.0]]) == 1e-6


def test_ratios_scale_where_they_span_a_lot():
    for values, scale in (([1, 6], "log"), ([1, 4], "linear"), ([0, 6], "linear")):
        ax = axes()
        ax.plot([1, 2], values)
        _style.scale_by_ratio(ax)
        assert (ax.get_xscale(), ax.get_yscale()) == ("linear", scale)


def test_ticks_are_plain_and_values_have_three_digits():
    assert [_style.percent(v) for v in (0.5, 1, 0.0123456)] == [
        "50.0 %",
        "100 %",
        "1.23 %",
    ]
    shown = [_style.level_percent(v) for v in (0.5, 1e-6, 0.659)]
    assert shown == ["50 %", "0.0001 %", "65.9 %"]


def test_a_distance_of_zero_has_no_sign():
    ax = axes()
    ax.plot([-2, 0], [0, 1])
    _style.as_distances(ax)
    shown = [ax.xaxis.get_major_formatter()(value, 0) for value in (-2.0, -0.5, 0.0)]
    assert shown == ["2", "0.5", "0"]


FORMULA = r"$\frac{$"


@pytest.mark.parametrize("display", [*CURVES[:2], ScoreHistogramDisplay])
def test_no_name_hides_from_the_legend_or_is_a_formula(display):
    data, y, groups = synthetic()
    names = np.where(groups == groups[0], "_hidden", FORMULA)
    ax = axes()
    display.from_roc(unfitted().fit(data, y, names), ax=ax, name=f"_{FORMULA}")
    ax.figure.draw_without_rendering()
    shown = [text.replace(r"\$", "$") for text in legend_texts(ax)]
    assert any("_hidden" in text for text in shown)
    assert any(f"_{FORMULA}" in text and text.count(FORMULA) > 1 for text in shown)


@pytest.mark.parametrize("wrong", [3, [], ["x", "y"], np.zeros((1, 2)), "axes"])
def test_what_is_not_as_many_axes_is_refused_by_name(wrong):
    with pytest.raises(ArgumentError, match=r"ax must (contain 2|be) axes") as found:
        _style.begin_on(SimpleNamespace(), wrong, 2, "rate", (4, 3))
    assert found.value.argument == "ax"


def test_axes_in_any_order_of_nesting():
    one, other = Figure().subplots(1, 2)
    for given in ([one, other], (one, other), np.array([[one], [other]])):
        drawn = SimpleNamespace()
        _style.begin_on(drawn, given, 2, "rate", (4, 3))
        assert (drawn.axes_, drawn.figure_) == ((one, other), one.figure)
    _style.begin_on(drawn, one, 1, "rate", (4, 3))
    assert drawn.axes_ == (one,)


def test_legend_shows_the_dotted_line_of_a_curve_without_support():
    drawn = SimpleNamespace(ax_=axes())
    rows = np.stack([X, X, np.full(X.size, np.nan)])
    supported = np.stack([X < 0, X >= 0, X < 0])
    styles = [*map(_style.line_style, range(3))]
    _style.draw_curves(drawn, X, rows, supported, styles, ["few", "many", "none"])
    (few, many, none), (dotted, *_) = drawn.lines_, drawn.unsupported_lines_
    assert [line.get_label() for line in (dotted, many, none)] == [
        "few",
        "many",
        "none",
    ]
    assert few.get_label().startswith("_")
