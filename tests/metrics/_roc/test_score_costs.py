"""Facts of detection costs, Cllr and the area under the curve, with their intervals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import roc_auc_score

from skfairfr import SimilarityROC, make_face_embeddings
from skfairfr._core._rates import DISPARITIES
from skfairfr._core._resampling import draw
from skfairfr._core._score_costs import ScoreCost, binned_ratios, cost_table
from skfairfr.metrics import all_pairs, cllr, detection_cost, min_cllr
from skfairfr.metrics._roc._estimates import _ends_of_largest

OF_PAIRS = {
    "dcf": detection_cost,
    "cllr": cllr,
    "min_cllr": min_cllr,
    "auc": roc_auc_score,
}
N_RESAMPLES = 20


@pytest.fixture(scope="module")
def faces():
    return make_face_embeddings(40, (2, 4), 16, kappa=40.0, random_state=1)


@pytest.fixture(scope="module")
def pairs(faces):
    """All pairs: kind, score, groups and people of both images."""
    first, second = np.triu_indices(len(faces.y), 1)
    similarity = (faces.X[first] * faces.X[second]).sum(axis=1)
    people = faces.y[first], faces.y[second]
    groups = faces.sensitive_features[first], faces.sensitive_features[second]
    return (people[0] == people[1]).astype(int), similarity, groups, people


@pytest.fixture(scope="module", params=["embeddings", "list"])
def roc(request, faces, pairs):
    made = SimilarityROC(n_resamples=N_RESAMPLES, random_state=0)
    if request.param == "embeddings":
        return made.fit(faces.X, faces.y, faces.sensitive_features)
    _, score, groups, people = pairs
    sides = {f"sensitive_features_{k}": of for k, of in enumerate(groups, 1)}
    return made.fit_pairs(score, *people, **sides)


@pytest.mark.parametrize("rate", OF_PAIRS)
def test_values_are_those_of_the_functions_of_pairs(roc, pairs, rate):
    y_true, score, (one, other), _ = pairs
    assert_allclose(
        roc.estimate(rate=rate).value, OF_PAIRS[rate](y_true, score), rtol=1e-6
    )
    of_group = {}
    for group in roc.groups_:
        own = (one == group) & (other == group)
        of_group[group] = OF_PAIRS[rate](y_true[own], score[own])
        found = roc.estimate(rate=rate, group=group)
        assert_allclose(found.value, of_group[group], rtol=1e-6)
        assert found.low <= found.value <= found.high
    ratio = roc.estimate(rate=rate, how=("ratio", "female", "male"))
    assert_allclose(ratio.value, of_group["male"] / of_group["female"], rtol=1e-6)
    assert ratio.low < ratio.value < ratio.high
    largest = roc.estimate(rate=rate, how="max_min")
    assert_allclose(largest.value, max(ratio.value, 1 / ratio.value), rtol=1e-6)
    assert 1 <= largest.low <= largest.value < largest.high
    apart = roc.estimate(rate=rate, how="difference")
    assert_allclose(apart.value, np.ptp([*of_group.values()]), rtol=1e-6)
    assert 0 <= apart.low <= apart.value < apart.high
    assert np.isnan(roc.estimate(rate=rate, how="gini").low)


@pytest.mark.parametrize("threshold", [0.3, 0.55])
def test_the_actual_cost_is_that_at_the_threshold(roc, pairs, threshold):
    y_true, score, *_ = pairs
    options = {"p_target": 0.1, "threshold": threshold}
    found = roc.estimate(rate="dcf", **options)
    assert_allclose(found.value, detection_cost(y_true, score, **options))
    assert found.low < found.value < found.high


def by_hand(rate, y_true, score, weight):
    """A cost of weighted pairs."""
    share = weight / np.bincount(y_true, weight)[y_true]
    if rate == "auc":
        return roc_auc_score(y_true, score, sample_weight=share)
    if rate == "cllr":
        return (share * np.logaddexp(0, np.where(y_true, -1, 1) * score)).sum() / (
            2 * np.log(2)
        )
    if rate == "dcf":
        accepted = score >= np.append(np.unique(score[y_true == 1]), np.inf)[:, None]
        far = (accepted * share * (y_true == 0)).sum(axis=1)
        frr = (~accepted * share * (y_true == 1)).sum(axis=1)
        return (0.01 * frr + 0.99 * far).min() / 0.01
    isotonic = IsotonicRegression(y_min=0, y_max=1).fit(score, y_true, share)
    posterior = isotonic.predict(score)
    right = np.where(y_true == 1, posterior, 1 - posterior)
    return (
        -(share * np.log2(right, where=share > 0, out=np.zeros(len(share)))).sum() / 2
    )


@pytest.mark.parametrize("rate", OF_PAIRS)
def test_replicates_are_costs_of_pairs_weighed_by_people(roc, pairs, rate):
    y_true, score, _, people = pairs
    engine = roc._engine
    table = cost_table(engine.pairs, None, ScoreCost(rate, 0.01), engine.resampling)
    asked = ("identities", engine.resampling.entropy, 0, N_RESAMPLES)
    drawn = draw(engine.pairs.images, *asked).identity.astype(float)
    for r in range(N_RESAMPLES):
        one, other = (drawn[side, r] for side in people)
        weight = np.where(y_true == 1, one, one * other)
        expected = by_hand(rate, y_true, score, weight)
        assert_allclose(table.replicates[0, r], expected, rtol=1e-5)


@pytest.mark.parametrize("rate", OF_PAIRS)
def test_intervals_are_basic_ones_of_logarithms(roc, rate):
    engine, found = roc._engine, roc.estimate(rate=rate)
    table = cost_table(engine.pairs, None, ScoreCost(rate, 0.01), engine.resampling)
    drawn, value = table.replicates[0], table.value[0]
    if rate == "auc":
        drawn, value = 1 - drawn, 1 - value
    if rate == "min_cllr":  # the map overfits more than resamples show
        drawn = drawn * (np.median(drawn) / value) ** (1 / (2 ** (2 / 3) - 1) - 1)
    ends = np.exp(2 * np.log(value) - np.quantile(np.log(drawn), [0.975, 0.025]))
    least, most = (0, np.inf if rate == "cllr" else 1)
    ends = 1 - ends[::-1] if rate == "auc" else ends
    ends = np.clip(ends, least, most)
    # Quantiles are interpolated there between ratios, here between logarithms.
    assert_allclose([found.low, found.high], ends, atol=0.02 * np.ptp(ends))


@pytest.mark.parametrize(
    ("options", "same"),
    [
        ({"rate": "min_dcf", "p_target": 0.1}, {"rate": "dcf", "p_target": 0.1}),
        (
            {"rate": "dcf", "p_target": 0.4, "threshold": "bayes"},
            {"rate": "dcf", "p_target": 0.4, "threshold": np.log(1.5)},
        ),
    ],
)
def test_names_of_detection_costs_agree_with_their_thresholds(roc, options, same):
    found, expected = roc.estimate(**options), roc.estimate(**same)
    assert (found.value, found.low) == (expected.value, expected.low)


@pytest.mark.parametrize("max_far", [1e-4, 0.003, 0.1, 0.999])
@pytest.mark.parametrize("digits", [1, 2, 7])
def test_partial_areas_are_those_of_scikit_learn(pairs, max_far, digits):
    y_true, score, _, people = pairs
    score = np.round(score, digits)
    roc = SimilarityROC(n_resamples=N_RESAMPLES, random_state=0)
    found = roc.fit_pairs(score, *people).estimate(rate="auc", max_far=max_far)
    assert_allclose(found.value, roc_auc_score(y_true, score, max_fpr=max_far))
    assert found.low < found.value < found.high
    engine = roc._engine
    cost = ScoreCost("auc", 0.5, None, max_far)
    table = cost_table(engine.pairs, None, cost, engine.resampling)
    asked = ("identities", engine.resampling.entropy, 0, 1)
    (drawn,) = draw(engine.pairs.images, *asked).identity.T.astype(float)
    one, other = (drawn[side] for side in people)
    weight = np.where(y_true == 1, one, one * other)
    options = {"sample_weight": weight, "max_fpr": max_far}
    assert_allclose(table.replicates[0, 0], roc_auc_score(y_true, score, **options))


def largest_by_hand(value, drawn, in_rates):
    """Ends of the largest difference of two of some groups, one contrast at a time."""
    if not in_rates:
        value, drawn = np.log(value), np.log(drawn)
    moved = {
        (g, h): (drawn[g] - drawn[h]) - (value[g] - value[h])
        for g in range(len(value))
        for h in range(len(value))
        if g != h
    }
    ranks = [np.argsort(np.argsort(m)) for m in moved.values()]
    share = np.quantile(np.max(ranks, axis=0), 0.95) / (drawn.shape[1] - 1)
    apart = {(g, h): value[g] - value[h] for g, h in moved}
    low = max(apart[of] - np.quantile(m, share) for of, m in moved.items())
    high = max(apart[of] - np.quantile(m, 0.025) for of, m in moved.items())
    low, high = (low, high) if in_rates else (np.exp(low), np.exp(high))
    return max(low, 0.0 if in_rates else 1.0), high


@pytest.mark.parametrize("how", ["max_min", "difference"])
@pytest.mark.parametrize("spread", [0.0, 1.5])
def test_ends_of_the_largest_contrast_are_those_of_all_contrasts(how, spread):
    rng = np.random.default_rng(0)
    value = np.exp(spread * np.arange(4) + 0.1 * rng.normal(size=4))
    drawn = value[:, None] * np.exp(0.2 * rng.normal(size=(4, 400)) - 0.1)
    found = _ends_of_largest(DISPARITIES[how], value, drawn, 0.95)
    expected = largest_by_hand(value, drawn, how == "difference")
    assert_allclose(np.ravel(found), expected)


def test_two_groups_have_the_interval_of_their_ratio(roc):
    ratio, largest = (
        roc.by(n_resamples=999).estimate(rate="dcf", how=how)
        for how in (("ratio", "male", "female"), "max_min")
    )
    assert ratio.value > 1
    # Quantiles are interpolated there between ratios, and here between logarithms.
    high = max(ratio.high, 1 / ratio.low)
    assert_allclose([largest.low, largest.high], [max(ratio.low, 1), high], rtol=0.01)


@pytest.mark.parametrize(
    "asked",
    [
        {"rate": "min_dcf", "p_target": 0.1},
        {"rate": "min_cllr", "group": "female"},
        {"rate": "auc", "max_far": 0.1},
        {"rate": "dcf", "threshold": 0.5, "how": ("ratio", "male", "female")},
    ],
)
def test_costs_of_two_systems_are_compared_in_the_same_resamples(faces, asked):
    rng = np.random.default_rng(0)
    noisy = faces.X + rng.normal(0, 0.1, faces.X.shape)
    fits = [
        SimilarityROC(n_resamples=99, random_state=seed).fit(
            X, faces.y, faces.sensitive_features
        )
        for X, seed in ((noisy, 0), (faces.X, 1))
    ]
    found = fits[0].compare(fits[1], **asked)
    same = SimilarityROC(n_resamples=99, random_state=0)
    fits[1] = same.fit(faces.X, faces.y, faces.sensitive_features)
    one, other = (roc.estimate(**asked) for roc in fits)
    assert_allclose(found.difference, one.value - other.value)
    assert_allclose(found.ratio, one.value / other.value)
    replicates = [
        roc._engine.score_cost(*roc._question_of_cost(*question_of(asked))).adjusted
        for roc in fits
    ]
    ends = np.quantile(replicates[0] - replicates[1], [0.025, 0.975])
    assert_allclose([found.low, found.high], ends)
    assert (found.low > 0 or found.high < 0) == (found.p_value < 0.05)


def question_of(asked):
    """The arguments of an estimate of a cost, by position."""
    given = {"p_target": 0.01, "operating_point": "overall"} | asked
    names = ("rate", "p_target", "max_far", "far", "threshold", "group", "how")
    return [given.get(name) for name in (*names, "operating_point")]


def test_disparities_of_costs_of_two_systems_are_not_compared(roc):
    with pytest.raises(ValueError, match="must be None or a ratio"):
        roc.compare(roc, rate="cllr", how="max_min")


def test_people_weigh_the_same_if_asked(pairs):
    y_true, score, _, people = pairs
    roc = SimilarityROC(average="identity", n_resamples=2, random_state=0)
    roc.fit_pairs(score, *people)
    key = np.minimum(*people) * 1000 + np.maximum(*people)
    _, place, n = np.unique(key, return_inverse=True, return_counts=True)
    for rate in OF_PAIRS:
        expected = by_hand(rate, y_true, score, 1 / n[place])
        assert_allclose(roc.estimate(rate=rate).value, expected, rtol=1e-5)


def test_a_sample_of_impostors_stands_for_all_of_them(monkeypatch):
    monkeypatch.setattr("skfairfr._core._pairs.WHOLE", 2**10)
    faces = make_face_embeddings(200, 3, 16, kappa=60.0, random_state=0)
    roc = SimilarityROC(n_resamples=2, random_state=0).fit(faces.X, faces.y)
    y_true, score, _ = all_pairs(faces.X, faces.y)
    for rate, tolerance in {"cllr": 1e-3, "min_cllr": 1e-2, "auc": 1e-3}.items():
        found = roc.estimate(rate=rate)
        expected = OF_PAIRS[rate](y_true, score)
        assert_allclose(found.value, expected, rtol=tolerance)
        assert "from a uniform sample of impostor pairs" in found.reason
    first, second = np.triu_indices(len(faces.y), 1)
    whole = SimilarityROC(n_resamples=2, random_state=0)
    whole.fit_pairs(
        (faces.X[first] * faces.X[second]).sum(axis=1), faces.y[first], faces.y[second]
    )
    found, expected = (
        binned_ratios(one._engine.pairs, None, 4, one._engine.resampling)[:2]
        for one in (roc, whole)
    )
    assert not roc._engine.pairs.impostors(None).complete
    assert_allclose(found, expected, atol=0.1)
    exact = roc.estimate(rate="dcf", threshold=0.8)
    assert_allclose(
        exact.value, detection_cost(y_true, score, threshold=0.8), rtol=1e-6
    )


def bins_by_hand(y_true, score, weight, share, n_half):
    """Stated and observed log-likelihood ratios, in bins found by a loop over thresholds."""
    own = np.append(np.unique(score[y_true == 1]), np.inf)
    far = [share[(y_true == 0) & (score >= t)].sum() for t in own]
    frr = [share[(y_true == 1) & (score < t)].sum() for t in own]
    middle = next(k for k, _ in enumerate(own) if frr[k] >= far[k])
    edges = [-np.inf]
    for j in range(1, n_half):
        level = j / n_half * frr[middle]
        edges.append(next(t for t, rate in zip(own, frr, strict=True) if rate >= level))
    edges.append(own[middle])
    for j in range(n_half - 1, 0, -1):
        level = j / n_half * far[middle]
        edges.append(next(t for t, rate in zip(own, far, strict=True) if rate <= level))
    stated, observed = [], []
    for low, high in zip(edges, [*edges[1:], np.inf], strict=True):
        odds = kinds = np.zeros(2)
        for kind, s, w, v in zip(y_true, score, share, weight, strict=True):
            if low <= s < high:
                chance = 1 / (1 + np.exp(-s))
                odds = odds + w * np.array([chance, 1 - chance])
                kinds = kinds + v * np.array([kind, 1 - kind])
        stated.append(np.log(odds[0] / odds[1]))
        with np.errstate(divide="ignore"):
            observed.append(np.log(kinds[0]) - np.log(kinds[1]))
    return stated, observed


@pytest.mark.parametrize("n_bins", [2, 6])
def test_bins_of_ratios_are_those_of_a_loop(roc, pairs, n_bins):
    y_true, score, _, people = pairs
    engine = roc._engine
    stated, observed, replicates = binned_ratios(
        engine.pairs, None, n_bins, engine.resampling
    )
    asked = ("identities", engine.resampling.entropy, 0, N_RESAMPLES)
    drawn = draw(engine.pairs.images, *asked).identity.astype(float)
    share = 1 / np.bincount(y_true)[y_true]
    for r in (None, 0, N_RESAMPLES - 1):
        weight = share
        if r is not None:
            one, other = (drawn[side, r] for side in people)
            weight = np.where(y_true == 1, one, one * other)
            weight = weight / np.bincount(y_true, weight)[y_true]
        expected = bins_by_hand(y_true, score, weight, share, n_bins // 2)
        of = observed if r is None else replicates[:, r]
        assert_allclose(stated, expected[0], rtol=1e-6)
        assert_allclose(of, expected[1], rtol=1e-9, atol=1e-12)


def test_a_group_without_genuine_pairs_has_none():
    faces = make_face_embeddings(40, 2, 8, random_state=0)
    group = np.where(faces.y == 0, "one", "rest")
    roc = SimilarityROC(n_resamples=5, random_state=0).fit(faces.X, faces.y, group)
    with pytest.warns(UndefinedMetricWarning, match="the detection cost is undefined"):
        found = roc.estimate(rate="dcf", group="one")
    assert np.isnan(found.value) and not found.supported
    only = roc.estimate(rate="auc", how="max_min")
    assert np.isnan(only.value) and "group" in only.reason


def test_costs_are_for_other_people(roc):
    with pytest.raises(ValueError, match="resample must be 'identities'"):
        roc.by(resample="images").estimate(rate="cllr")
