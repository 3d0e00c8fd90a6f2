"""Comparisons of two groups: against F, Student and exact tests, all at once and in pairs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import linalg, stats

from skfairfr._core._family import (
    bounds,
    deviates,
    draw_jointly,
    holm,
    p_values,
    paired_deviates,
    ratios_of,
    shrunken_rates,
    step_down,
    symmetric_root,
)
from skfairfr._core._few_errors import Effective

FIRST, SECOND = np.array([0]), np.array([1])
Z95 = stats.norm.isf(0.025)


def groups(errors, pairs, between=0.0, freedom=np.inf):
    """Effective errors of several groups at one level."""
    columns = np.broadcast_arrays(*map(np.asarray, (errors, pairs, between, freedom)))
    return Effective(*(np.array(column, dtype=float) for column in columns))


def ratio(errors, pairs, **options):
    """The ratio of the first of two groups to the second."""
    return ratios_of(groups(errors, pairs, **options), FIRST, SECOND)


def cells(n_cells, rng):
    """Every two of some cells."""
    first, second = np.triu_indices(n_cells, 1)
    return first, second


# One comparison


@pytest.mark.parametrize("errors", [(9, 3), (74, 9), (500, 420), (4, 0), (0, 1)])
def test_rare_independent_errors_are_compared_as_poisson_counts(errors):
    """The tail of the beta distribution, half way between the two exact conditional ones."""
    pairs = np.array([2e12, 3e12])
    found = p_values(deviates(ratio(errors, pairs)))
    x, y = errors
    share = pairs[0] / pairs.sum()
    above = stats.beta.cdf(share, x + 0.5, y + 0.5)
    assert_allclose(found, 2 * min(above, 1 - above), rtol=1e-4)
    exact = (
        stats.binomtest(x, x + y, share, alternative="greater").pvalue,
        stats.binomtest(x, x + y, share, alternative="less").pvalue,
    )
    # The exact tests count the observed table in full, so that this one is in between.
    assert found < 2 * min(exact)


def test_common_errors_are_compared_as_proportions():
    """Many errors: the classical test of two log rates."""
    x, n = np.array([3000.0, 3300.0]), np.array([10_000.0, 10_000.0])
    found = deviates(ratio(x, n))
    p = x / n
    expected = np.log(p[0] / p[1]) / np.sqrt(((1 - p) / x).sum())
    assert_allclose(found, expected, rtol=2e-3)


def test_a_group_with_nine_errors_does_not_silence_a_certain_direction():
    """74 false accepts of 2,979 against 9 of 3,000, independent."""
    found = ratio((74, 9), (2979, 3000))
    assert p_values(deviates(found)) < 1e-10
    assert_allclose(found.raw, 74 / 2979 * 3000 / 9)
    low, high = bounds(found, Z95)
    assert 3.9 < low < 4.4 and 14 < high < 20
    # Among 24 comparisons (Bonferroni) the factor is still above 3.
    assert bounds(found, stats.norm.isf(0.025 / 24))[0] > 3


def test_swapping_groups_mirrors_everything():
    cell = groups((12.5, 3.1), (400, 900), (0.01, 0.04), (19, 59))
    one, other = (ratios_of(cell, *pair) for pair in ((FIRST, SECOND), (SECOND, FIRST)))
    assert_allclose(deviates(one), -deviates(other))
    low, high = bounds(one, 2.5)
    assert_allclose([1 / high, 1 / low], bounds(other, 2.5))


@settings(deadline=None)
@given(
    st.tuples(st.floats(0.01, 1e4), st.floats(0.01, 1e4)),
    st.tuples(st.floats(0, 0.5), st.floats(0, 0.5)),
    st.floats(15, 300),
    st.floats(1.5, 4.5),
)
def test_bounds_are_where_the_test_rejects(errors, between, freedom, quantile):
    found = ratio(errors, (2e4, 3e4), between=between, freedom=freedom)
    for bound, sign in zip(bounds(found, quantile), (1, -1), strict=True):
        assert_allclose(deviates(found, limit=bound), sign * quantile, rtol=1e-5)


def test_few_people_make_students_deviate():
    """One deviate, and the tail that Student's distribution of Satterthwaite gives it."""
    errors, pairs = (40.0, 20.0), (1e5, 1e5)
    normal = deviates(ratio(errors, pairs))
    found = ratio(errors, pairs, freedom=(4, 8))
    v = 1 / np.array([40.5, 20.5]) * (1 - np.array([40.5, 20.5]) / (1e5 + 1))
    freedom = v.sum() ** 2 / (v**2 / [4, 8]).sum()
    assert_allclose(found.freedom, freedom)
    assert_allclose(p_values(deviates(found)), 2 * stats.t.sf(normal, freedom))


