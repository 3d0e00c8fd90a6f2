"""Error rates within each group, at one threshold.

``_disparities.py`` and ``_indices.py`` summarise their differences in one number.
"""

from dataclasses import dataclass

import numpy as np

from skfairfr._core._rates import share_accepted, share_rejected
from skfairfr.metrics._pairs._checks import (
    check_pair_groups,
    check_pairs,
    name_groups,
    split_by_group,
)
from skfairfr.utils._frames import Framed, framed, library_of
from skfairfr.utils._validation import check_threshold, warn_undefined


@dataclass(frozen=True)
class GroupErrorRates(Framed):
    """Error rates of each group at one threshold, from :func:`group_error_rates`.

    A pair belongs to a group when both its images do, so cross-group impostor pairs count
    for none.

    Attributes
    ----------
    groups : ndarray, shape (n_groups,)
        Sorted labels of the groups.
    far : ndarray, shape (n_groups,)
        Share of the group's impostor pairs accepted, in [0, 1]; lower is better. nan for
        a group without impostor pairs.
    frr : ndarray, shape (n_groups,)
        Share of the group's genuine pairs rejected, in [0, 1]; lower is better. nan for a
        group without genuine pairs.
    n_impostor : ndarray of int, shape (n_groups,)
        Number of impostor pairs within each group.
    n_genuine : ndarray of int, shape (n_groups,)
        Number of genuine pairs within each group.
    threshold : float
        Similarity from which on a pair is accepted, the same for all groups.

    Raises
    ------
    dataclasses.FrozenInstanceError
        If an attribute is assigned to.

    See Also
    --------
    group_error_rates : Returns it.

    References
    ----------
    .. [1] Conti, J.-R., & Clémençon, S. (2024). Assessing Uncertainty in Similarity
       Scoring: Performance & Fairness in Face Recognition. ICLR. Section 2.2, with the
       empirical rates of eq. (2)-(3).

    Examples
    --------
    >>> from skfairfr.metrics import group_error_rates
    >>> rates = group_error_rates([0, 0, 1, 1], [0.7, 0.2, 0.9, 0.3],
    ...     sensitive_features=["f", "m", "f", "m"], threshold=0.5)
    >>> dict(zip(rates.groups.tolist(), rates.far.tolist()))
    {'f': 1.0, 'm': 0.0}
    """

    groups: np.ndarray
    far: np.ndarray
    frr: np.ndarray
    n_impostor: np.ndarray
    n_genuine: np.ndarray
    threshold: float

    def _columns(self):
        """One row for each group, all with the threshold."""
        columns = super()._columns()
        return {"group": columns.pop("groups"), **columns}


def group_error_rates(y_true, y_score, *, sensitive_features, threshold):
    """False acceptance and false rejection rate within each group, at one threshold.

    Parameters
    ----------
    y_true : array-like of {0, 1} or bool, shape (n_pairs,)
        1 for a genuine pair, 0 for an impostor pair.
    y_score : array-like of float, shape (n_pairs,)
        Similarity of each pair; larger is more alike.
    sensitive_features : array-like, shape (n_pairs,) or (n_pairs, 2)
        Group of both images, or of each image. A pair is in a group when both images
        are; None and NaN are unknown, in no group.
    threshold : float
        A pair is accepted when its score is at least this; +-inf are allowed.

    Returns
    -------
    rates : GroupErrorRates
        With the arrays ``groups``, ``far``, ``frr``, ``n_impostor`` and ``n_genuine``, of
        shape (n_groups,), and ``threshold``. Rates lie in [0, 1]; lower is better.

    Raises
    ------
    ValueError
        If ``threshold`` is not one number, no pair has a known group, or the pairs are
        not as described above.

    Warns
    -----
    UndefinedMetricWarning
        If a group has no impostor pair (its ``far`` is nan) or no genuine pair (``frr``).

    See Also
    --------
    threshold_at_far : The threshold that meets a FAR level.
    far_disparity, frr_disparity : One number for how the rates differ.

    References
    ----------
    .. [1] Conti, J.-R., & Clémençon, S. (2024). Assessing Uncertainty in Similarity
       Scoring: Performance & Fairness in Face Recognition. ICLR. Section 2.2, with the
       empirical rates of eq. (2)-(3).

    Examples
    --------
    >>> from skfairfr.metrics import group_error_rates
    >>> rates = group_error_rates([0, 0, 0, 1, 1], [0.7, 0.2, 0.6, 0.9, 0.3],
    ...     sensitive_features=[["f", "f"], ["m", "m"], ["f", "m"], ["f", "f"], ["m", "m"]],
    ...     threshold=0.5)
    >>> rates.far.tolist(), rates.frr.tolist(), rates.n_impostor.tolist()
    ([1.0, 0.0], [0.0, 1.0], [1, 1])
    """
    threshold = check_threshold(threshold)
    if threshold.ndim != 0:
        raise ValueError(f"threshold must be one number; got {threshold.tolist()!r}.")
    is_genuine, scores = check_pairs(y_true, y_score)
    labels = check_pair_groups(sensitive_features, len(scores))
    by_group = split_by_group(is_genuine, scores, labels)
    far = np.array([float(share_accepted(p.impostor, threshold)) for p in by_group])
    frr = np.array([float(share_rejected(p.genuine, threshold)) for p in by_group])
    for kind, name, rates in (("impostor", "FAR", far), ("genuine", "FRR", frr)):
        without = labels.values[np.isnan(rates)]
        if len(without):
            warn_undefined(
                f"No {kind} pair in {name_groups(without)}: {name} is undefined there "
                "and set to nan."
            )
    n_impostor = np.array([p.impostor.size for p in by_group])
    n_genuine = np.array([p.genuine.size for p in by_group])
    rates = GroupErrorRates(
        labels.values, far, frr, n_impostor, n_genuine, float(threshold)
    )
    return framed(rates, library_of(y_true, y_score, sensitive_features))
