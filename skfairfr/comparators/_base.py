"""Base of the comparators: unit rows, and scores of pairs from them and a few numbers of each.

Some give images of one cluster the same numbers: clusters are found here too. So is the
file by which other languages compute the same scores.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from skfairfr._compat import count_rows
from skfairfr._core._pair_tiles import (
    PreparedImages,
    draw_pairs,
    genuine_pairs,
    score_between,
    score_prepared_matrix,
    score_prepared_pairs,
    unit_rows,
)
from skfairfr._core._resampling import Images
from skfairfr.utils._errors import plain
from skfairfr.utils._folder import whole_file
from skfairfr.utils._labels import encode_attributes, intersect, label_images
from skfairfr.utils._types import Columns, FilePath
from skfairfr.utils._validation import (
    check_no_zero_row,
    check_path,
    validate_rows,
    warn_caller,
    warn_undefined,
)


class Exported:
    """Mixin of estimators that other languages can compute.

    ``_exported()`` of a subclass returns what goes into the file, ``"kind"`` included.
    """

    # Changed when a program that reads earlier files would compute other scores.
    _FORMAT = {"format": "skfairfr-comparator", "version": 1}  # noqa: RUF012

    def export(self, path: FilePath) -> None:
        """Write what scores are computed from, as JSON for programs without Python.

        :ref:`exporting` describes the file and has a scorer of 109 lines in plain Python that
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
        files contain means, covariances, curves and thresholds of many people, that of a
        :class:`~skfairfr.comparators.ScoreCalibrator` also what its similarity writes. Names
        are in none of them, but for the names of groups if groups are needed to score a pair.
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
    """Nested lists, of float32 with nine digits, from which it can be read exactly."""
    if array.dtype == np.float32:
        array = np.char.mod("%.9g", array).astype(float)
    return array.tolist()


