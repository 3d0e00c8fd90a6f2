"""Scores normalised by the threshold of each cluster of embeddings (FSN)."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from skfairfr._compat import Interval, StrOptions, fit_context
from skfairfr._core import _pair_tiles
from skfairfr._core._adjustments import Adjustment
from skfairfr._core._pair_tiles import PreparedImages
from skfairfr.comparators._base import (
    Comparator,
    find_clusters,
    genuine_of,
    identities_of,
    nearest,
    unit_rows_of,
)
from skfairfr.comparators._group_thresholds import (
    count_few,
    roc_and_threshold,
    thresholds_within,
)
from skfairfr.utils._types import Column
from skfairfr.utils._validation import validate_rows


class FairScoreNormalizer(Comparator):
    """Fair score normalisation (FSN): thresholds of clusters in place of groups.

    Embeddings are clustered by k-means. With the threshold :math:`t_c` at which the FAR in
    cluster c meets a level, and t that of all pairs, the score of a pair of the clusters c
    and d is

    .. math:: s - \\tfrac12 \\left[(t_c - t) + (t_d - t)\\right],

    where s is its cosine, [1]_. No group label is needed, in ``fit`` or later.

    Parameters
    ----------
    n_clusters : int, default=100
        Number of clusters, at most that of the images. Take so few that a cluster has
        ``1 / far`` impostor pairs.
    far : float in (0, 1), default=1e-3
        FAR level.
    pairs : {"inside", "either"}, default="inside"
        Over which impostor pairs the FAR of a cluster is: of two images inside it, as in
        the code of [1]_, or with either image inside it, as in that of [2]_.
    random_state : int, RandomState instance or None, default=None
        Seed of the first centers of k-means among the rows, in their order: with another
        order it may find other clusters.

    Attributes
    ----------
    cluster_centers_ : ndarray of float32, shape (n_clusters, n_features)
    thresholds_ : ndarray, shape (n_clusters,)
        Cosine from which on a pair of each cluster is accepted at ``far``.
    threshold_ : float
        Threshold of all pairs.
    n_impostor_ : ndarray of int, shape (n_clusters,)
        Impostor pairs that the threshold of each cluster is of.
    n_without_pairs_ : int
        Clusters without an impostor pair, which take ``threshold_``.
    n_unresolved_ : int
        Other clusters with fewer impostor pairs than ``1 / far``, whose threshold is just
        above their largest impostor score.
    n_features_in_ : int
        Number of features of the embeddings.
    feature_names_in_ : ndarray, shape (n_features,)
        Names of the features, where X has string names.

    See Also
    --------
    ClusterCalibration : Calibrates each cluster at all scores, not at one level.

    References
    ----------
    .. [1] Terhörst, P., Kolf, J. N., Damer, N., Kirchbuchner, F., & Kuijper, A. (2020).
       Post-Comparison Mitigation of Demographic Bias in Face Recognition Using Fair Score
       Normalization. Pattern Recognition Letters.
    .. [2] Salvador, T., Cairns, S., Voleti, V., Marshall, N., & Oberman, A. (2022).
       FairCal: Fairness Calibration for Face Verification. ICLR.

    Examples
    --------
    >>> from skfairfr import make_face_embeddings
    >>> from skfairfr.comparators import FairScoreNormalizer
    >>> faces = make_face_embeddings(n_identities=400, n_features=32, random_state=0)
    >>> scores = FairScoreNormalizer(n_clusters=5, far=1e-2, random_state=0)
    >>> scores = scores.fit(faces.X, faces.y)
    >>> bool((scores.thresholds_ > scores.threshold_).any())
    True
    >>> scores.n_without_pairs_, scores.n_unresolved_
    (0, 0)
    """

    _parameter_constraints: dict = {  # noqa: RUF012
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "far": [Interval(Real, 0, 1, closed="neither")],
        "pairs": [StrOptions({"inside", "either"})],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 100,
        *,
        far: float = 1e-3,
        pairs: str = "inside",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.far = far
        self.pairs = pairs
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: ArrayLike,
        y: Column | None = None,
        sensitive_features: Column | None = None,
    ) -> Self:
        """Find clusters and their thresholds.

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
        self : FairScoreNormalizer
            Fitted.

        Raises
        ------
        ValueError
            If y is missing, X has a zero row or values that are not finite, there are no
            two people, or more clusters than images.

        Warns
        -----
        UserWarning
            If there is one cluster, which treats all images the same.
        UndefinedMetricWarning
            If a cluster has too few impostor pairs for the level.
        """
        X = validate_rows(self, X, dtype=(np.float32, np.float64), ensure_min_samples=2)
        identity = identities_of(y, len(X))
        rows = unit_rows_of(X)
        # Narrow numbers would round, or overflow in products.
        n_clusters, far = int(self.n_clusters), float(self.far)
        self.cluster_centers_, cluster = find_clusters(
            rows, n_clusters, self.random_state
        )
        inside = self.pairs == "inside"
        groups = cluster if inside else np.full(len(X), -1)
        roc, self.threshold_ = roc_and_threshold(X, identity, groups, far, far)
        if inside:
            found = thresholds_within(roc, n_clusters, far, self.threshold_)
        else:
            found = self._thresholds_touching(rows, identity, cluster)
        self.thresholds_, self.n_impostor_ = found
        few = count_few(self.n_impostor_, far, "clusters")
        self.n_without_pairs_, self.n_unresolved_ = few
        return self

    def _prepare(self, X, sensitive_features):
        rows = unit_rows_of(X)
        above = self.thresholds_[nearest(rows, self.cluster_centers_)] - self.threshold_
        return PreparedImages(rows, Adjustment.shifted(above / 2))

    def _exported(self):
        return {
            "kind": "cluster_thresholds",
            "centers": self.cluster_centers_,
            "shifts": self.thresholds_ - self.threshold_,
        }

    def _thresholds_touching(self, rows, identity, cluster):
        n_clusters = int(self.n_clusters)
        n_genuine = _pair_tiles.count_genuine(
            cluster, n_clusters, *genuine_of(identity)
        )
        n_impostor = (
            _pair_tiles.count_pairs(cluster, n_clusters).astype(np.int64) - n_genuine
        )
        asked = (rows, identity, cluster, n_impostor, float(self.far))
        thresholds = _pair_tiles.thresholds_touching(*asked)
        thresholds = np.where(n_impostor > 0, thresholds, self.threshold_)
        return thresholds, n_impostor
