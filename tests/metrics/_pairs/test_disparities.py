"""Facts of the disparities of scored pairs."""

from itertools import product

import numpy as np
import pytest
from sklearn.exceptions import UndefinedMetricWarning

from skfairfr._core._rates import DISPARITIES
from skfairfr.metrics import (
    bfar,
    disparity,
    far_disparity,
    frr_disparity,
    threshold_at_far,
)
from tests.covering import daily_pairwise
from tests.metrics.pairs import random_pairs
from tests.oracles.pairs import loop_rates, loop_threshold

METRICS = {0: far_disparity, 1: frr_disparity}
BOTH = pytest.mark.parametrize(("rate", "metric"), METRICS.items())
OPERATING_POINTS = ("overall", "worst_group", "group")
POINTS = pytest.mark.parametrize("operating_point", OPERATING_POINTS)


def loop_thresholds(y_true, y_score, groups, far, operating_point):
    each = {
        g: loop_threshold(y_true[groups == g], y_score[groups == g], far)
        for g in np.unique(groups)
    }
    common = {
        "overall": loop_threshold(y_true, y_score, far),
        "worst_group": max(each.values()),
    }
    return {g: common.get(operating_point, each[g]) for g in each}


@pytest.mark.parametrize(
    ("rate", "operating_point", "how", "dtype"),
    daily_pairwise(
        product(
            METRICS, OPERATING_POINTS, sorted(DISPARITIES), (np.float32, np.float64)
        )
    ),
)
def test_reduces_the_rates_of_a_double_loop(rate, operating_point, how, dtype):
    n_groups = 2 if how == "ratio" else 3
    y_true, y_score, groups = random_pairs(n_groups=n_groups, dtype=dtype)
    thresholds = loop_thresholds(y_true, y_score, groups, 0.2, operating_point)
    rates = [
        loop_rates(y_true, y_score, dtype(t), groups == g)[rate]
        for g, t in thresholds.items()
    ]
    value = METRICS[rate](
        y_true, y_score, sensitive_features=groups, far=0.2, how=how,
        operating_point=operating_point,
    )  # fmt: skip
    assert type(value) is float
    assert value == pytest.approx(disparity(rates, how))


@BOTH
def test_cross_group_pairs_move_the_overall_threshold_alone(rate, metric):
    y_true, y_score, groups = random_pairs()
    crossing = {
        "y_true": np.concatenate([y_true, np.zeros(300, dtype=int)]),
        "y_score": np.concatenate([y_score, np.full(300, -9.0)]),
        "sensitive_features": np.concatenate(
            [np.stack([groups, groups], axis=1), np.tile(["a", "b"], (300, 1))]
        ),
    }
    alone = {"y_true": y_true, "y_score": y_score, "sensitive_features": groups}

    def both(operating_point):
        options = {"far": 0.1, "operating_point": operating_point}
        return metric(**crossing, **options), metric(**alone, **options)

    assert both("worst_group")[0] == both("worst_group")[1]
    assert both("group")[0] == both("group")[1]
    assert both("overall")[0] != both("overall")[1]


LACKING = {
    "y_true": [0, 0, 1, 1, 0, 0, 1, 1, 1],
    "y_score": [1.0, 2.0, 0.5, 5.0, 1.5, 3.0, 0.5, 1.0, 9.0],
    "sensitive_features": ["a"] * 4 + ["b"] * 4 + ["c"],
    "far": 0.5,
}


def without_c(**changed):
    kept = {k: v[:8] for k, v in LACKING.items() if k != "far"}
    return {**kept, "far": 0.5, **changed}


@POINTS
def test_a_group_without_impostors_is_left_out_of_far_disparities(operating_point):
    options = {"operating_point": operating_point, "how": "difference"}
    with pytest.warns(UndefinedMetricWarning) as caught:
        value = far_disparity(**LACKING, **options)
    assert all("group 'c'" in str(warning.message) for warning in caught)
    assert "left out of the disparity" in str(caught[-1].message)
    assert value == far_disparity(**without_c(), **options)


def test_a_group_without_genuine_pairs_is_left_out_of_frr_disparities():
    y_true = [0, 0, 1, 1, 0, 0, 1, 1, 0]
    pairs = {**LACKING, "y_true": y_true}
    with pytest.warns(
        UndefinedMetricWarning, match="frr rate of group 'c' is undefined"
    ):
        value = frr_disparity(**pairs, how="difference")
    threshold = threshold_at_far(y_true, LACKING["y_score"], far=0.5)
    is_group = np.array(LACKING["sensitive_features"])
    a, b = (
        loop_rates(y_true, LACKING["y_score"], threshold, is_group == g)[1]
        for g in "ab"
    )
    assert value == abs(a - b)


@pytest.mark.parametrize("metric", [bfar, far_disparity])
@pytest.mark.parametrize("zero_division", [np.nan, np.inf, 1.0])
def test_a_group_without_false_accepts_gives_zero_division(metric, zero_division):
    y_score = [1.0, 2.0, 8.0, 9.0, 1.0, 2.0, 3.0, 4.0]
    with pytest.warns(UndefinedMetricWarning, match="far rate of group 'b' is zero"):
        value = metric(
            [0] * 8, y_score, sensitive_features=list("aaaabbbb"), far=0.25,
            zero_division=zero_division,
        )  # fmt: skip
    assert value == pytest.approx(zero_division, nan_ok=True)


@pytest.mark.parametrize("disparity", [far_disparity, frr_disparity])
def test_the_usual_level_is_one_in_a_thousand(disparity):
    rng = np.random.default_rng(0)
    y_true, group = rng.random(20_000) < 0.1, rng.integers(0, 2, 20_000)
    pairs = {"y_true": y_true, "y_score": rng.normal(size=20_000) + 3 * y_true}
    usual = disparity(**pairs, sensitive_features=group)
    assert usual == disparity(**pairs, sensitive_features=group, far=1e-3)
    assert usual != disparity(**pairs, sensitive_features=group, far=1e-2)
