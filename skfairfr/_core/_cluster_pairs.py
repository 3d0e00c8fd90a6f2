"""Impostor pairs with at least one image in a cluster: the largest scores, and samples."""

import numpy as np

from skfairfr._core import _rates
from skfairfr._core._inner_products import score_pairs
from skfairfr._core._parallel import over_blocks

# Products that are compared at a time.
TILE = 2**20


def count_pairs(cluster, n_clusters):
    """Pairs with an image in each cluster, genuine ones too, float64 (n_clusters,)."""
    inside = np.bincount(cluster, minlength=n_clusters).astype(np.float64)
    return inside * (cluster.size - inside) + inside * (inside - 1) / 2


def count_genuine(cluster, n_clusters, left, right):
    """How many of listed pairs have an image in each cluster, int (n_clusters,)."""
    first, second = cluster[left], cluster[right]
    counts = np.bincount(first, minlength=n_clusters)
    return counts + np.bincount(second[first != second], minlength=n_clusters)


def thresholds_touching(rows, identity, cluster, n_impostor, far):
    """Thresholds at a FAR over the impostor pairs with an image in each cluster.

    Parameters
    ----------
    rows : ndarray of float32, shape (n_images, n_features)
        Of unit length.
    identity, cluster : ndarrays of int, shape (n_images,)
    n_impostor : ndarray of int, shape (n_clusters,)
        Number of these pairs.
    far : float

    Returns
    -------
    thresholds : ndarray of float64, shape (n_clusters,)
        nan where there is no such pair.
    """
    order = np.argsort(cluster, kind="stable")
    stops = np.cumsum(np.bincount(cluster, minlength=n_impostor.size))
    starts = np.append(0, stops[:-1])
    tasks = list(zip(starts, stops, n_impostor, strict=True))
    found = over_blocks(
        _threshold_touching,
        tasks,
        1,
        "comparing clusters",
        sizes=(stops - starts).tolist(),
        shared=(rows[order], identity[order], far),
    )
    return np.array(found)


def _threshold_touching(rows, identity, far, start, stop, n_impostor):
    """The threshold of the cluster of rows start:stop."""
    if n_impostor == 0:
        return np.nan
    n_kept = int(far * n_impostor * (1 + _rates.ROUNDING)) + 1
    # Either of two products may be wrong by half of it, whatever the order of adding.
    slack = 4 * rows.shape[1] * 2.0**-24
    scores, left, right = np.empty(0, np.float32), np.empty(0, int), np.empty(0, int)
    floor = np.float32(-np.inf)
    size = max(1, TILE // len(rows))
    for first in range(start, stop, size):
        tile = rows[first : min(first + size, stop)] @ rows.T
        i, j = np.nonzero(tile >= floor)
        row = i + first
        # Pairs inside the cluster are met twice.
        new = (identity[row] != identity[j]) & ((j < start) | (j >= stop) | (j > row))
        scores = np.append(scores, tile[i[new], j[new]])
        left, right = np.append(left, row[new]), np.append(right, j[new])
        if scores.size > n_kept:
            last = np.partition(scores, scores.size - n_kept)[scores.size - n_kept]
            floor = np.float32(last - slack)
            kept = scores >= floor
            scores, left, right = scores[kept], left[kept], right[kept]
    exact = np.sort(score_pairs(rows, left, rows, right))[::-1]
    counts = np.arange(1, exact.size + 1, dtype=np.float64)
    position = _rates.first_exceeding(counts, far * n_impostor)
    return float(_rates.threshold_at(exact, position))


def draw_pairs(inside, outside, size, rng):
    """Pairs with at least one image in a cluster: all, or a uniform sample of them.

    Parameters
    ----------
    inside, outside : ndarrays of int
        The images of the cluster, and all others.
    size : int
        Largest number of pairs.
    rng : numpy.random.Generator

    Returns
    -------
    left, right : ndarrays of int, shape (n_pairs,)
        Each pair once.
    """
    across = inside.size * outside.size
    total = across + inside.size * (inside.size - 1) // 2
    if total > size:
        place = np.sort(rng.choice(total, size, replace=False, shuffle=False))
    else:
        place = np.arange(total)
    first, second = place[place < across], place[place >= across] - across
    # Pair k of (1, 0), (2, 0), (2, 1), (3, 0), ...
    row = ((1 + np.sqrt(8.0 * second + 1)) // 2).astype(np.int64)
    row -= row * (row - 1) // 2 > second
    row += row * (row + 1) // 2 <= second
    column = second - row * (row - 1) // 2
    width = max(outside.size, 1)
    left = np.concatenate([inside[first // width], inside[row]])
    others = outside[first % width] if outside.size else first
    return left, np.concatenate([others, inside[column]])
