"""Groups are told apart without colour, and what is not supported is marked."""

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


def test_no_two_styles_are_alike():
    styles = [str(sorted(_style.line_style(i).items())) for i in range(210)]
    assert len(set(styles)) == 210


def test_neighbours_differ_without_colour():
    looks = [_style.line_style(i) for i in range(12)]
    without = {(str(s["linestyle"]), s["marker"]) for s in looks}
    assert len(without) == 12


def test_a_distance_of_zero_has_no_sign():
    ax = axes()
    ax.plot([-2, 0], [0, 1])
    _style.as_distances(ax)
    shown = [ax.xaxis.get_major_formatter()(value, 0) for value in (-2.0, -0.5, 0.0)]
    assert shown == ["2", "0.5", "0"]


def test_overall_does_not_use_up_a_style():
    styles = _style.group_styles([None, "a", "b"])
    assert styles == [_style.OVERALL, _style.line_style(0), _style.line_style(1)]


def test_systems_on_one_axes_have_styles_of_their_own():
    ax = axes()
    first, name = _style.styles_on(ax, [None, "a", "b"])
    assert (first, name) == (_style.group_styles([None, "a", "b"]), None)
    ax.plot(X, X)
    second, name = _style.styles_on(ax, [None, "a", "b"])
    assert name == "system 2"
    looks = [str(sorted(style.items())) for style in first + second]
    assert len(set(looks)) == 6
    assert _style.styles_on(ax, ["a"], "other")[1] == "other"
    ax.clear()
    assert _style.styles_on(ax, [None, "a", "b"]) == (first, None)


@pytest.mark.parametrize(
    ("group", "values", "name", "expected"),
    [
        (None, 1.0, None, "overall"),
        ("a", 1.0, None, "a"),
        (3, 1.0, "net", "net, 3"),
        ("a", np.nan, None, "a (no pairs)"),
    ],
)
def test_label(group, values, name, expected):
    assert _style.group_label(group, np.array([values]), name) == expected


@pytest.mark.parametrize(
    ("arrays", "expected"),
    [([[0.0, 0.2]], 0.1), ([[0.4], [0.1, np.inf]], 0.05), ([[0.0]], 1e-6)],
)
def test_zeros_are_drawn_below_everything(arrays, expected):
    assert _style.smallest_positive(*arrays) == pytest.approx(expected)


def test_supported_curve_is_one_line():
    ax = axes()
    line, doubtful = _style.draw_curve(
        ax, X, X, np.ones(6, bool), _style.line_style(0), "a"
    )
    assert doubtful is None
    assert ax.get_lines() == [line]
    assert np.array_equal(line.get_ydata(), X)


def test_unsupported_part_is_dotted_and_hollow_and_explained():
    ax, supported = axes(), X < 3
    line, doubtful = _style.draw_curve(ax, X, X, supported, _style.line_style(0), "a")
    _style.add_legend(ax)
    assert np.array_equal(np.isfinite(line.get_ydata()), supported)
    assert doubtful.get_linestyle() == ":"
    assert doubtful.get_markerfacecolor() == "white"
    assert np.isfinite(doubtful.get_ydata()).tolist() == [False] * 2 + [True] * 4
    assert legend_texts(ax) == ["a", _style.NOT_SUPPORTED]


@pytest.mark.parametrize(("supported", "hatches"), [(True, [None]), (False, ["////"])])
def test_unsupported_bands_are_hatched(supported, hatches):
    ax = axes()
    _style.draw_band(ax, X, X, X + 1, np.full(6, supported), "black")
    drawn = [c for c in ax.collections if c.get_paths()]
    assert [c.get_hatch() for c in drawn] == hatches


@pytest.mark.parametrize(("n_lines", "hatched"), [(3, True), (4, False)])
def test_many_bands_become_bars(n_lines, hatched):
    ax, low = axes(), np.zeros((n_lines, 6))
    lines = [ax.plot(X, X)[0] for _ in range(n_lines)]
    _style.draw_bands(ax, X, low, low + 1, low > 0, lines)
    assert any(c.get_hatch() for c in ax.collections) == hatched


