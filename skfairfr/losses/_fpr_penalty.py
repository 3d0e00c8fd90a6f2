"""The penalty for images with more false positives than the batch has in total."""

import math
from dataclasses import replace

import torch
from torch import nn
from torch.nn.functional import normalize

from skfairfr.losses._penalised import (
    BASES,
    PENALTIES,
    WEIGHTINGS,
    PenaltyRule,
    penalised_cross_entropy,
)
from skfairfr.losses._softmax import WANTED_SCALE, is_scale, starting_centroids
from skfairfr.utils._validation import check_count, check_number, check_option


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
        "mean_square" has the value of the published head, whose alpha is 1 and far
        1 / (K - 1): alpha (1 + cos) p_i is taken from the own cosine, p_i the mean square
        of the selected cosines; cosines above the own one are not selected, since they may
        be wrong labels. Its gradient is ours: p_i has none, and identities not below the
        own logit keep their centroids.
    far : float, default=None
        Total share, in (0, 1); None is max(1e-4, 1 / (K - 1)).
    alpha : float, default=0.1
        Weight of the penalty, >= 0; with 0 the loss is that of ``base``.
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
        In [0, 1): share of the threshold of the batches before, since one batch holds few
        cosines at 1e-4.
    centroids : array-like, shape (n_identities, n_features), default=None
        Where the centroids start; None draws directions uniformly on the sphere.
    generator : torch.Generator, default=None
        What they are drawn with.

    Attributes
    ----------
    centroids : nn.Parameter, shape (n_identities, n_features)
        Trained; only their directions matter.
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
    identities. Of more, and with "mean_square", whose gradient is no derivative,
    ``create_graph=True`` is a ValueError.

    References
    ----------
    .. [1] Xu, X., Huang, Y., Shen, P., Li, S., Li, J., Huang, F., Li, Y., & Cui, Z.
       (2021). Consistent Instance False Positive Improves Fairness in Face Recognition.
       CVPR. The abstract gives the penalty; its form is read there and, for
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
        n_identities,
        n_features,
        *,
        penalty="ratio",
        far=None,
        alpha=0.1,
        base="cosface",
        scale=64.0,
        margin=0.35,
        weighting="count",
        momentum=0.0,
        centroids=None,
        generator=None,
    ):
        super().__init__()
        check_count(n_identities, "n_identities", 2)
        check_count(n_features, "n_features", 1)
        if far is None:
            far = min(max(1e-4, 1 / (n_identities - 1)), 0.5)
        self.rule = _checked(
            PenaltyRule(penalty, far, alpha, base, scale, margin, weighting, momentum)
        )
        start = starting_centroids(centroids, n_identities, n_features, generator)
        self.centroids = nn.Parameter(start)
        self.register_buffer("threshold", torch.tensor(math.nan))
        self.share = None

    def forward(self, embeddings, y):
        """Mean loss of a batch; while training, also its threshold.

        Parameters
        ----------
        embeddings : tensor, shape (n_samples, n_features)
            Of any length; only their directions matter.
        y : tensor of int64, shape (n_samples,)
            Identity of each row, in 0..n_identities - 1.

        Returns
        -------
        loss : tensor, shape ()
            >= 0.
        """
        embeddings = normalize(embeddings.to(self.centroids.dtype))
        loss, threshold, self.share = penalised_cross_entropy(
            embeddings, self.centroids, y, self.rule, self.threshold
        )
        if self.training:
            self.threshold.copy_(threshold)
        return loss


def _checked(rule):
    """The rule with floats for its numbers; raises unless each option is in its range."""
    for name, options in (
        ("penalty", PENALTIES),
        ("base", BASES),
        ("weighting", WEIGHTINGS),
    ):
        check_option(getattr(rule, name), name, options)
    ranges = {
        "far": (lambda far: 0 < far < 1, "must be in (0, 1), as 1e-3 is"),
        "alpha": (lambda alpha: 0 <= alpha < math.inf, "must be a number >= 0"),
        "scale": (is_scale, WANTED_SCALE),
        "margin": (lambda margin: 0 <= margin < 2, "must be in [0, 2)"),
        "momentum": (lambda momentum: 0 <= momentum < 1, "must be in [0, 1)"),
    }
    floats = {
        name: check_number(getattr(rule, name), name, holds, wanted)
        for name, (holds, wanted) in ranges.items()
    }
    return replace(rule, **floats)
