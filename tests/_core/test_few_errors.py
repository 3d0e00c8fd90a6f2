"""Moments of errors by loops, bounds and tests by scalar twins, and exact coverage."""

import math
from collections import defaultdict
from dataclasses import replace
from itertools import combinations, permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from skfairfr._core._error_counts import people_of_list
from skfairfr._core._few_errors import (
    ErrorSums,
    against_others,
    chances_of_errors,
    contrasts,
    errors_by_person,
    every_two,
    genuine_sums,
    holm,
    impostor_sums,
    influences,
    never_falling,
    number_of_tests,
    rate_bounds,
    shrunken_rates,
)
from skfairfr._core._pair_sequences import PairSequence
from skfairfr._core._resampling import Images

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


def looped_impostors(left, right, weights, n_errors, n_people):
    """The same by loops over two and three people."""
    c, e, single = defaultdict(float), defaultdict(float), 0.0
    for place, (k, h) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
        weight = 1.0 if weights is None else float(weights[place])
        single += weight**2
        for both in ((k, h), (h, k)):
            c[both] += weight
            e[both] += weight * (place < n_errors)
    people = sorted({k for k, _ in c})
    two = list(combinations(people, 2))
    total, errors = sum(c[t] for t in two), sum(e[t] for t in two)
    rate = errors / total
    x = {t: e[t] - rate * c[t] for t in list(c)}
    of = {k: sum(x.get((k, h), 0.0) for h in people) for k in people}
    weight_of = {k: sum(c.get((k, h), 0.0) for h in people) for k in people}
    own = sum(x.get(t, 0.0) ** 2 for t in two)
    # Fogliato, Patil & Perona (2024): pairs of people that share one person.
    shared = sum(
        x.get((a, b), 0.0) * x.get((a, d), 0.0) for a, b, d in permutations(people, 3)
    )
    reach = sum(w**2 for w in weight_of.values()) / total**2
    lost = 2 * sum(w**3 for w in weight_of.values()) / (total**3 * reach)
    of_people = {power: sum(r**power for r in of.values()) for power in (2, 3, 4)}
    of_two = {power: sum(x.get(t, 0.0) ** power for t in two) for power in (2, 3, 4)}
    return {
        "errors": errors,
        "pairs": total,
        "single": single / total,
        "clumped": sum(c.get(t, 0.0) ** 2 for t in two) / total,
        "own": own,
        "variance": own + max((shared + reach * own) / max(1 - lost, 0.3), 0.0),
        "squares": max(of_people[2] - of_two[2], own),
        "cubes": of_people[3] - of_two[3],
        "fourths": of_people[4] - of_two[4],
        "people": 4 / reach,
    }


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
    return np.vstack([against_others(sums), *every_two(sums)])


def scalars(sums):
    """Fields of the sums of each group or level, as dicts of Python's numbers."""
    columns = [np.ravel(getattr(sums, name)).tolist() for name in FIELDS]
    return [dict(zip(FIELDS, row, strict=True)) for row in zip(*columns, strict=True)]


# Sums


@pytest.mark.parametrize("positions", [[40, 0, 60, 7], [25, 3, 60]])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("by_kind", [False, True])
def test_errors_by_person_is_a_dictionary_of_two_people(positions, weighted, by_kind):
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
        expected = looped_impostors(left, right, weights, n, n_people)
        for name in FIELDS:
            assert_allclose(
                sums[name], expected[name], rtol=1e-9, atol=1e-9, err_msg=name
            )


