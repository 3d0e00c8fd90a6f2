"""GroupMeanRemover: what is left of embeddings beside the groups' means."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skfairfr.comparators import GroupMeanRemover
from tests.comparators.uneven_people import draw_people
from tests.oracles.pairs import unit

X, Y = draw_people()


def by_gram_schmidt(X, group, queries):
    """Queries less their parts along the groups' means, one mean after the other."""
    basis = []
    for label in sorted(set(group)):
        mean = sum(x for x, g in zip(unit(X), group, strict=True) if g == label)
        for direction in basis:
            mean = mean - (mean @ direction) * direction
        basis.append(mean / np.sqrt(mean @ mean))
    left = []
    for z in unit(queries):
        for direction in basis:
            z = z - (z @ direction) * direction
        left.append(z)
    return unit(left), np.array(basis)


@pytest.mark.parametrize("labels", ["ab", "abc"])
def test_it_is_gram_schmidt(labels):
    group = np.array(list(labels))[np.arange(len(X)) % len(labels)]
    remover = GroupMeanRemover().fit(X, sensitive_features=group)
    expected, basis = by_gram_schmidt(X, group, X)
    assert_allclose(remover.transform(X), expected, atol=1e-6)
    assert len(remover.directions_) == len(labels) == len(remover.groups_)
    # The same span: a basis of one is a combination of the other.
    assert_allclose(
        basis @ remover.directions_.T @ remover.directions_, basis, atol=1e-6
    )


def test_groups_inside_y_are_those_beside_it():
    inside = GroupMeanRemover().fit(X, Y)
    beside = GroupMeanRemover().fit(X, sensitive_features=Y["group"])
    both = GroupMeanRemover().fit(X, Y["identity"], Y["group"])
    assert_array_equal(inside.directions_, beside.directions_)
    assert_array_equal(inside.directions_, both.directions_)


def test_images_of_unknown_group_count_in_no_mean():
    group = Y["group"].astype(object)
    group[::3] = None
    known = np.array([g is not None for g in group])
    remover = GroupMeanRemover().fit(X, sensitive_features=group)
    without = GroupMeanRemover().fit(X[known], Y[known])
    assert_array_equal(remover.directions_, without.directions_)
    assert remover.n_unknown_ == len(X) - known.sum() and without.n_unknown_ == 0
    # Rows of unknown group are transformed as all others.
    assert remover.transform(X).shape == X.shape


def test_collinear_means_are_one_direction():
    twice, group = np.vstack([X, X]), np.repeat(["a", "b"], len(X))
    remover = GroupMeanRemover().fit(twice, sensitive_features=group)
    assert remover.directions_.shape == (1, 6) and len(remover.groups_) == 2


@pytest.mark.parametrize("group", [None, np.repeat("a", len(X))])
def test_one_group_is_said_and_the_overall_mean_removed(group):
    with pytest.warns(UserWarning, match="only the mean of all images is removed"):
        remover = GroupMeanRemover().fit(X, Y["identity"], group)
    mean = unit(X).mean(axis=0)
    assert_allclose(abs(remover.directions_ @ mean), np.linalg.norm(mean), rtol=1e-6)
    assert len(remover.groups_) == (group is not None)


def test_as_many_groups_as_features_leave_nothing():
    group = np.arange(len(X)) % 6
    with pytest.raises(ValueError, match=r"6 groups span all 6 features.*Merge groups"):
        GroupMeanRemover().fit(X, sensitive_features=group)


def test_a_row_in_the_span_has_no_direction_left():
    remover = GroupMeanRemover().fit(X, Y)
    inside = np.vstack([X[:2], [2.0, -3.0] @ remover.directions_])
    with pytest.raises(
        ValueError, match=r"a row \(2, 1 in all\) that lies in the span"
    ):
        remover.transform(inside)
