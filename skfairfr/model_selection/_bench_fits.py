"""One method on one split: chosen and fitted on some people, its errors counted on others.

The others' pairs are compared once, and the errors of each of them counted. A finished fit
can be kept in a folder, from which the same call goes on after it was stopped. Its file is
named after everything that its numbers depend on.
"""

from __future__ import annotations

import re
import time
import warnings
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import joblib
import numpy as np
from scipy.optimize import brentq
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.utils.parallel import Parallel, delayed

from skfairfr._core._parallel import one_blas_thread, progress_bar, show_progress
from skfairfr.metrics._folds import FoldErrors, cells_of, count_errors, pool
from skfairfr.metrics._scorers import ENTRIES
from skfairfr.model_selection._mitigations import (
    NOISE,
    Mitigation,
    Noise,
    System,
    count_numbers,
    embed,
    last_of,
)
from skfairfr.model_selection._splits import IdentityKFold
from skfairfr.model_selection._trade_off import BestTradeOff
from skfairfr.utils import _saved
from skfairfr.utils._labels import face_labels
from skfairfr.utils._validation import check_path

# ---- errors of people whom a system never saw ----------------------------------------


class Metric(NamedTuple):
    """Criterion of a method: a rate of everyone, or a disparity of groups."""

    rate: str
    how: str | None
    point: str
    words: str


WORDS = {
    "bfar": "BFAR",
    "bfrr": "BFRR",
    "frr_at_far": "FNMR",
    "far_max_geomean": "largest / geometric mean of the FMR",
    "frr_max_geomean": "largest / geometric mean of the FNMR",
    "own_threshold_gap": "own-threshold gap",
}
# No shift of a group's scores changes the last: each group has its own threshold.
ASKED = ENTRIES | {"own_threshold_gap": ("frr", "max_min", "group")}
METRICS = {name: Metric(*ASKED[name], words) for name, words in WORDS.items()}
COST = "frr_at_far"


def rows_of(cells, attribute, metric):
    """Rows of the rates that a metric is made of, by the groups of an attribute."""
    asked = METRICS[metric]
    return [
        row
        for row, cell in enumerate(cells)
        if (cell.attribute, cell.point, cell.rate)
        == (attribute, asked.point, asked.rate)
        and (cell.group is None) == (asked.how is None)
    ]


@dataclass(frozen=True)
class People:
    """Embeddings with everything that is known of them.

    Attributes
    ----------
    X : ndarray, shape (n_images, n_features)
    y : ndarray of int, shape (n_images,)
        Codes of the identities.
    columns : dict of str -> ndarray of object, shape (n_images,)
        Groups by every attribute, the one that is mitigated first. None is unknown.
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
        groups = [(name, column.astype(str)) for name, column in self.columns.items()]
        return joblib.hash([self.X, self.y, groups], hash_name="sha1")


@dataclass(frozen=True)
class Settings:
    """Shared parts of all fits of a bench.

    Attributes
    ----------
    far : float
    metrics : tuple of str
        By which parameters are chosen.
    n_splits, inner_splits : int
    seed : int
    max_cost : float or None
        Largest FRR of a choice, over that of doing nothing. None allows any.
    """

    far: float
    metrics: tuple
    n_splits: int
    inner_splits: int
    seed: int
    max_cost: float | None = None

    def splits(self, people):
        """Rows to fit on and rows to judge, of every split."""
        folds = IdentityKFold(self.n_splits, shuffle=True, random_state=self.seed)
        return list(folds.split(people.X, people.labels()))

    def entropy(self, split):
        """Seed of a split: one for all methods."""
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
        Why it could not be fitted, or empty if it could.
    """

    errors: FoldErrors | None = None
    parameters: dict = field(default_factory=dict)
    seconds: float = 0.0
    n_numbers: int = 0
    warnings: tuple = ()
    failure: str = ""


