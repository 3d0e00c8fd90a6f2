"""Softmax over identities: the Fair von Mises-Fisher loss, and what all such losses share.

Few logits are torch's affair. Of many, autograd would keep several copies, and pass over
the centroids once for every elementary step: there the loss comes with its gradients, in
three matrix products, computed from each block of logits before the next one replaces it,
so that a million identities fit.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import nn
from torch.nn.functional import cross_entropy, linear, normalize

from skfairfr._core._vmf import log_vmf_normalizer
from skfairfr.utils._errors import invalid, kind_of_value, plain
from skfairfr.utils._validation import (
    check_count,
    check_number,
    is_among,
    to_array,
    to_numbers,
)

BLOCK_ELEMENTS = 1 << 26  # logits held at once: 256 MB of float32
# Logits of a batch up to which autograd is as quick as the blocks, its copies small.
AUTOGRAD_ELEMENTS = 1 << 22


class FairVMFLoss(nn.Module):
    """Cross-entropy of a mixture of von Mises-Fisher distributions, one an identity.

    The logit of identity k for the unit embedding z is
    log C_d(kappa_k) + kappa_k cos(z, mu_k), where kappa_k is chosen by the group of the
    identity. A larger kappa assumes the images of a group to lie closer about their
    centroids. With one kappa for all it is the softmax cross-entropy with that scale.

    Parameters
    ----------
    n_identities : int
        At least 2.
    n_features : int
        Dimension d of the embeddings, at least 2.
    kappa : float, array-like of shape (n_identities,), dict or callable, default=20.0
        Concentrations, positive and finite: one for all; one for each identity; one for
        each label of ``attribute``; or a function of an identity's attribute as a float
        (its age, say).
    attribute : array-like, shape (n_identities,), default=None
        Group, or value of a continuous attribute, of each identity: what a dict or a
        callable is asked with.
    margin : float, default=0.0
        Taken from the cosine to the own centroid, in [0, 2): a margin that EM22 names as
        open, larger asks for more.
    centroids : array-like, shape (n_identities, n_features), default=None
        Initial centroids. None draws directions uniformly on the sphere.
    generator : torch.Generator, default=None
        Source of randomness.

    Attributes
    ----------
    centroids : nn.Parameter, shape (n_identities, n_features)
        Trained. Only their directions matter.
    kappa : tensor, shape (n_identities,)
    log_normalizer : tensor, shape (n_identities,)
        log C_d(kappa).

    Raises
    ------
    ValueError
        If a kappa is not positive and finite, is missing for a label, or the shapes
        disagree. If the margin is out of range.

    Notes
    -----
    The gradient can be differentiated in turn for up to 2**22 logits, images times
    identities. Of more, ``create_graph=True`` is a ValueError.

    References
    ----------
    .. [1] Conti, J.-R., Noiry, N., Despiegel, V., Gentric, S., & Clémençon, S. (2022).
       Mitigating Gender Bias in Face Recognition Using the von Mises-Fisher Mixture
       Model. ICML. Equation 6.

    Examples
    --------
    >>> import torch
    >>> from skfairfr.losses import FairVMFLoss
    >>> loss = FairVMFLoss(
    ...     3, 8, {"female": 25.0, "male": 15.0}, attribute=["female", "male", "male"]
    ... )
    >>> loss.kappa
    tensor([25., 15., 15.])
    >>> embeddings = torch.randn(5, 8, requires_grad=True)
    >>> value = loss(embeddings, torch.tensor([0, 1, 2, 1, 0]))
    >>> value.backward()
    >>> embeddings.grad.shape
    torch.Size([5, 8])
    """

    def __init__(
        self,
        n_identities: int,
        n_features: int,
        kappa: ArrayLike | dict | Callable = 20.0,
        *,
        attribute: ArrayLike | None = None,
        margin: float = 0.0,
        centroids: ArrayLike | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        check_count(n_identities, "n_identities", 2)
        check_count(n_features, "n_features", 2)
        wanted = "must lie in [0, 2), a cosine"
        self.margin = check_number(margin, "margin", lambda m: 0 <= m < 2, wanted)
        start = starting_centroids(centroids, n_identities, n_features, generator)
        kappas = resolve_kappa(kappa, attribute, n_identities)
        log_normalizer = log_vmf_normalizer(kappas, n_features)
        # float32 represents log C = 868 (d = 512) to 6e-5 only. A constant cancels in the
        # softmax, so the loss uses the difference to the largest: exactly 0 where all
        # kappa are equal.
        offset = log_normalizer - log_normalizer.max()
        buffers = {"kappa": kappas, "log_normalizer": log_normalizer, "offset": offset}
        for name, values in buffers.items():
            self.register_buffer(name, torch.tensor(values, dtype=torch.float32))
        self.centroids = nn.Parameter(start)

    def forward(self, embeddings: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """Mean loss of a batch.

        Parameters
        ----------
        embeddings : tensor, shape (n_samples, n_features)
            Rows of any length. Only their directions matter.
        y : tensor of int64, shape (n_samples,)
            Identity of each row, in 0..n_identities - 1.

        Returns
        -------
        loss : tensor, shape ()
            >= 0.
        """
        embeddings = normalize(embeddings.to(self.centroids.dtype))
        return identity_cross_entropy(
            embeddings,
            self.centroids,
            y,
            scale=self.kappa,
            offset=self.offset,
            shift=self.margin * self.kappa[y],
        )

    def logits(self, embeddings: torch.Tensor) -> torch.Tensor:
        """log C_d(kappa_k) + kappa_k cos(z_i, mu_k), without margin.

        Parameters
        ----------
        embeddings : tensor, shape (n_samples, n_features)

        Returns
        -------
        logits : tensor, shape (n_samples, n_identities)
            Within [log C_d(kappa_k) - kappa_k, log C_d(kappa_k) + kappa_k].
        """
        embeddings = normalize(embeddings.to(self.centroids.dtype))
        cosines = linear(embeddings, normalize(self.centroids))
        return self.log_normalizer + self.kappa * cosines.clamp(-1, 1)


def resolve_kappa(kappa, attribute, n_identities):
    """The concentration of each identity, float64 of shape (n_identities,)."""
    given, labels = kappa, range(n_identities)
    if callable(kappa) or isinstance(kappa, dict):
        if attribute is None:
            problem = f"is None, and kappa={kappa!r} is chosen by it;"
            remedy = "give the group, or the value, of each identity."
            raise invalid("attribute", None, problem, remedy)
        read = to_numbers if callable(kappa) else to_array
        labels = read(attribute, "attribute")
        _check_length(labels, "attribute", n_identities)
        labels = labels.tolist()
        ask = kappa if callable(kappa) else kappa.get
        if not callable(kappa):
            missing = [label for label in labels if not is_among(label, kappa)]
            if missing:
                problem = (
                    f"has no entry for {missing[0]!r}, but for {plain(list(kappa))}."
                )
                raise invalid("kappa", kappa, problem)
        given = [ask(label) for label in labels]
    kappas = to_numbers(given, "kappa")
    if kappas.ndim == 0:
        kappas = np.full(n_identities, kappas)
    _check_length(kappas, "kappa", n_identities)
    # They are kept as float32.
    bad = np.flatnonzero(~((kappas > 0) & (kappas <= np.finfo(np.float32).max)))
    if bad.size:
        problem = "must be positive, and finite as float32; got "
        problem += f"{kappas[bad[0]]} for {labels[bad[0]]!r}."
        remedy = "The paper's concentrations lie between 5 and 45."
        raise invalid("kappa", kappa, problem, remedy)
    return kappas


def _check_length(array, name, n_identities):
    if array.shape != (n_identities,):
        problem = f"needs one entry for each of {n_identities} identities; got shape "
        raise invalid(name, array, f"{problem}{array.shape}.")


def to_tensor(values, name, shape, dtype=np.float32):
    """Finite numbers as a tensor of this shape, where a str matches any number."""
    if isinstance(values, torch.Tensor):
        values = values.detach().cpu()
    with np.errstate(over="ignore"):
        array = to_numbers(values, name, dtype)
    fits = len(shape) == array.ndim and all(
        isinstance(n, str) or n == m for n, m in zip(shape, array.shape, strict=True)
    )
    n_bad = array.size - np.isfinite(array).sum()
    if n_bad or not fits:
        problem = f"must have the shape ({', '.join(map(str, shape))}) and be finite as float32; "
        problem += f"got {array.shape}, of which {n_bad} numbers are not."
        raise invalid(name, array, problem)
    return torch.from_numpy(array)


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
    if generator is not None and not isinstance(generator, torch.Generator):
        problem = f"must be a torch.Generator, or None; got {kind_of_value(generator)}."
        raise invalid("generator", generator, problem)
    shape = int(n_identities), int(n_features)
    if centroids is None:
        return torch.randn(shape, generator=generator) * (2 / sum(shape)) ** 0.5
    start = to_tensor(centroids, "centroids", shape)
    if not torch.linalg.vector_norm(start, dim=1).all():
        problem = "must have a direction; a row of them is zero."
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
