"""The drawn FRR and disparities are the curves that were asked for."""

import numpy as np
import pytest
from scipy.stats import norm

from skfairfr.metrics import DisparityCurveDisplay, SimilarityROCDisplay
from skfairfr.metrics._plot import _style
from tests.metrics._plot.drawn import (
    BEYOND,
    LEVELS,
    axes,
    bands,
    fitted,
    fitted_beyond_far_max,
    legend_texts,
    synthetic,
    unfitted,
)


def roc_display(**options):
    return SimilarityROCDisplay.from_roc(
        fitted(), **{"far": LEVELS, "ax": axes(), **options}
    )


@pytest.mark.parametrize("point", ["overall", "worst_group", "group"])
@pytest.mark.parametrize("group", ["female", "male"])
def test_stored_arrays_are_those_of_the_curve(point, group):
    display = roc_display(operating_point=point)
    curve = fitted().curve(LEVELS, group=group, operating_point=point)
    row = display.groups.index(group)
    assert np.array_equal(display.frr[row], curve.value)
    assert np.array_equal(display.supported[row], curve.supported)
    for field in ("low", "high", "band_low", "band_high"):
        assert np.array_equal(getattr(display, field)[row], getattr(curve, field))


@pytest.mark.parametrize("band", ["pointwise", "simultaneous", None])
@pytest.mark.parametrize("scale", ["log", "det"])
def test_plot_draws_a_line_for_each_curve(scale, band):
    display, ax = roc_display(), axes()
    assert display.plot(ax, scale=scale, band=band) is display
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert len(display.lines_) == len(display.groups) == 3
    assert ax.get_xscale() == ("log" if scale == "log" else "function")
    assert np.isfinite([*ax.get_xlim(), *ax.get_ylim()]).all()
    assert "FMR" in ax.get_xlabel() and "FNMR" in ax.get_ylabel()


@pytest.mark.parametrize("scale", ["log", "det"])
def test_zero_and_one_are_drawn_and_kept(scale):
    display = roc_display(groups=[None])
    display.frr = np.array([[1.0, 0.5, 0.1, 0.0]])
    display.plot(axes(), scale=scale)
    drawn = np.concatenate([line.get_ydata() for line in display.ax_.get_lines()])
    drawn = drawn[~np.isnan(drawn)]
    assert np.isfinite(display.ax_.yaxis.get_transform().transform(drawn)).all()
    assert display.frr[0, -1] == 0


def test_positions_on_the_det_scale_are_normal_deviates():
    ax = roc_display().plot(axes(), scale="det").ax_
    for axis in (ax.xaxis, ax.yaxis):
        rates = np.array([0.001, 0.3, 0.9])
        assert axis.get_transform().transform(rates) == pytest.approx(norm.ppf(rates))


def test_an_interval_that_ends_at_almost_nothing_does_not_set_the_axis():
    display = roc_display(groups=[None])
    display.low = np.full((1, 4), 1e-12)
    low, _ = display.plot(axes()).ax_.get_ylim()
    assert low > 0.05 * display.frr.min()


