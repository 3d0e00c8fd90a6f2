"""Facts of the pass on a device, by the same code on the CPU's tensors.

Its tail is that of the pass on the CPU: element by element, ties included. Tests marked
``on_cuda`` need a CUDA device and are skipped without one.
"""

from itertools import product
from threading import Thread
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from skfairfr._core import _device_tiles, _inner_products, _pair_tiles, _screen
from skfairfr._core._pair_sequences import sort_pairs
from skfairfr._core._pair_tiles import collect_tail, unit_rows
from skfairfr._core._parallel import show_progress
from tests._core.cases import hamming, make_images
from tests._core.test_inner_products import in_lanes
from tests._core.test_pair_tiles import make_rows
from tests._core.test_screen import (
    big_set,
    exact_tail,
    floors_at,
    rounded_one_way,
    same_floor,
    unrelated,
)
from tests.covering import daily_pairwise

torch = pytest.importorskip("torch")

PRECISIONS = ("float32", "bfloat16")
on_cuda = pytest.mark.skipif(
    not torch.cuda.is_available(), reason="needs a CUDA device"
)


def scores_of(vectors, left, right, device="cpu"):
    rows, left, right = (torch.from_numpy(a).to(device) for a in (vectors, left, right))
    return _device_tiles.score_pairs(rows, left, rows, right).cpu().numpy()


def assert_same(found, expected):
    """Equal in every bit, so that also the sign of zero is the same."""
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype
        assert_array_equal(one, other)
        assert one.tobytes() == other.tobytes()


def expected_tail(rows, floors, tile):
    """The sorted tail of the pass on the CPU."""
    return sort_pairs(*collect_tail(*rows, floors, tile=tile, precision="float32"))


def check(images, vectors, precision, floors=None, tile=16, device="cpu"):
    """Compare the tails at floors where many pairs stand, or at those given."""
    rows = make_rows(images, vectors)
    floors = [floors] if floors is not None else map(same_floor, some_scores(rows))
    for floor in floors:
        expected = expected_tail(rows, floor, tile)
        found = _device_tiles.sorted_tail(*rows, floor, device, tile, precision)
        assert_same(found, expected)


