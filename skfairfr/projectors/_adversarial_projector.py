"""Head from whose output the group is hard to predict."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Self, Unpack

import numpy as np
import torch
from numpy.typing import ArrayLike
from skorch.callbacks import Callback

from skfairfr._compat import Interval, fit_context
from skfairfr.losses import GroupAdversaryLoss
from skfairfr.projectors._base import BaseProjector, Training, with_parameters
from skfairfr.projectors._people import everyone_by_most
from skfairfr.projectors._training import Adam, project
from skfairfr.utils._types import Column
from skfairfr.utils._validation import warn_caller


@with_parameters(
    {
        "alpha": (0.1, [Interval(Real, 0, None, closed="left")]),
        "scale": (20.0, [Interval(Real, 0, None, closed="neither")]),
        "n_discriminators": (5, [Interval(Integral, 1, None, closed="left")]),
        "discriminator_dim": (128, [Interval(Integral, 1, None, closed="left")]),
        "discriminator_epochs": (10, [Interval(Integral, 1, None, closed="left")]),
        "discriminator_accuracy": (0.9, [Interval(Real, 0, 1, closed="right")]),
    },
    lr=5e-4,
)
class AdversarialProjector(BaseProjector):
    """Project embeddings to make the group hard to predict from them, as PASS does.

    A small network between a frozen encoder and its matcher, trained to separate
    identities while the output of discriminators, which are trained to predict groups, is
    pushed towards indifference. The adversary is one-sided: only the head's loss contains
    its term, and the discriminators, one after the other, are trained on cross-entropy
    alone. It is the method that EM22 compares with, under the name PASS-g where the group
    is the gender.

    A group that is harder to read is not a smaller disparity. On people not fitted, 600 of
    1,200 synthetic ones in five draws, the default brought a new logistic regression's
    accuracy for the group from 0.91 to 0.72 if a group was crowded, and BFAR to 0.19 times
    what it was, at 1.12 times the FRR. The same head without adversary (``alpha=0``)
    lowered BFAR to 0.21 times at 0.83 times the FRR. With ``alpha=1`` the FRR nearly doubled.
    ``python -m docs.studies.check_trained`` prints the table, intervals and all.

    On real faces it does harm. With 375 people of LFW fitted, the default multiplied the FRR by
    1.03 [0.99, 1.06] and BFAR by 2.47 [2.16, 2.82]. With twice the rate, ``lr=1e-3``, that is 1.09
    [1.05, 1.13] and 2.14 [1.79, 2.57], which is why the rate is what it is: ``python -m
    docs.studies.check_dimensions``. The lower rate needs more steps: of 400 synthetic people,
    one group crowded, 40 steps lower BFAR to 0.67 [0.52, 0.86] times, and an ``EthicalModule`` of
    one kappa lowers it to 0.23 [0.16, 0.34] times (``examples/mitigation/study_bench.py``). Take
    another projector first.

    Parameters
    ----------
    alpha : float, default=0.1
        Weight of the adversary's term, >= 0. 0 is the cross-entropy of identities alone,
        that of an :class:`EthicalModule` with ``kappa0 = kappa1 = scale``. The authors'
        code has 10, of a term that it bounds. See the notes.
    scale : float, default=20.0
        Factor of the cosines to the identities' centroids, positive.
    n_discriminators : int, default=5
        Number of discriminators. The head's loss has the term of the surest one.
    discriminator_dim : int, default=128
        Width of a discriminator's hidden layer.
    discriminator_epochs : int, default=10
        Most passes over the images, or over 32,768 of them, that the discriminator whose
        turn it is has before an epoch of the head. Before the first epoch all have them.
    discriminator_accuracy : float, default=0.9
        Balanced accuracy for the groups, in (0, 1], at which its turn ends
        early.
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
    lr : float, default=5e-4
        Learning rate of the first epoch, times 64 / n_features for the residual head. It is half
        that of the other projectors. See above.
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
        validation people (against the mean of their other images, with the adversary's term
        of the epoch's discriminators) or, at ``monitor_far``, a disparity or the FRR.
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
    groups_ : ndarray, shape (n_groups,)
        Sorted labels, or empty without groups.
    net_ : skorch.NeuralNet
        Trained net, with ``module_``, ``criterion_`` and ``history``, not in saved files.
    history_ : frame
        A row for each epoch: losses, monitored values, learning rate, seconds, and
        ``group_accuracy``, the mean over the groups of the share of their images that the
        discriminator trained before the epoch predicted, in [0, 1].
    n_validation_images_ : int
        Validation images that the ``valid_`` columns of the history compare, 5,792 at
        most, or 0 without validation.
    n_features_in_ : int
    feature_names_in_ : ndarray, shape (n_features,)
        Names of the columns, if X was a frame with names.

    See Also
    --------
    skfairfr.losses.GroupAdversaryLoss : The loss, for a training loop of your own.
    EthicalModule : Mitigates with group labels and hides none.

    Notes
    -----
    EM22 cites the method. The implementation follows the abstract of its paper and the
    authors' code: an ensemble of discriminators with one hidden layer, the largest of their
    terms, and turns that end at an accuracy. It differs from the code in five points. The
    discriminators' outputs are logits, while the code first passes them through a sigmoid,
    which bounds the term. Centroids are trained throughout, while the code trains a linear
    classifier first and then keeps it. A discriminator is never drawn again. Groups have
    equal weights, while the code draws equal numbers of images. The head is the package's.

    References
    ----------
    .. [1] Dhar, P., Gleason, J., Roy, A., Castillo, C. D., & Chellappa, R. (2021). PASS:
       Protected Attribute Suppression System for Mitigating Bias in Face Recognition.
       ICCV.
    .. [2] Conti, J.-R., Noiry, N., Despiegel, V., Gentric, S., & Clémençon, S. (2022).
       Mitigating Gender Bias in Face Recognition Using the von Mises-Fisher Mixture
       Model. ICML. Section 4.2, Table 2.

    Examples
    --------
    >>> from skfairfr import face_labels, make_face_embeddings
    >>> from skfairfr.projectors import AdversarialProjector
    >>> data = make_face_embeddings(40, n_features=16, random_state=0)
    >>> projector = AdversarialProjector(max_epochs=3, random_state=0)
    >>> projector.fit(data.X, face_labels(data.y, data.sensitive_features)).groups_
    array(['female', 'male'], dtype='<U6')
    >>> projector.transform(data.X).shape == data.X.shape
    True
    """

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            alpha: float = ...,
            scale: float = ...,
            n_discriminators: int = ...,
            discriminator_dim: int = ...,
            discriminator_epochs: int = ...,
            discriminator_accuracy: float = ...,
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
            Identity of each image, or :func:`~skfairfr.face_labels` with its group, or a
            frame with the columns ``identity`` and ``group``.
        sensitive_features : array-like, shape (n_samples,), default=None
            Group of each image. None or NaN is unknown: of such images the head hides the
            group, too, but no discriminator is trained on them. None means one group: then
            a warning states that there is nothing to hide.

        Returns
        -------
        self : AdversarialProjector

        Raises
        ------
        ValueError
            If there are not two people, the mean of a person's images is zero
            (``init="means"``), or the loss becomes infinite.

        Warns
        -----
        UserWarning
            If the fit is interrupted after its first epoch: it keeps the weights as they are
            then, steps of the epoch that was broken off among them, and a history without it.
        """
        return self._fit(X, y, sensitive_features)

    def _read_people(self, identity, group, domain):
        self.groups_ = np.empty(0, dtype=object) if group is None else group.values
        if self.alpha and self.groups_.size < 2:
            warn_caller(
                f"alpha={self.alpha} is unused: groups known: {self.groups_.size}, and "
                "with fewer than two there is none to hide. Give sensitive_features, or "
                "y=face_labels(identity, group).",
                UserWarning,
            )
        return everyone_by_most(identity, group)

    def _plan_epochs(self, people, held_out, rows, head, generator):
        options = people, held_out, rows, head, generator
        batches, callbacks = super()._plan_epochs(*options)
        if self._alpha(people):
            trained = TrainDiscriminators(
                rows,
                people,
                generator.initial_seed(),
                n_passes=self.discriminator_epochs,
                enough=float(self.discriminator_accuracy),
            )
            callbacks.append(trained)
        return batches, callbacks

    def _alpha(self, people):
        """The weight of the adversary's term: none without two groups among these people."""
        if (
            people.groups is None
            or np.unique(people.groups[people.groups >= 0]).size < 2
        ):
            return 0.0
        return self.alpha

    def _make_loss(self, people, rows, n_features, centroids, generator):
        return GroupAdversaryLoss(
            people.identities.size,
            n_features,
            max(2, self.groups_.size),
            alpha=self._alpha(people),
            scale=self.scale,
            n_discriminators=self.n_discriminators,
            discriminator_dim=self.discriminator_dim,
            centroids=centroids,
            generator=generator,
        )


# Images that the discriminators of an epoch are trained on, a sample where there are more.
MOST_IMAGES = 1 << 15
BATCH = 128
LEARNING_RATE = 1e-3


class TrainDiscriminators(Callback):
    """Trains discriminators of the group on what the head makes of the images.

    Before the first epoch all are trained, before every later one the next in turn, until
    it predicts the groups of a share ``enough`` of its images, or for ``n_passes`` over them.
    Every training has an optimizer of its own and draws by seed and epoch alone, so a
    checkpoint needs nothing more.

    Parameters
    ----------
    rows : DeviceRows
    people : People
        Trained on. Those of unknown group are left out.
    seed : int
    n_passes : int
    enough : float
        Balanced accuracy, the mean over the groups of the share predicted correctly, in (0, 1].
    """

    def __init__(self, rows, people, seed, *, n_passes, enough):
        self.rows = rows
        self.people = people
        self.seed = seed
        self.n_passes = n_passes
        self.enough = enough
        self.known = np.flatnonzero(people.groups >= 0)

    def on_epoch_begin(self, net, **kwargs):
        epoch = len(net.history) - 1
        draws = np.random.SeedSequence([self.seed, epoch]).generate_state(1)
        generator = torch.Generator().manual_seed(int(draws[0]))
        loss = net.criterion_
        n_discriminators = len(loss.discriminators)
        turn = [(epoch - 1) % n_discriminators] if epoch else range(n_discriminators)
        z, group = self._sample(net.module_, generator)
        accuracy = [self._train(loss, which, z, group, generator) for which in turn]
        net.history.record("group_accuracy", max(accuracy))

    def _sample(self, head, generator):
        """Unit rows and groups of images, on the device."""
        drawn = torch.randperm(self.known.size, generator=generator)[:MOST_IMAGES]
        places = np.sort(self.known[drawn.numpy()])
        z = project(head, self.rows, self.people.rows[places])
        group = torch.as_tensor(self.people.groups[places]).long()
        return torch.from_numpy(z).to(self.rows.device), group.to(self.rows.device)

    def _train(self, loss, which, z, group, generator):
        """Train one discriminator. The share of the images whose group it predicts."""
        counts = torch.bincount(group, minlength=len(self.people.labels))
        weight = len(group) / (counts * (counts > 0).sum()).clamp_min(1)
        discriminator = loss.discriminators[which].requires_grad_(True)
        optimizer = Adam(discriminator.parameters(), lr=LEARNING_RATE)
        accuracy = 0.0
        for _ in range(self.n_passes):
            order = torch.randperm(len(z), generator=generator).to(z.device)
            for part in order.split(BATCH):
                optimizer.zero_grad()
                value = loss.discriminator_loss(z[part], group[part], which, weight)
                value.backward()
                optimizer.step()
            accuracy = balanced_accuracy(discriminator, z, group, counts)
            if accuracy >= self.enough:
                break
        optimizer.zero_grad()
        discriminator.requires_grad_(False)
        return accuracy


@torch.no_grad()
def balanced_accuracy(discriminator, z, group, counts):
    """Balanced accuracy over the groups that occur."""
    right = discriminator(z).argmax(1) == group
    accuracy = torch.bincount(group[right], minlength=len(counts))
    present = counts > 0
    return float((accuracy[present] / counts[present]).mean())
