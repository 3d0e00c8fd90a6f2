"""What measurements cost, in one table: fits, audits, several attributes, many images.

``python -m tests.benchmarks.bench_engine`` prints the table, with the machine;
``... bench_engine SIZE LARGE`` takes other numbers of images than 20,000 and 100,000. Each
ratio is to the float32 products of the same tiles, or to another line, in interleaved runs;
each time is the smallest of five (of two for the large set). Several minutes.
"""

import platform
import subprocess
import sys
import warnings
from functools import partial
from pathlib import Path
from unittest.mock import patch

import numpy as np
from joblib import cpu_count
from sklearn.metrics import det_curve

from skfairfr import SimilarityROC, make_face_embeddings
from skfairfr._core import _screen
from skfairfr.report import EmbeddingData, audit_data
from tests.benchmarks.bench_similarity_roc import DISPARITIES, floor, peak_above, timed

ROOT = Path(__file__).resolve().parents[2]
REPEATS = 5
N_FEATURES = 512
N_RESAMPLES = 1000
SMALL = 4000  # images of what is extrapolated


def measure(data, far_max=1e-2, **options):
    """A fit, its ROC and eight disparities at nine levels, B = 200."""
    options = {"resample": "identities", "n_resamples": 200, **options}
    roc = SimilarityROC(far_max=far_max, random_state=0, **options)
    roc.fit(data.X, data.y, data.sensitive_features)
    levels = np.geomspace(far_max / 100, far_max, 9)
    roc.curve(levels)
    for rate, how in DISPARITIES:
        roc.estimate(levels, rate=rate, how=how)


def audit(data, *attributes):
    """An audit with its defaults: B = 1000, both resampling modes, equal error rates."""
    columns = {"gender": data.sensitive_features, "half": data.y % 2}
    audit_data(EmbeddingData(data.X, data.y, {a: columns[a] for a in attributes}))


def in_float32(function, *arguments):
    """The function on a processor without units of low precision."""
    with patch.object(_screen, "choose", lambda *_: "float32"):
        function(*arguments)


def print_memory(n_images):
    """Bytes that the large set takes beside its input, libraries included."""
    data = faces(n_images)
    print(peak_above(measure, data, far_max=1e-3))


def memory_of_large(n_images):
    """As a process of its own prints it: this one has freed memory to use again."""
    code = f"from tests.benchmarks import bench_engine as b; b.print_memory({n_images})"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE)
    return int(done.stdout)


def precisions_of(function):
    """The precisions that a function chooses for its passes."""
    found, choose = [], _screen.choose

    def remember(*arguments):
        found.append(choose(*arguments))
        return found[-1]

    with patch.object(_screen, "choose", remember):
        function()
    return ", ".join(dict.fromkeys(found))


def faces(n_images):
    """Four images of each person."""
    return make_face_embeddings(n_images // 4, 4, N_FEATURES, random_state=0)


def by_det_curve(data):
    """One resample's rates by scikit-learn, from scores that are at hand."""
    scores = (data.X @ data.X.T)[np.triu_indices(len(data.X), 1)]
    same = (data.y[:, None] == data.y)[np.triu_indices(len(data.X), 1)]
    return timed(det_curve, same, scores)


def by_pairs_again(data):
    """One resample by drawing images and comparing them again."""

    def resample():
        rng = np.random.default_rng(0)
        drawn = rng.integers(0, len(data.X), len(data.X))
        X, y = data.X[drawn].astype(np.float32), data.y[drawn]
        scores, same = X @ X.T, y[:, None] == y
        impostor = scores[~same]
        place = int(impostor.size * (1 - 1e-3))
        threshold = np.partition(impostor, place)[place]
        (scores[same] < threshold).mean()

    return timed(resample)


def seconds(functions, repeats):
    """Smallest time of every function, the runs interleaved."""
    taken = {name: [] for name in functions}
    for _ in range(repeats):
        for name, function in functions.items():
            taken[name].append(timed(function))
    return {name: min(times) for name, times in taken.items()}


def row(work, value, unit="x"):
    """One line of the table."""
    print(f"{work:<72} {value:8.2f} {unit}", flush=True)


def machine():
    """The processor, its cores and the libraries, in a line."""
    names = [
        line.split(":")[1].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    torch = sys.modules.get("torch")
    libraries = (
        f"numpy {np.__version__}, torch {torch.__version__ if torch else 'none'}"
    )
    return f"{names[0]}, {cpu_count()} cores, Python {platform.python_version()}, {libraries}"


def main(n_images=20_000, n_large=100_000):
    import torch  # noqa: F401  # as in a session that mitigates; the screen uses it

    warnings.simplefilter("ignore")
    compiled = make_face_embeddings(500, 4, 32, random_state=0)
    measure(compiled)
    measure(compiled, average="identity")
    audit(compiled, "gender", "half")
    data, half = faces(n_images), faces(n_images // 2)
    found = seconds(
        {
            "floor": partial(floor, data.X),
            "fit": partial(measure, data),
            "fit, float32": partial(in_float32, measure, data),
            "fit, identity": partial(measure, data, average="identity"),
            "fit, half": partial(measure, half),
            "audit": partial(audit, data, "gender"),
            "audit, float32": partial(in_float32, audit, data, "gender"),
            "audits": partial(audit, data, "gender", "half"),
        },
        REPEATS,
    )
    print(machine())
    print(f"n = {n_images:,}, d = {N_FEATURES}; x the float32 products unless said")
    base = found["floor"]
    chosen = precisions_of(partial(measure, data))
    work = "fit + ROC + eight disparities, B = 200"
    row(f"{work}, {chosen} screen", found["fit"] / base)
    row(f"{work}, float32 screen", found["fit, float32"] / base)
    row(f"{work}, identity average, {chosen}", found["fit, identity"] / base)
    work = "audit, defaults, one attribute"
    chosen = precisions_of(partial(audit, data, "gender"))
    row(f"{work}, {chosen} screen", found["audit"] / base)
    row(f"{work}, float32 screen", found["audit, float32"] / base)
    ratio = found["audits"] / found["audit"]
    row("audit, two attributes and their intersection", ratio, "x that of one")
    ratio = found["fit"] / found["fit, half"]
    row("fit + ROC + eight disparities", ratio, f"x that of n = {n_images // 2:,}")
    few = faces(SMALL)
    scale = (n_images / SMALL) ** 2 * N_RESAMPLES / found["audit"]
    for name, once in [
        ("det_curve", by_det_curve),
        ("pairs formed again", by_pairs_again),
    ]:
        ratio = min(once(few) for _ in range(3)) * scale
        row(
            f"{N_RESAMPLES:,} resamples by {name}, extrapolated from one of {SMALL:,}",
            ratio,
            "x the audit",
        )
    data = faces(n_large)
    large = partial(measure, data, far_max=1e-3)
    chosen = precisions_of(large)
    found = seconds(
        {"floor": partial(floor, data.X), "fit": large},
        2,
    )
    row(
        f"n = {n_large:,}, far_max 1e-3: fit + ROC + eight, {chosen} screen",
        found["fit"] / found["floor"],
    )
    memory = memory_of_large(n_large)
    row(f"n = {n_large:,}, far_max 1e-3: memory above the input", memory / 1e9, "GB")


if __name__ == "__main__":
    from tests.benchmarks._command import run_command

    run_command(main, __doc__)
