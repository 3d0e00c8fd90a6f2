"""Moments, ends and tests against an independent twin, and exact coverage."""

import math
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from skfairfr._core import _error_counts, _jackknife
from skfairfr._core._error_counts import (
    chances_of_errors,
    errors_by_person,
    people_of_list,
)
from skfairfr._core._jackknife import (
    Contrasts,
    ErrorSums,
    against_others,
    ends_of,
    genuine_sums,
    holm,
    impostor_sums,
    never_falling,
    rate_ends,
    shrunken_rates,
    two_sided,
)
from skfairfr._core._pair_sequences import PairSequence
from skfairfr._core._rates import DISPARITIES
from skfairfr._core._resampling import Images
from tests.oracles import jackknife as twin

FIELDS = ErrorSums._fields
# Of the errors of two people, and of the weight of all their pairs, as they are summed.
POWERS = (2, 0), (3, 0), (4, 0), (1, 1), (2, 1), (3, 1), (1, 2), (2, 2), (1, 3)


def drawn_pairs(seed, n_people=9, images=None, rate=0.2, left_out=0.0, weighted=False):
    """Impostor pairs of images, their weights, and which are accepted, errors first.

    Images are 3 of each person or as many as given; of uneven lists some are left out.
    """
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(n_people), 3 if images is None else images)
    left, right = (who[ends] for ends in np.triu_indices(who.size, 1))
    kept = (left != right) & (rng.random(left.size) >= left_out)
    left, right = left[kept], right[kept]
    frail = rng.random(n_people)
    accepted = rng.random(left.size) < rate * (frail[left] + frail[right])
    order = np.argsort(~accepted, kind="stable")
    weights = rng.choice([0.25, 0.5, 2.0], left.size) if weighted else None
    return left[order], right[order], weights, int(accepted.sum())


def impostors(left, right, weights, positions, n_people):
    """ErrorSums of listed impostor pairs of which the first are errors at each level."""
    people = people_of_list(left, right, weights, n_people)
    of_person, powers = errors_by_person(
        *(left, right, weights, positions, n_people, people.between)
    )
    of_all = people.pairs, powers, people.sizes, people.squared_weights
    return impostor_sums(of_person, *of_all)


def compared(left, right, weights, n_errors):
    """Comparisons as the twin takes them."""
    weights = np.ones(left.size) if weights is None else weights
    wrong = np.arange(left.size) < n_errors
    return list(
        zip(*(of.tolist() for of in (left, right, weights, wrong)), strict=True)
    )


def single_errors(n):
    """One pair of each of n people, with 0 to n errors: a level each."""
    errors = np.arange(n + 1)[:, None]
    return genuine_sums((np.arange(n) < errors).astype(float), np.ones(n))


def some_groups(seed, n_groups=4, kind="impostor"):
    """Sums of groups of few people at one level: 0, 1, 2, or more errors."""
    rng = np.random.default_rng(seed)
    groups = []
    for _ in range(n_groups):
        n = int(rng.integers(4, 25))
        few = rng.choice([0, 1, 2, None], p=[0.15, 0.15, 0.1, 0.6])
        if kind == "impostor":
            images = rng.integers(1, 4, n)
            rate = rng.choice([0.02, 0.1, 0.4])
            left, right, weights, found = drawn_pairs(
                int(rng.integers(1 << 30)), n, images, rate
            )
            found = found if few is None else min(found, few)
            groups.append(impostors(left, right, weights, [found], n))
        else:
            pairs = rng.integers(1, 7, n)
            rejected = rng.binomial(pairs, rng.beta(0.5, rng.choice([0.5, 3]), n))
            if few is not None:
                rejected[:] = 0
                rejected[: int(few)] = 1
            groups.append(genuine_sums(rejected[None].astype(float), pairs))
    return ErrorSums.of_groups(groups).rows(0)


def both_kinds(sums):
    """Weights of each group against the others, and over every other one."""
    every_two = DISPARITIES["max_min"].contrasts(sums.pairs.size)
    return np.vstack([against_others(sums), *every_two])


def scalars(sums):
    """Fields of the sums of each group or level, as dicts of Python's numbers."""
    columns = [np.ravel(getattr(sums, name)).tolist() for name in FIELDS]
    return [dict(zip(FIELDS, row, strict=True)) for row in zip(*columns, strict=True)]


# Sums


