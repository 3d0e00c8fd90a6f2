"""FairScoreNormalizer: scores minus what the thresholds of clusters exceed the overall one."""

from numbers import Integral, Real

import numpy as np

from skfairfr._compat import Interval, StrOptions, fit_context
from skfairfr._core._adjustments import Adjustment
from skfairfr._core._cluster_pairs import (
    count_genuine,
    count_pairs,
    thresholds_touching,
)
from skfairfr._core._pair_tiles import genuine_pairs
from skfairfr._core._prepared import PreparedImages
from skfairfr._core._resampling import Images
from skfairfr.comparators._base import Comparator
from skfairfr.comparators._clusters import find_clusters, nearest
from skfairfr.comparators._levels import (
    GroupLevels,
    compare_groups,
    count_few,
    overall_threshold,
    thresholds_within,
)
from skfairfr.comparators._rows import unit_rows_of
from skfairfr.utils._labels import label_images
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
        Draws the first centers of k-means among the rows, in their order: with another
        order it may find other clusters.

    Attributes
    ----------
    cluster_centers_ : ndarray of float32, shape (n_clusters, n_features)
    thresholds_ : ndarray, shape (n_clusters,)
        Cosine from which on a pair of each cluster is accepted at ``far``.
    threshold_ : float
        That of all pairs.
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

    def __init__(self, n_clusters=100, *, far=1e-3, pairs="inside", random_state=None):
        self.n_clusters = n_clusters
        self.far = far
        self.pairs = pairs
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None, sensitive_features=None):
        """Find clusters and their thresholds.

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
            If there is one cluster, which treats all images alike.
        UndefinedMetricWarning
            If a cluster has too few impostor pairs for the level.
        """
        X = validate_rows(self, X, dtype=(np.float32, np.float64), ensure_min_samples=2)
        identity, _, _ = label_images(y, None, None, len(X), fields=("identity",))
        rows = unit_rows_of(X)
        # Narrow numbers would round, or overflow in products.
        n_clusters, far = int(self.n_clusters), float(self.far)
        self.cluster_centers_, cluster = find_clusters(
            rows, n_clusters, self.random_state
        )
        inside = self.pairs == "inside"
        groups = cluster if inside else np.full(len(X), -1)
        roc = compare_groups(X, identity.codes, groups, far)
        self.threshold_ = overall_threshold(roc, far)
        if inside:
            found = thresholds_within(roc, n_clusters, far, self.threshold_)
        else:
            found = self._thresholds_touching(rows, identity, cluster)
        self.thresholds_, self.n_impostor_ = found
        self.n_without_pairs_, self.n_unresolved_ = count_few(found, far, "clusters")
        return self

    def _prepare(self, X, sensitive_features):
        rows = unit_rows_of(X)
        above = (self.thresholds_ - self.threshold_)[
            nearest(rows, self.cluster_centers_)
        ]
        return PreparedImages(
            rows, Adjustment.affine(np.full(len(rows), 0.5), above / 2)
        )

    def _thresholds_touching(self, rows, identity, cluster):
        unknown = np.full(len(rows), -1, dtype=np.int32)
        images = Images(identity.codes, unknown, None, identity.values.size, 0)
        n_clusters = int(self.n_clusters)
        n_genuine = count_genuine(cluster, n_clusters, *genuine_pairs(images))
        all_pairs = count_pairs(cluster, n_clusters).astype(np.int64)
        n_impostor = all_pairs - n_genuine
        thresholds = thresholds_touching(
            rows, identity.codes, cluster, n_impostor, float(self.far)
        )
        return GroupLevels(
            np.where(n_impostor > 0, thresholds, self.threshold_), n_impostor
        )
