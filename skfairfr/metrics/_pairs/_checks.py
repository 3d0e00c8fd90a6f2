"""Checks of scored pairs, their split by group, and thresholds at operating points.

All metrics on pairs share these functions: what ``y_true``, ``y_score`` and
``sensitive_features`` may be, which pairs belong to a group, and the threshold of each
group at the three operating points. Rates and disparities are computed elsewhere.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from skfairfr._core._rates import (
    count_at_least,
    exceeds,
    first_exceeding,
    next_above,
    threshold_at,
)
from skfairfr.utils._bands import check_groups
from skfairfr.utils._labels import (
    Labels,
    check_length,
    encode,
    join_columns,
    to_columns,
)
from skfairfr.utils._validation import (
    check_level,
    check_no_diagonal,
    check_scores,
    check_threshold,
    plain,
    to_array,
    warn_caller,
    warn_undefined,
)

# Scores look reversed if the share of genuine scores above impostor ones is this many
# standard deviations (of independent pairs that are all alike) below one half.
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
    latter two too.
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
            f"y_true has {len(is_genuine)} pairs but y_score has {len(scores)}; give "
            "one of each for every pair."
        )
    if len(scores) == 0:
        raise ValueError("y_true and y_score are empty; give at least one pair.")
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
        raise ValueError(f"{name} must give the group of each pair; got None.")
    columns = [*to_columns(sensitive_features, name).values()]
    if len(columns) > 2:
        raise ValueError(
            f"{name} must have the shape (n_pairs,), the group of both images, or "
            f"(n_pairs, 2), the group of each; got {len(columns)} columns."
        )
    check_length(columns[0], n_pairs, name, "y_score")
    # Encoded as one column, so that a label has the same code on both sides.
    joint = encode(join_columns(columns), name, allow_unknown=True)
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
        raise ValueError(f"far must be one number in (0, 1); got {plain(far)!r}.")
    return float(level)


def check_single_threshold(threshold):
    """One threshold, not NaN, as a float."""
    found = check_threshold(threshold)
    if found.ndim != 0:
        raise ValueError(f"threshold must be one number; got {found.tolist()!r}.")
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
            f"Scores hardly tell genuine pairs from impostor pairs: {found}Are the labels "
            "in the order of the rows?"
        )
    elif share < 0.5 - CHANCE * deviation:
        code = "reversed_scores"
        message = (
            f"Genuine pairs mostly have smaller scores than impostor pairs: {found}Scores "
            "are similarities, larger meaning more alike; are these distances? Give minus a "
            "distance or, where a file is read, distance=True; if that was given, leave "
            "it out."
        )
    else:
        return
    for group in range(pairs.images.n_groups):
        own, deviation, _ = _separation(pairs, (group, group))
        if own - 0.5 > max(SURE_SHARE, SURE * deviation):
            return
    warn_caller(message, ReversedScoresWarning, code, share=share)


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
            f"y_true must be one-dimensional, (n_pairs,); got shape {array.shape}."
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
            f"impostor pair; pair {pair} has {plain(array[pair])!r}. Recode it."
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
        "placed just above their largest impostor score, where no pair is falsely "
        f"accepted. Add impostor pairs, or use far >= {1 / fewest:.3g}."
    )
