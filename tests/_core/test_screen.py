"""Facts of the screen: whatever its precision, the tail is the oracle's, bit for bit."""

import sys
import warnings
from contextlib import ExitStack
from importlib.util import find_spec
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joblib import parallel_config
from numpy.testing import assert_array_equal
from threadpoolctl import threadpool_limits

from skfairfr._core import _pair_tiles, _parallel, _screen
from skfairfr._core._pair_tiles import collect_tail, unit_rows
from skfairfr._core._parallel import n_threads, one_blas_thread
from skfairfr._core._resampling import Images
from tests._core.cases import make_images, sides_of
from tests._core.test_inner_products import in_lanes
from tests._core.test_integer_screen import one_way as codes_rounded_one_way
from tests._core.test_pair_tiles import make_rows
from tests.covering import daily_pairwise

LOW = ("bfloat16", "int8")
PRECISIONS = ("float32", *LOW, *(f"{low} without torch" for low in LOW))


@pytest.fixture(params=PRECISIONS)
def precision(request, monkeypatch):
    """Name for collect_tail; without torch, numpy multiplies its rows.

    Tests may give its parameter with others of theirs.
    """
    name, _, without = request.param.partition(" ")
    if without:
        monkeypatch.setattr(_screen, "_torch", lambda: None)
    elif name != "float32" and find_spec("torch") is None:
        pytest.skip("needs torch")
    return name


