"""Probabilistic linear discriminant analysis: a log-likelihood ratio of two embeddings."""

from __future__ import annotations

from numbers import Real
from typing import Self

import numpy as np
from numba import njit
from numpy.typing import ArrayLike
from scipy.linalg import eigh

from skfairfr._compat import Interval, fit_context
from skfairfr._core._adjustments import Adjustment
from skfairfr._core._pair_tiles import PreparedImages
from skfairfr.comparators._base import (
    Comparator,
    identities_of,
    multiply_rows,
    unit_rows_of,
)
from skfairfr.comparators._linear import check_positive, covariance_within, shrink
from skfairfr.utils._types import Column
from skfairfr.utils._validation import NeedsIdentities, validate_rows


class PLDAComparator(NeedsIdentities, Comparator):
    """Score pairs by the log-likelihood ratio of two-covariance PLDA.

    An image is its person and what varies between images of the person,
    :math:`x = m + y + e` with :math:`y \\sim N(0, B)` and :math:`e \\sim N(0, W)` [1]_. The
    score of two images is

    .. math::
        \\log \\frac{p(x_1, x_2 \\mid \\text{one person})}
                   {p(x_1 \\mid \\text{anybody}) \\, p(x_2 \\mid \\text{anybody})}

    Larger is more similar, and values above 0 favour one person. In coordinates u in
    which :math:`W = I` and :math:`B = \\operatorname{diag}(b)` it is a sum over dimensions,

    .. math::
        \\sum_k \\frac{b_k}{1 + 2 b_k} \\left[ u_{1k} u_{2k}
        - \\frac{b_k}{2 (1 + b_k)} (u_{1k}^2 + u_{2k}^2) \\right]
        + \\log(1 + b_k) - \\tfrac{1}{2} \\log(1 + 2 b_k)

    an inner product, and one number for each image. No group label is used.

    Parameters
    ----------
    shrinkage : float in [0, 1], default=0.7
        Share by which both covariances move towards their mean variance in all directions.
        More is used for fewer people and images. 1 gives all directions equal weight.

    Attributes
    ----------
    mean_ : ndarray of float64, shape (n_features,)
        Mean of the people's means.
    components_ : ndarray of float64, shape (n_components, n_features)
        ``(x - mean_) @ components_.T`` are the coordinates u of a unit row x.
    variances_ : ndarray of float64, shape (n_components,)
        The variance b between people of each coordinate, in units of that within people.
        Above 0, decreasing.
    n_without_variance_ : int
        Directions left out because people differ no more along them than images of one
        person let expect, b <= 0: they say nothing about who it is.
    n_identities_ : int
    n_features_in_ : int
    feature_names_in_ : ndarray, shape (n_features,)

    See Also
    --------
    WithinClassWhitening : The within-class covariance alone, in front of a cosine.

    Notes
    -----
    Rows are scaled to unit length first. W is pooled: all squares about the people's means,
    divided by the number of images less that of people. B is the covariance of the people's
    means, each counted once whatever its number of images, less W times the mean of one
    over that number. Their expectations are W and B. The estimate of B can have negative
    variances, which shrinkage raises. Directions in which they stay are counted and left
    out. Beside cosines these scores are on another scale, and thresholds must be set again.

    References
    ----------
    .. [1] Brümmer, N., & de Villiers, E. (2010). The speaker partitioning problem. Odyssey.
    .. [2] Ioffe, S. (2006). Probabilistic linear discriminant analysis. ECCV.

    Examples
    --------
    >>> from skfairfr import SimilarityROC, make_face_embeddings
    >>> from skfairfr.comparators import PLDAComparator
    >>> faces = make_face_embeddings(200, n_features=16, random_state=0)
    >>> seen = faces.y < 100
    >>> plda = PLDAComparator().fit(faces.X[seen], faces.y[seen])
    >>> X, y = faces.X[~seen], faces.y[~seen]
    >>> roc = SimilarityROC(similarity=plda, random_state=0)
    >>> roc.fit(X, y, faces.sensitive_features[~seen]).n_features_in_
    16
    """

    _parameter_constraints: dict = {"shrinkage": [Interval(Real, 0, 1, closed="both")]}  # noqa: RUF012

    returns_llr = True

    def __init__(self, shrinkage: float = 0.7) -> None:
        self.shrinkage = shrinkage

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: ArrayLike, y: Column, sensitive_features: Column | None = None
    ) -> Self:
        """Learn how people differ, and how the images of a person do.

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
        self : PLDAComparator

        Raises
        ------
        ValueError
            If there is one identity, nobody has two images, the images of everybody are
            equal, people differ no more than images of one person, or the covariance
            within people is singular and ``shrinkage`` is 0.
        """
        X = validate_rows(
            self, X, dtype=(np.float32, np.float64), ensure_min_features=2
        )
        rows = unit_rows_of(X)
        codes = identities_of(y, len(rows))
        if codes.max() < 1:
            raise ValueError(
                "y contains one identity (1 class), but differences between people need several. "
                "Pass the images of more people."
            )
        between, within, mean = covariances_of(rows, codes)
        within, between = (shrink(c, self.shrinkage) for c in (within, between))
        check_positive(np.linalg.eigvalsh(within), self.shrinkage)
        # Axes v with v' W v = 1 and v' B v = b.
        variances, axes = eigh(between, within)
        kept = variances > 0
        if not kept.any():
            raise ValueError(
                "The identities in y differ no more than the images of one, in any "
                "direction. Check that y belongs to the rows of X, or pass more people."
            )
        self.mean_ = mean
        self.components_ = axes[:, kept].T[::-1].copy()
        self.variances_ = variances[kept][::-1].copy()
        self.n_without_variance_ = int((~kept).sum())
        self.n_identities_ = int(codes.max()) + 1
        return self

    def _prepare(self, X, sensitive_features):
        rows = unit_rows_of(X) - self.mean_.astype(np.float32)
        matrix, weights, half = self._arrays()
        vectors = multiply_rows(rows, matrix)
        offset = _weighted_squares(vectors, weights) - half
        return PreparedImages(vectors, Adjustment.shifted(offset))

    def _arrays(self):
        """Matrix of vectors, weights of their squares, half of the constant."""
        b = self.variances_
        # The inner product of rows scaled by these roots is the bilinear part.
        scale = np.sqrt(b / (1 + 2 * b))
        half = (np.log1p(b) - np.log1p(2 * b) / 2).sum() / 2
        matrix = (scale[:, None] * self.components_).astype(np.float32)
        return matrix, b / (2 * (1 + b)), half

    def _exported(self):
        matrix, weights, half = self._arrays()
        mean = self.mean_.astype(np.float32)
        arrays = {"mean": mean, "matrix": matrix, "weights": weights}
        return {"kind": "plda", "half_constant": half, **arrays}


def covariances_of(rows, codes):
    """Covariances between and within people, and the mean of the people's means.

    Parameters
    ----------
    rows : ndarray, shape (n_images, n_features)
    codes : ndarray of int, shape (n_images,)
        Identities, 0..n_identities - 1. At least two of them.

    Returns
    -------
    between, within : ndarrays of float64, shape (n_features, n_features)
        Estimates by moments, whose expectations are B and W. The first may have negative
        variances.
    mean : ndarray of float64, shape (n_features,)
    """
    within, means, n_images = covariance_within(rows, codes)
    # The means vary with their people, and with the few images that each is made of.
    between = np.cov(means, rowvar=False) - within * (1 / n_images).mean()
    return between, within, means.mean(axis=0)


@njit(nogil=True, cache=True)
def _weighted_squares(rows, weights):
    """Weighted sum of squares of each row, in one order whatever the rows next to it."""
    sums = np.zeros(len(rows))
    for i in range(len(rows)):
        for k in range(weights.size):
            sums[i] += weights[k] * np.float64(rows[i, k]) ** 2
    return sums
