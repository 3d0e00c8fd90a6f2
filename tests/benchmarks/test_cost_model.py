"""The cost model finds the coefficients of costs that have some."""

import numpy as np
import pytest

from skfairfr._core._memory import OF_SAMPLED
from tests.benchmarks import cost_model
from tests.benchmarks.cost_model import FITTED, WORK, Model, n_threads, shown, work_of

BUSY = np.array([[0.1, 8, 1, 0.2, 0.1, 0, 0, 0], [0.5, 9, 3, 0, 0.3, 2, 1, 4]])


@pytest.fixture
def model():
    results = []
    for place, case in enumerate(FITTED):
        n, _, far_max, _ = case
        n_samples = 3 * (place % 2)
        held = far_max * n**2
        works = [work_of(case, held), work_of(case, held, True, n_samples)]
        busy = [float(c @ w) for c, w in zip(BUSY, works, strict=True)]
        results.append(
            {
                "busy": busy,
                "waited": [0.2 + 1.25 * seconds / n_threads() for seconds in busy],
                "held": held,
                "samples": n_samples,
                "bytes": 3e8 + 1e8 * (place % 2) + 0.5 * n,
                "estimate": OF_SAMPLED + n,
            }
        )
    return Model(FITTED, results)


def test_coefficients_are_found(model):
    assert len(WORK) == BUSY.shape[1]
    assert np.array(model.seconds) == pytest.approx(BUSY, rel=1e-6, abs=1e-6)
    for waits in model.waits:
        assert waits == pytest.approx([0.2, 1.25])
    assert model.memory == pytest.approx([300, 100, 0.5])
    large = {"samples": 3, "estimate": OF_SAMPLED + 1e9}
    assert model.n_bytes(large) == pytest.approx(9e8)


def test_a_cluster_divides_what_is_shared(model, monkeypatch):
    case = (100_000, 512, 1e-3, 100)
    counted = {"held": 1e7, "samples": 3}
    alone = model.of(case, counted)[1]
    monkeypatch.setattr(cost_model, "NETWORK", np.inf)
    monkeypatch.setattr(cost_model, "N_WORKERS", n_threads())
    assert model.on_cluster(case, counted) == pytest.approx(alone)
    monkeypatch.setattr(cost_model, "N_WORKERS", 64)
    assert alone / 64 < model.on_cluster(case, counted) < alone / 2


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0042, "4.2 ms"),
        (0.97, "970 ms"),
        (12, "12 s"),
        (600, "10 min"),
        (9e3, "2.5 h"),
    ],
)
def test_seconds_are_shown_in_units(seconds, text):
    assert shown(seconds) == text
