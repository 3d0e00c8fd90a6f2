"""Facts of sorted pairs: their order, and running sums, which are those of a plain loop."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal

from skfairfr._core import _pair_sequences
from skfairfr._core._pair_sequences import (
    CHUNK,
    PairSequence,
    RunningSums,
    sort_pairs,
    split_by_groups,
)
from skfairfr._core._resampling import draw
from tests._core.cases import make_images

FORMATS = [("uint8", False), ("uint8", True), ("float64", False), ("float64", True)]
formats = pytest.mark.parametrize(("dtype", "with_base"), FORMATS)
# Whole chunks and the ones before and after, none and few.
SIZES = (0, 1, 5, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK)


def make_sequence(n=40, with_base=True, complete=True):
    """A sequence with ties."""
    rng = np.random.default_rng(0)
    scores = np.sort(rng.integers(-6, 7, n) / 4)[::-1].astype(np.float32)
    units = tuple(rng.integers(0, 5, (2, n)).astype(np.int32))
    base = rng.integers(1, 9, n) / 8 if with_base else None
    return PairSequence(scores, *units, base, complete)


def test_taking_pairs_keeps_what_belongs_together():
    held = make_sequence(complete=False)
    few = held.take(np.arange(40) % 3 == 0)
    assert_array_equal(few.base, held.base[::3])
    assert_array_equal(few.left, held.left[::3])
    assert not few.complete
    assert replace(held, base=None).take([1, 2]).base is None


# ---- running sums --------------------------------------------------------------------


def make_pairs(seed, n_pairs, dtype="uint8", with_base=False, n_resamples=3, most=3):
    """Arguments of RunningSums; base weights are eighths, so that sums are exact."""
    rng = np.random.default_rng(seed)
    weights = tuple(
        rng.integers(0, most + 1, (n_units, n_resamples)).astype(dtype)
        for n_units in (9, 7)
    )
    units = tuple(rng.integers(0, n, n_pairs).astype(np.int32) for n in (9, 7))
    base = rng.integers(0, 9, n_pairs) / 8 if with_base else None
    return n_pairs, base, weights, units


def accumulated(n_pairs, base, weights=None, units=None):
    """Running sums after every pair, (n_resamples, 1 + n_pairs), from all products."""
    products = np.ones((n_pairs, 1))
    if weights is not None:
        products = (
            weights[0].astype(float)[units[0]] * weights[1].astype(float)[units[1]]
        )
    if base is not None:
        products = products * base[:, None]
    # Eighths: these sums are exact in any order.
    return np.insert(np.cumsum(products, axis=0), 0, 0.0, axis=0).T


def positions_by_loop(sums, targets):
    """First pair after which a sum exceeds the target."""
    found = [
        [np.flatnonzero(sums[r, 1:] > t) for r, t in enumerate(row)] for row in targets
    ]
    return [[int(f[0]) if f.size else -1 for f in row] for row in found]


@pytest.mark.parametrize("drawn", [True, False])
@formats
def test_running_sums_are_those_of_a_loop(dtype, with_base, drawn):
    for n_pairs in SIZES:
        pairs = make_pairs(n_pairs, n_pairs, dtype, with_base)
        pairs = pairs if drawn else pairs[:2]
        sums = accumulated(*pairs)
        # Levels between and at the sums, several in one chunk, and none beyond the last.
        targets = np.array([0, 0.01, 0.02, 0.5, 0.99, 1, 1.5])[:, None] * sums[:, -1]
        positions = RunningSums(*pairs).first_exceeding(targets)
        assert positions.tolist() == positions_by_loop(sums, targets)
        rng = np.random.default_rng(n_pairs)
        places = rng.integers(0, n_pairs + 1, (8, len(sums)))
        expected = np.take_along_axis(sums, places.T, axis=1).T
        assert_array_equal(RunningSums(*pairs).before(places), expected)
        assert_array_equal(RunningSums(*pairs).total(), sums[:, -1])
        shared = np.sort(places[:, 0])
        up_to = RunningSums(*pairs).up_to(shared)
        assert_allclose(up_to, sums[:, shared].T, rtol=1e-12)


@settings(deadline=None)
@given(
    st.integers(0, 1000),
    st.integers(0, 5 * CHUNK),
    st.sampled_from([1, 3, 100, CHUNK, 300]),
    st.sampled_from(FORMATS),
)
def test_rows_that_are_known_change_no_sum(seed, n_pairs, step, kind):
    pairs = make_pairs(seed, n_pairs, *kind)
    rng = np.random.default_rng(seed)
    total = accumulated(*pairs)[:, -1]
    targets = np.sort(rng.uniform(0, 1.2, (3, 3)), axis=0) * total
    positions = rng.integers(0, n_pairs + 1, (3, 3))
    crossed, before = (
        RunningSums(*pairs).first_exceeding(targets),
        RunningSums(*pairs).before(positions),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_pair_sequences, "LEAST", step)
        sums = RunningSums(*pairs)
    for _ in range(2):
        assert_array_equal(sums.first_exceeding(targets), crossed)
        assert_array_equal(sums.before(positions), before)


def test_the_largest_multiplicities_do_not_overflow():
    n_pairs = 160 * CHUNK  # 255 * 255 * n_pairs is above 2 ** 31
    unit = np.full((1, 2), 255, dtype=np.uint8)
    zero = np.zeros(n_pairs, dtype=np.int32)
    running = RunningSums(n_pairs, None, (unit, unit), (zero, zero))
    ends = np.array([[n_pairs // 2] * 2, [n_pairs] * 2])
    sums = running.before(ends)
    assert sums.tolist() == (ends * 255 * 255).tolist()
    assert running.first_exceeding(sums[:1]).tolist() == [[n_pairs // 2] * 2]


@pytest.mark.parametrize("order", [1, -1])
def test_a_multiplicity_beyond_bytes_does_not_overflow_beside_one_within(order):
    n_pairs = 2 * CHUNK  # 255 * 2**16 * CHUNK is above 2 ** 31
    units = [np.full((1, 1), 255, dtype=np.uint8), np.full((1, 1), 2.0**16)][::order]
    zero = np.zeros(n_pairs, dtype=np.int32)
    running = RunningSums(n_pairs, None, tuple(units), (zero, zero))
    assert running.total().tolist() == [n_pairs * 255 * 2**16]


@pytest.mark.parametrize("n_kept", [0, 1, 2])
def test_no_more_running_sums_are_kept_than_allowed(n_kept, monkeypatch):
    images, sequence = make_images(0), make_sequence(with_base=False)
    weights = [draw(images, "images", 0, k, k + 8) for k in (0, 8)]
    expected = [make_sequence(with_base=False).weighed(w, images) for w in weights]
    monkeypatch.setattr(_pair_sequences, "KEPT_BYTES", n_kept * expected[0].n_bytes)
    for of, sums in zip(weights, expected, strict=True):
        found = sequence.weighed(of, images)
        assert_array_equal(found.total(), sums.total())
        assert sequence.weighed(of, images).n_bytes == sums.n_bytes
    assert len(sequence._sums) == n_kept


def test_without_weight_nothing_exceeds_zero():
    n, base, weights, units = make_pairs(0, 10)
    nothing = tuple(np.zeros_like(w) for w in weights)
    running = RunningSums(n, base, nothing, units)
    assert (running.first_exceeding(np.zeros((2, 3))) == -1).all()
    assert running.first_exceeding(np.zeros((0, 3))).shape == (0, 3)


@pytest.mark.parametrize("n_groups", [1, 3, 12])
@pytest.mark.parametrize(
    ("across", "ordered"), [(False, False), (True, False), (True, True)]
)
def test_pairs_split_by_their_groups_keep_their_order(n_groups, across, ordered):
    rng = np.random.default_rng(n_groups)
    group = rng.integers(-1, n_groups, 40)
    left, right = rng.integers(0, 40, (2, 200)).astype(np.int32)
    scores = np.sort(rng.random(200).astype(np.float32))[::-1].copy()
    *columns, bounds = split_by_groups(
        scores, left, right, group, n_groups, across, ordered
    )
    cells = [(g, h) for g in range(n_groups) for h in range(n_groups)]
    for c, (g, h) in enumerate(cells if across else [(g, g) for g in range(n_groups)]):
        wanted = [(g, h)] if ordered or g == h else [(g, h), (h, g)]
        rows = [p for p in range(200) if (group[left[p]], group[right[p]]) in wanted]
        rows = rows if ordered or g <= h else []
        rows = rows if across == (g != h) else []
        run = slice(bounds[c], bounds[c + 1])
        for column, whole in zip(columns, (scores, left, right), strict=True):
            assert_array_equal(column[run], whole[rows])


# ---- the radix sort, against numpy's stable argsort ----------------------------------


SPECIAL = np.array([0.0, -0.0, 1e-45, -1e-45, 3e38, -3e38, np.inf, -np.inf, 1.0, -1.0])


def assert_sorted_as_by_numpy(scores):
    left = np.arange(scores.size, dtype=np.int32)
    right = np.arange(scores.size, dtype=np.int32)[::-1].copy()
    order = np.argsort(-scores, kind="stable")
    got = sort_pairs(scores, left, right)
    for found, expected in zip(got, (scores, left, right), strict=True):
        assert_array_equal(found, expected[order])
        assert found.dtype == expected.dtype


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: rng.uniform(0.3, 0.6, 20_000),  # few in each bucket
        lambda rng: rng.uniform(0.3, 0.6, 20_000).round(2),
        lambda rng: rng.normal(size=20_000),  # thousands in some
        lambda rng: rng.normal(size=20_000).round(1),
        lambda rng: np.append(rng.uniform(0.5, 0.5001, 5000), [-3e38, 3e38]),
    ],
)
def test_buckets_large_and_small(draw):
    scores = draw(np.random.default_rng(0))
    assert_sorted_as_by_numpy(scores.astype(np.float32))


@given(
    hnp.arrays(
        st.sampled_from([np.float32, np.float64]),
        st.integers(0, 200),
        elements=st.floats(width=32, allow_nan=False) | st.sampled_from([-1.0, 0.5]),
    )
)
def test_any_scores(scores):
    assert_sorted_as_by_numpy(scores)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_special_values_and_ties(dtype):
    assert_sorted_as_by_numpy(np.tile(SPECIAL, 7).astype(dtype))
