"""Scores as log-likelihood ratios, for everyone, by group, or in clusters of look-alikes."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from skfairfr._compat import Interval, StrOptions, fit_context
from skfairfr._core._adjustments import Adjustment
from skfairfr._core._calibration import EDGE, Curves, fit_curve
from skfairfr._core._pair_tiles import PreparedImages, count_pairs
from skfairfr.comparators._base import (
    Comparator,
    TrainingPairs,
    WithGroups,
    find_clusters,
    fit_parts,
    identities_and_attributes,
    identities_of,
    nearest,
    unit_rows_of,
)
from skfairfr.metrics._roc._similarities import check_parameters, prepare
from skfairfr.utils._labels import encode_attributes
from skfairfr.utils._types import Column, Columns
from skfairfr.utils._validation import check_no_zero_row, validate_rows

# Cosines exceed 1 by rounding alone.
LARGEST_COSINE = 1 + 1e-5


class ScoreCalibrator(WithGroups, Comparator):
    """Calibration: scores become natural logarithms of likelihood ratios.

    An increasing curve is fitted to the scores s of genuine and impostor pairs. Its value is
    the logarithm of how many times more likely s is for a genuine pair than for an impostor
    pair. Thresholds then follow from prior and costs, whatever the system, and Cllr measures
    what the scores are worth [1]_.

    The curve of an image is that of everyone, of its group or of its cluster, and the score
    of a pair is the mean :math:`\\tfrac12 [f_i(s) + f_j(s)]` of both images' curves. One
    curve for everyone changes no order of scores, so no rate at a FAR changes. With a curve
    for each group, one threshold means the same odds in every group.

    Parameters
    ----------
    kind : {"logistic", "isotonic", "beta"}, default="logistic"
        "logistic": a straight line, by logistic regression [1]_ (Platt scaling). "beta":
        :math:`a \\log q - b \\log(1 - q) + c` with :math:`q = (1 + s) / 2`, by logistic
        regression on both logarithms [2]_, if s is in [-1, 1], as cosines are. "isotonic": any
        increasing curve, by pooling adjacent violators. It makes ties. Slopes are never
        negative.
    by : {"all", "group", "cluster"}, default="all"
        Pairs to which a curve is fitted. "all": all pairs. "group": those within the image's
        group, which must then be known for every image that is compared. "cluster": those
        with either image in its cluster of k-means.
    similarity : {"cosine", "dot"} or comparator, default="cosine"
        The scores s. A fitted comparator is used as it is. It should have been fitted to
        different people. One that is not fitted, or a clone, is fitted to a random half of the
        people, and the curves to the other half.
    p_target : float in (0, 1), default=0.5
        Weight of the genuine pairs in the fit, whatever their number, such as their prior in
        operation. Impostor pairs have the rest. The scores contain no prior. It does not
        matter for "isotonic".
    n_clusters : int, default=10
        Number of clusters for ``by="cluster"``, at most the number of images.
    min_pairs : int, at least 1, default=20
        A group or cluster with fewer genuine, or fewer impostor, pairs takes the curve of
        all pairs.
    max_pairs : int, at least 1, default=20000
        A curve is fitted to at most so many genuine pairs, and to the impostor pairs among so
        many pairs: all of them, or a uniform sample without replacement.
    random_state : int, RandomState instance or None, default=None
        Seed of the pairs, the halves and the first centers of k-means.

    Attributes
    ----------
    curves_ : list of ndarray
        Curve of each group or cluster, then that of all pairs, which images of unknown group
        take. Slope and intercept, or a, b and c. For "isotonic" scores and values, shape
        (2, n_points), between which lines are drawn.
    n_genuine_, n_impostor_ : ndarrays of int, shape (n_curves - 1,)
        Pairs that each group's or cluster's curve was fitted to, or would have been.
    n_overall_ : int
        Groups or clusters that take the curve of all pairs.
    similarity_ : {"cosine", "dot"} or comparator
        Fitted.
    groups_ : ndarray, shape (n_groups,)
        Sorted labels, with ``by="group"``. ``attributes_`` are the names of their columns.
    cluster_centers_ : ndarray of float32, shape (n_clusters, n_features)
        Centers for ``by="cluster"``.
    n_features_in_ : int
        Number of features of the embeddings.
    feature_names_in_ : ndarray, shape (n_features,)
        Names of the features, where X has string names.

    See Also
    --------
    ClusterCalibration : FairCal, which averages probabilities of clusters.
    skfairfr.metrics.cllr : Cost of log-likelihood ratios.

    Notes
    -----
    n genuine pairs are fitted to the probability (n + 1) / (n + 2), and m impostor pairs to
    1 / (m + 2), as Platt did. "isotonic" has one more genuine and impostor pair at both ends.
    So curves are finite if a threshold separates the two kinds. A genuine pair is of two
    images: no image is compared with itself.

    Logistic curves by group are the method M4 of [3]_, which takes the curve of the
    reference's group and returns probabilities.

    References
    ----------
    .. [1] Brümmer, N., & du Preez, J. (2006). Application-independent evaluation of speaker
       detection. Computer Speech and Language 20.
    .. [2] Kull, M., Silva Filho, T., & Flach, P. (2017). Beta calibration. AISTATS.
    .. [3] Linghu, Y., de Freitas Pereira, T., Ecabert, C., Marcel, S., & Günther, M.
       (2024). Score Normalization for Demographic Fairness in Face Recognition. IJCB.
       arXiv 2407.14087.

    Examples
    --------
    >>> from skfairfr import SimilarityROC, make_face_embeddings
    >>> from skfairfr.comparators import ScoreCalibrator
    >>> faces = make_face_embeddings(n_identities=400, n_features=32, random_state=0)
    >>> seen = faces.y < 200
    >>> scores = ScoreCalibrator(random_state=0).fit(faces.X[seen], faces.y[seen])
    >>> roc = SimilarityROC(similarity=scores, n_resamples=20, random_state=0)
    >>> roc = roc.fit(faces.X[~seen], faces.y[~seen])
    >>> round(roc.estimate(rate="cllr").value, 2)
    0.02
    """

    _parameter_constraints: dict = {  # noqa: RUF012
        "kind": [StrOptions({"logistic", "isotonic", "beta"})],
        "by": [StrOptions({"all", "group", "cluster"})],
        "similarity": "no_validation",
        "p_target": [Interval(Real, 0, 1, closed="neither")],
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "min_pairs": [Interval(Integral, 1, None, closed="left")],
        "max_pairs": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    returns_llr = True

    def __init__(
        self,
        kind: str = "logistic",
        *,
        by: str = "all",
        similarity: object = "cosine",
        p_target: float = 0.5,
        n_clusters: int = 10,
        min_pairs: int = 20,
        max_pairs: int = 20000,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.kind = kind
        self.by = by
        self.similarity = similarity
        self.p_target = p_target
        self.n_clusters = n_clusters
        self.min_pairs = min_pairs
        self.max_pairs = max_pairs
        self.random_state = random_state

    @property
    def takes_side(self) -> bool:
        """Whether the similarity treats probes and references differently."""
        return getattr(self.similarity, "takes_side", False)

    @property
    def takes_groups(self) -> bool:
        """Whether the groups of both images are needed to score a pair."""
        return self.by == "group" or getattr(self.similarity, "takes_groups", False)

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: ArrayLike,
        y: Column | None = None,
        sensitive_features: Columns | None = None,
    ) -> Self:
        """Fit the curves.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
            Embeddings.
        y : array-like, shape (n_samples,)
            Identity of each row, with groups or without, as in
            :class:`~skfairfr.metrics.SimilarityROC`. Required.
        sensitive_features : array-like, frame or dict, shape (n_samples,), default=None
            Group of each row, for ``by="group"`` and similarities that take groups. None and
            NaN are unknown. The groups of several columns are their combinations.

        Returns
        -------
        self : ScoreCalibrator
            Fitted.

        Raises
        ------
        ValueError
            If y is missing, X has a zero row or values that are not finite, there is no
            genuine or no impostor pair, there are more clusters than images, or scores are
            not in [-1, 1] and ``kind="beta"``.

        Warns
        -----
        UserWarning
            If there are no two groups, or one cluster: one curve is then that of all images.
        UndefinedMetricWarning
            If a group or cluster has too few pairs.
        """
        check_parameters(self.similarity, "recentered", "identities")
        X = validate_rows(self, X, dtype=(np.float32, np.float64), ensure_min_samples=2)
        random_state = check_random_state(self.random_state)
        rng = np.random.default_rng(random_state.randint(np.iinfo(np.int32).max))
        if self.similarity != "dot":
            check_no_zero_row(X)
        asked = (y, sensitive_features, len(X))
        identity, attributes = identities_and_attributes(*asked)
        part, n_parts = np.zeros(len(X), dtype=int), 0
        if self.by == "group":
            part = self._read_groups(attributes, len(X), "curve")
            n_parts = self.groups_.size
        rows = self._fit_similarity(X, identity, attributes, rng)
        X, identity, part = X[rows], identity[rows], part[rows]
        attributes = {
            name: of._replace(codes=of.codes[rows]) for name, of in attributes.items()
        }
        if self.by == "cluster":
            n_parts = int(self.n_clusters)
            found = find_clusters(unit_rows_of(X), n_parts, random_state)
            self.cluster_centers_, part = found
        sides = [
            self._prepare_base(X, attributes, np.full(len(X), side))
            for side in range(1 + self.takes_side)
        ]
        size = int(self.max_pairs)
        pairs = TrainingPairs(sides[0], sides[-1], identity, size, rng)
        scores = pairs.of_all()
        self._check_range(scores)
        fit = partial(fit_curve, self.kind, p_target=self.p_target)
        overall = fit(*scores)
        of_part = pairs.within if self.by == "group" else pairs.touching
        curves, counts, self.n_overall_ = fit_parts(
            fit,
            overall,
            (of_part(part == k) for k in range(n_parts)),
            self.min_pairs,
            f"{self.by}s",
        )
        self.n_genuine_, self.n_impostor_ = counts
        self.curves_ = [*curves, overall]
        return self

    def _fit_similarity(self, X, identity, attributes, rng):
        """Fit the similarity if it is not fitted. The rows that are left for the curves."""
        self.similarity_ = self.similarity
        try:
            if hasattr(self.similarity, "fit"):
                check_is_fitted(self.similarity)
            return np.arange(len(X))
        except NotFittedError:
            pass
        people = rng.permutation(identity.max() + 1)
        seen = np.isin(identity, people[: people.size // 2])
        groups = {name: of.of_rows()[seen] for name, of in attributes.items()}
        self.similarity_ = clone(self.similarity)
        self.similarity_.fit(X[seen], identity[seen], sensitive_features=groups or None)
        return np.flatnonzero(~seen)

    def _check_range(self, scores):
        largest = max(np.abs(of_kind).max() for of_kind in scores)
        if self.kind == "beta" and largest > LARGEST_COSINE:
            raise ValueError(
                f"kind='beta' requires scores in [-1, 1], and those of "
                f"{self.similarity_!r} reach {largest:.3g} in size. Use kind='logistic' or "
                "'isotonic'."
            )

    def _prepare(self, X, sensitive_features, side=None):
        attributes = {}
        if sensitive_features is not None:
            attributes = encode_attributes(
                sensitive_features, "sensitive_features", len(X)
            )
        vectors, adjustment = self._prepare_base(X, attributes, side)
        if self.by == "group":
            part = self._codes(sensitive_features, len(X))
        elif self.by == "cluster":
            part = nearest(unit_rows_of(X), self.cluster_centers_)
        else:
            part = np.zeros(len(X), dtype=int)
        curves = Curves(self.kind, self.curves_, part % len(self.curves_))
        return PreparedImages(vectors, replace(adjustment, curves=curves))

    def _prepare_base(self, X, attributes, side):
        """Images prepared by the similarity, with an adjustment that curves may follow."""
        vectors, adjustment = prepare(X, self.similarity_, attributes, side)
        if adjustment is None:
            adjustment = Adjustment.shifted(np.zeros(len(X)))
        if adjustment.curves is not None:
            raise ValueError(
                f"similarity={self.similarity_!r} returns calibrated scores. Pass the "
                "similarity that it calibrates."
            )
        return PreparedImages(vectors, adjustment)

    def _exported(self):
        found = {"kind": "calibration", "curve": self.kind, "edge": EDGE}
        found |= {"curves": self.curves_, "similarity": {"kind": self.similarity_}}
        if not isinstance(self.similarity_, str):
            found["similarity"] = self.similarity_._exported()
        if self.by == "group":
            found["groups"] = self.groups_
        elif self.by == "cluster":
            found["centers"] = self.cluster_centers_
        return found


# ---- clusters of look-alikes, as published -------------------------------------------


_fit_beta = partial(fit_curve, "beta")


class ClusterCalibration(Comparator):
    """Fairness calibration (FairCal): log odds of a match, calibrated in clusters.

    Embeddings are clustered by k-means. In each cluster c, beta calibration ([2]_, with
    slopes that are not negative) turns the cosine s of a pair with either image in c into
    the probability :math:`p_c(s)` of a match. That of a pair of the clusters c and d is the
    mean

    .. math:: p = (n_c \\, p_c(s) + n_d \\, p_d(s)) / (n_c + n_d),

    with the numbers of pairs of both clusters as weights, [1]_, and the score is its log
    odds, :math:`\\log p - \\log(1 - p)`. No group label is needed, in ``fit`` or later.

    Parameters
    ----------
    n_clusters : int, default=100
        Number of clusters, at most that of the images.
    min_pairs : int, at least 1, default=20
        A cluster with fewer genuine, or fewer impostor, pairs to be fitted to takes the
        calibration of all pairs.
    max_pairs : int, at least 1, default=20000
        Largest number of genuine pairs used in the fit of a cluster, and of all, and the
        impostor pairs among so many pairs: all of them, or a uniform sample without
        replacement.
    random_state : int, RandomState instance or None, default=None
        Seed of the first centers of k-means and of the samples of rows, in their order:
        with another order it may find other clusters.

    Attributes
    ----------
    cluster_centers_ : ndarray of float32, shape (n_clusters, n_features)
    calibrations_ : ndarray, shape (n_clusters, 3)
        a, b and c of :math:`\\log p_c - \\log(1 - p_c) = a \\log q - b \\log(1 - q) + c`, where
        q = (1 + s) / 2.
    calibration_ : ndarray, shape (3,)
        Calibration of all pairs.
    n_pairs_ : ndarray of int, shape (n_clusters,)
        Pairs with either image in each cluster, the weights.
    n_genuine_, n_impostor_ : ndarrays of int, shape (n_clusters,)
        Pairs that each cluster's calibration was fitted to, or would have been.
    n_overall_ : int
        Clusters that take the calibration of all pairs.
    n_features_in_ : int
        Number of features of the embeddings.
    feature_names_in_ : ndarray, shape (n_features,)
        Names of the features, where X has string names.

    See Also
    --------
    FairScoreNormalizer : Moves each cluster's threshold at one level.

    Notes
    -----
    In each fit genuine and impostor pairs weigh the same in all, as in the balanced lists
    of pairs of [1]_: among all pairs nearly all are impostor pairs, and a cluster of people
    with many images would otherwise be given higher odds. As Platt did, n genuine pairs are
    fitted to the probability (n + 1) / (n + 2), and m impostor pairs to 1 / (m + 2).

    References
    ----------
    .. [1] Salvador, T., Cairns, S., Voleti, V., Marshall, N., & Oberman, A. (2022).
       FairCal: Fairness Calibration for Face Verification. ICLR.
    .. [2] Kull, M., Silva Filho, T., & Flach, P. (2017). Beta calibration. AISTATS.

    Examples
    --------
    >>> from skfairfr import make_face_embeddings
    >>> from skfairfr.comparators import ClusterCalibration
    >>> faces = make_face_embeddings(n_identities=400, n_features=32, random_state=0)
    >>> scores = ClusterCalibration(n_clusters=5, random_state=0).fit(faces.X, faces.y)
    >>> bool((scores.calibrations_[:, :2] >= 0).all()), scores.n_overall_
    (True, 0)
    >>> one, other = faces.X[faces.y == 0][:2]
    >>> bool(scores.score_pairs([one], [other])[0] > 0)
    True
    """

    _parameter_constraints: dict = {  # noqa: RUF012
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "min_pairs": [Interval(Integral, 1, None, closed="left")],
        "max_pairs": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    returns_llr = True

    def __init__(
        self,
        n_clusters: int = 100,
        *,
        min_pairs: int = 20,
        max_pairs: int = 20000,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.min_pairs = min_pairs
        self.max_pairs = max_pairs
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: ArrayLike,
        y: Column | None = None,
        sensitive_features: Column | None = None,
    ) -> Self:
        """Find clusters and calibrate them.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
            Embeddings.
        y : array-like, shape (n_samples,)
            Identity of each row, as in :class:`~skfairfr.metrics.SimilarityROC`.
            Required.
        sensitive_features : array-like, shape (n_samples,), default=None
            Not used.

        Returns
        -------
        self : ClusterCalibration
            Fitted.

        Raises
        ------
        ValueError
            If y is missing, X has a zero row or values that are not finite, there is no
            genuine or no impostor pair, or there are more clusters than images.

        Warns
        -----
        UserWarning
            If there is one cluster, which treats all images the same.
        UndefinedMetricWarning
            If a cluster has too few pairs.
        """
        X = validate_rows(self, X, dtype=(np.float32, np.float64), ensure_min_samples=2)
        identity = identities_of(y, len(X))
        rows = unit_rows_of(X)
        random_state = check_random_state(self.random_state)
        n_clusters = int(self.n_clusters)  # a narrow one would overflow in products
        self.cluster_centers_, cluster = find_clusters(rows, n_clusters, random_state)
        rng = np.random.default_rng(random_state.randint(np.iinfo(np.int32).max))
        self.n_pairs_ = count_pairs(cluster, n_clusters).astype(np.int64)
        images = PreparedImages(rows, None)
        pairs = TrainingPairs(images, images, identity, int(self.max_pairs), rng)
        self.calibration_ = _fit_beta(*pairs.of_all())
        parts = (pairs.touching(cluster == c) for c in range(n_clusters))
        found, (self.n_genuine_, self.n_impostor_), self.n_overall_ = fit_parts(
            _fit_beta, self.calibration_, parts, self.min_pairs, "clusters"
        )
        self.calibrations_ = np.array(found)
        return self

    def _prepare(self, X, sensitive_features):
        rows = unit_rows_of(X)
        cluster = nearest(rows, self.cluster_centers_)
        a, b, c = self.calibrations_[cluster].T
        return PreparedImages(
            rows, Adjustment.calibrated(a, b, c, self._weights()[cluster])
        )

    def _weights(self):
        # A center that no image is nearest to has no pair.
        return np.maximum(self.n_pairs_, 1)

    def _exported(self):
        return {
            "kind": "cluster_calibration",
            "edge": EDGE,
            "centers": self.cluster_centers_,
            "calibrations": self.calibrations_,
            "weights": self._weights(),
        }
