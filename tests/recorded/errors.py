"""Measurements that are refused: type and text of the error."""

import numpy as np

from skfairfr import (
    IdentityKFold,
    SimilarityROC,
    face_labels,
    fairness_scores,
    make_fairness_scorer,
    metrics,
)
from skfairfr.model_selection import roc_over_splits
from tests.recorded.data import columns, faces, scored_pairs

X, Y, GROUPS = columns(faces(24))
TRUE, SCORE, GROUP = scored_pairs()
GIVEN = {"sensitive_features": GROUP, "far": 0.05}


def refuse(record, theme, cases):
    """Record cases of (function, positional arguments, options), numbered by theme."""
    for i, (function, arguments, options) in enumerate(cases):
        name = getattr(function, "__name__", type(function).__name__)
        record(f"refused {theme} {i} {name}", function, *arguments, **options)


def record_pairs(record):
    holes = np.where(np.arange(len(SCORE)) == 3, np.nan, SCORE)
    pair = (TRUE, SCORE)
    cases = [
        (metrics.frr_at_far, (TRUE[:-1], SCORE), {}),
        (metrics.frr_at_far, ([], []), {}),
        (metrics.frr_at_far, (TRUE + 1, SCORE), {}),
        (metrics.frr_at_far, (TRUE[:, None], SCORE), {}),
        (metrics.frr_at_far, (TRUE, SCORE.astype(str)), {}),
        (metrics.frr_at_far, (TRUE, holes), {}),
        (metrics.frr_at_far, (TRUE, SCORE[:, None]), {}),
        (metrics.frr_at_far, pair, {"far": 2}),
        (metrics.frr_at_far, pair, {"far": [0.1, 0.2]}),
        (metrics.frr_at_far, pair, {"far": "low"}),
        (metrics.frr_at_far, (np.ones(5), SCORE[:5]), {}),
        (metrics.frr_at_far, (np.zeros(5), SCORE[:5]), {}),
        (metrics.far_frr_curve, (np.ones(5), SCORE[:5]), {}),
        (metrics.equal_error_rate, (np.ones(5), SCORE[:5]), {}),
        (metrics.threshold_at_far, pair, {"far": 0.1, "operating_point": "group"}),
        (metrics.threshold_at_far, pair, {"far": 0.1, "operating_point": "best"}),
        (
            metrics.threshold_at_far,
            pair,
            {"far": 0.1, "operating_point": "worst_group"},
        ),
    ]
    refuse(record, "pairs", cases)


def record_rates_by_group(record):
    three = np.column_stack([GROUP] * 3)
    pair = (TRUE, SCORE)
    cases = [
        (metrics.bfar, pair, {"sensitive_features": None}),
        (metrics.bfar, pair, {"sensitive_features": three}),
        (metrics.bfar, pair, {"sensitive_features": GROUP[:-1]}),
        (metrics.bfar, pair, {"sensitive_features": [None] * len(GROUP)}),
        (metrics.bfar, pair, GIVEN | {"zero_division": "nan"}),
        (metrics.bfar, pair, {"sensitive_features": np.full(len(GROUP), "a")}),
        (metrics.far_disparity, pair, GIVEN | {"how": "most"}),
        (metrics.far_disparity, pair, GIVEN | {"how": lambda rates: rates}),
        (metrics.far_disparity, pair, GIVEN | {"operating_point": "best"}),
        (metrics.frr_disparity, pair, GIVEN | {"how": ["max_min"]}),
        (
            metrics.far_disparity,
            scored_pairs(4)[:2],
            {"sensitive_features": scored_pairs(4)[2], "how": "ratio"},
        ),
        (
            metrics.group_error_rates,
            pair,
            {"sensitive_features": GROUP, "threshold": [0, 1]},
        ),
        (
            metrics.group_error_rates,
            pair,
            {"sensitive_features": GROUP, "threshold": np.nan},
        ),
        (metrics.disparity, ([0.1, -0.2],), {}),
        (metrics.disparity, ([[0.1]],), {}),
        (metrics.disparity, (["a"],), {}),
        (metrics.disparity, ([0.1, 0.2], "std"), {"ddof": 2}),
        (metrics.disparity, ([0.1, 0.2], "log_geomean"), {"log_base": 1}),
        (metrics.disparity, ([0.1, 0.2], "log_geomean"), {"log_reduce": "max"}),
        (metrics.garbe, ([0.1], [0.1, 0.2]), {}),
        (metrics.garbe, ([0.1, 3], [0.1, 0.2]), {}),
        (metrics.inequity_rate, ([0.1, 0.3], [0.1, 0.2]), {"beta": 2}),
        (metrics.group_gate_rates, (), {"error": 2}),
        (metrics.group_gate_rates, (), {"n_groups": 1}),
        (metrics.group_gate_rates, (), {"far": [0.1, 0.2]}),
    ]
    refuse(record, "rates by group", cases)


