"""The von Mises-Fisher distribution on the unit sphere: its normaliser, and exact draws.

Functions of arrays only. The density at a unit vector z about a unit mean direction mu is
C_d(kappa) exp(kappa mu.z), on d = n_features dimensions (EM22 section 3).

log C needs log I_v, the Bessel function of order v = d / 2 - 1. With w = hypot(v, kappa):
the series 0F1 where w < SWITCH, Debye's uniform expansion elsewhere. Debye's is an expansion
in 1 / w, so it is valid at every order, v = 0 included.
"""

import functools
import math
import numbers
from decimal import Decimal, localcontext

import numpy as np
from numpy.polynomial import Polynomial
from scipy.special import hyp0f1

# At w = SWITCH the first term left out of Debye's expansion is below 1e-15.
SWITCH = 32.0
N_DEBYE_TERMS = 12
TWO_PI = Decimal("6.2831853071795864769252867665590057683943387987502")


def log_vmf_normalizer(kappa, n_features):
    """log C_d(kappa), the logarithm of the density's normaliser.

    log C_d = (d/2 - 1) log kappa - (d/2) log 2 pi - log I_{d/2-1}(kappa). It is smooth in
    kappa, also where the expansion changes.

    Parameters
    ----------
    kappa : array-like of float, shape (...)
        Concentrations in [0, inf). 0 is the uniform density.
    n_features : int >= 2

    Returns
    -------
    log_normalizer : ndarray of float64, shape (...)
        Error below 1e-13 max(1, abs(value)), against mpmath over n_features 2 to 4096 and
        kappa from 1e-3 to 1e6.

    Raises
    ------
    ValueError
        If a concentration or the number of features is outside its range.

    References
    ----------
    .. [1] EM22, section 3.
    .. [2] NIST Digital Library of Mathematical Functions, 10.39.9, 10.41.3, 10.41.9.
    """
    kappa, order = _check_kappa(kappa), _check_order(n_features)
    distinct, place = np.unique(kappa, return_inverse=True)
    is_far = np.hypot(order, distinct) >= SWITCH
    near, far = distinct[~is_far], distinct[is_far]
    uniform = math.lgamma(order + 1) - math.log(2) - (order + 1) * math.log(math.pi)
    values = np.empty(distinct.size)
    values[~is_far] = uniform - np.log(hyp0f1(order + 1, near**2 / 4))
    values[is_far] = _leading(far, order) - _log_debye(np.hypot(order, far), order)
    return values[place].reshape(kappa.shape)[()]


def _leading(kappa, order):
    """v log((v + w) / 2 pi) - w, whose two terms cancel where log C is near 0."""
    v, values = Decimal(order), np.empty(kappa.size)
    with localcontext(prec=40):
        for k, value in enumerate(map(Decimal, kappa.tolist())):
            w = (v * v + value * value).sqrt()
            values[k] = v * ((v + w) / TWO_PI).ln() - w
    return values


def _log_debye(w, order):
    """Logarithm of Debye's sum over sqrt(w / 2 pi)."""
    share, total = (order / w) ** 2, np.zeros_like(w)
    for coefficients in reversed(_debye_coefficients()):
        total = (total + np.polynomial.polynomial.polyval(share, coefficients)) / w
    return np.log1p(total) - np.log(w / (2 * np.pi)) / 2


@functools.cache
def _debye_coefficients():
    """Those of q_k, k = 1 ... N_DEBYE_TERMS, with U_k(p) = p**k q_k(p**2), DLMF 10.41.9."""
    p, u, found = Polynomial([0.0, 1.0]), Polynomial([1.0]), []
    for k in range(1, N_DEBYE_TERMS + 1):
        u = p**2 * (1 - p**2) / 2 * u.deriv() + ((1 - 5 * p**2) / 8 * u).integ()
        found.append(u.coef[k::2])
    return found


def _check_kappa(kappa):
    """kappa as float64. Raise where a value is no concentration."""
    kappa = np.asarray(kappa, dtype=np.float64)
    bad = kappa[~((kappa >= 0) & (kappa < np.inf))]
    if bad.size:
        raise ValueError(
            f"kappa must lie in [0, inf), got {bad.flat[0]}. Pass 0 for the uniform "
            "density, and a finite value otherwise."
        )
    return kappa


def _check_order(n_features):
    """The order n_features/2 - 1 of the Bessel function."""
    if not isinstance(n_features, numbers.Integral) or n_features < 2:
        raise ValueError(
            f"n_features must be an integer of at least 2, got {n_features!r}. Pass the "
            "number of columns of the embeddings."
        )
    return n_features / 2 - 1


def sample_vmf(mean, kappa, rng):
    """One exact draw about each mean direction.

    Parameters
    ----------
    mean : ndarray, shape (n_samples, n_features)
        Unit rows. At least two features.
    kappa : ndarray, shape (n_samples,)
        Concentrations in [0, inf), one for each row. 0 is uniform on the sphere.
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
    """Cosines t = mu.z and sines sqrt(1 - t**2), each of shape (n_samples,)."""
    # The proposal is that of Ulrich and Wood: z a Beta(m/2, m/2) variable, m = d - 1,
    # and t = (1 - (1 + b) z) / (1 - (1 - b) z). With z = g1 / (g1 + g2) for two gamma
    # variables every quantity below is a ratio of sums of positive terms: 1 - t**2
    # and b do not cancel, and the log acceptance ratio, kappa t + m log(1 - x0 t)
    # minus its value at the mode x0 = (1 - b) / (1 + b), becomes m (log(1 + q) - q).
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
    # divides by a vanishing length. It takes the axis to -sign * mean.
    sign = np.where(mean[:, 0] >= 0, 1.0, -1.0)
    samples[:, 0] *= -sign
    normal = mean.copy()
    normal[:, 0] += sign
    along = np.einsum("ij,ij->i", normal, samples)
    along *= 2 / np.einsum("ij,ij->i", normal, normal)
    normal *= along[:, None]
    samples -= normal
    return samples
