"""AdversarialProjector: turns of the discriminators, groups, checkpoints, edges."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_array_equal
from skorch.callbacks import Callback

from skfairfr import EthicalModule
from skfairfr.projectors import AdversarialProjector
from skfairfr.projectors._adversarial_projector import TrainDiscriminators
from tests.projectors.faces import (
    GROUP,
    IDENTITY,
    Counting,
    X,
    Y,
    assert_same_bits,
)

UNKNOWN = np.where(IDENTITY % 5 == 0, None, GROUP.astype(object))


def projector(**options):
    """Three short epochs with small discriminators, the same in every run."""
    usual = {"max_epochs": 3, "batch_size": 64, "device": "cpu", "random_state": 0}
    usual |= {"discriminator_dim": 8, "n_discriminators": 2, "discriminator_epochs": 3}
    return AdversarialProjector(**(usual | options))


@pytest.fixture(scope="module")
def fitted():
    return projector().fit(X, Y)


def test_fitted_attributes(fitted):
    assert fitted.identities_.tolist() == sorted(set(IDENTITY.tolist()))
    assert fitted.groups_.tolist() == ["female", "male"]
    assert fitted.centroids_.shape == (40, 16)
    columns = ["epoch", "lr", "group_accuracy", "dur", "train_loss"]
    assert list(fitted.history_) == columns
    assert fitted.history_["group_accuracy"].between(0, 1).all()
    assert not any(p.requires_grad for p in fitted.head_.parameters())


def test_without_weight_it_is_an_ethical_module_of_one_kappa():
    ours = projector(alpha=0.0, scale=12.0).fit(X, Y)
    theirs = EthicalModule(12.0, 12.0, max_epochs=3, batch_size=64)
    theirs.set_params(lr=5e-4, device="cpu", random_state=0).fit(X, Y)
    assert_same_bits(ours, theirs)


@pytest.mark.parametrize(
    ("y", "group"),
    [(IDENTITY, None), (IDENTITY, np.full(len(X), "one")), (IDENTITY, [None] * len(X))],
)
def test_without_two_groups_a_warning_says_so(y, group):
    with pytest.warns(UserWarning, match=r"alpha=0.1 is unused: groups known: \d,"):
        fitted = projector().fit(X, y, group)
    assert_same_bits(fitted, projector(alpha=0.0).fit(X, Y))
    assert "group_accuracy" not in fitted.history_


def test_of_unknown_groups_no_discriminator_learns(monkeypatch):
    seen = []
    train = TrainDiscriminators._train

    def spy(self, loss, which, z, group, generator):
        seen.append((which, z.clone(), group.clone()))
        return train(self, loss, which, z, group, generator)

    monkeypatch.setattr(TrainDiscriminators, "_train", spy)
    batches = Counting()
    projector(callbacks=[batches]).fit(X, IDENTITY, UNKNOWN)
    known = np.flatnonzero([g is not None for g in UNKNOWN])
    for _, z, group in seen:
        assert len(z) == len(group) == known.size
        assert_array_equal(np.array(["female", "male"])[group], UNKNOWN[known])
    # Before the first step the residual head is the identity map.
    unit = X[known] / np.linalg.norm(X[known], axis=1, keepdims=True)
    np.testing.assert_allclose(seen[0][1], unit, atol=1e-6)
    assert sum(len(x) for x, _ in batches.batches) == 3 * len(X)


class Watch(Callback):
    """Keeps the discriminators at the start and the end of each epoch's steps."""

    def on_train_begin(self, net, **kwargs):
        self.before, self.after = [], []

    def on_batch_begin(self, net, **kwargs):
        if len(self.before) < len(net.history):
            self.before.append(self._copy(net))

    def on_epoch_end(self, net, **kwargs):
        self.after.append(self._copy(net))

    def _copy(self, net):
        kept = net.criterion_.discriminators.state_dict()
        return {name: value.clone() for name, value in kept.items()}


def test_the_head_s_steps_leave_discriminators_alone():
    watch = Watch()
    projector(callbacks=[watch]).fit(X, Y)
    for before, after in zip(watch.before, watch.after, strict=True):
        for name in before:
            assert torch.equal(before[name], after[name]), name
    assert any(
        not torch.equal(watch.after[0][name], watch.before[1][name])
        for name in watch.after[0]
    )