def some_scores(rows, n=3):
    """Floors at which a pair stands, from the largest score to the median, and none."""
    scores, *_ = expected_tail(rows, same_floor(-np.inf), 16)
    return [-np.inf, *scores[np.geomspace(1, scores.size // 2, n).astype(int) - 1]]


@pytest.fixture
def small(monkeypatch):
    """Chunks of few columns, in runs that share a limit, and few pairs scored at once."""
    monkeypatch.setattr(_device_tiles, "BLOCK", 5)
    monkeypatch.setattr(_device_tiles, "PRODUCTS", 16 * 13)
    monkeypatch.setattr(_device_tiles, "COUNTED", 16 * 13)
    monkeypatch.setattr(_device_tiles, "SCORED", 7)


# ---- exact scores --------------------------------------------------------------------


def cancelling(n_features):
    """Rows whose products cancel: what is left are the roundings of the float64 sums."""
    rng = np.random.default_rng(n_features)
    half = n_features // 2
    rows = rng.normal(size=(6, n_features)) * 10.0 ** rng.integers(-3, 4, n_features)
    rows[:, half : 2 * half] = rows[:, :half]
    rows[3:, half : 2 * half] *= -1
    rows[:, 2 * half :] *= 1e-16
    order = rng.permutation(n_features)
    return np.ascontiguousarray(rows[:, order], dtype=np.float32)


def check_scores(device):
    """Of as many features as fill the lanes of a sum, any number fewer, and many."""
    left, right = np.repeat(np.arange(6), 6), np.tile(np.arange(6), 6)
    for n_features in (*range(1, 71), 128, 512, 8192):
        vectors = cancelling(n_features)
        found = scores_of(vectors, left, right, device)
        assert_same([found], [_inner_products.score_pairs(vectors, left, right)])
        exact = in_lanes(vectors[left], vectors[right])
        assert_array_equal(found, exact, f"{n_features} features")


def test_scores_have_the_bits_of_the_cpu():
    check_scores("cpu")


@pytest.mark.parametrize("n_features", [40, 64, 70, 512])
def test_such_scores_show_the_order_of_the_sum(n_features):
    x, y = cancelling(n_features)[[0, 3]].astype(np.float64)
    orders = [np.random.default_rng(s).permutation(n_features) for s in range(20)]
    sums = {float(np.float32(np.cumsum((x * y)[order])[-1])) for order in orders}
    assert len(sums) > 15


@pytest.mark.parametrize("scale", [1e-44, 1e-38, 1e-22, 1e18])
def test_scores_of_any_length_have_the_bits_of_the_cpu(scale):
    """Denormal features, scores that are denormal or zero, and large ones."""
    vectors = np.random.default_rng(0).normal(size=(30, 77)) * scale
    vectors = vectors.astype(np.float32)
    left, right = np.random.default_rng(1).integers(0, 30, (2, 500))
    found = scores_of(vectors, left, right)
    assert_same([found], [_inner_products.score_pairs(vectors, left, right)])


def test_no_pair_has_no_score():
    vectors, none = np.ones((3, 40), dtype=np.float32), np.empty(0, dtype=np.int64)
    assert scores_of(vectors, none, none).shape == (0,)


# ---- the tail ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sides", "tile", "precision"),
    daily_pairwise(product((1, 2), (1, 7, 16, 2048), PRECISIONS)),
)
def test_groups_have_their_own_floors(sides, tile, precision, small):
    images = make_images(5, sides=sides, groups="unknown", n_identities=25)
    vectors = np.random.default_rng(1).normal(size=(images.identity.size, 64))
    vectors = unit_rows(vectors, "cosine")
    floors = np.array(
        [[0.1, -0.05, -np.inf], [-0.05, 0.02, 0.2], [-np.inf, 0.2, np.inf]],
        dtype=np.float32,
    )
    expected = exact_tail(images, vectors, floors)
    assert 0 < len(expected) < images.identity.size**2 / 2
    check(images, vectors, precision, floors, tile)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("sides", [1, 2])
def test_the_tail_is_that_of_the_oracle(sides, precision):
    images = make_images(0, sides=sides, groups="unknown", n_identities=20)
    vectors = np.random.default_rng(0).normal(size=(images.identity.size, 48))
    vectors = unit_rows(vectors, "cosine")
    rows = make_rows(images, vectors)
    for floor in map(same_floor, floors_at(images, vectors)):
        scores, left, right = _device_tiles.sorted_tail(
            *rows, floor, "cpu", 16, precision
        )
        assert (np.diff(scores) <= 0).all()
        if sides == 1:
            left, right = np.minimum(left, right), np.maximum(left, right)
        found = zip(scores.tolist(), left.tolist(), right.tolist(), strict=True)
        assert sorted(found) == exact_tail(images, vectors, floor)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("sides", [1, 2])
def test_ties_stand_in_the_same_order(sides, precision, small):
    images, vectors = hamming(sides=sides, groups="unknown", n_identities=20)
    check(images, vectors, precision)
    scores, *_ = expected_tail(make_rows(images, vectors), same_floor(-np.inf), 16)
    assert np.unique(scores).size < scores.size / 50


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("sides", [1, 2])
def test_inner_products_of_rows_of_any_length(sides, precision, small):
    images = make_images(3, sides=sides, groups="unknown", n_identities=30)
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(images.identity.size, 40))
    vectors *= 10.0 ** rng.integers(-3, 4, (images.identity.size, 1))
    check(images, vectors.astype(np.float32), precision)


def rounded_one_way_of_two_lengths(down):
    """Long rows and short ones, so that the largest of some columns matters."""
    vectors = rounded_one_way(40, 256, down)
    return vectors * np.where(np.arange(40) % 3 == 0, 1, 2.0**-6)[:, None]


def lengths_of_many_sizes(rng):
    return rng.normal(size=(60, 48)) * 10.0 ** rng.integers(-12, 12, (60, 1))


def beyond_float32(rng):
    vectors = (rng.normal(size=(30, 16)) * 1e19).astype(np.float32)
    vectors[:4] = 3.4e38  # bfloat16 rounds them to infinity
    return vectors


def denormals_beside_large_ones(rng):
    vectors = rng.normal(size=(40, 24)) * 1e-40
    vectors[::2] = rng.normal(size=(20, 24)) * 10.0 ** rng.integers(0, 19, (20, 1))
    return vectors


def with_zero_rows(rng):
    vectors = rng.normal(size=(30, 16))
    vectors[::3] = 0
    return vectors


ADVERSARIAL = {
    "rounded down": lambda rng: rounded_one_way(40, 256, down=True),
    "rounded up": lambda rng: rounded_one_way(40, 256, down=False),
    "rounded down, two lengths": lambda rng: rounded_one_way_of_two_lengths(True),
    "rounded up, two lengths": lambda rng: rounded_one_way_of_two_lengths(False),
    "many features": lambda rng: unit_rows(rng.normal(size=(30, 8192)) + 0.1, "cosine"),
    "one feature": lambda rng: rng.normal(size=(40, 1)),
    "many sizes": lengths_of_many_sizes,
    "beyond float32": beyond_float32,
    "denormals": denormals_beside_large_ones,
    "zero rows": with_zero_rows,
    **{
        f"length {scale}": lambda rng, s=scale: rng.normal(size=(40, 24)) * s
        for scale in (1e-45, 1e-42, 1e-38, 1e-30, 1e-20, 1e15)
    },
}


# The CPU's screen, of the same bound, has these rows every day.
LONG = {"many features": [pytest.mark.slow]}


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=LONG.get(name, [])) for name in ADVERSARIAL]
)
def test_adversarial_rows_lose_no_pair(name, precision, small):
    vectors = ADVERSARIAL[name](np.random.default_rng(0)).astype(np.float32)
    check(unrelated(len(vectors)), vectors, precision)


