"""The oracle against what can be worked out by hand."""

import math
from collections import Counter
from fractions import Fraction as F
from itertools import product

import numpy as np
import pytest

from tests.metrics.oracle import Oracle

# Identities a (images 0, 1), b (2, 3), c (4)
IDENTITY = list("aabbc")
SCORES = np.eye(5)
for (_i, _j), _s in {
    (0, 1): 0.9,  # genuine a
    (2, 3): 0.4,  # genuine b
    (0, 2): 0.7,
    (0, 3): 0.5,
    (1, 2): 0.5,
    (1, 3): 0.1,
    (0, 4): 0.6,
    (1, 4): 0.2,
    (2, 4): 0.3,
    (3, 4): 0.0,
}.items():
    SCORES[_i, _j] = SCORES[_j, _i] = _s


def tiny(**options):
    return Oracle.one_side(SCORES, IDENTITY, **options)


def random_scores(seed, *shape):
    """Few distinct values, so that ties abound; s(x, x) = 1."""
    scores = np.random.default_rng(seed).integers(0, 8, shape) / 8
    if shape[0] == shape[-1] and len(shape) == 2:
        scores = np.triu(scores, 1) + np.triu(scores, 1).T + np.eye(shape[0])
    return scores


def random_weights(seed, identity):
    """An identity draw and, within each identity, an image draw."""
    rng = np.random.default_rng(seed)
    names = sorted(set(identity))
    v = Counter(rng.choice(names, len(names)).tolist())
    w = [0] * len(identity)
    for k in names:
        images = [i for i, label in enumerate(identity) if label == k]
        for i in rng.choice(images, len(images)):
            w[i] += 1
    return v, w


def test_rates_by_hand():
    pair, identity = tiny(), tiny(average="identity")
    assert pair.counts() == (2, 8)
    # accepted at .5, which is a tie: .7 .5 .5 of a-b, .6 of a-c, none of b-c
    assert pair.far(0.5) == F(4, 8)
    assert identity.far(0.5) == F(1, 3) * (F(3, 4) + F(1, 2) + 0)
    assert pair.frr(0.5) == identity.frr(0.5) == F(1, 2)
    assert pair.frr(0.4) == 0 and pair.frr(0.95) == 1


def test_averages_differ_and_coincide():
    identity = list("aaabb")
    pair = Oracle.one_side(SCORES, identity)
    other = Oracle.one_side(SCORES, identity, average="identity")
    # genuine a: .9 .7 .5, genuine b: 0
    assert pair.frr(0.6) == F(2, 4)
    assert other.frr(0.6) == F(1, 2) * (F(1, 3) + 1)
    scores = random_scores(1, 6, 6)
    both = [
        Oracle.one_side(scores, list("aabbcc"), average=a) for a in ("pair", "identity")
    ]
    for t in np.unique(scores):
        assert both[0].far(t) == both[1].far(t)
        assert both[0].frr(t) == both[1].frr(t)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_threshold_and_ties(dtype):
    oracle = Oracle.one_side(SCORES.astype(dtype), IDENTITY)

    def above(s):
        return np.nextafter(dtype(s), dtype(np.inf))

    assert oracle.threshold(0) == above(0.7)
    assert oracle.threshold(0.1) == above(0.7)
    assert oracle.threshold(0.125) == above(0.6)  # FAR(.7) = 1/8 does not exceed it
    assert oracle.threshold(0.25) == above(0.5)  # the two at .5 come together
    assert oracle.threshold(0.49) == above(0.5)
    assert oracle.threshold(0.5) == above(0.3)
    assert oracle.threshold(1) == -math.inf
    assert oracle.far(oracle.threshold(0.49)) == F(2, 8)


def test_level_is_the_decimal_it_shows():
    # 10 impostor pairs; the float 0.1 exceeds 1/10, 0.3 falls short of 3/10
    scores = np.arange(10) / 10
    oracle = Oracle.listed(scores, ["a"] * 10, ["b"] * 10)
    assert oracle.threshold(0.1) == np.nextafter(0.8, 1)
    assert oracle.threshold(0.3) == np.nextafter(0.6, 1)
    assert oracle.threshold(np.float64(0.3)) == np.nextafter(0.6, 1)