class Comparator(Exported, BaseEstimator):
    """Estimator that scores pairs of embeddings. Larger is more similar.

    A subclass defines ``fit`` and ``_prepare(X, sensitive_features)``, which returns
    :class:`~skfairfr.comparators.PreparedImages`. The pass over all pairs of
    :class:`~skfairfr.metrics.SimilarityROC`, :meth:`score_pairs` and :meth:`score_matrix`
    compute the same scores from it, bit for bit. :ref:`adding-a-comparator` builds one.

    Attributes
    ----------
    takes_side : bool
        Whether probes and references are prepared differently. ``_prepare`` then has a
        third argument, ``side``, as :meth:`prepare` accepts it.
    takes_groups : bool
        Whether the groups of both images are needed to score a pair.
    returns_llr : bool
        Whether scores are natural logarithms of likelihood ratios.

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

    takes_side = takes_groups = returns_llr = False

    def prepare(
        self,
        X: ArrayLike,
        sensitive_features: Columns | None = None,
        *,
        side: ArrayLike | None = None,
    ) -> PreparedImages:
        """Rows and numbers of images, from which all their pairs can be scored.

        Parameters
        ----------
        X : array-like, shape (n_images, n_features)
            Embeddings.
        sensitive_features : array-like, frame or dict, shape (n_images,), default=None
            Group of each image. Only comparators that use groups read it.
        side : array-like of int, shape (n_images,), default=None
            0 of a probe, 1 of a reference. Only comparators that treat them differently
            read it.

        Returns
        -------
        prepared : PreparedImages
            Rows, and the numbers of each image.

        Raises
        ------
        NotFittedError
            If the comparator is not fitted.
        ValueError
            If X has other features than the data of ``fit``, or a row without direction. If
            groups or sides are needed and missing, or a group was not seen in ``fit``.
        """
        check_is_fitted(self)
        X = validate_rows(self, X, dtype=(np.float32, np.float64), reset=False)
        sides = (side,) if self.takes_side else ()
        return self._prepare(X, sensitive_features, *sides)

    def score_pairs(
        self,
        X1: ArrayLike,
        X2: ArrayLike,
        *,
        sensitive_features_1: Columns | None = None,
        sensitive_features_2: Columns | None = None,
    ) -> np.ndarray:
        """Score row k of one array with row k of the other.

        Parameters
        ----------
        X1, X2 : array-likes, shape (n_pairs, n_features)
            Probes and references, if the two sides differ.
        sensitive_features_1, sensitive_features_2 : array-likes, frames or dicts, (n_pairs,)
            Group of each row, for comparators that take groups. None and NaN are unknown.
            Of several columns those with the names of the fit count. A single one is taken
            whatever its name.

        Returns
        -------
        scores : ndarray of float32, shape (n_pairs,)
            Larger is more similar.

        Raises
        ------
        ValueError
            As :meth:`prepare`, and if the numbers of rows differ.
        """
        groups = sensitive_features_1, sensitive_features_2
        first, second = self._prepare_both(X1, X2, groups)
        if len(first.vectors) != len(second.vectors):
            raise ValueError(
                f"X1 has {len(first.vectors)} rows and X2 has {len(second.vectors)}, but row k "
                "of one is scored with row k of the other. score_matrix scores all rows "
                "of one with all of the other."
            )
        return score_prepared_pairs(first, second)

    def score_matrix(
        self,
        X1: ArrayLike,
        X2: ArrayLike,
        *,
        sensitive_features_1: Columns | None = None,
        sensitive_features_2: Columns | None = None,
    ) -> np.ndarray:
        """Score every row of one array with every row of the other.

        Parameters
        ----------
        X1 : array-like, shape (n_1, n_features)
        X2 : array-like, shape (n_2, n_features)
            References, with the probes in X1, if the two sides differ.
        sensitive_features_1 : array-like, frame or dict, shape (n_1,), default=None
            Group of each row of X1, as in :meth:`score_pairs`.
        sensitive_features_2 : array-like, frame or dict, shape (n_2,), default=None
            Group of each row of X2.

        Returns
        -------
        scores : ndarray of float32, shape (n_1, n_2)
            Larger is more similar.

        Raises
        ------
        ValueError
            As :meth:`prepare`.
        """
        groups = sensitive_features_1, sensitive_features_2
        return score_prepared_matrix(*self._prepare_both(X1, X2, groups))

    def _prepare_both(self, X1, X2, groups):
        """Rows of probes and of references, with the groups of each."""
        if not self.takes_side:  # prepare of a subclass may not have the argument
            return [self.prepare(*of) for of in zip((X1, X2), groups, strict=True)]
        return [
            self.prepare(rows, of, side=np.full(count_rows(rows), side, dtype=np.int8))
            for side, (rows, of) in enumerate(zip((X1, X2), groups, strict=True))
        ]


class WithGroups:
    """Mixin of comparators that take the groups of images, in ``fit`` and later.

    Attributes
    ----------
    groups_ : ndarray, shape (n_groups,)
        Sorted labels.
    attributes_ : list
        Names of the columns that groups were made of, or numbers.
    """

    def _read_groups(self, attributes, n_images, what):
        """Code of the group of each image, (n_images,). -1 is unknown."""
        self.attributes_ = list(attributes)
        labels = intersect(list(attributes.values())) if attributes else None
        self.groups_ = np.empty(0) if labels is None else labels.values
        if self.groups_.size < 2:
            warn_caller(
                f"{type(self).__name__} was fitted on the groups {self.groups_.tolist()}, so "
                f"that one {what} is that of every image. Pass sensitive_features= to fit, or "
                "face_labels(identity, group) as y.",
                UserWarning,
            )
        return np.full(n_images, -1) if labels is None else labels.codes

    def _codes(self, sensitive_features, n_images):
        """Place of each image's group in groups_. -1 is unknown."""
        if self.groups_.size == 0 and sensitive_features is None:
            return np.full(n_images, -1)
        if sensitive_features is None:
            raise ValueError(
                f"sensitive_features is missing: {type(self).__name__} was fitted on the "
                f"groups {self.groups_.tolist()[:5]} and needs that of every image it "
                "compares. Pass sensitive_features_1= and sensitive_features_2= to "
                "score_pairs and score_matrix, sensitive_features= elsewhere. A group of "
                "None is unknown."
            )
        columns = encode_attributes(sensitive_features, "sensitive_features", n_images)
        labels = intersect([columns[name] for name in self._names(columns)])
        known = set(self.groups_.tolist())
        unknown = [value for value in labels.values.tolist() if value not in known]
        if unknown:
            raise ValueError(
                "sensitive_features has groups that fit did not see, "
                f"{plain(unknown)[:5]}. It saw {self.groups_.tolist()[:10]}. Fit on images "
                "of these groups too, or pass None for unknown."
            )
        return np.append(np.searchsorted(self.groups_, labels.values), -1)[labels.codes]

    def _names(self, columns):
        """Names of the columns of the groups."""
        if len(columns) == 1:
            return list(columns)
        missing = [name for name in self.attributes_ if name not in columns]
        if missing or not self.attributes_:
            raise ValueError(
                f"sensitive_features has the columns {plain(list(columns))}, and those of "
                f"fit were {plain(self.attributes_)}. Pass columns of the same names."
            )
        return self.attributes_


# ---- unit rows -----------------------------------------------------------------------


def identities_of(y, n_samples):
    """Code of the identity of each image, in 0..n_identities - 1."""
    identity, _, _ = label_images(y, None, None, n_samples, fields=("identity",))
    return identity.codes


