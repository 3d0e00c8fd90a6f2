"""Transformers by means and covariances of unit rows.

``GroupMeanRemover`` removes the directions in which the groups' means lie.
``WithinClassWhitening`` makes the directions in which images of one person differ count
less. No row that is transformed depends on the rows next to it.
"""

from __future__ import annotations

from numbers import Real
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from skfairfr._compat import Interval, fit_context
from skfairfr._core._pair_tiles import unit_rows
from skfairfr.comparators._base import (
    Exported,
    identities_of,
    multiply_rows,
    unit_rows_of,
)
from skfairfr.utils._labels import encode, split_labels
from skfairfr.utils._types import Column
from skfairfr.utils._validation import (
    NeedsIdentities,
    validate_rows,
    warn_caller,
)


class UnitRowTransformer(
    Exported, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    """Linear map of embeddings between encoder and matcher.

    ``fit`` of a subclass reads its data by ``_read``. ``_map(rows)`` maps unit rows to rows
    of any length, as ``_matrix()`` does.
    """

    __metadata_request__fit = {"sensitive_features": True}  # noqa: RUF012

    def _read(self, X, reset=True):
        """X as unit rows, float32 (n_samples, n_features)."""
        floats = (np.float32, np.float64, np.float16)
        least = 2 if reset else 1
        return unit_rows_of(
            validate_rows(self, X, reset=reset, dtype=floats, ensure_min_features=least)
        )

    def transform(self, X: ArrayLike) -> np.ndarray:
        """Map embeddings.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
            Embeddings of the same encoder as in ``fit``, rows of any length.

        Returns
        -------
        Z : ndarray of float32, shape (n_samples, n_features)
            Unit rows: their dot products are cosines.

        Raises
        ------
        NotFittedError
            Before ``fit``.
        ValueError
            If X has another number of features, values that are not finite, or a row
            without direction, before or after the map.
        """
        check_is_fitted(self)
        return unit_rows(self._map(self._read(X, reset=False)), "cosine")

    def _exported(self):
        return {"kind": "linear", "matrix": self._matrix().astype(np.float32)}

    @property
    def _n_features_out(self):
        return self.n_features_in_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags


# ---- the span of the groups' means ---------------------------------------------------

# Length, relative to a unit row, at which rounding of float32 determines a direction.
ROUNDING = 1e-6


class GroupMeanRemover(UnitRowTransformer):
    """Remove from embeddings the span of the groups' means.

    A group whose members share a direction has impostors who resemble each other, hence a
    higher FAR. With the mean :math:`m_a` of the unit rows of each group :math:`a`, and an
    orthonormal basis :math:`D` of their span,

    .. math:: z = (x - D^\\top D x) / \\lVert x - D^\\top D x \\rVert

    Before they are scaled, the rows of every group have the mean zero. The span also contains
    the mean of all images, which does not separate groups: with two groups, two
    dimensions are removed, the difference of the means and what is common to both.

    Attributes
    ----------
    directions_ : ndarray of float64, shape (n_removed, n_features)
        Orthonormal basis of what is removed. There are fewer of them than groups where the
        means of some lie in the span of the others'.
    groups_ : ndarray, shape (n_groups,)
        Sorted labels of the groups whose means are removed, or empty where no groups were
        given.
    n_unknown_ : int
        Images of unknown group, which no mean counts.
    n_features_in_ : int
    feature_names_in_ : ndarray, shape (n_features,)

    See Also
    --------
    WithinClassWhitening : Lowers the directions in which images of a person differ.
    skfairfr.projectors.EthicalModule : A head that is trained.

    Notes
    -----
    Every image counts once, so a person with many images weighs more. The mean of a
    group of few images is mostly chance, and removing its direction takes away a direction
    in which people differ.

    References
    ----------
    .. [1] Bolukbasi, T., Chang, K.-W., Zou, J., Saligrama, V., & Kalai, A. (2016). Man is
       to Computer Programmer as Woman is to Homemaker? NeurIPS. Section 6, "neutralize",
       if one direction is removed from embeddings of words.

    Examples
    --------
    >>> from skfairfr import face_labels, make_face_embeddings
    >>> from skfairfr.comparators import GroupMeanRemover
    >>> faces = make_face_embeddings(100, n_features=16, random_state=0)
    >>> labels = face_labels(faces.y, faces.sensitive_features)
    >>> remover = GroupMeanRemover().fit(faces.X, labels)
    >>> remover.groups_, remover.directions_.shape
    (array(['female', 'male'], dtype='<U6'), (2, 16))
    """

    _parameter_constraints: dict = {}  # noqa: RUF012

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: ArrayLike,
        y: Column | None = None,
        sensitive_features: Column | None = None,
    ) -> Self:
        """Find the span of the groups' means.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
            Embeddings, rows of any length.
        y : array-like, shape (n_samples,), default=None
            :func:`~skfairfr.face_labels` with the group of each image. Identities alone
            are not used.
        sensitive_features : array-like, shape (n_samples,), default=None
            Group of each image. None or NaN is unknown. Without any, the mean of all
            images is removed, with a warning.

        Returns
        -------
        self : GroupMeanRemover

        Raises
        ------
        ValueError
            If the group of every image is unknown, the means span all features, or y or
            sensitive_features has another length than X.
        """
        rows = self._read(X)
        codes, self.groups_ = self._groups_of(y, sensitive_features, len(rows))
        self.n_unknown_ = int((codes < 0).sum())
        means = [
            rows[codes == k].mean(axis=0, dtype=np.float64)
            for k in range(max(1, self.groups_.size))
        ]
        _, strength, basis = np.linalg.svd(np.array(means), full_matrices=False)
        self.directions_ = basis[strength > ROUNDING]
        if len(self.directions_) == rows.shape[1]:
            raise ValueError(
                f"The means of {self.groups_.size} groups span all {rows.shape[1]} "
                "features of X, and nothing would be left. Merge groups in "
                "sensitive_features until they are fewer than the features."
            )
        return self

    def _groups_of(self, y, sensitive_features, n_samples):
        """Code of each image's group, -1 unknown, and the labels of groups."""
        group = sensitive_features
        if y is not None:
            # Identities are not used, and a y of other images is a mistake all the same.
            check_consistent_length(np.empty(n_samples), y)
            _, group, _ = split_labels(y, sensitive_features)
        if group is None:
            _warn_of_one_group("no groups")
            return np.zeros(n_samples, dtype=int), np.empty(0, dtype=object)
        labels = encode(
            group, "sensitive_features", n_samples=n_samples, allow_unknown=True
        )
        if not labels.values.size:
            raise ValueError(
                "sensitive_features is unknown (None or NaN) for every image. Pass the "
                "group of some."
            )
        if labels.values.size == 1:
            _warn_of_one_group(f"one group, {labels.values.tolist()[0]!r}")
        return labels.codes, labels.values

    def _map(self, rows):
        coordinates = multiply_rows(rows, self.directions_)
        left = rows - multiply_rows(coordinates, self.directions_.T)
        lengths = np.sqrt(np.einsum("ij,ij->i", left, left))
        lost = np.flatnonzero(lengths <= ROUNDING)
        if lost.size:
            raise ValueError(
                f"X has a row ({lost[0]}, {lost.size} in all) that lies in the span of the "
                "groups' means, and nothing of it is left. Remove failed extractions, or "
                "fit with fewer groups."
            )
        return left

    def _matrix(self):
        return np.eye(self.n_features_in_) - self.directions_.T @ self.directions_


