"""Covariance of two rates against loops, Student's test against scipy, Fieller's interval."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse, stats

from skfairfr._core._jackknife import ErrorSums
from skfairfr._core._paired import (
    PairedDifference,
    SymmetricContrasts,
    clusters,
    ratio_ends,
    stacked,
)

# Of people without errors nothing is expected.
NONE = (np.zeros((2, 2)), 0.0, 0.0)


def test_clusters_are_sums_over_the_pairs_of_two_people():
    rng = np.random.default_rng(0)
    left, right = rng.integers(0, 7, (2, 60))
    weights = rng.normal(size=60)
    expected = np.zeros((7, 7))
    for i, j, w in zip(left, right, weights, strict=True):
        expected[min(i, j), max(i, j)] += w
    found = clusters(left, right, weights, 7).toarray().reshape(7, 7)
    assert_allclose(found, expected)
    assert clusters(left[:0], right[:0], weights[:0], 7).nnz == 0


def of_two(x, y):
    """Two rates that are means of what people have."""
    n = x.size
    influence = np.stack([x - x.mean(), y - y.mean()]) / np.sqrt(n * (n - 1))
    return PairedDifference(influence, np.zeros((2, 0)), NONE, np.zeros(2), n)


def test_covariance_is_the_double_sum_over_clusters_that_share_a_person():
    """Two rates made of clusters alone: Cov = sum over all clusters that share somebody."""
    rng = np.random.default_rng(1)
    n = 12
    left, right = np.triu_indices(n, 1)
    # People of their own make clusters vary together.
    own = rng.normal(size=(2, n))
    x = own[:, left] + own[:, right] + 0.1 * rng.normal(size=(2, left.size))
    expected = np.zeros((2, 2))
    for c in range(left.size):
        for d in range(left.size):
            if {left[c], right[c]} & {left[d], right[d]}:
                expected += np.outer(x[:, c], x[:, d])
    influence = np.zeros((2, n))
    for c in range(left.size):
        influence[:, [left[c], right[c]]] += x[:, [c]]
    found = PairedDifference(influence, x, NONE, np.zeros(2), n)
    assert_allclose(found.covariance, expected)
    # One pair more that errs, in either alone.
    more = PairedDifference(influence, x, NONE, np.array([0.1, 0.3]), n)
    assert_allclose(more.covariance, expected + np.diag([0.01, 0.09]))


def test_people_add_no_negative_variance_to_the_difference():
    """Clusters of opposite signs that share people."""
    influence = np.array([[1.0, 0.0, -1.0], [0.0, 0.0, 0.0]])
    clustered = np.array([[1.0, -1.0], [0.0, 0.0]])
    found = PairedDifference(influence, clustered, NONE, np.zeros(2), np.inf).covariance
    assert_allclose(found[0, 0] + found[1, 1] - 2 * found[0, 1], 2)


def test_the_test_of_many_people_is_student_s():
    """Differences of people with equal weights: scipy's paired test."""
    rng = np.random.default_rng(2)
    x, y = rng.normal(0.05, 1, 3000), rng.normal(0, 1, 3000)
    found = of_two(x, y).judge(np.array([x.mean(), y.mean()]), 0.05)
    expected = stats.ttest_rel(x, y)
    assert_allclose(found[0], expected.pvalue, rtol=0.05)
    width = expected.confidence_interval(0.9)
    assert_allclose(found[1:3], width, atol=0.02 * (width[1] - width[0]))


@pytest.mark.parametrize("exchanged", [False, True])
def test_interval_and_p_value_agree_and_exchange(exchanged):
    rng = np.random.default_rng(3)
    for _ in range(20):
        x, y = rng.poisson(rng.uniform(0.2, 2, (2, 1)), (2, 40)) / 10.0
        rates = np.array([x.mean(), y.mean()])
        if exchanged:
            one, two = (
                of_two(x, y).judge(rates, 0.025),
                of_two(y, x).judge(rates[::-1], 0.025),
            )
            assert_allclose(one[0], two[0], rtol=1e-5)
            assert_allclose(one[1:3], np.negative(two[2:0:-1]), rtol=1e-6)
        p, low, high, ratio_low, ratio_high = of_two(x, y).judge(rates, 0.025)
        assert (p < 0.05) == (low > 0 or high < 0) == (ratio_low > 1 or ratio_high < 1)


