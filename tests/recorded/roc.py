"""SimilarityROC: every setting, every way to fit it, every question."""

from itertools import product

import numpy as np

from skfairfr import SimilarityROC, face_labels
from tests.recorded.data import columns, faces, listed, tied, with_unknown

LEVELS = (0.02, 0.1, 0.3)
SETTINGS = {
    "average": ("pair", "identity"),
    "impostors": ("all", "same_group"),
    "resample": ("images", "identities", "both"),
    "method": ("recentered", "naive", "multiplicative", "offdiagonal"),
}


def spread(rates):
    """A disparity of the caller."""
    return np.max(rates, axis=-1) - np.min(rates, axis=-1)


def questions(a, b):
    """Name -> what is asked, of data with the groups a and b."""
    found = {"frr": {"rate": "frr"}, "far": {"rate": "far"}}
    for rate in ("frr", "far"):
        found |= {
            f"{rate} of {a}": {"rate": rate, "group": a},
            f"{rate} ratio": {"rate": rate, "how": ("ratio", b, a)},
            f"{rate} worst point": {"rate": rate, "operating_point": "worst_group"},
            f"{rate} of {b} own point": {
                "rate": rate,
                "group": b,
                "operating_point": "group",
            },
        }
        for how in ("max_min", "gini"):
            for point in ("overall", "worst_group", "group"):
                asked = {"rate": rate, "how": how, "operating_point": point}
                found[f"{rate} {how} {point}"] = asked
    for how in ("max_geomean", "log_geomean", "difference", "std", spread):
        found[f"frr {getattr(how, '__name__', how)}"] = {"rate": "frr", "how": how}
    return found | {f"far of {a}, {b}": {"rate": "far", "group": (a, b)}}


def options_of(**changed):
    return {"n_resamples": 15, "random_state": 0, "far_max": 0.2} | changed


def ask_estimates(record, key, roc, asked):
    for name, question in asked.items():
        record(f"{key} estimate {name}", roc.estimate, LEVELS, **question)
    given = {n: q for n, q in asked.items() if "operating_point" not in q}
    for name, question in list(given.items())[:6]:
        record(f"{key} at 0.5 {name}", roc.estimate, threshold=0.5, **question)
        record(
            f"{key} at 0.9, 0.2 {name}", roc.estimate, threshold=[0.9, 0.2], **question
        )


def ask_the_rest(record, key, roc, other, asked):
    """Curves, resamples, comparisons, matrices and what has no level."""
    for name in [n for n in asked if n.startswith(("frr", "far max_min"))][:8]:
        question = asked[name]
        record(f"{key} curve {name}", roc.curve, LEVELS, **question)
        record(f"{key} resamples {name}", roc.resamples, 0.1, **question)
        record(f"{key} compare {name}", roc.compare, other, 0.1, **question)
    record(f"{key} resamples of several", roc.resamples, [0.3, 0.02])
    record(f"{key} compare at 0.5", roc.compare, other, threshold=0.5)
    for point in ({"far": 0.1}, {"threshold": 0.5}):
        record(f"{key} far_matrix {point}", roc.far_matrix, **point)
        record(f"{key} far_asymmetry {point}", roc.far_asymmetry, **point)
    groups = [] if roc.groups_ is None else roc.groups_.tolist()
    for group in (None, *groups[:2]):
        record(f"{key} equal_error_rate {group}", roc.equal_error_rate, group)
    record(f"{key} score_summary", roc.score_summary)
    record(f"{key} threshold_at", roc.threshold_at, LEVELS)
    record(
        f"{key} threshold_at worst",
        roc.threshold_at,
        0.1,
        operating_point="worst_group",
    )
    for group in groups[:1]:
        record(
            f"{key} threshold_at of {group}",
            roc.threshold_at,
            0.1,
            operating_point="group",
            group=group,
        )
    record.keep(f"{key} groups_", roc.groups_)
    record.keep(f"{key} identities_", roc.identities_)


def ask_everything(record, key, roc, other, asked):
    if roc is None:
        return
    ask_estimates(record, key, roc, asked)
    ask_the_rest(record, key, roc, other, asked)


def record_every_setting(record):
    """The ways to fit differ in the data; the settings are all crossed here."""
    X, y, groups = columns(faces(24))
    groups = with_unknown(groups)
    asked = questions("female", "male")
    for values in product(*SETTINGS.values()):
        key = f"roc {' '.join(values)}"
        options = options_of(**dict(zip(SETTINGS, values, strict=True)))
        roc = record(key, SimilarityROC(**options).fit, X, y, groups)
        ask_estimates(record, key, roc, asked)
        record(f"{key} curve", roc.curve, LEVELS)
        record(f"{key} equal_error_rate", roc.equal_error_rate)
        record(f"{key} far_matrix", roc.far_matrix, 0.1)


def some_settings():
    """Pairs of settings, fewer than all, for data that are fitted in another way."""
    for average, impostors in product(("pair", "identity"), ("all", "same_group")):
        for resample, method in (
            ("images", "recentered"),
            ("identities", "multiplicative"),
            ("both", "offdiagonal"),
        ):
            yield {
                "average": average,
                "impostors": impostors,
                "resample": resample,
                "method": method,
            }


def record_ties(record):
    X, y, groups = tied()
    Z = X[:, ::-1] * np.where(np.arange(16) % 3, 1, -1)
    asked = questions("a", "b")
    for settings in some_settings():
        key = f"ties {' '.join(settings.values())}"
        roc = record(key, SimilarityROC(**options_of(**settings)).fit, X, y, groups)
        other = SimilarityROC(**options_of(**settings)).fit(Z, y, groups)
        ask_everything(record, key, roc, other, asked)


