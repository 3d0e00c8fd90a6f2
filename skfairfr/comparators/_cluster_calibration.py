"""ClusterCalibration: scores as log odds, calibrated in clusters of look-alikes."""

from numbers import Integral
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from skfairfr._compat import Interval, fit_context
from skfairfr._core._adjustments import EDGE, Adjustment, fit_beta
from skfairfr._core._pair_tiles import (
    PreparedImages,
    count_pairs,
    draw_pairs,
    score_pairs,
)
from skfairfr.comparators._base import (
    Comparator,
    find_clusters,
    genuine_of,
    identities_of,
    nearest,
    unit_rows_of,
)
from skfairfr.utils._types import Column
from skfairfr.utils._validation import validate_rows, warn_undefined


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
            Identity of each row, as :class:`~skfairfr.metrics.SimilarityROC` takes it;
            required.
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
            If there is one cluster, which treats all images alike.
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
        pairs = _Pairs(rows, identity, cluster, int(self.max_pairs), rng)
        self.calibration_ = self._calibrate_all(pairs)
        self.calibrations_ = np.tile(self.calibration_, (n_clusters, 1))
        counts = np.zeros((2, n_clusters), dtype=np.int64)
        for c in range(n_clusters):
            scores = pairs.of_cluster(c)
            counts[:, c] = [s.size for s in scores]
            if counts[:, c].min() >= self.min_pairs:
                self.calibrations_[c] = fit_beta(*scores)
        self.n_genuine_, self.n_impostor_ = counts
        self.n_overall_ = int((counts.min(axis=0) < self.min_pairs).sum())
        if self.n_overall_:
            warn_undefined(
                f"{self.n_overall_} of {self.n_clusters} clusters have fewer than "
                f"min_pairs={self.min_pairs} genuine or impostor pairs and take the "
                "calibration of all pairs. Give more people or fewer clusters."
            )
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

    def _calibrate_all(self, pairs):
        scores = pairs.of_all()
        for name, found in zip(("genuine", "impostor"), scores, strict=True):
            if found.size == 0:
                raise ValueError(
                    f"y gives no {name} pair, and a calibration needs both kinds; give two "
                    "people at least, and two images of some person."
                )
        return fit_beta(*scores)


class _Pairs:
    """Scores of pairs to be fitted to.

    Parameters
    ----------
    rows : ndarray of float32, shape (n_images, n_features)
    identity : ndarray of int, shape (n_images,)
    cluster : ndarray of int, shape (n_images,)
    size : int
        Largest number of pairs drawn.
    rng : numpy.random.Generator
    """

    def __init__(self, rows, identity, cluster, size, rng):
        self.rows, self.identity, self.cluster = rows, identity, cluster
        self.size, self.rng = size, rng
        self.genuine = np.stack(genuine_of(identity))

    def of_all(self):
        """Genuine and impostor scores over all clusters."""
        everyone = np.arange(len(self.rows))
        return self._scores(self.genuine, everyone, everyone[:0])

    def of_cluster(self, c):
        """Genuine and impostor scores of pairs with either image in a cluster."""
        inside = self.cluster == c
        genuine = self.genuine[:, inside[self.genuine].any(axis=0)]
        return self._scores(genuine, np.flatnonzero(inside), np.flatnonzero(~inside))

    def _scores(self, genuine, inside, outside):
        if genuine.shape[1] > self.size:
            genuine = self.rng.choice(genuine, self.size, axis=1, replace=False)
        impostor = np.stack(draw_pairs(inside, outside, self.size, self.rng))
        first, second = self.identity[impostor]
        impostor = impostor[:, first != second]
        return tuple(score_pairs(self.rows, *pairs) for pairs in (genuine, impostor))
