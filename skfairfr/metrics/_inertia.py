"""Spread of the images of each identity, by group.

The display lives in ``_plot/_embeddings.py``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from skfairfr.metrics._pairs._all_pairs import _unit_rows
from skfairfr.utils._frames import Framed, framed, library_of
from skfairfr.utils._labels import label_images
from skfairfr.utils._types import Column, Columns
from skfairfr.utils._validation import check_count, check_rows, warn_caller


@dataclass(frozen=True)
class IdentityInertia(Framed):
    """Spread of the images of each identity, from :func:`identity_inertia`.

    Attributes
    ----------
    identities : ndarray, shape (n_identities,)
        Sorted labels of the identities with enough images.
    groups : ndarray, shape (n_identities,)
        Group of each identity, or None where unknown, or where its images disagree.
    inertia : ndarray, shape (n_identities,)
        Mean squared distance of its unit embeddings to their direction, in [0, 2]. Lower
        is better: images more similar, so fewer false rejections.
    n_images : ndarray of int, shape (n_identities,)
        Number of images.

    Raises
    ------
    dataclasses.FrozenInstanceError
        If an attribute is assigned to.

    See Also
    --------
    identity_inertia : Returns it.

    Examples
    --------
    >>> from skfairfr.metrics import identity_inertia
    >>> from skfairfr import make_face_embeddings
    >>> data = make_face_embeddings(n_identities=200, random_state=0)
    >>> found = identity_inertia(data.X, data.y, sensitive_features=data.sensitive_features)
    >>> {g: round(float(found.inertia[found.groups == g].mean()), 3) for g in ("female", "male")}
    {'female': 0.467, 'male': 0.439}
    """

    identities: np.ndarray
    groups: np.ndarray
    inertia: np.ndarray
    n_images: np.ndarray

    def _columns(self):
        """One row for each identity."""
        return {
            "identity": self.identities,
            "group": self.groups,
            "inertia": self.inertia,
            "n_images": self.n_images,
        }


def identity_inertia(
    X: ArrayLike,
    y: Columns,
    *,
    sensitive_features: Column | None = None,
    min_images: int = 2,
) -> IdentityInertia:
    r"""Spread of the unit embeddings of each identity about their own direction.

    With unit embeddings :math:`z_1, \dots, z_n` of one identity, their mean
    :math:`\bar z` and its direction :math:`\mathfrak z = \bar z / \|\bar z\|`, the
    inertia is the equation of Appendix E of [1]_ (unnumbered; Fig. 13-14),

    .. math:: I = \frac{1}{n} \sum_{i=1}^n \|z_i - \mathfrak z\|^2 = 2 (1 - \|\bar z\|).

    If the images of one group's identities are more spread than those of another's, the
    genuine scores are lower and the frr higher.

    Parameters
    ----------
    X : array-like, shape (n_samples, n_features)
        Embeddings. Rows need not have unit length.
    y : array-like, shape (n_samples,), or frame
        Identity of each image. Labels of any type. Or the result of
        :func:`~skfairfr.face_labels`, or a frame with the column ``identity`` and
        perhaps ``group``.
    sensitive_features : array-like, shape (n_samples,) or (n_samples, n_attributes), default=None
        Group of each image. None and NaN are unknown. An identity has the group that its
        images of known group agree on. If they disagree, as they may on age, it has
        none.
    min_images : int, at least 2, default=2
        Identities with fewer images are left out.

    Returns
    -------
    inertias : IdentityInertia
        With the arrays ``identities``, ``groups``, ``inertia`` in [0, 2] (lower is
        better) and ``n_images``, each of shape (n_identities,).

    Raises
    ------
    ValueError
        If X is not a finite array, a row is zero, the lengths differ, an identity is
        missing, or no identity has ``min_images`` images.

    Warns
    -----
    UserWarning
        If the images of an identity disagree on the group.

    See Also
    --------
    IdentityInertiaDisplay : Draws its distribution by group.

    Notes
    -----
    A mean lies closest to the points it is the mean of: of n images about one centre, the
    inertia is about 1 - 1/n of what it would be about the true direction, which is half
    of it for two images. Compare groups at like numbers of images, or take ``min_images``
    large. [1]_ takes 100.

    References
    ----------
    .. [1] Conti, J.-R., et al. (2022). Mitigating Gender Bias in Face Recognition Using
       the von Mises-Fisher Mixture Model. ICML. Appendix E, Fig. 13-14.

    Examples
    --------
    >>> from skfairfr.metrics import identity_inertia
    >>> X = [[1.0, 0.0], [0.0, 1.0], [3.0, 4.0], [3.0, 4.0], [1.0, 0.0]]
    >>> found = identity_inertia(X, ["ann", "ann", "bob", "bob", "eve"])
    >>> dict(zip(found.identities.tolist(), found.inertia.round(3).tolist()))
    {'ann': 0.586, 'bob': 0.0}
    """
    min_images = check_count(min_images, "min_images", 2)
    library = library_of(X, y, sensitive_features)
    X = check_rows(X, dtype=np.float64, input_name="X")
    identity, group, _ = label_images(
        y, sensitive_features, None, len(X), fields=("identity", "group")
    )
    groups = _groups_of_identities(group, identity)
    n_images = np.bincount(identity.codes, minlength=len(identity.values))
    kept = n_images >= min_images
    if not kept.any():
        raise ValueError(
            f"No identity has min_images={min_images} images; the most that one has is "
            f"{n_images.max()}. Lower min_images."
        )
    rows = kept[identity.codes]
    codes = (np.cumsum(kept) - 1)[identity.codes[rows]]
    inertia = _inertias(_unit_rows(X[rows]), codes, int(kept.sum()))
    found = IdentityInertia(
        identity.values[kept], groups[kept], inertia, n_images[kept]
    )
    return framed(found, library)


def _inertias(unit, codes, n_identities):
    """Inertia (n_identities,) of unit rows about the direction of their mean."""
    n_images = np.bincount(codes, minlength=n_identities)
    # One row of ones for each identity: the product sums the rows of its images.
    ones = (np.ones(len(codes)), (codes, np.arange(len(codes))))
    member = csr_array(ones, shape=(n_identities, len(codes)))
    means = (member @ unit) / n_images[:, None]
    deviations = np.square(unit - means[codes]).sum(axis=1)
    variance = np.bincount(codes, weights=deviations) / n_images
    # 2 (1 - |m|) = 2 (1 - |m|^2) / (1 + |m|), and 1 - |m|^2 is the variance: no
    # cancellation for alike images, no direction needed where the mean is zero.
    return 2 * variance / (1 + np.linalg.norm(means, axis=1))


def _groups_of_identities(group, identity):
    """Label (n_identities,) that images agree on, or None where unknown or in dispute."""
    n_identities = len(identity.values)
    labels = np.full(n_identities, None, dtype=object)
    if group is None:
        return labels
    known = group.codes >= 0
    lowest = np.full(n_identities, len(group.values))
    highest = np.full(n_identities, -1)
    np.minimum.at(lowest, identity.codes[known], group.codes[known])
    np.maximum.at(highest, identity.codes[known], group.codes[known])
    agreed = lowest == highest
    labels[agreed] = group.values[lowest[agreed]]
    disputed = identity.values[lowest < highest]
    if disputed.size:
        warn_caller(
            f"The images of {disputed.size} identities disagree on the group, those of "
            f"{str(disputed[0])!r} among them: such identities are given no group.",
            UserWarning,
        )
    return labels
