"""Splits by person, and ROCs over them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import BaseCrossValidator, StratifiedGroupKFold

from skfairfr._compat import count_rows
from skfairfr.metrics import SimilarityROC
from skfairfr.utils._errors import invalid, plain
from skfairfr.utils._labels import face_labels, label_images, split_labels
from skfairfr.utils._types import Column, Columns
from skfairfr.utils._validation import (
    check_level,
    random_state_of,
    warn_undefined,
)


class IdentityKFold(BaseCrossValidator):
    """K folds in which no person is on both sides, balanced over groups.

    A choice made on people used for training may not generalise to others: a default
    KFold over shuffled images has most people on both sides. Here the identities come
    from y, and no ``groups=`` is needed. Folds are those of scikit-learn's
    ``StratifiedGroupKFold``, with people as its groups. Its strata are the group of
    each image, and whether it forms a genuine pair with another image of the same
    person and group. Every fold therefore gets its share of each group's genuine pairs
    (eq. (3) of [1]_).

    Parameters
    ----------
    n_splits : int, at least 2, default=5
        Number of folds, at most the number of identities.
    shuffle : bool, default=False
        Whether people are shuffled before they are assigned to folds.
    random_state : int, RandomState instance or None, default=None
        Source of the order with ``shuffle=True``.

    See Also
    --------
    skfairfr.face_labels : Identity and group in one y.
    sklearn.model_selection.StratifiedGroupKFold : The folds of people.

    References
    ----------
    .. [1] Conti, J.-R., & Clémençon, S. (2024). Assessing Uncertainty in Similarity
       Scoring: Performance & Fairness in Face Recognition. ICLR. Eq. (2)-(4).

    Examples
    --------
    >>> from skfairfr import IdentityKFold, face_labels, make_face_embeddings
    >>> faces = make_face_embeddings(n_identities=100, random_state=0)
    >>> y = face_labels(faces.y, faces.sensitive_features)
    >>> for train, test in IdentityKFold(n_splits=2).split(faces.X, y):
    ...     shared = set(y["identity"][train]) & set(y["identity"][test])
    ...     print(len(shared), round((y["group"][test] == "female").mean(), 1))
    0 0.4
    0 0.4
    """

    # Groups and domains may be routed, as to scorers.
    __metadata_request__split = {  # noqa: RUF012
        "sensitive_features": True,
        "domain": True,
    }

    def __init__(
        self,
        n_splits: int = 5,
        *,
        shuffle: bool = False,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state

    def split(
        self,
        X: ArrayLike,
        y: Columns | None = None,
        groups: object = None,
        *,
        sensitive_features: Column | None = None,
        domain: Column | None = None,
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the rows of each split.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
            Rows, of which only the number is used.
        y : array-like, shape (n_samples,), or frame
            Identity of each image, or the result of :func:`~skfairfr.face_labels`, or a
            frame with the columns ``identity``, ``group`` and ``domain``.
        groups : object, default=None
            Ignored, with a warning: identities come from y.
        sensitive_features : array-like, shape (n_samples,), default=None
            Group of each image, where y contains none. None and NaN are unknown.
        domain : array-like, shape (n_samples,), default=None
            Two values. Only pairs across them are genuine pairs.

        Yields
        ------
        train : ndarray of int, shape (n_train,)
            Rows of the people that are fitted.
        test : ndarray of int, shape (n_test,)
            Rows of the people that are scored.

        Raises
        ------
        ValueError
            If X has no rows, there are fewer identities than splits, a parameter is out of
            range, there are not two domains, or a test fold has no genuine pair or no two
            people.

        Warns
        -----
        UndefinedMetricWarning
            If a group that has genuine pairs has none in a test fold.
        """
        if groups is not None:
            warnings.warn(
                "The groups parameter is ignored by IdentityKFold: identities come from y, "
                "and demographic groups from y or sensitive_features=.",
                UserWarning,
                stacklevel=2,
            )
        splitter = StratifiedGroupKFold(
            plain(self.n_splits), shuffle=self.shuffle, random_state=self.random_state
        )
        n_samples = count_rows(X)
        identity, group, domain = label_images(y, sensitive_features, domain, n_samples)
        codes = np.zeros(n_samples, dtype=int) if group is None else group.codes
        side = None if domain is None else domain.codes
        n_people = len(identity.values)
        if n_people < self.n_splits:
            problem = f"is {self.n_splits}, and there are {n_people} people;"
            raise invalid("n_splits", self.n_splits, problem, "use fewer splits.")
        # A pair of the overall frr may cross groups. A pair of a group's frr may not.
        paired = _has_partner((identity.codes,), side)
        paired_within = _has_partner((identity.codes, codes), side)
        dealt = _deal(splitter, 2 * codes + paired_within, identity.codes, n_samples)
        for fold, (train, test) in enumerate(dealt):
            n_people = np.unique(identity.codes[test]).size
            if n_people < 2 or not paired[test].any():
                lack = "two people" if n_people < 2 else "genuine pair"
                problem = f"is {self.n_splits}, and test fold {fold} has no {lack};"
                remedy = "use fewer splits, or people with several images each."
                raise invalid("n_splits", self.n_splits, problem, remedy)
            if group is not None:
                within = codes[paired_within & (codes >= 0)]
                missing = np.setdiff1d(within, codes[test][paired_within[test]])
                self._warn_of_missing(fold, group.values[missing])
            yield train, test

    def _warn_of_missing(self, fold, groups):
        if groups.size:
            named = ", ".join(repr(str(g)) for g in groups)
            warn_undefined(
                f"Test fold {fold} of n_splits={self.n_splits} has no genuine pair within "
                f"group {named}: its frr is undefined there. Use fewer splits."
            )

    def get_n_splits(
        self,
        X: object = None,
        y: object = None,
        groups: object = None,
        *,
        sensitive_features: object = None,
        domain: object = None,
    ) -> int:
        """Number of splits.

        Parameters
        ----------
        X, y, sensitive_features, domain : object, default=None
            Ignored: scikit-learn passes what it passes to :meth:`split`.
        groups : object, default=None
            Ignored.

        Returns
        -------
        n_splits : int
            Number of folds.
        """
        return self.n_splits


