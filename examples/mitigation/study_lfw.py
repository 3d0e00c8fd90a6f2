"""
=====================================
The Ethical Module on real embeddings
=====================================

Half of the people of a real set fit the module. The other half, held out, are
measured before and after: BFAR, BFRR and the FRR, with both heads, the paper's pairs of
kappas, and five draws of the halves. The tables it prints are kept, with what they show
and what they do not, in ``docs/evidence/lfw_ethical_module.rst``. The set stays where it is:

    python examples/mitigation/study_lfw.py ../shared/data/lfw_facenet/lfw_facenet.npz
"""

import json
import sys
from pathlib import Path

import numpy as np

from skfairfr import EthicalModule, IdentityKFold, SimilarityROC, face_labels

DEFAULT = "../shared/data/lfw_facenet/lfw_facenet.npz"
GROUPS = ("male", "female")
FAR = 1e-2
SEEDS = range(5)
N_RESAMPLES = 1000
# "mlp" is trained as in the paper, whose batch contains all of our 700 images at once: 50
# epochs are 50 steps. Smaller batches make more of them.
PAPER = {"head": "mlp", "lr": 1e-2, "init": "random", "max_epochs": 50}
HEADS = {
    "mlp": PAPER,
    "mlp, batch 128": {**PAPER, "batch_size": 128},
    "mlp, from means": {**PAPER, "init": "means"},
    "residual": {"head": "residual", "max_epochs": 50, "batch_size": 128},
}
KAPPAS = {
    "equal": (20.0, 20.0),
    "EM-FAR": (15.0, 20.0),
    "EM-FRR": (25.0, 20.0),
    "EM-C": (45.0, 30.0),
}
QUESTIONS = {
    "BFAR": {"rate": "far", "how": "max_min", "operating_point": "worst_group"},
    "BFRR": {"rate": "frr", "how": "max_min", "operating_point": "worst_group"},
    "FRR": {"rate": "frr"},
}
BEFORE = "as they were"
# Both averages are shown, because one person has a fifth of the genuine pairs.
AVERAGES = ("pair", "identity")


def halves(y, group, seed):
    """Rows to fit on and rows to measure, of different people, balanced over groups."""
    folds = IdentityKFold(2, shuffle=True, random_state=seed)
    return next(folds.split(y, face_labels(y, group)))


def systems(X, y, group, fit, seed):
    """Name and embeddings of everybody, before and after each module."""
    yield BEFORE, X
    for head, options in HEADS.items():
        for name, kappas in KAPPAS.items():
            made = EthicalModule(
                *kappas, groups=GROUPS, random_state=seed, device="cpu", **options
            )
            made.fit(X[fit], face_labels(y[fit], group[fit]))
            yield f"{head}, {name} ({kappas[0]:g}, {kappas[1]:g})", made.transform(X)


def measure(X, y, group, rows, average, n_resamples):
    """All pairs of the people in ``rows``."""
    roc = SimilarityROC(
        average=average,
        n_resamples=n_resamples,
        random_state=0,
    )
    return roc.fit(X[rows], y[rows], group[rows])


def table(columns, rows):
    """reStructuredText of a table: a name and cells in each row."""
    head = [".. csv-table::", "   :header-rows: 1", "   :delim: |", ""]
    lines = [("system", columns), *rows]
    return "\n".join([*head, *("   " + " | ".join([n, *c]) for n, c in lines)])


def draw_all(data):
    """Embeddings of each system, and the rows to measure, for each seed."""
    X, y, group = data
    drawn = []
    for seed in SEEDS:
        fit, rest = halves(y, group, seed)
        drawn.append((dict(systems(X, y, group, fit, seed)), rest))
        print(f"seed {seed} fitted", file=sys.stderr)
    return drawn


def over_seeds(data, drawn, average):
    """Mean and standard deviation, and in how many draws a value fell."""
    _, y, group = data
    values = {name: [] for name in drawn[0][0]}
    for made, rest in drawn:
        for name, Z in made.items():
            roc = measure(Z, y, group, rest, average, 1)
            found = [roc.estimate(FAR, **asked).value for asked in QUESTIONS.values()]
            values[name].append(found)
    values = {name: np.array(found) for name, found in values.items()}
    columns = [f"{name}{of}" for name in QUESTIONS for of in (" mean (sd)", " fell")]
    rows = []
    for name, found in values.items():
        fell = (found < values[BEFORE]).sum(axis=0)
        cells = []
        for k in range(len(QUESTIONS)):
            spread = found[:, k].std(ddof=1)
            cells.append(f"{found[:, k].mean():.3g} ({spread:.2g})")
            cells.append("" if name == BEFORE else f"{fell[k]} of {len(found)}")
        rows.append((name, cells))
    return table(columns, rows)


def intervals(data, drawn, average):
    """The first draw, with intervals, and each system against the embeddings before."""
    _, y, group = data
    made, rest = drawn[0]
    columns = [f"{name}{of}" for name in QUESTIONS for of in ("", " after / before")]
    rows, reasons, before = [], [], None
    for name, Z in made.items():
        roc = measure(Z, y, group, rest, average, N_RESAMPLES)
        before = before or roc
        cells = []
        for asked in QUESTIONS.values():
            found = roc.estimate(FAR, **asked)
            mark = "" if found.supported else " \\*"
            cells.append(f"{found.value:.3g} [{found.low:.3g}, {found.high:.3g}]{mark}")
            paired = roc.compare(before, FAR, **asked)
            ends = f"[{paired.ratio_low:.2f}, {paired.ratio_high:.2f}]"
            cells.append("" if roc is before else f"{paired.ratio:.2f} {ends}")
            if not found.supported:
                reasons.append(f"{name}: {found.reason}")
        rows.append((name, cells))
    text = table(columns, rows)
    if reasons:
        text += f"\n\n\\* too few errors ({len(reasons)} cells), as {reasons[-1]}"
    return text


def main(path):
    if not Path(path).is_file():
        sys.exit(
            f"{path} does not exist. Pass the path of lfw_facenet.npz. Nothing was run."
        )
    stored = np.load(path)
    data = stored["embedding"], stored["identity"], stored["gender"]
    drawn = draw_all(data)
    found = {}
    for title, made in (
        ("Five draws of the halves", over_seeds),
        ("The first draw, with 95 % intervals over people", intervals),
    ):
        for average in AVERAGES:
            name = f'{title}, FAR = {FAR:g}, average="{average}"'
            found[name] = made(data, drawn, average)
            print(f"\n{name}\n{'~' * len(name)}\n\n{found[name]}")
    target = Path(__file__).with_suffix(".json")
    target.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else DEFAULT)
