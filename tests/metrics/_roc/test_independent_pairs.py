"""Pairs without people: each stands for people of its own, and is drawn as one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skfairfr import SimilarityROC
from skfairfr._core._resampling import draw
from skfairfr.metrics import (
    frr_at_far,
    group_error_rates,
    threshold_at_far,
)

RNG = np.random.default_rng(0)
N = 3000
Y_TRUE = (RNG.random(N) < 0.3).astype(int)
SCORE = np.round(RNG.normal(size=N) + 2 * Y_TRUE, 1)  # with ties
GROUP = np.array(["a", "b", None], dtype=object)[RNG.choice(3, N, p=[0.5, 0.4, 0.1])]
FAR = 0.05


def fitted(y_true=Y_TRUE, score=SCORE, group=GROUP, **options):
    options = {"n_resamples": 30, "random_state": 0, "far_max": 0.1, **options}
    roc = SimilarityROC(**options)
    return roc.fit_pairs(score, y_true=y_true, sensitive_features=group)


def drawn(roc, resample):
    """How often each pair is in a resample."""
    images, entropy = roc._engine.pairs.images, roc._engine.resampling.entropy
    weights = draw(images, "identities", entropy, resample, resample + 1).identity
    assert (weights[N:] == 1).all()
    return weights[:N, 0].astype(int)


def test_values_are_those_of_the_functions_of_pairs():
    roc = fitted()
    known = np.where(GROUP == None, "c", GROUP)  # noqa: E711
    threshold = threshold_at_far(Y_TRUE, SCORE, far=FAR)
    expected = group_error_rates(
        Y_TRUE, SCORE, sensitive_features=known, threshold=threshold
    )
    assert roc.threshold_at(FAR) == threshold
    assert roc.estimate(FAR).value == frr_at_far(Y_TRUE, SCORE, far=FAR)
    for g, group in enumerate(["a", "b"]):
        for rate in ("far", "frr"):
            found = roc.estimate(FAR, rate=rate, group=group)
            assert found.value == pytest.approx(getattr(expected, rate)[g], abs=1e-15)
            assert found.supported
    assert roc.n_genuine_.tolist() == [Y_TRUE.sum(), *expected.n_genuine[:2]]
    assert roc.n_impostor_.tolist() == [(1 - Y_TRUE).sum(), *expected.n_impostor[:2]]
    assert roc.identities_.size == N + (1 - Y_TRUE).sum()


@pytest.mark.parametrize("average", ["pair", "identity"])
def test_replicates_are_those_of_pairs_repeated_as_drawn(average):
    roc = fitted(average=average)
    frr = roc.resamples(FAR)
    far_of_a = roc.resamples(threshold=1.0, rate="far", group="a")
    for resample in range(30):
        times = drawn(roc, resample)
        assert times.sum() == N
        again = np.repeat(np.arange(N), times)
        expected = frr_at_far(Y_TRUE[again], SCORE[again], far=FAR)
        assert frr[resample] == pytest.approx(expected, abs=1e-12)
        rows = again[(GROUP[again] == "a") & (Y_TRUE[again] == 0)]
        accepted = sum(1 for row in rows if SCORE[row] >= 1.0)
        assert far_of_a[resample] == pytest.approx(accepted / len(rows), abs=1e-12)


def test_one_column_is_the_group_of_both_images():
    both = SimilarityROC(n_resamples=5, random_state=0).fit_pairs(
        SCORE,
        y_true=Y_TRUE,
        sensitive_features_1={"g": GROUP, "h": Y_TRUE},
        sensitive_features_2={"g": GROUP, "h": Y_TRUE},
    )
    one = SimilarityROC(n_resamples=5, random_state=0)
    one.fit_pairs(SCORE, y_true=Y_TRUE, sensitive_features={"g": GROUP, "h": Y_TRUE})
    assert one.groups_.tolist() == both.groups_.tolist()
    assert_array_equal(one.n_impostor_, both.n_impostor_)
    people = np.arange(N), np.arange(N) + (1 - Y_TRUE) * N
    named = SimilarityROC(n_resamples=5, resample="identities").fit_pairs(
        SCORE, *people, sensitive_features=GROUP
    )
    assert_array_equal(named.n_impostor_, fitted().n_impostor_)


def test_two_systems_are_compared_on_the_same_pairs():
    other = SCORE + RNG.normal(size=N)
    # Of people the interval would come from a covariance.
    options = {"resample": "images", "n_resamples": 100}
    first, second = (fitted(score=s, **options) for s in (SCORE, other))
    found = first.compare(second, FAR)
    first, second = first.resamples(FAR), second.resamples(FAR)
    assert_allclose(
        [found.low, found.high], np.quantile(first - second, [0.025, 0.975]), atol=1e-12
    )
    changed = np.roll(Y_TRUE, 1)
    with pytest.raises(ValueError, match="other identities of pairs"):
        fitted().compare(fitted(changed, score=SCORE + 9 * changed), FAR)
    with pytest.raises(ValueError, match="other groups"):
        fitted().compare(fitted(group=np.roll(GROUP, 1)), FAR)
