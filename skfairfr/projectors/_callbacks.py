"""Between epochs: the learning rate, the monitor, a bar, and checkpoints.

They do what skorch's do not: set a rate by ``final_lr``, keep the best head with its
centroids, show one bar over the epochs, and write all from which a fit can be resumed. A
killed fit is resumed from its checkpoint: one file for each fit, named by a hash of the
data and the options.
"""

import functools
import hashlib
import json
import math
import types
from copy import deepcopy
from pathlib import Path

import numpy as np
import torch
from skorch.callbacks import Callback
from tqdm.auto import tqdm

from skfairfr.utils._folder import whole_file
from skfairfr.utils._json_form import digest_of, is_whole
from skfairfr.utils._validation import check_path

# Options that change neither the data nor the steps of a fit.
WITHOUT_EFFECT = ("checkpoint_dir", "verbose", "callbacks", "random_state")
N_HASHED_ROWS = 4096
# Changed where a version would no longer go on from what an earlier one wrote.
# 2 has a digest.
FORMAT = 2
# What a checkpoint of any format holds.
STATE = {"seed", "weights", "optimizer", "generator", "monitor", "history"}


class Schedule(Callback):
    """Sets the learning rate, from lr to final_lr geometrically over the epochs.

    Without ``final_lr`` it records the rate alone, which is the caller's to schedule.
    """

    def __init__(self, lr, final_lr, max_epochs):
        self.lr = lr
        self.final_lr = final_lr
        self.max_epochs = max_epochs

    def on_epoch_begin(self, net, **kwargs):
        groups = net.optimizer_.param_groups
        if self.final_lr is not None:
            for group in groups:
                group["lr"] = self._rate(len(net.history) - 1)
        net.history.record("lr", groups[0]["lr"])

    def _rate(self, epoch):
        share = epoch / max(1, self.max_epochs - 1)
        return self.lr * (self.final_lr / self.lr) ** share


class Progress(Callback):
    """Shows a bar over the epochs with the last losses."""

    def __init__(self, max_epochs):
        self.max_epochs = max_epochs

    def on_train_begin(self, net, **kwargs):
        self.bar_ = tqdm(
            total=self.max_epochs, initial=len(net.history), unit="epoch", leave=True
        )

    def on_epoch_end(self, net, **kwargs):
        shown = {
            key: f"{value:.4g}"
            for key, value in net.history[-1].items()
            if key.endswith("loss") or key.startswith("valid_")
            if isinstance(value, float)
        }
        self.bar_.set_postfix(shown)
        self.bar_.update()

    def on_train_end(self, net, **kwargs):
        self.bar_.close()


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
        self.state_ = {"best": math.inf, "epoch": 0, "stale": 0, "weights": None}
        self.n_epochs = 0
        return self

    @property
    def has_enough(self):
        """Whether the last epochs brought no improvement."""
        return self.patience is not None and self.state_["stale"] >= self.patience

    def on_epoch_end(self, net, **kwargs):
        _check_loss(net.history)
        # skorch records numbers of numpy; a checkpoint holds numbers of Python only.
        state, value = self.state_, float(net.history[-1][self.name])
        if value < state["best"]:
            state.update(best=value, epoch=len(net.history), stale=0)
            if self.keeps_best:
                state["weights"] = deepcopy(weights_of(net))
        else:
            state["stale"] += 1
        self.n_epochs = len(net.history)

    def on_train_end(self, net, **kwargs):
        if self.state_["weights"] is not None:
            set_weights(net, self.state_["weights"])


class Stop(Callback):
    """Ends the training, as skorch's EarlyStopping does, where the monitor has enough."""

    def __init__(self, monitor):
        self.monitor = monitor

    def on_epoch_end(self, net, **kwargs):
        if self.monitor.has_enough:
            raise KeyboardInterrupt


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
            "format": FORMAT,
            "seed": self.seed,
            "weights": weights_of(net),
            "optimizer": net.optimizer_.state_dict(),
            "generator": self.generator.get_state(),
            "monitor": self.monitor.state_,
            "history": _to_json(net.history),
        }
        state["sha256"] = digest_of(*_parts(state))
        # Renamed once complete: a fit killed while writing leaves the previous epoch.
        with whole_file(self.path) as staged:
            _write(state, staged)


class _Writer:
    """A file that keeps the system's error, in place of which torch raises its own."""

    def __init__(self, file):
        self.file, self.error = file, None

    def write(self, data):
        try:
            return self.file.write(data)
        except OSError as error:
            self.error = self.error or error
            raise

    def flush(self):
        self.file.flush()


def _write(state, path):
    with open(path, "wb") as file:
        writer = _Writer(file)
        try:
            torch.save(state, writer)
        except RuntimeError as error:
            raise writer.error or error from None


