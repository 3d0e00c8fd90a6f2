"""The gate of groups: the slides' figures, and a simulation of images and predictions."""

import numpy as np
import pytest

from skfairfr.metrics import group_gate_rates


def test_the_figures_of_the_thought_experiment():
    rates = group_gate_rates(far=1e-5, frr=1e-2, error=1e-3)
    assert rates.far == pytest.approx(5e-6)
    assert rates.frr == pytest.approx(1.198e-2, rel=2e-4)
    assert rates.far_between == pytest.approx(2e-8, rel=2e-3)
    assert rates.far_within == pytest.approx(9.98e-6, rel=1e-5)


@pytest.mark.parametrize("n_groups", [2, 3, 5])
def test_enumerating_what_is_predicted_gives_the_same(n_groups):
    error, far, frr = 0.2, 0.1, 0.3
    predicted = np.full((n_groups, n_groups), error / (n_groups - 1))
    np.fill_diagonal(predicted, 1 - error)
    # Both images predicted alike, by their true groups.
    passes = predicted @ predicted.T
    accepted = far * passes
    rates = group_gate_rates(far=far, frr=frr, error=error, n_groups=n_groups)
    assert rates.far == pytest.approx(accepted.mean())
    assert rates.far_within == pytest.approx(accepted[0, 0])
    assert rates.far_between == pytest.approx(accepted[0, 1])
    assert rates.frr == pytest.approx(1 - passes[0, 0] * (1 - frr))


def test_a_perfect_gate_and_a_blind_one():
    perfect = group_gate_rates(far=1e-3, frr=0.1, error=0, n_groups=4)
    assert perfect.far_between == 0
    assert perfect.far == pytest.approx(1e-3 / 4)
    assert (perfect.far_within, perfect.frr) == pytest.approx((1e-3, 0.1))
    blind = group_gate_rates(far=1e-3, frr=0.1, error=0.5)
    assert blind.far == blind.far_within == blind.far_between == pytest.approx(5e-4)
