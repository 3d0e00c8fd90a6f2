"""The ROC over splits by person: thresholds from some people, rates of the others."""

from dataclasses import dataclass

import numpy as np

from skfairfr.metrics import SimilarityROC
from skfairfr.model_selection._identity_k_fold import IdentityKFold
from skfairfr.utils._labels import face_labels, split_labels
from skfairfr.utils._validation import check_level, check_readable, count_rows


@dataclass(frozen=True)
class SplitROC:
    """FRR over FAR levels, in every split; lower is better.

    Attributes
    ----------
    far : ndarray, shape (n_levels,)
        Levels in (0, 1), met on the people that thresholds come from.
    frr : ndarray, shape (n_splits, n_levels)
        FRR in [0, 1] of the other people, at those thresholds.
    far_reached : ndarray, shape (n_splits, n_levels)
        Their FAR there, in [0, 1].
    threshold : ndarray, shape (n_splits, n_levels)
        Similarity from which on a pair is accepted, in each split.
    frr_mean, frr_std : ndarrays, shape (n_levels,)
        Mean of the FRR over splits in [0, 1], and its standard deviation (``ddof=1``):
        how much it varies from split to split, no standard error, as splits share people.

    Raises
    ------
    dataclasses.FrozenInstanceError
        If an attribute is assigned to.

    See Also
    --------
    roc_over_splits : Returns it.
    """

    far: np.ndarray
    frr: np.ndarray
    far_reached: np.ndarray
    threshold: np.ndarray
    frr_mean: np.ndarray
    frr_std: np.ndarray


def roc_over_splits(
    X, y, *, far, sensitive_features=None, domain=None, group=None, cv=None
):
    """ROC with thresholds from one part of the people and rates from the other.

    A deployed system works like this: its threshold was set on some people and applies to
    others.
    Repeated over splits, it shows how stable the ROC is [1]_.

    Parameters
    ----------
    X : array-like, shape (n_samples, n_features)
        Embeddings.
    y : array-like, shape (n_samples,)
        Identity of each row, or the result of :func:`~skfairfr.face_labels`.
    far : array-like, shape (n_levels,)
        FAR levels in (0, 1).
    sensitive_features : array-like, shape (n_samples,), default=None
        Group of each row; folds are balanced over them.
    domain : array-like, shape (n_samples,), default=None
        With two values, only pairs across them are compared.
    group : label, default=None
        Whose FRR and FAR are reported, at thresholds of the overall FAR; None is overall.
    cv : cross-validator, default=None
        With ``split(X, y)``: thresholds come from its training parts, rates from its test
        parts. None is ``IdentityKFold(5, shuffle=True, random_state=0)``.

    Returns
    -------
    roc : SplitROC
        Rates of each split, their mean and standard deviation.

    Raises
    ------
    ValueError
        If a level is out of range, or somebody is in both parts of a split.

    Warns
    -----
    UndefinedMetricWarning
        Where the pairs of a part do not resolve a level.

    References
    ----------
    .. [1] Bruveris, M., Mortazavian, P., Gietema, J., & Mahadevan, M. (2020). Reducing
       Geographic Performance Differentials for Face Recognition. WACV Workshops.
       Figure 2.

    Examples
    --------
    >>> from skfairfr import make_face_embeddings
    >>> from skfairfr.model_selection import roc_over_splits
    >>> faces = make_face_embeddings(n_identities=200, random_state=0)
    >>> roc = roc_over_splits(faces.X, faces.y, far=[1e-3, 1e-2])
    >>> roc.frr.shape, bool((roc.frr_std < roc.frr_mean).all())
    ((5, 2), True)
    """
    levels = np.atleast_1d(check_level(far))
    check_readable(X, "X")
    count_rows(X, "X")
    X = np.asarray(X)
    identity, sensitive_features, domain = split_labels(y, sensitive_features, domain)
    labels = face_labels(identity, sensitive_features, domain)
    if cv is None:
        cv = IdentityKFold(5, shuffle=True, random_state=0)
    found = []
    for others, judged in cv.split(X, labels):
        shared = np.intersect1d(labels["identity"][others], labels["identity"][judged])
        if shared.size:
            raise ValueError(
                f"cv={cv!r} puts {shared.size} identities on both sides of a split; use "
                "IdentityKFold, or another splitter by person."
            )
        thresholds = _measure(X, labels, others, levels).threshold_at(levels)
        roc = _measure(X, labels, judged, levels)
        rates = (
            roc.estimate(threshold=thresholds, rate=rate, group=group).value
            for rate in ("frr", "far")
        )
        found.append((*rates, thresholds))
    frr, far_reached, threshold = (np.stack(c) for c in zip(*found, strict=True))
    spread = frr.std(axis=0, ddof=1) if len(frr) > 1 else np.full(levels.shape, np.nan)
    return SplitROC(levels, frr, far_reached, threshold, frr.mean(axis=0), spread)


def _measure(X, labels, rows, levels):
    """A SimilarityROC fitted on some rows, with a single resample."""
    roc = SimilarityROC(n_resamples=1, far_max=max(1e-2, float(levels.max())))
    return roc.fit(X[rows], labels[rows])
