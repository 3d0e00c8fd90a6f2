"""Facts of clusters as groups, and of the worst cluster's rate."""

import numpy as np
import pytest
from sklearn.utils import check_random_state

from skfairfr import SimilarityROC, make_face_embeddings
from skfairfr.metrics import cluster_groups, worst_cluster_rate
from skfairfr.metrics._worst_group import _find_clusters

FACES = make_face_embeddings(n_identities=120, n_features=16, random_state=0)


def lumps(n_lumps=3, n_images=20, seed=0):
    """Images in tight lumps about orthogonal axes, and the lump of each."""
    lump = np.repeat(np.arange(n_lumps), n_images)
    noise = np.random.default_rng(seed).normal(scale=0.05, size=(lump.size, n_lumps))
    return np.eye(n_lumps)[lump] + noise, lump


def test_lumps_are_found_whatever_the_length_of_rows():
    X, lump = lumps()
    lengths = np.geomspace(0.01, 100, len(X))[:, None]
    groups = cluster_groups(X * lengths, n_clusters=3, random_state=0)
    assert len(set(zip(groups.tolist(), lump.tolist(), strict=True))) == 3
    assert set(groups.tolist()) == {0, 1, 2}
    assert (groups.shape, groups.dtype.kind) == ((len(X),), "i")


@pytest.mark.parametrize(
    ("X", "n_clusters", "message"),
    [
        (FACES.X, 1, "n_clusters must be an integer from 2"),
        (FACES.X, 2.0, "n_clusters must be an integer"),
        (FACES.X[:5], 6, "n_clusters=6 is more than the 5 rows"),
        (np.zeros((4, 2)), 2, "X has a zero row"),
        (np.full((4, 2), np.inf), 2, "X contains infinity"),
    ],
)
def test_cluster_groups_refuses(X, n_clusters, message):
    with pytest.raises(ValueError, match=message):
        cluster_groups(X, n_clusters)


def test_other_rows_have_the_nearest_centre():
    X, _ = lumps()
    new, new_lump = lumps(seed=1)
    unit, others = (Z / np.linalg.norm(Z, axis=1, keepdims=True) for Z in (X, new))
    found = _find_clusters(unit, unit, 3, 0)
    centres = np.array([unit[found == k].mean(axis=0) for k in range(3)])
    nearest = [int(np.argmin([sum((z - c) ** 2) for c in centres])) for z in others]
    assert _find_clusters(unit, others, 3, 0).tolist() == nearest
    assert len(set(zip(nearest, new_lump.tolist(), strict=True))) == 3


def test_clusters_are_found_and_chosen_in_the_half_that_is_not_measured():
    worst = worst_cluster_rate(
        FACES.X, FACES.y, 4, far=2e-2, n_resamples=10, random_state=5
    )
    rng = check_random_state(5)
    in_second = (rng.permutation(120) % 2 == 1)[FACES.y]
    seeds = [rng.randint(np.iinfo(np.int32).max) for _ in range(3)]
    for direction, rows in enumerate((~in_second, in_second)):
        clusters = _find_clusters(FACES.X[rows], FACES.X, 4, seeds[direction])
        rates = []
        for part in (rows, ~rows):
            roc = SimilarityROC(resample="identities", n_resamples=1, far_max=2e-2)
            roc = roc.fit(FACES.X[part], FACES.y[part], clusters[part])
            rates.append(
                [roc.estimate(2e-2, rate="far", group=g).value for g in range(4)]
            )
        chosen = int(np.argmax(rates[0]))
        assert worst.chosen[direction] == chosen
        assert worst.held_out[direction] == pytest.approx(rates[1][chosen])
    assert worst.value == pytest.approx(worst.held_out.mean())
    assert worst.n_groups == 4


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        (FACES.y, {"n_clusters": 1}, "n_clusters must be an integer from 2"),
        (FACES.y, {"n_clusters": 400}, "more than the .* smaller half"),
        (FACES.y, {"n_clusters": 100}, "of 100 groups have min_identities=10"),
        (FACES.y, {"far": 2.0}, "far must lie in"),
        (FACES.y, {"rate": "eer"}, "rate must be one of"),
        (FACES.y[1:], {}, "y has .* rows but X has"),
    ],
)
def test_worst_cluster_rate_refuses(y, options, message):
    with pytest.raises(ValueError, match=message):
        worst_cluster_rate(FACES.X, y, **options)