def test_unknown_options_are_refused():
    for wrong in ({"scale": "linear"}, {"band": "both"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            roc_display().plot(axes(), **wrong)
    display = roc_display()
    display.band_low = display.band_high = None
    with pytest.raises(ValueError, match="band was not computed"):
        display.plot(axes(), band="simultaneous")


def test_without_axes_pyplot_makes_a_figure():
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    display = roc_display(ax=None)
    assert plt.get_fignums() == [display.figure_.number]
    plt.close(display.figure_)
    roc_display()
    assert plt.get_fignums() == []


@pytest.mark.parametrize("scale", ["log", "det"])
def test_levels_above_far_max_are_shaded_and_explained(scale):
    display = SimilarityROCDisplay.from_roc(
        fitted_beyond_far_max(), far=LEVELS, ax=axes(), scale=scale
    )
    (band,) = bands(display.ax_)
    assert band == pytest.approx((0.03, 0.2))
    assert band[1] == pytest.approx(display.ax_.get_xlim()[1])
    words = f"{_style.SHADED}{BEYOND}from a sample"
    assert legend_texts(display.ax_)[-1] == words


def test_own_operating_points_are_those_of_groups():
    display = roc_display(operating_point="group")
    assert display.groups == ("female", "male")
    assert "group itself" in display.ax_.get_xlabel()
    X, y, _ = synthetic()
    with pytest.raises(ValueError, match="no group to draw"):
        SimilarityROCDisplay.from_roc(unfitted().fit(X, y), operating_point="group")


def disparities(**options):
    return DisparityCurveDisplay.from_roc(
        fitted(), **{"far": LEVELS, "ax": axes(), **options}
    )


@pytest.mark.parametrize("point", ["overall", "worst_group"])
def test_stored_disparities_are_those_of_the_curve(point):
    hows = ("max_min", "gini")
    display = disparities(how=hows, operating_point=point)
    for row, (rate, how) in enumerate(display.curves):
        question = {"rate": rate, "how": how, "operating_point": point}
        curve = fitted().curve(LEVELS, **question)
        estimate = fitted().estimate(LEVELS, **question)
        for field in ("value", "low", "high", "band_low", "band_high", "supported"):
            assert np.array_equal(getattr(display, field)[row], getattr(curve, field))
        uncertainty = display.normalized_uncertainty[row]
        expected = estimate.normalized_uncertainty
        assert np.array_equal(uncertainty, expected, equal_nan=True)


def spread(rates):
    return rates.max(axis=-1) - rates.min(axis=-1)


def test_curves_are_named():
    named = {("ratio", "male", "female"): "ratio female / male", spread: "spread"}
    for how, expected in named.items():
        assert disparities(rate="far", how=how).curves == (("far", expected),)


def test_equal_groups_are_marked_where_that_is_one_place():
    hows = ["max_min", "ratio"], ["gini", "difference"], ["gini", "max_min"], spread
    for how, neutral in zip(hows, (1, 0, None, None), strict=True):
        lines = disparities(how=how, band=None).ax_.get_lines()
        level = [x.get_ydata()[0] for x in lines if list(x.get_xdata()) == [0, 1]]
        assert level == ([] if neutral is None else [neutral])


def test_infinite_values_are_marked_at_the_upper_edge():
    display = disparities(rate="far")
    display.value = np.array([[np.inf, 3.0, 2.0, 1.5]])
    display.high = np.full((1, 4), np.inf)
    display.plot(axes())
    assert _style.INFINITE in legend_texts(display.ax_)
    assert np.isfinite(display.ax_.get_ylim()).all()


def test_undefined_curve_says_so():
    display = disparities(rate="far")
    for field in ("value", "low", "high", "normalized_uncertainty"):
        setattr(display, field, np.full((1, 4), np.nan))
    for quantity in ("value", "normalized_uncertainty"):
        display.plot(axes(), quantity=quantity)
        assert legend_texts(display.ax_)[0] == "FMR: largest / smallest (undefined)"


@pytest.mark.parametrize("quantity", ["value", "normalized_uncertainty"])
def test_disparities_above_far_max_are_shaded_and_explained(quantity):
    display = DisparityCurveDisplay.from_roc(
        fitted_beyond_far_max(), far=LEVELS, quantity=quantity, ax=axes()
    )
    assert bands(display.ax_) == [pytest.approx((0.03, 0.2))]
    words = f"{_style.SHADED}{BEYOND}from a sample"
    assert legend_texts(display.ax_)[-1] == words
    assert bands(disparities().ax_) == []


def costs_by_loop(group, p):
    """Both rates of a group at the threshold of the least cost, and every FAR and FRR."""
    X, y, groups = synthetic()
    own = groups == group
    first, second = np.triu_indices(own.sum(), 1)
    score = (X[own][first] * X[own][second]).sum(axis=1)
    genuine = y[own][first] == y[own][second]
    rates = [
        ((score[~genuine] >= t).mean(), (score[genuine] < t).mean())
        for t in (*np.unique(score[genuine]), np.inf)
    ]
    return min(p * frr + (1 - p) * far for far, frr in rates)


@pytest.mark.parametrize("p", [0.01, 0.3])
def test_least_costs_are_marked_on_the_curve_of_every_group(p):
    display = roc_display(far=None, operating_point="group", p_target=p, scale="det")
    assert display.cost_names == (f"minDCF, p_target {p:g}",)
    for row, group in enumerate(display.groups):
        far, frr = display.cost_far[0, row], display.cost_frr[0, row]
        assert p * frr + (1 - p) * far == pytest.approx(costs_by_loop(group, p))
        on_curve = display.frr[row, display.far == far]
        assert far == 0 or on_curve == pytest.approx(frr)
    assert display.cost_names[0] in legend_texts(display.ax_)


def test_actual_costs_are_marked_at_the_threshold():
    asked = {"operating_point": "group", "p_target": [0.1, 0.2], "band": None}
    at = roc_display(**asked, threshold=0.4)
    assert at.cost_names[2:] == ("threshold 0.4",)
    bayes = roc_display(**asked, threshold="bayes")
    assert bayes.cost_names[2:] == ("DCF, p_target 0.1", "DCF, p_target 0.2")
    for display, row, threshold in ((at, 2, 0.4), (bayes, 3, np.log(0.8 / 0.2))):
        for column, group in enumerate(display.groups):
            for rate in ("far", "frr"):
                found = fitted().estimate(threshold=threshold, rate=rate, group=group)
                assert getattr(display, f"cost_{rate}")[row, column] == found.value


@pytest.mark.parametrize("point", ["overall", "worst_group"])
def test_costs_of_groups_are_over_their_own_far(point):
    with pytest.raises(ValueError, match="p_target marks points at each group's own"):
        roc_display(operating_point=point, p_target=0.1)
    assert roc_display(groups=[None], p_target=0.1).cost_far.shape == (1, 1)
