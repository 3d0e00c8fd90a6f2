"""Extreme data: lengths, dimensions, ties, and few or dominant people.

No decision hangs on how a score was computed: a score has one definition (float64 sums of
unit rows in float32, in one order), and every pass decides by it, bit for bit. Thresholds
stand at scores and at the numbers beside them, so that every pair of the threshold's is a
near-tie.
"""

from functools import cache

import numpy as np
import pytest

from skfairfr import SimilarityROC
from skfairfr._core import _pair_tiles
from skfairfr.report import audit
from tests._core.test_inner_products import all_scores
from tests.metrics.designs import hold_tails

GROUPS = ("f", "m")


def drawn(n_people, d=8):
    """Embeddings of four images of each person, and identities."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(n_people), 4)
    return rng.normal(size=(n_people, d))[y] + 0.6 * rng.normal(size=(len(y), d)), y


@pytest.mark.filterwarnings("ignore")
def test_all_scores_equal():
    y = np.repeat(np.arange(8), 3)
    X = np.ones((24, 4))
    groups = np.array(GROUPS)[y % 2]
    roc = SimilarityROC(n_resamples=5, resample="identities", far_max=0.5)
    roc.fit(X, y, groups)
    # Nobody can be accepted at a FAR below 1, so that everybody is rejected.
    for group in (None, *GROUPS):
        assert roc.estimate(0.1, group=group).value == 1
        assert roc.estimate(0.1, rate="far", group=group).value == 0
    assert roc.equal_error_rate().value == pytest.approx(0.5)
    found = roc.estimate(threshold=0.5, rate="far")
    assert (found.value, found.n_impostor) == (1, 252)
    report = audit(X, y, groups, attribute="gender", far=0.1)
    table = report.to_frame("rates", "pandas")
    assert table["frr"].tolist() == [1, 1, 1] and table["far"].tolist() == [0, 0, 0]


def defined(X, y):
    """Scores of all pairs by their definition, and which pairs are genuine."""
    X = np.asarray(X, dtype=np.float64)
    X = X / np.abs(X).max(axis=1, keepdims=True)
    X = (X / np.sqrt((X * X).sum(axis=1, keepdims=True))).astype(np.float32)
    scores = np.concatenate(
        [all_scores(X[[i]], X[i + 1 :])[0] for i in range(len(X) - 1)]
    )
    left, right = np.triu_indices(len(y), 1)
    return scores, y[left] == y[right]


def of_any_length(X):
    return X * np.geomspace(1e-30, 1e30, len(X))[::-1, None]


def nearly_tied(n=240, n_same=8, d=64):
    """A few images score 0.8 with all others, but for the last four bits of float32.

    Others score 0.8 squared with one another, and 0.045 around it: hardly any as much as 0.8.
    """
    rng = np.random.default_rng(5)
    y = np.repeat(np.arange(n // 4), 4)
    X = rng.normal(size=(n // 4, d))[y] + 2 * rng.normal(size=(n, d))
    X[:, 0] = 0
    X *= 0.6 / np.linalg.norm(X, axis=1, keepdims=True)
    X[:, 0] = 0.8 + 1e-6 * rng.random(n)
    X[:: n // n_same] = np.eye(d)[0]
    return X @ np.linalg.qr(rng.normal(size=(d, d)))[0], y


def leaning_signs(n=240, d=44):
    """Multiples of 1 / 22; about a twentieth of pairs agree in 38 signs or more."""
    signs = np.where(np.random.default_rng(6).random((n, d)) < 0.854, 1.0, -1.0)
    return signs, np.repeat(np.arange(n // 4), 4)


def with_a_giant(y):
    """Half of all images of one person."""
    return np.where(np.arange(len(y)) < len(y) // 2, 0, y)


# Screened as passes over many images are.
EXTREMES = {
    "rows of any length": lambda: (of_any_length(drawn(60)[0]), drawn(60)[1]),
    "one feature": lambda: drawn(60, d=1),
    "8192 features": lambda: drawn(20, d=8192),
    "few scores": lambda: (np.sign(drawn(60, d=16)[0]), drawn(60)[1]),
    "few scores, rounded": leaning_signs,
    "scores nearly equal": nearly_tied,
    "half of one person": lambda: (drawn(60)[0], with_a_giant(drawn(60)[1])),
    "all equal": lambda: (np.ones((240, 8)), drawn(60)[1]),
}
MANY = "more than a tile"  # of the engine's own size
ALL = {**EXTREMES, MANY: lambda: drawn(550, d=4)}


# More columns than are compared at once, and not a multiple of them.
@pytest.fixture(params=[72, pytest.param(_pair_tiles.TILE, marks=pytest.mark.slow)])
def tiles(request, monkeypatch):
    """Rows and columns of the tiles of a pass; the number of tiles of each pass so far."""
    size, numbers = request.param, []
    hold_tails(monkeypatch)
    collect = _pair_tiles.collect_tail

    def counted(probe, reference, floors, n_jobs):
        numbers.append(len(_pair_tiles.tiles_of(probe, reference, size)))
        return collect(probe, reference, floors, n_jobs, size)

    monkeypatch.setattr(_pair_tiles, "collect_tail", counted)
    yield numbers
    many = request.node.callspec.params["name"] == MANY
    assert (numbers and min(numbers) > 1) or (size == _pair_tiles.TILE and not many)


def decided(roc, scores, genuine, here, threshold, group=None):
    """Check the rates of a group at a threshold, to the last pair."""
    for rate, kind, errors in (
        ("far", here & ~genuine, scores >= threshold),
        ("frr", here & genuine, scores < threshold),
    ):
        found = roc.estimate(threshold=float(threshold), rate=rate, group=group)
        assert found.source == "all pairs"
        if kind.any():
            assert found.value == (errors & kind).sum() / kind.sum()


@cache
def extreme(name):
    """Rows, people, groups, and for all pairs: scores, genuine ones, those of group f."""
    X, y = ALL[name]()
    groups = np.array(GROUPS)[y % 2]
    left, right = np.triu_indices(len(y), 1)
    own = (groups[left] == "f") & (groups[right] == "f")
    return X, y, groups, *defined(X, y), own


@pytest.mark.parametrize(
    "name", [*EXTREMES, pytest.param(MANY, marks=pytest.mark.slow)]
)
@pytest.mark.filterwarnings("ignore")
def test_no_decision_depends_on_the_pass(name, tiles):
    X, y, groups, scores, genuine, own = extreme(name)
    roc = SimilarityROC(far_max=0.02, n_resamples=1, random_state=0).fit(X, y, groups)
    everything = np.ones_like(own)
    for group, here in ((None, everything), ("f", own)):
        impostors = np.sort(scores[here & ~genuine])[::-1]
        decided(roc, scores, genuine, here, np.float32(1.5), group)
        # What is held reaches below far_max, so that the data of its level are exact.
        reached = scores[scores > impostors[int(0.024 * len(impostors))]]
        for share in (0.01, 0.02) if reached.size else ():
            at = max(impostors[int(share * len(impostors))], min(reached))
            for side in (9, at, -9):
                beside = np.nextafter(at, np.float32(side))
                decided(roc, scores, genuine, here, beside, group)
        for far in (0.005, 0.01, 0.02):
            exceeding = [s for s in at_levels(impostors, far) if s is not None]
            expected = (scores[here & genuine] <= max(exceeding)).mean()
            point = "overall" if group is None else "group"
            found = roc.estimate(far, group=group, operating_point=point)
            assert found.value == pytest.approx(expected, rel=1e-12)


def at_levels(impostors, far):
    """Largest score at which more than a share of impostors is accepted."""
    tied = np.unique(impostors)[::-1]
    accepted = np.searchsorted(-impostors, -tied, "right") / len(impostors)
    return [next(s for s, share in zip(tied, accepted, strict=True) if share > far)]
