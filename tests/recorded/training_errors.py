"""Training, data and audits that are refused: type and text of the error."""

import numpy as np
import torch

from skfairfr import (
    EthicalModule,
    FPRPenaltyProjector,
    TripletProjector,
    face_labels,
    losses,
    make_face_embeddings,
    samplers,
)
from skfairfr.datasets import load_embeddings, load_pairs
from skfairfr.report import audit, audit_pairs
from tests.recorded.data import columns, faces
from tests.recorded.errors import refuse

X, Y, GROUPS = columns(faces(24))
SHORT = {"max_epochs": 1, "random_state": 0}

# Values that EthicalModule refuses, one parameter after the other.
OF_ETHICAL_MODULE = {
    "kappa0": -1,
    "kappa1": np.inf,
    "kappas": {"male": 1.0},
    "groups": ("male", "x"),
    "margin": 2.5,
    "min_agreement": 0.2,
    "head": "linear",
    "hidden_dim": 0,
    "output_dim": 3,
    "max_epochs": 0,
    "batch_size": 0,
    "lr": 0,
    "final_lr": -1,
    "optimizer": "lbfgs",
    "sampler": 3,
    "validation_fraction": 1.0,
    "monitor": "eer",
    "patience": 0,
    "precision": "float16",
    "device": "tpu",
    "random_state": "x",
    "warm_start": "yes",
}


def sampler_of(found):
    """A sampler that gives these positions."""
    return lambda identity, group, generator: np.asarray(found)


MORE = [
    (EthicalModule, "sampler", sampler_of([0.5])),
    (EthicalModule, "sampler", sampler_of([10**6])),
    (EthicalModule, "sampler", sampler_of([])),
    (EthicalModule, "device", "cuda"),
    (EthicalModule, "kappas", lambda value: value),
    (FPRPenaltyProjector, "penalty", "square"),
    (FPRPenaltyProjector, "far", 1.0),
    (FPRPenaltyProjector, "alpha", -1),
    (FPRPenaltyProjector, "monitor", "bfar"),
    (FPRPenaltyProjector, "base", "sphereface"),
    (TripletProjector, "sampling", "rare"),
    (TripletProjector, "sampling", "adjusted"),
    (TripletProjector, "group_weights", {"male": 1, "female": 2}),
    (TripletProjector, "margin", 5.0),
    (TripletProjector, "smoothing", 2.0),
    (TripletProjector, "selection_size", 1),
]


def record_parameters(record):
    named = [(EthicalModule, *item) for item in OF_ETHICAL_MODULE.items()]
    y = face_labels(Y, GROUPS)
    cases = [
        (make(**SHORT | {name: value}).fit, (X, y), {})
        for make, name, value in [*named, *MORE]
    ]
    refuse(record, "parameter", cases)


def record_training(record):
    y = face_labels(Y, GROUPS)
    options = {"sampling": "dynamic", "validation_fraction": 0.0}
    weights = {"sampling": "adjusted", "group_weights": {"x": 1}}
    one_each = np.unique(Y, return_index=True)[1]
    cases = [
        (EthicalModule(30.0, 10.0, **SHORT).fit, (X, Y), {}),
        (EthicalModule(**SHORT).fit, (X, None), {}),
        (EthicalModule(**SHORT).fit, (X, Y[:-1]), {}),
        (EthicalModule(**SHORT).fit, (X, Y * 0), {}),
        (EthicalModule(**SHORT).fit, (X, y, GROUPS), {}),
        (EthicalModule(**SHORT).fit, (np.where(X > 0, np.nan, X), Y), {}),
        (EthicalModule(**SHORT).fit, (X, Y, Y % 3), {}),
        (EthicalModule(**SHORT).transform, (X,), {}),
        (EthicalModule(**SHORT).fit(X, y).transform, (X[:, :3],), {}),
        (EthicalModule(**SHORT).save, ("here",), {}),
        (EthicalModule(monitor="bfar", **SHORT).fit, (X, y), {}),
        (
            EthicalModule(monitor="bfar", validation_fraction=0.3, **SHORT).fit,
            (X, Y),
            {},
        ),
        (
            EthicalModule(monitor="bfar", validation_fraction=0.3, **SHORT).fit,
            (X, y),
            {},
        ),
        (
            EthicalModule(sampler=samplers.GroupWeightedSampler(), **SHORT).fit,
            (X, Y),
            {},
        ),
        (TripletProjector(**options, **SHORT).fit, (X, y), {}),
        (TripletProjector(sampling="dynamic", far=1e-6, **SHORT).fit, (X, y), {}),
        (TripletProjector(sampling="equal", **SHORT).fit, (X, Y), {}),
        (
            TripletProjector(sampling="equal", sampler=sampler_of([0]), **SHORT).fit,
            (X, y),
            {},
        ),
        (TripletProjector(**weights, **SHORT).fit, (X, y), {}),
        (TripletProjector(**SHORT).fit, (X[one_each], Y[one_each]), {}),
        (TripletProjector(**SHORT).fit, (X, Y), {"domain": Y % 3}),
        (lambda: TripletProjector().group_weights_, (), {}),
    ]
    refuse(record, "training", cases)


