"""A small version of what the guide says of BFAR, BFRR and the matrix of groups."""

import numpy as np
import pytest

from tests.benchmarks.check_worst_group import CELLS, METHODS, check
from tests.benchmarks.coverage import LEVELS, Design, draw, truth


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:A group has no error")
def test_most_intervals_hold():
    disparities, cells = check("4 x 50", n_sets=3)
    assert disparities.shape == cells.shape == (len(METHODS), 2, LEVELS.size)
    wilson = METHODS.index("wilson")
    assert disparities[wilson].mean() > 0.7
    for within in range(len(CELLS)):
        assert cells[wilson, within].mean() > 0.8
    # Of equal groups replicates exclude 1.
    assert disparities[METHODS.index("recentered")].mean() < 0.5


@pytest.mark.slow
def test_the_truth_of_cells_is_that_of_many_people():
    design = Design((300, 300), direction=(0.4, 0.5), images=(4, 4))
    level = np.array([1e-2])
    few = {"n_drawn": 60_000, "n_quantiles": 150}
    worst = truth(design, level, **few, worst_group=True)
    assert worst["far"].max() == pytest.approx(level[0], rel=1e-6)
    overall = truth(design, level, **few)
    assert overall["far"][0] == pytest.approx(overall["cells"][0].diagonal())
    # Counted among the images of ten data sets, at the overall threshold of each.
    found = np.zeros((2, 2))
    for seed in range(10):
        X, y, group, _ = draw(design, np.random.default_rng(seed))
        S, other = X @ X.T, y[:, None] != y
        accepted = S >= np.quantile(S[other], 1 - level[0])
        member = np.array([group[y] == g for g in (0, 1)])
        for g, h in np.ndindex(2, 2):
            pairs = other & member[g][:, None] & member[h]
            found[g, h] += accepted[pairs].mean() / 10
    assert found == pytest.approx(overall["cells"][0], rel=0.1)
