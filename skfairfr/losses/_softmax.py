"""Softmax over identities: the Fair von Mises-Fisher loss, what all such losses share, and a penalty.

For few logits, torch's autograd is used. For many, autograd would keep several copies, and pass
over the centroids once for every elementary step. The loss then computes its own gradients, in
three matrix products, from each block of logits before the next one replaces it. A million
identities fit.

The penalty is for each image's own false positives. FPR21: the share of an image's impostor
cosines above a threshold unified over the batch, in proportion to the total share, is added to
all other logits. The same as subtracting it from the own one, as is done here. The margins on
the own cosine and the search for the k largest of very many cosines live here too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import nn
from torch.nn.functional import cross_entropy, linear, normalize

from skfairfr._core._rates import ROUNDING
from skfairfr._core._vmf import log_vmf_normalizer
from skfairfr.utils._errors import invalid, kind_of_value, plain
from skfairfr.utils._validation import (
    check_count,
    check_number,
    check_option,
    is_among,
    to_array,
    to_numbers,
)

BLOCK_ELEMENTS = 1 << 26  # logits in memory at once: 256 MB of float32
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
        Concentrations, positive and finite: one for all, one for each identity, one for
        each label of ``attribute``, or a function of an identity's attribute as a float
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
        problem = "must be positive, and finite as float32, got "
        problem += f"{kappas[bad[0]]} for {labels[bad[0]]!r}."
        remedy = "The paper's concentrations lie between 5 and 45."
        raise invalid("kappa", kappa, problem, remedy)
    return kappas


def _check_length(array, name, n_identities):
    if array.shape != (n_identities,):
        problem = f"needs one entry for each of {n_identities} identities, got shape "
        raise invalid(name, array, f"{problem}{array.shape}.")


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


# ---- cross-entropy with a penalty for each image's own false positives ---------------


BASES = ("cosface", "arcface", "softmax")
PENALTIES = ("ratio", "mean_square")
WEIGHTINGS = ("count", "cosine")
HELD_ELEMENTS = 1 << 27  # cosines in memory at once, to be used again for the loss
N_SAMPLED = 1 << 17  # elements in the sample that locates the k-th largest one


class FPRPenaltyLoss(nn.Module):
    """Margin softmax with a penalty on each image's own false positive rate.

    gamma_i is the share of image i's cosines to other identities' centroids at or above a
    threshold that is unified over the batch: there the total share is ``far``. Images with
    more than their part are penalised more, whoever they are: no group label is used.

    Parameters
    ----------
    n_identities : int
        K, at least 2.
    n_features : int
        At least 1.
    penalty : {"ratio", "mean_square"}, default="ratio"
        "ratio" adds alpha gamma_i / far to every other cosine, the paper's equation.
        "mean_square" is the published head, whose alpha is 1 and far 1 / (K - 1), value and
        gradient: alpha (1 + cos) p_i is taken from the own cosine, p_i the mean square of
        the selected cosines. Cosines above the own one may be wrong labels and are not
        selected. The factor 1 + cos has no gradient for the centroids. Nor has a selected
        cosine that is not below the own one less the margin.
    far : float, default=None
        Total share, in (0, 1). If None, max(1e-4, 1 / (K - 1)).
    alpha : float, default=0.1
        Weight of the penalty, >= 0. With 0 the loss is that of ``base``.
    base : {"cosface", "arcface", "softmax"}, default="cosface"
        Margin of the own cosine: cos - margin, cos(angle + margin), none.
    scale : float, default=64.0
        Factor of all cosines, positive.
    margin : float, default=0.35
        In [0, 2): of a cosine or, with "arcface", radians.
    weighting : {"count", "cosine"}, default="count"
        Whether a false positive counts 1, which has no gradient, or its cosine, which has.
        "ratio" only.
    momentum : float, default=0.0
        In [0, 1): share of the threshold of the batches before, since one batch contains few
        cosines at 1e-4.
    centroids : array-like, shape (n_identities, n_features), default=None
        Initial centroids. None draws directions uniformly on the sphere.
    generator : torch.Generator, default=None
        Source of randomness.

    Attributes
    ----------
    centroids : nn.Parameter, shape (n_identities, n_features)
        Trained. Only their directions matter.
    threshold : tensor, shape ()
        Unified threshold of the last training batch: cosines at or above it are accepted
        and count as false positives ("mean_square": above it). nan before, and while
        alpha is 0.
    share : tensor, shape (n_samples,)
        gamma_i ("ratio") or p_i ("mean_square") of the last batch.

    Raises
    ------
    ValueError
        If an option is unknown or a number out of its range.

    Notes
    -----
    The gradient can be differentiated in turn for up to 2**22 logits, images times
    identities. Of more, and with "mean_square", ``create_graph=True`` is a ValueError.

    References
    ----------
    .. [1] Xu, X., Huang, Y., Shen, P., Li, S., Li, J., Huang, F., Li, Y., & Cui, Z.
       (2021). Consistent Instance False Positive Improves Fairness in Face Recognition.
       CVPR. The abstract gives the penalty. Its form is read there and, for
       "mean_square", from the published head (``Cifp`` of the repository TFace).

    Examples
    --------
    >>> import torch
    >>> from skfairfr.losses import FPRPenaltyLoss
    >>> loss = FPRPenaltyLoss(5, 8, far=0.1)
    >>> embeddings = torch.randn(20, 8, requires_grad=True)
    >>> loss(embeddings, torch.arange(20) % 5).backward()
    >>> loss.share.shape
    torch.Size([20])
    """

    def __init__(
        self,
        n_identities: int,
        n_features: int,
        *,
        penalty: str = "ratio",
        far: float | None = None,
        alpha: float = 0.1,
        base: str = "cosface",
        scale: float = 64.0,
        margin: float = 0.35,
        weighting: str = "count",
        momentum: float = 0.0,
        centroids: ArrayLike | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        check_count(n_identities, "n_identities", 2)
        check_count(n_features, "n_features", 1)
        if far is None:
            far = min(max(1e-4, 1 / (n_identities - 1)), 0.5)
        check_option(penalty, "penalty", PENALTIES)
        check_option(base, "base", BASES)
        check_option(weighting, "weighting", WEIGHTINGS)
        self.penalty, self.base, self.weighting = penalty, base, weighting
        for name, value, holds, wanted in (
            ("far", far, lambda far: 0 < far < 1, "must be in (0, 1), as 1e-3 is"),
            ("alpha", alpha, lambda a: 0 <= a < math.inf, "must be a number >= 0"),
            ("scale", scale, lambda s: 0 < s < math.inf, "must be positive and finite"),
            ("margin", margin, lambda margin: 0 <= margin < 2, "must be in [0, 2)"),
            ("momentum", momentum, lambda m: 0 <= m < 1, "must be in [0, 1)"),
        ):
            setattr(self, name, check_number(value, name, holds, wanted))
        start = starting_centroids(centroids, n_identities, n_features, generator)
        self.centroids = nn.Parameter(start)
        self.register_buffer("threshold", torch.tensor(math.nan))
        self.share = None

    def forward(self, embeddings: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """Mean loss of a batch. While training, also its threshold.

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
        loss, threshold, self.share = penalised_cross_entropy(
            embeddings, self.centroids, y, self, self.threshold
        )
        if self.training:
            self.threshold.copy_(threshold)
        return loss

    def held_out(
        self, embeddings: torch.Tensor, y: torch.Tensor, n_identities: int
    ) -> float:
        """The loss, without penalty, of people without a trained centroid, a float.

        Parameters
        ----------
        embeddings : tensor, shape (n_samples, n_features)
            Unit rows.
        y : tensor of int64, shape (n_samples,)
            In 0..n_identities - 1.
        n_identities : int

        Returns
        -------
        loss : float
            >= 0, or nan where nobody has two images.
        """
        scale = embeddings.new_full((n_identities,), self.scale)
        margin = partial(target_cosine, base=self.base, margin=self.margin)
        return held_out_cross_entropy(embeddings, y, scale=scale, margin=margin)


