"""Displays of one value for each image or identity: groups, and transformers."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression

from skfairfr.metrics import IdentityInertiaDisplay, InstanceFARDisplay
from skfairfr.metrics._plot._from_embeddings import values_of_groups
from tests.metrics._plot.drawn import axes, synthetic

VALUES = np.arange(6.0)
GROUP_OF = np.array(["b", "a", None, "a", "b", "b"], dtype=object)
DISPLAYS = [(IdentityInertiaDisplay, {}), (InstanceFARDisplay, {"far": 0.1})]


@pytest.mark.parametrize("groups", [None, ("a", "b"), ("b",), (None, "a")])
def test_values_are_those_of_a_loop(groups):
    found, parts = values_of_groups(VALUES, GROUP_OF, groups, "image")
    assert found == (("a", "b") if groups is None else groups)
    for group, part in zip(found, parts, strict=True):
        kept = [
            value
            for value, label in zip(VALUES, GROUP_OF, strict=True)
            if group is None or label == group
        ]
        np.testing.assert_array_equal(part, kept)


def test_without_a_known_group_all_are_drawn():
    groups, parts = values_of_groups(VALUES, np.full(6, None), None, "image")
    assert groups == (None,)
    np.testing.assert_array_equal(parts[0], VALUES)


def test_no_group_is_nothing_to_draw():
    with pytest.raises(ValueError, match=r"groups names none; give one at least"):
        values_of_groups(VALUES, GROUP_OF, (), "image")


def test_unknown_group_is_named():
    with pytest.raises(
        ValueError, match=r"groups has 'c', which no identity has.*a, b"
    ):
        values_of_groups(VALUES, GROUP_OF, ("a", "c"), "identity")


@pytest.mark.parametrize(("display", "options"), DISPLAYS)
def test_transformer_is_asked_first(display, options):
    X, y, groups = synthetic()
    pca = PCA(4).fit(X)
    of = {"sensitive_features": groups, **options}
    found = display.from_estimator(pca, X, y, ax=axes(), **of)
    direct = display.from_embeddings(pca.transform(X), y, ax=axes(), **of)
    assert type(found) is display
    for ours, theirs in zip(found.ax_.lines, direct.ax_.lines, strict=True):
        np.testing.assert_array_equal(ours.get_xydata(), theirs.get_xydata())


@pytest.mark.parametrize(("display", "options"), DISPLAYS)
def test_estimator_without_transform_is_refused(display, options):
    with pytest.raises(ValueError, match="from_embeddings takes embeddings"):
        display.from_estimator(LinearRegression(), *synthetic(), **options)
