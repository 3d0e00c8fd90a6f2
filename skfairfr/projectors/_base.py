"""The base of the projectors: training from top to bottom, transform, persistence."""

from __future__ import annotations

import inspect
from abc import ABCMeta, abstractmethod
from collections.abc import Callable
from copy import copy, deepcopy
from functools import partial
from numbers import Integral, Real
from os import PathLike
from typing import Any, Self, TypedDict

import numpy as np
import torch
from numpy.typing import ArrayLike
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted
from torch.nn.functional import normalize

from skfairfr._compat import Interval, StrOptions
from skfairfr.projectors._people import (
    MONITORS,
    HeldOutRates,
    hold_out,
    read_labels,
    sample_to_compare,
)
from skfairfr.projectors._training import (
    HEADS,
    Batches,
    Checkpoint,
    DeviceRows,
    EmbeddingNet,
    Monitor,
    OwnHead,
    ProjectionHead,
    Schedule,
    bind_sampler,
    checkpoint_path,
    history_columns,
    optimizer_of,
    project,
    rate_scale,
    read_checkpoint,
    release,
    resume,
    sums_by_identity,
    train,
)
from skfairfr.utils import _saved
from skfairfr.utils._errors import invalid
from skfairfr.utils._frames import build_frame, library_of
from skfairfr.utils._torch import (
    PRECISIONS,
    choose_device,
    new_generator,
    shared_threads,
)
from skfairfr.utils._types import FilePath
from skfairfr.utils._validation import check_path, validate_rows, warn_caller

# Templates of the people trained on, and their names.
PEOPLE = ("centroids_", "identities_")
# What all projectors have in common: default and constraint of each parameter.
TRAINING = {
    "head": ("residual", [StrOptions(set(HEADS)), torch.nn.Module, callable]),
    "hidden_dim": (None, [Interval(Integral, 1, None, closed="left"), None]),
    "output_dim": (None, [Interval(Integral, 2, None, closed="left"), None]),
    "init": ("means", [StrOptions({"means", "random"})]),
    "max_epochs": (20, [Interval(Integral, 1, None, closed="left")]),
    "batch_size": (1024, [Interval(Integral, 1, None, closed="left")]),
    "lr": (1e-3, [Interval(Real, 0, None, closed="neither")]),
    "final_lr": (None, [Interval(Real, 0, None, closed="neither"), None]),
    "optimizer": ("adam", [StrOptions({"adam"}), callable]),
    "sampler": (None, [callable, None]),
    "validation_fraction": (0.0, [Interval(Real, 0, 1, closed="left")]),
    "monitor": ("loss", [StrOptions(set(MONITORS))]),
    "monitor_far": (1e-3, [Interval(Real, 0, 1, closed="neither")]),
    "patience": (None, [Interval(Integral, 1, None, closed="left"), None]),
    "precision": ("float32", [StrOptions(set(PRECISIONS))]),
    "checkpoint_dir": (None, [str, PathLike, None]),
    "callbacks": (None, [list, None]),
    "device": ("auto", [str, torch.device]),
    "random_state": (None, ["random_state"]),
    "warm_start": (False, ["boolean"]),
    "verbose": (0, ["verbose"]),
}


class Training(TypedDict, total=False):
    """Types of what TRAINING lists, for type checkers."""

    head: str | torch.nn.Module | Callable
    hidden_dim: int | None
    output_dim: int | None
    init: str
    max_epochs: int
    batch_size: int
    lr: float
    final_lr: float | None
    optimizer: str | Callable
    sampler: Callable | None
    validation_fraction: float
    monitor: str
    monitor_far: float
    patience: int | None
    precision: str
    checkpoint_dir: FilePath | None
    callbacks: list | None
    device: str | torch.device
    random_state: int | np.random.RandomState | None
    warm_start: bool
    verbose: int


