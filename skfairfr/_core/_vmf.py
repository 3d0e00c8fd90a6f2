"""The von Mises-Fisher distribution on the unit sphere: normaliser, mean length, kappa.

Functions of arrays only. The density at a unit vector z about a unit mean direction mu is
C_d(kappa) exp(kappa mu.z), on d = n_features dimensions (EM22 section 3). Everything is
smooth in kappa, the switches between expansions included. Errors stated are against mpmath
over n_features 2 to 4096 and kappa from 1e-3 to 1e6. Draws are in ``_vmf_sampling``.
"""

import numbers

import numpy as np

from skfairfr._core import _bessel

METHODS = ("series", "mpmath")
# Digits that method="mpmath" works with.
MPMATH_DIGITS = 50
MPMATH_TERMS = 10**7
MAX_STEPS = 20
# Newton's steps square the relative error: after this one nothing is left to gain.
LAST_STEP = 1e-9


def log_vmf_normalizer(kappa, n_features, *, method="series"):
    """log C_d(kappa), the logarithm of the density's normaliser.

    log C_d = (d/2 - 1) log kappa - (d/2) log 2 pi - log I_{d/2-1}(kappa), whose derivative
    in kappa is -A_d(kappa), see ``bessel_ratio``.

    Parameters
    ----------
    kappa : array-like of float, shape (...)
        Concentrations in [0, inf); 0 is the uniform density.
    n_features : int >= 2
    method : {"series", "mpmath"}, default="series"
        Expansions in array operations, with an error below 1e-13 max(1, abs(value)); or
        mpmath with 50 digits, one value after the other, to verify.

    Returns
    -------
    log_normalizer : ndarray of float64, shape (...)

    Raises
    ------
    ValueError
        If a concentration, the number of features or the method is outside its range.

    References
    ----------
    .. [1] EM22, section 3.
    .. [2] NIST Digital Library of Mathematical Functions, 10.25.2, 10.41.3, 10.41.9.
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {METHODS}; got {method!r}.")
    kappa, order = _check_kappa(kappa), _check_order(n_features)
    if method == "mpmath":
        values = [_log_normalizer_mpmath(value, order) for value in kappa.flat]
        return np.array(values, dtype=np.float64).reshape(kappa.shape)[()]
    return _by_regime(
        _bessel.log_normalizer_ascending, _bessel.log_normalizer_debye, kappa, order
    )


def log_bessel_i(kappa, n_features):
    """log I_v(kappa) at the order v = n_features/2 - 1 of the density.

    Parameters
    ----------
    kappa : array-like of float, shape (...)
        In [0, inf).
    n_features : int >= 2

    Returns
    -------
    log_i : ndarray of float64, shape (...)
        Error below 1e-13 max(1, abs(value)); -inf at kappa = 0, except 0 for v = 0.

    Raises
    ------
    ValueError
        If a concentration or the number of features is outside its range.
    """
    kappa, order = _check_kappa(kappa), _check_order(n_features)
    return _by_regime(_bessel.log_i_ascending, _bessel.log_i_debye, kappa, order)


def bessel_ratio(kappa, n_features):
    """A_d(kappa) = I_{d/2}(kappa) / I_{d/2-1}(kappa), the length of the mean vector.

    Parameters
    ----------
    kappa : array-like of float, shape (...)
        In [0, inf).
    n_features : int >= 2

    Returns
    -------
    ratio : ndarray of float64, shape (...)
        In [0, 1], increasing; relative error below 1e-15, at kappa near 0 too.

    Raises
    ------
    ValueError
        If a concentration or the number of features is outside its range.
    """
    return _ratio(_check_kappa(kappa), _check_order(n_features))[0]


def bessel_ratio_derivative(kappa, n_features):
    """A_d'(kappa), the variance of mu.z, from 1/d at 0 to (d - 1) / (2 kappa**2) far out.

    Parameters
    ----------
    kappa : array-like of float, shape (...)
        In [0, inf).
    n_features : int >= 2

    Returns
    -------
    derivative : ndarray of float64, shape (...)
        Relative error below 5e-14, where 1 - A**2 - (d - 1) A / kappa keeps no digit at
        either end.

    Raises
    ------
    ValueError
        If a concentration or the number of features is outside its range.
    """
    return _ratio(_check_kappa(kappa), _check_order(n_features))[2]


def estimate_kappa(mean_resultant_length, n_features):
    """Maximum likelihood concentration: the kappa with A_d(kappa) = mean resultant length.

    Newton's method from the approximation R (d - R**2) / (1 - R**2) of [1]_.

    Parameters
    ----------
    mean_resultant_length : array-like of float, shape (...)
        Lengths R of the mean of unit vectors, in [0, 1].
    n_features : int >= 2

    Returns
    -------
    kappa : ndarray of float64, shape (...)
        0 where R is 0 and inf where R is 1; relative error below 1e-13 for R as given.

    Raises
    ------
    ValueError
        If a length or the number of features is outside its range.

    References
    ----------
    .. [1] A. Banerjee et al., "Clustering on the Unit Hypersphere using von Mises-Fisher
       Distributions", JMLR 6, 2005.
    """
    given, order = np.asarray(mean_resultant_length, float), _check_order(n_features)
    _refuse(
        given[~((given >= 0) & (given <= 1))],
        "mean_resultant_length must lie in [0, 1]",
        "pass the norm of the mean of rows of unit norm.",
    )
    kappa = np.where(given == 1, np.inf, 0.0)
    inside = (given > 0) & (given < 1)
    kappa[inside] = _solve(given[inside], n_features, order)
    return kappa[()]


def _solve(length, n_features, order):
    """The roots of A_d(kappa) = length in (0, 1), of shape (n,)."""
    deficit = 1 - length
    kappa = length * (n_features - length**2) / (deficit * (1 + length))
    for _ in range(MAX_STEPS):
        ratio, complement, slope = _ratio(kappa, order)
        # 1 - R is exact from 1/2 on, where A - R would lose digits.
        excess = np.where(length > 0.5, deficit - complement, ratio - length)
        step = excess / slope
        kappa = np.maximum(kappa - step, kappa / 2)
        if (np.abs(step) <= LAST_STEP * kappa).all():
            break
    return kappa


def _ratio(kappa, order):
    """A, 1 - A and A', of shape (3, ...)."""
    return _by_regime(_bessel.ratio_by_fraction, _bessel.ratio_debye, kappa, order)


