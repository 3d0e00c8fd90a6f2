"""WithinClassWhitening: directions in which images of one person differ count less.

Also the covariance within people, and its shrinkage, for the module of PLDA.
"""

from numbers import Real

import numpy as np

from skfairfr._compat import Interval, fit_context
from skfairfr.comparators._rows import NeedsIdentities, identities_of, multiply_rows
from skfairfr.comparators._transformer import UnitRowTransformer

# Rows that are widened to float64 at a time.
BLOCK = 4096
# Variance of unit rows, summed over features, below which there is rounding alone.
NO_VARIANCE = 1e-12


class WithinClassWhitening(NeedsIdentities, UnitRowTransformer):
    """Scale embeddings so that the images of a person vary alike in all directions.

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
        than features; the fewer the images, the more of it.

    Attributes
    ----------
    whitening_ : ndarray of float64, shape (n_features, n_features)
        The symmetric root.
    n_identities_ : int
        People of two images or more, about whose means rows vary.
    n_left_out_ : int
        People of one image, which tell nothing of this covariance.
    n_features_in_ : int
    feature_names_in_ : ndarray, shape (n_features,)

    See Also
    --------
    PLDAComparator : Uses how people differ as well.
    GroupMeanRemover : Removes the directions of the groups' means.

    Notes
    -----
    W is pooled: all squares about the people's means, divided by the number of images less
    that of people, so that a person of many images weighs more.

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

    def __init__(self, shrinkage=0.7):
        self.shrinkage = shrinkage

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sensitive_features=None):
        """Learn how the images of a person vary.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
            Embeddings, rows of any length.
        y : array-like, shape (n_samples,)
            Identity of each image, or :func:`~skfairfr.face_labels`.
        sensitive_features : array-like, shape (n_samples,), default=None
            Not used; present so that searches can pass groups to every step.

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
            f"Each of the {n_images.size} identities in y has 1 sample, and how the images "
            "of a person vary takes two of some; give more images of the same people."
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
            "The images of each identity in y are equal, so that nothing varies within "
            "people; give different images of the same people."
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
            "and it would decide every score; raise shrinkage, or give more images."
        )
