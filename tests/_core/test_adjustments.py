"""Facts of adjusted scores: those of a double loop, and no pair at its floor is dismissed."""

from dataclasses import replace
from functools import cache
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from skfairfr._core._adjustments import Adjustment
from skfairfr._core._calibration import EDGE, Curves, joined
from skfairfr._core._pair_tiles import unit_rows
from skfairfr._core._pairs import compare_images
from skfairfr._core._resampling import Totals
from skfairfr._core._score_costs import score_moments
from tests._core.cases import make_images, make_vectors
from tests._core.test_inner_products import all_scores
from tests._core.test_pair_tiles import collected, exact_tail, same_floor

KINDS = ["affine", "calibrated", "logistic", "isotonic", "beta"]
CURVES = {
    "logistic": [[0.0, 1.0], [0.3, -2.0], [40.0, 3.0]],
    "beta": [[0.0, 5.0, 1.0], [3.0, 2.0, -7.0], [40.0, 0.0, 0.0]],
    "isotonic": [
        [[-0.2, 0.1, 0.1001, 0.9], [-9.0, -1.0, 3.0, 3.0]],
        [[0.3, 0.4], [-2.0, 2.0]],
    ],
}


def make_adjustment(kind, n, rng, spread=1.0):
    """Numbers of n images; those of a calibrated score belong to a few clusters."""
    if kind in CURVES:
        base = make_adjustment("affine", n, rng, spread)
        curves = [np.array(curve) for curve in CURVES[kind]]
        return replace(
            base, curves=Curves(kind, curves, rng.integers(0, len(curves), n))
        )
    if kind == "affine":
        gain = np.exp(spread * rng.normal(size=n))
        return Adjustment.affine(gain, spread * rng.normal(size=n))
    cluster = rng.integers(0, 4, n)
    a, b = rng.choice([0.0, 0.3, 5.0, 40.0], size=(2, 4))
    c = rng.choice([-500.0, -1.0, 0.0, 2.0], 4)
    return Adjustment.calibrated(
        a[cluster], b[cluster], c[cluster], rng.integers(1, 50, 4)[cluster]
    )


def score_table(vectors, adjustment):
    """float32 scores of all pairs: affine ones by Python's floats, the others row by row.

    Calibrated scores are compared with many digits below.
    """
    products = all_scores(vectors, vectors)
    table, n = np.empty_like(products), range(len(vectors))
    for i in n:
        if adjustment.curves is not None:
            table[i] = adjustment[np.full(len(n), i)].of_pairs(products[i], adjustment)
            continue
        for j in n:
            (g, o), (h, q) = adjustment.numbers[:, [i, j]].T.tolist()
            table[i, j] = float(products[i, j]) * (g + h) - (o + q)
    return table


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("sides", "seed", "n_identities", "tile"),
    [(1, 0, 16, 16), (2, 1, 16, 16), (1, 3, 30, 40), (2, 4, 30, 24)],
)
def test_the_tail_is_that_of_a_double_loop(kind, sides, seed, n_identities, tile):
    images, vectors, adjustment, tails = tails_of(kind, sides, seed, n_identities)
    for floors, tail in tails:
        assert collected(images, vectors, floors, tile, adjustment) == tail


