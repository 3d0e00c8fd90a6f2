"""A small set of faces and a quick EthicalModule, for the tests of projectors."""

import numpy as np
import torch
from numpy.testing import assert_array_equal
from skorch.callbacks import Callback

from skfairfr import EthicalModule, face_labels, make_face_embeddings
from skfairfr.projectors._people import everyone, read_labels
from skfairfr.projectors._training import DeviceRows

HALVES = {"male": 0.5, "female": 0.5}
FACES = make_face_embeddings(40, 4, 16, groups=HALVES, random_state=0)
X, IDENTITY, GROUP = FACES.X, FACES.y, FACES.sensitive_features
Y = face_labels(IDENTITY, GROUP)
# So noisy that the loss of people held out rises after a few epochs at NOISY_LR.
NOISY = X + 0.6 * np.random.default_rng(0).standard_normal(X.shape).astype(np.float32)
NOISY_LR = 0.003
# Enough people for a FAR of 1e-3 in each group of a held-out half.
MORE = make_face_embeddings(120, 4, 16, groups=HALVES, random_state=1)
MORE_Y = face_labels(MORE.y, MORE.sensitive_features)


def module(**options):
    """Three short epochs of the paper's head with unlike kappas, the same in every run."""
    usual = {
        "head": "mlp",
        "lr": 0.01,
        "groups": ("male", "female"),
        "max_epochs": 3,
        "batch_size": 64,
    }
    if options.get("head", "mlp") == "mlp":
        usual["init"] = "random"
    usual |= {"device": "cpu", "random_state": 0, "kappa0": 25.0, "kappa1": 15.0}
    return EthicalModule(**(usual | options))


def without_groups(**options):
    """One kappa for all, for labels without groups."""
    return module(kappa1=25.0, groups=None, **options)


def assert_same_bits(one, other):
    """Two fitted modules are equal, and have the same history but for the seconds."""
    assert_array_equal(one.centroids_, other.centroids_)
    assert_array_equal(one.identities_, other.identities_)
    weights = other.head_.state_dict()
    for name, values in one.head_.state_dict().items():
        assert_array_equal(values.numpy(), weights[name].numpy())
    assert losses(one) == losses(other)


def losses(fitted):
    """The columns of the history without the seconds."""
    table = fitted.history_.drop(columns="dur")
    return {name: table[name].tolist() for name in table}


class Stop(Exception):
    """Raised by a callback to break a fit off."""


class Breaking(Callback):
    """Raises an error after an epoch, whose checkpoint is written, or at a batch in it.

    A KeyboardInterrupt is raised at the end of the epoch, as skorch's EarlyStopping does.
    """

    def __init__(self, epoch, error=Stop, at="epoch"):
        self.epoch = epoch
        self.error = error
        self.at = at

    def on_train_begin(self, net, **kwargs):
        self.has_raised_ = False

    def _raise(self, at, is_time):
        if at == self.at and is_time and not self.has_raised_:
            self.has_raised_ = True
            raise self.error

    def on_epoch_begin(self, net, **kwargs):
        self._raise("epoch", len(net.history) == self.epoch + 1)

    def on_train_end(self, net, **kwargs):
        self._raise("epoch", len(net.history) == self.epoch)

    def on_epoch_end(self, net, **kwargs):
        stops = self.error is KeyboardInterrupt
        self._raise("epoch", stops and len(net.history) == self.epoch)

    def on_batch_end(self, net, **kwargs):
        self._raise("batch", len(net.history) == self.epoch)


class Counting(Callback):
    """Counts the epochs that were begun and ended, and keeps every batch trained on."""

    def on_train_begin(self, net, **kwargs):
        self.n_begun, self.n_ended, self.batches = 0, 0, []

    def on_epoch_begin(self, net, **kwargs):
        self.n_begun += 1

    def on_epoch_end(self, net, **kwargs):
        self.n_ended += 1

    def on_batch_begin(self, net, batch=None, training=False, **kwargs):
        if training:
            self.batches.append(tuple(part.clone() for part in batch))


def every_other_twice(identity, group, generator):
    """A sampler that draws."""
    start = int(torch.randint(2, (1,), generator=generator))
    return np.repeat(np.arange(start, len(identity), 2), 2)


def people_of(y, sensitive_features=None):
    """Everyone, with the codes of the groups they were given with."""
    identity, group, _ = read_labels(y, sensitive_features, None, len(y))
    return everyone(identity, group)


def rows_of(X):
    """The embeddings, for the CPU."""
    return DeviceRows(np.asarray(X), torch.device("cpu"))
