"""What a fit and an audit cost in time and memory: a model, fitted to measurements.

``python -m tests.benchmarks.cost_model`` measures small sets on all threads of this machine,
each in a process of its own, and fits the seconds of all cores together to counts of the
work, by least squares of relative errors without negative coefficients. Seconds to wait are
a constant, for what one thread does once, and a multiple of the core seconds divided by the
threads: 1 where all threads are busy all the time, and more on a machine with other work.
It prints the measurements, the coefficients, two measurements that the fit did not see, of
more images and of more resamples, and a table for larger sets. It writes nothing else:

    python -m tests.benchmarks.cost_model > costs.txt

The sets of the fit are not held whole, as small sets are, and all are screened in the
precision of large ones, so that they cost what large sets cost for each pair. Where the
pairs held do not answer the equal error rates, an audit counts a histogram, by float32
products, and resamples samples: each measurement says whether it did. Take a quiet machine
and some ten minutes.
"""

import json
import platform
import subprocess
import sys
import time
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from scipy.optimize import nnls

from skfairfr import SimilarityROC, make_face_embeddings
from skfairfr._core import _pair_sets, _pair_tiles, _screen
from skfairfr._core._blocks import FEWEST_RESAMPLES, RESAMPLES, Blocks
from skfairfr._core._memory import OF_SAMPLED, Size, share_to_hold
from skfairfr._core._parallel import n_threads
from skfairfr.report import audit
from tests.benchmarks._command import run_command
from tests.benchmarks.bench_similarity_roc import peak_above

ROOT = Path(__file__).resolve().parents[2]
# n_images, n_features, far_max, resamples; every far_max is held from 65,536 pairs on.
FITTED = [
    (3_000, 64, 3e-3, 100),
    (3_000, 512, 1e-2, 400),
    (6_000, 64, 3e-2, 100),
    (6_000, 256, 1e-2, 50),
    (9_000, 512, 1e-3, 200),
    (9_000, 64, 1e-2, 800),
    (12_000, 128, 3e-3, 50),
    (12_000, 512, 1e-2, 100),
    (16_000, 64, 1e-3, 800),
    (16_000, 256, 1e-2, 200),
    (16_000, 1024, 1e-3, 20),
    (24_000, 32, 1e-2, 300),
    (24_000, 512, 1e-3, 50),
]
NOT_FITTED = [(30_000, 256, 1e-3, 500), (14_000, 512, 1e-2, 1_000)]
TABLE = [(10_000, 1e-2), (100_000, 1e-3), (1_000_000, 1e-4)]
N_FEATURES, N_RESAMPLES = 512, 1_000
# Images of a person, as make_face_embeddings is asked for.
IMAGES = 4
WHOLE = 2**16
# A cluster: cores, and bytes that its network sends in a second (1 Gbit/s).
N_WORKERS, NETWORK = 64, 1.25e8
# A card: multiply-adds of bfloat16 in a second at a third of the data sheet of an H200,
# bytes of its memory in a second, and bytes for each pair that is screened.
CARD_PRODUCTS, CARD_MEMORY, CARD_BYTES = 1.6e14, 4.8e12, 8

# Work that is counted, and whether workers share it; the rest is done in one place.
WORK = {
    "a call": False,
    "1e12 multiply-adds": True,
    "1e12 multiply-adds in float32": True,
    "1e9 pairs compared": True,
    "1e9 pairs counted": True,
    "1e6 pairs held": True,
    "1e9 images x features x features": False,
    "1e9 pairs up to far_max x resamples": True,
    "1e9 sampled pairs x resamples": True,
    "1e9 images x resamples": True,
}


# ---- sets and their sizes ------------------------------------------------------------


