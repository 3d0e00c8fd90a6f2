"""Facts of the display of inertias."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_array_equal
from sklearn.preprocessing import FunctionTransformer

from skfairfr import make_face_embeddings
from skfairfr.metrics import identity_inertia
from skfairfr.metrics._plot._inertia import IdentityInertiaDisplay

FACES = make_face_embeddings(n_identities=80, n_features=16, random_state=0)
GROUPS = FACES.sensitive_features
FOUND = identity_inertia(FACES.X, FACES.y, sensitive_features=GROUPS)


@pytest.fixture
def ax():
    return Figure().subplots()


def legend(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_each_group_s_inertia_is_stored_and_named(ax):
    display = IdentityInertiaDisplay.from_inertias(FOUND, ax=ax, name="raw")
    assert display.groups == ("female", "male")
    for part, group in zip(display.inertia, display.groups, strict=True):
        assert_array_equal(part, FOUND.inertia[FOUND.groups == group])
    sizes = [len(part) for part in display.inertia]
    assert legend(display) == [
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


@pytest.mark.parametrize("kind", ["histogram", "ecdf"])
def test_groups_differ_in_colour_and_in_line(ax, kind):
    display = IdentityInertiaDisplay.from_inertias(FOUND, ax=ax, kind=kind)
    styles = [(a.get_linestyle(), a.get_linewidth()) for a in display.artists_]
    assert styles[0][0] != styles[1][0]
    drawn = IdentityInertiaDisplay.from_inertias(FOUND, ax=ax, kind=kind, linewidth=4)
    assert {a.get_linewidth() for a in drawn.artists_} == {4}


def test_three_ways_in_give_the_same(ax):
    doubled = FunctionTransformer(lambda X: 2 * X)
    displays = [
        IdentityInertiaDisplay.from_inertias(FOUND, ax=ax),
        IdentityInertiaDisplay.from_embeddings(
            FACES.X, FACES.y, sensitive_features=GROUPS, ax=ax
        ),
        IdentityInertiaDisplay.from_estimator(doubled, FACES.X, FACES.y, GROUPS, ax=ax),
    ]
    for display in displays[1:]:
        for ours, theirs in zip(display.inertia, displays[0].inertia, strict=True):
            assert ours == pytest.approx(theirs)


def test_none_stands_for_all_identities(ax):
    with_all = IdentityInertiaDisplay.from_inertias(FOUND, groups=(None, "male"), ax=ax)
    assert_array_equal(with_all.inertia[0], FOUND.inertia)
    unlabelled = identity_inertia(FACES.X, FACES.y)
    display = IdentityInertiaDisplay.from_inertias(unlabelled, ax=ax)
    assert display.groups == (None,)
    assert legend(display)[-1] == f"overall (n = {len(FOUND.inertia)})"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "violin"}, "kind must be one of 'histogram', 'ecdf'"),
        ({"bins": 0}, "bins must be at least 1"),
        ({"groups": ["child"]}, "groups has 'child', which no identity has"),
    ],
)
def test_refused(ax, options, message):
    with pytest.raises(ValueError, match=message):
        IdentityInertiaDisplay.from_inertias(FOUND, ax=ax, **options)
