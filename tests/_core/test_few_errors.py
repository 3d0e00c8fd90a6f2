"""Effective errors against loops and closed forms, and Wilson's interval from 0 errors on."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import beta, binom, binomtest, gamma, poisson

from skfairfr._core._few_errors import (
    GROUP_WEIGHT,
    PRIOR_CORRELATION,
    PRIOR_VARIATION,
    PRIOR_WEIGHT,
    VARIATION_GROUP_WEIGHT,
    Dependence,
    Effective,
    ErrorSums,
    dependence,
    effective_errors,
    errors_by_person,
    exact_high,
    exact_low,
    genuine_sums,
    impostor_sums,
    influences,
    lower_bound,
    rate_interval,
    share_left,
    upper_bound,
    wilson_interval,
)


def effective(errors, pairs, between=0.0, freedom=np.inf):
    """Effective numbers of one level and group for each value given."""
    columns = np.broadcast_arrays(*map(np.asarray, (errors, pairs, between, freedom)))
    return Effective(*(np.array(column, dtype=float) for column in columns))


def proportion(errors, n, z=1.959963984540054):
    """Wilson's interval, the roots of (p - rate)**2 n = z**2 p (1 - p)."""
    rate = errors / n
    roots = np.roots([n + z**2, -(2 * n * rate + z**2), n * rate**2])
    return tuple(np.sort(roots))


def certain(correlation):
    """A correlation of one level and group that is known, of people who do not vary."""
    known, none = np.full((1, 1), correlation), np.zeros((1, 1))
    return Dependence(known, np.ones((1, 1)), none, known, np.ones((1, 1)))


def drawn_pairs(rng, n_people=9, images=3, rate=0.2):
    """All impostor pairs of images, whose they are, and which are accepted."""
    who = np.repeat(np.arange(n_people), images)
    first, second = np.triu_indices(who.size, 1)
    left, right = who[first], who[second]
    impostor = left != right
    left, right = left[impostor], right[impostor]
    frail = rng.random(n_people)
    accepted = rng.random(left.size) < rate * (frail[left] + frail[right])
    return left, right, accepted


def sums_of(left, right, accepted, n_people):
    """ErrorSums as an engine computes them, from the pairs themselves."""
    order = np.argsort(~accepted, kind="stable")
    n = np.array([accepted.sum()])
    of_person, squares, _ = errors_by_person(
        left[order], right[order], None, n, n_people
    )
    pairs = np.bincount(left, minlength=n_people) + np.bincount(
        right, minlength=n_people
    )
    sizes = np.zeros((n_people, n_people))
    np.add.at(sizes, (left, right), 1)
    sized = np.array([sizes[left[accepted], right[accepted]].sum()])
    return impostor_sums(of_person, pairs, squares, sized, (sizes**2).sum())


# Sums


@pytest.mark.parametrize("positions", [[40, 0, 60, 7], [25, 3, 60]])
def test_errors_by_person_is_a_loop_over_pairs(positions):
    rng = np.random.default_rng(0)
    left, right = rng.integers(0, 7, (2, 60))
    weights = rng.random(60)
    first, second = rng.random((2, 7))
    found, squares, sized = errors_by_person(
        left, right, weights, np.array(positions), 7, (first, second)
    )
    for level, n in enumerate(positions):
        person, couple, of_all = np.zeros(7), {}, 0.0
        for k, h, w in zip(left[:n], right[:n], weights[:n], strict=True):
            person[k] += w
            if h != k:
                person[h] += w
            couple[frozenset((k, h))] = couple.get(frozenset((k, h)), 0) + w
            of_all += w * (first[k] * second[h] + first[h] * second[k])
        assert_allclose(found[level], person)
        assert_allclose(squares[level], sum(w**2 for w in couple.values()))
        assert_allclose(sized[level], of_all)


def test_errors_without_weights_count_once():
    left, right = np.array([[0, 0, 1, 2], [1, 1, 2, 0]])
    found, squares, _ = errors_by_person(left, right, None, [4], 4)
    assert_array_equal(found, [[3, 3, 2, 0]])
    assert_array_equal(squares, [4 + 1 + 1])


