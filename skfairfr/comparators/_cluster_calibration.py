"""ClusterCalibration: scores as log odds, calibrated in clusters of look-alikes."""

from __future__ import annotations

from functools import partial
from numbers import Integral
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from skfairfr._compat import Interval, fit_context
from skfairfr._core._adjustments import Adjustment
from skfairfr._core._calibration import EDGE, fit_curve
from skfairfr._core._pair_tiles import PreparedImages, count_pairs
from skfairfr.comparators._base import (
    Comparator,
    TrainingPairs,
    find_clusters,
    fit_parts,
    identities_of,
    nearest,
    unit_rows_of,
)
from skfairfr.utils._types import Column
from skfairfr.utils._validation import validate_rows

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
        In each cluster, and over all, at most so many genuine pairs are fitted to, and the
        impostor pairs among so many pairs: all of them, or a uniform sample without
        replacement.
    random_state : int, RandomState instance or None, default=None
        Draws the first centers of k-means and the samples among the rows, in their order:
        with another order it may find other clusters.

    Attributes
    ----------
    cluster_centers_ : ndarray of float32, shape (n_clusters, n_features)
    calibrations_ : ndarray, shape (n_clusters, 3)
        a, b and c of :math:`\\log p_c - \\log(1 - p_c) = a \\log q - b \\log(1 - q) + c`, where
        q = (1 + s) / 2.
    calibration_ : ndarray, shape (3,)
        Those of all pairs.
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
            Identity of each row, as :class:`~skfairfr.metrics.SimilarityROC` takes it.
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
