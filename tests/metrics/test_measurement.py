"""What a fitted measurement remembers, refuses and warns of."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import UndefinedMetricWarning

from skfairfr import SimilarityROC
from skfairfr.metrics import EstimandWarning
from tests.metrics import designs
from tests.metrics.designs import GROUP, IDENTITY, ONE, SCORES, TWO, X, unfitted


def test_estimand_warning_once_a_fit():
    rng = np.random.default_rng(25)
    identity = np.repeat(np.arange(40), 6)
    noise = rng.uniform(0.1, 2.0, 40)[identity, None]
    X = rng.standard_normal((40, 24))[identity] + noise * rng.standard_normal((240, 24))
    roc = SimilarityROC(n_resamples=60, random_state=0).fit(X, identity)
    with pytest.warns(EstimandWarning, match="times as large"):
        roc.estimate(0.01)
    with warnings.catch_warnings():
        warnings.simplefilter("error", EstimandWarning)
        roc.estimate(0.05)
    with pytest.warns(EstimandWarning):
        roc.fit(X, identity).estimate(0.01)


def test_asking_twice_gives_the_same_answer():
    X, identity, group = designs.one_side("people", np.random.default_rng(22))
    roc = unfitted(n_resamples=10).fit(X, identity, group)
    first = roc.estimate(0.2)
    for level in (0.1, 0.3, 0.4, 0.15, 0.25, 0.35, 0.45, 0.5, 0.55):
        roc.estimate(level)
    assert roc.estimate(0.2) == first


def test_nothing_to_resample_is_an_error_not_an_interval_of_no_width():
    one_each = unfitted(resample="images").fit(X[:10], np.arange(10))
    with pytest.raises(
        ValueError, match=r"one \(on each side\).*resample='identities'"
    ):
        one_each.estimate(0.1, rate="far")
    assert one_each.threshold_at(0.1) < 1
    unnamed = unfitted(resample="both").fit_pairs(SCORES, ONE, TWO)
    with pytest.raises(ValueError, match="give image_1 and image_2"):
        unnamed.estimate(0.6)


@pytest.mark.parametrize("operating_point", ["overall", "worst_group"])
def test_a_level_the_data_cannot_resolve_is_said(operating_point):
    fitted = unfitted().fit(X, IDENTITY, GROUP)
    options = {"operating_point": operating_point}
    with pytest.warns(
        UndefinedMetricWarning, match="far=1e-06 is below 1 / n_impostor"
    ):
        found = fitted.estimate(1e-6, rate="frr", **options)
    assert not found.supported and "below 1 / n_impostor" in found.reason
    with pytest.warns(UndefinedMetricWarning, match="Give a larger far or more people"):
        fitted.threshold_at(1e-6, **options)


def test_warnings_point_at_the_caller():
    fitted = unfitted().fit(X[:10], np.arange(10))
    with pytest.warns(UndefinedMetricWarning) as caught:
        fitted.estimate(0.1)
    assert caught[0].filename == __file__
