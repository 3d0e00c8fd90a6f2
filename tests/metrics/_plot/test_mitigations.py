"""Arrows begin at nothing and end at the methods, whose intervals are drawn."""

from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.figure import Figure

from skfairfr.metrics import MitigationsDisplay

METRICS = ("frr_at_far", "bfar", "bfrr")


def bench(ratios, **options):
    """A bench whose methods change every metric by these ratios, give or take a tenth."""
    methods = [
        SimpleNamespace(
            name=name,
            changes={
                metric: SimpleNamespace(ratio=r, low=0.9 * r, high=1.1 * r)
                for metric, r in zip(METRICS, of_method, strict=True)
            },
        )
        for name, of_method in ratios.items()
    ]
    before = dict(zip(METRICS, (0.1, 4.0, 2.0), strict=True))
    options = {"winner": None, "settings": {"far": 1e-3}, **options}
    return SimpleNamespace(methods=methods, before=before, **options)


def drawn(found):
    axes = Figure().subplots(1, 2)
    return MitigationsDisplay.from_bench(found, axes=axes)


def points(ax):
    """Label -> place of every point."""
    return {
        line.get_label(): line.get_xydata()[0].tolist()
        for line in ax.lines
        if not line.get_label().startswith("_")
    }


def test_methods_stand_at_their_values():
    display = drawn(bench({"a": (1.5, 0.5, 2.0), "b": (1.0, 0.25, 1.0)}))
    far, frr = (points(ax) for ax in display.axes_)
    assert far["nothing"] == [0.1, 4.0] and frr["nothing"] == [0.1, 2.0]
    assert far["a"] == pytest.approx([0.15, 2.0])
    assert frr["a"] == pytest.approx([0.15, 4.0])
    assert far["b"] == pytest.approx([0.1, 1.0])


def test_arrows_lead_from_nothing_to_the_methods():
    display = drawn(bench({"a": (1.5, 0.5, 2.0)}))
    (arrow,) = display.axes_[0].texts
    assert tuple(arrow.xyann) == (0.1, 4.0)
    assert arrow.xy == pytest.approx((0.15, 2.0))


def test_bars_are_the_intervals():
    display = drawn(bench({"a": (1.5, 0.5, 2.0)}))
    across, up = (c.get_segments()[0] for c in display.axes_[0].collections)
    assert across == pytest.approx(np.array([[0.135, 2.0], [0.165, 2.0]]))
    assert up == pytest.approx(np.array([[0.15, 1.8], [0.15, 2.2]]))


def test_what_is_undefined_is_said_and_stays_in_the_legend():
    display = drawn(bench({"a": (1.5, np.nan, 2.0), "b": (1.0, 0.25, 1.0)}))
    titles = [ax.get_title() for ax in display.axes_]
    assert titles == ["undefined, not drawn: a", ""]
    assert "a" not in points(display.axes_[0]) and "a" in points(display.axes_[1])
    (legend,) = display.figure_.legends
    assert {text.get_text() for text in legend.get_texts()} == {"nothing", "a", "b"}


def test_the_winner_has_a_star():
    display = drawn(bench({"a": (1, 0.5, 2), "b": (1, 0.4, 1)}, winner="b"))
    markers = {line.get_label(): line.get_marker() for line in display.axes_[0].lines}
    assert markers["b"] == "*" and markers["a"] != "*"


def test_the_legend_names_all():
    display = drawn(bench({"a": (1, 0.5, 2), "b": (1, 0.4, 1)}))
    (legend,) = display.figure_.legends
    assert [text.get_text() for text in legend.get_texts()] == ["a", "b", "nothing"]


def test_more_methods_than_markers_are_numbered():
    """In grey, the first and the eighth would look alike."""
    names = [f"method {place}" for place in range(1, 9)]
    display = drawn(bench({name: (1, 0.5, 2) for name in names}))
    (legend,) = display.figure_.legends
    shown = [text.get_text() for text in legend.get_texts()]
    expected = [f"{place}  {name}" for place, name in enumerate(names, 1)]
    assert shown == [*expected, "nothing"]
    for ax in display.axes_:
        numbers = [text.get_text() for text in ax.texts if text.get_text()]
        assert numbers == [str(place) for place in range(1, 9)]


def test_an_undefined_method_is_not_drawn():
    display = drawn(bench({"a": (1, 0.5, 2), "b": (1, np.nan, 1)}))
    assert set(points(display.axes_[0])) == {"a", "nothing"}
    assert set(points(display.axes_[1])) == {"a", "b", "nothing"}


def test_a_bench_without_results_is_an_error():
    with pytest.raises(ValueError, match="no method with a result"):
        drawn(bench({}))