def unrelated(n, sides=1, n_groups=2):
    """Images of as many people, whose groups alternate."""
    numbers = np.arange(n, dtype=np.int32)
    side = (numbers % 2).astype(np.int8) if sides == 2 else None
    return Images(
        numbers, (numbers // 2 % n_groups).astype(np.int32), side, n, n_groups
    )


def exact_scores(vectors):
    """Scores of all pairs by the oracle: in float64, one feature at a time."""
    return in_lanes(vectors[:, None], vectors)


def exact_tail(images, vectors, floors, scores=None):
    """(score, image, image) of the oracle, of its scores or those given."""
    scores = exact_scores(vectors) if scores is None else scores
    apart = images.identity[:, None] != images.identity
    kept = apart & (scores >= floors[images.group[:, None], images.group])
    if images.side is None:
        kept = np.triu(kept)
    else:
        kept &= images.side[:, None] < images.side
    left, right = np.nonzero(kept)
    return sorted(
        zip(scores[kept].tolist(), left.tolist(), right.tolist(), strict=True)
    )


def collected(images, vectors, floors, precision, tile=16):
    """The collected tail in the form of the oracle."""
    rows = make_rows(images, vectors)
    scores, left, right = collect_tail(*rows, floors, tile=tile, precision=precision)
    if images.side is None:
        left, right = np.minimum(left, right), np.maximum(left, right)
    return sorted(zip(scores.tolist(), left.tolist(), right.tolist(), strict=True))


def same_floor(floor, n_groups=2):
    return np.full((n_groups + 1, n_groups + 1), floor, dtype=np.float32)


def floors_at(images, vectors, scores=None):
    """Floors at scores that occur, and just above them: pairs stand exactly at a floor."""
    tail = exact_tail(images, vectors, same_floor(-np.inf), scores)
    scores = [s for s, *_ in tail]
    places = [0, len(scores) // 2, -max(len(scores) // 20, 1), -1]
    at = [np.float32(scores[place]) for place in places]
    return at + [np.nextafter(floor, np.float32(np.inf)) for floor in at]


def check(images, vectors, precision, tile=16):
    scores = exact_scores(vectors)
    for floor in floors_at(images, vectors, scores):
        expected = exact_tail(images, vectors, same_floor(floor), scores)
        found = collected(images, vectors, same_floor(floor), precision, tile)
        assert found == expected


@pytest.mark.parametrize(
    ("sides", "n_features", "precision"),
    daily_pairwise(product((1, 2), (1, 3, 32, 128, 512), PRECISIONS)),
    indirect=["precision"],
)
def test_tail_of_unit_rows_is_that_of_the_oracle(sides, n_features, precision):
    images = make_images(0, sides=sides, groups="unknown", n_identities=20)
    vectors = np.random.default_rng(0).normal(size=(images.identity.size, n_features))
    check(images, unit_rows(vectors, "cosine"), precision)


@pytest.mark.parametrize(
    ("sides", "tile", "precision"),
    daily_pairwise(product((1, 2), (1, 7, 16, 2048), PRECISIONS)),
    indirect=["precision"],
)
def test_groups_have_their_own_floors(sides, tile, precision):
    images = make_images(5, sides=sides, groups="unknown", n_identities=25)
    vectors = np.random.default_rng(1).normal(size=(images.identity.size, 64))
    vectors = unit_rows(vectors, "cosine")
    floors = np.array(
        [[0.1, -0.05, -np.inf], [-0.05, 0.02, 0.2], [-np.inf, 0.2, np.inf]],
        dtype=np.float32,
    )
    expected = exact_tail(images, vectors, floors)
    assert 0 < len(expected) < images.identity.size**2 / 2
    assert collected(images, vectors, floors, precision, tile) == expected


def rounded_one_way(n, n_features, down):
    """Positive unit rows whose every feature is rounded by nearly half a bfloat16 step."""
    rng = np.random.default_rng(0)
    steps = rng.integers(128, 140, (n, n_features))
    middle = 0.5 - 2**-10 if down else 0.5 + 2**-10
    return ((steps + middle) / 128 / np.sqrt(n_features)).astype(np.float32)


@pytest.mark.parametrize("n_features", [64, 8192])
@pytest.mark.parametrize("down", [True, False])
def test_roundings_that_all_go_one_way_lose_no_pair(down, n_features, precision):
    vectors = rounded_one_way(40, n_features, down)
    check(unrelated(40), vectors, precision)


@pytest.mark.parametrize("n_features", [64, 8192])
@pytest.mark.parametrize("down", [True, False])
def test_codes_that_are_all_rounded_one_way_lose_no_pair(down, n_features):
    pytest.importorskip("torch")
    check(unrelated(40), codes_rounded_one_way(40, n_features, down), "int8")


@pytest.mark.parametrize("down", [True, False])
def test_the_bound_is_reached_by_such_rows_and_not_exceeded(down):
    vectors = rounded_one_way(40, 256, down)
    screened = _screen.ScreenedRows.of(vectors, "bfloat16")
    wide = _screen._as_float32(screened.values).astype(np.float64)
    exact = vectors.astype(np.float64) @ vectors.T.astype(np.float64)
    error = np.abs(wide @ wide.T - exact)
    x, p = screened.lengths, screened.distances
    bound = p[:, None] * x + x[:, None] * p + p[:, None] * p
    assert (error <= bound).all()
    assert (error > 0.9 * bound).all()


def test_lengths_far_from_one_lose_no_pair(precision):
    for scale in (1e-45, 1e-42, 1e-38, 1e-30, 1e-20, 1e-15, 1e15):
        vectors = np.random.default_rng(0).normal(size=(40, 24)) * scale
        check(unrelated(40), vectors.astype(np.float32), precision)


def test_denormals_lose_no_pair(precision):
    """Features below 2**-126, which a processor may replace by zero, beside large ones."""
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(40, 24)) * 1e-40
    vectors[::2] = rng.normal(size=(20, 24)) * 10.0 ** rng.integers(0, 19, (20, 1))
    check(unrelated(40), vectors.astype(np.float32), precision)


def test_lengths_of_many_sizes_lose_no_pair(precision):
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(60, 48)) * 10.0 ** rng.integers(-12, 12, (60, 1))
    check(unrelated(60), vectors.astype(np.float32), precision)


def test_products_beyond_float32_lose_no_pair(precision):
    rng = np.random.default_rng(0)
    vectors = (rng.normal(size=(30, 16)) * 1e19).astype(np.float32)
    vectors[:4] = 3.4e38  # bfloat16 rounds them to infinity
    with np.errstate(over="ignore"):  # in the oracle
        check(unrelated(30), vectors, precision)


def test_zero_rows_lose_no_pair(precision):
    vectors = np.random.default_rng(0).normal(size=(30, 16)).astype(np.float32)
    vectors[::3] = 0
    for floor in (0.0, -0.0, np.float32(1e-45), np.float32(-1e-45)):
        expected = exact_tail(unrelated(30), vectors, same_floor(floor))
        found = collected(unrelated(30), vectors, same_floor(floor), precision)
        assert found == expected


@pytest.mark.parametrize("sides", [1, 2])
def test_many_features_lose_no_pair(sides, precision):
    rng = np.random.default_rng(0)
    vectors = unit_rows(rng.normal(size=(30, 8192)) + 0.1, "cosine")
    check(unrelated(30, sides), vectors, precision)


