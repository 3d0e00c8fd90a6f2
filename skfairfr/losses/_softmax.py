"""Cross-entropy over all identities, with its gradients, in three matrix products.

Autograd would keep the (n_samples, n_identities) logits, copy them into probabilities and
pass over the centroids once for every elementary step. Here the gradients are made where
the logits are at hand, a block of rows at a time, so that a million identities fit.
"""

import torch
from torch.autograd.function import once_differentiable

BLOCK_ELEMENTS = 1 << 26  # logits held at once: 256 MB of float32


def identity_cross_entropy(
    embeddings, centroids, y, *, scale, offset=None, shift=None, block_elements=None
):
    """Mean cross-entropy of logits scale_k cos(z_i, mu_k) + offset_k, less a shift.

    Parameters
    ----------
    embeddings : tensor, shape (n_samples, n_features)
        Unit rows z_i.
    centroids : tensor, shape (n_identities, n_features)
        Of any length; their directions are the mu_k.
    y : tensor of int64, shape (n_samples,)
        Identity of each row.
    scale : tensor, shape (n_identities,)
        Positive; treated as constant.
    offset : tensor, shape (n_identities,), default=None
        Treated as constant; None is zero.
    shift : tensor, shape (n_samples,), default=None
        Taken from the logit of each row's own identity (a margin); it may carry a
        gradient. None is zero.
    block_elements : int, default=None
        How many logits are held at once; None is 2**26. The result changes by rounding
        only.

    Returns
    -------
    loss : tensor, scalar
        >= 0. Under autocast the products are taken in its type, everything else stays in
        the type of the embeddings.
    """
    if offset is None:
        offset = torch.zeros_like(scale)
    if shift is None:
        shift = torch.zeros_like(embeddings[:, 0])
    n_rows = rows_per_block(len(scale), block_elements)
    return _IdentityCrossEntropy.apply(
        embeddings, centroids, scale, offset, shift, y, n_rows, torch.is_grad_enabled()
    )


def rows_per_block(n_identities, block_elements=None):
    """How many rows of logits are held at once."""
    return max(1, (block_elements or BLOCK_ELEMENTS) // max(1, n_identities))


def product_type(tensor):
    """The type matrix products are taken in: autocast's where it is on."""
    device = tensor.device.type
    if torch.is_autocast_enabled(device):
        return torch.get_autocast_dtype(device)
    return tensor.dtype


def softmax_(logits):
    """Turn logits, in place, into exp(logit - m); returns the row maxima m and the sums.

    Dividing by the sums is left to the smaller matrices that the rows are multiplied with.
    """
    largest = logits.amax(1, keepdim=True)
    logits.sub_(largest).exp_()
    return largest.squeeze(1), logits.sum(1)


class _IdentityCrossEntropy(torch.autograd.Function):
    """Loss and gradients at once; ``backward`` only hands them out."""

    @staticmethod
    def forward(ctx, embeddings, centroids, scale, offset, shift, y, n_rows, grad):
        products = product_type(embeddings)
        with torch.autocast(embeddings.device.type, enabled=False):
            length = torch.linalg.vector_norm(centroids, dim=1)
            stretch = (scale / length)[:, None]
            scaled = centroids * stretch
            loss, grads = _over_blocks(
                (embeddings, scaled, scaled.to(products), offset, shift, y),
                n_rows,
                grad,
            )
            if grad:
                through_directions_(grads[1], scaled, scale, stretch)
        ctx.save_for_backward(*grads)
        return loss

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_loss):
        grads = ctx.saved_tensors
        # On a CPU the comparison is free and spares a pass over the centroids.
        if grad_loss.device.type != "cpu" or grad_loss != 1:
            grads = [grad * grad_loss for grad in grads]
        of_embeddings, of_centroids, of_shift = grads
        return of_embeddings, of_centroids, None, None, of_shift, None, None, None


def _over_blocks(data, n_rows, grad):
    """Mean loss and, where ``grad``, its gradients by embeddings, scaled rows, shift."""
    embeddings, scaled, factors, offset, shift, y = data
    n_samples = len(embeddings)
    losses = torch.empty_like(shift)
    grads = ()
    if grad:
        grads = (
            torch.empty_like(embeddings),
            torch.zeros_like(scaled),
            torch.empty_like(shift),
        )
    buffer = scaled.new_empty((min(n_rows, n_samples), len(scaled)))
    for start in range(0, n_samples, n_rows):
        rows = slice(start, min(start + n_rows, n_samples))
        block = [t[rows] for t in (embeddings, shift, y, losses)]
        logits = buffer[: len(block[0])]
        _one_block(block, factors, offset, logits, (rows, n_samples), grads)
    if grad:
        # The rows' own identities, one each: minus the centroid, minus the embedding.
        of_embeddings, of_scaled, of_shift = grads
        of_embeddings.sub_(scaled[y]).div_(n_samples)
        of_scaled.index_add_(0, y, embeddings, alpha=-1 / n_samples)
        of_shift.div_(n_samples)
    return losses.mean(), grads


def _one_block(block, factors, offset, logits, place, grads):
    """The losses of some rows, and what all identities add to the gradients."""
    embeddings, shift, y, losses = block
    products = factors.dtype
    if products == logits.dtype:
        torch.addmm(offset, embeddings, factors.T, out=logits)
    else:
        logits.copy_(embeddings.to(products) @ factors.T).add_(offset)
    own = y[:, None]
    target = logits.gather(1, own).squeeze(1) - shift
    logits.scatter_(1, own, target[:, None])
    largest, total = softmax_(logits)
    losses.copy_(largest + total.log() - target)
    if not grads:
        return
    rows, n_samples = place
    of_embeddings, of_scaled, of_shift = grads
    weighted = (embeddings / (total * n_samples)[:, None]).to(products)
    probabilities = logits.to(products)
    of_embeddings[rows] = (probabilities @ factors).to(logits.dtype) / total[:, None]
    if products == logits.dtype:
        of_scaled.addmm_(probabilities.T, weighted)
    else:
        of_scaled.add_(probabilities.T @ weighted)
    of_shift[rows] = 1 - logits.gather(1, own).squeeze(1) / total


def through_directions_(of_scaled, scaled, scale, stretch):
    """The gradient by scaled unit rows, in place, as that by rows of any length."""
    along = torch.einsum("kd,kd->k", of_scaled, scaled) / scale.square()
    of_scaled.addcmul_(scaled, along[:, None], value=-1).mul_(stretch)
