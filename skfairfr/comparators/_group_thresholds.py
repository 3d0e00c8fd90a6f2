"""Thresholds of groups as parts of scores, and those within groups or clusters of images."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import UndefinedMetricWarning

from skfairfr._compat import Interval, StrOptions, fit_context
from skfairfr._core._adjustments import Adjustment
from skfairfr._core._pair_tiles import PreparedImages
from skfairfr._core._rates import exceeds
from skfairfr.comparators._base import (
    Comparator,
    WithGroups,
    identities_and_attributes,
    unit_rows_of,
)
from skfairfr.metrics import SimilarityROC
from skfairfr.utils._errors import plain
from skfairfr.utils._types import Column, Columns
from skfairfr.utils._validation import validate_rows, warn_undefined

# The widest level is asked for where few pairs are within groups.
WIDEST, MARGIN = 0.5, 1.05


class GroupThresholds(WithGroups, Comparator):
    """A threshold for each group: the mitigation that needs the group at the time of use.

    The score of a pair of images of the groups a and b is
    :math:`s - (t_a + t_b) / 2`, where s is their cosine and :math:`t_a` the threshold at
    which the FAR within group a meets a level in the fitting set: eq. (2)-(4) of [1]_ for
    each group. A pair is then accepted at one threshold, near zero, for everybody.

    It is a reference for the other comparators. A system that uses it must know, or guess, the
    group of each person whenever two images are compared, and treats people differently by
    it. The field judges a system at one threshold for all, [2]_, and the law may forbid such
    treatment or require a reason: see :ref:`group-thresholds`.

    Parameters
    ----------
    far : float in (0, 1), default=1e-3
        FAR level.
    operating_point : {"group", "overall"}, default="group"
        FAR that meets the level: within every group, or over all pairs. With
        "overall", the level of the groups is the FAR of all impostor pairs within groups
        at the overall threshold. With all groups at one level, the largest of their FARs
        is that level too: "group" serves the worst-group operating point.
    thresholds : dict of label -> float, default=None
        Cosines from which on pairs within each group are accepted, such as
        :meth:`~skfairfr.metrics.SimilarityROC.certify` gives them. They take the place of
        those that ``far`` sets, and the strictest of them is ``threshold_``.

    Attributes
    ----------
    groups_ : ndarray, shape (n_groups,)
        Sorted labels of the groups.
    thresholds_ : ndarray, shape (n_groups,)
        Cosine from which on a pair within each group is accepted.
    threshold_ : float
        That of all pairs at ``far``. An image of unknown group takes it, and so does a
        group without an impostor pair.
    level_ : float
        FAR within each group at ``thresholds_``, in [0, 1].
    n_impostor_ : ndarray of int, shape (n_groups,)
        Impostor pairs within each group.
    n_without_pairs_, n_unresolved_ : int
        Groups without an impostor pair, and others with fewer than ``1 / level_``.
    attributes_ : list
        Names of the columns that groups were made of, or numbers.
    n_features_in_ : int
        Number of features of the embeddings.
    feature_names_in_ : ndarray, shape (n_features,)
        Names of the features, where X has string names.

    See Also
    --------
    CohortNormalizer : Needs no groups.

    References
    ----------
    .. [1] Conti, J.-R., & Clémençon, S. (2024). Assessing Uncertainty in Similarity
       Scoring: Performance & Fairness in Face Recognition. ICLR.
    .. [2] Linghu, Y., de Freitas Pereira, T., Ecabert, C., Marcel, S., & Günther, M.
       (2024). Score Normalization for Demographic Fairness in Face Recognition. IJCB.
       arXiv 2407.14087.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairfr import SimilarityROC, make_face_embeddings
    >>> from skfairfr.comparators import GroupThresholds
    >>> faces = make_face_embeddings(n_identities=400, n_features=32,
    ...     kappa={"male": 60, "female": 40}, random_state=0)
    >>> seen = faces.y < 200
    >>> scores = GroupThresholds(1e-2)
    >>> scores = scores.fit(faces.X[seen], faces.y[seen], faces.sensitive_features[seen])
    >>> scores.groups_.tolist()
    ['female', 'male']
    >>> one, other = faces.X[:2], faces.X[-2:]
    >>> scores.score_pairs(one, other, sensitive_features_1=["female", "male"],
    ...     sensitive_features_2=["male", None]).shape
    (2,)
    """

    _parameter_constraints: dict = {  # noqa: RUF012
        "far": [Interval(Real, 0, 1, closed="neither")],
        "operating_point": [StrOptions({"group", "overall"})],
        "thresholds": [dict, None],
    }

    takes_groups = True

    def __init__(
        self,
        far: float = 1e-3,
        *,
        operating_point: str = "group",
        thresholds: dict | None = None,
    ) -> None:
        self.far = far
        self.operating_point = operating_point
        self.thresholds = thresholds

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: ArrayLike,
        y: Column | None = None,
        sensitive_features: Columns | None = None,
    ) -> Self:
        """Find the threshold of each group.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
            Embeddings.
        y : array-like, shape (n_samples,)
            Identity of each row, with groups or without, as in
            :class:`~skfairfr.metrics.SimilarityROC`. Required.
        sensitive_features : array-like, frame or dict, shape (n_samples,), default=None
            Group of each row. None and NaN are unknown. The groups of several
            columns are their combinations.

        Returns
        -------
        self : GroupThresholds
            Fitted.

        Raises
        ------
        ValueError
            If y is missing, X has a zero row or values that are not finite, or there are
            no two people.

        Warns
        -----
        UserWarning
            If there are fewer than two groups: the thresholds then change no decision.
        UndefinedMetricWarning
            If a group has too few impostor pairs for the level.
        """
        X = validate_rows(self, X, dtype=(np.float32, np.float64), ensure_min_samples=2)
        asked = (y, sensitive_features, len(X))
        identity, attributes = identities_and_attributes(*asked)
        codes = self._read_groups(attributes, len(X), "threshold")
        self.level_ = far = float(self.far)
        largest = self._largest_level(codes)
        roc, self.threshold_ = roc_and_threshold(X, identity, codes, far, largest)
        if self.operating_point == "overall" and roc.n_impostor_[1:].any():
            self.level_ = far_within_groups(roc, self.threshold_)
        asked = (self.groups_.size, self.level_, self.threshold_)
        self.thresholds_, self.n_impostor_ = thresholds_within(roc, *asked)
        few = count_few(self.n_impostor_, self.level_, "groups")
        self.n_without_pairs_, self.n_unresolved_ = few
        if self.thresholds is not None:
            self._take(self.thresholds)
        return self

    def _take(self, thresholds):
        """Take the thresholds that were given instead of those of the level."""
        missing = [g for g in self.groups_.tolist() if g not in thresholds]
        if missing:
            raise ValueError(
                f"thresholds has none for the groups {plain(missing)[:5]} of the data. Pass one "
                "for every group, as dict(zip(found.groups, found.threshold)) of a certificate."
            )
        given = [thresholds[group] for group in self.groups_.tolist()]
        self.thresholds_ = np.array(given, dtype=np.float64)
        self.threshold_ = float(max(thresholds.values()))

    def _prepare(self, X, sensitive_features):
        codes = self._codes(sensitive_features, len(X))
        offset = np.append(self.thresholds_, self.threshold_)[codes] / 2
        return PreparedImages(unit_rows_of(X), Adjustment.shifted(offset))

    def _exported(self):
        return {
            "kind": "group_thresholds",
            "groups": self.groups_,
            "thresholds": self.thresholds_,
            "threshold_of_unknown": self.threshold_,
        }

    def _largest_level(self, codes):
        """A level that the FAR within groups does not exceed."""
        if self.operating_point == "group":
            return float(self.far)
        # All pairs accepted within groups are some of all pairs accepted.
        within = max((np.bincount(codes[codes >= 0]) ** 2).sum(), 1)
        return min(WIDEST, MARGIN * float(self.far) * codes.size**2 / within)


# ---- thresholds of groups of images, from one pass -----------------------------------


def roc_and_threshold(X, identity, group, far, far_max):
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
        Of :func:`roc_and_threshold`.
    n_groups : int
    level, overall : float
        The second is the threshold of groups without an impostor pair.

    Returns
    -------
    thresholds : ndarray, shape (n_groups,)
    n_impostor : ndarray of int, shape (n_groups,)
        Impostor pairs that the threshold of each group is of.
    """
    n_impostor = np.zeros(n_groups, dtype=np.int64)
    n_impostor[roc.groups_.astype(int)] = roc.n_impostor_[1:]
    thresholds = np.full(n_groups, overall, dtype=np.float64)
    options = {"operating_point": "group"}
    with warnings.catch_warnings(action="ignore", category=UndefinedMetricWarning):
        for g in np.flatnonzero(n_impostor).tolist():
            thresholds[g] = roc.threshold_at(level, group=g, **options)
    return thresholds, n_impostor


