"""The loss of people who have no centroid: against the means of their own images."""

import torch
from torch.nn.functional import normalize

from skfairfr.losses._softmax import rows_per_block


@torch.no_grad()
def held_out_cross_entropy(embeddings, y, *, scale, offset=None, margin=0.0):
    """Mean cross-entropy with each identity's centroid the mean of its other images.

    An image is left out of the mean that it is compared with, so that the loss is not
    lowered by its being compared with itself.

    Parameters
    ----------
    embeddings : tensor, shape (n_samples, n_features)
        Unit rows.
    y : tensor of int64, shape (n_samples,)
    scale : tensor, shape (n_identities,)
        Factor of the cosines of each identity.
    offset : tensor, shape (n_identities,), default=None
        Added to its logits; None is zero.
    margin : float or callable, default=0.0
        Taken from the cosine to the own centroid, or a function of these cosines.

    Returns
    -------
    loss : float
        >= 0, over the images whose identity has another one; nan if there is none.
    """
    n_identities = len(scale)
    offset = torch.zeros_like(scale) if offset is None else offset
    total = embeddings.new_zeros((n_identities, embeddings.shape[1]))
    total.index_add_(0, y, embeddings)
    centroids = scale[:, None] * normalize(total)
    several = torch.bincount(y, minlength=n_identities) > 1
    judged = several[y].nonzero().squeeze(1)
    losses = []
    for rows in judged.split(rows_per_block(n_identities)):
        z, own = embeddings[rows], y[rows]
        others = normalize(total[own] - z)
        cosine = (z * others).sum(1)
        cosine = margin(cosine) if callable(margin) else cosine - margin
        target = scale[own] * cosine + offset[own]
        logits = torch.addmm(offset, z, centroids.T)
        logits.scatter_(1, own[:, None], target[:, None])
        losses.append(torch.logsumexp(logits, 1) - target)
    return float(torch.cat(losses).mean()) if losses else float("nan")