def size_of(n_images, n_features):
    """Size of a set of two equal groups."""
    n_pairs, n_groups = n_images**2 // 2, 2
    own = (n_images // n_groups) ** 2 // 2
    return Size(
        n_images,
        n_features,
        n_pairs,
        n_images * (IMAGES - 1) // 2,
        (n_pairs, *[own] * n_groups),
        _pair_sets.DEPTH,
        (_pair_sets.WHOLE, _pair_sets.WHOLE_GROUP),
    )


def n_held(n_images, far_max):
    """Pairs held of a set whose groups have like scores."""
    size = size_of(n_images, 1)
    return size.n_pairs * share_to_hold(
        size.depth * far_max, size.keep[0], size.n_pairs
    )


def estimate(n_images, n_features, n_held, n_resamples):
    """Bytes that the package expects to need at most."""
    resamples = max(FEWEST_RESAMPLES, -(-n_resamples // n_threads()))
    blocks = Blocks(resamples=min(RESAMPLES, resamples))
    return size_of(n_images, n_features).n_bytes(n_held, blocks)


# ---- measuring -----------------------------------------------------------------------


def measure(n_images, n_features, far_max, n_resamples, whole, precision):
    """Print the seconds of a fit and of an audit, bytes beside X, and what they counted."""
    warnings.simplefilter("ignore")
    _screen.choose = lambda *_: precision
    if not whole:
        _pair_sets.WHOLE = _pair_sets.WHOLE_GROUP = WHOLE
    run(300, n_features, 1e-2, 16)  # compiles
    print(json.dumps(run(n_images, n_features, far_max, n_resamples)))


def large_precision():
    """Precision in which a million images are screened."""
    chosen, choose = [], _screen.choose

    def as_of_a_million(_, *others):
        chosen.append(choose(1e12 / 2, *others))
        return chosen[-1]

    _screen.choose = as_of_a_million
    try:
        # Enough images for tiles of the size that the pass of a million has.
        data = make_face_embeddings(5_000, IMAGES, N_FEATURES, random_state=0)
        SimilarityROC(far_max=1e-4, random_state=0).fit(data.X, data.y)
    finally:
        _screen.choose = choose
    return chosen[0]


@contextmanager
def count_passes():
    """A list that counts passes that count all scores, and uniform samples drawn."""
    counted = [0, 0]
    compare_all, draw = _pair_tiles.compare_all, _pair_sets.EmbeddingPairs._draw

    def counting(probe, reference, floors, measures, *others, **more):
        counted[0] += measures is not None
        return compare_all(probe, reference, floors, measures, *others, **more)

    def drawing(pairs, scope):
        counted[1] += 1
        return draw(pairs, scope)

    _pair_tiles.compare_all, _pair_sets.EmbeddingPairs._draw = counting, drawing
    try:
        yield counted
    finally:
        _pair_tiles.compare_all, _pair_sets.EmbeddingPairs._draw = compare_all, draw


def run(n_images, n_features, far_max, n_resamples):
    """Seconds, bytes and pairs of one set."""
    _pair_sets.HELD_PAIRS = far_max * n_images**2
    data = make_face_embeddings(n_images // IMAGES, IMAGES, n_features, random_state=0)
    columns = (data.X.astype(np.float32), data.y, data.sensitive_features)
    data.X = None
    seconds, held, counted = [], [], []

    def clocks():
        return time.perf_counter(), time.process_time()

    def work():
        start = clocks()
        roc = SimilarityROC(far_max=far_max, random_state=0).fit(*columns)
        seconds.append(np.subtract(clocks(), start))
        held.append(len(roc._engine.pairs.compared.held()))
        del roc
        with count_passes() as counts:
            start = clocks()
            audit(*columns, far=[far_max / 10, far_max], n_resamples=n_resamples)
            seconds.append(np.subtract(clocks(), start))
        counted.extend(counts)

    n_bytes = peak_above(work)
    case = (n_images, n_features, held[0], n_resamples)
    waited, busy = np.transpose(seconds).tolist()
    return {
        "bytes": n_bytes,
        "waited": waited,
        "busy": busy,
        "held": held[0],
        "histograms": counted[0],
        "samples": counted[1],
        "estimate": estimate(*case),
    }


def measured(*arguments):
    """What a process of its own measures."""
    code = f"from tests.benchmarks import cost_model as c; c.measure(*{arguments})"
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


# ---- the model -----------------------------------------------------------------------


def work_of(case, n_held, resampled=False, histograms=0, samples=0):
    """Counts of the work of a fit, or of an audit, in the units of WORK.

    Parameters
    ----------
    case : tuple
        Images, features, far_max and resamples.
    n_held : int
    resampled : bool
    histograms, samples : int
        Passes that count all scores, each in the place of one that does not, and samples.
    """
    n_images, n_features, far_max, n_resamples = case
    n_resamples *= resampled
    n_pairs = n_images**2 / 2
    products = n_pairs * n_features / 1e12
    return np.array(
        [
            1.0,
            products * (histograms == 0),
            products * histograms,
            n_pairs / 1e9,
            n_pairs * histograms / 1e9,
            n_held / 1e6,
            n_images * n_features**2 / 1e9,
            far_max * n_pairs * n_resamples / 1e9,
            samples * min(n_pairs, _pair_sets.SAMPLE) * n_resamples / 1e9,
            n_images * n_resamples / 1e9,
        ]
    )


def work_of_audit(case, result):
    """That of an audit that was measured."""
    counted = result["histograms"], result["samples"]
    return work_of(case, result["held"], True, *counted)


def parts_of_memory(result):
    """Parts of the memory; the package's estimate has samples before any is known."""
    return 1e6, 1e6 * (result["samples"] > 0), result["estimate"] - OF_SAMPLED


def least_squares(counts, found):
    """Coefficients >= 0 with the least sum of squared relative errors."""
    counts, found = np.array(counts), np.array(found)
    return nnls(counts / found[:, None], np.ones(found.size))[0]


class Model:
    """Coefficients of the core seconds of a fit and of an audit, of waits, and of memory.

    Bytes are a constant, for libraries, another where an audit draws samples, and a share
    of the rest of the upper estimate by which the package decides whether to begin.
    """

    def __init__(self, cases, results):
        both = list(zip(cases, results, strict=True))
        counts = (
            [work_of(case, result["held"]) for case, result in both],
            [work_of_audit(case, result) for case, result in both],
        )
        self.seconds = [
            least_squares(of, [result["busy"][i] for result in results])
            for i, of in enumerate(counts)
        ]
        self.waits = [
            least_squares(
                [[1.0, result["busy"][i] / n_threads()] for result in results],
                [result["waited"][i] for result in results],
            )
            for i in range(2)
        ]
        self.memory = least_squares(
            [parts_of_memory(result) for result in results],
            [result["bytes"] for result in results],
        )

    def of(self, case, result):
        """Seconds to wait for a fit, and for an audit."""
        busy = (
            self.seconds[0] @ work_of(case, result["held"]),
            self.seconds[1] @ work_of_audit(case, result),
        )
        return [
            wait @ (1.0, seconds / n_threads())
            for wait, seconds in zip(self.waits, busy, strict=True)
        ]

    def n_bytes(self, result):
        """Bytes beside X."""
        return self.memory @ parts_of_memory(result)

    def on_cluster(self, case, result):
        """Seconds of an audit by the workers of a cluster."""
        n_images, n_features, _, _ = case
        counts = work_of_audit(case, result)
        work, shared = self.seconds[1] * counts, np.array(list(WORK.values()))
        copies = 2 + np.ceil(np.log2(N_WORKERS))  # one after the other, as a tree
        rows = 4 * n_images * n_features * copies
        sent = rows + 2 * 12 * result["held"]
        busy = work[~shared].sum() / n_threads() + work[shared].sum() / N_WORKERS
        return self.waits[1] @ (1.0, busy) + sent / NETWORK


def on_card(n_images, n_features):
    """Seconds of one pass over all pairs, from the data sheet of a card."""
    n_pairs = n_images**2 / 2
    return n_pairs * (n_features / CARD_PRODUCTS + CARD_BYTES / CARD_MEMORY)


# ---- what is printed -----------------------------------------------------------------


def shown(seconds):
    """Seconds as a person reads them."""
    units = (("ms", 1e-3, 1e3), ("s", 1, 100), ("min", 60, 100), ("h", 3600, np.inf))
    unit, size = next((u, size) for u, size, most in units if seconds < most * size)
    value = seconds / size
    return f"{value:.{0 if value >= 9.95 else 1}f} {unit}"


def processor():
    """Its name, where Linux tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.split(":")[1].strip() for line in lines if "model name" in line]
    return names[0] if names else platform.processor()


def show_measurements(title, model, cases, results):
    """A line for each measurement beside the model."""
    print(f"\n{title}")
    print(
        "  images     d  far_max     B | fit: s   model | audit: s  model | memory: MB"
        "  model"
    )
    for (n, d, far_max, b), result in zip(cases, results, strict=True):
        fit, audited = model.of((n, d, far_max, b), result)
        seconds, n_bytes = result["waited"], model.n_bytes(result)
        print(
            f"{n:8,} {d:5} {far_max:8g} {b:5} | {seconds[0]:6.2f} {fit:7.2f} | "
            f"{seconds[1]:8.2f} {audited:6.2f} | {result['bytes'] / 1e6:10.0f} "
            f"{n_bytes / 1e6:6.0f}"
        )


def show_coefficients(model):
    """What each unit of work and of memory costs."""
    print("\nCore seconds of a fit, and of an audit by one attribute of two groups")
    for name, fit, audited in zip(WORK, *model.seconds, strict=True):
        print(f"{fit:12.4g} {audited:12.4g}  {name}")
    for name, (once, share) in zip(("a fit", "an audit"), model.waits, strict=True):
        print(f"Seconds of {name}: {once:.2f}, and {share:.2f} core seconds / threads")
    once, sampled, share = model.memory
    print(
        f"Memory: {once:.0f} MB, {sampled:.0f} MB more with samples, and {share:.2f} of the "
        "rest of the estimate\nby which the package decides"
    )


def expected(n_images, far_max, cases, results):
    """What a larger set counts: as measured of d = 512 at the next larger far_max."""
    alike = [
        (case[2], result)
        for case, result in zip(cases, results, strict=True)
        if case[1] == N_FEATURES and case[2] >= far_max
    ]
    _, like = min(alike, key=lambda found: found[0])
    return like | {"held": n_held(n_images, far_max)}


def show_table(model, cases, results):
    """Time and memory of larger sets."""
    print(
        f"\nComputed by the model: d = {N_FEATURES}, B = {N_RESAMPLES:,}, two groups. The "
        f"cluster has {N_WORKERS} such cores and\na network of {NETWORK * 8e-9:g} Gbit/s. "
        "The card is computed from a third of a data sheet's speed, not measured:\none pass over all pairs. "
        "'Needs' is what the package estimates, once torch is loaded;\nwhere it may use less, "
        "it works on less at a time, or refuses."
    )
    print(
        "   images  far_max |     fit    audit   memory    needs | audit on a cluster | "
        "pass on a card"
    )
    for n, far_max in TABLE:
        case = (n, N_FEATURES, far_max, N_RESAMPLES)
        like = expected(n, far_max, cases, results)
        fit, audited = model.of(case, like)
        size = size_of(n, N_FEATURES)
        like["estimate"] = estimate(n, N_FEATURES, like["held"], N_RESAMPLES)
        n_bytes = model.n_bytes(like)
        needed = size.n_bytes(size.n_held(far_max))
        print(
            f"{n:9,} {far_max:8g} | {shown(fit):>7} {shown(audited):>8} "
            f"{n_bytes / 1e9:5.1f} GB {needed / 1e9:5.1f} GB | "
            f"{shown(model.on_cluster(case, like)):>18} | {shown(on_card(n, N_FEATURES)):>14}"
        )


def main(repeats=2):
    """Measure, fit and print; of several repeats, the first may compile, the shortest counts."""
    precision = large_precision()
    results = [shortest(case, False, precision, repeats) for case in FITTED]
    model = Model(FITTED, results)
    print(f"{processor()}, {n_threads()} threads; screened in {precision}")
    show_measurements("Fitted to", model, FITTED, results)
    show_coefficients(model)
    unseen = [shortest(case, True, precision, repeats) for case in NOT_FITTED]
    show_measurements("Not fitted to", model, NOT_FITTED, unseen)
    show_table(model, FITTED, results)


def shortest(case, whole, precision, repeats):
    """The measurement whose audit took the shortest time."""
    runs = [measured(*case, whole, precision) for _ in range(repeats)]
    return min(runs, key=lambda result: result["waited"][1])


if __name__ == "__main__":
    run_command(main, __doc__)