def test_groups_by_hand():
    group = ["g", "g", "g", "h", None]
    pair = tiny(group=group)
    assert pair.groups == ["g", "h"]
    assert pair.counts() == (2, 8)  # the unknown group counts overall
    assert pair.counts("g") == (1, 2)
    assert pair.counts("h") == (0, 0)
    assert pair.far(0.6, "g") == F(1, 2)
    assert math.isnan(pair.far(0.6, "h")) and math.isnan(pair.frr(0.6, "h"))
    # 0-3 and 1-3; 2-3 is genuine
    assert pair.far(0.5, ("g", "h")) == pair.far(0.5, ("h", "g")) == F(1, 2)
    with pytest.raises(ValueError, match="cross-group"):
        pair.frr(0.5, ("g", "h"))
    same = tiny(group=group, impostors="same_group")
    assert same.counts() == (2, 2)
    assert same.far(0.6) == F(1, 2) and same.frr(0.5) == F(1, 2)
    assert same.far(0.5, ("g", "h")) == F(1, 2)
    unknown = [None, "g", "g", float("nan"), None]  # unknown is no group to share
    assert tiny(group=unknown, impostors="same_group").counts() == (2, 1)


def test_identity_average_within_and_across_groups():
    group = ["g", "h", "g", "h", "h"]
    oracle = tiny(group=group, average="identity")
    # h: images 1 (a), 3 (b), 4 (c), one pair each: .1, .2, .0
    assert oracle.far(0.1, "h") == F(2, 3)
    # g-h, ordered: a-b .5, a-c .6, b-a .5, b-c .3: each pair of identities once
    assert oracle.far(0.5, ("g", "h")) == F(3, 4)
    # same group: a-b {.7, .1} 1/2 each, a-c {.2}, b-c {.0}
    same = tiny(group=group, average="identity", impostors="same_group")
    assert same.far(0.2) == F(1, 3) * (F(1, 2) + 1)


def test_two_sides_by_hand():
    scores = [[0.9, 0.5, 0.1], [0.2, 0.6, 0.6]]  # probes a, b; references a, b, b
    pair = Oracle.two_sides(scores, list("ab"), list("abb"))
    identity = Oracle.two_sides(scores, list("ab"), list("abb"), average="identity")
    assert pair.counts() == (3, 3)
    assert pair.far(0.2) == F(2, 3)
    assert identity.far(0.2) == F(1, 2) * (F(1, 2) + 1)  # a-b and b-a
    assert pair.frr(0.7) == F(2, 3) and identity.frr(0.7) == F(1, 2)
    w = ([1, 1], [1, 2, 0])
    assert pair.far(0.2, w=w) == 1 and identity.far(0.2, w=w) == 1
    crossed = Oracle.two_sides(
        scores, list("ab"), list("abb"), list("gh"), list("ghg"), average="identity"
    )
    assert crossed.far(0.5, ("g", "h")) == 1  # probe 0, reference 1
    assert math.isnan(crossed.far(0.2, ("h", "h")))  # b's only
    assert crossed.far(0.5, ("h", "g")) == 0  # probe 1, reference 0


def test_listed_by_hand():
    columns = ([0.9, 0.8, 0.3, 0.2], list("abab"), list("baca"))
    pair = Oracle.listed(*columns, image_1=[1, 2, 1, 2], image_2=[2, 1, 3, 4])
    identity = Oracle.listed(*columns, average="identity")
    # a-b three times, whichever comes first, and a-c once
    assert pair.far(0.8) == F(2, 4)
    assert identity.far(0.8) == F(1, 2) * (F(2, 3) + 0)
    assert math.isnan(pair.frr(0.5))
    assert pair.far(0.8, w={1: 2, 4: 0}) == F(4, 6)
    with pytest.raises(AssertionError, match="labels"):
        identity.far(0.8, w={1: 2})


def test_listed_and_complete_designs_agree():
    scores, y = random_scores(2, 7, 7), list("aabbbcd")
    a = list("gghghhg")
    i, j = np.triu_indices(7, 1)

    def pick(x):
        return [x[q] for q in i], [x[q] for q in j]

    for average, impostors in product(("pair", "identity"), ("all", "same_group")):
        options = {"average": average, "impostors": impostors}
        one = Oracle.one_side(scores, y, a, **options)
        listed = Oracle.listed(scores[i, j], *pick(y), *pick(a), i, j, **options)
        v, w = {"a": 2, "b": 1, "d": 3}, random_weights(3, y)[1]
        for t, g in product((0.25, 0.5), (None, "g", "h")):
            assert one.far(t, g, v, w) == listed.far(t, g, v, dict(enumerate(w)))
            assert one.frr(t, g) == listed.frr(t, g)


