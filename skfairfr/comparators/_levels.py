"""Thresholds of groups of images at a FAR level, from one pass over all pairs."""

import warnings
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from skfairfr._core._rates import exceeds
from skfairfr.metrics import SimilarityROC
from skfairfr.utils._validation import warn_undefined


class GroupLevels(NamedTuple):
    """Thresholds of groups at a FAR level.

    Attributes
    ----------
    thresholds : ndarray, shape (n_groups,)
        The overall one where there is no impostor pair.
    n_impostor : ndarray of int, shape (n_groups,)
        Impostor pairs that the threshold of each group is of.
    """

    thresholds: np.ndarray
    n_impostor: np.ndarray


def compare_groups(X, identity, group, far, far_max):
    """A SimilarityROC of embeddings, and the threshold at the FAR of all pairs.

    Parameters
    ----------
    X : ndarray, shape (n_images, n_features)
    identity, group : ndarrays of int, shape (n_images,)
        Group -1 is unknown.
    far, far_max : float
        Level of the threshold, and largest level that will be asked.
    """
    labels = np.append(np.arange(group.max() + 1).astype(object), None)[group]
    roc = SimilarityROC(far_max=far_max, random_state=0)
    roc.fit(X, identity, labels if group.max() >= 0 else None)
    with warnings.catch_warnings(action="ignore", category=UndefinedMetricWarning):
        return roc, roc.threshold_at(far)


def thresholds_within(roc, n_groups, level, overall):
    """The thresholds at which the FAR within each group meets a level.

    Parameters
    ----------
    roc : SimilarityROC
        Of :func:`compare_groups`.
    n_groups : int
    level, overall : float
        The second is the threshold of groups without an impostor pair.

    Returns
    -------
    levels : GroupLevels
    """
    n_impostor = np.zeros(n_groups, dtype=np.int64)
    n_impostor[roc.groups_.astype(int)] = roc.n_impostor_[1:]
    thresholds = np.full(n_groups, overall, dtype=np.float64)
    options = {"operating_point": "group"}
    with warnings.catch_warnings(action="ignore", category=UndefinedMetricWarning):
        for g in np.flatnonzero(n_impostor).tolist():
            thresholds[g] = roc.threshold_at(level, group=g, **options)
    return GroupLevels(thresholds, n_impostor)


def far_within_groups(roc, threshold):
    """FAR of the impostor pairs within some group, at a threshold."""
    engine, counts = roc._engine, roc.n_impostor_[1:]
    accepted = 0.0
    for group, n_pairs in zip(roc.groups_, counts, strict=True):
        if n_pairs:
            question = engine.question(None, threshold, "far", group, None, "overall")
            accepted += engine.points(question).item() * n_pairs
    return accepted / counts.sum()


def count_few(levels, far, what):
    """Count groups whose threshold rests on too few pairs, and warn once.

    Parameters
    ----------
    levels : GroupLevels
    far : float
        Their level.
    what : str
        What the groups are, in the plural.

    Returns
    -------
    n_without_pairs, n_unresolved : int
        Groups without an impostor pair, and others with fewer than ``1 / far``.
    """
    n_without_pairs = int((levels.n_impostor == 0).sum())
    few = (levels.n_impostor > 0) & exceeds(1.0, far * levels.n_impostor)
    n_unresolved = int(few.sum())
    said = []
    if n_without_pairs:
        said.append(f"{n_without_pairs} have no impostor pair and take the overall one")
    if n_unresolved:
        said.append(
            f"{n_unresolved} have fewer impostor pairs than 1 / far, so that theirs is "
            "just above their largest impostor score"
        )
    if said:
        warn_undefined(
            f"Of the thresholds of {levels.n_impostor.size} {what} at far={far:.3g}, "
            f"{'; '.join(said)}. Give a larger far, more people or fewer {what}."
        )
    return n_without_pairs, n_unresolved