def test_conventions_are_explained_once_and_last():
    ax = axes()
    _style.explain(ax, _style.NOT_SUPPORTED)
    ax.plot(X, X, label="a")
    _style.explain(ax, _style.NOT_SUPPORTED)
    _style.add_legend(ax)
    assert legend_texts(ax) == ["a", _style.NOT_SUPPORTED]


def test_limits_hold_what_was_drawn_before():
    ax = axes()
    assert _style.earlier_limits(ax) is None
    ax.plot(X, X)
    _style.set_limits(ax, ((0, 5), (1, 2)), (1, 6), (0, 1))
    assert (ax.get_xlim(), ax.get_ylim()) == ((0, 6), (0, 2))


@pytest.mark.parametrize(
    ("level", "text"), [(0.01, "FAR = 0.01"), (np.nan, "threshold 0.5")]
)
def test_thresholds_are_marked(level, text):
    ax = axes()
    _style.mark_thresholds(ax, [0.5], [level])
    assert [t.get_text() for t in ax.texts] == [text]
    assert np.array_equal(ax.get_lines()[0].get_xdata(), [0.5, 0.5])


def test_axes_given_are_kept():
    ax = axes()
    assert _style.get_axes(ax) is ax


def test_shades_are_explained_once_and_last():
    ax = axes()
    _style.shade(ax, (0, 1), "left")
    _style.shade(ax, (2, 3), "left")
    ax.plot(X, X, label="a")
    _style.add_legend(ax)
    assert legend_texts(ax) == ["a", _style.SHADED + "left"]
    assert [p.get_x() for p in ax.patches] == [0, 2]


@pytest.mark.parametrize(("rgba", "lightness"), [((1, 1, 1, 1), 1), ((0, 0, 0, 1), 0)])
def test_luminance_is_that_of_grey(rgba, lightness):
    assert _style.luminance(rgba) == pytest.approx(lightness)


@pytest.mark.parametrize(
    ("values", "scale"),
    [([1, 6], "log"), ([1, 4], "linear"), ([0, 6], "linear"), ([np.nan], "linear")],
)
def test_ratios_scale_where_they_span_a_lot(values, scale):
    ax = axes()
    _style.scale_by_ratio(ax.yaxis, np.array(values, dtype=float))
    assert ax.get_yscale() == scale


FORMULA = r"$\frac{$"


@pytest.mark.parametrize(
    "display", [SimilarityROCDisplay, ErrorRateDisplay, ScoreHistogramDisplay]
)
def test_no_name_hides_from_the_legend_or_is_a_formula(display):
    data, y, groups = synthetic()
    names = np.where(groups == groups[0], "_hidden", FORMULA)
    ax = axes()
    display.from_roc(unfitted().fit(data, y, names), ax=ax, name=f"_{FORMULA}")
    ax.figure.draw_without_rendering()
    shown = [text.replace(r"\$", "$") for text in legend_texts(ax)]
    assert any("_hidden" in text for text in shown)
    assert any(f"_{FORMULA}" in text and text.count(FORMULA) > 1 for text in shown)


def test_neither_do_names_of_systems():
    ax = axes()
    DisparityCurveDisplay.from_roc(fitted(), ax=ax, name=f"_{FORMULA}")
    ax.figure.draw_without_rendering()
    assert all("frac" in text for text in legend_texts(ax)[:2])


@pytest.mark.parametrize(
    "wrong",
    [
        *(3, None, [], ["x", "y"], [[1], 2, 3], np.zeros((1, 2)), "axes"),
        *([np.zeros((2, 3)), np.zeros((2, 4))], [[1, 2], [3]], {"a": 1}),
    ],
    ids=repr,
)
def test_what_is_not_as_many_axes_is_refused_by_name(wrong):
    with pytest.raises(ArgumentError, match=r"ax must (hold 2|be) axes") as found:
        _style.several_axes(wrong, 2, "ax", "rate")
    assert found.value.argument == "ax"


def test_axes_in_any_order_of_nesting():
    one, other = Figure().subplots(1, 2)
    for given in ([one, other], (one, other), np.array([[one], [other]])):
        assert _style.several_axes(given, 2, "ax", "rate") == (one, other)
    assert _style.several_axes(one, 1, "ax", "rate") == (one,)
    with pytest.raises(
        ArgumentError, match=r"axes must be axes of matplotlib.*got int"
    ):
        _style.several_axes([one, 3], 2, "axes", "rate")
