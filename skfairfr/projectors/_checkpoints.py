"""A killed fit goes on where it was: one file for each fit, found by what is fitted."""

import functools
import hashlib
import json
import os
import types
from pathlib import Path

import numpy as np
import torch
from skorch.callbacks import Callback

# Options that change neither the data nor the steps.
_BESIDE = ("checkpoint_dir", "verbose", "callbacks", "random_state")
_HASHED_ROWS = 4096


def locate(settings, X, people, seed):
    """The file of this fit in ``checkpoint_dir``: the same for the same data and options.

    Searches share one directory, so that fits must not share a file. The rows of X are
    told apart by 4,096 of them. Without ``random_state`` the seed is not part of it: the
    fit goes on with the seed it was started with.

    Returns
    -------
    path : Path
        Its directory exists.
    """
    options = settings.get_params(deep=False)
    told = {k: _describe(v) for k, v in options.items() if k not in _BESIDE}
    told["seed"] = None if settings.random_state is None else seed
    told["class"] = type(settings).__name__
    told["X"] = (X.shape, str(X.dtype))
    digest = hashlib.sha256(json.dumps(told, sort_keys=True).encode())
    sample = np.linspace(0, len(X) - 1, min(len(X), _HASHED_ROWS)).astype(np.int64)
    of_people = (people.rows, people.y, people.attribute, people.groups, people.domain)
    for array in (X[sample], *of_people):
        digest.update(b"-" if array is None else np.ascontiguousarray(array).tobytes())
    digest.update(repr(people.identities.tolist()).encode())
    directory = Path(settings.checkpoint_dir)
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(
            f"checkpoint_dir={str(directory)!r} cannot be made ({error}); name a "
            "directory that can be written to."
        ) from error
    return directory / f"{type(settings).__name__}-{digest.hexdigest()[:16]}.pt"


def _describe(value, depth=12):
    """An option in JSON that is the same in another process: no addresses in memory."""
    if depth == 0:
        return type(value).__qualname__
    if isinstance(value, np.ndarray) and value.dtype != object:
        digest = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return [value.shape, value.dtype.str, digest]
    if isinstance(value, dict):
        value = list(value.items())
    if isinstance(value, list | tuple):
        return [_describe(v, depth - 1) for v in value]
    if isinstance(value, set | frozenset):
        return sorted(repr(v) for v in value)
    inside = _inside(value)
    if inside is not None:
        return [type(value).__qualname__, _describe(inside, depth - 1)]
    return repr(value)


def _inside(value):
    """What makes a callable or a plain object what it is; None for any other value."""
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


def read(path):
    """The state in a file, on the CPU; None where there is no file.

    Raises
    ------
    ValueError
        If the file cannot be read.
    """
    if not path.exists():
        return None
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        raise ValueError(
            f"The checkpoint {path} cannot be read ({type(error).__name__}); delete it to "
            "start anew."
        ) from error


class Checkpoint(Callback):
    """Writes after every epoch all that an uninterrupted fit would go on with.

    Parameters
    ----------
    path : Path
    seed : int
        What the fit draws from.
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
            "weights": weights_of(net),
            "optimizer": net.optimizer_.state_dict(),
            "generator": self.generator.get_state(),
            "monitor": self.monitor.state_,
            "history": _to_json(net.history),
            "stopping": net.stopping,
        }
        # Renamed when whole: a fit killed while writing leaves the epoch before.
        temporary = self.path.with_suffix(".tmp")
        torch.save(state, temporary)
        os.replace(temporary, self.path)

    def resume(self, net, state):
        """Put a net where ``state`` left it."""
        set_weights(net, state["weights"])
        net.optimizer_.load_state_dict(state["optimizer"])
        self.generator.set_state(state["generator"])
        self.monitor.state_ = state["monitor"]
        net.history.extend(json.loads(state["history"]))
        net.stopping = state["stopping"]


def _to_json(history):
    """The epochs without their batches; callbacks may have recorded numpy's numbers."""
    epochs = [{**epoch, "batches": []} for epoch in history]
    return json.dumps(epochs, default=lambda value: value.tolist())


def weights_of(net):
    """The parameters and buffers of head and loss, as they are (no copy)."""
    return {"head": net.module_.state_dict(), "loss": net.criterion_.state_dict()}


def set_weights(net, weights):
    """Load what :func:`weights_of` gave."""
    net.module_.load_state_dict(weights["head"])
    net.criterion_.load_state_dict(weights["loss"])
