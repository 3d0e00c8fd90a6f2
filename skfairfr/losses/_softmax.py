"""Softmax over identities: where centroids start, the loss, the loss without centroids.

The training loss comes with its gradients, in three matrix products. Autograd would keep
the (n_samples, n_identities) logits, copy them into probabilities and pass over the
centroids once for every elementary step. Here the gradients are computed from each block
of logits before the next block replaces it, so that a million identities fit.
"""

from typing import NamedTuple

import torch
from torch.autograd.function import once_differentiable
from torch.nn.functional import normalize

from skfairfr.utils._errors import Argument, ArgumentError, kind_of_value
from skfairfr.utils._memory import check_space
from skfairfr.utils._validation import to_numbers

WANTED_SCALE = "must be positive, and finite as float32"
BLOCK_ELEMENTS = 1 << 26  # logits held at once: 256 MB of float32


def is_scale(scale):
    """Whether a float is neither 0 nor infinite as the factor of float32 cosines."""
    return torch.finfo(torch.float32).tiny <= scale <= torch.finfo(torch.float32).max


def starting_centroids(centroids, n_identities, n_features, generator):
    """Given centroids, or drawn ones, as a float32 tensor.

    Drawn by Xavier's rule (normal, of variance 2 / (n_identities + n_features)), as the
    code of EM22's authors draws them. The directions are uniform. The loss normalises its
    centroids, so that the shorter they are, the further a step of the optimiser turns them.

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
    shape = (int(n_identities), int(n_features))
    if generator is not None and not isinstance(generator, torch.Generator):
        raise ArgumentError(
            Argument("generator"),
            f" must be a torch.Generator, or None; got {kind_of_value(generator)}.",
            value=generator,
        )
    if centroids is None:
        # float32, with gradients.
        largest = "n_identities" if shape[0] > shape[1] else "n_features"
        space = 8 * shape[0] * shape[1]
        check_space(Argument(largest, max(shape)), space, "give a smaller number.")
        return torch.randn(shape, generator=generator) * (2 / sum(shape)) ** 0.5
    if isinstance(centroids, torch.Tensor):
        centroids = centroids.detach().cpu()
    start = torch.tensor(to_numbers(centroids, "centroids"), dtype=torch.float32)
    if start.shape != shape:
        raise ValueError(
            f"centroids must have shape {shape}, (n_identities, n_features); got "
            f"{tuple(start.shape)}."
        )
    length = torch.linalg.vector_norm(start, dim=1)
    if not bool(((length > 0) & torch.isfinite(length)).all()):
        raise ValueError(
            "centroids must have a direction; a row is zero or not finite."
        )
    return start


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
        Subtracted from the logit of each row's own identity (a margin); it may carry a
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


@torch.no_grad()
def held_out_cross_entropy(embeddings, y, *, scale, offset=None, margin=0.0):
    """Mean cross-entropy with each identity's centroid the mean of its other images.

    This is the loss of people who have no trained centroid. The mean that an image is
    compared with leaves that image out, so that comparing it with itself does not lower
    the loss.

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
        Subtracted from the cosine to the own centroid, or a function of these cosines.

    Returns
    -------
    loss : float
        >= 0, over the images whose identity has another one; nan if there is none.
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