@given(
    st.integers(0, 10**6),
    st.integers(1, 80),
    st.sampled_from([1, 2]),
    st.integers(1, 20),
    st.sampled_from(PRECISIONS),
)
def test_any_tail_is_that_of_the_cpu(seed, n_features, sides, tile, precision):
    rng = np.random.default_rng(seed)
    images = make_images(seed, sides=sides, groups="unknown", n_identities=8)
    vectors = rng.normal(size=(images.identity.size, n_features)) + rng.normal()
    vectors *= 10.0 ** rng.integers(-3, 4, (images.identity.size, 1))
    vectors = unit_rows(vectors, rng.choice(["cosine", "dot"]))
    scores = [s for s, *_ in exact_tail(images, vectors, same_floor(-np.inf))]
    if not scores:
        return
    floors = rng.choice(scores, (3, 3)).astype(np.float32)
    with patch.multiple(_device_tiles, BLOCK=3, PRODUCTS=7 * tile, SCORED=5):
        check(images, vectors, precision, np.minimum(floors, floors.T), tile)


def test_the_usual_sizes_give_the_usual_tail():
    images, vectors, floors = big_set()
    for precision in (None, *PRECISIONS):
        check(images, vectors, precision, floors, _pair_tiles.TILE)


def test_an_empty_tail_is_empty():
    images, vectors, _ = big_set(40)
    rows = make_rows(images, vectors)
    found = _device_tiles.sorted_tail(*rows, same_floor(2.0), "cpu")
    assert [a.size for a in found] == [0, 0, 0]
    assert [a.dtype for a in found] == [np.float32, np.int32, np.int32]


def test_a_tail_too_long_for_the_device_is_sorted_on_the_host(monkeypatch):
    images, vectors, floors = big_set(100)
    monkeypatch.setattr(_device_tiles, "LONGEST", 10)
    monkeypatch.setattr(torch.Tensor, "sort", sort_of_few(torch.Tensor.sort))
    check(images, vectors, "bfloat16", floors)


def sort_of_few(sort):
    """A sort that takes the indices of columns, but no scores."""

    def sorting(tensor, **options):
        assert not tensor.is_floating_point()
        return sort(tensor, **options)

    return sorting


def test_the_screen_passes_little_more_than_the_tail():
    images, vectors, floors = big_set()
    rows = make_rows(images, vectors)
    scored = []
    score_pairs = _device_tiles.score_pairs

    def counting(vectors, left, *others):
        scored.append(len(left))
        return score_pairs(vectors, left, *others)

    with patch.object(_device_tiles, "score_pairs", counting):
        tail = _device_tiles.sorted_tail(*rows, floors, "cpu", precision="bfloat16")
    # Both orders of the pairs of the one tile, and the pairs of one person.
    assert sum(scored) < 3 * tail[0].size + images.identity.size


def test_pairs_are_scored_in_portions(monkeypatch):
    images, vectors, _ = big_set(60)
    portions = []
    score_pairs = _device_tiles.score_pairs

    def counting(vectors, left, *others):
        portions.append(len(left))
        return score_pairs(vectors, left, *others)

    monkeypatch.setattr(_device_tiles, "SCORED", 300)
    monkeypatch.setattr(_device_tiles, "score_pairs", counting)
    n = images.identity.size
    rows = make_rows(images, vectors)
    _device_tiles.sorted_tail(*rows, same_floor(-np.inf), "cpu")
    assert sum(portions) == n * n and len(portions) > n * n // 300
    assert max(portions) <= 300


