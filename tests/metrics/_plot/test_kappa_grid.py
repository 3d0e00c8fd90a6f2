"""Every cell is the candidate with its parameters, and its number can be read."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from skfairfr import fairness_scores
from skfairfr.metrics import KappaGridDisplay
from skfairfr.metrics._plot import _kappa_grid
from tests.metrics._plot.drawn import axes
from tests.metrics._plot.searched import CHOOSE, SCORES, STEPS, Towards, search
from tests.metrics.searches import FOLDS, Stretch, X, Y

METRICS = ["far_log_ratio@2e-2", "far_log_ratio@1e-2"]


def from_search(fitted=None, metric=METRICS[0], **options):
    options = {"ax": axes(), **options}
    return KappaGridDisplay.from_search(fitted or search(), metric=metric, **options)


def arrays(ratio, **options):
    ratio = np.array(ratio, dtype=float)
    x, y = np.arange(ratio.shape[1]), np.arange(ratio.shape[0])
    return KappaGridDisplay(ratio=ratio[None], x=x, y=y, **options).plot(axes())


def texts(display):
    return [[t and t.get_text() for t in row] for row in display.text_[0]]


@pytest.mark.parametrize("pipeline", [False, True])
def test_cells_hold_their_candidates(pipeline):
    fitted = search(pipeline)
    display = from_search(fitted)
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
    ("estimator", "step", "refit", "labels"),
    [
        (Grouped(), "", CHOOSE, ("kappa0 (female)", "kappa1 (male)")),
        (
            make_pipeline(Grouped()),
            "grouped__",
            CHOOSE,
            ("kappa0 (female)", "kappa1 (male)"),
        ),
        (Grouped(), "", False, ("kappa0", "kappa1")),
    ],
)
def test_labels_name_the_groups_that_the_best_estimator_knows(
    estimator, step, refit, labels
):
    grid = {step + name: values for name, values in STEPS.items()}
    fitted = GridSearchCV(estimator, grid, scoring=SCORES, cv=FOLDS, refit=refit)
    assert from_search(fitted.fit(X, Y)).labels == labels


def test_axes_can_be_swapped():
    swapped = from_search(param_x="kappa1", param_y="kappa0")
    assert np.array_equal(swapped.ratio[0].T, from_search().ratio[0])
    assert swapped.chosen == from_search().chosen[::-1]


def test_levels_stand_side_by_side_with_one_scale():
    display = from_search(metric=METRICS, ax=Figure().subplots(1, 2))
    assert display.ratio.shape == (2, 2, 3)
    for level, name in enumerate(METRICS):
        assert np.array_equal(display.ratio[level], from_search(metric=name).ratio[0])
    titles = [ax.get_title() for ax in display.axes_]
    assert titles == [
        f"FAR of female / FAR of male\nno group's FAR above {level}"
        for level in ("2e-2", "1e-2")
    ]
    limits = {im.get_clim() for im in display.im_}
    assert len(limits) == 1
    low, high = limits.pop()
    assert low == -high
    assert len(display.figure_.axes) == 3


def test_a_disparity_is_drawn_with_its_label():
    display = from_search(metric="bfar@1e-2")
    assert np.nanmin(display.ratio) >= 1
    assert display.axes_[0].get_title().startswith("BFAR")


def test_a_new_figure_has_an_axis_for_each_level():
    import matplotlib.pyplot as plt

    backend = plt.get_backend()
    plt.switch_backend("Agg")
    try:
        display = from_search(metric=METRICS, ax=None, colorbar=False)
        assert len(display.figure_.axes) == len(display.axes_) == 2
        plt.close(display.figure_)
    finally:
        plt.switch_backend(backend)


def test_numbers_can_be_read_on_every_colour():
    display = arrays([[0.05, 1.0, 20.0]])
    colors = [t.get_color() for t in display.text_[0, 0]]
    assert colors == ["white", "black", "white"]


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (0.126, "0.13"),
        (1.0, "1.0"),
        (0.999, "1.0"),
        (1.55, "1.6"),
        (9.96, "10"),
        (33.3, "33"),
    ],
)
def test_numbers_have_two_digits(ratio, text):
    assert _kappa_grid.ratio_text(ratio) == text


def test_infinite_and_missing_cells_differ():
    display = arrays([[np.inf, 2.0, np.nan, 0.0]])
    assert texts(display) == [["\N{INFINITY}", "2.0", None, "0.00"]]
    assert display.axes_[0].patch.get_hatch()
    assert display.im_[0].origin == "lower"
    masked = display.im_[0].get_array().mask
    assert masked.tolist() == [[False, False, True, False]]


@pytest.mark.parametrize(
    ("ratio", "n_edges"),
    [
        ([[2, 0.5], [0.5, 0.5]], 2),
        ([[2, 3]], 0),
        ([[2, np.nan, 0.5]], 0),
        ([[2, 1, 3]], 2),
    ],
)
def test_a_line_runs_between_above_and_below_one(ratio, n_edges):
    collections = arrays(ratio).axes_[0].collections
    assert sum(len(c.get_segments()) for c in collections) == n_edges


@pytest.mark.parametrize(
    ("limit", "names"),
    [
        (np.log(1.15), ["1/1.1", "1", "1.1"]),
        (np.log(6), ["1/4", "1/2", "1", "2", "4"]),
        (np.log(40), ["1/27", "1/9", "1/3", "1", "3", "9", "27"]),
    ],
)
def test_ticks_are_powers(limit, names):
    logs, found = _kappa_grid.scale_ticks(limit)
    assert found == names
    assert logs == pytest.approx(-np.array(logs[::-1]))


def test_equal_treatment_everywhere_is_drawn():
    assert texts(arrays(np.ones((2, 2)))) == [["1.0"] * 2] * 2


def test_the_chosen_cell_has_a_frame():
    patches = arrays([[1.0, 2.0]], chosen=(0, 1)).axes_[0].patches
    assert {p.get_xy() for p in patches} == {(0.5, -0.5)}
    assert not arrays([[1.0, 2.0]]).axes_[0].patches


def searched_over(grid, estimator=None):
    options = {"scoring": fairness_scores(2e-2), "cv": FOLDS, "refit": False}
    return GridSearchCV(estimator or Towards(), grid, **options).fit(X, Y)


def test_several_candidates_a_cell_are_refused():
    fitted = search()
    results = dict(fitted.cv_results_)
    results["param_kappa1"] = np.full(6, 1.0)
    results["param_head"] = np.array(["mlp", "residual"] * 3)
    copy = GridSearchCV(Towards(), {})
    copy.cv_results_ = results
    with pytest.raises(ValueError, match="'head'"):
        from_search(copy)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"param_x": "alpha"}, "'alpha' is not a parameter"),
        ({"metric": "far_log_ratio"}, "is not a score"),
        ({"metric": METRICS}, "must hold 2 axes"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(ValueError, match=message):
        from_search(**options)


def test_a_parameter_that_is_no_number_is_refused():
    fitted = searched_over({"weight": [1.0, 2.0]}, Stretch())
    fitted.cv_results_["param_kappa0"] = np.array(["a", "b"], dtype=object)
    with pytest.raises(ValueError, match="not a number"):
        from_search(fitted, metric="bfar", param_x="kappa0", param_y="weight")