def with_parameters(own, *, n_positional=0, without=(), **defaults):
    """Give a projector its parameters: ``__init__``, which stores them, and constraints.

    Parameters
    ----------
    own : dict of str -> (default, constraint)
        Its own, which come first, or a shared one with another constraint.
    n_positional : int, default=0
        How many of them may be given by position.
    without : tuple of str, default=()
        Parameters of TRAINING that the class does not have.
    **defaults : dict
        Other defaults of those that it has.
    """
    first = {name: pair for name, pair in own.items() if name not in TRAINING}
    table = first | TRAINING | own
    table |= {name: (value, table[name][1]) for name, value in defaults.items()}
    table = {name: pair for name, pair in table.items() if name not in without}
    kinds = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter("self", kinds[0])]
    for place, (name, (default, _)) in enumerate(table.items()):
        kind = kinds[place >= n_positional]
        parameters.append(inspect.Parameter(name, kind, default=default))
    signature = inspect.Signature(parameters)

    def __init__(self, *args, **kwargs):
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        vars(self).update({n: v for n, v in bound.arguments.items() if n != "self"})

    def decorate(cls):
        __init__.__signature__ = signature
        cls.__init__ = __init__
        cls._parameter_constraints = {name: pair[1] for name, pair in table.items()}
        return cls

    return decorate


