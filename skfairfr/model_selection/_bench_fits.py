"""One method on one split: chosen and fitted on some people, its errors counted on others.

A finished fit can be kept in a folder, from which the same call goes on after it was
stopped. Its file is named after everything that its numbers depend on.
"""

import hashlib
import json
import re
import time
import warnings
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version

import joblib
import numpy as np
from sklearn.model_selection import GridSearchCV

from skfairfr._core._parallel import one_blas_thread, show_progress
from skfairfr._core._pooled_folds import FoldErrors, PooledErrors
from skfairfr.model_selection._held_out import METRICS, cells_of, count_errors, rows_of
from skfairfr.model_selection._identity_k_fold import IdentityKFold
from skfairfr.model_selection._mitigations import (
    System,
    count_numbers,
    embed,
    fit_system,
    heads_of,
    seeded,
)
from skfairfr.model_selection._trade_off import BestTradeOff
from skfairfr.utils import _saved
from skfairfr.utils._labels import face_labels


@dataclass(frozen=True)
class People:
    """Embeddings with everything that is known of them.

    Attributes
    ----------
    X : ndarray, shape (n_images, n_features)
    y : ndarray of int, shape (n_images,)
        Codes of the identities.
    columns : dict of str -> ndarray of object, shape (n_images,)
        Groups by every attribute, the one that is mitigated first; None is unknown.
    groups : dict of str -> list of labels
    """

    X: np.ndarray
    y: np.ndarray
    columns: dict
    groups: dict

    @property
    def attribute(self):
        """Name of the attribute that is mitigated."""
        return next(iter(self.columns))

    @property
    def group(self):
        """Its groups, (n_images,)."""
        return self.columns[self.attribute]

    def take(self, rows):
        """Some of the images."""
        columns = {name: column[rows] for name, column in self.columns.items()}
        return People(self.X[rows], self.y[rows], columns, self.groups)

    def labels(self):
        """Identities and groups, as a splitter takes them."""
        return face_labels(self.y, self.group)

    def digest(self):
        """A hash of all of it."""
        found = hashlib.sha256()
        rows = np.ascontiguousarray(self.X)
        found.update(f"{rows.dtype.str} {rows.shape}".encode())
        found.update(rows.data)
        found.update(np.ascontiguousarray(self.y).data)
        for name, column in self.columns.items():
            found.update(json.dumps([name, [str(v) for v in column]]).encode())
        return found.hexdigest()


@dataclass(frozen=True)
class Settings:
    """What all fits of a bench have in common.

    Attributes
    ----------
    far : float
    metrics : tuple of str
        By which parameters are chosen.
    n_splits, inner_splits, n_resamples : int
    seed : int
    """

    far: float
    metrics: tuple
    n_splits: int
    inner_splits: int
    n_resamples: int
    seed: int

    def splits(self, people):
        """Rows to fit on and rows to judge, of every split."""
        folds = IdentityKFold(self.n_splits, shuffle=True, random_state=self.seed)
        return list(folds.split(people.X, people.labels()))

    def entropy(self, split):
        """Seed of the resamples of people of a split: one for all methods."""
        return int(np.random.SeedSequence([self.seed, split]).generate_state(1)[0])


@dataclass(frozen=True)
class FinishedFit:
    """A method on one split.

    Attributes
    ----------
    errors : FoldErrors or None
        None where it failed.
    parameters : dict of str -> str
        Those that were chosen, as text.
    seconds : float
        Of the choice and the fit.
    n_numbers : int
        That the fitted method keeps.
    warnings : tuple of str
        Of the fit.
    failure : str
        Why it could not be fitted; empty if it could.
    """

    errors: FoldErrors | None
    parameters: dict
    seconds: float
    n_numbers: int
    warnings: tuple = ()
    failure: str = ""


def finish_fit(people, mitigation, split, rows, settings, path=None):
    """Fit a method on the people of a training part and judge it on all others.

    Parameters
    ----------
    people : People
    mitigation : Mitigation
    split : int
    rows : tuple of two ndarrays of int
        To fit on, and to judge.
    settings : Settings
    path : Path, default=None
        Where the result is kept, and read from if it is there.

    Returns
    -------
    found : FinishedFit
    """
    stored = None if path is None else read_fit(path)
    if stored is not None:
        return stored
    # The bar of the bench counts fits, and each is short.
    with one_blas_thread(), show_progress(False):
        found = _fit_and_judge(people, mitigation, split, rows, settings)
    if path is not None:
        write_fit(path, found)
    return found


