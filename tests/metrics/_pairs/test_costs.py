"""Facts of detection costs, calibration and accuracy over folds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import expit
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import log_loss

from skfairfr.metrics import (
    calibration_loss,
    cllr,
    detection_cost,
    expected_performance_curve,
    frr_at_far,
    half_total_error_rate,
    min_cllr,
    pair_accuracy,
    tar_at_far,
)
from tests.metrics.pairs import scored_pairs
from tests.oracles.pairs import loop_rates

priors = st.sampled_from([0.001, 0.01, 0.05, 0.5, 0.9])
costs = st.sampled_from([0.1, 1.0, 10.0])


def loop_cost(y_true, y_score, threshold, p_target, c_miss, c_fa):
    """The normalised cost at a threshold, rates counted pair by pair."""
    far, frr = loop_rates(y_true, y_score, threshold)
    cost = c_miss * p_target * frr + c_fa * (1 - p_target) * far
    return cost / min(c_miss * p_target, c_fa * (1 - p_target))


@given(scored_pairs(), priors, costs, costs)
def test_the_minimal_cost_is_the_least_over_all_thresholds(pairs, p_target, miss, fa):
    y_true, y_score, _ = pairs
    each = [
        loop_cost(y_true, y_score, t, p_target, miss, fa) for t in (*y_score, np.inf)
    ]
    options = {"p_target": p_target, "c_miss": miss, "c_fa": fa}
    found = detection_cost(y_true, y_score, **options)
    assert_allclose(found, min(each), rtol=1e-12)
    assert found <= 1 + 1e-12


@given(scored_pairs(), priors, costs, costs)
def test_the_actual_cost_is_that_at_the_threshold_of_bayes(pairs, p_target, miss, fa):
    y_true, y_score, _ = pairs
    options = {"p_target": p_target, "c_miss": miss, "c_fa": fa}
    at = np.log(fa * (1 - p_target) / (miss * p_target))
    asked = (y_true, y_score)
    actual = detection_cost(*asked, threshold="bayes", **options)
    assert_allclose(actual, loop_cost(*asked, at, p_target, miss, fa), rtol=1e-12)
    assert_allclose(actual, detection_cost(*asked, threshold=at, **options), rtol=1e-12)
    assert detection_cost(*asked, **options) <= actual + 1e-12


@given(scored_pairs())
def test_the_cost_of_several_points_is_their_mean(pairs):
    y_true, y_score, _ = pairs
    points = [0.01, 0.005]
    for threshold in (None, "bayes", 0.25):
        each = [
            detection_cost(y_true, y_score, p_target=p, threshold=threshold)
            for p in points
        ]
        both = detection_cost(y_true, y_score, p_target=points, threshold=threshold)
        assert_allclose(both, np.mean(each), rtol=1e-12)


@given(scored_pairs())
def test_half_total_error_is_the_mean_of_both_rates(pairs):
    y_true, y_score, _ = pairs
    t = float(np.median(y_score))
    found = half_total_error_rate(y_true, y_score, threshold=t)
    assert_allclose(found, np.mean(loop_rates(y_true, y_score, t)), atol=1e-15)


def test_true_acceptances_are_what_is_not_rejected():
    y_true, y_score = np.repeat([0, 1], [20, 10]), np.r_[np.arange(20.0), 11:21]
    kept = tar_at_far(y_true, y_score, far=0.1)
    assert kept == 1 - frr_at_far(y_true, y_score, far=0.1)
    assert_allclose(
        kept, 0.3
    )  # 18 and 19 may pass, and with them genuine 18, 19 and 20


@given(scored_pairs())
def test_cllr_is_a_log_loss_in_which_both_kinds_weigh_the_same(pairs):
    y_true, y_score, _ = pairs
    ratios = np.clip(y_score, -20, 20)
    weights = np.where(y_true == 1, 1 / y_true.sum(), 1 / (1 - y_true).sum())
    posterior = expit(ratios.astype(float))
    entropy = log_loss(y_true, posterior, sample_weight=weights, labels=[0, 1])
    assert_allclose(cllr(y_true, ratios), entropy / np.log(2), rtol=1e-6)


def test_cllr_of_scores_far_from_zero_is_no_infinity():
    assert_allclose(cllr([1, 0], [-5e3, 5e3]), 5e3 / np.log(2))
    assert cllr([1, 0], [5e3, -5e3]) == 0


@given(scored_pairs())
def test_min_cllr_is_that_of_scikit_learns_isotonic_map(pairs):
    y_true, y_score, _ = pairs
    weights = np.where(y_true == 1, 1 / y_true.sum(), 1 / (1 - y_true).sum())
    isotonic = IsotonicRegression(y_min=0, y_max=1).fit(y_score, y_true, weights)
    posterior = isotonic.predict(y_score)
    right = np.where(y_true == 1, posterior, 1 - posterior)
    expected = -(weights * np.log2(right)).sum() / 2
    found = min_cllr(y_true, y_score)
    assert_allclose(found, expected, atol=1e-6)
    assert -1e-12 <= found <= min(1.0, cllr(y_true, y_score)) + 1e-12
    assert_allclose(calibration_loss(y_true, y_score), cllr(y_true, y_score) - found)


def test_constants():
    y_true = np.array([0, 0, 1, 1])
    assert cllr(y_true, np.zeros(4)) == min_cllr(y_true, np.zeros(4)) == 1
    assert detection_cost(y_true, np.zeros(4)) == 1
    assert min_cllr(y_true, y_true) == detection_cost(y_true, y_true) == 0
    assert min_cllr(1 - y_true, y_true) == detection_cost(1 - y_true, y_true) == 1


@given(scored_pairs(min_each=4), st.integers(2, 4))
def test_accuracy_is_that_of_a_search_over_all_thresholds(pairs, n_folds):
    y_true, y_score, _ = pairs
    folds = np.arange(len(y_true)) % n_folds
    found = pair_accuracy(y_true, y_score, folds)
    for k, label in enumerate(found.folds.tolist()):
        others, own = folds != label, folds == label
        candidates = [np.inf, *sorted(set(y_score[others].tolist()), reverse=True)]
        right = [
            ((y_score[others] >= t) == (y_true[others] == 1)).sum() for t in candidates
        ]
        assert found.threshold[k] == candidates[int(np.argmax(right))]
        decided = y_score[own] >= found.threshold[k]
        assert_allclose(found.accuracy[k], (decided == (y_true[own] == 1)).mean())
    assert_allclose(found.value, found.accuracy.mean())
    error = found.accuracy.std(ddof=1) / np.sqrt(n_folds)
    assert_allclose(found.standard_error, error)


def test_accuracy_is_a_table_of_folds():
    found = pair_accuracy([0, 1, 0, 1], [0.1, 0.9, 0.2, 0.8], ["b", "b", "a", "a"])
    frame = found.to_frame(backend="pandas")
    assert frame["folds"].tolist() == ["a", "b"] and set(frame["value"]) == {0.75}


@pytest.mark.parametrize("y_true", [[1, 1], [0, 0]])
@pytest.mark.parametrize("metric", [detection_cost, cllr, min_cllr, calibration_loss])
def test_one_kind_of_pairs_has_no_cost(metric, y_true):
    with pytest.warns(UndefinedMetricWarning, match="pair in y_true"):
        assert np.isnan(metric(y_true, [0.1, 0.2]))


@pytest.mark.parametrize("error", ["half", "weighted"])
@pytest.mark.parametrize("seed", range(4))
def test_expected_performance_is_that_of_a_loop(error, seed):
    rng = np.random.default_rng(seed)
    kinds = (
        rng.permutation(np.repeat([0, 1], 30)),
        rng.permutation(np.repeat([0, 1], 20)),
    )
    # Rounded, so that scores of both kinds are equal.
    (dev, dev_score), (test, score) = (
        (kind, np.round(rng.normal(kind, 1.0), 1)) for kind in kinds
    )
    alpha = [0.9, 0.05, 0.5]
    sets = {"y_true_dev": dev, "y_score_dev": dev_score}
    found = expected_performance_curve(test, score, **sets, alpha=alpha, error=error)
    assert found[0].tolist() == sorted(alpha)
    for a, value, threshold in zip(*found, strict=True):
        least, best = np.inf, None
        for t in sorted({*dev_score, np.inf}, reverse=True):
            far = sum(s >= t for s in dev_score[dev == 0]) / 30
            frr = sum(s < t for s in dev_score[dev == 1]) / 30
            if a * far + (1 - a) * frr < least:
                least, best = a * far + (1 - a) * frr, t
        assert threshold == best
        far = np.mean([s >= best for s in score[test == 0]])
        frr = np.mean([s < best for s in score[test == 1]])
        expected = a * far + (1 - a) * frr if error == "weighted" else (far + frr) / 2
        assert value == pytest.approx(expected)


def test_expected_performance_without_a_kind_of_pairs_is_undefined():
    both, one = ([0, 1], [0.1, 0.2]), ([1, 1], [0.1, 0.2])
    names = "y_true_dev", "y_score_dev"
    for test, dev in ((both, one), (one, both)):
        sets = dict(zip(names, dev, strict=True))
        with pytest.warns(UndefinedMetricWarning, match="No impostor pair"):
            _, error, _ = expected_performance_curve(*test, **sets)
        assert np.isnan(error).all()
    for wrong in ({"alpha": 1.5}, {"error": "full"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            expected_performance_curve(
                *both, **dict(zip(names, both, strict=True)), **wrong
            )
