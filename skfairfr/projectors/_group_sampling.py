"""Weights of groups over the epochs of a fit, and the FAR within groups they follow."""

import numpy as np
from skorch.callbacks import Callback

from skfairfr._core._pair_design import CompleteDesign
from skfairfr.projectors._validation import as_images, rates_at
from skfairfr.samplers import (
    adjusted_weights,
    dynamic_weights,
    equal_weights,
    natural_weights,
)
from skfairfr.samplers._draws import GroupCells

STRATEGIES = ("natural", "equal", "adjusted", "dynamic")


def starting_weights(sampling, group_weights, labels, counts):
    """Weights of the first epoch, (n_groups,), their mean 1.

    Parameters
    ----------
    sampling : str
        One of STRATEGIES.
    group_weights : dict or None
    labels : ndarray, shape (n_groups,)
    counts : ndarray of int, shape (n_groups,)
        Images of each group.

    Raises
    ------
    ValueError
        If the weights do not fit the strategy or the groups.
    """
    takes = ("adjusted", "dynamic")
    if group_weights is not None and sampling not in takes:
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


class GroupFARs:
    """FAR within every group at the threshold of an overall FAR, on held-out people.

    Parameters
    ----------
    people : People
        With ``groups`` and ``labels``.
    far : float

    Attributes
    ----------
    n_impostors : ndarray of int, shape (n_groups,)
        Impostor pairs within each group; 0 for a group that is not held out.
    resolved : bool
        Whether the level is one that these people's impostor pairs resolve.
    """

    def __init__(self, people, far):
        self.far = far
        self.images = as_images(people)
        # as_images counts the groups that are there; these are their places.
        self.present = np.unique(people.groups[people.groups >= 0])
        design = CompleteDesign(self.images, "pair", "all")
        self.n_impostors = np.zeros(len(people.labels), dtype=np.int64)
        self.n_impostors[self.present] = [
            design.count_impostors((g, g)) for g in range(self.images.n_groups)
        ]
        self.resolved = far * design.count_impostors(None) >= 1

    def check_for_dynamic(self, labels):
        """Raise where dynamic weights would follow what these people cannot tell."""
        absent = labels[self.n_impostors == 0].tolist()
        if absent:
            raise ValueError(
                f"sampling='dynamic' needs impostor pairs within every group among the "
                f"people held out, and {absent} have none; give more people of these "
                "groups, a larger validation_fraction, or sampling='adjusted'."
            )
        if not self.resolved:
            raise ValueError(
                f"far={self.far:g} is not resolved by the impostor pairs of the people "
                "held out, so that dynamic weights would follow noise; give more people, "
                "a larger far or validation_fraction, or sampling='adjusted'."
            )

    def __call__(self, embeddings):
        """FAR of each group, (n_groups,), in [0, 1]; nan without an impostor pair."""
        fars = np.full(len(self.n_impostors), np.nan)
        measured = np.flatnonzero(self.n_impostors[self.present] > 0)
        scopes = tuple((int(g), int(g)) for g in measured)
        if scopes:
            found = rates_at(self.far, self.images, embeddings, scopes)
            fars[self.present[measured]] = found.far[:, 0]
        return fars


class GroupSampling(Callback):
    """Draws the images of every epoch by the weights of their groups.

    What it knows of the epochs before stands in the history, so that a checkpoint needs
    nothing more: ``weight_<label>`` of each epoch, and ``far_<label>`` after it.

    Parameters
    ----------
    people : People
        Trained on.
    start : ndarray, shape (n_groups,)
        Weights of the first epoch.
    fars : GroupFARs or None
        Measured after every epoch.
    update : tuple of (smoothing, exponent), or None
        Of dynamic weights, which need ``fars``; None never changes the weights.
    """

    def __init__(self, people, start, fars=None, update=None):
        self.labels = [str(label) for label in people.labels.tolist()]
        self.cells = GroupCells(people.groups, len(self.labels))
        self.cells.probabilities(start)
        self.start = start
        self.fars = fars
        self.update = update
        self.weights = start

    def on_epoch_begin(self, net, **kwargs):
        self.weights = self._next(net.history)
        for name, weight in zip(self.names("weight"), self.weights, strict=True):
            net.history.record(name, float(weight))

    def names(self, what):
        """Names of the entries of the groups in the history."""
        return [f"{what}_{label}" for label in self.labels]

    def measure(self, embeddings):
        """The FARs of the groups, for the history."""
        return dict(zip(self.names("far"), self.fars(embeddings).tolist(), strict=True))

    def draw(self, generator):
        """Positions of an epoch, as many as there are images."""
        return self.cells.draw(self.weights, len(self.cells), generator)

    def draw_homogeneous(self, size, generator):
        """Positions of rounds of one group each, as many as hold all images once."""
        size = min(size, len(self.cells))
        n_rounds = -(-len(self.cells) // size)
        return self.cells.draw_batches(self.weights, size, n_rounds, generator)

    def _next(self, history):
        if len(history) == 1:
            return self.start
        before = history[-2]
        weights = np.array([before[name] for name in self.names("weight")])
        if self.update is None:
            return weights
        fars = np.array([before[name] for name in self.names("far")])
        smoothing, exponent = self.update
        n = self.fars.n_impostors
        return dynamic_weights(
            weights, np.rint(fars * n), n, smoothing=smoothing, exponent=exponent
        )
