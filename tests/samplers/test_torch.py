"""The samplers in a DataLoader and as a projector's parameter."""

import pickle

import numpy as np
import pytest
import torch
from sklearn.base import clone
from torch.utils.data import DataLoader

from skfairfr import EthicalModule, FPRPenaltyProjector
from skfairfr.samplers import GroupWeightedSampler, HomogeneousBatchSampler
from skfairfr.utils import ArgumentError
from tests.projectors.faces import GROUP, IDENTITY, Counting, X, Y

GROUPS = np.array(["common"] * 90 + ["rare"] * 10)
SAMPLERS = [GroupWeightedSampler, HomogeneousBatchSampler]


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def rare_share(positions, groups=GROUPS):
    return np.mean(groups[np.asarray(positions)] == "rare")


def test_a_loader_serves_groups_by_weight():
    sampler = GroupWeightedSampler(
        GROUPS, weights={"common": 1, "rare": 3}, n_draws=4000, generator=seeded()
    )
    batches = list(DataLoader(torch.arange(100), 32, sampler=sampler))
    assert len(sampler) == 4000 == sum(map(len, batches))
    assert rare_share(torch.cat(batches)) == pytest.approx(0.75, abs=0.03)


def test_a_loader_serves_homogeneous_batches():
    sampler = HomogeneousBatchSampler(GROUPS, batch_size=8, generator=seeded())
    batches = list(DataLoader(torch.arange(100), batch_sampler=sampler))
    assert len(batches) == len(sampler) == 13
    assert {len(np.unique(GROUPS[batch])) for batch in batches} == {1}


@pytest.mark.parametrize("kind", SAMPLERS)
def test_seeded_samplers_repeat_and_epochs_differ(kind):
    first, second = kind(GROUPS, generator=seeded(3)), kind(GROUPS, generator=seeded(3))
    epochs = [list(first), list(first)]
    assert epochs == [list(second), list(second)]
    assert epochs[0] != epochs[1]


@pytest.mark.parametrize("kind", SAMPLERS)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": {"common": 1}}, "weights lacks an entry for"),
        ({"weights": "dynamic"}, "weights must be one of"),
        ({"groups": [None] * 100}, "groups are unknown for every image"),
    ],
)
def test_refused(kind, options, message):
    with pytest.raises(ArgumentError, match=message):
        kind(**({"groups": GROUPS} | options))


@pytest.mark.parametrize(
    "sampler",
    [
        GroupWeightedSampler(weights={"a": 1}, n_draws=7),
        HomogeneousBatchSampler(batch_size=9, n_batches=2),
    ],
)
def test_recipes_are_pickled_cloned_and_shown(sampler):
    again = pickle.loads(pickle.dumps(sampler))
    cloned = clone(EthicalModule(sampler=sampler)).sampler
    assert repr(again) == repr(cloned) == repr(sampler)
    assert "object at" not in repr(sampler)
    assert repr(GroupWeightedSampler(GROUPS)).count("groups of 100 images") == 1


def fitted(estimator, y=Y):
    """A projector fitted for an epoch, and the identities of each of its batches."""
    counting = Counting()
    estimator.set_params(
        callbacks=[counting], max_epochs=1, batch_size=64, random_state=0, device="cpu"
    ).fit(X, y)
    return [batch[1].numpy() for batch in counting.batches]


GENDER = dict(zip(IDENTITY.tolist(), GROUP.tolist(), strict=True))


def groups_of(batch):
    """Groups of the identities of a batch: all are trained on, so codes are labels."""
    return {GENDER[int(identity)] for identity in batch}


def test_projectors_draw_by_weight_and_label():
    only = GroupWeightedSampler(weights={"female": 1, "male": 0}, n_draws=100)
    batches = fitted(FPRPenaltyProjector(sampler=only))
    assert [len(batch) for batch in batches] == [64, 36]
    assert set.union(*map(groups_of, batches)) == {"female"}


def test_projectors_take_homogeneous_batches():
    batches = fitted(EthicalModule(sampler=HomogeneousBatchSampler(batch_size=20)))
    assert [len(batch) for batch in batches] == [20] * 8
    assert {len(groups_of(batch)) for batch in batches} == {1}


def test_a_saved_projector_names_the_sampler_it_leaves_out(tmp_path):
    module = EthicalModule(sampler=GroupWeightedSampler(), max_epochs=1).fit(X, Y)
    with pytest.warns(UserWarning, match=r"leaves out the parameters \['sampler'\]"):
        module.save(tmp_path / "module")
    again = EthicalModule.load(tmp_path / "module")
    assert again.sampler is None
    assert np.array_equal(again.transform(X), module.transform(X))