def test_without_errors_there_is_nothing_to_compare():
    found = ratio((0, 0), (100, 200))
    assert deviates(found) == 0
    assert_array_equal(np.ravel(bounds(found, Z95)), [0, np.inf])


def test_how_much_larger_than_no_error_cannot_be_determined():
    low, high = bounds(ratio((8, 0), (1000, 1000)), Z95)
    assert low > 1 and np.isinf(high)
    low, high = bounds(ratio((0, 8), (1000, 1000)), Z95)
    assert low == 0 and high < 1


def test_evidence_grows_with_errors_without_a_seam():
    errors = np.linspace(0, 60, 2401)
    n = errors.size
    cell = groups(np.append(errors, 5.0), 1e5)
    found = deviates(ratios_of(cell, np.arange(n), np.full(n, n)))
    assert (np.diff(found) > 0).all() and np.diff(found).max() < 0.1


def test_overwhelming_evidence_stays_finite():
    found = deviates(ratio((1e7, 1), (1e8, 1e8)))
    assert np.isfinite(found) and found > 30


def test_the_size_of_one_comparison():
    """Poisson counts of mean 6, some of them overdispersed by people."""
    rng = np.random.default_rng(0)
    n = 4000
    frailty = rng.gamma(1 / 0.1, 0.1, (2, n))
    errors = rng.poisson(6 * frailty)
    cell = groups(errors.ravel(), 1e5, 0.1)
    found = p_values(deviates(ratios_of(cell, np.arange(n), n + np.arange(n))))
    for level in (0.01, 0.05, 0.2):
        assert abs((found < level).mean() - level) < 4 * np.sqrt(level / n)


# All at once


def test_holm_is_a_loop():
    p = np.array([0.01, 0.04, 0.03, 0.5, 0.011])
    order, largest, expected = np.argsort(p), 0.0, np.empty(5)
    for rank, place in enumerate(order):
        largest = max(largest, (5 - rank) * p[place])
        expected[place] = min(largest, 1.0)
    assert_allclose(holm(p), expected)


def test_no_p_value_of_holm_exceeds_one():
    assert_array_equal(holm(np.array([0.9, 0.4, 0.6])), [1.0, 1.0, 1.0])


def test_step_down_is_a_loop_over_draws():
    rng = np.random.default_rng(1)
    draws = rng.normal(size=(300, 4)) @ rng.normal(size=(4, 4))
    first, second = cells(4, rng)
    found = rng.normal(0, 2, first.size)
    adjusted, quantile = step_down(found, first, second, draws, 0.9)
    differences = draws[:, first] - draws[:, second]
    centred = draws - draws.mean(0)
    scaled = np.abs(differences) / (centred[:, first] - centred[:, second]).std(0)
    p = np.empty(first.size)
    for c in range(first.size):
        smaller = np.abs(found) <= abs(found[c])
        reached = (scaled[:, smaller].max(1) >= abs(found[c])).sum()
        p[c] = (1 + reached) / 301
    for c in range(first.size):
        p[c] = max(p[d] for d in range(first.size) if abs(found[d]) >= abs(found[c]))
    alone = 2 * stats.norm.sf(np.abs(found))
    p = np.maximum(np.minimum(p, holm(alone)), alone)
    assert_allclose(adjusted, p)
    largest = np.quantile(scaled.max(1), 0.9)
    assert_allclose(quantile, max(largest, stats.norm.isf(0.05)))
    # Draws of any unit: those of influences are far below 1.
    again = step_down(found, first, second, draws / 1024, 0.9)
    assert_array_equal(again[0], adjusted)
    assert_allclose(again[1], quantile)


def test_one_comparison_needs_no_adjustment():
    draws = np.random.default_rng(2).normal(size=(20_000, 2))
    adjusted, quantile = step_down(np.array([2.2]), FIRST, SECOND, draws, 0.95)
    assert_allclose(adjusted, p_values(2.2), rtol=0.1)
    assert_allclose(quantile, Z95, rtol=0.02)


def test_the_quantile_is_never_below_that_of_one_comparison():
    """Draws that are all one standard deviation away would give 1."""
    draws = np.array([[1.0, 0.0], [-1.0, 0.0]] * 50)
    _, quantile = step_down(np.array([0.5]), FIRST, SECOND, draws, 0.95)
    assert_allclose(quantile, Z95)


def test_the_same_comparison_twice_is_one():
    """Two attributes that are one: the family is no larger."""
    influence = np.random.default_rng(3).normal(size=(2, 50))
    draws = draw_jointly(np.concatenate([influence, influence]), 20_000, draws_from(4))
    adjusted, quantile = step_down(
        np.array([2.2, 2.2]), np.array([0, 2]), np.array([1, 3]), draws, 0.95
    )
    assert_allclose(adjusted, p_values(2.2), rtol=0.1)
    assert_allclose(quantile, Z95, rtol=0.02)


