"""Cross-entropy with a penalty for each image's own false positives.

FPR21: the share of an image's impostor cosines above a threshold unified over the batch, in
proportion to the total share, is added to all other logits. The same as subtracting it from the
own one, as is done here. The margins on the own cosine and the search for the k largest of very
many cosines are here too.
"""

from __future__ import annotations

import math
from functools import partial

import torch
from numpy.typing import ArrayLike
from torch import nn
from torch.nn.functional import normalize

from skfairfr._core._rates import ROUNDING
from skfairfr.losses._softmax import (
    held_out_cross_entropy,
    identity_cross_entropy,
    product_type,
    products,
    rows_per_block,
    starting_centroids,
)
from skfairfr.utils._validation import (
    check_count,
    check_number,
    check_option,
)

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
        Margin in [0, 2): of a cosine or, with "arcface", radians.
    weighting : {"count", "cosine"}, default="count"
        Whether a false positive counts 1, which has no gradient, or its cosine, which has.
        "ratio" only.
    momentum : float, default=0.0
        Share, in [0, 1), of the earlier batches' threshold, since one batch contains few
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
    identities. With more, and with "mean_square", ``create_graph=True`` is a ValueError.

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
            Codes in 0..n_identities - 1.
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
