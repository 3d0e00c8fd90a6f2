"""Two systems compared by people's influences: leave-one-out, loops, and the null."""

from functools import cache
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skfairfr import SimilarityROC
from skfairfr._core._jackknife import ends_of
from skfairfr.metrics._roc._evidence import place_of

LEVELS = [1e-3, 1e-2, 1e-1]
QUESTIONS = [
    {"rate": "frr"},
    {"rate": "frr", "group": 1},
    {"rate": "far", "group": 0},
    {"rate": "far", "group": (0, 1)},
]


def systems(seed, n_people=40, noise=(0.7, 0.7), images=(2, 6), n_features=24):
    """Two systems that share half of the noise of their images, and whose they are."""
    rng = np.random.default_rng(seed)
    n_images = rng.integers(*images, n_people, endpoint=True)
    y = np.repeat(np.arange(n_people), n_images)
    centre = rng.standard_normal((n_people, n_features))
    own = np.exp(0.3 * rng.standard_normal(n_people))[y, None]
    shaken = rng.standard_normal((3, y.size, n_features)) / np.sqrt(2)
    return [
        centre[y] + size * own * (shaken[0] + part)
        for part, size in zip(shaken[1:], noise, strict=True)
    ], y


def fitted(X, y, **options):
    options = {"resample": "identities", "n_resamples": 2, "random_state": 0} | options
    return SimilarityROC(**options).fit(X, y, y % 2)


@pytest.fixture(scope="module")
def rocs():
    X, y = systems(0)
    return [fitted(rows, y) for rows in X]


def influence_of(roc, threshold, rate, group):
    """Of each person on a rate at a given threshold, which a comparison rests on."""
    engine = roc._engine
    question = engine.question(None, threshold, rate, group, None, "overall")
    evidence = engine.evidence(question)
    place = place_of(evidence, question.scope)
    return evidence.sums.rate[0, place] * evidence.with_threshold(place)[0]


@pytest.mark.parametrize(("rate", "group"), list(product(("far", "frr"), (None, 1))))
def test_influences_are_what_the_rates_change_by_without_a_person(rate, group):
    """Influences are what both rates, and so their difference, lose without each person."""
    X, y = systems(1, n_people=12)
    threshold = 0.35
    one, other = (influence_of(fitted(x, y), threshold, rate, group) for x in X)
    who = np.unique(y) if group is None else np.unique(y[y % 2 == group])

    def counts(rows, kept):
        unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        left, right = np.triu_indices(y.size, 1)
        same = y[left] == y[right]
        inside = np.isin(y[left], kept) & np.isin(y[right], kept)
        inside &= same if rate == "frr" else ~same
        accepted = (unit[left] * unit[right]).sum(axis=1) >= threshold
        errors = ~accepted if rate == "frr" else accepted
        return (errors & inside).sum(), inside.sum()

    without = np.array(
        [
            np.subtract(
                *(e / n for e, n in (counts(rows, who[who != k]) for rows in X))
            )
            for k in who
        ]
    )
    expected = (without.mean() - without) * np.sqrt(1 - 1 / who.size)
    assert_allclose((one - other)[who], expected, atol=1e-12)


def of_every_two(X, y, threshold, rate, groups):
    """Errors and pairs of every two people of some groups, (n, n), upper triangles."""
    n = y.max() + 1
    errors, pairs = np.zeros((2, n, n))
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    for i in range(y.size):
        for j in range(i):
            if (y[i] == y[j]) != (rate == "frr"):
                continue
            if groups is not None and sorted((y[i] % 2, y[j] % 2)) != groups:
                continue
            cell = min(y[i], y[j]), max(y[i], y[j])
            pairs[cell] += 1
            errors[cell] += (unit[i] @ unit[j] >= threshold) == (rate == "far")
    return errors, pairs


