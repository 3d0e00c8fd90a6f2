"""Groups where no labels exist: clusters of embeddings, and the worst one's rate.

``_worst_group.py`` chooses the worst group and holds out people.
"""

import numpy as np

from skfairfr.metrics._pairs._all_pairs import _unit_rows
from skfairfr.metrics._worst_group import (
    MAX_SEED,
    WorstGroupOptions,
    check_options,
    measure_held_out,
    split_people,
)
from skfairfr.utils._frames import framed, library_of
from skfairfr.utils._labels import Labels, label_images
from skfairfr.utils._validation import check_count, check_rows, random_state_of


def cluster_groups(X, n_clusters=30, *, random_state=None):
    """Find groups of images that look alike to the encoder, where no labels exist.

    Unit embeddings are clustered by mini-batch k-means; as in [1]_, which clusters faces
    into 10, 30 or 100 groups, the clusters then take the place of ``sensitive_features``.
    A cluster within which the FAR is higher is treated worse.

    Parameters
    ----------
    X : array-like, shape (n_samples, n_features)
        Embeddings; rows need not have unit length.
    n_clusters : int, at least 2, default=30
        Number of clusters, at most n_samples.
    random_state : int, RandomState instance or None, default=None
        Draws the first centres and the batches.

    Returns
    -------
    groups : ndarray of int, shape (n_samples,)
        Cluster of each image, in 0..n_clusters - 1; a cluster may be empty.

    Raises
    ------
    ValueError
        If X is not a finite array, a row is zero, or ``n_clusters`` is below 2 or above
        n_samples.

    See Also
    --------
    worst_cluster_rate : The worst cluster's rate, corrected for having been chosen.

    Notes
    -----
    Every image has a cluster, and the images of one identity may fall into several: a
    cluster is a group of images, not of people. Genuine pairs whose images are least alike
    are the likeliest to be split between clusters, where they count for none, so that the
    frr within clusters is too low as a rule: compare their far. Clusters also fit the very
    images they were found in: at overall far 1e-2, in four draws of make_face_embeddings
    with 200 people, 800 images and 30 clusters, the far within clusters was 0.059 in those
    images and 0.024 in other people's, each put to the nearest centre. With 2,000 people,
    8,000 images and 64 features it was 0.047 and 0.037. A cluster is no demographic
    group; look at its images before naming it.

    References
    ----------
    .. [1] Bruveris, M., Mortazavian, P., Gietema, J., & Mahadevan, M. (2020). Reducing
       Geographic Performance Differentials for Face Recognition. WACV Workshops.
       Presentation, "Algorithmic Grouping via Clustering".

    Examples
    --------
    >>> from skfairfr.metrics import cluster_groups
    >>> X = [[1.0, 0.1], [2.0, 0.1], [0.1, 1.0], [0.1, 3.0]]
    >>> groups = cluster_groups(X, n_clusters=2, random_state=0)
    >>> groups[0] == groups[1] != groups[2] == groups[3]
    np.True_
    """
    n_clusters = check_count(n_clusters, "n_clusters", 2)
    X = check_rows(X, dtype=(np.float32, np.float64), input_name="X")
    _check_enough(n_clusters, len(X), "rows of X")
    unit = _unit_rows(X)
    return _find_clusters(unit, unit, n_clusters, random_state)


