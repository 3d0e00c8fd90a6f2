"""Head trained with a penalty on each image's own false positives."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Self, Unpack

from numpy.typing import ArrayLike

from skfairfr._compat import Interval, StrOptions, fit_context
from skfairfr.losses import FPRPenaltyLoss
from skfairfr.losses._fpr_penalty import BASES, PENALTIES, WEIGHTINGS
from skfairfr.projectors._base import BaseProjector, Training, with_parameters
from skfairfr.projectors._people import everyone
from skfairfr.utils._errors import plain
from skfairfr.utils._types import Column


@with_parameters(
    {
        "penalty": ("ratio", [StrOptions(set(PENALTIES))]),
        "far": (None, [Interval(Real, 0, 1, closed="neither"), None]),
        "alpha": (0.1, [Interval(Real, 0, None, closed="left")]),
        "base": ("cosface", [StrOptions(set(BASES))]),
        "scale": (64.0, [Interval(Real, 0, None, closed="neither")]),
        "margin": (0.35, [Interval(Real, 0, 2, closed="left")]),
        "weighting": ("count", [StrOptions(set(WEIGHTINGS))]),
        "momentum": (0.0, [Interval(Real, 0, 1, closed="left")]),
        "monitor": ("loss", [StrOptions({"loss", "frr_at_far"})]),
    },
)
class FPRPenaltyProjector(BaseProjector):
    """Project embeddings by a loss that penalises an image's excess of false positives.

    A small network between a frozen encoder and its matcher, trained with a margin softmax
    that penalises an image for its own false positives in proportion to the total. Groups
    are not needed: what is evened out is images. Whether groups profit is a question for
    the scorers, which may know them.

    Parameters
    ----------
    penalty : {"ratio", "mean_square"}, default="ratio"
        The abstract's ratio of an image's share of false positives to the total one, or
        the published head's mean square. See :class:`~skfairfr.losses.FPRPenaltyLoss`.
    far : float, default=None
        Total share of false positives in (0, 1) that sets the threshold. None is
        max(1e-4, 1 / (n_identities - 1)).
    alpha : float, default=0.1
        Weight of the penalty, >= 0. 0 is the plain margin softmax.
    base : {"cosface", "arcface", "softmax"}, default="cosface"
        Margin of the own cosine: cos - margin, cos(angle + margin), none.
    scale : float, default=64.0
        Factor of all cosines, positive.
    margin : float, default=0.35
        Margin in [0, 2): of a cosine or, with "arcface", radians.
    weighting : {"count", "cosine"}, default="count"
        Whether a false positive counts 1 or, with a gradient, its cosine. "ratio" only.
    momentum : float, default=0.0
        Share, in [0, 1), of the earlier batches' threshold.
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
    monitor : {"loss", "frr_at_far"}, default="loss"
        Criterion of the best epoch and of ``patience``, smaller is better: the loss without
        penalty, or the FRR at ``monitor_far``, of validation people.
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
    threshold_ : float
        Unified threshold of the last batch, a cosine, or nan where alpha is 0.
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
    skfairfr.losses.FPRPenaltyLoss : The loss, for a training loop of your own.
    skfairfr.metrics.instance_far : Each image's false acceptance rate, before and after.
    EthicalModule : Mitigates with group labels.

    References
    ----------
    .. [1] Xu, X., Huang, Y., Shen, P., Li, S., Li, J., Huang, F., Li, Y., & Cui, Z.
       (2021). Consistent Instance False Positive Improves Fairness in Face Recognition.
       CVPR. The abstract gives the penalty. Equation numbers were not available.

    Examples
    --------
    >>> from skfairfr import FPRPenaltyProjector, make_face_embeddings
    >>> data = make_face_embeddings(40, n_features=16, random_state=0)
    >>> projector = FPRPenaltyProjector(max_epochs=3, random_state=0)
    >>> projector.fit(data.X, data.y).transform(data.X).shape == data.X.shape
    True
    """

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            penalty: str = ...,
            far: float | None = ...,
            alpha: float = ...,
            base: str = ...,
            scale: float = ...,
            margin: float = ...,
            weighting: str = ...,
            momentum: float = ...,
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
            Identity of each image, or :func:`~skfairfr.face_labels`, or a frame with the
            column ``identity``.
        sensitive_features : array-like, shape (n_samples,), default=None
            Ignored, like groups inside ``y``, unless there is a ``sampler``: the loss
            needs none. It is accepted because a pipeline or a search passes groups on to
            its scorers.

        Returns
        -------
        self : FPRPenaltyProjector

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

    @property
    def _fields(self):
        # The loss needs no groups. A sampler may.
        return ("identity",) if self.sampler is None else ("identity", "group")

    def _read_people(self, identity, group, domain):
        return everyone(identity, group)

    def _finish(self, loss):
        self.threshold_ = float(loss.threshold)

    def _make_loss(self, people, rows, n_features, centroids, generator):
        return FPRPenaltyLoss(
            people.identities.size,
            n_features,
            penalty=self.penalty,
            far=plain(self.far),
            alpha=self.alpha,
            base=self.base,
            scale=self.scale,
            margin=self.margin,
            weighting=self.weighting,
            momentum=plain(self.momentum),
            centroids=centroids,
            generator=generator,
        )
