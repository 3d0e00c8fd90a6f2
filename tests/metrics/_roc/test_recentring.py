"""What recentring does, and what it must not do: the no-op statements of ROC24."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.metrics import designs
from tests.metrics.designs import roc_of

AVERAGES = ("pair", "identity")
KINDS = ("none", "people", "images")

pytestmark = [
    pytest.mark.filterwarnings("ignore::skfairfr.metrics.EstimandWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning"),
]


@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("kind", KINDS)
def test_centre_of_image_resamples_is_the_v_statistic(average, kind):
    X, identity, group = designs.one_side(kind, np.random.default_rng(6), 40)
    oracle = designs.oracle_of(X, identity, group, average=average)
    options = {"average": average, "resample": "images", "n_resamples": 50}
    naive, moved = (
        roc_of(X, identity, group, method=m, **options) for m in ("naive", "recentered")
    )
    for name in [None] if kind == "none" else [None, "a", "b"]:
        question = {"threshold": 0.1, "group": name}
        value = naive.estimate(**question).value
        assert 0 < value < 1
        shift = value - float(oracle.v_statistic_frr(0.1, name))
        replicates = naive.resamples(**question)
        expected = np.quantile(replicates + shift, [0.025, 0.975])
        got = moved.estimate(**question)
        assert_allclose([got.low, got.high], np.clip(expected, 0, 1), atol=1e-12)
