"""What measurements cost beside the float32 products of all pairs, in one table.

``python -m docs.studies.bench_engine [n_images ...]`` prints a line for each number of
images (5,000, 20,000 and 50,000): the pass alone, a fit with its curve and eight disparities,
an audit, and an audit whose folder is written. All runs of a line are interleaved; each
number is the processor time of all threads, the smallest of several, over that of the
products: other programs change the time to wait more. The last column is the peak of
resident memory during an audit in a process of its own, less what was held before it (the
embeddings among it). Several minutes. Linux.
"""

import platform
import tempfile
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from joblib import cpu_count

from docs.studies._command import run_command
from skfairfr import SimilarityROC, make_face_embeddings
from skfairfr._core import _pair_tiles
from skfairfr._core._pair_tiles import TILE
from skfairfr._core._parallel import over_blocks
from skfairfr.report import EmbeddingData, audit_data

N_FEATURES = 512
LEVELS = (1e-4, 1e-3, 1e-2)
HOWS = ("max_min", "max_geomean", "log_geomean", "gini")


def products(X):
    """The float32 products of all tiles, in as many threads as the pass uses."""
    starts = [(start,) for start in range(0, len(X), TILE)]
    over_blocks(partial(_multiply_strip, X), starts, None, "multiplying")


def _multiply_strip(X, start):
    out = np.empty((TILE, TILE), dtype=np.float32)
    a = X[start : start + TILE]
    for column in range(start, len(X), TILE):
        b = X[column : column + TILE]
        np.matmul(a, b.T, out=out[: len(a), : len(b)])


def measure(data, similarity="cosine"):
    """A fit, its curve and eight disparities at three levels, B = 200."""
    options = {"similarity": similarity, "n_resamples": 200, "far_max": 1e-2}
    roc = SimilarityROC(random_state=0, **options)
    roc.fit(data.X, data.y, data.sensitive_features)
    roc.curve(LEVELS)
    for rate, how in product(("far", "frr"), HOWS):
        roc.estimate(LEVELS, rate=rate, how=how)
    return roc


def audit(data, written=False):
    """An audit with its defaults, and its folder with figures and page if ``written``."""
    columns = {"gender": data.sensitive_features}
    given = EmbeddingData(data.X, data.y, columns)
    report = audit_data(given)
    if written:
        with tempfile.TemporaryDirectory() as folder:
            report.save(Path(folder, "report"))


def faces(n_images):
    """Four images of each person."""
    return make_face_embeddings(n_images // 4, 4, N_FEATURES, random_state=0)


def machine():
    """The processor, its cores and the libraries, in a line."""
    names = [
        line.split(":")[1].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    python, numpy = platform.python_version(), np.__version__
    return f"{names[0]}, {cpu_count()} cores, Python {python}, numpy {numpy}"


def seconds(functions, repeats):
    """Smallest processor time of every function, the runs interleaved."""
    taken = dict.fromkeys(functions, np.inf)
    for _ in range(repeats):
        for name, function in functions.items():
            start = time.process_time()
            function()
            taken[name] = min(taken[name], time.process_time() - start)
    return taken


def peak(n_images):
    """Bytes of memory that an audit takes at most, beside what was held before it."""
    warnings.simplefilter("ignore")
    audit(make_face_embeddings(500, 4, 32, random_state=0))  # compiles
    data = faces(n_images)
    before = _status("VmRSS")
    audit(data)
    # Not getrusage: its peak of a new process begins with that of its parent.
    return _status("VmHWM") - before


def _status(name):
    """A number of bytes that Linux tells of this process."""
    told = dict(line.split(":") for line in open("/proc/self/status"))
    return 1024 * int(told[name].split()[0])


def bench(n_images, repeats):
    """Print the line of a number of images."""
    data = faces(n_images)
    compared = measure(data)._engine.pairs.compared
    floors = compared.lowest
    work = {
        "products": partial(products, data.X),
        "pass": partial(_pair_tiles.collect_tail, *compared.rows, floors),
        "fit": partial(measure, data),
        "audit": partial(audit, data),
        "folder": partial(audit, data, True),
    }
    least = seconds(work, repeats)
    ratios = [f"{least[name] / least['products']:8.2f}" for name in work]
    with ProcessPoolExecutor(1, get_context("spawn")) as alone:
        held = f"{alone.submit(peak, n_images).result() / 1e9:8.2f} GB"
    print(f"{n_images:8,} {least['products']:10.2f} s", *ratios[1:], held, flush=True)


def main(*n_images):
    """Print the table."""
    warnings.simplefilter("ignore")
    measure(make_face_embeddings(500, 4, 32, random_state=0))  # compiles
    print(f"{machine()}; d = {N_FEATURES}; x the float32 products")
    print(
        f"{'images':>8} {'products':>12} {'pass':>8} {'fit':>8} {'audit':>8} {'folder':>8}"
        f" {'peak':>11}"
    )
    for n in n_images or (5_000, 20_000, 50_000):
        bench(n, 3 if n < 30_000 else 1)


if __name__ == "__main__":
    run_command(main, __doc__)
