"""What every comparator keeps to: one score of a pair, whoever asks for it."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from skfairfr import SimilarityROC
from skfairfr.metrics import threshold_at_far
from tests.comparators.people import (
    FAR,
    GROUP,
    NEW,
    NEW_GROUP,
    NEW_Y,
    ONE_SIDED,
    SYMMETRIC,
    X,
    Y,
    fit,
    of_groups,
)

ALL = SYMMETRIC + ONE_SIDED
PAIRS = np.array(list(combinations(range(len(NEW)), 2))).T


def listed(comparator, left, right):
    """Scores of listed pairs of new images."""
    groups = of_groups(comparator, NEW_GROUP[left], NEW_GROUP[right])
    return comparator.score_pairs(NEW[left], NEW[right], **groups)


def matrix(comparator):
    """Scores of all pairs of new images."""
    groups = of_groups(comparator, NEW_GROUP, NEW_GROUP)
    return comparator.score_matrix(NEW, NEW, **groups)


@pytest.mark.parametrize("comparator", ALL, ids=str)
def test_pairs_have_the_scores_of_the_matrix(comparator):
    comparator = fit(comparator)
    scores = matrix(comparator)
    assert scores.dtype == np.float32 and scores.shape == (len(NEW), len(NEW))
    left, right = PAIRS[:, ::7]
    assert_array_equal(listed(comparator, left, right), scores[left, right])


@pytest.mark.parametrize("comparator", SYMMETRIC, ids=str)
def test_the_engine_has_the_scores_of_the_matrix(comparator):
    comparator = fit(comparator)
    roc = SimilarityROC(similarity=comparator, n_resamples=5, resample="identities")
    roc.fit(NEW, NEW_Y, NEW_GROUP)
    scores = matrix(comparator)
    tail = roc._engine.pairs.impostors(None)
    assert tail.scores.size == (NEW_Y[PAIRS[0]] != NEW_Y[PAIRS[1]]).sum()
    assert_array_equal(tail.scores, scores[tail.left, tail.right])
    genuine = roc._engine.pairs.genuine.ascending(None)
    assert_array_equal(genuine.scores, scores[genuine.left, genuine.right])


@pytest.mark.parametrize("comparator", ALL, ids=str)
def test_the_engine_has_the_scores_of_two_sides(comparator):
    comparator = fit(comparator)
    probe = np.arange(len(NEW)) % 2 == 0
    roc = SimilarityROC(similarity=comparator, n_resamples=5, resample="identities")
    roc.fit(
        *(NEW[probe], NEW_Y[probe], NEW_GROUP[probe]),
        X_reference=NEW[~probe],
        y_reference=NEW_Y[~probe],
        sensitive_features_reference=NEW_GROUP[~probe],
    )
    by_domain = clone(roc).set_params(similarity=comparator)
    by_domain.fit(NEW, NEW_Y, NEW_GROUP, domain=np.where(probe, "camera", "document"))
    groups = of_groups(comparator, NEW_GROUP[probe], NEW_GROUP[~probe])
    scores = comparator.score_matrix(NEW[probe], NEW[~probe], **groups)
    apart = NEW_Y[probe][:, None] != NEW_Y[~probe]
    expected = threshold_at_far(~apart.ravel(), scores.ravel(), far=FAR)
    assert roc.threshold_at(FAR) == by_domain.threshold_at(FAR) == expected
    tail = roc._engine.pairs.impostors(None)
    assert_array_equal(tail.scores, np.sort(scores[apart])[::-1])


@pytest.mark.parametrize("comparator", ALL, ids=str)
def test_a_second_fit_leaves_nothing_of_the_first(comparator):
    groups = np.where(NEW_Y % 3 == 0, "other", NEW_GROUP)
    twice = clone(comparator).fit(NEW[:, :20], NEW_Y, groups).fit(X, Y, GROUP)
    assert set(vars(twice)) == set(vars(fit(comparator)))
    assert_array_equal(matrix(twice), matrix(fit(comparator)))


@pytest.mark.parametrize("comparator", ALL, ids=str)
def test_a_zero_row_is_an_error(comparator):
    comparator = fit(comparator)
    zero = NEW * (np.arange(len(NEW)) != 3)[:, None]
    groups = of_groups(comparator, NEW_GROUP, NEW_GROUP)
    with pytest.raises(
        ValueError, match=r"zero row \(3, 1 in all\).*leave those rows out"
    ):
        comparator.score_matrix(zero, zero, **groups)
    with pytest.raises(ValueError, match=r"zero row \(3, 1 in all\)"):
        clone(comparator).fit(zero, NEW_Y, NEW_GROUP)