class BaseProjector(
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    BaseEstimator,
    metaclass=ABCMeta,
):
    """A head between encoder and matcher, trained by a private net.

    ``_fit`` assembles the training from hooks. A subclass must define ``_read_people``,
    ``_make_loss`` and ``_held_out_loss``, the loss of people without a centroid. It may
    override ``_hold_out``, which splits people into training and validation,
    ``_plan_epochs``, the batches of an epoch with their callbacks, ``_finish``, ``_fields``
    and ``_loss_has_centroids``, False if the loss has no centroids. All but ``_read_people``
    and ``_finish`` return values and set nothing.
    """

    __metadata_request__fit = {"sensitive_features": True}  # noqa: RUF012

    # Whether the loss has a centroid for each identity. If not, ``_train`` takes the sum of
    # each person's projected rows.
    _loss_has_centroids = True
    # Up to so many people a fit warns: the studies saw a lower FRR in some populations only.
    _most_people_to_warn = 0
    # What ``fit`` reads of the labels.
    _fields = ("identity", "group")

    @abstractmethod
    def _read_people(self, identity, group, domain):
        """Training and validation people, from Labels. Sets attributes that follow from labels."""

    @abstractmethod
    def _make_loss(self, people, rows, n_features, centroids, generator):
        """The loss module, on the CPU, of the people trained on."""
        # Centroids start at centroids, (n_identities, n_features). If None, at random.

    def _held_out_loss(self, people, loss, embeddings, y, X):
        """The loss of validation people, a float, by the loss as trained so far."""
        # embeddings are unit rows, (n_images, n_features). ``y`` contains codes of people,
        # (n_images,). ``X`` has the same images as they come, (n_images, n_features_in).
        return loss.held_out(embeddings, y, people.identities.size)

    def _plan_epochs(self, people, held_out, rows, head, generator):
        """Batches of an epoch, and callbacks to be notified before the monitor."""
        sampler = bind_sampler(self.sampler, people)
        return Batches(rows, people, int(self.batch_size), generator, sampler), []

    def _hold_out(self, people, rng):
        """Training people, and validation people or None."""
        if self.validation_fraction > 0:
            return hold_out(people, float(self.validation_fraction), rng)
        if self.monitor != "loss":
            problem = f"is {self.monitor!r}, which is measured on validation people."
            remedy = "Set validation_fraction=0.2, or monitor='loss'."
            raise invalid("monitor", self.monitor, problem, remedy)
        return people, None

    def _fit(self, X, y, sensitive_features, domain=None):
        """Train, and then set all fitted attributes at once."""
        # A fit that fails leaves everything as it was.
        fitted = copy(self)
        library = library_of(X, y, sensitive_features, domain)
        X = check_embeddings(fitted, X, reset=True)
        labels = read_labels(
            y, sensitive_features, domain, len(X), fields=fitted._fields
        )
        people = fitted._read_people(*labels)
        with shared_threads():
            fitted._train(X, people, library)
        self.__dict__ = vars(fitted)
        return self

    def _train(self, X, people, library):
        device = choose_device(self.device)
        warm = self.warm_start and "head_" in vars(self)
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
        head = self._starting_head(X.shape[1], warm, generator)
        centroids = self._starting_centroids(head, rows, people, warm)
        loss = self._make_loss(people, rows, head.sizes[2], centroids, generator)
        batches, callbacks = self._plan_epochs(people, held_out, rows, head, generator)
        self._warn_of_few_people(people.identities.size, len(batches))

        net = self._make_net(head, loss, device)
        fall = None if self.final_lr is None else float(self.final_lr / self.lr)
        monitor = Monitor("train_loss", patience=self.patience)
        if held_out is not None:
            monitor = Monitor(f"valid_{self.monitor}", True, self.patience)
            net.hold_out(held_out, rows, partial(self._held_out_loss, held_out, loss))
            if self.monitor != "loss":
                far = float(self.monitor_far)
                callbacks.append(HeldOutRates(held_out, self.monitor, far))
        own = list(self.callbacks or ())
        net.callbacks = [Schedule(fall), *callbacks, monitor, *own]
        if path is not None:
            net.callbacks.append(Checkpoint(path, seed, generator, monitor))
        net.initialize()
        if state is not None:
            resume(path, state, net, generator, monitor)
        interrupted = train(net, batches, monitor, self.precision)
        if interrupted:
            warn_caller(
                f"The fit was interrupted in epoch {len(net.history) + 1} of "
                f"{self.max_epochs}. The head trained until then is kept. Fit again for "
                "all epochs.",
                UserWarning,
            )
        self._set_fitted(net, rows, people, library, warm)
        self.n_validation_images_ = 0 if held_out is None else held_out.rows.size
        release(net, own)
        if path is not None and not interrupted:
            path.unlink(missing_ok=True)

    def _warn_of_few_people(self, n_people, n_images):
        """Warn of a fit in which the studies saw a lower FRR in some populations only."""
        most = self._most_people_to_warn
        if n_people <= most:
            n_steps = self.max_epochs * -(-n_images // self.batch_size)
            warn_caller(
                f"This fit has {n_people} people and {n_steps} steps. With up to {most} "
                "people the defaults lowered the FRR of new people in some populations "
                "and not in others, one of real faces. Fit more people, and compare before "
                "with after on held-out people.",
                UserWarning,
            )

    def _set_fitted(self, net, rows, people, library, warm):
        """Set the fitted attributes."""
        head, loss = net.module_, net.criterion_
        self.head_ = head.cpu().eval().requires_grad_(False)
        if self._loss_has_centroids:
            centroids = loss.centroids.detach().cpu()
        else:
            centroids = torch.from_numpy(sums_by_identity(rows, people, self.head_))
        self.centroids_ = normalize(centroids).numpy()
        self.identities_ = people.identities
        self._n_features_out = head.sizes[2]
        history = history_columns(net.history)
        self._history = _join(self._history, history) if warm else history
        self._library = library
        self.net_ = net
        self._finish(loss)

    def _finish(self, loss):
        """Set the fitted attributes that follow from the loss as trained."""

    def _make_net(self, head, loss, device):
        """The net that trains head and loss in place."""
        optimizer = optimizer_of(self.optimizer)
        options = {f"optimizer__{n}": v for n, v in optimizer.keywords.items()}
        if not self.verbose:
            options["callbacks__print_log"] = None
        return EmbeddingNet(
            head,
            loss,
            optimizer.func,
            rate_scale(head) * float(self.lr),
            int(self.max_epochs),
            int(self.batch_size),
            train_split=None,
            device=device,
            **options,
        )

    def _sizes(self, n_features):
        """Features in, hidden and out of the head that the parameters ask for."""
        hidden = self.hidden_dim or 2 * n_features
        return n_features, hidden, self.output_dim or n_features

    def _starting_head(self, n_features, warm, generator):
        """A copy of the head that a warm start goes on with, or a new one."""
        if warm:
            had = self.head_.kind, *self.head_.sizes
            asked = had[0], n_features, *had[2:]
            if isinstance(self.head, str):
                asked = self.head, *self._sizes(n_features)
            if asked != had:
                problem = "goes on with a head of kind and features in, hidden and out "
                problem += f"{had}, and X and the parameters ask for {asked};"
                raise invalid("warm_start", True, problem, "set warm_start=False.")
            return deepcopy(self.head_).train().requires_grad_(True)
        if not isinstance(self.head, str):
            if self.hidden_dim is not None or self.output_dim is not None:
                problem = f"is one of your own, and hidden_dim={self.hidden_dim} and output_dim="
                problem += f"{self.output_dim} are of heads that have names;"
                raise invalid("head", self.head, problem, "leave both None.")
            return OwnHead(self.head, n_features, generator)
        return ProjectionHead(*self._sizes(n_features), self.head, generator)

    def _starting_centroids(self, head, rows, people, warm):
        """Where centroids start, (n_identities, n_features_out), or None."""
        # None: the loss has none, or they are drawn.
        if not self._loss_has_centroids or (self.init == "random" and not warm):
            return None
        # At the means of people's images. Those of an earlier fit keep their centroids.
        start = sums_by_identity(rows, people, head)
        nowhere = np.flatnonzero(~start.any(axis=1))
        if nowhere.size:
            who = people.identities.tolist()[nowhere[0]]
            problem = f"has no direction for identity {who!r} to start from: its mean is zero;"
            remedy = "drop rows of zeros, or use init='random'."
            raise invalid("X", None, problem, remedy)
        # A file without people has none.
        if warm and "centroids_" in vars(self):
            had = dict(zip(self.identities_.tolist(), self.centroids_, strict=True))
            for k, label in enumerate(people.identities.tolist()):
                start[k] = had.get(label, start[k])
        return start

    @property
    def history_(self) -> Any:
        """Losses, monitored values, learning rate and seconds, a row for each epoch.

        A frame of the library of the data passed to ``fit`` or, without any, of the first
        installed of pandas, polars and pyarrow.
        """
        check_is_fitted(self, "_history")
        return build_frame(self._history, default_library=self._library)

    def transform(self, X: ArrayLike) -> np.ndarray:
        """Project embeddings.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
            Embeddings of the same encoder as in ``fit``, rows of any length. A memory map
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
        check_is_fitted(self)
        X = check_embeddings(self, X, reset=False)
        device = choose_device(self.device)
        on_cpu = device.type == "cpu"
        head = self.head_ if on_cpu else deepcopy(self.head_).to(device)
        return project(head, DeviceRows(X, device))

    def get_params(self, deep: bool = True) -> dict:
        """Parameters by name, as scikit-learn's.

        Parameters
        ----------
        deep : bool, default=True
            Whether to add the arguments of an ``optimizer`` that is a partial, as
            ``optimizer__weight_decay``.

        Returns
        -------
        params : dict
        """
        params = super().get_params(deep)
        if deep and isinstance(self.optimizer, partial):
            given = self.optimizer.keywords.items()
            params |= {f"optimizer__{name}": value for name, value in given}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters, as scikit-learn's.

        Parameters
        ----------
        **params : dict
            ``optimizer__weight_decay=0.01`` and the like make ``optimizer`` a partial with
            that argument, as in skorch.

        Returns
        -------
        self : object
        """
        start = "optimizer__"
        names = [name for name in params if name.startswith(start)]
        asked = {name.removeprefix(start): params.pop(name) for name in names}
        super().set_params(**params)
        if asked:
            self.optimizer = partial(optimizer_of(self.optimizer), **asked)
        return self

    def __getattr__(self, name):
        if name in PEOPLE and "head_" in vars(self):
            raise AttributeError(
                f"{name} is missing: this {type(self).__name__} was loaded from a file "
                "without the training people. save(path, include_people=True) writes "
                "them."
            )
        return object.__getattribute__(self, name)

    def save(self, path: FilePath, *, include_people: bool = False) -> None:
        """Write what was fitted, without pickle.

        Parameters
        ----------
        path : str or path-like
            Of one safetensors file: numbers as they are, everything else as JSON in its
            header. It is overwritten.
        include_people : bool, default=False
            Whether to write ``centroids_`` and ``identities_``: templates of the faces of
            the people trained on, with their names. ``transform`` needs neither. A warm
            start goes on from them. Without, the attributes are missing after ``load``.

        Raises
        ------
        NotFittedError
            Before ``fit``.
        ValueError
            If labels are not numbers, strings or booleans, the head is one of your own,
            which a file cannot restore, or the class is not skfairfr's.
        OSError
            If the file cannot be written.

        Warns
        -----
        UserWarning
            If parameters have no JSON form and are left out: a loss, sampler, optimizer
            or callbacks of your own, say. ``transform`` needs none of them, so the head that
            your loss trained is saved whole. Another ``fit`` needs them set.
        """
        path = check_path(path, "path")
        _saved.write(path, self._to_save(include_people))

    def _to_save(self, include_people=False):
        """A State. Parameters without a JSON form are None in it, with a warning."""
        check_is_fitted(self)
        head = self.head_
        if head.kind not in HEADS:
            problem = f"is one of your own, {self.head!r}, which no file of save can make again;"
            remedy = "pickle the projector, or torch.save its head_.state_dict()."
            raise invalid("head", self.head, problem, remedy)
        parameters = self.get_params(deep=False)
        parameters["device"] = str(parameters["device"])
        without = [n for n, value in parameters.items() if not _saved.has_form(value)]
        if without:
            warn_caller(
                f"{type(self).__name__}.save leaves out the parameters {without}, which "
                "have no JSON form. load returns them as None, and set_params sets them "
                "again.",
                UserWarning,
            )
            parameters |= dict.fromkeys(without)
        left_out = {*parameters, "net_", "_metadata_request"}
        left_out |= set() if include_people else {*PEOPLE}
        fitted = {n: v for n, v in vars(self).items() if n not in left_out}
        weights = {n: w.numpy(force=True) for n, w in head.state_dict().items()}
        fitted["head_"] = {"kind": head.kind, **weights}
        return _saved.State(type(self), parameters, fitted)

    def _set_fitted_state(self, fitted):
        """Set what was fitted, as :meth:`_to_save` gave it."""
        weights = fitted["head_"]
        kind = weights.pop("kind")
        n_hidden, n_features = weights["hidden.weight"].shape
        n_outputs = len(weights["output.weight"])
        head = ProjectionHead(n_features, n_hidden, n_outputs, kind)
        head.load_state_dict({n: torch.from_numpy(w) for n, w in weights.items()})
        vars(self).update(fitted, head_=head.eval().requires_grad_(False))

    @classmethod
    def load(cls, path: FilePath) -> Self:
        """Read what :meth:`save` wrote.

        Parameters
        ----------
        path : str or path-like

        Returns
        -------
        projector : object of this class
            Fitted. Parameters that have no JSON form are None.

        Raises
        ------
        ValueError
            If the file contains something else, or another class, or is damaged.
        """
        path = check_path(path, "path")
        found = _saved.read(path, "save the projector again")
        if type(found) is not cls:
            problem = f"{path!r} contains {type(found).__name__}, not {cls.__name__};"
            raise invalid(
                "path", path, problem, "call load of the class that was saved."
            )
        return found

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags


def check_embeddings(estimator, X, *, reset):
    """X as a finite float array, (n_samples, n_features), without a copy of a memory map."""
    return validate_rows(
        estimator,
        X,
        reset=reset,
        dtype=[np.float32, np.float64, np.float16],
        ensure_min_features=2 if reset else 1,
    )


def _join(before, after):
    """The columns of two histories, one after the other. Epochs are numbered through."""
    n_before = len(before["epoch"])
    n_after = len(after["epoch"])
    after = {**after, "epoch": [n_before + e for e in after["epoch"]]}
    names = list(dict.fromkeys([*before, *after]))
    return {
        name: before.get(name, [None] * n_before) + after.get(name, [None] * n_after)
        for name in names
    }