def worst_cluster_rate(
    X,
    y,
    n_clusters=30,
    *,
    far=1e-3,
    rate="far",
    min_identities=10,
    n_resamples=1000,
    confidence_level=0.95,
    n_jobs=None,
    random_state=None,
):
    """Rate of the worst cluster of images, found in some people and measured in others.

    Clusters fit the images they are found in, and the worst of many was chosen for being
    so: both make its rate too high. People are therefore split at random into two halves;
    clusters are found, and the worst of them chosen, in one half, and its rate is measured
    on the images of the other half that are nearest to its centre; then the other way
    round. Both rates, at the threshold where the overall far of their half is ``far``
    (eq. (2)-(4) of [2]_), are averaged.

    Parameters
    ----------
    X : array-like, shape (n_samples, n_features)
        Embeddings; rows need not have unit length.
    y : array-like, shape (n_samples,), or frame
        Identity of each image; labels of any type. Groups inside it are not used.
    n_clusters : int, at least 2, default=30
        Number of clusters, at most the number of images of either half.
    far : float in (0, 1), default=1e-3
        Level of the overall far.
    rate : {"far", "frr"}, default="far"
        Rate of the clusters; lower is better. The frr within clusters is too low as a
        rule, see :func:`cluster_groups`.
    min_identities : int, at least 2, default=10
        Clusters are compared that have at least so many people in each half; for the frr,
        people with at least two images in the cluster.
    n_resamples : int, default=1000
        Resamples of people behind each interval.
    confidence_level : float in (0, 1), default=0.95
        Nominal coverage of the intervals.
    n_jobs : int, default=None
        Joblib workers, as in :class:`SimilarityROC`.
    random_state : int, RandomState instance or None, default=None
        Draws the halves, the clusters and the resamples.

    Returns
    -------
    worst : WorstGroupRate
        The corrected rate with its interval, and the naive one, whose clusters were
        found, chosen and measured in the same images.

    Raises
    ------
    ValueError
        If an argument is out of range, or fewer than two clusters have enough people in
        both halves.

    Warns
    -----
    UndefinedMetricWarning
        If the level cannot be resolved by the impostor pairs of a half.

    See Also
    --------
    cluster_groups : Finds clusters in all of the images.
    worst_group_rate : The same for groups that are known.

    References
    ----------
    .. [1] Bruveris, M., Mortazavian, P., Gietema, J., & Mahadevan, M. (2020). Reducing
       Geographic Performance Differentials for Face Recognition. WACV Workshops.
       Presentation, "Algorithmic Grouping via Clustering".
    .. [2] Conti, J.-R., & Clémençon, S. (2024). Assessing Uncertainty in Similarity
       Scoring: Performance & Fairness in Face Recognition. ICLR. Eq. (2)-(4).

    Examples
    --------
    >>> from skfairfr import make_face_embeddings
    >>> from skfairfr.metrics import worst_cluster_rate
    >>> faces = make_face_embeddings(n_identities=200, random_state=0)
    >>> worst = worst_cluster_rate(faces.X, faces.y, n_clusters=5, far=1e-2,
    ...     n_resamples=100, random_state=0)
    >>> bool(worst.value < worst.naive)
    True
    """
    check_options(far, rate, min_identities)
    n_clusters = check_count(n_clusters, "n_clusters", 2)
    library = library_of(X, y)
    X = check_rows(X, dtype=(np.float32, np.float64), input_name="X")
    identity, _, _ = label_images(y, None, None, len(X), fields=("identity",))
    rng = random_state_of(random_state)
    in_second = split_people(identity, rng)
    smaller = min(in_second.sum(), (~in_second).sum())
    _check_enough(n_clusters, smaller, "images of the smaller half of the people")
    unit = _unit_rows(X)
    names = np.arange(n_clusters)
    groupings = [
        Labels(names, _find_clusters(part, unit, n_clusters, rng.randint(MAX_SEED)))
        for part in (unit[~in_second], unit[in_second], unit)
    ]
    settings = {
        "n_resamples": n_resamples,
        "confidence_level": confidence_level,
        "n_jobs": n_jobs,
        "random_state": rng.randint(MAX_SEED),
    }
    options = WorstGroupOptions(float(far), rate, min_identities)
    worst = measure_held_out(X, identity, in_second, groupings, options, settings)
    return framed(worst, library)


def _check_enough(n_clusters, n_rows, what):
    if n_clusters > n_rows:
        raise ValueError(
            f"n_clusters={n_clusters} is more than the {n_rows} {what}; lower it."
        )


def _find_clusters(unit, others, n_clusters, random_state):
    """Clusters of unit rows, as the nearest centre of each of some other unit rows."""
    # This import takes a tenth of a second, and few callers of the package need it.
    from sklearn.cluster import MiniBatchKMeans

    means = MiniBatchKMeans(n_clusters, n_init=3, random_state=random_state)
    return means.fit(unit).predict(others).astype(np.int64)