def penalised_cross_entropy(embeddings, centroids, y, rule, running):
    """Mean loss of a batch, the threshold it used, each image's share of false positives.

    Parameters
    ----------
    embeddings : tensor, shape (n_samples, n_features)
        Unit rows.
    centroids : tensor, shape (n_identities, n_features)
        Of any length.
    y : tensor of int64, shape (n_samples,)
    rule : FPRPenaltyLoss
        Whose options are used.
    running : tensor, scalar
        The threshold so far, a cosine. NaN before the first batch.

    Returns
    -------
    loss : tensor, scalar
        It carries the gradient.
    threshold : tensor, scalar
        Unified threshold as a cosine, or -inf where fewer cosines than asked for are left.
    share : tensor, shape (n_samples,)
        gamma_i, or for "mean_square" the mean squared cosine p_i.
    """
    threshold, share, held = running.clone(), torch.zeros_like(embeddings[:, 0]), None
    taken = torch.zeros_like(share)
    if rule.base == "cosface":
        taken += rule.margin
    elif rule.base == "arcface":
        cosine = (embeddings * normalize(centroids[y])).sum(1)
        taken = cosine - target_cosine(cosine, rule.base, rule.margin)
    if rule.alpha:
        threshold, row, column, cosines, held = false_positives(
            embeddings, centroids, y, rule, running
        )
        if rule.penalty == "mean_square":
            towards = (embeddings * normalize(centroids[y].detach())).sum(1)
            below = cosines < (towards - taken)[row]
            selected = row, column, cosines, below
            share = mean_squares(embeddings, centroids, *selected)
            taken = taken + rule.alpha * (1 + towards) * share
        else:
            if rule.weighting == "cosine":
                ones = torch.ones_like(cosines)
                share = sums_of_cosines(embeddings, centroids, row, column, ones)
            else:
                share.index_add_(0, row, torch.ones_like(cosines))
            share = share / (len(centroids) - 1)
            taken = taken + rule.alpha * share / rule.far
    loss = identity_cross_entropy(
        embeddings,
        centroids,
        y,
        scale=embeddings.new_full((len(centroids),), rule.scale),
        shift=rule.scale * taken,
        once=rule.alpha > 0 and rule.penalty == "mean_square",
        cosines=held,
    )
    return loss, threshold, share.detach()


