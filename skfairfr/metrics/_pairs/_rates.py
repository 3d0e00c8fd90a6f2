"""Error rates of scored pairs, as scikit-learn's metrics read.

``y_true`` is 1 for a genuine pair and 0 for an impostor pair, ``y_score`` a similarity.
A pair is accepted when its score is at least the threshold (``_core/_rates.py``). Rates
within groups at one threshold are here too, intervals in ``SimilarityROC``. All metrics on pairs
share the first part: what their arguments may be, which pairs belong to a group, and the
threshold of each group at the three operating points.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from skfairfr._core._rates import (
    count_at_least,
    equal_error,
    exceeds,
    first_exceeding,
    next_above,
    share_accepted,
    share_rejected,
    threshold_at,
)
from skfairfr.utils._bands import check_groups
from skfairfr.utils._frames import Framed, framed, library_of
from skfairfr.utils._labels import Labels, check_length, encode_joined, to_columns
from skfairfr.utils._types import Column
from skfairfr.utils._validation import (
    check_level,
    check_no_diagonal,
    check_option,
    check_scores,
    check_threshold,
    plain,
    to_array,
    warn_caller,
    warn_undefined,
)

# Scores look reversed if the share of genuine scores above impostor ones is this many
# standard deviations (of independent pairs without any difference) below one half.
CHANCE = 2.0
# Scores carry next to no information if that share is at most this far from one half.
NO_INFORMATION = 0.05
# Scores of a group surely carry some if its share exceeds one half by this much, and by this
# many standard deviations: pairs of few people are far from independent.
SURE_SHARE, SURE = 0.2, 5.0


class ReversedScoresWarning(UserWarning):
    """Genuine scores lie below impostor ones, as distances do, or hardly above them.

    Issued by :meth:`SimilarityROC.fit_pairs <skfairfr.metrics.SimilarityROC.fit_pairs>`
    where chance alone would rarely put them there (``code`` "reversed_scores"), or where the
    area under the ROC curve of genuine against impostor scores is within 0.05 of one half
    ("uninformative_scores"), or all scores are equal ("equal_scores"), not if a group's
    genuine scores are surely larger. Audits and comparisons of embeddings look for the
    latter two too. Audits and comparisons of logs issue it if over half of the genuine
    attempts are rejected ("mostly_rejected").
    """


class SplitScores(NamedTuple):
    """Descending scores of some genuine and impostor pairs: all, or those of a group."""

    genuine: np.ndarray
    impostor: np.ndarray


def check_pairs(y_true, y_score):
    """Which pairs are genuine, bool (n_pairs,), and their scores, float (n_pairs,)."""
    is_genuine = _check_y_true(y_true)
    scores = check_scores(y_score, "y_score")
    if len(is_genuine) != len(scores):
        raise ValueError(
            f"y_true has {len(is_genuine)} pairs but y_score has {len(scores)}. Pass "
            "one of each for every pair."
        )
    if len(scores) == 0:
        raise ValueError("y_true and y_score are empty. Pass at least one pair.")
    check_no_diagonal(is_genuine, scores)
    return is_genuine, scores


def check_pair_groups(sensitive_features, n_pairs):
    """The groups of the data and each pair's group: that of both images, else -1.

    Parameters
    ----------
    sensitive_features : array-like, shape (n_pairs,) or (n_pairs, 2)
        The group of both images, or of each image. None and NaN are unknown.
    n_pairs : int

    Returns
    -------
    labels : Labels
        ``values`` (n_groups,) sorted. ``codes`` (n_pairs,), -1 for a pair in no group.
    """
    name = "sensitive_features"
    if sensitive_features is None:
        raise ValueError(f"{name} must give the group of each pair, got None.")
    columns = [*to_columns(sensitive_features, name).values()]
    if len(columns) > 2:
        raise ValueError(
            f"{name} must have the shape (n_pairs,), the group of both images, or "
            f"(n_pairs, 2), the group of each, got {len(columns)} columns."
        )
    check_length(columns[0], n_pairs, name, "y_score")
    # Encoded as one column: a label has the same code on both sides.
    joint = encode_joined(columns, name, allow_unknown=True)
    check_groups(joint, name)
    if joint.values.size == 0:
        raise ValueError(
            f"{name} has no known group: every label is None or NaN. Give the group of "
            "some pairs at least."
        )
    codes = joint.codes.reshape(len(columns), n_pairs)
    return Labels(joint.values, np.where(codes[0] == codes[-1], codes[0], -1))


def split_pairs(is_genuine, scores):
    """All pairs, split into genuine and impostor."""
    return SplitScores(
        _descending(scores[is_genuine]), _descending(scores[~is_genuine])
    )


def split_by_group(is_genuine, scores, labels):
    """The pairs of each group, in the order of ``labels.values``."""
    members = [labels.codes == code for code in range(len(labels.values))]
    return [split_pairs(is_genuine[m], scores[m]) for m in members]


def check_single_level(far):
    """One FAR level in (0, 1), as a float."""
    level = check_level(far)
    if level.ndim != 0:
        raise ValueError(f"far must be one number in (0, 1), got {plain(far)!r}.")
    return float(level)


def check_single_threshold(threshold):
    """One threshold, not NaN, as a float."""
    found = check_threshold(threshold)
    if found.ndim != 0:
        raise ValueError(f"threshold must be one number, got {found.tolist()!r}.")
    return float(found)


def operating_thresholds(overall, by_group, groups, *, far, operating_point):
    """The threshold at which each group operates. Warns of undefined and coarse ones.

    Parameters
    ----------
    overall : SplitScores
        All the pairs, cross-group ones included.
    by_group : list of SplitScores, length n_groups
        The pairs of each group.
    groups : ndarray, shape (n_groups,)
        The groups' labels, for messages.
    far : float in (0, 1)
    operating_point : {"overall", "worst_group", "group"}

    Returns
    -------
    thresholds : ndarray, shape (n_groups,)
        All equal except with "group", or nan without an impostor pair.
    """
    if operating_point == "overall":
        if overall.impostor.size == 0:
            warn_undefined(
                f"No impostor pair in y_true: the threshold at far={far:g} is undefined "
                "and set to nan. Add impostor pairs (y_true = 0)."
            )
        _warn_unresolved(far, [overall], ["all pairs"])
        return np.full(len(by_group), _threshold(overall.impostor, far))
    without = [pairs.impostor.size == 0 for pairs in by_group]
    if any(without):
        purpose = "worst-group" if operating_point == "worst_group" else "group"
        warn_undefined(
            f"No impostor pair in {name_groups(groups[without])}: left out of the "
            f"{purpose} threshold at far={far:g}."
        )
    _warn_unresolved(far, by_group, [repr(str(group)) for group in groups])
    thresholds = np.array([_threshold(pairs.impostor, far) for pairs in by_group])
    if operating_point == "worst_group":
        known = thresholds[~np.isnan(thresholds)]
        thresholds[:] = known.max() if known.size else np.nan
    return thresholds


def name_groups(groups):
    """Names of groups for messages. A long list is cut."""
    names = [repr(str(group)) for group in groups[:10]]
    more = f" and {len(groups) - 10} more" if len(groups) > 10 else ""
    return ("group " if len(groups) == 1 else "groups ") + ", ".join(names) + more


def warn_of_scores(pairs):
    """Warn of scores that look like distances, or carry next to no information.

    There is no warning if a group's genuine scores are surely larger than its impostor
    scores: then rows and labels belong together, and other groups are badly recognised.

    Parameters
    ----------
    pairs : ListedPairs or EmbeddingPairs
    """
    share, deviation, equal = _separation(pairs, None)
    if np.isnan(share):
        return
    values = {"share": share, "n_genuine": pairs.count(None, "frr")}
    values["n_impostor"] = pairs.count(None)
    found = (
        f"of one of each, the genuine one has the larger in {share:.3g} of all cases. "
    )
    if equal:
        code = "equal_scores"
        message = (
            "All scores are equal: no threshold separates genuine from impostor pairs."
        )
    elif abs(share - 0.5) <= NO_INFORMATION:
        code = "uninformative_scores"
        message = (
            f"Scores hardly separate genuine pairs from impostor pairs: {found}Are the labels "
            "in the order of the rows?"
        )
    elif share < 0.5 - CHANCE * deviation:
        code = "reversed_scores"
        message = (
            f"Genuine pairs ({values['n_genuine']:,}) mostly have smaller scores than impostor "
            f"pairs ({values['n_impostor']:,}): {found}Larger scores mean more similar, and 1 in "
            "y_true means the same person. If y_true is the other way round, correct it. If "
            "scores are distances, pass minus the distance or, if a file is read, "
            "distance=True. If that was passed, leave it out."
        )
    else:
        return
    for group in range(pairs.images.n_groups):
        own, deviation, _ = _separation(pairs, (group, group))
        if own - 0.5 > max(SURE_SHARE, SURE * deviation):
            return
    warn_caller(message, ReversedScoresWarning, code, **values)


def _separation(pairs, scope):
    """Area under the ROC curve, its deviation by chance, and whether all scores are equal.

    The area is nan without genuine pairs or without impostor pairs.
    """
    genuine, impostor = pairs.genuine.ascending(scope).scores, pairs.some_scores(scope)
    if not (genuine.size and impostor.size):
        return np.nan, np.nan, False
    equal = genuine[0] == genuine[-1] == impostor[0] == impostor[-1]
    variance = (genuine.size + impostor.size + 1) / 12 / genuine.size / impostor.size
    at_least = count_at_least(impostor, genuine).mean()
    above = count_at_least(impostor, next_above(genuine)).mean()
    area = float(1 - (at_least + above) / 2 / impostor.size)
    return area, np.sqrt(variance), equal


def _check_y_true(y_true):
    array = to_array(y_true, "y_true")
    if array.ndim != 1:
        raise ValueError(
            f"y_true must be one-dimensional, (n_pairs,), got shape {array.shape}."
        )
    if array.dtype.kind == "O":
        wrong = np.array([not _is_zero_or_one(v) for v in array], dtype=bool)
    elif array.dtype.kind in "biuf":
        wrong = ~np.isin(array, (0, 1))
    else:
        wrong = np.ones(array.shape, dtype=bool)
    if wrong.any():
        pair = int(np.flatnonzero(wrong)[0])
        raise ValueError(
            "y_true must be 1 (or True) for a genuine pair and 0 (or False) for an "
            f"impostor pair, but pair {pair} has {plain(array[pair])!r}. Recode it."
        )
    return array.astype(bool)


def _is_zero_or_one(value):
    return isinstance(value, (bool, int, float, np.generic)) and value in (0, 1)


def _descending(scores):
    return np.sort(scores)[::-1]


def _threshold(impostor, far):
    """Infimum of the thresholds with FAR <= far (Conti & Clémençon 2024, eq. (4))."""
    if impostor.size == 0:
        return np.nan
    accepted = np.arange(1, impostor.size + 1)
    return float(threshold_at(impostor, first_exceeding(accepted, far * impostor.size)))


def _warn_unresolved(far, pair_sets, names):
    """Warn if a single false accept exceeds the level."""
    coarse = [
        (name, pairs.impostor.size)
        for name, pairs in zip(names, pair_sets, strict=True)
        if pairs.impostor.size and exceeds(1, far * pairs.impostor.size)
    ]
    if not coarse:
        return
    counted = ", ".join(f"{n} impostor pairs in {name}" for name, n in coarse[:10])
    fewest = min(n for _, n in coarse)
    warn_undefined(
        f"far={far:g} is below what the data can resolve ({counted}): the threshold is "
        "placed just above their largest impostor score, and no pair is falsely "
        f"accepted. Add impostor pairs, or use far >= {1 / fewest:.3g}."
    )


# ---- error rates ---------------------------------------------------------------------


def far_frr_curve(
    y_true: ArrayLike, y_score: ArrayLike
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """False acceptance and false rejection rate at every distinct score.

    The data of a ROC, DET or equal-error-rate figure. A pair is accepted when its score
    is at least the threshold, so the k-th rates are those of ``thresholds[k]`` itself.

    Parameters
    ----------
    y_true : array-like of {0, 1} or bool, shape (n_pairs,)
        1 for a genuine pair, 0 for an impostor pair.
    y_score : array-like of float, shape (n_pairs,)
        Similarity of each pair. Larger is more similar.

    Returns
    -------
    far : ndarray, shape (n_thresholds,)
        Share of impostor pairs accepted, in [0, 1], non-decreasing from 0 to 1, eq. (2)
        of [1]_. Lower is better.
    frr : ndarray, shape (n_thresholds,)
        Share of genuine pairs rejected, in [0, 1], non-increasing from 1 to 0, eq. (3)
        of [1]_. Lower is better.
    thresholds : ndarray of float64, shape (n_thresholds,)
        Similarities to accept from, descending: +inf, then the distinct scores.

    Raises
    ------
    ValueError
        If ``y_true`` has other values than 0 and 1, ``y_score`` is not finite, their
        lengths differ, or there is no pair.

    Warns
    -----
    UndefinedMetricWarning
        If there is no impostor pair (``far`` is nan) or no genuine pair (``frr``).

    See Also
    --------
    sklearn.metrics.det_curve : The same rates in ascending order of thresholds.
    threshold_at_far : The threshold that meets a FAR level.

    References
    ----------
    .. [1] Conti, J.-R., & Clémençon, S. (2024). Assessing Uncertainty in Similarity
       Scoring: Performance & Fairness in Face Recognition. ICLR. Eq. (2)-(4), here with
       every pair weighing the same.

    Examples
    --------
    >>> from skfairfr.metrics import far_frr_curve
    >>> far, frr, thresholds = far_frr_curve([1, 0, 1, 0], [0.9, 0.6, 0.6, 0.1])
    >>> thresholds.tolist()
    [inf, 0.9, 0.6, 0.1]
    >>> far.tolist(), frr.tolist()
    ([0.0, 0.0, 0.5, 1.0], [1.0, 0.5, 0.0, 0.0])
    """
    is_genuine, scores = check_pairs(y_true, y_score)
    pairs = split_pairs(is_genuine, scores)
    warn_missing_kinds(pairs.impostor.size, pairs.genuine.size)
    thresholds = np.concatenate([[np.inf], np.unique(scores)[::-1]])
    far = share_accepted(pairs.impostor, thresholds)
    frr = share_rejected(pairs.genuine, thresholds)
    return far, frr, thresholds


def threshold_at_far(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    far: float,
    sensitive_features: Column | None = None,
    operating_point: str = "overall",
) -> float:
    """The threshold at which the false acceptance rate meets a level.

    The number next above the largest impostor score at which the FAR still exceeds
    ``far``, that is the infimum of the thresholds with FAR <= ``far``, in the scores' own
    floating-point type. It depends on impostor scores alone, and ties fall out.

    Parameters
    ----------
    y_true : array-like of {0, 1} or bool, shape (n_pairs,)
        1 for a genuine pair, 0 for an impostor pair.
    y_score : array-like of float, shape (n_pairs,)
        Similarity of each pair. Larger is more similar.
    far : float in (0, 1)
        False acceptance rate not to exceed.
    sensitive_features : array-like, shape (n_pairs,) or (n_pairs, 2), default=None
        Group of both images, or of each image. None and NaN are unknown. Needed by
        "worst_group", unused by "overall".
    operating_point : {"overall", "worst_group"}, default="overall"
        "overall": the FAR over all impostor pairs meets the level. "worst_group": the
        largest of the groups' own thresholds, and no group's FAR exceeds the level [2]_.

    Returns
    -------
    threshold : float
        A similarity, or -inf if even accepting every pair meets the level, nan if undefined.

    Raises
    ------
    ValueError
        If ``far`` lies outside (0, 1), ``operating_point`` is unknown or lacks its
        groups, or the pairs are not as described above.

    Warns
    -----
    UndefinedMetricWarning
        If there is no impostor pair (nan), a group has none (it is left out), or ``far``
        is below 1 / n_impostor (the threshold is just above the largest impostor score).

    See Also
    --------
    frr_at_far : The false rejection rate at this threshold.
    group_error_rates : Each group's rates at a given threshold.

    References
    ----------
    .. [1] Conti, J.-R., & Clémençon, S. (2024). Assessing Uncertainty in Similarity
       Scoring: Performance & Fairness in Face Recognition. ICLR. Eq. (4).
    .. [2] Conti, J.-R., Noiry, N., Despiegel, V., Gentric, S., & Clémençon, S. (2022).
       Mitigating Gender Bias in Face Recognition Using the von Mises-Fisher Mixture
       Model. ICML. Eq. (3)-(4).

    Examples
    --------
    >>> from skfairfr.metrics import threshold_at_far
    >>> y_true, y_score = [0, 0, 0, 0, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.9]
    >>> round(threshold_at_far(y_true, y_score, far=0.25), 6)
    0.3
    >>> groups = ["f", "f", "m", "m", "f", "m"]
    >>> round(threshold_at_far(y_true, y_score, far=0.5, sensitive_features=groups,
    ...                        operating_point="worst_group"), 6)
    0.3
    """
    level = check_single_level(far)
    if operating_point == "group":
        raise ValueError(
            "operating_point='group' gives one threshold per group, not one float. Call "
            "threshold_at_far on the pairs of each group."
        )
    check_option(operating_point, "operating_point", ("overall", "worst_group"))
    is_genuine, scores = check_pairs(y_true, y_score)
    overall = split_pairs(is_genuine, scores)
    by_group, groups = [overall], np.array(["all pairs"])
    if sensitive_features is not None:
        labels = check_pair_groups(sensitive_features, len(scores))
        by_group, groups = split_by_group(is_genuine, scores, labels), labels.values
    elif operating_point == "worst_group":
        raise ValueError(
            "operating_point='worst_group' needs sensitive_features, got None. Give the "
            "group of each pair, or use operating_point='overall'."
        )
    thresholds = operating_thresholds(
        overall, by_group, groups, far=level, operating_point=operating_point
    )
    if np.isnan(thresholds[0]) and operating_point == "worst_group":
        warn_undefined("No group has an impostor pair: the threshold is set to nan.")
    return float(thresholds[0])


def frr_at_far(y_true: ArrayLike, y_score: ArrayLike, *, far: float = 1e-3) -> float:
    """False rejection rate at a false acceptance level.

    One point of the ROC in the biometric sense: how often the right person is turned away
    when impostors get through at most at the rate ``far``.

    Parameters
    ----------
    y_true : array-like of {0, 1} or bool, shape (n_pairs,)
        1 for a genuine pair, 0 for an impostor pair.
    y_score : array-like of float, shape (n_pairs,)
        Similarity of each pair. Larger is more similar.
    far : float in (0, 1), default=1e-3
        False acceptance rate over all impostor pairs at which to operate.

    Returns
    -------
    frr : float in [0, 1]
        Share of genuine pairs rejected, eq. (4) of [1]_. Lower is better. NaN if there is
        no genuine or no impostor pair.

    Raises
    ------
    ValueError
        If ``far`` lies outside (0, 1), ``y_true`` has other values than 0 and 1,
        ``y_score`` is not finite, their lengths differ, or there is no pair.

    Warns
    -----
    UndefinedMetricWarning
        If there is no genuine or no impostor pair, or ``far`` is below 1 / n_impostor.

    See Also
    --------
    threshold_at_far : The threshold used.
    frr_disparity : How this rate differs between groups.

    References
    ----------
    .. [1] Conti, J.-R., & Clémençon, S. (2024). Assessing Uncertainty in Similarity
       Scoring: Performance & Fairness in Face Recognition. ICLR. Eq. (4), here with
       every pair weighing the same.

    Examples
    --------
    >>> from skfairfr.metrics import frr_at_far
    >>> frr_at_far([0, 0, 0, 0, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.35, 0.2], far=0.25)
    0.5
    """
    level = check_single_level(far)
    pairs = split_pairs(*check_pairs(y_true, y_score))
    if pairs.genuine.size == 0:
        warn_undefined(_no_pair("genuine", "frr", 1))
    (threshold,) = operating_thresholds(
        pairs, [pairs], np.array(["all pairs"]), far=level, operating_point="overall"
    )
    return float(share_rejected(pairs.genuine, threshold))


def equal_error_rate(y_true: ArrayLike, y_score: ArrayLike) -> float:
    """The rate at which false acceptances and false rejections are equally frequent.

    With finite data they are rarely equal: the result is (FAR + FRR) / 2 with the score at
    which they are closest as the threshold (the lower one of two equally close). Few systems
    are operated at that threshold. Prefer :func:`frr_at_far` at the level in use.

    Parameters
    ----------
    y_true : array-like of {0, 1} or bool, shape (n_pairs,)
        1 for a genuine pair, 0 for an impostor pair.
    y_score : array-like of float, shape (n_pairs,)
        Similarity of each pair. Larger is more similar.

    Returns
    -------
    rate : float in [0, 1]
        Mean of FAR and FRR, eq. (2)-(3) of [1]_, at the point of equality. Lower is better. nan
        if there is no genuine or no impostor pair.

    Raises
    ------
    ValueError
        If ``y_true`` has other values than 0 and 1, ``y_score`` is not finite, their
        lengths differ, or there is no pair.

    Warns
    -----
    UndefinedMetricWarning
        If there is no genuine or no impostor pair.

    See Also
    --------
    far_frr_curve : The curve on which it lies.

    References
    ----------
    .. [1] Conti, J.-R., & Clémençon, S. (2024). Assessing Uncertainty in Similarity
       Scoring: Performance & Fairness in Face Recognition. ICLR. Eq. (2)-(3).

    Examples
    --------
    >>> from skfairfr.metrics import equal_error_rate
    >>> equal_error_rate([0, 0, 0, 0, 1, 1, 1, 1], [1, 2, 3, 6, 4, 5, 7, 8])
    0.25
    """
    far, frr, _ = far_frr_curve(y_true, y_score)
    return float(equal_error(far, frr)[0])


def _no_pair(kind, rate, code):
    return (
        f"No {kind} pair in y_true: {rate} is undefined and set to nan. Add {kind} pairs "
        f"(y_true = {code})."
    )


def warn_missing_kinds(n_impostor, n_genuine):
    """Warn if there is no impostor pair, or no genuine pair."""
    if n_impostor == 0:
        warn_undefined(_no_pair("impostor", "far", 0))
    if n_genuine == 0:
        warn_undefined(_no_pair("genuine", "frr", 1))


# ---- rates within each group, at one threshold ---------------------------------------


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
        Share of the group's impostor pairs accepted, in [0, 1]. Lower is better. NaN for
        a group without impostor pairs.
    frr : ndarray, shape (n_groups,)
        Share of the group's genuine pairs rejected, in [0, 1]. Lower is better. NaN for a
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


def group_error_rates(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sensitive_features: Column,
    threshold: float,
) -> GroupErrorRates:
    """False acceptance and false rejection rate within each group, at one threshold.

    Parameters
    ----------
    y_true : array-like of {0, 1} or bool, shape (n_pairs,)
        1 for a genuine pair, 0 for an impostor pair.
    y_score : array-like of float, shape (n_pairs,)
        Similarity of each pair. Larger is more similar.
    sensitive_features : array-like, shape (n_pairs,) or (n_pairs, 2)
        Group of both images, or of each image. A pair is in a group when both images
        are. None and NaN are unknown, in no group.
    threshold : float
        A pair is accepted when its score is at least this. +-inf are allowed.

    Returns
    -------
    rates : GroupErrorRates
        Result with the arrays ``groups``, ``far``, ``frr``, ``n_impostor`` and ``n_genuine``, of
        shape (n_groups,), and ``threshold``. Rates lie in [0, 1]. Lower is better.

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
    threshold = check_single_threshold(threshold)
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
    rates = GroupErrorRates(labels.values, far, frr, n_impostor, n_genuine, threshold)
    return framed(rates, library_of(y_true, y_score, sensitive_features))
