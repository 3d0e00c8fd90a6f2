"""The net: a head from unit rows to unit rows, batches that are slices of rows, and the loop.

No loader, no worker, no Python over samples. The net is skorch's, without its loader until
it is fitted. Own callbacks do what skorch's do not: ``Schedule`` sets a rate by ``final_lr``,
``HeldOutRates`` measures validation people, ``Monitor`` keeps the best head with its centroids and
stops the fit, ``Checkpoint`` writes the state from which a fit can be resumed. A killed fit is
resumed from its checkpoint: one file for each fit, named by a hash of the data and the options.
"""

import math
import sys
from copy import deepcopy
from functools import partial
from inspect import unwrap
from pathlib import Path

import joblib
import numpy as np
import torch
from skorch import NeuralNet
from skorch.callbacks import Callback, LRScheduler
from torch import nn
from torch.nn.functional import normalize, relu
from torch.utils._pytree import tree_map

from skfairfr.samplers._torch import GroupSampler
from skfairfr.utils import _saved
from skfairfr.utils._errors import invalid
from skfairfr.utils._torch import new_linear, precision_of_products
from skfairfr.utils._validation import check_path

HEADS = ("residual", "mlp")
# Features at which ``lr`` is the rate of the optimizer itself. See rate_scale.
FEATURES_OF_RATE = 64
# Rows projected at a time where nothing is trained.
BLOCK_ROWS = 8192


def rate_scale(head):
    """Optimizer's rate over ``lr``: 64 / n_features for the residual head, else 1.

    Adam moves every weight by the rate, whatever the gradient. The residual head starts
    with an output of zero, and its 2 n_features hidden units then move a unit row by about
    0.65 rate n_features in one step, the same for all rows. The scale makes that 0.65 lr 64 for any
    number of features. The other head draws its output, and is the paper's with its rate.
    """
    return FEATURES_OF_RATE / head.sizes[0] if head.kind == "residual" else 1.0


class ProjectionHead(nn.Module):
    """Embeddings of any length in, unit rows out.

    A matcher by cosines ignores the length of an embedding, and so does the head: it
    normalises its input first. A row of zeros has no direction and stays a row of zeros,
    which is an error in a comparison by cosines.

    Parameters
    ----------
    n_features : int
    hidden_dim : int
    output_dim : int
    kind : {"mlp", "residual"}
        Of the unit row x. "mlp": W2 relu(W1 x + b1) + b2 (EM22 section 4). "residual": x
        plus that, with W2 and b2 zero at first: it starts as the identity map and needs
        output_dim = n_features.
    generator : torch.Generator, default=None
        Draws the weights, by the distribution of ``nn.Linear``.
    """

    def __init__(self, n_features, hidden_dim, output_dim, kind, generator=None):
        super().__init__()
        if kind == "residual" and output_dim != n_features:
            problem = f"must be the {n_features} features of X, to which head='residual' adds, "
            remedy = "Leave it None, or use head='mlp'."
            raise invalid(
                "output_dim", output_dim, f"{problem}got {output_dim}.", remedy
            )
        self.kind = kind
        self.hidden = new_linear(n_features, hidden_dim, generator)
        self.output = new_linear(hidden_dim, output_dim, generator)
        if kind == "residual":
            nn.init.zeros_(self.output.weight)
            nn.init.zeros_(self.output.bias)

    @property
    def sizes(self):
        """Features in, hidden and out."""
        return (
            self.hidden.in_features,
            self.hidden.out_features,
            self.output.out_features,
        )

    def forward(self, x):
        """Unit rows.

        Parameters
        ----------
        x : tensor, shape (n_samples, n_features)

        Returns
        -------
        z : tensor of float32, shape (n_samples, output_dim)
        """
        x = normalize(x.to(self.hidden.weight.dtype))
        known = (x != 0).any(dim=1, keepdim=True)
        z = self.output(relu(self.hidden(x))).to(x.dtype)
        return normalize(x + z if self.kind == "residual" else z) * known

    def extra_repr(self):
        return f"kind={self.kind!r}"


def made(given, generator, *sizes):
    """A copy of a module, or what a callable makes of sizes, drawn by the generator's seed."""
    if isinstance(given, nn.Module):
        return deepcopy(given)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(generator.initial_seed())
        return given(*sizes)