def _warn_of_one_group(given):
    warn_caller(
        f"fit was given {given}: only the mean of all images is removed, and no difference "
        "between groups. Give sensitive_features with two groups, or "
        "y=face_labels(identity, group).",
        UserWarning,
    )


# ---- the covariance within people ----------------------------------------------------

# Rows that are widened to float64 at a time.
BLOCK = 4096
# Variance of unit rows, summed over features, below which there is rounding alone.
NO_VARIANCE = 1e-12


class WithinClassWhitening(NeedsIdentities, UnitRowTransformer):
    """Scale embeddings to make the images of a person vary equally in all directions.

    Within-class covariance normalisation (WCCN) [1]_: with the covariance :math:`W` of unit
    rows about the mean of their person, shrunk towards its mean variance by :math:`\\lambda`,

    .. math::
        W_\\lambda = (1 - \\lambda) W + \\lambda \\frac{\\operatorname{tr} W}{d} I,
        \\qquad z = W_\\lambda^{-1/2} x / \\lVert W_\\lambda^{-1/2} x \\rVert

    Nuisances that move the images of everybody along few directions, such as lighting, then
    decide less of the score. No group label is used. The root is the symmetric one: a
    rotation of the embeddings rotates the result, and with :math:`\\lambda = 1` unit rows
    stay as they are.

    Parameters
    ----------
    shrinkage : float in [0, 1], default=0.7
        :math:`\\lambda`. Above 0 it is needed wherever W is singular, as with fewer images
        than features. The fewer the images, the more of it.

    Attributes
    ----------
    whitening_ : ndarray of float64, shape (n_features, n_features)
        The symmetric root.
    n_identities_ : int
        People of two images or more, about whose means rows vary.
    n_left_out_ : int
        People with one image, who do not contribute to this covariance.
    n_features_in_ : int
    feature_names_in_ : ndarray, shape (n_features,)

    See Also
    --------
    PLDAComparator : Uses how people differ as well.
    GroupMeanRemover : Removes the directions of the groups' means.

    Notes
    -----
    W is pooled: all squares about the people's means, divided by the number of images less
    that of people. A person with many images weighs more.

    References
    ----------
    .. [1] Hatch, A. O., Kajarekar, S., & Stolcke, A. (2006). Within-class covariance
       normalization for SVM-based speaker recognition. Interspeech.

    Examples
    --------
    >>> from skfairfr import make_face_embeddings
    >>> from skfairfr.comparators import WithinClassWhitening
    >>> faces = make_face_embeddings(100, n_features=16, random_state=0)
    >>> whitening = WithinClassWhitening(shrinkage=0.2).fit(faces.X, faces.y)
    >>> whitening.transform(faces.X).shape == faces.X.shape, whitening.n_identities_
    (True, 100)
    """

    _parameter_constraints: dict = {"shrinkage": [Interval(Real, 0, 1, closed="both")]}  # noqa: RUF012

    def __init__(self, shrinkage: float = 0.7) -> None:
        self.shrinkage = shrinkage

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: ArrayLike, y: Column, sensitive_features: Column | None = None
    ) -> Self:
        """Learn how the images of a person vary.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
            Embeddings, rows of any length.
        y : array-like, shape (n_samples,)
            Identity of each image, or :func:`~skfairfr.face_labels`.
        sensitive_features : array-like, shape (n_samples,), default=None
            Not used, but accepted because searches pass groups to every step.

        Returns
        -------
        self : WithinClassWhitening

        Raises
        ------
        ValueError
            If nobody has two images, the images of everybody are equal, or the covariance
            is singular and ``shrinkage`` is 0.
        """
        rows = self._read(X)
        codes = identities_of(y, len(rows))
        within, _, n_images = covariance_within(rows, codes)
        within = shrink(within, self.shrinkage)
        variances, axes = np.linalg.eigh(within)
        check_positive(variances, self.shrinkage)
        self.whitening_ = (axes / np.sqrt(variances)) @ axes.T
        self.n_identities_ = int((n_images > 1).sum())
        self.n_left_out_ = int((n_images == 1).sum())
        return self

    def _map(self, rows):
        return multiply_rows(rows, self.whitening_)

    def _matrix(self):
        return self.whitening_


