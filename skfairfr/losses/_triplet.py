"""Triplets: the loss, over selected or over all of some pairs, and semi-hard negatives.

A negative that violates the margin is drawn uniformly for every pair. One matrix product in
blocks of rows serves both directions: a row contains the candidates of an anchor on the left,
a column those of an anchor on the right. Admissible candidates are bytes of 0 and 1, eight
of which are counted in one addition. No list of indices is made and nothing is n x n.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn.functional import normalize, relu

from skfairfr.losses._softmax import rows_per_block
from skfairfr.utils._validation import check_number

# Rows of a block: many, because threads wait for each other after every operation.
ROWS = 960
# Rows counted together: a byte counts up to 255 admissible ones of a column.
BYTE = 240
# Columns counted together: 16 words of 8 bytes.
WORDS = 16
CHUNK = 8 * WORDS


class TripletLoss(nn.Module):
    """Mean of max(D2_ap - D2_an + margin, 0) over triplets.

    D2_ap and D2_an are the squared distances of the unit embeddings of an anchor to a
    positive, an image of the same person, and to a negative, one of another.
    :func:`semi_hard_negatives` chooses triplets.

    Parameters
    ----------
    margin : float, default=0.6
        Margin in (0, 4], as squared distances of unit rows are in [0, 4].

    Raises
    ------
    ValueError
        If the margin is out of range.

    See Also
    --------
    semi_hard_negatives : Negatives that violate the margin.

    References
    ----------
    .. [1] Bruveris, M., Mortazavian, P., Gietema, J., & Mahadevan, M. (2020). Reducing
       Geographic Performance Differentials for Face Recognition. WACV Workshops.
       Section 4.1.

    Examples
    --------
    >>> import torch
    >>> from skfairfr.losses import TripletLoss
    >>> embeddings = torch.tensor([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]])
    >>> TripletLoss()(embeddings, torch.tensor([[0, 1, 2], [1, 0, 2]]))
    tensor(0.1000)
    """

    def __init__(self, margin: float = 0.6) -> None:
        super().__init__()
        wanted = "must lie in (0, 4], a squared distance"
        self.margin = check_number(margin, "margin", lambda m: 0 < m <= 4, wanted)

    def forward(self, embeddings: torch.Tensor, triplets: torch.Tensor) -> torch.Tensor:
        """Mean loss of a batch.

        Parameters
        ----------
        embeddings : tensor, shape (n_samples, n_features)
            Rows of any length. Only their directions matter.
        triplets : tensor of int64, shape (n_triplets, 3)
            Rows of anchor, positive and negative.

        Returns
        -------
        loss : tensor, shape ()
            >= 0, or 0 where there is no triplet.
        """
        if len(triplets) == 0:
            return embeddings.sum() * 0
        anchor, positive, negative = normalize(embeddings)[triplets].unbind(1)
        near = (anchor - positive).square().sum(1)
        far = (anchor - negative).square().sum(1)
        return relu(near - far + self.margin).mean()


@torch.no_grad()
def mean_triplet_loss(left, right, y, margin):
    """Mean loss over all triplets of pairs. No selection and no draw changes it.

    Parameters
    ----------
    left, right : tensors, shape (n_pairs, n_features)
        Unit rows. The pairs (left_i, right_i) show one person each.
    y : tensor of int, shape (n_pairs,)
        Identity of each pair.
    margin : float

    Returns
    -------
    loss : float
        In [0, 4 + margin], over the anchors left_i with every right_j of different people and
        the anchors right_i with every left_j, or nan if there are none.
    """
    bar = (left * right).sum(1) - margin / 2
    total, count = torch.zeros((), dtype=torch.float64, device=left.device), 0
    for rows in torch.arange(len(y), device=y.device).split(rows_per_block(len(y))):
        cosines = left[rows] @ right.T
        cosines[y[rows, None] == y] = -torch.inf
        # D2_ap - D2_an + margin = 2 (cos_an - bar)
        for excess in (cosines - bar[rows, None], cosines - bar):
            total += 2 * excess.clamp_min_(0).sum(dtype=torch.float64)
        count += 2 * int(torch.isfinite(cosines).sum())
    return float(total) / count if count else float("nan")


@torch.no_grad()
def semi_hard_negatives(
    left: torch.Tensor,
    right: torch.Tensor,
    y: torch.Tensor,
    *,
    margin: float = 0.6,
    generator: torch.Generator | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Draw, for both anchors of every pair, a negative that violates the margin.

    The pairs (left_i, right_i) show one person each. The anchor left_i has the positive
    right_i, and its negative is drawn uniformly among the right_j of different people with
    D2_ap + margin > D2_an. The anchor right_i has the positive left_i and a negative among
    the left_j. Where left and right are two domains, selfies and documents, the negative
    therefore comes from the positive's domain.

    Parameters
    ----------
    left, right : tensors, shape (n_pairs, n_features)
        Unit rows.
    y : tensor of int, shape (n_pairs,)
        Identity of each pair. Several pairs may show one person.
    margin : float, default=0.6
        Margin of squared Euclidean distances, which are in [0, 4].
    generator : torch.Generator, default=None
        Generator on the CPU, whatever the device of the rows.

    Returns
    -------
    of_left, of_right : tensors of int64, shape (n_pairs,)
        Row of ``right`` that is the negative of left_i, and of ``left`` that is that of
        right_i, or -1 where no candidate violates the margin.

    Raises
    ------
    ValueError
        If the shapes disagree.

    References
    ----------
    .. [1] Bruveris, M., Mortazavian, P., Gietema, J., & Mahadevan, M. (2020). Reducing
       Geographic Performance Differentials for Face Recognition. WACV Workshops.
       Section 4.1.

    Examples
    --------
    >>> import torch
    >>> from skfairfr.losses import semi_hard_negatives
    >>> left = right = torch.eye(3)
    >>> right = torch.tensor([[1.0, 0, 0], [0.9, 0.436, 0], [0, 0, 1.0]])
    >>> semi_hard_negatives(left, right, torch.arange(3))
    (tensor([ 1, -1, -1]), tensor([-1,  0, -1]))
    """
    if left.ndim != 2 or left.shape != right.shape or y.shape != left.shape[:1]:
        raise ValueError(
            "left and right must have the same shape (n_pairs, n_features), and y "
            f"(n_pairs,), got {tuple(left.shape)}, {tuple(right.shape)} and "
            f"{tuple(y.shape)}."
        )
    with torch.autocast(left.device.type, enabled=False):
        # For unit rows D2 = 2 - 2 cos: admissible are cosines above this one.
        bar = (left * right).sum(1) - margin / 2
        return _draw_over_blocks(left, right, bar, _SamePerson.of(y), generator)


