"""What recentring does, and what it must not do: the no-op statements of ROC24."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skfairfr._core._bootstrap import rate_table
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


@pytest.mark.parametrize("how", ["max_min", "max_geomean", "log_geomean", "gini"])
def test_recentring_changes_no_scale_free_disparity_if_all_have_as_many_images(how):
    rng = np.random.default_rng(10)
    identity = np.repeat(np.arange(12), 3)
    group = np.array(["a", "b"])[identity % 2]
    roc = roc_of(designs.exact_rows(36, rng), identity, group, resample="images")
    engine = roc._engine
    question = engine.question(None, 0.5, "frr", None, how, "overall")
    query, resampling = engine._query(question), engine.resampling
    table = rate_table(engine.pairs, query, resampling)
    point, centre = (rates_of.frr[1:, 0] for rates_of in (table.point, table.centre))
    assert_allclose(centre, point * (1 - 1 / 3), rtol=1e-12)
    assert_allclose(
        question.how.function(centre), question.how.function(point), rtol=1e-12
    )
