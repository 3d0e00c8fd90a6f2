"""The drawn frr is the curve that was asked for."""

import numpy as np
import pytest
from scipy.stats import norm

from skfairfr.metrics import SimilarityROCDisplay
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


def from_roc(**options):
    return SimilarityROCDisplay.from_roc(
        fitted(), **{"far": LEVELS, "ax": axes(), **options}
    )


@pytest.mark.parametrize("point", ["overall", "worst_group", "group"])
@pytest.mark.parametrize("group", ["female", "male"])
def test_stored_arrays_are_those_of_the_curve(point, group):
    display = from_roc(operating_point=point)
    curve = fitted().curve(LEVELS, group=group, operating_point=point)
    row = display.groups.index(group)
    assert np.array_equal(display.frr[row], curve.value)
    assert np.array_equal(display.supported[row], curve.supported)
    for field in ("low", "high", "band_low", "band_high"):
        assert np.array_equal(getattr(display, field)[row], getattr(curve, field))


@pytest.mark.parametrize("band", ["pointwise", "simultaneous", None])
@pytest.mark.parametrize("scale", ["log", "det"])
def test_plot_draws_a_line_for_each_curve(scale, band):
    display, ax = from_roc(), axes()
    assert display.plot(ax, scale=scale, band=band) is display
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert len(display.lines_) == len(display.groups) == 3
    assert ax.get_xscale() == ("log" if scale == "log" else "linear")
    assert np.isfinite([*ax.get_xlim(), *ax.get_ylim()]).all()
    assert "FAR (FMR)" in ax.get_xlabel()
    assert ax.get_ylabel() == "FRR (FNMR)"


def test_own_operating_points_have_no_overall_curve():
    display = from_roc(operating_point="group")
    assert display.groups == ("female", "male")
    assert "group itself" in display.ax_.get_xlabel()


def test_unsupported_part_is_marked():
    display = from_roc(groups=["male"])
    supported = np.array([[True, True, False, False]])
    display.supported = supported
    display.plot(axes())
    assert np.isfinite(display.lines_[0].get_ydata()).tolist() == supported[0].tolist()
    assert display.unsupported_lines_[0] is not None
    assert legend_texts(display.ax_) == ["male", _style.NOT_SUPPORTED]


@pytest.mark.parametrize("scale", ["log", "det"])
def test_zero_and_one_are_drawn_and_kept(scale):
    display = from_roc(groups=[None])
    display.frr = np.array([[1.0, 0.5, 0.1, 0.0]])
    display.plot(axes(), scale=scale)
    drawn = np.concatenate([line.get_ydata() for line in display.ax_.get_lines()])
    assert not np.isinf(drawn).any()
    assert display.frr[0, -1] == 0


def test_two_systems_share_axes():
    ax = axes()
    from_roc(groups=[None], name="one", ax=ax)
    from_roc(groups=[None], name="two", far=LEVELS[1:], ax=ax, color="red")
    assert ax.get_xlim() == (LEVELS[0], LEVELS[-1])
    assert {"one, overall", "two, overall"} <= set(legend_texts(ax))


@pytest.mark.parametrize("wrong", [{"scale": "linear"}, {"band": "both"}])
def test_unknown_options_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        from_roc().plot(axes(), **wrong)


def test_without_axes_pyplot_makes_a_figure():
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    display = from_roc(ax=None)
    assert plt.get_fignums() == [display.figure_.number]
    plt.close(display.figure_)
    from_roc()
    assert plt.get_fignums() == []


@pytest.mark.parametrize("scale", ["log", "det"])
def test_levels_above_far_max_are_shaded_and_explained(scale):
    display = SimilarityROCDisplay.from_roc(
        fitted_beyond_far_max(), far=LEVELS, ax=axes(), scale=scale
    )
    ends = np.array([0.03, 0.2])
    (band,) = bands(display.ax_)
    assert band == pytest.approx(tuple(ends if scale == "log" else norm.ppf(ends)))
    assert band[1] == pytest.approx(display.ax_.get_xlim()[1])
    words = f"{_style.SHADED}{BEYOND}from a sample"
    assert legend_texts(display.ax_)[-1] == words


@pytest.mark.parametrize("far", [LEVELS, [0.01, 0.03]])
def test_nothing_is_shaded_where_all_levels_are_exact(far):
    roc = fitted() if far is LEVELS else fitted_beyond_far_max()
    display = SimilarityROCDisplay.from_roc(roc, far=far, ax=axes())
    assert display.far_max is None and bands(display.ax_) == []


def test_one_far_max_is_explained_once():
    ax = axes()
    for name in ("one", "two"):
        SimilarityROCDisplay.from_roc(
            fitted_beyond_far_max(), far=LEVELS, groups=[None], name=name, ax=ax
        )
    assert sum(text.startswith(_style.SHADED) for text in legend_texts(ax)) == 1


def test_without_groups_none_has_a_threshold_of_its_own():
    X, y, _ = synthetic()
    roc = unfitted().fit(X, y)
    with pytest.raises(ValueError, match="no group to draw"):
        SimilarityROCDisplay.from_roc(roc, far=LEVELS, operating_point="group")


def test_two_systems_on_one_axes_are_told_apart():
    ax = axes()
    first = SimilarityROCDisplay.from_roc(fitted(), ax=ax, name="old")
    second = SimilarityROCDisplay.from_roc(fitted(), ax=ax, name="new")
    looks = [
        (line.get_color(), line.get_linestyle(), line.get_marker())
        for line in first.lines_ + second.lines_
    ]
    assert len(set(looks)) == 6
    texts = legend_texts(ax)
    assert {"old, female", "new, female", "old, overall", "new, overall"} <= set(texts)
