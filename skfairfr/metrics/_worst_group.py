"""The rate of the worst group, chosen in one half of the people, measured in the other.

Groups are labels or, if there are none, clusters of embeddings. The rates themselves come
from SimilarityROC.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from skfairfr.metrics._embeddings import _unit_rows
from skfairfr.metrics._roc._similarity_roc import SimilarityROC
from skfairfr.utils._frames import Framed, framed, library_of
from skfairfr.utils._labels import Labels, label_images
from skfairfr.utils._types import Column, Columns
from skfairfr.utils._validation import (
    check_count,
    check_level,
    check_option,
    check_rows,
    plain,
    random_state_of,
)

RATES = ("far", "frr")
MAX_SEED = np.iinfo(np.int32).max


@dataclass(frozen=True)
class WorstGroupRate(Framed):
    """The rate of a worst group, corrected for its having been chosen.

    From :func:`worst_group_rate` or :func:`worst_cluster_rate`. Rates lie in [0, 1]. Lower
    is better.

    Attributes
    ----------
    value : float
        Mean of the two held-out rates.
    low, high : float
        Ends of the interval, the means of those of the two held-out rates.
    naive : float
        The largest rate of a group in all of the data: chosen and measured on the same
        images, hence too high on average.
    naive_group : label
        The group that has it.
    chosen : ndarray, shape (2,)
        The worst group in the first and in the second half of the people. Each half has
        its own clusters.
    held_out : ndarray, shape (2,)
        Rate of that group in the other half.
    held_out_low, held_out_high : ndarrays, shape (2,)
        Ends of the interval of that rate, over new people from the same population.
    supported : bool
        Whether both held-out rates are, as in :class:`Estimate`.
    n_groups : int
        Number of groups that were compared in all of the data.

    Raises
    ------
    dataclasses.FrozenInstanceError
        If an attribute is assigned to.

    See Also
    --------
    worst_group_rate, worst_cluster_rate : Return it.

    Examples
    --------
    >>> from skfairfr.metrics import worst_group_rate
    >>> from skfairfr import make_face_embeddings
    >>> data = make_face_embeddings(n_identities=200, random_state=0)
    >>> found = worst_group_rate(data.X, data.y, far=1e-2, n_resamples=100,
    ...     sensitive_features=data.sensitive_features, random_state=0)
    >>> found.n_groups, str(found.naive_group), bool(found.low < found.value < found.high)
    (2, 'female', True)
    """

    value: float
    low: float
    high: float
    naive: float
    naive_group: object
    chosen: np.ndarray
    held_out: np.ndarray
    held_out_low: np.ndarray
    held_out_high: np.ndarray
    supported: bool
    n_groups: int


def worst_group_rate(
    X: ArrayLike,
    y: Columns,
    *,
    sensitive_features: Column | None = None,
    far: float = 1e-3,
    rate: str = "far",
    min_identities: int = 10,
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> WorstGroupRate:
    """Rate of the worst of many groups, chosen in one half of the people, measured in the other.

    The largest of many noisy rates is too high on average, because it was chosen for being
    large. People are therefore split at random into two halves. The worst group is chosen
    in one half and its rate measured in the other, then the other way round. Both rates,
    at the threshold where the overall far of their half is ``far`` (eq. (2)-(4) of [1]_),
    are averaged.

    Parameters
    ----------
    X : array-like, shape (n_samples, n_features)
        Embeddings. Rows need not have unit length.
    y : array-like, shape (n_samples,), or frame
        Identity of each image. Labels of any type. Or the result of
        :func:`~skfairfr.face_labels`, or a frame with the columns ``identity`` and
        ``group``.
    sensitive_features : array-like, shape (n_samples,) or (n_samples, n_attributes), \
            default=None
        Group of each image. None and NaN are unknown.
    far : float in (0, 1), default=1e-3
        Level of the overall far.
    rate : {"far", "frr"}, default="far"
        Rate of the groups. Lower is better.
    min_identities : int, at least 2, default=10
        Groups are compared that have at least so many people in each half. For the frr,
        people with at least two images in the group.
    n_resamples : int, default=1000
        Resamples of people behind each interval.
    confidence_level : float in (0, 1), default=0.95
        Nominal coverage of the intervals.
    n_jobs : int, default=None
        Joblib workers, as in :class:`SimilarityROC`.
    random_state : int, RandomState instance or None, default=None
        Seed of the halves and the resamples.

    Returns
    -------
    worst : WorstGroupRate
        The corrected rate with its interval, and the naive one.

    Raises
    ------
    ValueError
        If an argument is out of range, no groups were given, or fewer than two groups
        have enough people in both halves.

    Warns
    -----
    UndefinedMetricWarning
        If the level cannot be resolved by the impostor pairs of a half.

    See Also
    --------
    worst_cluster_rate : The same where no groups are known.
    SimilarityROC.far_matrix : The FAR of all groups, none of them chosen.

    Notes
    -----
    The estimated quantity is the rate, among all people, of the group that is worst in
    half of them: at most that of the truly worst group. The interval averages the ends of
    two intervals. The standard error of a mean of two is at most the mean of theirs however
    they depend on each other, so it is conservative. Groups that were found in the
    same embeddings remain fitted to them, whatever is held out. For clusters use
    :func:`worst_cluster_rate`.

    References
    ----------
    .. [1] Conti, J.-R., & Clémençon, S. (2024). Assessing Uncertainty in Similarity
       Scoring: Performance & Fairness in Face Recognition. ICLR. Eq. (2)-(4).

    Examples
    --------
    >>> from skfairfr import make_face_embeddings
    >>> from skfairfr.metrics import worst_group_rate
    >>> shares = {"north": 0.3, "east": 0.3, "south": 0.2, "west": 0.2}
    >>> faces = make_face_embeddings(n_identities=200, groups=shares, random_state=0)
    >>> worst = worst_group_rate(faces.X, faces.y, far=1e-2, n_resamples=100,
    ...     sensitive_features=faces.sensitive_features, random_state=0)
    >>> bool(0.01 < worst.low < worst.value), str(worst.naive_group)
    (True, 'west')
    """
    _check_options(far, rate, min_identities)
    library = library_of(X, y, sensitive_features)
    X = check_rows(X, dtype=(np.float32, np.float64), input_name="X")
    identity, groups, _ = label_images(
        y, sensitive_features, None, len(X), fields=("identity", "group")
    )
    if groups is None:
        raise ValueError(
            "worst_group_rate needs groups: pass sensitive_features=, or "
            "face_labels(identity, group) as y. worst_cluster_rate needs none."
        )
    rng = random_state_of(random_state)
    in_second = _split_people(identity, rng)
    settings = n_resamples, confidence_level, n_jobs
    people = X, identity, in_second
    worst = _measure(*people, [groups] * 3, rng, far, rate, min_identities, settings)
    return framed(worst, library)


def _check_options(far, rate, min_identities):
    """Raise unless the options make sense."""
    if check_level(far).ndim:
        raise ValueError(f"far must be one number, got {plain(far)!r}.")
    check_option(rate, "rate", RATES)
    check_count(min_identities, "min_identities", 2)


def _split_people(identity, rng):
    """Whether each image (n_samples,) shows someone of the second half of the people."""
    return (rng.permutation(len(identity.values)) % 2 == 1)[identity.codes]


def _measure(
    X, identity, in_second, groupings, rng, far, rate, min_identities, settings
):
    """Choose the worst group in one half, measure it in the other, then swap the halves.

    Parameters
    ----------
    X : ndarray, shape (n_samples, n_features)
    identity : Labels
    in_second : ndarray of bool, shape (n_samples,)
    groupings : three of Labels
        Groups for choosing in the first half, for choosing in the second half, and for
        all of the data.
    rng : RandomState
    far, rate, min_identities
        See :func:`worst_group_rate`.
    settings : tuple
        ``n_resamples``, ``confidence_level`` and ``n_jobs``.

    Returns
    -------
    worst : WorstGroupRate
    """
    n_resamples, confidence_level, n_jobs = settings
    unfitted = SimilarityROC(
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        far_max=max(float(far), 1e-2),
        n_jobs=n_jobs,
        random_state=rng.randint(MAX_SEED),
    )
    smallest = 2 if rate == "frr" else 1

    def fit(groups, rows):
        labels = groups.of_rows()[rows]
        return clone(unfitted).fit(X[rows], identity.codes[rows], labels)

    def largest(groups, rows):
        compared = _comparable(identity, groups, in_second, min_identities, smallest)
        engine = fit(groups, rows)._engine
        questions = [
            engine.question(far, None, rate, g, None, "overall") for g in compared
        ]
        rates = np.array([engine.points(question).item() for question in questions])
        return compared[np.argmax(rates)], rates

    *halves, everyone = ~in_second, in_second, np.ones(len(X), dtype=bool)
    chosen, held_out = [], []
    for rows, groups in zip(halves, groupings[:2], strict=True):
        worst, _ = largest(groups, rows)
        chosen.append(worst)
        held_out.append(fit(groups, ~rows).estimate(far, rate=rate, group=worst))
    naive_group, rates = largest(groupings[2], everyone)
    ends = [[getattr(e, name) for e in held_out] for name in ("value", "low", "high")]
    return WorstGroupRate(
        *(float(np.mean(end)) for end in ends),
        float(rates.max()),
        naive_group,
        np.array(chosen),
        *map(np.array, ends),
        all(bool(estimate.supported) for estimate in held_out),
        rates.size,
    )


def _comparable(identity, groups, in_second, min_identities, smallest):
    """Labels of the groups with enough people of so many images in each half."""
    known = groups.codes >= 0
    columns = (in_second[known], groups.codes[known], identity.codes[known])
    cells, n_images = np.unique(np.stack(columns), axis=1, return_counts=True)
    n_people = np.zeros((2, len(groups.values)), dtype=int)
    np.add.at(n_people, tuple(cells[:2, n_images >= smallest]), 1)
    enough = (n_people >= min_identities).all(axis=0)
    if enough.sum() < 2:
        raise ValueError(
            "A worst group is chosen among at least two, but "
            f"{enough.sum()} of {len(enough)} groups have min_identities="
            f"{min_identities} people in each half. The largest numbers are "
            f"{sorted(n_people.min(axis=0).tolist(), reverse=True)[:3]}. Give more "
            "people, fewer groups or clusters, or a smaller min_identities."
        )
    return groups.values[enough]


# ---- clusters as groups ----------------------------------------------------------------


def cluster_groups(
    X: ArrayLike,
    n_clusters: int = 30,
    *,
    random_state: int | np.random.RandomState | None = None,
) -> np.ndarray:
    """Find groups of images that look similar to the encoder, if no labels exist.

    Unit embeddings are clustered by mini-batch k-means. As in [1]_, which clusters faces
    into 10, 30 or 100 groups, the clusters then take the place of ``sensitive_features``.
    A lower FAR within a cluster is better.

    Parameters
    ----------
    X : array-like, shape (n_samples, n_features)
        Embeddings. Rows need not have unit length.
    n_clusters : int, at least 2, default=30
        Number of clusters, at most n_samples.
    random_state : int, RandomState instance or None, default=None
        Seed of the first centres and the batches.

    Returns
    -------
    groups : ndarray of int, shape (n_samples,)
        Cluster of each image, in 0..n_clusters - 1. A cluster may be empty.

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
    cluster is a group of images, not of people. Genuine pairs whose images are least similar
    are the likeliest to be split between clusters, and then count for none. The frr within
    clusters is therefore usually too low: compare their far. Clusters also fit the very
    images they were found in: at overall far 1e-2, in four draws of make_face_embeddings
    with 200 people, 800 images and 30 clusters, the far within clusters was 0.059 in those
    images and 0.024 for new people's, each put to the nearest centre. With 2,000 people,
    8,000 images and 64 features it was 0.047 and 0.037. A cluster is no demographic
    group. Look at its images before naming it.

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
    X: ArrayLike,
    y: Columns,
    n_clusters: int = 30,
    *,
    far: float = 1e-3,
    rate: str = "far",
    min_identities: int = 10,
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> WorstGroupRate:
    """Rate of the worst cluster of images, found in some people and measured in others.

    Clusters fit the images they are found in, and the worst of many was chosen for being
    so: both make its rate too high. People are therefore split at random into two halves.
    Clusters are found, and the worst of them chosen, in one half, and its rate is measured
    on the images of the other half that are nearest to its centre, then the other way
    round. Both rates, at the threshold where the overall far of their half is ``far``
    (eq. (2)-(4) of [2]_), are averaged.

    Parameters
    ----------
    X : array-like, shape (n_samples, n_features)
        Embeddings. Rows need not have unit length.
    y : array-like, shape (n_samples,), or frame
        Identity of each image. Labels of any type. Groups inside it are not used.
    n_clusters : int, at least 2, default=30
        Number of clusters, at most the number of images of either half.
    far : float in (0, 1), default=1e-3
        Level of the overall far.
    rate : {"far", "frr"}, default="far"
        Rate of the clusters. Lower is better. The frr within clusters is too low as a
        rule, see :func:`cluster_groups`.
    min_identities : int, at least 2, default=10
        Clusters are compared that have at least so many people in each half. For the frr,
        people with at least two images in the cluster.
    n_resamples : int, default=1000
        Resamples of people behind each interval.
    confidence_level : float in (0, 1), default=0.95
        Nominal coverage of the intervals.
    n_jobs : int, default=None
        Joblib workers, as in :class:`SimilarityROC`.
    random_state : int, RandomState instance or None, default=None
        Seed of the halves, the clusters and the resamples.

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
    _check_options(far, rate, min_identities)
    n_clusters = check_count(n_clusters, "n_clusters", 2)
    library = library_of(X, y)
    X = check_rows(X, dtype=(np.float32, np.float64), input_name="X")
    identity, _, _ = label_images(y, None, None, len(X), fields=("identity",))
    rng = random_state_of(random_state)
    in_second = _split_people(identity, rng)
    smaller = min(in_second.sum(), (~in_second).sum())
    _check_enough(n_clusters, smaller, "images of the smaller half of the people")
    unit = _unit_rows(X)
    names = np.arange(n_clusters)
    groupings = [
        Labels(names, _find_clusters(part, unit, n_clusters, rng.randint(MAX_SEED)))
        for part in (unit[~in_second], unit[in_second], unit)
    ]
    settings = n_resamples, confidence_level, n_jobs
    people = X, identity, in_second
    worst = _measure(*people, groupings, rng, far, rate, min_identities, settings)
    return framed(worst, library)


def _check_enough(n_clusters, n_rows, what):
    if n_clusters > n_rows:
        raise ValueError(
            f"n_clusters={n_clusters} is more than the {n_rows} {what}. Lower it."
        )


def _find_clusters(unit, others, n_clusters, random_state):
    """Clusters of unit rows, as the nearest centre of each of some other unit rows."""
    # This import takes a tenth of a second, and few callers of the package need it.
    from sklearn.cluster import MiniBatchKMeans

    means = MiniBatchKMeans(n_clusters, n_init=3, random_state=random_state)
    return means.fit(unit).predict(others).astype(np.int64)
