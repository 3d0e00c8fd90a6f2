"""What cannot be used is named by every loss, whatever its type."""

from inspect import signature

import numpy as np
import pytest
import torch

from skfairfr.losses import (
    CentroidFairnessLoss,
    FairVMFLoss,
    FPRPenaltyLoss,
    GroupAdversaryLoss,
    TripletLoss,
)
from skfairfr.utils import ArgumentError

X, Y, GROUP = np.eye(6, dtype=np.float32), np.arange(6) % 3, np.array([0, 0, 1])
MADE = {
    FairVMFLoss: {"n_identities": 3, "n_features": 6},
    FPRPenaltyLoss: {"n_identities": 3, "n_features": 6},
    GroupAdversaryLoss: {"n_identities": 3, "n_features": 6, "n_groups": 2},
    CentroidFairnessLoss: {"X": X, "y": Y, "group": GROUP},
    TripletLoss: {},
}
# Values of no use for each argument.
BAD = {
    FairVMFLoss: {"margin": (-0.1, 2.0), "n_identities": (1, 2.0), "n_features": (1,)},
    FPRPenaltyLoss: {
        "far": (0.0, 1.0),
        "alpha": (-0.1, np.inf),
        "scale": (0.0, np.inf),
        "margin": (-0.1, 2.0),
        "momentum": (-0.1, 1.0),
        "n_identities": (1, 2.0),
        "n_features": (0, 1.5),
        "penalty": ("paper",),
        "base": ("sphereface",),
        "weighting": (None,),
    },
    GroupAdversaryLoss: {
        "alpha": (-0.1, np.inf),
        "scale": (0.0, np.inf),
        "n_identities": (1,),
        "n_features": (0,),
        "n_groups": (1,),
        "n_discriminators": (0,),
        "discriminator_dim": (1.5,),
    },
    CentroidFairnessLoss: {
        "genuine_weight": (-1.0, np.nan),
        "n_groups": (10**7,),
        "n_features": (0,),
        "reference": (5, True),
    },
    TripletLoss: {"margin": (0, 4.5, np.nan)},
}
# A list is no label.
UNLIKE = np.array([0, None, 0], dtype=object)
UNLIKE[1] = [0]


@pytest.mark.parametrize("loss", MADE)
def test_what_is_out_of_range_is_named(loss):
    for name, values in BAD[loss].items():
        for value in ("a", *values):
            with pytest.raises(ArgumentError, match=name) as refused:
                loss(**MADE[loss] | {name: value})
            assert refused.value.argument == name


@pytest.mark.parametrize("loss", [loss for loss in MADE if loss is not TripletLoss])
def test_centroids_and_generators(loss):
    for centroids in ("a", [[1.0], [1.0, 2.0]], np.ones((3, 5)), np.zeros((3, 6))):
        with pytest.raises(ArgumentError, match="centroids"):
            loss(**MADE[loss] | {"centroids": centroids})
    with pytest.raises(ArgumentError, match=r"must be a torch\.Generator"):
        loss(**MADE[loss] | {"generator": 0})
    assert loss(**MADE[loss], generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kappa": "a"}, "kappa must be numbers"),
        ({"kappa": [1.0, [2.0]]}, "kappa .* Pass rows of one length"),
        ({"kappa": 0.0}, "kappa must be positive.*got 0.0 for 0"),
        ({"kappa": [1, np.nan, 3]}, "kappa must be positive.*got nan for 1"),
        ({"kappa": {0: 1.0, 1: -1.0}, "attribute": [0, 1, 0]}, "got -1.0 for 1"),
        ({"kappa": 1e39}, "finite as float32"),
        ({"kappa": [1, 2]}, r"kappa needs one entry for each of 3 .*shape \(2,\)"),
        ({"kappa": {0: 1.0}}, "attribute is None"),
        ({"kappa": {0: 1.0}, "attribute": UNLIKE}, "kappa has no entry for"),
        ({"kappa": {0: 1.0}, "attribute": 0}, r"attribute needs .* shape \(\)"),
        ({"kappa": abs, "attribute": list("abc")}, "attribute must be numbers"),
    ],
)
def test_concentrations(options, words):
    with pytest.raises(ArgumentError, match=words):
        FairVMFLoss(3, 6, **options)


def test_tensors_and_lists_are_read_alike():
    usual = CentroidFairnessLoss(X, Y, GROUP)
    others = (
        (torch.tensor(X, requires_grad=True), torch.tensor(Y), torch.tensor(GROUP)),
        (X.tolist(), Y.tolist(), GROUP.tolist()),
    )
    for parts in others:
        found = CentroidFairnessLoss(*parts)
        assert (
            torch.equal(found.before, usual.before) and not found.before.requires_grad
        )
        assert torch.equal(found.impostor_maps, usual.impostor_maps)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"X": X[0]}, r"X must have the shape \(n_images, n_features_in\).*got \(6,\)"),
        ({"X": X * np.nan}, "X must .* finite as float32, .* 36 numbers"),
        ({"X": X * np.float64(1e300)}, "X must .* finite as float32, .* 6 numbers"),
        ({"y": Y[1:]}, r"y must have the shape \(6\).* got \(5,\)"),
        ({"y": torch.tensor(Y / 2)}, "y must be integers, got float64"),
        ({"y": Y - 1}, "y has the code -1, .* from 0 to 2. Number the"),
        ({"group": GROUP * 10**9}, "group has the code 1000000000"),
        ({"n_groups": 1}, "group has the code 1, .* from 0 to 0. Number the"),
        ({"before": X}, r"before must have the shape \(3, 6\).* got \(6, 6\)"),
        ({"group": [0, 0, 1], "reference": 1}, r"reference must be .* two.*are \[0\]"),
    ],
)
def test_people_of_the_centroid_fairness_loss(options, words):
    with pytest.raises(ArgumentError, match=words):
        CentroidFairnessLoss(**MADE[CentroidFairnessLoss] | options)
    with pytest.raises(ValueError, match="No group has images of two"):
        CentroidFairnessLoss(X, Y, [0, 1, 2])


@pytest.mark.parametrize("kind", MADE)
def test_a_loss_that_takes_inputs_says_so(kind):
    """So a training loop knows what to call it with."""
    takes = "X" in signature(kind.forward).parameters
    assert getattr(kind, "takes_inputs", False) == takes
