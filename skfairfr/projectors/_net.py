"""The training loop: rows on the device, batches that are slices of them, the net.

No loader, no worker, no Python over samples. The net is skorch's, without its loader and
its split.
"""

from dataclasses import dataclass

import numpy as np
import torch
from skorch import NeuralNet
from skorch.callbacks import EpochTimer, PassthroughScoring

from skfairfr.samplers._torch import GroupSampler
from skfairfr.utils._errors import Argument, ArgumentError
from skfairfr.utils._torch import precision_of_products, threads_for
from skfairfr.utils._validation import MOST

OPTIMIZERS = {
    "adam": torch.optim.Adam,
    "adamw": torch.optim.AdamW,
    "sgd": torch.optim.SGD,
}


# Entries of an epoch that are no column of the history.
NOT_SHOWN = ("batches", "train_batch_count")


class DeviceRows:
    """The embeddings, held where taking slices of them is cheapest.

    Parameters
    ----------
    X : ndarray, shape (n_samples, n_features)
        May be a memory map larger than memory: on the CPU only the rows of a batch are
        read. An accelerator holds the whole of it if half the free memory suffices.
    device : torch.device
    """

    def __init__(self, X, device):
        self.device = device
        self.shape = X.shape
        self._rows = _resident(X, device) if device.type != "cpu" else X

    def take(self, place):
        """The rows at ``place``, as float32 on the device.

        Parameters
        ----------
        place : slice, or tensor of int64 on the CPU, shape (n_taken,)
        """
        if isinstance(self._rows, torch.Tensor):
            on_device = place if isinstance(place, slice) else place.to(self.device)
            return self._rows[on_device]
        block = self._rows[place if isinstance(place, slice) else place.numpy()]
        block = np.ascontiguousarray(block, dtype=np.float32)
        if not block.flags.writeable:
            block = block.copy()
        return torch.from_numpy(block).to(self.device)

    def in_order(self, size, index=None):
        """The rows (of an index, an array of int), ``size`` at a time."""
        n_samples = self.shape[0] if index is None else len(index)
        for start in range(0, n_samples, size):
            part = slice(start, min(start + size, n_samples))
            yield self.take(part if index is None else torch.as_tensor(index[part]))