@pytest.mark.parametrize("weighted", [False, True])
def test_genuine_sums_are_loops_over_people(weighted):
    rng = np.random.default_rng(2)
    pairs = rng.integers(0, 12, 40) * (0.5 if weighted else 1.0)
    rejected = np.stack(
        [pairs * (rng.random(40) < share) for share in (0.3, 0.0, 0.05)]
    )
    squared = 17.0 if weighted else None
    found = scalars(genuine_sums(rejected, pairs, squared))
    kept = [k for k in range(40) if pairs[k] > 0]
    total = sum(pairs[k] for k in kept)
    for level, sums in enumerate(found):
        x = {k: rejected[level, k] for k in kept}
        rate = sum(x.values()) / total
        # The delete-one jackknife.
        without = [
            sum(x[h] for h in kept if h != k) / sum(pairs[h] for h in kept if h != k)
            for k in kept
        ]
        n = len(kept)
        variance = (n - 1) / n * sum((r - rate) ** 2 for r in without) * total**2
        deviations = [x[k] - rate * pairs[k] for k in kept]
        expected = {
            "errors": rate * total,
            "pairs": total,
            "single": (squared or total) / total,
            "clumped": sum(pairs[k] ** 2 for k in kept) / total,
            "own": variance,
            "variance": variance,
            "squares": sum(d**2 for d in deviations),
            "cubes": sum(d**3 for d in deviations),
            "fourths": sum(d**4 for d in deviations),
            "people": total**2 / sum(pairs[k] ** 2 for k in kept),
        }
        for name in FIELDS:
            assert_allclose(
                sums[name], expected[name], rtol=1e-9, atol=1e-9, err_msg=name
            )


def test_a_person_with_most_pairs_is_not_extrapolated_from():
    """The jackknife divides a deviation by what is left of the pairs, half at least."""
    rejected, pairs = np.array([[60.0, 1.0, 2.0]]), np.array([90.0, 5.0, 5.0])
    rate = 63 / 100
    apart = [(60 - 90 * rate) / 0.5, (1 - 5 * rate) / 0.95, (2 - 5 * rate) / 0.95]
    found = genuine_sums(rejected, pairs)
    assert_allclose(found.variance, 2 / 3 * sum(a**2 for a in apart))


def test_without_pairs_there_is_no_rate():
    none = np.zeros((1, 3))
    genuine = genuine_sums(none, np.zeros(3))
    impostor = impostor_sums(none, np.zeros(3), np.zeros((1, 9)), (0.0, 0.0, 0.0))
    for sums in (genuine, impostor):
        assert np.isnan(sums.rate) and sums.people == 0
        assert np.isnan(rate_bounds(sums, 0.025)).all()


# What people and errors say


def test_influences_are_derivatives():
    """Of the logarithm of a rate by each person's multiplicity, numerically."""
    left, right, _, n = drawn_pairs(4, 6, 2)
    pairs = np.bincount(left, minlength=6) + np.bincount(right, minlength=6)
    errors = np.bincount(left[:n], minlength=6) + np.bincount(right[:n], minlength=6)

    def log_rate(v):
        weight = v[left] * v[right]
        return np.log(weight[:n].sum() / weight.sum())

    step = 1e-6 * np.eye(6)
    numerical = [(log_rate(1 + s) - log_rate(1 - s)) / 2e-6 for s in step]
    assert_allclose(influences(errors[None], pairs, ends=2)[0], numerical, atol=1e-8)


def least_squares(s):
    """Those of people's deviations, or of independent pairs of the same rate."""
    return max(s["squares"], s["single"] * s["errors"] * (1 - s["errors"] / s["pairs"]))


def clump_of(s):
    """Mean weight of a clump, shrunk by half an error to what is assumed of all."""
    assumed = s["single"] + 0.5 * (s["clumped"] - s["single"])
    weight, right = 0.5 * s["single"], 1 - s["errors"] / (s["pairs"] or 1)
    seen = (s["own"] + weight * assumed) / (s["errors"] * right + weight)
    return max(seen, s["single"])


def variance_of(s):
    """No less than that of clumps that err independently."""
    right = 1 - s["errors"] / s["pairs"]
    return max(s["variance"], clump_of(s) * s["errors"] * right)


def said(s, added=0.0):
    """Logarithm of a rate, its variance, degrees of freedom and skewness; a scalar twin."""
    w = clump_of(s)
    errors, v0 = s["errors"] + w / 2, least_squares(s) + w**2
    variance = (variance_of(s) + w**2 / 2) / errors**2 + added
    kurtosis = (1 + 12 / s["people"]) * (s["fourths"] + w**4) / v0**2
    excess = kurtosis - 1 / s["people"]
    freedom = 1 / excess if excess > 1e-9 else 1e9
    freedom = min(max(freedom, 1.0), max(s["people"] - 1, 1.0))
    prior = w**3 * (1 - 2 * s["errors"] / s["pairs"])
    skewness = (s["cubes"] + prior) * (s["errors"] + w) / v0**2
    return math.log(errors / s["pairs"]), variance, freedom, skewness


