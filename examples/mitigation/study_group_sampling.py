"""Does drawing rare groups more often narrow the spread of within-group FARs?

The study behind the example plot_group_sampling.py: TripletProjector with every strategy of
Bruveris et al. (2020) on synthetic selfies and documents, in five draws of 4,000 people,
half of them fitted. Everything is measured on the other half, across the two domains only.

    python examples/mitigation/study_group_sampling.py
    python examples/mitigation/study_group_sampling.py --tables

The first writes study_group_sampling.json next to this file (some seven minutes on one core).
Both print the tables of docs/evidence/group_sampling.rst.

``--features 512``, before all else, draws people with the same cosines in so many features
and keeps the numbers in a file of that name.
"""

import copy
import json
import sys
from pathlib import Path

import numpy as np
from scipy.stats import t
from skorch.callbacks import Callback

from skfairfr import SimilarityROC, TripletProjector, make_face_embeddings

SEEDS = range(5)
FAR = 1e-3
N_FEATURES = 64
SHARES = {"EU": 0.6, "AM": 0.25, "AS": 0.1, "AF": 0.05}
CROWDING = {"EU": 12, "AM": 14, "AS": 22, "AF": 28}
TRAINING = {"lr": 1e-4, "final_lr": 1e-6, "max_epochs": 20}
STRATEGIES = {
    "natural": {},
    "equal": {"sampling": "equal"},
    "adjusted": {
        "sampling": "adjusted",
        "group_weights": {"EU": 1, "AM": 1, "AS": 3, "AF": 3},
    },
    "dynamic": {"sampling": "dynamic"},
    "homogeneous": {
        "sampling": "equal",
        "homogeneous": True,
        "selection_size": 2048,
    },
}
LAST = ("equal", "dynamic", "homogeneous")
DISPARITIES = ("FAR max/geomean", "FRR max/geomean", "FAR women/men")
CHANGED = ("FRR", "FRR AF", *DISPARITIES)


def draw(seed, n_identities=4000):
    """X, identity, group, gender and domain of each image. Gender is no group's."""
    faces = make_face_embeddings(
        n_identities,
        4,
        n_features=64,
        groups=SHARES,
        kappa=140,
        crowding=CROWDING,
        n_domains=2,
        domain_shift=1.0,
        random_state=seed,
    )
    rng = np.random.default_rng(seed)
    woman = (rng.random(n_identities) < 0.36)[faces.y]
    direction = rng.standard_normal(64)
    shift = 0.15 * direction / np.linalg.norm(direction)
    X = (faces.X + np.outer(woman, shift)).astype(np.float32)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    if N_FEATURES != 64:
        axes, _ = np.linalg.qr(rng.standard_normal((N_FEATURES, 64)))
        X = (X @ axes.T).astype(np.float32)
    gender = np.where(woman, "women", "men")
    return X, faces.y, faces.sensitive_features, gender, faces.domain


class LastHead(Callback):
    """Keeps the head of the last epoch. A fit keeps that of the smallest loss."""

    def on_epoch_end(self, net, **kwargs):
        type(self).head = copy.deepcopy(net.module_)


def measure(X, y, group, gender, domain):
    """Rates at one threshold, that of the overall FAR, and the fitted ROC."""
    roc = SimilarityROC(n_resamples=200, far_max=FAR, random_state=0)
    by_gender = SimilarityROC(n_resamples=1, far_max=FAR, random_state=0)
    roc.fit(X, y, group, domain=domain)
    by_gender.fit(X, y, gender, domain=domain)
    found = {"FRR": bounds(roc.estimate(FAR))}
    for name in ("FAR", "FRR"):
        rate = name.lower()
        found[f"{name} max/geomean"] = bounds(
            roc.estimate(FAR, rate=rate, how="max_geomean")
        )
        for label in SHARES:
            found[f"{name} {label}"] = bounds(roc.estimate(FAR, rate=rate, group=label))
    fars = np.diag(by_gender.far_matrix(FAR).far)
    for label, far in zip(by_gender.groups_, fars, strict=True):
        found[f"FAR {label}"] = short([far])
    found["FAR women/men"] = short([fars[1] / fars[0]])
    return found, roc


def bounds(estimate):
    """Value and ends of the identity-level interval."""
    return short([estimate.value, estimate.low, estimate.high])


def short(numbers):
    """Four digits of each, which keeps the file small."""
    return [float(f"{number:.4g}") for number in numbers]


