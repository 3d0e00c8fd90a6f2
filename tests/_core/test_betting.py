"""Wealths of bets: against plain loops, all short streams, and integrals."""

import math
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.stats import beta

from skfairfr._core._betting import (
    BLOCK,
    MOST,
    NEAREST,
    SHARES,
    START_OF_RATE,
    START_OF_RATIO,
    TIMES,
    bet_on_rates,
    bet_on_ratios,
    confidence_sequence,
)


def put_in(rounds):
    """Share of the second half that is put in before a round, by a sum over all of them."""
    block = rounds // BLOCK + 1
    return 0.5 / (block * (block + 1)) / BLOCK


def wealth_of_rate_by_loop(values, limit):
    """All wealth after each person, every bet multiplied on its own."""
    rates = [min(limit * times, 1 - NEAREST * (1 - limit)) for times in TIMES]
    bets, held, path = [0.5 / len(rates)] * len(rates), 0.5, []
    for n, x in enumerate(values):
        held -= put_in(n)
        for j, rate in enumerate(rates):
            bets[j] += put_in(n) / len(rates)
            bets[j] *= (rate / limit) ** x * ((1 - rate) / (1 - limit)) ** (1 - x)
        path.append(held + sum(bets))
    return path


def wealth_of_rate(values, limit):
    """All wealth after all people, and the largest on the way, from the kernel."""
    people, best = np.zeros(1), np.zeros(1)
    log_wealth = np.full((1, TIMES.size), START_OF_RATE)
    values = np.asarray(values, dtype=float)
    bet_on_rates(np.zeros(values.size, int), values, people, log_wealth, best, limit)
    held = 0.5 - sum(map(put_in, range(values.size)))
    assert people[0] == values.size
    return held + np.exp(log_wealth).sum(), np.exp(best[0])


@pytest.mark.parametrize("limit", [0.02, 0.3, 0.9])
def test_the_wealth_of_a_rate_is_that_of_a_loop(limit):
    values = np.random.default_rng(0).choice([0, 1, 0.5], 1200, p=[0.93, 0.04, 0.03])
    for n in (1, 30, 1200):
        path = wealth_of_rate_by_loop(values[:n], limit)
        found, best = wealth_of_rate(values[:n], limit)
        assert_allclose([found, best], [path[-1], max(1, *path)], rtol=1e-9)


@pytest.mark.parametrize("limit", [0.1, 0.4])
@pytest.mark.parametrize("share", [0.3, 1.0])
def test_no_gain_is_expected_of_a_kept_rate(limit, share):
    """Over all streams of ten people; at the limit itself nothing is lost either."""
    rate, expected, reached = limit * share, 0.0, 0.0
    for stream in product((0, 1), repeat=10):
        chance = math.prod(rate if x else 1 - rate for x in stream)
        found, best = wealth_of_rate(stream, limit)
        expected += chance * found
        reached += chance * (best >= 5)
    assert expected <= 1 + 1e-9 and reached <= 0.2
    if share == 1:
        assert expected == pytest.approx(1)


def ratios(group, value, limit, n_groups=2):
    """What the kernel remembers of one stream."""
    known = (
        np.zeros((n_groups, n_groups, 3)),
        np.full((n_groups, n_groups, SHARES.size), START_OF_RATIO),
        np.zeros((n_groups, n_groups)),
    )
    bet_on_ratios(np.asarray(group), np.asarray(value, dtype=float), *known, limit)
    return known


def ratios_by_loop(group, value, limit, a, b):
    """Wealths of each bet in both directions, all wealth, and the most of it on the way."""
    bets = {way: [0.25 / len(SHARES)] * len(SHARES) for way in ((a, b), (b, a))}
    came, held, total, best, rounds = {a: [], b: []}, 0.5, 1.0, 1.0, 0
    for g, x in zip(group, value, strict=True):
        if g not in came:
            continue
        came[g].append(x)
        if not (came[a] and came[b]):
            continue
        held -= put_in(rounds)
        for one, other in bets:
            n, m = len(came[one]), len(came[other])
            gain = sum(came[one]) / n - limit * sum(came[other]) / m
            for j, share in enumerate(SHARES):
                size = share * (1 + limit) / (1 / n + limit / m)
                bets[one, other][j] += put_in(rounds) / (2 * len(SHARES))
                bets[one, other][j] *= 1 + min(size, MOST) / limit * gain
        total = held + sum(bets[a, b]) + sum(bets[b, a])
        best, rounds, came = max(best, total), rounds + 1, {a: [], b: []}
    return bets, total, best


def test_wealths_of_ratios_are_those_of_a_loop():
    rng = np.random.default_rng(0)
    group = rng.choice(3, 3000, p=[0.1, 0.3, 0.6])
    value = rng.choice([0, 0.5, 1], 3000)
    _, log_wealth, best = ratios(group, value, 1.5, 3)
    for a, b in ((0, 1), (0, 2), (1, 2)):
        bets, _, largest = ratios_by_loop(group, value, 1.5, a, b)
        assert_allclose(np.exp(log_wealth[a, b]), bets[a, b], rtol=1e-9)
        assert_allclose(np.exp(log_wealth[b, a]), bets[b, a], rtol=1e-9)
        assert_allclose(np.exp(best[a, b]), largest, rtol=1e-9)


@pytest.mark.parametrize(
    "pattern", [[0, 1] * 5, [0, 0, 0, 1, 1, 0, 1, 1, 1, 0], [1] * 8 + [0, 1]]
)
@pytest.mark.parametrize(("first", "second"), [(0.45, 0.3), (0.3, 0.3)])
def test_no_gain_is_expected_of_a_kept_ratio(pattern, first, second):
    """Over all streams of ten people, whose rates drift together from round to round."""
    limit, n = 1.5, len(pattern)
    rounds, seen, now = [], set(), 0
    for g in pattern:
        rounds.append(now)
        seen.add(g)
        if len(seen) == 2:
            seen, now = set(), now + 1
    rates = np.where(np.array(pattern) == 0, first, second)
    rates = rates * (1 + np.array(rounds) / 10)
    expected, of_first, reached = 0.0, np.zeros(SHARES.size), 0.0
    held = 0.5 - sum(map(put_in, range(now)))
    for stream in product((0, 1), repeat=n):
        chance = math.prod(
            r if x else 1 - r for x, r in zip(stream, rates, strict=True)
        )
        waiting, log_wealth, best = ratios(pattern, stream, limit)
        bets = np.exp(log_wealth[[0, 1], [1, 0]])
        assert waiting[0, 1, 2] == now
        expected += chance * (held + bets.sum())
        of_first += chance * bets[0]
        reached += chance * (best[0, 1] >= np.log(2))
    assert expected <= 1 + 1e-9 and reached <= 0.5
    if first == limit * second:
        # At the edge the bets that the first exceeds the second lose nothing.
        assert_allclose(of_first, (0.25 + (0.5 - held) / 2) / SHARES.size)


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
