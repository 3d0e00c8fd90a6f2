"""
=======================================
The bench on real and on made-up people
=======================================

Mitigations that have a name, on embeddings of real faces and on four synthetic populations, in
each of which a disparity has another cause. The people of a population vary in 64 directions,
and are placed in 512 features, which changes no cosine. The real set stays where it is:

    python examples/mitigation/study_bench.py ../shared/data/lfw_facenet/lfw_facenet.npz 1 fits

prints the tables, and the processor time of each draw. Finished fits are kept in the folder of
the third argument, from which a study that was stopped continues. The second is the number of
processes, and a fourth names the sets to measure. Numbers are kept in ``study_bench.json``
next to this file, if all sets were measured. If the real one is absent, it is left out, and
nothing is kept.

Each population is drawn three times, and the real people are split three times. ``--draws 1``,
as the first argument, does so once. The three heads that take longest to train are tried in the first
draw only.
``--features 64`` places people in so many features. What is kept then has another name.
``--tables`` prints what is kept: ``--tables summary`` the ratios over all draws, ``--tables
controls`` those against controls.
"""

import json
import math
import sys
import time
from pathlib import Path

import numpy as np

from skfairfr import make_face_embeddings
from skfairfr.comparators import CohortNormalizer
from skfairfr.model_selection import MITIGATIONS, compare_mitigations
from skfairfr.model_selection._mitigations import Noise

DEFAULT = "../shared/data/lfw_facenet/lfw_facenet.npz"
N_PEOPLE, N_FEATURES, N_DIRECTIONS, N_DRAWS = 600, 512, 64, 3
SPLITS = {"n_splits": 3, "inner_splits": 2}
# FairCal takes longest. Noise on all images must never win.
METHODS = {name: name for name in MITIGATIONS if name != "FairCal"}
METHODS |= {"noise .4": Noise(0.4, 0), "noise .8": Noise(0.8, 0)}
METHODS |= {
    "images": CohortNormalizer(),
    "centroids": CohortNormalizer(cohort="centroids"),
    "half strength": CohortNormalizer(strength=0.5),
}
# Heads that take longest to train: in the first draw alone.
ONCE = ("triplets", "adversary", "centroid fairness")
# Larger on the real set, whose parts have some 5,000 impostor pairs of women.
FAR, FAR_OF_REAL = 1e-3, 1e-2
# Keys of the JSON of a bench, and what the tables call them.
METRICS = {
    "bfar": "BFAR",
    "bfrr": "BFRR",
    "fnmr_at_fmr": "FRR",
    "own_threshold_gap": "own-threshold gap",
}
CONTROLS = "plain head", "margin head", "noise"
# Options of make_face_embeddings. Without others the two groups are the same.
ALIKE = {"crowding": 5.0, "kappa": 140.0}
CROWDED = {"crowding": {"male": 5.0, "female": 28.0}}
SPREAD = {"kappa": {"male": 140.0, "female": 115.0}}
POPULATIONS = {
    "crowded group": CROWDED,
    "spread group": SPREAD,
    "crowded and spread": {**CROWDED, **SPREAD},
    "nuisance direction": {"nuisance": {"male": 0.1, "female": 0.3}},
}
CAUSES = {
    "crowded group": "women resemble each other more than men do",
    "spread group": "the images of a woman differ more than those of a man",
    "crowded and spread": "both",
    "nuisance direction": "light moves images of women along one direction more than those "
    "of men",
}


def population(cause, seed=0, n_people=N_PEOPLE, n_features=N_FEATURES):
    """Embeddings, people and groups in which a disparity has one cause."""
    options = {**ALIKE, **POPULATIONS[cause]}
    drawn = n_people, (3, 6), N_DIRECTIONS
    faces = make_face_embeddings(*drawn, random_state=seed, **options)
    X = faces.X
    if n_features != N_DIRECTIONS:
        rng = np.random.default_rng(seed)
        axes, _ = np.linalg.qr(rng.standard_normal((n_features, N_DIRECTIONS)))
        X = (X @ axes.T).astype(np.float32)
    return X, faces.y, faces.sensitive_features


