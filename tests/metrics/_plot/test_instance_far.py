"""Facts of the display of the false acceptance rates of images."""

import warnings
from functools import cache

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from numpy.testing import assert_array_equal
from sklearn.preprocessing import FunctionTransformer

from skfairfr import make_face_embeddings
from skfairfr.metrics import instance_far
from skfairfr.metrics._plot import _style
from skfairfr.metrics._plot._instance_far import InstanceFARDisplay
from tests.metrics._plot.drawn import axes, legend_texts

FACES = make_face_embeddings(n_identities=120, n_features=16, random_state=0)
GROUPS = FACES.sensitive_features
ASKED = {"far": 1e-2, "sensitive_features": GROUPS}


@cache
def measured():
    """Rates that many tests draw."""
    return instance_far(FACES.X, FACES.y, **ASKED)


@pytest.fixture
def ax():
    return axes()


def drawn(ax, **options):
    return InstanceFARDisplay.from_instance_far(measured(), ax=ax, **options)


def of(*parts, **options):
    """A display of rates as they are."""
    parts = [np.array(part, dtype=float) for part in parts]
    groups = tuple("abcdefgh"[: len(parts)])
    return InstanceFARDisplay(instance_far=parts, groups=groups, **options)


def test_each_group_s_rates_are_stored_and_named(ax):
    display = drawn(ax, name="raw")
    assert display.groups == ("female", "male")
    wanted = []
    for part, group in zip(display.instance_far, display.groups, strict=True):
        assert_array_equal(part, measured().instance_far[measured().groups == group])
        none, mean = np.mean(part == 0), part.mean()
        wanted.append(
            f"raw, {group} (n = {part.size}, mean {mean:.2g}, none: {100 * none:.0f} %)"
        )
    assert legend_texts(ax) == [*wanted, "mean of the group", "mean of all images"]
    assert display.mean == measured().instance_far.mean()
    assert display.ax_ is ax and display.figure_ is ax.figure


def test_a_curve_is_the_share_of_images_at_or_above(ax):
    display = drawn(ax)
    for part, line in zip(display.instance_far, display.lines_, strict=True):
        rates, share = line.get_data()
        assert rates[1:].tolist() == sorted(set(part[part > 0]))
        expected = [sum(value >= rate for value in part) / part.size for rate in rates]
        assert share == pytest.approx(expected)
        # Level on the left, at the share of images with any false accept.
        assert share[0] == share[1] == pytest.approx(np.mean(part > 0))
        assert rates[0] == ax.get_xlim()[0]
        # Between two rates, those with the higher one and more are counted.
        assert line.get_drawstyle() == "steps-pre"


def test_a_mark_shows_each_group_s_mean_on_its_curve(ax):
    display = drawn(ax)
    for part, mark in zip(display.instance_far, display.means_, strict=True):
        x, y = mark.get_data()
        assert list(x) == pytest.approx([part.mean()])
        assert list(y) == pytest.approx([np.mean(part >= part.mean())])
    overall = [line for line in ax.lines if line.get_label() == "mean of all images"]
    assert overall[0].get_xdata() == pytest.approx([measured().instance_far.mean()] * 2)


def test_both_axes_are_logarithmic_and_hold_everything(ax):
    display = drawn(ax)
    assert ax.get_xscale() == ax.get_yscale() == "log"
    rates = np.concatenate(display.instance_far)
    low, high = ax.get_xlim()
    assert low < rates[rates > 0].min() and rates.max() < high
    low, high = ax.get_ylim()
    assert low < 1 / max(part.size for part in display.instance_far) and high > 1


def test_groups_differ_without_colour(ax):
    display = of(*np.random.default_rng(0).random((6, 30))).plot(ax)
    looks = {
        (str(line.get_linestyle()), str(line._unscaled_dash_pattern), mark.get_marker())
        for line, mark in zip(display.lines_, display.means_, strict=True)
    }
    assert len(looks) == 6
    assert len({to_rgba(line.get_color()) for line in display.lines_}) == 6


