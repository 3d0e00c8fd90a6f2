"""Mitigations by name, as the bench knows them. How any of them is fitted, asked and saved.

A mitigation is a transformer of embeddings, a comparator (it has ``prepare``, or at least
``score_matrix``), or a pipeline of transformers that may end with a comparator. Those with a name are imported
when they are asked for: some need the libraries of the extra "mitigate".
"""

from __future__ import annotations

import os
import warnings
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline

from skfairfr.comparators._base import unit_rows_of
from skfairfr.metrics._roc._similarities import is_comparator
from skfairfr.model_selection._kappas import kappa_grid
from skfairfr.utils import _saved
from skfairfr.utils._errors import invalid, plain, suggestion
from skfairfr.utils._types import FilePath
from skfairfr.utils._validation import check_path, check_sequence, is_written

NOTHING = "nothing"


class Mitigation(NamedTuple):
    """A method to try.

    Attributes
    ----------
    name : str
    estimator : estimator or None
        Not fitted. If None, the embeddings as they are.
    candidates : list of dict
        Parameters, one of which is chosen on the people of a training part. Empty or a
        single one where there is nothing to choose.
    note : str
        How the mitigation differs from the guide's description with these people, or empty.
    """

    name: str
    estimator: object
    candidates: list
    note: str = ""


class Setting(NamedTuple):
    """Facts on which the options and the grid of a named mitigation depend.

    Attributes
    ----------
    far : float in (0, 1)
        Level at which the bench operates.
    groups : list of labels
    n_people : int
        By how many people candidates are fitted, at least.
    n_ungrouped : int
        People of whom no group is known, or several are.
    n_features : int
        Of the embeddings.
    """

    far: float
    groups: list
    n_people: int = 10**6
    n_ungrouped: int = 0
    n_features: int = 512


# Numbers of clusters that are tried, and people whom a cluster needs to have impostors.
CLUSTERS, PEOPLE_OF_CLUSTER = (10, 100), 2
# Share of a person's images that must agree on the group, where not all of them do.
AGREEMENT = 0.75


_COMPARATORS, _PROJECTORS = "skfairfr.comparators", "skfairfr.projectors"


