"""Facts of the base: what a comparator of one's own needs, and frames."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skfairfr import SimilarityROC
from skfairfr.comparators import Adjustment, Comparator, PreparedImages
from skfairfr.comparators._base import find_clusters
from tests.comparators.people import NEW, NEW_Y


class Measured(Comparator):
    """Inner products, with numbers of images that a test gives."""

    def __init__(self, make=None):
        self.make = make

    def fit(self, X, y=None, sensitive_features=None):
        self.n_features_in_ = X.shape[1]
        return self

    def _prepare(self, X, sensitive_features):
        rows = X.astype(np.float32)
        return PreparedImages(rows, None if self.make is None else self.make(len(X)))


def roc_of(comparator):
    return SimilarityROC(
        similarity=comparator.fit(NEW), resample="identities", n_resamples=5
    )


def test_without_an_adjustment_the_products_are_the_scores():
    comparator = Measured().fit(NEW)
    dot = SimilarityROC(similarity="dot", resample="identities", n_resamples=5)
    dot.fit(NEW, NEW_Y)
    assert roc_of(comparator).fit(NEW, NEW_Y).threshold_at(0.1) == dot.threshold_at(0.1)
    expected = NEW[:5] @ NEW[5:10].T
    np.testing.assert_allclose(
        comparator.score_matrix(NEW[:5], NEW[5:10]), expected, rtol=1e-5
    )


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (
            lambda n: Adjustment.affine(np.zeros(n), np.zeros(n)),
            "a gain of 0.*above zero",
        ),
        (lambda n: Adjustment.affine(np.ones(n), np.full(n, np.nan)), "not finite"),
    ],
)
def test_numbers_that_give_no_scores_are_an_error(make, match):
    with pytest.raises(ValueError, match=rf"Measured.prepare\(X\) returned .*{match}"):
        roc_of(Measured(make)).fit(NEW, NEW_Y)


@pytest.mark.parametrize(
    ("rows", "match"),
    [
        (lambda X: X.astype(np.float64), "float64 of shape"),
        (lambda X: X[1:].astype(np.float32), "one row of float32 for each"),
        (lambda X: np.full(X.shape, 1e20, dtype=np.float32), "not finite in float32"),
    ],
)
def test_rows_that_give_no_scores_are_an_error(rows, match):
    class Other(Measured):
        def _prepare(self, X, sensitive_features):
            return PreparedImages(rows(X), None)

    with pytest.raises(ValueError, match=match):
        roc_of(Other()).fit(NEW, NEW_Y)


def test_a_one_sided_comparator_is_told_the_sides():
    class Sided(Measured):
        takes_side = True

        def prepare(self, X, sensitive_features=None, *, side=None):
            rows = (X * np.where(np.asarray(side) == 1, 2, 1)[:, None]).astype(
                np.float32
            )
            return PreparedImages(rows, None)

    comparator = Sided().fit(NEW)
    expected = Measured().fit(NEW).score_matrix(NEW[:4], NEW[4:8])
    assert_array_equal(comparator.score_matrix(NEW[:4], NEW[4:8]), 2 * expected)
    assert_array_equal(comparator.score_pairs(NEW[:4], NEW[4:8]), 2 * np.diag(expected))


def test_rows_may_be_clusters_of_their_own():
    rows = np.eye(4, dtype=np.float32)
    centers, clusters = find_clusters(rows, 4, 0)
    assert_array_equal(centers[clusters], rows)
    with pytest.raises(ValueError, match="n_clusters=5 is more than the 4 rows"):
        find_clusters(rows, 5, 0)
