"""Sets of which only a tail of the impostor pairs is held, and levels below it."""

from functools import cache

import numpy as np

from skfairfr import SimilarityROC, make_face_embeddings, metrics
from tests.recorded.roc import spread

FAR_MAX = 2e-3
EXACT = (5e-4, 2e-3)
ABOVE = (1e-3, 5e-3, 0.05, 0.4)
FITS = {
    "pair all": {},
    "identity all": {"average": "identity"},
    "pair same_group": {"impostors": "same_group"},
    "identity same_group": {"average": "identity", "impostors": "same_group"},
    "images": {"resample": "images"},
    "both offdiagonal": {"resample": "both", "method": "offdiagonal"},
}
ASKED = {
    "frr": {"rate": "frr"},
    "far": {"rate": "far"},
    "far of b": {"rate": "far", "group": "b"},
    "far of a, b": {"rate": "far", "group": ("a", "b")},
    "far max_min": {"rate": "far", "how": "max_min"},
    "frr worst": {"rate": "frr", "how": "max_min", "operating_point": "worst_group"},
    "far own": {"rate": "far", "how": spread, "operating_point": "group"},
}


@cache
def many():
    """About 3,500 images of three groups: more pairs than are held whole."""
    return make_face_embeddings(
        1200,
        (2, 4),
        8,
        groups={"a": 0.6, "b": 0.38, "c": 0.02},
        kappa={"a": 25.0, "b": 20.0, "c": 20.0},
        heterogeneity=0.4,
        n_domains=2,
        random_state=0,
    )


def fitted(domain=None, **options):
    data = many()
    options = {
        "far_max": FAR_MAX,
        "resample": "identities",
        "n_resamples": 8,
        "random_state": 0,
    } | options
    roc = SimilarityROC(**options)
    return roc.fit(data.X, data.y, data.sensitive_features, domain=domain)


def record_levels(record):
    record.keep("tail n images", len(many().y))
    for name, options in FITS.items():
        roc = fitted(**options)
        for asked, question in ASKED.items():
            key = f"tail {name} {asked}"
            record(f"{key} exact", roc.estimate, EXACT, **question)
            record(f"{key} above", roc.estimate, ABOVE, **question)
        record(f"tail {name} threshold_at", roc.threshold_at, ABOVE)
        record(f"tail {name} eer", roc.equal_error_rate)


def record_thresholds(record):
    """Given thresholds: in the tail, a little below it (a deeper pass), far below it."""
    for name in ("pair all", "identity same_group"):
        roc = fitted(**FITS[name])
        levels = [1e-3, 3e-3, 6e-3, 0.02, 0.3]
        thresholds = np.atleast_1d(
            fitted(**FITS[name], far_max=0.5).threshold_at(levels)
        )
        record.keep(f"tail {name} thresholds", thresholds)
        for level, threshold in zip(levels, thresholds, strict=True):
            for asked in ("frr", "far", "far of b", "far of a, b", "far max_min"):
                key = f"tail {name} {asked} threshold of {level}"
                record(key, roc.estimate, threshold=threshold, **ASKED[asked])


def record_the_rest(record):
    roc, other = fitted(), fitted(similarity="dot")
    record("tail curve", roc.curve, ABOVE)
    record("tail curve max_min", roc.curve, ABOVE, rate="far", how="max_min")
    record("tail compare", roc.compare, other, ABOVE)
    record("tail resamples", roc.resamples, 0.05, rate="far", group="b")
    record("tail matrix", roc.far_matrix, 1e-3)
    record("tail matrix above", roc.far_matrix, 0.05)
    record("tail summary", roc.score_summary)
    for group in ("a", "c"):
        record(f"tail eer of {group}", roc.equal_error_rate, group)
    data = many()
    record(
        "tail instance_far",
        metrics.instance_far,
        *(data.X, data.y),
        far=1e-3,
        sensitive_features=data.sensitive_features,
    )
    fits = {"one side": roc, "domains": fitted(domain=data.domain, far_max=1e-3)}
    for name, roc in fits.items():
        for display in ("SimilarityROCDisplay", "ErrorRateDisplay"):
            record(f"tail {name} {display}", arrays_of_display, roc, display)
        record(f"tail {name} estimate", roc.estimate, ABOVE, how="max_min")
        record(f"tail {name} asymmetry", roc.far_asymmetry, 1e-3)
        record(f"tail {name} asymmetry above", roc.far_asymmetry, 0.05)


def arrays_of_display(roc, name):
    display = getattr(metrics, name).from_roc(roc)
    return {n: v for n, v in vars(display).items() if not n.endswith("_")}


def record_deeper_thresholds(record):
    """Thresholds a little below a tail that reaches far."""
    roc = fitted(far_max=0.3)
    for level in (0.5, 0.7, 0.95):
        threshold = fitted(far_max=0.9).threshold_at(level)
        for asked in ("far", "frr", "far of b", "far of a, b"):
            key = f"deeper {asked} threshold of {level}"
            record(key, roc.estimate, threshold=threshold, **ASKED[asked])


def record_deeper_resamples(record):
    """Few people, of whom some resamples need scores below the tail."""
    data = make_face_embeddings(
        8,
        750,
        8,
        groups={"a": 0.5, "b": 0.5},
        crowding={"a": 20.0, "b": 0.0},
        kappa=40.0,
        random_state=0,
    )
    for name, options in FITS.items():
        settings = {
            "resample": "identities",
            "far_max": 0.15,
            "random_state": 0,
        } | options
        roc = SimilarityROC(n_resamples=40, **settings)
        roc.fit(data.X, data.y, data.sensitive_features)
        for asked in ("frr", "far of b", "frr worst", "far own"):
            record(f"deeper {name} {asked}", roc.estimate, 0.15, **ASKED[asked])
        record(f"deeper {name} resamples", roc.resamples, [0.01, 0.15])
