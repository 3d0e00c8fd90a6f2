"""Batches are slices of one array: no loader, no worker, no Python over samples."""

import numpy as np
import torch


class Rows:
    """The embeddings, where slices of them are cheapest.

    Parameters
    ----------
    X : ndarray, shape (n_samples, n_features)
        May be a memory map larger than memory: on the CPU only the rows of a batch are
        ever read. On an accelerator the whole of it moves there if half the free memory
        holds it.
    device : torch.device
    """

    def __init__(self, X, device):
        self.device = device
        self.shape = X.shape
        self._rows = _resident(X, device) if device.type != "cpu" else X

    def take(self, index):
        """The rows of an index (tensor of int64 on the CPU), float32 on the device."""
        if isinstance(self._rows, torch.Tensor):
            return self._rows[index.to(self.device)]
        return self._to_device(self._rows[index.numpy()])

    def in_order(self, size, index=None):
        """The rows (of an index, an array of int), ``size`` at a time."""
        n_samples = self.shape[0] if index is None else len(index)
        for start in range(0, n_samples, size):
            stop = min(start + size, n_samples)
            if index is not None:
                yield self.take(torch.as_tensor(index[start:stop]))
            elif isinstance(self._rows, torch.Tensor):
                yield self._rows[start:stop]
            else:
                yield self._to_device(self._rows[start:stop])

    def _to_device(self, block):
        block = np.ascontiguousarray(block, dtype=np.float32)
        if not block.flags.writeable:
            block = block.copy()
        return torch.from_numpy(block).to(self.device)


class Batches:
    """One epoch of (rows, identity) after another, shuffled by a generator.

    Parameters
    ----------
    rows : Rows
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
        for place in epoch(self.sampler, self.generator, n_train, self.batch_size):
            # Neighbours on disk are read together; a batch has no order.
            place = place.sort().values
            y = self.y[place].to(self.rows.device)
            yield self.rows.take(self.index[place]), y

    def __len__(self):
        return -(-len(self.index) // self.batch_size)


def epoch(sampler, generator, n_train, size):
    """Positions among ``n_train`` images of every batch of an epoch, as tensors.

    Parameters
    ----------
    sampler : callable or None
        As in :class:`Batches`.
    generator : torch.Generator
    n_train, size : int
        Size of a batch, where the sampler makes none.
    """
    if sampler is None:
        return torch.randperm(n_train, generator=generator).split(size)
    drawn = sampler(generator)
    if isinstance(drawn, list) and drawn and all(map(_is_batch, drawn)):
        return [_check_positions(batch, n_train) for batch in drawn]
    return _check_positions(drawn, n_train).split(size)


def _is_batch(positions):
    return isinstance(positions, torch.Tensor | np.ndarray) and positions.ndim == 1


def _check_positions(positions, n_train):
    """What a sampler of the caller's gave, as a tensor of int64."""
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
