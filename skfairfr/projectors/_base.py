"""The base of the projectors: training from top to bottom, transform, persistence."""

from abc import ABCMeta, abstractmethod
from copy import deepcopy
from functools import partial
from numbers import Integral, Real
from os import PathLike
from typing import NamedTuple

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from skfairfr._compat import Interval, StrOptions
from skfairfr.projectors import _persistence
from skfairfr.projectors._callbacks import (
    Checkpoint,
    Monitor,
    Progress,
    Schedule,
    check_callbacks,
    checkpoint_path,
    read_checkpoint,
    resume,
)
from skfairfr.projectors._head import (
    HEADS,
    ProjectionHead,
    check_sizes,
    project,
    rate_scale,
    sums_by_identity,
)
from skfairfr.projectors._held_out import MONITORS, HeldOutMetrics
from skfairfr.projectors._net import (
    OPTIMIZERS,
    Batches,
    DeviceRows,
    EpochPlan,
    bind_sampler,
    history_columns,
    make_net,
    train,
)
from skfairfr.projectors._people import hold_out
from skfairfr.projectors._validation_sample import sample_to_compare
from skfairfr.utils._errors import plain
from skfairfr.utils._frames import build_frame
from skfairfr.utils._torch import (
    PRECISIONS,
    choose_device,
    memory_errors,
    new_generator,
    threads_for,
)
from skfairfr.utils._validation import validate_rows


