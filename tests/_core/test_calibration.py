"""Facts of calibration: the best curve with slopes that are not negative; no prior in it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import logit
from sklearn.linear_model import LogisticRegression

from skfairfr._core._calibration import EDGE, evaluate, fit_curve


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
    found = fit_curve("beta", *scores)
    assert np.isfinite(found).all() and (found[:2] >= 0).all()
    bounds = [(0, None), (0, None), (None, None)]
    best = loss(found, *scores)
    rng = np.random.default_rng(1)
    for start in [found, np.zeros(3), *rng.uniform(0, 20, (2, 3))]:
        other = minimize(loss, start, args=scores, bounds=bounds, method="L-BFGS-B")
        assert best <= other.fun + 1e-7


@pytest.mark.parametrize("p_target", [0.5, 0.01, 0.9])
@pytest.mark.parametrize("kind", ["logistic", "beta"])
def test_curves_are_those_of_scikit_learn(kind, p_target):
    """Pairs that count in part for either class, with the weights of the prior."""
    rng = np.random.default_rng(2)
    scores = rng.uniform(-0.9, 0.9, 3000)
    odds = np.array([3.0, 2.0, -1.0]) @ columns_of(scores)
    is_genuine = rng.random(scores.size) < 1 / (1 + np.exp(-odds))
    scores = genuine, impostor = scores[is_genuine], scores[~is_genuine]
    n, m = genuine.size, impostor.size
    columns = columns_of(np.concatenate(scores))[:-1].T
    if kind == "logistic":
        columns = np.concatenate(scores)[:, None]
    target = np.repeat([(n + 1) / (n + 2), 1 / (m + 2)], [n, m])
    weight = np.repeat([p_target / n, (1 - p_target) / m], [n, m])
    fitted = LogisticRegression(C=np.inf, tol=1e-12, solver="newton-cholesky")
    fitted.fit(
        np.vstack([columns, columns]),
        np.repeat([1, 0], n + m),
        np.concatenate([weight * target, weight * (1 - target)]) * (n + m),
    )
    assert (fitted.coef_ >= 0).all()
    found = fit_curve(kind, *scores, p_target)
    grid = np.linspace(-0.4, 0.7, 9)
    values = fitted.decision_function(
        grid[:, None] if kind == "logistic" else columns_of(grid)[:-1].T
    )
    assert_allclose(evaluate(kind, found, grid), values - logit(p_target), atol=1e-3)


def pooled_by_loop(scores, is_genuine, weight):
    """The increasing least squares fit: the largest of the smallest means of stretches."""
    distinct = np.unique(scores)
    found = []
    for k, _ in enumerate(distinct):
        largest = -np.inf
        for low in range(k + 1):
            smallest = np.inf
            for high in range(k, distinct.size):
                inside = (scores >= distinct[low]) & (scores <= distinct[high])
                mean = np.average(is_genuine[inside], weights=weight[inside])
                smallest = min(smallest, mean)
            largest = max(largest, smallest)
        found.append(largest)
    return distinct, np.array(found)


@pytest.mark.parametrize("kind", ["overlapping", "separated", "equal", "one"])
def test_isotonic_curves_pool_adjacent_violators(kind):
    genuine, impostor = (np.round(s[:30], 2) for s in draw(kind))
    scores = np.concatenate([genuine, impostor])
    ends = [scores.min(), scores.max()] * 2
    is_genuine = np.repeat([1.0, 0.0, 1.0, 0.0], [genuine.size, impostor.size, 2, 2])
    weight = np.where(is_genuine == 1, 1 / genuine.size, 1 / impostor.size)
    distinct, mean = pooled_by_loop(np.append(scores, ends), is_genuine, weight)
    curve = fit_curve("isotonic", genuine, impostor)
    assert np.isfinite(curve).all()
    assert_allclose(evaluate("isotonic", curve, distinct), logit(mean), atol=1e-9)
    assert_allclose(
        evaluate("isotonic", curve, np.array([-1.0, 1.0])), curve[1, [0, -1]]
    )