def test_impostor_sums_are_loops_over_people():
    left, right, accepted = drawn_pairs(np.random.default_rng(1))
    sums = sums_of(left, right, accepted, 9)
    rate = accepted.mean()
    deviation, m = np.zeros((9, 9)), np.zeros((9, 9))
    for k, h, e in zip(left, right, accepted, strict=True):
        deviation[k, h] += e - rate
        deviation[h, k] += e - rate
        m[k, h] += 1
        m[h, k] += 1
    couples = [(k, h) for k in range(9) for h in range(k)]
    squares = sum(deviation[c] ** 2 for c in couples)
    wedges = sum(
        deviation[a, b] * deviation[a, c]
        for a in range(9)
        for b in range(9)
        for c in range(9)
        if len({a, b, c}) == 3
    )
    of = m.sum(1)
    reach = (of**2).sum() / accepted.size**2
    kept = 1 - 2 * (of**3).sum() / (accepted.size * (of**2).sum())
    assert_allclose(sums.errors, accepted.sum())
    assert_allclose(sums.pairs, accepted.size)
    assert_allclose(sums.squares, squares)
    assert_allclose(sums.shared, (wedges + reach * squares) / kept)
    assert_allclose(sums.reach, reach)
    assert_allclose(sums.clumped, sum(m[c] ** 2 for c in couples) / accepted.size)
    # 9 people in equally many pairs: two of nine shares for each person.
    assert_allclose(sums.people, 9)


def test_genuine_sums_are_the_jackknife_of_people():
    rng = np.random.default_rng(2)
    pairs = rng.integers(1, 30, 40)
    rejected = rng.binomial(pairs, 0.2)
    sums = genuine_sums(rejected[None], pairs)
    total = rejected.sum() / pairs.sum()
    others = [
        (rejected.sum() - r) / (pairs.sum() - m)
        for r, m in zip(rejected, pairs, strict=True)
    ]
    variance = 39 / 40 * sum((o - total) ** 2 for o in others)
    assert_allclose(sums.squares / pairs.sum() ** 2, variance)
    assert_allclose(sums.people, pairs.sum() ** 2 / (pairs**2).sum())
    assert sums.shared == 0 and sums.reach == 0


def test_people_without_pairs_change_nothing():
    rejected, pairs = np.array([[1, 0, 3, 0, 0]]), np.array([3, 0, 6, 3, 0])
    some = pairs > 0
    of_all, of_some = (
        genuine_sums(rejected, pairs),
        genuine_sums(rejected[:, some], pairs[some]),
    )
    for name in vars(of_all):
        assert_array_equal(getattr(of_all, name), getattr(of_some, name))


def test_the_variance_of_a_far_is_right_on_average():
    """Independent clumps, people who vary: squares and shared add up to the variance."""
    rng = np.random.default_rng(3)
    n = 30
    k, h = np.triu_indices(n, 1)
    couple = np.repeat(np.arange(k.size), 4)
    rates, variances = [], []
    for _ in range(400):
        frail = rng.gamma(4, 1 / 4, n)
        alike = rng.gamma(1, 1, k.size)
        p = np.clip(0.01 * frail[k] * frail[h] * alike, 0, 1)[couple]
        accepted = rng.random(couple.size) < p
        sums = sums_of(k[couple], h[couple], accepted, n)
        rates.append(sums.rate[0])
        variances.append((sums.squares + sums.shared)[0] / couple.size**2)
    assert_allclose(np.mean(variances), np.var(rates, ddof=1), rtol=0.2)


# Dependence


def test_independent_pairs_are_worth_one_each():
    """One pair a person, or a pair of people: clumps of one pair need no correction."""
    sums = genuine_sums(np.array([[1, 0, 1, 0, 0, 0]]), np.ones(6, dtype=int))
    groups = ErrorSums.of_groups([sums])
    found = effective_errors(groups, dependence(groups))
    assert_allclose([found.errors, found.pairs], [[[2]], [[6]]])


def test_people_who_always_err_alike_count_as_one_pair_each():
    pairs = np.full(600, 10)
    rejected = np.where(np.arange(600) < 200, 10, 0)[None]
    sums = ErrorSums.of_groups([genuine_sums(rejected, pairs)])
    correlation = dependence(sums).correlation
    assert correlation > 0.95
    found = effective_errors(sums, certain(1.0))
    assert_allclose([found.errors, found.pairs], [[[200]], [[600]]])


