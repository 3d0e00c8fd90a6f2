"""How long to train the Ethical Module, and with which head: defaults and other options.

Synthetic people who vary in about as many directions as those of a real encoder. Some are
fitted, 1,000 others measured, at a FAR of 1e-3:

options    Heads, rates, epochs, batch sizes, kappas and starts, over the number of people.
quality    FRR, BFAR and BFRR over the epochs, next to the time of a fit with the defaults.

    python examples/mitigation/study_training.py [PART ...]
    python examples/mitigation/study_training.py --tables

The first runs all parts, or those named, and keeps them in study_training.json next to this
file (an hour and a half on one core). The second prints the tables of docs/evidence/training.rst.

``--features 512``, before all else, draws people with the same cosines in so many features
and keeps the numbers in a file of that name.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
from scipy.stats import t

from skfairfr import EthicalModule, SimilarityROC, face_labels, make_face_embeddings

FAR = 1e-3
N_FEATURES = 64
N_UNSEEN = 1000
# Draws for each number of people fitted.
SEEDS = {500: range(4), 1500: range(4), 5000: range(4), 10_000: range(3)}
TWO = ("male", "female")
POPULATION = {
    "n_directions": (33, 43),
    "groups": {"male": 0.65, "female": 0.35},
    "kappa": {"male": 128, "female": 110},
    "crowding": {"male": 8, "female": 16},
}
QUESTIONS = {
    "FRR": {},
    "BFAR": {"rate": "far", "how": "max_min", "operating_point": "worst_group"},
    "BFRR": {"how": "max_min", "operating_point": "worst_group"},
}
MLP = {"head": "mlp", "lr": 1e-2}
PAPER = {**MLP, "init": "random"}
FAST = {"max_epochs": 4, "lr": 1e-2, "final_lr": 1e-3}
# The most people for which an option is tried, if it takes long.
OPTIONS = {
    "defaults": ({}, 10_000),
    "60 epochs": ({"max_epochs": 60}, 1500),
    "5 epochs": ({"max_epochs": 5}, 5000),
    "4 epochs, lr 0.005": ({"max_epochs": 4, "lr": 5e-3}, 10_000),
    "4 epochs, lr 0.01 to 0.001": (FAST, 5000),
    "hidden_dim 8": ({"hidden_dim": 8}, 5000),
    "hidden_dim 8, 4 epochs, lr 0.01 to 0.001": ({"hidden_dim": 8, **FAST}, 5000),
    "batch_size 256": ({"batch_size": 256}, 5000),
    "batch_size 4096": ({"batch_size": 4096}, 5000),
    "kappas 10, 30": ({"kappa0": 10.0, "kappa1": 30.0}, 5000),
    "kappas 30, 10": ({"kappa0": 30.0, "kappa1": 10.0}, 5000),
    "mlp, lr 0.01, from means, 5 epochs": ({**MLP, "max_epochs": 5}, 10_000),
    "mlp, lr 0.01, from means, 20 epochs": (MLP, 10_000),
    "mlp, lr 0.001, from means, 20 epochs": ({"head": "mlp"}, 5000),
    "mlp, lr 0.01, drawn, 50 epochs": ({**PAPER, "max_epochs": 50}, 10_000),
}
TRIED = {
    "defaults": ({}, (1, 2, 4, 8, 12, 20)),
    "lr 0.01 to 0.001": (FAST, (1, 2, 4, 8)),
    "mlp, from means": (MLP, (1, 2, 4, 10, 20, 50)),
    "mlp, drawn": (PAPER, (1, 2, 4, 10, 20, 50)),
}
N_QUALITY = 1500


def drawn(n_people, seed):
    """Embeddings, identity and group of each image."""
    faces = make_face_embeddings(
        n_people + N_UNSEEN, (4, 8), N_FEATURES, **POPULATION, random_state=seed
    )
    return faces.X, faces.y, faces.sensitive_features


def measured(data, n_people, systems):
    """Rates of each system on the unseen people, ratios to before, and time."""
    X, y, group = data
    fitted = y < n_people  # identities are in random order
    labels = face_labels(y[fitted], group[fitted])
    before, found = None, {}
    for name, options in {"before": None, **systems}.items():
        unseen, seconds = X[~fitted], 0.0
        if options is not None:
            made = EthicalModule(
                groups=TWO, random_state=0, device="cpu", **{**PAIR, **options}
            )
            start = time.process_time()
            made.fit(X[fitted], labels)
            seconds = time.process_time() - start
            unseen = made.transform(unseen)
        roc = SimilarityROC(n_resamples=100, random_state=0)
        roc.fit(unseen, y[~fitted], group[~fitted])
        before = before or roc
        found[name] = {"seconds": short(seconds)}
        for title, asked in QUESTIONS.items():
            paired = roc.compare(before, FAR, **asked)
            ends = (paired.ratio, paired.ratio_low, paired.ratio_high)
            found[name][title] = {
                "value": short(roc.estimate(FAR, **asked).value),
                "ratio": [short(end) for end in ends],
            }
    return found


PAIR = {"kappa0": 20.0, "kappa1": 20.0}


def short(value):
    """Five digits, for a small file."""
    return float(f"{value:.5g}")


# Parts: each returns a row for each draw, by what is varied.


def options():
    return {
        str(n_people): [
            measured(
                drawn(n_people, seed),
                n_people,
                {n: o for n, (o, most) in OPTIONS.items() if n_people <= most},
            )
            for seed in seeds
        ]
        for n_people, seeds in SEEDS.items()
    }


def quality():
    systems = {
        f"{name}, {n} epoch{'s' * (n > 1)}": {**asked, "max_epochs": n}
        for name, (asked, epochs) in TRIED.items()
        for n in epochs
    }
    return [
        measured(drawn(N_QUALITY, seed), N_QUALITY, systems)
        for seed in SEEDS[N_QUALITY]
    ]


PARTS = {"options": options, "quality": quality}


# Tables


def mean_and_interval(values):
    """Geometric mean over draws, and its 95 % t interval."""
    logs = np.log(values)
    half = t.ppf(0.975, logs.size - 1) * logs.std(ddof=1) / np.sqrt(logs.size)
    ends = np.exp([logs.mean(), logs.mean() - half, logs.mean() + half])
    return "{:.2f} [{:.2f}, {:.2f}]".format(*ends)


def table(rows, first, base):
    """Geometric means over the draws, of ratios to before, and median times over the base."""
    titles = [first, *(f"{title}, over before" for title in QUESTIONS), "time"]
    lines = [" | ".join(titles)]
    for name in rows[0]:
        if name == "before":
            continue
        cells = [
            mean_and_interval([row[name][title]["ratio"][0] for row in rows])
            for title in QUESTIONS
        ]
        times = [row[name]["seconds"] / row[base]["seconds"] for row in rows]
        # The first fit of the first draw also starts the process.
        cells.append(f"{np.median(times):.2f}")
        lines.append(" | ".join([name, *cells]))
    lines = ["   " + line for line in lines]
    head = [".. csv-table::", "   :header-rows: 1", "   :delim: |", ""]
    return "\n".join([*head, *lines])


def tables(found):
    """reStructuredText of every part."""
    made = {
        f"{int(n):,} people fitted": table(rows, "Options", "defaults")
        for n, rows in found.get("options", {}).items()
    }
    if "quality" in found:
        made["over the epochs"] = table(
            found["quality"], "Options", "defaults, 20 epochs"
        )
    return made


def main(*names):
    path = Path(__file__).with_suffix(
        ".json" if N_FEATURES == 64 else f".{N_FEATURES}.json"
    )
    found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    if names != ("--tables",):
        for name in names or PARTS:
            found[name] = PARTS[name]()
            path.write_text(json.dumps(found) + "\n", encoding="utf-8")
            print(f"{name} done", file=sys.stderr)
    for name, text in tables(found).items():
        print(f"\n{name}\n\n{text}")


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if arguments[:1] == ["--features"]:
        N_FEATURES = int(arguments[1])
        del arguments[:2]
    main(*arguments)
