"""The drawn rates and densities are those at the thresholds."""

import numpy as np
import pytest
from sklearn.exceptions import UndefinedMetricWarning

from skfairfr.metrics import ErrorRateDisplay, ScoreHistogramDisplay, all_pairs
from skfairfr.metrics._plot import _style
from tests.metrics._plot.drawn import (
    axes,
    bands,
    fitted,
    fitted_beyond_far_max,
    fitted_with_lone_person,
    legend_texts,
    synthetic,
)

GRID = np.linspace(0.2, 0.8, 7)


def rates_display(**options):
    return ErrorRateDisplay.from_roc(
        fitted(), **{"threshold": GRID, "far": 0.05, "ax": axes(), **options}
    )


@pytest.mark.parametrize("rate", ["far", "frr"])
def test_stored_arrays_are_those_of_the_estimates(rate):
    display = rates_display()
    for row, group in enumerate(display.groups):
        estimate = fitted().estimate(threshold=GRID, rate=rate, group=group)
        assert np.array_equal(getattr(display, rate)[row], estimate.value)
        for field in ("low", "high", "supported"):
            stored = getattr(display, f"{rate}_{field}")[row]
            assert np.array_equal(stored, getattr(estimate, field))


@pytest.mark.parametrize("band", ["pointwise", None])
def test_plot_draws_both_rates_of_each_group(band):
    display, ax = rates_display(), axes()
    assert display.plot(ax, band=band) is display
    assert len(display.lines_) == 4
    assert ax.get_yscale() == "log"
    assert ax.get_xlim() == (GRID[0], GRID[-1])
    assert legend_texts(ax)[:2] == ["female", "male"]
    assert {"FMR", "FNMR"} <= {text.get_text() for text in ax.texts}


@pytest.mark.parametrize("n_thresholds", [1, 4])
def test_the_names_of_the_rates_stand_above_the_ends_of_the_curves(n_thresholds):
    display = rates_display(threshold=GRID[:n_thresholds])
    places = {text.get_text(): text.xy for text in display.ax_.texts}
    top = min(display.far[:, 0].max(), 0.9), min(display.frr[:, -1].max(), 0.9)
    assert places["FMR"] == (GRID[0], top[0])
    assert places["FNMR"] == (GRID[n_thresholds - 1], top[1])


@pytest.mark.parametrize("far", [None, 0.05, [0.1, 0.05]])
def test_thresholds_of_levels_are_marked(far):
    display = rates_display(far=far)
    levels = [] if far is None else np.atleast_1d(far).tolist()
    marks = [f"FMR {100 * level:g} %" for level in levels]
    assert [t.get_text() for t in display.ax_.texts if "%" in t.get_text()] == marks
    expected = [fitted().threshold_at(level) for level in levels]
    assert list(display.operating_thresholds) == expected


def test_distances_run_from_the_left():
    """The same curves, read the other way, with positive numbers."""
    display = rates_display(distance=True, far=None, operating_thresholds=[0.4])
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
    display = rates_display(far=None, operating_thresholds=[threshold])
    (text,) = (t for t in display.ax_.texts if "threshold" in t.get_text())
    assert text.xy[0] in (GRID[0], GRID[-1])
    assert display.ax_.get_xlim() == (GRID[0], GRID[-1])


def test_unknown_band_is_named():
    with pytest.raises(ValueError, match="band must be one of 'pointwise', got 'x'"):
        rates_display().plot(axes(), band="x")


def test_group_without_impostor_pairs_says_so():
    roc = fitted_with_lone_person()
    with pytest.warns(UndefinedMetricWarning, match="No impostor pair"):
        display = ErrorRateDisplay.from_roc(roc, threshold=GRID, far=None, ax=axes())
    assert legend_texts(display.ax_)[0] == "alone (no impostor pairs)"


def test_thresholds_that_a_sample_answers_are_shaded_and_explained():
    roc = fitted_beyond_far_max()
    display = ErrorRateDisplay.from_roc(roc, threshold=GRID, far=0.02, ax=axes())
    reasons = roc.estimate(threshold=GRID, rate="far", group="female").reason
    sampled = ["sample" in reason for reason in reasons]
    assert any(sampled) and not all(sampled)
    assert bands(display.ax_) == [pytest.approx((GRID[0], max(GRID[sampled])))]
    words = "FMR from a sample"
    assert legend_texts(display.ax_)[-1] == _style.SHADED + words
    assert bands(rates_display().ax_) == []


EDGES = np.linspace(-1, 1.001, 12)


def histogram(roc=None, **options):
    return ScoreHistogramDisplay.from_roc(
        roc or fitted(), **{"far": 0.05, "ax": axes(), **options}
    )


@pytest.mark.parametrize("kind", ["genuine", "impostor"])
@pytest.mark.parametrize("group", [None, "female", "male"])
def test_densities_are_numpys(kind, group):
    """In given bins, and in the default ones, which hold all pairs."""
    X, y, groups = synthetic()
    is_genuine, scores, pair_groups = all_pairs(X, y, sensitive_features=groups)
    kept = np.asarray(is_genuine) == (kind == "genuine")
    if group is not None:
        kept &= (pair_groups == group).all(axis=1)
    for edges in (EDGES, None):
        display = histogram(edges=edges, groups=[group])
        expected = np.histogram(scores[kept], display.edges, density=True)[0]
        assert getattr(display, kind)[0] == pytest.approx(expected, abs=1e-9)
        assert getattr(display, f"n_{kind}")[0] == kept.sum()


def test_densities_beyond_far_max_are_near_numpys():
    roc = fitted_beyond_far_max()
    display = histogram(roc, edges=EDGES, groups=[None], far=None)
    assert "sample" in roc.estimate(threshold=EDGES, rate="far").source
    X, y, groups = synthetic()
    is_genuine, scores, _ = all_pairs(X, y, sensitive_features=groups)
    impostor = scores[np.asarray(is_genuine) == 0]
    share = np.histogram(impostor, EDGES)[0] / impostor.size
    found = display.impostor[0] * np.diff(EDGES)
    # A share is the difference of two rates, each of 20,000 draws or exact.
    assert found == pytest.approx(share, abs=8 * np.sqrt(0.25 / 20000))


def test_edges_are_a_number_or_several_numbers_in_any_order():
    for edges in (0, [0.5], [0.5, 0.5], [{"a": 1}, {"a": 1}]):
        with pytest.raises(ValueError, match="edges must be"):
            histogram(edges=edges)
    given, sorted_ = histogram(edges=EDGES[::-1]), histogram(edges=EDGES)
    assert np.array_equal(given.genuine, sorted_.genuine)


def test_histograms_of_both_kinds_of_each_group():
    display, ax = histogram(), axes()
    assert display.plot(ax) is display
    assert len(display.lines_) == 4
    assert legend_texts(ax) == ["female", "male"]
    texts = [text.get_text() for text in ax.texts]
    assert texts == ["impostor pairs", "genuine pairs", "FMR 5 %"]


def test_few_pairs_are_marks_and_missing_ones_are_named():
    with pytest.warns(UndefinedMetricWarning, match="No impostor pair"):
        display = histogram(fitted_with_lone_person(), edges=EDGES)
    assert display.n_impostor[0] == 0
    labels = legend_texts(display.ax_)
    assert labels[0] == "alone (no impostor pairs)"
    assert labels[-1] == _style.FEW
    assert len(display.lines_) == 6
    assert display.lines_[3].get_linestyle() == "None"
