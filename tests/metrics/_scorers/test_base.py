"""What scorers share: directions, and a pass that never holds n x n scores."""

import tracemalloc

import numpy as np
from sklearn.preprocessing import FunctionTransformer

from skfairfr import bfar_scorer, face_labels

AS_THEY_ARE = FunctionTransformer()


def test_no_square_of_scores_is_held():
    n_images = 6000
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((n_images, 8), dtype=np.float32)
    identity = np.repeat(np.arange(n_images // 4), 4)
    group = np.where(identity % 2, "a", "b")
    tracemalloc.start()
    assert np.isfinite(bfar_scorer(AS_THEY_ARE, rows, face_labels(identity, group)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < n_images**2 * 4 / 2
