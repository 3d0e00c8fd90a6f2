"""EthicalModule() with its defaults and with the paper's options.

Half of the people are fitted, and FRR, BFAR and BFRR measured on the other half, before and
after, with equal kappas and with the paper's EM-FAR. Synthetic people, or a file of yours:

    python examples/mitigation/study_defaults.py
    python examples/mitigation/study_defaults.py faces.npz gender 1e-2

The first takes about a minute, and the user guide quotes it.
"""

import sys

from skfairfr import (
    EthicalModule,
    IdentityKFold,
    SimilarityROC,
    face_labels,
    make_face_embeddings,
)
from skfairfr.datasets import load_embeddings

OPTIONS = {
    "defaults": {},
    "the paper's": {"head": "mlp", "lr": 0.01, "init": "random", "max_epochs": 50},
}
KAPPAS = ((20.0, 20.0), (15.0, 20.0))
BFAR = {"rate": "far", "how": "max_min", "operating_point": "worst_group"}
QUESTIONS = {"FRR": {}, "BFAR": BFAR, "BFRR": {**BFAR, "rate": "frr"}}


def line(name, X, y, group, far):
    """Rates of some embeddings, in a line of the table."""
    roc = SimilarityROC(n_resamples=200, random_state=0)
    roc.fit(X, y, group)
    found = [roc.estimate(far, **asked) for asked in QUESTIONS.values()]
    texts = [f"{f.value:6.3f} [{f.low:.3f}, {f.high:.3f}]" for f in found]
    print(f"{name:26}", *(f"{text:24}" for text in texts))


def compare(X, y, group, far, order):
    """Before and after each module, on held-out people."""
    labels = face_labels(y, group)
    folds = IdentityKFold(2, shuffle=True, random_state=0)
    fit, unseen = next(folds.split(X, labels))
    print(f"{'':26}", *(f"{name:>6}{'':18}" for name in QUESTIONS))
    line("before", X[unseen], y[unseen], group[unseen], far)
    for name, options in OPTIONS.items():
        for kappas in KAPPAS:
            made = EthicalModule(*kappas, groups=order, random_state=0, **options)
            Z = made.fit(X[fit], labels[fit]).transform(X[unseen])
            title = f"{name} ({kappas[0]:g}, {kappas[1]:g})"
            line(title, Z, y[unseen], group[unseen], far)


def main(path=None, attribute="gender", far="1e-3"):
    if path is not None:
        data = load_embeddings(path)
        group = data.columns[attribute]
        order = tuple(sorted(set(group.tolist()), reverse=True))
        print(f"{path}, kappas in the order {order}, FAR {far}")
        compare(data.X, data.y, group, float(far), order)
        return
    for n_people in (1000, 4000):
        faces = make_face_embeddings(n_people, random_state=0)
        print(f"{n_people:,} synthetic people, FAR {far}")
        columns = (faces.X, faces.y, faces.sensitive_features)
        compare(*columns, float(far), ("male", "female"))


if __name__ == "__main__":
    main(*sys.argv[1:])