def identities_and_attributes(y, sensitive_features, n_samples):
    """Codes of identities (n_samples,), and Labels of groups by attribute."""
    identity, attributes, _ = label_images(
        *(y, sensitive_features, None, n_samples),
        fields=("identity", "group"),
        by_attribute=True,
    )
    return identity.codes, attributes


def unit_rows_of(X):
    """float32 rows of unit length, or an error where a row has no direction."""
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
            f"n_clusters={n_clusters} is more than the {len(rows)} rows of X. Lower it, or "
            "fit on more images."
        )
    if n_clusters == 1:
        warn_caller(
            "n_clusters=1 makes one cluster, which treats all images the same: scores keep "
            "the order of cosines. Give 2 at least.",
            UserWarning,
        )
    # This import takes a tenth of a second, and few callers of the package need it.
    from sklearn.cluster import KMeans

    means = KMeans(n_clusters, n_init=1, random_state=random_state).fit(rows)
    centers = means.cluster_centers_
    return centers, nearest(rows, centers)


def nearest(rows, centers):
    """Which center is nearest to each row, (n_rows,), of several the first."""
    squares = np.einsum("ij,ij->i", centers, centers)
    return np.argmax(multiply_rows(rows, centers) - squares / 2, axis=1)


# ---- pairs that calibrations are fitted to -------------------------------------------


def genuine_of(identity):
    """Both images of every genuine pair, by the codes of identities."""
    unknown = np.full(identity.size, -1, dtype=np.int32)
    return genuine_pairs(Images(identity, unknown, None, identity.max() + 1, 0))


class TrainingPairs:
    """Scores of pairs to be fitted to: all, or a uniform sample without replacement.

    Parameters
    ----------
    probes, references : PreparedImages
        The same images, as either of a pair.
    identity : ndarray of int, shape (n_images,)
    size : int
        Largest number of genuine pairs, and of pairs among which impostor pairs are.
    rng : numpy.random.Generator
    """

    def __init__(self, probes, references, identity, size, rng):
        self._sides = [
            side for pair in zip(probes, references, strict=True) for side in pair
        ]
        self.identity, self.size, self.rng = identity, size, rng
        self.genuine = np.stack(genuine_of(identity))

    def of_all(self):
        """Genuine and impostor scores of all images."""
        everyone = np.ones(self.identity.size, dtype=bool)
        scores = self.touching(everyone)
        for name, found in zip(("genuine", "impostor"), scores, strict=True):
            if found.size == 0:
                raise ValueError(
                    f"y has no {name} pair, and a calibration needs both kinds. Pass at "
                    "least two people, and two images of some person."
                )
        return scores

    def touching(self, inside):
        """Genuine and impostor scores of pairs with either image inside."""
        genuine = self.genuine[:, inside[self.genuine].any(axis=0)]
        return self._scores(genuine, np.flatnonzero(inside), np.flatnonzero(~inside))

    def within(self, inside):
        """Genuine and impostor scores of pairs with both images inside."""
        images = np.flatnonzero(inside)
        genuine = self.genuine[:, inside[self.genuine].all(axis=0)]
        return self._scores(genuine, images, images[:0])

    def _scores(self, genuine, inside, outside):
        if genuine.shape[1] > self.size:
            genuine = self.rng.choice(genuine, self.size, axis=1, replace=False)
        impostor = np.stack(draw_pairs(inside, outside, self.size, self.rng))
        first, second = self.identity[impostor]
        impostor = impostor[:, first != second]
        return tuple(
            score_between(*self._sides, *pairs) for pairs in (genuine, impostor)
        )


def fit_parts(fit, overall, parts, min_pairs, what):
    """Calibrations of parts of the images. Those with few pairs take the overall one.

    Parameters
    ----------
    fit : callable
        Calibration of genuine and impostor scores.
    overall : object
    parts : iterable of tuple
        Genuine and impostor scores of each part.
    min_pairs : int
        Fewest pairs of either kind that a part is fitted to.
    what : str
        Name of the parts, in the plural.

    Returns
    -------
    found : list
        The calibration of each part.
    counts : ndarray of int, shape (2, n_parts)
        Genuine and impostor pairs.
    n_overall : int
        Parts that take the overall one.
    """
    found, counts = [], []
    for scores in parts:
        counts.append([of_kind.size for of_kind in scores])
        found.append(fit(*scores) if min(counts[-1]) >= min_pairs else overall)
    counts = np.array(counts, dtype=np.int64).reshape(-1, 2).T
    n_overall = int((counts.min(axis=0) < min_pairs).sum())
    if n_overall:
        warn_undefined(
            f"{n_overall} of {len(found)} {what} have fewer than min_pairs={min_pairs} "
            "genuine or impostor pairs and take the calibration of all pairs. Give more "
            f"people or fewer {what}."
        )
    return found, counts, n_overall
