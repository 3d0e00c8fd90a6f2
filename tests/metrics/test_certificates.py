"""Certified thresholds: against a search over every pair, and what must hold of them."""

import math
import re

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skfairfr import SimilarityROC
from skfairfr._core._error_counts import NUMBERS, errors_of
from skfairfr._core._jackknife import rate_ends
from skfairfr.comparators import GroupThresholds

CONFIDENCE = 0.95
TAIL = (1 - CONFIDENCE) / 2  # of a two-sided interval
GROUPS = np.array(["a", "b", "c"])
PEOPLE = (40, 35, 45)


def draw(people=PEOPLE, images=3, seed=0, alike=(0.5, 1.5, 0.0)):
    """Images, identities and groups; people of a group have some of a direction in common."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(len(people)), people)
    centre = rng.standard_normal((group.size, 16))
    centre[np.arange(group.size), group] += np.array(alike)[group]
    y = np.repeat(np.arange(group.size), images)
    X = centre[y] + 0.5 * rng.standard_normal((y.size, 16))
    return X, y, GROUPS[group[y]]


def fit(X, y, groups, **options):
    return SimilarityROC(random_state=0, **options).fit(X, y, groups)


@pytest.fixture(scope="module")
def fitted():
    return fit(*draw())


def search(roc, group, limit, tail, rate="far"):
    """The first pair that has to be right, pair by pair; None if not even none may err."""
    pairs, scope = roc._engine.pairs, (group, group)
    if rate == "far":
        scores = pairs.impostors(scope).scores
        at = [np.inf, *scores]
    else:
        scores = pairs.genuine.ascending(scope).scores
        at = [-np.inf, *np.nextafter(scores, np.float32(np.inf))]
    numbers = [0, *(int(n) for n in NUMBERS if n < len(scores)), len(scores)]
    at = np.array(at, dtype=np.float64)[numbers]
    sums = errors_of(pairs, scope, rate, at).sums
    assert sums.errors.tolist() == numbers
    bounds = dict(zip(numbers, rate_ends(sums, tail)[1].tolist(), strict=True))
    # Where fewer err, the rate is no larger.
    within = {n: min(b for m, b in bounds.items() if m >= n) for n in bounds}
    found = None
    for n in range(len(scores)):
        below = max(m for m in within if m <= n)
        above = min(m for m in within if m >= n)
        share = (n - below) / max(above - below, 1)
        if within[below] + share * (within[above] - within[below]) > limit:
            return found
        found = float(scores[n])


def neighbours(roc, score):
    """The scores of all pairs next below and next above one."""
    pairs = roc._engine.pairs
    every = np.concatenate(
        [pairs.impostors(None).scores, pairs.genuine.sequence.scores]
    )
    score = np.float32(score)
    return every[every < score].max(), every[every > score].min()


@pytest.mark.parametrize("limit", [0.03, 0.01])
def test_a_certificate_is_the_last_of_a_search(fitted, limit):
    rejected = [search(fitted, g, limit, TAIL) for g in range(3)]
    found, largest = fitted.certify(limit), max(rejected)
    assert found.binding_group == GROUPS[int(np.argmax(rejected))]
    # Just above the first pair that has to be rejected, and below all that need not be.
    assert largest < found.threshold <= neighbours(fitted, largest)[1]
    own = fitted.certify(limit, operating_point="group")
    for g in range(3):
        rejected = search(fitted, g, limit, TAIL / 3)
        assert rejected < own.threshold[g] <= neighbours(fitted, rejected)[1]


def test_a_limit_of_the_frr_is_kept_up_to_the_last_of_a_search(fitted):
    accepted = [search(fitted, g, 0.5, TAIL, "frr") for g in range(3)]
    found, least = fitted.certify(0.03, frr=0.5), np.float32(min(accepted))
    assert neighbours(fitted, least)[0] < found.threshold_high <= least
    assert found.binding_group_high == GROUPS[int(np.argmin(accepted))]
    assert found.supported == (found.threshold <= found.threshold_high)


def test_rates_and_bounds_are_those_at_the_threshold(fitted):
    found = fitted.certify(0.01)
    for rate, values in (("far", found.far), ("frr", found.frr)):
        for value, group in zip(values, GROUPS, strict=True):
            at = fitted.by(method="jackknife").estimate(
                threshold=found.threshold, rate=rate, group=group
            )
            assert value == at.value
            if rate == "frr":
                place = list(GROUPS).index(group)
                ends = found.frr_low[place], found.frr_high[place]
                assert_allclose(ends, (at.low, at.high))
    assert (found.far <= found.far_high).all() and (found.far_high <= 0.01).all()
    assert (found.frr_least <= found.frr).all()


def test_no_frr_is_less_than_its_least_where_the_far_may_keep_its_limit(fitted):
    """By going through the thresholds, from strict to loose."""
    found, each = fitted.certify(0.01), 0.05 / 2 / len(GROUPS)
    roc = fitted.by(method="jackknife", confidence_level=1 - 2 * each)
    scores = np.concatenate(
        [fitted._engine.pairs.impostors((g, g)).scores for g in range(len(GROUPS))]
    )
    every = np.unique(scores[scores <= found.threshold])[:-400:-1]
    asked = {"threshold": every, "rate": "far"}
    low = np.max([roc.estimate(**asked, group=g).low for g in GROUPS], axis=0)
    at = every[low > 0.01][0]
    for group, least in zip(GROUPS, found.frr_least, strict=True):
        low = roc.estimate(threshold=at, rate="frr", group=group).low
        assert 0 < least <= low * 1.2 and least >= low * 0.8


def test_too_few_people_are_told_how_many_more(fitted):
    limit = 5e-4
    found = fitted.certify(limit)
    assert np.isnan(found.threshold) and not found.supported
    assert np.isnan(found.far_high).all() and found.binding_group is None
    needed = dict(found.needed)
    unit = 10 ** (len(str(needed["b"])) - 2)
    rounded = math.ceil(needed["b"] / unit) * unit
    assert f"about {rounded:,} more people of b are needed" in found.reason
    equal = fit(*draw((30, 30, 30))).certify(1e-6)
    assert len({*dict(equal.needed).values()}) == 1
    assert f"for {', '.join(GROUPS[:-1])} and {GROUPS[-1]}: about" in equal.reason
    assert "more people of each of them are needed" in equal.reason
    more = [n + needed[g] for n, g in zip(PEOPLE, GROUPS, strict=True)]
    assert fit(*draw(tuple(more))).certify(limit).supported
    # If no two people erred at all, half of whose nine pairs err together.
    for n in (round(0.8 * of) for of in more):
        assert -np.log(TAIL) * (1 + 0.5 * 8) > limit * 9 * n * (n - 1) / 2


def test_limits_that_exclude_each_other_are_named(fitted):
    found = fitted.certify(0.004, frr=0.2)
    assert not found.supported and found.threshold > found.threshold_high
    assert "an FMR of 0.4" in found.reason and "an FNMR of 20" in found.reason
    names = re.compile(r"is certain \(for (\w)\)")
    assert names.findall(found.reason) == [
        found.binding_group,
        found.binding_group_high,
    ]
    own = fitted.certify(0.004, frr=0.2, operating_point="group")
    without = own.groups[own.threshold > own.threshold_high]
    assert names.findall(own.reason) == np.repeat(without, 2).tolist()


def copies(m, rng_seed=0):
    """Pairs of independent people of two groups, each person there ``m`` times."""
    rng = np.random.default_rng(rng_seed)
    y = np.repeat(np.arange(80), 10)
    same = np.arange(y.size) % 2 == 0
    # Impostor pairs are of two people of one group, who are in no other.
    scores = rng.normal(size=y.size) + 2.6 * same
    other = np.where(same, y, y + 1000)
    columns = scores, y, other, np.where(y % 2, "a", "b")
    scores, left, right, group = (np.tile(column, m) for column in columns)
    copy = np.repeat(np.arange(m), y.size) * 10_000
    roc = SimilarityROC(far_max=0.5)
    return roc.fit_pairs(scores, left + copy, right + copy, sensitive_features=group)


@pytest.mark.parametrize(
    ("frr", "own", "at_most"),
    [(0.2, False, 1.03), (0.2, True, 1.03), (0.05, False, 1.5)],
)
def test_as_many_people_as_named_decide_about_two_limits(frr, own, at_most):
    """Copies of all people have their rates; more of them certify, or fail, both limits."""

    def certified(m):
        found = copies(m).certify(
            0.1, frr=frr, operating_point="group" if own else "overall"
        )
        kept = np.less_equal(found.threshold, found.threshold_high)
        return found, np.all(kept) or (found.frr_least > frr).any()

    found, is_decided = certified(1)
    assert not is_decided
    counts = [int(n) for n in re.findall(r"about (\d+) more people", found.reason)]
    # People in impostor pairs, of a group or of both.
    factor = 1 + max(counts) / (80 if own else 160)
    assert factor > 1.5
    assert not certified(int(0.97 * factor))[1]
    assert certified(int(np.ceil(at_most * factor)))[1]


def test_limits_that_certainly_exclude_each_other_need_no_more_people(fitted):
    found = fitted.certify(0.001, frr=0.001)
    assert (found.frr_least > 0.001).any() and "would decide" not in found.reason


def test_ends_of_own_thresholds_have_the_level_of_their_bounds(fitted):
    found = fitted.certify(0.03, operating_point="group")
    roc = fitted.by(method="jackknife", confidence_level=1 - 2 * TAIL / 3)
    for place, group in enumerate(GROUPS):
        at = roc.estimate(threshold=found.threshold[place], rate="frr", group=group)
        assert_allclose(
            [found.frr_low[place], found.frr_high[place]], [at.low, at.high]
        )


def test_a_group_without_pairs_is_said():
    X, y, groups = draw()
    groups[y == 0] = "z"
    found = fit(X, y, groups).certify(0.01)
    assert not found.supported
    assert found.reason == "too few impostor pairs within z to certify by"
    assert fit(X, y, groups).certify(0.01, groups=list(GROUPS)).supported


def test_ties_are_accepted_or_rejected_together():
    rng = np.random.default_rng(0)
    left, right = rng.integers(0, 60, (2, 20_000))
    scores = np.round(rng.normal(size=left.size) + 4 * (left == right), 1)
    roc = SimilarityROC().fit_pairs(
        scores, left, right, sensitive_features=["a"] * 20_000
    )
    found = roc.certify(0.01)
    impostor = scores[left != right]
    assert found.far[0] == (impostor >= found.threshold).mean() <= 0.01
    step = impostor[impostor < found.threshold].max()
    assert roc.estimate(threshold=step, rate="far", group="a").value > found.far[0]


def test_independent_pairs_count_as_pairs():
    rng = np.random.default_rng(0)
    y_true = np.arange(2000) % 2
    scores = rng.normal(size=2000) + 4 * y_true
    roc = SimilarityROC().fit_pairs(
        scores, y_true=y_true, sensitive_features=["a"] * 2000
    )
    assert roc.certify(0.02).far_high <= 0.02
    found = roc.certify(1e-4)
    assert dict(found.needed)["a"] == np.ceil(-np.log(TAIL) / 1e-4) - 1000
    assert "more pairs of a" in found.reason


def test_pairs_that_are_not_held_are_asked_for(monkeypatch):
    from skfairfr._core import _pairs

    monkeypatch.setattr(_pairs, "WHOLE", 1000)
    monkeypatch.setattr(_pairs, "WHOLE_GROUP", 1000)
    roc = fit(*draw((70, 70), 4), far_max=1e-3)
    assert roc.certify(1e-3).supported
    with pytest.raises(ValueError, match=r"fit with far_max=0\.2 or more"):
        roc.certify(0.2)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"far": 0}, "far must be a number in"),
        ({"far": 0.1, "frr": 2}, "frr must be a number in"),
        ({"far": 0.1, "confidence_level": 1}, "confidence_level must be"),
        ({"far": 0.1, "groups": ["d"]}, "'d' is not a group"),
        ({"far": 0.1, "operating_point": "worst_group"}, "operating_point must be"),
    ],
)
def test_arguments_are_checked(fitted, options, words):
    with pytest.raises(ValueError, match=words):
        fitted.certify(**options)


def test_groups_are_needed():
    X, y, _ = draw()
    with pytest.raises(ValueError, match="certify needs groups"):
        SimilarityROC().fit(X, y).certify(0.01)


def test_group_thresholds_take_those_of_a_certificate():
    X, y, groups = draw()
    found = fit(X, y, groups).certify(0.03, operating_point="group")
    thresholds = dict(zip(found.groups.tolist(), found.threshold.tolist(), strict=True))
    scores = GroupThresholds(thresholds=thresholds).fit(X, y, groups)
    assert scores.threshold_ == max(thresholds.values())
    within = fit(X, y, groups, similarity=scores)
    for group, far in zip(GROUPS, found.far, strict=True):
        at = within.estimate(threshold=0.0, rate="far", group=group).value
        assert at == pytest.approx(
            far, abs=2e-4
        )  # a score of zero may round either way
    del thresholds["b"]
    with pytest.raises(ValueError, match=r"none for the groups \['b'\]"):
        GroupThresholds(thresholds=thresholds).fit(X, y, groups)