def _by_regime(near, far, kappa, order):
    """Values of ``near`` where hypot(order, kappa) < SWITCH and of ``far`` elsewhere."""
    flat = kappa.ravel()
    is_far = np.hypot(order, flat) >= _bessel.SWITCH
    if is_far.all():
        values = far(flat, order)
    elif not is_far.any():
        values = near(flat, order)
    else:
        of_near, of_far = near(flat[~is_far], order), far(flat[is_far], order)
        values = np.empty((*of_far.shape[:-1], flat.size))
        values[..., ~is_far], values[..., is_far] = of_near, of_far
    return values.reshape((*values.shape[:-1], *kappa.shape))[()]


def _log_normalizer_mpmath(kappa, order):
    """log C of one concentration."""
    import mpmath

    with mpmath.workdps(MPMATH_DIGITS):
        kappa, order = mpmath.mpf(float(kappa)), mpmath.mpf(order)
        if kappa == 0:
            uniform = mpmath.loggamma(order + 1) - (order + 1) * mpmath.log(mpmath.pi)
            return float(uniform - mpmath.log(2))
        log_i = mpmath.log(mpmath.besseli(order, kappa, maxterms=MPMATH_TERMS))
        power = order * mpmath.log(kappa) - (order + 1) * mpmath.log(2 * mpmath.pi)
        return float(power - log_i)


def _check_kappa(kappa):
    """As float64, after refusing what is no concentration."""
    kappa = np.asarray(kappa, dtype=np.float64)
    _refuse(
        kappa[~((kappa >= 0) & (kappa < np.inf))],
        "kappa must lie in [0, inf)",
        "pass 0 for the uniform density, and a finite value else.",
    )
    return kappa


