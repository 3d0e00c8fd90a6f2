"""Calls of every public name, with values that its docstring allows or only just does not."""

import builtins
import contextlib
import importlib
import inspect
import io
import time
import warnings
from dataclasses import dataclass, is_dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import sklearn.exceptions
from numpydoc.docscrape import ClassDoc, FunctionDoc

from tests.fuzz import files
from tests.fuzz.driver import Case, summary
from tests.fuzz.mutation import random_of
from tests.fuzz.values import kinds_of, odd_value

PACKAGES = (
    *("comparators", "datasets", "losses", "metrics", "model_selection", "projectors"),
    *("report", "samplers", "utils"),
)
# Of a callable whose docstring has no section Raises, as of methods that only show a result.
DOCUMENTED = (ValueError, TypeError, OSError, ImportError)
# Calls of a tenth of a second and more, which are made less often.
SLOW = (
    *("compare_systems", "SystemsComparison.to_html"),
    *("SystemsComparison.save", "Report.save", "Report.to_html"),
    *("audit", "audit_data", "audit_pairs", "roc_over_splits"),
    *("ErrorRateDisplay.from_estimator", "SimilarityROCDisplay.from_estimator"),
    *("GroupFARDisplay.from_estimator", "DisparityCurveDisplay.from_estimator"),
    *("GroupRatesDisplay.from_estimator", "ScoreHistogramDisplay.from_estimator"),
    *("ScoreHistogramDisplay.from_roc", "GroupFARDisplay.from_roc", "plan_test"),
    *("GroupFARDisplay.plot", "AdversarialProjector", "AdversarialProjector.fit"),
    *("worst_group_rate", "worst_cluster_rate"),
)
# Calls of seconds.
SLOWEST = ("compare_mitigations",)
# What reads most kinds of data, and is called as often as what is fast.
PRODUCTS = (
    *("audit", "audit_data", "audit_pairs", "compare_systems"),
    *("EmbeddingData", "PairData"),
)
SCORERS = (
    *("bfar_scorer", "bfrr_scorer", "frr_at_far_scorer"),
    *("far_max_geomean_scorer", "frr_max_geomean_scorer"),
)

# Public names that nobody calls with data of their own, each with the reason.
LEFT_OUT = {
    "Adjustment": "made and called inside the pass over all pairs",
    "PreparedImages": "returned by prepare",
    "Comparator": "a base class",
    "ArgumentError": "raised",
    "Reason": "a list of words",
    "spelled": "takes a function of the package's own",
    "adjust_tile": "called inside the pass over all pairs",
    **dict.fromkeys(
        (*("forward", "held_out", "logits", "penalty", "discriminator_loss"),),
        "of a torch module: like torch's own it takes tensors, without checks that cost",
    ),
    "semi_hard_negatives": "takes tensors inside a training loop, where checks would cost",
    "load": "files.py damages what it reads",
    "load_mitigation": "files.py damages what it reads",
    "Bench": "its save is save_mitigation",
    **dict.fromkeys(
        ("KappaGridDisplay.from_search", "TradeOffDisplay.from_search"),
        "takes a fitted search",
    ),
}

# ---- valid values, by the name of the parameter -----------------------------------------

