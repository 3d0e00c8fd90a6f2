"""FPRPenaltyProjector: groups ignored in training, known to scorers; options; edges."""

import math
from functools import cache

import numpy as np
import pandas as pd
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal

from skfairfr import FPRPenaltyProjector
from skfairfr.losses._fpr_penalty import target_cosine
from skfairfr.losses._softmax import held_out_cross_entropy
from tests.projectors.faces import (
    GROUP,
    IDENTITY,
    X,
    Y,
    assert_same_bits,
    losses,
    module,
    people_of,
)


def projector(**options):
    """Three short epochs, the same in every run."""
    usual = {"max_epochs": 3, "batch_size": 64, "scale": 16.0, "device": "cpu"}
    usual |= {"head": "mlp", "init": "random", "lr": 0.01}
    return FPRPenaltyProjector(**(usual | {"random_state": 0} | options))


@cache
def trained():
    """A fit that many tests look at."""
    return projector().fit(X, IDENTITY)


def test_fitted_attributes():
    assert trained().identities_.tolist() == sorted(set(IDENTITY.tolist()))
    assert trained().centroids_.shape == (40, 16)
    assert trained().centroids_.dtype == np.float32
    assert_allclose(np.linalg.norm(trained().centroids_, axis=1), 1, rtol=1e-6)
    assert type(trained().threshold_) is float and -1 < trained().threshold_ < 1
    assert trained().n_features_in_ == 16 and len(trained().history_) == 3
    assert not hasattr(trained(), "groups_")
    rows = trained().transform(X)
    assert rows.dtype == np.float32
    assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-6)


DOORS = {
    "unknown": (IDENTITY, np.full(len(X), None)),
    "changing within a person": (IDENTITY, np.arange(len(X))),
    "of another length": (IDENTITY, ["a"]),
    "a frame": (pd.DataFrame({"identity": IDENTITY, "group": GROUP}), None),
}


@pytest.mark.parametrize("door", DOORS)
def test_groups_change_no_bit(door, recwarn):
    y, groups = DOORS[door]
    plain = projector(validation_fraction=0.3).fit(X, IDENTITY)
    grouped = projector(validation_fraction=0.3)
    grouped.fit(X, y, sensitive_features=groups)
    assert_same_bits(grouped, plain)
    assert grouped.threshold_ == plain.threshold_
    assert all("This fit has" in str(w.message) for w in recwarn)


@pytest.mark.parametrize("y", [IDENTITY, Y])
def test_a_sampler_alone_is_told_the_groups(y):
    seen = []

    def once(identity, group, generator):
        seen.append(group)
        return np.arange(len(identity))

    fitted = projector(sampler=once).fit(X, y)
    for group in seen:
        if y is IDENTITY:
            assert group is None
        else:
            assert_array_equal(np.array(["female", "male"])[group], GROUP)
    # The loss is not: with or without groups the same.
    assert len(seen) == 3
    assert_same_bits(fitted, projector(sampler=once).fit(X, IDENTITY))


@pytest.mark.parametrize(
    ("head", "base", "margin"),
    [("mlp", "softmax", 0.35), ("residual", "cosface", 0.2)],
)
def test_alpha_zero_is_an_ethical_module_of_one_kappa(head, base, margin):
    ours = projector(alpha=0.0, base=base, margin=margin, head=head)
    ours.fit(X, IDENTITY)
    kept = {"groups": None, "head": head, "init": "random"}
    kept["margin"] = 0.0 if base == "softmax" else margin
    theirs = module(**kept, kappa0=16.0, kappa1=16.0).fit(X, IDENTITY)
    assert_allclose(ours.transform(X), theirs.transform(X), atol=2e-3)
    assert losses(ours)["train_loss"] == pytest.approx(
        losses(theirs)["train_loss"], rel=1e-3
    )
    assert math.isnan(ours.threshold_)


def test_every_option_arrives_at_the_loss():
    options = {"penalty": "mean_square", "base": "arcface", "weighting": "cosine"}
    options |= {"far": 0.3, "alpha": 1.0, "scale": 8.0, "margin": 0.1, "momentum": 0.9}
    made = projector(**options)
    loss = made._make_loss(people_of(IDENTITY), None, 16, None, torch.Generator())
    assert {name: getattr(loss, name) for name in options} == options


@pytest.mark.parametrize("base", ["arcface", "softmax"])
def test_people_held_out_are_judged_by_the_base_alone(base):
    given = projector(base=base, alpha=5.0)
    people, embeddings = people_of(IDENTITY), torch.from_numpy(trained().transform(X))
    expected = held_out_cross_entropy(
        embeddings,
        torch.from_numpy(people.y),
        scale=torch.full((40,), 16.0),
        margin=lambda cosine: target_cosine(cosine, base, 0.35),
    )
    loss = given._make_loss(people, None, 16, None, None)
    y = torch.from_numpy(people.y)
    assert given._held_out_loss(people, loss, embeddings, y, None) == expected
    plain = held_out_cross_entropy(
        embeddings, torch.from_numpy(people.y), scale=torch.full((40,), 16.0)
    )
    assert expected == plain if base == "softmax" else expected > plain
