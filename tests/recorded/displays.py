"""Displays: what they store, not what they draw."""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.preprocessing import FunctionTransformer

from skfairfr import SimilarityROC, TripletProjector, metrics
from tests.recorded.data import columns, faces, tied
from tests.recorded.searches import baseline, one_level, people, search

FROM_ROC = {
    "SimilarityROCDisplay": [
        {},
        {"far": [0.02, 0.1], "groups": ["female"]},
        {"operating_point": "worst_group"},
        {"operating_point": "group"},
    ],
    "DisparityCurveDisplay": [
        {},
        {"rate": "frr", "how": "gini", "far": [0.02, 0.1]},
        {"operating_point": "worst_group"},
    ],
    "ErrorRateDisplay": [{}, {"far": [0.01, 0.1]}, {"threshold": [0.2, 0.5, 0.7]}],
    "GroupFARDisplay": [{"far": 0.05}, {"threshold": 0.5}],
    "ScoreHistogramDisplay": [
        {},
        {"far": 0.1, "groups": ["male"]},
        {"edges": [-1, 0, 0.5, 1]},
    ],
}


def stored(display):
    """Attributes of a display but for those of its figure, and texts of its axes."""
    found = {n: v for n, v in vars(display).items() if not n.endswith("_")}
    axes = np.atleast_1d(getattr(display, "ax_", np.array([], dtype=object))).ravel()
    texts = [
        [
            ax.get_title(),
            ax.get_xlabel(),
            ax.get_ylabel(),
            *(t.get_text() for t in ax.texts),
        ]
        for ax in axes
    ]
    legends = [ax.get_legend() for ax in axes]
    labels = [
        [t.get_text() for t in box.get_texts()] for box in legends if box is not None
    ]
    plt.close("all")
    return found | {"texts": texts, "legends": labels}


def record_of_rocs(record):
    X, y, groups = columns(faces(60))
    options = {"resample": "identities", "n_resamples": 15, "random_state": 0}
    lone = np.where(y == y[0], "alone", groups)
    fits = {
        "two groups": SimilarityROC(**options).fit(X, y, groups),
        "no groups": SimilarityROC(**options).fit(X, y),
        "lone": SimilarityROC(**options).fit(X, y, lone),
        "tied": SimilarityROC(**options, average="identity").fit(*tied()),
    }
    for name, cases in FROM_ROC.items():
        display = getattr(metrics, name)
        for case in cases:
            for fit, roc in fits.items():
                key = f"{name} {case} {fit}"
                record(key, lambda d=display, r=roc, c=case: stored(d.from_roc(r, **c)))
        record(
            f"{name} from_estimator",
            lambda d=display, c=cases[0]: stored(
                d.from_estimator(
                    FunctionTransformer(),
                    X,
                    y,
                    groups,
                    roc=SimilarityROC(**options),
                    **c,
                )
            ),
        )


def record_of_embeddings(record):
    X, y, groups = columns(faces(60))
    for name, options in (
        ("IdentityInertiaDisplay", {"min_images": 3}),
        ("InstanceFARDisplay", {"far": 0.05}),
    ):
        display = getattr(metrics, name)
        record(
            f"{name} from_embeddings",
            lambda d=display, o=options: stored(
                d.from_embeddings(X, y, sensitive_features=groups, **o)
            ),
        )
        record(
            f"{name} from_estimator",
            lambda d=display, o=options: stored(
                d.from_estimator(FunctionTransformer(), X, y, groups, **o)
            ),
        )
        record(
            f"{name} one group",
            lambda d=display, o=options: stored(
                d.from_embeddings(X, y, sensitive_features=groups, groups=["male"], **o)
            ),
        )


def record_of_searches(record):
    metrics_of = {"x": "frr_at_far@5e-2", "y": "bfar@5e-2"}
    trade, grid = metrics.TradeOffDisplay, metrics.KappaGridDisplay
    axes = {"param_x": "weight", "param_y": "power"}
    record("TradeOffDisplay", lambda: stored(trade.from_search(one_level())))
    record(
        "TradeOffDisplay levels",
        lambda: stored(trade.from_search(search(), **metrics_of)),
    )
    record(
        "TradeOffDisplay baseline",
        lambda: stored(trade.from_search(search(), baseline=baseline(), **metrics_of)),
    )
    record(
        "TradeOffDisplay best",
        lambda: stored(
            trade.from_search(one_level(), baseline={"bfar": 2, "frr_at_far": 0.1})
        ),
    )
    record("KappaGridDisplay", lambda: stored(grid.from_search(one_level(), **axes)))
    for name, metric in {
        "one level": "far_log_ratio@5e-2",
        "levels": ["far_log_ratio@5e-2", "far_log_ratio@2e-2"],
        "disparity": "bfar@2e-2",
    }.items():
        for fitted in (search(), search(True)):
            record(
                f"KappaGridDisplay {name} {type(fitted.estimator).__name__}",
                lambda f=fitted, m=metric: stored(
                    grid.from_search(f, metric=m, **axes)
                ),
            )
    record("KappaGridDisplay absent", lambda: grid.from_search(search(True)))
    record(
        "KappaGridDisplay metric",
        lambda: grid.from_search(search(), metric="bfar", **axes),
    )
    record(
        "TradeOffDisplay signed",
        lambda: trade.from_search(one_level(), x="far_log_ratio"),
    )
    record("TradeOffDisplay absent", lambda: trade.from_search(one_level(), x="gone"))
    record(
        "TradeOffDisplay no baseline",
        lambda: trade.from_search(one_level(), baseline={}),
    )
    record.keep("search n people", len(people()[0]))


def record_of_projectors(record):
    options = {"max_epochs": 3, "device": "cpu", "random_state": 0, "far": 0.05}
    dynamic = {"sampling": "dynamic", "validation_fraction": 0.4}
    display = metrics.GroupWeightsDisplay
    for name, more in {
        "dynamic": dynamic,
        "natural": {"validation_fraction": 0.0},
    }.items():
        projector = TripletProjector(**(options | more)).fit(*columns(faces(60)))
        for kind in ("weights", "far"):
            record(
                f"GroupWeightsDisplay {name} {kind}",
                lambda p=projector, k=kind: stored(display.from_projector(p, kind=k)),
            )