def test_three_ways_in_give_the_same(ax):
    doubled = FunctionTransformer(lambda X: 2 * X)
    displays = [
        drawn(ax),
        InstanceFARDisplay.from_embeddings(FACES.X, FACES.y, **ASKED, ax=ax),
        InstanceFARDisplay.from_estimator(
            doubled, FACES.X, FACES.y, GROUPS, far=1e-2, ax=ax
        ),
    ]
    for display in displays[1:]:
        for ours, theirs in zip(
            display.instance_far, displays[0].instance_far, strict=True
        ):
            assert_array_equal(ours, theirs)


@pytest.mark.parametrize(
    "options", [{"threshold": 0.3}, {"far": 0.05, "impostors": "same_group"}]
)
def test_options_of_the_measurement_are_passed_on(ax, options):
    asked = {"sensitive_features": GROUPS, **options}
    expected = instance_far(FACES.X, FACES.y, **asked)
    display = InstanceFARDisplay.from_embeddings(FACES.X, FACES.y, **asked, ax=ax)
    assert_array_equal(
        display.instance_far[0], expected.instance_far[expected.groups == "female"]
    )


def test_none_stands_for_all_images(ax):
    with_all = drawn(ax, groups=(None, "male"))
    assert_array_equal(with_all.instance_far[0], measured().instance_far)
    assert with_all.lines_[0].get_color() == "black"
    unlabelled = instance_far(FACES.X, FACES.y, far=1e-2)
    display = InstanceFARDisplay.from_instance_far(unlabelled, ax=axes())
    assert display.groups == (None,)
    assert legend_texts(display.ax_)[0].startswith(f"overall (n = {len(FACES.y)}, ")


def test_undefined_rates_are_left_out(ax):
    lone = np.where(FACES.y == FACES.y[0], "alone", GROUPS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = instance_far(
            FACES.X,
            FACES.y,
            far=1e-2,
            sensitive_features=lone,
            impostors="same_group",
        )
    display = InstanceFARDisplay.from_instance_far(found, ax=ax)
    assert display.groups == ("alone", "female", "male")
    assert display.instance_far[0].size == 0
    assert legend_texts(ax)[0] == "alone (no pairs)"
    assert not any(np.isnan(part).any() for part in display.instance_far)
    ax.figure.canvas.draw()


@pytest.mark.parametrize("part", [[0.0, 0.0, 0.0], []])
def test_nothing_to_draw_is_drawn_all_the_same(ax, part):
    display = of(part, mean=0.0).plot(ax)
    assert display.lines_[0].get_xdata().size == display.means_[0].get_xdata().size == 0
    assert legend_texts(ax) == [
        "a (n = 3, mean 0, none: 100 %)" if part else "a (no pairs)"
    ]
    ax.figure.canvas.draw()


def test_all_alike_is_one_step(ax):
    display = of([0.2] * 5, mean=0.2).plot(ax)
    assert display.lines_[0].get_xdata()[1:].tolist() == [0.2]
    assert display.lines_[0].get_ydata().tolist() == [1, 1]
    ax.figure.canvas.draw()


def test_two_systems_share_axes(ax):
    few = of([0.1, 0.2, 0.3], mean=0.2, name="before").plot(ax)
    of([0.001, 0.2], mean=0.1, name="after").plot(ax)
    assert legend_texts(ax).count("mean of all images") == 1
    assert legend_texts(ax).count("mean of the group") == 1
    assert [text.split(",")[0] for text in legend_texts(ax)[:1]] == ["before"]
    assert ax.get_xlim()[0] < 0.001 and ax.get_xlim()[1] > 0.3
    assert few.name == "before"


def test_names_and_keywords_of_plot(ax):
    display = of([0.1, 0.2]).plot(ax, name="net", linewidth=4)
    assert legend_texts(ax)[0].startswith("net, a (n = 2")
    assert display.lines_[0].get_linewidth() == 4
    assert "mean of all images" not in legend_texts(ax)


def test_many_groups_fit_above_the_axes(ax):
    of(*np.random.default_rng(0).random((6, 30)), mean=0.5).plot(ax)
    assert len(legend_texts(ax)) > _style.MAX_ENTRIES
    ax.figure.canvas.draw()
    assert ax.get_legend().get_window_extent().y0 >= ax.get_window_extent().y1


def test_a_group_that_no_image_has(ax):
    with pytest.raises(ValueError, match="groups has 'child', which no image has"):
        drawn(ax, groups=["child"])