def far_within_groups(roc, threshold):
    """FAR of the impostor pairs within some group, at a threshold."""
    engine, counts = roc._engine, roc.n_impostor_[1:]
    accepted = 0.0
    for group, n_pairs in zip(roc.groups_, counts, strict=True):
        if n_pairs:
            question = engine.question(None, threshold, "far", group, None, "overall")
            accepted += engine.points(question).item() * n_pairs
    return accepted / counts.sum()


def count_few(n_impostor, far, what):
    """Count groups whose threshold rests on too few pairs, and warn once.

    Parameters
    ----------
    n_impostor : ndarray of int, shape (n_groups,)
    far : float
        Level of the thresholds.
    what : str
        Name of the groups, in the plural.

    Returns
    -------
    n_without_pairs, n_unresolved : int
        Groups without an impostor pair, and others with fewer than ``1 / far``.
    """
    n_without_pairs = int((n_impostor == 0).sum())
    few = (n_impostor > 0) & exceeds(1.0, far * n_impostor)
    n_unresolved = int(few.sum())
    problems = []
    if n_without_pairs:
        problems.append(
            f"{n_without_pairs} have no impostor pair and take the overall one"
        )
    if n_unresolved:
        problems.append(
            f"{n_unresolved} have fewer impostor pairs than 1 / far, and theirs is "
            "just above their largest impostor score"
        )
    if problems:
        warn_undefined(
            f"Of the thresholds of {n_impostor.size} {what} at far={far:.3g}, "
            f"{'; '.join(problems)}. Give a larger far, more people or fewer {what}."
        )
    return n_without_pairs, n_unresolved