def record_of_embeddings(record):
    by_group = {"sensitive_features": GROUPS, "random_state": 0}
    zero = np.where(np.arange(len(X))[:, None] == 2, 0, X)
    cases = [
        (metrics.all_pairs, (zero, Y), {}),
        (metrics.all_pairs, (X, Y[:-1]), {}),
        (metrics.all_pairs, (X, None), {}),
        (metrics.identity_inertia, (X, Y), {"min_images": 99}),
        (metrics.identity_inertia, (X, Y), {"min_images": 1.5}),
        (metrics.identity_inertia, (X, Y), {"min_images": 0}),
        (metrics.instance_far, (X, Y), {}),
        (metrics.instance_far, (X, Y), {"far": [0.1, 0.2]}),
        (metrics.instance_far, (X, Y), {"far": 0.1, "threshold": 0.5}),
        (metrics.instance_far, (X, Y), {"far": 0.1, "impostors": "some"}),
        (metrics.instance_far, (X, Y), {"far": 0.1, "impostors": "same_group"}),
        (metrics.instance_far, (X, Y), {"far": 0.1, "similarity": "l2"}),
        (metrics.cluster_groups, (X, 10_000), {}),
        (metrics.cluster_groups, (X, 0), {}),
        (metrics.worst_group_rate, (X, Y), {}),
        (metrics.worst_group_rate, (X, Y), by_group | {"rate": "eer"}),
        (metrics.worst_group_rate, (X, Y), by_group | {"far": [0.1]}),
        (metrics.worst_group_rate, (X, Y), by_group | {"min_identities": 99}),
        (metrics.worst_group_rate, (X, Y), by_group | {"min_identities": 1}),
        (metrics.worst_cluster_rate, (X, Y, 10_000), {"random_state": 0}),
        (face_labels, (Y, GROUPS[:-1]), {}),
        (face_labels, (np.column_stack([Y, Y]),), {}),
        (metrics.group_error_rates(TRUE, SCORE, sensitive_features=GROUP, threshold=1.0).to_frame, ("excel",), {}),
        (lambda: metrics.gone, (), {}),
        (metrics.SimilarityROCDisplay.from_estimator, (object(), X, Y), {}),
        (metrics.SimilarityROCDisplay.from_roc, (SimilarityROC(),), {}),
        (metrics.IdentityInertiaDisplay.from_estimator, (object(), X, Y), {}),
        (metrics.IdentityInertiaDisplay.from_embeddings, (X, Y), {"groups": ["x"]}),
        (metrics.GroupWeightsDisplay.from_projector, (object(),), {}),
        (make_fairness_scorer, (), {"group": "a", "how": "max_min"}),
        (make_fairness_scorer, (), {"how": None, "operating_point": "group"}),
        (make_fairness_scorer, (), {"rate": "eer"}),
        (make_fairness_scorer, (), {"far": 3}),
        (make_fairness_scorer, (), {"average": "image"}),
        (fairness_scores, ((0.1, 0.1),), {}),
        (fairness_scores, (2,), {}),
        (fairness_scores, (), {"ratio": "ab"}),
        (metrics.bfar_scorer, (object(), X, face_labels(Y, GROUPS)), {}),
        (roc_over_splits, (X, Y), {"far": 2}),
        (roc_over_splits, (X, Y), {"far": 0.1, "group": "a"}),
        (IdentityKFold, (1,), {}),
        (lambda: list(IdentityKFold(3).split(X)), (), {}),
        (lambda: list(IdentityKFold(99).split(X, Y)), (), {}),
    ]  # fmt: skip
    refuse(record, "embeddings", cases)