def _has_partner(columns, side):
    """Whether each image has another with the same labels (in the other domain)."""
    n_alike = _counts(columns)
    if side is None:
        return n_alike > 1
    return n_alike > _counts((*columns, side))


def _counts(columns):
    """How many rows share each row's labels, (n_samples,)."""
    _, inverse, counts = np.unique(
        np.stack(columns), axis=1, return_inverse=True, return_counts=True
    )
    return counts[inverse.ravel()]


def _deal(splitter, strata, identity, n_samples):
    """Splits of the images, without scikit-learn's warnings about small strata."""
    with warnings.catch_warnings():
        for message in ("The least populated class", "The number of unique classes"):
            warnings.filterwarnings("ignore", message, UserWarning)
        # The splitter raises if all strata are smaller than n_splits, except for one stratum.
        if np.bincount(strata - strata.min()).max() < splitter.n_splits:
            strata = np.zeros_like(strata)
        if splitter.shuffle:
            # Before 1.8, scikit-learn shuffles the counts of people and not the people, so
            # that its folds balance nothing. This is what it does from 1.8 on.
            order = np.arange(identity.max() + 1)
            random_state_of(splitter.random_state).shuffle(order)
            identity = np.argsort(order)[identity]
            splitter = StratifiedGroupKFold(splitter.n_splits)
        return list(splitter.split(np.empty(n_samples), strata, identity))


@dataclass(frozen=True)
class SplitROC:
    """FRR over FAR levels, in every split. Lower is better.

    Attributes
    ----------
    far : ndarray, shape (n_levels,)
        Levels in (0, 1), met on the people that thresholds come from.
    frr : ndarray, shape (n_splits, n_levels)
        FRR in [0, 1] of the remaining people, at those thresholds.
    far_reached : ndarray, shape (n_splits, n_levels)
        FAR of the remaining people at those thresholds, in [0, 1].
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

    Examples
    --------
    >>> from skfairfr import make_face_embeddings
    >>> from skfairfr.model_selection import roc_over_splits
    >>> faces = make_face_embeddings(n_identities=100, random_state=0)
    >>> roc = roc_over_splits(faces.X, faces.y, far=[1e-3, 1e-2])
    >>> roc.frr.shape, roc.frr_mean.round(3)
    ((5, 2), array([0.075, 0.034]))
    """

    far: np.ndarray
    frr: np.ndarray
    far_reached: np.ndarray
    threshold: np.ndarray
    frr_mean: np.ndarray
    frr_std: np.ndarray


def roc_over_splits(
    X: ArrayLike,
    y: Column,
    *,
    far: ArrayLike,
    sensitive_features: Column | None = None,
    domain: Column | None = None,
    group: object = None,
    cv: Any = None,
) -> SplitROC:
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
        Group of each row. Folds are balanced over them.
    domain : array-like, shape (n_samples,), default=None
        Domain of each row. With two values, only pairs across them are compared.
    group : label, default=None
        Whose FRR and FAR are reported, at thresholds of the overall FAR. If None, overall.
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
    >>> faces = make_face_embeddings(n_identities=100, random_state=0)
    >>> roc = roc_over_splits(faces.X, faces.y, far=[1e-3, 1e-2])
    >>> roc.frr.shape, bool((roc.frr_std < roc.frr_mean).all())
    ((5, 2), True)
    """
    levels = np.atleast_1d(check_level(far))
    X = np.asarray(X)
    identity, sensitive_features, domain = split_labels(y, sensitive_features, domain)
    labels = face_labels(identity, sensitive_features, domain)
    if cv is None:
        cv = IdentityKFold(5, shuffle=True, random_state=0)
    found = []
    for others, judged in cv.split(X, labels):
        shared = np.intersect1d(labels["identity"][others], labels["identity"][judged])
        if shared.size:
            problem = f"{cv!r} puts {shared.size} identities on both sides of a split;"
            remedy = "use IdentityKFold, or another splitter by person."
            raise invalid("cv", cv, problem, remedy)
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
