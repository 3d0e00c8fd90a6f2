"""Does the penalty on instance false positives narrow the spread of group FARs?

The study behind the defaults of FPRPenaltyProjector and the example plot_fpr_penalty.py: a
grid over alpha, far and both penalties, against the embeddings as they are and against
alpha = 0 (the same margin softmax without penalty). Five draws of synthetic people in four
groups that no fit uses, and, if the file is given, five identity-disjoint
halves of real embeddings. Everything is measured on held-out people.

    python examples/mitigation/study_fpr_penalty.py [LFW.npz]
    python examples/mitigation/study_fpr_penalty.py --tables

The first writes study_fpr_penalty.json next to this file (some ten minutes on one core). Both
print the tables of docs/evidence/fpr_penalty.rst.

``--features 512``, before all else, draws people with the same cosines in so many features
and keeps the numbers in a file of that name.
"""

import json
import sys
from pathlib import Path

import numpy as np
from scipy.stats import t
from sklearn.base import clone
from sklearn.preprocessing import FunctionTransformer

from skfairfr import (
    FPRPenaltyProjector,
    SimilarityROC,
    face_labels,
    make_face_embeddings,
    make_fairness_scorer,
)

SEEDS = range(5)
N_FEATURES = 64
RESIDUAL = {"head": "residual", "lr": 1e-3, "max_epochs": 20}
GRID = {
    "alpha = 0": {"alpha": 0.0},
    **{
        f"ratio, alpha = {alpha:g}, far = {'1/(K-1)' if far is None else f'{far:g}'}": {
            "alpha": alpha,
            "far": far,
        }
        for far in (None, 1e-4, 1e-2)
        for alpha in (0.03, 0.1, 0.3, 1.0)
    },
    "ratio, alpha = 0.1, cosine weights": {"alpha": 0.1, "weighting": "cosine"},
    "ratio, alpha = 0.1, momentum 0.9": {"alpha": 0.1, "momentum": 0.9},
    "mean square, alpha = 0.3": {"alpha": 0.3, "penalty": "mean_square"},
    "mean square, alpha = 1": {"alpha": 1.0, "penalty": "mean_square"},
}
MEASURES = {
    "FAR std": ("far", "std"),
    "FAR max/geomean": ("far", "max_geomean"),
    "FRR": ("frr", None),
    "FRR max/geomean": ("frr", "max_geomean"),
}
DEFAULT = "ratio, alpha = 0.1, far = 1/(K-1)"


def synthetic(seed):
    """Four groups, ever smaller, ever more crowded and more spread."""
    groups = {"A": 0.4, "B": 0.3, "C": 0.2, "D": 0.1}
    faces = make_face_embeddings(
        2000,
        (4, 8),
        N_FEATURES,
        groups=groups,
        n_directions=None if N_FEATURES == 64 else 64,
        random_state=seed,
    )
    return faces.X, faces.y, faces.sensitive_features


def halves(y, seed):
    """Which rows are trained on: those of half the people."""
    people = np.random.default_rng(seed).permutation(np.unique(y))
    return np.isin(y, people[: people.size // 2])


def measure(model, X, y, far):
    """Every measure at one threshold, that of the overall FAR."""
    return {
        name: -make_fairness_scorer(
            rate=rate, how=how, far=far, operating_point="overall"
        )(model, X, y)
        for name, (rate, how) in MEASURES.items()
    }


def study(draw, far):
    """Values by configuration and seed, and intervals of the default against alpha = 0."""
    rows = {"before": []} | {name: [] for name in GRID}
    against = []
    for seed in SEEDS:
        X, y, groups = draw(seed)
        fitted, labels = halves(y, seed), face_labels(y, groups)
        unseen = X[~fitted], labels[~fitted]
        rows["before"].append(measure(FunctionTransformer().fit(X), *unseen, far))
        models = {}
        for name, options in GRID.items():
            model = FPRPenaltyProjector(random_state=seed, **RESIDUAL, **options)
            models[name] = model.fit(X[fitted], y[fitted])
            rows[name].append(measure(model, *unseen, far))
        against.append(compare(models[DEFAULT], models["alpha = 0"], unseen, far))
        print(f"seed {seed} done", file=sys.stderr)
    return {"far": far, "rows": rows, "against": against}


def compare(model, plain, unseen, far):
    """Ratio of the FAR max/geomean with the penalty to that without, new people."""
    X, y = unseen
    roc = SimilarityROC(n_resamples=500, far_max=far, random_state=0)
    one, other = (clone(roc).fit(m.transform(X), y) for m in (model, plain))
    found = one.compare(other, far, rate="far", how="max_geomean")
    return [found.ratio, found.ratio_low, found.ratio_high]


def interval(values):
    """Mean and 95 % t interval over the seeds."""
    half = t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / len(values) ** 0.5
    return np.mean(values), np.mean(values) - half, np.mean(values) + half


def table(found):
    """reStructuredText: means, and changes against alpha = 0 with intervals over seeds."""
    changed = ("FAR std", "FAR max/geomean")
    changes = {f"{measure}, change in %": measure for measure in changed}
    plain = found["rows"]["alpha = 0"]
    lines = [
        ".. csv-table::",
        "   :header-rows: 1",
        "   :delim: |",
        "",
        "   Trained | " + " | ".join([*MEASURES, *changes]),
    ]
    for name, rows in found["rows"].items():
        cells = [f"{np.mean([row[m] for row in rows]):.4g}" for m in MEASURES]
        for measure in changes.values():
            each = [
                100 * (row[measure] / base[measure] - 1)
                for row, base in zip(rows, plain, strict=True)
            ]
            mean, low, high = interval(each)
            same = name == "alpha = 0"
            cells.append("" if same else f"{mean:+.1f} [{low:+.1f}, {high:+.1f}]")
        lines.append(f"   {name} | " + " | ".join(cells))
    ratios = " / ".join(f"{r:.3f} [{a:.3f}, {b:.3f}]" for r, a, b in found["against"])
    lines += ["", f"``{DEFAULT}`` over ``alpha = 0``, a seed each: {ratios}."]
    return "\n".join(lines)


def main(*arguments):
    target = Path(__file__).with_suffix(
        ".json" if N_FEATURES == 64 else f".{N_FEATURES}.json"
    )
    if arguments != ("--tables",):
        found = {"synthetic": study(synthetic, 1e-3)}
        if arguments:
            with np.load(arguments[0]) as file:
                real = file["embedding"], file["identity"], file["gender"]
            found["lfw"] = study(lambda seed: real, 1e-2)
        target.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    for name, part in json.loads(target.read_text(encoding="utf-8")).items():
        print(f"\n{name}, FAR {part['far']:g}\n\n{table(part)}")


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if arguments[:1] == ["--features"]:
        N_FEATURES = int(arguments[1])
        del arguments[:2]
    main(*arguments)
