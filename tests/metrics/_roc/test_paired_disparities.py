"""Two systems' disparities: their covariance by loops over pairs, and what is told of them."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skfairfr.metrics import SimilarityROC
from skfairfr.metrics._roc import _paired
from skfairfr.report import EmbeddingData, PairData, compare_systems
from tests.oracles.pairs import without_each

SIZES = (15, 20)
GROUP = np.repeat([0, 1], SIZES)


def listed(rng, group=GROUP, noise=(0.6, 0.6)):
    """People of pairs within groups, and the scores of two systems that share some errors."""
    ends = []
    for person, of in enumerate(group):
        ends += [(person, person)] * 3
        # As many pairs of everyone: with the next six of the group.
        members = np.flatnonzero(group == of)
        place = np.searchsorted(members, person)
        ends += [(person, np.roll(members, -place)[k]) for k in range(1, 7)]
    left, right = np.array(ends).T
    common = rng.normal(size=left.size) + 1.5 * (left == right)
    # The larger its code, the noisier a group is where the two differ.
    noisy = np.where(group > 0, *noise[::-1])[left], np.full(left.size, noise[0])
    return left, right, [common + n * rng.normal(size=left.size) for n in noisy]


def summed(left, right, wrong, n_people):
    """What each person, and every two, add to the logarithm of a rate; and its errors."""
    together, errors = np.zeros((n_people, n_people)), wrong.sum()
    for one, other, is_wrong in zip(left, right, wrong, strict=True):
        if one != other:
            together[min(one, other), max(one, other)] += is_wrong / errors
    ends = [(left,), (left, right)][int((left != right).all())]
    of_people = (
        sum(np.bincount(end, weight, n_people) for end in ends)
        for weight in (wrong, np.ones(wrong.size))
    )
    return without_each(*of_people, len(ends)), together.ravel(), errors


@pytest.mark.parametrize("rate", ["far", "frr"])
@pytest.mark.parametrize("asked", [{"threshold": 0.5}, {"far": 0.2}])
def test_spread_of_contrasts_is_that_of_loops(rate, asked, monkeypatch):
    left, right, scores = listed(np.random.default_rng(0))
    fits = [
        SimilarityROC(n_resamples=2, random_state=0).fit_pairs(
            s, left, right, **_groups(left, right)
        )
        for s in scores
    ]
    engines = [roc._engine for roc in fits]
    question = fits[0]._engine.question(
        asked.get("far"), asked.get("threshold"), rate, None, "max_min", "overall"
    )
    found, weights = [], np.random.default_rng(1).standard_normal((5, 4))

    def kept(compared, blocks, tail):
        found.append(compared(weights))
        return 1.0, 1.0, 1.0

    monkeypatch.setattr(_paired, "disparity_ratio", kept)
    _paired.compare_disparities(engines, (question,) * 2, np.ones(1))

    people, clusters, single, logs, impostor = [], [], [], [], left != right
    for engine, s in zip(engines, scores, strict=True):
        evidence = engine.evidence(question)
        for place, (group, _) in enumerate(evidence.scopes):
            at, slope = evidence.thresholds[0, place], evidence.slope[0, place]
            rows = (GROUP[left] == group) & (impostor if rate == "far" else ~impostor)
            wrong = (s >= at) == (rate == "far")
            influence, together, errors = summed(
                left[rows], right[rows], wrong[rows], GROUP.size
            )
            # The threshold is set by the impostor pairs of everyone.
            of_far, clusters_of_far, _ = summed(
                left[impostor], right[impostor], s[impostor] >= at, GROUP.size
            )
            people.append(influence - slope * of_far)
            clusters.append(together - slope * clusters_of_far)
            single.append(1 / errors)
            logs.append(np.log(wrong[rows].mean()))
    assert ("far" in asked) == (evidence.slope != 0).any()
    for k, w in enumerate(weights):
        own, shared = w @ np.array(people), w @ np.array(clusters)
        variance = max((own**2).sum() - (shared**2).sum(), (shared**2).sum())
        variance += (w**2 * np.square(single)).sum()
        n = min(SIZES)
        rest = ((own**4).sum() - (shared**4).sum()) / variance**2 - 1 / n
        freedom = min(max(2 / max(rest, 1e-9), 1.0), n - 1)
        assert_allclose(found[0].value[k], w @ logs)
        assert_allclose(found[0].error[k], np.sqrt(variance))
        assert_allclose(found[0].freedom[k], freedom, rtol=1e-6)


def _groups(left, right):
    return {"sensitive_features_1": GROUP[left], "sensitive_features_2": GROUP[right]}


def fitted(rng, n_groups, **options):
    """Fits of two systems on the same pairs; the first group errs more in the second."""
    group = np.repeat(np.arange(n_groups), 30)
    left, right, scores = listed(rng, group, (rng.uniform(0.3, 6), 0.5))
    options = {"n_resamples": 2, "random_state": 0, "far_max": 0.3} | options
    groups = {f"sensitive_features_{k}": group[e] for k, e in ((1, left), (2, right))}
    return [
        SimilarityROC(**options).fit_pairs(s, left, right, **groups) for s in scores
    ]


def test_p_values_and_both_intervals_agree():
    rng, excluded = np.random.default_rng(1), []
    asked = [{"threshold": [-0.5, 0.5]}, {"far": [0.2]}]
    for n_groups in [2, 3, 4] * 2:
        first, second = fitted(rng, n_groups, method="jackknife")
        for about, how in product(asked, ("max_min", "max_geomean")):
            found = first.compare(second, **about, how=how)
            told = (found.ratio_low > 1) | (found.ratio_high < 1)
            assert_array_equal(told, (found.low > 0) | (found.high < 0))
            assert_array_equal(told, found.p_value < 0.05)
            assert (found.ratio_low <= found.ratio).all()
            assert (found.ratio <= found.ratio_high).all()
            assert (found.low <= found.difference).all()
            assert (found.difference <= found.high).all()
            back = second.compare(first, **about, how=how)
            assert_allclose([back.low, back.p_value], [-found.high, found.p_value])
            excluded += told.tolist()
    assert 4 <= sum(excluded) < len(excluded)


@pytest.mark.slow
def test_p_values_and_both_intervals_of_replicates_agree():
    """Also where an end lies between two replicates, one on either side of alike."""
    rng, excluded = np.random.default_rng(0), []
    for n_resamples in (60, 100, 150):
        first, second = fitted(rng, 2, n_resamples=n_resamples)
        for rate, how in product(("far", "frr"), ("max_min", "gini")):
            asked = {"threshold": np.linspace(-1.5, 2, 60), "rate": rate, "how": how}
            found = first.compare(second, **asked)
            told = (found.low > 0) | (found.high < 0)
            assert_array_equal(told, found.p_value < 0.05)
            assert not ((found.ratio_low > 1) | (found.ratio_high < 1))[~told].any()
            excluded += told.tolist()
    assert 20 <= sum(excluded) < len(excluded)


def embeddings(rng):
    """Two systems' embeddings of people of three groups."""
    y = np.repeat(np.arange(60), 4)
    X = rng.standard_normal((60, 16))[y] + 0.8 * rng.standard_normal((y.size, 16))
    noise = 0.4 * rng.standard_normal((2, *X.shape))
    return [EmbeddingData(X + own, y, {"g": y % 3}) for own in noise]