def target_cosine(cosine, base, margin):
    """The cosine that enters the loss for the own identity.

    Parameters
    ----------
    cosine : tensor, shape (n_samples,)
        Of each row to its own centroid, in [-1, 1].
    base : {"cosface", "arcface", "softmax"}
        "cosface": cos - margin. "arcface": cos(angle + margin) and, past the angle where
        that would rise again (pi - margin), the line cos - margin sin(margin), which goes
        on falling. "softmax": the cosine itself.
    margin : float
        Unused by "softmax".

    Returns
    -------
    target : tensor, shape (n_samples,)
    """
    if base != "arcface":
        return cosine - margin if base == "cosface" else cosine
    sine = (1 - cosine.square()).clamp_min(torch.finfo(cosine.dtype).eps).sqrt()
    turned = cosine * math.cos(margin) - sine * math.sin(margin)
    straight = cosine - margin * math.sin(margin)
    return torch.where(cosine > -math.cos(margin), turned, straight)


@torch.no_grad()
def false_positives(embeddings, centroids, y, rule, running):
    """The cosines that are selected in a batch, in blocks of rows.

    Parameters
    ----------
    embeddings, centroids, y, rule, running
        Of :func:`penalised_cross_entropy`.

    Returns
    -------
    threshold : tensor, scalar
    row, column : tensors of int64, shape (n_selected,)
        Image and identity of each.
    cosines : tensor, shape (n_selected,)
    held : tensor, shape (n_samples, n_identities), or None
        All cosines, if all were in memory and are as they were.
    """
    n_identities, strictly = len(centroids), rule.penalty == "mean_square"
    length = torch.linalg.vector_norm(centroids, dim=1)
    factors = centroids.to(product_type(embeddings))
    # A batch without a threshold of its own keeps the running one.
    runs = bool(rule.momentum and torch.isfinite(running))
    n_left, found = len(y) * (n_identities - 1), []
    most = n_to_select(rule.far, n_left)
    n_rows = min(len(y), rows_per_block(n_identities, HELD_ELEMENTS))
    buffer = embeddings.new_empty((n_rows, n_identities))
    for start in range(0, len(y), n_rows):
        z, own = embeddings[start : start + n_rows], y[start : start + n_rows, None]
        others = products(z, factors, out=buffer[: len(z)]).div_(length)
        reached = others.gather(1, own)
        others.scatter_(1, own, -math.inf)
        if strictly:
            # A cosine above the own one may be a wrong label.
            noisy = others > reached
            n_left -= int(noisy.count_nonzero())
            others.masked_fill_(noisy, -math.inf)
        flat = others.view(-1)
        place = places_of_largest(flat, most, running if runs else None)
        found.append((place + start * n_identities, flat[place]))
    place, cosines = (torch.cat(part) for part in zip(*found, strict=True))
    k, threshold = n_to_select(rule.far, n_left), cosines.new_tensor(-math.inf)
    if k:
        threshold = torch.topk(cosines, k).values[-1]
    if runs:
        new = threshold if k else running
        threshold = rule.momentum * running + (1 - rule.momentum) * new
    chosen = cosines > threshold if strictly else cosines >= threshold
    place, cosines = place[chosen], cosines[chosen]
    row = place.div(n_identities, rounding_mode="floor")
    held = None if strictly or n_rows < len(y) else others.scatter_(1, own, reached)
    return threshold, row, place % n_identities, cosines, held


