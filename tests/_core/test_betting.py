"""Wealths of bets: against plain loops, all short streams, and integrals."""

import math
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.stats import beta

from skfairfr._core._betting import (
    MOST,
    NEAREST,
    SHARES,
    TIMES,
    bet_on_ratios,
    confidence_sequence,
    log_wealth_of_rate,
)


def wealth_by_loop(values, limit):
    """Each bet multiplied person by person."""
    total = 0.0
    for times in TIMES:
        rate, wealth = min(limit * times, 1 - NEAREST * (1 - limit)), 1.0
        for x in values:
            wealth *= (rate / limit) ** x * ((1 - rate) / (1 - limit)) ** (1 - x)
        total += wealth / len(TIMES)
    return total


@pytest.mark.parametrize("limit", [0.02, 0.3, 0.9])
def test_the_wealth_of_a_rate_is_a_product(limit):
    values = np.random.default_rng(0).choice([0, 1, 0.5], 30, p=[0.6, 0.3, 0.1])
    for n in (0, 1, 30):
        found = log_wealth_of_rate(n, values[:n].sum(), limit)
        assert_allclose(np.exp(found), wealth_by_loop(values[:n], limit), rtol=1e-10)


@pytest.mark.parametrize("limit", [0.1, 0.4])
@pytest.mark.parametrize("share", [0.3, 1.0])
def test_no_gain_is_expected_of_a_kept_rate(limit, share):
    """Over all streams of ten people; at the limit itself nothing is lost either."""
    rate, n, reached, delta = limit * share, 10, 0.0, 0.2
    expected = np.zeros(n)
    for stream in product((0, 1), repeat=n):
        chance = math.prod(rate if x else 1 - rate for x in stream)
        path = np.exp(log_wealth_of_rate(np.arange(1, n + 1), np.cumsum(stream), limit))
        expected += chance * path
        reached += chance * (path.max() >= 1 / delta)
    assert (expected <= 1 + 1e-9).all() and reached <= delta
    if share == 1:
        assert_allclose(expected, 1)


def ratios(group, value, limit, n_groups=2):
    """Wealths of one stream, from the kernel."""
    waiting = np.zeros((n_groups, n_groups, 2))
    log_wealth = np.zeros((n_groups, n_groups, SHARES.size))
    best = np.zeros((n_groups, n_groups))
    about = np.asarray(group), np.asarray(value, dtype=float)
    bet_on_ratios(*about, waiting, log_wealth, best, limit, SHARES)
    return log_wealth, best


def ratios_by_loop(group, value, limit, a, b):
    """Wealths of each bet that a exceeds b, and that b exceeds a, and the best mean of all."""
    wealth = {way: [1.0] * len(SHARES) for way in ((a, b), (b, a))}
    came, best = {a: [], b: []}, 1.0
    for g, x in zip(group, value, strict=True):
        if g not in came:
            continue
        came[g].append(x)
        if not (came[a] and came[b]):
            continue
        for one, other in wealth:
            n, m = len(came[one]), len(came[other])
            gain = sum(came[one]) / n - limit * sum(came[other]) / m
            for j, share in enumerate(SHARES):
                size = share * (1 + limit) / (1 / n + limit / m)
                wealth[one, other][j] *= 1 + min(size, MOST) / limit * gain
        best = max(best, np.mean([*wealth[a, b], *wealth[b, a]]))
        came = {a: [], b: []}
    return wealth, best


def test_wealths_of_ratios_are_those_of_a_loop():
    rng = np.random.default_rng(0)
    group = rng.choice(3, 200, p=[0.1, 0.3, 0.6])
    value = rng.choice([0, 0.5, 1], 200)
    log_wealth, best = ratios(group, value, 1.5, 3)
    for a, b in ((0, 1), (0, 2), (1, 2)):
        wealth, largest = ratios_by_loop(group, value, 1.5, a, b)
        assert_allclose(np.exp(log_wealth[a, b]), wealth[a, b], rtol=1e-9)
        assert_allclose(np.exp(log_wealth[b, a]), wealth[b, a], rtol=1e-9)
        assert_allclose(np.exp(best[a, b]), largest, rtol=1e-9)


@pytest.mark.parametrize(
    "pattern", [[0, 1] * 5, [0, 0, 0, 1, 1, 0, 1, 1, 1, 0], [1] * 8 + [0, 1]]
)
@pytest.mark.parametrize(("first", "second"), [(0.45, 0.3), (0.3, 0.3)])
def test_no_gain_is_expected_of_a_kept_ratio(pattern, first, second):
    """Over all streams of ten people; drifting rates keep the ratio at every time."""
    limit, n = 1.5, len(pattern)
    drift = 1 + np.arange(n) / 10
    rates = np.where(np.array(pattern) == 0, first, second)
    # Both groups drift alike, from one round to the next.
    rounds = np.zeros(n, dtype=int)
    seen, now = set(), 0
    for i, g in enumerate(pattern):
        rounds[i] = now
        seen.add(g)
        if len(seen) == 2:
            seen, now = set(), now + 1
    rates = rates * drift[rounds]
    expected, mean, reached = np.zeros(SHARES.size), 0.0, 0.0
    for stream in product((0, 1), repeat=n):
        chance = math.prod(
            r if x else 1 - r for x, r in zip(stream, rates, strict=True)
        )
        log_wealth, best = ratios(pattern, stream, limit)
        expected += chance * np.exp(log_wealth[0, 1])
        mean += chance * np.exp(log_wealth[[0, 1], [1, 0]]).mean()
        reached += chance * (best[0, 1] >= np.log(2))
    assert (expected <= 1 + 1e-9).all() and mean <= 1 + 1e-9 and reached <= 0.5
    if first == limit * second:
        assert_allclose(expected, 1)


def test_the_ends_of_a_sequence_are_where_the_mixture_says():
    people, errors, level = 40, 3.0, 0.9

    def mixture(rate):
        def ratio(q):
            gained = (q / rate) ** errors * ((1 - q) / (1 - rate)) ** (people - errors)
            return beta.pdf(q, 0.5, 0.5) * gained

        return quad(ratio, 0, 1, points=[0.05, 0.1, 0.3])[0]

    for end in confidence_sequence(people, errors, level):
        assert mixture(end) == pytest.approx(1 / (1 - level), rel=1e-4)


@pytest.mark.parametrize("errors", [0, 5])
def test_a_sequence_without_errors_or_without_right_decisions_has_one_end(errors):
    low, high = confidence_sequence(5, errors, 0.95)
    assert (low == 0, high == 1) == (errors == 0, errors == 5)
    assert confidence_sequence(0, 0, 0.95) == (0.0, 1.0)


def test_a_sequence_holds_at_all_times():
    rng, rate, missed, n_streams = np.random.default_rng(0), 0.1, 0, 200
    for _ in range(n_streams):
        errors = np.cumsum(rng.random(400) < rate)
        for n in range(1, 401, 7):
            low, high = confidence_sequence(n, errors[n - 1], 0.8)
            if not low <= rate <= high:
                missed += 1
                break
    assert missed <= 0.2 * n_streams
