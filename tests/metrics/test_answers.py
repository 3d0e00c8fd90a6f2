"""Support, zero errors and what is undefined."""

import numpy as np
import pytest
from sklearn.exceptions import UndefinedMetricWarning

from tests.metrics import designs
from tests.metrics.designs import X, roc_of, unfitted

pytestmark = [
    pytest.mark.filterwarnings("ignore::skfairfr.metrics.EstimandWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning"),
]


def test_support_counts_errors_people_and_their_shares():
    X, identity, group = designs.one_side("people", np.random.default_rng(23), 60, 20)
    oracle = designs.oracle_of(X, identity, group)
    roc = roc_of(X, identity, group)
    for rate in ("far", "frr"):
        found = roc.estimate(threshold=0.4, rate=rate, group="a")
        errors, people, share = oracle.support(0.4, rate, "a")
        expected = errors >= 30 and people >= 10 and share <= 1 / 3
        assert found.supported == expected
        assert (f"{errors} errors" in found.reason) == (errors < 30)


def test_zero_errors_take_wilsons_bound_of_the_people():
    rng = np.random.default_rng(24)
    identity = np.repeat(np.arange(30), 2)
    X = np.repeat(rng.standard_normal((30, 8)), 2, axis=0)
    X += 1e-3 * rng.standard_normal(X.shape)
    found = roc_of(X, identity, None, resample="identities").estimate(0.05)
    z2 = 1.959963984540054**2
    assert (found.value, found.low) == (0.0, 0.0)
    assert found.high == pytest.approx(z2 / (30 + z2))


def test_undefined_replicates_are_counted():
    rng = np.random.default_rng(29)
    identity = np.repeat(np.arange(10), 2)
    group = np.where(identity < 9, "many", "few")
    X = designs.exact_rows(20, rng)
    roc = roc_of(X, identity, group, resample="identities", n_resamples=200)
    drawn = [designs.weights_of(roc, b)[0] for b in range(200)]
    missing = sum(v[9] == 0 for v in drawn)
    found = roc.estimate(0.2, rate="frr", group="few")
    assert found.n_undefined == missing > 5
    assert np.isnan(found.low) and np.isnan(found.high) and not found.supported


def test_groups_without_pairs_are_left_out_aloud():
    X, identity, group = designs.one_side("people", np.random.default_rng(30))
    group = np.where(identity == 0, "alone", group)
    roc = roc_of(X, identity, group)
    with pytest.warns(UndefinedMetricWarning, match="'alone'"):
        roc.estimate(0.2, rate="far", how="max_min")


def test_without_genuine_pairs_far_works_and_frr_is_nan_aloud():
    fitted = unfitted().fit(X[:10], np.arange(10))
    assert 0 <= fitted.estimate(0.1, rate="far").value <= 0.1
    with pytest.warns(UndefinedMetricWarning, match="No genuine pair: the frr is"):
        found = fitted.estimate(0.1)
    assert np.isnan(found.value) and not found.supported
    with pytest.warns(UndefinedMetricWarning, match="no genuine pair overall"):
        assert np.isnan(fitted.equal_error_rate().value)
