"""Displays of one value for each identity or image."""

import warnings
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression

from skfairfr import make_face_embeddings
from skfairfr.metrics import (
    IdentityInertiaDisplay,
    InstanceFARDisplay,
    identity_inertia,
    instance_far,
)
from skfairfr.metrics._plot import _style
from tests.metrics._plot.drawn import axes, legend_texts, synthetic

FACES = make_face_embeddings(n_identities=80, n_features=16, random_state=0)
GROUPS = FACES.sensitive_features
DISPLAYS = [(IdentityInertiaDisplay, {}), (InstanceFARDisplay, {"far": 0.1})]


@pytest.mark.parametrize(("display", "options"), DISPLAYS)
def test_transformer_is_asked_first(display, options):
    X, y, groups = synthetic()
    pca = PCA(4).fit(X)
    of = {"sensitive_features": groups, **options}
    found = display.from_estimator(pca, X, y, ax=axes(), **of)
    direct = display.from_embeddings(pca.transform(X), y, ax=axes(), **of)
    assert type(found) is display
    for ours, theirs in zip(found.ax_.lines, direct.ax_.lines, strict=True):
        assert_array_equal(ours.get_xydata(), theirs.get_xydata())
    with pytest.raises(ValueError, match="from_embeddings takes embeddings"):
        display.from_estimator(LinearRegression(), X, y, **options)


FOUND = identity_inertia(FACES.X, FACES.y, sensitive_features=GROUPS)


def test_each_group_s_inertia_is_stored_and_named(ax):
    display = IdentityInertiaDisplay.from_inertias(FOUND, ax=ax, name="raw")
    assert display.groups == ("female", "male")
    for part, group in zip(display.inertia, display.groups, strict=True):
        assert_array_equal(part, FOUND.inertia[FOUND.groups == group])
    sizes = [len(part) for part in display.inertia]
    assert legend_texts(display.ax_) == [
        f"raw, female (n = {sizes[0]})",
        f"raw, male (n = {sizes[1]})",
    ]
    assert display.ax_ is ax
    assert display.figure_ is ax.figure


def test_histograms_are_densities_over_shared_bins(ax):
    display = IdentityInertiaDisplay.from_inertias(FOUND, ax=ax, bins=10)
    limits = FOUND.inertia.min(), FOUND.inertia.max()
    for part, outline in zip(display.inertia, display.artists_, strict=True):
        heights, edges = np.histogram(part, 10, limits, density=True)
        drawn = outline.get_xy()
        assert np.unique(drawn[:, 0]) == pytest.approx(edges)
        assert drawn[:, 1].max() == pytest.approx(heights.max())


def test_an_ecdf_is_the_share_of_identities_below(ax):
    display = IdentityInertiaDisplay.from_inertias(FOUND, ax=ax, kind="ecdf")
    for part, line in zip(display.inertia, display.artists_, strict=True):
        x, y = line.get_data()
        shares = [sum(value <= at for value in part) / len(part) for at in x[1:]]
        assert y[1:] == pytest.approx(shares)


def test_none_stands_for_all_identities(ax):
    with_all = IdentityInertiaDisplay.from_inertias(FOUND, groups=(None, "male"), ax=ax)
    assert_array_equal(with_all.inertia[0], FOUND.inertia)
    unlabelled = identity_inertia(FACES.X, FACES.y)
    display = IdentityInertiaDisplay.from_inertias(unlabelled, ax=axes())
    assert display.groups == (None,)
    assert legend_texts(display.ax_)[-1] == f"everyone (n = {len(FOUND.inertia)})"


def test_inertia_refuses(ax):
    for options, message in (
        ({"kind": "violin"}, "kind must be one of 'histogram', 'ecdf'"),
        ({"bins": 0}, "bins must be an integer from 1"),
        ({"groups": ["child"]}, "groups 'child' is not a group"),
    ):
        with pytest.raises(ValueError, match=message):
            IdentityInertiaDisplay.from_inertias(FOUND, ax=ax, **options)


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
        # Where several images have a rate, the step at it starts with the first.
        rates, first = np.unique(rates, return_index=True)
        assert rates.tolist() == sorted(set(part))
        expected = [sum(value >= rate for value in part) / part.size for rate in rates]
        assert share[first] == pytest.approx(expected)
        # Between two rates, those with the higher one and more are counted.
        assert line.get_drawstyle() == "steps-pre"
    assert ax.get_xscale() == ax.get_yscale() == "log"
    rates, (low, high) = np.concatenate(display.instance_far), ax.get_xlim()
    assert low < rates[rates > 0].min() and rates.max() < high


def test_a_mark_shows_each_group_s_mean_on_its_curve(ax):
    display = drawn(ax)
    for part, mark in zip(display.instance_far, display.means_, strict=True):
        x, y = mark.get_data()
        assert list(x) == pytest.approx([part.mean()])
        assert list(y) == pytest.approx([np.mean(part >= part.mean())])
    overall = [line for line in ax.lines if line.get_label() == "mean of all images"]
    assert overall[0].get_xdata() == pytest.approx([measured().instance_far.mean()] * 2)


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
    assert (
        not any(display.lines_[0].get_xdata())
        and not display.means_[0].get_xdata().size
    )
    assert legend_texts(ax) == [
        "a (n = 3, mean 0, none: 100 %)" if part else "a (no pairs)"
    ]
    ax.figure.canvas.draw()


def test_two_systems_share_axes(ax):
    few = of([0.1, 0.2, 0.3], mean=0.2, name="before").plot(ax)
    of([0.001, 0.2], mean=0.1, name="after").plot(ax)
    assert legend_texts(ax).count("mean of all images") == 1
    assert legend_texts(ax).count("mean of the group") == 1
    assert [text.split(",")[0] for text in legend_texts(ax)[:1]] == ["before"]
    assert ax.get_xlim()[0] < 0.001 and ax.get_xlim()[1] > 0.3
    assert few.name == "before"


def test_many_groups_fit_above_the_axes(ax):
    of(*np.random.default_rng(0).random((6, 30)), mean=0.5).plot(ax)
    assert len(legend_texts(ax)) > _style.MAX_ENTRIES
    ax.figure.canvas.draw()
    assert ax.get_legend().get_window_extent().y0 >= ax.get_window_extent().y1
