"""WithinClassWhitening: images of a person vary alike in all directions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skfairfr.comparators import WithinClassWhitening
from tests.comparators.uneven_people import draw_people
from tests.oracles.pairs import unit

X, Y = draw_people()
IDENTITY = Y["identity"]


def covariance_by_loops(X, identity):
    """Sum of squares about the people's means, over images less people."""
    total, n_free = np.zeros((X.shape[1],) * 2), 0
    for who in set(identity.tolist()):
        rows = unit(X)[identity == who]
        for row in rows:
            apart = row - sum(rows) / len(rows)
            total += np.outer(apart, apart)
        n_free += len(rows) - 1
    return total / n_free


def cosines_by_inverse(X, covariance, shrinkage):
    """x' W^-1 z over the roots of x' W^-1 x and z' W^-1 z, pair by pair."""
    even = np.trace(covariance) / len(covariance) * np.eye(len(covariance))
    inverse = np.linalg.inv((1 - shrinkage) * covariance + shrinkage * even)
    X = unit(X)
    return [
        [x @ inverse @ z / np.sqrt((x @ inverse @ x) * (z @ inverse @ z)) for z in X]
        for x in X
    ]


@pytest.mark.parametrize("shrinkage", [0.0, 0.3, 1.0])
def test_cosines_are_those_of_the_inverse_covariance(shrinkage):
    Z = WithinClassWhitening(shrinkage).fit(X, Y).transform(X)
    expected = cosines_by_inverse(X, covariance_by_loops(X, IDENTITY), shrinkage)
    assert_allclose(Z @ Z.T, expected, atol=2e-6)


def test_people_of_one_image_are_counted_and_change_nothing():
    whitening = WithinClassWhitening().fit(X, Y)
    several = np.bincount(IDENTITY)[IDENTITY] > 1
    without = WithinClassWhitening().fit(X[several], Y[several])
    assert whitening.n_left_out_ == 30 - without.n_identities_ > 0
    assert whitening.n_identities_ == without.n_identities_
    assert_allclose(whitening.whitening_, without.whitening_, rtol=1e-9)


def test_people_of_one_image_alone_are_an_error():
    with pytest.raises(ValueError, match=r"has 1 sample.*Pass more images"):
        WithinClassWhitening().fit(X, np.arange(len(X)))


@pytest.mark.parametrize("which", ["few images", "a flat direction"])
def test_a_singular_covariance_asks_for_shrinkage(which):
    rows, y = (X[:8], np.arange(8) % 4) if which == "few images" else (X.copy(), Y)
    if which == "a flat direction":
        rows[:, 0] = 0
    with pytest.raises(ValueError, match=r"shrinkage=0.0 leaves.*Raise shrinkage"):
        WithinClassWhitening(0.0).fit(rows, y)
    assert WithinClassWhitening(0.1).fit(rows, y).transform(rows).shape == rows.shape


def test_a_zero_row_has_no_direction():
    rows = X.copy()
    rows[4] = 0
    with pytest.raises(ValueError, match=r"a zero row \(4, 1 in all\)"):
        WithinClassWhitening().fit(rows, Y)
