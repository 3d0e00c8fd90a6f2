"""EthicalModule: a head trained with the Fair von Mises-Fisher loss."""

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
from skfairfr.losses._softmax import held_out_cross_entropy, resolve_kappa
from skfairfr.projectors._base import BaseProjector, Training, with_parameters
from skfairfr.projectors._people import everyone, mean_value, people_by_group
from skfairfr.utils._errors import plain, refused
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
    """Head with one concentration parameter (kappa) for each group.

    A small network between a frozen encoder and its matcher, trained with the Fair von
    Mises-Fisher loss: every identity is a centroid on the sphere, and the mixture assumes
    its images about it with the concentration of its group. Assuming more for one group
    than for the other moves their error rates against each other. Which pair of values
    lowers a disparity, in which direction, and what it costs in accuracy depends on head,
    data and number of features, whose log C_d(kappa) sets the groups' logits apart: a pair
    that was chosen for 64 features is none for 512. It is found by a search with
    :data:`~skfairfr.metrics.bfar_scorer` and the like.

    Parameters
    ----------
    kappa0 : float, default=20.0
        Concentration of the first group, positive: of ``groups[0]``, or else of the first
        of the sorted labels (female before male), then a warning states which, as does the
        repr of a fitted module.
    kappa1 : float, default=20.0
        Concentration of the second group, positive. Unused when there is one group.
    kappa : float, default=None
        One concentration for all groups, however many. Then ``kappa0`` and ``kappa1`` are
        unused. None: these two, which serve any number of groups where they are equal.
    kappas : dict or callable, default=None
        Concentration of every group, ``{label: kappa}``, for any number of groups; or a
        function of the attribute as a float (of the age, say; the mean over an identity's
        images). Then ``kappa0`` and ``kappa1`` are unused. A group of several columns is
        ``("female", "old")`` or ``"female & old"``, here and in ``groups``.
    groups : tuple of labels, default=None
        Order of the groups, so that ``kappa0`` belongs to ``groups[0]`` whatever the
        data contain. None sorts the labels. The papers' order is ("male", "female").
    margin : float, default=0.0
        Taken from the cosine to the own centroid while training, in [0, 2).
    min_agreement : float, default=None
        Share of an identity's images, in (0.5, 1], that must agree on its group: those
        with less are left out, those with at least that share take the group of most of
        their images, and both are counted. None: any disagreement is an error.
    head : {"residual", "mlp"}, module or callable, default="residual"
        Formula for the unit row x: "mlp" is the paper's, W2 relu(W1 x + b1) + b2. "residual" adds
        that to x and starts as the identity map. A torch module of your own, of which a
        copy is trained, or ``head(n_features)`` that makes one, maps unit rows to rows,
        which are then divided by their lengths.
    hidden_dim : int, default=None
        Width of the hidden layer. If None, twice the features.
    output_dim : int, default=None
        Features of the projected embeddings. If None, as many as X has, and another number
        needs ``head="mlp"``.
    init : {"means", "random"}, default="means"
        Initial centroids: the mean of each person's unit rows after the initial head
        ("means"), or drawn by Xavier's rule ("random"), which needs more epochs. With ``warm_start``,
        new people start at means.
    max_epochs : int, default=20
        Passes over the images. The paper has 50.
    batch_size : int, default=1024
        Images in a step.
    lr : float, default=1e-3
        Learning rate of the first epoch. The paper's 0.01 suits its own head. That of the
        residual head is ``lr * 64 / n_features``, with which a step moves embeddings equally
        in any number of features.
    final_lr : float, default=None
        Learning rate of the last epoch, reached geometrically. None keeps ``lr``.
    optimizer : {"adam"}, class or partial, default="adam"
        "adam" is ``partial(torch.optim.Adam, fused=True)``. A class of torch.optim is
        called with the rate. ``set_params(optimizer__weight_decay=0.01)`` and the like add
        an argument, in a search, too. ``optimizer__lr`` replaces the rate.
    sampler : callable, default=None
        ``sampler(identity, group, generator)`` gives the positions, an int array of shape
        (n_draws,), that an epoch visits in that order, or a list of those of every batch,
        from integer codes of the images trained on. :mod:`skfairfr.samplers` has some by
        group. None visits each once.
    validation_fraction : float, default=0.0
        Share of the identities, in [0, 1), held out and never trained on. With any, the
        weights of the best epoch are kept instead of the last. An epoch compares at most
        2**24 pairs of their images: of more than 5,792 images a sample, the same in every
        epoch, of whole people of every group.
    monitor : {"loss", "bfar", "bfrr", "frr_at_far"}, default="loss"
        What "best" and ``patience`` look at, smaller is better: the loss (on held-out
        people against the mean of their other images, on those trained on without any), or
        at ``monitor_far`` a disparity or the FRR.
    monitor_far : float, default=1e-3
        In (0, 1): FAR at which people held out are monitored. A FewErrorsWarning reports when
        it lets fewer than 30 impostor pairs of a group pass.
    patience : int, default=None
        Epochs without a better value after which training stops. None never does.
    precision : {"float32", "tf32", "bfloat16"}, default="float32"
        Precision of the matrix products. The rest is float32. "tf32" needs an accelerator.
    checkpoint_dir : str or path-like, default=None
        Folder for the state after every epoch: the same fit, started again after it
        was killed, goes on from there. Removed when a fit is through. The state of
        ``callbacks`` is not kept.
    callbacks : list of skorch callbacks, default=None
        Notified after ours. The people held out are skorch's validation set. Any of them
        may end the training by a KeyboardInterrupt after an epoch. Ctrl-C pressed while one
        of them runs there cannot be distinguished from that, and has no warning.
    device : str or torch.device, default="auto"
        "cpu", "cuda", or the CUDA device where there is one. No projector was run on a card
        so far, where the same ``random_state`` need not give the same bits.
    random_state : int, RandomState instance or None, default=None
        Draws weights, batches and the people held out.
    warm_start : bool, default=False
        Whether ``fit`` goes on from the last one: the head, and the centroids of people
        it knows. The state of the optimizer is not kept.
    verbose : int, default=0
        1 prints a line for each epoch.

    Attributes
    ----------
    head_ : torch.nn.Module
        Maps (n_samples, n_features) tensors of any row length to unit rows. On the CPU.
    identities_ : ndarray, shape (n_identities,)
        Labels of the people trained on.
    centroids_ : ndarray of float32, shape (n_identities, n_features_out)
        Unit rows mu_k.
    groups_ : ndarray, shape (n_groups,)
        Labels in the order of kappa0, kappa1, or empty without groups.
    kappa_ : dict
        Concentration of each label as used. Without groups that of the label None.
    n_left_out_, n_unified_ : int
        Identities left out, and given the group of most of their images, for their
        images' disagreement.
    net_ : skorch.NeuralNet
        As trained, with ``module_`` (``head_``), ``criterion_``, ``history`` and
        ``optimizer_``, whose state is not kept, not in saved files.
    history_ : frame
        A row for each epoch: losses, monitored values, learning rate, seconds.
    n_validation_images_ : int
        Images held out that the ``valid_`` columns of the history compare, 5,792 at most,
        or 0 where nobody is held out.
    n_features_in_ : int
    feature_names_in_ : ndarray, shape (n_features,)
        Where X was a frame with names.

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
        """That of scikit-learn; once fitted, a line below names the group of each kappa."""
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
            Identity of each image, or :func:`~skfairfr.face_labels` with its group, or a
            frame with the columns ``identity`` and ``group``.
        sensitive_features : array-like, shape (n_samples,) or (n_samples, n_attributes), \
                default=None
            Group of each image. None or NaN is unknown. Several columns make the groups of
            their combinations. None means one group.

        Returns
        -------
        self : EthicalModule

        Raises
        ------
        ValueError
            If a concentration is missing for a group, the images of an identity disagree
            on its group and ``min_agreement`` is None, there are not two people, the mean
            of a person's images is zero (``init="means"``), or the loss becomes infinite.

        Warns
        -----
        UserWarning
            Which group kappa0 is, where the two differ and ``groups`` does not say it;
            with at most 400 people, with whom these defaults lowered the FRR of others in
            some populations only; or if the fit is interrupted after its first epoch: it
            keeps the weights as they are then, steps of the epoch that was broken off among
            them, and a history without it.
        """
        return self._fit(X, y, sensitive_features)

    def _read_people(self, identity, group, domain):
        self.n_left_out_ = self.n_unified_ = 0
        if self.kappa is not None and self.kappas is not None:
            problem = f"is for all groups, and kappas={self.kappas!r} for each;"
            raise refused("kappa", self.kappa, problem, "give one of the two.")
        if group is None and self.groups is not None:
            problem = "names the groups, and fit was given none;"
            remedy = "give it sensitive_features, or y=face_labels(identity, group)."
            raise refused("groups", self.groups, problem, remedy)
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
            raise refused("sensitive_features", None, problem, remedy)
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
            raise refused("kappa0", self.kappa0, problem, remedy)
        if self.groups is None and len(labels) == 2 and kappas[0] != kappas[1]:
            warn_caller(
                f"kappa0 is that of {labels[0]!r} and kappa1 that of {labels[1]!r}, in the "
                f"order of their labels; groups={tuple(labels)} states this order.",
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
            f"must name each of {found.tolist()} once; got {plain(tuple(labels))}."
        )
        raise refused("groups", given, problem)
    return np.array(labels)


def _joined(label):
    """The label of a group of several columns, which the caller may give as a tuple."""
    return " & ".join(map(str, label)) if isinstance(label, tuple) else label
