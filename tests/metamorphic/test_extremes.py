"""Extreme data against float64: lengths, dimensions, ties, and few or dominant people.

The oracle takes every pair in float64. It may decide otherwise about a pair only where the
score is within the rounding of float32 of the threshold; such near-ties are counted, and so
is how many of them were decided otherwise.

The package counts none, because no decision hangs on how a score was computed: a score has
one definition (float64 sums of unit rows in float32, in one order), and every pass decides
by it, bit for bit. ``test_no_decision_depends_on_the_pass`` puts thresholds at scores and at
the numbers beside them, so that every pair of the threshold's is a near-tie.
"""

import warnings
from functools import cache

import numpy as np
import pytest

from skfairfr import SimilarityROC
from skfairfr._core import _pair_tiles
from skfairfr.metrics import all_pairs, frr_at_far, instance_far, threshold_at_far
from skfairfr.report import audit
from tests._core.test_inner_products import all_scores
from tests.metrics.designs import hold_tails

# Of a cosine of rows of d features in float32; relative, of a score.
EPS = np.finfo(np.float32).eps
GROUPS = ("f", "m")


def drawn(n_people=12, n_images=4, d=8, scale=1.0, rng=0):
    """Embeddings of some length, identities and groups of two halves of the people."""
    rng = np.random.default_rng(rng)
    y = np.repeat(np.arange(n_people), n_images)
    X = rng.normal(size=(n_people, d))[y] + 0.6 * rng.normal(size=(len(y), d))
    return scale * X, y, np.array(GROUPS)[y % 2]


def scored(X, y, groups):
    """Scores of all pairs in float64, and which pairs are genuine and of one group."""
    X = np.asarray(X, dtype=np.float64)
    # Divided by the largest first: squares of 1e-200 vanish.
    X = X / np.abs(X).max(axis=1, keepdims=True)
    X = X / np.sqrt((X * X).sum(axis=1, keepdims=True))
    left, right = np.triu_indices(len(y), 1)
    scores = np.array([np.dot(X[i], X[j]) for i, j in zip(left, right, strict=True)])
    inside = np.where(groups[left] == groups[right], groups[left], "across")
    return scores, y[left] == y[right], inside


def fitted(X, y, groups, **options):
    options = {"resample": "identities", "n_resamples": 5, "far_max": 0.5} | options
    with warnings.catch_warnings():
        # Few people, and groups without errors.
        warnings.simplefilter("ignore")
        return SimilarityROC(**options, random_state=0).fit(X, y, groups)