def as_three(s, always=False):
    """The sums with three clumps of errors where there are fewer, or always."""
    w = clump_of(s)
    if s["errors"] >= 3 * w and not always:
        return s
    powers = {"errors": 1, "own": 2, "variance": 2, "squares": 2, "cubes": 3}
    three = {name: 3 * w**p for name, p in (powers | {"fourths": 4}).items()}
    # What is known of a clump's weight stays known.
    return s | three | ({"single": w, "clumped": w} if always else {})


def twin_exponent(s, least, largest):
    """The power of the odds: that of the rate, less what the odds bend by themselves."""
    rate, variance = s["errors"] / s["pairs"], variance_of(s)
    between = min(max(1 - s["own"] / variance, 0.0), 1.0) if variance else 0.0
    *_, skewness = said(s)
    of_rate = 1 - 2 / 3 * 1.25 * skewness
    exponent = of_rate * (1 - rate) - rate - (1 - 2 * rate) * between / 2
    exponent = min(max(exponent, least), largest)
    return exponent if abs(exponent) > 1e-9 else 1e-9


def complement(s):
    return s | {"errors": max(s["pairs"] - s["errors"], 0.0), "cubes": -s["cubes"]}


def twin_bounds(s, tail, added=0.0):
    """Lower and upper bound of a rate, from the method's description."""
    if s["pairs"] <= 0 or s["people"] <= 1 + 1e-9:
        return math.nan, math.nan
    right = complement(s)
    scale = (s["errors"] / right["errors"]) ** 2 if right["errors"] else 0.0
    low = 1 - twin_upper(right, tail, added * scale, -1 / 3, -1e-9)
    high = twin_upper(s, tail, added, -2.0, 1 / 3)
    return min(max(low, 0.0), 1.0), min(max(high, 0.0), 1.0)


def twin_upper(s, tail, added, *exponents):
    w = clump_of(s)
    least = -math.log(tail) * w / s["pairs"]
    if s["errors"] <= 0:
        return least
    found = [least]
    for part in (as_three(s), as_three(s, always=True)):
        right = s["pairs"] - part["errors"]
        _, variance, freedom, _ = said(part, added)
        bare = said(part)[1]
        variance = max(variance, 0.01 * bare)
        t = stats.t.isf(tail, freedom)
        if right <= 0:
            found.append(1.0)
            continue
        reach = t * math.sqrt(variance) * s["pairs"] / (right + w / 2)
        q = twin_exponent(part, *exponents)
        if 1 + q * reach <= 0:
            found.append(1.0)
            continue
        odds = (part["errors"] + w) / right * (1 + q * reach) ** (1 / q)
        found.append(odds / (1 + odds))
    return max(found)


# Bounds