def _known(setting):
    """Module, class, options and grid of each name, the quickest to fit first."""
    own, heads, groups = _COMPARATORS, _PROJECTORS, setting.groups
    far = {"far": setting.far}
    # 10 and 100 clusters, or as many as there can be of two people each.
    most = max(setting.n_people // PEOPLE_OF_CLUSTER, 2)
    clusters = {"n_clusters": sorted({min(n, most) for n in CLUSTERS})}
    # Whoever has no one group is left out of a fit, if there are such people.
    agree = {"min_agreement": AGREEMENT} if setting.n_ungrouped else {}
    ordered = {"groups": tuple(groups), **agree}
    kappas = kappa_grid(setting.n_features, groups)
    strengths = {"strength": [0.5, 0.75, 1.0]}
    lda = "sklearn.discriminant_analysis", "LinearDiscriminantAnalysis"
    shrinkage = {"shrinkage": [0.5, 0.9]}
    return {
        "as-norm": (own, "CohortNormalizer", {"kind": "as"}, strengths),
        "s-norm": (own, "CohortNormalizer", {"kind": "s"}, strengths),
        "group means out": (own, "GroupMeanRemover", {}, {}),
        "group thresholds": (own, "GroupThresholds", far, {}),
        "group calibration": (own, "ScoreCalibrator", {"by": "group"}, {}),
        "FSN": (own, "FairScoreNormalizer", far, clusters),
        "FairCal": (own, "ClusterCalibration", {}, clusters),
        "WCCN": (own, "WithinClassWhitening", {}, shrinkage),
        "LDA": (*lda, {"solver": "eigen"}, shrinkage),
        "PLDA": (own, "PLDAComparator", {}, {"shrinkage": [0.3, 0.7]}),
        "plain head": (heads, "EthicalModule", ordered, {}),
        "margin head": (heads, "FPRPenaltyProjector", {"alpha": 0.0}, {}),
        "ethical module": (heads, "EthicalModule", ordered, kappas),
        "FPR penalty": (heads, "FPRPenaltyProjector", {}, {}),
        "triplets": (heads, "TripletProjector", {"sampling": "equal"}, {}),
        "adversary": (heads, "AdversarialProjector", {}, {}),
        "centroid fairness": (heads, "CentroidFairnessProjector", agree, {}),
    }


# The names do not depend on the setting.
MITIGATIONS = tuple(_known(Setting(1e-3, [0, 1])))
# Heads trained without regard to groups: what others do beyond training a head.
CONTROLS = ("plain head", "margin head")
NOISE = "noise"


def read_methods(methods, setting):
    """Mitigations from an argument, and names that were left out with the reason.

    Parameters
    ----------
    methods : None, sequence of str, or dict of str -> str, estimator or (estimator, grid)
        None is all that have a name and whose libraries are installed.
    setting : Setting

    Returns
    -------
    mitigations : list of Mitigation
    left_out : list of tuple (name, reason)
    """
    found, left_out = [], []
    if methods is None:
        for name in _known(setting):
            try:
                found.append(named_mitigation(name, setting))
            except ImportError as error:
                left_out.append((name, str(error)))
        return found, left_out
    if isinstance(methods, str):
        methods = [methods]
    if not isinstance(methods, dict):
        names = check_sequence(methods, "methods", "names of mitigations", str)
        methods = dict(zip(names, names, strict=True))
    if not methods:
        remedy = f"give None for all, or some of {', '.join(MITIGATIONS)}."
        raise invalid("methods", methods, "names none;", remedy)
    for name, given in methods.items():
        if not isinstance(name, str) or name == NOTHING or not is_written(name):
            problem = f"has {plain(name)!r};"
            remedy = f"give whole characters, not {NOTHING!r}."
            raise invalid("methods", given, problem, remedy)
        if isinstance(given, str):
            found.append(named_mitigation(given, setting)._replace(name=name))
        else:
            found.append(_own_mitigation(name, given))
    return found, left_out


def named_mitigation(name, setting):
    """The mitigation of a name, as :func:`read_methods` returns it."""
    known = _known(setting)
    if name not in known:
        problem = f"has {plain(name)!r}, which is no mitigation known by name."
        remedy = (
            f"{suggestion(name, known)}Known are: {', '.join(known)}. In Python give "
        )
        raise invalid(
            "methods",
            name,
            problem,
            f"{remedy}others as a dict, otherwise with --method.",
        )
    module, cls, options, grid = known[name]
    made, note = getattr(import_module(module), cls), ""
    if "min_agreement" in options:
        note = (
            f"{setting.n_ungrouped} people have no known group, or several. Those "
            f"whose images agree to less than {100 * AGREEMENT:.0f} % are left out of its fits, "
            "and judged as all others."
        )
    candidates = list(ParameterGrid(grid)) if grid else []
    return Mitigation(name, made(**options), candidates, note)


def _own_mitigation(name, given):
    """A mitigation of the caller's, with the grid where there is one."""
    pair = isinstance(given, tuple) and len(given) == 2
    estimator, grid = given if pair else (given, None)
    ways = ("transform", "prepare", "score_matrix")
    parts = (estimator, last_of(estimator))
    usable = any(hasattr(part, way) for part in parts for way in ways)
    if isinstance(estimator, type) or not (usable and hasattr(estimator, "get_params")):
        problem = f"has {name!r} with {plain(estimator)!r}, which is not a name or an instance of "
        problem += "an estimator that transforms embeddings or scores pairs."
        remedy = "Inherit from skfairfr.comparators.Comparator, or from sklearn's "
        remedy += "BaseEstimator with fit and transform(X) or score_matrix(X1, X2)."
        raise invalid("methods", given, problem, remedy)
    try:
        candidates = [] if grid is None else list(ParameterGrid(grid))
    except (TypeError, ValueError) as error:
        problem = f"has {name!r} with no grid ({error});"
        raise invalid("methods", given, problem, "give a dict of lists.") from error
    return Mitigation(name, estimator, candidates)


def last_of(estimator):
    """The last step of a pipeline, or the one estimator."""
    return estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator


def seeded(estimator, seed):
    """A clone, in which what is random and has no seed gets this one."""
    made = clone(estimator)
    unset = {
        name: seed
        for name, value in made.get_params().items()
        if (name == "random_state" or name.endswith("__random_state")) and value is None
    }
    made.set_params(**unset)  # what is frozen returns None here
    return made


class System(BaseEstimator):
    """A mitigation whose y is that of ``face_labels``. A seeded clone of it is fitted."""

    def __init__(self, estimator, seed=0):
        self.estimator = estimator
        self.seed = seed

    def fit(self, X, y):
        """Fit ``estimator_`` on some people."""
        made = seeded(self.estimator, self.seed)
        self.estimator_ = fit_system(made, X, y["identity"], y["group"])
        return self


def fit_system(estimator, X, y, groups):
    """Fit a mitigation in place. All steps of a pipeline get identities and groups."""
    steps = _steps_of(estimator)
    for k, step in enumerate(steps):
        if not hasattr(step, "fit"):  # scores as they are
            continue
        takes_groups = "sensitive_features" in signature(step.fit).parameters
        options = {"sensitive_features": groups} if takes_groups else {}
        with warnings.catch_warnings():
            # A person of one image is none that the covariance of classes is about.
            warnings.filterwarnings("ignore", "Only one sample available", UserWarning)
            step.fit(X, y, **options)
        if k < len(steps) - 1:
            X = step.transform(X)
    return estimator


def _steps_of(estimator):
    """Steps of a pipeline, without those that do nothing, or the one estimator."""
    if not isinstance(estimator, Pipeline):
        return [estimator]
    return [s for _, s in estimator.steps if s is not None and s != "passthrough"]


class Noise(TransformerMixin, BaseEstimator):
    """Unit rows with Gaussian noise, which has this length on average, on every image."""

    def __init__(self, length, random_state=None):
        self.length = length
        self.random_state = random_state

    def fit(self, X, y=None):
        """Learn nothing."""
        return self

    def transform(self, X):
        """The rows with their noise: equal in two calls with the same X."""
        noise = np.random.default_rng(self.random_state).standard_normal(X.shape)
        return unit_rows_of(X) + self.length / np.sqrt(X.shape[1]) * noise


class OfGroups:
    """A fitted comparator that is given the groups of one attribute, whatever others are.

    Parameters
    ----------
    comparator : object
        With ``prepare``.
    groups : ndarray, shape (n_images,)
        Of the images that will be prepared.
    """

    def __init__(self, comparator, groups):
        self.comparator = comparator
        self.groups = groups

    def prepare(self, X, sensitive_features=None):
        """Rows and numbers of the images, as the comparator gives them."""
        return self.comparator.prepare(X, sensitive_features=self.groups)


def embed(estimator, X, groups):
    """Embeddings and similarity of a fitted system.

    Parameters
    ----------
    estimator : fitted estimator or None
    X : ndarray, shape (n_samples, n_features)
    groups : ndarray, shape (n_samples,)

    Returns
    -------
    Z : ndarray, shape (n_samples, n_features_out)
    similarity : "cosine", OfGroups, or ndarray of float32, shape (n_samples, n_samples)
        The last are the scores of a comparator that has ``score_matrix`` alone.
    """
    steps = [] if estimator is None else _steps_of(estimator)
    for step in steps[:-1]:
        X = step.transform(X)
    if not steps:
        return X, "cosine"
    last = steps[-1]
    if is_comparator(last):
        return X, OfGroups(last, groups)
    if hasattr(last, "score_matrix"):
        return X, _scores_of(last, X, groups)
    return np.asarray(last.transform(X)), "cosine"


def _scores_of(comparator, X, groups):
    names = ("sensitive_features_1", "sensitive_features_2")
    of_both = dict.fromkeys(names, groups) if needs_groups(comparator) else {}
    scores = np.asarray(comparator.score_matrix(X, X, **of_both), dtype=np.float32)
    if scores.shape != (len(X), len(X)) or not np.isfinite(scores).all():
        raise ValueError(
            f"{type(comparator).__name__}.score_matrix(X, X) gave an array of shape "
            f"{scores.shape} for {len(X)} rows, or scores that are not finite. Return a "
            "finite score for each pair of rows."
        )
    return scores


def needs_groups(estimator):
    """Whether a mitigation takes the groups of both images to score a pair."""
    last = last_of(estimator)
    scores = getattr(last, "score_matrix", None)
    takes_them = (
        scores is not None and "sensitive_features_1" in signature(scores).parameters
    )
    return getattr(last, "takes_groups", takes_them)


def heads_of(estimator):
    """The projectors of a mitigation: itself, or steps of a pipeline."""
    return [
        step
        for step in _steps_of(estimator)
        if any(kind.__module__.startswith(_PROJECTORS) for kind in type(step).__mro__)
    ]


def has_control(mitigation):
    """Whether it trains a head, and is none of those that others are compared with."""
    return bool(heads_of(mitigation.estimator)) and mitigation.name not in CONTROLS


def count_numbers(estimator):
    """Count the numbers that a fitted mitigation keeps. Identities and labels are none.

    Only the weights of a head count if torch runs it.
    """
    if estimator is None:
        return 0
    if isinstance(estimator, Pipeline):
        return sum(map(count_numbers, _steps_of(estimator)))
    if isinstance(estimator, FrozenEstimator):
        return count_numbers(estimator.estimator)
    head = getattr(estimator, "head_", None)
    if hasattr(head, "parameters"):
        return sum(p.numel() for p in head.parameters())
    return sum(_size(v) for name, v in vars(estimator).items() if name.endswith("_"))


def _size(value):
    """Numbers in what is fitted: an array, a list of them, or another estimator."""
    if isinstance(value, list):
        return sum(map(_size, value))
    if isinstance(value, BaseEstimator):
        return count_numbers(value)
    return (
        value.size if isinstance(value, np.ndarray) and value.dtype.kind == "f" else 0
    )


# ---- a fitted mitigation as a folder with one file -----------------------------------

NAME = "system.safetensors"


def save_mitigation(estimator: Any, folder: FilePath) -> None:
    """Write a fitted mitigation.

    Parameters
    ----------
    estimator : fitted transformer, comparator or Pipeline
        Fitted estimator of this package or of scikit-learn.
    folder : str or path-like
        Made where there is none. A mitigation in it is replaced, files of others stay.

    Raises
    ------
    ValueError
        If a class is of another package, or what it contains has no form without pickle.
    OSError
        If the folder cannot be written.

    See Also
    --------
    load_mitigation : Reads it.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.decomposition import PCA
    >>> from skfairfr import make_face_embeddings
    >>> from skfairfr.model_selection import load_mitigation, save_mitigation
    >>> X = make_face_embeddings(20, n_features=8, random_state=0).X
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_mitigation(PCA(2).fit(X), folder)
    ...     os.listdir(folder)
    ['system.safetensors']
    """
    folder = check_path(folder, "folder")
    os.makedirs(folder, exist_ok=True)
    _saved.write(Path(folder, NAME), estimator)


def load_mitigation(folder: FilePath) -> Any:
    """Read what :func:`save_mitigation`, or :meth:`Bench.save`, wrote.

    Parameters
    ----------
    folder : str or path-like

    Returns
    -------
    estimator : transformer, comparator or Pipeline
        Fitted.

    Raises
    ------
    ValueError
        If the file is damaged, or contains a class of another package.
    OSError
        If the folder contains no mitigation.

    See Also
    --------
    save_mitigation : Writes it.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.decomposition import PCA
    >>> from skfairfr import make_face_embeddings
    >>> from skfairfr.model_selection import load_mitigation, save_mitigation
    >>> X = make_face_embeddings(20, n_features=8, random_state=0).X
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_mitigation(PCA(2).fit(X), folder)
    ...     load_mitigation(folder).transform(X).shape == (len(X), 2)
    True
    """
    path = Path(check_path(folder, "folder"), NAME)
    return _saved.read(path, "save the mitigation again")


def lines_to_deploy(estimator, folder):
    """Three lines of Python that read a mitigation and score pairs with it."""
    last, both = last_of(estimator), ("probes", "references")
    use = "rows = system.transform(images)  # numpy, and the cosines of rows are the scores"
    if is_comparator(last):
        scorer = "system"
        if last is not estimator:
            scorer = "system[-1]"
            both = (f"system[:-1].transform({images})" for images in both)
        use = f"scores = {scorer}.score_pairs({', '.join(both)})"
    elif hasattr(estimator, "head_"):
        use = (
            "head = system.head_  # a torch module: unit rows, whose inner products are "
            "the scores"
        )
    return (
        "from skfairfr import load_mitigation\n"
        f"system = load_mitigation({str(folder)!r})\n{use}\n"
    )
