"""The drawn matrix is that of the groups, and its numbers can be read."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from skfairfr.metrics import GroupFARDisplay
from skfairfr.metrics._plot import _groups, _style
from tests.metrics._plot.drawn import (
    axes,
    fitted,
    fitted_beyond_far_max,
    fitted_with_lone_person,
)

MINUS = "\N{MINUS SIGN}"


def from_roc(roc=None, **options):
    return GroupFARDisplay.from_roc(roc or fitted(), **{"ax": axes(), **options})


def arrays(far, n_impostor=1000, supported=True, **options):
    """A display of a matrix, not drawn."""
    far = np.array(far)
    return GroupFARDisplay(
        groups=np.arange(len(far)),
        far=far,
        low=far,
        high=np.full(far.shape, 0.01),
        n_impostor=np.where(np.isnan(far), 0, n_impostor),
        supported=np.full(far.shape, supported),
        **options,
    )


@pytest.mark.parametrize("question", [{"far": 0.05}, {"threshold": 0.5}])
def test_stored_arrays_are_those_of_the_matrix(question):
    display = from_roc(**question)
    matrix = fitted().far_matrix(**question)
    for field in ("groups", "far", "low", "high", "n_impostor"):
        assert np.array_equal(getattr(display, field), getattr(matrix, field))
    for g, h in np.ndindex(2, 2):
        pair = (display.groups[g], display.groups[h])
        estimate = fitted().estimate(**question, rate="far", group=pair)
        assert display.supported[g, h] == estimate.supported
    assert display.level == question.get("far")


def test_default_level():
    assert from_roc().level == 1e-3


@pytest.mark.parametrize("colorbar", [True, False])
def test_plot_writes_a_number_in_each_cell(colorbar):
    display, ax = from_roc(far=0.05), axes()
    assert display.plot(ax, colorbar=colorbar) is display
    written = [[t.get_text() for t in row] for row in display.text_]
    assert written == [[_style.percent(v) for v in r] for r in display.far]
    assert [t.get_text() for t in ax.get_xticklabels()] == ["female", "male"]
    assert len(ax.figure.axes) == 1 + colorbar


def test_cells_without_errors_show_a_bound():
    display = arrays([[0.1, 0.0], [0.0, 0.01]]).plot(axes())
    assert display.text_[0, 1].get_text() == "<1.00 %"
    assert _groups._cell_text(0.0, np.nan) == "none"


def test_cells_without_pairs_are_hatched():
    display = from_roc(fitted_with_lone_person(), far=0.05)
    assert display.n_impostor[0, 0] == 0
    assert display.text_[0, 0] is None
    assert any(patch.get_hatch() for patch in display.ax_.patches)
    labels = [t.get_text() for t in display.ax_.get_legend().get_texts()]
    assert labels == [_style.TOO_FEW, _style.NO_PAIRS]


def test_many_groups_and_long_labels_need_a_larger_figure():
    few, many = ["a", "b"], [chr(97 + k) for k in range(26)]
    assert _groups.matrix_size(few) == (6, 4)
    assert _groups.matrix_size(many) > (10, 10)
    longer = [20 * label for label in many]
    assert _groups.matrix_size(longer) > _groups.matrix_size(many)


def test_numbers_fit_their_cells():
    """Nine groups of long labels: no text is wider than its cell."""
    figure = Figure(figsize=_groups.matrix_size(9 * ["group 1 & another"]))
    figure.set_layout_engine("constrained")
    far = np.random.default_rng(0).uniform(0.001, 0.1, (9, 9))
    display = arrays(far)
    display.groups = np.array([f"group {k} & another" for k in range(9)])
    display.plot(figure.subplots())
    cell = display._cell_points() * figure.dpi / 72
    assert max(t.get_window_extent().width for t in display.text_.ravel()) < cell


def test_text_shrinks_with_the_cells():
    sizes = [
        arrays(np.full((n, n), 0.1)).plot(axes()).text_[0, 0].get_fontsize()
        for n in (2, 8, 16)
    ]
    assert sizes[0] > sizes[1] > sizes[2]


@pytest.mark.parametrize("supported", [True, False])
def test_unsupported_cells_have_a_dashed_frame(supported):
    display = arrays([[0.1, 0.01], [0.01, 0.1]], supported=supported).plot(axes())
    assert len(display.ax_.patches) == (0 if supported else 4)


def test_text_is_white_on_dark_and_black_on_light():
    display = arrays([[0.5, 1e-4], [1e-4, 0.5]]).plot(axes())
    colors = [text.get_color() for text in display.text_.ravel()]
    assert colors == ["white", "black", "black", "white"]


def test_sides_are_named_where_the_matrix_is_not_symmetric():
    assert arrays([[0.1, 0.2], [0.2, 0.1]]).plot(axes()).ax_.get_ylabel() == "Group"
    assert arrays([[0.1, 0.2], [0.3, 0.1]]).plot(axes()).ax_.get_ylabel() == "Probe"


@pytest.mark.parametrize("far", [[[0.1]], [[0.0]], [[np.nan]]])
def test_one_cell_is_drawn(far):
    assert arrays(far, level=0.1).plot(axes()).text_.shape == (1, 1)


@pytest.mark.parametrize(
    ("far", "words"),
    [
        (0.1, ["from a sample"]),
        (0.02, []),
    ],
)
def test_a_level_above_far_max_is_said(far, words):
    display = from_roc(fitted_beyond_far_max(), far=far)
    legend = display.ax_.get_legend()
    texts = [] if legend is None else [t.get_text() for t in legend.get_texts()]
    assert [text for text in texts if "sample" in text] == words