PEOPLE = 16
Y = np.repeat(np.arange(PEOPLE), 3)
N = len(Y)
_RNG = np.random.default_rng(0)
X = _RNG.normal(size=(PEOPLE, 5))[Y] + 0.7 * _RNG.normal(size=(N, 5))
GROUP = np.array(["f", "m"])[Y % 2]
LEFT, RIGHT = (side[::7] for side in np.triu_indices(N, 1))
SCORES = np.einsum("ij,ij->i", X[LEFT], X[RIGHT])
SAME = (Y[LEFT] == Y[RIGHT]).astype(int)
RATES = np.array([0.1, 0.2])
VALID = {
    **{"X": X, "y": Y, "sensitive_features": GROUP, "identity": Y, "group": "f"},
    **{"X1": X[LEFT], "X2": X[RIGHT], "far": 0.1, "threshold": 0.3, "y_score": SCORES},
    **{"y_true": SAME, "identity_1": Y[LEFT], "identity_2": Y[RIGHT], "fmr": RATES},
    **{"sensitive_features_1": GROUP[LEFT], "sensitive_features_2": GROUP[RIGHT]},
    **{"fnmr": RATES, "rates": RATES, "n_resamples": 10, "random_state": 0},
    **{
        "n_clusters": 3,
        "weights": {"f": 1.0, "m": 2.0},
        "groups": np.array(["f", "m"]),
    },
    **{"previous": RATES, "n_false_accepts": [3, 4], "n_impostors": [90, 80]},
    **{"counts": [5, 6], "n_groups": 2, "n_identities": PEOPLE, "n_features": 5},
    **{"identities": (Y[LEFT], Y[RIGHT]), "max_epochs": 1, "min_identities": 2},
    **{"name": "door", "limits": {"max_fmr": 0.1}, "values": {"name": "door"}},
    **{"metrics": ("bfar", "frr_at_far"), "n_splits": 2, "inner_splits": 2, "cv": None},
    **{
        "images_per_person": 2,
        "rate": "far",
        "table": "rates",
        "other": None,
        "min_pairs": 2,
    },
    **{
        "before": None,
        "after": None,
        "kappa": 20.0,
        "attribute": None,
        "reference": None,
    },
    **{"certify_fmr": 0.1, "selection_size": 64, "validation_fraction": 0.0},
    **{"folder": "out", "path": "saved", "source": "sp800-63a-4"},
}
NO_PEOPLE = {"identity_1": None, "identity_2": None}
# A scorer at a FAR of 1e-3 needs thousands of pairs.
_MANY = np.repeat(np.arange(100), 3)
OF_SCORER = {
    "X": _RNG.normal(size=(100, 5))[_MANY] + 0.7 * _RNG.normal(size=(300, 5)),
    **{"y": _MANY, "sensitive_features": np.array(["f", "m"])[_MANY % 2]},
}
# Where a name means something else.
OF_SUBJECT = {
    **dict.fromkeys(SCORERS, OF_SCORER),
    "EmbeddingData": {"columns": {"gender": GROUP}},
    "PairData": {
        "y_score": SCORES,
        "columns": {"gender": (GROUP[LEFT], GROUP[RIGHT])},
    },
    "bfar": {"sensitive_features": GROUP[LEFT]},
    "bfrr": {"sensitive_features": GROUP[LEFT]},
    "far_disparity": {"sensitive_features": GROUP[LEFT]},
    "frr_disparity": {"sensitive_features": GROUP[LEFT]},
    "group_error_rates": {"sensitive_features": GROUP[LEFT]},
    "threshold_at_far": {"sensitive_features": None},
    "audit_pairs": {"sensitive_features": (GROUP[LEFT], GROUP[RIGHT]), "y_true": None},
    "score_matrix": {
        "X1": X,
        "X2": X[:5],
        "sensitive_features_1": GROUP,
        "sensitive_features_2": GROUP[:5],
    },
    "GroupThresholds.score_pairs": {
        "sensitive_features_1": GROUP[LEFT],
        "sensitive_features_2": GROUP[RIGHT],
    },
    "make_face_embeddings": {
        "n_identities": 6,
        "groups": {"f": 0.5, "m": 0.5},
        "kappa": None,
    },
    "SimilarityROC.fit_pairs": {"y_true": None, "sensitive_features": None},
    "SimilarityROC.by": {"sensitive_features": "gender"},
    "SimilarityROC.curve": {"far": [0.05, 0.2]},
    "SimilarityROCDisplay.from_roc": {"far": [0.05, 0.2], "groups": ("f", "m")},
    "DisparityCurveDisplay.from_roc": {"far": [0.05, 0.2]},
    "roc_over_splits": {"far": [0.1, 0.3], "group": None},
    "EthicalModule": {"groups": ("m", "f")},
    "FPRPenaltyProjector": {"far": None},
    "GroupWeightedSampler": {"groups": GROUP, "weights": {"f": 1.0, "m": 2.0}},
    "HomogeneousBatchSampler": {"groups": GROUP},
    "Policy": {"far": (0.1,), "threshold": (), "at": {}, "limits": {"max_fmr": 0.1}},
    "Policy.from_dict": {"values": {"name": "door", "limits": {"max_fmr": 0.1}}},
    "plan_test": {"groups": 2, "policy": None, "rate": "far", "far": 0.01},
    "load_embeddings": {"path": "faces.npz", "identity": None},
    "load_pairs": {"path": "pairs.csv", "y_true": None, **NO_PEOPLE},
    "read_data": {
        "path": "pairs.csv",
        "y_true": None,
        "identity": None,
        **NO_PEOPLE,
        "attributes": ("gender",),
    },
    "group_gate_rates": {"far": 1e-3, "frr": 1e-2},
    "IdentityKFold": {"random_state": None},
    "CentroidFairnessLoss": {"group": np.arange(PEOPLE) % 2},
    "GroupAdversaryLoss": {"n_groups": 2},
    "SimilarityROC.far_asymmetry": {"far": 0.1},
    "InstanceFARDisplay.from_estimator": {"far": 0.1},
}
# As many resamples, epochs or processes as they say, each of them asked for: a large number is
# no damage, and takes for ever.
WORK = {"n_resamples", "max_epochs", "discriminator_epochs", "n_jobs"}
# How often an optional argument that has a valid value here is given.
OPTIONAL = {
    "far",
    "n_resamples",
    "random_state",
    "n_splits",
    "inner_splits",
    "max_epochs",
} | {
    *("n_clusters", "min_identities", "min_pairs", "rate", "selection_size"),
    *(
        "X",
        "y",
        "sensitive_features",
        "identity_1",
        "identity_2",
        "attribute",
        "certify_fmr",
    ),
}