def counted(roc, threshold, group, rate):
    """Number of errors at a threshold."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = roc.estimate(threshold=threshold, rate=rate, group=group)
    total = found.n_impostor if rate == "far" else found.n_genuine
    return round(float(found.value * total)), int(total)


def near_ties(X, y, groups, roc, thresholds):
    """Pairs within rounding of a threshold, and those of them that are decided otherwise.

    Raises unless all others are decided as in float64.
    """
    scores, genuine, inside = scored(X, y, groups)
    rounding = 4 * np.sqrt(X.shape[1]) * EPS
    n_near = n_flipped = 0
    for threshold in thresholds:
        for group in (None, *GROUPS):
            here = np.ones(len(scores), bool) if group is None else inside == group
            for rate, kind, errors in (
                ("far", ~genuine, scores >= threshold),
                ("frr", genuine, scores < threshold),
            ):
                found, total = counted(roc, threshold, group, rate)
                assert total == (here & kind).sum()
                near = int((here & kind & (abs(scores - threshold) <= rounding)).sum())
                flipped = abs(found - int((here & kind & errors).sum()))
                assert flipped <= near
                n_near, n_flipped = n_near + near, n_flipped + flipped
    return n_near, n_flipped


@pytest.mark.parametrize("scale", [1e-30, 1e-12, 1.0, 1e30, 1e150, 1e-150])
def test_rows_of_any_length(scale):
    X, y, groups = drawn(scale=scale)
    roc = fitted(X, y, groups)
    assert near_ties(X, y, groups, roc, np.linspace(-0.95, 0.95, 8)) == (0, 0)
    np.testing.assert_array_equal(all_pairs(X, y)[1], all_pairs(*drawn()[:2])[1])


@pytest.mark.parametrize("d", [1, 16])
def test_ties_of_exact_scores_are_decided_as_in_float64(d):
    rng = np.random.default_rng(3)
    y = np.repeat(np.arange(10), 3)
    # Cosines are multiples of 1/8 (of d = 16), or -1 and 1, which float32 holds.
    X = rng.choice([-0.25, 0.25], size=(30, d))
    groups = np.array(GROUPS)[y % 2]
    scores = scored(X, y, groups)[0]
    thresholds = np.unique(scores)
    roc = fitted(X, y, groups)
    n_near, n_flipped = near_ties(X, y, groups, roc, thresholds)
    assert n_near > len(scores) and n_flipped == 0


def test_a_threshold_set_by_ties_is_that_of_float64():
    rng = np.random.default_rng(4)
    y = np.repeat(np.arange(20), 2)
    X = rng.choice([-0.25, 0.25], size=(40, 16))
    groups = np.array(GROUPS)[y % 2]
    scores, genuine, _ = scored(X, y, groups)
    roc = fitted(X, y, groups)
    impostors = scores[~genuine]
    for far in (0.01, 0.05, 0.2, 0.4):
        kept = [t for t in np.unique(scores) if (impostors >= t).mean() <= far]
        errors, total = counted(roc, min(kept), None, "far")
        assert errors / total <= far
        # Any threshold in the gap below accepts the same pairs.
        accepted = (scores >= roc.threshold_at(far)).tolist()
        assert accepted == (scores >= min(kept)).tolist()
        y_true = genuine.astype(int)
        assert threshold_at_far(y_true, scores, far=far) <= min(kept)
        expected = (scores[genuine] < min(kept)).mean()
        assert frr_at_far(y_true, scores, far=far) == expected
        assert roc.estimate(far).value == pytest.approx(expected, abs=1e-12)


@pytest.mark.filterwarnings("ignore")
def test_all_scores_equal():
    y = np.repeat(np.arange(8), 3)
    X = np.ones((24, 4))
    groups = np.array(GROUPS)[y % 2]
    roc = fitted(X, y, groups)
    # Nobody can be accepted at a FAR below 1, so that everybody is rejected.
    for group in (None, *GROUPS):
        assert roc.estimate(0.1, group=group).value == 1
        assert roc.estimate(0.1, rate="far", group=group).value == 0
    assert roc.equal_error_rate().value == pytest.approx(0.5)
    assert counted(roc, 0.5, None, "far") == (252, 252)
    report = audit(X, y, groups, attribute="gender", far=0.1, n_resamples=10)
    table = report.to_frame("rates", "pandas")
    assert table["frr"].tolist() == [1, 1, 1] and table["far"].tolist() == [0, 0, 0]


@pytest.mark.filterwarnings("ignore")
def test_a_person_with_half_of_all_images():
    X, y, groups = drawn(n_people=21, n_images=2)
    y = np.where(np.arange(42) < 21, 0, y)
    groups = np.array(GROUPS)[y % 2]
    by_pair = fitted(X, y, groups)
    assert near_ties(X, y, groups, by_pair, np.linspace(-0.9, 0.9, 15)) == (0, 0)
    scores, genuine, _ = scored(X, y, groups)
    # By identity every two people weigh the same, and so does everybody.
    left, right = np.triu_indices(len(y), 1)
    ends = np.sort(np.stack([y[left], y[right]]), axis=0)
    by_identity = fitted(X, y, groups, average="identity")
    for rate, kind in (("far", ~genuine), ("frr", genuine)):
        errors = (scores >= 0.3) if rate == "far" else (scores < 0.3)
        shares = {}
        for pair, error in zip(ends[:, kind].T.tolist(), errors[kind], strict=True):
            shares.setdefault(tuple(pair), []).append(error)
        expected = np.mean([np.mean(share) for share in shares.values()])
        found = by_identity.estimate(threshold=0.3, rate=rate).value
        assert found == pytest.approx(expected, rel=1e-12)
    # The false acceptances of each image, by a loop over pairs.
    wrong = (scores >= 0.3) & ~genuine
    counts = np.bincount(left[wrong], minlength=42) + np.bincount(
        right[wrong], minlength=42
    )
    others = np.array([(y != own).sum() for own in y])
    found = instance_far(X, y, threshold=0.3)
    np.testing.assert_allclose(np.ravel(found.instance_far), counts / others)


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
    "one feature": lambda: drawn(60, d=1)[:2],
    "8192 features": lambda: drawn(20, d=8192)[:2],
    "few scores": lambda: (np.sign(drawn(60, d=16)[0]), drawn(60)[1]),
    "few scores, rounded": leaning_signs,
    "scores nearly equal": nearly_tied,
    "half of one person": lambda: (drawn(60)[0], with_a_giant(drawn(60)[1])),
    "all equal": lambda: (np.ones((240, 8)), drawn(60)[1]),
}
MANY = "more than a tile"  # of the engine's own size
ALL = {**EXTREMES, MANY: lambda: drawn(550, d=4)[:2]}


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
