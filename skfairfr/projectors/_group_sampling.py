"""Drawing images by the weights of their groups, which may change between epochs."""

import numpy as np
from skorch.callbacks import Callback

from skfairfr.samplers import (
    adjusted_weights,
    dynamic_weights,
    equal_weights,
    natural_weights,
)
from skfairfr.samplers._torch import GroupCells

# Values of the parameter ``sampling``.
SAMPLINGS = ("natural", "equal", "adjusted", "dynamic")


def starting_weights(sampling, group_weights, labels, counts):
    """Weights of the first epoch, (n_groups,), their mean 1.

    Parameters
    ----------
    sampling : str
        One of SAMPLINGS.
    group_weights : dict or None
    labels : ndarray, shape (n_groups,)
    counts : ndarray of int, shape (n_groups,)
        Images of each group.

    Raises
    ------
    ValueError
        If the weights do not fit the sampling or the groups.
    """
    if group_weights is not None and sampling not in ("adjusted", "dynamic"):
        raise ValueError(
            f"group_weights are for sampling='adjusted', or where 'dynamic' starts; with "
            f"sampling={sampling!r} they would be ignored. Change one of the two."
        )
    if sampling == "adjusted" and group_weights is None:
        raise ValueError(
            "sampling='adjusted' needs group_weights={label: weight} with an entry for "
            f"each of the groups {labels.tolist()}."
        )
    if group_weights is not None:
        return adjusted_weights(group_weights, labels)
    if sampling == "natural":
        return natural_weights(counts)
    return equal_weights(len(labels))


class GroupSampling(Callback):
    """Draws the images of every epoch by the weights of their groups.

    The history holds all that an epoch depends on, ``weight_<label>`` of the epoch before
    and ``far_<label>`` after it, so that a checkpoint needs nothing more.

    Parameters
    ----------
    people : People
        Trained on.
    start : ndarray, shape (n_groups,)
        Weights of the first epoch.
    fars : GroupFARs, default=None
        Measured after every epoch; the dynamic weights follow them.
    smoothing, exponent : float, default=None
        Of dynamic weights; None never changes the weights.
    """

    def __init__(self, people, start, fars=None, *, smoothing=None, exponent=None):
        labels = people.labels.tolist()
        self.names = [f"weight_{label}" for label in labels]
        self.cells = GroupCells(people.groups, len(labels))
        self.cells.probabilities(start)
        self.start = start
        self.fars = fars
        self.smoothing = smoothing
        self.exponent = exponent
        self.weights = start

    def on_epoch_begin(self, net, **kwargs):
        self.weights = self._next_weights(net.history)
        for name, weight in zip(self.names, self.weights, strict=True):
            net.history.record(name, float(weight))

    def draw(self, generator):
        """Positions of an epoch, as many as there are images."""
        return self.cells.draw(self.weights, len(self.cells), generator)

    def draw_homogeneous(self, size, generator):
        """Positions of rounds of one group each, as many as hold all images once."""
        size = min(size, len(self.cells))
        n_rounds = -(-len(self.cells) // size)
        return self.cells.draw_batches(self.weights, size, n_rounds, generator)

    def _next_weights(self, history):
        """Weights of the epoch whose history has just begun."""
        if len(history) == 1:
            return self.start
        previous = history[-2]
        weights = np.array([previous[name] for name in self.names])
        if self.smoothing is None:
            return weights
        fars = np.array([previous[name] for name in self.fars.names])
        n = self.fars.n_impostors
        return dynamic_weights(
            weights,
            np.rint(fars * n),
            n,
            smoothing=self.smoothing,
            exponent=self.exponent,
        )
