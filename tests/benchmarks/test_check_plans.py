"""Small versions of what the guide says of plans: data sets of the planned size answer."""

from functools import cache

import numpy as np
import pytest

from skfairfr._core._few_errors import dependence
from tests.benchmarks.check_plans import CASES, Truth, check, sums_of

QUICK = ("certify an FMR, half the limit", "detect a difference of FNMR")


@cache
def truth_of(name):
    return Truth.of(CASES[name], n_drawn=50_000)


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_data_sets_of_the_planned_size_answer(name):
    n_sets = 60
    plan, shares = check(CASES[name], n_sets, pilot=300, truth=truth_of(name))
    planned = dict(zip(plan.basis.tolist(), plan.chance.tolist(), strict=True))
    # Four standard errors, and what a pilot of 300 people per group leaves uncertain.
    error = 4 * np.sqrt(0.16 / n_sets) + 0.08
    assert abs(shares["given dependence"] - planned["given dependence"]) < error
    # People who are too few by the same standard.
    assert shares["independent pairs"] < planned["independent pairs"] - 0.15


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_rates_are_the_true_ones(name):
    case = CASES[name]
    truth = truth_of(name)
    sums = sums_of(case, 500, truth, np.random.default_rng(3))
    shown = dependence(sums)
    phi = sums.single + shown.correlation * (sums.clumped - sums.single)
    spread = np.sqrt(phi / sums.errors + shown.variation * sums.reach)
    assert (np.abs(np.log(sums.rate / truth.rates)) < 4 * spread).all()
    assert truth.rates[1, -1] == pytest.approx(case.true_rate)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_every_plan_keeps_its_word(name):
    n_sets = 300
    plan, shares = check(CASES[name], n_sets)
    (planned,) = plan.chance[plan.basis == "given dependence"]
    found = shares["given dependence"]
    assert abs(found - planned) < 0.07 + 3 * np.sqrt(0.16 / n_sets)
