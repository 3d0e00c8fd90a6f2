"""
=================================
The numbers of the grid of kappas
=================================

``plot_kappa_grid.py`` draws what this study measures, which takes minutes: a search over
kappa0 and kappa1 on synthetic people, three choices made by it, and their error rates
before and after on held-out people. Run it with the head to train,

    python examples/mitigation/study_kappa_grid.py residual
    python examples/mitigation/study_kappa_grid.py mlp

and it writes ``kappa_grid_residual.json`` or ``kappa_grid_mlp.json`` next to this file.

``--features 512``, before all else, draws people with the same cosines in so many features
and keeps the numbers in a file of that name.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.preprocessing import FunctionTransformer

from skfairfr import (
    BestTradeOff,
    EthicalModule,
    IdentityKFold,
    SimilarityROC,
    face_labels,
    fairness_scores,
    make_face_embeddings,
)

GROUPS = ("male", "female")
N_FEATURES = 64
KAPPAS = (5.0, 10.0, 20.0, 30.0, 40.0, 50.0)
FIXED = 20.0  # of the kappa that stays, if one is moved and measured with intervals
LEVELS = (1e-3, 1e-4)  # the choice is made at the first
N_SEEN, N_UNSEEN = 1500, 2000
N_RESAMPLES = 500
# The mlp is trained at the paper's rate, for half of its 50 epochs to save time. The other
# head starts as the identity map, and keeps near it at a smaller rate.
HEADS = {
    "residual": {"head": "residual", "lr": 1e-3, "max_epochs": 20},
    "mlp": {"head": "mlp", "lr": 1e-2, "init": "random", "max_epochs": 25},
}
CHOICES = {
    "EM-FAR": ("bfar", "frr_at_far"),
    "EM-FRR": ("bfrr", "frr_at_far"),
    "EM-C": ("bfar", "bfrr"),
}
# What is measured on the unseen people: female over male, and the FRR of everybody.
QUESTIONS = {
    "bfar": {"rate": "far", "how": "max_min", "operating_point": "worst_group"},
    "bfrr": {"rate": "frr", "how": "max_min", "operating_point": "worst_group"},
    "far_ratio": {
        "rate": "far",
        "how": ("ratio", *GROUPS),
        "operating_point": "worst_group",
    },
    "frr_ratio": {
        "rate": "frr",
        "how": ("ratio", *GROUPS),
        "operating_point": "worst_group",
    },
    "frr_at_far": {"rate": "frr"},
}


def draw():
    """People of the search and people for the end, (X, y, group) of each."""
    faces = make_face_embeddings(
        n_identities=N_SEEN + N_UNSEEN,
        images_per_identity=(4, 8),
        n_features=N_FEATURES,
        n_directions=None if N_FEATURES == 64 else 64,
        groups={"male": 0.65, "female": 0.35},
        kappa={"male": 140, "female": 120},
        crowding={"male": 14, "female": 28},
        random_state=0,
    )
    seen = np.random.default_rng(0).permutation(N_SEEN + N_UNSEEN) < N_SEEN
    rows = seen[faces.y]
    data = (faces.X, faces.y, faces.sensitive_features)
    return [part[rows] for part in data], [part[~rows] for part in data], faces.DESCR


def module(head, kappa0=20.0, kappa1=20.0):
    """A module that is not fitted."""
    return EthicalModule(
        kappa0, kappa1, groups=GROUPS, random_state=0, device="cpu", **HEADS[head]
    )


def search(head, X, y):
    """Every candidate on people left out of its fit, and the embeddings as they are."""
    settings = {
        "scoring": fairness_scores(LEVELS, ratio=GROUPS),
        "cv": IdentityKFold(3, shuffle=True, random_state=0),
        "error_score": "raise",
    }
    grid = {"kappa0": KAPPAS, "kappa1": KAPPAS}
    found = GridSearchCV(module(head), grid, refit=False, **settings).fit(X, y)
    before = cross_validate(FunctionTransformer(), X, y, **settings)
    shape = (len(KAPPAS), len(KAPPAS))  # kappa0 changes slowest
    names = [name for name in before if name.startswith("test_")]
    scores = {
        name[5:]: found.cv_results_[f"mean_{name}"].reshape(shape) for name in names
    }
    return found, scores, {name[5:]: before[name].mean() for name in names}


def choose(found):
    """The three compromises at each level, (kappa0, kappa1) of each."""
    chosen = {}
    for level in ("1e-3", "1e-4"):
        for name, pair in CHOICES.items():
            refit = BestTradeOff([f"{metric}@{level}" for metric in pair])
            best = found.cv_results_["params"][refit(found.cv_results_)]
            chosen[f"{name}@{level}"] = (best["kappa0"], best["kappa1"])
    return chosen


def measure(X, y, group):
    """All pairs of the people at the end."""
    roc = SimilarityROC(n_resamples=N_RESAMPLES, random_state=0)
    return roc.fit(X, y, group)


def answers(roc, before=None):
    """Each question at each level: estimate and interval, against ``before`` as well."""
    found = {}
    for name, question in QUESTIONS.items():
        estimate = roc.estimate(LEVELS, **question)
        found[name] = {
            "value": estimate.value,
            "low": estimate.low,
            "high": estimate.high,
            "supported": estimate.supported,
        }
        if before is not None:
            paired = roc.compare(before, LEVELS, **question)
            found[name] |= {
                "ratio_to_before": paired.ratio,
                "ratio_low": paired.ratio_low,
                "ratio_high": paired.ratio_high,
                "p_value": paired.p_value,
            }
    return found


def curves(roc, thresholds):
    """FAR and FRR of each group over thresholds."""
    return {
        f"{rate} {group}": roc.estimate(
            threshold=thresholds, rate=rate, group=group
        ).value
        for rate in ("far", "frr")
        for group in GROUPS
    }


def plain(value):
    """Numbers with five digits, for a small file."""
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, bool | np.bool_ | str):
        return value if isinstance(value, str) else bool(value)
    return float(f"{value:.5g}")


def main(head):
    """Search, choose, fit again on all people of the search, measure on the others."""
    start = time.perf_counter()
    (X, y, group), (X_end, y_end, group_end), description = draw()
    labels = face_labels(y, group)
    found, scores, folds_before = search(head, X, labels)
    chosen = choose(found)
    print(f"search: {time.perf_counter() - start:.0f} s; chosen: {chosen}", flush=True)

    before = measure(X_end, y_end, group_end)
    thresholds = np.linspace(-0.2, 1, 49)
    unseen, moved, over_t = {}, {}, {"as they were": curves(before, thresholds)}
    pairs = {*chosen.values(), *((FIXED, k) for k in KAPPAS)}
    pairs |= {(k, FIXED) for k in KAPPAS}
    for kappas in sorted(pairs):
        fitted = module(head, *kappas).fit(X, labels)
        after = measure(fitted.transform(X_end), y_end, group_end)
        name = "{:g},{:g}".format(*kappas)
        moved[name] = answers(after, before)
        if kappas[0] == FIXED:
            over_t[name] = curves(after, thresholds)
        print(name, {k: plain(v["value"]) for k, v in moved[name].items()}, flush=True)
    unseen["as they were"] = answers(before)
    result = {
        "made_by": f"examples/mitigation/study_kappa_grid.py {head}",
        "data": f"{description} {N_SEEN} people for the search, {N_UNSEEN} unseen.",
        "training": HEADS[head],
        "kappas": KAPPAS,
        "fixed": FIXED,
        "levels": LEVELS,
        "scores": scores,
        "scores_before": folds_before,
        "chosen": chosen,
        "unseen": unseen | moved,
        "thresholds": thresholds,
        "curves": over_t,
    }
    name = f"kappa_grid_{head}{'' if N_FEATURES == 64 else f'.{N_FEATURES}'}.json"
    path = Path(__file__).with_name(name)
    path.write_text(json.dumps(plain(result)) + "\n", encoding="utf-8")
    print(f"{path.name}: {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if arguments[:1] == ["--features"]:
        N_FEATURES = int(arguments[1])
        del arguments[:2]
    main(*(arguments or ["residual"]))