def scored_pairs(rng):
    group = np.repeat(np.arange(3), 30)
    left, right, scores = listed(rng, group, (1.5, 0.5))
    groups = {"g": (group[left], group[right])}
    return [PairData(s, (left, right), groups) for s in scores]


@pytest.mark.parametrize("drawn", [embeddings, scored_pairs])
def test_a_comparison_of_systems_says_the_same(drawn):
    data, far = drawn(np.random.default_rng(2)), [0.1, 0.02]
    told = compare_systems(*data, far=far).disparities
    options = {"n_resamples": 20, "random_state": 0, "far_max": max(far)}
    before, after = (one.fit(SimilarityROC(**options), ("g",)) for one in data)
    for rate in ("far", "frr"):
        found = after.compare(before, far, rate=rate, how="max_min")
        for place, change in enumerate([c for c in told if c.rate == rate]):
            own = found.ratio, found.ratio_low, found.ratio_high, found.p_value
            theirs = change.ratio, change.ratio_low, change.ratio_high, change.p_value
            assert_array_equal([numbers[place] for numbers in own], theirs)
    assert len(told) == 4


@pytest.mark.parametrize(
    ("n_groups", "resample", "alike"),
    [(2, "identities", True), (3, "identities", True), (3, "images", False)],
)
def test_groups_are_compared_alike_by_all_methods(n_groups, resample, alike):
    """But other photographs of these people are resampled."""
    rng = np.random.default_rng(3)
    y = np.repeat(np.arange(60), 3)
    X = rng.standard_normal((2, y.size, 8)) + 2 * rng.standard_normal((60, 8))[y]
    rocs = [SimilarityROC(n_resamples=20, random_state=0) for _ in X]
    first, second = (
        roc.fit(x, y, y % n_groups) for roc, x in zip(rocs, X, strict=True)
    )
    analytic = first.by(method="jackknife").compare(second, 0.1, how="max_min")
    found = first.by(resample=resample).compare(second, 0.1, how="max_min")
    assert (vars(found) == vars(analytic)) == alike


