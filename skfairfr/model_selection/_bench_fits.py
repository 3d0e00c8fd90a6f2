"""One method on one split: chosen and fitted on some people, its errors counted on others.

The others' pairs are compared once, and their errors counted in resamples of them. A finished
fit can be kept in a folder, from which the same call goes on after it was stopped. Its file is
named after everything that its numbers depend on.
"""

import re
import sys
import time
import warnings
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import joblib
import numpy as np
from sklearn.base import clone
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.model_selection import GridSearchCV
from sklearn.utils.parallel import Parallel, delayed

from skfairfr._core._bootstrap import Query, point_rates, rate_table
from skfairfr._core._error_counts import accepted_by_people
from skfairfr._core._paired import STEP, Cell, FoldErrors, PooledErrors
from skfairfr._core._pairs import Expected
from skfairfr._core._parallel import one_blas_thread, progress_bar, show_progress
from skfairfr._core._resampling import Resampling, Weights, draw
from skfairfr.metrics import SimilarityROC
from skfairfr.metrics._scorers import ENTRIES
from skfairfr.model_selection._mitigations import (
    NOTHING,
    System,
    count_numbers,
    embed,
    heads_of,
)
from skfairfr.model_selection._splits import IdentityKFold
from skfairfr.model_selection._trade_off import BestTradeOff
from skfairfr.utils import _saved
from skfairfr.utils._labels import face_labels
from skfairfr.utils._validation import check_path

# ---- errors of people whom a system never saw ----------------------------------------

POINTS = ("overall", "worst_group")
BLOCK = 128


class Metric(NamedTuple):
    """What a method is judged by: a rate of everyone, or a disparity of groups."""

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
}
METRICS = {name: Metric(*ENTRIES[name], words) for name, words in WORDS.items()}


def cells_of(groups):
    """Rates that are counted, by attribute.

    Parameters
    ----------
    groups : dict of str -> sequence of labels
        Of every attribute.

    Returns
    -------
    cells : list of Cell
        For each attribute and operating point the FAR, then the FRR, of everyone and of
        the groups.
    """
    return [
        Cell(attribute, point, rate, group)
        for attribute, labels in groups.items()
        for point in POINTS
        for rate in ("far", "frr")
        for group in (None, *labels)
    ]


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


def count_errors(
    X, y, columns, groups, *, far, n_resamples, entropy, similarity="cosine"
):
    """Compare all pairs of some people, and count their errors in every resample.

    Parameters
    ----------
    X : ndarray, shape (n_images, n_features)
        Embeddings of the people of one fold.
    y : ndarray of int, shape (n_images,)
        Codes of the identities among all people.
    columns : dict of str -> array-like, shape (n_images,)
        Groups by each attribute.
    groups : dict of str -> list of labels
        As of :func:`cells_of`: all groups, whether or not they are in this fold.
    far : float in (0, 1)
        Level.
    n_resamples : int
        With 0, errors in the data alone.
    entropy : int
        Seed of the resamples of people: the same for all systems.
    similarity : str, comparator, or ndarray of shape (n_images, n_images)
        As of :class:`~skfairfr.metrics.SimilarityROC`; or the scores themselves, of which
        those above the diagonal count.

    Returns
    -------
    found : FoldErrors
        With 0 resamples ``near`` is 0, and there are no accepted pairs.
    """
    is_matrix = isinstance(similarity, np.ndarray)
    roc = SimilarityROC(
        similarity="cosine" if is_matrix else similarity,
        resample="identities",
        n_resamples=1,
        far_max=max(1e-2, STEP * far),
        random_state=0,
    )
    if not n_resamples:
        roc._expected = Expected(whole=False)
    codes = {name: _codes(columns[name], labels) for name, labels in groups.items()}
    cells = cells_of(groups)
    row_of = {cell: row for row, cell in enumerate(cells)}
    # A group that is not in the fold keeps its zeros.
    errors, pairs = np.zeros((2, len(cells), 1 + n_resamples))
    near, setter = np.zeros((len(cells), 2)), np.full(len(cells), -1)
    accepted = [(np.empty(0, dtype=np.int64),) * 4]
    with warnings.catch_warnings():
        # What a fold cannot resolve, all of them together may.
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        if is_matrix:
            _fit_matrix(roc, similarity, y, codes)
        else:
            roc.fit(X, y, codes)
        for attribute in groups:
            by = roc.by(attribute) if len(groups) > 1 else roc
            for point in POINTS:
                asked = (by, groups[attribute], attribute, point)
                for cell, *found in _of_point(*asked, far, n_resamples, entropy):
                    row = row_of[cell]
                    errors[row], pairs[row], near[row], set_by, clumps = found
                    setter[row] = row_of[set_by]
                    if clumps is not None:
                        own = np.full(clumps[0].size, row)
                        accepted.append((own, *clumps))
    joined = (np.concatenate(column) for column in zip(*accepted, strict=True))
    return FoldErrors(errors, pairs, near, setter, *joined)


