"""Base of the comparators: unit rows, and scores of pairs from them and a few numbers of each.

Some give images of one cluster the same numbers: clusters are found here too. So is the
file by which other languages compute the same scores.
"""

import json
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from skfairfr._compat import count_rows
from skfairfr._core._pair_tiles import (
    PreparedImages,
    genuine_pairs,
    score_prepared_matrix,
    score_prepared_pairs,
    unit_rows,
)
from skfairfr._core._resampling import Images
from skfairfr.utils._folder import whole_file
from skfairfr.utils._labels import label_images
from skfairfr.utils._types import Columns, FilePath
from skfairfr.utils._validation import (
    check_no_zero_row,
    check_path,
    validate_rows,
    warn_caller,
)


class Exported:
    """Mixin of estimators that other languages can compute.

    ``_exported()`` of a subclass returns what goes into the file, ``"kind"`` included.
    """

    # Changed when a program that reads earlier files would compute other scores.
    _FORMAT = {"format": "skfairfr-comparator", "version": 1}  # noqa: RUF012

    def export(self, path: FilePath) -> None:
        """Write what scores are computed from, as JSON for programs without Python.

        :ref:`exporting` describes the file and has a scorer of 74 lines in plain Python that
        can be ported. Scores agree with those of skfairfr to 1e-6, relative to scores
        above 1.

        Parameters
        ----------
        path : str or path-like
            An earlier file is replaced.

        Raises
        ------
        NotFittedError
            Before ``fit``.
        NotImplementedError
            If the class is one of your own without ``_exported``.
        OSError
            If the file cannot be written.

        Notes
        -----
        The file contains data about the people of ``fit``. That of a
        :class:`~skfairfr.comparators.CohortNormalizer` contains their embeddings, one for
        each image or person: biometric templates, to be protected as those of enrolled
        people. Centers of clusters are means of the embeddings of few people. The other
        files contain means, covariances and thresholds of many people. Names are in none
        of them, but for the names of groups of
        :class:`~skfairfr.comparators.GroupThresholds`.
        """
        check_is_fitted(self)
        content = self._FORMAT | {"n_features": self.n_features_in_} | self._exported()
        text = json.dumps(content, default=_to_lists, allow_nan=False)
        with whole_file(check_path(path, "path")) as staged:
            Path(staged).write_text(text, encoding="utf-8")

    def _exported(self):
        raise NotImplementedError(
            f"{type(self).__name__} cannot be exported: define _exported(), which returns a "
            "dict of 'kind' and of the numbers that scores are computed from."
        )


def _to_lists(array):
    """Nested lists; of float32 with nine digits, from which it can be read exactly."""
    if array.dtype == np.float32:
        array = np.char.mod("%.9g", array).astype(float)
    return array.tolist()


class Comparator(Exported, BaseEstimator):
    """Estimator that scores pairs of embeddings; larger is more alike.

    A subclass defines ``fit`` and ``_prepare(X, sensitive_features)``, which returns
    :class:`~skfairfr.comparators.PreparedImages`. The pass over all pairs of
    :class:`~skfairfr.metrics.SimilarityROC`, :meth:`score_pairs` and :meth:`score_matrix`
    compute the same scores from it, bit for bit. :ref:`adding-a-comparator` builds one.

    Attributes
    ----------
    takes_side : bool
        Of the class: whether ``prepare`` takes ``side=``, an array (n_images,) with 0 for
        a probe and 1 for a reference.

    See Also
    --------
    CohortNormalizer, FairScoreNormalizer, ClusterCalibration, GroupThresholds

    References
    ----------
    .. [1] Linghu, Y., de Freitas Pereira, T., Ecabert, C., Marcel, S., & Günther, M.
       (2024). Score Normalization for Demographic Fairness in Face Recognition. IJCB.
       arXiv 2407.14087.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairfr.comparators import Adjustment, Comparator, PreparedImages
    >>> class Doubled(Comparator):
    ...     def fit(self, X, y=None, sensitive_features=None):
    ...         self.n_features_in_ = np.shape(X)[1]
    ...         return self
    ...     def _prepare(self, X, sensitive_features):
    ...         ones = np.ones(len(X))
    ...         adjustment = Adjustment.affine(gain=ones, offset=0 * ones)
    ...         return PreparedImages(X.astype(np.float32), adjustment)
    >>> X = np.array([[1.0, 2.0], [3.0, 0.0]])
    >>> float(Doubled().fit(X).score_pairs(X[:1], X[1:])[0])
    6.0
    """

    # Groups reach fit and score inside searches and pipelines.
    __metadata_request__fit = {"sensitive_features": True}  # noqa: RUF012

    # Whether prepare takes side=, (n_images,): 0 of a probe, 1 of a reference.
    takes_side = False

    def prepare(
        self, X: ArrayLike, sensitive_features: Columns | None = None
    ) -> PreparedImages:
        """Rows and numbers of images, from which all their pairs can be scored.

        Parameters
        ----------
        X : array-like, shape (n_images, n_features)
            Embeddings.
        sensitive_features : array-like, frame or dict, shape (n_images,), default=None
            Group of each image; only comparators that use groups read it.

        Returns
        -------
        prepared : PreparedImages

        Raises
        ------
        NotFittedError
            If the comparator is not fitted.
        ValueError
            If X has other features than the data of ``fit``, or a row without direction.
        """
        check_is_fitted(self)
        X = validate_rows(self, X, dtype=(np.float32, np.float64), reset=False)
        return self._prepare(X, sensitive_features)

    def score_pairs(self, X1: ArrayLike, X2: ArrayLike) -> np.ndarray:
        """Score row k of one array with row k of the other.

        Parameters
        ----------
        X1, X2 : array-likes, shape (n_pairs, n_features)
            Probes and references, where the two sides differ.

        Returns
        -------
        scores : ndarray of float32, shape (n_pairs,)
            Larger is more alike.

        Raises
        ------
        ValueError
            As :meth:`prepare`, and if the numbers of rows differ.
        """
        return score_row_by_row(*self._prepare_both(X1, X2))

    def score_matrix(self, X1: ArrayLike, X2: ArrayLike) -> np.ndarray:
        """Score every row of one array with every row of the other.

        Parameters
        ----------
        X1 : array-like, shape (n_1, n_features)
        X2 : array-like, shape (n_2, n_features)
            References, where the two sides differ; X1 are the probes.

        Returns
        -------
        scores : ndarray of float32, shape (n_1, n_2)
            Larger is more alike.

        Raises
        ------
        ValueError
            As :meth:`prepare`.
        """
        return score_prepared_matrix(*self._prepare_both(X1, X2))

    def _prepare_both(self, X1, X2):
        """Rows of probes and of references."""
        if not self.takes_side:
            return self.prepare(X1), self.prepare(X2)
        probes = np.zeros(count_rows(X1), dtype=np.int8)
        references = np.ones(count_rows(X2), dtype=np.int8)
        return self.prepare(X1, side=probes), self.prepare(X2, side=references)


