"""Facts of beta calibration: it is the best curve with slopes that are not negative."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from skfairfr._core._adjustments import EDGE, fit_beta


def draw(kind, seed=0):
    rng = np.random.default_rng(seed)
    genuine = {
        "overlapping": rng.normal(0.35, 0.15, 80),
        "separated": rng.uniform(0.6, 0.9, 80),
        "reversed": rng.normal(-0.3, 0.1, 80),
        "ends": np.append(rng.normal(0.4, 0.1, 79), 1.0),
        "equal": np.full(80, 0.25),
        "one": np.array([0.5]),
    }[kind]
    impostor = np.full(300, 0.25) if kind == "equal" else rng.normal(0, 0.1, 300)
    return np.clip(genuine, -1, 1), np.clip(impostor, -1, 1)


def columns_of(scores):
    q = np.clip((1 + scores) / 2, EDGE, 1 - EDGE)
    return np.stack([np.log(q), -np.log1p(-q), np.ones(q.size)])


def loss(coefficients, genuine, impostor):
    """Mean of both classes' cross-entropies with the smoothed targets, by a loop."""
    total = 0.0
    n, m = len(genuine), len(impostor)
    for scores, target in ((genuine, (n + 1) / (n + 2)), (impostor, 1 / (m + 2))):
        z = coefficients @ columns_of(scores)
        total += np.mean(np.logaddexp(0, z) - target * z) / 2
    return total


@pytest.mark.parametrize(
    "kind", ["overlapping", "separated", "reversed", "ends", "equal", "one"]
)
def test_no_other_slopes_are_better(kind):
    scores = draw(kind)
    found = fit_beta(*scores)
    assert np.isfinite(found).all() and (found[:2] >= 0).all()
    bounds = [(0, None), (0, None), (None, None)]
    best = loss(found, *scores)
    rng = np.random.default_rng(1)
    for start in [found, np.zeros(3), *rng.uniform(0, 20, (5, 3))]:
        other = minimize(loss, start, args=scores, bounds=bounds, method="L-BFGS-B")
        assert best <= other.fun + 1e-7


def test_reversed_scores_have_no_slope():
    assert_allclose(fit_beta(*draw("reversed"))[:2], 0, atol=1e-12)


def test_a_stated_curve_is_found():
    rng = np.random.default_rng(0)
    scores = rng.uniform(-0.9, 0.9, 200_000)
    z = np.array([3.0, 2.0, 0.7]) @ columns_of(scores)
    genuine = rng.random(scores.size) < 1 / (1 + np.exp(-z))
    found = fit_beta(scores[genuine], scores[~genuine])
    # Both classes weigh the same, which moves c by the odds of the draw.
    odds = np.log(genuine.sum() / (~genuine).sum())
    columns = columns_of(np.linspace(-0.9, 0.9, 19))
    assert_allclose(found @ columns, [3, 2, 0.7 - odds] @ columns, rtol=0.03, atol=0.02)


def test_more_pairs_of_one_kind_change_nothing():
    genuine, impostor = draw("overlapping")
    once = fit_beta(genuine, np.tile(impostor, 50))
    twice = fit_beta(genuine, np.tile(impostor, 500))
    assert_allclose(once, twice, rtol=1e-2)


@pytest.mark.parametrize(("n_genuine", "n_impostor"), [(1, 3), (4, 1), (20, 20)])
def test_of_equal_scores_the_mean_target_is_left(n_genuine, n_impostor):
    """Targets of Platt (2000), where each kind weighs half."""
    calibration = fit_beta(np.full(n_genuine, 0.4), np.full(n_impostor, 0.4))
    mean = ((n_genuine + 1) / (n_genuine + 2) + 1 / (n_impostor + 2)) / 2
    log_odds = calibration @ [np.log(0.7), -np.log(0.3), 1.0]
    assert_allclose(log_odds, np.log(mean / (1 - mean)), atol=1e-8)


@pytest.mark.parametrize(("n_genuine", "n_impostor"), [(1, 3), (2, 2), (4, 1), (5, 7)])
def test_equal_scores_have_no_slope(n_genuine, n_impostor):
    found = fit_beta(np.full(n_genuine, 0.4), np.full(n_impostor, 0.4))
    assert_allclose(found[:2], 0, atol=1e-8)