def _codes(column, labels):
    """Places of the groups of images among the labels; nan of an unknown group."""
    known = {label: float(code) for code, label in enumerate(labels)}
    return np.array([known.get(label, np.nan) for label in column])


def _fit_matrix(roc, scores, y, codes):
    """List every two images with their score: many times the memory of a comparison."""
    first, second = np.triu_indices(len(y), 1)
    roc.fit_pairs(
        scores[first, second],
        *(y[first], y[second]),
        sensitive_features_1={name: code[first] for name, code in codes.items()},
        sensitive_features_2={name: code[second] for name, code in codes.items()},
        image_1=first,
        image_2=second,
    )


def _of_point(roc, groups, attribute, point, far, n_resamples, entropy):
    """Of every cell at an operating point: errors, pairs, near, its setter and clumps."""
    pairs, labels = roc._engine.pairs, [groups[int(code)] for code in roc.groups_]
    own = tuple((g, g) for g in range(len(labels)))
    operating = tuple(g for g in range(len(labels)) if pairs.count((g, g)))
    query = Query(np.array([far]), None, point, (None, *own), operating)
    query, points = point_rates(pairs, query)
    thresholds, setter = points.thresholds[:, 0], None
    if point == "worst_group":
        own = {"operating_point": "group"}
        at = [roc.threshold_at(far, group=code, **own) for code in roc.groups_]
        if np.isnan(at).all():
            raise ValueError(
                f"No group of {attribute!r} has an impostor pair among the people of a "
                "split. Use fewer splits, or more people of each group."
            )
        setter = labels[int(np.nanargmax(at))]
    setter = Cell(attribute, point, "far", setter)
    if n_resamples:
        resampling = Resampling("identities", "recentered", n_resamples, entropy, None)
        resampled = rate_table(pairs, query, resampling).replicates
        levels = np.array([far / STEP, far * STEP])
        moved = Query(levels, None, point, query.scopes, operating)
        moved = point_rates(pairs, moved)[1]
    for row, (scope, label) in enumerate(
        zip(query.scopes, (None, *labels), strict=True)
    ):
        totals = _totals(pairs, scope, n_resamples, entropy)
        for rate, total in zip(("far", "frr"), totals, strict=True):
            rates, near, clumps = getattr(points, rate)[row], 0.0, None
            if n_resamples:
                rates = np.append(rates, getattr(resampled, rate)[row, 0])
                near = np.nan_to_num(getattr(moved, rate)[row]) * total[0]
                if rate == "far":
                    clumps = _clumps(roc, pairs, scope, thresholds[row])
            found = np.nan_to_num(rates) * total, np.where(np.isnan(rates), 0.0, total)
            yield Cell(attribute, point, rate, label), *found, near, setter, clumps


def _clumps(roc, pairs, scope, threshold):
    """Every two people with accepted impostor pairs, and how many; three ndarrays."""
    people = accepted_by_people(pairs, scope, threshold)[:2]
    ends = np.sort(roc.identities_[np.stack(people)], axis=0)
    (left, right), count = np.unique(ends, axis=1, return_counts=True)
    return left, right, count


def _totals(pairs, scope, n_resamples, entropy):
    """Weights of the impostor and of the genuine pairs, in the data and in resamples."""
    blocks = [Weights()]
    for start in range(0, n_resamples, BLOCK):
        stop = min(start + BLOCK, n_resamples)
        blocks.append(draw(pairs.images, "identities", entropy, start, stop))
    impostor = [pairs.impostor_total(scope, weights) for weights in blocks]
    genuine = [pairs.genuine_total(scope, weights, True) for weights in blocks]
    return np.concatenate(impostor), np.concatenate(genuine)


