"""
=======================================
The bench on real and on made-up people
=======================================

Every mitigation that has a name, on embeddings of real faces and on four synthetic
populations, in each of which a disparity has another cause. It takes half an hour on two
cores; finished fits are kept in the folder of the third argument, from which a study that was
stopped goes on, and a fourth argument names the sets to measure, all if there is none. The
real set stays where it is:

    python examples/mitigation/study_bench.py ../shared/data/lfw_facenet/lfw_facenet.npz 2 fits

writes ``study_bench.json`` beside itself, and prints the tables. Where the file is not there,
its results are left out, and the study says so.

``--features 512``, before all else, draws people with the same cosines in so many features
and keeps the numbers in a file of that name; ``--tables`` prints the kept ones.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np

from skfairfr import make_face_embeddings
from skfairfr.model_selection import (
    Bench,
    GroupChange,
    MethodResult,
    MetricChange,
    compare_mitigations,
)

DEFAULT = "../shared/data/lfw_facenet/lfw_facenet.npz"
N_PEOPLE = 1200
N_FEATURES = 64
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


def population(cause, seed=0):
    """Embeddings, people and groups in which a disparity has one cause."""
    options = {**ALIKE, **POPULATIONS[cause]}
    faces = make_face_embeddings(N_PEOPLE, (3, 6), 64, random_state=seed, **options)
    X = faces.X
    if N_FEATURES != 64:
        rng = np.random.default_rng(seed)
        axes, _ = np.linalg.qr(rng.standard_normal((N_FEATURES, 64)))
        X = (X @ axes.T).astype(np.float32)
    return X, faces.y, faces.sensitive_features


def rounded(value):
    """Numbers of a record with six digits, which is more than can be read."""
    if isinstance(value, dict):
        return {name: rounded(v) for name, v in value.items()}
    if isinstance(value, list):
        return [rounded(v) for v in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def try_all(data, far, n_jobs, folder):
    """A bench of all methods, as a record and as text."""
    X, y, group = data
    bench = compare_mitigations(
        X, y, {"gender": group}, far=far, n_jobs=n_jobs, folder=folder, refit=False
    )
    return rounded(json.loads(bench.to_json())), bench.to_text()


def again(record):
    """The Bench of a record, without its fitted winner."""
    methods = [
        MethodResult(
            **{
                **method,
                "changes": {k: MetricChange(**c) for k, c in method["changes"].items()},
                "groups": tuple(GroupChange(**c) for c in method["groups"]),
                "others": tuple(MetricChange(**c) for c in method["others"]),
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


def main(path=DEFAULT, n_jobs=2, folder=None, *names):
    start = time.perf_counter()
    sets = {cause: (population(cause), FAR) for cause in CAUSES}
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
        found[name], text = try_all(data, far, int(n_jobs), folder)
        print(f"### {name}\n\n{text}")
        print(name, f"{time.perf_counter() - start:.0f} s", file=sys.stderr)
    record = {
        "made_by": "examples/mitigation/study_bench.py",
        "causes": CAUSES,
        "sets": found,
    }
    text = json.dumps(record, indent=None, separators=(",", ":"))
    path = Path(__file__).with_suffix(
        ".json" if N_FEATURES == 64 else f".{N_FEATURES}.json"
    )
    path.write_text(text.replace('{"name"', '\n{"name"') + "\n", encoding="utf-8")


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if arguments[:1] == ["--features"]:
        N_FEATURES = int(arguments[1])
        del arguments[:2]
    if arguments == ["--tables"]:
        print_tables()
    else:
        main(*arguments)
