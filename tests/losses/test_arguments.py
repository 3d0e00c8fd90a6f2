"""What cannot be used is named by every loss, whatever its type."""

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
NUMBERS = ("a", None, True, [1.0], 10**400, 1j)
COUNTS = ("a", None, True, 2.0, 0, 10**30)
NAMES = {
    FairVMFLoss: ({"margin"}, {"n_identities", "n_features"}),
    FPRPenaltyLoss: (
        {"far", "alpha", "scale", "margin", "momentum"},
        {"n_identities", "n_features"},
    ),
    GroupAdversaryLoss: (
        {"alpha", "scale"},
        {
            *("n_identities", "n_features", "n_groups"),
            *("n_discriminators", "discriminator_dim"),
        },
    ),
    CentroidFairnessLoss: ({"genuine_weight"}, {"n_groups", "n_features", "reference"}),
    TripletLoss: ({"margin"}, set()),
}
# A list is no label.
UNLIKE = np.array([0, None, 0], dtype=object)
UNLIKE[1] = [0]
OPTIONAL = {"n_groups", "n_features", "reference"}


@pytest.mark.parametrize("loss", MADE)
def test_numbers_and_counts(loss):
    for names, values in zip(NAMES[loss], (NUMBERS, COUNTS), strict=True):
        for name in names:
            for value in values:
                optional = loss is CentroidFairnessLoss and name in OPTIONAL
                optional |= name == "far"
                if optional and (value is None or (name, value) == ("reference", 0)):
                    continue
                with pytest.raises(ArgumentError, match=name):
                    loss(**MADE[loss] | {name: value})


@pytest.mark.parametrize("loss", [loss for loss in MADE if loss is not TripletLoss])
def test_centroids_and_generators(loss):
    for centroids in ("a", [["a"] * 6] * 3, [[1.0], [1.0, 2.0]], np.ones((3, 5)), 1.0):
        with pytest.raises(ValueError, match="centroids"):
            loss(**MADE[loss] | {"centroids": centroids})
    for generator in (0, np.random.default_rng(0)):
        with pytest.raises(ArgumentError, match=r"must be a torch\.Generator"):
            loss(**MADE[loss] | {"generator": generator})
    assert loss(**MADE[loss], generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kappa": "a"}, "kappa must be numbers"),
        ({"kappa": [1.0, [2.0]]}, "kappa has rows of different lengths"),
        ({"kappa": {0: "a"}, "attribute": [0, 0, 0]}, "kappa must be numbers"),
        ({"kappa": 10**400}, "kappa must be numbers"),
        ({"kappa": {0: 1.0}, "attribute": UNLIKE}, "no entry for"),
        ({"kappa": {0: 1.0}, "attribute": 0}, r"got shape \(\)"),
        ({"kappa": {0: 1.0}, "attribute": [[0]] * 3}, r"got shape \(3, 1\)"),
    ],
)
def test_concentrations(options, message):
    with pytest.raises(ValueError, match=message):
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
    ("options", "message"),
    [
        ({"X": X[0]}, r"X must have the shape \(n_images, n_features_in\).*got \(6,\)"),
        ({"X": X * np.nan}, "X must .* finite as float32; .* 36 numbers"),
        ({"X": [["a"]]}, "X must be numbers"),
        ({"y": Y[1:]}, r"y must have the shape \(6\).* got \(5,\)"),
        ({"y": Y / 2}, "y must be integers; got .* of the type float64"),
        ({"y": torch.tensor(Y / 2)}, "y must be integers; got .* type float64"),
        ({"X": torch.tensor(X * 1j)}, "X must be numbers; got .* type complex"),
        ({"X": X * np.float64(1e300)}, "X must .* finite as float32; .* 6 numbers"),
        ({"y": Y - 1}, "y has the code -1, .* from 0 to 2. Number the"),
        ({"y": Y + 1}, "y has the code 3, .* from 0 to 2"),
        (
            {"group": GROUP[None]},
            r"group must have the shape \(n_identities\).* got \(1, 3\)",
        ),
        ({"group": GROUP - 1}, "group has the code -1, .* from 0 to 2. Number the"),
        ({"group": GROUP * 10**9}, "group has the code 1000000000"),
        ({"n_groups": 1}, "group has the code 1, .* from 0 to 0. Number the"),
        ({"n_groups": 10**7}, "n_groups must be at most 3; got 10000000"),
        ({"before": np.full((3, 6), np.nan)}, "before must .* finite"),
        ({"before": X}, r"before must have the shape \(3, 6\).* got \(6, 6\)"),
        ({"before": "a"}, "before must be numbers"),
    ],
)
def test_people_of_the_centroid_fairness_loss(options, message):
    with pytest.raises(ArgumentError, match=message):
        CentroidFairnessLoss(**MADE[CentroidFairnessLoss] | options)
