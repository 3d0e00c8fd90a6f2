"""Mitigations by name, as the bench knows them, and what is done with any of them.

A mitigation is a transformer of embeddings, a comparator (it has ``prepare``, or at least
``score_matrix``), or a pipeline of transformers that may end with a comparator. Those with a name are imported
when they are asked for: some need the libraries of the extra "mitigate".
"""

import warnings
from importlib import import_module
from inspect import signature
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline

from skfairfr.metrics._roc._inputs import is_comparator
from skfairfr.utils._errors import Argument, ArgumentError, plain, suggestion
from skfairfr.utils._validation import check_texts, is_written

NOTHING = "nothing"


class Mitigation(NamedTuple):
    """A method to try.

    Attributes
    ----------
    name : str
    estimator : estimator or None
        Not fitted; None is the embeddings as they are.
    candidates : list of dict
        Parameters, one of which is chosen on the people of a training part; empty or a
        single one where there is nothing to choose.
    note : str
        What these people made differ from what the guide says of the name; else empty.
    """

    name: str
    estimator: object
    candidates: list
    note: str = ""


class Setting(NamedTuple):
    """What the options and the grid of a named mitigation depend on.

    Attributes
    ----------
    far : float in (0, 1)
        Level at which the bench operates.
    groups : list of labels
    n_people : int
        By how many people candidates are fitted, at least.
    n_ungrouped : int
        People of whom no group is known, or several are.
    """

    far: float
    groups: list
    n_people: int = 10**6
    n_ungrouped: int = 0


class _Named(NamedTuple):
    """Where the class of a named mitigation is, and how it is made.

    The options and the grid are dicts, or functions of a Setting.
    """

    module: str
    cls: str
    options: object
    grid: object = None


# Numbers of clusters that are tried, and people whom a cluster needs to have impostors.
CLUSTERS, PEOPLE_OF_CLUSTER = (10, 100), 2
CLUSTERED = ("FairScoreNormalizer", "ClusterCalibration")
# Share of a person's images that must agree on the group, where not all of them do.
AGREEMENT = 0.75


def _by_level(setting):
    return {"far": setting.far}


