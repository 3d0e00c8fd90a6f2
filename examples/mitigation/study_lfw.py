"""
========================================
The Ethical Module on real embeddings
========================================

Half of the people of a real set fit the module, the other half, whom no fit has seen, are
measured before and after: BFAR, BFRR and the FRR, with both heads, the paper's pairs of
kappas, and five draws of the halves. The tables it prints are kept, with what they show
and what they do not, in ``docs/studies/lfw_ethical_module.md``. The set stays where it is:

    python examples/mitigation/study_lfw.py ../shared/data/lfw_facenet/lfw_facenet.npz
"""

import sys
from pathlib import Path

import numpy as np

from skfairfr import EthicalModule, IdentityKFold, SimilarityROC, face_labels

DEFAULT = "../shared/data/lfw_facenet/lfw_facenet.npz"
GROUPS = ("male", "female")
FAR = 1e-2
SEEDS = range(5)
N_RESAMPLES = 1000
# The mlp as in the paper, but for the batch: of about 700 images, the paper's 1024 would
# make one step an epoch.
HEADS = {
    "mlp": {"head": "mlp", "lr": 1e-2, "batch_size": 128},
    "residual": {"head": "residual", "lr": 1e-3, "batch_size": 128},
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
# One person has a fifth of the genuine pairs, so that both averages are shown.
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
        resample="identities",
        n_resamples=n_resamples,
        random_state=0,
    )
    return roc.fit(X[rows], y[rows], group[rows])


def row(name, cells):
    """A line of a Markdown table."""
    return f"| {name} | " + " | ".join(cells) + " |"


def head_of_table(columns):
    return row("system", columns) + "\n|---|" + "---|" * len(columns)


def over_seeds(X, y, group):
    """Values of each system for each average and seed: {(average, name): (seeds, 3)}."""
    values = {}
    for seed in SEEDS:
        fit, rest = halves(y, group, seed)
        for name, Z in systems(X, y, group, fit, seed):
            for average in AVERAGES:
                roc = measure(Z, y, group, rest, average, 1)
                found = [
                    roc.estimate(FAR, **asked).value for asked in QUESTIONS.values()
                ]
                values.setdefault((average, name), []).append(found)
    return {key: np.array(found) for key, found in values.items()}


def print_over_seeds(values, average):
    """Mean and standard deviation, and in how many draws a value fell."""
    columns = [
        f"{name}{what}" for name in QUESTIONS for what in (" mean (sd)", " fell")
    ]
    print(head_of_table(columns))
    for (of, name), found in values.items():
        if of != average:
            continue
        fell = (found < values[average, BEFORE]).sum(axis=0)
        cells = []
        for k in range(len(QUESTIONS)):
            spread = found[:, k].std(ddof=1)
            cells.append(f"{found[:, k].mean():.3g} ({spread:.2g})")
            cells.append("" if name == BEFORE else f"{fell[k]} of {len(found)}")
        print(row(name, cells))


def print_intervals(X, y, group, seed, average):
    """One draw of the halves, with intervals, and each system against those before."""
    fit, rest = halves(y, group, seed)
    columns = [
        f"{name}{what}" for name in QUESTIONS for what in ("", " after / before")
    ]
    print(head_of_table(columns))
    reasons, before = set(), None
    for name, Z in systems(X, y, group, fit, seed):
        roc = measure(Z, y, group, rest, average, N_RESAMPLES)
        before = before or roc
        cells = []
        for asked in QUESTIONS.values():
            found = roc.estimate(FAR, **asked)
            mark = "" if found.supported else " \\*"
            cells.append(f"{found.value:.3g} [{found.low:.3g}, {found.high:.3g}]{mark}")
            paired = roc.compare(before, FAR, **asked)
            ratio = (
                f"{paired.ratio:.2f} [{paired.ratio_low:.2f}, {paired.ratio_high:.2f}]"
            )
            cells.append("" if roc is before else ratio)
            if not found.supported:
                reasons.add(f"{name}: {found.reason}")
        print(row(name, cells))
    for reason in sorted(reasons):
        print(f"\n\\* not supported, {reason}")


def main(path):
    if not Path(path).is_file():
        sys.exit(
            f"{path} is not there. Give the path of lfw_facenet.npz; nothing was run."
        )
    data = np.load(path)
    X, y, group = data["embedding"], data["identity"], data["gender"]
    values = over_seeds(X, y, group)
    for average in AVERAGES:
        print(f'### Five draws of the halves, FAR = {FAR:g}, average="{average}"\n')
        print_over_seeds(values, average)
        print()
    for average in AVERAGES:
        print(
            f'### One draw, intervals over people, FAR = {FAR:g}, average="{average}"\n'
        )
        print_intervals(X, y, group, 0, average)
        print()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else DEFAULT)