# ---- people and fits -----------------------------------------------------------------


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
        groups = [(name, column.astype(str)) for name, column in self.columns.items()]
        return joblib.hash([self.X, self.y, groups], hash_name="sha1")


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
        Where they are kept.
    progress : bool
    n_jobs : int or None
    """
    digest = None
    if folder is not None:
        folder = Path(check_path(folder, "folder"))
        folder.mkdir(parents=True, exist_ok=True)
        digest = people.digest()
    tasks = []
    for mitigation in mitigations:
        for task in ((mitigation, k, rows, settings) for k, rows in enumerate(splits)):
            tasks.append((*task, folder and path_of_fit(folder, digest, *task)))
    left = [task for task in tasks if not (task[-1] and task[-1].exists())]
    if progress and left:
        _say_how_long(people, left, tasks[0], n_jobs)
    fits = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(finish_fit)(people, *task) for task in tasks
    )
    found = list(shown_as_they_come(fits, len(tasks), progress))
    n = len(splits)
    return [found[k * n : (k + 1) * n] for k in range(len(mitigations))]


def _say_how_long(people, left, nothing, n_jobs):
    """Print on standard error how long the fits will take, if it is over a minute."""
    first = {NOTHING: nothing} | {task[0].name: task for task in reversed(left)}
    seconds = Parallel(n_jobs=n_jobs)(
        delayed(time_trial)(people, *task[:-1]) for task in first.values()
    )
    of, total = dict(zip(first, seconds, strict=True)), 0.0
    for mitigation, _, _, settings, _ in left:
        n = len(mitigation.candidates) if len(mitigation.candidates) > 1 else 0
        # Of every candidate one fit fewer than inner splits: each has one part less.
        fits = 1 + n * (settings.inner_splits - 1)
        training = 0.0 if mitigation.name == NOTHING else fits * of[mitigation.name]
        total += training + (1 + n) * of[NOTHING]
    minutes = total / min(joblib.effective_n_jobs(n_jobs), len(left)) / 60
    if minutes > 1:
        n = len(first) - 1
        text = f"{n} method{'s' if n > 1 else ''}, {len(left)} fits: about "
        print(f"{text}{np.ceil(minutes):.0f} minutes", file=sys.stderr, flush=True)


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
    if path is not None and path.exists():
        return read_fit(path)
    # The bar of the bench counts fits, and each is short.
    with one_blas_thread(), show_progress(False):
        found = _fit_and_judge(people, mitigation, split, rows, settings)
    if path is not None:
        errors = None if found.errors is None else vars(found.errors)
        _saved.write(path, vars(found) | {"errors": errors})
    return found


def time_trial(people, mitigation, split, rows, settings):
    """Seconds of one judgement of nothing, or of training a head, from two epochs of it.

    A method without a head takes none: its fit is a matter of seconds.
    """
    fitted_on, judged = (people.take(part) for part in rows)
    with one_blas_thread(), show_progress(False), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        if mitigation.estimator is None:
            judge(None, judged, settings, settings.entropy(split))
            return time.perf_counter() - start
        system = System(clone(mitigation.estimator), split)
        heads = heads_of(system.estimator)
        left = [head.max_epochs - 2 for head in heads]
        for head in heads:
            head.set_params(max_epochs=2)
        try:
            if heads:
                system.fit(fitted_on.X, fitted_on.labels())
                heads = heads_of(system.estimator_)
        except ValueError:  # so will the fit itself
            return 0.0
        seconds = time.perf_counter() - start if heads else 0.0
    epochs = (head.net_.history[-1, "dur"] for head in heads)
    return seconds + sum(n * epoch for n, epoch in zip(left, epochs, strict=True))


def _fit_and_judge(people, mitigation, split, rows, settings):
    fitted_on, judged = (people.take(part) for part in rows)
    start = time.perf_counter()
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            system, parameters = choose_and_fit(fitted_on, mitigation, settings, split)
        seconds = time.perf_counter() - start
        errors = judge(system, judged, settings, settings.entropy(split))
    except ValueError as error:
        seconds = time.perf_counter() - start
        return FinishedFit(None, {}, seconds, 0, failure=str(error))
    shown = {name: str(value) for name, value in parameters.items()}
    said = tuple(dict.fromkeys(str(w.message) for w in caught))
    return FinishedFit(errors, shown, seconds, count_numbers(system), said)


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
    seed, candidates = settings.entropy(split) % 2**31, mitigation.candidates or [{}]
    system = System(clone(mitigation.estimator), seed)
    if len(candidates) == 1:
        system.estimator.set_params(**candidates[0])
        return system.fit(people.X, people.labels()).estimator_, candidates[0]
    search = GridSearchCV(
        system,
        [{f"estimator__{n}": [value] for n, value in c.items()} for c in candidates],
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


# ---- progress ------------------------------------------------------------------------

# Between two lines, at least.
SECONDS_OF_LINE = 10.0


def shown_as_they_come(fits, total, shown):
    """Fits, with a bar; where standard error is no terminal, with lines instead."""
    if not shown or sys.stderr.isatty():
        with show_progress(shown), progress_bar(total, "fits") as bar:
            for fit in fits:
                yield fit
                bar.update()
        return
    start = said = time.monotonic()
    for n, fit in enumerate(fits, 1):
        yield fit
        now = time.monotonic()
        if now - said >= SECONDS_OF_LINE:
            said, text = now, f"{n} of {total} fits after {now - start:.0f} s"
            print(text, file=sys.stderr, flush=True)


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


def read_fit(path):
    """A finished fit from its file."""
    remedy = "delete it, and the fit is made again"
    found = _saved.read(path, remedy)
    with _saved.damage_named(path, remedy):
        errors = found.pop("errors")
        return FinishedFit(None if errors is None else FoldErrors(**errors), **found)
