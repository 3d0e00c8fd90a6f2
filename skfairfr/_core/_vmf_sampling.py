"""The von Mises-Fisher distribution on the unit sphere: exact sampling.

Functions of arrays only. The density at a unit vector z about a unit mean direction mu is
proportional to exp(kappa mu.z) (EM22 section 3).
"""

import numpy as np


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
