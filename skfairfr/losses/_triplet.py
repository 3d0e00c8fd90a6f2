"""The triplet loss, over selected triplets or over all triplets of some pairs."""

import torch
from torch import nn
from torch.nn.functional import normalize, relu

from skfairfr.losses._softmax import rows_per_block
from skfairfr.utils._validation import check_number


class TripletLoss(nn.Module):
    """Mean of max(D2_ap - D2_an + margin, 0) over triplets.

    D2_ap and D2_an are the squared distances of the unit embeddings of an anchor to a
    positive, an image of the same person, and to a negative, one of another. Which
    triplets there are is not its affair: see :func:`semi_hard_negatives`.

    Parameters
    ----------
    margin : float, default=0.6
        In (0, 4], as squared distances of unit rows lie in [0, 4].

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

    def __init__(self, margin=0.6):
        super().__init__()
        wanted = "must lie in (0, 4], a squared distance"
        self.margin = check_number(margin, "margin", lambda m: 0 < m <= 4, wanted)

    def forward(self, embeddings, triplets):
        """Mean loss of a batch.

        Parameters
        ----------
        embeddings : tensor, shape (n_samples, n_features)
            Of any length; only their directions matter.
        triplets : tensor of int64, shape (n_triplets, 3)
            Rows of anchor, positive and negative.

        Returns
        -------
        loss : tensor, shape ()
            >= 0; 0 where there is no triplet.
        """
        if len(triplets) == 0:
            return embeddings.sum() * 0
        anchor, positive, negative = normalize(embeddings)[triplets].unbind(1)
        near = (anchor - positive).square().sum(1)
        far = (anchor - negative).square().sum(1)
        return relu(near - far + self.margin).mean()


@torch.no_grad()
def mean_triplet_loss(left, right, y, margin):
    """Mean loss over all triplets of pairs; no selection and no draw changes it.

    Parameters
    ----------
    left, right : tensors, shape (n_pairs, n_features)
        Unit rows; the pairs (left_i, right_i) show one person each.
    y : tensor of int, shape (n_pairs,)
        Identity of each pair.
    margin : float

    Returns
    -------
    loss : float
        In [0, 4 + margin], over the anchors left_i with every right_j of other people and
        the anchors right_i with every left_j; nan if there are none.
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
