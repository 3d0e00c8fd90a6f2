"""What scorers share: directions, and a pass that never holds n x n scores."""

import tracemalloc

import numpy as np
import pytest
from sklearn.preprocessing import FunctionTransformer

from skfairfr import bfar_scorer, face_labels
from skfairfr.metrics._scorers import _greater_is_better

AS_THEY_ARE = FunctionTransformer()


@pytest.mark.parametrize("how", ["ratio", ("ratio", "a", "b")])
def test_a_signed_ratio_is_best_at_one(how):
    scores = _greater_is_better(np.array([0.25, 1.0, 4.0, 0.0]), how)
    assert scores == pytest.approx([-np.log(4), 0, -np.log(4), -np.inf])


def test_no_square_of_scores_is_held():
    n_images = 12000
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((n_images, 8), dtype=np.float32)
    identity = np.repeat(np.arange(n_images // 4), 4)
    group = np.where(identity % 2, "a", "b")
    tracemalloc.start()
    assert np.isfinite(bfar_scorer(AS_THEY_ARE, rows, face_labels(identity, group)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < n_images**2 * 4 / 2
