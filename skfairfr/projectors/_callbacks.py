"""What happens between epochs: the learning rate, the monitor, a bar."""

import math
from copy import deepcopy

from skorch.callbacks import Callback
from tqdm.auto import tqdm

from skfairfr.projectors._checkpoints import set_weights, weights_of


class Schedule(Callback):
    """The learning rate from lr to final_lr, geometrically over the epochs."""

    def __init__(self, lr, final_lr, max_epochs):
        self.lr = lr
        self.final_lr = final_lr
        self.max_epochs = max_epochs

    def on_epoch_begin(self, net, **kwargs):
        lr = self._rate(len(net.history) - 1)
        for group in net.optimizer_.param_groups:
            group["lr"] = lr
        net.history.record("lr", lr)

    def _rate(self, epoch):
        if self.final_lr is None or self.max_epochs == 1:
            return self.lr
        share = epoch / (self.max_epochs - 1)
        return self.lr * (self.final_lr / self.lr) ** share


def check_callbacks(callbacks):
    """The user's callbacks as a list.

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


def _is_callback_class(callback):
    return isinstance(callback, type) and issubclass(callback, Callback)


class Progress(Callback):
    """A bar over the epochs with the last losses."""

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
    """Watches one number an epoch: keeps the best weights, stops when it gets no better.

    Parameters
    ----------
    name : str
        Of the number, smaller is better: "train_loss" or "valid_...".
    measure : callable or None
        ``measure(net)`` gives a dict of the "valid_..." numbers; None: there are none.
    patience : int or None
        Epochs without improvement before training stops.
    """

    def __init__(self, name, measure=None, patience=None):
        self.name = name
        self.measure = measure
        self.patience = patience

    def initialize(self):
        self.state_ = {"best": math.inf, "epoch": 0, "stale": 0, "weights": None}
        return self

    def on_epoch_end(self, net, **kwargs):
        _check_loss(net.history)
        if self.measure is not None:
            for name, value in self.measure(net).items():
                net.history.record(name, value)
        # A checkpoint holds numbers of Python only, and skorch's are numpy's.
        state, value = self.state_, float(net.history[-1][self.name])
        if value < state["best"]:
            state.update(best=value, epoch=len(net.history), stale=0)
            if self.measure is not None:
                state["weights"] = deepcopy(weights_of(net))
        else:
            state["stale"] += 1
        if self.patience is not None and state["stale"] >= self.patience:
            net.stopping = True

    def on_train_end(self, net, **kwargs):
        if self.state_["weights"] is not None:
            set_weights(net, self.state_["weights"])


def _check_loss(history):
    loss = history[-1]["train_loss"]
    if not math.isfinite(loss):
        raise ValueError(
            f"The training loss became {loss} in epoch {len(history)}: lower lr, or "
            "give embeddings of a smaller scale."
        )