def check_callbacks(callbacks):
    """The caller's callbacks as a list.

    Raises
    ------
    ValueError
        If one is no skorch callback, nor a pair of a name and one.
    """
    for given in callbacks or ():
        callback = given[1] if isinstance(given, tuple) and len(given) == 2 else given
        if not (isinstance(callback, Callback) or _is_callback_class(callback)):
            raise ValueError(
                "callbacks must be skorch callbacks, as skorch.callbacks.EpochTimer() is, "
                f"or pairs of a name and one; got {given!r}."
            )
    return list(callbacks or ())


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

    Raises
    ------
    ValueError
        If the directory cannot be made.
    """
    options = estimator.get_params(deep=False)
    hashed = {k: describe(v) for k, v in options.items() if k not in WITHOUT_EFFECT}
    hashed["seed"] = None if estimator.random_state is None else seed
    hashed["class"] = type(estimator).__name__
    hashed["X"] = (X.shape, str(X.dtype))
    digest = hashlib.sha256(json.dumps(hashed, sort_keys=True).encode())
    sample = np.linspace(0, len(X) - 1, min(len(X), N_HASHED_ROWS)).astype(np.int64)
    of_people = (people.rows, people.y, people.attribute, people.groups, people.domain)
    for array in (X[sample], *of_people):
        digest.update(b"-" if array is None else np.ascontiguousarray(array).tobytes())
    digest.update(repr(people.identities.tolist()).encode())
    directory = Path(check_path(estimator.checkpoint_dir, "checkpoint_dir"))
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(
            f"checkpoint_dir={str(directory)!r} cannot be made ({error}); name a "
            "directory that can be written to."
        ) from error
    return directory / f"{type(estimator).__name__}-{digest.hexdigest()[:16]}.pt"


def read_checkpoint(path):
    """The state in a file, on the CPU; None where there is no file.

    Raises
    ------
    ValueError
        If the file cannot be read.
    """
    if not path.exists():
        return None
    # What is damaged raises many kinds of errors.
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
        found = state.get("format", 1)  # the first ones have no number
    except Exception as error:
        raise _unreadable(path, type(error).__name__) from error
    if found not in range(1, FORMAT + 1):
        raise ValueError(
            f"The checkpoint {path} has format {found!r}, and this version of skfairfr goes "
            f"on from formats up to {FORMAT}; delete it to start anew, or use the version "
            "that wrote it."
        )
    try:
        whole = STATE <= set(state) and is_whole(*_parts(state))
    except Exception as error:
        raise _unreadable(path, type(error).__name__) from error
    if not whole:
        raise _unreadable(path, "it is not as the fit wrote it")
    return state


def resume(path, state, net, generator, monitor):
    """Restore net, generator and monitor from the ``state`` of the checkpoint at ``path``.

    Raises
    ------
    ValueError
        If the state is not one of such a fit, as that of a damaged file of format 1 may be.
    """
    try:
        set_weights(net, state["weights"])
        net.optimizer_.load_state_dict(state["optimizer"])
        generator.set_state(state["generator"])
        monitor.state_ = state["monitor"]
        net.history.extend(json.loads(state["history"]))
        monitor.n_epochs = len(net.history)
    except Exception as error:
        raise _unreadable(path, type(error).__name__) from error


def _unreadable(path, reason):
    return ValueError(
        f"The checkpoint {path} cannot be read ({reason}); delete it to start anew."
    )


def _parts(state):
    """A checkpoint's state as JSON without its tensors, and those as arrays by their place."""
    arrays = {}
    header = {key: _without_tensors(value, key, arrays) for key, value in state.items()}
    return header, arrays


def _without_tensors(value, place, arrays):
    if isinstance(value, torch.Tensor):
        arrays[place] = value.detach().cpu().numpy()
        return place
    if isinstance(value, list | tuple):
        value = dict(enumerate(value))
    if isinstance(value, dict):
        return [
            [key, _without_tensors(held, f"{place}/{key}", arrays)]
            for key, held in value.items()
        ]
    return value


def weights_of(net):
    """The parameters and buffers of head and loss, as they are (no copy)."""
    return {"head": net.module_.state_dict(), "loss": net.criterion_.state_dict()}


def set_weights(net, weights):
    """Load weights returned by :func:`weights_of`."""
    net.module_.load_state_dict(weights["head"])
    net.criterion_.load_state_dict(weights["loss"])


def describe(value, depth=12):
    """An option in JSON, the same in another process: it holds no addresses in memory."""
    if depth == 0:
        return type(value).__qualname__
    if isinstance(value, np.ndarray) and value.dtype != object:
        digest = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return [value.shape, value.dtype.str, digest]
    if isinstance(value, torch.nn.Module):
        weights = {n: w.detach().cpu().numpy() for n, w in value.state_dict().items()}
        return [repr(value), describe(weights, depth - 1)]
    if isinstance(value, dict):
        value = list(value.items())
    if isinstance(value, list | tuple):
        return [describe(v, depth - 1) for v in value]
    if isinstance(value, set | frozenset):
        return sorted(repr(v) for v in value)
    contents = _contents(value)
    if contents is not None:
        return [type(value).__qualname__, describe(contents, depth - 1)]
    return repr(value)


def _contents(value):
    """What distinguishes a callable or a plain object; None for any other value."""
    if isinstance(value, functools.partial):
        return [value.func, value.args, value.keywords]
    if isinstance(value, types.MethodType):
        return [value.__func__, value.__self__]
    if isinstance(value, types.FunctionType):
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        code = value.__code__
        return [
            value.__qualname__,
            code,
            value.__defaults__,
            value.__kwdefaults__,
            cells,
        ]
    if isinstance(value, types.CodeType):
        return [value.co_code.hex(), value.co_names, value.co_consts]
    if type(value).__repr__ is object.__repr__:
        return getattr(value, "__dict__", [])
    return None


def _check_loss(history):
    loss = history[-1]["train_loss"]
    if not math.isfinite(loss):
        raise ValueError(
            f"The training loss became {loss} in epoch {len(history)}: lower lr, or "
            "give embeddings of a smaller scale."
        )


def _to_json(history):
    """The epochs without their batches; numbers of numpy become numbers of Python."""
    epochs = [{**epoch, "batches": []} for epoch in history]
    return json.dumps(epochs, default=lambda value: value.tolist())


def _is_callback_class(callback):
    return isinstance(callback, type) and issubclass(callback, Callback)
