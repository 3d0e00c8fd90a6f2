"""Exact von Mises-Fisher sampling, against Bessel ratios, numeric integrals and scipy."""

import mpmath
import numpy as np
import pytest
from scipy import stats
from scipy.integrate import cumulative_simpson

from skfairfr._core._vmf import sample_vmf
from tests.oracles.vmf import DIGITS, exact_ratio

P_VALUE = 1e-4
STANDARD_ERRORS = 4.5


def one_minus_a(d, kappa):
    """1 - I_{d/2}(kappa) / I_{d/2-1}(kappa), without its cancellation."""
    with mpmath.workdps(DIGITS):
        return float(1 - exact_ratio(kappa, d))


def random_direction(d, rng):
    v = rng.standard_normal(d)
    return v / np.linalg.norm(v)


def draw(d, kappa, n, seed, mean=None):
    rng = np.random.default_rng(seed)
    mean = random_direction(d, rng) if mean is None else mean
    return mean, sample_vmf(np.tile(mean, (n, 1)), np.full(n, float(kappa)), rng)


def angle_cdf(d, kappa, n_nodes=20_001):
    """CDF of the angle theta, t = cos(theta), by numeric integration of its density.

    dt = sin(theta) dtheta turns exp(kappa t)(1 - t^2)^((d-3)/2) dt into
    exp(kappa cos(theta)) sin(theta)^(d-2) dtheta.
    """

    def log_density(theta):
        tail = (d - 2) * np.log(np.sin(theta)) if d > 2 else 0.0
        return -2 * kappa * np.sin(theta / 2) ** 2 + tail

    coarse = np.geomspace(1e-9, np.pi - 1e-9, 200_001)
    values = log_density(coarse)
    inside = coarse[values > values.max() - 60]
    theta = np.linspace(inside[0] if d > 2 else 0, inside[-1], n_nodes)
    with np.errstate(divide="ignore"):
        density = np.exp(log_density(theta) - values.max())
    cumulated = cumulative_simpson(density, x=theta, initial=0)
    return lambda x: np.interp(x, theta, cumulated / cumulated[-1])


def angles(samples, mean):
    chord = np.linalg.norm(samples - mean, axis=1)
    return 2 * np.arcsin(np.minimum(chord / 2, 1))


@pytest.mark.parametrize("d", [2, 3, 4, 17, 512])
def test_radial_component_has_the_density_of_its_definition(d):
    for kappa in (0, 1, 50, 2000, 1e6):
        mean, samples = draw(d, kappa, 4000 if d < 100 else 1000, seed=100 + d)
        result = stats.kstest(angles(samples, mean), angle_cdf(d, kappa))
        assert result.pvalue > P_VALUE, kappa


@pytest.mark.parametrize("d", [2, 5, 40])
def test_zero_concentration_is_uniform_on_the_sphere(d):
    n = 6000
    _, samples = draw(d, 0, n, seed=2)
    assert np.abs(samples.mean(axis=0)).max() < STANDARD_ERRORS / np.sqrt(n * d)
    projected = samples @ random_direction(d, np.random.default_rng(3))
    marginal = stats.beta((d - 1) / 2, (d - 1) / 2, loc=-1, scale=2)
    assert stats.kstest(projected, marginal.cdf).pvalue > P_VALUE


def test_every_row_has_its_own_mean_and_concentration():
    rng = np.random.default_rng(9)
    d, n = 10, 6000
    mean = np.where(np.arange(n)[:, None] % 2, np.eye(d)[0], -np.eye(d)[3])
    kappa = np.array([0.0, 5.0, 100.0])[np.arange(n) % 3]
    cosine = (sample_vmf(mean, kappa, rng) * mean).sum(axis=1)
    for level in (0.0, 5.0, 100.0):
        of_level = cosine[kappa == level]
        error = of_level.std() / np.sqrt(of_level.size)
        truth = 1 - one_minus_a(d, level)
        assert abs(of_level.mean() - truth) < STANDARD_ERRORS * error


def test_same_generator_state_same_samples():
    np.testing.assert_array_equal(
        draw(5, 3, 20, seed=10)[1], draw(5, 3, 20, seed=10)[1]
    )
    assert (draw(5, 3, 20, seed=10)[1] != draw(5, 3, 20, seed=11)[1]).any()


def test_one_feature_is_refused():
    with pytest.raises(ValueError, match="n_features must be at least 2, got 1"):
        sample_vmf(np.ones((3, 1)), np.ones(3), np.random.default_rng(0))