@cache
def tails_of(kind, sides, seed, n_identities):
    """Images, rows, numbers, and (floors, tail by the loop)."""
    rng = np.random.default_rng(seed)
    images = make_images(seed, sides=sides, groups="unknown", n_identities=n_identities)
    n = images.identity.size
    vectors = make_vectors(images, seed, n_features=9)
    # Rows of very different lengths: the bound of the screen must hold for each.
    vectors = vectors * np.float32(2) ** rng.integers(-2, 3, (n, 1)).astype(np.float32)
    adjustment = make_adjustment(kind, n, rng)
    scores = score_table(vectors, adjustment)
    some = np.sort(scores[np.triu_indices(n, 1)])
    tails = []
    for place in (0, some.size // 2, -20, -1):
        floors = same_floor(some[place])
        floors[0, 0], floors[1, 1] = np.nextafter(some[place], np.inf), -np.inf
        if sides == 2:  # the order of the groups matters
            floors[1, 0] = 1e6
        tails.append((floors, exact_tail(images, scores, floors)))
    return images, vectors, adjustment, tails


def test_rounding_of_the_screen_loses_no_pair():
    """All scores nearly equal and all floors at one of them: any error would show."""
    rng = np.random.default_rng(0)
    row = rng.normal(size=64)
    X = row + 1e-4 * rng.normal(size=(100, 64))
    images = make_images(0, n_identities=20, most=5)
    vectors = unit_rows(X[: images.identity.size], "cosine")
    for kind in KINDS:
        adjustment = make_adjustment(kind, len(vectors), rng, spread=1e-5)
        scores = score_table(vectors, adjustment)
        for floor in np.unique(scores)[::200]:
            floors = same_floor(floor)
            expected = exact_tail(images, scores, floors)
            for tile in (16, 128):
                found = collected(images, vectors, floors, tile, adjustment)
                assert found == expected


@pytest.mark.parametrize("kind", CURVES)
def test_a_pair_has_the_mean_of_both_images_curves(kind):
    rng = np.random.default_rng(4)
    adjustment = make_adjustment(kind, 40, rng)
    tile = rng.uniform(-1, 1, (40, 40)).astype(np.float32)
    base, plain = tile.astype(np.float32), replace(adjustment, curves=None)
    plain.adjust_tile(base, plain)
    base = base.astype(np.float64)
    expected = [
        [
            np.mean([value_of(kind, CURVES[kind][k], base[i, j]) for k in (one, other)])
            for j, other in enumerate(adjustment.curves.of_image)
        ]
        for i, one in enumerate(adjustment.curves.of_image)
    ]
    adjustment.adjust_tile(tile, adjustment)
    assert_allclose(tile, expected, rtol=1e-6, atol=1e-6)


def value_of(kind, curve, score):
    """The formula of a curve, or a line between two of its points."""
    if kind == "logistic":
        return curve[0] * score + curve[1]
    if kind == "beta":
        q = min(max((1 + score) / 2, EDGE), 1 - EDGE)
        return curve[0] * np.log(q) - curve[1] * np.log(1 - q) + curve[2]
    points = list(zip(*curve, strict=True))
    if score <= points[0][0]:
        return points[0][1]
    for (x, y), (after, value) in pairwise(points):
        if score <= after:
            return y + (value - y) * (score - x) / (after - x)
    return points[-1][1]


def test_calibrated_scores_against_many_digits():
    rng = np.random.default_rng(8)
    adjustment = make_adjustment("calibrated", 40, rng)
    other = make_adjustment("calibrated", 40, rng)
    scores = rng.uniform(-1, 1, 40).astype(np.float32)
    scores[:2] = -1, 1
    found = adjustment.of_pairs(scores, other)
    for p, score in enumerate(scores.tolist()):
        q = min(max((1 + mpmath.mpf(score)) / 2, EDGE), 1 - mpmath.mpf(EDGE))
        means, weights = 0, 0
        with mpmath.workdps(700):
            for curves in (adjustment.curves, other.curves):
                numbers = curves.curves[curves.of_image[p]].tolist()
                a, b, c = map(mpmath.mpf, numbers)
                w = mpmath.mpf(curves.weights[p])
                z = a * mpmath.log(q) - b * mpmath.log(1 - q) + c
                means += w / (1 + mpmath.exp(-z))
                weights += w
            mean = means / weights
            exact = mpmath.log(mean / (1 - mean))
        assert abs(found[p] - exact) <= 1e-6 * (1 + abs(exact))


@pytest.mark.parametrize("kind", KINDS)
def test_a_tile_has_the_scores_of_its_pairs(kind):
    rng = np.random.default_rng(9)
    adjustment = make_adjustment(kind, 30, rng)
    tile = rng.uniform(-1, 1, (30, 30)).astype(np.float32)
    left, right = np.indices(tile.shape).reshape(2, -1)
    of_pairs = adjustment[left].of_pairs(tile.ravel(), adjustment[right])
    adjustment.adjust_tile(tile, adjustment)
    assert_array_equal(tile.ravel(), of_pairs)


def test_steep_curves_have_finite_scores_that_differ():
    steep = Adjustment.calibrated([1e4, 1e4], [1e4, 0], [0, 0], [1, 1])
    ends = np.array([-1, 0.5, 1], dtype=np.float32)
    found = steep[[0, 0, 0]].of_pairs(ends, steep[[0, 1, 0]])
    assert np.isfinite(found).all()
    assert (np.diff(found) > 1000).all()


def test_a_steep_curve_beside_one_that_is_not():
    """The probabilities 0 or 1, and q, weigh the same."""
    both = Adjustment.calibrated([1e4, 1], [1e4, 1], [0, 0], [1, 1])
    cosines = np.array([-0.5, 0.5], dtype=np.float32)
    found = both[[0, 0]].of_pairs(cosines, both[[1, 1]])
    assert_allclose(found, [np.log(0.125 / 0.875), np.log(0.875 / 0.125)], rtol=1e-6)


@pytest.mark.parametrize("kind", ["calibrated", "logistic", "isotonic", "beta"])
@given(seed=st.integers(0, 2**32 - 1))
def test_limits_are_below_every_product_that_reaches_the_floor(kind, seed):
    rng = np.random.default_rng(seed)
    adjustment = make_adjustment(kind, 6, rng)
    if adjustment.curves is not None:  # of the products themselves
        adjustment = replace(Adjustment.shifted(np.zeros(6)), curves=adjustment.curves)
    floors = rng.normal(0, 5, 3).astype(np.float32)
    limits, curve = adjustment.limits(floors)
    limits = limits[:, curve]
    i, j, place = np.indices((6, 6, 400)).reshape(3, -1)
    scores = rng.uniform(-1, 1, 400).astype(np.float32)[place]
    found = adjustment[i].of_pairs(scores, adjustment[j])
    for floor, limit in zip(floors, limits, strict=True):
        reaching = found >= floor
        assert (scores >= np.minimum(limit[i], limit[j]))[reaching].all()


@pytest.mark.parametrize("wrong", [(-1, 1, 0, 1), (1, -1, 0, 1), (1, 1, 0, 0)])
def test_slopes_and_weights_out_of_range_are_an_error(wrong):
    with pytest.raises(ValueError, match="at least 0, and weight must be above 0"):
        Adjustment.calibrated(*([number] for number in wrong))


def test_limits_hold_where_one_product_more_is_much_of_a_score():
    """Near -1 the last product below a limit is below the floor, by many digits."""
    numbers = a, b, c = 40.0, 0.3, 2.0
    adjustment = Adjustment.calibrated(*([number] for number in numbers), [1])

    def score_of(cosine):
        q = (1 + mpmath.mpf(float(cosine))) / 2
        return a * mpmath.log(q) - b * mpmath.log(1 - q) + c

    products = (-1 + 2.0 ** -np.arange(3.0, 21)).astype(np.float32)
    floors = np.array([score_of(cosine) for cosine in products], np.float32)
    limits, _ = adjustment.limits(floors)
    last = np.nextafter(limits[:, 0], np.float32(-np.inf))
    for floor, below in zip(floors, last, strict=True):
        assert score_of(below) < floor
    assert_allclose(limits[:, 0], products, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_moments_are_of_adjusted_scores(kind):
    rng = np.random.default_rng(5)
    images = make_images(5, n_identities=25)
    n = images.identity.size
    vectors = unit_rows(rng.normal(size=(n, 5)), "cosine")
    adjustment = make_adjustment(kind, n, rng)
    totals = Totals(images, "pair", "all")
    pairs = compare_images(vectors, totals, 0.1, adjustment=adjustment)
    table = score_table(vectors, adjustment)
    i, j = np.triu_indices(n, 1)
    impostor = images.identity[i] != images.identity[j]
    for scope in (None, (0, 0), (1, 1)):
        inside = impostor
        if scope is not None:
            inside = inside & (images.group[i] == scope[0])
            inside = inside & (images.group[j] == scope[0])
        scores = table[i, j][inside].astype(np.float64)
        n_pairs, mean, sd = score_moments(pairs, scope)[3:]
        assert n_pairs == scores.size
        np.testing.assert_allclose((mean, sd), (scores.mean(), scores.std()), rtol=1e-5)


@given(*[st.floats(-600, 600)] * 2, st.floats(0.01, 0.99))
def test_the_log_odds_of_a_mean_of_probabilities(first, second, w):
    one, other, w = (mpmath.mpf(x) for x in (first, second, w))
    with mpmath.workdps(400):
        means = [
            mpmath.log(w / (1 + mpmath.exp(-a)) + (1 - w) / (1 + mpmath.exp(-b)))
            for a, b in ((one, other), (-one, -other))
        ]
    found = joined(np.float64(first), np.float64(second), float(w), float(1 - w))
    assert_allclose(found, float(means[0] - means[1]), rtol=1e-12, atol=1e-14)