@dataclass(frozen=True)
class Subject:
    """A public callable, with the valid arguments of a call and the types of all.

    Attributes
    ----------
    name : str
    function : callable
    valid : dict of str -> object
    types : dict of str -> str
        Of every parameter, as its docstring says.
    usual : object
        What it gives, as :func:`summary` has it.
    seconds : float, default=0.0
        As :class:`Case` has it: of a bench, which trains every method.
    """

    name: str
    function: object
    valid: dict
    types: dict
    usual: object
    seconds: float = 0.0


@cache
def public_names():
    """Name -> object of every public function, class and method: ``bfar``, ``Policy.read``."""
    found = {}
    for package in PACKAGES:
        module = importlib.import_module(f"skfairfr.{package}")
        for name in module.__all__:
            found[name] = obj = getattr(module, name)
            if inspect.isclass(obj):
                for method, function in _methods(obj):
                    found[f"{name}.{method}"] = function
    return {name: obj for name, obj in found.items() if callable(obj)}


def _methods(cls):
    for name, member in inspect.getmembers(cls, callable):
        function = inspect.unwrap(getattr(member, "__func__", member))
        ours = str(getattr(function, "__module__", "")).startswith("skfairfr")
        if ours and inspect.isfunction(function) and not name.startswith("_"):
            yield name, function


def is_left_out(name):
    """Whether a public name, or the method that it ends with, is no subject."""
    return any(part in LEFT_OUT for part in (name, *name.split(".")))


# ---- objects whose methods are called ----------------------------------------------------


@cache
def fitted_roc():
    import pandas

    from skfairfr import SimilarityROC

    roc = SimilarityROC(n_resamples=10, random_state=0, far_max=0.2)
    return roc.fit(X, Y, pandas.DataFrame({"gender": GROUP, "odd": Y % 4 < 2}))


