"""TripletProjector: a head trained with semi-hard triplets, groups drawn by weight."""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, Self, Unpack

import numpy as np
import torch
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted
from skorch.callbacks import Callback

from skfairfr._compat import Interval, StrOptions, fit_context
from skfairfr.losses import TripletLoss, semi_hard_negatives
from skfairfr.losses._triplet import mean_triplet_loss
from skfairfr.projectors._base import BaseProjector, Training, with_parameters
from skfairfr.projectors._people import GroupFARs, everyone_by_most
from skfairfr.projectors._training import (
    BLOCK_ROWS,
    Batches,
    bind_sampler,
    epoch_positions,
)
from skfairfr.samplers import (
    EXPONENT,
    adjusted_weights,
    dynamic_weights,
    equal_weights,
    natural_weights,
)
from skfairfr.samplers._torch import GroupCells
from skfairfr.utils._errors import ArgumentError, invalid
from skfairfr.utils._labels import FIELDS
from skfairfr.utils._types import Column
from skfairfr.utils._validation import warn_caller

# Values of the parameter ``sampling``.
SAMPLINGS = ("natural", "equal", "adjusted", "dynamic")


@with_parameters(
    {
        "sampling": ("natural", [StrOptions(set(SAMPLINGS))]),
        "group_weights": (None, [dict, None]),
        "homogeneous": (False, ["boolean"]),
        "margin": (0.6, [Interval(Real, 0, 4, closed="right")]),
        "selection_size": (10240, [Interval(Integral, 2, None, closed="left")]),
        "far": (1e-3, [Interval(Real, 0, 1, closed="neither")]),
        "smoothing": (0.2, [Interval(Real, 0, 1, closed="both")]),
        "exponent": (EXPONENT, [Interval(Real, 0, None, closed="left")]),
    },
    without=("init",),
    max_epochs=50,
    batch_size=32,
    final_lr=1e-5,
    validation_fraction=0.2,
)
class TripletProjector(BaseProjector):
    """Project embeddings by triplets, drawing rare groups as often as their errors ask.

    A small network between a frozen encoder and its matcher, trained to bring two images
    of a person closer than images of two people by a margin:
    max(D2_ap - D2_an + margin, 0). Sampling determines which groups the triplets come
    from: training on data as they are found serves the common groups and, in the
    paper, raises the FAR within one rare group. Every strategy against that lowers the
    disparity of the FAR there at a cost in FRR. Measure both.

    With a ``domain``, selfies and documents say, only pairs across the two are compared:
    a selfie, a document of the person, and a document of somebody else, and the other way
    round.

    Parameters
    ----------
    sampling : {"natural", "equal", "adjusted", "dynamic"}, default="natural"
        "natural" visits every image once an epoch. "equal" draws every group equally
        often, "adjusted" by ``group_weights``. "dynamic" starts from ``group_weights``, or
        from equal ones, and after every epoch moves the weights towards
        FAR ** ``exponent`` within each group of validation people.
    group_weights : dict, default=None
        ``{label: weight}``, every weight >= 0, with an entry for every group. The paper
        gives 3 to two of six continents, or 4 to some countries, and 1 to the others.
    homogeneous : bool, default=False
        Whether the candidates of a selection all belong to one group, which is drawn by
        its weight: the paper's negative result, FARs within groups that swing.
    margin : float, default=0.6
        Margin of squared distances, in (0, 4].
    selection_size : int, default=10240
        Pairs among whose images negatives are selected. The paper's homogeneous batches
        have 2048.
    far : float, default=1e-3
        Overall FAR, in (0, 1), at whose threshold the FAR within groups is measured on
        validation people. The paper's is 1e-5.
    smoothing : float, default=0.2
        Share, in [0, 1], by which dynamic weights move in an epoch.
    exponent : float, default=log10(4)
        Exponent of dynamic weights, >= 0: ten times the FAR, four times the weight.
    head : {"residual", "mlp"}, module or callable, default="residual"
        "residual" adds a hidden layer's output to x and starts as the identity map, as
        one that goes on training an encoder should. "mlp" forgets x. Or a head of your own,
        as in :class:`EthicalModule`.
    hidden_dim : int, default=None
        Width of the hidden layer. If None, twice the features.
    output_dim : int, default=None
        Features of the projected embeddings. If None, as many as X has. Another number
        needs ``head="mlp"``.
    max_epochs : int, default=50
        Rounds over as many pairs as there are images.
    batch_size : int, default=32
        Triplets in a step.
    lr : float, default=1e-3
        Learning rate of the first epoch, times 64 / n_features for the residual head. The
        paper's 1e-5 is for a whole encoder.
    final_lr : float, default=1e-5
        Learning rate of the last epoch, reached geometrically. None keeps ``lr``, and
        leaves it to an LRScheduler among ``callbacks``.
    optimizer : {"adam"}, class or partial, default="adam"
        "adam", a class of torch.optim, which is called with the rate, or a partial of one.
        ``set_params(optimizer__weight_decay=0.01)`` adds an argument.
    sampler : callable, default=None
        ``sampler(identity, group, generator)`` returns the positions of the images that an
        epoch visits, each with a partner of its person. It replaces ``sampling``, which must
        then be "natural".
    validation_fraction : float, default=0.2
        Share of the identities, in [0, 1), reserved for validation and never trained on. If
        they are too few to reserve any, a warning states that all are trained on. With any,
        the weights of the epoch with the best ``monitor`` are kept. The loss of validation
        people weighs groups as they are found, so it may prefer an epoch before the
        sampling has served rare ones: 0.0 keeps the last epoch. An epoch compares at most
        2**24 pairs of their images. With more than 5,792 images, these are a fixed sample of
        people from every group.
    monitor : {"loss", "bfar", "bfrr", "frr_at_far"}, default="loss"
        Criterion of the best epoch and of ``patience``, smaller is better: the loss over all
        triplets of validation people or, at ``monitor_far``, a disparity or the FRR.
    monitor_far : float, default=1e-3
        FAR of the monitored rates, in (0, 1).
    patience : int, default=None
        Epochs without a better value after which training stops. None never stops
        early.
    precision : {"float32", "tf32", "bfloat16"}, default="float32"
        Precision of the matrix products in training steps. "tf32" needs an accelerator.
    checkpoint_dir : str or path-like, default=None
        Folder for the state after every epoch: the same fit, started again after it
        was killed, goes on from there. Removed when a fit is through.
    callbacks : list of skorch callbacks, default=None
        Called after the built-in ones. The validation people are skorch's validation set.
    device : str or torch.device, default="auto"
        "cpu", "cuda", or "auto" for CUDA if available. CUDA was not tested. The same
        Results there may differ for one ``random_state``.
    random_state : int, RandomState instance or None, default=None
        Source of the weights, pairs, negatives and the validation people.
    warm_start : bool, default=False
        Whether ``fit`` starts from the head of the previous fit.
    verbose : int, default=0
        1 prints a line for each epoch.

    Attributes
    ----------
    head_ : torch.nn.Module
        Maps (n_samples, n_features) tensors of any row length to unit rows. On the CPU.
    identities_ : ndarray, shape (n_identities,)
        Labels of the people trained on.
    centroids_ : ndarray of float32, shape (n_identities, n_features_out)
        Directions of the means of their projected images, unit rows.
    groups_ : ndarray, shape (n_groups,)
        Sorted labels, or empty without groups.
    group_weights_ : ndarray of float64, shape (n_epochs, n_groups)
        Weights that each epoch drew by, their mean 1.
    group_fars_ : ndarray of float64, shape (n_epochs, n_groups)
        FAR within each group in [0, 1] after each epoch, at the threshold of the overall
        ``far``, of validation people, or nan if there are none.
    n_left_out_ : int
        Identities without a pair (across the domains), which are not trained on.
    net_ : skorch.NeuralNet
        Trained net, with ``module_``, ``criterion_`` and ``history``, not in saved files.
    history_ : frame
        A row for each epoch: losses, ``n_triplets`` that violated the margin, weights and
        FARs of the groups, learning rate, seconds.
    n_validation_images_ : int
        Validation images that the ``valid_`` columns of the history compare, 5,792 at
        most, or 0 without validation.
    n_features_in_ : int
    feature_names_in_ : ndarray, shape (n_features,)
        Names of the columns, if X was a frame with names.

    See Also
    --------
    skfairfr.losses.semi_hard_negatives : The selection.
    skfairfr.samplers.dynamic_weights : What "dynamic" does after an epoch.
    skfairfr.metrics.GroupWeightsDisplay : Draws the weights over the epochs.
    skfairfr.metrics.SimilarityROC.far_matrix : The FAR within and between groups.

    References
    ----------
    .. [1] Bruveris, M., Mortazavian, P., Gietema, J., & Mahadevan, M. (2020). Reducing
       Geographic Performance Differentials for Face Recognition. WACV Workshops.

    Examples
    --------
    >>> from skfairfr import TripletProjector, face_labels, make_face_embeddings
    >>> data = make_face_embeddings(200, 4, 16, n_domains=2, random_state=0)
    >>> y = face_labels(data.y, data.sensitive_features, data.domain)
    >>> projector = TripletProjector(sampling="equal", max_epochs=2, random_state=0)
    >>> projector.fit(data.X, y).group_weights_
    array([[1., 1.],
           [1., 1.]])
    >>> projector.transform(data.X).shape == data.X.shape
    True
    """

    __metadata_request__fit = {"sensitive_features": True, "domain": True}  # noqa: RUF012

    _loss_has_centroids = False
    _fields = FIELDS

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            sampling: str = ...,
            group_weights: dict | None = ...,
            homogeneous: bool = ...,
            margin: float = ...,
            selection_size: int = ...,
            far: float = ...,
            smoothing: float = ...,
            exponent: float = ...,
            **training: Unpack[Training],
        ) -> None: ...

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: ArrayLike,
        y: Column,
        sensitive_features: Column | None = None,
        *,
        domain: Column | None = None,
    ) -> Self:
        """Train the head.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
            Embeddings of a frozen encoder. On a CPU a memory map may be larger than
            memory.
        y : array-like, shape (n_samples,)
            Identity of each image, or :func:`~skfairfr.face_labels` with its group and
            domain, or a frame with the columns ``identity``, ``group`` and ``domain``.
        sensitive_features : array-like, shape (n_samples,), default=None
            Group of each image. None or NaN is unknown: such images are drawn as often as
            they are found, and the weights share out the rest. None means one group.
        domain : array-like, shape (n_samples,), default=None
            Two values, the first in sorted order being the probe's: only pairs across
            them are trained on and compared.

        Returns
        -------
        self : TripletProjector

        Raises
        ------
        ValueError
            If there are not two values of the domain, or two people with a pair. If the
            weights do not fit the groups or the strategy. If "dynamic" finds no impostor
            pair of a group, or too few for ``far``, among the validation people. If the loss
            becomes infinite.

        Warns
        -----
        UserWarning
            If the fit is interrupted after its first epoch: it keeps the weights as they are
            then, steps of the epoch that was broken off among them, and a history without it.
        """
        return self._fit(X, y, sensitive_features, domain)

    def _read_people(self, identity, group, domain):
        if group is not None and group.values.size == 0:
            group = None  # unknown for every image
        self._check_options(group)
        self.groups_ = np.empty(0, dtype=object) if group is None else group.values
        people = everyone_by_most(identity, group, domain)
        paired = have_pairs(people)
        self.n_left_out_ = int((~paired).sum())
        if paired.sum() < 2:
            where = "" if domain is None else " in both domains"
            problem = f"contains {int(paired.sum())} people with two images{where};"
            raise invalid("y", None, problem, "triplets need two: give more images.")
        return people.of(paired)

    @property
    def group_weights_(self) -> np.ndarray:
        """Weights of the groups in each epoch, (n_epochs, n_groups)."""
        return self._group_columns("weight")

    @property
    def group_fars_(self) -> np.ndarray:
        """FAR within each group after each epoch, (n_epochs, n_groups)."""
        return self._group_columns("far")

    def _group_columns(self, what):
        """Columns "weight_<label>" or "far_<label>" of the history, (n_epochs, n_groups)."""
        check_is_fitted(self, "_history")
        n_epochs = len(self._history["epoch"])
        missing = [None] * n_epochs
        columns = [
            self._history.get(f"{what}_{label}", missing)
            for label in self.groups_.tolist()
        ]
        return np.array(columns, dtype=np.float64).reshape(-1, n_epochs).T

    def _check_options(self, group):
        """Raise where options contradict each other, or need groups and there are none."""
        drawn = self.sampling != "natural" or self.homogeneous
        if drawn and self.sampler is not None:
            problem = "and sampling (or homogeneous) both say which images are drawn;"
            remedy = "leave sampling='natural' and homogeneous=False with a sampler."
            raise invalid("sampler", self.sampler, problem, remedy)
        if group is None and (drawn or self.group_weights is not None):
            problem = "is None, and sampling, homogeneous or group_weights need it;"
            remedy = "give it to fit, or y=face_labels(identity, group)."
            raise invalid("sensitive_features", None, problem, remedy)

    def _hold_out(self, people, rng):
        """As in the base class, but all are trained on if people are too few for validation."""
        if self.validation_fraction == 0 and self.sampling == "dynamic":
            problem = "is 'dynamic' and follows FARs of validation people."
            remedy = "Set validation_fraction=0.2, or another sampling."
            raise invalid("sampling", self.sampling, problem, remedy)
        try:
            return super()._hold_out(people, rng)
        except ValueError as error:
            if self.sampling == "dynamic" or self.monitor != "loss":
                raise
            warn_caller(f"There is no validation: {error}", UserWarning)
            return people, None

    def _plan_epochs(self, people, held_out, rows, head, generator):
        sampler, callbacks = bind_sampler(self.sampler, people), []
        if people.groups is not None:
            groups = self._group_sampling(people)
            callbacks.append(groups)
            if held_out is not None:
                fars = GroupFARs(held_out, self.far)
                if self.sampling == "dynamic":
                    fars.check_for_dynamic(people.labels)
                    groups.fars = fars
                if fars.resolved:
                    callbacks.append(fars)
        if self.homogeneous:
            sampler = partial(groups.draw_homogeneous, int(self.selection_size))
        elif self.sampling != "natural":
            sampler = groups.draw
        batches = TripletBatches(
            rows,
            people,
            int(self.batch_size),
            generator,
            sampler,
            head=head,
            margin=self.margin,
            selection_size=int(self.selection_size),
        )
        return batches, [*callbacks, CountTriplets(batches)]

    def _group_sampling(self, people):
        """The GroupSampling whose weights the history shows."""
        known = people.groups[people.groups >= 0]
        counts = np.bincount(known, minlength=people.labels.size)
        start = starting_weights(
            self.sampling, self.group_weights, people.labels, counts
        )
        return GroupSampling(people, start, self.smoothing, self.exponent)

    def _make_loss(self, people, rows, n_features, centroids, generator):
        return TripletLoss(self.margin)

    def _held_out_loss(self, people, loss, embeddings, y, X):
        left, right = (side.to(y.device) for side in partners_of(people).all_once())
        return mean_triplet_loss(
            embeddings[left], embeddings[right], y[left], self.margin
        )


