"""Facts of the error rates of scored pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.exceptions import UndefinedMetricWarning

from skfairfr.metrics import (
    equal_error_rate,
    far_frr_curve,
    frr_at_far,
    group_error_rates,
    threshold_at_far,
)
from tests.metrics.pairs import scored_pairs
from tests.oracles.pairs import loop_rates, loop_threshold

levels = st.sampled_from([0.125, 0.2, 0.25, 1 / 3, 0.5, 0.75, 0.99])
# Impostor scores 1..4: at 0.25 one may be accepted, so 3 is the largest that may not be.
FOUR = ([0, 0, 0, 0, 1, 1], [1.0, 2.0, 3.0, 4.0, 2.5, 3.5])


@given(scored_pairs())
def test_curve_is_that_of_a_double_loop(pairs):
    y_true, y_score, _ = pairs
    far, frr, thresholds = far_frr_curve(y_true, y_score)
    assert thresholds.tolist() == [np.inf, *sorted(set(y_score), reverse=True)]
    expected = [loop_rates(y_true, y_score, t) for t in thresholds]
    assert_array_equal(np.stack([far, frr], axis=1), expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(pairs=scored_pairs(), far=levels)
def test_threshold_is_that_of_a_double_loop(dtype, pairs, far):
    y_true, y_score = pairs[0], pairs[1].astype(dtype)
    resolved = far * (y_true == 0).sum() >= 1
    if resolved:
        threshold = threshold_at_far(y_true, y_score, far=far)
        assert threshold == loop_threshold(y_true, y_score, far)
        assert loop_rates(y_true, y_score, dtype(threshold))[0] <= far


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_level_below_one_pair_warns_and_accepts_no_impostor(dtype):
    y_score = np.array(FOUR[1], dtype=dtype)
    message = r"far=0.2 is below .* \(4 impostor pairs in all pairs\).* far >= 0.25"
    with pytest.warns(UndefinedMetricWarning, match=message):
        threshold = threshold_at_far(FOUR[0], y_score, far=0.2)
    assert threshold == np.nextafter(dtype(4), dtype(np.inf))


@given(pairs=scored_pairs(min_each=8), far=levels)
def test_worst_group_threshold_is_the_largest_of_the_groups(pairs, far):
    y_true, y_score, groups = pairs
    each = [
        threshold_at_far(y_true[groups == g], y_score[groups == g], far=far)
        for g in np.unique(groups)
    ]
    together = threshold_at_far(
        y_true,
        y_score,
        far=far,
        sensitive_features=groups,
        operating_point="worst_group",
    )
    assert together == max(each)
    rates = group_error_rates(
        y_true, y_score, sensitive_features=groups, threshold=together
    )
    assert rates.far.max() <= far


def test_a_group_without_impostors_is_left_out_of_the_worst_group():
    y_true, y_score, groups = [0, 0, 1, 1], [1.0, 2.0, 3.0, 4.0], ["a", "a", "b", "a"]
    options = {"sensitive_features": groups, "operating_point": "worst_group"}
    with pytest.warns(UndefinedMetricWarning, match="No impostor pair in group 'b'"):
        threshold = threshold_at_far(y_true, y_score, far=0.5, **options)
    assert threshold == np.nextafter(1.0, np.inf)


def test_no_group_with_impostors_gives_nan():
    options = {"sensitive_features": ["a", "b"], "operating_point": "worst_group"}
    with pytest.warns(UndefinedMetricWarning, match="No group has an impostor pair"):
        with pytest.warns(UndefinedMetricWarning, match="groups 'a', 'b'"):
            assert np.isnan(threshold_at_far([1, 1], [1, 2], far=0.5, **options))


@given(scored_pairs())
def test_equal_error_rate_is_the_mean_where_the_rates_are_closest(pairs):
    y_true, y_score, _ = pairs
    genuine, impostor = y_score[y_true == 1], y_score[y_true == 0]
    best = (np.inf, np.nan)
    for threshold in [np.inf, *sorted(set(y_score), reverse=True)]:
        far, frr = (impostor >= threshold).mean(), (genuine < threshold).mean()
        if abs(far - frr) <= best[0] + 1e-12:
            best = (abs(far - frr), (far + frr) / 2)
    assert equal_error_rate(y_true, y_score) == pytest.approx(best[1], abs=1e-12)


RATES = {
    "frr_at_far": lambda y, s: frr_at_far(y, s, far=0.25),
    "equal_error_rate": equal_error_rate,
    "curve": lambda y, s: np.concatenate(far_frr_curve(y, s)[:2]),
}


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("kind", [0, 1])
def test_one_kind_of_pairs_is_undefined(rate, kind):
    name = "genuine" if kind == 0 else "impostor"
    message = rf"No {name} pair in y_true: .* Add {name} pairs \(y_true = {1 - kind}\)"
    with pytest.warns(UndefinedMetricWarning, match=message):
        assert np.isnan(RATES[rate]([kind] * 5, [1, 2, 3, 4, 5])).any()
