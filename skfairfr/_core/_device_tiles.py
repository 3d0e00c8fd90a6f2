"""The pass over all pairs with products on an accelerator.

As in ``_pair_tiles``, tiles of float32 products propose pairs, and the loop on the CPU
scores those: the tail is the same.
"""

from contextlib import contextmanager

import numpy as np

from skfairfr._core._pair_sequences import sort_pairs
from skfairfr._core._pair_tiles import TILE, keep, largest_error, tiles_of
from skfairfr._core._parallel import progress_bar


def is_at_hand(device):
    """Whether this process can run a pass on a device of this name; never true of "cpu"."""
    if device == "cpu":
        return False
    try:
        import torch
    except ImportError:
        return False
    return (torch.device(device).index or 0) < torch.cuda.device_count()


def collect_tail(probe, reference, floors, device, tile=TILE):
    """As ``_pair_tiles.collect_tail``, on a device of torch."""
    import torch

    def to_device(array):
        return torch.from_numpy(array.copy()).to(device)  # which may be read-only

    lowest = (floors - largest_error(probe, reference)).astype(np.float32)
    lowest = to_device(np.nextafter(lowest, np.float32(-np.inf)))
    sides = [
        (to_device(side.vectors), to_device(side.group.astype(np.int64)))
        for side in (probe, reference)
    ]
    tiles = tiles_of(probe, reference, tile)
    found = []
    with _full_float32(), progress_bar(len(tiles), "comparing all pairs") as bar:
        for start, column in tiles:
            strip, place = slice(start, start + tile), slice(column, column + tile)
            rows, group = (part[strip] for part in sides[0])
            columns, other_group = (part[place] for part in sides[1])
            reaches = ~(rows @ columns.T < lowest[group[:, None], other_group])
            if probe is reference and start == column:
                reaches.triu_(1)
            pairs = (ends.cpu().numpy() for ends in reaches.nonzero(as_tuple=True))
            found.append(keep(probe[strip], reference[place], floors, *pairs))
            bar.update()
    return sort_pairs(*(np.concatenate(part) for part in zip(*found, strict=True)))


@contextmanager
def _full_float32():
    """Products of all 24 bits, whatever the process has set; TF32 would miss the slack."""
    import torch

    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)
