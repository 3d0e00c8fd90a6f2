"""Softmax over identities, which several losses share.

For few logits, torch's autograd is used. For many, autograd would keep several copies, and pass
over the centroids once for every elementary step. The loss then computes its own gradients, in
three matrix products, from each block of logits before the next one replaces it. A million
identities fit.
"""

from __future__ import annotations

import numpy as np
import torch
from torch.nn.functional import cross_entropy, linear, normalize

from skfairfr.utils._errors import invalid, kind_of_value
from skfairfr.utils._validation import (
    to_numbers,
)

BLOCK_ELEMENTS = 1 << 26  # logits in memory at once: 256 MB of float32
# Logits of a batch up to which autograd is as quick as the blocks, its copies small.
AUTOGRAD_ELEMENTS = 1 << 22


def to_tensor(values, name, shape, dtype=np.float32):
    """Finite numbers as a tensor of this shape, in which a str matches any number."""
    if isinstance(values, torch.Tensor):
        values = values.detach().cpu()
    with np.errstate(over="ignore"):
        array = to_numbers(values, name, dtype)
    fits = len(shape) == array.ndim and all(
        isinstance(n, str) or n == m for n, m in zip(shape, array.shape, strict=True)
    )
    n_bad = array.size - np.isfinite(array).sum()
    if n_bad or not fits:
        problem = f"must have the shape ({', '.join(map(str, shape))}) and be finite as float32, "
        problem += f"got {array.shape} with {n_bad} numbers that are not."
        raise invalid(name, array, problem)
    return torch.from_numpy(array)


def starting_centroids(centroids, n_identities, n_features, generator):
    """Given centroids, or drawn ones, as a float32 tensor.

    Drawn by Xavier's rule (normal, of variance 2 / (n_identities + n_features)), as the
    code of EM22's authors draws them. The directions are uniform. The loss normalises its
    centroids, so the shorter they are, the further a step of the optimiser turns them.

    Parameters
    ----------
    centroids : array-like, shape (n_identities, n_features), or None
        None draws them.
    n_identities, n_features : int
    generator : torch.Generator or None

    Returns
    -------
    start : tensor of float32, shape (n_identities, n_features)

    Raises
    ------
    ValueError
        If those given have another shape or a row without a direction.
    """
    if generator is not None and not isinstance(generator, torch.Generator):
        problem = f"must be a torch.Generator, or None, got {kind_of_value(generator)}."
        raise invalid("generator", generator, problem)
    shape = int(n_identities), int(n_features)
    if centroids is None:
        return torch.randn(shape, generator=generator) * (2 / sum(shape)) ** 0.5
    start = to_tensor(centroids, "centroids", shape)
    if not torch.linalg.vector_norm(start, dim=1).all():
        problem = "must have a direction, but one of their rows is zero."
        raise invalid("centroids", centroids, problem)
    return start


def identity_cross_entropy(
    embeddings,
    centroids,
    y,
    *,
    scale,
    offset=None,
    shift=None,
    once=False,
    cosines=None,
):
    """Mean cross-entropy of logits scale_k cos(z_i, mu_k) + offset_k, less a shift.

    Parameters
    ----------
    embeddings : tensor, shape (n_samples, n_features)
        Unit rows z_i.
    centroids : tensor, shape (n_identities, n_features)
        Rows of any length. Their directions are the mu_k.
    y : tensor of int64, shape (n_samples,)
        Identity of each row.
    scale : tensor, shape (n_identities,)
        Positive. Treated as constant.
    offset : tensor, shape (n_identities,), default=None
        Treated as constant. If None, zero.
    shift : tensor, shape (n_samples,), default=None
        Subtracted from the logit of each row's own identity (a margin). It may carry a
        gradient. None is zero.
    once : bool, default=False
        Whether the shift has no second derivative.
    cosines : tensor, shape (n_samples, n_identities), default=None
        Those of all rows, if the caller has them. They may be overwritten.

    Returns
    -------
    loss : tensor, scalar
        >= 0. Under autocast the products are taken in its type, everything else stays in
        the type of the embeddings. Its gradient has one only where there are no blocks
        and the shift's has, else ``create_graph=True`` is an error.
    """
    if shift is None:
        shift = torch.zeros_like(embeddings[:, 0])
    few = len(embeddings) * len(scale) <= AUTOGRAD_ELEMENTS
    if few and not once:
        stretch = scale / torch.linalg.vector_norm(centroids, dim=1)
        factors = centroids * stretch[:, None]
        logits = linear(embeddings, factors).to(embeddings.dtype)
        if offset is not None:
            logits = logits + offset
        return cross_entropy(logits.scatter_add(1, y[:, None], -shift[:, None]), y)
    if offset is None:
        offset = torch.zeros_like(scale)
    n_rows = rows_per_block(len(scale)) if cosines is None else len(y)
    options = cosines, n_rows, torch.is_grad_enabled()
    return _CrossEntropyOfBlocks.apply(
        embeddings, centroids, shift, y, scale, offset, *options
    )