def test_no_array_of_every_two_people_is_made():
    """Ten thousand people are a hundred million couples, of whom three err."""
    n = 10_000
    influence = np.random.default_rng(0).normal(size=(2, n)) / n
    one = clusters(np.array([0, 7]), np.array([5, 9]), np.array([0.1, 0.2]), n)
    other = clusters(np.array([9]), np.array([7]), np.array([0.1]), n)
    tracemalloc.start()
    clustered = stacked([one, other])
    assert_allclose(clustered.toarray(), [[0.1, 0.2], [0, 0.1]])
    found = PairedDifference(influence, clustered.toarray(), NONE, np.full(2, 1e-3), n)
    found.judge(np.array([0.2, 0.1]), 0.025)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 2e7


rates = st.floats(0, 0.5).map(lambda x: round(x, 3))
sizes = st.floats(1e-3, 0.2)


@given(rates, rates, sizes, sizes, st.floats(-0.95, 0.95), st.floats(0, 10))
@example(0.478, 0.02, 0.125, 0.01, 0.0, 1.0)  # the second rate is two of its errors
def test_the_ratio_s_interval_holds_what_a_difference_does_not_reject(
    a, b, sd_a, sd_b, correlation, q
):
    assume(a > 0 or b > 0)
    both = correlation * sd_a * sd_b
    found = np.array([[sd_a**2, both], [both, sd_b**2]])
    low, high = ratio_ends(np.array([a, b]), found, 2.0)

    def deviate(q):
        return abs(a - q * b) / np.sqrt(sd_a**2 - 2 * q * both + q**2 * sd_b**2)

    ratio = a / b if b else np.inf
    assert 0 <= low <= ratio * (1 + 1e-9) and ratio <= high * (1 + 1e-9)
    if low * (1 + 1e-6) < q < high * (1 - 1e-6):
        assert deviate(q) <= 2.0 + 1e-6
    for end in (low, high):
        if 0 < end < 1e6:
            assert_allclose(deviate(end), 2.0, rtol=1e-3)
    # Just outside of an end the difference rejects.
    if low > 1e-6:
        assert deviate(low * 0.999) > 2.0 - 1e-6
    if abs(deviate(1.0) - 2.0) > 1e-3 and low < 1 < high:
        assert deviate(1.0) < 2.0


@pytest.mark.parametrize("reach", [1.5, 2.5])
def test_without_bounds_the_ratio_may_be_anything(reach):
    found = np.diag([0.01, 0.01])
    assert ratio_ends(np.array([0.1, 0.05]), found, reach)[1] == np.inf
    assert np.isnan(ratio_ends(np.zeros(2), found, reach)).all()
    low, high = ratio_ends(np.array([1.0, 0.0]), found, reach)
    assert_allclose(low, np.sqrt(1 / reach**2 - 0.01) / 0.1)
    assert high == np.inf


def contrast_of(errors, cluster=1, n=1e4):
    """The ratio of two rates whose errors are each between two people of their own."""
    numbers = [e // cluster for e in errors]
    n_people = 2 * sum(numbers)
    influence, clustered = np.zeros((2, n_people)), sparse.lil_array((2, n_people**2))
    first = 0
    for rate, number in enumerate(numbers):
        for k in range(first, first + 2 * number, 2):
            influence[rate, k : k + 2] = 1 / number
            clustered[rate, k * n_people + k + 1] = 1 / number
        first += 2 * number
    errors, ones = np.array(errors, dtype=float), np.ones(2)
    squares = errors * cluster
    sums = ErrorSums(
        *(errors, n * ones, ones, cluster * ones, squares, squares, 0 * ones, 0 * ones),
        1e3 * ones,
    )
    weights = np.array([[1.0, -1.0]])
    return SymmetricContrasts.of(weights, sums, influence, clustered.tocsr())


@pytest.mark.parametrize(("one", "other"), [(30, 20), (1, 7)])
def test_paired_rates_of_independent_errors_are_compared_as_counts(one, other):
    """And one error more in either."""
    found = contrast_of([one, other])
    variance = sum(1 / e + 1 / e**2 for e in (one, other))
    assert_allclose(found.value, np.log(one / other))
    assert_allclose(found.error, np.sqrt(variance))


def test_paired_rates_of_clusters_are_those_of_fewer_errors():
    """Clusters of 5 errors between the same two people."""
    found = contrast_of([150, 100], 5)
    variance = 1 / 30 + 1 / 20 + 1 / 150**2 + 1 / 100**2
    assert_allclose(found.error, np.sqrt(variance))
    assert_allclose(
        found.p_value, 2 * stats.t.sf(np.log(1.5) / found.error, found.freedom)
    )


def test_paired_rates_of_which_one_has_no_error_count_a_cluster_there():
    found = contrast_of([8, 0], 4)
    assert_allclose(found.value, np.log(8 / 4))
    assert_allclose(found.error, np.sqrt(1 / 2 + 1 / 64 + 1))
