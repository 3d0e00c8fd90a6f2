"""Inner products of float32 rows: one plain loop in float64 makes every score.

Genuine, impostor, listed and prepared pairs are all scored by it, so that on one machine no
BLAS, tile or thread changes a digit. The product of two float32 numbers is exact in
float64: s(x, y) = s(y, x), and equal rows have equal scores. The compiler may add in
any order, which is the same for all rows of one length.
"""

import numpy as np
from numba import njit


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def inner_product(row, other):
    """Sum over features, in float64."""
    total = 0.0
    for k in range(row.size):
        total += np.float64(row[k]) * np.float64(other[k])
    return total


@njit(nogil=True, cache=True)
def score_pairs(rows, left, others, right):
    """Inner products of listed pairs, rounded to float32.

    Parameters
    ----------
    rows, others : ndarrays of float32, shape (n_rows, n_features)
        C contiguous.
    left, right : ndarrays of int, shape (n_pairs,)
        A row of each.

    Returns
    -------
    scores : ndarray of float32, shape (n_pairs,)
    """
    scores = np.empty(left.size, dtype=np.float32)
    for p in range(left.size):
        scores[p] = inner_product(rows[left[p]], others[right[p]])
    return scores


@njit(nogil=True, cache=True)
def write_scores(rows, others, scores):
    """Write the inner products of all rows with all others, float32 (n_rows, n_others)."""
    for i in range(scores.shape[0]):
        for j in range(scores.shape[1]):
            scores[i, j] = inner_product(rows[i], others[j])
