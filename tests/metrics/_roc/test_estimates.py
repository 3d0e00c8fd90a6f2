"""Support, zero errors and what is undefined."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import UndefinedMetricWarning

from skfairfr import SimilarityROC, make_face_embeddings
from skfairfr.metrics._roc._estimates import OF_SAMPLE
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


def test_zero_errors_take_the_rule_of_three_with_the_people():
    rng = np.random.default_rng(24)
    identity = np.repeat(np.arange(30), 2)
    X = np.repeat(rng.standard_normal((30, 8)), 2, axis=0)
    X += 1e-3 * rng.standard_normal(X.shape)
    found = roc_of(X, identity, None, resample="identities").estimate(0.05)
    # One pair of each of 30 people: no error of a Poisson number, at one-sided .025.
    assert (found.value, found.low) == (0.0, 0.0)
    assert found.high == pytest.approx(-np.log(0.025) / 30)


@pytest.mark.parametrize("seed", range(2))
def test_intervals_of_replicates_hold_their_disparity_and_the_far_of_a_level(seed):
    """Few people whose groups are alike: nearly all resamples are less so."""
    X, identity, group = designs.one_side("people", np.random.default_rng(seed), 40, 20)
    roc = roc_of(X, identity, group, resample="identities", n_resamples=20)
    levels = np.array([0.01, 0.03, 0.1])
    for point in ("overall", "worst_group", "group"):
        for rate in ("far", "frr"):
            for how in ("max_min", "gini", "difference"):
                question = {"rate": rate, "how": how, "operating_point": point}
                assert_within_ends(roc.estimate(levels, **question))
        for of in (None, "a", "b"):
            if of or point != "group":
                question = {"group": of, "operating_point": point}
                assert_within_ends(roc.estimate(levels, rate="far", **question))


def assert_within_ends(found):
    known = ~np.isnan(found.low)
    assert (found.low <= found.value)[known].all()
    assert (found.value <= found.high)[known].all()


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
    with pytest.warns(UndefinedMetricWarning, match="No genuine pair: the FRR is"):
        found = fitted.estimate(0.1)
    assert np.isnan(found.value) and not found.supported
    with pytest.warns(UndefinedMetricWarning, match="no genuine pair overall"):
        assert np.isnan(fitted.equal_error_rate().value)


@pytest.mark.parametrize("method", ["recentered", "jackknife"])
def test_one_person_has_no_impostor_pair_and_no_interval(method):
    X, identity, group = designs.one_side("people", np.random.default_rng(30))
    group = np.where(identity == 0, "alone", group)
    roc = roc_of(X, identity, group, method=method, resample="identities")
    with pytest.warns(UndefinedMetricWarning, match="No impostor pair in the group"):
        found = roc.estimate([0.1, 0.2], rate="far", group="alone")
    for name in ("value", "low", "high"):
        assert_array_equal(getattr(found, name), [np.nan, np.nan])


MIXED = {"average": "identity", "impostors": "same_group"}


@pytest.mark.parametrize(
    ("options", "question", "source"),
    [
        ({}, {"far": 0.3}, "sample"),
        ({}, {"far": 0.3, "rate": "far", "group": "a"}, "sample"),
        ({}, {"far": 0.3, "rate": "far", "group": ("a", "b")}, "sample"),
        ({}, {"far": 0.3, "how": "gini", "operating_point": "group"}, "sample"),
        ({}, {"far": 0.3, "operating_point": "worst_group"}, "sample"),
        ({}, {"threshold": 0.1, "rate": "far"}, "sample"),
        ({}, {"threshold": 0.1, "rate": "far", "group": ("b", "a")}, "sample"),
        ({}, {"threshold": 0.1, "rate": "frr"}, "all pairs"),
        ({}, {"far": 0.02, "rate": "far", "group": ("a", "b")}, "all pairs"),
        (MIXED, {"far": 0.3}, "sample"),
        (MIXED, {"far": 0.3, "rate": "far", "how": "max_min"}, "sample"),
        (MIXED, {"far": 0.02}, "all pairs"),
    ],
)
def test_source_and_reason_say_where_values_beyond_far_max_come_from(
    monkeypatch, options, question, source
):
    designs.hold_tails(monkeypatch)
    found = designs.tail_only("images", **options).estimate(**question)
    assert found.source == source
    assert found.reason.endswith(OF_SAMPLE) == (source == "sample")


@pytest.mark.parametrize("group", [None, "a", ("a", "b")])
def test_values_beyond_far_max_are_those_of_the_sample(monkeypatch, group):
    designs.hold_tails(monkeypatch)
    roc = designs.tail_only("images")
    found = roc.estimate(0.3, rate="far", group=group)
    threshold, pairs = roc.threshold_at(0.3), roc._engine.pairs
    codes = {None: None, "a": (0, 0), ("a", "b"): (0, 1)}[group]
    drawn = (pairs.impostors(codes, sampled=True).scores >= threshold).mean()
    assert found.value == pytest.approx(drawn, rel=1e-12)


@pytest.mark.parametrize("options", [{}, MIXED])
def test_equal_error_rates_say_where_they_come_from(monkeypatch, options):
    designs.hold_tails(monkeypatch)
    found = designs.tail_only("images", **options).equal_error_rate()
    assert found.source == "sample" and found.reason.endswith(OF_SAMPLE)


def test_a_group_held_whole_is_exact_at_its_own_threshold(monkeypatch):
    """What other groups, or all pairs, are answered from does not matter to it."""
    exact = designs.tail_only("people")
    designs.hold_tails(monkeypatch)
    monkeypatch.setattr("skfairfr._core._pairs.WHOLE_GROUP", 2**16)
    roc = designs.tail_only("people")
    for question in (
        {"far": 0.3, "group": "a", "operating_point": "group"},
        {"threshold": 0.1, "rate": "far", "group": "a"},
    ):
        found = roc.estimate(**question)
        assert found.reason == exact.estimate(**question).reason == ""
        assert found.value == exact.estimate(**question).value
    assert roc.estimate(threshold=0.1, rate="far").source == "sample"


@pytest.mark.parametrize(("n_accepted", "said"), [(1, True), (9, True), (10, False)])
def test_a_threshold_that_few_impostor_pairs_set_is_no_support(n_accepted, said):
    data = make_face_embeddings(60, 4, random_state=0)
    roc = SimilarityROC(n_resamples=2, random_state=0).fit(data.X, data.y)
    found = roc.estimate((n_accepted + 0.5) / roc.n_impostor_[0])
    pairs = f"{n_accepted} impostor pair{' sets' if n_accepted == 1 else 's set'}"
    words = f"too few errors: {pairs} the threshold, 10 needed"
    assert (words in found.reason) == said
    assert ("set" in found.reason) == said
