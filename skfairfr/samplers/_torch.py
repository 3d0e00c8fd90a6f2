"""Drawing images by group: the draws themselves, and the torch samplers that make them.

A sampler serves a ``DataLoader``, or is the ``sampler=`` of a projector.
"""

from __future__ import annotations

import numpy as np
import torch
from torch.utils.data import Sampler

from skfairfr.samplers import adjusted_weights, equal_weights, natural_weights
from skfairfr.utils._errors import invalid, plain
from skfairfr.utils._labels import Labels, encode
from skfairfr.utils._types import Column
from skfairfr.utils._validation import check_count, check_option

# Weights that have a name.
NAMED_WEIGHTS = ("natural", "equal")


class GroupCells:
    """The images of each group, to draw from.

    Images of an unknown group have a cell of their own, the last one. It is drawn as often
    as it is found. The weights divide the remaining draws among the groups.

    Parameters
    ----------
    codes : ndarray of int, shape (n_images,)
        Group of each image in 0..n_groups - 1. -1 is unknown.
    n_groups : int
    """

    def __init__(self, codes, n_groups):
        cell = np.where(codes < 0, n_groups, codes)
        counts = np.bincount(cell, minlength=n_groups + 1)
        self.counts = torch.as_tensor(counts)
        self._starts = torch.as_tensor(np.cumsum(counts) - counts)
        self._order = torch.as_tensor(np.argsort(cell, kind="stable"))

    def __len__(self):
        return len(self._order)

    def probabilities(self, weights):
        """Share of the draws of each cell, (n_groups + 1,), from weights of the groups.

        Raises
        ------
        ValueError
            If no group with a weight has an image.
        """
        known = self.counts[:-1] > 0
        weights = torch.as_tensor(weights, dtype=torch.float64) * known
        total = weights.sum()
        if total == 0:
            problem = "are 0 for every group that has an image;"
            raise invalid("weights", weights, problem, "give one a weight above 0.")
        unknown = self.counts[-1:] / len(self)
        return torch.cat([weights / total * (1 - unknown), unknown])

    def draw(self, weights, n_draws, generator):
        """Positions (n_draws,) drawn with replacement: a group, then one of its images."""
        return self._members(self._draw_cells(weights, n_draws, generator), generator)

    def draw_batches(self, weights, batch_size, n_batches, generator):
        """``n_batches`` times positions (batch_size,), all of one batch from one group."""
        cells = self._draw_cells(weights, n_batches, generator)
        drawn = self._members(cells.repeat_interleave(batch_size), generator)
        return list(drawn.split(batch_size))

    def _draw_cells(self, weights, n_draws, generator):
        shares = self.probabilities(weights)
        return torch.multinomial(shares, n_draws, replacement=True, generator=generator)

    def _members(self, cells, generator):
        """One image of each cell, uniformly."""
        n_members = self.counts[cells]
        # In float32 the last of very many images would never be drawn.
        share = torch.rand(len(cells), dtype=torch.float64, generator=generator)
        place = (share * n_members).long().clamp_max(n_members - 1)
        return self._order[self._starts[cells] + place]


class GroupSampler(Sampler):
    """Base of both samplers: the images' groups, their weights and the generator."""

    # The options, next to the weights, that its text shows.
    _options = ()

    def __init__(
        self, groups: Column | None, weights: str | dict, generator: torch.Generator
    ) -> None:
        super().__init__()
        if not isinstance(weights, dict):
            check_option(weights, "weights", NAMED_WEIGHTS)
        self.weights = weights
        self.generator = generator
        self._cells = self._group_weights = None
        if groups is None:
            return
        labels = encode(groups, "groups", allow_unknown=True)
        self._cells, self._group_weights = self._prepare(labels)
        self._cells.probabilities(self._group_weights)

    def _prepare(self, labels):
        """The cells of images with these Labels, and the weight of each group."""
        cells = GroupCells(labels.codes, len(labels.values))
        return cells, _weights_of(self.weights, labels.values, cells)

    def _own(self):
        """Cells and weights of the groups that the sampler was made with."""
        if self._cells is None:
            problem = "is None, as for the sampler= of a projector, which gives them;"
            raise invalid("groups", None, problem, "to iterate over it, give groups=.")
        return self._cells, self._group_weights

    def _own_generator(self):
        if self.generator is None:
            self.generator = torch.Generator()
            self.generator.seed()
        return self.generator

    def __repr__(self):
        shown = [f"weights={self.weights!r}"]
        options = ((name, getattr(self, name)) for name in self._options)
        shown += [f"{name}={value}" for name, value in options if value is not None]
        if self._cells is not None:
            shown.insert(0, f"<groups of {len(self._cells)} images>")
        return f"{type(self).__name__}({', '.join(shown)})"


