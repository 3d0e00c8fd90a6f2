"""Calls of every public name, with values that its docstring allows or only just does not."""

import contextlib
import inspect
import io
import re
import time
import warnings
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpydoc.docscrape import ClassDoc, FunctionDoc
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.preprocessing import FunctionTransformer

from skfairfr import SimilarityROC, TripletProjector, metrics
from skfairfr.comparators import GroupMeanRemover
from skfairfr.model_selection import compare_mitigations
from skfairfr.report import (
    EmbeddingData,
    PairData,
    audit,
    audit_data,
    certify_data,
    compare_systems,
    monitor_log,
)
from tests.fuzz import files
from tests.fuzz.driver import Case, random_of, summary
from tests.fuzz.values import kinds_of, odd_value
from tests.test_docstrings import public_objects

# Calls of a tenth of a second and more, which are made less often.
SLOW = re.compile(
    r"compare_|roc_over_splits|SystemsComparison|Report\.|AdversarialProjector|plan_test|worst_"
    r"|.*\.from_estimator|.*\.from_roc|GroupFARDisplay"
)
SCORERS = (
    *("bfar_scorer", "bfrr_scorer", "frr_at_far_scorer"),
    *("far_max_geomean_scorer", "frr_max_geomean_scorer"),
)
# Public names that nobody calls with data of their own.
LEFT_OUT = {
    # Made or called inside the package; base classes, errors and lists of words.
    *("Adjustment", "PreparedImages", "Comparator", "ArgumentError", "Reason"),
    *("spelled", "adjust_tile", "Bench", "get_params", "PairData.by", "genuine_pairs"),
    # Of a torch module or a training loop: they take tensors, without checks that cost.
    *("forward", "held_out", "logits", "penalty", "discriminator_loss"),
    "semi_hard_negatives",
    # files.py damages what they read.
    *("load", "load_mitigation", "load_decisions", "load_score_matrix", "load_trials"),
    *("join_metadata", "monitor_log", "load_candidates", "read_candidates"),
    # Numpy's own words about an index are known to everybody.
    "take",
    # They take a fitted search.
    *("KappaGridDisplay.from_search", "TradeOffDisplay.from_search"),
}
# Made by hand, unlike other results.
MADE = ("Policy", "Dependence", "EmbeddingData", "PairData")
# A refusal; TypeError is scikit-learn's, of an array of a kind that it refuses.
ERRORS = (ValueError, TypeError, OSError, ImportError)

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
    **{"max_fmr": 0.1, "selection_size": 64, "validation_fraction": 0.0},
    **{"folder": "out", "path": "saved", "source": "sp800-63a-4"},
}
NO_PEOPLE = {"identity_1": None, "identity_2": None}
# A scorer at a FAR of 1e-3 needs thousands of pairs.
_MANY = np.repeat(np.arange(100), 3)
OF_SCORER = {
    "X": _RNG.normal(size=(100, 5))[_MANY] + 0.7 * _RNG.normal(size=(300, 5)),
    **{"y": _MANY, "sensitive_features": np.array(["f", "m"])[_MANY % 2]},
}
# Every second person is enrolled.
ENROLLED = np.arange(N) % 6 == 0
GALLERY = {"X_gallery": X[ENROLLED] + 0.1, "y_gallery": Y[ENROLLED]}
CANDIDATES = {
    "search": np.repeat(np.arange(N), 2),
    "candidate": np.tile(Y[ENROLLED][:2], N),
    "y_score": (X @ X[ENROLLED][:2].T).ravel(),
    "y_gallery": Y[ENROLLED],
}
# Where a name means something else.
OF_SUBJECT = {
    "IdentificationROC": {"n_resamples": 10},
    "IdentificationROC.fit": GALLERY,
    "IdentificationROC.estimate": {"fpir": 0.1, "rate": "fpir"},
    "IdentificationROC.compare": {"fpir": 0.1, "rate": "fpir"},
    "IdentificationROC.certify": {"fpir": 0.5},
    "IdentificationROC.cmc": {"ranks": [1, 2]},
    "IdentificationROC.threshold_at": {"fpir": 0.1},
    "IdentificationROC.alarms": {"fpir": 0.1, "threshold": None},
    "IdentificationROC.fpir_matrix": {"fpir": 0.1, "threshold": None},
    "GallerySizeDisplay.from_identification": {"fpir": 0.1, "rate": "fpir"},
    "IdentificationROC.fit_candidates": CANDIDATES,
    "IdentificationROC.fit_matrix": {
        "scores": X @ X[ENROLLED].T,
        "y_gallery": Y[ENROLLED],
    },
    "identify": GALLERY | {"fpir": 0.1},
    "identify_data": {"fpir": 0.1},
    "compare_searches": {"fpir": 0.1},
    "to_bands": {"values": np.arange(N), "cuts": [5.0, 20.0], "people": np.arange(N)},
    "certify_data": {"limits": {"max_fmr": 0.5}},
    "audit_decisions": {"error": (np.arange(N) % 5 == 0).astype(int)},
    "RateMonitor.update": {"error": (np.arange(N) % 5 == 0).astype(int)},
    "PairData.by": {"names": ("gender",)},
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
    "Policy": {"fmr": (0.1,), "threshold": (), "at": {}, "limits": {"max_fmr": 0.1}},
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
# As many resamples, epochs, units or processes as they say, each of them asked for: a large
# number is no damage, and takes for ever or all memory.
WORK = {
    "n_resamples",
    "max_epochs",
    "discriminator_epochs",
    "n_jobs",
    "groups",
    "hidden_dim",
    "output_dim",
}
# Optional arguments that are given where they have a valid value here.
OPTIONAL = {
    *("far", "n_resamples", "random_state", "n_splits", "inner_splits", "max_epochs"),
    *("n_clusters", "min_identities", "min_pairs", "rate", "selection_size", "X", "y"),
    *("sensitive_features", "identity_1", "identity_2", "attribute", "max_fmr"),
}


@cache
def public():
    """Name -> object of every public callable: ``bfar``, ``Policy.read``."""
    found = {name.split(".", 2)[2]: obj for name, obj in public_objects().items()}
    return {
        name: obj
        for name, obj in sorted(found.items())
        if not LEFT_OUT & {name, *name.split(".")}
    }


# ---- objects whose methods are called ----------------------------------------------------

QUICK = {"far": 0.1}


@cache
def fitted(several=False, domain=False):
    roc = SimilarityROC(n_resamples=10, random_state=0, far_max=0.2)
    groups = {"gender": GROUP, "odd": Y % 4 < 2} if several else GROUP
    return roc.fit(X, Y, groups, domain=np.arange(N) % 2 if domain else None)


@cache
def embedding_data():
    return EmbeddingData(X, Y, {"gender": GROUP})


def other_embedding_data():
    return EmbeddingData(X * np.arange(1, X.shape[1] + 1), Y, {"gender": GROUP})


@cache
def pair_data():
    people = (Y[LEFT], Y[RIGHT])
    return PairData(SCORES, people, {"gender": (GROUP[LEFT], GROUP[RIGHT])})


@cache
def small_audit():
    return audit(X, Y, GROUP, **QUICK)


@cache
def comparison():
    other = EmbeddingData(X + 0.3, Y, {"gender": GROUP})
    return compare_systems(embedding_data(), other, **QUICK)


@cache
def bench():
    methods = {"means": GroupMeanRemover()}
    return compare_mitigations(
        X, Y, GROUP, methods, n_splits=2, inner_splits=2, **QUICK
    )


@cache
def dynamic_projector():
    options = {"max_epochs": 2, "sampling": "dynamic", "random_state": 0, "far": 0.1}
    return TripletProjector(validation_fraction=0.3, **options).fit(X, Y, GROUP)


@cache
def of_images(function):
    options = {"far": 0.1} if function is metrics.instance_far else {}
    return function(X, Y, sensitive_features=GROUP, **options)


@cache
def display(name):
    cls = getattr(metrics, name)
    if name.startswith("IdentityInertia"):
        return cls.from_embeddings(X, Y, sensitive_features=GROUP)
    if name.startswith("InstanceFAR"):
        return cls.from_embeddings(X, Y, far=0.1, sensitive_features=GROUP)
    if name == "KappaGridDisplay":
        return cls(ratio=np.ones((1, 2, 2)), x=RATES, y=RATES)
    if name == "TradeOffDisplay":
        front = {"front": np.ones(2, bool), "params": [{}, {"a": 1}]}
        return cls(x=RATES, y=RATES[::-1], **front)
    made = {
        "MitigationsDisplay": lambda: cls.from_bench(bench()),
        "GroupWeightsDisplay": lambda: cls(weights=np.ones((3, 2)), groups=("f", "m")),
    }
    options = {"far": 0.1} if name.startswith("Group") else {}
    return made[name]() if name in made else cls.from_roc(fitted(), **options)


@cache
def searched():
    roc = metrics.IdentificationROC(n_resamples=10, random_state=0)
    return roc.fit(X, Y, GROUP, **GALLERY)


@cache
def gallery():
    rows = *GALLERY.values(), {"gender": GROUP[ENROLLED]}
    return EmbeddingData(*rows)


@cache
def monitoring():
    with TemporaryDirectory() as folder:
        files.READERS["log"].write(Path(folder))
        log = Path(folder, "log.csv")
        return monitor_log(
            log, "gender", attempt="attempt", limits={"max_fnmr_ratio": 3}
        )


def instance(name):
    """What the methods of a public class are called on."""
    made = {
        "Certificate": lambda: certify_data(embedding_data(), limits={"max_fmr": 0.5}),
        "IdentificationROC": searched,
        "Monitoring": monitoring,
        "Report": small_audit,
        "EmbeddingData": embedding_data,
        "PairData": pair_data,
        "SystemsComparison": comparison,
        "SimilarityROC": fitted,
    }
    if name in made:
        return made[name]()
    return display(name) if name.endswith("Display") else made_of(public()[name])


@cache
def made_of(cls):
    """An object of a class, fitted where it can be."""
    names = inspect.signature(cls).parameters
    options = {n: VALID[n] for n in names if n in OPTIONAL and n in VALID}
    options |= {n: v for n, v in OF_SUBJECT.get(cls.__name__, {}).items() if n in names}
    made = cls(**options)
    more = OF_SUBJECT.get(f"{cls.__name__}.fit", {})
    return made.fit(X, Y, GROUP, **more) if hasattr(cls, "fit") else made


# ---- what is called --------------------------------------------------------------------


@cache
def subject_names():
    """Names of the public callables that have parameters, but not of results."""
    return [
        name
        for name in public()
        if not _is_result(name) and any(map(kinds_of, types_of(name).values()))
    ]


def _is_result(name):
    """Whether a name is that of a class whose objects nobody makes by hand, or its method."""
    obj = public().get(name.partition(".")[0])
    if not inspect.isclass(obj) or name in MADE:
        return False
    recorded = hasattr(obj, "__dataclass_fields__") or issubclass(obj, tuple)
    if "." in name:
        return recorded and name.endswith(".to_frame") and not name.startswith("Report")
    return recorded or name.endswith("Display") or issubclass(obj, Exception)


@cache
def types_of(name):
    """Parameter -> its type, as the docstring of a public name says."""
    obj, section = public()[name], "Parameters"
    if name in SCORERS:
        return dict.fromkeys(("X", "y", "sensitive_features", "domain"), "array-like")
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


def _callable(name):
    """A function of a public name that ends in a result, and what has its parameters."""
    obj = public()[name]
    holder, _, method = name.partition(".")
    if name in ("EmbeddingData", "PairData"):
        return lambda **parts: audit_data(obj(**parts), **QUICK), obj
    if inspect.isclass(obj) and hasattr(obj, "fit"):
        more = OF_SUBJECT.get(f"{name}.fit", {})
        return lambda **options: used(obj(**options).fit(X, Y, GROUP, **more)), obj
    if name in ("make_fairness_scorer", "fairness_scores"):
        return lambda **options: scored(obj(**options), X, Y, GROUP), obj
    if name in SCORERS:
        return partial(scored, obj), lambda X, y, *, sensitive_features, domain=None: 0
    if method == "fit" and holder in ("EmbeddingData", "PairData"):
        data = instance(holder)
        # Images of the pairs have no names.
        options = {"resample": "identities"}
        return (
            lambda roc, **a: used(data.fit(clone(roc).set_params(**options), **a)),
            data.fit,
        )
    if method in ("fit", "fit_pairs", "fit_candidates", "fit_matrix"):
        made = made_of(public()[holder])
        if method == "fit_pairs":
            made = SimilarityROC(resample="identities", n_resamples=10)
        return lambda **a: used(getattr(clone(made), method)(**a)), getattr(
            made, method
        )
    if name in ("SimilarityROC.by", "SimilarityROC.far_asymmetry"):
        obj = getattr(fitted(several=method == "by", domain=method != "by"), method)
    elif method and not method.startswith(("from_", "read", "shipped", "schema")):
        obj = getattr(instance(holder), method)
    elif method:
        obj = getattr(public()[holder], method)
    return obj, obj


def scored(scorer, X, y, sensitive_features, domain=None):
    """What a scorer says of embeddings as they are."""
    as_they_are = FunctionTransformer().fit(OF_SCORER["X"])
    return scorer(
        as_they_are, X, y, sensitive_features=sensitive_features, domain=domain
    )


def used(estimator):
    """What a fitted estimator gives of the data."""
    if hasattr(estimator, "transform"):
        return estimator.transform(X)
    if hasattr(estimator, "estimate"):
        rates = "fnir fpir" if hasattr(estimator, "cmc") else "frr far"
        return [estimator.estimate(0.1, rate=rate) for rate in rates.split()]
    if hasattr(estimator, "score_matrix") and "sensitive_features_1" not in (
        inspect.signature(estimator.score_matrix).parameters
    ):
        return estimator.score_matrix(X[:4], X)
    return None


@cache
def subject(name):
    """A function, valid arguments, what it gives of them, and seconds where it takes many."""
    function, described = _callable(name)
    valid = _valid(name, described)
    started = time.process_time()
    usual = summary(_call(function, valid))
    seconds = time.process_time() - started
    return function, valid, usual, seconds if name == "compare_mitigations" else 0.0


def _valid(name, described):
    """Valid arguments: those that have to be given, and those that make a call short."""
    own = OF_SUBJECT.get(name, OF_SUBJECT.get(name.rpartition(".")[2], {}))
    given = dict(OF_SUBJECT.get(name, {}))
    for parameter in inspect.signature(described).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        has_to_be = parameter.default is parameter.empty
        if parameter.name in own:
            given[parameter.name] = own[parameter.name]
        elif has_to_be or parameter.name in OPTIONAL:
            value = _valid_value(parameter.name, types_of(name).get(parameter.name, ""))
            if value is not None or has_to_be:
                given[parameter.name] = value
    return given


def _valid_value(name, text):
    if VALID.get(name) is not None:
        return VALID[name]
    made = {
        **dict.fromkeys(("roc", "other"), fitted),
        "identification": searched,
        **dict.fromkeys(("before", "data"), embedding_data),
        "after": other_embedding_data,
        "gallery": gallery,
        "galleries": lambda: [gallery(), gallery()],
        "found": small_audit
        if "Report" in text
        else partial(of_images, metrics.instance_far),
        "inertias": partial(of_images, metrics.identity_inertia),
        "bench": bench,
        "projector": dynamic_projector,
        "estimator": PCA(3).fit(X),
        "attributes": ("gender",),
    }
    if name == "other" and text.startswith("IdentificationROC"):
        name = "identification"
    value = made.get(name)
    return value() if callable(value) else value


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
            for reader in ("npz", "csv"):
                for file, data in files.undamaged(reader)[0].items():
                    Path(file).write_bytes(data)
        arrays = {n: a.copy() for n, a in arguments.items() if type(a) is np.ndarray}
        try:
            return function(**arguments)
        finally:
            pyplot.close("all")
            for name, array in arrays.items():
                if summary(array) != summary(arguments[name]):
                    raise RuntimeError(f"{name} of the caller was changed")


def call(names, rng):
    """The name of a subject, and one or two odd arguments: (parameter, shown, change)."""
    name = rng.choice(names)
    types = types_of(name)
    parameters = sorted(p for p, text in types.items() if kinds_of(text))
    changed = rng.sample(parameters, min(rng.randint(1, 2), len(parameters)))
    return name, [(p, *odd_value(types[p], rng, p in WORK)) for p in changed]


def case(name, changes):
    """A case of a subject with odd arguments; None if an argument cannot be changed so."""
    function, valid, usual, seconds = subject(name)
    arguments = dict(valid)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for parameter, _, change in changes:
                value = valid.get(parameter)
                if value is None and "array" in kinds_of(types_of(name)[parameter]):
                    value = VALID.get(parameter)
                arguments[parameter] = change(GROUP if value is None else value)
    except Exception:
        return None
    shown = ", ".join(f"{parameter}={text}" for parameter, text, _ in changes)
    run = partial(_call, function, arguments)
    return Case(run, usual, f"{name}({shown})", ERRORS, seconds)


def cases(seed, first, n_cases):
    """Calls with odd arguments."""
    names = [n for n in subject_names() for _ in range(1 if SLOW.match(n) else 5)]
    for k in range(first, first + n_cases):
        rng, made = random_of(seed, k), None
        while made is None:
            made = case(*call(names, rng))
        yield made


def prepare():
    """Make every valid call, before the processes that make others are copied."""
    for name in subject_names():
        subject(name)
