"""Small versions of what the study of coverage claims, on people whose rates are known."""

import functools
import json

import numpy as np
import pytest
from scipy.stats import binom, norm

from tests.benchmarks import coverage


def most(n, rate, chance=1e-3):
    """How many of ``n`` a rate exceeds with this chance only."""
    return int(binom.isf(chance, n, rate))


PARTS = {
    "verdicts": (coverage.judge, coverage.LEVELS),
    "band": (coverage.judge_band, coverage.BAND),
}


@functools.cache
def judged(name, n_sets, part="verdicts"):
    """The data sets of a design against its truth."""
    true = truth_of(name, part)
    return [PARTS[part][0](name, seed, true) for seed in range(n_sets)]


@functools.cache
def truth_of(name, part):
    return coverage.truth(coverage.DESIGNS[name], PARTS[part][1], 60_000, 150)


def check_verdicts(found, bound):
    n = len(found)
    false = sum(said["wrong"]["max-T"] for said in found)
    assert false <= most(n, bound)
    failed = np.array([said["at_least"] for said in found]) > 1.25
    assert failed.sum(0).max() <= most(n, 0.05)
    for rate in coverage.RATES:
        missed = np.array([said["rates"][rate] for said in found]).sum(1)
        assert missed.mean((0, 2)).max() < 0.07 + 3 * np.sqrt(0.05 / missed[:, 0].size)


@pytest.mark.slow
def test_four_equal_groups_are_seldom_called_different():
    found = judged("4 x 50", 40)
    check_verdicts(found, 0.06)
    # What the family is for: several comparisons, each at .05.
    assert sum(said["wrong"]["alone"] for said in found) > 8


@pytest.mark.slow
def test_a_group_that_is_worse_is_found():
    found = judged("2 x 60, noise .60/.85", 20)
    assert sum(said["found"]["max-T"][3] for said in found) >= 12
    assert sum(said["wrong"]["max-T"] for said in found) <= most(20, 0.06)


def test_shrinking_removes_the_bias_of_equal_groups():
    found = judged("4 x 50", 40)
    raw, shrunken = np.median([said["disparities"] for said in found], 0)[2, 0]
    assert raw > 2 and shrunken < 1.3


def test_limits_on_rates_are_judged_at_the_truth():
    """At the largest rate of the groups, where FAILED and passed are both wrong."""
    name = "2 x 60, noise .60/.85"
    true, found = truth_of(name, "verdicts"), judged(name, 20)
    largest = np.concatenate([true[rate].max(1) for rate in coverage.RATES])
    low, high = (
        np.array([said[end] for said in found])
        for end in ("rate_at_least", "rate_at_most")
    )
    assert (low > largest).sum(0).max() <= most(20, 0.06)
    assert (high <= largest).sum(0).max() <= most(20, 0.08)
    assert (low > largest / 3).mean() > 0.5 and (high < 3 * largest).mean() > 0.5


@pytest.mark.slow
def test_an_oracle_of_independent_findings():
    """Four tests at .05 have 1 - .95**4; at a third less each, with levels of .0333."""
    rng = np.random.default_rng(3)
    logs = 0.1 * rng.standard_normal((2000, 4, 2))
    found, error = coverage.oracle(logs)
    assert found.any(1).mean() == pytest.approx(0.05, abs=0.015)
    assert error == pytest.approx(1 - (1 - 0.1 / 3) ** 4, abs=0.03)
    # A difference of four standard errors is found.
    logs[:, 2, 0] += 4 * 0.1 * np.sqrt(2)
    found, _ = coverage.oracle(logs)
    assert found[:, 2].mean() == pytest.approx(norm.sf(max_of_four() - 4), abs=0.03)


def max_of_four():
    """What the largest of four absolute normal deviates exceeds with a chance of .05."""
    return norm.isf((1 - 0.95 ** (1 / 4)) / 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("judge", "name"),
    [(coverage.judge_systems, "100 people"), (coverage.judge_sides, "60 people")],
)
def test_equal_systems_and_directions_are_seldom_told_apart(judge, name):
    p = np.array([judge(name, seed)["p"] for seed in range(12)])
    assert ((p < 0.05).sum(0) <= most(12, 0.06)).all()


@pytest.mark.slow
def test_the_truth_is_that_of_many_people():
    """Mean rates of ten data sets, whose errors are .03 (FAR) and .07 (FRR) of the truth."""
    design = coverage.Design((300, 300), noise=(0.7, 0.8), images=(4, 4))
    level = np.array([1e-2])
    found = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, y, group, n_images = coverage.draw(design, rng)
        masks = [group == 0, group == 1]
        found.append(coverage.measure(X, y, n_images, masks, level).rate)
    true = coverage.truth(design, level, 60_000, 150)
    for rate, largest in (("far", 0.1), ("frr", 0.25)):
        mean = np.mean([f[rate] for f in found], 0)
        assert mean == pytest.approx(true[rate], rel=largest)


def test_sorted_pairs_are_those_of_a_loop():
    rng = np.random.default_rng(1)
    X, y, _, n_images = coverage.draw(coverage.Design((12, 9)), rng)
    pairs = coverage.SortedPairs.of(X, y, n_images, 0.1)
    scores, genuine = [], []
    for i in range(y.size):
        for j in range(i + 1, y.size):
            (genuine if y[i] == y[j] else scores).append(float(X[i] @ X[j]))
    scores = np.sort(scores)[::-1]
    assert pairs.scores[:200] == pytest.approx(scores[:200], abs=1e-6)
    assert pairs.genuine_scores == pytest.approx(np.sort(genuine), abs=1e-6)
    threshold = pairs.thresholds(np.array([0.05]))[0]
    assert (scores >= threshold - 1e-6).mean() == pytest.approx(0.05, abs=1 / 1000)


def test_a_run_continues_where_one_ended(tmp_path, monkeypatch, capsys):
    judged_seeds = []

    def judge(name, seed, true):
        judged_seeds.append((name, seed))
        return {"p": [0.5, 0.5]}

    monkeypatch.setattr(coverage, "PARTS", {"sides": (judge, ("60 people",))})
    path = tmp_path / "found.jsonl"
    coverage.run(path, {"sides": 2}, [], 1)
    with path.open("a") as file:
        file.write('{"kind": "set", "part": "si')
    coverage.run(path, {"sides": 3}, [], 1)
    assert [seed for _, seed in judged_seeds] == [0, 1, 2]
    assert "left out" in capsys.readouterr().out
    assert json.loads(path.read_text().splitlines()[0])["seed"] == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["2 x 100", "2 x 30", "4 x 50", "8 x 25", "12 and 200", "200/100/40/20"]
)
def test_no_design_exceeds_its_bounds(name):
    found = judged(name, 300)
    check_verdicts(found, 0.06)
    print(name, np.mean([said["wrong"]["max-T"] for said in found]))


@pytest.mark.slow
@pytest.mark.parametrize("name", coverage.BANDS)
def test_bands_hold_everywhere(name):
    found = judged(name, 200, "band")
    missed = sum(any(said["band"]) for said in found)
    assert missed <= most(200, 0.07)
