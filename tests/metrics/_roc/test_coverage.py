"""How often intervals hold the truth: the population's FRR at FAR 1e-2.

The study, with ``-m slow``, prints its table.
"""

import numpy as np
import pytest

from skfairfr import SimilarityROC, make_face_embeddings

LEVEL = 1e-2
INTERVALS = {
    "images, naive": {"resample": "images", "method": "naive"},
    "images, recentered": {"resample": "images", "method": "recentered"},
    "images, multiplicative": {"resample": "images", "method": "multiplicative"},
    "identities": {"resample": "identities"},
}

pytestmark = pytest.mark.filterwarnings("ignore::skfairfr.metrics.EstimandWarning")


def population(n_identities, images, seed):
    """People of two groups who differ in how much their images vary."""
    return make_face_embeddings(
        n_identities,
        images,
        n_features=16,
        groups={"a": 0.5, "b": 0.5},
        kappa={"a": 60.0, "b": 48.0},
        crowding=0.0,
        heterogeneity=0.6,
        random_state=seed,
    )


def roc_of(data, **options):
    options = {"average": "identity", "n_resamples": 200, "far_max": LEVEL} | options
    roc = SimilarityROC(random_state=0, **options)
    return roc.fit(data.X, data.y, data.sensitive_features)


def truth(n_identities):
    """The rate in a sample so large that its own error does not matter."""
    data = population(n_identities, 6, seed=10_000)
    roc = roc_of(data, n_resamples=2)  # of which nothing is asked
    threshold = roc.threshold_at(LEVEL)
    return roc.estimate(threshold=threshold).value


def coverage(n_identities, n_sets, expected, names=tuple(INTERVALS)):
    """Share of data sets whose interval holds the expected rate, by kind of interval."""
    held = dict.fromkeys(names, 0)
    for seed in range(n_sets):
        data = population(n_identities, (3, 6), seed)
        for name in names:
            found = roc_of(data, **INTERVALS[name]).estimate(LEVEL)
            held[name] += found.low <= expected <= found.high
    return {name: count / n_sets for name, count in held.items()}


@pytest.mark.slow
@pytest.mark.parametrize("n_identities", [60, 150])
def test_only_identities_cover_the_population(n_identities, capsys):
    n_sets = 200
    found = coverage(n_identities, n_sets, truth(4000))
    with capsys.disabled():
        print(f"\n{n_identities} identities, {n_sets} data sets: {found}")
    error = 3 * np.sqrt(0.95 * 0.05 / n_sets)
    assert abs(found["identities"] - 0.95) < error + 0.02
    assert found["images, naive"] < 0.6
    assert found["images, recentered"] < 0.9
