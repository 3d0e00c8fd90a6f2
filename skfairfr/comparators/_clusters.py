"""Clusters of unit rows, and the one that each image belongs to."""

import numpy as np

from skfairfr._core._pair_tiles import genuine_pairs
from skfairfr._core._resampling import Images
from skfairfr.comparators._base import multiply_rows
from skfairfr.utils._validation import warn_caller


def find_clusters(rows, n_clusters, random_state):
    """Centers of k-means, and the nearest one of each row.

    Parameters
    ----------
    rows : ndarray of float32, shape (n_images, n_features)
        Of unit length.
    n_clusters : int
    random_state : int, RandomState instance or None

    Returns
    -------
    centers : ndarray of float32, shape (n_clusters, n_features)
    clusters : ndarray of int, shape (n_images,)
    """
    if n_clusters > len(rows):
        raise ValueError(
            f"n_clusters={n_clusters} is more than the {len(rows)} rows of X; lower it, or "
            "fit on more images."
        )
    if n_clusters == 1:
        warn_caller(
            "n_clusters=1 makes one cluster, which treats all images alike: scores keep "
            "the order of cosines. Give 2 at least.",
            UserWarning,
        )
    # This import takes a tenth of a second, and few callers of the package need it.
    from sklearn.cluster import KMeans

    means = KMeans(n_clusters, n_init=1, random_state=random_state).fit(rows)
    centers = means.cluster_centers_
    return centers, nearest(rows, centers)


def nearest(rows, centers):
    """Which center is nearest to each row, (n_rows,); of several the first."""
    squares = np.einsum("ij,ij->i", centers, centers)
    return np.argmax(multiply_rows(rows, centers) - squares / 2, axis=1)


def genuine_of(identity):
    """Both images of every genuine pair, by the codes of identities."""
    unknown = np.full(identity.size, -1, dtype=np.int32)
    return genuine_pairs(Images(identity, unknown, None, identity.max() + 1, 0))