def record_domains(record):
    data = faces(30, n_domains=2)
    Z = data.X[:, ::-1] + np.float32(0.1) * np.roll(data.X, 1, axis=1)
    asked = questions("female", "male")
    for settings in some_settings():
        key = f"domain {' '.join(settings.values())}"
        labels = (data.y, data.sensitive_features)
        make = SimilarityROC(**options_of(**settings))
        roc = record(key, make.fit, data.X, *labels, domain=data.domain)
        other = SimilarityROC(**options_of(**settings))
        other.fit(Z, *labels, domain=data.domain)
        ask_everything(record, key, roc, other, asked)


def record_references(record):
    data, own = faces(30), faces(30, random_state=1)
    rng = np.random.default_rng(0)
    first = np.unique(data.y, return_index=True)[1]
    rest = np.setdiff1d(np.arange(len(data.y)), first)
    noise = rng.normal(scale=0.2, size=data.X.shape).astype(np.float32)
    asked = questions("female", "male")
    for settings in some_settings():
        key = f"reference {' '.join(settings.values())}"
        fits = [
            SimilarityROC(**options_of(**settings)).fit(
                X[rest],
                data.y[rest],
                data.sensitive_features[rest],
                X_reference=X[first],
                y_reference=data.y[first],
                sensitive_features_reference=data.sensitive_features[first],
            )
            for X in (data.X, data.X + noise)
        ]
        ask_everything(record, key, *fits, asked)
    roc = SimilarityROC(**options_of(resample="identities")).fit(
        own.X, own.y, X_reference=data.X, y_reference=data.y
    )
    record("reference no groups", roc.estimate, LEVELS)
    record("reference no groups matrix", roc.far_matrix, 0.1)


def record_lists_of_pairs(record):
    scores, images, identities, groups = listed()
    rng = np.random.default_rng(0)
    kept = rng.random(scores.size) < 0.6
    noisy = scores + rng.normal(scale=0.1, size=scores.size)
    asked = questions("female", "male")
    for named, settings in product((True, False), some_settings()):
        key = f"list {'named' if named else 'unnamed'} {' '.join(settings.values())}"
        given = {
            "sensitive_features_1": with_unknown(groups[0][kept]),
            "sensitive_features_2": groups[1][kept],
        }
        if named:
            given |= {"image_1": images[0][kept], "image_2": images[1][kept]}
        elif settings["average"] == "pair":
            # With the other average, resampling images is refused.
            settings = settings | {"resample": "identities"}
        people = [side[kept] for side in identities]
        fits = [
            SimilarityROC(**options_of(**settings)).fit_pairs(s[kept], *people, **given)
            for s in (scores, noisy)
        ]
        ask_everything(record, key, *fits, asked)
    reversed_scores = SimilarityROC(**options_of(resample="identities"))
    record("list reversed", reversed_scores.fit_pairs, -scores, *identities)
    record("list without groups", reversed_scores.estimate, 0.1)


def record_other_inputs(record):
    """Doors of the labels, similarities, workers, and groups that lack something."""
    data = faces(24)
    X, y, groups = columns(data)
    asked = {"rate": "far", "how": "max_min", "operating_point": "worst_group"}
    frame = dict(identity=y, group=groups)
    import pandas as pd
    import polars as pl

    doors = {
        "face_labels": (X, face_labels(y, groups)),
        "pandas": (pd.DataFrame(X).rename(columns=str), pd.DataFrame(frame)),
        "polars": (X, pl.DataFrame(frame)),
        "two columns": (
            X,
            y,
            np.column_stack([groups, np.where(y % 2, "old", "young")]),
        ),
        "no groups": (X, y),
        "names": (X, np.array([f"person {i}" for i in y])),
        "float64": (X.astype(np.float64), y, groups),
        "numbers": (X, y, np.where(groups == "male", 1.5, 2.5)),
        "lone": (X, y, np.where(y == y[0], "alone", groups)),
        "short": (X[: len(X) // 4], y[: len(X) // 4], groups[: len(X) // 4]),
    }
    for name, given in doors.items():
        roc = SimilarityROC(**options_of(resample="identities"))
        record(f"door {name} fit", roc.fit, *given)
        record(f"door {name} estimate", roc.estimate, LEVELS)
        record(f"door {name} estimate disparity", roc.estimate, LEVELS, **asked)
        record(f"door {name} small level", roc.estimate, 1e-6, **asked)
        record(f"door {name} frame", lambda roc=roc: roc.estimate(LEVELS).to_frame())
        record(f"door {name} matrix", lambda roc=roc: roc.far_matrix(0.1).to_frame())
    for options in (
        {"similarity": "dot"},
        {"n_jobs": 2},
        {"confidence_level": 0.5},
        {"n_resamples": 1},
        {"random_state": 7},
        {"far_max": 1e-3},
    ):
        roc = SimilarityROC(**options_of(**options)).fit(2 * X, y, groups)
        record(f"option {options} estimate", roc.estimate, LEVELS)
        record(f"option {options} disparity", roc.estimate, LEVELS, **asked)
        record(f"option {options} eer", roc.equal_error_rate)
        record(f"option {options} curve", roc.curve, LEVELS, **asked)
    one_each = np.unique(y, return_index=True)[1]
    roc = SimilarityROC(**options_of(resample="identities"))
    record("one image each", roc.fit, X[one_each], y[one_each], groups[one_each])
    record("one image each frr", roc.estimate, 0.1)
    record("one image each far", roc.estimate, threshold=0.5, rate="far", how="max_min")
    record("one image each eer", roc.equal_error_rate)
    record("one image each summary", roc.score_summary)
    record("one image each curve", roc.curve, LEVELS)
