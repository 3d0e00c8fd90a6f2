"""Facts of thresholds by group, as scores."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import UndefinedMetricWarning

from skfairfr import SimilarityROC
from skfairfr._core import _pairs
from skfairfr.comparators import GroupThresholds
from tests.comparators.people import (
    FAR,
    GROUP,
    NEW,
    NEW_GROUP,
    NEW_Y,
    X,
    Y,
    approx,
    impostor_pairs,
    threshold_by_loop,
)
from tests.oracles.pairs import unit

PAIRS = impostor_pairs(X, Y)
WITHIN = {
    g: [s for s, i, j in PAIRS if GROUP[i] == GROUP[j] == g] for g in ("female", "male")
}


def fit(**parameters):
    return GroupThresholds(FAR, **parameters).fit(X, Y, GROUP)


def test_thresholds_are_those_of_a_double_loop():
    found = fit()
    assert found.groups_.tolist() == ["female", "male"]
    expected = [threshold_by_loop(WITHIN[g], FAR) for g in found.groups_]
    assert found.thresholds_ == approx(expected)
    assert found.threshold_ == approx(threshold_by_loop([s for s, *_ in PAIRS], FAR))
    assert found.n_impostor_.tolist() == [len(WITHIN[g]) for g in found.groups_]
    assert found.level_ == FAR


def test_the_overall_level_is_that_of_pairs_within_groups():
    found = fit(operating_point="overall")
    within = np.array(WITHIN["female"] + WITHIN["male"])
    level = (within >= found.threshold_).mean()
    assert found.level_ == pytest.approx(level, rel=1e-12)
    assert found.level_ > FAR
    expected = [threshold_by_loop(WITHIN[g], level) for g in found.groups_]
    assert found.thresholds_ == approx(expected)


def test_the_overall_level_is_exact_if_few_pairs_are_held(monkeypatch):
    """People are alike within groups, where nearly all accepted pairs are."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(300), 3)
    rows = rng.normal(size=(300, 32))[y] + 4 * rng.normal(size=(6, 32))[y % 6]
    rows += 0.3 * rng.normal(size=rows.shape)
    found = []
    for held in (2**20, 0):
        for name in ("WHOLE", "WHOLE_GROUP"):
            monkeypatch.setattr(_pairs, name, held)
        made = GroupThresholds(FAR, operating_point="overall").fit(rows, y, y % 6)
        found.append([made.level_, *made.thresholds_])
    assert found[0] == found[1] and found[0][0] > 5 * FAR


def test_scores_are_those_of_the_formula():
    found = fit()
    groups = NEW_GROUP.astype(object)
    groups[::5] = None
    rows = unit(NEW)
    threshold = dict(zip(found.groups_, found.thresholds_, strict=True))
    threshold[None] = found.threshold_
    expected = [
        [rows[i] @ rows[j] - (threshold[groups[i]] + threshold[groups[j]]) / 2]
        for i in range(len(NEW))
        for j in range(len(NEW))
    ]
    scores = found.score_matrix(
        NEW, NEW, sensitive_features_1=groups, sensitive_features_2=groups
    )
    assert_allclose(scores.reshape(-1, 1), expected, atol=2e-7)


def test_of_several_columns_the_one_with_the_name_of_the_fit_counts():
    named = GroupThresholds(FAR).fit(X, Y, {"gender": GROUP})
    roc = SimilarityROC(similarity=named, resample="identities", n_resamples=5)
    half = NEW_Y % 2
    one = roc.fit(NEW, NEW_Y, {"gender": NEW_GROUP}).threshold_at(FAR)
    both = roc.fit(NEW, NEW_Y, {"half": half, "gender": NEW_GROUP}).threshold_at(FAR)
    any_name = roc.fit(NEW, NEW_Y, NEW_GROUP).threshold_at(FAR)
    assert one == both == any_name
    with pytest.raises(ValueError, match=r"those of fit were \[0\]"):
        fit().prepare(X[:3], {"half": half[:3], "age": half[:3]})
    with pytest.raises(ValueError, match=r"columns \['half', 'age'\].*\['gender'\]"):
        roc.fit(NEW, NEW_Y, {"half": half, "age": half})


@pytest.mark.parametrize("groups", [None, np.full(len(X), "all")])
def test_fewer_than_two_groups_warn(groups):
    seen = [] if groups is None else ["all"]
    with pytest.warns(UserWarning, match=f"groups {re.escape(str(seen))}, so that"):
        found = GroupThresholds(FAR).fit(X, Y, groups)
    prepared = found.prepare(NEW[:3], None if groups is None else groups[:3])
    assert_array_equal(prepared.adjustment.numbers[1], found.threshold_ / 2)


@pytest.mark.parametrize(
    ("groups", "match"),
    [
        (
            ["male", "other"],
            r"fit did not see, \['other'\]. It saw \['female', 'male'\]",
        ),
        ([1, 2], r"fit did not see, \[1, 2\]. It saw \['female', 'male'\]"),
    ],
)
def test_groups_that_fit_did_not_see_are_an_error(groups, match):
    with pytest.raises(ValueError, match=match):
        fit().prepare(NEW[:2], groups)


def test_groups_with_few_pairs_are_counted_and_warned_of():
    groups = GROUP.astype(object)
    groups[Y == Y[0]] = "alone"
    groups[np.isin(Y, np.unique(Y)[1:3])] = "two"
    with pytest.warns(
        UndefinedMetricWarning, match=r"1 have no impostor pair.*1 have few"
    ):
        found = GroupThresholds(FAR).fit(X, Y, groups)
    assert (found.n_without_pairs_, found.n_unresolved_) == (1, 1)
    assert found.thresholds_[found.groups_ == "alone"] == found.threshold_
    pairs = [s for s, i, j in PAIRS if groups[i] == groups[j] == "two"]
    expected = np.nextafter(max(pairs), np.float32(np.inf))
    assert found.thresholds_[found.groups_ == "two"] == approx(expected)


def test_two_images_have_a_threshold():
    """That of their one pair."""
    with pytest.warns(UserWarning):
        found = GroupThresholds(FAR).fit(np.eye(2) + 1, [0, 1], ["f", "m"])
    assert found.threshold_ == pytest.approx(0.8, abs=1e-6)
