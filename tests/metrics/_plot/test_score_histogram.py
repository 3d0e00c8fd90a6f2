"""The drawn densities are the shares of pairs in the bins."""

import numpy as np
import pytest
from sklearn.exceptions import UndefinedMetricWarning

from skfairfr.metrics import ScoreHistogramDisplay, all_pairs
from skfairfr.metrics._plot import _style
from tests.metrics._plot.drawn import (
    axes,
    fitted,
    fitted_beyond_far_max,
    fitted_with_lone_person,
    legend_texts,
    synthetic,
)

EDGES = np.linspace(-1, 1.001, 12)


def from_roc(roc=None, **options):
    return ScoreHistogramDisplay.from_roc(
        roc or fitted(), **{"far": 0.05, "ax": axes(), **options}
    )


@pytest.mark.parametrize("kind", ["genuine", "impostor"])
@pytest.mark.parametrize("group", [None, "female", "male"])
def test_densities_are_numpys(kind, group):
    display = from_roc(edges=EDGES, groups=[group])
    X, y, groups = synthetic()
    is_genuine, scores, pair_groups = all_pairs(X, y, sensitive_features=groups)
    kept = np.asarray(is_genuine) == (kind == "genuine")
    if group is not None:
        kept &= (pair_groups == group).all(axis=1)
    expected = np.histogram(scores[kept], EDGES, density=True)[0]
    assert getattr(display, kind)[0] == pytest.approx(expected, abs=1e-9)
    assert getattr(display, f"n_{kind}")[0] == kept.sum()


def test_densities_beyond_far_max_are_near_numpys():
    roc = fitted_beyond_far_max()
    display = from_roc(roc, edges=EDGES, groups=[None], far=None)
    assert "sample" in roc.estimate(threshold=EDGES, rate="far").source
    X, y, groups = synthetic()
    is_genuine, scores, _ = all_pairs(X, y, sensitive_features=groups)
    impostor = scores[np.asarray(is_genuine) == 0]
    share = np.histogram(impostor, EDGES)[0] / impostor.size
    found = display.impostor[0] * np.diff(EDGES)
    # A share is the difference of two rates, each of 20,000 draws or exact.
    assert found == pytest.approx(share, abs=8 * np.sqrt(0.25 / 20000))


def test_default_bins_hold_all_pairs():
    display = from_roc()
    width = np.diff(display.edges)
    for density in (*display.genuine, *display.impostor):
        assert (density * width).sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        (0, "edges must be at least 1"),
        (2.5, "edges must be an integer"),
        ([0.5], r"edges must be a number of bins.*of shape \(1,\)"),
        ([EDGES, EDGES], r"edges must be a number of bins.*of shape \(2, 12\)"),
        (["a", "b"], "edges must be a number of bins"),
        ([{"a": 1}, {"a": 1}], "edges must be a number of bins.*got object"),
        ([0, 0.5, np.inf], "edges must be finite"),
        ([0, 0.5, 0.5], "edges must be finite and all different"),
    ],
)
def test_edges_are_a_number_or_different_numbers(edges, message):
    with pytest.raises(ValueError, match=message):
        from_roc(edges=edges)


def test_edges_may_stand_in_any_order():
    given, sorted_ = from_roc(edges=EDGES[::-1]), from_roc(edges=EDGES)
    assert np.array_equal(given.genuine, sorted_.genuine)


def test_plot_draws_both_kinds_of_each_group():
    display, ax = from_roc(), axes()
    assert display.plot(ax) is display
    assert len(display.lines_) == 4
    assert legend_texts(ax) == ["female", "male"]
    texts = [text.get_text() for text in ax.texts]
    assert texts == ["impostor pairs", "genuine pairs", "FAR = 0.05"]


def test_few_pairs_are_marks_and_missing_ones_are_named():
    with pytest.warns(UndefinedMetricWarning, match="No impostor pair"):
        display = from_roc(fitted_with_lone_person(), edges=EDGES)
    assert display.n_impostor[0] == 0
    labels = legend_texts(display.ax_)
    assert labels[0] == "alone (no impostor pairs)"
    assert labels[-1] == _style.FEW
    assert len(display.lines_) == 6
    assert display.lines_[3].get_linestyle() == "None"
