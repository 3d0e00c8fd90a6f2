"""Cross-entropy with a penalty for each image's own false positives, with its gradients.

FPR21: the share of an image's impostor cosines above a threshold unified over the batch,
in proportion to the total share, is added to all other logits; the same as subtracting it
from the own one. The margins on the own cosine and the search for the k largest of very
many cosines live here too.
"""

import math
from dataclasses import dataclass

import torch
from torch.autograd.function import once_differentiable

from skfairfr._core._rates import ROUNDING
from skfairfr.losses._softmax import product_type, softmax_, through_directions_

BASES = ("cosface", "arcface", "softmax")
PENALTIES = ("ratio", "mean_square")
WEIGHTINGS = ("count", "cosine")
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
        It carries the gradient; all (n_samples, n_identities) logits are held once.
    threshold : tensor, scalar
        Unified threshold as a cosine; -inf where fewer cosines than asked for are left.
    share : tensor, shape (n_samples,)
        gamma_i, or for "mean_square" the mean squared cosine p_i.
    """
    return _PenalisedCrossEntropy.apply(
        embeddings, centroids, y, rule, running, torch.is_grad_enabled()
    )


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


def kth_largest(values, k):
    """The k-th largest element, and all elements at least as large.

    A strided sample gives a lower bound; one comparison of all elements then leaves few
    candidates, and only those are ordered.

    Parameters
    ----------
    values : tensor, shape (n_rows, n_columns)
        -inf where an element must not be found.
    k : int
        In [1, values.numel()].

    Returns
    -------
    threshold : tensor, scalar
        -inf where fewer than k elements are finite.
    place : tensor of int64, shape (n_found,)
        Positions of the elements >= threshold in the flattened array; none for -inf.
    """
    flat = values.reshape(-1)
    floor = _guess(flat, k)
    place = at_least(flat, floor)
    if place.numel() < k:
        # The guess failed: k is small, or the sample unlucky.
        threshold = torch.topk(flat, k, sorted=True).values[-1]
        if torch.isinf(threshold):
            return threshold, place[:0]
        return threshold, at_least(flat, threshold)
    found = flat[place]
    threshold = torch.topk(found, k, sorted=True).values[-1]
    return threshold, place[found >= threshold]


def at_least(flat, floor):
    """Positions of the elements >= floor."""
    return (flat >= floor).nonzero().squeeze(1)


def _guess(flat, k):
    """A number that about 2 k elements exceed, from a strided sample."""
    # Odd strides do not fall into step with an even number of columns.
    stride = max(1, flat.numel() // N_SAMPLED) | 1
    sample = flat[::stride]
    expected = k / stride
    rank = min(sample.numel(), int(2 * expected + 4 * expected**0.5) + 4)
    guess = torch.topk(sample, rank, sorted=True).values[-1]
    return guess.clamp_min(torch.finfo(flat.dtype).min)


class _PenalisedCrossEntropy(torch.autograd.Function):
    """Loss and gradients at once; ``backward`` returns the gradients already computed."""

    @staticmethod
    def forward(ctx, embeddings, centroids, y, rule, running, grad):
        products = product_type(embeddings)
        with torch.autocast(embeddings.device.type, enabled=False):
            stretch = rule.scale / torch.linalg.vector_norm(centroids, dim=1)[:, None]
            scaled = centroids * stretch
            batch = _PenalisedBatch(embeddings, scaled, scaled.to(products), y, rule)
            threshold = batch.penalise(running)
            loss = batch.loss()
            grads = ()
            if grad:
                grads = batch.gradients()
                square = torch.full_like(stretch[:, 0], rule.scale)
                through_directions_(grads[1], scaled, square, stretch)
        ctx.save_for_backward(*grads)
        ctx.mark_non_differentiable(threshold, batch.share)
        return loss, threshold, batch.share

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_loss, _threshold, _share):
        of_embeddings, of_centroids = ctx.saved_tensors
        if grad_loss.device.type != "cpu" or grad_loss != 1:
            of_embeddings = of_embeddings * grad_loss
            of_centroids = of_centroids * grad_loss
        return of_embeddings, of_centroids, None, None, None, None


class _PenalisedBatch:
    """Logits of a batch in one buffer: cosines first, gradients last.

    The methods are called once each, in the order ``penalise``, ``loss``, ``gradients``.
    """

    def __init__(self, embeddings, scaled, factors, y, rule):
        self.embeddings, self.scaled, self.factors = embeddings, scaled, factors
        self.y, self.own, self.rule = y, y[:, None], rule
        products = embeddings.to(factors.dtype)
        self.logits = (products @ factors.T).to(embeddings.dtype)
        self.own_logit = self.logits.gather(1, self.own).squeeze(1)
        self.cosine = self.own_logit / rule.scale
        self.target, self.slope = target_cosine(self.cosine, rule.base, rule.margin)

    def penalise(self, running):
        """The threshold as a cosine; sets each image's share."""
        rule, others = self.rule, self.logits
        others.scatter_(1, self.own, -math.inf)
        if rule.alpha == 0:
            self.share = torch.zeros_like(self.cosine)
            return running.clone()
        n_left = others.numel() - len(others)
        if rule.penalty == "mean_square":
            # A cosine above the own one may be a wrong label.
            noisy = others > self.own_logit[:, None]
            n_left -= int(noisy.count_nonzero())
            others = others.masked_fill(noisy, -math.inf)
        # 0.07 * 100 is 7.000000000000001 in floats, and must not be rounded up to 8.
        k = math.ceil(rule.far * n_left * (1 - ROUNDING))
        threshold, place = (
            kth_largest(others, k) if k else (others.new_tensor(-math.inf), self.y[:0])
        )
        if rule.momentum and torch.isfinite(running):
            # A batch without a threshold of its own keeps the running one.
            kept, new = running * rule.scale, threshold
            new = kept if torch.isinf(new) else new
            threshold = rule.momentum * kept + (1 - rule.momentum) * new
            place = at_least(others.reshape(-1), threshold)
        if rule.penalty == "mean_square":
            place = place[others.reshape(-1)[place] > threshold]
        self._set_shares(place)
        return threshold / rule.scale

    def _set_shares(self, place):
        """Set gamma_i or p_i from the selected places."""
        n_others = self.logits.shape[1] - 1
        self.place = place
        self.row = place.div(self.logits.shape[1], rounding_mode="floor")
        cosines = self.logits.reshape(-1)[place] / self.rule.scale
        empty = torch.zeros_like(self.cosine)
        if self.rule.penalty == "mean_square":
            n_selected = empty.index_add(0, self.row, torch.ones_like(cosines))
            total = empty.index_add(0, self.row, cosines.square())
            self.share = total / n_selected.clamp_min(1)
            return
        if self.rule.weighting == "count":
            cosines = torch.ones_like(cosines)
        self.share = empty.index_add(0, self.row, cosines) / n_others

    def loss(self):
        """Mean cross-entropy; leaves exp(logit - largest) in the buffer."""
        rule = self.rule
        if rule.penalty == "ratio":
            penalty = rule.alpha * self.share / rule.far
        else:
            penalty = rule.alpha * (1 + self.cosine) * self.share
        target = rule.scale * (self.target - penalty)
        self.logits.scatter_(1, self.own, target[:, None])
        self.largest, self.total = softmax_(self.logits)
        self.reached = (target - self.largest).exp()
        return (self.largest + self.total.log() - target).mean()

    def gradients(self):
        """Of the mean loss, by embeddings and by scaled unit rows."""
        rule, logits, total = self.rule, self.logits, self.total
        n_samples = len(logits)
        missing = self.reached / total - 1
        own = total * missing * self.slope
        logits.scatter_(1, self.own, own[:, None])
        counted = rule.penalty == "ratio" and rule.weighting == "cosine"
        if counted and rule.alpha:
            share = -missing * total * (rule.alpha / (rule.far * (logits.shape[1] - 1)))
            logits.view(-1).index_add_(0, self.place, share[self.row])
        products = self.factors.dtype
        of_embeddings = (logits.to(products) @ self.factors).to(logits.dtype)
        of_embeddings /= total[:, None]
        if rule.penalty == "mean_square" and rule.alpha:
            pull = -rule.alpha * missing * self.share
            of_embeddings += pull[:, None] * self.scaled[self.y]
            # Identities not below the own logit may be the image's true one: their
            # centroids stay where they are.
            logits.masked_fill_(logits >= self.reached[:, None], 0)
        weighted = (self.embeddings / (total * n_samples)[:, None]).to(products)
        of_scaled = (logits.to(products).T @ weighted).to(logits.dtype)
        return of_embeddings / n_samples, of_scaled