@pytest.mark.parametrize("method", ["recentered", "jackknife"])
def test_a_gini_coefficient_of_many_groups_has_no_interval(method):
    """It is no largest contrast, and its replicates are too large by chance."""
    for n_groups, known in ((2, True), (3, False)):
        first, second = fitted(np.random.default_rng(5), n_groups, method=method)
        found = first.compare(second, threshold=0.5, how="gini")
        ends = found.low, found.high, found.ratio_low, found.ratio_high, found.p_value
        assert (np.isnan(ends) != known).all() and np.isfinite(found.difference)


def test_a_ratio_of_two_groups_is_one_contrast():
    first, second = fitted(np.random.default_rng(6), 3)
    found = first.compare(second, threshold=0.5, how=("ratio", 2, 0))
    back = first.compare(second, threshold=0.5, how=("ratio", 0, 2))
    ends = 1 / back.ratio_high, 1 / back.ratio_low
    assert_allclose((found.ratio_low, found.ratio_high), ends)
    assert found.p_value == pytest.approx(back.p_value)


def test_one_person_of_a_group_shows_nothing():
    rng = np.random.default_rng(4)
    y = np.repeat(np.arange(21), 4)
    X = rng.standard_normal((2, y.size, 8))
    first, second = (
        SimilarityROC(n_resamples=2).fit(x, y, np.minimum(y // 10, 2)) for x in X
    )
    found = first.compare(second, threshold=0.3, how="max_min")
    assert np.isnan(found.p_value)
    assert (found.ratio_low, found.ratio_high) == (0, np.inf)


@pytest.mark.parametrize("method", ["multiplicative", "jackknife"])
def test_groups_without_a_genuine_pair_have_no_disparity_to_compare(method):
    """The two images of each person are in two of three groups."""
    rng = np.random.default_rng(4)
    y = np.repeat(np.arange(30), 2)
    group = (y + np.tile([0, 1], 30)) % 3
    first, second = (
        SimilarityROC(method=method, resample="identities", n_resamples=2).fit(
            rng.standard_normal((60, 8)), y, group
        )
        for _ in range(2)
    )
    with pytest.warns(UserWarning, match="genuine"):
        found = first.compare(second, 0.1, rate="frr", how="max_min")
    assert np.isnan(found.p_value) and np.isnan(found.ratio)
