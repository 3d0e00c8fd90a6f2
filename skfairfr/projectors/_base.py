"""What the transformers share: validate, make a net, train it, keep what was fitted."""

from abc import ABCMeta, abstractmethod
from copy import deepcopy
from numbers import Integral, Real
from os import PathLike

import numpy as np
import torch
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from skfairfr._compat import Interval, StrOptions
from skfairfr.projectors import _persistence
from skfairfr.projectors._batches import Batches, Rows
from skfairfr.projectors._callbacks import (
    Monitor,
    Progress,
    Schedule,
    check_callbacks,
)
from skfairfr.projectors._checkpoints import Checkpoint, locate, read
from skfairfr.projectors._head import HEADS, ProjectionHead, project
from skfairfr.projectors._net import OPTIMIZERS, history_columns, prepare, train
from skfairfr.projectors._people import hold_out
from skfairfr.projectors._validation import MONITORS, Validation
from skfairfr.samplers._torch import GroupSampler
from skfairfr.utils._frames import build_frame, library_of
from skfairfr.utils._torch import PRECISIONS, choose_device, new_generator

# Rows taken through the head at a time when nothing is trained.
BLOCK_ROWS = 8192


class BaseProjector(
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    BaseEstimator,
    metaclass=ABCMeta,
):
    """A head between encoder and matcher, trained by a private net.

    Subclasses say who is trained on (``_gather``), what is minimised (``_make_loss``) and
    what people without a centroid cost (``_held_out_loss``).
    """

    __metadata_request__fit = {"sensitive_features": True}  # noqa: RUF012

    # Whether the loss has one for each identity.
    _has_centroids = True

    _parameter_constraints: dict = {  # noqa: RUF012
        "head": [StrOptions(set(HEADS))],
        "hidden_dim": [Interval(Integral, 1, None, closed="left"), None],
        "output_dim": [Interval(Integral, 2, None, closed="left"), None],
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
    def _gather(self, identity, group, **told):
        """The People trained on, from Labels of all rows; may set fitted attributes."""

    @abstractmethod
    def _make_loss(self, people, n_features, centroids, generator):
        """The loss module, with its centroids if it has any, on the CPU."""

    @abstractmethod
    def _held_out_loss(self, loss, embeddings, people):
        """The loss of people without centroids, a float."""

    def _hold_out(self, people, rng):
        """People trained on and people held out; None for the latter where there are none."""
        if self.validation_fraction == 0:
            return people, None
        return hold_out(people, self.validation_fraction, rng)

    def _make_batches(self, fit):
        """What is iterated over once an epoch."""
        people = fit.people
        return Batches(
            fit.rows,
            people.rows,
            people.y,
            self.batch_size,
            fit.generator,
            fit.sampler(),
        )

    def _watch(self, fit):
        """More callbacks, and what else is measured on people held out, or None."""
        return [], None

    def _centroids(self, net, fit):
        """Directions of the people trained on, (n_identities, n_features_out)."""
        centroids = net.criterion_.centroids.detach().cpu().numpy()
        return centroids / np.linalg.norm(centroids, axis=1, keepdims=True)

    def _fit(self, X, identity, group, libraries, **told):
        """Everything of ``fit`` after the labels are read."""
        device = choose_device(self.device)
        people = self._gather(identity, group, **told)
        known = self._known() if self.warm_start else None
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        place, state = None, None
        if self.checkpoint_dir is not None:
            place = locate(self, X, people, seed)
            state = read(place)
        seed = seed if state is None else state["seed"]
        fit = _Fit(self, X, people, device, seed, known)
        net = fit.run(place, state)
        self._keep(net, fit, known, library_of(*libraries))
        if place is not None:
            place.unlink(missing_ok=True)
        return self

    def _known(self):
        """What a warm start goes on with; None before the first fit."""
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
        return {
            "head": self.head_,
            "centroids": dict(
                zip(self.identities_.tolist(), self.centroids_, strict=True)
            ),
            "history": self._history,
        }

    def _sizes(self, n_features):
        """Features in, hidden and out of the head that the parameters ask for."""
        hidden = self.hidden_dim or 2 * n_features
        return n_features, hidden, self.output_dim or n_features

    def _keep(self, net, fit, known, library):
        """The fitted attributes, all of them on the CPU."""
        self.head_ = net.module_.cpu().eval().requires_grad_(False)
        self.centroids_ = self._centroids(net, fit)
        self.identities_ = fit.people.identities
        self._n_features_out = self.head_.sizes[2]
        columns = history_columns(net.history)
        self._history = columns if known is None else _append(known["history"], columns)
        self._library = library

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
        """
        check_is_fitted(self, "head_")
        X = read_embeddings(self, X, reset=False)
        device = choose_device(self.device)
        head = self.head_ if device.type == "cpu" else deepcopy(self.head_).to(device)
        return project(head, Rows(X, device).in_order(BLOCK_ROWS))

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
            If the file holds something else, or another class.
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


class _Fit:
    """One training: its rows, its people, its net."""

    def __init__(self, settings, X, people, device, seed, known):
        self.settings = settings
        self.device = device
        self.seed = seed
        self.known = known
        rng = np.random.RandomState(seed)
        self.people, self.held = settings._hold_out(people, rng)
        if self.held is None and settings.monitor != "loss":
            raise ValueError(
                f"monitor={settings.monitor!r} is measured on people held out; set "
                "validation_fraction=0.2, or monitor='loss'."
            )
        self.generator = new_generator(rng)
        self.rows = Rows(X, device)
        self.head = self._head(X.shape[1])
        self.loss = settings._make_loss(
            self.people, self.head.sizes[2], self._centroids(), self.generator
        )
        self.watching, self.measure = settings._watch(self)
        self.batches = settings._make_batches(self)

    def run(self, place, state):
        """Train, from the start or from a checkpoint's state."""
        options = self.settings
        monitor = self._monitor()
        callbacks = [
            Schedule(options.lr, options.final_lr, options.max_epochs),
            *self.watching,
            monitor,
        ]
        checkpoint = None
        if place is not None:
            checkpoint = Checkpoint(place, self.seed, self.generator, monitor)
            callbacks.append(checkpoint)
        if options.verbose:
            callbacks.append(Progress(options.max_epochs))
        callbacks += check_callbacks(options.callbacks)
        net = prepare(self.head, self.loss, self.device, options, callbacks)
        if state is not None:
            checkpoint.resume(net, state)
        return train(net, self.batches, options.precision)

    def _head(self, n_features):
        if self.known is not None:
            return deepcopy(self.known["head"]).train().requires_grad_(True)
        sizes = self.settings._sizes(n_features)
        return ProjectionHead(*sizes, self.settings.head, self.generator)

    def _centroids(self):
        """Where centroids start: class means for a residual head, or as they were."""
        start = None
        if not self.settings._has_centroids:
            return None
        if self.settings.head == "residual" or self.known is not None:
            start = _class_means(self.head, self.rows, self.people)
        if self.known is not None:
            for k, label in enumerate(self.people.identities.tolist()):
                start[k] = self.known["centroids"].get(label, start[k])
        return start

    def _monitor(self):
        options = self.settings
        if self.held is None:
            return Monitor("train_loss", None, options.patience)
        measure = Validation(
            self.rows,
            self.held,
            options.monitor,
            options._held_out_loss,
            BLOCK_ROWS,
            self.measure,
        )
        return Monitor(f"valid_{options.monitor}", measure, options.patience)

    def sampler(self):
        """The epochs of the parameter ``sampler`` over the people trained on, or None."""
        sampler, people = self.settings.sampler, self.people
        if sampler is None:
            return None
        # Weights are keyed by label, which only our own samplers are told.
        more = (people.labels,) if isinstance(sampler, GroupSampler) else ()
        return lambda generator: sampler(people.y, people.groups, generator, *more)


def read_embeddings(estimator, X, *, reset):
    """X as a finite float array, (n_samples, n_features), without a copy of a memory map."""
    return validate_data(
        estimator,
        X,
        reset=reset,
        dtype=[np.float32, np.float64, np.float16],
        ensure_min_features=2 if reset else 1,
    )


def sums_by_identity(head, rows, people):
    """Sum of the projected images of each identity, (n_identities, n_features_out)."""
    total = torch.zeros((people.identities.size, head.sizes[2]))
    head, y = deepcopy(head).to(rows.device), torch.as_tensor(people.y)
    for start in range(0, people.rows.size, BLOCK_ROWS):
        part = slice(start, start + BLOCK_ROWS)
        block = project(head, rows.in_order(BLOCK_ROWS, people.rows[part]))
        total.index_add_(0, y[part], torch.from_numpy(block))
    return total.numpy()


def _class_means(head, rows, people):
    """Mean direction of the projected images of each identity, of any length."""
    total = sums_by_identity(head, rows, people)
    nowhere = np.flatnonzero(~total.any(axis=1))
    if nowhere.size:
        raise ValueError(
            "the mean of the images of identity "
            f"{people.identities.tolist()[nowhere[0]]!r} is zero and has no direction to "
            "start from; drop rows of zeros, or use head='mlp'."
        )
    return total


def _append(before, after):
    """One history after another, epochs counted through."""
    n_before = len(before["epoch"])
    n_after = len(after["epoch"])
    after = {**after, "epoch": [n_before + e for e in after["epoch"]]}
    names = list(dict.fromkeys([*before, *after]))
    return {
        name: before.get(name, [None] * n_before) + after.get(name, [None] * n_after)
        for name in names
    }