def sums_with(errors, squares, shared=0.0):
    """Sums of groups of 1000 pairs in clumps of 10, (n_levels, n_groups)."""
    errors = np.asarray(errors, dtype=float)
    full = np.ones(errors.shape)
    return ErrorSums(
        errors,
        1000 * full,
        full,
        10 * full,
        squares * full,
        shared * full,
        0.1 * full,
        40 * full,
    )


def test_without_an_error_the_prior_remains():
    found = dependence(sums_with([[0, 0]], [[0, 0]]))
    correlation, variation = found.correlation, found.variation
    assert_allclose(correlation, PRIOR_CORRELATION)
    assert_allclose(variation, PRIOR_VARIATION)


def test_few_errors_borrow_from_the_other_groups_and_levels():
    """200 errors in clumps of 4; a group, and a level, without any take their correlation."""
    binomial = 200 * 0.8
    sums = sums_with([[0, 0], [200, 0]], [[0, 0], [4 * binomial, 0]])
    correlation = dependence(sums).correlation
    own = (4 - 1) / (10 - 1)
    clumps = 200 * 0.8 / 4
    pooled = (clumps * own + 3 * PRIOR_CORRELATION) / (clumps + 3)
    assert_allclose(correlation[1, 1], pooled)
    assert_allclose(correlation[0], pooled)
    expected = (clumps * own + GROUP_WEIGHT * pooled) / (clumps + GROUP_WEIGHT)
    assert_allclose(correlation[1, 0], expected)


def test_errors_that_meet_more_than_clumps_allow_are_as_dependent_as_can_be():
    """More than all pairs of a clump cannot err alike."""
    sums = sums_with([[200.0]], [[200 * 0.8 * 50]])
    clumps = 200 * 0.8 / 10
    pooled = (clumps + 3 * PRIOR_CORRELATION) / (clumps + 3)
    expected = (clumps + GROUP_WEIGHT * pooled) / (clumps + GROUP_WEIGHT)
    assert_allclose(dependence(sums).correlation, [[expected]])


def test_many_errors_rely_on_themselves():
    sums = sums_with([[400.0, 400.0]], [[400 * 0.6 * 9, 400 * 0.6]])
    sums = replace(sums, errors=sums.errors * 1e4, pairs=sums.pairs * 1e4)
    sums = replace(sums, squares=sums.squares * 1e4)
    correlation = dependence(sums).correlation
    assert_allclose(correlation, [[8 / 9, 0]], atol=1e-3)


def test_the_variation_of_people_borrows_by_how_many_clumps_meet():
    """One level of two groups with errors, term by term."""
    rng = np.random.default_rng(3)
    sums = ErrorSums.of_groups([sums_of(*drawn_pairs(rng), 9) for _ in range(2)])
    found = dependence(sums)
    rate, reach = sums.rate, sums.reach
    binomial, extra = rate * (1 - rate) * sums.pairs, sums.clumped - sums.single
    correlation = np.clip((sums.squares / binomial - sums.single) / extra, 0, 1)
    clumps = sums.errors * (1 - rate) / (sums.single + correlation * extra)
    own = sums.shared / ((sums.errors * (1 - rate)) ** 2 * reach)
    met = 1 / (1 / (reach * clumps**2 / 2) + reach / 2)
    pooled = ((met * own).sum() + PRIOR_WEIGHT * PRIOR_VARIATION) / (
        met.sum() + PRIOR_WEIGHT
    )
    part = met / (met + VARIATION_GROUP_WEIGHT)
    expected = part * own + (1 - part) * pooled
    assert (expected > 0).all()
    assert_allclose(found.variation, expected)


def test_pairs_that_weigh_less_count_as_fewer():
    """The average over people: pairs weigh 1 / m, those of two people 1 together."""
    rng = np.random.default_rng(5)
    n, m = 40, 4
    k, h = np.triu_indices(n, 1)
    left, right = np.repeat(k, m), np.repeat(h, m)
    accepted = rng.random(left.size) < 0.05
    order = np.argsort(~accepted, kind="stable")
    weights = np.full(left.size, 1 / m)
    errors = np.array([accepted.sum()])
    of_person, squares, _ = errors_by_person(
        left[order], right[order], weights, errors, n
    )
    sums = impostor_sums(
        of_person, np.full(n, n - 1), squares, errors / m, k.size, k.size / m
    )
    sums = ErrorSums.of_groups([sums])
    assert_allclose([sums.single, sums.clumped], [[[1 / m]], [[1]]])
    assert_allclose(sums.rate, accepted.mean())
    # Independent pairs: as many effective errors as errors.
    assert_allclose(effective_errors(sums, certain(0.0)).errors, errors[None])
    assert dependence(sums).correlation < 0.1


