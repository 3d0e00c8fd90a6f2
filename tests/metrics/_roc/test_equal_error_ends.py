"""Intervals of equal error rates without resamples, against closed forms and simulation."""

import numpy as np
import pytest
from scipy.stats import norm

from skfairfr import SimilarityROC, make_face_embeddings

# FAR(t) = FRR(t) = P(Z > 1) where genuine scores stand two deviations above impostor ones.
TRUTH = norm.sf(1)


def drawn(seed, n_pairs):
    """Equal error rate of as many genuine as impostor pairs, each of people of its own."""
    rng = np.random.default_rng(seed)
    y_true = np.arange(n_pairs) % 2
    scores = rng.normal(size=n_pairs) + 2 * y_true
    roc = SimilarityROC(method="jackknife", n_resamples=1)
    return roc.fit_pairs(scores, y_true=y_true).equal_error_rate()


def test_of_normal_scores_its_width_is_that_of_the_delta_method():
    """At the threshold 1, sd of FAR and FRR is sqrt(p q / n), and their slopes are equal."""
    n_pairs = 20_000
    found = drawn(0, n_pairs)
    error = np.sqrt(2 * TRUTH * (1 - TRUTH) / (n_pairs / 2)) / 2
    assert found.high - found.low == pytest.approx(2 * 1.96 * error, rel=0.15)


def test_no_resample_changes_it():
    data = make_face_embeddings(40, random_state=0)
    ends = []
    for n_resamples in (1, 50):
        roc = SimilarityROC(method="jackknife", n_resamples=n_resamples, random_state=0)
        found = roc.fit(data.X, data.y).equal_error_rate()
        ends.append((found.value, found.low, found.high))
    assert ends[0] == ends[1]
