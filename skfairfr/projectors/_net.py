"""The private skorch net: its loop, without its loader and its split.

With ``_callbacks``, the only modules that know skorch.
"""

import torch
from skorch import NeuralNet
from skorch.callbacks import EpochTimer, PassthroughScoring

from skfairfr.utils._torch import precision_of_products, threads_for

OPTIMIZERS = {
    "adam": torch.optim.Adam,
    "adamw": torch.optim.AdamW,
    "sgd": torch.optim.SGD,
}


class TrainingStopped(Exception):
    """A callback has seen enough."""


class EmbeddingNet(NeuralNet):
    """A head and its loss trained on batches that are slices of one array."""

    stopping = False

    @property
    def _default_callbacks(self):
        loss = PassthroughScoring("train_loss", lower_is_better=None, on_train=True)
        return [("epoch_timer", EpochTimer()), ("train_loss", loss)]

    def check_data(self, X, y=None):
        """What comes here has been validated."""

    def get_split_datasets(self, X, y=None, **fit_params):
        return X, None

    def get_iterator(self, dataset, training=False):
        return dataset

    def get_loss(self, y_pred, y_true, X=None, training=False):
        return self.criterion_(y_pred, y_true)

    def notify(self, method_name, **kwargs):
        """All callbacks hear of an epoch's end before one of them stops the training.

        A callback stops it by a KeyboardInterrupt, as skorch's EarlyStopping does. A
        user's own, during an epoch or our measuring and writing, must get out.
        """
        if method_name != "on_epoch_end":
            super().notify(method_name, **kwargs)
            return
        for _, callback in self.callbacks_:
            try:
                callback.on_epoch_end(self, **kwargs)
            except KeyboardInterrupt:
                if type(callback).__module__.startswith("skfairfr."):
                    raise
                self.stopping = True
        if self.stopping:
            raise TrainingStopped


def prepare(head, loss, device, settings, callbacks):
    """A net ready to train.

    Parameters
    ----------
    head, loss : nn.Module
    device : torch.device
    settings : BaseProjector
        Whose training options are read.
    callbacks : list of skorch callbacks
        In the order they are notified.

    Returns
    -------
    net : EmbeddingNet
        Initialised, on the device.
    """
    return EmbeddingNet(
        module=head,
        criterion=loss,
        optimizer=OPTIMIZERS[settings.optimizer],
        optimizer__fused=True,
        lr=settings.lr,
        max_epochs=settings.max_epochs,
        callbacks=callbacks,
        train_split=None,
        device=device,
        verbose=0,
    ).initialize()


def train(net, batches, precision):
    """Train until the epochs are through or a callback stops."""
    net.notify("on_train_begin", X=None, y=None)
    left = 0 if net.stopping else net.max_epochs - len(net.history)
    try:
        device = torch.device(net.device)
        threads = threads_for(_operations(net, batches))
        with precision_of_products(precision, device), threads:
            net.fit_loop(batches, epochs=left)
    except TrainingStopped:
        pass
    finally:
        net.notify("on_train_end", X=None, y=None)
    return net


def _operations(net, batches):
    """Multiplications and additions of a step: each weight's, there and back."""
    n_weights = sum(
        parameter.numel() for _, parameter in net.get_all_learnable_params()
    )
    return 6 * min(batches.batch_size, len(batches.index)) * n_weights


def history_columns(history):
    """The history as columns of equal length; None where an epoch has no such entry."""
    skipped = ("batches", "train_batch_count")
    names = []
    for epoch in history:
        names += [n for n in epoch if n not in names and n not in skipped]
    return {name: [epoch.get(name) for epoch in history] for name in names}