class OwnHead(nn.Module):
    """A head of the caller's between unit rows: of its input, and of its output.

    Parameters
    ----------
    given : nn.Module, copied, or callable
        ``given(n_features)`` makes a module that maps (n_samples, n_features) tensors to
        (n_samples, n_features_out).
    n_features : int
    generator : torch.Generator
    """

    kind = "own"

    def __init__(self, given, n_features, generator):
        super().__init__()
        module = made(given, generator, n_features)
        rows = torch.zeros(2, n_features, dtype=torch.get_default_dtype())
        with torch.no_grad():
            out = module.eval()(rows) if isinstance(module, nn.Module) else None
        if not isinstance(out, torch.Tensor) or out.ndim != 2 or len(out) != 2:
            problem = f"must be a name, a torch module of {n_features} features, or a function "
            problem += f"of their number that makes one, got {given!r}."
            raise invalid("head", given, problem)
        self.module = module.train()
        self.sizes = n_features, None, out.shape[1]

    def forward(self, x):
        """Unit rows, as those of :class:`ProjectionHead`."""
        x = normalize(x.to(torch.get_default_dtype()))
        known = (x != 0).any(dim=1, keepdim=True)
        return normalize(self.module(x).to(x.dtype)) * known


@torch.no_grad()
def project(head, rows, index=None):
    """Unit rows of the embeddings, a block of them at a time.

    Parameters
    ----------
    head : ProjectionHead
        On the device of ``rows``.
    rows : DeviceRows
    index : ndarray of int, shape (n_chosen,), default=None
        Which rows, in this order. If None, all.

    Returns
    -------
    projected : ndarray of float32, shape (n_chosen, output_dim)
    """
    head.eval()
    n_chosen = rows.shape[0] if index is None else len(index)
    projected = np.empty((n_chosen, head.sizes[2]), dtype=np.float32)
    start = 0
    for block in rows.in_order(BLOCK_ROWS, index):
        projected[start : start + len(block)] = head(block).cpu().numpy()
        start += len(block)
    return projected


@torch.no_grad()
def sums_by_identity(rows, people, head=None):
    """Sum of each identity's unit rows as a head makes them, or as they come.

    Returns
    -------
    sums : ndarray of float32, shape (n_identities, n_features)
    """
    n_features = rows.shape[1] if head is None else head.sizes[2]
    head = normalize if head is None else deepcopy(head).to(rows.device).eval()
    total = torch.zeros(people.identities.size, n_features, dtype=torch.float32)
    y, places = torch.as_tensor(people.y), torch.as_tensor(people.rows)
    for own, part in zip(y.split(BLOCK_ROWS), places.split(BLOCK_ROWS), strict=True):
        total.index_add_(0, own, head(rows.take(part)).float().cpu())
    return total.numpy()


# ---- training ------------------------------------------------------------------------


# Options that do not change the data or the steps of a fit.
WITHOUT_EFFECT = ("checkpoint_dir", "verbose", "callbacks", "random_state")
N_HASHED_ROWS = 4096
# What to do about a checkpoint that cannot be read.
REMEDY = "delete it to start again"


class DeviceRows:
    """The embeddings, stored where taking slices of them is cheapest.

    Parameters
    ----------
    X : ndarray, shape (n_samples, n_features)
        May be a memory map larger than memory: on the CPU only the rows of a batch are
        read. An accelerator stores the whole of it if half the free memory suffices.
    device : torch.device
    """

    def __init__(self, X, device):
        self.device = device
        self.shape = X.shape
        self._rows = X
        if device.type != "cpu":
            free, _ = torch.cuda.mem_get_info(device)
            if 8 * X.shape[0] * X.shape[1] <= free:
                self._rows = torch.tensor(X, dtype=torch.float32, device=device)

    def take(self, place):
        """The rows at ``place``, as float32 on the device.

        Parameters
        ----------
        place : tensor of int64 on the CPU, shape (n_taken,)
        """
        if isinstance(self._rows, torch.Tensor):
            return self._rows[place.to(self.device)]
        block = np.ascontiguousarray(self._rows[place.numpy()], dtype=np.float32)
        return torch.from_numpy(block).to(self.device)

    def in_order(self, size, index=None):
        """The rows (of an index, an array of int), ``size`` at a time."""
        index = np.arange(self.shape[0]) if index is None else index
        for places in torch.as_tensor(index).split(size):
            yield self.take(places)


