"""Facts of the error rates within groups."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.exceptions import UndefinedMetricWarning

from skfairfr.metrics import group_error_rates
from tests.metrics.pairs import scored_pairs
from tests.oracles.pairs import loop_rates


@given(
    pairs=scored_pairs(n_groups=3), threshold=st.sampled_from([-1.0, 0.25, 0.3, np.inf])
)
def test_rates_are_those_of_a_double_loop(pairs, threshold):
    y_true, y_score, groups = pairs
    rates = group_error_rates(
        y_true, y_score, sensitive_features=groups, threshold=threshold
    )
    expected = [
        loop_rates(y_true, y_score, threshold, groups == g) for g in rates.groups
    ]
    assert_array_equal(np.stack([rates.far, rates.frr], axis=1), expected)
    counts = [((y_true == 0) & (groups == g)).sum() for g in rates.groups]
    assert rates.n_impostor.tolist() == counts
    assert (rates.n_impostor + rates.n_genuine).sum() == len(y_true)


def test_cross_group_and_unknown_pairs_count_for_no_group():
    groups = [["f", "f"], ["m", "m"], ["f", "m"], ["f", None], ["f", "f"], ["m", "m"]]
    rates = group_error_rates(
        [0, 0, 0, 0, 1, 1], np.ones(6), sensitive_features=groups, threshold=1
    )
    assert rates.n_impostor.tolist() == rates.n_genuine.tolist() == [1, 1]


@pytest.mark.parametrize("dtype", ["f2", "f4", ">f4", "f8", "i1", "u1", "i8"])
@pytest.mark.parametrize("sign", [1, -1])
def test_scores_are_compared_with_a_threshold_as_numpy_compares_them(dtype, sign):
    scale = 100 if dtype[-2] in "iu" else 1
    score = np.array([0.1, 0.29, 0.3, 0.7, 0.71] * 2) * scale
    score = np.rint(score).astype(dtype) if scale > 1 else score.astype(dtype)
    if dtype[0] == "u" and sign < 0:
        pytest.skip("minus an unsigned integer is none")
    y_true, groups = np.repeat([0, 1], 5), ["a"] * 10
    for t in (0.1 * scale, 0.3 * scale, 0.305 * scale, 0.7 * scale, 0.72 * scale):
        accepted = score >= t if sign == 1 else score <= t
        rates = group_error_rates(
            y_true, sign * score, sensitive_features=groups, threshold=sign * t
        )
        assert rates.far[0] == accepted[:5].mean()
        assert rates.frr[0] == (~accepted[5:]).mean()


@pytest.mark.parametrize(
    ("kind", "name", "message"),
    [
        (0, "frr", "No genuine pair in group 'b'"),
        (1, "far", "No impostor pair in group"),
    ],
)
def test_a_group_lacking_pairs_has_a_nan_rate(kind, name, message):
    with pytest.warns(UndefinedMetricWarning, match=message):
        rates = group_error_rates(
            [0, 1, kind], [1, 2, 3], sensitive_features=["a", "a", "b"], threshold=2
        )
    assert np.isnan(getattr(rates, name)).tolist() == [False, True]
