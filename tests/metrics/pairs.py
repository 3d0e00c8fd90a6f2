"""Lists of scored pairs for the tests of pair metrics, and rates by plain loops."""

import math

import numpy as np
from hypothesis import strategies as st


@st.composite
def scored_pairs(draw, min_each=1, n_groups=2):
    """(y_true, y_score, groups): ties abound, and every group has both kinds of pairs."""
    y_true, groups = [], []
    for group in range(n_groups):
        for kind in (0, 1):
            n = draw(st.integers(min_each, min_each + 6))
            y_true += [kind] * n
            groups += [f"group {group}"] * n
    scores = draw(
        st.lists(st.integers(-4, 4), min_size=len(y_true), max_size=len(y_true))
    )
    return np.array(y_true), np.array(scores) / 4, np.array(groups)


def random_pairs(seed=0, n=400, n_groups=2, dtype=np.float64):
    """Pairs of which the later groups have lower genuine and higher impostor scores."""
    rng = np.random.default_rng(seed)
    y_true = rng.integers(0, 2, n)
    code = rng.integers(0, n_groups, n)
    scores = rng.normal(size=n) + y_true * (2.0 - code / n_groups) + code / n_groups / 2
    return y_true, scores.astype(dtype), np.array(list("abcdefgh"))[code]


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
