"""Images as a comparator prepares them: rows to multiply, and what adjusts their products.

One loop makes the scores here and those of a pass over all pairs: they are equal.
"""

from typing import NamedTuple

import numpy as np

from skfairfr._core import _inner_products
from skfairfr._core._adjustments import Adjustment
from skfairfr._core._parallel import over_blocks

# Rows of a block that a thread scores with all columns.
BLOCK = 64


class PreparedImages(NamedTuple):
    """What a comparator makes of embeddings, so that all their pairs can be scored.

    Attributes
    ----------
    vectors : ndarray of float32, shape (n_images, n_features)
        Rows to multiply.
    adjustment : Adjustment or None
        What makes scores of their inner products; None: they are the scores.
    """

    vectors: np.ndarray
    adjustment: Adjustment | None


def score_prepared_pairs(first, second):
    """Scores of row k of both, float32 (n_pairs,)."""
    rows = np.arange(len(first.vectors))
    scores = _inner_products.score_pairs(first.vectors, rows, second.vectors, rows)
    if first.adjustment is None:
        return scores
    return first.adjustment.of_pairs(scores, second.adjustment)


def score_prepared_matrix(first, second):
    """Scores of every row of one with every row of the other, float32 (n_1, n_2)."""
    scores = np.empty((len(first.vectors), len(second.vectors)), dtype=np.float32)
    parts = [slice(s, s + BLOCK) for s in range(0, len(first.vectors), BLOCK)]
    over_blocks(
        _write_scores,
        [(part,) for part in parts],
        1,
        "scoring all pairs",
        shared=(first, second, scores),
    )
    return scores


def _write_scores(first, second, scores, part):
    """Write the rows of a part."""
    _inner_products.write_scores(first.vectors[part], second.vectors, scores[part])
    if first.adjustment is not None:
        first.adjustment[part].adjust_tile(scores[part], second.adjustment)
