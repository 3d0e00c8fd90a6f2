"""The study of verdicts draws what it says; .ci/nightly runs it."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.benchmarks import coverage

pytestmark = pytest.mark.slow
# One group of each kind that draws errors differently; more errors than in the study.
KINDS = {
    "even": coverage.EVEN,
    "normal": coverage.MILD,
    "log": {"person": 0.3, "couple": 0.5, "log": True},
    "wolves and goats": coverage.WILD,
    "heavy tails": {"person": 0.3, "couple": 0.5, "log": True, "heavy": True},
}


@pytest.mark.parametrize("kind", KINDS)
def test_mean_errors_are_those_of_the_rates(kind):
    group = coverage.Group(60, 4, far=2e-3, frr=0.1, **KINDS[kind])
    rng = np.random.default_rng(0)
    found = [[s.rate[0] for s in group.draw(rng)] for _ in range(400)]
    error = np.std(found, axis=0) / np.sqrt(len(found))
    assert (np.abs(np.mean(found, axis=0) - [group.far, group.frr]) < 4 * error).all()
    assert (error < 0.1 * np.array([group.far, group.frr])).all()


def test_errors_of_a_couple_are_a_binomial_number():
    """Of even people, each of whose couples has the same chance."""
    n, m, far = 200, 2, 0.2
    own, rng = np.zeros(n), np.random.default_rng(1)
    left, right, errors, score, chance = coverage._couples(
        own, m * m, np.log(far), 0.0, 0.0, rng
    )
    assert_allclose(score, np.log(far))
    assert_allclose(chance, far)
    assert (left < right).all()
    counted = np.bincount(errors.astype(int), minlength=m * m + 1)
    counted[0] = n * (n - 1) // 2 - left.size
    expected = counted.sum() * np.array([0.4096, 0.4096, 0.1536, 0.0256, 0.0016])
    assert (np.abs(counted - expected) < 5 * np.sqrt(expected)).all()


@pytest.mark.parametrize("kind", [coverage.MILD, coverage.WILD])
def test_errors_of_a_group_are_as_many_as_its_rates_say(kind):
    """Those drawn at a looser rate come after them, and grow from number to number."""
    group = coverage.Group(30, 4, 5e-3, 0.05, **kind)
    drawn = [group.draw(np.random.default_rng(seed)) for seed in range(300)]
    for place, rate in enumerate((group.far, group.frr)):
        sums = [both[place] for both in drawn]
        found = np.array([s.rate[0] for s in sums])
        assert abs(found.mean() - rate) < 4 * found.std() / np.sqrt(len(drawn))
        assert all((np.diff(s.errors[1:]) > 0).all() for s in sums)
        assert all(s.errors[0] <= s.errors[-1] for s in sums)
    looser = np.mean([accepted.rate[-1] for accepted, _ in drawn])
    assert looser == pytest.approx(8 * group.far, rel=0.2)


def test_groups_of_an_audit_have_equal_rates_in_truth():
    """At one threshold, of many people of a design in which people vary most."""
    design = replace(coverage.DESIGNS["2 x 60, people vary more"], people=(1500, 1500))
    X, y, group = design.draw(np.random.default_rng(0))
    members = [np.flatnonzero(group == g) for g in ("g0", "g1")]
    accepted = [
        np.mean((X[rows] @ X[rows].T > 0.35)[y[rows][:, None] != y[rows]])
        for rows in members
    ]
    assert accepted[0] == pytest.approx(accepted[1], rel=0.15)