class Batches:
    """Iterates over the batches (rows, identity) of an epoch, a new epoch each time.

    Parameters
    ----------
    rows : DeviceRows
    index : ndarray of int64, shape (n_train,)
        Which rows of X are trained on.
    y : ndarray of int64, shape (n_train,)
        Identity of each.
    batch_size : int
    generator : torch.Generator
    sampler : callable, default=None
        ``sampler(generator)`` gives the positions (n_draws,) of an epoch within ``index``,
        or a list of arrays, the positions of every batch; None: each once, in random
        order.
    """

    def __init__(self, rows, index, y, batch_size, generator, sampler=None):
        self.rows = rows
        self.index = torch.as_tensor(index)
        self.y = torch.as_tensor(y)
        self.batch_size = batch_size
        self.generator = generator
        self.sampler = sampler

    def __iter__(self):
        n_train = len(self.index)
        for place in epoch_positions(
            self.sampler, self.generator, n_train, self.batch_size
        ):
            # Neighbours on disk are read together; the order within a batch is free.
            place = place.sort().values
            y = self.y[place].to(self.rows.device)
            yield self.rows.take(self.index[place]), y

    def __len__(self):
        return -(-len(self.index) // self.batch_size)


@dataclass(frozen=True)
class EpochPlan:
    """Batches of an epoch, with their callbacks and metrics.

    Attributes
    ----------
    batches : iterable
        As :class:`Batches`, with ``index`` and ``batch_size``.
    callbacks : tuple of skorch callbacks
        Notified before the monitor.
    extra_metrics : callable or None
        ``extra_metrics(embeddings)`` of the people held out gives a dict for the history.
    """

    batches: object
    callbacks: tuple = ()
    extra_metrics: object = None


def bind_sampler(sampler, people):
    """The parameter ``sampler`` as a function of the generator alone; None for None."""
    if sampler is None:
        return None
    # Our samplers may have weights keyed by label, so they also get the labels.
    labels = (people.labels,) if isinstance(sampler, GroupSampler) else ()
    return lambda generator: sampler(people.y, people.groups, generator, *labels)


def epoch_positions(sampler, generator, n_train, size):
    """Positions among ``n_train`` images of every batch of an epoch, as tensors.

    Parameters
    ----------
    sampler : callable or None
        As in :class:`Batches`.
    generator : torch.Generator
    n_train : int
    size : int
        Images of a batch, unless the sampler makes the batches.
    """
    size = min(size, MOST)  # torch takes no number above 2**63 - 1
    if sampler is None:
        return torch.randperm(n_train, generator=generator).split(size)
    drawn = sampler(generator)
    if isinstance(drawn, list) and drawn and all(map(_is_batch, drawn)):
        return [_check_positions(batch, n_train) for batch in drawn]
    return _check_positions(drawn, n_train).split(size)


class TrainingStopped(Exception):
    """A callback has asked for the end of the training."""


class EmbeddingNet(NeuralNet):
    """A head and its loss, trained on batches that are slices of one array."""

    stopping = False

    @property
    def _default_callbacks(self):
        loss = PassthroughScoring("train_loss", lower_is_better=None, on_train=True)
        return [("epoch_timer", EpochTimer()), ("train_loss", loss)]

    def get_loss(self, y_pred, y_true, X=None, training=False):
        """The loss of a batch; one that ``takes_inputs`` is given the embeddings, too."""
        if getattr(self.criterion_, "takes_inputs", False):
            return self.criterion_(y_pred, y_true, X)
        return super().get_loss(y_pred, y_true, X, training)

    def check_data(self, X, y=None):
        """Skip skorch's check; ``fit`` has validated the data."""

    def get_split_datasets(self, X, y=None, **fit_params):
        return X, None

    def get_iterator(self, dataset, training=False):
        return dataset

    def notify(self, method_name, **kwargs):
        """Notify every callback of an epoch's end before one of them stops the training.

        A callback stops it by a KeyboardInterrupt, as skorch's EarlyStopping does. An
        interrupt by the user, during an epoch or in a callback of ours, is raised.
        """
        if method_name != "on_epoch_end":
            super().notify(method_name, **kwargs)
            return
        for _, callback in self.callbacks_:
            try:
                callback.on_epoch_end(self, **kwargs)
            except KeyError as error:
                self._check_history(callback, error)
                raise
            except KeyboardInterrupt:
                if type(callback).__module__.startswith("skfairfr."):
                    raise
                self.stopping = True
        if self.stopping:
            raise TrainingStopped

    def _check_history(self, callback, error):
        """Raise where a callback looked for what the history does not hold."""
        place = error.__traceback__
        while place.tb_next is not None:
            place = place.tb_next
        if place.tb_frame.f_globals["__name__"] != "skorch.history":
            return
        held = ", ".join(
            repr(name) for name in self.history[-1] if name not in NOT_SHOWN
        )
        raise ArgumentError(
            *(Argument("callbacks"), f": {type(callback).__name__} failed with "),
            f"{error.args[0].rstrip('.')!r}; the history holds {held}.",
            remedy=(
                "Let it look for one of them. 'valid_loss' is there with ",
                *(Argument("validation_fraction", 0.2), "."),
            ),
            value=callback,
        ) from error


def make_net(head, loss, callbacks, *, optimizer, lr, max_epochs, device):
    """A net ready to train.

    Parameters
    ----------
    head, loss : nn.Module
        Moved to the device and trained in place.
    callbacks : list of skorch callbacks
        In the order they are notified.
    optimizer : str
        One of OPTIMIZERS.
    lr : float
    max_epochs : int
    device : torch.device

    Returns
    -------
    net : EmbeddingNet
    """
    return EmbeddingNet(
        module=head,
        criterion=loss,
        optimizer=OPTIMIZERS[optimizer],
        optimizer__fused=True,
        lr=lr,
        max_epochs=max_epochs,
        callbacks=callbacks,
        train_split=None,
        device=device,
        verbose=0,
    ).initialize()


def train(net, batches, precision):
    """Train until all epochs are done or a callback stops."""
    net.notify("on_train_begin", X=None, y=None)
    left = 0 if net.stopping else net.max_epochs - len(net.history)
    try:
        device = torch.device(net.device)
        threads = threads_for(_operations_of_step(net, batches))
        with precision_of_products(precision, device), threads:
            net.fit_loop(batches, epochs=left)
    except TrainingStopped:
        pass
    finally:
        net.notify("on_train_end", X=None, y=None)


def history_columns(history):
    """The history as columns of equal length; None where an epoch has no such entry."""
    names = []
    for epoch in history:
        names += [n for n in epoch if n not in names and n not in NOT_SHOWN]
    return {name: [epoch.get(name) for epoch in history] for name in names}


def _operations_of_step(net, batches):
    """Multiplications and additions of a step: forward and backward, for every weight."""
    n_weights = sum(
        parameter.numel() for _, parameter in net.get_all_learnable_params()
    )
    return 6 * min(batches.batch_size, len(batches.index)) * n_weights


def _is_batch(positions):
    return isinstance(positions, torch.Tensor | np.ndarray) and positions.ndim == 1


def _check_positions(positions, n_train):
    """The positions that a caller's sampler gave, as a tensor of int64."""
    positions = np.asarray(positions)
    if positions.ndim != 1 or positions.dtype.kind not in "iu" or positions.size == 0:
        raise ValueError(
            "sampler must give positions as integers of shape (n_draws,), one at least; "
            f"got shape {positions.shape} of type {positions.dtype}."
        )
    lowest, highest = positions.min(), positions.max()
    if lowest < 0 or highest >= n_train:
        raise ValueError(
            f"sampler must give positions in 0..{n_train - 1}, among the images trained "
            f"on; got {lowest} to {highest}."
        )
    return torch.as_tensor(positions.astype(np.int64))


def _resident(X, device):
    """X on the device, or X itself where it would fill more than half of what is free."""
    free, _ = torch.cuda.mem_get_info(device)
    if X.shape[0] * X.shape[1] * 4 > free // 2:
        return X
    rows = torch.empty(X.shape, dtype=torch.float32, device=device)
    step = max(1, (1 << 26) // X.shape[1])
    for start in range(0, X.shape[0], step):
        block = np.array(X[start : start + step], dtype=np.float32)
        rows[start : start + step] = torch.from_numpy(block)
    return rows