class GroupWeightedSampler(GroupSampler):
    """Draw images with each group's share equal to its weight.

    A group is drawn by its weight, then one of its images uniformly, with replacement.
    Images of an unknown group are drawn as often as they are found. The weights share out
    the rest.

    Parameters
    ----------
    groups : array-like, shape (n_samples,), default=None
        Group of each image of the data set. None or NaN is unknown. Without it the
        sampler is a recipe for the ``sampler=`` of a projector, whose ``fit`` gives the
        groups of the images it trains on.
    weights : {"natural", "equal"} or dict of label -> float in [0, inf), default="equal"
        "equal" draws every group, "natural" every image equally often.
    n_draws : int, default=None
        Images of an epoch. If None, as many as there are.
    generator : torch.Generator, default=None
        What is drawn with. It goes on from epoch to epoch. None seeds a new one from the
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

    _options = ("n_draws",)

    def __init__(
        self,
        groups: Column | None = None,
        *,
        weights: str | dict = "equal",
        n_draws: int | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(groups, weights, generator)
        self.n_draws = None if n_draws is None else check_count(n_draws, "n_draws", 1)

    def __iter__(self):
        cells, weights = self._own()
        drawn = cells.draw(weights, len(self), self._own_generator())
        return iter(drawn.tolist())

    def __len__(self):
        return self.n_draws or len(self._own()[0])

    def __call__(
        self,
        identity: np.ndarray,
        group: np.ndarray | None,
        generator: torch.Generator,
        labels: np.ndarray | None = None,
    ) -> torch.Tensor:
        """Positions of an epoch, for a projector.

        Parameters
        ----------
        identity : ndarray of int, shape (n_images,)
            Unused.
        group : ndarray of int, shape (n_images,), or None
            Code of the group of each image trained on. -1 is unknown.
        generator : torch.Generator
        labels : ndarray, shape (n_groups,), default=None
            Labels of the codes. If None, the codes themselves.

        Returns
        -------
        positions : tensor of int64, shape (n_draws,)

        Raises
        ------
        ValueError
            If there are no groups, or the weights do not fit them.
        """
        cells, weights = self._prepare(_labels_of(self, group, labels))
        return cells.draw(weights, self.n_draws or len(cells), generator)


class HomogeneousBatchSampler(GroupSampler):
    """Draw batches whose images all belong to one group.

    The group of a batch is drawn by its weight, then its images uniformly, with
    replacement. The paper found the FAR within groups to swing from epoch to epoch: a
    negative result, kept to be looked at.

    Parameters
    ----------
    groups : array-like, shape (n_samples,), default=None
        Group of each image. None or NaN is unknown, and such images make batches of their
        own, as often as they are found. Without it, a recipe for the ``sampler=`` of a
        projector, whose own ``batch_size`` is then unused.
    batch_size : int, default=2048
        Images of a batch. No more than there are.
    weights : {"natural", "equal"} or dict of label -> float in [0, inf), default="equal"
        "equal" draws every group equally often, "natural" by its number of images.
    n_batches : int, default=None
        Batches of an epoch. If None, as many as cover all images once.
    generator : torch.Generator, default=None
        What is drawn with. It goes on from epoch to epoch. None seeds a new one from the
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

    _options = ("batch_size", "n_batches")

    def __init__(
        self,
        groups: Column | None = None,
        *,
        batch_size: int = 2048,
        weights: str | dict = "equal",
        n_batches: int | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(groups, weights, generator)
        self.batch_size = check_count(batch_size, "batch_size", 1)
        self.n_batches = (
            None if n_batches is None else check_count(n_batches, "n_batches", 1)
        )

    def __iter__(self):
        batches = self._draw(*self._own(), self._own_generator())
        return iter([batch.tolist() for batch in batches])

    def __len__(self):
        return self._sizes(self._own()[0])[1]

    def __call__(
        self,
        identity: np.ndarray,
        group: np.ndarray | None,
        generator: torch.Generator,
        labels: np.ndarray | None = None,
    ) -> list[torch.Tensor]:
        """Batches of an epoch, for a projector.

        Parameters
        ----------
        identity : ndarray of int, shape (n_images,)
            Unused.
        group : ndarray of int, shape (n_images,), or None
            Code of the group of each image trained on. -1 is unknown.
        generator : torch.Generator
        labels : ndarray, shape (n_groups,), default=None
            Labels of the codes. If None, the codes themselves.

        Returns
        -------
        batches : list of tensors of int64, shape (n_batches,), each of shape (batch_size,)

        Raises
        ------
        ValueError
            If there are no groups, or the weights do not fit them.
        """
        return self._draw(*self._prepare(_labels_of(self, group, labels)), generator)

    def _draw(self, cells, weights, generator):
        return cells.draw_batches(weights, *self._sizes(cells), generator)

    def _sizes(self, cells):
        """Images of a batch and batches of an epoch."""
        size = min(self.batch_size, len(cells))
        return size, self.n_batches or -(-len(cells) // size)


def _weights_of(weights, groups, cells):
    """The weight of each group, (n_groups,)."""
    if len(groups) == 0:
        problem = "are unknown for every image. Pass the group of at least some."
        raise invalid("groups", None, problem)
    if isinstance(weights, dict):
        return adjusted_weights(weights, groups)
    if weights == "natural":
        return natural_weights(cells.counts[:-1].numpy())
    return equal_weights(len(groups))


def _labels_of(sampler, group, labels):
    """The groups that a projector passes, as Labels. Raise where it has none."""
    if group is None:
        problem = f"is None, and sampler={plain(sampler)!r} draws by group;"
        remedy = "give it to fit, or y=face_labels(identity, group)."
        raise invalid("sensitive_features", None, problem, remedy)
    group = np.asarray(group)
    if labels is None:
        labels = np.arange(group.max(initial=-1) + 1)
    return Labels(np.asarray(labels), group)
