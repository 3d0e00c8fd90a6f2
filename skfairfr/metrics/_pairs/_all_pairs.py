"""The list of all pairs of a small set of embeddings.

Large sets never become a list: ``_core/_pair_tiles.py`` goes through their pairs in tiles.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from skfairfr.utils._labels import label_images
from skfairfr.utils._types import Column, Columns
from skfairfr.utils._validation import check_no_zero_row, check_rows


def all_pairs(
    X: ArrayLike, y: Columns, *, sensitive_features: Column | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Every unordered pair of images, with its cosine similarity.

    For small sets: n images give n (n - 1) / 2 pairs (2,000 images, 2 million), all kept
    in memory. ``SimilarityROC`` takes the embeddings themselves and stores only a tail.

    Parameters
    ----------
    X : array-like, shape (n_samples, n_features)
        Embeddings. Rows need not have unit length.
    y : array-like, shape (n_samples,), or frame
        Identity of each image. Labels of any type. Or the result of
        :func:`~skfairfr.face_labels`, or a frame with the columns ``identity``,
        ``group`` and ``domain``. With two domains, images are compared across them only.
    sensitive_features : array-like, shape (n_samples,) or (n_samples, n_attributes), \
            default=None
        Group of each image. None and NaN are unknown. Several columns are joined into
        one label.

    Returns
    -------
    y_true : ndarray of int, shape (n_pairs,)
        1 when both images are of one identity (genuine), else 0 (impostor).
    y_score : ndarray of float32, shape (n_pairs,)
        Cosine similarity in [-1, 1]. Larger is more similar.
    pair_groups : ndarray, shape (n_pairs, 2), or None
        Group of each image, unknown ones None, or None when no groups were given.

    Raises
    ------
    ValueError
        If X is not a finite array of at least two rows, a row is zero (it has no
        direction, so no cosine), the lengths differ, an identity is missing, or
        there are not two domains.

    See Also
    --------
    far_frr_curve : Error rates of these pairs at every threshold.
    group_error_rates : Error rates within each group.

    References
    ----------
    .. [1] Conti, J.-R., & Clémençon, S. (2024). Assessing Uncertainty in Similarity
       Scoring: Performance & Fairness in Face Recognition. ICLR. Eq. (2)-(3), which sum
       over these pairs.

    Examples
    --------
    >>> from skfairfr.metrics import all_pairs
    >>> X = [[1.0, 0.0], [0.8, 0.6], [0.0, 2.0]]
    >>> y_true, y_score, pair_groups = all_pairs(
    ...     X, ["ann", "ann", "bob"], sensitive_features=["f", "f", "m"])
    >>> y_true.tolist(), y_score.round(2).tolist()
    ([1, 0, 0], [0.800..., 0.0, 0.600...])
    >>> pair_groups.tolist()
    [['f', 'f'], ['f', 'm'], ['f', 'm']]
    """
    X = check_rows(X, dtype=np.float64, input_name="X", ensure_min_samples=2)
    identity, group, domain = label_images(y, sensitive_features, None, len(X))
    first, second = np.triu_indices(len(X), k=1)
    if domain is not None:
        across = domain.codes[first] != domain.codes[second]
        first, second = first[across], second[across]
    y_true = (identity.codes[first] == identity.codes[second]).astype(int)
    unit = _unit_rows(X)
    # Rounding to float32 also removes the 1e-16 by which a cosine may leave [-1, 1].
    y_score = (unit @ unit.T)[first, second].astype(np.float32)
    if group is None:
        return y_true, y_score, None
    labels = _image_groups(group)
    return y_true, y_score, np.stack([labels[first], labels[second]], axis=1)


def _unit_rows(X):
    check_no_zero_row(X)
    largest = np.abs(X).max(axis=1)
    scaled = X / largest[:, None]
    return scaled / np.linalg.norm(scaled, axis=1, keepdims=True)


def _image_groups(group):
    """The group of each image as one label. Objects with None where some are unknown."""
    known = group.codes >= 0
    if known.all():
        return group.values[group.codes]
    column = np.full(group.codes.size, None, dtype=object)
    column[known] = group.values[group.codes[known]]
    return column
