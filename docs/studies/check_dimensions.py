"""Whether a fit of EthicalModule does the same to the same people in any number of features.

    python -m docs.studies.check_dimensions [n_draws [n_people [largest]]]

A random orthonormal map places embeddings in more features without changing a cosine. Of
every population ``n_people`` are fitted and 800 others measured, at FAR 1e-3:

- step: mean distance that one step of the defaults moves a unit row;
- FRR, BFAR: after over before, geometric mean over the draws and its 95 % t interval;
- against 64: the rate after over that after in 64 features, paired over the draws.

Then, in 512 features, the defaults over the number of people fitted, and one draw of 10,000
with paired intervals over the people measured; and, where it is at hand, LFW by halves of
people, ten splits, at FAR 1e-2, with the defaults of every projector. An hour and a half on a
shared core; ``largest`` 2048 more than doubles that.

    python -m docs.studies.check_dimensions grid [many] [lr ...]

chooses the defaults of EthicalModule in 512 features, from rates (all of them and two kappas, or
those named and 1e-3), and epochs, on four kinds of data: LFW, and 300, 1,000 and 10,000 people;
``many`` takes the last of them alone. Means are geometric, over the draws and the populations of
a kind. The rule, which was written down before the first run:

1. A setting is admitted if it multiplies the FRR by at most 1.05 in each kind of data.
2. Of those admitted the lowest BFAR, in the mean over the four, is the best. Within 5 % of it
   settings are tied, and the lowest FRR decides: these are the differences (5 % of BFAR, 2 % of
   FRR) that the same people show between numbers of features.
3. The present defaults stay if they are among the tied and within 2 % of that FRR.

1,000 people are fitted only with settings admitted until then, and 10,000 only with those of
them whose BFAR is within 10 % of the lowest; the present defaults are always fitted. More than
an hour on a core of its own; two rates on 10,000 people are half an hour of it.
"""

import sys
import warnings
from copy import deepcopy
from pathlib import Path

import numpy as np
from scipy.stats import t
from skorch.callbacks import Callback

from docs.studies._command import run_command
from skfairfr import (
    EthicalModule,
    FPRPenaltyProjector,
    IdentityKFold,
    SimilarityROC,
    TripletProjector,
    face_labels,
    make_face_embeddings,
)
from skfairfr.projectors import (
    AdversarialProjector,
    CentroidFairnessProjector,
    LossProjector,
)

N_UNSEEN = 800
TWO = {"male": 0.65, "female": 0.35}
POPULATIONS = {
    "crowded and spread": {
        "n_features": 64,
        "n_directions": (33, 43),
        "kappa": {"male": 128, "female": 110},
        "crowding": {"male": 8, "female": 16},
    },
    "crowded": {
        "n_features": 64,
        "kappa": 120.0,
        "crowding": {"male": 12.0, "female": 30.0},
    },
    "32 features": {
        "n_features": 32,
        "kappa": {"male": 80, "female": 70},
        "crowding": {"male": 6, "female": 10},
    },
}
DIMENSIONS = (32, 64, 128, 256, 512, 1024, 2048)
SETTINGS = {
    "defaults": {},
    "4 epochs, lr 0.005": {"max_epochs": 4, "lr": 5e-3},
    "paper": {"head": "mlp", "init": "random", "lr": 1e-2, "max_epochs": 50},
}
QUESTIONS = {
    "FRR": {},
    "BFAR": {"rate": "far", "how": "max_min", "operating_point": "worst_group"},
}
PEOPLE = (50, 100, 200, 400, 800, 1600)
MANY = 10_000
OTHERS = (
    FPRPenaltyProjector(),
    LossProjector(),
    TripletProjector(),
    CentroidFairnessProjector(),
    AdversarialProjector(),
)
LFW = Path("../shared/data/lfw_facenet/lfw_facenet.npz")
N_SPLITS = 10
PRESENT = "lr 0.001", 20
GRID = {f"lr {lr:g}": {"lr": lr} for lr in (1e-3, 2e-3, 5e-4, 4e-3, 2.5e-4)}
GRID |= {f"kappa {kappa:g}": {"kappa": kappa} for kappa in (10.0, 40.0)}
EPOCHS = (10, 20, 40)
# By kind of data: populations, people fitted, draws and FAR.
KINDS = {
    "LFW": ((None,), 0, N_SPLITS, 1e-2),
    "300 people": (("crowded and spread", "32 features"), 300, 3, 1e-3),
    "1,000 people": (("crowded and spread",), 1000, 3, 1e-3),
    "10,000 people": (("crowded and spread",), MANY, 1, 1e-3),
}


