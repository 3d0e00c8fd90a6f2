"""
=================================================================
The numbers of heads, numbers of people and numbers of directions
=================================================================

``plot_heads.py`` draws the results of this study, which takes hours: the rates of held-out
people with either head, over the number of people it was fitted on, and over the number of
directions in which people differ.

    python examples/mitigation/study_heads.py --jobs 2

Every finished cell is a line of ``heads.jsonl`` next to this file (``--file`` names
another), and an interrupted run continues from it. In the end
``heads.json`` contains all of them. ``--draws``, ``--people``, ``--heads`` and ``--directions``
choose some. ``--features 512`` draws
people with the same cosines in so many features, and all files have that number in their names.
"""

import argparse
import json
import time
from pathlib import Path

from joblib import Parallel, delayed

from skfairfr import EthicalModule, SimilarityROC, face_labels, make_face_embeddings

HERE = Path(__file__).parent
GROUPS = ("male", "female")
FAR = 1e-3
N_FITTED = (500, 1500, 5000, 10000, 20000)
N_UNSEEN = 2000
N_RESAMPLES = 500
# Concentrations of men's and women's images and identities. With them about one genuine pair
# in 25 is rejected before any head, whatever the number of directions. Those
# of people and of images in embeddings of LFW by FaceNet are about 33 and 43.
POPULATIONS = {
    "64": {"n_directions": None, "kappa": (140, 120), "crowding": (14, 28)},
    "33, 43": {"n_directions": (33, 43), "kappa": (128, 110), "crowding": (8, 16)},
    "24": {"n_directions": 24, "kappa": (110, 94), "crowding": (6, 12)},
}
# Of study_kappa_grid.py: one kappa for all, and the pair of EM22's Table 1 that its authors
# call EM-C. Centroids of "mlp" are drawn. study_training.py has them from means.
HEADS = {
    "residual": {"head": "residual", "lr": 1e-3, "max_epochs": 20},
    "mlp": {"head": "mlp", "lr": 1e-2, "init": "random", "max_epochs": 25},
}
KAPPAS = {"20, 20": (20.0, 20.0), "45, 30": (45.0, 30.0)}
QUESTIONS = {
    "frr": {"rate": "frr"},
    "bfar": {"rate": "far", "how": "max_min", "operating_point": "worst_group"},
    "bfrr": {"rate": "frr", "how": "max_min", "operating_point": "worst_group"},
}


def draw(population, seed, n_features=64):
    """People to fit on and, the last of them, people whom no fit sees."""
    chosen = dict(POPULATIONS[population])
    if n_features != 64:
        chosen["n_directions"] = chosen["n_directions"] or 64
    for name in ("kappa", "crowding"):
        chosen[name] = dict(zip(GROUPS, chosen[name], strict=True))
    return make_face_embeddings(
        n_identities=max(N_FITTED) + N_UNSEEN,
        images_per_identity=(4, 8),
        n_features=n_features,
        random_state=seed,
        **chosen,
    )


def roc_of(X, y, group):
    """All pairs of the unseen people, resampled by person."""
    roc = SimilarityROC(n_resamples=N_RESAMPLES, random_state=0)
    return roc.fit(X, y, group)


def ask(roc, before=None):
    """Each question: value and interval and, if there is a before, the paired ratio."""
    found = {}
    for name, question in QUESTIONS.items():
        of = roc.estimate(FAR, **question)
        found[name] = {"value": of.value, "low": of.low, "high": of.high}
        if before is not None:
            paired = roc.compare(before, FAR, **question)
            found[name] |= {
                "ratio": paired.ratio,
                "ratio_low": paired.ratio_low,
                "ratio_high": paired.ratio_high,
            }
    return {
        name: {key: float(f"{value:.5g}") for key, value in of.items()}
        for name, of in found.items()
    }


def measure(population, seed, cells, n_features=64):
    """Cells (head, kappas, people) of one draw. Yields a record of each."""
    faces = draw(population, seed, n_features)
    X, y, group = faces.X, faces.y, faces.sensitive_features
    unseen = y >= max(N_FITTED)  # identities are in random order
    before = roc_of(X[unseen], y[unseen], group[unseen])
    common = {"directions": population, "draw": seed}
    for head, kappas, n_people in cells:
        start = time.perf_counter()
        cell = common | {"head": head, "kappas": kappas, "people": n_people}
        if head == "before":
            yield cell | ask(before)
            continue
        rows = y < n_people
        made = EthicalModule(
            *KAPPAS[kappas], groups=GROUPS, random_state=0, device="cpu", **HEADS[head]
        ).fit(X[rows], face_labels(y[rows], group[rows]))
        after = roc_of(made.transform(X[unseen]), y[unseen], group[unseen])
        yield cell | ask(after, before) | {"s": round(time.perf_counter() - start)}


def run(path, n_features, population, seed, cells):
    """Measure cells of one draw, one line for each."""
    for record in measure(population, seed, cells, n_features):
        line = json.dumps(record)
        with path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
        print(line, flush=True)


def key_of(record):
    """Key of a cell."""
    return tuple(record[n] for n in ("directions", "draw", "head", "kappas", "people"))


def finished(path):
    """Records of a file."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def main():
    """Measure the cells that are missing, small ones first, then write all of them."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    parser.add_argument("--file", type=Path)
    parser.add_argument("--features", type=int, default=64)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--people", type=int, nargs="+", default=N_FITTED)
    parser.add_argument("--heads", nargs="+", default=list(HEADS))
    parser.add_argument("--directions", nargs="+", default=list(POPULATIONS))
    asked = parser.parse_args()
    name = "heads" if asked.features == 64 else f"heads.{asked.features}"
    asked.file = asked.file or HERE / f"{name}.jsonl"
    done = {key_of(record) for record in finished(asked.file)}
    tasks = []
    for seed in range(asked.draws):
        for n_people in (0, *asked.people):
            cells = [(h, k, n_people) for h in asked.heads for k in KAPPAS]
            if n_people == 0:
                cells = [("before", "", 0)]
            for population in asked.directions:
                left = [c for c in cells if (population, seed, *c) not in done]
                tasks += [(population, seed, left)] if left else []
    Parallel(n_jobs=asked.jobs)(
        delayed(run)(asked.file, asked.features, *task) for task in tasks
    )
    records = sorted(finished(asked.file), key=key_of)
    result = {
        "made_by": "examples/mitigation/study_heads.py",
        "far": FAR,
        "n_unseen": N_UNSEEN,
        "populations": POPULATIONS,
        "training": HEADS,
        "cells": records,
    }
    text = json.dumps(result, indent=1) + "\n"
    (HERE / f"{name}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
