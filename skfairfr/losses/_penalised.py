"""Cross-entropy with a penalty for each image's own false positives.

FPR21: the share of an image's impostor cosines above a threshold unified over the batch,
in proportion to the total share, is added to all other logits; the same as subtracting it
from the own one, as is done here. The margins on the own cosine and the search for the k
largest of very many cosines live here too.
"""

import math
from dataclasses import dataclass

import torch
from torch.nn.functional import normalize

from skfairfr._core._rates import ROUNDING
from skfairfr.losses._softmax import (
    identity_cross_entropy,
    product_type,
    products,
    rows_per_block,
)

BASES = ("cosface", "arcface", "softmax")
PENALTIES = ("ratio", "mean_square")
WEIGHTINGS = ("count", "cosine")
HELD_ELEMENTS = 1 << 27  # cosines held at once, to be used again for the loss
N_SAMPLED = 1 << 17  # elements in the sample that locates the k-th largest one


@dataclass(frozen=True)
class PenaltyRule:
    """How images are penalised; see FPRPenaltyLoss for the meaning."""

    penalty: str
    far: float
    alpha: float
    base: str
    scale: float
    margin: float
    weighting: str
    momentum: float


def penalised_cross_entropy(embeddings, centroids, y, rule, running):
    """Mean loss of a batch, the threshold it used, each image's share of false positives.

    Parameters
    ----------
    embeddings : tensor, shape (n_samples, n_features)
        Unit rows.
    centroids : tensor, shape (n_identities, n_features)
        Of any length.
    y : tensor of int64, shape (n_samples,)
    rule : PenaltyRule
    running : tensor, scalar
        The threshold so far, a cosine; nan before the first batch.

    Returns
    -------
    loss : tensor, scalar
        It carries the gradient.
    threshold : tensor, scalar
        Unified threshold as a cosine; -inf where fewer cosines than asked for are left.
    share : tensor, shape (n_samples,)
        gamma_i, or for "mean_square" the mean squared cosine p_i.
    """
    threshold, share, held = running.clone(), torch.zeros_like(embeddings[:, 0]), None
    taken = torch.zeros_like(share)
    if rule.base == "cosface":
        taken += rule.margin
    elif rule.base == "arcface":
        cosine = (embeddings * normalize(centroids[y])).sum(1)
        taken = cosine - target_cosine(cosine, rule.base, rule.margin)[0]
    if rule.alpha:
        threshold, row, column, cosines, held = false_positives(
            embeddings, centroids, y, rule, running
        )
        if rule.penalty == "mean_square":
            n_selected = share.index_add(0, row, torch.ones_like(cosines))
            share.index_add_(0, row, cosines.square()).div_(n_selected.clamp_min(1))
            towards = (embeddings * normalize(centroids[y].detach())).sum(1)
            taken = taken + rule.alpha * (1 + towards) * share
        else:
            if rule.weighting == "cosine":
                share = sums_of_cosines(embeddings, centroids, row, column)
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
        spared=rule.alpha > 0 and rule.penalty == "mean_square",
        cosines=held,
    )
    return loss, threshold, share.detach()


def target_cosine(cosine, base, margin):
    """The cosine that enters the loss for the own identity, and its slope.

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
    target, slope : tensors, shape (n_samples,)
        The slope is the derivative by the cosine.
    """
    if base == "softmax":
        return cosine, torch.ones_like(cosine)
    if base == "cosface":
        return cosine - margin, torch.ones_like(cosine)
    sine = (1 - cosine.square()).clamp_min(torch.finfo(cosine.dtype).eps).sqrt()
    turned = cosine * math.cos(margin) - sine * math.sin(margin)
    turning = math.cos(margin) + cosine / sine * math.sin(margin)
    falls = cosine > -math.cos(margin)
    straight = cosine - margin * math.sin(margin)
    return (
        torch.where(falls, turned, straight),
        torch.where(falls, turning, torch.ones_like(cosine)),
    )


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
        All cosines, where they were held at once and are as they were.
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


def sums_of_cosines(embeddings, centroids, row, column):
    """For each row, the sum of its cosines to the selected centroids; with gradients."""
    column, place = column.unique(return_inverse=True)
    with torch.autocast(embeddings.device.type, enabled=False):
        chosen = torch.sparse_coo_tensor(
            torch.stack([row, place]),
            torch.ones_like(row, dtype=embeddings.dtype),
            (len(embeddings), len(column)),
            check_invariants=False,
        )
        sums = torch.sparse.mm(chosen, normalize(centroids[column]))
    return (embeddings * sums).sum(1)


def places_of_largest(flat, k, also=None):
    """Positions of at least the k largest elements, and of all ties with the k-th.

    A strided sample gives a lower bound; one comparison of all elements then leaves few
    candidates.

    Parameters
    ----------
    flat : tensor, shape (n_elements,)
        -inf where an element must not be found.
    k : int
        At least 1; more than there are finds all.
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