def n_to_select(far, n):
    """How many of n cosines are at or above the threshold at least."""
    # 0.07 * 100 is 7.000000000000001 in floats, and must not be rounded up to 8.
    return math.ceil(far * n * (1 - ROUNDING))


def mean_squares(embeddings, centroids, row, column, cosines, below):
    """Mean square of each row's selected cosines, with its first derivative.

    Parameters
    ----------
    embeddings, centroids : tensors
        Of :func:`penalised_cross_entropy`.
    row, column, cosines : tensors, shape (n_selected,)
        Of :func:`false_positives`.
    below : tensor of bool, shape (n_selected,)
        Whether the centroid has a gradient.

    Returns
    -------
    means : tensor, shape (n_samples,)
        0 if none is selected.
    """
    counts = torch.bincount(row, minlength=len(embeddings)).clamp_min(1)
    weights, total = cosines / counts[row], 0
    for part, factors in ((below, centroids), (~below, centroids.detach())):
        chosen = row[part], column[part], weights[part]
        total = total + sums_of_cosines(embeddings, factors, *chosen)
    # The weights are constants, which is half of the derivative of a square.
    return 2 * total - total.detach()


def sums_of_cosines(embeddings, centroids, row, column, weights):
    """Weighted sum of each row's cosines to the selected centroids, with gradients."""
    column, place = column.unique(return_inverse=True)
    with torch.autocast(embeddings.device.type, enabled=False):
        chosen = torch.sparse_coo_tensor(
            torch.stack([row, place]),
            weights,
            (len(embeddings), len(column)),
            check_invariants=False,
        )
        sums = torch.sparse.mm(chosen, normalize(centroids[column]))
    return (embeddings * sums).sum(1)


def places_of_largest(flat, k, also=None):
    """Positions of at least the k largest elements, and of all ties with the k-th.

    A strided sample gives a lower bound. One comparison of all elements then leaves few
    candidates.

    Parameters
    ----------
    flat : tensor, shape (n_elements,)
        -inf where an element must not be found.
    k : int
        At least 1. More than there are finds all.
    also : tensor, scalar, default=None
        Elements at or above it are found, too.

    Returns
    -------
    place : tensor of int64, shape (n_found,)
    """
    for floor in (_guess(flat, k), None):
        if floor is None:
            # The guess failed: k is small, or the sample unlucky.
            floor = torch.topk(flat, min(k, flat.numel())).values[-1]
        if also is not None:
            floor = torch.minimum(floor, also)
        floor = floor.clamp_min(torch.finfo(flat.dtype).min)
        place = (flat >= floor).nonzero().squeeze(1)
        if place.numel() >= k:
            break
    return place


def _guess(flat, k):
    """A number that about 2 k elements exceed, from a strided sample."""
    # Odd strides do not fall into step with an even number of columns.
    stride = max(1, flat.numel() // N_SAMPLED) | 1
    sample = flat[::stride]
    expected = k / stride
    rank = min(sample.numel(), int(2 * expected + 4 * expected**0.5) + 4)
    return torch.topk(sample, rank).values[-1]