def starting_weights(sampling, group_weights, labels, counts):
    """Weights of the first epoch, (n_groups,), their mean 1.

    Parameters
    ----------
    sampling : str
        One of SAMPLINGS.
    group_weights : dict or None
    labels : ndarray, shape (n_groups,)
    counts : ndarray of int, shape (n_groups,)
        Images of each group.

    Raises
    ------
    ValueError
        If the weights do not fit the sampling or the groups.
    """
    if group_weights is not None and sampling not in ("adjusted", "dynamic"):
        problem = f"would be ignored with sampling={sampling!r};"
        remedy = "they are for 'adjusted', or where 'dynamic' starts."
        raise invalid("group_weights", group_weights, problem, remedy)
    if sampling == "adjusted" and group_weights is None:
        problem = "is None, and sampling='adjusted' draws by it;"
        remedy = f"give {{label: weight}} for each of {labels.tolist()}."
        raise invalid("group_weights", None, problem, remedy)
    if group_weights is not None:
        try:
            return adjusted_weights(group_weights, labels)
        except ArgumentError as error:
            problem = str(error).removeprefix("weights ")
            raise invalid("group_weights", group_weights, problem) from None
    if sampling == "natural":
        return natural_weights(counts)
    return equal_weights(len(labels))


class GroupSampling(Callback):
    """Draws the images of every epoch by the weights of their groups.

    The history contains all that an epoch depends on, ``weight_<label>`` of the epoch before
    and ``far_<label>`` after it. A checkpoint needs nothing more.

    Parameters
    ----------
    people : People
        Trained on.
    start : ndarray, shape (n_groups,)
        Weights of the first epoch.
    smoothing, exponent : float
        Of dynamic weights.

    Attributes
    ----------
    fars : GroupFARs or None
        Measured after every epoch. The weights follow them. None never changes the weights.
    """

    fars = None

    def __init__(self, people, start, smoothing=None, exponent=None):
        labels = people.labels.tolist()
        self.names = [f"weight_{label}" for label in labels]
        self.cells = GroupCells(people.groups, len(labels))
        self.cells.probabilities(start)
        self.weights = self.start = start
        self.options = {"smoothing": smoothing, "exponent": exponent}

    def on_epoch_begin(self, net, **kwargs):
        self.weights = self._next_weights(net.history)
        for name, weight in zip(self.names, self.weights, strict=True):
            net.history.record(name, float(weight))

    def draw(self, generator):
        """Positions of an epoch, as many as there are images."""
        return self.cells.draw(self.weights, len(self.cells), generator)

    def draw_homogeneous(self, size, generator):
        """Positions of rounds of one group each, as many as cover all images once."""
        size = min(size, len(self.cells))
        n_rounds = -(-len(self.cells) // size)
        return self.cells.draw_batches(self.weights, size, n_rounds, generator)

    def _next_weights(self, history):
        """Weights of the epoch whose history has just begun."""
        if len(history) == 1:
            return self.start
        previous = history[-2]
        weights = np.array([previous[name] for name in self.names])
        if self.fars is None:
            return weights
        fars = np.array([previous[name] for name in self.fars.names])
        n = self.fars.n_impostors
        return dynamic_weights(weights, np.rint(fars * n), n, **self.options)


class Partners:
    """For every image the images of its person that it makes a pair with.

    With two domains these are the person's images of the other one, otherwise all its
    other images. Every person has one at least.

    Parameters
    ----------
    y : tensor of int64, shape (n_images,)
    domain : tensor of int, shape (n_images,), or None
        0 or 1.
    """

    def __init__(self, y, domain=None):
        self._domain = domain
        # Without domains an image is among its own candidates, and skipped in their ring.
        self._n_own = int(domain is None)
        own = y if domain is None else 2 * y + domain
        sides, self._order = torch.sort(own, stable=True)
        other = own if domain is None else own ^ 1
        self._start = torch.searchsorted(sides, other)
        self._count = torch.searchsorted(sides, other, right=True) - self._start
        # The place among the images of its person (and domain).
        rank = torch.argsort(self._order) - torch.searchsorted(sides, own)
        self._next = rank + self._n_own

    def draw(self, places, generator):
        """Left and right image of pairs: each place with a partner drawn uniformly."""
        n_others = self._count[places] - self._n_own
        share = torch.rand(len(places), dtype=torch.float64, generator=generator)
        step = torch.minimum((share * n_others).long(), n_others - 1)
        return self._pair(places, step + self._n_own * self._next[places])

    def all_once(self):
        """Left and right image of pairs: each image with the next one of its person."""
        return self._pair(torch.arange(len(self._order)), self._next)

    def _pair(self, places, step):
        """Pairs of each place with its candidate at a step, domain 0 on the left."""
        step = step % self._count[places]
        partner = self._order[self._start[places] + step]
        if self._domain is None:
            return places, partner
        is_left = self._domain[places] == 0
        left = torch.where(is_left, places, partner)
        return left, torch.where(is_left, partner, places)


class TripletBatches(Batches):
    """Iterates over the batches (rows, triplets) of an epoch, a new epoch each time.

    A round draws images by the sampler, a partner of each, and for both anchors of these
    pairs a semi-hard negative. Its triplets are then shuffled into minibatches. Every one
    of the people has a pair. The sampler's batches are rounds, a batch is of triplets.

    Parameters
    ----------
    *common
        Of :class:`Batches`.
    head : ProjectionHead
        In training: every round selects with its weights of that moment.
    margin : float
    selection_size : int
        Pairs of a round.

    Attributes
    ----------
    n_triplets : int
        Triplets of the epoch so far.
    """

    def __init__(self, rows, people, *common, head, margin, selection_size):
        super().__init__(rows, people, *common)
        self.head = head
        self.margin = margin
        self.selection_size = selection_size
        self.partners = partners_of(people)
        self.n_triplets = 0

    def __iter__(self):
        self.n_triplets = 0
        n_train, size = len(self.index), self.selection_size
        for places in epoch_positions(self.sampler, self.generator, n_train, size):
            pairs = self.partners.draw(places, self.generator)
            triplets = self.select(*pairs)
            self.n_triplets += len(triplets)
            order = torch.randperm(len(triplets), generator=self.generator)
            for part in triplets[order].split(self.batch_size):
                if len(part):
                    yield self._batch(part)
        if self.n_triplets == 0:
            # No triplet violates the margin: the loss of this epoch is 0.
            yield self.rows.take(self.index[:1]), torch.empty((0, 3), dtype=torch.int64)

    def select(self, left, right):
        """Triplets (n_triplets, 3) of images, from pairs of images (n_pairs,) each."""
        places, inverse = torch.unique(torch.cat([left, right]), return_inverse=True)
        z = self._project(places)[inverse.to(self.rows.device)]
        negatives = semi_hard_negatives(
            z[: len(left)],
            z[len(left) :],
            self.y[left].to(z.device),
            margin=self.margin,
            generator=self.generator,
        )
        triplets = []
        for anchor, positive, negative in zip(
            (left, right), (right, left), negatives, strict=True
        ):
            negative = negative.cpu()
            found = (negative >= 0).nonzero().squeeze(1)
            columns = (anchor[found], positive[found], positive[negative[found]])
            triplets.append(torch.stack(columns, dim=1))
        return torch.cat(triplets)

    @torch.no_grad()
    def _project(self, places):
        """Unit rows of images, on the device."""
        index = self.index[places].numpy()
        self.head.eval()
        return torch.cat([self.head(b) for b in self.rows.in_order(BLOCK_ROWS, index)])

    def _batch(self, triplets):
        """The rows of the images, each once in the order of X, and triplets of places."""
        places, inverse = torch.unique(triplets, return_inverse=True)
        return self.rows.take(self.index[places]), inverse.to(self.rows.device)


class CountTriplets(Callback):
    """Records how many triplets of an epoch violated the margin.

    Parameters
    ----------
    batches : TripletBatches
    """

    def __init__(self, batches):
        self.batches = batches

    def on_epoch_end(self, net, **kwargs):
        net.history.record("n_triplets", self.batches.n_triplets)


def have_pairs(people):
    """Whether each identity has two images, in different domains if there are any."""
    if people.domain is None:
        return np.bincount(people.y, minlength=people.identities.size) > 1
    found = np.zeros((people.identities.size, 2), dtype=bool)
    found[people.y, people.domain] = True
    return found.all(axis=1)


def partners_of(people):
    """The Partners of the images of People."""
    domain = None if people.domain is None else torch.as_tensor(people.domain).long()
    return Partners(torch.as_tensor(people.y), domain)
