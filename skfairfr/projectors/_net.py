"""The training loop: rows on the device, batches that are slices of them, the net.

No loader, no worker, no Python over samples. The net is skorch's, without its loader.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from skorch import NeuralNet
from skorch.callbacks import Callback

from skfairfr.samplers._torch import GroupSampler
from skfairfr.utils._errors import Argument, ArgumentError
from skfairfr.utils._torch import precision_of_products, threads_for
from skfairfr.utils._validation import MOST


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
        return len(self.index)


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


class EmbeddingNet(NeuralNet):
    """A head and its loss, trained on batches that are slices of one array.

    People held out are the validation set: one batch, whose rows are those of ``transform``
    and whose loss is of its own kind, since they have no centroids.
    """

    held_out = None

    def get_loss(self, y_pred, y_true, X=None, training=False):
        """The loss of a batch; one that ``takes_inputs`` is given the embeddings, too."""
        if not training:
            loss = self.held_out.loss(y_pred.float())
            return torch.as_tensor(loss, dtype=torch.float64)
        if getattr(self.criterion_, "takes_inputs", False):
            return self.criterion_(y_pred, y_true, X)
        return super().get_loss(y_pred, y_true, X, training)

    def validation_step(self, batch, **fit_params):
        """In float32, whatever the precision of the training."""
        with precision_of_products("float32", torch.device(self.device)):
            return super().validation_step(batch, **fit_params)


class HeldOutBatch:
    """Iterates over one batch (rows, identity): all images of people held out.

    Parameters
    ----------
    rows : DeviceRows
    people : People
    loss : callable
        ``loss(embeddings)`` gives a float.
    """

    def __init__(self, rows, people, loss):
        self.rows = rows
        self.people = people
        self.loss = loss

    def __iter__(self):
        y = torch.as_tensor(self.people.y, device=self.rows.device)
        yield self.rows.take(torch.as_tensor(self.people.rows)), y

    def __len__(self):
        return len(self.people.rows)


def optimizer_of(given):
    """The parameter ``optimizer`` as a partial of a class."""
    if isinstance(given, str):
        return partial(torch.optim.Adam, fused=True)
    return given if isinstance(given, partial) else partial(given)


def make_net(head, loss, callbacks, held_out, *, optimizer, device, **options):
    """A net ready to train.

    Parameters
    ----------
    head, loss : nn.Module
        Moved to the device and trained in place.
    callbacks : list of skorch callbacks
        In the order they are notified.
    held_out : HeldOutBatch or None
    optimizer : str, class or partial
    device : torch.device
    **options : dict
        ``lr``, ``max_epochs`` and ``batch_size`` of the net.

    Returns
    -------
    net : EmbeddingNet
    """
    optimizer = optimizer_of(optimizer)
    split = None if held_out is None else partial(_and_held_out, held_out)
    net = EmbeddingNet(
        module=head,
        criterion=loss,
        optimizer=optimizer.func,
        **{f"optimizer__{name}": value for name, value in optimizer.keywords.items()},
        dataset=_as_it_is,
        iterator_train=_as_it_is,
        iterator_valid=_as_it_is,
        # Of the one batch, for bars; it is made whole.
        iterator_valid__batch_size=len(held_out or ()) or 1,
        train_split=split,
        callbacks=callbacks,
        callbacks__print_log=None,
        device=device,
        **options,
    )
    net.held_out = held_out
    return net.initialize()


def train(net, batches, monitor, precision):
    """Train until all epochs are done, a callback stops the training, or a person does.

    Parameters
    ----------
    net : EmbeddingNet
    batches : iterable
        As :class:`Batches`.
    monitor : Monitor
    precision : str

    Returns
    -------
    interrupted : bool
        Whether an epoch was broken off, which the history then leaves out.
    """
    left = 0 if monitor.has_enough else net.max_epochs - len(net.history)
    net.notify("on_train_begin", X=None, y=None)
    try:
        device = torch.device(net.device)
        threads = threads_for(_operations_of_step(net, batches))
        with precision_of_products(precision, device), threads:
            net.fit_loop(batches, epochs=left)
    except KeyboardInterrupt:
        # skorch's callbacks stop a training by this error, too, after ours have been heard.
        if monitor.n_epochs < len(net.history):
            del net.history[-1]
            if not net.history:
                raise
            return True
    except KeyError as error:
        _check_history(net, error)
        raise
    finally:
        net.notify("on_train_end", X=None, y=None)
    return False


def release(net, callbacks):
    """Leave a trained net without images, our callbacks and the optimizer's state."""
    net.train_split = net.held_out = None
    net.callbacks = callbacks
    net.callbacks_ = [
        (name, callback)
        for name, callback in net.callbacks_
        if not type(callback).__module__.startswith("skfairfr.")
    ]
    net.optimizer_.zero_grad()
    net.optimizer_.state.clear()
    net.criterion_.cpu()
    net.device = "cpu"


def history_columns(history):
    """The history as columns of equal length; None where an epoch has no such entry."""
    names = []
    for epoch in history:
        names += [n for n in epoch if n not in names and _is_shown(n)]
    return {name: [epoch.get(name) for epoch in history] for name in names}


def _is_shown(name):
    """Whether an entry of an epoch is a column of the history."""
    return name != "batches" and not name.endswith(("_best", "_batch_count"))


def _as_it_is(X, y=None, batch_size=None):
    """Batches make themselves, without skorch's data set and loader."""
    return X


def _and_held_out(held_out, batches):
    return batches, held_out


def _check_history(net, error):
    """Raise where a callback looked for what the history does not hold."""
    callback, place = None, error.__traceback__
    while place.tb_next is not None:
        place = place.tb_next
        found = place.tb_frame.f_locals.get("self")
        callback = found if isinstance(found, Callback) else callback
    if place.tb_frame.f_globals["__name__"] != "skorch.history":
        return
    held = ", ".join(repr(name) for name in filter(_is_shown, net.history[-1]))
    raise ArgumentError(
        *(Argument("callbacks"), f": {type(callback).__name__} failed with "),
        f"{error.args[0].rstrip('.')!r}; the history holds {held}.",
        remedy=(
            "Let it look for one of them. 'valid_loss' is there with ",
            *(Argument("validation_fraction", 0.2), "."),
        ),
        value=callback,
    ) from error


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