def _check_order(n_features):
    """The order n_features/2 - 1 of the Bessel function."""
    if not isinstance(n_features, numbers.Integral) or n_features < 2:
        raise ValueError(
            f"n_features must be an integer of at least 2; got {n_features!r}: pass the "
            "number of columns of the embeddings."
        )
    return n_features / 2 - 1


def _refuse(bad, expected, remedy):
    """Raise on the first of the values that are outside a range, if there is one."""
    if bad.size:
        raise ValueError(f"{expected}; got {bad.flat[0]}: {remedy}")


def sample_vmf(mean, kappa, rng):
    """One exact draw about each mean direction.

    Parameters
    ----------
    mean : ndarray, shape (n_samples, n_features)
        Unit rows; at least two features.
    kappa : ndarray, shape (n_samples,)
        Concentrations in [0, inf), one for each row; 0 is uniform on the sphere.
    rng : numpy.random.Generator

    Returns
    -------
    samples : ndarray of float64, shape (n_samples, n_features)
        Unit rows.

    Raises
    ------
    ValueError
        If there are fewer than two features.

    References
    ----------
    .. [1] A. T. A. Wood, "Simulation of the von Mises Fisher distribution",
       Communications in Statistics - Simulation and Computation 23(1), 1994.
    """
    mean = np.asarray(mean, dtype=np.float64)
    n_samples, n_features = mean.shape
    if n_features < 2:
        raise ValueError(
            f"n_features must be at least 2, got {n_features}: the sphere in one "
            "dimension has two points and no tangent direction."
        )
    kappa = np.asarray(kappa, dtype=np.float64)
    radial, tangential = _sample_radial(kappa, n_features, rng)
    samples = rng.standard_normal((n_samples, n_features))
    tangent = samples[:, 1:]
    tangent *= (tangential / np.linalg.norm(tangent, axis=1))[:, None]
    samples[:, 0] = radial
    return _turn_first_axis_to(mean, samples)


def _sample_radial(kappa, n_features, rng):
    """Cosines t = mu.z and sines sqrt(1 - t**2), each of shape (n_samples,).

    The proposal is that of Ulrich and Wood: z a Beta(m/2, m/2) variable, m = d - 1, and
    t = (1 - (1 + b) z) / (1 - (1 - b) z). With z = g1 / (g1 + g2) for two gamma variables
    every quantity below is a ratio of sums of positive terms: neither 1 - t**2 nor b
    cancels, and the log acceptance ratio, kappa t + m log(1 - x0 t) minus its value at the
    mode x0 = (1 - b) / (1 + b), becomes m (log(1 + q) - q).
    """
    m = n_features - 1
    b = m / (2 * kappa + np.hypot(2 * kappa, m))
    radial, tangential = np.empty((2, kappa.size))
    pending = np.arange(kappa.size)
    while pending.size:
        b_pending = b[pending]
        g1, g2 = rng.standard_gamma(m / 2, size=(2, pending.size))
        total = g2 + b_pending * g1
        q = (1 - b_pending) * (g1 - g2) / (2 * total)
        accepted = m * (np.log1p(q) - q) >= -rng.standard_exponential(pending.size)
        radial[pending] = (g2 - b_pending * g1) / total
        tangential[pending] = 2 * np.sqrt(b_pending * g1 * g2) / total
        pending = pending[~accepted]
    return radial, tangential


def _turn_first_axis_to(mean, samples):
    """Reflect ``samples``, in place, by the map that takes the first axis to ``mean``."""
    # Of the two reflections between +-axis and mean, the one along their sum never
    # divides by a vanishing length; it takes the axis to -sign * mean.
    sign = np.where(mean[:, 0] >= 0, 1.0, -1.0)
    samples[:, 0] *= -sign
    normal = mean.copy()
    normal[:, 0] += sign
    along = np.einsum("ij,ij->i", normal, samples)
    along *= 2 / np.einsum("ij,ij->i", normal, normal)
    normal *= along[:, None]
    samples -= normal
    return samples
