"""One estimate of memory before a comparison: what it counts, and the error that names far_max."""

import tracemalloc

import numpy as np
import pytest

from skfairfr import SimilarityROC, make_face_embeddings
from skfairfr._core import _parallel
from skfairfr._core._parallel import OF_GENUINE, OF_HELD, comparison_bytes
from skfairfr.metrics import instance_far
from skfairfr.metrics._roc import _inputs
from skfairfr.report import audit
from tests.report.audits import synthetic


@pytest.mark.parametrize("two_sides", [False, True])
@pytest.mark.parametrize("depth", [0.01, 0.3])
def test_bytes_are_those_of_pairs_counted_one_by_one(two_sides, depth):
    rng = np.random.default_rng(0)
    n, keep = 40, (50, 20)
    identity = rng.integers(0, 12, n)
    groupings = [rng.integers(-1, 3, n), np.full(n, -1)]
    side = rng.integers(0, 2, n) if two_sides else None
    pairs = [
        (i, j)
        for i in range(n)
        for j in range(i + 1, n)
        if side is None or side[i] != side[j]
    ]
    held = len(pairs) * (1 if len(pairs) <= keep[0] else depth)
    for codes in groupings:
        for g in range(3):
            inside = sum(codes[i] == codes[j] == g for i, j in pairs)
            held += inside * (1 if inside <= keep[1] else depth)
    genuine = sum(identity[i] == identity[j] for i, j in pairs)
    found = comparison_bytes(identity, groupings, side, 7, depth, keep)
    expected = OF_HELD * min(held, len(pairs)) + OF_GENUINE * genuine + 8 * n * 7
    assert found == pytest.approx(expected)


@pytest.mark.slow
@pytest.mark.parametrize("average", ["pair", "identity"])
def test_a_fit_takes_no_more_than_the_estimate(average, monkeypatch):
    """Beside what does not grow with the pairs: buffers, and resamples of a block."""
    estimates = []

    def estimated(*arguments):
        estimates.append(comparison_bytes(*arguments))
        return estimates[-1]

    monkeypatch.setattr(_inputs, "comparison_bytes", estimated)
    data = make_face_embeddings(900, 4, 16, random_state=0)
    options = {"far_max": 0.4, "average": average, "resample": "identities"}

    def work():
        roc = SimilarityROC(n_resamples=16, random_state=0, **options)
        roc.fit(data.X, data.y, data.sensitive_features)
        roc.estimate(0.01, rate="far", how="max_min")

    work()  # compiles
    tracemalloc.start()
    try:
        work()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert 0.2 * estimates[-1] < peak < estimates[-1] + 2**27


@pytest.fixture
def little(monkeypatch):
    monkeypatch.setattr(_parallel, "available_bytes", lambda: 1e5)
    monkeypatch.setattr(_inputs, "available_bytes", lambda: 1e5)


def test_a_fit_that_does_not_fit_names_far_max(little):
    X, y, groups = synthetic(60)
    said = r"^far_max of 0\.3 .* needs about .* GB of memory, and 0\.0001 GB are .*Lower it"
    with pytest.raises(ValueError, match=said):
        SimilarityROC(far_max=0.3).fit(X, y, groups)
    with pytest.raises(ValueError, match=r"^far of 0\.3 .*Lower it"):
        instance_far(X, y, far=0.3)
    with pytest.raises(
        ValueError, match=r"^far_max of 0\.05 \(the largest level requested"
    ):
        audit(X, y, groups, far=0.05)