def draws_from(seed):
    return np.random.default_rng(seed)


def test_independent_groups_have_tukeys_quantile():
    draws = draws_from(5).normal(size=(100_000, 4))
    first, second = cells(4, None)
    quantile = step_down(np.zeros(6), first, second, draws, 0.95)[1]
    expected = stats.studentized_range.ppf(0.95, 4, np.inf) / np.sqrt(2)
    assert_allclose(quantile, expected, rtol=0.01)


def test_holm_speaks_where_draws_cannot():
    draws = draws_from(6).normal(size=(99, 3))
    first, second = cells(3, None)
    adjusted, _ = step_down(np.array([12.0, 0.1, 0.2]), first, second, draws, 0.95)
    assert_allclose(adjusted[0], 3 * p_values(12.0))


def test_cells_without_influence_are_left_out():
    """Two groups without an error do not enlarge the family."""
    draws = draws_from(7).normal(size=(50_000, 4))
    draws[:, 2:] = 0
    first, second = np.array([0, 2]), np.array([1, 3])
    adjusted, quantile = step_down(np.array([2.2, 0.0]), first, second, draws, 0.95)
    assert_allclose(adjusted[0], p_values(2.2), rtol=0.1)
    assert adjusted[1] == 1
    assert_allclose(quantile, Z95, rtol=0.02)


@pytest.mark.parametrize("n_people", [3, 40])
def test_draws_have_the_covariance_of_influences(n_people):
    influence = draws_from(8).normal(size=(6, n_people))
    draws = draw_jointly(influence, 200_000, draws_from(9))
    assert draws.shape == (200_000, 6)
    covariance = influence @ influence.T
    scale = np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
    assert_allclose(np.cov(draws.T) / scale, covariance / scale, atol=0.02)


