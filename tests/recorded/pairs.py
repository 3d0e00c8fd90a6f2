"""Metrics of scored pairs, of rates and of embeddings without resamples."""

import numpy as np

from skfairfr import metrics
from tests.recorded.data import columns, faces, scored_pairs, tied, with_unknown

HOWS = ("max_min", "max_geomean", "log_geomean", "gini", "difference", "std")
POINTS = ("overall", "worst_group", "group")
RATES = {
    "two": [0.01, 0.04],
    "three": [0.01, 0.02, 0.08],
    "equal": [0.1, 0.1],
    "a zero": [0.0, 0.2],
    "zeros": [0.0, 0.0],
    "unknown": [0.1, np.nan, 0.3],
    "one": [0.5],
    "none known": [np.nan, np.nan],
}


def spread(rates):
    """A disparity of the caller."""
    return np.max(rates, axis=-1) - np.min(rates, axis=-1)


def record_rates_of_pairs(record):
    for n_groups in (1, 2, 4):
        y_true, y_score, _ = scored_pairs(n_groups)
        for dtype in (np.float64, np.float32):
            key = f"pairs {n_groups} groups {np.dtype(dtype)}"
            scores = y_score.astype(dtype)
            record(f"{key} far_frr_curve", metrics.far_frr_curve, y_true, scores)
            record(f"{key} equal_error_rate", metrics.equal_error_rate, y_true, scores)
            for far in (0.5, 0.05, 1e-3, 1e-4):
                record(
                    f"{key} frr_at_far {far}",
                    metrics.frr_at_far,
                    y_true,
                    scores,
                    far=far,
                )
                record(
                    f"{key} threshold_at_far {far}",
                    metrics.threshold_at_far,
                    *(y_true, scores),
                    far=far,
                )
        ties = np.round(y_score * 2) / 2
        record(f"{key} ties far_frr_curve", metrics.far_frr_curve, y_true, ties)
        record(f"{key} ties equal_error_rate", metrics.equal_error_rate, y_true, ties)


def record_rates_of_groups(record):
    for n_groups in (2, 4):
        y_true, y_score, group = scored_pairs(n_groups)
        both = np.column_stack([group, np.roll(group, 1)])
        labels = {"labels": group, "unknown": with_unknown(group), "of both": both}
        for name, features in labels.items():
            key = f"pairs {n_groups} groups {name}"
            given = {"sensitive_features": features}
            for threshold in (-np.inf, 0.5, 2.0, 9.0):
                record(
                    f"{key} group_error_rates {threshold}",
                    metrics.group_error_rates,
                    *(y_true, y_score),
                    threshold=threshold,
                    **given,
                )
            for far in (0.1, 1e-3):
                record(
                    f"{key} worst threshold {far}",
                    metrics.threshold_at_far,
                    *(y_true, y_score),
                    far=far,
                    operating_point="worst_group",
                    **given,
                )
                for function in (metrics.bfar, metrics.bfrr):
                    record(
                        f"{key} {function.__name__} {far}",
                        function,
                        *(y_true, y_score),
                        far=far,
                        zero_division=-1.0 if name == "unknown" else np.nan,
                        **given,
                    )
                for function in (metrics.far_disparity, metrics.frr_disparity):
                    for how in (*HOWS, "ratio", spread):
                        for point in POINTS:
                            record(
                                f"{key} {function.__name__} {far} "
                                f"{getattr(how, '__name__', how)} {point}",
                                function,
                                *(y_true, y_score),
                                far=far,
                                how=how,
                                operating_point=point,
                                **given,
                            )


def record_disparities_of_rates(record):
    for name, rates in RATES.items():
        for how in (*HOWS, "ratio", spread):
            key = f"disparity of {name} {getattr(how, '__name__', how)}"
            record(key, metrics.disparity, rates, how)
            record(f"{key} zero=1", metrics.disparity, rates, how, zero_division=1.0)
        record(f"disparity of {name} ddof", metrics.disparity, rates, "std", ddof=1)
        options = {"log_base": 2.0, "log_reduce": "mean"}
        record(
            f"disparity of {name} base 2",
            metrics.disparity,
            rates,
            "log_geomean",
            **options,
        )
        other = rates[::-1]
        for index in ("fairness_discrepancy_rate", "inequity_rate", "garbe"):
            function = getattr(metrics, index)
            for beta in (0.0, 0.5, 1.0):
                record(f"{index} of {name} {beta}", function, rates, other, beta=beta)


def record_group_gate(record):
    record("group_gate_rates", metrics.group_gate_rates)
    record("group_gate_rates four", metrics.group_gate_rates, error=0.1, n_groups=4)
    record(
        "group_gate_rates far", metrics.group_gate_rates, far=0.01, frr=0.2, error=1.0
    )


def record_pairs_of_embeddings(record):
    X, y, groups = columns(faces(12))
    record("all_pairs", metrics.all_pairs, X, y)
    record("all_pairs groups", metrics.all_pairs, X, y, sensitive_features=groups)
    unknown = with_unknown(groups)
    record("all_pairs unknown", metrics.all_pairs, X, y, sensitive_features=unknown)


def record_inertia_and_instances(record):
    for name, (X, y, groups) in {"faces": columns(faces()), "tied": tied()}.items():
        record(f"identity_inertia {name}", metrics.identity_inertia, X, y)
        for least in (2, 4):
            record(
                f"identity_inertia {name} {least}",
                metrics.identity_inertia,
                *(X, y),
                sensitive_features=groups if name == "faces" else None,
                min_images=least,
            )
        for impostors in ("all", "same_group"):
            for similarity in ("cosine", "dot"):
                for point in ({"far": 0.02}, {"far": 0.3}, {"threshold": 0.4}):
                    record(
                        f"instance_far {name} {impostors} {similarity} {point}",
                        metrics.instance_far,
                        *(X, y),
                        sensitive_features=groups,
                        impostors=impostors,
                        similarity=similarity,
                        **point,
                    )
        record(f"instance_far {name} no groups", metrics.instance_far, X, y, far=0.05)


def record_clusters_and_worst_groups(record):
    X, y, groups = columns(faces(120, groups=("a", "b", "c")))
    record("cluster_groups", metrics.cluster_groups, X, 5, random_state=0)
    options = {"n_resamples": 20, "random_state": 0, "far": 0.05}
    for rate in ("far", "frr"):
        record(
            f"worst_group_rate {rate}",
            metrics.worst_group_rate,
            *(X, y),
            sensitive_features=groups,
            rate=rate,
            **options,
        )
        record(
            f"worst_cluster_rate {rate}",
            metrics.worst_cluster_rate,
            *(X, y, 4),
            rate=rate,
            min_identities=5,
            **options,
        )


def record_frames(record):
    y_true, y_score, group = scored_pairs()
    rates = metrics.group_error_rates(
        y_true, y_score, sensitive_features=group, threshold=1.0
    )
    record("to_frame", rates.to_frame)
    record("to_frame pandas", rates.to_frame, "pandas")
    record("to_frame polars", lambda: rates.to_frame("polars").to_dict(as_series=False))
    inertia = metrics.identity_inertia(*columns(faces())[:2])
    record("to_frame of inertia", inertia.to_frame)
