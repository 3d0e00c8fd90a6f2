"""The drawn rates are those at the thresholds."""

import numpy as np
import pytest
from sklearn.exceptions import UndefinedMetricWarning

from skfairfr.metrics import ErrorRateDisplay
from skfairfr.metrics._plot import _style
from tests.metrics._plot.drawn import (
    axes,
    bands,
    fitted,
    fitted_beyond_far_max,
    fitted_with_lone_person,
    legend_texts,
)

GRID = np.linspace(0.2, 0.8, 7)


def from_roc(**options):
    return ErrorRateDisplay.from_roc(
        fitted(), **{"threshold": GRID, "far": 0.05, "ax": axes(), **options}
    )


@pytest.mark.parametrize("rate", ["far", "frr"])
def test_stored_arrays_are_those_of_the_estimates(rate):
    display = from_roc()
    for row, group in enumerate(display.groups):
        estimate = fitted().estimate(threshold=GRID, rate=rate, group=group)
        assert np.array_equal(getattr(display, rate)[row], estimate.value)
        for field in ("low", "high", "supported"):
            stored = getattr(display, f"{rate}_{field}")[row]
            assert np.array_equal(stored, getattr(estimate, field))


@pytest.mark.parametrize("band", ["pointwise", None])
def test_plot_draws_both_rates_of_each_group(band):
    display, ax = from_roc(), axes()
    assert display.plot(ax, band=band) is display
    assert len(display.lines_) == 4
    assert ax.get_yscale() == "log"
    assert ax.get_xlim() == (GRID[0], GRID[-1])
    assert legend_texts(ax)[:2] == ["female", "male"]
    assert {"FAR (FMR)", "FRR (FNMR)"} <= {text.get_text() for text in ax.texts}


@pytest.mark.parametrize("n_thresholds", [1, 2, 4])
def test_few_thresholds_are_drawn_too(n_thresholds):
    """The names of the rates stand above the ends of the curves."""
    display = from_roc(threshold=GRID[:n_thresholds])
    places = {text.get_text(): text.xy for text in display.ax_.texts}
    assert places["FAR (FMR)"][0] == GRID[0]
    assert places["FAR (FMR)"][1] == min(display.far[:, 0].max(), 0.9)
    assert places["FRR (FNMR)"][0] == GRID[n_thresholds - 1]
    assert places["FRR (FNMR)"][1] == min(display.frr[:, -1].max(), 0.9)


@pytest.mark.parametrize("far", [None, 0.05, [0.1, 0.05]])
def test_thresholds_of_levels_are_marked(far):
    display = from_roc(far=far)
    levels = [] if far is None else np.atleast_1d(far).tolist()
    marks = [f"FAR = {level:g}" for level in levels]
    assert [t.get_text() for t in display.ax_.texts if "=" in t.get_text()] == marks
    expected = [fitted().threshold_at(level) for level in levels]
    assert list(display.operating_thresholds) == expected


def test_given_thresholds_are_marked_in_place_of_levels():
    display = from_roc(far=None, operating_thresholds=[0.4, 0.6])
    texts = [t.get_text() for t in display.ax_.texts if t.get_text()[:4] == "thre"]
    assert texts == ["threshold 0.4", "threshold 0.6"]


def test_distances_run_from_the_left():
    """The same curves, read the other way, with positive numbers."""
    display = from_roc(distance=True, far=None, operating_thresholds=[0.4])
    ax = display.ax_
    assert ax.get_xlabel() == "Distance threshold"
    assert ax.get_xlim() == (GRID[-1], GRID[0])
    assert "distance -0.4" in [t.get_text() for t in ax.texts]
    ax.figure.draw_without_rendering()
    written = [
        t.get_text().replace("\N{MINUS SIGN}", "-") for t in ax.get_xticklabels()
    ]
    assert [float(t) for t in written] == pytest.approx((-ax.get_xticks()).tolist())


@pytest.mark.parametrize("threshold", [-5.0, 5.0])
def test_a_threshold_outside_is_named_at_the_edge(threshold):
    display = from_roc(far=None, operating_thresholds=[threshold])
    (text,) = (t for t in display.ax_.texts if "threshold" in t.get_text())
    assert text.xy[0] in (GRID[0], GRID[-1])
    assert display.ax_.get_xlim() == (GRID[0], GRID[-1])


def test_unsupported_part_is_marked():
    display = from_roc()
    assert not display.far_supported.all()
    assert any(line is not None for line in display.unsupported_lines_)
    assert _style.NOT_SUPPORTED in legend_texts(display.ax_)


def test_group_without_impostor_pairs_says_so():
    roc = fitted_with_lone_person()
    with pytest.warns(UndefinedMetricWarning, match="No impostor pair"):
        display = ErrorRateDisplay.from_roc(roc, threshold=GRID, far=None, ax=axes())
    assert legend_texts(display.ax_)[0] == "alone (no impostor pairs)"


def test_default_grid():
    assert from_roc(threshold=None, groups=[None]).far.shape == (1, 41)


def test_thresholds_that_a_sample_answers_are_shaded_and_explained():
    roc = fitted_beyond_far_max()
    display = ErrorRateDisplay.from_roc(roc, threshold=GRID, far=0.02, ax=axes())
    reasons = roc.estimate(threshold=GRID, rate="far", group="female").reason
    sampled = ["sample" in reason for reason in reasons]
    assert any(sampled) and not all(sampled)
    assert bands(display.ax_) == [pytest.approx((GRID[0], max(GRID[sampled])))]
    words = "FAR beyond far_max,\nfrom a sample"
    assert legend_texts(display.ax_)[-1] == _style.SHADED + words
    assert bands(from_roc().ax_) == []