class Batches:
    """Iterates over the batches (rows, identity) of an epoch, a new epoch each time.

    Parameters
    ----------
    rows : DeviceRows
    people : People
        Trained on.
    batch_size : int
    generator : torch.Generator
    sampler : callable, default=None
        ``sampler(generator)`` gives the positions (n_draws,) of an epoch among the images,
        or a list of arrays, the positions of every batch. If None, each once, in random
        order.
    """

    def __init__(self, rows, people, batch_size, generator, sampler=None):
        self.rows = rows
        self.index = torch.as_tensor(people.rows)
        self.y = torch.as_tensor(people.y)
        self.batch_size = batch_size
        self.generator = generator
        self.sampler = sampler

    def __iter__(self):
        n_train = len(self.index)
        for place in epoch_positions(
            self.sampler, self.generator, n_train, self.batch_size
        ):
            # Neighbours on disk are read together. The order within a batch is free.
            place = place.sort().values
            y = self.y[place].to(self.rows.device)
            yield self.rows.take(self.index[place]), y

    def __len__(self):
        return len(self.index)


def bind_sampler(sampler, people):
    """The parameter ``sampler`` as a function of the generator alone, or None for None."""
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
        Images of a batch, unless the sampler makes the batches. More than torch can count
        are all.
    """
    size = min(size, sys.maxsize)
    if sampler is None:
        return torch.randperm(n_train, generator=generator).split(size)
    drawn = sampler(generator)
    if isinstance(drawn, list) and drawn and getattr(drawn[0], "ndim", 0) == 1:
        return [_check_positions(batch, n_train) for batch in drawn]
    return _check_positions(drawn, n_train).split(size)


class EmbeddingNet(NeuralNet):
    """A head and its loss, trained on batches that are slices of one array.

    The validation set is one batch, whose rows are those of ``transform`` and whose loss is
    of its own kind, since its people have no centroids.

    Attributes
    ----------
    held_out : list of one pair (rows, identity), or None
    held_out_loss : callable
        ``held_out_loss(embeddings, y, X)`` gives a float.
    takes_batches : bool
        Whether it is given batches, which make themselves, without skorch's data set and
        loader, until it is trained.
    """

    held_out = held_out_loss = None
    takes_batches = True

    def hold_out(self, people, rows, loss):
        """Take people as the validation set. Their rows make one batch."""
        y = torch.as_tensor(people.y, device=rows.device)
        self.held_out = [(rows.take(torch.as_tensor(people.rows)), y)]
        self.held_out_loss = loss
        self.iterator_valid__batch_size = people.rows.size  # of a bar

    def get_dataset(self, X, y=None):
        """Batches as they are."""
        return X if self.takes_batches else super().get_dataset(X, y)

    def get_split_datasets(self, X, y=None, **fit_params):
        """Batches, and the validation people."""
        return X, self.held_out

    def get_iterator(self, dataset, training=False):
        """Batches as they are."""
        return (
            dataset if self.takes_batches else super().get_iterator(dataset, training)
        )

    def get_loss(self, y_pred, y_true, X=None, training=False):
        """The loss of a batch. One that ``takes_inputs`` is given the embeddings, too."""
        if not training:
            loss = self.held_out_loss(y_pred.float(), y_true, X)
            return torch.as_tensor(loss, dtype=torch.float64)
        takes_inputs = getattr(self.criterion_, "takes_inputs", False)
        return self.criterion_(y_pred, y_true, *([X] if takes_inputs else []))

    def validation_step(self, batch, **fit_params):
        """In float32, whatever the precision of the training."""
        with precision_of_products("float32", torch.device(self.device)):
            return super().validation_step(batch, **fit_params)


class Adam(torch.optim.Adam):
    """torch's, without the wrappers that import torch.compile: half of a first fit."""

    add_param_group = unwrap(torch.optim.Adam.add_param_group)
    load_state_dict = unwrap(torch.optim.Adam.load_state_dict)
    state_dict = unwrap(torch.optim.Adam.state_dict)
    zero_grad = unwrap(torch.optim.Adam.zero_grad)
    step = torch.no_grad()(unwrap(torch.optim.Adam.step))


