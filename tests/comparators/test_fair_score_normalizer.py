"""Facts of fair score normalisation."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import UndefinedMetricWarning

from skfairfr.comparators import FairScoreNormalizer
from tests.comparators.people import (
    FAR,
    NEW,
    X,
    Y,
    approx,
    impostor_pairs,
    threshold_by_loop,
)
from tests.oracles.pairs import unit

PAIRS = impostor_pairs(X, Y)


def fit(n_clusters=3, **parameters):
    parameters = {"far": FAR, "random_state": 0, **parameters}
    return FairScoreNormalizer(n_clusters, **parameters).fit(X, Y)


def nearest_by_loop(rows, centers):
    """Nearest center of each unit row by its distance."""
    return [
        int(np.argmin([np.sum(c**2) - 2 * row @ c for c in centers.astype(float)]))
        for row in rows
    ]


@pytest.mark.parametrize("pairs", ["inside", "either"])
@pytest.mark.parametrize("n_clusters", [2, 3, 5])
def test_thresholds_are_those_of_a_double_loop(pairs, n_clusters):
    found = fit(n_clusters, pairs=pairs)
    cluster = nearest_by_loop(unit(X), found.cluster_centers_)
    assert found.threshold_ == approx(threshold_by_loop([s for s, *_ in PAIRS], FAR))
    for c in range(n_clusters):
        counts = {"inside": 2, "either": 1}[pairs]
        scores = [
            s for s, *ends in PAIRS if [cluster[i] for i in ends].count(c) >= counts
        ]
        assert found.n_impostor_[c] == len(scores)
        assert found.thresholds_[c] == approx(threshold_by_loop(scores, FAR))


def test_scores_are_those_of_the_formula():
    found = fit()
    rows = unit(NEW)
    above = found.thresholds_[nearest_by_loop(rows, found.cluster_centers_)]
    above = above - found.threshold_
    expected = [
        [rows[i] @ rows[j] - (above[i] + above[j]) / 2 for j in range(len(NEW))]
        for i in range(len(NEW))
    ]
    assert_allclose(found.score_matrix(NEW, NEW), expected, atol=2e-7)


def two_heaps():
    """One person alone, far from thirty others."""
    rng = np.random.default_rng(0)
    heap = rng.standard_normal((60, 6)) + np.eye(6)[0] * 6
    alone = rng.standard_normal((5, 6)) * 0.1 - np.eye(6)[0] * 6
    return np.vstack([heap, alone]), np.append(np.arange(60) // 2, np.full(5, 99))


@pytest.mark.parametrize("pairs", ["inside", "either"])
def test_a_cluster_without_impostor_pairs_takes_the_overall_threshold(pairs):
    rows, people = two_heaps()
    normalizer = FairScoreNormalizer(2, far=0.1, pairs=pairs, random_state=0)
    if pairs == "either":
        assert normalizer.fit(rows, people).n_without_pairs_ == 0
        return
    with pytest.warns(UndefinedMetricWarning, match="1 have no impostor pair"):
        found = normalizer.fit(rows, people)
    assert found.n_without_pairs_ == 1
    alone = found.prepare(rows[-5:]).adjustment.numbers[1]
    assert_array_equal(alone, 0)


def test_one_cluster_keeps_the_order_of_cosines():
    with pytest.warns(UserWarning, match=r"n_clusters=1 .*2 at least"):
        found = fit(1)
    rows = unit(NEW)
    order = np.argsort((rows @ rows.T).ravel())
    scores = found.score_matrix(NEW, NEW).ravel()[order]
    assert (np.diff(scores) >= -1e-5).all()
