"""Drawing images by group: tensors in, positions out; no sampler and no estimator."""

import numpy as np
import torch


class GroupCells:
    """Images put together by group, ready to be drawn from.

    Images of an unknown group belong to no group and have a cell of their own, the last
    one, which is drawn as often as it is found: weights share out the rest.

    Parameters
    ----------
    codes : ndarray of int, shape (n_images,)
        Group of each image in 0..n_groups - 1; -1 is unknown.
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
        """Share of the draws of every cell, (n_groups + 1,), from weights of the groups.

        Raises
        ------
        ValueError
            If no group with a weight has an image.
        """
        known = self.counts[:-1] > 0
        weights = torch.as_tensor(weights, dtype=torch.float64) * known
        total = weights.sum()
        if total == 0:
            raise ValueError(
                "no image belongs to a group with a weight above 0; give such a group a "
                "weight, or images with known groups."
            )
        unknown = self.counts[-1:] / len(self)
        return torch.cat([weights / total * (1 - unknown), unknown])

    def draw(self, weights, n_draws, generator):
        """Positions (n_draws,) drawn with replacement: a group, then one of its images."""
        shares = self.probabilities(weights)
        cells = torch.multinomial(
            shares, n_draws, replacement=True, generator=generator
        )
        return self._members(cells, generator)

    def draw_batches(self, weights, batch_size, n_batches, generator):
        """``n_batches`` times positions (batch_size,), all of one batch from one group."""
        shares = self.probabilities(weights)
        cells = torch.multinomial(
            shares, n_batches, replacement=True, generator=generator
        )
        drawn = self._members(cells.repeat_interleave(batch_size), generator)
        return list(drawn.split(batch_size))

    def _members(self, cells, generator):
        """One image of each cell, uniformly."""
        n_members = self.counts[cells]
        # float64: in float32 the last of very many images would never come.
        share = torch.rand(len(cells), dtype=torch.float64, generator=generator)
        place = (share * n_members).long().clamp_max(n_members - 1)
        return self._order[self._starts[cells] + place]
