"""Unit rows of embeddings, and their inner products with other rows."""

import numpy as np

from skfairfr._core._pair_tiles import unit_rows
from skfairfr._core._prepared import PreparedImages, score_prepared_matrix
from skfairfr.utils._errors import Argument, ArgumentError
from skfairfr.utils._labels import label_images


class NeedsIdentities:
    """Says to scikit-learn that ``fit`` requires y."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def identities_of(y, n_samples):
    """Code of the identity of each image, in 0..n_identities - 1."""
    identity, _, _ = label_images(y, None, None, n_samples, fields=("identity",))
    return identity.codes


def check_no_zero_row(X):
    """Raise where a row has no direction."""
    zero = np.flatnonzero(~X.any(axis=1))
    if zero.size:
        raise ArgumentError(
            Argument("X"),
            f" has a zero row ({zero[0]}, {zero.size} in all), which has no direction;",
            remedy="remove failed extractions, with their labels.",
        )


def unit_rows_of(X):
    """float32 rows of unit length; an error where a row has no direction."""
    check_no_zero_row(X)
    return unit_rows(X, "cosine")


def multiply_rows(rows, matrix):
    """Inner products of every row with every row of a matrix, float32.

    Parameters
    ----------
    rows : ndarray of float32, shape (n_samples, n_features)
    matrix : ndarray, shape (n_out, n_features)
    """
    matrix = np.ascontiguousarray(matrix, dtype=np.float32)
    return score_prepared_matrix(
        PreparedImages(rows, None), PreparedImages(matrix, None)
    )
