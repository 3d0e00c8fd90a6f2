"""Embeddings of few values: many pairs have one score, and all pairs have one kernel.

The oracle counts in integers: the inner product of two codes, of which the cosine is a
multiple where all codes have one length.
"""

import numpy as np
import pytest

from skfairfr import SimilarityROC
from skfairfr._core import _pair_tiles
from skfairfr._core._resampling import Images
from tests._core.test_inner_products import all_scores
from tests.metrics.designs import hold_tails

LEVELS = (1e-3, 3e-3, 1e-2, 2e-2)


def codes(values, n_features, n_people=150, seed=0):
    """Two codes a person, of which the second differs in a few places, and identities."""
    rng = np.random.default_rng(seed)
    identity = np.repeat(np.arange(n_people), 2)
    person = rng.choice(values, (n_people, n_features))[identity]
    changed = rng.random(person.shape) < 0.3
    return np.where(changed, rng.choice(values, person.shape), person), identity


def split_scores(X, identity):
    """Integer scores of the genuine and of the impostor pairs, by a loop."""
    genuine, impostor = [], []
    for i in range(len(X)):
        scores = [int(s) for s in X[i + 1 :] @ X[i]]
        for other, score in zip(identity[i + 1 :], scores, strict=True):
            (genuine if other == identity[i] else impostor).append(score)
    return np.array(genuine), np.array(impostor)


def frr_by_integers(genuine, impostor, level):
    """Rejected are the scores at which the FAR still exceeds the level, and lower ones."""
    exceeding = [s for s in np.unique(impostor) if (impostor >= s).mean() > level]
    return (genuine <= max(exceeding)).mean()


@pytest.mark.parametrize(
    ("values", "n_features", "similarity"),
    [
        ((-1, 1), 32, "cosine"),
        ((-1, 1), 33, "cosine"),
        ((-1, 1), 48, "cosine"),
        ((-1, 1), 100, "cosine"),
        ((-3, -1, 1, 3), 32, "dot"),
        ((0, 1), 40, "dot"),
    ],
)
def test_ties_between_genuine_and_impostor_pairs_are_ties(
    values, n_features, similarity, monkeypatch
):
    hold_tails(monkeypatch)
    X, identity = codes(values, n_features)
    roc = SimilarityROC(similarity=similarity, n_resamples=1, far_max=2e-2)
    roc.fit(X.astype(np.float64), identity)
    scores = split_scores(X, identity)
    found = [roc.estimate(level, rate="frr") for level in LEVELS]
    assert {estimate.source for estimate in found} == {"all pairs"}
    expected = [frr_by_integers(*scores, level) for level in LEVELS]
    assert [estimate.value for estimate in found] == expected
    assert len(set(expected)) > 1


@pytest.mark.parametrize("similarity", ["cosine", "dot"])
@pytest.mark.parametrize("values", [(-1, 1), (-3, -1, 1, 3)])
def test_a_pair_has_one_score_whether_it_is_genuine_or_not(values, similarity):
    X, _ = codes(values, 31, 60)
    X = np.concatenate([X, X[:40]])  # duplicates
    # Of the type that a fit gives them: kernels are compiled for each type.
    alone = np.arange(len(X), dtype=np.int32)
    together, group = alone // 3, np.zeros_like(alone)
    floor = np.full((2, 2), -0.25, dtype=np.float32)
    vectors = _pair_tiles.unit_rows(X.astype(np.float32), similarity)
    exact = all_scores(vectors, vectors)
    for identity in (alone, together):
        images = Images(identity, group, None, len(X), 1)
        rows = _pair_tiles.Rows.of(vectors, images, np.arange(len(X)))
        genuine = _pair_tiles.genuine_pairs(images)
        tail = _pair_tiles.collect_tail(rows, rows, floor, tile=32)
        assert tail[0].tolist() == exact[tail[1], tail[2]].tolist()
        own = _pair_tiles.score_pairs(vectors, *genuine)
        assert own.tolist() == exact[genuine].tolist()
        n_kept = (np.triu(exact >= floor[0, 0], 1)).sum()
        assert tail[0].size + (own >= floor[0, 0]).sum() == n_kept