@pytest.mark.parametrize("equal", [False, True])
def test_draws_are_the_same_whichever_eigenvectors_are_chosen(equal, monkeypatch):
    """Other signs, and any rotation of those of equal eigenvalues."""
    rng = draws_from(11)
    influence = np.kron(np.eye(6), [3.0, 4.0]) if equal else rng.normal(size=(6, 9))
    expected = draw_jointly(influence, 50, draws_from(12))
    turn = np.diag([1.0, -1, -1, 1, -1, 1])
    if equal:
        turn = linalg.qr(rng.normal(size=(6, 6)))[0]
    eigh = np.linalg.eigh

    def turned(matrix):
        values, vectors = eigh(matrix)
        return values, vectors @ turn

    monkeypatch.setattr(np.linalg, "eigh", turned)
    draws = draw_jointly(influence, 50, draws_from(12))
    assert_allclose(draws, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("n_people", [4, 40])
def test_the_symmetric_root_is_scipys(n_people):
    influence = draws_from(13).normal(size=(6, n_people))
    matrix = influence @ influence.T
    found = symmetric_root(matrix)
    assert_allclose(found, found.T, atol=1e-14)
    assert_allclose(found @ found, matrix, atol=1e-12)
    assert_allclose(found, linalg.sqrtm(matrix).real, atol=1e-6)


def test_cells_without_influence_do_not_vary():
    """Exactly: the rounding of a common root would be two more deviates of the family."""
    influence = (
        draws_from(14).normal(size=(40, 30)) * np.geomspace(1e-3, 1, 40)[:, None]
    )
    without = np.array([1, 20, 39])
    influence[without] = 0
    draws = draw_jointly(influence, 100, draws_from(15))
    assert_array_equal(draws[:, without], 0)
    others = draw_jointly(np.delete(influence, without, axis=0), 100, draws_from(15))
    assert_allclose(np.delete(draws, without, axis=1), others, rtol=1e-9, atol=1e-12)


def test_nobody_has_an_influence():
    assert_array_equal(draw_jointly(np.zeros((3, 5)), 10, draws_from(16)), 0)


# Pairs of rates on the same people


@pytest.mark.parametrize(("one", "other"), [(30, 20), (1, 7)])
def test_paired_rates_of_independent_errors_are_compared_as_counts(one, other):
    """Every error between two other people: squares of 1/errors, people's influence both."""
    errors = np.array([[one], [other]])
    squares = np.array([1 / one + 1 / other])
    sides = np.full(2 * one, 1 / one), np.full(2 * other, -1 / other)
    people = np.concatenate(sides)[None]
    found, variance = paired_deviates(errors, np.full((2, 1), 1e4), people, squares)
    assert_allclose(variance, 1 / (one + 0.5) + 1 / (other + 0.5))
    expected = np.log((one + 0.5) / (other + 0.5)) / np.sqrt(variance)
    assert_allclose(found, expected)


def test_paired_rates_of_clumps_are_those_of_fewer_errors():
    """Clumps of 5 errors between the same two people."""
    errors, n = np.array([[150.0], [100.0]]), np.full((2, 1), 1e4)
    squares = np.array([30 * (5 / 150) ** 2 + 20 * (5 / 100) ** 2])
    people = np.concatenate([np.full(60, 5 / 150), np.full(40, -5 / 100)])[None]
    found, _ = paired_deviates(errors, n, people, squares)
    alone = paired_deviates(errors / 5, n, people, np.array([1 / 30 + 1 / 20]))[0]
    assert_allclose(found, alone)


def test_pairs_that_weigh_less_make_more_errors():
    """A quarter each: four times as many errors of weight one."""
    errors, n = np.array([[30.0], [20.0]]), np.full((2, 1), 1e4)
    squares = np.array([(1 / 30 + 1 / 20) / 4])
    people = np.concatenate([np.full(240, 1 / 120), np.full(160, -1 / 80)])[None]
    found, _ = paired_deviates(errors, n, people, squares)
    alone = paired_deviates(4 * errors, n, people, squares)[0]
    assert_allclose(found, alone)


def test_paired_rates_without_errors_do_not_differ():
    none = np.zeros((2, 1)), np.ones((2, 1)), np.zeros((1, 4)), np.zeros(1)
    found, variance = paired_deviates(*none)
    assert found == 0 and np.isinf(variance)


def test_errors_of_nobody_in_particular_count_one_by_one():
    """Without influences there are no clumps: half an error is added to either count."""
    errors, pairs = np.array([[3.0], [1.0]]), np.full((2, 1), 1e4)
    found, variance = paired_deviates(errors, pairs, np.zeros((1, 4)), np.zeros(1))
    assert_allclose(variance, 1 / 3.5 + 1 / 1.5)
    assert_allclose(found, np.log(3.5 / 1.5) / np.sqrt(variance))


def test_paired_rates_of_which_one_has_no_error():
    of_person = np.array([[1 / 8] * 16])
    found, _ = paired_deviates(
        np.array([[8.0], [0.0]]), np.ones((2, 1)), of_person, np.array([1 / 8])
    )
    assert_allclose(found, np.log(8.5 / 0.5) / np.sqrt(1 / 8.5 + 1 / 0.5))


# Shrunken rates


def test_equal_groups_have_equal_shrunken_rates():
    rate = shrunken_rates(groups((20, 24, 17, 22), 1000))
    assert_allclose(rate, rate[0])
    assert 0.017 < rate[0] < 0.024


def test_certain_rates_keep_their_values():
    errors, pairs = np.array([1e6, 2e6, 5e6]), 1e9
    assert_allclose(shrunken_rates(groups(errors, pairs)), errors / pairs, rtol=1e-3)


def test_shrunken_rates_keep_their_order_and_lie_closer():
    cell = groups((3, 20, 60), 1000)
    rate = shrunken_rates(cell)
    assert (np.diff(rate) > 0).all()
    assert rate[2] / rate[0] < 60 / 3


def test_the_spread_of_shrunken_rates_is_that_of_the_truth():
    """Log rates with standard deviation .5, measured with 20 errors each."""
    rng = np.random.default_rng(10)
    spreads = []
    for _ in range(200):
        true = 0.001 * np.exp(0.5 * rng.standard_normal(12))
        errors = rng.poisson(20_000 * true)
        spreads.append(np.log(shrunken_rates(groups(errors, 20_000.0))).var(ddof=1))
    assert_allclose(np.mean(spreads), 0.25, rtol=0.15)


def test_shrunken_rates_have_the_variance_of_moments():
    """DerSimonian & Laird's estimate, group by group; Louis's shrinkage keeps it."""
    cells = Effective(
        np.array([4.0, 60.0, 300.0]), np.full(3, 1e4), np.full(3, 0.05), np.full(3, 99)
    )
    logs = np.log((cells.errors + 0.5) / cells.pairs)
    weights = [1 / v for v in cells.log_variance]
    mean = sum(w * y for w, y in zip(weights, logs, strict=True)) / sum(weights)
    q = sum(w * (y - mean) ** 2 for w, y in zip(weights, logs, strict=True))
    between = (q - 2) / (sum(weights) - sum(w * w for w in weights) / sum(weights))
    assert between > 0
    totals = [v + between for v in cells.log_variance]
    middle = sum(y / v for v, y in zip(totals, logs, strict=True))
    middle /= sum(1 / v for v in totals)
    expected = [
        np.exp(middle + np.sqrt(between / v) * (y - middle))
        for v, y in zip(totals, logs, strict=True)
    ]
    assert_allclose(shrunken_rates(cells), expected)


def test_three_people_bound_no_factor():
    low, high = bounds(ratio((40, 20), (1e5, 1e5), freedom=2), 5.0)
    assert low < 1e-3 and high > 1e3