def score_row_by_row(first, second):
    """Scores (n_pairs,) of row k of both, which have as many rows."""
    if len(first.vectors) != len(second.vectors):
        raise ValueError(
            f"X1 has {len(first.vectors)} rows and X2 has {len(second.vectors)}; row k "
            "of one is scored with row k of the other. score_matrix scores all rows "
            "of one with all of the other."
        )
    return score_prepared_pairs(first, second)


# ---- unit rows -----------------------------------------------------------------------


def identities_of(y, n_samples):
    """Code of the identity of each image, in 0..n_identities - 1."""
    identity, _, _ = label_images(y, None, None, n_samples, fields=("identity",))
    return identity.codes


def unit_rows_of(X):
    """float32 rows of unit length; an error where a row has no direction."""
    check_no_zero_row(X)
    return unit_rows(X, "cosine")


def multiply_rows(rows, matrix):
    """Inner products of every row with every row of a matrix, float32.

    Parameters
    ----------
    rows : ndarray of float32, shape (n_samples, n_features)
    matrix : ndarray, shape (n_out, n_features)
    """
    matrix = np.ascontiguousarray(matrix, dtype=np.float32)
    return score_prepared_matrix(
        PreparedImages(rows, None), PreparedImages(matrix, None)
    )


# ---- clusters of unit rows -----------------------------------------------------------


def find_clusters(rows, n_clusters, random_state):
    """Centers of k-means, and the nearest one of each row.

    Parameters
    ----------
    rows : ndarray of float32, shape (n_images, n_features)
        Of unit length.
    n_clusters : int
    random_state : int, RandomState instance or None

    Returns
    -------
    centers : ndarray of float32, shape (n_clusters, n_features)
    clusters : ndarray of int, shape (n_images,)
    """
    if n_clusters > len(rows):
        raise ValueError(
            f"n_clusters={n_clusters} is more than the {len(rows)} rows of X; lower it, or "
            "fit on more images."
        )
    if n_clusters == 1:
        warn_caller(
            "n_clusters=1 makes one cluster, which treats all images alike: scores keep "
            "the order of cosines. Give 2 at least.",
            UserWarning,
        )
    # This import takes a tenth of a second, and few callers of the package need it.
    from sklearn.cluster import KMeans

    means = KMeans(n_clusters, n_init=1, random_state=random_state).fit(rows)
    centers = means.cluster_centers_
    return centers, nearest(rows, centers)


def nearest(rows, centers):
    """Which center is nearest to each row, (n_rows,); of several the first."""
    squares = np.einsum("ij,ij->i", centers, centers)
    return np.argmax(multiply_rows(rows, centers) - squares / 2, axis=1)


def genuine_of(identity):
    """Both images of every genuine pair, by the codes of identities."""
    unknown = np.full(identity.size, -1, dtype=np.int32)
    return genuine_pairs(Images(identity, unknown, None, identity.max() + 1, 0))
