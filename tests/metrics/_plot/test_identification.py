"""The drawn rates over gallery sizes are the estimates, and the formula stands beside them."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from skfairfr.metrics import GallerySizeDisplay
from skfairfr.report._figures import WIDTH
from tests.metrics._plot.drawn import axes, legend_texts
from tests.metrics.test_identification import fit, make


@pytest.mark.parametrize("rate", ["fpir", "fnir"])
def test_curves_are_the_estimates_at_one_threshold(rate):
    search = fit(make())
    display = GallerySizeDisplay.from_identification(
        search, fpir=0.3, rate=rate, sizes=[3, 25, 3], ax=axes()
    )
    assert display.sizes.tolist() == [3, 25] and display.groups == (None, "a", "b")
    threshold = search.threshold_at(0.3)
    for row, group in enumerate(display.groups):
        for column, n in enumerate((3, 25)):
            found = search.estimate(
                threshold=threshold, rate=rate, group=group, gallery_size=n
            )
            drawn = [
                getattr(display, of)[row, column] for of in ("value", "low", "high")
            ]
            assert drawn == [found.value, found.low, found.high]
    assert len(display.lines_) == 3 and rate.upper() in display.ax_.get_ylabel()


def test_the_formula_begins_at_the_fmr_and_is_named():
    search = fit(make())
    display = GallerySizeDisplay.from_identification(
        search, threshold=0.6, sizes=[1, 2, 25], groups=["b"], ax=axes()
    )
    fmr = search.estimate(threshold=0.6, rate="fpir", group="b", gallery_size=1).value
    assert np.allclose(
        display.formula[0], [fmr, 1 - (1 - fmr) ** 2, 1 - (1 - fmr) ** 25]
    )
    assert display.value[0, 0] == fmr
    # Scores of one probe are not independent.
    assert display.formula[0, -1] > display.value[0, -1] + 0.01
    assert any("independent" in text for text in legend_texts(display.ax_))
    # Hollow circles in the legend stand for too few errors alone.
    (named,) = (
        line for line in display.ax_.lines if "independent" in str(line.get_label())
    )
    assert named.get_marker() == "x"
    assert len(display.formula_lines_) == 1
    of_mates = GallerySizeDisplay.from_identification(
        search, threshold=0.8, rate="fnir", sizes=[1, 5], ax=axes()
    )
    assert of_mates.formula is None and of_mates.formula_lines_ == []


def test_a_rate_of_zero_is_not_drawn_and_a_group_without_errors_is_named():
    value = np.array([[0.0, 0.01, 0.02], [0.0, 0.0, 0.0]])
    display = GallerySizeDisplay(
        sizes=np.array([1, 9, 25]),
        value=value,
        low=0 * value,
        high=value + 0.1,
        supported=value > -1,
        groups=("a", "b"),
        formula=value,
    ).plot(axes())
    for lines in (display.lines_, display.formula_lines_):
        drawn = [line.get_ydata() for line in lines]
        np.testing.assert_array_equal(np.isnan(drawn), value == 0)
    assert legend_texts(display.ax_)[:2] == ["a", "b, 0 errors"]
    styles = [line.get_linestyle() for line in display.ax_.get_legend().get_lines()]
    assert styles[0] != ":" and styles[1] == ":"


def test_the_legend_fits_into_the_figure_of_a_page():
    figure = Figure(figsize=(WIDTH, 3.4), layout="constrained")
    display = GallerySizeDisplay.from_identification(
        fit(make()), threshold=0.6, ax=figure.subplots()
    )
    figure.draw_without_rendering()
    box = display.ax_.get_legend().get_window_extent()
    assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1


@pytest.mark.parametrize(
    "wrong",
    [
        {"rate": "far"},
        {"sizes": [0]},
        {"sizes": [26]},
        {"groups": ["c"]},
        {"fpir": 0.1},
    ],
)
def test_what_cannot_be_drawn_is_refused(wrong):
    asked = {"threshold": 0.8, "sizes": [1], "ax": axes()} | wrong
    with pytest.raises(ValueError, match=rf"{next(iter(wrong))}|gallery_size"):
        GallerySizeDisplay.from_identification(fit(make()), **asked)
