"""Rates and thresholds of scored pairs, pair after pair, and what people add to them."""

import math

import numpy as np


def unit(X):
    """Rows of unit length, float64."""
    X = np.asarray(X, dtype=np.float64)
    return X / np.linalg.norm(X, axis=-1, keepdims=True)


def loop_rates(y_true, y_score, threshold, member=None):
    """(far, frr) at a threshold by counting pair after pair; nan without such pairs."""
    accepted, total = [0, 0], [0, 0]
    for row, (kind, score) in enumerate(zip(y_true, y_score, strict=True)):
        if member is None or member[row]:
            total[kind] += 1
            accepted[kind] += bool(score >= threshold)
    far = accepted[0] / total[0] if total[0] else math.nan
    frr = (total[1] - accepted[1]) / total[1] if total[1] else math.nan
    return far, frr


def loop_threshold(y_true, y_score, level):
    """The number above the largest impostor score at which FAR still exceeds the level."""
    impostor = [s for kind, s in zip(y_true, y_score, strict=True) if kind == 0]
    exceeding = [
        t for t in impostor if sum(s >= t for s in impostor) > level * len(impostor)
    ]
    if not exceeding:
        return -math.inf
    return float(np.nextafter(max(exceeding), np.asarray(y_score).dtype.type(np.inf)))


def without_each(errors, pairs, ends):
    """What the logarithm of a rate loses without each person, centred, (n_people,).

    ``errors`` and ``pairs`` are those of each person. ``ends`` is the number of people in a
    pair.
    """
    wrong, total = errors.sum() / ends, pairs.sum() / ends
    (seen,) = np.nonzero(pairs)
    without = (wrong - errors[seen]) / (total - pairs[seen])
    found = np.zeros(len(pairs))
    found[seen] = (without.mean() - without) / (wrong / total)
    return found * np.sqrt(1 - 1 / seen.size)
