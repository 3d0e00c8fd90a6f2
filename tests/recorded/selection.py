"""Scorers, searches, folds and trade-offs."""

import numpy as np
from sklearn import config_context
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.preprocessing import FunctionTransformer

from skfairfr import (
    BestTradeOff,
    IdentityKFold,
    face_labels,
    fairness_scores,
    make_fairness_scorer,
    metrics,
)
from skfairfr.model_selection import roc_over_splits
from tests.recorded.data import Stretch, columns, faces, with_unknown
from tests.recorded.searches import FOLDS, GRID, one_level, people, search

AS_THEY_ARE = FunctionTransformer()
SCORERS = (
    *("bfar_scorer", "bfrr_scorer", "frr_at_far_scorer"),
    *("far_max_geomean_scorer", "frr_max_geomean_scorer"),
)
SCORES = {
    "default": {},
    "group": {"how": None, "group": "male", "operating_point": "overall"},
    "overall": {"rate": "frr", "how": None, "operating_point": "overall", "far": 0.01},
    "identity": {"average": "identity", "far": 0.02},
    "same_group": {"impostors": "same_group", "how": "gini", "far": 0.02},
    "own point": {"rate": "frr", "how": "difference", "operating_point": "group"},
    "ratio": {"how": ("ratio", "male", "female"), "far": 0.02},
    "levels": {"far": 1e-7},
}


def record_scorers(record):
    X, y = people()
    data = faces(90)
    for name in SCORERS:
        scorer = getattr(metrics, name)
        record(f"{name} repr", repr, scorer)
        record(name, scorer, AS_THEY_ARE, X, y)
        record(
            f"{name} plain y", scorer, AS_THEY_ARE, X, data.y, data.sensitive_features
        )
        record(f"{name} few", scorer, AS_THEY_ARE, X[:40], y[:40])
        record(f"{name} no groups", scorer, AS_THEY_ARE, X, data.y)
    for name, options in SCORES.items():
        scorer = record(f"make_fairness_scorer {name}", make_fairness_scorer, **options)
        record(f"make_fairness_scorer {name} score", scorer, Stretch(2.0), X, y)


def record_several_scores(record):
    X, y = people()
    for far in (0.02, (0.05, 0.01), [1e-3], 1e-7):
        for ratio in (None, ("male", "female")):
            scorer = fairness_scores(far, ratio=ratio)
            record(f"fairness_scores {far} {ratio}", scorer, Stretch(3.0), X, y)
            record(
                f"fairness_scores {far} {ratio} few",
                scorer,
                AS_THEY_ARE,
                X[:60],
                y[:60],
            )
            record(f"fairness_scores {far} {ratio} repr", repr, scorer)
    domain = np.where(np.arange(len(X)) % 2, "selfie", "document")
    data = faces(90)
    labels = face_labels(data.y, data.sensitive_features, domain)
    record("fairness_scores domain", fairness_scores(0.02), AS_THEY_ARE, X, labels)
    unknown = face_labels(data.y, with_unknown(data.sensitive_features))
    record("fairness_scores unknown", fairness_scores(0.02), AS_THEY_ARE, X, unknown)
    record("face_labels", face_labels, data.y, data.sensitive_features, domain)
    record("face_labels identities", face_labels, data.y.astype(str))


def results_of(fitted):
    """Scores and choice of a search, without its times."""
    timed = ("mean_fit", "std_fit", "mean_score", "std_score")
    scores = {n: v for n, v in fitted.cv_results_.items() if not n.startswith(timed)}
    return scores | {
        "best_index_": fitted.best_index_,
        "best": str(fitted.best_params_),
    }


def record_searches(record):
    record("search", lambda: results_of(search()))
    record("search pipeline", lambda: results_of(search(True)))
    record("search one level", lambda: results_of(one_level()))
    X, y = people()
    for name in SCORERS:
        scorer = getattr(metrics, name)
        record(
            f"search {name}", cross_val_score, Stretch(), X, y, scoring=scorer, cv=FOLDS
        )
    data = faces(90)
    with config_context(enable_metadata_routing=True):
        stretch = Stretch().set_fit_request(sensitive_features=True)
        routed = GridSearchCV(
            stretch, GRID, scoring=make_fairness_scorer(far=0.05), cv=FOLDS
        )
        record("search routed", routed.fit, X, data.y, sensitive_features=y["group"])
        record("search routed results", lambda: results_of(routed))
    plain = GridSearchCV(
        Stretch(), GRID, scoring=fairness_scores(0.05), refit=BestTradeOff()
    )
    record("search without groups", plain.fit, X, data.y)


def record_trade_offs(record):
    results = one_level().cv_results_
    for chosen in (
        ("bfar", "frr_at_far"),
        ("bfrr", "frr_at_far"),
        ("bfar", "bfrr"),
        ("bfar",),
    ):
        record(f"BestTradeOff {chosen}", BestTradeOff(chosen), results)
    for name, bfar in {
        "zero": [0.0, -1.0, -2.0],
        "nan": [np.nan, -3.0, -2.0],
        "all nan": [np.nan] * 3,
        "positive": [1.0, 2.0, 3.0],
    }.items():
        table = {"mean_test_bfar": bfar, "mean_test_frr_at_far": [-0.1, -0.2, -0.05]}
        record(f"BestTradeOff {name}", BestTradeOff(), table)
    record("BestTradeOff absent", BestTradeOff(("bfar", "gone")), results)
    record("BestTradeOff signed", BestTradeOff(("bfar", "far_log_ratio")), results)


def record_folds(record):
    X, y, groups = columns(faces())
    labels = face_labels(y, groups)
    for options in ({}, {"n_splits": 3, "shuffle": True, "random_state": 0}):
        folds = IdentityKFold(**options)
        record(f"IdentityKFold {options}", lambda f=folds: list(f.split(X, labels)))
        record(f"IdentityKFold {options} plain", lambda f=folds: list(f.split(X, y)))
        record(
            f"IdentityKFold {options} routed",
            lambda f=folds: list(f.split(X, y, sensitive_features=groups)),
        )
        record(f"IdentityKFold {options} number", folds.get_n_splits, X, labels)
        record(
            f"IdentityKFold {options} few", lambda f=folds: list(f.split(X[:9], y[:9]))
        )


def record_splits(record):
    X, y, groups = columns(faces())
    for options in (
        {},
        {"group": "female"},
        {"cv": 3},
        {"cv": IdentityKFold(3, shuffle=True, random_state=1)},
        {"domain": np.arange(len(y)) % 2},
    ):
        record(
            f"roc_over_splits {[*options]} {options.get('cv') is not None}"
            f" {type(options.get('cv')).__name__}",
            roc_over_splits,
            *(X, y),
            far=(0.2, 0.05),
            sensitive_features=groups,
            **options,
        )