class BaseProjector(
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    BaseEstimator,
    metaclass=ABCMeta,
):
    """A head between encoder and matcher, trained by a private net.

    ``fit`` of a subclass reads the labels, sets the fitted attributes that follow from them
    and passes the People to train on to ``_fit``, which assembles the training from hooks.
    A subclass must define ``_make_loss``, its loss, and ``_held_out_loss``, the loss of
    people without a centroid. It may override ``_hold_out``, the split into people trained
    on and people held out; ``_plan_epochs``, the batches of an epoch with their callbacks
    and metrics; and ``_loss_has_centroids``, False where the loss has no centroids. The
    methods return values and set nothing.
    """

    __metadata_request__fit = {"sensitive_features": True}  # noqa: RUF012

    # Whether the loss has a centroid for each identity; if not, ``_fit`` takes the sum of
    # each person's projected rows.
    _loss_has_centroids = True

    _parameter_constraints: dict = {  # noqa: RUF012
        "head": [StrOptions(set(HEADS))],
        "hidden_dim": [Interval(Integral, 1, None, closed="left"), None],
        "output_dim": [Interval(Integral, 2, None, closed="left"), None],
        "init": [StrOptions({"means", "random"})],
        "max_epochs": [Interval(Integral, 1, None, closed="left")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "lr": [Interval(Real, 0, None, closed="neither")],
        "final_lr": [Interval(Real, 0, None, closed="neither"), None],
        "optimizer": [StrOptions(set(OPTIMIZERS))],
        "sampler": [callable, None],
        "validation_fraction": [Interval(Real, 0, 1, closed="left")],
        "monitor": [StrOptions(set(MONITORS))],
        "patience": [Interval(Integral, 1, None, closed="left"), None],
        "precision": [StrOptions(set(PRECISIONS))],
        "checkpoint_dir": [str, PathLike, None],
        "callbacks": [list, None],
        "device": [str],
        "random_state": ["random_state"],
        "warm_start": ["boolean"],
        "verbose": ["verbose"],
    }

    @abstractmethod
    def _make_loss(self, people, rows, n_features, centroids, generator):
        """The loss module, on the CPU.

        Parameters
        ----------
        people : People
            Trained on.
        rows : DeviceRows
        n_features : int
            Of the projected embeddings.
        centroids : ndarray, shape (n_identities, n_features), or None
            Where centroids start; None: drawn.
        generator : torch.Generator
        """

    @abstractmethod
    def _held_out_loss(self, embeddings, people, loss, rows):
        """The loss of people without centroids, a float.

        Parameters
        ----------
        embeddings : tensor, shape (n_images, n_features)
            Unit rows, on the device.
        people : People
            Held out.
        loss : nn.Module
            That of the people trained on, as it is now.
        rows : DeviceRows
        """

    def _plan_epochs(self, people, held_out, rows, head, generator):
        """The EpochPlan: batches, and callbacks and metrics that go with them.

        Parameters
        ----------
        people : People
            Trained on.
        held_out : People or None
        rows : DeviceRows
        head : ProjectionHead
            Which is being trained.
        generator : torch.Generator
        """
        sampler = bind_sampler(self.sampler, people)
        return EpochPlan(
            Batches(
                rows, people.rows, people.y, int(self.batch_size), generator, sampler
            )
        )

    def _hold_out(self, people, rng):
        """People trained on, and people held out or None."""
        if self.validation_fraction > 0:
            return hold_out(people, float(self.validation_fraction), rng)
        if self.monitor != "loss":
            raise ValueError(
                f"monitor={self.monitor!r} is measured on people held out; set "
                "validation_fraction=0.2, or monitor='loss'."
            )
        return people, None

    def _fit(self, X, people, library):
        """Train on these people and set the fitted attributes.

        Parameters
        ----------
        X : ndarray, shape (n_samples, n_features)
        people : People
            Some of them may be held out.
        library : str or None
            Of the frames passed to ``fit``, for the history.

        Returns
        -------
        loss : nn.Module
            As trained.
        """
        with memory_errors(), threads_for():
            return self._train(X, people, library)

    def _train(self, X, people, library):
        device = choose_device(self.device)
        earlier = self._earlier_fit() if self.warm_start else None
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        path = state = None
        if self.checkpoint_dir is not None:
            path = checkpoint_path(self, X, people, seed)
            state = read_checkpoint(path)
            seed = seed if state is None else state["seed"]
        rng = np.random.RandomState(seed)

        people, held_out = self._hold_out(people, rng)
        if held_out is not None:
            held_out = sample_to_compare(held_out, seed)
        generator = new_generator(rng)
        rows = DeviceRows(X, device)
        head = self._starting_head(X.shape[1], earlier, generator)
        centroids = self._starting_centroids(head, rows, people, earlier)
        loss = self._make_loss(people, rows, head.sizes[2], centroids, generator)
        plan = self._plan_epochs(people, held_out, rows, head, generator)

        monitor = Monitor("train_loss", patience=self.patience)
        if held_out is not None:
            held_out_loss = partial(self._held_out_loss, loss=loss, rows=rows)
            measure = HeldOutMetrics(
                rows, held_out, self.monitor, held_out_loss, plan.extra_metrics
            )
            monitor = Monitor(f"valid_{self.monitor}", measure, self.patience)
        lr, final_lr, max_epochs = plain([self.lr, self.final_lr, self.max_epochs])
        scale = rate_scale(head)
        final_lr = None if final_lr is None else scale * final_lr
        schedule = Schedule(scale * lr, final_lr, max_epochs)
        callbacks = [schedule, *plan.callbacks, monitor]
        if path is not None:
            callbacks.append(Checkpoint(path, seed, generator, monitor))
        if self.verbose:
            callbacks.append(Progress(self.max_epochs))
        callbacks += check_callbacks(self.callbacks)

        net = make_net(
            head,
            loss,
            callbacks,
            optimizer=self.optimizer,
            lr=scale * lr,
            max_epochs=max_epochs,
            device=device,
        )
        if state is not None:
            resume(path, state, net, generator, monitor)
        train(net, plan.batches, self.precision)

        self.head_ = head.cpu().eval().requires_grad_(False)
        if self._loss_has_centroids:
            centroids = loss.centroids.detach().cpu().numpy()
        else:
            centroids = sums_by_identity(self.head_, rows, people)
        self.centroids_ = _directions(centroids)
        self.identities_ = people.identities
        self.n_validation_images_ = 0 if held_out is None else held_out.rows.size
        self._n_features_out = head.sizes[2]
        history = history_columns(net.history)
        self._history = history if earlier is None else _join(earlier.history, history)
        self._library = library
        if path is not None:
            path.unlink(missing_ok=True)
        return loss

    def _earlier_fit(self):
        """The fit that a warm start continues; None before the first fit."""
        if not hasattr(self, "head_"):
            return None
        had = self.head_.kind, *self.head_.sizes
        asked = self.head, *self._sizes(self.n_features_in_)
        if asked != had:
            raise ValueError(
                "warm_start=True goes on with a head whose kind and numbers of features "
                f"in, hidden and out are {had}, but X and the parameters ask for {asked}; "
                "set warm_start=False."
            )
        centroids = dict(zip(self.identities_.tolist(), self.centroids_, strict=True))
        return _EarlierFit(self.head_, centroids, self._history)

    def _sizes(self, n_features):
        """Features in, hidden and out of the head that the parameters ask for."""
        hidden = self.hidden_dim or 2 * n_features
        return n_features, hidden, self.output_dim or n_features

    def _starting_head(self, n_features, earlier, generator):
        """A copy of the earlier fit's head, or a new one."""
        if earlier is not None:
            return deepcopy(earlier.head).train().requires_grad_(True)
        sizes = self._sizes(n_features)
        check_sizes(*sizes)
        return ProjectionHead(*sizes, self.head, generator)

    def _starting_centroids(self, head, rows, people, earlier):
        """Where centroids start, (n_identities, n_features_out); None: drawn, or none.

        People of an earlier fit keep their centroids, and new ones start from the means of
        their images. So do all others unless ``init="random"``.
        """
        if not self._loss_has_centroids:
            return None
        if self.init == "random" and earlier is None:
            return None
        start = sums_by_identity(head, rows, people)
        nowhere = np.flatnonzero(~start.any(axis=1))
        if nowhere.size:
            raise ValueError(
                "The mean of the images of identity "
                f"{people.identities.tolist()[nowhere[0]]!r} is zero and has no direction "
                "to start from; drop rows of zeros, or use init='random'."
            )
        if earlier is not None:
            for k, label in enumerate(people.identities.tolist()):
                start[k] = earlier.centroids.get(label, start[k])
        return start

    @property
    def history_(self):
        """Losses, monitored values, learning rate and seconds, a row for each epoch.

        A frame of the library of the data passed to ``fit`` or, without any, of the first
        installed of pandas, polars and pyarrow.
        """
        if not hasattr(self, "_history"):
            raise AttributeError(
                f"history_ is there after fit; this {type(self).__name__} is not fitted."
            )
        return build_frame(self._history, default_library=self._library)

    def transform(self, X):
        """Project embeddings.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
            Embeddings of the same encoder as in ``fit``, rows of any length; a memory map
            is read in blocks.

        Returns
        -------
        projected : ndarray of float32, shape (n_samples, n_features_out)
            Unit rows: their dot products are cosines.

        Raises
        ------
        NotFittedError
            Before ``fit``.
        ValueError
            If X has another number of features, or NaN or infinite values.
        MemoryError
            If memory does not suffice for the rows that are projected.
        """
        check_is_fitted(self, "head_")
        X = check_embeddings(self, X, reset=False)
        device = choose_device(self.device)
        with memory_errors():
            on_cpu = device.type == "cpu"
            head = self.head_ if on_cpu else deepcopy(self.head_).to(device)
            return project(head, DeviceRows(X, device))

    def save(self, path):
        """Write what was fitted, without pickle.

        Parameters
        ----------
        path : str or path-like
            Of one safetensors file: numbers as they are, everything else as JSON in its
            header. It is overwritten.

        Raises
        ------
        NotFittedError
            Before ``fit``.
        ValueError
            If labels are neither numbers, strings nor booleans.
        OSError
            If the file cannot be written.
        """
        check_is_fitted(self, "head_")
        _persistence.save(self, path)

    @classmethod
    def load(cls, path):
        """Read what :meth:`save` wrote.

        Parameters
        ----------
        path : str or path-like

        Returns
        -------
        projector : object of this class
            Fitted; parameters that have no JSON form are None.

        Raises
        ------
        ValueError
            If the file holds something else, or another class, or is damaged.
        """
        return _persistence.load(cls, path)

    def __sklearn_is_fitted__(self):
        return hasattr(self, "head_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        tags.non_deterministic = False
        return tags


class _EarlierFit(NamedTuple):
    """What a warm start continues: head, centroids by label, columns of the history."""

    head: ProjectionHead
    centroids: dict
    history: dict


def check_embeddings(estimator, X, *, reset):
    """X as a finite float array, (n_samples, n_features), without a copy of a memory map."""
    return validate_rows(
        estimator,
        X,
        reset=reset,
        dtype=[np.float32, np.float64, np.float16],
        ensure_min_features=2 if reset else 1,
    )


def _directions(rows):
    """Rows divided by their lengths; a row of zeros stays."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(length > 0, length, 1)


def _join(before, after):
    """The columns of two histories, one after the other; epochs are numbered through."""
    n_before = len(before["epoch"])
    n_after = len(after["epoch"])
    after = {**after, "epoch": [n_before + e for e in after["epoch"]]}
    names = list(dict.fromkeys([*before, *after]))
    return {
        name: before.get(name, [None] * n_before) + after.get(name, [None] * n_after)
        for name in names
    }
