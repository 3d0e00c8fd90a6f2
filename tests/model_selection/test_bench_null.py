"""If two systems are alike the bench says so, about as often as it promises.

People are spread evenly over the sphere, so that two random projections of their embeddings
are alike in every rate. ``docs/studies/bench_mitigations.py`` has larger counts.
"""

import numpy as np
import pytest
from scipy.stats import binom

from skfairfr import IdentityKFold, face_labels
from skfairfr.metrics._folds import cells_of, compare, count_errors, pool
from skfairfr.model_selection._bench_fits import METRICS, rows_of
from tests.model_selection.toy_methods import crowd

N_DRAWS, N_PEOPLE, N_FEATURES = 25, 100, 16
GROUPS = {"sex": ["female", "male"]}
LEVEL = 0.8


def pooled_systems(seed):
    """Two systems that are alike, on people of a seed."""
    X, y, group = crowd(N_PEOPLE, seed, n_features=N_FEATURES, crowding=0.0)
    draw = np.random.default_rng(seed).standard_normal
    folds = IdentityKFold(2, shuffle=True, random_state=seed)
    rows = [test for _, test in folds.split(X, face_labels(y, group))]
    found = []
    for _ in range(2):
        kept = np.linalg.qr(draw((N_FEATURES, N_FEATURES)))[0][:, :-3]
        counted = [
            count_errors(
                X[test] @ kept,
                y[test],
                {"sex": group[test]},
                GROUPS,
                far=0.03,
            )
            for test in rows
        ]
        found.append(pool(counted))
    return found


@pytest.fixture(scope="module")
def pairs():
    return [pooled_systems(seed) for seed in range(N_DRAWS)]


def rows_about(metric):
    return rows_of(cells_of(GROUPS), "sex", metric)


@pytest.fixture(scope="module")
def draws(pairs):
    return {
        metric: [compare(*pair, rows_about(metric), asked.how, LEVEL) for pair in pairs]
        for metric, asked in METRICS.items()
    }


def signed_changes(metric, pairs):
    """Logarithms of a rate, or of a ratio of two groups in their order, after minus before.

    Of the larger over the smaller rate they would vary less than the difference that the
    interval is about.
    """
    rates = np.log([[s.sums.rate[rows_about(metric)] for s in pair] for pair in pairs])
    how = METRICS[metric].how
    value = rates[..., 0] if how is None else rates[..., 0] - rates[..., 1]
    if how == "max_geomean":
        value = value / 2
    return value[:, 1] - value[:, 0]


@pytest.mark.slow
@pytest.mark.parametrize("metric", METRICS)
def test_alike_systems_are_seldom_told_apart(draws, metric):
    rejected = sum(found.p_value < 1 - LEVEL for found in draws[metric])
    assert rejected <= binom.ppf(0.999, N_DRAWS, 1 - LEVEL)


@pytest.mark.slow
@pytest.mark.parametrize("metric", METRICS)
def test_the_error_is_about_the_spread(draws, pairs, metric):
    error = np.median([found.log_error for found in draws[metric]])
    assert 0.7 < error / np.std(signed_changes(metric, pairs)) < 2