def test_the_variance_is_as_certain_as_errors_and_people_make_it():
    """Ten errors of ten clumps say little of their correlation, single pairs need none."""
    clumped = sums_with([[10.0, 10.0]], [[60.0, 60.0]])
    depend = dependence(clumped)
    # 9.9 binomial variance and clumps of 10: each error is worth 9.9 / 60 of one.
    of_own = 9.9 * 9.9 / 60
    part = of_own / (of_own + GROUP_WEIGHT)
    expected = 1 / (part**2 / of_own + (1 - part) ** 2 / (2 * of_own + 3))
    assert_allclose(depend.known, expected)
    found = effective_errors(clumped, depend)
    estimated = 9 * depend.correlation / (1 + 9 * depend.correlation)
    assert_allclose(found.freedom, expected / estimated**2)
    single = replace(clumped, clumped=clumped.single)
    assert_allclose(effective_errors(single, dependence(single)).freedom, 39)


# Intervals


@pytest.mark.parametrize("errors", [0, 1, 7, 50, 99, 100])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_independent_errors_have_wilson_interval(errors, level):
    """deff = 1: scipy's own interval of a proportion."""
    low, high = rate_interval(effective(errors, 100), level)
    expected = binomtest(errors, 100).proportion_ci(level, method="wilson")
    assert_allclose([low, high], expected, atol=1e-12)


def test_clumped_errors_have_that_of_fewer_pairs():
    found = rate_interval(effective(12 / 3, 600 / 3), 0.95)
    assert_allclose(found, proportion(4, 200))


def test_what_people_add_is_that_of_the_variance():
    """n_eff = p (1 - p) / Var(p), Var(log odds) = 1 / (errors (1 - p)) + between."""
    errors, pairs, between = 40.0, 1000.0, 0.05
    rate = errors / pairs
    of_odds = 1 / (errors * (1 - rate)) + between
    n = 1 / (rate * (1 - rate) * of_odds)
    found = rate_interval(effective(errors, pairs, between), 0.95)
    assert_allclose(found, proportion(rate * n, n))
    halved = rate_interval(effective(errors, pairs, between), 0.95, share=0.5)
    assert_allclose(halved, proportion(2 * rate * n, 2 * n))


@pytest.mark.parametrize("between", [0.0, 0.02, 0.5])
@pytest.mark.parametrize("share", [0.2, 1.0, 1.5])
def test_more_errors_never_lower_a_bound(between, share):
    errors = np.concatenate([[0], np.geomspace(1e-3, 5000, 4000), [5000]])
    low, high = rate_interval(effective(errors, 5000.0, between, 30), 0.95, share)
    assert (np.diff(high) >= -1e-15).all() and (np.diff(low) >= -1e-15).all()
    # No seam: close numbers of errors have close bounds, the first above 0 among them.
    assert high[1] - high[0] < 1e-4 and low[1] < 1e-4
    assert (low <= errors / 5000).all() and (errors / 5000 <= high).all()


def test_no_error_among_many_pairs_bounds_a_rate_by_pairs_and_not_by_people():
    """One error in 128,815 pairs bounds the rate less tightly than none in 421,930."""
    none = rate_interval(effective(0, 421_930, 0.0, 200), 0.95)[1]
    one = rate_interval(effective(1, 128_815, 0.0, 200), 0.95)[1]
    assert none < 1e-5 < one < 6e-5


def test_few_people_widen_an_interval():
    many, few = (
        rate_interval(effective(10, 100, freedom=k), 0.95) for k in (np.inf, 3)
    )
    assert few[0] < many[0] < many[1] < few[1]


def test_a_rate_without_pairs_is_undefined():
    low, high = rate_interval(effective(0, 0), 0.95)
    assert np.isnan(low) and np.isnan(high)


