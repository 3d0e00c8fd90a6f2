"""Results about searches: ranks of mates, FPIRs of groups, and who is alarmed for whom."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skfairfr.utils._frames import Framed


@dataclass(frozen=True)
class CMC(Framed):
    """Cumulative match characteristic: how often the mate is among the first.

    Attributes
    ----------
    ranks : ndarray of int, shape (n_ranks,)
    value, low, high : ndarrays, shape (n_ranks,)
        Share of the mated searches whose mate fewer than ``rank`` others reach, in [0, 1],
        higher being better, with its interval for new people.
    n_searches : int
        Mated searches.

    Raises
    ------
    dataclasses.FrozenInstanceError
        If an attribute is assigned to.

    See Also
    --------
    IdentificationROC.cmc : Returns it.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairfr import IdentificationROC, make_face_embeddings
    >>> data = make_face_embeddings(400, images_per_identity=3, random_state=0)
    >>> gallery = np.unique(data.y, return_index=True)[1][::2]
    >>> probes = np.setdiff1d(np.arange(len(data.y)), gallery)
    >>> roc = IdentificationROC(random_state=0).fit(
    ...     data.X[probes], data.y[probes], data.sensitive_features[probes],
    ...     X_gallery=data.X[gallery], y_gallery=data.y[gallery],
    ... )
    >>> roc.cmc([1, 5, 20]).value.round(3)
    array([0.955, 0.988, 0.995])
    """

    ranks: np.ndarray
    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    n_searches: int


@dataclass(frozen=True)
class GroupFPIRMatrix(Framed):
    """FPIR of the searches of each group, by the group of the person returned.

    Attributes
    ----------
    groups : ndarray, shape (n_groups,)
        Labels of rows, those of probes, and of columns, those of people returned.
    fpir : ndarray, shape (n_groups, n_groups)
        Share of all non-mated searches of the row's group that return, first, a person of
        the column's, in [0, 1], lower is better. A row adds up to the FPIR of its group, less
        those that return people of unknown group, or nan without a search.
    low, high : ndarrays, shape (n_groups, n_groups)
        Ends of the interval, for new people who search.
    n_nonmated : ndarray of int, shape (n_groups,)
        Searches of each row.

    Raises
    ------
    dataclasses.FrozenInstanceError
        If an attribute is assigned to.

    See Also
    --------
    IdentificationROC.fpir_matrix : Returns it.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairfr import IdentificationROC, make_face_embeddings
    >>> data = make_face_embeddings(400, images_per_identity=3, random_state=0)
    >>> gallery = np.unique(data.y, return_index=True)[1][::2]
    >>> probes = np.setdiff1d(np.arange(len(data.y)), gallery)
    >>> roc = IdentificationROC(random_state=0).fit(
    ...     data.X[probes], data.y[probes], data.sensitive_features[probes],
    ...     X_gallery=data.X[gallery], y_gallery=data.y[gallery],
    ...     sensitive_features_gallery=data.sensitive_features[gallery],
    ... )
    >>> matrix = roc.fpir_matrix(1e-1)
    >>> matrix.groups
    array(['female', 'male'], dtype='<U6')
    >>> matrix.fpir.round(3)
    array([[0.086, 0.052],
           [0.01 , 0.069]])
    """

    groups: np.ndarray
    fpir: np.ndarray
    low: np.ndarray
    high: np.ndarray
    n_nonmated: np.ndarray

    def _columns(self):
        """One row for each cell, the groups of the probes changing slowest."""
        n_groups = len(self.groups)
        return {
            "probe_group": np.repeat(self.groups, n_groups),
            "returned_group": np.tile(self.groups, n_groups),
            **{name: np.ravel(getattr(self, name)) for name in ("fpir", "low", "high")},
            "n_nonmated": np.repeat(self.n_nonmated, n_groups),
        }


@dataclass(frozen=True)
class GalleryAlarms(Framed):
    """Which enrolled people false alarms return, those with the most first.

    Attributes
    ----------
    identity : ndarray, shape (n_people,)
        Enrolled people whom some false alarm returns first.
    group : ndarray, shape (n_people,)
        Theirs, or None where it is unknown.
    n_alarms : ndarray of int, shape (n_people,)
        False alarms that return each.
    n_searchers : ndarray of int, shape (n_people,)
        Different people whose searches these are.
    p_value : ndarray, shape (n_people,)
        Of so many of them, if every false alarm of a person returned anyone enrolled with one
        probability. Times the number enrolled, at most 1.
    share : ndarray, shape (n_people,)
        Of all false alarms, in (0, 1]; without these people other candidates may still alarm.

    Raises
    ------
    dataclasses.FrozenInstanceError
        If an attribute is assigned to.

    See Also
    --------
    IdentificationROC.alarms : Returns it.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairfr import IdentificationROC, make_face_embeddings
    >>> data = make_face_embeddings(400, images_per_identity=3, random_state=0)
    >>> gallery = np.unique(data.y, return_index=True)[1][::2]
    >>> probes = np.setdiff1d(np.arange(len(data.y)), gallery)
    >>> roc = IdentificationROC(random_state=0).fit(
    ...     data.X[probes], data.y[probes], data.sensitive_features[probes],
    ...     X_gallery=data.X[gallery], y_gallery=data.y[gallery],
    ... )
    >>> found = roc.alarms(1e-1)
    >>> found.n_alarms[:3].tolist(), found.share[:3].round(3).tolist()
    ([4, 3, 2], [0.067, 0.05, 0.033])
    """

    identity: np.ndarray
    group: np.ndarray
    n_alarms: np.ndarray
    n_searchers: np.ndarray
    p_value: np.ndarray
    share: np.ndarray