def _clusters(setting):
    """10 and 100 clusters, or as many as there can be of two people each."""
    most = max(setting.n_people // PEOPLE_OF_CLUSTER, 2)
    return {"n_clusters": sorted({min(n, most) for n in CLUSTERS})}


def _one_group_each(setting):
    """Leave out of a fit whoever has no one group, where there are such people."""
    return {"min_agreement": AGREEMENT} if setting.n_ungrouped else {}


def _groups_in_order(setting):
    return {"groups": tuple(setting.groups), **_one_group_each(setting)}


def _kappas(setting):
    """Equal concentrations, and one group's above all others' or, of two, either's."""
    groups = setting.groups
    if len(groups) == 2:
        pairs = ((20.0, 20.0), (10.0, 30.0), (30.0, 10.0))
        return [{"kappa0": [a], "kappa1": [b]} for a, b in pairs]
    equal = dict.fromkeys(groups, 20.0)
    raised = [{g: 30.0 if g == one else 10.0 for g in groups} for one in groups]
    return [{"kappas": [kappas]} for kappas in (equal, *raised)]


def _equal_kappas(setting):
    return _kappas(setting)[:1]


_COMPARATORS, _PROJECTORS = "skfairfr.comparators", "skfairfr.projectors"
# In the order in which they are fitted: the quickest first.
_NAMED = {
    "as-norm": _Named(_COMPARATORS, "CohortNormalizer", {"kind": "as"}),
    "s-norm": _Named(_COMPARATORS, "CohortNormalizer", {"kind": "s"}),
    "group means out": _Named(_COMPARATORS, "GroupMeanRemover", {}),
    "group thresholds": _Named(_COMPARATORS, "GroupThresholds", _by_level),
    "FSN": _Named(_COMPARATORS, "FairScoreNormalizer", _by_level, _clusters),
    "FairCal": _Named(_COMPARATORS, "ClusterCalibration", {}, _clusters),
    "WCCN": _Named(_COMPARATORS, "WithinClassWhitening", {}, {"shrinkage": [0.5, 0.9]}),
    "LDA": _Named(
        "sklearn.discriminant_analysis",
        "LinearDiscriminantAnalysis",
        {"solver": "eigen"},
        {"shrinkage": [0.5, 0.9]},
    ),
    "PLDA": _Named(_COMPARATORS, "PLDAComparator", {}, {"shrinkage": [0.3, 0.7]}),
    "plain head": _Named(_PROJECTORS, "EthicalModule", _groups_in_order, _equal_kappas),
    "margin head": _Named(_PROJECTORS, "FPRPenaltyProjector", {"alpha": 0.0}),
    "ethical module": _Named(_PROJECTORS, "EthicalModule", _groups_in_order, _kappas),
    "FPR penalty": _Named(_PROJECTORS, "FPRPenaltyProjector", {}),
    "triplets": _Named(_PROJECTORS, "TripletProjector", {"sampling": "equal"}),
    "adversary": _Named(_PROJECTORS, "AdversarialProjector", {}),
    "centroid fairness": _Named(
        _PROJECTORS, "CentroidFairnessProjector", _one_group_each
    ),
}
MITIGATIONS = tuple(_NAMED)
# Heads trained without regard to groups: what others do beyond training a head.
CONTROLS = ("plain head", "margin head")


def refusal(argument, problem, *value):
    """An error about an argument, which ends with its value if that is given."""
    got = f"; got {plain(value[0])!r}" if value else ""
    about = value[0] if value else None
    return ArgumentError(Argument(argument), f" {problem}{got}.", value=about)


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
        for name in MITIGATIONS:
            try:
                found.append(named_mitigation(name, setting))
            except ImportError as error:
                left_out.append((name, str(error)))
        return found, left_out
    if isinstance(methods, str):
        methods = [methods]
    if not isinstance(methods, dict):
        names = check_texts(methods, "methods", "names of mitigations")
        methods = dict(zip(names, names, strict=True))
    if not methods:
        known = ", ".join(MITIGATIONS)
        raise refusal("methods", f"names none; give None for all, or some of {known}")
    for name, given in methods.items():
        if not isinstance(name, str) or name == NOTHING or not is_written(name):
            problem = f"has {plain(name)!r}; give whole characters, not {NOTHING!r}"
            raise refusal("methods", problem)
        if isinstance(given, str):
            found.append(named_mitigation(given, setting)._replace(name=name))
        else:
            found.append(_own_mitigation(name, given))
    return found, left_out


def named_mitigation(name, setting):
    """The mitigation of a name, as :func:`read_methods` returns it."""
    if name not in _NAMED:
        raise refusal(
            "methods",
            f"has {plain(name)!r}, which is no mitigation known by name. "
            f"{suggestion(name, MITIGATIONS)}Known are: {', '.join(MITIGATIONS)}. In Python "
            "give others as a dict, {name: estimator}",
        )
    module, cls, options, grid = _NAMED[name]
    try:
        made = getattr(import_module(module), cls)
    except AttributeError as error:
        raise ImportError(f"{cls} is not in {module}", name=module) from error
    given = options, grid
    options, grid = (part(setting) if callable(part) else part for part in given)
    note = ""
    if "min_agreement" in options:
        note = (
            f"of {setting.n_ungrouped} people no group is known, or several are; those "
            f"whose images agree to less than {100 * AGREEMENT:.0f} % are left out of its fits, "
            "and judged as all others."
        )
    elif cls in CLUSTERED and tuple(grid["n_clusters"]) != CLUSTERS:
        tried, usual = (str(n)[1:-1] for n in (grid["n_clusters"], list(CLUSTERS)))
        note = (
            f"n_clusters {tried} in place of {usual}: candidates are fitted on "
            f"{setting.n_people} people, and a cluster needs {PEOPLE_OF_CLUSTER}."
        )
    candidates = [] if grid is None else list(ParameterGrid(grid))
    return Mitigation(name, made(**options), candidates, note)


def _own_mitigation(name, given):
    """A mitigation of the caller's, with the grid where there is one."""
    pair = isinstance(given, tuple) and len(given) == 2
    estimator, grid = given if pair else (given, None)
    ways = ("transform", "prepare", "score_matrix")
    parts = (estimator, _last_of(estimator))
    usable = any(hasattr(part, way) for part in parts for way in ways)
    if isinstance(estimator, type) or not (usable and hasattr(estimator, "get_params")):
        raise refusal(
            "methods",
            f"has {name!r} with {plain(estimator)!r}, which is neither a name nor an "
            "instance of an estimator that transforms embeddings or scores pairs; inherit "
            "from skfairfr.comparators.Comparator, or from sklearn.base.BaseEstimator and "
            "have fit with transform(X) or score_matrix(X1, X2)",
        )
    try:
        candidates = [] if grid is None else list(ParameterGrid(grid))
    except (TypeError, ValueError) as error:
        problem = f"has {name!r} with no grid ({error}); give a dict of lists"
        raise refusal("methods", problem) from error
    return Mitigation(name, estimator, candidates)


def _last_of(estimator):
    return estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator


def seeded(estimator, parameters, seed):
    """A clone with these parameters; what is random and has no seed gets this one."""
    made = clone(estimator)
    made.set_params(**parameters)
    unset = {
        name: seed
        for name, value in made.get_params().items()
        if (name == "random_state" or name.endswith("__random_state")) and value is None
    }
    made.set_params(**unset)  # what is frozen returns None here
    return made


class System(BaseEstimator):
    """A mitigation whose y holds identities and groups, as of ``face_labels``.

    Parameters
    ----------
    estimator : estimator
        Cloned.
    seed : int
        Of whatever is random in it and has none.

    Attributes
    ----------
    estimator_ : fitted estimator
    """

    def __init__(self, estimator, seed=0):
        self.estimator = estimator
        self.seed = seed

    def fit(self, X, y):
        """Fit a clone on some people."""
        made = seeded(self.estimator, {}, self.seed)
        self.estimator_ = fit_system(made, X, y["identity"], y["group"])
        return self


def fit_system(estimator, X, y, groups):
    """Fit a mitigation in place; steps of a pipeline get identities and groups alike."""
    steps = _steps_of(estimator)
    for k, step in enumerate(steps):
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
            f"{scores.shape} for {len(X)} rows, or scores that are not finite; return a "
            "finite score for every two rows."
        )
    return scores


def needs_groups(estimator):
    """Whether a mitigation takes the groups of both images to score a pair."""
    last = _last_of(estimator)
    scores = getattr(last, "score_pairs", getattr(last, "score_matrix", None))
    return scores is not None and "sensitive_features_1" in signature(scores).parameters


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
    """Count the numbers that a fitted mitigation keeps; identities and labels are none.

    Of a head that torch runs only the weights count.
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
    kept = [v for name, v in vars(estimator).items() if name.endswith("_")]
    return sum(
        v.size for v in kept if isinstance(v, np.ndarray) and v.dtype.kind == "f"
    )