def covariance_within(rows, codes):
    """Covariance of images about the means of their people, pooled.

    Parameters
    ----------
    rows : ndarray of float32, shape (n_images, n_features)
    codes : ndarray of int, shape (n_images,)
        Identities, 0..n_identities - 1.

    Returns
    -------
    covariance : ndarray of float64, shape (n_features, n_features)
    means : ndarray of float64, shape (n_identities, n_features)
    n_images : ndarray of int, shape (n_identities,)

    Raises
    ------
    ValueError
        If nobody has two images that differ.
    """
    n_images = np.bincount(codes)
    if n_images.max() < 2:
        raise ValueError(
            f"Each of the {n_images.size} identities in y has 1 sample, but the variation within "
            "a person needs two samples of some. Pass more images of the same people."
        )
    order = np.argsort(codes, kind="stable")
    starts = np.cumsum(n_images) - n_images
    sums = np.add.reduceat(rows[order], starts, axis=0, dtype=np.float64)
    means = sums / n_images[:, None]
    squares = np.zeros((rows.shape[1],) * 2)
    for start in range(0, len(rows), BLOCK):
        part = slice(start, start + BLOCK)
        apart = rows[part] - means[codes[part]]
        squares += apart.T @ apart
    covariance = squares / (len(rows) - n_images.size)
    if np.trace(covariance) < NO_VARIANCE:
        raise ValueError(
            "The images of each identity in y are equal, so nothing varies within "
            "people. Pass different images of the same people."
        )
    return covariance, means, n_images


def shrink(covariance, shrinkage):
    """A mixture of a covariance and its mean variance in all directions."""
    n_features, shrinkage = len(covariance), float(shrinkage)
    even = np.eye(n_features) * (np.trace(covariance) / n_features)
    return (1 - shrinkage) * covariance + shrinkage * even


def check_positive(variances, shrinkage):
    """Raise if variances within people, in increasing order, say that one is zero."""
    if variances[0] <= variances[-1] * np.finfo(np.float32).eps:
        raise ValueError(
            f"shrinkage={shrinkage} leaves a direction in which the images of no person "
            f"vary (smallest variance {variances[0]:.3g}, largest {variances[-1]:.3g}), "
            "and it would dominate every score. Raise shrinkage, or pass more images."
        )