def test_many_ties_at_the_floor_are_all_held(precision):
    vectors = np.random.default_rng(0).choice([-1, 1], (90, 16)).astype(np.float32)
    unit = unit_rows(vectors, "cosine")
    for floor in np.arange(-6, 8, 2) / 16:
        expected = exact_tail(unrelated(90), unit, same_floor(floor))
        assert sum(score == floor for score, *_ in expected) > 100
        assert collected(unrelated(90), unit, same_floor(floor), precision) == expected


@given(
    st.integers(0, 10**6),
    st.integers(1, 80),
    st.sampled_from([1, 2]),
    st.sampled_from(["float32", *LOW]),
)
def test_tail_of_any_rows_is_that_of_the_oracle(seed, n_features, sides, precision):
    rng = np.random.default_rng(seed)
    images = make_images(seed, sides=sides, groups="unknown", n_identities=8)
    vectors = rng.normal(size=(images.identity.size, n_features)) + rng.normal()
    vectors *= 10.0 ** rng.integers(-3, 4, (images.identity.size, 1))
    vectors = unit_rows(vectors, rng.choice(["cosine", "dot"]))
    scores = [s for s, *_ in exact_tail(images, vectors, same_floor(-np.inf))]
    if not scores:
        return
    floors = rng.choice(scores, (3, 3)).astype(np.float32)
    floors = np.minimum(floors, floors.T)
    expected = exact_tail(images, vectors, floors)
    assert collected(images, vectors, floors, precision, 11) == expected