def test_a_larger_quantile_gives_a_band():
    cell = effective([0, 5, 50], 500)
    low, high = wilson_interval(cell, 1.959964, 1.0)
    band_low, band_high = wilson_interval(cell, 2.8, 1.0)
    assert (band_low <= low).all() and (high < band_high).all()


# Thresholds of the same data


def test_influences_are_derivatives():
    """Of the logarithm of a rate by each person's multiplicity, numerically."""
    rng = np.random.default_rng(4)
    left, right, accepted = drawn_pairs(rng, 6, 2)
    pairs = np.bincount(left, minlength=6) + np.bincount(right, minlength=6)
    errors = np.bincount(left[accepted], minlength=6) + np.bincount(
        right[accepted], minlength=6
    )

    def log_rate(v):
        weight = v[left] * v[right]
        return np.log((weight * accepted).sum() / weight.sum())

    step = 1e-6 * np.eye(6)
    numerical = [(log_rate(1 + s) - log_rate(1 - s)) / 2e-6 for s in step]
    assert_allclose(influences(errors[None], pairs, ends=2)[0], numerical, atol=1e-8)


def test_influences_of_genuine_pairs_are_derivatives():
    rejected, pairs = np.array([2.0, 0.0, 5.0]), np.array([3.0, 6.0, 10.0])

    def log_rate(v):
        return np.log(v @ rejected / (v @ pairs))

    step = 1e-6 * np.eye(3)
    numerical = [(log_rate(1 + s) - log_rate(1 - s)) / 2e-6 for s in step]
    assert_allclose(influences(rejected[None], pairs)[0], numerical, atol=1e-8)


def test_nobody_influences_a_rate_without_errors():
    assert_array_equal(influences(np.zeros((1, 3)), np.ones(3)), np.zeros((1, 3)))


def test_a_group_that_is_everybody_keeps_nothing_of_its_variance():
    cell = effective([[400.0]], [[40_000.0]], 0.01, 100)
    variance = cell.log_variance
    one = np.ones((1, 1))
    assert share_left(cell, one, variance, variance) == 0.01
    assert_allclose(share_left(cell, 0 * one, variance, variance), 1)
    assert_allclose(share_left(cell, -one, variance, 0 * variance), 2)


def test_errors_never_tighten_an_upper_bound():
    """Single errors show that errors do not clump; the bound of none does not forget that."""
    highs = []
    for n_errors in (0, 1, 2, 3, 5, 10, 40):
        # One error of each of so many clumps, of 100 clumps of 10 pairs.
        rejected = np.zeros((1, 100))
        rejected[0, :n_errors] = 1
        sums = ErrorSums.of_groups([genuine_sums(rejected, np.full(100, 10.0))])
        effective = effective_errors(sums, dependence(sums))
        highs.append(rate_interval(effective, 0.95)[1][0, 0])
    assert (np.diff(highs) > -1e-12).all()
    assert highs[-1] > 1.1 * highs[0]


def test_unseen_is_what_no_error_would_have_shown():
    sums = sums_with([[10.0, 4.0]], [[60.0, 30.0]])
    none = sums_with([[0.0, 4.0]], [[0.0, 30.0]])
    found, expected = dependence(sums), dependence(none)
    assert_allclose(found.unseen[0, 0], expected.correlation[0, 0])
    assert_allclose(found.unseen_known[0, 0], expected.known[0, 0])


def test_exact_low_is_the_poisson_bound():
    """Of independent errors: the mean at which so many or more have the chance ``tail``."""
    for errors in (1, 4, 30):
        cell = effective(errors, 1e6)
        low = exact_low(cell, 0.01) * 1e6
        assert_allclose(poisson.sf(errors - 1, low), 0.01)
    assert exact_low(effective(0, 100), 0.01) == 0
    # People who vary, and few of them, lower it.
    known = exact_low(effective(30, 1e6), 0.01)
    assert exact_low(effective(30, 1e6, between=0.1), 0.01) < known
    assert exact_low(effective(30, 1e6, freedom=5), 0.01) < known