def test_a_resample_by_hand():
    oracle = tiny()
    w = [2, 0, 1, 1, 1]
    # a: a pair of copies of image 0, score 1; b: .4
    assert oracle.frr(0.5, w=w) == F(1, 2)
    assert oracle.frr(0.5, w=w, diagonal=False) == 1
    # 0-2 and 0-3 twice, 0-4 twice, 2-4, 3-4
    assert oracle.far(0.6, w=w) == F(4, 8)
    v = {"a": 2, "b": 1, "c": 0}
    assert oracle.far(0.5, v=v) == F(3, 4)
    assert oracle.frr(0.5, v=v) == F(1, 3)
    assert oracle.frr(0.5, v=Counter("bbb")) == 1
    assert math.isnan(oracle.far(0.5, v=Counter("bbb")))
    assert math.isnan(oracle.threshold(0.1, v=Counter("bbb")))


def test_a_pair_of_copies_may_be_rejected():
    scores = SCORES - 0.3 * np.eye(5)
    assert Oracle.one_side(scores, IDENTITY).frr(0.8, w=[2, 0, 1, 1, 1]) == 1


def test_copies_of_an_identity_with_one_image_in_the_group():
    group = ["g", "h", "g", "g", "g"]  # of a, only image 0 is in g
    w = [2, 0, 1, 1, 1]
    assert tiny(group=group).frr(0.5, "g", w=w) == F(1, 2)
    assert tiny(group=group, average="identity").frr(0.5, "g", w=w) == 1


@pytest.mark.parametrize("seed", range(3))
def test_total_weights_are_those_of_the_closed_form(seed):
    y, a = list("aaabbcdd"), list("gghghhgh")
    scores = random_scores(seed, 8, 8)
    v, w = random_weights(seed, y)
    names = sorted(set(y))
    for average, g in product(("pair", "identity"), (None, "g", "h")):
        oracle = Oracle.one_side(scores, y, a, average=average)
        masses = []
        for k in names:
            mine = [i for i in range(8) if y[i] == k and g in (None, a[i])]
            mass = F(v[k] * sum(w[i] for i in mine))
            masses.append(mass / max(len(mine), 1) if average == "identity" else mass)
        total = sum(x for _, x in oracle.weighted_impostors(g, v, w))
        assert total == (sum(masses) ** 2 - sum(m * m for m in masses)) / 2


def test_operating_points():
    oracle = tiny(group=["g", "g", "g", "h", "h"])
    g, h, overall = (oracle.threshold(0.4, x) for x in ("g", "h", None))
    assert (g, h) == (np.nextafter(0.7, 1), np.nextafter(0.0, 1))
    find = oracle.operating_thresholds
    assert find(0.4, "group") == {None: overall, "g": g, "h": h}
    assert find(0.4, "overall") == dict.fromkeys([None, "g", "h"], overall)
    assert find(0.4, "worst_group") == dict.fromkeys([None, "g", "h"], g)
    no_h = {"a": 1, "b": 1, "c": 0}  # leaves no impostor pair within h
    assert find(0.4, "worst_group", no_h) == dict.fromkeys([None, "g", "h"], g)


def test_replicate():
    oracle = tiny(group=["g", "g", "g", "h", "h"])
    make = oracle.replicate
    assert make(threshold=0.5, rate="far") == 0.5
    assert make(level=0.25) == 0.5  # at the threshold just above .5
    assert make(level=0.25, w=[2, 0, 1, 1, 1]) == 0.5
    assert make(threshold=0.3, rate="far", group=("g", "h")) == 3 / 5
    assert make(threshold=0.0, rate="far", how="max_min") == 1
    assert make(threshold=0.1, rate="far", how="max_min") == math.inf
    assert make(threshold=0.0, rate="far", how=("ratio", "g", "h")) == 1
    # h has no genuine pair: one group is left
    assert math.isnan(make(threshold=0.1, rate="frr", how="max_min"))
    # h has impostor pairs, but not in this resample
    no_h = {"a": 1, "b": 1, "c": 0}
    assert math.isnan(make(threshold=0.1, rate="far", how="difference", v=no_h))


