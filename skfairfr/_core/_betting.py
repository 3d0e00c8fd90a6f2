"""Bets against limits of rates: wealths that stay small, at any time, while a limit is met.

A wealth begins at 1. Shares of it are bet whenever a person comes, and multiplied by
``1 + bet * gain``. While the limit is met, no gain is expected, so a wealth ever reaches
1 / delta with chance delta at most (Ville), however often one looks and whenever one stops.
Gains are fair at every moment, so rates may drift below the limit. Several bets share one half
of the first wealth. The other half is added bit by bit, to find an excess that begins late.
"""

import numpy as np
from numba import njit
from scipy.optimize import brentq
from scipy.special import betaln

# Rates that bets on a rate are for, over its limit. No bet is for one nearer to 1 than this
# share of the way from the limit.
TIMES, NEAREST = np.geomspace(1.2, 10, 8), 0.25
# Bets on a ratio, as shares of the largest that leaves some wealth, and the most of them.
SHARES, MOST = np.geomspace(0.03, 0.6, 8), 0.9
# Of the second half, 1 / (b (b + 1)) is put in while the b-th so many rounds last.
BLOCK = 500
# Logarithm of what a bet begins with: of a rate, and of a ratio, which has two directions.
START_OF_RATE = np.log(0.5 / TIMES.size)
START_OF_RATIO = np.log(0.25 / SHARES.size)


def confidence_sequence(people, errors, confidence_level):
    """Ends of an interval of a rate that is valid at all times together.

    All rates against which a wealth is below 1 / delta, that of the Beta(1/2, 1/2) mixture of
    likelihood ratios.

    Parameters
    ----------
    people, errors : floats
        Number of people, and sum of their values in [0, 1].
    confidence_level : float in (0, 1)

    Returns
    -------
    low, high : floats in [0, 1]
    """
    right = people - errors
    mixture = betaln(errors + 0.5, right + 0.5) - betaln(0.5, 0.5)

    def excess(rate):
        likelihood = errors * np.log(rate) + right * np.log1p(-rate)
        return mixture - likelihood + np.log(1 - confidence_level)

    tiny, middle = 1e-12, np.clip(errors / max(people, 1), 1e-9, 1 - 1e-9)
    low = brentq(excess, tiny, middle) if excess(tiny) > 0 else 0.0
    high = brentq(excess, middle, 1 - tiny) if excess(1 - tiny) > 0 else 1.0
    return float(low), float(high)


@njit(nogil=True, cache=True)
def _put_in(rounds, n_bets):
    """Logarithm of what each bet gets before a round, and what is kept back after it."""
    block = rounds // BLOCK + 1
    put = 0.5 / (block * (block + 1) * BLOCK)
    left = 0.5 / block - put * (rounds % BLOCK + 1)
    return np.log(put / n_bets), left


@njit(nogil=True, cache=True)
def _sum_of(one, other):
    """Logarithm of a sum, of logarithms."""
    largest = max(one, other)
    return largest + np.log1p(np.exp(min(one, other) - largest))


@njit(nogil=True, cache=True)
def _total(first, second, held):
    """Logarithm of all wealth: of bets, and what is kept back."""
    total = np.log(max(held, 1e-300))
    for bet in range(first.size):
        total = _sum_of(total, first[bet])
    for bet in range(second.size):
        total = _sum_of(total, second[bet])
    return total


@njit(nogil=True, cache=True)
def bet_on_rates(group, value, people, log_wealth, best, limit):
    """Bet, as people come, that the rate of each group exceeds a limit.

    The factor of a bet is the likelihood ratio of a larger rate. For values between 0 and 1 it
    gains no more than of zeros and ones with the same mean. All between the values and the
    limit are changed in place.

    Parameters
    ----------
    group : ndarray of int, shape (n_people,)
        In the order in which they come.
    value : ndarray of float64, shape (n_people,)
        In [0, 1].
    people : ndarray, shape (n_groups,)
        How many came before.
    log_wealth : ndarray, shape (n_groups, n_bets)
    best : ndarray, shape (n_groups,)
        Largest logarithm of all wealth so far.
    limit : float in (0, 1)
    """
    rates = np.minimum(limit * TIMES, 1 - NEAREST * (1 - limit))
    gain, loss = np.log(rates / limit), np.log((1 - rates) / (1 - limit))
    none = np.zeros(0)
    for person in range(group.size):
        g, x = group[person], value[person]
        put, held = _put_in(people[g], rates.size)
        for bet in range(rates.size):
            staked = _sum_of(log_wealth[g, bet], put)
            log_wealth[g, bet] = staked + x * gain[bet] + (1 - x) * loss[bet]
        people[g] += 1
        best[g] = max(best[g], _total(log_wealth[g], none, held))


@njit(nogil=True, cache=True)
def bet_on_ratios(group, value, waiting, log_wealth, best, limit):
    """Bet, as people come, that the rate of a group exceeds so many times that of another.

    A round of two groups ends when both have somebody since the last one. Its gain is the mean
    of the one minus ``limit`` times that of the other, and bets are larger where it is of more
    people. All between the values and the limit are changed in place.

    Parameters
    ----------
    group : ndarray of int, shape (n_people,)
        In the order in which they come.
    value : ndarray of float64, shape (n_people,)
        In [0, 1].
    waiting : ndarray, shape (n_groups, n_groups, 3)
        Sum and number of the values of each group since its last round with another, and the
        number of their rounds.
    log_wealth : ndarray, shape (n_groups, n_groups, n_bets)
        Of every bet that the first group exceeds the second.
    best : ndarray, shape (n_groups, n_groups)
        Largest logarithm of all wealth of two groups so far, both directions together.
    limit : float
    """
    for person in range(group.size):
        g = group[person]
        for h in range(best.shape[0]):
            if h == g:
                continue
            waiting[g, h, 0] += value[person]
            waiting[g, h, 1] += 1
            if waiting[h, g, 1] == 0:
                continue
            put, held = _put_in(waiting[g, h, 2], 2 * SHARES.size)
            for first, second in ((g, h), (h, g)):
                n, m = waiting[first, second, 1], waiting[second, first, 1]
                gain = waiting[first, second, 0] / n
                gain -= limit * waiting[second, first, 0] / m
                size = (1 + limit) / (1 / n + limit / m)
                for bet in range(SHARES.size):
                    share = min(SHARES[bet] * size, MOST) / limit
                    staked = _sum_of(log_wealth[first, second, bet], put)
                    log_wealth[first, second, bet] = staked + np.log1p(share * gain)
            total = _total(log_wealth[g, h], log_wealth[h, g], held)
            best[g, h] = best[h, g] = max(best[g, h], total)
            for first, second in ((g, h), (h, g)):
                waiting[first, second, :2] = 0.0
                waiting[first, second, 2] += 1
