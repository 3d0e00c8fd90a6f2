"""Projectors: what a fit leaves behind, and what transform makes of it."""

import numpy as np
import torch
from sklearn.model_selection import GridSearchCV
from skorch.callbacks import Callback

from skfairfr import (
    EthicalModule,
    FPRPenaltyProjector,
    IdentityKFold,
    TripletProjector,
    face_labels,
    fairness_scores,
    make_face_embeddings,
    samplers,
)
from skfairfr.projectors import AdversarialProjector, CentroidFairnessProjector
from tests.recorded.data import HALVES, THREE

FACES = make_face_embeddings(40, 4, 16, groups=HALVES, random_state=0)
# Enough people for a FAR of 1e-3 in each group of a held-out half.
MORE = make_face_embeddings(120, 4, 16, groups=HALVES, random_state=1)
OF_THREE = make_face_embeddings(60, 4, 16, groups=THREE, n_domains=2, random_state=2)
QUICK = {"max_epochs": 3, "batch_size": 64, "device": "cpu", "random_state": 0}


def labelled(data):
    """X and face_labels."""
    return data.X, face_labels(data.y, data.sensitive_features)


def fitted_parts(projector, X):
    """Everything that a fit left, but for the seconds of its epochs."""
    found = {}
    for name in sorted(vars(projector)):
        if name.endswith("_") and not name.startswith("_"):
            found[name] = getattr(projector, name)
    for name in ("group_weights_", "group_fars_"):
        if hasattr(projector, name):
            found[name] = getattr(projector, name)
    found["history_"] = projector.history_.drop(columns="dur")
    found["head_"] = dict(projector.head_.state_dict())
    return found | {"transform": projector.transform(X)}


def fit_and_keep(record, key, projector, X, y, *args, **options):
    record(f"{key} fit", projector.fit, X, y, *args, **options)
    record(f"{key} fitted", fitted_parts, projector, X)
    return projector


def every_other_twice(identity, group, generator):
    """A sampler of positions."""
    import torch

    start = int(torch.randint(2, (1,), generator=generator))
    return np.repeat(np.arange(start, len(identity), 2), 2)


class Stop(Exception):
    """Breaks a fit off."""


class BreakOff(Callback):
    """Breaks a fit off at the end of an epoch."""

    def __init__(self, epoch):
        self.epoch = epoch

    def on_epoch_end(self, net, **options):
        if len(net.history) == self.epoch:
            raise Stop(f"epoch {self.epoch}")


ETHICAL = {
    "residual": {},
    "mlp": {"head": "mlp", "lr": 0.01, "kappa0": 25.0, "kappa1": 15.0},
    "mlp narrow": {"head": "mlp", "hidden_dim": 5, "output_dim": 7},
    "dict": {"kappas": {"male": 30.0, "female": 10.0}},
    "callable": {"kappas": lambda value: 10 + value},
    "order": {"groups": ("male", "female"), "kappa0": 5.0},
    "margin": {"margin": 0.2, "optimizer": torch.optim.AdamW, "final_lr": 1e-4},
    "sgd": {"optimizer": torch.optim.SGD, "lr": 0.1, "batch_size": 7},
    "bfloat16": {"precision": "bfloat16"},
    "sampler": {"sampler": every_other_twice},
    "weighted": {"sampler": samplers.GroupWeightedSampler()},
    "homogeneous": {"sampler": samplers.HomogeneousBatchSampler(batch_size=16)},
    "no seed kept": {"random_state": np.random.RandomState(5)},
    "tf32": {"precision": "tf32"},
    "patience": {"validation_fraction": 0.3, "patience": 1, "max_epochs": 8, "lr": 0.1},
}
PENALTY = {
    "ratio": {},
    "mean_square": {"penalty": "mean_square"},
    "arcface": {"base": "arcface", "margin": 0.2, "far": 0.05},
    "softmax": {"base": "softmax", "alpha": 2.0, "weighting": "cosine"},
    "momentum": {"momentum": 0.5, "head": "mlp"},
    "plain": {"alpha": 0.0},
    "held out": {"validation_fraction": 0.3, "patience": 2},
    "homogeneous": {"sampler": samplers.HomogeneousBatchSampler(batch_size=16)},
}
COMPARATORS = (
    (AdversarialProjector, {"discriminator_dim": 8, "discriminator_epochs": 2}),
    (AdversarialProjector, {"alpha": 0.0, "head": "mlp"}),
    (CentroidFairnessProjector, {}),
    (CentroidFairnessProjector, {"reference": "male", "genuine_weight": 3.0}),
)
TRIPLET = {
    "natural": {},
    "equal": {"sampling": "equal"},
    "adjusted": {"sampling": "adjusted", "group_weights": {"a": 1, "b": 3, "c": 2}},
    "dynamic": {"sampling": "dynamic", "far": 0.05, "validation_fraction": 0.4},
    "dynamic from": {
        "sampling": "dynamic",
        "far": 0.05,
        "validation_fraction": 0.4,
        "group_weights": {"a": 1, "b": 3, "c": 2},
    },
    "homogeneous": {"sampling": "equal", "homogeneous": True, "selection_size": 32},
    "all": {"validation_fraction": 0.0, "head": "mlp", "margin": 0.2},
    "sampler": {"sampler": every_other_twice},
}