def time_trial(people, mitigation, split, rows, settings):
    """Seconds of one judgement of nothing, or of training a head, from two epochs of it.

    A method without a head takes none: its fit is a matter of seconds.
    """
    fitted_on, judged = (people.take(part) for part in rows)
    if mitigation.estimator is None:
        start = time.perf_counter()
        with one_blas_thread(), show_progress(False):
            judge(None, judged, settings, settings.entropy(split))
        return time.perf_counter() - start
    parameters = mitigation.candidates[0] if mitigation.candidates else {}
    system = seeded(mitigation.estimator, parameters, split)
    heads = [(head, head.max_epochs) for head in heads_of(system)]
    if not heads:
        return 0.0
    for head, _ in heads:
        head.set_params(max_epochs=2)
    start = time.perf_counter()
    try:
        with one_blas_thread(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit_system(system, fitted_on.X, fitted_on.y, fitted_on.group)
    except ValueError:  # so will the fit itself
        return 0.0
    seconds = time.perf_counter() - start
    return seconds + sum((n - 2) * head.net_.history[-1, "dur"] for head, n in heads)


def _fit_and_judge(people, mitigation, split, rows, settings):
    fitted_on, judged = (people.take(part) for part in rows)
    caught = []
    start = time.perf_counter()
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            system, parameters = choose_and_fit(fitted_on, mitigation, settings, split)
        seconds = time.perf_counter() - start
        errors = judge(system, judged, settings, settings.entropy(split))
    except ValueError as error:
        seconds = time.perf_counter() - start
        return FinishedFit(None, {}, seconds, 0, _texts(caught), str(error))
    shown = {name: str(value) for name, value in parameters.items()}
    return FinishedFit(errors, shown, seconds, count_numbers(system), _texts(caught))


def _texts(caught):
    return tuple(dict.fromkeys(str(w.message) for w in caught))


def choose_and_fit(people, mitigation, settings, split):
    """Choose the parameters of a method on these people alone, and fit it on them.

    Parameters
    ----------
    people : People
    mitigation : Mitigation
    settings : Settings
    split : int
        Its number, for seeds.

    Returns
    -------
    system : fitted estimator or None
        None of a method that does nothing.
    parameters : dict
        Those of its candidates that were chosen.
    """
    if mitigation.estimator is None:
        return None, {}
    seed, candidates = settings.entropy(split) % 2**31, mitigation.candidates
    system = System(mitigation.estimator, seed)
    grid = [{f"estimator__{n}": v for n, v in c.items()} for c in candidates]
    if len(grid) < 2:
        system.set_params(**(grid[0] if grid else {}))
        system.fit(people.X, people.labels())
        return system.estimator_, candidates[0] if grid else {}
    search = GridSearchCV(
        system,
        [{name: [value] for name, value in one.items()} for one in grid],
        scoring=partial(_negated_metrics, people, settings),
        refit=BestTradeOff(settings.metrics),
        cv=IdentityKFold(settings.inner_splits, shuffle=True, random_state=seed),
        error_score="raise",
    )
    search.fit(people.X, people.labels())
    return search.best_estimator_.estimator_, candidates[search.best_index_]


def _negated_metrics(people, settings, system, X, y):
    """Scores of a search: minus the metrics, of rates with half an error more.

    So a group without an error in a fold neither decides the choice nor prevents it.
    """
    name, groups = people.attribute, {people.attribute: people.groups[people.attribute]}
    rest = People(X, y["identity"], {name: y["group"]}, groups)
    errors = judge(system.estimator_, rest, settings, None)
    pooled, cells = PooledErrors(errors.errors, errors.pairs, None), cells_of(groups)
    scores = {}
    for metric in settings.metrics:
        # A group may be missing in a fold.
        rows = [r for r in rows_of(cells, name, metric) if errors.pairs[r, 0] > 0]
        scores[metric] = -pooled.measured(rows, METRICS[metric].how)
    return scores


def judge(system, people, settings, entropy):
    """Errors of a fitted system on people whom it never saw, FoldErrors.

    Parameters
    ----------
    system : fitted estimator or None
    people : People
    settings : Settings
    entropy : int or None
        Seed of the resamples; None takes none.
    """
    Z, similarity = embed(system, people.X, people.group)
    return count_errors(
        Z,
        people.y,
        people.columns,
        people.groups,
        far=settings.far,
        n_resamples=0 if entropy is None else settings.n_resamples,
        entropy=entropy,
        similarity=similarity,
    )


# ---- a folder of finished fits -------------------------------------------------------


def path_of_fit(folder, digest, mitigation, split, rows, settings):
    """The file of a fit: nothing that its numbers depend on is missing in its name.

    Parameters
    ----------
    folder : Path
    digest : str
        Hash of the people.
    mitigation : Mitigation
    split : int
    rows : tuple of two ndarrays of int
        To fit on, and to judge.
    settings : Settings

    Returns
    -------
    path : Path
    """
    estimator = mitigation.estimator
    about = {
        "version": version("skfairfr"),
        "data": digest,
        "class": f"{type(estimator).__module__}.{type(estimator).__qualname__}",
        "parameters": None if estimator is None else estimator.get_params(),
        "candidates": mitigation.candidates,
        "split": (split, *rows),
        "settings": vars(settings),
    }
    key = joblib.hash(about, hash_name="sha1")
    name = re.sub(r"[^A-Za-z0-9]+", "-", mitigation.name).strip("-")
    return folder / f"{name}-{split}-{key[:16]}.safetensors"


def write_fit(path, fit):
    """Write a finished fit."""
    path.parent.mkdir(parents=True, exist_ok=True)
    errors = None if fit.errors is None else vars(fit.errors)
    _saved.write(path, vars(fit) | {"errors": errors})


def read_fit(path):
    """A finished fit; None where there is none."""
    if not path.exists():
        return None
    remedy = "delete it, and the fit is made again"
    found = _saved.read(path, remedy)
    with _saved.damage_named(path, remedy):
        errors = found.pop("errors")
        return FinishedFit(None if errors is None else FoldErrors(**errors), **found)