def drawn(population, n_people, seed):
    """Embeddings, identity and group of each image."""
    options = POPULATIONS[population]
    faces = make_face_embeddings(
        n_people + N_UNSEEN, (3, 6), groups=TWO, random_state=seed, **options
    )
    return faces.X, faces.y, faces.sensitive_features


def placed(X, n_features, seed):
    """The same embeddings among more features, every cosine as it was."""
    if n_features == X.shape[1]:
        return X
    rng = np.random.default_rng(seed)
    axes, _ = np.linalg.qr(rng.standard_normal((n_features, X.shape[1])))
    return (X @ axes.T).astype(np.float32)


def module(**options):
    return EthicalModule(groups=tuple(TWO), **options)


def fitted(model, X, labels):
    """The model, without its warnings of few people."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return model.set_params(random_state=0, device="cpu").fit(X, labels)


def first_step(X, labels):
    """Mean distance between a unit row and what one step makes of it."""
    moved = fitted(module(max_epochs=1, batch_size=len(X)), X, labels).transform(X)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    return float(np.linalg.norm(moved - unit, axis=1).mean())


def rates(X, y, group, far=1e-3):
    """FRR and BFAR."""
    roc = SimilarityROC(n_resamples=1, random_state=0).fit(X, y, group)
    return np.array([roc.estimate(far, **asked).value for asked in QUESTIONS.values()])


def interval(ratios):
    """Geometric mean over the draws with its 95 % t interval, as text; one draw has none."""
    logs = np.log(ratios)
    if logs.size == 1:
        return f"{np.exp(logs.mean()):.2f}"
    half = t.ppf(0.975, logs.size - 1) * logs.std(ddof=1) / np.sqrt(logs.size)
    ends = np.exp([logs.mean(), logs.mean() - half, logs.mean() + half])
    return "{:.2f} [{:.2f}, {:.2f}]".format(*ends)


def of_dimension(population, n_features, n_draws, n_people):
    """Steps (n_draws,), and of each setting the ratios (n_draws, 2)."""
    steps, ratios = [], {name: [] for name in SETTINGS}
    for seed in range(n_draws):
        X, y, group = drawn(population, n_people, seed)
        fit = y < n_people  # identities are in random order
        before = rates(X[~fit], y[~fit], group[~fit])
        X, labels = placed(X, n_features, seed), face_labels(y[fit], group[fit])
        steps.append(first_step(X[fit], labels))
        for name, options in SETTINGS.items():
            made = fitted(module(**options), X[fit], labels)
            after = rates(made.transform(X[~fit]), y[~fit], group[~fit])
            ratios[name].append(after / before)
    return np.array(steps), {n: np.array(r) for n, r in ratios.items()}


def dimensions(n_draws, n_people, largest):
    """Print a row for each population, number of features and setting."""
    print(f"{n_people} people fitted, {N_UNSEEN} others measured, {n_draws} draws")
    columns = (*QUESTIONS, *(f"{name} against 64" for name in QUESTIONS))
    print(f"features   step {'setting':20}" + "".join(f"{c:20}" for c in columns))
    for population, options in POPULATIONS.items():
        print(population)
        of_64 = None
        asked = (d for d in DIMENSIONS if options["n_features"] <= d <= largest)
        for n_features in sorted(asked, key=lambda d: d != 64):
            steps, found = of_dimension(population, n_features, n_draws, n_people)
            of_64 = of_64 or found
            for name, ratios in found.items():
                cells = [*map(interval, ratios.T)]
                if n_features != 64:
                    cells += map(interval, (ratios / of_64[name]).T)
                start = f"{n_features:8} {steps.mean():6.3f} {name:20}"
                print(start + "".join(f"{cell:20}" for cell in cells), flush=True)


def split(population, n_people, seed):
    """X of people to fit, in 512 features, their labels, and X, identity, group of others."""
    X, y, group = drawn(population, n_people, seed)
    X, fit = placed(X, 512, seed), y < n_people
    return X[fit], face_labels(y[fit], group[fit]), (X[~fit], y[~fit], group[~fit])


def split_lfw(seed):
    """The same of LFW, by halves of people."""
    with np.load(LFW, allow_pickle=False) as data:
        X, y, group = (data[name] for name in ("embedding", "identity", "gender"))
    folds = IdentityKFold(2, shuffle=True, random_state=seed)
    fit, rest = next(folds.split(y, face_labels(y, group)))
    return X[fit], face_labels(y[fit], group[fit]), (X[rest], y[rest], group[rest])


def rates_after(made, others, far=1e-3):
    """FRR and BFAR of people not fitted on."""
    X, y, group = others
    return rates(made.transform(X), y, group, far)


def people(n_draws):
    """Print a row for each number of people fitted with the defaults."""
    print("\nDefaults in 512 features, by people fitted")
    for n_people in PEOPLE:
        ratios = []
        for seed in range(n_draws):
            X, labels, others = split("crowded and spread", n_people, seed)
            after = rates_after(fitted(module(), X, labels), others)
            ratios.append(after / rates(*others))
        n_steps = 20 * -(-len(X) // 1024)
        cells = "".join(f"{interval(r):20}" for r in np.array(ratios).T)
        print(f"{n_people:8} people, {n_steps:4} steps  {cells}", flush=True)


def many():
    """Print one draw of many people, with intervals over those measured."""
    X, labels, (rows, *about) = split("crowded and spread", MANY, 0)
    made = fitted(module(), X, labels)
    before, after = (
        SimilarityROC(n_resamples=500, random_state=0).fit(of, *about)
        for of in (rows, made.transform(rows))
    )
    found = (after.compare(before, 1e-3, **asked) for asked in QUESTIONS.values())
    cells = (f"{f.ratio:.2f} [{f.ratio_low:.2f}, {f.ratio_high:.2f}]" for f in found)
    print(
        f"{MANY:8} people, one draw   " + "".join(f"{c:20}" for c in cells), flush=True
    )


def lfw():
    """Print FRR and BFAR on the other half of the people, after over before."""
    print(f"\nLFW, {N_SPLITS} splits by halves of people")
    models = {f"EthicalModule, {n}": module(**o) for n, o in SETTINGS.items()}
    models |= {type(model).__name__: model for model in OTHERS}
    models["AdversarialProjector, lr 0.001"] = AdversarialProjector(lr=1e-3)
    found = {name: [] for name in models}
    for seed in range(N_SPLITS):
        X, labels, others = split_lfw(seed)
        before = rates(*others, 1e-2)
        for name, model in models.items():
            after = rates_after(fitted(model, X, labels), others, 1e-2)
            found[name].append(after / before)
    for name, ratios in found.items():
        ratios = np.array(ratios)
        cells = "".join(f"{interval(r):20}" for r in ratios.T)
        print(f"{name:34}{cells}mean FRR x {ratios[:, 0].mean():.3f}", flush=True)


class KeptHeads(Callback):
    """Keep the heads after some epochs, which are those of fits with fewer."""

    def __init__(self, epochs):
        self.heads = dict.fromkeys(epochs)

    def on_epoch_end(self, net, **kwargs):
        """Copy the head."""
        if len(net.history) in self.heads:
            self.heads[len(net.history)] = deepcopy(net.module_).requires_grad_(False)


def by_epochs(options, samples, epochs, far):
    """Ratios (n_samples, 2) after each number of epochs of one training."""
    ratios = {n: [] for n in epochs}
    for X, labels, others, before in samples:
        kept = KeptHeads(epochs)
        model = module(max_epochs=max(epochs), callbacks=[kept], **options)
        made = fitted(model, X, labels)
        for n in epochs:
            made.head_ = kept.heads[n]
            ratios[n].append(rates_after(made, others, far) / before)
    return {n: np.array(r) for n, r in ratios.items()}


def samples_of(populations, n_people, n_draws, far):
    """What is fitted and measured in a kind of data, draw by draw, and the rates before."""
    for seed in range(n_draws):
        for population in populations:
            of = split(population, n_people, seed) if population else split_lfw(seed)
            yield *of, rates(*of[2], far)


def grid(names, kinds=KINDS):
    """Print a row for each kind of data and setting, and what the rule chooses."""
    asked = {(name, n) for name in names for n in EPOCHS if "lr" in name or n == 20}
    admitted = {key: [] for key in asked}  # mean logs of the ratios, by kind
    means = {}
    columns = (*QUESTIONS, *(f"{name} over default" for name in QUESTIONS))
    for kind, (populations, n_people, n_draws, far) in kinds.items():
        print(f"\n{kind:16}epochs  " + "".join(f"{c:20}" for c in columns), end="")
        print("highest FRR of a population", flush=True)
        samples = list(samples_of(populations, n_people, n_draws, far))
        if means and n_people >= 1000:
            asked = {PRESENT, *(tied(means, 1.1) if n_people == MANY else admitted)}
        for name, options in GRID.items():
            of_name = [n for n in EPOCHS if (name, n) in asked]
            found = by_epochs(options, samples, of_name, far) if of_name else {}
            if name == PRESENT[0]:
                base = np.log(found[PRESENT[1]]).reshape(n_draws, -1, 2)
            for n, ratios in found.items():
                logs = np.log(ratios).reshape(n_draws, -1, 2)
                over = np.hstack([logs.mean(1), (logs - base).mean(1)])
                print(f"{name:16}{n:6}  ", end="")
                print("".join(f"{interval(np.exp(r)):20}" for r in over.T), end="")
                print(f"{np.exp(logs[..., 0].mean(0).max()):.2f}", flush=True)
                if (name, n) in admitted:
                    admitted[name, n].append(over[:, :2].mean(0))
        n_kinds = max(map(len, admitted.values()))
        admitted = {
            key: logs
            for key, logs in admitted.items()
            if len(logs) == n_kinds and logs[-1][0] <= np.log(1.05)
        }
        means = {key: np.exp(np.mean(logs, axis=0)) for key, logs in admitted.items()}
        print("chosen so far: {}, {} epochs".format(*chosen(means)), flush=True)
    print("\nAdmitted, mean over the kinds")
    for (name, n), (frr, bfar) in means.items():
        print(f"{name:16}{n:6}  FRR {frr:.3f}  BFAR {bfar:.3f}")


def tied(means, factor):
    """Settings whose BFAR is at most that factor times the lowest, with their FRR."""
    most = factor * min(bfar for _, bfar in means.values())
    return {key: frr for key, (frr, bfar) in means.items() if bfar <= most}


def chosen(means):
    """The setting that the rule takes from means of FRR and BFAR."""
    frrs = tied(means, 1.05)
    best = min(frrs, key=frrs.get)
    return PRESENT if frrs.get(PRESENT, np.inf) <= 1.02 * frrs[best] else best


def main(n_draws=5, n_people=600, largest=512):
    """Print the tables."""
    dimensions(n_draws, n_people, largest)
    people(n_draws)
    many()
    if LFW.exists():
        lfw()


if __name__ == "__main__":
    if sys.argv[1:2] == ["grid"]:
        kinds = dict([[*KINDS.items()][-1]]) if "many" in sys.argv else KINDS
        rates_asked = {f"lr {float(lr):g}" for lr in sys.argv[2:] if lr != "many"}
        grid({PRESENT[0], *rates_asked} if rates_asked else {*GRID}, kinds)
    else:
        run_command(main, __doc__)
