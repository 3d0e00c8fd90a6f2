"""Numbers of the von Mises-Fisher distribution with 50 digits, by mpmath."""

import functools

import mpmath

DIGITS = 50
MAX_TERMS = 10**7


@functools.cache
def exact_log_normalizer(kappa, n_features):
    """log C, an mpmath number; kappa = 0 is the uniform density."""
    with mpmath.workdps(DIGITS):
        order, x = mpmath.mpf(n_features) / 2 - 1, mpmath.mpf(float(kappa))
        if x == 0:
            uniform = mpmath.loggamma(order + 1) - (order + 1) * mpmath.log(mpmath.pi)
            return uniform - mpmath.log(2)
        log_i = mpmath.log(mpmath.besseli(order, x, maxterms=MAX_TERMS))
        return order * mpmath.log(x) - (order + 1) * mpmath.log(2 * mpmath.pi) - log_i


@functools.cache
def exact_ratio(kappa, n_features):
    """A = I_{d/2} / I_{d/2-1}, minus the derivative of log C, an mpmath number."""
    with mpmath.workdps(DIGITS):
        order, x = mpmath.mpf(n_features) / 2, mpmath.mpf(float(kappa))
        if x == 0:
            return x
        upper = mpmath.besseli(order, x, maxterms=MAX_TERMS)
        return upper / mpmath.besseli(order - 1, x, maxterms=MAX_TERMS)