@cache
def roc_across():
    from skfairfr import SimilarityROC

    roc = SimilarityROC(n_resamples=10, random_state=0, far_max=0.2)
    return roc.fit(X, Y, GROUP, domain=np.arange(N) % 2)


@cache
def small_audit():
    from skfairfr.report import audit

    return audit(X, Y, GROUP, far=0.1, n_resamples=10)


@cache
def audit_report():
    return small_audit()


@cache
def embedding_data():
    from skfairfr.report import EmbeddingData

    return EmbeddingData(X, Y, {"gender": GROUP})


@cache
def pair_data():
    from skfairfr.report import PairData

    people = (Y[LEFT], Y[RIGHT])
    return PairData(SCORES, people, {"gender": (GROUP[LEFT], GROUP[RIGHT])})


@cache
def comparison():
    from skfairfr.report import EmbeddingData, compare_systems

    other = EmbeddingData(X + 0.3, Y, {"gender": GROUP})
    return compare_systems(embedding_data(), other, far=0.1, n_resamples=10)


@cache
def bench():
    from skfairfr.comparators import GroupMeanRemover
    from skfairfr.model_selection import compare_mitigations

    options = {"n_splits": 2, "inner_splits": 2, "n_resamples": 5, "far": 0.1}
    return compare_mitigations(X, Y, GROUP, {"means": GroupMeanRemover()}, **options)


@cache
def display(name):
    from skfairfr import metrics

    cls = getattr(metrics, name)
    if name.startswith("IdentityInertia"):
        return cls.from_embeddings(X, Y, sensitive_features=GROUP)
    if name.startswith("InstanceFAR"):
        return cls.from_embeddings(X, Y, far=0.1, sensitive_features=GROUP)
    if name == "MitigationsDisplay":
        return cls.from_bench(bench())
    if name == "GroupWeightsDisplay":
        return cls(weights=np.ones((3, 2)), groups=("f", "m"))
    if name == "KappaGridDisplay":
        return cls(ratio=np.ones((1, 2, 2)), x=RATES, y=RATES)
    if name == "TradeOffDisplay":
        return cls(
            x=RATES, y=RATES[::-1], front=np.ones(2, bool), params=[{}, {"a": 1}]
        )
    options = {"far": 0.1} if name.startswith("Group") else {}
    return cls.from_roc(roc_of_groups(), **options)


@cache
def roc_of_groups():
    from skfairfr import SimilarityROC

    roc = SimilarityROC(n_resamples=10, random_state=0, far_max=0.2)
    return roc.fit(X, Y, GROUP)


@cache
def records():
    """Results by the name of their class."""
    from skfairfr import metrics

    roc = roc_of_groups()
    found = [
        roc.estimate(0.1),
        roc.curve([0.05, 0.1]),
        roc.far_matrix(0.1),
        roc_across().far_asymmetry(0.1),
        roc.score_summary(),
        roc.compare(roc_of_groups(), 0.1),
        metrics.group_error_rates(
            SAME, SCORES, sensitive_features=GROUP[LEFT], threshold=0.3
        ),
        metrics.group_gate_rates(),
        metrics.identity_inertia(X, Y, sensitive_features=GROUP),
        metrics.instance_far(X, Y, far=0.1, sensitive_features=GROUP),
        metrics.worst_group_rate(
            *(X, Y),
            sensitive_features=GROUP,
            far=0.1,
            min_identities=2,
            n_resamples=10,
            random_state=0,
        ),
        metrics.plan_test(certify_fmr=0.1),
        metrics.Dependence(),
    ]
    return {type(record).__name__: record for record in found}


def instance(name):
    """What the methods of a public class are called on."""
    made = {
        "Audit": lambda: small_audit().audits[0],
        "Report": audit_report,
        "EmbeddingData": embedding_data,
        "PairData": pair_data,
        "SystemsComparison": comparison,
        "Bench": bench,
        "SimilarityROC": roc_of_groups,
    }
    if name in made:
        return made[name]()
    if name in records():
        return records()[name]
    if name.endswith("Display"):
        return display(name)
    return _fitted(public_names()[name])


