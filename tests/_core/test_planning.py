"""Plans against textbook formulas, brute force and drawn numbers of errors."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from skfairfr._core._family import deviates, ratios_of
from skfairfr._core._few_errors import Effective, dependence
from skfairfr._core._planning import (
    RateAbove,
    RateWithin,
    RatioJudged,
    Setting,
    count_cdf,
    count_quantile,
    fewest_people,
    first_number,
    last_number,
)
from skfairfr.report._verdicts import Judged

DISTRIBUTIONS = {
    "binomial": stats.binom(40, 0.3),
    "Poisson": stats.poisson(7.5),
    "negative binomial": stats.nbinom(3, 0.2),
    "none": stats.poisson(0),
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_numbers_of_errors_have_the_distribution_of_their_variance(name):
    expected = DISTRIBUTIONS[name]
    mean, variance = expected.stats("mv")
    k = np.arange(-2.0, 60.0)
    assert_allclose(count_cdf(k, mean, variance), expected.cdf(k), atol=1e-10)
    probability = np.array([0.001, 0.2, 0.5, 0.77, 0.999])
    found = count_quantile(probability, float(mean), float(variance))
    assert_allclose(found, expected.ppf(probability))


def test_what_lies_beyond_all_numbers_tried_is_the_last_of_them():
    """Errors that come in huge clumps: not even 50 spreads are certain to hold them all."""
    last = count_quantile(1.0, 1.0, 1e6)
    assert count_cdf(last, 1.0, 1e6) < 1
    assert last >= count_quantile(1 - 1e-9, 1.0, 1e6)


@pytest.mark.parametrize("most", [0, 1, 2, 7, 10])
def test_the_last_number_is_found_up_to_the_highest(most):
    assert last_number(lambda k: k <= most, 10, True) == most
    assert last_number(lambda k: True, most, True) == most
    assert last_number(lambda k: True, most, False) == pytest.approx(most)
    found = last_number(lambda k: k <= most / 3, 10, False)
    assert found == pytest.approx(most / 3, abs=1e-8)
    assert last_number(lambda k: False, 10, True) == -1


@pytest.mark.parametrize("variance", [3.0, 5.0, 12.0])
def test_between_whole_numbers_of_errors_probabilities_rise(variance):
    k = np.linspace(0, 25, 501)
    found = count_cdf(k, 5.0, variance)
    assert (np.diff(found) >= 0).all()
    assert found[0] > 0 and found[-1] <= 1


def wilson_high(errors, n, confidence_level):
    z = stats.norm.ppf(confidence_level)
    p = errors / n
    middle = p + z**2 / (2 * n)
    half = z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    return (middle + half) / (1 + z**2 / n)


def wilson_low(errors, n, confidence_level):
    return 1 - wilson_high(n - errors, n, confidence_level)


def certain(people, rate, limit, level):
    """Probability that independent pairs of so many people certify a rate, by counting."""
    n = people * (people - 1) // 2
    errors = np.arange(n + 1)
    exact = stats.beta.ppf(level, errors + 1, np.maximum(n - errors, 1e-9))
    within = np.maximum(wilson_high(errors, n, level), exact) <= limit
    return stats.binom(n, rate).pmf(errors[within]).sum()


@pytest.mark.parametrize(
    ("rate", "limit", "level", "power"),
    [
        (0.0, 0.01, 0.95, 0.8),
        (0.002, 0.01, 0.95, 0.8),
        (0.005, 0.01, 0.95, 0.9),
        (0.005, 0.01, 0.9, 0.6),
    ],
)
def test_fewest_people_by_trying_all_numbers(rate, limit, level, power):
    question = RateWithin(Setting("far", (rate,), 1), limit, level)
    found = fewest_people(question, power)
    chances = [certain(people, rate, limit, level) for people in range(2, 101)]
    failing = 2 + np.flatnonzero(np.array(chances) < power)
    assert failing[-1] + 1 == found < 95
    # Whole errors make it go up and down.
    assert question.probability(found) == pytest.approx(chances[found - 2], abs=1e-9)


@pytest.mark.parametrize(
    ("limit", "people"), [(1e-3, 78), (1e-4, 246), (1e-5, 776), (1e-6, 2450)]
)
def test_people_of_the_rule_of_three(limit, people):
    setting = Setting("far", (0.0,), 1)
    assert first_number(lambda k: setting.pairs(k) >= 3 / limit, 2) == people
    # The rule rounds what Clopper and Pearson's bound needs.
    found = fewest_people(RateWithin(setting, limit, 0.95), 0.8)
    needed = np.log(0.05) / np.log1p(-limit)
    assert people - 2 <= found <= people
    assert setting.pairs(found) >= needed > setting.pairs(found - 1)


def audited_low(errors, n, confidence_level):
    """The lower one of Wilson's bound and Poisson's exact one, of independent errors."""
    if errors == 0:
        return 0.0
    exact = stats.gamma.ppf(1 - confidence_level, errors) / n
    return min(wilson_low(errors, n, confidence_level), exact)


@pytest.mark.parametrize("groups", [1, 3])
@pytest.mark.parametrize(("rate", "limit"), [(0.1, 0.05), (0.9, 0.6)])
def test_a_rate_above_its_limit_is_shown_by_the_lower_of_two_bounds(
    groups, rate, limit
):
    """By trying every number of errors; with three groups the bound is of 0.95 for all."""
    question = RateAbove(Setting("frr", (rate,) * groups, 2), limit, 0.95)
    level, differ = 1 - 0.05 / groups, 0
    for people in (50, 120, 121, 200):
        errors = np.arange(people + 1)
        above = [audited_low(e, people, level) > limit for e in errors]
        chance = stats.binom(people, rate).pmf(errors)
        found = question.probability(people)
        assert found == pytest.approx(chance[above].sum(), abs=1e-9)
        differ += found < chance[wilson_low(errors, people, level) > limit].sum() - 1e-6
        low = audited_low(np.floor(rate * people), people, level)
        assert question.bound(people) == pytest.approx(low)
    # Wilson's alone is another rule.
    assert differ


@pytest.mark.parametrize("rate", ["far", "frr"])
def test_plans_and_audits_judge_a_rate_by_the_same_bounds(rate):
    setting = Setting(rate, (0.01, 0.005, 0.005), 3, 0.3, 0.5, 0.2)
    counts = setting.counted(90)
    for errors in (1.0, 7.0, 40.0):
        each = counts.of(np.full(3, errors), np.arange(3))
        none = np.zeros(0)
        judged = Judged(
            ["a", "b", "c"], each.rate, None, none, none, none, 3, each, np.ones(3), 2.0
        )
        low, high = judged.one_sided(0.95)
        assert counts.lower(errors, 0.95) == low[0]
        assert counts.upper(errors, 0.95) == high[0]


@pytest.mark.parametrize(("rate", "sizes"), [("far", (15, 25)), ("frr", (40, 90))])
def test_dependent_errors_above_a_limit_by_trying_all_numbers(rate, sizes):
    """Both bounds from the effective numbers by textbook formulas, error by error."""
    setting = Setting(rate, (0.02, 0.02), 3, 0.3, 0.4, 0.3)
    question = RateAbove(setting, 0.01, 0.9)
    for people in sizes:
        counts, tail = setting.counted(people), 0.1 / 2
        effective, mean = counts.effective, counts.mean[0]
        between, freedom = effective.between[0], effective.freedom[0]
        n = effective.pairs[0]
        z = stats.t.isf(tail, freedom)
        below = 0
        for errors in range(int(counts.pairs)):
            e = errors / counts.together[0]
            p = e / n
            worth = n / (1 + e * (1 - p) * between)
            roots = np.roots([worth + z**2, -(2 * worth * p + z**2), worth * p**2])
            low = 0.0
            if errors:
                # A gamma mean of as many errors, and of people who differ.
                shape = 1 / (1 / e + between)
                exact = p / shape * stats.gamma.ppf(stats.norm.sf(z), shape)
                low = min(roots.min(), exact)
            if low > 0.01:
                break
            below = errors
        excess = counts.variance[0] - mean
        size = mean**2 / excess
        many = stats.nbinom(size, size / (size + mean)).sf(below)
        assert 0.05 < many < 0.95
        assert question.probability(people) == pytest.approx(many, abs=1e-9)


@pytest.mark.parametrize("rate", ["far", "frr"])
def test_expected_sums_have_the_dependence_they_were_made_of(rate):
    setting = Setting(rate, (0.01, 0.01), 5, 0.3, 0.8, 0.3)
    found = dependence(setting._expected_sums(20_000))
    assert_allclose(found.correlation, 0.3, atol=2e-3)
    if rate == "far":
        assert_allclose(found.variation, 0.8, atol=1e-2)


@pytest.mark.parametrize("rate", ["far", "frr"])
def test_the_variance_is_that_of_people_who_differ_and_of_clumps(rate):
    people, m, p, correlation = 300, 4, 0.01, 0.25
    setting = Setting(rate, (p,), m, correlation, 0.5, correlation)
    counts = setting.counted(people)
    clump = m**2 if rate == "far" else m * (m - 1) / 2
    clumps = people * (people - 1) / 2 if rate == "far" else people
    mean = p * clumps * clump
    variance = mean * (1 - p) * (1 + correlation * (clump - 1))
    if rate == "far":
        variance += (mean * (1 - p)) ** 2 * 0.5 * 4 / people
    assert_allclose(counts.mean, mean)
    assert_allclose(counts.variance, variance)


def drawn(setting, people, n, seed):
    """Numbers of errors (n, n_groups): gamma mixtures of Poisson or binomial numbers."""
    rng = np.random.default_rng(seed)
    counts = setting.counted(people)
    found = []
    for mean, variance in zip(counts.mean, counts.variance, strict=True):
        if variance > mean:
            shape = mean**2 / (variance - mean)
            found.append(rng.poisson(rng.gamma(shape, mean / shape, n)))
        else:
            found.append(rng.binomial(int(counts.pairs), mean / counts.pairs, n))
    return counts, np.stack(found, axis=1).astype(float)


@pytest.mark.parametrize(
    ("rates", "limit", "above", "correlation"),
    [
        ((0.03, 0.02), 1.0, True, None),
        ((0.02, 0.02, 0.02), 2.0, False, 0.3),
        ((0.04, 0.02, 0.02), 1.2, True, 0.3),
        pytest.param((0.03, 0.02), 1.0, True, 0.3, marks=pytest.mark.slow),
        pytest.param((0.02, 0.02, 0.02), 2.0, False, None, marks=pytest.mark.slow),
        pytest.param((0.04, 0.02, 0.02), 1.2, True, None, marks=pytest.mark.slow),
    ],
)
def test_judged_ratios_of_drawn_errors(rates, limit, above, correlation):
    variation = None if correlation is None else 0.6
    setting = Setting("far", rates, 2, correlation, variation, correlation)
    n = len(rates)
    question = RatioJudged(setting, limit, above, 0.95, n * (n - 1) // 2)
    people = fewest_people(question, 0.7)
    counts, errors = drawn(setting, people, 4000, 1)
    first, second = np.nonzero(~np.eye(n, dtype=bool))
    z = stats.norm.ppf(1 - 0.025 / question.comparisons)
    yes = 0
    for row in errors:
        of_groups = Effective(
            row / counts.together,
            counts.effective.pairs,
            counts.effective.between,
            counts.effective.freedom,
        )
        found = deviates(ratios_of(of_groups, first, second), limit)
        yes += (found[first == 0] > z).any() if above else (found < -z).all()
    share = yes / len(errors)
    assert question.probability(people) >= 0.7
    assert share == pytest.approx(question.probability(people), abs=0.025)


def test_many_errors_are_detected_as_the_normal_approximation_says():
    setting = Setting("frr", (0.012, 0.01), 2)
    found = fewest_people(RatioJudged(setting, 1.0, True, 0.95, 1), 0.8)
    z = stats.norm.ppf(0.975) + stats.norm.ppf(0.8)
    expected = z**2 * (0.988 / 0.012 + 0.99 / 0.01) / np.log(1.2) ** 2
    assert found == pytest.approx(expected, rel=0.03)


def test_more_dependence_and_more_power_take_more_people():
    def people(correlation=0.2, variation=0.5, power=0.8, images=3):
        setting = Setting(
            "far", (5e-4,), images, correlation, variation, lent=correlation
        )
        return fewest_people(RateWithin(setting, 1e-3, 0.95), power)

    assert people() < people(correlation=0.5) < people(correlation=0.9)
    assert people() < people(variation=1.5)
    assert people(power=0.5) < people() < people(power=0.95)
    assert people(images=1) > people(images=2) > people()


def test_an_audit_that_borrows_a_larger_correlation_takes_more_people():
    setting = Setting("far", (2e-4,), 4, 0.05, 0.5, 0.05)
    borrowing = replace(setting, lent=0.3)
    found = [
        fewest_people(RateWithin(s, 1e-3, 0.95), 0.8) for s in (setting, borrowing)
    ]
    assert found[0] < found[1]


def test_a_rate_next_to_its_limit_takes_more_than_ten_million_people():
    setting = Setting("frr", (0.0099999,), 2)
    assert fewest_people(RateWithin(setting, 0.01, 0.95), 0.8) is None


def test_where_one_error_fewer_never_suffices_numbers_are_tried_one_by_one():
    class Question:
        def probability(self, people, more=0.0, whole=True):
            enough = people >= (9 if whole else 5)
            return float(enough and not more)

    assert fewest_people(Question(), 0.8) == 9


def test_too_few_people_certify_nothing():
    question = RateWithin(Setting("far", (0.0,), 1), 1e-4, 0.95)
    assert question.probability(100) == 0
    assert question.most_errors(question.setting.counted(100)) == -1


@pytest.mark.parametrize(("above", "sign"), [(True, 1), (False, -1)])
def test_bounds_of_ratios_are_those_that_are_judged(above, sign):
    setting = Setting("frr", (0.06, 0.03), 2)
    question = RatioJudged(setting, 1.0, above, 0.9, 3)
    bound = question.bound(1000)
    counts = setting.counted(1000)
    of_groups = counts.of(np.array([60.0, 30.0]), np.array([0, 1]))
    found = deviates(ratios_of(of_groups, np.array([0]), np.array([1])), bound)
    assert sign * found[0] == pytest.approx(stats.norm.ppf(1 - 0.05 / 3), abs=1e-6)