@pytest.mark.parametrize(
    ("rate", "groups", "asked"),
    [
        ("frr", None, {"far": 0.1}),
        ("frr", [0, 0], {"far": 0.1}),
        ("far", [0, 0], {"far": 0.1}),
        ("far", [0, 1], {"far": 0.1}),
        ("far", None, {"threshold": 0.3}),
        ("frr", [0, 0], {"threshold": 0.3}),
    ],
)
def test_every_two_people_count_once(rate, groups, asked):
    """Two people add a deviation, of a rate and of the FAR that sets its threshold."""
    X, y = systems(7, n_people=16, noise=(1.2, 1.4))
    rocs, n = [fitted(rows, y) for rows in X], 16
    group = groups and (0 if groups == [0, 0] else (0, 1))
    found = rocs[0].compare(rocs[1], **asked, rate=rate, group=group)
    people, two, value = np.zeros(n), np.zeros((n, n)), 0.0
    for sign, rows, roc in zip((1, -1), X, rocs, strict=True):
        engine = roc._engine
        of_levels = asked.get("far"), asked.get("threshold")
        question = engine.question(*of_levels, rate, group, None, "overall")
        evidence = engine.evidence(question)
        place = place_of(evidence, question.scope)
        at = float(evidence.thresholds[0, place])
        own = of_every_two(rows, y, at, rate, groups)
        setter = of_every_two(rows, y, at, "far", None)
        slope, r = evidence.slope[0, place], own[0].sum() / own[1].sum()
        for weight, (e, c), of_far in (
            (r, own, rate == "far"),
            (-slope * r, setter, True),
        ):
            with_someone = (c + c.T).any(axis=0)
            without = np.full(n, np.nan)
            for k in np.flatnonzero(with_someone):
                kept = np.arange(n) != k
                without[k] = e[kept][:, kept].sum() / c[kept][:, kept].sum()
            lost = (np.nanmean(without) - without) / (e.sum() / c.sum())
            lost *= np.sqrt(1 - 1 / with_someone.sum())
            people += sign * weight * np.nan_to_num(lost)
            if of_far:
                two += sign * weight * (e / e.sum() - c / c.sum())
        assert (slope != 0) == ("far" in asked)
        value += sign * r
    n_pairs = own[1].sum()
    share = (own[1].sum(axis=0) + own[1].sum(axis=1)) / n_pairs
    share /= 1 + (rate == "frr")
    squares, cubes, fourths = ((people**p).sum() - (two**p).sum() for p in (2, 3, 4))
    variance = max(squares, (two**2).sum()) + 2 / n_pairs**2
    effective = share.sum() ** 2 / (share**2).sum()
    rest = fourths / variance**2 - 1 / n_pairs**2 / variance - 1 / effective
    freedom = 2 / max(rest, 1e-9)
    expected = ends_of(
        *(value, variance, np.clip(cubes / variance**1.5, -1, 1)),
        *(np.clip(freedom, 1, effective - 1), 0.025),
    )
    assert_allclose([found.low, found.high], expected, rtol=1e-6)


@cache
def fitted_of_seed(seed):
    X, y = systems(seed, noise=(0.7, 0.8))
    return [fitted(rows, y) for rows in X]


@pytest.mark.parametrize("asked", QUESTIONS)
def test_intervals_and_p_values_agree(asked):
    seen = set()
    for seed in range(4):
        first, second = fitted_of_seed(seed)
        found = first.compare(second, LEVELS, **asked)
        excluded = (found.low > 0) | (found.high < 0)
        assert_array_equal(excluded, found.p_value < 0.05)
        known = ~np.isnan(found.ratio)
        excluded_1 = (found.ratio_low > 1) | (found.ratio_high < 1)
        assert_array_equal(excluded_1[known], excluded[known])
        assert (found.ratio_low <= found.ratio)[known].all()
        assert (found.ratio <= found.ratio_high)[known].all()
        seen |= set(excluded)
    assert False in seen


def test_method_and_order_do_not_matter(rocs):
    asked = {"far": LEVELS, "rate": "frr"}
    one = rocs[0].compare(rocs[1], **asked)
    wilson = rocs[0].by(method="jackknife").compare(rocs[1], **asked)
    back = rocs[1].compare(rocs[0], **asked)
    assert_allclose(one.p_value, wilson.p_value)
    assert_allclose(one.p_value, back.p_value)
    assert_allclose(one.low, -back.high)
    with np.errstate(divide="ignore"):
        assert_allclose(one.ratio_low, 1 / back.ratio_high)
    turned = rocs[0].compare(rocs[1], LEVELS[::-1])
    assert_allclose(turned.p_value, one.p_value[::-1])


def test_listed_pairs_give_the_same_as_embeddings():
    X, y = systems(3, n_people=20)
    left, right = np.triu_indices(y.size, 1)
    embedded, listed = [], []
    for rows in X:
        unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        scores = (unit[left] * unit[right]).sum(axis=1)
        roc = SimilarityROC(resample="identities", n_resamples=2, random_state=0)
        listed.append(
            roc.fit_pairs(
                scores,
                *(y[left], y[right]),
                sensitive_features_1=y[left] % 2,
                sensitive_features_2=y[right] % 2,
            )
        )
        embedded.append(fitted(rows, y))
    for asked in QUESTIONS:
        one, two = (a.compare(b, LEVELS, **asked) for a, b in (embedded, listed))
        for name in ("difference", "low", "high", "p_value", "ratio_low"):
            assert_allclose(
                getattr(one, name), getattr(two, name), rtol=1e-5, atol=1e-9
            )


def test_a_rate_that_is_set_is_not_tested(rocs):
    found = rocs[0].compare(rocs[1], LEVELS, rate="far")
    assert_array_equal(found.p_value, 1)
    assert (found.low <= 0).all() and (found.high >= 0).all()


def test_without_pairs_there_is_no_comparison():
    X, y = systems(4, n_people=12)
    group = np.where(y == 0, "lone", "others")
    first, second = (
        SimilarityROC(resample="identities", n_resamples=2).fit(rows, y, group)
        for rows in X
    )
    found = first.compare(second, 0.1, rate="far", group="lone")
    for name in ("difference", "low", "high", "p_value", "ratio_low", "ratio_high"):
        assert np.isnan(getattr(found, name))


def test_the_same_errors_are_no_proof_of_equality():
    """One error more would be: the interval is as wide as a pair or two."""
    X, y = systems(5, n_people=30)
    first = fitted(X[0], y)
    found = first.compare(first, threshold=0.3)
    n_pairs = first.n_genuine_[0]
    assert (found.difference, found.p_value) == (0, 1)
    assert -5 / n_pairs < found.low < 0 < found.high < 5 / n_pairs
