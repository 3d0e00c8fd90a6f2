"""The Fair von Mises-Fisher loss."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import nn
from torch.nn.functional import linear, normalize

from skfairfr._core._vmf import log_vmf_normalizer
from skfairfr.losses._softmax import identity_cross_entropy, starting_centroids
from skfairfr.utils._errors import invalid, plain
from skfairfr.utils._validation import (
    check_count,
    check_number,
    is_among,
    to_array,
    to_numbers,
)


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
    identities. With more, ``create_graph=True`` is a ValueError.

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
        read, kappa_of = to_numbers, kappa
        if isinstance(kappa, dict):
            read, kappa_of = to_array, kappa.get
        labels = read(attribute, "attribute")
        _check_length(labels, "attribute", n_identities)
        labels = labels.tolist()
        for label in labels if isinstance(kappa, dict) else ():
            if not is_among(label, kappa):
                problem = f"has no entry for {label!r}, but for {plain(list(kappa))}."
                raise invalid("kappa", kappa, problem)
        given = [kappa_of(label) for label in labels]
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