@torch.no_grad()
def held_out_cross_entropy(embeddings, y, *, scale, offset=None, margin=0.0):
    """Mean cross-entropy with each identity's centroid the mean of its other images.

    This is the loss of people who have no trained centroid. The mean that an image is
    compared with leaves that image out: comparing it with itself would lower the loss.

    Parameters
    ----------
    embeddings : tensor, shape (n_samples, n_features)
        Unit rows.
    y : tensor of int64, shape (n_samples,)
    scale : tensor, shape (n_identities,)
        Factor of the cosines of each identity.
    offset : tensor, shape (n_identities,), default=None
        Added to its logits. If None, zero.
    margin : float or callable, default=0.0
        Subtracted from the cosine to the own centroid, or a function of these cosines.

    Returns
    -------
    loss : float
        >= 0, over the images whose identity has another one, or nan if there is none.
        Under autocast the products are taken in its type, everything else stays in the
        type of the embeddings.
    """
    n_identities = len(scale)
    scale = scale.to(embeddings)
    offset = torch.zeros_like(scale) if offset is None else offset.to(embeddings)
    total = embeddings.new_zeros((n_identities, embeddings.shape[1]))
    total.index_add_(0, y, embeddings)
    centroids = scale[:, None] * normalize(total)
    several = torch.bincount(y, minlength=n_identities) > 1
    compared = several[y].nonzero().squeeze(1)
    losses = []
    for rows in compared.split(rows_per_block(n_identities)):
        z, own = embeddings[rows], y[rows]
        others = normalize(total[own] - z)
        cosine = (z * others).sum(1)
        cosine = margin(cosine) if callable(margin) else cosine - margin
        target = scale[own] * cosine + offset[own]
        logits = torch.addmm(offset, z, centroids.T).to(target.dtype)
        logits.scatter_(1, own[:, None], target[:, None])
        losses.append(torch.logsumexp(logits, 1) - target)
    return float(torch.cat(losses).mean()) if losses else float("nan")


def rows_per_block(n_identities, n_elements=None):
    """How many rows of logits are stored at once."""
    return max(1, (n_elements or BLOCK_ELEMENTS) // max(1, n_identities))


def product_type(tensor):
    """The type that matrix products are computed in: autocast's where it is on."""
    device = tensor.device.type
    if torch.is_autocast_enabled(device):
        return torch.get_autocast_dtype(device)
    return tensor.dtype


def softmax_(logits):
    """Replace logits, in place, by exp(logit - m). The columns of row maxima m, and of sums.

    The division by the sums is left to the smaller matrices that the rows are multiplied
    with.
    """
    largest = logits.amax(1, keepdim=True)
    logits.sub_(largest).exp_()
    return largest, logits.sum(1, keepdim=True)


class _CrossEntropyOfBlocks(torch.autograd.Function):
    """Loss and gradients at once. ``backward`` returns the gradients already computed."""

    @staticmethod
    def forward(ctx, embeddings, centroids, shift, y, scale, offset, *options):
        cosines, n_rows, needs_gradients = options
        factors = centroids.to(product_type(embeddings))
        losses, gradients = torch.empty_like(shift), ()
        if needs_gradients:
            gradients = [torch.zeros_like(t) for t in (embeddings, centroids, shift)]
            of_embeddings, of_centroids, of_shift = gradients
        with torch.autocast(embeddings.device.type, enabled=False):
            length = torch.linalg.vector_norm(centroids, dim=1)
            factor = stretch = scale / length
            if cosines is None:
                shape = min(n_rows, len(y)), len(centroids)
                buffer = embeddings.new_empty(shape)
            else:
                buffer, factor = cosines, scale
            for start in range(0, len(y), n_rows):
                rows = slice(start, start + n_rows)
                z, own = embeddings[rows], y[rows, None]
                logits = buffer[: len(z)]
                if cosines is None:
                    logits = products(z, factors, out=logits)
                torch.addcmul(offset, logits, factor, out=logits)
                target = logits.gather(1, own) - shift[rows, None]
                logits.scatter_(1, own, target)
                largest, total = softmax_(logits)
                losses[rows] = (largest + total.log() - target).squeeze(1)
                if not needs_gradients:
                    continue
                reached, over = logits.gather(1, own), total * len(y)
                of_shift[rows] = ((total - reached) / over).squeeze(1)
                logits.scatter_(1, own, reached - total)
                weights = logits.mul_(stretch).to(factors.dtype)
                of_embeddings[rows] = (weights @ factors).to(z.dtype) / over
                add_product_(of_centroids, weights.T, (z / over).to(factors.dtype))
            if needs_gradients:
                # The length of a centroid does not matter.
                along = torch.einsum("kd,kd->k", of_centroids, centroids)
                along.div_(length).div_(length)
                of_centroids.addcmul_(centroids, along[:, None], value=-1)
        ctx.save_for_backward(*gradients)
        return losses.mean()

    @staticmethod
    def backward(ctx, grad_loss):
        gradients = ctx.saved_tensors
        if torch.is_grad_enabled():
            k = len(gradients[1])
            raise ValueError(
                "create_graph=True asks for the gradient of a gradient, which this loss does "
                f"not have: give at most {AUTOGRAD_ELEMENTS // k} images at a time with {k} "
                "identities (penalty='mean_square' has none at all)."
            )
        # On a CPU the comparison is free and spares a pass over the centroids.
        if grad_loss.device.type != "cpu" or grad_loss != 1:
            gradients = [gradient * grad_loss for gradient in gradients]
        return *gradients, *[None] * 6


def products(embeddings, factors, out=None):
    """Products of rows and centroids, taken in the type of the latter, in that of the former."""
    if factors.dtype == embeddings.dtype:
        return torch.mm(embeddings, factors.T, out=out)
    return (embeddings.to(factors.dtype) @ factors.T).to(embeddings.dtype)


def add_product_(total, left, right):
    """Add the product of two matrices, whose type may be another, in place."""
    if left.dtype == total.dtype:
        total.addmm_(left, right)
    else:
        total.add_(left @ right)