def all_fits(people, mitigations, splits, settings, folder, progress, n_jobs):
    """Finished fits of every method and split, in order: of each method a list.

    Parameters
    ----------
    people : People
    mitigations : list of Mitigation
        The first does nothing.
    splits : list of tuple of two ndarrays of int
        Rows to fit on, and to judge.
    settings : Settings
    folder : str, path-like or None
        Their folder.
    progress : bool
    n_jobs : int or None
    """
    tasks = [
        (m, k, rows, settings) for m in mitigations for k, rows in enumerate(splits)
    ]
    paths = [None] * len(tasks)
    if folder is not None:
        folder = Path(check_path(folder, "folder"))
        folder.mkdir(parents=True, exist_ok=True)
        digest = people.digest()
        paths = [path_of_fit(folder, digest, *task) for task in tasks]
    tasks = list(zip(tasks, paths, strict=True))
    fits = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(finish_fit)(people, *task, path) for task, path in tasks
    )
    found, n = [], len(splits)
    with show_progress(progress), progress_bar(len(tasks), "fits") as bar:
        for fit in fits:
            found.append(fit)
            bar.update()
    return [found[k * n : (k + 1) * n] for k in range(len(mitigations))]


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
        File of the result, which is read from it if it is there.

    Returns
    -------
    found : FinishedFit
    """
    if path is not None and path.exists():
        remedy = "delete it, and the fit is made again"
        found = _saved.read(path, remedy)
        with _saved.damage_named(path, remedy):
            errors = found.pop("errors")
            return FinishedFit(errors and FoldErrors(**errors), **found)
    # The bar of the bench counts fits, and each is short.
    with one_blas_thread(), show_progress(False):
        found = _fit_and_judge(people, mitigation, split, rows, settings)
    if path is not None:
        errors = found.errors and vars(found.errors)
        _saved.write(path, vars(found) | {"errors": errors})
    return found


def _fit_and_judge(people, mitigation, split, rows, settings):
    fitted_on, judged = (people.take(part) for part in rows)
    start = time.perf_counter()
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            system, parameters = choose_and_fit(fitted_on, mitigation, settings, split)
        seconds = time.perf_counter() - start
        errors = errors_on(system, judged, settings)
    except ValueError as error:
        return FinishedFit(failure=str(error))
    messages = tuple(dict.fromkeys(str(w.message) for w in caught))
    return FinishedFit(errors, parameters, seconds, count_numbers(system), messages)


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
    parameters : dict of str -> str
        Those of its candidates that were chosen, as text.
    """
    if mitigation.estimator is None:
        return None, {}
    seed, candidates = settings.entropy(split) % 2**31, mitigation.candidates or [{}]
    system = System(clone(mitigation.estimator), seed)
    if len(candidates) == 1:
        (chosen,) = candidates
        system.estimator.set_params(**chosen)
        system.fit(people.X, people.labels())
    else:
        folds = IdentityKFold(settings.inner_splits, shuffle=True, random_state=seed)
        splits = list(folds.split(people.X, people.labels()))
        search = GridSearchCV(
            system,
            [{f"estimator__{n}": [v] for n, v in c.items()} for c in candidates],
            scoring=partial(_negated_metrics, people, settings),
            refit=_trade_off(people, settings, splits),
            cv=splits,
            error_score="raise",
        )
        search.fit(people.X, people.labels())
        system, chosen = search.best_estimator_, candidates[search.best_index_]
    return system.estimator_, {name: str(value) for name, value in chosen.items()}


def _trade_off(people, settings, splits):
    """Choose the best compromise among the candidates whose FRR is allowed.

    If that of each is larger than allowed, the one with the smallest FRR is chosen.
    """
    if settings.max_cost is None:
        return BestTradeOff(settings.metrics)
    nothing = [_measured(people.take(rows), None, settings)[COST] for _, rows in splits]

    def choose(results):
        least = -np.max(results[f"mean_test_{COST}"])
        most = max(settings.max_cost * np.mean(nothing), least)
        return BestTradeOff(settings.metrics, at_most={COST: most})(results)

    return choose


