"""
=======================================
The bench on real and on made-up people
=======================================

Mitigations that have a name, on embeddings of real faces and on four synthetic populations, in
each of which a disparity has another cause. The people of a population vary in 64 directions,
and are placed in 512 features, which changes no cosine. The real set stays where it is:

    python examples/mitigation/study_bench.py ../shared/data/lfw_facenet/lfw_facenet.npz 1 fits

prints the tables, and the processor time of each set: a quarter of an hour on one core in all.
Finished fits are kept in the folder of the third argument, from which a study that was stopped
goes on; the second is the number of processes, and a fourth names the sets to measure. Numbers
are kept in ``study_bench.json`` beside this file, if all sets were measured; where the real one
is not there, it is left out, and nothing is kept.

``--whole``, before all else, takes twice the people, five splits and three inner ones instead
of three and two, FairCal, and heads in the population with both causes; ``--features 64`` places
people in so many features. What is kept then has another name. ``--tables`` prints what is kept.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np

from skfairfr import make_face_embeddings
from skfairfr.model_selection import (
    MITIGATIONS,
    Bench,
    ControlResult,
    GroupChange,
    MethodResult,
    MetricChange,
    compare_mitigations,
)

DEFAULT = "../shared/data/lfw_facenet/lfw_facenet.npz"
N_PEOPLE, N_FEATURES, N_DIRECTIONS = 600, 512, 64
REDUCED = {"n_splits": 3, "inner_splits": 2}
METHODS = [name for name in MITIGATIONS if name != "FairCal"]
# Of the population with both causes; its heads are in check_studies.
UNTRAINED = METHODS[: METHODS.index("plain head")]
# Larger on the real set, whose parts have some 5,000 impostor pairs of women.
FAR, FAR_OF_REAL = 1e-3, 1e-2
# Options of make_face_embeddings; without others the two groups are alike.
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


def try_all(data, far, n_jobs, folder, options):
    """A bench of the methods, as a record and as text."""
    X, y, group = data
    options = {"far": far, "n_jobs": n_jobs, "folder": folder, **options}
    bench = compare_mitigations(X, y, {"gender": group}, refit=False, **options)
    return rounded(json.loads(bench.to_json())), bench.to_text()


def again(record):
    """The Bench of a record, without its fitted winner."""

    def metrics(changes):
        return {name: MetricChange(**change) for name, change in changes.items()}

    methods = [
        MethodResult(
            **{
                **method,
                "changes": metrics(method["changes"]),
                "groups": tuple(GroupChange(**c) for c in method["groups"]),
                "others": tuple(MetricChange(**c) for c in method["others"]),
                "controls": tuple(
                    ControlResult(**{**c, "changes": metrics(c["changes"])})
                    for c in method["controls"]
                ),
            }
        )
        for method in record["methods"]
    ]
    kept = {name: record[name] for name in Bench.__annotations__ if name in record}
    return Bench(**kept | {"methods": tuple(methods)})


def print_tables():
    """What docs/studies/bench_tables.txt holds."""
    path = Path(__file__).with_name("study_bench.json")
    for name, record in json.loads(path.read_text("utf-8"))["sets"].items():
        print(f"### {name}\n\n{again(record).to_text()}")


def main(
    path=DEFAULT, n_jobs=1, folder=None, *names, n_features=N_FEATURES, whole=False
):
    n_people, options = (2 * N_PEOPLE, {}) if whole else (N_PEOPLE, REDUCED)
    drawn = {"n_people": n_people, "n_features": n_features}
    sets = {cause: (population(cause, **drawn), FAR) for cause in CAUSES}
    if Path(path).is_file():
        stored = np.load(path)
        real = stored["embedding"], stored["identity"], stored["gender"]
        sets = {"LFW": (real, FAR_OF_REAL), **sets}
    else:
        print(f"{path} is not there, and its results are left out.", file=sys.stderr)
    found = {}
    for name, (data, far) in sets.items():
        if names and name not in names:
            continue
        start = time.process_time()
        methods = UNTRAINED if name == "crowded and spread" else METHODS
        asked = options if whole else {**options, "methods": methods}
        found[name], text = try_all(data, far, int(n_jobs), folder, asked)
        print(f"### {name}\n\n{text}")
        seconds = time.process_time() - start
        print(f"{name}: {seconds:.0f} s of this process", file=sys.stderr)
    if len(found) <= len(CAUSES):
        return
    record = {
        "made_by": "examples/mitigation/study_bench.py",
        "causes": CAUSES,
        "sets": found,
    }
    text = json.dumps(record, indent=None, separators=(",", ":"))
    kept = (".whole" if whole else "") + (
        f".{n_features}" if n_features != N_FEATURES else ""
    )
    path = Path(__file__).with_suffix(f"{kept}.json")
    path.write_text(text.replace('{"name"', '\n{"name"') + "\n", encoding="utf-8")


if __name__ == "__main__":
    arguments, options = sys.argv[1:], {}
    while arguments[:1] in (["--whole"], ["--features"]):
        if arguments.pop(0) == "--whole":
            options["whole"] = True
        else:
            options["n_features"] = int(arguments.pop(0))
    if arguments == ["--tables"]:
        print_tables()
    else:
        main(*arguments, **options)
