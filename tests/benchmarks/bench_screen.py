"""The pass that collects a tail, beside the float32 products of its tiles.

``python -m tests.benchmarks.bench_screen [n_images ...]`` prints, for every precision of
the screen that the machine has, the seconds of ``collect_tail`` as a ratio to the plain
products of the same tiles, interleaved with it, minimum of five each; how many pairs the
screen passes beside those held; and whether every precision held the same pairs and
scores. The floors are those that ``SimilarityROC`` chooses at far_max = 1e-2 and 1e-3.

Then what the products of one tile take by torch in every precision, and in float16, which the
screen does not have, also what share of the pairs its bound would pass to exact scoring.
"""

import time
from functools import partial
from importlib.util import find_spec

import numpy as np

from skfairfr import make_face_embeddings
from skfairfr._core import _parallel, _screen
from skfairfr._core._inner_products import score_pairs
from skfairfr._core._pair_tiles import TILE, Rows, collect_tail, unit_rows
from skfairfr._core._resampling import Images
from skfairfr.utils._labels import encode
from tests.benchmarks._command import run_command
from tests.benchmarks.bench_engine import precisions_of

N_FEATURES = 512
DEPTH = 1.5  # of far_max, as EmbeddingPairs holds
REPEATS = 5


def rows_of(n_images):
    """Synthetic faces of two groups, in the order of the pass."""
    data = make_face_embeddings(n_images // 4, 4, N_FEATURES, random_state=0)
    identity, group = (
        encode(column, "y") for column in (data.y, data.sensitive_features)
    )
    images = Images(
        identity.codes, group.codes, None, identity.values.size, group.values.size
    )
    return Rows.of(unit_rows(data.X, "cosine"), images, np.arange(len(data.X)))


def floors_of(rows, far_max):
    """One floor for all pairs: a quantile of the scores of some."""
    some = np.random.default_rng(0).permutation(rows.image.size)[:4000]
    scores = rows.vectors[some] @ rows.vectors[some].T
    different = rows.identity[some][:, None] != rows.identity[some]
    floor = np.quantile(scores[different], 1 - DEPTH * far_max)
    return np.full((3, 3), floor, dtype=np.float32)


def products(rows):
    """The float32 products of all tiles, in as many threads as the pass uses."""

    def strip(start):
        a = rows.vectors[start : start + TILE]
        for column in range(start, rows.image.size, TILE):
            b = rows.vectors[column : column + TILE]
            np.matmul(a, b.T)

    tasks = [(start,) for start in range(0, rows.image.size, TILE)]
    _parallel.over_blocks(strip, tasks, None, "multiplying")


def share_passing(rows, floor, precision, width=1000):
    """Share of the pairs of some rows that the screen passes."""
    screened = _screen.ScreenedRows.of(rows.vectors, precision)
    some = screened[:width]
    tile = _screen.multiply(some.values, screened.values)
    longest = (screened.lengths.max(), screened.distances.max())
    scales = some.scales if some.scales.size else np.ones(width)
    found = np.empty(rows.image.size, dtype=np.int32)
    passed = 0
    for row in range(width):
        passed += _screen.select(
            tile[row],
            (0, rows.image.size),
            floor,
            (some.lengths[row], some.distances[row], scales[row]),
            (screened.scales, screened.distances.astype(np.float32)),
            longest,
            rows.vectors.shape[1],
            found,
        )
    scores = rows.vectors[:width] @ rows.vectors.T
    return passed / scores.size, np.mean(scores >= floor)


def cpu_seconds(function, *args, **kwargs):
    """CPU time of one call in all threads, which other programs disturb less."""
    start = time.process_time()
    function(*args, **kwargs)
    return time.process_time() - start


def bench(n_images, far_max):
    """Print the lines of one number of images and one far_max."""
    rows = rows_of(n_images)
    floors = floors_of(rows, far_max)
    low = ["bfloat16", "int8"]
    precisions = ["float32"] + low * (find_spec("torch") is not None)
    tails = {
        p: collect_tail(rows, rows, floors, precision=p) for p in precisions
    }  # compiles, too
    seconds = {precision: [] for precision in precisions}
    floor = []
    for _ in range(REPEATS):
        floor.append(cpu_seconds(products, rows))
        for precision, runs in seconds.items():
            runs.append(
                cpu_seconds(collect_tail, rows, rows, floors, precision=precision)
            )
    for precision, runs in seconds.items():
        passed, held = share_passing(rows, floors[0, 0], precision)
        print(
            f"n={n_images}, far_max={far_max:g}, {precision}: "
            f"{min(runs) / min(floor):.2f} x the float32 products; "
            f"{passed:.4%} of all pairs pass the screen, {held:.4%} reach the floor"
        )
    same = all(
        np.array_equal(one, other)
        for tail in tails.values()
        for one, other in zip(tail, tails["float32"], strict=True)
    )
    print(f"n={n_images}, far_max={far_max:g}: equal tails: {same}")
    chosen = precisions_of(partial(collect_tail, rows, rows, floors))
    print(f"  chosen here: {chosen}")


def share_by_bound(vectors, rounded, floor, width=1000):
    """Share of the pairs of some rows that exact products of rounded rows pass."""
    exact, rounded = vectors.astype(np.float64), rounded.astype(np.float64)
    distance = np.linalg.norm(exact - rounded, axis=1)
    length = np.linalg.norm(exact, axis=1)
    # |ab - xy| <= pY + Xq + pq, as in _screen.
    bound = distance[:width, None] * (length.max() + distance.max())
    bound = bound + length[:width, None] * distance.max()
    return np.mean(rounded[:width] @ rounded.T >= floor - bound)


def bench_others(n_images, far_max):
    """Print the lines of a tile in all precisions."""
    import torch

    rows = rows_of(n_images)
    vectors, floor = rows.vectors, floors_of(rows, far_max)[0, 0]
    codes = _screen.ScreenedRows.of(vectors[:TILE], "int8").values
    tile = torch.from_numpy(vectors[:TILE])
    integers = torch.from_numpy(codes)
    half = vectors.astype(np.float16)
    tries = {
        "float32": lambda: torch.mm(tile, tile.T),
        "bfloat16": partial(torch.mm, tile.bfloat16(), tile.bfloat16().T),
        "int8": lambda: torch._int_mm(integers, integers.T),
        "float16": partial(torch.mm, tile.half(), tile.half().T),
    }
    seconds = dict.fromkeys(tries, np.inf)
    with _parallel.one_blas_thread():
        torch.set_num_threads(1)
        for _ in range(REPEATS):
            for name, product in tries.items():
                seconds[name] = min(seconds[name], cpu_seconds(product))
    left = np.arange(2**18, dtype=np.int32) % n_images
    right = np.random.default_rng(0).permutation(left)
    score_pairs(vectors, left[:9], right[:9])  # compiles
    scoring = min(cpu_seconds(score_pairs, vectors, left, right) for _ in range(3))
    pair = seconds["float32"] / TILE**2
    print(
        f"  an exact score takes {scoring / left.size / pair:.0f} x a float32 product"
    )
    passed = share_by_bound(vectors, half, floor)
    for name in ("bfloat16", "int8", "float16"):
        line = (
            f"  {name}: a tile takes {seconds[name] / seconds['float32']:.2f} x float32"
        )
        if name == "float16":
            line += f"; its bound passes {passed:.4%} of all pairs"
        print(line)


def main(*n_images):
    """Print the lines of every number of images."""
    print(f"units: {', '.join(_screen._units())}; threads: {_parallel.n_threads()}")
    for n in n_images or [8_000, 20_000]:
        for far_max in (1e-2, 1e-3):
            bench(n, far_max)
            if find_spec("torch") is not None:
                bench_others(n, far_max)


if __name__ == "__main__":
    run_command(main, __doc__)
