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
    roc = SimilarityROC(resample="images", n_resamples=60, random_state=0)
    roc.fit(X, identity)
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
    with pytest.raises(ValueError, match="Pass image_1 and image_2"):
        unnamed.estimate(0.6)


@pytest.mark.parametrize("operating_point", ["overall", "worst_group"])
def test_a_level_the_data_cannot_resolve_is_said(operating_point):
    fitted = unfitted().fit(X, IDENTITY, GROUP)
    options = {"operating_point": operating_point}
    with pytest.warns(
        UndefinedMetricWarning, match=r"far=1e-06 is below 1 / \(impostor pairs\)"
    ):
        found = fitted.estimate(1e-6, rate="frr", **options)
    assert not found.supported and "below 1 / (impostor pairs)" in found.reason
    with pytest.warns(UndefinedMetricWarning, match="Give a larger far or more people"):
        fitted.threshold_at(1e-6, **options)


def test_a_level_is_unresolved_by_the_group_asked_alone():
    group = np.where(IDENTITY < 3, "small", "big")
    fitted = unfitted().fit(X, IDENTITY, group)
    options = {"operating_point": "group", "rate": "far"}
    n_big, n_small = (fitted._engine.pairs.count((g, g)) for g in (0, 1))
    level = 2 / n_big
    assert level < 1 / n_small
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted.estimate(level, group="big", **options)
    with pytest.warns(UndefinedMetricWarning, match=r"below 1 / \(impostor pairs\)"):
        fitted.estimate(level, group="small", **options)


def test_the_level_of_one_pair_is_resolved():
    ends = np.arange(49)
    fitted = unfitted().fit_pairs(
        np.r_[np.linspace(0, 1, 49), 0.5], np.r_[ends, 0], np.r_[ends + 1, 0]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted.threshold_at(1 / 49)


def test_genuine_pairs_across_groups_are_counted_in_their_order():
    rng = np.random.default_rng(1)
    group, domain = rng.choice(["a", "b"], 30), np.arange(30) % 2
    fitted = unfitted().fit(X, IDENTITY, group, domain=domain)
    for g, h in (("a", "b"), ("b", "a")):
        probe, reference = (domain == 0) & (group == g), (domain == 1) & (group == h)
        expected = (IDENTITY[probe][:, None] == IDENTITY[reference]).sum()
        found = fitted.estimate(0.2, rate="far", group=(g, h))
        assert found.n_genuine == expected


def test_an_infinite_disparity_is_said():
    fitted = unfitted().fit(X, IDENTITY, GROUP)
    with pytest.warns(UndefinedMetricWarning, match="A group has no error"):
        fitted.estimate(threshold=np.inf, rate="far", how="max_min")


def test_thresholds_that_the_tail_reaches_stay_exact_beside_lower_ones(monkeypatch):
    asked = {"threshold": [0.1, 0.8, 0.6], "rate": "far"}
    exact = designs.tail_only("none").estimate(**asked)
    designs.hold_tails(monkeypatch)
    roc = designs.tail_only("none")
    found = roc.estimate(**asked)
    for name in ("value", "low", "high", "standard_error"):
        ours, theirs = (getattr(e, name) for e in (found, exact))
        assert np.array_equal(ours[1:], theirs[1:])
        assert ours[0] == pytest.approx(theirs[0], abs=0.02)
    assert found.low[0] != exact.low[0]
    assert ["sample" in reason for reason in found.reason] == [True, False, False]
    assert not roc._engine.pairs.impostors(None).complete


def test_the_largest_level_of_all_pairs_stays_exact_beside_larger_ones(monkeypatch):
    designs.hold_tails(monkeypatch)
    roc = designs.tail_only("none")
    assert roc.far_max == 0.02
    alone, beside = roc.estimate(0.02), roc.estimate([0.5, 0.02])
    assert beside.value[1] == alone.value
    assert ["sample" in reason for reason in beside.reason] == [True, False]
