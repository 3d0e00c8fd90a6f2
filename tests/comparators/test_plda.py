"""PLDAComparator: against Gaussian densities, pair by pair."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal

from skfairfr.comparators import PLDAComparator
from tests.comparators.test_whitening import covariance_by_loops
from tests.comparators.uneven_people import draw_people
from tests.oracles.pairs import unit

X, Y = draw_people(n_people=60)
IDENTITY = Y["identity"]
OTHERS, _ = draw_people(n_people=8, seed=1)


def model_by_loops(X, identity, shrinkage):
    """Mean, and covariances between and within people."""
    within = covariance_by_loops(X, identity)
    people = sorted(set(identity.tolist()))
    means = [unit(X)[identity == who].mean(axis=0) for who in people]
    mean = sum(means) / len(people)
    between = sum(np.outer(m - mean, m - mean) for m in means) / (len(people) - 1)
    between -= within * np.mean([1 / (identity == who).sum() for who in people])
    covariances = []
    for covariance in (between, within):
        even = np.trace(covariance) / len(covariance) * np.eye(len(covariance))
        covariances.append((1 - shrinkage) * covariance + shrinkage * even)
    return mean, *covariances


def ratio_by_densities(first, second, mean, between, within):
    """Logarithm of p(both of one person) over p(first) p(second)."""
    whole = between + within
    together = np.block([[whole, between], [between, whole]])
    joint = multivariate_normal(np.tile(mean, 2), together)
    alone = multivariate_normal(mean, whole)
    pair = np.concatenate([first, second])
    return joint.logpdf(pair) - alone.logpdf(first) - alone.logpdf(second)


@pytest.mark.parametrize("shrinkage", [0.0, 0.4, 1.0])
def test_scores_are_ratios_of_densities(shrinkage):
    plda = PLDAComparator(shrinkage).fit(X, Y)
    model = model_by_loops(X, IDENTITY, shrinkage)
    assert plda.n_without_variance_ == 0
    assert plda.n_identities_ == len(set(IDENTITY.tolist()))
    rows = unit(OTHERS)
    expected = [[ratio_by_densities(x, z, *model) for z in rows] for x in rows]
    assert_allclose(plda.score_matrix(OTHERS, OTHERS), expected, atol=2e-5)


def test_a_dimension_in_which_people_do_not_differ_says_nothing():
    # Few people whose images differ more than they: B has negative variances.
    rng = np.random.default_rng(4)
    identity = np.repeat(np.arange(20), 3)
    rows = rng.standard_normal((60, 5)) + np.array([9.0, 0, 0, 0, 0])
    rows[:, 1:3] += 2 * rng.standard_normal((20, 2))[identity]
    plda = PLDAComparator(0.0).fit(rows, identity)
    mean, between, within = model_by_loops(rows, identity, 0.0)
    found = np.linalg.eigvals(np.linalg.solve(within, between)).real
    assert plda.n_without_variance_ == (found <= 0).sum() > 0
    assert_allclose(plda.variances_, sorted(found[found > 0])[::-1], rtol=1e-4)
    # The densities of what is left, whose B has zeros there.
    back = np.linalg.solve(within, np.eye(5))
    span = within @ plda.components_.T
    flat = span @ np.diag(plda.variances_) @ span.T
    assert_allclose(
        plda.components_ @ back @ span, plda.components_ @ plda.components_.T
    )
    queries = rows[::9]
    expected = [
        [ratio_by_densities(x, z, mean, flat, within) for z in unit(queries)]
        for x in unit(queries)
    ]
    assert_allclose(plda.score_matrix(queries, queries), expected, atol=2e-4)


def test_people_of_one_image_alone_are_an_error():
    with pytest.raises(ValueError, match=r"has 1 sample.*Pass more images"):
        PLDAComparator().fit(X, np.arange(len(X)))


def test_people_who_do_not_differ_are_an_error():
    # The two images of each person are opposite: their means are all the same.
    rows = np.vstack([X[:6], -X[:6]])
    with pytest.raises(ValueError, match="differ no more than the images of one"):
        PLDAComparator().fit(rows, np.tile(np.arange(6), 2))


def test_a_singular_covariance_asks_for_shrinkage():
    few = draw_people(n_people=4, images=(2, 2))
    with pytest.raises(ValueError, match=r"shrinkage=0.0 leaves.*Raise shrinkage"):
        PLDAComparator(0.0).fit(*few)
    assert np.isfinite(PLDAComparator(0.5).fit(*few).score_matrix(X, X)).all()