def record_ethical_module(record):
    X, y = labelled(FACES)
    for name, options in ETHICAL.items():
        labels = y
        if name == "callable":
            labels = face_labels(FACES.y, 20.0 + FACES.y % 30)
        fit_and_keep(
            record,
            f"EthicalModule {name}",
            EthicalModule(**(QUICK | options)),
            X,
            labels,
        )
    fit_and_keep(
        record, "EthicalModule no groups", EthicalModule(7.0, 7.0, **QUICK), X, FACES.y
    )
    fit_and_keep(
        record,
        "EthicalModule three groups",
        EthicalModule(kappas={"a": 10, "b": 20, "c": 30}, **QUICK),
        *(OF_THREE.X, OF_THREE.y, OF_THREE.sensitive_features),
    )
    mixed = FACES.sensitive_features.copy()
    mixed[::4] = "male"
    for agreement in (None, 0.7, 0.8):
        module = EthicalModule(min_agreement=agreement, **QUICK)
        fit_and_keep(
            record, f"EthicalModule mixed {agreement}", module, X, FACES.y, mixed
        )


def record_monitors(record):
    X, y = labelled(MORE)
    for monitor in ("loss", "bfar", "bfrr", "frr_at_far"):
        held_out = {"validation_fraction": 0.5, "monitor": monitor}
        module = EthicalModule(30.0, 10.0, **(QUICK | held_out))
        fit_and_keep(record, f"EthicalModule monitor {monitor}", module, X, y)
        held_out = {"validation_fraction": 0.4, "monitor": monitor}
        triplets = TripletProjector(**(QUICK | held_out))
        fit_and_keep(record, f"TripletProjector monitor {monitor}", triplets, X, y)
    held_out = {"validation_fraction": 0.5, "monitor": "frr_at_far"}
    penalty = FPRPenaltyProjector(**(QUICK | held_out))
    fit_and_keep(record, "FPRPenaltyProjector monitor", penalty, X, y)


def record_fpr_penalty_projector(record):
    X, y = labelled(FACES)
    for name, options in PENALTY.items():
        projector = FPRPenaltyProjector(**(QUICK | options))
        fit_and_keep(record, f"FPRPenaltyProjector {name}", projector, X, y)


def record_comparators(record):
    X, y = labelled(FACES)
    for make, options in COMPARATORS:
        key = f"{make.__name__} {options}"
        fit_and_keep(record, key, make(**(QUICK | options)), X, y)
    held_out = QUICK | {"validation_fraction": 0.5, "monitor": "bfar"}
    for make in (AdversarialProjector, CentroidFairnessProjector):
        fit_and_keep(
            record, f"{make.__name__} monitor", make(**held_out), *labelled(MORE)
        )


def record_triplet_projector(record):
    X, y = labelled(OF_THREE)
    for name, options in TRIPLET.items():
        projector = TripletProjector(**(QUICK | options))
        fit_and_keep(record, f"TripletProjector {name}", projector, X, y)
        projector = TripletProjector(**(QUICK | options))
        key = f"TripletProjector domain {name}"
        labels = (OF_THREE.y, OF_THREE.sensitive_features)
        fit_and_keep(record, key, projector, X, *labels, domain=OF_THREE.domain)


def record_warm_starts(record):
    first, second = FACES.y < 30, FACES.y >= 10
    X, y = labelled(FACES)
    for make in (EthicalModule, FPRPenaltyProjector, TripletProjector):
        projector = make(**QUICK, warm_start=True)
        projector.fit(X[first], y[first])
        key = f"{make.__name__} warm"
        fit_and_keep(record, key, projector, X[second], y[second])
        record(f"{key} other width", projector.fit, X[:, :8], y)


def record_checkpoints(record, folder):
    X, y = labelled(FACES)
    for name, make, options in (
        ("EthicalModule", EthicalModule, {"validation_fraction": 0.3, "head": "mlp"}),
        ("FPRPenaltyProjector", FPRPenaltyProjector, {"momentum": 0.5}),
        ("TripletProjector", TripletProjector, {"sampling": "equal"}),
    ):
        place = folder / f"checkpoints {name}"
        options = QUICK | options | {"checkpoint_dir": str(place)}
        broken = make(**options, callbacks=[BreakOff(2)])
        record(f"{name} broken off", broken.fit, X, y)
        record(f"{name} n checkpoints", lambda p=place: len(list(p.iterdir())))
        fit_and_keep(record, f"{name} resumed", make(**options), X, y)
        record(f"{name} checkpoints after", lambda p=place: len(list(p.iterdir())))


def record_saved(record, folder):
    X, y = labelled(FACES)
    for make in (EthicalModule, FPRPenaltyProjector, TripletProjector):
        path = folder / make.__name__
        projector = make(**QUICK, sampler=every_other_twice).fit(X, y)
        key = f"{make.__name__} saved"
        record(key, projector.save, path)
        loaded = record(f"{key} loaded", make.load, path)
        record(f"{key} parts", fitted_parts, loaded, X)
        record(
            f"{key} parameters",
            lambda p=loaded: {n: str(v) for n, v in p.get_params().items()},
        )
        record(f"{key} repr", repr, loaded)
        record(f"{key} absent", make.load, folder / "absent")


def record_search_of_modules(record):
    X, y = labelled(MORE)
    search = GridSearchCV(
        EthicalModule(**(QUICK | {"max_epochs": 2})),
        {"kappa0": [10.0, 30.0], "head": ["residual", "mlp"]},
        scoring=fairness_scores(0.02),
        cv=IdentityKFold(2, shuffle=True, random_state=0),
        refit=False,
        error_score="raise",
    )
    record("EthicalModule search", search.fit, X, y)
    record(
        "EthicalModule search scores",
        lambda: {n: v for n, v in search.cv_results_.items() if "test" in n},
    )