def test_a_pass_is_shown(capsys):
    images, vectors, floors = big_set(40)
    rows = make_rows(images, vectors)
    _device_tiles.sorted_tail(*rows, floors, "cpu")
    assert capsys.readouterr().err == ""
    with show_progress():
        _device_tiles.sorted_tail(*rows, floors, "cpu")
    assert "comparing all pairs" in capsys.readouterr().err


# ---- the bound on a device -----------------------------------------------------------


def sum_of_unit(products, width):
    """A matrix unit's sum: ``width`` products and the sum so far are aligned and cut."""
    total = 0.0
    for start in range(0, products.size, width):
        terms = np.append(products[start : start + width], total)
        exponent = np.frexp(np.abs(terms).max())[1] - 1
        step = 2.0 ** (exponent - 23)
        whole = np.trunc(terms / step).sum() * step
        step = 2.0 ** (np.frexp(whole)[1] - 24)
        total = np.trunc(whole / step) * step
    return total


@pytest.mark.parametrize("width", [1, 4, 8, 16, 32])
def test_sums_of_matrix_units_are_within_the_bound(width):
    rng = np.random.default_rng(0)
    d = 512
    bound = np.expm1(_device_tiles.TERMS * d * _screen.STEP)
    cut = np.full(d, 2.0**-23 * (1 - 2.0**-20))  # all that follows a one is cut off
    cut[0] = 1.0
    carried = np.full(d, 1.0 - 2.0**-8)  # the sum passes from binade to binade
    cases = [cut, -cut, carried, *rng.normal(size=(20, d)), *rng.random((20, d))]
    errors = [abs(sum_of_unit(c, width) - np.sum(c)) / np.abs(c).sum() for c in cases]
    assert max(errors) <= bound
    assert max(errors) > bound / 4


@pytest.mark.parametrize("n_features", [1, 2, 3, 8, 64, 512, 8192])
@pytest.mark.parametrize("precision", PRECISIONS)
def test_products_of_the_cpu_are_within_the_bound(precision, n_features):
    cpu = torch.device("cpu")
    assert _device_tiles.is_within_bound(cpu, precision, n_features)


def in_tf32(rows, columns):
    """Products of rows rounded to 10 bits after the leading one."""
    rounded = [
        ((side.view(torch.int32) + 0x1000) & ~0x1FFF).view(torch.float32)
        for side in (rows, columns)
    ]
    return rounded[0] @ rounded[1].T


def in_halves(rows, columns):
    """Products summed in two halves, each of which is rounded to bfloat16."""
    half = rows.shape[1] // 2
    return rows[:, :half] @ columns[:, :half].T + rows[:, half:] @ columns[:, half:].T


def too_large(rows, columns):
    """Products that are one part in 64 too large."""
    return (rows @ columns.T) * (1 + 2.0**-6)


@pytest.mark.parametrize("n_features", [64, 512])
@pytest.mark.parametrize(
    ("precision", "wrong"),
    [("float32", in_tf32), ("bfloat16", in_halves), ("bfloat16", too_large)],
)
def test_less_exact_products_are_seen(precision, wrong, n_features, monkeypatch):
    multiply = _device_tiles.multiply

    def replaced(rows, columns):
        exact = rows.dtype == torch.float64
        return (multiply if exact else wrong)(rows, columns)

    monkeypatch.setattr(_device_tiles, "multiply", replaced)
    cpu = torch.device("cpu")
    assert not _device_tiles.is_within_bound(cpu, precision, n_features)


def test_bfloat16_is_chosen_where_its_products_are_right(monkeypatch):
    cpu, right = torch.device("cpu"), []
    monkeypatch.setattr(
        _device_tiles, "is_within_bound", lambda device, name, d: name in right
    )
    with pytest.raises(RuntimeError, match=r"'cpu' are less exact.*device='cpu'"):
        _device_tiles.choose(cpu, 64)
    for name in ("float32", "bfloat16"):
        right.append(name)
        assert _device_tiles.choose(cpu, 64) == name


@pytest.mark.parametrize(
    ("capability", "chosen"), [((7, 5), "float32"), ((8, 0), "bfloat16")]
)
def test_cards_without_units_screen_in_float32(capability, chosen, monkeypatch):
    monkeypatch.setattr(_device_tiles, "is_within_bound", lambda *_: True)
    monkeypatch.setattr(torch.version, "hip", None)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability)
    assert _device_tiles.choose(torch.device("cuda:1"), 64) == chosen