def big_set(n=300, n_features=96):
    """Images, unit rows and floors that hold one pair in twenty."""
    images = make_images(1, groups="unknown", n_identities=n // 2)
    vectors = np.random.default_rng(0).normal(size=(images.identity.size, n_features))
    return images, unit_rows(vectors, "cosine"), same_floor(1.6 / np.sqrt(n_features))


def test_precisions_give_the_same_bits_in_the_same_order(precision):
    images, vectors, floors = big_set()
    rows = make_rows(images, vectors)
    expected = collect_tail(*rows, floors, tile=64, precision="float32")
    assert expected[0].size > 500
    found = collect_tail(*rows, floors, tile=64, precision=precision)
    for one, other in zip(found, expected, strict=True):
        assert_array_equal(one, other)
        assert one.dtype == other.dtype


@pytest.mark.parametrize("buffer", [0, 1, 100])
def test_full_buffers_are_emptied_and_filled_again(buffer, precision, monkeypatch):
    images, vectors, floors = big_set()
    expected = collected(images, vectors, floors, precision, tile=64)
    monkeypatch.setattr(_pair_tiles, "BUFFER", buffer)
    assert collected(images, vectors, floors, precision, tile=64) == expected


# Processes take long to load torch, and daily tests of the tiles start some already.
@pytest.mark.parametrize(
    "backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)]
)
def test_workers_change_no_bit(backend):
    precision = "float32" if find_spec("torch") is None else "bfloat16"
    images, vectors, floors = big_set(200)
    rows = make_rows(images, vectors)
    expected = collect_tail(*rows, floors, tile=64, precision=precision)
    with parallel_config(backend, max_nbytes=1000):  # arrays arrive as memory maps
        found = collect_tail(*rows, floors, 2, 64, precision)
    for one, other in zip(found, expected, strict=True):
        assert_array_equal(one, other)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_and_tiles_change_no_score(threads, precision, monkeypatch):
    images, vectors, floors = big_set(120)
    expected = exact_tail(images, vectors, floors)
    monkeypatch.setattr(_parallel, "n_threads", lambda: threads)
    for tile in (10, 77, 2048):
        assert collected(images, vectors, floors, precision, tile) == expected


def test_arrays_that_may_not_be_written_are_multiplied(precision):
    vectors = np.random.default_rng(0).normal(size=(5, 8)).astype(np.float32)
    values = _screen.ScreenedRows.of(vectors, precision).values
    expected = _screen.multiply(values, values).copy()
    values.setflags(write=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_array_equal(_screen.multiply(values, values), expected)


# ---- the rounded rows and the comparison ---------------------------------------------


def test_rows_are_rounded_to_the_nearest_bfloat16():
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(50, 40)) * 10.0 ** rng.integers(-44, 38, (50, 40))
    vectors = vectors.astype(np.float32)
    vectors[0, :4] = 1 + np.array([1, 3, 2, 6]) * 2.0**-8  # halves go to even
    screened = _screen.ScreenedRows.of(vectors, "bfloat16")
    found = _screen._as_float32(screened.values).astype(np.float64)
    assert_array_equal(found[0, :4], 1 + np.array([0, 4, 2, 6]) * 2.0**-8)
    lower, upper = (
        _screen._as_float32((vectors.view(np.uint32) >> 16).astype(np.uint16) + step)
        for step in (np.uint16(0), np.uint16(1))
    )
    with np.errstate(invalid="ignore"):
        apart = np.minimum(
            np.abs(lower.astype(float) - vectors), np.abs(upper.astype(float) - vectors)
        )
    assert_array_equal(np.abs(found - vectors), apart)
    exact = np.sqrt(((found - vectors.astype(float)) ** 2).sum(axis=1))
    assert (screened.distances >= exact).all()
    assert screened.distances == pytest.approx(exact, rel=1e-5)
    exact = np.sqrt((vectors.astype(float) ** 2).sum(axis=1))
    assert (screened.lengths >= exact).all()
    assert screened.lengths == pytest.approx(exact, rel=1e-5)


def test_torch_rounds_alike():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    vectors = (rng.normal(size=(9, 700)) * 10.0 ** rng.integers(-40, 38)).astype("f4")
    theirs = torch.from_numpy(vectors).bfloat16().view(torch.int16).numpy()
    ours = _screen.ScreenedRows.of(vectors, "bfloat16").values
    assert_array_equal(ours, theirs.view(np.uint16))


floats = st.floats(-(2.0**90), 2.0**90, width=32)


@given(floats, st.floats(0, 1e10), st.floats(0, 0.01), st.integers(1, 10_000))
def test_what_may_be_at_the_floor_passes_and_what_is_far_below_does_not(
    floor, length, share, n_features
):
    """``low``, the lowest product that a pair at the floor may have, by its definition."""
    row = columns = (length, share * length)
    x, p = row
    error = 2 * x * p + p * p + np.expm1((n_features + 1) * 2.0**-23) * (x + p) ** 2
    low = np.float64(np.float32(floor)) - error - 2.0**-24 * abs(floor) - 2.0**-149
    for dtype, kind, shift in ((np.int32, np.float32, 0), (np.int16, None, 16)):
        code = _screen.lowest(np.float32(floor), row, columns, n_features, shift)
        products = np.array([floor, low, low - 1.5 * error - abs(floor) / 50 - 1e-20])
        products = products.astype(np.float32)
        products[1] = np.nextafter(products[1], np.float32(np.inf))
        if kind is None:  # rounded to nearest
            bits = _screen.ScreenedRows.of(products[None], "bfloat16").values[0]
            products = _screen._as_float32(bits)
            bits = bits.view(dtype)
        else:
            bits = products.view(dtype)
        found = np.empty(3, dtype=np.int32)
        n = _screen.passing(bits, 0, 3, code, found)
        assert found[:n].tolist() == [0, 1]


@given(st.lists(floats, min_size=1, max_size=150), floats, st.integers(0, 40))
def test_products_that_reach_the_limit_pass(values, limit, first):
    products = np.array(values, dtype=np.float32)
    for dtype, shift in ((np.int32, 0), (np.int16, 16)):
        code = _screen.lowest(np.float32(limit), (0.0, 0.0), (0.0, 0.0), 1, shift)
        bits = (products.view(np.int32) >> shift).astype(dtype)
        found = np.empty(products.size + 1, dtype=np.int32)
        n = _screen.passing(bits, first, products.size, code, found)
        seen = (
            products if shift == 0 else (bits.astype(np.int32) << 16).view(np.float32)
        )
        allowed = set(found[:n].tolist())
        places = range(first, products.size)
        assert {c for c in places if seen[c] >= np.float32(limit)} <= allowed
        far = np.float32(limit) - 0.02 * abs(np.float32(limit)) - np.float32(1e-30)
        assert not {c for c in places if seen[c] < far} & allowed


def test_everything_passes_a_floor_of_minus_infinity():
    code = _screen.lowest(np.float32(-np.inf), (1.0, 0.0), (1.0, 0.0), 4, 16)
    bits = np.array([0x7F80, 0xFF80, 0xFFFF, 0], dtype=np.uint16).view(np.int16)
    assert _screen.passing(bits, 0, 4, code, np.empty(4, dtype=np.int32)) == 4


# ---- the choice ----------------------------------------------------------------------


@pytest.fixture
def able(monkeypatch):
    """A machine with units of both low precisions, and torch loaded."""
    monkeypatch.setitem(sys.modules, "torch", sys)
    monkeypatch.setattr(_screen, "_units", lambda: LOW)
    monkeypatch.setattr(_screen, "_torch", lambda: sys)
    monkeypatch.setattr(_screen, "_multiplies_codes", lambda n_features: True)
    monkeypatch.setattr(_screen, "_is_faster", lambda n_features: True)
    monkeypatch.setattr(_screen, "n_threads", lambda: 2)
    return monkeypatch


def test_bfloat16_is_chosen_where_it_is_faster(able):
    assert _screen.choose(2**30, 128) == "bfloat16"
    assert _screen.choose(2**28, 128) == "float32"
    able.setattr(_screen, "_is_faster", lambda n_features: n_features > 128)
    assert _screen.choose(2**30, 128) == "float32"


def test_the_trial_does_not_grow_with_the_features(able):
    tried = []
    able.setattr(_screen, "_is_faster", lambda n_features: tried.append(n_features))
    assert _screen.choose(2**40, 8192) == _screen.choose(2**40, 64) == "float32"
    assert tried == [512, 64]


@pytest.mark.parametrize(("name", "answer"), [("_units", ()), ("_torch", None)])
def test_without_units_or_torch_the_screen_is_float32(name, answer, able):
    able.setattr(_screen, name, lambda: answer)
    assert _screen.choose(2**40, 512) == "float32"
    assert _screen.choose(2**40, 512, None, {"int8": 1}.get) == "float32"


@pytest.mark.parametrize("faster", LOW)
def test_of_the_low_precisions_the_faster_one_is_chosen(faster, able):
    seconds = dict.fromkeys(LOW, 2.0) | {faster: 1.0}
    assert _screen.choose(2**40, 512, None, seconds.get) == faster
    assert _screen.choose(2**28, 512, None, seconds.get) == faster
    assert _screen.choose(2**26, 512, None, seconds.get) == "float32"
    assert _screen.choose(2**40, 512) == "bfloat16"  # nothing to be timed


def test_integers_are_tried_beside_float32_where_bfloat16_is_slow_or_missing(able):
    able.setattr(_screen, "_is_faster", lambda n_features: False)
    seconds = {"float32": 2.0, "int8": 1.0}
    assert _screen.choose(2**40, 512, None, seconds.get) == "int8"
    able.setattr(_screen, "_is_faster", lambda n_features: pytest.fail("tried"))
    able.setattr(_screen, "_units", lambda: ("int8",))
    assert _screen.choose(2**40, 512, None, seconds.get) == "int8"
    seconds["int8"] = 3.0
    assert _screen.choose(2**40, 512, None, seconds.get) == "float32"


@pytest.mark.parametrize(
    ("name", "answer"),
    [("_units", ("bfloat16",)), ("_multiplies_codes", False)],
)
def test_integers_are_not_timed_where_they_cannot_be_used(name, answer, able):
    able.setattr(_screen, name, lambda *_: answer)
    assert _screen.choose(2**40, 512, None, pytest.fail) == "bfloat16"


def test_a_pass_lets_a_part_of_itself_be_timed(monkeypatch):
    images, vectors, floors = big_set()
    rows = make_rows(images, vectors)
    expected = collect_tail(*rows, floors, tile=64, precision="float32")
    asked = []

    def choose(n_products, n_features, n_jobs, seconds):
        asked.append((n_products, n_features, n_jobs))
        assert all(0 < seconds(precision) < 60 for precision in ("float32", *LOW))
        return "int8"

    monkeypatch.setattr(_screen, "choose", choose)
    found = collect_tail(*rows, floors, tile=64)
    assert asked == [(len(vectors) ** 2 / 2, vectors.shape[1], None)]
    for one, other in zip(found, expected, strict=True):
        assert_array_equal(one, other)


@pytest.mark.parametrize("sides", [1, 2])
def test_what_is_timed_is_a_tile_of_rows_from_everywhere(sides, monkeypatch):
    vectors = unit_rows(np.random.default_rng(0).normal(size=(5000, 4)), "cosine")
    rows = make_rows(unrelated(5000, sides), vectors)
    rows = rows if len(rows) == 2 else rows * 2
    compared = []

    def compare(probe, reference, screens, floors, measures, size, tiles):
        compared.append((probe.image.size, reference.image.size, size, tiles))
        for side, part, screen in zip(rows, (probe, reference), screens, strict=True):
            place = np.flatnonzero(np.isin(side.image, part.image))
            assert np.diff(place).max() < 2 + side.image.size / _pair_tiles.TRIAL
            assert_array_equal(part.vectors, vectors[part.image])
            assert screen.values.dtype == np.int8
        if sides == 1:
            assert np.intersect1d(probe.image, reference.image).size == 0

    monkeypatch.setattr(_pair_tiles, "_compare_tiles", compare)
    assert _pair_tiles._seconds(*rows, same_floor(0.5), "int8") >= 0
    n = _pair_tiles.TRIAL
    assert compared == [(n, n, n, [(0, 0)])] * _pair_tiles.TRIALS


def test_torch_is_loaded_for_large_sets_only(able):
    able.delitem(sys.modules, "torch")
    able.setattr(_screen, "_torch", lambda: pytest.fail("torch was loaded"))
    assert _screen.choose(2**30, 128) == "float32"
    able.setattr(_screen, "_torch", lambda: sys)
    assert _screen.choose(2**31, 128) == "bfloat16"
    assert _screen.choose(2**31, 128, n_jobs=8) == "float32"


def test_a_broken_torch_is_none(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    assert _screen._torch.__wrapped__() is None


def test_a_torch_that_takes_no_array_is_none(monkeypatch):
    def refuse(array):
        raise RuntimeError("Numpy is not available")

    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(from_numpy=refuse))
    assert _screen._torch.__wrapped__() is None


def test_the_trial_leaves_the_threads_of_blas_as_they_were(monkeypatch):
    """Also where it begins inside a pass and ends after it."""
    pytest.importorskip("torch")
    monkeypatch.setattr(_screen, "GAIN", np.inf)
    multiply, opened = _screen.multiply, ExitStack()
    with threadpool_limits(2, user_api="blas"):
        before = n_threads()
        opened.enter_context(one_blas_thread())

        def ending(rows, columns):
            opened.close()  # the pass that surrounds the trial ends first
            return multiply(rows, columns)

        monkeypatch.setattr(_screen, "multiply", ending)
        assert _screen._is_faster.__wrapped__(40) is True
        assert n_threads() == before


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("flags\t\t: fpu avx512_bf16 avx512f\n", ("bfloat16",)),
        ("flags\t\t: fpu amx_bf16 amx_int8\n", LOW),
        ("Features\t: fp asimd bf16\n", ("bfloat16",)),
        ("flags\t\t: fpu avx512f avx512_vnni\n", ("int8",)),
        ("flags\t\t: fpu avx2 avx_vnni\n", ("int8",)),
        ("flags\t\t: fpu avx512f\n", ()),
        (None, ()),
    ],
)
def test_units_are_those_that_linux_names(text, answer, tmp_path):
    path = tmp_path / "cpuinfo"
    if text is not None:
        path.write_text(text)
    assert _screen._units.__wrapped__(path) == answer


