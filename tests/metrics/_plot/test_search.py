"""What is drawn of a search or of a bench is what it holds."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from skfairfr import fairness_scores
from skfairfr.metrics import KappaGridDisplay, MitigationsDisplay, TradeOffDisplay
from skfairfr.metrics._plot import _search
from tests.metrics._plot.drawn import axes, legend_texts
from tests.metrics._plot.searched import (
    CHOOSE,
    SCORES,
    STEPS,
    Towards,
    baseline,
    search,
)
from tests.metrics.searches import FOLDS, Stretch, X, Y


def test_a_metric_is_minus_its_score():
    scores = search().cv_results_["mean_test_bfar@1e-2"]
    assert np.array_equal(_search.metric_of_search(search(), "bfar@1e-2"), -scores)
    with pytest.raises(NotFittedError):
        unfitted = GridSearchCV(Towards(), {}, scoring=fairness_scores())
        _search.metric_of_search(unfitted, "bfar")


def test_a_signed_ratio_is_the_geometric_mean_of_folds():
    found = _search.metric_of_search(search(), "far_log_ratio@1e-2")
    splits = [
        search().cv_results_[f"split{k}_test_far_log_ratio@1e-2"] for k in range(3)
    ]
    assert found == pytest.approx(np.prod(np.exp(splits), axis=0) ** (1 / 3))


def test_the_level_comes_from_the_name_or_the_scorer():
    assert _search.level_of(search(), "bfar@1e-2") == 0.01
    options = {"scoring": fairness_scores(0.02), "cv": FOLDS, "refit": False}
    single = GridSearchCV(Towards(), {"kappa0": [1.0]}, **options).fit(X, Y)
    assert _search.level_of(single, "bfar") == 0.02
    assert _search.level_of(object(), "bfar") is None


def test_parameters_are_found_with_and_without_their_step():
    for name in ("kappa0", "towards__kappa0"):
        assert _search.find_parameter(search(True), name) == "towards__kappa0"
    assert _search.find_parameter(search(), "kappa0") == "kappa0"
    with pytest.raises(ValueError, match="'kappa0', 'kappa1'"):
        _search.find_parameter(search(), "towards__kappa0")


METRICS = ["far_log_ratio@2e-2", "far_log_ratio@1e-2"]


def grid_of(fitted=None, metric=METRICS[0], **options):
    options = {"ax": axes(), **options}
    return KappaGridDisplay.from_search(fitted or search(), metric=metric, **options)


def cells(ratio, **options):
    ratio = np.array(ratio, dtype=float)
    x, y = np.arange(ratio.shape[1]), np.arange(ratio.shape[0])
    return KappaGridDisplay(ratio=ratio[None], x=x, y=y, **options).plot(axes())


def texts(display):
    return [[t and t.get_text() for t in row] for row in display.text_[0]]


@pytest.mark.parametrize("pipeline", [False, True])
def test_cells_hold_their_candidates(pipeline):
    fitted = search(pipeline)
    display = grid_of(fitted)
    assert display.x.tolist() == STEPS["kappa0"]
    assert display.y.tolist() == STEPS["kappa1"]
    found = {
        tuple(p.values()): s
        for p, s in zip(
            fitted.cv_results_["params"],
            fitted.cv_results_[f"mean_test_{METRICS[0]}"],
            strict=True,
        )
    }
    for row, column in np.ndindex(display.ratio.shape[1:]):
        score = found[display.x[column], display.y[row]]
        assert display.ratio[0, row, column] == pytest.approx(np.exp(score))
    row, column = display.chosen
    best = list(fitted.best_params_.values())
    assert [display.x[column], display.y[row]] == best
    assert display.labels == ("kappa0", "kappa1")


class Grouped(Towards):
    """Knows to whom each kappa belongs, as an EthicalModule does."""

    def fit(self, X, y):
        self.groups_ = np.unique(y["group"])
        return super().fit(X, y)


@pytest.mark.parametrize(
    ("step", "refit", "labels"),
    [
        ("grouped__", CHOOSE, ("kappa0 (female)", "kappa1 (male)")),
        ("", False, ("kappa0", "kappa1")),
    ],
)
def test_labels_name_the_groups_that_the_best_estimator_knows(step, refit, labels):
    grid = {step + name: values[:2] for name, values in STEPS.items()}
    estimator = make_pipeline(Grouped()) if step else Grouped()
    fitted = GridSearchCV(estimator, grid, scoring=SCORES, cv=FOLDS, refit=refit)
    assert grid_of(fitted.fit(X, Y)).labels == labels


def test_levels_stand_side_by_side_with_one_scale():
    display = grid_of(metric=METRICS, ax=Figure().subplots(1, 2))
    assert display.ratio.shape == (2, 2, 3)
    for level, name in enumerate(METRICS):
        assert np.array_equal(display.ratio[level], grid_of(metric=name).ratio[0])
    titles = [ax.get_title() for ax in display.axes_]
    assert titles == [
        f"FMR of female / FMR of male\nno group above FMR {level}"
        for level in ("2 %", "1 %")
    ]
    limits = {im.get_clim() for im in display.im_}
    assert len(limits) == 1
    low, high = limits.pop()
    assert low == 1 / high
    # The ratios themselves are the numbers of the scale.
    *_, bar = display.figure_.axes
    shown = [float(text.get_text()) for text in bar.get_yticklabels()]
    assert shown == pytest.approx(bar.get_yticks()) and 1 in shown
    assert len(display.figure_.axes) == 3


def test_infinite_and_missing_cells_differ():
    display = cells([[np.inf, 2.0, np.nan, 0.0]])
    assert texts(display) == [["\N{INFINITY}", "2.0", None, "0.00"]]
    assert display.axes_[0].patch.get_hatch()
    assert display.im_[0].origin == "lower"
    masked = display.im_[0].get_array().mask
    assert masked.tolist() == [[False, False, True, False]]


def test_several_candidates_a_cell_are_refused():
    fitted = search()
    results = dict(fitted.cv_results_)
    results["param_kappa1"] = np.full(6, 1.0)
    results["param_head"] = np.array(["mlp", "residual"] * 3)
    copy = GridSearchCV(Towards(), {})
    copy.cv_results_ = results
    with pytest.raises(ValueError, match="'head'"):
        grid_of(copy)


def test_grids_refuse():
    for options, message in (
        ({"param_x": "alpha"}, "'alpha' is not a parameter"),
        ({"metric": "far_log_ratio"}, "is not a score"),
        ({"metric": METRICS}, "must contain 2 axes"),
    ):
        with pytest.raises(ValueError, match=message):
            grid_of(**options)


def test_a_parameter_that_is_no_number_is_refused():
    options = {"scoring": fairness_scores(2e-2), "cv": FOLDS, "refit": False}
    fitted = GridSearchCV(Stretch(), {"weight": [1.0, 2.0]}, **options).fit(X, Y)
    fitted.cv_results_["param_kappa0"] = np.array(["a", "b"], dtype=object)
    with pytest.raises(ValueError, match="not a number"):
        grid_of(fitted, metric="bfar", param_x="kappa0", param_y="weight")


NAMES = {"x": "frr_at_far@1e-2", "y": "bfar@1e-2"}


def trade_off(fitted=None, **options):
    options = {"ax": axes(), **NAMES, **options}
    return TradeOffDisplay.from_search(fitted or search(), **options)


def candidates(x=(1.0, 2.0, 3.0), y=(3.0, 1.0, 2.0), **options):
    x, y = np.array(x), np.array(y)
    params = [{"kappa0": k} for k in range(len(x))]
    return TradeOffDisplay(
        x=x, y=y, front=_search.pareto_front(x, y), params=params, **options
    ).plot(axes())


def test_the_front_is_what_nothing_beats():
    for x, y, front in (
        ([1, 2, 3], [3, 2, 1], [1, 1, 1]),
        ([1, 2, 3], [1, 2, 3], [1, 0, 0]),
        ([1, 1, 2], [2, 1, 1], [0, 1, 0]),
        ([1, 1], [1, 1], [1, 1]),
        ([np.nan, 2, 3], [0, 2, 1], [0, 1, 1]),
    ):
        found = _search.pareto_front(np.array(x, float), np.array(y, float))
        assert found.tolist() == [bool(f) for f in front]


def test_stored_arrays_are_those_of_the_search():
    fitted = search(pipeline=True)
    display = trade_off(fitted)
    for values, name in ((display.x, NAMES["x"]), (display.y, NAMES["y"])):
        assert np.array_equal(values, -fitted.cv_results_[f"mean_test_{name}"])
    assert display.chosen == fitted.best_index_
    assert display.params == fitted.cv_results_["params"]
    assert np.array_equal(display.front, _search.pareto_front(display.x, display.y))


def test_the_chosen_candidate_and_the_baseline_are_marked():
    display = trade_off(baseline=baseline())
    found = display.chosen_.get_xydata()[0]
    assert found.tolist() == [display.x[display.chosen], display.y[display.chosen]]
    folds = [baseline()[f"test_{NAMES[axis]}"] for axis in "xy"]
    assert display.baseline == pytest.approx([-np.mean(f) for f in folds])
    texts = legend_texts(display.ax_)
    best = search().best_params_
    assert f"chosen: kappa0={best['kappa0']:g}, kappa1={best['kappa1']:g}" in texts
    assert "baseline" in texts
    assert display.ax_.get_xlabel() == "FNMR at FMR 1 %"


def test_a_baseline_may_be_what_the_scorer_returned():
    scores = SCORES(Stretch(), X, Y)
    display = trade_off(baseline=scores)
    assert display.baseline == (-scores[NAMES["x"]], -scores[NAMES["y"]])


def test_candidates_without_a_value_are_counted():
    display = candidates(x=(1, np.nan, 2), chosen=1)
    assert display.chosen_ is None is trade_off(search(refit=False)).chosen_
    assert "candidates (1 without a value)" in legend_texts(display.ax_)


def test_trade_offs_refuse():
    for options, message in (
        ({"x": "bfar"}, "'bfar' is not a score"),
        ({"y": "far_log_ratio@1e-2"}, "KappaGridDisplay"),
        ({"baseline": {"test_bfar": [1]}}, "baseline has no"),
    ):
        with pytest.raises(ValueError, match=message):
            trade_off(**options)


# ---- a bench -------------------------------------------------------------------------

CHANGED = ("frr_at_far", "bfar", "bfrr")


def bench(ratios, **options):
    """A bench whose methods change every metric by these ratios, give or take a tenth."""
    methods = [
        SimpleNamespace(
            name=name,
            changes={
                metric: SimpleNamespace(ratio=r, low=0.9 * r, high=1.1 * r)
                for metric, r in zip(CHANGED, of_method, strict=True)
            },
        )
        for name, of_method in ratios.items()
    ]
    before = dict(zip(CHANGED, (0.1, 4.0, 2.0), strict=True))
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
        if not line.get_label().startswith("_") and line.get_xdata().size
    }


def test_arrows_lead_from_nothing_to_the_methods_whose_intervals_are_bars():
    display = drawn(bench({"a": (1.5, 0.5, 2.0)}))
    far, frr = (points(ax) for ax in display.axes_)
    assert far["nothing"] == [0.1, 4.0] and frr["nothing"] == [0.1, 2.0]
    assert far["1  a"] == pytest.approx([0.15, 2.0])
    assert frr["1  a"] == pytest.approx([0.15, 4.0])
    arrow, _ = display.axes_[0].texts
    assert tuple(arrow.xyann) == (0.1, 4.0)
    assert arrow.xy == pytest.approx((0.15, 2.0))
    across, up = (c.get_segments()[0] for c in display.axes_[0].collections)
    assert across == pytest.approx(np.array([[0.135, 2.0], [0.165, 2.0]]))
    assert up == pytest.approx(np.array([[0.15, 1.8], [0.15, 2.2]]))


def test_what_is_undefined_is_said_and_stays_in_the_legend():
    display = drawn(bench({"a": (1.5, np.nan, 2.0), "b": (1.0, 0.25, 1.0)}))
    titles = [ax.get_title() for ax in display.axes_]
    assert titles == ["undefined, not drawn: a", ""]
    first, second = map(points, display.axes_)
    assert "1  a" not in first and "1  a" in second
    (legend,) = display.figure_.legends
    assert {text.get_text() for text in legend.get_texts()} == {
        "nothing",
        "1  a",
        "2  b",
    }


def test_methods_are_numbered():
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


def test_bars_end_where_a_disparity_or_a_rate_does():
    display = drawn(bench({"a": (10.0, 0.26, 0.5)}))  # FRR 1, BFAR 1.04, BFRR 1
    for ax in display.axes_:
        across, up = (c.get_segments()[0] for c in ax.collections)
        assert across[:, 0].tolist() == pytest.approx([0.9, 1.0])
        assert up[0, 1] == 1.0


def test_an_undefined_product_is_no_warning():
    found = bench({"a": (1.0, np.inf, 2.0), "b": (1.0, 0.5, 1.0)})
    found.before["bfar"] = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        display = drawn(found)
    assert display.axes_[0].get_title() == "undefined, not drawn: a"


def test_a_bench_without_results_is_an_error():
    with pytest.raises(ValueError, match="no method with a result"):
        drawn(bench({}))