def optimizer_of(given):
    """The parameter ``optimizer`` as a partial of a class."""
    if isinstance(given, str):
        return partial(Adam, fused=True)
    return given if isinstance(given, partial) else partial(given)


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
    net.notify("on_train_begin", X=None, y=None)
    try:
        with precision_of_products(precision, torch.device(net.device)):
            while len(net.history) < net.max_epochs and not monitor.has_enough:
                net.fit_loop(batches, epochs=1)
    except KeyboardInterrupt:
        # skorch's callbacks stop a training by this error, too, after ours have been heard.
        if monitor.name not in net.history[-1]:
            del net.history[-1]
            if not net.history:
                raise
            return True
    finally:
        net.notify("on_train_end", X=None, y=None)
    return False


def release(net, callbacks):
    """Leave a trained net without images, our callbacks and the optimizer's state.

    Its ``predict`` and ``forward`` take arrays, as those of any net of skorch's.
    """
    net.takes_batches = False
    net.held_out = net.held_out_loss = None
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
    """The history as columns of equal length, or None where an epoch has no such entry."""
    hidden = "_best", "_batch_count"
    names = dict.fromkeys(name for epoch in history for name in epoch)
    shown = [n for n in names if n != "batches" and not n.endswith(hidden)]
    return {name: [epoch.get(name) for epoch in history] for name in shown}


def _check_positions(positions, n_train):
    """The positions that a caller's sampler gave, as a tensor of int64."""
    positions = np.asarray(positions)
    shape = positions.ndim == 1 and positions.size and positions.dtype.kind in "iu"
    if not shape or positions.min() < 0 or positions.max() >= n_train:
        problem = f"must give positions in 0..{n_train - 1}, integers of shape (n_draws,), got "
        shown = positions.ravel()[:5]
        problem += f"shape {positions.shape}, type {positions.dtype}: {shown}."
        raise invalid("sampler", positions, problem)
    return torch.as_tensor(positions.astype(np.int64))


class Schedule(Callback):
    """Sets the learning rate, falling geometrically to ``fall`` times the first one.

    With None it records the rate alone, which is the caller's to schedule.
    """

    def __init__(self, fall):
        self.fall = fall

    def on_train_begin(self, net, **kwargs):
        of_caller = any(isinstance(c, LRScheduler) for _, c in net.callbacks_)
        if self.fall is not None and of_caller:
            raise ValueError(
                "final_lr sets the rate of every epoch, and an LRScheduler among callbacks "
                "does so, too. Set final_lr=None."
            )

    def on_epoch_begin(self, net, **kwargs):
        groups = net.optimizer_.param_groups
        if self.fall is not None:
            share = (len(net.history) - 1) / max(1, net.max_epochs - 1)
            for group in groups:
                group["lr"] = net.lr * self.fall**share
        net.history.record("lr", groups[0]["lr"])


class Monitor(Callback):
    """Keeps the best weights, and knows when there is enough without improvement.

    skorch's EarlyStopping keeps no centroids, and no state from which a fit can be resumed.

    Parameters
    ----------
    name : str
        The entry of the history that is compared, smaller is better.
    keeps_best : bool, default=False
        Whether the best weights are kept instead of the last.
    patience : int, default=None
        Epochs without improvement before training stops.
    """

    def __init__(self, name, keeps_best=False, patience=None):
        self.name = name
        self.keeps_best = keeps_best
        self.patience = patience

    def initialize(self):
        self.state_ = {"best": math.inf, "stale": 0, "weights": None}
        return self

    @property
    def has_enough(self):
        """Whether the last epochs brought no improvement."""
        return self.patience is not None and self.state_["stale"] >= self.patience

    def on_epoch_end(self, net, **kwargs):
        loss = net.history[-1]["train_loss"]
        if not math.isfinite(loss):
            problem = f"is too high: the training loss became {loss} in epoch "
            raise invalid("lr", net.lr, f"{problem}{len(net.history)};", "lower it.")
        # skorch records numbers of numpy. A checkpoint contains numbers of Python only.
        state, value = self.state_, float(net.history[-1][self.name])
        if value < state["best"]:
            state.update(best=value, stale=0)
            if self.keeps_best:
                state["weights"] = deepcopy(parts_of(net).state_dict())
        else:
            state["stale"] += 1

    def on_train_end(self, net, **kwargs):
        if self.state_["weights"] is not None:
            parts_of(net).load_state_dict(self.state_["weights"])


