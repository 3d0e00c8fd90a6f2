"""GroupMeanRemover: embeddings without the directions in which the groups' means lie."""

import numpy as np
from sklearn.utils.validation import check_consistent_length

from skfairfr._compat import fit_context
from skfairfr.comparators._rows import multiply_rows
from skfairfr.comparators._transformer import UnitRowTransformer
from skfairfr.utils._labels import encode, split_labels
from skfairfr.utils._validation import warn_caller

# Lengths beside that of a unit row at which the rounding of float32 decides a direction.
ROUNDING = 1e-6


class GroupMeanRemover(UnitRowTransformer):
    """Remove from embeddings the span of the groups' means.

    A group whose members share a direction has impostors who resemble each other, hence a
    higher FAR. With the mean :math:`m_a` of the unit rows of each group :math:`a`, and an
    orthonormal basis :math:`D` of their span,

    .. math:: z = (x - D^\\top D x) / \\lVert x - D^\\top D x \\rVert

    Before they are scaled, the rows of every group have the mean zero. The span also holds
    the mean of all images, which tells no group from another: with two groups, two
    dimensions are removed, the difference of the means and what is common to both.

    Attributes
    ----------
    directions_ : ndarray of float64, shape (n_removed, n_features)
        Orthonormal basis of what is removed. There are fewer of them than groups where the
        means of some lie in the span of the others'.
    groups_ : ndarray, shape (n_groups,)
        Sorted labels of the groups whose means are removed; empty where no groups were
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
    Every image counts once, so that a person of many images weighs more. The mean of a
    group of few images is mostly chance, and removing its direction takes away a direction
    in which people differ.

    References
    ----------
    .. [1] Bolukbasi, T., Chang, K.-W., Zou, J., Saligrama, V., & Kalai, A. (2016). Man is
       to Computer Programmer as Woman is to Homemaker? NeurIPS. Section 6, "neutralize",
       where one direction is removed from embeddings of words.

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
    def fit(self, X, y=None, sensitive_features=None):
        """Find the span of the groups' means.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
            Embeddings, rows of any length.
        y : array-like, shape (n_samples,), default=None
            :func:`~skfairfr.face_labels` with the group of each image; identities alone
            are not used.
        sensitive_features : array-like, shape (n_samples,), default=None
            Group of each image; None or NaN is unknown. Without any, the mean of all
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
                "features of X, and nothing would be left; merge groups in "
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
                "sensitive_features is unknown (None or NaN) for every image; give the "
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
                "groups' means, and nothing of it is left; remove failed extractions, or "
                "fit with fewer groups."
            )
        return left


def _warn_of_one_group(given):
    warn_caller(
        f"fit was given {given}: only the mean of all images is removed, and no difference "
        "between groups. Give sensitive_features with two groups, or "
        "y=face_labels(identity, group).",
        UserWarning,
    )