@pytest.mark.parametrize("positions", [[40, 0, 60, 7], [25, 3, 60]])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("by_kind", [False, True])
@pytest.mark.parametrize("at_once", [8, 2**21])
def test_errors_by_person_is_a_dictionary_of_two_people(
    monkeypatch, positions, weighted, by_kind, at_once
):
    monkeypatch.setattr(_error_counts, "MOST_PAIRS", at_once)
    rng = np.random.default_rng(0)
    left, right = rng.integers(0, 7, (2, 60))
    weights = rng.random(60) if weighted else None
    size, kind = rng.random((3, 3)), rng.integers(0, 3, 7)
    size += size.T
    of_two = size[kind][:, kind]
    between = (kind, size) if by_kind else of_two[left, right]
    found, powers = errors_by_person(
        left, right, weights, np.array(positions), 7, between
    )
    for level, n in enumerate(positions):
        person, errors = np.zeros(7), defaultdict(float)
        for place in range(n):
            k, h = sorted((left[place], right[place]))
            weight = weights[place] if weighted else 1.0
            for one in {k, h}:
                person[one] += weight
            errors[k, h] += weight
        assert_allclose(found[level], person)
        expected = [
            sum(e**i * of_two[both] ** j for both, e in errors.items())
            for i, j in POWERS
        ]
        assert_allclose(powers[level], expected, rtol=1e-12)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"images": 1, "n_people": 12},
        {"images": [1, 4, 2, 1, 6, 0, 3], "n_people": 7},
        {"left_out": 0.6},
        {"left_out": 0.4, "weighted": True},
        {"images": [2, 0, 0, 3, 1], "n_people": 5, "weighted": True},
        {"rate": 0.7},
        # One person is in nearly all pairs: the correction stops at its least.
        {"images": [9, 1, 1, 1], "n_people": 4},
    ],
)
def test_impostor_sums_are_loops_over_people(options):
    left, right, weights, n_errors = drawn_pairs(1, **options)
    n_people = options.get("n_people", 9)
    positions = [n_errors, 0, 1, n_errors // 2]
    found = scalars(impostors(left, right, weights, positions, n_people))
    for sums, n in zip(found, positions, strict=True):
        expected = twin.moments(compared(left, right, weights, n))
        for name in FIELDS:
            assert_allclose(
                sums[name], expected[name], rtol=1e-9, atol=1e-9, err_msg=name
            )


@pytest.mark.parametrize("weight", [1.0, 0.5])
@pytest.mark.parametrize("most", [11, 400])
def test_genuine_sums_are_loops_over_people(weight, most):
    """Also if one person has most of the pairs."""
    rng = np.random.default_rng(2)
    pairs = rng.integers(0, 12, 40)
    pairs[5] = most
    for share in (0.3, 0.0, 0.05, 1.0):
        rejected = rng.binomial(pairs, share)
        listed = [
            (k, k, weight, place < rejected[k])
            for k in range(40)
            for place in range(pairs[k])
        ]
        squared = None if weight == 1 else weight**2 * pairs.sum()
        own = genuine_sums(weight * rejected[None], weight * pairs, squared)
        (sums,), expected = scalars(own), twin.moments(listed)
        for name in FIELDS:
            assert_allclose(
                sums[name], expected[name], rtol=1e-9, atol=1e-9, err_msg=name
            )


def test_without_pairs_there_is_no_rate():
    none = np.zeros((1, 3))
    genuine = genuine_sums(none, np.zeros(3))
    impostor = impostor_sums(none, np.zeros(3), np.zeros((1, 9)), (0.0, 0.0, 0.0))
    for sums in (genuine, impostor):
        assert np.isnan(sums.rate) and sums.people == 0
        assert np.isnan(rate_ends(sums, 0.025)).all()


# Bounds


@pytest.mark.parametrize("kind", ["impostor", "genuine"])
@pytest.mark.parametrize("tail", [0.05, 0.005])
@pytest.mark.parametrize("added", [0.0, 0.3, -9.0])
def test_ends_are_those_of_the_twin(kind, tail, added):
    for seed in range(12):
        sums = some_groups([seed, 1], kind=kind)
        expected = np.array([twin.interval(m, tail, added) for m in scalars(sums)]).T
        assert_allclose(rate_ends(sums, tail, added), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "sums",
    [
        single_errors(20),  # also half of them, and all
        genuine_sums(np.array([[2.0, 1.0]]), np.array([7.0, 7.0])),
        genuine_sums(np.array([[0.0, 2.0, 0.0]]), np.full(3, 2.0)),
    ],
)
@pytest.mark.parametrize("tail", [0.05, 0.2])
def test_ends_of_even_and_of_few_people_are_those_of_the_twin(sums, tail):
    expected = np.array([twin.interval(m, tail) for m in scalars(sums)]).T
    assert_allclose(rate_ends(sums, tail), expected, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("n", [100, 800])
def test_ends_of_few_independent_errors_are_clopper_and_pearson_s(n):
    errors = np.arange(1, 31)
    low, high = (end[1:31] for end in rate_ends(single_errors(n), 0.025))
    exact = stats.beta.ppf(0.975, errors + 1, n - errors)
    assert_allclose(high, exact, rtol=0.035)
    exact_low = stats.beta.ppf(0.025, errors, n - errors + 1)
    assert (low <= 1.01 * exact_low).all()
    width, exact_width = np.log(high / low), np.log(exact / exact_low)
    assert (width / exact_width < (1.13 if n == 100 else 1.02)).all()
    assert (np.diff(rate_ends(single_errors(n), 0.025)[1]) >= 0).all()


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
@pytest.mark.parametrize("n", [20, 60, 200, 1000])
def test_intervals_of_independent_pairs_cover(n, level):
    """One pair a person: the chances of all outcomes that cover, summed."""
    low, high = rate_ends(single_errors(n), (1 - level) / 2)
    errors = np.arange(n + 1)
    for p in np.concatenate([np.geomspace(0.2 / n, 0.5, 200), [0.7, 1 - 1 / n]]):
        covered = (low <= p) & (p <= high)
        chance = stats.binom.pmf(errors, n, p)[covered].sum()
        assert chance >= level - (0.012 if n < 60 else 0.004), p


@pytest.mark.parametrize("pivot", [0, 3, 6])
def test_an_end_is_the_least_of_larger_rates_up_to_a_pivot_then_the_largest(pivot):
    rng = np.random.default_rng(9)
    for _ in range(20):
        raw = rng.random(7)
        found = never_falling(raw, pivot)
        for k in range(7):
            expected = (
                min(raw[k : pivot + 1]) if k <= pivot else max(raw[pivot : k + 1])
            )
            assert found[k] == expected
    assert np.isnan(never_falling(np.full(7, np.nan), pivot)).all()


def test_one_person_bounds_nothing():
    assert np.isnan(
        rate_ends(genuine_sums(np.array([[2.0]]), np.array([7.0])), 0.025)
    ).all()


def test_effective_errors_are_independent_ones_of_that_variance():
    found = single_errors(400)
    assert_allclose(found.effective_errors[1:100], np.arange(1, 100), rtol=5e-3)
    assert found.effective_errors[0] == 0
    pairs = np.full(1000, 10.0)
    rejected = np.where(np.arange(1000) < 40, 10.0, 0.0)[None]
    found = genuine_sums(rejected, pairs).effective_errors
    assert_allclose(found, 40, rtol=0.01)


@pytest.mark.parametrize("images", [1, 3])
def test_effective_people_are_kish_s_number_of_those_in_errors(images):
    left, right, weights, n = drawn_pairs(3, 300, np.full(300, images), 0.0002)
    sums = impostors(left, right, weights, [n], 300)
    in_errors = np.bincount(np.concatenate([left[:n], right[:n]]))
    kish = in_errors.sum() ** 2 / (in_errors**2).sum()
    assert n > 5
    assert_allclose(sums.effective_people(2), kish, rtol=0.1)
    rejected = np.r_[3.0, 1.0, 1.0, np.zeros(997)][None]
    found = genuine_sums(rejected, np.full(1000, 4.0)).effective_people(1)
    assert_allclose(found, 25 / 11, rtol=0.01)
    half = genuine_sums(np.tile([0.0, 10.0], 20)[None], np.full(40, 10.0))
    assert_allclose(half.effective_people(1), 20, rtol=0.02)
    nobody = genuine_sums(np.zeros((1, 40)), np.full(40, 10.0))
    assert_allclose(nobody.effective_people(1), 0)


# Contrasts


@pytest.mark.parametrize("kind", ["impostor", "genuine"])
@pytest.mark.parametrize("added", [0.0, 0.2, -0.01])
def test_contrasts_are_those_of_the_twin(kind, added):
    for seed in range(5):
        sums = some_groups([seed, 3], kind=kind)
        weights, groups = both_kinds(sums), scalars(sums)
        found = Contrasts(sums, weights, added)
        low, high = found.bounds(0.01)
        for row, w in enumerate(weights.tolist()):
            if any(w):
                expected = twin.ratio(groups, w, 0.01, added)
                assert_allclose([low[row], high[row]], expected, rtol=1e-9)
            if any(w) and row % 7 == seed % 7:  # the twin's root takes long
                p = twin.ratio_p(groups, w, added)
                assert_allclose(found.p_value[row], p, rtol=1e-6)


def test_a_sum_over_people_has_the_ends_of_a_rate_of_its_moments():
    sums = single_errors(400).rows(slice(9, 10))
    skewness, freedom = sums.shape()
    found = ends_of(9.0, sums.variance, skewness, freedom, 0.025)
    assert_allclose(np.ravel(found) / 400, np.ravel(rate_ends(sums, 0.025)), rtol=2e-2)


def test_a_p_value_is_twice_the_tail_at_which_an_interval_ends():
    places = np.array([0.2, 1e-9, 0.7, 1e-30])
    found = two_sided(lambda tail: np.log(tail / places), (4,))
    assert_allclose(found, [0.4, 2e-9, 1.0, 2e-16])


@pytest.mark.parametrize("kind", ["impostor", "genuine"])
def test_an_interval_of_a_ratio_excludes_one_exactly_where_the_test_rejects(kind):
    seen = set()
    for seed in range(30):
        sums = some_groups([seed, 4], kind=kind)
        found = Contrasts(sums, both_kinds(sums))
        for level in (0.2, 0.05, 0.01):
            low, high = found.bounds(level / 2)
            excluded = (low > 1) | (high < 1)
            assert_array_equal(excluded, found.p_value < level)
            seen |= set(excluded.tolist())
    assert seen == {False, True}


def test_p_values_take_few_steps(monkeypatch):
    """Also where one end of the search would stay."""
    asked = []

    def counted(*arguments, **options):
        asked.append(arguments)
        return rate_ends(*arguments, **options)

    monkeypatch.setattr(_jackknife, "rate_ends", counted)
    for seed in (0, 6, 13):
        sums = some_groups([seed, 3])
        asked.clear()
        assert Contrasts(sums, both_kinds(sums)).p_value.size
        assert 3 < len(asked) < 20


def test_groups_without_any_error_do_not_differ():
    sums = ErrorSums.of_groups([single_errors(n).rows(slice(0, 1)) for n in (9, 99)])
    found = Contrasts(sums.rows(0), np.array([[1.0, -1.0]]))
    assert_array_equal(found.p_value, [1])
    assert_array_equal(np.ravel(found.bounds(0.025)), [0, np.inf])


def groups_of(*errors, n=100):
    """Groups of n people with a pair each, of which so many are errors."""
    parts = [single_errors(n).rows(slice(e, e + 1)) for e in errors]
    return ErrorSums.of_groups(parts).rows(0)


@pytest.mark.parametrize("errors", [3, 4, 5, 6, 9])
def test_independent_errors_against_none_have_conditional_p_values_and_ends(errors):
    """All errors are of one of two equal groups with the chance 2**-errors."""
    found = Contrasts(groups_of(errors, 0, n=1000), np.array([[1.0, -1.0]]))
    assert_allclose(found.p_value, 2 * 0.5**errors, rtol=0.1)
    share = 0.025 ** (1 / errors)  # Clopper & Pearson's lower end
    assert_allclose(found.bounds(0.025)[0], share / (1 - share), rtol=0.08)


def test_an_interval_of_a_group_without_an_error_grows_with_its_level():
    """Also where the end of the rule of three is below one error."""
    found = Contrasts(groups_of(9, 0), np.array([[1.0, -1.0]]))
    low = [found.bounds(tail)[0][0] for tail in (0.025, 0.2, 0.35, 0.4, 0.45, 0.49)]
    assert np.all(np.diff(low) > 0)


@pytest.mark.parametrize(
    ("errors", "expected"),
    [
        # The third has too few errors to be one of the others, but is compared itself.
        ((9, 8, 3), [[1, -1, 0], [-1, 1, 0], [-0.5, -0.5, 1]]),
        ((9, 8, 5), [[1, -0.5, -0.5], [-0.5, 1, -0.5], [-0.5, -0.5, 1]]),
        # Nobody else has enough: then all others count.
        ((9, 2, 1), [[1, -0.5, -0.5], [-1, 1, 0], [-1, 0, 1]]),
        ((2, 0, 1), [[1, -0.5, -0.5], [-0.5, 1, -0.5], [-0.5, -0.5, 1]]),
    ],
)
def test_groups_with_few_errors_are_left_out_of_the_others(errors, expected):
    assert_allclose(against_others(groups_of(*errors)), expected)


def test_a_group_of_one_person_is_compared_with_nobody():
    lone = genuine_sums(np.array([[5.0]]), np.array([9.0]))
    others = [single_errors(50).rows(slice(n, n + 1)) for n in (9, 20)]
    sums = ErrorSums.of_groups([lone, *others]).rows(0)
    weights = against_others(sums)
    assert_array_equal(weights, [[0, 0, 0], [0, 1, -1], [0, -1, 1]])
    assert (weights != 0).any(axis=1).sum() == 2  # one hypothesis
    found = Contrasts(sums, weights)
    assert found.p_value[0] == 1
    alone = Contrasts(sums.columns([1, 2]), np.array([[1.0, -1.0]]))
    assert_allclose(found.p_value[1:], alone.p_value[0])
    alone = ErrorSums.of_groups([lone, others[0]]).rows(0)
    assert not against_others(alone).any()


# Several tests, and rates without noise


def test_holm_is_a_loop():
    p = np.array([0.01, 0.04, 0.03, 0.5, 0.011])
    order, largest, expected = np.argsort(p), 0.0, np.empty(5)
    for rank, place in enumerate(order):
        largest = max(largest, (5 - rank) * p[place])
        expected[place] = min(largest, 1.0)
    assert_allclose(holm(p), expected)


def test_equal_groups_have_equal_shrunken_rates():
    rate = shrunken_rates(groups_of(20, 24, 17, 22, n=1000))
    assert_allclose(rate, rate[0])
    assert 0.017 < rate[0] < 0.024


def test_shrunken_rates_have_the_variance_of_moments():
    """DerSimonian & Laird's estimate, group by group; Louis's shrinkage keeps it."""
    sums = some_groups(8, 5)
    erring = scalars(sums.with_an_error())
    logs = [math.log(m["errors"] / m["pairs"]) for m in erring]
    variances = [
        max(m["variance"], m["single"] * m["errors"] * (1 - m["errors"] / m["pairs"]))
        / m["errors"] ** 2
        for m in erring
    ]
    weights = [1 / v for v in variances]
    mean = sum(w * y for w, y in zip(weights, logs, strict=True)) / sum(weights)
    q = sum(w * (y - mean) ** 2 for w, y in zip(weights, logs, strict=True))
    between = (q - 4) / (sum(weights) - sum(w * w for w in weights) / sum(weights))
    assert between > 0
    totals = [v + between for v in variances]
    middle = sum(y / v for v, y in zip(totals, logs, strict=True))
    middle /= sum(1 / v for v in totals)
    expected = [
        math.exp(middle + math.sqrt(between / v) * (y - middle))
        for v, y in zip(totals, logs, strict=True)
    ]
    assert_allclose(shrunken_rates(sums), expected)


def test_a_group_without_pairs_takes_no_part_and_warns_of_nothing():
    """People of one image have no genuine pairs."""
    rng = np.random.default_rng(0)
    groups = [
        genuine_sums(rng.binomial(6, rate, (1, 40)).astype(float), np.full(40, 6.0))
        for rate in (0.1, 0.2)
    ]
    nothing = genuine_sums(np.zeros((1, 40)), np.zeros(40))
    two, three = (
        ErrorSums.of_groups(of).rows(0) for of in (groups, [*groups, nothing])
    )
    with np.errstate(all="raise"):
        alone, beside = (Contrasts(s, against_others(s)) for s in (two, three))
    assert_allclose(beside.p_value[:2], alone.p_value)
    for found, expected in zip(beside.bounds(0.025), alone.bounds(0.025), strict=True):
        assert_allclose(found[:2], expected)


def test_no_chance_of_an_error_counts_as_no_error():
    """And chances that are all alike as many errors as there are."""
    searches = PairSequence(*np.zeros((3, 4), dtype=np.int32), base=np.full(4, 0.5))
    searches = replace(searches, left=np.arange(4, dtype=np.int32))
    images = Images(*np.zeros((2, 4), dtype=np.int32), None, 4, 1)
    found = chances_of_errors(searches, np.array([0, 3]), images)
    assert_allclose(found, [0.0, 3.0])