def record_losses_and_samplers(record):
    rows, y = torch.eye(4), torch.arange(4)
    attribute = list("abab")
    cases = [
        (losses.FairVMFLoss, (1, 4), {}),
        (losses.FairVMFLoss, (4, 4, -1.0), {}),
        (losses.FairVMFLoss, (4, 4, [1.0, 2.0]), {}),
        (losses.FairVMFLoss, (4, 4, {"a": 1.0}), {}),
        (losses.FairVMFLoss, (4, 4, {"a": 1.0}), {"attribute": attribute}),
        (losses.FairVMFLoss, (4, 4, lambda age: age), {"attribute": attribute}),
        (losses.FairVMFLoss, (4, 4), {"margin": 3}),
        (losses.FairVMFLoss, (4, 4), {"centroids": np.eye(3)}),
        (losses.FairVMFLoss, (4, 4), {"centroids": np.zeros((4, 4))}),
        (losses.FPRPenaltyLoss, (1, 4), {}),
        (losses.FPRPenaltyLoss, (4, 0), {}),
        (losses.FPRPenaltyLoss, (4, 4), {"penalty": "square"}),
        (losses.FPRPenaltyLoss, (4, 4), {"far": 1}),
        (losses.FPRPenaltyLoss, (4, 4), {"scale": 0}),
        (losses.FPRPenaltyLoss, (4, 4), {"momentum": 1.0}),
        (
            losses.FPRPenaltyLoss,
            (4, 4),
            {"penalty": "mean_square", "weighting": "cosine"},
        ),
        (losses.TripletLoss, (0,), {}),
        (losses.semi_hard_negatives, (rows, rows[:2], y), {}),
        (samplers.equal_weights, (0,), {}),
        (samplers.natural_weights, ([0, 0],), {}),
        (samplers.natural_weights, ([-1, 2],), {}),
        (samplers.natural_weights, ([[1]],), {}),
        (samplers.adjusted_weights, ({"x": 1}, ["a"]), {}),
        (samplers.adjusted_weights, ({}, ["a"]), {}),
        (samplers.adjusted_weights, ({"a": "much"}, ["a"]), {}),
        (samplers.dynamic_weights, ([1.0], [1, 2], [3, 4]), {}),
        (samplers.dynamic_weights, ([1.0, 1.0], [1, 9], [3, 4]), {}),
        (samplers.dynamic_weights, ([1.0, 1.0], [1, 2], [3, 4]), {"smoothing": 2}),
        (samplers.dynamic_weights, ([1.0, 1.0], [1, 2], [3, 4]), {"exponent": -1}),
        (samplers.GroupWeightedSampler, (GROUPS,), {"weights": "rare"}),
        (samplers.GroupWeightedSampler, (GROUPS,), {"n_draws": 0}),
        (samplers.GroupWeightedSampler, ([None, None],), {}),
        (samplers.GroupWeightedSampler, (GROUPS,), {"weights": {"male": 1}}),
        (samplers.HomogeneousBatchSampler, (GROUPS,), {"batch_size": 0}),
        (samplers.HomogeneousBatchSampler, (GROUPS,), {"n_batches": 1.5}),
    ]
    refuse(record, "losses", cases)


def record_data_and_audits(record, folder):
    listed = ([0.1, 0.2, 0.3], ("aab", "abc"), ("ffm", "fmm"))
    listed = (listed[0], *(tuple(map(list, pair)) for pair in listed[1:]))
    np.savez(folder / "refused.npz", embedding=X, identity=Y)
    cases = [
        (make_face_embeddings, (0,), {}),
        (make_face_embeddings, (10,), {"images_per_identity": (3, 2)}),
        (make_face_embeddings, (10,), {"images_per_identity": "two"}),
        (make_face_embeddings, (10,), {"groups": ["a", "b"]}),
        (make_face_embeddings, (10,), {"groups": {"a": 0.5}}),
        (make_face_embeddings, (10,), {"groups": {"a": 0.0, "b": 1.0}}),
        (make_face_embeddings, (10,), {"groups": {"a": 0.01, "b": 0.99}}),
        (make_face_embeddings, (10,), {"groups": {("a", "b"): 1.0}}),
        (make_face_embeddings, (10,), {"kappa": {"x": 1.0}}),
        (make_face_embeddings, (10,), {"kappa": -1}),
        (make_face_embeddings, (10,), {"heterogeneity": -1}),
        (make_face_embeddings, (10,), {"n_features": 0}),
        (make_face_embeddings, (10,), {"random_state": "x"}),
        (make_face_embeddings, (10,), {"random_state": -1}),
        (load_embeddings, (folder / "refused.npz",), {"identity": "who"}),
        (load_embeddings, (folder / "refused.npz",), {"columns": ["gender"]}),
        (load_embeddings, (folder / "gone.npz",), {}),
        (load_pairs, (folder / "refused.npz",), {}),
        (load_pairs, (folder / "gone.csv",), {}),
        (audit, (X, Y, GROUPS), {"far": [0.01, 2.0]}),
        (audit, (X, Y, GROUPS), {"far": 0.1, "threshold": 0.5}),
        (audit, (X, Y, GROUPS), {"threshold": np.inf}),
        (audit, (X, Y, GROUPS), {"resample": "people"}),
        (audit, (X, Y, GROUPS), {"beard": 1}),
        (audit, (X, Y, GROUPS), {"n_resamples": 0}),
        (audit, (X, Y, np.full(len(Y), "a")), {}),
        (audit, (X, Y, np.full(len(Y), None)), {}),
        (audit, (X, Y, Y + 0.5), {"attribute": "age"}),
        (audit, (X, Y, GROUPS[:-1]), {}),
        (audit, (X, Y, None), {}),
        (audit, (X, Y, GROUPS), {"domain": Y}),
        (audit_pairs, listed, {"resample": "images"}),
        (audit_pairs, (listed[0][:-1], *listed[1:]), {}),
        (audit_pairs, listed, {"images": (["a", "b", "c"], None)}),
        (audit_pairs, (listed[0], listed[1], (listed[2][0], None)), {}),
    ]
    refuse(record, "data", cases)
