"""The k largest of very many numbers, without sorting them."""

import torch

_SAMPLED = 1 << 17


def kth_largest(values, k):
    """The k-th largest element, and all elements at least as large.

    A strided sample tells where to look; one comparison of all elements then leaves few,
    and only those are ordered.

    Parameters
    ----------
    values : tensor, shape (n_rows, n_columns)
        -inf where an element must not be found.
    k : int
        In [1, values.numel()].

    Returns
    -------
    threshold : tensor, scalar
        -inf where fewer than k elements are finite.
    place : tensor of int64, shape (n_found,)
        Positions of the elements >= threshold in the flattened array; none for -inf.
    """
    flat = values.reshape(-1)
    floor = _guess(flat, k)
    place = at_least(flat, floor)
    if place.numel() < k:
        # The guess failed: k is small, or the sample unlucky.
        threshold = torch.topk(flat, k, sorted=True).values[-1]
        if torch.isinf(threshold):
            return threshold, place[:0]
        return threshold, at_least(flat, threshold)
    found = flat[place]
    threshold = torch.topk(found, k, sorted=True).values[-1]
    return threshold, place[found >= threshold]


def at_least(flat, floor):
    """Positions of the elements >= floor."""
    return (flat >= floor).nonzero().squeeze(1)


def _guess(flat, k):
    """A number that about 2 k elements exceed."""
    # Odd strides do not fall into step with an even number of columns.
    stride = max(1, flat.numel() // _SAMPLED) | 1
    sample = flat[::stride]
    expected = k / stride
    rank = min(sample.numel(), int(2 * expected + 4 * expected**0.5) + 4)
    guess = torch.topk(sample, rank, sorted=True).values[-1]
    return guess.clamp_min(torch.finfo(flat.dtype).min)