@pytest.mark.parametrize("kind", ["impostor", "genuine"])
@pytest.mark.parametrize("tail", [0.05, 0.005])
@pytest.mark.parametrize("added", [0.0, 0.3, -9.0])
def test_bounds_are_those_of_a_scalar_twin(kind, tail, added):
    for seed in range(12):
        sums = some_groups([seed, 1], kind=kind)
        expected = np.array([twin_bounds(s, tail, added) for s in scalars(sums)]).T
        assert_allclose(rate_bounds(sums, tail, added), expected, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize(
    "sums",
    [
        single_errors(
            20
        ),  # half of them err: no power of the odds, but their logarithm
        single_errors(3).rows(slice(0, 2)),  # three clumps are all pairs, or more
        genuine_sums(np.array([[2.0, 1.0]]), np.array([7.0, 7.0])),
        genuine_sums(np.array([[0.0, 2.0, 0.0]]), np.full(3, 2.0)),
    ],
)
@pytest.mark.parametrize("tail", [0.05, 0.2])
def test_bounds_of_even_and_of_few_people_are_those_of_the_twin(sums, tail):
    expected = np.array([twin_bounds(s, tail) for s in scalars(sums)]).T
    assert_allclose(rate_bounds(sums, tail), expected, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
@pytest.mark.parametrize("n", [20, 60, 200, 1000])
def test_intervals_of_independent_pairs_cover(n, level):
    """One pair a person: the chances of all outcomes that cover, summed."""
    low, high = rate_bounds(single_errors(n), (1 - level) / 2)
    errors = np.arange(n + 1)
    for p in np.concatenate([np.geomspace(0.2 / n, 0.5, 200), [0.7, 1 - 1 / n]]):
        covered = (low <= p) & (p <= high)
        chance = stats.binom.pmf(errors, n, p)[covered].sum()
        assert chance >= level - (0.012 if n < 60 else 0.001), p


@pytest.mark.parametrize("tail", [0.05, 0.025, 0.005])
def test_no_error_is_bounded_by_the_rule_of_three(tail):
    """Independent pairs: no error in so many has the chance tail, to first order."""
    n = 10_000
    low, high = rate_bounds(genuine_sums(np.zeros((1, n)), np.ones(n)), tail)
    assert low == 0
    assert_allclose((1 - high) ** n, tail, rtol=1e-2)


@pytest.mark.parametrize("level", [0.9, 0.95])
@pytest.mark.parametrize("share", [0.05, 0.3, 0.5, 0.7, 0.95])
def test_bounds_of_many_independent_pairs_are_clopper_and_pearson_s(share, level):
    n, tail = 4000, (1 - level) / 2
    k = round(share * n)
    sums = genuine_sums((np.arange(n) < k).astype(float)[None], np.ones(n))
    exact = stats.beta.ppf([tail, 1 - tail], [k, k + 1], [n - k + 1, n - k])
    width = exact[1] - exact[0]
    assert_allclose(np.ravel(rate_bounds(sums, tail)), exact, atol=0.06 * width)


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


@pytest.mark.parametrize("kind", ["impostor", "genuine"])
def test_the_unit_of_weights_changes_no_bound(kind):
    """Twice the weight of every pair: as many pairs as before."""
    rng = np.random.default_rng(6)
    if kind == "impostor":
        left, right, _, n = drawn_pairs(6)
        one = impostors(left, right, None, [n, 1, 0], 9)
        two = impostors(left, right, np.full(left.size, 2.0), [n, 1, 0], 9)
    else:
        pairs = rng.integers(1, 9, 30).astype(float)
        rejected = rng.binomial(pairs.astype(int), 0.2)[None].astype(float)
        one = genuine_sums(rejected, pairs)
        two = genuine_sums(2 * rejected, 2 * pairs, 4 * pairs.sum())
    for tail in (0.05, 0.005):
        assert_allclose(rate_bounds(one, tail), rate_bounds(two, tail), rtol=1e-12)
    assert_allclose(one.effective_errors, two.effective_errors)
    assert_allclose(one.effective_people(1), two.effective_people(1))


def test_one_person_bounds_nothing():
    assert np.isnan(
        rate_bounds(genuine_sums(np.array([[2.0]]), np.array([7.0])), 0.025)
    ).all()


def test_people_who_carry_all_errors_leave_the_rate_unbounded():
    """One of 40 people is in all false accepts: of other people there may be many more."""
    left, right = np.triu_indices(40, 1)
    low, high = rate_bounds(impostors(left, right, None, [39], 40), 0.025)
    assert high == 1 and low < 39 / 780 / 20


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
    assert_allclose(half.effective_people(1), 20)
    nobody = genuine_sums(np.zeros((1, 40)), np.full(40, 10.0))
    assert_allclose(nobody.effective_people(1), 0)


# Contrasts


def twin_contrast(groups, weights, tail, added=0.0):
    """p-value and bounds of a ratio, group by group."""
    ends = []
    for side in (-1, 1):
        estimate, variance, known, bounded = 0.0, added, 0.0, True
        for s, w in zip(groups, weights, strict=True):
            if w == 0:
                continue
            # Whose rate would be too small where it has few errors has three clumps.
            log, v, f, _ = said(as_three(s) if (w > 0) == (side > 0) else s)
            if s["errors"] <= 0 and (w > 0) != (side > 0):
                bounded = False
            estimate += w * log
            variance += w**2 * v
            known += (w**2 * v) ** 2 / f
        variance = max(variance, 0.01 * (variance - added))
        freedom = max(variance**2 / known, 1.0)
        ends.append((estimate, math.sqrt(variance), freedom, bounded))
    (below, e0, f0, some), (above, e1, f1, any_) = ends
    low = math.exp(below - stats.t.isf(tail, f0) * e0) if some else 0.0
    high = math.exp(above + stats.t.isf(tail, f1) * e1) if any_ else math.inf
    p = [stats.t.sf(below / e0, f0)] * some + [stats.t.cdf(above / e1, f1)] * any_
    return min(2 * min(p, default=0.5), 1.0), low, high


@pytest.mark.parametrize("kind", ["impostor", "genuine"])
@pytest.mark.parametrize("added", [0.0, 0.2, -9.0])
def test_contrasts_are_those_of_a_scalar_twin(kind, added):
    for seed in range(15):
        sums = some_groups([seed, 3], kind=kind)
        weights = both_kinds(sums)
        found = contrasts(sums, weights, added)
        low, high = found.bounds(0.01)
        for row, w in enumerate(weights):
            if not w.any():
                continue
            expected = twin_contrast(scalars(sums), w.tolist(), 0.01, added)
            assert_allclose(
                [found.p_value[row], low[row], high[row]], expected, rtol=1e-6
            )


@pytest.mark.parametrize("kind", ["impostor", "genuine"])
def test_an_interval_of_a_ratio_excludes_one_exactly_where_the_test_rejects(kind):
    seen = set()
    for seed in range(60):
        sums = some_groups([seed, 4], kind=kind)
        found = contrasts(sums, both_kinds(sums))
        for level in (0.2, 0.05, 0.01):
            low, high = found.bounds(level / 2)
            excluded = (low > 1) | (high < 1)
            assert_array_equal(excluded, found.p_value < level)
            seen |= set(excluded.tolist())
    assert seen == {False, True}


@pytest.mark.parametrize("kind", ["impostor", "genuine"])
def test_the_order_of_groups_permutes_their_tests(kind):
    for seed in range(20):
        sums = some_groups([seed, 6], kind=kind)
        order = np.random.default_rng(seed).permutation(4)
        other = sums.columns(order)
        weights = against_others(sums)
        assert_allclose(against_others(other), weights[order][:, order])
        found, again = (contrasts(s, against_others(s)) for s in (sums, other))
        assert_allclose(again.p_value, found.p_value[order])
        assert_allclose(again.bounds(0.025), [e[order] for e in found.bounds(0.025)])


def test_groups_without_any_error_do_not_differ():
    sums = ErrorSums.of_groups([single_errors(n).rows(slice(0, 1)) for n in (9, 99)])
    found = contrasts(sums.rows(0), np.array([[1.0, -1.0]]))
    assert_array_equal(found.p_value, [1])
    assert_array_equal(np.ravel(found.bounds(0.025)), [0, np.inf])


def groups_of(*errors, n=100):
    """Groups of n people with a pair each, of which so many are errors."""
    parts = [single_errors(n).rows(slice(e, e + 1)) for e in errors]
    return ErrorSums.of_groups(parts).rows(0)


@pytest.mark.parametrize(
    ("errors", "expected"),
    [
        # The third has too few errors to be one of the others, but is compared itself.
        ((9, 8, 2), [[1, -1, 0], [-1, 1, 0], [-0.5, -0.5, 1]]),
        ((9, 8, 3), [[1, -0.5, -0.5], [-0.5, 1, -0.5], [-0.5, -0.5, 1]]),
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
    assert number_of_tests(weights) == 1
    assert_array_equal(np.vstack([*every_two(sums)]), weights[1:])
    found = contrasts(sums, weights)
    assert found.p_value[0] == 1
    alone = contrasts(sums.columns([1, 2]), np.array([[1.0, -1.0]]))
    assert_allclose(found.p_value[1:], alone.p_value[0])
    alone = ErrorSums.of_groups([lone, others[0]]).rows(0)
    assert number_of_tests(against_others(alone)) == 0
    assert sum(map(len, every_two(alone))) == 0


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
    logs, variances, *_ = zip(*(said(s) for s in scalars(sums)), strict=True)
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
        alone, beside = (contrasts(s, against_others(s)) for s in (two, three))
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
