"""Every candidate is a point, and the front is what no other beats."""

import numpy as np
import pytest

from skfairfr.metrics import TradeOffDisplay
from skfairfr.metrics._plot._trade_off import pareto_front
from tests.metrics._plot.drawn import axes, legend_texts
from tests.metrics._plot.searched import SCORES, baseline, search
from tests.metrics.searches import Stretch, X, Y

NAMES = {"x": "frr_at_far@1e-2", "y": "bfar@1e-2"}


def from_search(fitted=None, **options):
    options = {"ax": axes(), **NAMES, **options}
    return TradeOffDisplay.from_search(fitted or search(), **options)


def arrays(x=(1.0, 2.0, 3.0), y=(3.0, 1.0, 2.0), **options):
    x, y = np.array(x), np.array(y)
    params = [{"kappa0": k} for k in range(len(x))]
    return TradeOffDisplay(
        x=x, y=y, front=pareto_front(x, y), params=params, **options
    ).plot(axes())


@pytest.mark.parametrize(
    ("x", "y", "front"),
    [
        ([1, 2, 3], [3, 2, 1], [1, 1, 1]),
        ([1, 2, 3], [1, 2, 3], [1, 0, 0]),
        ([1, 1, 2], [2, 1, 1], [0, 1, 0]),
        ([1, 1], [1, 1], [1, 1]),
        ([np.nan, 2, 3], [0, 2, 1], [0, 1, 1]),
        ([np.nan], [1], [0]),
    ],
)
def test_the_front_is_what_nothing_beats(x, y, front):
    x, y = np.array(x, float), np.array(y, float)
    assert pareto_front(x, y).tolist() == [bool(f) for f in front]


@pytest.mark.parametrize("pipeline", [False, True])
def test_stored_arrays_are_those_of_the_search(pipeline):
    fitted = search(pipeline)
    display = from_search(fitted)
    for values, name in ((display.x, NAMES["x"]), (display.y, NAMES["y"])):
        assert np.array_equal(values, -fitted.cv_results_[f"mean_test_{name}"])
    assert display.chosen == fitted.best_index_
    assert display.params == fitted.cv_results_["params"]
    assert np.array_equal(display.front, pareto_front(display.x, display.y))


def test_the_chosen_candidate_and_the_baseline_are_marked():
    display = from_search(baseline=baseline())
    found = display.chosen_.get_xydata()[0]
    assert found.tolist() == [display.x[display.chosen], display.y[display.chosen]]
    folds = [baseline()[f"test_{NAMES[axis]}"] for axis in "xy"]
    assert display.baseline == pytest.approx([-np.mean(f) for f in folds])
    texts = legend_texts(display.ax_)
    best = search().best_params_
    assert f"chosen: kappa0={best['kappa0']:g}, kappa1={best['kappa1']:g}" in texts
    assert "baseline" in texts


def test_a_baseline_may_be_what_the_scorer_returned():
    scores = SCORES(Stretch(), X, Y)
    display = from_search(baseline=scores)
    assert display.baseline == (-scores[NAMES["x"]], -scores[NAMES["y"]])


def test_axes_say_the_metric_and_the_level():
    ax = from_search().ax_
    assert ax.get_xlabel() == "FRR at FAR = 1e-2"
    assert ax.get_ylabel() == "BFAR (max / min of FAR) at FAR = 1e-2"


def test_the_front_is_drawn_as_steps_from_the_left():
    line = arrays().front_
    assert line.get_xydata().tolist() == [[1, 3], [2, 1]]
    assert line.get_drawstyle() == "steps-post"


def test_a_search_that_chose_nothing_has_no_star():
    assert from_search(search(refit=False)).chosen_ is None


def test_candidates_without_a_value_are_counted():
    display = arrays(x=(1, np.nan, 2), chosen=1)
    assert display.chosen_ is None
    assert "candidates (1 without a value)" in legend_texts(display.ax_)


def test_nothing_to_draw_is_drawn():
    display = arrays(x=(np.nan,), y=(1.0,))
    assert display.front_ is None


@pytest.mark.parametrize(
    ("y", "scale"), [((1, 2, 6), "log"), ((1, 2, 4), "linear"), ((0, 2, 6), "linear")]
)
def test_wide_ranges_are_logarithmic(y, scale):
    ax = arrays(y=y).ax_
    assert (ax.get_xscale(), ax.get_yscale()) == ("linear", scale)


def test_names_and_styles_can_be_given():
    display = from_search(name="A", color="red", marker="x")
    assert all(t.startswith("A, ") for t in legend_texts(display.ax_))
    assert display.points_.get_color() == display.front_.get_color() == "red"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"x": "bfar"}, "'bfar' is not a score"),
        ({"y": "far_log_ratio@1e-2"}, "KappaGridDisplay"),
        ({"baseline": {"test_bfar": [1]}}, "baseline has no"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(ValueError, match=message):
        from_search(**options)