def record_fits(record):
    roc = SimilarityROC(n_resamples=5, random_state=0)
    zero = np.where(np.arange(len(X))[:, None] == 2, 0, X)
    holes = np.where(np.arange(len(X))[:, None] == 2, np.nan, X)
    domain = np.arange(len(Y)) % 2
    other = faces(24, random_state=1)
    sides = {"X_reference": other.X, "y_reference": other.y}
    cases = [
        (roc.fit, (X, Y[:-1]), {}),
        (roc.fit, (X, None), {}),
        (roc.fit, (zero, Y), {}),
        (roc.fit, (holes, Y), {}),
        (roc.fit, (X * np.float32(1e30), Y), {}),
        (SimilarityROC(similarity="dot").fit, (X * np.float32(1e30), Y), {}),
        (roc.fit, (X[:, 0], Y), {}),
        (roc.fit, (X[:1], Y[:1]), {}),
        (roc.fit, (X, np.zeros(len(Y))), {}),
        (roc.fit, (X, np.where(Y == 0, None, Y)), {}),
        (roc.fit, (X, np.where(Y == 0, "a", Y.astype(object))), {}),
        (roc.fit, (X, Y, GROUPS[:-1]), {}),
        (roc.fit, (X, Y, np.full(len(Y), None)), {}),
        (roc.fit, (X, face_labels(Y, GROUPS), GROUPS), {}),
        (roc.fit, (X, np.zeros(len(Y), dtype=[("who", int)])), {}),
        (roc.fit, (X, Y, np.zeros(len(Y), dtype=[("who", int)])), {}),
        (roc.fit, (X, Y), {"domain": np.zeros(len(Y))}),
        (roc.fit, (X, Y), {"domain": np.arange(len(Y)) % 3}),
        (roc.fit, (X, Y), {"domain": np.full(len(Y), None)}),
        (roc.fit, (X, Y), {"domain": domain, **sides}),
        (roc.fit, (X, Y), {"X_reference": X}),
        (roc.fit, (X, Y), {"y_reference": Y}),
        (roc.fit, (X, Y), {"sensitive_features_reference": GROUPS}),
        (roc.fit, (X, Y, GROUPS), sides),
        (roc.fit, (X, Y), {"X_reference": other.X[:, :4], "y_reference": other.y}),
        (roc.fit, (X, Y), {"X_reference": X, "y_reference": Y}),
        (
            roc.fit,
            (X[:3], [5, 5, 5]),
            {"X_reference": other.X[:2], "y_reference": [5, 5]},
        ),
        (SimilarityROC(impostors="same_group").fit, (X, Y), {}),
        (SimilarityROC(average="image").fit, (X, Y), {}),
        (SimilarityROC(resample="people").fit, (X, Y), {}),
        (SimilarityROC(method="exact").fit, (X, Y), {}),
        (SimilarityROC(n_resamples=0).fit, (X, Y), {}),
        (SimilarityROC(confidence_level=1.0).fit, (X, Y), {}),
        (SimilarityROC(far_max=0).fit, (X, Y), {}),
        (SimilarityROC(similarity="l2").fit, (X, Y), {}),
        (SimilarityROC(device="tpu").fit, (X, Y), {}),
        (SimilarityROC(random_state="seed").fit, (X, Y), {}),
    ]
    refuse(record, "fit", cases)


def record_fits_of_pairs(record):
    roc = SimilarityROC(n_resamples=5, random_state=0)
    cases = [
        (roc.fit_pairs, ([], [], []), {}),
        (roc.fit_pairs, ([0.1, 0.2], [1, 1], [1, 1]), {}),
        (roc.fit_pairs, ([0.1, 0.2], [1, 1], [1]), {}),
        (roc.fit_pairs, ([0.1, np.inf], [1, 1], [1, 2]), {}),
        (roc.fit_pairs, ([0.1, 0.2], [1, 1], [1, 2]), {"image_1": [1, 2]}),
        (
            roc.fit_pairs,
            ([0.1, 0.2], [1, 1], [1, 2]),
            {"image_1": [1, 2], "image_2": [3, 1]},
        ),
        (
            roc.fit_pairs,
            ([0.1, 0.2], [1, 1], [1, 2]),
            {"image_1": [1, 2], "image_2": [1, 3]},
        ),
        (
            roc.fit_pairs,
            ([0.1, 0.2], [1, 1], [1, 2]),
            {"sensitive_features_1": ["a", "b"]},
        ),
        (
            SimilarityROC(impostors="same_group").fit_pairs,
            ([0.1, 0.2], [1, 1], [1, 2]),
            {},
        ),
        (SimilarityROC().estimate, (0.1,), {}),
        (SimilarityROC().score_summary, (), {}),
    ]
    refuse(record, "fit_pairs", cases)


