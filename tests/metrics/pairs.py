"""Lists of scored pairs for the tests of pair metrics."""

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