def rows_per_block(n_identities, block_elements=None):
    """How many rows of logits are held at once."""
    return max(1, (block_elements or BLOCK_ELEMENTS) // max(1, n_identities))


def product_type(tensor):
    """The type that matrix products are computed in: autocast's where it is on."""
    device = tensor.device.type
    if torch.is_autocast_enabled(device):
        return torch.get_autocast_dtype(device)
    return tensor.dtype


def softmax_(logits):
    """Replace logits, in place, by exp(logit - m); return the row maxima m and the sums.

    The division by the sums is left to the smaller matrices that the rows are multiplied
    with.
    """
    largest = logits.amax(1, keepdim=True)
    logits.sub_(largest).exp_()
    return largest.squeeze(1), logits.sum(1)


def through_directions_(of_scaled, scaled, scale, stretch):
    """Turn the gradient by scaled unit rows, in place, into that by the rows themselves."""
    along = torch.einsum("kd,kd->k", of_scaled, scaled) / scale.square()
    of_scaled.addcmul_(scaled, along[:, None], value=-1).mul_(stretch)


class _Gradients(NamedTuple):
    """Of the mean loss, by embeddings, by scaled centroids and by shifts."""

    embeddings: torch.Tensor
    scaled: torch.Tensor
    shift: torch.Tensor


class _IdentityCrossEntropy(torch.autograd.Function):
    """Loss and gradients at once; ``backward`` returns the gradients already computed."""

    @staticmethod
    def forward(
        ctx, embeddings, centroids, scale, offset, shift, y, n_rows, with_gradients
    ):
        factors_type = product_type(embeddings)
        with torch.autocast(embeddings.device.type, enabled=False):
            length = torch.linalg.vector_norm(centroids, dim=1)
            stretch = (scale / length)[:, None]
            scaled = centroids * stretch
            factors = scaled.to(factors_type)
            gradients = None
            if with_gradients:
                gradients = _Gradients(
                    torch.empty_like(embeddings),
                    torch.zeros_like(scaled),
                    torch.empty_like(shift),
                )
            loss = _loss_over_blocks(
                embeddings, scaled, factors, offset, shift, y, n_rows, gradients
            )
            if with_gradients:
                _add_own_centroids(gradients, embeddings, scaled, y)
                through_directions_(gradients.scaled, scaled, scale, stretch)
        ctx.save_for_backward(*(gradients or ()))
        return loss

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_loss):
        gradients = ctx.saved_tensors
        # On a CPU the comparison is free and spares a pass over the centroids.
        if grad_loss.device.type != "cpu" or grad_loss != 1:
            gradients = [gradient * grad_loss for gradient in gradients]
        of_embeddings, of_centroids, of_shift = gradients
        return of_embeddings, of_centroids, None, None, of_shift, None, None, None


def _loss_over_blocks(embeddings, scaled, factors, offset, shift, y, n_rows, gradients):
    """Mean loss; adds to ``gradients``, unless None, what all identities contribute.

    ``factors`` are the scaled centroids in the type that products are computed in.
    """
    n_samples = len(embeddings)
    losses = torch.empty_like(shift)
    buffer = scaled.new_empty((min(n_rows, n_samples), len(scaled)))
    for start in range(0, n_samples, n_rows):
        rows = slice(start, min(start + n_rows, n_samples))
        logits = buffer[: rows.stop - start]
        if factors.dtype == logits.dtype:
            torch.addmm(offset, embeddings[rows], factors.T, out=logits)
        else:
            products = embeddings[rows].to(factors.dtype) @ factors.T
            logits.copy_(products).add_(offset)
        own = y[rows, None]
        target = logits.gather(1, own).squeeze(1) - shift[rows]
        logits.scatter_(1, own, target[:, None])
        largest, total = softmax_(logits)
        losses[rows] = largest + total.log() - target
        if gradients is not None:
            _add_block(gradients, rows, embeddings, factors, logits, total, own)
    return losses.mean()


def _add_block(gradients, rows, embeddings, factors, exponentials, total, own):
    """What all identities contribute to the gradients, from the rows of one block."""
    kind = exponentials.dtype
    weighted = (embeddings[rows] / (total * len(embeddings))[:, None]).to(factors.dtype)
    probabilities = exponentials.to(factors.dtype)
    pulled = (probabilities @ factors).to(kind)
    gradients.embeddings[rows] = pulled / total[:, None]
    if factors.dtype == kind:
        gradients.scaled.addmm_(probabilities.T, weighted)
    else:
        gradients.scaled.add_(probabilities.T @ weighted)
    gradients.shift[rows] = 1 - exponentials.gather(1, own).squeeze(1) / total


def _add_own_centroids(gradients, embeddings, scaled, y):
    """What each row's own identity contributes: minus the centroid, minus the embedding."""
    n_samples = len(embeddings)
    gradients.embeddings.sub_(scaled[y]).div_(n_samples)
    gradients.scaled.index_add_(0, y, embeddings, alpha=-1 / n_samples)
    gradients.shift.div_(n_samples)