def record_questions(record):
    options = {"n_resamples": 5, "random_state": 0}
    roc = SimilarityROC(**options).fit(X, Y, GROUPS)
    ungrouped = SimilarityROC(**options).fit(X, Y)
    lone = SimilarityROC(**options).fit(X, Y, np.full(len(Y), "a"))
    fewer = SimilarityROC(**options).fit(X[:-4], Y[:-4], GROUPS[:-4])
    renamed = SimilarityROC(**options).fit(X, Y, np.char.upper(GROUPS.astype(str)))
    people = SimilarityROC(**options).fit(X, Y % 5, GROUPS)
    listed = SimilarityROC(**options)
    listed.fit_pairs([0.1, 0.9, 0.3], ["a", "a", "b"], ["b", "a", "c"])
    one_each = np.unique(Y, return_index=True)[1]
    singles = SimilarityROC(**options).fit(X[one_each], Y[one_each])
    cases = [
        (roc.estimate, (), {}),
        (roc.estimate, (0.1,), {"threshold": 0.5}),
        (roc.estimate, (1.0,), {}),
        (roc.estimate, ("low",), {}),
        (roc.estimate, (), {"threshold": np.nan}),
        (roc.estimate, (), {"threshold": "high"}),
        (roc.estimate, (0.1,), {"rate": "eer"}),
        (roc.estimate, (0.1,), {"group": "x"}),
        (roc.estimate, (0.1,), {"group": ("male", "female", "x")}),
        (roc.estimate, (0.1,), {"group": ("male", "female")}),
        (roc.estimate, (0.1,), {"group": ("male", "female"), "rate": "far", "operating_point": "group"}),
        (roc.estimate, (0.1,), {"group": "male", "how": "max_min"}),
        (roc.estimate, (0.1,), {"how": "most"}),
        (roc.estimate, (0.1,), {"how": 3}),
        (roc.estimate, (0.1,), {"how": ("gini", "male", "female")}),
        (roc.estimate, (0.1,), {"how": ("ratio", "male", "x")}),
        (roc.estimate, (0.1,), {"how": ("ratio", "male")}),
        (roc.estimate, (0.1,), {"how": lambda rates: rates}),
        (roc.estimate, (0.1,), {"operating_point": "group"}),
        (roc.estimate, (0.1,), {"operating_point": "best"}),
        (roc.estimate, (), {"threshold": 0.5, "operating_point": "worst_group"}),
        (ungrouped.estimate, (0.1,), {"how": "max_min"}),
        (ungrouped.estimate, (0.1,), {"group": "male"}),
        (ungrouped.estimate, (0.1,), {"operating_point": "worst_group"}),
        (ungrouped.far_matrix, (0.1,), {}),
        (lone.estimate, (0.1,), {"how": "ratio"}),
        (lone.estimate, (0.1,), {"how": "max_min"}),
        (lone.far_asymmetry, (0.1,), {}),
        (roc.curve, (0.1,), {}),
        (roc.curve, ([0.1, 2],), {}),
        (roc.far_matrix, ([0.1, 0.2],), {}),
        (roc.far_matrix, (), {}),
        (roc.far_asymmetry, (0.1,), {}),
        (roc.threshold_at, (0.1,), {"group": "male"}),
        (roc.threshold_at, (0.1,), {"operating_point": "group"}),
        (roc.threshold_at, (0.1,), {"operating_point": "group", "group": ("male", "female")}),
        (roc.equal_error_rate, ("x",), {}),
        (roc.equal_error_rate, (("male", "female"),), {}),
        (roc.compare, (fewer, 0.1), {}),
        (roc.compare, (renamed, 0.1), {}),
        (roc.compare, (people, 0.1), {}),
        (roc.compare, (SimilarityROC(), 0.1), {}),
        (listed.estimate, (0.3,), {}),
        (singles.estimate, (0.1,), {}),
        (singles.resamples, (0.1,), {}),
    ]  # fmt: skip
    refuse(record, "question", cases)
