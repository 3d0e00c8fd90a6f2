"""One estimate of the memory that a comparison of all pairs takes, before it begins."""

import math
import os

import numpy as np

# Bytes at one time, at most, of a held pair with what is asked of it, and of a genuine one.
OF_HELD, OF_GENUINE = 76, 100


def available_bytes():
    """Memory that the system says is available; all of it, or inf, where it says less."""
    try:
        with open("/proc/meminfo") as file:
            told = dict(line.split(":") for line in file)
        return 1024.0 * int(told["MemAvailable"].split()[0])
    except (OSError, KeyError):
        pass
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return math.inf


def comparison_bytes(identity, groupings, side, n_features, depth, keep):
    """Bytes that comparing all pairs takes beside the embeddings given, about.

    Parameters
    ----------
    identity : ndarray of int, shape (n_images,)
    groupings : list of ndarray of int, shape (n_images,)
        -1 is unknown.
    side : ndarray of int, shape (n_images,), or None
    n_features : int
    depth : float
        Share of a scope's pairs that is held.
    keep : tuple of two ints
        Pairs up to which the overall scope, and a group, is held whole.
    """
    overall = _pairs_within(np.zeros_like(identity), side)
    held = overall * np.where(overall <= keep[0], 1.0, depth)
    for codes in groupings:
        n_pairs = _pairs_within(codes, side)
        held = held + (n_pairs * np.where(n_pairs <= keep[1], 1.0, depth)).sum()
    n_genuine = _pairs_within(identity, side).sum()
    # Unit rows, and the same in the order of the pass.
    rows = 2 * 4 * identity.size * n_features
    return rows + OF_GENUINE * n_genuine + OF_HELD * min(held, overall).item()


def _pairs_within(codes, side):
    """Number of pairs within each group, float64 (n_groups,)."""
    size = codes.max(initial=0) + 1
    if side is None:
        counts = np.bincount(codes[codes >= 0], minlength=size).astype(float)
        return counts * (counts - 1) / 2
    first, second = (
        np.bincount(codes[(codes >= 0) & (side == s)], minlength=size) for s in (0, 1)
    )
    return first * second.astype(float)