def test_the_faster_product_is_timed(monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setattr(_screen, "GAIN", np.inf)
    assert _screen._is_faster.__wrapped__(40) is True
    monkeypatch.setattr(_screen, "GAIN", 0.0)
    assert _screen._is_faster.__wrapped__(40) is False


def test_products_with_larger_errors_are_not_used(monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setattr(_screen, "GAIN", np.inf)
    multiply = _screen.multiply

    def worse(rows, columns):
        tile = multiply(rows, columns)
        return tile + np.array(2, dtype=tile.dtype)  # two bfloat16 steps

    monkeypatch.setattr(_screen, "multiply", worse)
    assert _screen._is_faster.__wrapped__(40) is False


def test_products_that_are_cut_off_are_not_used(monkeypatch):
    """A bfloat16 output that is not rounded to nearest lies beyond the slack of adjusted scores."""
    pytest.importorskip("torch")
    monkeypatch.setattr(_screen, "GAIN", np.inf)
    multiply = _screen.multiply

    def cut_off(rows, columns):
        if rows.dtype == np.float32:
            return multiply(rows, columns)
        wide = (_screen._as_float32(values) for values in (rows, columns))
        return (multiply(*wide) >> 16).astype(np.int16)

    monkeypatch.setattr(_screen, "multiply", cut_off)
    assert _screen._is_faster.__wrapped__(40) is False


def test_torch_keeps_its_threads():
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    images, vectors, floors = big_set(100)
    collect_tail(*make_rows(images, vectors), floors, precision="bfloat16")
    assert torch.get_num_threads() == before


def test_both_sides_are_screened(precision):
    images = unrelated(60, sides=2)
    assert [side.size for side in sides_of(images)] == [30, 30]
    vectors = np.random.default_rng(3).normal(size=(60, 40))
    vectors *= np.where(images.side == 0, 1e3, 1e-3)[:, None]
    check(images, vectors.astype(np.float32), precision)
