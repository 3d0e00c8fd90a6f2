"""Simulated errors against sums over people, closed forms, and the verdicts of an audit."""

from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad
from scipy.stats import beta, binom

from skfairfr._core import _planning
from skfairfr._core._jackknife import (
    Contrasts,
    ErrorSums,
    genuine_sums,
    impostor_sums,
    rate_ends,
)
from skfairfr._core._planning import (
    PlanGoal,
    Setting,
    enlarged,
    fewest_people,
    first_number,
    genuine_sums_of,
    impostor_sums_of,
)
from skfairfr.metrics._roc._evidence import ComparedGroups

TAIL = 0.025


def powers_of(errors):
    """Sums of the first to fourth power over the last axis."""
    return [(errors**power).sum(axis=-1) for power in (1, 2, 3, 4)]


def assert_same(found, expected):
    for name in ErrorSums._fields:
        assert_allclose(
            getattr(found, name), getattr(expected, name), atol=1e-9, err_msg=name
        )


@pytest.mark.parametrize("people", [2, 3, 5, 30])
@pytest.mark.parametrize("cluster", [1, 6])
def test_sums_of_genuine_pairs_are_those_of_an_audit(people, cluster):
    rejected = np.random.default_rng(people).binomial(cluster, 0.2, (7, people))
    expected = genuine_sums(rejected, np.full(people, cluster))
    assert_same(genuine_sums_of(powers_of(rejected), people, cluster), expected)


@pytest.mark.parametrize("people", [2, 3, 5, 12])
@pytest.mark.parametrize("cluster", [1, 4])
def test_sums_of_impostor_pairs_are_those_of_an_audit(people, cluster):
    """All is compared with all: errors of every two people, from a loop."""
    couples = list(combinations(range(people), 2))
    errors = np.random.default_rng(people).binomial(cluster, 0.2, (7, len(couples)))
    of_person = np.zeros((7, people))
    for place, (one, other) in enumerate(couples):
        of_person[:, one] += errors[:, place]
        of_person[:, other] += errors[:, place]
    e, c = errors.astype(float), float(cluster)
    products = [e**2, e**3, e**4, e * c, e**2 * c, e**3 * c]
    products += [e * c**2, e**2 * c**2, e * c**3]
    powers = np.stack([p.sum(axis=1) for p in products], axis=-1)
    sizes = tuple(len(couples) * c**power for power in (2, 3, 4))
    pairs = np.full(people, (people - 1) * c)
    expected = impostor_sums(of_person, pairs, powers, sizes)
    found = impostor_sums_of(powers_of(errors), powers_of(of_person), people, cluster)
    assert_same(found, expected)


@pytest.mark.parametrize("images", [2, 3, 5])
def test_pairs_are_those_of_a_loop_over_images(images):
    """Four people; each image is one search."""
    of = np.repeat(np.arange(4), images)
    couples = list(combinations(of, 2))
    far, frr, fpir = (
        Setting(rate, (0.1,), images, 0, 0).pairs(4) for rate in ("far", "frr", "fpir")
    )
    assert far == sum(one != other for one, other in couples)
    assert frr == sum(one == other for one, other in couples)
    assert fpir == of.size


@pytest.mark.parametrize(
    ("rate", "correlation", "variation"),
    [("far", 0, 0), ("far", 0.5, 1), ("frr", 0.2, 1), ("frr", 1, 0.3)],
)
def test_errors_have_the_dependence_that_is_asked_for(rate, correlation, variation):
    setting = Setting(rate, (0.01, 0.02), 4, correlation, variation)
    people, true = 60, np.array(setting.rates)
    sums = setting.draw(people, 1000)
    assert (sums.people == people).all()
    expected = setting.pairs(people) * true
    cluster = 1 + correlation * (setting.cluster - 1)
    right = 1 if rate == "far" else 1 - true  # clusters of accepted pairs are rare
    variance = expected * cluster * right
    if rate == "far":
        variance += 4 * variation / people * expected**2
    spread = np.sqrt(variance / 1000)
    assert (np.abs(sums.errors.mean(axis=0) - expected) < 4 * spread).all()
    assert_allclose(sums.errors.var(axis=0), variance, rtol=0.2)
    # And an audit finds it, on average.
    assert_allclose(sums.variance.mean(axis=0), variance, rtol=0.2)


def test_errors_of_a_person_are_binomial_with_a_rate_from_a_beta_distribution():
    rate, correlation, cluster = 0.3, 0.2, 6
    of_people = beta(*(r * (1 / correlation - 1) for r in (rate, 1 - rate)))
    expected = [
        quad(lambda r, e=e: binom.pmf(e, cluster, r) * of_people.pdf(r), 0, 1)[0]
        for e in range(1, cluster + 1)
    ]
    found = _planning._sizes_of_clusters(cluster, rate, correlation)
    assert_allclose(found, np.array(expected) / sum(expected), rtol=1e-6)


def test_two_people_have_errors_in_proportion_to_the_product_of_their_factors():
    factors = np.array([1.0, 2.0, 5.0])
    people = _planning._People(np.ones((1, 3), dtype=int), factors)
    n = 20_000
    drawn = people.every_two(np.zeros(n, dtype=int), np.random.default_rng(0))
    assert (drawn[0] != drawn[1]).all()
    chances = np.array([1 * 2, 1 * 5, 2 * 5]) / 17
    found = np.bincount(drawn[0] + drawn[1] - 1, minlength=3) / n
    assert (np.abs(found - chances) < 4 * np.sqrt(chances * (1 - chances) / n)).all()