@dataclass(frozen=True)
class _SamePerson:
    """For each pair, its person's pairs: ``order[start:stop]``."""

    order: torch.Tensor
    start: torch.Tensor
    stop: torch.Tensor

    @classmethod
    def of(cls, y):
        by_person, order = torch.sort(y, stable=True)
        return cls(
            order,
            torch.searchsorted(by_person, y),
            torch.searchsorted(by_person, y, right=True),
        )

    def places(self, rows):
        """Row within the block, and column, of all products of one person's pairs."""
        start = self.start[rows]
        length = self.stop[rows] - start
        index = torch.arange(len(length), device=length.device)
        row = index.repeat_interleave(length)
        shift = (start - (length.cumsum(0) - length)).repeat_interleave(length)
        place = torch.arange(len(row), device=length.device) + shift
        return row, self.order[place]


def _draw_over_blocks(left, right, bar, same_person, generator):
    """The negatives of both directions, a block of rows at a time."""
    n_pairs = len(left)
    of_left = torch.full((n_pairs,), -1, device=left.device)
    of_right, n_seen = of_left.clone(), torch.zeros_like(of_left)
    width = -(-n_pairs // CHUNK) * CHUNK
    buffer = left.new_empty((min(ROWS, n_pairs), n_pairs))
    # Columns after the last candidate stay 0: they are never admissible.
    admissible = torch.zeros((len(buffer), width), dtype=torch.bool, device=left.device)
    for start in range(0, n_pairs, ROWS):
        rows = slice(start, min(start + ROWS, n_pairs))
        size = rows.stop - start
        cosines = torch.mm(left[rows], right.T, out=buffer[:size])
        cosines[same_person.places(rows)] = -torch.inf
        block = admissible[:size]
        torch.gt(cosines, bar[rows, None], out=block[:, :n_pairs])
        of_left[rows] = _one_of_each_row(block, generator)
        torch.gt(cosines, bar, out=block[:, :n_pairs])
        drawn, place = _one_of_each_column(block, n_seen, generator)
        of_right[drawn] = start + place
    return of_left, of_right


def _one_of_each_row(block, generator):
    """Column of a uniformly drawn admissible element of each row, or -1 where none is."""
    n_rows = len(block)
    words = block.view(torch.int64).view(n_rows, -1, WORDS)
    counts = words.sum(2).view(torch.uint8).view(n_rows, -1, 8).sum(2)
    before = counts.cumsum(1)
    total = before[:, -1]
    rank = _draw_ranks(total, generator)
    chunk = (before <= rank[:, None]).sum(1).clamp_max(counts.shape[1] - 1)[:, None]
    rank = rank - (before - counts).gather(1, chunk).squeeze(1)
    index = torch.arange(n_rows, device=block.device)
    inside = block.view(n_rows, -1, CHUNK)[index, chunk.squeeze(1)]
    place = (inside.cumsum(1, dtype=torch.uint8) <= rank[:, None]).sum(1)
    return torch.where(total > 0, CHUNK * chunk.squeeze(1) + place, -1)


def _one_of_each_column(block, n_seen, generator):
    """Columns whose choice becomes a row of this block, and the row. Adds to n_seen."""
    n_columns = len(n_seen)
    parts = [words.sum(0) for words in block.view(torch.int64).split(BYTE)]
    n_here = torch.stack(parts).view(torch.uint8).sum(0)[:n_columns]
    n_seen += n_here
    # A rank among all seen so far lies in this block with probability n_here / n_seen:
    # so the choice stays uniform over all blocks.
    rank = _draw_ranks(n_seen, generator)
    drawn = (rank < n_here).nonzero().squeeze(1)
    ranks = rank[drawn].to(torch.int16)
    place = (block[:, drawn].cumsum(0, dtype=torch.int16) <= ranks).sum(0)
    return drawn, place


def _draw_ranks(counts, generator):
    """A number in 0..count - 1 for each count, uniformly, or 0 for a count of 0."""
    share = torch.rand(counts.shape, dtype=torch.float64, generator=generator)
    ranks = (share.to(counts.device) * counts).long()
    return torch.minimum(ranks, (counts - 1).clamp_min(0))