# ---- settings, memory, devices -------------------------------------------------------


REDUCTION = "allow_bf16_reduced_precision_reduction"


def settings():
    """Torch's settings of products; those that may not be asked for are errors."""
    matmul = torch.backends.cuda.matmul
    names = ("allow_tf32", REDUCTION, f"{REDUCTION}_split_k", "fp32_precision")
    found = {}
    for name in names:
        try:
            found[name] = getattr(matmul, name, None)
        except RuntimeError as error:
            found[name] = type(error)
    return found


WAYS = ("none", "older name", "newer name", "general name")


@pytest.fixture(params=WAYS)
def tf32(request):
    """TF32 switched on in one of the ways there are, or not at all; then off again."""
    matmul, before = torch.backends.cuda.matmul, settings()
    newer = hasattr(matmul, "fp32_precision")
    if request.param == "older name":
        torch.set_float32_matmul_precision("high")
    elif request.param != "none" and not newer:
        pytest.skip("this torch has the older name alone")
    elif request.param != "none":
        home = matmul if request.param == "newer name" else torch.backends
        matmul.fp32_precision = "none"  # an earlier test may have set it
        home.fp32_precision = "tf32"
    yield request.param != "none"
    if newer:
        torch.backends.fp32_precision = matmul.fp32_precision = "none"
    torch.set_float32_matmul_precision("highest")
    if newer:
        matmul.fp32_precision = before["fp32_precision"]
    both = (before[REDUCTION], before[f"{REDUCTION}_split_k"])
    setattr(matmul, REDUCTION, both[0] if both[1] is None else both)
    assert settings() == before


@pytest.mark.parametrize("reduced", [True, False, (False, False)])
def test_sums_are_float32_inside_and_settings_as_before(tf32, reduced):
    matmul, cpu = torch.backends.cuda.matmul, torch.device("cpu")
    if reduced == (False, False) and not hasattr(matmul, f"{REDUCTION}_split_k"):
        pytest.skip("this torch has one setting of reductions")
    setattr(matmul, REDUCTION, reduced)
    before = settings()
    assert before["allow_tf32"] in ((True, RuntimeError) if tf32 else (False,))
    for error in (None, KeyError):
        try:
            with (
                torch.autocast("cpu", torch.bfloat16),
                _device_tiles._float32_sums(cpu),
            ):
                assert not getattr(matmul, REDUCTION)
                assert not matmul.allow_tf32  # nor is that an error
                assert torch.get_float32_matmul_precision() == "highest"
                assert not torch.is_autocast_enabled("cpu")
                if error:
                    raise error
        except KeyError:
            pass
        assert settings() == before


def test_a_pass_inside_autocast_changes_no_bit():
    images, vectors, floors = big_set(60)
    before = settings()
    with torch.autocast("cpu", torch.float16):
        check(images, vectors, "float32", floors)
    assert settings() == before


def test_one_pass_runs_at_a_time():
    images, vectors, floors = big_set(60)
    rows = make_rows(images, vectors)
    found = []

    def run():
        found.append(_device_tiles.sorted_tail(*rows, floors, "cpu"))

    threads = [Thread(target=run) for _ in range(3)]
    before = settings()
    with _device_tiles._ONE_PASS:
        for thread in threads:
            thread.start()
        assert found == []
    for thread in threads:
        thread.join()
    assert settings() == before
    for tail in found:
        assert_same(tail, found[0])


@pytest.mark.parametrize(
    ("step", "works_for"), [("_tail_of_strip", 0), ("_tail_of_strip", 2), ("_sort", 0)]
)
def test_too_little_memory_names_a_remedy(step, works_for, monkeypatch):
    images, vectors, floors = big_set(60)
    rows = make_rows(images, vectors)
    held, calls = [], []

    def counting(*arguments, function=_device_tiles._tail_of_strip):
        held.append(function(*arguments))
        return held[-1]

    monkeypatch.setattr(_device_tiles, "_tail_of_strip", counting)
    function = getattr(_device_tiles, step)

    def failing(*arguments):
        calls.append(step)
        if len(calls) > works_for:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory")
        return function(*arguments)

    monkeypatch.setattr(_device_tiles, step, failing)
    with pytest.raises(MemoryError) as raised:
        _device_tiles.sorted_tail(*rows, floors, "cpu", tile=16)
    n_held = sum(len(scores) for scores, *_ in held)
    assert (n_held > 0) == (works_for > 0 or step == "_sort")
    message = str(raised.value)
    assert f"embeddings and {n_held:,} pairs" in message
    assert "device='cpu'" in message and "smaller far_max" in message
    assert raised.value.__context__ is None  # no tensor is kept alive
    assert not _device_tiles._ONE_PASS.locked()