@pytest.mark.parametrize("errors", [0.25, 0.9, 3.0])
@pytest.mark.parametrize("between", [0.0, 0.3])
def test_exact_low_is_a_gamma_quantile_of_any_effective_number(errors, between):
    """Pairs that weigh less make less than one error; people who differ make it fewer."""
    shape = 1 / (1 / errors + between)
    expected = errors / 1000 * gamma.ppf(0.01, shape) / shape
    assert_allclose(exact_low(effective(errors, 1000, between), 0.01), expected)


@pytest.mark.parametrize(("errors", "pairs"), [(0, 40), (1, 27_000), (7, 60), (30, 31)])
def test_exact_high_is_the_bound_of_clopper_and_pearson(errors, pairs):
    found = exact_high(effective(errors, pairs), 0.05)
    test = binomtest(errors, pairs, alternative="less")
    assert_allclose(found, test.proportion_ci(0.95, method="exact").high, rtol=1e-6)


def test_exact_high_allows_for_what_is_not_known():
    known = exact_high(effective(4, 1e4), 0.05)
    assert exact_high(effective(4, 1e4, between=0.2), 0.05) > known
    assert exact_high(effective(4, 1e4, freedom=5), 0.05) > known
    assert (
        exact_high(effective(4, 1e4), 0.05, 2.0)
        > known
        > exact_high(effective(4, 1e4), 0.05, 0.5)
    )
    assert exact_high(effective(50, 50), 0.05) == 1
    assert np.isnan(exact_high(effective(0, 0), 0.05))
    highs = [exact_high(effective(e, 1e4, between=0.2), 0.05) for e in range(60)]
    assert (np.diff(np.ravel(highs)) > 0).all()


@pytest.mark.parametrize("share", [1.0, 0.7])
def test_exact_high_is_that_of_as_few_errors_as_the_variance_of_log_odds_allows(share):
    errors, pairs, between = 30, 200, 0.05
    wrong, right = errors + 1, pairs - errors
    variance = 1 / wrong + 1 / right
    known = variance / (share * (variance + between))
    expected = beta.ppf(0.95, known * wrong, known * right)
    assert_allclose(
        exact_high(effective(errors, pairs, between), 0.05, share), expected
    )


@pytest.mark.parametrize("confidence_level", [0.9, 0.95, 0.99])
def test_a_limit_passes_falsely_no_more_often_than_it_says(confidence_level):
    """Independent errors, of a rate that is just above the limit."""
    n_pairs = 200_000
    errors = np.arange(200)
    highs = np.ravel(
        [upper_bound(effective(e, n_pairs), confidence_level) for e in errors]
    )
    for mean in np.geomspace(0.05, 60, 80):
        passes = highs < mean / n_pairs
        chance = binom.pmf(errors, n_pairs, mean / n_pairs)[passes].sum()
        assert chance <= 1 - confidence_level + 1e-9


@pytest.mark.parametrize(("share", "is_exact"), [(0.5, True), (2.0, False)])
def test_a_lower_bound_is_one_sided_and_holds_for_all_groups(share, is_exact):
    """Of one group: the lower end of the interval that leaves as much above as below."""
    cell = effective(40, 1e4, freedom=5)
    low, _ = rate_interval(cell, 2 * 0.99 - 1, share)
    exact = exact_low(cell, 1 - 0.99)
    assert (exact < low) == is_exact
    found = lower_bound(cell, 0.99, 1, share)
    assert_allclose(found, min(low, exact))
    assert_allclose(lower_bound(cell, 1 - 3 * 0.01, 3, share), found)


def test_a_lower_bound_is_that_of_a_threshold_from_elsewhere_unless_told():
    cell = effective(40, 1e4, freedom=5)
    assert lower_bound(cell, 0.99, 2) == lower_bound(cell, 0.99, 2, 1.0)
    assert lower_bound(cell, 0.99, 2) > lower_bound(cell, 0.99, 2, 2.0)


@pytest.mark.parametrize("between", [0.0, 0.3])
def test_the_variance_of_a_log_rate_is_that_of_its_log_odds(between):
    """The logarithm of a rate p moves (1 - p) times as fast as that of its odds."""
    wrong, right = 8 + 0.5, 40 - 8 + 0.5
    of_odds = 1 / wrong + 1 / right + between
    share = right / (wrong + right)
    found = effective(8, 40, between).log_variance
    assert_allclose(found, share**2 * of_odds)
