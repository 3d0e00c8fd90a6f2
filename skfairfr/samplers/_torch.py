"""torch samplers by group: for a ``DataLoader``, or as the ``sampler=`` of a projector."""

import numpy as np
import torch
from torch.utils.data import Sampler

from skfairfr.samplers._draws import GroupCells
from skfairfr.samplers._weights import (
    adjusted_weights,
    equal_weights,
    natural_weights,
)
from skfairfr.utils._labels import Labels, encode
from skfairfr.utils._validation import check_count, check_option, plain

STRATEGIES = ("natural", "equal")


class GroupSampler(Sampler):
    """What both samplers share: whose images, with which weights, from which generator."""

    def __init__(self, groups=None, *, weights="equal", generator=None):
        super().__init__()
        if not isinstance(weights, dict):
            check_option(weights, "weights", STRATEGIES)
        self.weights = weights
        self.generator = generator
        self._cells = self._of_groups = None
        if groups is None:
            return
        labels = encode(groups, "groups", allow_unknown=True)
        self._cells, self._of_groups = self._prepare(labels)
        self._cells.probabilities(self._of_groups)

    def _prepare(self, labels):
        """The cells of images with these Labels, and the weight of each group."""
        cells = GroupCells(labels.codes, len(labels.values))
        return cells, _weights_of(self.weights, labels.values, cells)

    def _bound(self):
        """Cells and weights of the groups given.

        Raises
        ------
        ValueError
            If none were given.
        """
        if self._cells is None:
            raise ValueError(
                f"{type(self).__name__} was made without groups, for the sampler= of a "
                "projector, which gives it those of the images trained on. To iterate "
                "over it, make it with groups=."
            )
        return self._cells, self._of_groups

    def _own_generator(self):
        if self.generator is None:
            self.generator = torch.Generator()
            self.generator.seed()
        return self.generator

    def __repr__(self):
        shown = [f"weights={self.weights!r}", *self._shown()]
        if self._cells is not None:
            shown.insert(0, f"<groups of {len(self._cells)} images>")
        return f"{type(self).__name__}({', '.join(shown)})"


class GroupWeightedSampler(GroupSampler):
    """Draw images so that each group's share of them is its weight.

    A group is drawn by its weight, then one of its images uniformly, with replacement.
    Images of an unknown group are drawn as often as they are found; the weights share out
    the rest.

    Parameters
    ----------
    groups : array-like, shape (n_samples,), default=None
        Group of each image of the data set; None or NaN is unknown. Without it the
        sampler is a recipe for the ``sampler=`` of a projector, whose ``fit`` gives the
        groups of the images it trains on.
    weights : {"natural", "equal"} or dict of label -> float in [0, inf), default="equal"
        "equal" draws every group, "natural" every image equally often.
    n_draws : int, default=None
        Images of an epoch; None is as many as there are.
    generator : torch.Generator, default=None
        What is drawn with; it goes on from epoch to epoch. None seeds a new one from the
        operating system.

    Raises
    ------
    ValueError
        If a weight is missing, negative or of no group, all are 0, or a number is out of
        range.

    See Also
    --------
    HomogeneousBatchSampler : Batches of one group each.

    References
    ----------
    .. [1] Bruveris, M., Mortazavian, P., Gietema, J., & Mahadevan, M. (2020). Reducing
       Geographic Performance Differentials for Face Recognition. WACV Workshops.
       Section 4.3.

    Examples
    --------
    >>> import torch
    >>> from skfairfr.samplers import GroupWeightedSampler
    >>> groups = ["common"] * 900 + ["rare"] * 100
    >>> sampler = GroupWeightedSampler(groups, generator=torch.Generator().manual_seed(0))
    >>> drawn = list(sampler)
    >>> 450 < sum(place >= 900 for place in drawn) < 550
    True
    >>> loader = torch.utils.data.DataLoader(range(1000), 32, sampler=sampler)
    """

    def __init__(self, groups=None, *, weights="equal", n_draws=None, generator=None):
        super().__init__(groups, weights=weights, generator=generator)
        self.n_draws = None if n_draws is None else check_count(n_draws, "n_draws", 1)

    def __iter__(self):
        cells, weights = self._bound()
        drawn = cells.draw(weights, len(self), self._own_generator())
        return iter(drawn.tolist())

    def __len__(self):
        return self.n_draws or len(self._bound()[0])

    def __call__(self, identity, group, generator, labels=None):
        """Positions of an epoch, for a projector.

        Parameters
        ----------
        identity : ndarray of int, shape (n_images,)
            Unused.
        group : ndarray of int, shape (n_images,), or None
            Code of the group of each image trained on; -1 is unknown.
        generator : torch.Generator
        labels : ndarray, shape (n_groups,), default=None
            Labels of the codes; None: the codes themselves.

        Returns
        -------
        positions : tensor of int64, shape (n_draws,)

        Raises
        ------
        ValueError
            If there are no groups, or the weights do not fit them.
        """
        cells, weights = self._prepare(_given(self, group, labels))
        return cells.draw(weights, self.n_draws or len(cells), generator)

    def _shown(self):
        return [] if self.n_draws is None else [f"n_draws={self.n_draws}"]


