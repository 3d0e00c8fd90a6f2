"""Bets against limits of rates: wealths that stay small, at any time, while a limit is kept.

A wealth begins at 1 and is multiplied by ``1 + bet * gain`` whenever a person comes. While the
limit is kept, no gain is expected, so that a wealth ever reaches 1 / delta with chance delta at
most (Ville), however often one looks and whenever one stops. Gains are fair at every moment, so
rates may drift below the limit. Several constant bets share the first wealth.
"""

import numpy as np
from numba import njit
from scipy.optimize import brentq
from scipy.special import betaln

# Rates that bets on a rate are for, over its limit; no bet is for one nearer to 1 than this
# share of the way from the limit.
TIMES, NEAREST = np.geomspace(1.2, 10, 8), 0.25
# Bets on a ratio, as shares of the largest that leaves some wealth, and the most of them.
SHARES, MOST = np.geomspace(0.03, 0.6, 8), 0.9


def log_wealth_of_rate(people, errors, limit):
    """Logarithm of the wealth of bets that a rate exceeds a limit.

    The likelihood ratio of a larger rate; of values between 0 and 1 it gains no more than of
    zeros and ones with the same mean.

    Parameters
    ----------
    people, errors : ndarrays, shape (...)
        Number of people so far, and sum of their values in [0, 1].
    limit : float in (0, 1)

    Returns
    -------
    log_wealth : ndarray, shape (...)
    """
    rates = np.minimum(limit * TIMES, 1 - NEAREST * (1 - limit))
    gain, loss = np.log(rates / limit), np.log((1 - rates) / (1 - limit))
    errors, right = (
        np.asarray(errors)[..., None],
        np.asarray(people - errors)[..., None],
    )
    return np.logaddexp.reduce(errors * gain + right * loss, axis=-1) - np.log(
        TIMES.size
    )


def confidence_sequence(people, errors, confidence_level):
    """Ends of an interval of a rate that holds at all times together.

    All rates against which a wealth is below 1 / delta, that of the Beta(1/2, 1/2) mixture of
    likelihood ratios.

    Parameters
    ----------
    people, errors : floats
        As of :func:`log_wealth_of_rate`.
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
def bet_on_ratios(group, value, waiting, log_wealth, best, limit, shares):
    """Bet, as people come, that the rate of a group exceeds so many times that of another.

    A round of two groups ends when both have somebody since the last one. Its gain is the mean
    of the one minus ``limit`` times that of the other, and bets are larger where it is of more
    people. All but the first two arguments are changed in place.

    Parameters
    ----------
    group : ndarray of int, shape (n_people,)
        In the order in which they come.
    value : ndarray of float64, shape (n_people,)
        In [0, 1].
    waiting : ndarray, shape (n_groups, n_groups, 2)
        Sum and number of the values of each group since its last round with another.
    log_wealth : ndarray, shape (n_groups, n_groups, n_bets)
        Of every bet that the first group exceeds the second.
    best : ndarray, shape (n_groups, n_groups)
        Largest logarithm so far of the mean wealth of two groups, both directions together.
    limit : float
    shares : ndarray, shape (n_bets,)
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
            largest, total = -np.inf, 0.0
            for first, second in ((g, h), (h, g)):
                n, m = waiting[first, second, 1], waiting[second, first, 1]
                gain = waiting[first, second, 0] / n
                gain -= limit * waiting[second, first, 0] / m
                size = (1 + limit) / (1 / n + limit / m)
                for bet in range(shares.size):
                    share = min(shares[bet] * size, MOST) / limit
                    log_wealth[first, second, bet] += np.log1p(share * gain)
                    largest = max(largest, log_wealth[first, second, bet])
            for bet in range(shares.size):
                total += np.exp(log_wealth[g, h, bet] - largest)
                total += np.exp(log_wealth[h, g, bet] - largest)
            found = largest + np.log(total / (2 * shares.size))
            best[g, h] = best[h, g] = max(best[g, h], found)
            waiting[g, h] = 0.0
            waiting[h, g] = 0.0
