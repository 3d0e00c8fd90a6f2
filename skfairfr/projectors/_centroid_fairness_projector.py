"""Head that gives all groups the quantiles of a reference group's scores."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any, Self, Unpack

import numpy as np
import torch
from numpy.typing import ArrayLike

from skfairfr._compat import Interval, fit_context
from skfairfr.losses import CentroidFairnessLoss
from skfairfr.projectors._base import BaseProjector, Training, with_parameters
from skfairfr.projectors._people import everyone, people_by_group
from skfairfr.projectors._training import sums_by_identity
from skfairfr.utils._errors import invalid, plain
from skfairfr.utils._types import Column
from skfairfr.utils._validation import warn_caller

# Images of each group that its maps are made from, a sample where there are more.
MOST_IMAGES = 1 << 15


@with_parameters(
    {
        "reference": (None, "no_validation"),
        "genuine_weight": (1.0, [Interval(Real, 0, None, closed="left")]),
        "min_agreement": (None, [Interval(Real, 0.5, 1, closed="right"), None]),
    },
)
class CentroidFairnessProjector(BaseProjector):
    """Project embeddings to give all groups' scores to centroids one group's quantiles.

    A small network between a frozen encoder and its matcher. The cosine of an image and
    the centroid of a person is genuine if the image shows the person, else an impostor
    score. Within each group, the genuine ones are mapped to the quantiles of a reference
    group's, T = FRR_r^-1 o FRR_a, and the impostor ones likewise,
    T = FAR_r^-1 o FAR_a. The head is trained so that its scores are the mapped ones.

    Built from a summary of [1]_: the paper itself was not read, and what is not in the
    summary is ours. See the notes.

    On people not fitted, 600 of 1,200 synthetic ones in five draws, BFAR fell to 0.21 times
    its value, and FRR to 0.85 times, if one group was crowded. A head trained on
    identities alone (:class:`AdversarialProjector` with ``alpha=0``) did as much, 0.21 and
    0.83 times. If one group's images were spread, BFRR fell to 0.87 times at 1.08 times
    the FRR. ``python -m docs.studies.check_trained`` prints the table, intervals and all.

    Parameters
    ----------
    reference : label, default=None
        The group whose quantiles all get. None is the group whose genuine and impostor
        scores lie furthest apart. See :class:`~skfairfr.losses.CentroidFairnessLoss`.
    genuine_weight : float, default=1.0
        Weight of the squared errors of genuine scores, >= 0. That of impostor scores is 1.
    min_agreement : float, default=None
        Share of an identity's images, in (0.5, 1], that must agree on its group.
        Identities below it are dropped (``n_left_out_``), others get the group of most
        of their images (``n_unified_``). If None, any disagreement is an error.
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
        ("means"), or Xavier initialisation ("random"), which needs more epochs. With ``warm_start``,
        new people start at means.
    max_epochs : int, default=20
        Passes over the images.
    batch_size : int, default=1024
        Images per step.
    lr : float, default=1e-3
        Learning rate of the first epoch, times 64 / n_features for the residual head.
    final_lr : float, default=None
        Learning rate of the last epoch, reached by geometric decay. If None, ``lr``.
    optimizer : {"adam"}, class or partial, default="adam"
        "adam", a class of torch.optim, which is called with the rate, or a partial of one.
        ``set_params(optimizer__weight_decay=0.01)`` adds an argument.
    sampler : callable, default=None
        ``sampler(identity, group, generator)`` returns the positions of an epoch, or a list
        of those of every batch. Its ``group`` is None if no groups were passed.
        :mod:`skfairfr.samplers` has some by group. None visits each image once.
    validation_fraction : float, default=0.0
        Share of the identities, in [0, 1), reserved for validation. If above 0, the
        weights of the best epoch are kept instead of the last. At most 2**24 held-out
        pairs are compared per epoch. With more than 5,792 images, these are a fixed
        sample of people from every group.
    monitor : {"loss", "bfar", "bfrr", "frr_at_far"}, default="loss"
        Criterion of the best epoch and of ``patience``, smaller is better: the loss of
        validation people (with the means of their images as centroids, and the maps of the
        training people) or, at ``monitor_far``, a disparity or the FRR.
    monitor_far : float, default=1e-3
        FAR of the monitored rates, in (0, 1).
    patience : int, default=None
        Epochs without a better value after which training stops. If None, it does not
        stop early.
    precision : {"float32", "tf32", "bfloat16"}, default="float32"
        Precision of the matrix products. The rest is float32.
    checkpoint_dir : str or path-like, default=None
        Folder for the state after every epoch, from which an interrupted fit continues.
    callbacks : list of skorch callbacks, default=None
        Called after the built-in ones. The validation people are skorch's validation set.
    device : str or torch.device, default="auto"
        "cpu", "cuda", or "auto" for CUDA if available. CUDA was not tested. Results
        there may differ for one ``random_state``.
    random_state : int, RandomState instance or None, default=None
        Source of the initial weights, the batches and the validation people.
    warm_start : bool, default=False
        Whether ``fit`` continues from the previous fit.
    verbose : int, default=0
        1 prints a line for each epoch.

    Attributes
    ----------
    head_ : torch.nn.Module
        Maps (n_samples, n_features) tensors, rows of any norm, to unit rows. On the CPU.
    identities_ : ndarray, shape (n_identities,)
        Labels of the people trained on.
    centroids_ : ndarray of float32, shape (n_identities, n_features_out)
        Unit rows.
    groups_ : ndarray, shape (n_groups,)
        Sorted labels, or empty without groups.
    reference_ : label
        The reference group as used, or None without groups.
    n_left_out_, n_unified_ : int
        Identities left out, and identities given the group of most of their images,
        because their images disagree.
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
    skfairfr.losses.CentroidFairnessLoss : The loss, for a training loop of your own.
    EthicalModule : Moves the groups' errors by a concentration for each.

    Notes
    -----
    From the summary: centroids as means of unit embeddings, the scores, the maps, a small
    network that regresses them. Our choices: centroids start from those means and are trained
    with the head. Groups have equal weights, and genuine scores as much as impostor ones.
    Scores across groups are not used. The reference, the maps as tables of 4,097 points, the
    head and its options are also ours.

    References
    ----------
    .. [1] Conti, J.-R., & Clémençon, S. (2025). Mitigating Bias in Facial Recognition
       Systems: Centroid Fairness Loss Optimization. arXiv:2504.19370.

    Examples
    --------
    >>> from skfairfr import face_labels, make_face_embeddings
    >>> from skfairfr.projectors import CentroidFairnessProjector
    >>> data = make_face_embeddings(40, n_features=16, random_state=0)
    >>> projector = CentroidFairnessProjector(max_epochs=3, random_state=0)
    >>> projector.fit(data.X, face_labels(data.y, data.sensitive_features)).reference_
    'male'
    >>> projector.transform(data.X).shape == data.X.shape
    True
    """

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            reference: Any = ...,
            genuine_weight: float = ...,
            min_agreement: float | None = ...,
            **training: Unpack[Training],
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
            Identity of each image, or the output of :func:`~skfairfr.face_labels`, or a
            frame with the columns ``identity`` and ``group``.
        sensitive_features : array-like, shape (n_samples,), default=None
            Group of each image. None or NaN is unknown. None means one group: then a
            warning states that every score is its own target.

        Returns
        -------
        self : CentroidFairnessProjector

        Raises
        ------
        ValueError
            If ``reference`` is no group of two people, the images of an identity disagree
            on its group and ``min_agreement`` is None, there are fewer than two people, the mean
            of a person's images is zero (``init="means"``), or the loss becomes infinite.

        Warns
        -----
        UserWarning
            If the fit is interrupted after its first epoch: it keeps the weights as they are
            then, steps of the epoch that was broken off among them, and a history without it.
        """
        return self._fit(X, y, sensitive_features)

    def _read_people(self, identity, group, domain):
        self.groups_ = np.empty(0, dtype=object) if group is None else group.values
        self.n_left_out_ = self.n_unified_ = 0
        if group is None:
            nobody = np.zeros(identity.values.size, dtype=np.int64)
            people = replace(everyone(identity), attribute=nobody)
        else:
            people, self.n_left_out_, self.n_unified_ = people_by_group(
                identity, group, self.min_agreement
            )
        self._reference_code()
        if self.groups_.size < 2:
            warn_caller(
                f"Groups known: {self.groups_.size}. With fewer than two every score "
                "is its own target. Pass sensitive_features, or y=face_labels(identity, "
                "group).",
                UserWarning,
            )
        return people

    def _finish(self, loss):
        code = self._reference_code()
        code = loss.reference if code is None else code
        self.reference_ = self.groups_.tolist()[code] if self.groups_.size else None

    def _reference_code(self):
        """Place of ``reference`` among the groups, or None where it is None."""
        if self.reference is None:
            return None
        labels = self.groups_.tolist()
        if self.reference not in labels:
            problem = f"is {plain(self.reference)!r}, none of the groups {labels} of "
            problem += "sensitive_features;"
            raise invalid("reference", self.reference, problem, "name one, or None.")
        return labels.index(self.reference)

    def _make_loss(self, people, rows, n_features, centroids, generator):
        codes = people.attribute[people.y]
        members = (np.flatnonzero(codes == code) for code in np.unique(codes))
        places = np.concatenate([_some(images, generator) for images in members])
        return CentroidFairnessLoss(
            rows.take(torch.as_tensor(people.rows[places])).cpu(),
            people.y[places],
            people.attribute,
            reference=self._reference_code(),
            genuine_weight=self.genuine_weight,
            n_groups=max(1, self.groups_.size),
            n_features=n_features,
            before=sums_by_identity(rows, people),
            centroids=centroids,
            generator=generator,
        )

    def _held_out_loss(self, people, loss, embeddings, y, X):
        group = torch.as_tensor(people.attribute, device=y.device)
        return loss.held_out(embeddings, y, X, group)


def _some(places, generator):
    """The places, or a sample of MOST_IMAGES in their order."""
    if places.size <= MOST_IMAGES:
        return places
    drawn = torch.randperm(places.size, generator=generator)[:MOST_IMAGES]
    return places[np.sort(drawn.numpy())]