class HomogeneousBatchSampler(GroupSampler):
    """Draw batches whose images all belong to one group.

    The group of a batch is drawn by its weight, then its images uniformly, with
    replacement. The paper found the FAR within groups to swing from epoch to epoch: a
    negative result, kept to be looked at.

    Parameters
    ----------
    groups : array-like, shape (n_samples,), default=None
        Group of each image; None or NaN is unknown, and such images make batches of their
        own, as often as they are found. Without it, a recipe for the ``sampler=`` of a
        projector, whose own ``batch_size`` is then unused.
    batch_size : int, default=2048
        Images of a batch; no more than there are.
    weights : {"natural", "equal"} or dict of label -> float in [0, inf), default="equal"
        "equal" draws every group equally often, "natural" by its number of images.
    n_batches : int, default=None
        Batches of an epoch; None is as many as hold all images once.
    generator : torch.Generator, default=None
        What is drawn with; it goes on from epoch to epoch. None seeds a new one from the
        operating system.

    Raises
    ------
    ValueError
        If a weight is missing, negative or of no group, all are 0, or a number is out of
        range.

    See Also
    --------
    GroupWeightedSampler : All groups in every batch.

    References
    ----------
    .. [1] Bruveris, M., Mortazavian, P., Gietema, J., & Mahadevan, M. (2020). Reducing
       Geographic Performance Differentials for Face Recognition. WACV Workshops.
       Section 4.3, "Homogeneous batches", and Figure 6.

    Examples
    --------
    >>> import torch
    >>> from skfairfr.samplers import HomogeneousBatchSampler
    >>> groups = ["common"] * 900 + ["rare"] * 100
    >>> sampler = HomogeneousBatchSampler(groups, batch_size=50,
    ...     generator=torch.Generator().manual_seed(0))
    >>> all(len({groups[place] for place in batch}) == 1 for batch in sampler)
    True
    >>> loader = torch.utils.data.DataLoader(range(1000), batch_sampler=sampler)
    """

    def __init__(
        self,
        groups=None,
        *,
        batch_size=2048,
        weights="equal",
        n_batches=None,
        generator=None,
    ):
        super().__init__(groups, weights=weights, generator=generator)
        self.batch_size = check_count(batch_size, "batch_size", 1)
        self.n_batches = (
            None if n_batches is None else check_count(n_batches, "n_batches", 1)
        )

    def __iter__(self):
        batches = self._draw(*self._bound(), self._own_generator())
        return iter([batch.tolist() for batch in batches])

    def __len__(self):
        return self._sizes(self._bound()[0])[1]

    def __call__(self, identity, group, generator, labels=None):
        """Batches of an epoch, for a projector.

        Parameters
        ----------
        identity : ndarray of int, shape (n_images,)
            Unused.
        group : ndarray of int, shape (n_images,), or None
            Code of the group of each image trained on; -1 is unknown.
        generator : torch.Generator
        labels : ndarray, shape (n_groups,), default=None
            Labels of the codes; None: the codes themselves.

        Returns
        -------
        batches : list of tensors of int64, shape (n_batches,), each of shape (batch_size,)

        Raises
        ------
        ValueError
            If there are no groups, or the weights do not fit them.
        """
        return self._draw(*self._prepare(_given(self, group, labels)), generator)

    def _draw(self, cells, weights, generator):
        return cells.draw_batches(weights, *self._sizes(cells), generator)

    def _sizes(self, cells):
        """Images of a batch and batches of an epoch."""
        size = min(self.batch_size, len(cells))
        return size, self.n_batches or -(-len(cells) // size)

    def _shown(self):
        shown = [f"batch_size={self.batch_size}"]
        return (
            shown if self.n_batches is None else [*shown, f"n_batches={self.n_batches}"]
        )


def _weights_of(weights, groups, cells):
    """The weight of each group, (n_groups,)."""
    if len(groups) == 0:
        raise ValueError(
            "groups are unknown for every image; give the group of some at least."
        )
    if isinstance(weights, dict):
        return adjusted_weights(weights, groups)
    if weights == "natural":
        return natural_weights(cells.counts[:-1].numpy())
    return equal_weights(len(groups))


def _given(sampler, group, labels):
    """The Labels that a projector gives."""
    if group is None:
        raise ValueError(
            f"sampler={plain(sampler)!r} draws by group, but fit was given no groups; "
            "pass sensitive_features=, or y=face_labels(identity, group)."
        )
    group = np.asarray(group)
    if labels is None:
        labels = np.arange(group.max(initial=-1) + 1)
    return Labels(np.asarray(labels), group)
