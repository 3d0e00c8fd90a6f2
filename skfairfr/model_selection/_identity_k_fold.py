"""Folds with no person on both sides, balanced over groups."""

import warnings

import numpy as np
from sklearn.model_selection import BaseCrossValidator, StratifiedGroupKFold

from skfairfr.utils._errors import plain
from skfairfr.utils._labels import label_images
from skfairfr.utils._validation import count_rows, random_state_of, warn_undefined


class IdentityKFold(BaseCrossValidator):
    """K folds of people, so that nobody is on both sides, balanced over groups.

    A choice made on people used for training says little about others: a default KFold
    over shuffled images has most people on both sides. Here the identities come from y,
    and no ``groups=`` is needed. Folds are those of scikit-learn's
    ``StratifiedGroupKFold``, with people as its groups; its strata are the group of each
    image, and whether the image has another of the same person and group to form a
    genuine pair with. So every fold gets its share of the pairs behind each group's frr
    of eq. (3) of [1]_.

    Parameters
    ----------
    n_splits : int, at least 2, default=5
        Number of folds, at most the number of identities.
    shuffle : bool, default=False
        Whether people are shuffled before they are dealt to folds.
    random_state : int, RandomState instance or None, default=None
        With ``shuffle=True``, draws the order.

    See Also
    --------
    skfairfr.face_labels : Holds identity and group in one y.
    sklearn.model_selection.StratifiedGroupKFold : Deals the people to folds.

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

    def __init__(self, n_splits=5, *, shuffle=False, random_state=None):
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state

    def split(self, X, y=None, groups=None, *, sensitive_features=None, domain=None):
        """Yield the rows of each split.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
            Only its length is used.
        y : array-like, shape (n_samples,), or frame
            Identity of each image; or the result of :func:`~skfairfr.face_labels`, or a
            frame with the columns ``identity``, ``group`` and ``domain``.
        groups : object, default=None
            Ignored, with a warning: identities come from y.
        sensitive_features : array-like, shape (n_samples,), default=None
            Group of each image, where y holds none; None and NaN are unknown.
        domain : array-like, shape (n_samples,), default=None
            Two values; only pairs across them are genuine pairs.

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
        n_samples = count_rows(X, "X")
        identity, group, domain = label_images(y, sensitive_features, domain, n_samples)
        codes = np.zeros(n_samples, dtype=int) if group is None else group.codes
        side = None if domain is None else domain.codes
        n_people = len(identity.values)
        if n_people < self.n_splits:
            raise ValueError(
                f"n_splits={self.n_splits} needs at least as many identities, but y has "
                f"{n_people}. Use fewer splits."
            )
        # A pair of the overall frr may cross groups; a pair of a group's frr may not.
        paired = _has_partner((identity.codes,), side)
        paired_within = _has_partner((identity.codes, codes), side)
        dealt = _deal(splitter, 2 * codes + paired_within, identity.codes, n_samples)
        for fold, (train, test) in enumerate(dealt):
            place = f"Test fold {fold} of n_splits={self.n_splits}"
            n_people = np.unique(identity.codes[test]).size
            if n_people < 2 or not paired[test].any():
                lack = "two people" if n_people < 2 else "genuine pair"
                raise ValueError(
                    f"{place} has no {lack}, so that nothing can be scored there. Use "
                    "fewer splits, or people with several images each."
                )
            within = codes[paired_within & (codes >= 0)]
            missing = np.setdiff1d(within, codes[test][paired_within[test]])
            if group is not None and missing.size:
                named = ", ".join(repr(str(g)) for g in group.values[missing])
                warn_undefined(
                    f"{place} has no genuine pair within group {named}: its frr is "
                    "undefined there. Use fewer splits."
                )
            yield train, test

    def get_n_splits(
        self, X=None, y=None, groups=None, *, sensitive_features=None, domain=None
    ):
        """Number of splits.

        Parameters
        ----------
        X, y, sensitive_features, domain : object, default=None
            Ignored; scikit-learn passes what it passes to :meth:`split`.
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