class Checkpoint(Callback):
    """Writes, after every epoch, the state from which a fit can be resumed.

    Parameters
    ----------
    path : Path
    seed : int
        Of all draws of the fit.
    generator : torch.Generator
        Of the batches.
    monitor : Monitor
    """

    def __init__(self, path, seed, generator, monitor):
        self.path = path
        self.seed = seed
        self.generator = generator
        self.monitor = monitor

    def on_epoch_end(self, net, **kwargs):
        state = {
            "seed": self.seed,
            "weights": parts_of(net).state_dict(),
            "optimizer": net.optimizer_.state_dict(),
            "generator": self.generator.get_state(),
            "monitor": self.monitor.state_,
            "history": [{**epoch, "batches": []} for epoch in net.history],
        }
        # Whole or not at all: a fit killed while writing leaves the previous epoch.
        _saved.write(self.path, tree_map(_to_array, state))


def checkpoint_path(estimator, X, people, seed):
    """The file of this fit in ``checkpoint_dir``: the same for the same data and options.

    Searches share one directory, so different fits must not share a file. The hash covers
    4,096 rows of X, all labels and the options. Without ``random_state`` it leaves the
    seed out: a fit is resumed with the seed that it was started with.

    Parameters
    ----------
    estimator : BaseProjector
    X : ndarray, shape (n_samples, n_features)
    people : People
    seed : int

    Returns
    -------
    path : Path
        Its directory exists.
    """
    settings = {
        name: _option_hash(name, value)
        for name, value in estimator.get_params(deep=False).items()
        if name not in WITHOUT_EFFECT
    }
    settings["seed"] = None if estimator.random_state is None else seed
    sample = np.linspace(0, len(X) - 1, min(len(X), N_HASHED_ROWS)).astype(np.int64)
    digest = joblib.hash([settings, X.shape, X[sample], vars(people)])
    directory = Path(check_path(estimator.checkpoint_dir, "checkpoint_dir"))
    directory.mkdir(parents=True, exist_ok=True)
    return directory / f"{type(estimator).__name__}-{digest[:16]}.safetensors"


def read_checkpoint(path):
    """The state in a file, on the CPU, or None where there is no file.

    Raises
    ------
    ValueError
        If the file cannot be read.
    """
    if not path.exists():
        return None
    return tree_map(_to_tensor, _saved.read(path, REMEDY))


def _to_array(value):
    """A tensor as an array. ``bfloat16``, which numpy lacks, as float32, which contains it exactly."""
    if not isinstance(value, torch.Tensor):
        return value
    value = value.float() if value.dtype == torch.bfloat16 else value
    return value.numpy(force=True)


def _to_tensor(value):
    return torch.from_numpy(value) if isinstance(value, np.ndarray) else value


def resume(path, state, net, generator, monitor):
    """Restore net, generator and monitor from the ``state`` of a checkpoint."""
    with _saved.damage_named(path, REMEDY):
        parts_of(net).load_state_dict(state["weights"])
        net.optimizer_.load_state_dict(state["optimizer"])
        generator.set_state(state["generator"])
        monitor.state_ = state["monitor"]
        net.history.extend(state["history"])


def parts_of(net):
    """Head and loss as one module, for their weights."""
    return torch.nn.ModuleDict({"head": net.module_, "loss": net.criterion_})


def _option_hash(name, value):
    """A hash of an option, the same in another process."""
    if isinstance(value, torch.nn.Module):
        weights = {n: w.numpy(force=True) for n, w in value.state_dict().items()}
        value = repr(value), weights
    try:
        return joblib.hash(value)
    except Exception as error:  # what cannot be pickled raises many kinds
        problem = f"is {value!r}, which checkpoint_dir cannot distinguish from others;"
        remedy = "give a function or class that can be imported by name."
        raise invalid(name, value, problem, remedy) from error