def test_without_dependence_numbers_of_errors_are_binomial():
    """One pair of each person: the bound is one of the number of errors alone."""
    question = asked(Setting("frr", (0.02, 0.02), 2, 0.5, 1.0), "certify", 0.04)
    for people in (150, 400, 700):
        numbers = np.arange(60)
        ones = np.zeros((60, people))
        for number in numbers:
            ones[number, :number] = 1
        _, high = rate_ends(genuine_sums(ones, np.ones(people)), TAIL)
        within = numbers[high <= 0.04].max(initial=-1)
        chance = binom.cdf(within, people, 0.02) ** 2
        error = np.sqrt(chance * (1 - chance) / _planning.N_SETS)
        assert abs(question.chance(people) - chance) <= 4 * error


def asked(setting, kind, limit, groups=None, comparisons=1):
    groups = len(setting.rates) if groups is None else groups
    return PlanGoal(setting, kind, limit, groups, 1 - 2 * TAIL, comparisons)


@pytest.fixture
def few_sets(monkeypatch):
    monkeypatch.setattr(Setting.draw, "__defaults__", (60,))


@pytest.mark.parametrize("limit", [1e-2, 1e-6])
@pytest.mark.parametrize("variation", [0.0, 1.0])
def test_without_errors_people_follow_a_rule_of_three(limit, variation, few_sets):
    """With a chance of .025 to have none the rate is 3.69 over the number of pairs."""
    people = fewest_people(
        asked(Setting("far", (0.0,) * 3, 1, 0.5, variation), "certify", limit), 0.8
    )
    wanted = np.sqrt(-2 * np.log(TAIL) / limit)  # K (K - 1) / 2 pairs
    assert wanted < people < 1.02 * wanted + 2


@pytest.mark.parametrize("groups", [2, 4])
@pytest.mark.parametrize("rate", ["far", "frr"])
def test_ratios_are_judged_as_in_an_audit(groups, rate, few_sets):
    rates = (3e-3,) + (1e-3,) * (groups - 1)
    setting = Setting(rate, rates, 4, 0.3, 0.3)
    people = 120 if rate == "far" else 900
    sums = setting.draw(people)
    tests = groups - 1
    answers = {
        kind: asked(setting, kind, limit, comparisons=tests).answers(people)
        for kind, limit in (("pass", 4.0), ("fail", 1.5), ("detect", 1.0))
    }
    evidence = SimpleNamespace(added_to=lambda level, weights: 0.0)
    for place in range(12):
        of_set = sums.rows(place)
        evidence.sums = SimpleNamespace(rows=lambda level, found=of_set: found)
        compared = ComparedGroups(evidence, 0)
        low, high = compared.largest_ratio(TAIL)
        assert answers["pass"][1][place] == pytest.approx(high)
        assert max(1.0, answers["fail"][1][place]) == pytest.approx(low)
        over_reference = np.eye(groups)[:1] - np.eye(groups)[-1:]
        p_value = Contrasts(of_set, over_reference).p_value[0]
        detected = tests * p_value <= 2 * TAIL
        assert answers["detect"][0][place] == detected
    assert_array_equal(answers["detect"][0], answers["detect"][1] > 1)
    assert_array_equal(answers["fail"][0], answers["fail"][1] > 1.5)
    assert_array_equal(answers["pass"][0], answers["pass"][1] <= 4)


def test_a_rate_above_its_limit_is_shown_by_a_bound_that_holds_for_all_groups():
    setting = Setting("frr", (0.04,), 2, 0.0, 0.0)
    sums = setting.draw(500)
    for groups in (1, 2, 5):
        found, bound = asked(setting, "fail", 0.02, groups).answers(500)
        low, _ = rate_ends(sums, min(TAIL, 2 * TAIL / groups))
        assert_allclose(bound, low[:, 0])
        assert_array_equal(found, bound > 0.02)


@pytest.mark.parametrize("growth", [1, 2])
def test_enlarged_sums_have_the_worth_of_more_people(growth):
    setting = Setting("far", (0.01,), 3, 0.4, 0.5)
    sums = setting.draw(80, 50)
    more, factor = enlarged(sums, 9.0, growth), 9.0
    assert_allclose(more.rate, sums.rate)
    own = sums.own / sums.errors**2 / factor**growth
    between = (sums.variance - sums.own) / sums.errors**2 / factor
    assert_allclose(more.variance / more.errors**2, own + between)
    skewness = [s.cubes * s.errors / s.variance**2 for s in (sums, more)]
    assert_allclose(*skewness)
    often = enlarged(sums, 1.0, growth, 2.0)
    assert_allclose(often.rate, 2 * sums.rate)
    same = enlarged(sums, 1.0, growth)
    assert_same(same, sums)


@pytest.mark.parametrize("first", [2, 3, 17, 1000, _planning.MAX_PEOPLE, np.inf])
def test_the_first_number_is_found_if_it_is_not_beyond_the_most(first):
    asked = []

    def holds(number):
        asked.append(number)
        assert 2 <= number <= _planning.MAX_PEOPLE and len(asked) < 60
        return number >= first

    assert first_number(holds, 2) == (None if first == np.inf else first)
    assert max(asked) <= 2 * first  # drawing many people takes long


def test_a_first_group_that_errs_less_is_not_found_to_err_more():
    question = asked(Setting("frr", (0.01, 0.03), 2, 0.0, 0.0), "detect", 1.0)
    assert question.chance(3000) == 0
