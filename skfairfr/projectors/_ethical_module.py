"""Head trained with the Fair von Mises-Fisher loss."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Self, Unpack

import numpy as np
from numpy.typing import ArrayLike

from skfairfr._compat import Interval, fit_context
from skfairfr._core._vmf import log_vmf_normalizer
from skfairfr.losses import FairVMFLoss
from skfairfr.losses._fair_vmf import resolve_kappa
from skfairfr.losses._softmax import held_out_cross_entropy
from skfairfr.projectors._base import BaseProjector, Training, with_parameters
from skfairfr.projectors._people import everyone, mean_value, people_by_group
from skfairfr.utils._errors import invalid, plain
from skfairfr.utils._types import Column
from skfairfr.utils._validation import warn_caller


@with_parameters(
    {
        "kappa0": (20.0, [Interval(Real, 0, None, closed="neither")]),
        "kappa1": (20.0, [Interval(Real, 0, None, closed="neither")]),
        "kappa": (None, [Interval(Real, 0, None, closed="neither"), None]),
        "kappas": (None, [dict, callable, None]),
        "groups": (None, [tuple, list, np.ndarray, None]),
        "margin": (0.0, [Interval(Real, 0, 2, closed="left")]),
        "min_agreement": (None, [Interval(Real, 0.5, 1, closed="right"), None]),
    },
    n_positional=2,
)
class EthicalModule(BaseProjector):
    """Head trained with one concentration parameter (kappa) per group.

    A small network between a frozen encoder and its matcher, trained with the Fair von
    Mises-Fisher loss. Each identity has a centroid on the sphere, and its images are
    assumed to vary about it with its group's concentration. Different concentrations
    shift the error rates of the groups relative to each other. The effect on a
    disparity and its cost depend on the head, the data and the number of features d,
    through the normalising constant C_d(kappa) of the loss: kappas chosen for 64
    features do not suit 512. Choose them by a search, for example with
    :data:`~skfairfr.metrics.bfar_scorer`.

    Parameters
    ----------
    kappa0 : float, default=20.0
        Concentration of the first group, positive: ``groups[0]``, or the first of the
        sorted labels (female before male). In the latter case the repr of the fitted
        module names the group, as does a warning if the kappas differ.
    kappa1 : float, default=20.0
        Concentration of the second group, positive. Unused when there is one group.
    kappa : float, default=None
        One concentration for all groups, however many. Then ``kappa0`` and ``kappa1``
        are unused. If None, these two are used (if equal, for any number of groups).
    kappas : dict or callable, default=None
        Concentration of every group, ``{label: kappa}``, for any number of groups, or a
        function of the attribute as a float, such as the age (the mean over an
        identity's images). ``kappa0`` and ``kappa1`` are then unused. A group of
        several columns is ``("female", "old")`` or ``"female & old"``, here and in
        ``groups``.
    groups : tuple of labels, default=None
        Order of the groups: ``kappa0`` belongs to ``groups[0]`` whatever the data contain.
        If None, labels are sorted. The paper's order is ("male", "female").
    margin : float, default=0.0
        Number in [0, 2) subtracted in training from each image's cosine to its own
        centroid.
    min_agreement : float, default=None
        Share of an identity's images, in (0.5, 1], that must agree on its group.
        Identities below it are dropped (``n_left_out_``), and others get the group of most
        of their images (``n_unified_``). If None, any disagreement is an error.
    head : {"residual", "mlp"}, module or callable, default="residual"
        Network applied to each unit row x: "mlp" is the paper's, W2 relu(W1 x + b1) + b2.
        "residual" adds that to x and starts as the identity map. A torch module of your
        own (a copy is trained), or a function ``head(n_features)`` that returns one,
        maps unit rows to rows, which are then normalised.
    hidden_dim : int, default=None
        Width of the hidden layer. If None, twice ``n_features``.
    output_dim : int, default=None
        Number of features of the projected embeddings. If None, as many as X has. Another number
        needs ``head="mlp"``.
    init : {"means", "random"}, default="means"
        Initial centroids: the mean of each person's unit rows after the initial head
        ("means"), or Xavier initialisation ("random"), which needs more epochs. With
        ``warm_start``, new people start at means.
    max_epochs : int, default=20
        Passes over the images. The paper uses 50.
    batch_size : int, default=1024
        Images per step.
    lr : float, default=1e-3
        Learning rate of the first epoch. The paper's 0.01 suits its own head. The
        residual head uses ``lr * 64 / n_features``, to keep steps similar across
        dimensions.
    final_lr : float, default=None
        Learning rate of the last epoch, reached by geometric decay. If None, ``lr``.
    optimizer : {"adam"}, class or partial, default="adam"
        "adam" is ``partial(torch.optim.Adam, fused=True)``. A torch.optim class is
        called with ``lr``. ``set_params(optimizer__weight_decay=0.01)`` adds an
        argument, also in a search. ``optimizer__lr`` replaces ``lr``.
    sampler : callable, default=None
        ``sampler(identity, group, generator)`` returns an epoch's image positions in
        order: an int array of shape (n_draws,), or a list of one per batch. Identity and
        group are integer codes of the training images. :mod:`skfairfr.samplers` has some
        that depend on groups. If None, each image is visited once.
    validation_fraction : float, default=0.0
        Share of the identities, in [0, 1), reserved for validation. If above 0, the
        weights of the best epoch are kept instead of those of the last. At most 2**24
        held-out pairs are compared per epoch. With more than 5,792 images, these come
        from a fixed sample of people of every group.
    monitor : {"loss", "bfar", "bfrr", "frr_at_far"}, default="loss"
        Criterion for the best epoch and ``patience`` (smaller is better): the loss, or a
        disparity or the FRR at ``monitor_far``. The loss is that of validation people
        against the mean of their other images or, without validation, of the training
        people.
    monitor_far : float, default=1e-3
        FAR of the monitored rates, in (0, 1). A FewErrorsWarning is issued if it
        accepts fewer than 30 impostor pairs of a group.
    patience : int, default=None
        Epochs without a better value after which training stops. If None, it does not
        stop early.
    precision : {"float32", "tf32", "bfloat16"}, default="float32"
        Precision of the matrix products. The rest is float32. "tf32" needs an accelerator.
    checkpoint_dir : str or path-like, default=None
        Folder for the state after every epoch. After an interruption, the same fit
        continues from it. It is removed at the end of the fit. The state of
        ``callbacks`` is not kept.
    callbacks : list of skorch callbacks, default=None
        Called after the built-in ones. Held-out people are skorch's validation set. A
        callback may raise KeyboardInterrupt after an epoch to stop the training. Ctrl-C
        during a callback has the same effect, without a warning.
    device : str or torch.device, default="auto"
        "cpu", "cuda", or "auto" for CUDA if available. CUDA was not tested. Results
        there may differ between runs with the same ``random_state``.
    random_state : int, RandomState instance or None, default=None
        Seed of the initial weights, the batches and the validation people.
    warm_start : bool, default=False
        Whether ``fit`` starts from the head and centroids of the previous fit. The
        state of the optimizer is not kept.
    verbose : int, default=0
        1 prints a line for each epoch.

    Attributes
    ----------
    head_ : torch.nn.Module
        Maps (n_samples, n_features) tensors, rows of any norm, to unit rows. On the CPU.
    identities_ : ndarray, shape (n_identities,)
        Labels of the people trained on.
    centroids_ : ndarray of float32, shape (n_identities, n_features_out)
        Unit rows mu_k.
    groups_ : ndarray, shape (n_groups,)
        Labels in the order of kappa0, kappa1, or empty without groups.
    kappa_ : dict
        Concentration of each label as used. Without groups, the key is None.
    n_left_out_, n_unified_ : int
        Identities left out, and identities given the group of most of their images,
        because their images disagree.
    net_ : skorch.NeuralNet
        Trained net, with ``module_`` (``head_``), ``criterion_``, ``history`` and
        ``optimizer_`` (without its state). Not in saved files.
    history_ : frame
        A row for each epoch: losses, monitored values, learning rate, seconds.
    n_validation_images_ : int
        Validation images used for the ``valid_`` columns of the history, 5,792 at
        most, or 0 without validation.
    n_features_in_ : int
        Number of features of the embeddings.
    feature_names_in_ : ndarray, shape (n_features,)
        Names of the columns, if X was a frame with names.

    See Also
    --------
    skfairfr.losses.FairVMFLoss : The loss, for a training loop of your own.
    skfairfr.metrics.fairness_scores : Several scores of one candidate.
    skfairfr.model_selection.BestTradeOff : The choice between them.

    References
    ----------
    .. [1] Conti, J.-R., Noiry, N., Despiegel, V., Gentric, S., & Clémençon, S. (2022).
       Mitigating Gender Bias in Face Recognition Using the von Mises-Fisher Mixture
       Model. ICML. Section 3.2, equation 6, and section 4, the training.

    Examples
    --------
    >>> from skfairfr import EthicalModule, face_labels, make_face_embeddings
    >>> data = make_face_embeddings(40, n_features=16, random_state=0)
    >>> module = EthicalModule(25, 15, groups=("male", "female"), random_state=0)
    >>> module.set_params(max_epochs=3).fit(
    ...     data.X, face_labels(data.y, data.sensitive_features)
    ... ).kappa_
    {'male': 25.0, 'female': 15.0}
    >>> module.transform(data.X).shape == data.X.shape
    True
    """

    _most_people_to_warn = 400

    if TYPE_CHECKING:

        def __init__(
            self,
            kappa0: float = ...,
            kappa1: float = ...,
            *,
            kappa: float | None = ...,
            kappas: dict | Callable | None = ...,
            groups: Sequence | None = ...,
            margin: float = ...,
            min_agreement: float | None = ...,
            **training: Unpack[Training],
        ) -> None: ...

    def __repr__(self, N_CHAR_MAX=700):
        """That of scikit-learn. Once fitted, a line below names the group of each kappa."""
        shown = super().__repr__(N_CHAR_MAX)
        kappas = vars(self).get("kappa_", {})
        if self.kappas is not None or self.kappa is not None or len(kappas) != 2:
            return shown
        of_each = zip(("kappa0", "kappa1"), kappas.items(), strict=False)
        named = (f"{name}={kappa} [{group}]" for name, (group, kappa) in of_each)
        return f"{shown}\n{', '.join(named)}"

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
        sensitive_features : array-like, shape (n_samples,) or (n_samples, n_attributes), \
                default=None
            Group of each image. A label of None or NaN is unknown. The groups of several
            columns are their combinations. Without this argument, all images are in one
            group.

        Returns
        -------
        self : EthicalModule
            Fitted.

        Raises
        ------
        ValueError
            If a concentration is missing for a group, the images of an identity disagree
            on its group and ``min_agreement`` is None, there are fewer than two people, the mean
            of a person's images is zero (``init="means"``), or the loss becomes infinite.

        Warns
        -----
        UserWarning
            If ``kappa0`` and ``kappa1`` differ and ``groups`` is None (the warning names the
            group of ``kappa0``), if there are at most 400 people (with so few, these
            defaults lowered the FRR of new people in some populations only), or if the fit
            is interrupted after its first epoch. The current weights are then kept, with a
            history without the interrupted epoch.
        """
        return self._fit(X, y, sensitive_features)

    def _read_people(self, identity, group, domain):
        self.n_left_out_ = self.n_unified_ = 0
        if self.kappa is not None and self.kappas is not None:
            problem = f"is for all groups, and kappas={self.kappas!r} for each;"
            raise invalid("kappa", self.kappa, problem, "give one of the two.")
        if group is None and self.groups is not None:
            problem = "names the groups, and fit was given none;"
            remedy = "give it sensitive_features, or y=face_labels(identity, group)."
            raise invalid("groups", self.groups, problem, remedy)
        if group is None:
            self.groups_ = np.empty(0, dtype=object)
            self.kappa_ = {None: self._kappa_without_groups()}
            return everyone(identity)
        if callable(self.kappas):
            values = mean_value(identity, group)
            distinct = np.unique(values)
            kappas = resolve_kappa(self.kappas, distinct, distinct.size)
            self.groups_ = group.values
            self.kappa_ = dict(zip(distinct.tolist(), kappas.tolist(), strict=True))
            return replace(everyone(identity, group), attribute=values)
        self.groups_ = _order(group.values, self.groups)
        self.kappa_ = self._kappa_by_group()
        people, self.n_left_out_, self.n_unified_ = people_by_group(
            identity, group, self.min_agreement
        )
        labels = self.groups_.tolist()
        place = np.array([labels.index(label) for label in group.values.tolist()])
        return replace(people, attribute=place[people.attribute])

    def _kappa_without_groups(self):
        """The concentration of everyone."""
        if self.kappas is not None:
            problem = f"is None, and kappas={self.kappas!r} is chosen by group;"
            remedy = "give it to fit, or y=face_labels(identity, group)."
            raise invalid("sensitive_features", None, problem, remedy)
        if self.kappa is None and self.kappa0 != self.kappa1:
            warn_caller(
                "No groups were given: everybody gets "
                f"kappa0={self.kappa0}, and kappa1={self.kappa1} is unused. Give "
                "sensitive_features, or y=face_labels(identity, group).",
                UserWarning,
            )
        return float(self.kappa0 if self.kappa is None else self.kappa)

    def _kappa_by_group(self):
        """kappa_ for the groups in groups_."""
        labels = self.groups_.tolist()
        if self.kappas is not None:
            given = {_joined(label): kappa for label, kappa in self.kappas.items()}
            kappas = resolve_kappa(given, labels, len(labels))
            return dict(zip(labels, kappas.tolist(), strict=True))
        kappas = (self.kappa0, self.kappa1)
        if self.kappa is not None or self.kappa0 == self.kappa1:
            kappas = [self.kappa0 if self.kappa is None else self.kappa] * len(labels)
        if len(labels) > len(kappas):
            problem = f"and kappa1 serve two groups, and there are {len(labels)}: {labels[:5]}."
            remedy = "Give kappas={label: kappa} with an entry for each, or one kappa for all."
            raise invalid("kappa0", self.kappa0, problem, remedy)
        if self.groups is None and len(labels) == 2 and kappas[0] != kappas[1]:
            warn_caller(
                f"kappa0 is that of {labels[0]!r} and kappa1 that of {labels[1]!r}, in the "
                f"order of their labels. groups={tuple(labels)} states this order.",
                UserWarning,
            )
        return dict(zip(labels, map(float, kappas), strict=False))

    def _kappas_of(self, people):
        """The concentration of each identity, (n_identities,)."""
        if people.attribute is None:
            return np.full(people.identities.size, self.kappa_[None])
        if people.attribute.dtype.kind == "f":
            return np.array([self.kappa_[value] for value in people.attribute.tolist()])
        return np.array(list(self.kappa_.values()))[people.attribute]

    def _make_loss(self, people, rows, n_features, centroids, generator):
        return FairVMFLoss(
            people.identities.size,
            n_features,
            self._kappas_of(people),
            margin=self.margin,
            centroids=centroids,
            generator=generator,
        )

    def _held_out_loss(self, people, loss, embeddings, y, X):
        kappas = self._kappas_of(people)
        offset = log_vmf_normalizer(kappas, embeddings.shape[1])
        return held_out_cross_entropy(
            embeddings,
            y,
            scale=embeddings.new_tensor(kappas),
            offset=embeddings.new_tensor(offset - offset.max()),
            margin=self.margin,
        )


def _order(found, given):
    """The groups in the order of kappa0, kappa1: sorted, or as given."""
    if given is None:
        return found
    labels = [_joined(label) for label in given]
    unknown = [label for label in found.tolist() if label not in labels]
    if unknown or len(set(labels)) < len(labels):
        problem = (
            f"must name each of {found.tolist()} once, got {plain(tuple(labels))}."
        )
        raise invalid("groups", given, problem)
    return np.array(labels)


def _joined(label):
    """The label of a group of several columns, which the caller may give as a tuple."""
    return " & ".join(map(str, label)) if isinstance(label, tuple) else label