def rounded(value):
    """Numbers of a record with six digits, which is more than can be read."""
    if isinstance(value, dict):
        return {name: rounded(v) for name, v in value.items()}
    if isinstance(value, list):
        return [rounded(v) for v in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def try_all(data, far, split_seed, draw, n_jobs, folder):
    """A bench of the methods: its JSON, and its text."""
    X, y, group = data
    methods = {n: m for n, m in METHODS.items() if not draw or n not in ONCE}
    options = {"far": far, "n_jobs": n_jobs, "folder": folder, **SPLITS}
    options |= {"refit": False, "random_state": split_seed}
    bench = compare_mitigations(X, y, {"gender": group}, methods, **options)
    return rounded(json.loads(bench.to_json())) | {"text": bench.to_text()}


def over_draws(changes, independent):
    """Geometric mean of ratios of several draws, with its 95 % interval.

    Centres of the draws' intervals are averaged. Draws of a population are of different
    people, so half the width shrinks with the square root of their number. Splits of the
    same people are averaged.
    """
    low, high = (np.log([float(c[end]) for c in changes]) for end in ("low", "high"))
    centre, half = (low + high).mean() / 2, (high - low) / 2
    width = np.sqrt((half**2).sum()) / half.size if independent else half.mean()
    return np.exp(centre + width * np.array([0, -1, 1]))


def shown(changes, name):
    """``0.15 [0.08, 0.27]`` of all draws of a set, or "undefined" if one has no interval."""
    if not all(math.isfinite(float(c["high"] or "nan")) for c in changes):
        return "undefined"
    return "{:.2f} [{:.2f}, {:.2f}]".format(*over_draws(changes, name in CAUSES))


def by_method(draws):
    """Name -> the results of a method in all draws of a set."""
    return {
        name: [m for draw in draws for m in draw["methods"] if m["name"] == name]
        for name in METHODS
    }


def print_summary(sets):
    """Each method over doing nothing: docs/evidence/bench_summary.txt."""
    head = ("method", *(METRICS[m] for m in METRICS))
    for name, draws in sets.items():
        print(f"{name}: {len(draws)} draws, after / before")
        print("(1): one draw\n")
        print(("{:22}" + "{:>19}" * len(METRICS)).format(*head))
        before = [np.mean([d["before"][m] for d in draws]) for m in METRICS]
        cells = (f"{value:.3g}" for value in before)
        print(("{:22}" + "{:>19}" * len(METRICS)).format("before", *cells))
        for method, found in by_method(draws).items():
            cells = (shown([f["changes"][m] for f in found], name) for m in METRICS)
            label = method + " (1)" * (len(found) < len(draws))
            print(("{:22}" + "{:>19}" * len(METRICS)).format(label, *cells))
        winners = ", ".join(str(draw["winner"] or "none") for draw in draws)
        print(f"winners: {winners}\n")


def print_controls(sets):
    """BFAR of each method over that of its controls: docs/evidence/bench_controls.txt."""
    for name, draws in sets.items():
        print(f"{name}: BFAR of a method over that of a control")
        print("(1): one draw\n")
        print("{:22}{:>19}{:>19}{:>19}".format("method", *CONTROLS))
        for method, found in by_method(draws).items():
            cells = []
            for control in CONTROLS:
                changes = [
                    c["changes"]["bfar"]
                    for f in found
                    for c in f["controls"]
                    if c["control"] == control
                ]
                whole = len(changes) == len(found)
                cells.append(shown(changes, name) if changes and whole else "")
            if any(cells):
                label = method + " (1)" * (len(found) < len(draws))
                print("{:22}{:>19}{:>19}{:>19}".format(label, *cells))
        print()


def print_tables(what="all"):
    """What is kept, as text."""
    path = Path(__file__).with_name("study_bench.json")
    sets = json.loads(path.read_text("utf-8"))["sets"]
    if what != "all":
        {"summary": print_summary, "controls": print_controls}[what](sets)
        return
    for name, (first, *_) in sets.items():
        print(f"### {name}\n\n{first['text']}")


def main(
    path=DEFAULT, n_jobs=1, folder=None, *names, n_features=N_FEATURES, n_draws=N_DRAWS
):
    sets = {}
    if Path(path).is_file():
        stored = np.load(path)
        real = stored["embedding"], stored["identity"], stored["gender"]
        sets["LFW"] = [(real, FAR_OF_REAL, seed) for seed in range(n_draws)]
    else:
        print(f"{path} is not there, and its results are left out.", file=sys.stderr)
    for cause in CAUSES:
        drawn = (population(cause, k, n_features=n_features) for k in range(n_draws))
        sets[cause] = [(data, FAR, 0) for data in drawn]
    found = {}
    for name, draws in sets.items():
        if names and name not in names:
            continue
        for draw, data in enumerate(draws):
            start = time.process_time()
            record = try_all(*data, draw, int(n_jobs), folder)
            found.setdefault(name, []).append(record)
            seconds = time.process_time() - start
            print(f"{name}: {seconds:.0f} s of this process", file=sys.stderr)
    print_summary(found)
    print_controls(found)
    if len(found) <= len(CAUSES):
        return
    record = {
        "made_by": "examples/mitigation/study_bench.py",
        "causes": CAUSES,
        "sets": found,
    }
    text = json.dumps(record, indent=None, separators=(",", ":"))
    kept = f".{n_features}" if n_features != N_FEATURES else ""
    kept += f".{n_draws}" if n_draws != N_DRAWS else ""
    path = Path(__file__).with_suffix(f"{kept}.json")
    path.write_text(text.replace('{"name"', '\n{"name"') + "\n", encoding="utf-8")


if __name__ == "__main__":
    arguments, options = sys.argv[1:], {}
    while arguments[:1] in (["--draws"], ["--features"]):
        option = arguments.pop(0)
        options[f"n_{option[2:]}"] = int(arguments.pop(0))
    if arguments[:1] == ["--tables"]:
        print_tables(*arguments[1:])
    else:
        main(*arguments, **options)