def one_draw(seed):
    """Rates of every strategy on held-out people, and their history."""
    X, y, *labels, domain = draw(seed)
    fitted = y < 2000  # Identities are in random order.
    unseen = (y[~fitted], *(column[~fitted] for column in labels), domain[~fitted])
    rows, rocs, training = {}, {}, {}
    rows["before"], rocs["before"] = measure(X[~fitted], *unseen)
    for name, options in STRATEGIES.items():
        model = TripletProjector(
            **TRAINING, **options, callbacks=[LastHead()], random_state=seed
        )
        model.fit(X[fitted], y[fitted], labels[0][fitted], domain=domain[fitted])
        rows[name], rocs[name] = measure(model.transform(X[~fitted]), *unseen)
        training[name] = {
            "groups": model.groups_.tolist(),
            "weights": model.group_weights_.round(4).tolist(),
            "fars": model.group_fars_.round(6).tolist(),
            "best_epoch": int(np.argmin(model.history_["valid_loss"])) + 1,
        }
        if name in LAST:
            model.head_ = LastHead.head
            last = f"{name}, last epoch"
            rows[last], rocs[last] = measure(model.transform(X[~fitted]), *unseen)
    against = {
        name: compare(roc, rocs["natural"])
        for name, roc in rocs.items()
        if name != "natural"
    }
    return rows, training, against


def compare(roc, natural):
    """FAR max/geomean over that of natural sampling, with the paired interval."""
    found = roc.compare(natural, FAR, rate="far", how="max_geomean")
    return short([found.ratio, found.ratio_low, found.ratio_high])


def over_seeds(values):
    """Mean and 95 % t interval."""
    values = np.asarray(values)
    half = t.ppf(0.975, values.size - 1) * values.std(ddof=1) / values.size**0.5
    return values.mean(), values.mean() - half, values.mean() + half


def text_of(values, form):
    return "{:{form}} [{:{form}}, {:{form}}]".format(*over_seeds(values), form=form)


def column(found, name, measure, log=False):
    """Values of a measure over the seeds."""
    values = np.array([each[name][measure][0] for each in found["rows"]])
    return np.log10(values) if log else values


def table(header, rows):
    lines = [".. csv-table::", "   :header-rows: 1", "   :delim: |", ""]
    return "\n".join(lines + [f"   {' | '.join(row)}" for row in [header, *rows]])


def tables(found):
    """reStructuredText: log10 FAR and FRR by group, disparities, training."""
    names = list(found["rows"][0])
    rates = [
        [
            [name]
            + [text_of(column(found, name, f"{rate} {g}", log), form) for g in SHARES]
            for name in names
        ]
        for rate, log, form in (("FAR", True, ".2f"), ("FRR", False, ".4f"))
    ]
    spread = [
        [name, text_of(column(found, name, "FRR"), ".4f")]
        + [text_of(column(found, name, measure), ".2f") for measure in DISPARITIES]
        for name in names
    ]
    changes = []
    for name in (name for name in names if name != "natural"):
        row = [name]
        for measure in CHANGED:
            natural = column(found, "natural", measure)
            row.append(
                text_of(100 * (column(found, name, measure) / natural - 1), "+.1f")
            )
        each = ["{:.2f} [{:.2f}, {:.2f}]".format(*a[name]) for a in found["against"]]
        changes.append([*row, " / ".join(each)])
    swings = [
        [name, " ".join(str(each[name]["best_epoch"]) for each in found["training"])]
        + [text_of(swing(found, name, label), ".3f") for label in SHARES]
        for name in STRATEGIES
    ]
    return {
        "log10 FAR within groups": table(["Trained", *SHARES], rates[0]),
        "FRR within groups": table(["Trained", *SHARES], rates[1]),
        "FRR and disparities": table(["Trained", "FRR", *DISPARITIES], spread),
        "Changes against natural sampling, in %": table(
            [
                *("Trained", *CHANGED),
                "FAR max/geomean over that of natural, a draw each",
            ],
            changes,
        ),
        "Training": table(["Trained", "epoch kept", *SHARES], swings),
    }


def swing(found, name, label):
    """Mean change of log10 FAR from one epoch to the next, on held-out people, by seed."""
    values = []
    for each in found["training"]:
        fars = np.array(each[name]["fars"])[1:, each[name]["groups"].index(label)]
        # The logarithm of a FAR without a false accept would be infinite.
        values.append(np.abs(np.diff(np.log10(np.maximum(fars, 1e-4)))).mean())
    return values


def main(*arguments):
    target = Path(__file__).with_suffix(
        ".json" if N_FEATURES == 64 else f".{N_FEATURES}.json"
    )
    if arguments != ("--tables",):
        found = {"far": FAR, "rows": [], "training": [], "against": []}
        for seed in SEEDS:
            for key, part in zip(
                ("rows", "training", "against"), one_draw(seed), strict=True
            ):
                found[key].append(part)
            print(f"seed {seed} done", file=sys.stderr)
        target.write_text(json.dumps(found) + "\n", encoding="utf-8")
    for title, text in tables(json.loads(target.read_text(encoding="utf-8"))).items():
        print(f"\n{title}\n{'-' * len(title)}\n\n{text}")


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if arguments[:1] == ["--features"]:
        N_FEATURES = int(arguments[1])
        del arguments[:2]
    main(*arguments)
