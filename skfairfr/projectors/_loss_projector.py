"""Head trained with a margin softmax, or with any loss."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import TYPE_CHECKING, Self, Unpack

import torch
from numpy.typing import ArrayLike
from torch import nn

from skfairfr._compat import StrOptions, fit_context
from skfairfr.losses import FPRPenaltyLoss
from skfairfr.projectors._base import BaseProjector, Training, with_parameters
from skfairfr.projectors._people import everyone_by_most
from skfairfr.projectors._training import made
from skfairfr.utils._errors import invalid
from skfairfr.utils._types import Column

# Margin of each named loss: of a cosine or, with "arcface", radians.
MARGINS = {"softmax": 0.0, "cosface": 0.35, "arcface": 0.5}


@with_parameters(
    {"loss": ("cosface", [StrOptions(set(MARGINS)), nn.Module, callable])},
    n_positional=1,
)
class LossProjector(BaseProjector):
    """Project embeddings by any loss: what a head does before fairness is asked for.

    A small network between a frozen encoder and its matcher, trained as those of
    :class:`EthicalModule` and :class:`FPRPenaltyProjector` are, with a loss that is yours
    to choose. With a named one it is the control for those two: what a head alone does to
    the disparities. With one of your own it is where a new idea is tried.

    Parameters
    ----------
    loss : {"softmax", "cosface", "arcface"}, module or callable, default="cosface"
        A name is a cross-entropy of 64 times the cosines to a centroid of each person, with
        no margin, 0.35 of the own cosine, or 0.5 radians of the own angle. A torch module of
        your own, of which a copy is trained, or ``loss(n_identities, n_features)`` that
        makes one, is called as ``module(embeddings, labels)``: unit rows of a batch,
        (n_images, n_features), and codes of their identities, (n_images,), in
        0..n_identities - 1 of the people trained on in this fit. A module whose ``forward``
        has an argument ``groups`` also gets the codes of the groups, (n_images,): the place
        among the sorted labels of the group of most of the person's images, -1 if that is
        unknown. It gives a scalar. Its weights are trained with the head.
    head : {"residual", "mlp"}, module or callable, default="residual"
        "mlp" is W2 relu(W1 x + b1) + b2 of the unit row x, and "residual" adds that to x. A
        torch module, or a function ``head(n_features)`` that returns one, is trained instead.
    hidden_dim : int, default=None
        Width of the hidden layer. If None, twice the features.
    output_dim : int, default=None
        Features of the projected embeddings. If None, as many as X has. Another number
        needs ``head="mlp"``.
    init : {"means", "random"}, default="means"
        Initial centroids: the mean of each person's unit rows after the initial head
        ("means"), or drawn by Xavier's rule ("random"), which needs more epochs. With ``warm_start``,
        new people start at means.
    max_epochs : int, default=20
        Passes over the images.
    batch_size : int, default=1024
        Images in a step.
    lr : float, default=1e-3
        Learning rate of the first epoch, times 64 / n_features for the residual head.
    final_lr : float, default=None
        Learning rate of the last epoch, reached geometrically. None keeps ``lr``.
    optimizer : {"adam"}, class or partial, default="adam"
        "adam", a class of torch.optim, which is called with the rate, or a partial of one.
        ``set_params(optimizer__weight_decay=0.01)`` adds an argument.
    sampler : callable, default=None
        ``sampler(identity, group, generator)`` returns the positions of an epoch, or a list
        of those of every batch. Its ``group`` is None if no groups were passed.
        :mod:`skfairfr.samplers` has some by group. None visits each image once.
    validation_fraction : float, default=0.0
        Share of the identities, in [0, 1), reserved for validation. If above 0, the
        weights of the best epoch are kept instead of the last. An epoch compares at
        most 2**24 pairs of their images. With more than 5,792 images, these are a fixed
        sample of people from every group.
    monitor : {"loss", "bfar", "bfrr", "frr_at_far"}, default="loss"
        Criterion of the best epoch and of ``patience``, smaller is better: the loss of
        validation people (a named one with the means of their images as centroids, one of
        your own if it has no weights) or, at ``monitor_far``, a disparity or the FRR.
    monitor_far : float, default=1e-3
        FAR of the monitored rates, in (0, 1).
    patience : int, default=None
        Epochs without a better value after which training stops. None never stops
        early.
    precision : {"float32", "tf32", "bfloat16"}, default="float32"
        Precision of the matrix products. The rest is float32.
    checkpoint_dir : str or path-like, default=None
        Folder for the state after every epoch, from which an interrupted fit continues.
    callbacks : list of skorch callbacks, default=None
        Called after the built-in ones. The validation people are skorch's validation set.
    device : str or torch.device, default="auto"
        "cpu", "cuda", or "auto" for CUDA if available. CUDA was not tested. The same
        Results there may differ for one ``random_state``.
    random_state : int, RandomState instance or None, default=None
        Source of the initial weights, the batches and the validation people.
    warm_start : bool, default=False
        Whether ``fit`` continues from the previous fit.
    verbose : int, default=0
        1 prints a line for each epoch.

    Attributes
    ----------
    head_ : torch.nn.Module
        Maps (n_samples, n_features) tensors of any row length to unit rows. On the CPU.
    identities_ : ndarray, shape (n_identities,)
        Labels of the people trained on.
    centroids_ : ndarray of float32, shape (n_identities, n_features_out)
        Unit rows.
    net_ : skorch.NeuralNet
        Trained net, with ``module_``, ``criterion_`` and ``history``, not in saved files.
    history_ : frame
        A row for each epoch: losses, monitored values, learning rate, seconds.
    n_validation_images_ : int
        Validation images that the ``valid_`` columns of the history compare, 5,792 at
        most, or 0 without validation.
    n_features_in_ : int
    feature_names_in_ : ndarray, shape (n_features,)
        Names of the columns, if X was a frame with names.

    See Also
    --------
    EthicalModule : A concentration for each group.
    FPRPenaltyProjector : The margin softmax with a penalty on false positives.

    References
    ----------
    .. [1] Wang, H., et al. (2018). CosFace: Large Margin Cosine Loss for Deep Face
       Recognition. CVPR.
    .. [2] Deng, J., Guo, J., Xue, N., & Zafeiriou, S. (2019). ArcFace: Additive Angular
       Margin Loss for Deep Face Recognition. CVPR.

    Examples
    --------
    >>> from skfairfr import make_face_embeddings
    >>> from skfairfr.projectors import LossProjector
    >>> data = make_face_embeddings(40, n_features=16, random_state=0)
    >>> projector = LossProjector("arcface", max_epochs=3, random_state=0)
    >>> projector.fit(data.X, data.y).transform(data.X).shape == data.X.shape
    True
    """

    if TYPE_CHECKING:

        def __init__(
            self, loss: str | nn.Module | Callable = ..., **training: Unpack[Training]
        ) -> None: ...

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: ArrayLike, y: Column, sensitive_features: Column | None = None
    ) -> Self:
        """Train the head.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
            Embeddings of a frozen encoder. On a CPU a memory map may be larger than
            memory.
        y : array-like, shape (n_samples,)
            Identity of each image, or :func:`~skfairfr.face_labels` with its group, or a
            frame with the columns ``identity`` and ``group``.
        sensitive_features : array-like, shape (n_samples,), default=None
            Group of each image, for a ``sampler`` and a ``monitor``. None or NaN is
            unknown.

        Returns
        -------
        self : LossProjector

        Raises
        ------
        ValueError
            If there are not two people, the mean of a person's images is zero
            (``init="means"``), the loss is none of the kinds above, takes groups and none
            are passed, becomes infinite, or has weights if ``monitor="loss"`` requires that
            of validation people.

        Warns
        -----
        UserWarning
            If the fit is interrupted after its first epoch: it keeps the weights as they are
            then, steps of the epoch that was broken off among them, and a history without it.
        """
        return self._fit(X, y, sensitive_features)

    @property
    def _loss_has_centroids(self):
        return isinstance(self.loss, str)

    def _read_people(self, identity, group, domain):
        return everyone_by_most(identity, group)

    def _make_loss(self, people, rows, n_features, centroids, generator):
        n_identities = people.identities.size
        if isinstance(self.loss, str):
            return FPRPenaltyLoss(
                n_identities,
                n_features,
                alpha=0.0,
                base=self.loss,
                scale=64.0,
                margin=MARGINS[self.loss],
                centroids=centroids,
                generator=generator,
            )
        loss = made(self.loss, generator, n_identities, n_features)
        if not isinstance(loss, nn.Module):
            problem = "must be a name, a torch module of (embeddings, labels), or a function of "
            problem += "the numbers of identities and features that makes one, got "
            raise invalid(
                "loss", self.loss, f"{problem}{self.loss!r}, which made {loss!r}."
            )
        if "groups" not in signature(loss.forward).parameters:
            return loss
        if people.attribute is None:
            problem, remedy = "is missing, and the loss takes groups;", "give one."
            raise invalid("sensitive_features", None, problem, remedy)
        return WithGroups(loss, people.attribute)

    def _held_out_loss(self, people, loss, embeddings, y, X):
        if isinstance(self.loss, str):
            return super()._held_out_loss(people, loss, embeddings, y, X)
        if not any(True for _ in loss.parameters()):
            if isinstance(loss, WithGroups):
                loss = WithGroups(loss.loss, people.attribute).to(y.device)
            return float(loss(embeddings, y))
        if self.monitor != "loss":
            return float("nan")
        problem = "is 'loss', which cannot be measured: the loss has weights of those "
        problem += "trained on, and validation people have none."
        remedy = "Set monitor='frr_at_far', or validation_fraction=0."
        raise invalid("monitor", self.monitor, problem, remedy)


class WithGroups(nn.Module):
    """A loss of the caller's that gets the group of every image of a batch, too.

    Parameters
    ----------
    loss : nn.Module
    groups : ndarray of int, shape (n_identities,)
        Code of the group of each person.
    """

    def __init__(self, loss, groups):
        super().__init__()
        self.loss = loss
        codes = torch.as_tensor(groups, dtype=torch.int64)
        self.register_buffer("groups", codes, persistent=False)

    def forward(self, embeddings, labels):
        """The loss of a batch, a scalar."""
        return self.loss(embeddings, labels, groups=self.groups[labels])