def _negated_metrics(people, settings, system, X, y):
    """Metric -> minus its value, for a search."""
    columns = {people.attribute: y["group"]}
    rest = People(X, y["identity"], columns, people.groups)
    found = _measured(rest, system.estimator_, settings)
    return {name: -value for name, value in found.items()}


def _measured(people, system, settings):
    """The metrics of the choice, and the cost, of rates with half an error more."""
    name = people.attribute
    groups = {name: people.groups[name]}
    one = People(people.X, people.y, {name: people.group}, groups)
    errors, cells = pool([errors_on(system, one, settings)]), cells_of(groups)
    found = {}
    for metric in dict.fromkeys((*settings.metrics, COST)):
        # A group may be missing in a fold.
        rows = [r for r in rows_of(cells, name, metric) if errors.sums.pairs[r] > 0]
        found[metric] = errors.of_cells(rows).measured(METRICS[metric].how)
    return found


def errors_on(system, people, settings):
    """Errors of a fitted system on people whom it never saw, FoldErrors.

    Parameters
    ----------
    system : fitted estimator or None
    people : People
    settings : Settings
    """
    Z, similarity = embed(system, people.X, people.group)
    return count_errors(
        Z,
        people.y,
        people.columns,
        people.groups,
        far=settings.far,
        similarity=similarity,
        is_llr=getattr(last_of(system), "returns_llr", False),
    )


def pool_fits(fits):
    """Errors of finished fits of one method, PooledErrors."""
    return pool([fit.errors for fit in fits])


# ---- noise that costs as much as a method --------------------------------------------

# Squared length of the noise that is tried first, then twice as much, and so on. The one
# that costs as much as a method is found to this share of it.
FIRST_NOISE, NEAR_COST = 0.01, 0.05
# Beyond it, a row is noise alone, and a method that costs more has no control.
ALL_NOISE = 1000.0


class NoiseOfCost:
    """Noise on all images that gives everyone the FRR of a method.

    Parameters
    ----------
    people : People
    splits : list of tuple of two ndarrays of int
    settings : Settings
    folder : str, path-like or None
    n_jobs : int or None
    """

    def __init__(self, people, splits, settings, folder, n_jobs):
        self._asked = people, splits, settings, folder, n_jobs
        cells = cells_of(people.groups)
        (self._row,) = rows_of(cells, people.attribute, COST)
        self._found = {}

    def control_of(self, changes):
        """ "noise" -> PooledErrors at the FRR of a method, or empty if it needs no such control.

        It does if it lowers the first metric, by its interval, and raises the FRR as counted.
        """
        frr, (*_, settings, _, _) = changes[COST], self._asked
        if not (changes[settings.metrics[0]].high < 1 and frr.before < frr.after):
            return {}

        def beyond(squared):
            return self._errors(squared).sums.rate[self._row] - frr.after

        below, above = 0.0, FIRST_NOISE
        while beyond(above) < 0:
            if above > ALL_NOISE:
                return {}
            below, above = above, 2 * above
        return {NOISE: self._errors(brentq(beyond, below, above, rtol=NEAR_COST))}

    def _errors(self, squared):
        if squared not in self._found:
            people, splits, settings, folder, n_jobs = self._asked
            noise = Mitigation(NOISE, Noise(np.sqrt(squared)), [])
            asked = (people, [noise], splits, settings, folder, False, n_jobs)
            self._found[squared] = pool_fits(all_fits(*asked)[0])
        return self._found[squared]


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
    parameters = None if estimator is None else estimator.get_params()
    method = (str(type(estimator)), parameters, mitigation.candidates)
    about = (version("skfairfr"), digest, method, split, rows, vars(settings))
    name = re.sub(r"[^A-Za-z0-9]+", "-", mitigation.name).strip("-")
    key = joblib.hash(about, hash_name="sha1")
    return folder / f"{name}-{split}-{key[:16]}.safetensors"
