"""Identity cross-entropy against discriminators that read the group from an embedding."""

from __future__ import annotations

import math

import torch
from numpy.typing import ArrayLike
from torch import nn
from torch.nn.functional import cross_entropy, log_softmax, normalize, selu

from skfairfr.losses._softmax import (
    held_out_cross_entropy,
    identity_cross_entropy,
    starting_centroids,
)
from skfairfr.utils._torch import new_linear
from skfairfr.utils._validation import check_count, check_number


class GroupAdversaryLoss(nn.Module):
    """Softmax over identities, and a penalty for embeddings that reveal the group.

    Several discriminators, small networks, are trained to read the group from an
    embedding. The embeddings are penalised by how far the surest of the discriminators is
    from indifference: alpha times the largest, over the discriminators, of the mean
    Kullback-Leibler divergence of their output from the uniform distribution. The adversary
    is one-sided: a gradient of this loss never reaches a discriminator. Train these in
    turn by :meth:`discriminator_loss`, with an optimizer of their own.

    Parameters
    ----------
    n_identities : int
        At least 2.
    n_features : int
        Number of features of the embeddings, at least 1.
    n_groups : int
        At least 2.
    alpha : float, default=1.0
        Weight of the penalty, >= 0. With 0 there are no discriminators.
    scale : float, default=20.0
        Factor of the cosines to the centroids, positive.
    n_discriminators : int, default=5
        At least 1.
    discriminator_dim : int, default=128
        Width of a discriminator's hidden layer.
    centroids : array-like, shape (n_identities, n_features), default=None
        Initial centroids. None draws directions uniformly on the sphere.
    generator : torch.Generator, default=None
        Source of randomness, also for the discriminators.

    Attributes
    ----------
    centroids : nn.Parameter, shape (n_identities, n_features)
        Trained. Only their directions matter.
    discriminators : nn.ModuleList
        Each maps unit rows to logits of the groups, (n_samples, n_groups). Their
        parameters need no gradient until the caller trains one.

    Raises
    ------
    ValueError
        If a number is out of its range.

    Notes
    -----
    The gradient can be differentiated in turn for up to 2**22 logits, images times
    identities. With more, ``create_graph=True`` is a ValueError.

    References
    ----------
    .. [1] Dhar, P., Gleason, J., Roy, A., Castillo, C. D., & Chellappa, R. (2021). PASS:
       Protected Attribute Suppression System for Mitigating Bias in Face Recognition.
       ICCV. The abstract and the authors' code were read.

    Examples
    --------
    >>> import torch
    >>> from skfairfr.losses import GroupAdversaryLoss
    >>> loss = GroupAdversaryLoss(5, 8, 2)
    >>> embeddings = torch.randn(20, 8, requires_grad=True)
    >>> loss(embeddings, torch.arange(20) % 5).backward()
    >>> group = torch.arange(20) % 2
    >>> loss.discriminators[0].requires_grad_(True)
    GroupDiscriminator(
      (hidden): Linear(in_features=8, out_features=128, bias=True)
      (output): Linear(in_features=128, out_features=2, bias=True)
    )
    >>> loss.discriminator_loss(embeddings.detach(), group, 0).backward()
    """

    def __init__(
        self,
        n_identities: int,
        n_features: int,
        n_groups: int,
        *,
        alpha: float = 1.0,
        scale: float = 20.0,
        n_discriminators: int = 5,
        discriminator_dim: int = 128,
        centroids: ArrayLike | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        counts = {
            "n_identities": (n_identities, 2),
            "n_features": (n_features, 1),
            "n_groups": (n_groups, 2),
            "n_discriminators": (n_discriminators, 1),
            "discriminator_dim": (discriminator_dim, 1),
        }
        for name, (count, least) in counts.items():
            check_count(count, name, least)
        wanted = "must be a number >= 0"
        alpha = check_number(alpha, "alpha", lambda a: 0 <= a < math.inf, wanted)
        wanted = "must be positive and finite"
        scale = check_number(scale, "scale", lambda s: 0 < s < math.inf, wanted)
        self.alpha = alpha
        start = starting_centroids(centroids, n_identities, n_features, generator)
        scales = torch.full((n_identities,), scale, dtype=torch.float32)
        self.register_buffer("scale", scales)
        self.centroids = nn.Parameter(start)
        self.discriminators = nn.ModuleList(
            GroupDiscriminator(n_features, discriminator_dim, n_groups, generator)
            for _ in range(n_discriminators if alpha else 0)
        ).requires_grad_(False)

    def forward(self, embeddings: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """Mean loss of a batch.

        Parameters
        ----------
        embeddings : tensor, shape (n_samples, n_features)
            Rows of any length. Only their directions matter.
        y : tensor of int64, shape (n_samples,)
            Identity of each row, in 0..n_identities - 1. Groups are not asked for.

        Returns
        -------
        loss : tensor, shape ()
            >= 0.
        """
        embeddings = normalize(embeddings.to(self.centroids.dtype))
        loss = identity_cross_entropy(embeddings, self.centroids, y, scale=self.scale)
        return loss + self.alpha * self.penalty(embeddings) if self.alpha else loss

    def penalty(self, embeddings: torch.Tensor) -> torch.Tensor:
        """How far the surest discriminator is from indifference.

        Parameters
        ----------
        embeddings : tensor, shape (n_samples, n_features)
            Unit rows.

        Returns
        -------
        penalty : tensor, shape ()
            Largest mean divergence of a discriminator from the uniform distribution,
            >= 0, or 0 where there are no discriminators.
        """
        if not len(self.discriminators):
            return embeddings.new_zeros(())
        return torch.stack(
            [mean_divergence(read(embeddings)) for read in self.discriminators]
        ).max()

    def discriminator_loss(
        self,
        embeddings: torch.Tensor,
        group: torch.Tensor,
        which: int,
        weight: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Mean cross-entropy of one discriminator, for its own training.

        Parameters
        ----------
        embeddings : tensor, shape (n_samples, n_features)
            Unit rows.
        group : tensor of int64, shape (n_samples,)
            Codes in 0..n_groups - 1.
        which : int
            Number of the discriminator.
        weight : tensor, shape (n_groups,), default=None
            Weight of each group's images. If None, all are equal.

        Returns
        -------
        loss : tensor, shape ()
            >= 0.
        """
        logits = self.discriminators[which](embeddings)
        weight = None if weight is None else weight.to(logits)
        return cross_entropy(logits, group, weight)

    def held_out(
        self, embeddings: torch.Tensor, y: torch.Tensor, n_identities: int
    ) -> float:
        """The loss of people without a trained centroid, a float.

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
        scale = embeddings.new_full((n_identities,), float(self.scale[0]))
        loss = held_out_cross_entropy(embeddings, y, scale=scale)
        with torch.no_grad():
            return loss + self.alpha * float(self.penalty(embeddings))


class GroupDiscriminator(nn.Module):
    """Logits of the groups from unit rows: two layers, selu between them."""

    def __init__(self, n_features, hidden_dim, n_groups, generator=None):
        super().__init__()
        self.hidden = new_linear(n_features, hidden_dim, generator)
        self.output = new_linear(hidden_dim, n_groups, generator)

    def forward(self, z):
        # A feature of a unit row is small where there are many.
        z = z.to(self.hidden.weight.dtype) * z.shape[1] ** 0.5
        return self.output(selu(self.hidden(z)))


def mean_divergence(logits):
    """Mean Kullback-Leibler divergence of softmax outputs from the uniform distribution.

    Parameters
    ----------
    logits : tensor, shape (n_samples, n_groups)

    Returns
    -------
    divergence : tensor, shape ()
        Of the uniform distribution relative to the outputs, >= 0.
    """
    return -log_softmax(logits, 1).mean() - math.log(logits.shape[1])
