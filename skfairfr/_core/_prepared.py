"""Images as a comparator prepares them: rows to multiply, and what adjusts their products.

The scores here and those of a pass over all pairs are the same, bit for bit.
"""

from typing import NamedTuple

import numpy as np

from skfairfr._core import _inner_products
from skfairfr._core._adjustments import Adjustment
from skfairfr._core._compiled import njit
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
    scores = np.empty(len(first.vectors), dtype=np.float32)
    _multiply_pairs(first.vectors, second.vectors, scores)
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
    _multiply_all(first.vectors[part], second.vectors, scores[part])
    if first.adjustment is not None:
        first.adjustment[part].adjust_tile(scores[part], second.adjustment)


@njit(nogil=True, cache=True)
def _multiply_pairs(first, second, scores):
    wide = np.empty(first.shape[1])
    for p in range(scores.size):
        _inner_products.widen(first[p], wide)
        scores[p] = np.float32(_inner_products.inner_product(wide, second[p]))


@njit(nogil=True, cache=True)
def _multiply_all(first, second, scores):
    wide = np.empty(first.shape[1])
    for i in range(scores.shape[0]):
        _inner_products.widen(first[i], wide)
        for j in range(scores.shape[1]):
            scores[i, j] = np.float32(_inner_products.inner_product(wide, second[j]))