@cache
def _fitted(cls):
    names = inspect.signature(cls).parameters
    options = {n: VALID[n] for n in names if n in OPTIONAL and n in VALID}
    options |= {n: v for n, v in OF_SUBJECT.get(cls.__name__, {}).items() if n in names}
    made = cls(**options)
    return made.fit(X, Y, GROUP) if hasattr(cls, "fit") else made


# ---- subjects ---------------------------------------------------------------------------


@cache
def subject_names():
    """Names of the public callables that have parameters, but not of results."""
    return [
        name
        for name in sorted(public_names())
        if not (is_left_out(name) or _is_result(name))
        and any(map(kinds_of, types_of(name).values()))
    ]


def _is_result(name):
    """Whether a name is that of a class whose objects nobody makes by hand."""
    obj = public_names()[name]
    if not inspect.isclass(obj) or name in (
        *("Policy", "Dependence"),
        *("EmbeddingData", "PairData"),
    ):
        return False
    made = is_dataclass(obj) or issubclass(obj, tuple | Exception)
    return made or name.endswith("Display")


def subjects():
    """Every subject by its name."""
    return {name: subject(name) for name in subject_names()}


@cache
def subject(name):
    """The subject of a public name, whose valid call works."""
    function, types = _function(name, public_names()[name]), types_of(name)
    valid = _valid(name, function, types)
    started = time.process_time()
    usual = summary(_call(function, valid))
    seconds = time.process_time() - started if name in SLOWEST else 0.0
    return Subject(name, function, valid, types, usual, seconds)


def _function(name, obj):
    """A function with the parameters of a public name that ends in a result."""
    if name in ("EmbeddingData", "PairData"):
        return _Audited(obj)
    if inspect.isclass(obj):
        return _Used(obj) if hasattr(obj, "fit") else obj
    if name in ("make_fairness_scorer", "fairness_scores"):
        return _Scored(obj)
    if name in SCORERS:
        return _Scorer(obj)
    if "." not in name:
        return obj
    holder, _, method = name.partition(".")
    if name == "SimilarityROC.by":
        return fitted_roc().by
    if name == "SimilarityROC.far_asymmetry":
        return roc_across().far_asymmetry
    if method == "fit" and holder in ("EmbeddingData", "PairData"):
        return _FitOf(instance(holder))
    if method in ("fit", "fit_pairs"):
        return _Refit(_fitted(public_names()[holder]), method)
    if method.startswith(("from_", "read", "shipped", "schema")):
        return getattr(public_names()[holder], method)
    return getattr(instance(holder), method)


class _Used:
    """An estimator's class, whose call fits it and uses it."""

    def __init__(self, cls):
        self.cls = cls
        self.__signature__ = inspect.signature(cls)

    def __call__(self, **options):
        return used(self.cls(**options).fit(X, Y, GROUP))


class _Audited:
    """A class of data, whose call audits them."""

    def __init__(self, cls):
        self.cls = cls
        self.__signature__ = inspect.signature(cls)

    def __call__(self, **parts):
        from skfairfr.report import audit_data

        return audit_data(self.cls(**parts), far=0.1, n_resamples=10)


class _Scorer:
    """A scorer, whose call scores embeddings as they are."""

    def __init__(self, scorer):
        self.scorer = scorer
        self.__signature__ = inspect.signature(self._score)

    def _score(self, X, y, *, sensitive_features, domain=None):
        from sklearn.preprocessing import FunctionTransformer

        options = {"sensitive_features": sensitive_features, "domain": domain}
        as_they_are = FunctionTransformer().fit(OF_SCORER["X"])
        return self.scorer(as_they_are, X, y, **options)

    def __call__(self, **arguments):
        return self._score(**arguments)


