"""Facts of the error rates of scored pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import roc_curve

from skfairfr.metrics import (
    all_pairs,
    equal_error_rate,
    far_frr_curve,
    frr_at_far,
    group_error_rates,
    threshold_at_far,
)
from tests.metrics.pairs import loop_rates, loop_threshold, scored_pairs

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


@given(scored_pairs())
def test_curve_agrees_with_roc_curve(pairs):
    y_true, y_score, _ = pairs
    far, frr, thresholds = far_frr_curve(y_true, y_score)
    fpr, tpr, theirs = roc_curve(y_true, y_score, drop_intermediate=False)
    assert_array_equal(thresholds, theirs)
    assert_allclose(far, fpr, atol=1e-15)
    assert_allclose(frr, 1 - tpr, atol=1e-15)


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
@given(pairs=scored_pairs(min_each=4), seed=st.integers(0, 99))
def test_order_of_pairs_does_not_matter(rate, pairs, seed):
    y_true, y_score, _ = pairs
    order = np.random.default_rng(seed).permutation(len(y_true))
    expected = RATES[rate](y_true, y_score)
    assert_array_equal(RATES[rate](y_true[order], y_score[order]), expected)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize(
    "increasing", [lambda s: 8 * s - 3, lambda s: s**3, lambda s: s.astype(np.float32)]
)
@given(pairs=scored_pairs(min_each=4))
def test_an_increasing_transform_of_scores_changes_no_rate(rate, increasing, pairs):
    y_true, y_score, _ = pairs
    expected = RATES[rate](y_true, y_score)
    assert_array_equal(RATES[rate](y_true, increasing(y_score)), expected)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("kind", [0, 1])
def test_one_kind_of_pairs_is_undefined(rate, kind):
    name = "genuine" if kind == 0 else "impostor"
    message = rf"No {name} pair in y_true: .* Add {name} pairs \(y_true = {1 - kind}\)"
    with pytest.warns(UndefinedMetricWarning, match=message):
        assert np.isnan(RATES[rate]([kind] * 5, [1, 2, 3, 4, 5])).any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"far": 0}, r"far must lie in \(0, 1\)"),
        ({"far": [0.1, 0.2]}, "far must be one number"),
        ({"far": 0.1, "operating_point": "group"}, "one threshold per group"),
        ({"far": 0.1, "operating_point": "best"}, "must be one of 'overall'"),
        ({"far": 0.1, "operating_point": "worst_group"}, "needs sensitive_features"),
    ],
)
def test_options_of_the_threshold(options, message):
    with pytest.raises(ValueError, match=message):
        threshold_at_far(*FOUR, **options)


@pytest.fixture(scope="module")
def lfw(shared_data):
    with np.load(shared_data / "lfw_facenet" / "lfw_facenet.npz") as data:
        return all_pairs(
            data["embedding"], data["identity"], sensitive_features=data["gender"]
        )


def within(pairs, group):
    y_true, y_score, groups = pairs
    keep = (
        np.full(len(y_true), True) if group is None else (groups == group).all(axis=1)
    )
    return y_true[keep], y_score[keep]


@pytest.mark.parametrize(
    ("group", "n_genuine", "n_impostor", "eer"),
    [  # shared/data/README.md
        (None, 3631, 1_020_965, 0.0422),
        ("female", 980, 128_815, 0.0764),
        ("male", 2651, 421_930, 0.0407),
    ],
)
def test_lfw_counts_and_equal_error_rates(lfw, group, n_genuine, n_impostor, eer):
    y_true, y_score = within(lfw, group)
    assert (y_true.sum(), (1 - y_true).sum()) == (n_genuine, n_impostor)
    # They took an operating point where we interpolate: one genuine pair apart at most.
    tolerance = 1 / n_genuine + 5e-5
    assert equal_error_rate(y_true, y_score) == pytest.approx(eer, abs=tolerance)


@pytest.mark.parametrize(
    ("far", "overall", "female", "male"),
    [  # shared/data/README.md: FMR, FNMR of each row
        (1e-2, (0.01000, 0.1091), (0.01942, 0.1776), (0.01659, 0.0837)),
        (1e-3, (0.00100, 0.3349), (0.00217, 0.4153), (0.00162, 0.3052)),
    ],
)
def test_lfw_rates_at_the_overall_threshold(lfw, far, overall, female, male):
    y_true, y_score, groups = lfw
    threshold = threshold_at_far(y_true, y_score, far=far)
    assert frr_at_far(y_true, y_score, far=far) == pytest.approx(overall[1], abs=5.1e-5)
    rates = group_error_rates(
        y_true, y_score, sensitive_features=groups, threshold=threshold
    )
    assert rates.groups.tolist() == ["female", "male"]
    assert rates.far == pytest.approx([female[0], male[0]], abs=5.1e-6)
    assert rates.frr == pytest.approx([female[1], male[1]], abs=5.1e-5)