@pytest.mark.parametrize(
    ("n_devices", "at_hand"),
    [(0, []), (1, ["cuda", "cuda:0"]), (2, ["cuda", "cuda:0", "cuda:1"])],
)
def test_devices_at_hand(n_devices, at_hand, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: n_devices > 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: n_devices)
    names = ["cpu", "cuda", "cuda:0", "cuda:1"]
    assert [name for name in names if _device_tiles.is_at_hand(name)] == at_hand
    monkeypatch.setattr(_screen, "_torch", lambda: None)
    assert not any(map(_device_tiles.is_at_hand, names))


def test_the_cpu_is_at_hand_without_torch(monkeypatch):
    monkeypatch.setattr(_screen, "_torch", lambda: pytest.fail("torch was loaded"))
    assert not _device_tiles.is_at_hand("cpu")


def test_no_step_mixes_tensors_of_the_device_and_of_the_host(monkeypatch):
    """The steps of a pass on torch's device "meta", which has shapes and no numbers."""
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves

    class OneDevice(TorchDispatchMode):
        n_steps = 0

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            tensors = tree_leaves((args, kwargs or {}))
            devices = {t.device for t in tensors if isinstance(t, torch.Tensor)}
            assert len(devices) <= 1 or "copy" in str(function), function
            self.n_steps += 1
            return function(*args, **(kwargs or {}))

    meta = torch.device("meta")

    def some(*shape):
        return torch.empty(shape, dtype=torch.int64, device=meta)

    # These wait for numbers.
    ones = {"return_value": (np.ones(40), np.ones(40))}
    with (
        patch.object(_device_tiles, "_measure", **ones),
        patch.object(_device_tiles, "_pairs_of", lambda _: [(some(7), some(7))]),
        patch.object(torch.Tensor, "nonzero", lambda _: some(5, 1)),
        OneDevice() as mode,
    ):
        rows = make_rows(unrelated(40), np.ones((40, 45), dtype=np.float32))
        for precision in PRECISIONS:
            sides = _device_tiles._sides(*rows, precision, meta)
            found = _device_tiles._tail_of_strip(*sides, same_floor(0), 0, 16)
            assert {column.device for column in found} == {meta}
        factors = [_device_tiles._copy(np.ones((2, 40)), meta)] * 2
        counts = torch.zeros((3, 9), dtype=torch.float64, device=meta)
        row_of_cell = _device_tiles._copy(np.array([[0, 0, 0], [-1, 1, 2]]), meta)
        asked = (factors, row_of_cell, (-1, 1, 9))
        _device_tiles._count_strip(*sides, asked, 0, 16, counts)
    assert mode.n_steps > 100


# ---- a real device -------------------------------------------------------------------


@on_cuda
def test_scores_of_a_card_have_the_bits_of_the_cpu():
    check_scores("cuda")


@on_cuda
@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_card_loses_no_adversarial_pair(precision, small):
    for make in ADVERSARIAL.values():
        vectors = make(np.random.default_rng(0)).astype(np.float32)
        check(unrelated(len(vectors)), vectors, precision, device="cuda")


@on_cuda
@pytest.mark.parametrize("precision", (None, *PRECISIONS))
@pytest.mark.parametrize("sides", [1, 2])
def test_the_tail_of_a_card_is_that_of_the_cpu(sides, precision):
    images = make_images(1, sides=sides, groups="unknown", n_identities=2000)
    vectors = np.random.default_rng(0).normal(size=(images.identity.size, 512))
    vectors = unit_rows(vectors, "cosine")
    floors = same_floor(0.1)
    check(images, vectors, precision, floors, _pair_tiles.TILE, device="cuda")


@on_cuda
@pytest.mark.parametrize("n_features", [1, 8, 64, 512, 8192])
@pytest.mark.parametrize("precision", PRECISIONS)
def test_products_of_a_card_are_within_the_bound(precision, n_features):
    with _device_tiles._float32_sums(torch.device("cuda")) as device:
        assert _device_tiles.is_within_bound(device, precision, n_features)