class _FitOf:
    """The method fit of data, which is given a fresh copy of the estimator."""

    def __init__(self, data):
        self.data = data
        self.__signature__ = inspect.signature(data.fit)

    def __call__(self, roc, **arguments):
        from sklearn.base import clone

        # Images of the pairs have no names.
        fresh = clone(roc).set_params(resample="identities")
        return used(self.data.fit(fresh, **arguments))


class _Refit:
    """The method fit of a fresh copy."""

    def __init__(self, estimator, method):
        self.estimator = estimator
        if method == "fit_pairs":
            self.estimator = type(estimator)(resample="identities", n_resamples=10)
        self.method = method
        self.__signature__ = inspect.signature(getattr(estimator, method))

    def __call__(self, **arguments):
        from sklearn.base import clone

        return used(getattr(clone(self.estimator), self.method)(**arguments))


class _Scored:
    """A function that makes a scorer, whose call scores the data with it."""

    def __init__(self, function):
        self.function = function
        self.__signature__ = inspect.signature(function)

    def __call__(self, **options):
        from sklearn.preprocessing import FunctionTransformer

        scorer = self.function(**options)
        return scorer(FunctionTransformer().fit(X), X, Y, sensitive_features=GROUP)


def used(estimator):
    """What a fitted estimator gives of the data."""
    if hasattr(estimator, "transform"):
        return estimator.transform(X)
    if hasattr(estimator, "estimate"):
        return estimator.estimate(0.1), estimator.estimate(0.1, rate="far")
    if hasattr(estimator, "score_matrix") and "sensitive_features_1" not in (
        inspect.signature(estimator.score_matrix).parameters
    ):
        return estimator.score_matrix(X[:4], X)
    return None


@cache
def types_of(name):
    """Parameter -> its type, as the docstring of a public name says."""
    obj = public_names()[name]
    if name in SCORERS:
        kinds = dict.fromkeys(("X", "y", "sensitive_features", "domain"), "array-like")
        return kinds
    section = "Parameters"
    doc = FunctionDoc(obj)
    if inspect.isclass(obj):
        doc = ClassDoc(obj, config={"show_class_members": False})
        section = "Attributes" if name in ("EmbeddingData", "PairData") else section
    return {
        name.strip(): entry.type
        for entry in doc[section]
        for name in entry.name.split(",")
        if not name.strip().startswith("*")
    }


def _valid(name, function, types):
    """Valid arguments: those that have to be given, and those that make a call short."""
    own = OF_SUBJECT.get(name, OF_SUBJECT.get(name.rpartition(".")[2], {}))
    given = dict(OF_SUBJECT.get(name, {}))
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if parameter.name in own:
            given[parameter.name] = own[parameter.name]
        elif parameter.default is parameter.empty or parameter.name in OPTIONAL:
            value = _valid_value(parameter.name, types.get(parameter.name, ""))
            if value is not None or parameter.default is parameter.empty:
                given[parameter.name] = value
    return given


def _valid_value(name, text):
    if name in VALID and VALID[name] is not None:
        return VALID[name]
    made = {
        "roc": roc_of_groups,
        "other": roc_of_groups,
        "before": embedding_data,
        "after": embedding_data,
        "data": embedding_data,
        "found": small_audit if "Report" in text else lambda: records()["InstanceFAR"],
        "inertias": lambda: records()["IdentityInertia"],
        "bench": bench,
        "projector": dynamic_projector,
        "estimator": _transformer,
        "attributes": lambda: ("gender",),
    }
    return made[name]() if name in made else None


@cache
def _transformer():
    from sklearn.decomposition import PCA

    return PCA(3).fit(X)


@cache
def dynamic_projector():
    from skfairfr import TripletProjector

    options = {"max_epochs": 2, "sampling": "dynamic", "random_state": 0, "far": 0.1}
    return TripletProjector(validation_fraction=0.3, **options).fit(X, Y, GROUP)


# ---- cases ------------------------------------------------------------------------------