def test_disparities():
    find = tiny().disparity
    fmr, fnmr = [0.001, 0.002, 0.004, 0.008], [0.01, 0.02, 0.02, 0.05]
    vectors = {
        "max_min": (8, 5),
        "max_geomean": (2.8284271247461916, 2.3643540225079387),
        "log_geomean": (1.2041199826559246, 0.7474250108400472),
        "gini": (0.5111111111, 0.4),
        "difference": (0.007, 0.04),
        "std": (np.std(fmr), np.std(fnmr)),
    }
    for how, (x, y) in vectors.items():
        assert find(fmr, how) == pytest.approx(x, rel=1e-9)
        assert find(fnmr, how) == pytest.approx(y, rel=1e-9)
        assert math.isnan(find([0.1, math.nan], how)) and math.isnan(find([0.1], how))
    assert find(fmr, "std", ddof=1) == pytest.approx(np.std(fmr, ddof=1))
    assert find([0.2, 0.1], "ratio") == 0.5 and find([0, 0.1], "ratio") == math.inf
    for how in ("max_min", "max_geomean", "log_geomean"):
        assert find([0, 0.1], how) == math.inf and math.isnan(find([0, 0], how))
    assert find([0, 0.1], "gini") == 1 and math.isnan(find([0, 0], "gini"))


def test_support():
    oracle = tiny()
    assert oracle.support(0.5, "far") == (4, 3, 1)  # every one touches a
    assert oracle.support(0.3, "far") == (5, 3, F(4, 5))
    assert oracle.support(0.5, "frr") == (1, 1, 1)
    assert oracle.support(0.1, "frr") == (0, 0, 0)


@pytest.mark.parametrize("average", ["pair", "identity"])
def test_v_statistic(average):
    y, a = list("aaabbc"), list("ghgggg")
    oracle = Oracle.one_side(random_scores(4, 6, 6), y, a, average=average)
    for t in (0.3, 0.6, 0.9, 1.5):
        for g in (None, "g"):
            expected = oracle.v_statistic_frr(t, g)
            assert expected == oracle.v_statistic_frr_enumerated(t, g)
            # without the copies, and rescaled, the resamples are centred
            centred = oracle.v_statistic_frr_enumerated(t, g, diagonal=False)
            assert centred == oracle.frr(t, g)
    # Σ_k c_k (1 - 1/n_k) FRR_k where s(x, x) is accepted
    c = {"pair": (F(3, 4), F(1, 4)), "identity": (F(1, 2), F(1, 2))}[average]
    one = [Oracle.one_side(random_scores(4, 6, 6)[s, s], "k" * n).frr(0.6)
           for s, n in ((slice(0, 3), 3), (slice(3, 5), 2))]  # fmt: skip
    assert oracle.v_statistic_frr(0.6) == sum(
        c[q] * (1 - F(1, n)) * one[q] for q, n in enumerate((3, 2))
    )


@pytest.mark.parametrize("average", ["pair", "identity"])
def test_recentring_is_a_no_op(average):
    y = list("aaabbc")
    one = Oracle.one_side(random_scores(5, 6, 6), y, average=average)
    t = 0.5
    mean = sum(p * one.far(t, w=w) for p, w in one.image_resamples())
    assert mean == one.far(t)

    # identities: expected errors over expected total, all 3**3 draws
    rates = {"impostors": [0, 0], "genuine": [0, 0]}
    for draw in product("abc", repeat=3):
        for name, sums in rates.items():
            for s, x in getattr(one, f"weighted_{name}")(v=Counter(draw)):
                sums[0] += x * ((s >= t) == (name == "impostors"))
                sums[1] += x
    assert F(*rates["impostors"]) == one.far(t)
    assert F(*rates["genuine"]) == one.frr(t)

    # two sides, drawn independently: the totals do not vary, the mean is the value
    two = Oracle.two_sides(random_scores(6, 6, 4), y, "abbc", average=average)
    other = Oracle.one_side(np.eye(4), "abbc")
    far = frr = 0
    for (p, w_p), (q, w_r) in product(one.image_resamples(), other.image_resamples()):
        far += p * q * two.far(t, w=(w_p, w_r))
        frr += p * q * two.frr(t, w=(w_p, w_r))
    assert (far, frr) == (two.far(t), two.frr(t))
    assert two.v_statistic_frr(t) == two.frr(t)


def test_equal_image_counts_leave_scale_invariant_disparities():
    y = list("aaabbbcccddd")
    oracle = Oracle.one_side(random_scores(7, 12, 12), y, ["g"] * 6 + ["h"] * 6)
    plain = [oracle.frr(0.6, g) for g in "gh"]
    shrunk = [oracle.v_statistic_frr(0.6, g) for g in "gh"]
    assert shrunk == [F(2, 3) * x for x in plain] and plain[0] != plain[1]
    for how in ("max_min", "max_geomean", "gini", "ratio"):
        assert oracle.disparity(shrunk, how) == pytest.approx(
            oracle.disparity(plain, how), rel=1e-14
        )
