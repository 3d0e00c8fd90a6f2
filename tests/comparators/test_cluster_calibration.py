"""Facts of calibration in clusters."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression

from skfairfr.comparators import ClusterCalibration, PreparedImages
from skfairfr.comparators._base import TrainingPairs
from tests.comparators.people import NEW, X, Y
from tests.comparators.test_fair_score_normalizer import nearest_by_loop
from tests.oracles.pairs import unit


def fit(n_clusters=3, **parameters):
    return ClusterCalibration(n_clusters, random_state=0, **parameters).fit(X, Y)


def pairs_by_loop(cluster, c):
    """Genuine and impostor scores with either image in a cluster; all of them for None."""
    rows = unit(X)
    found = [], []
    for i in range(len(X)):
        for j in range(i):
            if c is None or c in (cluster[i], cluster[j]):
                found[int(Y[i] != Y[j])].append(rows[i] @ rows[j])
    return found


def calibration_by_scikit_learn(genuine, impostor):
    """Log odds by logistic regression on pairs that count in part for either class."""
    n, m = len(genuine), len(impostor)
    q = (1 + np.array(genuine + impostor)) / 2
    columns = np.stack([np.log(q), -np.log(1 - q)], axis=1)
    target = np.repeat([(n + 1) / (n + 2), 1 / (m + 2)], [n, m])
    weight = np.repeat([0.5 / n, 0.5 / m], [n, m])
    fitted = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000)
    fitted.fit(
        np.vstack([columns, columns]),
        np.repeat([1, 0], n + m),
        np.concatenate([weight * target, weight * (1 - target)]) * (n + m),
    )
    return fitted


@pytest.mark.parametrize("n_clusters", [2, 4])
def test_calibrations_are_those_of_scikit_learn(n_clusters):
    found = fit(n_clusters)
    cluster = nearest_by_loop(unit(X), found.cluster_centers_)
    kept = np.vstack([found.calibrations_, found.calibration_])
    for c, (a, b, intercept) in zip([*range(n_clusters), None], kept, strict=True):
        genuine, impostor = pairs_by_loop(cluster, c)
        if c is not None:
            assert found.n_pairs_[c] == len(genuine) + len(impostor)
            counts = found.n_genuine_[c], found.n_impostor_[c]
            assert counts == (len(genuine), len(impostor))
        q = (1 + np.quantile(genuine + impostor, np.linspace(0, 1, 20))) / 2
        columns = np.stack([np.log(q), -np.log(1 - q)], axis=1)
        fitted = calibration_by_scikit_learn(genuine, impostor)
        if (fitted.coef_ >= 0).all():
            expected = fitted.decision_function(columns)
            assert_allclose(columns @ [a, b] + intercept, expected, atol=5e-3)
        else:
            assert min(a, b) == 0


def log_odds_by_loop(found, first, second):
    """The score of a pair of unit rows, from the probabilities of both clusters."""
    clusters = nearest_by_loop(np.stack([first, second]), found.cluster_centers_)
    q = (1 + first @ second) / 2
    total = accept = 0.0
    for c in clusters:
        a, b, intercept = found.calibrations_[c]
        z = a * math.log(q) - b * math.log(1 - q) + intercept
        accept += found.n_pairs_[c] / (1 + math.exp(-z))
        total += found.n_pairs_[c]
    return math.log(accept / total) - math.log(1 - accept / total)


def test_scores_are_those_of_the_formula():
    found, rows = fit(), unit(NEW)
    expected = [
        [log_odds_by_loop(found, rows[i], rows[j]) for j in range(0, len(NEW), 3)]
        for i in range(1, len(NEW), 3)
    ]
    assert_allclose(
        found.score_matrix(NEW[1::3], NEW[::3]), expected, rtol=0, atol=2e-5
    )


def test_a_cluster_with_few_pairs_takes_the_calibration_of_all():
    with pytest.warns(UndefinedMetricWarning, match="of 40 clusters have fewer than"):
        found = fit(40)
    few = np.minimum(found.n_genuine_, found.n_impostor_) < 20
    assert found.n_overall_ == few.sum() > 0
    assert_array_equal(
        found.calibrations_[few], np.tile(found.calibration_, (few.sum(), 1))
    )
    assert (found.calibrations_[~few] != found.calibration_).any(axis=1).all()


def test_a_cluster_of_one_pair_of_each_kind_can_be_asked_for():
    assert fit(3, min_pairs=1).n_overall_ == 0


@pytest.mark.parametrize(
    ("people", "what"), [(np.arange(len(X)), "genuine"), (np.zeros(len(X)), "impostor")]
)
def test_one_kind_of_pairs_alone_is_an_error(people, what):
    with pytest.raises(ValueError, match=f"has no {what} pair"):
        ClusterCalibration(2).fit(X, people)


def test_one_cluster_keeps_the_order_of_cosines():
    with pytest.warns(UserWarning, match=r"n_clusters=1 .*2 at least"):
        found = fit(1)
    rows = unit(NEW)
    order = np.argsort((rows @ rows.T).ravel())
    scores = found.score_matrix(NEW, NEW).ravel()[order]
    assert (np.diff(scores) >= -1e-5).all()


@pytest.mark.parametrize(("size", "n_found"), [(5, 5), (1000, 3 * 10)])
def test_genuine_pairs_are_drawn_once_each_where_there_are_more(size, n_found):
    """Three pairs of each of ten people."""
    rng = np.random.default_rng(0)
    identity = np.repeat(np.arange(10), 3)
    rows = rng.normal(size=(30, 4)).astype(np.float32)
    images = PreparedImages(rows, None)
    genuine, _ = TrainingPairs(images, images, identity, size, rng).of_all()
    assert genuine.size == n_found == np.unique(genuine).size
    left, right = np.triu_indices(30, 1)
    same = identity[left] == identity[right]
    every = np.einsum("ij,ij->i", rows[left[same]], rows[right[same]])
    assert all(np.isclose(score, every).sum() == 1 for score in genuine)