def _call(function, arguments):
    """The call in a folder of its own, silently, with what it drew thrown away."""
    from matplotlib import pyplot

    silent = io.StringIO()
    with (
        warnings.catch_warnings(),
        TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        contextlib.redirect_stdout(silent),
        contextlib.redirect_stderr(silent),
    ):
        warnings.simplefilter("ignore")
        if "path" in arguments:
            _write_files()
        arrays = {n: a.copy() for n, a in arguments.items() if type(a) is np.ndarray}
        try:
            return function(**arguments)
        finally:
            pyplot.close("all")
            for name, array in arrays.items():
                if summary(array) != summary(arguments[name]):
                    raise ChangedError(name)


class ChangedError(Exception):
    """A call changed an array of its caller."""


def _write_files():
    for reader in ("npz", "csv"):
        for file, data in files.undamaged(reader)[0].items():
            Path(file).write_bytes(data)


def call(names, rng):
    """The name of a subject, and one or two odd arguments: (parameter, shown, change)."""
    name = rng.choice(names)
    types = types_of(name)
    parameters = sorted(p for p, text in types.items() if kinds_of(text))
    changed = rng.sample(parameters, min(rng.randint(1, 2), len(parameters)))
    return name, [(p, *odd_value(types[p], rng, p in WORK)) for p in changed]


def case(name, changes):
    """A case of a subject with odd arguments; None if an argument cannot be changed so."""
    chosen = subject(name)
    arguments = dict(chosen.valid)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for parameter, _, change in changes:
                arguments[parameter] = change(_changeable(chosen, parameter))
    except Exception:
        return None
    shown = ", ".join(f"{parameter}={text}" for parameter, text, _ in changes)
    return Case(
        lambda: _call(chosen.function, arguments),
        chosen.usual,
        lambda: f"{name}({shown})",
        documented(name),
        X.nbytes,
        chosen.seconds,
    )


@cache
def documented(name):
    """Types of the errors that a public name may end with, as its docstring says.

    An estimator is also fitted, and data are audited: with what those raise. TypeError is
    scikit-learn's, of an array of a kind that it refuses.
    """
    obj = public_names().get(name)
    if obj is None:
        return DOCUMENTED
    used_as = ("__init__", "fit", "fit_pairs", "transform")
    docs = [FunctionDoc(obj)]
    if inspect.isclass(obj):
        methods = [getattr(obj, method, None) for method in used_as]
        docs = [ClassDoc(obj, config={"show_class_members": False})]
        docs += [FunctionDoc(method) for method in methods if method is not None]
    if name in PRODUCTS:
        docs.append(FunctionDoc(public_names()["audit_data"]))
    named = {entry.type for doc in docs for entry in doc["Raises"]}
    return (*map(_error_of, sorted(named)), TypeError) if named else DOCUMENTED


def _error_of(name):
    """The type of error that a docstring names."""
    known = [
        builtins,
        sklearn.exceptions,
        importlib.import_module("skfairfr.utils._errors"),
    ]
    return next(getattr(m, name) for m in known if hasattr(m, name))


def _changeable(chosen, parameter):
    """A valid value that can be changed, also of what is left out otherwise."""
    value = chosen.valid.get(parameter)
    if value is None and "array" in kinds_of(chosen.types[parameter]):
        value = VALID.get(parameter, GROUP)
    return GROUP if value is None else value


def cases(seed, first, n_cases, names=None):
    """Calls with odd arguments.

    Parameters
    ----------
    seed, first, n_cases : int
    names : sequence of str, default=None
        Of subjects; None takes all that have parameters.
    """
    if names is None:
        names = [n for n in subject_names() for _ in range(_weight(n))]
    for k in range(first, first + n_cases):
        rng, made = random_of(seed, k), None
        while made is None:
            made = case(*call(names, rng))
        yield made


def _weight(name):
    if name in PRODUCTS:
        return 50
    return 10 if name in (*SLOW, *SLOWEST) else 50


def prepare():
    """Make every valid call, before the processes that make others are copied."""
    subjects()
